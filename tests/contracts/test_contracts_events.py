"""Events: dicts of named features. Weights, labels, names, hashing, explanations."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_extraction import FeatureHasher

import hinge
from cases import (
    NAMES,
    as_dict,
    as_dicts,
    csr,
    new,
    one,
    state,
    stream,
    tensors,
    weights_by_name,
)


@pytest.mark.parametrize("hash_bits", [None, 8])
def test_strings_and_booleans_are_indicators(hash_bits):
    words, numbers = (hinge.Learner("regression", hash_bits=hash_bits) for _ in range(2))
    words.learn_one({"color": "red", "big": True, "old": False, "n": 2, 5: "x"}, 1.0)
    numbers.learn_one({"color=red": 1.0, "big": 1.0, "n": 2.0, "5=x": 1.0}, 1.0)
    assert tensors(words) == tensors(numbers)


@pytest.mark.parametrize(
    "value", [3, np.float32(3), np.int8(3), np.float64(3), pytest.param(True, id="bool")]
)
def test_numbers_of_any_kind(value):
    plain, other = hinge.Learner("regression"), hinge.Learner("regression")
    plain.learn_one({"a": float(value), "b": 0.5}, 1.0)
    other.learn_one({"a": value, "b": 0.5}, np.float64(1.0), weight=np.float64(1))
    assert state(plain) == state(other)


def test_label_without_weight_is_not_learned():
    X, _, _ = stream("classification", 6)
    for learn in (
        lambda m, i, y, w: m.learn_one(as_dict(X[i]), y, w),
        lambda m, i, y, w: m.learn_many([as_dict(X[i])], [y], [w]),
    ):
        learner, other = (hinge.Learner("classification") for _ in range(2))
        for i, (label, weight) in enumerate([("z", 0.0), ("b", 1.0), ("a", 0.0), ("c", 1.0), ("c", 1.0)]):
            learn(learner, i, label, weight)
            if weight:
                learn(other, i, label, weight)
        assert state(learner) == state(other)
        assert learner.labels.known == ["b", "c"]
    learner = hinge.Learner("classification")
    learner.learn(X, ["b", "a", "b", "b", "b", "a"], [1, 0, 1, 1, 1, 0])
    assert learner.labels.known == ["b"]
    learner = hinge.Learner("classification", class_weight={"a": 0.0})
    learner.learn_many(as_dicts(X), ["b", "a", "b", "b", "b", "a"])
    learner.learn_one(as_dict(X[0]), "a")
    assert learner.labels.known == ["b"]


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
@pytest.mark.parametrize("step", ["pa1", "pa2"])
@pytest.mark.parametrize("weight", [0.25, 3.0])
def test_a_weight_scales_C(task, step, weight):
    """It belongs inside of the cap: weight w with C is weight 1 with w C, to the bit."""
    X, y, _ = stream(task)
    weighted, plain = (new(task, {"step": step, "C": C}) for C in (0.1, 0.1 * weight))
    weighted.learn(X, y, np.full(len(X), weight))
    plain.learn(X, y)
    assert 0 < weighted.statistics.weighted <= len(X)  # how many updates had a weight
    counted = {
        "weighted": b"",
        "calibration": b"",
    }  # what else knows the weights: that of probabilities is the mean
    assert {**tensors(weighted), **counted} == {**tensors(plain), **counted}
    if step == "pa1" and task != "uniclass":  # tau <= C w
        before = weighted.weights
        weighted.learn_one(dict(enumerate(X[3].tolist())), 1e6 if y.dtype.kind == "f" else "ham", weight)
        step_made = np.linalg.norm(weighted.weights - before)
        assert 0 <= step_made <= 0.1 * weight * np.linalg.norm(X[3]) * (1 + 1e-12)


def test_the_weights_of_pa_and_the_perceptron():
    """PA has no cap to scale; the perceptron's step is the weight."""
    X, y, weights = stream("classification")
    weighted, plain = (new("classification", {"step": "pa"}) for _ in range(2))
    weighted.learn(X[weights > 0], y[weights > 0], weights[weights > 0])
    plain.learn(X[weights > 0], y[weights > 0])
    assert {**tensors(weighted), "calibration": b""} == {**tensors(plain), "calibration": b""}
    learner = new("classification", {"step": "perceptron", "fit_intercept": False})
    learner.learn(X[:1], y[:1], [2.5])
    np.testing.assert_array_equal(np.abs(learner.weights), 2.5 * np.abs(X[0]))


def test_class_weights_multiply_the_others():
    X, y, weights = stream("classification")
    factor = {"ham": 3.0, "spam": 0.5}
    given, by_hand = hinge.Learner("classification", class_weight=factor), hinge.Learner("classification")
    events, dicts = hinge.Learner("classification", class_weight=factor), as_dicts(X)
    for i, label in enumerate(y.tolist()):
        events.learn_one(dicts[i], label, float(weights[i]))
    given.learn(X, y, weights)
    by_hand.learn(X, y, weights * [factor[label] for label in y])
    assert tensors(given) == tensors(by_hand)
    np.testing.assert_allclose(weights_by_name(events), weights_by_name(by_hand), rtol=1e-9)
    only = hinge.Learner("classification", class_weight={"ham": 0.25})
    only.learn(X, y)
    by_hand = hinge.Learner("classification")
    by_hand.learn(X, y, np.where(y == "ham", 0.25, 1.0))
    assert tensors(only) == tensors(by_hand)


