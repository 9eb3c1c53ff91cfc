"""PAMultilabel: Passive-Aggressive label ranking, for examples with sets of labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from ..data.events import as_list, check_length, is_frame, is_sparse
from ..data.label_arrays import in_array
from ..data.labels import Labels, plain
from ..data.rows import Rows, as_array, unmasked
from ..data.target_arrays import LabelSets, class_list
from ..learner import Learner
from ..options import table
from ..options.constructors import constructor
from ..tasks.multilabel import above_threshold, is_learned
from ..tasks.ordinal import by_lane
from . import inputs
from .base import StreamEstimator

if TYPE_CHECKING:
    from ..options.types import PAMultilabelOptions


@constructor("PAMultilabel")
class PAMultilabel(ClassifierMixin, StreamEstimator):
    """Passive-Aggressive label ranking: every relevant label above every other one (J06 section 7, S06, CS03).

    Each label has its weights (multi-prototype). `decision_function` is the ranking; `predict` takes the labels
    above a threshold, which is learned along with the ranking, or given. y is an indicator matrix (a column for each
    label), or a list of sets of labels; in a stream, sets, and new labels at any time. A vector y has one label per
    row: then `predict` returns the label with the highest score.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import PAMultilabel
    >>> model = PAMultilabel()
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]] * 20
    >>> model = model.fit(X, [{"news"}, {"sport"}, {"news", "sport"}] * 20)
    >>> model.predict([[1.0, 0.0], [1.0, 1.0]])
    array([[1, 0],
           [1, 1]])
    >>> model.classes_
    array(['news', 'sport'], dtype='<U5')

    One event at a time:

    >>> model = PAMultilabel()
    >>> for x, y in [({"vote": 1}, {"politics"}), ({"goal": 1}, {"sport"}), ({"rain": 1}, set())] * 5:
    ...     model = model.learn_one(x, y)
    >>> model.predict_one({"vote": 1})
    {'politics'}
    """

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "margin", "beta")
    _task: ClassVar[str] = "multilabel"
    _kept: ClassVar[tuple[str, ...]] = (*StreamEstimator._kept, "_one_each")
    _one_each = False  # whether all that was learned had one label each, given as a vector

    def __init__(self, C: float = table.default("C"), **options: Unpack[PAMultilabelOptions]) -> None: ...

    # ---- learn ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in several passes (see `max_iter`, `tol`, `shuffle`)."""
        new = self._aside()
        rows = new._rows(X, reset=True)
        new._decide(rows)
        y, new._one_each = _label_sets(new, y)
        learner = new._begin(new._found_labels(y, rows.count))
        new._fit_learner(learner, X, rows, y, sample_weight)
        return self._become(new)

    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """One pass over the rows, in their order. `classes`: all labels, needed in the first call unless y is an
        indicator matrix."""
        y, one_each = _label_sets(self, y)
        learner = self._current()
        if learner is None:
            return self._learn_first(X, y, sample_weight, classes, _one_each=one_each)
        self._check_same_classes(classes)
        if one_each:
            return self._learn_more(learner, X, y, sample_weight)
        return self._learn_sets(lambda learner: self._learn_more(learner, X, y, sample_weight))

    def learn_one(self, x: dict[Any, Any], y: Any, weight: float = 1.0) -> Self:
        """One round: the features `x`, a dict of names and values, and the set `y` of the true labels."""
        return self._learn_sets(lambda learner: learner.learn_one(x, y, weight))

    def learn_many(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """The rounds of a list of dicts, a DataFrame, an array or a CSR matrix: all of them, or none."""
        return self._learn_sets(lambda learner: learner.learn_many(X, y, sample_weight))

    def _begun(self) -> dict[str, Any]:
        return {**super()._begun(), "_one_each": False}

    def _learn_sets(self, learn: Callable[[Learner], Any]) -> Self:
        """After sets of labels were learned, sets are predicted."""
        learner: Learner | None = self.__dict__.get("_learner")
        rounds = 0 if learner is None else learner.statistics.rounds
        try:
            self._learn(learn)
            if learner is not None:
                self._one_each = False
        except BaseException:
            if learner is not None and learner.statistics.rounds != rounds:  # an interrupt right after it
                self._one_each = False
            raise
        return self

    def _found_labels(self, y: Any, count: int) -> list[Any]:
        if self.classes is not None:
            return list(self.classes)
        found = LabelSets(y, count, Labels((), lanes=True)).names
        if len(found) < 2:
            raise ValueError(f"two labels are needed to rank them, the data has only 1 class: {found!r}")
        return found if _is_matrix(y) else _in_order(found)

    def _first_learner(self, y: Any, rows: Rows, classes: Any) -> Learner:
        known = classes if self.classes is None else self.classes
        if known is None and not _is_matrix(y):
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._begin(self._found_labels(y, rows.count) if known is None else class_list(known))

    def _begin(self, labels: list[Any]) -> Learner:
        learner = self._new_learner(classes=labels, **self._start_names())
        learner.closed = self.classes is not None
        return learner

    # ---- predict ------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The score of each label less the threshold, (n, n_labels): its order is the ranking, and what is above 0
        is predicted. One label each, and two labels: one score, positive for `classes_[1]`."""
        learner, lanes = self._fitted(), self._lanes(X)
        scores: npt.NDArray[np.float64] = above_threshold(learner, lanes)
        if self._one_each and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """An indicator matrix of the labels above the threshold. If y was a vector: the label with the top score."""
        above = above_threshold(self._fitted(), self._lanes(X))
        if self._one_each:
            labels: npt.NDArray[Any] = self.classes_[above.argmax(axis=1)]
            return labels
        return np.asarray(above > 0, dtype=np.int64)

    def predict_sets(self, X: Any) -> list[set[Any]]:
        """The sets of labels above the threshold."""
        learner = self._fitted()
        known, above = learner.labels.known, above_threshold(learner, self._lanes(X)) > 0
        return [{known[place] for place in np.flatnonzero(row)} for row in above]

    def thresholds(self, X: Any) -> npt.NDArray[np.float64]:
        """The threshold of each row: learned, or as given."""
        if is_learned(self.threshold):
            return np.asarray(self._lanes(X)[:, 0])
        return np.full(len(self._lanes(X)), float(self.threshold))

    def ranking_report(self, X: Any, y: Any) -> dict[str, float]:
        """Measures of the ranking: one-error, coverage, ranking loss and average precision.

        One-error is the share of rows whose highest label is not relevant. The others are scikit-learn's functions.
        Rows without a relevant label do not count.
        """
        from sklearn import metrics

        truth, scores = self._indicator(y), above_threshold(self._fitted(), self._lanes(X))
        asked = truth.any(axis=1)
        truth, scores = truth[asked], scores[asked]
        if len(truth) == 0:
            raise ValueError("no row of y has a relevant label: there is nothing to report")
        top = truth[np.arange(len(truth)), scores.argmax(axis=1)]
        return {
            "one_error": float(1 - top.mean()),
            "coverage": float(metrics.coverage_error(truth, scores)),
            "ranking_loss": float(metrics.label_ranking_loss(truth, scores)),
            "average_precision": float(metrics.label_ranking_average_precision_score(truth, scores)),
        }

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """How often the predicted set is exactly the true one (subset accuracy), as scikit-learn has it."""
        y = _readable(self, y)
        one_each = self._one_each and _is_vector(y)
        truth = inputs.labels(self, y) if one_each else self._indicator(y)
        return float(super().score(X, truth, inputs.weights(sample_weight)))

    def _lanes(self, X: Any) -> npt.NDArray[np.float64]:
        learner = self._fitted()
        lanes = learner.lanes(X) if self._takes_names(X) else learner.lanes_of(self._rows(X, reset=False))
        return by_lane(lanes)

    def _indicator(self, y: Any) -> npt.NDArray[np.int64]:
        labels = self._fitted().labels
        given, _ = _label_sets(self, y)
        count = given.shape[0] if is_sparse(given) else len(given)
        sets = LabelSets(given, count, labels).encode(labels, None)
        assert sets.y is not None
        assert sets.starts is not None
        matrix = np.zeros((len(sets.starts) - 1, len(labels.known)), dtype=np.int64)
        matrix[np.repeat(np.arange(len(matrix)), np.diff(sets.starts)), sets.y] = 1
        return matrix

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels, in the order of the columns of `predict` and `decision_function`."""
        return in_array(self._fitted().labels.known)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The weights, of shape (n_labels, n_features); the average if `average`."""
        return self._fitted().weights

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        learner = self._fitted()
        return np.asarray(learner.intercept, dtype=learner.parameters["dtype"])

    @property
    def constant_(self) -> float:
        """The value of the constant feature of the intercept (`intercept_value`); 0 without an intercept."""
        return self._fitted().constant

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _is_matrix(y: Any) -> bool:
    return is_sparse(y) or is_frame(y) or isinstance(y, np.ndarray)


def _in_order(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # strings among numbers
        return labels


def _label_sets(estimator: PAMultilabel, y: Any) -> tuple[Any, bool]:
    """y as a matrix or a list of sets, and whether it was a vector: one label each."""
    y = _readable(estimator, y)
    if _is_vector(y):
        labels = inputs.labels(estimator, y)
        return [{plain(label)} for label in labels.tolist()], True
    if isinstance(y, list) and _is_indicator(y):  # as scikit-learn reads it
        return np.asarray(unmasked(y, "y")), False
    return y, False


def _readable(estimator: PAMultilabel, y: Any) -> Any:
    """A matrix, an array or a list."""
    inputs.check_given(estimator, y)
    check_length(y, "y")
    if is_sparse(y) or is_frame(y):
        return y
    if not hasattr(y, "__array__"):
        return as_list(y, "y", "of sets of labels, one per row", False)
    y = as_array(y, "y")
    return y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y


def _is_vector(y: Any) -> bool:
    """Whether y is a vector of labels."""
    if is_sparse(y) or is_frame(y) or getattr(y, "ndim", 1) == 0 or len(y) == 0:
        return False
    if isinstance(y, np.ndarray) and (y.ndim > 1 or y.dtype.kind != "O"):
        return y.ndim == 1
    return not any(isinstance(label, Iterable) and not isinstance(label, (str, bytes)) for label in y)


def _is_indicator(y: list[Any]) -> bool:
    """A list of rows of the same length, of 0 and 1 only. (Sets of the labels 0 and 1 come as sets.)"""
    if not all(isinstance(row, (list, np.ndarray)) and len(row) == len(y[0]) > 1 for row in y):
        return False
    values = np.asarray(unmasked(y, "y"))
    return values.ndim == 2 and values.dtype.kind in "biuf" and bool(np.isin(values, (0, 1)).all())
