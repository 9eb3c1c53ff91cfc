"""Streams of sentences: the core searches the worst rival of a comparator."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...data import target_arrays
from ...data.errors import InputTypeError
from ...structured.sequence_learner import SequenceLearner
from .. import certificate as common
from ..certificate import Against, Certificate, certify, whole_stream
from .searched import OfSearched, least


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


def _costs(learner: SequenceLearner) -> Any:
    """What tags cost."""
    cost, known = learner.parameters["cost"], learner.labels.known
    if cost is None:
        return 1.0 - np.eye(len(known))
    return target_arrays.square_matrix(cost, known, "cost", 0.0)


def weights_of(learner: SequenceLearner) -> dict[Any, float]:
    """The weights of transitions (False) and of emissions (True)."""
    return {(False, *key): weight for key, weight in learner.transitions().items()} | {
        (True, *key): weight for key, weight in learner.emissions().items()
    }


class OfSentences(OfSearched):
    """With a covariance, or if `verify`, the run is made again. `ahead`: it knew the tags from the start."""

    def __init__(
        self,
        learner: SequenceLearner,
        others: Sequence[SequenceLearner],
        against: Against,
        *,
        ahead: bool = False,
        verify: bool = True,
    ) -> None:
        weights = [weights_of(other) for other in others]
        norms2 = [math.fsum(weight * weight for weight in its.values()) for its in weights]
        super().__init__(learner, others, norms2, against)
        self.weights = weights if self.covariance is not None else []
        self.largest_cost = 0.0
        if verify or self.covariance is not None:
            self.again = SequenceLearner(**learner.parameters)
            self.again.closed = learner.closed
            if ahead and not self.again.labels.known:
                self.again.know(learner.labels.known)

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        p, costs = self.learner.parameters, _costs(self.learner).max(axis=1, initial=0.0)
        places = {tag: place for place, tag in enumerate(self.learner.labels.known)}
        for tags in y:
            self.largest_cost = max(self.largest_cost, float(sum(costs[places[tag]] for tag in tags)))
        for (place, scale), losses in zip(self.multiples, self.losses, strict=True):
            # The loss of s u with the margin m is s times that of u with the margin m/s.
            margin, additive = float(p["margin"]) / scale, p["selection"] == "max-additive"
            losses += (scale * self.others[place].suffered(X, y, margin, additive)).tolist()
        if self.again is not None:
            for x, tags in zip(X, y, strict=True):
                self._learn_again(x, tags)

    def _learn_again(self, x: Any, tags: Any) -> None:
        before = self.again.statistics.updates
        self.again.learn_one(x, tags)
        if self.covariance is None or self.again.statistics.updates == before:
            return
        delta = self.again._engine.delta()
        keys = [entry[:3] for entry in delta]
        z, w = (np.array([entry[place] for entry in delta]) for place in (3, 4))
        update = self.covariance.update(keys, z)
        for terms, weights in zip(self.terms, self.weights, strict=True):
            terms += update.terms(w, np.array([weights.get(key, 0.0) for key in keys]))

    def costs(self) -> tuple[float, float]:
        costs = _costs(self.learner)
        is_free = (costs[~np.eye(len(costs), dtype=bool)] == 0).any()
        perceptron = self.learner.parameters["step"] == "perceptron"
        return 0.0 if perceptron and is_free else least(costs), self.largest_cost

    def other_run(self) -> str:
        other = super().other_run()
        if self.again is not None and self.again.labels.known != self.learner.labels.known:
            return common.ANOTHER_RUN
        return other

    def as_error(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """The cost is the number of wrong tags, if each costs 1."""
        ones = self.learner.parameters["cost"] is None
        return guaranteed / rounds if quantity == "cost" and ones else math.inf


def of_learned(learner: SequenceLearner) -> OfSentences:
    """Against multiples of the learned weights. The stream is read again in the same order."""
    return OfSentences(learner, [learner], common.LEARNED, verify=False)


def certificate(learner: SequenceLearner, X: Any, y: Any, u: SequenceLearner | None = None) -> Certificate:
    """The certificate of a learner that has learned the sentences X with their tags y once, in order, without weights.
    `u` is another one, whose weights (the average, if it has one) are the comparator; None finds some."""
    reason = no_theorem(learner) or whole_stream(learner.statistics.rounds, len(X))
    if reason:
        return Certificate.none(reason)
    others = list(_others(learner, X, y)) if u is None else [u]
    against = common.FOUND if u is None else common.GIVEN
    # If tags tie, the run depends on whether they were known from the start.
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
