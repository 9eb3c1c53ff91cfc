"""Texts as bags of words."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

# Letters, digits and underscores, two or more: the words of scikit-learn's vectorizers.
_WORD = re.compile(r"\w\w+")
MAX_WORD = 100  # characters; what is longer is no word (an encoded attachment, say)
MAX_NGRAMS = 10
# Of a text as a vector. A learner has a coordinate of 1 beside the features (the intercept), which counts in the size
# of an example: with texts of length 1 half of every step would go there, and there would be far more errors.
LENGTH = 10.0


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, in their order."""
    words = _WORD.findall(text.lower())
    if max(map(len, words), default=0) > MAX_WORD:
        words = [word for word in words if len(word) <= MAX_WORD]
    return words


def ngrams_of(words: list[str], ngrams: int) -> list[str]:
    """The words, and each two, three, ... `ngrams` that follow each other, with a space between them."""
    found = list(words)
    for size in range(2, ngrams + 1):
        found += map(" ".join, zip(*(words[start:] for start in range(size)), strict=False))
    return found


def weighted(fields: Iterable[list[str]]) -> dict[str, float]:
    """Which words there are, how often does not matter, as a vector of length `LENGTH`. Each field has the same part
    in it, however short it is; a word that is in two of them counts for both.

    (On mail, news and short messages, with PA-I, C=1: fewer errors than counts, their logarithms, or words kept apart
    by field.)
    """
    bags = [dict.fromkeys(words) for words in fields if words]
    if len(bags) == 1:
        return dict.fromkeys(bags[0], LENGTH / math.sqrt(len(bags[0])))
    sums: dict[str, float] = {}
    for bag in bags:
        part = 1.0 / math.sqrt(len(bag))
        for word in bag:
            sums[word] = sums.get(word, 0.0) + part
    norm = math.hypot(*sums.values())
    return {word: LENGTH * value / norm for word, value in sums.items()}


def bag_of_words(text: str, ngrams: int = 1) -> dict[str, float]:
    """The words of a text, and up to `ngrams` of them that follow each other, with their values.

    >>> from hinge.streams.words import bag_of_words
    >>> bag_of_words("To be, or not to be")
    {'to': 5.0, 'be': 5.0, 'or': 5.0, 'not': 5.0}
    >>> list(bag_of_words("To be, or not to be", ngrams=2))
    ['to', 'be', 'or', 'not', 'to be', 'be or', 'or not', 'not to']
    """
    return weighted([ngrams_of(words_of(text), ngrams)])
