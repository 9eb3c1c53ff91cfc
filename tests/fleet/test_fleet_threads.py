"""Threads share a fleet: no crash, no lost round, and readers see a whole fleet. So do Ctrl-C and forks leave it."""

from __future__ import annotations

import os
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from concurrency import Calls, interrupt, run, run_while, switching_often
from fleets import assert_same_state, events, numbers, state
from hinge import Fleet

KEYS = ["a", "b", 3, "d"]
LABELS = ["q", "p", "r"]


@pytest.fixture(autouse=True)
def _switch_often() -> Iterator[None]:
    with switching_often():
        yield


def stream(count: int = 240) -> list[Any]:
    return list(events(count, 0, LABELS, KEYS, ["x", "y", 3, "z"], weighted=False))


def columns(part: list[Any]) -> list[list[Any]]:
    return [list(column) for column in zip(*part, strict=True)]


@pytest.mark.parametrize("shared", [False, True])
def test_rounds_of_threads_add_up(shared: bool) -> None:
    fleet = Fleet("classification", shared=shared, average=True)
    data, seen = stream(), []
    fleet.learn_many(*columns(data[:20]))  # all keys and labels

    def one_by_one() -> None:
        for event in data:
            fleet.learn_one(*event)

    def in_batches() -> None:
        for start in range(0, len(data), 20):
            fleet.learn_many(*columns(data[start : start + 20]))

    def as_arrays() -> None:
        keys, _, y, _ = columns(data)
        fleet.round_many(keys, numbers(len(keys), 3), y)

    def read() -> None:
        rounds = fleet.statistics.rounds
        assert rounds >= (seen[-1] if seen else 0)
        seen.append(rounds)

    def look() -> None:
        summary = fleet.summary()
        assert all(np.isfinite(column).all() for column in summary.values())
        assert len(summary["rounds"]) == len(KEYS) == len(fleet)
        for key in fleet:
            view = fleet[key]
            assert view.labels
            assert set(view.named_weights())
            assert sum(part.contribution for part in view.explain_one({"x": 1.0})) < 1e9
            assert view.learner().predict_one({"x": 1.0}) in LABELS
        assert len(fleet.top(2)) == 2
        assert sys.getsizeof(fleet) > 0

    def predict() -> None:
        keys, x, _, _ = columns(data[:50])
        assert set(fleet.predict_many(keys, x)) <= set(LABELS)
        assert set(fleet.predict_many(keys, numbers(50, 3))) <= set(LABELS)
        assert fleet.predict_one("nobody", {"x": 1.0}) in (LABELS if shared else [None])

    run_while(lambda: run(one_by_one, in_batches, as_arrays, one_by_one), read, look, predict)
    assert fleet.statistics.rounds == 20 + 4 * len(data)
    for key in KEYS:
        count = sum(event[0] == key for event in data)
        assert fleet[key].statistics.rounds == 4 * count + sum(event[0] == key for event in data[:20])
    assert seen == sorted(seen)


@pytest.mark.parametrize("shared", [False, True])
def test_keys_come_and_go_while_others_read(shared: bool) -> None:
    fleet = Fleet(
        "classification",
        shared=shared,
        max_keys=6,
        at_max_keys="evict",
        max_features=3,
        at_max_features="evict",
    )
    fleet.learn_one("a", {"x": 1.0}, "p")

    def learn(seed: int) -> None:
        for key, x, y, weight in events(300, seed, LABELS, list(range(12)), ["x", "y", "z", "u", "v"]):
            fleet.learn_one(key, x, y, weight)

    def forget() -> None:
        chosen = random.Random(0)
        for _ in range(300):
            with suppress(KeyError):
                del fleet[chosen.randrange(12)]

    def reject() -> None:
        for _ in range(40):
            with pytest.raises(ValueError):
                fleet.learn_many(
                    [*range(10), None], [{"x": 1.0, f"f{i}": 2.0} for i in range(11)], ["new"] * 11
                )

    def read() -> None:
        for key in fleet:
            try:
                view = fleet[key]
                assert view.statistics.rounds >= 0
                view.named_weights()
                view.explain_one({"x": 1.0, "y": 1.0})
                view.learner()
            except KeyError:
                pass  # forgotten meanwhile
            fleet.predict_one(key, {"x": 1.0})
        assert len(fleet) <= 6
        assert "new" not in fleet.labels

    run_while(lambda: run(lambda: learn(1), lambda: learn(2), forget, reject), read, read)
    assert len(fleet) <= 6
    assert not {"new"} & set(fleet.labels)


def test_predictions_do_not_change_what_is_learned() -> None:
    fleet, alone = Fleet("classification", average=True), Fleet("classification", average=True)
    data = stream()
    keys, x, _, _ = columns(data)

    def learn(to: Fleet) -> None:
        for start in range(0, len(data), 10):
            to.learn_many(*columns(data[start : start + 10]))

    run_while(
        lambda: learn(fleet), lambda: fleet.predict_many(keys, x), lambda: fleet.score_one("a", {"x": 1.0})
    )
    learn(alone)
    assert_same_state(fleet, state(alone))


