"""What the commands read from: the options that say how, and the stream that they make."""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from ..streams.batches import BadLines, Source
from ..streams.files import Input
from ..streams.sources import FORMATS, detect, expand, make_source, source_class
from ..streams.stream import Stream

# Options of the sources, by the names of their parameters.
OPTIONS = (
    "label", "weight", "text", "ngrams", "drop", "categorical", "missing", "separator", "header", "columns", "tag",
    "templates", "zero_based",
)  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data", nargs="+", metavar="DATA",
        help="Files, patterns like 'day-*.vw', or - for the standard input. Packed files (.gz, .bz2, .xz, .zst) are "
        "unpacked.",
    )  # fmt: skip
    group = parser.add_argument_group("what the data looks like")
    group.add_argument(
        "--format", choices=[*FORMATS], metavar="NAME",
        help=f"{', '.join(FORMATS)}. [default: by the ending of the file, or by its content]",
    )  # fmt: skip
    group.add_argument("--label", metavar="NAME", help="CSV, JSON, Arrow: the column or field to be learned.")
    group.add_argument(
        "--weight",
        metavar="NAME",
        help="CSV, JSON, Arrow: the column or field with the weight of an example.",
    )
    group.add_argument(
        "--text", metavar="FIELD", action="append",
        help="JSON: a field with text or a list of words, learned as a bag of words; may be given several times.",
    )  # fmt: skip
    group.add_argument(
        "--ngrams",
        metavar="N",
        type=_whole,
        help="With --text: sequences of up to N words, too. [default: 1]",
    )
    group.add_argument(
        "--drop",
        metavar="A,B,...",
        type=_names,
        help="CSV, JSON, Arrow: columns or fields to be passed over.",
    )
    group.add_argument(
        "--categorical", metavar="A,B,...", type=_names,
        help="CSV, Arrow: columns of names, though they look like numbers. Each value becomes an indicator.",
    )  # fmt: skip
    group.add_argument(
        "--missing", choices=["indicator", "omit", "error"],
        help="CSV, Arrow: a value that is missing (empty, NA, ?, nan, null) is a feature of its own, is left out, "
        "or is an error. [default: indicator]",
    )  # fmt: skip
    group.add_argument(
        "--separator", metavar="CHARACTER", type=_separator, help="CSV, CoNLL: what parts the columns."
    )
    group.add_argument(
        "--header", action=argparse.BooleanOptionalAction, default=None,
        help="CSV: whether the first line has the names of the columns; without, they are 0, 1, ... [default: yes]",
    )  # fmt: skip
    group.add_argument(
        "--columns", metavar="A,B,...", help="CoNLL: the names of the columns, as in 'word pos tag'."
    )
    group.add_argument(
        "--tag", metavar="NAME", help="CoNLL: the column to be learned. [default: the last one]"
    )
    group.add_argument(
        "--templates", metavar="FILE", help="CoNLL: the features of a token, a template a line."
    )
    group.add_argument(
        "--zero-based", action="store_true", default=None, help="svmlight: indices count from 0, not from 1."
    )
    group = parser.add_argument_group("what cannot be read")
    group.add_argument(
        "--on-error", choices=["stop", "skip"], default="stop",
        help="A line that cannot be read ends the run (exit code 2), or is left out and counted. [default: stop]",
    )  # fmt: skip
    group.add_argument(
        "--max-skipped", metavar="N", type=_whole, default=1000,
        help="The most lines that --on-error skip leaves out. [default: 1000]",
    )  # fmt: skip
    group.add_argument(
        "--max-line",
        metavar="BYTES",
        type=_whole,
        default=None,
        help="Longer lines are refused. [default: 2^24]",
    )


def _whole(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of 1 or more, not {text!r}")
    return number


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _separator(text: str) -> str:
    named = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "space": " "}
    return named.get(text, text)


def bad_lines(arguments: argparse.Namespace) -> BadLines:
    return BadLines(arguments.on_error == "skip", arguments.max_skipped)


def open_stream(
    arguments: argparse.Namespace, kept: dict[str, Any] | None, limits: dict[str, Any], bad: BadLines
) -> tuple[Stream, str]:
    """The stream of the files, and its format. `kept`: how a model says that its data is read. `limits`: options that
    are not the data's but the model's (max_features, hash_bits, names, grow), for the formats that know them."""
    files = expand(arguments.data)
    name = arguments.format or (kept or {}).get("format") or detect(files[0])
    cls = source_class(name)
    known = inspect.signature(cls).parameters
    options = dict((kept or {}).get("options", {})) if kept is not None and kept.get("format") == name else {}
    for option in OPTIONS:
        value = getattr(arguments, option)
        if value is None:
            continue
        if option not in known:
            raise ValueError(f"--{option.replace('_', '-')} does not go with the format {name}")
        options[option] = _templates(value) if option == "templates" else value
    if arguments.max_line is not None:
        options["max_line"] = arguments.max_line
    options |= {option: value for option, value in limits.items() if option in known}
    return Stream(files, make_source(name, **options), bad), name


def _templates(path: str) -> list[str]:
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file if line.strip()]


def kept_settings(source: Source, name: str) -> dict[str, Any]:
    """What a model keeps of how its data is read."""
    return {"format": name, "options": source.settings}


def described(files: list[Input], name: str) -> str:
    shown = ", ".join(file.name for file in files[:3]) + (
        f", ... ({len(files)} files)" if len(files) > 3 else ""
    )
    return f"{shown}: {name}"
