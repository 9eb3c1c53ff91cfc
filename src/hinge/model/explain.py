"""What each feature contributed to a score."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .supports import check_has_weights

if TYPE_CHECKING:
    import numpy.typing as npt

Found = list[tuple[str, float, int | None, float]]  # what the core looked up: name, value, column, weight


class Contribution(NamedTuple):
    """What one feature added to a score."""

    feature: str | int
    value: float
    weight: float
    contribution: float


def of_product(found: Found, intercept: float | None) -> list[Contribution]:
    """They add up to w.x, with the intercept."""
    parts = [Contribution(name, value, weight, value * weight) for name, value, _, weight in found]
    if intercept is not None:
        parts.append(Contribution("(intercept)", 1.0, intercept, intercept))
    return parts


def of_distance(found: Found, w: npt.NDArray[Any]) -> list[Contribution]:
    """They add up to |x - w|^2."""
    shares: dict[Any, tuple[str, float, float]] = {}  # hashed names may share a column
    for name, value, column, weight in found:
        key = ("name", name) if column is None else ("column", column)
        if key in shares:
            name, value = f"{shares[key][0]}, {name}", shares[key][1] + value
        shares[key] = (name, value, weight)
    parts = [Contribution(n, value, weight, (value - weight) ** 2) for n, value, weight in shares.values()]
    rest = w.astype("float64")
    rest[[place for kind, place in shares if kind == "column"]] = 0.0
    if rest.any():
        square = float(rest @ rest)
        parts.append(Contribution("(other features)", 0.0, math.sqrt(square), square))
    return parts


def of_event(learner: Any, x: dict[Any, Any], label: Any) -> list[Contribution]:
    """What each feature of an event contributed, the largest first."""
    check_has_weights(learner.parameters["kernel"])
    lane = 0
    if learner.many_scores and learner.labels.known:
        first = learner._first_lane
        lane = (
            first + int(learner._lanes_one(x)[first:].argmax()) if label is None else learner.lane_of(label)
        )
    found = learner._engine.look_up(x, lane, learner.averaged)
    if learner._task.measures_distance:
        return _largest_first(of_distance(found, learner.weights))
    intercept = learner._engine.bias(lane, learner.averaged) if learner._has_intercept else None
    return _largest_first(of_product(found, intercept))


def _largest_first(parts: list[Contribution]) -> list[Contribution]:
    return sorted(parts, key=lambda part: -abs(part.contribution))


def of_rows(learner: Any, rows: Any, label: Any) -> list[list[Contribution]]:
    """`explain_one` for each row of an array or a CSR matrix, whose features are its values other than 0."""
    import numpy as np

    names = dict(enumerate(learner.feature_names))
    intercepts, every = np.atleast_1d(learner.intercept), np.atleast_2d(learner.weights)
    lanes = np.zeros(rows.count, dtype=np.int64)
    if learner.many_scores and label is None:
        lanes = learner.scores_of(rows).argmax(axis=1)
    elif learner.many_scores:
        lanes[:] = learner.lane_of(label) - learner._first_lane
    found_rows = []
    for row, lane in enumerate(lanes.tolist()):
        w = every[lane]
        found: Found = [
            (names.get(column, column), value, column, float(w[column]))
            for column, value in _stored(rows, row)
            if value != 0
        ]
        intercept = float(intercepts[lane]) if learner._has_intercept else None
        distance = learner._task.measures_distance
        found_rows.append(_largest_first(of_distance(found, w) if distance else of_product(found, intercept)))
    return found_rows


def _stored(rows: Any, row: int) -> Iterable[tuple[int, float]]:
    """The columns of a row, and its values in them."""
    if rows.indptr is None:
        return enumerate(rows.arrays[0][row].tolist())
    values, columns, starts = rows.arrays[:3]
    part = slice(starts[row], starts[row + 1])
    return zip(columns[part].tolist(), values[part].tolist(), strict=True)


def as_frame(rows: list[list[Contribution]], index: Any) -> Any:
    """The contributions of many rows as a pandas DataFrame, one line per row and feature."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            "`explain` returns a DataFrame: pip install pandas (or use `explain_one`)"
        ) from error
    lines = [(row, *part) for row, parts in zip(index, rows, strict=True) for part in parts]
    return pd.DataFrame(lines, columns=["row", *Contribution._fields])
