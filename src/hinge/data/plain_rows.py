"""The rows of every batch of an estimator, if the core can read them as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .rows import Rows

_FLOAT64, _FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
_INT32, _INT64 = np.dtype(np.int32), np.dtype(np.int64)


def plain_rows(X: Any) -> Rows | None:
    """The rows of an array or CSR matrix that the core reads as it is; None for whatever needs a closer look.

    Every batch of a stream comes through here, so it looks only at what it must.
    """
    if type(X) is np.ndarray:
        if X.ndim != 2 or not X.size or not _is_plain(X):
            return None
        return Rows(X)
    if getattr(X, "format", None) != "csr":
        return None
    indices, indptr, (count, width) = X.indices, X.indptr, X.shape
    kind, kind_of_starts = indices.dtype, indptr.dtype
    if (
        (kind is not _INT32 and kind is not _INT64)
        or (kind_of_starts is not _INT32 and kind_of_starts is not _INT64)
        or not (count and width and len(indptr) == count + 1)
        or not (_is_whole(indices) and _is_whole(indptr) and _is_plain(X.data))
    ):
        return None
    return Rows(X.data, indices, indptr, width)


def _is_plain(values: npt.NDArray[Any]) -> bool:
    """float32 or float64 in this machine's byte order, aligned, with whole steps from one to the next."""
    kind = values.dtype
    if kind is not _FLOAT64 and kind is not _FLOAT32:
        return False
    return _is_whole(values) or (
        values.flags.aligned and not any(step % values.itemsize for step in values.strides)
    )


def _is_whole(array: npt.NDArray[Any]) -> bool:
    """Contiguous in C order, and aligned."""
    flags = array.flags
    return flags.c_contiguous and flags.aligned
