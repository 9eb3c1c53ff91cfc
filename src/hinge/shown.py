"""Values in messages: short, whatever they are."""

from __future__ import annotations

from typing import Any


def shown(value: Any, most: int = 100) -> str:
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # lists in lists in lists, and integers of more than 4300 digits
        text = f"a value of the type {type(value).__name__}"
    return text if len(text) <= most else f"{text[: most - 3]}..."
