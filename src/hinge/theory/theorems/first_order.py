"""The theorems without a covariance: one constraint per round (S2 to S7), many labels and ranks (S9, S10, S12, S13).

**One constraint per round**: classification, regression and uniclass. The comments give their equations.

**Many labels and ranks.** A round has rows a_j (phi(x, r) - phi(x, s), r relevant and s not; for ranks (x, -e_j) with
its sign) and asks w.a_j >= m of them; with a cost rho it asks for the root of rho(y, r). q_t is the largest |a_j|^2:
2|x|^2, or |x|^2 + 1 for ranks. l*_t is the largest loss of u on a row. l_t is that of the learner; for
selection="prediction" it is the loss on the row of the label that it predicted. A mistake is a round with a row
w.a_j <= 0. With weights nu_j, l*_t is the slack that u needs: the largest loss/nu_j.

A move d = sum_j c_j a_j with c_j >= 0 satisfies for any u:

    2 sum_j c_j (l_j - l*_j) - |d|^2 <= |u - w|^2 - |u - w - d|^2

That is Lemma 1 for many rows. `progress` is the sum of 2 sum_j c_j l_j - |d|^2, and sum_j c_j (with weights
sum_j nu_j c_j) is at most C, or 1 for the perceptron. So every theorem for one row holds for these learners too,
wherever the gain 2 sum_j c_j l_j - |d|^2 is at least that of one step of the row with the loss l_t:

    max, prediction   it is that step
    mira              all rows are solved jointly, which gains at least as much
    conproj           the mean of steps gains at least the mean of the gains (|.|^2 is convex), and on a round with a
                      mistake all of them have a loss of m or more: in place of sum l_t^2 the theorems bound m^2 times
                      the mistakes
    simproj           the mean is at least 1/k_t times the gain of that row, k_t = the number of rows

selection="prediction" may meet a row of margin 0 without a loss: when labels tie and the right one comes first. Such
rounds are mistakes and nothing bounds their number, so the theorems bound its updates instead.

Sorting thresholds brings them no farther from those of a comparator that are in order.
"""

from __future__ import annotations

import math
from functools import partial

from ..comparators.kinds import SELECTIONS
from .table import DERIVED, N03_T1, S06_T1, SINGLE, T2, T3, T4, T5, Claim, Run, over, theorem, times

# The squared norm up to which an instance counts as zero and moves nothing (the smallest normal double).
SMALLEST_Q = 2.2250738585072014e-308

# How far from 1 a squared norm may be in a stream "of unit norm". The bound is then corrected for it.
UNIT_SLACK = 1e-9

RANKED = ("ranking", "ordinal")  # kinds of many rows per round, without a cost
SCORED = ("classification", *RANKED)  # kinds whose losses are hinge losses with a margin m
EVERY = (*SINGLE, *RANKED, "cost")
ONE = ("max", "prediction")  # selections of one row

ANY_NORM = f"J06 Theorem 3 for any norms{DERIVED}"
SHARPER, MIRA = f"J06 Theorem 4, sharper{DERIVED}", f"MIRA, beta > 0{DERIVED}"
SHARPER_COST = f"J06 Theorem 9, sharper{DERIVED}"
PA1_LOSS = f"PA-I loss{DERIVED}"


# ---- from one claim to another ------------------------------------------------------------------------------------


def as_mistakes(squared_loss: Claim) -> Claim:
    """A mistake has y w.x <= 0, so l_t >= m: what bounds sum l_t^2 bounds m^2 times the number of mistakes."""

    def claim(run: Run) -> float:
        _needs_margin(run)
        return over(squared_loss(run), run.u.margin**2)

    return claim


def as_cost(squared_loss: Claim) -> Claim:
    """rho(y, predicted) <= l_t^2 (S10), or of structures cost_unit times it."""
    return lambda run: squared_loss(run) / run.u.cost_unit


