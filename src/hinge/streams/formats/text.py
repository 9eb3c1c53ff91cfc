"""Text files of any size, batch by batch: read natively, in bounded memory, by a thread ahead of the learner.

`Svmlight` and `VowpalText` are sources (batches.py); `read_svmlight` yields matrices of scipy, for custom loops.
"""

from __future__ import annotations

import atexit
import io
import os
import queue
import select
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any, TypeVar

from ..._core import JsonTextReader, SvmlightReader, VowpalTextReader
from ...data.errors import InputError
from ...features.words import two_names
from ..batches import BadLines, Batch
from ..files import Again, Input, damage_told, name_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Source = str | os.PathLike[str] | IO[bytes] | Iterable[bytes]

MOMENT = 2  # milliseconds that a batch waits for more from a pipe before it ends
PIECE = 2**16  # bytes that are read and parsed together: they stay in the cache of a core
BATCH = 2**20  # bytes of text that make a batch, if so many are there
_MOST_FEATURES = 2**31 - 1
ALL = "all"  # interactions


# ---- sources ----------------------------------------------------------------------------------------------------


class Svmlight:
    """svmlight's format: `label index:value ...`, with `qid` and comments passed over.

    A line may have no label, or several with commas. Indices count from 1, unless `zero_based`; an index beyond
    `max_features` and a line longer than `max_line` bytes cannot be read. The rows of a batch are as wide as the
    largest index so far. `keep` and `drop` are indices and ranges of them ("1-100"). With at_max_features="ignore"
    larger indices are left out, and counted in `n_ignored`.
    """

    def __init__(
        self,
        *,
        zero_based: bool = False,
        keep: Iterable[str] = (),
        drop: Iterable[str] = (),
        max_features: int = 2**24,
        at_max_features: str = "error",
        max_line: int = 2**24,
    ) -> None:
        _check_limits(max_features, max_line)
        self.zero_based, self.max_features, self.max_line = bool(zero_based), max_features, max_line
        self.keep, self.drop, self.ignore = list(keep), list(drop), at_max_features == "ignore"
        first = int(not zero_based)
        self._kept = [index_range(text, first) for text in self.keep]
        self._dropped = [index_range(text, first) for text in self.drop]
        self._width, self.n_ignored = 0, 0

    @property
    def settings(self) -> dict[str, Any]:
        return {"zero_based": self.zero_based, "keep": self.keep, "drop": self.drop}

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        first = int(not self.zero_based)
        reader = SvmlightReader(
            first=first, max_features=self.max_features, max_line=self.max_line, ignore_new=self.ignore,
            keep=self._kept, drop=self._dropped,
        )  # fmt: skip
        before = self.n_ignored
        for text in read_file(reader, file, bad, BATCH, lambda: self._width):
            self._width, self.n_ignored = text.width, before + reader.n_ignored
            batch = Batch(
                text, None, text.lines, text.weights, file.position, numbered=True, first_index=first
            )
            yield from bad.up_to_the_end(batch)


def index_range(text: str, first: int) -> tuple[int, int]:
    """The columns from one to another that "7" or "7-12" means, both included."""
    low, dash, high = text.partition("-")
    try:
        found = int(low) - first, int(high if dash else low) - first
    except ValueError:
        raise ValueError(f"an index or a range of indices was expected (7 or 7-12), not {text!r}") from None
    if not 0 <= found[0] <= found[1]:
        raise ValueError(
            f"indices count from {first}, and a range goes from the smaller one on: not {text!r}"
        )
    return found


class VowpalText:
    """Vowpal Wabbit's text: `[label[,label...] [importance]] ['tag]|[namespace[:scale]] feature[:value] ...`.

    A feature without a value counts 1, one of value 0 is left out; the values of a repeated feature are added up.
    Its name is `namespace^feature`, or `feature` where the namespace has no name. `hash_bits` hashes the names into
    2^hash_bits columns, as `Learner` does. Without it they are numbered as they come, after those of `names`, up to
    `max_features`; each batch has the names that are new. If they must not `grow`, features with other names are left
    out, and `unseen_squares` of a batch has the sum of their squares.

    The names go from file to file, so one file is read at a time, and to its end: names of batches that nobody took
    are known all the same.

    `keep` and `drop` are namespaces (one letter: all that begin with it) or full names of features. `interactions`:
    "a*b" adds the products of each feature of one namespace with each of the other, "all" those of all features. With
    at_max_features="ignore" features that are new when there are `max_features` are left out, and counted in
    `n_ignored`.
    """

    def __init__(
        self,
        *,
        hash_bits: int | None = None,
        names: Iterable[str | int] = (),
        keep: Iterable[str] = (),
        drop: Iterable[str] = (),
        interactions: Iterable[str] = (),
        max_features: int = 2**24,
        at_max_features: str = "error",
        grow: bool = True,
        max_line: int = 2**24,
    ) -> None:
        _check_limits(max_features, max_line)
        if hash_bits is not None and not 1 <= hash_bits <= 30:
            raise ValueError(f"hash_bits must be None or a whole number from 1 to 30, not {hash_bits!r}")
        self.hash_bits = hash_bits
        self.keep, self.drop, self.interactions = list(keep), list(drop), list(interactions)
        pairs = [("", "") if one == ALL else two_names(one) for one in self.interactions]
        self._reader = VowpalTextReader(
            hash_bits=hash_bits or 0, max_features=max_features, grow=bool(grow), max_line=max_line,
            ignore_new=at_max_features == "ignore", keep=self.keep, drop=self.drop, interactions=pairs,
        )  # fmt: skip
        self._reader.add_names([_name_bytes(name) for name in names])
        self._reading = threading.Lock()

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "hash_bits": self.hash_bits, "keep": self.keep, "drop": self.drop, "interactions": self.interactions,
        }  # fmt: skip

    @property
    def n_ignored(self) -> int:
        return self._reader.n_ignored

    def batches(self, file: Input, bad: BadLines) -> Iterator[Batch]:
        if not self._reading.acquire(blocking=False):
            raise RuntimeError(f"{file.name} cannot be read: this source is still reading another file")
        try:
            for text in read_file(self._reader, file, bad, BATCH):
                batch = Batch(text, None, text.lines, text.weights, file.position)
                yield from bad.up_to_the_end(batch)
        finally:
            self._reading.release()


