"""Progressive errors over rounds, one curve per learner, with the vote of a committee below them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .page import write_page
from .style import (
    COLOURS,
    FAINT,
    NAME_SIZE,
    dress,
    make_room,
    name_curves,
    new_figure,
    shortened,
    write,
    write_title,
)
from .votes import VoteHistory, add_votes, band_labels, thinned, vote_bands


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
        write_page(figure, path, title, subtitle, {**curves, **(dashed or {})}, factor, unit, x)
    else:
        write(figure, path)


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
    votes = thinned(votes)
    figure = new_figure()
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
        text = f"{shortened(name)}  {end:.{digits}f}{unit}" if share else f"{shortened(name)}  {end:.4g}"
        labels.append((min(end, axes.get_ylim()[1]), text, colour, is_best and not is_dashed))
    dress(axes, unit, "" if votes else x)
    bands = vote_bands(votes)
    gap = make_room(figure, axes, [*labels, *band_labels(bands)] if bands else labels, len(labels))
    name_curves(axes, labels, gap=gap, size=NAME_SIZE)
    if bands:
        add_votes(figure, axes, [at for at, _ in votes], bands, x)
    write_title(figure, title, subtitle)
    return figure


def line_styles(count: int) -> list[tuple[str, Any]]:
    """A colour and a line style for each curve, all different: solid lines, then dashes with more and more dots."""
    styles: list[tuple[str, Any]] = []
    for number in range(count):
        dots = number // len(COLOURS)
        line: Any = (0, (4, 1.5) + (1, 1.5) * dots) if dots else "solid"
        styles.append((COLOURS[number % len(COLOURS)], line))
    return styles


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
