"""Streams of events, rows and sentences, and progressive validation of a learner on one."""

from ..data.sentences import Sentence
from .formats.columns import examples, read_columns, read_examples
from .formats.text import TextBatch, read_svmlight
from .progressive import Round, StreamLearner, absolute, progressive, wrong

__all__ = [
    "Round", "Sentence", "StreamLearner", "TextBatch", "absolute", "examples",
    "progressive", "read_columns", "read_examples", "read_svmlight", "wrong",
]  # fmt: skip
