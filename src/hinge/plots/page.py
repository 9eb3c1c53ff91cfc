"""A self-contained page: a figure, and a table of its numbers."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .style import picture_of


def write_page(
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
