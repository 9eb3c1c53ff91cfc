"""Values in messages: short, whatever they are."""

from __future__ import annotations

from typing import Any


def shown(value: Any, most: int = 100) -> str:
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # lists in lists in lists, and integers of more than 4300 digits
        is_number = isinstance(value, int)
        text = f"a whole number of {value.bit_length()} bits" if is_number else f"a {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."
