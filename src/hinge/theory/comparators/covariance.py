"""Comparators of learners with a covariance (S17, S18), which are measured from the vectors of a run.

The guarantees depend on the covariance during the run, so the run has to be followed: a new learner gets the stream,
row by row.

    trace = follow(hinge.Learner("classification", geometry="mahalanobis", step="pa2", C=0.1), X, y)
    c = trace.comparator(u, intercept=b)
    for guarantee in guarantees("pa2", trace.statistics, c, C=0.1):
        print(guarantee)

(A `Trace` can also be made by hand, with one `add` per round.) The distance of u is |u - w_1|^2/a + Q(u), where Q(u)
is the sum of (w - u)'(A_t - A_(t-1))(w - u) over the updates, w after the update and A the inverse of the covariance.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...options.table import COVARIANCES, default
from .comparator import SECOND_ORDER, Comparator, SecondOrder
from .kind import Kind, Place, Vector, dense, squared_norms
from .kinds import KINDS, Labels


@dataclass(frozen=True)
class Update:
    """What an update adds to A, the inverse of the covariance, at the coordinates of the instance z."""

    added: Vector  # to the diagonal; of a matrix, the factor of zz'
    z: Vector | None  # of a matrix

    def form(self, a: Vector, b: Vector) -> float:
        """a'(A_t - A_(t-1))b, of all labels."""
        if self.z is not None:
            a, b = a @ self.z, b @ self.z
        return float((self.added * a * b).sum())

    def terms(self, w: Vector, u: Vector) -> Vector:
        """What it adds to Q(s u), a polynomial in s: the coefficients of 1, -2 s and s^2."""
        return np.array([self.form(w, w), self.form(w, u), self.form(u, u)])


