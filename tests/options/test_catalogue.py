"""hinge.algorithms and hinge.make: every published algorithm, on every task that it is for, learns something."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

import hinge

SECOND_ORDER = ("pam", "pam1", "pam2", "arow", "cw", "sop")
EVERY = [
    pytest.param(a.name, task, {}, id=f"{a.name}-{task}")
    for a in hinge.algorithms()
    for task in a.tasks
    if task not in ("prototype", "sequence")  # which take texts: test_ranker.py, and sentences
]
DIAGONAL = [
    pytest.param(name, task, {"geometry": "diagonal"}, id=f"{name}-{task}-diagonal")
    for name in SECOND_ORDER
    for task in {a.name: a.tasks for a in hinge.algorithms()}[name]
    if task != "sequence"
]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def target_of(task, X, y):
    return {
        "classification": y,
        "ordinal": y,
        "multilabel": [{label} if label else {0, 3} for label in y.tolist()],
        "regression": X @ np.array([0.5, -1.0, 0.3, 0.8]) + 0.3,
        "uniclass": None,
    }[task]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "task", "options"), EVERY + DIAGONAL)
def test_every_algorithm_fits_and_predicts(name, task, options, iris, tmp_path):
    X, y = iris
    target = target_of(task, X, y)
    more = {"radius": 3.2} if task == "uniclass" else {}
    if name == "budget-perceptron":  # what it keeps with the usual beta is little for many passes
        more = {"beta": 1.0}
    model = hinge.make(name, task, max_iter=20, random_state=0, **more, **options)
    found = {a.name: a for a in hinge.algorithms(task)}[name]
    for option, value in {**found.options, **options}.items():
        if option in model.get_params():
            assert model.get_params()[option] == value
    model.fit(X) if task == "uniclass" else model.fit(X, target)
    predicted = model.predict(X)
    if task == "uniclass":
        assert (predicted == 1).mean() > 0.8
    elif task == "regression":
        assert model.score(X, target) > 0.9
    elif task == "multilabel":
        assert model.ranking_report(X, target)["one_error"] < 0.2
    else:
        assert model.score(X, target) > 0.8
    if "geometry" in found.options and found.options["geometry"] != "entropy":
        assert (model.uncertainty(X) > 0).all()
        assert model.covariance_.shape == ((4,) if options else (4, 4))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(hinge.load(tmp_path / "model").predict(X), predicted)
    event = dict(enumerate(X[0].tolist()))
    model.learn_one(event) if task == "uniclass" else model.learn_one(event, target[0])
    model.predict_one(event)


@pytest.mark.parametrize("task", ["classification", "multilabel", "ordinal", "regression"])
@pytest.mark.parametrize("r", [0.25, 1, 8.0])
def test_arow_has_one_r(task, r, iris):
    """r is the slack of PA-II and what the covariance gets; with r = 1 it is PAM-II with C = 1/2."""
    X, y = iris
    target, more = target_of(task, X, y), {"max_iter": 2, "random_state": 0, "tol": None}
    arow = hinge.make("arow", task, r=r, **more)
    assert (arow.C, arow.covariance_regularizer, arow.step) == (1 / (2 * r), r, "pa2")
    assert "r" not in arow.get_params()
    by_hand = hinge.make("pam2", task, C=1 / (2 * r), covariance_regularizer=float(r), **more)
    arow.fit(X, target)
    by_hand.fit(X, target)
    np.testing.assert_array_equal(arow.coef_, by_hand.coef_)
    assert arow.covariance_.tobytes() == by_hand.covariance_.tobytes()
    assert hinge.make("arow", task).C == 0.5


def test_arow_equals_its_published_form(iris):
    """S18: beta = 1/(x'Sx + r), alpha = loss beta, w += alpha y Sx, S -= beta Sx x'S; in plain NumPy."""
    X, y = iris
    y = np.where(y == 1, 1, -1)
    r, w, S = 0.5, np.zeros(4), np.eye(4)
    for x, label in zip(X, y, strict=True):
        loss = max(0.0, 1 - label * (w @ x))
        if loss > 0:
            Sx = S @ x
            beta = 1 / (x @ Sx + r)
            w, S = w + loss * beta * label * Sx, S - beta * np.outer(Sx, Sx)
    model = hinge.make("arow", r=r, fit_intercept=False).partial_fit(X, y, classes=[-1, 1])
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9)
    np.testing.assert_allclose(model.covariance_, S, rtol=1e-9, atol=1e-12)


BAD = [
    ("aro", {}, "there is no algorithm 'aro'; did you mean 'arow'"),
    ("arow", {"r": 0}, "r must be a finite number greater than 0"),
    ("arow", {"r": -1.0}, "r must be a finite number greater than 0"),
    ("arow", {"r": True}, "r must be a finite number greater than 0"),
    ("arow", {"r": "1"}, "r must be a finite number greater than 0"),
    ("arow", {"r": 0.5, "C": 7.0}, "'arow' means C=1.0, not 7.0"),
    ("arow", {"r": 0.5, "covariance_regularizer": 7.0}, "'arow' means covariance_regularizer=0.5"),
    ("arow", {"step": "pa1"}, "'arow' means step='pa2', not 'pa1'"),
    ("pam", {"geometry": "euclidean"}, "'pam' means geometry='mahalanobis', not 'euclidean'"),
    ("cw", {"geometry": "entropy"}, "'cw' means geometry='mahalanobis'"),
    ("sop", {"step": "pa"}, "'sop' means step='perceptron'"),
    ("multiplicative", {"geometry": "diagonal"}, "'multiplicative' means geometry='entropy'"),
    ("sop", {"task": "regression"}, "'sop' is for classification, multilabel, not for regression"),
    ("cw", {"task": "ordinal"}, "'cw' is for classification, multilabel, not for ordinal"),
    ("pam", {"task": "uniclass"}, "'pam' is for .* not for uniclass"),
    ("pam", {"task": "clustering"}, "task must be one of"),
]


@pytest.mark.parametrize(("name", "options", "message"), BAD, ids=str)
def test_make_rejects_unknown_and_contradicting_options(name, options, message):
    with pytest.raises(ValueError, match=message):
        hinge.make(name, **options)


@pytest.mark.parametrize("name", ["pam2", "pa2"])
def test_r_is_rejected_for_other_algorithms(name):
    with pytest.raises(TypeError, match="'r'"):
        hinge.make(name, r=1.0)


@pytest.mark.parametrize("name", [a.name for a in hinge.algorithms("sequence")])
def test_sequence_algorithms_learn(name, tmp_path):
    X = [[["the"], ["old"], ["man"]], [["the"], ["man"], ["sleeps"]], [["old"], ["man"]]]
    y = [["D", "A", "N"], ["D", "N", "V"], ["A", "N"]]
    model = hinge.make(name, "sequence", average=False, random_state=0)
    assert isinstance(model, hinge.PASequence)
    assert model.selection == ("max" if name == "max-loss" else "prediction")
    assert (model.geometry, model.C) == (("diagonal", 0.5) if name == "arow" else ("euclidean", 1.0))
    assert model.fit(X, y).predict(X) == y
    model.save(tmp_path / "model.hinge")
    assert hinge.load(tmp_path / "model.hinge").predict(X) == y


def test_algorithms_lists_names_tasks_and_papers():
    names = [a.name for a in hinge.algorithms()]
    assert len(set(names)) == len(names)
    assert {*SECOND_ORDER, "multiplicative", "pa", "pa1", "pa2", "mira"} <= set(names)
    for task in (
        "classification",
        "regression",
        "uniclass",
        "multilabel",
        "ordinal",
        "prototype",
        "sequence",
    ):
        for algorithm in hinge.algorithms(task):
            assert task in algorithm.tasks
            assert algorithm.name in str(algorithm)
            assert algorithm.paper
            assert algorithm.theorem
    assert {"pam", "arow"} <= {a.name for a in hinge.algorithms("regression")}
    assert "pam" not in {a.name for a in hinge.algorithms("uniclass")}
