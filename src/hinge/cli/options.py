"""The options of the table on the command line: their flags, help texts, and values parsed from words."""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Iterable
from typing import Any

from ..options.parameter import Parameter
from ..options.table import PARAMETERS as OF_ALL
from ..options.table import fleets

# The options that only fleets have, and all options. (The others of fleets are those of learners.)
OF_FLEETS = tuple(row.name for row in fleets.ROWS if row.name not in OF_ALL)
PARAMETERS = {**OF_ALL, **{row.name: row for row in fleets.ROWS if row.name in OF_FLEETS}}
# The options of passes over the data: their defaults (the command line makes one pass) and their help for streams.
PASSES: dict[str, tuple[Any, str]] = {
    "max_iter": (1, "The most passes over the data. The progressive error is that of the first pass."),
    "tol": (
        None,
        "Stop when `n_iter_no_change` passes in a row have not lowered the mean loss by more than tol, or when a pass "
        "changes nothing. None: only when a pass changes nothing.",
    ),
    "n_iter_no_change": (5, "With `tol`: the number of passes without improvement after which to stop."),
    "shuffle": (
        False,
        "Read all of the data into memory first, and shuffle it before each pass.",
    ),
    "batch_tolerance": (
        None,
        "Run the batch conversion of N03, which needs step='pa': passes that learn only examples whose squared loss "
        "exceeds batch_tolerance, until there are none. `max_iter` is not used.",
    ),
    "max_updates": (1_000_000, PARAMETERS["max_updates"].help),
    "random_state": (0, "The seed of --shuffle."),
    "verbose": (0, "1 prints one line per pass."),
}
ONLY_IN_FIT = (
    "early_stopping",
    "validation_fraction",
)  # a stream needs no validation set: the error is progressive
OF_THE_LEARNER = tuple(name for name in OF_ALL if name not in (*PASSES, *ONLY_IN_FIT))

# The allowed values of options that accept fewer values than in Python, or are written differently.
ALLOWED = {
    "C": "a number greater than 0 (inf is allowed), auto, or several numbers: 0.1,1,10",
    "covariance_regularizer": "a finite number greater than 0, auto, or several numbers: 0.1,1,10",
    "experts": "none, auto, or words: pa1:-1,arow:0",
    "kernel": "none, linear, poly or rbf",
    "features": "tfidf or email",
    "cost": "none, or JSON: a square matrix or an object of objects, of numbers of 0 or more with 0 on the diagonal",
    "nu": "none, or JSON: numbers of 0 or more in a matrix or an object of objects (ordinal: in a list), or a list of "
    "several",
    "w1": "none, or JSON: a list of numbers, a list of lists (one per label) or an object of named weights; for "
    "uniclass first or zero",
    "gamma": "scale (not for streams) or a finite number greater than 0",
    "class_weight": "none, label=weight,label=weight,... or JSON, with weights of 0 or more",
    "classes": "none, or two or more different labels: a,b,c or JSON",
    "random_state": "a whole number from 0 to 2^32 - 1",
}

_WORDS = {"none": None, "true": True, "yes": True, "false": False, "no": False, "inf": math.inf}


class BadOption(ValueError):
    """An unknown option, or an invalid value."""


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def add_parameters(group: Any, names: Iterable[str]) -> None:
    """Adds an option for each parameter. Options that are not given stay None."""
    for name in names:
        parameter = PARAMETERS[name]
        kind: dict[str, Any] = {"metavar": _metavar(parameter)}
        if _is_switch(parameter):
            kind = {"action": argparse.BooleanOptionalAction}
        flags = [flag(name), *(["--passes"] if name == "max_iter" else [])]
        action = group.add_argument(*flags, dest=name, default=None, help=name, **kind)
        action.parameter = parameter  # `app.help_of` shows its help


def parameter_help(parameter: Parameter, brief: bool = False) -> str:
    """The help of an option, in the notation of the command line. `brief`: one sentence, and values that are words."""
    default, text = PASSES.get(parameter.name, (parameter.default, parameter.help))
    text, allowed = on_command_line(text), ""
    if not _is_switch(parameter) and (not brief or _has_words(parameter)):
        allowed = f"Allowed: {_allowed(parameter)}. "
    return f"{first_sentence(text) if brief else text} {allowed}[default: {shown(default)}]"


def _allowed(parameter: Parameter) -> str:
    return ALLOWED.get(parameter.name) or on_command_line(parameter.allowed)


def _is_switch(parameter: Parameter) -> bool:
    return parameter.allowed == "True or False"


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[^.\d]\.) ", text, maxsplit=1)[0]


def given(arguments: argparse.Namespace, names: Iterable[str]) -> dict[str, Any]:
    """The parameters that were given, as values."""
    values = {name: getattr(arguments, name, None) for name in names}
    return {
        name: value if isinstance(value, bool) else read_value(name, value)
        for name, value in values.items()
        if value is not None
    }


