"""Targets and sample weights: a number, a label or a set that is invalid, another length, another type."""

from __future__ import annotations

import numpy as np
import pytest

import hinge
from rejection import INF, NAN, rejects
from rejection_cases import (
    BAD,
    BUDGETS,
    CASES,
    COUNT,
    KERNEL,
    SHAPED,
    SHAPES,
    WIDTH,
    Case,
    is_well,
    one_of_each,
    parametrize,
    still_learns,
    stream,
    truth,
)

# Of the plain learners those with an average, which has most to take back.
AVERAGED = [
    case
    for case in CASES
    if not case.plain or list(case.options) in (["average"], ["average", "class_weight"])
]


def put(value):
    """The target of the invalid row becomes that value."""
    return lambda y, bad: [*list(y)[:bad], value, *list(y)[bad + 1 :]]


def put_number(value):
    return lambda y, bad: np.where(np.arange(len(y)) == bad, value, y)


LENGTHS = [
    (lambda y, bad: y[:-1], "y has {less} entries for {count} rows"),
    (lambda y, bad: None, "needs a target"),
]
OF_ARRAYS = [
    *LENGTHS,
    (lambda y, bad: y[:, None], "one-dimensional"),
    (lambda y, bad: 1, "one-dimensional"),
]


OF_LABELS = [
    *OF_ARRAYS,
    (put("no label"), "row {bad}: the label 'no label'"),
    (put_number(7), "row {bad}: the label 7.* is not one of the classes"),
    (put_number(NAN), "row {bad}: the label is NaN"),
    (put_number(INF), "row {bad}: the label inf is not one"),
    (put_number(0.5), "row {bad}: the label 0.5 is not one"),
    (lambda y, bad: y.astype(str), "row 0: the label '.' is not one"),
    (lambda y, bad: y.astype("S1"), "row 0: the label b'.'"),
    (lambda y, bad: y + 0.5j, "row 0: the label"),
    (lambda y, bad: [None] * len(y), "row 0: the label None"),
    (lambda y, bad: np.array([*y[1:], [1]], dtype=object), r"row {less}: the label \[1\]"),
    (lambda y, bad: [*y[1:], [1]], "row 0 is a single value, and row {less} has 1 values"),
    (lambda y, bad: y.astype("datetime64[s]"), "row 0: the label"),
]

TARGETS = {
    **dict.fromkeys(("classification", "multiclass", "cost", "ordinal"), OF_LABELS),
    "regression": [
        *OF_ARRAYS,
        (lambda y, bad: np.r_[y, 1.0], "y has {more} entries"),
        (lambda y, bad: y.astype(complex), "must hold numbers"),
        (lambda y, bad: y.astype(str), "must hold numbers"),
        (lambda y, bad: ["a", *y[1:]], "must hold numbers"),
        (lambda y, bad: [*y[1:], None], "row {less}: the target is NaN"),
        (lambda y, bad: np.array([*y[1:], "a"], dtype=object), "row {less}: y must hold numbers"),
        (put_number(NAN), "row {bad}: the target is NaN"),
        (put_number(INF), "row {bad}: the target is infinity"),
        (put_number(-INF), "row {bad}: the target is infinity"),
        (put_number(1e308), "row {bad}: {large}"),
        (put_number(-1e200), "row {bad}: {large}"),
    ],
    "multilabel": [
        *LENGTHS,
        (put({7}), "row {bad}: .*7"),
        (
            lambda y, bad: np.array([[3] * 3 if k == bad else [0, 1, 0] for k in range(len(y))]),
            "0 and 1 only",
        ),
        (lambda y, bad: np.array([[0, 1, 0]] * len(y))[:-1], "y has {less} entries for {count} rows"),
    ],
}