class Covariance:
    """The covariance of a run, computed again from its updates, independently of the learner. Coordinates have keys;
    those that an instance does not name are 0."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.full = parameters["geometry"] == "mahalanobis"
        self.initial_variance = float(parameters.get("initial_variance", 1.0))  # a
        self.regularizer = float(parameters.get("covariance_regularizer", 1.0))  # r
        self.precision = parameters.get("covariance_update", default("covariance_update")) == "precision"
        self.updates = 0
        self.largest_q = 0.0  # x'Sx of the updates, before each of them
        self.log_determinant = 0.0  # of I + X a/r, X the sum of xx' over the updates, if there is a matrix
        self._places: dict[Hashable, int] = {}
        self._S = np.zeros((0, 0) if self.full else 0)

    def update(self, keys: Sequence[Hashable], z: Vector) -> Update:
        places = self._places_of(keys)
        if self.full:
            known = len(self._places)
            g = self._S[:known, places] @ z
            v, added = float(g[places] @ z), np.array([1 / self.regularizer])
            self._S[:known, :known] -= np.outer(g, g / (self.regularizer + v))
            self.log_determinant += math.log1p(v / self.regularizer)
        else:
            s, squares = self._S[places], z * z
            v, others = float(s @ squares), s @ squares - s * squares
            # 1/s' - 1/s with s' = s - s^2 z^2/(r + z'Sz); the size of the other coordinates is not negative.
            added = squares / (self.regularizer + (0.0 if self.precision else np.maximum(0.0, others)))
            self._S[places] = s / (1 + s * added)
        self.updates += 1
        self.largest_q = max(self.largest_q, v)
        return Update(added, z if self.full else None)

    def _places_of(self, keys: Sequence[Hashable]) -> Any:
        known = len(self._places)
        places = [self._places.setdefault(key, len(self._places)) for key in keys]
        if len(self._places) > len(self._S):
            size = max(len(self._places), known + known // 4)
            S = self.initial_variance * (np.eye(size) if self.full else np.ones(size))
            S[(slice(known),) * S.ndim] = self._S[(slice(known),) * S.ndim]
            self._S = S
        return np.asarray(places, dtype=np.int64)

    def measured(
        self, c: Comparator, *, largest_q: float, Q: float, weights2: float, **facts: Any
    ) -> Comparator:
        """The comparator, measured from the run. `weights2`: the part of |u - w_1|^2 of weights with a covariance
        (thresholds have none); `facts`: see `SecondOrder`."""
        start2 = weights2 / self.initial_variance + (c.distance2 - weights2)
        second_order = SecondOrder(
            self.full, self.initial_variance, self.regularizer, start2, self.log_determinant, **facts
        )
        near = replace(c, geometry=SECOND_ORDER, distance2=start2 + Q, largest_q=largest_q, total_q=math.nan)
        return replace(near, second_order=second_order)

    def largest_size(self, kind: Kind) -> float:
        """R2: the largest size of a constraint over the updates."""
        return float(kind.sizes(self.largest_q)) if self.updates else 0.0


@dataclass
class Trace:
    """A run of a second-order learner, round by round, and the options that it ran with.

    The state is w (for labels one row each), with the weight of the constant feature as its last column if there is an
    intercept; `constant` is the value of that feature.
    """

    task: str  # classification (labels -1 and +1, or with `lanes` 0..k-1), regression, multilabel or ordinal
    parameters: Mapping[str, Any]
    lanes: bool = False
    constant: float = 1.0
    statistics: Any = None
    instances: list[Vector] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    updates: list[tuple[int, Vector, Update]] = field(default_factory=list)  # round, w after it
    mistakes: list[int] = field(default_factory=list)  # rounds with one

    def __post_init__(self) -> None:
        self.covariance = Covariance(self.parameters)

    @property
    def fit_intercept(self) -> bool:
        return KINDS[self.task].extra == "intercept" and bool(self.parameters.get("fit_intercept", False))

    def add(self, x: ArrayLike, y: Any, w: ArrayLike, *, updated: bool, mistake: bool) -> None:
        """One round: the example, the state after it, whether it was an update, whether it was a mistake."""
        z = np.asarray(x, dtype=np.float64).reshape(-1)
        if self.fit_intercept:
            z = np.append(z, self.constant)
        if mistake:
            self.mistakes.append(len(self.instances))
        if updated:
            update = self.covariance.update(range(len(z)), z)
            self.updates.append((len(self.instances), np.array(w, dtype=np.float64), update))
        self.instances.append(z)
        self.targets.append(y)

    def Q(self, u: ArrayLike) -> float:
        """The sum of (w - u)'(A_t - A_(t-1))(w - u) over the updates, w after the update; of all labels."""
        differences = ((update, w - np.asarray(u, dtype=np.float64)) for _, w, update in self.updates)
        return math.fsum(update.form(difference, difference) for update, difference in differences)

    def comparator(
        self, u: ArrayLike, *, intercept: ArrayLike | None = None, thresholds: ArrayLike | None = None
    ) -> Comparator:
        """What u (for labels one row each) suffers on the stream of this trace, and how far it is from the run.

        Give the intercept of u (of each label) if and only if the learner fits one, and thresholds for ranks.
        """
        if self.fit_intercept != (intercept is not None):
            raise ValueError("give the intercept of u if and only if the learner fits one")
        u = np.asarray(u, dtype=np.float64)
        given = intercept if thresholds is None else thresholds
        extra = np.atleast_1d(np.asarray([] if given is None else given, dtype=np.float64))
        kind = (Labels if self.lanes else KINDS[self.task]).with_options(
            u if self.lanes else extra, self.parameters
        )
        Z = np.array(self.instances).reshape(len(self.instances), -1)
        X = Z[:, :-1] if self.fit_intercept else Z
        whole = kind.whole(u, extra / self.constant if self.fit_intercept else extra)
        y = self.targets if kind.indices else np.asarray(self.targets, dtype=np.float64)
        charge = kind.charge(kind.scores(X, u, extra), y)
        w1 = self.parameters.get("w1")
        w1 = kind.whole(np.asarray(w1), 0 * extra) if isinstance(w1, np.ndarray | list) else 0 * whole
        outside = kind.thresholds(extra)
        place = Place.of(np.append(whole, outside), np.append(w1, 0 * outside))
        updated = [t for t, _, _ in self.updates]
        concerned = sorted({*updated, *self.mistakes})
        return self.covariance.measured(
            kind.suffered(charge, kind.sizes(squared_norms(Z)), place),
            largest_q=self.covariance.largest_size(kind),
            Q=self.Q(whole),
            weights2=float(((whole - w1) ** 2).sum()),
            seen=float(((Z[updated] @ whole.T) ** 2).sum()) * self.covariance.full,
            spared=len(concerned) - len(self.mistakes),
            update_loss=math.fsum(charge.losses[concerned]),
        )


def follow(learner: Any, X: Any, y: Any) -> Trace:
    """The run of a second-order learner that has learned nothing yet over the rows of X, one at a time.

    Classes of two labels are -1 and +1; those of more, and those that have lanes for another reason, are 0..k-1.
    """
    if learner.statistics.rounds:
        raise ValueError("the learner has learned already: the run is followed from its beginning")
    if learner.parameters["geometry"] not in COVARIANCES:
        raise ValueError("only learners of the geometries 'mahalanobis' and 'diagonal' have to be followed")
    if learner.parameters["step"] == "cw":
        raise ValueError("there is no bound for 'cw'")
    trace = Trace(learner.task, learner.parameters)
    rows = dense(X)
    for t, x in enumerate(rows):
        before = learner.statistics
        learner.learn(rows[t : t + 1], y[t : t + 1])
        after, w = learner.statistics, np.asarray(learner.last_weights, dtype=np.float64)
        trace.lanes = w.ndim == 2
        if trace.fit_intercept:
            trace.constant = learner.constant
            b = np.asarray(learner.last_intercept, dtype=np.float64) / trace.constant
            w = np.column_stack([w, b]) if trace.lanes else np.append(w, b)
        updated, mistake = after.updates > before.updates, after.mistakes > before.mistakes
        trace.add(x, y[t], w, updated=updated, mistake=mistake)
    trace.statistics = learner.statistics
    return trace
