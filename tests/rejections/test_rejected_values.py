"""Values of arrays: NaN, infinity, and what overflows. An error names row and column."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hinge
from rejection import INF, NAN, rejects
from rejection_cases import (
    BAD,
    BUDGETS,
    CASES,
    COUNT,
    SHAPED,
    SHAPES,
    TASKS,
    WIDTH,
    Case,
    csr,
    is_well,
    one_of_each,
    parametrize,
    still_learns,
    stream,
    truth,
)

VALUES = [
    (NAN, "the value is NaN"),
    (INF, "the value is infinity"),
    (-INF, "the value is infinity"),
    (1e308, "the value is too large"),
    (-1e200, "the value is too large"),
]
EVERY_SHAPE = one_of_each(SHAPED)


@parametrize(CASES)
def test_invalid_value_in_a_batch_is_rejected(case):
    model, (X, y) = case.trained(), case.stream()
    one = slice(case.bad, case.bad + 1)
    for (value, message), column in itertools.product(VALUES, (0, 3)):
        rows = X.copy()
        rows[case.bad, column] = value
        rows, place = case.rows(model, rows), f"row {case.bad}, column {column}"
        rejects(model, f"^{place}: {message}").learn(rows, y)
        rejects(model, f"^row 0, column {column}: {message}").learn(rows[one], None if y is None else y[one])
        if case.covariance and case.width:
            rejects(model, f"{place}: {message}").uncertainty(rows)
        if not model.n_features:
            continue
        if case.kernel or not np.isfinite(value):
            rejects(model, f"^{place}: ").scores(rows)
            rejects(model, f"^row 0, column {column}: ").scores(rows[one])
        elif case.plain and case.task != "uniclass" and not case.sums:
            # What overflows in |x|^2 need not overflow in w.x: then the score is right by definition.
            assert np.isfinite(model.scores(rows)).all()
    still_learns(model, case)


@parametrize(CASES)
def test_invalid_value_is_rejected_wherever_its_row_is_read(case):
    model, (X, y) = case.trained(), case.stream()
    X[case.bad, 2] = NAN
    X, count, error = case.rows(model, X), case.count, rejects(model, f"^row {case.bad}, column 2")
    error.learn(X[: case.bad + 1], None if y is None else y[: case.bad + 1])
    error.learn(X, y, np.where(np.arange(count) == case.bad, 0.0, 1.0))
    error.learn(X, y, order=np.r_[np.arange(count), np.arange(count)])
    model.learn(X, y, order=np.delete(np.arange(count), case.bad))  # a row that is not visited is not read


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("value", [NAN, INF])
def test_invalid_single_precision_value_is_rejected(task, value):
    X, y = stream(task)
    X = X.astype(np.float32)
    X[BAD, 1] = value
    error = rejects(Case(task).trained(), f"row {BAD}, column 1: the value is")
    for container in (np.ascontiguousarray, np.asfortranarray, csr):
        error.learn(container(X), y)


@pytest.mark.parametrize("task", TASKS)
def test_large_values_are_learned_until_their_norm_overflows(task):
    """1e20 to 1e150 are numbers like others; a norm that overflows is rejected, though no value does."""
    X, y = stream(task)
    for size in (1e20, 1e38, 1e100, 1e150):
        cap = size if task == "uniclass" else size**-2
        options = {"fit_intercept": False, "step": "pa1"}
        model = Case(task, options).new(radius=1.0, C=1.0)
        scaled = Case(task, options).new(radius=size, C=cap)
        model.learn(X, y)
        scaled.learn(X * size, y)
        weights = scaled.weights / size if task == "uniclass" else scaled.weights * size
        np.testing.assert_allclose(weights, model.weights, rtol=1e-9)
    X[BAD] = 1.2e154
    error = rejects(Case(task).trained(), f"row {BAD}: the squared norm of the instance overflows")
    error.learn(X, y)
    error.learn(csr(X), y)
    error.learn(X, y, np.where(np.arange(COUNT) == BAD, 0.0, 1.0))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("container", [np.asarray, csr])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_rows_of_zeros_are_rounds(task, container, fit_intercept):
    model = Case(task).new(fit_intercept=fit_intercept)
    model.learn(container(np.zeros((4, 3))), np.array([1, 1, 0, 1]))
    assert model.statistics.rounds == 4 - (task == "uniclass")
    assert not model.weights.any()
    assert (model.intercept != 0) == (fit_intercept and task != "uniclass")


@parametrize(EVERY_SHAPE)
def test_rows_of_zeros_leave_a_geometry_as_it_begins(case):
    """Rows of zeros and empty events are rounds; only an intercept or thresholds may learn from them."""
    y = case.stream()[1]
    for container in (np.asarray, csr):
        model = case.new()
        width = model.n_features or WIDTH
        zeros = np.zeros((3, width))
        model.learn(container(zeros) if width == WIDTH else csr(zeros), None if y is None else y[:3])
        assert model.statistics.rounds == 3
        if case.covariance:
            start = np.ones(width) if model.covariance.ndim == 1 else np.eye(width)
            np.testing.assert_array_equal(model.covariance, start)
        elif case.task != "uniclass":  # the weights of all features are still the same
            assert len(set(np.ravel(model.last_weights).tolist())) == 1
        is_well(model)
    model = case.new()
    model.learn_one({}, truth(case.task))
    model.learn_many([{}, {"a": 0.0}], [truth(case.task)] * 2)
    assert model.statistics.rounds == 3
    is_well(model)
    nothing = model.to_bytes()
    model.learn_many([], [])
    assert model.to_bytes() == nothing


def learned_or_too_large(model, *batch):
    """Whether it was learned; else it was rejected as too large, without a trace."""
    before = model.to_bytes()
    try:
        model.learn(*batch)
    except ValueError as error:
        assert "large" in str(error)  # noqa: PT017
        assert model.to_bytes() == before
        return False
    return True


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("size", [1e-308, 5e-324, 1e-200, 1e-154, 1e-150, 1e-100])
def test_tiny_values_are_learned_or_their_step_is_too_large(task, step, size):
    """Squares that vanish give no direction; squares that are almost nothing may ask for too long a step."""
    X, y = stream(task)
    model = Case(task).new(step=step, fit_intercept=False, average=True, radius=1.0)
    learned_or_too_large(model, X * size, y)
    assert np.isfinite(model.weights).all()
    assert np.isfinite([model.statistics.loss, model.statistics.progress]).all()


def test_statistics_stay_finite():
    model = Case("classification").new(step="pa", fit_intercept=False)
    rows, y = np.full((100, 1), 3.2e-154), np.arange(100) % 2
    for k in range(3):
        model.learn(rows[k : k + 1], y[k : k + 1])
    rejects(model, "the loss or the step is too large").learn(rows, y)
    assert np.isfinite(model.statistics.progress)


# ---- geometries ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["full", "diagonal", "drop"])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron", "cw"])
def test_instances_beyond_1e50_are_scored_but_not_learned_with_a_covariance(shape, step):
    model = Case("classification", {**SHAPES[shape], "step": step}).trained()
    X, y = stream("classification")
    X[BAD] = 0.0
    X[BAD, 2] = 1e60
    only = np.arange(COUNT) == BAD  # what has no weight is read, not learned
    target = np.where(only, int(model.weights[2] < 0), y)  # a mistake, certainly
    assert np.isfinite(model.scores(X)).all()
    assert model.uncertainty(X)[BAD] > 1e100
    message = "the instance is too large for this geometry: its squared norm is more than 1e100"
    for container in (np.asarray, csr):
        rejects(model, f"row {BAD}: {message}").learn(container(X), target, only)
    X[BAD, 2] = 1e49
    model.learn(X, target)
    is_well(model)


@parametrize(EVERY_SHAPE)
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-150, 1e-60, 1e-20, 1e20, 1e40, 1e60, 1e100, 1e150])
def test_geometry_learns_any_size_or_rejects_it_as_too_large(case, size):
    """One large row, or all of them small."""
    model, (X, y) = case.trained(), case.stream()
    large = np.where(np.arange(COUNT)[:, None] == BAD, X * size, X)
    learned_or_too_large(model, case.rows(model, X * size if size < 1 else large), y)
    is_well(model)
    model.learn(case.rows(model, X), y)
    is_well(model)


# ---- kernels -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", BUDGETS)
def test_kernel_values_that_overflow_are_rejected(budget):
    """The instance is small enough, its kernel value is not."""
    case = Case("regression", {"kernel": "poly", "degree": 5, "gamma": 1.0, "budget": budget})
    model, fresh, (X, y) = case.new(), case.new(), stream("regression", 150)
    model.learn(X, y)
    X[100, 0] = 1e70
    rejects(model, "row 100: the score overflows").learn(X, y)
    rejects(model, "the score overflows").learn_one({0: 1e70}, 1.0)
    rejects(fresh, "kernel's value of the instance with itself").learn_one({0: 1e70}, 1.0)
    X[100, 0] = 1e25  # this one can be learned
    model.learn(X, y)
    assert np.isfinite(model.scores(X)).all()


# ---- what a model cannot hold --------------------------------------------------------------------------------------


@pytest.mark.parametrize("average", [False, True])
def test_weights_that_float32_cannot_hold_are_rejected(average):
    small, large = (
        hinge.Learner("regression", step="pa", dtype=d, average=average) for d in ("float32", "float64")
    )
    for model in (small, large):
        model.learn_one({"a": 1.0}, 1.0)
    rejects(small, "larger than the model can hold").learn_one({"b": 1e-20}, 1e38)
    events = [{"b": 1e-3, "new": 1e36}, {"n": 1e-20}]
    rejects(small, "row 1: .*larger than").learn_many(events, [1.0, 1e38])
    large.learn_one({"b": 1e-20}, 1e38)
    assert np.isfinite(large.weights).all()


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("average", [False, True])
def test_weights_that_grow_stay_finite(task, dtype, average):
    """When they would overflow, an event is rejected."""
    model = hinge.Learner(task, step="pa", dtype=dtype, average=average, fit_intercept=False, radius=1.0)
    rejections, size = 0, 1.0
    for k in range(330):
        size *= 8.0
        event = {"a": size if task == "uniclass" else 1 / size, f"f{k}": 1e-3 / size}
        target = {"classification": k % 2, "regression": size, "uniclass": None}[task]
        before = model.to_bytes()
        try:
            model.learn_one(event, target)
        except ValueError as error:
            rejections += 1
            assert "large" in str(error) or "overflow" in str(error)  # noqa: PT017
            assert model.to_bytes() == before
        assert np.isfinite(model.weights).all()
        assert np.isfinite(model.last_weights).all()
        assert np.isfinite(list(vars(model.statistics).values())).all()
    # (Values that small have no square left before a float64 weight overflows: no step, and no rejection.)
    assert rejections > 10 or (task, dtype) == ("classification", "float64")
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
