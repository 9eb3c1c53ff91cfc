"""Supports of kernels: which examples they are, their coefficients, and that these are the predictor."""

from __future__ import annotations

import numpy as np

import kernel_cases
from cases import numbered, one, part, rows_for, stream
from checks import check


def dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def kernel_values(learner, Z, X):
    """K(z, x), with the constant of an intercept, from the papers' formulas."""
    p = learner.parameters
    Z, X = dense(Z), dense(X)
    if p["kernel"] == "linear":
        values = Z @ X.T
    elif p["kernel"] == "poly":
        values = (p["gamma"] * (Z @ X.T) + p["coef0"]) ** p["degree"]
    elif p["kernel"] == "rbf":
        values = np.exp(-p["gamma"] * np.square(Z[:, None] - X[None]).sum(axis=2))
    else:
        values = kernel_cases.own(Z, X)
    return values + learner.constant**2


def close(case, ours, theirs):
    rtol, atol = (1e-3, 1e-4) if case.is_single else (1e-8, 1e-9)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


@check(lambda case: case.kernel is not None)
def check_supports_are_the_predictor(case):
    X = case.data("dense").X
    for form in ("dense", "csr"):
        learner = case.learned(case.data(form))
        Z, c = learner.support_vectors, learner.dual_coef
        assert Z.shape == (learner.n_support, X.shape[1])
        assert isinstance(Z, np.ndarray) == (form == "dense")
        assert c.shape == ((4, len(dense(Z))) if learner.many_scores else (len(dense(Z)),))
        products = c @ kernel_values(learner, Z, X)
        if case.task == "uniclass" and not case.options.get("average"):
            norm2 = c @ kernel_values(learner, Z, Z) @ c
            itself = np.array([kernel_values(learner, x[None], x[None])[0, 0] for x in X])
            distance = np.sqrt(np.maximum(0, norm2 - 2 * products + itself))
            np.testing.assert_allclose(learner.scores(X), learner.radius - distance, rtol=1e-5, atol=1e-3)
        elif case.task != "uniclass":
            close(case, learner.scores(X), products.T)
        if case.kernel == "linear" and not learner.many_scores:
            close(case, learner.weights[: X.shape[1]], c @ dense(Z))
        if case.kernel == "linear" and learner._has_intercept:
            close(case, learner.intercept, c.sum(axis=-1) * learner.constant**2)


@check(
    lambda case: case.kernel is not None and case.options["budget"] is not None and case.task != "multilabel"
)
def check_cached_products_are_those_of_the_supports(case):
    """w.x_i of each support, after many insertions and removals. (The labels of a set have one score more.)"""
    learner = case.new()
    for _ in range(4):
        case.learn(learner, case.data("dense"))
    Z, c = learner.support_vectors, np.atleast_2d(learner.dual_coef)
    kept = learner.to_parts()[1]["support_products"].reshape(learner.n_support, -1)
    close(case, kept, (c @ kernel_values(learner, Z, Z)).T)


@check(lambda case: case.kernel is not None)
def check_supports_are_numbered_as_in_the_stream(case):
    """Of batches, single rows and events in turn; rows without weight count."""
    X, y, weights = stream(case.task, case.count)
    learner = case.new(hash_bits=None)
    for rows in (slice(0, 40), slice(40, 41)):
        learner.learn(X[rows], part(y, rows), weights[rows])
    learner.learn_many(numbered(X[41:120]), part(y, slice(41, 120)), weights[41:120])
    for i in range(120, case.count):
        learner.learn_one(numbered(X[i : i + 1])[0], one(y, i), float(weights[i]))
    kind = np.dtype(case.options.get("dtype", "float64"))
    np.testing.assert_array_equal(dense(learner.support_vectors), X[learner.support].astype(kind))
    assert (weights[learner.support] > 0).all()
    assert len(set(learner.support.tolist())) == learner.n_support


@check(lambda case: case.kernel is not None and case.is_exact)
def check_supports_of_ordered_rows_are_numbered_as_given(case):
    X, y, weights = stream(case.task, case.count)
    X = rows_for(case.options, X)
    order = np.random.default_rng(0).permutation(case.count)
    ours, theirs = case.new(), case.new()
    ours.learn(X, y, weights, order=order)
    theirs.learn(X[order], part(y, order), weights[order])
    np.testing.assert_array_equal(ours.support, order[theirs.support])
    np.testing.assert_array_equal(ours.dual_coef, theirs.dual_coef)
