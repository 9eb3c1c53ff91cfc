"""Comparators for many labels and for ranks: what a fixed ranking suffers on a stream.

Import them from `bounds_labels`, which knows their theorems.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .comparators_single import Comparator, Vector, _squared_norms

SELECTIONS = ("max", "prediction", "simperc", "conproj", "simproj", "mira", "uniform")
ORDINAL_SELECTIONS = ("max", "simperc", "conproj", "simproj", "uniform")


@dataclass(frozen=True, kw_only=True)
class LabelComparator(Comparator):
    """What a fixed ranking u suffered on a stream; its task is "ranking", "cost" or "ordinal"."""

    norm2: float  # |u|^2
    start_norm: float  # |w_1|
    most_rows: int  # the largest number of rows of a round
    smallest_nu: float
    largest_nu: float
    largest_cost: float  # the largest rho(y_t, r): l_t >= rho_t/root of it, rho_t what the prediction cost
    cost_unit: float = 1.0  # l_t^2 >= cost_unit rho_t


def label_comparator(
    X: Any,
    y: Any,
    u: ArrayLike,
    *,
    intercepts: ArrayLike | None = None,
    w1: ArrayLike | None = None,
    selection: str = "max",
    margin: float = 1.0,
    beta: float = 0.01,
    cost: ArrayLike | None = None,
    nu: ArrayLike | None = None,
) -> LabelComparator:
    """What the fixed weights u, one row a label, suffer on the stream of rows of X (multi-prototype).

    y holds labels 0..k-1, or sets of them, or is an indicator matrix. Give `intercepts` (zeros if u has
    none) if and only if the learner fits them. `w1` is the matrix that the learner started from, if not zero.
    """
    u = np.asarray(u, dtype=np.float64)
    if not hasattr(X, "toarray"):
        X = np.asarray(X, dtype=np.float64)
    if u.ndim != 2 or X.ndim != 2 or X.shape[1] != u.shape[1]:
        raise ValueError(
            f"X has the shape {X.shape} and u {u.shape}; both must have two axes and as many columns"
        )
    scores = np.asarray(X @ u.T, dtype=np.float64)
    q = 2 * _squared_norms(X)
    start = np.zeros_like(u) if w1 is None else np.asarray(w1, dtype=np.float64)
    if start.shape != u.shape:
        raise ValueError(f"w1 has the shape {start.shape} and u {u.shape}")
    if intercepts is not None:
        b = np.asarray(intercepts, dtype=np.float64).reshape(-1)
        if len(b) != len(u):
            raise ValueError(f"there are {len(b)} intercepts for {len(u)} labels")
        scores, q = scores + b, q + 2.0
        u, start = np.column_stack([u, b]), np.column_stack([start, np.zeros(len(b))])
    relevant = _relevant(y, *scores.shape)
    return _compare(
        scores, relevant, q, q, u, start, selection, beta if selection == "mira" else margin, cost, nu
    )


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
) -> LabelComparator:
    """The same for one weight vector u and class-dependent features: a matrix a round, with phi(x, r) in column r."""
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
    relevant = _relevant(y, *scores.shape)
    largest, smallest = np.zeros(len(matrices)), np.zeros(len(matrices))
    for t, (phi, of_round) in enumerate(zip(matrices, relevant, strict=True)):
        if of_round.any() and not of_round.all():
            norms = ((phi[:, of_round, None] - phi[:, None, ~of_round]) ** 2).sum(axis=0)
            largest[t], smallest[t] = norms.max(), norms.min()
    return _compare(scores, relevant, largest, smallest, u, start, selection, margin, cost, nu)


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
) -> LabelComparator:
    """The same for ranks 0..k-1, the weights w and k-1 thresholds; `sort_thresholds` is the learner's."""
    if selection not in ORDINAL_SELECTIONS:
        raise ValueError(f"selection is {selection!r}; it can be {', '.join(ORDINAL_SELECTIONS)}")
    w, b = (np.asarray(a, dtype=np.float64).reshape(-1) for a in (w, thresholds))
    if not hasattr(X, "toarray"):
        X = np.asarray(X, dtype=np.float64)
    lanes = np.asarray(X @ w, dtype=np.float64)[:, None] - b
    return rank_comparator(
        lanes,
        y,
        _squared_norms(X) + 1.0,
        np.append(w, b),
        selection=selection,
        margin=margin,
        nu=nu,
        sort_thresholds=sort_thresholds,
    )


