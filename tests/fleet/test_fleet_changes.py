"""Changes of a fleet, for its copies."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.fleet_files import OPTIONS, chunks, content, feed

from hinge import Fleet, InputError


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_copy_that_takes_all_changes_is_the_same_fleet(options: dict[str, Any]) -> None:
    fleet = Fleet("classification", **options)
    copied = Fleet("classification", **options)
    sizes = []
    for step in range(8):
        feed(fleet, 40, seed=step, keys=10 + 10 * step, labels=("d", "a", "c", "b")[: 1 + step // 2])
        if step % 3 == 2:
            del fleet[random.Random(step).choice(list(fleet))]
        changes = fleet.changes(copied.clock)
        sizes.append(len(changes))
        assert copied.apply(changes) is True
        assert content(copied) == content(fleet)
        assert list(copied) == list(fleet)
        assert copied.apply(changes) is False
    assert sizes[-1] < len(fleet.to_bytes())
    feed(fleet, 50, seed=99)
    feed(copied, 50, seed=99)
    assert content(copied) == content(fleet)


def test_changes_have_only_what_has_changed() -> None:
    fleet = Fleet("classification", shared=False)
    feed(fleet, 400, keys=100)
    clock, everything = fleet.clock, len(fleet.to_bytes())
    fleet.learn_one("one key", {"x": 1}, "a")
    assert len(fleet.changes(clock)) < everything / 10
    assert b"one key" in fleet.changes(clock)
    assert b"one key" not in fleet.changes(fleet.clock)
    with pytest.raises(InputError, match="no change 402 yet: the last one is 401"):
        fleet.changes(402)


def test_a_first_second_label_changes_all_keys() -> None:
    """With the second label, which sorts first, the sign of all weights changes."""
    fleet = Fleet("classification")
    for key in range(5):
        fleet.learn_one(key, {"x": 1}, "b")
    copied = Fleet.from_bytes(fleet.to_bytes())
    fleet.learn_one(0, {"x": 1}, "a")
    copied.apply(fleet.changes(copied.clock))
    assert content(copied) == content(fleet)


def test_only_changes_of_the_same_fleet_are_taken() -> None:
    fleet, other = Fleet("classification"), Fleet("classification")
    feed(fleet, 50)
    feed(other, 60)
    copied = Fleet.from_bytes(fleet.to_bytes())
    for changes in (other.changes(50), other.to_bytes()):
        with pytest.raises(InputError, match="not changes of the fleet that this one is a copy of"):
            copied.apply(changes)
    with pytest.raises(InputError, match="other options"):
        Fleet("classification", C=2).apply(fleet.to_bytes())
    with pytest.raises(InputError, match="not changes of the fleet"):
        Fleet("classification").apply(fleet.changes(20))
    feed(fleet, 10, seed=2)
    gap = fleet.changes(fleet.clock - 5)
    with pytest.raises(
        InputError, match="the changes since 55, the fleet has those until 50: some are missing"
    ):
        copied.apply(gap)
    assert copied.clock == 50


def test_a_copy_that_has_learned_takes_no_changes() -> None:
    fleet = Fleet("classification")
    feed(fleet, 50)
    copied = Fleet.from_bytes(fleet.to_bytes())
    feed(copied, 1)
    feed(fleet, 10)
    with pytest.raises(InputError, match="a copy that has learned by itself is none"):
        copied.apply(fleet.changes(50))


def test_a_copy_can_take_over_and_be_followed() -> None:
    """Failover: one copy learns in place of the lost fleet, and the other copy follows it."""
    fleet = Fleet("classification")
    feed(fleet, 50)
    second, third = Fleet.from_bytes(fleet.to_bytes()), Fleet.from_bytes(fleet.to_bytes())
    feed(second, 30, seed=1)
    assert third.apply(second.changes(third.clock))
    assert content(third) == content(second)
    feed(fleet, 30, seed=1)  # the same number of changes, but not the same ones
    feed(fleet, 30, seed=2)
    with pytest.raises(InputError, match="not changes of the fleet"):
        third.apply(fleet.changes(third.clock))


def test_a_rejected_event_changes_no_moment() -> None:
    fleet = Fleet("classification")
    feed(fleet, 20)
    copied = Fleet.from_bytes(fleet.to_bytes())
    with pytest.raises(InputError):
        fleet.learn_many(["a", "b"], [{"x": 1}, {"x": float("nan")}], ["a", "b"])
    assert fleet.clock == copied.clock
    assert fleet.to_bytes() == copied.to_bytes()


class Replicas(RuleBasedStateMachine):
    """A fleet, a copy that follows it now and then, and a directory of snapshots."""

    @initialize(options=st.sampled_from(OPTIONS))
    def begin(self, options: dict[str, Any]) -> None:
        self.options = options
        self.fleet, self.copied = Fleet("classification", **options), Fleet("classification", **options)

    @rule(seed=st.integers(0, 99), keys=st.integers(1, 60), labels=st.integers(1, 4))
    def learn(self, seed: int, keys: int, labels: int) -> None:
        feed(self.fleet, 5, seed, keys=keys, labels=("c", "a", "d", "b")[:labels])

    @rule(place=st.integers(0, 1000))
    def forget(self, place: int) -> None:
        if listed := list(self.fleet):
            del self.fleet[listed[place % len(listed)]]

    @rule(count=st.integers(1, 4))
    def reject(self, count: int) -> None:
        keys = [f"new {i}" for i in range(count)] + ["bad"]
        rows: list[dict[str, float]] = [{f"n{i}": 1.0} for i in range(count)] + [{"x": float("inf")}]
        with pytest.raises(InputError):
            self.fleet.learn_many(keys, rows, ["a"] * (count + 1))

    @rule()
    def follow(self) -> None:
        self.copied.apply(self.fleet.changes(self.copied.clock))
        assert content(self.copied) == content(self.fleet)

    @rule()
    def load(self) -> None:
        """The fleet is restarted: its copy still follows."""
        self.fleet = Fleet.from_bytes(self.fleet.to_bytes())

    @invariant()
    def directory_is_sound(self) -> None:
        assert len(list(self.fleet)) == len(self.fleet)


TestReplicas = Replicas.TestCase
TestReplicas.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)


def test_the_head_of_a_file_says_what_it_is() -> None:
    fleet = Fleet("classification", C=0.5)
    feed(fleet, 10)
    kind, head = chunks(fleet.to_bytes())[0]
    said = json.loads(head)
    assert (kind, said["since"], said["until"], said["slots"]) == (1, 0, 10, len(fleet))
    assert json.loads(said["header"])["parameters"] == {"C": 0.5, "step": fleet.parameters["step"]}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_has_a_copy(tmp_path: Path) -> None:
    """Parent and child learn on: what the child has learned is not taken for changes of the parent."""
    fleet = Fleet("classification")
    feed(fleet, 30)
    follower = Fleet.from_bytes(fleet.to_bytes())
    child = os.fork()
    if child == 0:
        feed(fleet, 10, seed=1)
        fleet.save(tmp_path / "child")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    feed(fleet, 10, seed=2)
    follower.apply(fleet.changes(30))
    assert content(follower) == content(fleet)
    feed(fleet, 10, seed=2)
    from_child = Fleet.load(tmp_path / "child")
    assert (from_child.clock, fleet.clock) == (40, 50)
    with pytest.raises(InputError, match="not changes of the fleet"):
        from_child.apply(fleet.changes(40))
