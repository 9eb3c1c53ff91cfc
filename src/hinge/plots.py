"""Pictures. They need matplotlib (pip install 'hinge[plots]'), which is imported when one is drawn."""

from __future__ import annotations

import html
import io
import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

__all__ = ["MatplotlibMissing", "error_curves", "plot_history", "progressive_curves"]

# Okabe and Ito's colours, which people with any kind of colour vision can tell apart; darker where they are light,
# as names are written in the colour of their curve.
COLOURS = ("#D55E00", "#0072B2", "#008060", "#A8417A", "#595959", "#8A6D00", "#3E9CCB", "#000000")
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
    points = {name: list(enumerate(curve, 1)) for name, curve in curves.items()}
    rounds = max(map(len, curves.values()))
    dashed = {} if reference is None else {reference[0]: [(1, reference[1]), (rounds, reference[1])]}
    progressive_curves(path, points, title=title, subtitle=subtitle, dashed=dashed)


def progressive_curves(
    path: Path,
    curves: Mapping[str, Sequence[tuple[int, float]]],
    *,
    title: str,
    subtitle: str = "",
    share: bool = True,
    dashed: Mapping[str, Sequence[tuple[int, float]]] | None = None,
    bold: str | None = None,
) -> None:
    """Draws errors over rounds, each curve a list of (round, error), into a file: .png, .svg, .pdf or .html.

    `share`: the errors are shares, from 0 to 1, and shown in percent. `dashed` are what the curves are compared with.
    `bold` is the curve that matters most; without, the one that ends lowest.
    """
    figure = _new_figure()
    axes = figure.add_axes((0.09, 0.11, 0.58, 0.73))
    rounds = max(curve[-1][0] for curve in curves.values())
    first = max(rounds // 40, 1)  # before that, an error rate says nothing yet
    factor, unit = (100.0, " %") if share else (1.0, "")
    best = bold or min(curves, key=lambda name: curves[name][-1][1])
    _set_limits(axes, curves, dashed or {}, rounds, share)

    labels = []
    named = [
        *((name, curve, False) for name, curve in curves.items()),
        *((n, c, True) for n, c in (dashed or {}).items()),
    ]
    colours = itertools.cycle(COLOURS)
    for name, curve, is_dashed in named:
        colour = FAINT if is_dashed else next(colours)
        style: Any = {"linewidth": 1.2, "linestyle": (0, (5, 4)), "zorder": 1} if is_dashed else {
            "linewidth": 2.4 if name == best else 1.4, "zorder": 3 if name == best else 2}  # fmt: skip
        begin = 1 if is_dashed or axes.get_xscale() == "log" else first
        shown = [(at, factor * error) for at, error in curve if at >= begin] or [curve[-1]]
        axes.plot(*zip(*shown, strict=True), color=colour, **style)
        end = factor * curve[-1][1]
        text = f"{name}  {end:.1f}{unit}" if share else f"{name}  {end:.4g}"
        labels.append((min(end, axes.get_ylim()[1]), text, colour, name == best and not is_dashed))
    _dress(axes, unit)
    name_curves(axes, labels)
    figure.text(0.02, 0.945, title, fontsize=14, fontweight="bold", color=INK)
    figure.text(0.02, 0.895, subtitle, fontsize=11, color=FAINT)
    if path.suffix.lower() == ".html":
        _write_page(figure, path, title, subtitle, {name: curve for name, curve, _ in named}, factor, unit)
    else:
        _write(figure, path)


def plot_history(history: Sequence[Mapping[str, float]], path: str | Path, *, title: str = "") -> None:
    """Draws the passes of a `fit` (`history_`) into a file: the mean loss, and below it the validation score if rows
    were held back, with the pass that was kept marked."""
    if not history:
        raise ValueError("the history has no passes: call `fit` first")
    figure = _new_figure()
    judged = all("validation_score" in entry for entry in history)
    places = [(0.09, 0.53, 0.86, 0.3), (0.09, 0.12, 0.86, 0.3)] if judged else [(0.09, 0.12, 0.86, 0.7)]
    panels = [("mean_loss", "mean loss of the rows learned", COLOURS[1])]
    if judged:
        panels.append(("validation_score", "score of the rows held back", COLOURS[0]))
    for place, (name, said, colour) in zip(places, panels, strict=True):
        axes = figure.add_axes(place)
        values = [entry[name] for entry in history]
        axes.plot(range(1, len(values) + 1), values, color=colour, linewidth=2, marker="o", markersize=4)
        _dress(axes, "")
        axes.set_title(said, loc="left", fontsize=11, color=colour)
        axes.margins(y=0.15)
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("pass" if name == panels[-1][0] else "", fontsize=11, color=INK)
    if judged:
        best = max(values)
        at = values.index(best) + 1
        axes.plot([at], [best], "o", color=colour, markersize=10, markerfacecolor="white", markeredgewidth=2)
        axes.annotate(f"kept: pass {at}, {best:.4g}", (at, best), textcoords="offset points", xytext=(10, 6),
                      fontsize=11, fontweight="bold", color=colour)  # fmt: skip
    seconds = sum(entry["seconds"] for entry in history)
    figure.text(0.02, 0.94, title or "The passes of fit", fontsize=14, fontweight="bold", color=INK)
    figure.text(0.02, 0.89, f"{len(history)} passes, {seconds:.2g} s", fontsize=11, color=FAINT)
    _write(figure, Path(path))


def _set_limits(
    axes: Any,
    curves: Mapping[str, Sequence[tuple[int, float]]],
    dashed: Mapping[str, Sequence[tuple[int, float]]],
    rounds: int,
    share: bool,
) -> None:
    """So that all ends are to be seen. Shares are drawn from 0 %; other errors that differ by orders of magnitude on
    logarithmic axes."""
    factor = 100.0 if share else 1.0
    early = 3 * max(rounds // 40, 1)
    top = factor * max(
        (error for curve in curves.values() for at, error in curve if at >= early), default=1.0
    )
    above = [factor * curve[-1][1] for curve in dashed.values() if curve]
    if not share and any(end > 2 * top for end in above):
        ends = [*above, *(factor * error for curve in curves.values() for _, error in curve if error > 0)]
        axes.set_yscale("log")
        axes.set_xscale("log")
        axes.set_ylim(min(ends) / 1.5, 1.5 * max(ends))
        axes.minorticks_off()
        axes.set_xlim(min(curve[0][0] for curve in curves.values()), rounds)
        return
    if share:
        top = max([top, *(2 * end for end in above)])  # a bound that falls comes in from above
    axes.set_ylim(0, min(100, 5 * math.ceil(top / 5)) if share else 1.1 * top or 1.0)
    axes.set_xlim(0, rounds)


def _new_figure() -> Any:
    try:
        # A figure of its own, without pyplot: no window, no backend, no global state.
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MatplotlibMissing(f"it needs matplotlib ({error}): pip install 'hinge[plots]'") from error
    return Figure(figsize=(10, 5.6), dpi=150, facecolor="white")


def _dress(axes: Any, unit: str) -> None:
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(which="both", colors=INK, labelsize=11, length=0, pad=6)
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:g}{unit}")
    axes.set_xlabel("rounds", fontsize=11, color=INK)


def name_curves(
    axes: Any, labels: list[tuple[float, str, str, bool]], gap: float = 0.05, size: float = 11
) -> None:
    """Writes the names beside the right ends, moved apart where they would overlap."""
    labels = sorted(labels)
    scale = axes.transData + axes.transAxes.inverted()  # from data to parts of the axes, whatever their scale
    labels = [
        (float(scale.transform((1.0, end))[1]), text, colour, bold) for end, text, colour, bold in labels
    ]
    heights = spread([height for height, *_ in labels], min(gap, 1 / len(labels)), 0.0, 1.0)
    beside = axes.transAxes
    for height, (end, text, colour, bold) in zip(heights, labels, strict=True):
        axes.plot((1.005, 1.025), (end, height), color=colour, linewidth=0.8, transform=beside, clip_on=False)
        axes.text(1.033, height, text, color=colour, fontsize=size, fontweight="bold" if bold else "normal",
                  verticalalignment="center", transform=beside)  # fmt: skip


def spread(
    heights: Sequence[float], gap: float, low: float = -math.inf, high: float = math.inf
) -> list[float]:
    """Ascending heights, moved as little as possible (least squares) to be at least `gap` apart, and within limits."""
    groups: list[tuple[float, int]] = []  # the sum of (height - rank * gap), and how many
    for rank, height in enumerate(heights):
        total, count = height - rank * gap, 1
        while groups and groups[-1][0] / groups[-1][1] > total / count:  # pool what would cross
            before, members = groups.pop()
            total, count = total + before, count + members
        groups.append((total, count))
    highest = high - (len(heights) - 1) * gap  # where the lowest one may be, so that all have room
    means = [max(min(total / count, highest), low) for total, count in groups for _ in range(count)]
    return [mean + rank * gap for rank, mean in enumerate(means)]


def _write(figure: Any, path: Path) -> None:
    """In one go, so that an error while drawing leaves no half picture behind."""
    path.write_bytes(picture_of(figure, path.suffix.lstrip(".").lower() or "png"))


def picture_of(figure: Any, kind: str) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format=kind)
    return picture.getvalue()