def by_rows(claim: Claim) -> Claim:
    """For simproj."""
    return lambda run: times(run.u.most_rows, claim(run))


def unweighted(claim: Claim) -> Claim:
    def without_nu(run: Run) -> float:
        run.need(run.u.smallest_nu == run.u.largest_nu == 1, "it needs nu = 1")
        return claim(run)

    return without_nu


def _needs_margin(run: Run) -> None:
    run.need(run.u.margin != 0 or run.u.selection == "only", "it needs beta > 0")


def enter_squared_loss(name: str, step: str, claim: Claim, *, carries: bool, mean: bool = True) -> None:
    """Enters what follows from a bound of sum l_t^2."""
    enter = partial(theorem, steps=(step,), carries=carries)
    enter(name, "squared loss", kinds=(*RANKED, "cost"), selections=ONE)(claim)
    enter(name, "mistakes", kinds=RANKED, selections=("max",))(as_mistakes(claim))
    enter(name, "updates", kinds=RANKED, selections=("prediction",))(as_mistakes(claim))
    enter(name, "cost", kinds=("cost",), selections=ONE)(as_cost(claim))
    if mean:
        of_mean, same = f"{name.removesuffix(DERIVED)}, mean of projections{DERIVED}", unweighted(claim)
        enter(of_mean, "mistakes", kinds=RANKED, selections=("conproj",))(as_mistakes(same))
        enter(of_mean, "squared loss", kinds=RANKED, selections=("simproj",))(by_rows(same))
        enter(of_mean, "mistakes", kinds=RANKED, selections=("simproj",))(by_rows(as_mistakes(same)))


# ---- PA, PA-I, PA-II ----------------------------------------------------------------------------------------------


# Master inequality, J06 Lemma 1 (Lemmas 6 and 7 for regression and uniclass), any tau_t >= 0, any u:
#     sum tau_t (2 l_t - tau_t q_t - 2 l*_t) <= D2
# `progress` is the sum of tau_t (2 l_t - tau_t q_t). With a cap on tau_t (C for PA-I, 1 for the perceptron):
#     progress <= D2 + 2 cap sum l*_t
# which for PA-I is the derived bound of S3, as progress >= sum min(C l_t, l_t^2/q_t). PA has no cap and needs
# l*_t = 0. It takes l_t = m - y w.x at every move: a perceptron with beta > m moves where l_t = 0 is more than that.
@theorem(
    "J06 Lemma 1",
    "progress",
    steps=("pa", "pa1", "perceptron"),
    kinds=EVERY,
    selections=("only", *SELECTIONS),
    carries=True,
)
def progress(run: Run) -> float:
    m, beta = run.u.margin, run.beta
    run.need(beta <= max(0.0, m), f"it needs a beta of at most the margin, {m:.6g}, and beta is {beta:.6g}")
    cap = {"pa1": run.C, "perceptron": 1.0}.get(run.step, math.inf)
    if cap == math.inf:
        run.needs_no_loss()
    return run.u.distance2 + times(2 * cap, run.u.loss)


# J06 Theorem 2, PA, l*_t = 0 for all t:  sum l_t^2 <= R2 D2
@theorem(T2, "squared loss", steps=("pa",), carries=True)
@theorem(T2, "squared loss", steps=("pa",), kinds=("ranking",), selections=("mira",), carries=True)
def realizable(run: Run) -> float:
    run.needs_no_loss()
    return run.u.largest_q * run.u.distance2


theorem(
    T2,
    "mistakes",
    steps=("pa",),
    kinds=("classification", "ranking"),
    selections=("only", "mira"),
    carries=True,
)(as_mistakes(realizable))
enter_squared_loss(T2, "pa", realizable, carries=True)


