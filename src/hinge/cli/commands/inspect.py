"""Show a model: its options, its statistics, its largest weights, and its guarantees.

The weights are those that predict: for an averaged model, the averaged weights.

  hinge inspect model.hinge
  hinge inspect model.hinge --top 50 --json
  hinge inspect clicks.fleet --key ann
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...learner import Learner
from ...model.statistics import Statistics
from ...options import table
from ...streams.evaluation import Study
from ...streams.files import printable
from ...streams.guessing import shown_label
from ...streams.session import Position
from ...streams.studies import load_study
from ...structured.sequence_learner import SequenceLearner
from ...theory.open_bounds import open_bound
from .. import committees
from ..app import whole
from ..arguments import check_plot
from ..progress import error_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="A file that 'hinge learn' or `save` wrote.")
    parser.add_argument(
        "--top",
        metavar="N",
        type=whole,
        default=10,
        help="The number of largest weights to show. [default: 10]",
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON object.")
    group = parser.add_argument_group("fleets")
    group.add_argument(
        "--key", metavar="KEY", help="Show the model of one key: its statistics and its weights."
    )
    group.add_argument(
        "--plot", metavar="FILE",
        help="Draw how many keys have how many examples and features, and the error by the age of a key, to a .png, "
        ".svg, .pdf or .html file.",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    if arguments.plot is not None:
        check_plot(arguments.plot, [arguments.model])
    study = load_study(arguments.model)
    if not isinstance(study, Study):
        from .. import fleet_inspect

        return fleet_inspect.run(study, arguments)
    for name in ("key", "plot"):
        if getattr(arguments, name) is not None:
            raise ValueError(f"--{name} is for fleets, and {arguments.model} is one model for all examples")
    position = Position.of(study.learner.notes)
    weights = largest_weights(study, arguments.top)
    bound = open_bound(study.learner, weighted=position is not None and position.weighted)
    if arguments.json:
        print(json.dumps(_record(arguments.model, study, position, weights, bound)))
        return 0
    _show(arguments.model, study, position, weights, bound)
    return 0


# ---- weights ----------------------------------------------------------------------------------------------------


def largest_weights(study: Study, count: int) -> list[tuple[str, str, float]]:
    """The label (or ""), the name and the weight of the features with the largest |weight|."""
    learner = study.learner
    if isinstance(learner, SequenceLearner):
        named = {**{(tag, str(feature)): w for (feature, tag), w in learner.emissions().items()},
                 **{(after, f"(after {'the start' if before is None else before})"): w
                    for (before, after), w in learner.transitions().items()}}  # fmt: skip
        largest = sorted(named, key=lambda key: -abs(named[key]))[:count]
        return [(shown_label(tag), feature, named[tag, feature]) for tag, feature in largest]
    if learner.parameters["kernel"] not in (None, "linear"):
        return []  # the weights are in the space of the kernel
    weights = np.atleast_2d(learner.weights)
    names = learner.feature_names
    order = np.argsort(-np.abs(weights), axis=None, kind="stable")[:count]
    found = []
    for place in order.tolist():
        lane, column = divmod(place, weights.shape[1])
        if weights[lane, column] == 0:
            break
        label = shown_label(learner.labels.known[lane]) if learner.many_scores else ""
        found.append((label, _name(learner, names, column), float(weights[lane, column])))
    return found


def _name(learner: Learner, names: list[Any], column: int) -> str:
    """The name of a feature, or its number in the file."""
    if column < len(names) and isinstance(names[column], str):
        return str(names[column])
    if learner.parameters["hash_bits"] is not None:
        return f"(column {column})"
    settings = (learner.notes.get("stream") or {}).get("settings") or {}
    first = 1 if settings.get("format") == "svmlight" and not settings["options"].get("zero_based") else 0
    return str(column + first)


# ---- output -----------------------------------------------------------------------------------------------------


def _options(study: Study) -> dict[str, Any]:
    """The step, C, and the options that differ from the defaults."""
    p = {**study.learner.parameters, "step": study._task.step_of(study.learner.parameters)}
    always = () if study.is_committee else ("step", "C")
    kinds = (bool, int, float, str, list) if study.is_committee else (bool, int, float, str)
    return {name: value for name, value in p.items() if isinstance(value, kinds)
            and (name in always or value != table.default(name))}  # fmt: skip


def _record(path: str, study: Study, position: Position | None, weights: Any, bound: str) -> dict[str, Any]:
    statistics = study.learner.statistics
    return {
        "file": path, "bytes": os.path.getsize(path), "task": study.task, "options": _options(study),
        "labels": list(study.learner.labels.known), "features": study.learner.n_features,
        "statistics": {name: getattr(statistics, name) for name in statistics.__dataclass_fields__},
        "stream": study.learner.notes.get("stream"),
        "error": position.score.error if position is not None and position.score.rounds else None,
        "weights": [{"label": label, "feature": name, "weight": weight} for label, name, weight in weights],
        "certificate": bound,
        **committees.record(study), **committees.vote_record(study),
    }  # fmt: skip


def _show(path: str, study: Study, position: Position | None, weights: Any, bound: str) -> None:
    from ..console import new_console, new_table, say, show_table

    console = new_console()
    size = os.path.getsize(path)
    console.print(f"{printable(path)}: {study.task}, {size:,} bytes", style="bold", soft_wrap=True)
    for name, text in _lines(study, position):
        console.print(f"{name:<10} {printable(text)}", soft_wrap=True)
    console.print()
    if study.is_committee:
        committees.table_of(study, console)
        console.print()
    if weights:
        if study.is_committee:
            console.print("The weights of the leader:", soft_wrap=True)
        with_labels = any(label for label, _, _ in weights)
        table = new_table(*(["label"] if with_labels else []), "feature", "weight", right=("weight",))
        for label, name, weight in weights:
            table.add_row(*([label] if with_labels else []), printable(name), f"{weight:.6g}")
        show_table(console, table)
        console.print()
    say(console, f"Guaranteed: {bound.removesuffix('.')}.")


def _lines(study: Study, position: Position | None) -> Iterator[tuple[str, str]]:
    """What is shown about the model: names and values."""
    learner, s = study.learner, study.learner.statistics
    yield "options", ", ".join(f"{name}={value}" for name, value in _options(study).items())
    if labels := learner.labels.known:
        shown = ", ".join(map(shown_label, labels[:12]))
        yield "labels", shown if len(labels) <= 12 else f"{shown}, ... ({len(labels)})"
    yield "features", f"{learner.n_features:,}"
    if isinstance(learner, Learner) and learner.parameters["kernel"] is not None:
        yield "supports", f"{learner.n_support:,}: {s.insertions:,} inserted, {s.removals:,} removed"
    yield from _vote(study) if study.is_committee else _steps(learner, s)
    if position is not None:
        state = "finished" if position.finished else "not finished (--resume continues)"
        files = ", ".join(position.files[:3])
        yield "learned", f"{position.learned:,} examples of {files} ({position.format}), {state}"
        yield "error", f"{error_text(study, position.score.error)}, predicted before they were learned"


def _steps(learner: Any, s: Statistics) -> Iterator[tuple[str, str]]:
    yield "rounds", f"{s.rounds:,}: {s.mistakes:,} mistakes, {s.updates:,} updates"
    if learner.parameters["step"] == "pa1" and s.updates:
        capped = f"{s.capped:,} updates shorter" if s.capped else "no update shorter: pa1 acted like pa"
        yield "C", f"{learner.parameters['C']:g} made {capped}"
    yield "loss", f"{s.loss:.6g} in total, {s.mean_loss:.6g} per round; squared {s.squared_loss:.6g}"
    yield "largest q", f"{s.largest_q:.6g} (R^2 of the bounds)"


def _vote(study: Study) -> Iterator[tuple[str, str]]:
    statistics = study.learner.statistics
    leader, vote = committees.leader_of(study.experts), committees.vote_of(study.learner)
    yield "rounds", f"{statistics.rounds:,}: {statistics.mistakes:,} mistakes"
    yield "leader", f"{leader.in_words}, with {committees.percent(leader.weight)} of the vote"
    yield (
        "vote",
        (
            f"{vote.telling:,} rounds told experts apart; expected loss {vote.expected_loss:,.6g}, "
            f"of which mixing has cost {vote.delta:,.6g}"
        ),
    )
