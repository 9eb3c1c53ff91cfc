"""A growing log, read as `tail -F` does: across rotation and truncation, from the last line that a model learned."""

from __future__ import annotations

import io
import os
import re
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from time import monotonic
from typing import Any

from .batches import BadLines, Source, part
from .files import PACKED, Bytes, Input
from .formats.text import read_ahead
from .stream import Piece, Stream

INTERVAL = 0.1  # seconds between two checks of a log that does not grow
GRACE = 1.0  # seconds during which a rotated log may still be written to
FIRST_BYTES = 4096  # by which a file is recognised


def digest(first: bytes) -> str:
    """Identifies a file by its first bytes."""
    from hashlib import sha256  # here, because it loads OpenSSL: 2 ms

    return sha256(first).hexdigest()


class Place:
    """How far a model has learned a log: the file, by its inode and first bytes, and the line of the last example."""

    def __init__(self, kept: dict[str, Any] | None = None) -> None:
        kept = kept or {}
        self.device, self.inode = int(kept.get("device", 0)), int(kept.get("inode", 0))
        self.line, self.size = int(kept.get("line", 0)), int(kept.get("size", 0))
        self.begins, self.begins_with = int(kept.get("begins", 0)), str(kept.get("begins_with", ""))

    def is_in(self, path: str) -> bool:
        """Whether this file has the same first bytes, and is not shorter."""
        try:
            with open(path, "rb") as file:
                first = file.read(self.begins)
                long_enough = os.fstat(file.fileno()).st_size >= self.size
        except OSError:
            return False
        return long_enough and digest(first) == self.begins_with

    def has_inode_of(self, path: str) -> bool:
        try:
            status = os.stat(path)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == (self.device, self.inode)


class Growing(Input):
    """One file of a log. It ends when the log was rotated or truncated and all of the file has been read."""

    def __init__(self, path: str, log: str) -> None:
        super().__init__(path)
        self.log = log  # the path of the log, which is another file after a rotation
        self.truncated = False
        self._interrupt = threading.Event()
        self._raw: Any = None
        self._inode = (0, 0)
        self._bytes_read = 0
        self._first = b""
        self._idle_since: float | None = None

    is_file = may_be_empty = True

    def stop(self) -> None:
        self.stopped = True
        self._interrupt.set()

    def wait(self) -> bool:
        while not self.stopped:
            status = os.fstat(self._raw.fileno())
            if status.st_size > self._bytes_read and (self._idle_since is None or self._first_is_unchanged()):
                self._idle_since = None
                return True
            self._idle_since = self._idle_since or monotonic()
            if status.st_size < self._bytes_read or not self._first_is_unchanged():
                self.truncated = True
                return True  # to read the end of the file
            if self._was_rotated(status) and monotonic() - self._idle_since > GRACE:
                return True
            self._interrupt.wait(INTERVAL)
        return False

    def is_torn(self) -> bool:
        return True  # the rest of the last line will never arrive

    def _first_is_unchanged(self) -> bool:
        known = self._first
        return os.pread(self._raw.fileno(), len(known), 0) == known

    def _was_rotated(self, status: os.stat_result) -> bool:
        """Whether the log is another file by now. (If there is none, it has yet to be created.)"""
        try:
            return not os.path.samestat(os.stat(self.log), status)
        except OSError:
            return False

    @contextmanager
    def opened(self) -> Iterator[Any]:
        with io.FileIO(self.path) as self._raw:
            status = os.fstat(self._raw.fileno())
            self._inode = (status.st_dev, status.st_ino)
            yield io.BufferedReader(Bytes(self._read1))

    def _read1(self, size: int) -> bytes:
        piece = b"" if self.truncated else self._raw.read(size)
        self._first += piece[: max(0, FIRST_BYTES - len(self._first))]
        self._bytes_read += len(piece)
        return bytes(piece)

    @property
    def position(self) -> int:
        return self._bytes_read

    def place(self, line: int) -> dict[str, Any]:
        """The place of the example on this line, as a model saves it."""
        device, inode = self._inode
        lines = self._first.split(b"\n")
        known = b"\n".join([*lines[:line], b""]) if line < len(lines) else self._first
        return {
            "device": device, "inode": inode, "line": line, "size": self._bytes_read,
            "begins": len(known), "begins_with": digest(known),
        }  # fmt: skip


