"""What each feature contributed to a score."""

from __future__ import annotations

from typing import Any, NamedTuple

from ._numpy import np, npt

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
    rest = w.astype(np.float64)
    rest[[place for kind, place in shares if kind == "column"]] = 0.0
    if rest.any():
        square = float(rest @ rest)
        parts.append(Contribution("(other features)", 0.0, float(np.sqrt(square)), square))
    return parts