def read_value(name: str, text: str) -> Any:
    """Parses the value of a parameter: a number, a word, none, JSON, or @FILE with JSON in it."""
    parameter = PARAMETERS.get(name)
    if parameter is None:
        import difflib

        near = [other for other in PARAMETERS if other.lower() == name.lower()]
        near = near or difflib.get_close_matches(name, PARAMETERS, n=1, cutoff=0.5)
        raise BadOption(f"there is no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    value = _value(name, text)
    if not parameter.accepts(value):
        raise BadOption(f"{flag(name)} must be {_allowed(parameter)}, not {text!r}")
    return value


def _value(name: str, text: str) -> Any:
    if text.startswith("@"):
        try:
            with open(text[1:], encoding="utf-8") as file:
                content = file.read()
        except (OSError, UnicodeError) as error:
            raise BadOption(f"{flag(name)}: {text[1:]} cannot be read: {error}") from None
        return _from_json(name, content, f"{text[1:]} is not JSON")
    if text[:1] in "[{":
        return _from_json(name, text, "this is not JSON")
    if name == "experts" and text.lower() not in ("auto", "none"):
        return text.replace(",", " ").split()
    if name in ("C", "covariance_regularizer") and "," in text:
        return [word_value(each.strip()) for each in text.split(",")]
    if name == "classes":
        return [word_value(word.strip()) for word in text.split(",")]
    if name == "class_weight" and "=" in text:
        pairs = [pair.rpartition("=") for pair in text.split(",")]
        return {word_value(label.strip()): word_value(weight.strip()) for label, _, weight in pairs}
    return word_value(text)


def word_value(text: str) -> Any:
    """The number, None, True or False that the word means, or else the word."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _from_json(name: str, text: str, problem: str) -> Any:
    try:
        return _with_label_keys(json.loads(text))
    except (ValueError, RecursionError) as error:
        raise BadOption(f"{flag(name)}: {problem}: {error}") from None


def _with_label_keys(value: Any) -> Any:
    """The keys of JSON are strings, but a label may be a number."""
    if isinstance(value, dict):
        return {word_value(key): _with_label_keys(inner) for key, inner in value.items()}
    return value


def read_spec(spec: str) -> tuple[str, dict[str, str]]:
    """The algorithm and its options as text: 'simproj:C=0.1,average=true' has two."""
    name, _, rest = spec.partition(":")
    options: dict[str, str] = {}
    for item in re.split(r",(?![^\[{]*[\]}])", rest) if rest else []:  # not at commas within brackets
        option, equals, value = item.partition("=")
        option = option.strip().replace("-", "_")
        if not equals or not option:
            raise BadOption(f"{spec!r}: {item!r} should be option=value, as in 'simproj:C=0.1,average=true'")
        options[option] = value.strip()
    return name.strip(), options


# ---- texts ------------------------------------------------------------------------------------------------------


def on_command_line(text: str) -> str:
    """A text of the table in the notation of the command line, without quotes and sentences about Python."""
    text = re.sub(r" ?\bIn Python,(?:[^.]|\.(?! |$))*\.", "", text)
    text = re.sub(r"\b(\w+)=(?:'([\w.-]+)'|(None|True|False)\b)", _as_given, text)
    text = re.sub(r"'([\w.-]+)'", r"\1", text)
    text = re.sub(r"\bNone\b", "none", text)
    text = re.sub(r"\bTrue\b", "yes", text)
    text = re.sub(r"\bFalse\b", "no", text)
    return re.sub(r"`(\w+)`", lambda found: flag(found[1]) if found[1] in PARAMETERS else found[1], text)


def _as_given(found: re.Match[str]) -> str:
    """kernel='poly' is --kernel poly, signed=False is --no-signed."""
    name, word, constant = found.groups()
    if name not in PARAMETERS:
        return found[0]
    if constant in ("True", "False") and _is_switch(PARAMETERS[name]):
        return flag(name) if constant == "True" else flag(f"no_{name}")
    return f"{flag(name)} {word or constant.lower()}"


def shown(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and value >= 2**16 and value & (value - 1) == 0:
        return f"2^{value.bit_length() - 1}"
    return str(value)


_METAVARS = {"cost": "JSON", "nu": "JSON", "w1": "JSON", "classes": "A,B,...", "class_weight": "A=2,..."}


def _metavar(parameter: Parameter) -> str:
    if parameter.name in _METAVARS:
        return _METAVARS[parameter.name]
    if "whole" in parameter.allowed:
        return "N"
    return "NAME" if _has_words(parameter) and "number" not in parameter.allowed else "X"


def _has_words(parameter: Parameter) -> bool:
    """Whether some of its values are words."""
    return "'" in parameter.allowed or "True" in parameter.allowed
