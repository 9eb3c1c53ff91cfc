"""Arrays of labels: their codes, and which of them are new."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import InputError, in_row
from .labels import Labels, plain
from .shown import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from .types import Doubles, Indices

# The types of labels that the core reads as they are: numbers that fit into a float64, but for the halves.
_READ_IN_PLACE = "?bBhHiIlLqQfd"


def fresh(labels: Labels, y: npt.NDArray[Any], weights: Doubles | None) -> dict[Any, int]:
    """The labels that are new, each with the row where it comes first. Rows without weight teach none."""
    if labels.in_order is not None and _comparable(y, labels.in_order[0]):
        rows = np.flatnonzero(_places(labels, y) < 0)
    else:
        rows = np.arange(len(y))
    if y.dtype.kind != "O" and len(rows) > 0:  # only the first of each, and the first with weight
        weighs = np.ones(len(rows), dtype=bool) if weights is None else weights[rows] != 0
        rows = np.asarray(
            sorted({*rows[_firsts(y[rows])], *rows[weighs][_firsts(y[rows][weighs])]}), dtype=np.int64
        )
    met: dict[Any, int] = {}
    for row in rows.tolist():
        try:
            label = plain(y[row])
        except ValueError as error:
            raise in_row(error, row) from None
        if label not in labels.codes and label not in met and (weights is None or weights[row] != 0):
            met[label] = row
    return met


def encode(
    labels: Labels, y: npt.NDArray[Any], weights: Doubles | None
) -> tuple[npt.NDArray[Any], tuple[float, float] | None]:
    """Numbers with the two labels, which the core compares, or the codes. Unknown labels are rejected; with
    `weights`, those of rows without weight have any code."""
    if labels.as_numbers is not None and y.dtype.char in _READ_IN_PLACE:
        if not (y.dtype.isnative and y.flags.aligned):
            y = y.astype(y.dtype.newbyteorder("="))
        if weights is None or not fresh(labels, y, None):
            return y, labels.as_numbers
    return codes_of(labels, y, weights), None


def codes_of(labels: Labels, y: npt.NDArray[Any], weights: Doubles | None) -> Doubles:
    places = _places(labels, y)
    unknown = places < 0
    if weights is not None:
        unknown &= weights != 0
    if unknown.any():
        row = int(np.flatnonzero(unknown)[0])
        label = y.tolist()[row]
        if label != label:
            raise InputError("the label is NaN", row)
        raise InputError(f"the label {label!r} is not one of the classes {labels.listed()}", row)
    codes = np.maximum(places, 0).astype(np.float64)
    return codes if labels.lanes else 2 * codes - 1


def _places(labels: Labels, y: npt.NDArray[Any]) -> Indices:
    """The index of each label; -1 for one that is not known."""
    if labels.in_order is None or not _comparable(y, labels.in_order[0]):
        return np.asarray([_place(labels, label) for label in y.tolist()], dtype=np.int64)
    known, order = labels.in_order
    if len(known) == 2:
        at = (y >= known[1]).astype(np.int64)
    else:
        at = np.minimum(np.searchsorted(known, y), len(known) - 1)
    return np.where(known[at] == y, order[at], -1).astype(np.int64)


def _place(labels: Labels, label: Any) -> int:
    try:
        code = labels.codes.get(label)
    except TypeError:  # not even hashable
        return -1
    return -1 if code is None else int(code if labels.lanes else (code + 1) / 2)


def _comparable(y: npt.NDArray[Any], known: npt.NDArray[Any]) -> bool:
    if known.dtype.kind == "U":
        return y.dtype.kind == "U"
    return y.dtype.kind in "biu" or (y.dtype.kind == "f" and y.dtype.itemsize <= 8)


def _firsts(values: npt.NDArray[Any]) -> Indices:
    """Where each value comes first. (np.unique loads the masked arrays at its first call: 10 ms.)"""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    firsts: Indices = order[
        np.concatenate([np.ones(min(1, len(order)), dtype=bool), ordered[1:] != ordered[:-1]])
    ]
    return firsts


# ---- labels of estimators -------------------------------------------------------------------------------------


def check_kinds(y: npt.NDArray[Any], name: str = "y") -> None:
    """What is missing among labels, or is not a label, is rejected with its row; so are strings among numbers, which
    have no order."""
    if y.dtype.kind in "biufU":
        return
    where = "row" if name == "y" else name
    first: Any = None
    for row, label in enumerate(y.tolist() if y.dtype.kind == "O" else y):
        if label is None or label is np.nan or _is_missing(label):
            raise ValueError(f"{where} {row}: the label is {label!r}; leave out the rows that have none")
        try:
            label = plain(label)
        except ValueError as error:
            raise ValueError(f"{where} {row}: {error}") from None
        if row == 0:
            first = label
        elif isinstance(label, str) != isinstance(first, str):
            raise ValueError(
                f"{where} {row}: the label is {shown(label)}, and that of {where} 0 is {shown(first)}: strings and "
                "numbers have no order. Give labels of one kind, for example [str(label) for label in y] (`learn_one` "
                "and `learn_many` take both)"
            )


def _is_missing(label: Any) -> bool:
    """NaN, and what pandas has in its place."""
    return type(label).__name__ in ("NAType", "NaTType") or (isinstance(label, float) and label != label)


def as_labels(labels: Any) -> npt.NDArray[Any]:
    """Labels as an array that a file can keep: a longdouble is the float64 that `plain` makes of it."""
    array = in_array(labels) if isinstance(labels, (list, tuple)) else np.asarray(labels)
    return array.astype(np.float64) if array.dtype.char == "g" else array


def in_array(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """As `classes_`. Among strings numbers stay numbers: numpy would convert them to strings."""
    kinds = {isinstance(label, str) for label in labels}
    return np.asarray(labels, dtype=object if len(kinds) > 1 else None)
