"""The theorems of many labels and of ranks (S9, S10, S12, S13).

A round has rows a_j (phi(x, r) - phi(x, s), r relevant and s not; for ranks (x, -e_j) with its sign) and asks w.a_j
>= m of them; for a cost rho it asks the root of rho(y, r). q_t is the largest |a_j|^2: 2|x|^2, or |x|^2 + 1 for
ranks. l*_t is the largest loss of u on a row, l_t that of the learner, but for selection="prediction" its loss on the
row of the label that it predicted. A mistake is a round with a row w.a_j <= 0. With weights nu_j, l*_t is the slack
that u needs: the largest loss/nu_j.

selection="prediction" may meet a row of margin 0 without a loss: when labels tie and the right one comes first. Such
rounds are mistakes and nothing bounds their number, so the theorems bound its updates instead.

A move d = sum_j c_j a_j with c_j >= 0, any u:  2 sum_j c_j (l_j - l*_j) - |d|^2 <= |u - w|^2 - |u - w - d|^2. That is
Lemma 1 for many rows, `progress` is the sum of 2 sum_j c_j l_j - |d|^2, and sum_j c_j (with weights sum_j nu_j c_j)
is at most C, or 1 for the perceptron. So every theorem for one row is one for these learners, wherever the gain 2
sum_j c_j l_j - |d|^2 is at least that of one step of the row with the loss l_t:

    max, prediction   it is that step
    mira              all rows are solved jointly, which gains at least as much
    conproj           the mean of steps gains at least the mean of the gains (|.|^2 is convex), and on a round with a
                      mistake all of them have a loss of m or more: in place of sum l_t^2 the theorems bound m^2 times
                      the mistakes
    simproj           the mean is at least 1/k_t times the gain of that row, k_t = the number of rows

Sorting thresholds brings them no farther from those of a comparator that are in order.
"""

from __future__ import annotations

import math
from functools import partial

from ..comparators.kinds import SELECTIONS
from .single import (
    ANY_NORM,
    UNIT_SLACK,
    any_norm,
    distance_moved,
    insensitive,
    pa1_mistakes,
    pa2_squared_loss,
    perceptron_loss,
    perceptron_separable,
    perceptron_squared_loss,
    progress,
    realizable,
    separable_loss,
    separable_squared_loss,
    unit_norm,
)
from .table import DERIVED, N03_T1, S06_T1, T2, T3, T4, T5, Claim, Run, over, theorem, times

ALL, SCORED = ("ranking", "cost", "ordinal"), ("ranking", "ordinal")
ONE = ("max", "prediction")
LEMMA, SHARPER, MIRA = "J06 Lemma 1", "J06 Theorem 4, sharper (derived)", "MIRA, beta > 0 (derived)"


def as_updates(mistakes: Claim) -> Claim:
    def claim(run: Run) -> tuple[float, float, str]:
        _, guaranteed, reason = mistakes(run)
        return run.suffered.updates, guaranteed, reason

    return claim


def as_cost(squared_loss: Claim) -> Claim:
    """rho(y, predicted) <= l_t^2 (S10), or of structures cost_unit times it."""

    def claim(run: Run) -> tuple[float, float, str]:
        _, guaranteed, reason = squared_loss(run)
        return run.suffered.cost, guaranteed / run.u.cost_unit, reason

    return claim


def as_mistakes(squared_loss: Claim) -> Claim:
    """l_t >= m at a mistake."""

    def claim(run: Run) -> tuple[float, float, str]:
        _, guaranteed, reason = squared_loss(run)
        if run.u.margin == 0:
            return run.suffered.mistakes, math.inf, "it needs beta > 0"
        return run.suffered.mistakes, over(guaranteed, run.u.margin**2), reason

    return claim


def by_rows(claim: Claim) -> Claim:
    def of_simproj(run: Run) -> tuple[float, float, str]:
        suffered, guaranteed, reason = claim(run)
        return suffered, times(run.u.most_rows, guaranteed), reason

    return of_simproj


def unweighted(claim: Claim) -> Claim:
    def without_nu(run: Run) -> tuple[float, float, str]:
        suffered, guaranteed, reason = claim(run)
        weighted = run.u.smallest_nu != 1 or run.u.largest_nu != 1
        return suffered, guaranteed, "it needs nu = 1" if weighted else reason

    return without_nu


theorem(LEMMA, "progress", steps=("pa", "pa1", "perceptron"), kinds=ALL, selections=SELECTIONS, carries=True)(
    progress
)


