"""Files of one moment, while the fleet learns and other threads save."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest
from support.fleet_files import feed
from support.python_runs import run_python

from hinge import Fleet, InputError


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