# Derived, PA, any u and any norms but zero. The master inequality with tau_t = l_t/q_t, and Cauchy-Schwarz:
#     sum l_t^2/q_t <= (D + 2 sqrt(sum l*_t^2/q_t))^2
# and so
#     sum l_t^2 <= R2 (D + 2 sqrt(sum l*_t^2/min q_t))^2
@theorem(ANY_NORM, "squared loss", steps=("pa",))
def any_norm(run: Run) -> float:
    u = run.u
    unknown = math.isnan(u.smallest_q)
    needed = "the smallest norm, which is not known here" if unknown else "instances that are not zero"
    run.need(u.smallest_q > SMALLEST_Q, f"it needs {needed}")
    root = math.sqrt(u.distance2) + 2 * math.sqrt(u.squared_loss / u.smallest_q)
    return u.largest_q * root * root


# J06 Theorem 3, PA, |x_t| = 1 for all t (uniclass: always so):  sum l_t^2 <= (D + 2 sqrt(sum l*_t^2))^2
@theorem(T3, "squared loss", steps=("pa",))
def unit_norm(run: Run) -> float:
    low, high = run.u.smallest_q, run.u.largest_q
    found = f"reach {high:.6g}" if math.isnan(low) else f"are from {low:.6g} to {high:.6g}"
    outside = low < 1 - UNIT_SLACK or high > 1 + UNIT_SLACK
    run.need(not outside, f"it needs squared norms of 1, and here they {found}")
    return any_norm(run)


theorem(T3, "mistakes", steps=("pa",), kinds=("classification",))(as_mistakes(unit_norm))
enter_squared_loss(T3, "pa", unit_norm, carries=False, mean=False)
enter_squared_loss(ANY_NORM, "pa", any_norm, carries=False)


# J06 Theorem 4, PA-I, any u:  mistakes <= max(R2, 1/C) (D2 + 2 C sum l*_t)
# For a margin m: at a mistake l_t >= m and progress grows by at least min(C l_t, l_t^2/q_t), so
#     mistakes <= max(R2/m^2, 1/(C m)) (D2 + 2 C sum l*_t)
# multiplied out, so that C = inf works.
@theorem(T4, "updates", steps=("pa1",), kinds=RANKED, selections=("prediction",), carries=True)
@theorem(T4, "mistakes", steps=("pa1",), kinds=SCORED, selections=("only", "max"), carries=True)
def pa1_mistakes(run: Run) -> float:
    u, m, C = run.u, run.u.margin, run.C
    of_distance = times(max(over(u.largest_q, m**2), over(1, C * m)), u.distance2)
    of_loss = times(max(over(times(2 * C, u.largest_q), m**2), 2 / m), u.loss)
    return of_distance + of_loss


# J06 Theorem 5 = N03 Theorem 3 with gamma = 1/(2 C), PA-II, any u:
#     sum l_t^2 <= (R2 + 1/(2 C)) (D2 + 2 C sum l*_t^2) = (R2 + gamma) D2 + (R2/gamma + 1) sum l*_t^2
@theorem(T5, "squared loss", steps=("pa2",), carries=True)
def pa2_squared_loss(run: Run) -> float:
    u, C = run.u, run.C
    of_distance = times(u.largest_q + 1 / (2 * C), u.distance2)
    return of_distance + times(times(2 * C, u.largest_q) + 1, u.squared_loss)


theorem(T5, "mistakes", steps=("pa2",), kinds=("classification",), carries=True)(
    as_mistakes(pa2_squared_loss)
)
enter_squared_loss(T5, "pa2", pa2_squared_loss, carries=True)


# N03 Theorem 1, PA (gamma = 0), with eps* = max delta(u; z_t) <= eps:
#     sum l_t^2 + 2 (eps - eps*) sum l_t <= R2 D2
@theorem(N03_T1, "squared loss and loss", steps=("pa",), kinds=EVERY, selections=("only", *ONE), carries=True)
def insensitive(run: Run) -> float:
    if run.room < 0:
        run.needs_no_loss()
        return math.inf
    return run.u.largest_q * run.u.distance2


