"""Models to be given bad rows, and the promise that a refusal leaves them what they were."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import hinge

WIDTH, COUNT, BAD = 5, 40, 27  # rows of a batch, and the bad one among them
TASKS = ("classification", "regression", "uniclass")


def refused(model, match, call, error=ValueError):
    before = model.to_bytes()
    with pytest.raises(error, match=match):
        call()
    assert model.to_bytes() == before


def stream(task, count=COUNT, width=WIDTH, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((count, width)) < 0.7, rng.normal(size=(count, width)), 0.0)
    y = {"classification": rng.choice([0, 1], count), "regression": rng.normal(size=count), "uniclass": None}[
        task
    ]
    return X, y


def csr(X):
    return scipy.sparse.csr_matrix(X)


def new(task, **options):
    if task == "classification":
        options.setdefault("classes", [0, 1])
    return hinge.Learner(task, **options)


def trained(task, width, options):
    """A model that has learned from arrays of that width (or as wide as it is, if it is hashed)."""
    model = new(task, **options)
    if width:
        X, y = stream(task, width=WIDTH, seed=1)
        width = model.n_features or width
        model.learn(scipy.sparse.csr_matrix(np.pad(X, ((0, 0), (0, width - WIDTH)))), y)
    return model


def fit(model, X):
    """The rows as wide as the model: what is not given is 0."""
    return np.pad(X, ((0, 0), (0, max(0, model.n_features - X.shape[1]))))
