"""Bad rows, targets, weights and orders: an error that names the place, or right by definition.

After an error the model is what it was, to the byte, also when the bad row comes after many good ones. The
whole file is run under sanitizers too (tests/sanitize.sh).
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

from bad_models import BAD, COUNT, TASKS, WIDTH, csr, fit, new, refused, stream, trained

# Every way in which a batch is taken back: `width` columns of the model decide between a journal and a copy;
# a fresh model has nothing to take back; a small radius shrinks the scale below what is kept (uniclass).
MODELS = [
    pytest.param(task, width, container, options, id=f"{task}-{width}-{container.__name__}-{options}")
    for task in TASKS
    for width, container in ((WIDTH, np.asarray), (WIDTH, csr), (3000, csr), (0, np.asarray), (0, csr))
    for options in (
        [{}, {"average": True}, {"dtype": "float32", "average": True}, {"hash_bits": 12}]
        + [
            {"radius": 1e-4, "step": "pa"},
            {"radius": 1e-4, "step": "pa", "average": True},
            {"radius": 1e-3, "step": "pa", "dtype": "float32"},
            {"max_radius": 2.0},
        ]
        * (task == "uniclass")
    )
    if not (width == 0 and "hash_bits" in options)
]
every_model = pytest.mark.parametrize(("task", "width", "container", "options"), MODELS)


VALUES = [
    (np.nan, "the value is NaN"),
    (np.inf, "the value is infinity"),
    (-np.inf, "the value is infinity"),
    (1e308, "the value is too large"),
    (-1e200, "the value is too large"),
]


@every_model
def test_a_bad_value_among_many_rows(task, width, container, options):
    X, y = stream(task)
    for (value, message), column in itertools.product(VALUES, (0, 3)):
        model = trained(task, width, options)
        bad = X.copy()
        bad[BAD, column] = value
        refused(
            model,
            f"row {BAD}, column {column}: {message}",
            lambda b=bad, m=model: m.learn(container(fit(m, b)), y),
        )
        if model.n_features:
            scored = container(fit(model, bad))
            # What overflows in |x|^2 need not overflow in w.x: then the score is right by definition.
            if np.isfinite(value) and task != "uniclass" and not model.averaged:
                assert np.isfinite(model.scores(scored)).all()
            elif not np.isfinite(value):
                refused(model, f"row {BAD}, column {column}: ", lambda s=scored, m=model: m.scores(s))
    again = trained(task, width, options)
    again.learn(container(fit(again, X)), y)
    model.learn(container(fit(model, X)), y)
    assert model.to_bytes() == again.to_bytes()


@every_model
def test_a_bad_row_alone_and_last(task, width, container, options):
    X, y = stream(task)
    model = trained(task, width, options)
    X = fit(model, X)
    X[BAD, 2] = np.nan
    last = slice(0, BAD + 1)

    def part(rows):
        return None if y is None else y[rows]

    refused(model, f"row {BAD}, column 2", lambda: model.learn(container(X[last]), part(last)))
    row = slice(BAD, BAD + 1)
    refused(model, "row 0, column 2", lambda: model.learn(container(X[row]), part(row)))
    weights = np.ones(COUNT)
    weights[BAD] = 0.0
    refused(model, f"row {BAD}, column 2", lambda: model.learn(container(X), y, weights))
    order = np.r_[np.arange(COUNT), np.arange(COUNT)]
    refused(model, f"row {BAD}, column 2", lambda: model.learn(container(X), y, order=order))
    model.learn(
        container(X), y, order=np.delete(np.arange(COUNT), BAD)
    )  # a row that is not visited is not read


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
        model, scaled = (
            new(task, fit_intercept=False, step="pa1", radius=r, C=c)
            for r, c in ((1.0, 1.0), (size, size if task == "uniclass" else size**-2))
        )
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
    X, y = np.zeros((4, 3)), np.array([1, 1, 0, 1])
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
            model = new(task, step=step, fit_intercept=False, average=True, radius=1.0)
            try:
                model.learn(X * size, y)
            except ValueError as error:
                assert "large" in str(error)  # noqa: PT017
                assert (
                    model.to_bytes()
                    == new(task, step=step, fit_intercept=False, average=True, radius=1.0).to_bytes()
                )
            assert np.isfinite(model.weights).all()
            assert np.isfinite([model.statistics.loss, model.statistics.progress]).all()


def test_the_statistics_stay_finite():
    model = new("classification", step="pa", fit_intercept=False)
    rows, y = np.full((100, 1), 3.2e-154), np.arange(100) % 2
    for k in range(3):
        model.learn(rows[k : k + 1], y[k : k + 1])
    refused(model, "the loss or the step is too large", lambda: model.learn(rows, y))
    assert np.isfinite(model.statistics.progress)


# ---- the shape and the type of X -----------------------------------------------------------------------

SHAPES = [
    (np.ones(WIDTH), "two-dimensional"),
    (np.ones((2, 2, 2)), "two-dimensional"),
    (np.float64(3), "two-dimensional"),
    (np.array([["a"] * WIDTH]), "must hold numbers"),
    (np.ones((1, WIDTH), dtype=complex), "must hold numbers"),
    (np.ones((1, WIDTH), dtype="datetime64[s]"), "must hold numbers"),
    (np.ones((1, WIDTH), dtype="V8"), "numbers"),
    (np.array([[1, 2, 3, "x", 5]], dtype=object), "row 0, column 3.*'x'"),
    (np.array([[1, 2], [3, []]], dtype=object), "row 1, column 1"),
    (np.array([[1, 2], [3, 10**400]], dtype=object), "row 1, column 1"),
    (np.array([[1, 2, 3, 4, 5], [None, 1, 2, 3, 4]], dtype=object), "row 1, column 0: the value is NaN"),
    (np.array([[1, 2], [3, 1j]], dtype=object), "row 1, column 1"),
    ([[1.0, 2.0], [3.0]], "row 0 has 2 values, and row 1 has 1 values"),
    (None, "must be an array or a list, not NoneType"),
    ("text", "two-dimensional"),
    (scipy.sparse.csr_array(np.ones(WIDTH)), "two-dimensional"),
]


@pytest.mark.parametrize(
    ("X", "message"), SHAPES, ids=lambda v: None if isinstance(v, str) else str(type(v).__name__)
)
@pytest.mark.parametrize("task", TASKS)
def test_what_is_no_matrix_of_numbers(X, message, task):
    model = trained(task, WIDTH, {})
    refused(model, message, lambda: model.learn(X, [0] * 2 if message.endswith("NaN") else [0]))
    refused(model, message, lambda: model.scores(X))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("container", [np.asarray, csr])
def test_no_rows_and_no_columns(task, container):
    model = trained(task, WIDTH, {"average": True})
    before = model.to_bytes()
    nothing = np.zeros(0)
    assert model.learn(container(np.zeros((0, WIDTH))), nothing) == 0
    assert model.scores(container(np.zeros((0, WIDTH)))).shape == (0,)
    model.learn_many([], [])
    model.learn(container(stream(task)[0]), np.zeros(COUNT), order=[])
    assert model.to_bytes() == before
    fresh = new(task)
    fresh.learn(container(np.zeros((3, 0))), [0, 1, 0])
    assert fresh.statistics.rounds == 3 - (task == "uniclass")
    assert fresh.scores(container(np.zeros((3, 0)))).shape == (3,)


@pytest.mark.parametrize("task", TASKS)
def test_the_wrong_width(task):
    X, y = stream(task)
    wide = np.hstack([X, X])
    named = new(task)
    named.name_columns(list("abcde"))
    events = new(task)
    events.learn_many([{"a": 1.0}], None if y is None else y[:1])
    for container in (np.asarray, csr):
        for model in (trained(task, WIDTH, {}), trained(task, WIDTH, {"average": True}), named):
            for rows in (wide, X[:, :4], X[:, :0]):
                message = f"X has {rows.shape[1]} features, the model has 5"
                refused(model, message, lambda m=model, c=container, r=rows: m.learn(c(r), y))
                refused(model, message, lambda m=model, c=container, r=rows: m.scores(c(r)))
        refused(events, "have names", lambda c=container: events.learn(c(X), y))
        hashed = new(task, hash_bits=3)
        refused(
            hashed, "X has 10 features, the model has 8", lambda m=hashed, c=container: m.learn(c(wide), y)
        )
        limited = new(task, max_features=7)
        refused(limited, "10 features, the limit is 7", lambda m=limited, c=container: m.learn(c(wide), y))
    refused(limited, "limit", lambda: limited.learn(scipy.sparse.csr_matrix((COUNT, 2**40)), y))
    fresh = new(task)
    X[BAD, 3] = np.nan
    refused(fresh, f"row {BAD}, column 3", lambda: fresh.learn(X, y))
    fresh.learn(wide, y)  # the width of a batch that was refused binds no one
