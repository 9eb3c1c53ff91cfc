"""The closed forms of the geometries against generic solvers of their own problems (S13.6, S16, S17, S18).

Mahalanobis, with rows a_j written down literally and A the inverse of the covariance (labels: one per lane; ranks: with
ones for the thresholds):

PAM     min 1/2 (v-w)'A(v-w)                s.t. v.a_j >= b_j
PAM-I   min 1/2 (v-w)'A(v-w) + C xi         s.t. v.a_j >= b_j - xi, xi >= 0
PAM-II  min 1/2 (v-w)'A(v-w) + C xi^2       s.t. v.a_j >= b_j - xi
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import norm

import hinge
from geometry_learners import KINDS, make
from reference_geometries import GEOMETRIES, confident_step, entropy_alpha, multiplied
from reference_labels import label_rows, mask, ordinal_rows, pairs
from solvers import of_rows

STEPS = ("pa", "pa1", "pa2")
NAMES = [" ".join(geometry.values()) for geometry in GEOMETRIES]
K, N = 3, 3
MARGIN, EPSILON = 1.5, 0.3


class Both:
    """The learner under test, and its twin, which has the covariance of the problem."""

    def __init__(self, kind, *arguments, **options):
        self.learner, self.twin = make(kind, *arguments, **options), make("reference", *arguments, **options)

    def learn(self, *event):
        self.learner.learn(*event)
        self.twin.learn(*event)

    @property
    def state(self):
        return np.array(self.learner.state).ravel()


def options_of(rng, step):
    return {
        "step": step,
        "C": float(rng.choice([0.1, 0.5, 2.0])),
        "covariance_regularizer": float(rng.choice([0.5, 1.0, 3.0])),
        "initial_variance": float(rng.choice([0.5, 1.0, 2.0])),
    }


def margins_of(w, x, Y):
    """As differences of scores: labels that moved alike tie exactly, and rows @ w would leave that to rounding."""
    scores = w.reshape(K, -1) @ x
    return np.array([scores[r] - scores[s] for r, s in pairs(mask(Y, K))])


# --- S17: one half-space, one slab -------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_the_step_solves_its_problem(kind, task, fit_intercept, geometry, step):
    rng = np.random.default_rng(7)
    moved = capped = 0
    for _ in range(12):
        options = options_of(rng, step)
        both = Both(
            kind,
            task,
            fit_intercept=fit_intercept,
            intercept_value=1.0,
            margin=MARGIN,
            epsilon=EPSILON,
            **geometry,
            **options,
        )
        for _ in range(5):
            x = rng.normal(size=N) * rng.choice([0.3, 1.0])
            y = int(rng.choice([-1, 1])) if task == "classification" else 2 * rng.normal()
            w = both.state if both.twin.state is not None else None
            A = None if w is None else both.twin.S.inverse
            weight = float(rng.choice([0.5, 1.0, 3.0]))
            both.learn(x, y, weight)
        z = np.append(x, 1.0) if fit_intercept else x
        if task == "classification":
            rows, b = np.array([y * z]), np.array([MARGIN])
        else:
            rows, b = np.array([z, -z]), np.array([y - EPSILON, -y - EPSILON])
        problem = of_rows(step, w, rows, b, options["C"] * weight, A)
        problem.check(both.state, rtol=1e-5, atol=1e-5)
        moved += not np.array_equal(both.state, w)
        capped += problem.slack(both.state) > 1e-6
        assert not np.allclose(A, A[0, 0] * np.eye(len(A)))  # the geometry is not the Euclidean one
    assert 6 <= moved <= 12
    assert (capped == 0) if step == "pa" else (capped >= 2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(
    ("task", "selection"),
    [
        ("classification", "max"),
        ("classification", "mira"),
        ("multilabel", "max"),
        ("multilabel", "mira"),
        ("ordinal", "max"),
    ],
)
def test_the_step_of_many_labels_solves_its_problem(kind, task, selection, geometry):
    """The worst row alone, or with MIRA all rows with one slack."""
    rng = np.random.default_rng(8)
    steps = ("pa", "pa1") if selection == "mira" else STEPS
    moved = 0
    for i in range(10):
        step = steps[i % len(steps)]
        options = {"selection": selection, "margin": MARGIN, **options_of(rng, step), **geometry}
        intercept = {"fit_intercept": bool(i % 2), "intercept_value": 1.0}
        options |= {"sort_thresholds": False} if task == "ordinal" else intercept
        options |= {"beta": options.pop("margin")} if selection == "mira" else {}
        both = Both(kind, task, K, **options)
        for _ in range(5):
            x, weight = rng.normal(size=N), float(rng.choice([0.5, 1.0, 3.0]))
            Y = int(rng.integers(K))
            if task == "multilabel":
                Y = frozenset(rng.choice(K, size=rng.integers(1, K), replace=False).tolist())
            w = both.state if both.twin.state is not None else None
            A = None if w is None else both.twin.S.inverse
            both.learn(x, Y, weight)
        if task == "ordinal":
            rows, metric = ordinal_rows(x, Y, K), np.eye(N + K - 1)
            metric[:N, :N] = A
        else:
            rows, metric = label_rows(x, Y, K, options["fit_intercept"]), np.kron(np.eye(K), A)
        if selection == "max":
            rows = rows[[np.argmin(rows @ w)]]
        problem = of_rows(step, w, rows, MARGIN, options["C"] * weight, metric)
        problem.check(both.state, rtol=1e-5, atol=1e-5)
        moved += not np.array_equal(both.state, w)
    assert moved >= 5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize("selection", ["simproj", "conproj"])
def test_simultaneous_projections_average_the_solutions(kind, selection, geometry):
    """S13 in the geometry of S: the mean of the solutions of the rows alone."""
    rng = np.random.default_rng(9)
    moved = 0
    for i in range(24):
        step = STEPS[i % 3]
        options = {"selection": selection, **options_of(rng, step), **geometry}
        both = Both(kind, "classification", K, **options)
        for _ in range(4):
            x, y = rng.normal(size=N), int(rng.integers(K))
            w = both.state if both.twin.state is not None else np.zeros(K * N)
            A = np.eye(N) / options["initial_variance"] if both.twin.S is None else both.twin.S.inverse
            both.learn(x, y)
        rows = label_rows(x, y, K)
        margins = margins_of(w, x, y)
        active = rows[margins < 1 if selection == "simproj" else margins <= 0]
        metric = np.kron(np.eye(K), A)
        solutions = [of_rows(step, w, row[None], 1.0, options["C"], metric).solution() for row in active]
        expected = np.mean(solutions, axis=0) if len(active) else w
        np.testing.assert_allclose(both.state, expected, rtol=1e-5, atol=1e-5)
        moved += len(active) > 1
    assert moved >= 3


# --- S18 ---------------------------------------------------------------------------------------------------


def as_gaussian(p, n, full):
    """Mean and covariance from what the solver varies: the mean and a triangular (or diagonal) root."""
    root = np.zeros((n, n))
    root[np.tril_indices(n) if full else np.diag_indices(n)] = p[n:]
    return p[:n], root @ root.T


def divergence(mean, S, w, A):
    """KL(N(mean, S) || N(w, A^-1))."""
    ratio = A @ S
    _, log_determinant = np.linalg.slogdet(ratio)
    return 0.5 * (np.trace(ratio) - len(w) - log_determinant + (mean - w) @ A @ (mean - w))


def start_of(w, A, full):
    root = np.linalg.cholesky(np.linalg.inv(A))
    return np.append(w, root[np.tril_indices(len(w)) if full else np.diag_indices(len(w))])


def trained(kind, rng, n, rounds=4, **options):
    both = Both(kind, "classification", **options)
    for _ in range(rounds):
        both.learn(rng.normal(size=n), int(rng.choice([-1, 1])))
    return both


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES[:2], ids=NAMES[:2])
def test_arow_minimises_its_objective(kind, geometry):
    """min KL(N(m, S) || N(w, A^-1)) + g/(2r) [1 - y m.x]_+^2 + g/(2r) x'Sx, with S of the geometry's kind."""
    rng, n, full = np.random.default_rng(10), 2, geometry["geometry"] == "mahalanobis"
    moved = 0
    for r, g in itertools.product([0.4, 1.0, 3.0], [1.0, 2.0]):
        both = trained(kind, rng, n, step="pa2", C=1 / (2 * r), covariance_regularizer=r, **geometry)
        w, A = both.state, both.twin.S.inverse
        x, y = rng.normal(size=n), int(rng.choice([-1, 1]))

        def arow(mean, S, w=w, A=A, x=x, y=y, r=r, g=g):
            hinge = max(0.0, 1 - y * (mean @ x))
            return divergence(mean, S, w, A) + g / (2 * r) * (hinge**2 + x @ S @ x)

        both.learn(x, y, g)
        if np.array_equal(both.state, w):
            continue
        found = minimize(
            lambda p, f=arow: f(*as_gaussian(p, n, full)), start_of(w, A, full), method="BFGS", tol=1e-9
        )
        mean, S = as_gaussian(found.x, n, full)
        assert arow(both.state, both.twin.S.matrix) <= found.fun + 1e-9
        np.testing.assert_allclose(both.state, mean, atol=1e-4)
        np.testing.assert_allclose(both.twin.S.matrix, S, atol=1e-4)
        np.testing.assert_allclose(both.learner.covariance, both.twin.covariance, rtol=1e-9)
        moved += 1
    assert moved >= 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("r", [0.5, 1.0, 2.0])
def test_pam2_equals_arow(kind, r):
    """PAM-II with C = 1/2 is AROW with r = 1, as S18 prints it, to rounding; with C = 1/(2r) it is AROW with r."""
    rng = np.random.default_rng(11)
    options = {} if r == 1 else {"covariance_regularizer": r}
    ours = make(kind, "classification", geometry="mahalanobis", step="pa2", C=1 / (2 * r), **options)
    w, S = np.zeros(4), np.eye(4)
    for _ in range(60):
        x, y = rng.normal(size=4), int(rng.choice([-1, 1]))
        loss, V = max(0.0, 1 - y * (w @ x)), x @ S @ x
        if loss > 0:
            b = 1 / (V + r)
            w, S = w + loss * b * y * (S @ x), S - b * np.outer(S @ x, S @ x)
        ours.learn(x, y)
        np.testing.assert_allclose(ours.w, w, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(ours.covariance, S, rtol=1e-10, atol=1e-12)
    assert 20 < ours.statistics.updates < 60


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("a", [0.3, 1.0, 5.0])
def test_the_second_order_perceptron_equals_its_definition(kind, a):
    """S18: A = a I, v = 0; score v'(A + xx')^-1 x; on a mistake v += y x, A += xx'. Then w = A^-1 v."""
    rng = np.random.default_rng(12)
    ours = make(kind, "classification", geometry="mahalanobis", step="perceptron", initial_variance=1 / a)
    v, A, mistakes = np.zeros(4), a * np.eye(4), 0
    for _ in range(80):
        x, y = rng.normal(size=4), int(rng.choice([-1, 1], p=[0.3, 0.7]))
        score = v @ np.linalg.inv(A + np.outer(x, x)) @ x
        if y * score <= 0:
            v, A, mistakes = v + y * x, A + np.outer(x, x), mistakes + 1
        ours.learn(x, y)
        assert ours.statistics.mistakes == ours.statistics.updates == mistakes
        np.testing.assert_allclose(ours.w, np.linalg.solve(A, v), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ours.covariance, np.linalg.inv(A), rtol=1e-9, atol=1e-12)
    assert 10 < mistakes < 70


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("eta", [0.6, 0.9, 0.99])
def test_cw_solves_its_problem(kind, eta):
    """min KL(N(m, S) || N(w, A^-1)) s.t. y m.x >= phi x'Sx."""
    rng, n, phi = np.random.default_rng(13), 2, norm.ppf(eta)
    moved = 0
    for _ in range(5):
        both = trained(
            kind,
            rng,
            n,
            3,
            geometry="mahalanobis",
            step="cw",
            eta=eta,
            initial_variance=float(rng.choice([1.0, 3.0])),
        )
        w, A = both.state, both.twin.S.inverse
        x, y = rng.normal(size=n), int(rng.choice([-1, 1]))
        both.learn(x, y)
        if y * (w @ x) >= phi * (x @ np.linalg.inv(A) @ x):
            assert np.array_equal(both.state, w)
            continue

        def room(p, x=x, y=y):
            mean, S = as_gaussian(p, n, True)
            return y * (mean @ x) - phi * (x @ S @ x)

        def kl(p, w=w, A=A):
            return divergence(*as_gaussian(p, n, True), w, A)

        found = minimize(
            kl,
            start_of(w, A, True),
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": room}],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        mean, S = as_gaussian(found.x, n, True)
        ours = start_of(both.state, both.twin.S.inverse, True)
        assert room(ours) == pytest.approx(0.0, abs=1e-9)
        assert kl(ours) <= found.fun + 1e-7
        np.testing.assert_allclose(both.state, mean, atol=1e-4)
        np.testing.assert_allclose(both.twin.S.matrix, S, atol=1e-4)
        np.testing.assert_allclose(both.learner.covariance, both.twin.covariance, rtol=1e-9)
        moved += 1
    assert moved >= 3


def test_cw_of_many_labels_solves_its_problem():
    """k labels that share S: min sum_r KL(N(m_r, S) || N(w_r, A^-1)) s.t. (m_y - m_r).x >= 2 phi x'Sx, r the rival."""
    rng, n, phi, moved = np.random.default_rng(14), 2, norm.ppf(0.8), 0
    for _ in range(4):
        learner = hinge.Learner(
            "classification",
            step="cw",
            eta=0.8,
            geometry="mahalanobis",
            classes=[0, 1, 2],
            fit_intercept=False,
        )
        learner.learn(rng.normal(size=(3, n)), [0, 1, 2])
        W, A = learner.weights, np.linalg.inv(learner.covariance)
        x, y = rng.normal(size=n), int(rng.integers(3))
        rival = max((r for r in range(3) if r != y), key=lambda r: W[r] @ x)

        def room(p, x=x, y=y, rival=rival):
            means, S = p[: 3 * n].reshape(3, n), as_gaussian(p[2 * n :], n, True)[1]
            return (means[y] - means[rival]) @ x - 2 * phi * (x @ S @ x)

        def kl(p, W=W, A=A):
            S = as_gaussian(p[2 * n :], n, True)[1]
            return sum(divergence(mean, S, w, A) for mean, w in zip(p[: 3 * n].reshape(3, n), W, strict=True))

        before = np.append(W[:2].ravel(), start_of(W[2], A, True))
        learner.learn(x[None], [y])
        if room(before) >= 0:
            assert np.array_equal(learner.weights, W)
            continue
        found = minimize(
            kl,
            before,
            method="SLSQP",
            constraints=[{"type": "ineq", "fun": room}],
            options={"ftol": 1e-14, "maxiter": 500},
        )
        after = learner.weights
        ours = np.append(after[:2].ravel(), start_of(after[2], np.linalg.inv(learner.covariance), True))
        assert room(ours) == pytest.approx(0.0, abs=1e-9)
        assert kl(ours) <= found.fun + 1e-7
        np.testing.assert_allclose(after.ravel(), found.x[: 3 * n], atol=1e-4)
        moved += 1
    assert moved >= 2


def test_cw_with_phi_0_moves_up_to_margin_0():
    """phi = 0 asks M >= 0 and moves w only; no size, or enough confidence, moves nothing."""
    assert confident_step(-2.0, 4.0, 0.0) == 0.5
    assert (
        confident_step(0.0, 4.0, 0.0)
        == confident_step(-1.0, 0.0, 1.0)
        == confident_step(5.0, 4.0, 1.25)
        == 0.0
    )
    assert confident_step(4.99, 4.0, 1.25) > 0
    limit = [confident_step(-2.0, 4.0, phi) for phi in (1e-3, 1e-5)]
    np.testing.assert_allclose(limit, 0.5, atol=5e-3)


# --- S16 and S13.6 -----------------------------------------------------------------------------------------


def entropy_projection(p, z, margin, C):
    """min KL(v || p) + C xi  s.t. v.z >= margin - xi, xi >= 0, v on the simplex; by a generic solver."""
    n = len(p)
    slack = max(0.0, margin - p @ z)
    result = minimize(
        lambda q: np.sum(q[:n] * np.log(q[:n] / p)) + C * q[n],
        np.append(p, slack),
        jac=lambda q: np.append(np.log(q[:n] / p) + 1, C),
        method="SLSQP",
        bounds=[(1e-12, 1)] * n + [(0, None)],
        constraints=[
            {"type": "ineq", "fun": lambda q: q[:n] @ z + q[n] - margin, "jac": lambda q: np.append(z, 1.0)},
            {"type": "eq", "fun": lambda q: q[:n].sum() - 1, "jac": lambda q: np.append(np.ones(n), 0.0)},
        ],
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return result.x[:n]


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # SLSQP of SciPy 1.15, by rounding
def test_the_entropy_step_solves_its_problem():
    """S13.6: alpha maximises its concave function on [0, C], and p exp(alpha z)/Z solves the problem of the row."""
    rng = np.random.default_rng(14)
    kinds = set()
    for _ in range(40):
        n = int(rng.integers(2, 6))
        p = rng.dirichlet(np.ones(n))
        z, C, margin = (
            3 * rng.normal(size=n),
            float(rng.choice([0.1, 1.0, 5.0])),
            float(rng.choice([0.5, 1.0])),
        )
        alpha = entropy_alpha(p, z, margin, C)

        def gain(a, p=p, z=z, margin=margin):
            return margin * a - np.log(p @ np.exp(a * z))

        found = minimize_scalar(
            lambda a, f=gain: -f(a), bounds=(0, C), method="bounded", options={"xatol": 1e-10}
        )
        assert gain(alpha) >= -found.fun - 1e-12
        assert alpha == pytest.approx(found.x, abs=1e-4)
        np.testing.assert_allclose(multiplied(p, alpha * z), entropy_projection(p, z, margin, C), atol=2e-5)
        kinds.add("none" if alpha == 0 else "capped" if alpha == C else "inside")
    assert kinds == {"none", "capped", "inside"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("selection", ["simproj", "conproj", "simperc"])
@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_simultaneous_projections_with_entropy_average_the_exponents(kind, task, selection):
    """The exponents are the mean of alpha_j z_j over the active rows, alpha_j of a scalar solver."""
    rng = np.random.default_rng(15)
    several = 0
    for C, scale in itertools.product([0.02, 0.3, 2.0], [2.0, 6.0] * 5):
        w1 = rng.normal(size=(K, N)) / 20  # from the uniform start labels would tie, and rounding decide
        options = {"geometry": "entropy", "step": "pa1", "C": C, "scale": scale, "selection": selection}
        both = Both(kind, task, K, w1=w1, **options)
        for _ in range(4):
            x, Y = rng.normal(size=N), int(rng.integers(K))
            if task == "multilabel":
                Y = frozenset(rng.choice(K, size=rng.integers(1, K), replace=False).tolist())
            p = None if both.twin.p is None else both.twin.p.ravel()
            both.learn(x, Y)
        rows = label_rows(x, Y, K)
        margins = margins_of(scale * (p[: K * N] - p[K * N :]), x, Y)
        active = rows[margins < 1 if selection == "simproj" else margins <= 0]
        exponents = np.zeros(2 * K * N)
        for row in active:
            z, alpha = scale * np.append(row, -row), C
            if selection != "simperc":
                alpha = minimize_scalar(
                    lambda a, z=z, p=p: np.log(p @ np.exp(a * z)) - a, bounds=(0, C), method="bounded",
                    options={"xatol": 1e-10},
                ).x  # fmt: skip
            exponents += alpha * z / len(active)
        v = multiplied(p, exponents)
        expected = scale * (v[: K * N] - v[K * N :]).reshape(K, N)
        np.testing.assert_allclose(both.learner.W, expected, atol=1e-4)
        several += len(active) > 1
    assert several >= 2


def discrepancy(task, w, x, y):
    if task == "classification":
        return -y * (w @ x)
    return abs(y - w @ x) if task == "regression" else np.linalg.norm(x - w)


ENTROPIES = [
    (task, signed, rule)
    for task in ("classification", "regression", "uniclass")
    for signed in (True, False)
    for rule in ("range", "paper")
    if not (rule == "paper" and signed)
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "signed", "rule"), ENTROPIES)
def test_the_multiplicative_step_does_not_overshoot(kind, task, signed, rule):
    """S16: the discrepancy falls (but perhaps in uniclass), not below eps; KL(u || p) falls as the bound needs it.

    The slope of p.z in tau is the variance of z under p, at most q = (max z - min z)^2/4: l/q gains at most l.
    """
    rng = np.random.default_rng(16)
    moved = 0
    scale = 1.0 if task == "uniclass" and not signed else 4.0
    options = {"scale": scale, "signed": signed, "entropy_step": rule}
    both = Both(kind, task, geometry="entropy", step="pa", epsilon=EPSILON, radius=0.2, **options)
    both.learn(np.zeros(N), {"classification": 1, "regression": 0.0}.get(task))
    for _ in range(60):
        x = rng.random(N) * 2 if rule == "paper" or not signed else rng.normal(size=N)
        y = {"classification": int(rng.choice([-1, 1])), "regression": 3 * rng.normal()}.get(task)
        twin, eps = both.twin, both.twin.eps
        before, p = twin.discrepancy(x, y)[0], twin.p
        v, q = twin.discrepancy(x, y)[1:]
        z, u = twin.in_simplex(v), rng.dirichlet(np.ones(len(p)))
        both.learn(x, y)
        after = discrepancy(task, np.array(both.state), x, y)
        if before <= eps:
            np.testing.assert_allclose(after, before, rtol=1e-12)
            continue
        assert after >= eps - 1e-9
        assert task == "uniclass" or after <= before * (1 + 1e-12)
        assert np.abs(both.state).sum() <= scale * (1 + 1e-12)
        tau = (before - eps) / q
        fall = np.sum(u * np.log(twin.p / p))
        assert fall >= tau * (u - p) @ z - tau**2 * q / 2 - 1e-12
        moved += after < before - 1e-6
    assert moved > 12
