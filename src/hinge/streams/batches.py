"""What every source of examples gives, whatever its format: batches of them, and an account of what is not readable.

A source is made with its options, and reads as many files as it is given, one after the other:

    source = JsonLines(label="topic", text="body")
    for batch in source.batches(Input("news.jsonl.gz"), BadLines()):
        ...

`source.settings` is what must be known to read the next file in the same way (as JSON): a model keeps it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from .._core import one_each
from .._numpy import Doubles, Indices, np, npt
from ..data.errors import InputError
from ..data.rows import Rows, TextRows
from .files import Input


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
    """What could not be read: it ends the reading, or (`skip`) is left out and counted, up to `most` of them.

    A reader calls `meet` for each, in any order within a batch, and gives its batches through `up_to_the_end`: the
    examples before the line that ends the reading, then the error. The learner calls `refuse`.
    """

    def __init__(self, skip: bool = False, most: int = 1000) -> None:
        self.skip, self.most = skip, most
        self.count = 0
        self.first: list[InputError] = []  # ten of them
        self.end: InputError | None = None  # what ended the reading,
        self.last_line = 0  # and the line where it did

    def meet(self, error: InputError) -> None:
        """To be called where an example is left out because of `error`."""
        end = self.refuse(error)
        if end is not None and (self.end is None or error.line < self.last_line):
            self.end, self.last_line = end, error.line

    def refuse(self, error: InputError) -> InputError | None:
        """Counts an example that is left out; returns an error if it may not be."""
        if not self.skip:
            return error
        self.count += 1
        if len(self.first) < 10:
            self.first.append(error)
        if self.count <= self.most:
            return None
        first = self.first[0]
        reason = f"{first.reason} (the first of {self.count} that cannot be read; {self.most} may be skipped)"
        return InputError(reason, column=first.column, file=first.file, line=first.line)

    def up_to_the_end(self, batch: Batch | None) -> Iterator[Any]:
        """The batch, if there is something in it; if reading has ended, the examples before that, and the error."""
        if batch is not None and self.end is not None:
            batch = part(batch, 0, bisect_left(batch.lines, self.last_line))
        if batch is not None and len(batch):
            yield batch
        self.check()

    def check(self) -> None:
        """Raises what ended the reading, if something did."""
        if self.end is not None:
            raise self.end


class Source(Protocol):
    """One format, with its options."""

    @property
    def settings(self) -> dict[str, Any]: ...

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        """The examples of one file, in bounded memory. An endless one gives them as they come."""
        ...


# ---- parts of a batch -------------------------------------------------------------------------------------------


def part(batch: Batch, start: int, stop: int) -> Batch:
    """The examples from `start` to `stop`; all of it is the batch itself."""
    if start == 0 and stop >= len(batch):
        return batch
    labels: Numbers | list[Any]
    if isinstance(batch.labels, Numbers):
        labels = batch.labels.part(start, stop)
    else:
        labels = batch.labels[start:stop]
    X: Rows | list[Any]
    if isinstance(batch.X, TextRows):
        X = batch.X.part(start, stop)
    elif isinstance(batch.X, Rows):
        values, columns, starts, width = batch.X.arrays
        starts = starts[start : stop + 1]
        X = Rows(values[starts[0] : starts[-1]], columns[starts[0] : starts[-1]], starts - starts[0], width)
    else:
        X = batch.X[start:stop]
    weights = None if batch.weights is None else batch.weights[start:stop]
    unseen = None if batch.unseen is None else batch.unseen[start:stop]
    return replace(batch, X=X, labels=labels, lines=batch.lines[start:stop], weights=weights, unseen=unseen)


def taken(batch: Batch, rows: Any) -> Batch:
    """Some examples of a batch, in this order."""
    labels: Numbers | list[Any]
    if isinstance(batch.labels, Numbers):
        places, starts = _places(batch.labels.starts, rows)
        labels = Numbers(batch.labels.values[places], starts)
    else:
        labels = [batch.labels[row] for row in rows]
    X: Rows | list[Any]
    if isinstance(batch.X, Rows):
        values, columns, starts, width = batch.X.arrays
        places, starts = _places(starts, rows)
        X = Rows(values[places], columns[places], starts, width)
    else:
        X = [batch.X[row] for row in rows]
    weights = None if batch.weights is None else batch.weights[rows]
    unseen = None if batch.unseen is None else batch.unseen[rows]
    lines = [batch.lines[row] for row in rows]
    return replace(batch, X=X, labels=labels, lines=lines, weights=weights, unseen=unseen)


def _places(starts: Any, rows: Any) -> tuple[Any, Any]:
    """Where the values of some rows are, and where each row begins among them."""
    lengths = starts[rows + 1] - starts[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(ends[-1]) + np.repeat(starts[rows] - ends[:-1], lengths)
    return places, ends
