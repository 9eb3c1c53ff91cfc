"""The 'Parameters' section of the docstrings, from the rows of the options table."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from . import table
from .parameter import REQUIRED, Parameter


def describe(rows: Mapping[str, Parameter], first: Collection[str] = ()) -> list[str]:
    """The lines of the section, by groups; those of `first` come before."""
    lines = [line for name in first for line in _entry(rows[name])]
    for group, names in table.GROUPS.items():
        its = [rows[name] for name in names if name in rows and name not in first]
        if its:
            lines += ["", f"*{group[0].upper()}{group[1:]}*", ""]
        lines += [line for row in its for line in _entry(row)]
    return lines if lines[0] else lines[1:]


def _entry(row: Parameter) -> list[str]:
    default = "" if row.default is REQUIRED else f", default={row.default!r}"
    return [f"{row.name} : {row.allowed}{default}", f"    {row.help}"]


def filled(docstring: str, rows: Mapping[str, Parameter], first: Collection[str] = ()) -> str:
    """The docstring with the section in place of `{parameters}`.

    The section is indented as `{parameters}` is: from Python 3.13 on the compiler removes the common indentation.
    """
    before, found, after = docstring.partition("{parameters}")
    if not found:
        return docstring
    indent = before[before.rindex("\n") + 1 :]
    section = "\n".join(f"{indent}{line}" if line else "" for line in describe(rows, first)).lstrip()
    return before + section + after
