"""What comparators suffer on the stream of a learner, with its own losses, in its geometry, in the space of its kernel;
and how some are found. `certificates` asks them.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..model import columns
from . import bounds_geometries as bounds_geometries  # all theorems are in the table
from .comparators_single import Comparator, Vector, ball_comparator, comparator, scored_comparator

if TYPE_CHECKING:
    from ..learner import Learner

SCALES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0)  # of what was found
PASSES = 5
CS = (0.01, 0.1, 1.0)  # over the largest q

ANOTHER_RUN = (
    "run again, it goes another way: it must be what was learned, in the order in which it was learned, "
    "without weights"
)


class AnotherRun(Exception):
    """The rows of X do not make the run that the learner made."""


def same_run(one: Any, other: Any) -> bool:
    """By their statistics. Losses may differ by rounding: dense and sparse rows are added up in another order."""
    counts = [(its.rounds, its.mistakes, its.updates) for its in (one, other)]
    return counts[0] == counts[1] and math.isclose(one.loss, other.loss, rel_tol=1e-6, abs_tol=1e-9)


@dataclass(frozen=True)
class Predictor:
    """A fixed one: weights (many labels: a row each), and an intercept each; ranks: thresholds."""

    weights: Vector
    beside: Vector  # intercepts or thresholds; empty without

    def times(self, scale: float) -> Predictor:
        return Predictor(scale * self.weights, scale * self.beside)


def grew(learner: Learner) -> bool:
    """Whether labels came on the way."""
    first = learner._task.first_labels(learner.parameters)
    return len(learner.labels.known) > len(first.known)


def begins_with_one(learner: Learner) -> bool:
    """Whether the first example is no round, but the first centre of the ball."""
    p = learner.parameters
    return bool(learner.task == "uniclass" and p["w1"] != "zero" and p["geometry"] != "entropy")


def targets_of(learner: Learner, y: Any, count: int) -> Any:
    """As the comparators want them: signs, numbers, indices of labels, or a matrix of 0 and 1."""
    encoded = learner._task.encode(learner.labels, y, count, None)
    if learner.task == "multilabel":
        relevant = np.zeros((count, len(learner.labels.known)))
        starts, codes = np.asarray(encoded.starts), np.asarray(encoded.y, dtype=np.int64)
        relevant[np.repeat(np.arange(count), np.diff(starts)), codes] = 1.0
        return relevant
    if encoded.classes is not None:  # labels as they are, to be found among the classes
        codes = np.searchsorted(np.asarray(encoded.classes), np.asarray(encoded.y, dtype=np.float64))
        return codes if learner.many_scores else 2.0 * codes - 1
    targets = np.asarray(encoded.y, dtype=np.float64)
    return targets.astype(np.int64) if learner.many_scores or learner.task == "ordinal" else targets


def compared(learner: Learner, X: Any, targets: Any, predictors: list[Predictor]) -> Iterator[Comparator]:
    """What the predictors suffer, with the learner's own losses and in its geometry."""
    geometry = learner.parameters["geometry"]
    if geometry == "entropy":
        yield from (_on_the_simplex(learner, X, targets, one) for one in predictors)
    elif geometry == "euclidean":
        yield from (_as_they_are(learner, X, targets, one) for one in predictors)
    else:
        yield from _seen_from_the_run(learner, X, targets, predictors)


def label_options(learner: Learner) -> dict[str, Any]:
    p, k = learner.parameters, len(learner.labels.known)
    options = learner._task.engine_options(p, learner.labels)
    square = {name: None if options[name] is None else options[name].reshape(k, k) for name in ("cost", "nu")}
    return {"selection": p["selection"], "margin": p["margin"], "beta": options["beta"], **square}


def _rank_options(learner: Learner) -> dict[str, Any]:
    p = learner.parameters
    nu = learner._task.nu(p["nu"], learner.labels)
    return {
        "selection": p["selection"],
        "margin": p["margin"],
        "nu": nu,
        "sort_thresholds": p["sort_thresholds"],
    }


def _as_they_are(learner: Learner, X: Any, targets: Any, one: Predictor) -> Comparator:
    from .bounds_labels import label_comparator, ordinal_comparator

    p, fits = learner.parameters, learner._has_intercept
    if learner.task == "ordinal":
        return ordinal_comparator(X, targets, one.weights, one.beside, **_rank_options(learner))
    if learner.many_scores:
        intercepts = one.beside if fits else None
        return label_comparator(X, targets, one.weights, intercepts=intercepts, **label_options(learner))
    options = {name: p[name] for name in ("margin", "epsilon", "radius", "max_radius")}
    start = p["w1"] if learner.task == "uniclass" else None
    if learner.task == "uniclass" and p["max_radius"] is not None:
        options["radius"] = float(one.beside[0]) if len(one.beside) else p["max_radius"]
    intercept = _intercept(one) if fits else None
    return comparator(learner.task, X, targets, one.weights, intercept=intercept, w1=start, **options)


