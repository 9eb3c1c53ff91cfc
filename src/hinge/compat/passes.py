"""The passes of scikit-learn's Passive-Aggressive `fit`: its order of rows, its stopping rule and its average.

Only `hinge.compat` uses them, to learn the same numbers. All updates run in the core. A `Lane` is one linear predictor
before or after the passes; during the passes an engine holds it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.metrics import r2_score
from sklearn.utils.extmath import safe_sparse_dot

from .._core import Engine, shuffle_like_scikit_learn
from ..data.rows import rows_of
from ..tasks import TASKS

Array = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

_SPARSE_INTERCEPT_RATE = 0.01  # scikit-learn moves the intercept more slowly on sparse data
_NEXT_TO_NOTHING = 1e-300


@dataclass(frozen=True)
class Lane:
    """One linear predictor: its weights, and the average of its earlier weights."""

    coef: Array
    intercept: float
    average_coef: Array
    average_intercept: float
    is_zero: bool = False  # known to be zero, without a look at the weights


@dataclass(frozen=True)
class Examples:
    """The data of the passes of one lane."""

    X: Any
    y: Array  # -1 and +1, or numbers
    weights: Array | None
    held_out: Mask  # the rows that `early_stopping` keeps for its score
    passed_over: Mask | None  # rows that count in the loss but not in the average


@dataclass(frozen=True)
class Passes:
    task: str
    step: str
    C: float
    epsilon: float
    fit_intercept: bool
    shuffle: bool
    tol: float  # -inf: never stop
    n_iter_no_change: int
    early_stopping: bool
    average: int  # 0: no average; else the first round that counts
    verbose: int

    def run(
        self, examples: Examples, lane: Lane, seed: int, max_iter: int, t: int, into: Array
    ) -> tuple[Lane, int]:
        """Makes passes until `n_iter_no_change` successive ones have not improved the result by tol. Returns the lane,
        with its weights in `into`, and the number of passes.

        The result is the mean loss, or with `early_stopping` the score of the held-out rows.
        """
        order = np.arange(len(examples.y), dtype=np.int64)
        best, waited, began = -np.inf, 0, time.perf_counter()
        first = max(1, self.average - t + 1) if self.average else 0  # the first round that counts
        engine, number = self._engine(examples, lane, first), 0
        while number < max_iter and waited < self.n_iter_no_change:
            number += 1
            if self.shuffle:  # each pass shuffles the previous order again, with the same seed
                shuffle_like_scikit_learn(order, seed)
            visited = order[~examples.held_out[order]] if self.early_stopping else order
            mean = self._pass(engine, examples, lane, visited) / len(visited)
            score = self._held_out_score(engine, examples, lane) if self.early_stopping else -mean
            if self.verbose:
                self._report(number, _moved(engine, examples, lane), engine.statistics()[0], mean, score)
            waited = waited + 1 if score < best + self.tol else 0
            best = score if score > best else best  # not `max`: a score may be NaN
        if self.verbose and waited >= self.n_iter_no_change:
            print(f"Convergence after {number} epochs took {time.perf_counter() - began:.2f} seconds")
        fresh = max(0, engine.statistics()[0] - first + 1) if self.average else 0
        lane = _moved(engine, examples, lane, into)
        return self._averaged(engine, examples, lane, max(0, t - self.average), fresh), number

    def _pass(self, engine: Engine, examples: Examples, lane: Lane, order: Array) -> float:
        """One pass over the rows of `order`: the sum of the losses."""
        loss = None
        if examples.passed_over is not None:
            other = self._engine(examples, _moved(engine, examples, lane), 0)
            loss = _learn(other, examples, order)
            order = order[~examples.passed_over[order]]
        learned = _learn(engine, examples, order)
        return learned if loss is None else loss

    @staticmethod
    def _averaged(engine: Engine, examples: Examples, lane: Lane, known: int, fresh: int) -> Lane:
        """The lane with `fresh` more vectors in its average of `known` vectors."""
        if not fresh:
            return lane
        # A new average should start empty. After a warm start of the regressor it does not, and scikit-learn leaves
        # the old average in the sum of the weights, once, but not in that of the intercepts.
        total = max(known, 1) * lane.average_coef + fresh * _weights_of(engine, examples, lane, True)
        return replace(
            lane,
            average_coef=(total / (known + fresh)).astype(lane.coef.dtype, copy=False),
            average_intercept=(known * lane.average_intercept + fresh * engine.extra(0, True))
            / (known + fresh),
        )

    def _engine(self, examples: Examples, lane: Lane, average_from: int) -> Engine:
        """An engine that continues from the lane."""
        rate = _SPARSE_INTERCEPT_RATE if issparse(examples.X) else 1.0
        engine = Engine(
            task=self.task,
            step=self.step,
            C=self.C,
            epsilon=self.epsilon,
            fit_intercept=True,  # a given intercept counts even if it is fixed
            intercept_rate=rate if self.fit_intercept else 0.0,
            single=lane.coef.dtype == np.float32,
            average_from=average_from,
            scikit_learn=True,
            max_features=2**40,
        )
        if not lane.is_zero and (lane.intercept != 0 or lane.coef.any()):  # engines start at 0
            engine.start_at(
                np.ascontiguousarray(lane.coef, dtype=np.float64),
                np.asarray([lane.intercept], dtype=np.float64),
            )
        return engine

    def _held_out_score(self, engine: Engine, examples: Examples, lane: Lane) -> float:
        """The accuracy, or R^2, of the current weights (not of the average)."""
        lane = _moved(engine, examples, lane)
        X, y = examples.X[examples.held_out], examples.y[examples.held_out]
        scores = safe_sparse_dot(X, lane.coef) + lane.intercept
        if TASKS[self.task].reads_numbers:
            return float(r2_score(y, scores))
        return float(np.mean((scores > 0) == (y > 0)))

    def _report(self, number: int, lane: Lane, rounds: int, mean: float, score: float) -> None:
        print(f"-- Epoch {number}")
        print(
            f"Norm: {np.linalg.norm(lane.coef):.2f}, NNZs: {np.count_nonzero(lane.coef)}, "
            f"Bias: {lane.intercept:.6f}, T: {rounds}, Avg. loss: {mean:.6f}"
            + (f", Validation score: {score:.6f}" if self.early_stopping else "")
        )


def weights_of_rows(signs: Array, positive: float, negative: float) -> Array | None:
    """The weight of each row, or None if all are 1.

    For the core a weight of 0 means no round, for scikit-learn a round with a step of 0.
    """
    if positive == negative == 1:
        return None
    weights: Array = np.where(signs > 0, positive, negative).astype(np.float64)
    weights[weights == 0] = _NEXT_TO_NOTHING
    return weights


def empty_rows(X: Any) -> Mask | None:
    squares = X.multiply(X).sum(axis=1) if issparse(X) else np.einsum("ij,ij->i", X, X, dtype=np.float64)
    empty: Mask = np.asarray(squares).ravel() == 0
    return empty if empty.any() else None


def _learn(engine: Engine, examples: Examples, order: Array) -> float:
    """Learns the rows of `order`. Returns the sum of their losses."""
    rows = rows_of(examples.X)
    learn: Any = engine.learn_dense if rows.indptr is None else engine.learn_sparse
    engine.count_losses_anew()
    learn(*rows.arrays, examples.y, weights=examples.weights, order=order)
    loss: float = engine.statistics()[3]
    return loss


def _moved(engine: Engine, examples: Examples, lane: Lane, into: Array | None = None) -> Lane:
    """The lane with the weights of the engine."""
    coef = _weights_of(engine, examples, lane, False, into)
    return replace(lane, coef=coef, intercept=engine.extra(0, False), is_zero=False)


def _weights_of(
    engine: Engine, examples: Examples, lane: Lane, averaged: bool, into: Array | None = None
) -> Array:
    """The weights of the engine, written to `into` if given."""
    direct = into is not None and into.dtype == np.float64
    weights: Array = into if direct else np.empty(len(lane.coef))  # type: ignore[assignment]
    engine.write_weights(weights, averaged)
    if examples.weights is not None:
        weights[np.abs(weights) < _NEXT_TO_NOTHING**0.5] = 0.0  # steps of rows of weight 0
    if into is not None and not direct:
        into[:] = weights
        return into
    return weights.astype(lane.coef.dtype, copy=False)
