"""The options of a learner on the command line, and the learner that is made from them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ..model.experts import is_several
from ..options import catalogue, table
from ..options.table.steps import STEPS_WITHOUT_C
from ..streams.evaluation import Study
from ..streams.guessing import guess_task
from ..streams.stream import Piece
from ..tasks import TASKS, on_streams
from .options import OF_THE_LEARNER, BadOption, add_parameters, flag, given, read_spec, read_value

COMMITTEE = "committee"  # the name of the default committee, next to those of the published algorithms

# The options that hold for all experts of a committee. Any other one chooses a single learner.
OF_COMMITTEES = (
    "margin", "epsilon", "fit_intercept", "intercept_value", "classes", "class_weight", "threshold", "sort_thresholds",
    "hash_bits", "max_features", "at_max_features", "max_weights", "max_labels",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the learner")
    add_task(group)
    group.add_argument(
        "-a", "--algorithm", metavar="NAME",
        help="A published algorithm ('hinge algorithms' lists them), optionally with options: arow:r=0.1. The options "
        "below are added to it. 'committee': several learners that vote. [default: committee, if the task has one and "
        "no option chooses a single learner; otherwise pa1]",
    )  # fmt: skip
    for title, names in table.GROUPS.items():
        if shown := [name for name in names if name in OF_THE_LEARNER]:
            add_parameters(parser.add_argument_group(f"the learner ({title})"), shown)


def add_task(group: Any) -> None:
    group.add_argument(
        "--task", choices=on_streams(), metavar="NAME",
        help=f"What to learn: {', '.join(on_streams())}. [default: inferred from the labels of the first examples]",
    )  # fmt: skip


def learner_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the learner that were given, without those of the algorithm."""
    return given(arguments, OF_THE_LEARNER)


def with_committee(task: str, spec: str | None, options: dict[str, Any]) -> str | None:
    """The algorithm to learn with: a committee, if nothing chooses a single learner."""
    chosen = spec is not None or any(name not in OF_COMMITTEES for name in options)
    return spec if chosen or not TASKS[task].has_linear_rows else COMMITTEE


def is_possible(task: str, spec: str, options: dict[str, Any]) -> bool:
    """Whether a learner is to be among those that nobody has named: a committee needs a task that has one, and options
    that hold for all experts."""
    return spec != COMMITTEE or with_committee(task, None, options) == COMMITTEE


def _of_committee(task: str, texts: dict[str, str], options: dict[str, Any]) -> dict[str, Any]:
    """The options of a committee: those that hold for all experts."""
    if not TASKS[task].has_linear_rows:
        having = ", ".join(name for name in on_streams() if TASKS[name].has_linear_rows)
        raise ValueError(f"{COMMITTEE} is for {having}, not for {task}")
    made = {**options, **{option: read_value(option, text) for option, text in texts.items()}}
    check_for_committee([name for name in made if name != "experts"])
    return {"experts": "auto", **made}


def check_for_committee(names: Iterable[str]) -> None:
    """Raises ValueError for an option that does not hold for all experts of a committee."""
    if single := [name for name in names if name not in OF_COMMITTEES]:
        raise ValueError(f"{flag(single[0])} is for a single learner: each expert of a committee has its own")


def options_for(
    task: str, spec: str | None, options: dict[str, Any], overrides: bool = False
) -> dict[str, Any]:
    """All options of a learner: those of the algorithm `spec`, and `options`. If they differ, `spec` wins with
    `overrides`; otherwise that is an error."""
    if spec is None and options.get("experts") is not None:
        spec = COMMITTEE
    if spec is None:
        several = is_several(options.get("covariance_regularizer"))  # of AROW, whose options are
        made = {"step": "pa2", "geometry": "diagonal", **options} if several else options
    elif spec.partition(":")[0] == COMMITTEE:
        made = _of_committee(task, read_spec(spec)[1], options)
    else:
        name, texts = read_spec(spec)
        r = {"r": read_r(texts.pop("r"))} if "r" in texts else {}
        values = {option: read_value(option, text) for option, text in texts.items()}
        table.check_names(task, values)
        for option in values:
            if options.get(option, values[option]) != values[option] and not overrides:
                raise ValueError(
                    f"{spec} has {option}={texts[option]}, and {flag(option)} says {options[option]}"
                )
        made = catalogue.options_of(name, task, {**options, **values, **r})
    table.check_names(task, made)
    if of_fit := [name for name in made if name in table.OF_FIT]:
        raise ValueError(f"{of_fit[0]} is not an option of a learner")
    return made


def check_spec(spec: str) -> None:
    """Raises for unknown options and invalid values, before any data is read."""
    _, texts = read_spec(spec)
    for option, text in texts.items():
        if option == "r":
            read_r(text)
        else:
            read_value(option, text)


def read_r(text: str) -> Any:
    """AROW's r: a number, auto, or several numbers."""
    try:
        return read_value("covariance_regularizer", text)
    except BadOption:
        raise ValueError(
            f"r must be a number greater than 0, auto, or a list: [0.1,1], not {text!r}"
        ) from None


def task_of(arguments: argparse.Namespace, piece: Piece, source: Any, say: Callable[[str], None]) -> str:
    """The given task, or the one that the labels of the first examples suggest, which is reported."""
    if arguments.task is not None:
        return str(arguments.task)
    guess = guess_task(piece.batch)
    label = source.settings.get("label")
    field = f"; the label is {label!r}" if isinstance(label, str) and arguments.label is None else ""
    few = f" in the first {len(piece.batch):,} examples" if arguments.data == ["-"] else ""
    override = "--task and --label override" if field else "--task overrides"
    say(f"Task: {guess.task}, because {guess.reason}{few}{field} ({override}).")
    if guess.or_else:  # an uncertain guess is reported even with --quiet
        print(
            f"The task {guess.task} is a guess, because {guess.reason}. It may be {guess.or_else}: set --task.",
            file=sys.stderr,
        )
    return guess.task


def new_study(task: str, spec: str | None, options: dict[str, Any], overrides: bool = False) -> Study:
    return Study.new(task, options_for(task, spec, options, overrides))


def in_words(study: Study) -> str:
    """The step of the learner and its options that differ from the defaults: pa1, C=1."""
    p = study.learner.parameters
    step = study._task.step_of(p)
    shown = {name: f"{name}={value}" for name, value in p.items()
             if name not in ("step", "classes", "w1") and value != table.default(name)
             and len(str(value)) < 60}  # fmt: skip
    if study.is_committee:
        shown.pop("experts", None)
        count = len(study.experts)
        kind = f"a committee of {count} expert{'s' if count != 1 else ''}"
        return ", ".join([kind, *shown.values()])
    if step not in STEPS_WITHOUT_C and "C" in p:
        statistics = study.learner.statistics
        unused = " capped no step" if step == "pa1" and statistics.updates and not statistics.capped else ""
        shown = {"C": "", **shown} | {"C": f"C={p['C']:g}{unused}"}
    return ", ".join([step, *shown.values()])
