"""Input files and pipes, plain or compressed."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import select
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from ..data.errors import InputError


def printable(text: str) -> str:
    """The text on one line, with control characters escaped as in Python, so that a terminal cannot obey them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def name_of(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        path = str(os.fspath(source))
        return "<stdin>" if path == "-" else path
    name = getattr(source, "name", None)
    if isinstance(name, str):
        return name
    return "<file>" if isinstance(source, io.IOBase) else "<lines>"


CTRL_C_DELAY = (
    0.05  # seconds by which a signal may arrive after the end of a pipe whose writer it ended as well
)
PACKED = (".gz", ".bz2", ".xz", ".zst")


def ending_of(path: str) -> str:
    """In lower case and without the ending of the compression: ".csv" for Train.CSV.gz."""
    base, ending = os.path.splitext(path.lower())
    return os.path.splitext(base)[1] if ending in PACKED else ending


def open_bytes(
    source: str | os.PathLike[str], stack: ExitStack, opening: Callable[[Any], None] | None = None
) -> Any:
    """A file as decompressed bytes; "-" is the standard input. The stack closes what is opened here. `opening` is
    called with the file itself."""
    path = os.fspath(source)
    if path == "-":
        return getattr(sys.stdin, "buffer", sys.stdin)
    ending = os.path.splitext(path)[1].lower()
    opener = _without_waiting if ending not in PACKED and opening is not None else None
    file = stack.enter_context(open(path, "rb", opener=opener))  # noqa: SIM115 (the stack is the context)
    if opening is not None:
        opening(file)
    if ending not in PACKED:
        return file
    if not file.peek(1):  # gzip would accept it
        raise InputError("the compressed file is damaged or truncated: it is empty", file=path, line=1)
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(ending) or _zstandard(path).open
    # Small reads: `read` of the decompressor would lose the bytes before a damaged place.
    return io.BufferedReader(Bytes(stack.enter_context(unpack(file)).read1))


def _without_waiting(path: str, flags: int) -> int:
    """Opens a named pipe at once, even if it has no writer yet: `Input.wait` waits, and can be interrupted."""
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(file, True)
    return file


class Input:
    """A file or a pipe to be read, plain or compressed; "-" is the standard input.

    A reader calls `wait` before each read. It counts in `lines_read` the complete lines, in `partial` the bytes after
    them, and in `held` the lines of an incomplete example. `stop` ends the reading, from any thread and also while it
    waits. The reader then hands over what it has read, without an incomplete line or example.
    """

    may_be_empty = False  # whether an empty file is valid where a table is expected

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.name = os.fspath(path), name_of(path)
        self.stopped = False
        self.lines_read = self.partial = self.held = 0
        self._file: Any = None
        self._peeked: Again | None = None  # of a pipe: the bytes that were peeked at, and the rest
        self._again: Again | None = None  # the same, while it is being read
        self._pipe: InterruptiblePipe | None = None
        self._stack = ExitStack()
        self._last = 0  # position

    @property
    def is_file(self) -> bool:
        """Whether it is a file, which can be read again, and not a pipe."""
        return os.path.isfile(self.path)

    def stop(self) -> None:
        self.stopped = True
        if self._pipe is not None:
            self._pipe.interrupt()

    def wait(self) -> bool:
        """Waits for bytes or the end of the file. False: the reading was stopped."""
        if self._again is not None and self._again.pending:
            return True
        if not self.stopped and self._pipe is not None:
            self._pipe.wait()
        return not self.stopped

    def is_torn(self) -> bool:
        """At the end of a pipe, if the last line has no end: whether it is incomplete. Ctrl-C also ends the writer of
        the pipe, often a moment before our own signal arrives."""
        if self._pipe is not None and not self.stopped:
            time.sleep(CTRL_C_DELAY)
        return self.stopped

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """A binary file. Its `read1` returns the bytes that have arrived, and waits only if there are none."""
        if self._peeked is not None:
            self._again, self._peeked = self._peeked, None
            with self._stack:
                yield io.BufferedReader(self._again)
        else:
            with ExitStack() as stack:
                yield self._open(stack)

    def _open(self, stack: ExitStack) -> Any:
        if self.path != "-":
            return open_bytes(self.path, stack, opening=self._opening)
        with suppress(ImportError, AttributeError, OSError):  # fewer switches between the processes (Linux)
            import fcntl

            fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, 2**20)
        # Not sys.stdin: a thread that waits in it would prevent Python from ending.
        self._file = io.BufferedReader(io.FileIO(0, closefd=False))
        self._opening(self._file)
        return self._file

    def _opening(self, file: Any) -> None:
        self._file = file
        compressed = os.path.splitext(self.path)[1].lower() in PACKED  # buffered: poll would not tell
        if not compressed and hasattr(select, "poll") and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            self._pipe = InterruptiblePipe(file.fileno())

    def peek(self, size: int = 2**16) -> bytes:
        """Up to `size` decompressed bytes of the beginning, which are read again when the file is opened.

        Of a pipe: what has arrived, but at least one line that is not blank.
        """
        if self._peeked is not None:
            return self._peeked.first
        with damage_told(self.name, lambda: 0):
            if self.path != "-" and os.path.isfile(self.path):
                with ExitStack() as stack:
                    return bytes(self._open(stack).read(size))
            stream = self._open(self._stack)
            first = b""
            while len(first) < size and b"\n" not in first.lstrip() and self.wait():
                if not (more := stream.read1(size - len(first))):
                    break
                first += more
            self._peeked = Again(first, stream)
            self.lines_read, self.partial = first.count(b"\n"), len(first) - first.rfind(b"\n") - 1
        return first

    @property
    def position(self) -> int:
        """How far it has been read, in bytes of the file itself, compressed or not. 0 if unknown."""
        with suppress(AttributeError, OSError, ValueError):  # closed, for example
            self._last = int(self._file.raw.tell())
        return self._last

    @property
    def size(self) -> int | None:
        """In bytes, if it is a file and not a pipe."""
        try:
            return os.stat(self.path).st_size if os.path.isfile(self.path) else None
        except OSError:
            return None


