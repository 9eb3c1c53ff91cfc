"""The options that describe the data, and the stream that they open."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from typing import Any

from ..features.features import Features
from ..streams.batches import BadLines, Source
from ..streams.files import PACKED, Input, printable
from ..streams.formats.columns import column_names
from ..streams.sources import FORMATS, by_ending, detect, expand, make_source, options_of, source_class
from ..streams.stream import Stream
from .app import whole, whole_or_zero
from .options import flag

# The options of the formats, by the names of their parameters: the placeholder of the value ("": a switch), the formats
# that have the option, and its help.
OPTIONS: dict[str, tuple[str, str, str]] = {
    "label": ("NAME", "CSV, JSON, Arrow", "The column or field to be learned."),
    "weight": ("NAME", "CSV, JSON, Arrow", "The column or field with the weight of an example."),
    "key": (
        "FIELD", "CSV, JSON, Arrow",
        "The column or field with the key of an example (a user, a shop, a sensor). It makes the model a fleet: a "
        "small model for each key on top of one that all keys share. It is no feature.",
    ),
    "text": (
        "FIELD", "CSV, JSON, Arrow",
        "A field with text or a list of words, learned as a bag of words. May be given several times. The other fields "
        "are still features (--keep and --drop select them).",
    ),
    "ngrams": (
        "N", "CSV, JSON, Arrow",
        "With --text: the features are sequences of up to N words. 2-3: sequences of two or three words. [default: 1]",
    ),
    "char_ngrams": (
        "N", "CSV, JSON, Arrow",
        "With --text: sequences of up to N characters within words are features, too. 3-5: three to five characters.",
    ),
    "keep": (
        "A,B,...", "all but CoNLL",
        "Only these fields (CSV, JSON, Arrow: 'user.*' is a pattern), namespaces or features (VW), indices or ranges "
        "(svmlight: 1-100,205) are features.",
    ),
    "drop": (
        "A,B,...", "all but CoNLL", "These fields, namespaces or indices are not features (see --keep).",
    ),
    "interactions": (
        "A*B,...", "CSV, JSON, Arrow, VW",
        "The products of the features of two fields (VW: namespaces, by name or first letter) are features, too. A*A: "
        "products within one field; all: products of all features.",
    ),
    "categorical": (
        "A,B,...", "CSV, JSON, Arrow",
        "Columns whose numbers are categories: each value becomes an indicator.",
    ),
    "missing": (
        "NAME", "CSV, JSON, Arrow",
        "What to do with a missing value (empty, NA, ?, nan, null; in JSON null): indicator makes it a separate "
        "feature, omit leaves it out, error rejects it. [default: indicator; JSON: omit]",
    ),
    "separator": (
        "CHARACTER", "CSV, CoNLL",
        "The character between columns; 'tab' is a tab. [default: detected from the first line]",
    ),
    "header": (
        "", "CSV",
        "The first line has the names of the columns. Without a header they are called 0, 1, ... [default: yes]",
    ),
    "columns": ("A,B,...", "CoNLL", "The names of the columns, as in 'word,pos,tag'."),
    "tag": ("NAME", "CoNLL", "The column to be learned. [default: the last one]"),
    "templates": (
        "FILE", "CoNLL",
        "The features of a token: a file with one template per line, or one of the sets tagging, chunking and names.",
    ),
    "comments": ("", "CoNLL", "Skip lines that begin with #. [default: no]"),
    "docstart": ("", "CoNLL", "Skip lines that begin with -DOCSTART-. [default: no]"),
    "zero_based": ("", "svmlight", "Indices start at 0, not at 1. [default: no]"),
}  # fmt: skip


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
        "separator": {"type": _separator}, "missing": {"choices": ["indicator", "omit", "error"]},
        **{name: {"type": _names} for name in ("keep", "drop", "interactions", "categorical")},
    }  # fmt: skip
    for name, (metavar, formats, text) in OPTIONS.items():
        switch: dict[str, Any] = {"action": argparse.BooleanOptionalAction, "default": None}
        kind = {"metavar": metavar, **kinds.get(name, {})} if metavar else switch
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
        "--max-line", metavar="BYTES", type=whole,
        help="The longest line that is accepted. [default: 2^24; CoNLL 2^16]",
    )  # fmt: skip


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _range(text: str) -> int | list[int]:
    """A number or a range, N-M."""
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
    follow = getattr(arguments, "follow", False)  # the log may be created later
    return [Input(path) for path in (arguments.data if follow else expand(arguments.data))]


def open_stream(
    arguments: argparse.Namespace,
    kept: dict[str, Any] | None,
    limits: dict[str, Any],
    bad: BadLines,
    files: list[Input] | None = None,
) -> tuple[Stream, str]:
    """The stream of the files, and its format. `kept`: the settings of the data that are saved with a model. `limits`:
    options of the model that the formats need (max_features, hash_bits, names, grow)."""
    files = files or inputs(arguments)
    name = arguments.format or by_ending(files[0].path) or (kept or {}).get("format") or detect(files[0])
    cls = source_class(name)
    known = options_of(cls)
    options = {option: value for option, value in (kept or {}).get("options", {}).items() if option in known}
    for option, value in given_options(arguments).items():
        if option not in known:
            formats = OPTIONS[option][1]
            raise ValueError(f"{flag(option)} is for {formats}: it cannot be used with the format {name}")
        options[option] = value
    if arguments.max_line is not None:
        options["max_line"] = arguments.max_line
    options |= {option: value for option, value in {**limits, "lazy": True}.items() if option in known}
    return Stream(files, make_source(name, **options), bad), name


def given_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """The options of the format that were given."""
    found = {option: getattr(arguments, option) for option in OPTIONS}
    if arguments.columns is not None:
        found["columns"] = column_names(arguments.columns)  # as a model saves them
    if arguments.templates is not None and os.path.exists(arguments.templates):  # otherwise the name of a set
        with open(arguments.templates, encoding="utf-8") as file:
            found["templates"] = [line.rstrip("\n") for line in file if line.strip()]
    return {option: value for option, value in found.items() if value is not None}


def features_of(source: Any) -> Features | None:
    """The features of a source of records: they are saved with the model."""
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
    counts = Counter(getattr(source, "missing_counts", {}))
    if not any(counts.values()):
        return found
    treatment = {"indicator": "each is a separate feature", "omit": "they were left out"}
    shown = ", ".join(f"{count:,} of {column}" for column, count in counts.most_common(8) if count)
    columns = sum(count > 0 for count in counts.values())
    more = f" and {columns - 8} more columns" if columns > 8 else ""
    how = treatment.get(source.settings["missing"], "")
    return [*found, f"Missing values: {shown}{more}; {how} (--missing)."]


def unfinished(files: list[Input], name: str) -> list[str]:
    """Remarks about files whose last line has no newline: they may be incomplete."""
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
    more = f", ... ({len(files)} files)" if len(files) > 3 else ""
    return printable(f"{', '.join(file.name for file in files[:3])}{more}: {name}")
