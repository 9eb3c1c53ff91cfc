"""Bad sentences, tags, weights and costs: an error that says where, and the model is what it was, to the byte."""

# ruff: noqa: B023 (every lambda is called at once)

from __future__ import annotations

import contextlib
import decimal
import enum
import itertools
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from sklearn.exceptions import NotFittedError

from hinge import ModelFileError, PASequence
from hinge._core import SequenceEngine
from hinge.sequence_learner import SequenceLearner

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


def refused_everywhere(model, x, y, match, error=ValueError):
    """A bad sentence, whoever is given it; in a batch it is named."""
    good = [{"b": 1.0, "fresh": 1.0}]
    inside = f"^sentence 1: {match}"
    alone = f"^(sentence 0: )?{match}"
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


# ---- tokens and their features --------------------------------------------------------------------------------


class Raises:
    def __init__(self, error):
        self.error = error

    def __float__(self):
        raise self.error


TOKENS = {
    "a string": "word",
    "nothing": None,
    "a number": 5,
    "a real": 1.5,
    "a set": {"a"},
    "a frozen set": frozenset("a"),
    "bytes": b"a",
    "a row": np.ones(3),
    "an array of strings": np.array(["a", "b"]),
    "a generator": (c for c in "ab"),
    "an object": object(),
}


@pytest.mark.parametrize("what", TOKENS)
@every_kind
def test_tokens_that_are_none(what, options):
    message = "token 1: a token must be a list of strings or a dict of features, not "
    for model in (trained(options), empty(options)):
        refused_everywhere(model, [["a"], TOKENS[what], ["new"]], ["A", "B", "C"], message)


FEATURES = {
    "a number": (5, "feature 1 is 5, not a string"),
    "NaN": (float("nan"), "feature 1 is nan, not a string"),
    "nothing": (None, "feature 1 is None, not a string"),
    "bytes": (b"x", "feature 1 is b'x', not a string"),
    "a list": (["x"], r"feature 1 is \['x'\], not a string"),
    "a pair": (("x", 1.0), r"feature 1 is \('x', 1.0\), not a string"),
}


@pytest.mark.parametrize("what", FEATURES)
@every_kind
def test_features_that_are_none(what, options):
    feature, message = FEATURES[what]
    for token in (["new", feature, "newer"], ("new", feature)):
        for model in (trained(options), empty(options)):
            refused_everywhere(model, [["new"], token], ["A", "B"], f"token 1: {message}")


NAMES = {"nothing": None, "a real": 1.5, "a pair": ("x", 1), "bytes": b"x", "NaN": float("nan")}


@pytest.mark.parametrize("what", NAMES)
@every_kind
def test_names_that_are_none(what, options):
    message = "token 1: the name of a feature must be a string"
    for model in (trained(options), empty(options)):
        refused_everywhere(model, [["new"], {"newer": 1.0, NAMES[what]: 1.0}], ["A", "B"], message)


VALUES = {
    "NaN": (float("nan"), "the value is NaN"),
    "infinity": (float("inf"), "the value is infinity"),
    "minus infinity": (-float("inf"), "the value is infinity"),
    "NaN in single": (np.float32("nan"), "the value is NaN"),
    "a decimal NaN": (decimal.Decimal("nan"), "the value is NaN"),
    "nothing": (None, "None is not a number"),
    "a list": ([1.0], r"\[1.0\] is not a number"),
    "a dict": ({"x": 1.0}, r"\{'x': 1.0\} is not a number"),
    "bytes": (b"1", "b'1' is not a number"),
    "complex": (1j, "1j is not a number"),
    "a huge number": (10**400, "the value is too large for float64"),
    "an error": (Raises(KeyError("k")), "the value cannot be read: KeyError"),
}


@pytest.mark.parametrize("what", VALUES)
@every_kind
def test_values_that_are_none(what, options):
    value, message = VALUES[what]
    for model in (trained(options), empty(options)):
        x = [["new"], {"a": 1.0, "newer": 1.0, "x": value}]
        refused_everywhere(model, x, ["A", "B"], f"token 1: feature 'x': {message}")


@every_kind
def test_values_whose_squares_overflow(options):
    for model in (trained(options), empty(options)):
        for token in ({"new": 1e200}, {"a": -1e308, "b": 1.0}, {f"f{k}": 1e154 for k in range(300)}):
            message = "token 1: the values are too large: the sum of their squares overflows"
            refused_everywhere(model, [["new"], token], ["A", "B"], message)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_go_on_as_they_are(error):
    model = trained({})
    x = [["new"], {"x": Raises(error())}]
    refused(model, "", lambda: model.learn_one(x, ["A", "B"]), error)
    refused(model, "", lambda: model.predict_one(x), error)


def test_explanations_name_the_token():
    model = trained({})
    refused(model, "^token 1: a token must be", lambda: model.explain_one([["a"], "b"], ["A", "B"]))


def test_hashed_names_that_are_no_text():
    for token in (["\ud800"], {"\ud800": 1.0}, {"a": "\ud800"}):
        for model in (trained({"hash_bits": 8}), empty({"hash_bits": 8})):
            message = "token 1: the name '.*ud800' cannot be hashed: it is not UTF-8"
            refused_everywhere(model, [["a"], token], ["A", "B"], message)


# ---- sentences that are arrays --------------------------------------------------------------------------------


def of_arrays(options, width=3):
    rng = np.random.default_rng(0)
    return PASequence(**options).learn_many(
        list(rng.normal(size=(5, 2, width))), [["A", "B"], ["B", "C"]] * 2 + [["A", "A"]]
    )


UNHASHED = pytest.mark.parametrize("options", [o for o in OPTIONS if "hash_bits" not in o], ids=str)


@UNHASHED
@pytest.mark.parametrize("single", [False, True])
def test_numbers_that_are_none_in_arrays(options, single):
    for value, message in (
        (np.nan, "token 1, column 2: the value is NaN"),
        (np.inf, "token 1, column 2: the value is infinity"),
        (-np.inf, "token 1, column 2: the value is infinity"),
        *(
            ()
            if single
            else ((1e200, "token 1, column 2: the value is too large: its square overflows float64"),)
        ),
    ):
        x = np.ones((3, 3), dtype=np.float32 if single else np.float64)
        x[1, 2] = value
        model = of_arrays(options)
        fresh = empty(options)
        for sentence in (x, np.asfortranarray(x), scipy.sparse.csr_matrix(x), x[::-1].copy()[::-1]):
            for each in (model, fresh):
                refused(each, f"^{message}", lambda s=sentence, m=each: m.learn_one(s, ["A", "B", "new"]))
                refused(
                    each, f"^{message}", lambda s=sentence, m=each: m.learn_one(s, ["A", "B", "new"], 0.0)
                )
                batch = [np.ones((1, 3)), sentence]
                y = [["A"], ["A", "B", "new"]]
                refused(each, f"^sentence 1: {message}", lambda b=batch, m=each, y=y: m.learn_many(b, y))
                refused(each, f"^sentence 1: {message}", lambda b=batch, m=each: m.predict(b))
                refused(each, f"^{message}", lambda s=sentence, m=each: m.score_one(s))


ARRAYS = {
    "one dimension": (np.ones(3), "an array of tokens must have two dimensions, not 1"),
    "no dimension": (np.array(1.0), "an array of tokens must have two dimensions, not 0"),
    "three dimensions": (np.ones((2, 3, 4)), "an array of tokens must have two dimensions, not 3"),
    "objects": (np.ones((2, 3), dtype=object), "an array of tokens must hold numbers, not object"),
    "complex": (np.ones((2, 3), dtype=complex), "an array of tokens must hold numbers, not complex128"),
    "strings": (np.array([["a", "b"]]), "an array of tokens must hold numbers, not <U1"),
    "dates": (np.zeros((2, 3), dtype="M8[s]"), "an array of tokens must hold numbers, not datetime64"),
    "a string": ("ab", "a sentence must be a list of tokens, or an array with a row for each, not str"),
    "bytes": (b"ab", "a sentence must be a list of tokens, or an array with a row for each, not bytes"),
    "a dict": ({"a": 1.0}, "a sentence must be a list of tokens, or an array .*, not dict"),
    "a set": ({"a"}, "a sentence must be a list of tokens, or an array .*, not set"),
    "nothing": (None, "a sentence must be a list of tokens, or an array .*, not NoneType"),
    "a number": (5, "a sentence must be a list of tokens, or an array .*, not int"),
    "a generator": (
        (t for t in [["a"]]),
        "a sentence must be a list of tokens, or an array .*, not generator",
    ),
}


