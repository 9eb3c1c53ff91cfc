"""Kernels: budgets, memory, supports after fit, labels and features that come with the stream."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import hinge
from cases import (
    CLASSES,
    csr,
    new,
    numbered,
    numbers,
    sets_of,
    state,
)
from cases import stream as short_stream
from checks.supports import dense, kernel_values
from kernel_cases import COUNT, name, own


def stream(task):
    return short_stream(task, COUNT)


def but(model, *names):
    """All that was learned, but for the tensors of these names, as bytes."""
    return {key: value.tobytes() for key, value in model.to_parts()[1].items() if key not in names}


def close(ours, theirs, options, what=""):
    single = options.get("dtype") == "float32"
    np.testing.assert_allclose(
        ours, theirs, rtol=1e-3 if single else 1e-9, atol=1e-4 if single else 1e-10, err_msg=what
    )


def test_kernel_function_is_only_accepted_where_one_is_missing(tmp_path):
    model = hinge.Learner("regression", kernel="linear")
    model.save(tmp_path / "model")
    with pytest.raises(hinge.ModelFileError, match="its kernel is not a function"):
        hinge.load(tmp_path / "model", kernel=own)


@pytest.mark.parametrize("budget", [None, 9, "adaptive"])
def test_class_weights_multiply_sample_weights(budget):
    X, y, _ = stream("multiclass")
    factors = {"ant": 3.0, "bee": 0.0}
    options = {"kernel": "rbf", "gamma": 0.4, "budget": budget, "classes": CLASSES}
    ours, theirs = (
        hinge.Learner("classification", class_weight=factors, **options),
        hinge.Learner("classification", **options),
    )
    ours.learn(X, y)
    theirs.learn(X, y, [factors.get(label, 1.0) for label in y])
    assert but(ours) == but(theirs)


@pytest.mark.parametrize("removal", ["largest", "oldest"])
@pytest.mark.parametrize(
    "task", ["classification", "multiclass", "multilabel", "ordinal", "regression", "uniclass"]
)
def test_the_budget_holds_at_every_moment(task, removal):
    """Also within a batch, as the function sees, and after loading."""
    asked = []

    def seen(X, Z):
        asked.append(Z.shape[0] if Z is not X else 0)
        return own(X, Z)

    X, y, _ = stream(task)
    learner = new(task, {"kernel": seen, "budget": 5, "removal": removal, "radius": 0.1})
    learner.learn(X, y)
    assert learner.n_support in (4, 5)  # a victim goes even if the step is not taken then
    assert learner.statistics.removals > 5
    again = hinge.Learner.from_bytes(learner.to_bytes(), kernel=seen)
    again.learn(X, y)
    assert again.n_support in (4, 5)
    assert max(asked) == 5


def test_the_memory_of_a_long_stream_is_bounded():
    random = np.random.default_rng(0)
    for options in ({"fit_intercept": False}, {"dtype": "float32"}, {"hash_bits": 8}):
        learner = hinge.Learner("regression", kernel="rbf", gamma=0.5, budget=20, epsilon=0.0, **options)
        sizes = []
        for _ in range(40):
            if "hash_bits" in options:
                events = [{int(j): 1.0 for j in row} for row in random.integers(0, 10**6, size=(50, 3))]
                learner.learn_many(events, random.normal(size=50))
            else:
                learner.learn(random.normal(size=(50, 6)), random.normal(size=50))
            assert learner.n_support == 20
            sizes.append(sys.getsizeof(learner))
        assert max(sizes) == max(sizes[:5]) < 40_000


@pytest.mark.parametrize(
    "options", [{"kernel": "rbf", "gamma": 0.3}, {"kernel": "linear"}, {"kernel": own}], ids=name
)
@pytest.mark.parametrize("budget", [None, 6, "adaptive"])
def test_features_come_with_the_stream(options, budget):
    """As if all columns had been there from the start."""
    X, y, _ = stream("regression")
    events = [
        {f"x{j}": value for j, value in enumerate(row[: 1 + i // 25]) if value}
        for i, row in enumerate(X.tolist())
    ]
    full = [{f"x{j}": x.get(f"x{j}", 0.0) for j in range(7)} for x in events]
    growing, known = (hinge.Learner("regression", budget=budget, **options) for _ in range(2))
    known.name_columns([f"x{j}" for j in range(7)])
    growing.learn_many(events[:90], y[:90])
    for x, its in zip(events[90:], y[90:].tolist(), strict=True):
        growing.learn_one(x, its)
    known.learn_many(pd.DataFrame(full).to_numpy(), y)
    close(numbers(growing, events), numbers(known, events), {})
    np.testing.assert_array_equal(growing.support, known.support)


def test_wide_row_among_narrow_ones_takes_little_memory():
    """Vectors are kept in panels as long as they are dense; one far out must not make them all that wide."""
    import scipy.sparse

    width = 2**29
    columns = np.array([0, 0, 1, width - 1, 5, 6], dtype=np.int64)
    X = scipy.sparse.csr_matrix((np.ones(6), columns, np.arange(7)), shape=(6, width))
    for parts in ([slice(0, 6)], [slice(i, i + 1) for i in range(6)]):
        learner = hinge.Learner("regression", kernel="rbf", gamma=0.5, max_features=2**30, epsilon=0.0)
        for some in parts:
            learner.learn(X[some], np.arange(1.0, 7.0)[some])
        assert learner.n_support == 6


BUDGETS = pytest.mark.parametrize("budget", [None, 7, "adaptive"])
RBF = {"kernel": "rbf", "gamma": 0.4}


@pytest.mark.parametrize(
    "rule", [{"step": "pa2", "max_radius": 1.0}, {"step": "pa1", "radius": 0.6, "C": 0.1}], ids=str
)
@pytest.mark.parametrize(
    "budget", [{"budget": 9, "removal": "oldest"}, {"budget": 9}, {"budget": "adaptive"}], ids=str
)
def test_ball_on_a_budget_does_not_drift(rule, budget):
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
def test_rejected_batch_with_new_labels_leaves_no_trace(budget, kernel, before):
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


def test_classes_are_all_there():
    assert set(CLASSES) == set(LATE)
