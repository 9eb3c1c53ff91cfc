"""The one check of a rejection: the call raises, says where, and leaves the model as it was, to the byte."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hinge
from hinge._core import Engine, SequenceEngine
from hinge.data.errors import InputError
from hinge.model import file
from hinge.structured.sequence_learner import SequenceLearner

NAN, INF = float("nan"), float("inf")
BOTH = (ValueError, TypeError)


class Raises:
    """A value that raises an error when it is read."""

    def __init__(self, error):
        self.error = error

    def __float__(self):
        raise self.error


class Does:
    """A value that calls a function when it is read."""

    def __init__(self, function):
        self.function = function

    def __float__(self):
        self.function()
        return 1.0


def snapshot(model):
    """All that a model is: its state, statistics, names and labels."""
    if isinstance(model, (hinge.Learner, SequenceLearner)):
        return model.to_bytes()
    if isinstance(model, (Engine, SequenceEngine)):
        tensors = {name: np.asarray(buffer).tobytes() for name, buffer in model.state().items()}
        return tensors, model.names(), model.statistics(), model.n_columns
    learner = vars(model).get("_learner")
    if learner is None:
        return dict(vars(model))
    if isinstance(learner, hinge.Learner):
        return learner.to_bytes()
    known = getattr(model, "classes_", None), getattr(model, "attributes_", None)
    return file.to_bytes(*model.to_parts()), *map(repr, known)


def rejected(model, match, call, *arguments, error=ValueError, **options):
    """Returns what was raised."""
    before = snapshot(model)
    with pytest.raises(error, match=match or None) as caught:
        call(*arguments, **options)
    assert snapshot(model) == before
    place = re.match(r"row (\d+)(?:, column (\d+))?[:,]", str(caught.value))
    if place or isinstance(caught.value, InputError):
        row, column = place.groups() if place else (None, None)
        assert caught.value.row == (None if row is None else int(row))
        assert column is None or caught.value.column == int(column)
    return caught.value


class rejects:
    """`rejects(model, match).learn(X, y)` checks that model.learn(X, y) is rejected."""

    def __init__(self, model, match="", error=ValueError):
        self._given = model, match, error

    def __getattr__(self, method):
        model, match, error = self._given

        def call(*arguments, **options):
            return rejected(model, match, getattr(model, method), *arguments, error=error, **options)

        return call
