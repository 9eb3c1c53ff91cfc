"""Streams of events, of rows and of sentences, and how to judge a learner on one."""

from .columns import ColumnError, Sentence, examples, read_columns, read_examples
from .files import SourceError
from .progressive import Round, StreamLearner, absolute, progressive, wrong
from .text import TextBatch, read_svmlight

__all__ = [
    "ColumnError", "Round", "Sentence", "SourceError", "StreamLearner", "TextBatch", "absolute", "examples",
    "progressive", "read_columns", "read_examples", "read_svmlight", "wrong",
]  # fmt: skip
