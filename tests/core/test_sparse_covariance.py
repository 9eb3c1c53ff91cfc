"""A full covariance over many columns, few per instance: only these are updated, journaled and rolled back."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import hinge

WIDTH = 300
OPTIONS = {"geometry": "mahalanobis", "step": "pa2", "C": 0.5, "classes": [-1, 1]}


def rows(kind, count, seed=0):
    """Three non-zeros per row: in groups of columns that never meet, or anywhere."""
    rng = np.random.default_rng(seed)
    dense = np.zeros((count, WIDTH))
    for row in dense:
        columns = 6 * rng.integers(WIDTH // 6) + rng.choice(6, 3, replace=False)
        row[columns if kind == "groups" else rng.choice(WIDTH, 3, replace=False)] = rng.normal(size=3)
    return sp.csr_matrix(dense), rng.choice([-1, 1], size=count)


def arow(X, y, fit_intercept):
    X = np.hstack([np.ones((X.shape[0], int(fit_intercept))), X.toarray()])
    w, S = np.zeros(X.shape[1]), np.eye(X.shape[1])
    for x, target in zip(X, y, strict=True):
        loss = max(0.0, 1 - target * (w @ x))
        if loss > 0:
            g = S @ x
            w, S = w + loss / (x @ g + 1) * target * g, S - np.outer(g, g) / (x @ g + 1)
    first = int(fit_intercept)
    return w[first:], S[first:, first:]


@pytest.mark.parametrize("kind", ["groups", "anywhere"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("average", [False, True])
def test_sparse_rows_learn_arow_and_a_rejected_batch_leaves_no_trace(kind, fit_intercept, average):
    X, y = rows(kind, 120)
    options = {**OPTIONS, "fit_intercept": fit_intercept, "intercept_value": 1.0, "average": average}
    learner, one_by_one = (
        hinge.Learner("classification", **options),
        hinge.Learner("classification", **options),
    )
    learner.learn(X[:50], y[:50])
    before = learner.to_bytes()
    for last in (52, 60, 120):  # few rows are noted, many are a copy
        bad = X[50:last].copy()
        bad.data[-1] = np.nan
        with pytest.raises(ValueError, match=f"row {last - 51}, column"):
            learner.learn(bad, y[50:last])
        assert learner.to_bytes() == before
    learner.learn(X[50:], y[50:])
    for row in range(120):
        one_by_one.learn(X[row], y[row : row + 1])
    assert one_by_one.to_bytes() == learner.to_bytes()
    w, S = arow(X, y, fit_intercept)
    np.testing.assert_allclose(learner.last_weights, w, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(learner.covariance, S, rtol=1e-9, atol=1e-12)
    if kind == "groups" and not fit_intercept:  # what never met is not correlated, to the bit
        groups = np.arange(WIDTH) // 6
        assert not learner.covariance[groups[:, None] != groups].any()


def test_rejected_batch_of_events_with_new_columns_leaves_no_trace():
    X, y = rows("groups", 60, seed=1)
    events = [{f"w{j}": X[i, j] for j in X[i].indices} for i in range(60)]
    learner = hinge.Learner("classification", **OPTIONS)
    learner.learn_many(events[:30], y[:30])
    before, known = learner.to_bytes(), learner.n_features
    with pytest.raises(ValueError, match="row 29"):
        learner.learn_many([*events[30:59], {**events[59], "w0": np.inf}], y[30:])
    assert learner.to_bytes() == before
    learner.learn_many(events[30:], y[30:])
    assert learner.n_features > known
    again = hinge.Learner("classification", **OPTIONS)
    for event, target in zip(events, y.tolist(), strict=True):
        again.learn_one(event, target)
    assert again.to_bytes() == learner.to_bytes()
