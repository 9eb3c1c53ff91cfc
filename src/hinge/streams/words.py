"""Texts as bags of words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable

# Letters, digits and underscores, two or more: the words of scikit-learn's vectorizers.
_WORD = re.compile(r"\w\w+")
MAX_WORD = 100  # characters; what is longer is no word (an encoded attachment, say)
MAX_NGRAMS = 10


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, in their order."""
    words = _WORD.findall(text.lower())
    if len(text) > MAX_WORD and len(max(words, key=len, default="")) > MAX_WORD:
        words = [word for word in words if len(word) <= MAX_WORD]
    return words


def ngrams_of(words: list[str], ngrams: int) -> list[str]:
    """The words, and each two, three, ... `ngrams` that follow each other, with a space between them."""
    found = list(words)
    for size in range(2, ngrams + 1):
        found += map(" ".join, zip(*(words[start:] for start in range(size)), strict=False))
    return found


def weighted(tokens: Iterable[str]) -> dict[str, float]:
    """1 + log(how often), divided by the Euclidean norm of all: a long text moves the weights no further than a
    short one, and a word that is repeated counts more, but not in proportion."""
    counts = Counter(tokens)
    values = [1.0 if count == 1 else 1.0 + math.log(count) for count in counts.values()]
    norm = math.hypot(*values)
    return dict(zip(counts, [value / norm for value in values], strict=True))


def bag_of_words(text: str, ngrams: int = 1) -> dict[str, float]:
    """The words of a text, and up to `ngrams` of them that follow each other, with their weights.

    >>> from hinge.streams.words import bag_of_words
    >>> bag = bag_of_words("To be, or not to be: a question", ngrams=2)
    >>> {name: round(value, 2) for name, value in bag.items()}
    {'to': 0.45, 'be': 0.45, 'or': 0.27, 'not': 0.27, 'question': 0.27, 'to be': 0.45, 'be or': 0.27, \
'or not': 0.27, 'not to': 0.27, 'be question': 0.27}
    """
    return weighted(ngrams_of(words_of(text), ngrams))
