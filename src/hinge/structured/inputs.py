"""Checks of what the structured learners receive: lists of examples, their outputs and their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.errors import InputError
from ..data.events import as_list
from ..data.rows import as_numbers
from ..data.targets import number
from ..options.table import structures

if TYPE_CHECKING:
    from ..data.types import Doubles

FUNCTIONS = tuple(row.name for row in structures.ROWS)


class Batch:
    """Inputs, their outputs, and their weights."""

    def __init__(
        self, X: Any, y: Any, sample_weight: Any, inputs: str = "of inputs", outputs: str = "of outputs"
    ) -> None:
        self.X = as_list(X, "X", inputs)
        self.count = len(self.X)
        self.y = one_for_each(as_list(y, "y", outputs), self.count)
        weights = checked_weights(sample_weight, self.count)
        self.weights: list[float] = [1.0] * self.count if weights is None else weights.tolist()


def one_for_each(y: list[Any], count: int, examples: str = "examples") -> list[Any]:
    if len(y) != count:
        raise ValueError(f"y has {len(y)} entries for {count} {examples}")
    return y


def checked_weights(sample_weight: Any, count: int, examples: str = "examples") -> Doubles | None:
    if sample_weight is None:
        return None
    weights = as_numbers(sample_weight, "sample_weight")
    if len(weights) != count:
        raise ValueError(f"sample_weight has {len(weights)} entries for {count} {examples}")
    invalid = ~((weights >= 0) & (weights < np.inf))
    if invalid.any():
        row = int(invalid.argmax())
        raise InputError(_invalid(weights[row]), row)
    return weights


def checked_weight(weight: Any) -> float:
    """The weight of one example."""
    value = weight if type(weight) is float else number(weight, "the sample weight")
    if not 0 <= value < np.inf:
        raise InputError(_invalid(value))
    return value


def _invalid(weight: float) -> str:
    return f"the sample weight is {weight}; it must be 0 or more, and finite"
