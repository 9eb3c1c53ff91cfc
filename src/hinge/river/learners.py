"""PAClassifier, PARegressor and PAMultilabel for River's pipelines, over a hinge.Learner; AutoClassifier and
AutoRegressor, which need no option."""

from __future__ import annotations

import numbers
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from river import base, utils

from ..data import targets
from ..data.errors import for_each
from ..data.events import as_list, is_frame
from ..data.labels import plain
from ..data.shown import shown
from ..data.weights import check_weight
from ..estimators.option_changes import FollowsOptions
from ..learner import Learner
from ..model import encoding, file
from ..model.experts import Experts
from ..model.explain import Contribution
from ..model.statistics import Statistics
from ..options import table
from ..options.classes import CLASSES
from ..options.constructors import constructor
from ..tasks.multilabel import above_threshold

if TYPE_CHECKING:
    import pandas as pd

    from ..options.types import (
        RiverAutoClassifierOptions,
        RiverAutoRegressorOptions,
        RiverPAClassifierOptions,
        RiverPAMultilabelOptions,
        RiverPARegressorOptions,
    )


class _Model(FollowsOptions, base.Estimator):
    """The base: a learner, its weights, and its file."""

    _task: ClassVar[str]
    _kind: ClassVar[str]
    _start_anew: ClassVar[str] = "make a new model (`clone`)"
    _learner: Learner

    def _initialized(self) -> None:
        """Creates the learner, which follows the options from now on."""
        self._keep(Learner(self._task, **self._options_now()))

    @property
    def weights(self) -> dict[Any, Any]:
        """The weights by feature name (the average, if `average`; none if hashed); many labels: a dict for each
        label."""
        return self._learner.named_weights()

    @property
    def intercept(self) -> Any:
        """A number; many labels: one per label."""
        return self._learner.intercept

    @property
    def statistics(self) -> Statistics:
        """Rounds, mistakes, updates, cumulative loss and squared loss, largest q, progress."""
        return self._learner.statistics

    @property
    def experts_(self) -> Experts:
        """The experts of a committee, as a table: the weight of each in the vote, its error so far."""
        return self._learner.experts

    def leader(self) -> Learner:
        """The leading expert of a committee as a `hinge.Learner`, which continues by itself."""
        return self._learner.leader()

    def score_one(self, x: dict[Any, Any]) -> Any:
        """w.x, with the intercept; many labels: a dict of scores. Unknown features have the weight 0."""
        return self._learner.score_one(x)

    def uncertainty_one(self, x: dict[Any, Any]) -> float:
        """x'Sx: the variance of the score of `x` (geometries with a covariance)."""
        return self._learner.uncertainty_one(x)

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> list[Contribution]:
        """What each feature of `x` contributed to its score, or to that of `label`, the largest first."""
        return self._learner.explain_one(x, label)

    def debug_one(self, x: dict[Any, Any], decimals: int = 5) -> str:
        """The contributions to the score of `x`, or to its highest score, as a table."""
        scores = np.atleast_1d(_numbers(self._learner.score_one(x)))
        if self._learner.parameters["kernel"] not in (
            None,
            "linear",
        ):  # features have no separate contributions
            return f"Supports: {self._learner.n_support:,}\nScore: {max(scores, default=0.0):,.{decimals}f}"
        parts = self._learner.explain_one(x)
        columns = [[str(part.feature) for part in parts]]
        columns += [[f"{part[k]:,.{decimals}f}" for part in parts] for k in (1, 2, 3)]
        table = utils.pretty.print_table(["Name", "Value", "Weight", "Contribution"], columns)
        return f"{table}\nScore: {max(scores, default=0.0):,.{decimals}f}"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model to one file, atomically. `hinge.load` reads it."""
        file.save(path, *self.to_parts())

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        self._follow(self._learner)
        learner, tensors = self._learner.to_parts()
        self._check_options()
        given = encoding.encoded(self._get_params(), tensors)
        learner = encoding.without_repeated(learner, given, Learner.defaults())
        given = encoding.without_defaults(given, CLASSES[self._kind].completed({}))
        return {"kind": self._kind, "parameters": given, "learner": learner}, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        model = cls(**encoding.decoded(header["parameters"], tensors, functions))
        given = {**CLASSES[cls._kind].completed({}), **header["parameters"]}
        if set(header["learner"]["parameters"]) & set(given):
            raise ValueError("its parameters and those of its learner do not agree")
        learner = encoding.with_repeated(header["learner"], given, table.OF_LEARNER)
        return model._keep(Learner.from_parts(learner, tensors, functions))


class _MiniBatchModel(_Model):
    """A model that also learns DataFrames."""

    def learn_one(self, x: dict[Any, Any], y: Any, w: float = 1.0) -> None:
        """One round. The weight `w` scales C; 0 changes nothing."""
        try:
            learner = self._ready
        except AttributeError:
            learner = self._current()
        learner.learn_one(x, y, w)

    def learn_many(self, X: pd.DataFrame, y: pd.Series, w: float | pd.Series = 1.0) -> None:
        """Learns the rows in their order, all or none of them."""
        learner = self._current()
        events: Any = X if is_frame(X) else as_list(X, "X", "of events, or a DataFrame")
        if is_frame(X) and learner.parameters["hash_bits"] is not None:
            events = X.to_dict(orient="records")
        weights: Any = [targets.number(w, "the weight")] * len(X) if isinstance(w, numbers.Real) else w
        learner.learn_many(events, y, weights)

    def _scores(self, X: pd.DataFrame) -> npt.NDArray[np.float64]:
        """One score per row; many labels: one row of scores."""
        if self._learner.parameters["hash_bits"] is None:
            return self._learner.scores(X)
        return np.asarray(
            for_each(lambda x: _numbers(self._learner.score_one(x)), X.to_dict(orient="records"))
        )


@constructor("river.PAClassifier")
class PAClassifier(_MiniBatchModel, base.MiniBatchClassifier):
    """Passive-Aggressive classification with two or more classes (J06 sections 3, 4, 7 and 8, N03, S06, CS03).

    Unlike River's class, it counts the intercept in the norm of x, takes any number of labels of any type, which may
    appear at any time, can average, and rejects NaN and infinity. Names of features are strings (or ints).

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

    More classes:

    >>> model = preprocessing.StandardScaler() | PAClassifier(C=0.01, selection="simproj")
    >>> evaluate.progressive_val_score(datasets.ImageSegments(), model, metrics.Accuracy())
    Accuracy: 86.28%
    """

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "margin", "beta")
    _task: ClassVar[str] = "classification"
    _kind: ClassVar[str] = "river.PAClassifier"

    def __init__(
        self, C: float = table.default("C"), **options: Unpack[RiverPAClassifierOptions]
    ) -> None: ...

    @property
    def _multiclass(self) -> bool:
        return True

    def _labels(self) -> list[Any]:
        """The labels so far, in order. Before the first one they are assumed to be boolean."""
        return self._learner.labels.known or [False, True]

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> Any:
        """The label with the highest score; the first of equal ones."""
        label = self._learner.predict_one(x)
        return self._labels()[0] if label is None else label

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of each label, calibrated online."""
        if not self._learner.labels.known:
            return dict.fromkeys(self._labels(), 0.5)
        return self._learner.predict_proba_one(x)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas

        labels, scores = self._labels(), self._scores(X)
        if scores.ndim == 2:
            chosen = [labels[place] for place in scores.argmax(axis=1)] if len(scores) else []
        else:
            chosen = [labels[-1] if score > 0 else labels[0] for score in scores.tolist()]
        return pandas.Series(chosen, index=X.index, dtype=None if chosen else "object")

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        import pandas

        if not self._learner.labels.known:
            return pandas.DataFrame(0.5, index=X.index, columns=self._labels())
        found = self._learner._task.probabilities(self._learner, self._scores(X))
        return pandas.DataFrame(found, index=X.index, columns=self._labels())


