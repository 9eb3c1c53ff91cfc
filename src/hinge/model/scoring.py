"""Scores and uncertainties of many examples: events, a DataFrame, an array or a CSR matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._numpy import Doubles, np
from ..data.errors import for_each
from ..data.rows import are_events, as_events, event_list, is_frame, unseen_norms, unseen_squares
from . import columns
from .covariance import check_has_covariance, plus_unseen

if TYPE_CHECKING:
    from ..learner import Learner


def lanes(learner: Learner, X: Any) -> Doubles:
    """What the core says of each row; see `Learner.lanes`."""
    X = as_events(X)
    if are_events(X):
        found = np.asarray(for_each(learner._lanes_one, event_list(X)))
        return found[:, 0] if found.shape[1] == 1 else found
    rows = columns.rows(learner, X)
    if not is_frame(X):
        return learner.lanes_of(rows)
    if learner._sees_unseen:
        return learner.lanes_of(rows, unseen_squares(X, learner._column_names))
    found = learner.lanes_of(rows)
    if learner._task.measures_distance:
        found = np.hypot(found, unseen_norms(X, learner._column_names))
    return found


def uncertainty(learner: Learner, X: Any) -> Doubles:
    """x'Sx of each row."""
    check_has_covariance(learner.parameters["geometry"])
    X = as_events(X)
    if are_events(X):
        return np.asarray(for_each(learner.uncertainty_one, event_list(X)))
    sizes = learner.uncertainty_of(columns.rows(learner, X))
    if not is_frame(X):
        return sizes
    unseen = unseen_norms(X, learner._column_names)
    return plus_unseen(sizes, unseen, learner.parameters["initial_variance"])
