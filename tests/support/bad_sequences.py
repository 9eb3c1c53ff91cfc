"""What the tests of bad sentences share: models, and a refusal that leaves no trace."""

# ruff: noqa: B023 (every lambda is called at once)

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hinge import PASequence

OPTIONS = [
    {},
    {"average": False, "selection": "max"},
    {"hash_bits": 8, "geometry": "diagonal"},
    {"dtype": "float32", "selection": "max-additive", "step": "pa"},
]
every_kind = pytest.mark.parametrize("options", OPTIONS, ids=str)
X = [[{"a": 1.0}, {"b": 2.0, "c": "red"}], [{"b": -1.0}], [["a", "c"], [], ["b"]]]
Y = [["A", "B"], ["B"], ["C", "A", "B"]]


def bug(why, **more):
    """Known, reported, and not mended yet: whoever mends it takes the mark away."""
    return pytest.mark.xfail(reason=why, **{"strict": True, **more})


def trained(options):
    return PASequence(**options).learn_many(X * 3, Y * 3)


def empty(options):
    return PASequence(**options).learn_many([], [])


def state(model):
    return model._learner.to_bytes()


def refused(model, match, call, error=ValueError):
    before, known, names = state(model), model.classes_, model.attributes_
    with pytest.raises(error, match=match or None):
        call()
    assert state(model) == before
    assert model.classes_ == known
    assert model.attributes_ == names


def refused_everywhere(model, x, y, match, error=ValueError, column=""):
    """A bad sentence, whoever is given it; in a batch its row is named, and the column, if there is one."""
    good = [{"b": 1.0, "fresh": 1.0}]
    inside = f"^row 1, {column}: {match}" if column else f"^row 1: {match}"
    alone = f"^{column}: {match}" if column else f"^{match}"
    for weight in (1.0, 0.0):
        refused(model, alone, lambda: model.learn_one(x, y, weight), error)
        many = ([good, x, good], [["A"], y, ["fresh"]], [1.0, weight, 1.0])
        refused(model, inside, lambda: model.learn_many(*many), error)
    refused(model, inside, lambda: model.predict([good, x]), error)
    for call in (model.predict_one, model.predict_single, model.score_one, model.explain_one):
        refused(model, alone, lambda call=call: call(x), error)
    if model.classes_:
        refused(model, alone, lambda: model.score_one(x, ["A"] * len(y)), error)
        refused(model, inside, lambda: model.partial_fit([good, x], [["A"], ["A"] * len(y)]), error)
    refused(model, inside, lambda: model.fit([good, x, good], [["A"], y, ["B"]]), error)


def of_arrays(options, width=3):
    rng = np.random.default_rng(0)
    return PASequence(**options).learn_many(
        list(rng.normal(size=(5, 2, width))), [["A", "B"], ["B", "C"]] * 2 + [["A", "A"]]
    )


UNHASHED = pytest.mark.parametrize("options", [o for o in OPTIONS if "hash_bits" not in o], ids=str)


def csr(data, indices, indptr, shape=(3, 4)):
    matrix = scipy.sparse.csr_matrix((3, 4))
    matrix.data, matrix.indices, matrix.indptr = np.asarray(data), np.asarray(indices), np.asarray(indptr)
    matrix._shape = shape
    return matrix
