"""Labels that come with the stream: in the middle of a batch, with new features, after two classes had one w.

A batch is its events, to the bit, wherever its new labels come; a refused one leaves no trace of them.
"""

from __future__ import annotations

import itertools
import pickle
import threading

import numpy as np
import pandas as pd
import pytest

import hinge
from cases import CLASSES, NAMES, as_dict, as_dicts, csr, one, sets_of, state, stream, tensors
from hinge.data import labels

COUNT = 60
ROOM = 24  # where a new label comes first
RULES = [
    {},
    {"step": "pa"},
    {"step": "pa2", "average": True},
    {"step": "perceptron", "average": True},
    {"step": "perceptron", "selection": "uniform"},
    {"selection": "prediction", "average": 9},
    {"selection": "simperc", "dtype": "float32"},
    {"selection": "simproj", "average": True, "dtype": "float32"},
    {"selection": "conproj", "step": "pa2"},
    {"selection": "mira", "average": True},
]
SHAPED = [
    {"geometry": "mahalanobis"},
    {"geometry": "mahalanobis", "step": "cw", "average": True},
    {"geometry": "mahalanobis", "step": "pa2", "selection": "simproj", "dtype": "float32"},
    {"geometry": "diagonal", "step": "perceptron", "covariance_update": "drop", "average": True},
    {"geometry": "entropy", "scale": 5.0, "average": True},
    {"geometry": "entropy", "scale": 5.0, "selection": "simproj"},
]
SETTINGS = [
    *(("classification", rule) for rule in RULES),
    *(("multilabel", rule) for rule in RULES),
    *(("multilabel", {**rule, "threshold": 0.0}) for rule in RULES[::3]),
    *(("classification", rule) for rule in SHAPED),
    *(("multilabel", rule) for rule in SHAPED[::3]),
]
settings = pytest.mark.parametrize(("task", "options"), SETTINGS, ids=str)
WAYS = ("dense", "csr", "dicts", "hashed", "frame")


def labels_of(task, seed=0):
    """Rows with all labels, of which the last two come late; the events have features of their own then."""
    X, y, weights = stream("multiclass" if task == "classification" else task, COUNT, seed)
    rng = np.random.default_rng(seed + 1)
    if task == "classification":
        early = np.isin(y, CLASSES[2:]) & (np.arange(COUNT) < ROOM)
        y[early] = rng.choice(CLASSES[:2], early.sum())
        y[ROOM + 9 : ROOM + 12] = CLASSES[3], CLASSES[2], CLASSES[3]
    else:
        y[:ROOM] = [its - set(CLASSES[2:]) for its in y[:ROOM]]
        y[ROOM + 9] = frozenset(CLASSES[1:])
    weights[:2], weights[ROOM + 9 : ROOM + 12] = 1.0, 1.0
    return X, y, weights


def learner(task, options, way="dense"):
    return hinge.Learner(task, C=0.3, **options, **({"hash_bits": 5} if way == "hashed" else {}))


def data_for(way, X):
    """All rows as that way takes them, and how to take some."""
    if way == "dense":
        return X
    if way == "csr":
        return csr(X)
    if way == "frame":
        return pd.DataFrame(X, columns=NAMES)
    events = as_dicts(X)
    for i, event in enumerate(events):
        event[f"new{i // 5}"] = 0.5
    return np.array(events, dtype=object)


def learn(model, data, y, weights, rows):
    part = data[rows]
    model.learn_many(
        part.tolist() if isinstance(part, np.ndarray) and part.dtype == object else part,
        y[rows],
        weights[rows],
    )


@settings
@pytest.mark.parametrize("way", WAYS)
def test_a_batch_is_its_events(task, options, way):
    X, y, weights = labels_of(task)
    data = data_for(way, X)
    whole, parts, rows = (learner(task, options, way) for _ in range(3))
    learn(whole, data, y, weights, slice(0, COUNT))
    for start, stop in itertools.pairwise((0, 1, 7, ROOM, ROOM + 10, ROOM + 11, COUNT)):
        learn(parts, data, y, weights, slice(start, stop))
        parts = hinge.Learner.from_bytes(parts.to_bytes())
    for i in range(COUNT):
        learn(rows, data, y, weights, slice(i, i + 1))
        if i % 20 == 3:
            rows = pickle.loads(pickle.dumps(rows))
    assert sorted(whole.labels.known) == CLASSES
    assert set(whole.labels.known[:2]) == set(CLASSES[:2])
    assert state(whole) == state(parts) == state(rows)
    assert whole.statistics.updates > 5
    if way in ("dicts", "hashed"):
        single = learner(task, options, way)
        for i, event in enumerate(data):
            single.learn_one(event, one(y, i), float(weights[i]))
        assert state(single) == state(whole)


