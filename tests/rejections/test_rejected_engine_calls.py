"""The engines of the core, called directly with invalid arguments: an error, never a crash."""

from __future__ import annotations

import numpy as np
import pytest

from hinge._core import Engine, SequenceEngine
from rejection import BOTH, rejected, rejects, snapshot

X = np.ones((3, 4))
DATA, INDICES, INDPTR = np.ones(4), np.arange(4, dtype=np.int32), np.array([0, 2, 4], dtype=np.int32)
TWO = (0.0, 1.0)


def new(task="classification", **options):
    given = {
        "step": "pa1", "C": 1.0, "margin": 1.0, "epsilon": 0.1, "radius": 1.0, "learned_radius": False,
        "fit_intercept": True, "start_at_first": task == "uniclass", "single": False, "average_from": 1,
        "hash_bits": 0, "max_features": 100,
    }  # fmt: skip
    return Engine(task=task, **{**given, **options})


def tensors(engine):
    """The state as arrays of numpy."""
    return {name: np.asarray(buffer) for name, buffer in engine.state().items()}


CALLS = {
    "one class": lambda e: e.learn_dense(X, np.zeros(3), classes=(0.0,)),
    "no classes": lambda e: e.learn_dense(X, np.zeros(3), classes=()),
    "one dimension": lambda e: e.learn_dense(np.ones(3), None),
    "three dimensions": lambda e: e.learn_dense(np.ones((3, 4, 5)), None),
    "no dimension": lambda e: e.learn_dense(np.float64(1), None),
    "whole numbers": lambda e: e.learn_dense(np.ones((3, 4), dtype=int), None),
    "byte-swapped": lambda e: e.learn_dense(X.astype(">f8"), None),
    "no array": lambda e: e.learn_dense("X", None),
    "nothing": lambda e: e.learn_dense(None, None),
    "too few targets": lambda e: e.learn_dense(X, np.ones(2)),
    "targets in two dimensions": lambda e: e.learn_dense(X, np.ones((3, 1))),
    "complex targets": lambda e: e.learn_dense(X, np.ones(3, dtype=complex)),
    "text for targets": lambda e: e.learn_dense(X, np.array(["a", "b", "c"])),
    "too few weights": lambda e: e.learn_dense(X, np.ones(3), weights=np.ones(2)),
    "an order of rows that are not there": lambda e: e.learn_dense(X, np.ones(3), order=np.array([0, 3])),
    "an order of negative rows": lambda e: e.learn_dense(X, np.ones(3), order=np.array([-1])),
    "data in two dimensions": lambda e: e.learn_sparse(np.ones((2, 2)), INDICES, INDPTR, 4, np.ones(2)),
    "strided data": lambda e: e.learn_sparse(np.ones(8)[::2], INDICES, INDPTR, 4, np.ones(2)),
    "strided indices": lambda e: e.learn_sparse(
        DATA, np.arange(8, dtype=np.int32)[::2], INDPTR, 4, np.ones(2)
    ),
    "short indices": lambda e: e.learn_sparse(DATA, INDICES.astype(np.int16), INDPTR, 4, np.ones(2)),
    "real indices": lambda e: e.learn_sparse(DATA, INDICES.astype(float), INDPTR, 4, np.ones(2)),
    "real starts": lambda e: e.learn_sparse(DATA, INDICES, INDPTR.astype(float), 4, np.ones(2)),
    "no starts": lambda e: e.learn_sparse(DATA, INDICES, INDPTR[:0], 4, None),
    "more starts than values": lambda e: e.learn_sparse(DATA[:1], INDICES, INDPTR, 4, np.ones(2)),
    "no width": lambda e: e.learn_sparse(DATA, INDICES, INDPTR, 0, np.ones(2)),
    "a negative width": lambda e: e.learn_sparse(DATA, INDICES, INDPTR, -1, np.ones(2)),
    "a huge width": lambda e: e.learn_sparse(DATA, INDICES, INDPTR, 2**62, np.ones(2)),
    "scores of wider rows": lambda e: e.score_dense(np.ones((2, 50)), True),
    "scores of broken rows": lambda e: e.score_sparse(DATA, INDICES - 1, INDPTR, 4, False),
    "events that are not dicts": lambda e: e.learn_dicts([{}, 5], np.ones(2)),
    "events that are not a list": lambda e: e.learn_dicts({}, np.ones(1)),
    "fewer targets than events": lambda e: e.learn_dicts([{}, {}], np.ones(1)),
    "fewer weights than events": lambda e: e.learn_dicts([{}, {}], np.ones(2), np.ones(1)),
    "a start that is too long": lambda e: e.start_at(np.ones(101), 0.0),
    "a start of NaN": lambda e: e.start_at(np.array([np.nan]), 0.0),
    "another step": lambda e: e.change_rule("pa9", 1.0, 1.0, 0.1),
    "names twice": lambda e: e.name_columns(["x", "x"]),
    "invalid names": lambda e: e.name_columns(["x", None]),
    "a state of nothing": lambda e: e.restore({}),
    "a state that is not an array": lambda e: e.restore({**tensors(e), "v": [0.0] * e.n_columns}),
    "a state in two dimensions": lambda e: e.restore({**tensors(e), "v": X, "u": X}),
    "a strided state": lambda e: e.restore({**tensors(e), "v": np.ones(8)[::2], "u": np.ones(4)}),
    "a byte-swapped state": lambda e: e.restore({**tensors(e), "loss": np.ones((), dtype=">f8")}),
    "a state of numbers for names": lambda e: e.restore({5: np.ones(3)}),
}


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
@pytest.mark.parametrize("single", [False, True])
def test_invalid_call_is_rejected(what, task, single):
    for fresh in (True, False):
        engine = new(task, single=single)
        if not fresh:
            engine.learn_dense(X, np.ones(3), classes=TWO if task == "classification" else None)
            engine.name_columns(["a", "b", "c", "d"])
            engine.learn_dicts([{"a": 1.0, "e": 2.0}], np.ones(1))
        rejected(engine, None, CALLS[what], engine, error=BOTH)
        engine.learn_dicts([{"a": 1.0, "f": 2.0}], np.ones(1))  # it still learns


