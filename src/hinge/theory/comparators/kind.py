"""The interface of the kinds of predictors: `charge` computes what each round of a batch costs a fixed predictor, from
its scores; `suffered` sums this up for the theorems.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .comparator import Comparator

if TYPE_CHECKING:
    from ...learner import Learner

Vector = NDArray[np.float64]


class Charge(NamedTuple):
    """What the rounds of a batch cost u."""

    losses: Vector
    discrepancies: Vector
    rows: NDArray[np.int64] | None = None  # how many constraints each round has; None: one
    largest_cost: float = 0.0
    obstacle: str = ""


@dataclass(frozen=True)
class Place:
    """The position of u."""

    distance2: float  # from the start of the learner
    norm2: float
    from_zero: bool = True
    start_norm: float = 0.0

    @classmethod
    def of(cls, u: Vector, start: Vector) -> Place:
        start_norm = math.sqrt((start**2).sum())
        return cls(float(((u - start) ** 2).sum()), float((u**2).sum()), not start.any(), start_norm)

    @classmethod
    def at(cls, norm2: float) -> Place:
        """The learner started at zero."""
        return cls(norm2, norm2)


class Kind:
    """The base. Its defaults are those of one constraint per round."""

    name: str
    insensitivity: float
    selection = "only"
    nu: Vector = np.ones(1)
    cost_unit = 1.0
    scales: tuple[float, ...] | None = None  # the multiples to try; None: the usual ones
    options: tuple[str, ...] = ()  # the options of the learner on which the losses depend
    extra = "intercept"  # what a predictor has in addition to its weights: an attribute of learners
    has_thresholds = False  # whether that is a part of u that never has a covariance
    has_labels = False
    indices = False  # whether targets are indices of labels
    fixed_size = False  # whether q is 1 for every example
    largest_error = 1.0  # the largest possible error, as the command line counts it
    has_open_bound = True  # whether a bound can be written down with u left open

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Kind:
        """The kind of a predictor, with the losses of the learner."""
        return cls.with_options(extra, learner.parameters)

    @classmethod
    def with_options(cls, several: Vector, options: Mapping[str, Any]) -> Kind:
        """The kind with these options, some of which may be missing. `several` has one entry per label or threshold."""
        given = {name: options[name] for name in cls.options if options.get(name) is not None}
        return cls(**given, **{"count": len(several)} if cls.indices else {})

    # ---- weights and scores -----------------------------------------------------------------------------------------

    @classmethod
    def extra_of(cls, learner: Learner) -> Vector:
        return np.atleast_1d(np.asarray(getattr(learner, cls.extra), dtype=np.float64))

    def whole(self, weights: Any, extra: Any) -> Vector:
        """The weights with those of the constant feature at their end: the coordinates that have a covariance, if
        there is one. `extra` are these weights: intercepts over the value of the constant feature."""
        whole: Vector = np.asarray(weights, dtype=np.float64)
        if self.extra == "intercept" and len(extra):
            whole = np.concatenate([whole, np.reshape(extra, (*whole.shape[:-1], 1))], axis=-1)
        return whole

    def thresholds(self, extra: Vector) -> Vector:
        """The coordinates that have no covariance."""
        return extra if self.has_thresholds else extra[:0]

    def scores(self, X: Any, weights: Vector, extra: Vector) -> Vector:
        """The scores of fixed weights. An empty `extra` means no intercept."""
        scores = np.asarray(X @ weights.T, dtype=np.float64)
        return np.asarray(scores + extra) if len(extra) else scores

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        """The scores from `Learner.lanes_of`; `unseen` are the sums of squares of features without a column."""
        return np.asarray(lanes.reshape(len(lanes), -1)[:, 0])

    def products(self, lanes: Vector, extra: Vector) -> Vector:
        """w.x of each lane."""
        return lanes

    # ---- what is suffered -------------------------------------------------------------------------------------------

    def charge(self, scores: Vector, targets: Any) -> Charge:
        raise NotImplementedError

    def sizes(self, q: Any) -> Any:
        """The squared size of a constraint, from that of the instance."""
        return q

    def place(self, place: Place) -> Place:
        """The position of u, with the coordinates that only this kind has."""
        return place

    def suffered(
        self, charge: Charge, largest_q: Vector, place: Place, smallest_q: Vector | None = None
    ) -> Comparator:
        """Rounds without constraints (no label is relevant, or all are) count as rounds only."""
        rows = np.ones(len(charge.losses), dtype=np.int64) if charge.rows is None else charge.rows
        asked, place = rows > 0, self.place(place)
        losses, smallest = charge.losses[asked], largest_q if smallest_q is None else smallest_q
        worst, nu = charge.discrepancies[asked], self.nu if len(self.nu) else np.ones(1)  # of one label alone
        return Comparator(
            kind=self.name,
            selection=self.selection,
            insensitivity=float(self.insensitivity),
            rounds=len(rows),
            distance2=place.distance2,
            from_zero=place.from_zero,
            loss=math.fsum(losses),
            squared_loss=math.fsum(losses**2),
            largest_discrepancy=float(worst.max()) if len(worst) else float(self.insensitivity),
            largest_q=float(largest_q[asked].max(initial=0.0)),
            smallest_q=float(smallest[asked].min()) if len(worst) else 0.0,
            total_q=float(largest_q[asked].sum()),
            norm2=place.norm2,
            start_norm=place.start_norm,
            most_rows=int(rows.max(initial=0)),
            smallest_nu=float(nu.min()),
            largest_nu=float(nu.max()),
            cost_unit=self.cost_unit,
            largest_cost=charge.largest_cost,
            obstacle=charge.obstacle,
        )

    # ---- what the command line shows --------------------------------------------------------------------------------

    def open(self, statistics: Any, distance2: float, loss: float, squared_loss: float) -> Comparator:
        """A comparator of which only the distance and the losses are known."""
        nothing = np.zeros(0)
        most_rows, largest_cost = self.at_most()
        return replace(
            self.suffered(Charge(nothing, nothing), nothing, Place.at(distance2)),
            rounds=statistics.rounds,
            loss=loss,
            squared_loss=squared_loss,
            largest_discrepancy=math.inf if loss or squared_loss else -math.inf,
            largest_q=statistics.largest_q,
            total_q=math.nan,
            most_rows=most_rows,
            largest_cost=largest_cost,
        )

    def at_most(self) -> tuple[int, float]:
        """The largest number of constraints of a round, and the largest cost of a prediction."""
        return 1, 0.0

    def error_bound(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """A guarantee as a bound of the error, as the command line counts it."""
        return guaranteed / rounds if quantity == "mistakes" else math.inf


def dense(X: Any) -> Vector:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def squared_norms(X: Any) -> Vector:
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else (X * X).sum(axis=1)
    return np.asarray(squares, dtype=np.float64).reshape(-1)
