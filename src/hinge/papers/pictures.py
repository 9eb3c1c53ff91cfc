"""The figures of the experiments: panels side by side, with the paper's axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..model_file import write_whole
from ..plots import COLOURS, FAINT, INK, MatplotlibMissing, picture_of
from .recipe import Panel

ACROSS = 3  # panels in a row


def draw(path: Path, panels: Sequence[Panel], title: str) -> None:
    """Into a file: .png, .svg or .pdf."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MatplotlibMissing(f"it needs matplotlib ({error}): pip install 'hinge[plots]'") from error
    across = min(len(panels), ACROSS)
    down = math.ceil(len(panels) / across)
    figure = Figure(
        figsize=(4.6 * across + 0.4, 3.7 * down + 0.6), dpi=130, facecolor="white", layout="constrained"
    )
    figure.suptitle(title, fontsize=12, fontweight="bold", color=INK, x=0.01, ha="left")
    for place, panel in enumerate(panels, 1):
        _draw_panel(figure.add_subplot(down, across, place), panel)
    write_whole(path, picture_of(figure, path.suffix.lstrip(".").lower() or "png"))


def _draw_panel(axes: Any, panel: Panel) -> None:
    solid = [series for series in panel.series if not series.dashed]
    for series in panel.series:
        colour = FAINT if series.dashed else COLOURS[solid.index(series) % len(COLOURS)]
        style: Any = {"linestyle": (0, (5, 4))} if series.dashed else {}
        if series.points:
            style = {"linestyle": "none", "marker": "o", "markersize": 6}
        elif len(series.x) <= 12:
            style |= {"marker": "o", "markersize": 3.5}
        axes.plot(series.x, series.y, color=colour, linewidth=1.5, label=series.name, **style)
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):  # powers of ten have names; what is between them would overlap
        axis.set_minor_formatter(lambda value, _: "")
    axes.set_title(panel.title, fontsize=10.5, color=INK, loc="left")
    axes.set_xlabel(panel.x, fontsize=9.5, color=INK)
    axes.set_ylabel(panel.y, fontsize=9.5, color=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(color="#E6E6E6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=8.5, length=0)
    axes.legend(fontsize=8.5, frameon=False)
