"""The learners that labels.py compares: ours with every selection, scikit-learn's, and mord's, each with the
options that are chosen on held-out rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

SKLEARN, SVC, VW, MORD = "scikit-learn's PA", "LinearSVC", "VW --oaa", "mord LogisticAT"
SELECTIONS = ["max", "prediction", "simproj", "conproj", "simperc", "mira"]
DIAGONAL = {0: "", 1: ", diagonal", 10: ", diagonal, slow"}
GRID, SVC_GRID = [0.01, 0.03, 0.1, 0.3, 1.0, 3.0], [0.01, 0.1, 1.0, 10.0]
EITHER = (True, False)

Choice = tuple[float, bool, bool | None]  # C, whether to average, whether to learn an intercept


@dataclass
class Learner:
    """`make(C, average, passes, intercept)` is a fresh estimator; None: it has no choice of an intercept."""

    name: str
    make: Callable[..., Any]
    grid: Sequence[float] = tuple(GRID)
    averages: Sequence[bool] = (False, True)
    intercepts: Sequence[bool | None] = (None,)
    ours: bool = False
    streams: bool = True  # it can learn in one pass

    def choices(self, averages: Sequence[bool], quick: bool) -> list[Choice]:
        grid = self.grid[1::3] if quick else self.grid
        return [(C, average, b) for average in averages for b in self.intercepts for C in grid]

    def fresh(self, choice: Choice, passes: int) -> Any:
        C, average, intercept = choice
        return self.make(C, average, passes, **({} if intercept is None else {"intercept": intercept}))

    @property
    def shown(self) -> str:
        return f"`{self.name}`" if self.ours else self.name


def ours(
    estimator: str, selection: str, intercepts: Sequence[bool | None] = EITHER, diagonal: float = 0
) -> Learner:
    """`diagonal`: with a diagonal covariance, whose regularizer is this number divided by C."""
    import hinge

    more: dict[str, Any] = {"beta": 1.0} if selection == "mira" else {}

    def make(C: float, average: bool, passes: int, intercept: bool | None = None) -> Any:
        chosen = more if intercept is None else {"fit_intercept": intercept, **more}
        if diagonal:
            chosen = {"geometry": "diagonal", "covariance_update": "precision", **chosen}
            chosen["covariance_regularizer"] = diagonal / C
        return getattr(hinge, estimator)(
            C=C, selection=selection, average=average, max_iter=passes, tol=None, random_state=0, **chosen
        )

    return Learner(f"{selection}{DIAGONAL[diagonal]}", make, intercepts=intercepts, ours=True)


def all_of_ours(estimator: str) -> list[Learner]:
    learners = [ours(estimator, selection) for selection in SELECTIONS]
    return learners + [
        ours(estimator, selection, diagonal=d) for selection, d in product(("max", "mira"), (1, 10))
    ]


def default_intercept(estimator: str) -> Learner:
    """'max' with default options. For comparison only: it is not among the candidates."""
    learner = ours(estimator, "max", [True])
    learner.name, learner.ours = "max, intercept", False
    return learner


def sklearn_pa(C: float, average: bool, passes: int, intercept: bool = True) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=C, average=average, max_iter=passes, tol=None,
        shuffle=passes > 1, random_state=0, fit_intercept=intercept,
    )  # fmt: skip


def linear_svc(C: float, average: bool, passes: int) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, dual="auto", random_state=0)


def one_against_rest(make: Callable[..., Any], *choice: Any, **more: Any) -> Any:
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(make(*choice, **more))


def logistic_at(mord: Any, C: float, average: bool, passes: int) -> Any:
    return mord.LogisticAT(alpha=C)


def one_against_all(x: Any, y: Any, classes: int, C: float, intercept: bool = True) -> tuple[float, Any]:
    """Progressive error and weights of scikit-learn's PA-I: each class on its own, all of them row by row.

    As there: the constant feature does not count in the norm, and with CSR its step is divided by 100.
    """
    from scipy.sparse import issparse

    sparse = issparse(x)
    w, b, mistakes = np.zeros((x.shape[1], classes)), np.zeros(classes), 0
    for row, label in enumerate(y.tolist()):
        if sparse:
            part = slice(x.indptr[row], x.indptr[row + 1])
            columns, values = x.indices[part], x.data[part]
            weights = w[columns]
        else:
            values, weights = x[row], w
        scores = values @ weights + b
        mistakes += int(scores.argmax()) != label
        signs = np.full(classes, -1.0)
        signs[label] = 1
        steps = np.minimum(C, np.maximum(0, 1 - signs * scores) / max(values @ values, 1e-300)) * signs
        if sparse:
            w[columns] = weights + values[:, None] * steps
        else:
            w += values[:, None] * steps
        if intercept:
            b += steps * (0.01 if sparse else 1)
    return mistakes / len(y), w.T


def sklearn_progressive(model: Any, x: Any, y: Any) -> float:
    error, weights = one_against_all(x, y, int(y.max()) + 1, model.eta0, model.fit_intercept)
    apart = np.max(np.abs(weights - model.coef_))
    if apart > 1e-6 * max(1, np.max(np.abs(weights))):
        raise AssertionError(f"one_against_all is not what scikit-learn does: weights differ by {apart:.2g}")
    return error
