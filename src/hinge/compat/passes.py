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


def make_passes(
    model: Any, examples: Examples, lane: Lane, seed: int, max_iter: int, t: int, into: Array
) -> tuple[Lane, int]:
    """Makes the passes of one lane of an estimator. Returns the lane, with its weights in `into`, and the number of
    passes."""
    return _Passes(model, examples, lane, t).run(seed, max_iter, into)


class _Passes:
    def __init__(self, model: Any, examples: Examples, lane: Lane, t: int) -> None:
        self.model, self.examples, self.lane = model, examples, lane
        average = int(model.average)  # 0: no average; else the first round that counts
        self.averaged = max(0, t - average)  # how many vectors are in the average of the lane
        self.first = max(1, average - t + 1) if average else 0  # the first of the new rounds that counts
        self.engine = self._engine_at(lane, self.first)

    def run(self, seed: int, max_iter: int, into: Array) -> tuple[Lane, int]:
        """Stops when `n_iter_no_change` successive passes have not improved the result by tol. The result is the mean
        loss, or with `early_stopping` the score of the held-out rows."""
        model, examples, engine = self.model, self.examples, self.engine
        order = np.arange(len(examples.y), dtype=np.int64)
        tol = -np.inf if model.tol is None else float(model.tol)
        number, best, waited, began = 0, -np.inf, 0, time.perf_counter()
        while number < max_iter and waited < model.n_iter_no_change:
            number += 1
            if model.shuffle:  # each pass shuffles the previous order again, with the same seed
                shuffle_like_scikit_learn(order, seed)
            visited = order[~examples.held_out[order]] if model.early_stopping else order
            mean = self._pass(visited) / len(visited)
            score = self._held_out_score() if model.early_stopping else -mean
            if model.verbose:
                self._report(number, mean, score)
            waited = waited + 1 if score < best + tol else 0
            best = score if score > best else best  # not `max`: a score may be NaN
        if model.verbose and waited >= model.n_iter_no_change:
            print(f"Convergence after {number} epochs took {time.perf_counter() - began:.2f} seconds")
        lane = self._learned(into)
        fresh = max(0, engine.statistics()[0] - self.first + 1) if self.first else 0
        return self._with_average(lane, fresh) if fresh else lane, number

    def _pass(self, order: Array) -> float:
        """One pass over the rows of `order`: the sum of the losses."""
        passed_over = self.examples.passed_over
        if passed_over is None:
            return self._learn(self.engine, order)
        loss = self._learn(self._engine_at(self._learned(), 0), order)
        self._learn(self.engine, order[~passed_over[order]])
        return loss

    def _learn(self, engine: Engine, order: Array) -> float:
        examples = self.examples
        rows = rows_of(examples.X)
        learn: Any = engine.learn_dense if rows.indptr is None else engine.learn_sparse
        engine.reset_losses()
        learn(*rows.arrays, examples.y, weights=examples.weights, order=order)
        loss: float = engine.statistics()[3]
        return loss

    def _engine_at(self, lane: Lane, average_from: int) -> Engine:
        """An engine that continues from a lane."""
        model = self.model
        rate = _SPARSE_INTERCEPT_RATE if issparse(self.examples.X) else 1.0
        engine = Engine(
            task=model._task,
            step=model._steps[model.loss],
            C=float(model.C),
            epsilon=float(getattr(model, "epsilon", 0.0)),
            fit_intercept=True,  # a given intercept counts even if it is fixed
            intercept_value=1.0,
            intercept_rate=rate if model.fit_intercept else 0.0,
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

    def _learned(self, into: Array | None = None) -> Lane:
        """The lane with the weights of the engine."""
        coef = self._weights(False, into)
        return replace(self.lane, coef=coef, intercept=self.engine.bias(0, False), is_zero=False)

    def _weights(self, averaged: bool, into: Array | None = None) -> Array:
        """The weights of the engine, written to `into` if given."""
        direct = into is not None and into.dtype == np.float64
        weights: Array = into if direct else np.empty(len(self.lane.coef))  # type: ignore[assignment]
        self.engine.write_weights(weights, averaged)
        if self.examples.weights is not None:
            weights[np.abs(weights) < _NEXT_TO_NOTHING**0.5] = 0.0  # steps of rows of weight 0
        if into is not None and not direct:
            into[:] = weights
            return into
        return weights.astype(self.lane.coef.dtype, copy=False)

    def _with_average(self, lane: Lane, fresh: int) -> Lane:
        """The lane with the average of its vectors and `fresh` new ones."""
        # A new average should start empty. After a warm start of the regressor it does not, and scikit-learn leaves
        # the old average in the sum of the weights, once, but not in that of the intercepts.
        known, count = self.averaged, self.averaged + fresh
        total = max(known, 1) * lane.average_coef + fresh * self._weights(True)
        intercepts = known * lane.average_intercept + fresh * self.engine.bias(0, True)
        return replace(
            lane,
            average_coef=(total / count).astype(lane.coef.dtype, copy=False),
            average_intercept=intercepts / count,
        )

    def _held_out_score(self) -> float:
        """The accuracy, or R^2, of the current weights (not of the average)."""
        lane, examples = self._learned(), self.examples
        X, y = examples.X[examples.held_out], examples.y[examples.held_out]
        scores = safe_sparse_dot(X, lane.coef) + lane.intercept
        if TASKS[self.model._task].reads_numbers:
            return float(r2_score(y, scores))
        return float(np.mean((scores > 0) == (y > 0)))

    def _report(self, number: int, mean: float, score: float) -> None:
        lane, rounds = self._learned(), self.engine.statistics()[0]
        print(f"-- Epoch {number}")
        print(
            f"Norm: {np.linalg.norm(lane.coef):.2f}, NNZs: {np.count_nonzero(lane.coef)}, "
            f"Bias: {lane.intercept:.6f}, T: {rounds}, Avg. loss: {mean:.6f}"
            + (f", Validation score: {score:.6f}" if self.model.early_stopping else "")
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
