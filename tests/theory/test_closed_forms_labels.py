"""The closed forms for many labels and for ranks against a generic solver of their problems (S9, S10, S12, S13).

The problem of a round, or of one of its rows, with the rows a_j written down literally:

PA     min 1/2|v-w|^2                s.t. v.a_j >= b_j
PA-I   min 1/2|v-w|^2 + C xi         s.t. v.a_j >= b_j - nu_j xi, xi >= 0
PA-II  min 1/2|v-w|^2 + C xi^2       s.t. v.a_j >= b_j - nu_j xi
"""

from __future__ import annotations

import numpy as np
import pytest

from reference_labels import (
    label_rows,
    make,
    mask,
    mira_one,
    mira_set,
    ordinal_rows,
    prototype_rows,
    simultaneous,
)
from solvers import of_rows

STEPS = ("pa", "pa1", "pa2")
K, N = 4, 3


def instance(family, rng):
    x = rng.normal(size=(N, K) if family == "prototype" else N)
    return x * rng.choice([0.3, 1.0])


def target(family, rng, sets=True):
    """A rank, a label, or (sometimes) a set of labels."""
    if family == "ordinal" or not sets or rng.integers(3) == 0:
        return int(rng.integers(K))
    return frozenset(rng.choice(K, size=rng.integers(1, K), replace=False).tolist())


def rows_of(family, x, Y, fit_intercept=False):
    if family == "ordinal":
        return ordinal_rows(x, Y, K)
    return prototype_rows(x, Y) if family == "prototype" else label_rows(x, Y, K, fit_intercept)


def trained(family, rng, sets=True, **options):
    """A learner that has seen a few examples."""
    learner = make(family, K, **options)
    for _ in range(rng.integers(2, 6)):
        learner.learn(instance(family, rng), target(family, rng, sets))
    return learner


def coordinates(learner):
    return learner.state.ravel().copy()


CONSTANTS = [0.05, 0.2, 1.0]
FAMILIES = [("labels", False), ("labels", True), ("prototype", False), ("ordinal", False)]


def intercept(fit_intercept):
    return {"fit_intercept": True, "intercept_value": 1.0} if fit_intercept else {}


# --- one row: S9 and S10 -----------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    ("family", "fit_intercept", "selection"),
    [(*f, s) for f in FAMILIES for s in ("max", "prediction") if (f[0], s) != ("ordinal", "prediction")],
)
def test_the_step_projects_on_one_row(family, fit_intercept, selection, step):
    """S9: the most violated row, or that of the predicted label, alone."""
    rng = np.random.default_rng(1)
    moved = 0
    for _ in range(15):
        C, weight, margin = rng.choice(CONSTANTS), rng.choice([0.5, 1.0, 3.0]), rng.choice([0.5, 1.0])
        learner = trained(
            family, rng, step=step, C=C, margin=margin, selection=selection, **intercept(fit_intercept)
        )
        w, thresholds = coordinates(learner), K - 1 if family == "ordinal" else 0
        x, Y = instance(family, rng), target(family, rng)
        rows = rows_of(family, x, Y, fit_intercept)
        margins = rows @ w
        learner.learn(x, Y, weight)
        v = coordinates(learner)

        predicted = family != "ordinal" and np.argmax(scores_of(w, family, x, fit_intercept))
        if selection == "prediction" and mask(Y, K)[predicted]:
            assert np.array_equal(v, w)
            continue
        row = rows[[np.argmin(margins)]]
        problem = of_rows(step, w, row, margin, C * weight)
        if thresholds:  # the learner sorts them
            solution = problem.solution()
            solution[-thresholds:] = np.sort(solution[-thresholds:])
            np.testing.assert_allclose(v, solution, rtol=1e-6, atol=1e-6)
        else:
            problem.check(v)
        moved += not np.array_equal(v, w)
    assert moved >= 3


