"""Arrays of Python as the core reads them: in place where it can, converted where not, or rejected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import sparse
from .errors import InputError, InputTypeError
from .events import check_length, different, is_csr, is_numeric, is_sparse
from .shown import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from .types import Doubles


class Rows:
    """The arrays that the core reads: a dense matrix, or the three arrays of CSR."""

    __slots__ = ("arrays", "count", "indptr", "width")

    def __init__(
        self, values: Any, indices: Any = None, indptr: Any = None, width: int | None = None
    ) -> None:
        self.indptr = indptr
        if indptr is None:
            self.count, self.width = values.shape
            self.arrays: tuple[Any, ...] = (values,)
        else:
            assert width is not None
            self.count, self.width = len(indptr) - 1, width
            self.arrays = (values, indices, indptr, width)

    def by_rows(self) -> Rows:
        """The same, dense rows in C order: those of a DataFrame, whose columns lie together, are copied. For those who
        visit the rows many times in any order."""
        values = self.arrays[0]
        if self.indptr is not None or abs(values.strides[0]) >= abs(values.strides[1]):
            return self
        return Rows(np.ascontiguousarray(values))


def rows_of(X: Any) -> Rows:
    """An array or a CSR matrix as the core reads it: in place if it is of float32 or float64."""
    if is_sparse(X):
        X = X if is_csr(X) and len(X.shape) == 2 else sparse.to_csr(X)
        starts = _as_indices(X.indptr, "indptr")
        if len(starts) != X.shape[0] + 1:
            raise ValueError(f"indptr has {len(starts)} entries for {X.shape[0]} rows; it must have one more")
        return Rows(as_values(X.data), _as_indices(X.indices, "indices"), starts, int(X.shape[1]))
    X = as_array(X, "X")
    check_length(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional (rows and columns), not {X.ndim}-dimensional")
    return Rows(as_values(X))


def unmasked(values: Any, name: str) -> Any:
    """What was given, unless values of it are masked: numpy would silently take what lies under the mask."""
    if hasattr(values, "mask") and isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        place = np.argwhere(np.ma.getmaskarray(values))[0].tolist()
        raise InputError(
            f"the value of {name} is masked: fill masked values (.filled), or leave the row out", *place[:2]
        )
    return values


def as_values(X: npt.NDArray[Any], name: str = "X") -> npt.NDArray[Any]:
    if X.dtype in (np.float64, np.float32) and X.flags.aligned and not any(s % X.itemsize for s in X.strides):
        return X
    if X.dtype.kind in "US" and X.size:
        raise _first_bad(X, name)
    if X.dtype.kind not in "biufO":
        raise ValueError(f"{name} must hold numbers, not {X.dtype}")
    try:
        return X.astype(np.float64)
    except MemoryError:
        raise too_large(name, X.shape) from None
    except (TypeError, ValueError, ArithmeticError, RecursionError):
        raise _first_bad(X, name) from None


def too_large(name: str, shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"{name} of shape {shape} is more than fits into memory")


def as_array(values: Any, name: str) -> npt.NDArray[Any]:
    """An array, or a ValueError with the reason."""
    values = unmasked(values, name)
    try:
        array = np.asarray(values)
    except MemoryError:
        raise too_large(name, np.shape(values)) from None
    except (ValueError, TypeError, ArithmeticError, RecursionError, NotImplementedError):
        raise ValueError(f"{name} must be an array or a list of values: {_uneven(values)}") from None
    if array.ndim == 0 and array.dtype.kind == "O":
        raise ValueError(f"{name} must be an array or a list, not {type(values).__name__}")
    return array


def _uneven(values: Any) -> str:
    """What keeps a list of lists from being an array."""
    lengths = [
        len(row) if hasattr(row, "__len__") and not isinstance(row, (str, bytes)) else None for row in values
    ]
    for row, length in enumerate(lengths):
        if length != lengths[0]:
            words = ["is a single value" if n is None else f"has {n} values" for n in (lengths[0], length)]
            return f"row 0 {words[0]}, and row {row} {words[1]}"
    return "its rows have values that are lists themselves"


def frame_values(frame: Any) -> tuple[npt.NDArray[Any], list[Any]]:
    """The values of a DataFrame, all of them finite, and the names of its columns, all of them different."""
    check_frame(frame)
    values, names = as_values(frame.to_numpy()), list(frame.columns)
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0].tolist()
        what = "NaN" if np.isnan(values[row, column]) else "infinity (inf)"
        raise InputError(f"the value is {what}", row, names[column])
    return values, names


def check_frame(frame: Any) -> None:
    """Whether the columns that are not of numbers hold numbers nevertheless."""
    for name, dtype in zip(different(list(frame.columns)), frame.dtypes, strict=True):
        if is_numeric(dtype):
            continue
        if getattr(dtype, "kind", "O") not in "O":
            raise InputTypeError(f"X must hold numbers, not {dtype}", column=name)
        for row, value in enumerate(frame[name].to_list()):
            why = _not_a_number(value, "X")
            if why is not None:
                raise InputTypeError(f"X must hold numbers: {why}", row, name)


def rows_by_name(values: npt.NDArray[Any], names: list[Any], known: list[Any]) -> Rows:
    """The columns whose names are known, in the order in which they are."""
    place = {name: column for column, name in enumerate(known)}
    kept = sorted((place[name], j) for j, name in enumerate(names) if name in place)
    columns = np.asarray([column for column, _ in kept], dtype=np.int64)
    indptr = np.arange(len(values) + 1, dtype=np.int64) * len(kept)
    values = np.ascontiguousarray(values[:, [j for _, j in kept]]).ravel()
    return Rows(values, np.tile(columns, len(indptr) - 1), indptr, len(known))


def unseen_norms(frame: Any, known: list[Any]) -> Doubles:
    """The length of each row in the columns that are not among the known ones."""
    norms: Doubles = np.hypot.reduce(_unseen(frame, known), axis=1)  # squares could overflow
    return norms


def unseen_squares(frame: Any, known: list[Any]) -> Doubles:
    """The squares of these lengths, summed column by column, as those of an event are."""
    squares = np.zeros(len(frame))
    with np.errstate(over="ignore"):
        for values in _unseen(frame, known).T:
            squares += values * values
    if not np.isfinite(squares).all():
        row = int(np.argmin(np.isfinite(squares)))
        raise InputError("the values are too large: the sum of their squares overflows float64", row)
    return squares


def _unseen(frame: Any, known: list[Any]) -> Doubles:
    seen = set(known)
    return as_values(frame.to_numpy())[:, [name not in seen for name in frame.columns]].astype(np.float64)


def as_numbers(values: Any, name: str) -> Doubles:
    array = as_array(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not {array.ndim}-dimensional")
    try:
        return np.ascontiguousarray(as_values(array, name), dtype=np.float64)
    except MemoryError:
        raise too_large(name, array.shape) from None


def as_labels(y: Any, name: str = "y") -> npt.NDArray[Any]:
    labels = as_label_array(y, name)
    if labels.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, not {labels.ndim}-dimensional")
    return labels


def as_label_array(y: Any, name: str = "y") -> npt.NDArray[Any]:
    """An array in which labels are what they were: NumPy would turn the numbers among strings into strings."""
    labels = as_array(y, name)
    if isinstance(y, (list, tuple)) and labels.dtype.kind in "US" and not all(isinstance(v, str) for v in y):
        return np.asarray(y, dtype=object)
    return labels


def as_order(order: Any, count: int) -> npt.NDArray[np.int64]:
    rows = as_array(order, "order")
    if rows.ndim != 1 or (rows.dtype.kind not in "iu" and len(rows) > 0):
        raise ValueError(f"order must hold whole numbers in one dimension, not {rows.dtype} in {rows.ndim}")
    try:
        rows = np.ascontiguousarray(rows)
    except MemoryError:
        raise too_large("order", rows.shape) from None
    if len(rows) > 0 and (rows.min() < 0 or rows.max() >= count):
        place = int(np.flatnonzero((rows < 0) | (rows >= count))[0])
        raise ValueError(f"order[{place}] is {rows[place]}: X has the rows 0 to {count - 1}")
    return _aligned(np.ascontiguousarray(rows, dtype=np.int64))


def _as_indices(indices: npt.NDArray[Any], name: str) -> npt.NDArray[Any]:
    if indices.dtype in (np.int32, np.int64) and indices.flags.aligned and indices.flags.c_contiguous:
        return indices
    if indices.dtype.kind not in "iu":
        raise ValueError(f"the {name} of a CSR matrix must be whole numbers, not {indices.dtype}")
    return _aligned(np.ascontiguousarray(indices, dtype=np.int64))


def _aligned(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return array if array.flags.aligned else array.copy()


_HINT = (
    "give categories in dicts or in a DataFrame, which make an indicator of each, or encode them (hinge.Features, or "
    "OneHotEncoder of scikit-learn)"
)


def _first_bad(X: npt.NDArray[Any], name: str) -> InputError:
    """Where the first value is that is not a number, and why it is not one."""
    for place, value in np.ndenumerate(X):
        why = _not_a_number(value, name)
        if why is not None:
            return InputTypeError(f"{name} must hold numbers: {why}", *place[:2])
    return InputTypeError(f"{name} must hold numbers, not texts ({X.dtype}): convert it (.astype(float))")


def _not_a_number(value: Any, name: str) -> str | None:
    try:
        float(value)
        return None
    except OverflowError:
        return f"{shown(value)} is larger than any float64"
    except (TypeError, ValueError, ArithmeticError, RecursionError) as error:
        if value is None:  # NumPy makes NaN of it
            return None
        if isinstance(value, (str, bytes)):
            value = value.item() if isinstance(value, np.generic) else value
            return f"{shown(value)} is not a number{'; ' + _HINT if name == 'X' else ''}"
        return f"{shown(value)}: {error}"
