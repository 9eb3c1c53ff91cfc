"""Bad rows, targets, weights and functions given to learners with kernels: refused in words, and the learner stays what
it was, to the bit; also if supports were removed or merged before the bad row came."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import hinge
from bad_models import csr, refused

COUNT, WIDTH, BAD = 150, 5, 100
TASKS = ("classification", "multiclass", "multilabel", "ordinal", "regression", "uniclass", "cost")
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "own": {"kernel": lambda X, Z: dense(X @ Z.T) + 1},
}
BUDGETS = (None, 8, "adaptive")
CASES = [
    pytest.param(task, {**kernel, "budget": budget}, id=f"{task}-{name}-{budget}")
    for number, task in enumerate(TASKS)
    for place, (name, kernel) in enumerate(KERNELS.items())
    for budget in (BUDGETS if name == "rbf" else [BUDGETS[(number + place) % 3]])
]
cases = pytest.mark.parametrize(("task", "options"), CASES)


def dense(values):
    return values.toarray() if hasattr(values, "toarray") else np.asarray(values)


def new(task, options):
    more = {
        "classification": {"classes": [0, 1]},
        "multiclass": {"classes": [0, 1, 2]},
        "multilabel": {"classes": [0, 1, 2]},
        "ordinal": {"classes": [0, 1, 2]},
        "cost": {"classes": [0, 1, 2], "cost": [[0, 1, 2], [1, 0, 1], [2, 1, 0]]},
        "uniclass": {"radius": 0.3},
    }.get(task, {})
    return hinge.Learner("classification" if task in ("multiclass", "cost") else task, **more, **options)


def stream(task, seed=0):
    random = np.random.default_rng(seed)
    X = np.where(random.random((COUNT, WIDTH)) < 0.8, random.normal(size=(COUNT, WIDTH)), 0.0)
    if task == "regression":
        return X, random.normal(size=COUNT)
    if task == "uniclass":
        return X, None
    if task == "multilabel":
        return X, (random.random((COUNT, 3)) < 0.5).astype(int)
    return X, random.choice([0, 1] if task == "classification" else [0, 1, 2], COUNT)


def trained(task, options):
    model = new(task, options)
    X, y = stream(task, seed=1)
    model.learn(X, y)
    model.learn(csr(X[:30]), None if y is None else y[:30])
    return model


def goes_on_as_before(model, task):
    """Rejected input has left nothing behind that a state does not show either."""
    X, y = stream(task, seed=2)
    kernel = model.parameters["kernel"]
    again = hinge.Learner.from_bytes(model.to_bytes(), kernel=kernel if callable(kernel) else None)
    model.learn(X, y)
    again.learn(X, y)
    if callable(kernel):
        np.testing.assert_allclose(model.dual_coef, again.dual_coef, rtol=1e-8, atol=1e-10)
    else:
        assert model.to_bytes() == again.to_bytes()


# ---- bad rows -------------------------------------------------------------------------------------------


@cases
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e200], ids=str)
def test_a_bad_value_in_the_middle(task, options, value):
    model = trained(task, options)
    X, y = stream(task)
    X[BAD, 2] = value
    where = rf"row {BAD}, column 2: "
    refused(model, where, lambda: model.learn(X, y))
    refused(model, where, lambda: model.learn(csr(X), y))
    one = slice(BAD, BAD + 1)
    refused(model, r"row 0", lambda: model.learn(X[one], None if y is None else y[one]))
    refused(model, r"row 0", lambda: model.scores(X[one]))
    refused(model, rf"row {BAD}", lambda: model.scores(X))
    goes_on_as_before(model, task)


@cases
def test_a_bad_value_among_events(task, options):
    model = new(task, options)
    X, y = stream(task, seed=1)
    names = list("abcde")
    events = [dict(zip(names, row, strict=True)) for row in X.tolist()]
    model.learn_many(events, y)
    events[BAD] = {**events[BAD], "fresh": 2.0, "c": np.nan}
    refused(model, rf"row {BAD}.*'?c'?", lambda: model.learn_many(events, y))
    truth = {"uniclass": None, "multilabel": {1}}.get(task, 1)
    refused(model, "NaN", lambda: model.learn_one(events[BAD], truth))
    refused(model, "overflow", lambda: model.learn_one({"new": 1e200}, truth))
    refused(model, "weight", lambda: model.learn_one({"a": 1.0}, truth, -1.0))
    refused(model, "weight", lambda: model.learn_one({"a": 1.0}, truth, float("nan")))
    refused(model, ".", lambda: model.learn_one({"a": object()}, truth), (TypeError, ValueError))
    assert "fresh" not in model.feature_names
    assert "new" not in model.feature_names


@cases
@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf], ids=str)
def test_a_bad_weight_in_the_middle(task, options, weight):
    model = trained(task, options)
    X, y = stream(task)
    weights = np.ones(COUNT)
    weights[BAD] = weight
    refused(model, rf"row {BAD}: the sample weight", lambda: model.learn(X, y, weights))
    goes_on_as_before(model, task)


@cases
def test_a_bad_target_in_the_middle(task, options):
    if task == "uniclass":
        pytest.skip("has none")
    model = trained(task, options)
    X, y = stream(task)
    y = y.astype(object)
    y[BAD] = {"regression": np.nan, "multilabel": 3}.get(task, 77)
    if task == "regression":
        y = y.astype(float)
    refused(model, ".", lambda: model.learn(X, y))
    with pytest.raises(ValueError, match=r"are|has|rows"):
        model.learn(X, y[:-1])
    goes_on_as_before(model, task)


@cases
def test_broken_csr(task, options):
    model = trained(task, options)
    X, y = stream(task)
    for column in (WIDTH, -1, 2**31 - 1):
        bad = csr(X)
        bad.indices[bad.indptr[BAD]] = column
        refused(model, rf"row {BAD}: column index", lambda bad=bad: model.learn(bad, y))
        refused(model, rf"row {BAD}: column index", lambda bad=bad: model.scores(bad))
    bad = csr(X)
    bad.indptr[BAD] = 10**6
    refused(model, rf"row {BAD - 1}: indptr is broken", lambda: model.learn(bad, y))
    goes_on_as_before(model, task)


@pytest.mark.parametrize("budget", BUDGETS)
def test_kernel_values_that_overflow(budget):
    """The instance is small enough, its kernel value is not."""
    model = hinge.Learner("regression", kernel="poly", degree=5, gamma=1.0, budget=budget)
    X, y = stream("regression")
    model.learn(X, y)
    X[BAD, 0] = 1e70
    refused(model, rf"row {BAD}: the score overflows", lambda: model.learn(X, y))
    refused(model, "the score overflows", lambda: model.learn_one({0: 1e70}, 1.0))
    fresh = hinge.Learner("regression", kernel="poly", degree=5, gamma=1.0, budget=budget)
    refused(fresh, "kernel's value of the instance with itself", lambda: fresh.learn_one({0: 1e70}, 1.0))
    X[BAD, 0] = 1e25  # this one can be learned
    model.learn(X, y)
    assert np.isfinite(model.scores(X)).all()


@pytest.mark.parametrize("budget", BUDGETS)
def test_targets_that_are_too_large(budget):
    model = hinge.Learner("regression", kernel="rbf", gamma=0.3, step="pa", budget=budget)
    X, y = stream("regression")
    model.learn(X, y)
    y[BAD] = 1e200
    refused(model, rf"row {BAD}: the loss or the step is too large", lambda: model.learn(X, y))


# ---- functions ------------------------------------------------------------------------------------------


def gram(X, Z):
    return dense(X @ Z.T) + 1.0


def returning(make):
    """A kernel that returns make(values) as soon as a row has 77 in it; else the values."""

    def kernel(X, Z):
        values = gram(X, Z)
        return make(values, X) if (dense(X) == 77).any() else values

    return kernel


def negative(values, X):
    values[(dense(X) == 77).any(axis=1)] = -1.0
    return values


def put_nan(values, X):
    values[np.flatnonzero((dense(X) == 77).any(axis=1))[0]] = np.nan
    return values


RETURNS = {
    "None": (lambda values, X: None, r"shape|numbers"),
    "a word": (lambda values, X: "no", "numbers, not str"),
    "words": (lambda values, X: values.astype(str).astype(object) + "x", "numbers, not ndarray"),
    "a number": (lambda values, X: 1.0, "shape"),
    "a vector": (lambda values, X: values.ravel(), "shape"),
    "a row too few": (lambda values, X: values[:-1], "shape"),
    "a column too many": (lambda values, X: np.hstack([values, values[:, :1]]), "shape"),
    "turned": (lambda values, X: np.zeros((values.shape[1] + 1, values.shape[0])), "shape"),
    "three dimensions": (lambda values, X: values[None], "shape"),
    "sparse": (lambda values, X: scipy.sparse.csr_matrix(values), "numbers, not csr_matrix"),
    "NaN": (put_nan, rf"row {BAD}: the kernel returned -?nan"),
    "infinity": (lambda values, X: values * np.inf, "the kernel returned"),
    "a negative square": (negative, rf"row {BAD}: the kernel's value of an instance with itself is negative"),
}


@pytest.mark.parametrize("what", RETURNS)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("container", [np.asarray, csr], ids=["dense", "csr"])
def test_functions_that_return_something_else(what, budget, container):
    make, match = RETURNS[what]
    model = hinge.Learner("regression", kernel=returning(make), budget=budget, fit_intercept=False)
    X, y = stream("regression")
    model.learn(container(X), y)
    X[BAD, 1] = 77
    refused(model, match, lambda: model.learn(container(X), y))
    refused(model, match.replace(f"row {BAD}: ", ""), lambda: model.learn_one({0: 1.0, 1: 77.0}, 1.0))
    if what != "a negative square":
        refused(model, match, lambda: model.scores(container(X)))
    goes_on_as_before(model, "regression")


class Broken(Exception):
    pass


@pytest.mark.parametrize("error", [Broken, ValueError, KeyboardInterrupt, MemoryError, StopIteration])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("task", ["regression", "uniclass", "new labels"])
def test_functions_that_raise_from_then_on(task, error, budget):
    """Nor is the function needed to take the batch back."""
    broken = []

    def kernel(X, Z):
        if broken or (dense(X) == 77).any():
            broken.append(True)
            raise error("gone")
        return gram(X, Z)

    X, y = stream("classification" if task == "new labels" else "regression")
    options = {"radius": 0.1} if task == "uniclass" else {}
    name = "classification" if task == "new labels" else task
    model = hinge.Learner(name, kernel=kernel, budget=budget, **options)
    y = None if task == "uniclass" else y
    model.learn(X, y)
    X[BAD, 1] = 77
    if task == "new labels":
        y = y.copy()
        y[70] = 5
    refused(model, "gone", lambda: model.learn(X, y), error)
    broken.clear()
    X[BAD, 1] = 0
    again = hinge.Learner.from_bytes(model.to_bytes(), kernel=kernel)
    for learner in (model, again):
        learner.learn(X, y)
    np.testing.assert_allclose(model.dual_coef, again.dual_coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(model.support, again.support)


def test_functions_that_write_into_what_they_are_given():
    def kernel(X, Z):
        values = gram(X, Z)
        X[:] = 5.0
        Z[:] = 7.0
        return values

    X, y = stream("regression")
    ours, theirs = (hinge.Learner("regression", kernel=one, budget=8) for one in (kernel, gram))
    ours.learn(X, y)
    theirs.learn(X, y)
    assert {k: v.tobytes() for k, v in ours.to_parts()[1].items()} == {
        k: v.tobytes() for k, v in theirs.to_parts()[1].items()
    }
