"""predict_proba against the slow calibration; honest, bit-identical, and without any effect on predictions."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import log_loss

import hinge
from hinge import Learner, PAClassifier
from reference_calibration import Calibration

WAYS = {
    "pa1": {},
    "average": {"average": True},
    "diagonal": {"geometry": "diagonal", "step": "pa2"},
    "scaled": {"scaling": "online", "average": True},
    "kernel": {"kernel": "rbf", "gamma": 0.5, "average": True},
    "simproj": {"selection": "simproj"},
    "committee": {"C": "auto", "average": True},
}


def stream(labels, rounds, seed=0, noise=0.15):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 4))
    y = (X @ rng.normal(size=(4, labels)) + 0.3 * rng.normal(size=(rounds, labels))).argmax(axis=1)
    wrong = rng.random(rounds) < noise
    return X, np.where(wrong, rng.integers(0, labels, rounds), y)


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize(
    "way", [way for way in WAYS if way != "scaled"]
)  # whose rounds scale by their own values
def test_probabilities_are_those_of_the_slow_calibration(way, labels):
    X, y = stream(labels, 300 if way == "kernel" else 600)
    weights = np.where(np.arange(len(y)) % 7 == 3, 3.0, 1.0)
    learner = Learner("classification", classes=list(range(labels)), **WAYS[way])
    learner.learn_many(X[:1], y[:1], [0.0])  # teaches nothing but the number of columns
    slow = Calibration()
    for row, (x, label, weight) in enumerate(zip(X, y, weights, strict=True)):
        scores = learner.lanes(x[None])[0]
        learner.learn_many(x[None], [label], [weight])
        if np.ndim(scores) == 0:
            slow.observe_sign(scores, label == 1, weight)
        else:
            slow.observe_label(scores, label, weight)
        if row % 10 == 0:
            found, after = learner.predict_proba(X[:20]), learner.lanes(X[:20])
            if np.ndim(scores) == 0:
                expected = np.array([slow.of_sign(score) for score in after])
                np.testing.assert_allclose(found[:, 1], expected, rtol=1e-7, atol=1e-12)
            else:
                expected = np.array([slow.of_labels(its) for its in after])
                np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-12)


def test_long_streams_are_sampled():
    X, y = stream(2, 18000)
    learner = Learner("classification", classes=[0, 1], C=0.01)
    learner.learn_many(X[:1], y[:1], [0.0])
    slow = Calibration()
    for rounds, (x, label) in enumerate(zip(X, y, strict=True), 1):
        if slow.observes(rounds):
            slow.observe_sign(float(learner.lanes(x[None])[0]), label == 1, 1.0)
        learner.learn_many(x[None], [label])
    assert 5632 < slow.seen < 5632 + 100
    expected = [slow.of_sign(score) for score in learner.lanes(X[:50])]
    np.testing.assert_allclose(learner.predict_proba(X[:50])[:, 1], expected, rtol=1e-6)


@pytest.mark.parametrize("labels", [2, 5])
@pytest.mark.parametrize("way", WAYS)
def test_the_highest_probability_is_that_of_the_prediction(way, labels):
    X, y = stream(labels, 400, seed=3)
    model = PAClassifier(**WAYS[way], random_state=0).partial_fit(X[:200], y[:200], classes=range(labels))
    for rows in (X[200:], 1e-3 * X[200:], 0 * X[:3]):
        found = model.predict_proba(rows)
        assert found.shape == (len(rows), labels)
        np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        assert (found >= 0).all()
        np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(rows))
        assert (np.sort(found, axis=1)[:, -1] > np.sort(found, axis=1)[:, -2])[found.argmax(axis=1) > 0].all()
        one = model.predict_proba_one(dict(enumerate(rows[0].tolist())))
        np.testing.assert_allclose(list(one.values()), found[0], rtol=1e-9)
        assert list(one) == model.classes_.tolist()


@pytest.mark.parametrize("labels", [2, 4])
@pytest.mark.parametrize("way", ["diagonal", "average", "committee"])
def test_probabilities_are_honest(way, labels):
    """On new rows, predictions with a probability of p are right in p of all cases, up to a few percent. (A single w of
    PA-I differs from one round to the next by more than that.)"""
    X, y = stream(labels, 12000, seed=5, noise=0.3)
    options = {**WAYS[way], **({} if "C" in WAYS[way] else {"C": 0.01})}
    learner = Learner("classification", classes=list(range(labels)), **options)
    learner.learn_many(X[:8000], y[:8000])
    found = learner.predict_proba(X[8000:])
    top, right = found.max(axis=1), found.argmax(axis=1) == y[8000:]
    assert top.mean() == pytest.approx(right.mean(), abs=0.03)
    shares, means = calibration_curve(right, top, n_bins=5, strategy="quantile")
    assert np.abs(shares - means).mean() < 0.05
    blind = log_loss(y[8000:], np.full_like(found, 1 / labels))
    assert log_loss(y[8000:], found) < 0.9 * blind


def test_noise_is_seen():
    """Labels that are coin tosses have probabilities near a half."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 3)), rng.integers(0, 2, 4000)
    learner = Learner("classification", classes=[0, 1])
    learner.learn_many(X, y)
    assert np.abs(learner.predict_proba(X[:500]) - 0.5).mean() < 0.08


