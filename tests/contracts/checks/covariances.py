"""Geometries: the covariance and its uncertainty, simplexes that grow, and averages of the weights."""

from __future__ import annotations

import numpy as np
import pytest

from cases import (
    NAMES,
    as_dicts,
    covariance_by_name,
    csr,
    named_first,
    number,
    one,
    part,
    stream,
    weights_by_name,
)
from checks import check
from contract_case import in_form


def shapes(case):
    return case.is_learner and case.geometry != "euclidean" and not case.grows and not case.is_committee


def covariances(case):
    return shapes(case) and case.has_covariance


def close(case, ours, theirs):
    rtol, atol = (1e-4, 1e-6) if case.is_single else (1e-9, 1e-12)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)


def whole_covariance(learner):
    """With the coordinate of the intercept, which is the first one then."""
    d, upper = learner._engine.factors()
    return np.diag(d) if upper is None else (upper * d) @ upper.T


@check(covariances)
def check_uncertainty_follows_from_covariance(case):
    """x'Sx, with the constant feature of an intercept; of arrays, CSR matrices, frames and events."""
    data = case.data("dense")
    rows = data.X
    assert case.new().covariance.size in (0, 64, 64**2)
    model = case.learned(data)
    has_intercept = model.parameters["fit_intercept"] and model.task != "ordinal"
    S, ones = whole_covariance(model), np.full((len(rows), int(has_intercept)), model.constant)
    expected = np.einsum("ti,ij,tj->t", np.hstack([ones, rows]), S, np.hstack([ones, rows]))
    np.testing.assert_allclose(model.uncertainty(rows), expected, rtol=1e-9)
    np.testing.assert_allclose(model.uncertainty(csr(rows)), expected, rtol=1e-9)
    if not case.hashes:
        found = [model.uncertainty_one(dict(enumerate(x))) for x in rows.tolist()]
        np.testing.assert_allclose(found, expected, rtol=1e-9)
    inner = S[ones.shape[1] :, ones.shape[1] :]
    is_diagonal = case.geometry == "diagonal"
    np.testing.assert_allclose(model.covariance, np.diag(inner) if is_diagonal else inner, rtol=1e-12)
    start = case.options.get("initial_variance", 1.0)
    variances = model.covariance if is_diagonal else np.linalg.eigvalsh(model.covariance)
    assert (variances > 0).all()
    assert (variances <= start * (1 + 1e-12)).all()
    assert variances.min() < start / 2  # something was learned


@check(covariances)
def check_unseen_features_have_the_initial_variance(case):
    start, extra = case.options.get("initial_variance", 1.0), int(case.options.get("fit_intercept", False))
    model = case.new()
    unseen = {"new": 3.0, "color": "red", "flag": True, "zero": 0.0}
    assert model.uncertainty_one({}) == pytest.approx(start * extra)
    if not case.hashes:
        assert model.uncertainty_one(unseen) == pytest.approx(start * (11 + extra))
    data = case.data()
    case.learn(model, data.weighing(1.0))
    before = case.state(model)
    nothing, known = model.uncertainty_one({}), data.X[1]
    assert nothing <= start * extra
    if not case.hashes:
        sure = model.uncertainty_one(known)
        assert model.uncertainty_one(unseen) == pytest.approx(nothing + 11 * start)
        assert model.uncertainty_one({**known, **unseen}) == pytest.approx(sure + 11 * start)
        frame = in_form("frame", np.zeros((2, len(NAMES))))
        frame.loc[0, list(known)] = list(known.values())
        frame["new"] = [3.0, -1.0]
        np.testing.assert_allclose(model.uncertainty(frame), [sure + 9 * start, nothing + start], rtol=1e-12)
    assert case.state(model) == before


@check(covariances)
def check_updates_reduce_the_uncertainty(case):
    """Round by round it grows in no direction, and changes with updates only."""
    data = case.data("dense").weighing(1.0)
    model = case.learned(data[:1])
    sizes, reduced = model.uncertainty(data.X), 0
    for i in range(1, len(data)):
        updates = model.statistics.updates
        case.learn(model, data[i : i + 1])
        after = model.uncertainty(data.X)
        if model.statistics.updates == updates:
            np.testing.assert_array_equal(after, sizes)
        else:
            assert (after <= sizes * (1 + 1e-9)).all()
            reduced += after[i] < sizes[i] * (1 - 1e-9)
        sizes = after
    assert reduced > 3


@check(covariances)
def check_covariance_is_saved(case):
    model = case.learned()
    again = case.copies(model)["file"]
    assert model.covariance.tobytes() == again.covariance.tobytes()
    for x in case.data().X:
        assert model.uncertainty_one(x) == again.uncertainty_one(x)
    if case.hashes:
        rows = case.data("dense").X
        assert model.uncertainty(rows).tobytes() == again.uncertainty(rows).tobytes()


