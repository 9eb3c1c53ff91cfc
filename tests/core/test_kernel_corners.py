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
def test_instance_of_size_0_is_never_inserted(kind, step, budget):
    """S1: K(x, x) = 0. The loss is suffered; no support is removed for it."""
    learner = make(kind, "classification", kernel="linear", step=step, budget=budget, beta=0.5)
    learn(learner, ([1.0, 0.0], 1), ([0.0, 0.0], -1), ([0.0, 0.0], 1))
    assert learner.support == [0]
    assert counts(learner) == (3, 1, 1, 0)
    assert learner.statistics.loss == 3.0
    assert learner.statistics.mistakes == 3


@pytest.mark.parametrize("selection", ["max", "simproj", "conproj", "simperc", "mira", "prediction"])
def test_labels_of_an_instance_of_size_0_insert_nothing(kind, selection):
    learner = make(kind, "classification", kernel="linear", selection=selection, k=3, budget=1)
    learn(learner, ([1.0, 0.0], 1))
    learner.learn([0.0, 0.0], 2)
    assert learner.support == [0]
    assert counts(learner) == (2, 1, 1, 0)


@pytest.mark.parametrize("kernel", ["poly", "rbf"])
def test_zeros_are_inserted_with_other_kernels(kind, kernel):
    learner = learn(make(kind, "classification", **KERNELS[kernel]), ([0.0, 0.0], 1))
    assert learner.support == [0]
    assert learner.dual_coef().tolist() == [1.0]


def test_intercept_gives_zeros_a_size(kind):
    learner = learn(make(kind, "classification", kernel="linear", step="pa", fit_intercept=True), ([0.0], 1))
    assert (learner.support, learner.dual_coef().tolist()) == ([0], [1.0])
    assert learner.scores([5.0]) == 1.0


def test_zeros_move_the_thresholds_of_ranks(kind):
    """The constraint has the size K(x, x) + 1."""
    learner = make(kind, "ordinal", kernel="linear", step="pa", selection="simproj", k=3)
    learn(learner, ([0.0, 0.0], 1))
    assert (learner.support, learner.dual_coef().tolist()) == ([0], [0.0])
    assert np.array(learner.thresholds).tolist() == [-0.5, 0.5]


def test_centre_may_be_at_0(kind):
    learner = make(kind, "uniclass", kernel="linear", step="pa", radius=1.0)
    learn(learner, ([0.0, 0.0],), ([4.0, 0.0],))
    assert (learner.support, learner.dual_coef().tolist()) == ([0, 1], [0.25, 0.75])
    assert learner.scores([3.0, 1.0]) == 0.0


# --- the same example again --------------------------------------------------------------------------------------


def test_equal_examples_of_a_stream_are_separate_supports(kind):
    learner = learn(make(kind, "classification", beta=2.0, **PERCEPTRON), *[([1.0], 1)] * 4)
    assert learner.support == [0, 1, 2]  # the fourth has the margin 3
    assert learner.dual_coef().tolist() == [1.0, 1.0, 1.0]


def test_oldest_of_duplicates_is_removed(kind):
    """With three in the cache each has the slack 2 - 2 = 0; then 1 - 2 < 0."""
    learner = learn(
        make(kind, "classification", budget="adaptive", beta=2.0, **PERCEPTRON), *[([1.0], 1)] * 3
    )
    assert learner.support == [2, 1]
    learner.learn([1.0], 1)  # the margin is 2: it comes, and the oldest, 1, goes
    assert learner.support == [2, 3]
    assert counts(learner) == (4, 4, 4, 2)


@pytest.mark.parametrize("removal", ["largest", "oldest"])
def test_oldest_of_a_full_cache_of_duplicates_is_removed(kind, removal):
    learner = make(kind, "classification", budget=2, removal=removal, beta=9.0, **PERCEPTRON)
    expected = [[0], [0, 1], [1, 2], [2, 3], [3, 4]]
    for support in expected:
        learner.learn([1.0], 1)
        assert sorted(learner.support) == support


def test_age_decides_ties_not_the_place_in_the_cache(kind):
    """After the removal of 0, 2 precedes 1; both have the same slack, and 1 is older."""
    learner = make(kind, "classification", budget=3, beta=99.0, **PERCEPTRON)
    learn(learner, *[([1.0], 1)] * 4)
    assert learner.support == [2, 1, 3]
    learner.learn([1.0], 1)
    assert learner.support == [2, 3, 4]


