"""Other geometries (S13.6, S16 to S18): why the theorems of the table carry over, and those of a covariance alone.

The master inequality (S2) has the same form in every geometry,

    sum tau_t (2 l_t - tau_t q_t - 2 l*_t) <= D2,

with q_t the squared size of the constraint and D2 the squared distance of u from the start, both as follows. A
theorem that needs no more than this inequality carries over, with these two in place of R2 and |u - w_1|^2.

    Mahalanobis  The potential (w_t - u)'A_(t-1)(w_t - u), A the inverse of the covariance, falls with a step as
                 |w_t - u|^2 does in the Euclidean geometry, and rises as A grows. So q_t = x'Sx before the
                 update, R2 is over the updates, and D2 = |u - w_1|^2/a + Q(u), a the initial variance, with
                     Q(u) = sum over the updates of (w_(t+1) - u)'(A_t - A_(t-1))(w_(t+1) - u).
                 Labels: A for each of them. Ranks: A for w; the thresholds are Euclidean.
    Entropy      KL(u || p_t) falls by tau u.z - tau p.z - tau^2 (max z - min z)^2/8 at least (Hoeffding), where z
                 is the direction in the coordinates of p. So q_t = (max z - min z)^2/4 (or more), and
                 D2 = 2 KL(u || p_1). N03's B is 4 R2, and its B KL(u || p_1)/2 is R2 D2.

M11's theorems are false as printed (S22, E1 to E3), and so is N03's for uniclass (E18): here are the resolved ones.
"""

from __future__ import annotations

import math
from functools import partial

from ..comparators.comparator import SECOND_ORDER, SecondOrder
from . import first_order as first_order  # its rows come first
from .table import Run, theorem

of_two = partial(theorem, kinds=("classification",), geometry=SECOND_ORDER)


def _facts(run: Run) -> SecondOrder:
    assert run.u.second_order is not None
    run.need(run.u.second_order.full, "it needs the full covariance")
    return run.u.second_order


# M11 Theorem 1 as resolved in S17, PAM with the full covariance, l*_t = 0 for all t. After the step y w.x = m, and
# y u.x >= m, so each term of Q(u) is at most (u.x)^2/r:
#     sum l_t^2 <= (|u - w_1|^2/a + sum over the updates of (u.x_t)^2/r) vmax
@of_two("M11 Theorem 1 (resolved)", "squared loss", steps=("pa",))
def pam(run: Run) -> float:
    u = _facts(run)
    run.needs_no_loss()
    return (u.start_distance2 + u.seen / u.regularizer) * run.u.largest_q


# AROW (S18), PA-II with C = 1/(2r), w_1 = 0, any u. With rho = r/a (only the ratio matters: S/a is the inverse of
# I + X/rho), X the sum of xx' over the updates, k the number of updates without a mistake, and u/m for a margin m:
#     mistakes <= sqrt(rho |u|^2 + u'Xu) sqrt(log det(I + X/rho) + k)/m + sum over the updates of l*_t/m - k
@of_two("AROW", "mistakes", steps=("pa2",))
def arow(run: Run) -> float:
    r = run.u.second_order.regularizer if run.u.second_order else 1.0
    fits = math.isclose(2 * run.C * r, 1.0, rel_tol=1e-12)
    run.need(fits, f"it needs C = 1/(2 covariance_regularizer) = {1 / (2 * r):.6g}, and C is {run.C:.6g}")
    u = _facts(run)
    run.needs_start_at_zero()
    length = r / u.initial_variance * run.u.norm2 + u.seen
    root = math.sqrt(length) * math.sqrt(u.log_determinant + u.spared)
    return (root + u.update_loss) / run.u.margin - u.spared


# Second-order perceptron (S18), with rho = r/a as its a, w_1 = 0, any u:
#     mistakes <= sum over the mistakes of l*_t/m + sqrt((rho |u|^2 + u'Xu) log det(I + X/rho))/m
@of_two("SOP", "mistakes", steps=("perceptron",))
def second_order_perceptron(run: Run) -> float:
    u = _facts(run)
    run.needs_start_at_zero()
    root = math.sqrt((u.regularizer / u.initial_variance * run.u.norm2 + u.seen) * u.log_determinant)
    return (root + u.update_loss) / run.u.margin
