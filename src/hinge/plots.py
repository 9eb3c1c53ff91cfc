"""Pictures. They need matplotlib (pip install 'hinge[plots]'), which is imported when one is drawn."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["MatplotlibMissing", "error_curves"]

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; without the light ones,
# as names are written in the colour of their curve.
COLOURS = ("#595959", "#D55E00", "#0072B2", "#008060", "#A8417A", "#000000")
INK, FAINT = "#222222", "#767676"


class MatplotlibMissing(ImportError):
    """There is no matplotlib here."""


def error_curves(
    path: Path,
    curves: Mapping[str, Sequence[float]],
    *,
    title: str,
    subtitle: str = "",
    reference: tuple[str, float] | None = None,
) -> None:
    """Draws progressive errors (between 0 and 1) over rounds, one curve a learner, into a file.

    The curves are named at their right ends. `reference` is the name and the height of a dashed line.
    """
    figure = _new_figure()
    axes = figure.add_axes((0.07, 0.11, 0.66, 0.73))
    rounds = max(len(curve) for curve in curves.values())
    first = max(rounds // 40, 1)  # before that, an error rate says nothing yet
    best = min(curves, key=lambda name: curves[name][-1])

    labels = []
    for name, colour in zip(curves, COLOURS * len(curves), strict=False):
        curve = [100 * error for error in curves[name]]
        axes.plot(range(first, len(curve) + 1), curve[first - 1 :], color=colour,
                  linewidth=2.4 if name == best else 1.4, zorder=3 if name == best else 2)  # fmt: skip
        labels.append((curve[-1], f"{name}  {curve[-1]:.1f} %", colour, name == best))
    if reference is not None:
        name, height = reference[0], 100 * reference[1]
        axes.axhline(height, color=FAINT, linewidth=1.2, linestyle=(0, (5, 4)), zorder=1)
        labels.append((height, f"{name}  {height:.1f} %", FAINT, False))

    top = max(max(curve[3 * first :], default=1.0) for curve in curves.values())
    axes.set_ylim(0, min(100, 5 * math.ceil(100 * top / 5)))
    axes.set_xlim(0, rounds)
    _dress(axes)
    _name_curves(axes, labels)
    figure.text(0.02, 0.945, title, fontsize=14, fontweight="bold", color=INK)
    figure.text(0.02, 0.895, subtitle, fontsize=11, color=FAINT)
    _write(figure, path)


def _new_figure() -> Any:
    try:
        # A figure of its own, without pyplot: no window, no backend, no global state.
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MatplotlibMissing(f"it needs matplotlib ({error}): pip install 'hinge[plots]'") from error
    return Figure(figsize=(10, 5.6), dpi=150, facecolor="white")


def _dress(axes: Any) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=11, length=0, pad=6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0f} %")
    axes.set_xlabel("rounds", fontsize=11, color=INK)


def _name_curves(axes: Any, labels: list[tuple[float, str, str, bool]]) -> None:
    """Writes the names beside the right ends, moved apart where they would overlap."""
    labels = sorted(labels)
    low, high = axes.get_ylim()
    heights = spread([height for height, *_ in labels], 0.045 * (high - low))
    beside = axes.get_yaxis_transform()  # x in parts of the width, y in data
    for height, (end, text, colour, bold) in zip(heights, labels, strict=True):
        axes.plot((1.005, 1.025), (end, height), color=colour, linewidth=0.8, transform=beside, clip_on=False)
        axes.text(1.033, height, text, color=colour, fontsize=11, fontweight="bold" if bold else "normal",
                  verticalalignment="center", transform=beside)  # fmt: skip


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Ascending heights, moved as little as possible (least squares) to be at least `gap` apart."""
    groups: list[tuple[float, int]] = []  # the sum of (height - rank * gap), and how many
    for rank, height in enumerate(heights):
        total, count = height - rank * gap, 1
        while groups and groups[-1][0] / groups[-1][1] > total / count:  # pool what would cross
            before, members = groups.pop()
            total, count = total + before, count + members
        groups.append((total, count))
    means = [total / count for total, count in groups for _ in range(count)]
    return [mean + rank * gap for rank, mean in enumerate(means)]


def _write(figure: Any, path: Path) -> None:
    """In one go, so that an error while drawing leaves no half picture behind."""
    picture = io.BytesIO()
    figure.savefig(picture, format=path.suffix.lstrip(".").lower() or "png")
    path.write_bytes(picture.getvalue())
