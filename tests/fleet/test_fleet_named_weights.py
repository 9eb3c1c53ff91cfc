"""The personal weights of a view are what is added to the shared ones."""

from __future__ import annotations

import pytest

from hinge import Fleet

EVENTS = [
    ("ann", {"a": 1.0, "b": 2.0}, "x"),
    ("bob", {"a": 1.0, "c": -1.0}, "y"),
    ("ann", {"b": 1.0, "c": 3.0}, "y"),
    ("bob", {"a": -2.0, "b": 0.5}, "x"),
]


@pytest.mark.parametrize("third", [[], [("ann", {"a": 0.5, "d": 1.0}, "z")]])
@pytest.mark.parametrize("personal", [0.25, 1.0, 3.0])
def test_named_weights_are_those_of_explanations(third, personal):
    fleet = Fleet("classification", personal=personal)
    for key, x, y in EVENTS + third:
        fleet.learn_one(key, x, y)
    for key in ("ann", "bob"):
        view = fleet[key]
        for label in view.labels if third else [None]:
            weights = view.named_weights()[label] if third else view.named_weights()
            parts = view.explain_one(dict.fromkeys("abcd", 1.0), label)
            found = {part.feature: part.personal for part in parts if part.feature in weights}
            assert found == pytest.approx(weights)
            assert any(weights.values()) or (key, label) == ("bob", "z")


@pytest.mark.parametrize("later", ["abc", "za", "b", "a"])
def test_labels_may_be_newer_than_the_last_example_of_a_key(later):
    """The weights are for the labels that the fleet has now, in their order."""
    fleet = Fleet("classification")
    for i in range(4):
        fleet.learn_one("ann", {"a": 1.0, f"b{i}": 2.0}, "mn"[i % 2] if len(later) > 1 else "m")
    for label in later:
        fleet.learn_one("bob", {"c": 1.0}, label)
    view, x = fleet["ann"], {"a": 1.0, "b0": 1.0, "b1": 1.0, "b2": 1.0, "b3": 1.0}
    several = len(view.labels) > 2
    for label in view.labels if several else [None]:
        weights = view.named_weights()[label] if several else view.named_weights()
        found = {
            part.feature: part.personal for part in view.explain_one(x, label) if part.feature in weights
        }
        assert found == pytest.approx(weights)


def test_named_weights_per_key_are_those_of_its_learner():
    fleet = Fleet("classification", shared=False, personal=3.0)
    for key, x, y in EVENTS:
        fleet.learn_one(key, x, y)
    view = fleet["ann"]
    assert view.named_weights() == pytest.approx(view.learner().named_weights())
