"""Classification: the truth is one of two or more labels. Two classes have one w and a sign, more have a score each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..data.labels import Labels, plain
from ..data.weights import check_weight, weighs
from . import new_labels
from .task import LabelTask, scores_by_label

if TYPE_CHECKING:
    from ..data.types import Doubles, Indices
    from ..learner import Learner


class Classification(LabelTask):
    name = core = options_of = "classification"
    estimator = ("estimators.classifier", "PAClassifier")
    has_linear_rows = True
    has_intercept = True
    has_exact_lattice = True
    has_cost = True
    core_knows_labels = True
    has_one_class_each = True
    watches_order = True

    def has_lanes(self, parameters: Mapping[str, Any]) -> bool:
        return parameters["selection"] != "max" or parameters["cost"] is not None

    def first_labels(self, parameters: Mapping[str, Any]) -> Labels:
        labels = super().first_labels(parameters)
        count = len(labels.known)
        if parameters["geometry"] == "entropy" and not parameters["signed"] and count != 2:
            raise ValueError(
                f"signed=False is for two classes, there are {count}: use signed=True"
                if count > 2
                else "signed=False needs the two classes ahead, the negative one first: give classes=[...]"
            )
        return labels

    def many_scores(self, labels: Labels) -> bool:
        return labels.lanes

    def new_labels(
        self, labels: Labels, y: Any, count: int, weights: Doubles | None, visits: Indices | None
    ) -> dict[Any, int]:
        if y is None:
            return {}
        from ..data.label_arrays import fresh
        from ..data.target_arrays import labels_of

        truth = labels_of(y, count)
        found = fresh(labels, truth, weights)
        if not found or visits is None:
            return found
        return fresh(labels, truth[visits], None if weights is None else weights[visits])

    # ---- learning -----------------------------------------------------------------------------------------------

    def learn_one(self, learner: Learner, x: dict[Any, Any], y: Any, weight: float) -> None:
        """An event whose label may be new, or is among the first two: the core does the others itself."""
        label = plain(y)
        check_weight(weight)
        if learner._class_weight is not None:
            weight *= learner._class_weight.get(label, 1.0)
        with learner._lock:
            engine = learner._engine
            code = learner.labels.code(label)
            if code is not None:
                engine.learn_one(x, code, weight)
                return
            if not weighs(weight):
                engine.learn_one(x, 0.0, weight)  # teaches nothing, not even the label; or is rejected
                return
            labels = learner.labels.with_new([label])
            new_labels.check(learner, labels, label)
            if labels.lanes:
                engine.learn_one(x, 0.0, 0.0, counts=False)  # rejects what it must before anything changes
                new_labels.learn_round(
                    learner, labels, lambda: learner._engine.learn_one(x, labels.codes[label], weight)
                )
            else:
                _learn_one_of_two(learner, label, labels, lambda sign: engine.learn_one(x, sign, weight))

    # ---- predicting ---------------------------------------------------------------------------------------------

    def score_one(self, learner: Learner, x: dict[Any, Any]) -> Any:
        if self.many_scores(learner.labels):
            return dict(zip(learner.labels.known, learner._lanes_one(x).tolist(), strict=False))
        return super().score_one(learner, x)

    def predict_one(self, learner: Learner, x: dict[Any, Any]) -> Any:
        return learner._engine.predict_label(x, learner.averaged)

    def scores(self, learner: Learner, lanes: Doubles) -> Doubles:
        return scores_by_label(self, learner, lanes) if self.many_scores(learner.labels) else lanes

    def probabilities(self, learner: Learner, scores: Doubles) -> Doubles:
        found: Any = learner._engine.probabilities(scores.reshape(len(scores), -1))
        count = len(learner.labels.known)
        if count >= 2:
            return found  # type: ignore[no-any-return]
        return found[:, :count] * 0 + 1.0  # type: ignore[no-any-return]

    def predictions(self, learner: Learner, lanes: Doubles) -> list[Any]:
        labels = learner.labels
        if not labels.known:
            return [None] * len(lanes)
        if not self.many_scores(labels):
            return [labels.of(score) for score in lanes.tolist()]
        return [labels.known[i] for i in lanes.reshape(len(lanes), -1).argmax(axis=1).tolist()]

    def intercept(self, learner: Learner, averaged: bool) -> Any:
        if not self.many_scores(learner.labels):
            return super().intercept(learner, averaged)
        return learner._extras(averaged)[: len(learner.labels.known)]


def _learn_one_of_two(learner: Learner, label: Any, labels: Labels, learn: Callable[[float], None]) -> None:
    """An example of one of the first two classes: one that is alone is negative, the other one is not."""
    sign = 1.0 if learner.labels.known else labels.codes[label]
    new_labels.learn_then_adopt(learner, lambda: learn(sign), labels)