def _intercept(one: Predictor) -> float:
    return float(one.beside[0]) if len(one.beside) else 0.0


def _on_the_simplex(learner: Learner, X: Any, targets: Any, one: Predictor) -> Comparator:
    """Weights whose sizes add up to more than the scale are made smaller."""
    from .bounds_geometries import entropy_comparator, entropy_label_comparator, entropy_ordinal_comparator

    p, fits = learner.parameters, learner._has_intercept
    size = float(
        np.abs(one.weights).sum() + (np.abs(one.beside).sum() if fits or learner.task == "ordinal" else 0.0)
    )
    if p["signed"]:
        one = one.times(min(1.0, 0.999 * p["scale"] / size)) if size > 0 else one
    elif size > 0:  # a distribution
        weights = np.maximum(one.weights, 0.0)
        share = weights.sum() + (max(0.0, _intercept(one)) if fits else 0.0)
        one = Predictor(weights, np.maximum(one.beside, 0.0)).times(p["scale"] / share if share > 0 else 0.0)
    scale = float(p["scale"])
    if learner.task == "ordinal":
        return entropy_ordinal_comparator(
            X, targets, one.weights, one.beside, scale=scale, **_rank_options(learner)
        )
    if learner.many_scores:
        options = {name: value for name, value in label_options(learner).items() if name != "beta"}
        intercepts = one.beside if fits else None
        return entropy_label_comparator(
            X, targets, one.weights, scale=scale, intercepts=intercepts, **options
        )
    return entropy_comparator(
        learner.task, X, targets, one.weights, scale=scale, intercept=_intercept(one) if fits else None,
        signed=p["signed"], entropy_step=p["entropy_step"], largest_q=learner.statistics.largest_q,
        margin=p["margin"], epsilon=p["epsilon"], radius=p["radius"],
    )  # fmt: skip


def _seen_from_the_run(
    learner: Learner, X: Any, targets: Any, predictors: list[Predictor]
) -> Iterator[Comparator]:
    """With a covariance a comparator is measured from the vectors of the run: it is run again, and followed."""
    from ..learner import Learner
    from .bounds_geometries import follow

    options = {name: value for name, value in learner.parameters.items() if name != "w1"}
    k = len(learner.labels.known)
    if learner.many_scores:  # by their places
        its = label_options(learner)
        options |= {"classes": list(range(k)) if k > 1 else None, "cost": its["cost"], "nu": its["nu"]}
    elif learner.task == "ordinal":
        options |= {"classes": list(range(k)), "nu": _rank_options(learner)["nu"]}
    elif learner.task == "classification":
        options["classes"] = [-1.0, 1.0]
    if learner.task == "multilabel":
        targets = [np.flatnonzero(row).tolist() for row in targets]
    trace = follow(Learner(learner.task, **options), X, targets)
    if not same_run(learner.statistics, trace.statistics):
        if learner.many_scores and grew(learner):
            raise AnotherRun("with a covariance all labels must be named ahead, classes=[...]")
        raise AnotherRun(ANOTHER_RUN)
    for one in predictors:
        intercept: Any = None
        if learner._has_intercept:
            intercept = one.beside if learner.many_scores else _intercept(one)
        thresholds = one.beside if learner.task == "ordinal" else None
        yield trace.comparator(one.weights, intercept=intercept, thresholds=thresholds)


def of_lanes(
    learner: Learner, lanes: Vector, targets: Any, q: Vector, norm2: float, scales: Iterable[float] = SCALES
) -> Iterator[Comparator]:
    """What multiples of a predictor of the learner's kind suffer, by what it says of the rows (`lanes_of`). Of its
    length only the square matters, and of the sizes q of the rows the largest and the smallest. Not for balls."""
    from .comparators import _compare, _relevant, rank_comparator

    p, lanes = learner.parameters, lanes.reshape(len(lanes), -1)
    for scale in scales:
        length = np.asarray([scale * np.sqrt(norm2)])
        if learner.task == "ordinal":
            yield rank_comparator(scale * lanes, targets, q, length, **_rank_options(learner))
        elif learner.many_scores:
            scores, options = lanes[:, learner._first_lane :], label_options(learner)
            wanted = options["beta"] if p["selection"] == "mira" else p["margin"]
            relevant = _relevant(targets, len(scores), scores.shape[1])
            yield _compare(
                scale * scores, relevant, q, q, length, 0 * length, p["selection"], wanted, options["cost"],
                options["nu"],
            )  # fmt: skip
        else:
            insensitivity = float(p["epsilon"] if learner.task == "regression" else -p["margin"])
            yield scored_comparator(
                learner.task, scale * lanes[:, 0], targets, insensitivity, float(length[0] ** 2), True, q
            )


