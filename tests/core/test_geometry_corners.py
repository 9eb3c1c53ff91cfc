"""Corner cases of the geometries."""

from __future__ import annotations

import numpy as np
import pytest

import hinge


def test_new_weight_of_an_unsigned_simplex_is_not_in_earlier_averages():
    """A new weight begins above 0, but has no part in the average of the rounds before it came."""
    learner = hinge.Learner(
        "regression", geometry="entropy", signed=False, average=True, fit_intercept=False, scale=1.0, C=0.1
    )
    rounds = []
    for i in range(30):
        event = {"a": 1.0, f"n{i // 10}": 0.5}
        # The vector that predicts the event knows its features already.
        known = hinge.Learner.from_bytes(learner.to_bytes())
        known.learn_one(event, 0.7)
        names = known.feature_names
        before = dict(zip(learner.feature_names, learner.last_weights.tolist(), strict=True))
        if len(names) > len(before):  # all begin with the same exponent, 0
            v = np.zeros(len(names))
            v[: len(before)] = learner._engine.state()["v"]
            before = dict(zip(names, (np.exp(v) / np.exp(v).sum()).tolist(), strict=True))
        rounds.append(before)
        learner.learn_one(event, 0.7)
    average = dict(zip(learner.feature_names, learner.weights.tolist(), strict=True))
    expected = {name: sum(w.get(name, 0.0) for w in rounds) / 30 for name in average}
    assert average == pytest.approx(expected, rel=1e-9)
    assert sum(average.values()) == pytest.approx(1.0)


@pytest.mark.parametrize("average", [False, True])
def test_new_feature_next_to_weights_that_are_nearly_0_is_learned(average):
    learner = hinge.Learner(
        "regression", geometry="entropy", signed=False, fit_intercept=False, step="pa", average=average
    )
    for _ in range(5):
        learner.learn_one({"a": 1.0, "b": 2.0}, -1000.0)
    before = learner.to_bytes()
    with pytest.raises(ValueError, match="inf"):
        learner.learn_one({"a": 1.0, "c": np.inf}, 1.0)
    with pytest.raises(ValueError, match="inf"):
        learner.learn_many([{"a": 1.0, "c": 1.0}, {"a": 1.0, "d": np.inf}], [1.0, 1.0])
    assert learner.to_bytes() == before
    events = [{"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 1.0}]
    with pytest.raises(
        ValueError, match="row 1: the sample weight"
    ):  # by the core, when c has its column already
        learner.learn_many(events, [-1000.0, 1.0], sample_weight=[1.0, -1.0])
    assert learner.to_bytes() == before
    learner.learn_one({"a": 1.0, "c": 1.0}, 11.0)
    weights = dict(zip(learner.feature_names, learner.last_weights.tolist(), strict=True))
    assert weights["c"] == pytest.approx(10.0)  # next to it the others are nothing
    assert np.isfinite(learner.weights).all()


@pytest.mark.parametrize("average", [False, True])
def test_batch_rejected_after_a_new_column_leaves_no_trace(average):
    """What is restored is the state before the batch, not that before the new column."""
    learner = hinge.Learner(
        "regression", geometry="entropy", signed=False, fit_intercept=False, step="pa", average=average
    )
    for _ in range(5):
        learner.learn_one({f"f{i}": 1.0 + i / 40 for i in range(40)}, -1000.0)
    before = learner.to_bytes()
    events = [{"f0": 1.0}, {"f1": 1.0, "new": 1.0}]
    for _ in range(2):
        with pytest.raises(ValueError, match="row 1: the sample weight"):
            learner.learn_many(events, [-1000.0, 1.0], sample_weight=[1.0, -1.0])
        assert learner.to_bytes() == before


def test_projection_from_a_corner_of_the_simplex_keeps_its_digits():
    """The mass lies where the constraint is: it must not be computed as a difference (S13.6)."""
    learner = hinge.Learner(
        "classification", selection="simproj", geometry="entropy", scale=0.9, C=50.0, fit_intercept=False,
        classes=[0, 1],
    )  # fmt: skip
    for _ in range(3):
        learner.learn(np.array([[1.0, 0.0]]), [0])
    learner.change(margin=0.3, C=200.0)
    learner.learn(np.array([[1.0, 0.0]]), [1])
    scores = learner.scores(np.array([[1.0, 0.0]]))[0]
    assert scores[1] - scores[0] == pytest.approx(0.3, abs=1e-9)


def test_covariance_of_columns_that_never_meet_stays_0():
    """Pairs of columns that never meet: U has an entry for each pair, and no others, however many came before."""
    n = 64
    learner = hinge.Learner("regression", geometry="mahalanobis", fit_intercept=False, epsilon=0.0)
    rng = np.random.default_rng(0)
    for _ in range(200):
        i = int(rng.integers(n // 2))
        row = np.zeros((1, n))
        row[0, [i, i + n // 2]] = rng.normal(size=2)
        learner.learn(row, [float(rng.normal())])
    _, upper = learner._engine.factors()
    off_diagonal = upper - np.eye(n)
    rows, columns = np.nonzero(off_diagonal)
    assert len(rows) == n // 2
    assert (columns == rows + n // 2).all()


def test_step_that_float32_can_hold_is_accepted():
    learner = hinge.Learner(
        "classification",
        geometry="mahalanobis",
        step="pa",
        fit_intercept=False,
        dtype="float32",
        classes=[0, 1],
    )
    learner.learn(np.array([[1e15, 0.0]]), [1])
    learner.learn(np.array([[0.0, 1e-15]]), [1])
    np.testing.assert_allclose(learner.weights, [1e-15, 1e15], rtol=1e-6)


def test_geometry_cannot_change_in_the_stream():
    X, y = np.eye(4), [0, 1, 0, 1]
    model = hinge.PAClassifier().partial_fit(X, y, classes=[0, 1])
    model.set_params(geometry="diagonal", eta=0.8)
    with pytest.raises(ValueError, match="eta, geometry cannot change once learning has begun"):
        model.partial_fit(X, y)
    assert model.fit(X, y).covariance_.shape == (4,)
    model.partial_fit(X, y)
    model.set_params(geometry="mahalanobis").set_params(geometry="diagonal").partial_fit(X, y)
    model.set_params(C=0.5).partial_fit(X, y)


def test_invalid_options_of_named_algorithms_are_rejected():
    with pytest.raises(ValueError, match="there is no algorithm 'AROW'; did you mean 'arow'"):
        hinge.make("AROW")
    assert hinge.make("arow", r=np.float32(2)).C == 0.25
    for bad in (0, -1, np.inf, True, "1"):
        with pytest.raises(ValueError, match="r must be a finite number greater than 0"):
            hinge.make("arow", r=bad)
    with pytest.raises(ValueError, match="signed=False is for two classes, there are 3"):
        hinge.PAClassifier(geometry="entropy", signed=False).fit(np.eye(3), [0, 1, 2])
