"""What `TextClassifier` has of its own: how texts become terms, and what terms weigh."""

from __future__ import annotations

from ..parameter import Parameter
from ..validators import is_bool, is_ngram_range, one_of, or_none, whole

ROWS = (
    Parameter(
        "analyzer",
        "word",
        "str",
        "'word', 'char' or 'char_wb'",
        one_of("word", "char", "char_wb"),
        "What a term is. 'word': a word (two or more letters, digits or underscores). 'char': characters. 'char_wb': "
        "characters within a word, which gets a space at each end.",
    ),
    Parameter(
        "ngram_range",
        (1, 1),
        "int | Sequence[int]",
        "a whole number from 1 to 10, or the least and the most as a pair of them",
        is_ngram_range,
        "The least and the most words or characters of a term.",
    ),
    Parameter("lowercase", True, "bool", "True or False", is_bool, "Read texts in lower case."),
    Parameter(
        "weighting",
        "tfidf",
        "str",
        "'tfidf' or 'binary'",
        one_of("tfidf", "binary"),
        "What a term of a text weighs. 'tfidf': (1 + log t) (1 + log((1 + n)/(1 + d))) if it occurs t times, and d of "
        "the n texts so far have it. `predict` takes n and d as they are and never changes them; `learn_one` and "
        "`partial_fit` learn from a text as `predict` would see it, and count it then; `fit` counts all texts before "
        "it learns from them. A text of weight 0 is not counted. 'binary': all terms weigh the same.",
    ),
    Parameter(
        "hash_bits",
        None,
        "int | None",
        "None or a whole number from 1 to 30",
        or_none(whole(1, 30)),
        "How terms become columns. None: terms are kept in a vocabulary that grows. A number b: terms are hashed into "
        "2^b columns; memory is fixed, and weights have no names.",
    ),
    Parameter(
        "max_features",
        2**22,
        "int",
        "a whole number from 1 to 2^40",
        whole(1, 2**40),
        "The most terms of the vocabulary. Further ones are ignored, and counted in `n_ignored_`.",
    ),
)
