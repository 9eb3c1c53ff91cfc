"""The kinds of predictors, one class each: a vector for two classes or for numbers, a ball, labels, ranks, and
outputs that are searched. `KINDS` maps the tasks of learners to them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .kind import Charge, Kind, Place, Vector, dense

if TYPE_CHECKING:
    from ...learner import Learner

SELECTIONS = ("max", "prediction", "simperc", "conproj", "simproj", "mira", "uniform")
ORDINAL_SELECTIONS = ("max", "simperc", "conproj", "simproj", "uniform")
SEARCHES = ("prediction", "max", "max-additive")


class Signs(Kind):
    """Two classes: y is -1 or +1."""

    name = "classification"
    has_labels = True
    options = ("margin",)

    def __init__(self, margin: float = 1.0) -> None:
        self.insensitivity = -margin

    def charge(self, scores: Vector, targets: Any) -> Charge:
        if not np.isin(targets, (-1, 1)).all():
            raise ValueError("y must hold -1 and +1 only")
        discrepancies = -targets * scores
        return Charge(np.maximum(0.0, discrepancies - self.insensitivity), discrepancies)


class Numbers(Kind):
    name = "regression"
    options = ("epsilon",)
    largest_error = math.inf

    def __init__(self, epsilon: float = 0.1) -> None:
        self.insensitivity = epsilon

    def charge(self, scores: Vector, targets: Any) -> Charge:
        discrepancies = np.abs(targets - scores)
        return Charge(np.maximum(0.0, discrepancies - self.insensitivity), discrepancies)

    def error_bound(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """The mean absolute error: a loss is what exceeds epsilon. For squared losses by Cauchy-Schwarz."""
        if quantity not in ("loss", "squared loss"):
            return math.inf
        mean = guaranteed / rounds if quantity == "loss" else math.sqrt(guaranteed / rounds)
        return float(self.insensitivity + mean)


class Ball(Kind):
    """The scores are the distances from the centre. With `max_radius` (S7) the ball is the point (u, height); w_1 is
    at the height max_radius."""

    name = "uniclass"
    scales = (1.0,)
    extra = "radius"
    fixed_size = True
    has_open_bound = False  # it starts at the first example

    def __init__(self, radius: float = 1.0, max_radius: float | None = None) -> None:
        if max_radius is not None and not 0 <= radius <= max_radius:
            raise ValueError(f"radius is {radius}; it must be from 0 to max_radius = {max_radius}")
        self.radius, self.max_radius = radius, max_radius
        self.insensitivity = radius if max_radius is None else max_radius
        self.height = 0.0 if max_radius is None else math.sqrt((max_radius - radius) * (max_radius + radius))

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Ball:
        largest = learner.parameters["max_radius"]
        if largest is None:
            return cls(float(learner.parameters["radius"]))
        return cls(float(extra[0]) if len(extra) else largest, largest)

    def scores(self, X: Any, weights: Vector, extra: Vector) -> Vector:
        """|x - u| of each row. Sparse rows become dense in blocks, to subtract without cancellation."""
        distances = np.zeros(X.shape[0])
        for begin in range(0, X.shape[0], 256):
            distances[begin : begin + 256] = np.linalg.norm(dense(X[begin : begin + 256]) - weights, axis=1)
        return distances

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        """For a ball, features without a column add to the distance; kernels include them already."""
        if unseen is None or learner.parameters["kernel"] is not None:
            return lanes
        return np.asarray(np.hypot(lanes, np.sqrt(unseen)))

    def charge(self, scores: Vector, targets: Any) -> Charge:
        discrepancies = np.hypot(scores, self.height)
        return Charge(np.maximum(0.0, discrepancies - self.insensitivity), discrepancies)

    def sizes(self, q: Any) -> Any:
        return np.ones_like(q)

    def place(self, place: Place) -> Place:
        if self.max_radius is None:
            return place
        climbed = (self.radius * self.radius / (self.max_radius + self.height)) ** 2 if self.radius else 0.0
        return Place(place.distance2 + climbed, place.norm2, False, place.start_norm)


class Labels(Kind):
    """A score for each label: the relevant ones must lead. With a cost, the true label must lead by the root of the
    cost of each other label. Targets: labels 0..k-1, sets of them, or an indicator matrix. A
    label that comes later has the score -inf."""

    indices = True
    has_labels = True
    options = ("selection", "margin", "beta", "cost", "nu")

    def __init__(
        self,
        count: int,
        selection: str = "max",
        margin: float = 1.0,
        beta: float = 0.01,
        cost: ArrayLike | None = None,
        nu: ArrayLike | None = None,
    ) -> None:
        if selection not in SELECTIONS:
            raise ValueError(f"selection is {selection!r}; it can be {', '.join(SELECTIONS)}")
        margin = beta if selection == "mira" else margin
        self.labels, self.selection, self.margin, square = count, selection, margin, (count, count)
        self.weights = np.ones(square) if nu is None else np.asarray(nu, dtype=np.float64)
        if self.weights.shape != square:
            raise ValueError(f"nu has the shape {self.weights.shape}; it must be {square}")
        self.nu = self.weights[~np.eye(count, dtype=bool)]
        self.weighted = nu is not None
        self.cost = None if cost is None else np.asarray(cost, dtype=np.float64)
        self.name = "ranking" if cost is None else "cost"
        self.insensitivity = -margin if cost is None else 0.0
        if cost is not None and (selection not in ("max", "prediction") or margin != 1):
            raise ValueError("a cost is for the selections max and prediction, and is the squared margin")

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Labels:
        p, k = learner.parameters, len(learner.labels.known)
        options = learner._task.engine_options(p, learner.labels)
        square = {
            name: None if options[name] is None else options[name].reshape(k, k) for name in ("cost", "nu")
        }
        return cls(k, p["selection"], p["margin"], options["beta"], **square)

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        return np.asarray(lanes.reshape(len(lanes), -1)[:, learner._first_lane :])

    def sizes(self, q: Any) -> Any:
        return 2 * q

    def at_most(self) -> tuple[int, float]:
        return self.labels - 1, 0.0 if self.cost is None else float(self.cost.max())

    def charge(self, scores: Vector, targets: Any) -> Charge:
        relevant = relevant_labels(targets, *scores.shape)
        rows = relevant.sum(axis=1) * (~relevant & (scores > -np.inf)).sum(axis=1)
        if self.cost is not None:
            return self._charge_costs(scores, relevant, rows, self.cost)
        lowest = np.where(relevant, scores, np.inf).min(axis=1)
        highest = np.where(relevant, -np.inf, scores).max(axis=1)
        discrepancies = highest - lowest
        losses = np.maximum(0.0, discrepancies + self.margin)
        for t in np.flatnonzero(rows) if self.weighted else ():
            r, s = relevant[t], ~relevant[t]
            short = np.maximum(0.0, self.margin - (scores[t][r][:, None] - scores[t][s]))
            losses[t] = _slacks(short, self.weights[np.ix_(r, s)]).max()
        return Charge(losses, discrepancies, rows, obstacle=_loss_without_nu(losses[rows > 0]))

    def _charge_costs(
        self, scores: Vector, relevant: NDArray[np.bool_], rows: NDArray[np.int64], cost: Vector
    ) -> Charge:
        if cost.shape != (self.labels, self.labels) or (relevant.sum(axis=1) != 1).any():
            raise ValueError(
                f"a cost must have the shape {(self.labels, self.labels)} and needs one label per round"
            )
        truth = relevant.argmax(axis=1)
        wanted = scores - scores[np.arange(len(scores)), truth][:, None] + np.sqrt(cost[truth])
        discrepancies = np.where(relevant, -np.inf, wanted).max(axis=1)
        return Charge(
            np.maximum(0.0, discrepancies), discrepancies, rows, float(cost[truth].max(initial=0.0))
        )


class LabelSets(Labels):
    """Sets of labels."""

    def at_most(self) -> tuple[int, float]:
        return self.labels**2 // 4, 0.0


class Prototypes(Labels):
    """One vector of weights, and features that depend on the label."""

    has_open_bound = False


class Ranks(Kind):
    """Ranks 0..k-1: the scores are w.x minus each of the k-1 thresholds."""

    name = "ordinal"
    has_labels = True
    indices = True
    extra = "thresholds"
    has_thresholds = True
    options = ("selection", "margin", "nu", "sort_thresholds")

    def __init__(
        self,
        count: int,
        selection: str = "simproj",
        margin: float = 1.0,
        nu: ArrayLike | None = None,
        sort_thresholds: bool | None = None,
    ) -> None:
        if selection not in ORDINAL_SELECTIONS:
            raise ValueError(f"selection is {selection!r}; it can be {', '.join(ORDINAL_SELECTIONS)}")
        self.selection, self.margin, self.insensitivity = selection, margin, -margin
        self.nu = np.ones(count) if nu is None else np.asarray(nu, dtype=np.float64).reshape(-1)
        if len(self.nu) != count:
            raise ValueError(f"nu has {len(self.nu)} weights for {count} thresholds")
        self.sorts = selection != "simproj" if sort_thresholds is None else sort_thresholds
        self.between = count
        self.largest_error = float(count)

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Kind:
        nu = learner._task.nu(learner.parameters["nu"], learner.labels)
        return cls.with_options(extra, {**learner.parameters, "nu": nu})

    def scores(self, X: Any, weights: Vector, extra: Vector) -> Vector:
        return np.asarray(np.asarray(X @ weights, dtype=np.float64)[:, None] - extra)

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        return lanes.reshape(len(lanes), -1)

    def products(self, lanes: Vector, extra: Vector) -> Vector:
        return np.asarray(lanes[:, :1] + extra[0])

    def sizes(self, q: Any) -> Any:
        return q + 1.0

    def at_most(self) -> tuple[int, float]:
        return self.between, 0.0

    def charge(self, scores: Vector, targets: Any) -> Charge:
        count, ranks = len(scores), np.asarray(targets, dtype=np.int64).reshape(-1)
        if len(ranks) != count or (count and not 0 <= ranks.min() <= ranks.max() <= self.between):
            raise ValueError(f"y must hold a rank from 0 to {self.between} for each of the {count} rows of X")
        margins = np.where(np.arange(self.between) < ranks[:, None], 1.0, -1.0) * scores
        losses = _slacks(np.maximum(0.0, self.margin - margins), self.nu).max(axis=1, initial=0.0)
        obstacle = _loss_without_nu(losses)
        if self.sorts and bool((np.diff(scores[:1]) > 0).any()):
            obstacle = "the learner sorts its thresholds, and those of the comparator are not in order"
        rows = np.full(count, self.between)
        return Charge(losses, -margins.min(axis=1, initial=math.inf), rows, obstacle=obstacle)

    def error_bound(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """A mistake is off by at most `between` ranks."""
        return self.between * super().error_bound(quantity, guaranteed, rounds)


class Structures(Kind):
    """Outputs that are searched (J06 section 9). The scores are the losses of u themselves: see
    `structured_comparator`."""

    def __init__(
        self, selection: str, margin: float, perceptron: bool, smallest_cost: float, largest_cost: float
    ) -> None:
        if selection not in SEARCHES:
            raise ValueError(f"selection is {selection!r}; it can be {', '.join(SEARCHES)}")
        additive = selection == "max-additive"
        self.perceptron, self.selection = perceptron, "max" if additive else selection
        self.name = "ranking" if perceptron else "cost"
        self.asked = margin * (smallest_cost if additive else math.sqrt(smallest_cost)) if perceptron else 0.0
        self.insensitivity = -self.asked
        # l_t >= margin rho_t with costs, l_t >= margin sqrt(rho_t) with their roots.
        self.largest_cost = (1.0 if additive else largest_cost) / margin**2
        self.cost_unit = margin**2 * (smallest_cost if additive else 1.0)

    def charge(self, scores: Vector, targets: Any) -> Charge:
        obstacle = (
            "the perceptron moves on mistakes that cost nothing, too, and they ask no margin of a comparator"
            if self.perceptron and not self.asked
            else _loss_without_nu(scores)
        )
        return Charge(scores, scores - self.asked, None, self.largest_cost, obstacle)


KINDS: dict[str, type[Kind]] = {
    "classification": Signs,
    "regression": Numbers,
    "uniclass": Ball,
    "multilabel": LabelSets,
    "ordinal": Ranks,
    "prototype": Prototypes,
}


def kind_of(learner: Learner) -> type[Kind]:
    """Two classes share one score; more classes have one each."""
    kind = KINDS[learner.task]
    return Labels if learner.many_scores and not kind.indices else kind


def targets_of(learner: Learner, y: Any, count: int) -> Any:
    """The targets as `charge` reads them: signs, numbers, indices of labels, or a matrix of 0 and 1."""
    encoded = learner._task.encode(learner.labels, y, count, None)
    if encoded.y is None:
        return None
    indices = kind_of(learner).indices
    if encoded.starts is not None:
        relevant = np.zeros((count, len(learner.labels.known)))
        starts, codes = np.asarray(encoded.starts), np.asarray(encoded.y, dtype=np.int64)
        relevant[np.repeat(np.arange(count), np.diff(starts)), codes] = 1.0
        return relevant
    if encoded.classes is not None:  # labels: the negative class and the positive one
        codes = (np.asarray(encoded.y, dtype=np.float64) == encoded.classes[1]).astype(np.int64)
        return codes if indices else 2.0 * codes - 1
    targets = np.asarray(encoded.y, dtype=np.float64)
    return targets.astype(np.int64) if indices else targets


def relevant_labels(y: Any, rounds: int, k: int) -> NDArray[np.bool_]:
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


def _slacks(losses: Vector, nu: Vector) -> Vector:
    """loss/nu, and 0/0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(losses > 0, losses / nu, 0.0)


def _loss_without_nu(losses: Vector) -> str:
    finite = np.isfinite(losses).all()
    return "" if finite else "it needs a comparator without loss on the constraints of nu = 0"
