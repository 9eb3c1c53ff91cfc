"""Weights of examples: what may be one, and those that can have no effect, which are reported."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any

from .errors import InputTypeError
from .shown import shown
from .targets import number


class IneffectiveWeights(UserWarning):
    """`sample_weight` or `class_weight` was given, and the model is the same as without."""


def check_weight(weight: Any) -> None:
    """Raises an error with the reason; the core only reports that the type is wrong."""
    try:
        number(weight)
    except ValueError:
        raise InputTypeError(f"the weight must be a number, 0 or more, not {shown(weight)}") from None


def weighs(weight: Any) -> bool:
    """Whether an example teaches anything. (numpy's numbers are numbers, too; the core rejects what is not one.)"""
    return isinstance(weight, Real) and float(weight) > 0


class GivenWeights:
    """Which weights came with the examples. A weight of 0 leaves an example out, which is an effect."""

    def __init__(self) -> None:
        self.matter = False  # whether one was not 1
        self.leave_out = False

    def see(self, weights: Any) -> None:
        """One per example, or one per label; None: all are 1."""
        if weights is not None and not (self.matter and self.leave_out):
            import numpy as np

            given = np.asarray(weights, dtype=np.float64)
            self.matter = self.matter or not bool((given == 1).all())
            self.leave_out = self.leave_out or bool((given == 0).any())

    def changed_nothing(self, learner: Any) -> bool:
        """Whether `learner`, which has learned with these weights, would be the same without them."""
        seen = learner.statistics
        return self.matter and not self.leave_out and seen.updates > 0 and not seen.weighted


def warn_if_ineffective(learner: Any, weights: Any, stacklevel: int) -> None:
    """After `fit` with `weights`, one per example."""
    given = GivenWeights()
    given.see(weights)
    if not given.changed_nothing(learner):
        return
    p = learner.parameters
    if p["step"] == "pa1":
        why = f"they scale C={p['C']!r}, and no step was as long as that: lower C, or use step='pa2'"
    else:
        why = f"step={p['step']!r} does not use them: use 'pa1' with a small C, or 'pa2'"
    warnings.warn(
        f"the weights (sample_weight, class_weight) changed nothing: {why}",
        IneffectiveWeights,
        stacklevel=stacklevel,
    )
