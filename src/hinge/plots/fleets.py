"""A fleet in one picture: how many keys have how many examples and features, and the error by the age of a key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .page import write_page
from .style import BELOW, COLOURS, HEIGHT, INK, LEFT, RIGHT, WIDTH, dress, new_figure, write, write_title

GAP = 0.75  # inches between two panels
ABOVE = 1.25  # inches: title, subtitle and the titles of the panels


class AtAge(NamedTuple):
    """The error of the examples of keys that had `age` to the next age before."""

    age: int
    rounds: int
    error: float


def plot_fleet(
    path: Path,
    examples: Sequence[float],
    features: Sequence[float],
    by_age: Sequence[AtAge] = (),
    *,
    title: str,
    subtitle: str = "",
    share: bool = True,
) -> None:
    """Draws a fleet into a file: .png, .svg, .pdf or .html. `examples` and `features` have a number for each key;
    `share`: the errors are fractions from 0 to 1, and are shown in percent."""
    figure = fleet_figure(examples, features, by_age, title=title, subtitle=subtitle, share=share)
    if path.suffix.lower() != ".html":
        write(figure, path)
        return
    factor, unit = (100.0, " %") if share else (1.0, "")
    curves = (
        {"error": [(at.age + 1, at.error) for at in by_age]}
        if by_age
        else {"keys": [(1, float(len(examples)))]}
    )
    write_page(
        figure, path, title, subtitle, curves, *((factor, unit) if by_age else (1.0, "")), "examples of a key"
    )


def fleet_figure(
    examples: Sequence[float],
    features: Sequence[float],
    by_age: Sequence[AtAge],
    *,
    title: str,
    subtitle: str,
    share: bool,
) -> Any:
    """The figure of `plot_fleet`. Without known ages it has two panels."""
    figure = new_figure()
    panels = 3 if by_age else 2
    width = (WIDTH - LEFT - RIGHT - (panels - 1) * GAP) / panels
    places = [
        (
            (LEFT + place * (width + GAP)) / WIDTH,
            BELOW / HEIGHT,
            width / WIDTH,
            (HEIGHT - ABOVE - BELOW) / HEIGHT,
        )
        for place in range(panels)
    ]
    _histogram(figure.add_axes(places[0]), examples, "examples of a key", COLOURS[1])
    _histogram(figure.add_axes(places[1]), features, "features of a key", COLOURS[2])
    figure.axes[0].set_title("keys", loc="left", fontsize=11, color=INK)
    figure.axes[1].set_title("keys", loc="left", fontsize=11, color=INK)
    if by_age:
        _errors(figure.add_axes(places[2]), by_age, share)
    write_title(figure, title, subtitle)
    return figure


def _histogram(axes: Any, values: Sequence[float], x: str, colour: str) -> None:
    """How many keys have 1, 2 to 3, 4 to 7, ... of something."""
    counts: dict[int, int] = {}
    for value in values:
        power = int(math.log2(value)) if value >= 1 else -1
        counts[power] = counts.get(power, 0) + 1
    powers = range(min(counts, default=0), max(counts, default=0) + 1)
    axes.bar(list(powers), [counts.get(power, 0) for power in powers], width=0.9, color=colour)
    dress(axes, "", x)
    step = max(1, math.ceil(len(powers) / 5))
    axes.set_xticks(list(powers)[::step], [_power_text(power) for power in list(powers)[::step]])
    axes.set_xlim(powers.start - 0.6, powers.stop - 0.4)
    axes.yaxis.set_major_formatter(lambda value, _: _short(value))


def _errors(axes: Any, by_age: Sequence[AtAge], share: bool) -> None:
    factor, unit = (100.0, " %") if share else (1.0, "")
    ages, errors = [at.age + 1 for at in by_age], [factor * at.error for at in by_age]
    axes.set_xscale("log")
    axes.plot(ages, errors, color=COLOURS[0], linewidth=2, marker="o", markersize=5)
    axes.set_ylim(0, 1.1 * max(errors) or 1.0)
    dress(axes, unit, "examples of the key so far")
    axes.minorticks_off()
    axes.xaxis.set_major_formatter(lambda value, _: _short(value))
    axes.set_title("error by the age of a key", loc="left", fontsize=11, color=INK)


def _power_text(power: int) -> str:
    return "0" if power < 0 else _short(2**power)


def _short(number: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.3g}{letter}"
    return f"{number:g}"
