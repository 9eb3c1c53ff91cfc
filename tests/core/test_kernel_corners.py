"""Corners of kernels on a budget, for the twin and for hinge.Learner: numbers that are exact, so that ties are ties."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse

import hinge
from kernel_streams import KERNELS, K, make

KINDS = ("reference", "dense", "csr", "dict")
PERCEPTRON = {"step": "perceptron", "kernel": "linear"}


@pytest.fixture(params=KINDS)
def kind(request):
    return request.param


def learn(learner, *examples):
    for example in examples:
        learner.learn(*example)
    return learner


def counts(learner):
    s = learner.statistics
    return s.rounds, s.updates, s.insertions, s.removals


# --- instances without a size -----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
@pytest.mark.parametrize("budget", [None, 1, "adaptive"])
def test_an_instance_of_no_size_is_never_inserted(kind, step, budget):
    """S1: K(x, x) = 0. The loss is suffered; nobody leaves for it."""
    learner = make(kind, "classification", kernel="linear", step=step, budget=budget, beta=0.5)
    learn(learner, ([1.0, 0.0], 1), ([0.0, 0.0], -1), ([0.0, 0.0], 1))
    assert learner.support == [0]
    assert counts(learner) == (3, 1, 1, 0)
    assert learner.statistics.loss == 3.0
    assert learner.statistics.mistakes == 3


@pytest.mark.parametrize("selection", ["max", "simproj", "conproj", "simperc", "mira", "prediction"])
def test_labels_of_an_instance_of_no_size(kind, selection):
    learner = make(kind, "classification", kernel="linear", selection=selection, k=3, budget=1)
    learn(learner, ([1.0, 0.0], 1))
    learner.learn([0.0, 0.0], 2)
    assert learner.support == [0]
    assert counts(learner) == (2, 1, 1, 0)


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_zeros_have_a_size_in_other_kernels(kind, kernel):
    learner = learn(make(kind, "classification", **KERNELS[kernel]), ([0.0, 0.0], 1))
    assert learner.support == [0]
    assert learner.dual_coef().tolist() == [1.0]


def test_the_constant_feature_gives_zeros_a_size(kind):
    learner = learn(make(kind, "classification", kernel="linear", step="pa", fit_intercept=True), ([0.0], 1))
    assert (learner.support, learner.dual_coef().tolist()) == ([0], [1.0])
    assert learner.scores([5.0]) == 1.0


def test_zeros_move_the_thresholds_of_ranks(kind):
    """The constraint has the size K(x, x) + 1."""
    learner = make(kind, "ordinal", kernel="linear", step="pa", selection="simproj", k=3)
    learn(learner, ([0.0, 0.0], 1))
    assert (learner.support, learner.dual_coef().tolist()) == ([0], [0.0])
    assert np.array(learner.thresholds).tolist() == [-0.5, 0.5]


def test_a_centre_may_be_at_zero(kind):
    learner = make(kind, "uniclass", kernel="linear", step="pa", radius=1.0)
    learn(learner, ([0.0, 0.0],), ([4.0, 0.0],))
    assert (learner.support, learner.dual_coef().tolist()) == ([0, 1], [0.25, 0.75])
    assert learner.scores([3.0, 1.0]) == 0.0


# --- the same example again --------------------------------------------------------------------------------------


def test_in_a_stream_every_example_is_new(kind):
    learner = learn(make(kind, "classification", beta=2.0, **PERCEPTRON), *[([1.0], 1)] * 4)
    assert learner.support == [0, 1, 2]  # the fourth has the margin 3
    assert learner.dual_coef().tolist() == [1.0, 1.0, 1.0]


def test_of_duplicates_the_oldest_goes(kind):
    """All spare 2 - 2 = 0 with three in the cache; then 1 - 2 < 0."""
    learner = learn(
        make(kind, "classification", budget="adaptive", beta=2.0, **PERCEPTRON), *[([1.0], 1)] * 3
    )
    assert learner.support == [2, 1]
    learner.learn([1.0], 1)  # the margin is 2: it comes, and the oldest, 1, goes
    assert learner.support == [2, 3]
    assert counts(learner) == (4, 4, 4, 2)


@pytest.mark.parametrize("removal", ["largest", "oldest"])
def test_the_oldest_of_a_full_cache_of_duplicates_goes(kind, removal):
    learner = make(kind, "classification", budget=2, removal=removal, beta=9.0, **PERCEPTRON)
    expected = [[0], [0, 1], [1, 2], [2, 3], [3, 4]]
    for support in expected:
        learner.learn([1.0], 1)
        assert sorted(learner.support) == support


def test_the_order_of_age_is_not_that_of_the_cache(kind):
    """After 0 has left, 2 stands before 1; both spare the same, and 1 is older."""
    learner = make(kind, "classification", budget=3, beta=99.0, **PERCEPTRON)
    learn(learner, *[([1.0], 1)] * 4)
    assert learner.support == [2, 1, 3]
    learner.learn([1.0], 1)
    assert learner.support == [2, 3, 4]


# --- budgets of one, and rounds that remove everything -------------------------------------------------------------


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_room_for_one(kind, step):
    """Each one that comes is the first: its step is that from w = 0."""
    learner = make(kind, "classification", kernel="linear", step=step, budget=1, C=0.25, beta=0.5)
    for t, (x, y) in enumerate([(2.0, 1), (-2.0, 1), (2.0, -1), (-4.0, -1)][:3]):
        learner.learn([x], y)
        assert learner.support == [t] if t < 2 else learner.support in ([1], [2])
    tau = {"pa": 0.25, "pa1": 0.25, "pa2": 1 / 6, "perceptron": 1.0}[step]
    assert abs(learner.dual_coef()[0]) == pytest.approx(tau)


def test_a_round_that_removes_everything(kind):
    """beta = 0 and orthonormal instances: each has the margin 0, comes, and is superfluous at once (E31)."""
    options = {"budget": "adaptive", "beta": 0.0, **PERCEPTRON}
    if kind != "reference":
        with pytest.raises(ValueError, match="never learns"):
            make(kind, "classification", **options)
        return
    learner = make(kind, "classification", **options)
    for t, x in enumerate(np.eye(3)):
        learner.learn(x, 1)
        assert learner.support == []
        assert counts(learner) == (t + 1, t + 1, t + 1, t + 1)
    assert len(learner.dual_coef()) == 0
    assert learner.scores([1.0, 1.0, 1.0]) == 0.0


@pytest.mark.parametrize("removal", ["largest", "oldest"])
def test_a_round_that_removes_several(kind, removal):
    """w = (5, 30): (1, 0) twice, each with the margin 5 - 1 without itself, and the new one with 2 = beta. The oldest
    of two goes; then w = (4, 30) and the margins are 3 and 1; then only the new one is left."""
    learner = make(kind, "classification", budget="adaptive", removal=removal, beta=2.0, **PERCEPTRON)
    learn(learner, ([1.0, 0.0], 1), ([1.0, 0.0], 1))
    assert learner.support == [0, 1]
    learner.learn([1.0, 10.0], 1, 3.0)
    assert (learner.support, learner.dual_coef().tolist()) == ([2], [3.0])
    assert counts(learner) == (3, 3, 3, 2)


def test_the_new_one_may_go_itself(kind):
    """w = 4 + 1: 4 has the margin 20 - 16 = 4, and 1 has 5 - 1 = 4 = beta: a tie, the oldest goes; then 1 has 0."""
    learner = make(kind, "classification", budget="adaptive", beta=4.0, **PERCEPTRON)
    learn(learner, ([4.0], 1), ([1.0], 1))
    assert learner.support == [1]
    learner = make(kind, "classification", budget="adaptive", beta=3.0, **PERCEPTRON)
    learn(
        learner, ([4.0, 0.0], 1), ([0.5, 1.5], 1)
    )  # w = (4.5, 1.5): 18 - 16 = 2 and 4.5 - 2.5 = 2: both stay
    assert learner.support == [0, 1]
    learner.learn([0.25, 0.5], 1)  # 1.875 <= 3; w = (4.75, 2): 3, 2.875 and 1.875: the first qualifies
    assert learner.support == [2, 1]


# --- nothing to rank --------------------------------------------------------------------------------------------------


def test_who_has_nothing_to_rank_goes_first(kind):
    """No label relevant: only the learned threshold moved for it. Its spare is what the threshold's is."""
    options = {"kernel": "linear", "step": "pa", "k": 3, "budget": 1, "threshold": "learned"}
    learner = learn(make(kind, "multilabel", **options), ([1.0], frozenset()), ([1.0], frozenset({1})))
    assert learner.support == [1]
    assert counts(learner) == (2, 1, 2, 1)


