"""The theorems of S17 and S18 on random sequences, and on sequences that reach them.

The random sequences would find a bound that is too small, or a learner that is not the theorem's; the tight ones,
and the right-hand sides worked out by hand, would find a bound that is too large.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from geometry_learners import KINDS, make, trace
from geometry_streams import K, holds, label_stream
from hinge.theory import follow, guarantees
from label_streams import eighths, find
from reference_geometries import GEOMETRIES, SecondOrderLabels

NAMES = [" ".join(geometry.values()) for geometry in GEOMETRIES]
T1, T2, T3 = "M11 Theorem 1 with Q(u)", "M11 Theorem 2 (resolved)", "M11 Theorem 3 (resolved)"


# --- mahalanobis and diagonal ------------------------------------------------------------------------------


def random_stream(rng, task, step, realizable):
    """Rows and targets, a comparator (with the intercept last, if there is one), and options."""
    n, rounds = int(rng.integers(1, 4)), int(rng.integers(1, 15))
    X = eighths(rng, 2, (rounds, n)) * rng.choice([0.3, 1.0])
    options = {
        "initial_variance": float(rng.choice([0.5, 1.0, 3.0])),
        "covariance_regularizer": float(rng.choice([0.3, 1.0, 2.0])),
        "fit_intercept": bool(rng.integers(2)),
        "intercept_value": 1.0,
        "margin": float(rng.choice([0.5, 1.0, 2.0])),
        "epsilon": float(rng.choice([0.0, 0.25])),
    }
    if rng.integers(3) == 0 and step != "perceptron":
        options["w1"] = eighths(rng, 1, n)
    u = eighths(rng, 2, n + options["fit_intercept"])
    scores = X @ u[:n] + (u[n] if options["fit_intercept"] else 0.0)
    if task == "regression":
        y = scores + options["epsilon"] * (1 - 1e-12) * rng.uniform(-1, 1, rounds)
        return X, y if realizable else eighths(rng, 3, rounds), u, options
    if not realizable:
        return X, rng.choice([-1, 1], rounds), u, options
    X, scores = X[np.abs(scores) > 1e-3], scores[np.abs(scores) > 1e-3]
    scale = options["margin"] / np.abs(scores).min(initial=1.0) * rng.choice([1.0, 1.5]) * (1 + 1e-12)
    return X, np.sign(scores).astype(int), u * scale, options


def compared(run, u, options):
    return run.comparator(u[:-1], intercept=u[-1]) if options["fit_intercept"] else run.comparator(u)


def rivals(rng, run, u):
    """Comparators that are hard to compete with: none, the last weights, and the best of some between and around."""
    last = run.updates[-1][1] if run.updates else 0 * u
    yield from (u, 0 * u, last, last / 2, u / 2)
    yield last + rng.normal(size=u.shape) * 0.3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(
    ("task", "step", "realizable"),
    [
        ("classification", "pa", True),
        ("classification", "pa1", False),
        ("classification", "pa2", False),
        ("classification", "perceptron", False),
        ("regression", "pa", True),
        ("regression", "pa1", False),
        ("regression", "pa2", False),
    ],
)
def test_every_theorem_holds_with_a_covariance(kind, task, step, realizable, geometry):
    rng, seen = np.random.default_rng(1), set()
    for i in range(30):
        X, y, u, options = random_stream(rng, task, step, realizable)
        C = float(rng.choice([0.05, 0.3, 1.0, 4.0]))
        if step == "pa2" and i % 2:
            C = 1 / (2 * options["covariance_regularizer"])  # AROW
        run = trace(kind, task, X, y, step=step, C=C, **geometry, **options)
        if not len(X):
            continue
        for rival in [u] if realizable else rivals(rng, run, u):
            c = compared(run, rival, options)
            assert not realizable or c.loss == 0
            assert run.statistics.largest_q == pytest.approx(c.largest_q)  # both are vmax
            holds(guarantees(step, run.statistics, c, C=C), seen)
    assert seen >= EXPECTED[task, step] - (FULL if geometry["geometry"] == "diagonal" else set())


FULL = {("M11 Theorem 1 (resolved)", "squared loss"), ("AROW", "mistakes"), ("SOP", "mistakes")}
LEMMA = ("J06 Lemma 1, Mahalanobis (derived)", "progress")
SHARPER = ("J06 Theorem 4, sharper, Mahalanobis (derived)", "mistakes")
PA1_LOSS = ("PA-I loss, Mahalanobis (derived)", "loss")
INSENSITIVE = ("N03 Theorem 1, Mahalanobis (derived)", "squared loss and loss")
EXPECTED = {
    ("classification", "pa"): {
        LEMMA,
        INSENSITIVE,
        (T1, "squared loss"),
        (T1, "mistakes"),
        ("M11 Theorem 1 (resolved)", "squared loss"),
    },
    ("classification", "pa1"): {LEMMA, (T2, "mistakes"), SHARPER, PA1_LOSS},
    ("classification", "pa2"): {(T3, "squared loss"), (T3, "mistakes"), ("AROW", "mistakes")},
    ("classification", "perceptron"): {("SOP", "mistakes")},
    ("regression", "pa"): {LEMMA, INSENSITIVE, (T1, "squared loss")},
    ("regression", "pa1"): {LEMMA, PA1_LOSS},
    ("regression", "pa2"): {(T3, "squared loss")},
}


LABELS = [
    (task, selection, step)
    for task in ("classification", "multilabel", "ordinal")
    for selection, steps in SecondOrderLabels.steps_of.items()
    for step in steps
    if step in ("pa", "pa1", "pa2") and not (task == "ordinal" and selection in ("prediction", "mira"))
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(("task", "selection", "step"), LABELS)
def test_theorems_of_many_labels_hold_with_a_covariance(kind, task, selection, step, geometry):
    rng, seen = np.random.default_rng(2), set()
    realizable = step == "pa"
    for _ in range(8):
        X, y, u = label_stream(rng, task, realizable)
        if not len(X):
            continue
        C = float(rng.choice([0.02, 0.1, 1.0]))
        options = {"step": step, "C": C, "selection": selection, **geometry}
        options |= {"beta": 1.0} if selection == "mira" else {"margin": 1.0}
        options |= {"initial_variance": float(rng.choice([0.5, 1.0, 3.0]))}
        run = trace(kind, task, X, y, K, **options)
        for rival in [u] if realizable else [u, 0 * u, u / 3]:
            n = X.shape[1]
            c = (
                run.comparator(rival[:n], thresholds=rival[n:])
                if task == "ordinal"
                else run.comparator(rival)
            )
            assert not realizable or c.loss == 0
            assert run.statistics.largest_q == pytest.approx(c.largest_q)
            holds(guarantees(step, run.statistics, c, C=C), seen)
    count = "updates" if selection == "prediction" else "mistakes"
    assert (LEMMA in seen) or step == "pa2"
    if selection in ("max", "prediction"):
        assert ({"pa": T1, "pa1": T2, "pa2": T3}[step], count) in seen
        assert step != "pa1" or {(SHARPER[0], count), PA1_LOSS} <= seen
    else:
        assert any(quantity == "mistakes" for _, quantity in seen)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize("k", [None, K])
def test_the_trace_equals_the_matrices_of_the_twin(geometry, k):
    """Q(u), vmax and the rest from the explicit matrices of the twin."""
    rng = np.random.default_rng(3)
    options = {
        "step": "pa2",
        "fit_intercept": True,
        "intercept_value": 1.0,
        "initial_variance": 2.0,
        "covariance_regularizer": 0.4,
        **geometry,
    }
    X = rng.normal(size=(30, 3))
    y = rng.choice([-1, 1], 30) if k is None else rng.integers(k, size=30)
    run, twin = (
        trace("reference", "classification", X, y, k, **options),
        make("reference", "classification", k, **options),
    )
    u = rng.normal(size=4 if k is None else (k, 4))
    Q, log_determinant = 0.0, None
    for x, label in zip(X, y, strict=True):
        updates, before = twin.statistics.updates, None if twin.S is None else twin.S.inverse
        twin.learn(x, label)
        if twin.statistics.updates > updates:
            change = twin.S.inverse - (np.eye(4) / 2 if before is None else before)
            Q += sum(d @ change @ d for d in np.atleast_2d(twin.state - u))
    assert run.Q(u) == pytest.approx(Q, rel=1e-10)
    c = run.comparator(u[..., :-1], intercept=u[..., -1])
    assert c.distance2 == pytest.approx(Q + np.sum(u**2) / 2)
    assert c.largest_q == pytest.approx(twin.statistics.largest_q)
    if k is None and geometry["geometry"] == "mahalanobis":
        _, log_determinant = np.linalg.slogdet(twin.S.inverse * 2)
        assert c.second_order.log_determinant == pytest.approx(log_determinant)
        seen = u @ (twin.S.inverse - np.eye(4) / 2) @ u * 0.4
        assert c.second_order.seen == pytest.approx(seen)
        assert c.second_order.spared == twin.statistics.updates - twin.statistics.mistakes > 0


def test_bounds_equal_those_computed_by_hand():
    """Two rounds, x = 1 and x = 2 with y = +1 and -1, u = 1/2, S_0 = 1, r = 1.

    PAM-II with C = 1/2: l = 1, v = 1, tau = 1/2, w = 1/2, A = 2; then l = 2, v = 2, tau = 2/3, w = 1/2 - 2/3, A = 6.
    u has the losses 1/2 and 2, Q(u) = 0 + 4 (2/3)^2, X = 5, and both rounds are mistakes.
    """
    geometry = {"geometry": "mahalanobis"}

    def of(step, C, X=((1.0,), (2.0,)), y=(1, -1)):
        run = trace("reference", "classification", X, y, step=step, C=C, **geometry)
        return {
            (g.theorem, g.quantity): g.guaranteed
            for g in guarantees(step, run.statistics, run.comparator([0.5]), C=C)
            if g.applicable
        }

    Q = 4 * (2 / 3) ** 2
    assert of("pa2", 0.5) == pytest.approx(
        {
            (T3, "squared loss"): 3 * (0.25 + Q + 4.25),
            (T3, "mistakes"): 3 * (0.25 + Q + 4.25),
            ("AROW", "mistakes"): math.sqrt(0.25 + 5 / 4) * math.sqrt(math.log(6)) + 2.5,
        }
    )
    assert ("AROW", "mistakes") not in of("pa2", 0.4)
    # x = 1 twice: w = 1/2, so the second round is an update without a mistake; u has the loss 1/2 twice, X = 2
    spared = of("pa2", 0.5, [[1.0], [1.0]], [1, 1])["AROW", "mistakes"]
    assert spared == pytest.approx(math.sqrt(0.25 + 2 / 4) * math.sqrt(math.log(3) + 1) + 1 - 1)
    assert of("perceptron", 1.0) == pytest.approx(
        {("SOP", "mistakes"): 2.5 + math.sqrt((0.25 + 5 / 4) * math.log(6))}
    )
    # PAM-I, C = 1/2: tau = 1/2 and then 1/2, w = 1/2 and 0; Q = 0 + 4/4
    # v = 1 and 4/2: R2 = 2, twice
    assert of("pa1", 0.5) == pytest.approx(
        {
            LEMMA: 0.25 + 1 + 2.5,
            (T2, "mistakes"): 2 * (0.25 + 1 + 2.5),
            SHARPER: 2 * (0.25 + 1 + 2.5),
            PA1_LOSS: 2.5 + 0.25 + 1 + 0.25 * 4,
        }
    )
    cautious = of("pa1", 0.1)  # w = 0.1 and 0, Q = 0.4^2 + 4 (1/2)^2
    assert cautious[SHARPER] == pytest.approx((0.25 + 1.16 + 0.2 * 2.5) / (0.2 - 0.01 * 2))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
def test_one_example_reaches_the_second_order_bounds(kind, geometry):
    """x = 1. The comparator is where the learner goes: 1, or for PA-II 2C/(2C + 1)."""
    for step, C, u, theorem in [("pa", 1.0, 1.0, T1), ("pa1", 1.0, 1.0, T2), ("pa2", 0.7, 1.4 / 2.4, T3)]:
        run = trace(kind, "classification", [[1.0]], [1], step=step, C=C, **geometry)
        for g in guarantees(step, run.statistics, run.comparator([u]), C=C):
            if g.theorem == theorem:
                assert g.suffered == pytest.approx(g.guaranteed) == pytest.approx(1.0)
    if geometry["geometry"] == "mahalanobis":  # u = 0 suffers 1 a mistake
        for step in ("pa2", "perceptron"):
            run = trace(kind, "classification", [[1.0]], [1], step=step, C=0.5, **geometry)
            found = guarantees(step, run.statistics, run.comparator([0.0]), C=0.5)
            guarantee = find(found, {"pa2": "AROW", "perceptron": "SOP"}[step], "mistakes")
            assert guarantee.suffered == guarantee.guaranteed == 1.0


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
def test_follow_records_the_run_of_the_learner(geometry):
    """The run of a hinge.Learner is that of the twin."""
    import hinge

    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(25, 3)), rng.choice([-1, 1], 25)
    options = {
        "step": "pa1",
        "C": 0.3,
        "fit_intercept": True,
        "intercept_value": 0.5,
        "initial_variance": 0.5,
    }
    options |= geometry
    run = follow(hinge.Learner("classification", classes=[-1, 1], **options), X, y)
    twin = trace("reference", "classification", X, y, **options)
    c, same = (r.comparator([1.0, 0.0, 2.0], intercept=0.5) for r in (run, twin))
    for name in ("distance2", "largest_q", "loss"):
        assert getattr(c, name) == pytest.approx(getattr(same, name)), name
    for name in ("seen", "log_determinant", "update_loss", "spared"):
        assert getattr(c.second_order, name) == pytest.approx(getattr(same.second_order, name)), name
    learner = hinge.Learner("classification", classes=[-1, 1], **options)
    learner.learn(X, y)
    with pytest.raises(ValueError, match="learned already"):
        follow(learner, X, y)
    with pytest.raises(ValueError, match="have to be followed"):
        follow(hinge.Learner("classification", classes=[-1, 1]), X, y)
