"""Certificates: what a learner suffered on a stream, and what its theorems guaranteed, in words and in numbers.

A theorem holds for every comparator u, a fixed predictor of the same kind. A `Hindsight` reads the stream again, batch
by batch, and sums up the losses of some comparators; every theorem uses the one with the best guarantee. Theorems that
do not apply are listed with the reason: that is not a failure."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..model.engine import is_single
from .comparators.comparator import Comparator
from .theorems import Guarantee, steps_with_theorems, strongest
from .theorems.table import RELATIVE_SLACK, SINGLE_SLACK

PASSES = 5
CS = (0.01, 0.1, 1.0)  # over the largest q


class Against(NamedTuple):
    """Which comparators, in words, and which multiples of them."""

    words: str
    scales: tuple[float, ...]


FOUND = Against(
    "averages of several passes over the same data", (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0)
)
GIVEN = Against("the comparator that was given", (1.0,))
LEARNED = Against(
    "multiples of the weights that were learned in the end", (0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5)
)
BALL = Against("the ball that was learned in the end", (1.0,))

ANOTHER_RUN = (
    "run again, it goes another way: it must be what was learned, in the order in which it was learned, "
    "without weights"
)


@dataclass(frozen=True)
class Certificate:
    """Every theorem for the learner, on its stream."""

    guarantees: tuple[Guarantee, ...]
    against: str  # which comparators
    reason: str = ""  # why there is no theorem at all
    averaged: bool = False  # whether the learner predicts with the average of these vectors
    rounds: int = 0  # of the stream

    @classmethod
    def none(cls, reason: str) -> Certificate:
        return cls((), "", reason)

    @property
    def applicable(self) -> list[Guarantee]:
        return [one for one in self.guarantees if one.applicable]

    @property
    def holds(self) -> bool:
        """Whether every guarantee that applies was kept. True if none applies."""
        return all(one.holds for one in self.guarantees)

    @property
    def tightest(self) -> Guarantee | None:
        """The guarantee about mistakes or squared losses that is nearest to what was suffered; if there is none, about
        losses, or about anything."""
        first = ("mistakes", "updates", "cost", "squared loss"), ("loss",)
        named = ([g for g in self.applicable if g.quantity in quantities] for quantities in first)
        about = next(filter(None, named), self.applicable)
        rounded = [(round(g.suffered / g.guaranteed, 9) if g.guaranteed > 0 else 1.0, g) for g in about]
        return max(rounded, key=lambda pair: pair[0])[1] if rounded else None

    @property
    def record(self) -> dict[str, Any]:
        """The certificate for JSON."""
        names = ("theorem", "quantity", "suffered", "guaranteed", "reason")
        applicable = [{name: getattr(one, name) for name in names} for one in self.applicable]
        return {"guarantees": applicable, "holds": self.holds, "sentence": str(self)}

    def __str__(self) -> str:
        if self.reason:
            return f"Nothing is guaranteed: {self.reason}."
        best = self.tightest
        if best is None:
            why = "; ".join(dict.fromkeys(one.reason for one in self.guarantees)) or "no theorem is known"
            return f"Nothing is guaranteed against {self.against}: {why}."
        about = (
            " (It is about the vectors that were averaged, not about their average.)" if self.averaged else ""
        )
        if best.quantity in ("mistakes", "updates") and 0 < self.rounds <= best.guaranteed:
            about = f" (There are {self.rounds:,} examples: it says nothing here.){about}"
        return f"Against {self.against}: {best}{about}"


class Hindsight:
    """What comparators have suffered on the stream of a learner."""

    largest_error = 1.0  # the largest possible error, as the command line counts it

    again: Any = None  # a learner with the same options, if the run is made again

    def __init__(self, learner: Any, against: Against) -> None:
        self.learner, self.against = learner, against

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        """The next examples of the stream."""
        raise NotImplementedError

    def comparators(self, statistics: Any) -> list[Comparator]:
        """`statistics` are those of the learner after the same examples: they have the largest q."""
        raise NotImplementedError

    def other_run(self) -> str:
        """If the run was made again, why it differs from that of the learner; "" if it does not."""
        same = self.again is None or same_run(self.learner.statistics, self.again.statistics)
        return "" if same else ANOTHER_RUN

    @property
    def beta(self) -> float:
        """The beta of the perceptron."""
        return 0.0

    def guarantees(self, statistics: Any = None) -> list[Guarantee]:
        statistics, p = statistics or self.learner.statistics, self.learner.parameters
        step = getattr(self.learner, "step", None) or p["step"]
        if step not in steps_with_theorems():
            return []
        return strongest(
            step,
            statistics,
            self.comparators(statistics),
            C=float(p["C"]),
            beta=self.beta,
            slack=SINGLE_SLACK if is_single(p["dtype"]) else RELATIVE_SLACK,
        )

    def certificate(self) -> Certificate:
        if reason := self.other_run():
            return Certificate.none(reason)
        averaged, rounds = bool(self.learner.averaged), self.learner.statistics.rounds
        return Certificate(tuple(self.guarantees()), self.against.words, averaged=averaged, rounds=rounds)

    def error_bound(self, statistics: Any, rounds: int) -> float:
        """The best bound of the error after this number of rounds, as the command line counts it (infinity if none)."""
        bounds = [
            self.as_error(one.quantity, one.guaranteed, rounds)
            for one in self.guarantees(statistics)
            if one.applicable
        ]
        return min(bounds, default=math.inf)

    def as_error(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """A guarantee as a bound of the error."""
        return guaranteed / rounds if quantity == "mistakes" else math.inf


def certify(hindsights: Iterable[Hindsight], stream: Iterable[tuple[Any, Any]]) -> Certificate:
    """The certificate of the first hindsight whose run is that of its learner. Each reads the stream again."""
    found = Certificate.none(ANOTHER_RUN)
    for hindsight in hindsights:
        for X, y in stream:
            hindsight.see(X, y)
        found = hindsight.certificate()
        if not found.reason:
            break
    return found


def same_run(one: Any, other: Any) -> bool:
    """Compares statistics. Losses may differ by rounding: dense and sparse rows are summed in different orders."""
    counts = [(its.rounds, its.mistakes, its.updates) for its in (one, other)]
    return counts[0] == counts[1] and math.isclose(one.loss, other.loss, rel_tol=1e-6, abs_tol=1e-9)


def whole_stream(rounds: int, expected: int) -> str:
    if rounds == expected:
        return ""
    return f"the learner has seen {rounds:,} rounds, and here are {expected:,}: it must be the whole stream, once"


def cautious_and_bold(learner: Any) -> list[dict[str, Any]]:
    """Options of the learners whose averages are the comparators."""
    largest = max(learner.statistics.largest_q, 1e-12)
    return [{"step": "pa1", "C": C / largest, "average": True} for C in CS]
