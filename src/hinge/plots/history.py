"""The passes of `fit`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .style import COLOURS, dress, new_figure, write, write_title


def plot_history(history: Sequence[Mapping[str, float]], path: str | Path, *, title: str = "") -> None:
    """Draws the passes of `fit` (`history_`) into a file: the mean loss and, with early stopping, the validation score,
    in which the pass that was kept is marked."""
    if not history:
        raise ValueError("the history has no passes: call `fit` first")
    write(history_figure(history, title), Path(path))


def history_figure(history: Sequence[Mapping[str, float]], title: str = "") -> Any:
    """The figure of `plot_history`."""
    figure = new_figure()
    judged = all("validation_score" in entry for entry in history)
    places = [(0.09, 0.53, 0.86, 0.3), (0.09, 0.12, 0.86, 0.3)] if judged else [(0.09, 0.12, 0.86, 0.7)]
    panels = [("mean_loss", "mean loss of the rows learned", COLOURS[1])]
    if judged:
        panels.append(("validation_score", "score of the rows held back", COLOURS[0]))
    for place, (name, caption, colour) in zip(places, panels, strict=True):
        axes = figure.add_axes(place)
        values = [entry[name] for entry in history]
        axes.plot(range(1, len(values) + 1), values, color=colour, linewidth=2, marker="o", markersize=4)
        dress(axes, "", "pass" if name == panels[-1][0] else "")
        axes.set_title(caption, loc="left", fontsize=11, color=colour)
        axes.margins(y=0.15)
        axes.set_xlim(0.5, len(values) + 0.5)
    count, losses = len(history), [entry["mean_loss"] for entry in history]
    passes = "1 pass" if count == 1 else f"{count} passes"
    found = f"Mean loss {losses[-1]:.4g} after {passes}"
    if count > 1:
        found += f", {losses[0]:.4g} in the first"
    if judged:
        best = max(values)
        at = values.index(best) + 1
        axes.plot([at], [best], "o", color=colour, markersize=10, markerfacecolor="white", markeredgewidth=2)
        axes.set_title(
            f"kept: pass {at}, {best:.4g}", loc="right", fontsize=11, fontweight="bold", color=colour
        )
        found = f"Pass {at} of {count} was kept: its score was {best:.4g}"
    write_title(figure, title or found, f"{passes}, {sum(entry['seconds'] for entry in history):.2g} s")
    return figure
