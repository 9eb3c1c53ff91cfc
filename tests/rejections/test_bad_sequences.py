"""Bad sentences: an error that says where, and the model is what it was, to the byte."""

# ruff: noqa: B023 (every lambda is called at once)

from __future__ import annotations

import decimal

import numpy as np
import pytest
import scipy.sparse

from bad_sequences import (
    UNHASHED,
    csr,
    empty,
    every_kind,
    of_arrays,
    refused,
    refused_everywhere,
    state,
    trained,
)
from hinge import PASequence
from hinge.structured.sequence_learner import SequenceLearner

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
    "a set": ({1.0}, r"\{1.0\} is not a number"),
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
        refused_everywhere(model, x, ["A", "B"], f"token 1: {message}", column="feature 'x'")


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
            message = "token 1: the name '.*ud800' cannot be hashed: surrogates are not text"
            refused_everywhere(model, [["a"], token], ["A", "B"], message)


@UNHASHED
@pytest.mark.parametrize("single", [False, True])
def test_numbers_that_are_none_in_arrays(options, single):
    for value, message in (
        (np.nan, "token 1: the value is NaN"),
        (np.inf, "token 1: the value is infinity"),
        (-np.inf, "token 1: the value is infinity"),
        *(() if single else ((1e200, "token 1: the value is too large: its square overflows float64"),)),
    ):
        x = np.ones((3, 3), dtype=np.float32 if single else np.float64)
        x[1, 2] = value
        model = of_arrays(options)
        fresh = empty(options)
        for sentence in (x, np.asfortranarray(x), scipy.sparse.csr_matrix(x), x[::-1].copy()[::-1]):
            for each in (model, fresh):
                for weight in (1.0, 0.0):
                    refused(
                        each,
                        f"^column 2: {message}",
                        lambda s=sentence, m=each, w=weight: m.learn_one(s, ["A", "B", "new"], w),
                    )
                batch = [np.ones((1, 3)), sentence]
                y = [["A"], ["A", "B", "new"]]
                inside = f"^row 1, column 2: {message}"
                refused(each, inside, lambda b=batch, m=each, y=y: m.learn_many(b, y))
                refused(each, inside, lambda b=batch, m=each: m.predict(b))
                refused(each, f"^column 2: {message}", lambda s=sentence, m=each: m.score_one(s))


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
    "no starts": (csr(THREE, [0, 1, 2], np.zeros(0, dtype=np.int32)), "indptr has 0 entries for 3 rows"),
    "fewer indices": (csr(THREE, [0], [0, 1, 2, 3]), "indptr is broken"),
    "fewer values": (csr([1.0], [0, 1, 2], [0, 1, 2, 3]), "indptr is broken"),
}
KINDS_OF_INDICES = "the indices and indptr of a CSR matrix must be int32 or int64"
FLAT = "the arrays of a CSR matrix must be one-dimensional and contiguous"
MISFITS = {
    "real indices": (csr(THREE, [0.0, 1.0, 2.0], [0, 1, 2, 3]), KINDS_OF_INDICES),
    "short indices": (csr(THREE, np.array([0, 1, 2], dtype=np.int8), [0, 1, 2, 3]), KINDS_OF_INDICES),
    "real starts": (csr(THREE, [0, 1, 2], [0.0, 1.0, 2.0, 3.0]), KINDS_OF_INDICES),
    "fewer starts": (csr(THREE, [0, 1, 2], [0, 1]), "indptr has 2 entries for 3 rows"),
    "more starts": (csr(THREE, [0, 1, 2], [0, 1, 2, 3, 3]), "indptr has 5 entries for 3 rows"),
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
            f"^row 1: {message}",
            lambda m=model, b=batch: m.learn_many(b, [["A"], ["B"] * 3, ["A"]]),
        )
        refused(model, f"^{message}", lambda m=model: m.predict_one(sentence))


def misfit(sentence, message, options, where=""):
    for model in (of_arrays(options, 4), empty(options)):
        both = (ValueError, TypeError)
        alone = f"^(row 0: )?{message}"
        refused(model, alone, lambda m=model: m.learn_one(sentence, ["A", "B", "new"]), both)
        batch = [np.ones((1, 4)), sentence]
        refused(
            model, f"^{where}{message}", lambda m=model, b=batch: m.learn_many(b, [["A"], ["B"] * 3]), both
        )


@pytest.mark.parametrize("what", MISFITS)
@UNHASHED
def test_csr_matrices_that_do_not_fit(what, options):
    misfit(*MISFITS[what], options, "row 1: ")


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
                refused(m, f"^row 1: {message}", call)
        for call in (model.predict_one, model.score_one, model.explain_one):
            refused(model, f"^{message}", lambda call=call: call(narrow))
        refused(model, f"^{message}", lambda: model.score_one(narrow, ["A", "B"]))
        refused(model, f"^row 1: {message}", lambda: model.predict([wide, narrow]))
        refused(model, f"^row 1: {message}", lambda: model.fit([wide, narrow], [["A", "B"]] * 2))
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
        refused(named, f"^row 1: {message}", lambda x=x: named.learn_many([[["a"]], x], [["A"], ["B"]]))
        message = r"arrays cannot be hashed \(hash_bits\)"
        refused(hashed, f"^{message}", lambda x=x: hashed.learn_one(x, ["A"]))
        refused(hashed, f"^{message}", lambda x=x: hashed.predict_one(x))
        fresh, message = empty({}), "row 1: the features of this model have names"
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
