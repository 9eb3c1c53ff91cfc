"""Text files of any size, batch by batch: read natively, in bounded memory, ahead of whoever learns from them."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Any, TypeVar

import numpy as np
import numpy.typing as npt

from .._core import SvmlightReader
from .files import SourceError, damage, name_of, open_bytes

Source = str | os.PathLike[str] | IO[bytes] | Iterable[bytes]


class BadLine(Exception):
    """What the core says of a line; it is told as a `SourceError`, with the name of the file."""

    def __init__(self, line: int, column: int, reason: str) -> None:
        super().__init__(line, column, reason)
        self.line, self.column, self.reason = line, column, reason


@dataclass(frozen=True)
class TextBatch:
    """Rows of a text: a CSR matrix, and the labels of each row."""

    X: Any
    labels: npt.NDArray[np.float64]  # of all rows, one after the other
    label_starts: npt.NDArray[np.int64]  # those of row i: from label_starts[i] to [i + 1]
    last_line: int  # of the file, so far
    skipped: int  # lines that could not be read, so far

    @property
    def y(self) -> npt.NDArray[np.float64]:
        """The label of each row, if each has one."""
        counts = np.diff(self.label_starts)
        if (counts != 1).any():
            row = int(np.flatnonzero(counts != 1)[0])
            raise ValueError(
                f"row {row} of the batch that ends at line {self.last_line} has {counts[row]} labels: use label_sets"
            )
        return self.labels

    @property
    def label_sets(self) -> list[list[float]]:
        """The labels of each row, none or several."""
        parts = np.split(self.labels, self.label_starts[1:-1])
        return [part.tolist() for part in parts] if len(self.label_starts) > 1 else []


def read_svmlight(
    source: Source,
    *,
    n_features: int,
    zero_based: bool = False,
    on_error: str = "raise",
    max_skipped: int = 1000,
    max_line: int = 2**24,
    batch_bytes: int = 2**20,
    ahead: int = 4,
) -> Iterator[TextBatch]:
    """Yields batches of a file in svmlight's format: `label index:value ...`, with `qid` and comments passed over.

    `source` is a path (.gz, .bz2, .xz and .zst are unpacked; "-" is the standard input), a binary file, or an iterable
    of bytes. Every batch is a CSR matrix with `n_features` columns; an index beyond is an error. Indices count from 1,
    unless `zero_based`. Lines that cannot be read raise a `SourceError` that says which, where and why; with
    on_error="skip" up to `max_skipped` of them are left out, and counted. A thread reads `ahead` batches while you
    learn (0: none does), so memory is bounded whatever the size of the file.

    >>> from hinge import PAClassifier
    >>> from hinge.streams import read_svmlight
    >>> lines = [b"+1 1:0.5 3:2 # a comment\\n", b"-1 2:1\\n", b"+1 3:1.5\\n"]
    >>> model = PAClassifier()
    >>> for batch in read_svmlight(lines, n_features=3):
    ...     model = model.partial_fit(batch.X, batch.y, classes=[-1, 1])
    >>> model.stats_.rounds
    3
    """
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error must be 'raise' or 'skip', not {on_error!r}")
    if not 1 <= n_features < 2**31:
        raise ValueError(f"n_features must be a whole number from 1 to 2^31 - 1, not {n_features!r}")
    reader = SvmlightReader(
        first=0 if zero_based else 1, max_features=n_features, max_line=max_line, skip=on_error == "skip"
    )
    batches = _svmlight_batches(source, reader, n_features, max_skipped, batch_bytes)
    return read_ahead(batches, ahead) if ahead else batches


def _svmlight_batches(
    source: Source, reader: SvmlightReader, width: int, max_skipped: int, batch_bytes: int
) -> Iterator[TextBatch]:
    from scipy.sparse import csr_array

    name = name_of(source)

    def batch(read: Any) -> TextBatch:
        values, columns, starts, _, labels, label_starts = read
        X = csr_array((len(starts) - 1, width), dtype=np.float64)
        X.data, X.indices, X.indptr = values, columns, starts  # as they are: scipy would check and copy them
        return TextBatch(X, labels, label_starts, reader.lines, reader.skipped)

    def checked() -> None:
        if reader.skipped > max_skipped:
            line, column, reason = reader.bad_lines[0]
            raise SourceError(
                name,
                line,
                f"{reason} (and more: {reader.skipped} lines cannot be read, {max_skipped} may be skipped)",
                column,
            )

    with ExitStack() as stack:
        try:
            for piece in _pieces(source, stack, batch_bytes):
                read: Any = reader.read(piece)
                checked()
                if len(read[2]) > 1:
                    yield batch(read)
            read = reader.finish()
            checked()
            if len(read[2]) > 1:
                yield batch(read)
        except BadLine as bad:
            raise SourceError(name, bad.line, bad.reason, bad.column) from None
        except damage() as error:
            raise SourceError(
                name, reader.lines + 1, f"the compressed file is damaged or cut off: {error}"
            ) from None
        except OSError as error:
            if error.errno is not None:  # the disk, the network, ...
                raise
            raise SourceError(name, reader.lines + 1, f"the compressed file is damaged: {error}") from None


def _pieces(source: Source, stack: ExitStack, size: int) -> Iterator[bytes]:
    if isinstance(source, (bytes, bytearray)):
        raise TypeError("source must be a path, a binary file or an iterable of bytes, not bytes")
    stream: Any = open_bytes(source, stack) if isinstance(source, (str, os.PathLike)) else source
    read = getattr(stream, "read1", None) or getattr(stream, "read", None)
    pieces = iter(lambda: read(size), b"") if read is not None else iter(stream)
    for piece in pieces:
        if not isinstance(piece, bytes):
            raise TypeError(f"the source must give bytes, not {type(piece).__name__}: open files with 'rb'")
        yield piece


# ---- ahead ------------------------------------------------------------------------------------------------------

_Item = TypeVar("_Item")
_END = object()


def read_ahead(items: Iterator[_Item], ahead: int) -> Iterator[_Item]:
    """The same items, made by a thread that is at most `ahead` of them in front. Closing it ends the thread."""
    waiting: queue.Queue[Any] = queue.Queue(ahead)
    stop = threading.Event()

    def put(item: Any) -> bool:
        while not stop.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
        except BaseException as error:
            put((_END, error))
        else:
            put((_END, None))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    thread = threading.Thread(target=work, name="hinge reads ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error = waiting.get()
            if item is _END:
                if error is not None:
                    raise error
                return
            yield item
    finally:
        stop.set()
        thread.join()