def _check_limits(max_features: int, max_line: int) -> None:
    if not 1 <= max_features <= _MOST_FEATURES:
        raise ValueError(f"max_features must be a whole number from 1 to 2^31 - 1, not {max_features!r}")
    if not 1 <= max_line < 2**62:
        raise ValueError(f"max_line must be a whole number of bytes from 1 on, not {max_line!r}")


def _name_bytes(name: str | int) -> bytes:
    """What text can mean this name. (A number of a column is no name there: nothing can.)"""
    return name.encode("utf-8", "surrogatepass") if isinstance(name, str) else f"\n{name}".encode()


def _svmlight_reader(zero_based: bool, max_features: int, max_line: int) -> SvmlightReader:
    return SvmlightReader(first=0 if zero_based else 1, max_features=max_features, max_line=max_line)


# ---- from bytes to rows -----------------------------------------------------------------------------------------

_Reader = SvmlightReader | VowpalTextReader | JsonTextReader


def read_file(
    reader: _Reader,
    file: Input,
    bad: BadLines,
    batch_bytes: int,
    width: Callable[[], int] = lambda: 0,
    told: Callable[[InputError, bytes], None] | None = None,
) -> Iterator[Any]:
    """`width`: how many columns the rows have at least. `told` takes the invalid lines, with their bytes; without it
    they go to `bad`."""
    with file.opened() as opened:
        fed = _fed_by_itself(reader, file, opened, batch_bytes)
        yield from _read(reader, file, bad, fed or _fed_from(reader, file, opened, batch_bytes), width, told)


# What feeds a reader yields True if the rows so far are to be taken, and None at the end of the text.
_Fed = Iterator[bool | None]


def _read(
    reader: _Reader,
    file: Input,
    bad: BadLines,
    fed: _Fed,
    width: Callable[[], int] = lambda: 0,
    told: Callable[[InputError, bytes], None] | None = None,
) -> Iterator[Any]:
    """What the reader makes of the text that it is fed with, up to what ends it: rows first, then the error."""
    reader.restart(skip=bad.skip or told is not None)
    ended: Exception | None = None
    try:
        with damage_told(file.name, lambda: reader.lines):
            for full in fed:
                if full is None and not (reader.unread[1] and file.is_torn()):
                    reader.finish()
                for line, column, reason, text in reader.bad_lines():
                    error = InputError(reason, column=column, file=file.name, line=line)
                    bad.meet(error) if told is None else told(error, text)
                if bad.end is not None:
                    break
                if full and (rows := reader.take(width())) is not None:
                    yield rows
    except InputError as error:
        error.file = file.name
        ended = error
    except (OSError, ValueError) as error:
        ended = error
    after, file.partial = reader.unread
    file.lines_read = reader.lines + after
    if (rows := reader.take(width())) is not None:
        yield rows
    if ended is not None:
        raise ended
    bad.check()


def _fed_by_itself(reader: _Reader, file: Input, opened: Any, batch_bytes: int) -> _Fed | None:
    """The reader reads the file by its descriptor, without Python, if that is all there is to it: nothing is unpacked,
    and nothing of it has been read but what was peeked at."""
    read = getattr(reader, "read_file", None)  # not on Windows
    peeked = b""
    if isinstance(getattr(opened, "raw", None), Again):
        peeked, opened = opened.raw.take(), opened.raw.rest
    if read is None or not isinstance(getattr(opened, "raw", None), io.FileIO):
        return None
    number = opened.fileno()
    has_more = _tells_if_more(opened)

    def fed() -> _Fed:
        if peeked:
            reader.read(peeked)
            yield not has_more()
        while file.wait():  # here, not in the reader: Python can end meanwhile, and signals come through
            if (full := read(number, batch_bytes)) is None:
                yield None
                return
            yield full

    return fed()


