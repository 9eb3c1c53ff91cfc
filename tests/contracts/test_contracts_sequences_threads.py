"""The contracts of PASequence, continued: threads, calls from within, and interrupts."""

from __future__ import annotations

import copy
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from hinge import PASequence
from hinge.structured.sequence_learner import SequenceLearner
from sequence_cases import CASES, TAGS, name, new, state, stream

# ---- threads --------------------------------------------------------------------------------------------------


@pytest.fixture
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


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

    threads = [threading.Thread(target=guarded, args=[job], daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.usefixtures("switch_often")
@pytest.mark.parametrize("options", CASES[::16], ids=name)
def test_predictions_while_it_learns(options):
    """Whoever reads reads a whole model: known tags, one for each token."""
    X, y, _ = stream(60)
    model = new(options, classes=TAGS).learn_one(X[0], y[0])
    done = threading.Event()
    seen = []

    def learn():
        try:
            for start in range(1, 60, 5):
                model.learn_many(X[start : start + 4], y[start : start + 4])
                model.learn_one(X[start + 4 - 60], y[start + 4 - 60])
        finally:
            done.set()

    def predict():
        while not done.is_set():
            tagged = model.predict(X[::7])
            assert [len(tags) for tags in tagged] == [len(x) for x in X[::7]]
            assert all(tag in TAGS for tags in tagged for tag in tags)
            assert np.isfinite(model.score_one(X[0], y[0]))
            time.sleep(1e-4)

    def read():
        while not done.is_set():
            learner = SequenceLearner.from_bytes(
                state(model), options.get("cost") if callable(options.get("cost")) else None
            )
            seen.append(learner.statistics.rounds)
            assert len(model.explain_one(X[0])) == len(X[0])
            time.sleep(1e-4)

    run(learn, predict, predict, read)
    assert seen == sorted(seen)
    assert model.stats_.rounds == 61


@pytest.mark.usefixtures("switch_often")
def test_two_threads_learn():
    X, y, _ = stream(60)
    model = new({}).learn_many([], [])

    def learn(part):
        return lambda: [model.learn_one(x, tags) for x, tags in zip(X[part], y[part], strict=True)]

    run(learn(slice(30)), learn(slice(30, 60)), lambda: [state(model) for _ in X])
    assert model.stats_.rounds == 60
    assert set(model.classes_) == set(TAGS)
    assert len(set(model.attributes_)) == len(model.attributes_)


@pytest.mark.usefixtures("switch_often")
def test_predictions_while_new_tags_come():
    X, y, _ = stream(60)
    for _ in range(5):
        model = new({}).learn_many([], [])

        def learn(part, model=model):
            for x, tags in zip(X[part], y[part], strict=True):
                model.learn_one(x, [f"{tag}{part.start}" for tag in tags])

        def predict(model=model):
            for x in X * 3:
                assert len(model.predict_one(x)) == len(x)

        run(lambda: learn(slice(0, 30)), lambda: learn(slice(30, 60)), predict)


@pytest.mark.usefixtures("switch_often")
def test_first_calls_in_several_threads():
    X, y, _ = stream(8)
    for _ in range(40):
        model = new({})
        learn = lambda model=model: [model.learn_one(x, tags) for x, tags in zip(X, y, strict=True)]  # noqa: E731
        run(learn, learn, lambda model=model: model.predict_one(X[0]))
        assert model.stats_.rounds == 16


@pytest.mark.usefixtures("switch_often")
def test_weights_are_read_whole_while_it_learns():
    model = new({}).learn_one([["a"], ["b"]], ["A", "B"])
    done = threading.Event()

    def learn():
        for k in range(400):
            model.learn_one([["a"], [f"f{k}"]], ["A", f"T{k % 50}"])
        done.set()

    def read():
        while not done.is_set():
            assert model.state_features_ is not None
            assert model.transition_features_ is not None
            time.sleep(1e-5)

    run(learn, read, read)


@pytest.mark.parametrize("many", [False, True])
def test_a_cost_that_calls_its_model(many):
    """An error, no deadlock; and it is taken back."""
    inner = [lambda: None]

    def cost(truth, predicted):
        inner[0]()
        return 1.0

    model = new({"cost": cost, "average": False})
    x = [["a"], ["b"]]
    model.learn_many([x, x], [["A", "B"], ["B", "A"]])
    before = state(model)
    wrong = [{"A": "B", "B": "A"}[tag] for tag in model.predict_one(x)]
    sentences, tags = ([x, x, [["new"]]], [wrong, wrong, ["C"]]) if many else ([x], [wrong])
    for call in (
        lambda: model.predict_one(x),
        lambda: model.predict([x, x]),
        lambda: model.learn_one(x, wrong),
        lambda: model.learn_many([x, x], [["new", "tags"], wrong]),
        lambda: model.score_one(x, wrong),
        lambda: model.explain_one(x),
        lambda: state(model),
        lambda: model.stats_,
        lambda: model.state_features_,
        lambda: model._learner.change(C=0.7),
    ):
        inner[0] = call
        with pytest.raises(RuntimeError, match="busy: it was called from within one of its own calls"):
            model.learn_many(sentences, tags)
        assert state(model) == before
    swallowed = []

    def swallow():
        try:
            model.learn_one(x, ["D", "E"])
        except RuntimeError as error:
            swallowed.append(error)

    inner[0] = swallow
    model.learn_many(sentences, tags)
    assert swallowed
    assert model.classes_ == (["A", "B", "C"] if many else ["A", "B"])
    model = new({"cost": cost, "average": False})
    inner[0] = lambda: new({}).learn_one(x, wrong)  # another model may be called
    assert model.learn_many([x, x], [["A", "B"], ["B", "A"]]).stats_.cost > 0


class Calls:
    """A value that calls back when it is read."""

    def __init__(self, call):
        self.call = call

    def __float__(self):
        self.call()
        return 1.0


def test_a_value_that_calls_the_model():
    model = new({"average": False}).learn_one([{"a": 1.0}, {"b": 1.0}], ["A", "B"])
    before = state(model)
    for outside in (
        lambda x: model.learn_one(x, ["A", "B"]),
        lambda x: model.learn_many([x, x], [["A", "B"], ["B", "A"]]),
        lambda x: model.predict_one(x),
        lambda x: model.score_one(x, ["A", "B"]),
        lambda x: model.explain_one(x, ["A", "B"]),
    ):
        for inside in (
            lambda: model.learn_one([{"a": 1.0}], ["A"]),
            lambda: model.predict_one([{"a": 1.0}]),
            lambda: state(model),
        ):
            with pytest.raises((RuntimeError, ValueError), match="busy"):
                outside([{"new": 1.0}, {"b": Calls(inside)}])
            assert state(model) == before


DEADLOCK = """
import os, threading, time
from hinge import PASequence
model = PASequence().learn_one([{"a": 1.0}], ["A"])
inside = threading.Event()

class Learns:
    def __float__(self):
        inside.set()
        time.sleep(0.3)  # meanwhile the other thread waits for this one
        CALL
        return 1.0

said = []

def predict():
    try:
        model.predict_one([{"a": Learns()}])
    except (RuntimeError, ValueError) as error:
        said.append(str(error))

def learn():
    inside.wait()
    model.learn_one([{"a": 1.0}], ["A"])

threads = [threading.Thread(target=job, daemon=True) for job in (predict, learn)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(20)
fine = not any(thread.is_alive() for thread in threads) and len(said) == 1 and "busy" in said[0]
os._exit(0 if fine and model.stats_.rounds == 2 else 1)
"""


@pytest.mark.parametrize(
    "call",
    [
        'model.learn_one([{"a": 1.0}], ["A"])',
        'model.partial_fit([[{"a": 1.0}]], [["A"]])',
        'model.score_one([["a"]], ["A"])',
        'model.explain_one([["a"]], ["A"])',
        "model._learner.to_bytes()",
        "model.classes_",
    ],
)
def test_a_value_that_calls_the_model_while_another_thread_waits(call):
    """An error, no deadlock."""
    code = DEADLOCK.replace("CALL", call)
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.fixture
def timer():
    """Calls a function now and then while this process works, and Ctrl-C is what it usually is; for one test."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    old = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGVTALRM)]

    def start(function):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGVTALRM, function)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.005, 0.005)

    yield start
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    for number, function in old:
        signal.signal(number, function)


@pytest.mark.parametrize(
    "options",
    [
        {"average": False},
        {"average": True, "dtype": "float32"},
        {"geometry": "diagonal", "selection": "max-additive"},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["learn_many", "fit"])
def test_an_interrupt_takes_the_whole_batch_back(options, way, timer):
    """Tags, names and rounds."""
    model = PASequence(step="pa2", C=1e-6, **options)  # every round is an update
    x, y = [["a"], ["b"], ["c"]] * 3, ["A", "B", "C"] * 3
    model.learn_many([x, x], [y, y[::-1]])
    before = state(model)
    count = 40_000
    X, Y = [[["new"]], *[x] * count], [["D"], *[y] * count]
    busy = []

    def press(_number, _frame):
        if busy:
            return
        if way == "fit":
            busy.append("it is another learner that learns")
        else:
            try:
                model.predict_one(x)
            except RuntimeError as error:  # now it is in the middle of the batch
                busy.append(str(error))
        if busy:
            signal.raise_signal(signal.SIGINT)

    timer(press)
    with pytest.raises(KeyboardInterrupt):
        getattr(model, way)(X, Y)
    assert busy
    assert state(model) == before
    assert model.classes_ == ["A", "B", "C"]
    assert model.attributes_ == ["a", "b", "c"]
    model.learn_many([x, x], [y, y])  # and goes on
    assert model.stats_.rounds == 4


@pytest.mark.parametrize("new_tag", [False, True])
def test_an_interrupt_while_a_long_sentence_is_learned(new_tag, timer):
    """It is answered when the sentence is learned: all of it, or nothing, and the model works."""
    x, y = [["a"], ["b"], ["new"]] * 500, ["A", "B", "new" if new_tag else "A"] * 500
    model = PASequence(selection="max", average=False).learn_one([["a"], ["b"]], ["A", "B"])
    before = state(model)
    whole, began = copy.deepcopy(model).learn_one(x, y), time.process_time()
    pressed = []

    def press(_number, _frame):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if not pressed:  # once: another tick may have come already, and would be answered somewhere else
            pressed.append(True)
            raise KeyboardInterrupt

    def learn():
        timer(press)
        model.learn_one(x, y)
        while time.process_time() < began + 60:  # where a sentence is learned before the clock ticks
            pass

    with pytest.raises(KeyboardInterrupt):
        learn()
    assert len(model.classes_) == model._learner._engine.n_tags
    assert state(model) in (before, state(whole))
    assert model.predict([x[:2]])
    SequenceLearner.from_bytes(state(model)).learn_one(x[:3], y[:3])


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_a_cost_that_raises_takes_the_batch_back(error):
    calls = []

    def cost(truth, predicted):
        calls.append(1)
        if len(calls) == 4:
            raise error
        return 1.0

    model = new({"cost": cost, "average": True}).learn_one([["a"]], ["A"])
    before = state(model)
    X, y = [[["a"]], [["b"]], [["c"]]] * 10, [["B"], ["C"], ["D"]] * 10
    with pytest.raises(error):
        model.learn_many(X, y)
    assert len(calls) == 4
    assert state(model) == before
