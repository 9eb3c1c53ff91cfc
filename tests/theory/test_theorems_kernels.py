"""The theorems of S3, S4 and S14 in feature space: the bounds of a cache, of updates, and of mistakes.

A comparator is u = sum_i a_i K(z_i, .): u.x = sum_i a_i K(z_i, x) and |u|^2 = a'Ga, G the matrix of K(z_i, z_j).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from kernel_streams import KERNELS, K, Ours, close, make
from reference_kernels import KernelReference, kernel_function
from theorem_streams import check, eighths

KINDS = ("learner", "reference")
SLACK = 1 + 1e-9
BETAS = (0.0, 0.01, 0.5, 3.0)


@dataclass
class Stream:
    """Examples with a comparator in feature space, whose scores are u.x."""

    X: np.ndarray
    y: np.ndarray
    scores: np.ndarray
    norm: float  # |u|
    sizes: np.ndarray  # K(x, x)
    options: dict

    @property
    def R2(self):
        return self.sizes.max()

    @property
    def unit_margin(self):
        """g of the comparator u/|u|."""
        return (self.y * self.scores).min() / self.norm

    def losses(self, margin=1.0):
        return np.maximum(0, margin - self.y * self.scores)


@st.composite
def streams(draw, separable, kernels=tuple(KERNELS), largest=2):
    """Labels of u if `separable`; scores near 0 are left out then."""
    kernel = draw(st.sampled_from(kernels))
    options = {**KERNELS[kernel], "fit_intercept": draw(st.booleans()), "intercept_value": 1.0}
    n, rounds = draw(st.integers(1, 3)), draw(st.integers(1, 25))
    X = draw(arrays(float, (rounds, n), elements=eighths(largest)))
    Z = draw(arrays(float, (draw(st.integers(1, 3)), n), elements=eighths(largest)))
    a = draw(arrays(float, len(Z), elements=eighths(2)))
    defaults = {"degree": 3, "gamma": 1.0, "coef0": 0.0, **KERNELS[kernel]}
    function = kernel_function(**defaults)
    constant = float(options["fit_intercept"])
    square = a @ (function(Z, Z) + constant) @ a
    assume(square > 1e-6)
    scores = (function(X, Z) + constant) @ a
    y = np.where(scores > 0, 1, -1)
    if separable:
        keep = np.abs(scores) > 1e-2 * np.sqrt(square)
        assume(keep.any())
        X, y, scores = X[keep], y[keep], scores[keep]
    else:
        y = draw(arrays(int, rounds, elements=st.sampled_from([-1, 1])))
    sizes = np.diag(function(X, X)) + constant
    return Stream(X, y, scores, math.sqrt(square), sizes, options)


def play(learner, stream):
    """Yields after each round."""
    for x, y in zip(stream.X, stream.y, strict=True):
        learner.learn(x, int(y))
        yield


# --- the cache (S14) ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("removal", ["largest", "oldest"])
@pytest.mark.parametrize("beta", BETAS[1:])  # with beta = 0 nothing is ever kept: that is rejected
def test_the_cache_is_bounded_at_all_times(kind, removal, beta):
    """|cache| <= (R2 + 2 beta)/g^2."""

    def holds(stream):
        options = {"step": "perceptron", "budget": "adaptive", "removal": removal, "beta": beta}
        learner = make(kind, "classification", **options, **stream.options)
        bound = (stream.R2 + 2 * beta) / stream.unit_margin**2
        for _ in play(learner, stream):
            assert len(learner.support) <= bound * SLACK
        s = learner.statistics
        assert s.insertions == s.updates
        assert s.insertions - s.removals == len(learner.support)

    check(kind, streams(separable=True), holds)


class AnyOrder(KernelReference):
    """Removes those that qualify in a random order."""

    def __init__(self, rng, *arguments, **options):
        super().__init__(*arguments, **options)
        self.rng = rng

    def choice(self, candidates):
        return candidates[self.rng.integers(len(candidates))][0]


@pytest.mark.parametrize("beta", BETAS)
def test_the_cache_is_bounded_for_any_order_of_removals(beta):
    def holds(example):
        stream, seed = example
        options = {"step": "perceptron", "budget": "adaptive", "beta": beta, **stream.options}
        learner = AnyOrder(np.random.default_rng(seed), "classification", **options)
        bound = (stream.R2 + 2 * beta) / stream.unit_margin**2
        for _ in play(learner, stream):
            assert len(learner.support) <= bound * SLACK

    check("reference", st.tuples(streams(separable=True), st.integers(0, 2**32)), holds)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", [{"kernel": "linear"}, {"kernel": "poly", "gamma": 1.0, "degree": 3}])
@pytest.mark.parametrize("n", [1, 4, 9])
def test_orthonormal_instances_reach_the_bound(kind, kernel, n):
    """u = sum y_i x_i/sqrt(n) has the margin 1/sqrt(n): the bound n (1 + 2 beta) tends to n, and n are kept."""
    for beta in (1e-3, 1e-9):
        learner = make(kind, "classification", step="perceptron", budget="adaptive", beta=beta, **kernel)
        for i, x in enumerate(np.eye(n)):
            learner.learn(x, 1 if i % 3 else -1)
            assert learner.support == list(range(i + 1))
        assert len(learner.support) == math.floor(n * (1 + 2 * beta))


@pytest.mark.parametrize("kind", KINDS)
def test_instances_far_apart_reach_the_bound_of_rbf(kind):
    """They are as good as orthonormal: K = exp(-100)."""
    n, beta = 6, 1e-3
    learner = make(
        kind, "classification", step="perceptron", budget="adaptive", beta=beta, kernel="rbf", gamma=1.0
    )
    for i in range(n):
        learner.learn([10.0 * i], 1 if i % 2 else -1)
    assert learner.support == list(range(n))


# --- updates (S4) ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("beta", BETAS)
def test_the_updates_of_the_aggressive_perceptron_are_bounded(kind, beta):
    """Without a budget, u with y u.x >= g |u|: #updates <= (R2 + 2 beta)/g^2; all of them are kept."""

    def holds(stream):
        learner = make(kind, "classification", step="perceptron", beta=beta, **stream.options)
        for _ in play(learner, stream):
            assert len(learner.support) == learner.statistics.updates
        assert learner.statistics.updates <= (stream.R2 + 2 * beta) / stream.unit_margin**2 * SLACK
        assert learner.statistics.removals == 0

    check(kind, streams(separable=True), holds)


