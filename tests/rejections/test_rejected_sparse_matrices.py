"""Broken sparse matrices of every format: pointers, columns that do not exist, arrays of the wrong type."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import hinge
from hinge.compat import PassiveAggressiveClassifier
from hinge.data import sparse
from rejection import NAN, rejected, rejects
from rejection_cases import (
    BAD,
    CASES,
    COUNT,
    SHAPED,
    TASKS,
    Case,
    csr,
    pad,
    parametrize,
    still_learns,
    stream,
)

FAR = 2**30  # an index, some gigabytes away


def place(name, where, value):
    """A change of one entry: at the start of the invalid row, or at an index."""

    def change(matrix, bad):
        at = matrix.indptr[bad] if where == "row" else bad if where == "pointer" else where
        getattr(matrix, name)[at] = matrix.shape[1] if value == "width" else value

    return change


def assign(name, function):
    def change(matrix, bad):
        setattr(matrix, name, function(getattr(matrix, name)))

    return change


BROKEN = {
    "negative index": (place("indices", "row", -1), "row {bad}: column index -1 is outside"),
    "very negative index": (
        place("indices", "row", -(2**31)),
        "row {bad}: column index -2147483648 is outside",
    ),
    "index too large": (place("indices", "row", "width"), "row {bad}: column index [0-9]+ is outside"),
    "huge index": (place("indices", "row", 2**31 - 1), "row {bad}: column index 2147483647 is outside"),
    "last index too large": (place("indices", -1, "width"), "row {last}: column index [0-9]+ is outside"),
    "indptr negative": (place("indptr", "pointer", -3), "row {before}: indptr is broken"),
    "indptr decreasing": (place("indptr", "pointer", 1), "row {before}: indptr is broken"),
    "indptr jumps ahead": (place("indptr", "pointer", FAR), "row {before}: indptr is broken"),
    "indptr ends too late": (place("indptr", -1, FAR), "row {last}: indptr is broken"),
    "indptr starts negative": (place("indptr", 0, -1), "row 0: indptr is broken"),
    "indptr too short": (assign("indptr", lambda a: a[:-1]), "indptr has {count} entries for {count} rows"),
    "indptr too long": (
        assign("indptr", lambda a: np.append(a, a[-1])),
        "indptr has {more} entries for {count} rows",
    ),
    "indptr empty": (assign("indptr", lambda a: a[:0]), "indptr has 0 entries"),
    "data too short": (assign("data", lambda a: a[:-3]), "indptr is broken"),
    "indices too short": (assign("indices", lambda a: a[:-3]), "indptr is broken"),
    "no data": (assign("data", lambda a: a[:0]), "row 0: indptr is broken"),
    "complex data": (assign("data", lambda a: a.astype(complex)), "must hold numbers, not complex128"),
    "text": (assign("data", lambda a: a.astype(str)), "must hold numbers"),
    "real indices": (assign("indices", lambda a: a.astype(float)), "indices .* must be whole numbers"),
    "real indptr": (assign("indptr", lambda a: a.astype(float)), "indptr .* must be whole numbers"),
    "bool indices": (assign("indices", lambda a: a.astype(bool)), "indices .* must be whole numbers"),
    "objects as indices": (assign("indices", lambda a: a.astype(object)), "indices .* must be whole numbers"),
}


def broken(what, X, index, bad=BAD):
    """A CSR matrix with that damage, made behind the back of SciPy's checks; and the message."""
    change, message = BROKEN[what]
    matrix, count = csr(X), len(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    change(matrix, bad)
    return matrix, message.format(bad=bad, before=bad - 1, last=count - 1, count=count, more=count + 2)


@parametrize([case for case in CASES if case.container is csr])
def test_broken_csr_is_rejected(case):
    model, (X, y) = case.trained(), case.stream()
    X = pad(model, X)
    for what, index in itertools.product(BROKEN, (np.int32,) if case.kernel else (np.int32, np.int64)):
        matrix, message = broken(what, X, index, case.bad)
        rejects(model, message).learn(matrix, y)
        if case.width:
            rejects(model, message).scores(matrix)
        if case.width and case.covariance:
            rejects(model, message).uncertainty(matrix)
    still_learns(model, case)


@pytest.mark.parametrize("cls", [hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_broken_csr_is_rejected_by_estimators(cls, index):
    X, y = stream("classification")
    estimator = cls().fit(X, y)
    for what in BROKEN:
        if what in ("complex data", "text"):
            continue  # scikit-learn raises its own errors
        matrix, message = broken(what, X, index)
        rejects(estimator, message).partial_fit(matrix, y)
        rejects(estimator, message).predict(matrix)


@pytest.mark.parametrize("where", range(40))
def test_one_invalid_index_anywhere_in_a_long_row_is_rejected(where):
    """The indices are checked in blocks: none may slip through."""
    columns = np.arange(0, 80, 2)
    matrix = sp.csr_matrix((1, 80))
    for bad, index in itertools.product((-1, 80, 10**9, -(2**31)), (np.int32, np.int64)):
        indices = columns.astype(index)
        indices[where] = bad
        matrix.indptr, matrix.data, matrix.indices = np.array([0, 40], dtype=index), np.ones(40), indices
        rejects(hinge.Learner("regression"), f"row 0: column index {bad} is outside").learn(matrix, [1.0])
    swapped = columns.copy()
    swapped[[where, (where + 7) % 40]] = swapped[[(where + 7) % 40, where]]
    matrix.indices = swapped.astype(np.int64)
    for task in TASKS:
        model, tidy = Case(task).new(), Case(task).new()
        for _ in range(2):
            model.learn(matrix, [1])
            tidy.learn(matrix.toarray(), [1])
        np.testing.assert_allclose(model.weights, tidy.weights, rtol=1e-12)


@pytest.mark.parametrize("where", [1, 2, 5])
@pytest.mark.parametrize("value", [-(2**63), 2**63 - 1, -1, 1000])
def test_broken_indptr_is_rejected_in_a_custom_order(where, value):
    """The next row is prefetched, wherever indptr says it is; it is rejected when it is read."""
    matrix = sp.random(6, 20, density=0.5, format="csr", random_state=0)
    starts = matrix.indptr.astype(np.int64)
    learner = hinge.Learner("regression")
    learner.learn(matrix, np.ones(6), order=[5, 0, 3, 3, 1])
    starts[where] = value
    matrix.indptr = starts
    rejects(learner, r"row \d: indptr is broken").learn(matrix, np.ones(6), order=[4, 0, 5, 3, 2, 1, 0])


# ---- every format of SciPy, which trusts a matrix when it converts or multiplies it ---------------------------------


def changed(matrix, **attributes):
    for name, value in attributes.items():
        if isinstance(value, dict):
            for at, entry in value.items():
                getattr(matrix, name)[at] = entry
        else:
            setattr(matrix, name, np.asarray(value))
    return matrix


def blocks():
    return sp.bsr_matrix(np.kron(np.eye(2), np.ones((2, 2))), blocksize=(2, 2))


EYE = np.eye(4)
FORMATS = {
    f"{kind.__name__} {what}": changed(kind(EYE), **attributes)
    for kind in (sp.csr_matrix, sp.csc_matrix, sp.csr_array, sp.csc_array)
    for what, attributes in {
        "index": {"indices": {-1: FAR}},
        "negative": {"indices": {0: -3}},
        "indptr": {"indptr": [0, 3_000_000, 1, 1, 4]},
        "end": {"indptr": [0, 1, 2, 3, FAR]},
    }.items()
} | {
    "bsr index": changed(blocks(), indices={-1: FAR}),
    "bsr indptr": changed(blocks(), indptr=[0, FAR, 2]),
    "coo row": changed(sp.coo_matrix(EYE), row=[0, 1, 2, FAR]),
    "coo col": changed(sp.coo_matrix(EYE), col=[0, 1, 2, FAR]),
    "coo data": changed(sp.coo_matrix(EYE), data=np.ones(2)),
    "lil data": changed(sp.lil_matrix(EYE), data={0: [1.0] * 1000}),
    "lil rows": changed(sp.lil_matrix(EYE), rows={0: [FAR]}),
}
every_format = pytest.mark.parametrize("X", FORMATS.values(), ids=FORMATS)


@every_format
def test_broken_matrix_is_rejected_everywhere(X):
    y, learner, regressor, classifier = [0, 1, 0, 1], hinge.Learner("regression"), hinge.PARegressor(), None
    learner.learn(EYE, np.ones(4))
    regressor.partial_fit(EYE, y)
    classifier = hinge.PAClassifier().partial_fit(EYE, y, classes=[0, 1])
    compat = PassiveAggressiveClassifier(max_iter=5, tol=None).fit(EYE, y)
    message = "broken|outside|indptr|index pointer"
    for call in (learner.learn, learner.learn_many, learner.certificate):
        rejected(learner, message, call, X, y)
    rejects(learner, message).scores(X)
    rejects(regressor, message).certificate(X, y)
    for call in (classifier.certificate, classifier.partial_fit, classifier.score):
        rejected(classifier, message, call, X, y)
    rejects(classifier, message).predict(X)
    for fresh in (
        hinge.PAClassifier(), hinge.PAClassifier(kernel="rbf"), hinge.PARegressor(geometry="mahalanobis"),
    ):  # fmt: skip
        rejects(fresh, message).fit(X, y)
    for call in (PassiveAggressiveClassifier().fit, compat.partial_fit, lambda X, y: compat.predict(X)):
        with pytest.raises(ValueError, match=message):
            call(X, y)


@every_format
def test_broken_indicator_is_rejected(X):
    rejects(hinge.Learner("multilabel"), "y is a broken matrix").learn(EYE, X)


@every_format
def test_broken_sentence_is_rejected(X):
    model = hinge.PASequence().learn_one(EYE, ["A", "B", "A", "B"])
    rejects(model, "broken|outside|indptr").learn_one(X, ["A", "B", "A", "B"])


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("make", [sp.csr_matrix, sp.csr_array])
def test_every_format_gives_the_same_model(kind, make):
    rng = np.random.default_rng(3)
    dense = np.where(rng.random((20, 6)) < 0.4, rng.normal(size=(20, 6)), 0.0)
    y = dense[:, 0] > 0
    X = make(dense).asformat(kind)
    assert (sparse.to_csr(X).toarray() == dense).all()
    ours, theirs = (hinge.PAClassifier(shuffle=False, scaling=None).fit(data, y) for data in (X, dense))
    assert np.allclose(ours.coef_, theirs.coef_, rtol=1e-13, atol=1e-15)
    assert (ours.predict(X) == theirs.predict(dense)).all()


# ---- columns in any order, and repeated ones ------------------------------------------------------------------------


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("task", TASKS)
def test_repeated_columns_are_added_up(task, index):
    """As in SciPy's toarray. Also in rows of many values."""
    rng = np.random.default_rng(5)
    _, y = stream(task)
    counts = rng.integers(0, 60, COUNT)
    indptr = np.r_[0, np.cumsum(counts)].astype(index)
    indices, data = rng.integers(0, 25, indptr[-1]).astype(index), rng.normal(size=indptr[-1])
    matrix = sp.csr_matrix((data, indices, indptr), shape=(COUNT, 25))
    messy, tidy = Case(task).new(), Case(task).new()
    messy.learn(matrix, y)
    tidy.learn(matrix.toarray(), y)
    np.testing.assert_allclose(messy.weights, tidy.weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(messy.scores(matrix), tidy.scores(matrix.toarray()), rtol=1e-9, atol=1e-12)
    data[indptr[BAD]] = NAN
    rejects(messy, f"row {BAD}, column").learn(matrix, y)


@parametrize([case for case in SHAPED if case.container is csr and case.width])
def test_repeated_columns_are_added_up_in_every_geometry(case):
    model = case.trained()
    n, (_, y) = model.n_features, case.stream()
    summed = hinge.Learner.from_bytes(model.to_bytes())
    twice = changed(sp.csr_matrix((2, n)), data=[1.0, 0.5, 2.0], indices=[1, 1, 0], indptr=[0, 2, 3])
    for each, rows in ((model, twice), (summed, csr(np.eye(2, n)[::-1] * [[1.5], [2.0]]))):
        each.learn(rows, None if y is None else y[:2])
    assert model.to_bytes() == summed.to_bytes()


@pytest.mark.parametrize("largest", [40, 300, 2**18, 2**24 - 1])
@pytest.mark.parametrize("count", [5, 31, 32, 200])
def test_columns_in_any_order_are_learned_as_those_in_order(count, largest):
    """Repeated ones are added up, the smallest value first, in rows that are short or long: to the bit."""
    rng = np.random.default_rng(count)
    columns = rng.integers(0, largest, size=count)
    columns[: count // 3] = rng.choice(columns, size=count // 3)  # some come twice, or three times
    values = rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, size=count)
    sums = {}
    for column, value in sorted(zip(columns.tolist(), values.tolist(), strict=True)):
        sums[column] = sums[column] + value if column in sums else value
    in_any, in_order = (
        hinge.Learner("classification", classes=[-1, 1], fit_intercept=False) for _ in range(2)
    )
    in_any.learn(sp.csr_array((values, columns, [0, count]), shape=(1, largest + 1)), [1])
    row = sp.csr_array((list(sums.values()), list(sums), [0, len(sums)]), shape=(1, largest + 1))
    in_order.learn(row, [1])
    assert len(sums) < count or largest > 300 or count < 32
    np.testing.assert_array_equal(in_any.weights, in_order.weights)
