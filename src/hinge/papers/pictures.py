"""The figures of the experiments: panels side by side, with the paper's axes."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..plots import COLOURS, FAINT, INK, MatplotlibMissing, picture_of
from ..writing import write_whole
from .recipe import Panel

ACROSS = 3  # panels in a row


def draw(path: Path, panels: Sequence[Panel], title: str, subtitle: str = "") -> None:
    """Into a file: .png, .svg or .pdf."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MatplotlibMissing(f"it needs matplotlib ({error}): pip install 'hinge[plots]'") from error
    across = 2 if len(panels) == 4 else min(len(panels), ACROSS)
    down = math.ceil(len(panels) / across)
    figure = Figure(
        figsize=(4.6 * across + 0.4, 3.7 * down + 0.6), dpi=130, facecolor="white", layout="constrained"
    )
    width = 46 * across  # letters
    lines = [*textwrap.wrap(title, width), *textwrap.wrap(subtitle, width)]
    figure.suptitle("\n".join(lines), fontsize=12, fontweight="bold", color=INK, x=0.01, ha="left")
    seen: set[str] = set()  # a legend only where there is something new
    for place, panel in enumerate(panels, 1):
        names = {series.name for series in panel.series}
        _draw_panel(figure.add_subplot(down, across, place), panel, legend=not names <= seen)
        seen |= names
    write_whole(path, picture_of(figure, path.suffix.lstrip(".").lower() or "png"))


def _draw_panel(axes: Any, panel: Panel, legend: bool) -> None:
    solid = [series for series in panel.series if not series.dashed]
    for series in panel.series:
        colour = FAINT if series.dashed else COLOURS[solid.index(series) % len(COLOURS)]
        style: Any = {"linestyle": (0, (5, 4))} if series.dashed else {}
        if series.points:
            style = {"linestyle": "none", "marker": "o", "markersize": 6}
        elif len(series.x) <= 12:
            style |= {"marker": "o", "markersize": 3.5}
        axes.plot(series.x, series.y, color=colour, linewidth=1.5, label=series.name, **style)
        for x, y, label in zip(series.x, series.y, series.labels, strict=False):
            axes.annotate(label, (x, y), xytext=(5, -9), textcoords="offset points", fontsize=7, color=INK)
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
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), panel.ticks, rotation=30, ha="right")
    if legend:
        axes.legend(fontsize=8.5, frameon=False)
