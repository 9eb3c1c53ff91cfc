"""Model files: what the core writes and reads (cpp/model/file.hpp), with a header of JSON that Python writes."""

from __future__ import annotations

import errno
import json
import math
import os
import stat
from typing import Any

from .._core import ModelFileError as ModelFileError
from .._core import WholeFile, begins_like_a_model, file_bytes, read_model, read_model_file, save_file
from .locks import check_folder

Tensors = dict[str, Any]  # arrays of numpy, or memoryviews

# What the readers of a header raise if its content is absurd.
ABSURD = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, MemoryError)


# ---- writing ---------------------------------------------------------------------------------------------------------


def save(path: str | os.PathLike[str], header: dict[str, Any], tensors: Tensors) -> None:
    """Writes a model to one file, whole or not at all."""
    text = header_text(header)
    check_folder(path)
    save_file(os.fsencode(path), text, tensors)


def to_bytes(header: dict[str, Any], tensors: Tensors) -> bytes:
    return file_bytes(header_text(header), tensors)


def whole_file(path: str | os.PathLike[str]) -> WholeFile:
    """For `with`: a file to write bytes to, which takes its place at the end of the block; if that raises, nothing has
    happened."""
    check_folder(path)
    return WholeFile(os.fsencode(path))


def header_text(header: dict[str, Any]) -> str:
    try:
        return json.dumps(header, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the notes of the model are not what JSON can hold: {error}") from None


def check_state(state: Tensors) -> None:
    """What `save` writes, `load` accepts: a model with an infinite sum does not replace a good file."""
    for tensor in state.values():
        if not tensor.shape and not math.isfinite(number := tensor[()]):
            raise ValueError(
                f"the model cannot be saved: one of its sums has become {float(number)}, and no file with it would be "
                "accepted. Its statistics show which; learn from values that are less extreme"
            )


def checked_notes(notes: Any) -> Any:
    """Notes come back as they were: JSON would turn the keys of objects into strings."""
    if isinstance(notes, dict):
        for key, value in notes.items():
            if not isinstance(key, str):
                raise ValueError(f"the keys of notes must be strings, not {key!r}")
            checked_notes(value)
    elif isinstance(notes, (list, tuple)):
        for value in notes:
            checked_notes(value)
    return notes


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """The header and the arrays of a file. A file that does not begin like a model is not read any further."""
    source = str(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(handle).st_mode
    if stat.S_ISDIR(mode):
        os.close(handle)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), source)
    with open(handle, "rb") as file:  # it does not wait for a pipe to be opened at its other end
        if not stat.S_ISREG(mode):
            raise ModelFileError(
                f"{source} is not a file but a device or a pipe: a model is read from a file"
            )
        _check_beginning(file.read(200), source)
    try:
        return _contents(read_model_file(os.fsencode(path), source), source)
    except MemoryError:
        raise ModelFileError(f"{source} is too large for the memory") from None


def from_bytes(data: bytes | bytearray, source: str = "the data") -> tuple[dict[str, Any], Tensors]:
    _check_beginning(bytes(data[:200]), source)
    return _contents(read_model(bytes(data), source), source)


def _contents(read: tuple[str, Tensors], source: str) -> tuple[dict[str, Any], Tensors]:
    try:
        header = json.loads(read[0])
    except ABSURD as error:
        raise ModelFileError(f"{source} is not a hinge model: {error}") from error
    return header, read[1]


def _check_beginning(beginning: bytes, source: str) -> None:
    """Raises for what is not a model, with what it is instead."""
    if begins_like_a_model(beginning):
        return
    from .foreign_files import described

    what = described(beginning)
    if what is not None:
        raise ModelFileError(f"{source} is not a hinge model: it is {what}")
    raise ModelFileError(f"{source} is not a hinge model, or its beginning is damaged")


def notes_of(header: dict[str, Any]) -> dict[str, Any]:
    notes = header.get("notes", {})
    if not isinstance(notes, dict):
        raise ModelFileError(f"its notes are not a JSON object: {notes!r}")
    return notes
