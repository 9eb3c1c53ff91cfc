"""Committees: the vote on losses alone, and what it guarantees (docs/theory/committees.md has the proofs).

Everything in these bounds was observed by the vote, so a certificate needs no data. With the data it has more: bounds
against fixed predictors, by way of the experts' own theorems."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .certificate import Certificate
from .comparators.kind import Vector
from .theorems import Guarantee

if TYPE_CHECKING:
    from ..learner import Learner

A = 2.0  # the constant a of the vote: its rate is a/Delta

REGRET, DELTA, VOTE = "T1.2 (committee)", "T1.2, Delta (committee)", "T1.4 (committee)"
BEST, FIXED = "T1.4, best expert (committee)", "T1.5 (committee)"


@dataclass(frozen=True)
class VoteRecord:
    """What the theorems need, as the vote observed it. With sample weights, all losses are multiplied by them."""

    delta: float  # Delta: what mixing has cost, the sum of h - m
    expected_loss: float  # H: the sum of h, the mean loss of the experts by their weights in each round
    telling_loss: float  # H_D: the same over the rounds that told experts apart
    variance: float  # V: the sum of the variances of the losses
    range: float  # S: the largest difference of two losses
    loss_of_all: float  # A: the losses of the other rounds, in which all lost the same
    telling: int  # D: how many rounds told experts apart
    weight: float = 0.0  # of all rounds: their number, if no example had a weight
    loss: float = 0.0  # of the vote's own predictions

    @classmethod
    def of(cls, learner: Learner) -> VoteRecord:
        engine = learner._engine
        return cls(*[*engine.vote_record(), engine.vote_weight(), engine.vote_loss()])

    def price(self, prior: float) -> float:
        """c Delta: how far H may exceed the loss of an expert with that prior."""
        if not self.telling:
            return 0.0
        return self.delta * (1 + (math.log(1 / prior) + math.log(self.telling)) / A)

    @property
    def largest_delta(self) -> float:
        """sqrt(a V) + (2a/3 + 1) S, which bounds Delta."""
        return math.sqrt(A * self.variance) + (2 * A / 3 + 1) * self.range


class Votes(NamedTuple):
    """What `vote` found."""

    weights: Vector  # one row before each round and one after the last one
    losses: Vector  # the sum of the losses of each expert
    telling_losses: Vector  # the same over the rounds that told experts apart
    record: VoteRecord
    prior: Vector

    @property
    def regret_bounds(self) -> Vector:
        """For each expert its loss and what H may exceed it by: H is at most the smallest of them (T1.2)."""
        return self.losses + [self.record.price(prior) for prior in self.prior.tolist()]


def vote(losses: ArrayLike, prior: ArrayLike | None = None) -> Votes:
    """The vote of a committee on any losses: one row per round, one column per expert.

    It is AdaHedge with a prior (uniform, unless given) and a share. No rate, horizon or range is needed, and losses
    times any number give the same weights.

    >>> from hinge.theory import vote
    >>> made = vote([[0, 1, 1], [0, 1, 0], [1, 0, 1], [0, 1, 1]])
    >>> made.weights[-1].round(2).tolist()
    [0.61, 0.24, 0.15]
    >>> print(f"{made.record.expected_loss:.2f} <= {made.regret_bounds.min():.2f}")
    2.45 <= 3.80
    """
    from .._core import vote_on

    table = np.ascontiguousarray(losses, dtype=np.float64)
    if table.ndim != 2 or not table.shape[1]:
        raise ValueError(
            f"losses have the shape {table.shape}; it must be (rounds, experts), with at least one expert"
        )
    experts = table.shape[1]
    its = np.full(experts, 1 / experts) if prior is None else np.asarray(prior, dtype=np.float64).reshape(-1)
    if len(its) != experts or not (its > 0).all() or not math.isfinite(its.sum()):
        raise ValueError(f"prior must be {experts} numbers above 0, one per expert")
    with np.errstate(over="ignore"):
        finite = math.isfinite((table * table).sum())
    if not finite:
        raise ValueError("losses must be finite numbers, with squares and sums that do not overflow float64")
    its = its / its.sum()
    weights, lost, telling, record = vote_on(table, its)
    return Votes(weights, lost, telling, VoteRecord(*[*record, float(len(table))]), its)


# ---- certificates -------------------------------------------------------------------------------------------------


class Lost(NamedTuple):
    """What a task calls the loss of a prediction."""

    name: str
    counts: bool = False  # whether it is 0 or 1
    factor: int = 2  # how many times h the vote's own loss can be in a round


LOSSES = {
    "classification": Lost("mistakes", counts=True),
    "multilabel": Lost("share of wrong labels"),
    "ordinal": Lost("distance of ranks"),
    "regression": Lost("absolute error", factor=1),
}


@dataclass(frozen=True)
class ExpertBound:
    """What an expert lost, and what is guaranteed relative to it."""

    name: str
    loss: float
    telling_loss: float
    price: float  # c Delta

    @property
    def guaranteed(self) -> float:
        return self.loss + self.price


@dataclass(frozen=True)
class CommitteeCertificate(Certificate):
    """What a committee suffered, and what is guaranteed relative to each of its experts."""

    lost: Lost = LOSSES["classification"]
    vote: VoteRecord | None = None
    experts: tuple[ExpertBound, ...] = ()

    @property
    def best(self) -> ExpertBound:
        """The expert relative to which the most is guaranteed."""
        return min(self.experts, key=lambda expert: expert.guaranteed)

    @property
    def tightest(self) -> Guarantee | None:
        return next((one for one in self.guarantees if one.theorem == REGRET), None)

    @property
    def record(self) -> dict[str, Any]:
        experts = [
            {"expert": one.name, "loss": one.loss, "guaranteed": one.guaranteed} for one in self.experts
        ]
        observed = None if self.vote is None else dict(vars(self.vote))
        return {**super().record, "experts": experts, "vote": observed}

    @property
    def promise(self) -> str:
        """What is guaranteed and what was observed, without the full stop."""
        assert self.vote is not None
        best, name, it = self.best, self.lost.name, self.vote
        text = (
            f"at most {self._at_most(best.guaranteed)} expected {name}, because {best.name}, one of "
            f"{len(self.experts)} experts, had {best.loss:,.6g}; observed: {it.expected_loss:,.6g}. "
            f"The vote had {it.loss:,.6g} {name}, of at most {self._at_most(vote_bound(self.lost, it))}"
        )
        for one in self.guarantees:
            if one.theorem == FIXED and one.applicable:
                text += f". Against {self.against}: at most {self._at_most(one.guaranteed)} expected {name}"
        if self.lost.counts and best.guaranteed >= it.weight:
            text += f". There are {it.weight:,.6g} examples: it says nothing here"
        return text

    def _at_most(self, number: float) -> str:
        return f"{math.ceil(number):,}" if self.lost.counts else f"{number:,.6g}"

    def __str__(self) -> str:
        return super().__str__() if self.reason else f"Guaranteed: {self.promise}."


def vote_bound(lost: Lost, it: VoteRecord) -> float:
    """What the vote's own predictions can have lost: where all err, a count is that of all; the factor concerns the
    other rounds."""
    if lost.counts:
        return it.loss_of_all + lost.factor * it.telling_loss
    return lost.factor * it.expected_loss


def certificate(
    learner: Learner, X: Any = None, y: Any = None, u: Any = None, intercept: Any = None
) -> CommitteeCertificate:
    """The certificate of a committee. Without X it is relative to the experts; with the rows that were learned, once
    and in this order, also against fixed predictors: `u`, or some that are found."""
    with learner._lock:
        record, experts = VoteRecord.of(learner), learner.experts
    if not record.weight > 0:
        return CommitteeCertificate((), "", "the vote has seen no example yet")
    lost = LOSSES[learner.task]
    bounds = tuple(
        ExpertBound(one.name, one.loss, one.telling_loss, record.price(one.prior)) for one in experts
    )
    found, against = list(_guarantees(lost, record, bounds)), ""
    if X is not None:
        bound, against, reason = _fixed(learner, [one.price for one in bounds], X, y, u, intercept)
        found.append(Guarantee(FIXED, f"expected {lost.name}", record.expected_loss, bound, reason))
    rounds = learner.statistics.rounds
    return CommitteeCertificate(tuple(found), against, rounds=rounds, lost=lost, vote=record, experts=bounds)


def _fixed(learner: Learner, prices: list[float], *data: Any) -> tuple[float, str, str]:
    """The bound against fixed predictors, which ones, and the reason if there is none."""
    from .hindsight.experts import Unbounded, bound_of

    try:
        return *bound_of(learner, prices, *data), ""
    except Unbounded as unbounded:
        return math.inf, "fixed predictors", str(unbounded)


def _guarantees(lost: Lost, record: VoteRecord, experts: tuple[ExpertBound, ...]) -> Iterator[Guarantee]:
    regret = min(one.guaranteed for one in experts)
    yield Guarantee(REGRET, f"expected {lost.name}", record.expected_loss, regret)
    yield Guarantee(DELTA, "Delta", record.delta, record.largest_delta)
    yield Guarantee(VOTE, lost.name, record.loss, vote_bound(lost, record))
    yield Guarantee(BEST, lost.name, record.loss, min(_of_best(lost, one) for one in experts))


def _of_best(lost: Lost, one: ExpertBound) -> float:
    """The bound of the vote's own loss relative to an expert."""
    if lost.counts:
        return one.loss + one.telling_loss + lost.factor * one.price
    return lost.factor * one.guaranteed
