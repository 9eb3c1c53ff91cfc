"""Threads share models: no crash, no lost round, and a reader sees a whole model."""

from __future__ import annotations

import threading
import time

import numpy as np
import pandas as pd
import pytest

import hinge
from cases import COMMITTEES, LABELS, WIDTH, as_dicts, new, part, stream
from concurrency import (
    LONG_CLASSES,
    PLAIN,
    SHAPED,
    TASKS,
    Calls,
    long_stream,
    run,
    run_while,
    switching_often,
)
from contract_cases import SEQUENCES, KernelCase, LearnerCase
from kernel_cases import name as kernel_name
from kernel_cases import own
from sequence_cases import TAGS
from sequence_cases import new as new_tagger
from sequence_cases import stream as sentences


class Longer(LearnerCase):
    count = 200


LEARNERS = [
    Longer(f"{task}-{options.get('geometry', 'plain')}", task, {"average": True, **options})
    for task, options in (*PLAIN, *SHAPED)
]
LEARNERS += [
    Longer(f"{task}-committee-{i}", task, options) for i, (task, options) in enumerate(COMMITTEES[::3])
]
KERNELS = [
    KernelCase(
        f"{kernel_name(kernel)}-{budget}", "multiclass", {"kernel": kernel, "gamma": 0.3, "budget": budget}
    )
    for kernel in ("rbf", own)
    for budget in (None, 12)
]
TAGGERS = SEQUENCES[::16]


@pytest.fixture(autouse=True)
def switch_often():
    with switching_often():
        yield


def learn_in_parts(case, model, data):
    for start in range(0, len(data), 10):
        case.learn(model, data[start : start + 10])


def check_whole(case, model):
    """All that can be read is finite, and of one moment."""
    form = "events" if case.is_sequence else "dense"
    for question in case.questions(form):
        answer = question(model)
        if isinstance(answer, (float, np.ndarray)):
            assert np.isfinite(answer).all()
    if case.is_sequence:
        X = case.data().X[::7]
        tagged = model.predict(X)
        assert [len(tags) for tags in tagged] == [len(x) for x in X]
        assert all(tag in TAGS for tags in tagged for tag in tags)
    elif case.has_covariance:
        assert (model.uncertainty(case.data("dense").X) >= 0).all()
    elif case.kernel is not None:
        supports = model.supports
        assert supports.vectors.shape[0] == len(supports.numbers)


def rounds(model):
    return (model.statistics if hasattr(model, "statistics") else model.stats_).rounds


@pytest.mark.parametrize("case", [*LEARNERS, *KERNELS[:2], *TAGGERS], ids=repr)
def test_models_in_two_threads_learn_as_if_alone(case):
    forms = ("events",) if case.is_sequence else ("dense", "events")
    alone, *models = (case.new() for _ in range(3))

    def learn(model):
        for form in forms:
            learn_in_parts(case, model, case.data(form))

    learn(alone)
    run(*(lambda model=model: learn(model) for model in models))
    for model in models:
        case.assert_same(model, alone)


@pytest.mark.parametrize("case", [*LEARNERS, *TAGGERS], ids=repr)
def test_rounds_of_three_threads_add_up(case):
    data = case.data("events" if case.is_sequence else "dense").weighing(1.0)
    events = data if case.is_sequence else case.data("numbered").weighing(1.0)
    model = case.learned(data[:1], **({"classes": TAGS} if case.is_sequence else {}))
    before, seen = rounds(model), []

    def learn_events():
        for i in range(len(events)):
            case.learn_one(model, *events.one(i))

    def learn_rows():
        learn_in_parts(case, model, data)

    def read():
        saved = case.state(model)
        again = case.learner_from_bytes(saved) if case.is_sequence else hinge.Learner.from_bytes(saved)
        seen.append(rounds(again))

    run_while(lambda: run(learn_rows, learn_events, learn_rows), read, lambda: check_whole(case, model))
    assert seen == sorted(seen)
    assert rounds(model) == before + 3 * len(data)
    if case.is_sequence:
        assert set(model.classes_) == set(TAGS)
        assert len(set(model.attributes_)) == len(model.attributes_)


