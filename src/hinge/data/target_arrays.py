"""Targets as arrays: numbers, labels, sets of labels, and matrices for pairs of labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from . import sparse
from .errors import InputError, in_row
from .events import as_list, check_length, is_frame, is_sparse
from .labels import Labels, plain
from .rows import as_array, as_labels, as_numbers, as_values
from .targets import Encoded, one_set

if TYPE_CHECKING:
    import numpy.typing as npt

    from .types import Doubles, Indices


def check_count(y: Any, count: int) -> None:
    if len(y) != count:
        raise ValueError(f"y has {len(y)} entries for {count} rows")


def numbers(y: Any, count: int) -> Encoded:
    values = as_numbers(y, "y")
    check_count(values, count)
    return Encoded(values)


def labels_of(y: Any, count: int) -> npt.NDArray[Any]:
    labels = as_labels(y)
    check_count(labels, count)
    return labels


def class_list(classes: Any) -> list[Any]:
    """The labels that are given in advance, in their order."""
    known = as_labels(classes, "classes")
    check_length(known, "classes")
    try:
        return [plain(label) for label in known]
    except ValueError as error:
        raise ValueError(f"classes: {error}") from None


def example_weights(
    sample_weight: Any, class_weight: Mapping[Any, float] | None, y: Any, count: int
) -> Doubles | None:
    """The weight of each row, with that of its class; None: all are 1. Targets that are encoded have theirs already."""
    weights = None if sample_weight is None else as_numbers(sample_weight, "sample_weight")
    if weights is not None and len(weights) != count:
        raise ValueError(f"sample_weight has {len(weights)} entries for {count} rows")
    if class_weight is None or y is None or isinstance(y, Encoded):
        return weights
    labels, factors = labels_of(y, count), np.ones(count)
    for label, factor in class_weight.items():
        factors[labels == label] = factor
    return factors if weights is None else weights * factors


# ---- sets of labels -----------------------------------------------------------------------------------------

_MOST_LABELS = 2**24  # as of `max_labels`


class LabelSets:
    """The label sets of a batch: an indicator matrix (a column for each label), or a list of sets.

    Held as one list of labels, row after row: `places` are their places in `names`.
    """

    def __init__(self, y: Any, count: int, labels: Labels) -> None:
        if (
            is_sparse(y)
            or is_frame(y)
            or (isinstance(y, np.ndarray) and not (y.ndim == 1 and y.dtype == object))
        ):
            self._read_indicator(y, count, labels)
        else:
            self._read_sets(y, count)

    def fresh(self, labels: Labels, weights: Doubles | None, visits: Indices | None = None) -> dict[Any, int]:
        """The labels that are new, each with the visit (the row, if none are given) where it comes first. Rows
        without weight teach none."""
        unknown = np.asarray([name not in labels.codes for name in self.names], dtype=bool)
        count = len(self.starts) - 1
        if visits is None:
            visits = np.arange(count)
        if weights is not None:
            visits, at = visits[weights[visits] != 0], np.flatnonzero(weights[visits] != 0)
        else:
            at = np.arange(len(visits))
        if not unknown.any() or len(visits) == 0:
            return {}
        if (
            self._all_at_once and not labels.known
        ):  # the columns of an indicator are known from the first row on
            return dict.fromkeys(self.names, int(at[0]))
        first = np.full(count, -1)
        first[visits[::-1]] = at[::-1]
        rows = np.repeat(np.arange(count), np.diff(self.starts))
        taught = np.flatnonzero(unknown[self.places] & (first[rows] >= 0))
        taught = taught[np.argsort(first[rows[taught]], kind="stable")]
        met: dict[Any, int] = {}
        for place, visit in zip(self.places[taught].tolist(), first[rows[taught]].tolist(), strict=True):
            met.setdefault(self.names[place], visit)
        return met

    def encode(self, labels: Labels, weights: Doubles | None) -> Encoded:
        codes = np.asarray([labels.codes.get(name, -1) for name in self.names], dtype=np.int64)
        indices = codes[self.places]
        rows = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        unknown = indices < 0
        if weights is not None:
            unknown &= weights[rows] != 0
        if unknown.any():
            at = int(np.flatnonzero(unknown)[0])
            name = self.names[self.places[at]]
            raise InputError(f"the label {name!r} is not one of the labels {labels.listed()}", int(rows[at]))
        known = indices >= 0
        indices, rows = indices[known], rows[known]
        order = np.lexsort((indices, rows))
        starts = np.zeros(len(self.starts), dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=len(starts) - 1), out=starts[1:])
        return Encoded(indices[order], None, starts)

    def _read_sets(self, y: Any, count: int) -> None:
        self._all_at_once = False
        self.names: list[Any] = []
        place_of: dict[Any, int] = {}
        places, starts = [], [0]
        for row, its_labels in enumerate(as_list(y, "y", "of sets of labels, one per row", False)):
            try:
                # in a fixed order, though a set has none: new labels are learned in it
                for label in sorted(one_set(its_labels), key=lambda label: (str(type(label)), label)):
                    if label not in place_of:
                        place_of[label] = len(self.names)
                        self.names.append(label)
                    places.append(place_of[label])
            except ValueError as error:
                raise in_row(error, row) from None
            starts.append(len(places))
        check_count(starts[1:], count)
        self.places, self.starts = np.asarray(places, dtype=np.int64), np.asarray(starts, dtype=np.int64)

    def _read_indicator(self, y: Any, count: int, labels: Labels) -> None:
        self._all_at_once = True
        matrix = sparse.to_csr(y, "y") if is_sparse(y) else as_array(y, "y")
        if len(matrix.shape) != 2:
            raise ValueError(
                "y must be an indicator matrix (rows x labels) or a list of sets of labels, not an array of "
                f"{len(matrix.shape)} dimensions"
            )
        if matrix.shape[0] != count:
            raise ValueError(f"y has {matrix.shape[0]} entries for {count} rows")
        if matrix.shape[1] > _MOST_LABELS:
            raise ValueError(f"y has {matrix.shape[1]} columns, one per label; there may be {_MOST_LABELS}")
        names = list(y.columns) if is_frame(y) else labels.known or range(matrix.shape[1])
        self.names = [plain(name) for name in names]
        if len(set(self.names)) < len(self.names):
            raise ValueError(f"the columns of y must be different labels, not {self.names[:10]!r}")
        if matrix.shape[1] != len(self.names):
            raise ValueError(f"y has {matrix.shape[1]} columns for {len(self.names)} labels")
        if is_sparse(y):
            values = sparse.numeric(matrix, "y").data
        else:
            matrix = values = as_values(matrix, "y") if matrix.dtype.kind in "OMmV" else matrix
        odd = ~np.isin(values, (0, 1))
        if odd.any():
            raise ValueError(
                f"Unknown label type: an indicator matrix must hold 0 and 1 only, not {values[odd].ravel()[0]!r}"
            )
        rows, columns = (matrix != 0).nonzero()
        order = np.lexsort((columns, rows))
        self.places = np.asarray(columns, dtype=np.int64)[order]
        self.starts = np.zeros(count + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=count), out=self.starts[1:])


# ---- cost and nu ----------------------------------------------------------------------------------------------


def square_matrix(given: Any, labels: list[Any], name: str, missing: float) -> Doubles:
    """A matrix for pairs of labels: given as one, or as a dict of dicts (pairs left out have `missing`)."""
    if isinstance(given, Mapping):
        cells, entries = len(labels) ** 2, sum(len(row) for row in given.values())
        if cells > 2**24 + 100 * entries:  # a few words must not ask for all memory
            raise ValueError(
                f"{name} has {entries} entries for {len(labels)} labels, whose matrix has {cells}: give at least one "
                f"in a hundred, or {name} as a matrix"
            )
        matrix = np.full((len(labels), len(labels)), missing)
        place = {label: i for i, label in enumerate(labels)}
        for row, entries in given.items():
            for column, value in entries.items():
                for label in (row, column):
                    if label not in place:
                        raise ValueError(
                            f"{name} names {label!r}, which is not one of the labels {labels[:10]!r}"
                        )
                matrix[place[row], place[column]] = value
        np.fill_diagonal(matrix, [given.get(label, {}).get(label, 0.0) for label in labels])
    else:
        matrix = np.array(given, dtype=np.float64)
    if matrix.shape != (len(labels), len(labels)):
        raise ValueError(
            f"{name} must have a row and a column for each of the {len(labels)} labels, not {matrix.shape}"
        )
    return matrix
