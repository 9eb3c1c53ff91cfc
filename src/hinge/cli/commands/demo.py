"""Learn from a real stream, and compare the mistakes with the guarantees.

A committee and six single learners read 1,797 handwritten digits, one at a time, and predict whether each is odd or
even before they learn it. The command prints their errors, the time per event and the guarantees of the theory. It also
runs one stream of regression and one of one-class learning. It takes a few seconds, needs no network, and draws a
picture.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ..app import whole_or_zero

DEFAULT_PLOT = Path("hinge-demo.png")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--plot", metavar="PATH", type=Path,
        help=f"Where to draw the error curves: .png, .svg or .pdf. [default: {DEFAULT_PLOT}]",
    )  # fmt: skip
    parser.add_argument("--no-plot", action="store_true", help="Do not draw a picture.")
    parser.add_argument(
        "--seed", metavar="NUMBER", type=whole_or_zero, default=0,
        help="The seed of the order of the stream. [default: 0]",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    plot: Path | None = arguments.plot
    if plot is not None and arguments.no_plot:
        raise ValueError("--plot and --no-plot exclude each other.")
    if plot is not None:
        check_plot(plot)  # before the runs, which take some seconds
    from ..demo import run as demo

    path = None if arguments.no_plot else plot or DEFAULT_PLOT
    return demo(path, seed=arguments.seed, insist=plot is not None)


def check_plot(plot: Path) -> None:
    """Raises ValueError if no picture can be written to that path."""
    if plot.is_dir():
        problem = f"{plot} is a directory."
    elif plot.suffix.lower() not in (".png", ".svg", ".pdf"):
        problem = f"{plot} must end in .png, .svg or .pdf."
    elif not plot.parent.is_dir():
        problem = f"there is no directory {plot.parent}."
    elif not os.access(plot if plot.exists() else plot.parent, os.W_OK):
        problem = f"{plot} cannot be written: permission denied."
    else:
        return
    raise ValueError(f"--plot: {problem}")
