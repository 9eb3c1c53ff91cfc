"""The data of the commands: the options that describe it, and the stream that they open."""

from __future__ import annotations

import argparse
import os
from typing import Any

from ..features.pipeline import Features
from ..streams.batches import BadLines, Source
from ..streams.files import PACKED, Input, printable
from ..streams.formats.columns import column_names
from ..streams.sources import FORMATS, by_ending, detect, expand, make_source, options_of, source_class
from ..streams.stream import Stream
from .options import flag

# The options of the sources, by the names of their parameters: what they take, for which formats, what they do.
OPTIONS: dict[str, tuple[str, str, str]] = {
    "label": ("NAME", "CSV, JSON, Arrow", "The column or field to be learned."),
    "weight": ("NAME", "CSV, JSON, Arrow", "The column or field with the weight of an example."),
    "text": (
        "FIELD",
        "CSV, JSON, Arrow",
        "A field with text or a list of words, learned as a bag of words. May be given several times. The other fields "
        "are still features (--keep and --drop select them).",
    ),
    "ngrams": (
        "N",
        "CSV, JSON, Arrow",
        "With --text: the features are sequences of up to N words. 2-3: sequences of two or three words. [default: 1]",
    ),
    "char_ngrams": (
        "N",
        "CSV, JSON, Arrow",
        "With --text: sequences of up to N characters within words are features, too. 3-5: three to five characters.",
    ),
    "keep": (
        "A,B,...",
        "all but CoNLL",
        "Only these fields (CSV, JSON, Arrow: 'user.*' is a pattern), namespaces or features (VW), indices or ranges "
        "(svmlight: 1-100,205) are features.",
    ),
    "drop": (
        "A,B,...",
        "all but CoNLL",
        "These fields, namespaces or indices are not features (see --keep).",
    ),
    "interactions": (
        "A*B,...",
        "CSV, JSON, Arrow, VW",
        "The products of the features of two fields (VW: namespaces, by name or first letter) are features, too. A*A: "
        "products within one field; all: products of all features.",
    ),
    "categorical": (
        "A,B,...",
        "CSV, JSON, Arrow",
        "Columns whose numbers are categories: each value becomes an indicator.",
    ),
    "missing": (
        "NAME",
        "CSV, JSON, Arrow",
        "What to do with a missing value (empty, NA, ?, nan, null; in JSON null): indicator makes it a feature "
        "of its own, omit leaves it out, error rejects it. [default: indicator; JSON: omit]",
    ),
    "separator": (
        "CHARACTER",
        "CSV, CoNLL",
        "The character between columns; 'tab' is a tab. [default: detected from the first line]",
    ),
    "header": (
        "",
        "CSV",
        "The first line has the names of the columns. Without a header they are called 0, 1, ... [default: yes]",
    ),
    "columns": ("A,B,...", "CoNLL", "The names of the columns, as in 'word,pos,tag'."),
    "tag": ("NAME", "CoNLL", "The column to be learned. [default: the last one]"),
    "templates": (
        "FILE",
        "CoNLL",
        "The features of a token, one template per line; or one of the sets tagging, chunking and names.",
    ),
    "comments": ("", "CoNLL", "Skip lines that begin with #. [default: no]"),
    "docstart": ("", "CoNLL", "Skip lines that begin with -DOCSTART-. [default: no]"),
    "zero_based": ("", "svmlight", "Indices start at 0, not at 1. [default: no]"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", nargs="+", metavar="DATA",
        help="Files, patterns like 'day-*.vw', or - for the standard input. Compressed files (.gz, .bz2, .xz, .zst) "
        "are decompressed.",
    )  # fmt: skip
    group = parser.add_argument_group("what the data looks like")
    group.add_argument(
        "--format", choices=[*FORMATS], metavar="NAME",
        help=f"{', '.join(FORMATS)}. [default: by the name of the file, or by its content]",
    )  # fmt: skip
    kinds: dict[str, dict[str, Any]] = {
        "text": {"action": "append"}, "ngrams": {"type": _range}, "char_ngrams": {"type": _range},
        "keep": {"type": _names}, "drop": {"type": _names}, "interactions": {"type": _names},
        "categorical": {"type": _names}, "separator": {"type": _separator},
        "missing": {"choices": ["indicator", "omit", "error"]},
    }  # fmt: skip
    for name, (metavar, formats, text) in OPTIONS.items():
        kind = kinds.get(name, {})
        if metavar:
            kind = {"metavar": metavar, **kind}
        else:
            kind = {"action": argparse.BooleanOptionalAction, "default": None}
        group.add_argument(flag(name), help=f"{formats}: {text}", **kind)
    group = parser.add_argument_group("what cannot be read")
    group.add_argument(
        "--on-error", choices=["stop", "skip"], default="stop",
        help="A line that cannot be read ends the run (stop, exit code 2), or is skipped and counted (skip). "
        "[default: stop]",
    )  # fmt: skip
    group.add_argument(
        "--max-skipped", metavar="N", type=whole_or_zero, default=1000,
        help="The maximum number of lines that --on-error skip skips. [default: 1000]",
    )  # fmt: skip
    group.add_argument(
        "--max-line",
        metavar="BYTES",
        type=whole,
        default=None,
        help="The longest line that is accepted. [default: 2^24; CoNLL 2^16]",
    )


def whole(text: str, least: int = 1) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least:
        raise argparse.ArgumentTypeError(f"must be a whole number of {least} or more, not {text!r}")
    return number


def whole_or_zero(text: str) -> int:
    return whole(text, 0)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _range(text: str) -> int | list[int]:
    """N, or N-M."""
    try:
        low, dash, high = text.partition("-")
        return [int(low), int(high)] if dash else int(low)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number or a range (2-3), not {text!r}") from None


def _separator(text: str) -> str:
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
    return named.get(text, text)


def bad_lines(arguments: argparse.Namespace) -> BadLines:
    return BadLines(arguments.on_error == "skip", arguments.max_skipped)


def inputs(arguments: argparse.Namespace) -> list[Input]:
    """The files that are to be read."""
    follow = getattr(arguments, "follow", False)  # then it may be that the file will come
    return [Input(path) for path in (arguments.data if follow else expand(arguments.data))]


def open_stream(
    arguments: argparse.Namespace,
    kept: dict[str, Any] | None,
    limits: dict[str, Any],
    bad: BadLines,
    files: list[Input] | None = None,
) -> tuple[Stream, str]:
    """The stream of the files, and its format. `kept`: the settings of the data that a model has saved. `limits`:
    options of the model that the formats need (max_features, hash_bits, names, grow)."""
    files = files or inputs(arguments)
    name = arguments.format or by_ending(files[0].path) or (kept or {}).get("format") or detect(files[0])
    cls = source_class(name)
    known = options_of(cls)
    options = {option: value for option, value in (kept or {}).get("options", {}).items() if option in known}
    for option, value in given_options(arguments).items():
        if option not in known:
            raise ValueError(
                f"{flag(option)} is for {OPTIONS[option][1]}: it cannot be used with the format {name}"
            )
        options[option] = value
    if arguments.max_line is not None:
        options["max_line"] = arguments.max_line
    options |= {option: value for option, value in limits.items() if option in known}
    return Stream(files, make_source(name, **options), bad), name


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the source that were given."""
    found = {option: getattr(arguments, option) for option in OPTIONS}
    found["columns"] = (
        None if arguments.columns is None else column_names(arguments.columns)
    )  # as a model keeps it
    found["templates"] = None if arguments.templates is None else _templates(arguments.templates)
    return {option: value for option, value in found.items() if value is not None}


def _templates(path: str) -> list[str] | str:
    if not os.path.exists(path):
        return path  # the name of a set, or an error that says which there are
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip()]


def features_of(source: Any) -> Features | None:
    """How a source makes features from records, if it has records: saved with the model."""
    features = getattr(source, "features", None)
    return features if isinstance(features, Features) else None


def kept_settings(source: Source, name: str) -> dict[str, Any]:
    """The settings of the data that are saved with a model."""
    return {"format": name, "options": source.settings}


def remarks(source: Any) -> list[str]:
    """Remarks about the data: features that were left out, and missing values."""
    found = []
    if ignored := getattr(source, "n_ignored", 0):
        found.append(f"{ignored:,} features beyond --max-features were ignored (--at-max-features).")
    found += [
        f"{name!r} identifies the example and is not a feature (--categorical {name} makes it one)."
        for name in getattr(source, "ids", [])
    ]
    counts = {column: count for column, count in getattr(source, "missing_counts", {}).items() if count}
    if not counts:
        return found
    how = {"indicator": "each is a feature of its own", "omit": "they were left out"}.get(
        source.settings["missing"], ""
    )
    shown = ", ".join(
        f"{count:,} of {column}" for column, count in sorted(counts.items(), key=lambda its: -its[1])[:8]
    )
    more = f" and {len(counts) - 8} more columns" if len(counts) > 8 else ""
    return [*found, f"Missing values: {shown}{more}; {how} (--missing)."]


def unfinished(files: list[Input], name: str) -> list[str]:
    """Remarks about files whose last line has no newline: it may still be being written."""
    found = []
    for file in files:
        if name in ("parquet", "arrow") or not os.path.isfile(file.path) or file.path.endswith(PACKED):
            continue
        with open(file.path, "rb") as opened:
            opened.seek(0, os.SEEK_END)
            opened.seek(max(0, opened.tell() - 1))
            if opened.read() not in (b"", b"\n"):
                found.append(
                    f"The last line of {file.name} has no newline at its end: it was read nevertheless."
                )
    return found


def described(files: list[Input], name: str) -> str:
    shown = ", ".join(file.name for file in files[:3]) + (
        f", ... ({len(files)} files)" if len(files) > 3 else ""
    )
    return printable(f"{shown}: {name}")
