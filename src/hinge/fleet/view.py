"""A view of the model of one key: what it has been through, what its weights are, why it predicts what it does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from ..data.labels import Labels
from ..model.engine import restored
from ..model.statistics import Statistics
from .settings import of_learner

if TYPE_CHECKING:
    from ..learner import Learner
    from .fleet import Fleet, Key


class Share(NamedTuple):
    """What one feature added to a score, by the shared and by the personal weights."""

    feature: str | int
    value: float
    shared: float
    personal: float

    @property
    def contribution(self) -> float:
        return self.shared + self.personal


def statistics_of(counted: Any) -> Statistics:
    rounds, mistakes, updates, loss, squared_loss, largest_q, progress, cost, capped, weighted = counted
    return Statistics(
        rounds,
        mistakes,
        updates,
        loss,
        squared_loss,
        largest_q,
        progress,
        cost,
        capped=capped,
        weighted=weighted,
    )


def _for_labels(weights: Any, count: int) -> Any:
    """A column for each label. Of labels that are newer than the last example of the key the weights are 0; those of
    the first two labels have been one column until then, with half of it for each."""
    import numpy as np

    if weights.shape[1] == 1:
        weights = np.hstack([-weights / 2, weights / 2])
    return np.pad(weights, ((0, 0), (0, max(count - weights.shape[1], 0))))


def named_weights(fleet: Fleet, key: Key | None, factor: float) -> dict[Any, Any]:
    """Those of a key, or (None) those that all keys share; for more than two labels a dict for each label."""
    names, weights, _ = fleet._core.weights(key)
    weights = factor * weights.astype(fleet.parameters["dtype"], copy=False)
    labels = fleet._core.labels_of(key)
    if len(labels) <= 2:
        return dict(zip(names, weights[:, 0].tolist(), strict=True))
    weights = _for_labels(weights, len(labels))
    return {label: dict(zip(names, weights[:, i].tolist(), strict=True)) for i, label in enumerate(labels)}


class View:
    """The model of one key of a fleet. It shows the present state: the key may learn meanwhile."""

    def __init__(self, fleet: Fleet, key: Key) -> None:
        self.fleet, self.key = fleet, key

    @property
    def statistics(self) -> Statistics:
        """Of the examples of this key."""
        return statistics_of(self.fleet._core.statistics(self.key))

    @property
    def labels(self) -> list[Any]:
        """The labels that the key can predict, in order."""
        return self.fleet._core.labels_of(self.key)

    @property
    def n_features(self) -> int:
        return int(self.fleet._core.counts(self.key)[0])

    @property
    def n_ignored(self) -> int:
        """How many features were left out, because the key had no more room."""
        return int(self.fleet._core.counts(self.key)[1])

    @property
    def nbytes(self) -> int:
        """What the key takes in memory, on disk and in a file."""
        return int(self.fleet._core.counts(self.key)[2])

    def named_weights(self) -> dict[Any, Any]:
        """The personal weights by feature name, which are added to the shared ones; for more than two labels a dict for
        each label. A feature whose name was not kept (`max_names`) is called by its hash."""
        shared, personal = self.fleet.parameters["shared"], self.fleet.parameters["personal"]
        return named_weights(
            self.fleet, self.key, personal if shared else 1.0
        )  # of the instances (x, personal * x)

    def explain_one(self, x: dict[Any, Any], label: Any = None) -> list[Share]:
        """What each feature added to the score of `label` (default: that with the highest score), the largest first:
        by the weights that all keys share, and by those of this key. They add up to the score."""
        core, lane = self.fleet._core, 0
        labels, scores = core.scores_one(self.key, x)
        if len(labels) > 2:
            if label is not None and label not in labels:
                raise ValueError(f"the label {label!r} is not one of the labels {Labels(labels).listed()}")
            lane = max(range(len(labels)), key=scores.__getitem__) if label is None else labels.index(label)
        found = core.look_up(self.key, x, lane)
        parts = [
            Share(name, value, value * shared, value * personal) for name, value, shared, personal in found
        ]
        if self.fleet.parameters["fit_intercept"]:
            parts.append(Share("(intercept)", 1.0, *core.intercepts(self.key, lane)))
        return sorted(parts, key=lambda part: -abs(part.contribution))

    def predict_one(self, x: dict[Any, Any]) -> Any:
        return self.fleet.predict_one(self.key, x)

    def score_one(self, x: dict[Any, Any]) -> Any:
        return self.fleet.score_one(self.key, x)

    def learner(self) -> Learner:
        """The model of the key as a `Learner`, which can be saved and learns on by itself.

        Without `shared` it is the same model with its statistics. With it, its weights are the sum of the shared and
        the personal ones, and it has no statistics yet.
        """
        from ..learner import Learner

        fleet = self.fleet
        parameters = of_learner(fleet.parameters)
        learner = Learner.__new__(Learner)
        learner._set_up(fleet._task, parameters)
        state = fleet._core.export(self.key)
        labels = Labels(json.loads(state["labels"].tobytes()), fleet._task.first_labels(parameters).lanes)
        learner._engine = restored(learner, labels, state)
        return learner

    def __repr__(self) -> str:
        if self.key not in self.fleet:
            return f"View({self.key!r}: not in the fleet)"
        s = self.statistics
        return f"View({self.key!r}: {s.rounds} rounds, {s.mistakes} mistakes, {self.n_features} features)"
