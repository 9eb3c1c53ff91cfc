"""PAOneClass: Passive-Aggressive one-class learning (uniclass)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin

from ..options import table
from ..options.constructors import constructor
from . import inputs
from .base import StreamEstimator
from .passes import HeldBack

if TYPE_CHECKING:
    from ..options.types import PAOneClassOptions


@constructor("PAOneClass")
class PAOneClass(OutlierMixin, StreamEstimator):
    """Passive-Aggressive one-class learning: a ball around normal data (J06 section 6, N03).

    Predicts 1 inside of the ball and -1 outside, like scikit-learn's outlier detectors; on a loss
    [|x - w| - radius]_+ it moves the centre w towards x, just far enough (see `step`). The radius is a quantile of the
    distances, a number, or learned up to `max_radius`. All features have the same weight in the distance: scale them
    first. An outlier moves the ball of 'pa' far; that of 'pa1' with a small C hardly.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> import numpy as np
    >>> from hinge import PAOneClass
    >>> normal = np.random.default_rng(0).normal(loc=5.0, size=(500, 2))
    >>> model = PAOneClass(radius=3.0, C=0.05, random_state=0).fit(normal)
    >>> model.predict([[5.0, 5.0], [0.0, 0.0]])
    array([ 1, -1])
    """

    _task: ClassVar[str] = "uniclass"

    def __init__(self, C: float = table.default("C"), **options: Unpack[PAOneClassOptions]) -> None: ...

    def _failed_checks(self) -> dict[str, str]:
        if self.radius is None and self.max_radius is None:
            return {}
        why = "with a radius that is given, or learned up to max_radius, `contamination` decides nothing"
        return dict.fromkeys(("check_outliers_train", "check_outliers_fit_predict"), why)

    def fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in several passes (see `max_iter`, `tol`, `shuffle`, `batch_tolerance`). No y."""
        new = self._aside()
        rows = new._rows(X, reset=True)
        new._fit_learner(new._new_learner(**new._start_names()), X, rows, None, sample_weight)
        learner = new._learner
        if learner.radius_by_quantile:
            distances = learner.lanes_of(rows)
            learner.set_radius(_radius_around(distances, float(self.contamination), sample_weight))
        return self._become(new)

    def _validation_score(self, learner: Any, held: HeldBack) -> float:
        """Minus the mean distance of the rows that were held back from the centre."""
        distances = -learner.radius + learner.scores(held.X)
        return float(np.average(distances, weights=held.sample_weight))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: npt.ArrayLike | None = None) -> Self:
        """One pass over the rows, in their order. No y."""
        learner = self._current()
        if learner is None:
            return self._learn_first(X, None, sample_weight)
        return self._learn_more(learner, X, None, sample_weight)

    def learn_one(self, x: dict[Any, Any], weight: float = 1.0) -> Self:
        """One round: the features `x`, a dict of names and values."""
        try:
            learner = self._ready
        except AttributeError:
            return self._learn(lambda learner: learner.learn_one(x, None, weight))
        learner.learn_one(x, None, weight)
        return self

    def learn_many(self, X: Any, sample_weight: npt.ArrayLike | None = None) -> Self:  # type: ignore[override]
        """The rounds of a list of dicts, a DataFrame, an array or a CSR matrix: all of them, or none."""
        return self._learn(lambda learner: learner.learn_many(X, None, sample_weight))

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """radius - |x - w| of each row: 0 or more inside of the ball."""
        return self._scores(X)

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """-|x - w| of each row: the decision function plus `offset_`."""
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """1 for rows inside of the ball, -1 for those outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    @property
    def center_(self) -> npt.NDArray[Any]:
        """The centre w of the ball; the average if `average`."""
        return self._fitted().weights

    @property
    def radius_(self) -> float:
        """The radius of the ball, fixed or as learned so far."""
        return self._fitted().radius

    @property
    def offset_(self) -> float:
        return -self.radius_


def _radius_around(
    distances: npt.NDArray[np.float64], contamination: float, sample_weight: npt.ArrayLike | None
) -> float:
    """The smallest of the distances with at most the share `contamination` of the weight beyond it."""
    weights = np.ones(len(distances)) * (1.0 if sample_weight is None else inputs.weights(sample_weight))
    farthest = np.argsort(-distances, kind="stable")
    beyond = np.cumsum(weights[farthest])
    outside = int(np.searchsorted(beyond, contamination * beyond[-1] * (1 + 1e-9), side="right"))
    return float(distances[farthest[min(outside, len(farthest) - 1)]])