@pytest.mark.parametrize("what", ARRAYS)
@every_kind
def test_sentences_that_are_none(what, options):
    sentence, message = ARRAYS[what]
    for model in (trained(options), empty(options)):
        refused_everywhere(model, sentence, ["A", "B"], message)


def csr(data, indices, indptr, shape=(3, 4)):
    matrix = scipy.sparse.csr_matrix((3, 4))
    matrix.data, matrix.indices, matrix.indptr = np.asarray(data), np.asarray(indices), np.asarray(indptr)
    matrix._shape = shape
    return matrix


THREE = [1.0, 2.0, 3.0]
BROKEN = {
    "an index out of range": (
        csr(THREE, [0, 9, 2], [0, 1, 2, 3]),
        "token 1: column index 9 is outside of the 4 columns",
    ),
    "a negative index": (
        csr(THREE, [0, -1, 2], [0, 1, 2, 3]),
        "token 1: column index .* is outside of the 4 columns",
    ),
    "starts that descend": (csr(THREE, [0, 1, 2], [0, 2, 1, 3]), "indptr is broken"),
    "starts out of range": (csr(THREE, [0, 1, 2], [0, 1, 2, 9]), "indptr is broken"),
    "negative starts": (csr(THREE, [0, 1, 2], [-1, 1, 2, 3]), "indptr is broken"),
    "starts of 2^62": (csr(THREE, [0, 1, 2], np.array([0, 1, 2, 2**62])), "indptr is broken"),
    "no starts": (csr(THREE, [0, 1, 2], np.zeros(0, dtype=np.int32)), "indptr is empty"),
    "fewer indices": (csr(THREE, [0], [0, 1, 2, 3]), "indptr is broken"),
    "fewer values": (csr([1.0], [0, 1, 2], [0, 1, 2, 3]), "indptr is broken"),
}
KINDS_OF_INDICES = "the indices and indptr of a CSR matrix must be int32 or int64"
FLAT = "data must be one-dimensional and contiguous"
MISFITS = {
    "real indices": (csr(THREE, [0.0, 1.0, 2.0], [0, 1, 2, 3]), KINDS_OF_INDICES),
    "short indices": (csr(THREE, np.array([0, 1, 2], dtype=np.int8), [0, 1, 2, 3]), KINDS_OF_INDICES),
    "real starts": (csr(THREE, [0, 1, 2], [0.0, 1.0, 2.0, 3.0]), KINDS_OF_INDICES),
}
UNNAMED = {  # refused, without the sentence
    "fewer starts": (csr(THREE, [0, 1, 2], [0, 1]), "there are [34] tags for [12] tokens"),
    "more starts": (csr(THREE, [0, 1, 2], [0, 1, 2, 3, 3]), "there are [34] tags for [45] tokens"),
    "values in two dimensions": (csr(np.ones((3, 1)), [0, 1, 2], [0, 1, 2, 3]), FLAT),
    "strided values": (csr(np.ones(6)[::2], [0, 1, 2], [0, 1, 2, 3]), FLAT),
}


@pytest.mark.parametrize("what", BROKEN)
@UNHASHED
def test_broken_csr_matrices(what, options):
    sentence, message = BROKEN[what]
    for model in (of_arrays(options, 4), empty(options)):
        refused(model, f"^{message}", lambda m=model: m.learn_one(sentence, ["A", "B", "new"]))
        batch = [np.ones((1, 4)), sentence, np.ones((1, 4))]
        refused(
            model,
            f"^sentence 1: {message}",
            lambda m=model, b=batch: m.learn_many(b, [["A"], ["B"] * 3, ["A"]]),
        )
        refused(model, f"^{message}", lambda m=model: m.predict_one(sentence))


def misfit(sentence, message, options, where=""):
    for model in (of_arrays(options, 4), empty(options)):
        both = (ValueError, TypeError)
        alone = f"^(sentence 0: )?{message}"
        refused(model, alone, lambda m=model: m.learn_one(sentence, ["A", "B", "new"]), both)
        batch = [np.ones((1, 4)), sentence]
        refused(
            model, f"^{where}{message}", lambda m=model, b=batch: m.learn_many(b, [["A"], ["B"] * 3]), both
        )


@pytest.mark.parametrize("what", MISFITS)
@UNHASHED
def test_csr_matrices_that_do_not_fit(what, options):
    misfit(*MISFITS[what], options, "sentence 1: ")


@pytest.mark.parametrize("what", UNNAMED)
@UNHASHED
def test_csr_matrices_that_do_not_fit_themselves(what, options):
    misfit(*UNNAMED[what], options)


@bug("CSR parts that are strided, of two dimensions, or of another length: the sentence is not named")
@pytest.mark.parametrize("what", UNNAMED)
def test_misfits_name_the_sentence(what):
    model, batch = of_arrays({}, 4), [np.ones((1, 4)), UNNAMED[what][0]]
    both = (ValueError, TypeError)
    refused(model, "sentence 1", lambda: model.learn_many(batch, [["A"], ["B"] * 3]), both)


@UNHASHED
def test_arrays_of_another_width(options):
    message = "the array has 3 columns, the model has 4 features"
    for make in (np.ones, lambda shape: scipy.sparse.csr_matrix(np.ones(shape))):
        model, wide, narrow = of_arrays(options, 4), make((2, 4)), make((2, 3))
        for weight in (1.0, 0.0):
            refused(model, f"^{message}", lambda w=weight: model.learn_one(narrow, ["A", "new"], w))
            for m in (model, empty(options)):
                y = [["A", "new"]] * 2
                call = lambda m=m, w=weight, y=y: m.learn_many([wide, narrow], y, [1.0, w])  # noqa: E731
                refused(m, f"^sentence 1: {message}", call)
        for call in (model.predict_one, model.score_one, model.explain_one):
            refused(model, f"^{message}", lambda call=call: call(narrow))
        refused(model, f"^{message}", lambda: model.score_one(narrow, ["A", "B"]))
        refused(model, f"^sentence 1: {message}", lambda: model.predict([wide, narrow]))
        refused(model, f"^sentence 1: {message}", lambda: model.fit([wide, narrow], [["A", "B"]] * 2))
        wider = "the array has 5 columns, the model has 4 features"
        refused(model, f"^{wider}", lambda: model.learn_one(make((1, 5)), ["A"]))


@pytest.mark.parametrize("what", ["packed", "not aligned"])
def test_arrays_that_lie_awkwardly(what):
    if what == "packed":
        record = np.zeros(3, dtype=[("a", "f8", (2,)), ("b", "i1")])
        record["a"] = 1.0
        x = record["a"]
    else:
        x = (
            np.frombuffer(b"\0" + np.ones((3, 2)).tobytes(), dtype=np.uint8)[1:]
            .view(np.float64)
            .reshape(3, 2)
        )
    model = empty({}).learn_one(x, ["A", "B", "A"])
    assert state(model) == state(empty({}).learn_one(np.ones((3, 2)), ["A", "B", "A"]))


def test_complex_sparse_matrices():
    x, model = scipy.sparse.csr_matrix([[1 + 2j]]), empty({})
    refused(model, "must hold numbers, not complex128", lambda: model.learn_one(x, ["A"]))


