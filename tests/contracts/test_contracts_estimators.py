"""The scikit-learn estimators keep the contracts of the learner inside of them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hinge
from cases import (
    CLASSES,
    COST,
    LABELS,
    NAMES,
    RANKS,
    as_dict,
    as_dicts,
    csr,
    one,
    part,
    state,
    stream,
    tensors,
    weights_by_name,
)

TASKS = {hinge.PAClassifier: "classification", hinge.PARegressor: "regression", hinge.PAOneClass: "uniclass"}
LABELLED = {hinge.PAMultilabel: "multilabel", hinge.PAOrdinal: "ordinal"}
OPTIONS = [{}, {"step": "pa2", "C": 0.1, "average": True}, {"step": "pa", "dtype": "float32"}, {"average": 9}]
ESTIMATORS = [
    (cls, {**options, "radius": 1.0} if cls is hinge.PAOneClass and options.get("step") == "pa" else options)
    for cls in TASKS
    for options in OPTIONS
]
ESTIMATORS += [
    (hinge.PAClassifier, {"step": "perceptron", "fit_intercept": False}),
    (hinge.PAClassifier, {"class_weight": {"ham": 2.0, "spam": 0.5}}),
    (hinge.PARegressor, {"fit_intercept": False, "epsilon": 0.01}),
    (hinge.PAOneClass, {"contamination": 0.3, "average": True}),
    (hinge.PAOneClass, {"max_radius": 2.5}),
    (hinge.PAOneClass, {"radius": 0.5, "w1": "zero"}),
    (hinge.PAClassifier, {"classes": CLASSES}),
    (hinge.PAClassifier, {"classes": CLASSES, "selection": "simproj", "average": True}),
    (hinge.PAClassifier, {"classes": CLASSES, "selection": "mira", "dtype": "float32"}),
    (hinge.PAClassifier, {"classes": CLASSES, "cost": COST, "step": "pa2", "average": 9}),
    (hinge.PAClassifier, {"selection": "conproj"}),  # two classes, two lanes
    (hinge.PAMultilabel, {}),
    (hinge.PAMultilabel, {"selection": "simproj", "average": True, "dtype": "float32"}),
    (hinge.PAMultilabel, {"selection": "mira", "threshold": 0.1}),
    (hinge.PAMultilabel, {"step": "perceptron", "selection": "uniform", "classes": CLASSES}),
    (hinge.PAOrdinal, {}),
    (hinge.PAOrdinal, {"selection": "simperc", "average": True}),
    (hinge.PAOrdinal, {"selection": "max", "step": "pa", "dtype": "float32", "classes": RANKS}),
    (hinge.PAOrdinal, {"selection": "conproj", "sort_thresholds": False, "average": 9}),
    (hinge.PAClassifier, {"geometry": "mahalanobis", "average": True}),
    (hinge.PAClassifier, {"geometry": "mahalanobis", "step": "cw", "classes": CLASSES}),
    (hinge.PAClassifier, {"geometry": "diagonal", "step": "perceptron", "fit_intercept": False}),
    (hinge.PAClassifier, {"geometry": "entropy", "scale": 5.0, "dtype": "float32"}),
    (hinge.PARegressor, {"geometry": "mahalanobis", "step": "pa2", "covariance_regularizer": 0.1}),
    (hinge.PARegressor, {"geometry": "diagonal", "covariance_update": "drop", "dtype": "float32"}),
    (hinge.PARegressor, {"geometry": "entropy", "scale": 5.0, "signed": False, "average": 9}),
    (hinge.PAOneClass, {"geometry": "entropy", "scale": 2.0, "radius": 0.7}),
    (hinge.PAMultilabel, {"geometry": "mahalanobis", "step": "pa2"}),
    (hinge.PAMultilabel, {"geometry": "entropy", "scale": 5.0, "selection": "simproj", "average": True}),
    (hinge.PAOrdinal, {"geometry": "diagonal", "average": True}),
    (hinge.PAOrdinal, {"geometry": "mahalanobis", "selection": "max"}),
]
every_estimator = pytest.mark.parametrize(
    ("cls", "options"), ESTIMATORS, ids=lambda v: v.__name__ if isinstance(v, type) else str(v)
)


def known(cls, options):
    """The labels in order, of all that have some."""
    if cls is hinge.PAClassifier:
        return options.get("classes", LABELS.tolist())
    return {hinge.PAMultilabel: CLASSES, hinge.PAOrdinal: RANKS}.get(cls)


def learn(model, X, y, weights=None):
    classes = known(type(model), {k: v for k, v in vars(model).items() if k == "classes" and v is not None})
    return model.partial_fit(X, y, sample_weight=weights, **({} if classes is None else {"classes": classes}))


def stream_of(cls, options, count=60):
    if cls is hinge.PAClassifier:
        return stream("multiclass" if "classes" in options else "classification", count)
    return stream({**TASKS, **LABELLED}[cls], count)


def event(model, x, y, i):
    return model.learn_one(x) if y is None else model.learn_one(x, one(y, i))


@every_estimator
def test_partial_fit_is_the_learner(cls, options):
    X, y, weights = stream_of(cls, options)
    model = learn(cls(**options), X, y, weights)
    more = {"classes": known(cls, options)} if known(cls, options) else {}
    if cls is hinge.PAOrdinal:
        more["selection"] = "simproj"
    learner = hinge.Learner(cls._task, **{**more, **options})
    learner.learn(X, y, weights)
    assert tensors(model) == tensors(learner)
    assert model.stats_ == learner.statistics


@every_estimator
def test_batches_rows_and_saved_models_are_the_same(cls, options, tmp_path):
    X, y, weights = stream_of(cls, options)
    batch, rows, saved = learn(cls(**options), X, y, weights), cls(**options), cls(**options)
    for i in range(len(X)):
        learn(rows, X[i : i + 1], part(y, slice(i, i + 1)), weights[i : i + 1])
    ways = [
        lambda m: (m.save(tmp_path / "m"), hinge.load(tmp_path / "m"))[1],
        lambda m: pickle.loads(pickle.dumps(m)),
        copy.deepcopy,
    ]
    for k, start in enumerate(range(0, len(X), 20)):
        chunk = slice(start, start + 20)
        learn(saved, X[chunk], part(y, chunk), weights[chunk])
        saved = ways[k](saved)
    assert state(batch) == state(rows) == state(saved)
    assert type(saved) is cls
    assert np.array_equal(batch.predict(X), saved.predict(X))
    if options.get("geometry") in ("mahalanobis", "diagonal"):
        assert np.array_equal(batch.covariance_, saved.covariance_)
        assert np.array_equal(batch.uncertainty(X), saved.uncertainty(X))


@every_estimator
def test_predict_is_pure(cls, options):
    X, y, weights = stream_of(cls, options)
    model = learn(cls(**options), X, y, weights)
    before = state(model)
    model.predict(X)
    model.predict(csr(X))
    if hasattr(model, "decision_function"):
        model.decision_function(X)
    for x in (dict(enumerate(X[3].tolist())), {"unseen": 1.0}):
        model.predict_one(x)
        model.score_one(x)
        model.explain_one(x)
    if y is not None:
        model.score(X, y)
    if options.get("geometry") in ("mahalanobis", "diagonal"):
        model.uncertainty(csr(X))
        model.uncertainty_one({"unseen": 1.0})
        assert np.isfinite(model.covariance_).all()
    assert state(model) == before
    assert model.n_features_in_ == X.shape[1]


@every_estimator
def test_sparse_is_dense(cls, options):
    X, y, weights = stream_of(cls, options)
    dense, sparse = (learn(cls(**options), c(X), y, weights) for c in (np.asarray, csr))
    tolerance = 1e-3 if options.get("dtype") == "float32" else 1e-9
    for ours, theirs in (
        (sparse._learner.weights, dense._learner.weights),
        (sparse._learner.intercept, dense._learner.intercept),
        (sparse._learner.scores(csr(X)), dense._learner.scores(X)),
    ):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance / 100)


@every_estimator
def test_a_weight_of_zero_changes_nothing(cls, options):
    X, y, _ = stream_of(cls, options)
    model = learn(cls(**options), X, y)
    before = state(model)
    learn(model, X, y, np.zeros(len(X)))
    assert state(model) == before


@every_estimator
def test_events_with_names(cls, options, tmp_path):
    X, y, _ = stream_of(cls, options)
    if (
        options.get("geometry") == "entropy"
    ):  # all features have to be known from the start: see `named_first`
        X[0] = 0.5 + np.arange(len(NAMES))
    if cls is hinge.PAOrdinal:  # which needs them ahead
        options = {"classes": RANKS, **options}
    ones, many, frame = cls(**options), cls(**options), cls(**options)
    for i, x in enumerate(as_dicts(X)):
        event(ones, x, y, i)
    for model, data in ((many, as_dicts(X)), (frame, pd.DataFrame(X, columns=NAMES))):
        model.learn_many(data) if y is None else model.learn_many(data, y)
    assert state(ones) == state(many)
    tolerance = 1e-3 if options.get("dtype") == "float32" else 1e-9
    np.testing.assert_allclose(
        weights_by_name(frame._learner), weights_by_name(ones._learner), rtol=tolerance, atol=tolerance / 100
    )
    ones.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    assert again.predict_one(as_dict(X[2])) == ones.predict_one(as_dict(X[2]))
    event(ones, {"new": 1.0}, y, 3)
    event(again, {"new": 1.0}, y, 3)
    assert state(again) == state(ones)


@every_estimator
def test_fit_from_scratch_and_again(cls, options, tmp_path):
    X, y, _ = stream_of(cls, options)
    with np.errstate(all="raise"):
        first, second = (cls(**options, random_state=3, max_iter=20, tol=None).fit(X, y) for _ in range(2))
    assert state(first) == state(second)
    assert state(first.fit(X, y)) == state(second)
    frame = pd.DataFrame(X, columns=NAMES)
    named = clone(first).fit(frame, y)
    np.testing.assert_array_equal(named.predict(frame), first.predict(X))
    named.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    assert state(again) == state(named)
    assert list(again.feature_names_in_) == NAMES
    learn(again, frame, y)
    learn(named, frame, y)
    assert state(again) == state(named)
