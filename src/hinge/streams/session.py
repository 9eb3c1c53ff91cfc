"""Learning from a stream, with all that a long run needs: passes, saving, stopping, and resuming bit-identically."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import asdict, dataclass, field
from time import monotonic
from typing import Any, Protocol

from ..data.errors import InputError
from ..model.file import ModelFileError
from .batches import BadLines, has_label, part
from .evaluation import Score, Taken
from .files import PACKED, Input
from .follow import Growing
from .stream import Piece, Shuffled, Stream
from .studies import SessionStudy

PATIENCE = 5.0  # seconds for a reader to end
MOST_UNLABELLED = 1000  # examples that wait for the first label


@dataclass
class Position:
    """How far a run has come. It is saved with the model, so that a later run can resume there."""

    files: list[str]  # by their names
    format: str
    passes: int = 0  # that are over, and others followed
    examples: int = 0  # of the pass under way, with those that the learner rejected
    rejected: int = 0  # of them, if they were skipped
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
    log: dict[str, Any] | None = None  # of a log that is followed: where it is, see `follow.Place`
    predicted: int = 0  # bytes of the file of predictions
    weighted: bool = False  # whether some examples had weights: theorems are about those that have none
    unlabelled: int = 0  # of the pass under way: predicted, not learned
    guessed: list[float] = field(
        default_factory=list
    )  # see `Study.guess`: of the examples to come, up to the next look

    @classmethod
    def of(cls, notes: dict[str, Any]) -> Position | None:
        """The position in a model's notes; None if it did not learn from a stream."""
        kept = notes.get("stream")
        if kept is None:
            return None
        try:
            position = cls(**kept["position"])
            whole = all(
                isinstance(n, int) and n >= 0
                for n in (position.passes, position.examples, position.rejected, position.unlabelled)
            )
            scores = position.scores
            whole = whole and len(scores) - position.passes in (0, 1) and len(position.before) == 3
            if not whole or not position.files or not all(len(score) == 2 for score in scores):
                raise ValueError("numbers are missing")
            return position
        except (TypeError, ValueError, KeyError, LookupError) as error:
            raise ModelFileError(f"its record of the stream is invalid: {error}") from None

    def unknown_from(self, error: Exception, first: Input) -> None:
        """A wrong line may be corrected before the run is resumed: the first file is known by what is before it."""
        if not self.begins or not isinstance(error, InputError) or error.file != first.name:
            return
        with open(first.path, "rb") as file:
            lines = file.read(self.begins).split(b"\n")
        if error.line - 1 >= len(lines):
            return
        known = b"" if first.path.lower().endswith(PACKED) else b"\n".join([*lines[: error.line - 1], b""])
        self.begins, self.begins_with = len(known), hashlib.sha256(known).hexdigest()

    @property
    def learned(self) -> int:
        """How many examples of the pass under way were learned."""
        return self.examples - self.rejected - self.unlabelled

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


@dataclass
class Every:
    """How often something is to be done: after so many examples, or so many seconds."""

    examples: int | None = None
    seconds: float | None = None


class Predictions(Protocol):
    """Takes what is predicted for each example before it is learned. See `hinge.cli.predictions`."""

    error: OSError | None
    missing: int
    with_scores: bool

    def of(self, study: SessionStudy, piece: Piece, lanes: Any = None) -> str: ...
    def write(self, text: str) -> None: ...
    def flush(self) -> int: ...
    def close(self) -> None: ...


def with_first_label(pieces: Iterator[Piece]) -> Iterator[list[Piece]]:
    """One piece after the other; those before the first label come together with it, unless there are many."""
    held: list[Piece] = []
    for piece in pieces:
        held.append(piece)
        if has_label(piece.batch) or sum(len(its.batch) for its in held) >= MOST_UNLABELLED:
            break
    if held:
        yield held
    for piece in pieces:
        yield [piece]


