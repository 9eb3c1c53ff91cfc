"""The theorems for many labels and for ranks, computable: `bounds.guarantees` with comparators of its own.

    c = label_comparator(X, y, u, intercepts=b, selection="simproj")
    for guarantee in guarantees("pa1", learner.statistics, c, C=0.1):
        print(guarantee)

A comparator is given the learner's own options: its selection, margin (or MIRA's beta), cost, nu. The notation
is that of `bounds`. A round has rows a_j (phi(x, r) - phi(x, s), r relevant and s not; for ranks (x, -e_j) with
its sign) and asks w.a_j >= m of them; for a cost rho it asks the root of rho(y, r). q_t is the largest |a_j|^2:
2|x|^2, or |x|^2 + 1 for ranks. l*_t is the largest loss of u on a row, l_t that of the learner, but for
selection="prediction" its loss on the row of the label that it predicted. A mistake is a round with a row
w.a_j <= 0. With weights nu_j, l*_t is the slack that u needs: the largest loss/nu_j.

selection="prediction" may meet a row of margin 0 without a loss: when labels tie and the right one comes first.
Such rounds are mistakes and nothing bounds their number, so the theorems bound its updates instead.
"""

from __future__ import annotations

import math
from typing import Protocol, cast

from .bounds import (
    UNIT_SLACK,
    Guarantee,
    Statistics,
    _any_norm,
    _distance_moved,
    _insensitive,
    _over,
    _pa1_mistakes,
    _pa2_squared_loss,
    _perceptron_loss,
    _perceptron_separable,
    _perceptron_squared_loss,
    _progress,
    _realizable,
    _Run,
    _separable_loss,
    _separable_squared_loss,
    _Theorem,
    _theorem,
    _times,
    _unit_norm,
    guarantees,
)
from .comparators import (
    SELECTIONS,
    LabelComparator,
    label_comparator,
    ordinal_comparator,
    prototype_comparator,
    structured_comparator,
)

__all__ = [
    "Guarantee",
    "LabelComparator",
    "LabelStatistics",
    "guarantees",
    "label_comparator",
    "ordinal_comparator",
    "prototype_comparator",
    "structured_comparator",
]


class LabelStatistics(Statistics, Protocol):
    @property
    def cost(self) -> float: ...  # the sum of rho(y, predicted label)


# A move d = sum_j c_j a_j with c_j >= 0, any u:  2 sum_j c_j (l_j - l*_j) - |d|^2 <= |u - w|^2 - |u - w - d|^2.
# That is Lemma 1 for many rows, `progress` is the sum of 2 sum_j c_j l_j - |d|^2, and sum_j c_j (with weights
# sum_j nu_j c_j) is at most C, or 1 for the perceptron. So every theorem for one row is one for these
# learners, wherever the gain 2 sum_j c_j l_j - |d|^2 is at least that of one step of the row with the loss l_t:
#
#     max, prediction   it is that step
#     mira              all rows are solved jointly, which gains at least as much
#     conproj           the mean of steps gains at least the mean of the gains (|.|^2 is convex), and on a
#                       round with a mistake all of them have a loss of m or more: in place of sum l_t^2
#                       the theorems bound m^2 times the mistakes
#     simproj           the mean is at least 1/k_t times the gain of that row, k_t = the number of rows
#
# Sorting thresholds brings them no farther from those of a comparator that are in order.

ALL, SCORED = ("ranking", "cost", "ordinal"), ("ranking", "ordinal")
ONE = ("max", "prediction")
MEAN = ", mean of projections (derived)"
T5 = "J06 Theorem 5 (N03 Theorem 3)"


def _of(run: _Run) -> LabelComparator:
    return cast(LabelComparator, run.u)


def _as_updates(mistakes: _Theorem) -> _Theorem:
    def claim(run: _Run) -> tuple[float, float, str]:
        _, guaranteed, reason = mistakes(run)
        return run.suffered.updates, guaranteed, reason

    return claim


