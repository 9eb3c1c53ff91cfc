"""Bad lists of sentences, tags and weights: an error that says where, and no trace."""

# ruff: noqa: B023 (every lambda is called at once)

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from bad_sequences import X, Y, empty, every_kind, refused, state, trained
from hinge import PASequence

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
        refused(model, f"^row 1: {message}", lambda m=model: m.learn_many([x, x], [["C", "D"], tags]))
        refused(model, f"^row 1: {message}", lambda m=model: m.fit([x, x], [["C", "D"], tags]))
        if model.classes_:
            refused(model, f"^row 1: {message}", lambda m=model: m.partial_fit([x, x], [["A", "B"], tags]))
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
                f"^row 1: {message}",
                lambda m=model, w=weight, y=y: m.learn_many([x, x], y, [1.0, w]),
            )
        refused(model, f"^row 1: {message}", lambda m=model, y=y: m.fit([x, x], y))
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
            refused(model, f"^row 1: {message}", lambda m=model, b=batch: m.learn_many(*b))
            refused(model, f"^row 1: {message}", lambda m=model, b=batch: m.fit(*b))
            if model.classes_:
                refused(model, f"^{message}", lambda m=model, t=tags: m.score_one(x, t))
        for y in ([], [["A", "B"]], [["A", "B"]] * 3):
            message = f"^y has {len(y)} entries for 2 sentences"
            refused(model, message, lambda m=model, y=y: m.learn_many([x, x], y))
            refused(model, message, lambda m=model, y=y: m.fit([x, x], y))
            refused(model, message, lambda m=model, y=y: m.score([x, x], y))
        refused(
            model,
            "^row 1: there are 2 tokens and 1 tags",
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
            refused(model, "^row 1: the sentence is empty", lambda m=model, b=batch: m.learn_many(*b))
            refused(model, "^row 1: the sentence is empty", lambda m=model, b=batch: m.fit(*b))
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
    refused(model, f"^row 1: {message}", lambda: model.partial_fit(X[:2], [["A", "B"], ["new"]]))
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
            refused(model, f"^row 1: {said}", lambda m=model, w=weight: m.learn_many(x, y, [1.0, w, 0.0]))
            refused(model, f"^row 1: {said}", lambda m=model, w=weight: m.fit(x, y, [1.0, w, 0.0]))
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
