"""Model files are written whole or not at all, and leave no temporary files."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading

import pytest

import hinge
from hinge import Learner
from hinge.model import writing


def test_failed_save_keeps_the_old_file(tmp_path):
    """The file system takes no more than 1,000 bytes."""
    model, place = Learner("regression"), tmp_path / "model"
    model.save(place)
    before = place.read_bytes()
    assert len(before) > 1000
    model.learn_one({"a": 1.0}, 1.0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            model.save(place)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    assert place.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    model.save(place)
    assert hinge.load(place).to_bytes() == model.to_bytes()


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere to write model\.hinge into"):
        Learner("regression").save(tmp_path / "nowhere" / "model.hinge")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("length", [200, 237, 238, 255])
def test_long_file_names_can_be_written(tmp_path, length):
    model, place = Learner("regression"), tmp_path / ("n" * length)
    model.save(place)
    model.save(place)
    assert hinge.load(place).to_bytes() == model.to_bytes()
    assert [path.name for path in tmp_path.iterdir()] == ["n" * length]


def test_saving_leaves_the_umask_alone(tmp_path, monkeypatch):
    def changed(mask):
        raise AssertionError("the umask belongs to all threads")

    before = os.umask(0o027)
    try:
        monkeypatch.setattr(os, "umask", changed)
        Learner("regression").save(tmp_path / "new")
        monkeypatch.undo()
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o640
        (tmp_path / "new").chmod(0o604)
        Learner("regression").save(tmp_path / "new")
        assert (tmp_path / "new").stat().st_mode & 0o777 == 0o604
    finally:
        os.umask(before)


KILLED = """
import os, signal, sys
from hinge.model import writing
with writing.whole_file(sys.argv[1]) as file:
    file.write(b"half of")
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("name", ["model.hinge", "n" * 255, "odd [name] (1).*"])
def test_temporary_file_of_a_killed_process_is_removed_by_the_next_save(tmp_path, name):
    place = tmp_path / name
    for _ in range(2):
        subprocess.run([sys.executable, "-c", KILLED, place], check=False, timeout=60)
    other = tmp_path / ".other.hinge.tmp"
    other.write_bytes(b"of another file")
    assert len(list(tmp_path.iterdir())) == 2  # the second process has removed what the first one left
    Learner("regression").save(place)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([other.name, name])


def test_temporary_file_of_a_running_process_is_kept(tmp_path):
    place, started, finish = tmp_path / "model", threading.Event(), threading.Event()

    def write():
        with writing.whole_file(place) as file:
            started.set()
            finish.wait(60)
            file.write(b"second")

    thread = threading.Thread(target=write)
    thread.start()
    assert started.wait(60)
    writing._cleaned.clear()
    writing.write_whole(place, b"first")
    finish.set()
    thread.join()
    assert place.read_bytes() == b"second"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
