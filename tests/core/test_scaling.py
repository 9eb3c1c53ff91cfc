"""scaling="online": the learner is that of the scaled stream, which is computed here in NumPy."""

from __future__ import annotations

import copy
import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

import hinge
from hinge import Learner

TASKS = ("classification", "regression", "multilabel", "ordinal")
GEOMETRIES = ("euclidean", "diagonal", "mahalanobis")


def scaled_stream(X):
    """Each value over the root mean square of the values other than 0 that its column has had so far."""
    counts, squares, Z = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.zeros(X.shape)
    for row, x in enumerate(X):
        counts += x != 0
        squares += x**2
        here = x != 0
        Z[row, here] = x[here] / np.sqrt(squares[here] / counts[here])
    return Z, np.sqrt(squares / counts)


def stream(task, labels=3, rows=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 6)) * 10.0 ** np.arange(-3, 3)
    X[rng.random(X.shape) < 0.3] = 0.0
    scores = (X / 10.0 ** np.arange(-3, 3)) @ rng.normal(size=(6, labels)) + 0.1
    if task == "regression":
        return X, scores[:, 0]
    if task == "multilabel":
        return X, [[r for r in range(labels) if s[r] > 0] for s in scores]
    if task == "ordinal":
        return X, np.digitize(scores[:, 0], [-0.5, 0.5])
    return X, scores.argmax(axis=1)


def make(task, labels=3, **options):
    if task != "regression":
        options["classes"] = list(range(labels))
    if task != "ordinal":
        options.setdefault("intercept_value", "auto")
    return Learner(task, **options)