@parametrize([case for case in AVERAGED if case.task != "uniclass"])
def test_invalid_targets_are_rejected(case):
    model, (X, y) = case.trained(), case.stream()
    rows, count = case.rows(model, X), case.count
    events = [dict(enumerate(row)) for row in X.tolist()]
    large = "the loss or the step is too large" if case.plain else ".*(too large|overflow)"
    for change, message in TARGETS[case.task]:
        message = message.format(bad=case.bad, count=count, less=count - 1, more=count + 1, large=large)
        error, bad = rejects(model, message), change(y, case.bad)
        error.learn(rows, bad)
        error.learn(rows, bad, np.ones(count))
        error.learn_many(events, bad)
    still_learns(model, case)


OF_ONE_EVENT = {
    "regression": [(NAN, "the target is NaN"), (INF, "infinity"), (1e200, "too large|overflow")],
    "multilabel": [({7}, "7")],
}


@parametrize([case for case in one_of_each(SHAPED + KERNEL) if case.task != "uniclass"])
def test_invalid_target_of_one_event_is_rejected(case):
    model = case.trained_on_events()
    for target, message in OF_ONE_EVENT.get(case.task, [(7, "7"), ("no label", "no label")]):
        rejects(model, message).learn_one({"new": 1.0}, target)


def test_target_without_weight_must_be_a_number_too():
    X, y = stream("regression")
    weights = np.where(np.arange(COUNT) == BAD, 0.0, 1.0)
    y[BAD] = NAN
    rejects(Case("regression").trained(), f"row {BAD}: the target is NaN").learn(X, y, weights)


@pytest.mark.parametrize("budget", BUDGETS)
def test_target_too_large_for_a_kernel_is_rejected(budget):
    model = hinge.Learner("regression", kernel="rbf", gamma=0.3, step="pa", budget=budget)
    X, y = stream("regression", 150)
    model.learn(X, y)
    y[100] = 1e200
    rejects(model, "row 100: the loss or the step is too large").learn(X, y)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (None, "the target must be a number"),
        ("1.0", "the target must be a number"),
        (b"1", "must be a number"),
        ([1.0, 2.0], "must be a number"),
        (1j, "must be a number"),
        (10**400, "must be a number"),
        (NAN, "the target is NaN"),
        (INF, "the target is infinity"),
        (1e308, "too large"),
        (-1e200, "too large"),
        (object(), "must be a number"),
    ],
    ids=lambda v: repr(v)[:12],
)
def test_what_is_not_a_number_is_rejected(target, message):
    for options in ({}, {"average": True}, {"dtype": "float32"}, {"hash_bits": 8, "average": True}):
        case = Case("regression", options)
        for model in (case.trained_on_events(), case.new()):
            rejects(model, message).learn_one({"a": 1.0, "new": 2.0}, target)


# ---- sample weights ------------------------------------------------------------------------------------------------

WEIGHTS = [
    (lambda w, bad: w[:-1], "sample_weight has {less} entries for {count} rows"),
    (lambda w, bad: np.r_[w, 1.0], "{more} entries"),
    (lambda w, bad: w[:1], "1 entries for {count} rows"),
    (lambda w, bad: w[:0], "0 entries"),
    (lambda w, bad: w[:, None], "sample_weight must be one-dimensional"),
    (lambda w, bad: 2.0, "one-dimensional"),
    (lambda w, bad: w.astype(str), "sample_weight must hold numbers"),
    (lambda w, bad: w.astype(complex), "must hold numbers"),
    (put_number(-1.0), "row {bad}: the sample weight is -1"),
    (put_number(-1e-300), "row {bad}: the sample weight is -"),
    (put_number(NAN), "row {bad}: the sample weight is -?nan"),
    (put_number(INF), "row {bad}: the sample weight is infinite"),
    (put_number(-INF), "row {bad}: the sample weight is -inf"),
]
WEIGHTS_OF_ONE = [
    *((weight, f"the sample weight is {said}", ValueError)
      for weight, said in ((-1.0, "-1"), (-1e-300, "-"), (NAN, "-?nan"), (INF, "inf"), (-INF, "-inf"))),
    *((weight, "weight|float", TypeError) for weight in ("1", None, [1.0], 1j)),
]  # fmt: skip


