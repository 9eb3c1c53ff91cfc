"""Invalid lists of sentences and tags, tags, lengths, and weights of sentences."""

from __future__ import annotations

import enum

import numpy as np
import scipy.sparse

from hinge import PASequence
from rejection import BOTH, INF, NAN, rejects
from rejection_sentences import X, Y, both, every_kind, state, trained

PAIR = [["new"], ["newer"]]
NOT_LISTS_OF_SENTENCES = [
    "ab", b"ab", {"a": 1.0}, None, 5, (s for s in X), iter(X), np.array(5.0), np.ones(3), np.ones((2, 3)),
    ["ab", "cd"], [1, 2],
]  # fmt: skip
NOT_LISTS_OF_TAGS = ["AB", b"AB", None, 5, {0: ["A"], 1: ["B"]}, (tags for tags in Y), np.array("A")]
NOT_TAGS_OF_A_SENTENCE = ["AB", b"AB", None, 5, {"A": 1, "B": 2}, {"A", "B"}, (tag for tag in "AB")]
NOT_TAGS = [
    None, NAN, np.float32("nan"), ["A"], ("A",), {}, {"A"}, b"A", 1j, object(), str, np.array(["A"]),
    np.datetime64("NaT"),
]  # fmt: skip


@every_kind
def test_what_is_not_a_list_of_sentences_is_rejected(options):
    for model in both(options):
        error = rejects(model, error=BOTH)
        for x in NOT_LISTS_OF_SENTENCES:
            error.learn_many(x, Y[:2])
            error.learn_many(x, Y[:2], [1.0, 1.0])
            error.predict(x)
            error.fit(x, Y[:2])
            error.partial_fit(x, Y[:2])
            error.score(x, Y[:2])
            rejects(PASequence(**options), error=BOTH).fit(x, Y[:2])
    rejects(trained({}), "must be a list").learn_many({(("a",),), (("b",),)}, [["A"], ["B"]])


@every_kind
def test_what_is_not_a_list_of_tags_is_rejected(options):
    for model in both(options):
        error = rejects(model, error=BOTH)
        for y in NOT_LISTS_OF_TAGS:
            error.learn_many(X[:2], y)
            error.partial_fit(X[:2], y, classes=model.classes_)
            error.fit(X[:2], y)
            if not isinstance(y, np.ndarray):
                rejects(model, "^y must be a list with the tags of each sentence").learn_many(X[:2], y)


@every_kind
def test_tags_that_are_not_a_list_are_rejected(options):
    message = "there must be a list of tags, one for each token, not "
    for model in both(options):
        alone, inside = rejects(model, f"^{message}"), rejects(model, f"^row 1: {message}")
        for tags in NOT_TAGS_OF_A_SENTENCE:
            alone.learn_one(PAIR, tags)
            alone.learn_one(PAIR, tags, 0.0)
            inside.learn_many([PAIR, PAIR], [["C", "D"], tags])
            inside.fit([PAIR, PAIR], [["C", "D"], tags])
            if model.classes_:
                inside.partial_fit([PAIR, PAIR], [["A", "B"], tags])
                alone.score_one(PAIR, 5 if tags is None else tags)


@every_kind
def test_invalid_tag_is_rejected(options):
    message = "a tag must be a string, a boolean or a number, not "
    for model in both(options):
        alone, inside = rejects(model, f"^{message}"), rejects(model, f"^row 1: {message}")
        for tag in NOT_TAGS:
            y = [["C", "D"], [tag, "A"]]
            for weight in (1.0, 0.0):
                alone.learn_one(PAIR, ["A", tag], weight)
                inside.learn_many([PAIR, PAIR], y, [1.0, weight])
            inside.fit([PAIR, PAIR], y)
            if model.classes_:
                anywhere = rejects(model, message)
                anywhere.partial_fit([PAIR, PAIR], [["A", "B"], [tag, "A"]])
                anywhere.score_one(PAIR, [tag, "A"])
                anywhere.explain_one(PAIR, [tag, "A"])


def test_tag_that_cannot_be_shown_is_rejected():
    rejects(trained({}), "^row 1: a tag must be").learn_many(X[:2], [["A", "B"], [10**5000]])


class Tags(str, enum.Enum):  # noqa: UP042 (as others have them)
    NOUN = "A"
    VERB = "B"


def test_tags_of_an_enumeration_are_strings():
    model = PASequence().learn_many([[["a"], ["b"]]] * 2, [[Tags.NOUN, Tags.VERB], [Tags.VERB, Tags.NOUN]])
    plain = PASequence().learn_many([[["a"], ["b"]]] * 2, [["A", "B"], ["B", "A"]])
    assert state(model) == state(plain)
    assert {type(tag) for tag in model.classes_} == {str}
    assert PASequence().fit([[["a"], ["b"]]], [list(Tags)]).classes_ == ["A", "B"]


