"""Scores and uncertainties of many examples: events, a DataFrame, an array or a CSR matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._core import EventPart
from ..data.errors import InputError, for_each
from ..data.events import are_events, as_events, event_list, is_frame
from ..data.rows import Rows, unseen_norms, unseen_squares
from . import columns
from .covariance import check_has_covariance

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..learner import Learner


def lanes(learner: Learner, X: Any) -> Doubles:
    """The raw scores of the core; see `Learner.lanes`."""
    X = as_events(X)
    if are_events(X):
        native = isinstance(X, EventPart)
        table: Any = (
            learner._engine.score_events(X, learner.averaged) if native else _lanes_of_events(learner, X)
        )
        scores: Doubles = table[:, 0] if table.shape[1] == 1 else table
        return scores
    rows = columns.rows(learner, X)
    if not is_frame(X):
        return learner.lanes_of(rows)
    if learner._sees_unseen:
        return learner.lanes_of(rows, unseen_squares(X, learner._column_names))
    found = learner.lanes_of(rows)
    if learner._task.measures_distance:
        found = np.hypot(found, unseen_norms(X, learner._column_names))
    return found


def _lanes_of_events(learner: Learner, X: Any) -> Doubles:
    return np.asarray(for_each(learner._lanes_one, event_list(X)))


def lanes_of(learner: Learner, rows: Rows, unseen: Doubles | None = None) -> Doubles:
    core, options = learner._engine, {} if unseen is None else {"unseen": unseen}
    score: Any = core.score_dense if rows.indptr is None else core.score_sparse
    scores: Doubles = score(*rows.arrays, averaged=learner.averaged, **options)
    return scores


def uncertainty(learner: Learner, X: Any) -> Doubles:
    """x'Sx of each row."""
    check_has_covariance(learner)
    X = as_events(X)
    if are_events(X):
        return np.asarray(for_each(learner.uncertainty_one, event_list(X)))
    sizes = learner.uncertainty_of(columns.rows(learner, X))
    if not is_frame(X):
        return sizes
    unseen = unseen_norms(X, learner._column_names)
    return _plus_unseen(sizes, unseen, learner.parameters["initial_variance"])


def uncertainty_of(learner: Learner, rows: Rows) -> Doubles:
    core = learner._engine
    size: Any = core.uncertainty_dense if rows.indptr is None else core.uncertainty_sparse
    sizes: Doubles = size(*rows.arrays)
    return sizes


def _plus_unseen(sizes: Doubles, norms: Doubles, variance: float) -> Doubles:
    """Features that were never seen have the variance of the start."""
    with np.errstate(over="ignore"):
        sizes = sizes + variance * norms**2
    if not np.isfinite(sizes).all():
        row = int(np.argmin(np.isfinite(sizes)))
        raise InputError("the squared norm of the instance overflows float64", row)
    return np.asarray(sizes)
