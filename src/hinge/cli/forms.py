"""`hinge compare --key`: which form of a fleet suits a stream. It is `hinge.fleet.compare_forms` in one pass."""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from ..streams.batches import BadLines, part
from ..streams.files import printable
from ..streams.fleets import FleetStudy
from ..streams.stream import Piece, Shuffled, Stream
from . import fleet_options, race
from .options import flag
from .progress import error_text, short_error, skipped_examples

STRENGTHS = (0.25, 0.5, 1.0)
GROUPS = ((0, 10), (10, 100), (100, 1000), (1000, None))  # ages of keys: among AGES
CLOSE = 0.01  # errors of numbers that differ by less than this share are the same


@dataclass
class Form(race.Runner):
    """One of the forms. A control gets keys that were dealt out at random."""

    dealt: list[Any] | None = None
    at: int = 0  # examples so far

    def begin(self, task: str, overrides: bool) -> None:
        self.study = fleet_options.new_fleet_study(task, self.spec, self.options)

    def learn(self, piece: Piece, start: int, stop: int, bad: BadLines) -> None:
        if self.dealt is not None:
            some = part(piece.batch, start, stop)
            keys = self.dealt[self.at : self.at + len(some)]
            piece, start, stop = piece._replace(batch=replace(some, keys=keys)), 0, len(some)
        self.at += stop - start
        super().learn(piece, start, stop, bad)

    @property
    def by_age(self) -> Any:
        assert isinstance(self.study, FleetStudy)
        return self.study.by_age


def run(
    arguments: argparse.Namespace, open_stream: Callable[[dict[str, Any], BadLines], Stream], bad: BadLines
) -> int:
    if arguments.certificate:
        raise ValueError(
            "--certificate compares learners: in Python, fleet.certificate(keys, X, y) is that of a fleet"
        )
    options = fleet_options.fleet_options(arguments)
    if "shared" in options:
        raise ValueError("--shared: both forms are among those compared; hinge learn takes it")
    stream = race.in_order(open_stream(options, bad), arguments)
    keys: list[Any] | None = None
    if stream.can_be_read_again:
        keys = dealt_keys(
            race.in_order(open_stream(options, BadLines(bad.skip, bad.most)), arguments),
            arguments.random_state,
        )

    def forms(task: str, piece: Piece) -> list[race.Runner]:
        fleet_options.check_task(task)
        return list(forms_of(arguments.algorithm, options, keys))

    running = race.Race(stream, bad, forms, overrides=False)
    stopped = race.run(running, arguments)
    _show(running, arguments, sorted(running.runners, key=lambda runner: runner.error))
    return race.finish(running, arguments, stopped)


def dealt_keys(stream: Stream | Shuffled, seed: int) -> list[Any]:
    """The keys of all examples, in random order."""
    keys = [key for piece in stream.once() for key in piece.batch.keys or []]
    random.Random(seed).shuffle(keys)
    return keys


def forms_of(spec: str | None, options: dict[str, Any], keys: list[Any] | None) -> list[Form]:
    """The forms to compare. `keys`: those of the controls; None: they are not known ahead."""
    strengths = (options["personal"],) if "personal" in options else STRENGTHS
    both = {f"shared + personal {s:g}": {**options, "personal": s} for s in strengths}
    found = [
        # A personal part that is too weak to change a bit of anything, so that the ages of keys are known here, too.
        Form("one model for all", spec, {**options, "personal": 1e-9}),
        Form("per key", spec, {**options, "shared": False}),
        *(Form(name, spec, its) for name, its in both.items()),
    ]
    if keys is not None:
        found += [
            Form(f"shuffled keys, {s:g}", spec, {**options, "personal": s}, is_candidate=False, dealt=keys)
            for s in strengths
        ]
    return found


# ---- the result -------------------------------------------------------------------------------------------------


def _show(running: race.Race, arguments: argparse.Namespace, order: list[Any]) -> None:
    if arguments.json:
        for form in order:
            record = {"error": form.error, "out": form.out or None, "best": form is running.best,
                      "control": form.dealt is not None, "options": form.options, "by_age": {
                          _ages(first, end): form.by_age.score(first, end).error
                          for first, end in GROUPS if not form.out and form.by_age.score(first, end).rounds
                      }}  # fmt: skip
            print(json.dumps({"event": "form", "name": form.name, **record}))
        print(json.dumps({"event": "advice", "text": advice(running, arguments.key)}))
        return
    from .console import new_console, new_table, show_table

    groups = [(first, end) for first, end in GROUPS if order[0].by_age.score(first, end).rounds]
    ages = [_ages(first, end) for first, end in groups]
    table = new_table("form", "error", *ages, right=("error", *ages))
    for form in order:
        if form.out:
            continue
        errors = [
            "" if form.dealt is not None else short_error(running.task, form.by_age.score(first, end).error)
            for first, end in groups
        ]
        table.add_row(form.name, short_error(running.task, form.error), *errors)
    show_table(new_console(), table)
    for form in order:
        if form.out:
            print(f"{form.name}: out: {form.out}")
    print("1-10: the error of the first ten examples of each key, and so on. Shuffled keys: the control.")
    if running.bad.count:
        print(f"{skipped_examples(running.bad.count)}; the first: {running.bad.first[0]}")
    if running.stopped:
        print("Stopped before the end of the data.")
    print(printable(f"{running.examples:,} examples, {running.task}. {advice(running, arguments.key)}"))


def _ages(first: int, end: int | None) -> str:
    return f"{first + 1}+" if end is None else f"{first + 1}-{end}"


def advice(running: race.Race, key: str) -> str:
    """One sentence: which form to use. Keys that do not help clearly are left out."""
    forms = {form.name: form for form in running.running}
    one, best = forms.get("one model for all"), running.best
    if one is None or one.out:
        return f"Use {_flags(best, key)}."
    errors = f"{error_text(best.study, best.error)}, one model for all {short_error(running.task, one.error)}"
    if best is one or not _is_better(running, best.error, one.error):
        return f"Use one model for all, without --key: no form with keys is clearly better ({errors})."
    control = forms.get(f"shuffled keys, {best.options.get('personal', 0):g}")
    if control is None:
        return f"Use {_flags(best, key)}: {errors}."
    errors = f"{errors}, with shuffled keys {short_error(running.task, control.error)}"
    if not _is_better(running, best.error, control.error):
        return (
            f"The keys do not matter: shuffled ones do as well, so that a smaller --C for one model may help as much "
            f"({errors})."
        )
    return f"Use {_flags(best, key)}: {errors}."


def _is_better(running: race.Race, error: float, other: float) -> bool:
    """By more than chance: twice the standard deviation of the difference of two counts of mistakes."""
    if not running.best.study._task.error_is_share:
        return error < (1 - CLOSE) * other
    return other - error > 2 * math.sqrt((error + other) / running.examples)


def _flags(form: race.Runner, key: str) -> str:
    """The options of `hinge learn` for a form."""
    options = form.options
    strength = options.get("personal", 0.5)
    words = (
        ["--no-shared"]
        if options.get("shared") is False
        else []
        if strength == 0.5
        else [f"{flag('personal')} {strength:g}"]
    )
    return " ".join(["hinge learn --key", key, *words])
