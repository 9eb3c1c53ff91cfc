"""`hinge compare --key`: which form of a fleet suits a stream. It is `hinge.fleet.compare_forms` in one pass."""

from __future__ import annotations

import argparse
import json
import math
import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from ..fleet.forms import SETTINGS, UNLIMITED
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
ONE = "one model for all"


@dataclass
class Form(race.Runner):
    """One of the forms, with one of the settings of its step. A control gets keys that were dealt out at random."""

    form: str = ""
    setting: dict[str, Any] = field(default_factory=dict)
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

    @property
    def flags(self) -> str:
        """The options of `hinge learn`."""
        strength = self.options.get("personal", 0.5)
        if self.options.get("shared") is False:
            form = ["--no-shared"]
        else:
            form = [] if strength == 0.5 else [f"--personal {strength:g}"]
        return " ".join([*form, *(f"{flag(name)} {value}" for name, value in self.setting.items())])


def run(arguments: argparse.Namespace, open_stream: Callable[[BadLines], Stream], bad: BadLines) -> int:
    if arguments.certificate:
        raise ValueError(
            "--certificate compares learners: in Python, fleet.certificate(keys, X, y) is that of a fleet"
        )
    options = fleet_options.fleet_options(arguments)
    if "shared" in options:
        raise ValueError("--shared: both forms are among those compared; hinge learn takes it")
    stream = race.in_order(open_stream(bad), arguments)
    keys: list[Any] | None = None
    if stream.can_be_read_again:
        again = race.in_order(open_stream(BadLines(bad.skip, bad.most)), arguments)
        keys = dealt_keys(again, arguments.random_state)

    def forms(task: str, piece: Piece) -> list[race.Runner]:
        fleet_options.check_task(task)
        return list(forms_of(arguments.algorithm, options, keys))

    running = race.Race(stream, bad, forms, overrides=False)
    stopped = race.run(running, arguments)
    _show(running, arguments, best_settings(running))
    return race.finish(running, arguments, stopped)


def dealt_keys(stream: Stream | Shuffled, seed: int) -> list[Any]:
    """The keys of all examples, in random order."""
    keys = [key for piece in stream.once() for key in piece.batch.keys or []]
    random.Random(seed).shuffle(keys)
    return keys


def forms_of(spec: str | None, options: dict[str, Any], keys: list[Any] | None) -> list[Form]:
    """The forms to compare, each with several settings, unless options choose one: otherwise a form could win because
    its steps are longer or shorter. `keys`: those of the controls; None: they are not known ahead."""
    strengths = (options["personal"],) if "personal" in options else STRENGTHS
    both = [(f"shared + personal {s:g}", {"personal": s}, None) for s in strengths]
    controls = [(f"shuffled keys, {s:g}", {"personal": s}, keys) for s in strengths if keys is not None]
    forms: list[tuple[str, dict[str, Any], list[Any] | None]] = [
        (ONE, {"personal": 0.0, "max_features": UNLIMITED}, None),  # with the ages of the true keys
        *both,  # of equals the first one: it also has a cold start
        ("per key", {"shared": False}, None),
        *controls,
    ]
    is_chosen = spec is not None or not {"step", "C", "geometry"}.isdisjoint(options)
    return [
        Form(
            ", ".join([form, *(f"{name}={value}" for name, value in setting.items())]),
            spec,
            {**options, **setting, **its},
            is_candidate=dealt is None,
            form=form,
            setting=dict(setting),
            dealt=dealt,
        )
        for form, its, dealt in forms
        for setting in ([{}] if is_chosen else SETTINGS)
    ]


# ---- the result -------------------------------------------------------------------------------------------------


def best_settings(running: race.Race) -> list[Form]:
    """Each form with its best setting, the best form first."""
    found: dict[str, Form] = {}
    for runner in running.runners:
        if isinstance(runner, Form) and (runner.form not in found or runner.error < found[runner.form].error):
            found[runner.form] = runner
    return sorted(found.values(), key=lambda form: form.error)


def _show(running: race.Race, arguments: argparse.Namespace, order: list[Form]) -> None:
    sentence = advice(running, order, arguments.key)
    if arguments.json:
        for form in order:
            by_age = {
                _ages(first, end): score.error
                for first, end in GROUPS
                if not form.out and (score := form.by_age.score(first, end)).rounds
            }
            record = {"error": None if form.out else form.error, "out": form.out or None, "best": form is running.best,
                      "control": form.dealt is not None, "options": form.options, "by_age": by_age}  # fmt: skip
            print(json.dumps({"event": "form", "name": form.form, **record}))
        print(json.dumps({"event": "advice", "text": sentence}))
        return
    from .console import new_console, new_table, show_table

    groups = [(first, end) for first, end in GROUPS if order[0].by_age.score(first, end).rounds]
    ages = {group: _ages(*group) for group in groups}
    table = new_table("form", "error", *ages.values(), "with", right=("error", *ages.values()))
    for form in order:
        if form.out:
            continue
        errors = [
            "" if form.dealt is not None else short_error(running.task, form.by_age.score(*group).error)
            for group in groups
        ]
        words = ", ".join(f"{name}={value}" for name, value in form.setting.items())
        table.add_row(form.form, short_error(running.task, form.error), *errors, words)
    show_table(new_console(), table)
    for form in order:
        if form.out:
            print(printable(f"{form.form}: out: {form.out}"))
    print("1-10: the error of the first ten examples of each key, and so on. Shuffled keys: the control.")
    if running.bad.count:
        print(f"{skipped_examples(running.bad.count)}; the first: {running.bad.first[0]}")
    if running.stopped:
        print("Stopped before the end of the data.")
    print(printable(f"{running.examples:,} examples, {running.task}. {sentence}"))


def _ages(first: int, end: int | None) -> str:
    return f"{first + 1}+" if end is None else f"{first + 1}-{end}"


def advice(running: race.Race, order: list[Form], key: str) -> str:
    """One sentence: which form to use. Keys that do not help clearly are left out."""
    forms = {form.form: form for form in order if not form.out}
    best = next(form for form in order if not form.out and form.dealt is None)
    use = f"Use hinge learn --key {key} {best.flags}".rstrip()
    if (one := forms.get(ONE)) is None:
        return f"{use}."
    errors = f"{error_text(best.study, best.error)}, one model for all {short_error(running.task, one.error)}"
    if best is one or not _is_better(running, best.error, one.error):
        return f"Use one model for all, without --key: no form with keys is clearly better ({errors})."
    controls = [form for form in forms.values() if form.dealt is not None]
    if not controls:
        return f"{use}: {errors}."
    control = min(controls, key=lambda form: form.error)
    errors = f"{errors}, with shuffled keys {short_error(running.task, control.error)}"
    if not _is_better(running, best.error, control.error):
        return f"Use one model for all, without --key: shuffled keys do as well, so the keys do not matter ({errors})."
    return f"{use}: {errors}."


def _is_better(running: race.Race, error: float, other: float) -> bool:
    """By more than chance: twice the standard deviation of the difference of two counts of mistakes."""
    if not running.best.study._task.error_is_share:
        return error < (1 - CLOSE) * other
    return other - error > 2 * math.sqrt((error + other) / running.examples)
