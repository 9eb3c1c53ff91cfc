"""The scikit-learn estimators keep the contracts of the learner inside of them."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from cases import LABELS, NAMES, as_dict, as_dicts, csr, one, part, state, stream, tensors
from sklearn.base import clone

import hinge

TASKS = {hinge.PAClassifier: "classification", hinge.PARegressor: "regression", hinge.PAOneClass: "uniclass"}
OPTIONS = [{}, {"step": "pa2", "C": 0.1, "average": True}, {"step": "pa", "dtype": "float32"}, {"average": 9}]
ESTIMATORS = [(cls, options) for cls in TASKS for options in OPTIONS]
ESTIMATORS += [
    (hinge.PAClassifier, {"step": "perceptron", "fit_intercept": False}),
    (hinge.PAClassifier, {"class_weight": {"ham": 2.0, "spam": 0.5}}),
    (hinge.PARegressor, {"fit_intercept": False, "epsilon": 0.01}),
    (hinge.PAOneClass, {"max_radius": 2.5}),
    (hinge.PAOneClass, {"radius": 0.5, "w1": "zero"}),
]
every_estimator = pytest.mark.parametrize(
    ("cls", "options"), ESTIMATORS, ids=lambda v: v.__name__ if isinstance(v, type) else str(v)
)


def learn(model, X, y, weights=None):
    if isinstance(model, hinge.PAClassifier):
        return model.partial_fit(X, y, classes=LABELS, sample_weight=weights)
    return model.partial_fit(X, y, sample_weight=weights)


def stream_of(cls, count=60):
    return stream(TASKS[cls], count)


def event(model, x, y, i):
    return model.learn_one(x) if y is None else model.learn_one(x, one(y, i))


@every_estimator
def test_partial_fit_is_the_learner(cls, options):
    X, y, weights = stream_of(cls)
    model = learn(cls(**options), X, y, weights)
    more = {"classes": LABELS.tolist()} if y is not None and y.dtype.kind == "U" else {}
    learner = hinge.Learner(TASKS[cls], **{**more, **options})
    learner.learn(X, y, weights)
    assert tensors(model) == tensors(learner)
    assert model.stats_ == learner.statistics


@every_estimator
def test_batches_rows_and_saved_models_are_the_same(cls, options, tmp_path):
    X, y, weights = stream_of(cls)
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


@every_estimator
def test_predict_is_pure(cls, options):
    X, y, weights = stream_of(cls)
    model = learn(cls(**options), X, y, weights)
    before = state(model)
    model.predict(X)
    model.predict(csr(X))
    if cls is not hinge.PARegressor:
        model.decision_function(X)
    for x in (dict(enumerate(X[3].tolist())), {"unseen": 1.0}):
        model.predict_one(x)
        model.score_one(x)
        model.explain_one(x)
    if y is not None:
        model.score(X, y)
    assert state(model) == before
    assert model.n_features_in_ == X.shape[1]


@every_estimator
def test_sparse_is_dense(cls, options):
    X, y, weights = stream_of(cls)
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
    X, y, _ = stream_of(cls)
    model = learn(cls(**options), X, y)
    before = state(model)
    learn(model, X, y, np.zeros(len(X)))
    assert state(model) == before


@every_estimator
def test_events_with_names(cls, options, tmp_path):
    X, y, _ = stream_of(cls)
    ones, many, frame = cls(**options), cls(**options), cls(**options)
    for i, x in enumerate(as_dicts(X)):
        event(ones, x, y, i)
    for model, data in ((many, as_dicts(X)), (frame, pd.DataFrame(X, columns=NAMES))):
        model.learn_many(data) if y is None else model.learn_many(data, y)
    assert state(ones) == state(many)
    tolerance = 1e-3 if options.get("dtype") == "float32" else 1e-9
    weights = {n: ones.named_weights().get(n, 0.0) for n in NAMES}
    assert frame.named_weights() == pytest.approx(weights, rel=tolerance, abs=tolerance / 100)
    ones.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    assert again.predict_one(as_dict(X[2])) == ones.predict_one(as_dict(X[2]))
    event(ones, {"new": 1.0}, y, 3)
    event(again, {"new": 1.0}, y, 3)
    assert state(again) == state(ones)


@every_estimator
def test_fit_from_scratch_and_again(cls, options, tmp_path):
    X, y, _ = stream_of(cls)
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
