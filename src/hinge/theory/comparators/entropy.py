"""Comparators on a simplex (S13.6, S16): their distance is a relative entropy."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .comparator import ENTROPY, Comparator
from .kind import Vector, dense

# How far from the simplex a comparator may be that was meant to be on it.
SIMPLEX_SLACK = 1e-9


def divergence(d: Vector, p1: Vector | None, signed: bool) -> tuple[float, str]:
    """The least KL(p || p_1) of the p on the simplex with p+ - p- = d (signed) or p = d, or why there is none.

    Signed, p+ and p- have the same product p+_i p-_i/(p1+_i p1-_i) = c in every coordinate, so that
    p+_i + p-_i = sqrt(d_i^2 + 4 c p1+_i p1-_i), and c is such that these have the sum 1.
    """
    start = np.full(len(d) * (2 if signed else 1), 1.0) if p1 is None else np.asarray(p1, dtype=np.float64)
    start = start / start.sum()
    total = float(np.abs(d).sum())
    if not signed:
        if abs(total - 1) > SIMPLEX_SLACK or d.min() < 0:
            needed = "weights of 0 or more, with the sum `scale`"
            return math.inf, f"it needs a comparator on the simplex: {needed}"
        return _relative_entropy(d / total, start), ""
    if total > 1 + SIMPLEX_SLACK:
        needed = "weights have absolute values with a sum of at most `scale`"
        return math.inf, f"it needs a comparator whose {needed}"
    products = start[: len(d)] * start[len(d) :]

    def sums(c: float) -> Vector:
        return np.asarray(np.sqrt(d * d + 4 * c * products), dtype=np.float64)

    low, high = 0.0, 1.0
    while sums(high).sum() < 1:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        low, high = (middle, high) if sums(middle).sum() < 1 else (low, middle)
    both = sums(high)
    larger = (np.abs(d) + both) / 2  # of p+ and p-; their difference would cancel
    smaller = np.where(larger > 0, high * products / np.where(larger > 0, larger, 1.0), 0.0)
    p = np.concatenate([np.where(d > 0, larger, smaller), np.where(d > 0, smaller, larger)])
    return _relative_entropy(p / p.sum(), start), ""


def _relative_entropy(p: Vector, start: Vector) -> float:
    some = p > 0
    return max(0.0, math.fsum(p[some] * np.log(p[some] / start[some])))


def on_simplex(
    c: Comparator,
    X: Any,
    u: ArrayLike,
    *,
    scale: float,
    extra: ArrayLike | None = None,
    intercept_value: float = 1.0,
    signed: bool = True,
    entropy_step: str = "range",
    p1: ArrayLike | None = None,
    largest_q: float | None = None,
) -> Comparator:
    """A comparator in the entropy geometry: the weights u = scale (p+ - p-), or scale p if not signed.

    `c` is what u suffers on the rows of X in the Euclidean geometry, `extra` are its intercepts (if and only if the
    learner fits them; `intercept_value` is the value of the constant feature) or thresholds; labels share one simplex.
    All options are the learner's, which must have known all columns from the start (arrays do that): features that
    come later, with dicts, take their share from the others, which no theorem covers.

    `p1` is where the learner started on the simplex, if not at the uniform distribution (p+ and then p-, `extra`
    last in each). In uniclass the size of a step depends on the run: its bounds have the largest possible one, or
    `largest_q`, that of the learner's statistics.
    """
    whole = np.append(
        np.asarray(u, dtype=np.float64), [] if extra is None else np.asarray(extra) / intercept_value
    )
    start = None if p1 is None else np.asarray(p1, dtype=np.float64).ravel()
    kl, obstacle = divergence(whole / scale, start, signed)
    if largest_q is not None:
        q = np.array([largest_q])
    elif c.kind == "uniclass":
        q = np.array([8 * scale**2 if entropy_step == "paper" else scale**2 / (1 if signed else 2)])
    else:
        q = _sizes(X, None if extra is None else intercept_value, scale, signed, entropy_step)
    return replace(
        c,
        geometry=ENTROPY,
        distance2=2 * kl,
        from_zero=False,
        largest_q=float(q.max(initial=0.0)),
        smallest_q=float(q.min()) if len(q) else 0.0,
        total_q=float(q.sum()) if len(q) == c.rounds else math.nan,
        obstacle=c.obstacle or obstacle,
    )


def _sizes(X: Any, constant: float | None, scale: float, signed: bool, entropy_step: str) -> Vector:
    """q of each row: scale^2 (max - min)^2/4 over the coordinates of p, or the paper's scale^2 |x|_inf^2/4. A pair of
    labels has x in one block and -x in another; a rank has -1 or 1 at its threshold."""
    Z = dense(X)
    if constant is not None:
        Z = np.column_stack([Z, np.full(len(Z), constant)])
    low, high = (f(Z, axis=1, initial=0.0) if signed else f(Z, axis=1) for f in (np.min, np.max))
    largest = np.maximum(high, -low)
    width = largest if entropy_step == "paper" else 2 * largest if signed else high - low
    return np.asarray((scale * width / 2) ** 2, dtype=np.float64)