def of_ball(learner: Learner, other: Learner, distances: Vector, distance2: float) -> Comparator:
    """What the ball of another one suffers, by the distances from its centre: those of the rounds, of the start."""
    bound = learner.parameters["max_radius"]
    radius = learner.parameters["radius"] if bound is None else other.radius
    return ball_comparator(distances, distance2, not begins_with_one(learner), float(radius), bound)


def squared_length(learner: Learner) -> float:
    """|u|^2 of its weights (the average, if it has one), with the intercepts or thresholds."""
    if learner.task == "ordinal":
        beside = float(learner.thresholds @ learner.thresholds)
    elif learner._has_intercept and learner.parameters["kernel"] is None:  # in a kernel, it is a part of w
        beside = float(np.square(learner.intercept).sum())
    else:
        beside = 0.0
    if learner.parameters["kernel"] is None:
        return float(np.square(learner.weights, dtype=np.float64).sum()) + beside
    supports, first = learner.supports, learner._first_lane
    coefficients = supports.coefficients[:, first:]
    if not len(coefficients):
        return beside
    scores = np.asarray(learner.lanes(supports.vectors)).reshape(len(coefficients), -1)
    if learner.task == "ordinal":
        scores = scores[:, :1] + learner.thresholds[0]
    elif learner.task == "uniclass":  # |x - u|^2 = K(x, x) - 2 u.x + |u|^2, to be solved for |u|^2
        sizes = _sizes_in_kernel(learner, supports.vectors)
        total = float(coefficients[:, 0] @ (sizes - scores[:, 0] ** 2))
        return max(0.0, total / (2 - float(coefficients.sum())))
    return max(0.0, float((coefficients * scores[:, first:]).sum())) + beside


def in_the_space_of_the_kernel(learner: Learner, X: Any, y: Any, targets: Any) -> Iterator[Comparator]:
    """Other learners with the same kernel."""
    q = _sizes_in_kernel(learner, X)
    if learner.many_scores:
        q = 2 * q
    elif learner.task == "ordinal":
        q = q + 1.0
    for other in _others(learner, X, y):
        lanes = np.asarray(other.lanes(X))
        if learner.task != "uniclass":
            yield from of_lanes(learner, lanes, targets, q, squared_length(other))
        elif begins_with_one(learner):
            yield of_ball(learner, other, lanes[1:], float(lanes[0] ** 2))
        else:
            yield of_ball(learner, other, lanes, squared_length(other))


def _sizes_in_kernel(learner: Learner, X: Any) -> Vector:
    """K(x, x) of each row, with the constant feature of an intercept."""
    p = learner.parameters
    kernel, one = p["kernel"], float(learner._has_intercept)
    if kernel == "rbf":
        return np.full(X.shape[0], 1.0 + one)
    if callable(kernel):
        sizes = [float(np.asarray(kernel(X[i : i + 1], X[i : i + 1])).ravel()[0]) for i in range(X.shape[0])]
        return np.asarray(sizes) + one
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() if hasattr(X, "tocsr") else (X * X).sum(axis=1)
    if kernel == "poly":
        squares = (p["gamma"] * squares + p["coef0"]) ** p["degree"]
    return np.asarray(squares + one, dtype=np.float64)


def found_for(learner: Learner, X: Any, y: Any) -> Iterator[Predictor]:
    """Averages of several passes with the learner's own losses, cautious and bold ones."""
    for other in _others(learner, X, y):
        weights = np.asarray(other.weights, dtype=np.float64)
        if learner.task == "ordinal":
            yield Predictor(weights, np.sort(np.asarray(other.thresholds)))
        elif learner.task == "uniclass":
            yield Predictor(weights, np.asarray([other.radius]))
        else:
            yield Predictor(weights, np.atleast_1d(np.asarray(other.intercept, dtype=np.float64)))


def _others(learner: Learner, X: Any, y: Any) -> Iterator[Learner]:
    from ..learner import Learner

    p = learner.parameters
    kept = ("margin", "selection", "beta", "cost", "nu", "epsilon", "radius", "max_radius", "fit_intercept",
            "threshold", "sort_thresholds", "hash_bits", "max_features", "at_max_features", "max_weights", "kernel",
            "degree", "gamma", "coef0", "max_cache")  # fmt: skip
    options = {name: p[name] for name in kept}
    if len(learner.labels.known) > 1:
        options["classes"] = learner.labels.known
    if p["step"] == "perceptron" and p["selection"] == "uniform":
        options["selection"] = "simproj"
    largest = max(learner.statistics.largest_q, 1e-12)
    for C in CS:
        other = Learner(learner.task, step="pa1", C=C / largest, average=True, **options)
        for _ in range(PASSES):
            other.learn_rows(columns.unnamed(other, X), y, repeats=True)
        yield other
