"""Invalid sentences: tokens, features, names, values, arrays. An error says where, and the model is as it was."""

from __future__ import annotations

import decimal

import numpy as np
import pytest
import scipy.sparse

from hinge import PASequence
from hinge.structured.sequence_learner import SequenceLearner
from rejection import BOTH, INF, NAN, Raises, rejects
from rejection_sentences import (
    both,
    csr,
    empty,
    every_kind,
    every_unhashed,
    of_arrays,
    rejected_everywhere,
    state,
    trained,
)

# ---- tokens and their features -------------------------------------------------------------------------------------

NOT_TOKENS = [
    "word", None, 5, 1.5, {"a"}, frozenset("a"), b"a", np.ones(3), np.array(["a", "b"]), (c for c in "ab"), object(),
]  # fmt: skip
FEATURES = [
    (5, "feature 1 is 5, not a string"),
    (NAN, "feature 1 is nan, not a string"),
    (None, "feature 1 is None, not a string"),
    (b"x", "feature 1 is b'x', not a string"),
    (["x"], r"feature 1 is \['x'\], not a string"),
    (("x", 1.0), r"feature 1 is \('x', 1.0\), not a string"),
]
VALUES = [
    (NAN, "the value is NaN"),
    (INF, "the value is infinity"),
    (-INF, "the value is infinity"),
    (np.float32("nan"), "the value is NaN"),
    (decimal.Decimal("nan"), "the value is NaN"),
    ({1.0}, r"\{1.0\} is not a number"),
    (b"1", "b'1' is not a number"),
    (1j, "1j is not a number"),
    (10**400, "the value is too large for float64"),
    (Raises(KeyError("k")), "the value cannot be read: KeyError"),
]
TOO_LARGE = ({"new": 1e200}, {"a": -1e308, "b": 1.0}, {f"f{k}": 1e154 for k in range(300)})


@every_kind
def test_invalid_token_is_rejected(options):
    message = "token 1: a token must be a list of strings or a dict of features, not "
    for model in both(options):
        for token in NOT_TOKENS:
            rejected_everywhere(model, [["a"], token, ["new"]], ["A", "B", "C"], message)
    rejects(trained({}), "^token 1: a token must be").explain_one([["a"], "b"], ["A", "B"])


@every_kind
def test_invalid_feature_is_rejected(options):
    for model in both(options):
        for feature, message in FEATURES:
            for token in (["new", feature, "newer"], ("new", feature)):
                rejected_everywhere(model, [["new"], token], ["A", "B"], f"token 1: {message}")


@every_kind
def test_invalid_name_is_rejected(options):
    message = "token 1: the name of a feature must be a string"
    for model in both(options):
        for name in (None, 1.5, ("x", 1), b"x", NAN):
            rejected_everywhere(model, [["new"], {"newer": 1.0, name: 1.0}], ["A", "B"], message)


@every_kind
def test_invalid_value_is_rejected(options):
    for model in both(options):
        for value, message in VALUES:
            x = [["new"], {"a": 1.0, "newer": 1.0, "x": value}]
            rejected_everywhere(model, x, ["A", "B"], f"token 1: {message}", column="feature 'x'")


@every_kind
def test_values_whose_squares_overflow_are_rejected(options):
    message = "token 1: the values are too large: the sum of their squares overflows"
    for model in both(options):
        for token in TOO_LARGE:
            rejected_everywhere(model, [["new"], token], ["A", "B"], message)


def test_hashed_name_that_is_not_text_is_rejected():
    message = "token 1: the name '.*ud800' cannot be hashed: surrogates are not text"
    for model in both({"hash_bits": 8}):
        for token in (["\ud800"], {"\ud800": 1.0}, {"a": "\ud800"}):
            rejected_everywhere(model, [["a"], token], ["A", "B"], message)


@pytest.mark.parametrize(
    "number", [2**63, -(2**63) - 1, 10**400, 10**5000], ids=["2^63", "low", "10^400", "10^5000"]
)
@pytest.mark.parametrize("options", [{}, {"hash_bits": 8}], ids=str)
def test_number_beyond_64_bits_is_rejected_as_a_name_and_as_a_tag(number, options):
    """A file would not hold it."""
    model = trained(options)
    message = "token 1: a column number is too large to be the name"
    rejected_everywhere(model, [["a"], {number: 1.0}], ["A", "B"], message)
    error = rejects(model, "a tag must be|Exceeds the limit")
    error.learn_one([["a"]], [number])
    error.fit([[["a"]]] * 2, [["A"], [number]])


def test_numbers_of_64_bits_are_names_and_tags():
    numbers = [2**63 - 1, -(2**63)]
    model = PASequence().learn_one([{number: 1.0} for number in numbers], numbers)
    again = SequenceLearner.from_bytes(state(model))
    assert again.labels.known == again.feature_names == model.classes_ == model.attributes_ == numbers


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_are_raised_unchanged(error):
    x, raised = [["new"], {"x": Raises(error())}], rejects(trained({}), error=error)
    raised.learn_one(x, ["A", "B"])
    raised.predict_one(x)


