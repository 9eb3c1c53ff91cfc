"""Plots. They need matplotlib (pip install 'hinge[plots]'), which is imported when the first one is drawn."""

from __future__ import annotations

import html
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .model.experts import Experts

__all__ = ["MatplotlibMissing", "error_curves", "plot_experts", "plot_history", "progressive_curves"]

VoteHistory = Sequence[tuple[int, Experts]]  # after how many examples, and the experts at that time

# The colours of Okabe and Ito, which people with any kind of colour vision can distinguish. Light ones are darkened,
# because names are written in the colour of their curve.
COLOURS = ("#D55E00", "#0072B2", "#008060", "#A8417A", "#595959", "#8A6D00", "#3E9CCB", "#000000")
INK, FAINT = "#222222", "#767676"

# In inches: the minimum size of a figure, the curves, and the margins around them.
WIDTH, HEIGHT = 10.0, 5.6
CURVES_WIDTH, NARROWEST, LEFT, NAMES_FROM, RIGHT = 5.8, 5.0, 0.9, 0.3, 0.15
ABOVE, BELOW = 0.9, 0.62
NAME_SIZE, SMALLEST = 11.0, 9.0  # points

# The bands of a vote: fill and ink. Dark and light ones alternate, so that they differ in black and white, too.
BANDS = (("#0072B2", "#0072B2"), ("#F2B880", "#9A5B16"), ("#00654F", "#00654F"), ("#C9DFF0", "#3F7196"),
         ("#A8417A", "#A8417A"), ("#F3E7A8", "#7D6A00"), ("#8A8A8A", "#595959"))  # fmt: skip
VOTE_HEIGHT, VOTE_GAP = 2.3, 0.4  # in inches: the panel of a vote, and the room above it
SMALL_SHARE = 0.02  # of the vote, of what is drawn with the others
MOST_MOMENTS = 150  # at which a vote is drawn


class MatplotlibMissing(ImportError):
    """matplotlib is not installed."""


