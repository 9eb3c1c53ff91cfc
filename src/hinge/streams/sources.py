"""Detects the format of a file, makes its reader, and expands patterns of file names."""

from __future__ import annotations

import importlib
import os
import re
from collections.abc import Iterable
from typing import Any

from ..data.errors import InputError
from .batches import Source
from .files import Input, ending_of
from .formats.lines import shortened

# The class that reads each format, and its module, which is imported when it is used (pyarrow is large).
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
PEEKED = 2**16  # bytes by which a format is detected


def source_class(format: str) -> Any:
    """The class that reads a format."""
    if format not in FORMATS:
        raise ValueError(f"there is no format {format!r}: there are {', '.join(FORMATS)}")
    module, name = FORMATS[format]
    return getattr(importlib.import_module(f".formats.{module}", __package__), name)


def options_of(cls: Any) -> set[str]:
    """The options of a format; those of `hinge.Features` are among them if it has records."""
    known = {name for base in cls.__mro__ for name in getattr(base.__init__, "__kwdefaults__", None) or ()}
    if "label" not in known:  # the examples are not records
        return known
    from ..features.features import Features

    return known | set(Features().options)


def make_source(format: str, **options: Any) -> Source:
    """The reader of a format. Raises TypeError for an option that the format does not have."""
    if format == "tsv":
        options.setdefault("separator", "\t")
    source: Source = source_class(format)(**options)
    return source


# ---- formats ----------------------------------------------------------------------------------------------------


def by_ending(path: str) -> str | None:
    """The format that the ending of the name implies, if any."""
    ending = ending_of(path)
    return next((format for format, endings in ENDINGS.items() if ending in endings), None)


def detect(file: Input) -> str:
    """The format of a file: by its name, or else by its first bytes, which are read again later."""
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
    if compression := next((ending for mark, ending in _COMPRESSION if first.startswith(mark)), ""):
        reason = f"it is compressed, but its name does not end with {compression}"
        raise InputError(reason, file=file.name, line=1)
    text = first.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if "\0" in text:
        reason = f"it is not text: it begins with {shortened(first[:8])}; {usage}"
        raise InputError(reason, file=file.name, line=1)
    lines = re.split(r"\r?\n", text)
    if len(first) == PEEKED:  # the last line may be incomplete: drop it, or at least its last word
        *before, last = lines
        lines = before if any(map(str.strip, before)) else [last.rpartition(" ")[0] or last]
    found = _of_text(lines)
    if found is None:
        line = next(filter(str.strip, lines))
        reason = f"the format is unknown: a line begins with {shortened(line)}; {usage}"
        raise InputError(reason, file=file.name, line=lines.index(line) + 1)
    return found


_COMPRESSION = ((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\xfd7zXZ\0", ".xz"), (b"\x28\xb5\x2f\xfd", ".zst"))
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
# label index:value index:value ..., several labels with commas; or no label at all.
_SVMLIGHT = rf"\s*(?:{_NUMBER}(?:,{_NUMBER})*)?(?:\s+(?:qid:\d+\s+)?\d+:{_NUMBER})+\s*(?:#.*)?$"
# label, weight, base, 'tag| or nothing, then a bar that opens a namespace.
_VOWPAL = rf"\s*(?:(?:{_NUMBER}|\d+:{_NUMBER})(?:\s+{_NUMBER}){{0,2}}\s*)?(?:'?\S+)?\|(?=[\s\w]|$)"


def _of_text(lines: list[str]) -> str | None:
    """The format of a text, by its first lines that are not blank."""
    some = [line for line in lines if line.strip() and not line.startswith("#")]
    if not some:
        return None
    first = some[0]
    if first.lstrip().startswith("{"):
        return "json"
    if re.match(_SVMLIGHT, first):
        return "svmlight"
    # A table with bars between its columns has the same number of bars on every line.
    varying = " " in first or len({line.count("|") for line in some}) > 1 or len(some) == 1
    if varying and re.match(_VOWPAL, first):
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
    """Replaces patterns (*, ?, [...], ** for nested folders) by the files that match, in alphabetical order. A folder,
    a missing file and a pattern without a match are errors; their messages list what exists."""
    found: list[str] = []
    for path in paths:
        if path == "-" or (os.path.exists(path) and not os.path.isdir(path)):
            found.append(path)
        elif os.path.isdir(path):
            raise IsADirectoryError(f"{path} is a folder: {os.path.join(path, '*')} matches all files in it")
        else:
            found += _matching(path)
    return found


def _matching(pattern: str) -> list[str]:
    import glob
    from difflib import get_close_matches

    files = sorted(name for name in glob.glob(pattern, recursive=True) if not os.path.isdir(name))
    if files:
        return files
    folder, name = os.path.split(pattern)
    try:
        present = sorted(entry.name for entry in os.scandir(folder or ".") if not entry.is_dir())
    except OSError:
        raise FileNotFoundError(f"there is no {pattern}: there is no folder {folder}") from None
    if glob.has_magic(pattern):
        shown = ", ".join(present[:5]) + (", ..." if len(present) > 5 else "") or "none"
        raise FileNotFoundError(f"no file matches {pattern}: there are {shown}")
    near = [os.path.join(folder, one) for one in get_close_matches(name, present, 3)]
    hint = f": did you mean {' or '.join(near)}?" if near else ""
    raise FileNotFoundError(f"there is no file {pattern}{hint}")
