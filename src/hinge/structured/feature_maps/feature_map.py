"""The interface of a feature map, and the checks of what a map returns."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from ...data.types import Doubles


class FeatureMap(ABC):
    """Class-dependent features phi(x, r). Derive a custom map from this class:

    >>> from hinge import FeatureMap, PARanker
    >>> class Shared(FeatureMap):
    ...     '''How many words of a text occurred in earlier texts of a label, and how many did not.'''
    ...
    ...     def __init__(self):
    ...         self.seen = {}
    ...
    ...     def features(self, x, labels):
    ...         words = set(x.split())
    ...         shared = [len(words & self.seen.get(label, set())) for label in labels]
    ...         return ["shared", "other"], [[n, len(words) - n] for n in shared]
    ...
    ...     def learned(self, x, relevant):
    ...         for label in relevant:
    ...             self.seen.setdefault(label, set()).update(x.split())
    ...
    ...     def state(self):
    ...         return {"seen": [[label, sorted(words)] for label, words in self.seen.items()]}
    ...
    ...     def restore(self, state):
    ...         self.seen = {label: set(words) for label, words in state["seen"]}

    >>> model = PARanker(features=Shared())
    >>> for text, label in [("free money", "spam"), ("lunch on monday", "ham")] * 2:
    ...     model = model.learn_one(text, label)
    >>> model.predict_one("money on monday")
    'ham'
    >>> {name: round(weight, 2) for name, weight in model.named_weights().items()}
    {'other': -0.25, 'shared': 0.25}

    A map without memory needs only `features`. A map with a memory also needs `learned`, `state` and `restore`: model
    files then contain the memory, and a rejected round is rolled back in the map, too.
    """

    @abstractmethod
    def features(self, x: Any, labels: Sequence[Any]) -> tuple[Sequence[str], npt.ArrayLike]:
        """The names of the features of x, each once, and their values: one row per label, one column per name.
        Must not change the map. Raises ValueError if x is invalid."""

    def learned(self, x: Any, relevant: Collection[Any]) -> None:  # noqa: B027 (a map may have no memory)
        """Called in each round with the true labels of x, after `features`."""

    def state(self) -> dict[str, Any]:
        """Everything that `learned` has changed, by name: JSON values and numeric arrays."""
        return {}

    def restore(self, state: dict[str, Any]) -> None:  # noqa: B027
        """Returns to an earlier `state`."""

    # Rounds that may be rolled back. These three work for every map, and cost as much as `state` in each round. A map
    # with a large memory should record what it overwrites instead.

    def begin(self) -> Any:
        """Called before rounds that may be rolled back. Returns what `rollback` needs."""
        return copy.deepcopy(self.state())

    def commit(self, before: Any) -> None:  # noqa: B027
        """The rounds since `begin` are final."""

    def rollback(self, before: Any) -> None:
        """Undoes the rounds since `begin`."""
        self.restore(before)


def checked_features(feature_map: FeatureMap, x: Any, labels: list[Any]) -> tuple[list[str], Doubles]:
    """phi(x, r) for each label, checked, without the features that are 0 for all labels."""
    given: Any = feature_map.features(x, list(labels))
    try:
        names, values = list(given[0]), np.ascontiguousarray(given[1], dtype=np.float64)
        if len(given) != 2:
            raise ValueError(f"it returned {len(given)} values")
    except (TypeError, ValueError, LookupError) as error:
        raise ValueError(
            f"{name_of(feature_map)} must return names and an array of numbers: {error}"
        ) from None
    if not labels:
        return [], np.zeros((0, 0))
    if values.shape != (len(labels), len(names)):
        raise ValueError(
            f"{name_of(feature_map)} must return one row of values for each of the {len(labels)} labels, with a column "
            f"for each of the {len(names)} names, not {values.shape}"
        )
    if set(map(type, names)) - {str}:
        odd = next(name for name in names if type(name) is not str)
        raise ValueError(f"{name_of(feature_map)} must return strings as names, not {odd!r}")
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        raise ValueError(f"{name_of(feature_map)} must return each name once: {twice!r} occurs twice")
    if not np.isfinite(values).all():
        label, j = np.argwhere(~np.isfinite(values))[0].tolist()
        what = "NaN" if np.isnan(values[label, j]) else "infinity (inf)"
        raise ValueError(
            f"{name_of(feature_map)}, label {labels[label]!r}, feature {names[j]!r}: the value is {what}"
        )
    used = np.flatnonzero(values.any(axis=0))
    if len(used) < len(names):
        names = [names[j] for j in used.tolist()]
        values = np.ascontiguousarray(values[:, used])
    return names, values


def name_of(feature_map: FeatureMap) -> str:
    return f"the feature map {type(feature_map).__name__}"
