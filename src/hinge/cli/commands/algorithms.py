"""List the published algorithms: what they do, for which tasks, and their papers."""

from __future__ import annotations

import argparse
import json

from ...options.catalogue import algorithms
from ...tasks import on_streams


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tasks = on_streams()
    parser.add_argument(
        "--task", choices=tasks, metavar="NAME", help=f"Only the algorithms for one task: {', '.join(tasks)}."
    )
    parser.add_argument("--json", action="store_true", help="Print one JSON object per line.")


def run(arguments: argparse.Namespace) -> int:
    found = algorithms(arguments.task)
    if arguments.json:
        for one in found:
            print(json.dumps({"name": one.name, "tasks": one.tasks, "options": one.options, "paper": one.paper,
                              "theorem": one.theorem, "about": one.about}))  # fmt: skip
        return 0
    from ..console import new_console, new_table, show_table

    console = new_console()
    table = new_table("name", "what it does", "paper", "theorem")
    for one in found:
        table.add_row(one.name, one.about, one.paper, one.theorem)
    show_table(console, table)
    return 0
