"""Corners of committees: units, sizes, births that are taken back, files that resume, threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import scipy.sparse

from hinge import Learner
from hinge.model.experts import plain_learner

EXPERTS = [
    "pa",
    "pa1:0",
    "pa1:-2:average",
    "pa2:-1",
    "arow:0",
    "arow:-1:average",
    "scaled:pa1:0",
    "scaled:arow:0",
]
UNITS = [-40, -7, 3, 60]
OF_UNITS = {
    "lattice": {"C": "auto"},
    "lattice with averages": {"C": "auto", "average": True},
    "scaled lattice": {"experts": ["scaled:lattice"]},
    "PA-II": {"C": "auto", "step": "pa2"},
    "AROW": {"covariance_regularizer": "auto", "geometry": "diagonal", "step": "pa2"},
    "experts": {"experts": "auto"},
}


def stream(classes=2, count=150, columns=5, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((count, columns)) < 0.7, rng.normal(size=(count, columns)), 0.0)
    scores = X @ rng.normal(size=(columns, classes)) + 0.5 * rng.normal(size=(count, classes))
    return X, scores.argmax(axis=1), 3 * scores[:, 0]


def weights(learner):
    return [expert.weight for expert in learner.experts]


# ---- units ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", UNITS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("options", OF_UNITS.values(), ids=OF_UNITS)
def test_classification_does_not_depend_on_the_unit_of_x(options, classes, power):
    """Instances times a power of 2: the same votes, bit by bit."""
    X, y, _ = stream(classes)
    one, other = (Learner("classification", **options) for _ in range(2))
    one.learn(X, y), other.learn(X * 2.0**power, y)
    assert weights(one) == weights(other)
    assert np.array_equal(one.scores(X), other.scores(X * 2.0**power))


@pytest.mark.parametrize("power", UNITS)
@pytest.mark.parametrize("options", OF_UNITS.values(), ids=OF_UNITS)
def test_regression_does_not_depend_on_the_units_of_x_and_y(options, power):
    X, _, y = stream()
    unit = 2.0**power
    one, other, both = (Learner("regression", epsilon=eps, **options) for eps in (0.1, 0.1, 0.1 * unit))
    one.learn(X, y), other.learn(X * unit, y), both.learn(X / unit, y * unit)
    assert weights(one) == weights(other) == weights(both)
    assert np.array_equal(one.scores(X), other.scores(X * unit))
    assert np.array_equal(one.scores(X) * unit, both.scores(X / unit))


# ---- the vote ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-320, 1e-310, 1e-150, 1e-10, 1e10, 1e140])
def test_votes_of_extreme_weights_are_shares(size):
    """The weight of an example multiplies the losses: their sums neither underflow to NaN nor overflow."""
    X, y, _ = stream()
    learner = Learner("classification", experts=EXPERTS[:4])
    try:
        learner.learn(X, y, np.full(len(X), size))
    except ValueError as error:
        assert "overflow" in str(error) or "larger than the model can hold" in str(error)  # noqa: PT017
        assert learner.statistics.rounds == 0
        return
    assert np.isfinite(weights(learner)).all()
    assert sum(weights(learner)) == pytest.approx(1)
    assert Learner.from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()


def test_losses_that_differ_by_rounding_are_votes():
    """Targets that are large relative to the differences between experts: h - m is computed from the differences."""
    X, _, y = stream()
    learner = Learner("regression", C=[0.1, 1.0, 10.0], fit_intercept=False)
    learner.learn(1e-6 * X, y * 1e-9 + 1e9)
    assert np.isfinite(weights(learner)).all()
    assert sum(weights(learner)) == pytest.approx(1)
    delta, *_, telling = learner._engine.vote_record()
    assert (delta > 0) == (telling > 0)


def test_losses_that_are_all_equal_change_nothing():
    learner = Learner("classification", experts=EXPERTS)
    learner.learn(np.zeros((9, 3)), [0, 1] * 4 + [0])
    assert weights(learner) == [1 / len(EXPERTS)] * len(EXPERTS)
    assert learner._engine.vote_record()[-1] == 0


def test_error_of_an_expert_is_the_mean_of_its_losses():
    learner = Learner("classification", experts=["pa1:0", "pa1=1"])
    learner.learn([[1.0]], [1], [0.25])
    assert [expert.error for expert in learner.experts] == [1.0, 1.0]


def test_statistics_do_not_depend_on_the_weights_of_examples():
    """The loss is the expected one of a round; its weight counts in the vote."""
    X, y, _ = stream()
    learner = Learner("classification", experts=["pa1:0", "pa1=1"])
    learner.learn(X[:1], y[:1], [7.0])
    assert learner.statistics.loss == 1.0
    assert learner._engine.vote_record()[1] == 7.0


# ---- sizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("size", [1e-320, 1e-160, 1e-154, 1e-100, 1e100, 1e140, 1e153])
@pytest.mark.parametrize("experts", [EXPERTS, ["lattice"], "auto"], ids=["experts", "lattice", "auto"])
def test_extreme_values_are_learned_or_rejected_without_a_trace(task, size, experts):
    X, y, target = stream(count=40)
    learner = Learner(task, experts=experts)
    for x, label, number in zip(size * X, y.tolist(), target.tolist(), strict=True):
        before = learner.to_bytes()
        try:
            learner.learn(x[None], [label if task == "classification" else number])
        except ValueError as error:
            assert any(word in str(error) for word in ("overflow", "large"))  # noqa: PT017
            assert learner.to_bytes() == before
        assert Learner.from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()
    assert np.isfinite(learner.scores(size * X)).all()


def test_large_sums_are_saved_as_they_are():
    """The lattice's bottom holds w/C, whose margins grow like |x|^2."""
    X, y, _ = stream(count=300)
    learner = Learner("classification", C="auto")
    learner.learn(1e9 * X, y)
    again = Learner.from_bytes(learner.to_bytes())
    assert again.experts == learner.experts
    again.learn(1e9 * X, y), learner.learn(1e9 * X, y)
    assert again.to_bytes() == learner.to_bytes()


