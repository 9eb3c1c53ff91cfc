"""Tests of the values of options, which the rows of the options table use."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ..data.events import is_numpy
from ..data.labels import plain
from ..model.engine import FLOATS

if TYPE_CHECKING:
    from ..data.types import Doubles


def is_real(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not is_bool(value) and not is_numpy(value, "timedelta64")


def is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not is_bool(value) and not is_numpy(value, "timedelta64")


def real(above: float, *, inclusive: bool = False, infinite: bool = False) -> Callable[[Any], bool]:
    def accepts(value: Any) -> bool:
        number = as_real(value)
        if number is None or math.isnan(number) or (math.isinf(number) and not infinite):
            return False
        return bool(value >= above if inclusive else value > above)

    return accepts


def as_real(value: Any) -> float | None:
    """A real number as a float; None if the value is not a real number, or too large for a float64."""
    try:
        return float(value) if is_real(value) else None
    except OverflowError:
        return None


def whole(low: int, high: int = 2**63 - 1) -> Callable[[Any], bool]:
    return lambda value: is_whole(value) and low <= value <= high


def one_or_several(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """A value that passes the test, 'auto', or a list of different such values."""

    def accepts(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return (
                0 < len(value) <= 64 and all(map(test, value)) and len(set(map(float, value))) == len(value)
            )
        return (isinstance(value, str) and value == "auto") or test(value)

    return accepts


def one_of(*words: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and value in words


def or_none(accepts: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or accepts(value)


def is_bool(value: Any) -> bool:
    return isinstance(value, bool) or is_numpy(value, "bool_")


def is_label(value: Any) -> bool:
    try:
        plain(value)
    except ValueError:
        return False
    return True


def as_reals(value: Any) -> Doubles | None:
    """The value as an array of real numbers; None if it has others. (NumPy accepts strings and complex numbers.)"""
    import numpy as np

    try:
        array = np.asarray(value)
        if array.dtype.kind == "O" and not all(is_real(each) or is_bool(each) for each in array.flat):
            return None
        return array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError, OverflowError):
        return None


def is_start(value: Any) -> bool:
    """A start vector: none, a word, a vector of finite numbers, or a dict of named weights."""
    if value is None or (isinstance(value, str) and value in ("first", "zero")):
        return True
    if isinstance(value, Mapping):
        if not all(isinstance(name, str) or is_whole(name) for name in value):
            return False
        value = list(value.values())
    weights = as_reals(value)
    return weights is not None and weights.ndim in (1, 2) and math.isfinite(abs(weights).max(initial=0.0))


def is_classes(value: Any) -> bool:
    if is_numpy(value):
        if value.ndim != 1 or value.dtype.kind not in "biufUO":
            return False
    elif not isinstance(value, (list, tuple)):
        return False
    return len(value) >= 2 and all(is_label(label) for label in value)


def is_nonnegative(value: Any) -> bool:
    found = as_reals(value)
    return found is not None and bool(((found >= 0) & (found < math.inf)).all())


def is_matrix(value: Any) -> bool:
    """A square matrix of numbers of 0 or more, or a dict of dicts of them."""
    if isinstance(value, Mapping):
        rows = list(value.values())
        return bool(rows) and all(
            isinstance(row, Mapping) and is_nonnegative(list(row.values())) for row in rows
        )
    found = as_reals(value) if is_nonnegative(value) else None
    return found is not None and found.ndim == 2 and found.shape[0] == found.shape[1]


def is_cost(value: Any) -> bool:
    if not is_matrix(value):
        return False
    if isinstance(value, Mapping):
        return all(row.get(label, 0) == 0 for label, row in value.items())
    found = as_reals(value)
    return found is not None and not found.diagonal().any()


def is_nu(value: Any) -> bool:
    """One set of weights, or a list of several (matrices, or dicts of dicts; ordinal: vectors)."""
    if isinstance(value, Mapping):
        return is_matrix(value)
    if isinstance(value, (list, tuple)) and value and all(isinstance(one, Mapping) for one in value):
        return all(is_matrix(one) for one in value)
    found = as_reals(value) if is_nonnegative(value) else None
    return found is not None and found.ndim in (1, 2, 3) and found.size > 0


MAX_NGRAMS = 10  # words or characters of a term


def is_ngram_range(value: Any) -> bool:
    """The most words or characters of a term, or the least and the most as a pair."""
    pair = isinstance(value, (tuple, list)) and len(value) == 2
    low, high = value if pair else (1, value)
    return isinstance(low, int) and isinstance(high, int) and 1 <= low <= high <= MAX_NGRAMS


def is_feature_map(value: Any) -> bool:
    if isinstance(value, str):
        return value in ("tfidf", "email")
    return not isinstance(value, type) and all(
        callable(getattr(value, name, None)) for name in ("features", "learned", "state", "begin")
    )


def is_threshold(value: Any) -> bool:
    number = as_real(value)
    return one_of("auto", "learned", "lenient")(value) or (number is not None and math.isfinite(number))


def is_dtype(value: Any) -> bool:
    if isinstance(value, str) and value in FLOATS:
        return True
    import numpy as np

    if not (value is None or isinstance(value, (str, type, np.dtype))):  # an array has a dtype, and is none
        return False
    try:
        return np.dtype(value) in (np.dtype(np.float32), np.dtype(np.float64))
    except (TypeError, ValueError):
        return False


def is_class_weight(value: Any) -> bool:
    if value is None or (isinstance(value, str) and value == "balanced"):
        return True
    return isinstance(value, Mapping) and all(
        is_label(label) and real(0, inclusive=True)(weight) for label, weight in value.items()
    )


def _is_generator(value: Any) -> bool:
    """A RandomState of numpy."""
    return type(value).__name__ == "RandomState" and hasattr(value, "get_state")


def is_seed(value: Any) -> bool:
    return value is None or whole(0, 2**32 - 1)(value) or _is_generator(value)


_UNITS = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def bytes_of(memory: Any) -> int | None:
    """A number of bytes, or a text such as '4GB', as a number; None if it is neither."""
    if is_whole(memory):
        return int(memory)
    if not isinstance(memory, str):
        return None
    text = memory.strip().upper()
    unit = next((unit for unit in sorted(_UNITS, key=len, reverse=True) if text.endswith(unit)), None)
    try:
        return round(float(text.removesuffix(unit)) * _UNITS[unit]) if unit is not None else None
    except (ValueError, OverflowError):
        return None


def is_memory(memory: Any) -> bool:
    if memory is None:
        return True
    size = bytes_of(memory)
    return size is not None and 0 < size < 2**62
