"""One safetensors file for a model: arrays, and a JSON header in its metadata. No pickle, no code.

The file begins with the SHA-256 of all its bytes (taken with the place of the digest filled with zeros), so that a
truncated, altered or foreign file is rejected. It is read in place: what is in memory besides the model is the file.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
import stat
import sys
from typing import Any

from .._numpy import np
from . import writing

FORMAT = "hinge-model"
VERSION = 3

Tensors = dict[str, Any]  # arrays of numpy, or memoryviews

# A file is the length of its header in 8 bytes, the header, and the numbers. The header begins with the checksum.
_BEFORE_DIGEST = b'{"__metadata__":{"checksum":"'
_DIGEST_AT = 8 + len(_BEFORE_DIGEST)
_DIGEST_END = _DIGEST_AT + 64
_NO_DIGEST = b"0" * 64
_OLD_BEGINNING = b'{"__metadata__":{"hinge":'  # until 0.7

# What the readers of a header raise if it says something absurd.
ABSURD = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, MemoryError)


class ModelFileError(ValueError):
    """The file is not a hinge model, or not whole, or from a newer version."""


# ---- writing ---------------------------------------------------------------------------------------------------------


def save(path: str | os.PathLike[str], header: dict[str, Any], tensors: Tensors) -> None:
    """Writes a model to one file, whole or not at all."""
    writing.write_whole(path, _pieces(header, tensors))


def to_bytes(header: dict[str, Any], tensors: Tensors) -> bytes:
    return b"".join(_pieces(header, tensors))


def _pieces(header: dict[str, Any], tensors: Tensors) -> list[bytes | memoryview]:
    whole = {"format": FORMAT, "version": VERSION, "header": header}
    try:
        text = json.dumps(whole, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the notes of the model are not what JSON can hold: {error}") from None
    start, *numbers = _serialized(tensors, {"checksum": _NO_DIGEST.decode(), "hinge": text})
    digest = hashlib.sha256(start)
    for piece in numbers:
        digest.update(piece)
    return [start[:_DIGEST_AT], digest.hexdigest().encode(), start[_DIGEST_END:], *numbers]


def check_state(state: Tensors) -> None:
    """What `save` writes, `load` accepts: a model that has left the numbers replaces no file that is good."""
    for tensor in state.values():
        if not tensor.shape and not math.isfinite(number := tensor[()]):
            raise ValueError(
                f"the model cannot be saved: one of its sums has become {float(number)}, and no file with it would be "
                "accepted. Its statistics tell which; learn from values that are less extreme"
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


# What safetensors calls the types of numbers, in the order in which it stores them: by its rank, then by name.
_TYPES = {
    "uint64": "U64", "int64": "I64", "float64": "F64", "float32": "F32", "uint32": "U32", "int32": "I32",
    "float16": "F16", "uint16": "U16", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
_FORMATS = {"d": "float64", "f": "float32", "q": "int64", "l": "int64", "B": "uint8"}  # of memoryviews


def _serialized(tensors: Tensors, metadata: dict[str, str]) -> list[bytes | memoryview]:
    """The bytes of safetensors.numpy.save, without numpy: the length of a header with the header, then the numbers."""
    kinds, shapes, parts = {}, {}, {}
    for name, tensor in tensors.items():
        kinds[name], shapes[name], parts[name] = _described(tensor)
    header: dict[str, Any] = {"__metadata__": metadata}
    ranks, end = list(_TYPES), 0
    names = sorted(tensors, key=lambda name: (ranks.index(kinds[name]), name))
    for name in names:
        start, end = end, end + len(parts[name])
        header[name] = {"dtype": _TYPES[kinds[name]], "shape": shapes[name], "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return [len(text).to_bytes(8, "little") + text, *(parts[name] for name in names)]


def _described(tensor: Any) -> tuple[str, list[int], memoryview]:
    """The type, the shape and the bytes of an array."""
    if isinstance(tensor, memoryview) and sys.byteorder == "little":
        return _FORMATS[tensor.format], list(tensor.shape or ()), _as_bytes(tensor)
    array = np.asarray(tensor)
    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return array.dtype.name, list(array.shape), _as_bytes(little.ravel().view(np.uint8).data)


def _as_bytes(view: memoryview) -> memoryview:
    return view.cast("B") if view.nbytes else memoryview(b"")  # an empty one cannot be cast


# ---- reading ---------------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Tensors]:
    """The header and the arrays of a file. A file that does not begin like a model is not read any further."""
    source = str(path)
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    about = os.fstat(handle)
    if stat.S_ISDIR(about.st_mode):
        os.close(handle)
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), source)
    with open(handle, "rb") as file:  # it does not wait for a pipe to be opened at its other end
        if not stat.S_ISREG(about.st_mode):
            raise ModelFileError(
                f"{source} is not a file but a device or a pipe: a model is read from a file"
            )
        beginning = file.read(_DIGEST_END)
        _check_beginning(beginning, source)
        try:
            data = bytearray(max(about.st_size, len(beginning)))
        except MemoryError:
            raise ModelFileError(f"{source} is too large for the memory: {about.st_size} bytes") from None
        data[: len(beginning)] = beginning
        count = len(beginning) + file.readinto(memoryview(data)[len(beginning) :])
    del data[count:]
    return from_bytes(data, source)


def from_bytes(data: bytes | bytearray, source: str = "the data") -> tuple[dict[str, Any], Tensors]:
    _check_beginning(data[:_DIGEST_END], source)
    if _digest_of(data) != data[_DIGEST_AT:_DIGEST_END]:
        raise ModelFileError(f"{source} is damaged: its checksum does not match (truncated or altered)")
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        described = json.loads(bytes(data[8:end]))
        whole = json.loads(described.pop("__metadata__")["hinge"])
        if whole["format"] != FORMAT:
            raise ModelFileError(f"{source} is not a hinge model")
        if whole["version"] > VERSION:
            raise ModelFileError(
                f"{source} has format version {whole['version']}, this hinge reads up to {VERSION}: "
                "upgrade hinge"
            )
        return whole["header"], _tensors(described, memoryview(data)[end:])
    except ModelFileError:
        raise
    except ABSURD as error:
        raise ModelFileError(f"{source} is not a hinge model: {error}") from error


def _check_beginning(beginning: bytes | bytearray, source: str) -> None:
    """Raises for what is not a model of this version, with what it is instead."""
    if beginning[8:_DIGEST_AT] == _BEFORE_DIGEST:
        return
    if beginning[8:].startswith(_OLD_BEGINNING):
        raise ModelFileError(
            f"{source} was written by hinge 0.7 or earlier: learn it again, and save it anew"
        )
    from .foreign_files import described

    what = described(bytes(beginning))
    if what is not None:
        raise ModelFileError(f"{source} is not a hinge model: it is {what}")
    raise ModelFileError(f"{source} is not a hinge model, or its beginning is damaged")


def _digest_of(data: bytes | bytearray) -> bytes:
    view = memoryview(data)
    digest = hashlib.sha256(view[:_DIGEST_AT])
    digest.update(_NO_DIGEST)
    digest.update(view[_DIGEST_END:])
    return digest.hexdigest().encode()


def _tensors(described: dict[str, Any], numbers: memoryview) -> Tensors:
    """The arrays, in place: one after the other, without gaps, as `save` wrote them."""
    kinds = {short: np.dtype(name).newbyteorder("<") for name, short in _TYPES.items()}
    tensors: Tensors = {}
    end = 0
    for name, entry in described.items():
        kind, shape, (start, after) = kinds[entry["dtype"]], entry["shape"], entry["data_offsets"]
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"the shape of {name!r} is {shape!r}")
        if start != end or after != start + math.prod(shape) * kind.itemsize or start % kind.itemsize:
            raise ValueError(f"the place of {name!r} is wrong")
        if after > len(numbers):
            raise ValueError(f"{name!r} is not in the file")
        array = np.frombuffer(numbers[start:after], dtype=kind).reshape(shape)
        tensors[name] = array.astype(kind.newbyteorder("="), copy=False)
        end = after
    if end != len(numbers):
        raise ValueError("there are bytes that belong to nothing")
    return tensors


def notes_of(header: dict[str, Any]) -> dict[str, Any]:
    notes = header.get("notes", {})
    if not isinstance(notes, dict):
        raise ModelFileError(f"its notes are no JSON object: {notes!r}")
    return notes
