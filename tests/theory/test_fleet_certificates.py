"""Certificates of fleets with shared and personal weights, and the inequality behind them, on random streams."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from hinge import Fleet
from hinge.data.rows import Rows
from hinge.fleet.batches import features_of
from hinge.theory.certificate import ANOTHER_RUN
from hinge.theory.fleets import expanded

WIDTH = 5
KEYS = ["a", "b", 7]


def stream(task: str, seed: int, count: int = 60, again: bool = False) -> tuple[list[Any], Any, Any]:
    """Keys that agree about the first column only. `again`: few examples, which come again and again."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((count, WIDTH)) < 0.8, rng.normal(size=(count, WIDTH)), 0.0)
    keys = rng.integers(0, len(KEYS), count)
    if again:
        X = X[rng.integers(0, 6, count)]
    truth = X[:, 0] + X[:, 1] * (keys - 1) + 0.2 * rng.normal(size=count)
    y = truth.tolist() if task == "regression" else ["pq"[int(t > 0)] for t in truth]
    return [KEYS[k] for k in keys], X, y


def learned(task: str, keys: Any, X: Any, y: Any, **options: Any) -> Fleet:
    fleet = Fleet(task, **options)
    fleet.learn_many(keys, X, y)
    return fleet


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("personal", [0.5, 2.0])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_progress_is_at_most_the_distance_to_any_shared_and_personal_weights(
    task: str, step: str, personal: float, fit_intercept: bool
) -> None:
    """Lemma 1: sum tau_t (2 l_t - tau_t q_t - 2 l*_t) <= |u_0|^2 + sum_k |p_k|^2/s^2, for each u_0 and all p_k, where
    (u_0 + p_k).z predicts for key k. Computed here from scratch; tau_t is what the weights have moved."""
    for seed in range(6):
        rng = np.random.default_rng(100 + seed)
        keys, X, y = stream(task, seed, 40)
        C, eps = 0.3, 0.1
        fleet = Fleet(
            task, step=step, C=C, personal=personal, fit_intercept=fit_intercept, intercept_value="auto"
        )
        moved = []  # tau_t for each event: the shared weights move by tau_t z_t
        before = np.zeros(WIDTH)
        for key, x, truth in zip(keys, X, y, strict=True):
            fleet.learn_one(key, dict(enumerate(x.tolist())), truth)
            names, weights, _ = fleet._core.weights(None)
            after = np.zeros(WIDTH)
            after[names] = np.asarray(weights)[:, 0]
            moved.append(np.linalg.norm(after - before) / np.linalg.norm(x))
            before = after
        constant = fleet._core.constant(None) if fit_intercept else 0.0
        Z = np.hstack([X, np.full((len(X), 1), constant)]) if fit_intercept else X
        s = fleet.statistics
        q = (1 + personal**2) * (Z**2).sum(axis=1)
        assert s.largest_q == pytest.approx(q.max())
        # Comparators: random ones, and what was learned.
        shared = np.append(before, 0.0)[: Z.shape[1]]
        for scale in (0.0, 0.3, 1.0, 3.0):
            u = scale * (shared + 0.3 * rng.normal(size=Z.shape[1]))
            p = {key: scale * 0.5 * rng.normal(size=Z.shape[1]) for key in KEYS}
            predicted = np.array([(u + p[key]) @ z for key, z in zip(keys, Z, strict=True)])
            if task == "classification":
                signs = np.array(
                    [1.0 if label == fleet.labels[fleet.labels.index("q")] else -1.0 for label in y]
                )
                losses = np.maximum(0.0, 1 - signs * predicted)
            else:
                losses = np.maximum(0.0, abs(predicted - np.array(y)) - eps)
            distance = u @ u + sum(each @ each for each in p.values()) / personal**2
            assert s.progress - 2 * np.array(moved) @ losses <= distance + 1e-9