@pytest.mark.parametrize("task", ["ranking", ""])
def test_unknown_task_is_rejected(task):
    with pytest.raises(ValueError, match="unknown task"):
        new(task)


@pytest.mark.parametrize(
    ("setting", "value"), [("setp", "pa"), ("C", "one"), ("cost", 3), ("single", 1.5), ("labels", -1)]
)
def test_setting_with_an_unknown_name_or_type_is_rejected(setting, value):
    with pytest.raises(TypeError, match=f"setting .?{setting}"):
        new(**{setting: value})


# ---- many labels -----------------------------------------------------------------------------------------


def indices(*labels):
    return np.array(labels, dtype=np.int64)


MANY = {
    "classes": {"task": "classification", "labels": 3},
    "simproj": {"task": "classification", "labels": 3, "selection": "simproj", "nu": np.ones(9)},
    "mira": {"task": "classification", "labels": 3, "selection": "mira"},
    "cost": {"task": "classification", "labels": 3, "cost": np.ones(9) - np.eye(3).ravel()},
    "sets": {"task": "multilabel", "labels": 3},
    "sets with a threshold": {"task": "multilabel", "labels": 3, "learned_threshold": True},
    "sets, mira": {"task": "multilabel", "labels": 3, "selection": "mira", "learned_threshold": True},
    "ranks": {"task": "ordinal", "labels": 3, "selection": "simproj", "sort_thresholds": True},
    "ranks, max": {"task": "ordinal", "labels": 4, "selection": "max", "fit_intercept": False},
}
LABEL_CALLS = {
    "no such label": lambda e: e.learn_dense(X, np.array([0.0, 1.0, 4.0])),
    "a negative label": lambda e: e.learn_dense(X, np.array([0.0, 1.0, -3.0])),
    "a label that is NaN": lambda e: e.learn_dense(X, np.array([0.0, 1.0, np.nan])),
    "an infinite label": lambda e: e.learn_dense(X, np.array([0.0, 1.0, np.inf])),
    "a huge label": lambda e: e.learn_dense(X, np.array([0.0, 1.0, 1e300])),
    "one event with no such label": lambda e: e.learn_one({"a": 1.0}, 4.0, 1.0),
    "one event with NaN": lambda e: e.learn_one({"a": 1.0}, np.nan, 1.0),
    "events with no such label": lambda e: e.learn_dicts([{"a": 1.0}, {"g": 1.0}], np.array([1.0, 77.0])),
    "a set with no such label": lambda e: e.learn_dense(
        X, indices(0, 1, 5), label_starts=indices(0, 1, 1, 3)
    ),
    "a set with a huge label": lambda e: e.learn_dense(
        X, indices(0, 2**62), label_starts=indices(0, 0, 1, 2)
    ),
    "a set with a negative label": lambda e: e.learn_dense(X, indices(-1), label_starts=indices(0, 1, 1, 1)),
    "a set that does not ascend": lambda e: e.learn_dense(X, indices(1, 0), label_starts=indices(0, 2, 2, 2)),
    "a set with a label twice": lambda e: e.learn_dense(X, indices(1, 1), label_starts=indices(0, 2, 2, 2)),
    "too few sets": lambda e: e.learn_dense(X, indices(0, 1), label_starts=indices(0, 1, 2)),
    "too many sets": lambda e: e.learn_dense(X, indices(0, 1), label_starts=indices(0, 1, 2, 2, 2)),
    "no starts": lambda e: e.learn_dense(X, indices(0, 1), label_starts=indices()),
    "starts that go back": lambda e: e.learn_dense(X, indices(0, 1), label_starts=indices(0, 2, 1, 2)),
    "starts before the first": lambda e: e.learn_dense(X, indices(0, 1), label_starts=indices(-1, 1, 1, 2)),
    "starts beyond the last": lambda e: e.learn_dense(X, indices(0, 1), label_starts=indices(0, 1, 2, 3)),
    "labels of the wrong type": lambda e: e.learn_dense(X, np.zeros(2), label_starts=indices(0, 1, 2, 2)),
    "labels with gaps": lambda e: e.learn_dense(X, np.arange(8)[::2], label_starts=indices(0, 1, 2, 2)),
    "labels in two dimensions": lambda e: e.learn_dense(
        X, np.zeros((1, 2), int), label_starts=indices(0, 1, 2, 2)
    ),
    "sets of events that are broken": lambda e: e.learn_dicts(
        [{"g": 1.0}], indices(0), label_starts=indices(0, 2)
    ),
    "one event with a negative label": lambda e: e.learn_one_labels({"g": 1.0}, indices(-1, 0)),
    "one event with no label so high": lambda e: e.learn_one_labels({"g": 1.0}, indices(0, 9)),
    "one event that does not ascend": lambda e: e.learn_one_labels({"g": 1.0}, indices(1, 0)),
    "a score that is not there": lambda e: e.look_up({"a": 1.0}, 9, False),
    "a score far away": lambda e: e.bias(2**40, True),
    "one score of many": lambda e: e.score_one({"a": 1.0}, False),
    "a start for other labels": lambda e: e.start_at(np.ones(7), np.zeros(9)),
    "a block": lambda e: e.learn_block(["a"], np.ones((3, 1)), 0.0),
    "scores of a block": lambda e: e.score_block(["a"], np.ones((3, 1)), False),
    "names for labels that are given": lambda e: e.name_labels(None, True),
    "weights of other pairs": lambda e: (
        e.set_labels(5, np.ones(9)) if e.many_pairs else e.name_labels(None, True)
    ),
    "another step": lambda e: e.change_rule("pa9", 1.0, 1.0, 0.1),
}


