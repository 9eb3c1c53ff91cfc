"""Streams of one vector per example, in every geometry and in the space of a kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...data import sparse
from ...data.rows import Rows, is_frame, unseen_norms
from ...learner import Learner
from ...model.supports import beta_of, sees_unseen
from ...options.table import COVARIANCES
from ...tasks import growth
from ..certificate import (
    ANOTHER_RUN,
    BALL,
    FOUND,
    GIVEN,
    LEARNED,
    PASSES,
    SCALES,
    SCALES_OF_LEARNED,
    Certificate,
    Hindsight,
    cautious_and_bold,
    certify,
    same_run,
    whole_stream,
)
from ..comparators import entropy
from ..comparators.comparator import Comparator, joined
from ..comparators.covariance import Covariance
from ..comparators.kinds import Kind, Place, Vector, kind_of, squared_norms, targets_of

GREW = "the first two classes had one w, until a third one came, which no theorem covers"


def grew(learner: Learner) -> bool:
    """Whether labels came on the way."""
    first = growth.first_labels(learner.task, learner.parameters)
    return len(learner.labels.known) > len(first.known)


def grew_from_two(learner: Learner) -> bool:
    """Two classes share a w, and C means another thing to them: a third one makes another learner of it."""
    first = growth.first_labels(learner.task, learner.parameters)
    return learner.many_scores and not first.lanes


def starts_at_first(learner: Learner) -> bool:
    """Whether the first example is not a round, but the first centre of the ball."""
    p = learner.parameters
    return kind_of(learner).fixed_size and p["w1"] != "zero" and p["geometry"] != "entropy"


def no_theorem(learner: Learner) -> str:
    """Why there is none for this learner on any stream; "" if there may be one."""
    p = learner.parameters
    if p["budget"] is not None:
        return (
            "no theorem is known for steps on a budget (of the perceptron's cache: hinge.theory.cache_bound)"
        )
    if p["step"] == "cw":
        return "there is no theorem for 'cw'"
    if learner.radius_by_quantile:
        return "no theorem is about a radius by quantile: give a radius, or max_radius"
    if p["class_weight"] is not None:
        return "the theorems are about examples without weights"
    if p["w1"] is not None and not isinstance(p["w1"], str):
        return "give the start w1 to hinge.theory.comparator"
    if p["geometry"] == "entropy" and learner.feature_names and isinstance(learner.feature_names[0], str):
        return "features that came on the way took their share from the others, which no theorem covers"
    if p["geometry"] == "entropy" and learner._beside:
        return "a learned threshold takes its share from the ranking, which no theorem covers: give a number"
    if p["geometry"] == "entropy" and learner.many_scores and grew(learner):
        return (
            "labels that came on the way took their share from the others, which no theorem covers: name all "
            "of them ahead, classes=[...]"
        )
    if kind_of(learner).has_labels and not learner.labels.known:
        return "no label was ever learned"
    if grew_from_two(learner):
        return f"{GREW}: name all of them ahead, classes=[...]"
    return ""


# ---- predictors -------------------------------------------------------------------------------------------------


class Predictor:
    """A fixed one: weights (many labels: one row each), and what is besides: intercepts, thresholds, or the radius."""

    def __init__(self, learner: Learner, weights: Any, extra: Vector) -> None:
        self.weights, self.extra = np.asarray(weights, dtype=np.float64), extra
        self.kind = kind_of(learner).of(learner, extra)
        if self.kind.has_intercept and not learner._has_intercept:
            self.extra = extra[:0]
        self.whole = self.kind.whole(self.weights, self.extra)
        self.thresholds = self.kind.thresholds(self.extra)
        self.norm2 = float((self.whole**2).sum() + (self.thresholds**2).sum())

    def scores(self, X: Any, rows: Rows, unseen: Vector | None) -> Vector:
        return self.kind.scores(X, self.weights, self.extra)


class Learned(Predictor):
    """That of a learner (the average, if it has one), by what the core says of rows."""

    def __init__(self, learner: Learner, other: Learner) -> None:
        self.other = other
        if other.parameters["kernel"] is None:
            super().__init__(learner, other.weights, kind_of(learner).extra_of(other))
        else:
            self.kind = kind_of(learner).of(learner, kind_of(learner).extra_of(other))
        self.norm2 = squared_length(other)

    def scores(self, X: Any, rows: Rows, unseen: Vector | None) -> Vector:
        sees = sees_unseen(self.other.task, self.other.parameters["kernel"])
        lanes = np.asarray(self.other.lanes_of(rows, unseen if sees else None))
        return self.kind.scores_of(self.other, lanes, unseen)


def squared_length(learner: Learner) -> float:
    """|u|^2 of its weights (the average, if it has one), with the intercepts or thresholds."""
    kind = kind_of(learner)
    extra = kind.extra_of(learner)
    made = kind.of(learner, extra)
    beside = float(np.square(made.thresholds(extra)).sum())
    if learner.parameters["kernel"] is None:
        if made.has_intercept and learner._has_intercept:
            beside += float(np.square(extra).sum())
        return float(np.square(learner.weights, dtype=np.float64).sum()) + beside
    supports, first = learner.supports, learner._beside  # in a kernel, an intercept is a part of w
    coefficients = supports.coefficients[:, first:]
    if not len(coefficients):
        return beside
    lanes = np.asarray(learner.lanes(supports.vectors)).reshape(len(coefficients), -1)
    if made.fixed_size:  # |x - u|^2 = K(x, x) - 2 u.x + |u|^2, to be solved for |u|^2
        sizes = sizes_in_kernel(learner, supports.vectors)
        total = float(coefficients[:, 0] @ (sizes - lanes[:, 0] ** 2))
        return max(0.0, total / (2 - float(coefficients.sum())))
    scores = made.products(lanes, extra)
    return max(0.0, float((coefficients * scores[:, first:]).sum())) + beside


def sizes_in_kernel(learner: Learner, X: Any) -> Vector:
    """K(x, x) of each row, with the constant feature of an intercept; without a kernel |x|^2."""
    p = learner.parameters
    kernel, one = p["kernel"], float(learner._has_intercept)
    if kernel == "rbf":
        return np.full(X.shape[0], 1.0 + one)
    if callable(kernel):
        sizes = [float(np.asarray(kernel(X[i : i + 1], X[i : i + 1])).ravel()[0]) for i in range(X.shape[0])]
        return np.asarray(sizes) + one
    squares = squared_norms(X)
    if kernel == "poly":
        squares = (p["gamma"] * squares + p["coef0"]) ** p["degree"]
    return np.asarray(squares + one, dtype=np.float64)


# ---- what they suffer -------------------------------------------------------------------------------------------


class Charged:
    """A predictor and its multiples, with what they have suffered so far."""

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


class OfRows(Hindsight):
    """By rows of numbers: an array or a CSR matrix, whose sizes are measured; or `Rows` of a stream, whose sizes only
    the learner knows.

    Without a covariance the run is made again only if `verify`.
    """

    def __init__(
        self,
        learner: Learner,
        predictors: Iterable[Predictor],
        against: str,
        scales: tuple[float, ...] = SCALES,
        verify: bool = True,
    ) -> None:
        super().__init__(learner, against)
        self.geometry = learner.parameters["geometry"]
        self.simplex = Simplex(learner) if self.geometry == "entropy" else None
        if self.simplex is not None:
            predictors = [
                _onto_simplex(learner, one, scale) for one in predictors for scale in one.kind.scales or scales
            ]  # fmt: skip
            scales = (1.0,)
        self.charged = [Charged(one, scales) for one in predictors]
        self.kind: Kind = self.charged[0].kind
        self.largest_error = self.kind.largest_error
        self.first = starts_at_first(learner)  # whether the first example is still to come
        self.measured = True
        self.run = Followed(learner, self.charged) if self.geometry in COVARIANCES else None
        self.again = self.run.again if self.run is not None else _again(learner) if verify else None

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        learner, self.measured = self.learner, not isinstance(X, Rows)
        rows = learner._unnamed_rows(X) if self.measured else X
        targets = targets_of(learner, y, rows.count)
        concerned = None if self.run is None else self.run.see(rows, y)
        if self.again is not None and self.run is None:
            self.again.learn_rows(rows, y)
        q = sizes_in_kernel(learner, X) if self.measured else np.full(rows.count, math.nan)
        if self.simplex is not None:
            self.simplex.see(X)
        for one in self.charged:
            scores = one.predictor.scores(X, rows, unseen)
            if self.first:
                one.start2 = float(scores[0]) ** 2
            one.charge(scores[self.first :], targets, one.kind.sizes(q[self.first :]), concerned)
        self.first = False

    @property
    def beta(self) -> float:
        p = self.learner.parameters
        return beta_of(p) if p["step"] == "perceptron" else 0.0

    def comparators(self, statistics: Any) -> list[Comparator]:
        made = []
        for one in self.charged:
            for place, (scale, suffered) in enumerate(zip(one.scales, one.sums, strict=True)):
                assert suffered is not None
                if self.run is not None:
                    suffered = self.run.measured(suffered, one, scale, one.update_losses[place])
                elif self.simplex is not None:
                    suffered = self.simplex.measured(suffered, one.predictor, statistics)
                elif not self.measured and not one.kind.fixed_size:
                    suffered = replace(suffered, largest_q=statistics.largest_q, smallest_q=math.nan)
                made.append(suffered)
        return made

    def other_run(self) -> str:
        if self.again is None or same_run(self.learner.statistics, self.again.statistics):
            return ""
        if self.run is not None and self.learner.many_scores and grew(self.learner):
            return "with a covariance all labels must be named ahead, classes=[...]"
        return ANOTHER_RUN

    def as_error(self, quantity: str, guaranteed: float, rounds: int) -> float:
        return self.kind.error_bound(quantity, guaranteed, rounds)


def _again(learner: Learner, ahead: bool = False) -> Learner:
    """A learner with the same options. `ahead`: it knows the labels from the start, so that no sign ever changes."""
    known = learner.labels.known
    if ahead and len(known) > 1:
        return Learner(learner.task, **{**learner.parameters, "classes": known})
    again = Learner(learner.task, **learner.parameters)
    again.closed = learner.closed
    return again


class Followed:
    """The run of a learner with a covariance, made again: a comparator is measured from its vectors.

    Of s u the distance is |s u|^2/a + Q(s u), and Q is a polynomial of s, of which the coefficients are summed up.
    """

    def __init__(self, learner: Learner, charged: list[Charged]) -> None:
        self.again, self.charged = _again(learner, ahead=True), charged
        self.covariance = Covariance(learner.parameters)
        self.spared = 0  # updates without a mistake

    def see(self, rows: Rows, y: Any) -> list[int]:
        """Learns the rows; returns those with an update or a mistake."""
        concerned = []
        for i in range(rows.count):
            before, one = self.again.statistics, _row(rows, i)
            self.again.learn_rows(one, y[i : i + 1])
            after = self.again.statistics
            updated, mistaken = after.updates > before.updates, after.mistakes > before.mistakes
            if updated:
                self._add(one)
            if updated or mistaken:
                concerned.append(i)
                self.spared += not mistaken
        return concerned

    def _add(self, one: Rows) -> None:
        """What an update adds to Q: (w - s u)'(A_t - A_(t-1))(w - s u), w after it."""
        columns, z = self._features(one)
        update = self.covariance.update(columns, z)
        extra = np.atleast_1d(self.again.last_intercept) if self.again._has_intercept else ()
        w = np.atleast_2d(self.charged[0].kind.whole(self.again.last_weights, extra))[:, columns]
        for each in self.charged:
            each.terms += update.terms(w, np.atleast_2d(each.predictor.whole)[:, columns])

    def _features(self, one: Rows) -> tuple[list[int], Vector]:
        """The columns of a row that are not 0; that of the intercept, which is the last one, is -1."""
        if one.indptr is None:
            columns = np.flatnonzero(one.arrays[0][0])
            found = zip(columns.tolist(), one.arrays[0][0][columns].tolist(), strict=True)
        else:
            found = zip(one.arrays[1].tolist(), one.arrays[0].tolist(), strict=True)
        sums: dict[int, float] = {}  # hashed names may share a column
        for column, value in found:
            sums[column] = sums.get(column, 0.0) + value
        if self.again._has_intercept:
            sums[-1] = 1.0
        return list(sums), np.fromiter(sums.values(), dtype=np.float64)

    def measured(self, c: Comparator, one: Charged, scale: float, update_loss: float) -> Comparator:
        whole2, full = float((one.predictor.whole**2).sum()), self.covariance.full
        return self.covariance.measured(
            c,
            largest_q=self.covariance.largest_size(one.kind),
            Q=float(one.terms @ (1.0, -2 * scale, scale * scale)),
            weights2=scale * scale * whole2,
            seen=scale * scale * float(one.terms[2]) * self.covariance.regularizer if full else 0.0,
            spared=self.spared,
            update_loss=update_loss,
        )


