"""Learning from a stream, with everything that a long run needs: passes, saving, stopping, and going on to the bit."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any

from ..model_file import ModelFileError
from .batches import BadLines
from .stream import Piece, Shuffled, Stream, awaited
from .study import Score, Study, part


@dataclass
class Position:
    """How far a run has come: a model keeps it, so that a later run can go on from there."""

    files: list[str]  # by their names
    format: str
    passes: int = 0  # that are over, and others followed
    examples: int = 0  # of the pass under way, with those that the learner refused
    refused: int = 0  # of them, if they were skipped
    scores: list[list[float]] = field(default_factory=list)  # of each pass: rounds and cost
    losses: list[float] = field(default_factory=list)  # of each finished pass: the mean loss
    before: list[float] = field(
        default_factory=lambda: [0, 0.0, 0]
    )  # updates, loss and rounds before this pass
    finished: bool = False
    most: int = 0  # examples of a pass
    begins: int = 0  # so many bytes of the first file are known,
    begins_with: str = ""  # by their digest
    seed: int | None = None  # of the shuffling; None: there is none
    weighted: bool = False  # whether some examples had weights: theorems are about those that have none

    @classmethod
    def of(cls, notes: dict[str, Any]) -> Position | None:
        """The position in a model's notes; None if it did not learn from a stream."""
        kept = notes.get("stream")
        if kept is None:
            return None
        try:
            position = cls(**kept["position"])
            whole = all(
                isinstance(n, int) and n >= 0 for n in (position.passes, position.examples, position.refused)
            )
            scores = position.scores
            whole = whole and len(scores) - position.passes in (0, 1) and len(position.before) == 3
            if not whole or not position.files or not all(len(score) == 2 for score in scores):
                raise ValueError("numbers are missing")
            return position
        except (TypeError, ValueError, KeyError, LookupError) as error:
            raise ModelFileError(f"what it says of its stream makes no sense: {error}") from None

    @property
    def learned(self) -> int:
        """How many examples of the pass under way were learned."""
        return self.examples - self.refused

    @property
    def score(self) -> Score:
        """Of the first pass: in later ones, the examples were seen before."""
        return Score(int(self.scores[0][0]), self.scores[0][1]) if self.scores else Score()


@dataclass
class Passes:
    """How often the data is gone over, and when that ends: the options of `fit`, for a stream."""

    most: int = 1
    tol: float | None = None
    n_iter_no_change: int = 5
    tolerance: float | None = None
    max_updates: int = 1_000_000

    def another(self, losses: list[float], updates: int, presented: int) -> bool:
        """Whether a pass is to follow the one that has ended. `updates` and `presented`: of that pass."""
        if self.tolerance is not None:
            return presented > 0 and updates > 0
        if len(losses) >= self.most or updates == 0:
            return False
        if self.tol is None:
            return True
        best, without = float("inf"), 0
        for loss in losses:
            without = 0 if loss < best - self.tol else without + 1
            best = min(best, loss)
        return without < self.n_iter_no_change


class Session:
    """A run: a stream, a learner (made when the first examples are there), and where it stands."""

    def __init__(
        self,
        stream: Stream | Shuffled,
        bad: BadLines,
        position: Position,
        begin: Callable[[Piece], Study],
        *,
        study: Study | None = None,
        passes: Passes | None = None,
        settings: Callable[[], dict[str, Any]] = dict,
        model: str | os.PathLike[str] | None = None,
        save_every: int | None = None,
    ) -> None:
        self.stream, self.bad, self.position, self.begin, self.study = stream, bad, position, begin, study
        self.passes = passes or Passes()
        self.settings = settings  # of the source, as they are once something has been read
        self.model, self.save_every = model, save_every
        self.stopped = False  # set it (from a signal, say) to end the run after the examples under way
        self.waiting = False  # for data
        self.presented = 0  # in this run
        self.updates_before: int = 0 if study is None or position.most else study.learner.statistics.updates
        self.seconds = 0.0
        self.done: float | None = None

    def run(self) -> Iterator[Session]:
        """Learns; yields after each step. Saves now and then, and at the end."""
        began, saved = monotonic(), 0
        for _ in self._steps():
            self.seconds = monotonic() - began
            yield self
            if self.save_every is not None and self.presented - saved >= self.save_every:
                self.save()
                saved = self.presented
            if self.stopped:
                break
        self.seconds = monotonic() - began
        self.save()

    def _steps(self) -> Iterator[None]:
        position = self.position
        while True:
            if position.examples == 0:
                position.before = self._suffered()
            updates, loss, rounds = position.before
            if isinstance(self.stream, Shuffled):
                self.stream.passes = position.passes
            if self.study is not None:
                self.study.score = self._score_of_pass()
            known = position.examples if self.stream.can_be_read_again else 0  # a pipe goes on by itself
            for piece in awaited(self, self.stream.once(after=known)):
                position.finished = False
                yield from self._learn(piece)
            after, its_loss, its_rounds = self._suffered()
            position.losses = [
                *position.losses[: position.passes],
                (its_loss - loss) / max(1, its_rounds - rounds),
            ]
            another = self.study is not None and self.passes.another(
                position.losses, int(after - updates), int(its_rounds - rounds)
            )
            if not another:
                position.finished = True
                return
            position.passes, position.examples, position.refused = position.passes + 1, 0, 0

    def _learn(self, piece: Piece) -> Iterator[None]:
        if self.study is None:
            self.study = self.begin(piece)
            self.study.score = self._score_of_pass()
        study, position = self.study, self.position
        passing: dict[str, Any] = {}
        for start, stop in cuts(position.examples, len(piece.batch)):
            if self.passes.tolerance is not None:
                left = self.passes.max_updates - study.learner.statistics.updates
                if left <= 0:
                    return
                passing = {"tolerance": self.passes.tolerance, "max_updates": left}
            refused = study.learn(part(piece.batch, start, stop), piece.file.name, self.bad, **passing)
            position.refused += refused
            position.weighted = position.weighted or piece.batch.weights is not None
            position.examples += stop - start
            position.most = max(position.most, position.learned)
            self.presented += stop - start
            position.scores[position.passes] = [study.score.rounds, study.score.cost]
            self.done = piece.done
            yield

    def _score_of_pass(self) -> Score:
        scores = self.position.scores
        if len(scores) <= self.position.passes:
            scores.append([0, 0.0])
        rounds, cost = scores[self.position.passes]
        return Score(int(rounds), cost)

    def _suffered(self) -> list[float]:
        if self.study is None:
            return [0, 0.0, 0]
        statistics = self.study.learner.statistics
        return [statistics.updates, statistics.loss, statistics.rounds]

    # ---- the model --------------------------------------------------------------------------------------------

    def save(self) -> None:
        if self.model is None or self.study is None:
            return
        keep(self.study, self.position, self.settings())
        self.study.save(self.model)


def keep(study: Study, position: Position, settings: dict[str, Any]) -> None:
    """Notes in the learner where it stands, and how its data is read."""
    study.learner.notes["stream"] = {"position": asdict(position), "settings": settings}


def cuts(first: int, count: int) -> Iterator[tuple[int, int]]:
    """Where to look at the learner: after each of the first examples, then in steps of a twentieth of all so far."""
    start = 0
    while start < count:
        stop = min(count, start + max(1, (first + start) // 20))
        yield start, stop
        start = stop