@pytest.mark.parametrize("truth", [frozenset(), frozenset(range(3))])
def test_nothing_to_rank_is_nothing_to_learn(kind, truth):
    learner = make(kind, "multilabel", kernel="linear", k=3, budget=1)
    learn(learner, ([1.0], frozenset({1})), ([2.0], truth))
    assert learner.support == [0]
    assert counts(learner) == (2, 1, 1, 0)
    assert learner.statistics.largest_q == 8.0


def test_costs_of_zero_do_not_count(kind):
    """Label 0 may be taken for 1: what remains is the lead over 2, and for all costs 0 nothing is asked."""
    cost = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    learner = make(kind, "classification", kernel="linear", step="pa", k=3, cost=cost, budget="adaptive")
    learn(learner, ([1.0], 2), ([1.0], 0))
    assert learner.support == [1]
    assert learner.dual_coef().T.tolist() == [[0.5, 0.0, -0.5]]


# --- centres ------------------------------------------------------------------------------------------------


def test_a_ball_of_one(kind):
    """Without its only support the centre is 0: x = 3 is 3 - 1 off, lam = 2/3."""
    learner = make(kind, "uniclass", kernel="linear", step="pa", radius=1.0, budget=1)
    learn(learner, ([8.0],), ([3.0],))
    assert learner.support == [1]
    assert learner.dual_coef()[0] == pytest.approx(2 / 3)
    assert counts(learner) == (1, 1, 2, 1)
    learner.learn([-1.0])  # 3 off before, 1 off after the victim has gone: it stays away
    assert (learner.support, counts(learner)) == ([], (2, 1, 2, 2))
    assert learner.scores([0.25]) == 0.75