@settings
@pytest.mark.parametrize("seed", range(4))
def test_labels_in_any_order(task, options, seed):
    """Whatever comes first, and whatever has no weight: the same as one by one."""
    X, y, weights = stream("multiclass" if task == "classification" else task, COUNT, seed)
    whole, single = learner(task, options), learner(task, options)
    events = as_dicts(X)
    whole.learn_many(events, y, weights)
    for i, event in enumerate(events):
        single.learn_one(event, one(y, i), float(weights[i]))
    assert state(whole) == state(single)
    order = np.random.default_rng(seed).permutation(COUNT)[:50]
    ordered, sorted_ = learner(task, options), learner(task, options)
    ordered.learn(X, y, weights, order=order)
    sorted_.learn(X[order], y[order], weights[order])
    assert state(ordered) == state(sorted_)
    limited = learner(task, options)
    limited.learn(X, y, weights, max_updates=3)
    assert limited.statistics.updates == 3


@pytest.mark.parametrize("options", [{}, {"average": True}, {"average": True, "dtype": "float32"}], ids=str)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_two_classes_become_lanes_with_half_of_w_each(step, options):
    """Exactly. The event that brings the third class has no features, so that nothing moves."""
    X, y, _ = labels_of("classification")
    two, three = (
        hinge.Learner("classification", step=step, fit_intercept=False, **options) for _ in range(2)
    )
    events = as_dicts(X)
    for model in (two, three):
        model.learn_many(events[:ROOM], y[:ROOM])
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
def test_two_classes_become_lanes_with_half_of_the_intercept_each(step):
    X, y, _ = labels_of("classification")
    model = hinge.Learner("classification", step=step)
    model.learn_many(as_dicts(X[:ROOM]), y[:ROOM])
    w, b = model.weights, model.intercept
    model.learn_one({}, "zebra")  # moves intercepts only: the new class up, the highest one down
    np.testing.assert_array_equal(model.weights, np.outer([-0.5, 0.5, 0.0], w))
    moved = model.intercept - np.array([-b / 2, b / 2, 0.0])
    assert np.count_nonzero(moved) == 2
    assert moved[2] > 0
    assert moved[int(b > 0)] == pytest.approx(-moved[2])


# ---- all or nothing --------------------------------------------------------------------------------------


BAD = {
    "a value": lambda X, y, w: (np.where(np.arange(COUNT)[:, None] == COUNT - 1, np.nan, X), y, w),
    "a weight": lambda X, y, w: (X, y, np.where(np.arange(COUNT) == COUNT - 1, -1.0, w)),
    "a square": lambda X, y, w: (np.where(np.arange(COUNT)[:, None] == COUNT - 1, 1e300, X), y, w),
}


@settings
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("bad", BAD)
def test_a_refused_batch_leaves_no_label(task, options, way, bad):
    """Neither labels nor features nor lanes: the bad row is the last one."""
    X, y, weights = labels_of(task)
    spoiled = BAD[bad](X, y, weights)
    for known in (0, 1, 10, ROOM, ROOM + 10, COUNT):
        model = learner(task, options, way)
        if known:
            learn(model, data_for(way, X[:known]), y, weights, slice(0, known))
        before = state(model)
        with pytest.raises(ValueError, match=r"^row 59[:,]"):
            learn(model, data_for(way, spoiled[0]), spoiled[1], spoiled[2], slice(0, COUNT))
        assert state(model) == before
        other = hinge.Learner.from_bytes(before)
        for m in (model, other):  # and it goes on as if nothing had been
            learn(m, data_for(way, X), y, weights, slice(0, COUNT))
        assert state(model) == state(other)


