"""Calls from within calls, and interrupts in the middle of a batch: an error, no deadlock, and nothing half learned.

Interrupts at every bytecode are in test_contracts_interrupts.py.
"""

from __future__ import annotations

import copy
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import hinge
import sequence_cases
from cases import as_dicts, new, number, numbered, one, part, state, stream
from checks.supports import dense
from concurrency import LONG_CLASSES, PLAIN, SHAPED, Calls, interrupt, long_stream, ticks
from hinge import PASequence
from hinge.structured.sequence_learner import SequenceLearner
from kernel_cases import own

learners = pytest.mark.parametrize(("task", "options"), [*PLAIN, *SHAPED], ids=str)


def rejects_calls(model, outer, inner, to_state, match):
    """Each of the inner calls, made from within each of the outer ones."""
    before = to_state(model)
    for outside in outer:
        for inside in inner:
            with pytest.raises((RuntimeError, ValueError), match=match):
                outside(inside)
            assert to_state(model) == before


@learners
def test_call_from_within_a_call_is_rejected(task, options):
    """It would wait for itself, or change what is being read. Another model may be called."""
    X, y, _ = stream(task)
    model, other = new(task, options), new(task, options)
    model.learn(X, y)
    model.learn_many(as_dicts(X), y)
    truth, x = one(y, 0), {"alpha": 1.0}
    inner = [
        lambda: model.learn_one(x, truth),
        lambda: model.score_one(x),
        lambda: model.learn(X, y),
        lambda: model.scores(X),
        lambda: model.to_bytes(),
        lambda: model.weights,
        lambda: model.statistics,
        lambda: model.explain_one(x),
        lambda: model.n_features,
        lambda: model.learn_many([x], part(y, slice(1))),
        lambda: model.name_columns(["new"]),
    ]
    outer = [
        lambda x: model.learn_one(x, truth),
        lambda x: model.score_one(x),
        lambda x: model.explain_one(x),
        lambda x: model.learn_many([x], part(y, slice(1))),
    ]
    if options.get("geometry") in ("mahalanobis", "diagonal"):
        inner += [lambda: model.uncertainty_one(x), lambda: model.covariance]
        outer.append(lambda x: model.uncertainty_one(x))
    calling = [
        lambda call, outside=outside: outside({"beta": 1.0, "alpha": Calls(call), "gamma": 2.0})
        for outside in outer
    ]
    rejects_calls(model, calling, inner, state, "busy")
    for outside in outer:
        outside({"beta": 1.0, "alpha": Calls(lambda: other.learn_one({"a": 1.0}, truth))})
    assert other.statistics.rounds >= 3


def test_call_from_a_value_of_a_token_is_rejected():
    model = sequence_cases.new({"average": False}).learn_one([{"a": 1.0}, {"b": 1.0}], ["A", "B"])
    outer = [
        lambda x: model.learn_one(x, ["A", "B"]),
        lambda x: model.learn_many([x, x], [["A", "B"], ["B", "A"]]),
        lambda x: model.predict_one(x),
        lambda x: model.score_one(x, ["A", "B"]),
        lambda x: model.explain_one(x, ["A", "B"]),
    ]
    inner = [
        lambda: model.learn_one([{"a": 1.0}], ["A"]),
        lambda: model.predict_one([{"a": 1.0}]),
        lambda: sequence_cases.state(model),
    ]
    calling = [lambda call, outside=outside: outside([{"new": 1.0}, {"b": Calls(call)}]) for outside in outer]
    rejects_calls(model, calling, inner, sequence_cases.state, "busy")


