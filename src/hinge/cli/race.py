"""Several learners over the same stream in one pass: the common part of `compare` and `tune`."""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from ..streams.batches import BadLines, part
from ..streams.evaluation import Score, Study
from ..streams.guessing import guess_task
from ..streams.remarks import remarks
from ..streams.session import cuts, keep, with_first_label
from ..streams.stream import Piece, Shuffled, Stream
from ..tasks import TASKS
from . import learner_options, reading
from .app import whole
from .arguments import new_position
from .commands import learn
from .progress import Figures, Window, error_text, reporter, short_error, skipped_examples
from .stopping import stopping


@dataclass
class Runner:
    """One of the learners."""

    name: str
    spec: str | None  # the algorithm
    options: dict[str, Any]
    study: Any = None  # a `Study` or a `FleetStudy`, once the race has begun
    seconds: float = 0.0  # of predicting and learning
    out: str = ""  # why it was excluded
    is_candidate: bool = True  # else it is there for comparison
    curve: list[tuple[int, float]] = field(default_factory=list)

    @property
    def error(self) -> float:
        if self.study is None or self.out or not self.study.score.rounds:
            return math.inf
        return float(self.study.score.error)

    def begin(self, task: str, overrides: bool) -> None:
        self.study = learner_options.new_study(task, self.spec, self.options, overrides)

    def remarks(self) -> list[str]:
        return [] if self.study is None else remarks(self.study)

    def learn(self, piece: Piece, start: int, stop: int, bad: BadLines) -> None:
        assert self.study is not None
        began = perf_counter()
        taken = self.study.learn(part(piece.batch, start, stop), piece.file.name, bad)
        self.seconds += perf_counter() - began
        if taken.error is not None:
            raise taken.error


class Race:
    """The learners on their stream, and the progress."""

    def __init__(
        self,
        stream: Stream | Shuffled,
        bad: BadLines,
        runners_for: Callable[[str, Piece], list[Runner]],
        overrides: bool,
    ) -> None:
        """`runners_for` makes the learners, from the task and the first examples."""
        self.stream, self.bad, self.runners_for = stream, bad, runners_for
        self.runners: list[Runner] = []
        self.overrides = overrides  # see `learner_options.options_for`
        self.task_of: Callable[[Piece], str] = lambda piece: guess_task(piece.batch).task
        self.task = ""
        self.examples = 0
        self.done: float | None = None
        self.stopped = False
        self.error: Exception | None = None  # the error that ended the race; earlier examples were learned
        self.weighted = False  # whether examples had weights

    def stop(self) -> None:
        """Ends the race after the current examples. Everything that was read from a pipe is learned first."""
        self.stopped = True
        self.stream.stop()

    def run(self) -> Any:
        """Learns; yields after each step."""
        for pieces in with_first_label(self.stream.once()):
            if not self.task:
                self._begin(pieces[-1])
            for piece in pieces:
                yield from self._learn(piece)
                if self.stopped and self.stream.can_be_read_again:
                    return

    def _learn(self, piece: Piece) -> Any:
        self.weighted = self.weighted or piece.batch.weights is not None
        for start, stop in cuts(self.examples, len(piece.batch)):
            self._step(piece, start, stop)
            self.examples += stop - start
            self.done = piece.done
            yield
            if self.stopped and self.stream.can_be_read_again:
                return

    def _begin(self, piece: Piece) -> None:
        self.task = self.task_of(piece)
        self.runners = self.runners_for(self.task, piece)
        for runner in self.runners:
            try:
                runner.begin(self.task, self.overrides)
            except ValueError as error:
                runner.out = str(error)
        if all(runner.out for runner in self.runners):
            raise ValueError(self.runners[0].out)
        studies = [runner.study for runner in self.runners if runner.study is not None]
        for study in studies:  # all have the same error, so that they can be compared
            study.as_committee = any(its.is_committee for its in studies)

    def _step(self, piece: Piece, start: int, stop: int) -> None:
        """A learner that rejects the examples is excluded. If all reject them, the data is invalid."""
        worst, last_error = BadLines(), ValueError()
        for runner in self.running:
            skipped = BadLines(self.bad.skip, self.bad.most)
            try:
                runner.learn(piece, start, stop, skipped)
            except ValueError as error:
                runner.out, last_error = str(error), error
                continue
            worst = max(worst, skipped, key=lambda bad: bad.count)
            assert runner.study is not None
            runner.curve.append((runner.study.score.rounds, runner.study.score.error))
        if not self.running:
            raise last_error
        for number in range(worst.count):
            if (end := self.bad.reject(worst.first[min(number, len(worst.first) - 1)])) is not None:
                raise end

    @property
    def running(self) -> list[Runner]:
        return [runner for runner in self.runners if not runner.out]

    @property
    def best(self) -> Runner:
        candidates = [runner for runner in self.running if runner.is_candidate]
        return min(candidates or self.running, key=lambda runner: runner.error)


