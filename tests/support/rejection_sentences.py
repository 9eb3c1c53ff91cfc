"""Models of sequences, and what is checked of an invalid sentence by every method."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hinge import PASequence
from rejection import rejects

OPTIONS = [
    {},
    {"average": False, "selection": "max"},
    {"hash_bits": 8, "geometry": "diagonal"},
    {"dtype": "float32", "selection": "max-additive", "step": "pa"},
]
every_kind = pytest.mark.parametrize("options", OPTIONS, ids=str)
every_unhashed = pytest.mark.parametrize("options", [o for o in OPTIONS if "hash_bits" not in o], ids=str)
X = [[{"a": 1.0}, {"b": 2.0, "c": "red"}], [{"b": -1.0}], [["a", "c"], [], ["b"]]]
Y = [["A", "B"], ["B"], ["C", "A", "B"]]


def trained(options):
    return PASequence(**options).learn_many(X * 3, Y * 3)


def empty(options):
    return PASequence(**options).learn_many([], [])


def both(options):
    return trained(options), empty(options)


def state(model):
    return model._learner.to_bytes()


def rejected_everywhere(model, x, y, message, error=ValueError, column=""):
    """In a batch the row of the sentence is named; and the column, if there is one."""
    good = [{"b": 1.0, "fresh": 1.0}]
    inside = rejects(model, f"^row 1, {column}: {message}" if column else f"^row 1: {message}", error)
    alone = rejects(model, f"^{column}: {message}" if column else f"^{message}", error)
    for weight in (1.0, 0.0):
        alone.learn_one(x, y, weight)
        inside.learn_many([good, x, good], [["A"], y, ["fresh"]], [1.0, weight, 1.0])
    inside.predict([good, x])
    alone.predict_one(x)
    alone.predict_single(x)
    alone.score_one(x)
    alone.explain_one(x)
    if model.classes_:
        alone.score_one(x, ["A"] * len(y))
        inside.partial_fit([good, x], [["A"], ["A"] * len(y)])
    inside.fit([good, x, good], [["A"], y, ["B"]])


def of_arrays(options, width=3):
    rng = np.random.default_rng(0)
    return PASequence(**options).learn_many(
        list(rng.normal(size=(5, 2, width))), [["A", "B"], ["B", "C"]] * 2 + [["A", "A"]]
    )


def csr(data, indices, indptr, shape=(3, 4)):
    matrix = scipy.sparse.csr_matrix((3, 4))
    matrix.data, matrix.indices, matrix.indptr = np.asarray(data), np.asarray(indices), np.asarray(indptr)
    matrix._shape = shape
    return matrix