@pytest.mark.parametrize("many", [False, True])
def test_call_from_a_cost_is_rejected(many):
    inner = [lambda: None]

    def cost(truth, predicted):
        inner[0]()
        return 1.0

    model = sequence_cases.new({"cost": cost, "average": False})
    x = [["a"], ["b"]]
    model.learn_many([x, x], [["A", "B"], ["B", "A"]])
    wrong = [{"A": "B", "B": "A"}[tag] for tag in model.predict_one(x)]
    sentences, tags = ([x, x, [["new"]]], [wrong, wrong, ["C"]]) if many else ([x], [wrong])

    def learn(call):
        inner[0] = call
        model.learn_many(sentences, tags)

    calls = [
        lambda: model.predict_one(x),
        lambda: model.predict([x, x]),
        lambda: model.learn_one(x, wrong),
        lambda: model.learn_many([x, x], [["new", "tags"], wrong]),
        lambda: model.score_one(x, wrong),
        lambda: model.explain_one(x),
        lambda: sequence_cases.state(model),
        lambda: model.stats_,
        lambda: model.state_features_,
        lambda: model._learner.change(C=0.7),
    ]
    within = "busy: it was called from within one of its own calls"
    rejects_calls(model, [learn], calls, sequence_cases.state, within)
    swallowed = []

    def swallow():
        try:
            model.learn_one(x, ["D", "E"])
        except RuntimeError as error:
            swallowed.append(error)

    learn(swallow)
    assert swallowed
    assert model.classes_ == (["A", "B", "C"] if many else ["A", "B"])
    model = sequence_cases.new({"cost": cost, "average": False})
    inner[0] = lambda: sequence_cases.new({}).learn_one(x, wrong)  # another model may be called
    assert model.learn_many([x, x], [["A", "B"], ["B", "A"]]).stats_.cost > 0


def test_kernel_may_ask_another_learner_but_not_its_own():
    X, y, _ = stream("regression", 150)
    other = hinge.Learner("regression", kernel="rbf", gamma=0.3)
    other.learn(X, y)
    calls = []

    def composed(A, B):
        scores = [np.array([other.score_one(x) for x in numbered(dense(M))]) for M in (A, B)]
        return np.outer(*scores) + own(A, B)

    learner = hinge.Learner("regression", kernel=composed)
    learner.learn(X[:40], y[:40])
    expected = learner.scores(X[:5])
    np.testing.assert_allclose([learner.score_one(x) for x in numbered(X[:5])], expected)

    def selfish(A, B):
        calls.append(number(learner.score_one({0: 1.0})))
        return own(A, B)

    learner = hinge.Learner("regression", kernel=selfish)
    before = state(learner)
    with pytest.raises(RuntimeError, match="within"):
        learner.learn(X, y)
    assert state(learner) == before
    assert not calls


DEADLOCK = """
import os, threading, time
from hinge import PASequence

def is_rejected(call):
    model = PASequence().learn_one([{"a": 1.0}], ["A"])
    inside = threading.Event()

    class Learns:
        def __float__(self):
            inside.set()
            time.sleep(0.3)  # meanwhile the other thread waits for this one
            call(model)
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
    finished = not any(thread.is_alive() for thread in threads)
    return finished and len(said) == 1 and "busy" in said[0] and model.stats_.rounds == 2

calls = [
    lambda model: model.learn_one([{"a": 1.0}], ["A"]),
    lambda model: model.partial_fit([[{"a": 1.0}]], [["A"]]),
    lambda model: model.score_one([["a"]], ["A"]),
    lambda model: model.explain_one([["a"]], ["A"]),
    lambda model: model._learner.to_bytes(),
    lambda model: model.classes_,
]
failed = [number for number, call in enumerate(calls) if not is_rejected(call)]
print(failed, flush=True)
os._exit(1 if failed else 0)
"""


