"""Parameter: one row of the options table. And the sets of tasks that the rows name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter as _Argument
from typing import Any

from ..tasks import TASKS, task_named
from .kinds import Kind

ALL_TASKS = tuple(TASKS)
LABELS = ("classification", "multilabel", "ordinal", "prototype")
SEARCHED = ("sequence", "structured")
ONE_VECTOR = ("classification", "regression", "uniclass", "multilabel", "ordinal")  # per example
ALL_BUT_PROTOTYPE = (*ONE_VECTOR, *SEARCHED)
LINEAR = ("classification", "regression", "multilabel")
SCALED = ("classification", "regression", "multilabel", "ordinal")
SHAPED = ("classification", "regression", "multilabel", "ordinal", *SEARCHED)
SIMPLEX = ("classification", "regression", "uniclass")

REQUIRED = _Argument.empty  # the default of an option that must be given


@dataclass(frozen=True)
class Parameter:
    """One option."""

    name: str
    default: Any
    kind: Kind
    help: str
    tasks: tuple[str, ...] = ALL_TASKS

    def is_for(self, task: str) -> bool:
        """Whether the task has this option."""
        return task_named(task).options_of in self.tasks

    @property
    def type(self) -> str:
        return self.kind.type

    @property
    def allowed(self) -> str:
        return self.kind.allowed

    @property
    def accepts(self) -> Callable[[Any], bool]:
        return self.kind.accepts
