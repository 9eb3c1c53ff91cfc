"""Comparators from arrays: what weights suffer on the rows of X, for every kind of predictor."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .comparator import Comparator
from .kind import Kind, Place, Vector, dense, squared_norms
from .kinds import Ball, Labels, Numbers, Ranks, Signs, Structures, relevant_labels

NONE: Vector = np.zeros(0)


def comparator(
    task: str,
    X: Any,
    y: ArrayLike | None,
    u: ArrayLike,
    *,
    intercept: float | None = None,
    intercept_value: float = 1.0,
    w1: ArrayLike | str | None = None,
    margin: float = 1.0,
    epsilon: float = 0.1,
    radius: float = 1.0,
    max_radius: float | None = None,
) -> Comparator:
    """What the fixed predictor u suffers on the stream of rows of X, with the learner's own loss.

    X is an array or a scipy CSR matrix; y holds -1 and +1 (classification) or real numbers, or is None
    (uniclass). Give an `intercept` (0.0 if u has none) if and only if the learner fits one; `intercept_value` is the
    value of its constant feature (`Learner.constant`).

    `w1` is where the learner started: None for its default, "zero", an array (whose intercept is 0), or,
    for uniclass, "first": the default, which takes the first row of X as the centre and not as a round.

    For uniclass u is the centre of a ball. Its `radius` is the learner's, unless the learner learns its
    own: then `max_radius` is the learner's and `radius` is that of the ball, any number up to max_radius.
    """
    options: dict[str, Kind] = {"classification": Signs(margin), "regression": Numbers(epsilon)}
    if task not in (*options, "uniclass"):
        raise ValueError(f"task is {task!r}; it can be {', '.join(options)}, uniclass")
    kind = options.get(task) or Ball(radius, max_radius)
    u = np.asarray(u, dtype=np.float64).reshape(-1)
    X = _matrix(X)
    if X.ndim != 2 or X.shape[1] != len(u):
        raise ValueError(
            f"X has the shape {X.shape}; it must have two axes, and one column for each of the "
            f"{len(u)} weights of u"
        )
    if kind.fixed_size and intercept is not None:
        raise ValueError("a ball has no intercept")
    start, X = _start(w1, X, u, kind.fixed_size)
    if kind.fixed_size:
        y = None
    elif y is None:
        raise ValueError(f"{task} needs y")
    else:
        y = np.asarray(y, dtype=np.float64).reshape(-1)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows and y has {len(y)} values")
    q = squared_norms(X) + (intercept is not None) * intercept_value**2
    extra = NONE if intercept is None else np.array([intercept])
    whole, start = np.append(u, extra / intercept_value), np.append(start, 0 * extra)
    charge = kind.charge(kind.scores(X, u, extra), y)
    return kind.suffered(charge, kind.sizes(q), Place.of(whole, start))


def _start(w1: Any, X: Any, u: Vector, ball: bool) -> tuple[Vector, Any]:
    """Where the learner started, and the rows that were rounds."""
    if w1 is None:
        w1 = "first" if ball else "zero"
    if not isinstance(w1, str):
        start = np.asarray(w1, dtype=np.float64).reshape(-1)
        if start.shape != u.shape:
            raise ValueError(f"w1 has {len(start)} weights and u has {len(u)}")
        return start, X
    if w1 == "zero":
        return np.zeros(len(u)), X
    if w1 != "first" or not ball:
        raise ValueError(f"w1 is {w1!r}; it can be an array, 'zero' or, for uniclass, 'first'")
    if X.shape[0] == 0:
        raise ValueError("X has no first row to start from")
    return dense(X[:1])[0], X[1:]


def label_comparator(
    X: Any,
    y: Any,
    u: ArrayLike,
    *,
    intercepts: ArrayLike | None = None,
    intercept_value: float = 1.0,
    w1: ArrayLike | None = None,
    selection: str = "max",
    margin: float = 1.0,
    beta: float = 0.01,
    cost: ArrayLike | None = None,
    nu: ArrayLike | None = None,
) -> Comparator:
    """What the fixed weights u, one row per label, suffer on the stream of rows of X (multi-prototype).

    All options are the learner's. y holds labels 0..k-1, or sets of them, or is an indicator matrix. Give `intercepts`
    (zeros if u has none) if and only if the learner fits them; `intercept_value` is the value of the constant feature
    (`Learner.constant`). `w1` is the matrix that the learner started from, if not
    zero.
    """
    u, X = np.asarray(u, dtype=np.float64), _matrix(X)
    if u.ndim != 2 or X.ndim != 2 or X.shape[1] != u.shape[1]:
        raise ValueError(
            f"X has the shape {X.shape} and u {u.shape}; both must have two axes and as many columns"
        )
    start = np.zeros_like(u) if w1 is None else np.asarray(w1, dtype=np.float64)
    if start.shape != u.shape:
        raise ValueError(f"w1 has the shape {start.shape} and u {u.shape}")
    b = NONE if intercepts is None else np.asarray(intercepts, dtype=np.float64).reshape(-1)
    if intercepts is not None and len(b) != len(u):
        raise ValueError(f"there are {len(b)} intercepts for {len(u)} labels")
    kind = Labels(len(u), selection, margin, beta, cost, nu)
    charge = kind.charge(kind.scores(X, u, b), y)
    if intercepts is not None:
        u, start = np.column_stack([u, b / intercept_value]), np.column_stack([start, np.zeros(len(b))])
    q = squared_norms(X) + (intercepts is not None) * intercept_value**2
    return kind.suffered(charge, kind.sizes(q), Place.of(u, start))


def prototype_comparator(
    features: Iterable[ArrayLike],
    y: Any,
    u: ArrayLike,
    *,
    w1: ArrayLike | None = None,
    selection: str = "max",
    margin: float = 1.0,
    cost: ArrayLike | None = None,
    nu: ArrayLike | None = None,
) -> Comparator:
    """The same for one weight vector u and class-dependent features: one matrix per round, with phi(x, r) in column
    r."""
    if selection == "mira":
        raise ValueError("mira is multi-prototype")
    u = np.asarray(u, dtype=np.float64).reshape(-1)
    start = np.zeros_like(u) if w1 is None else np.asarray(w1, dtype=np.float64).reshape(-1)
    if start.shape != u.shape:
        raise ValueError(f"w1 has {len(start)} weights and u has {len(u)}")
    matrices = [np.asarray(phi, dtype=np.float64) for phi in features]
    if len({phi.shape for phi in matrices}) != 1 or matrices[0].ndim != 2 or len(matrices[0]) != len(u):
        raise ValueError(
            f"features must be matrices of one shape, with {len(u)} rows, and at least one of them"
        )
    scores = np.array([u @ phi for phi in matrices])
    largest, smallest = np.zeros(len(matrices)), np.zeros(len(matrices))
    for t, (phi, relevant) in enumerate(zip(matrices, relevant_labels(y, *scores.shape), strict=True)):
        if relevant.any() and not relevant.all():
            norms = ((phi[:, relevant, None] - phi[:, None, ~relevant]) ** 2).sum(axis=0)
            largest[t], smallest[t] = norms.max(), norms.min()
    kind = Labels(scores.shape[1], selection, margin, cost=cost, nu=nu)
    return kind.suffered(kind.charge(scores, y), largest, Place.of(u, start), smallest)


def ordinal_comparator(
    X: Any,
    y: ArrayLike,
    w: ArrayLike,
    thresholds: ArrayLike,
    *,
    selection: str = "simproj",
    margin: float = 1.0,
    nu: ArrayLike | None = None,
    sort_thresholds: bool | None = None,
) -> Comparator:
    """The same for ranks 0..k-1, the weights w and k-1 thresholds; `sort_thresholds` is the learner's."""
    w, b = (np.asarray(a, dtype=np.float64).reshape(-1) for a in (w, thresholds))
    X = _matrix(X)
    kind = Ranks(len(b), selection, margin, nu, sort_thresholds)
    charge = kind.charge(kind.scores(X, w, b), y)
    u = np.append(w, b)
    return kind.suffered(charge, kind.sizes(squared_norms(X)), Place.of(u, 0 * u))


def structured_comparator(
    losses: ArrayLike,
    *,
    norm2: float,
    largest_q: float,
    largest_cost: float,
    smallest_cost: float = 1.0,
    selection: str = "prediction",
    margin: float = 1.0,
    perceptron: bool = False,
) -> Comparator:
    """The same for structures (J06 section 9), by the `losses` of u, one per round, and norm2 = |u|^2. A loss is the
    largest of margin sqrt(rho) - u.(Phi(x, y) - Phi(x, y')), rho = rho(y, y'), over all y'; for
    selection="max-additive" the largest of margin rho - u.(...).

    The costs that count are those of the learner's predictions that were wrong: the most and the least that they can
    have cost will do. The perceptron asks for no margin; u is asked for that of the smallest cost, if it is above 0.
    """
    kind = Structures(selection, margin, perceptron, smallest_cost, largest_cost)
    charge = kind.charge(np.asarray(losses, dtype=np.float64).reshape(-1), None)
    q = np.full(len(charge.losses), largest_q)
    return kind.suffered(charge, q, Place.at(norm2), math.nan * q)


def _matrix(X: Any) -> Any:
    return X if hasattr(X, "toarray") else np.asarray(X, dtype=np.float64)
