"""Predict, then learn the same dict: the core does not read it again, unless it has changed in between.

Everywhere the same check: a learner that gets each dict as a copy, which the core has never seen before, is the same to
the bit.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge
from hinge import Learner


class Both:
    """A learner, and beside it one that gets a copy of each dict."""

    def __init__(self, **options: Any) -> None:
        self.seen, self.copied = Learner("regression", **options), Learner("regression", **options)

    def predict(self, x: dict[Any, Any]) -> None:
        assert self.seen.score_one(x) == self.copied.score_one(dict(x))

    def learn(self, x: dict[Any, Any], y: float, weight: float = 1.0) -> None:
        self.seen.learn_one(x, y, weight)
        self.copied.learn_one(dict(x), y, weight)
        self.agree()

    def agree(self) -> None:
        assert self.seen.to_bytes() == self.copied.to_bytes()


def replaced(x: dict[Any, Any]) -> None:
    x["b"] = 5.0


def added(x: dict[Any, Any]) -> None:
    x["new"] = 1.0


def removed(x: dict[Any, Any]) -> None:
    del x["a"]


def emptied(x: dict[Any, Any]) -> None:
    x.clear()


def turned(x: dict[Any, Any]) -> None:
    x["a"], x["b"] = x["b"], x["a"]


def moved_to_the_end(x: dict[Any, Any]) -> None:
    x["a"] = x.pop("a")


def updated(x: dict[Any, Any]) -> None:
    x.update(b=-1.0, c=3.0)


def merged(x: dict[Any, Any]) -> None:
    x |= {"b": 7.5}


CHANGES = [replaced, added, removed, emptied, turned, moved_to_the_end, updated, merged]
OPTIONS: list[dict[str, Any]] = [{}, {"hash_bits": 3}, {"kernel": "rbf", "gamma": 0.5}, {"average": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("change", CHANGES)
def test_a_dict_that_changes_in_between(
    change: Callable[[dict[Any, Any]], None], options: dict[str, Any]
) -> None:
    both = Both(**options)
    for target in (1.0, -2.0, 0.5):
        x = {"a": 1.0, "b": 2.0, "c": -0.5}
        both.predict(x)
        both.learn(x, target)
        both.predict(x)
        change(x)
        both.predict(x)
        both.learn(x, -target)
        change(copied := {"a": 1.0, "b": 2.0, "c": -0.5})
        both.learn(copied, 3.0)


def test_features_that_were_unknown_when_it_predicted_are_learned() -> None:
    both = Both()
    x = {"a": 1.0, "tiny": 1e-200}  # whose square is 0
    both.predict(x)
    both.learn(x, 2.0)
    assert both.seen.feature_names == ["a", "tiny"]
    y = {"a": 1.0, "b": 2.0}
    both.predict(y)
    both.predict(y)
    both.learn(y, -1.0, 0.0)  # without weight it teaches no names
    assert both.seen.feature_names == ["a", "tiny"]
    both.learn(y, -1.0)
    assert both.seen.feature_names == ["a", "tiny", "b"]


def test_columns_that_a_refused_event_had_brought() -> None:
    both = Both()
    both.learn({"a": 1.0}, 1.0)
    x = {"a": 1.0, "b": 2.0}
    for learner in (both.seen, both.copied):
        with pytest.raises(ValueError, match="NaN"):
            learner.learn_one(x, float("nan"))
    both.agree()
    both.predict(x)
    both.learn({"c": 4.0}, 1.0)  # gets the column that b had
    both.predict(x)
    both.learn(x, 2.0)
    assert both.seen.feature_names == ["a", "c", "b"]


def test_events_between() -> None:
    both = Both()
    x, other = {"a": 1.0, "b": 2.0}, {"b": -1.0, "a": 0.5}
    both.learn(x, 1.0)
    both.predict(x)
    both.predict(other)
    both.learn(x, 2.0)
    both.predict(x)
    for learner in (both.seen, both.copied):
        learner.learn_many([{"b": 1.0}, {"c": 2.0, "a": 3.0}], [1.0, 2.0])
        learner.explain_one(other)
    both.learn(x, 3.0)
    both.predict(x)
    with pytest.raises(ValueError, match="infinity"):
        both.seen.score_one({"a": float("inf")})
    both.learn(x, -3.0)


def test_dicts_that_take_the_place_of_others() -> None:
    """A new dict may lie where the last one lay."""
    both = Both()
    for i in range(300):
        x = {"a": float(i % 7), "b": 1.0}
        both.predict(x)
        del x
        y = {"a": float(i % 5), "c": 1.0}
        both.learn(y, float(i % 3))
        del y


class Dial:
    """A number that is another one each time."""

    def __init__(self) -> None:
        self.value = 0.0

    def __float__(self) -> float:
        self.value += 1.0
        return self.value


class Word(str):
    """A string that is no plain one."""


@pytest.mark.parametrize("value", [3, True, "red", Word("red"), 2.5])
@pytest.mark.parametrize("name", ["b", Word("b"), 7])
def test_names_and_values_of_other_kinds(name: Any, value: Any) -> None:
    both = Both()
    x = {"a": 1.0, name: value}
    for target in (1.0, 2.0, 3.0):
        both.predict(x)
        both.learn(x, target)


def test_values_that_change_though_the_dict_does_not() -> None:
    learner, told = Learner("regression", step="pa"), Learner("regression", step="pa")
    x = {"a": 1.0, "b": Dial()}
    for i in range(5):
        now = 2.0 * i
        assert learner.score_one(x) == told.score_one({"a": 1.0, "b": now + 1})
        learner.learn_one(x, 3.0)
        told.learn_one({"a": 1.0, "b": now + 2}, 3.0)
    assert learner.to_bytes() == told.to_bytes()


numbers = st.sampled_from([0.0, 1.0, -2.5, 1e-170, 3.0])
names = st.sampled_from("abcde")
acts = st.one_of(
    st.tuples(st.just("predict"), st.integers(0, 2)),
    st.tuples(st.just("learn"), st.integers(0, 2)),
    st.tuples(st.just("set"), st.integers(0, 2), names, numbers),
    st.tuples(st.just("pop"), st.integers(0, 2), names),
    st.tuples(st.just("refuse"), st.integers(0, 2)),
    st.tuples(st.just("many"), st.integers(0, 2)),
)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@given(st.lists(acts, max_size=25))
@settings(max_examples=60, deadline=None)
def test_any_order_of_things(options: dict[str, Any], steps: list[Any]) -> None:
    both = Both(**options)
    events: list[dict[str, float]] = [{}, {"a": 1.0}, {"b": -1.0, "a": 2.0}]
    for i, (act, which, *rest) in enumerate(steps):
        x = events[which]
        if act == "predict":
            both.predict(x)
        elif act == "learn":
            both.learn(x, float(i))
        elif act == "set":
            x[rest[0]] = rest[1]
        elif act == "pop":
            x.pop(rest[0], None)
        elif act == "many":
            both.seen.learn_many(events[which:], [1.0] * (3 - which))
            both.copied.learn_many(copy.deepcopy(events[which:]), [1.0] * (3 - which))
            both.agree()
        else:
            for learner, event in ((both.seen, x), (both.copied, dict(x))):
                with pytest.raises(ValueError, match="infinity"):
                    learner.learn_one(event, float("inf"))
            both.agree()


def test_labels_and_estimators() -> None:
    seen, copied = hinge.PAClassifier(), hinge.PAClassifier()
    for i in range(60):
        x = {"a": float(i % 4), "b": 1.0, f"c{i % 3}": -1.0}
        y = ("x", "y", "z")[i % 3]
        assert seen.predict_one(x) == copied.predict_one(dict(x))
        if i % 5 == 0:
            x["a"] += 1.0
        seen.learn_one(x, y)
        copied.learn_one(dict(x), y)
    assert seen._learner.to_bytes() == copied._learner.to_bytes()


def test_threads_that_predict_while_one_learns() -> None:
    """Each has its own dict; what one has read is not taken for what another one asks."""
    learner = Learner("regression")
    events = [{"a": float(i), "b": 1.0} for i in range(1, 5)]
    learner.learn_many(events, [2.0 * x["a"] for x in events])
    learner.change(step="pa1", C=1e-300)  # from here on it stands still
    expected = [learner.score_one(dict(x)) for x in events]
    wrong: list[Any] = []

    def ask(x: dict[str, float], score: float) -> None:
        for _ in range(2000):
            if learner.score_one(x) != score:
                wrong.append(x)
            learner.learn_one(x, 1.0)

    threads = [threading.Thread(target=ask, args=pair) for pair in zip(events, expected, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
