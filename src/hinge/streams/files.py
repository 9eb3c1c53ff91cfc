"""Files by their endings, plain or compressed, and what is wrong with them and where."""

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
    """The same on one line, without what a terminal would obey: control characters are escaped as in Python."""
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


TORN = 0.05  # seconds
PACKED = (".gz", ".bz2", ".xz", ".zst")


def ending_of(path: str) -> str:
    """In lower case, and without that of packing: ".csv" of Train.CSV.gz."""
    base, ending = os.path.splitext(path.lower())
    return os.path.splitext(base)[1] if ending in PACKED else ending


def open_bytes(
    source: str | os.PathLike[str],
    stack: ExitStack,
    opening: Callable[[Any], None] | None = None,
) -> Any:
    """The bytes of a file, unpacked; "-" is the standard input. The stack closes what was opened here. `opening` gets
    to see the file itself, packed or not."""
    path = os.fspath(source)
    if path == "-":
        return getattr(sys.stdin, "buffer", sys.stdin)
    ending = os.path.splitext(path)[1].lower()
    opener = _at_once if ending not in PACKED and opening is not None else None
    file = stack.enter_context(open(path, "rb", opener=opener))  # noqa: SIM115 (the stack is the context)
    if opening is not None:
        opening(file)
    if ending not in PACKED:
        return file
    if not file.peek(1):  # gzip would take it for an end
        raise InputError("the compressed file is damaged or truncated: it is empty", file=path, line=1)
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(ending) or _zstandard(path).open
    return io.BufferedReader(Unpacked(stack.enter_context(unpack(file))))


def _at_once(path: str, flags: int) -> int:
    """Opens a pipe that nobody writes to yet without waiting for someone: `Input.wait` does."""
    file = os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
    if hasattr(os, "O_NONBLOCK"):
        os.set_blocking(file, True)
    return file


class Input:
    """A file to be read, plain or packed; "-" is the standard input. `position` is how far it has been read.

    Whoever reads it asks `wait` before each read, and says how far it has come: in `lines_read` the lines that have
    ended, in `partial` the bytes after them. `stop` ends the reading, from any thread, also while it waits: what has
    been read is still handed over, but for a last line without its end, and `held` lines of an unfinished example.
    """

    may_be_empty = False  # though a table was expected, say

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.name = os.fspath(path), name_of(path)
        self.stopped = False
        self.lines_read = self.partial = self.held = 0
        self._file: Any = None
        self._held: Again | None = None  # of what can be read only once: what was peeked, and the rest
        self._again: Again | None = None  # the same, once it is being read
        self._bell: Bell | None = None
        self._stack = ExitStack()
        self._last = 0  # position

    @property
    def is_file(self) -> bool:
        """Whether it can be read again: it is no pipe."""
        return os.path.isfile(self.path)

    def stop(self) -> None:
        self.stopped = True
        if self._bell is not None:
            self._bell.ring()

    def wait(self) -> bool:
        """Waits until there is something to read, or the end. False: nothing more is to be read."""
        if self._again is not None and self._again.pending:
            return True
        if not self.stopped and self._bell is not None:
            self._bell.wait()
        return not self.stopped

    def is_torn(self) -> bool:
        """At the end of a pipe, after a last line without its end: whether it was cut off. Ctrl-C ends whoever writes
        into the pipe as well, often a moment before we notice."""
        if self._bell is not None and not self.stopped:
            time.sleep(TORN)
        return self.stopped

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """A binary file. Its `read1` gives what is there already, and waits only if nothing is."""
        if self._held is not None:
            self._again, self._held = self._held, None
            with self._stack:
                yield io.BufferedReader(self._again)
        else:
            with ExitStack() as stack:
                yield self._open(stack)

    def _open(self, stack: ExitStack) -> Any:
        if self.path != "-":
            return open_bytes(self.path, stack, opening=self._opening)
        with suppress(
            ImportError, AttributeError, OSError
        ):  # a pipe that holds more is switched to less often (Linux)
            import fcntl

            fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, 2**20)
        # Not sys.stdin: a thread that waits for input in there would keep Python from ending.
        self._file = io.BufferedReader(io.FileIO(0, closefd=False))
        self._opening(self._file)
        return self._file

    def _opening(self, file: Any) -> None:
        self._file = file
        packed = os.path.splitext(self.path)[1].lower() in PACKED  # then what is read is not what is there
        if not packed and hasattr(select, "poll") and not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            self._bell = Bell(file.fileno())

    def peek(self, size: int = 2**16) -> bytes:
        """How it begins, unpacked: up to `size` bytes. Whoever opens it gets them all the same.

        Of what has no end it is what is there already, but a line with something in it at least.
        """
        if self._held is not None:
            return self._held.first
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
            self._held = Again(first, stream)
            self.lines_read, self.partial = first.count(b"\n"), len(first) - first.rfind(b"\n") - 1
        return first

    @property
    def position(self) -> int:
        """In bytes of the file itself, packed or not. (0 for what cannot tell.)"""
        with suppress(AttributeError, OSError, ValueError):  # closed, say
            self._last = int(self._file.raw.tell())
        return self._last

    @property
    def size(self) -> int | None:
        """In bytes, if it is a file that has an end."""
        try:
            return os.stat(self.path).st_size if os.path.isfile(self.path) else None
        except OSError:
            return None


class Bell:
    """Waits for a pipe to have something to read, or to end; another thread may end the waiting."""

    def __init__(self, file: int) -> None:
        self._ears, self._rope = os.pipe()
        self._poll = select.poll()
        self._poll.register(file, select.POLLIN)
        self._poll.register(self._ears, select.POLLIN)

    def wait(self) -> None:
        self._poll.poll()

    def ring(self) -> None:
        os.write(self._rope, b"!")

    def __del__(self) -> None:
        os.close(self._ears)
        os.close(self._rope)


class Unpacked(io.RawIOBase):
    """What a packed file holds, as it is unpacked. (To ask for more than there is at once would lose it, if the file
    turns out to be damaged after it.)"""

    def __init__(self, file: Any) -> None:
        self._packed = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self._packed.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


class Again(io.RawIOBase):
    """What has been read of a stream, and then the rest of it."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self.first, self._given, self.rest = first, 0, rest

    @property
    def pending(self) -> bool:
        return self._given < len(self.first)

    def take(self) -> bytes:
        """All that is pending."""
        piece, self._given = self.first[self._given :], len(self.first)
        return piece

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        piece = self.first[self._given : self._given + len(buffer)]
        self._given += len(piece)
        if not piece:
            piece = self.rest.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


@contextmanager
def damage_told(name: str, lines: Callable[[], int], what: str = "the compressed file") -> Iterator[None]:
    """Errors of decompression become InputErrors. `lines` returns how many lines have been read."""
    try:
        yield
    except damage() as error:
        reason = f"{what} is damaged or truncated: {_on_one_line(error)}"
        raise InputError(reason, file=name, line=lines() + 1) from None
    except OSError as error:
        if error.errno is not None:  # the disk, the network, ...
            raise
        raise InputError(f"{what} is damaged: {_on_one_line(error)}", file=name, line=lines() + 1) from None


def _on_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def damage() -> tuple[type[Exception], ...]:
    """What decompression raises, besides OSError without a number."""
    zstandard = [sys.modules[name].ZstdError for name in _ZSTANDARD if name in sys.modules]
    return (EOFError, zlib.error, lzma.LZMAError, *zstandard)


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