def _as_cost(squared_loss: _Theorem) -> _Theorem:
    """rho(y, predicted) <= l_t^2 (S10), or of structures cost_unit times it."""

    def claim(run: _Run) -> tuple[float, float, str]:
        _, guaranteed, reason = squared_loss(run)
        return cast(LabelStatistics, run.suffered).cost, guaranteed / _of(run).cost_unit, reason

    return claim


def _as_mistakes(squared_loss: _Theorem) -> _Theorem:
    """l_t >= m at a mistake."""

    def claim(run: _Run) -> tuple[float, float, str]:
        _, guaranteed, reason = squared_loss(run)
        if run.u.margin == 0:
            return run.suffered.mistakes, math.inf, "it needs beta > 0"
        return run.suffered.mistakes, _over(guaranteed, run.u.margin**2), reason

    return claim


def _by_rows(claim: _Theorem) -> _Theorem:
    def of_simproj(run: _Run) -> tuple[float, float, str]:
        suffered, guaranteed, reason = claim(run)
        return suffered, _times(_of(run).most_rows, guaranteed), reason

    return of_simproj


def _without_weights(claim: _Theorem) -> _Theorem:
    def unweighted(run: _Run) -> tuple[float, float, str]:
        suffered, guaranteed, reason = claim(run)
        weighted = _of(run).smallest_nu != 1 or _of(run).largest_nu != 1
        return suffered, guaranteed, "it needs nu = 1" if weighted else reason

    return unweighted


_theorem("J06 Lemma 1", "progress", steps=("pa", "pa1", "perceptron"), tasks=ALL, selections=SELECTIONS)(
    _progress
)


# J06 Theorems 2, 3 and 5 (S9, S10, B05), and what follows from them.
def _squared_loss(name: str, step: str, claim: _Theorem) -> None:
    def enter(
        name: str, quantity: str, tasks: tuple[str, ...], selections: tuple[str, ...], claim: _Theorem
    ) -> None:
        _theorem(name, quantity, steps=(step,), tasks=tasks, selections=selections)(claim)

    enter(name, "squared loss", ALL, ONE, claim)
    enter(name, "mistakes", SCORED, ("max",), _as_mistakes(claim))
    enter(name, "updates", SCORED, ("prediction",), _as_updates(_as_mistakes(claim)))
    enter(name, "cost", ("cost",), ONE, _as_cost(claim))
    if claim is not _unit_norm:
        mean, same = name.removesuffix(" (derived)") + MEAN, _without_weights(claim)
        enter(mean, "mistakes", SCORED, ("conproj",), _as_mistakes(same))
        enter(mean, "squared loss", SCORED, ("simproj",), _by_rows(same))
        enter(mean, "mistakes", SCORED, ("simproj",), _by_rows(_as_mistakes(same)))
    if claim is _realizable:
        enter(name, "squared loss", ("ranking",), ("mira",), claim)
        enter(name, "mistakes", ("ranking",), ("mira",), _as_mistakes(claim))


_squared_loss("J06 Theorem 2", "pa", _realizable)
_squared_loss("J06 Theorem 3", "pa", _unit_norm)
_squared_loss("J06 Theorem 3 for any norms (derived)", "pa", _any_norm)
_squared_loss(T5, "pa2", _pa2_squared_loss)

# J06 Theorem 4, PA-I.
_theorem("J06 Theorem 4", "mistakes", steps=("pa1",), tasks=SCORED, selections=("max",))(_pa1_mistakes)
_theorem("J06 Theorem 4", "updates", steps=("pa1",), tasks=SCORED, selections=("prediction",))(
    _as_updates(_pa1_mistakes)
)