class InterruptiblePipe:
    """Waits for a pipe to have bytes or to end. Another thread can interrupt the waiting."""

    def __init__(self, file: int) -> None:
        self._reading, self._writing = os.pipe()
        self._poll = select.poll()
        self._poll.register(file, select.POLLIN)
        self._poll.register(self._reading, select.POLLIN)

    def wait(self) -> None:
        self._poll.poll()

    def interrupt(self) -> None:
        os.write(self._writing, b"!")

    def __del__(self) -> None:
        os.close(self._reading)
        os.close(self._writing)


class Bytes(io.RawIOBase):
    """A raw file whose bytes come from `read1(size)`."""

    def __init__(self, read1: Callable[[int], bytes]) -> None:
        self._read1 = read1

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class Again(Bytes):
    """A stream whose first bytes have been read: these bytes once more, and then the rest."""

    def __init__(self, first: bytes, rest: Any) -> None:
        super().__init__(self._next)
        self.first, self._given, self.rest = first, 0, rest

    @property
    def pending(self) -> bool:
        return self._given < len(self.first)

    def take(self, size: int | None = None) -> bytes:
        """The pending bytes, at most `size` of them."""
        end = len(self.first) if size is None else self._given + size
        piece = self.first[self._given : end]
        self._given += len(piece)
        return piece

    def _next(self, size: int) -> bytes:
        return self.take(size) or bytes(self.rest.read1(size))


@contextmanager
def damage_told(name: str, lines: Callable[[], int], what: str = "the compressed file") -> Iterator[None]:
    """Turns errors of decompression into InputErrors. `lines` returns the number of lines that have been read."""
    try:
        yield
    except _decompression_errors() as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk, the network, ...
            raise
        damaged = "damaged" if isinstance(error, OSError) else "damaged or truncated"
        reason = f"{what} is {damaged}: {' '.join(str(error).split())}"
        raise InputError(reason, file=name, line=lines() + 1) from None


def _decompression_errors() -> tuple[type[Exception], ...]:
    zstandard = [sys.modules[name].ZstdError for name in _ZSTANDARD if name in sys.modules]
    return (EOFError, zlib.error, lzma.LZMAError, OSError, *zstandard)


_ZSTANDARD = ("compression.zstd", "backports.zstd")


def _zstandard(path: str) -> Any:
    for module in _ZSTANDARD:
        try:
            return importlib.import_module(module)
        except ImportError:
            continue
    raise ImportError(
        f"reading {path} needs Python 3.14 or the package backports.zstd: pip install 'hinge[zstd]', or decompress it"
    )