@pytest.mark.parametrize(
    "labels", [("ham", "spam"), (False, True), (-1, 1), (0, 1), (1, 2), (0.5, 2.5), ("b", 1)], ids=str
)
@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("way", ["one", "many", "rows", "csr"])
def test_labels_in_any_order_learn_as_if_known(labels, first, average, way):
    """A second label that comes before the first one turns w around: as if both had been known."""
    X, y, weights = stream("classification")
    signs = y == "spam"
    signs[:9] = bool(first)  # only one label comes at first
    signs[9] = not first
    weights[9] = 1.0
    options = {"intercept_value": 1.0, "average": average}
    met, known = (hinge.Learner("classification", classes=c, **options) for c in (None, list(labels)))
    if labels == ("b", 1) and first:  # these cannot be sorted: they stay as they came
        known, labels = hinge.Learner("classification", classes=[1, "b"], **options), (1, "b")
        signs = ~signs
    for start, stop in itertools.pairwise((0, 4, 7, 9, 12, 30, 60)):
        truth = [labels[int(sign)] for sign in signs[start:stop]]
        for learner in (met, known):
            if way == "one":
                for row, label, weight in zip(X[start:stop], truth, weights[start:stop], strict=True):
                    learner.learn_one(as_dict(row), label, float(weight))
            elif way == "many":
                learner.learn_many(as_dicts(X[start:stop]), truth, weights[start:stop])
            else:
                container = csr if way == "csr" else np.asarray
                learner.learn(container(X[start:stop]), truth, weights[start:stop])
        if stop > 9:
            assert met.labels.known == list(labels)
            assert tensors(met) == tensors(known)
        else:
            assert met.labels.known == ([False, True] if isinstance(truth[0], bool) else truth[:1])
            assert met.predict_one(as_dict(X[0])) == truth[0]
        assert met.statistics == known.statistics


def test_labels_keep_their_kind():
    learner = hinge.Learner("classification")
    learner.learn_one({"a": 1.0}, np.str_("spam"))
    learner.learn_one({"a": -1.0}, np.str_("ham"))
    assert [type(label) for label in learner.labels.known] == [str, str]
    learner = hinge.Learner("classification")
    learner.learn(np.eye(2), np.array([2, 1], dtype=np.int8))
    assert [type(label) for label in learner.labels.known] == [int, int]
    again = hinge.Learner.from_bytes(learner.to_bytes())
    assert again.labels.known == [1, 2]
    assert type(hinge.Learner("classification", classes=[False, True]).predict_one({})) is bool
    assert hinge.Learner("classification").predict_one({"a": 1.0}) is None
    big = [2**53, 2**53 + 1]
    learner = hinge.Learner("classification", classes=big)
    learner.learn(np.eye(2), np.array(big))
    assert [learner.predict_one({0: 1.0}), learner.predict_one({1: 1.0})] == big


def test_the_vocabulary_grows():
    learner = hinge.Learner("regression", fit_intercept=False, step="pa")
    for k in range(300):
        learner.learn_one({f"f{k}": 1.0, "common": 0.0}, float(k))
    assert learner.n_features == 300
    assert learner.feature_names == [f"f{k}" for k in range(300)]
    assert learner.named_weights()["f17"] == pytest.approx(16.9)
    learner.learn_many(pd.DataFrame({"f17": [1.0], "frame": [2.0]}), [1.0])
    assert learner.feature_names[300:] == ["frame"]


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
def test_growing_equals_having_known_all_features(task):
    X, y, _ = stream(task)
    grown, known = new(task, {}), new(task, {})
    known.name_columns([f"n{k}" for k in range(60)] + NAMES)
    for i, row in enumerate(X):
        event = {**as_dict(row), f"n{i}": 0.5}
        grown.learn_one(event, one(y, i))
        known.learn_one(event, one(y, i))
    theirs = known.named_weights()
    assert grown.named_weights() == pytest.approx(
        {n: theirs[n] for n in grown.feature_names}, rel=1e-9, abs=1e-12
    )


def test_max_features_is_a_limit():
    learner = hinge.Learner("regression", max_features=3)
    learner.learn_one({"a": 1.0, "b": 1.0}, 1.0)
    before = state(learner)
    for call in (
        lambda: learner.learn_one({"c": 1.0, "d": 1.0}, 1.0),
        lambda: learner.learn_many([{"c": 1.0}, {"d": 1.0}], [1.0, 2.0]),
        lambda: learner.learn_many(pd.DataFrame({"c": [1.0], "d": [1.0]}), [1.0]),
    ):
        with pytest.raises(ValueError, match=r"'d'.*limit \(max_features\)"):
            call()
        assert state(learner) == before
    learner.learn_one({"a": 1.0, "c": 1.0, "d": 0.0}, 1.0)
    assert learner.n_features == 3
    assert learner.score_one({"d": 1e9}) == learner.intercept
    with pytest.raises(ValueError, match="4 features, the limit is 3"):
        hinge.Learner("regression", max_features=3).learn(np.eye(4), np.ones(4))