def _row(rows: Rows, i: int) -> Rows:
    if rows.indptr is None:
        return Rows(rows.arrays[0][i : i + 1])
    values, columns, starts, width = rows.arrays
    its = slice(starts[i], starts[i + 1])
    return Rows(values[its], columns[its], starts[i : i + 2] - starts[i], width)


class Simplex:
    """The sizes of rows, and the distances of comparators, in the entropy geometry."""

    def __init__(self, learner: Learner) -> None:
        p, indices = learner.parameters, kind_of(learner).indices
        self.scale, self.signed = float(p["scale"]), bool(p["signed"]) or indices
        self.step = "range" if indices else p["entropy_step"]
        self.intercept = learner._has_intercept or not kind_of(learner).has_intercept
        self.q: list[Vector] = []

    def see(self, X: Any) -> None:
        self.q.append(entropy.sizes(X, self.intercept, self.scale, self.signed, self.step))

    def measured(self, c: Comparator, predictor: Predictor, statistics: Any) -> Comparator:
        ball = predictor.kind.fixed_size  # the size of a step depends on the run
        q = np.array([statistics.largest_q]) if ball else np.concatenate(self.q)
        whole = np.append(predictor.whole, predictor.thresholds)
        return entropy.on_simplex(c, whole, q, scale=self.scale, signed=self.signed)


