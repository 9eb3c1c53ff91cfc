"""Comparators in other geometries: what a fixed predictor suffers, and how far it is from a run.

Import them from `bounds_geometries`, which knows their theorems and says what is computed here.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..options.table import default
from .comparators import LabelComparator, label_comparator, ordinal_comparator
from .comparators_single import Comparator, Vector, _dense, comparator

# How far from the simplex a comparator may be that was meant to be on it.
SIMPLEX_SLACK = 1e-9

SECOND_ORDER, ENTROPY = "second order, ", "entropy, "  # before the selection: the geometry


# --- mahalanobis and diagonal ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class SecondOrderComparator(Comparator):
    """What a fixed predictor u suffered on the stream of a trace.

    Its distance2 is |u - w_1|^2/a + Q(u), its largest_q is over the updates.
    """

    full: bool  # whether the covariance is a matrix
    initial_variance: float  # a
    regularizer: float  # r
    norm2: float  # |u|^2
    start_distance2: float  # |u - w_1|^2/a
    seen: float  # u'Xu, X the sum of xx' over the updates
    log_determinant: float  # of I + X a/r
    spared: int  # updates without a mistake
    update_loss: float  # the sum of l*_t over the rounds with an update or a mistake


class Followed(Protocol):
    """What `follow` asks of a learner; hinge.Learner has it."""

    @property
    def task(self) -> str: ...
    @property
    def parameters(self) -> Any: ...
    @property
    def statistics(self) -> Any: ...
    @property
    def last_weights(self) -> Any: ...
    @property
    def last_intercept(self) -> Any: ...
    def learn(self, X: Any, y: Any = None, /) -> Any: ...


def added_to_inverse(s: Vector, z: Vector, parameters: Mapping[str, Any]) -> Vector:
    """What an update adds to the inverse of each variance s of a diagonal covariance; z is the instance."""
    r, squares = float(parameters.get("covariance_regularizer", 1.0)), z * z
    if parameters.get("covariance_update", default("covariance_update")) == "precision":
        return squares / r
    sizes = s * squares
    # 1/s' - 1/s with s' = s - s^2 z^2/(r + z'Sz); the size of the other coordinates is not negative.
    return cast(Vector, squares / (r + np.maximum(0.0, sizes.sum() - sizes)))


class DiagonalAgain:
    """The diagonal covariance of a run, made again from its updates. Coordinates are known by their keys."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self.parameters = parameters
        self._variances: dict[Hashable, float] = {}

    def update(self, keys: Sequence[Hashable], z: Vector) -> Vector:
        """What it adds to the inverse. The other coordinates of the instance are 0."""
        start = float(self.parameters["initial_variance"])
        s = np.array([self._variances.get(key, start) for key in keys], dtype=np.float64)
        added = added_to_inverse(s, z, self.parameters)
        self._variances.update(zip(keys, (s / (1 + s * added)).tolist(), strict=True))
        return added


