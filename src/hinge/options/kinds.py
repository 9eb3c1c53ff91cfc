"""Kinds of values: the type for type checkers, the allowed values in words, and their test."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .validators import is_bool, one_of, or_none, real
from .validators import whole as is_whole_from


class Kind(NamedTuple):
    """`allowed` says in words what `accepts` tests; `type` is the annotation for type checkers."""

    type: str
    allowed: str
    accepts: Callable[[Any], bool]


FLAG = Kind("bool", "True or False", is_bool)
POSITIVE = Kind("float", "a finite number greater than 0", real(0))
NONNEGATIVE = Kind("float", "a finite number, 0 or more", real(0, inclusive=True))


def optional(kind: Kind) -> Kind:
    """None, or a value of this kind."""
    return Kind(f"{kind.type} | None", f"None or {kind.allowed}", or_none(kind.accepts))


def whole(low: int, high: int | None = None, words: str | None = None) -> Kind:
    """A whole number from low to high."""
    if words is None:
        words = f"of {low} or more" if high is None else f"from {low} to {high}"
    accepts = is_whole_from(low) if high is None else is_whole_from(low, high)
    return Kind("int", f"a whole number {words}", accepts)


def number(words: str, test: Callable[[float], bool]) -> Kind:
    """A finite number above 0 that passes the test."""
    return Kind("float", f"a number {words}", lambda value: real(0)(value) and test(float(value)))


def choice(*words: str) -> Kind:
    """One of these words."""
    *others, last = map(repr, words)
    return Kind("str", f"{', '.join(others)} or {last}", one_of(*words))


def function(arguments: str, signature: str) -> Kind:
    """A function of these arguments."""
    return Kind(f"Callable[{signature}]", f"a function of {arguments}", callable)
