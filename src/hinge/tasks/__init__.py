"""What differs by task: one file per task, and the registry of all of them."""

from __future__ import annotations

from collections.abc import Iterable

from .classification import Classification
from .multilabel import Multilabel
from .ordinal import Ordinal
from .prototype import Prototype
from .regression import Regression
from .sequence import SequenceLabelling
from .structured import Structured
from .task import Task
from .uniclass import Uniclass

TASKS: dict[str, Task] = {
    "classification": Classification(),
    "regression": Regression(),
    "uniclass": Uniclass(),
    "multilabel": Multilabel(),
    "ordinal": Ordinal(),
    "sequence": SequenceLabelling(),
    "prototype": Prototype(),
    "structured": Structured(),
}


def learner_tasks() -> list[str]:
    """The names of the tasks of `Learner`."""
    return [name for name, task in TASKS.items() if task.has_learner]


def on_streams() -> list[str]:
    """The names of the tasks that the command line has."""
    return [name for name, task in TASKS.items() if task.on_streams]


def task_named(name: str, among: Iterable[str] | None = None) -> Task:
    """The task of this name; `among`: those that are possible, if not all are."""
    possible = list(TASKS if among is None else among)
    if name not in possible:
        raise ValueError(f"task must be one of {', '.join(map(repr, possible))}, not {name!r}")
    return TASKS[name]
