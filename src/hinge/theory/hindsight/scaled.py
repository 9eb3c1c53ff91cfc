"""Learners with scaling="online": the theorems are about the stream of scaled values that they saw."""

from __future__ import annotations

from typing import Any

from ..._core import OnlineScales
from ...data.rows import Rows, rows_of
from ...learner import Learner
from ...model.engine import new_engine


class ScaledStream:
    """Scales rows as the learner did when it learned them. They must come in the same order."""

    def __init__(self) -> None:
        self._scales = OnlineScales()

    def __call__(self, X: Any) -> Any:
        """`X`, an array, a CSR matrix or `Rows`, with scaled values."""
        from scipy.sparse import csr_matrix

        rows = X if isinstance(X, Rows) else rows_of(X)
        if rows.indptr is None:
            values: Any = self._scales.scale_dense(*rows.arrays)
            return values if rows is not X else Rows(values)
        arrays: Any = self._scales.scale_sparse(*rows.arrays)
        if rows is X:
            return Rows(arrays[0], arrays[1], arrays[2], rows.width)
        return csr_matrix(arrays, shape=X.shape)


def without_scaling(learner: Learner) -> Learner:
    """The learner of the scaled stream: the same weights and statistics, for values that are scaled already."""
    parameters = {**learner.parameters, "scaling": None}
    if learner._has_intercept:
        parameters["intercept_value"] = learner.constant
    plain = type(learner).__new__(type(learner))
    plain._set_up(learner._task, parameters)
    with learner._lock:
        plain._engine = new_engine(plain._task, parameters, learner.labels)
        plain._engine.take_unscaled(learner._engine)
    return plain