def _fed_from(reader: _Reader, file: Input, opened: Any, batch_bytes: int) -> _Fed:
    """Any binary file, through one piece of memory. A batch ends if it is large enough, or if nobody knows when more
    will come."""
    buffer = bytearray(min(PIECE, batch_bytes))
    view = memoryview(buffer)
    has_more = _tells_if_more(opened)
    waiting = 0
    while file.wait():
        if not (size := opened.readinto1(buffer)):
            yield None
            return
        reader.read(view[:size])
        waiting += size
        full = waiting >= batch_bytes or not has_more()
        waiting = 0 if full else waiting
        yield full


def _tells_if_more(file: Any) -> Callable[[], bool]:
    """A function that returns whether the next read will return something at once."""
    with suppress(OSError, AttributeError, ValueError):
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return lambda: True
        if isinstance(file.raw, io.FileIO) and hasattr(
            select, "poll"
        ):  # else more bytes may be too few to unpack
            poll = select.poll()
            poll.register(file.fileno(), select.POLLIN)
            return lambda: bool(poll.poll(MOMENT))
    return lambda: False


# ---- for custom loops -------------------------------------------------------------------------------------------


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
        import numpy as np

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
        import numpy as np

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
    unless `zero_based`. Lines that cannot be read raise an `InputError` with the place and the reason; with
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
    if batch_bytes < 1:
        raise ValueError(f"batch_bytes must be a whole number from 1 on, not {batch_bytes!r}")
    bad = BadLines(on_error == "skip", max_skipped)
    batches = _svmlight_batches(
        source, _svmlight_reader(zero_based, n_features, max_line), n_features, bad, batch_bytes
    )
    return read_ahead(batches, ahead) if ahead else batches


def _svmlight_batches(
    source: Source, reader: SvmlightReader, width: int, bad: BadLines, batch_bytes: int
) -> Iterator[TextBatch]:
    import numpy as np
    from scipy.sparse import csr_array

    if isinstance(source, (str, os.PathLike)):
        all_rows = read_file(reader, Input(source), bad, batch_bytes)
    else:
        all_rows = _read(reader, Input(name_of(source)), bad, _fed_with(reader, source, batch_bytes))
    for text in all_rows:
        X = csr_array((len(text), width), dtype=np.float64)
        X.data, X.indices, X.indptr, _ = text.csr()  # scipy would check and copy them
        yield TextBatch(X, np.asarray(text.labels), text.label_starts(), reader.lines, bad.count)


def _fed_with(reader: _Reader, source: Any, size: int) -> _Fed:
    """What a file that is open, or an iterable, gives: a batch each."""
    if isinstance(source, (bytes, bytearray)):
        raise TypeError("source must be a path, a binary file or an iterable of bytes, not bytes")
    read = getattr(source, "read1", None) or getattr(source, "read", None)
    for piece in iter(lambda: read(size), b"") if read is not None else iter(source):
        if not isinstance(piece, bytes):
            raise TypeError(f"the source must give bytes, not {type(piece).__name__}: open files with 'rb'")
        reader.read(piece)
        yield True
    yield None


# ---- ahead ------------------------------------------------------------------------------------------------------

_Item = TypeVar("_Item")
_END = object()


def read_ahead(items: Iterator[_Item], ahead: int, idle: Callable[[], None] | None = None) -> Iterator[_Item]:
    """The same items, made by a thread that is at most `ahead` of them in front. Closing it ends the thread. If that
    waits for input it is left alone: it ends when something comes, and does not keep Python from ending. `idle` is
    called now and then while no item comes."""
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    room: queue.SimpleQueue[None] = queue.SimpleQueue()
    for _ in range(ahead):
        room.put(None)
    stopped = False

    def work() -> None:
        try:
            for item in items:
                room.get()
                if stopped:
                    return
                waiting.put((item, None))
                del item  # its memory is filled again as soon as nobody holds it
        except BaseException as error:
            waiting.put((_END, error))
        else:
            waiting.put((_END, None))
        finally:
            close = getattr(items, "close", None)
            if close is not None:
                close()

    thread = threading.Thread(target=work, name="hinge reads ahead", daemon=True)

    def end() -> None:
        nonlocal stopped
        if stopped:  # when Python ends: after `atexit` a thread can no longer be joined
            return
        stopped = True
        room.put(None)  # a thread that waits for it continues and ends
        with suppress(RuntimeError):  # it has not started: Ctrl-C came first
            thread.join(timeout=0.5)

    atexit.register(end)  # native code must not be under way when Python ends
    try:
        thread.start()
        while True:
            item, error = _next_of(waiting, idle)
            room.put(None)
            if item is _END:
                if error is not None:
                    raise error
                return
            yield item
            del item
    finally:
        end()
        atexit.unregister(end)


def _next_of(waiting: queue.SimpleQueue[Any], idle: Callable[[], None] | None) -> Any:
    while True:
        with suppress(queue.Empty):
            return waiting.get(timeout=0.5)  # not for ever: on some systems Ctrl-C would have to wait
        if idle is not None:
            idle()
