"""Which format a file has, and what reads it; which files are meant."""

from __future__ import annotations

import glob
import importlib
import os
import re
from collections.abc import Iterable
from typing import Any

from ..data.errors import InputError
from .batches import Source
from .files import Input, ending_of
from .formats.lines import shortened

# What reads each format: the module, and the class in it. It is imported when it is used (pyarrow is large).
FORMATS = {
    "svmlight": ("text", "Svmlight"),
    "vw": ("text", "VowpalText"),
    "csv": ("csv_files", "CsvFile"),
    "tsv": ("csv_files", "CsvFile"),
    "json": ("json_lines", "JsonLines"),
    "conll": ("conll", "ConllColumns"),
    "parquet": ("arrow_files", "ArrowFile"),
    "arrow": ("arrow_files", "ArrowFile"),
}
ENDINGS = {
    "svmlight": (".svm", ".svmlight", ".libsvm"),
    "vw": (".vw",),
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "json": (".json", ".jsonl", ".ndjson"),
    "conll": (".conll", ".conllu", ".iob", ".bio", ".col"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".arrows", ".feather", ".ipc"),
}
PEEKED = 2**16  # bytes to be looked at


def source_class(format: str) -> Any:
    """The class that reads a format: to be called with its options."""
    if format not in FORMATS:
        raise ValueError(f"there is no format {format!r}: there are {', '.join(FORMATS)}")
    module, name = FORMATS[format]
    return getattr(importlib.import_module(f".formats.{module}", __package__), name)


def options_of(cls: Any) -> set[str]:
    """The options of a source; those of `hinge.Features` are among them if it has records."""
    import inspect

    known = inspect.signature(cls).parameters
    if not any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in known.values()):
        return set(known)
    from ..features.pipeline import Features

    return {*known, *Features().options} - {"features"}


def make_source(format: str, **options: Any) -> Source:
    """What reads a format, with its options; a TypeError names one that it does not have."""
    if format == "tsv":
        options.setdefault("separator", "\t")
    source: Source = source_class(format)(**options)
    return source


# ---- formats ----------------------------------------------------------------------------------------------------


def by_ending(path: str) -> str | None:
    """The format that the ending says, packed or not."""
    ending = ending_of(path)
    return next((format for format, endings in ENDINGS.items() if ending in endings), None)


def detect(file: Input) -> str:
    """The format of a file: by its ending, or else by how it begins, which is not lost by looking at it."""
    named = by_ending(file.path)
    if named is not None:
        return named
    first = file.peek(PEEKED)
    for mark, format in ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow")):
        if first.startswith(mark):
            return format
    usage = f"use --format, one of {', '.join(FORMATS)}"
    if not first.strip():
        raise InputError(f"the file is empty, so its format is unknown; {usage}", file=file.name, line=1)
    packing = next((ending for mark, ending in _PACKING if first.startswith(mark)), None)
    if packing:
        raise InputError(
            f"it is compressed, but its name does not end with {packing}", file=file.name, line=1
        )
    text = first.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if "\0" in text:
        raise InputError(
            f"it is not text: it begins with {shortened(first[:8])}; {usage}", file=file.name, line=1
        )
    lines = re.split(r"\r?\n", text)
    if len(first) == PEEKED:  # the last line may be cut: it is left out, or at least its last word
        *before, last = lines
        lines = before if any(map(str.strip, before)) else [last.rpartition(" ")[0] or last]
    found = _of_text(lines)
    if found is None:
        line = next(filter(str.strip, lines))
        reason = f"the format is unknown: a line begins with {shortened(line)}; {usage}"
        raise InputError(reason, file=file.name, line=lines.index(line) + 1)
    return found


_PACKING = ((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\xfd7zXZ\0", ".xz"), (b"\x28\xb5\x2f\xfd", ".zst"))
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# label index:value index:value ..., several labels with commas; or no label at all.
_SVMLIGHT = re.compile(rf"\s*(?:{_NUMBER}(?:,{_NUMBER})*)?(?:\s+(?:qid:\d+\s+)?\d+:{_NUMBER})+\s*(?:#.*)?$")
# label, weight, base, 'tag| or nothing, then a bar that opens a namespace.
_VOWPAL = re.compile(
    rf"\s*(?:(?:{_NUMBER}|\d+:{_NUMBER})(?:\s+{_NUMBER}){{0,2}}\s*)?(?:'?\S+)?\|(?=[\s\w]|$)"
)


def _of_text(lines: list[str]) -> str | None:
    """By the first lines that have something in them."""
    some = [line for line in lines if line.strip() and not line.startswith("#")]
    if not some:
        return None
    first = some[0]
    if first.lstrip().startswith("{"):
        return "json"
    if _SVMLIGHT.match(first):
        return "svmlight"
    # A table that has bars between its columns has as many on every line.
    if _VOWPAL.match(first) and (
        " " in first or len({line.count("|") for line in some}) > 1 or len(some) == 1
    ):
        return "vw"
    separated = [sep for sep in "\t,;|" if sep in first]
    widths = {len(re.split(r"[ \t]+", line.strip())) for line in some}
    blocks = re.split(r"\n[ \t]*\n", "\n".join(lines).strip())
    if len(blocks) > 1 and len(widths) == 1 and widths != {1}:
        return "conll"
    if "\t" in separated and first.count("\t") >= first.count(","):
        return "tsv"
    return "csv" if separated else None


# ---- files ------------------------------------------------------------------------------------------------------


def expand(paths: Iterable[str]) -> list[str]:
    """The files that are meant: patterns (*, ?, [...], ** for folders within folders) in the order of names, "-" as
    it is. A name or pattern of nothing, and a folder, is an error that says what there is."""
    found: list[str] = []
    for path in paths:
        if path == "-" or (os.path.exists(path) and not os.path.isdir(path)):
            found.append(path)
        elif os.path.isdir(path):
            raise IsADirectoryError(f"{path} is a folder: {os.path.join(path, '*')} matches all files in it")
        else:
            files = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
            if not files:
                raise FileNotFoundError(_nothing(path))
            found += files
    return found


def _nothing(path: str) -> str:
    folder, name = os.path.split(path)
    try:
        there = sorted(entry.name for entry in os.scandir(folder or ".") if not entry.is_dir())
    except OSError:
        return f"there is no {path}: there is no folder {folder}"
    if glob.has_magic(path):
        what = ", ".join(there[:5]) + (", ..." if len(there) > 5 else "") or "none"
        return f"no file matches {path}: there are {what}"
    from difflib import get_close_matches

    near = [os.path.join(folder, one) for one in get_close_matches(name, there, 3)]
    return f"there is no file {path}" + (f": did you mean {' or '.join(near)}?" if near else "")
