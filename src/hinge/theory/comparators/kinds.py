"""The kinds of predictors: one class each, with one interface. `charge` says what each round of a batch costs a fixed
predictor of the kind, by its scores; `suffered` sums that up for the theorems.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...tasks import growth
from .comparator import Comparator

if TYPE_CHECKING:
    from ...learner import Learner

Vector = NDArray[np.float64]
SELECTIONS = ("max", "prediction", "simperc", "conproj", "simproj", "mira", "uniform")
ORDINAL_SELECTIONS = ("max", "simperc", "conproj", "simproj", "uniform")
SEARCHES = ("prediction", "max", "max-additive")


class Charge(NamedTuple):
    """What the rounds of a batch cost u."""

    losses: Vector
    discrepancies: Vector
    rows: NDArray[np.int64] | None = None  # how many constraints each round has; None: one
    largest_cost: float = 0.0
    obstacle: str = ""


@dataclass(frozen=True)
class Place:
    """Where u is."""

    distance2: float  # from the start of the learner
    norm2: float
    from_zero: bool = True
    start_norm: float = 0.0

    @classmethod
    def of(cls, u: Vector, start: Vector | None = None) -> Place:
        if start is None:
            return cls.at(float((u**2).sum()))
        start_norm = math.sqrt((start**2).sum())
        return cls(float(((u - start) ** 2).sum()), float((u**2).sum()), not start.any(), start_norm)

    @classmethod
    def at(cls, norm2: float) -> Place:
        """The learner started at zero."""
        return cls(norm2, norm2)


class Kind:
    """One constraint per round, unless a class says otherwise."""

    name: str
    insensitivity: float
    selection = "only"
    nu: Vector = np.ones(1)
    cost_unit = 1.0
    scales: tuple[float, ...] | None = None  # of the comparators that are tried; None: the usual ones
    indices = False  # whether targets are indices of labels
    options: tuple[str, ...] = ()  # of the learner that the losses depend on
    has_intercept = True
    has_labels = False
    fixed_size = False  # whether q is 1 for every example
    largest_error = 1.0  # what no error can exceed, as the command line counts it
    has_open_bound = True  # whether a bound can be written down with u left open

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Kind:
        """That of a predictor, with the losses of the learner. `extra`: see `extra_of`."""
        raise NotImplementedError

    @classmethod
    def with_options(cls, weights: Vector, extra: Vector, options: Mapping[str, Any]) -> Kind:
        """The same by options, of which some may be missing."""
        return cls(**{name: options[name] for name in cls.options if options.get(name) is not None})

    # ---- weights --------------------------------------------------------------------------------------------------

    def whole(self, weights: Any, extra: Any) -> Vector:
        """The weights with the intercepts at their end: the coordinates that have a covariance, if there is one."""
        return np.append(np.asarray(weights, dtype=np.float64), extra)

    def thresholds(self, extra: Vector) -> Vector:
        """The coordinates that have none."""
        return extra[:0]

    # ---- scores ---------------------------------------------------------------------------------------------------

    def scores(self, X: Any, weights: Vector, extra: Vector) -> Vector:
        """Those of fixed weights. An empty `extra` is no intercept."""
        scores = np.asarray(X @ weights, dtype=np.float64)
        return scores + extra[0] if len(extra) else scores

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        """The same by what `Learner.lanes_of` says of the rows; `unseen` are the squares of features without a
        column."""
        return np.asarray(lanes.reshape(len(lanes), -1)[:, 0])

    def products(self, lanes: Vector, extra: Vector) -> Vector:
        """w.x of each lane."""
        return lanes

    @staticmethod
    def extra_of(learner: Learner) -> Vector:
        """What a learner has besides its weights: intercepts, thresholds, or the radius."""
        return np.atleast_1d(np.asarray(learner.intercept, dtype=np.float64))

    @staticmethod
    def in_order(extra: Vector) -> Vector:
        """Averages of thresholds may cross."""
        return extra

    @staticmethod
    def default_extra(learner: Learner) -> Vector:
        """That of a comparator of which nothing is said."""
        return np.zeros(1)

    # ---- what is suffered -----------------------------------------------------------------------------------------

    def charge(self, scores: Vector, targets: Any) -> Charge:
        raise NotImplementedError

    def sizes(self, q: Any) -> Any:
        """The squared size of a constraint, by that of the instance."""
        return q

    def place(self, place: Place) -> Place:
        """Where u is, with the coordinates that only this kind has."""
        return place

    def suffered(
        self, charge: Charge, largest_q: Vector, place: Place, smallest_q: Vector | None = None
    ) -> Comparator:
        """Rounds without constraints (no label is relevant, or all) count as rounds and as nothing else."""
        rows = np.ones(len(charge.losses), dtype=np.int64) if charge.rows is None else charge.rows
        asked, place = rows > 0, self.place(place)
        losses, smallest = charge.losses[asked], largest_q if smallest_q is None else smallest_q
        return Comparator(
            **self._constants(),
            rounds=len(rows),
            distance2=place.distance2,
            from_zero=place.from_zero,
            loss=math.fsum(losses),
            squared_loss=math.fsum(losses**2),
            largest_discrepancy=float(charge.discrepancies[asked].max()) if asked.any() else self.insensitivity,
            largest_q=float(largest_q[asked].max(initial=0.0)),
            smallest_q=float(smallest[asked].min()) if asked.any() else 0.0,
            norm2=place.norm2,
            start_norm=place.start_norm,
            most_rows=int(rows.max(initial=0)),
            largest_cost=charge.largest_cost,
            obstacle=charge.obstacle,
        )  # fmt: skip

    def _constants(self) -> dict[str, Any]:
        nu = self.nu if len(self.nu) else np.ones(1)  # of one label alone
        return {
            "kind": self.name,
            "selection": self.selection,
            "insensitivity": float(self.insensitivity),
            "smallest_nu": float(nu.min()),
            "largest_nu": float(nu.max()),
            "cost_unit": self.cost_unit,
        }

    # ---- with u left open -----------------------------------------------------------------------------------------

    def open(self, statistics: Any, distance2: float, loss: float, squared_loss: float) -> Comparator:
        """A comparator of which no more is known than how far it is, and what it suffered."""
        most_rows, largest_cost = self.at_most()
        return Comparator(
            **self._constants(),
            rounds=statistics.rounds,
            distance2=distance2,
            from_zero=True,
            loss=loss,
            squared_loss=squared_loss,
            largest_discrepancy=math.inf if loss or squared_loss else -math.inf,
            largest_q=statistics.largest_q,
            smallest_q=0.0,
            norm2=distance2,
            most_rows=most_rows,
            largest_cost=largest_cost,
        )

    def at_most(self) -> tuple[int, float]:
        """How many constraints a round can have, and what a prediction can cost."""
        return 1, 0.0

    def error_bound(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """A guarantee as a bound of the error, as the command line counts it."""
        return guaranteed / rounds if quantity == "mistakes" else math.inf


class Signs(Kind):
    """Two classes: y is -1 or +1."""

    name = "classification"
    has_labels = True
    options = ("margin",)

    def __init__(self, margin: float = 1.0) -> None:
        self.insensitivity = -margin

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Signs:
        return cls(learner.parameters["margin"])

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

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Numbers:
        return cls(learner.parameters["epsilon"])

    def charge(self, scores: Vector, targets: Any) -> Charge:
        discrepancies = np.abs(targets - scores)
        return Charge(np.maximum(0.0, discrepancies - self.insensitivity), discrepancies)

    def error_bound(self, quantity: str, guaranteed: float, rounds: int) -> float:
        """The mean absolute error, by Cauchy-Schwarz."""
        if quantity != "squared loss":
            return math.inf
        return float(self.insensitivity + math.sqrt(guaranteed / rounds))


class Ball(Kind):
    """Its scores are the distances from the centre. With `max_radius` (S7) the ball is the point (u, height) at the
    depth max_radius, and w_1 is at the height max_radius."""

    name = "uniclass"
    scales = (1.0,)
    has_intercept = False
    fixed_size = True
    has_open_bound = False  # it starts at the first example

    def __init__(self, radius: float = 1.0, max_radius: float | None = None) -> None:
        if max_radius is not None and not 0 <= radius <= max_radius:
            raise ValueError(f"radius is {radius}; it must be from 0 to max_radius = {max_radius}")
        self.radius, self.max_radius = radius, max_radius
        self.insensitivity = radius if max_radius is None else max_radius
        self.height = 0.0 if max_radius is None else math.sqrt((max_radius - radius) * (max_radius + radius))

    def whole(self, weights: Any, extra: Any) -> Vector:
        return np.asarray(weights, dtype=np.float64)

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Ball:
        largest = learner.parameters["max_radius"]
        if largest is None:
            return cls(float(learner.parameters["radius"]))
        return cls(float(extra[0]) if len(extra) else largest, largest)

    def scores(self, X: Any, weights: Vector, extra: Vector) -> Vector:
        """|x - u| of each row; sparse rows become dense a few at a time, to subtract without cancellation."""
        distances = np.zeros(X.shape[0])
        for begin in range(0, X.shape[0], 256):
            distances[begin : begin + 256] = np.linalg.norm(dense(X[begin : begin + 256]) - weights, axis=1)
        return distances

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        """To a ball, features without a column are distance; a kernel has seen them already."""
        if unseen is None or learner.parameters["kernel"] is not None:
            return lanes
        return np.asarray(np.hypot(lanes, np.sqrt(unseen)))

    @staticmethod
    def extra_of(learner: Learner) -> Vector:
        return np.asarray([learner.radius])

    @staticmethod
    def default_extra(learner: Learner) -> Vector:
        return np.zeros(0)

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
    """A score for each label: those that are relevant must lead. With a cost, the one that is right must lead by the
    root of what it costs to take another one for it. Targets: labels 0..k-1, sets of them, or an indicator matrix. A
    score of -inf is that of a label that was still to come."""

    indices = True
    has_labels = True
    options = ("selection", "margin", "beta", "cost", "nu")

    def __init__(
        self,
        labels: int,
        selection: str = "max",
        margin: float = 1.0,
        beta: float = 0.01,
        cost: ArrayLike | None = None,
        nu: ArrayLike | None = None,
        sets: bool = True,
    ) -> None:
        if selection not in SELECTIONS:
            raise ValueError(f"selection is {selection!r}; it can be {', '.join(SELECTIONS)}")
        margin = beta if selection == "mira" else margin
        self.labels, self.selection, self.margin, self.sets = labels, selection, margin, sets
        self.weights = np.ones((labels, labels)) if nu is None else np.asarray(nu, dtype=np.float64)
        if self.weights.shape != (labels, labels):
            raise ValueError(f"nu has the shape {self.weights.shape}; it must be {(labels, labels)}")
        self.nu = self.weights[~np.eye(labels, dtype=bool)]
        self.weighted = nu is not None
        self.cost = None if cost is None else np.asarray(cost, dtype=np.float64)
        self.name = "ranking" if cost is None else "cost"
        self.insensitivity = -margin if cost is None else 0.0
        if cost is not None and (selection not in ("max", "prediction") or margin != 1):
            raise ValueError("a cost is for the selections max and prediction, and is the squared margin")

    @classmethod
    def with_options(cls, weights: Vector, extra: Vector, options: Mapping[str, Any]) -> Labels:
        given = {name: options[name] for name in cls.options if options.get(name) is not None}
        return cls(len(weights), **given)

    def whole(self, weights: Any, extra: Any) -> Vector:
        weights = np.asarray(weights, dtype=np.float64)
        return np.column_stack([weights, extra]) if len(extra) else weights

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Labels:
        p, k = learner.parameters, len(learner.labels.known)
        options = growth.engine_options(learner.task, p, learner.labels)
        square = {
            name: None if options[name] is None else options[name].reshape(k, k) for name in ("cost", "nu")
        }
        sets = KINDS[learner.task] is Labels
        return cls(k, p["selection"], p["margin"], options["beta"], **square, sets=sets)

    def scores(self, X: Any, weights: Vector, extra: Vector) -> Vector:
        scores = np.asarray(X @ weights.T, dtype=np.float64)
        return scores + extra if len(extra) else scores

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        return np.asarray(lanes.reshape(len(lanes), -1)[:, learner._beside :])

    @staticmethod
    def default_extra(learner: Learner) -> Vector:
        return np.zeros(len(learner.labels.known))

    def sizes(self, q: Any) -> Any:
        return 2 * q

    def at_most(self) -> tuple[int, float]:
        rows = self.labels**2 // 4 if self.sets else self.labels - 1
        return rows, 0.0 if self.cost is None else float(self.cost.max())

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


class Prototypes(Labels):
    """One vector of weights, and features that depend on the label."""

    has_open_bound = False


class Ranks(Kind):
    """Ranks 0..k-1: the scores are w.x less each of the k-1 thresholds."""

    name = "ordinal"
    has_labels = True
    indices = True
    has_intercept = False
    options = ("selection", "margin", "nu", "sort_thresholds")

    def __init__(
        self,
        thresholds: int,
        selection: str = "simproj",
        margin: float = 1.0,
        nu: ArrayLike | None = None,
        sort_thresholds: bool | None = None,
    ) -> None:
        if selection not in ORDINAL_SELECTIONS:
            raise ValueError(f"selection is {selection!r}; it can be {', '.join(ORDINAL_SELECTIONS)}")
        self.selection, self.margin, self.insensitivity = selection, margin, -margin
        self.nu = np.ones(thresholds) if nu is None else np.asarray(nu, dtype=np.float64).reshape(-1)
        if len(self.nu) != thresholds:
            raise ValueError(f"nu has {len(self.nu)} weights for {thresholds} thresholds")
        self.sorts = selection != "simproj" if sort_thresholds is None else sort_thresholds
        self.between = thresholds
        self.largest_error = float(thresholds)

    @classmethod
    def with_options(cls, weights: Vector, extra: Vector, options: Mapping[str, Any]) -> Ranks:
        given = {name: options[name] for name in cls.options if options.get(name) is not None}
        return cls(len(extra), **given)

    def whole(self, weights: Any, extra: Any) -> Vector:
        return np.asarray(weights, dtype=np.float64)

    def thresholds(self, extra: Vector) -> Vector:
        return extra

    @classmethod
    def of(cls, learner: Learner, extra: Vector) -> Ranks:
        p = learner.parameters
        nu = growth.nu_of(learner.task, p["nu"], learner.labels)
        thresholds = len(learner.labels.known) - 1
        return cls(thresholds, p["selection"], p["margin"], nu, p["sort_thresholds"])

    def scores(self, X: Any, weights: Vector, extra: Vector) -> Vector:
        return np.asarray(np.asarray(X @ weights, dtype=np.float64)[:, None] - extra)

    def scores_of(self, learner: Learner, lanes: Vector, unseen: Vector | None) -> Vector:
        return lanes.reshape(len(lanes), -1)

    @staticmethod
    def extra_of(learner: Learner) -> Vector:
        return np.asarray(learner.thresholds, dtype=np.float64)

    @staticmethod
    def in_order(extra: Vector) -> Vector:
        return np.sort(extra)

    @staticmethod
    def default_extra(learner: Learner) -> Vector:
        raise ValueError("intercept must be the thresholds of the comparator")

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
        """A mistake is off by all the other ranks at most."""
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
    "multilabel": Labels,
    "ordinal": Ranks,
    "prototype": Prototypes,
}


def kind_of(learner: Learner) -> type[Kind]:
    """Two classes have one score for both, more have one each."""
    return Labels if learner.many_scores else KINDS[learner.task]


def targets_of(learner: Learner, y: Any, count: int) -> Any:
    """As `charge` takes them: signs, numbers, indices of labels, or a matrix of 0 and 1."""
    encoded = growth.encoded(learner.task, learner.labels, y, count, None)
    if encoded.y is None:
        return None
    indices = kind_of(learner).indices
    if encoded.starts is not None:
        relevant = np.zeros((count, len(learner.labels.known)))
        starts, codes = np.asarray(encoded.starts), np.asarray(encoded.y, dtype=np.int64)
        relevant[np.repeat(np.arange(count), np.diff(starts)), codes] = 1.0
        return relevant
    if encoded.classes is not None:  # labels as they are, to be found among the classes
        codes = np.searchsorted(np.asarray(encoded.classes), np.asarray(encoded.y, dtype=np.float64))
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


def dense(X: Any) -> Vector:
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)


def squared_norms(X: Any) -> Vector:
    squares = X.multiply(X).sum(axis=1) if hasattr(X, "multiply") else (X * X).sum(axis=1)
    return np.asarray(squares, dtype=np.float64).reshape(-1)


def _slacks(losses: Vector, nu: Vector) -> Vector:
    """loss/nu, and 0/0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(losses > 0, losses / nu, 0.0)


def _loss_without_nu(losses: Vector) -> str:
    finite = np.isfinite(losses).all()
    return "" if finite else "it needs a comparator without loss on the constraints of nu = 0"
