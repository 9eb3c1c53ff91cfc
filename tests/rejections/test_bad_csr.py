"""CSR matrices that are none: broken pointers, columns that do not exist, arrays of the wrong type."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

import hinge
from bad_models import BAD, COUNT, TASKS, WIDTH, csr, fit, new, refused, stream, trained


def broken(change):
    """A good CSR matrix of COUNT rows with that change, made behind the back of scipy's checks."""

    def make(X, index):
        matrix = csr(X)
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        change(matrix, matrix.indptr[BAD])
        return matrix

    return make


def put(name, place, value):
    def change(matrix, start):
        getattr(matrix, name)[start if place == "row" else place] = (
            value if value != "width" else matrix.shape[1]
        )

    return change


def assign(name, function):
    def change(matrix, _start):
        setattr(matrix, name, function(getattr(matrix, name)))

    return change


BROKEN = {
    "negative index": (put("indices", "row", -1), f"row {BAD}: column index -1 is outside"),
    "very negative index": (
        put("indices", "row", -(2**31)),
        f"row {BAD}: column index -2147483648 is outside",
    ),
    "index too large": (put("indices", "row", "width"), f"row {BAD}: column index [0-9]+ is outside"),
    "huge index": (put("indices", "row", 2**31 - 1), f"row {BAD}: column index 2147483647 is outside"),
    "last index too large": (put("indices", -1, "width"), f"row {COUNT - 1}: column index [0-9]+ is outside"),
    "indptr negative": (put("indptr", BAD, -3), f"row {BAD - 1}: indptr is broken"),
    "indptr decreasing": (put("indptr", BAD, 1), f"row {BAD - 1}: indptr is broken"),
    "indptr jumps ahead": (put("indptr", BAD, 2**30), f"row {BAD - 1}: indptr is broken"),
    "indptr ends too late": (put("indptr", COUNT, 2**30), f"row {COUNT - 1}: indptr is broken"),
    "indptr starts negative": (put("indptr", 0, -1), "row 0: indptr is broken"),
    "indptr too short": (assign("indptr", lambda a: a[:-1]), "indptr has 40 entries for 40 rows"),
    "indptr too long": (assign("indptr", lambda a: np.append(a, a[-1])), "indptr has 42 entries for 40 rows"),
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


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(("task", "options"), list(itertools.product(TASKS, [{}, {"average": True}])))
def test_broken_csr(task, options, what, index):
    X, y = stream(task)
    change, message = BROKEN[what]
    for width in (WIDTH, 3000, 0):
        model = trained(task, width, options)
        matrix = broken(change)(fit(model, X), index)
        refused(model, message, lambda m=model, x=matrix: m.learn(x, y))
        if width:
            refused(model, message, lambda m=model, x=matrix: m.scores(x))
    if what in ("complex data", "text"):
        return  # scikit-learn has a word of its own on these
    estimator = {
        "classification": hinge.PAClassifier,
        "regression": hinge.PARegressor,
        "uniclass": hinge.PAOneClass,
    }[task]().fit(X, y)
    before = estimator._learner.to_bytes()
    for call in (lambda: estimator.partial_fit(matrix, y), lambda: estimator.predict(matrix)):
        with pytest.raises(ValueError, match=message):
            call()
    assert estimator._learner.to_bytes() == before


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("task", TASKS)
def test_unsorted_and_repeated_indices_are_what_csr_says(task, index):
    """Repeated ones are added up, as in scipy's toarray. Also in rows of many values."""
    rng = np.random.default_rng(5)
    _, y = stream(task)
    counts = rng.integers(0, 60, COUNT)
    indptr = np.r_[0, np.cumsum(counts)].astype(index)
    indices, data = rng.integers(0, 25, indptr[-1]).astype(index), rng.normal(size=indptr[-1])
    matrix = scipy.sparse.csr_matrix((data, indices, indptr), shape=(COUNT, 25))
    messy, tidy = new(task), new(task)
    messy.learn(matrix, y)
    tidy.learn(matrix.toarray(), y)
    np.testing.assert_allclose(messy.weights, tidy.weights, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(messy.scores(matrix), tidy.scores(matrix.toarray()), rtol=1e-9, atol=1e-12)
    data[indptr[BAD]] = np.nan
    refused(messy, f"row {BAD}, column", lambda: messy.learn(matrix, y))


@pytest.mark.parametrize("place", range(40))
def test_one_bad_index_anywhere_in_a_long_row(place):
    """The indices are checked in blocks: none may slip through."""
    columns = np.arange(0, 80, 2)
    for bad, index in itertools.product((-1, 80, 10**9, -(2**31)), (np.int32, np.int64)):
        indices = columns.astype(index)
        indices[place] = bad
        matrix = scipy.sparse.csr_matrix((1, 80))
        matrix.indptr, matrix.data, matrix.indices = np.array([0, 40], dtype=index), np.ones(40), indices
        model = new("regression")
        refused(model, f"row 0: column index {bad} is outside", lambda m=model, x=matrix: m.learn(x, [1.0]))
    swapped = columns.copy()
    swapped[[place, (place + 7) % 40]] = swapped[[(place + 7) % 40, place]]
    matrix.indices = swapped.astype(np.int64)
    for task in TASKS:
        model, tidy = new(task), new(task)
        for _ in range(2):
            model.learn(matrix, [1])
            tidy.learn(matrix.toarray(), [1])
        np.testing.assert_allclose(model.weights, tidy.weights, rtol=1e-12)


# ---- features in any order ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("largest", [40, 300, 2**18, 2**24 - 1])
@pytest.mark.parametrize("count", [5, 31, 32, 200])
def test_features_in_any_order_are_those_in_order(count, largest):
    """Repeated ones are added up, the smallest value first, in rows that are short or long: to the bit."""
    rng = np.random.default_rng(count)
    columns = rng.integers(0, largest, size=count)
    columns[: count // 3] = rng.choice(columns, size=count // 3)  # some come twice, or three times
    values = rng.normal(size=count) * 10.0 ** rng.integers(-8, 8, size=count)
    sums = {}
    for column, value in sorted(zip(columns.tolist(), values.tolist(), strict=True)):
        sums[column] = sums[column] + value if column in sums else value
    in_any = hinge.Learner("classification", classes=[-1, 1], fit_intercept=False)
    in_any.learn(scipy.sparse.csr_array((values, columns, [0, count]), shape=(1, largest + 1)), [1])
    in_order = hinge.Learner("classification", classes=[-1, 1], fit_intercept=False)
    row = scipy.sparse.csr_array((list(sums.values()), list(sums), [0, len(sums)]), shape=(1, largest + 1))
    in_order.learn(row, [1])
    assert len(sums) < count or largest > 300 or count < 32
    np.testing.assert_array_equal(in_any.weights, in_order.weights)


@pytest.mark.parametrize("place", [1, 2, 5])
@pytest.mark.parametrize("value", [-(2**63), 2**63 - 1, -1, 1000])
def test_broken_starts_in_an_order_of_ones_own(place, value):
    """What comes next is asked for ahead, wherever it is said to be; it is refused when its turn comes."""
    matrix = scipy.sparse.random(6, 20, density=0.5, format="csr", random_state=0)
    starts = matrix.indptr.astype(np.int64)
    learner = hinge.Learner("regression")
    learner.learn(matrix, np.ones(6), order=[5, 0, 3, 3, 1])
    before = learner.to_bytes()
    starts[place] = value
    matrix.indptr = starts
    with pytest.raises(ValueError, match=r"row \d: indptr is broken"):
        learner.learn(matrix, np.ones(6), order=[4, 0, 5, 3, 2, 1, 0])
    assert learner.to_bytes() == before
