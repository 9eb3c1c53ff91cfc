"""What sentences and structures share: a comparator suffers from the rivals that a search finds (J06 section 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..certificate import Against, Hindsight
from ..comparators.arrays import structured_comparator
from ..comparators.comparator import Comparator
from ..comparators.covariance import Covariance


class OfSearched(Hindsight):
    """The comparators are multiples of the weights of other learners, with the losses of this one.

    With a covariance they are measured from the vectors of the run, which is made again: `terms` are those of Q.
    """

    def __init__(
        self, learner: Any, others: Sequence[Any], norms2: Sequence[float], against: Against
    ) -> None:
        super().__init__(learner, against)
        self.others, self.norms2 = others, norms2
        self.multiples = [(place, scale) for place in range(len(others)) for scale in against.scales]
        self.losses: list[list[float]] = [[] for _ in self.multiples]
        has_covariance = learner.parameters.get("geometry", "euclidean") != "euclidean"
        self.covariance = Covariance(learner.parameters) if has_covariance else None
        self.terms = [np.zeros(3) for _ in others]

    def costs(self) -> tuple[float, float]:
        """The least and the most that a wrong prediction may have cost."""
        raise NotImplementedError

    def comparators(self, statistics: Any) -> list[Comparator]:
        p, (smallest_cost, largest_cost), made = self.learner.parameters, self.costs(), []
        for (place, scale), losses in zip(self.multiples, self.losses, strict=True):
            one = structured_comparator(
                losses,
                norm2=scale**2 * self.norms2[place],
                largest_q=statistics.largest_q,
                largest_cost=largest_cost,
                smallest_cost=smallest_cost,
                selection=p["selection"],
                margin=float(p["margin"]),
                perceptron=p["step"] == "perceptron",
            )
            if self.covariance is not None:
                Q = float(self.terms[place] @ (1.0, -2 * scale, scale * scale))
                one = self.covariance.measured(
                    one, largest_q=statistics.largest_q, Q=Q, weights2=one.distance2
                )
            made.append(one)
        return made


def least(costs: Any) -> float:
    """The smallest of the costs that are not 0."""
    return float(costs[costs > 0].min()) if costs.any() else 1.0