def rank_comparator(
    lanes: Vector,
    y: ArrayLike,
    q: Vector,
    u: Vector,
    *,
    selection: str,
    margin: float,
    nu: ArrayLike | None,
    sort_thresholds: bool | None,
) -> LabelComparator:
    """From w.x less each threshold. Of u, w and b together, only the length matters."""
    count, between = lanes.shape
    ranks = np.asarray(y, dtype=np.int64).reshape(-1)
    if len(ranks) != count or (count and not 0 <= ranks.min() <= ranks.max() <= between):
        raise ValueError(f"y must hold a rank from 0 to {between} for each of the {count} rows of X")
    signs = np.where(np.arange(between) < ranks[:, None], 1.0, -1.0)
    margins = signs * lanes
    weights = np.ones(between) if nu is None else np.asarray(nu, dtype=np.float64).reshape(-1)
    if len(weights) != between:
        raise ValueError(f"nu has {len(weights)} weights for {between} thresholds")
    losses = _slacks(np.maximum(0.0, margin - margins), weights).max(axis=1, initial=0.0)
    if sort_thresholds is None:
        sort_thresholds = selection != "simproj"
    crossed = sort_thresholds and bool((np.diff(lanes[:1]) > 0).any())
    return _summary(
        "ordinal",
        selection,
        -margin,
        losses,
        -margins.min(axis=1, initial=math.inf),
        q,
        q,
        u,
        0 * u,
        rows=np.full(count, between),
        nu=weights,
        obstacle="the learner sorts its thresholds, and those of the comparator are not in order"
        if crossed
        else "",
    )


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
) -> LabelComparator:
    """The same for structures (J06 section 9), by the `losses` of u, one a round, and norm2 = |u|^2. A loss is the
    largest of margin sqrt(rho) - u.(Phi(x, y) - Phi(x, y')), rho = rho(y, y'), over all y'; for
    selection="max-additive" the largest of margin rho - u.(...).

    The costs that count are those of the learner's predictions that were wrong: the most and the least that they can
    have cost will do. The perceptron asks for no margin; u is asked for that of the smallest cost, if it is above 0.
    """
    if selection not in ("prediction", "max", "max-additive"):
        raise ValueError(f"selection is {selection!r}; it can be prediction, max, max-additive")
    its, additive = np.asarray(losses, dtype=np.float64).reshape(-1), selection == "max-additive"
    asked = margin * (smallest_cost if additive else math.sqrt(smallest_cost)) if perceptron else 0.0
    sizes = np.full(len(its), largest_q)
    return _summary(
        "ranking" if perceptron else "cost",
        "max" if additive else selection,
        -asked,
        its,
        its - asked,
        sizes,
        math.nan * sizes,
        np.array([math.sqrt(norm2)]),
        np.zeros(1),
        rows=np.ones(len(its), dtype=np.int64),
        nu=np.ones(1),
        # l_t >= margin rho_t with costs, l_t >= margin sqrt(rho_t) with their roots.
        largest_cost=(1.0 if additive else largest_cost) / margin**2,
        cost_unit=margin**2 * (smallest_cost if additive else 1.0),
        obstacle=""
        if asked or not perceptron
        else "the perceptron moves on mistakes that cost nothing, too, and they ask no margin of a comparator",
    )


