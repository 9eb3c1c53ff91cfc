"""What `PAStructured` is given: functions, and lists of examples, which may be anything, with their weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ..data.errors import InputError
from ..data.events import as_list
from ..data.rows import as_numbers
from ..options.table import structures

if TYPE_CHECKING:
    from ..data.types import Doubles

FUNCTIONS = tuple(row.name for row in structures.ROWS)


def check_search(selection: str, loss_augmented_argmax: Any) -> None:
    given = loss_augmented_argmax is not None
    if selection == "prediction" and given:
        raise ValueError(
            "selection='prediction' does not use loss_augmented_argmax: choose 'max', if it finds the largest "
            "w.Phi + margin * sqrt(cost), or 'max-additive', if the largest w.Phi + margin * cost; or leave it out"
        )
    if selection != "prediction" and not given:
        raise ValueError(f"selection={selection!r} needs loss_augmented_argmax")


class Batch:
    """Inputs, their outputs, and their weights."""

    def __init__(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        self.X, self.y = as_list(X, "X", "of inputs"), as_list(y, "y", "of outputs")
        self.count = len(self.X)
        if len(self.y) != self.count:
            raise ValueError(f"y has {len(self.y)} entries for {self.count} examples")
        given = np.ones(self.count) if sample_weight is None else sample_weight
        self.weights: list[float] = checked_weights(given, self.count).tolist()


def checked_weights(given: Any, count: int) -> Doubles:
    weights = as_numbers(given, "sample_weight")
    if len(weights) != count:
        raise ValueError(f"sample_weight has {len(weights)} entries for {count} examples")
    odd = ~((weights >= 0) & (weights < np.inf))
    if odd.any():
        row = int(odd.argmax())
        raise InputError(f"the sample weight is {weights[row]}; it must be 0 or more, and finite", row)
    return weights
