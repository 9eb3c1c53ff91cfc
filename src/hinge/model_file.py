"""One safetensors file for a model: arrays, and a JSON header in its metadata. No pickle, no code.

The file carries the SHA-256 of all its bytes (taken with the place of the digest filled with zeros), so that
a truncated, flipped or foreign file is refused. It is written to a temporary file beside its place, synced,
and renamed: at every moment there is a whole file, the old one or the new one.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

from ._numpy import np

FORMAT = "hinge-model"
VERSION = 1

Tensors = dict[str, Any]  # arrays of numpy, or memoryviews

_NO_DIGEST = b"0" * 64
_DIGEST = re.compile(rb'\\"checksum\\":\\"([0-9a-f]{64})\\"')


# What the readers of a header raise if it says something absurd.
ABSURD = (LookupError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, MemoryError)


class ModelFileError(ValueError):
    """The file is not a hinge model, or not whole, or from a newer version."""


def to_bytes(header: dict[str, Any], tensors: Tensors) -> bytes:
    whole = {"format": FORMAT, "version": VERSION, "checksum": _NO_DIGEST.decode(), "header": header}
    metadata = {"hinge": json.dumps(whole, separators=(",", ":"))}  # one entry: their order is not fixed
    blank = _serialized(tensors, metadata)
    start = _find_digest(blank)
    return blank[:start] + hashlib.sha256(blank).hexdigest().encode() + blank[start + 64 :]


# What safetensors calls the types of numbers, in the order in which it stores them: by its rank, then by name.
_TYPES = {
    "uint64": "U64", "int64": "I64", "float64": "F64", "float32": "F32", "uint32": "U32", "int32": "I32",
    "float16": "F16", "uint16": "U16", "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL",
}  # fmt: skip
_FORMATS = {"d": "float64", "f": "float32", "q": "int64", "l": "int64", "B": "uint8"}  # of memoryviews


def _serialized(tensors: Tensors, metadata: dict[str, str]) -> bytes:
    """The bytes of safetensors.numpy.save, without numpy: the length of a header, the header, the numbers."""
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
    return b"".join([len(text).to_bytes(8, "little"), text, *(parts[name] for name in names)])


def _described(tensor: Any) -> tuple[str, list[int], bytes]:
    """The type, the shape and the bytes of an array."""
    if isinstance(tensor, memoryview) and sys.byteorder == "little":
        return _FORMATS[tensor.format], list(tensor.shape or ()), tensor.tobytes()
    array = np.asarray(tensor)
    little = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return array.dtype.name, list(array.shape), little.tobytes()


def from_bytes(data: bytes, source: str = "the data") -> tuple[dict[str, Any], Tensors]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        start = _find_digest(data)
    except ModelFileError:
        raise ModelFileError(f"{source} is not a hinge model, or its beginning is damaged") from None
    digest = data[start : start + 64]
    blank = data[:start] + _NO_DIGEST + data[start + 64 :]
    if hashlib.sha256(blank).hexdigest().encode() != digest:
        raise ModelFileError(f"{source} is damaged: its checksum does not match (truncated or altered)")
    try:
        whole = json.loads(_header_json(data)["__metadata__"]["hinge"])
        if whole["format"] != FORMAT:
            raise ModelFileError(f"{source} is not a hinge model")
        if whole["version"] > VERSION:
            raise ModelFileError(
                f"{source} has format version {whole['version']}, this hinge reads up to {VERSION}: "
                "upgrade hinge"
            )
        return whole["header"], load(data)
    except ModelFileError:
        raise
    except (*ABSURD, SafetensorError) as error:
        raise ModelFileError(f"{source} is not a hinge model: {error}") from error


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file so that its place holds the old bytes or the new ones, never a part."""
    with whole_file(path) as file:
        file.write(data)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A file to write to, which takes its place when all is written; if something fails, nothing has happened."""
    place = os.path.realpath(path)  # what a link leads to is replaced, not the link
    if os.path.exists(place) and not os.path.isfile(place):  # a device, a pipe: there is nothing to replace
        with open(place, "wb") as device:
            yield device
        return
    folder = os.path.dirname(place) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"there is no folder {folder} to write {os.path.basename(place)} into")
    temporary, file = _beside(folder, os.path.basename(place))
    try:
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, _usual_mode(place))
        os.replace(temporary, place)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _beside(folder: str, name: str) -> tuple[str, BinaryIO]:
    """A new file in the same directory, for nobody else's eyes. (tempfile does this too, and takes long to import.)"""
    while True:
        temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}.tmp")
        try:
            handle = os.open(
                temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600
            )
            return temporary, os.fdopen(handle, "wb")
        except FileExistsError:
            continue


def _usual_mode(place: str) -> int:
    """The mode of the file that is replaced, or what a new file would get (mkstemp's is 0600)."""
    with contextlib.suppress(OSError):
        return os.stat(place).st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _header_json(data: bytes) -> Any:
    return json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])


def _find_digest(data: bytes) -> int:
    """Where the checksum's 64 digits stand. Quotes in deeper strings are escaped once more: it is found once."""
    length = int.from_bytes(data[:8], "little")
    found = list(_DIGEST.finditer(data, 8, 8 + min(length, len(data))))
    if len(found) != 1:
        raise ModelFileError("no checksum")
    return found[0].start(1)


def notes_of(header: dict[str, Any]) -> dict[str, Any]:
    notes = header.get("notes", {})
    if not isinstance(notes, dict):
        raise ModelFileError(f"its notes are no JSON object: {notes!r}")
    return notes


# ---- values that JSON cannot hold as they are ---------------------------------------------------------


def encode_value(value: Any) -> Any:
    """A parameter or attribute as JSON. Arrays are kept elsewhere (as tensors)."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {"dict": [[encode_value(k), encode_value(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {"list": [encode_value(v) for v in value]}
    if isinstance(value, np.ndarray):
        return {"array": [encode_value(v) for v in value.tolist()], "dtype": value.dtype.str}
    if isinstance(value, np.random.RandomState):
        kind, keys, position, has_gauss, gauss = value.get_state(legacy=True)
        return {"RandomState": [kind, np.asarray(keys).tolist(), position, has_gauss, gauss]}
    if isinstance(value, (type, np.dtype)):
        return np.dtype(value).name
    raise TypeError(f"a model file cannot hold {value!r}")


def decode_value(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {decode_value(k): decode_value(v) for k, v in value["dict"]}
    if "function" in value:
        return value
    if "list" in value:
        return [decode_value(v) for v in value["list"]]
    if "RandomState" in value:
        state = np.random.RandomState()
        kind, keys, position, has_gauss, gauss = value["RandomState"]
        state.set_state((kind, np.asarray(keys, dtype=np.uint32), position, has_gauss, gauss))
        return state
    return np.asarray(value["array"], dtype=np.dtype(value["dtype"]))
