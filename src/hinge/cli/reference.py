"""The reference of the command line for the documentation, from the same parsers that read it: `make docs`."""

from __future__ import annotations

import argparse

from .app import COMMANDS, command_parser


def reference() -> str:
    """All commands and their options, as Markdown. Groups of options that several commands have are listed once."""
    seen: dict[str, str] = {}
    return "\n".join(_command(name, about, seen) for name, about in COMMANDS.items())


def _command(name: str, about: str, seen: dict[str, str]) -> str:
    parser = command_parser(name)
    description = (parser.description or "").strip().split("\n\n")
    prose = [part for part in description if not part.startswith("  ")]
    examples = [part for part in description if part.startswith("  ")]
    lines = [f"### hinge {name}\n", *(f"{part}\n" for part in prose)]
    for part in examples:
        lines += ["```", *(line[2:] for line in part.splitlines()), "```", ""]
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.help is not argparse.SUPPRESS]
        if not actions or group.title == "help":
            continue
        table = [_row(action) for action in actions]
        title = "" if group.title in ("positional arguments", "options") else f"**{group.title}**"
        content = "\n".join(table)
        if title and title in seen and seen[title].split("\n", 1)[1] == content:
            lines += [f"{title}: as in `hinge {seen[title].split(chr(10), 1)[0]}`.\n"]
            continue
        if title:
            seen[title] = f"{name}\n{content}"
            lines += [f"{title}\n"]
        lines += ["| option | what it does |", "| --- | --- |", *table, ""]
    return "\n".join(lines)


def _row(action: argparse.Action) -> str:
    metavar = action.metavar if isinstance(action.metavar, str) else ""
    if not action.option_strings:
        name = f"`{metavar}`"
    elif action.nargs == 0:
        name = ", ".join(f"`{option}`" for option in action.option_strings)
    else:
        value = metavar or "|".join(map(str, action.choices or ()))
        name = ", ".join(f"`{option}`" for option in action.option_strings) + (f" `{value}`" if value else "")
    text = (action.help or "").replace("|", "\\|")
    return f"| {name.replace('|', chr(92) + '|')} | {text} |"


def written(page: str) -> str:
    """The page with the reference as it is now under its last heading."""
    mark = "says the same.\n\n"
    return page[: page.index(mark) + len(mark)] + reference()


if __name__ == "__main__":
    import sys

    with open(sys.argv[1], encoding="utf-8") as file:
        page = file.read()
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(written(page))
