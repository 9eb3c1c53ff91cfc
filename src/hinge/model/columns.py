"""The columns of a learner: which feature of an array or a DataFrame is which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..data.events import is_frame
from ..data.rows import Rows, frame_values, rows_by_name, rows_of

if TYPE_CHECKING:
    from ..learner import Learner


def rows(learner: Learner, X: Any) -> Rows:
    """The rows of an array, a CSR matrix or a DataFrame in the columns of the learner, to be scored."""
    return named(learner, X, learning=False) if is_frame(X) else unnamed(learner, X)


def unnamed(learner: Learner, X: Any) -> Rows:
    """The rows of an array or a CSR matrix, which must be as wide as the model."""
    check_arrays_fit(learner)
    its_rows = rows_of(X)
    if learner.n_features and its_rows.width != learner.n_features:
        raise ValueError(f"X has {its_rows.width} features, the model has {learner.n_features}")
    return its_rows


def check_arrays_fit(learner: Learner) -> None:
    """Names that were learned from events have no order that an array could follow."""
    engine = learner._engine
    if learner._arrays_fit or learner.parameters["hash_bits"] is not None or engine.n_names == 0:
        return
    if isinstance(engine.name_of(0), str):
        raise ValueError(
            "the features of this model have names, in the order in which events brought them: give a list of "
            "dicts or a DataFrame (or before learning fix the order of an array's columns: Learner.name_columns)"
        )


def named(learner: Learner, frame: Any, learning: bool) -> Rows:
    """The rows of a DataFrame, by the names of its columns. `learning`: names that are new get a column."""
    if learner.parameters["hash_bits"] is not None:
        raise ValueError("with hash_bits give events as dicts (learn_many takes a list of them)")
    values, names = frame_values(frame)
    if learning:
        learner._events()
    while learning:
        known = set(learner.feature_names)
        fresh = [name for name in names if name not in known]
        if learner.parameters["at_max_features"] == "ignore":
            fresh = _first_of(learner, fresh, values)
        try:
            learner._engine.name_columns(fresh)
            break
        except ValueError:
            if set(fresh).isdisjoint(learner.feature_names):  # else another thread was quicker with some
                raise
    return rows_by_name(values, names, learner._column_names)


def _first_of(learner: Learner, fresh: list[Any], values: Any) -> list[Any]:
    """The new columns that there is room for; values of the others are ignored, and counted."""
    room = max(0, int(learner.parameters["max_features"]) - learner.n_features)
    if len(fresh) > room:
        learner._engine.n_ignored += len(fresh[room:]) * len(values)
    return fresh[:room]
