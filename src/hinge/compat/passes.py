"""How scikit-learn's Passive-Aggressive `fit` goes over the data: its order of rows, stopping and average.

Only for `hinge.compat`, which learns the same numbers. Every update runs in the core; here is what lies
between the passes. A `Lane` is one linear predictor, before and after all passes; meanwhile it is in an engine.
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
    """One linear predictor: the weights it has, and the average of those it had."""

    coef: Array
    intercept: float
    average_coef: Array
    average_intercept: float
    is_zero: bool = False  # whether it certainly has no weights yet: nobody has to look


@dataclass(frozen=True)
class Examples:
    """What the passes of one lane go over."""

    X: Any
    y: Array  # -1 and +1, or numbers
    weights: Array | None
    held_out: Mask  # the rows that `early_stopping` keeps for its score
    passed_over: Mask | None  # the rows that count in the loss, but not in the average


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
    average: int  # 0: no average; else the round from which on vectors are counted
    verbose: int

    def run(
        self, examples: Examples, lane: Lane, seed: int, max_iter: int, t: int, into: Array
    ) -> tuple[Lane, int]:
        """Passes until `n_iter_no_change` of them in a row improved nothing by tol; and how many they were.

        What should improve is the mean loss, or with `early_stopping` the score of the held-out rows.
        The weights of the lane that is returned are written to `into`.
        """
        order = np.arange(len(examples.y), dtype=np.int64)
        best, waited, began = -np.inf, 0, time.perf_counter()
        first = max(1, self.average - t + 1) if self.average else 0  # the first round that is counted
        engine, number = self._engine(examples, lane, first), 0
        while number < max_iter and waited < self.n_iter_no_change:
            number += 1
            if self.shuffle:  # each pass shuffles the order of the last one again, with the same seed
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
            beside = self._engine(examples, _moved(engine, examples, lane), 0)
            loss = _learn(beside, examples, order)
            order = order[~examples.passed_over[order]]
        learned = _learn(engine, examples, order)
        return learned if loss is None else loss

    @staticmethod
    def _averaged(engine: Engine, examples: Examples, lane: Lane, known: int, fresh: int) -> Lane:
        """The lane with `fresh` more vectors in its average, which had `known` ones."""
        if not fresh:
            return lane
        # When the average begins, nothing should be in it. After a warm start of the regressor something is,
        # and scikit-learn leaves it in the sum, once (in that of the weights, not of the intercept).
        total = max(known, 1) * lane.average_coef + fresh * _weights_of(engine, examples, lane, True)
        return replace(
            lane,
            average_coef=(total / (known + fresh)).astype(lane.coef.dtype, copy=False),
            average_intercept=(known * lane.average_intercept + fresh * engine.bias(0, True))
            / (known + fresh),
        )

    def _engine(self, examples: Examples, lane: Lane, average_from: int) -> Engine:
        """The lane, to be learned by the core."""
        rate = _SPARSE_INTERCEPT_RATE if issparse(examples.X) else 1.0
        engine = Engine(
            task=self.task,
            step=self.step,
            C=self.C,
            epsilon=self.epsilon,
            fit_intercept=True,  # an intercept that is given counts even if it is not to move
            intercept_rate=rate if self.fit_intercept else 0.0,
            single=lane.coef.dtype == np.float32,
            average_from=average_from,
            scikit_learn=True,
            max_features=2**40,
        )
        if not lane.is_zero and (lane.intercept != 0 or lane.coef.any()):  # an engine starts at 0
            engine.start_at(
                np.ascontiguousarray(lane.coef, dtype=np.float64),
                np.asarray([lane.intercept], dtype=np.float64),
            )
        return engine

    def _held_out_score(self, engine: Engine, examples: Examples, lane: Lane) -> float:
        """The accuracy, or R^2, of the weights as they are (not of the average)."""
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

    To the core a weight of 0 means that there was no round; to scikit-learn it is a round whose step is 0.
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
    """The rounds of the rows of `order`, and the sum of their losses."""
    rows = rows_of(examples.X)
    learn: Any = engine.learn_dense if rows.indptr is None else engine.learn_sparse
    engine.reset_losses()
    learn(*rows.arrays, examples.y, weights=examples.weights, order=order)
    loss: float = engine.statistics()[3]
    return loss


def _moved(engine: Engine, examples: Examples, lane: Lane, into: Array | None = None) -> Lane:
    """The lane with the weights that the engine has learned."""
    coef = _weights_of(engine, examples, lane, False, into)
    return replace(lane, coef=coef, intercept=engine.bias(0, False), is_zero=False)


def _weights_of(
    engine: Engine, examples: Examples, lane: Lane, averaged: bool, into: Array | None = None
) -> Array:
    """The weights of the engine, in `into` if it is given."""
    direct = into is not None and into.dtype == np.float64
    weights: Array = into if direct else np.empty(len(lane.coef))  # type: ignore[assignment]
    engine.write_weights(weights, averaged)
    if examples.weights is not None:
        weights[np.abs(weights) < _NEXT_TO_NOTHING**0.5] = 0.0  # what rows of weight 0 left behind
    if into is not None and not direct:
        into[:] = weights
        return into
    return weights.astype(lane.coef.dtype, copy=False)
