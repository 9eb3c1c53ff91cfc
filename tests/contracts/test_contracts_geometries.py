"""Geometries: two classes that become three, the step of the paper on a simplex, and scikit-learn's clones."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hinge
from cases import (
    CLASSES,
    LABELS,
    NAMES,
    as_dict,
    as_dicts,
    csr,
    named_first,
    new,
    numbers,
    part,
    state,
    stream,
)


@pytest.mark.parametrize("geometry", ["mahalanobis", "diagonal"])
def test_thresholds_with_a_small_variance_are_saved(geometry):
    model = hinge.Learner("ordinal", classes=[0, 1, 2], geometry=geometry, initial_variance=1e-3, step="pa")
    model.learn_one({"a": 1.0}, 0)
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {"geometry": "mahalanobis"},
        {"geometry": "mahalanobis", "step": "cw"},
        {"geometry": "diagonal", "step": "perceptron"},
        {"geometry": "diagonal", "covariance_update": "drop", "step": "pa2"},
    ],
    ids=str,
)
@pytest.mark.parametrize("average", [False, True])
def test_two_classes_become_three_with_the_same_covariance(options, average):
    X, y, _ = stream("classification")
    two, three = (
        hinge.Learner("classification", fit_intercept=False, average=average, **options) for _ in range(2)
    )
    events = as_dicts(X)
    for model in (two, three):
        model.learn_many(events, y)
    two.learn_one({}, "ham")  # no feature: nothing moves
    three.learn_one({}, "zebra")
    assert three.labels.known == [*LABELS.tolist(), "zebra"]
    assert three.covariance.tobytes() == two.covariance.tobytes()
    np.testing.assert_array_equal(three.weights, np.outer([-0.5, 0.5, 0.0], two.weights))
    for event in events:
        assert three.uncertainty_one(event) == two.uncertainty_one(event)
    three.learn_one(events[1], "zebra")
    assert three.uncertainty_one(events[1]) < two.uncertainty_one(events[1])
    for event, label in zip(events, itertools.cycle(["zebra", "ham", "spam"]), strict=False):
        three.learn_one(event, label)
    again = hinge.Learner.from_bytes(three.to_bytes())
    assert state(again) == state(three)
    assert (numbers(three, events) == numbers(again, events)).all()


@pytest.mark.parametrize("average", [False, True])
def test_two_classes_become_three_on_a_simplex(average):
    """Each of the two gets half of the weights, and the new one its part: the scores keep their proportions."""
    X, y, _ = stream("classification")
    model = hinge.Learner("classification", geometry="entropy", scale=6.0, average=average)
    events = as_dicts(X)
    model.learn_many(events, y)
    before, w, said = model.last_weights, model.last_intercept, [model.predict_one(x) for x in events]
    model.learn_one({}, "zebra", 1e-12)  # so small a weight: C of nothing
    three = model.last_weights
    np.testing.assert_allclose(three[0], -three[1], rtol=1e-9)
    factors = np.append(three[1] / before, model.last_intercept[1] / w)
    np.testing.assert_allclose(factors, factors[0], rtol=1e-6)
    assert 0.2 < factors[0] < 0.5
    assert np.abs(three[2]).max() < 1e-9
    for event, its in zip(events, said, strict=True):
        scores = model.score_one(event)
        if max(abs(scores["ham"]), abs(scores["spam"])) > 1e-3 and not average:
            assert model.predict_one(event) == its
    model.learn_many(events, np.array(CLASSES)[np.arange(60) % 4])
    assert len(model.labels.known) == 7
    assert np.abs(model.last_weights).sum() + np.abs(model.last_intercept).sum() <= 6.0 * (1 + 1e-9)


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
@pytest.mark.parametrize("average", [False, True])
def test_the_papers_step(task, average):
    X, y, weights = stream(task)
    X = np.abs(X)
    options = {"geometry": "entropy", "step": "pa", "signed": False, "entropy_step": "paper", "scale": 3.0}
    options = {**options, "average": average, **({} if task == "uniclass" else {"fit_intercept": False})}
    whole, rows, sparse, events = (new(task, options) for _ in range(4))
    whole.learn(X, y, weights)
    for i in range(len(X)):
        rows.learn(X[i : i + 1], part(y, slice(i, i + 1)), weights[i : i + 1])
        if i == 30:
            rows = hinge.Learner.from_bytes(rows.to_bytes())
    assert state(whole) == state(rows)
    sparse.learn(csr(X), y, weights)
    named_first(events).learn_many(as_dicts(X), y, weights)
    for other in (sparse, events):
        np.testing.assert_allclose(other.weights, whole.weights, rtol=1e-9)
    assert whole.statistics.updates > 5
    before = state(whole)
    bad = X.copy()
    bad[59, 2] = -1e-9
    with pytest.raises(
        ValueError, match="row 59, column 2: entropy_step='paper' is for values of 0 and more"
    ):
        whole.learn(bad, y)
    assert state(whole) == before


@pytest.mark.parametrize("geometry", ["mahalanobis", "diagonal"])
def test_clones_have_no_covariance_and_frames_have_uncertainty(geometry):
    X, y, _ = stream("classification")
    frame = pd.DataFrame(X, columns=NAMES)
    model = hinge.PAClassifier(geometry=geometry, initial_variance=2.0, random_state=0).fit(frame, y)
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "covariance_")
    assert fresh.fit(frame, y).covariance_.tobytes() == model.covariance_.tobytes()
    sizes = model.uncertainty(frame)
    np.testing.assert_allclose(sizes, [model.uncertainty_one(as_dict(x)) for x in X], rtol=1e-9)
    assert model.covariance_.shape == ((7, 7) if geometry == "mahalanobis" else (7,))
