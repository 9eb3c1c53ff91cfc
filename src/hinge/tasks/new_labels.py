"""Labels that arrive with the stream: a batch that brings some is learned whole or not at all.

A label is known once something was learned from it. Until then, and whenever a batch is rejected, the learner is what
it was. The task finds which labels of a batch are new.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from ..data.labels import Labels
from ..data.targets import Encoded
from ..model.engine import restored

if TYPE_CHECKING:
    from .._core import Engine
    from ..data.types import Doubles, Indices
    from ..learner import Learner

Learn = Callable[[slice, Encoded], int]  # learns some of the visits of a batch, given the targets of all rows
_Result = TypeVar("_Result")


def check(learner: Learner, labels: Labels, fresh: Any) -> None:
    """Raises ValueError if the label `fresh`, the last one of `labels`, may not be new."""
    if learner.closed:
        raise ValueError(f"the label {fresh!r} is not one of the classes {learner.labels.listed()}")
    if learner.parameters["w1"] is not None:
        raise ValueError("with a start vector w1 the labels must be known ahead: give classes=[...]")
    limit = learner.parameters["max_labels"]
    if len(labels.known) > limit:
        raise ValueError(
            f"the label {fresh!r} is new, and the model has {limit} labels, its limit (max_labels)"
        )


def set_labels(learner: Learner, labels: Labels) -> None:
    """Gives the core a lane for each of these labels, and their names."""
    nu = learner._task.nu(learner.parameters["nu"], labels)
    learner._engine.set_labels(max(1, len(labels.known)), nu, labels)


# ---- all or nothing ---------------------------------------------------------------------------------------------


def learn_round(learner: Learner, labels: Labels, learn: Callable[[], _Result]) -> _Result:
    """A round of an example that brings new labels: learned and known, or neither.

    Lanes that have not moved are removed again. From lanes there is no way back to one w (two classes): the
    learner returns to a copy of its state.
    """
    if labels.lanes and not learner.labels.lanes:

        def learn_with_lanes() -> _Result:
            set_labels(learner, labels)
            return learn()

        return or_back(learner, learn_with_lanes)
    before, rounds = learner.labels, learner._engine.statistics()[0]
    try:
        set_labels(learner, labels)
        return learn()
    except BaseException:
        if learner._engine.statistics()[0] == rounds:  # else an interrupt came right after the round
            set_labels(learner, before)
        raise


def or_back(learner: Learner, learn: Callable[[], _Result]) -> _Result:
    """Learns; if that fails, or is interrupted, the learner returns to a copy of its state."""
    before, state = learner.labels, learner._engine.state()

    def copied() -> Engine:
        return restored(learner, before, state)

    # A copy calls a custom kernel for the values among the supports: do it before anything has changed.
    copy = copied() if callable(learner.parameters["kernel"]) else None
    try:
        return learn()
    except BaseException:
        learner._engine = copied() if copy is None else copy
        raise


def learn_then_adopt(learner: Learner, learn: Callable[[], _Result], labels: Labels) -> _Result:
    """New labels are known once something was learned from them, even if Ctrl-C came right after."""
    rounds = learner._engine.statistics()[0]

    def adopt() -> None:
        if learner._engine.statistics()[0] != rounds and learner.labels is not labels:
            _adopt(learner, labels)

    try:
        result = learn()
        adopt()
    except BaseException:
        adopt()
        raise
    return result


def _adopt(learner: Learner, labels: Labels) -> None:
    """What was learned from new labels is learned: they are known now, and w is that of their order."""
    learner._engine.name_labels(labels, learner.labels.flips(labels))


# ---- a batch ----------------------------------------------------------------------------------------------------


def learn_batch(
    learner: Learner,
    y: Any,
    count: int,
    weights: Doubles | None,
    learn: Learn,
    grow: bool = True,
    visits: Indices | None = None,
) -> int:
    """A batch, all or nothing. `visits`: the rows to visit, if not all are visited in their order.

    New labels begin where they come first, as if the examples came one by one: there the batch is cut.
    """
    task, known = learner._task, learner.labels
    everything = slice(0, count if visits is None else len(visits))
    if isinstance(y, Encoded):
        return learn(everything, y)
    grow = grow and not learner.closed
    if grow and visits is not None:  # rows that are not visited teach nothing
        weights = _only(visits, count, weights)
    fresh = task.new_labels(known, y, count, weights, visits) if grow else {}
    if not fresh:
        return learn(everything, task.encode(known, y, count, weights if grow else None))
    labels = known.with_new(list(fresh))
    check(learner, labels, next(reversed(fresh)))
    if not labels.lanes:
        from ..data.label_arrays import codes_of
        from ..data.target_arrays import labels_of

        signs = codes_of(labels, labels_of(y, count), weights)
        truth = Encoded(-signs if known.flips(labels) else signs)
        return learn_then_adopt(learner, lambda: learn(everything, truth), labels)
    truth = task.encode(labels, y, count, weights)
    if everything.stop == 1 and known.lanes:  # one round is all or nothing by itself
        return learn_round(learner, labels, lambda: learn(everything, truth))
    return or_back(learner, lambda: _learn_in_parts(learner, labels, fresh, truth, everything.stop, learn))


def _only(visits: Indices, count: int, weights: Doubles | None) -> Doubles:
    """The weights of the rows that are visited; 0 for the others."""
    import numpy as np

    kept = np.zeros(count)
    kept[visits] = 1 if weights is None else weights[visits]
    return kept


def _learn_in_parts(
    learner: Learner, final: Labels, fresh: dict[Any, int], codes: Encoded, count: int, learn: Learn
) -> int:
    """The codes are those of the final labels, which have their places from the start."""
    presented, cuts = 0, sorted({row for label, row in fresh.items() if label not in final.known[:2]})
    if learner.labels.lanes:
        cuts = sorted(set(fresh.values()))
        presented += learn(slice(0, cuts[0]), codes) if cuts[0] > 0 else 0
    else:  # two classes have one w until a third one comes
        pair = Labels(final.known[:2])
        signs: Any = 2.0 * (codes.y > 0) - 1.0  # type: ignore[operator]
        signs = -signs if learner.labels.flips(pair) else signs
        presented += learn(slice(0, cuts[0]), Encoded(signs)) if cuts[0] > 0 else 0
        _adopt(learner, pair)
    coming: dict[int, list[Any]] = {row: [] for row in cuts}
    for label in final.known[len(learner.labels.known) :]:
        coming[fresh[label]].append(label)
    known = len(learner.labels.known)
    for row, stop in zip(cuts, [*cuts[1:], count], strict=True):
        known += len(coming[row])
        _make_room(learner, final, known)
        presented += learn(slice(row, stop), codes)
    set_labels(learner, final)
    return presented


def _make_room(learner: Learner, final: Labels, known: int) -> None:
    """For the first so many of the labels, which are named when the batch is learned: to name them one by one would
    cost the square of their number."""
    if learner.parameters["nu"] is None and learner.labels.lanes:
        learner._engine.set_labels(known)
    else:
        set_labels(learner, Labels(final.known[:known], lanes=True))
