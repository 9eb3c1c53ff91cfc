"""Labels: two classes that become three, limits, sets in any container, and memory."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import hinge
from cases import CLASSES, NAMES, as_dict, as_dicts, csr, sets_of, state, stream, tensors
from contract_cases import LabelCase
from hinge.data import labels


def early_labels():
    """Examples of two classes."""
    case = LabelCase("two classes", "classification", {})
    data = case.data("dense")[: case.room]
    return data.X, data.y


@pytest.mark.parametrize("options", [{}, {"average": True}, {"average": True, "dtype": "float32"}], ids=str)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_two_classes_get_half_of_the_weights_each(step, options):
    """Exactly. The event that brings the third class has no features, so that nothing moves."""
    X, y = early_labels()
    two, three = (
        hinge.Learner("classification", step=step, fit_intercept=False, **options) for _ in range(2)
    )
    events = as_dicts(X)
    for model in (two, three):
        model.learn_many(events, y)
    two.learn_one({}, CLASSES[0])
    three.learn_one({}, "zebra")
    assert three.labels.known == [*CLASSES[:2], "zebra"]
    np.testing.assert_array_equal(three.last_weights, np.outer([-0.5, 0.5, 0.0], two.last_weights))
    np.testing.assert_array_equal(three.weights, np.outer([-0.5, 0.5, 0.0], two.weights))
    for event in events:
        half = two.score_one(event) / 2
        assert list(three.score_one(event).values()) == pytest.approx(
            [-half, half, 0.0], rel=1e-12, abs=1e-15
        )
        if half:  # else the new class ties
            assert three.predict_one(event) == two.predict_one(event)


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_two_classes_get_half_of_the_intercept_each(step):
    X, y = early_labels()
    model = hinge.Learner("classification", step=step)
    model.learn_many(as_dicts(X), y)
    w, b = model.weights, model.intercept
    model.learn_one({}, "zebra")  # moves intercepts only: the new class up, the highest one down
    np.testing.assert_array_equal(model.weights, np.outer([-0.5, 0.5, 0.0], w))
    moved = model.intercept - np.array([-b / 2, b / 2, 0.0])
    assert np.count_nonzero(moved) == 2
    assert moved[2] > 0
    assert moved[int(b > 0)] == pytest.approx(-moved[2])


@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_max_labels_is_a_limit(task):
    def truth(label):
        return {label} if task == "multilabel" else label

    for known in range(4):
        model = hinge.Learner(task, max_labels=3, average=True)
        for label in CLASSES[:known]:
            model.learn_one({"a": 1.0}, truth(label))
        before, message = (
            state(model),
            r"label 'dog' is new, and the model has 3 labels, its limit \(max_labels\)",
        )
        y = [truth(label) for label in CLASSES]
        with pytest.raises(ValueError, match=message):
            model.learn_many([{"n": 1.0}, {"a": 2.0}, {"a": 1.0}, {"b": 1.0}], y)
        assert state(model) == before
        with pytest.raises(ValueError, match=message):
            model.learn(np.eye(4), y) if known == 0 else model.learn_many(pd.DataFrame(np.eye(4)), y)
        assert state(model) == before
    with pytest.raises(ValueError, match=message):
        model.learn_one({"new": 1.0}, truth("dog"))
    assert state(model) == before
    with pytest.raises(ValueError, match=r"4 classes, the limit is 3 \(max_labels\)"):
        hinge.Learner(task, max_labels=3, classes=CLASSES)


@pytest.mark.parametrize("options", [{}, {"threshold": 0.0, "average": True}], ids=str)
def test_sets_in_any_container(options):
    X, _, weights = stream("multilabel")
    _, y, _ = stream("multilabel")
    matrix = np.array([[label in its for label in CLASSES] for its in y])
    ways = [
        [set(its) for its in y],
        [list(its) for its in y],
        [tuple(sorted(its, reverse=True)) for its in y],
        tuple(y),
        y,
        pd.Series(list(y)),
        [np.array(sorted(its)) for its in y],
        matrix,
        matrix.astype(int),
        matrix.astype(float),
        matrix.astype(np.float32),
        np.asfortranarray(matrix),
        csr(matrix.astype(float)),
        csr(matrix.astype(int)).tocsc(),
        pd.DataFrame(matrix, columns=CLASSES),
        pd.DataFrame(matrix.astype(int), columns=CLASSES)[CLASSES[::-1]],
    ]
    expected = None
    for sets in ways:
        model = hinge.Learner("multilabel", classes=CLASSES, **options)
        model.learn(X, sets, weights)
        expected = expected or state(model)
        assert state(model) == expected
    for sets in (ways[7], ways[12]):  # columns without names are called by their numbers
        model = hinge.Learner("multilabel", **options)
        model.learn(X, sets, weights)
        assert model.labels.known == [0, 1, 2, 3]
        assert tensors(model) == tensors(hinge.Learner.from_bytes(expected))
    named = hinge.Learner("multilabel", **options)
    named.learn(X, ways[14], weights)
    assert named.labels.known == CLASSES


def test_empty_and_full_sets_do_not_move_the_ranking():
    """Right by definition: no loss; the learned threshold may move, the ranking does not."""
    X, y, _ = stream("multilabel")
    for threshold in ("learned", 0.0):
        for its in (frozenset(), frozenset(CLASSES)):
            model = hinge.Learner("multilabel", classes=CLASSES, threshold=threshold)
            model.learn(X, y)
            before, weights, stats = state(model), model.weights, model.statistics
            for _ in range(5):
                model.learn(X[:20], sets_of(np.full((20, 4), len(its) == 4)))
            np.testing.assert_array_equal(model.weights, weights)
            assert model.statistics.rounds == stats.rounds + 100
            for field in ("loss", "mistakes", "updates", "progress", "cost"):
                assert getattr(model.statistics, field) == getattr(stats, field)
            if threshold == "learned":
                assert state(model) != before
                assert np.mean([len(model.predict_one(dict(enumerate(x)))) for x in X[:20]]) == pytest.approx(
                    len(its), abs=1.5
                )


def test_memory_grows_with_labels_and_features():
    small, large = hinge.Learner("multilabel"), hinge.Learner("multilabel")
    small.learn(np.eye(4, 1000), [{k} for k in range(4)])
    large.learn(np.eye(40, 1000), [{k} for k in range(40)])
    assert 8 * 1000 * 5 <= small.__sizeof__() <= 8 * 1000 * 16
    assert 8 * 1000 * 41 <= large.__sizeof__() <= 8 * 1000 * 80
    ordinal = hinge.Learner("ordinal", classes=list(range(50)))  # all ranks share one w
    ordinal.learn(np.eye(2, 1000), [3, 40])
    assert ordinal.__sizeof__() <= 8 * 1000 * 3


def test_weights_have_one_row_per_label():
    model = hinge.Learner("classification")
    model.learn_many([as_dict(row) for row in np.eye(7)[:4]], CLASSES)
    assert model.weights.shape == (4, 4)
    assert set(model.named_weights()) == set(CLASSES)
    assert list(model.named_weights()["ant"]) == NAMES[:4]
    assert list(model.score_one({"alpha": 1.0})) == model.labels.known


def test_cost_of_new_labels_is_linear_in_their_number():
    """What is known is not looked at again with each new label: `plain` sees each one that is."""
    looked_at = []
    original = labels.plain
    labels.plain = lambda label: looked_at.append(label) or original(label)
    try:
        learner = hinge.Learner("classification", max_labels=1000)
        for k in range(300):
            learner.learn_one({f"f{k % 5}": 1.0}, f"label {k}")
        learner.learn_many([{"a": 1.0}] * 300, [f"more {k}" for k in range(300)])
    finally:
        labels.plain = original
    assert len(learner.labels.known) == 600
    assert len(looked_at) < 10 * 600
    assert learner.labels.codes == {label: float(k) for k, label in enumerate(learner.labels.known)}
