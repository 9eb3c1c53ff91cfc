"""T0.1 and T0.2 term by term (docs/theory/committees.md): every step of their proofs, with a PA-I of a few lines.

A constraint is w.a >= b. Two classes: a = y x, b = m. Many: a = x for the label and -x for its highest rival.
Regression: the violated side of the tube.
"""

from __future__ import annotations

import numpy as np
import pytest

EPS = 1e-9


def constraint(task, w, x, y, m):
    """a and b of the round, for weights w (one row per label)."""
    if task == "two":
        return (y * x)[None, :], m
    if task == "many":
        scores = w @ x
        scores[y] = -np.inf
        a = np.zeros_like(w)
        a[y], a[np.argmax(scores)] = x, -x
        return a, m
    side = 1.0 if y >= w[0] @ x else -1.0
    return (side * x)[None, :], side * y - m  # m is epsilon


def random_case(rng, task):
    rounds, n, k = int(rng.integers(1, 40)), int(rng.integers(1, 4)), 3 if task == "many" else 1
    X = rng.integers(-8, 9, size=(rounds, n)) / 4 * 10.0 ** rng.integers(-1, 2)
    X = X[rng.integers(0, rounds, rounds)]  # repeated points
    y = {"two": rng.choice([-1.0, 1.0], rounds), "many": rng.integers(3, size=rounds)}.get(
        task, rng.normal(size=rounds) * 3
    )
    u = rng.normal(size=(k, n)) * 10.0 ** rng.integers(-2, 2)
    return X, y, u, float(10.0 ** rng.uniform(-3, 2)), float(rng.choice([0.5, 1.0, 2.0]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("task", ["two", "many", "regression"])
def test_every_term_of_the_proofs(task, weighted):
    rng, ratios = np.random.default_rng(0), []
    for _ in range(300):
        X, y, u, C, m = random_case(rng, task)
        o = rng.choice([0.25, 1.0, 3.0], len(X)) if weighted else np.ones(len(X))
        R2 = (2 if task == "many" else 1) * (X**2).sum(axis=1).max()
        step = min(C, m / (R2 * o.max())) if R2 else C
        w, fall, mistakes, gains, losses, charged, sizes = np.zeros_like(u), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for x, truth, weight in zip(X, y, o, strict=True):
            a, b = constraint(task, w, x, truth, m)
            q = float((a**2).sum())
            loss, its = max(0.0, b - (w * a).sum()), max(0.0, b - (u * a).sum())
            losses, charged = losses + weight * loss, charged + weight * its
            if q == 0:  # nothing moves, and u suffers the same
                assert loss == its
                mistakes += weight * (task != "regression")
                continue
            tau = min(C * weight, loss / q)
            gain = tau * (2 * loss - tau * q)
            slack = EPS * (1 + abs(gain))
            for c in (0.0, 1e-3 * C, step, 0.7 * C, C):  # Lemma 1
                assert gain >= c * weight * (2 * loss - c * weight * q) - slack
            before = ((w - u) ** 2).sum()
            w = w + tau * a
            after = ((w - u) ** 2).sum()
            assert before - after >= gain - 2 * tau * its - EPS * (1 + before)  # Lemma 2
            fall += before - after
            gains += gain
            sizes += weight**2 * q * (tau > 0)
            if task != "regression" and loss >= m:  # a mistake
                mistakes += weight
                assert gain >= step * weight * (2 * m - step * R2 * o.max()) - slack
        D2 = float((u**2).sum())
        assert fall <= D2 + EPS * (1 + D2)
        total = D2 + 2 * C * charged
        assert gains <= total * (1 + EPS)
        assert losses <= (charged + D2 / (2 * C) + C / 2 * sizes) * (1 + EPS)
        ratios.append(losses / (charged + D2 / (2 * C) + C / 2 * sizes))
        if task != "regression":
            bound = total / (2 * step * m - step * step * R2 * o.max())
            assert mistakes <= bound * (1 + EPS)
            ratios.append(mistakes / bound)
            if not weighted:  # never worse than J06 Theorem 4
                assert bound <= max(R2 / m**2, 1 / (C * m)) * total * (1 + EPS)
    assert max(ratios) > 0.95