def test_names_and_arrays_do_not_mix():
    named, hashed = trained({}), trained({"hash_bits": 8})
    for x in (np.ones((1, 3)), scipy.sparse.csr_matrix(np.ones((1, 3)))):
        message = "the features of this model have names: give lists or dicts of features"
        refused(named, f"^{message}", lambda x=x: named.learn_one(x, ["A"]))
        refused(named, f"^{message}", lambda x=x: named.predict_one(x))
        refused(named, f"^sentence 1: {message}", lambda x=x: named.learn_many([[["a"]], x], [["A"], ["B"]]))
        message = r"arrays cannot be hashed \(hash_bits\)"
        refused(hashed, f"^{message}", lambda x=x: hashed.learn_one(x, ["A"]))
        refused(hashed, f"^{message}", lambda x=x: hashed.predict_one(x))
        fresh, message = empty({}), "sentence 1: the features of this model have names"
        refused(fresh, f"^{message}", lambda x=x: fresh.learn_many([[["a"]], x], [["A"], ["B"]]))


@pytest.mark.parametrize("options", [{}, {"hash_bits": 8}], ids=str)
def test_arrays_are_not_explained_where_they_are_not_scored(options):
    model = trained(options)
    for tags in (["A"], None):
        refused(model, "give lists or dicts", lambda: model.explain_one(np.ones((1, 3)), tags))


@pytest.mark.parametrize(
    "first",
    [{5: 1.0}, {1: 1.0, 0: 3.0}, {0: 1.0, "x": 3.0}, {"0": 1.0}, {-1: 1.0}, {0: 1.0, 2: 1.0}],
    ids=str,
)
def test_names_that_are_not_the_columns_of_arrays(first):
    model = PASequence(step="pa", average=False).learn_many(
        [[first, {}], [first, {}]], [["A", "B"], ["B", "A"]]
    )
    x, message = np.ones((1, len(first))), "^the features of this model have names: give lists or dicts"
    refused(model, message, lambda: model.score_one(x, ["A"]))
    refused(model, message, lambda: model.predict_one(x))
    refused(model, message, lambda: model.learn_one(x, ["A"]))


def test_numbered_names_are_the_columns_of_arrays():
    """If they come in their order."""
    first = {0: 1.0, 1: 3.0}
    model = PASequence(step="pa", average=False).learn_many(
        [[first, {}], [first, {}]], [["A", "B"], ["B", "A"]]
    )
    assert model.score_one(np.array([[1.0, 2.0]]), ["A"]) == model.score_one([{0: 1.0, 1: 2.0}], ["A"]) != 0


def test_a_model_of_both_can_be_read_again():
    """A dict may name a column that arrays would have: then there are no more arrays."""
    model = PASequence().learn_one(np.ones((1, 1)), ["A"]).learn_one([{3: 1.0}], ["A"])
    for width in (1, 2, 4):
        refused(model, "have names", lambda w=width: model.learn_one(np.ones((1, w)), ["B"]))
    assert model.attributes_ == [0, 3]
    assert SequenceLearner.from_bytes(state(model)).to_bytes() == state(model)


# ---- X, y, their lengths --------------------------------------------------------------------------------------

NOT_X = {
    "a string": "ab",
    "bytes": b"ab",
    "a dict": {"a": 1.0},
    "nothing": None,
    "a number": 5,
    "a generator": (s for s in X),
    "an iterator": iter(X),
    "an array without dimensions": np.array(5.0),
    "a row": np.ones(3),
    "a matrix": np.ones((2, 3)),
    "strings": ["ab", "cd"],
    "numbers": [1, 2],
}


@pytest.mark.parametrize("what", NOT_X)
@every_kind
def test_what_is_no_list_of_sentences(what, options):
    for model in (trained(options), empty(options)):
        for call in (
            lambda: model.learn_many(NOT_X[what], Y[:2]),
            lambda: model.learn_many(NOT_X[what], Y[:2], [1.0, 1.0]),
            lambda: model.predict(NOT_X[what]),
            lambda: model.fit(NOT_X[what], Y[:2]),
            lambda: model.partial_fit(NOT_X[what], Y[:2]),
            lambda: model.score(NOT_X[what], Y[:2]),
        ):
            refused(model, "", call, (ValueError, TypeError))
    with pytest.raises((ValueError, TypeError)):
        PASequence(**options).fit(NOT_X[what], Y[:2])


def test_sets_are_no_lists_of_sentences():
    model = trained({})
    refused(model, "must be a list", lambda: model.learn_many({(("a",),), (("b",),)}, [["A"], ["B"]]))


NOT_Y = {
    "a string": "AB",
    "bytes": b"AB",
    "nothing": None,
    "a number": 5,
    "a dict": {0: ["A"], 1: ["B"]},
    "a generator": (tags for tags in Y),
    "an array without dimensions": np.array("A"),
}


@pytest.mark.parametrize("what", NOT_Y)
@every_kind
def test_what_is_no_list_of_tags(what, options):
    for model in (trained(options), empty(options)):
        for call in (
            lambda: model.learn_many(X[:2], NOT_Y[what]),
            lambda: model.partial_fit(X[:2], NOT_Y[what], classes=model.classes_),
            lambda: model.fit(X[:2], NOT_Y[what]),
        ):
            refused(model, "", call, (ValueError, TypeError))
        if what != "an array without dimensions":
            refused(
                model,
                "^y must be a list with the tags of each sentence",
                lambda: model.learn_many(X[:2], NOT_Y[what]),
            )


TAGS_OF = {
    "a string": "AB",
    "bytes": b"AB",
    "nothing": None,
    "a number": 5,
    "a dict": {"A": 1, "B": 2},
    "a set": {"A", "B"},
    "a generator": (tag for tag in "AB"),
}


@pytest.mark.parametrize("what", TAGS_OF)
@every_kind
def test_tags_that_are_no_list(what, options):
    tags, message = TAGS_OF[what], "there must be a list of tags, one for each token, not "
    for model in (trained(options), empty(options)):
        x = [["new"], ["newer"]]
        refused(model, f"^{message}", lambda m=model: m.learn_one(x, tags))
        refused(model, f"^{message}", lambda m=model: m.learn_one(x, tags, 0.0))
        refused(model, f"^sentence 1: {message}", lambda m=model: m.learn_many([x, x], [["C", "D"], tags]))
        refused(model, f"^sentence 1: {message}", lambda m=model: m.fit([x, x], [["C", "D"], tags]))
        if model.classes_:
            refused(
                model, f"^sentence 1: {message}", lambda m=model: m.partial_fit([x, x], [["A", "B"], tags])
            )
            refused(
                model,
                f"^{message}",
                lambda m=model: m.score_one(x, tags) if tags is not None else m.score_one(x, 5),
            )


NOT_TAGS = {
    "nothing": None,
    "NaN": float("nan"),
    "NaN in single": np.float32("nan"),
    "a list": ["A"],
    "a tuple": ("A",),
    "a dict": {},
    "a set": {"A"},
    "bytes": b"A",
    "complex": 1j,
    "an object": object(),
    "a type": str,
    "an array": np.array(["A"]),
    "not a time": np.datetime64("NaT"),
}


@pytest.mark.parametrize("what", NOT_TAGS)
@every_kind
def test_tags_that_are_none(what, options):
    tag, message = NOT_TAGS[what], "a tag must be a string, a boolean or a number, not "
    for model in (trained(options), empty(options)):
        x = [["new"], ["newer"]]
        for weight in (1.0, 0.0):
            refused(model, f"^{message}", lambda m=model, w=weight: m.learn_one(x, ["A", tag], w))
            y = [["C", "D"], [tag, "A"]]
            refused(
                model,
                f"^sentence 1: {message}",
                lambda m=model, w=weight, y=y: m.learn_many([x, x], y, [1.0, w]),
            )
        refused(model, f"^sentence 1: {message}", lambda m=model, y=y: m.fit([x, x], y))
        if model.classes_:
            refused(model, message, lambda m=model: m.partial_fit([x, x], [["A", "B"], [tag, "A"]]))
            refused(model, message, lambda m=model: m.score_one(x, [tag, "A"]))
            refused(model, message, lambda m=model: m.explain_one(x, [tag, "A"]))


