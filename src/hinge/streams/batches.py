"""What every source of examples gives, whatever its format: batches of them, and an account of what is not readable.

A source is made with its options, and reads as many files as it is given, one after the other:

    source = JsonLines(label="topic", text="body")
    for batch in source.batches(Input("news.jsonl.gz"), BadLines()):
        ...

`source.settings` is what must be known to read the next file in the same way (as JSON): a model keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .._core import one_each
from .._numpy import Doubles, Indices, np, npt
from ..rows import Rows
from .files import Input, SourceError


class Numbers:
    """The labels of a text of numbers: those of example i are values[starts[i]:starts[i + 1]], none or several.

    They are given as arrays or as buffers. `single` is the buffer of the labels, if each example has one.
    """

    __slots__ = ("_starts", "_values", "single")

    def __init__(self, values: Any, starts: Any) -> None:
        self._values, self._starts = values, starts
        self.single = memoryview(values) if len(values) == len(starts) - 1 and one_each(starts) else None

    @property
    def values(self) -> Doubles:
        return np.asarray(self._values)

    @property
    def starts(self) -> Indices:
        return np.asarray(self._starts)

    def part(self, start: int, stop: int) -> Numbers:
        if self.single is not None:
            return Numbers(self.single[start:stop], self._starts[: stop - start + 1])
        starts = self.starts[start : stop + 1]
        return Numbers(self.values[starts[0] : starts[-1]], starts - starts[0])

    def __len__(self) -> int:
        return len(self._starts) - 1


@dataclass(slots=True)
class Batch:
    """Examples that follow each other in one file."""

    X: Rows | list[Any]  # columns without names; or a dict of named features each; or a sentence each
    labels: Numbers | list[Any]  # a string, a number, a boolean; a list of them: several; None: there is none
    lines: Sequence[int]  # where each begins (from 1; in files without lines, its number)
    weights: npt.NDArray[np.float64] | None = None  # None: all 1
    new_names: list[str] = field(
        default_factory=list
    )  # of columns of X that no batch had before, in their order
    position: int = 0  # in the file, in bytes (packed ones, if it is packed): how far it has been read
    unseen: npt.NDArray[np.float64] | None = None  # squares of features without a column; None: all have one
    numbered: bool = False  # whether the features have numbers, and no names
    first_index: int = 0  # the number of the first column

    def __len__(self) -> int:
        return len(self.lines)


class BadLines:
    """What could not be read: raised, or (`skip`) left out and counted, up to `most` of them."""

    def __init__(self, skip: bool = False, most: int = 1000) -> None:
        self.skip, self.most = skip, most
        self.count = 0
        self.first: list[SourceError] = []  # ten of them

    def meet(self, error: SourceError) -> None:
        """To be called where an example is left out because of `error`."""
        if not self.skip:
            raise error
        self.count += 1
        if len(self.first) < 10:
            self.first.append(error)
        if self.count > self.most:
            first = self.first[0]
            reason = (
                f"{first.reason} (the first of {self.count} that cannot be read; {self.most} may be skipped)"
            )
            raise SourceError(first.source, first.line, reason, first.column)


class Source(Protocol):
    """One format, with its options."""

    @property
    def settings(self) -> dict[str, Any]: ...

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        """The examples of one file, in bounded memory. An endless one gives them as they come."""
        ...
