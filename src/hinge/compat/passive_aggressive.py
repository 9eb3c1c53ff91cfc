"""Drop-in replacements for scikit-learn's PassiveAggressiveClassifier and PassiveAggressiveRegressor.

scikit-learn deprecated its two classes in 1.8 and removes them in 1.10. These have the same parameters, methods and
attributes, and learn the same numbers: the same order of rows for the same `random_state`, the same stopping rule and
the same average. All updates run in hinge's core, not in scikit-learn's SGD code. New code should use
`hinge.PAClassifier` and `hinge.PARegressor`, which follow the paper; docs/guide/from-scikit-learn.md explains the
differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.parallel import Parallel, delayed

from ..estimators import inputs
from ..options.constructors import constructor
from .base import PassiveAggressive
from .passes import Array, Examples, Lane, Mask, make_passes, weights_of_rows

__all__ = ["PassiveAggressiveClassifier", "PassiveAggressiveRegressor"]

_LARGEST_SEED = np.iinfo(np.int32).max


@constructor()
class PassiveAggressiveClassifier(ClassifierMixin, PassiveAggressive):
    """scikit-learn's PassiveAggressiveClassifier, without the deprecation.

    With more than two classes it learns each of them against all others.

    Parameters
    ----------
    C : the largest step of PA-I (loss='hinge'). With PA-II (loss='squared_hinge'), a small C makes short steps.
    fit_intercept : learn an intercept. It does not count in the norm of x; on sparse data it moves by 1/100.
    max_iter, tol, n_iter_no_change : `fit` makes at most max_iter passes. It stops when the mean loss of
        n_iter_no_change successive passes was not lower than the best by more than tol (None: never).
    early_stopping, validation_fraction : hold out this fraction of the data, and stop by the accuracy on it.
    shuffle, random_state : visit the rows in random order, that of scikit-learn for the same seed.
    verbose : print a line for each pass.
    loss : 'hinge' (PA-I) or 'squared_hinge' (PA-II).
    n_jobs : how many classes to learn in parallel, in threads (the core releases the GIL).
    warm_start : `fit` starts from the weights of the last `fit`.
    class_weight : multiplies each step by the weight of its label, after the cap. Weights of 0 or more.
    average : keep the average of the weights in `coef_`; a number starts it at that round.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, t_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from hinge.compat import PassiveAggressiveClassifier
    >>> from sklearn.datasets import make_classification
    >>> X, y = make_classification(n_features=4, random_state=0)
    >>> clf = PassiveAggressiveClassifier(max_iter=1000, random_state=0, tol=1e-3).fit(X, y)
    >>> print(clf.coef_, clf.intercept_)
    [[0.26642044 0.45070924 0.67251877 0.64185414]] [1.84127814]
    """

    _task: ClassVar[str] = "classification"
    _steps: ClassVar[dict[str, str]] = {"hinge": "pa1", "squared_hinge": "pa2"}
    _splitter: ClassVar[Any] = StratifiedShuffleSplit

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "hinge",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        average: bool | int = False,
    ) -> None: ...

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None) -> Self:
        """Learns from 0, from the given weights, or with `warm_start` from those of the last `fit`."""
        self._check_parameters()
        if self.warm_start and hasattr(self, "coef_"):
            coef_init = self.coef_ if coef_init is None else coef_init
            intercept_init = self.intercept_ if intercept_init is None else intercept_init
        X, y = self._validate(X, y, reset=True)
        classes = unique_labels(np.unique(y))
        lanes = self._start(_lanes_for(classes), X, coef_init, intercept_init)
        self._fit_classes(X, y, classes, lanes, 1.0, int(self.max_iter))
        self._warn_if_cut_short()
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """One pass over the rows. The first call needs `classes`, all labels."""
        self._check_parameters()
        first = not hasattr(self, "classes_")
        if first and self.early_stopping:
            raise ValueError("early_stopping should be False with partial_fit")
        if first and isinstance(self.class_weight, str):
            raise ValueError(
                "class_weight 'balanced' is not supported for partial_fit: pass the result of "
                "compute_class_weight('balanced', classes=classes, y=y) on a sample"
            )
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        X, y = self._validate(X, y, reset=first)
        known = inputs.classes(classes) if first else self.classes_
        if classes is not None and not np.array_equal(known, inputs.classes(classes)):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: {known!r}"
            )
        lanes = self._start(_lanes_for(known), X) if first else self._resume()
        self._fit_classes(X, y, known, lanes, 1.0 if first else self.t_, 1)
        return self

    def _fit_classes(
        self, X: Any, y: Array, classes: Array, lanes: list[Lane], t: float, max_iter: int
    ) -> None:
        """Each class against the others; of two, the second against the first."""
        factors = compute_class_weight(self.class_weight, classes=classes, y=y)
        if len(classes) < 2:
            raise ValueError(f"The number of classes has to be greater than one; got {len(classes)} class")
        positive, others = (range(len(classes)), 1.0) if len(lanes) > 1 else (range(1, 2), factors[0])
        signs = [np.where(y == classes[i], 1.0, -1.0) for i in positive]
        seeds, held_out = self._seeds(y, signs)
        passed_over = self._passed_over(X)
        coef = np.empty((len(lanes), X.shape[1]), dtype=lanes[0].coef.dtype)
        work = []
        for i, sign, lane, seed, into in zip(positive, signs, lanes, seeds, coef, strict=True):
            weights = weights_of_rows(sign, factors[i], others)
            examples = Examples(X, sign, weights, held_out, passed_over)
            work.append((self, examples, lane, seed, max_iter, int(t), into))
        if len(work) == 1:
            fitted = [make_passes(*work[0])]
        else:
            parallel = Parallel(n_jobs=self.n_jobs, verbose=self.verbose, require="sharedmem")
            fitted = parallel(delayed(make_passes)(*each) for each in work)
        self.classes_ = classes
        self.n_iter_ = max(number for _, number in fitted)
        self._keep(lanes, [lane for lane, _ in fitted], coef, t, t + self.n_iter_ * X.shape[0])

    def _seeds(self, y: Array, signs: list[Array]) -> tuple[list[int], Mask]:
        """The seed of each lane's shuffling, and the held-out rows, drawn as scikit-learn draws them.

        It draws an unused seed before each one, and shares a RandomState with the split.
        """
        if len(signs) > 1:
            held_out = self._hold_out(y)
            drawn = check_random_state(self.random_state).randint(_LARGEST_SEED, size=len(signs))
            randoms = [np.random.RandomState(seed) for seed in drawn]
            for random in randoms:
                random.randint(1, _LARGEST_SEED)
        else:
            randoms = [check_random_state(self.random_state)]
            randoms[0].randint(1, _LARGEST_SEED)
            held_out = self._hold_out(signs[0])
        return [int(random.randint(_LARGEST_SEED)) for random in randoms], held_out

    def _keep(self, before: list[Lane], after: list[Lane], coef: Array, t_before: float, t: float) -> None:
        several = len(after) > 1
        intercept = np.array([lane.intercept for lane in after], dtype=coef.dtype if several else np.float64)
        self.t_, self.coef_, self.intercept_ = t, coef, intercept
        if not self.average:
            return
        average_coef = np.stack([lane.average_coef for lane in after])
        average_intercept = np.array([lane.average_intercept for lane in after], dtype=coef.dtype)
        began, averages = self.average <= t_before - 1, self.average <= t - 1
        # Once it averages, scikit-learn drops the last intercepts: the next call starts from the previous ones. With
        # more than two classes it also overwrites the averaged intercepts with the last ones.
        if began if several else averages:
            average_intercept = intercept if several else average_intercept
            intercept = np.array([lane.intercept for lane in before], dtype=intercept.dtype)
        self._standard_coef, self._standard_intercept = (coef if several else coef[0]), intercept
        self._average_coef = average_coef if several else average_coef[0]
        self._average_intercept = average_intercept
        if averages:
            self.coef_, self.intercept_ = average_coef, average_intercept

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of the predictions for X."""
        truth, weights = inputs.labels(self, y), inputs.weights(sample_weight)
        return float(super().score(X, truth, weights))

    def decision_function(self, X: Any) -> Array:
        """The scores of each row: one for two classes (positive for `classes_[1]`), otherwise one per class."""
        scores = self._scores(X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: Any) -> Array:
        """The label of each row."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        labels: Array = self.classes_[best]
        return labels


@constructor()
class PassiveAggressiveRegressor(RegressorMixin, PassiveAggressive):
    """scikit-learn's PassiveAggressiveRegressor, without the deprecation.

    Parameters
    ----------
    loss : 'epsilon_insensitive' (PA-I) or 'squared_epsilon_insensitive' (PA-II).
    epsilon : errors up to epsilon cost nothing.
    The others : as in `PassiveAggressiveClassifier`; `early_stopping` uses R^2.

    Attributes
    ----------
    coef_, intercept_, n_iter_, t_, n_features_in_, feature_names_in_

    Examples
    --------
    >>> from hinge.compat import PassiveAggressiveRegressor
    >>> from sklearn.datasets import make_regression
    >>> X, y = make_regression(n_features=4, random_state=0)
    >>> regr = PassiveAggressiveRegressor(max_iter=100, random_state=0, tol=1e-3).fit(X, y)
    >>> print(regr.coef_, regr.intercept_)
    [20.48736655 34.18818427 67.59122734 87.94731329] [-0.02306214]
    """

    _task: ClassVar[str] = "regression"
    _steps: ClassVar[dict[str, str]] = {"epsilon_insensitive": "pa1", "squared_epsilon_insensitive": "pa2"}
    _splitter: ClassVar[Any] = ShuffleSplit

    def __init__(
        self,
        *,
        C: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        shuffle: bool = True,
        verbose: int = 0,
        loss: str = "epsilon_insensitive",
        epsilon: float = 0.1,
        random_state: int | np.random.RandomState | None = None,
        warm_start: bool = False,
        average: bool | int = False,
    ) -> None: ...

    def fit(self, X: Any, y: Any, coef_init: Any = None, intercept_init: Any = None) -> Self:
        """Learns from 0, from the weights that are given, or with `warm_start` from those of the last fit.

        A warm start takes precedence over given weights.
        """
        self._check_parameters()
        first = not (self.warm_start and hasattr(self, "coef_"))
        X, y = self._validate(X, y, reset=first)
        lanes = self._start(1, X, coef_init, intercept_init) if first else self._resume()
        self._fit_numbers(X, y, lanes[0], 1.0, int(self.max_iter))
        self._warn_if_cut_short()
        return self

    def partial_fit(self, X: Any, y: Any) -> Self:
        """One pass over the rows."""
        self._check_parameters()
        first = not hasattr(self, "coef_")
        if first and self.early_stopping:
            raise ValueError("early_stopping should be False with partial_fit")
        X, y = self._validate(X, y, reset=first)
        lanes = self._start(1, X) if first else self._resume()
        self._fit_numbers(X, y, lanes[0], 1.0 if first else self.t_, 1)
        return self

    def _fit_numbers(self, X: Any, y: Array, lane: Lane, t: float, max_iter: int) -> None:
        held_out = self._hold_out(y)
        random = check_random_state(self.random_state)
        seed = int(random.randint(_LARGEST_SEED))
        random.randint(1, _LARGEST_SEED)  # scikit-learn draws a second one that it does not use
        examples = Examples(X, y.astype(np.float64), None, held_out, self._passed_over(X))
        coef = np.empty_like(lane.coef)
        lane, self.n_iter_ = make_passes(self, examples, lane, seed, max_iter, int(t), coef)
        self.t_ = t + self.n_iter_ * X.shape[0]
        self.coef_, self.intercept_ = lane.coef, np.array([lane.intercept])
        if self.average:
            self._standard_coef, self._standard_intercept = self.coef_, self.intercept_
            self._average_coef = lane.average_coef
            self._average_intercept = np.array([lane.average_intercept])
            if self.average <= self.t_ - 1:
                self.coef_, self.intercept_ = self._average_coef, self._average_intercept

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions for X."""
        truth, weights = inputs.numbers(self, y), inputs.weights(sample_weight)
        return float(super().score(X, truth, weights))

    def predict(self, X: Any) -> Array:
        """w.x (with the intercept) of each row."""
        return self._scores(X).ravel()


def _lanes_for(classes: Array) -> int:
    return len(classes) if len(classes) > 2 else 1
