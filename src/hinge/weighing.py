"""Weights of examples that can have no effect are reported."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np


class IneffectiveWeights(UserWarning):
    """`sample_weight` or `class_weight` was given, and the model is the same as without."""


def warn_if_ineffective(learner: Any, weights: Any, stacklevel: int) -> None:
    """After `fit` with `weights`, one per example. A weight of 0 leaves an example out, which is an effect."""
    if weights is None:
        return
    given, seen = np.asarray(weights, dtype=np.float64), learner.statistics
    if seen.weighted or not seen.updates or (given == 1).all() or (given == 0).any():
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
