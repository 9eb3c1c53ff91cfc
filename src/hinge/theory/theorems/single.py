"""The theorems of one constraint per round: classification, regression and uniclass (S2 to S7), and B03's budgets."""

from __future__ import annotations

import math

from .table import N03_T1, T2, T3, T4, T5, Claim, Run, over, theorem, times

# The squared norm up to which an instance counts as zero and moves nothing (the smallest normal double).
SMALLEST_Q = 2.2250738585072014e-308

# How far from 1 a squared norm may be in a stream "of unit norm". The bound is then corrected for it.
UNIT_SLACK = 1e-9

ANY_NORM = "J06 Theorem 3 for any norms (derived)"
TWO = ("classification",)


# ---------------------------------------------------------------------------------------------------------
# Master inequality, J06 Lemma 1 (Lemmas 6 and 7 for regression and uniclass), any tau_t >= 0, any u:
#     sum tau_t (2 l_t - tau_t q_t - 2 l*_t) <= D2
# `progress` is the sum of tau_t (2 l_t - tau_t q_t). With a cap on tau_t (C for PA-I, 1 for the perceptron):
#     progress <= D2 + 2 cap sum l*_t
# which for PA-I is the derived bound of S3, as progress >= sum min(C l_t, l_t^2/q_t). PA has no cap and needs
# l*_t = 0. It takes l_t = m - y w.x at every move: a perceptron with beta > m moves where l_t = 0 is more than that.
@theorem("J06 Lemma 1", "progress", steps=("pa", "pa1", "perceptron"), carries=True)
def progress(run: Run) -> tuple[float, float, str]:
    cap = {"pa1": run.C, "perceptron": 1.0}.get(run.step, math.inf)
    reason = run.needs_no_loss() if cap == math.inf else ""
    if run.beta > max(0.0, run.u.margin):
        reason = f"it needs a beta of at most the margin, {run.u.margin:.6g}, and beta is {run.beta:.6g}"
    return run.suffered.progress, run.u.distance2 + times(2 * cap, run.u.loss), reason


# ---------------------------------------------------------------------------------------------------------
# A mistake has y w.x <= 0, so l_t >= m: what bounds sum l_t^2 bounds m^2 times the number of mistakes.


def as_mistakes(squared_loss: Claim) -> Claim:
    def claim(run: Run) -> tuple[float, float, str]:
        _, guaranteed, reason = squared_loss(run)
        return run.suffered.mistakes, over(guaranteed, run.u.margin**2), reason

    return claim


# J06 Theorem 2, PA, l*_t = 0 for all t:  sum l_t^2 <= R2 D2
@theorem(T2, "squared loss", steps=("pa",), carries=True)
def realizable(run: Run) -> tuple[float, float, str]:
    return run.suffered.squared_loss, run.u.largest_q * run.u.distance2, run.needs_no_loss()


theorem(T2, "mistakes", steps=("pa",), kinds=TWO, carries=True)(as_mistakes(realizable))


# Derived, PA, any u and any norms but zero. The master inequality with tau_t = l_t/q_t, and Cauchy-Schwarz:
#     sum l_t^2/q_t <= (D + 2 sqrt(sum l*_t^2/q_t))^2
# and so
#     sum l_t^2 <= R2 (D + 2 sqrt(sum l*_t^2/min q_t))^2
@theorem(ANY_NORM, "squared loss", steps=("pa",))
def any_norm(run: Run) -> tuple[float, float, str]:
    u = run.u
    if not u.smallest_q > SMALLEST_Q:
        unknown = math.isnan(u.smallest_q)
        needed = "the smallest norm, which is not known here" if unknown else "instances that are not zero"
        return run.suffered.squared_loss, math.inf, f"it needs {needed}"
    root = math.sqrt(u.distance2) + 2 * math.sqrt(u.squared_loss / u.smallest_q)
    return run.suffered.squared_loss, u.largest_q * root * root, ""


