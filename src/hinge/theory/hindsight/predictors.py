"""Fixed predictors on rows of numbers, and what they have suffered so far."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ...data.rows import Rows
from ...learner import Learner
from ..comparators.comparator import Comparator, joined
from ..comparators.kind import Kind, Place, Vector, squared_norms
from ..comparators.kinds import kind_of


class Predictor:
    """Fixed weights (one row per label), and `extra`: intercepts, thresholds, or the radius."""

    def __init__(self, learner: Learner, weights: Any, extra: Vector) -> None:
        self.weights, self.extra = np.asarray(weights, dtype=np.float64), extra
        self.kind = kind_of(learner).of(learner, extra)
        if self.kind.extra == "intercept" and not learner._has_intercept:
            self.extra = extra[:0]
        self.whole = self.kind.whole(self.weights, in_coordinates(learner, self.extra))
        self.thresholds = self.kind.thresholds(self.extra)
        self.norm2 = float((self.whole**2).sum() + (self.thresholds**2).sum())

    def scores(self, X: Any, rows: Rows, unseen: Vector | None) -> Vector:
        return self.kind.scores(X, self.weights, self.extra)


def in_coordinates(learner: Learner, extra: Any) -> Any:
    """The weights of the constant feature, if `extra` are intercepts."""
    return extra / learner.constant if learner._has_intercept and len(extra) else extra


class Learned(Predictor):
    """The predictor of a learner (the average, if it has one); the core computes its scores."""

    def __init__(self, learner: Learner, other: Learner) -> None:
        self.other, kind = other, kind_of(learner)
        extra = kind.extra_of(other)
        if other.parameters["kernel"] is None:
            super().__init__(learner, other.weights, extra)
        else:
            self.kind = kind.of(learner, extra)
            self.norm2 = length_in_kernel(other, self.kind, extra)

    def scores(self, X: Any, rows: Rows, unseen: Vector | None) -> Vector:
        sees = self.other._sees_unseen
        lanes = np.asarray(self.other.lanes_of(rows, unseen if sees else None))
        return self.kind.scores_of(self.other, lanes, unseen)


def length_in_kernel(learner: Learner, kind: Kind, extra: Vector) -> float:
    """|u|^2 in the space of the kernel, of which an intercept is a part, with the thresholds."""
    supports, first = learner.supports, learner._first_lane
    coefficients, outside = supports.coefficients[:, first:], float((kind.thresholds(extra) ** 2).sum())
    if not len(coefficients):
        return outside
    lanes = np.asarray(learner.lanes(supports.vectors)).reshape(len(coefficients), -1)
    if kind.fixed_size:  # |x - u|^2 = K(x, x) - 2 u.x + |u|^2, to be solved for |u|^2
        sizes = sizes_in_kernel(learner, supports.vectors)
        total = float(coefficients[:, 0] @ (sizes - lanes[:, 0] ** 2))
        return max(0.0, total / (2 - float(coefficients.sum())))
    products = kind.products(lanes, extra)[:, first:]
    return max(0.0, float((coefficients * products).sum())) + outside


def sizes_in_kernel(learner: Learner, X: Any) -> Vector:
    """K(x, x) of each row, with the constant feature of an intercept; without a kernel that of x.x."""
    p = learner.parameters
    kernel, one = p["kernel"], learner.constant**2
    if kernel == "rbf":
        return np.full(X.shape[0], 1.0 + one)
    if callable(kernel):
        sizes = [float(np.asarray(kernel(X[i : i + 1], X[i : i + 1])).ravel()[0]) for i in range(X.shape[0])]
        return np.asarray(sizes) + one
    squares = squared_norms(X)
    if kernel == "poly":
        squares = (p["gamma"] * squares + p["coef0"]) ** p["degree"]
    return np.asarray(squares + one, dtype=np.float64)


class Charged:
    """A predictor and its multiples, with their losses so far."""

    def __init__(self, predictor: Predictor, scales: Iterable[float]) -> None:
        self.predictor, self.kind = predictor, predictor.kind
        self.scales = list(self.kind.scales or scales)
        self.start2: float | None = None  # the squared distance from the first example, if that is the start
        self.sums: list[Comparator | None] = [None for _ in self.scales]
        self.terms = np.zeros(3)  # of Q, with a covariance
        self.update_losses = [0.0 for _ in self.scales]

    def charge(self, scores: Vector, targets: Any, q: Vector, concerned: Any) -> None:
        """`concerned`: which of the rounds had an update or a mistake, with a covariance."""
        for place, scale in enumerate(self.scales):
            charge = self.kind.charge(scale * scores, targets)
            norm2 = scale * scale * self.predictor.norm2
            at = Place.at(norm2) if self.start2 is None else Place(self.start2, norm2, False)
            self.sums[place] = joined(self.sums[place], self.kind.suffered(charge, q, at))
            if concerned is not None:
                self.update_losses[place] += math.fsum(charge.losses[concerned])
