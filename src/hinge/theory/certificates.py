"""`certificate`: what a learner suffered on a stream, and what its theorems guaranteed, in words and in numbers.

A theorem speaks of every comparator u, a fixed predictor of the same kind. One may be given; else some are found: the
averages of several passes over the same data with different C, each at several scales, and every theorem gets the one
that makes it guarantee the most. What does not apply is in the list with the reason: that is not a failure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..data import sparse
from ..data.rows import Rows, is_frame, unseen_norms
from ..model.supports import beta_of
from ..tasks import growth
from .bounds import RELATIVE_SLACK, SINGLE_SLACK, Guarantee, guarantees
from .certificates_compared import (
    ANOTHER_RUN,
    SCALES,
    AnotherRun,
    Predictor,
    begins_with_one,
    compared,
    found_for,
    grew,
    in_the_space_of_the_kernel,
    same_run,
    targets_of,
)
from .comparators_single import Comparator

if TYPE_CHECKING:
    from ..learner import Learner

FOUND = "averages of several passes over the same data"
GIVEN = "the comparator that was given"


@dataclass(frozen=True)
class Certificate:
    """Every theorem for the learner, on the stream that it was given."""

    guarantees: tuple[Guarantee, ...]
    against: str  # which comparators
    reason: str = ""  # why there is no theorem at all
    averaged: bool = False  # whether the learner predicts with an average of the vectors that it is about
    rounds: int = 0  # of the stream

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

    @property
    def record(self) -> dict[str, Any]:
        """As JSON has it."""
        names = ("theorem", "quantity", "suffered", "guaranteed", "reason")
        told = [{name: getattr(one, name) for name in names} for one in self.applicable]
        return {"guarantees": told, "holds": self.holds, "sentence": str(self)}

    def __str__(self) -> str:
        if self.reason:
            return f"Nothing is guaranteed: {self.reason}."
        best = self.tightest
        if best is None:
            why = "; ".join(dict.fromkeys(one.reason for one in self.guarantees)) or "no theorem is known"
            return f"Nothing is guaranteed against {self.against}: {why}."
        about = (
            " (It is about the vectors that were averaged, not about their average.)" if self.averaged else ""
        )
        if best.quantity in ("mistakes", "updates") and 0 < self.rounds <= best.guaranteed:
            about = f" (There are {self.rounds:,} examples: it says nothing here.){about}"
        return f"Against {self.against}: {best}{about}"


def strongest(
    step: str,
    statistics: Any,
    comparators: Iterable[Comparator],
    *,
    C: float = 1.0,
    beta: float = 0.0,
    dtype: Any = np.float64,
) -> list[Guarantee]:
    """Each theorem with the comparator that makes it guarantee the most; `dtype` is that of the learner's weights."""
    slack = SINGLE_SLACK if np.dtype(dtype) == np.float32 else RELATIVE_SLACK
    best: dict[tuple[str, str], Guarantee] = {}
    # By loss: where a theorem applies to none, the reason given is that of the most hopeful one.
    for u in sorted(comparators, key=lambda u: u.loss):
        for found in guarantees(step, statistics, u, C=C, beta=beta):
            found = replace(found, slack=slack)
            if found.applicable and not math.isfinite(found.guaranteed):
                found = replace(found, guaranteed=math.inf, reason="its bound is not a finite number")
            key = found.theorem, found.quantity
            if key not in best or found.guaranteed < best[key].guaranteed:
                best[key] = found
    return list(best.values())


def certificate(learner: Learner, X: Any, y: Any = None, u: Any = None, beside: Any = None) -> Certificate:
    """What `learner` suffered, and what was guaranteed: it has learned the rows of X with their targets y once, in
    their order, without weights. `u` are the weights of a comparator, `beside` its intercepts or thresholds;
    None finds some.
    """
    X = _matrix(learner, X)
    rounds = max(0, int(X.shape[0]) - begins_with_one(learner))
    reason = no_theorem(learner) or whole_stream(learner.statistics.rounds, rounds)
    if reason or not X.shape[0]:
        return Certificate((), "", reason or "there are no examples")
    targets = None if learner.task == "uniclass" else targets_of(learner, y, X.shape[0])
    p = learner.parameters
    against = FOUND
    if p["geometry"] in ("euclidean", "entropy") and not same_run(learner.statistics, _again(learner, X, y)):
        return Certificate((), "", ANOTHER_RUN)
    if p["kernel"] is not None:
        if u is not None:
            raise ValueError(
                "a comparator in the space of a kernel cannot be given: use u=None, which finds some"
            )
        comparators = list(in_the_space_of_the_kernel(learner, X, y, targets))
    else:
        if u is None:
            scales = (1.0,) if learner.task == "uniclass" else SCALES
            predictors = [one.times(scale) for one in found_for(learner, X, y) for scale in scales]
        else:
            predictors, against = [_given(learner, u, beside)], GIVEN
        try:
            comparators = list(compared(learner, X, targets, predictors))
        except AnotherRun as error:
            return Certificate((), "", str(error))
    beta = beta_of(p) if p["step"] == "perceptron" else 0.0
    found = strongest(
        learner.step, learner.statistics, comparators, C=float(p["C"]), beta=beta, dtype=p["dtype"]
    )
    return Certificate(tuple(found), against, averaged=learner.averaged, rounds=learner.statistics.rounds)


