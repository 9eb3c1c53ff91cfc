"""A million updates: covariances stay positive and accurate, and the simplex keeps its weights.

The data is badly scaled on purpose: features from 1e-12 to 1e12, rows as well, columns that are nearly the same.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import hinge

MILLION = 1_000_000
ROWS = 20_000
PASSES = MILLION // ROWS
EPSILON = np.finfo(float).eps


# ---- the covariance ------------------------------------------------------------------------------------------

# The columns and the rows are multiplied by powers of 2 up to these: whole numbers stay exact.
SCALES = {"well": (0, 0), "columns": (40, 0), "mirrored": (-40, 0), "rows": (0, 10), "both": (20, 10)}
TASKS = {"classification": 2, "multiclass": 3, "ordinal": 4}


def badly_scaled(scales, count=ROWS, width=6, seed=0):
    """Whole numbers times powers of 2: columns 0, 1 and columns 2, 3, 4 are nearly collinear."""
    rng = np.random.default_rng(seed)
    columns, rows = SCALES[scales]
    X = rng.integers(-1000, 1001, size=(count, width)).astype(float)
    X[:, 1] = X[:, 0] + rng.integers(-1, 2, size=count)
    X[:, 4] = X[:, 3] - X[:, 2] + rng.integers(-2, 3, size=count)
    X *= 2.0 ** np.linspace(-columns, columns, width).round()
    return X * 2.0 ** rng.integers(-rows, rows + 1, size=(count, 1))


def exact_covariance(X, times, variance=1, regularizer=1):
    """(I/variance + times X'X/regularizer)^-1 in rationals: what a learner has that updates on every row."""
    n = X.shape[1]
    shift = 2**80
    whole = np.array([[int(Fraction(value) * shift) for value in row] for row in X.tolist()], dtype=object)
    gram = whole.T @ whole
    rows = [
        [
            Fraction(int(gram[i, j]) * times, shift**2) / regularizer + Fraction(i == j, 1) / variance
            for j in range(n)
        ]
        + [Fraction(i == j) for j in range(n)]
        for i in range(n)
    ]
    for i in range(n):  # Gauss and Jordan; it is positive, so no pivot is 0
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]


def check_covariance(model, X, start=1.0):
    """Symmetric to the bit, positive (of any scale), never wider than at the start."""
    S = model.covariance
    variances = S if S.ndim == 1 else np.diag(S)
    assert np.isfinite(S).all()
    assert (variances > 0).all()
    assert (variances <= start * (1 + 1e-12)).all()
    sizes = model.uncertainty(X)
    assert np.isfinite(sizes).all()
    assert (sizes > 0).all()
    if S.ndim == 1:
        return
    assert np.array_equal(S, S.T)
    deviations = np.sqrt(variances)
    correlations = S / np.outer(deviations, deviations)
    assert (np.abs(correlations) <= 1 + 1e-12).all()
    d, upper = model._engine.factors()
    assert (d > 0).all()
    # Of a correlation of 1 - 1e-7 or so the eigenvalues are still far from what rounding does.
    assert np.linalg.eigvalsh(correlations).min() > 1e-10
    assert np.isfinite(np.linalg.cholesky(correlations)).all()
    np.testing.assert_array_equal(upper, np.triu(upper))


def close_to_exact(model, exact, tolerance):
    S, n = model.covariance, len(exact)
    size = [float(exact[i][i]) ** 0.5 for i in range(n)]
    for i, j in itertools.product(range(n), repeat=2):
        error = abs(float(Fraction(float(S[i, j])) - exact[i][j])) / (size[i] * size[j])
        assert error <= tolerance, (i, j, error)


