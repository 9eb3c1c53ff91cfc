"""A batch of rows or events as the core learns it: all of it, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..data.errors import rows_from
from ..data.events import event_list
from ..data.label_arrays import codes_of
from ..data.rows import Rows, as_order, frame_values
from ..data.target_arrays import example_weights, labels_of
from ..data.targets import Encoded
from ..model import columns
from . import new_labels

if TYPE_CHECKING:
    import numpy.typing as npt

    from .._core import EventPart
    from ..data.types import Doubles
    from ..learner import Learner


def learn_rows(
    learner: Learner,
    rows: Rows,
    y: Any,
    sample_weight: npt.ArrayLike | None = None,
    *,
    order: npt.ArrayLike | None = None,
    tolerance: float | None = None,
    max_updates: int | None = None,
    grow: bool = True,
    repeats: bool = False,
) -> int:
    """One pass over rows; see `Learner.learn`. `grow`: whether labels may be new. `repeats`: the rows may have come
    before, in an earlier pass. Returns how many were presented."""
    options: dict[str, Any] = {"first": 0, "repeats": True} if repeats else {}
    visits = None if order is None else as_order(order, rows.count)
    if visits is not None:
        options["order"] = visits
    if tolerance is not None:
        if not tolerance >= 0:
            raise ValueError(f"tolerance must be 0 or more, not {tolerance!r}")
        options["tolerance"] = float(tolerance)
    if max_updates is not None:
        options["max_updates"] = int(max_updates)
    weights = example_weights(sample_weight, learner._class_weight, y, rows.count)
    with learner._lock:
        learner._named = False
        updates, examples = learner._engine.statistics()[2], learner._engine.n_examples

        def learn(part: slice, truth: Encoded) -> int:
            engine = learner._engine
            learn_rows: Any = engine.learn_dense if rows.indptr is None else engine.learn_sparse
            if part != whole:  # some of the visits
                options["order"] = np.arange(part.start, part.stop) if visits is None else visits[part]
                options.setdefault("first", examples)
                if max_updates is not None:
                    options["max_updates"] = int(max_updates) - (engine.statistics()[2] - updates)
            presented: int = learn_rows(
                *rows.arrays, truth.y, classes=truth.classes, label_starts=truth.starts, weights=weights, **options
            )  # fmt: skip
            return presented

        whole = slice(0, rows.count if visits is None else len(visits))
        return new_labels.learn_batch(learner, y, rows.count, weights, learn, grow, visits)


def learn_frame(learner: Learner, frame: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
    if learner.parameters["geometry"] == "entropy":
        # A simplex grows with its columns: they come with the first value that is not 0, as in events.
        values, names = frame_values(frame)
        events = [dict(zip(names, row, strict=True)) for row in values.tolist()]
        learn_events(learner, events, y, sample_weight)
        return
    with learner._lock:
        known, rounds = learner.n_features, learner._engine.statistics()[0]
        try:
            learn_rows(learner, columns.named(learner, frame, learning=True), y, sample_weight)
        except BaseException:
            if learner._engine.statistics()[0] == rounds:  # else an interrupt came right after it
                learner._engine.forget(known)
            raise


def learn_events(
    learner: Learner, events: list[dict[Any, Any]] | EventPart, y: Any, sample_weight: npt.ArrayLike | None
) -> None:
    weights = example_weights(sample_weight, learner._class_weight, y, len(events))
    with learner._lock:
        learner._events()

        def learn(rows: slice, truth: Encoded) -> int:
            y, _, starts = truth.part(rows)
            part = None if weights is None else weights[rows]
            with rows_from(rows.start):
                return learner._engine.learn_dicts(
                    events[rows], y, classes=truth.classes, label_starts=starts, weights=part
                )

        new_labels.learn_batch(learner, y, len(events), weights, learn)


# ---- what needs less ----------------------------------------------------------------------------------------------


def learn_as_is(learner: Learner, arrays: tuple[Any, ...], y: Any) -> bool:
    """A batch that the core can read as it is (`Rows.arrays`), with targets that need no encoding: the fast path of
    small batches. False, and nothing is done, if there is more to it."""
    classes = learner.labels.as_numbers
    if learner._class_weight is not None or (classes is None and not learner._task.reads_numbers):
        return False
    try:
        if len(arrays) == 1:
            learner._engine.learn_dense(arrays[0], y, classes)
        else:
            data, indices, indptr, width = arrays  # nanobind is slow to take *arrays
            learner._engine.learn_sparse(data, indices, indptr, width, y, classes)
    except TypeError:  # of another type, order or alignment: before anything was read
        return False
    return True


def encoded(
    learner: Learner, y: Any, count: int, sample_weight: npt.ArrayLike | None
) -> tuple[Encoded, Doubles | None]:
    """The truth and the weights of rows as the core reads them, with those of the classes: what several passes over
    the same rows take in place of `y` and `sample_weight`. All labels must be known."""
    weights = example_weights(sample_weight, learner._class_weight, y, count)
    truth = learner._task.encode(learner.labels, y, count, None)
    if truth.classes is not None:
        truth = Encoded(codes_of(learner.labels, labels_of(y, count), None))
    return truth, weights


# ---- with the scores of each example ------------------------------------------------------------------------------


def learn_scored(
    learner: Learner, X: Rows | EventPart | list[Any], y: Any, sample_weight: Any = None
) -> Doubles:
    """Learns all of it, or nothing, as `learn_rows` or `learn_many` do. Returns what `lanes_of` (or `lanes`) would have
    returned for each example just before its round, bit-identically. All labels must be known: a new one would bring a
    lane."""
    count = X.count if isinstance(X, Rows) else len(X)
    weights = example_weights(sample_weight, learner._class_weight, y, count)
    with learner._lock:
        truth, engine = learner._task.encode(learner.labels, y, count, None), learner._engine
        scores: Doubles = np.empty((count, len(engine.biases(False))))  # type: ignore[arg-type]
        options: dict[str, Any] = {
            "classes": truth.classes, "label_starts": truth.starts, "weights": weights, "scores": scores,
            "averaged": learner.averaged,
        }  # fmt: skip
        if isinstance(X, Rows):
            learner._named = False
            data, indices, indptr, width = X.arrays
            engine.learn_sparse(data, indices, indptr, width, truth.y, **options)
        else:
            learner._events()
            engine.learn_dicts(event_list(X), truth.y, **options)
    return scores[:, 0] if scores.shape[1] == 1 else scores
