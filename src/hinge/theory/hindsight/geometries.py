"""Comparators in other geometries: measured from the vectors of a run with a covariance, or on a simplex."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...data.rows import Rows
from ...learner import Learner
from ..comparators.comparator import Comparator
from ..comparators.covariance import Covariance
from ..comparators.entropy import on_simplex
from ..comparators.kind import Vector
from ..comparators.kinds import kind_of
from .predictors import Charged, Predictor, in_coordinates


def run_again(learner: Learner, ahead: bool = False) -> Learner:
    """A new learner with the same options. `ahead`: it knows the labels from the start, so that no sign changes."""
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
        self.again, self.charged = run_again(learner, ahead=True), charged
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
        extra = in_coordinates(self.again, extra)
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
            sums[-1] = self.again.constant
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
    """The entropy geometry, of rows in memory."""

    def __init__(self, learner: Learner) -> None:
        p, indices = learner.parameters, kind_of(learner).indices
        self.options: dict[str, Any] = {
            "scale": float(p["scale"]),
            "signed": bool(p["signed"]) or indices,
            "entropy_step": "range" if indices else p["entropy_step"],
            "intercept_value": learner.constant if learner._has_intercept else 1.0,
        }
        self.X: Any = None  # the rows

    def measured(self, c: Comparator, one: Predictor, statistics: Any) -> Comparator:
        extra = one.extra if len(one.extra) and not one.kind.fixed_size else None
        largest_q = statistics.largest_q if one.kind.fixed_size else None
        return on_simplex(c, self.X, one.weights, extra=extra, largest_q=largest_q, **self.options)


def onto_simplex(learner: Learner, one: Predictor, scale: float) -> Predictor:
    """A multiple of the predictor, shrunk if the sum of its absolute weights exceeds the option `scale`."""
    p, weights, extra = learner.parameters, scale * one.weights, scale * one.extra
    size = scale * float(np.abs(one.whole).sum() + np.abs(one.thresholds).sum())
    factor = 1.0
    if p["signed"] and size > 0:
        factor = min(1.0, 0.999 * p["scale"] / size)
    elif size > 0:  # a distribution
        weights, extra = np.maximum(weights, 0.0), np.maximum(extra, 0.0)
        share = float(one.kind.whole(weights, in_coordinates(learner, extra)).sum())
        factor = p["scale"] / share if share > 0 else 0.0
    return Predictor(learner, factor * weights, factor * extra)
