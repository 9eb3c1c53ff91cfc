"""What a fixed predictor suffers on a stream: one vector, or one ball. `bounds` knows the theorems about it.

Many labels and ranks are in `comparators`, other geometries in `comparators_geometries`. The notation is `bounds`'s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

TASKS = ("classification", "regression", "uniclass")

Vector = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Comparator:
    """What a fixed predictor u suffered on a stream. For many labels and for ranks: see `bounds_labels`."""

    task: str
    rounds: int
    insensitivity: float  # eps: minus the margin, the epsilon, the radius or the largest radius
    distance2: float  # |u - w_1|^2, with the intercept or the radius's coordinate
    from_zero: bool  # whether w_1 = 0
    loss: float  # the sum of l*_t
    squared_loss: float  # the sum of l*_t^2
    largest_discrepancy: float  # eps*: the insensitivity with which u would have suffered nothing
    largest_q: float
    smallest_q: float  # NaN: not known
    selection: str = "only"  # which of a round's constraints the learner uses: the only one
    obstacle: str = ""  # why no theorem applies to this u, if so

    @property
    def margin(self) -> float:
        """What classification asks of y w.x."""
        return -self.insensitivity

    @property
    def smallest_margin(self) -> float:
        """The smallest y u.x of the stream (classification)."""
        return -self.largest_discrepancy


def comparator(
    task: str,
    X: Any,
    y: ArrayLike | None,
    u: ArrayLike,
    *,
    intercept: float | None = None,
    w1: ArrayLike | str | None = None,
    margin: float = 1.0,
    epsilon: float = 0.1,
    radius: float = 1.0,
    max_radius: float | None = None,
) -> Comparator:
    """What the fixed predictor u suffers on the stream of rows of X, with the learner's own loss.

    X is an array or a scipy CSR matrix; y holds -1 and +1 (classification) or real numbers, or is None
    (uniclass). Give an `intercept` (0.0 if u has none) if and only if the learner fits one.

    `w1` is where the learner started: None for its default, "zero", an array (whose intercept is 0), or,
    for uniclass, "first": the default, which takes the first row of X as the centre and not as a round.

    For uniclass u is the centre of a ball. Its `radius` is the learner's, unless the learner learns its
    own: then `max_radius` is the learner's and `radius` is that of the ball, any number up to max_radius.
    """
    if task not in TASKS:
        raise ValueError(f"task is {task!r}; it can be {', '.join(TASKS)}")
    u = np.asarray(u, dtype=np.float64).reshape(-1)
    if not hasattr(X, "toarray"):
        X = np.asarray(X, dtype=np.float64)
    if X.ndim != 2 or X.shape[1] != len(u):
        raise ValueError(
            f"X has the shape {X.shape}; it must have two axes, and one column for each of the "
            f"{len(u)} weights of u"
        )
    if task == "uniclass" and intercept is not None:
        raise ValueError("a ball has no intercept")

    # The start, and how far u is from it.
    if w1 is None:
        w1 = "first" if task == "uniclass" else "zero"
    if isinstance(w1, str):
        if w1 == "first" and task == "uniclass":
            if X.shape[0] == 0:
                raise ValueError("X has no first row to start from")
            start, X = _dense(X[:1])[0], X[1:]
        elif w1 == "zero":
            start = np.zeros(len(u))
        else:
            raise ValueError(f"w1 is {w1!r}; it can be an array, 'zero' or, for uniclass, 'first'")
    else:
        start = np.asarray(w1, dtype=np.float64).reshape(-1)
        if start.shape != u.shape:
            raise ValueError(f"w1 has {len(start)} weights and u has {len(u)}")
    distance2 = float((u - start) @ (u - start))
    from_zero = not start.any()

    # The discrepancies of u.
    if task == "uniclass":
        return ball_comparator(_distances(X, u), distance2, from_zero, radius, max_radius)
    if y is None:
        raise ValueError(f"{task} needs y")
    y = np.asarray(y, dtype=np.float64).reshape(-1)
    if len(y) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)} values")
    if task == "classification" and not np.isin(y, (-1, 1)).all():
        raise ValueError("y must hold -1 and +1 only")
    scores = np.asarray(X @ u, dtype=np.float64) + (intercept or 0.0)
    q = _squared_norms(X)
    if intercept is not None:
        q = q + 1.0
        distance2 += intercept * intercept
    insensitivity = -margin if task == "classification" else epsilon
    return scored_comparator(task, scores, y, insensitivity, distance2, from_zero, q)


def scored_comparator(
    task: str, scores: Vector, y: Vector, insensitivity: float, distance2: float, from_zero: bool, q: Vector
) -> Comparator:
    """From the scores u.x: of a predictor wherever it lies, be it in the space of a kernel."""
    discrepancies = -y * scores if task == "classification" else np.abs(y - scores)
    return _summary(task, discrepancies, insensitivity, distance2, from_zero, q)


def ball_comparator(
    distances: Vector, distance2: float, from_zero: bool, radius: float, max_radius: float | None
) -> Comparator:
    """From the distances of the instances, and distance2, that of the start, to the centre of the ball."""
    insensitivity, height = radius, 0.0
    if max_radius is not None:  # S7: the ball is the point (u, height) at depth max_radius; w_1 is at B
        if not 0 <= radius <= max_radius:
            raise ValueError(f"radius is {radius}; it must be from 0 to max_radius = {max_radius}")
        insensitivity = max_radius
        height = math.sqrt((max_radius - radius) * (max_radius + radius))
        distance2 += (radius * radius / (max_radius + height)) ** 2 if radius else 0.0  # (B - height)^2
        from_zero = False
    ones = np.ones(len(distances))
    return _summary("uniclass", np.hypot(distances, height), insensitivity, distance2, from_zero, ones)


def _summary(
    task: str, discrepancies: Vector, insensitivity: float, distance2: float, from_zero: bool, q: Vector
) -> Comparator:
    losses = np.maximum(0.0, discrepancies - insensitivity)
    rounds = len(losses)
    return Comparator(
        task=task,
        rounds=rounds,
        insensitivity=float(insensitivity),
        distance2=distance2,
        from_zero=from_zero,
        loss=math.fsum(losses),
        squared_loss=math.fsum(losses**2),
        largest_discrepancy=float(discrepancies.max()) if rounds else insensitivity,
        largest_q=float(q.max()) if rounds else 0.0,
        smallest_q=float(q.min()) if rounds else 0.0,
    )


Some = TypeVar("Some", bound=Comparator)


def joined(first: Some, then: Some) -> Some:
    """The same u on a stream in two parts."""
    if not first.rounds or not then.rounds:
        return first if first.rounds else then
    both = first, then
    most = [name for name in ("most_rows", "largest_cost") if hasattr(first, name)]
    return replace(
        first,
        rounds=first.rounds + then.rounds,
        loss=first.loss + then.loss,
        squared_loss=first.squared_loss + then.squared_loss,
        largest_discrepancy=max(each.largest_discrepancy for each in both),
        largest_q=max(each.largest_q for each in both),
        smallest_q=min(each.smallest_q for each in both),
        obstacle=first.obstacle or then.obstacle,
        **{name: max(getattr(each, name) for each in both) for name in most},
    )


def _dense(X: Any) -> Vector:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def _squared_norms(X: Any) -> Vector:
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else (X * X).sum(axis=1)
    return np.asarray(squares, dtype=np.float64).reshape(-1)


def _distances(X: Any, u: Vector) -> Vector:
    """|x - u| of each row; sparse rows are made dense a few at a time, to subtract without cancellation."""
    distances = np.zeros(X.shape[0])
    for begin in range(0, X.shape[0], 256):
        distances[begin : begin + 256] = np.linalg.norm(_dense(X[begin : begin + 256]) - u, axis=1)
    return distances
