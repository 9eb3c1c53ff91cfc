"""Regression: the truth is a number, and errors up to epsilon cost nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..data.labels import Labels
from .task import Task


class Regression(Task):
    name = core = options_of = "regression"
    estimator = ("estimators.regressor", "PARegressor")
    has_linear_rows = True
    steps = ("pa", "pa1", "pa2")
    has_intercept = True
    has_exact_lattice = True
    keeps_open_step = True
    reads_numbers = True
    error_words, error_is_share = "off", False
    suffers_cost = True

    def default_step(self, options: Mapping[str, Any]) -> str:
        """Steps of at most C cannot keep up as the variances of a covariance shrink."""
        return "pa2" if options.get("geometry") in ("mahalanobis", "diagonal") else "pa1"

    def truth(self, label: Any, labels: Labels) -> Any:
        number = super().truth(label, labels)
        if isinstance(number, (str, bool)) or not math.isfinite(number):
            raise ValueError(f"the label {number!r} is not a number (--task classification learns names)")
        return number

    def is_known(self, label: Any, labels: Labels) -> bool:
        return label is not None and label != []

    def costs(self, made: Sequence[Any], truth: Sequence[Any], labels: Labels) -> list[float]:
        return [float(abs(a - b)) for a, b in zip(made, truth, strict=True)]
