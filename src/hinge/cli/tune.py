"""Try a grid of options over the same stream, in one pass, and choose by progressive error.

The best of many looks a little better than it is: its error on other data will be somewhat higher.

  hinge tune train.svm -m best.hinge
  hinge tune mails.jsonl.gz --text body --grid C=0.001,0.01,0.1 --grid step=pa1,pa2 --grid average=no,yes
"""

from __future__ import annotations

import argparse
import itertools
import os
from typing import Any

from ..locks import lock_for_writing
from ..parameters import PARAMETERS
from . import learner_options, race, reading
from .beginning import check_place, check_plot, limits
from .options import BadOption, flag, read_value

USUAL = {"C": "0.001,0.003,0.01,0.03,0.1,0.3,1,3,10", "step": "pa1,pa2"}
MOST = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the grid")
    usual = " ".join(f"--grid {name}={values}" for name, values in USUAL.items())
    group.add_argument(
        "--grid", metavar="NAME=A,B,...", action="append",
        help=f"An option and the values to try; several of them: all combinations, at most {MOST}. [default: {usual}]",
    )  # fmt: skip
    group.add_argument(
        "-m", "--model", metavar="FILE", help="Save the best one, which has learned the data once."
    )
    group.add_argument("--force", action="store_true", help="Replace a model that is there.")
    reading.add_arguments(parser)
    race.add_shown(parser)
    learner_options.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if arguments.plot is not None:
        check_plot(arguments.plot, arguments.data)
    if arguments.model is None:
        return tune(arguments)
    check_place(arguments.model, "the model", arguments.data)
    with lock_for_writing(arguments.model):
        return tune(arguments)


def tune(arguments: argparse.Namespace) -> int:
    if arguments.model is not None and os.path.exists(arguments.model) and not arguments.force:
        raise ValueError(f"{arguments.model} is there already: --force replaces it")
    options = learner_options.learner_options(arguments)
    grid = read_grid(arguments.grid, options)
    bad = reading.bad_lines(arguments)
    stream, name = reading.open_stream(arguments, None, limits(None, options, arguments.task), bad)
    runners = [
        race.Runner(" ".join(f"{option}={text}" for option, text in texts.items()), arguments.algorithm,
                    {**options, **{option: read_value(option, text) for option, text in texts.items()}})
        for texts in grid
    ]  # fmt: skip
    running = race.Race(race.in_order(stream, arguments), bad, runners, overrides=False)
    stopped = race.run(running, arguments)
    order = sorted(runners, key=lambda runner: runner.error)
    race.show(running, arguments, order)
    best = grid[runners.index(running.best)]
    if not arguments.json:
        print(
            f"Best{' so far' if stopped else ''}: {' '.join(as_flag(option, text) for option, text in best.items())}"
        )
    if arguments.model is not None:
        race.save_best(running, arguments.model, name)
        if not arguments.json:
            print(f"The best model is in {arguments.model}")
    if arguments.plot is not None:
        race.draw(running, arguments.plot, f"{running.best.name} errs least", arguments.json)
    if running.error is not None:
        raise running.error
    return 0 if stopped is None else 128 + stopped


def as_flag(option: str, text: str) -> str:
    """An option as `hinge learn` takes it."""
    if PARAMETERS[option].allowed != "True or False":
        return f"{flag(option)} {text}"
    return flag(option) if read_value(option, text) else f"--no-{option.replace('_', '-')}"


def read_grid(given: list[str] | None, options: dict[str, Any]) -> list[dict[str, str]]:
    """All combinations, as texts. Options that are fixed are not in the usual grid."""
    axes = {name: values for name, values in USUAL.items() if name not in options} if not given else {}
    for axis in given or ():
        name, equals, values = axis.partition("=")
        if not equals or not values:
            raise BadOption(f"--grid: {axis!r} should be an option and its values, as in C=0.01,0.1,1")
        name = name.strip().replace("-", "_")
        axes[name] = f"{axes[name]},{values}" if name in axes else values
    lists = {name: values.split(",") for name, values in axes.items()}
    count = 1
    for name, texts in lists.items():
        count *= len(texts)
        for text in texts:
            read_value(name, text)  # refuses what must be refused, before any data is read
    if count > MOST:
        raise BadOption(f"--grid: there are {count} combinations, the most is {MOST}")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