class Session:
    """A run: a stream, a learner or a fleet (made when the first examples are there), and where it stands."""

    def __init__(
        self,
        stream: Stream | Shuffled,
        bad: BadLines,
        position: Position,
        begin: Callable[[Piece], SessionStudy],
        *,
        study: SessionStudy | None = None,
        labels_tell: bool = False,
        passes: Passes | None = None,
        settings: Callable[[], dict[str, Any]] = dict,
        model: str | os.PathLike[str] | None = None,
        save_every: Every | None = None,
        look_every: int | None = None,
        predictions: Predictions | None = None,
        warn: Callable[[str], None] = lambda text: None,
    ) -> None:
        self.stream, self.bad, self.position, self.begin, self.study = stream, bad, position, begin, study
        self.labels_tell = labels_tell  # whether `begin` needs an example with a label
        self.passes = passes or Passes()
        self.settings = settings  # of the source, as they are once something has been read
        self.predictions, self.look_every = predictions, look_every
        self.model, self.save_every, self.warn = model, save_every or Every(), warn
        self.stopped = False
        self.save_asked = False  # set it (from a signal, say) to save after the examples under way
        self.presented = 0  # in this run
        self.updates_before: int = 0 if study is None or position.most else study.statistics.updates
        self.seconds = 0.0
        self.done: float | None = None
        self.saved = Saved()
        if study is not None and position.most:
            self.saved = Saved(position.most, (position.passes, position.examples))
        self._held: list[Piece] = []  # examples without a label that came before the first one with a label
        self._stopped_at: float | None = None
        self._reached: tuple[str, int] = ("", 0)  # the file and the line where the last example began

    def stop(self) -> None:
        """Ends the run after the examples under way; what was taken from a pipe is learned before. From any signal."""
        self.stopped = True
        self.stream.stop()

    def ask_to_save(self) -> None:
        """Saves after the examples under way. From any signal."""
        self.save_asked = True

    @property
    def nothing_learned(self) -> bool:
        """Whether there is nothing to save that was not there before."""
        new = self.saved.examples is None and self.position.most == 0
        return self.study is None or (new and self.study.statistics.rounds == 0)

    @property
    def is_saved(self) -> bool:
        return (
            self.saved.place == (self.position.passes, self.position.examples)
            and self.saved.examples is not None
        )

    @property
    def unlabelled(self) -> int:
        """Examples without a label, which were not learned."""
        return self.position.unlabelled + sum(len(piece.batch) for piece in self._held)

    def ended_at(self, error: Exception) -> tuple[str, int] | None:
        """The file and the line after which an error left lines that were read and not learned; None: at their end."""
        if isinstance(error, InputError) and error.file is not None:
            return error.file, error.line
        return None if self.position.finished else self._reached

    def run(self) -> Iterator[Session]:
        """Learns; yields after each step. Saves now and then, and at the end, also if an error ends it: the examples
        before it are learned, and those after it are not."""
        began, error = monotonic(), None
        self.saved.when = began
        try:
            with closing(self._steps()) as steps:  # type: ignore[type-var]
                for _ in steps:
                    self.seconds = monotonic() - began
                    yield self
                    self._save_now_and_then()
                    if self.predictions is not None and self.predictions.error is not None:
                        raise self.predictions.error
                    if self.stopped and (self.stream.can_be_read_again or self.position.passes > 0):
                        break
        except (ValueError, OSError, MemoryError) as found:
            error = found
            self.stream.stop()
            self.position.unknown_from(error, self.stream.files[0])
        self.seconds = monotonic() - began
        self.save()
        if error is None and self.predictions is not None:
            error = self.predictions.error
        if error is not None:
            raise error

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
                self.study.begin_pass(position.passes)
            yield from self._pass()
            if self.stopped:
                return
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
            position.passes += 1
            position.examples = position.rejected = position.unlabelled = 0

    def _pass(self) -> Iterator[None]:
        again = self.stream.can_be_read_again
        known = self.position.examples if again else 0  # a pipe resumes by itself
        with closing(self.stream.once(known, self._idle)) as pieces:  # type: ignore[type-var]
            try:
                for piece in pieces:
                    self.position.finished = False
                    for labelled in self._begun(piece):
                        yield from self._learn(labelled)
            except BaseException:
                self.stream.stop()
                if not again:  # all that was taken from it is counted
                    with suppress(ValueError, OSError):
                        for _ in pieces:
                            pass
                raise
        for piece in self._begun(None):
            yield from self._learn(piece)

    def _begun(self, piece: Piece | None) -> list[Piece]:
        """The pieces to learn from. Until an example has a label they are held back, unless there are many: nothing
        shows what is to be learned. None: there are no more."""
        pieces = [*self._held, *([] if piece is None else [piece])]
        if self.study is None and pieces:
            self._held = pieces
            if piece is None and self.stopped:
                return []
            some = sum(len(its.batch) for its in pieces)
            if (
                piece is not None
                and self.labels_tell
                and some < MOST_UNLABELLED
                and not has_label(piece.batch)
            ):
                return []
            self.study = self.begin(pieces[-1])
            self.study.score = self._score_of_pass()
        self._held = []
        return pieces

    def _learn(self, piece: Piece) -> Iterator[None]:
        study, position = self.study, self.position
        assert study is not None
        passing: dict[str, Any] = {}
        for look, next_look in cuts(position.examples, len(piece.batch), len(position.guessed)):
            guessed = position.guessed or study.guess(part(piece.batch, look, next_look), piece.file.name)
            for start, stop in self._saves_between(look, next_look):
                if self.passes.tolerance is not None:
                    left = self.passes.max_updates - study.statistics.updates
                    if left <= 0:
                        return
                    passing = {"tolerance": self.passes.tolerance, "max_updates": left}
                costs = None if guessed is None else guessed[start - look : stop - look]
                some = piece._replace(batch=part(piece.batch, start, stop))
                taken = self._take(study, some, costs, passing)
                position.guessed = (
                    [] if guessed is None or taken.error is not None else guessed[stop - look :]
                )
                self._advance(taken, piece, start + taken.rows)
                if taken.error is not None:
                    raise taken.error
                yield

    def _take(
        self, study: SessionStudy, piece: Piece, costs: list[float] | None, passing: dict[str, Any]
    ) -> Taken:
        """Learns from all of a piece. In the first pass, writes what was predicted for each example before it was
        learned, if that is wanted."""
        batch, name, predictions = piece.batch, piece.file.name, self.predictions
        if predictions is None or self.position.passes > 0:
            return study.learn(batch, name, self.bad, costs, **passing)
        rejected = unlabelled = 0
        singles = ((row, row + 1) for row in range(len(batch)))
        for start, stop in singles if passing else study.runs(batch, predictions.with_scores):
            some = piece._replace(batch=part(batch, start, stop))
            its_costs = None if costs is None else costs[start:stop]
            its = self._predict_and_learn(study, predictions, some, its_costs, passing)
            rejected, unlabelled = rejected + its.rejected, unlabelled + its.unlabelled
            if its.error is not None:
                return Taken(start + its.rows, rejected, unlabelled, its.error)
        return Taken(len(batch), rejected, unlabelled)

    def _predict_and_learn(
        self,
        study: SessionStudy,
        predictions: Predictions,
        piece: Piece,
        costs: list[float] | None,
        passing: dict[str, Any],
    ) -> Taken:
        """One of `Study.runs`. Nothing is written for an example that is rejected."""
        batch, name = piece.batch, piece.file.name
        if len(batch) == 1:
            text = predictions.of(study, piece)
            its = study.learn(batch, name, self.bad, costs, **passing)
            if its.error is None and not its.rejected:
                predictions.write(text)
            return its
        learned: list[Any] = []
        its = study.learn(batch, name, self.bad, costs, learned, **passing)
        for some, lanes in learned:
            predictions.write(predictions.of(study, piece._replace(batch=some), lanes))
        return its

    def _advance(self, taken: Taken, piece: Piece, end: int) -> None:
        position, study = self.position, self.study
        assert study is not None
        position.rejected += taken.rejected
        position.unlabelled += taken.unlabelled
        position.weighted = position.weighted or piece.batch.weights is not None
        position.examples += taken.rows
        position.most = max(position.most, position.learned)
        self.presented += taken.rows
        position.scores[position.passes] = [study.score.rounds, study.score.cost]
        self.done = piece.done
        if end > 0:
            self._reached = (piece.file.name, int(piece.batch.lines[end - 1]))
        if end > 0 and isinstance(piece.file, Growing):
            position.log = piece.file.place(int(piece.batch.lines[end - 1]))

    def _saves_between(self, start: int, stop: int) -> Iterator[tuple[int, int]]:
        """The same examples, cut where a save or a report is due."""
        steps = [every for every in (self.save_every.examples, self.look_every) if every is not None]
        while steps and start < stop:
            due = start + min(every - self.position.examples % every for every in steps)
            if due >= stop:
                break
            yield start, due
            start = due
        if start < stop:
            yield start, stop

    def _score_of_pass(self) -> Score:
        scores = self.position.scores
        if len(scores) <= self.position.passes:
            scores.append([0, 0.0])
        rounds, cost = scores[self.position.passes]
        return Score(int(rounds), cost)

    def _suffered(self) -> list[float]:
        if self.study is None:
            return [0, 0.0, 0]
        statistics = self.study.statistics
        return [statistics.updates, statistics.loss, statistics.rounds]

    # ---- the model --------------------------------------------------------------------------------------------

    def _idle(self) -> None:
        """While no example comes. Some readers cannot be stopped while they wait (of packed pipes, say)."""
        self._save_now_and_then()
        if self.stream.stopped:
            self._stopped_at = self._stopped_at or monotonic()
            if monotonic() - self._stopped_at > PATIENCE:
                raise OSError("the input could not be stopped: what was read of it last is not learned")

    def _save_now_and_then(self) -> None:
        every, position = self.save_every, self.position
        place = (position.passes, position.examples)
        if place in (self.saved.place, self.saved.tried) or self.study is None:
            self.save_asked = False
            return
        due = every.examples is not None and position.examples % every.examples == 0
        due = due or (every.seconds is not None and monotonic() - self.saved.when >= every.seconds)
        if not due and not self.save_asked:
            return
        self.save_asked = False
        try:
            self.save()
        except OSError as error:  # a full disk, say: it may have room again the next time
            self.saved.tried, self.saved.when = place, monotonic()
            self.warn(
                f"{self.model} could not be saved after {position.most:,} examples: {error.strerror or error}"
            )

    def save(self) -> None:
        """Saves the model with where it stands, whole or not at all."""
        if self.model is None or self.study is None or self.nothing_learned:
            return
        if self.predictions is not None:
            self.position.predicted = self.predictions.flush()
        keep(self.study, self.position, self.settings())
        self.study.save(self.model)
        place = (self.position.passes, self.position.examples)
        self.saved = Saved(self.position.most, place, when=monotonic())


@dataclass
class Saved:
    """What the file of the model holds."""

    examples: int | None = None  # None: there is no file, or it is another model
    place: tuple[int, int] = (0, 0)  # pass and examples, when it was saved
    tried: tuple[int, int] | None = None  # the same, when it could not be
    when: float = 0.0


def keep(study: SessionStudy, position: Position, settings: dict[str, Any]) -> None:
    """Notes in the learner where it stands, and how its data is read."""
    study.notes["stream"] = {"position": asdict(position), "settings": settings}


def cuts(first: int, count: int, under_way: int = 0) -> Iterator[tuple[int, int]]:
    """Where to look at the learner: after each of the first examples, then in steps of a twentieth of all so far. Of
    the step `under_way` so many are left."""
    start = 0
    while start < count:
        stop = min(count, start + (under_way or max(1, (first + start) // 20)))
        yield start, stop
        start, under_way = stop, 0