@pytest.mark.parametrize("kind", KINDS)
def test_the_aggressive_perceptron_moves_up_to_beta(kind):
    """S4 with the margin y w.x on the boundary: beta itself is not enough."""
    for second, moves in [(0.5, True), (0.5625, False)]:
        learner = make(kind, "classification", step="perceptron", beta=0.5, kernel="linear")
        learner.learn([1.0], 1)
        learner.learn([second], 1)
        assert learner.statistics.updates == 1 + moves
        assert learner.statistics.mistakes == 1


@pytest.mark.parametrize("kind", KINDS)
def test_the_mistakes_of_the_perceptron_are_bounded(kind):
    """S4, any u: with U = R2 |u|^2, M <= L + U/2 + sqrt(U L + U^2/4) and M <= (R |u| + sqrt(sum l*^2))^2."""

    def holds(stream):
        learner = make(kind, "classification", step="perceptron", **stream.options)
        for _ in play(learner, stream):
            pass
        losses, U = stream.losses(), stream.R2 * stream.norm**2
        L = losses.sum()
        mistakes = learner.statistics.mistakes
        assert mistakes <= (L + U / 2 + math.sqrt(U * L + U**2 / 4)) * SLACK
        assert mistakes <= (math.sqrt(U) + math.sqrt((losses**2).sum())) ** 2 * SLACK

    check(kind, streams(separable=False), holds)


# --- fixed budgets --------------------------------------------------------------------------------------------------

RULES = [
    ("classification", {"step": "perceptron"}),
    ("classification", {"step": "pa"}),
    ("classification", {"step": "pa2"}),
    ("classification", {"selection": "mira", "k": K}),
    ("classification", {"selection": "simproj", "k": K}),
    ("multilabel", {"selection": "uniform", "step": "perceptron", "k": K, "threshold": "learned"}),
    ("regression", {"step": "pa1"}),
    ("uniclass", {"radius": 0.5}),
    ("uniclass", {"max_radius": 1.0, "w1": "zero"}),
    ("ordinal", {"selection": "conproj", "k": K}),
]


@st.composite
def any_stream(draw, task, k):
    rounds, n = draw(st.integers(1, 15)), draw(st.integers(1, 3))
    X = draw(arrays(float, (rounds, n), elements=eighths(3)))
    if task == "uniclass":
        return X, [None] * rounds
    if task == "regression":
        return X, draw(st.lists(eighths(3), min_size=rounds, max_size=rounds))
    if task == "multilabel":
        return X, draw(st.lists(st.frozensets(st.integers(0, k - 1)), min_size=rounds, max_size=rounds))
    labels = st.sampled_from([-1, 1]) if k is None else st.integers(0, k - 1)
    return X, draw(st.lists(labels, min_size=rounds, max_size=rounds))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("removal", ["largest", "oldest"])