# N03 Theorem 1 and Lemma 2.
_theorem("N03 Theorem 1", "squared loss and loss", steps=("pa",), tasks=ALL, selections=ONE)(_insensitive)
_theorem("N03 Theorem 1 (separable)", "squared loss", steps=("pa",), tasks=SCORED, selections=ONE)(
    _separable_squared_loss
)
_theorem("N03 Theorem 1 (separable)", "loss", steps=("pa",), tasks=SCORED, selections=ONE)(_separable_loss)
_theorem("N03 Lemma 2", "distance moved", steps=("pa",), tasks=ALL, selections=SELECTIONS)(_distance_moved)


# S13.4 derived, and with m = beta S12.2's bound for MIRA. A row with a mistake has l_j >= m, and min(C/nu_j, l_j/q_j)
# gains at least what any shorter step a does, 2 a m - a^2 R2; so with a = min(C/nu, m/R2) for the largest nu:
#     mistakes <= (D2 + 2 C sum l*_t)/(2 a m - a^2 R2)
def _any_C(run: _Run) -> tuple[float, float, str]:
    u = _of(run)
    if u.margin == 0:
        return run.suffered.mistakes, math.inf, "it needs beta > 0"
    a = min(
        run.C / u.largest_nu if u.largest_nu else math.inf,
        u.margin / u.largest_q if u.largest_q else math.inf,
    )
    if a == math.inf:
        return run.suffered.mistakes, math.inf, "it needs a cap or an instance that is not zero"
    allowed = u.distance2 + _times(2 * run.C, u.loss)
    return run.suffered.mistakes, _over(allowed, 2 * a * u.margin - a * a * u.largest_q), ""


for _name, _selection in [
    ("J06 Theorem 4, sharper (derived)", "max"),
    ("S06 Theorem 1 for any C (derived)", "conproj"),
    ("MIRA, beta > 0 (derived)", "mira"),
]:
    _theorem(_name, "mistakes", steps=("pa1",), tasks=SCORED, selections=(_selection,))(_any_C)
_theorem(
    "J06 Theorem 4, sharper (derived)", "updates", steps=("pa1",), tasks=SCORED, selections=("prediction",)
)(_as_updates(_any_C))
_theorem(
    "S06 Theorem 1 for SimProj (derived)", "mistakes", steps=("pa1",), tasks=SCORED, selections=("simproj",)
)(_by_rows(_any_C))


# S06 Theorem 1 and Corollary 1, with C < 2 m/R2:  mistakes <= (D2 + 2 C sum l*_t)/(2 C m - C^2 R2)
# With weights the rows of SimPerc take steps C/nu_j, and 2 a m - a^2 R2 is smallest at an end of their range.
@_theorem("S06 Theorem 1", "mistakes", steps=("pa1",), tasks=SCORED, selections=("simperc", "conproj"))
def _simultaneous(run: _Run) -> tuple[float, float, str]:
    u = _of(run)
    longest = run.C / u.smallest_nu if u.smallest_nu else math.inf
    if not longest * u.largest_q < 2 * u.margin:
        limit = 2 * u.margin * u.smallest_nu / u.largest_q if u.largest_q else math.inf
        return run.suffered.mistakes, math.inf, f"it needs C < {limit:.6g}, and C is {run.C:.6g}"
    gain = min(2 * a * u.margin - a * a * u.largest_q for a in (longest, run.C / u.largest_nu))
    return run.suffered.mistakes, _over(u.distance2 + _times(2 * run.C, u.loss), gain), ""


# The perceptrons' theorems need no more than w_1 = 0, rows of margin <= 0 and |d|^2 <= R2. From w_1 = 0 the
# predictions of SimPerc do not depend on C: it is the uniform perceptron. For it the first bound is S06 Theorem 1
# with the best C; as printed that lacks a factor of 4 under the root (E9).
for _name, _best, _claim in [
    ("perceptron, loss", "S06 Theorem 1 with the best C", _perceptron_loss),
    ("perceptron, squared loss", "perceptron, squared loss", _perceptron_squared_loss),
]:
    _theorem(_name, "mistakes", steps=("perceptron",), tasks=SCORED, selections=("max", "uniform"))(_claim)
    _theorem(_name, "updates", steps=("perceptron",), tasks=SCORED, selections=("prediction",))(
        _as_updates(_claim)
    )
    _theorem(_best, "mistakes", steps=("pa1",), tasks=SCORED, selections=("simperc",))(
        _without_weights(_claim)
    )
