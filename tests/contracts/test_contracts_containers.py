"""Targets, weights and labels of any type, and rows of any length."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hinge
from cases import (
    csr,
    new,
    state,
    stream,
    tensors,
)
from checks.containers import misaligned

TARGETS = {
    "classification": [
        list,
        lambda y: y.astype(object),
        pd.Series,
        lambda y: pd.Series(y).astype("category"),
    ],
    "regression": [
        list,
        tuple,
        pd.Series,
        lambda y: y.astype(object),
        misaligned,
        lambda y: np.repeat(y, 2)[::2],
        lambda y: y.astype(">f8"),
        lambda y: y.astype(np.longdouble),
    ],
}


@pytest.mark.parametrize(
    ("task", "place"), [(task, k) for task, ways in TARGETS.items() for k in range(len(ways))]
)
def test_any_targets_and_weights(task, place):
    X, y, weights = stream(task)
    plain, other = hinge.Learner(task), hinge.Learner(task)
    plain.learn(X, y, weights)
    other.learn(X, TARGETS[task][place](y), [list, pd.Series, misaligned][place % 3](weights))
    assert state(other) == state(plain)


@pytest.mark.parametrize(
    "kind", ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "g", ">i4", ">f8", "O"]
)
def test_labels_of_any_type(kind):
    X, y, _ = stream("classification")
    signs = (y == "spam").astype(int)
    plain, known, other = hinge.Learner("classification"), hinge.Learner("classification"), None
    plain.learn(X, signs)
    known.learn(X[:9], signs[:9])
    assert len(known.labels.known) == 2
    other = hinge.Learner("classification")
    other.learn(X, signs.astype(kind))
    known.learn(X[9:], np.repeat(signs.astype(kind), 2)[::2][9:])
    assert tensors(plain) == tensors(other) == tensors(known)


PA = {"step": "pa", "intercept_value": 1.0}


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_of_any_length(task, kind):
    """The sums are made in blocks: no length may lose a value. Dense, strided and sparse, against NumPy."""
    rng = np.random.default_rng(6)
    for length in [*range(40), 127, 128, 129, 130, 255, 256, 1000]:
        X = rng.normal(size=(1, length)).astype(kind)
        y = {"classification": ["spam"], "regression": [0.5], "uniclass": None}[task]
        wide = np.zeros((1, 2 * length), dtype=kind)
        wide[:, ::2] = X
        learners = [
            new(task, {"step": "pa", "w1": "zero", "radius": 0.1} if task == "uniclass" else PA)
            for _ in range(5)
        ]
        for learner, data in zip(
            learners,
            (X, np.asfortranarray(np.repeat(X, 2, axis=0))[:1], csr(X), csr(X, np.int64), csr(wide)),
            strict=True,
        ):
            learner.learn(data, y)
            square = float(X.astype(float)[0] @ X.astype(float)[0])
            if task == "uniclass":
                expected = X[0].astype(float) * max(0.0, 1 - 0.1 / max(np.sqrt(square), 1e-300))
            else:
                expected = (
                    X[0].astype(float) * {"classification": 1.0, "regression": 0.4}[task] / (square + 1)
                )
            found = learner.weights[::2] if learner.n_features == 2 * length else learner.weights
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            score = expected @ X[0].astype(float) + learner.intercept
            if task == "uniclass":
                score = 0.1 - np.linalg.norm(X[0].astype(float) - expected)
            np.testing.assert_allclose(learner.scores(data), [score], rtol=1e-7, atol=1e-9)
        many = dict(enumerate(X[0].tolist()))
        learners[0].learn_one(many, None if y is None else y[0])
        np.testing.assert_allclose(
            learners[0].score_one(many), learners[0].scores(X)[0], rtol=1e-9, atol=1e-9
        )