# N03 Theorem 1 for a separable sequence, w_1 = 0. If u has the smallest margin s > 0, then c u has c s. The
# theorem holds for every c >= m/s: c = m/s gives the first bound and c = 2 m/s, the best choice, the second.
#     sum l_t^2 <= R2 |u|^2 m^2/s^2        sum l_t <= 2 R2 |u|^2 m/s^2
of_separable = partial(
    theorem, f"{N03_T1} (separable)", steps=("pa",), kinds=SCORED, selections=("only", *ONE)
)


@of_separable("squared loss")
def separable_squared_loss(run: Run) -> float:
    return _separability(run) * run.u.margin**2


@of_separable("loss")
def separable_loss(run: Run) -> float:
    return 2 * _separability(run) * run.u.margin


def _separability(run: Run) -> float:
    """R2 |u|^2/s^2: one over the squared margin of the unit vector along u, for instances of norm up to 1."""
    run.needs_start_at_zero()
    run.needs_separation()
    return over(run.u.largest_q * run.u.distance2, run.u.smallest_margin**2)


# N03 Lemma 2, PA, with eps* <= eps as in Theorem 1:  |w_T - w_1| <= 2 |u - w_1| for every T
@theorem("N03 Lemma 2", "distance moved", steps=("pa",), kinds=EVERY, selections=("only", *SELECTIONS))
def distance_moved(run: Run) -> float:
    run.needs_no_loss()
    return 2 * math.sqrt(run.u.distance2)


# Derived (docs/theory/committees.md, T0.1), PA-I, any u; for labels S13.4, and with m = beta S12.2's bound for MIRA. A
# row with a mistake has l_j >= m, and min(C/nu_j, l_j/q_j) gains at least what any shorter step a does, 2 a m - a^2 R2;
# so with a = min(C/nu, m/R2) for the largest nu:
#     mistakes <= (D2 + 2 C sum l*_t)/(2 a m - a^2 R2)
# That is J06 Theorem 4 if C >= m/R2, and less if C is smaller: the factor of D2 is 1/(C (2 m - C R2)), and not 1/(C m).
of_pa1 = partial(theorem, steps=("pa1",), kinds=RANKED, carries=True)


@theorem(SHARPER, "mistakes", steps=("pa1",), kinds=("classification",), carries=True)
@of_pa1(SHARPER, "mistakes", selections=("max",))
@of_pa1(SHARPER, "updates", selections=("prediction",))
@of_pa1(f"{S06_T1} for any C{DERIVED}", "mistakes", selections=("conproj",))
@of_pa1(MIRA, "mistakes", selections=("mira",))
def any_C(run: Run) -> float:
    u = run.u
    _needs_margin(run)
    a = min(
        run.C / u.largest_nu if u.largest_nu else math.inf,
        u.margin / u.largest_q if u.largest_q else math.inf,
    )
    run.need(a < math.inf, "it needs a cap or an instance that is not zero")
    return over(u.distance2 + times(2 * run.C, u.loss), 2 * a * u.margin - a * a * u.largest_q)


# Derived (docs/theory/committees.md, T0.2), PA-I with a finite C, any u. A step gains at least what the step C does,
# 2 C l_t - C^2 q_t, and the master inequality bounds the sum of the gains by D2 + 2 C sum l*_t:
#     sum l_t <= sum l*_t + D2/(2 C) + C/2 (sum of q_t over the updates)
# That sum is at most R2 times the updates, and at most the sum of all q_t. On a zero instance both losses are equal.
@theorem(PA1_LOSS, "loss", steps=("pa1",), kinds=EVERY, selections=("only", *ONE, "mira"), carries=True)
def pa1_loss(run: Run) -> float:
    u, C = run.u, run.C
    run.need(math.inf > C, "it needs a finite C")
    run.need(u.smallest_nu == u.largest_nu == 1, "it needs nu = 1")
    sizes: float = min(run.statistics.updates * u.largest_q, math.inf if math.isnan(u.total_q) else u.total_q)
    return u.loss + u.distance2 / (2 * C) + C / 2 * sizes


