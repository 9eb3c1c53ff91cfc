"""What is seen of supports: which examples they are, their coefficients, and that these are the predictor. And what is
special about streams: labels that come, threads, interrupts, functions that call back."""

from __future__ import annotations

import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hinge
from cases import CLASSES, as_dicts, csr, number, numbered, sets_of, state
from cases import stream as short_stream
from kernel_cases import COUNT, name, own

BUDGETS = pytest.mark.parametrize("budget", [None, 7, "adaptive"])
RBF = {"kernel": "rbf", "gamma": 0.4}


def stream(task):
    return short_stream(task, COUNT)


def close(ours, theirs, options):
    single = options.get("dtype") == "float32"
    np.testing.assert_allclose(ours, theirs, rtol=1e-3 if single else 1e-8, atol=1e-4 if single else 1e-9)


# ---- coefficients ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule", [{"step": "pa2", "max_radius": 1.0}, {"step": "pa1", "radius": 0.6, "C": 0.1}], ids=str
)
@pytest.mark.parametrize(
    "budget", [{"budget": 9, "removal": "oldest"}, {"budget": 9}, {"budget": "adaptive"}], ids=str
)
def test_a_ball_on_a_budget_does_not_drift(rule, budget):
    """Each support that goes divides by 1 - c: what was rounded would grow without end."""
    learner = hinge.Learner("uniclass", **RBF, **rule, **budget)
    X = np.random.default_rng(0).normal(size=(2000, 4))
    learner.learn(X)
    assert learner.statistics.removals > 50
    Z, c = learner.support_vectors, learner.dual_coef
    products = c @ kernel_values(learner, Z, X)
    distance = np.sqrt(np.maximum(0, c @ kernel_values(learner, Z, Z) @ c - 2 * products + 1))
    np.testing.assert_allclose(learner.scores(X), learner.radius - distance, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(c.sum(), 1, rtol=1e-12)


# ---- which examples ----------------------------------------------------------------------------------------


ESTIMATORS = [
    (hinge.PAClassifier, "classification"),
    (hinge.PAClassifier, "multiclass"),
    (hinge.PARegressor, "regression"),
    (hinge.PAOneClass, "uniclass"),
    (hinge.PAOrdinal, "ordinal"),
    (hinge.PAMultilabel, "multilabel"),
]


@pytest.mark.parametrize(("estimator", "task"), ESTIMATORS, ids=lambda e: getattr(e, "__name__", e))
@BUDGETS
@pytest.mark.parametrize("kernel", ["rbf", "linear", own], ids=name)
def test_after_fit_supports_are_rows_of_X(estimator, task, budget, kernel, tmp_path):
    X, y, weights = stream(task)
    options = {"kernel": kernel, "budget": budget, "max_iter": 3, "tol": None, "random_state": 0}
    target = () if task == "uniclass" else (y,)
    if task == "uniclass":
        options["radius"] = 1.0
    for container in (np.asarray, csr):
        model = estimator(**options).fit(container(X), *target, sample_weight=weights)
        np.testing.assert_array_equal(dense(model.support_vectors_), X[model.support_])
        assert model.dual_coef_.shape == (4 if task in ("multiclass", "multilabel") else 1, model.n_support_)
        assert len(set(model.support_.tolist())) == model.n_support_
        assert budget != 7 or model.n_support_ <= 7
        assert model.stats_.insertions - model.stats_.removals == model.n_support_
        assert hasattr(model, "center_" if task == "uniclass" else "coef_") == (kernel == "linear")
    again = clone(model).fit(container(X), *target, sample_weight=weights)
    assert state(again) == state(model)
    model.save(tmp_path / "model")
    loaded = hinge.load(tmp_path / "model", kernel=None if isinstance(kernel, str) else kernel)
    assert state(loaded) == state(model)
    for one_of in (model, loaded):
        one_of.partial_fit(container(X), *target)
        np.testing.assert_array_equal(dense(one_of.support_vectors_), X[one_of.support_ % COUNT])
    np.testing.assert_array_equal(loaded.support_, model.support_)


# ---- labels that come with the stream ----------------------------------------------------------------------


LATE = np.array([*(["bee", "cat"] * 40), *(["cat", "dog"] * 20), *(["ant", "bee", "cat"] * 10)])


@BUDGETS
@pytest.mark.parametrize(
    "options", [RBF, {"kernel": "linear", "dtype": "float32"}, {"kernel": own}], ids=name
)
@pytest.mark.parametrize("way", ["arrays", "events", "one by one"])
def test_two_classes_become_four(options, budget, way):
    X = stream("multiclass")[0]
    whole = hinge.Learner("classification", budget=budget, **options)
    whole.learn(X, LATE)
    learner = hinge.Learner("classification", budget=budget, **options)
    if way == "arrays":
        for start in range(0, COUNT, 37):
            learner.learn(X[start : start + 37], LATE[start : start + 37])
    elif way == "events":
        learner._engine.name_columns(list(range(7)))
        learner.learn_many(numbered(X), LATE)
    else:
        learner._engine.name_columns(list(range(7)))
        for x, label in zip(numbered(X), LATE.tolist(), strict=True):
            learner.learn_one(x, label)
    np.testing.assert_array_equal(learner.support, whole.support)
    assert learner.labels.known == whole.labels.known == ["bee", "cat", "dog", "ant"]
    close(learner.dual_coef, whole.dual_coef, options)
    if options["kernel"] is not own:
        np.testing.assert_array_equal(learner.dual_coef, whole.dual_coef)
    np.testing.assert_array_equal(
        dense(learner.support_vectors), X[learner.support].astype(options.get("dtype", "float64"))
    )


@BUDGETS
@pytest.mark.parametrize("threshold", ["learned", 0.1])
def test_sets_of_labels_grow(budget, threshold):
    X = stream("multilabel")[0]
    member = np.random.default_rng(1).random((COUNT, 4)) < 0.5
    member &= np.arange(COUNT)[:, None] >= np.array([0, 30, 75, 110])
    y = sets_of(member)
    learners = [hinge.Learner("multilabel", budget=budget, threshold=threshold, **RBF) for _ in range(3)]
    learners[0].learn(csr(X), y)
    learners[1].learn(csr(X[:100]), y[:100])
    learners[1].learn(csr(X[100:]), y[100:])
    learners[2]._engine.name_columns(list(range(7)))
    for x, labels in zip(numbered(X), y, strict=True):
        learners[2].learn_one(x, labels)
    assert state(learners[0]) == state(learners[1])
    np.testing.assert_array_equal(learners[2].support, learners[0].support)
    np.testing.assert_array_equal(learners[2].dual_coef, learners[0].dual_coef)


@BUDGETS
@pytest.mark.parametrize("kernel", [RBF, {"kernel": own}], ids=name)
@pytest.mark.parametrize("first", ["a", "b"])
def test_one_class_then_two(budget, kernel, first):
    """The first class alone is the negative one; another that sorts before it turns w."""
    X = stream("classification")[0]
    y = np.where(np.arange(COUNT) < 20, first, np.where(X[:, 0] > 0, "b", "a"))
    late, early = (hinge.Learner("classification", budget=budget, **kernel) for _ in range(2))
    known = hinge.Learner("classification", budget=budget, classes=["a", "b"], **kernel)
    late.learn(X[:20], y[:20])
    late.learn(X[20:], y[20:])
    early._engine.name_columns(list(range(7)))
    for x, label in zip(numbered(X), y.tolist(), strict=True):
        early.learn_one(x, label)
    known.learn(X, y)
    for learner in (late, early):
        close(learner.dual_coef, known.dual_coef, {})
        np.testing.assert_array_equal(learner.support, known.support)


@BUDGETS
@pytest.mark.parametrize("kernel", [RBF, {"kernel": own}], ids=name)
@pytest.mark.parametrize("before", [0, 1, 30])
def test_a_refused_batch_with_new_labels_leaves_no_trace(budget, kernel, before):
    X = stream("multiclass")[0].copy()
    learner = hinge.Learner("classification", budget=budget, **kernel)
    if before:
        learner.learn(X[:before], LATE[:before])
    expected = state(learner)
    X[140, 3] = np.nan
    with pytest.raises(ValueError, match=r"row 140, column 3"):
        learner.learn(X, LATE)
    assert state(learner) == expected
    with pytest.raises(ValueError, match=r"row 140"):
        learner.learn(csr(X), LATE)
    assert state(learner) == expected
    if before:
        learner._events()
    expected = state(learner)
    for bad in (np.nan, 1e200):
        with pytest.raises(ValueError, match=r"feature|column|norm"):
            learner.learn_one({0: bad}, "zebra")
        assert state(learner) == expected


# ---- threads, interrupts, functions that call back ---------------------------------------------------------


@pytest.mark.parametrize("kernel", ["rbf", own], ids=name)
@pytest.mark.parametrize("budget", [None, 12])
def test_threads_that_predict_while_one_learns(kernel, budget):
    X, y, _ = stream("multiclass")
    events, errors, done = as_dicts(X), [], threading.Event()
    learner = hinge.Learner("classification", kernel=kernel, gamma=0.3, budget=budget)
    alone = hinge.Learner("classification", kernel=kernel, gamma=0.3, budget=budget)

    def ask():
        try:
            while not done.is_set():
                learner.predict_one(events[3])
                scores = learner.scores(pd.DataFrame(events[:5]).fillna(0.0))
                assert np.isfinite(scores).all()
                supports = learner.supports
                assert supports.vectors.shape[0] == len(supports.numbers)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for model in (learner, alone):
        model.learn_many(events[:70], y[:70])
        for x, label in zip(events[70:], y[70:].tolist(), strict=True):
            model.learn_one(x, label)
    done.set()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert not errors
    assert state(learner) == state(alone)


@pytest.mark.parametrize("budget", [None, 200])
def test_an_interrupted_batch_is_taken_back(budget):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(20_000, 30)), random.normal(size=20_000)
    learner = hinge.Learner("regression", kernel="rbf", gamma=0.1, epsilon=0.0, budget=budget)
    learner.learn(X[:300], y[:300])
    before, interrupted = state(learner), False
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        threading.Timer(0.05, lambda: signal.raise_signal(signal.SIGINT)).start()
        started = time.perf_counter()
        while time.perf_counter() - started < 5:
            learner.learn(X, y)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        signal.signal(signal.SIGINT, handler)
    assert interrupted
    assert state(learner) == before


def test_a_function_may_ask_another_learner_but_not_its_own():
    X, y, _ = stream("regression")
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


def test_classes_are_all_there():
    assert set(CLASSES) == set(LATE)
