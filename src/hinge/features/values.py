"""Values of fields: missing ones, numbers, categories, and the features that the core makes of them."""

from __future__ import annotations

import math
from typing import Any

from .._core import flat
from ..data.errors import InputError

MISSING = frozenset(("", "NA", "N/A", "?", "nan", "NaN", "null", "None"))  # in a table of strings


class RecordError(InputError):
    """A record was rejected because of the field `field`, if that is known. `column` is its feature."""

    def __init__(self, reason: str, field: str = "", column: int | str | None = None) -> None:
        super().__init__(reason, column=column)
        self.field = field


def flattened(fields: dict[str, Any]) -> dict[str, Any]:
    """The features of fields, by the rules of `learn_one`."""
    try:
        features: dict[str, Any] = flat(fields)  # type: ignore[assignment]
        return features
    except InputError as error:
        for name, value in fields.items():
            try:
                flat({name: value})
            except InputError:
                raise RecordError(error.reason, name, error.column) from None
        raise RecordError(error.reason, column=error.column) from None


def as_numbers(event: dict[str, Any]) -> list[tuple[str, float]]:
    """The features of an event as names and numbers, without zeros."""
    return [
        (f"{name}={value}", 1.0) if isinstance(value, str) else (name, float(value))
        for name, value in event.items()
        if value != 0
    ]


def is_missing(value: Any, strings: bool) -> bool:
    if isinstance(value, str):
        return strings and value in MISSING
    return value is None or (isinstance(value, float) and math.isnan(value))


def as_number(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if "_" in value or not math.isfinite(number):  # 1_000 is a number in Python only
        raise RecordError(f"a finite number was expected, not {value!r}", name, name)
    return number


def as_category(value: Any, strings: bool) -> Any:
    if isinstance(value, (str, list, tuple, dict)) or (isinstance(value, bool) and not strings):
        return value
    return str(value)
