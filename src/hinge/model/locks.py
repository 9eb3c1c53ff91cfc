"""One writer per model file: an exclusive lock, held for as long as a process learns into the file.

The model file itself cannot be locked: every save replaces it by a new file. So the lock is on a hidden file next to it
(`.NAME.lock`), which holds the process id of the writer. The kernel releases the lock when the process ends, however it
ends; a lock file that a killed process left behind is taken over by the next writer.
"""

from __future__ import annotations

import contextlib
import errno
import os
import warnings
from collections.abc import Iterator

from .._core import hidden_path

try:
    import fcntl
except ImportError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

_UNSUPPORTED = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
_LOCK_BYTE = 1 << 20  # Windows: the byte that is locked, far behind the process id, which others may read


class LockedError(OSError):
    """Another process is writing to the model file."""


@contextlib.contextmanager
def lock_for_writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Holds the lock of a model file. Raises LockedError at once, with the process id, if someone else holds it.

    A device or a pipe is not locked: nothing is replaced there.
    """
    place = os.path.realpath(path)
    if os.path.exists(place) and not os.path.isfile(place):
        yield
        return
    check_folder(place)
    lock = os.fsdecode(hidden_path(os.fsencode(place), ".lock"))
    handle = _acquire(lock, place)
    try:
        yield
    finally:
        _release(handle, lock)


def check_folder(path: str | os.PathLike[str]) -> None:
    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder} to write {name} into")


def _acquire(lock: str, place: str) -> int:
    """The handle of the lock file, locked, with our process id in it."""
    while True:
        handle = os.open(lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
        try:
            if not _try_lock(handle):
                raise LockedError(_is_held(handle, place))
            if _is_still_there(handle, lock):
                os.ftruncate(handle, 0)
                os.write(handle, str(os.getpid()).encode())
                return handle
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)  # its holder removed it before we got it: it locks nothing any more


def _release(handle: int, lock: str) -> None:
    if fcntl is not None:
        with contextlib.suppress(OSError):  # removed by someone else: the lock ends with the handle anyway
            os.unlink(lock)  # while it is locked, so that nobody else's is removed
    os.close(handle)


def _try_lock(handle: int) -> bool:
    """Whether we have the lock now."""
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:
            _lock_without_fcntl(handle)
    except (BlockingIOError, PermissionError):
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        warnings.warn(
            "this file system has no locks: make sure that no other process writes to the same model",
            stacklevel=5,
        )
    return True


def _lock_without_fcntl(handle: int) -> None:
    """Windows. (Where there is neither, as in WebAssembly, there is no second process either.)"""
    try:
        import msvcrt
    except ImportError:
        return
    os.lseek(handle, _LOCK_BYTE, os.SEEK_SET)
    msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    os.lseek(handle, 0, os.SEEK_SET)


def _is_still_there(handle: int, lock: str) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), os.stat(lock))
    except FileNotFoundError:
        return False


def _is_held(handle: int, place: str) -> str:
    os.lseek(handle, 0, os.SEEK_SET)
    holder = os.read(handle, 20).decode("ascii", "replace").strip()
    who = f"process {holder}" if holder.isdigit() else "another process"
    if holder == str(os.getpid()):
        who = f"this process ({holder})"
    return (
        f"{place} is being written by {who}: wait until it has ended, or write to another file "
        "(two writers would overwrite each other's work)"
    )