@parametrize(AVERAGED)
def test_invalid_weights_are_rejected(case):
    model, (X, y) = case.trained(), case.stream()
    rows, count = case.rows(model, X), case.count
    events = [dict(enumerate(row)) for row in X.tolist()]
    for change, message in WEIGHTS:
        message = message.format(bad=case.bad, count=count, less=count - 1, more=count + 1)
        bad = change(np.ones(count), case.bad)
        rejects(model, message).learn(rows, y, bad)
        rejects(model, message).learn_many(events, y, bad)
    still_learns(model, case)


@parametrize(one_of_each(CASES))
def test_invalid_weight_of_one_event_is_rejected(case):
    for model in (case.trained_on_events(), case.new()):
        for weight, message, error in WEIGHTS_OF_ONE:
            rejects(model, message, error).learn_one({"a": 1.0, "new": 2.0}, truth(case.task), weight)


@parametrize(one_of_each(SHAPED))
@pytest.mark.parametrize("weight", [1e-300, 1e-100, 1e-20, 1e20, 1e90, 1e120, 1e300, 1.7e308])
def test_extreme_weights_are_learned_or_rejected_by_a_geometry(case, weight):
    model, (X, y) = case.trained(), case.stream()
    before = model.to_bytes()
    try:
        model.learn(case.rows(model, X), y, np.full(COUNT, weight))
    except ValueError as error:
        assert "large" in str(error) or "too small" in str(error)  # noqa: PT017
        assert model.to_bytes() == before
        assert weight > 1
    is_well(model)


TOO_HEAVY = "the sample weight over covariance_regularizer is too large for this geometry: it is above 1e100"
TOO_SMALL = r"the covariance would become too small to be held in float64 \(below 1e-120 of its start\)"


@pytest.mark.parametrize("shape", ["full", "diagonal", "drop"])
def test_weight_too_large_for_the_covariance_is_rejected(shape):
    case = Case("regression", {**SHAPES[shape], "step": "pa"})
    model, rows = case.trained(), np.eye(3, WIDTH) * [[1.0], [1e20], [1.0]]
    rejects(model, f"row 2: {TOO_HEAVY}").learn(rows, [99.0] * 3, [1.0, 1.0, 1e101])
    rejects(model, f"row 1: {TOO_SMALL}").learn(rows, [99.0] * 3, [1.0, 1e90, 1.0])
    model.learn(rows, [99.0] * 3, [1.0, 1e70, 1.0])
    is_well(model)
    model = case.trained()
    for value, weight, message in [
        (1.0, 1e101, TOO_HEAVY),
        (1e20, 1e90, TOO_SMALL),
        (1e60, 1.0, "too large"),
    ]:
        rejects(model, message).learn_one({0: value}, 1e70, weight)


@pytest.mark.parametrize(("regularizer", "weight"), [(1.0, 5e-324), (1.0, 1e-310), (1e300, 1e-10)])
def test_smallest_weights_are_learned(regularizer, weight):
    model = Case("classification", {**SHAPES["full"], "covariance_regularizer": regularizer}).trained()
    X, _ = stream("classification")
    model.learn(X[:1], 1 - (model.scores(X[:1]) > 0).astype(int), [weight])
    is_well(model)


def test_cw_without_confidence_is_pa_without_margin():
    """phi = 0: the covariance does not change."""
    for classes, w1 in (([0, 1], [1.0, -1.0]), ([0, 1, 2], [[1.0, -1.0], [0.0, 0.0], [1.0, 2.0]])):
        for geometry, start in (("diagonal", np.ones(2)), ("mahalanobis", np.eye(2))):
            model = hinge.Learner(
                "classification", classes=classes, geometry=geometry, step="cw", eta=0.5, w1=w1
            )
            model.learn(np.array([[1.0, 0.3], [1.0, 0.2]]), [0, 1])
            assert model.statistics.updates > 0
            np.testing.assert_array_equal(model.covariance, start)
