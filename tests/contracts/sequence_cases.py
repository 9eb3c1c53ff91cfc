"""What the contracts of PASequence share: every rule in every geometry, streams, and how close is close."""

from __future__ import annotations

import itertools

import numpy as np

import hinge
from hinge import PASequence

TAGS = [f"T{k}" for k in range(10)]  # more than a row of weights has room for at first
WHOLE = {a: {b: float((i + 2 * j) % 3) for j, b in enumerate(TAGS) if i != j} for i, a in enumerate(TAGS)}
PARTS = {a: {b: cost * 0.3 for b, cost in row.items()} for a, row in WHOLE.items()}


def blocks(truth, predicted):
    """Not a sum over the positions: 1 for every run of wrong tags."""
    wrong = [a != b for a, b in zip(truth, predicted, strict=True)]
    return float(sum(w and not before for w, before in zip(wrong, [False, *wrong[:-1]], strict=True)))


RULES = [
    *({"step": step} for step in ("pa", "pa1", "pa2", "perceptron")),
    *({"selection": "max", "step": step} for step in ("pa", "pa1", "pa2")),
    *({"selection": "max-additive", "step": step} for step in ("pa", "pa1", "pa2")),
    {"step": "pa1", "cost": PARTS},
    {"step": "pa2", "cost": blocks},
    {"step": "perceptron", "cost": blocks},
    {"selection": "max", "step": "pa1", "cost": WHOLE},
    {"selection": "max", "step": "pa", "cost": WHOLE},
    {"selection": "max-additive", "step": "pa2", "cost": PARTS},
    {"selection": "max-additive", "step": "pa", "cost": WHOLE},
]
SHAPES = [{}, *({"geometry": "diagonal", "covariance_update": update} for update in ("precision", "drop"))]
WAYS = [  # average, dtype, hash_bits
    (False, "float64", None),
    (True, "float64", None),
    (True, "float32", 5),
    (9, "float64", None),
    (False, "float32", None),
    (True, "float64", 5),
    (9, "float32", None),
    (False, "float64", 5),
]
NOT_DEFAULT = {"average": True, "dtype": "float64", "hash_bits": None}


def _cases():
    """Every rule in every geometry, each with two ways to count and to keep, in turns."""
    for number, (shape, rule) in enumerate(itertools.product(SHAPES, RULES)):
        for way in (WAYS[number % 8], WAYS[(3 * number + 5) % 7]):
            more = dict(zip(NOT_DEFAULT, way, strict=True))
            if number % 4 == 3:
                more |= {"margin": 0.7}
                more |= {"covariance_regularizer": 0.5, "initial_variance": 2.0} if shape else {}
            yield {**rule, **shape, **more}


def name(options):
    if not isinstance(options, dict):
        return None
    words = []
    for key, value in options.items():
        if key == "cost":
            words.append({id(PARTS): "parts", id(WHOLE): "whole"}.get(id(value), "blocks"))
        elif NOT_DEFAULT.get(key, ()) != value:
            words.append(value if key in ("step", "selection", "covariance_update") else f"{key}={value}")
    return "-".join(words)


CASES = list({name(case): case for case in _cases()}.values())
SOME = CASES[::6]


def new(options, **more):
    return PASequence(**{"C": 0.3, **options, **more})


def is_open(options):
    """Whether tags may come with the stream: a cost by tags names them ahead."""
    return not isinstance(options.get("cost"), dict)


def stream(count=40, seed=0, longest=6):
    """Sentences of dicts, tags and weights. New words and tags come all along, some of them with a weight of 0."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(count):
        words = 3 + i // 2
        sentence, tags = [], []
        for _ in range(int(rng.integers(1, longest + 1))):
            word = int(rng.integers(words))
            token = {f"w{word}": 1.0, f"s{word % 4}": float(rng.normal()), "bias": 0.5}
            if rng.random() < 0.2:
                token["shape"] = rng.choice(["x", "Xx", "é"]).item()
            if rng.random() < 0.1:
                token = {}
            tag = (word + (tags[-1] if tags and rng.random() < 0.5 else 0)) % min(10, 2 + i // 3)
            sentence.append(token)
            tags.append(tag)
        X.append(sentence)
        y.append([TAGS[tag] for tag in tags])
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], size=count)


def strings(count=40, seed=1):
    """Sentences of lists: whole counts, a feature as often as it counts."""
    X, y, weights = stream(count, seed)
    return (
        [[[f"{k}" for k in token] + ["twice"] * 2 * ("s1" in token) for token in sentence] for sentence in X],
        y,
        weights,
    )


def counted(sentence):
    return [{word: float(token.count(word)) for word in token} for token in sentence]


def state(model):
    return model._learner.to_bytes()


def saved(model, path):
    model.save(path)
    return PASequence.load(path, cost=blocks) if model.cost is blocks else hinge.load(path)


def tolerance(options):
    return 2e-4 if options["dtype"] == "float32" else 1e-9


def close(ours, theirs, options, what=""):
    allowed = tolerance(options)
    np.testing.assert_allclose(ours, theirs, rtol=allowed, atol=allowed, err_msg=what)


def same_weights(ours, theirs, options):
    for which in ("start_features_", "transition_features_", "state_features_"):
        a, b = getattr(ours, which), getattr(theirs, which)
        keys = a.keys() | b.keys()
        close([a.get(key, 0.0) for key in keys], [b.get(key, 0.0) for key in keys], options, which)


def matrices(count=30, width=6, seed=2):
    """Rows with zeros and whole numbers of quarters, so that float32 holds them; every column in the first."""
    rng = np.random.default_rng(seed)
    X = [rng.integers(-3, 4, size=(int(rng.integers(1, 6)), width)) / 4 for _ in range(count)]
    X[0][0] = 0.25 + np.arange(width)
    return X, [[TAGS[k] for k in rng.integers(min(10, 2 + i // 3), size=len(x))] for i, x in enumerate(X)]