@pytest.mark.parametrize(("task", "options"), RULES, ids=str)
def test_a_fixed_budget_is_never_exceeded(kind, task, options, removal):
    setups = st.tuples(
        any_stream(task, options.get("k")), st.sampled_from([1, 2, 5]), st.sampled_from([*KERNELS])
    )

    def holds(setup):
        (X, y), budget, kernel = setup
        learner = make(kind, task, budget=budget, removal=removal, **options, **KERNELS[kernel])
        before = 0
        for x, truth in zip(X, y, strict=True):
            learner.learn(x, truth)
            size, s = len(learner.support), learner.statistics
            assert size <= budget
            assert size >= min(before, budget - 1)  # one may go though none comes
            assert s.insertions - s.removals == size == len(set(learner.support))
            before = size

    check(kind, setups, holds)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "options"), RULES, ids=str)
def test_an_adaptive_cache_keeps_no_support_with_slack(kind, task, options):
    """Removing goes on until none qualifies: the twin, in the same state, finds none."""

    def holds(setup):
        (X, y), kernel = setup
        options_ = {**options, "budget": "adaptive", **KERNELS[kernel]}
        learner, twin = make(kind, task, **options_), KernelReference(task, **options_)
        for x, truth in zip(X, y, strict=True):
            learner.learn(x, truth)
            twin.learn(x, truth)
            if kind == "learner" and learner.support != twin.support:
                return  # a tie that rounding decided
            slacks = [twin.slack(i) for i in range(len(twin.cache))]
            assert all(slack < 0 for slack in slacks) or len(slacks) == (task == "uniclass")

    check(kind, st.tuples(any_stream(task, options.get("k")), st.sampled_from([*KERNELS])), holds)


# --- the bounds of PA in feature space (S3) ---------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.1, 1.0, 5.0])
def test_the_bounds_of_pa_hold_in_feature_space(kind, C):
    """J06 Theorems 4 and 5, the sharper Theorem 4, the loss of PA-I and the master inequality, for any u."""

    def holds(stream):
        losses, R2 = stream.losses(), stream.R2
        first, second = (make(kind, "classification", step=s, C=C, **stream.options) for s in ("pa1", "pa2"))
        for learner in (first, second):
            for _ in play(learner, stream):
                pass
        L, squares, U = losses.sum(), (losses**2).sum(), stream.norm**2
        assert first.statistics.mistakes <= max(R2, 1 / C) * (U + 2 * C * L) * SLACK
        a = min(C, 1 / R2)
        assert first.statistics.mistakes <= (U + 2 * C * L) / (2 * a - a * a * R2) * SLACK
        sizes = first.statistics.updates * R2
        assert first.statistics.loss <= (L + U / (2 * C) + C / 2 * sizes) * SLACK
        assert first.statistics.progress <= (U + 2 * C * L) * SLACK
        assert second.statistics.squared_loss <= (R2 + 1 / (2 * C)) * (U + 2 * C * squares) * SLACK
        assert math.isclose(first.statistics.largest_q, R2)

    check(kind, streams(separable=False), holds)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_of_pa_holds_on_separable_streams(kind):
    """J06 Theorem 2: u without loss, sum l^2 <= R2 |u|^2."""

    def holds(stream):
        learner = make(kind, "classification", step="pa", **stream.options)
        for _ in play(learner, stream):
            pass
        needed = 1 / stream.unit_margin**2  # |u|^2 of the u whose smallest margin is 1
        assert learner.statistics.squared_loss <= stream.R2 * needed * SLACK
        assert learner.statistics.mistakes <= stream.R2 * needed * SLACK

    check(kind, streams(separable=True), holds)


@pytest.mark.parametrize("kind", KINDS)
def test_theorem_3_holds_for_rbf(kind):
    """J06 Theorem 3 applies to any stream: sum l^2 <= (|u| + 2 sqrt(sum l*^2))^2."""

    def holds(stream):
        stream.options["fit_intercept"] = False
        learner = make(kind, "classification", step="pa", **stream.options)
        for _ in play(learner, stream):
            pass
        assert learner.statistics.largest_q == 1.0
        bound = (stream.norm + 2 * math.sqrt((stream.losses() ** 2).sum())) ** 2
        assert learner.statistics.squared_loss <= bound * SLACK

    def without_intercept(stream):
        return not stream.options["fit_intercept"]

    check(kind, streams(separable=False, kernels=("rbf",)).filter(without_intercept), holds)


def test_the_learner_equals_the_twin_on_these_streams():
    """What the theorems are checked with is what is compared elsewhere."""

    def holds(stream):
        options = {"step": "pa2", "C": 0.7, **stream.options}
        ours, twin = Ours("classification", **options), KernelReference("classification", **options)
        for x, y in zip(stream.X, stream.y, strict=True):
            ours.learn(x, int(y))
            twin.learn(x, int(y))
        close(ours.statistics.squared_loss, twin.statistics.squared_loss, "squared loss")

    check("reference", streams(separable=False), holds)
