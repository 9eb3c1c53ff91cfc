"""Arrays that are not matrices of numbers, of another width, masked, or larger than memory; invalid orders of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hinge
from hinge.compat import PassiveAggressiveClassifier
from rejection import BOTH, INF, NAN, rejects
from rejection_cases import (
    BAD,
    CASES,
    COUNT,
    TASKS,
    WIDTH,
    Case,
    csr,
    one_of_each,
    parametrize,
    still_learns,
    stream,
)

NOT_MATRICES = [
    (np.ones(WIDTH), "two-dimensional"),
    (np.ones((2, 2, 2)), "two-dimensional"),
    (np.float64(3), "two-dimensional"),
    (np.array([["a"] * WIDTH]), "must hold numbers"),
    (np.ones((1, WIDTH), dtype=complex), "must hold numbers"),
    (np.ones((1, WIDTH), dtype="datetime64[s]"), "must hold numbers"),
    (np.ones((1, WIDTH), dtype="V8"), "numbers"),
    (np.array([[1, 2, 3, "x", 5]], dtype=object), "row 0, column 3.*'x'"),
    (np.array([[1, 2], [3, []]], dtype=object), "row 1, column 1"),
    (np.array([[1, 2], [3, 10**400]], dtype=object), "row 1, column 1"),
    (np.array([[1, 2, 3, 4, 5], [None, 1, 2, 3, 4]], dtype=object), "row 1, column 0: the value is NaN"),
    (np.array([[1, 2], [3, 1j]], dtype=object), "row 1, column 1"),
    ([[1.0, 2.0], [3.0]], "row 0 has 2 values, and row 1 has 1 values"),
    (None, "must be an array or a list, not NoneType"),
    ("text", "two-dimensional"),
    (scipy.sparse.csr_array(np.ones(WIDTH)), "two-dimensional"),
]


@pytest.mark.parametrize(
    ("X", "message"), NOT_MATRICES, ids=lambda v: None if isinstance(v, str) else type(v).__name__
)
@pytest.mark.parametrize("task", TASKS)
def test_what_is_not_a_matrix_of_numbers_is_rejected(X, message, task):
    error = rejects(Case(task).trained(), message)
    error.learn(X, [0] * 2 if message.endswith("NaN") else [0])
    error.scores(X)


@parametrize([case for case in one_of_each(CASES) if "hash_bits" not in case.options])
def test_another_width_is_rejected(case):
    model, (X, y) = case.trained(), case.stream()
    for rows in (np.hstack([X, X]), np.hstack([X, X[:, :1]]), X[:, :4], X[:, :0]):
        error = rejects(model, f"X has {rows.shape[1]} features, the model has 5")
        for container in (np.asarray, csr):
            error.learn(container(rows), y)
            error.scores(container(rows))
            if case.covariance:
                error.uncertainty(container(rows))


@parametrize([case for case in one_of_each(CASES) if "hash_bits" in case.options])
def test_another_width_is_rejected_if_hashed(case):
    model, (_, y) = case.trained(), case.stream()
    n = model.n_features
    for rows in (np.ones((case.count, n + 1)), csr(np.ones((case.count, n - 1)))):
        error = rejects(model, f"X has {rows.shape[1]} features, the model has {n}")
        error.learn(rows, y)
        error.scores(rows)
        if case.covariance:
            error.uncertainty(rows)


@pytest.mark.parametrize("task", TASKS)
def test_width_is_limited_by_names_hashes_and_max_features(task):
    X, y = stream(task)
    wide = np.hstack([X, X])
    named, events, hashed = Case(task).new(), Case(task).new(), Case(task).new(hash_bits=3)
    named.name_columns(list("abcde"))
    events.learn_many([{"a": 1.0}], None if y is None else y[:1])
    limited = Case(task).new(max_features=7)
    for container in (np.asarray, csr):
        for rows in (wide, X[:, :4], X[:, :0]):
            error = rejects(named, f"X has {rows.shape[1]} features, the model has 5")
            error.learn(container(rows), y)
            error.scores(container(rows))
        rejects(events, "have names").learn(container(X), y)
        rejects(hashed, "X has 10 features, the model has 8").learn(container(wide), y)
        rejects(limited, "10 features, the limit is 7").learn(container(wide), y)
    rejects(limited, "limit").learn(scipy.sparse.csr_matrix((COUNT, 2**40)), y)


@pytest.mark.parametrize("task", TASKS)
def test_rejected_first_batch_does_not_fix_the_width(task):
    X, y = stream(task)
    model, wide = Case(task).new(), np.hstack([X, X])
    X[BAD, 3] = NAN
    rejects(model, f"row {BAD}, column 3").learn(X, y)
    model.learn(wide, y)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("container", [np.asarray, csr])
def test_no_rows_and_no_columns_are_accepted(task, container):
    model = Case(task, {"average": True}).trained()
    before = model.to_bytes()
    assert model.learn(container(np.zeros((0, WIDTH))), np.zeros(0)) == 0
    assert model.scores(container(np.zeros((0, WIDTH)))).shape == (0,)
    model.learn_many([], [])
    model.learn(container(stream(task)[0]), np.zeros(COUNT), order=[])
    assert model.to_bytes() == before
    fresh = Case(task).new()
    fresh.learn(container(np.zeros((3, 0))), [0, 1, 0])
    assert fresh.statistics.rounds == 3 - (task == "uniclass")
    assert fresh.scores(container(np.zeros((3, 0)))).shape == (3,)


# ---- orders and tolerances -----------------------------------------------------------------------------------------

ORDERS = [
    ([0, COUNT], r"order\[1\] is 40: X has the rows 0 to 39"),
    ([0, 3, -1], r"order\[2\] is -1"),
    ([2**62], r"order\[0\]"),
    (np.array([2**64 - 1], dtype=np.uint64), r"order\[0\]"),
    ([0.5], "whole numbers"),
    ([NAN], "whole numbers"),
    ([True, False], "whole numbers"),
    ([[0, 1]], "in one dimension"),
    (["a"], "whole numbers"),
    (3, "one dimension"),
    ([None], "whole numbers"),
    ([2**70], "whole numbers"),
]


@pytest.mark.parametrize("task", TASKS)
def test_invalid_order_is_rejected(task):
    case = Case(task)
    model, (X, y) = case.trained(), stream(task)
    for order, message in ORDERS:
        rejects(model, message).learn(X, y, order=order)
    still_learns(model, case)


@pytest.mark.parametrize("task", TASKS)
def test_invalid_tolerance_is_rejected(task):
    model, (X, y) = Case(task).trained(), stream(task)
    for tolerance in (-1.0, NAN, -INF):
        rejects(model, "tolerance must be 0 or more").learn(X, y, tolerance=tolerance)
    rejects(model, error=TypeError).learn(X, y, tolerance="a")
    before = model.to_bytes()
    assert model.learn(X, y, tolerance=INF) == 0
    assert model.learn(X, y, max_updates=0) == 0
    assert model.to_bytes() == before


# ---- masked arrays, missing values, views larger than memory -------------------------------------------------------

MASK = [[0, 0], [0, 1], [0, 0]]


def fitted(cls):
    classes = {} if cls is hinge.PARegressor else {"classes": [0, 1]}
    return cls().partial_fit(np.eye(4), [0, 1, 0, 1], **classes)


def test_masked_values_are_rejected():
    X, ones, numbers = np.ma.masked_array(np.ones((3, 2)), mask=MASK), np.ones((3, 2)), [1.0, 2.0, 3.0]
    error = r"row \d, column \d: the value of X is masked"
    rejects(hinge.Learner("regression"), error).learn(X, numbers)
    rejects(hinge.PARegressor(), error).fit(X, numbers)
    rejects(hinge.PAClassifier(), error).fit(X, [0, 1, 0])
    rejects(hinge.PAOneClass(), error).fit(X)
    rejects(fitted(hinge.PAClassifier), error).predict(np.ma.masked_array(np.eye(4), mask=np.eye(4)[::-1]))
    with pytest.raises(ValueError, match=error):
        PassiveAggressiveClassifier().fit(X, [0, 1, 0])
    y, error = np.ma.masked_array([0.0, 1.0, 0.0], mask=[0, 0, 1]), "row 2: the value of y is masked"
    for task in ("regression", "classification"):
        rejects(hinge.Learner(task), error).learn(ones, y)
    for model in (hinge.PARegressor(), hinge.PAClassifier()):
        rejects(model, error).fit(ones, y)
    rejects(hinge.PAClassifier(), error).partial_fit(ones, y, classes=[0, 1])
    weights = np.ma.masked_array([1.0, 1.0, 1.0], mask=[0, 1, 0])
    error = rejects(hinge.Learner("regression"), "row 1: the value of sample_weight is masked")
    error.learn(ones, numbers, weights)


def test_array_without_masked_values_is_learned():
    X = np.ma.masked_array(np.eye(3), mask=False)
    assert hinge.PAClassifier().fit(X, [0, 1, 0]).predict(X).shape == (3,)


def test_missing_values_of_pandas_are_rejected():
    frame = pd.DataFrame({"a": pd.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 3.0]})
    rejects(hinge.PARegressor(), "row 1|NaN").fit(frame, [1.0, 2.0, 3.0])
    rejects(hinge.Learner("regression"), "row 1|NaN").learn_many(frame, [1.0, 2.0, 3.0])
    y, error = pd.Series([1, None, 3], dtype="Int64"), "NA|NaN|nan|number"
    for model in (hinge.PARegressor(), hinge.PAClassifier()):
        rejects(model, error).fit(np.ones((3, 2)), y)
    rejects(hinge.Learner("regression"), error).learn(np.ones((3, 2)), y)


@pytest.mark.parametrize("kind", [np.float64, np.int32])
def test_view_larger_than_memory_is_rejected(kind):
    learner = hinge.Learner("regression")
    learner.learn(np.eye(4), np.ones(4))
    huge = np.broadcast_to(np.ones(4, dtype=kind), (2**45, 4))
    rejects(learner, "memory").scores(huge)
    rejects(learner, "memory").learn(huge, np.broadcast_to(np.ones(1, dtype=np.int32), (2**45,)))


def test_what_is_not_a_batch_of_events_is_rejected():
    model = Case("regression").trained_on_events()
    for X in (None, 5, {"a": 1.0}, "text"):
        rejects(model, error=BOTH).learn_many(X, [1.0])
