"""The loops over features, at every length: scores, norms and moves equal NumPy, with the same bits in every layout.

The core sums eight features at a time, then four, then what is left; an instance of any length must be whole.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from hinge import Learner

LENGTHS = [*range(42), 63, 64, 65, 127, 128, 129, 1000]


def instance(length: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng([seed, length])
    return random.normal(size=length), random.normal(size=length)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("way", ["dense", "strided", "int32", "int64", "unsorted", "wide"])
def test_round_of_every_length_equals_numpy(length: int, dtype: type, way: str) -> None:
    """One PA step from w1: the score before it, q and the weights after it."""
    w, x = instance(length)
    x = x.astype(dtype)
    columns, width = np.arange(length), max(1, length)
    if way == "wide":  # among columns that are empty
        columns, width = 3 * columns + 1, 3 * length + 5
    start = np.zeros(width)
    start[columns] = w
    row = np.zeros((1, width), dtype=dtype)
    row[0, columns] = x
    if way in ("dense", "strided"):
        X = row if way == "dense" else np.repeat(row, 2, axis=1)[:, ::2]
    else:
        kept = np.random.default_rng(1).permutation(length) if way == "unsorted" else np.arange(length)
        index = np.int64 if way == "int64" else np.int32
        parts = (row[0, columns[kept]], columns[kept].astype(index), np.array([0, length], dtype=index))
        X = sp.csr_array(parts, shape=(1, width))
        X.has_canonical_format = True  # scipy must not sort it for us
        X.indices, X.indptr = parts[1], parts[2]
    learner = Learner("regression", step="pa", epsilon=0.0, fit_intercept=False, w1=start)
    score, q = float(w @ x.astype(float)), float(x.astype(float) @ x.astype(float))
    np.testing.assert_allclose(learner.scores(X), [score], rtol=1e-12, atol=1e-12)
    learner.learn(X, np.array([score + 2.0]))
    np.testing.assert_allclose(learner.statistics.largest_q, q, rtol=1e-12)
    after = start.copy()
    if length:
        after[columns] += (2.0 / q) * x.astype(float)
    np.testing.assert_allclose(learner.weights, after, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("length", LENGTHS)
def test_events_and_rows_of_every_length_give_the_same_bits(length: int) -> None:
    """Dense, sparse and named features take the same partial sums, whatever instructions are used."""
    w, x = instance(length, seed=2)
    names = [f"feature {i}" for i in range(length)]
    learner = Learner("regression", fit_intercept=False, w1=w)
    learner.name_columns(names)
    dense = learner.scores(x[np.newaxis]) if length else np.zeros(1)
    sparse = learner.scores(sp.csr_array(x[np.newaxis])) if length else np.zeros(1)
    named = learner.score_one(dict(zip(names, x, strict=True)))
    assert dense[0] == sparse[0] == named


@pytest.mark.parametrize("bad", [-1, 7, 2**31 - 1, 10**6])
@pytest.mark.parametrize("length", [1, 2, 7, 8, 9, 10, 15, 16, 17, 18, 24, 25, 26, 40])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_column_outside_is_rejected_at_every_place(bad: int, length: int, index: type) -> None:
    """`bad` = 7 stands for a repeated column, which is added up; the others are rejected, wherever they are."""
    for place in range(length):
        columns = np.arange(length, dtype=index)
        columns[place] = bad if bad != 7 else (place - 1 if place else 1 % length)
        values = np.arange(1.0, length + 1)
        learner = Learner("regression", fit_intercept=False, w1=np.arange(length) + 0.5)
        X = sp.csr_array((1, length))
        X.data, X.indices, X.indptr = values, columns, np.array([0, length], dtype=index)
        before = learner.to_bytes()
        if bad == 7:
            expected = sum(values[j] * (columns[j] + 0.5) for j in range(length))
            np.testing.assert_allclose(learner.scores(X), [expected])
        else:
            with pytest.raises(ValueError, match=f"row 0: column index {bad} is outside"):
                learner.learn(X, np.array([1.0]))
            with pytest.raises(ValueError, match=f"row 0: column index {bad} is outside"):
                learner.scores(X)
        assert learner.to_bytes() == before


@pytest.mark.parametrize("labels", [3, 10, 33, 70])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_zeros_of_dense_rows_add_nothing_to_many_lanes(labels: int, precision: str, dtype: type) -> None:
    """The core looks for what is not 0, 64 values at a time: the same bits as from CSR that stores the zeros, where it
    adds them all, at every length, however the row lies."""
    random = np.random.default_rng(labels)
    for length in LENGTHS[1:]:
        X = random.normal(size=(12, length)) * (random.random((12, length)) < random.random((12, 1)))
        X[0] = 0
        X[1, :-1], X[1, -1] = 0, -2.5
        X[2, 1:], X[2, 0] = -0.0, 1.5
        X = X.astype(dtype)
        y = random.integers(labels, size=12)
        columns, starts = np.tile(np.arange(length), 12), length * np.arange(13)
        stored = sp.csr_array((X.ravel(), columns, starts), shape=X.shape)
        ways = [X, np.asfortranarray(X), np.repeat(X, 2, axis=1)[:, ::2], stored]
        learners = [Learner("classification", classes=list(range(labels)), dtype=precision) for _ in ways]
        for learner, rows in zip(learners, ways, strict=True):
            learner.learn(rows, y)
        scores = [learner.scores(rows) for learner, rows in zip(learners, ways, strict=True)]
        for other, its_scores in zip(learners[1:], scores[1:], strict=True):
            np.testing.assert_array_equal(its_scores, scores[0])
            assert other.to_bytes() == learners[0].to_bytes()
        w, intercepts = learners[0].weights, learners[0].intercept
        close = 1e-4 if precision == "float32" else 1e-9
        np.testing.assert_allclose(scores[0], X.astype(float) @ w.T + intercepts, rtol=close, atol=close)


@pytest.mark.parametrize("place", [0, 1, 62, 63, 64, 65, 99])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nan_and_infinity_are_rejected_among_zeros(bad: float, place: int) -> None:
    learner = Learner("classification", classes=[0, 1, 2, 3])
    learner.learn(np.eye(4, 100), np.arange(4))
    before = learner.to_bytes()
    X = np.zeros((2, 100))
    X[1, place] = bad
    with pytest.raises(ValueError, match=f"row 1.*column {place}"):
        learner.learn(X, np.array([0, 1]))
    with pytest.raises(ValueError, match="row 1"):
        learner.scores(X)
    assert learner.to_bytes() == before
