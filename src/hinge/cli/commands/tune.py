"""Try a grid of options over the same stream, in one pass, and choose by progressive error.

The error of the best of many learners is too optimistic: on other data it will be slightly higher. The committee that
'hinge learn' uses without options is run for comparison. If it is nearly as good, no tuning is needed.

  hinge tune train.svm -m best.hinge
  hinge tune mails.jsonl.gz --text body --grid C=0.001,0.01,0.1 --grid step=pa1,pa2 --grid average=no,yes
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
from typing import Any

from ...model.locks import lock_for_writing
from ...streams.stream import Piece
from ...tasks import TASKS
from .. import candidates, learner_options, race, reading
from ..arguments import check_place, check_plot, limits
from ..candidates import Candidate
from ..options import BadOption, read_value
from ..progress import short_error

MAX_COMBINATIONS = 200
COMMITTEE = Candidate({}, learner_options.COMMITTEE)
# Tuning is not needed if the committee's error is larger by this share at most, or by the standard deviation of the
# number of mistakes.
CLOSE = 0.05
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
    if arguments.key is not None:
        raise ValueError(
            "--key: tune chooses the options of one learner; 'hinge compare --key' compares fleets"
        )
    options = learner_options.learner_options(arguments)
    grid = read_grid(arguments.grid) if arguments.grid else []
    bad = reading.bad_lines(arguments)
    stream, name = reading.open_stream(arguments, None, limits(None, options, arguments.task), bad)
    tried = [Candidate(texts, arguments.algorithm) for texts in grid]

    committee: list[race.Runner] = []

    def runners(task: str, piece: Piece) -> list[race.Runner]:
        if not arguments.grid:
            tried.extend(candidates.default_candidates(task, piece.batch, arguments.algorithm, options))
        found = [_runner(task, each, options) for each in tried]
        if arguments.algorithm is None and _is_comparable(task, options):
            tried.append(COMMITTEE)
            committee.append(_runner(task, COMMITTEE, options))
            committee[0].is_candidate = not arguments.grid
        return found + committee

    running = race.Race(race.in_order(stream, arguments), bad, runners, overrides=False)
    stopped = race.run(running, arguments)
    race.show(running, arguments, sorted(running.runners, key=lambda runner: runner.error))
    _say_whether_needed(running, committee, arguments.json)
    best = tried[running.runners.index(running.best)]
    if not arguments.json:
        print(f"Best{' so far' if stopped else ''}: {best.flags}")
    if arguments.model is not None:
        race.save_best(running, arguments.model, name)
        if not arguments.json:
            print(f"The best model is in {arguments.model}")
    return race.finish(running, arguments, stopped)


def _runner(task: str, candidate: Candidate, options: dict[str, Any]) -> race.Runner:
    """What `hinge learn` would learn with these options."""
    its = {**options, **candidate.options}
    return race.Runner(candidate.name, learner_options.with_committee(task, candidate.spec, its), its)


def _is_comparable(task: str, options: dict[str, Any]) -> bool:
    """Whether a committee can be compared with single learners: it has another error for sets of labels."""
    possible = learner_options.is_possible(task, learner_options.COMMITTEE, options)
    return possible and TASKS[task].committee_error_words is None


def _say_whether_needed(running: race.Race, committee: list[race.Runner], as_json: bool) -> None:
    """Compares the committee, which needs no tuning, with the best of the others."""
    tuned = [runner for runner in running.running if runner not in committee]
    if not tuned or any(runner.out for runner in committee) or not committee:
        return
    ours, best = committee[0].error, min(runner.error for runner in tuned)
    noise = math.sqrt(best / running.examples) if TASKS[running.task].error_is_share else 0.0
    needed = ours > best + max(CLOSE * best, noise)
    if as_json:
        print(json.dumps({"event": "committee", "error": ours, "best_error": best, "tuning_needed": needed}))
        return
    errors = f"{short_error(running.task, ours)}, the best candidate {short_error(running.task, best)}"
    verdict = "Tuning helps" if needed else "No tuning needed"
    print(f"{verdict}: without any option the committee of 'hinge learn' has an error of {errors}.")


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
