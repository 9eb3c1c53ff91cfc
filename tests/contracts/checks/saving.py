"""A model that was saved, pickled or copied resumes as if it had never stopped."""

from __future__ import annotations

import copy
import itertools
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from checks import check


def parameters(model):
    return model.parameters if hasattr(model, "parameters") else model.get_params()


@check()
def check_saved_model_resumes_bit_identically(case):
    """After every part of the stream; sampled cases by every way to keep a model, the others by one way in turn."""
    forms = (
        ("dense", "numbered") if case.is_learner and case.is_exact and not case.grows else (case.forms[0],)
    )
    streams = [case.data(form) for form in forms]
    ways = list(case.ways.items())
    never_stopped, stopped = case.new(), case.new()
    for k, (start, stop) in enumerate(itertools.pairwise((0, *case.stages, len(streams[0])))):
        part = streams[k % len(forms)][start:stop]
        if k:
            chosen = ways if case.sampled else [ways[k % len(ways)]]
            kept = {name: way(stopped) for name, way in chosen}
        else:
            kept = {"new": stopped}
        case.learn(never_stopped, part)
        for name, again in kept.items():
            assert type(again) is type(never_stopped)
            assert again is not stopped or name == "new"
            case.learn(again, part)
            case.assert_same(again, never_stopped, f"{name} at {start}")
        stopped = list(kept.values())[k % len(kept)]
    check_everything_is_kept(case, stopped, never_stopped)


def check_everything_is_kept(case, ours, theirs):
    assert parameters(ours).keys() == parameters(theirs).keys()
    if case.is_learner:
        assert ours.parameters == theirs.parameters
        assert ours._column_names == theirs._column_names  # a file has no names that are numbers
        if case.kernel is None:
            assert np.array_equal(ours.weights, theirs.weights)
        if case.is_exact:
            assert ours.statistics == theirs.statistics
            assert ours.predict_one({0: 1.0, 3: 2.0}) == theirs.predict_one({0: 1.0, 3: 2.0})
    else:
        assert ours.stats_ == theirs.stats_
        X = case.data(case.forms[0]).X
        assert (
            np.array_equal(ours.predict(X), theirs.predict(X))
            if case.is_estimator
            else ours.predict(X) == theirs.predict(X)
        )
    if case.is_sequence:
        assert ours.state_features_ == theirs.state_features_
    if case.is_estimator and case.has_covariance:
        assert np.array_equal(ours.covariance_, theirs.covariance_)
        assert np.array_equal(ours.uncertainty(X), theirs.uncertainty(X))


@check(lambda case: case.is_learner)
def check_model_of_events_resumes_bit_identically(case):
    """With its vocabulary and its labels."""
    form = "events" if case.is_exact else "dense"
    first, rest = case.data(form).parts(case.count // 2)
    model = case.learned(first)
    copies = (
        case.copies(model)
        if case.sampled or case.kernel is not None
        else {"bytes": case.ways["bytes"](model)}
    )
    for way, again in copies.items():
        assert case.state(again) == case.state(model), way
        np.testing.assert_array_equal(case.scores(again, rest.X), case.scores(model, rest.X), way)
    case.learn(model, rest)
    for way, again in copies.items():
        case.learn(again, rest)
        case.assert_same(again, model, way)


@check(lambda case: case.sampled)
def check_unlearned_model_is_kept(case):
    """What has not learned is saved, pickled and copied, too, or says that there is nothing to save."""
    model = case.new()
    if case.is_learner:
        copies = case.copies(model)
    else:
        with tempfile.TemporaryDirectory() as folder, pytest.raises(NotFittedError):
            model.save(Path(folder) / "model")
        copies = {
            "pickle": pickle.loads(pickle.dumps(model)),
            "deepcopy": copy.deepcopy(model),
            "clone": clone(model),
        }
    data = case.data(case.forms[0])
    case.learn(model, data)
    for way, again in copies.items():
        case.learn(again, data)
        case.assert_same(again, model, way)


@check(lambda case: not case.is_learner)
def check_clones_are_independent(case):
    """A clone has the parameters, and none of what was learned; a copy goes its own way."""
    data = case.data(case.forms[0])
    model = case.learned(data)
    fresh = clone(model)
    assert fresh.get_params().keys() == model.get_params().keys()
    assert not hasattr(fresh, "_learner")
    case.learn(fresh, data)
    assert case.state(fresh) == case.state(model)
    before = case.state(model)
    copied = case.copies(model)["deepcopy"]
    case.learn(copied, data)
    assert case.state(model) == before != case.state(copied)
