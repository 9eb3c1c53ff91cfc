"""What a learner has been through."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Statistics:
    """What a learner has been through. Losses are those suffered before each update."""

    rounds: int
    mistakes: int  # margin <= 0; outside of the tube; outside of the ball
    updates: int
    loss: float
    squared_loss: float
    largest_q: float  # the largest squared norm of an instance: R^2 of the bounds
    progress: float  # sum of tau (2 l - tau q), the left side of J06's Lemma 1

    @property
    def error(self) -> float:
        """Mistakes a round: the progressive error."""
        return self.mistakes / self.rounds if self.rounds else 0.0

    @property
    def mean_loss(self) -> float:
        return self.loss / self.rounds if self.rounds else 0.0