class Followed(Stream):
    """The examples of a growing log, after those that the model has learned."""

    def __init__(
        self,
        path: str,
        source: Source,
        bad: BadLines,
        place: dict[str, Any] | None,
        warn: Callable[[str], None],
    ) -> None:
        super().__init__([Input(path)], source, bad)
        self.path, self.warn = path, warn
        self.place = None if place is None else Place(place)
        self.lost = 0  # incomplete last lines of files that were rotated or truncated

    @property
    def can_be_read_again(self) -> bool:
        return True

    def once(self, after: int = 0, idle: Callable[[], None] | None = None) -> Iterator[Piece]:
        """The examples after the place; if there is no place, those after the first `after`."""
        after = 0 if self.place is not None else after
        with closing(read_ahead(self._pieces(), self.ahead, idle)) as pieces:  # type: ignore[type-var]
            for piece in pieces:
                known = min(after, len(piece.batch))
                after -= known
                if known < len(piece.batch):
                    yield piece._replace(batch=part(piece.batch, known, len(piece.batch)))

    def _pieces(self) -> Iterator[Piece]:
        path, line = self._begin()
        while not self.stopped:
            if path is None:  # the log does not exist yet
                threading.Event().wait(INTERVAL)
                path = self.path if os.path.isfile(self.path) else None
                continue
            file = Growing(path, self.path)
            self.files = [file]
            if self.stopped:
                return
            for batch in self.source.batches(file, self.bad):
                start = bisect_right(batch.lines, line)
                if start < len(batch):
                    yield Piece(part(batch, start, len(batch)), file, None)
            if self.stopped:
                return
            path, line = self._after(file), 0

    def _begin(self) -> tuple[str | None, int]:
        """The file to begin with, and the line of the last example in it that was learned."""
        place, log = self.place, self.path if os.path.isfile(self.path) else None
        if place is None:
            return log, 0
        newest_first = [self.path, *reversed(rotated(self.path))]
        same = [path for path in newest_first if place.has_inode_of(path) and place.is_in(path)]
        same = same or [path for path in newest_first if place.begins and place.is_in(path)]
        if same:
            return same[0], place.line
        self.warn(
            f"{self.path}: the file that the model has learned up to line {place.line:,} is no longer there: "
            "what was written to it after that is not learned"
        )
        return log, 0

    def _after(self, file: Growing) -> str | None:
        """The file that came after this one."""
        if file.partial:
            self.lost += 1
            self.warn(
                f"{file.path}: its last line was incomplete ({file.partial:,} bytes) and is not learned"
            )
        if file.truncated:
            self.warn(f"{file.path} was truncated: it is read from its beginning")
            return file.path
        oldest_first = [*rotated(self.path), self.path]
        ours = Place(file.place(0))
        number = next((k for k, path in enumerate(oldest_first) if ours.has_inode_of(path)), None)
        later = [self.path] if number is None else oldest_first[number + 1 :]
        return next((path for path in later if os.path.isfile(path)), None)


def rotated(path: str) -> list[str]:
    """The rotated files of a log, oldest first: log.csv.1, log.csv-20260131, log-20260131.csv."""
    folder, name = os.path.split(path)
    stem, ending = os.path.splitext(name)
    number = r"[.-]\d[\dT:._-]*"
    pattern = re.compile(f"{re.escape(name)}{number}|{re.escape(stem)}{number}{re.escape(ending)}")
    found = []
    with suppress(OSError):
        for entry in os.scandir(folder or "."):
            if pattern.fullmatch(entry.name) and not entry.name.endswith(PACKED) and entry.is_file():
                found.append((entry.stat().st_mtime_ns, os.path.join(folder, entry.name)))
    return [path for _, path in sorted(found)]
