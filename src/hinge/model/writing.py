"""Files that are replaced whole: at every moment their place holds the old bytes or the new ones, never a part.

The new bytes go to a hidden temporary file in the same folder, which is synced and renamed. Its name has the process in
it, so that one that a killed process left behind is recognised, and removed when the same file is written next.
"""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from .locks import check_folder, hidden_path

_cleaned: set[str] = set()  # places whose abandoned temporary files this process has removed


def write_whole(path: str | os.PathLike[str], data: bytes | Iterable[bytes | memoryview]) -> None:
    """Replaces the file by `data`, which may come in pieces."""
    with whole_file(path) as file:
        for piece in (data,) if isinstance(data, bytes) else data:
            file.write(piece)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when all is written; if something fails, nothing has happened."""
    place = os.path.realpath(path)  # what a link leads to is replaced, not the link
    if os.path.exists(place) and not os.path.isfile(place):  # a device, a pipe: there is nothing to replace
        with open(place, "wb") as device:
            yield device
        return
    check_folder(place)
    _remove_abandoned(place)
    mode = _mode_of(place)
    temporary, file = _create_temporary(place, mode)
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(temporary, mode)
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(os.path.dirname(place) or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _mode_of(place: str) -> int | None:
    """The permissions of the file that is replaced; None if there is none yet."""
    try:
        return os.stat(place).st_mode & 0o777
    except FileNotFoundError:
        return None


def _create_temporary(place: str, mode: int | None) -> tuple[str, BinaryIO]:
    """A new file next to `place`. (tempfile does this too, and takes long to import.)

    In place of an old file it is private until it gets the old one's permissions. Otherwise the kernel gives it those
    of a new file: to ask for the umask of the process one would have to change it, for all threads.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
    while True:
        temporary = hidden_path(place, _ending(f"{os.getpid():010d}", os.urandom(4).hex()))
        with contextlib.suppress(FileExistsError):
            handle = os.open(temporary, flags, 0o666 if mode is None else 0o600)
            return temporary, os.fdopen(handle, "wb")


def _ending(process: str, number: str) -> str:
    """Always of the same length."""
    return f".{_machine()}-{process}-{number}.tmp"


def _machine() -> str:
    """Which machine (or container) the process id belongs to: a folder may be shared by several."""
    name = os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")
    return f"{zlib.crc32(name.encode()):08x}"


def _remove_abandoned(place: str) -> None:
    """Removes temporary files for `place` whose process is gone. Once per process and file: a folder may be large."""
    if os.name != "posix" or place in _cleaned:
        return
    _cleaned.add(place)
    folder, sample = os.path.split(hidden_path(place, _ending("0" * 10, "0" * 8)))
    name = sample.removesuffix(_ending("0" * 10, "0" * 8))
    abandoned = re.compile(re.escape(name) + _ending("([0-9]{10})", "[0-9a-f]{8}").replace(".", r"\."))
    with contextlib.suppress(OSError), os.scandir(folder or ".") as entries:
        for entry in entries:
            found = abandoned.fullmatch(entry.name)
            if found is not None and not _is_running(int(found[1])):
                with contextlib.suppress(OSError):
                    os.unlink(entry.path)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