@every_kind
def test_lengths_that_differ(options):
    for model in (trained(options), empty(options)):
        x = [["new"], ["newer"]]
        for tags in ([], ["A"], ["A", "B", "new"], np.array(["A"]), ()):
            message = f"there are 2 tokens and {len(tags)} tags"
            refused(model, f"^{message}", lambda m=model, t=tags: m.learn_one(x, t))
            refused(model, f"^{message}", lambda m=model, t=tags: m.learn_one(x, t, 0.0))
            batch = ([x, x, x], [["C", "D"], tags, ["A", "A"]])
            refused(model, f"^sentence 1: {message}", lambda m=model, b=batch: m.learn_many(*b))
            refused(model, f"^sentence 1: {message}", lambda m=model, b=batch: m.fit(*b))
            if model.classes_:
                refused(model, f"^{message}", lambda m=model, t=tags: m.score_one(x, t))
        for y in ([], [["A", "B"]], [["A", "B"]] * 3):
            message = f"^y has {len(y)} entries for 2 sentences"
            refused(model, message, lambda m=model, y=y: m.learn_many([x, x], y))
            refused(model, message, lambda m=model, y=y: m.fit([x, x], y))
            refused(model, message, lambda m=model, y=y: m.score([x, x], y))
        refused(
            model,
            "^sentence 1: there are 2 tokens and 1 tags",
            lambda m=model: m.score([x, x], [["A", "B"], ["A"]]),
        )


@every_kind
def test_empty_sentences(options):
    for model in (trained(options), empty(options)):
        for nothing in ([], (), np.ones((0, 3)), scipy.sparse.csr_matrix((0, 3))):
            if not isinstance(nothing, (list, tuple)) and (options.get("hash_bits") or model.classes_):
                continue  # no arrays there
            refused(model, "^the sentence is empty", lambda m=model, x=nothing: m.learn_one(x, []))
            refused(model, "^the sentence is empty", lambda m=model, x=nothing: m.learn_one(x, [], 0.0))
            batch = ([[["new"], ["b"]], nothing], [["new", "A"], []])
            refused(model, "^sentence 1: the sentence is empty", lambda m=model, b=batch: m.learn_many(*b))
            refused(model, "^sentence 1: the sentence is empty", lambda m=model, b=batch: m.fit(*b))
            refused(model, "the sentence is empty", lambda m=model, x=nothing: m.score_one(x))
            assert model.predict_one(nothing) == []
            assert model.predict([nothing, [["a"]], nothing])[::2] == [[], []]
        before = state(model)
        model.learn_many([], [])
        assert state(model) == before
        refused(model, "there are no sentences to learn from", lambda m=model: m.fit([], []))


def test_unknown_tags_where_they_must_be_known():
    model = trained({})
    message = "the tag 'new' is not one of the classes 'A', 'B' and 'C'"
    refused(model, f"^sentence 1: {message}", lambda: model.partial_fit(X[:2], [["A", "B"], ["new"]]))
    refused(model, f"^{message}", lambda: model.score_one(X[1], ["new"]))
    refused(model, f"^{message}", lambda: model.explain_one(X[1], ["new"]))
    closed = PASequence(classes=["A", "B"])
    closed.learn_one([["a"]], ["A"])
    for call in (
        lambda: closed.learn_one([["new"]], ["C"]),
        lambda: closed.learn_many([[["new"]]] * 2, [["A"], ["C"]]),
        lambda: closed.fit([[["new"]]] * 2, [["A"], ["C"]]),
    ):
        refused(closed, "the tag 'C' is not one of the classes 'A' and 'B'", call)


# ---- weights --------------------------------------------------------------------------------------------------


@every_kind
def test_weights_that_are_none(options):
    for model in (trained(options), empty(options)):
        x, y = [[["new"]]] * 3, [["new"]] * 3
        for weight, message in (
            (-1.0, "-1"),
            (np.nan, "nan"),
            (np.inf, "inf"),
            (-np.inf, "-inf"),
            (-5e-324, "-5e-324"),
        ):
            said = f"the sample weight is {message}.*; it must be 0 or more, and finite"
            refused(model, f"^{said}", lambda m=model, w=weight: m.learn_one(x[0], y[0], w))
            refused(
                model, f"^sentence 1: {said}", lambda m=model, w=weight: m.learn_many(x, y, [1.0, w, 0.0])
            )
            refused(model, f"^sentence 1: {said}", lambda m=model, w=weight: m.fit(x, y, [1.0, w, 0.0]))
        for weights in ([], [1.0], [1.0] * 4):
            said = f"^sample_weight has {len(weights)} entries for 3 sentences"
            refused(model, said, lambda m=model, w=weights: m.learn_many(x, y, w))
            refused(model, said, lambda m=model, w=weights: m.fit(x, y, w))
        for weights in (
            1.0,
            [[1.0, 1.0, 1.0]],
            "abc",
            ["a", "b", "c"],
            [None] * 3,
            [1j] * 3,
            {},
            [[1], [2, 3], []],
        ):
            refused(model, "", lambda: model.learn_many(x, y, weights), (ValueError, TypeError))
        for weight in (None, "1.0", 1j, [1.0], {}, object()):
            refused(model, "", lambda: model.learn_one(x[0], y[0], weight), (ValueError, TypeError))


# ---- costs ----------------------------------------------------------------------------------------------------


def of_cost(cost):
    """A model that has learned with a cost that was fine, up to a mistake that is to come."""
    asked = []

    def given_cost(truth, predicted):
        asked.append(1)
        return cost(truth, predicted) if len(asked) > 4 else 1.0

    model = PASequence(cost=given_cost, average=False)
    for tags in itertools.cycle([["A", "B"], ["B", "C"], ["C", "A"]]):
        if len(asked) == 4:
            return model
        model.learn_one([["a"], ["b"]], tags)


def wrong_tags(model):
    return [{"A": "B", "B": "C", "C": "A"}[tag] for tag in model.predict_one([["a"], ["b"]])]


NONSENSE = {
    "nothing": None,
    "text": "x",
    "a number in text": "3",
    "a list": [1.0],
    "a negative number": -1.0,
    "an array": np.array(1.0),
    "NaN": float("nan"),
    "infinity": float("inf"),
    "complex": 1j,
    "an object": object(),
    "a dict": {},
}


@pytest.mark.parametrize("what", NONSENSE)
def test_costs_of_nonsense(what):
    model = of_cost(lambda truth, predicted: NONSENSE[what])
    x, y = [["a"], ["b"]], wrong_tags(model)
    message = "the cost must be a number of 0 or more, not "
    refused(model, f"^{message}", lambda: model.learn_one(x, y))
    batch = ([x, [["new"]], x], [model.predict_one(x), ["new"], y])
    refused(model, f"^sentence [12]: {message}", lambda: model.learn_many(*batch))


def test_a_cost_beyond_float64():
    model = of_cost(lambda truth, predicted: 10**400)
    refused(model, "cost", lambda: model.learn_one([["a"], ["b"]], wrong_tags(model)))


def test_a_cost_of_nonsense_names_the_sentence():
    x, message = [["a"], ["b"]], r"the cost must be a number of 0 or more, not -1.0, of \["
    for place in range(3):
        model = of_cost(lambda truth, predicted: -1.0)
        y = [model.predict_one(x)] * 3  # costs are asked for where something is wrong
        y[place] = wrong_tags(model)
        model.set_params(step="pa2", margin=1e-9)
        refused(model, f"^sentence {place}: {message}", lambda: model.learn_many([x] * 3, y))
        refused(model, f"^{message}", lambda: model.learn_one(x, y[place]))


