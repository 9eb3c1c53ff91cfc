"""PAClassifier: Passive-Aggressive classification with two or more classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_class_weight

from ..data.label_arrays import as_labels, in_array
from ..data.labels import in_order, plain
from ..data.rows import Rows
from ..data.weights import check_weight
from ..learner import Learner
from ..options import table
from ..options.constructors import constructor
from . import inputs
from .base import StreamEstimator

if TYPE_CHECKING:
    from ..options.types import PAClassifierOptions


@constructor("PAClassifier")
class PAClassifier(ClassifierMixin, StreamEstimator):
    """Passive-Aggressive classification (J06 sections 3, 4, 7 and 8, N03, S06, CS03).

    Two classes: predicts the sign of w.x; on a loss [margin - y w.x]_+ it moves w just far enough (see `step`).
    More classes: each has its weights, the highest score wins, and the true class must lead by the margin; `selection`
    says which of the classes that come too close count. Costs of confusions go into `cost`.
    Use it for streams, for sparse text, for data that does not fit into memory, and for models that learn event by
    event. `AutoClassifier` chooses C and the other options itself, in streams and in `fit`.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import PAClassifier
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = PAClassifier(C=0.1, random_state=0).fit(scale(X), y)
    >>> model.score(scale(X), y) > 0.97
    True

    One event at a time, with named features:

    >>> model = PAClassifier()
    >>> for x, y in [({"free": 1, "money": 2}, "spam"), ({"meeting": 1}, "ham")]:
    ...     guess = model.predict_one(x)
    ...     model = model.learn_one(x, y)
    >>> model.predict_one({"money": 2})
    'spam'

    More classes, and all violated constraints at once:

    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = PAClassifier(C=0.01, selection="simproj", random_state=0).fit(X / 16, y)
    >>> model.score(X / 16, y) > 0.97
    True
    """

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "margin", "beta")
    _task: ClassVar[str] = "classification"

    def __init__(self, C: float = table.default("C"), **options: Unpack[PAClassifierOptions]) -> None: ...

    def _failed_checks(self) -> dict[str, str]:
        if self.step not in ("pa", "cw"):
            return {}
        return {"check_class_weight_classifiers": "class_weight scales C, which this step does not have"}

    # ---- learn ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in several passes (see `max_iter`, `tol`, `shuffle`, `batch_tolerance`)."""
        new = self._aside()
        rows = new._first_rows(X, sample_weight, together=True)
        new._decide(rows)
        y = inputs.labels(new, y)
        new._classes = classes = new._found_classes(y)
        learner = new._begin(classes, new._class_weights(classes, y))
        new._fit_learner(learner, X, rows, y, sample_weight)
        return self._become(new)

    def _found_classes(self, y: npt.NDArray[Any]) -> npt.NDArray[Any]:
        classes = as_labels(np.unique(y) if self.classes is None else self.classes)
        if self.classes is None and isinstance(
            self.cost, Mapping
        ):  # it may name classes that are not in the data
            named = [*self.cost, *(label for row in self.cost.values() for label in row)]
            classes = in_array(in_order({*classes.tolist(), *named}))
        if len(classes) < 2:
            raise ValueError(f"two classes are needed, the data has only 1 class: {classes.tolist()}")
        return classes

    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """One pass over the rows, in their order. `classes`: all labels, needed in the first call."""
        if classes is None and sample_weight is None and self._learn_as_is(X, y):
            return self
        if not (type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf"):
            y = inputs.labels(self, y)
        learner = self._current()
        if learner is None:
            return self._learn_first(X, y, sample_weight, classes)
        self._check_same_classes(classes, inputs.classes)
        return self._learn_more(learner, X, y, sample_weight)

    def learn_one(self, x: dict[Any, Any], y: Any, weight: float = 1.0) -> Self:
        """One round: the features `x`, a dict of names and values, and the true label `y`."""
        try:
            learner = self._ready
        except AttributeError:
            return self._learn(lambda learner: learner.learn_one(x, y, weight))
        try:  # one call less than learner.learn_one
            if learner.by_label and learner._engine.learn_label(x, y, weight):
                return self
        except TypeError:
            check_weight(weight)
            raise
        learner.learn_one(x, y, weight)
        return self

    def predict_one(self, x: dict[Any, Any]) -> Any:
        """The label of the features `x`, a dict of names and values (None before the first label). Never learns."""
        try:
            learner = self._learner
        except AttributeError:
            learner = self._asked()
        return learner._engine.predict_label(x, learner.averaged)

    def _first_learner(self, y: Any, rows: Rows, classes: Any) -> Learner:
        if classes is None and self.classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        if isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit. In order to use 'balanced' weights, use "
                "compute_class_weight('balanced', classes=classes, y=y) on a sample and pass the result."
            )
        known = inputs.classes(classes) if self.classes is None else as_labels(self.classes)
        if len(known) < 2:
            raise ValueError(f"two classes are needed, not {known.tolist()}")
        self._classes = known
        return self._begin(known, self.class_weight)

    def _begin(self, classes: npt.NDArray[Any], class_weight: Any) -> Learner:
        if isinstance(class_weight, Mapping):
            unknown = set(class_weight) - set(classes.tolist())
            if unknown:
                raise ValueError(
                    f"class_weight names {sorted(map(repr, unknown))}, which are not among the classes"
                )
        known = [plain(label) for label in classes.tolist()]
        learner = self._new_learner(classes=known, class_weight=class_weight, **self._start_names())
        learner.closed = self.classes is not None or self.cost is not None
        return learner

    def _class_weights(self, classes: npt.NDArray[Any], y: npt.NDArray[Any]) -> Any:
        if not isinstance(self.class_weight, str):
            return self.class_weight
        weights = compute_class_weight("balanced", classes=classes, y=y)
        return dict(zip(classes.tolist(), weights.tolist(), strict=True))

    # ---- predict ------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The score of each class, (n, n_classes). Two classes: one score, positive for `classes_[1]`."""
        scores = self._scores(X)
        if scores.ndim == 2 and scores.shape[1] == 2:
            return np.asarray(scores[:, 1] - scores[:, 0])
        return scores

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row: of the highest score, the first of them; two classes: of a score above 0 the
        second."""
        scores = self._scores(X)
        classes = self.classes_
        if len(classes) == 1:
            return np.full(len(scores), classes[0])
        places = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(np.intp)
        labels: npt.NDArray[Any] = classes[places]
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The probability of each class, (n, n_classes), in the order of `classes_`; the highest is that of the
        predicted class.

        They come from the scores by a calibration that is learned online: on the scores that rows had before their
        labels were seen, so no rows have to be held back. In `fit` these are the rows of the first pass."""
        scores = self._scores(X)
        learner = self._fitted()
        return learner._task.probabilities(learner, scores)

    def predict_proba_one(self, x: dict[Any, Any]) -> dict[Any, float]:
        """The probability of each label for the features `x`; the highest is that of the predicted label."""
        return self._asked().predict_proba_one(x)

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """The accuracy of the predictions for X, as scikit-learn has it."""
        truth, weights = inputs.labels(self, y), inputs.weights(sample_weight)
        return float(super().score(X, truth, weights))

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The labels in order. After `fit` they are sorted; those that a stream brings later follow as they came."""
        learner = self._fitted()
        known: npt.NDArray[Any] | None = self.__dict__.get("_classes")
        if known is not None and len(known) == len(learner.labels.known):
            return known
        return in_array(learner.labels.known)

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """The weights, of shape (n_classes, n_features), or (1, n_features) for two classes; the average if
        `average`."""
        weights = self._fitted().weights
        if weights.ndim == 2 and len(weights) == 2:
            weights = weights[1] - weights[0]
        return np.atleast_2d(weights)

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        learner = self._fitted()
        intercepts = np.atleast_1d(learner.intercept)
        if len(intercepts) == 2:
            intercepts = intercepts[1:] - intercepts[:1]
        return np.asarray(intercepts, dtype=learner.parameters["dtype"])

    @property
    def constant_(self) -> float:
        """The value of the constant feature of the intercept (`intercept_value`); 0 without an intercept."""
        return self._fitted().constant