def error_curves(
    path: Path,
    curves: Mapping[str, Sequence[float]],
    *,
    title: str,
    subtitle: str = "",
    reference: tuple[str, float] | None = None,
) -> None:
    """Draws progressive errors (between 0 and 1) over rounds into a file, one curve per learner.

    The name of a curve is at its right end. `reference` is the name and the height of a dashed line.
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
    x: str = "examples",
    digits: int = 1,
    votes: VoteHistory = (),
) -> None:
    """Draws errors over rounds, each curve a list of (round, error), into a file: .png, .svg, .pdf or .html.

    `share`: the errors are fractions from 0 to 1, and are shown in percent with `digits` decimals. `dashed`: curves to
    compare with. `bold`: the curve to emphasise, by default the one that ends lowest. `x`: the unit of the rounds.
    `votes`: of a committee, (round, experts) at some rounds: a panel below the curves shows their shares of the vote.
    """
    figure = progressive_figure(
        curves,
        title=title,
        subtitle=subtitle,
        share=share,
        dashed=dashed,
        bold=bold,
        x=x,
        digits=digits,
        votes=votes,
    )
    if path.suffix.lower() == ".html":
        factor, unit = (100.0, " %") if share else (1.0, "")
        _write_page(figure, path, title, subtitle, {**curves, **(dashed or {})}, factor, unit, x)
    else:
        _write(figure, path)


def progressive_figure(
    curves: Mapping[str, Sequence[tuple[int, float]]],
    *,
    title: str,
    subtitle: str,
    share: bool,
    dashed: Mapping[str, Sequence[tuple[int, float]]] | None,
    bold: str | None,
    x: str,
    digits: int,
    votes: VoteHistory = (),
) -> Any:
    """The figure of `progressive_curves`."""
    votes = _thinned(votes)
    figure = _new_figure()
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    rounds = max(curve[-1][0] for curve in curves.values())
    factor, unit = (100.0, " %") if share else (1.0, "")
    best = bold or min(curves, key=lambda name: curves[name][-1][1])
    _set_limits(axes, curves, dashed or {}, rounds, share)
    # An error rate of the first few rounds means nothing.
    first = 1 if axes.get_xscale() == "log" else max(rounds // 40, 1)
    styles = [*line_styles(len(curves)), *([(FAINT, (0, (5, 4)))] * len(dashed or {}))]
    labels = []
    for (name, curve), (colour, line) in zip([*curves.items(), *(dashed or {}).items()], styles, strict=True):
        is_dashed, is_best = colour == FAINT, name == best
        shown = [(at, factor * error) for at, error in curve if at >= first or is_dashed] or [
            (curve[-1][0], factor * curve[-1][1])
        ]
        width = 1.2 if is_dashed else 2.4 if is_best else 1.4
        axes.plot(*zip(*shown, strict=True), color=colour, linestyle=line, linewidth=width,
                  zorder=1 if is_dashed else 3 if is_best else 2)  # fmt: skip
        end = factor * curve[-1][1]
        text = f"{_shortened(name)}  {end:.{digits}f}{unit}" if share else f"{_shortened(name)}  {end:.4g}"
        labels.append((min(end, axes.get_ylim()[1]), text, colour, is_best and not is_dashed))
    _dress(axes, unit, "" if votes else x)
    bands = vote_bands(votes)
    gap = _make_room(figure, axes, [*labels, *_band_labels(bands)] if bands else labels, len(labels))
    name_curves(axes, labels, gap=gap, size=NAME_SIZE)
    if bands:
        _add_votes(figure, axes, [at for at, _ in votes], bands, x)
    _write_title(figure, title, subtitle)
    return figure


def line_styles(count: int) -> list[tuple[str, Any]]:
    """A colour and a line style for each curve, all different: solid lines, then dashes with more and more dots."""
    styles: list[tuple[str, Any]] = []
    for number in range(count):
        dots = number // len(COLOURS)
        line: Any = (0, (4, 1.5) + (1, 1.5) * dots) if dots else "solid"
        styles.append((COLOURS[number % len(COLOURS)], line))
    return styles


def _shortened(name: str, most: int = 60) -> str:
    return name if len(name) <= most else name[: most - 1] + "…"


def _make_room(figure: Any, axes: Any, labels: list[tuple[float, str, str, bool]], count: int) -> float:
    """Enlarges the figure until all names fit in without overlap. Returns their distance, as a fraction of the height
    of the axes. The first `count` are one below the other."""
    names = [
        figure.text(0, 0, text, fontsize=NAME_SIZE, fontweight="bold" if bold else "normal", parse_math=False)
        for _, text, _, bold in labels
    ]
    room = LEFT + NAMES_FROM + max(_inches(name) for name in names) + RIGHT
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


def _inches(text: Any) -> float:
    return float(text.get_window_extent().width / text.get_figure().dpi)


def _write_title(figure: Any, title: str, subtitle: str) -> None:
    """In the largest size that fits. Text that is still too long ends with an ellipsis."""
    width, height = figure.get_size_inches()
    for words, size, weight, colour, below in (
        (title, 14, "bold", INK, 0.31),
        (subtitle, 11, "normal", FAINT, 0.59),
    ):
        text = figure.text(0.2 / width, 1 - below / height, words, fontsize=size, fontweight=weight, color=colour,
                           parse_math=False)  # fmt: skip
        room = width - 0.2 - RIGHT
        if (needed := _inches(text)) > room:
            text.set_fontsize(max(SMALLEST, 0.98 * size * room / needed))
        while _inches(text) > room:
            text.set_text(text.get_text()[:-5] + "…")


# ---- the vote of a committee --------------------------------------------------------------------------------


def plot_experts(history: VoteHistory, path: str | Path, *, title: str = "") -> None:
    """Draws how a committee's vote was shared over time into a file.

    `history` has pairs (number of examples, `model.experts_` at that time; of a `Learner`: its `experts`).
    """
    if len(history) < 2:
        raise ValueError("the history needs two or more entries: (number of examples, experts_)")
    _write(experts_figure(history, title), Path(path))


def experts_figure(history: VoteHistory, title: str = "") -> Any:
    """The figure of `plot_experts`."""
    history = _thinned(history)
    figure = _new_figure()
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    bands = vote_bands(history)
    _draw_votes(axes, [at for at, _ in history], bands, "examples")
    gap = _make_room(figure, axes, _band_labels(bands), len(bands))
    name_curves(axes, _band_labels(bands), gap=gap, size=NAME_SIZE)
    leader = max(history[-1][1], key=lambda expert: expert.weight)
    subtitle = f"Shares of the vote over {history[-1][0]:,} examples"
    _write_title(
        figure, title or f"Leader: {leader.in_words}, {100 * leader.weight:.0f} % of the vote", subtitle
    )
    return figure


def vote_bands(history: VoteHistory, most: int = len(BANDS)) -> list[tuple[str, list[float]]]:
    """The shares of the vote over time, the largest at the end first: of each kind of experts, and of each expert of a
    kind that has most of the vote. Beyond `most`, and if they are small, they are 'others'."""
    if not history:
        return []
    kinds = _summed(history, {e.name: e.family for e in history[-1][1]})
    large = {kind for kind, shares in kinds.items() if sum(shares) > 0.5 * len(history)}
    shares = _summed(history, {e.name: e.in_words if e.family in large else e.family for e in history[-1][1]})
    order = sorted(shares, key=lambda name: -sum(shares[name]))
    seen = [name for name in order if max(sum(shares[name]) / len(history), shares[name][-1]) > SMALL_SHARE]
    kept = order if order == seen and len(order) <= most else seen[: most - 1]
    bands = sorted(((name, shares[name]) for name in kept), key=lambda band: -band[1][-1])
    if rest := [shares[name] for name in order if name not in kept]:
        bands.append(("others", [sum(its) for its in zip(*rest, strict=True)]))
    return bands


def _summed(history: VoteHistory, names: Mapping[str, str]) -> dict[str, list[float]]:
    """The shares of the vote over time, of the experts that have the same name in `names`."""
    shares = {name: [0.0] * len(history) for name in names.values()}
    for place, (_, experts) in enumerate(history):
        for expert in experts:
            shares[names[expert.name]][place] += expert.weight
    return shares


def _thinned(history: VoteHistory) -> VoteHistory:
    """Without the entries that would be closer than a line is wide."""
    kept = list(history[:1])
    for entry in history[1:]:
        if entry[0] - kept[-1][0] >= history[-1][0] / MOST_MOMENTS or entry is history[-1]:
            kept.append(entry)
    return kept


def _band_labels(bands: list[tuple[str, list[float]]]) -> list[tuple[float, str, str, bool]]:
    """The names of the bands, at the middles of their right ends."""
    labels: list[tuple[float, str, str, bool]] = []
    below = 0.0
    for (name, shares), (_, ink) in zip(bands, BANDS, strict=False):
        share = 100 * shares[-1]
        labels.append((below + share / 2, f"{_shortened(name)}  {share:.0f} %", ink, not labels))
        below += share
    return labels


def _draw_votes(axes: Any, rounds: list[int], bands: list[tuple[str, list[float]]], x: str) -> None:
    below = [0.0] * len(rounds)
    for (_, shares), (fill, _) in zip(bands, BANDS, strict=False):
        above = [low + 100 * share for low, share in zip(below, shares, strict=True)]
        axes.fill_between(rounds, below, above, color=fill, linewidth=0, zorder=2)
        axes.plot(rounds, above, color="white", linewidth=0.7, zorder=3)
        below = above
    axes.set_ylim(0, 100)
    axes.set_xlim(rounds[0], rounds[-1])
    _dress(axes, " %", x)


def _add_votes(
    figure: Any, curves: Any, rounds: list[int], bands: list[tuple[str, list[float]]], x: str
) -> None:
    """A panel below the curves, with the same horizontal axis."""
    width, height = figure.get_size_inches()
    taller = height + VOTE_HEIGHT + VOTE_GAP
    at = curves.get_position()
    figure.set_size_inches(width, taller)
    up, scale = (VOTE_HEIGHT + VOTE_GAP) / taller, height / taller
    curves.set_position((at.x0, up + at.y0 * scale, at.width, at.height * scale))
    curves.xaxis.set_major_formatter(lambda value, _: "")
    axes = figure.add_axes((at.x0, at.y0 * scale, at.width, VOTE_HEIGHT / taller))
    axes.set_xscale(curves.get_xscale())
    _draw_votes(axes, rounds, bands, x)
    axes.set_xlim(curves.get_xlim())
    axes.set_title("Share of the vote", loc="left", fontsize=11, color=INK)
    name_curves(axes, _band_labels(bands), gap=1.34 * NAME_SIZE / 72 / VOTE_HEIGHT, size=NAME_SIZE)


# ---- the passes of fit --------------------------------------------------------------------------------------


def plot_history(history: Sequence[Mapping[str, float]], path: str | Path, *, title: str = "") -> None:
    """Draws the passes of `fit` (`history_`) into a file: the mean loss and, with early stopping, the validation score,
    in which the pass that was kept is marked."""
    if not history:
        raise ValueError("the history has no passes: call `fit` first")
    _write(history_figure(history, title), Path(path))


def history_figure(history: Sequence[Mapping[str, float]], title: str = "") -> Any:
    """The figure of `plot_history`."""
    figure = _new_figure()
    judged = all("validation_score" in entry for entry in history)
    places = [(0.09, 0.53, 0.86, 0.3), (0.09, 0.12, 0.86, 0.3)] if judged else [(0.09, 0.12, 0.86, 0.7)]
    panels = [("mean_loss", "mean loss of the rows learned", COLOURS[1])]
    if judged:
        panels.append(("validation_score", "score of the rows held back", COLOURS[0]))
    for place, (name, caption, colour) in zip(places, panels, strict=True):
        axes = figure.add_axes(place)
        values = [entry[name] for entry in history]
        axes.plot(range(1, len(values) + 1), values, color=colour, linewidth=2, marker="o", markersize=4)
        _dress(axes, "", "pass" if name == panels[-1][0] else "")
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
    _write_title(figure, title or found, f"{passes}, {sum(entry['seconds'] for entry in history):.2g} s")
    return figure


def _set_limits(
    axes: Any,
    curves: Mapping[str, Sequence[tuple[int, float]]],
    dashed: Mapping[str, Sequence[tuple[int, float]]],
    rounds: int,
    share: bool,
) -> None:
    """Chooses the axes so that the ends of all curves are visible. Fractions start at 0 %. Other errors
    have logarithmic axes if they differ by orders of magnitude."""
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
        top = max([top, *(2 * end for end in above)])  # a falling bound enters from above
    axes.set_ylim(0, max(5, min(100, 5 * math.ceil(top / 5))) if share else 1.1 * top or 1.0)
    axes.set_xlim(0, rounds)


def _new_figure() -> Any:
    try:
        # Without pyplot: no window, no backend, no global state.
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MatplotlibMissing(f"it needs matplotlib ({error}): pip install 'hinge[plots]'") from error
    return Figure(figsize=(WIDTH, HEIGHT), dpi=150, facecolor="white")


def _dress(axes: Any, unit: str, x: str) -> None:
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


def _write(figure: Any, path: Path) -> None:
    """Writes the complete picture at once: an error while drawing leaves no partial file."""
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
    x: str,
) -> None:
    """A self-contained page: the figure, and a table of its numbers at some rounds."""
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
                     x=html.escape(x), rows="\n".join(rows)),
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
<table><tr><th>{x}</th>{names}</tr>
{rows}
</table>
</html>
"""
