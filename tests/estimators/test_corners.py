"""Regression tests: frames after events, rejected fits, far centres, interrupts."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from hinge import Learner, PAClassifier, PAOneClass, PARegressor


def test_w1_by_name_follows_the_columns_of_a_frame() -> None:
    frame = pd.DataFrame({"b": [1.0, 0.0], "a": [0.0, 1.0]})
    for model in (
        PARegressor(w1={"a": 1.0, "b": 5.0}, fit_intercept=False).partial_fit(frame, [5.0, 1.0]),
        PARegressor(w1={"a": 1.0, "b": 5.0}, fit_intercept=False).fit(frame, [5.0, 1.0]),
    ):
        assert model.stats_.loss == 0
        assert model.named_weights() == {"a": 1.0, "b": 5.0}
    with pytest.raises(ValueError, match="needs features with names"):
        PARegressor(w1={"a": 1.0}).fit(frame.to_numpy(), [5.0, 1.0])
    with pytest.raises(ValueError, match="'z', which is not a column"):
        PARegressor(w1={"z": 1.0}).fit(frame, [5.0, 1.0])


def test_a_frame_brings_new_columns_after_events() -> None:
    model = PARegressor(step="pa", epsilon=0.0).learn_one({"a": 1.0}, 0.0)
    model.partial_fit(pd.DataFrame({"a": [0.0], "z": [1.0]}), [5.0])
    assert model.predict_one({"z": 1.0}) == pytest.approx(5.0)


def test_unknown_columns_count_as_distance_from_a_ball() -> None:
    model = PAOneClass(radius=1.0).learn_one({"a": 1.0})
    frame = pd.DataFrame({"a": [1.0], "z": [100.0]})
    assert model.decision_function(frame)[0] == pytest.approx(-99.0)
    assert model.score_one({"a": 1.0, "z": 100.0}) == pytest.approx(-99.0)


def test_a_rejected_fit_leaves_no_trace() -> None:
    model = PAClassifier()
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.array([[np.nan]]), [0], classes=[0, 1])
    model.learn_one({"a": 1.0}, "spam").learn_one({"a": -1.0}, "ham")
    assert model.classes_.tolist() == ["ham", "spam"]
    fitted = PARegressor(random_state=0).fit(np.ones((2, 3)), [1.0, 1.0])
    with pytest.raises(ValueError, match="NaN"):
        fitted.fit(np.full((2, 5), np.nan), [1.0, 1.0])
    assert fitted.n_features_in_ == 3
    assert fitted.predict(np.ones((1, 3))).shape == (1,)


def test_classes_may_be_repeated_in_the_same_order() -> None:
    X, y = np.array([[1.0], [-1.0]]), ["spam", "ham"]
    model = PAClassifier(classes=["spam", "ham"]).partial_fit(X, y, classes=["spam", "ham"])
    model.partial_fit(X, y, classes=["spam", "ham"])
    assert model.classes_.tolist() == ["spam", "ham"]
    with pytest.raises(ValueError, match="not the same as on last call"):
        model.partial_fit(X, y, classes=["spam", "eggs"])


def test_an_averaged_radius_is_never_rounded_below_zero() -> None:
    model = PAOneClass(max_radius=0.1, average=True)
    for _ in range(4):
        model.learn_one({"a": 3.0})
    assert model.radius_ == 0.0
    assert model.predict_one({"a": 3.0}) == 1


@pytest.mark.parametrize(("large", "small"), [(1e9, 1.0), (1e6, 0.01)])
def test_a_distance_with_one_dominant_feature_is_exact(large: float, small: float) -> None:
    others = {f"x{i}": small for i in range(100)}
    learner = Learner("uniclass", radius=0.0)
    learner.learn_one({"a": large, **others})
    assert -learner.score_one({"a": large}) == pytest.approx(10 * small, rel=1e-9)
    assert learner.score_one({"a": large, **others}) == 0


def test_a_state_with_a_wrong_weight_bound_is_rolled_back() -> None:
    learner = Learner("regression", fit_intercept=False)
    learner.learn(np.eye(3), np.ones(3))
    state, kept = learner._engine.state(), learner.weights
    learner._engine.restore({**state, "weight_bound": np.array(0.0)})
    with pytest.raises(ValueError, match="NaN"):
        learner.learn(np.array([[1.0, 1.0, 1.0], [np.nan, 0.0, 0.0]]), np.ones(2))
    np.testing.assert_array_equal(learner.weights, kept)


def test_large_float32_weights_are_learned() -> None:
    learner = Learner("regression", step="pa", epsilon=0.0, fit_intercept=False, dtype="float32")
    learner.learn(np.array([[1e-20]]), np.array([1.0]))
    np.testing.assert_allclose(learner.weights, [1e20], rtol=1e-6)


def test_explanations_of_features_with_numbers_add_up() -> None:
    learner = Learner("uniclass", w1="zero", radius=0.0, step="pa")
    learner.learn_one({10: 1.0, 20: 2.0})
    parts = learner.explain_one({0: 1.0, 10: 3.0})
    distance = learner.radius - learner.score_one({0: 1.0, 10: 3.0})
    assert sum(part.contribution for part in parts) == pytest.approx(distance**2)


def test_rolling_back_unsorted_rows_costs_their_non_zeros() -> None:
    """A small batch on a wide model is rolled back from an undo log, not from a copy of the model."""
    width = 2**22
    learner = Learner("regression", fit_intercept=False)
    learner.learn(sp.csr_array(([1.0], [5], [0, 1]), shape=(1, width)), np.ones(1))
    X = sp.csr_array((2, width))
    X.data, X.indices, X.indptr = (
        np.array([1.0, 2.0, 1.0, np.nan]),
        np.array([9, 5, 7, 3]),
        np.array([0, 2, 4]),
    )
    before = learner.weights
    with pytest.raises(ValueError, match="row 1, column 3: the value is NaN"):
        learner.learn(X, np.ones(2))
    np.testing.assert_array_equal(learner.weights, before)

    X.data = np.ones(4)
    started = time.process_time()
    for _ in range(200):
        learner.learn(X, np.ones(2))
    assert time.process_time() - started < 200 * 2e-3  # a copy of the weights alone takes longer


def test_an_interrupted_batch_is_rolled_back_with_its_labels() -> None:
    """Ctrl-C while a batch of new labels runs: nothing is learned, and no label is known."""
    random = np.random.default_rng(0)
    X = random.normal(size=(60_000, 200))
    y = np.where(X[:, 0] > 0, "b", "a")
    before = Learner("classification").to_bytes()  # and everything that it needs is imported
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background SIGINT is ignored
    interrupted, started = False, time.perf_counter()
    timer = threading.Timer(0.02, lambda: signal.raise_signal(signal.SIGINT))
    learner = Learner("classification")
    try:
        timer.start()
        while time.perf_counter() - started < 5:
            learner = Learner("classification")
            learner.learn(X, y)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGINT, handler)
    assert interrupted
    learned = learner.statistics.rounds
    assert learned in (0, 60_000)  # all or none
    assert learner.labels.known == (["a", "b"] if learned else [])
    assert learned or learner.to_bytes() == before


def test_the_average_of_a_centre_at_zero_is_rolled_back() -> None:
    """w is 0 again, its average is not: a rejected batch must restore both."""
    learner = Learner("uniclass", w1="zero", radius=0.0, step="pa", average=True)
    learner.learn(np.array([[3.0, 4.0], [1.0, 0.0], [0.0, 0.0]]))
    assert not learner.last_weights.any()
    assert learner.weights.any()
    before = learner.to_bytes()
    for bad in (np.array([[1.0, 1.0], [np.nan, 0.0]]), sp.csr_array([[1.0, 0.0], [np.inf, 0.0]])):
        with pytest.raises(ValueError, match="row 1, column 0"):
            learner.learn(bad)
        assert learner.to_bytes() == before


def test_the_order_of_storage_does_not_decide_what_is_rejected() -> None:
    """1e200 has no finite square, but a finite score: stored in order or not."""
    learner = Learner("regression", fit_intercept=False, w1=[1.0, 2.0])
    for columns in ([0, 1], [1, 0]):
        X = sp.csr_array((1, 2))
        X.data, X.indices, X.indptr = np.array([1e200, 1e200]), np.array(columns), np.array([0, 2])
        assert learner.scores(X)[0] == pytest.approx(3e200)
        with pytest.raises(ValueError, match="square overflows"):
            learner.learn(X, np.ones(1))