@every_kind
def test_lengths_that_differ_are_rejected(options):
    for model in both(options):
        for tags in ([], ["A"], ["A", "B", "new"], np.array(["A"]), ()):
            message = f"there are 2 tokens and {len(tags)} tags"
            alone, inside = rejects(model, f"^{message}"), rejects(model, f"^row 1: {message}")
            alone.learn_one(PAIR, tags)
            alone.learn_one(PAIR, tags, 0.0)
            inside.learn_many([PAIR] * 3, [["C", "D"], tags, ["A", "A"]])
            inside.fit([PAIR] * 3, [["C", "D"], tags, ["A", "A"]])
            if model.classes_:
                alone.score_one(PAIR, tags)
        for y in ([], [["A", "B"]], [["A", "B"]] * 3):
            error = rejects(model, f"^y has {len(y)} entries for 2 sentences")
            error.learn_many([PAIR, PAIR], y)
            error.fit([PAIR, PAIR], y)
            error.score([PAIR, PAIR], y)
        rejects(model, "^row 1: there are 2 tokens and 1 tags").score([PAIR, PAIR], [["A", "B"], ["A"]])


@every_kind
def test_empty_sentence_is_rejected_when_learned_and_scored(options):
    for model in both(options):
        alone, inside = (
            rejects(model, "^the sentence is empty"),
            rejects(model, "^row 1: the sentence is empty"),
        )
        for nothing in ([], (), np.ones((0, 3)), scipy.sparse.csr_matrix((0, 3))):
            if not isinstance(nothing, (list, tuple)) and (options.get("hash_bits") or model.classes_):
                continue  # no arrays there
            alone.learn_one(nothing, [])
            alone.learn_one(nothing, [], 0.0)
            inside.learn_many([[["new"], ["b"]], nothing], [["new", "A"], []])
            inside.fit([[["new"], ["b"]], nothing], [["new", "A"], []])
            rejects(model, "the sentence is empty").score_one(nothing)
            assert model.predict_one(nothing) == []
            assert model.predict([nothing, [["a"]], nothing])[::2] == [[], []]
        before = state(model)
        model.learn_many([], [])
        assert state(model) == before
        rejects(model, "there are no sentences to learn from").fit([], [])


def test_unknown_tag_is_rejected_where_the_tags_must_be_known():
    model = trained({})
    message = "the tag 'new' is not one of the classes 'A', 'B' and 'C'"
    rejects(model, f"^row 1: {message}").partial_fit(X[:2], [["A", "B"], ["new"]])
    rejects(model, f"^{message}").score_one(X[1], ["new"])
    rejects(model, f"^{message}").explain_one(X[1], ["new"])
    closed = PASequence(classes=["A", "B"]).learn_one([["a"]], ["A"])
    error = rejects(closed, "the tag 'C' is not one of the classes 'A' and 'B'")
    error.learn_one([["new"]], ["C"])
    error.learn_many([[["new"]]] * 2, [["A"], ["C"]])
    error.fit([[["new"]]] * 2, [["A"], ["C"]])


@every_kind
def test_invalid_weight_is_rejected(options):
    x, y = [[["new"]]] * 3, [["new"]] * 3
    for model in both(options):
        for weight, said in ((-1.0, "-1"), (NAN, "nan"), (INF, "inf"), (-INF, "-inf"), (-5e-324, "-5e-324")):
            message = f"the sample weight is {said}.*; it must be 0 or more, and finite"
            rejects(model, f"^{message}").learn_one(x[0], y[0], weight)
            rejects(model, f"^row 1: {message}").learn_many(x, y, [1.0, weight, 0.0])
            rejects(model, f"^row 1: {message}").fit(x, y, [1.0, weight, 0.0])
        for weights in ([], [1.0], [1.0] * 4):
            error = rejects(model, f"^sample_weight has {len(weights)} entries for 3 sentences")
            error.learn_many(x, y, weights)
            error.fit(x, y, weights)
        error = rejects(model, error=BOTH)
        ragged = [[1], [2, 3], []]
        for weights in (1.0, [[1.0, 1.0, 1.0]], "abc", ["a", "b", "c"], [None] * 3, [1j] * 3, {}, ragged):
            error.learn_many(x, y, weights)
        for weight in (None, "1.0", 1j, [1.0], {}, object()):
            error.learn_one(x[0], y[0], weight)
