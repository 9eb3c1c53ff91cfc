"""The theorems of S13.6 and S16 on random sequences, and on sequences that nearly reach them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from geometry_learners import KINDS, make
from geometry_streams import K, holds, label_stream
from hinge.theory import comparator, guarantees, label_comparator, on_simplex, ordinal_comparator
from hinge.theory.comparators.entropy import divergence
from label_streams import eighths, find


def entropy_stream(rng, task, signed, paper, realizable):
    """Rows, targets, u = scale (p+ - p-) or scale p, and options. Realizable: eps is at least that of u."""
    n, rounds = int(rng.integers(2, 5)), int(rng.integers(1, 15))
    X = eighths(rng, 2, (rounds, n)) * rng.choice([0.3, 1.0])
    X = np.abs(X) if paper or (not signed and rng.integers(2)) else X
    scale = float(rng.choice([0.5, 1.0, 5.0]))
    fit_intercept = bool(task != "uniclass" and rng.integers(2))
    m = n + fit_intercept
    p = rng.dirichlet(np.full(2 * m if signed else m, rng.choice([0.3, 1.0])))
    u = scale * (p[:m] - p[m:] if signed else p)
    Z = np.column_stack([X, np.ones(rounds)]) if fit_intercept else X
    options = {"scale": scale, "signed": signed}
    room = float(rng.choice([0.0, 0.3]))
    if task == "uniclass":
        worst = np.linalg.norm(X - u, axis=1).max()
        return X, None, u, {**options, "radius": worst * (1 + 1e-12) + room if realizable else 0.3}, False
    scores = Z @ u
    if task == "regression":
        epsilon = room + 0.1
        y = scores + 0.1 * (1 - 1e-9) * rng.uniform(-1, 1, rounds) if realizable else eighths(rng, 2, rounds)
        return X, y, u, {**options, "epsilon": epsilon}, fit_intercept
    y, margin = rng.choice([-1, 1], rounds), 1.0
    if realizable:
        keep = np.abs(scores) > 1e-3 if signed else scores > 1e-3
        X, scores = X[keep], scores[keep]
        y, margin = (
            np.sign(scores).astype(int),
            np.abs(scores).min(initial=1.0) * rng.choice([0.5, 1 - 1e-12]),
        )
    return X, y, u, {**options, "margin": float(margin)}, fit_intercept


ENTROPY = [
    (task, step, signed, rule)
    for task, step, signed, rule in itertools.product(
        ("classification", "regression", "uniclass"), ("pa", "pa1", "pa2"), (True, False), ("range", "paper")
    )
    if rule == "range" or (step == "pa" and not signed)
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "step", "signed", "rule"), ENTROPY)
def test_every_theorem_holds_with_entropy(kind, task, step, signed, rule):
    rng, seen = np.random.default_rng(5), set()
    realizable = step == "pa"
    for _ in range(30):
        X, y, u, options, fit_intercept = entropy_stream(rng, task, signed, rule == "paper", realizable)
        if not len(X):
            continue
        C = float(rng.choice([0.05, 0.3, 2.0]))
        options["entropy_step"] = rule
        learner = make(kind, task, geometry="entropy", step=step, C=C, fit_intercept=fit_intercept, **options)
        for i, x in enumerate(X):
            learner.learn(x, None if y is None else y[i])
        m = len(u)
        uniform = np.zeros(m) if signed else np.full(m, options["scale"] / m)
        for rival in [u] if realizable else [u, uniform, (u + uniform) / 2]:
            for largest_q in [None] if task != "uniclass" else [None, learner.statistics.largest_q]:
                b = rival[-1] if fit_intercept else None
                weights = rival[:-1] if fit_intercept else rival
                losses = {name: options[name] for name in ("margin", "epsilon", "radius") if name in options}
                geometry = {name: value for name, value in options.items() if name not in losses}
                c = comparator(task, X, y, weights, intercept=b, w1="zero", **losses)
                c = on_simplex(c, X, weights, extra=b, largest_q=largest_q, **geometry)
                assert c.obstacle == ""
                assert not realizable or c.loss == 0
                assert learner.statistics.largest_q <= c.largest_q * (1 + 1e-12)
                if task != "uniclass":
                    assert learner.statistics.largest_q == pytest.approx(c.largest_q)
                holds(guarantees(step, learner.statistics, c, C=C), seen)
    assert seen >= ENTROPY_EXPECTED[step, task == "classification"]


ENTROPY_LEMMA = ("J06 Lemma 1, entropy (derived)", "progress")
ENTROPY_LOSS = ("PA-I loss, entropy (derived)", "loss")
E5 = "J06 Theorem 5 (N03 Theorem 3), entropy (derived)"
ENTROPY_EXPECTED = {
    ("pa", True): {
        ENTROPY_LEMMA,
        ("N03 Theorem 4 (resolved)", "squared loss and loss"),
        ("J06 Theorem 2, entropy (derived)", "mistakes"),
    },
    ("pa", False): {ENTROPY_LEMMA, ("N03 Theorem 4 (resolved)", "squared loss and loss")},
    ("pa1", True): {
        ENTROPY_LEMMA,
        ("J06 Theorem 4, entropy (derived)", "mistakes"),
        ("J06 Theorem 4, sharper, entropy (derived)", "mistakes"),
        ENTROPY_LOSS,
    },
    ("pa1", False): {ENTROPY_LEMMA, ENTROPY_LOSS},
    ("pa2", True): {(E5, "squared loss"), (E5, "mistakes")},
    ("pa2", False): {(E5, "squared loss")},
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("task", "selection", "step"),
    [
        (task, selection, step)
        for task, selection, step in itertools.product(
            ("classification", "multilabel", "ordinal"),
            ("max", "prediction", "simperc", "conproj", "simproj"),
            ("pa", "pa1", "pa2"),
        )
        if (step == "pa1" or selection in ("max", "prediction"))
        and (task, selection) != ("ordinal", "prediction")
    ],
)
def test_theorems_of_many_labels_hold_with_entropy(kind, task, selection, step):
    rng, seen = np.random.default_rng(6), set()
    realizable = step == "pa"
    for _ in range(15):
        X, y, u = label_stream(rng, task, realizable)
        scale = float(rng.choice([1.0, 2.0]) * max(0.5, np.abs(u).sum()))
        if not len(X):
            continue
        Rinf2 = (scale * max(np.abs(X).max(), 1.0 if task == "ordinal" else 0.0)) ** 2
        C = float(rng.choice([0.3, 1.0, 1.9, 5.0])) / max(Rinf2, 0.1)
        learner = make(kind, task, K, geometry="entropy", step=step, C=C, scale=scale, selection=selection)
        for x, Y in zip(X, y, strict=True):
            learner.learn(x, Y)
        for rival in [u] if realizable else [u, 0 * u, u / 3]:
            if task == "ordinal":
                w, b = rival[: X.shape[1]], rival[X.shape[1] :]
                c = ordinal_comparator(X, y, w, b, selection=selection)
                c = on_simplex(c, X, w, extra=b, scale=scale)
            else:
                c = label_comparator(X, y, rival, selection=selection)
                c = on_simplex(c, X, rival, scale=scale)
            assert (c.largest_q, c.obstacle) == (pytest.approx(Rinf2), "")
            assert not realizable or c.loss == 0
            holds(guarantees(step, learner.statistics, c, C=C), seen)
    count = "updates" if selection == "prediction" else "mistakes"
    expected = {
        "pa": ("J06 Theorem 2, entropy (derived)", count),
        "pa1": ("J06 Theorem 4, entropy (derived)", count),
        "pa2": (E5, count),
        "simperc": ("S06 Theorem 1, entropy", count),
        "conproj": ("S06 Theorem 1, entropy", count),
        "simproj": ("S06 Theorem 1 for SimProj, entropy (derived)", count),
    }
    assert expected.get(selection, expected[step]) in seen


@pytest.mark.parametrize("kind", KINDS)
def test_one_example_nearly_reaches_the_entropy_bounds(kind):
    """One feature x = 1, the margin m = 0.1, u = m: 2 KL = (1+m) log(1+m) + (1-m) log(1-m), which is nearly m^2."""
    m = 0.1
    twice = (1 + m) * math.log(1 + m) + (1 - m) * math.log(1 - m)
    assert m**2 < twice < m**2 * 1.002
    for step, C, theorem in [
        ("pa", 1.0, "N03 Theorem 4 (resolved)"),
        ("pa1", m, "J06 Theorem 4, entropy (derived)"),
    ]:
        learner = make(kind, "classification", geometry="entropy", step=step, C=C, margin=m)
        learner.learn([1.0], 1)
        c = comparator("classification", [[1.0]], [1], [m], margin=m)
        c = on_simplex(c, [[1.0]], [m], scale=1.0)
        assert c.distance2 == pytest.approx(twice)
        [guarantee] = [g for g in guarantees(step, learner.statistics, c, C=C) if g.theorem == theorem]
        assert guarantee.guaranteed == pytest.approx(twice if step == "pa" else twice / m**2)
        assert guarantee.suffered == pytest.approx(m**2 if step == "pa" else 1)
    for selection, theorem in itertools.product(["simperc", "conproj"], ["S06 Theorem 1, entropy"]):
        learner = make(
            kind, "classification", 2, geometry="entropy", step="pa1", C=m, margin=m, selection=selection
        )
        learner.learn([1.0], 1)
        u = np.array([[-m / 2], [m / 2]])
        c = label_comparator([[1.0]], [1], u, margin=m, selection=selection)
        c = on_simplex(c, [[1.0]], u, scale=1.0)
        guarantee = find(guarantees("pa1", learner.statistics, c, C=m), theorem, "mistakes")
        assert guarantee.guaranteed == pytest.approx(twice / m**2)
        assert guarantee.suffered == 1


def test_the_divergence_of_signed_weights_is_the_least():
    """The p of least KL among those that give the same weights; on the border of what they can be; and beyond it."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        n = int(rng.integers(1, 5))
        p1, p = rng.dirichlet(np.ones(2 * n)), rng.dirichlet(np.ones(2 * n))
        d = p[:n] - p[n:]
        least, obstacle = divergence(d, p1, True)
        assert obstacle == ""
        for _ in range(200):  # no other p does better
            some = rng.random(n) * np.minimum(p[:n], p[n:])
            q = p - np.append(some, some)
            rest = rng.dirichlet(np.ones(n)) * some.sum()
            q = q + np.append(rest, rest)
            assert np.sum(q * np.log(q / p1)) >= least - 1e-12
        assert 0 <= least <= np.sum(p * np.log(p / p1)) + 1e-12
    assert divergence(np.array([0.25, -0.75]), None, True)[0] == pytest.approx(
        math.log(4) + 0.25 * math.log(0.25) + 0.75 * math.log(0.75)
    )
    assert divergence(np.zeros(3), None, True)[0] == pytest.approx(0.0, abs=1e-15)
    assert divergence(np.array([0.7, -0.4]), None, True)[1]
    assert divergence(np.array([0.5, 0.4]), None, False)[1]
    assert divergence(np.array([1.5, -0.5]), None, False)[1]
    empty = np.zeros((0, 2))
    found = guarantees(
        "pa1",
        make("reference", "classification", geometry="entropy").statistics,
        on_simplex(comparator("classification", empty, [], [1.0, 1.0]), empty, [1.0, 1.0], scale=1.0),
    )
    assert found
    assert not any(g.applicable for g in found)
