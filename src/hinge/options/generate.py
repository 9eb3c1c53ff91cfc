"""What `make docs` generates from the options table: types.py, and the tables of docs/guide.md."""

from __future__ import annotations

import re
from pathlib import Path

from . import table
from .classes import CLASSES, ClassOptions

_HEAD = '''\
"""The options of each class, for type checkers and editors. Generated from the options table: `make docs`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ..structured.feature_maps import FeatureMap
'''

_TABLE = "| option | default | allowed | what it does |\n|---|---|---|---|\n"


def types() -> str:
    """The text of types.py: what each class takes by name only."""
    return _HEAD + "".join(map(_typed_dict, CLASSES.values()))


def _typed_dict(its: ClassOptions) -> str:
    fields = "".join(f"    {row.name}: {row.type}\n" for row in its.keywords)
    return f"\n\nclass {its.name.replace('river.', 'River')}Options(TypedDict, total=False):\n{fields}"


def guide(page: str) -> str:
    """The page, with a row for each option under the heading of its group."""
    for group, names in table.GROUPS.items():
        rows = "".join(map(_row, names))
        before, heading, after = page.partition(f"### {group[0].upper()}{group[1:]}\n\n{_TABLE}")
        if not heading:
            raise ValueError(f"the guide must have a table of the options of {group!r}")
        page = before + heading + rows + re.sub(r"\A(\|.*\n)*", "", after)
    return page


def _row(name: str) -> str:
    its = table.PARAMETERS[name]
    return f"| `{name}` | `{its.default!r}` | {its.allowed} | {its.help} |\n"


if __name__ == "__main__":
    import sys

    Path(__file__).with_name("types.py").write_text(types(), encoding="utf-8")
    page = Path(sys.argv[1])
    page.write_text(guide(page.read_text(encoding="utf-8")), encoding="utf-8")
