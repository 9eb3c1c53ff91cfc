"""numpy, loaded when something of it is first asked for.

It takes 60 ms, more than all of hinge, and `hinge learn` needs none of it for text with two classes or numbers. Modules
that every command loads import `np` from here.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

__all__ = ["Doubles", "Indices", "is_array", "is_duration", "is_numpy_bool", "np", "npt"]

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Doubles = npt.NDArray[np.float64]
    Indices = npt.NDArray[np.int64]
else:

    class _Later:
        """A module; what was asked of it once is an attribute from then on."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:
            value = getattr(import_module(self._name), name)
            setattr(self, name, value)
            return value

    np, npt = _Later("numpy"), _Later("numpy.typing")
    Doubles = Indices = Any


def is_array(value: Any) -> bool:
    """Whether it is an array of numpy: where numpy is not loaded nothing is."""
    return "numpy" in sys.modules and isinstance(value, np.ndarray)


def is_duration(value: Any) -> bool:
    """numpy counts its durations among the whole numbers."""
    return "numpy" in sys.modules and isinstance(value, np.timedelta64)


def is_numpy_bool(value: Any) -> bool:
    return "numpy" in sys.modules and isinstance(value, np.bool_)