class Labelled:
    """An engine, and whether its labels are pairs."""

    def __init__(self, engine, many_pairs):
        self.engine, self.many_pairs = engine, many_pairs

    def __getattr__(self, name):
        return getattr(self.engine, name)


def labelled(which, single=False, average_from=1):
    options = dict(MANY[which])
    return new(options.pop("task"), **{"single": single, "average_from": average_from, **options})


@pytest.mark.parametrize("what", LABEL_CALLS)
@pytest.mark.parametrize("which", MANY)
@pytest.mark.parametrize("single", [False, True])
def test_invalid_call_with_labels_is_rejected(what, which, single):
    for fresh in (True, False):
        engine = labelled(which, single)
        if not fresh:
            learn(engine, which)
        rejected(engine, None, LABEL_CALLS[what], Labelled(engine, which == "simproj"), error=BOTH)
        learn(engine, which)


def learn(engine, which):
    engine.learn_dicts([{"a": 1.0, "b": 2.0}, {"b": 1.0}, {"a": 3.0}], np.array([0.0, 1.0, 2.0]))
    if which.startswith("sets"):
        engine.learn_dicts([{"b": 1.0}, {"b": 2.0}], indices(0, 2), label_starts=indices(0, 0, 2))


@pytest.mark.parametrize("which", MANY)
@pytest.mark.parametrize("single", [False, True])
def test_state_of_another_model_is_rejected(which, single):
    engine = labelled(which, single)
    learn(engine, which)
    good, before = tensors(engine), snapshot(engine)

    def restore(**changes):
        parts = {**good, **changes}
        engine.restore({name: array for name, array in parts.items() if array is not None})

    biases = good["biases"]
    for changes in (
        {"biases": None},
        {"bias_sums": None},
        {"biases": biases[:-1]},
        {"bias_sums": biases[:-1]},
        {"biases": np.append(biases, 0.0)},
        {"biases": biases[:0]},
        {"biases": np.full_like(biases, np.nan)},
        {"biases": np.full_like(biases, np.inf)},
        {"v": good["v"][:-1], "u": good["u"][:-1]},
        {"v": good["v"][:0], "u": good["u"][:0]},
        {"v": np.append(good["v"], good["v"][:1])},
        {"v": np.full_like(good["v"], np.nan)},
        {"v": good["v"].astype(np.float64 if single else np.float32)},
        {"u": good["u"][:-1]},
        {"u": np.full_like(good["u"], np.inf)},
        {"loss": np.array(np.nan)},
        {"weight_bound": np.array(np.inf)},
        {"rounds": np.array(-100)},
    ):
        if which.startswith("ranks") and set(changes) == {"v", "u"} and len(changes["v"]):
            continue  # one w: another length is another number of columns (fewer than there are names)
        rejected(engine, None, restore, error=BOTH, **changes)
    restore()
    assert snapshot(engine) == before
    other = labelled("classes" if which.startswith("ranks") else "ranks", single)
    with pytest.raises(ValueError, match="does not fit"):
        other.restore(good)