@dataclass
class Trace:
    """A run of a second-order learner, round by round, and the options that it ran with.

    The covariance is made here, from the rounds that were updates: nothing is asked of the learner's own. The state is
    w (for labels a row each), with the intercept as its last column if there is one.
    """

    task: str  # classification (labels -1 and +1, or with `lanes` 0..k-1), regression, multilabel or ordinal
    parameters: Mapping[str, Any]
    lanes: bool = False
    statistics: Any = None
    instances: list[Vector] = field(default_factory=list)
    targets: list[Any] = field(default_factory=list)
    updates: list[tuple[int, Vector, Vector]] = field(
        default_factory=list
    )  # round, w after it, see `_increment`
    mistakes: list[int] = field(default_factory=list)  # rounds with one
    largest_q: float = 0.0  # x'Sx of the updates, before each of them
    _covariance: Vector | None = None

    @property
    def full(self) -> bool:
        return bool(self.parameters["geometry"] == "mahalanobis")

    @property
    def fit_intercept(self) -> bool:
        return bool(self.task != "ordinal" and self.parameters.get("fit_intercept", False))

    def _option(self, name: str) -> float:
        return float(self.parameters.get(name, 1.0))

    def add(self, x: ArrayLike, y: Any, w: ArrayLike, *, updated: bool, mistake: bool) -> None:
        """One round: the example, the state after it, whether it was an update, whether it was a mistake."""
        z = np.asarray(x, dtype=np.float64).reshape(-1)
        if self.fit_intercept:
            z = np.append(z, 1.0)
        if mistake:
            self.mistakes.append(len(self.instances))
        if updated:
            self.updates.append((len(self.instances), np.array(w, dtype=np.float64), self._increment(z)))
        self.instances.append(z)
        self.targets.append(y)

    def _increment(self, z: Vector) -> Vector:
        """What the update adds to the inverse of the covariance: f of ff', or of a diagonal one the diagonal."""
        a, r = self._option("initial_variance"), self._option("covariance_regularizer")
        if self._covariance is None:
            self._covariance = a * np.eye(len(z)) if self.full else np.full(len(z), a)
        S = self._covariance
        g = S @ z if self.full else S * z
        v = float(z @ g)
        self.largest_q = max(self.largest_q, v)
        if self.full:
            self._covariance = S - np.outer(g, g) / (r + v)
            return z / math.sqrt(r)
        added = added_to_inverse(S, z, self.parameters)
        self._covariance = S / (1 + S * added)
        return added

    def Q(self, u: ArrayLike) -> float:
        """The sum of (w - u)'(A_t - A_(t-1))(w - u) over the updates, w after the update; of all labels."""
        u = np.asarray(u, dtype=np.float64)
        terms = []
        for _, w, added in self.updates:
            difference = np.atleast_2d(w - u)
            terms.append(float(((difference @ added) ** 2 if self.full else difference**2 @ added).sum()))
        return math.fsum(terms)

    def comparator(
        self, u: ArrayLike, *, intercept: ArrayLike | None = None, thresholds: ArrayLike | None = None
    ) -> Comparator:
        """What u (for labels a row each) suffers on the stream of this trace, and how far it is from the run.

        Give the intercept of u (of each label) if and only if the learner fits one, and thresholds for ranks.
        """
        if self.fit_intercept != (intercept is not None):
            raise ValueError("give the intercept of u if and only if the learner fits one")
        u = np.asarray(u, dtype=np.float64)
        Z = np.array(self.instances).reshape(len(self.instances), -1)
        X = Z[:, :-1] if self.fit_intercept else Z
        known = self.parameters
        start = known.get("w1")
        start = start if isinstance(start, np.ndarray | list) else None
        a = self._option("initial_variance")
        whole = (
            u
            if intercept is None
            else np.column_stack([u, intercept])
            if self.lanes
            else np.append(u, intercept)
        )
        Q = self.Q(whole)
        if self.task == "ordinal":
            options = {n: known[n] for n in ("selection", "margin", "nu", "sort_thresholds") if n in known}
            of_ranks = ordinal_comparator(X, self.targets, u, cast(ArrayLike, thresholds), **options)
            b = np.asarray(thresholds, dtype=np.float64)
            return replace(
                of_ranks,
                selection=SECOND_ORDER + of_ranks.selection,
                distance2=float(u @ u) / a + float(b @ b) + Q,
                largest_q=self.largest_q + 1.0 if self.updates else 0.0,
            )
        if self.lanes:
            options = {
                n: known[n] for n in ("selection", "margin", "beta", "cost", "nu") if known.get(n) is not None
            }
            of_labels = label_comparator(X, self.targets, u, intercepts=intercept, w1=start, **options)
            return replace(
                of_labels,
                selection=SECOND_ORDER + of_labels.selection,
                distance2=of_labels.distance2 / a + Q,
                largest_q=2 * self.largest_q,
            )
        return self._of_one(X, Z, u, whole, cast("float | None", intercept), start, Q)

    def _of_one(
        self, X: Vector, Z: Vector, u: Vector, whole: Vector, intercept: float | None, start: Any, Q: float
    ) -> SecondOrderComparator:
        a, r = self._option("initial_variance"), self._option("covariance_regularizer")
        options = {n: self.parameters[n] for n in ("margin", "epsilon") if n in self.parameters}
        y = np.asarray(self.targets, dtype=np.float64)
        c = comparator(self.task, X, y, u, intercept=intercept, w1=start, **options)
        updated = Z[[t for t, _, _ in self.updates]]
        concerned = sorted({t for t, _, _ in self.updates}.union(self.mistakes))
        losses = np.maximum(0.0, -y * (Z @ whole) - c.insensitivity)[concerned]  # of classification
        given = {f.name: getattr(c, f.name) for f in fields(c)}
        return SecondOrderComparator(
            **{
                **given,
                "selection": SECOND_ORDER + "only",
                "distance2": c.distance2 / a + Q,
                "largest_q": self.largest_q,
            },
            full=self.full,
            initial_variance=a,
            regularizer=r,
            norm2=float(whole @ whole),
            start_distance2=c.distance2 / a,
            seen=float(((updated @ whole) ** 2).sum()),
            log_determinant=float(np.linalg.slogdet(np.eye(len(whole)) + updated.T @ updated * a / r)[1]),
            spared=len(concerned) - len(self.mistakes),
            update_loss=math.fsum(losses),
        )


