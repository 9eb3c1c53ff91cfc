"""The functions that `PAStructured` is made of."""

from __future__ import annotations

from ..kinds import Kind, function
from ..parameter import REQUIRED, Parameter
from ..validators import or_none

ROWS = (
    Parameter(
        "joint_features",
        REQUIRED,
        function("x and y", "[Any, Any], Any"),
        "Phi(x, y): a dict {name: number}, an array of one dimension, or a sparse row (1 x n); always the same kind, "
        "arrays and rows always of the same length. In dicts, strings and booleans are indicators, as in all events.",
    ),
    Parameter(
        "argmax",
        REQUIRED,
        function("w and x", "[Any, Any], Any"),
        "The output that scores highest. With dicts, w has `w[name]`, `w.get(name)` (0.0 for a name that was never "
        "learned) and `w.dot(features)`; otherwise it is an array. It is read-only. While learning it is the current "
        "w, while predicting the average, if `average`.",
    ),
    Parameter(
        "cost",
        REQUIRED,
        function("y and y'", "[Any, Any], float"),
        "What it costs to predict y' when y is true: a finite number, 0 or more, 0 for y itself.",
    ),
    Parameter(
        "loss_augmented_argmax",
        None,
        Kind(
            "Callable[[Any, Any, Any], Any] | None",
            "a function of w, x and y, or None",
            or_none(callable),
        ),
        "The output y' that competes with y: for selection='max' the one with the largest w.Phi(x, y') + margin * "
        "sqrt(cost(y, y')), for selection='max-additive' with the largest w.Phi(x, y') + margin * cost(y, y'). None: "
        "the predicted output competes with y (selection='prediction').",
    ),
)
