"""The twin of kernels against the twins of weights, and on examples worked out by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hinge
import reference_labels
from kernel_streams import COST, LABEL_PAIRS, NU, RANK_PAIRS, WIDTH, K, close, events
from reference import Reference
from reference_kernels import KernelReference

FIELDS = ("rounds", "mistakes", "updates", "loss", "squared_loss", "largest_q", "progress", "cost")


def same_statistics(twin, weights):
    for name in FIELDS:
        close(getattr(twin.statistics, name), getattr(weights.statistics, name), name)


def play(task, twin, weights, seed, weighted=True, count=36, k=None):
    """Learns a stream with both; yields after each round."""
    for x, y, weight in events(task, np.random.default_rng(seed), count, weighted, k):
        twin.learn(x, y, weight)
        weights.learn(x, y, weight)
        same_statistics(twin, weights)
        yield np.random.default_rng(seed + 1).normal(size=WIDTH)
    assert twin.statistics.updates >= 5


# --- kernel='linear' is the learner of weights ------------------------------------------------------------

ONE_W = [
    ("classification", step, {"fit_intercept": fit_intercept, "margin": 0.7})
    for step, fit_intercept in itertools.product(("pa", "pa1", "pa2", "perceptron"), (False, True))
] + [
    ("regression", step, {"fit_intercept": fit_intercept, "epsilon": 0.2})
    for step, fit_intercept in itertools.product(("pa", "pa1", "pa2"), (False, True))
]
BALLS = [
    ("uniclass", step, options)
    for step, options in itertools.product(
        ("pa", "pa1", "pa2"),
        (
            {"radius": 0.9},
            {"radius": 0.9, "w1": "zero"},
            {"max_radius": 2.5},
            {"max_radius": 2.5, "w1": "zero"},
        ),
    )
]


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("task", "step", "options"), ONE_W + BALLS, ids=str)
def test_kernel_linear_equals_one_w(task, step, options, average):
    twin = KernelReference(task, step=step, C=0.7, average=average, **options)
    weights = Reference(task, step=step, C=0.7, average=average, **options)
    for x in play(task, twin, weights, seed=50):
        if weights.state is None:
            continue
        if task == "uniclass":
            close(twin.scores(x), weights.radius - weights.score(x), "score")
            expected = weights.average_radius - np.linalg.norm(x - weights.average_w)
        else:
            close(twin.scores(x), weights.score(x), "score")
            expected = weights.average_w @ x + weights.average_intercept
        if average:
            close(twin.scores(x, averaged=True), expected, "average")


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("selection", "step"), LABEL_PAIRS)
@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_kernel_linear_equals_labels(task, selection, step, fit_intercept, average):
    options = {"selection": selection, "step": step, "C": 0.4, "margin": 0.7, "beta": 0.3, "average": average}
    if selection in ("conproj", "simproj") and step == "pa1":
        options["nu"] = NU
    if step == "perceptron":
        options["beta"] = 0.0
    threshold = "learned" if task == "multilabel" and average else 0.0
    twin = KernelReference(task, k=K, fit_intercept=fit_intercept, threshold=threshold, **options)
    weights = reference_labels.make("labels", K, fit_intercept=fit_intercept, **options)
    compare_labels(task, twin, weights, average)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("selection", ["max", "prediction"])
def test_kernel_linear_equals_costs(selection, step, average):
    options = {"selection": selection, "step": step, "C": 0.4, "cost": COST, "average": average}
    twin = KernelReference("classification", k=K, **options)
    weights = reference_labels.make("labels", K, **options)
    compare_labels("classification", twin, weights, average)


def compare_labels(task, twin, weights, average):
    for x in play(task, twin, weights, seed=51, k=K):
        if weights.state is not None:
            close(twin.scores(x), weights.scores(x), "scores")
        if weights.state is not None and average:
            expected = weights.average_W @ x + weights.average_intercepts
            close(twin.scores(x, averaged=True), expected, "averages")


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sort_thresholds", [None, False, True])
@pytest.mark.parametrize(("selection", "step"), RANK_PAIRS)
def test_kernel_linear_equals_ranks(selection, step, sort_thresholds, average):
    options = {"selection": selection, "step": step, "sort_thresholds": sort_thresholds}
    options |= {"C": 0.4, "margin": 0.7, "average": average}
    twin = KernelReference("ordinal", k=K, **options)
    weights = reference_labels.make("ordinal", K, **options)
    for x in play("ordinal", twin, weights, seed=52, k=K):
        if weights.state is None:
            continue
        close(twin.scores(x), weights.score(x), "score")
        close(twin.thresholds, weights.thresholds, "thresholds")
        if average:
            close(twin.scores(x, averaged=True), weights.average_w @ x, "average")
            close(twin.average_thresholds, weights.average_thresholds, "average of the thresholds")


@pytest.mark.parametrize(("selection", "step"), [("max", "pa"), ("max", "pa2"), ("uniform", "perceptron")])
def test_kernel_linear_equals_the_learned_threshold(selection, step):
    options = {"selection": selection, "step": step, "C": 0.4, "margin": 0.7, "threshold": "learned"}
    twin = KernelReference("multilabel", k=K, fit_intercept=True, **options)
    weights = hinge.Learner("multilabel", classes=list(range(K)), fit_intercept=True, **options)
    for x, y, weight in events("multilabel", np.random.default_rng(53), 40, True, K):
        twin.learn(x, y, weight)
        weights.learn(x[None], [y], sample_weight=[weight])
        close(twin.threshold_score(x), weights.lanes(x[None])[0, 0], "threshold")
        close(twin.scores(x), weights.scores(x[None])[0], "scores")


# --- by hand ----------------------------------------------------------------------------------------------


def test_orthonormal_instances_are_kept():
    """S14: each is inserted, and d_i = 0 of all: none qualifies if beta is above that."""
    n = 5
    twin = KernelReference("classification", step="perceptron", budget="adaptive", beta=0.0)
    for i, x in enumerate(np.eye(n)):
        twin.learn(x, 1 if i % 2 else -1)
    assert twin.support == []  # beta = 0: d_i = 0 qualifies
    twin = KernelReference("classification", step="perceptron", budget="adaptive", beta=0.25)
    for i, x in enumerate(np.eye(n)):
        twin.learn(x, 1 if i % 2 else -1)
    assert twin.support == list(range(n))
    assert twin.dual_coef().tolist() == [-1, 1, -1, 1, -1]


def test_a_large_example_makes_others_removable():
    """w = 1 + 3 = 4 after two: d = 4 - 1 = 3 and 12 - 9 = 3 tie, the oldest goes; then d = 9 - 9 = 0 < beta."""
    stream = [([1.0], 1), ([3.0], 1)]
    options = {"step": "perceptron", "budget": "adaptive", "beta": 3.0}
    for removal in ("largest", "oldest"):
        twin = KernelReference("classification", removal=removal, **options)
        for x, y in stream:
            twin.learn(x, y)
        assert twin.log == [("insertion", 0), ("insertion", 1), ("removal", 0)]
        assert (twin.support, twin.scores([1.0])) == ([1], 3.0)


def test_removal_takes_the_largest_or_the_oldest():
    """w = (3, 1): d = 3 - 1 = 2 for x_0 = (1, 0), 6 - 4 = 2 for x_1 = (2, 0), 1 - 1 = 0 for x_2 = (0, 1)."""
    options = {"step": "perceptron", "beta": 5.0}
    X = [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.5]]
    for removal, expected in [("largest", [2, 1, 3]), ("oldest", [2, 1, 3])]:
        twin = KernelReference("classification", budget=3, removal=removal, **options)
        for x in X:
            twin.learn(x, 1)
        assert twin.support == expected  # the last one is in the place of the one that left
    X[0] = [-1.0, 0.0]  # now d_0 = -1 - 1, d_1 = 2 - 4, d_2 = 0
    for removal, expected in [("largest", [0, 1, 3]), ("oldest", [2, 1, 3])]:
        twin = KernelReference("classification", budget=3, removal=removal, **options)
        for x in X:
            twin.learn(x, 1)
        assert twin.support == expected


def test_a_fixed_budget_decides_again_after_a_removal():
    """PA with room for one: x_1 = (1, 1) scores 1/2 with x_0 and 0 without; its step is 1/2 of itself."""
    twin = KernelReference("classification", step="pa", budget=1)
    twin.learn([2.0, 0.0], 1)
    assert twin.dual_coef().tolist() == [0.25]
    twin.learn([1.0, 1.0], 1)
    assert (twin.support, twin.dual_coef().tolist()) == ([1], [0.5])
    s = twin.statistics
    assert (s.loss, s.mistakes, s.updates, s.insertions, s.removals) == (1.0 + 0.5, 1, 2, 2, 1)
    assert s.progress == 0.25 * (2 - 0.25 * 4) + 0.5 * (2 - 0.5 * 2)


def test_the_removed_support_is_gone_even_if_none_is_inserted():
    """y = 0.9 with f = 2 is off; without the support f = 0 is within 1 of it: nothing is inserted."""
    twin = KernelReference("regression", step="pa", budget=1, epsilon=1.0)
    twin.learn([1.0], 3.0)
    twin.learn([1.0], 0.9)
    assert twin.log == [("insertion", 0), ("removal", 0)]
    assert (twin.statistics.updates, twin.statistics.mistakes, twin.scores([1.0])) == (1, 2, 0.0)


def test_a_perceptron_does_not_decide_again_after_a_removal():
    """f = 0 after the victim is gone; before it was wrong: the step is 1 either way. A pair of labels is the first."""
    twin = KernelReference("classification", step="perceptron", budget=1, k=3, beta=0.0)
    twin.learn([1.0], 0)  # 0 above 1
    twin.learn([1.0], 1)  # 0 leads: 1 above 0
    twin.learn([1.0], 2)  # 1 leads with +1, 0 has -1: 2 above 1, though without the victim it would be 0
    assert twin.dual_coef().T.tolist() == [[0.0, -1.0, 1.0]]


def test_removing_an_instance_of_a_ball_moves_its_centre():
    """The first at 0, then 2: lam = (2 - 1)/2, w = 1. Without 0: w' = 2; without 2: w' = 0."""
    options = {"step": "pa", "radius": 1.0}
    twin = KernelReference("uniclass", budget=2, **options)
    twin.learn([0.0])
    twin.learn([2.0])
    assert (twin.slack(0), twin.slack(1)) == (-1.0, -1.0)
    twin.learn([2.5])  # w = 1 is 1.5 off; the oldest goes: w' = 2, and 2.5 is in the ball
    assert twin.log[-1] == ("removal", 0)
    assert (twin.support, twin.dual_coef().tolist()) == ([1], [1.0])
    assert (twin.statistics.mistakes, twin.statistics.updates, twin.statistics.loss) == (2, 1, 1.5)


def test_the_last_support_of_a_ball_is_kept():
    twin = KernelReference("uniclass", step="pa", radius=1.0, budget="adaptive")
    for x in ([0.0], [3.0], [0.5]):
        twin.learn(x)
    assert len(twin.support) >= 1
    first = KernelReference("uniclass", step="pa", radius=5.0, budget="adaptive")
    first.learn([1.0])
    assert first.support == [0]


def test_a_repeated_row_is_the_same_support():
    twin = KernelReference("classification", step="perceptron", budget=1, beta=5.0)
    for _ in range(3):
        twin.learn([1.0], 1, row=7)
    assert twin.log == [("insertion", 7)]
    assert twin.dual_coef().tolist() == [3.0]


def test_removing_an_example_of_ranks_removes_its_thresholds():
    twin = KernelReference("ordinal", k=3, step="pa", selection="simproj", budget=1)
    for t, (x, y) in enumerate([([1.0], 2), ([-1.0], 0), ([2.0], 1)]):
        twin.learn(x, y)
        assert twin.support == [t]
        close(twin.thresholds, -twin.coefficients[0], "thresholds")
