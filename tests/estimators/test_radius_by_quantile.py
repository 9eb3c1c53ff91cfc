"""PAOneClass without a radius: the quantile of the distances decides, in `fit` and in streams."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import hinge
from hinge import Learner, PAOneClass


def normal(count=1000, width=5, seed=0):
    return np.random.default_rng(seed).normal(size=(count, width))


def share_outside(model, X):
    return float((model.predict(X) == -1).mean())


class Tracked:
    """cpp/quantile.hpp and the rule around it in NumPy: the centre, and the radius by quantile."""

    def __init__(self, C=1.0, contamination=0.1, step="pa1"):
        self.C, self.share, self.step = C, contamination, step
        self.w, self.value, self.spread, self.seen = None, 0.0, 0.0, 0.0
        self.flagged = 0

    def learn(self, x, weight=1.0):
        if self.w is None:
            self.w = x.copy()
            return
        distance = np.sqrt(((x - self.w) ** 2).sum())
        self.flagged += distance > self.value
        C = max(0.01 * self.C, 1 / (self.seen + 2)) * weight
        unit = self.value if self.value > 0 else distance
        tau = min(distance, C * unit) if self.step == "pa1" else distance / (1 + 1 / (2 * C))
        if distance > 0:
            self.w = self.w + tau * (x - self.w) / distance
        if not self.value > 0:
            self.value = self.spread = distance
        rate = min(0.1, weight * max(0.001, 1 / (self.seen + 10)))
        away = min(abs(distance - self.value), max(3 * self.spread, 0.01 * self.value))
        length = min(0.6, rate * 2 / np.sqrt(self.share)) * self.spread
        self.value = max(0.0, self.value + length * ((distance > self.value) - self.share))
        self.spread += 2 * rate * (away - self.spread)
        self.seen += weight


@pytest.mark.parametrize(
    "options", [{}, {"contamination": 0.02, "C": 7.0}, {"step": "pa2", "contamination": 0.5}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_core_is_the_textbook_twin(options, weighted):
    X = np.random.default_rng(1).standard_t(2, size=(400, 3))
    weights = np.random.default_rng(2).exponential(size=400) if weighted else np.ones(400)
    ours, twin = Learner("uniclass", **options), Tracked(**options)
    for x, weight in zip(X, weights, strict=True):
        ours.learn(x[None], sample_weight=[weight])
        twin.learn(x, weight)
        np.testing.assert_allclose(ours.weights, twin.w, rtol=1e-9, atol=1e-12)
        assert ours.radius == pytest.approx(twin.value, rel=1e-9)
    assert ours.statistics.mistakes == twin.flagged


@pytest.mark.parametrize("contamination", [0.01, 0.1, 0.25, 0.5])
@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf"}, {"step": "pa2"}, {"average": True}, {"dtype": "float32"}]
)
def test_fit_flags_the_contamination_of_its_rows(contamination, options):
    X = normal(300)
    model = PAOneClass(contamination=contamination, random_state=0, **options).fit(X)
    assert share_outside(model, X) == pytest.approx(contamination, abs=1 / 300)
    np.testing.assert_array_equal(model.fit_predict(X), model.predict(X))


def test_default_flags_a_tenth_of_gaussian_data():
    """It was 97.9 % with the former default radius of 1."""
    X = normal()
    assert share_outside(PAOneClass(random_state=0).fit(X), X) == 0.1
    assert np.linalg.norm(PAOneClass(random_state=0).fit(X).center_) < 0.5


@pytest.mark.parametrize("width", [1, 2, 20, 200])
@pytest.mark.parametrize("contamination", [0.02, 0.1, 0.4])
def test_a_stream_flags_about_the_contamination(width, contamination):
    X, more = normal(3000, width), normal(2000, width, seed=1)
    model = PAOneClass(contamination=contamination).partial_fit(X)
    assert share_outside(model, more) == pytest.approx(contamination, abs=0.2 * contamination + 0.015)
    assert model.stats_.mistakes / model.stats_.rounds == pytest.approx(contamination, abs=0.05)


def test_gross_outliers_move_neither_centre_nor_radius():
    X = normal(2000)
    dirty = X.copy()
    dirty[25::50] *= 1e6
    for fitted in (
        lambda X: PAOneClass(random_state=0).fit(X),
        lambda X: PAOneClass().partial_fit(X),
    ):
        clean, model = fitted(X), fitted(dirty)
        assert np.linalg.norm(model.center_ - clean.center_) < 0.5
        assert model.radius_ == pytest.approx(clean.radius_, rel=0.2)


def test_the_unit_of_the_data_does_not_matter():
    """Powers of 2 scale every number exactly."""
    X = normal(500)
    one, other = PAOneClass().partial_fit(X), PAOneClass().partial_fit(X * 2.0**40)
    np.testing.assert_array_equal(one.center_ * 2.0**40, other.center_)
    assert one.radius_ * 2.0**40 == other.radius_


def test_the_radius_follows_a_drift():
    X = np.vstack([normal(3000), 5 + 3 * normal(6000, seed=1)])
    model = PAOneClass().partial_fit(X)
    assert share_outside(model, 5 + 3 * normal(2000, seed=2)) == pytest.approx(0.1, abs=0.03)


def test_equal_rows_have_radius_zero():
    X = np.full((50, 3), 2.5)
    for model in (PAOneClass().fit(X), PAOneClass().partial_fit(X)):
        assert model.radius_ == 0
        assert share_outside(model, X) == 0
        assert model.predict([[3.0, 2.5, 2.5]]) == [-1]
    model = PAOneClass().partial_fit(X).partial_fit(normal(2000, 3))
    assert share_outside(model, normal(1000, 3, seed=1)) == pytest.approx(0.1, abs=0.05)


@pytest.mark.parametrize(
    "options", [{}, {"kernel": "rbf", "gamma": 0.2}, {"average": True, "dtype": "float32"}]
)
def test_batches_events_and_resumed_streams_agree_to_the_bit(options):
    X = normal(200, 3)
    whole = Learner("uniclass", **options)
    whole.learn(X)
    cut = Learner("uniclass", **options)
    for start in range(0, 200, 17):
        cut.learn(csr_matrix(X[start : start + 17]))
        cut = Learner.from_bytes(cut.to_bytes())
    events = Learner("uniclass", **options)
    for x in X:
        events.learn_one(dict(enumerate(x.tolist())))
    assert whole.radius == cut.radius == events.radius
    assert whole.to_bytes() == Learner.from_bytes(whole.to_bytes()).to_bytes()
    for other in (cut, events):
        assert other.statistics == whole.statistics
        np.testing.assert_array_equal(other.scores(X) if other is cut else whole.scores(X), whole.scores(X))


@pytest.mark.parametrize("options", [{}, {"kernel": "rbf", "gamma": 0.2}])
def test_a_rejected_batch_leaves_no_trace(options):
    X = normal(50, 3)
    model = Learner("uniclass", **options)
    model.learn(X)
    before = model.to_bytes()
    bad = X.copy()
    bad[30, 1] = np.nan
    with pytest.raises(ValueError, match="row 30"):
        model.learn(bad)
    assert model.to_bytes() == before
    assert model.radius > 0


def test_a_change_of_C_keeps_the_radius():
    model = PAOneClass().partial_fit(normal())
    radius = model.radius_
    model.set_params(C=3.0)
    model.partial_fit(normal(1))
    assert model.radius_ == pytest.approx(radius, rel=0.05)


def test_score_samples_and_offset_are_those_of_an_outlier_detector():
    X = normal()
    model = PAOneClass(random_state=0).fit(X)
    assert model.offset_ == -model.radius_
    np.testing.assert_allclose(model.score_samples(X), -np.linalg.norm(X - model.center_, axis=1))
    np.testing.assert_allclose(model.decision_function(X), model.score_samples(X) - model.offset_)


def test_sample_weights_count_in_the_radius():
    X = normal(100)
    weights = np.arange(100) % 3
    model = PAOneClass(contamination=0.2, random_state=0).fit(X, sample_weight=weights)
    outside = weights[model.predict(X) == -1].sum() / weights.sum()
    assert 0.2 - 2 / weights.sum() <= outside <= 0.2


@pytest.mark.parametrize("radius", [[-1.0, 1.0, 1.0], [1.0, -1.0, 1.0], [1.0, 1.0, -1.0], [np.inf, 1.0, 1.0]])
def test_a_file_with_an_impossible_radius_is_rejected(radius):
    model = Learner("uniclass")
    model.learn(normal(20, 2))
    header, tensors = model.to_parts()
    names = ("quantile_value", "quantile_spread", "quantile_seen")
    numbers = {name: np.array(number) for name, number in zip(names, radius, strict=True)}
    with pytest.raises(ValueError, match=r"the radius is invalid|the state is invalid"):
        Learner.from_parts(header, {**tensors, **numbers})
    absent = Learner.from_parts(
        header, {name: tensors[name] for name in tensors if name != "quantile_spread"}
    )
    zero = Learner.from_parts(header, {**tensors, "quantile_spread": np.array(0.0)})
    assert absent.to_bytes() == zero.to_bytes()  # a file omits numbers that are 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"step": "pa"}, "step='pa' would move the centre onto every example"),
        ({"kernel": "rbf", "budget": 9}, "removal='oldest'"),
        ({"kernel": "rbf", "budget": "adaptive", "removal": "oldest"}, "a budget that is a number"),
    ],
)
def test_combinations_that_need_a_radius_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        PAOneClass(**options).fit(normal(10))
    PAOneClass(**options, radius=1.0).fit(normal(10))


def test_published_algorithms_have_a_fixed_radius():
    for name in ("pa", "pa1", "pa2"):
        assert hinge.make(name, "uniclass").radius == 1.0
        assert hinge.make(name, "uniclass", radius=2.0).radius == 2.0
        assert hinge.make(name, "uniclass", max_radius=2.0).radius is None


def test_no_theorem_is_about_a_radius_by_quantile():
    X = normal(100)
    assert "radius by quantile" in str(PAOneClass().partial_fit(X).certificate(X))
    assert PAOneClass(radius=1.0).partial_fit(X).certificate(X).holds