# ---- arrays --------------------------------------------------------------------------------------------------------

SENTENCE = "a sentence must be a list of tokens, or an array .*, not "
SENTENCES = [
    (np.ones(3), "an array of tokens must have two dimensions, not 1"),
    (np.array(1.0), "an array of tokens must have two dimensions, not 0"),
    (np.ones((2, 3, 4)), "an array of tokens must have two dimensions, not 3"),
    (np.ones((2, 3), dtype=object), "an array of tokens must hold numbers, not object"),
    (np.ones((2, 3), dtype=complex), "an array of tokens must hold numbers, not complex128"),
    (np.array([["a", "b"]]), "an array of tokens must hold numbers, not <U1"),
    (np.zeros((2, 3), dtype="M8[s]"), "an array of tokens must hold numbers, not datetime64"),
    ("ab", "a sentence must be a list of tokens, or an array with one row per token, not str"),
    (b"ab", "a sentence must be a list of tokens, or an array with one row per token, not bytes"),
    ({"a": 1.0}, f"{SENTENCE}dict"),
    ({"a"}, f"{SENTENCE}set"),
    (None, f"{SENTENCE}NoneType"),
    (5, f"{SENTENCE}int"),
    ((t for t in [["a"]]), f"{SENTENCE}generator"),
]


@every_kind
def test_invalid_sentence_is_rejected(options):
    for model in both(options):
        for sentence, message in SENTENCES:
            rejected_everywhere(model, sentence, ["A", "B"], message)


@every_unhashed
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_invalid_value_of_an_array_is_rejected_with_its_column(options, dtype):
    values = [(NAN, "the value is NaN"), (INF, "the value is infinity"), (-INF, "the value is infinity")]
    if dtype == np.float64:
        values.append((1e200, "the value is too large: its square overflows float64"))
    tags = ["A", "B", "new"]
    for value, message in values:
        x = np.ones((3, 3), dtype=dtype)
        x[1, 2] = value
        for sentence in (x, np.asfortranarray(x), scipy.sparse.csr_matrix(x), x[::-1].copy()[::-1]):
            for model in (of_arrays(options), empty(options)):
                alone = rejects(model, f"^column 2: token 1: {message}")
                inside = rejects(model, f"^row 1, column 2: token 1: {message}")
                alone.learn_one(sentence, tags, 1.0)
                alone.learn_one(sentence, tags, 0.0)
                alone.score_one(sentence)
                inside.learn_many([np.ones((1, 3)), sentence], [["A"], tags])
                inside.predict([np.ones((1, 3)), sentence])


THREE = [1.0, 2.0, 3.0]
BROKEN = [
    (csr(THREE, [0, 9, 2], [0, 1, 2, 3]), "token 1: column index 9 is outside of the 4 columns"),
    (csr(THREE, [0, -1, 2], [0, 1, 2, 3]), "token 1: column index .* is outside of the 4 columns"),
    (csr(THREE, [0, 1, 2], [0, 2, 1, 3]), "indptr is broken"),
    (csr(THREE, [0, 1, 2], [0, 1, 2, 9]), "indptr is broken"),
    (csr(THREE, [0, 1, 2], [-1, 1, 2, 3]), "indptr is broken"),
    (csr(THREE, [0, 1, 2], np.array([0, 1, 2, 2**62])), "indptr is broken"),
    (csr(THREE, [0, 1, 2], np.zeros(0, dtype=np.int32)), "indptr has 0 entries for 3 rows"),
    (csr(THREE, [0], [0, 1, 2, 3]), "indptr is broken"),
    (csr([1.0], [0, 1, 2], [0, 1, 2, 3]), "indptr is broken"),
]
TYPES = "the indices and indptr of a CSR matrix must be int32 or int64"
FLAT = "the arrays of a CSR matrix must be one-dimensional and contiguous"
MISFITS = [
    (csr(THREE, [0.0, 1.0, 2.0], [0, 1, 2, 3]), TYPES),
    (csr(THREE, np.array([0, 1, 2], dtype=np.int8), [0, 1, 2, 3]), TYPES),
    (csr(THREE, [0, 1, 2], [0.0, 1.0, 2.0, 3.0]), TYPES),
    (csr(THREE, [0, 1, 2], [0, 1]), "indptr has 2 entries for 3 rows"),
    (csr(THREE, [0, 1, 2], [0, 1, 2, 3, 3]), "indptr has 5 entries for 3 rows"),
    (csr(np.ones((3, 1)), [0, 1, 2], [0, 1, 2, 3]), FLAT),
    (csr(np.ones(6)[::2], [0, 1, 2], [0, 1, 2, 3]), FLAT),
]