@pytest.mark.parametrize("case", [*KERNELS, *LEARNERS[::4], *TAGGERS], ids=repr)
def test_predictions_do_not_change_what_is_learned(case):
    data = case.data(case.forms[0]).weighing(1.0)
    more = {"classes": TAGS} if case.is_sequence else {}
    model, alone = (case.learned(data[:1], **more) for _ in range(2))
    seen = []

    def read():
        check_whole(case, model)
        seen.append(rounds(model))

    run_while(lambda: learn_in_parts(case, model, data), read)
    learn_in_parts(case, alone, data)
    case.assert_same(model, alone)
    assert seen == sorted(seen)


@pytest.mark.parametrize("task", [*TASKS, "multiclass", "ordinal"])
def test_other_threads_run_while_a_batch_is_learned(task):
    X, y = long_stream(task, 3_000_000)
    model = new(task, {}, **LONG_CLASSES.get(task, {}))
    model.learn(X[:10], part(y, slice(10)))
    for way in (lambda: model.learn(X, y), lambda: model.scores(X)):
        learning, learned = threading.Event(), threading.Event()

        def work(way=way, learning=learning, learned=learned):
            learning.set()
            way()
            learned.set()

        worker = threading.Thread(target=work)
        worker.start()
        learning.wait()
        turns = 0
        while not learned.is_set():
            turns += 1
            time.sleep(1e-4)
        worker.join()
        assert turns > 20  # with the GIL held it would be a turn or two


def test_readers_do_not_disturb_each_other():
    """A value may let another thread read in the middle of a read."""
    model = hinge.Learner("regression", classes=None, fit_intercept=False)
    model.learn_many([{"a": 1.0}, {"b": 2.0}, {"c": 3.0}], [1.0, 2.0, 3.0])
    wide = {"a": 1.0, "b": Calls(lambda: time.sleep(1e-4)), "c": Calls(lambda: time.sleep(1e-4))}
    narrow = {"a": Calls(lambda: time.sleep(1e-4)), "c": 1.0}
    expected = [model.score_one(x) for x in (wide, narrow)]

    def job(event, score):
        def check():
            for _ in range(100):
                assert model.score_one(event) == score

        return check

    run(job(wide, expected[0]), job(narrow, expected[1]), job(wide, expected[0]))


# ---- labels, columns and names that come from several threads ----------------------------------------------------


def test_known_labels_in_two_threads():
    events = as_dicts(stream("classification", 300)[0])
    model = hinge.Learner("classification", classes=LABELS.tolist())
    run(*(lambda label=label: [model.learn_one(x, label) for x in events] for label in LABELS.tolist()))
    assert model.statistics.rounds == 600


@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_new_labels_from_three_threads(task):
    """Every round counts, every label is there once, and a reader sees a whole model."""
    model = hinge.Learner(task, average=True)

    def write(offset):
        for k in range(120):
            label = f"label{(k // 3 + offset) % 25}"
            y = {label} if task == "multilabel" else label
            event = {f"f{(k + offset) % 17}": 1.0, "all": -0.5}
            if k % 4:
                model.learn_one(event, y)
            else:
                model.learn_many([event] * 2, [y] * 2)

    def read():
        again = hinge.Learner.from_bytes(model.to_bytes())
        assert len(set(again.labels.known)) == len(again.labels.known)
        model.predict_one({"all": 1.0})
        model.score_one({"all": 1.0, "f3": 1.0})
        assert model.statistics is not None

    run_while(lambda: run(*(lambda k=k: write(k) for k in (0, 5, 11))), read)
    assert model.statistics.rounds == 3 * (90 + 60)
    assert sorted(model.labels.known) == sorted(f"label{k}" for k in range(25))
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_named_weights_are_those_of_one_moment():
    learner = hinge.Learner("classification")
    for label in "abc":
        learner.learn_one({label: 1.0}, label)

    def grow():
        for k in range(300):
            learner.learn_many([{f"f{k}-{j}": 1.0} for j in range(3)], [f"label {k % 40}", "a", "b"])

    def read():
        assert len({len(weights) for weights in learner.named_weights().values()}) == 1

    run_while(grow, read)
    assert len(learner.named_weights()) == 43


