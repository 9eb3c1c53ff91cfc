"""Validation of input by the conventions of scikit-learn: matrices, labels, numbers, classes."""

from __future__ import annotations

import numbers as kinds_of_numbers
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from ..data import sparse, targets
from ..data.errors import InputError
from ..data.events import check_length, is_csr, is_frame, is_sparse
from ..data.label_arrays import as_labels, check_kinds
from ..data.rows import as_array, as_label_array, as_numbers, as_values, check_frame, too_large


def matrix(estimator: Any, X: Any, *, reset: bool) -> Any:
    """X, validated by scikit-learn."""
    X = X if is_csr(X) else readable(X)  # the core checks CSR itself
    try:
        return validate_data(
            estimator,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
        )
    except MemoryError:
        raise too_large("X", X.shape) from None


def readable(X: Any) -> Any:
    """X for scikit-learn. What it would reject with a message of NumPy is rejected with row and column."""
    if is_sparse(X):
        return sparse.to_csr(X)
    if is_frame(X):
        check_frame(X)
        return X
    return _numeric(as_array(X, "X"))


_MOST_CELLS = 2**40


def _numeric(X: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Objects and strings as numbers. (scikit-learn rejects complex numbers and wrong dimensions.)"""
    if X.size > _MOST_CELLS:  # a view that repeats a few numbers: reading all of them would take hours
        raise too_large("X", X.shape)
    if X.dtype.kind in "biufc":
        return X
    if X.dtype.kind in "US":
        try:
            return X.astype(np.float64)
        except MemoryError:
            raise too_large("X", X.shape) from None
        except ValueError:
            pass
    return as_values(X)


def labels(estimator: Any, y: Any) -> npt.NDArray[Any]:
    """One label per row: all strings, or all numbers."""
    check_given(estimator, y)
    found = _column(as_label_array(y))
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        raise InputError(f"the label is {'NaN' if np.isnan(found[row]) else 'infinity (inf)'}", row)
    check_kinds(found)
    # Whole numbers and strings are classes: skip the check of scikit-learn, which reads them several times.
    if found.dtype.kind not in "biufU" or (found.dtype.kind == "f" and (found != np.trunc(found)).any()):
        check_classification_targets(found)
    return found


def numbers(estimator: Any, y: Any) -> npt.NDArray[Any]:
    check_given(estimator, y)
    return as_numbers(_column(as_array(y, "y")), "y")


def check_given(estimator: Any, y: Any) -> None:
    if y is None:
        raise ValueError(
            f"This {type(estimator).__name__} estimator requires y to be passed, but the target y is None."
        )


def _column(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    try:
        column: npt.NDArray[Any] = column_or_1d(y, warn=True)
        return column
    except MemoryError:
        raise too_large("y", y.shape) from None


def classes(given: Any) -> npt.NDArray[Any]:
    """The labels that are known in advance, sorted, each once."""
    known = as_label_array(given, "classes")
    if known.ndim != 1:
        raise ValueError(f"classes must be a list of labels, not an array of {known.ndim} dimensions")
    check_length(known, "classes")
    check_kinds(known, "classes")
    return as_labels(np.unique(known))


def weights(sample_weight: Any) -> Any:
    """One number per row, or one for all of them."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, kinds_of_numbers.Number):
        return targets.number(sample_weight)
    return as_numbers(sample_weight, "sample_weight")
