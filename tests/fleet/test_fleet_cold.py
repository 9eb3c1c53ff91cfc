"""Fleets that are larger than their memory: cold keys are in a temporary file, and nobody notices."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest
from support.fleet_files import content, feed, stream
from support.python_runs import run_python

from hinge import Fleet, InputError

OPTIONS: list[dict[str, Any]] = [
    {"shared": False},
    {},
    {"geometry": "diagonal", "average": True},
    {"max_keys": 60, "at_max_keys": "evict", "dtype": "float32"},
]
KEYS = 200


def pair(options: dict[str, Any], memory: int = 12_000) -> tuple[Fleet, Fleet]:
    return Fleet("classification", **options), Fleet("classification", memory=memory, **options)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("labels", [("b", "a"), ("c", "b", "a", "d")], ids=str)
def test_a_small_memory_changes_nothing(options: dict[str, Any], labels: tuple[str, ...]) -> None:
    whole, small = pair(options)
    for step in range(4):
        feed(whole, 250, step, keys=KEYS, labels=labels)
        feed(small, 250, step, keys=KEYS, labels=labels)
        events = list(stream(50, seed=10 + step, keys=KEYS + 20))
        assert [small.score_one(k, x) for k, x, _ in events] == [whole.score_one(k, x) for k, x, _ in events]
        keys, rows = [k for k, _, _ in events], [x for _, x, _ in events]
        assert small.predict_many(keys, rows) == whole.predict_many(keys, rows)
        assert list(small) == list(whole)
        for key in list(whole)[:30]:
            a, b = small[key], whole[key]
            assert (a.statistics, a.labels, a.named_weights()) == (b.statistics, b.labels, b.named_weights())
            assert a.learner().to_bytes() == b.learner().to_bytes()
        assert small.top(5) == whole.top(5)
        assert small.statistics == whole.statistics
        assert (small.summary()["rounds"] == whole.summary()["rounds"]).all()
        victim = list(whole)[step]
        del whole[victim], small[victim]
        assert victim not in small
        assert content(small) == content(whole)
    assert small._core.n_cold > len(small) / 3
    assert whole._core.n_cold == 0


def test_the_memory_is_kept() -> None:
    fleet = Fleet("classification", shared=False, memory="1MB")
    feed(fleet, 30_000, keys=3000)
    assert fleet._core.record_bytes < 1_000_000
    assert fleet._core.n_cold > 1000
    assert fleet._core.file_bytes < 4 * len(fleet.to_bytes())


def test_batches_bring_keys_back() -> None:
    whole, small = pair({"shared": False})
    for step in range(3):
        events = list(stream(600, step, keys=KEYS))
        keys, rows, labels = ([event[i] for event in events] for i in range(3))
        assert small.round_many(keys, rows, labels) == whole.round_many(keys, rows, labels)
    assert content(small) == content(whole)
    feed(whole, 1)
    feed(small, 1)
    assert small._core.n_cold > 0


def test_a_rejected_batch_leaves_no_trace_in_cold_keys() -> None:
    whole, small = pair({"max_keys": 150, "at_max_keys": "evict"})
    feed(whole, 500, keys=KEYS)
    feed(small, 500, keys=KEYS)
    events = list(stream(300, 7, keys=2 * KEYS))
    keys, rows, labels = ([event[i] for event in events] for i in range(3))
    with pytest.raises(InputError, match="row 300"):
        small.learn_many([*keys, "bad"], [*rows, {"x": float("nan")}], [*labels, "a"])
    assert content(small) == content(whole)
    feed(whole, 300, 8, keys=2 * KEYS)
    feed(small, 300, 8, keys=2 * KEYS)
    assert content(small) == content(whole)


def test_a_large_fleet_is_loaded_into_a_small_memory(tmp_path: Path) -> None:
    whole = Fleet("classification", shared=False)
    feed(whole, 1000, keys=KEYS)
    whole.save(tmp_path / "f")
    small = Fleet.load(tmp_path / "f", memory=20_000)
    assert small._core.n_cold > 100
    assert content(small) == content(whole)
    feed(whole, 300, 3, keys=KEYS)
    feed(small, 300, 3, keys=KEYS)
    assert content(small) == content(whole)


def test_a_small_copy_takes_changes() -> None:
    whole, small = pair({})
    for step in range(5):
        feed(whole, 200, step, keys=KEYS)
        small.apply(whole.changes(small.clock))
        assert content(small) == content(whole)
    assert small._core.n_cold > 0


def test_threads_predict_from_disk_while_one_learns() -> None:
    _, small = pair({"shared": False})
    feed(small, 1000, keys=KEYS)
    wrong: list[BaseException] = []
    stopped = threading.Event()

    def predict(seed: int) -> None:
        try:
            while not stopped.is_set():
                for key, x, _ in stream(200, seed, keys=KEYS):
                    assert small.predict_one(key, x) in ("a", "b", "c")
                    assert small[key].statistics.rounds > 0
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=predict, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    feed(small, 3000, 1, keys=KEYS)
    stopped.set()
    for thread in threads:
        thread.join()
    assert not wrong
    whole = Fleet("classification", shared=False)
    feed(whole, 1000, keys=KEYS)
    feed(whole, 3000, 1, keys=KEYS)
    assert content(small) == content(whole)


@pytest.mark.skipif(os.name != "posix", reason="needs a limit of the size of files")
def test_a_full_disk_stops_learning_and_not_predicting() -> None:
    """What does not fit on the disk is rejected before it is learned."""
    run_python("""
        import resource, signal
        from hinge import Fleet
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 30_000))
        fleet, whole = Fleet("regression", shared=False, memory=10_000), Fleet("regression", shared=False)
        x = {f"f{i}": 1.0 for i in range(20)}
        learned = 0
        try:
            for learned in range(1000):
                fleet.learn_one(learned, x, 1.0)
                whole.learn_one(learned, x, 1.0)
        except OSError as error:
            assert "hinge" in str(error.filename), error
        else:
            raise AssertionError("the disk was not full")
        assert 20 < learned < 200 and len(fleet) == len(whole) == learned and fleet.clock == learned
        for key in range(learned):
            assert fleet.score_one(key, x) == whole.score_one(key, x)
            assert fleet[key].statistics == whole[key].statistics
        for _ in range(2):
            try:
                fleet.learn_many([1, 2], [x, x], [1.0, 2.0])
            except OSError:
                pass
            else:
                raise AssertionError("the disk was not full")
            assert fleet.clock == learned
        """)


@pytest.mark.skipif(os.name != "posix", reason="needs TMPDIR")
def test_the_temporary_file_is_in_its_folder_and_has_no_name(tmp_path: Path) -> None:
    program = """
        import os, sys
        from hinge import Fleet
        fleet = Fleet("regression", shared=False, memory=1_000)
        for key in range(100):
            fleet.learn_one(key, {"x": 1.0}, 1.0)
        assert fleet._core.n_cold > 50
        assert os.listdir(os.environ["TMPDIR"]) == []
        handles = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        opened = [os.readlink(handle) for handle in handles if os.path.islink(handle)]
        assert any(name.startswith(os.environ["TMPDIR"]) for name in opened), opened
        """
    run_python(program, TMPDIR=str(tmp_path))
    failing = """
        from hinge import Fleet
        fleet = Fleet("regression", shared=False, memory=1_000)
        try:
            for key in range(100):
                fleet.learn_one(key, {"x": 1.0}, 1.0)
        except OSError:
            assert len(fleet) == fleet.clock == key
        else:
            raise AssertionError("there is no such folder")
        """
    run_python(failing, TMPDIR=str(tmp_path / "nowhere"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_does_not_touch_the_file_of_its_parent() -> None:
    run_python("""
        import os
        from hinge import Fleet
        fleet = Fleet("regression", shared=False, memory=1_000)
        for key in range(100):
            fleet.learn_one(key, {"x": 1.0}, 1.0)
        child = os.fork()
        if child == 0:
            try:
                for key in range(100):
                    fleet.learn_one(key, {"x": 1.0}, 5.0)
            except RuntimeError as error:
                os._exit(0 if "forked" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        for key in range(100):
            assert fleet[key].statistics.rounds == 1
        """)


def test_memory_is_checked() -> None:
    for wrong in (0, -1, "much", "4 XB", float("nan"), True):
        with pytest.raises(ValueError, match="memory"):
            Fleet("classification", memory=wrong)  # type: ignore[arg-type]
