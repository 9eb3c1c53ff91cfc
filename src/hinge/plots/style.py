"""What all plots share: sizes, colours, titles, and names of curves that do not overlap."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

# The colours of Okabe and Ito, which people with any kind of colour vision can distinguish. Light ones are darkened,
# because names are written in the colour of their curve.
COLOURS = ("#D55E00", "#0072B2", "#008060", "#A8417A", "#595959", "#8A6D00", "#3E9CCB", "#000000")
INK, FAINT = "#222222", "#767676"


# In inches: the minimum size of a figure, the curves, and the margins around them.
WIDTH, HEIGHT = 10.0, 5.6
CURVES_WIDTH, NARROWEST, LEFT, NAMES_FROM, RIGHT = 5.8, 5.0, 0.9, 0.3, 0.15
ABOVE, BELOW = 0.9, 0.62
NAME_SIZE, SMALLEST = 11.0, 9.0  # points


class MatplotlibMissing(ImportError):
    """matplotlib is not installed."""


def new_figure() -> Any:
    try:
        # Without pyplot: no window, no backend, no global state.
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MatplotlibMissing(f"it needs matplotlib ({error}): pip install 'hinge[plots]'") from error
    return Figure(figsize=(WIDTH, HEIGHT), dpi=150, facecolor="white")


def dress(axes: Any, unit: str, x: str) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=INK, labelsize=11, length=0, pad=6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}{unit}")
    axes.set_xlabel(x, fontsize=11, color=INK)
    if axes.get_xscale() == "linear":  # rounds are whole numbers
        axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)


def inches(text: Any) -> float:
    return float(text.get_window_extent().width / text.get_figure().dpi)


def write_title(figure: Any, title: str, subtitle: str) -> None:
    """In the largest size that fits. Text that is still too long ends with an ellipsis."""
    width, height = figure.get_size_inches()
    for words, size, weight, colour, below in (
        (title, 14, "bold", INK, 0.31),
        (subtitle, 11, "normal", FAINT, 0.59),
    ):
        text = figure.text(0.2 / width, 1 - below / height, words, fontsize=size, fontweight=weight, color=colour,
                           parse_math=False)  # fmt: skip
        room = width - 0.2 - RIGHT
        if (needed := inches(text)) > room:
            text.set_fontsize(max(SMALLEST, 0.98 * size * room / needed))
        while inches(text) > room:
            text.set_text(text.get_text()[:-5] + "…")


def make_room(figure: Any, axes: Any, labels: list[tuple[float, str, str, bool]], count: int) -> float:
    """Enlarges the figure until all names fit in without overlap. Returns their distance, as a fraction of the height
    of the axes. The first `count` are one below the other."""
    names = [
        figure.text(0, 0, text, fontsize=NAME_SIZE, fontweight="bold" if bold else "normal", parse_math=False)
        for _, text, _, bold in labels
    ]
    room = LEFT + NAMES_FROM + max(inches(name) for name in names) + RIGHT
    for name in names:
        name.remove()
    line = 1.34 * NAME_SIZE / 72
    width = max(WIDTH, NARROWEST + room)
    high = max(HEIGHT - ABOVE - BELOW, (count - 1) * line)
    height = high + ABOVE + BELOW
    figure.set_size_inches(width, height)
    across = min(CURVES_WIDTH, width - room)
    axes.set_position((LEFT / width, BELOW / height, across / width, high / height))
    return line / high


def name_curves(
    axes: Any, labels: list[tuple[float, str, str, bool]], gap: float = 0.05, size: float = 11
) -> None:
    """Writes the names next to the right ends, moved apart where they would overlap."""
    labels = sorted(labels)
    scale = axes.transData + axes.transAxes.inverted()  # from data to fractions of the axes
    labels = [
        (float(scale.transform((1.0, end))[1]), text, colour, bold) for end, text, colour, bold in labels
    ]
    heights = spread([height for height, *_ in labels], min(gap, 1 / max(len(labels) - 1, 1)), 0.0, 1.0)
    for height, (end, text, colour, bold) in zip(heights, labels, strict=True):
        axes.plot(
            (1.005, 1.025),
            (end, height),
            color=colour,
            linewidth=0.8,
            transform=axes.transAxes,
            clip_on=False,
        )
        axes.text(1.033, height, text, color=colour, fontsize=size, fontweight="bold" if bold else "normal",
                  verticalalignment="center", transform=axes.transAxes, parse_math=False)  # fmt: skip


def spread(
    heights: Sequence[float], gap: float, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """Moves ascending heights as little as possible (least squares), at least `gap` apart and within the limits."""
    groups: list[tuple[float, int]] = []  # the sum of (height - rank * gap), and the count
    for rank, height in enumerate(heights):
        total, count = height - rank * gap, 1
        while groups and groups[-1][0] / groups[-1][1] > total / count:  # merge groups that would cross
            before, members = groups.pop()
            total, count = total + before, count + members
        groups.append((total, count))
    highest = high - (len(heights) - 1) * gap  # the limit of the lowest one, so that all fit
    means = [max(min(total / count, highest), low) for total, count in groups for _ in range(count)]
    return [mean + rank * gap for rank, mean in enumerate(means)]


def write(figure: Any, path: Path) -> None:
    """Writes the complete picture at once: an error while drawing leaves no partial file."""
    path.write_bytes(picture_of(figure, path.suffix.lstrip(".").lower() or "png"))


def picture_of(figure: Any, kind: str) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format=kind)
    return picture.getvalue()


def shortened(name: str, most: int = 60) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"
