"""Several files of one format as one stream, pass after pass, read ahead of whoever learns from it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

from .._numpy import np
from ..rows import Rows
from .batches import BadLines, Batch, Numbers, Source
from .files import Input
from .study import part
from .text import read_ahead


class Piece(NamedTuple):
    """Examples, the file that they come from, and the part of the whole stream that has been read with them."""

    batch: Batch
    file: Input
    done: float | None  # from 0 to 1, if the sizes of all files are known


class Stream:
    """The examples of some files, in their order."""

    def __init__(self, files: list[Input], source: Source, bad: BadLines, ahead: int = 4) -> None:
        self.files, self.source, self.bad, self.ahead = files, source, bad, ahead
        sizes = [file.size for file in files]
        self._sizes = [size for size in sizes if size is not None] if None not in sizes else None

    @property
    def can_be_read_again(self) -> bool:
        """Whether all are files, and none a pipe."""
        return all(os.path.isfile(file.path) for file in self.files)

    def once(self, after: int = 0) -> Iterator[Piece]:
        """One pass, without the first `after` examples (which are read, but not given)."""
        known = after
        pieces = read_ahead(self._pieces(), self.ahead) if self.ahead else self._pieces()
        with closing(pieces):  # type: ignore[type-var]
            for piece in pieces:
                if after >= len(piece.batch):
                    after -= len(piece.batch)
                    continue
                yield piece._replace(batch=part(piece.batch, after, len(piece.batch)))
                after = 0
        if after > 0:
            names = ", ".join(file.name for file in self.files)
            raise ValueError(
                f"the model has learned {known:,} examples, and there are {known - after:,} in {names}: "
                "it is not the same data"
            )

    def _pieces(self) -> Iterator[Piece]:
        total = sum(self._sizes) if self._sizes is not None else 0
        before = 0
        for number, file in enumerate(self.files):
            for batch in self.source.batches(file, self.bad):
                done = min(1.0, (before + batch.position) / total) if total else None
                yield Piece(batch, file, done)
            before += self._sizes[number] if self._sizes is not None else 0


BLOCK = 1000  # examples that are shuffled out of memory together


class Shuffled:
    """The same examples, kept in memory and in a new random order each pass."""

    can_be_read_again = True

    def __init__(self, stream: Stream, seed: int) -> None:
        self.stream, self.seed = stream, seed
        self.passes = 0  # how many have begun: each has an order of its own
        self._files: list[Input] = []
        self._kept: Batch | None = None
        self._file_of: Any = None

    @property
    def source(self) -> Any:
        return self.stream.source

    @property
    def files(self) -> list[Input]:
        return self.stream.files

    def once(self, after: int = 0) -> Iterator[Piece]:
        if self._kept is None:
            self._read()
        assert self._kept is not None
        order = np.random.default_rng([self.seed, self.passes]).permutation(len(self._kept))
        self.passes += 1
        if after > len(order):
            raise ValueError(
                f"the model has learned {after:,} examples, and there are {len(order):,}: it is not the same data"
            )
        for start in range(after - after % BLOCK, len(order), BLOCK):  # the same pieces, wherever it goes on
            rows = order[max(start, after) : start + BLOCK]
            done = min(1.0, (start + BLOCK) / len(order))
            # One file a piece, so that what is refused can be told with its place.
            for stop in _runs(self._file_of[rows]):
                yield Piece(taken(self._kept, rows[stop]), self._files[self._file_of[rows[stop.start]]], done)

    def _read(self) -> None:
        pieces = list(self.stream.once())
        self._files = list({id(piece.file): piece.file for piece in pieces}.values())
        places = {id(file): place for place, file in enumerate(self._files)}
        self._file_of = np.concatenate(
            [np.full(len(piece.batch), places[id(piece.file)]) for piece in pieces]
            or [np.zeros(0, dtype=int)]
        )
        self._kept = joined([piece.batch for piece in pieces])


class Waiting(Protocol):
    stopped: bool
    waiting: bool  # for data


def awaited(run: Waiting, pieces: Iterator[Piece]) -> Iterator[Piece]:
    """The same pieces; `run` knows when it waits for one."""
    while True:
        run.waiting = not run.stopped
        try:
            piece = next(pieces, None)
        finally:
            run.waiting = False
        if piece is None:
            return
        yield piece


def _runs(values: Any) -> Iterator[slice]:
    """Slices within which the values are the same."""
    cuts = [0, *(np.flatnonzero(np.diff(values)) + 1).tolist(), len(values)]
    return (slice(start, stop) for start, stop in pairwise(cuts) if stop > start)


def joined(batches: list[Batch]) -> Batch:
    """All examples as one batch."""
    lines = [line for batch in batches for line in batch.lines]
    labels: Numbers | list[Any]
    if batches and isinstance(batches[0].labels, Numbers):
        parts: list[Numbers] = [batch.labels for batch in batches]  # type: ignore[misc]
        labels = Numbers(
            np.concatenate([its.values for its in parts]), _starts([its.starts for its in parts])
        )
    else:
        labels = [label for batch in batches for label in batch.labels]  # type: ignore[union-attr]
    X: Rows | list[Any]
    if batches and isinstance(batches[0].X, Rows):
        values, columns, starts = zip(*(batch.X.arrays[:3] for batch in batches), strict=True)  # type: ignore[union-attr]
        width = max(batch.X.width for batch in batches)  # type: ignore[union-attr]
        X = Rows(np.concatenate(values), np.concatenate(columns), _starts(starts), width)
    else:
        X = [x for batch in batches for x in batch.X]  # type: ignore[union-attr]
    weights = None
    if any(batch.weights is not None for batch in batches):
        weights = np.concatenate(
            [np.ones(len(batch)) if batch.weights is None else batch.weights for batch in batches]
        )
    names = [name for batch in batches for name in batch.new_names]
    if not batches:
        return Batch(X, labels, lines)
    return replace(batches[0], X=X, labels=labels, lines=lines, weights=weights, new_names=names)


def _starts(parts: Any) -> Any:
    """The starts of parts that follow each other."""
    ends = np.cumsum([0, *(its[-1] for its in parts)])
    return np.concatenate([[0], *(its[1:] + end for its, end in zip(parts, ends, strict=False))])


def taken(batch: Batch, rows: Any) -> Batch:
    """Some examples of a batch, in this order."""
    labels: Numbers | list[Any]
    if isinstance(batch.labels, Numbers):
        places, starts = _places(batch.labels.starts, rows)
        labels = Numbers(batch.labels.values[places], starts)
    else:
        labels = [batch.labels[row] for row in rows]
    X: Rows | list[Any]
    if isinstance(batch.X, Rows):
        values, columns, starts, width = batch.X.arrays
        places, starts = _places(starts, rows)
        X = Rows(values[places], columns[places], starts, width)
    else:
        X = [batch.X[row] for row in rows]
    weights = None if batch.weights is None else batch.weights[rows]
    return replace(batch, X=X, labels=labels, lines=[batch.lines[row] for row in rows], weights=weights)


def _places(starts: Any, rows: Any) -> tuple[Any, Any]:
    """Where the values of some rows are, and where each row begins among them."""
    lengths = starts[rows + 1] - starts[rows]
    ends = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(ends[-1]) + np.repeat(starts[rows] - ends[:-1], lengths)
    return places, ends
