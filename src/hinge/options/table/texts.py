"""The options that only `TextClassifier` has: how texts become terms, and what terms weigh."""

from __future__ import annotations

from ..kinds import FLAG, Kind, choice, optional, whole
from ..parameter import Parameter
from ..validators import is_ngram_range

ROWS = (
    Parameter(
        "analyzer",
        "word",
        choice("word", "char", "char_wb"),
        "What a term is. 'word': a word (two or more letters, digits or underscores). 'char': characters. 'char_wb': "
        "characters within a word, which gets a space at each end; it copes with misspellings.",
    ),
    Parameter(
        "ngram_range",
        (1, 1),
        Kind(
            "int | Sequence[int]",
            "a whole number from 1 to 10, or the least and the most as a pair of them",
            is_ngram_range,
        ),
        "The least and the most words or characters of a term. (1, 2) adds the pairs of neighbouring words.",
    ),
    Parameter("lowercase", True, FLAG, "Read texts in lower case."),
    Parameter(
        "weighting",
        "tfidf",
        choice("tfidf", "binary"),
        "What a term of a text weighs. 'tfidf': (1 + log t) (1 + log((1 + n)/(1 + d))) if it occurs t times, and d of "
        "the n texts so far have it. `predict` uses the current n and d and never changes them; `learn_one` and "
        "`partial_fit` weigh a text as `predict` would and count it afterwards; `fit` counts all texts before it "
        "learns from them. A text of weight 0 is not counted. 'binary': all terms weigh the same.",
    ),
    Parameter(
        "hash_bits",
        None,
        optional(whole(1, 30)),
        "How terms become columns. None: terms are kept in a vocabulary that grows. A number b: terms are hashed into "
        "2^b columns; memory is fixed, and weights have no names.",
    ),
    Parameter(
        "max_features",
        2**22,
        whole(1, 2**40, "from 1 to 2^40"),
        "The most terms of the vocabulary. Terms beyond that are ignored, and counted in `n_ignored_`.",
    ),
)