@pytest.mark.parametrize(
    "options",
    [
        {"labels": 3, "cost": np.ones(4)},
        {"labels": 3, "cost": np.ones(10)},
        {"labels": 3, "selection": "simproj", "nu": np.ones(4)},
        {"labels": 3, "selection": "all"},
        {"labels": 3, "step": "pa9"},
        {"task": "ordinal", "labels": 3, "selection": "simproj", "nu": np.ones(3)},
        {"task": "ordinal", "labels": 3, "selection": "mira"},
        {"task": "multilabel", "labels": 3, "selection": "conproj", "nu": np.ones(3)},
    ],
    ids=str,
)
def test_invalid_settings_are_rejected(options):
    with pytest.raises(ValueError):
        new(**options)


def test_label_that_has_learned_cannot_be_given_up():
    engine = labelled("classes")
    learn(engine, "classes")
    before = snapshot(engine)
    rejects(engine, "a label that has learned cannot be given up").set_labels(2)
    engine.set_labels(40)
    engine.set_labels(3)  # none of these has learned
    assert snapshot(engine) == before
    for which in ("ranks", "cost"):
        with pytest.raises(ValueError, match="the labels cannot change"):
            labelled(which).set_labels(5)


def test_empty_sets_and_single_ranks_are_rejected():
    cost = np.ones(9) - np.eye(3).ravel()
    for its_labels in (indices(), indices(0, 1, 2)):
        for task in ("classification", "multilabel"):
            with pytest.raises(ValueError):
                new(task, labels=3, cost=cost).learn_one_labels({"a": 1.0}, its_labels)
    for labels in (0, 1):
        with pytest.raises(ValueError):
            new("ordinal", labels=labels, selection="simproj").learn_one({"a": 1.0}, 0.0)