def test_of_two_at_the_ends_of_a_diameter_the_oldest_goes(kind):
    """Each is, without itself, as far from the other."""
    learner = make(kind, "uniclass", kernel="linear", step="pa", radius=1.0, budget=2)
    learn(learner, ([0.0],), ([2.0],), ([8.0],))  # w = 1; without 0 it is 2, and 8 is 6 off: lam = 5/6
    assert learner.support == [1, 2]
    assert learner.dual_coef() == pytest.approx([1 / 6, 5 / 6])


def test_the_centre_stays_a_mean_however_many_are_removed(kind):
    """1 - c_i is what the others have. As a difference it would lose digits with each removal: some 1/lam of them."""
    learner = make(
        kind, "uniclass", kernel="rbf", gamma=0.5, step="pa1", C=0.01, radius=0.25, budget=2, removal="oldest"
    )
    rng = np.random.default_rng(4)
    for x in rng.normal(size=(60, 2)):
        learner.learn(x)
    assert learner.statistics.removals > 30
    assert learner.dual_coef().sum() == pytest.approx(1, abs=1e-12)


def test_an_adaptive_ball_keeps_one(kind):
    """A radius that covers everything: nobody is needed but the last."""
    learner = make(kind, "uniclass", kernel="linear", step="pa2", C=0.5, radius=3.0, budget="adaptive")
    learn(learner, ([0.0],), ([4.0],))  # w = 0.5; the spares are -1: both stay
    assert learner.support == [0, 1]
    learner.learn([2.0])
    learner.learn([4.25])  # 3.75 off
    assert 1 <= len(learner.support) <= 3
    assert learner.dual_coef().sum() == pytest.approx(1)


# --- the margin beta -------------------------------------------------------------------------------------------------


def test_the_default_of_beta(kind):
    """0 for the perceptron without a budget, 0.01 with one, and for MIRA."""
    for budget, updates in [(None, 1), (5, 2), ("adaptive", 2)]:
        learner = make(kind, "classification", budget=budget, **PERCEPTRON)
        learn(learner, ([1.0, 0.0], 1), ([2.0**-7, 1.0], 1))  # the margin is 0.0078
        assert learner.statistics.updates == updates
    for budget in (None, 5, "adaptive"):
        learner = make(kind, "classification", kernel="linear", selection="mira", k=3, budget=budget)
        learn(learner, ([1.0], 0))
        assert learner.statistics.loss == 0.01


