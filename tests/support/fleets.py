"""Streams for fleets, and the complete state of a fleet or of a learner, to compare it bit for bit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from hinge import Fleet, Learner

KEYS = ["ann", "bob", 7, "7", -3, "", "zoë", 2**40]
# The labels of a stream, in the order in which they may appear first.
LABELS: dict[str, list[Any]] = {
    "in order": ["ham", "spam"],
    "second sorts first": ["spam", "ham"],
    "booleans": [True, False],
    "integers": [3, -1],
    "floats": [0.5, -1.5],
    "a string and a number": ["b", 2],
    "one": ["only"],
    "many strings": ["c", "a", "d", "b"],
    "many numbers": [2, -1.5, 10**15, 0],
    "booleans and more": [True, 7, "x", False],
}
# What a learner of one key may be, apart from task, step and geometry.
SETTINGS: list[dict[str, Any]] = [
    {},
    {"C": 0.1, "margin": 0.4, "epsilon": 0.02},
    {"average": True},
    {"average": 7, "fit_intercept": False},
    {"fit_intercept": False, "C": 10.0},
    {"intercept_value": 0.25, "average": 2},
    {"dtype": "float32", "average": True},
    {"dtype": "float32", "C": 0.3, "intercept_value": 2.0},
]
GEOMETRIES: list[dict[str, Any]] = [
    {},
    {"geometry": "diagonal", "covariance_update": "precision"},
    {"geometry": "diagonal", "covariance_update": "drop", "initial_variance": 0.5},
    {"geometry": "diagonal", "covariance_regularizer": 0.2},
]
# Task, step and geometry.
RULES = [
    ("classification", {"step": step, **geometry})
    for step, geometry in itertools.product(("pa", "pa1", "pa2", "perceptron"), GEOMETRIES)
] + [
    ("regression", {"step": step, **geometry})
    for step, geometry in itertools.product(("pa", "pa1", "pa2"), GEOMETRIES)
]
NAMES = ["age", "size", "", "naïve", 0, 3, -1, 2**33, "a.b", "0"]

Event = tuple[Any, dict[Any, Any], Any, float]


def events(
    count: int,
    seed: int = 0,
    labels: list[Any] | None = None,
    keys: list[Any] = KEYS,
    names: list[Any] = NAMES,
    weighted: bool = True,
) -> Iterator[Event]:
    """Key, features, label (or number, without `labels`) and weight. Sparse dicts in changing order, with values of all
    sizes, zeros, text, nested objects, and names that occur twice. A later label appears only after a while."""
    rng = np.random.default_rng(seed)
    for t in range(count):
        x: dict[Any, Any] = {}
        for i in rng.permutation(len(names))[: rng.integers(0, len(names))]:
            x[names[i]] = [float(rng.normal() * rng.choice([0.1, 1.0, 5.0])), 0.0, 1, True][
                rng.choice(4, p=[0.85, 0.05, 0.05, 0.05])
            ]
        if t % 5 == 1:
            x["color"] = str(rng.choice(["red", "green"]))
        if t % 7 == 2:
            x["a"] = {"b": float(rng.normal()), "c": [0.5, None, 2.0]}  # "a.b" may be there already
        y: Any = float(2 * rng.normal())
        if labels is not None:
            y = labels[int(rng.integers(0, min(len(labels), 1 + t // 6)))]
        weight = float(rng.choice([0.0, 0.3, 1.0, 1.0, 2.5])) if weighted else 1.0
        yield keys[int(rng.integers(0, len(keys)))], x, y, weight


def numbers(count: int, width: int, seed: int = 0) -> Any:
    """An array with many zeros. Its values are multiples of 1/8, so that sums of them have no rounding errors."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(count, width)) * 16) / 8
    return np.where(rng.random((count, width)) < 0.6, X, 0.0)


def parts(learner: Learner) -> Any:
    """All that a learner is, except its calibration, which fleets do not have."""
    header, tensors = learner.to_parts()
    return header, {
        name: (tensor.dtype.str, tensor.shape, tensor.tobytes())
        for name, tensor in tensors.items()
        if "calibration" not in name
    }


def assert_same_learner(ours: Learner, theirs: Learner) -> None:
    header, tensors = parts(ours)
    expected_header, expected = parts(theirs)
    for name in {*header, *expected_header}:
        assert header.get(name) == expected_header.get(name), name
    assert list(tensors) == list(expected)
    for name, tensor in tensors.items():
        assert tensor == expected[name], name


def state(fleet: Fleet) -> dict[str, Any]:
    """All of a fleet that can be seen: two fleets with the same state that learn the same have the same one again."""
    core = fleet._core
    shared = fleet.parameters["shared"]
    return {
        "clock": core.clock,
        "ignored": core.n_ignored,
        "names": core.n_names,
        "bytes": core.record_bytes,
        "labels": [repr(label) for label in fleet.labels],
        "length": len(fleet),
        "keys": list(fleet),
        "statistics": fleet.statistics,
        "shared": _of_key(fleet, None) if shared else None,
        "of keys": [_of_key(fleet, key) for key in fleet],
    }


def _of_key(fleet: Fleet, key: Any) -> Any:
    core = fleet._core
    names, weights, biases = core.weights(key)
    return (
        core.counts(key),
        core.statistics(key),
        [repr(label) for label in core.labels_of(key)],
        core.constant(key),
        names,
        np.asarray(weights).tobytes(),
        np.asarray(biases).tobytes(),
        None if fleet.parameters["shared"] else parts(fleet[key].learner()),
    )


def assert_same_state(fleet: Fleet, expected: dict[str, Any]) -> None:
    found = state(fleet)
    for name, value in found.items():
        assert value == expected[name], name
