"""The functions that `PAStructured` is made of."""

from __future__ import annotations

from ..parameter import REQUIRED, Parameter
from ..validators import or_none

ROWS = (
    Parameter(
        "joint_features",
        REQUIRED,
        "Callable[[Any, Any], Any]",
        "a function of x and y",
        callable,
        "Phi(x, y): a dict {name: number}, an array of one dimension, or a sparse row (1 x n); always the same kind, "
        "arrays and rows always of the same length. In dicts strings and booleans are indicators, as in all events.",
    ),
    Parameter(
        "argmax",
        REQUIRED,
        "Callable[[Any, Any], Any]",
        "a function of w and x",
        callable,
        "The output that scores highest. With dicts, w has `w[name]`, `w.get(name)` (0.0 for a name that was never "
        "learned) and `w.dot(features)`; otherwise it is an array. It cannot be written to. While learning it is w as "
        "it is now, while predicting the average, if `average`.",
    ),
    Parameter(
        "cost",
        REQUIRED,
        "Callable[[Any, Any], float]",
        "a function of y and y'",
        callable,
        "What it costs to predict y' when y is true: a finite number, 0 or more, 0 for y itself.",
    ),
    Parameter(
        "loss_augmented_argmax",
        None,
        "Callable[[Any, Any, Any], Any] | None",
        "a function of w, x and y, or None",
        or_none(callable),
        "For selection='max' the output y' with the largest w.Phi(x, y') + margin * sqrt(cost(y, y')), for "
        "selection='max-additive' with the largest w.Phi(x, y') + margin * cost(y, y'): it competes with y, not yhat.",
    ),
)
