"""Ordinal regression: the truth is one of several ranks. One score, and a threshold between each rank and the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..data.labels import Labels, plain
from ..model.experts import is_committee
from .task import LabelTask

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..learner import Learner


class Ordinal(LabelTask):
    name = core = options_of = "ordinal"
    estimator = ("estimators.ordinal", "PAOrdinal")
    has_linear_rows = True
    steps = ("pa", "pa1", "pa2")
    selections = ("max", "simperc", "simproj", "conproj")
    perceptron_selections = ()
    can_be_unsigned = False
    has_one_class_each = True
    error_words, error_is_share = "ranks off", False
    suffers_cost = True
    checks_numbers = True
    scores_need_the_round = True  # a score is w.x: the lanes have the thresholds of that moment in them

    def first_labels(self, parameters: Mapping[str, Any]) -> Labels:
        labels = super().first_labels(parameters)
        if len(labels.known) < 2:
            raise ValueError(
                "ordinal regression needs its ranks ahead, from the lowest to the highest: give classes=[...]"
            )
        return labels

    def is_closed(self, parameters: Mapping[str, Any]) -> bool:
        return True

    def engine_options(self, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
        sort = parameters["sort_thresholds"]
        return {
            **super().engine_options(parameters, labels),
            "sort_thresholds": parameters["selection"] != "simproj" if sort is None else bool(sort),
        }

    def nu(self, nu: Any, labels: Labels) -> Doubles | None:
        """The weights of the constraints, threshold by threshold; of several vectors the largest of each (S13.3)."""
        if nu is None:
            return None
        import numpy as np

        if isinstance(nu, Mapping) or np.ndim(nu) not in (1, 2) or np.size(nu) == 0:
            raise ValueError("nu must be a vector with a number for each threshold, or a list of several")
        several = np.atleast_2d(np.asarray(nu, dtype=np.float64))
        if several.shape[-1] != len(labels.known) - 1:
            raise ValueError(f"nu has {several.shape[-1]} entries for {len(labels.known) - 1} thresholds")
        largest: Doubles = several.max(axis=0)
        return largest

    # ---- learning and predicting --------------------------------------------------------------------------------

    def learn_one(self, learner: Learner, x: dict[Any, Any], y: Any, weight: float) -> None:
        learner._engine.learn_one(x, rank_of(learner.labels, y), weight)

    def score_one(self, learner: Learner, x: dict[Any, Any]) -> float:
        return float(self.scores(learner, learner._lanes_one(x)[None])[0])

    def predict_one(self, learner: Learner, x: dict[Any, Any]) -> Any:
        return learner.labels.known[int(ranks_of(learner._lanes_one(x)[None])[0])]

    def scores(self, learner: Learner, lanes: Doubles) -> Doubles:
        """w.x; of a committee, whose lanes are votes for "above this threshold" from -1 to 1, the mean of the ranks."""
        if is_committee(learner):
            mean: Doubles = (1 + by_lane(lanes)).sum(axis=1) / 2
            return mean
        return by_lane(lanes)[:, 0] + learner._engine.bias(0, learner.averaged)

    def predictions(self, learner: Learner, lanes: Doubles) -> list[Any]:
        known = learner.labels.known
        return [known[i] for i in ranks_of(by_lane(lanes)).tolist()]

    def intercept(self, learner: Learner, averaged: bool) -> float:
        return 0.0

    def truth(self, label: Any, labels: Labels) -> Any:
        rank = super().truth(label, labels)
        rank_of(labels, rank)
        return rank

    def costs(self, made: Sequence[Any], truth: Sequence[Any], labels: Labels) -> list[float]:
        """How many ranks off."""
        return [float(abs(labels.codes[a] - labels.codes[b])) for a, b in zip(made, truth, strict=True)]


def by_lane(scores: Doubles) -> Doubles:
    """Scores with one column per lane; one lane, or no row, too."""
    return scores[:, None] if scores.ndim == 1 else scores


def rank_of(labels: Labels, y: Any) -> float:
    rank = labels.code(plain(y))
    if rank is None:
        raise ValueError(f"the rank {y!r} is not one of {labels.listed()}")
    return rank


def ranks_of(lanes: Doubles) -> Any:
    """Lane j is w.x - b_j: the rank is the first j with w.x < b_j."""
    below = lanes < 0
    ranks = below.argmax(axis=1)
    ranks[~below.any(axis=1)] = lanes.shape[1]  # not below any threshold
    return ranks