def test_weights_of_a_lattice_are_those_of_its_leader():
    """Also if its bottom leads, which holds w/C."""
    rng = np.random.default_rng(1)
    learner = Learner("classification", C="auto")
    learner.learn(rng.normal(size=(300, 5)), rng.integers(0, 2, 300))
    experts = learner.experts
    assert max(experts, key=lambda expert: expert.weight).name == "lattice:bottom"
    leader = learner.leader()
    assert leader.step == "pa1"
    assert np.array_equal(learner.weights, leader.weights)
    assert learner.intercept == leader.intercept
    assert leader.parameters["C"] == experts[0].parameter


# ---- what is taken back --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [6, 5000])
@pytest.mark.parametrize("options", OF_UNITS.values(), ids=OF_UNITS)
def test_rejected_batch_takes_births_and_scales_back(options, width):
    """A narrow model keeps a copy, a wide one notes what it overwrites."""
    X, y, _ = stream(count=60, columns=6)
    X = scipy.sparse.csr_matrix(X)
    X.resize(60, width)
    new = scipy.sparse.csr_matrix(([2.0], ([50], [1])), shape=(60, 3))
    more = scipy.sparse.hstack([X, new], format="csr") * 1e3  # norms of another size: lanes are born
    learner = Learner("classification", **options)
    for known in range(3):
        more.resize(60, learner.n_features or width + 3)
        before = learner.to_bytes()
        with pytest.raises(ValueError, match="row 59"):
            learner.learn(more, y, np.append(np.ones(59), np.inf))
        assert learner.to_bytes() == before, known
        again = Learner.from_bytes(before)
        for each in (learner, again):
            each.learn(X[20 * known : 20 * known + 20], y[20 * known : 20 * known + 20])
        assert again.to_bytes() == learner.to_bytes()


def test_batch_with_a_wide_model_is_noted_once():
    """What a batch overwrites is not copied at every row: 4,000 rows of a hashed model take well below a second."""
    from time import process_time

    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2**16, (4000, 8))
    X = scipy.sparse.csr_matrix((np.ones(32000), columns.ravel(), 8 * np.arange(4001)), shape=(4000, 2**16))
    learner = Learner("classification", experts=EXPERTS, hash_bits=16)
    started = process_time()
    learner.learn(X, rng.integers(0, 2, 4000))
    whole = process_time() - started
    single = Learner("classification", experts=EXPERTS, hash_bits=16)
    started = process_time()
    for i in range(0, 4000, 400):
        single.learn(X[i : i + 400], rng.integers(0, 2, 400))
    assert whole < 8 * (process_time() - started)


# ---- files and threads ---------------------------------------------------------------------------------------------


def test_leader_is_a_learner_of_its_own():
    X, y, _ = stream(3)
    learner = Learner("classification", experts=["pa1:0", "pa1:-2:average", "arow:0"])
    learner.learn(X, y)
    before = learner.to_bytes()
    for place in range(3):
        leader = plain_learner(learner, place)
        leader.learn(X, y)
        again = Learner.from_bytes(leader.to_bytes())
        assert again.to_bytes() == leader.to_bytes()
        assert again.labels.known == [0, 1, 2]
    assert learner.to_bytes() == before


def test_readers_see_whole_rounds():
    """One thread learns batches, with births and new labels; others predict and read the experts."""
    X, y, _ = stream(4, count=400)
    y[:100] %= 2
    learner = Learner("classification", C="auto", average=True)
    learner.learn(X[:2], [0, 1])
    errors, done = [], threading.Event()

    def read():
        while not done.is_set():
            try:
                assert sum(weights(learner)) == pytest.approx(1)
                assert np.isfinite(learner.scores(X[:20])).all()
                leader = learner.leader()
                if (
                    np.isfinite(leader.parameters["C"]) and leader.step == "pa1"
                ):  # the weights are of its own C
                    most = leader.parameters["C"] * leader.statistics.rounds * np.abs(X).max()
                    assert np.abs(leader.last_weights).max(initial=0) <= most
            except Exception as error:
                errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    for i in range(2, 400, 7):
        learner.learn(X[i : i + 7], y[i : i + 7])
    done.set()
    for reader in readers:
        reader.join()
    assert not errors
    alone = Learner("classification", C="auto", average=True)
    alone.learn(X[:2], [0, 1])
    for i in range(2, 400, 7):
        alone.learn(X[i : i + 7], y[i : i + 7])
    assert alone.to_bytes() == learner.to_bytes()