# --- budgets of one, and rounds that remove everything -------------------------------------------------------------


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_budget_of_one_steps_from_0(kind, step):
    """Each new support is the first: its step is that from w = 0."""
    learner = make(kind, "classification", kernel="linear", step=step, budget=1, C=0.25, beta=0.5)
    for t, (x, y) in enumerate([(2.0, 1), (-2.0, 1), (2.0, -1), (-4.0, -1)][:3]):
        learner.learn([x], y)
        assert learner.support == [t] if t < 2 else learner.support in ([1], [2])
    tau = {"pa": 0.25, "pa1": 0.25, "pa2": 1 / 6, "perceptron": 1.0}[step]
    assert abs(learner.dual_coef()[0]) == pytest.approx(tau)


def test_round_may_remove_all_supports(kind):
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
def test_round_may_remove_several_supports(kind, removal):
    """w = (5, 30): (1, 0) twice, each with the margin 5 - 1 without itself, and the new one with 2 = beta. The oldest
    of two goes; then w = (4, 30) and the margins are 3 and 1; then only the new one is left."""
    learner = make(kind, "classification", budget="adaptive", removal=removal, beta=2.0, **PERCEPTRON)
    learn(learner, ([1.0, 0.0], 1), ([1.0, 0.0], 1))
    assert learner.support == [0, 1]
    learner.learn([1.0, 10.0], 1, 3.0)
    assert (learner.support, learner.dual_coef().tolist()) == ([2], [3.0])
    assert counts(learner) == (3, 3, 3, 2)


def test_new_support_may_be_removed_itself(kind):
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


def test_support_without_relevant_labels_is_removed_first(kind):
    """No label is relevant: only the learned threshold moved for it. Its slack is that of the threshold."""
    options = {"kernel": "linear", "step": "pa", "k": 3, "budget": 1, "threshold": "learned"}
    learner = learn(make(kind, "multilabel", **options), ([1.0], frozenset()), ([1.0], frozenset({1})))
    assert learner.support == [1]
    assert counts(learner) == (2, 1, 2, 1)


@pytest.mark.parametrize("truth", [frozenset(), frozenset(range(3))])
def test_example_with_nothing_to_rank_changes_nothing(kind, truth):
    learner = make(kind, "multilabel", kernel="linear", k=3, budget=1)
    learn(learner, ([1.0], frozenset({1})), ([2.0], truth))
    assert learner.support == [0]
    assert counts(learner) == (2, 1, 1, 0)
    assert learner.statistics.largest_q == 8.0


