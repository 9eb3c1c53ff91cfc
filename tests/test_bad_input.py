"""Bad rows, targets, weights and orders: an error that names the place, or right by definition.

After an error the model is what it was, to the byte, also when the bad row comes after many good ones. The
whole file is run under sanitizers too (tests/sanitize.sh).
"""

from __future__ import annotations

import itertools

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
    y = {"classification": rng.choice([0, 1], count), "regression": rng.normal(size=count), "uniclass": None}[task]
    return X, y


def csr(X):
    return scipy.sparse.csr_matrix(X)


def new(task, **options):
    if task == "classification":
        options.setdefault("classes", [0, 1])
    return hinge.Learner(task, **options)


# Every way in which a batch is taken back: `width` columns of the model decide between a journal and a copy;
# a fresh model has nothing to take back; a small radius shrinks the scale below what is kept (uniclass).
MODELS = [
    pytest.param(task, width, container, options, id=f"{task}-{width}-{container.__name__}-{options}")
    for task in TASKS
    for width, container in ((WIDTH, np.asarray), (WIDTH, csr), (3000, csr), (0, np.asarray), (0, csr))
    for options in ([{}, {"average": True}, {"dtype": "float32", "average": True}, {"hash_bits": 12}]
                    + [{"radius": 1e-4, "step": "pa"}, {"radius": 1e-4, "step": "pa", "average": True},
                       {"radius": 1e-3, "step": "pa", "dtype": "float32"}, {"max_radius": 2.0}]
                    * (task == "uniclass"))
    if not (width == 0 and "hash_bits" in options)
]
every_model = pytest.mark.parametrize(("task", "width", "container", "options"), MODELS)


def trained(task, width, options):
    """A model that has learned from arrays of that width."""
    model = new(task, **options)
    if width:
        X, y = stream(task, width=WIDTH, seed=1)
        wide = scipy.sparse.csr_matrix(np.hstack([X, np.zeros((COUNT, width - WIDTH))]))
        model.learn(wide, y)
    return model


VALUES = [(np.nan, "the value is NaN"), (np.inf, "the value is infinity"), (-np.inf, "the value is infinity"),
          (1e308, "the value is too large"), (-1e200, "the value is too large")]


@every_model
def test_a_bad_value_among_many_rows(task, width, container, options):
    X, y = stream(task)
    for (value, message), column in itertools.product(VALUES, (0, 3)):
        model = trained(task, width, options)
        bad = X.copy()
        bad[BAD, column] = value
        refused(model, f"row {BAD}, column {column}: {message}", lambda b=bad, m=model: m.learn(container(b), y))
        if model.n_features:
            scored = container(bad[:, : model.n_features])
            # What overflows in |x|^2 need not overflow in w.x: then the score is right by definition.
            if np.isfinite(value) and task != "uniclass":
                assert np.isfinite(model.scores(scored)).all()
            else:
                refused(model, f"row {BAD}, column {column}: ", lambda s=scored, m=model: m.scores(s))
    again = trained(task, width, options)
    again.learn(container(X), y)
    model.learn(container(X), y)
    assert model.to_bytes() == again.to_bytes()


@every_model
def test_a_bad_row_alone_and_last(task, width, container, options):
    X, y = stream(task)
    model = trained(task, width, options)
    X[BAD, 2] = np.nan
    last = slice(0, BAD + 1)
    part = (lambda rows: None if y is None else y[rows])
    refused(model, f"row {BAD}, column 2", lambda: model.learn(container(X[last]), part(last)))
    row = slice(BAD, BAD + 1)
    refused(model, "row 0, column 2", lambda: model.learn(container(X[row]), part(row)))
    weights = np.ones(COUNT)
    weights[BAD] = 0.0
    refused(model, f"row {BAD}, column 2", lambda: model.learn(container(X), y, weights))
    order = np.r_[np.arange(COUNT), np.arange(COUNT)]
    refused(model, f"row {BAD}, column 2", lambda: model.learn(container(X), y, order=order))
    model.learn(container(X), y, order=np.delete(np.arange(COUNT), BAD))  # a row that is not visited is not read


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_bad_single_precision_values(task, value):
    X, y = stream(task)
    X = X.astype(np.float32)
    X[BAD, 1] = value
    model = trained(task, WIDTH, {})
    for container in (np.ascontiguousarray, np.asfortranarray, csr):
        refused(model, f"row {BAD}, column 1: the value is", lambda c=container: model.learn(c(X), y))


