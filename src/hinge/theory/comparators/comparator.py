"""What a fixed predictor suffered on a stream: the input of the theorems."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

EUCLIDEAN, SECOND_ORDER, ENTROPY = "euclidean", "second order", "entropy"


@dataclass(frozen=True)
class SecondOrder:
    """What the theorems with a covariance need to know about u and the run."""

    full: bool  # whether the covariance is a matrix: else `seen` and `log_determinant` are 0
    initial_variance: float  # a
    regularizer: float  # r
    start_distance2: float  # |u - w_1|^2/a
    log_determinant: float  # of I + X a/r, X the sum of xx' over the updates
    seen: float = 0.0  # u'Xu
    spared: int = 0  # updates without a mistake
    update_loss: float = 0.0  # the sum of l*_t over the rounds with an update or a mistake


@dataclass(frozen=True, kw_only=True)
class Comparator:
    """What a fixed predictor u suffered on a stream."""

    kind: str  # classification, regression or uniclass; of labels ranking or cost; ordinal
    rounds: int
    insensitivity: float  # eps: minus the margin, the epsilon, the radius or the largest radius
    distance2: float  # |u - w_1|^2, with the intercept or the radius's coordinate
    from_zero: bool  # whether w_1 = 0
    loss: float  # the sum of l*_t
    squared_loss: float  # the sum of l*_t^2
    largest_discrepancy: float  # eps*: the insensitivity with which u would have suffered nothing
    largest_q: float
    smallest_q: float  # NaN: not known
    total_q: float = math.nan  # the sum of all q_t; NaN: not known
    selection: str = "only"  # which of a round's constraints the learner uses: the only one
    geometry: str = EUCLIDEAN
    obstacle: str = ""  # why no theorem applies to this u, if so
    norm2: float = 0.0  # |u|^2
    start_norm: float = 0.0  # |w_1|
    most_rows: int = 1  # the largest number of constraints of a round
    smallest_nu: float = 1.0
    largest_nu: float = 1.0
    largest_cost: float = (
        0.0  # the largest rho(y_t, r); l_t >= rho_t/sqrt(largest_cost), rho_t that of the prediction
    )
    cost_unit: float = 1.0  # l_t^2 >= cost_unit rho_t
    second_order: SecondOrder | None = None

    @property
    def has_mistakes(self) -> bool:
        """Whether a prediction of this kind is right or wrong."""
        return self.kind not in ("regression", "uniclass")

    @property
    def margin(self) -> float:
        """The margin that y w.x must have (classification)."""
        return -self.insensitivity

    @property
    def smallest_margin(self) -> float:
        """The smallest y u.x of the stream (classification)."""
        return -self.largest_discrepancy


def joined(first: Comparator | None, then: Comparator) -> Comparator:
    """The comparator on both parts of a stream."""
    if first is None or not first.rounds or not then.rounds:
        return then if first is None or not first.rounds else first
    both = first, then
    return replace(
        first,
        rounds=first.rounds + then.rounds,
        loss=first.loss + then.loss,
        squared_loss=first.squared_loss + then.squared_loss,
        largest_discrepancy=max(each.largest_discrepancy for each in both),
        largest_q=max(each.largest_q for each in both),
        smallest_q=min(each.smallest_q for each in both),
        total_q=first.total_q + then.total_q,
        most_rows=max(each.most_rows for each in both),
        largest_cost=max(each.largest_cost for each in both),
        obstacle=first.obstacle or then.obstacle,
    )