@pytest.mark.parametrize("scales", SCALES)
@pytest.mark.parametrize(("variance", "regularizer"), [(1, 1), (64, Fraction(1, 8))])
def test_full_covariance_is_exact_after_few_updates(scales, variance, regularizer):
    """Against rationals: to a few units in the last place, in the scale of each entry."""
    X = badly_scaled(scales, 40)
    options = {"initial_variance": float(variance), "covariance_regularizer": float(regularizer)}
    model = hinge.Learner(
        "regression", geometry="mahalanobis", step="pa", epsilon=0.0, fit_intercept=False, **options
    )
    model.learn(X, np.random.default_rng(1).normal(size=40))
    assert model.statistics.updates == 40
    exact = exact_covariance(X, 1, variance, regularizer)
    close_to_exact(model, exact, 1e-11)
    for x, size in zip(X[:5].tolist(), model.uncertainty(X[:5]), strict=True):
        of_x = [Fraction(value) for value in x]
        expected = sum(of_x[i] * exact[i][j] * of_x[j] for i, j in itertools.product(range(6), repeat=2))
        assert abs(Fraction(float(size)) / expected - 1) < 1e-9


@pytest.mark.parametrize("scales", ["columns", "rows", "both"])
def test_full_covariance_is_accurate_after_a_million_updates(scales):
    """Against rationals."""
    X = badly_scaled(scales)
    y = np.random.default_rng(2).normal(size=ROWS)
    model = hinge.Learner("regression", geometry="mahalanobis", step="pa", epsilon=0.0, fit_intercept=False)
    for _ in range(PASSES):
        model.learn(X, y)
    assert model.statistics.updates == MILLION
    check_covariance(model, X[:1000])
    close_to_exact(model, exact_covariance(X, PASSES), 1e-8)
    again = hinge.Learner.from_bytes(model.to_bytes())
    for m in (model, again):
        m.learn(X[:100], y[:100])
    assert again.to_bytes() == model.to_bytes()


@pytest.mark.parametrize("scales", ["columns", "both"])
def test_diagonal_covariance_is_accurate_after_a_million_updates(scales):
    """'precision' is a sum of squares, 'drop' has the variances of the full one or larger ones."""
    X = badly_scaled(scales)
    y = np.random.default_rng(2).normal(size=ROWS)
    full, drop = (
        hinge.Learner(
            "regression",
            geometry="diagonal",
            step="pa",
            epsilon=0.0,
            fit_intercept=False,
            covariance_update=update,
        )
        for update in ("precision", "drop")
    )
    for model in (full, drop):
        for _ in range(PASSES):
            model.learn(X, y)
        assert model.statistics.updates == MILLION
        check_covariance(model, X[:1000])
    np.testing.assert_allclose(full.covariance, 1 / (1 + PASSES * (X**2).sum(axis=0)), rtol=1e-9)
    assert (drop.covariance >= full.covariance * (1 - 1e-9)).all()


STEPS = [
    ("classification", "mahalanobis", {"step": "pa2", "C": 0.5}),
    ("classification", "mahalanobis", {"step": "perceptron", "average": True}),
    ("classification", "mahalanobis", {"step": "cw"}),
    ("classification", "diagonal", {"step": "cw", "eta": 0.99}),
    ("multiclass", "mahalanobis", {"step": "pa1", "initial_variance": 1e-3}),
    ("multiclass", "diagonal", {"step": "cw", "covariance_update": "drop"}),
    ("ordinal", "mahalanobis", {"step": "pa2"}),
]