@pytest.mark.parametrize("task", TASKS)
def test_large_values_are_right_as_long_as_they_can_be(task):
    """1e20 to 1e150 are numbers like others; a norm that overflows is refused, though no value does."""
    for size in (1e20, 1e38, 1e100, 1e150):
        X, y = stream(task)
        model, scaled = (new(task, fit_intercept=False, step="pa1", radius=r, C=c)
                         for r, c in ((1.0, 1.0), (size, size if task == "uniclass" else size**-2)))
        model.learn(X, y)
        scaled.learn(X * size, y)
        if task == "uniclass":
            np.testing.assert_allclose(scaled.weights / size, model.weights, rtol=1e-9)
        else:
            np.testing.assert_allclose(scaled.weights * size, model.weights, rtol=1e-9)
    model = trained(task, WIDTH, {})
    X, y = stream(task)
    X[BAD] = 1.2e154
    refused(model, f"row {BAD}: the squared norm of the instance overflows", lambda: model.learn(X, y))
    refused(model, f"row {BAD}: the squared norm", lambda: model.learn(csr(X), y))
    weights = np.where(np.arange(COUNT) == BAD, 0.0, 1.0)
    refused(model, f"row {BAD}: the squared norm", lambda: model.learn(X, y, weights))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("container", [np.asarray, csr])
def test_rows_of_zeros_are_rounds(task, container):
    X, y = np.zeros((4, 3)), np.array([0, 1, 0, 1])
    for fit_intercept in (False, True):
        model = new(task, fit_intercept=fit_intercept)
        model.learn(container(X), y)
        assert model.statistics.rounds == 4 - (task == "uniclass")
        assert not model.weights.any()
        assert (model.intercept != 0) == (fit_intercept and task != "uniclass")


@pytest.mark.parametrize("task", TASKS)
def test_tiny_values(task):
    """Squares that vanish give no direction; squares that are almost nothing may ask for too long a step."""
    for size in (1e-308, 5e-324, 1e-200, 1e-154, 1e-150, 1e-100):
        X, y = stream(task)
        for step in ("pa", "pa1", "pa2"):
            model = new(task, step=step, fit_intercept=False, average=True)
            try:
                model.learn(X * size, y)
            except ValueError as error:
                assert "too large" in str(error)  # noqa: PT017
                assert model.to_bytes() == new(task, step=step, fit_intercept=False, average=True).to_bytes()
            assert np.isfinite(model.weights).all()
            assert np.isfinite([model.statistics.loss, model.statistics.progress]).all()


def test_the_statistics_stay_finite():
    model = new("classification", step="pa", fit_intercept=False)
    with pytest.raises(ValueError, match="too large"):
        for k in range(100):
            model.learn(np.array([[2e-154]]), [k % 2])
    assert 2 < k < 99
    assert np.isfinite(model.statistics.progress)


# ---- the shape and the type of X ---------------------------------------------------------------------------

SHAPES = [
    (np.ones(WIDTH), "two-dimensional"), (np.ones((2, 2, 2)), "two-dimensional"), (np.float64(3), "two-dimensional"),
    (np.array([["a"] * WIDTH]), "must hold numbers"), (np.ones((1, WIDTH), dtype=complex), "must hold numbers"),
    (np.ones((1, WIDTH), dtype="datetime64[s]"), "must hold numbers"), (np.ones((1, WIDTH), dtype="V8"), "numbers"),
    (np.array([[1, 2, 3, "x", 5]], dtype=object), "row 0, column 3.*'x'"),
    (np.array([[1, 2], [3, []]], dtype=object), "row 1, column 1"),
    (np.array([[1, 2], [3, 10**400]], dtype=object), "row 1, column 1"),
    (np.array([[1, 2], [None, 1]], dtype=object), "row 1, column 0: the value is NaN"),
    (np.array([[1, 2], [3, 1j]], dtype=object), "row 1, column 1"),
    ([[1.0, 2.0], [3.0]], "inhomogeneous"), (None, "two-dimensional"), ("text", "two-dimensional"),
    (scipy.sparse.csr_array(np.ones(WIDTH)), "two-dimensional"),
]


