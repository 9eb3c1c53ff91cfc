"""River's classes: PAClassifier and PARegressor for River's pipelines, over a hinge.Learner."""

from __future__ import annotations

import numbers
import os
from typing import TYPE_CHECKING, Any, ClassVar, Self

from river import base, utils

from . import model_file, parameters
from .learner import Contribution, Learner, Statistics

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["PAClassifier", "PARegressor"]

_LINEAR = ("C", "step", "margin", "epsilon", "fit_intercept", "average", "hash_bits", "max_features", "dtype")


class _Linear(base.Estimator):
    """What both share: a learner, what it has learned, and its file."""

    _task: ClassVar[str]
    _kind: ClassVar[str]
    _learner: Learner

    def _new_learner(self) -> Learner:
        return Learner(self._task, **self._get_params())

    def _scores(self, X: pd.DataFrame) -> list[float]:
        if self._learner.parameters["hash_bits"] is None:
            return self._learner.scores(X).tolist()
        return [self._learner.score_one(x) for x in X.to_dict(orient="records")]

    def _learn_many(self, X: pd.DataFrame, y: pd.Series, w: float | pd.Series) -> None:
        events = X if self._learner.parameters["hash_bits"] is None else X.to_dict(orient="records")
        weights: Any = [float(w)] * len(X) if isinstance(w, numbers.Real) else w
        self._learner.learn_many(events, y, weights)

    @property
    def weights(self) -> dict[Any, float]:
        """The weights by the names of their features (the average, if `average`; none if hashed)."""
        return self._learner.named_weights()

    @property
    def intercept(self) -> float:
        return self._learner.intercept

    @property
    def statistics(self) -> Statistics:
        """Rounds, mistakes, updates, cumulative loss and squared loss, largest q, progress."""
        return self._learner.statistics

    def score_one(self, x: dict[Any, Any]) -> float:
        """w.x, with the intercept. Features never seen count nothing."""
        return self._learner.score_one(x)

    def explain_one(self, x: dict[Any, Any]) -> list[Contribution]:
        """What each feature of `x` contributed to its score, the largest first."""
        return self._learner.explain_one(x)

    def debug_one(self, x: dict[Any, Any], decimals: int = 5) -> str:
        """The contributions to the score of `x` as a table."""
        parts = self._learner.explain_one(x)
        columns = [[str(part.feature) for part in parts]]
        columns += [[f"{part[k]:,.{decimals}f}" for part in parts] for k in (1, 2, 3)]
        table = utils.pretty.print_table(["Name", "Value", "Weight", "Contribution"], columns)
        return f"{table}\nScore: {self._learner.score_one(x):,.{decimals}f}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, whole or not at all. `hinge.load` reads it."""
        model_file.write_whole(path, model_file.to_bytes(*self.to_parts()))

    def to_parts(self) -> tuple[dict[str, Any], model_file.Tensors]:
        learner, tensors = self._learner.to_parts()
        given = {name: model_file.encode_value(value) for name, value in self._get_params().items()}
        return {"kind": self._kind, "parameters": given, "learner": learner}, tensors

    @classmethod
    def from_parts(cls, header: dict[str, Any], tensors: model_file.Tensors) -> Self:
        model = cls(**{name: model_file.decode_value(value) for name, value in header["parameters"].items()})
        model._learner = Learner.from_parts(header["learner"], tensors)
        return model


