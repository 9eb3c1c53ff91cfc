"""The base of the drop-in PassiveAggressiveClassifier and PassiveAggressiveRegressor."""

from __future__ import annotations

import numbers
import warnings
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from ..data.events import check_length
from ..data.label_arrays import check_kinds
from ..data.rows import as_array, as_values, too_large
from ..data.shown import shown
from ..estimators import inputs
from ..model.experts import is_several
from ..options import hints, table
from ..tasks import TASKS
from .passes import Array, Lane, Mask, empty_rows


def _start_values(given: Any, name: str, dtype: Any) -> Array:
    given = given.toarray() if issparse(given) else given
    values = as_values(as_array(given, name), name)
    try:
        return values.astype(dtype)
    except MemoryError:
        raise too_large(name, values.shape) from None


class PassiveAggressive(BaseEstimator):
    """Checks, start values and predictions."""

    _task: ClassVar[str]
    _steps: ClassVar[dict[str, str]]  # loss to step
    _splitter: ClassVar[Any]

    coef_: Any
    intercept_: Array

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        hints.explain_unknown_options(cls)

    def _check_parameters(self) -> None:
        given = self.get_params(deep=False)
        options = table.PARAMETERS
        shared = {n: v for n, v in given.items() if n in options and options[n].is_for(self._task)}
        table.check(self._task, shared)
        if is_several(self.C):
            raise ValueError(
                f"C={shown(self.C)} is not for {type(self).__name__}, which has one C: give a number"
            )
        if not (isinstance(self.loss, str) and self.loss in self._steps):
            raise ValueError(
                f"loss must be one of {', '.join(map(repr, self._steps))}, not {shown(self.loss)}"
            )
        for name in ("early_stopping", "warm_start"):
            if not isinstance(given[name], (bool, np.bool_)):
                raise ValueError(f"{name} must be True or False, not {given[name]!r}")
        fraction: Any = self.validation_fraction
        if not (isinstance(fraction, numbers.Real) and 0 < float(fraction) < 1):
            raise ValueError(f"validation_fraction must be a number between 0 and 1, not {fraction!r}")
        jobs = given.get("n_jobs")
        if jobs is not None and not isinstance(jobs, numbers.Integral):
            raise ValueError(f"n_jobs must be None or a whole number, not {jobs!r}")

    def _validate(self, X: Any, y: Any, reset: bool) -> tuple[Any, Array]:
        numeric = TASKS[self._task].reads_numbers
        X = inputs.readable(X)
        if y is not None:
            y = inputs.numbers(self, y) if numeric else as_array(y, "y")
            check_length(y, "y")
            if y.dtype.kind in "OMmV":  # scikit-learn checks the rest
                check_kinds(y)
        try:
            X, y = validate_data(
                self,
                X,
                y,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                reset=reset,
                y_numeric=numeric,
            )
        except MemoryError:
            raise too_large("X", X.shape) from None
        return X, y.astype(X.dtype, copy=False) if numeric else y

    # ---- the passes ---------------------------------------------------------------------------------------

    def _start(self, n_lanes: int, X: Any, coef_init: Any = None, intercept_init: Any = None) -> list[Lane]:
        """New lanes. Start values are copied (scikit-learn overwrites the array of the caller)."""
        coef = np.zeros((n_lanes, X.shape[1]), dtype=X.dtype)
        intercept = np.zeros(n_lanes)
        if coef_init is not None:
            given = _start_values(coef_init, "coef_init", X.dtype)
            given = given.reshape(1, -1) if n_lanes == 1 else given
            if given.shape != coef.shape:
                raise ValueError(f"coef_init has the shape {given.shape}; it must be {coef.shape}")
            coef[:] = given
        if intercept_init is not None:
            given = np.atleast_1d(_start_values(intercept_init, "intercept_init", X.dtype))
            if given.shape != intercept.shape:
                raise ValueError(f"intercept_init has the shape {given.shape}; it must be {intercept.shape}")
            intercept[:] = given
        is_zero = coef_init is None and intercept_init is None
        return [
            Lane(w, float(b), np.zeros_like(w), 0.0, is_zero) for w, b in zip(coef, intercept, strict=True)
        ]

    def _resume(self) -> list[Lane]:
        """The lanes after the previous call."""
        self.densify()
        coef, intercept = np.atleast_2d(self.coef_), self.intercept_
        average_coef, average_intercept = np.zeros_like(coef), np.zeros(len(coef))
        if self.average and hasattr(self, "_standard_coef"):
            coef, intercept = np.atleast_2d(self._standard_coef), self._standard_intercept
            average_coef, average_intercept = np.atleast_2d(self._average_coef), self._average_intercept
        several = zip(coef, intercept, average_coef, average_intercept, strict=True)
        return [Lane(w, float(b), u, float(c)) for w, b, u, c in several]

    def _hold_out(self, y: Array) -> Mask:
        held_out = np.zeros(len(y), dtype=np.bool_)
        if self.early_stopping:
            splitter = self._splitter(test_size=self.validation_fraction, random_state=self.random_state)
            held_out[next(splitter.split(np.zeros((len(y), 1)), y))[1]] = True
        return held_out

    def _passed_over(self, X: Any) -> Mask | None:
        """The empty rows, which PA-I of scikit-learn skips: they count in the loss, but not in the average."""
        return empty_rows(X) if self.average and self._steps[self.loss] == "pa1" else None

    def _warn_if_cut_short(self) -> None:
        if self.tol is not None and self.n_iter_ == self.max_iter:
            warnings.warn(
                "Maximum number of iteration reached before convergence. Consider increasing max_iter to "
                "improve the fit.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _scores(self, X: Any) -> Array:
        check_is_fitted(self)
        X = inputs.readable(X)
        check_length(X, "X")
        X = validate_data(self, X, accept_sparse="csr", reset=False)
        scores: Array = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return scores

    def sparsify(self) -> Self:
        """Converts `coef_` to a sparse matrix, which is smaller if more than half of the weights are 0."""
        check_is_fitted(self)
        self.coef_ = csr_matrix(self.coef_)
        return self

    def densify(self) -> Self:
        """Converts `coef_` back to an array."""
        check_is_fitted(self)
        if issparse(self.coef_):
            coef = self.coef_.toarray()
            self.coef_ = coef.ravel() if TASKS[self._task].reads_numbers else coef
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