@pytest.mark.parametrize(("task", "geometry", "options"), STEPS, ids=str)
def test_learner_recovers_from_random_labels(task, geometry, options):
    """Nothing can be learned from them: mistakes and updates do not end. Then the labels follow the features."""
    X = badly_scaled("columns")
    k = TASKS[task]
    rng = np.random.default_rng(3)
    model = hinge.Learner(
        "ordinal" if task == "ordinal" else "classification",
        geometry=geometry,
        classes=list(range(k)),
        **options,
    )
    for part in range(5):
        model.learn(np.tile(X, (PASSES // 5, 1)), rng.integers(0, k, MILLION // 5))
        check_covariance(model, X[:1000], options.get("initial_variance", 1.0))
        assert np.isfinite(model.weights).all()
        assert np.isfinite(model.scores(X[:1000])).all()
        assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes(), part
    assert model.statistics.rounds == MILLION
    assert model.statistics.updates > MILLION // 50


# ---- the simplex -----------------------------------------------------------------------------------------------


def simplex_of(model):
    """The weights with the intercepts, and all that the state says of the mass."""
    tensors = model.to_parts()[1]
    theta = np.concatenate([tensors["v"], tensors["biases"]])
    return theta, float(tensors.get("shift", 0.0)), float(tensors["mass"])  # a file omits zeros


def check_simplex(model, tolerance=1e-9):
    """On the simplex, to 1e-9, and the mass that is kept along is that of the exponents."""
    p = model.parameters
    weights = np.append(np.ravel(model.last_weights), np.ravel(model.last_intercept))
    assert np.isfinite(weights).all()
    total = np.abs(weights).sum()
    assert total <= p["scale"] * (1 + tolerance)
    theta, shift, mass = simplex_of(model)
    theta = theta[theta != 0]
    afresh = np.exp(theta - shift).sum() + (np.exp(-theta - shift).sum() if p["signed"] else 0.0)
    assert mass == pytest.approx(afresh, rel=tolerance)
    if not p["signed"]:
        assert (weights >= 0).all()
        assert total == pytest.approx(p["scale"], rel=tolerance)


SIMPLEXES = [
    ("classification", {"step": "pa"}),
    ("classification", {"step": "pa1", "C": 0.01, "average": True}),
    ("classification", {"step": "pa1", "signed": False}),
    ("regression", {"step": "pa2", "C": 0.1}),
    ("regression", {"step": "pa", "signed": False, "average": True}),
    ("uniclass", {"step": "pa1", "C": 0.1}),
    ("uniclass", {"step": "pa", "signed": False}),
    ("multiclass", {"step": "pa1", "C": 0.1}),
    ("multiclass", {"step": "pa1", "C": 0.1, "selection": "conproj"}),
]


@pytest.mark.parametrize(
    ("task", "options", "spread"),
    [*((*case, 6) for case in SIMPLEXES), *((*case, 0) for case in SIMPLEXES[1:5:3])],
    ids=str,
)
def test_simplex_is_accurate_after_a_million_updates(task, options, spread):
    rng = np.random.default_rng(4)
    count = MILLION if options.get("selection") is None else MILLION // 100  # a root is sought for each label
    X = rng.normal(size=(count // 10, 6)) * 10.0 ** np.linspace(-spread, spread, 6)
    k = {"classification": 2, "multiclass": 3}.get(task)
    more = {"classes": list(range(k))} if k else {"radius": 0.01} if task == "uniclass" else {"epsilon": 0.0}
    model = hinge.Learner(
        "classification" if task == "multiclass" else task, geometry="entropy", scale=3.0, **more, **options
    )
    for _ in range(10):
        y = rng.integers(0, k, len(X)) if k else rng.normal(size=len(X)) if task == "regression" else None
        model.learn(X, y)
        check_simplex(model)
    assert model.statistics.rounds == count
    assert model.statistics.updates > count / 4
    average = np.abs(model.weights).sum() + np.abs(model.intercept).sum()
    assert average <= 3.0 * (1 + 1e-9)
    again = hinge.Learner.from_bytes(model.to_bytes())
    for m in (model, again):
        m.learn(X[:100], None if y is None else y[:100])
    assert again.to_bytes() == model.to_bytes()


def test_mass_of_a_wide_simplex_is_accurate_with_sparse_rows():
    """The incrementally updated mass equals a fresh sum, although rows touch a few of many coordinates."""
    rng = np.random.default_rng(5)
    model = hinge.Learner("classification", geometry="entropy", scale=20.0, classes=[0, 1], C=0.1)
    names = [f"f{j}" for j in range(3000)]
    model.name_columns(names)
    for _ in range(40):
        events = [{f"f{j}": 1.0 for j in rng.integers(0, 3000, 8)} for _ in range(250)]
        model.learn_many(events, [int("f7" in x or rng.random() < 0.5) for x in events])
        check_simplex(model)
    assert model.statistics.updates > 5000
    assert simplex_of(model)[2] > 0


# ---- huge exponents ----------------------------------------------------------------------------------------------


def divergence(model, u):
    """KL(u, p), with what u has not of the scale spread over all coordinates; p as its exponents are."""
    scale, signed, theta = model.parameters["scale"], model.parameters["signed"], model.to_parts()[1]["v"]
    shares = np.concatenate([np.maximum(u, 0), np.maximum(-u, 0)])[: len(u) * (1 + signed)] / scale
    shares += (1 - shares.sum()) / len(shares)
    exponents = np.concatenate([theta, -theta])[: len(shares)]
    top = exponents.max()
    log_mass = top + np.log(np.exp(exponents - top).sum())
    return float((shares * (np.log(shares) - exponents)).sum() + log_mass)


UNREACHABLE = [
    ("regression", {"step": "pa"}),
    ("regression", {"step": "pa", "signed": False}),
    ("regression", {"step": "pa1", "C": 1e4, "average": True}),
    ("regression", {"step": "pa2", "C": 1e4, "signed": False, "average": True}),
]


@pytest.mark.parametrize("size", [30.0, 1e3, 1e6, 1e12])
@pytest.mark.parametrize(("task", "options"), UNREACHABLE, ids=str)
def test_extreme_exponents_recover(task, options, size):
    """Targets that no weights can reach drive the exponents beyond 700, to and fro. Then they can be reached."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(100, 4))
    model = hinge.Learner(task, geometry="entropy", scale=2.0, epsilon=0.0, fit_intercept=False, **options)
    farthest = 0.0
    for turn in range(6):
        model.learn(X, np.where(turn % 2, -size, size) * np.sign(X[:, turn % 4]))
        check_simplex(model)
        farthest = max(farthest, np.abs(simplex_of(model)[0]).max())
        assert np.isfinite(model.weights).all()
        assert np.abs(model.weights).sum() <= 2.0 * (1 + 1e-9)
        assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
    if size >= 1e3:
        assert farthest > 700
    u = np.array([0.5, -0.8, 0.1, -0.2]) if model.parameters["signed"] else np.array([0.5, 0.8, 0.4, 0.3])
    before, far = model.statistics, divergence(model, u)
    for _ in range(50):
        model.learn(X, X @ u)
        check_simplex(model)
    after = model.statistics
    # Wherever they come from: N03 Thm 4 from here on, sum of l^2 <= R^2 2 KL(u, p).
    room = after.largest_q + (1 / (2 * model.parameters["C"]) if options["step"] == "pa2" else 0.0)
    assert after.squared_loss - before.squared_loss <= room * 2 * far * (1 + 1e-9)
    assert divergence(model, u) < far
    assert far > 5


@pytest.mark.parametrize("signed", [True, False])
def test_weights_far_below_the_largest_one_are_kept(signed):
    """exp(theta) of the others is 0 next to it, yet nothing is lost: they come back unchanged."""
    model = hinge.Learner(
        "regression",
        geometry="entropy",
        scale=1.0,
        signed=signed,
        step="pa",
        epsilon=0.0,
        fit_intercept=False,
    )
    model.learn(np.eye(3), [0.3, 0.3, 0.3])
    before = simplex_of(model)[0]
    row = np.array([[1.0, 0.0, 0.0]])
    model.learn(row, [1e4])
    theta = simplex_of(model)[0]
    assert theta[0] > 2000
    np.testing.assert_array_equal(theta[1:], before[1:])
    weights = model.last_weights
    assert weights[0] == pytest.approx(1.0)
    assert np.abs(weights[1:]).max() < 1e-300
    check_simplex(model)
    for _ in range(300):
        model.learn(np.tile(row, (100, 1)), np.full(100, 0.2))
        check_simplex(model)
    theta = simplex_of(model)[0]
    np.testing.assert_array_equal(theta[1:], before[1:])
    assert model.last_weights[0] == pytest.approx(0.2, rel=1e-6)
