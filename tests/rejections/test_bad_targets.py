"""Bad targets, sample weights and orders of arrays: refused with the row, the model unchanged."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bad_models import BAD, COUNT, TASKS, WIDTH, csr, fit, refused, stream, trained

TARGETS = {
    "regression": [
        (lambda y: y[:-1], "y has 39 entries for 40 rows"),
        (lambda y: np.r_[y, 1.0], "y has 41 entries"),
        (lambda y: y[:, None], "one-dimensional"),
        (lambda y: None, "needs a target"),
        (lambda y: 1.0, "one-dim"),
        (lambda y: y.astype(complex), "must hold numbers"),
        (lambda y: y.astype(str), "must hold numbers"),
        (lambda y: ["a", *y[1:]], "must hold numbers"),
        (lambda y: [*y[1:], None], "row 39: the target is NaN"),
        (lambda y: np.array([*y[1:], "a"], dtype=object), "row 39: y must hold numbers"),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.nan, y), f"row {BAD}: the target is NaN"),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.inf, y), f"row {BAD}: the target is infinity"),
        (lambda y: np.where(np.arange(COUNT) == BAD, -np.inf, y), f"row {BAD}: the target is infinity"),
        (
            lambda y: np.where(np.arange(COUNT) == BAD, 1e308, y),
            f"row {BAD}: the loss or the step is too large",
        ),
        (
            lambda y: np.where(np.arange(COUNT) == BAD, -1e200, y),
            f"row {BAD}: the loss or the step is too large",
        ),
    ],
    "classification": [
        (lambda y: y[:-1], "y has 39 entries for 40 rows"),
        (lambda y: y[:, None], "one-dimensional"),
        (lambda y: None, "needs a target"),
        (lambda y: 1, "one-dimensional"),
        (
            lambda y: np.where(np.arange(COUNT) == BAD, 7, y),
            f"row {BAD}: the label 7.* is not one of the classes",
        ),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.nan, y), f"row {BAD}: the label is NaN"),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.inf, y), f"row {BAD}: the label inf is not one"),
        (lambda y: np.where(np.arange(COUNT) == BAD, 0.5, y), f"row {BAD}: the label 0.5 is not one"),
        (lambda y: y.astype(str), "row 0: the label '.' is not one"),
        (lambda y: y.astype("S1"), "row 0: the label b'.'"),
        (lambda y: y + 0.5j, "row 0: the label"),
        (lambda y: [None] * COUNT, "row 0: the label None"),
        (lambda y: np.array([*y[1:], [1]], dtype=object), r"row 39: the label \[1\]"),
        (lambda y: [*y[1:], [1]], "row 0 is a single value, and row 39 has 1 values"),
        (lambda y: y.astype("datetime64[s]"), "row 0: the label"),
    ],
}


@pytest.mark.parametrize(("task", "place"), [(t, k) for t, ways in TARGETS.items() for k in range(len(ways))])
@pytest.mark.parametrize("container", [np.asarray, csr])
def test_bad_targets(task, place, container):
    X, y = stream(task)
    change, message = TARGETS[task][place]
    for width in (WIDTH, 3000, 0):
        model = trained(task, width, {"average": True})
        refused(model, message, lambda m=model: m.learn(container(fit(m, X)), change(y)))
        weights = np.ones(COUNT)
        refused(model, message, lambda m=model, w=weights: m.learn(container(fit(m, X)), change(y), w))
        events = [dict(enumerate(row.tolist())) for row in X]
        refused(model, message, lambda m=model, e=events: m.learn_many(e, change(y)))


def test_a_target_without_weight_must_be_a_number_too():
    X, y = stream("regression")
    weights = np.where(np.arange(COUNT) == BAD, 0.0, 1.0)
    y[BAD] = np.nan
    model = trained("regression", WIDTH, {})
    refused(model, f"row {BAD}: the target is NaN", lambda: model.learn(X, y, weights))


WEIGHTS = [
    (lambda w: w[:-1], "sample_weight has 39 entries for 40 rows"),
    (lambda w: np.r_[w, 1.0], "41 entries"),
    (lambda w: w[:1], "1 entries for 40 rows"),
    (lambda w: w[:0], "0 entries"),
    (lambda w: w[:, None], "sample_weight must be one-dimensional"),
    (lambda w: 2.0, "one-dimensional"),
    (lambda w: w.astype(str), "sample_weight must hold numbers"),
    (lambda w: w.astype(complex), "must hold numbers"),
    (lambda w: np.where(np.arange(COUNT) == BAD, -1.0, w), f"row {BAD}: the sample weight is -1"),
    (lambda w: np.where(np.arange(COUNT) == BAD, np.nan, w), f"row {BAD}: the sample weight is -?nan"),
    (lambda w: np.where(np.arange(COUNT) == BAD, np.inf, w), f"row {BAD}: the sample weight is infinite"),
    (lambda w: np.where(np.arange(COUNT) == BAD, -np.inf, w), f"row {BAD}: the sample weight is -inf"),
]


@pytest.mark.parametrize("place", range(len(WEIGHTS)))
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("class_weight", [None, {0: 2.0}])
def test_bad_weights(place, task, class_weight):
    X, y = stream(task)
    change, message = WEIGHTS[place]
    options = {"class_weight": class_weight} if task == "classification" else {}
    for width, container in itertools.product((WIDTH, 3000, 0), (np.asarray, csr)):
        model = trained(task, width, {"average": True, **options})
        bad = change(np.ones(COUNT))
        refused(model, message, lambda m=model, c=container, b=bad: m.learn(c(fit(m, X)), y, b))
    refused(model, message, lambda: model.learn_many([dict(enumerate(row.tolist())) for row in X], y, bad))


ORDERS = [
    ([0, COUNT], r"order\[1\] is 40: X has the rows 0 to 39"),
    ([0, 3, -1], r"order\[2\] is -1"),
    ([2**62], r"order\[0\]"),
    (np.array([2**64 - 1], dtype=np.uint64), r"order\[0\]"),
    ([0.5], "whole numbers"),
    ([np.nan], "whole numbers"),
    ([True, False], "whole numbers"),
    ([[0, 1]], "in one dimension"),
    (["a"], "whole numbers"),
    (3, "one dimension"),
    ([None], "whole numbers"),
    ([2**70], "whole numbers"),
]


@pytest.mark.parametrize(("order", "message"), ORDERS, ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_bad_orders(order, message, task):
    X, y = stream(task)
    model = trained(task, WIDTH, {})
    refused(model, message, lambda: model.learn(X, y, order=order))


@pytest.mark.parametrize("task", TASKS)
def test_bad_tolerances(task):
    X, y = stream(task)
    model = trained(task, WIDTH, {})
    for tolerance in (-1.0, np.nan, -np.inf):
        refused(model, "tolerance must be 0 or more", lambda t=tolerance: model.learn(X, y, tolerance=t))
    refused(model, None, lambda: model.learn(X, y, tolerance="a"), TypeError)
    before = model.to_bytes()
    assert model.learn(X, y, tolerance=np.inf) == 0
    assert model.learn(X, y, max_updates=0) == 0
    assert model.to_bytes() == before
