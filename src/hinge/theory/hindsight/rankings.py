"""Streams of labels with features of their own: those depend on what was counted before, so the run is made again."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ...structured.feature_maps import checked_features
from ..certificate import (
    ANOTHER_RUN,
    FOUND,
    GIVEN,
    LEARNED,
    PASSES,
    SCALES,
    SCALES_OF_LEARNED,
    Certificate,
    Hindsight,
    cautious_and_bold,
    certify,
    same_run,
    whole_stream,
)
from ..comparators.comparator import Comparator
from ..comparators.kinds import Place, Prototypes
from .sentences import check_comparator, started_elsewhere

if TYPE_CHECKING:
    from ...structured.ranker import PARanker


class OfRankings(Hindsight):
    """The sizes of the rows, and what the comparators, dicts of weights, say of each label. `ahead`: the labels were
    known from the start."""

    def __init__(
        self,
        model: PARanker,
        others: list[dict[str, float]],
        against: str,
        scales: Iterable[float],
        ahead: bool = False,
    ) -> None:
        super().__init__(model._fitted(), against)
        self.others, self.scales = others, tuple(scales)
        self.places = {label: place for place, label in enumerate(self.learner.labels.known)}
        self.again = clone(model)
        learner = self.again._begin(list(self.places)) if ahead else self.again._new_learner()
        self.again._keep(learner, feature_map_=self.again._new_map())
        self.scores: list[list[Any]] = [[] for _ in others]
        self.relevant: list[Any] = []
        self.largest: list[float] = []
        self.smallest: list[float] = []

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        from ...structured.ranker import _relevant

        for x, labels in zip(X, y, strict=True):
            self._see_one(x, _relevant(labels))

    def _see_one(self, x: Any, relevant: list[Any]) -> None:
        """One round. Labels that are still to come have the score -inf."""
        labels = self.again._learner.labels
        known = [*labels.known, *(label for label in relevant if label not in labels.codes)]
        names, values = checked_features(self.again.feature_map_, x, known)
        places = [self.places[label] for label in known]
        for scores, weights in zip(self.scores, self.others, strict=True):
            row = np.full(len(self.places), -np.inf)
            row[places] = values @ np.array([weights.get(name, 0.0) for name in names])
            scores.append(row)
        wanted = np.isin(np.arange(len(self.places)), [self.places[label] for label in relevant])
        its = wanted[places]
        q = ((values[its][:, None] - values[~its]) ** 2).sum(axis=2)
        self.relevant.append(wanted)
        self.largest.append(q.max(initial=0.0))
        self.smallest.append(q.min(initial=np.inf))
        self.again.learn_one(x, relevant)

    def other_run(self) -> str:
        same = same_run(self.learner.statistics, self.again._learner.statistics)
        return "" if same else ANOTHER_RUN

    def comparators(self, statistics: Any) -> list[Comparator]:
        kind, made = Prototypes.of(self.learner, np.zeros(0)), []
        relevant, sizes = np.array(self.relevant), (np.array(self.largest), np.array(self.smallest))
        for scores, weights in zip(self.scores, self.others, strict=True):
            norm2 = math.fsum(weight**2 for weight in weights.values())
            for scale in self.scales:
                charge = kind.charge(scale * np.array(scores), relevant)
                made.append(kind.suffered(charge, sizes[0], Place.at(scale**2 * norm2), sizes[1]))
        return made


def of_learned(model: PARanker) -> OfRankings:
    """By multiples of what was learned in the end."""
    return OfRankings(model, [model.named_weights()], LEARNED, SCALES_OF_LEARNED)


def certificate(model: PARanker, X: Any, y: Any, u: PARanker | None = None) -> Certificate:
    """Of a ranker that has learned the examples once, in their order; `u` is another one."""
    from ...structured.ranker import _Batch

    check_comparator(model, u)
    learner, batch = model._fitted(), _Batch(X, y, None)
    reason = started_elsewhere(learner) or whole_stream(learner.statistics.rounds, len(batch.X))
    if len(learner.labels.known) < 2:
        reason = reason or "with fewer than two labels there was nothing to rank"
    if reason:
        return Certificate.none(reason)
    models: list[Any] = [u]
    if u is None:
        once: dict[str, Any] = {"max_iter": PASSES, "shuffle": False, "nu": None, "verbose": 0}
        once["selection"] = "simproj" if model.cost is None else "max"
        models = [clone(model).set_params(**once, **its).fit(X, y) for its in cautious_and_bold(learner)]
    others = [other.named_weights() for other in models]
    against, scales = (FOUND, SCALES) if u is None else (GIVEN, (1.0,))
    # Where labels tie, the run may depend on whether they were known ahead.
    tried = (OfRankings(model, others, against, scales, ahead) for ahead in (False, True))
    return certify(tried, [(batch.X, batch.relevant)])
