"""Model files are written whole or not at all, and leave no temporary files."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import subprocess
import sys

import pytest

import hinge
from hinge import Learner
from hinge.model.file import whole_file


def test_failed_save_keeps_the_old_file(tmp_path):
    """The file system takes no more than 100 bytes."""
    model, place = Learner("regression"), tmp_path / "model"
    model.save(place)
    before = place.read_bytes()
    assert len(before) > 100
    model.learn_one({"a": 1.0}, 1.0)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, limits[1]))
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
from hinge.model.file import whole_file
with whole_file(sys.argv[1]) as file:
    file.write(b"half of")
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
    place = tmp_path / "model"
    save = "import sys, hinge; hinge.Learner('regression').save(sys.argv[1])"
    with whole_file(place) as file:
        subprocess.run([sys.executable, "-c", save, place], check=True, timeout=60)
        assert len(list(tmp_path.iterdir())) == 2
        file.write(b"second")
    assert place.read_bytes() == b"second"
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_file_is_unchanged_if_its_block_raises(tmp_path):
    place = tmp_path / "model"
    place.write_bytes(b"old")
    with contextlib.suppress(KeyError), whole_file(place) as file:
        file.write(b"new" * 100_000)
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert place.read_bytes() == b"old"
    with pytest.raises(ValueError, match="closed"):
        file.write(b"more")


def test_link_is_followed(tmp_path):
    """Also one that leads to nothing yet."""
    for name in ("old", "new"):
        (tmp_path / name).mkdir()
        (tmp_path / f"link to {name}").symlink_to(tmp_path / name / "model")
    (tmp_path / "old" / "model").write_bytes(b"old")
    for name in ("old", "new"):
        with whole_file(tmp_path / f"link to {name}") as file:
            file.write(b"new")
        assert (tmp_path / f"link to {name}").is_symlink()
        assert (tmp_path / name / "model").read_bytes() == b"new"


def test_device_is_written_to():
    with whole_file(os.devnull) as file:
        file.write(b"any")