def same_bits(one, other):
    return one.to_bytes() == other.to_bytes()


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize(("task", "labels"), [("classification", 2), *((task, 3) for task in TASKS)])
def test_a_scaled_learner_is_the_learner_of_the_scaled_stream(task, labels, geometry, average):
    X, y = stream(task, labels)
    options = {"geometry": geometry, "average": average, "step": "pa2", "C": 0.3}
    scaled = make(task, labels, scaling="online", **options)
    scaled.learn_many(X, y)
    Z, scales = scaled_stream(X)
    plain = make(task, labels, **options, **({} if task == "ordinal" else {"intercept_value": 0.5}))
    plain.learn_many(Z, y)
    assert scaled.statistics.updates > 20
    np.testing.assert_array_equal(scaled.statistics, plain.statistics)
    np.testing.assert_allclose(scaled.weights * scales, plain.weights, rtol=1e-14, atol=0)
    np.testing.assert_allclose(scaled.lanes(X), plain.lanes(X / scales), rtol=1e-12, atol=1e-13)
    if geometry != "euclidean":
        np.testing.assert_allclose(scaled.uncertainty(X), plain.uncertainty(X / scales), rtol=1e-12)
        outer = scales**2 if geometry == "diagonal" else np.outer(scales, scales)
        np.testing.assert_allclose(scaled.covariance * outer, plain.covariance, rtol=1e-11, atol=1e-14)


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("task", TASKS)
def test_all_kinds_of_rows_are_scaled_alike(task, geometry):
    X, y = stream(task)
    first = make(task, scaling="online", geometry=geometry, step="pa2")
    first.learn_many(csr_array(X), y)
    single = make(task, scaling="online", geometry=geometry, step="pa2")
    for x, its in zip(X, y, strict=True):
        single.learn_many(csr_array(x[None]), [its])
    assert same_bits(first, single)
    reversed_rows = csr_array(X)
    for start, stop in itertools.pairwise(reversed_rows.indptr):
        reversed_rows.indices[start:stop] = reversed_rows.indices[start:stop][::-1].copy()
        reversed_rows.data[start:stop] = reversed_rows.data[start:stop][::-1].copy()
    reversed_rows.has_sorted_indices = False
    unsorted, dense = (make(task, scaling="online", geometry=geometry, step="pa2") for _ in range(2))
    unsorted.learn_many(reversed_rows, y)
    dense.learn_many(X, y)
    events = make(task, scaling="online", geometry=geometry, step="pa2")
    for x, its in zip(X, y, strict=True):
        events.learn_one({column: value for column, value in enumerate(x.tolist()) if value}, its)
    for other in (unsorted, dense):
        np.testing.assert_allclose(other.weights, first.weights, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(other.lanes(reversed_rows), first.lanes(X), rtol=1e-9, atol=1e-10)
    named = events.named_weights() if task in ("regression", "ordinal") else events.named_weights()[1]
    expected = first.weights if task in ("regression", "ordinal") else first.weights[1]
    np.testing.assert_allclose([named[column] for column in range(6)], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("task", TASKS)
def test_a_saved_scaled_learner_resumes_bit_identically(task, tmp_path):
    X, y = stream(task)
    whole, part = make(task, scaling="online"), make(task, scaling="online")
    whole.learn_many(X, y)
    part.learn_many(X[:50], y[:50])
    part.save(tmp_path / "model.hinge")
    loaded, copied = hinge.load(tmp_path / "model.hinge"), copy.deepcopy(part)
    for resumed in (loaded, copied):
        resumed.learn_many(X[50:], y[50:])
        assert same_bits(resumed, whole)


def test_a_rejected_batch_leaves_the_scales_alone():
    X, y = stream("classification")
    learner = make("classification", scaling="online")
    learner.learn_many(X[:40], y[:40])
    before = learner.to_bytes()
    bad = X[40:].copy()
    for value, what in ((np.nan, "NaN"), (np.inf, "inf"), (1e200, "overflows")):
        bad[30, 2] = value
        with pytest.raises(hinge.InputError, match=what):
            learner.learn_many(bad, y[40:])
        assert learner.to_bytes() == before


def test_the_sum_of_squares_of_a_column_may_not_overflow():
    learner = Learner("regression", scaling="online")
    learner.learn_one({"a": 1e154}, 1.0)
    before = learner.to_bytes()
    with pytest.raises(hinge.InputError, match="sum of the squares of its column"):
        learner.learn_one({"a": 1.2e154}, 1.0)
    assert learner.to_bytes() == before


@pytest.mark.parametrize("exponent", [-40, 40])
def test_units_of_columns_do_not_matter(exponent):
    X, y = stream("classification")
    units = 2.0 ** (exponent * np.array([1, -1, 0, 1, 0.5, 0]))
    learners = [make("classification", scaling="online") for _ in range(2)]
    learners[0].learn_many(X, y)
    learners[1].learn_many(X * units, y)
    np.testing.assert_array_equal(learners[0].lanes(X), learners[1].lanes(X * units))


def test_new_labels_keep_the_scales():
    X, y = stream("classification")
    order = np.argsort(y == 2, kind="stable")  # the third label comes last
    for geometry in GEOMETRIES:
        learner = Learner("classification", scaling="online", geometry=geometry, step="pa2")
        for x, its in zip(X[order], y[order], strict=True):
            learner.learn_one(dict(enumerate(x.tolist())), int(its))
        assert learner.labels.known == [0, 1, 2] or set(learner.labels.known) == {0, 1, 2}
        assert hinge.Learner.from_bytes(learner.to_bytes()).to_bytes() == learner.to_bytes()
        _, scales = scaled_stream(X[order])
        parts = learner.explain_one(dict(enumerate(scales.tolist())))
        assert {part.feature for part in parts} == {*range(6), "(intercept)"}


@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
@pytest.mark.parametrize("task", TASKS)
def test_certificates_are_about_the_scaled_stream(task, geometry):
    X, y = stream(task)
    learner = make(task, scaling="online", geometry=geometry, step="pa2", C=0.1)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.applicable, str(certificate)
    assert certificate.holds
    plain = make(
        task, geometry=geometry, step="pa2", C=0.1, **({} if task == "ordinal" else {"intercept_value": 0.5})
    )
    Z, _ = scaled_stream(X)
    plain.learn_many(Z, y)
    for one, other in zip(certificate.guarantees, plain.certificate(Z, y).guarantees, strict=True):
        assert one.guaranteed == pytest.approx(other.guaranteed, rel=1e-9)
        assert one.suffered == pytest.approx(other.suffered, rel=1e-12)


@pytest.mark.parametrize(("task", "labels"), [("classification", 2), *((task, 3) for task in TASKS)])
@pytest.mark.parametrize("word", ["scaled:pa1=0.1", "scaled:arow=2", "scaled:pa2=0.5:average"])
def test_the_leader_of_a_committee_keeps_its_scales(task, labels, word):
    X, y = stream(task, labels)
    committee = make(task, labels, experts=[word])
    committee.learn_many(X, y)
    leader = committee.leader()
    alone = make(task, labels, **{name: leader.parameters[name] for name in (
        "step", "C", "geometry", "covariance_regularizer", "average", "scaling", "epsilon")})  # fmt: skip
    assert leader.parameters["scaling"] == "online"
    alone.learn_many(X, y)
    np.testing.assert_allclose(leader.lanes(X), alone.lanes(X), rtol=1e-9, atol=1e-10)
    assert leader.statistics.mistakes == alone.statistics.mistakes
    for learner in (leader, alone):
        learner.learn_many(X[::-1].copy(), y[::-1])
    np.testing.assert_allclose(leader.lanes(X), alone.lanes(X), rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"kernel": "rbf"}, "StandardScaler"),
        ({"geometry": "entropy"}, "fixed sum"),
        ({"w1": [1.0, 2.0]}, "does not know the scales"),
        ({"experts": ["pa1:0"]}, "scaled:pa1:0"),
        ({"scaling": "offline"}, "'online'"),
    ],
)
def test_impossible_options_are_rejected(options, why):
    with pytest.raises(ValueError, match=why):
        Learner("classification", **{"scaling": "online", **options})


@pytest.mark.parametrize("task", ["uniclass", "structured"])
def test_only_linear_scores_of_rows_are_scaled(task):
    with pytest.raises(ValueError, match=f"scaling='online' is not for {task}"):
        Learner(task, scaling="online")