@constructor("river.PAMultilabel")
class PAMultilabel(_Model, base.MultiLabelClassifier):
    """Passive-Aggressive label ranking (J06 section 7, S06, CS03): every relevant label above every other one.

    y is a dict {label: whether it is relevant}. The prediction is the set of labels that score higher than a threshold,
    which is given, or learned together with the ranking. A label joins the ranking when it is first relevant.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge.river import PAMultilabel
    >>> model = PAMultilabel()
    >>> for x, y in [
    ...     ({"vote": 1}, {"politics": True, "sport": False}),
    ...     ({"goal": 1}, {"politics": False, "sport": True}),
    ...     ({"rain": 1}, {"politics": False, "sport": False}),
    ... ] * 5:
    ...     model.learn_one(x, y)
    >>> model.predict_one({"vote": 1})
    {'politics': True, 'sport': False}
    """

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "margin", "beta")
    _task: ClassVar[str] = "multilabel"
    _kind: ClassVar[str] = "river.PAMultilabel"

    def __init__(
        self, C: float = table.default("C"), **options: Unpack[RiverPAMultilabelOptions]
    ) -> None: ...

    def _initialized(self) -> None:
        super()._initialized()
        self._met: dict[Any, None] = {}  # the labels so far, relevant or not

    def learn_one(self, x: dict[Any, Any], y: dict[Any, bool], w: float = 1.0) -> None:
        """One round. The weight `w` scales C; 0 changes nothing."""
        if not isinstance(y, dict):
            raise ValueError(f"y must be a dict of labels and whether they are relevant, not {shown(y)}")
        check_weight(w)
        named = dict.fromkeys(map(plain, y))
        met = named if w else {}
        fresh = [label for label in met if label not in self._met]
        if fresh and len(self._met) + len(fresh) > self.max_labels:
            raise ValueError(
                f"the label {fresh[-1]!r} is new, and the model has {len(self._met)} labels, relevant or not; "
                f"the limit is {self.max_labels} (max_labels)"
            )
        learner = self._current()
        rounds = learner.statistics.rounds
        try:
            learner.learn_one(x, [label for label, relevant in y.items() if relevant], w)
            self._met.update(met)
        except BaseException:
            if learner.statistics.rounds != rounds:  # an interrupt right after the round
                self._met.update(met)
            raise

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, dict[bool, float]]:
        """The sigmoid of each score minus the threshold. It is not calibrated; only its order is meaningful."""
        learner = self._learner
        above = above_threshold(learner, learner._lanes_one(x)[np.newaxis])[0].tolist()
        known = dict(zip(learner.labels.known, above, strict=True))
        shares = {label: float(utils.math.sigmoid(known.get(label, -np.inf))) for label in self._met}
        return {label: {False: 1.0 - p, True: p} for label, p in shares.items()}

    def predict_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, bool]:
        """For each label so far, whether it scores above the threshold."""
        chosen = self._learner.predict_one(x)
        return {label: label in chosen for label in self._met}

    def to_parts(self) -> tuple[dict[str, Any], file.Tensors]:
        header, tensors = super().to_parts()
        return {**header, "met": list(self._met)}, tensors

    @classmethod
    def from_parts(
        cls,
        header: dict[str, Any],
        tensors: file.Tensors,
        functions: Mapping[str, Any] = encoding.NO_FUNCTIONS,
    ) -> Self:
        model = super().from_parts(header, tensors, functions)
        model._met = dict.fromkeys(map(plain, header["met"]))
        return model


