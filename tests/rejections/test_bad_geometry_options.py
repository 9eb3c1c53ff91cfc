"""The geometries with options that do not go together, without what they have not, and beyond their limits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hinge
import hinge.river
from bad_geometries import CLASSES, SHAPES, is_well, stream, trained
from bad_models import csr, refused

# ---- parameters that do not go together ------------------------------------------------------------------------

REFUSED = [
    (
        "uniclass",
        {"geometry": "mahalanobis"},
        "geometry='mahalanobis' is not for uniclass; use 'euclidean' or",
    ),
    ("uniclass", {"geometry": "diagonal"}, "geometry='diagonal' is not for uniclass"),
    ("classification", {"step": "cw"}, "step='cw' needs a covariance: geometry 'diagonal' or 'mahalanobis'"),
    ("classification", {"step": "cw", "geometry": "entropy"}, "step='cw' needs a covariance"),
    ("multilabel", {"step": "cw"}, "step='cw' needs a covariance"),
    ("regression", {"step": "cw", "geometry": "diagonal"}, "step='cw' is for labels; for regression use"),
    ("uniclass", {"step": "cw"}, "step='cw' is for labels; for uniclass use"),
    ("regression", {"step": "perceptron", "geometry": "diagonal"}, "step='perceptron' is for labels"),
    (
        "ordinal",
        {"step": "cw", "geometry": "diagonal", "classes": [1, 2]},
        "step='cw' is for classes and sets of labels, with selection='max'",
    ),
    *(
        (task, {"step": "cw", "geometry": "mahalanobis", "selection": selection}, "step='cw'|step='pa1'")
        for task in ("classification", "multilabel")
        for selection in ("prediction", "simproj", "conproj", "simperc", "mira")
    ),
    (
        "classification",
        {"step": "cw", "geometry": "diagonal", "cost": {"a": {"b": 1.0}}},
        "step='cw' is for .* without cost",
    ),
    (
        "classification",
        {"step": "cw", "geometry": "diagonal", "eta": 0.5},
        "step='cw' with eta=0.5 never moves from 0: give w1, or an eta above 0.5",
    ),
    ("ordinal", {"geometry": "entropy", "signed": False, "classes": [1, 2]}, "signed=False is for one w"),
    (
        "classification",
        {"geometry": "entropy", "step": "perceptron"},
        "geometry='entropy' does not go with step='perceptron'; use 'pa', 'pa1' or 'pa2'",
    ),
    *(
        (
            task,
            {"geometry": "entropy", "selection": "mira"},
            "geometry='entropy' does not go with selection='mira'",
        )
        for task in ("classification", "multilabel")
    ),
    *(
        (
            "multilabel",
            {"geometry": "entropy", "selection": selection, **more},
            f"selection='{selection}' with geometry='entropy' needs a cap: use step='pa1' with a finite C",
        )
        for selection in ("simproj", "conproj")
        for more in ({"step": "pa"}, {"step": "pa2"}, {"C": float("inf")})
    ),
    *(
        (
            "classification",
            {
                "geometry": "entropy",
                "selection": selection,
                "classes": [0, 1],
                "nu": [[1.0, 0.0], [1.0, 1.0]],
            },
            "nu of 0 means no cap, and geometry='entropy' needs one: give numbers above 0",
        )
        for selection in ("simproj", "conproj")
    ),
    (
        "uniclass",
        {"geometry": "entropy", "max_radius": 2.0},
        "geometry='entropy' needs a radius that is fixed",
    ),
    (
        "uniclass",
        {"geometry": "entropy"},
        "geometry='entropy' needs a radius that is fixed",
    ),
    (
        "uniclass",
        {"geometry": "entropy", "w1": "first", "radius": 1.0},
        "geometry='entropy' starts on the simplex, not at the first instance: give w1=None",
    ),
    ("multilabel", {"geometry": "entropy", "signed": False}, "signed=False is for one w"),
    (
        "classification",
        {"geometry": "entropy", "signed": False, "selection": "prediction"},
        "signed=False is for",
    ),
    (
        "classification",
        {"geometry": "entropy", "signed": False, "cost": {"a": {"b": 1.0}}},
        "signed=False is for one w: two classes with selection='max', regression, or uniclass",
    ),
    ("classification", {"geometry": "entropy", "signed": False}, "signed=False needs the two classes ahead"),
    (
        "classification",
        {"geometry": "entropy", "signed": False, "classes": [1, 2, 3]},
        "signed=False is for two classes, there are 3",
    ),
    (
        "regression",
        {"geometry": "entropy", "entropy_step": "paper", "step": "pa"},
        "entropy_step='paper' needs",
    ),
    (
        "regression",
        {"geometry": "entropy", "entropy_step": "paper", "signed": False},
        "entropy_step='paper' needs step='pa' and signed=False",
    ),
    (
        "regression",
        {"geometry": "entropy", "signed": False, "w1": [0.5, 0.5], "scale": 1.0},
        "w1 must add up to less than scale: the intercept has a part of it",
    ),
    (
        "regression",
        {"geometry": "entropy", "w1": [0.7, -0.4], "scale": 1.0},
        "the sum of .w1. must be below scale",
    ),
    (
        "regression",
        {"geometry": "entropy", "signed": False, "w1": [0.7, 0.4], "scale": 1.0, "fit_intercept": False},
        "it must be positive, with the sum scale",
    ),
    (
        "regression",
        {"geometry": "entropy", "signed": False, "w1": [1.5, -0.5], "scale": 1.0, "fit_intercept": False},
        "must be positive",
    ),
]


@pytest.mark.parametrize(("task", "options", "message"), REFUSED, ids=str)
def test_combinations_that_make_no_sense(task, options, message):
    with pytest.raises(ValueError, match=message):
        hinge.Learner(task, **options)


def test_a_ranker_has_one_geometry():
    with pytest.raises((TypeError, ValueError), match="geometry"):
        hinge.PARanker(geometry="diagonal").fit(["a", "b"], ["x", "y"])
    with pytest.raises(ValueError, match="geometry='diagonal' is not for prototype: each label has its own"):
        hinge.Learner("prototype", classes=["x", "y"], geometry="diagonal")


def test_what_cannot_change_in_the_middle():
    for shape in SHAPES:
        model = trained("classification", shape, {})
        for change in ({"geometry": "euclidean"}, {"initial_variance": 2.0}, {"scale": 2.0}, {"eta": 0.6}):
            refused(model, f"^{next(iter(change))} cannot change", lambda m=model, c=change: m.change(**c))
    model = trained("classification", "simplex", {})
    refused(model, "step='perceptron'", lambda: model.change(step="perceptron"))
    refused(model, "step='cw' needs a covariance", lambda: model.change(step="cw"))
    model.change(step="pa2", C=0.5)
    model.learn(*stream("classification"))
    is_well(model)


def test_signed_classes_are_closed():
    """Without signs the second class has the positive scores: a third one is refused."""
    model = trained("classification", "plain simplex", {})
    refused(model, "the label 2 is not one of the classes", lambda: model.learn_one({0: 1.0}, 2))


# ---- what has no covariance ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, SHAPES["simplex"]], ids=str)
def test_no_covariance_no_uncertainty(options):
    message = "there is no covariance with geometry=.*; there is one with 'diagonal' and 'mahalanobis'"
    X, y = stream("classification")
    learner = hinge.Learner("classification", **options)
    learner.learn(X, y)
    estimator = hinge.PAClassifier(**options).fit(X, y)
    for model in (learner, estimator, hinge.river.PAClassifier(**options), hinge.PAClassifier(**options)):
        with pytest.raises(AttributeError, match=message):
            model.uncertainty_one({"a": 1.0})
    for model in (learner, estimator):
        with pytest.raises(AttributeError, match=message):
            model.uncertainty(X)
    assert not hasattr(learner, "covariance")
    assert not hasattr(estimator, "covariance_")
    assert not hasattr(hinge.PAClassifier(geometry="diagonal"), "covariance_")  # not fitted


def test_a_frame_with_an_unseen_value_too_large():
    model = trained("regression", "diagonal", {})
    refused(model, "large|overflow", lambda: model.uncertainty(pd.DataFrame({"unseen": [1e200]})))


# ---- more than fits ------------------------------------------------------------------------------------------


def limited(**options):
    return hinge.Learner("regression", geometry="mahalanobis", max_covariance=1e4, **options)


LIMIT = r"needs 11.65 KB, the limit is 10 KB \(max_covariance\); geometry='diagonal' needs 392 bytes"


def test_a_covariance_that_is_too_large():
    """The message names the memory, the limit, and what would do; of arrays, frames, names, starts and hashes."""
    with pytest.raises(
        ValueError,
        match=r"of 20000 features and the intercept needs 1.601 GB, the limit is 1.074 GB .*'diagonal'",
    ):
        hinge.Learner("regression", geometry="mahalanobis").learn(
            scipy.sparse.csr_matrix((2, 20000)), [1.0, 2.0]
        )
    for container in (np.eye, lambda n: csr(np.eye(n))):
        model = limited()
        refused(model, LIMIT, lambda m=model, c=container: m.learn(c(48), np.ones(48)))
        model.learn(container(47), np.ones(47))  # 47 and the intercept
        assert model.covariance.shape == (47, 47)
    frame = pd.DataFrame(np.eye(48), columns=[f"f{k}" for k in range(48)])
    for model in (limited(), limited(average=True)):
        refused(model, LIMIT, lambda m=model: m.name_columns(frame.columns))
        refused(model, LIMIT, lambda m=model: m.learn_many(frame, np.ones(48)))
        assert model.n_features == 0
    for w1 in (np.full(48, 0.1), {f"f{k}": 0.1 for k in range(48)}):
        with pytest.raises(ValueError, match=LIMIT):
            limited(w1=w1)
    with pytest.raises(
        ValueError, match=r"of 64 features and the intercept needs 19.58 KB, the limit is 10 KB"
    ):
        limited(hash_bits=6)
    with pytest.raises(
        ValueError,
        match=r"262144 features and the intercept needs 274.9 GB, .*; geometry='diagonal' needs 2.097 MB",
    ):
        hinge.PAClassifier(geometry="mahalanobis", hash_bits=18).learn_one({"a": 1.0}, "x")
    with pytest.raises(ValueError, match=r"max_covariance"):
        hinge.PAMultilabel(geometry="mahalanobis", max_covariance=1e4).fit(np.eye(60), np.eye(60, 3))
    limited(hash_bits=5).learn_one({"a": 1.0}, 1.0)


@pytest.mark.parametrize("task", ["classification", "regression", "multilabel", "ordinal"])
def test_a_covariance_that_becomes_too_large(task):
    """In the middle of a stream: what was learned stays, what is known can still be learned."""
    more = {"classes": CLASSES[task]} if task in ("classification", "ordinal") else {}
    model = hinge.Learner(task, geometry="mahalanobis", max_covariance=1e4, **more)
    room = 48 if task == "ordinal" else 47
    for k in range(40):
        model.learn_one({f"f{k}": 1.0, "all": 0.5}, {k % 3} if task == "multilabel" else k % 2)
    events = [{f"f{k}": 1.0, "all": -0.5} for k in range(60)]
    y = [{k % 4} if task == "multilabel" else (k + 1) % 2 for k in range(60)]
    message = f"row {room - 1}: a full covariance of 4[89] features( and the intercept)? {LIMIT}"
    refused(model, message, lambda: model.learn_many(events, y))
    refused(model, LIMIT, lambda: model.learn_one({f"new{k}": 1.0 for k in range(room - 40)}, y[0]))
    refused(model, LIMIT, lambda: model.learn_one({f"new{k}": 1.0 for k in range(room - 40)}, y[0], 2.0))
    model.learn_many(events[: room - 1], y[: room - 1])
    assert model.n_features == room
    refused(model, LIMIT, lambda: model.learn_one({"one more": 1.0}, y[0]))
    model.learn_one({"one more": 0.0, "all": 1.0}, y[0])  # which is no feature
    assert model.uncertainty_one({"one more": 2.0}) >= 4
    is_well(model)