@pytest.mark.parametrize(("X", "message"), SHAPES, ids=lambda v: None if isinstance(v, str) else str(type(v).__name__))
@pytest.mark.parametrize("task", TASKS)
def test_what_is_no_matrix_of_numbers(X, message, task):
    model = trained(task, WIDTH, {})
    y = np.zeros(len(X) if np.ndim(X) else 1)
    refused(model, message, lambda: model.learn(X, y))
    refused(model, message, lambda: model.scores(X))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("container", [np.asarray, csr])
def test_no_rows_and_no_columns(task, container):
    model = trained(task, WIDTH, {"average": True})
    before = model.to_bytes()
    nothing = np.zeros(0)
    assert model.learn(container(np.zeros((0, WIDTH))), nothing) == 0
    assert model.learn(container(np.zeros((0, 0))), nothing) == 0
    assert model.scores(container(np.zeros((0, WIDTH)))).shape == (0,)
    model.learn_many([], [])
    model.learn(container(stream(task)[0]), np.zeros(COUNT), order=[])
    assert model.to_bytes() == before
    assert model.scores(container(np.zeros((3, 0)))).shape == (3,)
    rounds = model.statistics.rounds
    model.learn(container(np.zeros((3, 0))), [0, 1, 0])
    assert model.statistics.rounds == rounds + 3


@pytest.mark.parametrize("task", TASKS)
def test_the_wrong_width(task):
    """Missing columns are zeros; more columns are welcome unless the columns have names or are hashed."""
    X, y = stream(task)
    model, padded = trained(task, WIDTH, {}), trained(task, WIDTH, {})
    model.learn(X[:, :3], y)
    padded.learn(np.hstack([X[:, :3], np.zeros((COUNT, 2))]), y)
    np.testing.assert_allclose(model.weights, padded.weights, rtol=1e-9, atol=1e-12)
    wide = np.hstack([X, X])
    refused(model, "the rows have 10 columns, the model has 5", lambda: model.scores(wide))
    model.learn(wide, y)
    assert model.n_features == 10
    bad = wide.copy()
    bad[BAD, 7] = np.nan
    narrow = trained(task, WIDTH, {"average": True})
    refused(narrow, "row 27, column 7", lambda: narrow.learn(bad, y))
    narrow.score_one({0: 1.0})  # now the columns are called by their numbers
    refused(narrow, "row 27, column 7", lambda: narrow.learn(bad, y))
    narrow.learn(wide, y)
    named = new(task)
    named.name_columns("abcde")
    refused(named, r"X has 10 features, the model has 5 \(with names\)", lambda: named.learn(wide, y))
    hashed = new(task, hash_bits=3)
    refused(hashed, r"10 features, the model has 8 \(hashed\)", lambda: hashed.learn(wide, y))
    limited = new(task, max_features=7)
    refused(limited, "10 features, the limit is 7", lambda: limited.learn(wide, y))
    refused(limited, "limit", lambda: limited.learn(scipy.sparse.csr_matrix((COUNT, 2**40)), y))


# ---- CSR matrices that are none ------------------------------------------------------------------------------


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
        getattr(matrix, name)[start if place == "row" else place] = value
    return change


def assign(name, function):
    def change(matrix, _start):
        setattr(matrix, name, function(getattr(matrix, name)))
    return change


