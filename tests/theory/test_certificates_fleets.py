"""Certificates of shared and personal weights: the guarantee of one learner of longer instances."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hinge import Fleet
from hinge.theory import comparator


def stream_of_counts(count=2000, seed=0):
    """Features are 0 or 1: margins of exactly 1 are usual."""
    random = np.random.default_rng(seed)
    tastes = random.integers(-2, 3, size=(30, 6))
    keys = random.integers(30, size=count).tolist()
    X = (random.random((count, 6)) < 0.5).astype(float)
    scores = np.einsum("ij,ij->i", X, tastes[keys]) + X[:, 0] * 3 - 0.5
    return keys, X, np.where(scores > 0, "yes", "no").tolist()


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("by_one", [True, False])
def test_ties_are_no_other_run(step, by_one):
    """Scores are summed in another order than those of the learner with the same instances."""
    keys, X, y = stream_of_counts()
    fleet = Fleet("classification", step=step)
    if by_one:
        for key, x, label in zip(keys, X.tolist(), y, strict=True):
            fleet.learn_one(key, dict(enumerate(x)), label)
    else:
        fleet.learn_many(keys, X, y)
    certificate = fleet.certificate(keys, X, y)
    assert certificate.holds
    assert certificate.guarantees
    assert certificate.guarantees[0].suffered > 0


def test_another_stream_has_no_certificate():
    keys, X, y = stream_of_counts()
    fleet = Fleet("classification")
    fleet.learn_many(keys, X, y)
    for other in ((keys[::-1], X, y), (keys, X[::-1], y), (keys[:-1], X[:-1], y[:-1])):
        assert not fleet.certificate(*other).guarantees


def test_the_guarantee_is_that_of_the_theorem():
    """J06 Theorem 4 with D^2 = |u_0|^2 + sum |v_k|^2 / s^2 and (1 + s^2) R^2, worked out by hand."""
    keys, X, y = stream_of_counts(500)
    s, C = 0.5, 0.25
    fleet = Fleet("classification", personal=s, C=C, fit_intercept=False)
    fleet.learn_many(keys, X, y)
    signs = np.where(np.asarray(y) == "yes", 1, -1)
    random = np.random.default_rng(1)
    u_0, own = random.standard_normal(6), random.standard_normal((30, 6)) / 4
    losses = np.maximum(0, 1 - signs * np.einsum("ij,ij->i", X, u_0 + own[keys]))
    length = u_0 @ u_0 + (own**2).sum() / s**2
    radius = (1 + s**2) * (X**2).sum(axis=1).max()
    bound = max(radius, 1 / C) * (length + 2 * C * losses.sum())
    assert fleet.statistics.mistakes <= bound
    assert math.isclose(fleet.statistics.largest_q, radius)
    # The same comparator, of the longer instances.
    long = np.zeros((len(y), 6 * 31))
    long[:, :6] = X
    for row, key in enumerate(keys):
        long[row, 6 * (key + 1) : 6 * (key + 2)] = s * X[row]
    weights = np.concatenate([u_0, own.ravel() / s])
    found = comparator("classification", long, signs, weights)
    assert math.isclose(found.loss, losses.sum())
    assert math.isclose(found.distance2, length)