def follow(learner: Followed, X: Any, y: Any) -> Trace:
    """The run of a second-order learner that has learned nothing yet over the rows of X, one at a time.

    Classes of two labels are -1 and +1; those of more, and those that have lanes for another reason, are 0..k-1.
    """
    if learner.statistics.rounds:
        raise ValueError("the learner has learned already: the run is followed from its beginning")
    if learner.parameters["geometry"] not in ("mahalanobis", "diagonal"):
        raise ValueError("only learners of the geometries 'mahalanobis' and 'diagonal' have to be followed")
    if learner.parameters["step"] == "cw":
        raise ValueError("there is no bound for 'cw'")
    trace = Trace(learner.task, learner.parameters)
    rows = _dense(X)
    for t, x in enumerate(rows):
        before = learner.statistics
        learner.learn(rows[t : t + 1], y[t : t + 1])
        after, w = learner.statistics, np.asarray(learner.last_weights, dtype=np.float64)
        trace.lanes = w.ndim == 2
        if trace.fit_intercept:
            b = np.asarray(learner.last_intercept, dtype=np.float64)
            w = np.column_stack([w, b]) if trace.lanes else np.append(w, b)
        updated, mistake = after.updates > before.updates, after.mistakes > before.mistakes
        trace.add(x, y[t], w, updated=updated, mistake=mistake)
    trace.statistics = learner.statistics
    return trace


# --- entropy -----------------------------------------------------------------------------------------------


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
            return (
                math.inf,
                "it needs a comparator on the simplex: weights of 0 or more, with the sum `scale`",
            )
        return _relative_entropy(d / total, start), ""
    if total > 1 + SIMPLEX_SLACK:
        return (
            math.inf,
            "it needs a comparator whose weights have absolute values with a sum of at most `scale`",
        )
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


