"""The theorems, computable: what is guaranteed on your data, beside what was suffered.

Every theorem compares an online learner with a *comparator*, any fixed predictor u that you like (one
fitted in hindsight, say). First find what u suffers on the stream, then ask what follows for the learner:

    c = comparator("classification", X, y, u, intercept=b)
    for guarantee in guarantees("pa1", learner.statistics, c, C=0.1):
        print(guarantee)

The stream is the one that the learner saw, row for row, each row as often as it was presented, and
without weights: streams with a sample weight other than 1 are out of scope (the theorems do not cover
them), and rows of weight 0, which are not rounds, must be left out.

Notation, in all comments: w_1 the start of the learner, l_t its loss before the update, l*_t the loss of
u, D2 = |u - w_1|^2, R2 = the largest q_t, where q_t = |x_t|^2 (1 for uniclass), m the margin (the papers
have m = 1), eps the insensitivity: the loss is [delta - eps]_+ of a discrepancy delta, which is
-y u.x in classification (eps = -m), |y - u.x| in regression, |x - u| in uniclass (eps = the radius).
An intercept is a coordinate in which every instance is 1. It counts in q_t and in D2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from .comparators_single import TASKS, Comparator, comparator

__all__ = ["Comparator", "Guarantee", "Statistics", "cache_bound", "comparator", "guarantees"]

STEPS = ("pa", "pa1", "pa2", "perceptron")

# The squared norm up to which an instance counts as zero and moves nothing (the smallest normal double).
SMALLEST_Q = 2.2250738585072014e-308

# `suffered <= guaranteed` allows for rounding: sums of many rounds, added up in a different order.
RELATIVE_SLACK, ABSOLUTE_SLACK = 1e-9, 1e-12
SINGLE_SLACK = 1e-5  # relative, of learners that keep their weights in float32

# How far from 1 a squared norm may be in a stream "of unit norm". The bound is then corrected for it.
UNIT_SLACK = 1e-9


class Statistics(Protocol):
    """What a learner suffered, by its predictors as they were before each update."""

    @property
    def rounds(self) -> int: ...
    @property
    def mistakes(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def loss(self) -> float: ...
    @property
    def squared_loss(self) -> float: ...
    @property
    def largest_q(self) -> float: ...
    @property
    def progress(self) -> float: ...


@dataclass(frozen=True)
class Guarantee:
    """One theorem on one stream: what was suffered, and what is guaranteed."""

    theorem: str  # "J06 Theorem 4"
    quantity: str  # what is bounded: "mistakes", "squared loss", ...
    suffered: float
    guaranteed: float  # infinity if the theorem does not apply
    reason: str = ""  # why it does not apply
    slack: float = RELATIVE_SLACK  # the rounding that is allowed for

    @property
    def applicable(self) -> bool:
        return not self.reason

    @property
    def holds(self) -> bool:
        """Whether the guarantee was kept, rounding allowed for. True if the theorem does not apply."""
        allowed = self.guaranteed * (1 + self.slack) + ABSOLUTE_SLACK
        return not self.applicable or self.suffered <= allowed

    def __str__(self) -> str:
        if not self.applicable:
            return f"{self.theorem} guarantees nothing about the {self.quantity} here: {self.reason}."
        kept = "" if self.holds else ", which is violated"
        return (
            f"{self.theorem} guarantees {self.quantity} of at most {self.guaranteed:.6g}{kept}; "
            f"suffered: {self.suffered:.6g}."
        )


@dataclass(frozen=True)
class _Run:
    """What a theorem may look at."""

    step: str
    C: float
    suffered: Statistics
    u: Comparator
    moved: float | None  # |w_(T+1) - w_1|
    total: float | None = None  # the sum of all step lengths
    beta: float = 0.0  # the perceptron's margin

    def needs_no_loss(self) -> str:
        loss = self.u.loss
        return f"it needs a comparator without loss, and this one's is {loss:.6g}" if loss > 0 else ""

    def needs_start_at_zero(self) -> str:
        return "" if self.u.from_zero else "it needs a learner that started at zero"

    def needs_separation(self) -> str:
        return "" if self.u.smallest_margin > 0 else "it needs a comparator that makes no mistake"


# A theorem returns what was suffered, what is guaranteed, and why it does not apply ("" if it does).
_Theorem = Callable[[_Run], tuple[float, float, str]]


@dataclass(frozen=True)
class _Entry:
    name: str
    quantity: str
    steps: tuple[str, ...]
    tasks: tuple[str, ...]
    selections: tuple[str, ...]
    claim: _Theorem


_THEOREMS: list[_Entry] = []


def _theorem(
    name: str,
    quantity: str,
    *,
    steps: tuple[str, ...],
    tasks: tuple[str, ...] = TASKS,
    selections: tuple[str, ...] = ("only",),
) -> Callable[[_Theorem], _Theorem]:
    """Enters a theorem into the table, for those steps, tasks and selections."""

    def enter(claim: _Theorem) -> _Theorem:
        _THEOREMS.append(_Entry(name, quantity, steps, tasks, selections, claim))
        return claim

    return enter


def guarantees(
    step: str,
    statistics: Statistics,
    comparator: Comparator,
    *,
    C: float = 1.0,
    moved: float | None = None,
    total: float | None = None,
    beta: float = 0.0,
) -> list[Guarantee]:
    """Every theorem for a learner of that step and C, which suffered `statistics` on the comparator's stream.

    A theorem whose precondition fails is in the list too, as not applicable and with the reason. Give
    `moved`, the distance |w - w_1| of the learner from its start, to have that bounded as well (for a
    learned radius, with its coordinate: see algorithm S7). Likewise `total`, the sum of all step lengths,
    for MIRA with beta = 0. `beta` is that of the aggressive perceptron (S4).
    """
    if step not in STEPS:
        raise ValueError(f"step is {step!r}; it can be {', '.join(STEPS)}")
    if step == "perceptron" and comparator.task in ("regression", "uniclass"):
        raise ValueError("the perceptron is for classification")
    if not C > 0:
        raise ValueError(f"C is {C}; it must be above 0")
    if statistics.rounds != comparator.rounds:
        raise ValueError(
            f"the learner saw {statistics.rounds} rounds and u {comparator.rounds}; "
            "they must have seen the same stream"
        )
    if step != "perceptron" and beta:
        raise ValueError(f"beta is {beta}; it is the perceptron's")
    run = _Run(step, C, statistics, comparator, moved, total, beta)
    aggressive = "it is about beta = 0" if beta > 0 and comparator.selection != "only" else ""
    given = {"distance moved": moved, "total step": total}
    steps = {step, "pa"} if math.inf == C and step != "perceptron" else {step}  # PA-I(inf) = PA-II(inf) = PA
    found = []
    for entry in _THEOREMS:
        concerned = comparator.task in entry.tasks and comparator.selection in entry.selections
        if concerned and steps.intersection(entry.steps) and given.get(entry.quantity, 0.0) is not None:
            suffered, guaranteed, reason = entry.claim(run)
            reason = comparator.obstacle or aggressive or reason
            guaranteed = math.inf if reason else guaranteed
            found.append(Guarantee(entry.name, entry.quantity, suffered, guaranteed, reason))
    return found


def _times(a: float, b: float) -> float:
    """a b with 0 inf = 0: a coefficient may be infinite (C = inf), but no loss costs nothing."""
    return 0.0 if a == 0 or b == 0 else a * b


def _over(a: float, b: float) -> float:
    """a/b, and infinity where b is too small a number: squares of tiny margins are 0."""
    return a / b if b else math.inf


# ---------------------------------------------------------------------------------------------------------
# Master inequality, J06 Lemma 1 (Lemmas 6 and 7 for regression and uniclass), any tau_t >= 0, any u:
#     sum tau_t (2 l_t - tau_t q_t - 2 l*_t) <= D2
# `progress` is the sum of tau_t (2 l_t - tau_t q_t). With a cap on tau_t (C for PA-I, 1 for the perceptron):
#     progress <= D2 + 2 cap sum l*_t
# which for PA-I is the derived bound of S3, as progress >= sum min(C l_t, l_t^2/q_t). PA has no cap and needs
# l*_t = 0. It takes l_t = m - y w.x at every move: a perceptron with beta > m moves where l_t = 0 is more than that.
@_theorem("J06 Lemma 1", "progress", steps=("pa", "pa1", "perceptron"))
def _progress(run: _Run) -> tuple[float, float, str]:
    cap = {"pa1": run.C, "perceptron": 1.0}.get(run.step, math.inf)
    reason = run.needs_no_loss() if cap == math.inf else ""
    if run.beta > max(0.0, run.u.margin):
        reason = f"it needs a beta of at most the margin, {run.u.margin:.6g}, and beta is {run.beta:.6g}"
    return run.suffered.progress, run.u.distance2 + _times(2 * cap, run.u.loss), reason


# ---------------------------------------------------------------------------------------------------------
# A mistake has y w.x <= 0, so l_t >= m: what bounds sum l_t^2 bounds m^2 times the number of mistakes.


def _as_mistakes(squared_loss: _Theorem) -> _Theorem:
    def claim(run: _Run) -> tuple[float, float, str]:
        _, guaranteed, reason = squared_loss(run)
        return run.suffered.mistakes, _over(guaranteed, run.u.margin**2), reason

    return claim


# J06 Theorem 2, PA, l*_t = 0 for all t:  sum l_t^2 <= R2 D2
@_theorem("J06 Theorem 2", "squared loss", steps=("pa",))
def _realizable(run: _Run) -> tuple[float, float, str]:
    return run.suffered.squared_loss, run.u.largest_q * run.u.distance2, run.needs_no_loss()


_theorem("J06 Theorem 2", "mistakes", steps=("pa",), tasks=("classification",))(_as_mistakes(_realizable))


# Derived, PA, any u and any norms but zero. The master inequality with tau_t = l_t/q_t, and Cauchy-Schwarz:
#     sum l_t^2/q_t <= (D + 2 sqrt(sum l*_t^2/q_t))^2
# and so
#     sum l_t^2 <= R2 (D + 2 sqrt(sum l*_t^2/min q_t))^2
@_theorem("J06 Theorem 3 for any norms (derived)", "squared loss", steps=("pa",))
def _any_norm(run: _Run) -> tuple[float, float, str]:
    u = run.u
    if not u.smallest_q > SMALLEST_Q:
        unknown = math.isnan(u.smallest_q)
        needed = "the smallest norm, which is not known here" if unknown else "instances that are not zero"
        return run.suffered.squared_loss, math.inf, f"it needs {needed}"
    root = math.sqrt(u.distance2) + 2 * math.sqrt(u.squared_loss / u.smallest_q)
    return run.suffered.squared_loss, u.largest_q * root * root, ""


# J06 Theorem 3, PA, |x_t| = 1 for all t (uniclass: always so):  sum l_t^2 <= (D + 2 sqrt(sum l*_t^2))^2
@_theorem("J06 Theorem 3", "squared loss", steps=("pa",))
def _unit_norm(run: _Run) -> tuple[float, float, str]:
    suffered, bound, reason = _any_norm(run)
    low, high = run.u.smallest_q, run.u.largest_q
    if low < 1 - UNIT_SLACK or high > 1 + UNIT_SLACK:
        found = f"reach {high:.6g}" if math.isnan(low) else f"are from {low:.6g} to {high:.6g}"
        reason = f"it needs squared norms of 1, and here they {found}"
    return suffered, bound, reason


_theorem("J06 Theorem 3", "mistakes", steps=("pa",), tasks=("classification",))(_as_mistakes(_unit_norm))


# J06 Theorem 4, PA-I, any u:  mistakes <= max(R2, 1/C) (D2 + 2 C sum l*_t)
# For a margin m: at a mistake l_t >= m and progress grows by at least min(C l_t, l_t^2/q_t), so
#     mistakes <= max(R2/m^2, 1/(C m)) (D2 + 2 C sum l*_t)
# multiplied out, so that C = inf works.
@_theorem("J06 Theorem 4", "mistakes", steps=("pa1",), tasks=("classification",))
def _pa1_mistakes(run: _Run) -> tuple[float, float, str]:
    u, m, C = run.u, run.u.margin, run.C
    of_distance = _times(max(_over(u.largest_q, m**2), _over(1, C * m)), u.distance2)
    of_loss = _times(max(_over(_times(2 * C, u.largest_q), m**2), 2 / m), u.loss)
    return run.suffered.mistakes, of_distance + of_loss, ""


# J06 Theorem 5 = N03 Theorem 3 with gamma = 1/(2 C), PA-II, any u:
#     sum l_t^2 <= (R2 + 1/(2 C)) (D2 + 2 C sum l*_t^2) = (R2 + gamma) D2 + (R2/gamma + 1) sum l*_t^2
@_theorem("J06 Theorem 5 (N03 Theorem 3)", "squared loss", steps=("pa2",))
def _pa2_squared_loss(run: _Run) -> tuple[float, float, str]:
    u, C = run.u, run.C
    of_distance = _times(u.largest_q + 1 / (2 * C), u.distance2)
    of_loss = _times(_times(2 * C, u.largest_q) + 1, u.squared_loss)
    return run.suffered.squared_loss, of_distance + of_loss, ""


_theorem("J06 Theorem 5 (N03 Theorem 3)", "mistakes", steps=("pa2",), tasks=("classification",))(
    _as_mistakes(_pa2_squared_loss)
)


# ---------------------------------------------------------------------------------------------------------
# N03 Theorem 1, PA (gamma = 0), with eps* = max delta(u; z_t) <= eps:
#     sum l_t^2 + 2 (eps - eps*) sum l_t <= R2 D2
@_theorem("N03 Theorem 1", "squared loss and loss", steps=("pa",))
def _insensitive(run: _Run) -> tuple[float, float, str]:
    room = run.u.insensitivity - run.u.largest_discrepancy
    if room < 0:
        return run.suffered.squared_loss, math.inf, run.needs_no_loss()
    suffered = run.suffered.squared_loss + 2 * room * run.suffered.loss
    return suffered, run.u.largest_q * run.u.distance2, ""


# N03 Theorem 1 for a separable sequence, w_1 = 0. If u has the smallest margin s > 0, then c u has c s. The
# theorem holds for every c >= m/s: c = m/s gives the first bound and c = 2 m/s, the best choice, the second.
#     sum l_t^2 <= R2 |u|^2 m^2/s^2        sum l_t <= 2 R2 |u|^2 m/s^2
@_theorem("N03 Theorem 1 (separable)", "squared loss", steps=("pa",), tasks=("classification",))
def _separable_squared_loss(run: _Run) -> tuple[float, float, str]:
    reason = run.needs_start_at_zero() or run.needs_separation()
    return run.suffered.squared_loss, math.inf if reason else _separability(run) * run.u.margin**2, reason


@_theorem("N03 Theorem 1 (separable)", "loss", steps=("pa",), tasks=("classification",))
def _separable_loss(run: _Run) -> tuple[float, float, str]:
    reason = run.needs_start_at_zero() or run.needs_separation()
    return run.suffered.loss, math.inf if reason else 2 * _separability(run) * run.u.margin, reason


def _separability(run: _Run) -> float:
    """R2 |u|^2/s^2: one over the squared margin of the unit vector along u, for instances of norm up to 1."""
    return _over(run.u.largest_q * run.u.distance2, run.u.smallest_margin**2)


# N03 Lemma 2, PA, with eps* <= eps as in Theorem 1:  |w_T - w_1| <= 2 |u - w_1| for every T
@_theorem("N03 Lemma 2", "distance moved", steps=("pa",))
def _distance_moved(run: _Run) -> tuple[float, float, str]:
    return run.moved or 0.0, 2 * math.sqrt(run.u.distance2), run.needs_no_loss()


# ---------------------------------------------------------------------------------------------------------
# Perceptron, w_1 = 0, any u (S4). The papers have m = 1; u/m has the hinge losses l*_t/m at margin 1.
# They fail from w_1 != 0, also with |u - w_1| in place of |u|. The aggressive one moves at margins up to beta, so that
# |w|^2 grows by at most R2 + 2 beta an update: this takes the place of R2, and the bounds are about its updates, too.


# mistakes <= L + U/2 + sqrt(U L + U^2/4),  U = R2 |u|^2/m^2, L = sum l*_t/m
@_theorem("perceptron, loss", "mistakes", steps=("perceptron",), tasks=("classification",))
def _perceptron_loss(run: _Run) -> tuple[float, float, str]:
    U = _over((run.u.largest_q + 2 * run.beta) * run.u.distance2, run.u.margin**2)
    L = _over(run.u.loss, run.u.margin)
    return run.suffered.mistakes, L + U / 2 + math.sqrt(U * L + U * U / 4), run.needs_start_at_zero()


# mistakes <= (R |u| + sqrt(sum l*_t^2))^2/m^2
@_theorem("perceptron, squared loss", "mistakes", steps=("perceptron",), tasks=("classification",))
def _perceptron_squared_loss(run: _Run) -> tuple[float, float, str]:
    root = math.sqrt((run.u.largest_q + 2 * run.beta) * run.u.distance2) + math.sqrt(run.u.squared_loss)
    return run.suffered.mistakes, _over(root * root, run.u.margin**2), run.needs_start_at_zero()


# Novikoff (B03, S4): with y_t u.x_t >= s > 0 for all t,  updates <= (R2 + 2 beta) |u|^2/s^2
@_theorem("perceptron, separable", "updates", steps=("perceptron",), tasks=("classification",))
def _perceptron_separable(run: _Run) -> tuple[float, float, str]:
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

    >>> from hinge.theory.bounds import cache_bound
    >>> cache_bound(1.0, 0.25, beta=0.5)
    32.0
    """
    if not (largest_q >= 0 and beta >= 0):
        raise ValueError(f"largest_q and beta must be 0 or more, not {largest_q!r} and {beta!r}")
    if not smallest_margin > 0:
        raise ValueError(f"it needs a u without mistakes: the smallest margin is {smallest_margin!r}")
    return (largest_q + 2 * beta) / smallest_margin**2
