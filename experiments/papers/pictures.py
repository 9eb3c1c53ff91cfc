"""The figures of the experiments: a title that states the result, and panels below it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hinge.model.file import whole_file
from hinge.plots import MatplotlibMissing
from hinge.plots.style import COLOURS, FAINT, INK, name_curves, picture_of

from .recipe import Panel, Picture, Series

WIDTH = 10.0  # inches, of two panels side by side: readable where a page shows it 800 pixels wide
LINES_HEIGHT, ROW_HEIGHT, LANE_HEIGHT = 3.6, 0.4, 0.14  # inches


def draw(path: Path, picture: Picture, about: str) -> None:
    """Draws into a file: .png, .svg or .pdf. `about` names the experiment and its data."""
    drawn = picture_of(figure_of(picture, about), path.suffix.lstrip(".").lower() or "png")
    with whole_file(path) as file:
        file.write(drawn)


def figure_of(picture: Picture, about: str) -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MatplotlibMissing(f"it needs matplotlib ({error}): pip install 'hinge[plots]'") from error
    panels = picture.panels
    across = 1 if len(panels) == 1 else 3 if len(panels) > 4 else 2
    heights = [max(map(_height, panels[i : i + across])) for i in range(0, len(panels), across)]
    figure: Any = Figure(dpi=130, facecolor="white", layout="constrained")
    _write_header(figure, picture, about, WIDTH * max(across, 2) / 2, sum(heights))
    bands = figure.subfigures(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
    for place, band in enumerate(bands):
        side_by_side = panels[place * across : (place + 1) * across]
        columns = across if len(side_by_side) > 1 else 1  # one alone has all of its band
        for column, panel in enumerate(side_by_side, 1):
            _draw_panel(band.add_subplot(1, columns, column), panel)
    return figure


def _write_header(figure: Any, picture: Picture, about: str, width: float, below: float) -> None:
    """The title, how to read the figure, and what its marks are, above `below` inches of panels."""
    title = textwrap.wrap(picture.title, round(8.5 * width))
    notes = textwrap.wrap(f"{about} {picture.reading}".strip(), round(13.5 * width))
    key = _key(picture.panels)
    under_title = 0.12 + 0.26 * len(title)
    under_notes = under_title + 0.2 * len(notes) + 0.1
    height = under_notes + 0.3 * bool(key) + below
    figure.set_size_inches(width, height)
    figure.get_layout_engine().set(rect=(0, 0, 1, below / height), w_pad=0.1, h_pad=0.1)
    left, style = 0.1 / width, {"ha": "left", "va": "top", "linespacing": 1.25}
    figure.text(left, 1 - 0.1 / height, "\n".join(title), fontsize=14, fontweight="bold", color=INK, **style)
    figure.text(left, 1 - under_title / height, "\n".join(notes), fontsize=10, color=FAINT, **style)
    if key:
        corner = (left, 1 - under_notes / height)
        legend = figure.legend(handles=key, loc="upper left", bbox_to_anchor=corner, ncols=len(key), frameon=False,
                               fontsize=10.5, borderpad=0, borderaxespad=0, handletextpad=0.2)  # fmt: skip
        for text, mark in zip(legend.get_texts(), key, strict=True):
            text.set_color(mark.get_color())


def _height(panel: Panel) -> float:
    row = max(ROW_HEIGHT, LANE_HEIGHT * len(panel.series))
    return 1.0 + row * len(panel.rows) if panel.rows else LINES_HEIGHT


def _colours(panel: Panel) -> list[str]:
    """The colours of the series of a panel."""
    free = iter(range(len(panel.series)))
    return [
        FAINT if s.dashed else COLOURS[(next(free) if s.colour is None else s.colour) % len(COLOURS)]
        for s in panel.series
    ]


def _key(panels: Sequence[Panel]) -> list[Any]:
    """A key of the marks, above panels with rows or points, whose series have no right ends to label."""
    from matplotlib.lines import Line2D

    marks = {
        series.name: Line2D([], [], color=colour, label=series.name, **_style(panel, series))
        for panel in panels
        if panel.rows or _has_points(panel)
        for series, colour in zip(panel.series, _colours(panel), strict=True)
    }
    return list(marks.values()) if len(marks) > 1 else []


def _has_points(panel: Panel) -> bool:
    return any(series.points for series in panel.series)


def _style(panel: Panel, series: Series) -> dict[str, Any]:
    """Draws a series: marks, or a line, with marks if there are few."""
    if panel.rows or series.points:
        return _marker(series)
    line: dict[str, Any] = {"linestyle": (0, (5, 4))} if series.dashed else {}
    return {**line, "marker": "o", "markersize": 4} if len(series.x) <= 12 else line


def _marker(series: Series) -> dict[str, Any]:
    fill = {"markerfacecolor": "white", "markeredgewidth": 1.4} if series.hollow else {}
    return {"linestyle": "none", "marker": "o", "markersize": 6.5, **fill}


def _draw_panel(axes: Any, panel: Panel) -> None:
    if panel.log_x:
        axes.set_xscale("log")
    if panel.log_y:
        axes.set_yscale("log")
    for axis in (axes.xaxis, axes.yaxis):  # powers of ten have names; what is between them would overlap
        axis.set_minor_formatter(lambda value, _: "")
    axes.set_title(panel.title, fontsize=11.5, color=INK, loc="left")
    axes.set_xlabel(panel.x, fontsize=10.5, color=INK)
    axes.set_ylabel(panel.y, fontsize=10.5, color=INK)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.grid(color="#E6E6E6", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=INK, labelsize=10, length=0)
    (_draw_rows if panel.rows else _draw_lines)(axes, panel)


def _draw_lines(axes: Any, panel: Panel) -> None:
    """Labels lines at their right ends; if there are points, the key above names them."""
    colours = _colours(panel)
    if panel.reference is not None:
        axes.axhline(panel.reference, color=FAINT, linewidth=1.0)
    for series, colour in zip(panel.series, colours, strict=True):
        style = _style(panel, series)
        axes.plot(series.x, series.y, color=colour, linewidth=1.7, label=series.name, clip_on=False, **style)
    if _has_points(panel):
        return
    axes.set_xlim(right=max(max(series.x) for series in panel.series))
    axes.set_ylim(axes.get_ylim())  # as it is now: the names are placed by it
    ends = [(s.y[-1], s.name, colour, False) for s, colour in zip(panel.series, colours, strict=True)]
    name_curves(axes, ends, gap=0.2 / (LINES_HEIGHT - 1), size=10)


def _draw_rows(axes: Any, panel: Panel) -> None:
    """The series of a row are offset, so that their marks do not overlap."""
    low, high = panel.limits or (-math.inf, math.inf)
    if panel.limits:
        room = 0.03 * (high - low)
        axes.set_xlim(low - room, high + room)
    if panel.reference is not None:
        axes.axvline(panel.reference, color=INK, linewidth=1.0)
    lanes = len(panel.series)
    for number, (series, colour) in enumerate(zip(panel.series, _colours(panel), strict=True)):
        lane = 0.8 / (lanes + 0.5) * (number - (lanes - 1) / 2)
        places = [(x, y + lane) for x, y in zip(series.x, series.y, strict=True)]
        inside = [(x, y) for x, y in places if low <= x <= high]
        axes.plot([x for x, _ in inside], [y for _, y in inside], color=colour, **_marker(series))
        for x, y in places:
            if not low <= x <= high:
                end, mark = (low, "<") if x < low else (high, ">")
                axes.plot([end], [y], color=colour, **{**_marker(series), "marker": mark})
                axes.annotate(f"{x:.1f}", (end, y), xytext=(8, 0), textcoords="offset points", va="center",
                              fontsize=9.5, color=colour)  # fmt: skip
    if panel.log_x:
        axes.xaxis.get_major_locator().set_params(subs=(1, 2, 5))
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.set_yticks(range(len(panel.rows)), panel.rows)
    axes.set_ylim(len(panel.rows) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    for border in range(1, len(panel.rows)):
        axes.axhline(border - 0.5, color="#E6E6E6", linewidth=0.7, zorder=0)
