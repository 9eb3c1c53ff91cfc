"""Sequence labelling: an example is a sentence, and the truth is one tag per token. `SequenceLearner` learns it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..data.labels import Labels
from ..data.targets import flat
from .structured import Structured

# A search for the worst sequence is expensive, and so is a covariance of all pairs of features and tags.
_PUBLISHED: dict[str, dict[str, Any]] = {
    **{name: {"selection": "prediction"} for name in ("pa", "pa1", "pa2", "perceptron")},
    "arow": {"geometry": "diagonal", "selection": "prediction"},
}


class SequenceLabelling(Structured):
    name = core = options_of = "sequence"
    estimator = ("structured.sequence", "PASequence")
    has_learner = False
    on_streams = True
    geometries = ("euclidean", "diagonal")
    error_words, counted = "tags wrong", "tags"
    has_sentences = True
    suffers_cost = True
    scores_within_batches = False

    def check_cost(self, cost: Any, step: str, selection: str) -> None:
        if callable(cost) and selection != "prediction":
            raise ValueError(
                f"a cost that is a function goes with selection='prediction', not with {selection!r}"
            )
        if selection == "max" and cost is not None and not all(map(_is_small_whole, flat(cost))):
            raise ValueError(
                "selection='max' needs costs that are whole numbers (up to 2^20): use 'max-additive' or 'prediction'"
            )

    def as_published(self, algorithm: str, options: Mapping[str, Any]) -> dict[str, Any]:
        return _PUBLISHED.get(algorithm, {})

    def new_model(self, options: dict[str, Any]) -> Any:
        from ..structured.sequence_learner import SequenceLearner

        return SequenceLearner(**{"selection": "prediction", "average": True, **options})

    def predict_events(self, model: Any, X: Sequence[Any]) -> list[Any]:
        return list(model.predict_many(X))

    def truth(self, label: Any, labels: Labels) -> Any:
        if label is None:
            raise ValueError("there are no tags to learn from")
        return label

    def costs(self, made: Sequence[Any], truth: Sequence[Any], labels: Labels) -> list[float]:
        return [
            float(sum(a != b for a, b in zip(tags, its, strict=True)))
            for tags, its in zip(made, truth, strict=True)
        ]

    def count(self, truth: Any, examples: int) -> int:
        return sum(map(len, truth))


def _is_small_whole(number: float) -> bool:
    return number == int(number) and number <= 2**20