@pytest.mark.parametrize("kind", ["events", "dense", "sparse", "frame"])
@pytest.mark.parametrize("personal", [0.0, 0.5, 3.0])
def test_long_instances_have_the_geometry_of_the_fleet(kind: str, personal: float) -> None:
    """Their products are (1 + s^2) z.z' for one key, and z.z' for two. So D^2 and R^2 are those of the bound."""
    keys, X, y = stream("regression", 3)
    X[4] = 0.0
    given: Any = {
        "events": [{j: float(row[j]) for j in np.flatnonzero(row)} for row in X],
        "dense": X,
        "sparse": scipy.sparse.csr_matrix(X),
        "frame": pd.DataFrame(X, columns=list("vwxyz")),
    }[kind]
    for fit_intercept in (False, True):
        fleet = learned("regression", keys, given, y, personal=personal, fit_intercept=fit_intercept)
        rows = expanded(fleet, keys, features_of(given))
        assert isinstance(rows, Rows)
        data, indices, indptr, width = rows.arrays
        long = scipy.sparse.csr_matrix((data, indices, indptr), shape=(rows.count, width)).toarray()
        constant = fleet._core.constant(None) if fit_intercept else 0.0
        assert (constant > 0) == fit_intercept
        same = np.array([[a == b for b in keys] for a in keys])
        products = long @ long.T + constant**2  # the shared constant feature is that of the intercept
        np.testing.assert_allclose(products, (1 + personal**2 * same) * (X @ X.T + constant**2), atol=1e-12)
        assert fleet.statistics.largest_q == pytest.approx(np.diag(products).max())


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
@pytest.mark.parametrize("again", [False, True])
def test_bounds_hold(task: str, step: str, geometry: str, again: bool) -> None:
    for seed in range(4):
        keys, X, y = stream(task, seed, again=again)
        fleet = learned(task, keys, X, y, step=step, geometry=geometry, C=0.5)
        certificate = fleet.certificate(keys, X, y)
        assert not certificate.reason
        assert certificate.rounds == len(X)
        assert certificate.holds
        if geometry == "euclidean":
            assert certificate.applicable
            assert certificate.tightest is not None
            suffered = {guarantee.quantity: guarantee.suffered for guarantee in certificate.applicable}
            for quantity, value in (
                ("mistakes", fleet.statistics.mistakes),
                ("squared loss", fleet.statistics.squared_loss),
                ("loss", fleet.statistics.loss),
            ):
                assert suffered.get(quantity, value) == pytest.approx(value)


@pytest.mark.parametrize("labels", ["pqr", [True, False]])
def test_bounds_hold_for_other_labels(labels: Any) -> None:
    keys, X, _ = stream("regression", 9, 90)
    y = [labels[t % len(labels)] for t in range(90)]
    for more in ({}, {"average": True}, {"dtype": "float32"}, {"step": "perceptron"}):
        options: Any = {"classes": list(labels), **more}
        fleet = learned("classification", keys, X, y, **options)
        certificate = fleet.certificate(keys, X, y)
        assert not certificate.reason, options
        assert certificate.holds


def test_another_run_has_no_certificate() -> None:
    for task in ("classification", "regression"):
        keys, X, y = stream(task, 5)
        fleet = learned(task, keys, X, y)
        other = ["p" if label == "q" else "q" for label in y] if task == "classification" else [-t for t in y]
        for given in (
            (keys[::-1], X, y),
            (keys, X[::-1], y),
            (keys, 1.5 * X, y),
            (keys, X, [*other[:30], *y[30:]]),
            (keys[:-1], X[:-1], y[:-1]),
            (["a"] * len(keys), X, y),
        ):
            assert fleet.certificate(*given).reason == ANOTHER_RUN
        assert not fleet.certificate(keys, X, y).reason
        fleet.learn_many(keys, X, y, [0.01] * len(y))
        assert fleet.certificate([*keys, *keys], np.vstack([X, X]), [*y, *y]).reason == ANOTHER_RUN


def test_keys_in_a_column_and_events_one_by_one() -> None:
    keys, X, y = stream("classification", 6)
    frame = pd.DataFrame(X, columns=list("vwxyz"))
    events = [dict(zip("vwxyz", row, strict=True)) for row in X.tolist()]
    fleet = Fleet("classification")
    for event in zip(keys, events, y, strict=True):
        fleet.learn_one(*event)
    expected = fleet.certificate(keys, events, y)
    assert expected.applicable
    for given in ((keys, frame), ("k", frame.assign(k=keys)), (np.array(list(map(str, keys))), frame)):
        found = fleet.certificate(*given, y)
        assert [g.suffered for g in found.guarantees] == pytest.approx(
            [g.suffered for g in expected.guarantees]
        )
        assert [g.guaranteed for g in found.guarantees] == pytest.approx(
            [g.guaranteed for g in expected.guarantees]
        )


def test_fleets_without_shared_weights_have_certificates_of_their_keys() -> None:
    keys, X, y = stream("classification", 7)
    fleet = learned("classification", keys, X, y, shared=False)
    with pytest.raises(ValueError, match="each key has a model of its own"):
        fleet.certificate(keys, X, y)
    chosen = [key == "a" for key in keys]
    certificate = (
        fleet["a"].learner().certificate(X[chosen], [label for label, c in zip(y, chosen, strict=True) if c])
    )
    assert certificate.holds
    assert certificate.applicable


def test_nothing_is_guaranteed_without_examples() -> None:
    for task in ("classification", "regression"):
        certificate = Fleet(task).certificate([], [], [])
        assert certificate.reason
        assert certificate.holds
