"""Try a grid of options over the same stream, in one pass, and choose by progressive error.

The error of the best of many learners is too optimistic: on other data it will be slightly higher.

  hinge tune train.svm -m best.hinge
  hinge tune mails.jsonl.gz --text body --grid C=0.001,0.01,0.1 --grid step=pa1,pa2 --grid average=no,yes
"""

from __future__ import annotations

import argparse
import itertools
import os

from ...model.locks import lock_for_writing
from ...streams.stream import Piece
from .. import candidates, learner_options, race, reading
from ..arguments import check_place, check_plot, limits
from ..candidates import Candidate
from ..options import BadOption, read_value

MAX_COMBINATIONS = 200
DEFAULT_GRID = "pa1 and pa2 with C scaled to the examples, with and without intercept; averages; AROW"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the grid")
    group.add_argument(
        "--grid", metavar="NAME=A,B,...", action="append",
        help="An option and the values to try. If given several times, all combinations are tried, at most "
        f"{MAX_COMBINATIONS}. [default: {DEFAULT_GRID}]",
    )  # fmt: skip
    group.add_argument(
        "-m", "--model", metavar="FILE", help="Save the best model. It has learned the data once."
    )
    group.add_argument("--force", action="store_true", help="Replace the model at -m, if there is one.")
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
        raise ValueError(f"{arguments.model} already exists: --force replaces it")
    options = learner_options.learner_options(arguments)
    grid = read_grid(arguments.grid) if arguments.grid else []
    bad = reading.bad_lines(arguments)
    stream, name = reading.open_stream(arguments, None, limits(None, options, arguments.task), bad)
    tried = [Candidate(texts, arguments.algorithm) for texts in grid]

    def runners(task: str, piece: Piece) -> list[race.Runner]:
        if not arguments.grid:
            tried.extend(candidates.default_candidates(task, piece.batch, arguments.algorithm, options))
        return [race.Runner(each.name, each.spec, {**options, **each.options}) for each in tried]

    running = race.Race(race.in_order(stream, arguments), bad, runners, overrides=False)
    stopped = race.run(running, arguments)
    race.show(running, arguments, sorted(running.runners, key=lambda runner: runner.error))
    best = tried[running.runners.index(running.best)]
    if not arguments.json:
        print(f"Best{' so far' if stopped else ''}: {best.flags}")
    if arguments.model is not None:
        race.save_best(running, arguments.model, name)
        if not arguments.json:
            print(f"The best model is in {arguments.model}")
    return race.finish(running, arguments, stopped)


def read_grid(given: list[str]) -> list[dict[str, str]]:
    """All combinations, as texts."""
    axes: dict[str, str] = {}
    for axis in given:
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
            read_value(name, text)  # raises for an invalid value, before any data is read
    if count > MAX_COMBINATIONS:
        raise BadOption(f"--grid: there are {count} combinations, at most {MAX_COMBINATIONS} are allowed")
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