of_pa1(f"{S06_T1} for SimProj{DERIVED}", "mistakes", selections=("simproj",))(by_rows(any_C))


# S06 Theorem 1 and Corollary 1, with C < 2 m/R2:  mistakes <= (D2 + 2 C sum l*_t)/(2 C m - C^2 R2)
# With weights the rows of SimPerc take steps C/nu_j, and 2 a m - a^2 R2 is smallest at an end of their range.
@of_pa1(S06_T1, "mistakes", selections=("simperc", "conproj"))
def simultaneous(run: Run) -> float:
    u = run.u
    longest = run.C / u.smallest_nu if u.smallest_nu else math.inf
    limit = 2 * u.margin * u.smallest_nu / u.largest_q if u.largest_q else math.inf
    fits = longest * u.largest_q < 2 * u.margin
    run.need(fits, f"it needs C < {limit:.6g}, and C is {run.C:.6g}")
    gain = min(2 * a * u.margin - a * a * u.largest_q for a in (longest, run.C / u.largest_nu))
    return over(u.distance2 + times(2 * run.C, u.loss), gain)


# ---- perceptrons --------------------------------------------------------------------------------------------------
# From w_1 = 0, any u (S4). The papers have m = 1; u/m has the hinge losses l*_t/m at margin 1. The theorems fail from
# w_1 != 0, also with |u - w_1| in place of |u|. The aggressive perceptron moves at margins up to beta, so that |w|^2
# grows by at most R2 + 2 beta per update: this takes the place of R2, and the bounds are about its updates, too.
#
# With many rows they need no more than rows of margin <= 0 and |d|^2 <= R2. From w_1 = 0 the predictions of SimPerc do
# not depend on C: it is the uniform perceptron. For it the first bound is S06 Theorem 1 with the best C; as printed
# that lacks a factor of 4 under the root (E9).
of_perceptron = partial(theorem, steps=("perceptron",), kinds=SCORED)
of_simperc = partial(theorem, steps=("pa1",), kinds=RANKED, selections=("simperc",))


# mistakes <= L + U/2 + sqrt(U L + U^2/4),  U = R2 |u|^2/m^2, L = sum l*_t/m
@of_perceptron("perceptron, loss", "mistakes", selections=("only", "max", "uniform"))
@of_perceptron("perceptron, loss", "updates", selections=("prediction",))
def perceptron_loss(run: Run) -> float:
    run.needs_start_at_zero()
    U = over((run.u.largest_q + 2 * run.beta) * run.u.distance2, run.u.margin**2)
    L = over(run.u.loss, run.u.margin)
    return L + U / 2 + math.sqrt(U * L + U * U / 4)


of_simperc("S06 Theorem 1 with the best C", "mistakes")(unweighted(perceptron_loss))


# mistakes <= (R |u| + sqrt(sum l*_t^2))^2/m^2
@of_perceptron("perceptron, squared loss", "mistakes", selections=("only", "max", "uniform"))
@of_perceptron("perceptron, squared loss", "updates", selections=("prediction",))
def perceptron_squared_loss(run: Run) -> float:
    run.needs_start_at_zero()
    root = math.sqrt((run.u.largest_q + 2 * run.beta) * run.u.distance2) + math.sqrt(run.u.squared_loss)
    return over(root * root, run.u.margin**2)


of_simperc("perceptron, squared loss", "mistakes")(unweighted(perceptron_squared_loss))


# Novikoff (B03, S4): with y_t u.x_t >= s > 0 for all t,  updates <= (R2 + 2 beta) |u|^2/s^2
@of_perceptron("perceptron, separable", "updates", selections=("only", *ONE, "uniform"))
def perceptron_separable(run: Run) -> float:
    larger = 1 + 2 * run.beta / run.u.largest_q if run.u.largest_q > 0 else 1.0
    return _separability(run) * larger