def scores_of(w, family, x, fit_intercept):
    """The scores of all labels, from the flattened weights."""
    if family == "prototype":
        return w @ x
    return w.reshape(K, -1) @ (np.append(x, 1.0) if fit_intercept else x)


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("selection", ["max", "prediction"])
@pytest.mark.parametrize("family", ["labels", "prototype"])
def test_a_cost_scales_the_margin_by_its_root(family, selection, step):
    """S10: the row of the label with the largest loss, or of the predicted one, with the root of its cost."""
    rng = np.random.default_rng(2)
    moved = 0
    for _ in range(15):
        C, cost = rng.choice(CONSTANTS), rng.choice([0.0, 0.25, 1.0, 3.0], size=(K, K))
        np.fill_diagonal(cost, 0.0)
        learner = trained(family, rng, sets=False, step=step, C=C, selection=selection, cost=cost)
        w, suffered = coordinates(learner), learner.statistics.cost
        x, y = instance(family, rng), int(rng.integers(K))
        scores = scores_of(w, family, x, False)
        others = [r for r in range(K) if r != y]
        rows, b = rows_of(family, x, y), np.sqrt(cost[y, others])
        losses = b - rows @ w
        learner.learn(x, y)
        v = coordinates(learner)

        assert learner.statistics.cost - suffered == pytest.approx(cost[y, np.argmax(scores)])
        assert cost[y, np.argmax(scores)] <= max(0.0, losses.max()) ** 2 + 1e-12  # rho <= l^2
        if selection == "prediction" and np.argmax(scores) == y:
            assert np.array_equal(v, w)
            continue
        j = np.argmax(losses) if selection == "max" else others.index(np.argmax(scores))
        of_rows(step, w, rows[[j]], b[[j]], C).check(v)
        moved += not np.array_equal(v, w)
    assert moved >= 4


# --- all rows with one slack: MIRA -------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["pa", "pa1"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("sets", [False, True])
def test_mira_solves_its_primal_problem(sets, fit_intercept, step):
    """S12.2, and for label sets: the primal problem with all of the rows."""
    rng = np.random.default_rng(3)
    moved = several = capped = 0
    for _ in range(25):
        C, weight, beta = (
            rng.choice([0.03, 0.1, 0.5]),
            rng.choice([0.5, 1.0, 2.0]),
            rng.choice([0.01, 0.5, 1.0]),
        )
        learner = trained(
            "labels",
            rng,
            sets,
            step=step,
            C=C,
            beta=beta,
            selection="mira",
            fit_intercept=fit_intercept,
            intercept_value=1.0,
        )
        w = coordinates(learner)
        x, Y = instance("labels", rng), target("labels", rng, sets)
        learner.learn(x, Y, weight)
        v = coordinates(learner)
        rows = label_rows(x, Y, K, fit_intercept)
        of_rows(step, w, rows, beta, C * weight).check(v)
        changed = np.abs(v - w).reshape(K, -1).max(axis=1) > 1e-9
        moved += changed.any()
        several += changed.sum() > 2
        capped += (rows @ v).min() < beta - 1e-6
    assert moved >= 10
    assert several >= 4
    assert (capped == 0) if step == "pa" else (capped >= 4)


def test_mira_for_sets_of_one_label_equals_mira():
    rng = np.random.default_rng(4)
    moved = 0
    for _ in range(300):
        k, A, beta = int(rng.integers(2, 7)), rng.exponential(), rng.choice([0.0, 0.01, 1.0])
        C = rng.choice([0.05, 0.5, np.inf])
        scores = rng.integers(-3, 4, size=k) * rng.choice([0.25, 0.1])  # ties are common
        y = int(rng.integers(k))
        tau = mira_one(scores, y, A, C, beta)
        np.testing.assert_allclose(tau, mira_set(scores, mask(y, k), A, C, beta), rtol=1e-9, atol=1e-12)
        assert tau.sum() == pytest.approx(0, abs=1e-12)
        assert tau[y] <= C
        assert (np.delete(tau, y) <= 0).all()
        moved += tau[y] > 0
    assert 100 < moved < 300


