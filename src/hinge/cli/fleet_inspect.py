"""`hinge inspect` of a fleet: how its keys are distributed, or one of them."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..fleet import View
from ..streams.files import printable
from ..streams.fleets import AGES, FleetStudy
from ..streams.guessing import shown_label
from ..streams.session import Position
from . import fleet_options, fleet_reports
from .progress import error_text, short_error

# What is shown of all keys: columns of `Fleet.summary`, and their quantiles.
COLUMNS = {"examples": "rounds", "features": "features", "bytes": "bytes"}
QUANTILES = {"least": 0.0, "10 %": 0.1, "half": 0.5, "90 %": 0.9, "99 %": 0.99, "most": 1.0}


def run(study: FleetStudy, arguments: argparse.Namespace) -> int:
    if arguments.key is not None:
        if arguments.plot is not None:
            raise ValueError("--plot draws all keys: leave out --key")
        _one_key(study, arguments)
        return 0
    if arguments.json:
        print(json.dumps(_record(study, arguments)))
    else:
        _show(study, arguments)
    if arguments.plot is not None:
        _draw(study, arguments)
    return 0


# ---- all keys ---------------------------------------------------------------------------------------------------


def _distribution(study: FleetStudy) -> dict[str, dict[str, float]]:
    """The quantiles and the mean of each column; nothing without keys."""
    summary = study.fleet.summary()
    if not len(study.fleet):
        return {}
    return {
        name: {
            **{word: float(np.quantile(summary[column], q, method="lower")) for word, q in QUANTILES.items()},
            "mean": float(summary[column].mean()),
        }
        for name, column in COLUMNS.items()
    }


def _record(study: FleetStudy, arguments: argparse.Namespace) -> dict[str, Any]:
    fleet, position = study.fleet, Position.of(study.notes)
    return {
        "file": arguments.model, "bytes": _size(arguments.model), "task": study.task, "options": fleet.parameters,
        "labels": _labels(study), "keys": len(fleet), "statistics": asdict(study.statistics),
        "error": position.score.error if position is not None and position.score.rounds else None,
        "stream": study.notes.get("stream"), "distribution": _distribution(study),
        "by_age": fleet_reports.record(study)["by_age"],
        "mistakes": [{"key": key, "mistakes": int(count)} for key, count in fleet.top(arguments.top, "mistakes")],
    }  # fmt: skip


def _show(study: FleetStudy, arguments: argparse.Namespace) -> None:
    from .console import new_console, new_table, show_table

    console = new_console()
    console.print(
        f"{printable(arguments.model)}: a fleet, {study.task}, {_size(arguments.model):,} bytes",
        style="bold", soft_wrap=True,
    )  # fmt: skip
    for name, text in _lines(study):
        console.print(f"{name:<10} {printable(text)}", soft_wrap=True)
    console.print()
    found = _distribution(study)
    table = new_table("per key", "mean", *QUANTILES, right=("mean", *QUANTILES))
    for name, numbers in found.items():
        table.add_row(name, f"{numbers['mean']:,.1f}", *(f"{numbers[word]:,.0f}" for word in QUANTILES))
    if found:
        show_table(console, table)
        console.print()
    if groups := list(study.by_age.groups()):
        table = new_table("examples of a key", "predictions", "error", right=("predictions", "error"))
        for ages, score in groups:
            table.add_row(ages, f"{score.rounds:,}", short_error(study.task, score.error))
        show_table(console, table)
        console.print()
    table = new_table(
        "most mistakes", "mistakes", "examples", "features", right=("mistakes", "examples", "features")
    )
    for key, count in study.fleet.top(arguments.top, "mistakes"):
        view = study.fleet[key]
        its = (count, view.statistics.rounds, view.n_features)
        table.add_row(printable(shown_label(key)), *(f"{number:,.0f}" for number in its))
    show_table(console, table)


def _lines(study: FleetStudy) -> Iterator[tuple[str, str]]:
    fleet, s, position = study.fleet, study.statistics, Position.of(study.notes)
    yield "options", fleet_options.in_words(study)
    if labels := _labels(study):
        shown = ", ".join(map(shown_label, labels[:12]))
        yield "labels", shown if len(labels) <= 12 else f"{shown}, ... ({len(labels)})"
    yield "keys", f"{len(fleet):,}"
    if fleet.parameters["shared"]:
        yield "shared", f"{fleet._core.counts(None)[0]:,} features"
    yield "rounds", f"{s.rounds:,}: {s.mistakes:,} mistakes, {s.updates:,} updates"
    if position is not None:
        state = "finished" if position.finished else "not finished (--resume continues)"
        key = (study.notes["stream"].get("settings") or {}).get("options", {}).get("key")
        files = ", ".join(position.files[:3])
        yield "learned", f"{position.learned:,} examples of {files} ({position.format}, --key {key}), {state}"
        yield "error", f"{error_text(study, position.score.error)}, predicted before they were learned"


def _labels(study: FleetStudy) -> list[Any]:
    """In the order of scores, if all keys have the same."""
    fleet = study.fleet
    return fleet._core.labels_of(None) if fleet.parameters["shared"] else fleet.labels


def _size(path: str) -> int:
    """Of a file, or of all files of a folder."""
    if not os.path.isdir(path):
        return os.path.getsize(path)
    return sum(entry.stat().st_size for entry in os.scandir(path) if entry.is_file())


def _draw(study: FleetStudy, arguments: argparse.Namespace) -> None:
    from .. import plots

    summary = study.fleet.summary()
    by_age = [
        plots.AtAge(first, score.rounds, score.error)
        for place, first in enumerate(AGES)
        if (score := study.by_age.score(first, AGES[place + 1] if place + 1 < len(AGES) else None)).rounds
    ]
    rounds = int(summary["rounds"].sum())
    plots.plot_fleet(
        Path(arguments.plot), summary["rounds"].tolist(), summary["features"].tolist(), by_age,
        share=study._task.error_is_share,
        title=f"A fleet of {len(study.fleet):,} keys, {rounds:,} examples",
        subtitle=fleet_reports.new_and_known(study).rstrip(".") or fleet_options.in_words(study),
    )  # fmt: skip
    event = {"event": "plot", "file": arguments.plot}
    print(json.dumps(event) if arguments.json else f"The picture is in {arguments.plot}")


# ---- one key ----------------------------------------------------------------------------------------------------


class Weight(NamedTuple):
    label: str  # "" if there are at most two
    feature: str
    shared: float
    personal: float


def _one_key(study: FleetStudy, arguments: argparse.Namespace) -> None:
    view = study.fleet[found_key(study, arguments.key, arguments.model)]
    weights = largest_weights(view, arguments.top)
    if arguments.json:
        s = view.statistics
        print(json.dumps({
            "file": arguments.model, "key": view.key, "labels": view.labels, "features": view.n_features,
            "bytes": view.nbytes, "ignored": view.n_ignored, "statistics": asdict(s),
            "weights": [weight._asdict() for weight in weights],
        }))  # fmt: skip
        return
    from .console import new_console, new_table, show_table

    console, s = new_console(), view.statistics
    console.print(
        printable(f"{shown_label(view.key)}: a key of {arguments.model}"), style="bold", soft_wrap=True
    )
    console.print(
        f"{'rounds':<10} {s.rounds:,}: {s.mistakes:,} mistakes, {s.updates:,} updates", soft_wrap=True
    )
    error = s.mean_cost if study.task == "regression" else s.error
    console.print(f"{'error':<10} {error_text(study, error)}", soft_wrap=True)
    console.print(f"{'features':<10} {view.n_features:,}, {view.nbytes:,} bytes", soft_wrap=True)
    console.print()
    with_labels = any(weight.label for weight in weights)
    numbers = ("shared", "personal", "sum") if study.fleet.parameters["shared"] else ("weight",)
    table = new_table(*(["label"] if with_labels else []), "feature", *numbers, right=numbers)
    for label, feature, shared, personal in weights:
        values = (shared, personal, shared + personal) if len(numbers) == 3 else (personal,)
        named = [label, printable(feature)] if with_labels else [printable(feature)]
        table.add_row(*named, *(f"{value:.6g}" for value in values))
    show_table(console, table)


def found_key(study: FleetStudy, text: str, path: str) -> str | int:
    """The key that is meant: the string, or the whole number."""
    keys: list[str | int] = [text]
    if text.lstrip("-").isdigit() and len(text) < 20:
        keys.append(int(text))
    for key in keys:
        if key in study.fleet:
            return key
    from difflib import get_close_matches

    some = [str(key) for key, _ in study.fleet.top(1000, "rounds")]
    near = get_close_matches(text, some, 3) or some[:3]
    raise ValueError(
        f"{path} has no key {text!r}: it has {', '.join(near)}" + (", ..." if len(some) > len(near) else "")
    )


def largest_weights(view: View, count: int) -> list[Weight]:
    """The features of a key with the largest |weights|: the sum of the shared and of the personal part."""
    fleet, labels = view.fleet, view.labels
    by_label: dict[Any, Any] = view.named_weights()
    if len(labels) <= 2 or not all(isinstance(one, dict) for one in by_label.values()):
        by_label = {"": by_label}
    all_shared = fleet.named_weights() if fleet.parameters["shared"] else {}
    found = []
    for label, named in by_label.items():
        shared = all_shared if label == "" else all_shared.get(label, {})
        for name, personal in named.items():
            if (its := shared.get(name, 0.0)) or personal:
                found.append(
                    Weight(shown_label(label) if label != "" else "", shown_label(name), its, personal)
                )
    found.sort(key=lambda weight: -abs(weight.shared + weight.personal))
    return found[:count]