@check(covariances)
def check_order_of_columns_does_not_matter(case):
    first = case.learned()
    event = case.data().X[4]
    assert first.uncertainty_one(event) == first.uncertainty_one(dict(reversed(event.items())))
    if case.hashes:
        return
    data = case.data("dense")
    second, mirrored = case.new(), case.new()
    second.learn(data.X, data.y, data.weights)
    mirrored.learn(data.X[:, ::-1], data.y, data.weights)
    close(case, covariance_by_name(first), second.covariance)
    back = (slice(None, None, -1),) * second.covariance.ndim
    close(case, mirrored.covariance[back], second.covariance)
    close(case, mirrored.uncertainty(data.X[:, ::-1]), second.uncertainty(data.X))


@check(lambda case: covariances(case) and not case.hashes)
def check_growing_equals_having_known_all_features(case):
    data = case.data()
    for i, event in enumerate(data.X):
        event[f"new{i // 4}"] = 0.5
    grown, known = case.new(), case.new()
    known.name_columns([f"new{k}" for k in range(15)] + NAMES[::-1])
    for i, event in enumerate(data.X):
        np.testing.assert_allclose(
            number(grown.score_one(event)), number(known.score_one(event)), rtol=1e-4, atol=1e-5
        )
        assert grown.uncertainty_one(event) == pytest.approx(known.uncertainty_one(event), rel=1e-5)
        for model in (grown, known):
            model.learn_one(event, one(data.y, i))
    close(case, weights_by_name(grown), weights_by_name(known))
    close(case, covariance_by_name(grown), covariance_by_name(known))
    assert grown.n_features == known.n_features == 22


@check(lambda case: shapes(case) and not case.has_covariance and not case.hashes)
def check_simplex_grows_with_the_vocabulary(case):
    """A new feature takes its part of the total: the weights of the others shrink by one factor.

    So events are not arrays unless the columns are named before (or the first event has all of them).
    """
    X, y, _ = stream(case.task)
    X[0] = 0.5 + np.arange(7)
    named, arrays, events, surprised = (case.new() for _ in range(4))
    named_first(named).learn_many(as_dicts(X), y)
    arrays.learn(X, y)
    events.learn_many(as_dicts(X), y)
    rest = X.copy()
    rest[0, 1:] = 0.0
    surprised.learn_many(as_dicts(rest), y)
    for same in (named, events):
        close(case, weights_by_name(same), weights_by_name(arrays))
    assert not np.allclose(weights_by_name(surprised), weights_by_name(arrays), rtol=1e-3)
    before = [model.last_weights.astype(float) for model in (arrays, named)]
    for model, was in zip((arrays, named), before, strict=True):
        model.name_columns(NAMES if model is arrays else ["more"])
        if model is arrays:
            model.name_columns(["more"])
        factors = (model.last_weights.astype(float)[..., :7] / was).ravel()
        np.testing.assert_allclose(factors, factors[0], rtol=1e-5)
        assert 0 < factors[0] < 1  # the new one has the weight that all had at the start, before Z
    total = np.abs(arrays.last_weights).sum() + np.abs(arrays.last_intercept).sum()
    assert total <= case.options["scale"] * (1 + 1e-6)
    if not case.options.get("signed", True):
        assert total == pytest.approx(case.options["scale"])


@check(lambda case: shapes(case) and not case.hashes)
def check_average_is_that_of_the_weights(case):
    """Of those that predicted; on a simplex kept through sums of exponentials, and the columns known from the start."""
    X, y, _ = stream(case.task)
    every, last = (case.new(average=average) for average in (True, False))
    seen = []
    for i in range(len(X)):
        row = slice(i, i + 1)
        rounds = last.statistics.rounds
        weights, intercept = last.last_weights.astype(float), np.array(last.last_intercept, dtype=float)
        every.learn(X[row], part(y, row))
        last.learn(X[row], part(y, row))
        if last.statistics.rounds > rounds:
            if weights.size == 0:  # the columns come with the first row
                fresh = case.new(average=False)
                fresh.learn(X[row], part(y, row), [0.0])
                weights = fresh.last_weights.astype(float)
                intercept = np.array(fresh.last_intercept, dtype=float)
            seen.append(np.append(weights.ravel(), intercept.ravel()))
    found = np.append(np.asarray(every.weights, dtype=float).ravel(), np.ravel(every.intercept))
    close(case, found, np.mean(seen, axis=0))
    np.testing.assert_array_equal(every.last_weights, last.last_weights)
    if case.has_covariance:
        assert every.covariance.tobytes() == last.covariance.tobytes()
