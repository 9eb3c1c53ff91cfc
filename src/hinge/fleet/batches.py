"""Many examples of a fleet as the core reads them: their keys, their features and their truths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.errors import InputError
from ..data.events import as_events, as_list, event_list, is_frame, is_numpy, is_sparse
from ..data.labels import plain

if TYPE_CHECKING:
    from ..data.types import Doubles


class Features(NamedTuple):
    """`kind` is the ending of the functions of the core that read these arguments."""

    kind: str  # 'events', 'dense' or 'sparse'
    arguments: tuple[Any, ...]
    rows: int


def with_keys(keys: Any, X: Any) -> tuple[Any, Any]:
    """The keys, and the features without them: of a table, `keys` may be the name of a column."""
    if isinstance(keys, str):
        keys, X = column_of(X, keys, "keys")
    return as_keys(keys), X


def with_labels(X: Any, y: Any) -> tuple[Any, Any]:
    """The features without the labels, and these: of a table, `y` may be the name of a column."""
    if isinstance(y, str):
        y, X = column_of(X, y, "y")
    return X, y


def column_of(X: Any, name: str, what: str) -> tuple[Any, Any]:
    """A column of a table, and the others."""
    is_arrow = hasattr(X, "to_pylist") and hasattr(X, "schema")
    if not (is_arrow or is_frame(X)):
        raise ValueError(f"{what} must be a list, not {name!r}: only a table has columns with names")
    names = list(X.schema.names if is_arrow else X.columns)
    if (count := names.count(name)) != 1:
        shown = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise ValueError(
            f"{what}: there {'are two columns' if count else 'is no column'} {name!r} among {shown}"
        )
    if is_arrow:
        return X.column(name).to_pylist(), X.drop_columns([name])
    return X[name], X.drop(name) if hasattr(X, "with_columns") else X.drop(columns=[name])


def as_keys(keys: Any) -> Any:
    """An array of int64, or a list of strings and whole numbers."""
    if hasattr(keys, "to_numpy") and not is_numpy(keys):
        ways = (getattr(keys, name, None) for name in ("to_pylist", "to_list", "tolist"))
        if getattr(getattr(keys, "dtype", None), "kind", "") == "f" and keys.isna().any():
            raise ValueError(
                f"keys must be strings or whole numbers, and this column has type {keys.dtype}: pandas does that to "
                "whole numbers if some are missing"
            )
        keys = next(filter(None, ways))()
    if is_numpy(keys):
        if keys.ndim != 1:
            raise ValueError(f"keys must be one-dimensional, not {keys.ndim}-dimensional")
        if keys.dtype.kind in "iu" and not (keys.dtype.kind == "u" and keys.dtype.itemsize == 8):
            import numpy as np

            return np.ascontiguousarray(keys, dtype=np.int64)
        return keys.tolist()
    return as_list(keys, "keys", "of strings or whole numbers")


def features_of(X: Any) -> Features:
    X = as_events(_from_arrow(X))
    if not (is_numpy(X) or is_sparse(X) or is_frame(X)):
        events = event_list(X)
        return Features("events", (events,), len(events))
    from ..data.rows import frame_values, rows_of

    if is_frame(X):
        values, names = frame_values(X)
        return Features("dense", (values, list(names)), len(values))
    rows = rows_of(X)
    kind = "dense" if rows.indptr is None else "sparse"
    return Features(kind, (*rows.arrays, None), rows.count)


def _from_arrow(X: Any) -> Any:
    """A table of Arrow as a list of dicts, in which nulls are no features; all else as it is."""
    if not (hasattr(X, "to_pylist") and hasattr(X, "schema")):
        return X
    rows: list[dict[str, Any]] = X.to_pylist()
    maps = [field.name for field in X.schema if str(field.type).startswith("map")]
    for row in rows:
        for name in maps:
            row[name] = None if row[name] is None else dict(row[name])
    return rows


def truths_of(is_classification: bool, y: Any, count: int) -> tuple[Any, Any, Any]:
    """The labels, their places in the batch, and the numbers: what the functions of the core take."""
    if not is_classification:
        from ..data.rows import as_numbers

        return None, None, as_numbers(y, "y")
    import numpy as np

    if hasattr(y, "to_pylist"):
        y = y.to_pylist()
    elif hasattr(y, "to_numpy") and not is_numpy(y):
        y = y.to_numpy()
    if is_numpy(y) and y.ndim == 1 and len(y) > 0 and (y.dtype.kind == "b" or y.dtype.kind == "i"):
        low, high = y.min().item(), y.max().item()
        if high - low < 256:  # small numbers: no look at each of them
            labels = [False, True][low : high + 1] if y.dtype.kind == "b" else list(range(low, high + 1))
            return labels, y.astype(np.int64) - low, None
    listed = y.tolist() if is_numpy(y) else as_list(y, "y", "of labels")
    places: dict[Any, int] = {}
    try:
        codes = [places.setdefault(label, len(places)) for label in listed]
        labels = [plain(label) for label in places]
    except (TypeError, ValueError):
        raise _first_bad(listed) from None
    return labels, np.asarray(codes, dtype=np.int64), None


def _first_bad(labels: list[Any]) -> InputError:
    for row, label in enumerate(labels):
        try:
            plain(label)
        except ValueError as error:
            return InputError(str(error), row)
    return InputError("a label is not hashable")


def weights_of(sample_weight: Any) -> Doubles | None:
    if sample_weight is None:
        return None
    from ..data.rows import as_numbers

    return as_numbers(sample_weight, "sample_weight")
