"""The content of a learner's file: a header of JSON, and arrays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ..data.labels import Labels
from . import encoding, engine, file

if TYPE_CHECKING:
    from ..learner import Learner
    from ..tasks.task import Task


def parts_of(learner: Learner, defaults: dict[str, Any]) -> tuple[dict[str, Any], file.Tensors]:
    """The header, and buffers, which need no numpy. Parameters that have their `defaults` are omitted."""
    with learner._lock:
        tensors, labels = learner._engine.state(), learner.labels
    file.check_state(tensors)
    header = {
        "kind": "Learner",
        "task": learner.task,
        "parameters": encoding.without_defaults(encoding.encoded(learner.parameters, tensors), defaults),
        "lanes": labels.lanes,
        "closed": learner.closed,
        "arrays_fit": learner._arrays_fit,
        "notes": file.checked_notes(learner.notes),
    }
    return header, tensors


def restore(
    learner: Learner, task: Task, parameters: dict[str, Any], header: dict[str, Any], tensors: file.Tensors
) -> None:
    """Sets up a new learner with the content of its file."""
    labels = Labels(json.loads(tensors["labels"].tobytes()), header["lanes"])
    _check_labels(labels, task.first_labels(parameters), parameters["max_labels"])
    learner._set_up(task, parameters)
    learner.closed, learner._arrays_fit = bool(header["closed"]), bool(header["arrays_fit"])
    learner.notes = file.notes_of(header)
    learner._engine = engine.restored(learner, labels, tensors)


def _check_labels(labels: Labels, first: Labels, limit: int) -> None:
    """Raises unless a learner that began with the labels `first` can have these."""
    if labels.known[: len(first.known)] != first.known or labels.lanes < first.lanes:
        raise ValueError(f"its labels {labels.listed()} are not those of its parameters")
    if len(labels.known) > limit:
        raise ValueError(f"it has {len(labels.known)} labels, the limit is {limit} (max_labels)")