def _compare(
    scores: Vector,
    relevant: NDArray[np.bool_],
    largest_q: Vector,
    smallest_q: Vector,
    u: Vector,
    start: Vector,
    selection: str,
    margin: float,
    cost: ArrayLike | None,
    nu: ArrayLike | None,
) -> LabelComparator:
    """From the scores that u gives to the labels of each round."""
    if selection not in SELECTIONS:
        raise ValueError(f"selection is {selection!r}; it can be {', '.join(SELECTIONS)}")
    k = scores.shape[1]  # of -inf where a label was still to come
    rows = relevant.sum(axis=1) * (~relevant & (scores > -np.inf)).sum(axis=1)
    weights = np.ones((k, k)) if nu is None else np.asarray(nu, dtype=np.float64)
    if weights.shape != (k, k):
        raise ValueError(f"nu has the shape {weights.shape}; it must be {(k, k)}")
    off_diagonal = weights[~np.eye(k, dtype=bool)]
    largest_cost = 0.0
    if cost is None:
        lowest = np.where(relevant, scores, np.inf).min(axis=1)
        highest = np.where(relevant, -np.inf, scores).max(axis=1)
        discrepancies = highest - lowest
        losses = np.maximum(0.0, discrepancies + margin)
        if nu is not None:
            for t in np.flatnonzero(rows):
                r, s = relevant[t], ~relevant[t]
                short = np.maximum(0.0, margin - (scores[t][r][:, None] - scores[t][s]))
                losses[t] = _slacks(short, weights[np.ix_(r, s)]).max()
    else:
        if selection not in ("max", "prediction") or margin != 1:
            raise ValueError("a cost is for the selections max and prediction, and is the squared margin")
        rho = np.asarray(cost, dtype=np.float64)
        if rho.shape != (k, k) or (relevant.sum(axis=1) != 1).any():
            raise ValueError(f"a cost must have the shape {(k, k)} and needs one label a round")
        truth = relevant.argmax(axis=1)
        wanted = scores - scores[np.arange(len(scores)), truth][:, None] + np.sqrt(rho[truth])
        discrepancies = np.where(relevant, -np.inf, wanted).max(axis=1)
        losses = np.maximum(0.0, discrepancies)
        largest_cost = float(rho[truth].max(initial=0.0))
    return _summary(
        "ranking" if cost is None else "cost",
        selection,
        -margin if cost is None else 0.0,
        losses,
        discrepancies,
        largest_q,
        smallest_q,
        u,
        start,
        rows=rows,
        nu=off_diagonal,
        largest_cost=largest_cost,
    )


def _summary(
    task: str,
    selection: str,
    insensitivity: float,
    losses: Vector,
    discrepancies: Vector,
    largest_q: Vector,
    smallest_q: Vector,
    u: Vector,
    start: Vector,
    *,
    rows: NDArray[Any],
    nu: Vector,
    largest_cost: float = 0.0,
    cost_unit: float = 1.0,
    obstacle: str = "",
) -> LabelComparator:
    """Rounds without rows (no label is relevant, or all) count as rounds and as nothing else."""
    asked = rows > 0
    losses = losses[asked]
    nu = nu if len(nu) else np.ones(1)  # of one label alone
    if not obstacle and not np.isfinite(losses).all():
        obstacle = "it needs a comparator without loss on the constraints of nu = 0"
    return LabelComparator(
        task=task,
        selection=selection,
        rounds=len(rows),
        insensitivity=insensitivity,
        distance2=float(((u - start) ** 2).sum()),
        from_zero=not start.any(),
        loss=math.fsum(losses),
        squared_loss=math.fsum(losses**2),
        largest_discrepancy=float(discrepancies[asked].max()) if asked.any() else insensitivity,
        largest_q=float(largest_q[asked].max(initial=0.0)),
        smallest_q=float(smallest_q[asked].min()) if asked.any() else 0.0,
        norm2=float((u**2).sum()),
        start_norm=math.sqrt((start**2).sum()),
        most_rows=int(rows.max(initial=0)),
        smallest_nu=float(nu.min()),
        largest_nu=float(nu.max()),
        largest_cost=largest_cost,
        cost_unit=cost_unit,
        obstacle=obstacle,
    )


def _slacks(losses: Vector, nu: Vector) -> Vector:
    """loss/nu, and 0/0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(losses > 0, losses / nu, 0.0)


def _relevant(y: Any, rounds: int, k: int) -> NDArray[np.bool_]:
    """Labels, sets of labels, or an indicator matrix, as an indicator matrix."""
    y = y.toarray() if hasattr(y, "toarray") else y
    if len(y) != rounds:
        raise ValueError(f"there are {rounds} instances and {len(y)} targets")
    if isinstance(y, np.ndarray) and y.ndim == 2:
        if y.shape[1] != k:
            raise ValueError(f"y has {y.shape[1]} columns for {k} labels")
        return np.asarray(y != 0)
    relevant = np.zeros((rounds, k), dtype=bool)
    for t, labels in enumerate(cast(Sequence[Any], y)):
        for label in labels if isinstance(labels, Iterable) else [labels]:
            if not 0 <= label < k:
                raise ValueError(f"y has the label {label} in round {t}; labels are from 0 to {k - 1}")
            relevant[t, int(label)] = True
    return relevant