# J06 Theorems 2, 3 and 5 (S9, S10, B05), and what follows from them.
def enter_squared_loss(name: str, step: str, claim: Claim, *, carries: bool, mean: bool = True) -> None:
    enter = partial(theorem, steps=(step,), carries=carries)
    enter(name, "squared loss", kinds=ALL, selections=ONE)(claim)
    enter(name, "mistakes", kinds=SCORED, selections=("max",))(as_mistakes(claim))
    enter(name, "updates", kinds=SCORED, selections=("prediction",))(as_updates(as_mistakes(claim)))
    enter(name, "cost", kinds=("cost",), selections=ONE)(as_cost(claim))
    if mean:
        of_mean, same = f"{name.removesuffix(DERIVED)}, mean of projections{DERIVED}", unweighted(claim)
        enter(of_mean, "mistakes", kinds=SCORED, selections=("conproj",))(as_mistakes(same))
        enter(of_mean, "squared loss", kinds=SCORED, selections=("simproj",))(by_rows(same))
        enter(of_mean, "mistakes", kinds=SCORED, selections=("simproj",))(by_rows(as_mistakes(same)))


enter_squared_loss(T2, "pa", realizable, carries=True)
theorem(T2, "squared loss", steps=("pa",), kinds=("ranking",), selections=("mira",), carries=True)(realizable)
theorem(T2, "mistakes", steps=("pa",), kinds=("ranking",), selections=("mira",), carries=True)(
    as_mistakes(realizable)
)
enter_squared_loss(T3, "pa", unit_norm, carries=False, mean=False)
enter_squared_loss(ANY_NORM, "pa", any_norm, carries=False)
enter_squared_loss(T5, "pa2", pa2_squared_loss, carries=True)

# J06 Theorem 4, PA-I.
of_pa1 = partial(theorem, steps=("pa1",), kinds=SCORED, carries=True)
of_pa1(T4, "mistakes", selections=("max",))(pa1_mistakes)
of_pa1(T4, "updates", selections=("prediction",))(as_updates(pa1_mistakes))

# N03 Theorem 1 and Lemma 2.
theorem(N03_T1, "squared loss and loss", steps=("pa",), kinds=ALL, selections=ONE, carries=True)(insensitive)
of_separable = partial(theorem, f"{N03_T1} (separable)", steps=("pa",), kinds=SCORED, selections=ONE)
of_separable("squared loss")(separable_squared_loss)
of_separable("loss")(separable_loss)
theorem("N03 Lemma 2", "distance moved", steps=("pa",), kinds=ALL, selections=SELECTIONS)(distance_moved)


# S13.4 derived, and with m = beta S12.2's bound for MIRA. A row with a mistake has l_j >= m, and min(C/nu_j, l_j/q_j)
# gains at least what any shorter step a does, 2 a m - a^2 R2; so with a = min(C/nu, m/R2) for the largest nu:
#     mistakes <= (D2 + 2 C sum l*_t)/(2 a m - a^2 R2)
def any_C(run: Run) -> tuple[float, float, str]:
    u = run.u
    if u.margin == 0:
        return run.suffered.mistakes, math.inf, "it needs beta > 0"
    a = min(
        run.C / u.largest_nu if u.largest_nu else math.inf,
        u.margin / u.largest_q if u.largest_q else math.inf,
    )
    if a == math.inf:
        return run.suffered.mistakes, math.inf, "it needs a cap or an instance that is not zero"
    allowed = u.distance2 + times(2 * run.C, u.loss)
    return run.suffered.mistakes, over(allowed, 2 * a * u.margin - a * a * u.largest_q), ""


of_pa1(SHARPER, "mistakes", selections=("max",))(any_C)
of_pa1(f"{S06_T1} for any C{DERIVED}", "mistakes", selections=("conproj",))(any_C)
of_pa1(MIRA, "mistakes", selections=("mira",))(any_C)
of_pa1(SHARPER, "updates", selections=("prediction",))(as_updates(any_C))
of_pa1(f"{S06_T1} for SimProj{DERIVED}", "mistakes", selections=("simproj",))(by_rows(any_C))


# S06 Theorem 1 and Corollary 1, with C < 2 m/R2:  mistakes <= (D2 + 2 C sum l*_t)/(2 C m - C^2 R2)
# With weights the rows of SimPerc take steps C/nu_j, and 2 a m - a^2 R2 is smallest at an end of their range.
@of_pa1(S06_T1, "mistakes", selections=("simperc", "conproj"))
def simultaneous(run: Run) -> tuple[float, float, str]:
    u = run.u
    longest = run.C / u.smallest_nu if u.smallest_nu else math.inf
    if not longest * u.largest_q < 2 * u.margin:
        limit = 2 * u.margin * u.smallest_nu / u.largest_q if u.largest_q else math.inf
        return run.suffered.mistakes, math.inf, f"it needs C < {limit:.6g}, and C is {run.C:.6g}"
    gain = min(2 * a * u.margin - a * a * u.largest_q for a in (longest, run.C / u.largest_nu))
    return run.suffered.mistakes, over(u.distance2 + times(2 * run.C, u.loss), gain), ""


