"""Output of commands: paragraphs, tables, and live progress, which becomes plain lines in a file."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table

from ..streams import Round

WIDEST = 100  # longer lines of prose are hard to read
Watch = Callable[[str, Round], None]  # called with the name of a learner and each of its rounds


def new_console() -> Console:
    """stdout. No markup and no automatic colours: brackets and numbers are printed as they are."""
    return _Console(markup=False, highlight=False, emoji=False)


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """The reader of our output has left: `main` handles that."""
        raise BrokenPipeError


def say(console: Console, text: str, style: str = "") -> None:
    """Prints a paragraph. (rich would leave spaces at the ends of lines.)"""
    console.print(textwrap.fill(text, min(console.width, WIDEST)), style=style, soft_wrap=True)


def new_table(*columns: str, right: Collection[str] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, justify="right" if column in right else "left")
    return table


def show_table(console: Console, table: Table) -> None:
    """Prints the table; in a file without the trailing spaces of rich."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.print(line.rstrip(), soft_wrap=True)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


@contextmanager
def watch(console: Console, names: Collection[str], total: int) -> Iterator[Watch]:
    """Shows the progress of learners: a moving bar for each, or in a file one line."""
    if not console.is_terminal or console.is_dumb_terminal:
        yield _lines(console, names, total)
        return
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=18),
        TextColumn("{task.completed:>5,} rounds"),
        TextColumn("{task.fields[speed]:>16}"),
        TextColumn("{task.fields[error]:>12}", style="bold"),
        console=console,
    )
    with progress:
        yield _bars(progress, names, total)


def _bars(progress: Progress, names: Collection[str], total: int, every: int = 64) -> Watch:
    """`every`: rounds between two updates of a bar, which slow down the learner."""
    tasks = {name: progress.add_task(name, total=total, speed="", error="") for name in names}

    def see(name: str, event: Round) -> None:
        if event.number % every == 0 or event.number == total:
            speed = f"{event.number / event.seconds:,.0f} rounds/s"
            error = f"{percent(event.error)} wrong"
            progress.update(tasks[name], completed=event.number, speed=speed, error=error)

    return see


def _lines(console: Console, names: Collection[str], total: int) -> Watch:
    noted_rounds = (100, 500, total)
    width = max(map(len, names))
    noted: list[str] = []

    def see(name: str, event: Round) -> None:
        if event.number in noted_rounds:
            noted.append(f"{percent(event.error)}{'' if noted else ' wrong'} after {event.number:,}")
        if event.number == total:
            console.print(f"{name:<{width}}  {', '.join(noted)}", soft_wrap=True)
            noted.clear()

    return see