def _onto_simplex(learner: Learner, one: Predictor, scale: float) -> Predictor:
    """Weights whose sizes add up to more than the option `scale` are made smaller."""
    p, weights, extra = learner.parameters, scale * one.weights, scale * one.extra
    size = scale * float(np.abs(one.whole).sum() + np.abs(one.thresholds).sum())
    factor = 1.0
    if p["signed"] and size > 0:
        factor = min(1.0, 0.999 * p["scale"] / size)
    elif size > 0:  # a distribution
        weights, extra = np.maximum(weights, 0.0), np.maximum(extra, 0.0)
        share = float(one.kind.whole(weights, extra).sum())
        factor = p["scale"] / share if share > 0 else 0.0
    return Predictor(learner, factor * weights, factor * extra)


# ---- certificates -----------------------------------------------------------------------------------------------


def of_learned(learner: Learner) -> OfRows:
    """By multiples of what was learned in the end. Its stream is read again as it was."""
    against = BALL if kind_of(learner).fixed_size else LEARNED
    return OfRows(learner, [Learned(learner, learner)], against, SCALES_OF_LEARNED, verify=False)


def certificate(learner: Learner, X: Any, y: Any = None, u: Any = None, intercept: Any = None) -> Certificate:
    """What `learner` suffered, and what was guaranteed: it has learned the rows of X with their targets y once, in
    their order, without weights. `u` are the weights of a comparator, `intercept` its intercepts or thresholds;
    None finds some.
    """
    X = _matrix(learner, X)
    rounds = max(0, int(X.shape[0]) - starts_at_first(learner))
    reason = no_theorem(learner) or whole_stream(learner.statistics.rounds, rounds)
    if reason or not X.shape[0]:
        return Certificate.none(reason or "there are no examples")
    if u is None:
        return certify([OfRows(learner, _found(learner, X, y), FOUND)], [(X, y)])
    if learner.parameters["kernel"] is not None:
        raise ValueError(
            "a comparator in the space of a kernel cannot be given: use u=None, which finds some"
        )
    return certify([OfRows(learner, [_given(learner, u, intercept)], GIVEN, (1.0,))], [(X, y)])