def test_labels_of_cost_0_are_not_constraints(kind):
    """Label 0 may be confused with 1 at no cost: the only constraint is the lead over 2."""
    cost = [[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    learner = make(kind, "classification", kernel="linear", step="pa", k=3, cost=cost, budget="adaptive")
    learn(learner, ([1.0], 2), ([1.0], 0))
    assert learner.support == [1]
    assert learner.dual_coef().T.tolist() == [[0.5, 0.0, -0.5]]


# --- centres ------------------------------------------------------------------------------------------------


def test_ball_with_one_support_leaves_the_origin(kind):
    """Without its only support the centre is 0: x = 3 is 3 - 1 off, lam = 2/3."""
    learner = make(kind, "uniclass", kernel="linear", step="pa", radius=1.0, budget=1)
    learn(learner, ([8.0],), ([3.0],))
    assert learner.support == [1]
    assert learner.dual_coef()[0] == pytest.approx(2 / 3)
    assert counts(learner) == (1, 1, 2, 1)
    learner.learn([-1.0])  # 3 off before, 1 off after the victim has gone: it stays away
    assert (learner.support, counts(learner)) == ([], (2, 1, 2, 2))
    assert learner.scores([0.25]) == 0.75


def test_older_end_of_a_diameter_is_removed(kind):
    """Each is, without itself, as far from the other."""
    learner = make(kind, "uniclass", kernel="linear", step="pa", radius=1.0, budget=2)
    learn(learner, ([0.0],), ([2.0],), ([8.0],))  # w = 1; without 0 it is 2, and 8 is 6 off: lam = 5/6
    assert learner.support == [1, 2]
    assert learner.dual_coef() == pytest.approx([1 / 6, 5 / 6])


def test_centre_stays_a_mean_after_many_removals(kind):
    """1 - c_i is the share of the others. A difference would lose digits with each removal."""
    learner = make(
        kind, "uniclass", kernel="rbf", gamma=0.5, step="pa1", C=0.01, radius=0.25, budget=2, removal="oldest"
    )
    rng = np.random.default_rng(4)
    for x in rng.normal(size=(60, 2)):
        learner.learn(x)
    assert learner.statistics.removals > 30
    assert learner.dual_coef().sum() == pytest.approx(1, abs=1e-12)


def test_adaptive_ball_keeps_one_support(kind):
    """The radius covers everything: only the latest support is needed."""
    learner = make(kind, "uniclass", kernel="linear", step="pa2", C=0.5, radius=3.0, budget="adaptive")
    learn(learner, ([0.0],), ([4.0],))  # w = 0.5; the spares are -1: both stay
    assert learner.support == [0, 1]
    learner.learn([2.0])
    learner.learn([4.25])  # 3.75 off
    assert 1 <= len(learner.support) <= 3
    assert learner.dual_coef().sum() == pytest.approx(1)


# --- the margin beta -------------------------------------------------------------------------------------------------


def test_default_of_beta_depends_on_step_and_budget(kind):
    """0 for the perceptron without a budget, 0.01 with one, and for MIRA."""
    for budget, updates in [(None, 1), (5, 2), ("adaptive", 2)]:
        learner = make(kind, "classification", budget=budget, **PERCEPTRON)
        learn(learner, ([1.0, 0.0], 1), ([2.0**-7, 1.0], 1))  # the margin is 0.0078
        assert learner.statistics.updates == updates
    for budget in (None, 5, "adaptive"):
        learner = make(kind, "classification", kernel="linear", selection="mira", k=3, budget=budget)
        learn(learner, ([1.0], 0))
        assert learner.statistics.loss == 0.01


def test_beta_above_the_margin_moves_without_a_loss(kind):
    learner = make(kind, "classification", beta=4.0, **PERCEPTRON)
    learn(learner, ([2.0], 1), ([2.0], 1))
    assert learner.dual_coef().tolist() == [1.0, 1.0]
    assert (learner.statistics.loss, learner.statistics.mistakes) == (1.0, 1)
    assert learner.statistics.progress == (2 - 4) - 4  # tau (2 l - tau q)


def test_uniform_selection_takes_all_pairs_up_to_beta(kind):
    learner = make(kind, "classification", selection="uniform", beta=1.0, k=3, **PERCEPTRON)
    learn(learner, ([1.0], 0))
    assert learner.dual_coef().T.tolist() == [[1.0, -0.5, -0.5]]
    learner.learn([0.5], 0)  # the margins are 0.75: both
    assert learner.dual_coef().T.tolist() == [[1.0, -0.5, -0.5]] * 2
    learner.learn([1.0, 1.0][:1], 0)  # 2.25
    assert learner.statistics.updates == 2


# --- weights and numbers ------------------------------------------------------------------------------------


def test_example_of_weight_0_has_a_number(kind):
    learner = make(kind, "classification", beta=9.0, **PERCEPTRON)
    learn(learner, ([1.0], 1, 0.0), ([1.0], 1), ([1.0], 1, 0.0), ([2.0], -1, 0.5))
    assert (learner.support, learner.dual_coef().tolist()) == ([1, 3], [1.0, -0.5])
    learner = make(kind, "uniclass", kernel="linear", radius=1.0)
    learn(learner, ([5.0], None, 0.0), ([1.0],))
    assert learner.support == [1]


@pytest.mark.parametrize("budget", [None, 3, "adaptive"])
def test_learner_without_supports_scores_0(kind, budget):
    learner = make(kind, "classification", kernel="linear", budget=budget)
    assert learner.support == []
    assert learner.dual_coef().shape == (0,)
    learner = make(kind, "classification", kernel="linear", budget=budget, k=K)
    assert learner.dual_coef().shape == (K, 0)


def test_distant_support_contributes_0(kind):
    """exp underflows to 0."""
    learner = make(kind, "classification", kernel="rbf", gamma=1.0, step="pa")
    learn(learner, ([0.0], 1), ([1e6], -1))
    assert learner.dual_coef().tolist() == [1.0, -1.0]
    assert learner.scores([1e12]) == 0.0
    assert math.isclose(learner.scores([1.0]), math.exp(-1))


def test_budget_as_large_as_the_stream_changes_nothing(kind):
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
def test_average_with_a_budget_is_rejected(kind, task, budget):
    k = 3 if task == "ordinal" else None
    with pytest.raises(ValueError, match=r"average|vectors of the past"):
        make(kind, task, k=k, kernel="linear", budget=budget, average=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("container", ["dense", "csr"])
def test_distances_far_from_the_origin_keep_their_digits(dtype, container):
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