def test_mira_equals_its_fixed_point():
    """S12.2: theta <- (sum_r max(theta, b_r) - C)/k ends at the theta of the sort method."""
    rng = np.random.default_rng(5)
    for _ in range(50):
        k, A, beta, C = int(rng.integers(2, 6)), rng.exponential(), rng.exponential(), rng.exponential()
        scores, y = rng.normal(size=k), int(rng.integers(k))
        D = (scores - beta * (np.arange(k) == y)) / A
        c = np.where(np.arange(k) == y, C, 0.0)
        theta = (D + c).max()
        for _ in range(2000):
            theta = (np.maximum(theta, D + c).sum() - C) / k
        np.testing.assert_allclose(mira_one(scores, y, A, C, beta), np.minimum(theta - D, c), atol=1e-9)


def test_mira_of_two_classes_equals_pa1():
    """Its difference vector takes twice the step min(C, [beta - y w.x]_+/(2|x|^2))."""
    rng, C, beta = np.random.default_rng(6), 0.2, 0.7
    learner = make("labels", 2, selection="mira", C=C, beta=beta)
    w = np.zeros(N)
    for _ in range(30):
        x, y = rng.normal(size=N), int(rng.integers(2))
        sign = 2 * y - 1
        w = w + 2 * min(C, max(0.0, beta - sign * (w @ x)) / (2 * (x @ x))) * sign * x
        learner.learn(x, y)
        np.testing.assert_allclose(learner.W[1] - learner.W[0], w, rtol=1e-9, atol=1e-12)


# --- all rows, solved separately and averaged: S13 ---------------------------------------------------------


@pytest.mark.parametrize(
    ("selection", "step", "weighted"),
    [
        (selection, step, weighted)
        for selection in ("simperc", "conproj", "simproj")
        for step in STEPS
        for weighted in (False, True)
        if step == "pa1" or (selection != "simperc" and not weighted)
    ],
)
@pytest.mark.parametrize(("family", "fit_intercept"), FAMILIES)
def test_the_move_is_the_mean_of_projections(family, fit_intercept, selection, step, weighted):
    """The move is the mean over the active rows of the moves that solve the problem of one row alone."""
    rng = np.random.default_rng(7)
    several = 0
    for _ in range(8):
        C, weight, margin = rng.choice(CONSTANTS), rng.choice([0.5, 1.0, 3.0]), rng.choice([0.5, 1.0])
        nu = None
        if weighted:
            nu = rng.choice([0.5, 1.0, 2.0, 1.0 if selection == "simperc" else 0.0], size=(K, K))
            nu = nu[0, 1:] if family == "ordinal" else nu
        learner = trained(
            family,
            rng,
            step=step,
            C=C,
            margin=margin,
            selection=selection,
            nu=nu,
            **intercept(fit_intercept),
            **({"sort_thresholds": False} if family == "ordinal" else {}),
        )
        w = coordinates(learner)
        x, Y = instance(family, rng), target(family, rng)
        rows = rows_of(family, x, Y, fit_intercept)
        margins = rows @ w
        active = np.flatnonzero(margins < margin - 1e-12 if selection == "simproj" else margins <= 1e-12)
        its_nu = np.ones(len(rows))
        if weighted and family == "ordinal":
            its_nu = nu
        elif weighted:
            its_nu = nu[np.ix_(mask(Y, K), ~mask(Y, K))].ravel()

        moves = []
        for j in active:
            if selection == "simperc":
                moves.append(C * weight / its_nu[j] * rows[j])
            else:
                alone = of_rows(step, w, rows[[j]], margin, C * weight, nu=its_nu[[j]])
                moves.append(alone.solution() - w)
        learner.learn(x, Y, weight)
        expected = w + np.mean(moves, axis=0) if moves else w
        np.testing.assert_allclose(coordinates(learner), expected, rtol=1e-6, atol=1e-6)
        several += len(active) > 1
    assert several >= 2