def _again(learner: Learner, X: Any, y: Any) -> Any:
    """The statistics of a learner with the same options on the same rows. (With a covariance the run is followed.)"""
    from ..learner import Learner

    other = Learner(learner.task, **learner.parameters)
    other.closed = learner.closed
    other.learn(X, y)
    return other.statistics


def _matrix(learner: Learner, X: Any) -> Any:
    """The stream as an array or a CSR matrix of float64, with the columns that the learner has for its features."""
    from scipy.sparse import csr_matrix

    named = is_frame(X) and not set(X.columns).isdisjoint(learner._column_names)
    if isinstance(X, list | tuple) and any(isinstance(x, Mapping) for x in X):
        rows = _looked_up(learner, X)
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


def _looked_up(learner: Learner, events: Any) -> Rows:
    """Events, each feature in its column."""
    values, columns, starts = [], [], [0]
    for row, x in enumerate(events):
        for name, value, column, _ in learner._engine.look_up(learner._event(row, x), 0, False):
            if column is None:
                raise ValueError(f"row {row}: the feature {name!r} was never learned")
            values.append(value)
            columns.append(column)
        starts.append(len(values))
    indices = np.asarray(columns, dtype=np.int64), np.asarray(starts, dtype=np.int64)
    return Rows(np.asarray(values, dtype=np.float64), *indices, learner.n_features)


def _given(learner: Learner, u: Any, beside: Any) -> Predictor:
    weights = np.asarray(u, dtype=np.float64)
    if beside is None:
        if learner.task == "ordinal":
            raise ValueError("beside must be the thresholds of the comparator")
        its = np.zeros(len(learner.labels.known) if learner.many_scores else 0)
    else:
        its = np.atleast_1d(np.asarray(beside, dtype=np.float64))
        if its.size > 1 and not (learner.many_scores or learner.task == "ordinal"):
            raise ValueError(f"beside has {its.size} numbers, and there is one of them")
        if its.any() and not (learner._has_intercept or learner.task in ("ordinal", "uniclass")):
            raise ValueError("the learner has no intercept, so its comparators have none: leave out `beside`")
    if not (np.isfinite(weights).all() and np.isfinite(its).all()):
        raise ValueError("a comparator must have finite weights")
    return Predictor(weights, its)


def no_theorem(learner: Learner) -> str:
    """Why there is none for this learner on any stream; "" if there may be one."""
    p = learner.parameters
    if p["budget"] is not None:
        return "no theorem is known for steps on a budget (of the perceptron's cache: hinge.theory.bounds.cache_bound)"
    if p["step"] == "cw":
        return "there is no theorem for 'cw'"
    if learner.radius_by_quantile:
        return "no theorem is about a radius by quantile: give a radius, or max_radius"
    if p["class_weight"] is not None:
        return "the theorems are about examples without weights"
    if p["w1"] is not None and not isinstance(p["w1"], str):
        return "give hinge.theory.bounds the start w1"
    if p["geometry"] == "entropy" and learner.feature_names and isinstance(learner.feature_names[0], str):
        return "features that came on the way took their share from the others, which no theorem covers"
    if p["geometry"] == "entropy" and learner._beside:
        return "a learned threshold takes its share from the ranking, which no theorem covers: give a number"
    if p["geometry"] == "entropy" and learner.many_scores and grew(learner):
        return (
            "labels that came on the way took their share from the others, which no theorem covers: name all "
            "of them ahead, classes=[...]"
        )
    if learner.task in ("classification", "multilabel") and not learner.labels.known:
        return "no label was ever learned"
    if grew_from_two(learner):
        return f"{GREW}: name all of them ahead, classes=[...]"
    return ""


GREW = "the first two classes had one w, until a third one came, which no theorem covers"


def grew_from_two(learner: Learner) -> bool:
    """Two classes share a w, and C means another thing to them: a third one makes another learner of it."""
    first = growth.first_labels(learner.task, learner.parameters)
    return learner.task == "classification" and learner.labels.lanes and not first.lanes


def whole_stream(rounds: int, expected: int) -> str:
    if rounds == expected:
        return ""
    return f"the learner has seen {rounds:,} rounds, and here are {expected:,}: it must be the whole stream, once"
