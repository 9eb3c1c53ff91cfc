"""Custom kernels that return nonsense, raise, or write into their arguments."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import hinge
from rejection import rejects
from rejection_cases import BUDGETS, Case, csr, dense, gram, still_learns, stream

COUNT, BAD = 150, 100


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
def test_nonsense_that_a_kernel_returns_is_rejected(what, budget, container):
    make, message = RETURNS[what]
    options = {"kernel": returning(make), "budget": budget, "fit_intercept": False}
    case = Case("regression", options, container=container, count=COUNT, bad=BAD)
    model, (X, y) = case.new(), case.stream()
    model.learn(container(X), y)
    X[BAD, 1] = 77
    rejects(model, message).learn(container(X), y)
    rejects(model, message.replace(f"row {BAD}: ", "")).learn_one({0: 1.0, 1: 77.0}, 1.0)
    if what != "a negative square":
        rejects(model, message).scores(container(X))
    still_learns(model, case)


class Broken(Exception):
    pass


@pytest.mark.parametrize("error", [Broken, ValueError, KeyboardInterrupt, MemoryError, StopIteration])
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("task", ["regression", "uniclass", "new labels"])
def test_error_of_a_kernel_is_raised_unchanged(task, error, budget):
    """From then on it raises always: it is not needed to take the batch back."""
    broken = []

    def kernel(X, Z):
        if broken or (dense(X) == 77).any():
            broken.append(True)
            raise error("gone")
        return gram(X, Z)

    name = "classification" if task == "new labels" else task
    model = hinge.Learner(
        name, kernel=kernel, budget=budget, **({"radius": 0.1} if task == "uniclass" else {})
    )
    X, y = stream(name, COUNT)
    model.learn(X, y)
    X[BAD, 1] = 77
    if task == "new labels":
        y = np.where(np.arange(COUNT) == 70, 5, y)
    rejects(model, "gone", error).learn(X, y)
    broken.clear()
    X[BAD, 1] = 0
    again = hinge.Learner.from_bytes(model.to_bytes(), kernel=kernel)
    for learner in (model, again):
        learner.learn(X, y)
    np.testing.assert_allclose(model.dual_coef, again.dual_coef, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(model.support, again.support)


def test_kernel_may_write_into_its_arguments():
    def kernel(X, Z):
        values = gram(X, Z)
        X[:] = 5.0
        Z[:] = 7.0
        return values

    X, y = stream("regression", COUNT)
    ours, theirs = (hinge.Learner("regression", kernel=one, budget=8) for one in (kernel, gram))
    ours.learn(X, y)
    theirs.learn(X, y)
    assert {k: v.tobytes() for k, v in ours.to_parts()[1].items()} == {
        k: v.tobytes() for k, v in theirs.to_parts()[1].items()
    }