def test_too_few_labels_are_rejected():
    for options in ({"learned_threshold": True}, {}):
        with pytest.raises(ValueError, match="too few labels"):
            new("multilabel", labels=0, **options)


def test_rejected_rule_leaves_the_old_one():
    engine = new("classification", labels=3, selection="simproj")
    with pytest.raises(ValueError, match="pa9"):
        engine.change_rule("pa9", 1.0, 1.0, 0.1, 0.01)
    engine.set_labels(4)  # builds the rule anew
    engine.learn_one({"a": 1.0}, 3.0)
    assert engine.statistics()[0] == 1


# ---- sequences ----------------------------------------------------------------------------------------------------


def sequences(**options):
    given = {
        "step": "pa1", "C": 1.0, "margin": 1.0, "selection": "prediction", "cost": None, "labels": ["A", "B"],
        "single": False, "average_from": 1, "geometry": "euclidean", "regularizer": 1.0, "variance": 1.0, "drop": False,
        "hash_bits": 0, "max_features": 100,
    }  # fmt: skip
    return SequenceEngine(**{**given, **options})


def tag(e, sentences, tags, known=None, labels=("A", "B"), **more):
    e.learn(sentences, tags, indices(*[2] * len(sentences)) if known is None else known, list(labels), **more)


SEQUENCE_CALLS = {
    "a tag out of range": (lambda e, s: tag(e, s, indices(0, 9)), "tag 9 of 2"),
    "a tag of those to come": (lambda e, s: tag(e, s, indices(0, 2), labels="ABC"), "tag 2 of 2"),
    "a negative tag": (lambda e, s: tag(e, s, indices(0, -1)), "a tag is out of range"),
    "a tag of 2^40": (lambda e, s: tag(e, s, indices(0, 2**40)), "a tag is out of range"),
    "too few tags": (lambda e, s: tag(e, s, indices(0)), "there are 1 tags for 2 tokens"),
    "too many tags": (lambda e, s: tag(e, s, indices(0, 1, 1)), "there are 3 tags for 2 tokens"),
    "tags of text": (lambda e, s: tag(e, s, "ab"), "incompatible function arguments"),
    "fewer tags than before": (lambda e, s: tag(e, s, indices(0, 1), known=indices(1)), "of tags is out of range"),
    "more tags than labels": (lambda e, s: tag(e, s, indices(0, 1), known=indices(3)), "more tags than labels"),
    "too many tags to come": (lambda e, s: tag(e, s, indices(0, 1), known=indices(2**40)), "more tags than labels"),
    "a negative number of tags": (lambda e, s: tag(e, s, indices(0, 1), known=indices(-1)), "more tags than labels"),
    "two numbers of tags": (lambda e, s: tag(e, s, indices(0, 1), known=indices(2, 2)), "there must be one"),
    "fewer labels than tags": (lambda e, s: tag(e, s, indices(0, 1), labels="A"), "more tags than labels"),
    "fewer labels, and nothing to learn": (lambda e, s: tag(e, [], indices(), labels="A"), "more tags than labels"),
    "labels that are not a list": (
        lambda e, s: e.learn(s, indices(0, 1), indices(2), "AB"), "incompatible function arguments"
    ),
    "too many weights": (lambda e, s: tag(e, s, indices(0, 1), weights=np.ones(2)), "one weight for each sentence"),
    "not a list": (lambda e, s: tag(e, "ab", indices(0, 1)), "incompatible function arguments"),
    "an invalid sentence": (lambda e, s: tag(e, [5], indices(0)), ""),
    "an order of sentences that are not there": (
        lambda e, s: e.learn_read(e.read(s), indices(0, 1), order=indices(1)), "order names sentence 1 of 1"
    ),
    "a negative order": (
        lambda e, s: e.learn_read(e.read(s), indices(0, 1), order=indices(-1)), "order names sentence -1 of 1"
    ),
    "what another engine has read": (
        lambda e, s: e.learn_read(sequences().read([[[f"f{k}" for k in range(50)]]]), indices(1)), ""
    ),
    "weights of other sentences": (lambda e, s: e.read(s, np.ones(2)), "one weight for each sentence"),
    "a cost that is not a function": (lambda e, s: tag(e, s * 2, indices(0, 1, 1, 0), cost=5), "not callable"),
    "a cost of text": (lambda e, s: tag(e, s * 2, indices(0, 1, 1, 0), cost=lambda i, y, z: "x"), ""),
    "a score of tags that are not there": (lambda e, s: e.score(s, indices(0, 5), False), "there is no tag 5"),
    "a score of fewer tags": (lambda e, s: e.score(s, indices(0), False), "there are 1 tags for 2 tokens"),
    "a score of two": (lambda e, s: e.score(s * 2, None, False), "the sentence is empty"),
    "an invalid token": (lambda e, s: e.look_up(5, False), "a token must be a list of strings"),
    "names twice": (lambda e, s: e.name_columns(["x", "x"]), "occurs twice"),
    "a name that is there": (lambda e, s: e.name_columns(["a"]), "occurs twice"),
    "invalid names": (lambda e, s: e.name_columns(["x", None]), ""),
    "another step": (lambda e, s: e.change_rule("pa9", 1.0, 1.0), "pa9"),
    "a tag given up": (lambda e, s: e.set_labels(["A"]), "a tag cannot be given up"),
}  # fmt: skip


