"""What `make docs` generates from the options table for type checkers: types.py. (cli/reference.py makes the pages.)"""

from __future__ import annotations

from pathlib import Path

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


def types() -> str:
    """The text of types.py: what each class takes by name only."""
    return _HEAD + "".join(map(_typed_dict, CLASSES.values()))


def _typed_dict(its: ClassOptions) -> str:
    fields = "".join(f"    {row.name}: {row.type}\n" for row in its.keywords)
    return f"\n\nclass {its.name.replace('river.', 'River')}Options(TypedDict, total=False):\n{fields}"


if __name__ == "__main__":
    Path(__file__).with_name("types.py").write_text(types(), encoding="utf-8")
