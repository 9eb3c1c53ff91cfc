"""The certificate of a fleet with shared and personal weights.

It is one learner of longer instances: (x, s x_key). So J06's theorems hold with D^2 = |u_0|^2 + sum_k |p_k|^2 / s^2 in
place of |u|^2, where (u_0 + p_k) . x is a fixed predictor for key k, and with (1 + s^2) R^2 in place of R^2.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import flat
from ..data.rows import Rows
from ..fleet.batches import Features, features_of, with_keys
from ..fleet.settings import of_learner
from ..learner import Learner
from ..model.statistics import Statistics
from .certificate import ANOTHER_RUN, Certificate

if TYPE_CHECKING:
    from ..fleet.fleet import Fleet


def certificate(fleet: Fleet, keys: Any, X: Any, y: Any) -> Certificate:
    """What a fleet suffered on examples that it has learned once in this order, and what was guaranteed."""
    if not fleet.parameters["shared"]:
        raise ValueError(
            "each key has a model of its own: fleet[key].learner().certificate(X, y), with the examples of the key"
        )
    keys, X = with_keys(keys, X)
    rows = expanded(fleet, list(keys), features_of(X))
    learner = Learner(fleet.task, **given(fleet))
    learner.learn_rows(rows, y)
    if not same_up_to_ties(learner.statistics, fleet.statistics):
        return Certificate.none(ANOTHER_RUN)
    return learner.certificate(_matrix(rows), y)


def same_up_to_ties(one: Statistics, other: Statistics) -> bool:
    """The fleet sums a score in another order than the learner. So where a score is 0 or a margin is reached exactly,
    which is usual if features are counts, only one of them may count a mistake or an update of no length. Such an
    update changes a covariance, and so a little of what follows."""
    ties = 1e-3 * one.rounds
    return (
        one.rounds == other.rounds
        and abs(one.mistakes - other.mistakes) <= ties
        and math.isclose(one.loss, other.loss, rel_tol=1e-4, abs_tol=1e-9)
        and math.isclose(one.squared_loss, other.squared_loss, rel_tol=1e-4, abs_tol=1e-9)
    )


def given(fleet: Fleet) -> dict[str, Any]:
    """The options of a learner of the long instances that differ from its defaults."""
    defaults, constant = Learner.defaults(), float(fleet._core.constant(None))
    options = {name: value for name, value in of_learner(fleet.parameters).items() if value != defaults[name]}
    return {**options, "intercept_value": constant} if constant else options


def expanded(fleet: Fleet, keys: list[Any], features: Features) -> Rows:
    """The instances (x, s x_key), in which the personal copy of the constant feature is one of the features.

    The columns are in the order in which the fleet adds them up. An example that comes again lies on the boundary after
    a step of PA: in another order, rounding could decide otherwise.
    """
    s, constant = float(fleet.parameters["personal"]), float(fleet._core.constant(None))
    events = list(zip(keys, _named(features), strict=True))
    shared: dict[Any, int] = {}
    personal: dict[Any, dict[Any, int]] = {}
    for key, x in events:
        its = personal.setdefault(key, {})
        for name, _ in x:
            shared.setdefault(name, len(shared))
            its.setdefault(name, len(its))
    width, first = len(shared), {}
    for key, its in personal.items():
        first[key] = width
        width += len(its) + (constant != 0)
    values: list[float] = []
    indices: list[int] = []
    starts = [0]
    for key, x in events:
        its, row = personal[key], dict[int, float]()
        for name, value in x:
            for column, part in ((shared[name], value), (first[key] + its[name], s * value)):
                row[column] = row.get(column, 0.0) + part
        if constant:
            row[first[key] + len(its)] = s * constant
        for column in sorted(row):
            indices.append(column)
            values.append(row[column])
        starts.append(len(indices))
    arrays = np.asarray(values), np.asarray(indices, dtype=np.int64), np.asarray(starts, dtype=np.int64)
    return Rows(*arrays, width)


def _named(features: Features) -> Iterator[list[tuple[Any, float]]]:
    """The features of each example that are not 0, by their names."""
    if features.kind == "events":
        for event in features.arguments[0]:
            record: Any = flat(event)
            named = ((f"{n}={v}", 1.0) if isinstance(v, str) else (n, float(v)) for n, v in record.items())
            yield [(name, value) for name, value in named if value != 0]
        return
    if features.kind == "dense":
        dense, names = features.arguments
        for dense_row in dense:
            places = np.flatnonzero(dense_row)
            yield [(int(j) if names is None else names[j], float(dense_row[j])) for j in places]
        return
    data, indices, indptr, _, _ = features.arguments
    for start, end in pairwise(indptr):
        pairs = zip(indices[start:end].tolist(), data[start:end].tolist(), strict=True)
        yield [(column, value) for column, value in pairs if value != 0]


def _matrix(rows: Rows) -> Any:
    """A CSR matrix, whose rows can be measured."""
    from types import SimpleNamespace

    data, indices, indptr, width = rows.arrays
    matrix = SimpleNamespace(
        data=data, indices=indices, indptr=indptr, shape=(rows.count, width), format="csr"
    )
    matrix.tocsr = lambda: matrix
    return matrix