def _found(learner: Learner, X: Any, y: Any) -> Iterator[Predictor]:
    """Averages of several passes with the learner's own losses, cautious and bold ones."""
    kind = kind_of(learner)
    for other in _others(learner, X, y):
        if learner.parameters["kernel"] is not None:
            yield Learned(learner, other)
        else:
            yield Predictor(learner, other.weights, kind.in_order(kind.extra_of(other)))


def _others(learner: Learner, X: Any, y: Any) -> Iterator[Learner]:
    p = learner.parameters
    kept = ("margin", "selection", "beta", "cost", "nu", "epsilon", "radius", "max_radius", "fit_intercept",
            "threshold", "sort_thresholds", "hash_bits", "max_features", "at_max_features", "max_weights", "kernel",
            "degree", "gamma", "coef0", "max_cache")  # fmt: skip
    options = {name: p[name] for name in kept}
    if len(learner.labels.known) > 1:
        options["classes"] = learner.labels.known
    if p["step"] == "perceptron" and p["selection"] == "uniform":
        options["selection"] = "simproj"
    for changed in cautious_and_bold(learner):
        other = Learner(learner.task, **{**options, **changed})
        for _ in range(PASSES):
            other._learn_rows(other._unnamed_rows(X), y, repeats=True)
        yield other


