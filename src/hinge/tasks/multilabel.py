"""Multilabel: the truth is a set of labels. Each label has a score; those above the threshold are predicted."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..data import targets
from ..data.labels import Labels, in_order
from ..data.targets import Encoded
from ..data.weights import weighs
from . import new_labels
from .task import RankingTask, scores_by_label

if TYPE_CHECKING:
    from ..data.types import Doubles, Indices
    from ..learner import Learner


class Multilabel(RankingTask):
    name = core = options_of = "multilabel"
    estimator = ("estimators.multilabel", "PAMultilabel")
    has_linear_rows = True
    has_intercept = True
    can_be_unsigned = False

    def engine_options(self, parameters: Mapping[str, Any], labels: Labels) -> dict[str, Any]:
        return {
            **super().engine_options(parameters, labels),
            "learned_threshold": is_learned(parameters["threshold"]),
            "lenient": bool(parameters["threshold"] == "lenient"),
            "threshold": 0.0 if is_learned(parameters["threshold"]) else float(parameters["threshold"]),
        }

    def many_scores(self, labels: Labels) -> bool:
        return True

    def first_lane(self, parameters: Mapping[str, Any]) -> int:
        """A learned threshold has the lane before those of the labels."""
        return int(is_learned(parameters["threshold"]))

    # ---- learning -----------------------------------------------------------------------------------------------

    def encode(self, labels: Labels, y: Any, count: int, weights: Doubles | None) -> Encoded:
        from ..data.target_arrays import LabelSets

        return LabelSets(self.given(y), count, labels).encode(labels, weights)

    def new_labels(
        self, labels: Labels, y: Any, count: int, weights: Doubles | None, visits: Indices | None
    ) -> dict[Any, int]:
        from ..data.target_arrays import LabelSets

        return {} if y is None else LabelSets(y, count, labels).fresh(labels, weights, visits)

    def learn_one(self, learner: Learner, x: dict[Any, Any], y: Any, weight: float) -> None:
        """An event with a set of labels, of which some may be new."""
        its_labels = targets.one_set(y)
        with learner._lock:
            labels = learner.labels
            fresh = [label for label in its_labels if label not in labels.codes] if weighs(weight) else []
            if fresh:
                fresh.sort(key=lambda label: (str(type(label)), label))
                labels = labels.with_new(fresh)
                new_labels.check(learner, labels, fresh[-1])
                no_labels: Any = array("q")
                learner._engine.learn_one_labels(x, no_labels, 0.0, counts=False)
            known = sorted(int(labels.codes[label]) for label in its_labels if label in labels.codes)
            indices: Any = array("q", known)
            if not fresh:
                learner._engine.learn_one_labels(x, indices, weight)
                return
            new_labels.learn_round(
                learner, labels, lambda: learner._engine.learn_one_labels(x, indices, weight)
            )

    # ---- predicting ---------------------------------------------------------------------------------------------

    def score_one(self, learner: Learner, x: dict[Any, Any]) -> dict[Any, float]:
        scores = learner._lanes_one(x)[self.first_lane(learner.parameters) :].tolist()
        return dict(zip(learner.labels.known, scores, strict=False))

    def predict_one(self, learner: Learner, x: dict[Any, Any]) -> set[Any]:
        above = above_threshold(learner, learner._lanes_one(x)[None])[0]
        return {label for label, its in zip(learner.labels.known, above.tolist(), strict=True) if its > 0}

    def scores(self, learner: Learner, lanes: Doubles) -> Doubles:
        return scores_by_label(self, learner, lanes)

    def predictions(self, learner: Learner, lanes: Doubles) -> list[Any]:
        known, above = learner.labels.known, above_threshold(learner, lanes) > 0
        return [in_order([known[i] for i in row.nonzero()[0]]) for row in above]

    def predict_events(self, model: Any, X: Sequence[Any]) -> list[Any]:
        return [in_order(labels) for labels in super().predict_events(model, X)]

    def intercept(self, learner: Learner, averaged: bool) -> Any:
        first = self.first_lane(learner.parameters)
        return learner._extras(averaged)[first : first + len(learner.labels.known)]


def is_learned(threshold: Any) -> bool:
    """Whether the threshold is learned, and not a number."""
    return isinstance(threshold, str)


def above_threshold(learner: Learner, lanes: Doubles) -> Doubles:
    """The score of each label less the threshold."""
    threshold = learner.parameters["threshold"]
    limit: Any = lanes[:, :1] if is_learned(threshold) else float(threshold)
    above: Doubles = learner._task.scores(learner, lanes) - limit
    return above
