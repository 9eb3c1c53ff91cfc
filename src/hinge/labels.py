"""Class labels of any kind, and the signs -1 and +1 that stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Doubles = npt.NDArray[np.float64]

# The types of labels that the core reads as they are: numbers that fit into a float64, but for the halves.
_READ_IN_PLACE = "?bBhHiIlLqQfd"


def plain(label: Any) -> Any:
    """A label as a plain Python value. Only values that a model file can keep are labels."""
    if isinstance(label, np.generic):
        label = float(label) if isinstance(label, np.longdouble) else label.item()
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (bool, int)) or (isinstance(label, float) and label == label):
        return label
    raise ValueError(f"a label must be a string, a boolean or a number, not {label!r}")


class Labels:
    """At most two labels. The first one is the negative class; one label alone counts as negative."""

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        known = [plain(label) for label in labels]
        if len(known) > 2 or len(set(known)) < len(known):
            raise ValueError(f"there must be two different classes, not {len(known)}: {known[:10]!r}")
        self.known: list[Any] = known
        self.signs: dict[Any, float] = dict(zip(known, (-1.0, 1.0), strict=False))
        # The core compares numbers itself; float64 keeps whole numbers apart below 2^53 only.
        self._as_numbers: Doubles | None = None
        if len(known) == 2 and all(not isinstance(label, str) and abs(label) < 2**53 for label in known):
            self._as_numbers = np.asarray(known, dtype=np.float64)

    def of(self, score: float) -> Any:
        """The label that a score stands for; a score of 0 is the first class."""
        if len(self.known) == 2:
            return self.known[1] if score > 0 else self.known[0]
        return self.known[0] if self.known else None

    def sign(self, label: Any) -> float | None:
        try:
            return self.signs.get(label)
        except TypeError:
            raise ValueError(f"a label must be a string, a boolean or a number, not {label!r}") from None

    # ---- new ones -----------------------------------------------------------------------------------------

    def with_new(self, fresh: list[Any]) -> Labels:
        """These and new ones, in order: sorted where they can be, as they came where not."""
        if len(self.known) == 2:
            first, second = self.known
            raise ValueError(f"the label {fresh[0]!r} is not one of the two classes {first!r} and {second!r}")
        labels = [*self.known, *fresh]
        if len(labels) == 1 and isinstance(labels[0], bool):
            labels = [False, True]  # of a boolean the other one is known
        try:
            return Labels(sorted(labels))
        except TypeError:  # strings among numbers
            return Labels(labels)

    def flips(self, labels: Labels) -> bool:
        """Whether a label that is alone here, and so the negative class, is the positive one there."""
        return len(self.known) == 1 and labels.known.index(self.known[0]) == 1

    # ---- many ---------------------------------------------------------------------------------------------

    def targets(
        self, y: npt.NDArray[Any], weights: Doubles | None
    ) -> tuple[npt.NDArray[Any], Doubles | None, Labels | None]:
        """What the core takes, numbers with the two labels, or signs; and the labels to come, if any are new.

        The signs are those of the labels as they are now. Labels of rows without weight are not learned.
        """
        if len(self.known) == 2:
            return *self.encode(y), None
        fresh = _met(y) - set(self.known)
        if weights is not None:
            fresh &= _met(y[weights != 0])
        labels = self.with_new(sorted(fresh, key=repr)) if fresh else None
        signs = (labels or self).signs_of(y, weights)
        return (-signs if labels is not None and self.flips(labels) else signs), None, labels

    def encode(self, y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Doubles | None]:
        """Numbers with the two labels, which the core compares, or signs."""
        if self._as_numbers is None or y.dtype.char not in _READ_IN_PLACE:
            return self.signs_of(y), None
        if not (y.dtype.isnative and y.flags.aligned):
            y = y.astype(y.dtype.newbyteorder("="))
        return y, self._as_numbers

    def signs_of(self, y: npt.NDArray[Any], weights: Doubles | None = None) -> Doubles:
        """-1 or +1 for each label; 0 for one that is not known yet, in a row without weight."""
        if y.dtype.kind == "O":
            signs = np.asarray([self._sign_or_0(label) for label in y.tolist()], dtype=np.float64)
        else:
            signs = np.zeros(y.shape, dtype=np.float64)
            for label, sign in self.signs.items():
                signs[y == label] = sign
        unknown = signs == 0
        if weights is not None and len(self.known) < 2:
            unknown &= weights != 0
        if unknown.any():
            row = int(np.flatnonzero(unknown)[0])
            known = " and ".join(repr(label) for label in self.known)
            raise ValueError(f"row {row}: the label {y.tolist()[row]!r} is not one of the classes {known}")
        return signs

    def _sign_or_0(self, label: Any) -> float:
        try:
            return self.signs.get(label, 0.0)
        except TypeError:  # not even hashable
            return 0.0


def _met(y: npt.NDArray[Any]) -> set[Any]:
    try:
        return {plain(label) for label in (y.tolist() if y.dtype.kind == "O" else np.unique(y).tolist())}
    except ValueError:
        for row, label in enumerate(y.tolist()):  # which row was it?
            try:
                plain(label)
            except ValueError as error:
                raise ValueError(f"row {row}: {error}") from None
        raise