@pytest.mark.parametrize("cost", [True, 1, np.float32(1.0), np.int8(1), np.bool_(True)], ids=repr)
def test_costs_that_are_numbers(cost):
    given = PASequence(cost=lambda truth, predicted: cost, average=False).learn_many(X * 3, Y * 3)
    plain = PASequence(cost=lambda truth, predicted: 1.0, average=False).learn_many(X * 3, Y * 3)
    assert state(given) == state(plain)


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, KeyboardInterrupt, StopIteration])
def test_costs_that_raise(error):
    def cost(truth, predicted):
        raise error("of my own")

    model = of_cost(cost)
    x, y = [["a"], ["b"]], wrong_tags(model)
    refused(model, "of my own", lambda: model.learn_one(x, y), error)
    refused(model, "of my own", lambda: model.learn_many([x, [["new"]], x], [y, ["new"], y]), error)


def test_a_cost_that_changes_its_arguments():
    seen = []

    def cost(truth, predicted):
        seen.append((list(truth), list(predicted)))
        truth.clear()
        predicted[:] = ["nonsense"] * 50
        return 1.0

    model = PASequence(cost=cost, average=False)
    plain = PASequence(cost=lambda truth, predicted: 1.0, average=False)
    for each in (model, plain):
        each.learn_many(X * 5, Y * 5)
    assert model.state_features_ == plain.state_features_
    assert model.stats_ == plain.stats_
    assert all(len(truth) == len(predicted) and truth != predicted for truth, predicted in seen)
    assert model.classes_ == ["A", "B", "C"]


def test_costs_too_large():
    """A margin, or a sum of costs, that leaves float64 is refused."""
    for cost in (1e308, 1.7e308):
        model = of_cost(lambda truth, predicted, cost=cost: cost)
        y = wrong_tags(model)
        x = [["a"], ["b"]]
        before = state(model)
        try:
            for _ in range(3):
                model.learn_one(x, wrong_tags(model))
                before = state(model)
        except ValueError as error:
            assert "overflow" in str(error) or "infinity" in str(error)  # noqa: PT017
        assert state(model) == before
        SequenceLearner.from_bytes(state(model), cost=lambda truth, predicted: 1.0).learn_one(x, y)


def test_a_sum_of_costs_too_large():
    model = PASequence(cost=lambda truth, predicted: 1e308, margin=1e-10, average=False)
    x = [["a"], ["b"]]
    model.learn_one(x, ["A", "B"])
    assert model.stats_.cost == 1e308
    wrong = [{"A": "B", "B": "A"}[tag] for tag in model.predict_one(x)]
    refused(model, "^the sum of the costs overflows float64", lambda: model.learn_one(x, wrong))
    SequenceLearner.from_bytes(state(model), cost=lambda truth, predicted: 1.0).learn_one(x, wrong)


MATRIX = [[0, 1], [1, 0]]
OPTIONS_THAT_ARE_NONE = {
    "a negative cost": (
        {"cost": [[0, -1], [1, 0]], "classes": ["A", "B"]},
        "cost must be None, a square matrix or a dict",
    ),
    "a cost on the diagonal": ({"cost": [[1, 1], [1, 0]], "classes": ["A", "B"]}, "with 0 on the diagonal"),
    "a cost that is not square": (
        {"cost": [[0, 1, 1], [1, 0, 1]], "classes": ["A", "B"]},
        "cost must be .* a square matrix",
    ),
    "a cost of NaN": ({"cost": [[0, np.nan], [1, 0]], "classes": ["A", "B"]}, "cost must be None"),
    "an infinite cost": ({"cost": [[0, np.inf], [1, 0]], "classes": ["A", "B"]}, "cost must be None"),
    "a cost of text": ({"cost": "hamming"}, "cost must be None"),
    "a number for a cost": ({"cost": 2.0}, "cost must be None"),
    "no cost at all": ({"cost": []}, "cost must be None"),
    "an empty dict": ({"cost": {}}, "cost must be None"),
    "a dict of numbers": ({"cost": {"A": 1.0}}, "cost must be None"),
    "a negative cost in a dict": ({"cost": {"A": {"B": -1.0}}}, "cost must be None"),
    "a diagonal in a dict": ({"cost": {"A": {"A": 1.0, "B": 1.0}}}, "cost must be None"),
    "more costs than classes": (
        {"cost": np.ones((3, 3)) - np.eye(3), "classes": ["A", "B"]},
        "a row and a column for each of the 2 labels",
    ),
    "costs without classes": (
        {"cost": MATRIX},
        r"a cost matrix needs the tags in order: give classes=\[...\]",
    ),
    "a cost of other tags": (
        {"cost": {"A": {"C": 1.0}}, "classes": ["A", "B"]},
        "cost names 'C', which is not one of the labels",
    ),
    "parts of costs with max": (
        {"cost": [[0, 0.5], [1, 0]], "classes": ["A", "B"], "selection": "max"},
        "whole numbers .*: use 'max-additive' or 'prediction'",
    ),
    "huge costs with max": (
        {"cost": [[0, 2**21], [1, 0]], "classes": ["A", "B"], "selection": "max"},
        "whole numbers .*: use 'max-additive'",
    ),
    "a function with max": (
        {"cost": lambda y, z: 1.0, "selection": "max"},
        "goes with selection='prediction'",
    ),
    "a function with max-additive": (
        {"cost": lambda y, z: 1.0, "selection": "max-additive"},
        "goes with selection='prediction'",
    ),
    "an unknown selection": (
        {"selection": "best"},
        "selection must be .*'prediction'.*'max-additive', not 'best'",
    ),
    "a selection for labels": (
        {"selection": "simproj"},
        "not for sequence; there are prediction, max, max-additive",
    ),
    "an unknown step": ({"step": "pa3"}, "step must be 'pa', 'pa1', 'pa2' or .*, not 'pa3'"),
    "cw": ({"step": "cw"}, "use 'pa2' with geometry='diagonal'"),
    "the perceptron with max": ({"step": "perceptron", "selection": "max"}, "use selection='prediction'"),
    "an unknown geometry": ({"geometry": "round"}, "geometry must be .*'diagonal'.*, not 'round'"),
    "a full covariance": ({"geometry": "mahalanobis"}, "use 'euclidean' or 'diagonal'"),
    "a simplex": ({"geometry": "entropy"}, "use 'euclidean' or 'diagonal'"),
    "an unknown update": (
        {"covariance_update": "exact"},
        "covariance_update must be 'precision' or 'drop', not 'exact'",
    ),
    "C of 0": ({"C": 0.0}, "C must be a number greater than 0"),
    "C of NaN": ({"C": float("nan")}, "C must be a number greater than 0"),
    "no margin": ({"margin": 0.0}, "margin must be a finite number greater than 0"),
    "an infinite margin": ({"margin": float("inf")}, "margin must be a finite number greater than 0"),
    "an average from 0": ({"average": 0}, "average must be True, False, or a whole number of 1 or more"),
    "an average of text": ({"average": "yes"}, "average must be True, False"),
    "one class": ({"classes": ["A"]}, "classes must be None or two or more different labels"),
    "the same class twice": ({"classes": ["A", "A"]}, "the labels must be different"),
    "classes of nothing": ({"classes": [None, "A"]}, "a label must be a string, a boolean or a number"),
    "classes of text": ({"classes": "AB"}, "classes must be None or two or more different labels"),
    "no labels": ({"max_labels": 0}, "max_labels must be a whole number from 2"),
    "0 bits": ({"hash_bits": 0}, "hash_bits must be None or a whole number from 1 to 30"),
    "99 bits": ({"hash_bits": 99}, "hash_bits must be None or a whole number from 1 to 30"),
    "more columns than features": ({"hash_bits": 20, "max_features": 1000}, "more than max_features"),
    "no features": ({"max_features": 0}, "max_features must be a whole number from 1"),
    "whole weights": ({"dtype": "int64"}, "dtype must be 'float32' or 'float64'"),
    "a start of 0": ({"initial_variance": 0.0}, "initial_variance must be"),
    "no regularizer": ({"covariance_regularizer": 0.0}, "covariance_regularizer must be"),
    "no passes": ({"max_iter": 0}, "max_iter must be a whole number of 1 or more"),
    "a seed of text": ({"random_state": "x"}, "random_state must be"),
    "shuffled a bit": ({"shuffle": 0.5}, "shuffle must be True or False"),
}