def test_call_from_a_value_while_another_thread_waits_is_no_deadlock():
    done = subprocess.run([sys.executable, "-c", DEADLOCK], timeout=180, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


# ---- interrupts ------------------------------------------------------------------------------------------------------

LONG = ("classification", "regression", "uniclass", "multiclass", "ordinal")


@pytest.mark.parametrize(
    ("task", "options"), [*((task, {}) for task in LONG), *SHAPED[:2], SHAPED[3]], ids=str
)
@pytest.mark.parametrize("average", [False, True])
def test_interrupted_batch_is_rolled_back(task, options, average):
    X, y = long_stream(task, 5_000_000)
    rule = {"average": average, "step": "pa2", "C": 1e-6, **options}  # every round is an update
    model = new(task, rule, **LONG_CLASSES.get(task, {}))
    if task == "uniclass":
        model.learn(-50 * X[:1])
    model.learn(X[:10], part(y, slice(10)))
    before = state(model)
    interrupt(lambda: model.learn(X, y), lambda: model.score_one({0: 1.0}))
    assert state(model) == before
    model.learn(X[:5], part(y, slice(5)))  # and resumes
    assert model.statistics.updates > 0


@pytest.mark.parametrize("budget", [None, 200])
def test_interrupted_batch_of_kernels_is_rolled_back(budget):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20_000, 30)), random.normal(size=20_000)
    learner = hinge.Learner("regression", kernel="rbf", gamma=0.1, epsilon=0.0, budget=budget)
    learner.learn(X[:300], y[:300])
    before = state(learner)
    interrupt(lambda: learner.learn(X, y), lambda: learner.score_one({0: 1.0}))
    assert state(learner) == before


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
def test_interrupted_batch_of_sentences_is_rolled_back(options, way):
    """Tags, names and rounds."""
    model = PASequence(step="pa2", C=1e-6, **options)  # every round is an update
    x, y = [["a"], ["b"], ["c"]] * 3, ["A", "B", "C"] * 3
    model.learn_many([x, x], [y, y[::-1]])
    before = sequence_cases.state(model)
    X, Y = [[["new"]], *[x] * 40_000], [["D"], *[y] * 40_000]
    ask = None if way == "fit" else lambda: model.predict_one(x)  # in fit another learner learns
    interrupt(lambda: getattr(model, way)(X, Y), ask)
    assert sequence_cases.state(model) == before
    assert model.classes_ == ["A", "B", "C"]
    assert model.attributes_ == ["a", "b", "c"]
    model.learn_many([x, x], [y, y])  # and resumes
    assert model.stats_.rounds == 4


@pytest.mark.parametrize("new_tag", [False, True])
def test_interrupted_sentence_is_learned_whole_or_not_at_all(new_tag):
    """An interrupt is answered when the sentence is learned, and the model works."""
    x, y = [["a"], ["b"], ["new"]] * 500, ["A", "B", "new" if new_tag else "A"] * 500
    model = PASequence(selection="max", average=False).learn_one([["a"], ["b"]], ["A", "B"])
    before = sequence_cases.state(model)
    whole, began = copy.deepcopy(model).learn_one(x, y), time.process_time()
    pressed = []

    def press(_number, _frame):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if not pressed:  # once: another tick may have come already, and would be answered somewhere else
            pressed.append(True)
            raise KeyboardInterrupt

    def learn():
        with ticks(press):
            model.learn_one(x, y)
            while time.process_time() < began + 60:  # where a sentence is learned before the clock ticks
                pass

    with pytest.raises(KeyboardInterrupt):
        learn()
    assert len(model.classes_) == model._learner._engine.n_tags
    assert sequence_cases.state(model) in (before, sequence_cases.state(whole))
    assert model.predict([x[:2]])
    SequenceLearner.from_bytes(sequence_cases.state(model)).learn_one(x[:3], y[:3])


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_batch_is_rolled_back_when_a_cost_raises(error):
    calls = []

    def cost(truth, predicted):
        calls.append(1)
        if len(calls) == 4:
            raise error
        return 1.0

    model = sequence_cases.new({"cost": cost, "average": True}).learn_one([["a"]], ["A"])
    before = sequence_cases.state(model)
    X, y = [[["a"]], [["b"]], [["c"]]] * 10, [["B"], ["C"], ["D"]] * 10
    with pytest.raises(error):
        model.learn_many(X, y)
    assert len(calls) == 4
    assert sequence_cases.state(model) == before
