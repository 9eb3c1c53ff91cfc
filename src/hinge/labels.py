"""Class labels of any kind, and the signs -1 and +1 that stand for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt


def plain(label: Any) -> Any:
    """A label as a plain Python value. Only values that a model file can keep are labels."""
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, str):
        return str(label)
    if isinstance(label, (bool, int)) or (isinstance(label, float) and label == label):
        return label
    raise ValueError(f"a label must be a string, a boolean or a number, not {label!r}")


class Labels:
    """At most two labels. The first one is the negative class; one label alone counts as negative."""

    def __init__(self, labels: Iterable[Any] = ()) -> None:
        self.known: list[Any] = []
        self.signs: dict[Any, float] = {}
        self.set([plain(label) for label in labels])

    def set(self, labels: list[Any]) -> None:
        if len(labels) > 2 or len(set(labels)) < len(labels):
            raise ValueError(f"there must be two different classes, not {len(labels)}: {labels[:10]!r}")
        self.known = labels
        self.signs = dict(zip(labels, (-1.0, 1.0), strict=False))
        # The core compares numbers itself; float64 keeps whole numbers apart up to 2^53 only.
        self._as_numbers: npt.NDArray[np.float64] | None = None
        if len(labels) == 2 and all(not isinstance(label, str) and abs(label) <= 2**53 for label in labels):
            self._as_numbers = np.asarray(labels, dtype=np.float64)

    def of(self, score: float) -> Any:
        """The label that a score stands for; a score of 0 is the first class."""
        if len(self.known) == 2:
            return self.known[1] if score > 0 else self.known[0]
        return self.known[0] if self.known else None

    def encode(self, y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64] | None]:
        """What the core takes: numbers with the two labels, or signs."""
        if self._as_numbers is not None and y.dtype.kind in "biuf":
            return y, self._as_numbers
        signs = np.zeros(y.shape, dtype=np.float64)
        for label, sign in self.signs.items():
            signs[y == label] = sign
        if not signs.all():
            row = int(np.flatnonzero(signs == 0)[0])
            known = " and ".join(repr(label) for label in self.known)
            raise ValueError(f"row {row}: the label {y[row]!r} is not one of the classes {known}")
        return signs, None


def in_order(labels: list[Any]) -> list[Any]:
    """Sorted where they can be; as they came where not (strings among numbers)."""
    try:
        return sorted(labels)
    except TypeError:
        return labels
