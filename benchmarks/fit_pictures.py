"""Draws docs/guide/defaults-fit.png from docs/tables/fit.csv, which `fit_defaults.py --csv` writes.

python benchmarks/fit_pictures.py
"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
LOOKS = {"Auto": ("o", "#1b6ca8", 38), "PA": ("D", "#e08214", 26), "before": ("x", "#999999", 26)}
LABELS = {"Auto": "Auto...", "PA": "PA...", "before": "PA..., average=False, scaling=None"}


def look_of(method: str) -> str | None:
    """Which of ours it is; None: a peer."""
    if method.endswith("before"):
        return "before"
    return next((name for name in ("Auto", "PA") if method.startswith(name)), None)


def ratios(path: Path) -> dict[str, list[tuple[str, dict[str, float]]]]:
    """For each task: the sets, and the error of each of ours divided by that of the best peer."""
    errors: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    with path.open(newline="") as file:
        for row in csv.DictReader(file):
            errors[row["task"], f"{row['set']}, {row['columns']}"][row["method"]] = float(row["error"])
    found: dict[str, list[tuple[str, dict[str, float]]]] = defaultdict(list)
    for (task, name), its in errors.items():
        best = min(error for method, error in its.items() if look_of(method) is None)
        mine = {look: error / best for method, error in its.items() if (look := look_of(method)) is not None}
        found[task].append((name, mine))
    return found


def draw(axes: Any, task: str, sets: list[tuple[str, dict[str, float]]]) -> None:
    sets = sorted(sets, key=lambda each: -each[1]["Auto"])
    for look, (marker, colour, size) in LOOKS.items():
        values = [min(mine[look], 2.5) for _, mine in sets]
        axes.scatter(
            values, range(len(sets)), marker=marker, s=size, color=colour, label=LABELS[look], zorder=3
        )
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_yticks(range(len(sets)), [name for name, _ in sets], fontsize=7)
    axes.set_xscale("log")
    ticks = (0.5, 0.7, 1, 1.4, 2, 2.5)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks[:-1]] + ["2.5 or more"], fontsize=7)
    axes.minorticks_off()
    axes.set_xlim(0.42, 2.7)
    axes.grid(axis="x", linewidth=0.3)
    axes.set_title(task, fontsize=9)


def main() -> None:
    found = ratios(DOCS / "tables" / "fit.csv")
    others = ("ordinal", "regression", "multilabel")
    figure = plt.figure(figsize=(11, 6.5), layout="constrained")
    grid = figure.add_gridspec(3, 2, height_ratios=[len(found[task]) + 1 for task in others])
    left = figure.add_subplot(grid[:, 0])
    draw(
        left,
        "classes: error / the better of LogisticRegression and LinearSVC",
        found["classification"],
    )
    left.legend(fontsize=7, loc="upper right", framealpha=1)
    titles = {
        "ordinal": "grades: distance / the better of mord and LogisticRegression",
        "regression": "numbers: absolute error / the better of Ridge and LinearSVR",
        "multilabel": "label sets: 1 - F1 / the better of LogisticRegression and LinearSVC",
    }
    for place, task in enumerate(others):
        draw(figure.add_subplot(grid[place, 1]), titles[task], found[task])
    figure.savefig(DOCS / "guide" / "defaults-fit.png", dpi=110)


if __name__ == "__main__":
    main()
