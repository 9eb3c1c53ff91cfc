"""Costs of confusing labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def tree_cost(parent: Mapping[Any, Any], labels: Iterable[Any] | None = None) -> dict[Any, dict[Any, float]]:
    """The cost of predicting one label for another: the length of the path between them in a tree of classes.

    `parent` names the parent of each node but the root. The labels are the leaves, unless given. The result is a
    `cost` for `PAClassifier`.

    >>> from hinge import tree_cost
    >>> cost = tree_cost({"cat": "animal", "dog": "animal", "car": "thing", "animal": "root", "thing": "root"})
    >>> cost["cat"]
    {'cat': 0.0, 'dog': 2.0, 'car': 4.0}
    """
    above = {node: _path_up(node, parent) for node in parent}
    inner = set(parent.values())
    chosen = [node for node in parent if node not in inner] if labels is None else list(labels)
    for label in chosen:
        if label not in above and label not in inner:
            raise ValueError(f"the label {label!r} is not a node of the tree")
    paths = {label: above.get(label, [label]) for label in chosen}
    return {a: {b: _distance(paths[a], paths[b]) for b in chosen} for a in chosen}


def _path_up(node: Any, parent: Mapping[Any, Any]) -> list[Any]:
    path = [node]
    while path[-1] in parent:
        path.append(parent[path[-1]])
        if len(path) > len(parent) + 1:
            raise ValueError(f"the tree has a cycle above {node!r}")
    return path


def _distance(one: list[Any], other: list[Any]) -> float:
    place = {node: steps for steps, node in enumerate(one)}
    for steps, node in enumerate(other):
        if node in place:
            return float(steps + place[node])
    raise ValueError(f"{one[0]!r} and {other[0]!r} have no common ancestor: the tree must have one root")
