"""Threads, interrupts, and calls from within calls: no crash, no lost round, no half-made batch."""

from __future__ import annotations

import signal
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest

import hinge
from cases import LABELS, WIDTH, as_dicts, new, number, one, part, state, stream

TASKS = ("classification", "regression", "uniclass")
LABELLED = ("multiclass", "multilabel", "ordinal")
LONG = (*TASKS, "multiclass", "ordinal")
SHAPED = [
    ("classification", {"geometry": "mahalanobis"}),
    ("multiclass", {"geometry": "diagonal", "step": "cw"}),
    ("ordinal", {"geometry": "mahalanobis"}),
    ("regression", {"geometry": "entropy", "scale": 5.0}),
    ("uniclass", {"geometry": "entropy"}),
    ("multilabel", {"geometry": "entropy", "scale": 5.0, "selection": "simproj"}),
]
CASES = [*((task, {}) for task in (*TASKS, *LABELLED)), *SHAPED]
cases = pytest.mark.parametrize(("task", "options"), CASES, ids=str)
CLASSES = {"classification": {"classes": [0, 1]}, "multiclass": {"classes": [0, 1, 2]}}  # of long streams


def run(*jobs):
    """In one thread each, all at once; errors are raised here."""
    errors = []
    start = threading.Barrier(len(jobs))

    def guarded(job):
        try:
            start.wait()
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=[job]) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.fixture(autouse=True)
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def long_stream(task, count):
    """Many rows; all the same one, so that they take no memory."""
    X, y, _ = stream(task)
    y = {"regression": np.full(count, 0.5), "uniclass": None}.get(task, np.ones(count))
    return np.broadcast_to(X[1], (count, WIDTH)), y


@cases
def test_two_models_in_two_threads(task, options):
    X, y, weights = stream(task, 400)
    options = {"average": True, **options}
    alone = new(task, options)
    alone.learn(X, y, weights)
    alone.learn_many(as_dicts(X), y, weights)
    models = [new(task, options) for _ in range(2)]

    def job(model):
        def learn():
            for start in range(0, len(X), 20):
                chunk = slice(start, start + 20)
                model.learn(X[chunk], part(y, chunk), weights[chunk])
            model.learn_many(as_dicts(X), y, weights)

        return learn

    run(*map(job, models))
    assert state(models[0]) == state(models[1]) == state(alone)


@cases
def test_one_model_in_four_threads(task, options):
    """Rounds add up, and whoever reads meanwhile reads a whole model."""
    X, y, _ = stream(task, 200)
    model = new(task, {"average": True, **options})
    model.learn(X[:1], part(y, slice(1)))
    before = model.statistics.rounds
    done = threading.Event()
    seen = []

    def rows():
        for start in range(0, len(X), 10):
            chunk = slice(start, start + 10)
            model.learn(X[chunk], part(y, chunk))

    def events():
        for i in range(len(X)):
            model.learn_one(dict(enumerate(X[i].tolist())), one(y, i))

    def read():
        while not done.is_set():
            again = hinge.Learner.from_bytes(model.to_bytes())
            seen.append(again.statistics.rounds)
            assert np.isfinite(model.scores(X)).all()
            assert np.isfinite(number(model.score_one({0: 1.0, "unseen": 2.0}))).all()
            model.explain_one({0: 1.0})
            if options.get("geometry") in ("mahalanobis", "diagonal"):
                assert (model.uncertainty(X) >= 0).all()
                assert model.uncertainty_one({0: 1.0, "unseen": 2.0}) > 0
                assert np.isfinite(model.covariance).all()

    def write():
        try:
            run(rows, events, rows)
        finally:
            done.set()

    run(write, read)
    assert model.statistics.rounds == before + 3 * len(X)
    assert seen == sorted(seen)


@pytest.mark.parametrize("task", LONG)
def test_the_interpreter_goes_on_while_a_batch_is_learned(task):
    X, y = long_stream(task, 3_000_000)
    model = new(task, {}, **CLASSES.get(task, {}))
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


