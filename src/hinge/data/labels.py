"""Labels of any kind, and the numbers that stand for them in the core: signs for two classes, else indices."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from typing import Any

from .._numpy import Doubles as Doubles
from .._numpy import Indices as Indices
from .._numpy import np, npt
from .errors import InputError, in_row
from .shown import shown

# The types of labels that the core reads as they are: numbers that fit into a float64, but for the halves.
_READ_IN_PLACE = "?bBhHiIlLqQfd"


def plain(label: Any) -> Any:
    """A label as a plain Python value. Only values that a model file can keep are labels."""
    if type(label) not in (str, bool, int, float) and isinstance(label, np.generic):
        label = float(label) if isinstance(label, np.longdouble) else label.item()
    if isinstance(label, str):
        return str.__str__(label)  # not what a subclass, such as an enumeration of strings, shows itself as
    if isinstance(label, (bool, int)) and not -(2**63) <= label < 2**63:
        raise ValueError("a label that is a whole number must fit into 64 bits")
    if isinstance(label, (bool, int)) or (isinstance(label, float) and label == label):
        return label
    raise ValueError(f"a label must be a string, a boolean or a number, not {shown(label)}")


class Labels:
    """The labels of a learner, in order. Two classes have one w (unless `lanes`): the first one is negative.

    One label alone counts as negative; the second one may sort before it. Later ones follow as they come.
    """

    def __init__(self, labels: Iterable[Any] = (), lanes: bool = False) -> None:
        known = [plain(label) for label in labels]
        if len(set(known)) < len(known):
            raise ValueError(f"the labels must be different, not {known[:10]!r}")
        self.known: list[Any] = known
        self.lanes = lanes or len(known) > 2
        # What stands for each label in the core.
        self.codes: dict[Any, float] = {
            label: float(i if self.lanes else 2 * i - 1) for i, label in enumerate(known)
        }
        self._small, self._strings = (
            all(map(_is_small, known)),
            all(isinstance(label, str) for label in known),
        )
        self.as_numbers: tuple[float, float] | None = (
            (float(known[0]), float(known[1])) if self._small and len(known) == 2 and not self.lanes else None
        )

    def _followed_by(self, fresh: Iterable[Any]) -> Labels:
        """These, each with its lane, and others behind them. What is known of these is not looked at again: labels that
        come one by one would cost the square of their number."""
        added = [plain(label) for label in fresh]
        grown = Labels.__new__(Labels)
        grown.known = [*self.known, *added]
        grown.lanes, grown.as_numbers = True, None
        grown.codes = self.codes.copy()
        grown.codes.update(zip(added, map(float, range(len(self.known), len(grown.known))), strict=True))
        if len(grown.codes) < len(grown.known):
            raise ValueError(f"the labels must be different, not {added[:10]!r}")
        grown._small = self._small and all(map(_is_small, added))
        grown._strings = self._strings and all(isinstance(label, str) for label in added)
        return grown

    def __sizeof__(self) -> int:
        """In bytes, with the labels themselves."""
        held = sys.getsizeof(self.known) + sys.getsizeof(self.codes)
        return object.__sizeof__(self) + held + sum(map(sys.getsizeof, self.known))

    @cached_property
    def _sorted(self) -> tuple[npt.NDArray[Any], npt.NDArray[np.intp]] | None:
        """The labels in their order, and their places; None if they have none."""
        if not self.known or not (self._small or self._strings):
            return None
        array = np.asarray(self.known, dtype="f8" if self._small else "U")
        order = np.argsort(array, kind="stable")
        return array[order], order

    def of(self, score: float) -> Any:
        """Two classes: the label that a score stands for; a score of 0 is the first class."""
        if len(self.known) == 2:
            return self.known[1] if score > 0 else self.known[0]
        return self.known[0] if self.known else None

    def code(self, label: Any) -> float | None:
        try:
            return self.codes.get(label)
        except TypeError:
            raise ValueError(f"a label must be a string, a boolean or a number, not {shown(label)}") from None

    def listed(self, most: int = 10) -> str:
        shown = [repr(label) for label in self.known[:most]]
        if len(self.known) > most:
            return f"{', '.join(shown)}, ... ({len(self.known)} in all)"
        return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)

    # ---- new ones -----------------------------------------------------------------------------------------

    def with_new(self, fresh: Sequence[Any]) -> Labels:
        """These and new ones. The first two in order, sorted where they can be (booleans know both)."""
        if self.lanes:
            return self._followed_by(fresh)
        if len(self.known) >= 2:
            return Labels([*self.known, *fresh])
        first, rest = fresh[: 2 - len(self.known)], fresh[2 - len(self.known) :]
        known = [*self.known, *first]
        if len(known) == 1 and isinstance(known[0], bool):
            known = [False, True]
        with contextlib.suppress(TypeError):  # strings among numbers: as they came
            known.sort()
        return Labels([*known, *(label for label in rest if label not in known)])

    def flips(self, labels: Labels) -> bool:
        """Whether a label that is alone here, and so the negative class, is the positive one there."""
        return not self.lanes and len(self.known) == 1 and labels.known.index(self.known[0]) == 1

    def fresh(self, y: npt.NDArray[Any], weights: Doubles | None) -> dict[Any, int]:
        """The labels that are new, each with the row where it comes first. Rows without weight teach none."""
        if self._sorted is not None and _comparable(y, self._sorted[0]):
            rows = np.flatnonzero(self._places(y) < 0)
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
            if label not in self.codes and label not in met and (weights is None or weights[row] != 0):
                met[label] = row
        return met

    # ---- many ---------------------------------------------------------------------------------------------

    def encode(
        self, y: npt.NDArray[Any], weights: Doubles | None
    ) -> tuple[npt.NDArray[Any], tuple[float, float] | None]:
        """Numbers with the two labels, which the core compares, or the codes. Unknown labels are refused; with
        `weights`, in rows without weight, they count as any."""
        if self.as_numbers is not None and y.dtype.char in _READ_IN_PLACE:
            if not (y.dtype.isnative and y.flags.aligned):
                y = y.astype(y.dtype.newbyteorder("="))
            if weights is None or not self.fresh(y, None):
                return y, self.as_numbers
        return self.codes_of(y, weights), None

    def codes_of(self, y: npt.NDArray[Any], weights: Doubles | None) -> Doubles:
        places = self._places(y)
        unknown = places < 0
        if weights is not None:
            unknown &= weights != 0
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            raise InputError(f"the label {y.tolist()[row]!r} is not one of the classes {self.listed()}", row)
        codes = np.maximum(places, 0).astype(np.float64)
        return codes if self.lanes else 2 * codes - 1

    def _places(self, y: npt.NDArray[Any]) -> Indices:
        """The index of each label; -1 for one that is not known."""
        if self._sorted is None or not _comparable(y, self._sorted[0]):
            return np.asarray([self._place(label) for label in y.tolist()], dtype=np.int64)
        known, order = self._sorted
        if len(known) == 2:
            at = (y >= known[1]).astype(np.int64)
        else:
            at = np.minimum(np.searchsorted(known, y), len(known) - 1)
        return np.where(known[at] == y, order[at], -1).astype(np.int64)

    def _place(self, label: Any) -> int:
        try:
            code = self.codes.get(label)
        except TypeError:  # not even hashable
            return -1
        return -1 if code is None else int(code if self.lanes else (code + 1) / 2)


def _is_small(label: Any) -> bool:
    """A number that the core compares itself: float64 keeps whole numbers apart below 2^53 only."""
    return not isinstance(label, str) and abs(label) < 2**53


def _comparable(y: npt.NDArray[Any], known: npt.NDArray[Any]) -> bool:
    if known.dtype.kind == "U":
        return y.dtype.kind == "U"
    return y.dtype.kind in "biu" or (y.dtype.kind == "f" and y.dtype.itemsize <= 8)


def _firsts(values: npt.NDArray[Any]) -> Indices:
    """Where each value comes first. (As np.unique tells, which loads the masked arrays, 10 ms, at its first call.)"""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    firsts: Indices = order[
        np.concatenate([np.ones(min(1, len(order)), dtype=bool), ordered[1:] != ordered[:-1]])
    ]
    return firsts


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


def in_order(labels: Collection[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:  # strings among numbers
        return sorted(labels, key=lambda label: (str(type(label)), label))


def as_labels(labels: Any) -> npt.NDArray[Any]:
    """Labels as an array that a file can keep: a longdouble is the float64 that `plain` makes of it."""
    array = in_array(labels) if isinstance(labels, (list, tuple)) else np.asarray(labels)
    return array.astype(np.float64) if array.dtype.char == "g" else array


def in_array(labels: Sequence[Any]) -> npt.NDArray[Any]:
    """As `classes_`. Strings beside numbers stay what they are: numpy would make strings of all of them."""
    kinds = {isinstance(label, str) for label in labels}
    return np.asarray(labels, dtype=object if len(kinds) > 1 else None)
