"""Compare several learners on the same stream, in one pass.

Learners are named as in 'hinge algorithms', with options after a colon; 'committee' is what 'hinge learn' uses without
options. The options below apply to all learners; the options of a learner override them.

  hinge compare train.svm committee pa1 pa1:C=auto arow:r=0.1,geometry=diagonal
  hinge compare letters.csv.gz pa1:C=0.01 simproj:C=0.1 mira --plot curves.png

With --key the forms of a fleet are compared: one model for all keys, one per key, and shared with personal weights, on
the true keys and, as a control, on shuffled ones.

  hinge compare clicks.jsonl --key user
"""

from __future__ import annotations

import argparse

from ...options.catalogue import algorithms
from ...streams.stream import Piece
from .. import fleet_options, learner_options, race, reading
from ..arguments import check_plot, limits

DEFAULT_LEARNERS = (
    "committee",
    "perceptron",
    "pa",
    "pa1",
    "pa1:C=0.1",
    "pa1:C=0.01",
    "pa2",
    "pa2:C=0.1",
    "arow:geometry=diagonal",
)

FEW_EXAMPLES = 20_000  # which are read again for the certificates by default


def add_arguments(parser: argparse.ArgumentParser) -> None:
    reading.add_arguments(parser)
    data = next(action for action in parser._actions if action.dest == "data")
    data.metavar = "DATA... LEARNER"
    data.help = f"{data.help} Then the learners. [default: {', '.join(DEFAULT_LEARNERS)}]"
    race.add_shown(parser).add_argument(
        "--certificate",
        action=argparse.BooleanOptionalAction,
        help="Read the data again, and print for each learner the guaranteed bound and what it suffered. "
        f"[default: for up to {FEW_EXAMPLES:,} examples]",
    )
    learner_options.add_arguments(parser)
    fleet_options.add_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    names = {learner_options.COMMITTEE, *(algorithm.name for algorithm in algorithms())}
    specs = [word for word in arguments.data if word.partition(":")[0] in names]
    arguments.data = [word for word in arguments.data if word not in specs]
    if not arguments.data:
        raise ValueError("there is no data: hinge compare DATA... LEARNER...")
    if arguments.algorithm is not None:
        specs.append(arguments.algorithm)
    if arguments.plot is not None:
        check_plot(arguments.plot, arguments.data)
    for spec in specs:
        learner_options.check_spec(spec)
    bad = reading.bad_lines(arguments)
    if fleet_options.is_wanted(arguments):
        if specs and specs != [arguments.algorithm]:
            raise ValueError(
                f"with --key the forms of one fleet are compared: -a {specs[0]} chooses its algorithm"
            )
        from .. import forms

        return forms.run(
            arguments, lambda options, bad: reading.open_stream(arguments, None, {}, bad)[0], bad
        )
    options = learner_options.learner_options(arguments)
    stream, _ = reading.open_stream(arguments, None, limits(None, options, arguments.task), bad)

    def runners(task: str, piece: Piece) -> list[race.Runner]:
        defaults = [spec for spec in DEFAULT_LEARNERS if learner_options.is_possible(task, spec, options)]
        return [race.Runner(spec, spec, options) for spec in dict.fromkeys(specs or defaults)]

    running = race.Race(race.in_order(stream, arguments), bad, runners, overrides=True)
    stopped = race.run(running, arguments)
    race.show(running, arguments, running.runners)
    wanted = arguments.certificate
    if wanted is None:
        wanted = running.examples <= FEW_EXAMPLES and stream.can_be_read_again
    if wanted and stopped is None and running.error is None:
        race.certify(running, arguments.json)
    return race.finish(running, arguments, stopped)
