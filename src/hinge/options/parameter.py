"""Parameter: one row of the options table. And the sets of tasks that the rows name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter as _Argument
from typing import Any

from .combinations import SEARCHED

# The tasks, and their estimators.
ESTIMATORS = {
    "classification": "PAClassifier",
    "regression": "PARegressor",
    "uniclass": "PAOneClass",
    "multilabel": "PAMultilabel",
    "ordinal": "PAOrdinal",
    "prototype": "PARanker",
    "structured": "PAStructured",
    "sequence": "PASequence",
}
ALL_TASKS = tuple(ESTIMATORS)
TASKS = tuple(task for task in ALL_TASKS if task != "sequence")  # those of `Learner`
ALL_BUT_PROTOTYPE = tuple(task for task in ALL_TASKS if task != "prototype")
ONE_VECTOR = ("classification", "regression", "uniclass", "multilabel", "ordinal")  # per example
LINEAR = ("classification", "regression", "multilabel")
SHAPED = ("classification", "regression", "multilabel", "ordinal", *SEARCHED)
SIMPLEX = ("classification", "regression", "uniclass")

REQUIRED = _Argument.empty  # the default of an option that must be given


@dataclass(frozen=True)
class Parameter:
    """One option. `allowed` says in words what `accepts` tests; `type` is the annotation for type checkers."""

    name: str
    default: Any
    type: str
    allowed: str
    accepts: Callable[[Any], bool]
    help: str
    tasks: tuple[str, ...] = ALL_TASKS