def test_a_beta_above_the_margin_moves_without_a_loss(kind):
    learner = make(kind, "classification", beta=4.0, **PERCEPTRON)
    learn(learner, ([2.0], 1), ([2.0], 1))
    assert learner.dual_coef().tolist() == [1.0, 1.0]
    assert (learner.statistics.loss, learner.statistics.mistakes) == (1.0, 1)
    assert learner.statistics.progress == (2 - 4) - 4  # tau (2 l - tau q)


def test_uniform_takes_all_pairs_up_to_beta(kind):
    learner = make(kind, "classification", selection="uniform", beta=1.0, k=3, **PERCEPTRON)
    learn(learner, ([1.0], 0))
    assert learner.dual_coef().T.tolist() == [[1.0, -0.5, -0.5]]
    learner.learn([0.5], 0)  # the margins are 0.75: both
    assert learner.dual_coef().T.tolist() == [[1.0, -0.5, -0.5]] * 2
    learner.learn([1.0, 1.0][:1], 0)  # 2.25
    assert learner.statistics.updates == 2


# --- weights and numbers ------------------------------------------------------------------------------------


def test_what_weighs_nothing_has_a_number(kind):
    learner = make(kind, "classification", beta=9.0, **PERCEPTRON)
    learn(learner, ([1.0], 1, 0.0), ([1.0], 1), ([1.0], 1, 0.0), ([2.0], -1, 0.5))
    assert (learner.support, learner.dual_coef().tolist()) == ([1, 3], [1.0, -0.5])
    learner = make(kind, "uniclass", kernel="linear", radius=1.0)
    learn(learner, ([5.0], None, 0.0), ([1.0],))
    assert learner.support == [1]


@pytest.mark.parametrize("budget", [None, 3, "adaptive"])
def test_a_learner_that_knows_nothing(kind, budget):
    learner = make(kind, "classification", kernel="linear", budget=budget)
    assert learner.support == []
    assert learner.dual_coef().shape == (0,)
    learner = make(kind, "classification", kernel="linear", budget=budget, k=K)
    assert learner.dual_coef().shape == (K, 0)


def test_far_away_is_forgotten_not_refused(kind):
    """exp underflows to 0: such a support says nothing."""
    learner = make(kind, "classification", kernel="rbf", gamma=1.0, step="pa")
    learn(learner, ([0.0], 1), ([1e6], -1))
    assert learner.dual_coef().tolist() == [1.0, -1.0]
    assert learner.scores([1e12]) == 0.0
    assert math.isclose(learner.scores([1.0]), math.exp(-1))


def test_the_pairs_of_steps_and_budgets_that_end_alike(kind):
    """A cache as large as the stream is no budget."""
    stream = [([float(x), 1.0], 1 if x % 3 else -1) for x in range(8)]
    for step, kernel in itertools.product(["pa", "pa1", "pa2"], KERNELS):
        free, roomy = (
            learn(make(kind, "classification", step=step, budget=budget, **KERNELS[kernel]), *stream)
            for budget in (None, 8)
        )
        assert free.support == roomy.support
        assert free.dual_coef().tolist() == roomy.dual_coef().tolist()


@pytest.mark.parametrize("budget", [1, 5, "adaptive"])
@pytest.mark.parametrize("task", ["classification", "regression", "uniclass", "ordinal"])
def test_no_average_on_a_budget(kind, task, budget):
    k = 3 if task == "ordinal" else None
    with pytest.raises(ValueError, match=r"average|vectors of the past"):
        make(kind, task, k=k, kernel="linear", budget=budget, average=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("container", ["dense", "csr"])
def test_far_from_the_origin_distances_keep_their_digits(dtype, container):
    """|x|^2 + |z|^2 - 2 x.z would be all rounding."""
    offset = 1e8 if dtype == "float64" else 4096.0
    points = offset + np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 4.0]])
    learner = hinge.Learner(
        "classification", kernel="rbf", gamma=0.1, fit_intercept=False, dtype=dtype, classes=[0, 1]
    )
    rows = scipy.sparse.csr_matrix(points) if container == "csr" else points
    learner.learn(rows[:1], [1])
    expected = float(learner.dual_coef[0]) * np.exp(-0.1 * np.array([0.0, 1.0, 25.0]))
    np.testing.assert_allclose(learner.scores(rows), expected, rtol=1e-12)