@pytest.mark.parametrize("what", OPTIONS_THAT_ARE_NONE)
def test_options_that_are_none(what):
    options, message = OPTIONS_THAT_ARE_NONE[what]
    model = PASequence(**options)  # as scikit-learn wants it, nothing is checked here
    x, y = [["a"], ["b"]], ["A", "B"]
    for call in (
        lambda: model.fit([x], [y]),
        lambda: model.learn_one(x, y),
        lambda: model.learn_many([x], [y]),
        lambda: model.partial_fit([x], [y], classes=options.get("classes", ["A", "B"])),
        lambda: model.predict_one(x),
    ):
        if call.__code__.co_names[0] == "partial_fit" and what == "costs without classes":
            continue  # now they are given
        with pytest.raises(ValueError, match=message):
            call()
        assert "_learner" not in vars(model)


def test_classes_that_are_not_those_of_the_constructor():
    model = PASequence(classes=["A", "B"])
    for classes in (["A", "C"], ["A"], ["A", "B", "C"]):
        with pytest.raises(ValueError, match="are not those of the constructor"):
            model.partial_fit([[["a"]]], [["A"]], classes=classes)
        assert "_learner" not in vars(model)
    assert model.partial_fit([[["a"]]], [["A"]], classes=["B", "A"]).classes_ == ["A", "B"]


def test_another_cost_for_a_file(tmp_path):
    for options in ({"cost": MATRIX, "classes": ["A", "B"]}, {"cost": {"A": {"B": 1.0}}}, {}):
        PASequence(**options).learn_one([["a"], ["b"]], ["A", "B"]).save(tmp_path / "m")
        with pytest.raises(ModelFileError, match="saved with another cost, which it keeps"):
            PASequence.load(tmp_path / "m", cost=lambda truth, predicted: 1.0)
        assert PASequence.load(tmp_path / "m").classes_ == ["A", "B"]


# ---- beyond all measure ---------------------------------------------------------------------------------------


def test_an_enormous_sentence():
    model = PASequence(average=False).learn_many([[["a"], ["b"], ["c"]]] * 5, [["A", "B", "C"]] * 5)
    x = [["a"], ["b"], ["c"]] * 33_334
    tags = model.predict_one(x)
    assert tags == ["A", "B", "C"] * 33_334
    assert model.score_one(x, tags) == pytest.approx(model.score_one(x))
    model.learn_one(x, tags[::-1])
    assert model.stats_.rounds == 6


@pytest.mark.parametrize("cost", [None, [[0, 2], [3, 0]]])
def test_an_enormous_sentence_for_an_exact_search(cost):
    """Its states are too many: refused, in words, not killed."""
    model = PASequence(selection="max", classes=["A", "B"], cost=cost).learn_one([["a"], ["b"]], ["A", "B"])
    x, y = [["a"], ["new"]] * 15_000, ["B", "A"] * 15_000
    message = (
        "a sentence of 30000 tokens is too long for selection='max' .*; use 'max-additive' or 'prediction'"
    )
    refused(model, f"^{message}", lambda: model.learn_one(x, y))
    refused(model, f"^sentence 1: {message}", lambda: model.learn_many([[["newer"]], x], [["A"], y]))
    assert len(model.predict_one(x)) == 30_000
    model.learn_one(x[:300], y[:300])


def overflowing(options):
    """A model, and a sentence for whose best tags, all of them A, it has no number."""
    margin, value = (1e37, 1e10) if options.get("dtype") == "float32" else (1e153, 1e153)
    model = PASequence(**{**options, "step": "pa", "average": False, "margin": margin})
    names = [f"f{k}" for k in range(100)]
    for tags in (["A", "B"], ["B", "A"], ["A", "A"]):
        model.learn_one([dict.fromkeys(names, 1.0), {}], tags)
    assert model.stats_.updates
    best = model.predict_one([{"f0": 1.0}])
    return model, [dict.fromkeys(names, value if best == ["A"] else -value)] * 2000


@every_kind
def test_scores_that_overflow(options):
    """Every value is fine, and so is every weight, but not what comes together of their products."""
    model, x = overflowing(options)
    for call in (
        lambda: model.predict_one(x),
        lambda: model.score_one(x),
        lambda: model.score_one(x, ["A"] * len(x)),
        lambda: model.explain_one(x),
        lambda: model.learn_one(x, ["A"] * len(x)),
        lambda: model.learn_one(x, ["B"] * len(x)),
    ):
        refused(model, "^the score overflows float64", call)
    short = [{"f0": -1.0}, ["new"]]
    inside = "^sentence 1: the score overflows float64"
    refused(
        model, inside, lambda: model.learn_many([short, x, short], [["B", "A"], ["B"] * len(x), ["A", "new"]])
    )
    refused(model, inside, lambda: model.predict([short, x]))
    assert len(model.predict_one(short)) == 2


# ---- what changes while it is read ----------------------------------------------------------------------------


class Does:
    """A value, or a name, that does something when it is read."""

    def __init__(self, does):
        self.does = does

    def __float__(self):
        self.does()
        return 1.0


@every_kind
@pytest.mark.parametrize("way", ["learn_one", "learn_many", "predict_one", "score_one", "explain_one"])
def test_lists_that_change_while_they_are_read(options, way):
    """Refused, or read as they were; never a crash, never a trace of a refusal."""
    for change in (
        lambda token, sentence, batch, y: token.clear(),
        lambda token, sentence, batch, y: token.update({"another": 1.0}),
        lambda token, sentence, batch, y: (token.pop("b"), token.update(another=1.0)),
        lambda token, sentence, batch, y: sentence.clear(),
        lambda token, sentence, batch, y: sentence.append(["a"]),
        lambda token, sentence, batch, y: sentence.__setitem__(slice(None), [["a"]] * 3),
        lambda token, sentence, batch, y: sentence.__setitem__(2, None),
        lambda token, sentence, batch, y: batch.clear(),
        lambda token, sentence, batch, y: batch.append([["a"]]),
        lambda token, sentence, batch, y: y.clear(),
        lambda token, sentence, batch, y: batch[-1].clear(),
        lambda token, sentence, batch, y: batch[-1].append(["a"]),
    ):
        model = trained(options)
        token, y = {"a": 1.0, "new": 1.0}, ["A", "B", "C"]
        sentence = [["b"], token, ["c" * 50, "d" * 50]]
        batch = [[["a"]], sentence, [["z" * 30]]]
        token["x"] = Does(lambda c=change, t=token, s=sentence, b=batch, y=y: c(t, s, b, y))
        token["b"] = 2.0
        before = state(model)
        call = {
            "learn_one": lambda: model.learn_one(sentence, y),
            "learn_many": lambda: model.learn_many(batch, [["A"], y, ["B"]]),
            "predict_one": lambda: model.predict_one(sentence),
            "score_one": lambda: model.score_one(sentence, y),
            "explain_one": lambda: model.explain_one(sentence, y),
        }[way]
        try:
            call()
        except (ValueError, IndexError, TypeError):
            assert state(model) == before
        SequenceLearner.from_bytes(state(model)).learn_one([["a"]], ["A"])


def test_names_that_do_something():
    """np.int64 and the like stand for their number; an __index__ may do whatever it wants."""

    class Name:
        def __init__(self, does):
            self.does = does

        def __hash__(self):
            return 1

        def __index__(self):
            self.does()
            return 7

    token = {}
    token.update({Name(token.clear): 1.0, "a": 1.0, "b": 1.0})
    model = trained({})
    refused(model, "changed while it was read", lambda: model.learn_one([token], ["A"]))
    model.learn_one([{np.int64(3): 1.0, True: 2.0}], ["A"])
    assert {3, 1} <= set(model.attributes_)