@every_unhashed
def test_broken_csr_is_rejected(options):
    for model in (of_arrays(options, 4), empty(options)):
        for sentence, message in BROKEN:
            rejects(model, f"^{message}").learn_one(sentence, ["A", "B", "new"])
            rejects(model, f"^{message}").predict_one(sentence)
            batch = [np.ones((1, 4)), sentence, np.ones((1, 4))]
            rejects(model, f"^row 1: {message}").learn_many(batch, [["A"], ["B"] * 3, ["A"]])
        for sentence, message in MISFITS:
            rejects(model, f"^(row 0: )?{message}", BOTH).learn_one(sentence, ["A", "B", "new"])
            batch = [np.ones((1, 4)), sentence]
            rejects(model, f"^row 1: {message}", BOTH).learn_many(batch, [["A"], ["B"] * 3])


def test_complex_sparse_matrix_is_rejected():
    x = scipy.sparse.csr_matrix([[1 + 2j]])
    rejects(empty({}), "must hold numbers, not complex128").learn_one(x, ["A"])


@every_unhashed
@pytest.mark.parametrize("make", [np.ones, lambda shape: scipy.sparse.csr_matrix(np.ones(shape))])
def test_another_width_is_rejected(options, make):
    message = "the array has 3 columns, the model has 4 features"
    model, wide, narrow = of_arrays(options, 4), make((2, 4)), make((2, 3))
    alone, inside = rejects(model, f"^{message}"), rejects(model, f"^row 1: {message}")
    for weight in (1.0, 0.0):
        alone.learn_one(narrow, ["A", "new"], weight)
        for each in (model, empty(options)):
            batch = [wide, narrow], [["A", "new"]] * 2, [1.0, weight]
            rejects(each, f"^row 1: {message}").learn_many(*batch)
    alone.predict_one(narrow)
    alone.score_one(narrow)
    alone.score_one(narrow, ["A", "B"])
    alone.explain_one(narrow)
    inside.predict([wide, narrow])
    inside.fit([wide, narrow], [["A", "B"]] * 2)
    rejects(model, "^the array has 5 columns, the model has 4 features").learn_one(make((1, 5)), ["A"])


def test_arrays_that_are_not_aligned_are_read():
    record = np.zeros(3, dtype=[("a", "f8", (2,)), ("b", "i1")])
    record["a"] = 1.0
    shifted = np.frombuffer(b"\0" + np.ones((3, 2)).tobytes(), dtype=np.uint8)[1:].view(np.float64)
    for x in (record["a"], shifted.reshape(3, 2)):
        model = empty({}).learn_one(x, ["A", "B", "A"])
        assert state(model) == state(empty({}).learn_one(np.ones((3, 2)), ["A", "B", "A"]))


# ---- names and arrays ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [np.asarray, scipy.sparse.csr_matrix])
def test_names_and_arrays_do_not_mix(make):
    x, named, hashed = make(np.ones((1, 3))), trained({}), trained({"hash_bits": 8})
    for model, message in (
        (named, "the features of this model have names: give lists or dicts of features"),
        (hashed, r"arrays cannot be hashed \(hash_bits\)"),
    ):
        rejects(model, f"^{message}").learn_one(x, ["A"])
        rejects(model, f"^{message}").predict_one(x)
    error = "^row 1: the features of this model have names"
    rejects(named, f"{error}: give lists or dicts of features").learn_many([[["a"]], x], [["A"], ["B"]])
    rejects(empty({}), error).learn_many([[["a"]], x], [["A"], ["B"]])


@pytest.mark.parametrize("options", [{}, {"hash_bits": 8}], ids=str)
@pytest.mark.parametrize("tags", [["A"], None])
def test_arrays_are_not_explained_where_they_are_not_scored(options, tags):
    rejects(trained(options), "give lists or dicts").explain_one(np.ones((1, 3)), tags)


def of_first_token(first):
    return PASequence(step="pa", average=False).learn_many([[first, {}]] * 2, [["A", "B"], ["B", "A"]])


@pytest.mark.parametrize(
    "first",
    [{5: 1.0}, {1: 1.0, 0: 3.0}, {0: 1.0, "x": 3.0}, {"0": 1.0}, {-1: 1.0}, {0: 1.0, 2: 1.0}],
    ids=str,
)
def test_names_that_are_not_the_columns_of_arrays_reject_arrays(first):
    x = np.ones((1, len(first)))
    error = rejects(of_first_token(first), "^the features of this model have names: give lists or dicts")
    error.score_one(x, ["A"])
    error.predict_one(x)
    error.learn_one(x, ["A"])


def test_numbered_names_in_their_order_are_the_columns_of_arrays():
    model = of_first_token({0: 1.0, 1: 3.0})
    assert model.score_one(np.array([[1.0, 2.0]]), ["A"]) == model.score_one([{0: 1.0, 1: 2.0}], ["A"]) != 0


def test_model_of_arrays_and_names_can_be_loaded():
    """A dict may name a column that arrays would have: then there are no more arrays."""
    model = PASequence().learn_one(np.ones((1, 1)), ["A"]).learn_one([{3: 1.0}], ["A"])
    for width in (1, 2, 4):
        rejects(model, "have names").learn_one(np.ones((1, width)), ["B"])
    assert model.attributes_ == [0, 3]
    assert SequenceLearner.from_bytes(state(model)).to_bytes() == state(model)
