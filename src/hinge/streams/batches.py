"""What every source yields, whatever its format: batches of examples, and an account of what is invalid.

A source is made with its options, and reads as many files as it is given, one after the other:

    source = JsonLines(label="topic", text="body")
    for batch in source.batches(Input("news.jsonl.gz"), BadLines()):
        ...

`source.settings` (JSON) is what is needed to read the next file in the same way. It is saved with the model.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, cast

from .._core import EventPart, TextPart
from ..data.errors import InputError
from .files import Input

if TYPE_CHECKING:
    from ..data.rows import Rows
    from ..data.types import Doubles


@dataclass(slots=True)
class Batch:
    """Consecutive examples of one file."""

    X: (
        TextPart | EventPart | list[Any]
    )  # rows of a text; or a dict of named features each; or a sentence each
    labels: (
        list[Any] | None
    )  # each a string, a number, a boolean, None or a list of labels; None: those of the text
    lines: Sequence[int]  # where each begins (from 1; in files without lines, its number)
    weights: Doubles | None = None  # None: all 1
    position: int = 0  # how far the file has been read, in bytes (compressed ones, if it is compressed)
    numbered: bool = False  # whether the features have numbers instead of names
    first_index: int = 0  # the number of the first column
    keys: list[Any] | None = None  # those of a fleet, strings or whole numbers; None: nobody asked for them

    def __len__(self) -> int:
        return len(self.lines)


def with_text(batch: Batch, text: TextPart) -> Batch:
    """The batch with these rows of a text."""
    return replace(batch, X=text, lines=text.lines, weights=text.weights)


class BadLines:
    """Invalid examples: the first one ends the reading, or (`skip`) up to `most` of them are left out and counted.

    A reader calls `meet` for each, in any order within a batch, and yields its batches through `up_to_the_end`: the
    examples before the line that ends the reading, then the error. The learner calls `reject`.
    """

    def __init__(self, skip: bool = False, most: int = 1000) -> None:
        self.skip, self.most = skip, most
        self.count = 0
        self.first: list[InputError] = []  # ten of them
        self.end: InputError | None = None  # what ended the reading,
        self.last_line = 0  # and the line where it did

    def meet(self, error: InputError) -> None:
        """Records that an example is left out because of `error`."""
        end = self.reject(error)
        if end is not None:
            self._end_at(end, error.line)

    def reject(self, error: InputError) -> InputError | None:
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

    def stop(self, error: InputError) -> None:
        """Ends the reading because of a line that cannot be skipped."""
        self._end_at(error, error.line)

    def _end_at(self, error: InputError, line: int) -> None:
        if self.end is None or line < self.last_line:
            self.end, self.last_line = error, line

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
    if isinstance(batch.X, TextPart):
        return with_text(batch, batch.X.part(start, min(stop, len(batch))))
    labels = None if batch.labels is None else batch.labels[start:stop]
    weights = None if batch.weights is None else batch.weights[start:stop]
    keys = None if batch.keys is None else batch.keys[start:stop]
    return replace(
        batch, X=batch.X[start:stop], labels=labels, lines=batch.lines[start:stop], weights=weights, keys=keys
    )


def taken(batch: Batch, rows: list[int]) -> Batch:
    """Some examples of a batch, in this order."""
    if isinstance(batch.X, TextPart):
        return with_text(batch, batch.X.taken(rows))
    X = batch.X.taken(rows) if isinstance(batch.X, EventPart) else [batch.X[row] for row in rows]
    labels = None if batch.labels is None else [batch.labels[row] for row in rows]
    weights = None if batch.weights is None else batch.weights[rows]
    lines = [batch.lines[row] for row in rows]
    keys = None if batch.keys is None else [batch.keys[row] for row in rows]
    return replace(batch, X=X, labels=labels, lines=lines, weights=weights, keys=keys)


def joined(batches: list[Batch]) -> Batch:
    """The examples of several batches."""
    if not batches:
        return Batch([], [], [])
    if isinstance(batches[0].X, TextPart):
        return with_text(batches[0], TextPart.joined([cast(TextPart, batch.X) for batch in batches]))
    weights = None
    if any(batch.weights is not None for batch in batches):
        import numpy as np

        weights = np.concatenate(
            [np.ones(len(batch)) if batch.weights is None else batch.weights for batch in batches]
        )
    return replace(
        batches[0],
        X=_all_events([batch.X for batch in batches]),
        labels=[label for batch in batches for label in batch.labels or []],
        lines=[line for batch in batches for line in batch.lines],
        weights=weights,
        keys=None if batches[0].keys is None else [key for batch in batches for key in batch.keys or []],
    )


def _all_events(parts: list[Any]) -> Any:
    if all(isinstance(part, EventPart) for part in parts):
        return EventPart.joined(parts)
    return [x for part in parts for x in part]


# ---- labels -------------------------------------------------------------------------------------------------------


def listed_labels(batch: Batch) -> list[Any]:
    """A label per example, or a list of labels (none or several)."""
    if batch.labels is not None:
        return batch.labels
    return batch.X.label_list() if isinstance(batch.X, TextPart) else []


def has_one_label_each(batch: Batch) -> bool:
    """Whether the batch is of a text in which each row has one label."""
    return isinstance(batch.X, TextPart) and batch.X.one_label_each


def has_label(batch: Batch) -> bool:
    """Whether some example has a label."""
    if isinstance(batch.X, TextPart):
        return len(batch.X.labels) > 0
    return any(label is not None and label != [] for label in batch.labels or ())


# ---- rows of a text as arrays -------------------------------------------------------------------------------------


def rows_of_text(text: TextPart, width: int | None = None) -> Rows:
    """`width`: without the columns from there on, which a model has never seen."""
    from ..data.rows import Rows

    return Rows(*(text if width is None else text.narrowed(width)).csr())
