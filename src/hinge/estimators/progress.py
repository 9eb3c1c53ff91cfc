"""Progress of `fit` with `verbose`: a bar on a terminal, otherwise one line per pass."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Passes = Sequence[dict[str, float]]


@contextlib.contextmanager
def reporter(verbose: int, max_iter: int) -> Iterator[Callable[[Passes], None]]:
    """Yields a function to call after each pass, with all passes so far."""
    if not verbose:
        yield lambda passes: None
    elif sys.stdout is not None and sys.stdout.isatty() and (bar := _new_bar()) is not None:
        shown = bar.add_task("", total=max_iter, text="")

        def advance(passes: Passes) -> None:
            bar.update(shown, completed=len(passes), text=in_words(passes))

        with bar:
            yield advance
    else:
        yield lambda passes: print(in_words(passes), flush=True)


def in_words(passes: Passes) -> str:
    """The last pass: pass 3: mean loss 0.0125, 4 mistakes, 17 updates"""
    last = passes[-1]
    said = [
        f"mean loss {last['mean_loss']:.6g}",
        f"{last['mistakes']} mistakes",
        f"{last['updates']} updates",
    ]
    if "validation_score" in last:
        said.append(f"validation score {last['validation_score']:.6g}")
    return f"pass {len(passes)}: {', '.join(said)}"


def _new_bar() -> Any:
    try:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    except ImportError:
        return None
    return Progress(
        BarColumn(bar_width=18), TextColumn("{task.fields[text]}", markup=False), TimeElapsedColumn()
    )
