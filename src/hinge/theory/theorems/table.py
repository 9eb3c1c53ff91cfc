"""The table of theorems. A row has a name, the quantity that is bounded, the learners that it is about, and a claim.

A claim is a function: it returns the bound, or raises `Unmet` with the condition that fails. `@theorem(...)` enters it
into the table, so a new theorem is one decorated function, with its equation in the comment above it, and a test.

Notation, in all comments: w_1 the start of the learner, l_t its loss before the update, l*_t the loss of the
comparator u, D2 = |u - w_1|^2, R2 = the largest q_t, where q_t = |x_t|^2 (1 for uniclass), m the margin (the papers
have m = 1), eps the insensitivity: the loss is [delta - eps]_+ of a discrepancy delta, which is -y u.x in
classification (eps = -m), |y - u.x| in regression, |x - u| in uniclass (eps = the radius). An intercept is a
coordinate in which every instance is 1. It counts in q_t and in D2."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from ..comparators.comparator import ENTROPY, EUCLIDEAN, SECOND_ORDER, Comparator

SINGLE = ("classification", "regression", "uniclass")  # kinds with one constraint per round
DERIVED = " (derived)"
T2, T3, T4, T5 = "J06 Theorem 2", "J06 Theorem 3", "J06 Theorem 4", "J06 Theorem 5 (N03 Theorem 3)"
N03_T1, S06_T1 = "N03 Theorem 1", "S06 Theorem 1"

# What theorems that carry over are called in another geometry, if a paper has them there.
NAMES = {
    (SECOND_ORDER, T2): "M11 Theorem 1 with Q(u)",
    (SECOND_ORDER, T4): "M11 Theorem 2 (resolved)",
    (SECOND_ORDER, T5): "M11 Theorem 3 (resolved)",
    (ENTROPY, N03_T1): "N03 Theorem 4 (resolved)",
    (ENTROPY, S06_T1): "S06 Theorem 1, entropy",
}
SUFFIXES = {SECOND_ORDER: "Mahalanobis", ENTROPY: "entropy"}

# `suffered <= guaranteed` allows for rounding: sums of many rounds, added up in a different order.
RELATIVE_SLACK, ABSOLUTE_SLACK = 1e-9, 1e-12
SINGLE_SLACK = 1e-5  # relative, for learners that keep their weights in float32


@dataclass(frozen=True)
class Guarantee:
    """One theorem on one stream: what was suffered, and what is guaranteed."""

    theorem: str  # "J06 Theorem 4"
    quantity: str  # what is bounded: "mistakes", "squared loss", ...
    suffered: float
    guaranteed: float  # infinity if the theorem does not apply
    reason: str = ""  # why the theorem does not apply
    slack: float = RELATIVE_SLACK  # the allowed relative rounding error

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


class Unmet(Exception):
    """A theorem does not apply; the message is the condition that fails."""


@dataclass(frozen=True)
class Run:
    """What a theorem may depend on."""

    step: str
    C: float
    statistics: Any  # of the learner
    u: Comparator
    moved: float | None = None  # |w_(T+1) - w_1|
    total: float | None = None  # the sum of all step lengths
    beta: float = 0.0  # the perceptron's margin

    @property
    def room(self) -> float:
        """eps - eps*: by how much the largest discrepancy of u stays below the insensitivity."""
        return self.u.insensitivity - self.u.largest_discrepancy

    def suffered(self, quantity: str) -> float | None:
        """What the learner suffered; None if that is not known."""
        if quantity == "squared loss and loss":
            return float(self.statistics.squared_loss + 2 * max(0.0, self.room) * self.statistics.loss)
        given: dict[str, float | None] = {"distance moved": self.moved, "total step": self.total}
        return given[quantity] if quantity in given else getattr(self.statistics, quantity.replace(" ", "_"))

    # ---- conditions: each raises Unmet ----

    def need(self, condition: bool, otherwise: str) -> None:
        if not condition:
            raise Unmet(otherwise)

    def needs_no_loss(self) -> None:
        loss = self.u.loss
        self.need(not loss > 0, f"it needs a comparator without loss, and this one's is {loss:.6g}")

    def needs_start_at_zero(self) -> None:
        self.need(self.u.from_zero, "it needs a learner that started at zero")

    def needs_separation(self) -> None:
        self.need(self.u.smallest_margin > 0, "it needs a comparator that makes no mistake")


Claim = Callable[[Run], float]  # what is guaranteed; raises Unmet if the theorem does not apply


@dataclass(frozen=True)
class Theorem:
    """A row of the table."""

    name: str
    quantity: str  # what is bounded: an attribute of `Statistics` ("squared loss"), or see `Run.suffered`
    claim: Claim
    steps: frozenset[str]
    kinds: tuple[str, ...]
    selections: tuple[str, ...]
    geometry: str
    # Whether it follows from the master inequality alone: then it holds in every geometry, with the q_t and the D2 of
    # that geometry. Theorems that rescale u, or need |w|, do not. No perceptron's theorem does.
    carries: bool

    def concerns(self, steps: set[str], u: Comparator) -> bool:
        if u.kind not in self.kinds or u.selection not in self.selections:
            return False
        if u.geometry == self.geometry:
            return not self.steps.isdisjoint(steps)
        return self.carries and not (self.steps - {"perceptron"}).isdisjoint(steps)

    def name_in(self, geometry: str) -> str:
        if geometry == self.geometry:
            return self.name
        derived = f"{self.name.removesuffix(DERIVED)}, {SUFFIXES[geometry]}{DERIVED}"
        return NAMES.get((geometry, self.name), derived)


TABLE: list[Theorem] = []


def theorem(
    name: str,
    quantity: str,
    *,
    steps: tuple[str, ...],
    kinds: tuple[str, ...] = SINGLE,
    selections: tuple[str, ...] = ("only",),
    geometry: str = EUCLIDEAN,
    carries: bool = False,
) -> Callable[[Claim], Claim]:
    """Enters a claim into the table, for these steps, kinds and selections. A claim may be entered several times."""

    def enter(claim: Claim) -> Claim:
        row = Theorem(name, quantity, claim, frozenset(steps), kinds, selections, geometry, carries)
        TABLE.append(row)
        return claim

    return enter


def steps_with_theorems() -> frozenset[str]:
    return frozenset().union(*(row.steps for row in TABLE))


def guarantees(
    step: str,
    statistics: Any,
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
    known = steps_with_theorems()
    if step not in known:
        raise ValueError(
            f"there is no theorem for the step {step!r}; there are some for {', '.join(sorted(known))}"
        )
    if step == "perceptron" and not comparator.has_mistakes:
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
    run = Run(step, C, statistics, comparator, moved, total, beta)
    aggressive = "it is about beta = 0" if beta > 0 and comparator.selection != "only" else ""
    steps = {step, "pa"} if math.inf == C and step != "perceptron" else {step}  # PA-I(inf) = PA-II(inf) = PA
    found = []
    for row in TABLE:
        suffered = run.suffered(row.quantity) if row.concerns(steps, comparator) else None
        if suffered is not None:
            try:
                guaranteed, reason = row.claim(run), comparator.obstacle or aggressive
            except Unmet as unmet:
                guaranteed, reason = math.inf, comparator.obstacle or aggressive or str(unmet)
            name = row.name_in(comparator.geometry)
            found.append(Guarantee(name, row.quantity, suffered, math.inf if reason else guaranteed, reason))
    return found


def strongest(
    step: str,
    statistics: Any,
    comparators: Iterable[Comparator],
    *,
    C: float = 1.0,
    beta: float = 0.0,
    slack: float = RELATIVE_SLACK,
) -> list[Guarantee]:
    """Each theorem with the comparator that makes it guarantee the most."""
    best: dict[tuple[str, str], Guarantee] = {}
    # By loss: where a theorem applies to none, the reason given is that of the most hopeful one.
    for u in sorted(comparators, key=lambda u: u.loss):
        for found in guarantees(step, statistics, u, C=C, beta=beta):
            found = replace(found, slack=slack)
            if found.applicable and not math.isfinite(found.guaranteed):
                found = replace(found, guaranteed=math.inf, reason="its bound is not a finite number")
            key = found.theorem, found.quantity
            if key not in best or found.guaranteed < best[key].guaranteed:
                best[key] = found
    return list(best.values())


def times(a: float, b: float) -> float:
    """a b with 0 inf = 0: a coefficient may be infinite (C = inf), but no loss costs nothing."""
    return 0.0 if a == 0 or b == 0 else a * b


def over(a: float, b: float) -> float:
    """a/b, and infinity where b is too small a number: squares of tiny margins are 0."""
    return a / b if b else math.inf