def test_other_threads_run_while_a_batch_is_learned() -> None:
    """The GIL is released."""
    X = numbers(300_000, 4)
    keys = np.arange(len(X)) % 1000
    fleet, steps, done = Fleet("regression"), [0], threading.Event()

    def learn() -> None:
        fleet.learn_many(keys, X, X[:, 0])
        done.set()

    def count() -> None:
        while not done.wait(1e-3):
            steps[0] += 1

    run(learn, count)
    assert steps[0] > 5
    assert fleet.statistics.rounds == len(X)


def calls_of(fleet: Fleet, x: dict[str, Any], learned: bool = True) -> dict[str, Any]:
    calls: dict[str, Any] = {
        "learn_one": lambda: fleet.learn_one("a", x, "p"),
        "round_one": lambda: fleet.round_one("a", x, "p"),
        "predict_one": lambda: fleet.predict_one("a", x),
        "score_one": lambda: fleet.score_one("a", x),
        "learn_many": lambda: fleet.learn_many(["a", "new"], [{"x": 1.0}, x], ["p", "new"]),
        "round_many": lambda: fleet.round_many(["a", "new"], [{"x": 1.0}, x], ["p", "new"]),
        "predict_many": lambda: fleet.predict_many(["a"], [x]),
        "score_many": lambda: fleet.score_many(["a"], [x]),
        "explain_one": lambda: fleet["a"].explain_one(x),
    }
    return calls


@pytest.mark.parametrize("outer", list(calls_of(Fleet("classification"), {})))
def test_a_value_that_calls_the_fleet_back_is_rejected(outer: str) -> None:
    for inner in (
        *calls_of(Fleet("classification"), {}),
        "del", "in", "iter", "len", "statistics", "summary", "top", "learner", "size",
    ):  # fmt: skip
        fleet = Fleet("classification")
        fleet.learn_many(*columns(stream(30)))
        before = state(fleet)
        within: dict[str, Any] = {
            **calls_of(fleet, {"x": 1.0}),
            "del": lambda fleet=fleet: fleet.__delitem__("a"),
            "in": lambda fleet=fleet: "a" in fleet,
            "iter": lambda fleet=fleet: list(fleet),
            "len": lambda fleet=fleet: len(fleet),
            "statistics": lambda fleet=fleet: fleet.statistics,
            "summary": lambda fleet=fleet: fleet.summary(),
            "top": lambda fleet=fleet: fleet.top(),
            "learner": lambda fleet=fleet: fleet["a"].learner(),
            "size": lambda fleet=fleet: sys.getsizeof(fleet),
        }
        with pytest.raises((RuntimeError, ValueError), match="called from within one of its own calls"):
            calls_of(fleet, {"fresh": 1.0, "y": Calls(within[inner])})[outer]()
        assert_same_state(fleet, before)


def test_a_value_may_call_another_fleet() -> None:
    fleet, other = Fleet("classification"), Fleet("classification")
    fleet.learn_one("a", {"y": Calls(lambda: other.learn_one("b", {"x": 1.0}, "q"))}, "p")
    assert fleet.statistics.rounds == other.statistics.rounds == 1


# ---- Ctrl-C ------------------------------------------------------------------------------------------------------


def large(count: int = 400_000) -> tuple[Any, Any, list[str]]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 2000, count), numbers(count, 4), [LABELS[i] for i in rng.integers(0, 3, count)]


@pytest.mark.parametrize("shared", [False, True])
def test_ctrl_c_in_a_batch_leaves_no_trace(shared: bool) -> None:
    keys, X, y = large()
    fleet = Fleet("classification", shared=shared)
    fleet.learn_many(keys[:50], X[:50], y[:50])
    before = state(fleet)
    lines = b"\n".join(
        b'{"key":%d,"label":"%s","x":%d}' % (k, t.encode(), i)
        for i, (k, t) in enumerate(zip(keys, y, strict=True))
    )
    for act in (
        lambda: fleet.learn_many(keys, X, y),
        lambda: fleet.round_many(keys, X, y),
        lambda: fleet.predict_many(keys, X),
        lambda: fleet.ingest(lines),
    ):
        interrupt(act, lambda: fleet.predict_one("a", {}))
        assert_same_state(fleet, before)
    fleet.learn_many(keys[:5000], X[:5000], y[:5000])
    assert fleet.statistics.rounds == 5050


# ---- fork --------------------------------------------------------------------------------------------------------


def in_a_fork(check: Any) -> None:
    child = os.fork()
    if child == 0:
        try:
            check()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_has_a_fleet_of_its_own() -> None:
    fleet = Fleet("classification")
    fleet.learn_many(*columns(stream(40)))
    before = state(fleet)

    def child() -> None:
        assert_same_state(fleet, before)
        fleet.learn_many(*columns(stream(60)))
        assert fleet.statistics.rounds == 100

    in_a_fork(child)
    assert_same_state(fleet, before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_another_thread_learns_is_rejected_or_whole() -> None:
    keys, X, y = large(600_000)
    fleet = Fleet("classification")
    started = threading.Event()

    def learn() -> None:
        started.set()
        fleet.learn_many(keys, X, y)

    thread = threading.Thread(target=learn)
    thread.start()
    started.wait()
    found = []
    for _ in range(5):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                text = str(fleet.statistics.rounds)
            except RuntimeError as error:
                text = str(error)
            os.write(writer, text.encode())
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            found.append(pipe.read())
        os.waitpid(child, 0)
    thread.join()
    assert all(text in ("0", str(len(X))) or "half-written" in text for text in found)
    assert any("half-written" in text for text in found)
