"""kernel='linear' without a budget learns the same weights; batches, passes and functions give the same results."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics.pairwise import linear_kernel, polynomial_kernel, rbf_kernel

import hinge
from kernel_streams import (
    CONTAINERS,
    COST,
    KERNELS,
    LABEL_PAIRS,
    NU,
    RANK_PAIRS,
    WIDTH,
    K,
    Ours,
    close,
    events,
)
from reference_kernels import KernelReference

FIELDS = ("rounds", "mistakes", "updates", "loss", "squared_loss", "largest_q", "progress", "cost")
ONE_W = [
    (task, {"step": step, "fit_intercept": intercept})
    for task, steps in [
        ("classification", ("pa", "pa1", "pa2", "perceptron")),
        ("regression", ("pa", "pa1", "pa2")),
    ]
    for step, intercept in itertools.product(steps, (False, True))
]
AGGRESSIVE = [
    (task, {"step": "perceptron", "selection": selection, "beta": 0.4, "k": k})
    for task, selection, k in [
        ("classification", "max", None),
        ("classification", "max", K),
        ("classification", "uniform", K),
        ("multilabel", "uniform", K),
    ]
]
BALLS = [
    ("uniclass", {"step": step, **more})
    for step, more in itertools.product(
        ("pa", "pa1", "pa2"),
        (
            {"radius": 0.6},
            {"radius": 0.6, "w1": "zero"},
            {"max_radius": 1.5},
            {"max_radius": 1.5, "w1": "zero"},
        ),
    )
]
LABELS = [
    (task, {"selection": selection, "step": step, "fit_intercept": i % 2 == 0, "k": K, **more})
    for i, (more, (selection, step)) in enumerate(itertools.product([{}, {"learned": True}], LABEL_PAIRS))
    for task in (("multilabel",) if more else ("classification", "multilabel"))
]
LABELS = [
    (task, {**options, "threshold": "learned"} if options.pop("learned", False) else options)
    for task, options in LABELS
]
COSTS = [
    ("classification", {"selection": selection, "step": step, "cost": COST, "k": K})
    for selection, step in itertools.product(("max", "prediction"), ("pa", "pa1", "pa2"))
]
WEIGHTED = [("classification", {"selection": "simproj", "nu": NU, "k": K})]
RANKS = [
    ("ordinal", {"selection": selection, "step": step, "sort_thresholds": sort, "k": K})
    for (selection, step), sort in itertools.product(RANK_PAIRS, (None, False))
]
CASES = ONE_W + AGGRESSIVE + BALLS + LABELS + COSTS + WEIGHTED + RANKS


def name(case):
    task, options = case
    shown = [f"{key}={value}" for key, value in options.items() if key not in ("cost", "nu", "k")]
    return " ".join([task, *(key for key in ("cost", "nu") if key in options), *shown])


def same_views(ours, weights, points):
    """Two learners of weights, of which one has a kernel."""
    for field in FIELDS:
        close(getattr(ours.statistics, field), getattr(weights.statistics, field), field)
    for view in ("weights", "last_weights", "intercept", "last_intercept"):
        close(getattr(ours.learner, view), getattr(weights.learner, view), view)
    if ours.task == "uniclass":
        close(ours.radius(), weights.radius(), "radius")
    if ours.task == "ordinal":
        close(ours.thresholds, weights.thresholds, "thresholds")
    for x in points:
        close(ours.scores(x), weights.scores(x), "scores")
        if ours.container != "dict":
            close(ours.learner.lanes(ours.rows(x)), weights.learner.lanes(weights.rows(x)), "lanes")
    if ours.container != "dict":
        predict = ours.learner.predict_one
        x = dict(enumerate(points[0].tolist()))
        assert predict(x) == weights.learner.predict_one(x) or ours.task == "regression"


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("case", CASES, ids=name)
def test_linear_kernel_learns_the_same_weights(case, average):
    task, options = case
    i = CASES.index(case)
    container = CONTAINERS[(i + average) % 3]
    options = {"C": 0.5, "average": average, **options}
    ours, weights = Ours(task, container, kernel="linear", **options), Ours(task, container, **options)
    rng, points = np.random.default_rng(70 + i), np.random.default_rng(71).normal(size=(2, WIDTH))
    for t, (x, y, weight) in enumerate(events(task, rng, 36, True, options.get("k"))):
        ours.learn(x, y, weight)
        weights.learn(x, y, weight)
        if t >= 12 and t % 3 == 0:
            same_views(ours, weights, points)
    assert ours.statistics.updates >= 4
    assert ours.learner.n_support == ours.statistics.insertions
    assert ours.statistics.removals == weights.statistics.insertions == weights.statistics.removals == 0


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("kernel", ["poly", "cubic", "rbf"])
def test_only_linear_kernels_have_weights(kernel, container):
    ours = Ours("classification", container, **KERNELS[kernel])
    ours.learn(np.ones(WIDTH), 1)
    for view in ("weights", "last_weights"):
        assert not hasattr(ours.learner, view)
    assert ours.learner.n_support == 1


def test_intercept_is_the_sum_of_the_coefficients():
    ours = Ours("classification", fit_intercept=True, budget=5, **KERNELS["rbf"])
    for x, y, _ in events("classification", np.random.default_rng(72), 30, False):
        ours.learn(x, y)
        close(ours.learner.intercept, ours.dual_coef().sum(), "intercept")


# --- a kernel that is a function --------------------------------------------------------------------------------


def linear(X, Z):
    """Without BLAS, which rounds as a machine likes: of supports that are equal but for that a budget keeps others."""
    return linear_kernel(X, Z) if scipy.sparse.issparse(X) else (X[:, np.newaxis] * Z).sum(axis=2)


FUNCTIONS = {
    "linear": linear,
    "poly": lambda X, Z: polynomial_kernel(X, Z, degree=2, gamma=0.5, coef0=1.0),
    "rbf": lambda X, Z: rbf_kernel(X, Z, gamma=0.4),
}


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("budget", [{}, {"budget": 3}, {"budget": "adaptive"}], ids=str)
@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("classification", {"step": "perceptron", "fit_intercept": True}),
        ("classification", {"selection": "mira", "k": K}),
        ("regression", {}),
        ("uniclass", {"radius": 0.6}),
        ("ordinal", {"k": K}),
        ("multilabel", {"k": K, "threshold": "learned"}),
    ],
)
@pytest.mark.parametrize("kernel", FUNCTIONS)
def test_function_learns_what_the_named_kernel_learns(kernel, task, options, budget, container):
    if options.get("fit_intercept"):
        options = {**options, "intercept_value": 1.0}  # 'auto' depends on the kernel
    theirs = Ours(task, container, kernel=FUNCTIONS[kernel], **budget, **options)
    ours = Ours(task, container, **KERNELS[kernel], **budget, **options)
    points = np.random.default_rng(73).normal(size=(2, WIDTH))
    for t, (x, y, weight) in enumerate(events(task, np.random.default_rng(74), 25, True, options.get("k"))):
        ours.learn(x, y, weight)
        theirs.learn(x, y, weight)
        assert ours.support == theirs.support
        close(theirs.dual_coef(), ours.dual_coef(), "dual coefficients")
        if t > 12:
            close([theirs.scores(p) for p in points], [ours.scores(p) for p in points], "scores")


@pytest.mark.parametrize("container", CONTAINERS)
def test_custom_kernel_gets_matrices(container):
    """Arrays if the rows were dense, else CSR matrices; both two-dimensional, of the same width."""
    seen = []

    def kernel(X, Z):
        seen.append((X, Z))
        return np.asarray((X @ Z.T).todense() if scipy.sparse.issparse(X) else X @ Z.T)

    ours = Ours("classification", container, kernel=kernel)
    for x, y, _ in events("classification", np.random.default_rng(75), 8, False):
        ours.learn(x, y)
    ours.scores(np.ones(WIDTH))
    assert seen
    for matrix in itertools.chain.from_iterable(seen):
        assert matrix.ndim == 2
        assert matrix.dtype == np.float64
        assert (type(matrix) is np.ndarray) == (container == "dense")
        assert container == "dense" or matrix.format == "csr"
    assert all(X.shape[1] == Z.shape[1] for X, Z in seen)


# --- a batch is its examples, one by one --------------------------------------------------------------------------


@pytest.mark.parametrize("container", ["dense", "csr"])
@pytest.mark.parametrize("budget", [{}, {"budget": 1}, {"budget": 4}, {"budget": "adaptive"}], ids=str)
@pytest.mark.parametrize("case", [ONE_W[0], ONE_W[7], BALLS[0], BALLS[6], LABELS[0], RANKS[0]], ids=name)
def test_batch_gives_the_same_bits_as_single_events(case, budget, container):
    task, options = case
    options = {"C": 0.5, **options, **KERNELS["rbf"], **budget}
    batch, single, many = (Ours(task, container, **options) for _ in range(3))
    stream = list(events(task, np.random.default_rng(76), 40, True, options.get("k")))
    X, weights = np.array([x for x, _, _ in stream]), [weight for _, _, weight in stream]
    y = None if task == "uniclass" else [y for _, y, _ in stream]
    batch.learner.learn(batch.rows(X[:25]), y and y[:25], weights[:25])
    batch.learner.learn(batch.rows(X[25:]), y and y[25:], weights[25:])
    many.learner.learn_many(batch.rows(X), y, weights)
    for event in stream:
        single.learn(*event)
    for other in (batch, many):
        assert other.support == single.support
        np.testing.assert_array_equal(other.dual_coef(), single.dual_coef())
        assert other.statistics == single.statistics


# --- several passes -----------------------------------------------------------------------------------------------


def passes(task, X, y, count, **options):
    twin = KernelReference(task, **options)
    for _, row in itertools.product(range(count), range(len(X))):
        twin.learn(X[row], None if y is None else y[row], row=row)
    return twin


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("budget", "average"),
    [({}, False), ({}, True)]
    + [(b, False) for b in ({"budget": 4}, {"budget": 4, "removal": "oldest"}, {"budget": "adaptive"})],
    ids=str,
)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("step", ["pa1", "perceptron"])
def test_row_of_another_pass_is_merged_with_its_support(step, average, kernel, budget, sparse):
    stream = list(events("classification", np.random.default_rng(77), 25, False))
    X, y = np.array([x for x, _, _ in stream]), np.array([y for _, y, _ in stream])
    options = {"step": step, "C": 0.5, "fit_intercept": True, "average": average, **KERNELS[kernel], **budget}
    model = hinge.PAClassifier(max_iter=3, shuffle=False, tol=None, **options)
    model.fit(scipy.sparse.csr_matrix(X) if sparse else X, y)
    assert model.n_iter_ >= 2
    twin = passes("classification", X, y, model.n_iter_, **options)
    assert model.support_.tolist() == twin.support
    assert model.n_support_ == len(twin.support) == len(set(twin.support))
    close(np.ravel(model.dual_coef_), twin.dual_coef(averaged=average), "dual coefficients")
    vectors = model.support_vectors_
    close(
        vectors.toarray() if scipy.sparse.issparse(vectors) else vectors, X[twin.support], "support vectors"
    )
    statistics = model.stats_
    assert statistics.insertions == twin.statistics.insertions
    assert statistics.removals == twin.statistics.removals
    assert statistics.updates == twin.statistics.updates
    points = np.random.default_rng(78).normal(size=(4, WIDTH))
    close(model.decision_function(points), [twin.scores(x, averaged=average) for x in points], "scores")


@pytest.mark.parametrize("budget", [{}, {"budget": 5}, {"budget": "adaptive"}], ids=str)
@pytest.mark.parametrize(
    ("estimator", "task", "options"),
    [
        ("PARegressor", "regression", {"fit_intercept": True}),
        ("PAOneClass", "uniclass", {"radius": 0.6}),
        ("PAOrdinal", "ordinal", {"selection": "max", "sort_thresholds": False}),
        ("PAClassifier", "classification", {"selection": "mira", "fit_intercept": True}),
    ],
)
def test_several_passes_merge_supports_in_every_task(estimator, task, options, budget):
    k = K if task in ("ordinal", "classification") else None
    stream = list(events(task, np.random.default_rng(79), 25, False, k))
    X, y = np.array([x for x, _, _ in stream]), [y for _, y, _ in stream]
    options = {"C": 0.5, **options, **KERNELS["rbf"], **budget}
    model = getattr(hinge, estimator)(max_iter=3, shuffle=False, tol=None, **options)
    model.fit(X) if task == "uniclass" else model.fit(X, np.array(y))
    twin = passes(task, X, y, model.n_iter_, k=k, **options)
    assert model.support_.tolist() == twin.support
    close(model.dual_coef_, twin.dual_coef().reshape(np.shape(model.dual_coef_)), "dual coefficients")


def test_gamma_scales_with_the_data():
    stream = list(events("classification", np.random.default_rng(80), 30, False))
    X, y = np.array([x for x, _, _ in stream]), np.array([y for _, y, _ in stream])
    gamma = 1 / (WIDTH * X.var())
    models = [
        hinge.PAClassifier(kernel="rbf", budget=5, max_iter=2, shuffle=False, tol=None, **options).fit(
            rows, y
        )
        for options, rows in [
            ({}, X),
            ({"gamma": gamma}, X),
            ({"gamma": "scale"}, scipy.sparse.csr_matrix(X)),
        ]
    ]
    first = hinge.PAClassifier(kernel="rbf", budget=5).partial_fit(X, y, classes=[-1, 1])
    close(first.decision_function(X), hinge_scores(X, y, gamma), "partial_fit")
    for model in models[1:]:
        assert model.support_.tolist() == models[0].support_.tolist()
        close(model.decision_function(X), models[0].decision_function(X), "scores")
    with pytest.raises(ValueError, match="gamma"):
        hinge.Learner("classification", kernel="rbf")


def hinge_scores(X, y, gamma):
    twin = KernelReference("classification", kernel="rbf", gamma=gamma, budget=5, fit_intercept=True)
    for x, label in zip(X, y, strict=True):
        twin.learn(x, label)
    return [twin.scores(x) for x in X]
