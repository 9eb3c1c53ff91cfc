"""Several files of one format as one stream, pass after pass. A thread reads ahead of the learner."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any, NamedTuple

from .batches import BadLines, Batch, Source, joined, part, taken
from .files import Input
from .formats.text import read_ahead


class Piece(NamedTuple):
    """Examples, the file that they come from, and the part of the whole stream that has been read with them."""

    batch: Batch
    file: Input
    done: float | None  # from 0 to 1, if the sizes of all files are known


class Stream:
    """The examples of some files, in their order."""

    def __init__(self, files: list[Input], source: Source, bad: BadLines, ahead: int = 4) -> None:
        self.files, self.source, self.bad, self.ahead = files, source, bad, ahead
        self.stopped = False
        sizes = [file.size for file in files]
        self._sizes = [size for size in sizes if size is not None] if None not in sizes else None

    @property
    def can_be_read_again(self) -> bool:
        """Whether all are files, and none a pipe."""
        return all(file.is_file for file in self.files)

    def stop(self) -> None:
        """Ends the reading: `once` gives what has been read, and ends."""
        self.stopped = True
        for file in self.files:
            file.stop()

    def unread(self, after: tuple[str, int] | None = None) -> tuple[int, int]:
        """Lines that were taken from pipes and not handed over (or that come `after` this line of this file), and the
        bytes of a last line without its end."""
        lines = bytes_ = 0
        for file in self.files:
            if not file.is_file:
                before = after[1] if after is not None and after[0] == file.name else 0
                lines += file.held if after is None else max(0, file.lines_read - before)
                bytes_ += file.partial
        return lines, bytes_

    def once(self, after: int = 0, idle: Callable[[], None] | None = None) -> Iterator[Piece]:
        """One pass, without the first `after` examples (which are read, but not given). `idle` is called now and then
        while no example comes."""
        known = after
        pieces = read_ahead(self._pieces(), self.ahead, idle) if self.ahead else self._pieces()
        with closing(pieces):  # type: ignore[type-var]
            for piece in pieces:
                if after >= len(piece.batch):
                    after -= len(piece.batch)
                    continue
                yield piece._replace(batch=part(piece.batch, after, len(piece.batch)))
                after = 0
        if after > 0 and not self.stopped:
            names = ", ".join(file.name for file in self.files)
            raise ValueError(
                f"the model has learned {known:,} examples, and there are {known - after:,} in {names}: "
                "it is not the same data"
            )

    def _pieces(self) -> Iterator[Piece]:
        total = sum(self._sizes) if self._sizes is not None else 0
        before = 0
        for number, file in enumerate(self.files):
            if self.stopped:
                return
            for batch in self.source.batches(file, self.bad):
                done = min(1.0, (before + batch.position) / total) if total else None
                yield Piece(batch, file, done)
            before += self._sizes[number] if self._sizes is not None else 0


BLOCK = 1000  # examples that are shuffled out of memory together


class Shuffled:
    """The same examples, kept in memory and in a new random order each pass."""

    def __init__(self, stream: Stream, seed: int) -> None:
        self.stream, self.seed = stream, seed
        self.passes = 0  # how many have begun: each has an order of its own
        self._files: list[Input] = []
        self._kept: Batch | None = None
        self._file_of: Any = None
        self._error: Exception | None = None

    @property
    def can_be_read_again(self) -> bool:
        return self.stream.can_be_read_again

    @property
    def stopped(self) -> bool:
        return self.stream.stopped

    @property
    def source(self) -> Any:
        return self.stream.source

    @property
    def files(self) -> list[Input]:
        return self.stream.files

    def stop(self) -> None:
        self.stream.stop()

    def unread(self, after: tuple[str, int] | None = None) -> tuple[int, int]:
        return self.stream.unread(after)

    def once(self, after: int = 0, idle: Callable[[], None] | None = None) -> Iterator[Piece]:
        if self._kept is None:
            self._read(idle)
        assert self._kept is not None
        import numpy as np

        order = np.random.default_rng([self.seed, self.passes]).permutation(len(self._kept))
        self.passes += 1
        if after > len(order):
            raise ValueError(
                f"the model has learned {after:,} examples, and there are {len(order):,}: it is not the same data"
            )
        for start in range(after - after % BLOCK, len(order), BLOCK):  # the same pieces, wherever it resumes
            rows = order[max(start, after) : start + BLOCK]
            done = min(1.0, (start + BLOCK) / len(order))
            # One file per piece, so that errors have their place.
            for stop in _runs(self._file_of[rows]):
                yield Piece(
                    taken(self._kept, rows[stop].tolist()), self._files[self._file_of[rows[stop.start]]], done
                )
        if self._error is not None:
            raise self._error

    def _read(self, idle: Callable[[], None] | None) -> None:
        pieces: list[Piece] = []
        try:
            pieces.extend(self.stream.once(idle=idle))
        except (OSError, ValueError) as error:
            if self.can_be_read_again:
                raise
            self._error = error  # what came through a pipe before it is learned first
        import numpy as np

        self._files = list({id(piece.file): piece.file for piece in pieces}.values())
        places = {id(file): place for place, file in enumerate(self._files)}
        self._file_of = np.concatenate(
            [np.full(len(piece.batch), places[id(piece.file)]) for piece in pieces]
            or [np.zeros(0, dtype=int)]
        )
        self._kept = joined([piece.batch for piece in pieces])


def _runs(values: Any) -> Iterator[slice]:
    """Slices within which the values are the same."""
    cuts = [0, *((values[1:] != values[:-1]).nonzero()[0] + 1).tolist(), len(values)]
    return (slice(start, stop) for start, stop in pairwise(cuts) if stop > start)
