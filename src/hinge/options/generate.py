"""Writes types.py from the options table: `make docs`."""

from __future__ import annotations

from pathlib import Path

from .classes import CLASSES

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


def types() -> str:
    """The text of types.py: the options of each class that are given by name.

    A class that has all options of another one extends its type, so that few options are written twice.
    """
    fields = {
        f"{name.replace('river.', 'River')}Options": {row.name: row.type for row in its.keywords}
        for name, its in CLASSES.items()
    }
    by_size = sorted(fields, key=lambda name: len(fields[name]))
    text = _HEAD
    for place, name in enumerate(by_size):
        smaller = [other for other in by_size[:place] if fields[other].items() <= fields[name].items()]
        base = smaller[-1] if smaller else "TypedDict"
        new = fields[name].items() - fields.get(base, {}).items()
        lines = [f"    {option}: {kind}\n" for option, kind in fields[name].items() if (option, kind) in new]
        text += f"\n\nclass {name}({base}, total=False):\n{''.join(lines)}"
    return text


if __name__ == "__main__":
    Path(__file__).with_name("types.py").write_text(types(), encoding="utf-8")