def test_weights_of_tags_are_read_whole():
    model = new_tagger({}).learn_one([["a"], ["b"]], ["A", "B"])

    def learn():
        for k in range(400):
            model.learn_one([["a"], [f"f{k}"]], ["A", f"T{k % 50}"])

    def read():
        assert model.state_features_ is not None
        assert model.transition_features_ is not None

    run_while(learn, read, read)


def test_predictions_while_new_tags_come():
    X, y, _ = sentences(60)
    for _ in range(5):
        model = new_tagger({}).learn_many([], [])

        def learn(some, model=model):
            for x, tags in zip(X[some], y[some], strict=True):
                model.learn_one(x, [f"{tag}{some.start}" for tag in tags])

        def predict(model=model):
            for x in X * 3:
                assert len(model.predict_one(x)) == len(x)

        run(lambda: learn(slice(0, 30)), lambda: learn(slice(30, 60)), predict)


def test_first_calls_in_several_threads():
    X, y, _ = sentences(8)
    for _ in range(40):
        model = new_tagger({})
        learn = lambda model=model: [model.learn_one(x, tags) for x, tags in zip(X, y, strict=True)]  # noqa: E731
        run(learn, learn, lambda model=model: model.predict_one(X[0]))
        assert model.stats_.rounds == 16


@pytest.mark.parametrize("average", [False, True])
def test_rejection_in_one_thread_takes_nothing_from_another(average):
    """New columns are taken back after a rejection, unless another thread has learned in them by then."""
    model = hinge.Learner("regression", average=average, fit_intercept=False, step="pa")
    model.learn_one({"a": 1.0}, 1.0)
    frame = pd.DataFrame({"a": [1.0], "new": [1.0]})

    def bad():
        for _ in range(300):
            with pytest.raises(ValueError, match="target is NaN"):
                model.learn_many(frame, [np.nan])

    def good():
        for k in range(300):
            model.learn_one({f"f{k}": 1.0}, 1.0)

    run(bad, good, bad)
    assert model.statistics.rounds == 301
    assert {f"f{k}" for k in range(300)} <= set(model.feature_names)
    for k in range(300):
        assert model.score_one({f"f{k}": 1.0}) != 0 or (average and k == 299)


def test_columns_are_named_once():
    X, y, _ = stream("regression", 20)
    for _ in range(20):
        model = hinge.Learner("regression")
        model.learn(X, y)
        run(*[lambda m=model: m.learn(X, y)] * 3, lambda m=model: m.score_one({6: 1.0}))
        assert model.feature_names == []  # predicting names nothing
        run(*[lambda m=model: m.learn_one({0: 1.0}, 1.0)] * 4)
        assert model.statistics.rounds == 84
        assert model.feature_names == [*range(7)]


@pytest.mark.parametrize("task", TASKS)
def test_frames_and_events_in_two_threads(task):
    """New names come from both sides at once: each value goes to its own column."""
    X, y, _ = stream(task, 100)
    model = new(task, {"average": True})
    frames = [pd.DataFrame(X[k : k + 1], columns=[f"c{k}-{j}" for j in range(WIDTH)]) for k in range(100)]

    def learn_frames():
        for k, frame in enumerate(frames):
            model.learn_many(frame, part(y, slice(k, k + 1)))

    def learn_events():
        for k in range(100):
            model.learn_one({f"e{k}": 1.0}, None if y is None else y[k].item())

    run(learn_frames, learn_events, learn_events)
    assert len(set(model.feature_names)) == model.n_features == 100 * WIDTH + 100
    assert model.statistics.rounds == 300 - (task == "uniclass")
    again = hinge.Learner.from_bytes(model.to_bytes())
    assert again.feature_names == model.feature_names
    if task != "uniclass":  # a column that learned has the sign of its value
        weights = dict(zip(model.feature_names, model.last_weights.tolist(), strict=True))
        for k in range(100):
            moved = np.array([weights[f"c{k}-{j}"] for j in range(WIDTH)])
            step = moved @ X[k]
            np.testing.assert_allclose(moved * (X[k] @ X[k]), step * X[k], atol=1e-9)
