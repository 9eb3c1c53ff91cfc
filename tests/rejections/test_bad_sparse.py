"""Broken sparse matrices of every format are rejected before SciPy, which trusts them, converts or multiplies them."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import hinge
from hinge.compat import PassiveAggressiveClassifier
from hinge.data import sparse

FAR = 2**30  # an index, some gigabytes away


def broken():
    for kind in (sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array):
        X = kind(np.eye(4))
        X.indices[-1] = FAR
        yield f"{kind.__name__} index", X
        X = kind(np.eye(4))
        X.indices[0] = -3
        yield f"{kind.__name__} negative", X
        X = kind(np.eye(4))
        X.indptr = np.array([0, 3_000_000, 1, 1, 4])
        yield f"{kind.__name__} indptr", X
        X = kind(np.eye(4))
        X.indptr = np.array([0, 1, 2, 3, FAR])
        yield f"{kind.__name__} end", X
    X = sp.bsr_matrix(np.kron(np.eye(2), np.ones((2, 2))), blocksize=(2, 2))
    X.indices[-1] = FAR
    yield "bsr index", X
    X = sp.bsr_matrix(np.kron(np.eye(2), np.ones((2, 2))), blocksize=(2, 2))
    X.indptr = np.array([0, FAR, 2])
    yield "bsr indptr", X
    for axis in ("row", "col"):
        X = sp.coo_matrix(np.eye(4))
        setattr(X, axis, np.array([0, 1, 2, FAR]))
        yield f"coo {axis}", X
    X = sp.coo_matrix(np.eye(4))
    X.data = np.ones(2)
    yield "coo data", X
    X = sp.lil_matrix(np.eye(4))
    X.data[0] = [1.0] * 1000
    yield "lil data", X
    X = sp.lil_matrix(np.eye(4))
    X.rows[0] = [FAR]
    yield "lil rows", X


BROKEN = dict(broken())


def model(cls, **options):
    return cls(**options).partial_fit(
        np.eye(4), [0, 1, 0, 1], **({} if cls is hinge.PARegressor else {"classes": [0, 1]})
    )


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_matrix_is_rejected_everywhere(kind):
    X = BROKEN[kind]
    y = [0, 1, 0, 1]
    classifier, regressor = model(hinge.PAClassifier), model(hinge.PARegressor)
    learner = hinge.Learner("regression")
    learner.learn(np.eye(4), np.ones(4))
    compat = PassiveAggressiveClassifier(max_iter=5, tol=None).fit(np.eye(4), y)
    before = learner.to_bytes()
    calls = [
        lambda: learner.learn(X, y),
        lambda: learner.learn_many(X, y),
        lambda: learner.scores(X),
        lambda: learner.certificate(X, y),
        lambda: regressor.certificate(X, y),
        lambda: classifier.certificate(X, y),
        lambda: classifier.partial_fit(X, y),
        lambda: classifier.predict(X),
        lambda: classifier.score(X, y),
        lambda: hinge.PAClassifier().fit(X, y),
        lambda: hinge.PAClassifier(kernel="rbf").fit(X, y),
        lambda: hinge.PARegressor(geometry="mahalanobis").fit(X, y),
        lambda: PassiveAggressiveClassifier().fit(X, y),
        lambda: compat.predict(X),
        lambda: compat.partial_fit(X, y),
    ]
    for number, call in enumerate(calls):
        with pytest.raises(ValueError, match=r"broken|outside|indptr|index pointer"):  # noqa: PT012
            call()
            print("accepted:", number)
    assert learner.to_bytes() == before


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_indicator_is_rejected(kind):
    with pytest.raises(ValueError, match="y is a broken matrix"):
        hinge.Learner("multilabel").learn(np.eye(4), BROKEN[kind])


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_sentence_is_rejected(kind):
    model = hinge.PASequence().learn_one(np.eye(4), ["A", "B", "A", "B"])
    with pytest.raises(ValueError, match=r"broken|outside|indptr"):
        model.learn_one(BROKEN[kind], ["A", "B", "A", "B"])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_every_format_gives_the_same_model(kind, make):
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((20, 6)) < 0.4, rng.normal(size=(20, 6)), 0.0)
    y = dense[:, 0] > 0
    X = make(dense).asformat(kind)
    assert (sparse.to_csr(X).toarray() == dense).all()
    ours, theirs = (hinge.PAClassifier(shuffle=False).fit(data, y) for data in (X, dense))
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-13, atol=1e-15)
    assert (ours.predict(X) == theirs.predict(dense)).all()


# ---- masked arrays, missing values, views larger than memory --------------------------------------------------------


def test_masked_values_are_rejected():
    X = np.ma.masked_array(np.ones((3, 2)), mask=[[0, 0], [0, 1], [0, 0]])
    y = np.ma.masked_array([0.0, 1.0, 0.0], mask=[0, 0, 1])
    for call in (
        lambda: hinge.Learner("regression").learn(X, [1.0, 2.0, 3.0]),
        lambda: hinge.PARegressor().fit(X, [1.0, 2.0, 3.0]),
        lambda: hinge.PAClassifier().fit(X, [0, 1, 0]),
        lambda: hinge.PAOneClass().fit(X),
        lambda: model(hinge.PAClassifier).predict(np.ma.masked_array(np.eye(4), mask=np.eye(4)[::-1])),
        lambda: PassiveAggressiveClassifier().fit(X, [0, 1, 0]),
    ):
        with pytest.raises(ValueError, match=r"row \d, column \d: the value of X is masked"):
            call()
    for call in (
        lambda: hinge.Learner("regression").learn(np.ones((3, 2)), y),
        lambda: hinge.Learner("classification").learn(np.ones((3, 2)), y),
        lambda: hinge.PARegressor().fit(np.ones((3, 2)), y),
        lambda: hinge.PAClassifier().fit(np.ones((3, 2)), y),
        lambda: hinge.PAClassifier().partial_fit(np.ones((3, 2)), y, classes=[0, 1]),
    ):
        with pytest.raises(ValueError, match="row 2: the value of y is masked"):
            call()
    weights = np.ma.masked_array([1.0, 1.0, 1.0], mask=[0, 1, 0])
    with pytest.raises(ValueError, match="row 1: the value of sample_weight is masked"):
        hinge.Learner("regression").learn(np.ones((3, 2)), [1.0, 2.0, 3.0], weights)


def test_an_array_without_masked_values_is_learned():
    X = np.ma.masked_array(np.eye(3), mask=False)
    assert hinge.PAClassifier().fit(X, [0, 1, 0]).predict(X).shape == (3,)


def test_missing_values_of_pandas_are_rejected():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.array([1, None, 3], dtype="Int64"), "b": [1.0, 2.0, 3.0]})
    for call in (
        lambda: hinge.PARegressor().fit(frame, [1.0, 2.0, 3.0]),
        lambda: hinge.Learner("regression").learn_many(frame, [1.0, 2.0, 3.0]),
    ):
        with pytest.raises(ValueError, match=r"row 1|NaN"):
            call()
    y = pandas.Series([1, None, 3], dtype="Int64")
    for call in (
        lambda: hinge.PARegressor().fit(np.ones((3, 2)), y),
        lambda: hinge.PAClassifier().fit(np.ones((3, 2)), y),
        lambda: hinge.Learner("regression").learn(np.ones((3, 2)), y),
    ):
        with pytest.raises(ValueError, match=r"NA|NaN|nan|number"):
            call()


def test_a_view_larger_than_memory_is_rejected():
    learner = hinge.Learner("regression")
    learner.learn(np.eye(4), np.ones(4))
    for kind in (np.float64, np.int32):
        huge = np.broadcast_to(np.ones(4, dtype=kind), (2**45, 4))
        with pytest.raises(ValueError, match="memory"):
            learner.scores(huge)
        with pytest.raises(ValueError, match="memory"):
            learner.learn(huge, np.broadcast_to(np.ones(1, dtype=np.int32), (2**45,)))


# ---- limits ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": "float32"},
        {"average": True},
        {"geometry": "entropy"},
        {"geometry": "diagonal"},
        {"selection": "mira"},
    ],
    ids=str,
)
def test_weights_are_limited(options):
    learner = hinge.Learner("classification", max_weights=20_000, **options)
    for k in range(40):
        learner.learn_one({f"f{k}": 1.0}, f"label {k % 4}")
    before = learner.to_bytes()
    with pytest.raises(ValueError, match=r"bytes .*the limit is 20000 \(max_weights\)"):
        learner.learn_one({f"g{k}": 1.0 for k in range(2000)}, "label 0")
    with pytest.raises(ValueError, match=r"max_weights"):
        learner.learn_many([{f"g{k}": 1.0} for k in range(2000)], ["label 0"] * 2000)
    with pytest.raises(ValueError, match=r"max_weights"):
        learner.learn_many([{"f1": 1.0}] * 900, [f"new {k}" for k in range(900)])
    learner.predict_one({f"g{k}": 1.0 for k in range(2000)})
    assert learner.to_bytes() == before
    assert hinge.Learner.from_bytes(before).to_bytes() == before


def test_weights_of_other_models_are_limited():
    with pytest.raises(ValueError, match="max_weights"):
        hinge.PASequence(max_weights=1000).learn_one([[f"f{k}" for k in range(1000)]], ["A"])
    with pytest.raises(ValueError, match="max_weights"):
        hinge.PARegressor(max_weights=1000).fit(np.ones((2, 1000)), [1.0, 2.0])
    with pytest.raises(ValueError, match="max_weights"):
        hinge.PAOneClass(max_weights=1000).learn_one({f"f{k}": 1.0 for k in range(1000)})
    with pytest.raises(ValueError, match="max_weights"):
        hinge.Learner("classification", hash_bits=10, max_weights=1000)
