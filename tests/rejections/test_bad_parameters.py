"""Every parameter out of its range, everywhere it can be given: an error that begins with its name."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hinge
from hinge.options import table

NUMBERS = ["1", None, float("nan"), -1, True, [1.0], 1j]
BAD = {
    "step": ["pa3", 0, 1, "PA", ["pa"], ""],
    "C": [0, *NUMBERS, -float("inf"), -0.0],
    "margin": [0, *NUMBERS, float("inf")],
    "selection": ["all", None, 1, "MAX", ["max"], ""],
    "beta": [*(v for v in NUMBERS if v is not None), float("inf")],
    "cost": [
        5,
        "matrix",
        [1.0, 2.0],
        [[0.0, 1.0]],
        [[0.0, 1.0], [2.0]],
        [[0.0, 1.0], [-1.0, 0.0]],
        [[0.0, 1.0], [1.0, 0.5]],
        [[0.0, float("nan")], [1.0, 0.0]],
        [[0.0, float("inf")], [1.0, 0.0]],
        [["0", "x"], ["y", "0"]],
        np.zeros((2, 2, 2)),
        {},
        {"a": 1.0},
        {"a": {"b": -1.0}},
        {"a": {"b": float("nan")}},
        {"a": {"b": "much"}},
        {"a": {"a": 1.0}},
    ],
    "nu": [
        5,
        "matrix",
        [],
        [[1.0, -1.0], [1.0, 1.0]],
        [float("nan")],
        [float("inf")],
        ["x"],
        {},
        {"a": 1.0},
        {"a": {"b": -1.0}},
        [{"a": {"b": 1.0}}, {"a": {"b": -1.0}}],
        np.zeros((1, 1, 1, 1)),
    ],
    "threshold": ["given", None, float("nan"), float("inf"), [0.0], True, 1j],
    "sort_thresholds": [1, 0.0, "yes", []],
    "epsilon": [*NUMBERS, float("inf")],
    "radius": [*[v for v in NUMBERS if v is not None], float("inf")],
    "contamination": [0, *NUMBERS, float("inf"), 0.51, 1e-5],
    "max_radius": [0, *[v for v in NUMBERS if v is not None], float("inf")],
    "fit_intercept": [None, 1, 0.0, "yes", []],
    "geometry": ["riemann", None, 1, "Diagonal", ["diagonal"], ""],
    "kernel": ["sigmoid", "RBF", 5, [], "", ["rbf"], True],
    "degree": [0, -1, 2.5, 101, True, "3", None],
    "gamma": [0, *NUMBERS, float("inf"), "auto"],
    "coef0": [*NUMBERS, float("inf")],
    "budget": [0, -1, 2.5, True, "all", "Adaptive", [], float("nan")],
    "removal": ["smallest", None, 1, ""],
    "max_cache": [0, *NUMBERS, float("inf")],
    "covariance_regularizer": [0, *NUMBERS, float("inf")],
    "initial_variance": [0, *NUMBERS, float("inf"), 1e-51, 1.1e50],
    "covariance_update": ["full", None, 1, ""],
    "max_covariance": [0, *NUMBERS, float("inf")],
    "eta": [*NUMBERS, 0, 0.49, 1.0, 1.5, float("inf")],
    "scale": [0, *NUMBERS, float("inf")],
    "signed": [None, 1, 0.0, "yes", []],
    "entropy_step": ["printed", None, 1, ""],
    "w1": [
        "third",
        [[[1.0]]],
        [[float("nan")]],
        [[1.0, 2.0], [1.0]],
        [float("nan")],
        [float("inf")],
        ["a"],
        {"a": float("nan")},
        {"a": "x"},
        5,
        object(),
    ],
    "average": [0, -1, 1.5, "yes", None, [1]],
    "classes": [5, [1], [], "ab", {1, 2}, 1.5, [[1, 2]], {"a": 1, "b": 2}],
    "max_labels": [0, 1, -1, 2.5, "10", None, True, 2**24 + 1],
    "class_weight": ["other", [1.0], {"a": -1.0}, {"a": float("nan")}, {"a": "x"}, {"a": None}, 1.0],
    "max_iter": [0, -1, 1.5, "1", None, True],
    "tol": [-1, float("nan"), float("inf"), "1"],
    "n_iter_no_change": [0, -1, 1.5, None],
    "early_stopping": [None, 1, "yes"],
    "validation_fraction": [0, 1, *NUMBERS, 1.5, float("inf")],
    "shuffle": [None, 1, "no"],
    "batch_tolerance": [0, -1, float("nan"), float("inf"), "1"],
    "max_updates": [0, -1, 1.5, None],
    "hash_bits": [0, -1, 31, 2.5, "8", True],
    "max_features": [0, -1, 2**40 + 1, 1.5, None, "10"],
    "at_max_features": ["skip", "", None, 1, True, ["ignore"]],
    "max_weights": [0, *NUMBERS, float("inf")],
    "dtype": ["int32", "float16", np.int64, "real", 5, object],
    "random_state": [-1, 2**32, 1.5, "seed", np.random.default_rng()],
    "verbose": [-1, 1.5, None, "loud"],
}
OF_LEARNER = [(name, value) for name in table.OF_LEARNER for value in BAD[name]]
ESTIMATORS = {
    "classification": hinge.PAClassifier,
    "regression": hinge.PARegressor,
    "uniclass": hinge.PAOneClass,
    "multilabel": hinge.PAMultilabel,
    "ordinal": hinge.PAOrdinal,
}
TASKS = [task for task in table.TASKS if task != "prototype"]  # PARanker has tests of its own
LABELLED = ("classification", "multilabel", "ordinal")


def test_every_parameter_is_tried():
    assert set(BAD) == set(table.PARAMETERS) - {"features"}  # which is the PARanker's


@pytest.mark.parametrize(("name", "value"), OF_LEARNER, ids=lambda v: repr(v)[:7])
@pytest.mark.parametrize("task", TASKS)
def test_learners(name, value, task):
    with pytest.raises(ValueError, match=f"^{name} must be "):
        hinge.Learner(task, **{name: value})


@pytest.mark.parametrize(
    ("task", "name"),
    [(task, name) for task in ESTIMATORS for name in table.names_for(task, table.PARAMETERS)],
)
def test_estimators(task, name):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    classes = {"classes": [0, 1]} if task in LABELLED else {}
    truth = {"uniclass": [], "multilabel": [[{1}]]}.get(task, [[1]])
    if task == "multilabel":
        y = np.array([[0, 1], [1, 0], [1, 1], [0, 0]])
    ways = (
        lambda model: model.fit(X, y),
        lambda model: model.partial_fit(X, y, **classes),
        lambda model: model.learn_many([{"a": 1.0}], *truth),
    )
    for value, learn in itertools.product(BAD[name], ways):
        model = ESTIMATORS[task](**{name: value})
        with pytest.raises(ValueError, match=f"^{name} must be "):
            learn(model)
        assert not model.__sklearn_is_fitted__()


COMBINATIONS = [
    ("regression", {"step": "perceptron"}, "step='perceptron' is for labels; for regression use"),
    ("uniclass", {"step": "perceptron"}, "step='perceptron' is for labels; for uniclass use"),
    ("regression", {"w1": "first"}, "w1='first' is for uniclass"),
    ("classification", {"w1": "zero"}, "w1='zero' is for uniclass"),
    ("regression", {"w1": {"a": 1.0}, "hash_bits": 4}, "growing vocabulary"),
    ("regression", {"w1": [1.0, 2.0], "hash_bits": 4}, "w1 has 2 weights for 16 hashed columns"),
    ("regression", {"hash_bits": 5, "max_features": 31}, "hash_bits=5 means 32 columns"),
    ("regression", {"w1": [1.0, 2.0, 3.0], "max_features": 2}, "3 features, the limit is 2"),
    ("regression", {"w1": {"a": 1.0, "b": 2.0}, "max_features": 1}, "feature 'b': it is new, .* its limit"),
    ("regression", {"w1": {"a": 1.0, 2.5: 2.0}}, "w1 must be None, a vector"),
    ("regression", {"w1": [0.0, 1e300]}, "w1 is too large: weight 1"),
    ("uniclass", {"w1": [1e154, 1e154]}, "w1 is too large: weight 1"),
    ("regression", {"w1": [1.0, 1e38], "dtype": "float32"}, "w1 is too large: weight 1"),
    ("classification", {"classes": [1, 1]}, r"the labels must be different, not \[1, 1\]"),
    ("classification", {"classes": ["a", None]}, "classes must be None or two or more different labels"),
    ("classification", {"classes": [1, True]}, "the labels must be different"),
    ("multilabel", {"classes": ["a", "b", "a"]}, "the labels must be different"),
    ("ordinal", {"classes": [3, 1, 3]}, "the labels must be different"),
    ("classification", {"class_weight": "balanced"}, "class_weight='balanced' needs all data at once"),
]


@pytest.mark.parametrize(("task", "options", "message"), COMBINATIONS, ids=str)
def test_combinations_that_make_no_sense(task, options, message):
    with pytest.raises(ValueError, match=message):
        hinge.Learner(task, **options)


@pytest.mark.parametrize("task", ["ranking", "", None, 1, "Classification"])
def test_tasks_that_are_none(task):
    with pytest.raises(ValueError, match=r"^task must be one of 'classification', 'regression', 'uniclass'"):
        hinge.Learner(task)


def test_words_and_numbers_of_other_types_are_welcome():
    for options in (
        {"C": np.float32(0.5)},
        {"C": 2},
        {"C": float("inf")},
        {"average": np.int64(3)},
        {"fit_intercept": np.True_},
        {"dtype": np.float32},
        {"dtype": np.dtype("f8")},
        {"hash_bits": np.int8(4)},
        {"classes": np.array(["a", "b"])},
        {"classes": (1, 2)},
        {"class_weight": {np.str_("a"): np.float64(2)}},
        {"average": np.False_},
    ):
        model = hinge.Learner("classification", **options)
        model.learn_one({"x": 1.0}, (options.get("classes", ["a"]))[0])
        again = hinge.Learner.from_bytes(model.to_bytes())
        assert again.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("C", [5e-324, 1e-300, 1e300, 1.7e308, float("inf")])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_extreme_values_of_C(C, step, task, labels):
    """Right by definition: hardly a step for small C, as PA for large C."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    y = np.digitize(X[:, 0], np.linspace(-0.5, 0.5, labels + 1)[1:-1])
    classes = {"classes": list(range(labels))} if task in LABELLED else {}
    y = [{label} for label in y.tolist()] if task == "multilabel" else y
    model, pa = (hinge.Learner(task, step=s, **classes, C=c, radius=1.0) for s, c in ((step, C), ("pa", 1.0)))
    for weights in (None, np.full(50, 1e3)):
        model.learn(X, y, weights)
        pa.learn(X, y)
    if C > 1 or step == "pa":
        np.testing.assert_allclose(model.weights, pa.weights, rtol=1e-9)
    elif task != "uniclass":
        assert np.abs(model.weights).max() < 1e-290
