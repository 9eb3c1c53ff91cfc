"""The weights of a learner, by column and by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .supports import check_has_weights

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..learner import Learner


def weights_of(learner: Learner, averaged: bool) -> npt.NDArray[Any]:
    check_has_weights(learner.parameters["kernel"])
    return _as_given(learner, learner._engine.weights(averaged))


def _as_given(learner: Learner, weights: Any) -> npt.NDArray[Any]:
    """The weights of the core without those of a learned threshold, in the type of the option `dtype`."""
    as_given: npt.NDArray[Any] = of_labels(learner, weights).astype(learner.parameters["dtype"], copy=False)
    return as_given


def of_labels(learner: Learner, lanes: Any) -> Any:
    """The rows of the labels, if each has one; else all of it."""
    if not learner.many_scores:
        return lanes
    first = learner._first_lane
    return lanes[first : first + len(learner.labels.known)]


def named(learner: Learner) -> dict[Any, Any]:
    """The weights by the names of their features; many labels: for each label."""
    check_has_weights(learner.parameters["kernel"])
    with learner._lock:  # labels, names and weights of one moment
        (names, held), labels = learner._engine.named_weights(learner.averaged), learner.labels.known
        weights = _as_given(learner, held)
    if learner.parameters["hash_bits"] is None:  # columns of arrays are called by their numbers
        names += range(len(names), weights.shape[-1])
    if not learner.many_scores:
        return dict(zip(names, weights[: len(names)].tolist(), strict=True))
    return {
        label: dict(zip(names, its[: len(names)].tolist(), strict=True))
        for label, its in zip(labels, weights, strict=True)
    }
