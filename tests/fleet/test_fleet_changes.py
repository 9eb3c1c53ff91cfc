"""Changes of a fleet for its copies, and what a snapshot sees while the fleet learns."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from support.fleet_files import OPTIONS, chunks, content, feed
from support.python_runs import run_python

import hinge
from hinge import Fleet, InputError, ModelFileError


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
    """The first fleet is lost; its copy goes on, and the other copies follow it."""
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


# ---- snapshots while it learns --------------------------------------------------------------------------------------


def test_a_snapshot_is_of_one_moment(tmp_path: Path) -> None:
    """Each batch gives each key one example, so all keys have learned equally often at any moment between two."""
    keys, features = 4000, {f"f{i}": 1.0 for i in range(30)}
    fleet = Fleet("regression", shared=False)
    fleet.learn_many(list(range(keys)), [features] * keys, [1.0] * keys)
    assert len(fleet.to_bytes()) > 3 * 2**19  # several pieces
    stopped = threading.Event()

    def learn() -> None:
        y = 0.0
        while not stopped.is_set():
            y += 1
            fleet.learn_many(list(range(keys)), [features] * keys, [y] * keys)

    thread = threading.Thread(target=learn)
    thread.start()
    try:
        rounds = []
        for _ in range(12):
            fleet.save(tmp_path / "f")
            loaded = Fleet.load(tmp_path / "f")
            its = set(loaded.summary()["rounds"])
            assert len(its) == 1
            assert loaded.clock == keys * next(iter(its))
            rounds.append(its.pop())
    finally:
        stopped.set()
        thread.join()
    assert len(set(rounds)) > 3


def test_a_snapshot_sees_keys_that_are_removed_meanwhile(tmp_path: Path) -> None:
    """Keys are removed in their order and new ones take their slots: what a snapshot has is a suffix and a prefix."""
    keys = 20_000
    x = {f"f{i}": 1.0 for i in range(40)}
    for _ in range(5):
        fleet = Fleet("regression", shared=False)
        fleet.learn_many(list(range(keys)), [x] * keys, [1.0] * keys)

        def turn(fleet: Fleet = fleet) -> None:
            for key in range(keys):
                del fleet[key]
                fleet.learn_one(f"new {key}", x, 2.0)

        thread = threading.Thread(target=turn)
        thread.start()
        moments = []
        while thread.is_alive():
            fleet.save(tmp_path / "f")
            loaded = Fleet.load(tmp_path / "f")
            old = [key for key in loaded if isinstance(key, int)]
            new = {int(key.split()[1]) for key in loaded if isinstance(key, str)}
            assert sorted(old) == list(range(keys - len(old), keys))
            assert new == set(range(len(new)))
            assert keys - 1 <= len(loaded) <= keys
            assert loaded.clock == keys + (keys - len(old)) + len(new)
            moments.append(len(new))
        thread.join()
        if any(0 < moment < keys for moment in moments):
            return
    pytest.skip("this machine ran the threads one after the other")


def test_an_error_while_writing_leaves_the_fleet_usable(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 50)
    with pytest.raises(OSError, match="No space left"):
        fleet.save("/dev/full")
    before = fleet.to_bytes()
    feed(fleet, 10, seed=3)
    assert Fleet.from_bytes(before).clock == 50
    assert Fleet.from_bytes(fleet.to_bytes()).clock == 60


# ---- directories ----------------------------------------------------------------------------------------------------


def files(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def test_a_directory_grows_by_what_has_changed(tmp_path: Path) -> None:
    fleet = Fleet("classification", shared=False)
    feed(fleet, 400, keys=100)
    fleet.snapshot(tmp_path / "d")
    fleet.snapshot(tmp_path / "d")  # nothing is new
    assert files(tmp_path / "d") == ["00000001.fleet", "fleet.json"]
    for step in range(3):
        feed(fleet, 3, seed=step)
        fleet.notes = {"step": step}
        fleet.snapshot(tmp_path / "d")
        for read in (Fleet.load(tmp_path / "d"), hinge.load(tmp_path / "d")):
            assert content(read) == content(fleet)
            assert read.notes == fleet.notes
    assert files(tmp_path / "d") == [*(f"0000000{i}.fleet" for i in range(1, 5)), "fleet.json"]
    sizes = [(tmp_path / "d" / name).stat().st_size for name in files(tmp_path / "d")[:-1]]
    assert max(sizes[1:]) < sizes[0] / 5


def test_a_directory_is_compacted_when_it_has_outgrown_the_fleet(tmp_path: Path) -> None:
    fleet = Fleet("classification", shared=False)
    feed(fleet, 100, keys=20)
    longest = 0
    for step in range(30):
        feed(fleet, 20, seed=step, keys=20)
        fleet.snapshot(tmp_path)
        longest = max(longest, len(files(tmp_path)))
        total = sum((tmp_path / name).stat().st_size for name in files(tmp_path))
        assert total < 3.2 * len(fleet.to_bytes())
        assert content(Fleet.load(tmp_path)) == content(fleet)
    assert longest < 12


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"cut")], ids=["gone", "cut"])
def test_a_directory_that_has_lost_a_segment_is_written_anew(harm: Any, tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 100)
    fleet.snapshot(tmp_path / "d")
    harm(tmp_path / "d" / "00000001.fleet")
    feed(fleet, 5)
    fleet.snapshot(tmp_path / "d")
    assert content(Fleet.load(tmp_path / "d")) == content(fleet)
    with pytest.raises(FileNotFoundError, match="no folder"):
        fleet.snapshot(tmp_path / "nowhere" / "d")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError, match="snapshots go to a directory"):
        fleet.snapshot(tmp_path / "file")


def test_a_restarted_fleet_goes_on_in_its_directory(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 100)
    fleet.snapshot(tmp_path)
    again = Fleet.load(tmp_path)
    feed(again, 10, seed=1)
    again.snapshot(tmp_path)
    assert content(Fleet.load(tmp_path)) == content(again)
    feed(fleet, 20, seed=2)
    with pytest.raises(ValueError, match="snapshots of another fleet, or of a later state"):
        fleet.snapshot(tmp_path)
    with pytest.raises(ValueError, match="snapshots of another fleet"):
        Fleet("classification").snapshot(tmp_path)
    assert content(Fleet.load(tmp_path)) == content(again)


def test_a_forgotten_key_is_gone_from_files(tmp_path: Path) -> None:
    fleet = Fleet("classification", memory=2_000)
    feed(fleet, 100)
    fleet.learn_one("somebody@example.org", {"f1": 1}, "a")
    feed(fleet, 50, seed=1)
    fleet.snapshot(tmp_path / "d")
    del fleet["somebody@example.org"]
    assert "somebody@example.org" not in fleet
    assert b"somebody" not in fleet.to_bytes()
    assert b"somebody" not in fleet.changes(50)
    fleet.snapshot(tmp_path / "d", compact=True)
    assert files(tmp_path / "d") == ["00000002.fleet", "fleet.json"]
    assert not any(b"somebody" in path.read_bytes() for path in (tmp_path / "d").iterdir())
    assert "somebody@example.org" not in Fleet.load(tmp_path / "d")


def test_damaged_directories_are_rejected(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    with pytest.raises(FileNotFoundError, match=r"no fleet in .*: it has no fleet.json"):
        Fleet.load(tmp_path)
    feed(fleet, 100)
    fleet.snapshot(tmp_path)
    feed(fleet, 5)
    fleet.snapshot(tmp_path)
    listed = (tmp_path / "fleet.json").read_text()
    first, second = files(tmp_path)[:2]
    for wrong in ("", "{}", "[]", '{"version": 2, "segments": []}', '{"version": 1, "segments": []}',
                  listed.replace(first, "../x"), listed.replace('"until"', '"x"')):  # fmt: skip
        (tmp_path / "fleet.json").write_text(wrong)
        with pytest.raises(ModelFileError, match="is not the list of a fleet"):
            Fleet.load(tmp_path)
    said = json.loads(listed)
    said["segments"][1]["maker"] = "0" * 32
    (tmp_path / "fleet.json").write_text(json.dumps(said))
    with pytest.raises(ModelFileError, match="does not belong to the segments"):
        Fleet.load(tmp_path)
    (tmp_path / "fleet.json").write_text(listed)
    data = (tmp_path / second).read_bytes()
    (tmp_path / second).write_bytes(data[:-5])
    with pytest.raises(ModelFileError, match=f"{second} is damaged"):
        Fleet.load(tmp_path)
    (tmp_path / second).unlink()
    with pytest.raises(FileNotFoundError):
        Fleet.load(tmp_path)
    (tmp_path / second).write_bytes(data)
    assert content(Fleet.load(tmp_path)) == content(fleet)


def test_the_head_of_a_file_says_what_it_is() -> None:
    fleet = Fleet("classification", C=0.5)
    feed(fleet, 10)
    kind, head = chunks(fleet.to_bytes())[0]
    said = json.loads(head)
    assert (kind, said["since"], said["until"], said["slots"]) == (1, 0, 10, len(fleet))
    assert json.loads(said["header"])["parameters"] == {"C": 0.5, "step": fleet.parameters["step"]}


def test_notes_go_with_changes_and_snapshots(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    fleet.snapshot(tmp_path)  # nothing has been learned
    feed(fleet, 20)
    copied = Fleet.from_bytes(fleet.to_bytes())
    fleet.notes["place"] = 1
    fleet.snapshot(tmp_path)
    assert copied.apply(fleet.changes(20)) is False  # nothing has changed but the notes
    fleet.notes["place"] = 2
    fleet.snapshot(tmp_path)
    assert Fleet.load(tmp_path).notes == {"place": 2}
    feed(fleet, 1)
    copied.apply(fleet.changes(20))
    assert copied.notes == {"place": 2}
    small = Fleet.load(tmp_path, max_keys=1000)
    small.snapshot(tmp_path)
    assert Fleet.load(tmp_path).parameters["max_keys"] == 1000
    assert content(Fleet.load(tmp_path)) == content(small)


def test_an_empty_snapshot_is_of_any_fleet(tmp_path: Path) -> None:
    Fleet("classification").snapshot(tmp_path)
    numbers = Fleet("regression")
    numbers.learn_one("a", {"x": 1}, 2.0)
    numbers.snapshot(tmp_path)
    assert content(Fleet.load(tmp_path)) == content(numbers)


def test_a_file_is_read_at_one_moment(tmp_path: Path) -> None:
    """Others replace it while it is read: its notes are those of its weights."""
    fleet = Fleet("classification")
    stopped = threading.Event()

    def save() -> None:
        while not stopped.is_set():
            feed(fleet, 1)
            fleet.notes = {"clock": fleet.clock}
            fleet.save(tmp_path / "f")

    feed(fleet, 1)
    fleet.notes = {"clock": 1}
    fleet.save(tmp_path / "f")
    thread = threading.Thread(target=save)
    thread.start()
    try:
        for _ in range(300):
            loaded = Fleet.load(tmp_path / "f")
            assert loaded.notes["clock"] == loaded.clock
    finally:
        stopped.set()
        thread.join()


def test_a_directory_is_read_while_it_is_compacted(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 30)
    fleet.snapshot(tmp_path)
    stopped = threading.Event()

    def compact() -> None:
        step = 0
        while not stopped.is_set():
            feed(fleet, 1, seed=step)
            fleet.notes = {"clock": fleet.clock}
            fleet.snapshot(tmp_path, compact=step % 2 == 0)
            step += 1

    thread = threading.Thread(target=compact)
    thread.start()
    try:
        for _ in range(200):
            loaded = Fleet.load(tmp_path)
            assert loaded.notes.get("clock", loaded.clock) == loaded.clock
    finally:
        stopped.set()
        thread.join()


def test_a_value_that_saves_the_fleet_is_rejected(tmp_path: Path) -> None:
    """Also while another thread saves: it would wait for itself."""
    fleet = Fleet("regression", shared=False)
    fleet.learn_many(list(range(3000)), [{f"f{i}": 1.0 for i in range(60)}] * 3000, [1.0] * 3000)

    class Saves:
        def __float__(self) -> float:
            fleet.to_bytes()
            return 1.0

    stopped = threading.Event()

    def save() -> None:
        while not stopped.is_set():
            fleet.to_bytes()

    thread = threading.Thread(target=save)
    thread.start()
    try:
        for _ in range(20):
            for call in (fleet.predict_one, lambda key, x: fleet.learn_one(key, x, 1.0)):
                with pytest.raises((RuntimeError, InputError), match="busy"):
                    call(1, {"x": Saves()})
    finally:
        stopped.set()
        thread.join()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="needs timers")
def test_a_signal_handler_that_saves_does_not_wait_for_itself() -> None:
    run_python("""
        import signal
        from hinge import Fleet
        fleet = Fleet("regression", shared=False)
        x = {f"f{i}": 1.0 for i in range(100)}
        for start in range(0, 20_000, 1000):
            fleet.learn_many(list(range(start, start + 1000)), [x] * 1000, [1.0] * 1000)
        busy = done = 0
        def save(*_):
            global busy, done
            try:
                fleet.to_bytes()
                done += 1
            except RuntimeError as error:
                assert "this thread is saving it" in str(error)
                busy += 1
        signal.signal(signal.SIGALRM, save)
        for _ in range(200):
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            fleet.to_bytes()
            signal.setitimer(signal.ITIMER_REAL, 0)
            if busy:
                break
        assert busy, done
        assert len(Fleet.from_bytes(fleet.to_bytes())) == 20_000
        """)


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
