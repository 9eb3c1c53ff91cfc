"""What a file is that is not a model of hinge, by its first bytes, and what to do with it."""

from __future__ import annotations

import json

_PICKLE = (
    "a pickle, and loading one runs the code in it. If you trust it, read it with pickle.load (or joblib.load); "
    "model.save(path) then writes a file that hinge.load reads"
)
_COMPRESSED = (
    "a file compressed by {}. If joblib.dump(..., compress=...) wrote it, read it with joblib.load, which runs the "
    "code in it; model.save(path) then writes a file that hinge.load reads. If it is a model, decompress it first"
)
_KINDS: dict[bytes, str] = {
    **{bytes([0x80, protocol]): _PICKLE for protocol in range(2, 6)},
    b"\x1f\x8b": _COMPRESSED.format("gzip"),
    b"BZh": _COMPRESSED.format("bzip2"),
    b"\xfd7zXZ\x00": _COMPRESSED.format("xz"),
    b"]\x00\x00": _COMPRESSED.format("lzma"),
    b"\x04\x22\x4d\x18": _COMPRESSED.format("lz4"),
    b"\x28\xb5\x2f\xfd": _COMPRESSED.format("zstd"),
    **{bytes([0x78, level]): _COMPRESSED.format("zlib") for level in (0x01, 0x5E, 0x9C, 0xDA)},
    b"PK\x03\x04": "a zip archive (as numpy.savez, torch.save and office programs write): hinge.load reads what "
    "model.save wrote",
    b"\x93NUMPY": "an array of NumPy: read it with numpy.load, and give it to `fit` or `learn_many`",
    b"PAR1": "a Parquet table: read it with pandas.read_parquet, or learn from it with `hinge learn`",
    b"ARROW1": "an Arrow table: read it with pyarrow, or learn from it with `hinge learn`",
    b"hinge-fleet\n": "a fleet: hinge.load and Fleet.load read it",
    b"version https://git-lfs": "a pointer of Git LFS, not the file itself: fetch it with `git lfs pull`",
    b'{"__metadata__"': "the header of a safetensors file without what comes before it: copy the file again",
}
_TEXT = "a text, which begins with {}: `hinge learn` learns from texts, and `hinge.load` reads what model.save wrote"


def described(beginning: bytes) -> str | None:
    """What a file with this beginning is, as the end of a sentence; None if it is not known."""
    if not beginning:
        return "an empty file: it was not written to its end, or is not the model"
    for start, what in _KINDS.items():
        if beginning.startswith(start):
            return what
    if len(beginning) > 64 and beginning[8:10] == b'{"' and int.from_bytes(beginning[:8], "little") < 2**32:
        return "a safetensors file of something else, or its beginning is damaged"
    return _text(beginning)


def _text(beginning: bytes) -> str | None:
    """A text, or a pickle of protocol 0, which looks like one."""
    try:
        text = beginning.decode()
    except UnicodeDecodeError as error:
        if error.end < len(beginning):  # not merely cut in the middle of a letter
            return None
        text = beginning[: error.start].decode()
    if not all(letter.isprintable() or letter in "\t\r\n\ufeff" for letter in text):
        return None
    if text.startswith(("ccopy_reg\n", "ccopyreg\n", "(dp0\n", "(lp0\n", "c__main__\n", "chinge.")):
        return _PICKLE
    first = text.splitlines()[0] if text.splitlines() else ""
    return _TEXT.format(json.dumps(first[:40], ensure_ascii=False))
