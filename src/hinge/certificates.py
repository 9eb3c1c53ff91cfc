"""`certificate`: what a learner suffered on a stream, and what its theorems guaranteed, in words and in numbers.

A theorem speaks of every comparator u, a fixed predictor of the same kind. One may be given; else some are found: the
averages of several passes over the same data with different C, each at several scales, and every theorem gets the one
that makes it guarantee the most. What does not apply is in the list with the reason: that is not a failure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import growth
from .bounds import Comparator, Guarantee, Vector, comparator, guarantees
from .kernels import beta_of

if TYPE_CHECKING:
    from .learner import Learner

SCALES = (0.05, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.5, 4.0)  # of what was found
PASSES = 5
CS = (0.01, 0.1, 1.0)  # over the largest q


@dataclass(frozen=True)
class Certificate:
    """Every theorem for the learner, on the stream that it was given."""

    guarantees: tuple[Guarantee, ...]
    against: str  # which comparators
    reason: str = ""  # why there is no theorem at all

    @property
    def applicable(self) -> list[Guarantee]:
        return [one for one in self.guarantees if one.applicable]

    @property
    def holds(self) -> bool:
        """Whether every guarantee that applies was kept. True if none applies."""
        return all(one.holds for one in self.guarantees)

    @property
    def tightest(self) -> Guarantee | None:
        """Of those about mistakes or losses, the one whose guarantee is nearest to what was suffered."""
        losses = ("mistakes", "updates", "cost", "squared loss", "loss")
        about = [g for g in self.applicable if g.quantity in losses] or self.applicable
        rounded = [(round(g.suffered / g.guaranteed, 9) if g.guaranteed > 0 else 1.0, g) for g in about]
        return max(rounded, key=lambda pair: pair[0])[1] if rounded else None

    def __str__(self) -> str:
        if self.reason:
            return f"Nothing is guaranteed: {self.reason}."
        best = self.tightest
        if best is None:
            why = "; ".join(dict.fromkeys(one.reason for one in self.guarantees)) or "no theorem is known"
            return f"Nothing is guaranteed against {self.against}: {why}."
        return f"Against {self.against}: {best}"


def strongest(
    step: str, statistics: Any, comparators: Iterable[Comparator], *, C: float = 1.0, beta: float = 0.0
) -> list[Guarantee]:
    """Each theorem with the comparator that makes it guarantee the most."""
    best: dict[tuple[str, str], Guarantee] = {}
    # By loss: where a theorem applies to none, the reason given is that of the most hopeful one.
    for u in sorted(comparators, key=lambda u: u.loss):
        for found in guarantees(step, statistics, u, C=C, beta=beta):
            key = found.theorem, found.quantity
            if key not in best or found.guaranteed < best[key].guaranteed:
                best[key] = found
    return list(best.values())


@dataclass(frozen=True)
class Predictor:
    """A fixed one: weights (many labels: a row each), and an intercept each; ranks: thresholds."""

    weights: Vector
    beside: Vector  # intercepts or thresholds; empty without

    def times(self, scale: float) -> Predictor:
        return Predictor(scale * self.weights, scale * self.beside)


def certificate(learner: Learner, X: Any, y: Any = None, u: Any = None, beside: Any = None) -> Certificate:
    """What `learner` suffered, and what was guaranteed: it has learned the rows of X with their targets y once, in
    their order, without weights. `u` are the weights of a comparator, `beside` its intercepts or thresholds;
    None finds some.
    """
    reason = _obstacle(learner, X)
    if reason:
        return Certificate((), "", reason)
    targets = None if learner.task == "uniclass" else _targets(learner, y, X.shape[0])
    if u is not None:
        given = np.asarray(u, dtype=np.float64)
        its = np.atleast_1d(np.asarray(0.0 if beside is None else beside, dtype=np.float64))
        predictors: list[Predictor] = [Predictor(given, its)]
        against = "the comparator that was given"
    else:
        predictors = list(_found(learner, X, y))
        scales = (1.0,) if learner.task == "uniclass" else SCALES
        predictors = [one.times(scale) for one in predictors for scale in scales]
        against = "averages of several passes over the same data"
    p = learner.parameters
    comparators = [_compared(learner, X, targets, one) for one in predictors]
    beta = beta_of(p) if p["step"] == "perceptron" else 0.0
    found = strongest(p["step"], learner.statistics, comparators, C=float(p["C"]), beta=beta)
    return Certificate(tuple(found), against)


def _obstacle(learner: Learner, X: Any) -> str:
    """Why there is no theorem for this learner on this stream; "" if there may be."""
    p = learner.parameters
    if learner.task not in ("classification", "regression", "uniclass", "multilabel", "ordinal"):
        return f"hinge.bounds_labels has the theorems for {learner.task}"
    if p["geometry"] != "euclidean":
        return f"hinge.bounds_geometries has the theorems for geometry={p['geometry']!r}"
    if p["kernel"] not in (None, "linear"):
        return "a comparator would be one in the space of the kernel"
    if p["budget"] is not None:
        return (
            "no theorem is known for steps on a budget (of the perceptron's cache: hinge.bounds.cache_bound)"
        )
    if p["step"] == "cw":
        return "there is no theorem for 'cw'"
    if p["class_weight"] is not None:
        return "the theorems are about examples without weights"
    if p["w1"] is not None and not isinstance(p["w1"], str):
        return "give hinge.bounds the start w1"
    rounds, rows = learner.statistics.rounds, int(X.shape[0])
    first = int(learner.task == "uniclass" and p["w1"] != "zero")
    if rounds != rows - first:
        return f"the learner has seen {rounds:,} rounds, and X has {rows:,} rows: it must be the whole stream, once"
    return ""


def _targets(learner: Learner, y: Any, count: int) -> Any:
    """As the comparators want them: signs, numbers, indices of labels, or a matrix of 0 and 1."""
    encoded = growth.encoded(learner.task, learner.labels, y, count, None)
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


def _compared(learner: Learner, X: Any, targets: Any, one: Predictor) -> Comparator:
    """What the predictor suffers, with the learner's own losses."""
    from .bounds_labels import label_comparator, ordinal_comparator

    p = learner.parameters
    fits = learner._has_intercept
    if learner.task == "ordinal":
        nu = growth.nu_of("ordinal", p["nu"], learner.labels)
        return ordinal_comparator(
            X, targets, one.weights, one.beside, selection=p["selection"], margin=p["margin"], nu=nu,
            sort_thresholds=p["sort_thresholds"],
        )  # fmt: skip
    if learner.many_scores:
        options = growth.engine_options(learner.task, p, learner.labels)
        k = len(learner.labels.known)
        square = {
            name: None if options[name] is None else options[name].reshape(k, k) for name in ("cost", "nu")
        }
        return label_comparator(
            X, targets, one.weights, intercepts=one.beside if fits else None, selection=p["selection"],
            margin=p["margin"], beta=options["beta"], **square,
        )  # fmt: skip
    options = {name: p[name] for name in ("margin", "epsilon", "radius", "max_radius")}
    start = p["w1"] if learner.task == "uniclass" else None
    if learner.task == "uniclass" and p["max_radius"] is not None:
        options["radius"] = float(one.beside[0]) if len(one.beside) else p["max_radius"]
    intercept = float(one.beside[0]) if fits and len(one.beside) else 0.0 if fits else None
    return comparator(learner.task, X, targets, one.weights, intercept=intercept, w1=start, **options)