@pytest.fixture
def handler():
    """Sets what SIGINT does, for one test."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    before = signal.getsignal(signal.SIGINT)
    yield lambda function: signal.signal(signal.SIGINT, function)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(
    ("task", "options"), [*((task, {}) for task in LONG), *SHAPED[:2], SHAPED[3]], ids=str
)
@pytest.mark.parametrize("average", [False, True])
def test_an_interrupt_takes_the_whole_batch_back(task, options, average, handler):
    X, y = long_stream(task, 5_000_000)
    model = new(
        task,
        {"average": average, "step": "pa2", "C": 1e-6, **options},  # every round is an update
        **CLASSES.get(task, {}),
    )
    if task == "uniclass":
        model.learn(-50 * X[:1])
    model.learn(X[:10], part(y, slice(10)))
    before = state(model)
    busy, stop = [], threading.Event()

    def interrupt(_number, _frame):
        if busy:
            return
        try:
            model.score_one({0: 1.0})
        except RuntimeError as error:  # now it is in the middle of the batch
            busy.append(str(error))
            raise KeyboardInterrupt from None

    def press():
        while not stop.wait(0.005):
            signal.raise_signal(signal.SIGINT)

    handler(interrupt)
    presser = threading.Thread(target=press)
    presser.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.learn(X, y)
    finally:
        stop.set()
        presser.join()
    assert "called from within" in busy[0]
    assert state(model) == before
    model.learn(X[:5], part(y, slice(5)))  # and goes on
    assert model.statistics.updates > 0


class Calls:
    """A value that calls back when it is read."""

    def __init__(self, call):
        self.call = call

    def __float__(self):
        self.call()
        return 1.0


@cases
def test_a_call_from_within_a_call_is_refused(task, options):
    """It would wait for itself, or change what is being read."""
    X, y, _ = stream(task)
    model = new(task, options)
    model.learn(X, y)
    model.learn_many(as_dicts(X), y)
    truth = one(y, 0)
    other = new(task, options)
    inner = [
        lambda: model.learn_one({"alpha": 1.0}, truth),
        lambda: model.score_one({"alpha": 1.0}),
        lambda: model.learn(X, y),
        lambda: model.scores(X),
        lambda: model.to_bytes(),
        lambda: model.weights,
        lambda: model.statistics,
        lambda: model.explain_one({"alpha": 1.0}),
        lambda: model.n_features,
        lambda: model.learn_many([{"alpha": 1.0}], part(y, slice(1))),
        lambda: model.name_columns(["new"]),
    ]
    outer = [
        lambda x: model.learn_one(x, truth),
        lambda x: model.score_one(x),
        lambda x: model.explain_one(x),
        lambda x: model.learn_many([x], part(y, slice(1))),
    ]
    if options.get("geometry") in ("mahalanobis", "diagonal"):
        inner += [lambda: model.uncertainty_one({"alpha": 1.0}), lambda: model.covariance]
        outer.append(lambda x: model.uncertainty_one(x))
    before = state(model)
    for outside in outer:
        for inside in inner:
            with pytest.raises((RuntimeError, ValueError), match="busy"):
                outside({"beta": 1.0, "alpha": Calls(inside), "gamma": 2.0})
            assert state(model) == before
        outside({"beta": 1.0, "alpha": Calls(lambda: other.learn_one({"a": 1.0}, truth))})  # another one may
        before = state(model)
    assert other.statistics.rounds >= 3


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


def test_labels_met_in_two_threads():
    X, _, _ = stream("classification", 300)
    model = hinge.Learner("classification", classes=LABELS.tolist())
    run(*(lambda label=label: [model.learn_one(x, label) for x in as_dicts(X)] for label in LABELS.tolist()))
    assert model.statistics.rounds == 600


@pytest.mark.parametrize("average", [False, True])
def test_a_refusal_in_one_thread_takes_nothing_from_another(average):
    """New columns are taken back after a refusal, unless another thread has learned in them by then."""
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