def entropy_comparator(
    task: str,
    X: Any,
    y: ArrayLike | None,
    u: ArrayLike,
    *,
    scale: float,
    intercept: float | None = None,
    signed: bool = True,
    entropy_step: str = "range",
    p1: ArrayLike | None = None,
    largest_q: float | None = None,
    margin: float = 1.0,
    epsilon: float = 0.1,
    radius: float = 1.0,
) -> Comparator:
    """What the fixed weights u = scale (p+ - p-), or scale p if not signed, suffer; all options are the learner's.

    The learner must have known all columns from the start (arrays do that): features that come later, with dicts, take
    their share from the others, which no theorem covers.
    `p1` is where the learner started on the simplex, if not at the uniform distribution (p+ and then p-, the
    intercept's coordinate last in each). In uniclass the size of a step depends on the run: its bounds have the largest
    possible one, or `largest_q`, that of the learner's statistics.
    """
    u = np.asarray(u, dtype=np.float64).reshape(-1)
    c = comparator(
        task, X, y, u, intercept=intercept, w1="zero", margin=margin, epsilon=epsilon, radius=radius
    )
    if task == "uniclass":
        most = 8 * scale**2 if entropy_step == "paper" else scale**2 if signed else scale**2 / 2
        q: Vector = np.array([most if largest_q is None else largest_q])
    else:
        q = _sizes(X, intercept is not None, scale, signed, entropy_step)
    whole = u if intercept is None else np.append(u, intercept)
    return _with_entropy(c, "only", whole / scale, p1, signed, q)


def entropy_label_comparator(
    X: Any,
    y: Any,
    u: ArrayLike,
    *,
    scale: float,
    intercepts: ArrayLike | None = None,
    p1: ArrayLike | None = None,
    selection: str = "max",
    margin: float = 1.0,
    cost: ArrayLike | None = None,
    nu: ArrayLike | None = None,
) -> LabelComparator:
    """The same for many labels, which share one simplex: u has a row for each."""
    u = np.asarray(u, dtype=np.float64)
    c = label_comparator(X, y, u, intercepts=intercepts, selection=selection, margin=margin, cost=cost, nu=nu)
    q = _sizes(X, intercepts is not None, scale, True, "range")  # a pair has x in one block and -x in another
    whole = u if intercepts is None else np.column_stack([u, np.asarray(intercepts, dtype=np.float64)])
    return cast(LabelComparator, _with_entropy(c, selection, whole.ravel() / scale, p1, True, q))


def entropy_ordinal_comparator(
    X: Any,
    y: ArrayLike,
    w: ArrayLike,
    thresholds: ArrayLike,
    *,
    scale: float,
    p1: ArrayLike | None = None,
    selection: str = "simproj",
    margin: float = 1.0,
    nu: ArrayLike | None = None,
    sort_thresholds: bool | None = None,
) -> LabelComparator:
    """The same for ranks: w and the thresholds are on one simplex."""
    c = ordinal_comparator(
        X, y, w, thresholds, selection=selection, margin=margin, nu=nu, sort_thresholds=sort_thresholds
    )
    q = _sizes(X, True, scale, True, "range")  # a row has -1 or 1 at its threshold
    whole = np.append(np.asarray(w, dtype=np.float64), np.asarray(thresholds, dtype=np.float64))
    return cast(LabelComparator, _with_entropy(c, selection, whole / scale, p1, True, q))


def _sizes(X: Any, fit_intercept: bool, scale: float, signed: bool, entropy_step: str) -> Vector:
    """q of each row: scale^2 (max - min)^2/4 over the coordinates of p, or the paper's scale^2 |x|_inf^2/4."""
    Z = _dense(X)
    if fit_intercept:
        Z = np.column_stack([Z, np.ones(len(Z))])
    low, high = (f(Z, axis=1, initial=0.0) if signed else f(Z, axis=1) for f in (np.min, np.max))
    largest = np.maximum(high, -low)
    width = largest if entropy_step == "paper" else 2 * largest if signed else high - low
    return np.asarray((scale * width / 2) ** 2, dtype=np.float64)


def _with_entropy(
    c: Comparator, selection: str, d: Vector, p1: ArrayLike | None, signed: bool, q: NDArray[np.float64]
) -> Comparator:
    kl, obstacle = divergence(d, None if p1 is None else np.asarray(p1, dtype=np.float64).ravel(), signed)
    return replace(
        c,
        selection=ENTROPY + selection,
        distance2=2 * kl,
        from_zero=False,
        largest_q=float(q.max(initial=0.0)),
        smallest_q=float(q.min()) if len(q) else 0.0,
        obstacle=c.obstacle or obstacle,
    )
