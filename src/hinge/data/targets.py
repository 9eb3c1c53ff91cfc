"""What a task takes as the truth, as the core reads it: numbers, codes of labels, sets of labels, ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from .events import check_length
from .labels import plain
from .shown import shown

if TYPE_CHECKING:
    import numpy.typing as npt

    from .types import Indices


class Encoded(NamedTuple):
    """The targets of a batch. With `starts` they are the indices of labels: row i has starts[i] to starts[i+1]."""

    y: npt.NDArray[Any] | None
    classes: tuple[float, float] | None = None
    starts: Indices | None = None

    def part(self, rows: slice) -> Encoded:
        """The targets of some rows. (Sets keep all indices: their starts say which.)"""
        if self.starts is not None:
            return Encoded(self.y, None, self.starts[rows.start : rows.stop + 1])
        return Encoded(None if self.y is None else self.y[rows], self.classes)


def number(y: Any, name: str = "the target") -> float:
    try:
        if not isinstance(y, (str, bytes)):
            return float(y)
    except (TypeError, ValueError, ArithmeticError):
        pass
    raise ValueError(f"{name} must be a number, not {shown(y)}")


def one_set(y: Any) -> set[Any]:
    """The labels of one event."""
    if isinstance(y, (str, bytes, Mapping)) or not isinstance(y, Iterable):
        raise ValueError(f"y must be a set of labels (or a list of them), not {shown(y)}")
    check_length(y, "y")
    return {plain(label) for label in y}


def flat(value: Any) -> list[float]:
    """The numbers of a matrix, of a dict of dicts, or of a list of either."""
    if isinstance(value, Mapping):
        return [number for one in value.values() for number in flat(one)]
    if isinstance(value, (list, tuple)):
        return [number for one in value for number in flat(one)]
    import numpy as np

    return [float(number) for number in np.ravel(value)]
