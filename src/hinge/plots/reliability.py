"""Reliability: how often predictions of a given probability are right."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from ..data.events import as_list
from .style import ABOVE, BELOW, COLOURS, FAINT, INK, dress, new_figure, write, write_title

BINS = 10


class Bin(NamedTuple):
    """Predictions of similar probabilities."""

    probability: float  # the mean
    right: float  # the share of them that are right
    predictions: int


def plot_reliability(
    y: Any, probabilities: Any, path: str | Path, *, classes: Any = None, title: str = ""
) -> None:
    """Draws how often predictions are right, over their probability, into a file: honest ones lie on the diagonal.

    `y` are the true labels. `probabilities` are those of `predict_proba`, one column per class in the order of
    `classes` (the estimator's `classes_`; by default 0, 1, ...), or a list of what `predict_proba_one` returned.
    """
    write(reliability_figure(y, probabilities, classes=classes, title=title), Path(path))


def reliability_figure(y: Any, probabilities: Any, *, classes: Any = None, title: str = "") -> Any:
    """The figure of `plot_reliability`."""
    sure, right = highest(y, probabilities, classes)
    bins = reliability(sure, right)
    figure = new_figure()
    width, height = figure.get_size_inches()
    side = (height - ABOVE - BELOW) / height
    axes = figure.add_axes((0.9 / width, BELOW / height, side * height / width, side))
    points = [[100 * each.probability for each in bins], [100 * each.right for each in bins]]
    low = 10 * math.floor(min(map(min, points)) / 10)
    axes.plot([low, 100], [low, 100], color=FAINT, linewidth=1, linestyle=(0, (4, 3)))
    axes.plot(*points, "o-", color=COLOURS[1], linewidth=1.5, markersize=7, clip_on=False)
    dress(axes, " %", "probability of the predicted label, in %")
    axes.set_xlim(low, 100)
    axes.set_ylim(low, 100)
    axes.text(
        low + 0.02 * (100 - low),
        low + 0.96 * (100 - low),
        "how often the prediction is right",
        fontsize=11,
        color=INK,
        va="top",
    )
    off = sum(each.predictions * abs(each.right - each.probability) for each in bins) / len(sure)
    _table(figure, bins, 0.9 + side * height + 0.7)
    mean, share = sum(sure) / len(sure), sum(right) / len(right)
    found = f"Probabilities are off by {100 * off:.1f} % on average"
    below = f"{len(sure):,} predictions: {100 * share:.1f} % are right, {100 * mean:.1f} % were expected"
    write_title(figure, title or found, below if not title else f"{found}. {below}")
    return figure


def _table(figure: Any, bins: list[Bin], left: float) -> None:
    """The numbers of the bins, next to the diagram."""
    width, height = figure.get_size_inches()
    top, line = height - ABOVE - 0.1, 0.34
    columns = ((0.9, "expected"), (2.0, "right"), (3.2, "predictions"))
    for place, name in columns:
        figure.text((left + place) / width, top / height, name, fontsize=11, color=FAINT, ha="right")
    for row, each in enumerate(bins, 1):
        texts = (f"{100 * each.probability:.1f} %", f"{100 * each.right:.1f} %", f"{each.predictions:,}")
        for (place, _), text in zip(columns, texts, strict=True):
            at = ((left + place) / width, (top - row * line) / height)
            figure.text(*at, text, fontsize=11, color=INK, ha="right")


def highest(y: Any, probabilities: Any, classes: Any = None) -> tuple[list[float], list[bool]]:
    """The highest probability of each example, and whether its label is the true one."""
    truths = as_list(y, "y", "of labels")
    if hasattr(probabilities, "tolist"):
        probabilities = probabilities.tolist()
    rows = as_list(probabilities, "probabilities", "of rows, one per example", False)
    if len(rows) != len(truths) or not rows:
        raise ValueError(f"there are {len(rows)} rows of probabilities for {len(truths)} labels")
    names = None if classes is None else as_list(classes, "classes", "of labels")
    sure, right = [], []
    for truth, row in zip(truths, rows, strict=True):
        pairs = (
            row
            if isinstance(row, dict)
            else dict(zip(range(len(row)) if names is None else names, row, strict=True))
        )
        if not pairs:
            continue  # nothing was known yet
        label = max(pairs, key=lambda each: pairs[each])
        sure.append(float(pairs[label]))
        right.append(bool(label == truth))
    if not sure:
        raise ValueError("no example has a probability")
    return sure, right


def reliability(sure: list[float], right: list[bool], most: int = BINS) -> list[Bin]:
    """Bins with about the same number of predictions each, from the lowest probabilities to the highest."""
    order = sorted(range(len(sure)), key=lambda place: sure[place])
    count = max(1, min(most, len(order) // 20))
    bins = []
    for number in range(count):
        part = order[number * len(order) // count : (number + 1) * len(order) // count]
        expected, share = (sum(its[place] for place in part) / len(part) for its in (sure, right))
        bins.append(Bin(expected, share, len(part)))
    return bins
