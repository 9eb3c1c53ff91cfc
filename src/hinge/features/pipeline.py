"""`Pipeline`: a model of records, together with its features, also in its file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, Self

from ..data.errors import for_each
from ..data.events import as_list, is_frame
from ..model import encoding, file
from .features import Features


class Pipeline:
    """A model of records: `features` turns them into named features, `model` (a Learner or an estimator) learns.

    All other attributes and methods are those of the model (labels, statistics, named_weights(), ...). `hinge learn`
    saves such models of tables and of JSON lines.

    >>> import hinge
    >>> spam = hinge.Pipeline(hinge.Features(text="body"), hinge.Learner("classification"))
    >>> spam.learn_one({"body": "free money"}, "spam")
    >>> spam.learn_one({"body": "see you on monday"}, "ham")
    >>> spam.predict_one({"body": "money"})
    'spam'
    """

    def __init__(self, features: Features, model: Any) -> None:
        self.features, self.model = features, model

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def learn_one(self, x: Mapping[str, Any], y: Any = None, weight: float = 1.0) -> None:
        """One round: learns from a record and the truth `y`."""
        self.model.learn_one(self.features.event(x), y, weight)

    def predict_one(self, x: Mapping[str, Any]) -> Any:
        return self.model.predict_one(self.features.event(x))

    def score_one(self, x: Mapping[str, Any]) -> Any:
        return self.model.score_one(self.features.event(x))

    def explain_one(self, x: Mapping[str, Any], label: Any = None) -> Any:
        """What each feature of a record contributed to its score, or that of `label`, the largest first."""
        return self.model.explain_one(self.features.event(x), label)

    def learn_many(self, X: Iterable[Mapping[str, Any]], y: Any = None, sample_weight: Any = None) -> None:
        """Learns a list of records, or the rows of a DataFrame: all of them, or none."""
        self.model.learn_many(self.events(X), y, sample_weight)

    def predict_many(self, X: Iterable[Mapping[str, Any]]) -> list[Any]:
        return for_each(self.model.predict_one, self.events(X))

    def events(self, X: Any) -> list[dict[str, Any]]:
        """The features of each record."""
        records = X.to_dict("records") if is_frame(X) else as_list(X, "X", "of records", False)
        return for_each(self.features.event, records)

    def __repr__(self) -> str:
        return f"Pipeline({self.features!r}, {self.model!r})"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, atomically. `hinge.load` reads it."""
        file.save(path, *self.to_parts())

    def to_bytes(self) -> bytes:
        return file.to_bytes(*self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        parts = getattr(self.model, "_parts", None) or self.model.to_parts
        header, tensors = parts()
        return {"kind": "Pipeline", "features": self.features.settings, "model": header}, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        from ..model.loading import model_of

        if header["model"]["kind"] == "Pipeline":
            raise ValueError("a pipeline within a pipeline")
        return cls(Features(**header["features"]), model_of(header["model"], tensors, functions))