def _given(learner: Learner, u: Any, intercept: Any) -> Predictor:
    kind = kind_of(learner)
    extra = (
        kind.default_extra(learner)
        if intercept is None
        else np.atleast_1d(np.asarray(intercept, dtype=np.float64))
    )
    if intercept is not None:
        if extra.size > 1 and not kind.indices:
            raise ValueError(f"intercept has {extra.size} numbers, and there is one of them")
        if extra.any() and kind.has_intercept and not learner._has_intercept:
            raise ValueError(
                "the learner has no intercept, so its comparators have none: leave out `intercept`"
            )
    weights = np.asarray(u, dtype=np.float64)
    if not (np.isfinite(weights).all() and np.isfinite(extra).all()):
        raise ValueError("a comparator must have finite weights")
    return Predictor(learner, weights, extra)


# ---- rows in memory ---------------------------------------------------------------------------------------------


def _matrix(learner: Learner, X: Any) -> Any:
    """The stream as an array or a CSR matrix of float64, with the columns that the learner has for its features."""
    from scipy.sparse import csr_matrix

    named = is_frame(X) and not set(X.columns).isdisjoint(learner._column_names)
    if isinstance(X, list | tuple) and any(isinstance(x, Mapping) for x in X):
        rows = looked_up(learner, X)[0]
    elif named and learner.parameters["hash_bits"] is None:
        if unseen_norms(X, learner._column_names).any():
            raise ValueError("X has columns that were never learned, and it must be what was learned")
        rows = learner._named_rows(X, learning=False)
    else:
        rows = learner._unnamed_rows(X)
    values = np.asarray(rows.arrays[0], dtype=np.float64)
    if not np.isfinite(values).all():
        raise ValueError("X must hold finite numbers")
    if rows.indptr is None:
        return values
    matrix = csr_matrix((values, *rows.arrays[1:3]), shape=(rows.count, rows.width))
    sparse.to_csr(matrix)  # checks it
    matrix.sum_duplicates()
    return matrix.toarray() if named else matrix


def looked_up(learner: Learner, events: Any, known: bool = True) -> tuple[Rows, Vector | None]:
    """Events as rows, each feature in its column. Unless all must be `known`: with the squares of features without a
    column, if there are any."""
    values, columns, starts, unseen = [], [], [0], np.zeros(len(events))
    for row, x in enumerate(events):
        for name, value, column, _ in learner._engine.look_up(learner._event(row, x), 0, False):
            if column is not None:
                values.append(value)
                columns.append(column)
            elif known:
                raise ValueError(f"row {row}: the feature {name!r} was never learned")
            else:
                unseen[row] += value * value
        starts.append(len(values))
    indices = np.asarray(columns, dtype=np.int64), np.asarray(starts, dtype=np.int64)
    rows = Rows(np.asarray(values, dtype=np.float64), *indices, learner.n_features)
    return rows, unseen if unseen.any() else None