def _numbers(score: Any) -> Any:
    return list(score.values()) if isinstance(score, dict) else score


@constructor("river.PARegressor")
class PARegressor(_MiniBatchModel, base.MiniBatchRegressor):
    """Passive-Aggressive regression (J06 section 5, N03).

    Unlike River's class, it counts the intercept in the norm of x, can average, and rejects NaN and infinity. Names of
    features are strings (or ints).

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

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "epsilon")
    _task: ClassVar[str] = "regression"
    _kind: ClassVar[str] = "river.PARegressor"

    def __init__(self, C: float = table.default("C"), **options: Unpack[RiverPARegressorOptions]) -> None: ...

    def predict_one(self, x: dict[Any, Any]) -> float:
        """w.x, with the intercept."""
        score: float = self._learner.score_one(x)
        return score

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        import pandas

        return pandas.Series(self._scores(X).tolist(), index=X.index, dtype="float64")


@constructor("river.AutoClassifier")
class AutoClassifier(PAClassifier):
    """Classification with two or more classes that needs no option and no scaler: a committee of learners that vote.

    Its experts are PA-I with many values of C, averages, and AROW, each with values as they come and scaled online. The
    vote follows the experts that err least; `experts_` shows their weights.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from hinge.river import AutoClassifier
    >>> evaluate.progressive_val_score(datasets.Phishing(), AutoClassifier(), metrics.Accuracy())
    Accuracy: 88.08%
    """

    _changeable: ClassVar[tuple[str, ...]] = ()
    _kind: ClassVar[str] = "river.AutoClassifier"

    def __init__(self, **options: Unpack[RiverAutoClassifierOptions]) -> None: ...


@constructor("river.AutoRegressor")
class AutoRegressor(PARegressor):
    """Regression that needs no option and no scaler: a committee of learners whose predictions are averaged.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from hinge.river import AutoRegressor
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), AutoRegressor(), metrics.MAE())
    MAE: 0.240503
    """

    _changeable: ClassVar[tuple[str, ...]] = ()
    _kind: ClassVar[str] = "river.AutoRegressor"

    def __init__(self, **options: Unpack[RiverAutoRegressorOptions]) -> None: ...