BROKEN = {
    "negative index": (put("indices", "row", -1), f"row {BAD}: column index -1 is outside 0..4"),
    "very negative index": (put("indices", "row", -2**31), f"row {BAD}: column index -2147483648 is outside"),
    "index too large": (put("indices", "row", WIDTH), f"row {BAD}: column index 5 is outside 0..4"),
    "huge index": (put("indices", "row", 2**31 - 1), f"row {BAD}: column index 2147483647 is outside"),
    "last index too large": (put("indices", -1, 77), f"row {COUNT - 1}: column index 77 is outside"),
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
    matrix = broken(change)(X, index)
    for width in (WIDTH, 3000, 0):
        model = trained(task, width, options)
        refused(model, message, lambda m=model: m.learn(matrix, y))
        if width:
            refused(model, message, lambda m=model: m.scores(matrix))
    estimator = {"classification": hinge.PAClassifier, "regression": hinge.PARegressor,
                 "uniclass": hinge.PAOneClass}[task]().fit(X, y)
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
        refused(model, f"row 0: column index {bad} is outside 0..79", lambda m=model, x=matrix: m.learn(x, [1.0]))
    swapped = columns.copy()
    swapped[[place, (place + 7) % 40]] = swapped[[(place + 7) % 40, place]]
    matrix.indices = swapped.astype(np.int64)
    for task in TASKS:
        model, tidy = new(task), new(task)
        for _ in range(2):
            model.learn(matrix, [1])
            tidy.learn(matrix.toarray(), [1])
        np.testing.assert_allclose(model.weights, tidy.weights, rtol=1e-12)


# ---- targets, weights, orders ------------------------------------------------------------------------------------

TARGETS = {
    "regression": [
        (lambda y: y[:-1], "y has 39 entries for 40 rows"), (lambda y: np.r_[y, 1.0], "y has 41 entries"),
        (lambda y: y[:, None], "one-dimensional"), (lambda y: None, "needs a target"), (lambda y: 1.0, "one-dim"),
        (lambda y: y.astype(complex), "must hold numbers"), (lambda y: y.astype(str), "must hold numbers"),
        (lambda y: ["a", *y[1:]], "must hold numbers"), (lambda y: [*y[1:], None], "row 39: the target is NaN"),
        (lambda y: np.array([*y[1:], "a"], dtype=object), "y must hold numbers: row 39"),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.nan, y), f"row {BAD}: the target is NaN"),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.inf, y), f"row {BAD}: the target is infinity"),
        (lambda y: np.where(np.arange(COUNT) == BAD, -np.inf, y), f"row {BAD}: the target is infinity"),
        (lambda y: np.where(np.arange(COUNT) == BAD, 1e308, y), f"row {BAD}: the loss or the step is too large"),
        (lambda y: np.where(np.arange(COUNT) == BAD, -1e200, y), f"row {BAD}: the loss or the step is too large"),
    ],
    "classification": [
        (lambda y: y[:-1], "y has 39 entries for 40 rows"), (lambda y: y[:, None], "one-dimensional"),
        (lambda y: None, "needs a target"), (lambda y: 1, "one-dimensional"),
        (lambda y: np.where(np.arange(COUNT) == BAD, 7, y), f"row {BAD}: the label 7.* is not one of the classes"),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.nan, y), f"row {BAD}: the label is NaN"),
        (lambda y: np.where(np.arange(COUNT) == BAD, np.inf, y), f"row {BAD}: the label inf is not one"),
        (lambda y: np.where(np.arange(COUNT) == BAD, 0.5, y), f"row {BAD}: the label 0.5 is not one"),
        (lambda y: y.astype(str), "row 0: the label '.' is not one"), (lambda y: y.astype("S1"), "row 0: the label b'.'"),
        (lambda y: y + 0.5j, "row 0: the label"), (lambda y: [None] * COUNT, "row 0: the label None"),
        (lambda y: np.array([*y[1:], [1]], dtype=object), r"row 39: the label \[1\]"),
        (lambda y: [*y[1:], [1]], "inhomogeneous"), (lambda y: y.astype("datetime64[s]"), "row 0: the label"),
    ],
}


