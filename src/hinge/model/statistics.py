"""What a learner has been through."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """What a learner has been through. Losses are those suffered before each update."""

    rounds: int
    mistakes: int  # margin <= 0 (a label out of order); outside of the tube; outside of the ball
    updates: int
    loss: float
    squared_loss: float
    largest_q: float  # the largest squared norm of a constraint (binary: of an instance): R^2 of the bounds
    progress: float  # sum of tau (2 l - tau q), the left side of J06's Lemma 1
    cost: float = (
        0.0  # of the predictions: of numbers and ranks how far off; else the mistakes, or the costs given
    )

    insertions: int = 0  # with a kernel: supports that came
    removals: int = 0  # ... and went
    capped: int = 0  # updates that C made shorter (step='pa1'); 0: it moved as 'pa' does
    weighted: int = 0  # updates that would be others if their examples had the weight 1

    @property
    def error(self) -> float:
        """Mistakes a round: the progressive error."""
        return self.mistakes / self.rounds if self.rounds else 0.0

    @property
    def mean_loss(self) -> float:
        return self.loss / self.rounds if self.rounds else 0.0

    @property
    def mean_cost(self) -> float:
        """The progressive error by cost: the mean absolute error of numbers and ranks."""
        return self.cost / self.rounds if self.rounds else 0.0
