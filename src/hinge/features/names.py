"""Names of fields, and the names of the features that they become."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from typing import Any

from .words import two_names

ALL = "all"  # the interaction of all features with all
_SPECIAL = re.compile(r"[\\=*+]")


def escaped(name: str) -> str:
    """The name of a field as part of the name of a feature."""
    return _SPECIAL.sub(lambda found: "\\" + found[0], name) if _SPECIAL.search(name) else name


def escaped_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """The same fields, with names that cannot be confused with those of other features."""
    with contextlib.suppress(TypeError):  # a name that is not a string: the core accepts or rejects it
        if dict not in map(type, fields.values()) and _SPECIAL.search("".join(fields)) is None:
            return fields
    return {
        escaped(name) if isinstance(name, str) else name: escaped_fields(value)
        if type(value) is dict
        else value
        for name, value in fields.items()
    }


def names_of(option: str, value: str | Iterable[str]) -> list[str]:
    """The names of an option that takes one name or several."""
    names = [value] if isinstance(value, str) else list(value)
    if wrong := [name for name in names if not isinstance(name, str) or not name]:
        raise ValueError(f"{option} must be names of fields, not {wrong[0]!r}")
    return list(dict.fromkeys(names))


def matcher(names: list[str]) -> Callable[[str], bool]:
    """Returns whether a name is one of these, in which "*" matches anything."""
    exact = {name for name in names if "*" not in name}
    patterns = [re.escape(name).replace(r"\*", ".*") for name in names if "*" in name]
    if not patterns:
        return exact.__contains__
    any_of = re.compile("|".join(patterns), re.DOTALL)
    return lambda name: name in exact or any_of.fullmatch(name) is not None


def interaction(text: str) -> tuple[str, str]:
    """The two fields of "user*item", escaped."""
    if text == ALL:
        return ALL, ALL
    left, right = two_names(text)
    return escaped(left), escaped(right)
