"""Snapshots of a fleet in a directory: segments, each with what has changed since the one before it, and their list.

The list, `fleet.json`, is replaced atomically after a segment is on disk. So the directory always holds a whole fleet,
whenever the process is killed. When the segments after the first one have outgrown it, all are replaced by a new first
one; keys that were removed are gone from the disk then.
"""

from __future__ import annotations

import errno
import json
import os
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..model.file import ABSURD, ModelFileError, whole_file
from ..model.locks import check_folder, lock_for_writing
from . import files

if TYPE_CHECKING:
    from .fleet import Fleet

LIST = "fleet.json"
VERSION = 1
_SEGMENT = re.compile(r"\d{8}\.fleet")
_MOST = 100  # segments
_TRIES = 10  # to read a directory that another process compacts


class Segment(NamedTuple):
    file: str
    until: int  # the moment as of which it is
    maker: str  # who had made the last change then
    bytes: int


def snapshot(fleet: Fleet, directory: str | os.PathLike[str], compact: bool = False) -> None:
    folder = Path(directory)
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(
            errno.ENOTDIR, "snapshots go to a directory, and this is a file", str(folder)
        )
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    with lock_for_writing(folder / LIST):
        segments = read_list(folder) if (folder / LIST).exists() else []
        if segments and not fleet._core.has_been(segments[-1].maker, segments[-1].until):
            raise ValueError(
                f"{folder} has the snapshots of another fleet, or of a later state of this one: "
                "choose another directory"
            )
        unchanged = segments and segments[-1].until == fleet.clock
        if unchanged and not compact and _is_complete(folder, segments, fleet):
            return
        name = f"{int(segments[-1].file[:8]) + 1 if segments else 1:08d}.fleet"
        anew = compact or not segments or segments[-1].until == 0 or _is_worn(segments)
        kept = [] if anew or not _are_there(folder, segments) else segments
        until, maker = files.save(fleet, folder / name, kept[-1].until if kept else 0)
        kept = [*kept, Segment(name, until, maker, (folder / name).stat().st_size)]
        _write_list(folder, kept)
        _remove_others(folder, {segment.file for segment in kept})


def load(cls: type[Fleet], directory: str | os.PathLike[str], limits: Mapping[str, Any]) -> Fleet:
    folder = Path(directory)
    for _ in range(_TRIES):
        segments = read_list(folder)
        paths = [folder / segment.file for segment in segments]
        try:
            parts = [files.opened_file(path) for path in paths]
        except FileNotFoundError:
            if read_list(folder) == segments:
                raise
            continue  # it was compacted meanwhile
        fleet = files.fleet_of(
            cls, parts[-1].header, limits, str(paths[-1])
        )  # with its latest notes and limits
        for part, path in zip(parts, paths, strict=True):
            files.filled(fleet, part, str(path))
        if not fleet._core.has_been(segments[-1].maker, segments[-1].until):
            raise ModelFileError(f"{folder / LIST} does not belong to the segments in {folder}")
        return fleet
    raise OSError(f"{folder} was rewritten again and again while it was read")


def read_list(folder: Path) -> list[Segment]:
    path = folder / LIST
    if not path.exists():
        raise FileNotFoundError(f"there is no fleet in {folder}: it has no {LIST}")
    try:
        content = json.loads(path.read_bytes())
        if content["version"] != VERSION:
            raise ValueError(f"it has version {content['version']!r}, this hinge reads {VERSION}")
        segments = [Segment(**segment) for segment in content["segments"]]
        if not segments or not all(_SEGMENT.fullmatch(segment.file) for segment in segments):
            raise ValueError("its segments are invalid")
    except ABSURD as error:
        raise ModelFileError(f"{path} is not the list of a fleet, or is damaged: {error}") from error
    return segments


def _are_there(folder: Path, segments: list[Segment]) -> bool:
    """If something else has removed or cut a segment, the directory is written anew."""
    paths = [(folder / segment.file, segment.bytes) for segment in segments]
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def _is_complete(folder: Path, segments: list[Segment], fleet: Fleet) -> bool:
    """Whether the directory also has the notes and the limits as they are."""
    if not _are_there(folder, segments):
        return False
    return files.opened_file(folder / segments[-1].file).header == files.header_of(fleet)


def _is_worn(segments: list[Segment]) -> bool:
    first, *others = segments
    return len(others) >= _MOST or sum(segment.bytes for segment in others) > first.bytes


def _write_list(folder: Path, segments: list[Segment]) -> None:
    content = {"version": VERSION, "segments": [segment._asdict() for segment in segments]}
    with whole_file(folder / LIST) as file:
        file.write(json.dumps(content, indent=1).encode())


def _remove_others(folder: Path, kept: set[str]) -> None:
    for path in folder.iterdir():
        if _SEGMENT.fullmatch(path.name) and path.name not in kept:
            with suppress(OSError):
                path.unlink()
