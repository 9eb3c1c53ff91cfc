"""Events and other input, before numpy is needed: what it is, and events as dicts."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Set
from typing import Any

from .._core import EventPart
from .errors import InputTypeError


def is_numpy(value: Any, kind: str = "ndarray") -> bool:
    """Whether a value is of this type of numpy. Where numpy is not loaded, nothing is."""
    return "numpy" in sys.modules and isinstance(value, getattr(sys.modules["numpy"], kind, ()))


def is_csr(X: Any) -> bool:
    return getattr(X, "format", None) == "csr"


def is_sparse(X: Any) -> bool:
    return hasattr(X, "tocsr")


def are_events(X: Any) -> bool:
    """A list of dicts of named features, or what stands for one."""
    return isinstance(X, EventPart) or (
        isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)
    )


def event(row: int, x: Any) -> dict[Any, Any]:
    """An event of a list as a dict."""
    if isinstance(x, dict):
        return x
    if isinstance(x, Mapping):
        return dict(x)
    raise InputTypeError(f"an event must be a dict of named features, not {type(x).__name__}", row)


def event_list(events: Any) -> list[dict[Any, Any]] | EventPart:
    """Events as the core learns them: dicts, or what it has read itself."""
    if isinstance(events, EventPart):
        return events
    what = "of dicts of named features, an array, a sparse matrix or a DataFrame"
    return [event(row, x) for row, x in enumerate(as_list(events, "X", what, False))]


def is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "to_numpy")


def as_events(X: Any) -> Any:
    """A DataFrame with columns of text as a list of events, in which "column=value" is a feature; all else as it is."""
    if not is_frame(X) or not _has_text(X):
        return X
    names = different(list(X.columns))
    columns = [X[name].to_list() for name in names]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _has_text(frame: Any) -> bool:
    """Columns of numbers are not looked at."""
    kinds = zip(frame.columns, frame.dtypes, strict=True)
    others = [name for name, dtype in kinds if not is_numeric(dtype)]
    return any(isinstance(value, str) for name in different(others) for value in frame[name].to_list())


def is_numeric(dtype: Any) -> bool:
    kind = getattr(dtype, "kind", None)  # of pandas; polars has a method
    return (
        bool(dtype.is_numeric()) if kind is None and hasattr(dtype, "is_numeric") else kind in tuple("biufc")
    )


def different(names: list[Any]) -> list[Any]:
    if len(set(names)) < len(names):
        raise ValueError(f"the columns of X must have different names, not {names!r}")
    return names


_MOST = 2**32  # entries of a list


def check_length(values: Any, name: str) -> None:
    has_length = hasattr(values, "__len__") and not is_sparse(values) and getattr(values, "ndim", 1) > 0
    if has_length and len(values) > _MOST:
        raise ValueError(f"{name} has {len(values)} entries, more than fit into memory")


def as_list(values: Any, name: str, entries: str, sized: bool = True) -> list[Any]:
    """A list of what was given, which may be anything that has entries, and (if `sized`) a length."""
    try:
        if sized and not hasattr(values, "__len__"):
            raise TypeError
        if isinstance(values, (str, bytes, Mapping, Set)) or is_sparse(values) or is_frame(values):
            raise TypeError
        check_length(values, name)
        return list(values)
    except (TypeError, NotImplementedError):
        raise InputTypeError(f"{name} must be a list {entries}, not {type(values).__name__}") from None
