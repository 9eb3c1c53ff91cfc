"""The labels of a batch as a task takes them, and the places of what is rejected."""

from __future__ import annotations

from typing import Any

from .._core import TextPart
from ..data.errors import InputError
from ..data.labels import Labels
from ..tasks.task import Task
from .batches import Batch, has_one_label_each, listed_labels, taken


def truths(batch: Batch, name: str, task: Task, known: Labels) -> list[Any]:
    """The labels of a batch as the task takes them."""
    labels = listed_labels(batch)
    if task.core_knows_labels and set(map(type, labels)) <= {str, int, float, bool}:
        return labels
    y = []
    for row, label in enumerate(labels):
        try:
            y.append(task.truth(label, known))
        except ValueError as error:
            raise InputError(str(error), row, file=name, line=batch.lines[row]) from None
    return y


def labelled(batch: Batch, task: Task) -> list[int] | None:
    """The rows that have a label; None: all have one, or need none. An empty list says that no label is relevant, which
    is something to learn where there are sets of labels; svmlight has no other way to write it."""
    if not task.needs_labels or has_one_label_each(batch) or (task.has_label_sets and batch.numbered):
        return None
    no_set = task.has_label_sets and not isinstance(batch.X, TextPart)
    missing: tuple[Any, ...] = (None,) if no_set else (None, [])
    rows = [row for row, label in enumerate(listed_labels(batch)) if label not in missing]
    return None if len(rows) == len(batch) else rows


def with_labels(batch: Batch, task: Task) -> Batch:
    """The examples that the task can learn from."""
    rows = labelled(batch, task)
    return batch if rows is None else taken(batch, rows)


def located(error: Exception, batch: Batch, name: str) -> Exception:
    """An error of a row of the batch, with its line in the file."""
    found = error if isinstance(error, InputError) else InputError(str(error))
    row = 0 if found.row is None and len(batch) == 1 else found.row
    if row is None or row >= len(batch):
        return error
    reason, column = found.reason, found.column
    if isinstance(column, int):  # in a file, that would be a place in the line
        index = f"index {column + batch.first_index}" if isinstance(batch.X, TextPart) else f"column {column}"
        reason, column = f"{index}: {reason}", None
    return InputError(reason, row, column, name, batch.lines[row])


def has_labels(batch: Batch, task: Task) -> bool:
    """Whether every example has a label. (Sets of labels may be empty: one that is not is enough.)"""
    if not task.needs_labels:
        return True
    if isinstance(batch.X, TextPart):
        return len(batch.X.labels) > 0 if task.has_label_sets else batch.X.one_label_each
    present = [label is not None for label in batch.labels or ()]
    return any(present) if task.has_label_sets else all(present)
