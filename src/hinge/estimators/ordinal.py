"""PAOrdinal: ordinal regression, ranks in their order with thresholds between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from ..data.label_arrays import as_labels
from ..data.labels import plain
from ..data.rows import Rows
from ..learner import Learner
from ..options import table
from ..options.constructors import constructor
from ..tasks.ordinal import by_lane, rank_of, ranks_of
from . import inputs
from .base import StreamEstimator

if TYPE_CHECKING:
    from ..options.types import PAOrdinalOptions


@constructor("PAOrdinal")
class PAOrdinal(ClassifierMixin, StreamEstimator):
    """Ordinal regression with simultaneous projections (S06 section 3).

    One w and a threshold between each rank and the next: the predicted rank is the first one whose threshold is
    above w.x. Every threshold is a constraint, and `selection` says which of the violated ones count: 'simproj'
    (the default; it keeps the thresholds in order), 'conproj', 'simperc', or 'max', the worst alone. Ranks
    are whole numbers, sorted; or labels of any kind if `classes` gives their order.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import PAOrdinal
    >>> X = np.linspace(0, 1, 60)[:, np.newaxis]
    >>> y = np.repeat([1, 2, 3], 20)
    >>> model = PAOrdinal(C=1.0, random_state=0).fit(X, y)
    >>> model.predict([[0.1], [0.5], [0.9]])
    array([1, 2, 3])

    One event at a time, with ranks that have names:

    >>> model = PAOrdinal(classes=["bad", "fair", "good"])
    >>> for x, y in [({"stars": 1}, "bad"), ({"stars": 3}, "fair"), ({"stars": 5}, "good")] * 50:
    ...     model = model.learn_one(x, y)
    >>> [model.predict_one({"stars": stars}) for stars in (1, 3, 5)]
    ['bad', 'fair', 'good']
    """

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "margin")
    _task: ClassVar[str] = "ordinal"

    def __init__(self, C: float = table.default("C"), **options: Unpack[PAOrdinalOptions]) -> None: ...

    def _failed_checks(self) -> dict[str, str]:
        why = (
            "it fits strings: ranks with names need their order, classes=[...], which the check does not know"
        )
        return {"check_classifiers_classes": why}

    # ---- learn ------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in several passes (see `max_iter`, `tol`, `shuffle`)."""
        new = self._aside()
        rows = new._rows(X, reset=True)
        new._decide(rows)
        y = new._ranks(y)
        learner = new._begin(np.unique(y) if new.classes is None else np.asarray(new.classes))
        new._fit_learner(learner, X, rows, y, sample_weight)
        return self._become(new)

    def partial_fit(
        self, X: Any, y: Any, classes: npt.ArrayLike | None = None, sample_weight: npt.ArrayLike | None = None
    ) -> Self:
        """One pass over the rows, in their order. `classes`: all ranks, needed in the first call."""
        learner, y = self._current(), self._ranks(y)
        if learner is None:
            return self._learn_first(X, y, sample_weight, classes)
        self._check_same_classes(classes, inputs.classes)
        return self._learn_more(learner, X, y, sample_weight)

    def learn_one(self, x: dict[Any, Any], y: Any, weight: float = 1.0) -> Self:
        """One round: the features `x`, a dict of names and values, and the true rank `y`. (Needs `classes`.)"""
        return self._learn(lambda learner: learner.learn_one(x, y, weight))

    def _first_learner(self, y: Any, rows: Rows, classes: Any) -> Learner:
        if classes is None and self.classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        return self._begin(
            np.unique(self._ranks(classes)) if self.classes is None else np.asarray(self.classes)
        )

    def _begin(self, ranks: npt.NDArray[Any]) -> Learner:
        if len(ranks) < 2:
            raise ValueError(f"two ranks are needed, the data has only 1 class: {ranks.tolist()}")
        learner = self._new_learner(classes=[plain(rank) for rank in ranks.tolist()], **self._start_names())
        self._classes = as_labels(ranks)
        return learner

    def _ranks(self, y: Any) -> npt.NDArray[Any]:
        y = inputs.labels(self, y)
        if self.classes is None and y.dtype.kind not in "biu":
            whole = y.dtype.kind == "f" and bool(np.isfinite(y).all()) and bool((y == np.floor(y)).all())
            if not whole:
                odd = next(v for v in y.tolist() if not (isinstance(v, float) and v == np.floor(v)))
                raise ValueError(
                    f"ranks must be whole numbers, not {odd!r}; for ranks with names give their order, classes=[...]"
                )
        return y

    # ---- predict ------------------------------------------------------------------------------------------

    def latent(self, X: Any) -> npt.NDArray[np.float64]:
        """w.x of each row: where it lies on the scale that `thresholds_` divide into ranks."""
        return self._scores(X)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The rank of each row: the first one whose threshold is above w.x."""
        learner = self._fitted()
        lanes = learner.lanes(X) if self._takes_names(X) else learner.lanes_of(self._rows(X, reset=False))
        ranks: npt.NDArray[Any] = self.classes_[ranks_of(by_lane(lanes))]
        return ranks

    def score_report(self, X: Any, y: Any) -> dict[str, float]:
        """Accuracy, and the mean absolute error in ranks: how many ranks the predictions are off."""
        labels = self._fitted().labels
        truth = np.asarray([rank_of(labels, rank) for rank in self._ranks(y).tolist()])
        guess = np.asarray([rank_of(labels, rank) for rank in self.predict(X).tolist()])
        return {
            "accuracy": float(np.mean(truth == guess)),
            "mean_absolute_error": float(np.mean(np.abs(truth - guess))),
        }

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """The accuracy of the predictions for X, as scikit-learn has it."""
        truth, weights = inputs.labels(self, y), inputs.weights(sample_weight)
        return float(super().score(X, truth, weights))

    @property
    def classes_(self) -> npt.NDArray[Any]:
        """The ranks, from the lowest to the highest."""
        learner = self._fitted()
        known: npt.NDArray[Any] | None = self.__dict__.get("_classes")
        return np.asarray(learner.labels.known) if known is None else known

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """w, one number per feature; the average if `average`."""
        return self._fitted().weights

    @property
    def thresholds_(self) -> npt.NDArray[np.float64]:
        """The thresholds between each rank and the next."""
        return self._fitted().thresholds

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True  # on classes that have no order
        return tags
