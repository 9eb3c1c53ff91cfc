"""Predictions of a run, each made before its example is learned: a file that stays in step with the model."""

from __future__ import annotations

import argparse
import os
from contextlib import suppress
from typing import Any

from ..streams.evaluation import Study
from ..streams.stream import Piece
from .commands.predict import told

MOST_WAITING = 1 << 16  # bytes


class Predictions:
    """A file of predictions. A file that is continued is cut to `size`, which the model has saved: the rest was
    predicted by a run that was killed, and will be predicted again."""

    def __init__(self, path: str, size: int | None, arguments: argparse.Namespace) -> None:
        self.path, self.arguments = path, arguments
        self.with_scores = bool(arguments.scores)
        self.size = size or 0  # bytes that are certainly there
        self.error: OSError | None = None  # why no more can be written
        self.missing = 0  # lines that could not be written
        self._waiting = bytearray()
        self._bytes, self._lines = 0, 0  # since `size`
        self._regular = os.path.isfile(path) or not os.path.exists(path)
        mode = "r+b" if size and self._regular else "wb"
        self._file: Any = open(path, mode, buffering=0)  # noqa: SIM115 (see close)
        if size and self._regular:
            there = os.stat(path).st_size
            if there < size:
                self._file.close()
                raise ValueError(
                    f"{path} has {there:,} bytes, and had {size:,} when the model was saved: it is another file"
                )
            self._file.truncate(size)
            self._file.seek(size)

    def of(self, study: Study, piece: Piece, lanes: Any = None) -> str:
        """The prediction for some examples, as text; `lanes`: what `Study.lanes` said before they were learned."""
        return told(study, piece, self.arguments, lanes=lanes)

    def write(self, text: str) -> None:
        """Raises nothing: the example is learned. If it cannot be written, `error` says why."""
        encoded = text.encode()
        self._waiting += encoded
        self._lines += text.count("\n")
        self._bytes += len(encoded)
        if len(self._waiting) >= MOST_WAITING:
            self._write_out()

    def flush(self) -> int:
        """Everything so far is on the disk, unless there is an `error`; returns the size of what is."""
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
        data, self._waiting = memoryview(self._waiting), bytearray()
        if self.error is not None:
            self.missing, self._lines = self.missing + self._lines, 0
            return
        try:
            while data:
                data = data[self._file.write(data) :]
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """What is not certainly there is cut off, so that the file has whole lines."""
        self.error = OSError(error.errno, error.strerror, self.path)
        self.missing, self._bytes, self._lines = self._lines, 0, 0
        if self._regular:
            with suppress(OSError):
                self._file.truncate(self.size)
