"""The pictures of fleets: the error of each form by the age of the key, on some streams of `fleet_forms.py`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hinge.plots.style import ABOVE, COLOURS, FAINT, INK, dress, inches, new_figure, write, write_title

AGES = ("1-10", "11-100", "101-1000", "1001+")
SHOWN = {
    "conll2000: chunk, by word": "chunk of a word, by word",
    "mail: several recipients, by sender": "mail: several recipients, by sender",
    "cal_housing: price, by tenth degree": "price of a house, by place",
    "covtype: cover, by soil": "forest cover, by soil",
    "artificial: 10% own": "artificial: 10 % is a user's own",
    "artificial: 0% own": "artificial: nothing is a user's own",
}
STYLES: dict[str, tuple[str, str, Any]] = {
    "one model": ("one model for all", COLOURS[1], "solid"),
    "per key": ("per key", COLOURS[2], "solid"),
    "both, 0.5": ("shared + personal, 0.5", COLOURS[0], "solid"),
    "shuffled, 0.5": ("the same with shuffled keys", FAINT, (0, (5, 4))),
}
COLUMNS, PANEL_HEIGHT, TOP, BETWEEN, BOTTOM = 3, 2.3, ABOVE + 0.5, 0.85, 0.65


def error_by_age(path: Path, table: Mapping[tuple[str, str, str], Mapping[str, float]]) -> None:
    """One panel per stream, each form at its best setting."""
    streams = [stream for stream in SHOWN if any(place[0] == stream for place in table)]
    rows = -(-len(streams) // COLUMNS)
    figure = new_figure()
    width = figure.get_size_inches()[0]
    height = TOP + rows * PANEL_HEIGHT + (rows - 1) * BETWEEN + BOTTOM
    figure.set_size_inches(width, height)
    for number, stream in enumerate(streams):
        row, column = divmod(number, COLUMNS)
        across = (width - 0.25) / COLUMNS
        bottom = height - TOP - row * (PANEL_HEIGHT + BETWEEN) - PANEL_HEIGHT
        place = (
            (0.6 + column * across) / width,
            bottom / height,
            (across - 0.75) / width,
            PANEL_HEIGHT / height,
        )
        _panel(figure.add_axes(place), stream, table, bottom_row=row == rows - 1)
    _legend(figure, height)
    title = "Shared + personal weights are near the best at every age of a key"
    subtitle = "Progressive error by the number of examples of the key so far; each form with the best of ten settings"
    write_title(figure, title, subtitle)
    write(figure, path)


def _panel(axes: Any, stream: str, table: Any, bottom_row: bool) -> None:
    share = not stream.startswith("cal_housing")
    factor, unit = (100.0, " %") if share else (1.0, "")
    for form, (_, colour, line) in STYLES.items():
        runs = [errors for (its, name, _), errors in table.items() if (its, name) == (stream, form)]
        best = min(runs, key=lambda errors: errors["error"])
        ages = [age for age in AGES if age in best]
        axes.plot(range(len(ages)), [factor * best[age] for age in ages], color=colour, linestyle=line, marker="o",
                  markersize=4, linewidth=2.2 if form.startswith("both") else 1.4, clip_on=False)  # fmt: skip
    axes.set_ylim(0, axes.get_ylim()[1])
    dress(axes, unit, "examples of the key" if bottom_row else "")
    axes.tick_params(labelsize=9)
    axes.xaxis.label.set_size(9)
    axes.set_xticks(range(len(ages)), ages)
    axes.set_title(SHOWN[stream], fontsize=10, color=INK, loc="left", pad=10)


def _legend(figure: Any, height: float) -> None:
    width = figure.get_size_inches()[0]
    left, at = 0.2, 1 - (ABOVE + 0.02) / height
    for name, colour, line in STYLES.values():
        figure.add_artist(_line(figure, (left / width, (left + 0.35) / width), at, colour, line))
        bold = "bold" if name == "shared + personal, 0.5" else "normal"
        text = figure.text(
            (left + 0.43) / width, at, name, fontsize=10, color=colour, va="center", fontweight=bold
        )
        left += 0.43 + inches(text) + 0.4


def _line(figure: Any, across: tuple[float, float], height: float, colour: str, line: Any) -> Any:
    from matplotlib.lines import Line2D

    return Line2D(
        across, (height, height), color=colour, linestyle=line, linewidth=2, transform=figure.transFigure
    )