def _write_page(
    figure: Any,
    path: Path,
    title: str,
    subtitle: str,
    curves: Mapping[str, Sequence[tuple[int, float]]],
    factor: float,
    unit: str,
) -> None:
    """A page that needs nothing else: the picture, and its numbers at some moments in a table."""
    drawing = picture_of(figure, "svg").decode()
    drawing = drawing[drawing.index("<svg") :]
    last = max(curve[-1][0] for curve in curves.values())
    moments = sorted(
        {*(10**k for k in range(1, len(str(last)))), *(last * part // 10 for part in range(1, 11))}
    )
    rows = []
    for moment in moments:
        cells = []
        for curve in curves.values():
            error = next((error for at, error in curve if at >= moment), None)
            cells.append("" if error is None else f"{factor * error:.4g}{unit}")
        rows.append(f"<tr><th>{moment:,}</th>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    names = "".join(f"<th>{html.escape(name)}</th>" for name in curves)
    path.write_text(
        _PAGE.format(title=html.escape(title), subtitle=html.escape(subtitle), drawing=drawing, names=names,
                     rows="\n".join(rows)),
        encoding="utf-8",
    )  # fmt: skip


_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; color: #222; max-width: 62rem; margin: 2rem auto; padding: 0 1rem }}
svg {{ width: 100%; height: auto }}
table {{ border-collapse: collapse; margin-top: 1rem }}
th, td {{ text-align: right; padding: .15rem 1rem; border-bottom: 1px solid #e6e6e6 }}
</style>
{drawing}
<p>{subtitle}.</p>
<table><tr><th>rounds</th>{names}</tr>
{rows}
</table>
</html>
"""
