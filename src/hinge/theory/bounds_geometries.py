"""The theorems in other geometries, computable: `bounds.guarantees` with comparators of their own.

Entropy (S13.6, S16):

    c = entropy_comparator("classification", X, y, u, scale=4.0)
    for guarantee in guarantees("pa1", learner.statistics, c, C=0.1):
        print(guarantee)

Mahalanobis and diagonal (S17, S18). What is guaranteed depends on which directions the learner had become sure
of, so its run has to be followed: a learner that has learned nothing yet is given the stream, row by row.

    trace = follow(hinge.Learner("classification", geometry="mahalanobis", step="pa2", C=0.1), X, y)
    c = trace.comparator(u, intercept=b)
    for guarantee in guarantees("pa2", trace.statistics, c, C=0.1):
        print(guarantee)

(A `Trace` can also be made by hand, one `add` a round.) The stream has no weights, as in `bounds`.

Why these theorems hold: the master inequality (S2) has the same form in every geometry,

    sum tau_t (2 l_t - tau_t q_t - 2 l*_t) <= D2,

with q_t the squared size of the constraint and D2 the squared distance of u from the start, both as follows. A
theorem that needs no more than this inequality carries over, with these two in place of R2 and |u - w_1|^2.
(The others do not: those that rescale u, or need |w|.)

    Mahalanobis  The potential (w_t - u)'A_(t-1)(w_t - u), A the inverse of the covariance, falls with a step as
                 |w_t - u|^2 does in the Euclidean geometry, and rises as A grows. So q_t = x'Sx before the
                 update, R2 is over the updates, and D2 = |u - w_1|^2/a + Q(u), a the initial variance, with
                     Q(u) = sum over the updates of (w_(t+1) - u)'(A_t - A_(t-1))(w_(t+1) - u).
                 Labels: A for each of them. Ranks: A for w; the thresholds as ever.
    Entropy      KL(u || p_t) falls by tau u.z - tau p.z - tau^2 (max z - min z)^2/8 at least (Hoeffding), where z
                 is the direction in the coordinates of p. So q_t = (max z - min z)^2/4 (or more), and
                 D2 = 2 KL(u || p_1). N03's B is 4 R2, and its B KL(u || p_1)/2 is R2 D2.

M11's theorems are false as printed (S22, E1 to E3), and so is N03's for uniclass (E18): here are the resolved ones.
"""

from __future__ import annotations

import math
from typing import cast

from . import bounds_labels as bounds_labels  # its theorems are in the table, to be carried over
from .bounds import _THEOREMS, Guarantee, _Run, _theorem, guarantees
from .comparators_geometries import (
    ENTROPY,
    SECOND_ORDER,
    SecondOrderComparator,
    Trace,
    divergence,
    entropy_comparator,
    entropy_label_comparator,
    entropy_ordinal_comparator,
    follow,
)

__all__ = [
    "Guarantee",
    "SecondOrderComparator",
    "Trace",
    "divergence",
    "entropy_comparator",
    "entropy_label_comparator",
    "entropy_ordinal_comparator",
    "follow",
    "guarantees",
]

T2, T4, T5 = "J06 Theorem 2", "J06 Theorem 4", "J06 Theorem 5 (N03 Theorem 3)"
S06 = "S06 Theorem 1"
DERIVED = " (derived)"

# What follows from the master inequality alone, in bounds and bounds_labels.
_CARRIED = ("J06 Lemma 1", T2, T4, T5, "J06 Theorem 9", "N03 Theorem 1", S06, "MIRA, beta > 0")
_NOT_CARRIED = ("separable", "best C")  # these rescale u

# The names that the papers give to them.
_NAMES = {
    (SECOND_ORDER, T2): "M11 Theorem 1 with Q(u)",
    (SECOND_ORDER, T4): "M11 Theorem 2 (resolved)",
    (SECOND_ORDER, T5): "M11 Theorem 3 (resolved)",
    (ENTROPY, "N03 Theorem 1"): "N03 Theorem 4 (resolved)",
    (ENTROPY, S06): "S06 Theorem 1, entropy",
}


def _carry_over() -> None:
    for entry in list(_THEOREMS):
        carried = entry.name.startswith(_CARRIED) and not any(part in entry.name for part in _NOT_CARRIED)
        steps = tuple(step for step in entry.steps if step != "perceptron")
        if not carried or not steps:
            continue
        for geometry, suffix in ((SECOND_ORDER, ", Mahalanobis"), (ENTROPY, ", entropy")):
            name = _NAMES.get((geometry, entry.name), entry.name.removesuffix(DERIVED) + suffix + DERIVED)
            selections = tuple(geometry + s for s in entry.selections)
            _theorem(name, entry.quantity, steps=steps, tasks=entry.tasks, selections=selections)(entry.claim)


_carry_over()
_ONE = (SECOND_ORDER + "only",)


def _of(run: _Run) -> SecondOrderComparator:
    return cast(SecondOrderComparator, run.u)


# M11 Theorem 1 as resolved in S17, PAM with the full covariance, l*_t = 0 for all t. After the step y w.x = m, and
# y u.x >= m, so each term of Q(u) is at most (u.x)^2/r:
#     sum l_t^2 <= (|u - w_1|^2/a + sum over the updates of (u.x_t)^2/r) vmax
@_theorem(
    "M11 Theorem 1 (resolved)", "squared loss", steps=("pa",), tasks=("classification",), selections=_ONE
)
def _pam(run: _Run) -> tuple[float, float, str]:
    u = _of(run)
    reason = run.needs_no_loss() if u.full else "it needs the full covariance"
    return run.suffered.squared_loss, (u.start_distance2 + u.seen / u.regularizer) * u.largest_q, reason


def _determined(run: _Run) -> str:
    if not _of(run).full:
        return "it needs the full covariance"
    return run.needs_start_at_zero()


# AROW (S18), PA-II with C = 1/(2r), w_1 = 0, any u. With rho = r/a (only the ratio matters: S/a is the inverse of
# I + X/rho), X the sum of xx' over the updates, k the number of updates without a mistake, and u/m for a margin m:
#     mistakes <= sqrt(rho |u|^2 + u'Xu) sqrt(log det(I + X/rho) + k)/m + sum over the updates of l*_t/m - k
@_theorem("AROW", "mistakes", steps=("pa2",), tasks=("classification",), selections=_ONE)
def _arow(run: _Run) -> tuple[float, float, str]:
    u = _of(run)
    reason = _determined(run)
    if not math.isclose(2 * run.C * u.regularizer, 1.0, rel_tol=1e-12):
        reason = (
            f"it needs C = 1/(2 covariance_regularizer) = {1 / (2 * u.regularizer):.6g}, and C is {run.C:.6g}"
        )
    root = math.sqrt(u.regularizer / u.initial_variance * u.norm2 + u.seen) * math.sqrt(
        u.log_determinant + u.spared
    )
    return run.suffered.mistakes, (root + u.update_loss) / u.margin - u.spared, reason


# Second-order perceptron (S18), with rho = r/a as its a, w_1 = 0, any u:
#     mistakes <= sum over the mistakes of l*_t/m + sqrt((rho |u|^2 + u'Xu) log det(I + X/rho))/m
@_theorem("SOP", "mistakes", steps=("perceptron",), tasks=("classification",), selections=_ONE)
def _second_order_perceptron(run: _Run) -> tuple[float, float, str]:
    u = _of(run)
    root = math.sqrt((u.regularizer / u.initial_variance * u.norm2 + u.seen) * u.log_determinant)
    return run.suffered.mistakes, (root + u.update_loss) / u.margin, _determined(run)
