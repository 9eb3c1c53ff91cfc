"""Predictions of a run, each made before its example is learned: a file that stays in step with the model."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ..streams.stream import Piece
from ..streams.study import Study
from .predict import told


class Predictions:
    """Where they are written to. A file that is continued is cut to `size`, which is what the model knows of it: what
    comes after it was predicted by a run that was killed, and will be predicted again."""

    def __init__(self, path: str, size: int | None, arguments: argparse.Namespace) -> None:
        self.path, self.arguments = path, arguments
        self.with_scores = bool(arguments.scores)
        self.size = size or 0  # in bytes
        self._regular = os.path.isfile(path) or not os.path.exists(path)
        self._file: Any = open(path, "r+b" if size and self._regular else "wb")  # noqa: SIM115 (see close)
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
        encoded = text.encode()
        self._file.write(encoded)
        self.size += len(encoded)

    def flush(self) -> int:
        """Everything so far is on the disk; returns its size."""
        self._file.flush()
        if self._regular:
            os.fsync(self._file.fileno())
        return self.size

    def close(self) -> None:
        self._file.close()
