"""Claims that are false as printed (S22): the numbers that refute them, and the resolved ones that hold.

E9 is in test_bounds_labels.py (the bound with the best C), E13 too (thresholds that cross).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from geometry_learners import KINDS, make, trace
from hinge.theory import comparator, guarantees, on_simplex
from hinge.theory.comparators.entropy import divergence
from label_streams import find
from reference_geometries import EntropyReference


def run(kind, step, X, y, C=1.0):
    return trace(kind, "classification", np.array(X, dtype=float), y, geometry="mahalanobis", step=step, C=C)


def sizes(X, before):
    """x'Sx of each round, every one an update, with the covariance before or after it."""
    A, found = np.eye(len(X[0])), []
    for x in np.array(X, dtype=float):
        after = A + np.outer(x, x)
        found.append(x @ np.linalg.inv(A if before else after) @ x)
        A = after
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_E1_theorem_1_of_m11_needs_the_covariance_before_the_update(kind):
    """Printed: sum l^2 <= (|u|^2 + u'XX'u) max x'Sx, S updated. x = (1, 0), (-1, 1), y = +1, u = (1, 2): 5 > 4.2."""
    X, y, u = [[1, 0], [-1, 1]], [1, 1], np.array([1.0, 2.0])
    pam = run(kind, "pa", X, y)
    c = pam.comparator(u)
    assert c.loss == 0
    assert pam.statistics.squared_loss == pytest.approx(5.0)
    data = u @ u + np.sum((np.array(X) @ u) ** 2)
    assert data * max(sizes(X, before=False)) == pytest.approx(4.2)

    guarantee = find(guarantees("pa", pam.statistics, c), "M11 Theorem 1 (resolved)", "squared loss")
    assert guarantee.guaranteed == pytest.approx(data * max(sizes(X, before=True))) == pytest.approx(10.5)
    assert guarantee.holds


@pytest.mark.parametrize("kind", KINDS)
def test_E2_theorem_2_of_m11_needs_twice_C_and_Q(kind):
    """Printed: mistakes <= max(x'Sx, 1/C) (|u|^2 + u'XX'u + C sum l*). x = 1, y = -1, C = 1, u = -1/4: 1 > 0.875."""
    X, y, u, C = [[1]], [-1], np.array([-0.25]), 1.0
    pam1 = run(kind, "pa1", X, y, C)
    c = pam1.comparator(u)
    assert (pam1.statistics.mistakes, c.loss) == (1, 0.75)
    for before in (False, True):
        printed = max(*sizes(X, before), 1 / C) * (u @ u + np.sum((np.array(X) @ u) ** 2) + C * c.loss)
        assert printed == pytest.approx(0.875)

    guarantee = find(guarantees("pa1", pam1.statistics, c, C=C), "M11 Theorem 2 (resolved)", "mistakes")
    assert guarantee.guaranteed == pytest.approx(1 / 16 + (1 - 1 / 4) ** 2 + 2 * 0.75)
    assert guarantee.holds


@pytest.mark.parametrize("kind", KINDS)
def test_E3_theorem_3_of_m11_needs_twice_C_and_Q(kind):
    """Printed, up to an illegible factor of u'XX'u: sum l^2 <= (max x'Sx + 1/(2C)) (|u|^2 + ? u'XX'u + C sum l*^2).

    u = 0 makes the factor immaterial: 1 > 0.75 for x = 1, C = 1/4. With 2C for C: 117.7 > 102 for x = 10, -100.
    """
    C, u = 0.25, np.zeros(1)
    one = run(kind, "pa2", [[1]], [1], C)
    assert one.statistics.squared_loss == 1.0
    for before, printed in [(True, 0.75), (False, 0.625)]:
        assert (max(sizes([[1]], before)) + 1 / (2 * C)) * C * one.comparator(u).squared_loss == printed

    X = [[10], [-100]]
    two = run(kind, "pa2", X, [1, 1], C)
    c = two.comparator(u)
    assert (
        two.statistics.squared_loss
        == pytest.approx(1 + (1 + 1000 / 102) ** 2)
        == pytest.approx(117.7, abs=0.1)
    )
    assert (max(sizes(X, before=True)) + 1 / (2 * C)) * 2 * C * c.squared_loss == pytest.approx(102)

    for pam2 in (one, two):
        found = guarantees("pa2", pam2.statistics, pam2.comparator(u), C=C)
        assert find(found, "M11 Theorem 3 (resolved)", "squared loss").holds
    # w = 10/102 after the first round, and S = 1/101; Q(0) is 10^2 w^2 and then 100^2 w^2
    w1 = 10 / 102
    w2 = w1 - (1 + 100 * w1) / (10000 / 101 + 2) * 100 / 101
    found = guarantees("pa2", two.statistics, c, C=C)
    guarantee = find(found, "M11 Theorem 3 (resolved)", "squared loss")
    assert guarantee.guaranteed == pytest.approx(102 * ((10 * w1) ** 2 + (100 * w2) ** 2 + 1))


