"""Sparse matrices of SciPy, checked before SciPy works on them.

SciPy trusts the index arrays of a matrix: `tocsr`, sums and slices of a matrix with an index outside read and write
anywhere in memory. (The core checks the rows of CSR that it reads, so these need no check here.)
"""

from __future__ import annotations

from typing import Any

_AXES = ("row", "column")


def to_csr(X: Any, name: str = "X") -> Any:
    """X in the format CSR, of which every index lies inside: the same object if it is in that format."""
    if len(X.shape) != 2:
        raise ValueError(f"{name} must be two-dimensional (rows and columns), not {len(X.shape)}-dimensional")
    kind = getattr(X, "format", None)
    try:
        if kind in ("csr", "csc", "bsr"):
            _check_compressed(X, kind)
            return X if kind == "csr" else X.tocsr()
        if kind == "lil" and any(len(row) != len(data) for row, data in zip(X.rows, X.data, strict=True)):
            raise ValueError("a row has more columns than values, or fewer")
        coordinates = X if kind == "coo" else X.tocoo()
        _check_inside(coordinates.row, 0, X.shape)
        _check_inside(coordinates.col, 1, X.shape)
        if len(coordinates.row) != len(coordinates.data) or len(coordinates.col) != len(coordinates.data):
            raise ValueError("it has not the same number of rows, columns and values")
        return coordinates.tocsr()
    except (AttributeError, IndexError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{name} is a broken matrix in the format {kind!r}: {error}") from None


def numeric(X: Any, name: str = "X") -> Any:
    """X, if its values are numbers: SciPy does not look, and fails later."""
    if X.data.dtype.kind not in "biuf":
        raise ValueError(f"{name} must hold numbers, not {X.data.dtype}")
    return X


def _check_compressed(X: Any, kind: str) -> None:
    """indptr and indices of CSR, CSC and BSR."""
    major, minor = (1, 0) if kind == "csc" else (0, 1)
    size = X.data.shape[1:] if kind == "bsr" else (1, 1)
    if any(step < 1 or count % step for step, count in zip(size, X.shape, strict=True)):
        raise ValueError(f"blocks of {size} do not fill the shape {X.shape}")
    starts, indices, count = X.indptr, X.indices, X.shape[major] // size[major]
    for array, its_name in ((starts, "indptr"), (indices, "indices")):
        if array.ndim != 1 or array.dtype.kind not in "iu":
            raise ValueError(f"{its_name} must be a vector of whole numbers")
    if len(starts) != count + 1:
        raise ValueError(
            f"indptr has {len(starts)} entries for {count} {_AXES[major]}s; it must have one more"
        )
    stored = min(len(indices), len(X.data))
    if starts[0] < 0 or starts[-1] > stored or (starts[1:] < starts[:-1]).any():
        raise ValueError(
            f"indptr is broken: it must ascend from 0 to at most {stored}, the values that are stored"
        )
    _check_inside(indices[starts[0] : starts[-1]], minor, (X.shape[0] // size[0], X.shape[1] // size[1]))


def _check_inside(indices: Any, axis: int, shape: tuple[int, ...]) -> None:
    if not len(indices) or (indices.min() >= 0 and indices.max() < shape[axis]):
        return
    bad = indices[(indices < 0) | (indices >= shape[axis])][0]
    raise ValueError(f"{_AXES[axis]} index {bad} is outside of the {shape[axis]} {_AXES[axis]}s")