def add_shown(parser: argparse.ArgumentParser) -> Any:
    group = parser.add_argument_group("what is shown")
    learn.add_shown(group)
    group.add_argument(
        "--plot", metavar="FILE", help="Draw the progressive errors to a .png, .svg, .pdf or .html file."
    )
    order = parser.add_argument_group("the order of the examples")
    order.add_argument(
        "--shuffle", action="store_true", help="Read all of the data into memory first, and shuffle it."
    )
    order.add_argument(
        "--random-state", metavar="N", type=whole, default=0, help="The seed of --shuffle. [default: 0]"
    )
    return group


def in_order(stream: Stream, arguments: argparse.Namespace) -> Stream | Shuffled:
    """The stream, shuffled if --shuffle is given."""
    return Shuffled(stream, arguments.random_state) if arguments.shuffle else stream


def run(race: Race, arguments: argparse.Namespace) -> int | None:
    """Runs the race and reports progress. Returns the number of the signal that ended it early."""
    tell = reporter(arguments.quiet, arguments.json, arguments.progress)
    source = race.stream.source
    race.task_of = lambda piece: learner_options.task_of(arguments, piece, source, tell.say)
    window, started = Window(arguments.window, Score()), False
    with stopping() as stop:
        stop.then(race.stop)
        try:
            began = perf_counter()
            for _ in race.run():
                study = race.best.study
                assert study is not None
                if not started:
                    tell.start(study)
                    started = True
                tell.see(Figures(race.examples, study.score, window.see(study.score),
                                 study.statistics.updates, perf_counter() - began, race.done))  # fmt: skip
        except (ValueError, OSError) as error:
            if not race.examples or not race.running:
                raise
            race.stop()
            race.error = error
        finally:
            tell.close()
    if not race.examples and stop.number is not None:
        print("Stopped before anything was learned.", file=sys.stderr)
        raise SystemExit(128 + stop.number)
    if not race.examples:
        raise ValueError(f"there are no examples in {', '.join(file.name for file in race.stream.files)}")
    return stop.number


def show(race: Race, arguments: argparse.Namespace, order: Sequence[Runner]) -> None:
    """Prints the table of learners, in which the best is marked."""
    if arguments.json:
        for runner in order:
            print(json.dumps({"event": "learner", "name": runner.name, **_record(runner, race)}))
        return
    from .console import new_console, new_table, show_table

    numbers = ("error", "updates", "us/example")
    table = new_table("learner", *numbers, "", right=numbers)
    for runner in order:
        if runner.study is None or runner.out:
            table.add_row(runner.name, "", "", "", f"out: {runner.out}")
            continue
        table.add_row(
            runner.name,
            short_error(race.task, runner.error),
            f"{runner.study.statistics.updates:,}",
            f"{1e6 * runner.seconds / race.examples:.2f}",
            "best" if runner is race.best else "" if runner.is_candidate else "for comparison",
        )
    console = new_console()
    show_table(console, table)
    for text in [*reading.remarks(race.stream.source), *race.best.remarks()]:
        print(text)
    if race.stopped:
        print("Stopped before the end of the data.")
    if race.bad.count:
        print(f"{skipped_examples(race.bad.count)}; the first: {race.bad.first[0]}", file=sys.stderr)
    assert race.best.study is not None
    least = error_text(race.best.study, race.best.error)
    best = f"error: {least} for the best, each predicted before it was learned"
    print(f"{race.examples:,} examples, {race.task}; {best}")


def _record(runner: Runner, race: Race) -> dict[str, Any]:
    if runner.study is None or runner.out:
        return {"out": runner.out}
    statistics = runner.study.statistics
    return {"error": runner.error, "updates": statistics.updates, "mistakes": statistics.mistakes,
            "examples": race.examples, "microseconds": 1e6 * runner.seconds / race.examples,
            "options": {k: v for k, v in runner.study.learner.parameters.items() if isinstance(v, (int, float, str))},
            "best": runner is race.best}  # fmt: skip