@parameters.documented("classification", _LINEAR)
class PAClassifier(_Linear, base.MiniBatchClassifier):
    """Passive-Aggressive classification with two classes (J06 sections 3 and 4, N03).

    Unlike River's own, it counts the intercept in the norm of x, takes labels of any kind, averages if you
    like, and refuses NaN and infinity instead of learning them. Names of features are strings (or ints).

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from hinge.river import PAClassifier
    >>> model = preprocessing.StandardScaler() | PAClassifier(C=0.01)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.60%
    """

    _task: ClassVar[str] = "classification"
    _kind: ClassVar[str] = "river.PAClassifier"

    def __init__(
        self,
        C: float = parameters.default("C"),
        step: str = parameters.default("step"),
        margin: float = parameters.default("margin"),
        fit_intercept: bool = parameters.default("fit_intercept"),
        average: bool | int = parameters.default("average"),
        hash_bits: int | None = parameters.default("hash_bits"),
        max_features: int = parameters.default("max_features"),
        dtype: str = parameters.default("dtype"),
    ) -> None:
        self.C = C
        self.step = step
        self.margin = margin
        self.fit_intercept = fit_intercept
        self.average = average
        self.hash_bits = hash_bits
        self.max_features = max_features
        self.dtype = dtype
        self._learner = self._new_learner()

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """One round. The weight `w` scales C; 0 changes nothing."""
        self._learner.learn_one(x, y, w)

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: float | pd.Series = 1.0) -> None:
        """The rounds of the rows, one after the other: all of them, or none."""
        self._learn_many(X, y, w)

    def _labels(self) -> list[Any]:
        """The labels in their order: those met so far. Before the first one they are taken to be boolean."""
        return self._learner.labels.known or [False, True]

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The label; the first one if the score is 0."""
        labels = self._labels()
        return labels[-1] if self._learner.score_one(x) > 0 else labels[0]

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The sigmoid of the score, as River's own. It is not calibrated: its order is what counts."""
        labels = self._labels()
        if len(labels) == 1:
            return {labels[0]: 1.0}
        p = utils.math.sigmoid(self._learner.score_one(x))
        return {labels[0]: 1.0 - p, labels[1]: p}

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas

        labels = self._labels()
        chosen = [labels[-1] if score > 0 else labels[0] for score in self._scores(X)]
        return pandas.Series(chosen, index=X.index, dtype=None if chosen else "object")

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas

        labels = self._labels()
        if len(labels) == 1:
            return pandas.DataFrame({labels[0]: 1.0}, index=X.index)
        p = [float(utils.math.sigmoid(score)) for score in self._scores(X)]
        return pandas.DataFrame({labels[0]: [1.0 - one for one in p], labels[1]: p}, index=X.index)


@parameters.documented("regression", _LINEAR)
class PARegressor(_Linear, base.MiniBatchRegressor):
    """Passive-Aggressive regression (J06 section 5, N03).

    Unlike River's own, it counts the intercept in the norm of x, averages if you like, and refuses NaN and
    infinity instead of learning them. Names of features are strings (or ints).

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from hinge.river import PARegressor
    >>> model = preprocessing.StandardScaler() | PARegressor(C=1.0, step="pa2")
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.473048
    """

    _task: ClassVar[str] = "regression"
    _kind: ClassVar[str] = "river.PARegressor"

    def __init__(
        self,
        C: float = parameters.default("C"),
        step: str = parameters.default("step"),
        epsilon: float = parameters.default("epsilon"),
        fit_intercept: bool = parameters.default("fit_intercept"),
        average: bool | int = parameters.default("average"),
        hash_bits: int | None = parameters.default("hash_bits"),
        max_features: int = parameters.default("max_features"),
        dtype: str = parameters.default("dtype"),
    ) -> None:
        self.C = C
        self.step = step
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.average = average
        self.hash_bits = hash_bits
        self.max_features = max_features
        self.dtype = dtype
        self._learner = self._new_learner()

    def learn_one(self, x: dict[Any, Any], y: float, w: float = 1.0) -> None:
        """One round. The weight `w` scales C; 0 changes nothing."""
        self._learner.learn_one(x, y, w)

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: float | pd.Series = 1.0) -> None:
        """The rounds of the rows, one after the other: all of them, or none."""
        self._learn_many(X, y, w)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """w.x, with the intercept."""
        return self._learner.score_one(x)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas

        return pandas.Series(self._scores(X), index=X.index, dtype="float64")
