"""Reproduce the experiments of the papers: 'hinge papers list', 'hinge papers run E1 E4 --data DIR'.

Each experiment writes a figure (with the axes of the paper) and a table (the number of the paper, that of hinge, and
whether it is reproduced) into a folder. If its data is missing it uses a substitute, and with --quick less data; then
there is no verdict.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from pathlib import Path
from typing import Any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", choices=("list", "run"), metavar="ACTION", nargs="?", default="list",
        help="list or run. [default: list]",
    )  # fmt: skip
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="The experiments to run: E1, E4, ... [default: all]"
    )
    parser.add_argument("--data", metavar="DIR", help="The folder with the data sets. [default: $HINGE_DATA]")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="Use less data and fewer repetitions: all experiments take a few minutes.",
    )
    parser.add_argument(
        "-o", "--out", metavar="DIR", default="papers", help="The folder for the results. [default: papers]"
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON object per line.")


def run(arguments: argparse.Namespace) -> int:
    papers = _experiments()
    if arguments.action == "list":
        return _list(papers, arguments.json)
    folder = arguments.data or os.environ.get("HINGE_DATA")
    if folder and not Path(folder).is_dir():
        raise ValueError(f"there is no folder {folder}")
    recipes = [papers.recipe_named(name) for name in arguments.names] or papers.recipes()
    for recipe in recipes:
        _run_one(recipe, papers.Setting, Path(folder) if folder else None, arguments)
    return 0


def _experiments() -> Any:
    """The package `experiments.papers` of this checkout, or of the current folder. Wheels do not have it."""
    for root in (Path(__file__).parents[4], Path.cwd()):
        if (root / "experiments" / "papers" / "recipe.py").is_file():
            if str(root) not in sys.path:
                sys.path.append(str(root))
            return importlib.import_module("experiments.papers")
    raise ValueError(
        "the experiments are not part of the installed package: clone the repository and run 'hinge papers' there"
    )


def _run_one(recipe: Any, setting: Any, folder: Path | None, arguments: argparse.Namespace) -> None:
    from ..console import new_console, new_table, say, show_table

    console = new_console()
    if not arguments.json:
        say(console, f"{recipe.name} ({recipe.paper}, {recipe.figure}): {recipe.claim}")

    def report(text: str) -> None:
        if not arguments.json:
            console.print(f"  {text}", soft_wrap=True, style="dim")

    outcome = recipe.run(setting(folder, "quick" if arguments.quick else "full", report))
    files = outcome.write(Path(arguments.out), recipe.name)
    if arguments.json:
        print(json.dumps({
            "experiment": recipe.name, "data": outcome.data, "substitute": outcome.substitute,
            "verdict": outcome.verdict, "seconds": round(outcome.seconds, 1), "files": [str(f) for f in files],
            "lines": [vars(line) for line in outcome.lines],
            "criteria": [{"text": c.text, "mark": outcome.mark(c), "seen": c.seen} for c in outcome.criteria],
            "remarks": outcome.remarks,
        }))  # fmt: skip
        return
    say(console, f"Ran on {outcome.data}, {outcome.seconds:.0f} s.")
    table = new_table("what", "paper", "ours", "", right=("paper", "ours"))
    for line in outcome.lines:
        table.add_row(line.what, line.paper, line.ours, line.note)
    show_table(console, table)
    for criterion in outcome.criteria:
        mark = outcome.mark(criterion).replace("not met", "NOT MET")
        console.print(
            f"  {mark}: {criterion.text} {f'({criterion.seen})' if criterion.seen else ''}", soft_wrap=True
        )
    for remark in outcome.remarks:
        console.print(f"  {remark}", soft_wrap=True)
    say(console, f"{_sentence(outcome, recipe)} Written: {', '.join(map(str, files))}.")
    console.print()


def _sentence(outcome: Any, recipe: Any) -> str:
    if outcome.verdict == "no data":
        return (
            f"No data: a substitute says nothing about the paper. --data must have {', '.join(recipe.needs)}."
        )
    if outcome.verdict == "not judged":
        return "Not judged: the paper's claims are about all of the data (run it without --quick)."
    return f"{outcome.verdict.capitalize()}."


def _list(papers: Any, as_json: bool) -> int:
    if as_json:
        for recipe in papers.recipes():
            record = {name: getattr(recipe, name) for name in recipe.__dataclass_fields__ if name != "body"}
            print(json.dumps(record))
        return 0
    from ..console import new_console, new_table, show_table

    table = new_table("name", "paper", "figure", "claim", "data", "without")
    for recipe in papers.recipes():
        needs = ", ".join(recipe.needs) or "its own"
        table.add_row(recipe.name, recipe.paper, recipe.figure, recipe.claim, needs, recipe.substitute)
    show_table(new_console(), table)
    return 0
