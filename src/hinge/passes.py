"""The passes of `fit`: over the rows until they improve nothing, or N03's batch conversion."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight

from ._numpy import Doubles
from .learner import Learner
from .rows import Rows
from .targets import Encoded


@dataclass(frozen=True)
class BatchReport:
    """How the batch conversion (`tolerance`) ended."""

    converged: bool  # a whole pass found no squared loss above the tolerance
    presentations: int  # N03 bounds them by B |u - w_1|^2 / tolerance if u has no loss
    passes: int
    tolerance: float
    max_updates: int


class FitsInPasses:
    """The part of an estimator that makes the passes of `fit`."""

    if TYPE_CHECKING:
        max_iter: int
        tol: float | None
        n_iter_no_change: int
        shuffle: bool
        tolerance: Any
        max_updates: int
        random_state: int | np.random.RandomState | None
        verbose: int

        def _name_features(self, learner: Learner) -> None: ...
        def _keep(self, learner: Any, **attributes: Any) -> Any: ...

    def _fit_learner(self, learner: Learner, rows: Rows, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        """Passes over the rows until they improve nothing, or the batch conversion."""
        self._name_features(learner)
        if sample_weight is not None:
            sample_weight = _check_sample_weight(
                sample_weight, rows.arrays[0] if rows.indptr is None else _Sized(rows), dtype=np.float64
            )
        if self.max_iter > 1 or self.tolerance is not None:
            rows = rows.by_rows()
        report = None
        truth, weights = learner.encoded(y, rows.count, sample_weight)
        if self.tolerance is not None:
            report = self._convert_batch(learner, rows, truth, weights)
            passes = report.passes
        else:
            passes = self._pass_over(learner, rows, truth, weights)
        learner.forget_rows()
        self._keep(learner, n_iter_=passes, batch_report_=report)

    def _pass_over(self, learner: Learner, rows: Rows, truth: Any, weights: Doubles | None) -> int:
        random = check_random_state(self.random_state)
        best, waited = np.inf, 0
        for number in range(1, self.max_iter + 1):
            before = learner.statistics
            order = random.permutation(rows.count) if self.shuffle else None
            learner._learn_rows(rows, truth, weights, order, repeats=True)
            after = learner.statistics
            rounds, updates = after.rounds - before.rounds, after.updates - before.updates
            mean = (after.loss - before.loss) / max(1, rounds)
            if self.verbose:
                mistakes = after.mistakes - before.mistakes
                print(
                    f"pass {number}: mean loss {mean:.6g}, {mistakes} mistakes, {updates} updates", flush=True
                )
            if updates == 0:
                return number
            if self.tol is not None:
                waited = waited + 1 if mean > best - self.tol else 0
                best = min(best, mean)
                if waited >= self.n_iter_no_change:
                    return number
        if self.tol is not None and self.max_iter > 1:
            warnings.warn(
                f"{self.max_iter} passes (max_iter) were made and the loss still fell; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        return int(self.max_iter)

    def _convert_batch(
        self, learner: Learner, rows: Rows, truth: Encoded, weights: Doubles | None
    ) -> BatchReport:
        """N03 section 4: cycle, present an example only while its squared loss exceeds the tolerance."""
        presented, passes, last, moved = 0, 0, 1, True
        while last and moved and learner.statistics.updates < self.max_updates:
            before = learner.statistics.updates
            last = learner._learn_rows(
                rows, truth, weights, None, self.tolerance, self.max_updates - before, repeats=True
            )
            moved = learner.statistics.updates > before  # an all-zero row keeps its loss whatever one does
            presented += last
            passes += 1
            if self.verbose:
                print(f"pass {passes}: {last} examples presented", flush=True)
        if last:
            why = f"at {self.max_updates} updates (max_updates)" if moved else "at rows that no step can help"
            warnings.warn(
                f"the batch conversion stopped {why} with losses above the tolerance left: the data may not be "
                "realizable",
                ConvergenceWarning,
                stacklevel=4,
            )
        return BatchReport(not last, presented, passes, float(self.tolerance), int(self.max_updates))


class _Sized:
    """Enough of a matrix for `_check_sample_weight`."""

    def __init__(self, rows: Rows) -> None:
        self.shape = (rows.count, rows.width)
        self.dtype = np.dtype(np.float64)
