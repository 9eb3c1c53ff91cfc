"""Files by their endings, plain or compressed, and what is wrong with them and where."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any


class SourceError(ValueError):
    """Something in a file cannot be read: `source`, `line`, `column` (bytes, from 1; None: no matter) and `reason`."""

    def __init__(self, source: str, line: int, reason: str, column: int | None = None) -> None:
        where = f"{source}:{line}:" if column is None else f"{source}:{line}: {column}:"
        super().__init__(f"{where} {reason}")
        self.source, self.line, self.column, self.reason = source, line, column, reason

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self), (self.source, self.line, self.reason, self.column))


def name_of(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        path = str(os.fspath(source))
        return "<stdin>" if path == "-" else path
    name = getattr(source, "name", None)
    if isinstance(name, str):
        return name
    return "<file>" if isinstance(source, io.IOBase) else "<lines>"


PACKED = (".gz", ".bz2", ".xz", ".zst")


def ending_of(path: str) -> str:
    """In lower case, and without that of packing: ".csv" of Train.CSV.gz."""
    base, ending = os.path.splitext(path.lower())
    return os.path.splitext(base)[1] if ending in PACKED else ending


def open_bytes(
    source: str | os.PathLike[str],
    stack: ExitStack,
    error: type[SourceError] = SourceError,
    opening: Callable[[Any], None] | None = None,
) -> Any:
    """The bytes of a file, unpacked; "-" is the standard input. The stack closes what was opened here. `opening` gets
    to see the file itself, packed or not."""
    path = os.fspath(source)
    if path == "-":
        return getattr(sys.stdin, "buffer", sys.stdin)
    file = stack.enter_context(open(path, "rb"))  # noqa: SIM115 (the stack is the context)
    if opening is not None:
        opening(file)
    ending = os.path.splitext(path)[1].lower()
    if ending not in PACKED:
        return file
    if not file.peek(1):  # gzip would take it for an end
        raise error(path, 1, "the compressed file is damaged or cut off: it is empty")
    unpack: Any = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}.get(ending) or _zstandard(path).open
    return io.BufferedReader(stack.enter_context(unpack(file)))


class Input:
    """A file to be read, plain or packed; "-" is the standard input. `position` is how far it has been read."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path, self.name = os.fspath(path), name_of(path)
        self._file: Any = None
        self._held: Again | None = None  # of what can be read only once: what was peeked, and the rest
        self._stack = ExitStack()
        self._last = 0  # position

    @contextmanager
    def opened(self) -> Iterator[Any]:
        """A binary file. Its `read1` gives what is there already, and waits only if nothing is."""
        if self._held is not None:
            held, self._held = self._held, None
            with self._stack:
                yield io.BufferedReader(held)
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
        return self._file

    def _opening(self, file: Any) -> None:
        self._file = file

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
            while len(first) < size and b"\n" not in first.lstrip():
                if not (more := stream.read1(size - len(first))):
                    break
                first += more
            self._held = Again(first, stream)
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


class Again(io.RawIOBase):
    """What has been read of a stream, and then the rest of it."""

    def __init__(self, first: bytes, rest: Any) -> None:
        self.first, self._given, self.rest = first, 0, rest

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
def damage_told(name: str, lines: Callable[[], int]) -> Iterator[None]:
    """What is wrong with a packed file becomes a SourceError; `lines` tells how many have been read."""
    try:
        yield
    except damage() as error:
        reason = f"the compressed file is damaged or cut off: {error}"
        raise SourceError(name, lines() + 1, reason) from None
    except OSError as error:
        if error.errno is not None:  # the disk, the network, ...
            raise
        raise SourceError(name, lines() + 1, f"the compressed file is damaged: {error}") from None


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
        f"reading {path} needs Python 3.14 or the package backports.zstd: pip install 'hinge[zstd]', or unpack it"
    )