_theorem(
    "perceptron, separable", "updates", steps=("perceptron",), tasks=SCORED, selections=(*ONE, "uniform")
)(_perceptron_separable)
_theorem("perceptron, separable", "updates", steps=("pa1",), tasks=SCORED, selections=("simperc",))(
    _without_weights(_perceptron_separable)
)


# CS03 (S12.1), w_1 = 0, as printed for |u| = 1 and R2 >= |x|^2, so R2/2 here:
#     mistakes <= 2 (R |u|/sqrt(2) + sqrt(sum l*_t^2))^2/m^2
@_theorem("CS03", "mistakes", steps=("perceptron",), tasks=("ranking",), selections=("max", "uniform"))
def _ultraconservative(run: _Run) -> tuple[float, float, str]:
    root = math.sqrt(run.u.largest_q / 2 * run.u.distance2) + math.sqrt(run.u.squared_loss)
    return run.suffered.mistakes, _over(2 * root * root, run.u.margin**2), run.needs_start_at_zero()


# CS03 (S12.2), MIRA with beta = 0: |W| never grows, and each step t adds at least t s to u.W, where s > 0 is the
# smallest margin of u:  sum of all steps <= 2 |u| |W_1|/s
@_theorem("MIRA, beta = 0", "total step", steps=("pa", "pa1"), tasks=("ranking",), selections=("mira",))
def _conservative(run: _Run) -> tuple[float, float, str]:
    u = _of(run)
    reason = "it needs beta = 0" if u.margin != 0 else run.needs_separation()
    bound = math.inf if reason else 2 * math.sqrt(u.norm2) * u.start_norm / u.smallest_margin
    return run.total or 0.0, bound, reason


# Cost-sensitive PA-I. A round gains at least min(C l_t, l_t^2/q_t), where l_t^2 >= c rho_t (c = 1, but for structures
# with a margin of their own) and l_t >= rho_t/sqrt(max rho), with rho_t = rho(y_t, predicted):
#     sum rho_t <= max(R2/c, sqrt(max rho)/C) (D2 + 2 C sum l*_t)
# J06 Theorem 9 has R2 <= 1 and C >= sqrt(max rho), so that the first factor is 1.
@_theorem("J06 Theorem 9 for any C (derived)", "cost", steps=("pa1",), tasks=("cost",), selections=ONE)
def _any_cost(run: _Run) -> tuple[float, float, str]:
    u = _of(run)
    factor = max(u.largest_q / u.cost_unit, math.sqrt(u.largest_cost) / run.C)
    allowed = _times(factor, u.distance2) + _times(_times(2 * run.C, factor), u.loss)
    return cast(LabelStatistics, run.suffered).cost, allowed, ""


@_theorem("J06 Theorem 9", "cost", steps=("pa1",), tasks=("cost",), selections=ONE)
def _costs(run: _Run) -> tuple[float, float, str]:
    u, reason = _of(run), ""
    if u.largest_q > 1 + UNIT_SLACK:
        reason = f"it needs |phi(x, r) - phi(x, s)| <= 1, and here the square reaches {u.largest_q:.6g}"
    elif u.cost_unit != 1:
        reason = "it needs margins that are the roots of the costs"
    elif math.sqrt(u.largest_cost) > run.C:
        reason = f"it needs C of at least the root of every cost, {math.sqrt(u.largest_cost):.6g}"
    allowed = u.distance2 + _times(2 * run.C, u.loss)
    return cast(LabelStatistics, run.suffered).cost, max(1.0, u.largest_q) * allowed, reason