def _found(learner: Learner, X: Any, y: Any) -> Iterator[Predictor]:
    """Averages of several passes with the learner's own losses, cautious and bold ones."""
    from .learner import Learner

    p = learner.parameters
    kept = ("margin", "selection", "beta", "cost", "nu", "epsilon", "radius", "max_radius", "fit_intercept",
            "threshold", "sort_thresholds", "hash_bits", "max_features")  # fmt: skip
    options = {name: p[name] for name in kept}
    if learner.task not in ("regression", "uniclass"):
        options["classes"] = learner.labels.known
    if p["step"] == "perceptron" and p["selection"] == "uniform":
        options["selection"] = "simproj"
    largest = max(learner.statistics.largest_q, 1e-12)
    for C in CS:
        other = Learner(learner.task, step="pa1", C=C / largest, average=True, **options)
        for _ in range(PASSES):
            other.learn(X, y)
        weights = np.asarray(other.weights, dtype=np.float64)
        if learner.task == "ordinal":
            yield Predictor(weights, np.sort(np.asarray(other.thresholds)))
        elif learner.task == "uniclass":
            yield Predictor(weights, np.asarray([other.radius]))
        else:
            yield Predictor(weights, np.atleast_1d(np.asarray(other.intercept, dtype=np.float64)))