@pytest.mark.parametrize("way", WAYS)
def test_calibration_is_saved_and_resumed_bit_identically(way, tmp_path):
    X, y = stream(3, 300)
    whole, part = (Learner("classification", classes=[0, 1, 2], **WAYS[way]) for _ in range(2))
    whole.learn_many(X, y)
    part.learn_many(X[:100], y[:100])
    part.save(tmp_path / "model.hinge")
    for resumed in (hinge.load(tmp_path / "model.hinge"), copy.deepcopy(part)):
        for x, label in zip(X[100:], y[100:], strict=True):
            resumed.learn_many(x[None], [label])
        np.testing.assert_array_equal(resumed.predict_proba(X), whole.predict_proba(X))


def test_a_rejected_batch_changes_no_probability():
    X, y = stream(2, 200)
    learner = Learner("classification", classes=[0, 1])
    learner.learn_many(X[:100], y[:100])
    before = learner.predict_proba(X)
    bad = X[100:].copy()
    bad[-1, 0] = np.nan
    with pytest.raises(hinge.InputError):
        learner.learn_many(bad, y[100:])
    np.testing.assert_array_equal(learner.predict_proba(X), before)


@pytest.mark.parametrize("labels", [2, 3])
def test_units_do_not_matter(labels):
    X, y = stream(labels, 300)
    one, other = (Learner("classification", classes=list(range(labels)), step="pa") for _ in range(2))
    one.learn_many(X, y)
    other.learn_many(2.0**20 * X, y)
    np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(2.0**20 * X))


def test_labels_that_swap_or_come_later():
    """The first label of a stream is negative until the second one comes; a third one starts another calibration."""
    X, y = stream(2, 300)
    first = np.flatnonzero(y == 1)[0]  # begin with the label that will be the positive one
    order = [first, *(row for row in range(300) if row != first)]
    known, met = Learner("classification", classes=["a", "b"]), Learner("classification")
    for row in order:
        for learner in (known, met):
            learner.learn_one(dict(enumerate(X[row].tolist())), "ab"[y[row]])
    x = dict(enumerate(X[0].tolist()))
    assert known.predict_proba_one(x) == met.predict_proba_one(x)
    assert set(known.predict_proba_one(x)) == {"a", "b"}
    met.learn_one(x, "c")
    assert met.predict_proba_one(x).keys() == {"a", "b", "c"}
    assert sum(met.predict_proba_one(x).values()) == pytest.approx(1)


def test_before_anything_was_learned():
    assert Learner("classification").predict_proba_one({"a": 1}) == {}
    assert PAClassifier(classes=["x", "y"]).predict_proba_one({"a": 1}) == {"x": 0.5, "y": 0.5}
    alone = Learner("classification")
    alone.learn_one({"a": 1}, "x")
    assert alone.predict_proba_one({"a": 1}) == {"x": 1.0}
    with pytest.raises(ValueError, match="only classification has probabilities, not regression"):
        Learner("regression").predict_proba_one({"a": 1})


def test_passes_of_fit_calibrate_on_rows_that_are_new():
    """Scores of rows that were learned before are too good: they would make noise look certain."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 600)), rng.integers(0, 2, 400)
    model = PAClassifier(max_iter=50, tol=None, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.95
    found = model.predict_proba(rng.normal(size=(500, 600)))
    assert found.max(axis=1).mean() < 0.7


def test_soft_votes():
    X, y = stream(3, 400)
    members = [
        ("pa", PAClassifier(C=0.1, random_state=0)),
        ("arow", PAClassifier(geometry="diagonal", step="pa2")),
    ]
    model = VotingClassifier(members, voting="soft").fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) > 0.6