def certify(race: Race, as_json: bool) -> None:
    """Prints the guarantees of each learner. The data is read again, once."""
    from .hindsight import certified

    running = [(runner, runner.study) for runner in race.running if runner.study is not None]
    if isinstance(race.stream, Shuffled):
        race.stream.passes = 0  # the same order again
    found = certified([(study, _no_certificate(race, study)) for _, study in running], race.stream)
    named = list(zip([runner.name for runner, _ in running], found, strict=True))
    if not as_json:
        _show_certificates(named)
        return
    for name, certificate in named:
        print(json.dumps({"event": "certificate", "name": name, **certificate.record}))


def _no_certificate(race: Race, study: Study) -> str:
    from .hindsight import first_is_start, no_comparators

    if race.weighted:
        return "the theorems are about examples without weights"
    if study.statistics.rounds + first_is_start(study) != race.examples:
        return "examples were skipped"
    return no_comparators(study, race.stream)


def _show_certificates(named: Sequence[tuple[str, Any]]) -> None:
    from .console import new_console, new_table, show_table

    table = new_table("learner", "guaranteed", "suffered", "of", "by", right=("guaranteed", "suffered"))
    reasons: list[str] = []  # footnotes
    for name, certificate in named:
        best = certificate.tightest
        if best is None:
            why = certificate.reason or next(
                (one.reason for one in certificate.guarantees), "no theorem is known"
            )
            if why not in reasons:
                reasons.append(why)
            table.add_row(name, "", "", "nothing", f"({reasons.index(why) + 1})")
        else:
            numbers = [_short(best.guaranteed), _short(best.suffered)]
            table.add_row(name, *numbers, best.quantity, best.theorem)
    show_table(new_console(), table)
    for number, why in enumerate(reasons, 1):
        print(f"({number}) {why}")
    against = next((certificate.against for _, certificate in named if certificate.against), "")
    if against:
        print(f"Guaranteed by the theorems, against {against}")


def _short(number: float) -> str:
    return f"{number:,.0f}" if 1000 <= number < 1e8 else f"{number:.4g}"


def save_best(race: Race, model: str, format_name: str) -> None:
    study = race.best.study
    assert study is not None
    stream = race.stream.stream if isinstance(race.stream, Shuffled) else race.stream
    seed = {"shuffle": True, "random_state": race.stream.seed} if isinstance(race.stream, Shuffled) else {}
    position = new_position(stream, format_name, seed)
    position.examples = position.most = race.examples
    position.finished = not race.stopped
    position.scores = [[study.score.rounds, study.score.cost]]
    keep(study, position, reading.kept_settings(race.stream.source, format_name))
    study.features = reading.features_of(race.stream.source)
    study.save(model)


def finish(race: Race, arguments: argparse.Namespace, stopped: int | None) -> int:
    """Draws the curves with --plot and returns the exit code. Raises the error that ended the race."""
    if arguments.plot is not None:
        draw(race, arguments.plot, arguments.json)
    if race.error is not None:
        raise race.error
    return 0 if stopped is None else 128 + stopped


def draw(race: Race, path: str, as_json: bool) -> None:
    from pathlib import Path

    from .. import plots
    from ..plots import style

    running = [runner for runner in race.running if runner.curve]
    drawn = sorted(running, key=lambda runner: runner.error)[: len(style.COLOURS)]
    curves = {runner.name: runner.curve for runner in running if runner in drawn}
    best = "" if len(drawn) == len(running) else f"; the best {len(drawn)} of {len(running)}"
    plots.progressive_curves(
        Path(path), curves, share=TASKS[race.task].error_is_share,
        title=title_of(race.best.study, {r.name: r.error for r in running}),
        subtitle=f"Progressive error, {race.examples:,} examples, each predicted before it was learned{best}",
        bold=race.best.name, x=TASKS[race.task].counted, digits=2,
    )  # fmt: skip
    print(json.dumps({"event": "plot", "file": path}) if as_json else f"The curves are in {path}")


def title_of(study: Study | None, errors: dict[str, float]) -> str:
    """The learner with the smallest error (or several that tie), and the error."""
    assert study is not None
    least = min(errors.values())
    best = [name for name, error in errors.items() if error == least]
    if len(best) > 3:
        best = [*best[:2], f"{len(best) - 2} others"]
    names = best[0] if len(best) == 1 else f"{', '.join(best[:-1])} and {best[-1]}"
    return f"{names} {'errs' if len(best) == 1 else 'err'} least: {error_text(study, least)}"
