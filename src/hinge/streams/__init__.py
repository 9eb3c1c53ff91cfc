"""Streams of events and of sentences, and how to judge a learner on one."""

from .columns import ColumnError, Sentence, examples, read_columns, read_examples
from .progressive import Round, StreamLearner, absolute, progressive, wrong

__all__ = [
    "ColumnError", "Round", "Sentence", "StreamLearner", "absolute", "examples", "progressive", "read_columns",
    "read_examples", "wrong",
]  # fmt: skip