# The perceptrons' theorems need no more than w_1 = 0, rows of margin <= 0 and |d|^2 <= R2. From w_1 = 0 the
# predictions of SimPerc do not depend on C: it is the uniform perceptron. For it the first bound is S06 Theorem 1
# with the best C; as printed that lacks a factor of 4 under the root (E9).
of_perceptron = partial(theorem, steps=("perceptron",), kinds=SCORED)
of_simperc = partial(theorem, steps=("pa1",), kinds=SCORED, selections=("simperc",))
for _name, _best, _claim in [
    ("perceptron, loss", "S06 Theorem 1 with the best C", perceptron_loss),
    ("perceptron, squared loss", "perceptron, squared loss", perceptron_squared_loss),
]:
    of_perceptron(_name, "mistakes", selections=("max", "uniform"))(_claim)
    of_perceptron(_name, "updates", selections=("prediction",))(as_updates(_claim))
    of_simperc(_best, "mistakes")(unweighted(_claim))
of_perceptron("perceptron, separable", "updates", selections=(*ONE, "uniform"))(perceptron_separable)
of_simperc("perceptron, separable", "updates")(unweighted(perceptron_separable))


# CS03 (S12.1), w_1 = 0, as printed for |u| = 1 and R2 >= |x|^2, so R2/2 here:
#     mistakes <= 2 (R |u|/sqrt(2) + sqrt(sum l*_t^2))^2/m^2
@theorem("CS03", "mistakes", steps=("perceptron",), kinds=("ranking",), selections=("max", "uniform"))
def ultraconservative(run: Run) -> tuple[float, float, str]:
    root = math.sqrt(run.u.largest_q / 2 * run.u.distance2) + math.sqrt(run.u.squared_loss)
    return run.suffered.mistakes, over(2 * root * root, run.u.margin**2), run.needs_start_at_zero()


# CS03 (S12.2), MIRA with beta = 0: |W| never grows, and each step t adds at least t s to u.W, where s > 0 is the
# smallest margin of u:  sum of all steps <= 2 |u| |W_1|/s
@theorem("MIRA, beta = 0", "total step", steps=("pa", "pa1"), kinds=("ranking",), selections=("mira",))
def conservative(run: Run) -> tuple[float, float, str]:
    u = run.u
    reason = "it needs beta = 0" if u.margin != 0 else run.needs_separation()
    bound = math.inf if reason else 2 * math.sqrt(u.norm2) * u.start_norm / u.smallest_margin
    return run.total or 0.0, bound, reason


# Cost-sensitive PA-I. A round gains at least min(C l_t, l_t^2/q_t), where l_t^2 >= c rho_t (c = 1, but for structures
# with a margin of their own) and l_t >= rho_t/sqrt(max rho), with rho_t = rho(y_t, predicted):
#     sum rho_t <= max(R2/c, sqrt(max rho)/C) (D2 + 2 C sum l*_t)
# J06 Theorem 9 has R2 <= 1 and C >= sqrt(max rho), so that the first factor is 1.
of_cost = partial(theorem, steps=("pa1",), kinds=("cost",), selections=ONE, carries=True)


@of_cost(f"J06 Theorem 9 for any C{DERIVED}", "cost")
def any_cost(run: Run) -> tuple[float, float, str]:
    u = run.u
    factor = max(u.largest_q / u.cost_unit, math.sqrt(u.largest_cost) / run.C)
    allowed = times(factor, u.distance2) + times(times(2 * run.C, factor), u.loss)
    return run.suffered.cost, allowed, ""


@of_cost("J06 Theorem 9", "cost")
def costs(run: Run) -> tuple[float, float, str]:
    u, reason = run.u, ""
    if u.largest_q > 1 + UNIT_SLACK:
        reason = f"it needs |phi(x, r) - phi(x, s)| <= 1, and here the square reaches {u.largest_q:.6g}"
    elif u.cost_unit != 1:
        reason = "it needs margins that are the roots of the costs"
    elif math.sqrt(u.largest_cost) > run.C:
        reason = f"it needs C of at least the root of every cost, {math.sqrt(u.largest_cost):.6g}"
    allowed = u.distance2 + times(2 * run.C, u.loss)
    return run.suffered.cost, max(1.0, u.largest_q) * allowed, reason
