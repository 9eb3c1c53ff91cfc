"""Progress of a run: a bar on a terminal, plain lines elsewhere, JSON with --json."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple, TextIO

from ..streams.evaluation import Score
from ..streams.session import Every
from ..streams.studies import SessionStudy
from ..tasks import TASKS


class Figures(NamedTuple):
    """The state of a run after some examples."""

    examples: int  # of this run and of those that it resumes
    score: Score  # of all predictions
    window: Score  # of the last predictions
    updates: int
    seconds: float
    done: float | None  # the share of the data that has been read; None: unknown

    def record(self) -> dict[str, Any]:
        return {
            "examples": self.examples,
            "error": _or_none(self.score.error),
            "window_error": _or_none(self.window.error),
            "updates": self.updates,
            "seconds": round(self.seconds, 3),
        }


def _or_none(error: float) -> float | None:
    return None if error != error else error


class Window:
    """The score of the last `size` rounds, rounded up to whole steps of the session."""

    def __init__(self, size: int, score: Score) -> None:
        self.size = size
        self._before: deque[Score] = deque([Score(score.rounds, score.cost)])

    def see(self, score: Score) -> Score:
        before = self._before
        before.append(Score(score.rounds, score.cost))
        while len(before) > 2 and score.rounds - before[1].rounds >= self.size:
            before.popleft()
        return score.since(before[0])


def examples(count: int) -> str:
    return f"{count:,} example{'s' if count != 1 else ''}"


def skipped_examples(count: int) -> str:
    return f"{examples(count)} {'were' if count != 1 else 'was'} skipped"


def error_text(study: SessionStudy, error: float) -> str:
    if error != error:
        return "no error yet"
    return f"{short_error(study.task, error)} {study.error_words}"


def short_error(task: str, error: float) -> str:
    if error != error:
        return "-"
    return f"{100 * error:.2f} %" if TASKS[task].error_is_share else f"{error:.4g}"


class Quiet:
    """Reports nothing. The base class of all reporters."""

    def start(self, study: SessionStudy) -> None:
        pass

    def see(self, figures: Figures) -> None:
        pass

    def say(self, text: str) -> None:
        """A message for the user."""

    def close(self) -> None:
        pass


class Heard(Quiet):
    """Reports while the output can be written. If that fails, `gone` is the error, and `then` is called: it ends the
    run as a signal does, so that no example is lost."""

    def __init__(self, reporter: Quiet) -> None:
        self.reporter = reporter
        self.gone: OSError | None = None
        self.then: Callable[[], None] = lambda: None

    def start(self, study: SessionStudy) -> None:
        self._try(self.reporter.start, study)

    def see(self, figures: Figures) -> None:
        self._try(self.reporter.see, figures)

    def say(self, text: str) -> None:
        self._try(self.reporter.say, text)

    def close(self) -> None:
        self._try(self.reporter.close)

    def _try(self, report: Callable[..., None], *what: Any) -> None:
        if self.gone is not None:
            return
        try:
            report(*what)
        except OSError as error:
            self.gone = error
            self.then()


class Json(Quiet):
    """One JSON object per line: at doubling numbers of examples, and at least once a minute."""

    def __init__(self, out: TextIO, every: Every | None = None) -> None:
        self.out, self.schedule = out, _Schedule(every)

    def see(self, figures: Figures) -> None:
        if self.schedule.due(figures):
            self.write("progress", figures.record())

    def say(self, text: str) -> None:
        self.write("note", {"text": text})

    def write(self, event: str, record: dict[str, Any]) -> None:
        print(json.dumps({"event": event, **record}), file=self.out, flush=True)


class Lines(Quiet):
    """Plain lines, at doubling numbers of examples (as vw does), and at least once a minute."""

    def __init__(self, out: TextIO, every: Every | None = None) -> None:
        self.out, self.schedule = out, _Schedule(every)
        self.task = ""

    def start(self, study: SessionStudy) -> None:
        self.task = study.task
        about = study.error_words
        print(f"{'examples':>12}  {'error':>9}  {'lately':>9}  {'updates':>11}  {'seconds':>8}   (error: {about})",
              file=self.out)  # fmt: skip

    def see(self, figures: Figures) -> None:
        if self.schedule.due(figures):
            overall, window = (
                short_error(self.task, score.error) for score in (figures.score, figures.window)
            )
            print(f"{figures.examples:>12,}  {overall:>9}  {window:>9}  {figures.updates:>11,}  "
                  f"{figures.seconds:>8.1f}", file=self.out, flush=True)  # fmt: skip

    def say(self, text: str) -> None:
        print(text, file=self.out, flush=True)


class _Schedule:
    """Decides after which examples a line is printed."""

    def __init__(self, every: Every | None = None) -> None:
        self.every = every
        self.examples, self.seconds = 1, 60.0
        if every is not None:
            self.examples, self.seconds = every.examples or 2**62, every.seconds or math.inf

    def due(self, figures: Figures) -> bool:
        if figures.examples < self.examples and figures.seconds < self.seconds:
            return False
        if self.every is None:
            while self.examples <= figures.examples:
                self.examples *= 2
            self.seconds = figures.seconds + 60
        elif self.every.seconds is not None:
            self.seconds = figures.seconds + self.every.seconds
        elif self.every.examples is not None:
            self.examples = figures.examples - figures.examples % self.every.examples + self.every.examples
        return True


class Bar(Quiet):
    """A moving bar, with the error and the speed next to it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        self.console = Console(stderr=True, markup=False, highlight=False, emoji=False)
        self.progress = Progress(
            BarColumn(bar_width=18),
            TextColumn("{task.fields[examples]:>12,}  {task.fields[speed]:>12}/s"),
            TextColumn("{task.fields[error]}", style="bold"),
            TextColumn("{task.fields[window]}  {task.fields[updates]:,} updates"),
            TimeRemainingColumn(compact=True),
            console=self.console,
            transient=True,  # the summary repeats the numbers
        )
        self.bar: Any = None
        self.study: SessionStudy | None = None
        self.shown_at = 0.0

    def start(self, study: SessionStudy) -> None:
        self.study = study
        self.bar = self.progress.add_task(
            "", total=None, examples=0, speed="", error="", window="", updates=0, completed=0
        )
        self.progress.start()

    def see(self, figures: Figures) -> None:
        now = time.monotonic()
        if self.bar is None or self.study is None or now - self.shown_at < 0.1:
            return
        self.shown_at = now
        self.progress.update(
            self.bar,
            total=None if figures.done is None else 1.0,
            completed=figures.done or 0.0,
            examples=figures.examples,
            speed=f"{figures.examples / max(figures.seconds, 1e-9):,.0f}",
            error=error_text(self.study, figures.score.error),
            window=f"(lately {short_error(self.study.task, figures.window.error)})",
            updates=figures.updates,
        )

    def say(self, text: str) -> None:
        self.console.print(text, soft_wrap=True)

    def close(self) -> None:
        if self.bar is not None:
            self.progress.stop()


def reporter(quiet: bool, as_json: bool, every: Every | None = None) -> Quiet:
    """`every`: how often to print a line. None: the default, which is a bar on a terminal."""
    if quiet:
        return Quiet()
    if as_json:
        return Json(sys.stdout, every)
    if sys.stderr is None:  # it is closed
        return Quiet()
    dumb = not sys.stderr.isatty() or os.environ.get("TERM") == "dumb"
    return Lines(sys.stderr, every) if dumb or every is not None else Bar()
