"""Sentences that change while they are read, and the engine called badly: never a crash."""

# ruff: noqa: B023 (every lambda is called at once)

from __future__ import annotations

import enum
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from bad_sequences import X, every_kind, refused, refused_everywhere, state, trained
from hinge import PASequence
from hinge._core import SequenceEngine
from hinge.structured.sequence_learner import SequenceLearner

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
    """Rejected, or read as they were; never a crash, never a trace of a refusal."""
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
            "hinge.data.errors.InputError: token 0: a column number is too large to be the name of a feature",
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


def test_a_tag_that_cannot_be_shown():
    model = trained({})
    refused(model, "^row 1: a tag must be", lambda: model.learn_many(X[:2], [["A", "B"], [10**5000]]))


class Tags(str, enum.Enum):  # noqa: UP042 (as others have them)
    NOUN = "A"
    VERB = "B"


def test_tags_of_an_enumeration_are_strings():
    model = PASequence().learn_many([[["a"], ["b"]]] * 2, [[Tags.NOUN, Tags.VERB], [Tags.VERB, Tags.NOUN]])
    plain = PASequence().learn_many([[["a"], ["b"]]] * 2, [["A", "B"], ["B", "A"]])
    assert state(model) == state(plain)
    assert {type(tag) for tag in model.classes_} == {str}
    assert PASequence().fit([[["a"], ["b"]]], [list(Tags)]).classes_ == ["A", "B"]


@pytest.mark.parametrize("name", ["covariance_", "uncertainty_one", "uncertainty"])
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
        return (
            {k: v.tobytes() for k, v in e.state().items()},
            e.names(),
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
