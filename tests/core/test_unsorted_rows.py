"""Sparse rows whose columns are not sorted, as TfidfVectorizer and products with diagonal matrices leave them.

Weights sum such rows in the order given: the result equals that of sorted rows to rounding. Learners that need sorted
columns (distances, covariances, entropy, kernels) sort a copy of the row: the same bits. Repeated columns are added up.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

import hinge
import hinge.compat

WIDTH, COUNT = 60, 80
BINARY = {"classes": [0, 1]}
MANY = {"classes": [0, 1, 2, 3, 4]}
TO_ROUNDING = {
    "two classes": ("classification", BINARY),
    "two classes, averaged": ("classification", {**BINARY, "average": True}),
    "two classes, float32": ("classification", {**BINARY, "dtype": "float32"}),
    "numbers": ("regression", {}),
    "numbers, averaged": ("regression", {"average": True}),
    "many classes": ("classification", MANY),
    "many classes, averaged": ("classification", {**MANY, "average": True}),
    "many classes, float32": ("classification", {**MANY, "dtype": "float32"}),
    "many constraints": ("classification", {**MANY, "selection": "simproj"}),
    "ranks": ("ordinal", MANY),
}
TO_THE_BIT = {
    "uniclass": ("uniclass", {}),
    "diagonal": ("classification", {**BINARY, "geometry": "diagonal"}),
    "diagonal, many classes": ("classification", {**MANY, "geometry": "diagonal"}),
    "covariance": ("regression", {"geometry": "mahalanobis"}),
    "entropy": ("classification", {**BINARY, "geometry": "entropy", "scale": 10.0, "fit_intercept": False}),
    "rbf": ("classification", {**BINARY, "kernel": "rbf", "gamma": 0.1}),
    "rbf, many classes": ("classification", {**MANY, "kernel": "rbf", "gamma": 0.1}),
    "rbf, budget": ("regression", {"kernel": "rbf", "gamma": 0.1, "budget": 20}),
}
ORDERS = {
    "shuffled": lambda random, columns: random.permutation(columns),
    "descending": lambda _random, columns: columns[::-1],
    "one pair": lambda _random, columns: np.r_[columns[:-2], columns[-2:][::-1]],
}


def pair(order, dtype=np.float64, index=np.int32, width=WIDTH, count=COUNT, density=0.4, seed=0):
    """A CSR matrix with its columns in another order, and the same matrix sorted."""
    random = np.random.default_rng(seed)
    dense = random.normal(size=(count, width)) * (random.random((count, width)) < density)
    ordered = scipy.sparse.csr_matrix(dense.astype(dtype))
    ordered.indices, ordered.indptr = ordered.indices.astype(index), ordered.indptr.astype(index)
    matrix = ordered.copy()
    for start, stop in zip(ordered.indptr[:-1], ordered.indptr[1:], strict=True):
        places = start + ORDERS[order](random, np.arange(stop - start))
        matrix.data[start:stop] = ordered.data[places]
        matrix.indices[start:stop] = ordered.indices[places]
    matrix.has_sorted_indices = False
    return matrix, ordered


def truth(task, options, X, seed=1):
    random = np.random.default_rng(seed)
    scores = X @ random.normal(size=X.shape[1])
    if task == "uniclass":
        return None
    if task == "regression":
        return scores
    return np.digitize(scores, np.quantile(scores, np.linspace(0, 1, len(options["classes"]) + 1)[1:-1]))


def learned(task, options, batches):
    learner = hinge.Learner(task, **options)
    for X, y in batches:
        learner.learn(X, y)
    return learner


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", TO_ROUNDING)
def test_weights_of_unsorted_rows_equal_those_of_sorted_rows_to_rounding(kind, dtype, index, order):
    task, options = TO_ROUNDING[kind]
    matrix, ordered = pair(order, dtype, index)
    kept = matrix.indices.copy(), matrix.data.copy()
    y = truth(task, options, ordered)
    one, other = learned(task, options, [(matrix, y)]), learned(task, options, [(ordered, y)])
    close = {"rtol": 1e-9, "atol": 1e-11} if "dtype" not in options else {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_allclose(one.weights, other.weights, **close)
    np.testing.assert_allclose(one.scores(matrix), other.scores(ordered), **close)
    assert one.statistics.updates == other.statistics.updates > 0
    assert one.statistics.largest_q == pytest.approx(other.statistics.largest_q, rel=1e-12)
    np.testing.assert_array_equal(matrix.indices, kept[0])
    np.testing.assert_array_equal(matrix.data, kept[1])


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", TO_THE_BIT)
def test_learners_that_need_sorted_columns_give_the_same_bits(kind, index, order):
    task, options = TO_THE_BIT[kind]
    matrix, ordered = pair(order, index=index)
    y = truth(task, options, ordered)
    one, other = learned(task, options, [(matrix, y)]), learned(task, options, [(ordered, y)])
    assert one.to_bytes() == other.to_bytes()
    np.testing.assert_array_equal(one.scores(matrix), other.scores(ordered))


@pytest.mark.parametrize("kind", TO_ROUNDING)
def test_unsorted_rows_give_the_same_bits_however_they_are_cut(kind):
    """Sorted rows among them, empty ones, and rows in another order of visits."""
    task, options = TO_ROUNDING[kind]
    matrix, ordered = pair("shuffled")
    X = scipy.sparse.vstack([ordered[:5], matrix[5:60], ordered[60:65], matrix[65:]], format="csr")
    y = truth(task, options, ordered)
    whole = learned(task, options, [(X, y)])
    cut = learned(task, options, [(X[i : i + 7], y[i : i + 7]) for i in range(0, COUNT, 7)])
    assert whole.to_bytes() == cut.to_bytes()
    singly = np.concatenate([np.atleast_2d(whole.scores(X[i])) for i in range(COUNT)])
    np.testing.assert_array_equal(singly.squeeze(), whole.scores(X).reshape(singly.shape).squeeze())
    order = np.random.default_rng(2).permutation(COUNT)
    visited = hinge.Learner(task, **options)
    visited.learn(X, y, order=order)
    assert visited.to_bytes() == learned(task, options, [(X[order], y[order])]).to_bytes()


# ---- repeated columns -----------------------------------------------------------------------------------------------


def merged(columns, values, width):
    row = np.zeros(width)
    np.add.at(row, columns, values)
    return row[np.newaxis]


def one_row(columns, values, width, index=np.int64):
    matrix = scipy.sparse.csr_matrix((1, width))
    matrix.data, matrix.indices = np.asarray(values, dtype=float), np.asarray(columns, dtype=index)
    matrix.indptr = np.array([0, len(columns)], dtype=index)
    return matrix


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("length", "apart"),
    [(2, 1), (3, 2**15), (40, 1), (40, 2**15), (512, 1), (512, 2**12), (513, 1), (513, 2**12), (700, 2**11)],
)
def test_a_repeated_column_is_found_wherever_it_is(length, apart, index):
    """Also where all columns share a slot of the table of marks, and where too many do to be compared."""
    random = np.random.default_rng(length)
    width = length * apart + 1
    columns, values = random.permutation(length) * apart, random.normal(size=length)
    for first, second in [(0, length - 1), (length // 2, length // 2 - 1), (length - 1, length - 2)]:
        repeated = columns.copy()
        repeated[first] = repeated[second]
        matrix = one_row(repeated, values, width, index)
        learner = hinge.Learner("regression", step="pa", epsilon=0.0, fit_intercept=False)
        learner.learn(matrix, [1.0])
        row = np.zeros(width)
        np.add.at(row, repeated, values)
        assert learner.statistics.largest_q == pytest.approx(row @ row, rel=1e-12)
        assert learner.scores(matrix)[0] == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_distinct_columns_that_share_slots_are_not_taken_for_repeated_ones(index):
    random = np.random.default_rng(0)
    for length, apart in [(20, 2**15), (60, 2**15), (600, 2**12), (200, 2**14)]:
        columns, values = random.permutation(length) * apart, random.normal(size=length)
        matrix = one_row(columns, values, length * apart, index)
        learner = hinge.Learner("regression", step="pa", epsilon=0.0, fit_intercept=False)
        learner.learn(matrix, [1.0])
        assert learner.statistics.largest_q == pytest.approx(values @ values, rel=1e-12)
        assert learner.scores(matrix)[0] == pytest.approx(1.0, rel=1e-12)


def test_marks_of_earlier_rows_do_not_count():
    """The same columns in each of 600 rows: a mark has room for 255 rows before the table is cleared."""
    columns = np.array([5, 3, 9, 1])
    count = 600
    matrix = scipy.sparse.csr_matrix((count, 10))
    matrix.data, matrix.indices = np.ones(4 * count), np.tile(columns, count).astype(np.int32)
    matrix.indptr = np.arange(0, 4 * count + 1, 4, dtype=np.int32)
    for bad in (None, 0, 254, 255, 256, 599):
        matrix.indices = np.tile(columns, count).astype(np.int32)
        if bad is not None:
            matrix.indices[4 * bad + 3] = 9  # twice 9: (1 + 1)^2 + 1 + 1
        learner = hinge.Learner("regression", fit_intercept=False)
        learner.learn(matrix, np.ones(count))
        assert learner.statistics.largest_q == (4.0 if bad is None else 6.0)


@pytest.mark.parametrize("kind", TO_ROUNDING)
def test_repeated_columns_are_added_up_by_every_kind_of_weights(kind):
    task, options = TO_ROUNDING[kind]
    random = np.random.default_rng(3)
    counts = random.integers(0, 30, COUNT)
    starts = np.r_[0, np.cumsum(counts)]
    matrix = scipy.sparse.csr_matrix((COUNT, 25))
    matrix.data, matrix.indices = random.normal(size=starts[-1]), random.integers(0, 25, starts[-1])
    matrix.indptr = starts
    dense = np.vstack(
        [merged(matrix.indices[a:b], matrix.data[a:b], 25) for a, b in itertools.pairwise(starts)]
    )
    y = truth(task, options, dense)
    one, other = learned(task, options, [(matrix, y)]), learned(task, options, [(dense, y)])
    close = {"rtol": 1e-9, "atol": 1e-10} if "dtype" not in options else {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_allclose(one.weights, other.weights, **close)
    np.testing.assert_allclose(one.scores(matrix), other.scores(dense), **close)


def test_terms_of_repeated_columns_may_cancel_though_they_overflow():
    learner = hinge.Learner("regression", fit_intercept=False, w1=[1.0, 10.0, 3.0])
    matrix = one_row([1, 2, 1], [1e308, 2.0, -1e308], 3)
    assert learner.scores(matrix).tolist() == [6.0]


# ---- rejected -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1, WIDTH, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("kind", {**TO_ROUNDING, **TO_THE_BIT})
def test_a_column_outside_of_an_unsorted_row_is_rejected_and_leaves_no_trace(kind, index, bad):
    task, options = {**TO_ROUNDING, **TO_THE_BIT}[kind]
    matrix, ordered = pair("shuffled", index=index)
    y = truth(task, options, ordered)
    learner = learned(task, options, [(matrix, y)])
    before = learner.to_bytes()
    for row in (0, 37, COUNT - 1):
        broken = matrix.copy()
        broken.indices[broken.indptr[row] + 2] = bad
        with pytest.raises(ValueError, match=f"row {row}: column index {bad} is outside"):
            learner.learn(broken, y)
        with pytest.raises(ValueError, match=f"row {row}: column index {bad} is outside"):
            learner.scores(broken)
        assert learner.to_bytes() == before


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("kind", TO_ROUNDING)
def test_a_bad_value_in_an_unsorted_row_is_rejected_with_its_place_and_leaves_no_trace(kind, value):
    task, options = TO_ROUNDING[kind]
    matrix, ordered = pair("shuffled")
    y = truth(task, options, ordered)
    learner = learned(task, options, [(matrix, y)])
    before = learner.to_bytes()
    place = matrix.indptr[50] + 3
    matrix.data[place] = value
    with pytest.raises(ValueError, match=f"row 50, column {matrix.indices[place]}"):
        learner.learn(matrix, y)
    assert learner.to_bytes() == before


# ---- estimators -----------------------------------------------------------------------------------------------------

ESTIMATORS = {
    "classes": (lambda: hinge.PAClassifier(max_iter=4, tol=None, random_state=0), 3),
    "two": (lambda: hinge.PAClassifier(max_iter=4, tol=None, random_state=0), 2),
    "compat": (lambda: hinge.compat.PassiveAggressiveClassifier(max_iter=4, tol=None, random_state=0), 3),
    "compat, two": (
        lambda: hinge.compat.PassiveAggressiveClassifier(max_iter=4, tol=None, random_state=0),
        2,
    ),
    "compat, numbers": (
        lambda: hinge.compat.PassiveAggressiveRegressor(max_iter=4, tol=None, random_state=0),
        9,
    ),
    "numbers": (lambda: hinge.PARegressor(max_iter=4, tol=None, random_state=0), 9),
    "batch": (lambda: hinge.PAClassifier(step="pa", batch_tolerance=1e-3), 2),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_fit_on_unsorted_rows_equals_that_on_sorted_rows_to_rounding(kind, order):
    make, classes = ESTIMATORS[kind]
    matrix, ordered = pair(order)
    kept = matrix.indices.copy(), matrix.data.copy()
    y = np.random.default_rng(4).integers(classes, size=COUNT)
    one, other = make().fit(matrix, y), make().fit(ordered, y)
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(one.predict(matrix), other.predict(ordered), rtol=1e-9, atol=1e-11)
    np.testing.assert_array_equal(matrix.indices, kept[0])
    np.testing.assert_array_equal(matrix.data, kept[1])


def test_a_broken_matrix_is_rejected_by_fit_with_its_place():
    matrix, _ = pair("shuffled")
    matrix.indices[matrix.indptr[5]] = 999
    with pytest.raises(ValueError, match="row 5"):
        hinge.PAClassifier(max_iter=3, shuffle=False).fit(
            matrix, np.random.default_rng(0).integers(2, size=COUNT)
        )