# J06 Theorem 3, PA, |x_t| = 1 for all t (uniclass: always so):  sum l_t^2 <= (D + 2 sqrt(sum l*_t^2))^2
@theorem(T3, "squared loss", steps=("pa",))
def unit_norm(run: Run) -> tuple[float, float, str]:
    suffered, bound, reason = any_norm(run)
    low, high = run.u.smallest_q, run.u.largest_q
    if low < 1 - UNIT_SLACK or high > 1 + UNIT_SLACK:
        found = f"reach {high:.6g}" if math.isnan(low) else f"are from {low:.6g} to {high:.6g}"
        reason = f"it needs squared norms of 1, and here they {found}"
    return suffered, bound, reason


theorem(T3, "mistakes", steps=("pa",), kinds=TWO)(as_mistakes(unit_norm))


# J06 Theorem 4, PA-I, any u:  mistakes <= max(R2, 1/C) (D2 + 2 C sum l*_t)
# For a margin m: at a mistake l_t >= m and progress grows by at least min(C l_t, l_t^2/q_t), so
#     mistakes <= max(R2/m^2, 1/(C m)) (D2 + 2 C sum l*_t)
# multiplied out, so that C = inf works.
@theorem(T4, "mistakes", steps=("pa1",), kinds=TWO, carries=True)
def pa1_mistakes(run: Run) -> tuple[float, float, str]:
    u, m, C = run.u, run.u.margin, run.C
    of_distance = times(max(over(u.largest_q, m**2), over(1, C * m)), u.distance2)
    of_loss = times(max(over(times(2 * C, u.largest_q), m**2), 2 / m), u.loss)
    return run.suffered.mistakes, of_distance + of_loss, ""


# J06 Theorem 5 = N03 Theorem 3 with gamma = 1/(2 C), PA-II, any u:
#     sum l_t^2 <= (R2 + 1/(2 C)) (D2 + 2 C sum l*_t^2) = (R2 + gamma) D2 + (R2/gamma + 1) sum l*_t^2
@theorem(T5, "squared loss", steps=("pa2",), carries=True)
def pa2_squared_loss(run: Run) -> tuple[float, float, str]:
    u, C = run.u, run.C
    of_distance = times(u.largest_q + 1 / (2 * C), u.distance2)
    of_loss = times(times(2 * C, u.largest_q) + 1, u.squared_loss)
    return run.suffered.squared_loss, of_distance + of_loss, ""


theorem(T5, "mistakes", steps=("pa2",), kinds=TWO, carries=True)(as_mistakes(pa2_squared_loss))


# ---------------------------------------------------------------------------------------------------------
# N03 Theorem 1, PA (gamma = 0), with eps* = max delta(u; z_t) <= eps:
#     sum l_t^2 + 2 (eps - eps*) sum l_t <= R2 D2
@theorem(N03_T1, "squared loss and loss", steps=("pa",), carries=True)
def insensitive(run: Run) -> tuple[float, float, str]:
    room = run.u.insensitivity - run.u.largest_discrepancy
    if room < 0:
        return run.suffered.squared_loss, math.inf, run.needs_no_loss()
    suffered = run.suffered.squared_loss + 2 * room * run.suffered.loss
    return suffered, run.u.largest_q * run.u.distance2, ""


# N03 Theorem 1 for a separable sequence, w_1 = 0. If u has the smallest margin s > 0, then c u has c s. The
# theorem holds for every c >= m/s: c = m/s gives the first bound and c = 2 m/s, the best choice, the second.
#     sum l_t^2 <= R2 |u|^2 m^2/s^2        sum l_t <= 2 R2 |u|^2 m/s^2
@theorem("N03 Theorem 1 (separable)", "squared loss", steps=("pa",), kinds=TWO)
def separable_squared_loss(run: Run) -> tuple[float, float, str]:
    reason = run.needs_start_at_zero() or run.needs_separation()
    return run.suffered.squared_loss, math.inf if reason else _separability(run) * run.u.margin**2, reason


