"""Reranking: which of a translation system's candidates is the best?

The system has a score for each candidate, but many of its rules are wrong, and it likes short sentences too
much. A candidate is a dict of features (the system's score, the length, the rules that made it) and a quality, which
is known of the training sentences only. (All of it is simulated.) PAStructured learns to pick the best one; to pick
another costs what is lost in quality.

    python examples/reranking.py
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from hinge import PAStructured

RULES = [
    f"{kind} {number}" for kind in ("reorder", "idiom", "drop", "name", "passive") for number in range(40)
]


class Candidate(NamedTuple):
    features: dict[str, float]
    quality: float  # 0 to 1; `argmax` must not look at it


# An input x is a list of candidates, an output one of them.


def joint_features(x, candidate):
    return candidate.features


def argmax(w, x):
    return max(x, key=lambda candidate: w.dot(candidate.features))


def cost(best, picked):
    return max(0.0, best.quality - picked.quality)


def loss_augmented_argmax(w, x, best):
    """The candidate that is worst for w: high score, low quality. (margin is 1.)"""
    return max(x, key=lambda candidate: w.dot(candidate.features) + cost(best, candidate) ** 0.5)


def make_sentences(rng, count):
    """Lists of 20 candidates each. What the system believes of its rules is half right."""
    truth = rng.normal(0, 1, len(RULES))
    belief = truth + rng.normal(0, 1.5, len(RULES))
    sentences = []
    for _ in range(count):
        of_the_sentence = rng.choice(len(RULES), size=25, replace=False)  # rules that apply
        candidates = []
        for _ in range(20):
            used = rng.choice(of_the_sentence, size=6, replace=False)
            length = rng.normal(1, 0.2)  # relative to the source
            score = belief[used].sum() - 3 * length + rng.normal(0, 1)
            odds = truth[used].sum() - 8 * abs(length - 1) + rng.normal(0, 0.5)
            features = {"score": score / 5, "length": length, "too short": max(0.0, 1 - length)}
            features |= {f"rule={RULES[rule]}": 1.0 for rule in used}
            candidates.append(Candidate(features, 1 / (1 + np.exp(-odds / 2))))
        sentences.append(candidates)
    return sentences


def report(name, picked, sentences):
    best = [max(x, key=lambda candidate: candidate.quality) for x in sentences]
    quality = np.mean([candidate.quality for candidate in picked])
    found = np.mean([candidate is right for candidate, right in zip(picked, best, strict=True)])
    print(f"  {name:40}{quality:9.3f}{found:12.0%}")


def main():
    rng = np.random.default_rng(0)
    sentences = make_sentences(rng, 1500)
    train, test = sentences[:1000], sentences[1000:]
    y = [max(x, key=lambda candidate: candidate.quality) for x in train]

    functions = joint_features, argmax, cost
    models = {
        "learned, selection='prediction'": PAStructured(*functions, C=0.1, average=True),
        "learned, selection='max'": PAStructured(
            *functions, loss_augmented_argmax, selection="max", C=0.1, average=True
        ),
    }
    print("500 held-out sentences with 20 candidates each        quality  best found")
    report("any of them", [x[0] for x in test], test)
    report("the system's own score", [max(x, key=lambda c: c.features["score"]) for x in test], test)
    for name, model in models.items():
        model.partial_fit(train, y)  # one pass, as in a stream
        report(name, model.predict(test), test)
    report("the best there is", [max(x, key=lambda c: c.quality) for x in test], test)

    seen = model.stats_
    print(
        f"\n{seen.updates} updates in {seen.rounds} rounds. What it would have picked, before it learned the best one,"
    )
    print(f"was {seen.cost / seen.rounds:.3f} below it, in the mean.\n")
    print("Why is this one picked, and not the one that the system likes most?")
    x = next(x for x in test if model.predict_one(x) is not max(x, key=lambda c: c.features["score"]))
    picked, liked = model.predict_one(x), max(x, key=lambda c: c.features["score"])
    names = {**picked.features, **liked.features}
    weights = model.named_weights()
    gain = {n: weights.get(n, 0.0) * (picked.features.get(n, 0) - liked.features.get(n, 0)) for n in names}
    for name in sorted(gain, key=lambda name: -abs(gain[name]))[:6]:
        print(f"  {name:20}{gain[name]:8.2f}")


if __name__ == "__main__":
    main()