def error_of(code):
    """The error that a piece of code ends with, in a process of its own, which may die of it."""
    start = "from hinge import PASequence\nimport numpy as np, scipy.sparse\n"
    result = subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(code)], capture_output=True, timeout=120, check=False
    )
    assert result.returncode == 1, result
    return result.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("{Name(): 1.0}", "ValueError: no number"),
        (
            "{10**5000: 'text'}",
            "ValueError: token 0: a column number is too large to be the name of a feature",
        ),
    ],
)
def test_names_that_cannot_be_had(token, message):
    code = f"""
        class Name:
            def __hash__(self):
                return 1
            def __index__(self):
                raise ValueError("no number")
        PASequence().learn_one([{token}], ["A"])
        """
    assert error_of(code) == message


def test_sparse_arrays_of_one_dimension():
    code = "PASequence().learn_one(scipy.sparse.coo_array(np.ones(3)), ['A', 'B', 'A'])"
    assert error_of(code).endswith("an array of tokens must have two dimensions, not 1")


@pytest.mark.parametrize(
    "number", [2**63, -(2**63) - 1, 10**400, 10**5000], ids=["2^63", "low", "10^400", "10^5000"]
)
@pytest.mark.parametrize("options", [{}, {"hash_bits": 8}], ids=str)
def test_numbers_beyond_64_bits(number, options):
    """A file would not hold them."""
    model = trained(options)
    name, tag = "token 1: a column number is too large to be the name", "a tag must be|Exceeds the limit"
    refused_everywhere(model, [["a"], {number: 1.0}], ["A", "B"], name)
    refused(model, tag, lambda: model.learn_one([["a"]], [number]))
    refused(model, tag, lambda: model.fit([[["a"]]] * 2, [["A"], [number]]))


def test_numbers_of_64_bits():
    numbers = [2**63 - 1, -(2**63)]
    model = PASequence().learn_one([{number: 1.0} for number in numbers], numbers)
    again = SequenceLearner.from_bytes(state(model))
    assert again.labels.known == again.feature_names == model.classes_ == model.attributes_ == numbers


@bug(
    "a whole number of more than 4300 digits as a tag: the error is that it cannot be shown, and names no sentence"
)
def test_a_tag_that_cannot_be_shown():
    model = trained({})
    refused(model, "^sentence 1: a tag must be", lambda: model.learn_many(X[:2], [["A", "B"], [10**5000]]))


class Tags(str, enum.Enum):  # noqa: UP042 (as others have them)
    NOUN = "A"
    VERB = "B"


def test_tags_of_an_enumeration_are_strings():
    model = PASequence().learn_many([[["a"], ["b"]]] * 2, [[Tags.NOUN, Tags.VERB], [Tags.VERB, Tags.NOUN]])
    plain = PASequence().learn_many([[["a"], ["b"]]] * 2, [["A", "B"], ["B", "A"]])
    assert state(model) == state(plain)
    assert {type(tag) for tag in model.classes_} == {str}
    assert PASequence().fit([[["a"], ["b"]]], [list(Tags)]).classes_ == ["A", "B"]


@pytest.mark.parametrize("name", ["covariance_", "confidence_one", "confidence"])
def test_what_is_not_for_sequences(name):
    for model in (trained({"geometry": "diagonal"}), PASequence()):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=f"PASequence has no {name}"):
            getattr(model, name)


@every_kind
def test_named_weights(options):
    model = trained(options)
    named = model.named_weights()
    assert list(named) == model.classes_
    flat = {(feature, tag): weight for tag, its in named.items() for feature, weight in its.items()}
    assert flat == model.state_features_
    assert flat
    with pytest.raises(NotFittedError):
        PASequence(**options).named_weights()


# ---- the engine, called as no one should call it --------------------------------------------------------------


def engine(**options):
    given = {
        "step": "pa1", "C": 1.0, "margin": 1.0, "selection": "prediction", "cost": None, "labels": ["A", "B"],
        "single": False, "average_from": 1, "geometry": "euclidean", "regularizer": 1.0, "variance": 1.0, "drop": False,
        "hash_bits": 0, "max_features": 100,
    }  # fmt: skip
    return SequenceEngine(**{**given, **options})


def whole(*values):
    return np.array(values, dtype=np.int64)


def learn(e, sentences, tags, known=None, labels=("A", "B"), **more):
    e.learn(sentences, tags, whole(*[2] * len(sentences)) if known is None else known, list(labels), **more)


CALLS = {  # and what is said
    "a tag out of range": (lambda e, s: learn(e, s, whole(0, 9)), "tag 9 of 2"),
    "a tag of those to come": (lambda e, s: learn(e, s, whole(0, 2), labels="ABC"), "tag 2 of 2"),
    "a negative tag": (lambda e, s: learn(e, s, whole(0, -1)), "a tag is out of range"),
    "a tag of 2^40": (lambda e, s: learn(e, s, whole(0, 2**40)), "a tag is out of range"),
    "too few tags": (lambda e, s: learn(e, s, whole(0)), "there are 1 tags for 2 tokens"),
    "too many tags": (lambda e, s: learn(e, s, whole(0, 1, 1)), "there are 3 tags for 2 tokens"),
    "tags of text": (lambda e, s: learn(e, s, "ab"), "incompatible function arguments"),
    "fewer tags than before": (lambda e, s: learn(e, s, whole(0, 1), known=whole(1)), "number of tags is out of range"),
    "more tags than labels": (lambda e, s: learn(e, s, whole(0, 1), known=whole(3)), "more tags than labels"),
    "too many tags to come": (lambda e, s: learn(e, s, whole(0, 1), known=whole(2**40)), "more tags than labels"),
    "less than no tag": (lambda e, s: learn(e, s, whole(0, 1), known=whole(-1)), "more tags than labels"),
    "two numbers of tags": (lambda e, s: learn(e, s, whole(0, 1), known=whole(2, 2)), "there must be one"),
    "fewer labels than tags": (lambda e, s: learn(e, s, whole(0, 1), labels="A"), "more tags than labels"),
    "fewer labels, and nothing to learn": (lambda e, s: learn(e, [], whole(), labels="A"), "more tags than labels"),
    "labels that are no list": (
        lambda e, s: e.learn(s, whole(0, 1), whole(2), "AB"), "incompatible function arguments"
    ),
    "too many weights": (lambda e, s: learn(e, s, whole(0, 1), weights=np.ones(2)), "one weight for each sentence"),
    "no list": (lambda e, s: learn(e, "ab", whole(0, 1)), "incompatible function arguments"),
    "a sentence that is none": (lambda e, s: learn(e, [5], whole(0)), ""),
    "an order of sentences that are not there": (
        lambda e, s: e.learn_read(e.read(s), whole(0, 1), order=whole(1)), "order names sentence 1 of 1"
    ),
    "a negative order": (
        lambda e, s: e.learn_read(e.read(s), whole(0, 1), order=whole(-1)), "order names sentence -1 of 1"
    ),
    "what another engine has read": (
        lambda e, s: e.learn_read(engine().read([[[f"f{k}" for k in range(50)]]]), whole(1)), ""
    ),
    "weights of other sentences": (lambda e, s: e.read(s, np.ones(2)), "one weight for each sentence"),
    "a cost that is no function": (lambda e, s: learn(e, s * 2, whole(0, 1, 1, 0), cost=5), "not callable"),
    "a cost of text": (lambda e, s: learn(e, s * 2, whole(0, 1, 1, 0), cost=lambda i, y, z: "x"), ""),
    "a score of tags that are not there": (lambda e, s: e.score(s, whole(0, 5), False), "there is no tag 5"),
    "a score of fewer tags": (lambda e, s: e.score(s, whole(0), False), "there are 1 tags for 2 tokens"),
    "a score of two": (lambda e, s: e.score(s * 2, None, False), "the sentence is empty"),
    "a token that is none": (lambda e, s: e.look_up(5, False), "a token must be a list of strings"),
    "names twice": (lambda e, s: e.name_columns(["x", "x"]), "occurs twice"),
    "a name that is there": (lambda e, s: e.name_columns(["a"]), "occurs twice"),
    "names that are none": (lambda e, s: e.name_columns(["x", None]), ""),
    "another step": (lambda e, s: e.change_rule("pa9", 1.0, 1.0), "pa9"),
    "a tag given up": (lambda e, s: e.set_labels(["A"]), "a tag cannot be given up"),
}  # fmt: skip


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize(
    "options", [{}, {"geometry": "diagonal", "single": True, "selection": "max"}], ids=str
)
def test_the_engine_called_badly(what, options):
    sentences = [[["a"], ["b", "c"]]]
    e = engine(**options)
    for tags in (whole(0, 1), whole(1, 0)):
        learn(e, sentences, tags)

    def everything():
        state, names = e.state()
        return (
            {k: v.tobytes() for k, v in state.items()},
            names,
            e.statistics(),
            e.n_columns,
            e.n_tags,
            e.labels(),
        )

    before, (call, message) = everything(), CALLS[what]
    with pytest.raises((ValueError, TypeError, RuntimeError), match=message or None):
        call(e, sentences)
    assert everything() == before
    learn(e, sentences, whole(1, 1))


