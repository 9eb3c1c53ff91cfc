"""Sparse rows whose columns are not in order: put in order once for several passes, never in the caller's arrays."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import hinge
import hinge.compat
from hinge.rows import Rows, in_column_order, rows_of

RANDOM = np.random.default_rng(2)


def mixed(rows=40, width=30, index=np.int32):
    """A CSR matrix with the columns of each row in any order, and the same in order."""
    dense = RANDOM.normal(size=(rows, width)) * (RANDOM.random((rows, width)) < 0.4)
    ordered = scipy.sparse.csr_matrix(dense)
    data, indices = ordered.data.copy(), ordered.indices.astype(index)
    for start, stop in zip(ordered.indptr[:-1], ordered.indptr[1:], strict=True):
        order = start + RANDOM.permutation(stop - start)
        data[start:stop], indices[start:stop] = data[order], indices[order]
    matrix = scipy.sparse.csr_matrix((rows, width))
    matrix.data, matrix.indices, matrix.indptr = data, indices, ordered.indptr.astype(index)
    return matrix, ordered


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_rows_are_put_in_order(index):
    matrix, ordered = mixed(index=index)
    before = matrix.indices.copy(), matrix.data.copy()
    made = in_column_order(rows_of(matrix))
    np.testing.assert_array_equal(made.arrays[1], ordered.indices)
    np.testing.assert_array_equal(made.arrays[0], ordered.data)
    np.testing.assert_array_equal(matrix.indices, before[0])
    np.testing.assert_array_equal(matrix.data, before[1])


def test_what_is_in_order_is_not_copied():
    _, ordered = mixed()
    rows = rows_of(ordered)
    assert in_column_order(rows) is rows
    dense = rows_of(ordered.toarray())
    assert in_column_order(dense) is dense


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([3, 1, 9], [0, 2, 3]),
        ([3, -1, 2], [0, 2, 3]),
        ([3, 1, 2], [0, 7, 3]),
        ([3, 1, 2], [0, 2, 99]),
        ([3, 1, 2], [1, 0, 3]),
    ],
)
def test_what_is_broken_is_left_to_the_core(indices, indptr):
    rows = Rows(np.ones(3), np.asarray(indices), np.asarray(indptr), 4)
    assert in_column_order(rows) is rows


LEARNERS = {
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
    "batch": (lambda: hinge.PAClassifier(step="pa", tolerance=1e-3), 2),
}


@pytest.mark.parametrize("kind", LEARNERS)
@pytest.mark.filterwarnings("ignore:Maximum number of iteration")
def test_a_fit_is_that_of_ordered_columns_to_the_bit(kind):
    make, classes = LEARNERS[kind]
    matrix, ordered = mixed()
    y = RANDOM.integers(classes, size=40)
    one, other = make().fit(matrix, y), make().fit(ordered, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


def test_a_broken_matrix_is_refused_with_its_place():
    matrix, _ = mixed()
    matrix.indices[matrix.indptr[5]] = 999
    with pytest.raises(ValueError, match="row 5"):
        hinge.PAClassifier(max_iter=3, shuffle=False).fit(matrix, RANDOM.integers(2, size=40))
