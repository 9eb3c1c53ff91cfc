"""W7: sequence labelling: 10 epochs of structured PA-I from lists of feature names to a model, and tagging.

Data     4,000 sentences of 20 tokens, 15 names of features a token, 10 tags. The tags are a Markov chain; each of the
         15 places has its 2,000 values, drawn by Zipf's law; which value is frequent depends on the tag in half of
         the draws. Another 4,000 sentences to tag. Lists of lists of lists of str, in memory before the clock starts;
         each repetition gets strings of its own, as if just made (Python remembers the hash of a string it has seen).
Peer     crfsuite (python-crfsuite): Trainer("pa", type 1, c = 1, averaging, 10 iterations), append and train, which
         writes the model to a file; Tagger.tag, sentence by sentence, the file already open.
Ours     PASequence(step="pa1", C=1, selection="prediction", average=True, max_iter=10, tol=None).fit; predict.
Clock    CPU time of a single thread, best of 7, taking turns.
Check    the two learn different models (crfsuite weighs only the pairs of feature and tag that it saw): what both err
         on the tokens of the other sentences is reported, too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chunks import Fresh, Sentences, Tags
from measure import Row, Timing, Work, best_of, main, optional, time_of

CRFSUITE = "crfsuite"
LENGTH, FEATURES, TAGS, VALUES = 20, 15, 10, 2000
EPOCHS = 10


def sentences(count: int, seed: int = 0) -> tuple[Sentences, Tags]:
    """Tags from a Markov chain, and features, half of which are informative."""
    random = np.random.default_rng(seed)
    world = np.random.default_rng(0)  # the same chain and the same values for every seed
    chain = np.cumsum(world.dirichlet(np.full(TAGS, 0.5), TAGS), axis=1)
    chance = 1 / np.arange(1, VALUES + 1)
    chance /= chance.sum()
    value_of_rank = np.array([world.permutation(VALUES) for _ in range(TAGS + 1)])  # the last: of no tag

    tags = np.empty((count, LENGTH), dtype=np.int64)
    tags[:, 0] = random.integers(TAGS, size=count)
    for i in range(1, LENGTH):
        tags[:, i] = (random.random((count, 1)) > chain[tags[:, i - 1]]).sum(axis=1).clip(max=TAGS - 1)
    ranks = random.choice(VALUES, p=chance, size=(count, LENGTH, FEATURES))
    tells = random.random(ranks.shape) < 0.5
    values = value_of_rank[np.where(tells, tags[..., None], TAGS), ranks]
    names = [[[f"f{k}={v}" for k, v in enumerate(t)] for t in s] for s in values.tolist()]
    return names, [[f"T{tag}" for tag in s] for s in tags.tolist()]


def their_training(crfsuite: Any, file: Path, x: Sentences, y: Tags, epochs: int) -> Work:
    options = {"type": 1, "c": 1.0, "averaging": True, "max_iterations": epochs}

    def feed() -> Any:
        trainer = crfsuite.Trainer(algorithm="pa", params=options, verbose=False)
        for names, tags in zip(x, y, strict=True):
            trainer.append(names, tags)
        trainer.train(str(file))

    return feed


def their_tagging(crfsuite: Any, file: Path, x: Sentences) -> Work:
    tagger = crfsuite.Tagger()
    tagger.open(str(file))
    return lambda: [tagger.tag(names) for names in x]


def our_training(hinge: Any, x: Sentences, y: Tags, epochs: int) -> Work:
    learner = hinge.PASequence(
        step="pa1", C=1.0, selection="prediction", average=True, max_iter=epochs, tol=None, random_state=0
    )
    return lambda: learner.fit(x, y)


def error(predicted: Sequence[Sequence[str]], y: Tags) -> float:
    wrong = sum(p != t for ps, ts in zip(predicted, y, strict=True) for p, t in zip(ps, ts, strict=True))
    return wrong / sum(map(len, y))


def compare(count: int, repeats: int) -> list[Row]:
    crfsuite, hinge = optional("pycrfsuite"), optional("hinge")
    names, tags = sentences(count)
    others, their_tags = sentences(count, seed=1)
    fresh, fresh_others = Fresh(names), Fresh(others)
    tokens = sum(map(len, their_tags))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model")

        def train(epochs: int) -> dict[str, Timing]:
            def theirs() -> Work:
                return their_training(crfsuite, file, fresh(), tags, epochs)

            def ours() -> Work:
                return our_training(hinge, fresh(), tags, epochs)

            return best_of(repeats, {CRFSUITE: theirs if crfsuite else None, "ours": ours if hinge else None})

        once = train(1)
        trained = train(EPOCHS)
        model = trained["ours"].result if hinge else None
        tagged = best_of(
            repeats,
            {
                CRFSUITE: (lambda: their_tagging(crfsuite, file, fresh_others())) if crfsuite else None,
                "ours": (lambda: tagging(model, fresh_others())) if hinge else None,
            },
        )
    errs = errors(tagged, their_tags)
    rows = [
        Row(f"feature lists to model, {EPOCHS} epochs", CRFSUITE, target=2.0, note=errs),
        Row("feature lists to model, 1 epoch", CRFSUITE),
        Row("tagging", CRFSUITE, target=2.0, note=speeds(tagged, tokens)),
    ]
    for row, timings in zip(rows, (trained, once, tagged), strict=True):
        row.theirs, row.ours = time_of(timings, CRFSUITE), time_of(timings, "ours")
    return rows


def tagging(model: Any, x: Sentences) -> Work:
    return lambda: model.predict(x)


def errors(tagged: Mapping[str, Timing], y: Tags) -> str:
    shown = {name: f"{error(timing.result, y):.1%}" for name, timing in tagged.items()}
    return ", ".join(f"{name} errs {share}" for name, share in shown.items())


def speeds(tagged: Mapping[str, Timing], tokens: int) -> str:
    return ", ".join(f"{name} {tokens / timing.seconds:,.0f} tokens/s" for name, timing in tagged.items())


def run(quick: bool) -> list[Row]:
    return compare(200, 2) if quick else compare(4000, 7)


if __name__ == "__main__":
    main(run)
