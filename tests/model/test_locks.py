"""One writer per model file."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys

import pytest

from hinge.model import locks
from hinge.model.locks import LockedError, lock_for_writing

HOLDER = """
import sys, time
from hinge.model.locks import lock_for_writing
with lock_for_writing(sys.argv[1]):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path):
    """A process that holds the lock of m.hinge until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "m.hinge")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout.readline() == b"locked\n"
    yield process
    process.kill()
    process.wait(timeout=60)
    process.stdin.close()
    process.stdout.close()


def test_second_writer_is_rejected_with_the_process_id_of_the_first(tmp_path, holder):
    expected = rf"m\.hinge is being written by process {holder.pid}:"
    with pytest.raises(LockedError, match=expected), lock_for_writing(tmp_path / "m.hinge"):
        pass
    with lock_for_writing(tmp_path / "other.hinge"):
        pass


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, None], ids=str)
def test_lock_ends_with_its_process(tmp_path, holder, ending):
    if ending is None:
        holder.stdin.close()
    else:
        holder.send_signal(ending)
    holder.wait(timeout=60)
    with lock_for_writing(tmp_path / "m.hinge"):
        assert (tmp_path / ".m.hinge.lock").read_text() == str(os.getpid())
    assert os.listdir(tmp_path) == []


def test_lock_survives_replacing_the_model(tmp_path, holder):
    (tmp_path / "m.hinge").write_bytes(b"old")
    (tmp_path / "new").write_bytes(b"new")
    os.replace(tmp_path / "new", tmp_path / "m.hinge")
    with pytest.raises(LockedError), lock_for_writing(tmp_path / "m.hinge"):
        pass


def test_second_lock_in_the_same_process_is_rejected(tmp_path):
    with lock_for_writing(tmp_path / "m"):
        with (
            pytest.raises(LockedError, match=f"this process \\({os.getpid()}\\)"),
            lock_for_writing(tmp_path / "m"),
        ):
            pass
        with (
            pytest.raises(LockedError),
            lock_for_writing(tmp_path / "m"),
        ):  # the rejected attempt did not release it
            pass
    with lock_for_writing(tmp_path / "m"):
        pass


def test_lock_ends_with_an_error(tmp_path):
    with pytest.raises(KeyError), lock_for_writing(tmp_path / "m"):
        raise KeyError
    with lock_for_writing(tmp_path / "m"):
        pass


def test_link_and_target_have_the_same_lock(tmp_path):
    (tmp_path / "m").touch()
    (tmp_path / "link").symlink_to(tmp_path / "m")
    with lock_for_writing(tmp_path / "link"), pytest.raises(LockedError), lock_for_writing(tmp_path / "m"):
        pass


def test_devices_are_not_locked():
    with lock_for_writing(os.devnull), lock_for_writing(os.devnull):
        pass


def test_missing_folder_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"no folder .*missing"),
        lock_for_writing(tmp_path / "missing" / "m"),
    ):
        pass


def test_longest_file_names_can_be_locked(tmp_path):
    with lock_for_writing(tmp_path / ("n" * 255)), lock_for_writing(tmp_path / ("m" * 255)):
        assert len(os.listdir(tmp_path)) == 2


def test_lock_file_removed_while_it_is_awaited(tmp_path, monkeypatch):
    """Another process releases (and removes) the lock file after we opened it: we lock a new one."""
    lock, attempts = tmp_path / ".m.lock", []
    try_lock = locks._try_lock

    def remove_first(handle):
        if not attempts:
            lock.unlink()
        attempts.append(handle)
        return try_lock(handle)

    monkeypatch.setattr(locks, "_try_lock", remove_first)
    with lock_for_writing(tmp_path / "m"):
        assert len(attempts) == 2
        assert lock.exists()
        with pytest.raises(LockedError), lock_for_writing(tmp_path / "m"):
            pass


COUNTER = """
import sys, time
from hinge.model.locks import LockedError, lock_for_writing
path = sys.argv[1]
for _ in range(200):
    while True:
        try:
            with lock_for_writing(path):
                number = int(open(path).read())
                with open(path, "w") as file:
                    file.write(str(number + 1))
            break
        except LockedError:
            time.sleep(0)
"""


def test_no_increment_is_lost_among_many_processes(tmp_path):
    (tmp_path / "count").write_text("0")
    processes = [subprocess.Popen([sys.executable, "-c", COUNTER, str(tmp_path / "count")]) for _ in range(4)]
    assert [process.wait(timeout=120) for process in processes] == [0] * 4
    assert (tmp_path / "count").read_text() == "800"


def test_file_system_without_locks_warns(tmp_path, monkeypatch):
    def unsupported(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", unsupported)
    with pytest.warns(UserWarning, match="no locks"), lock_for_writing(tmp_path / "m"):
        pass


def test_without_fcntl_writing_still_works(tmp_path, monkeypatch):
    monkeypatch.setattr(locks, "fcntl", None)
    with lock_for_writing(tmp_path / "m"):
        (tmp_path / "m").write_bytes(b"")
