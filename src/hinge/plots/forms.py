"""The forms of a fleet: the error of each one by the age of the key."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .curves import line_styles
from .style import FAINT, NAME_SIZE, dress, make_room, name_curves, new_figure, write, write_title

if TYPE_CHECKING:
    from ..fleet.forms import Forms


def plot_forms(forms: Forms, path: str | Path, *, title: str = "", subtitle: str = "") -> None:
    """Draws the errors of what `compare_forms` found into a file: one curve per form, from new keys to old ones. The
    controls with shuffled keys are dashed."""
    share = forms.task == "classification"
    title = title or f"{forms.best.name} errs least"
    figure = forms_figure(
        {form.name: (form.by_age, form.error) for form in forms},
        dashed={form.name for form in forms if form.is_control},
        share=share,
        title=title,
        subtitle=subtitle
        or "Progressive error by the age of the key. After the names: the error of all examples",
    )
    write(figure, Path(path))


def forms_figure(
    errors: Mapping[str, tuple[Mapping[str, float], float]],
    *,
    dashed: set[str],
    share: bool,
    title: str,
    subtitle: str,
) -> Any:
    """The figure of `plot_forms`: for each form its errors by age, and its error in all."""
    figure = new_figure()
    axes = figure.add_axes((0.1, 0.1, 0.8, 0.8))
    ages = list(next(iter(errors.values()))[0])  # the same for all forms
    factor, unit = (100.0, " %") if share else (1.0, "")
    solid = iter(line_styles(len(errors)))
    best = min((name for name in errors if name not in dashed), key=lambda name: errors[name][1])
    labels = []
    for name, (by_age, error) in errors.items():
        colour, line = (FAINT, (0, (5, 4))) if name in dashed else next(solid)
        heights = [factor * by_age[age] for age in ages]
        axes.plot(range(len(ages)), heights, color=colour, linestyle=line, marker="o", markersize=5,
                  linewidth=2.4 if name == best else 1.4, zorder=1 if name in dashed else 2, clip_on=False)  # fmt: skip
        shown = f"{factor * error:.1f}{unit}" if share else f"{error:.3g}"
        labels.append((heights[-1], f"{name}  {shown}", colour, name == best))
    axes.set_ylim(0, axes.get_ylim()[1])
    dress(axes, unit, "examples of the key so far")
    axes.set_xlim(-0.1, len(ages) - 1 + 0.02)
    axes.set_xticks(range(len(ages)), ages)
    gap = make_room(figure, axes, labels, len(labels))
    name_curves(axes, labels, gap=gap, size=NAME_SIZE)
    write_title(figure, title, subtitle)
    return figure
