"""Estimators of scikit-learn learn what the learner inside of them learns; fit starts from scratch."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone

import hinge
from cases import NAMES, tensors, weights_by_name
from checks import check
from contract_case import in_form


def estimators(case):
    return case.is_estimator


def close(case, ours, theirs):
    rtol = 1e-3 if case.is_single else 1e-9
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=rtol / 100)


@check(estimators)
def check_partial_fit_equals_the_learner(case):
    data = case.data("dense")
    model = case.learned(data)
    more = {"classes": case.known} if case.known else {}
    if model._learner._task.selections:
        more["selection"] = model._learner.parameters["selection"]
    if "experts" in model.get_params():
        more["experts"] = "auto"
    learner = hinge.Learner(case.cls._task, **{**more, **case.options})
    learner.learn(data.X, data.y, data.weights)
    assert tensors(model) == tensors(learner)
    assert model.stats_ == learner.statistics


@check(estimators)
def check_sparse_rows_equal_dense_rows(case):
    dense, sparse = (case.learned(case.data(form))._learner for form in ("dense", "csr"))
    close(case, sparse.weights, dense.weights)
    close(case, sparse.intercept, dense.intercept)
    close(case, sparse.scores(case.data("csr").X), dense.scores(case.data("dense").X))


@check(lambda case: case.is_estimator and "events" in case.forms)
def check_names_of_events_and_frames_are_kept(case):
    events, frame = (case.learned(case.data(form).weighing(1.0)) for form in ("events", "frame"))
    close(case, weights_by_name(frame._learner), weights_by_name(events._learner))
    again = case.copies(events)["file"]
    x, y, _ = case.data().one(2)
    assert again.predict_one(x) == events.predict_one(x)
    for model in (events, again):
        case.learn_one(model, {"new": 1.0}, y)
    assert case.state(again) == case.state(events)


@check(estimators)
def check_fit_starts_from_scratch(case):
    data = case.data("dense")
    known = case.new().get_params()
    fit = {
        name: value for name, value in (("random_state", 3), ("max_iter", 20), ("tol", None)) if name in known
    }
    with np.errstate(all="raise"):
        first, second = (case.new(**fit).fit(data.X, data.y) for _ in range(2))
    assert case.state(first) == case.state(second)
    assert case.state(first.fit(data.X, data.y)) == case.state(second)
    frame = in_form("frame", data.X)
    named = clone(first).fit(frame, data.y)
    np.testing.assert_array_equal(named.predict(frame), first.predict(data.X))
    with tempfile.TemporaryDirectory() as folder:
        named.save(Path(folder) / "model")
        again = hinge.load(Path(folder) / "model")
    assert case.state(again) == case.state(named)
    assert list(again.feature_names_in_) == NAMES
    more = {} if case.known is None else {"classes": case.known}
    for model in (again, named):
        model.partial_fit(frame, data.y, **more)
    assert case.state(again) == case.state(named)
