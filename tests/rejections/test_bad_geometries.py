"""Bad rows, weights, parameters and sizes in the geometries: an error that says what is wrong, never a trace of it.

The tables of test_bad_input.py, on models with a covariance and on a simplex. Files: test_bad_geometry_files.py;
options and limits: test_bad_geometry_options.py.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

import hinge
from bad_geometries import SHAPES, has_covariance, is_well, new, stream, trained
from bad_models import BAD, COUNT, WIDTH, csr, fit, refused

MODELS = [
    *(("classification", shape, {}) for shape in SHAPES),
    ("classification", "full", {"step": "perceptron", "average": True}),
    ("classification", "full", {"step": "cw", "dtype": "float32"}),
    ("classification", "drop", {"step": "cw", "average": True}),
    ("classification", "simplex", {"step": "pa", "hash_bits": 5}),
    ("regression", "full", {"step": "pa2", "average": True}),
    ("regression", "diagonal", {"step": "pa", "hash_bits": 5}),
    ("regression", "plain simplex", {"average": True}),
    ("uniclass", "simplex", {"average": True}),
    ("uniclass", "plain simplex", {"step": "pa"}),
    ("multiclass", "full", {"selection": "simproj", "step": "pa2"}),
    ("multiclass", "diagonal", {"step": "perceptron", "selection": "uniform"}),
    ("multiclass", "simplex", {"selection": "conproj"}),
    ("multilabel", "full", {"step": "cw"}),
    ("multilabel", "simplex", {"average": True}),
    ("ordinal", "diagonal", {"selection": "simproj"}),
    ("ordinal", "full", {"average": True}),
    ("ordinal", "simplex", {"selection": "conproj"}),
]
every_model = pytest.mark.parametrize(
    ("task", "shape", "options"), MODELS, ids=lambda v: v if isinstance(v, str) else str(v or "plain")
)


def truth(task):
    return {"uniclass": None, "multilabel": {1}, "regression": 1.0}.get(task, 1)


# ---- bad values --------------------------------------------------------------------------------------------

VALUES = [
    (np.nan, "the value is NaN"),
    (np.inf, "the value is infinity"),
    (-np.inf, "the value is infinity"),
    (1e308, "the value is too large"),
    (-1e200, "the value is too large"),
]


@every_model
@pytest.mark.parametrize("container", [np.asarray, csr], ids=["dense", "csr"])
def test_a_bad_value_among_many_rows(task, shape, options, container):
    X, y = stream(task)
    for fresh, (value, message), column in itertools.product((True, False), VALUES, (0, 3)):
        model = (new if fresh else trained)(task, shape, options)
        bad = fit(model, X)
        bad[BAD, column] = value
        place = f"row {BAD}, column {column}: {message}"
        refused(model, place, lambda m=model, b=bad: m.learn(container(b), y))
        if not fresh and not np.isfinite(value):
            refused(model, f"row {BAD}, column {column}", lambda m=model, b=bad: m.scores(container(b)))
        if not fresh and has_covariance(model):
            refused(model, place, lambda m=model, b=bad: m.uncertainty(container(b)))
    again = trained(task, shape, options)
    for m in (model, again):
        m.learn(container(fit(m, X)), y)
    assert model.to_bytes() == again.to_bytes()


EVENTS = [
    ({"a": np.nan}, "feature 'a': the value is NaN"),
    ({"n": np.nan}, "feature 'n': the value is NaN"),
    ({"n": np.inf}, "feature 'n': the value is infinity"),
    ({"a": 1.0, "n": 1e200}, "square|too large"),
    ({"a": 1.0, "n": 1j}, "feature 'n': .* is not a number"),
]


@every_model
def test_a_bad_event(task, shape, options):
    for fresh, (event, message) in itertools.product((True, False), EVENTS):
        model = new(task, shape, options)
        if not fresh:
            model.learn_many([{"a": 1.0, "b": -1.0}, {"b": 2.0}], [truth(task)] * 2)
        refused(model, message, lambda m=model, x=event: m.learn_one(x, truth(task)))
        events = [{"new": 1.0, "a": -3.0}, event]
        refused(model, "row 1", lambda m=model, e=events: m.learn_many(e, [truth(task)] * 2))
        if has_covariance(model):
            refused(model, message, lambda m=model, x=event: m.uncertainty_one(x))


def test_large_values_and_the_covariance():
    """It is held for instances up to 1e50; larger ones are refused if they would be learned, not if they are scored."""
    for shape, step in itertools.product(
        ("full", "diagonal", "drop"), ("pa", "pa1", "pa2", "perceptron", "cw")
    ):
        model = trained("classification", shape, {"step": step})
        X, y = stream("classification")
        large = X.copy()
        large[BAD] = 0.0
        large[BAD, 2] = 1e60
        only = np.arange(COUNT) == BAD  # what has no weight is looked at, not learned
        target = np.where(only, int(model.weights[2] < 0), y)  # a mistake, certainly
        scores, sizes = model.scores(large), model.uncertainty(large)
        assert np.isfinite(scores).all()
        assert sizes[BAD] > 1e100
        message = (
            f"row {BAD}: the instance is too large for this geometry: its squared norm is more than 1e100"
        )
        for container in (np.asarray, csr):
            refused(
                model, message, lambda m=model, c=container, a=(large, target, only): m.learn(c(a[0]), *a[1:])
            )
        large[BAD, 2] = 1e49
        model.learn(large, target)
        is_well(model)


@every_model
@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e-150, 1e-60, 1e-20, 1e20, 1e40, 1e60, 1e100, 1e150])
def test_sizes_of_all_kinds(task, shape, options, size):
    """One large row, or all of them small: learned, or refused as too large; a model in the end either way."""
    X, y = stream(task)
    model = trained(task, shape, options)
    rows = fit(model, X * size if size < 1 else np.where(np.arange(COUNT)[:, None] == BAD, X * size, X))
    before = model.to_bytes()
    try:
        model.learn(rows, y)
    except ValueError as error:
        assert "large" in str(error)  # noqa: PT017
        assert model.to_bytes() == before
    is_well(model)
    model.learn(fit(model, X), y)
    is_well(model)


@every_model
def test_zeros_and_nothing(task, shape, options):
    """Rows of zeros and empty events are rounds; only an intercept or thresholds may learn from them."""
    for rows in (np.zeros((3, WIDTH)), csr(np.zeros((3, WIDTH)))):
        model = new(task, shape, options)
        width = model.n_features or WIDTH
        y = stream(task)[1]
        model.learn(csr(np.zeros((3, width))) if width > WIDTH else rows, None if y is None else y[:3])
        assert model.statistics.rounds == 3
        if has_covariance(model):
            np.testing.assert_array_equal(
                model.covariance, np.ones(width) if model.covariance.ndim == 1 else np.eye(width)
            )
        elif task != "uniclass":  # the weights of all features are the same still
            assert len(set(np.ravel(model.last_weights).tolist())) == 1
        is_well(model)
    model = new(task, shape, options)
    model.learn_one({}, truth(task))
    model.learn_many([{}, {"a": 0.0}], [truth(task)] * 2)
    assert model.statistics.rounds == 3
    is_well(model)
    nothing = model.to_bytes()
    model.learn_many([], [])
    assert model.to_bytes() == nothing


@every_model
def test_the_wrong_width_and_broken_rows(task, shape, options):
    _, y = stream(task)
    model = trained(task, shape, options)
    n = model.n_features
    ways = [lambda rows: model.learn(rows, y), model.scores]
    if has_covariance(model):
        ways.append(model.uncertainty)
    for way, rows in itertools.product(ways, (np.ones((COUNT, n + 1)), csr(np.ones((COUNT, n - 1))))):
        refused(
            model,
            f"X has {rows.shape[1]} features, the model has {n}",
            lambda w=way, r=rows: w(r),
        )
    for indices, indptr in (([0, n, 1], [0, 2, 3]), ([-1, 0, 1], [0, 2, 3]), ([0, 1, 2], [0, 9, 3])):
        broken = scipy.sparse.csr_matrix((2, n))
        broken.data, broken.indices, broken.indptr = np.ones(3), np.array(indices), np.array(indptr)
        for way in (lambda r: model.learn(r, None if y is None else y[:2]), *ways[1:]):
            refused(model, "row|column|indptr", lambda w=way, r=broken: w(r))
    twice = scipy.sparse.csr_matrix((2, n))  # the same column again: its values add up
    twice.data, twice.indices, twice.indptr = (
        np.array([1.0, 0.5, 2.0]),
        np.array([1, 1, 0]),
        np.array([0, 2, 3]),
    )
    summed = hinge.Learner.from_bytes(model.to_bytes())
    for m, rows in ((model, twice), (summed, csr(np.eye(2, n)[::-1] * [[1.5], [2.0]]))):
        m.learn(rows, None if y is None else y[:2])
    assert model.to_bytes() == summed.to_bytes()


@every_model
def test_bad_targets(task, shape, options):
    model = trained(task, shape, options)
    X, y = stream(task)
    if task == "uniclass":
        return
    bad = {
        "regression": [(np.nan, "the target is NaN"), (np.inf, "infinity"), (1e200, "too large|overflow")],
        "multilabel": [({7}, "7")],
    }.get(task, [(7, "7"), ("no label", "no label")])
    for target, message in bad:
        mixed = [*list(y)[:BAD], target, *list(y)[BAD + 1 :]]
        refused(model, message, lambda t=mixed: model.learn(fit(model, X), t))
        refused(model, message, lambda t=target: model.learn_one({"new": 1.0}, t))


# ---- absurd weights ------------------------------------------------------------------------------------------


@every_model
@pytest.mark.parametrize("weight", [-1.0, -1e-300, np.nan, np.inf, -np.inf])
def test_weights_that_are_none(task, shape, options, weight):
    X, y = stream(task)
    model = trained(task, shape, options)
    weights = np.where(np.arange(COUNT) == BAD, weight, 1.0)
    refused(model, f"row {BAD}: the sample weight is", lambda: model.learn(fit(model, X), y, weights))
    refused(model, "weight", lambda: model.learn_one({"new": 1.0}, truth(task), weight))


@every_model
@pytest.mark.parametrize("weight", [1e-300, 1e-100, 1e-20, 1e20, 1e90, 1e120, 1e300, 1.7e308])
def test_absurd_weights(task, shape, options, weight):
    X, y = stream(task)
    model = trained(task, shape, options)
    before = model.to_bytes()
    try:
        model.learn(fit(model, X), y, np.full(COUNT, weight))
    except ValueError as error:
        assert "large" in str(error) or "too small" in str(error)  # noqa: PT017
        assert model.to_bytes() == before
        assert weight > 1
    is_well(model)


TOO_HEAVY = "the sample weight over covariance_regularizer is too large for this geometry: it is above 1e100"
TOO_SMALL = r"the covariance would become too small to be held in float64 \(below 1e-120 of its start\)"


@pytest.mark.parametrize("shape", ["full", "diagonal", "drop"])
def test_a_weight_too_large_for_the_covariance(shape):
    model = trained("regression", shape, {"step": "pa"})
    rows = np.eye(3, WIDTH) * [[1.0], [1e20], [1.0]]
    refused(model, f"row 2: {TOO_HEAVY}", lambda: model.learn(rows, [99.0] * 3, [1.0, 1.0, 1e101]))
    refused(model, f"row 1: {TOO_SMALL}", lambda: model.learn(rows, [99.0] * 3, [1.0, 1e90, 1.0]))
    model.learn(rows, [99.0] * 3, [1.0, 1e70, 1.0])
    is_well(model)


@pytest.mark.parametrize("shape", ["full", "diagonal", "drop"])
@pytest.mark.parametrize(
    ("value", "weight", "message"),
    [(1.0, 1e101, TOO_HEAVY), (1e20, 1e90, TOO_SMALL), (1e60, 1.0, "too large")],
)
def test_an_event_that_the_covariance_refuses(shape, value, weight, message):
    model = trained("regression", shape, {"step": "pa"})
    refused(model, message, lambda: model.learn_one({0: value}, 1e70, weight))


@pytest.mark.parametrize(("regularizer", "weight"), [(1.0, 5e-324), (1.0, 1e-310), (1e300, 1e-10)])
def test_the_smallest_weights(regularizer, weight):
    model = trained("classification", "full", {"covariance_regularizer": regularizer})
    X, _ = stream("classification")
    model.learn(X[:1], 1 - (model.scores(X[:1]) > 0).astype(int), [weight])
    is_well(model)


def test_cw_without_confidence():
    """phi = 0: PA without a margin; the covariance stays as it is."""
    for classes, w1 in (([0, 1], [1.0, -1.0]), ([0, 1, 2], [[1.0, -1.0], [0.0, 0.0], [1.0, 2.0]])):
        for geometry in ("diagonal", "mahalanobis"):
            model = hinge.Learner(
                "classification", classes=classes, geometry=geometry, step="cw", eta=0.5, w1=w1
            )
            model.learn(np.array([[1.0, 0.3], [1.0, 0.2]]), [0, 1])
            assert model.statistics.updates > 0
            np.testing.assert_array_equal(
                model.covariance, np.ones(2) if geometry == "diagonal" else np.eye(2)
            )