@theorem("N03 Theorem 1 (separable)", "loss", steps=("pa",), kinds=TWO)
def separable_loss(run: Run) -> tuple[float, float, str]:
    reason = run.needs_start_at_zero() or run.needs_separation()
    return run.suffered.loss, math.inf if reason else 2 * _separability(run) * run.u.margin, reason


def _separability(run: Run) -> float:
    """R2 |u|^2/s^2: one over the squared margin of the unit vector along u, for instances of norm up to 1."""
    return over(run.u.largest_q * run.u.distance2, run.u.smallest_margin**2)


# N03 Lemma 2, PA, with eps* <= eps as in Theorem 1:  |w_T - w_1| <= 2 |u - w_1| for every T
@theorem("N03 Lemma 2", "distance moved", steps=("pa",))
def distance_moved(run: Run) -> tuple[float, float, str]:
    return run.moved or 0.0, 2 * math.sqrt(run.u.distance2), run.needs_no_loss()


# ---------------------------------------------------------------------------------------------------------
# Perceptron, w_1 = 0, any u (S4). The papers have m = 1; u/m has the hinge losses l*_t/m at margin 1.
# They fail from w_1 != 0, also with |u - w_1| in place of |u|. The aggressive one moves at margins up to beta, so that
# |w|^2 grows by at most R2 + 2 beta an update: this takes the place of R2, and the bounds are about its updates, too.


# mistakes <= L + U/2 + sqrt(U L + U^2/4),  U = R2 |u|^2/m^2, L = sum l*_t/m
@theorem("perceptron, loss", "mistakes", steps=("perceptron",), kinds=TWO)
def perceptron_loss(run: Run) -> tuple[float, float, str]:
    U = over((run.u.largest_q + 2 * run.beta) * run.u.distance2, run.u.margin**2)
    L = over(run.u.loss, run.u.margin)
    return run.suffered.mistakes, L + U / 2 + math.sqrt(U * L + U * U / 4), run.needs_start_at_zero()


# mistakes <= (R |u| + sqrt(sum l*_t^2))^2/m^2
@theorem("perceptron, squared loss", "mistakes", steps=("perceptron",), kinds=TWO)
def perceptron_squared_loss(run: Run) -> tuple[float, float, str]:
    root = math.sqrt((run.u.largest_q + 2 * run.beta) * run.u.distance2) + math.sqrt(run.u.squared_loss)
    return run.suffered.mistakes, over(root * root, run.u.margin**2), run.needs_start_at_zero()


# Novikoff (B03, S4): with y_t u.x_t >= s > 0 for all t,  updates <= (R2 + 2 beta) |u|^2/s^2
@theorem("perceptron, separable", "updates", steps=("perceptron",), kinds=TWO)
def perceptron_separable(run: Run) -> tuple[float, float, str]:
    reason = run.needs_start_at_zero() or run.needs_separation()
    if reason:
        return run.suffered.updates, math.inf, reason
    larger = 1 + 2 * run.beta / run.u.largest_q if run.u.largest_q > 0 else 1.0
    return run.suffered.updates, _separability(run) * larger, reason


# ---------------------------------------------------------------------------------------------------------
# Budgets (B03, S14).


def cache_bound(largest_q: float, smallest_margin: float, beta: float = 0.01) -> float:
    """The most supports that the aggressive perceptron with budget='adaptive' ever keeps, in any order of removal.

    `largest_q` is the largest K(x, x) (R^2), `smallest_margin` the smallest y u.x of a u of length 1 in the space of
    the kernel, above 0: (R^2 + 2 beta)/margin^2 (B03).

    >>> from hinge.theory import cache_bound
    >>> cache_bound(1.0, 0.25, beta=0.5)
    32.0
    """
    if not (largest_q >= 0 and beta >= 0):
        raise ValueError(f"largest_q and beta must be 0 or more, not {largest_q!r} and {beta!r}")
    if not smallest_margin > 0:
        raise ValueError(f"it needs a u without mistakes: the smallest margin is {smallest_margin!r}")
    return (largest_q + 2 * beta) / smallest_margin**2
