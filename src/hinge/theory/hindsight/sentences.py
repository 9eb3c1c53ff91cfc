"""Streams of sentences: a comparator suffers from its own worst rival, which is searched."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ...data import target_arrays
from ...data.errors import InputTypeError
from ...structured.sequence_learner import SequenceLearner
from .. import certificate as common
from ..certificate import Against, Certificate, Hindsight, certify, whole_stream
from ..comparators.arrays import structured_comparator
from ..comparators.comparator import Comparator
from ..comparators.covariance import Covariance


def started_elsewhere(learner: Any) -> str:
    return "" if learner.parameters.get("w1") is None else "the learner must have started at zero"


def no_theorem(learner: SequenceLearner) -> str:
    """Why there is none for this learner on any stream, or why no comparator can be tried; "" if there may be one."""
    cost, selection = learner.parameters["cost"], learner.parameters["selection"]
    if reason := started_elsewhere(learner):
        return reason
    if callable(cost):
        return "for a cost that is a function there is no search of a comparator's worst rival"
    if cost is not None and selection == "prediction" and not (_costs(learner) % 1 == 0).all():
        return "the search of a comparator's worst rival needs costs that are whole numbers"
    return ""


def check_comparator(model: Any, u: Any) -> None:
    if u is not None and not isinstance(u, type(model)):
        raise InputTypeError(f"u must be a {type(model).__name__}, not {type(u).__name__}")


def least(costs: Any) -> float:
    """The smallest of those that are not 0."""
    return float(costs[costs > 0].min()) if costs.any() else 1.0


def has_covariance(learner: Any) -> bool:
    """Whether a comparator is measured from the vectors of the run."""
    return bool(learner.parameters.get("geometry", "euclidean") != "euclidean")


def measured(
    covariance: Covariance, one: Comparator, scale: float, terms: Any, largest_q: float
) -> Comparator:
    """A comparator that has one vector, measured from a run; its sizes are known to the learner. `terms`: of Q."""
    Q = float(terms @ (1.0, -2 * scale, scale * scale))
    return covariance.measured(one, largest_q=largest_q, Q=Q, weights2=one.distance2)


def _costs(learner: SequenceLearner) -> Any:
    """What tags cost."""
    cost, known = learner.parameters["cost"], learner.labels.known
    if cost is None:
        return 1.0 - np.eye(len(known))
    return target_arrays.square_matrix(cost, known, "cost", 0.0)


class Suffering:
    """What multiples of the weights of a tagger suffer, with the losses of the learner."""

    def __init__(self, learner: SequenceLearner, other: SequenceLearner, scales: Iterable[float]) -> None:
        self.learner, self.other, self.scales = learner, other, list(scales)
        self.losses: list[list[float]] = [[] for _ in self.scales]
        self.largest_cost = 0.0
        self.terms = np.zeros(3)  # of Q, with a covariance

    def see(self, X: Any, y: Any) -> None:
        p, costs = self.learner.parameters, _costs(self.learner).max(axis=1, initial=0.0)
        places = {tag: place for place, tag in enumerate(self.learner.labels.known)}
        for tags in y:
            self.largest_cost = max(self.largest_cost, float(sum(costs[places[tag]] for tag in tags)))
        for scale, losses in zip(self.scales, self.losses, strict=True):
            # The loss of s u with the margin m is s times that of u with the margin m/s.
            margin, additive = float(p["margin"]) / scale, p["selection"] == "max-additive"
            losses += (scale * self.other.suffered(X, y, margin, additive)).tolist()

    def comparators(self, largest_q: float) -> Iterator[tuple[float, Comparator]]:
        """With their scales."""
        p, costs = self.learner.parameters, _costs(self.learner)
        smallest, perceptron = least(costs), p["step"] == "perceptron"
        if perceptron and (costs[~np.eye(len(costs), dtype=bool)] == 0).any():
            smallest = 0.0
        norm2 = math.fsum(weight * weight for weight in weights_of(self.other).values())
        for scale, losses in zip(self.scales, self.losses, strict=True):
            yield (
                scale,
                structured_comparator(
                    losses,
                    norm2=scale**2 * norm2,
                    largest_q=largest_q,
                    largest_cost=self.largest_cost,
                    smallest_cost=smallest,
                    selection=p["selection"],
                    margin=float(p["margin"]),
                    perceptron=perceptron,
                ),
            )


def weights_of(learner: SequenceLearner) -> dict[Any, float]:
    """Those of transitions (False) and of emissions (True)."""
    return {(False, *key): weight for key, weight in learner.transitions().items()} | {
        (True, *key): weight for key, weight in learner.emissions().items()
    }


class OfSentences(Hindsight):
    """With a covariance, or if `verify`, the run is made again. `ahead`: it knew the tags from the start."""

    def __init__(
        self,
        learner: SequenceLearner,
        others: Iterable[SequenceLearner],
        against: Against,
        *,
        ahead: bool = False,
        verify: bool = True,
    ) -> None:
        super().__init__(learner, against)
        self.suffering = [Suffering(learner, other, against.scales) for other in others]
        self.covariance = Covariance(learner.parameters) if has_covariance(learner) else None
        self.again = SequenceLearner(**learner.parameters) if verify or self.covariance else None
        if self.again is not None:
            self.again.closed = learner.closed
        if self.again is not None and ahead and not self.again.labels.known:
            self.again.know(learner.labels.known)
        self.weights = [weights_of(one.other) for one in self.suffering] if self.covariance else []

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        for one in self.suffering:
            one.see(X, y)
        for x, tags in zip(X, y, strict=True) if self.again is not None else ():
            self._run(self.again, x, tags)

    def _run(self, again: Any, x: Any, tags: Any) -> None:
        before = again.statistics.updates
        again.learn_one(x, tags)
        if self.covariance is None or again.statistics.updates == before:
            return
        delta = again._engine.delta()
        keys = [entry[:3] for entry in delta]
        z, w = (np.array([entry[place] for entry in delta]) for place in (3, 4))
        update = self.covariance.update(keys, z)
        for one, weights in zip(self.suffering, self.weights, strict=True):
            one.terms += update.terms(w, np.array([weights.get(key, 0.0) for key in keys]))

    def comparators(self, statistics: Any) -> list[Comparator]:
        q = statistics.largest_q
        return [
            made if self.covariance is None else measured(self.covariance, made, scale, one.terms, q)
            for one in self.suffering
            for scale, made in one.comparators(q)
        ]

    def other_run(self) -> str:
        other = super().other_run()
        if self.again is not None and self.again.labels.known != self.learner.labels.known:
            return common.ANOTHER_RUN
        return other

    def as_error(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """Tags wrong are the cost, if each costs 1."""
        ones = self.learner.parameters["cost"] is None
        return guaranteed / rounds if quantity == "cost" and ones else math.inf


def of_learned(learner: SequenceLearner) -> OfSentences:
    """By multiples of what was learned in the end. Its stream is read again as it was."""
    return OfSentences(learner, [learner], common.LEARNED, verify=False)


def certificate(learner: SequenceLearner, X: Any, y: Any, u: SequenceLearner | None = None) -> Certificate:
    """It has learned the sentences X with their tags y once, in their order, without weights. `u` is another one,
    whose weights (the average, if it has one) are the comparator's; None finds some."""
    reason = no_theorem(learner) or whole_stream(learner.statistics.rounds, len(X))
    if reason:
        return Certificate.none(reason)
    others = list(_others(learner, X, y)) if u is None else [u]
    against = common.FOUND if u is None else common.GIVEN
    # Where tags tie, the run depends on whether they were known ahead.
    tried = (OfSentences(learner, others, against, ahead=ahead) for ahead in (False, True))
    return certify(tried, [(X, y)])


def _others(learner: SequenceLearner, X: Any, y: Any) -> Iterator[SequenceLearner]:
    for options in common.cautious_and_bold(learner):
        search = "max-additive" if learner.parameters["selection"] == "max-additive" else "max"
        changed = {**options, "selection": search, "geometry": "euclidean", "dtype": np.float64}
        other = SequenceLearner(**{**learner.parameters, **changed})
        if not other.labels.known:
            other.know(learner.labels.known)
        lesson = other.read(X, y)
        for _ in range(common.PASSES):
            other.learn_rows(lesson, None, None)
        yield other
