"""Texts as bags of terms: words, and sequences of words or characters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from ..options.validators import MAX_NGRAMS, is_ngram_range

# The length of a text as a vector. With it, C = 1 shortens no step: a step is at most loss/100.
LENGTH = 10.0


def check_range(name: str, value: Any) -> tuple[int, int]:
    """The least and the most words or characters of a term."""
    if not is_ngram_range(value):
        raise ValueError(
            f"{name} must be a whole number from 1 to {MAX_NGRAMS}, or the least and the most as a pair of them, "
            f"not {value!r}"
        )
    return tuple(value) if isinstance(value, (tuple, list)) else (1, value)


def two_names(text: str) -> tuple[str, str]:
    """The two names of "user*item"."""
    left, star, right = text.partition("*")
    if not (left and star and right) or "*" in right:
        raise ValueError(
            f"an interaction is two names with * between them ('user*item') or 'all', not {text!r}"
        )
    return left, right


def ngrams_of(words: Sequence[str], least: int, most: int) -> list[str]:
    """The sequences of `least` to `most` successive words, joined by spaces."""
    found: list[str] = []
    for size in range(least, most + 1):
        found += map(" ".join, zip(*(words[start:] for start in range(size)), strict=False))
    return found


def weighted(fields: Iterable[Sequence[str]]) -> dict[str, float]:
    """A vector of length `LENGTH` of the terms that occur, regardless of how often. Each field has the same share,
    regardless of its length; a term that occurs in two fields counts for both.

    (On mail, news and short messages, with PA-I and C=1, this makes fewer errors than counts, their logarithms, or
    separate words per field.)
    """
    bags = [dict.fromkeys(terms) for terms in fields if terms]
    if len(bags) == 1:
        return dict.fromkeys(bags[0], LENGTH / math.sqrt(len(bags[0])))
    sums: dict[str, float] = {}
    for bag in bags:
        part = 1.0 / math.sqrt(len(bag))
        for term in bag:
            sums[term] = sums.get(term, 0.0) + part
    norm = math.hypot(*sums.values())
    return {term: LENGTH * value / norm for term, value in sums.items()}
