"""The passes of `fit`: over the rows until there is no improvement, or N03's batch conversion."""

from __future__ import annotations

import copy
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_random_state
from sklearn.utils.validation import _check_sample_weight

from ..data.rows import Rows
from ..data.targets import Encoded
from ..data.weights import warn_if_ineffective
from ..learner import Learner
from ..model.experts import is_committee
from ..model.statistics import Statistics
from ..tasks import TASKS, batch
from . import inputs
from .progress import reporter
from .voting import has_lattice, with_vote

if TYPE_CHECKING:
    from ..data.types import Doubles

History = list[dict[str, float]]  # one entry per pass


@dataclass(frozen=True)
class BatchReport:
    """How the batch conversion (`batch_tolerance`) ended."""

    converged: bool  # a whole pass found no squared loss above the tolerance
    presentations: int  # N03 bounds them by B |u - w_1|^2 / tolerance if u has no loss
    passes: int
    tolerance: float
    max_updates: int


@dataclass(frozen=True)
class HeldBack:
    """The validation rows of early stopping, and the numbers of the other rows."""

    others: npt.NDArray[np.int64]
    X: Any
    y: Any
    sample_weight: Any


class FitsInPasses:
    """The part of an estimator that makes the passes of `fit`."""

    history_: History

    if TYPE_CHECKING:
        _task: ClassVar[str]
        max_iter: int
        tol: float | None
        n_iter_no_change: int
        early_stopping: bool
        validation_fraction: float
        shuffle: bool
        batch_tolerance: Any
        max_updates: int
        random_state: int | np.random.RandomState | None
        verbose: int

        def _name_features(self, learner: Learner) -> None: ...
        def _keep(self, learner: Any, **attributes: Any) -> Any: ...

    def _fit_learner(
        self, learner: Learner, X: Any, rows: Rows, y: Any, sample_weight: npt.ArrayLike | None
    ) -> None:
        """Makes passes over the rows (of X) until there is no improvement, or the batch conversion."""
        if sample_weight is not None:
            of = rows.arrays[0] if rows.indptr is None else _Sized(rows)
            sample_weight = inputs.weights(sample_weight)
            sample_weight = _check_sample_weight(sample_weight, of, dtype=np.float64)
        truth, weights = batch.encoded(learner, y, rows.count, sample_weight)
        held = self._hold_back(X, y, sample_weight, rows.count)
        if self.max_iter > 1 or self.batch_tolerance is not None:
            rows = rows.by_rows()
        votes = self.max_iter > 1 and rows.count > 1 and is_committee(learner)
        if votes:
            learner = self._with_vote(learner, rows, truth, weights, held)
        self._name_features(learner)
        report = None
        if self.batch_tolerance is not None:
            _set_first_visit(learner, False)  # it presents rows with losses only
            report, history = self._convert_batch(learner, rows, truth, weights)
        else:
            learner, history = self._pass_over(learner, rows, truth, weights, held, votes)
        if votes:
            learner._engine.set_learning(True, True)
        _set_first_visit(learner, True)
        learner.forget_rows()
        self.__dict__.pop("_decided", None)
        self._keep(learner, n_iter_=len(history), history_=history, batch_report_=report)
        warn_if_ineffective(learner, weights, stacklevel=4)

    def _with_vote(
        self, learner: Learner, rows: Rows, truth: Encoded, weights: Doubles | None, held: HeldBack | None
    ) -> Learner:
        """A committee whose vote is settled, and whose experts are to learn all rows. With a lattice, whose experts are
        yet to be born, the vote learns in the first pass."""
        random = check_random_state(self.random_state) if self.shuffle else None
        visited = np.arange(rows.count) if held is None else held.others
        learner = with_vote(learner, (rows, truth, weights), visited, self.max_iter, random)
        learner._engine.set_learning(True, has_lattice(learner))
        return learner

    def _pass_over(
        self,
        learner: Any,
        rows: Any,
        truth: Any,
        weights: Doubles | None,
        held: HeldBack | None = None,
        votes: bool = False,
    ) -> tuple[Any, History]:
        """Makes the passes. Returns the learner (with early stopping the best one) and the history."""
        random = check_random_state(self.random_state)
        history: History = []
        best, waited, kept = np.inf, 0, learner
        with reporter(self.verbose, self.max_iter) as report:
            for _ in range(self.max_iter):
                before, began = learner.statistics, time.perf_counter()
                order = self._order(random, rows, held)
                learner.learn_rows(rows, truth, weights, order=order, repeats=self.max_iter > 1)
                if votes:  # not from rows that were seen before
                    learner._engine.set_learning(True, False)
                entry = entry_of(before, learner.statistics, time.perf_counter() - began)
                badness = entry["mean_loss"]
                if held is not None:
                    entry["validation_score"] = self._validation_score(learner, held)
                    badness = -entry["validation_score"]
                    if badness < best:
                        kept = copy.copy(learner)
                history.append(entry)
                report(history)
                _set_first_visit(learner, False)
                if entry["updates"] == 0:
                    return kept, history
                if self.tol is not None:
                    waited = waited + 1 if badness > best - self.tol else 0
                best = min(best, badness)
                if self.tol is not None and waited >= self.n_iter_no_change:
                    return kept, history
        if self.tol is not None and self.max_iter > 1:
            still = "the loss still fell" if held is None else "the validation score still rose"
            warnings.warn(
                f"{self.max_iter} passes (max_iter) were made and {still}; raise max_iter or tol",
                ConvergenceWarning,
                stacklevel=4,
            )
        return kept, history

    def _order(self, random: np.random.RandomState, rows: Any, held: HeldBack | None) -> Any:
        if held is None:
            return random.permutation(rows.count) if self.shuffle else None
        return random.permutation(held.others) if self.shuffle else held.others

    def _hold_back(self, X: Any, y: Any, sample_weight: Any, count: int) -> HeldBack | None:
        """The validation rows: `validation_fraction` of the rows of each class with a weight above 0."""
        if not self.early_stopping:
            return None
        numbers = np.arange(count)
        weighed = numbers if sample_weight is None else numbers[np.asarray(sample_weight) > 0]
        strata = None
        if TASKS[self._task].has_one_class_each:
            labels = np.asarray(y)[weighed]
            strata = labels if np.unique(labels, return_counts=True)[1].min(initial=2) > 1 else None
        options: dict[str, Any] = {
            "test_size": float(self.validation_fraction),
            "random_state": self.random_state,
        }
        try:
            _, held = train_test_split(weighed, stratify=strata, **options)
        except ValueError as error:
            if strata is None:
                raise ValueError(f"early_stopping cannot hold back rows: {error}") from error
            _, held = train_test_split(weighed, **options)  # fewer rows than classes
        held = np.sort(held)
        X = X.tocsr() if issparse(X) else X
        return HeldBack(
            np.setdiff1d(numbers, held),
            _safe_indexing(X, held),
            None if y is None else _safe_indexing(y, held),
            None if sample_weight is None else np.asarray(sample_weight)[held],
        )

    def _validation_score(self, learner: Any, held: HeldBack) -> float:
        """The `score` of the rows that were held back."""
        judge: Any = object.__new__(type(self))
        judge.__dict__.update(self.__dict__)
        judge._keep(getattr(learner, "learner", learner))
        return float(judge.score(held.X, held.y, sample_weight=held.sample_weight))

    def _convert_batch(
        self, learner: Learner, rows: Rows, truth: Encoded, weights: Doubles | None
    ) -> tuple[BatchReport, History]:
        """N03 section 4: cycles over the rows, and presents a row only if its squared loss exceeds the tolerance."""
        history: History = []
        presented, last, moved = 0, 1, True
        while last and moved and learner.statistics.updates < self.max_updates:
            before, began = learner.statistics, time.perf_counter()
            last = learner.learn_rows(
                rows,
                truth,
                weights,
                tolerance=self.batch_tolerance,
                max_updates=self.max_updates - before.updates,
                repeats=True,
            )
            history.append(entry_of(before, learner.statistics, time.perf_counter() - began))
            moved = history[-1]["updates"] > 0  # no step reduces the loss of an all-zero row
            presented += last
            if self.verbose:
                print(f"pass {len(history)}: {last} examples presented", flush=True)
        if last:
            why = f"at {self.max_updates} updates (max_updates)" if moved else "at rows that no step can help"
            warnings.warn(
                f"the batch conversion stopped {why} with losses above the tolerance left: the data may not be "
                "realizable",
                ConvergenceWarning,
                stacklevel=4,
            )
        passes = len(history)
        report = BatchReport(not last, presented, passes, float(self.batch_tolerance), int(self.max_updates))
        return report, history


def _set_first_visit(learner: Any, first: bool) -> None:
    if isinstance(learner, Learner):  # sequences have no probabilities
        learner.set_first_visit(first)


def entry_of(before: Statistics, after: Statistics, seconds: float) -> dict[str, float]:
    """The entry of a pass in the history: the difference of the statistics."""
    rounds = after.rounds - before.rounds
    return {
        "mean_loss": (after.loss - before.loss) / max(1, rounds),
        "mistakes": after.mistakes - before.mistakes,
        "updates": after.updates - before.updates,
        "seconds": seconds,
    }


class _Sized:
    """Enough of a matrix for `_check_sample_weight`."""

    def __init__(self, rows: Rows) -> None:
        self.shape = (rows.count, rows.width)
        self.dtype = np.dtype(np.float64)
