"""The commands and their options.

This module is loaded for `hinge --help`, so it imports typer and nothing else that takes time: what a command
needs is imported when it runs. Typer's rich mode is off for the same reason (rich alone takes longer to load
than everything else here).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .. import __version__

app = typer.Typer(
    help="Online margin learning: predict, be told the truth, and move just far enough.",
    epilog="Start with 'hinge demo'. 'hinge COMMAND --help' explains a command.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

DEFAULT_PLOT = Path("hinge-demo.png")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"hinge {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    pass


@app.command(short_help="Learn from a real stream and see what was guaranteed.")
def demo(
    plot: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help=f"Where to draw the error curves: .png, .svg or .pdf. [default: {DEFAULT_PLOT}]",
            show_default=False,
        ),
    ] = None,
    no_plot: Annotated[bool, typer.Option("--no-plot", help="Draw nothing.")] = False,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", min=0, help="Shuffles the stream. Other seeds, other orders.")
    ] = 0,
) -> None:
    """Learn from a real stream and see what was guaranteed.

    Six learners read 1,797 handwritten digits, one at a time, and say of each whether it is odd or even
    before they are told. The command shows how often they erred, how long an event took, and what the theory
    had guaranteed; then one stream each for regression and one-class learning. It takes some seconds, needs
    no network, and writes one picture.
    """
    if plot is not None and no_plot:
        raise typer.BadParameter("--plot and --no-plot exclude each other.")
    if plot is not None and (problem := _problem_with(plot)):
        raise typer.BadParameter(problem, param_hint="--plot")  # now, and not after all the work

    from .demo import run

    raise typer.Exit(run(None if no_plot else plot or DEFAULT_PLOT, seed=seed, insist=plot is not None))


def _problem_with(plot: Path) -> str:
    """Why there can be no picture at that path; "" if nothing speaks against it."""
    import os

    if plot.is_dir():
        return f"{plot} is a directory."
    if plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        return f"{plot} must end in .png, .svg or .pdf."
    if not plot.parent.is_dir():
        return f"there is no directory {plot.parent}."
    if not os.access(plot if plot.exists() else plot.parent, os.W_OK):
        return f"{plot} cannot be written: permission denied."
    return ""


@app.command()
def version() -> None:
    """Show the versions of hinge and of what it runs on."""
    import platform
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    typer.echo(f"hinge {__version__}")
    typer.echo(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in ("numpy", "scipy", "scikit-learn", "matplotlib", "river"):
        try:
            typer.echo(f"{package} {installed(package)}")
        except PackageNotFoundError:
            typer.echo(f"{package}: not installed")