@pytest.mark.parametrize(("task", "place"), [(t, k) for t, ways in TARGETS.items() for k in range(len(ways))])
@pytest.mark.parametrize("container", [np.asarray, csr])
def test_bad_targets(task, place, container):
    X, y = stream(task)
    change, message = TARGETS[task][place]
    for width in (WIDTH, 3000, 0):
        model = trained(task, width, {"average": True})
        refused(model, message, lambda m=model: m.learn(container(X), change(y)))
        weights = np.ones(COUNT)
        refused(model, message, lambda m=model, w=weights: m.learn(container(X), change(y), w))
        message_of_events = message.replace("the label is NaN", "the label nan")
        events = [dict(enumerate(row.tolist())) for row in X]
        refused(model, message_of_events, lambda m=model, e=events: m.learn_many(e, change(y)))


def test_a_target_without_weight_must_be_a_number_too():
    X, y = stream("regression")
    weights = np.where(np.arange(COUNT) == BAD, 0.0, 1.0)
    y[BAD] = np.nan
    model = trained("regression", WIDTH, {})
    refused(model, f"row {BAD}: the target is NaN", lambda: model.learn(X, y, weights))


WEIGHTS = [
    (lambda w: w[:-1], "sample_weight has 39 entries for 40 rows"), (lambda w: np.r_[w, 1.0], "41 entries"),
    (lambda w: w[:1], "1 entries for 40 rows"), (lambda w: w[:0], "0 entries"),
    (lambda w: w[:, None], "sample_weight must be one-dimensional"), (lambda w: 2.0, "one-dimensional"),
    (lambda w: w.astype(str), "sample_weight must hold numbers"), (lambda w: w.astype(complex), "must hold numbers"),
    (lambda w: np.where(np.arange(COUNT) == BAD, -1.0, w), f"row {BAD}: the sample weight is -1"),
    (lambda w: np.where(np.arange(COUNT) == BAD, np.nan, w), f"row {BAD}: the sample weight is -?nan"),
    (lambda w: np.where(np.arange(COUNT) == BAD, np.inf, w), f"row {BAD}: the sample weight is infinite"),
    (lambda w: np.where(np.arange(COUNT) == BAD, -np.inf, w), f"row {BAD}: the sample weight is -inf"),
]


@pytest.mark.parametrize("place", range(len(WEIGHTS)))
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("class_weight", [None, {0: 2.0}])
def test_bad_weights(place, task, class_weight):
    X, y = stream(task)
    change, message = WEIGHTS[place]
    options = {"class_weight": class_weight} if task == "classification" else {}
    for width, container in itertools.product((WIDTH, 3000, 0), (np.asarray, csr)):
        model = trained(task, width, {"average": True, **options})
        bad = change(np.ones(COUNT))
        refused(model, message, lambda m=model, c=container, b=bad: m.learn(c(X), y, b))
    refused(model, message, lambda: model.learn_many([dict(enumerate(row.tolist())) for row in X], y, bad))


ORDERS = [([0, COUNT], r"order\[1\] is 40: X has the rows 0 to 39"), ([0, 3, -1], r"order\[2\] is -1"),
          ([2**62], r"order\[0\]"), (np.array([2**64 - 1], dtype=np.uint64), r"order\[0\]"), ([0.5], "whole numbers"),
          ([np.nan], "whole numbers"), ([True, False], "whole numbers"), ([[0, 1]], "in one dimension"),
          (["a"], "whole numbers"), (3, "one dimension"), ([None], "whole numbers"), ([2**70], "whole numbers")]


@pytest.mark.parametrize(("order", "message"), ORDERS, ids=str)
@pytest.mark.parametrize("task", TASKS)
def test_bad_orders(order, message, task):
    X, y = stream(task)
    model = trained(task, WIDTH, {})
    refused(model, message, lambda: model.learn(X, y, order=order))


@pytest.mark.parametrize("task", TASKS)
def test_bad_tolerances(task):
    X, y = stream(task)
    model = trained(task, WIDTH, {})
    for tolerance in (-1.0, np.nan, -np.inf):
        refused(model, "tolerance must be 0 or more", lambda t=tolerance: model.learn(X, y, tolerance=t))
    refused(model, "", lambda: model.learn(X, y, tolerance="a"), TypeError)
    before = model.to_bytes()
    assert model.learn(X, y, tolerance=np.inf) == 0
    assert model.learn(X, y, max_updates=0) == 0
    assert model.to_bytes() == before