@settings
@pytest.mark.parametrize("known", [0, 1, 2, 3])
def test_a_refused_event_leaves_no_label(task, options, known):
    model = learner(task, options)
    for k, label in enumerate(CLASSES[:known]):
        model.learn_one({"a": 1.0 - k, f"f{k}": 1.0}, [label] if task == "multilabel" else label)
    before = state(model)
    fresh = {"new", "newer"} if task == "multilabel" else "new"
    for event, weight in (
        ({"a": 1.0, "n": float("nan")}, 1.0),
        ({"a": 1e200, "n": 1.0}, 1.0),
        ({"a": 1.0, "n": object()}, 1.0),
        ({"a": 1.0, "n": 1.0}, -1.0),
        ({"a": 1.0, "n": 1.0}, float("nan")),
        ({"a": 1.0, "n": 1.0}, float("inf")),
    ):
        with pytest.raises(ValueError):
            model.learn_one(event, fresh, weight)
        assert state(model) == before
    with pytest.raises(TypeError):
        model.learn_one({"a": 1.0, "n": 1.0}, fresh, "heavy")
    with pytest.raises(TypeError):
        model.learn_one(["a"], fresh)
    model.learn_one({"a": 1.0, "n": 1.0}, fresh, 0.0)  # teaches nothing
    assert state(model) == before
    model.learn_one({"a": 1.0}, fresh)
    assert {"new"} <= set(model.labels.known)


@settings
def test_rows_without_weight_teach_no_label(task, options):
    X, y, _ = labels_of(task)
    events, arrays = learner(task, options), learner(task, options)
    fresh = state(events)
    events.learn_many(as_dicts(X), y, np.zeros(COUNT))
    assert state(events) == fresh
    arrays.learn(X, y, np.zeros(COUNT))
    if task == "multilabel":
        arrays.learn(X, np.array([[c in its for c in CLASSES] for its in y]), np.zeros(COUNT))
    assert arrays.labels.known == []
    assert arrays.statistics.rounds == 0
    rows = np.arange(COUNT) < ROOM
    some, rest = learner(task, options), learner(task, options)
    some.learn(X, y, rows.astype(float))
    rest.learn(X[rows], y[rows])
    assert state(some) == state(rest)
    assert set(some.labels.known) == set(CLASSES[:2])


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


# ---- what comes in ---------------------------------------------------------------------------------------


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


def test_empty_and_full_sets_ask_for_no_ranking():
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


# ---- threads ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_labels_from_four_threads(task):
    """Every round counts, every label is there once, and who reads meanwhile reads a whole model."""
    model, done, errors = hinge.Learner(task, average=True), threading.Event(), []

    def guarded(job):
        try:
            job()
        except BaseException as error:  # shown in the main thread
            errors.append(error)

    def write(offset):
        for k in range(120):
            label = f"label{(k // 3 + offset) % 25}"
            event = {f"f{(k + offset) % 17}": 1.0, "all": -0.5}
            if k % 4:
                model.learn_one(event, {label} if task == "multilabel" else label)
            else:
                model.learn_many([event] * 2, [{label}] * 2 if task == "multilabel" else [label] * 2)

    def read():
        while not done.is_set():
            again = hinge.Learner.from_bytes(model.to_bytes())
            assert len(set(again.labels.known)) == len(again.labels.known)
            model.predict_one({"all": 1.0})
            model.score_one({"all": 1.0, "f3": 1.0})
            model.statistics  # noqa: B018

    writers = [threading.Thread(target=guarded, args=[lambda k=k: write(k)]) for k in (0, 5, 11)]
    reader = threading.Thread(target=guarded, args=[read])
    for thread in (*writers, reader):
        thread.start()
    for thread in writers:
        thread.join(60)
    done.set()
    reader.join(60)
    assert errors == []
    assert model.statistics.rounds == 3 * (90 + 60)
    assert sorted(model.labels.known) == sorted(f"label{k}" for k in range(25))
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_an_event_is_as_wide_as_its_labels():
    model = hinge.Learner("classification")
    model.learn_many([as_dict(row) for row in np.eye(7)[:4]], CLASSES)
    assert model.weights.shape == (4, 4)
    assert set(model.named_weights()) == set(CLASSES)
    assert list(model.named_weights()["ant"]) == NAMES[:4]
    assert list(model.score_one({"alpha": 1.0})) == model.labels.known


def test_new_labels_do_not_cost_the_square_of_their_number():
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


def test_named_weights_are_those_of_one_moment():
    learner = hinge.Learner("classification")
    for label in "abc":
        learner.learn_one({label: 1.0}, label)

    def grow():
        for k in range(300):
            learner.learn_many([{f"f{k}-{j}": 1.0} for j in range(3)], [f"label {k % 40}", "a", "b"])

    thread = threading.Thread(target=grow)
    thread.start()
    while thread.is_alive():
        named = learner.named_weights()
        assert len({len(weights) for weights in named.values()}) == 1
    thread.join()
    assert len(learner.named_weights()) == 43