@pytest.mark.parametrize("what", SEQUENCE_CALLS)
@pytest.mark.parametrize(
    "options", [{}, {"geometry": "diagonal", "single": True, "selection": "max"}], ids=str
)
def test_invalid_call_with_sentences_is_rejected(what, options):
    sentences = [[["a"], ["b", "c"]]]
    e = sequences(**options)
    for tags in (indices(0, 1), indices(1, 0)):
        tag(e, sentences, tags)

    call, message = SEQUENCE_CALLS[what]
    before = e.n_tags, e.labels()
    rejected(e, message, call, e, sentences, error=(*BOTH, RuntimeError))
    assert (e.n_tags, e.labels()) == before
    tag(e, sentences, indices(1, 1))


def test_labels_of_the_engine():
    e = sequences(labels=[])
    assert e.tag([[["a"], []], []], False) == [[None, None], []]
    e.set_labels(["A", "B"])
    asked = []

    def cost(row, truth, predicted):
        asked.append((row, truth, predicted))
        return 1.0

    sentences, tags = [[["a"]], [["b"]], [["a"]]], indices(0, 1, 2)
    e.learn(sentences, tags, indices(2, 2, 3), ["A", "B", "C"], None, cost)
    assert [row for row, truth, predicted in asked] == [1, 2]
    assert [truth for row, truth, predicted in asked] == [[1], [2]]
    assert e.labels() == ["A", "B", "C"]
    e.labels().clear()  # a copy
    assert {tag for tags in e.tag(sentences, False) for tag in tags} <= set(e.labels()) == {"A", "B", "C"}
    assert {name for name, tag, weight in e.emissions(False)} == {"a", "b"}
    assert {tag for name, tag, weight in e.emissions(False)} <= set("ABC")
    assert {before for before, after, weight in e.transitions(False)} == {None}
    e.check_free()


def test_invalid_settings_of_sequences_are_rejected():
    for options in (
        {"step": "pa9"},
        {"selection": "best"},
        {"cost": np.zeros(3)},
        {"cost": np.array([0, 0.5, 1, 0]), "selection": "max"},
        {"labels": 2},
        {"labels": "AB"},
    ):
        with pytest.raises((ValueError, TypeError)):
            sequences(**options)