def paper_uniclass(kind, n, radius, rounds, **options):
    learner = make(kind, "uniclass", geometry="entropy", signed=False, step="pa", radius=radius, **options)
    for _ in range(rounds):
        learner.learn(np.eye(n)[0])
    return learner


class Matched(EntropyReference):
    """tau = l/4: the constant that B = 16 belongs to."""

    def discrepancy(self, x, y):
        delta, v, _ = super().discrepancy(x, y)
        return delta, v, 4.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n", "radius", "factor"), [(10, 0.5, 1.07), (1000, 0.7, 1.43)])
def test_E18_theorem_4_of_n03_for_uniclass(kind, n, radius, factor):
    """Printed: tau = l/(8 |v|_inf^2) has sum l^2 + 2 (eps - eps*) sum l <= 16/2 KL(u || w_1).

    The first unit vector of R^n again and again, which is u (eps* = 0, KL = log n): more than that by the factor.
    """
    printed = 8 * math.log(n)
    assert divergence(np.eye(n)[0], None, False)[0] == pytest.approx(math.log(n))

    def left(s):
        return s.squared_loss + 2 * radius * s.loss

    literal = paper_uniclass(kind, n, radius, 400, entropy_step="paper").statistics
    assert left(literal) > factor * printed
    matched = Matched("uniclass", signed=False, step="pa", radius=radius)
    for _ in range(400):
        matched.learn(np.eye(n)[0])
    assert left(matched.statistics) <= printed
    ranged = paper_uniclass(kind, n, radius, 400, entropy_step="range").statistics
    X, u = np.tile(np.eye(n)[0], (400, 1)), np.eye(n)[0]
    for rule, statistics, B in [("paper", literal, 32), ("range", ranged, 2)]:
        c = comparator("uniclass", X, None, u, radius=radius, w1="zero")
        c = on_simplex(c, X, u, scale=1.0, signed=False, entropy_step=rule)
        guarantee = find(guarantees("pa", statistics, c), "N03 Theorem 4 (resolved)", "squared loss and loss")
        assert guarantee.suffered == pytest.approx(left(statistics))
        assert guarantee.guaranteed == pytest.approx(B / 2 * math.log(n))
        assert guarantee.holds


@pytest.mark.parametrize("kind", KINDS)
def test_E24_on_the_plain_simplex_no_prediction_is_negative(kind):
    """N03 section 6 has x >= 0 and w on the simplex, so that w.x >= 0; doubled features can say -1."""
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = np.where(X[:, 0] > X[:, 1], 1, -1)
    plain = make(kind, "classification", geometry="entropy", signed=False, step="pa", entropy_step="paper")
    doubled = make(kind, "classification", geometry="entropy", step="pa1", C=0.5, scale=5.0, margin=0.3)
    for x, label in zip(X, y, strict=True):
        plain.learn(x, label)
        doubled.learn(x, label)
        assert (np.array(plain.w) >= 0).all()
    assert plain.statistics.mistakes >= np.sum(y < 0) > 20
    assert np.sum((X @ np.array(doubled.w) < 0) & (y < 0)) > 15
    assert plain.statistics.mistakes > doubled.statistics.mistakes
