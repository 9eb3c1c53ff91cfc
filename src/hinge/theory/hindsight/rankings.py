"""Streams with features that depend on the label and on what was counted before, so the run is made again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from ...structured.feature_maps import checked_features
from .. import certificate as common
from ..certificate import Against, Certificate, Hindsight, certify, whole_stream
from ..comparators.comparator import Comparator
from ..comparators.kind import Place
from ..comparators.kinds import Prototypes
from .sentences import check_comparator, started_elsewhere

if TYPE_CHECKING:
    from ...structured.ranker import PARanker


class OfRankings(Hindsight):
    """The sizes of the rows, and the scores that the comparators, dicts of weights, give to each label. `ahead`: the
    labels were known from the start."""

    def __init__(
        self, model: PARanker, others: list[dict[str, float]], against: Against, ahead: bool = False
    ) -> None:
        super().__init__(model._fitted(), against)
        self.others = others
        self.places = {label: place for place, label in enumerate(self.learner.labels.known)}
        self.model = clone(model)
        self.again = self.model._begin(list(self.places)) if ahead else self.model._new_learner()
        self.model._keep(self.again, feature_map_=self.model._new_map())
        self.scores: list[list[Any]] = [[] for _ in others]
        self.relevant: list[Any] = []
        self.largest: list[float] = []
        self.smallest: list[float] = []

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        from ...structured.ranker import _relevant

        for x, labels in zip(X, y, strict=True):
            self._see_one(x, _relevant(labels))

    def _see_one(self, x: Any, relevant: list[Any]) -> None:
        """One round. Labels that come later have the score -inf."""
        labels = self.model._learner.labels
        known = [*labels.known, *(label for label in relevant if label not in labels.codes)]
        names, values = checked_features(self.model.feature_map_, x, known)
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
        self.model.learn_one(x, relevant)

    def comparators(self, statistics: Any) -> list[Comparator]:
        kind, made = Prototypes.of(self.learner, np.zeros(0)), []
        relevant, sizes = np.array(self.relevant), (np.array(self.largest), np.array(self.smallest))
        for scores, weights in zip(self.scores, self.others, strict=True):
            norm2 = math.fsum(weight**2 for weight in weights.values())
            for scale in self.against.scales:
                charge = kind.charge(scale * np.array(scores), relevant)
                made.append(kind.suffered(charge, sizes[0], Place.at(scale**2 * norm2), sizes[1]))
        return made


def of_learned(model: PARanker) -> OfRankings:
    """Against multiples of the learned weights."""
    return OfRankings(model, [model.named_weights()], common.LEARNED)


def certificate(model: PARanker, X: Any, y: Any, u: PARanker | None = None) -> Certificate:
    """The certificate of a ranker that has learned the examples once, in order; `u` is another one."""
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
        once: dict[str, Any] = {"max_iter": common.PASSES, "shuffle": False, "nu": None, "verbose": 0}
        once["selection"] = "simproj" if model.cost is None else "max"
        models = [
            clone(model).set_params(**once, **its).fit(X, y) for its in common.cautious_and_bold(learner)
        ]
    others = [other.named_weights() for other in models]
    against = common.FOUND if u is None else common.GIVEN
    # If labels tie, the run may depend on whether they were known from the start.
    tried = (OfRankings(model, others, against, ahead) for ahead in (False, True))
    return certify(tried, [(batch.X, batch.relevant)])