def test_columns_of_arrays_are_named_by_number():
    X, y, _ = stream("regression")
    arrays, events = hinge.Learner("regression"), hinge.Learner("regression")
    arrays.learn(X[:20], y[:20])
    events.learn(X[:20], y[:20])
    assert arrays.score_one(dict(enumerate(X[3].tolist()))) == pytest.approx(
        arrays.scores(X[3:4])[0], rel=1e-12
    )
    for i in range(20, 40):
        arrays.learn(X[i : i + 1], y[i : i + 1])
        events.learn_one({j: v for j, v in enumerate(X[i].tolist()) if v}, y[i])
    np.testing.assert_allclose(events.weights, arrays.weights, rtol=1e-9)
    # Rows of another width are rejected, and so are rows without names once features have names.
    for learner in (arrays, events):
        for rows in (np.hstack([X, X]), X[:, :3]):
            with pytest.raises(ValueError, match="features, the model has 7"):
                learner.learn(rows, y)
        learner.learn_one({"named": 1.0, 6: 2.0}, 1.0)
        assert learner.feature_names == [*range(7), "named"]
        with pytest.raises(ValueError, match="X has 7 features, the model has 8"):
            learner.learn(X, y)
    np.testing.assert_allclose(events.weights, arrays.weights, rtol=1e-9)


def test_unnamed_columns_keep_their_numbers():
    """Columns that were not named are called by their numbers, not taken for new features."""
    X, y, _ = stream("regression")
    learner = hinge.Learner("regression")
    learner.learn(X, y)
    learner.name_columns(["a", "b"])
    before, whole = learner.weights, state(learner)
    learner.score_one({"a": 1.0, 6: 1.0})
    assert state(learner) == whole
    learner.learn_one({"new": 1.0}, 5.0)
    assert learner.feature_names == ["a", "b", 2, 3, 4, 5, 6, "new"]
    np.testing.assert_array_equal(learner.weights[:7], before)
    with pytest.raises(ValueError, match="'a' occurs twice"):
        learner.name_columns(["c", "a"])
    assert learner.n_features == 8


@pytest.mark.parametrize("bits", [1, 4, 10, 18])
@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
def test_hash_equals_that_of_scikit_learn(bits, task):
    rng = np.random.default_rng(4)
    _, y, _ = stream(task)
    words = ["", "a", "ab", "abc", "abcd", "naïve", "日本語", "🎈", "a=b", "x" * 99, *map(str, range(30))]
    events = [
        {words[k]: float(rng.normal()) for k in rng.choice(len(words), 8, replace=False)} for _ in range(60)
    ]
    for event, color in zip(events, itertools.cycle(["red", "blue"]), strict=False):
        event["color"] = color
    ours, theirs = new(task, {"hash_bits": bits}), new(task, {})
    ours.learn_many(events, y)
    theirs.learn(FeatureHasher(2**bits).transform(events), y)
    assert ours.n_features == theirs.n_features == 2**bits
    np.testing.assert_allclose(ours.weights, theirs.weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.intercept, theirs.intercept, rtol=1e-9)
    rows = FeatureHasher(2**bits).transform(events)
    np.testing.assert_allclose(
        [ours.score_one(x) for x in events], theirs.scores(rows), rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(ours.scores(rows), theirs.scores(rows), rtol=1e-9, atol=1e-12)


def test_hashed_arrays_and_events_mix():
    X, y, _ = stream("regression")
    events, rows = (hinge.Learner("regression", hash_bits=6) for _ in range(2))
    events.learn_many(as_dicts(X), y)
    rows.learn(FeatureHasher(64).transform(as_dicts(X)), y)
    np.testing.assert_allclose(events.weights, rows.weights, rtol=1e-9)
    assert events.feature_names == rows.feature_names == []
    with pytest.raises(ValueError, match="hashed columns have no names"):
        events.name_columns(["a"])


def test_unseen_features_add_distance_to_a_ball():
    learner = hinge.Learner("uniclass", radius=1.0)
    learner.learn_one({"a": 1.0})
    learner.learn_one({"a": 5.0, "b": 1.0})
    event = {"a": 2.0, "b": 0.5, "new": 3.0, "newer": -4.0}
    frame = pd.DataFrame([event])
    expected = 1.0 - np.sqrt(sum(p.contribution for p in learner.explain_one(event)))
    assert learner.score_one(event) == pytest.approx(expected)
    assert learner.scores(frame)[0] == pytest.approx(expected)
    assert learner.scores(frame[["new", "b", "a"]])[0] > expected
