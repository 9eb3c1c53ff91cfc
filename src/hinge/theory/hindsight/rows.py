"""Streams of one vector per example, in every geometry and in the space of a kernel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...data import sparse
from ...data.errors import InputError, InputTypeError
from ...data.events import check_length, event, is_frame
from ...data.rows import Rows, as_array, as_values, rows_of, unseen_norms
from ...learner import Learner
from ...model import columns as model_columns
from ...model.experts import is_committee
from ...model.supports import beta_of
from ...options.table import COVARIANCES
from .. import certificate as common
from ..certificate import Against, Certificate, Hindsight, certify, whole_stream
from ..comparators.comparator import Comparator
from ..comparators.kind import Kind, Vector
from ..comparators.kinds import kind_of, targets_of
from ..theorems import steps_with_theorems
from .geometries import Followed, Simplex, onto_simplex, run_again
from .predictors import Charged, Learned, Predictor, sizes_in_kernel
from .scaled import ScaledStream, without_scaling

GREW = "the first two classes had one w, until a third one came, which no theorem covers"


def grew(learner: Learner) -> bool:
    """Whether labels were added during the stream."""
    first = learner._task.first_labels(learner.parameters)
    return len(learner.labels.known) > len(first.known)


def grew_from_two(learner: Learner) -> bool:
    """Two classes share a w, for which C has another meaning: a third class makes it another learner."""
    first = learner._task.first_labels(learner.parameters)
    return learner.many_scores and not first.lanes


def starts_at_first(learner: Learner) -> bool:
    """Whether the first example is not a round, but the first centre of the ball."""
    p = learner.parameters
    return kind_of(learner).fixed_size and p["w1"] != "zero" and p["geometry"] != "entropy"


def no_theorem(learner: Learner) -> str:
    """Why there is no theorem for this learner on any stream; "" if there may be one."""
    p = learner.parameters
    if is_committee(learner):
        return "a committee has guarantees relative to its experts"
    if p["budget"] is not None:
        return (
            "no theorem is known for steps on a budget (of the perceptron's cache: hinge.theory.cache_bound)"
        )
    if learner.step not in steps_with_theorems():
        return f"there is no theorem for {learner.step!r}"
    if learner.radius_by_quantile:
        return "no theorem is about a radius by quantile: give a radius, or max_radius"
    if p["class_weight"] is not None:
        return "the theorems are about examples without weights"
    if p["w1"] is not None and not isinstance(p["w1"], str):
        return "give the start w1 to hinge.theory.comparator"
    if p["geometry"] == "entropy" and learner.feature_names and isinstance(learner.feature_names[0], str):
        return "new features appeared, which changed the weights of the others, and no theorem covers that"
    if p["geometry"] == "entropy" and learner._first_lane:
        return "no theorem covers a learned threshold on the simplex: give a number"
    if p["geometry"] == "entropy" and learner.many_scores and grew(learner):
        return (
            "new labels appeared, which changed the weights of the others, and no theorem covers that: name all "
            "labels with classes=[...]"
        )
    if kind_of(learner).has_labels and not learner.labels.known:
        return "no label was ever learned"
    if grew_from_two(learner):
        return f"{GREW}: name all of them ahead, classes=[...]"
    return ""


# ---- what they suffer -------------------------------------------------------------------------------------------


class OfRows(Hindsight):
    """Rows are an array or a CSR matrix, whose sizes are measured, or `Rows` of a stream, whose sizes only the learner
    knows.

    Without a covariance the run is made again only if `verify`. `scale`: what scales the rows, if the learner is that
    of a scaled stream.
    """

    def __init__(
        self,
        learner: Learner,
        predictors: Iterable[Predictor],
        against: Against,
        verify: bool = True,
        scale: ScaledStream | None = None,
    ) -> None:
        super().__init__(learner, against)
        self.scale = scale
        geometry, scales = learner.parameters["geometry"], against.scales
        self.simplex = Simplex(learner) if geometry == "entropy" else None
        if self.simplex is not None:
            multiples = [(one, scale) for one in predictors for scale in one.kind.scales or scales]
            predictors, scales = [onto_simplex(learner, *multiple) for multiple in multiples], (1.0,)
        self.charged = [Charged(one, scales) for one in predictors]
        self.kind: Kind = self.charged[0].kind
        self.largest_error = self.kind.largest_error
        self.first = starts_at_first(learner)  # whether the first example is still to come
        self.measured = True
        self.run = Followed(learner, self.charged) if geometry in COVARIANCES else None
        self.again = self.run.again if self.run is not None else run_again(learner) if verify else None

    def see(self, X: Any, y: Any, unseen: Any = None) -> None:
        learner, self.measured = self.learner, not isinstance(X, Rows)
        X = X if self.scale is None else self.scale(X)
        rows = rows_of(X) if self.measured else X
        targets = targets_of(learner, y, rows.count)
        concerned = None if self.run is None else self.run.see(rows, y)
        if self.again is not None and self.run is None:
            self.again.learn_rows(rows, y)
        q = sizes_in_kernel(learner, X) if self.measured else np.full(rows.count, math.nan)
        if self.simplex is not None:
            self.simplex.X = X
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
                if suffered is None:
                    continue
                if self.run is not None:
                    suffered = self.run.measured(suffered, one, scale, one.update_losses[place])
                elif self.simplex is not None:
                    suffered = self.simplex.measured(suffered, one.predictor, statistics)
                elif not self.measured and not one.kind.fixed_size:
                    suffered = replace(
                        suffered, largest_q=statistics.largest_q, smallest_q=math.nan, total_q=math.nan
                    )
                made.append(suffered)
        return made

    def other_run(self) -> str:
        other = super().other_run()
        if other and self.run is not None and self.learner.many_scores and grew(self.learner):
            return "with a covariance all labels must be named ahead, classes=[...]"
        return other

    def as_error(self, quantity: str, guaranteed: float, rounds: int) -> float:
        return self.kind.error_bound(quantity, guaranteed, rounds)


# ---- certificates -----------------------------------------------------------------------------------------------


def of_learned(learner: Learner) -> OfRows:
    """Against multiples of the learned weights. The stream is read again in the same order."""
    against = common.BALL if kind_of(learner).fixed_size else common.LEARNED
    scale = None if learner.parameters["scaling"] is None else ScaledStream()
    if scale is not None:
        learner = without_scaling(learner)
    return OfRows(learner, [Learned(learner, learner)], against, verify=False, scale=scale)


def certificate(learner: Learner, X: Any, y: Any = None, u: Any = None, intercept: Any = None) -> Certificate:
    """See `Learner.certificate`."""
    if X is None:
        raise InputTypeError(
            "certificate needs the rows that were learned, X and y; only a committee's needs no data"
        )
    check_length(X, "X")
    if not learner._task.has_kernel:  # the tasks with one vector per example have it
        raise ValueError(
            "the model around this learner has the certificate: it knows the features of outputs"
        )
    given = [
        None if numbers is None else as_values(as_array(numbers, name), name)
        for numbers, name in ((u, "u"), (intercept, "intercept"))
    ]
    try:
        return _certificate(learner, X, y, *given)
    except MemoryError:
        raise ValueError(
            "a certificate of X, and of its comparators, needs more memory than there is"
        ) from None


def _certificate(learner: Learner, X: Any, y: Any, u: Any, intercept: Any) -> Certificate:
    X = _matrix(learner, X)
    rounds = max(0, int(X.shape[0]) - starts_at_first(learner))
    reason = no_theorem(learner) or whole_stream(learner.statistics.rounds, rounds)
    if reason or not X.shape[0]:
        return Certificate.none(reason or "there are no examples")
    if learner.parameters["scaling"] is not None:
        X, learner = ScaledStream()(X), without_scaling(learner)
    if u is None:
        return certify([OfRows(learner, _found(learner, X, y), common.FOUND)], [(X, y)])
    if learner.parameters["kernel"] is not None:
        raise ValueError(
            "a comparator in the space of a kernel cannot be given: use u=None, which finds some"
        )
    return certify([OfRows(learner, [_given(learner, X.shape[1], u, intercept)], common.GIVEN)], [(X, y)])


def _found(learner: Learner, X: Any, y: Any) -> Iterator[Predictor]:
    """Averages of several passes with the losses of the learner, cautious and bold ones."""
    for other in _others(learner, X, y):
        if learner.parameters["kernel"] is not None:
            yield Learned(learner, other)
        else:
            yield Predictor(learner, other.weights, kind_of(learner).extra_of(other))


def _others(learner: Learner, X: Any, y: Any) -> Iterator[Learner]:
    p = learner.parameters
    kept = ("margin", "selection", "beta", "cost", "nu", "epsilon", "radius", "max_radius", "fit_intercept",
            "threshold", "sort_thresholds", "hash_bits", "max_features", "at_max_features", "max_weights", "kernel",
            "degree", "gamma", "coef0", "max_cache")  # fmt: skip
    options = {name: p[name] for name in kept}
    if learner._has_intercept:
        options["intercept_value"] = learner.constant
    if len(learner.labels.known) > 1:
        options["classes"] = learner.labels.known
    if p["step"] == "perceptron" and p["selection"] == "uniform":
        options["selection"] = "simproj"
    for changed in common.cautious_and_bold(learner):
        other = Learner(learner.task, **{**options, **changed})
        for _ in range(common.PASSES):
            other.learn_rows(model_columns.unnamed(other, X), y, repeats=True)
        yield other


def _given(learner: Learner, width: int, u: Any, intercept: Any) -> Predictor:
    kind, labels = kind_of(learner), len(learner.labels.known)
    weights = np.asarray(u, dtype=np.float64)
    weights = weights if learner.many_scores else weights.reshape(-1)
    shape = (labels, width) if learner.many_scores else (width,)
    if weights.shape != shape:
        raise ValueError(f"u has the shape {weights.shape}; it must be {shape}")
    if intercept is None and kind.has_thresholds:
        raise ValueError("intercept must be the thresholds of the comparator")
    count = labels - kind.has_thresholds if kind.indices else 1
    if intercept is None:
        extra = np.zeros(0 if kind.fixed_size else count)
    else:
        extra = np.atleast_1d(np.asarray(intercept, dtype=np.float64))
        if extra.shape != (count,):
            raise ValueError(f"intercept has {extra.size} numbers; there must be {count} of them")
    if extra.any() and kind.extra == "intercept" and not learner._has_intercept:
        raise ValueError("the learner has no intercept, so its comparators have none: leave out `intercept`")
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
        rows = model_columns.named(learner, X, learning=False)
    else:
        rows = model_columns.unnamed(learner, X)
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
        for name, value, column, _ in learner._engine.look_up(event(row, x), 0, False):
            if column is not None:
                values.append(value)
                columns.append(column)
            elif known:
                raise InputError("it was never learned", row, name)
            else:
                unseen[row] += value * value
        starts.append(len(values))
    indices = np.asarray(columns, dtype=np.int64), np.asarray(starts, dtype=np.int64)
    rows = Rows(np.asarray(values, dtype=np.float64), *indices, learner.n_features)
    return rows, unseen if unseen.any() else None