@pytest.mark.parametrize("scheme", ["simperc", "conproj", "simproj"])
def test_the_mean_is_feasible_and_gains_the_mean_gain(scheme):
    """S13.3 and S13.5: sum nu_j c_j <= C, and the dual at the mean is at least the mean of the duals."""
    rng = np.random.default_rng(8)
    capped = 0
    for _ in range(200):
        rows, w = rng.normal(size=(int(rng.integers(1, 6)), 3)), rng.normal(size=3)
        C, nu, q = rng.exponential(), rng.choice([0.5, 1.0, 2.0], size=len(rows)), (rows**2).sum(axis=1)
        margins = rows @ w
        c = simultaneous(scheme, "pa1", margins, q, 1.0, C, nu)
        active = margins < 1 if scheme == "simproj" else margins <= 0
        alpha = c * active.sum()
        assert (c >= 0).all()
        assert not c[~active].any()
        assert nu @ c <= C * (1 + 1e-12)
        assert (nu * alpha <= C * (1 + 1e-12)).all()

        def dual(c, rows=rows, margins=margins):
            return c @ (1 - margins) - 0.5 * np.sum((c @ rows) ** 2)

        if active.any():
            gains = [dual(alpha[j] * np.eye(len(rows))[j]) for j in np.flatnonzero(active)]
            assert dual(c) >= np.mean(gains) - 1e-12
        capped += np.isclose(nu @ c, C)
    assert capped >= 10


@pytest.mark.parametrize("step", STEPS)
def test_simproj_keeps_the_thresholds_in_order(step):
    """S13.2 (A13)."""
    rng = np.random.default_rng(9)
    for _ in range(10):
        learner = make("ordinal", 5, step=step, C=rng.choice(CONSTANTS), sort_thresholds=False)
        for _ in range(40):
            learner.learn(rng.normal(size=2) * rng.choice([0.1, 1.0, 3.0]), int(rng.integers(5)))
            assert (np.diff(learner.thresholds) >= -1e-12).all()
        assert np.ptp(learner.thresholds) > 0.01


# --- relations between the learners ------------------------------------------------------------------------


def test_multi_prototype_equals_single_prototype_with_blocks():
    rng = np.random.default_rng(10)
    for selection, step in [
        ("max", "pa1"),
        ("prediction", "pa"),
        ("simproj", "pa2"),
        ("uniform", "perceptron"),
    ]:
        multi = make("labels", K, selection=selection, step=step, C=0.3)
        single = make("prototype", K, selection=selection, step=step, C=0.3)
        for _ in range(30):
            x, Y = instance("labels", rng), target("labels", rng)
            multi.learn(x, Y)
            single.learn(np.kron(np.eye(K), x[:, None]), Y)
            np.testing.assert_allclose(multi.W.ravel(), single.w, rtol=1e-9, atol=1e-12)
        assert multi.statistics.updates > 5


def test_selection_prediction_equals_a_cost_of_1():
    rng = np.random.default_rng(11)
    plain = make("labels", K, selection="prediction", C=0.3)
    costly = make("labels", K, selection="prediction", C=0.3, cost=1 - np.eye(K))
    for _ in range(40):
        x, y = instance("labels", rng), int(rng.integers(K))
        plain.learn(x, y)
        costly.learn(x, y)
        assert np.array_equal(plain.W, costly.W)
    assert plain.statistics.loss == costly.statistics.loss > 0
    assert plain.statistics.updates == costly.statistics.cost > 5


def test_with_two_labels_every_selection_equals_pa():
    """One row a round: max, simproj and mira with beta = margin are the same learner."""
    rng = np.random.default_rng(12)
    learners = [make("labels", 2, selection=s, C=0.3, beta=1.0) for s in ("max", "simproj", "mira")]
    for _ in range(30):
        x, y = rng.normal(size=N), int(rng.integers(2))
        for learner in learners:
            learner.learn(x, y)
        for learner in learners[1:]:
            np.testing.assert_allclose(learner.W, learners[0].W, rtol=1e-9, atol=1e-12)
            assert learner.statistics.progress == pytest.approx(learners[0].statistics.progress)