def test_the_labels_of_the_engine():
    e = engine(labels=[])
    assert e.tag([[["a"], []], []], False) == [[None, None], []]
    e.set_labels(["A", "B"])
    asked = []

    def cost(row, truth, predicted):
        asked.append((row, truth, predicted))
        return 1.0

    sentences, tags = [[["a"]], [["b"]], [["a"]]], whole(0, 1, 2)
    e.learn(sentences, tags, whole(2, 2, 3), ["A", "B", "C"], None, cost)
    assert [row for row, truth, predicted in asked] == [1, 2]
    assert [truth for row, truth, predicted in asked] == [[1], [2]]
    assert e.labels() == ["A", "B", "C"]
    e.labels().clear()  # a copy
    assert {tag for tags in e.tag(sentences, False) for tag in tags} <= set(e.labels()) == {"A", "B", "C"}
    assert {name for name, tag, weight in e.emissions(False)} == {"a", "b"}
    assert {tag for name, tag, weight in e.emissions(False)} <= set("ABC")
    assert {before for before, after, weight in e.transitions(False)} == {None}
    e.check_free()


def test_the_engine_made_badly():
    for options in (
        {"step": "pa9"},
        {"selection": "best"},
        {"cost": np.zeros(3)},
        {"cost": np.array([0, 0.5, 1, 0]), "selection": "max"},
        {"labels": 2},
        {"labels": "AB"},
    ):
        with pytest.raises((ValueError, TypeError)):
            engine(**options)


# ---- anything at all ------------------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=4),
    st.sampled_from(["a", "b", "A", "B"]),
    st.binary(max_size=3),
    st.just(b""),
    st.complex_numbers(max_magnitude=3),
    st.sampled_from(
        [np.float32(1.5), np.str_("a"), np.int64(3), np.bool_(True), decimal.Decimal(2), object, 10**400]
    ),
)
hashable = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.sampled_from("abAB")
)


def nested(inner):
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashable, inner, max_size=3),
        st.sets(hashable, max_size=3),
    )


# Not st.recursive, which warns when it happens to draw nothing nested. Three levels make a batch.
junk = st.one_of(scalars, nested(st.one_of(scalars, nested(st.one_of(scalars, nested(scalars))))))
token = st.one_of(
    st.lists(st.text(max_size=3), max_size=3), st.dictionaries(st.text(max_size=2), scalars, max_size=3), junk
)
sentence = st.one_of(st.lists(token, max_size=4), junk)
tags = st.one_of(st.lists(st.one_of(st.sampled_from("ABC"), scalars), max_size=4), junk)
batches = st.integers(0, 3).flatmap(
    lambda n: st.tuples(st.lists(sentence, min_size=n, max_size=n), st.lists(tags, min_size=n, max_size=n))
)
plausible = st.one_of(batches, st.tuples(junk, junk))
weights = st.one_of(st.none(), st.lists(st.floats(), max_size=4), junk)
anything = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
MODELS = {str(options): trained(options) for options in OPTIONS}
START = {what: state(model) for what, model in MODELS.items()}


@pytest.mark.parametrize("what", MODELS)
@anything
@given(batch=plausible, weights=weights)
def test_any_batch_is_learned_or_refused(what, batch, weights):
    """In the second case without a trace; in the first it can be saved, read and used."""
    learner = SequenceLearner.from_bytes(START[what])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learner.learn_many(*batch, weights)
        except (ValueError, TypeError):
            assert learner.to_bytes() == START[what]
            return
    again = SequenceLearner.from_bytes(learner.to_bytes())
    assert again.to_bytes() == learner.to_bytes()
    assert again.predict_many(X) == learner.predict_many(X)


@pytest.mark.parametrize("what", MODELS)
@anything
@given(x=sentence, y=tags)
def test_any_sentence_is_tagged_or_refused(what, x, y):
    model = MODELS[what]
    for call in (
        lambda: model.predict_one(x),
        lambda: model.score_one(x, y),
        lambda: model.explain_one(x, y),
        lambda: model.predict(x),
        lambda: model.score(x, y),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(ValueError, TypeError):
                call()
    assert state(model) == START[what]
    assert set(model.predict_one(X[0])) <= set(model.classes_)


@anything
@given(batch=plausible, weights=weights)
def test_anything_is_fitted_or_refused(batch, weights):
    model = PASequence(max_iter=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(*batch, weights)
        except (ValueError, TypeError):
            assert "_learner" not in vars(model)
            return
    again = SequenceLearner.from_bytes(state(model))
    assert again.labels.known == model.classes_


OF_ARRAYS = {str(options): of_arrays(options) for options in OPTIONS if "hash_bits" not in options}
views = st.sampled_from(
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::-1],
        lambda a: a[..., ::-2],
        lambda a: a[1:],
        np.asfortranarray,
    ]
)
dtypes = st.one_of(
    arrays_of.scalar_dtypes(),
    arrays_of.unicode_string_dtypes(max_len=2),
    arrays_of.nested_dtypes(max_itemsize=64),
)
arrays = st.one_of(
    arrays_of.arrays(
        st.sampled_from([np.float64, np.float32, np.int8]), st.tuples(st.integers(0, 4), st.integers(0, 5))
    ),
    arrays_of.arrays(dtypes, arrays_of.array_shapes(min_dims=0, max_side=3)),
)
ints = st.one_of(st.integers(-2, 6), st.sampled_from([2**31, -(2**31), 2**62]))
matrices = st.builds(
    csr,
    st.lists(st.floats(), max_size=5).map(np.array),
    st.lists(ints, max_size=5).map(lambda v: np.array(v, dtype=np.int64)),
    st.lists(ints, max_size=5).map(lambda v: np.array(v, dtype=np.int64)),
    st.tuples(st.integers(0, 3), st.integers(0, 6)),
)


@pytest.mark.parametrize("what", OF_ARRAYS)
@anything
@given(x=st.one_of(st.builds(lambda view, a: view(a) if a.ndim else a, views, arrays), matrices), length=ints)
def test_any_array_is_learned_or_refused(what, x, length):
    learner = SequenceLearner.from_bytes(state(OF_ARRAYS[what]))
    before = learner.to_bytes()
    length = (
        length if 0 <= length < 7 else len(x.indptr) - 1 if hasattr(x, "indptr") else len(np.atleast_1d(x))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert len(learner.predict_one(x)) in (len(getattr(x, "indptr", ())) - 1, x.shape[0])
        except (ValueError, TypeError):
            assert learner.to_bytes() == before
        try:
            learner.learn_many([np.ones((1, 3)), x], [["new"], ["A"] * length])
        except (ValueError, TypeError):
            assert learner.to_bytes() == before
            return
    again = SequenceLearner.from_bytes(learner.to_bytes())
    assert again.predict_one(np.ones((2, 3))) == learner.predict_one(np.ones((2, 3)))
