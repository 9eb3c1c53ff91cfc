"""The file of predictions of a run, each made before its example is learned. It stays consistent with the model."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from typing import Any

from ..streams.stream import Piece
from ..streams.studies import SessionStudy
from .commands.predict import formatted

BUFFERED = 2**16  # bytes


class Predictions:
    """A file of predictions. A resumed run first truncates it to `size`, which is saved in the model: the rest was
    written by a run that was killed before it saved the model, and will be written again."""

    def __init__(self, path: str, size: int | None, arguments: argparse.Namespace) -> None:
        self.path, self.arguments = path, arguments
        self.with_scores = bool(arguments.scores)
        self.size = size or 0  # bytes that are certainly on the disk
        self.error: OSError | None = None  # after which nothing is written
        self.missing = 0  # lines that could not be written
        self._buffer = bytearray()
        self._bytes, self._lines = 0, 0  # since `size`
        self._regular = os.path.isfile(path) or not os.path.exists(path)
        mode = "r+b" if size and self._regular else "wb"
        self._file: Any = open(path, mode, buffering=0)  # noqa: SIM115 (see close)
        if size and self._regular:
            now = os.stat(path).st_size
            if now < size:
                self._file.close()
                raise ValueError(
                    f"{path} has {now:,} bytes, and had {size:,} when the model was saved: it is another file"
                )
            self._file.truncate(size)
            self._file.seek(size)

    def of(self, study: SessionStudy, piece: Piece, lanes: Any = None) -> str:
        """The predictions for some examples, as text. `lanes`: their scores from before they were learned."""
        return formatted(study, piece, self.arguments, lanes=lanes)

    def write(self, text: str) -> None:
        """Never raises, because the example is learned by now: `error` says why it could not be written."""
        encoded = text.encode()
        self._buffer += encoded
        self._lines += text.count("\n")
        self._bytes += len(encoded)
        if len(self._buffer) >= BUFFERED:
            self._write_out()

    def flush(self) -> int:
        """Writes everything to the disk, unless there is an `error`. Returns the size of what has been written."""
        self._write_out()
        try:
            if self.error is None and self._regular:
                os.fsync(self._file.fileno())
        except OSError as error:
            self._fail(error)
        if self.error is None:
            self.size += self._bytes
            self._bytes = self._lines = 0
        return self.size

    def close(self) -> None:
        self.flush()
        self._file.close()

    def _write_out(self) -> None:
        data, self._buffer = memoryview(self._buffer), bytearray()
        if self.error is not None:
            self.missing, self._lines = self.missing + self._lines, 0
            return
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Truncates the file to what is certainly on the disk, so that it has whole lines."""
        self.error = OSError(error.errno, error.strerror, self.path)
        self.missing, self._bytes, self._lines = self._lines, 0, 0
        if self._regular:
            with suppress(OSError):
                self._file.truncate(self.size)