of_simperc("perceptron, separable", "updates")(unweighted(perceptron_separable))


# CS03 (S12.1), w_1 = 0, as printed for |u| = 1 and R2 >= |x|^2, so R2/2 here:
#     mistakes <= 2 (R |u|/sqrt(2) + sqrt(sum l*_t^2))^2/m^2
@theorem("CS03", "mistakes", steps=("perceptron",), kinds=("ranking",), selections=("max", "uniform"))
def ultraconservative(run: Run) -> float:
    run.needs_start_at_zero()
    root = math.sqrt(run.u.largest_q / 2 * run.u.distance2) + math.sqrt(run.u.squared_loss)
    return over(2 * root * root, run.u.margin**2)


# CS03 (S12.2), MIRA with beta = 0: |W| never grows, and each step t adds at least t s to u.W, where s > 0 is the
# smallest margin of u:  sum of all steps <= 2 |u| |W_1|/s
@theorem("MIRA, beta = 0", "total step", steps=("pa", "pa1"), kinds=("ranking",), selections=("mira",))
def conservative(run: Run) -> float:
    run.need(run.u.margin == 0, "it needs beta = 0")
    run.needs_separation()
    return 2 * math.sqrt(run.u.norm2) * run.u.start_norm / run.u.smallest_margin


# ---- costs --------------------------------------------------------------------------------------------------------
# Cost-sensitive PA-I. A round gains at least min(C l_t, l_t^2/q_t), where l_t^2 >= c rho_t (c = 1, but for structures
# with a margin other than 1) and l_t >= rho_t/sqrt(max rho), with rho_t = rho(y_t, predicted):
#     sum rho_t <= max(R2/c, sqrt(max rho)/C) (D2 + 2 C sum l*_t)
# J06 Theorem 9 has R2 <= 1 and C >= sqrt(max rho), so that the first factor is 1.
of_cost = partial(theorem, steps=("pa1",), kinds=("cost",), selections=ONE, carries=True)


@of_cost(f"J06 Theorem 9 for any C{DERIVED}", "cost")
def any_cost(run: Run) -> float:
    u = run.u
    factor = max(u.largest_q / u.cost_unit, math.sqrt(u.largest_cost) / run.C)
    return times(factor, u.distance2) + times(times(2 * run.C, factor), u.loss)


# The same with T0.1. A round gains at least g(l_t), g(l) = 2 a l - a^2 R2 with a = min(C, l/R2). Relative to the cost
# that is least at the loss s = c sqrt(max rho): the one of the largest cost, or for 'max-additive' of the smallest.
#     sum rho_t <= s^2/(c g(s)) (D2 + 2 C sum l*_t)
@of_cost(SHARPER_COST, "cost")
def sharper_cost(run: Run) -> float:
    u, C = run.u, run.C
    s = u.cost_unit * math.sqrt(u.largest_cost)
    if times(C, u.largest_q) >= s:
        factor = u.largest_q / u.cost_unit
        return times(factor, u.distance2) + times(times(2 * C, factor), u.loss)
    factor = s * s / u.cost_unit / (2 * s - times(C, u.largest_q))
    return times(factor / C, u.distance2) + times(2 * factor, u.loss)


@of_cost("J06 Theorem 9", "cost")
def costs(run: Run) -> float:
    u, root = run.u, math.sqrt(run.u.largest_cost)
    small = u.largest_q <= 1 + UNIT_SLACK
    run.need(small, f"it needs |phi(x, r) - phi(x, s)| <= 1, and here the square reaches {u.largest_q:.6g}")
    run.need(u.cost_unit == 1, "it needs margins that are the roots of the costs")
    run.need(root <= run.C, f"it needs C of at least the root of every cost, {root:.6g}")
    return max(1.0, u.largest_q) * (u.distance2 + times(2 * run.C, u.loss))


# ---- budgets (B03, S14) -------------------------------------------------------------------------------------------


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
