"""PARegressor: Passive-Aggressive regression."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning

from ..options import table
from ..options.constructors import constructor
from . import inputs
from .base import StreamEstimator

if TYPE_CHECKING:
    from ..options.types import PARegressorOptions


@constructor("PARegressor")
class PARegressor(RegressorMixin, StreamEstimator):
    """Passive-Aggressive regression (J06 section 5, N03).

    Predicts w.x; on a loss [|y - w.x| - epsilon]_+ it moves w just far enough (see `step`). The scale of the
    features and of y matters: with 'pa1' no step is longer than C, so bring y to a size of about 1. With a covariance
    the default step is 'pa2', to which the size of y is the same.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from hinge import PARegressor
    >>> model = PARegressor(epsilon=0.01)
    >>> for hour in range(200):
    ...     x = {"load": hour % 7, "night": hour % 24 < 6}
    ...     model = model.learn_one(x, 0.5 * x["load"] + 2 * x["night"])
    >>> round(model.predict_one({"load": 4, "night": True}), 1)
    4.0
    """

    _changeable: ClassVar[tuple[str, ...]] = ("step", "C", "epsilon")
    _task: ClassVar[str] = "regression"

    def __init__(self, C: float = table.default("C"), **options: Unpack[PARegressorOptions]) -> None: ...

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learns from scratch, in several passes (see `max_iter`, `tol`, `shuffle`, `batch_tolerance`)."""
        new = self._aside()
        rows = new._rows(X, reset=True)
        new._decide(rows)
        y = inputs.numbers(new, y)
        learner = new._new_learner(**new._start_names())
        new._fit_learner(learner, X, rows, y, sample_weight)
        if sample_weight is None and learner.step == "pa1":
            new._warn_if_capped(y)
        return self._become(new)

    def _warn_if_capped(self, y: npt.NDArray[np.float64]) -> None:
        """Steps of at most C may be too short to ever reach the targets."""
        loss = self.history_[-1]["mean_loss"]
        constant = float(np.maximum(0, np.abs(y - np.median(y)) - self.epsilon).mean())
        if loss > 3 * constant and loss > self.C:
            warnings.warn(
                f"the mean loss of the last pass is {loss:.4g}, and a constant would suffer {constant:.4g}: steps of "
                f"at most C={self.C:g} do not reach the targets; scale y, raise C, or use step='pa2'",
                ConvergenceWarning,
                stacklevel=3,
            )

    def partial_fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """One pass over the rows, in their order."""
        if sample_weight is None and self._learn_as_is(X, y):
            return self
        if not (type(y) is np.ndarray and y.ndim == 1):
            y = inputs.numbers(self, y)
        learner = self._current()
        if learner is None:
            return self._learn_first(X, y, sample_weight)
        return self._learn_more(learner, X, y, sample_weight)

    def learn_one(self, x: dict[Any, Any], y: float, weight: float = 1.0) -> Self:
        """One round: the features `x`, a dict of names and values, and the true number `y`."""
        try:
            learner = self._ready
        except AttributeError:
            return self._learn(lambda learner: learner.learn_one(x, y, weight))
        learner.learn_one(x, y, weight)
        return self

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """w.x (with the intercept) of each row."""
        return self._scores(X)

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """R^2 of the predictions for X, as scikit-learn has it."""
        truth, weights = inputs.numbers(self, y), inputs.weights(sample_weight)
        return float(super().score(X, truth, weights))

    @property
    def coef_(self) -> npt.NDArray[Any]:
        """w, of shape (n_features,); the average if `average`."""
        return self._fitted().weights

    @property
    def intercept_(self) -> npt.NDArray[Any]:
        learner = self._fitted()
        return np.asarray([learner.intercept], dtype=learner.parameters["dtype"])

    @property
    def constant_(self) -> float:
        """The value of the constant feature of the intercept (`intercept_value`); 0 without an intercept."""
        return self._fitted().constant
