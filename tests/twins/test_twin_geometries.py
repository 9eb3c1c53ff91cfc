"""hinge.Learner in the other geometries against its slow twin, weight by weight, after every event."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import reference_geometries
from geometry_learners import Ours, make
from hinge.tasks import TASKS
from label_truths import COST, COUNTS, NU, ties, truths
from reference_geometries import GEOMETRIES, SecondOrderLabels
from reference_labels import STEPS_OF

NAMES = [" ".join(geometry.values()) for geometry in GEOMETRIES]
FIELDS = ("loss", "squared_loss", "largest_q", "progress", "cost")
WIDTH, K = 4, 4
CONTAINERS = ("dense", "csr", "dict")
MORE = {"initial_variance": 2.0, "covariance_regularizer": 0.5}


def instances(rng, count, weighted, repeats=True, nonnegative=False):
    """Sparse rows of mixed sizes, zero rows among them, repeated directions, and weights.

    The first one has all features, with a weight: on a simplex the features have to be known. (See test_twin_labels
    about `repeats`.)
    """
    row = rng.normal(size=WIDTH)
    for t in range(count):
        if t % 7 == 3 and repeats:
            row = 1.3 * row
        elif t:
            row = np.where(rng.random(WIDTH) < 0.6, rng.normal(size=WIDTH) * rng.choice([0.2, 1.0, 3.0]), 0.0)
        x = np.zeros(WIDTH) if t % 9 == 5 and repeats else row
        weight = float(rng.choice([0.0, 0.3, 1.0, 2.5])) if weighted and t else 1.0
        yield np.abs(x) if nonnegative else x, weight


def target(task, rng):
    if task == "uniclass":
        return None
    return int(rng.choice([-1, 1])) if task == "classification" else 2 * rng.normal()


def close(ours, theirs, what):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.shape != theirs.shape or not np.all(np.abs(ours - theirs) <= 1e-11 + 1e-9 * np.abs(theirs)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11, err_msg=what)  # slow; says where


def same(ours, twin, average=False):
    for name in COUNTS:
        assert getattr(ours.statistics, name) == getattr(twin.statistics, name), name
    for name in FIELDS:
        close(getattr(ours.statistics, name), getattr(twin.statistics, name), name)
    if twin.state is None:
        return
    close(ours.state, twin.state, "state")
    if average:
        close(ours.average_w, twin.average_W if ours.lanes else twin.average_w, "average")
    if getattr(twin, "S", None) is not None:
        close(ours.covariance, twin.covariance, "covariance")


def play(task, ours, twin, events, y, average=False):
    for (x, weight), truth in zip(events, y, strict=True):
        ours.learn(x, truth, weight)
        twin.learn(x, truth, weight)
        same(ours, twin, average)
        if getattr(twin, "S", None) is not None:
            close(ours.uncertainty(1.7 * x), twin.uncertainty(1.7 * x), "uncertainty")
    assert twin.statistics.updates >= 5


# --- mahalanobis and diagonal ------------------------------------------------------------------------------

LINEAR = [
    *(("classification", step) for step in ("pa", "pa1", "pa2", "perceptron", "cw")),
    *(("regression", step) for step in ("pa", "pa1", "pa2")),
]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize(("task", "step"), LINEAR)
def test_binary_and_regression_equal_the_twin(task, step, more, geometry, container):
    """Plain, and with an intercept, all options, weights and the average."""
    rng = np.random.default_rng(50)
    options = {
        "step": step,
        "C": 0.7,
        "fit_intercept": more,
        "average": more,
        **geometry,
        **(MORE if more else {}),
    }
    if more and step == "cw":
        options["eta"] = 0.7
    ours, twin = Ours(task, container, **options), make("reference", task, **options)
    events = list(instances(rng, 40, weighted=more))
    play(task, ours, twin, events, [target(task, rng) for _ in events], more)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
def test_a_start_vector_equals_the_twin(geometry):
    rng = np.random.default_rng(51)
    w1 = rng.normal(size=WIDTH)
    options = {"step": "pa2", "w1": w1, "fit_intercept": True, **MORE, **geometry}
    events = list(instances(rng, 30, weighted=True))
    play(
        "classification",
        Ours("classification", "csr", **options),
        make("reference", "classification", **options),
        events,
        [target("classification", rng) for _ in events],
    )
    W1 = rng.normal(size=(K, WIDTH))
    options = {"step": "pa1", "fit_intercept": True, **geometry}
    play(
        "multilabel",
        Ours("multilabel", "csr", K, w1=W1, **options),
        make("reference", "multilabel", k=K, w1=W1, **options),
        events,
        truths("multilabel", rng, 30),
    )


PAIRS = [
    (selection, step)
    for selection, steps in SecondOrderLabels.steps_of.items()
    for step in steps
    if (selection, step) != ("prediction", "perceptron")
]
SOME = [("max", "pa2"), ("simproj", "pa1"), ("mira", "pa1"), ("max", "cw")]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize("task", ["classification", "multilabel"])
@pytest.mark.parametrize(
    ("selection", "step", "container"),
    [*((*pair, "dense") for pair in PAIRS), *((*pair, c) for pair in SOME for c in ("csr", "dict"))],
)
def test_labels_equal_the_twin(task, selection, step, container, geometry):
    rng = np.random.default_rng(52)
    more = step in ("pa1", "cw")
    options = {
        "selection": selection,
        "step": step,
        "fit_intercept": more,
        "average": more,
        "C": 0.4,
        **geometry,
    }
    options |= MORE if more else {}
    options |= {"beta": 0.5} if selection == "mira" else {} if step == "cw" else {"margin": 0.7}
    ours, twin = Ours(task, container, K, **options), make("reference", task, k=K, **options)
    events = list(instances(rng, 40, weighted=more, repeats=not ties(options)))
    play(task, ours, twin, events, truths(task, rng, 40), more)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(
    "options",
    [
        {"selection": "max", "step": "pa1", "cost": COST},
        {"selection": "prediction", "step": "pa2", "cost": COST},
        {"selection": "simproj", "step": "pa1", "nu": NU},
        {"selection": "conproj", "step": "pa1", "nu": NU},
    ],
    ids=str,
)
def test_costs_and_weighted_constraints_equal_the_twin(options, geometry):
    rng = np.random.default_rng(53)
    options = {**options, "C": 0.3, **geometry}
    ours, twin = (
        Ours("classification", "dense", K, **options),
        make("reference", "classification", k=K, **options),
    )
    events = list(instances(rng, 30, weighted=True, repeats=not ties(options)))
    play("classification", ours, twin, events, truths("classification", rng, 30))


RANKS = [
    (selection, step)
    for selection in ("max", "simperc", "simproj", "conproj")
    for step in STEPS_OF[selection]
    if step in TASKS["ordinal"].steps
]


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(
    ("selection", "step", "container"),
    [*((*pair, "dense") for pair in RANKS), ("simproj", "pa1", "csr"), ("simproj", "pa2", "dict")],
)
def test_ranks_equal_the_twin(selection, step, container, geometry):
    rng = np.random.default_rng(54)
    more = step == "pa1"
    options = {"selection": selection, "step": step, "average": more, "C": 0.4, "margin": 0.7, **geometry}
    options |= MORE if more else {}
    ours, twin = Ours("ordinal", container, K, **options), make("reference", "ordinal", k=K, **options)
    events = list(instances(rng, 30, weighted=more))
    play("ordinal", ours, twin, events, truths("ordinal", rng, 30), more)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
def test_new_features_equal_the_twin(geometry):
    """They begin with the initial variance, uncorrelated: as if they had always been there."""
    rng = np.random.default_rng(55)
    options = {"step": "pa2", "C": 0.7, "fit_intercept": True, **MORE, **geometry}
    ours, twin = Ours("classification", "dict", **options), make("reference", "classification", **options)
    X = rng.normal(size=(40, WIDTH)) * (np.arange(40)[:, None] >= 10 * np.arange(WIDTH))
    play("classification", ours, twin, [(x, 1.0) for x in X], rng.choice([-1, 1], 40).tolist())


# --- entropy -----------------------------------------------------------------------------------------------

ENTROPY = [
    (task, step, signed, rule)
    for task, step, signed, rule in itertools.product(
        ("classification", "regression", "uniclass"), ("pa", "pa1", "pa2"), (True, False), ("range", "paper")
    )
    if rule == "range" or (step == "pa" and not signed)
]


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize(("task", "step", "signed", "rule"), ENTROPY)
def test_entropy_equals_the_twin(task, step, signed, rule, more, container):
    rng = np.random.default_rng(56)
    options = {
        "step": step,
        "C": 0.2,
        "signed": signed,
        "entropy_step": rule,
        "average": more,
        "geometry": "entropy",
    }
    options |= {"scale": 3.0} if more else {}
    options |= {"radius": 0.4} if task == "uniclass" else {"fit_intercept": more}
    ours, twin = Ours(task, container, **options), make("reference", task, **options)
    events = list(instances(rng, 40, weighted=more, nonnegative=rule == "paper"))
    play(task, ours, twin, events, [target(task, rng) for _ in events], more)


@pytest.mark.parametrize("signed", [True, False])
@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
def test_a_start_on_the_simplex_equals_the_twin(task, signed):
    rng = np.random.default_rng(57)
    p = rng.dirichlet(np.ones(WIDTH))
    options = {
        "w1": 2.0 * (0.7 * p * rng.choice([-1, 1], WIDTH) if signed else p),
        "scale": 2.0,
        "step": "pa1",
    }
    options |= {"geometry": "entropy", "signed": signed, "C": 0.2, "radius": 0.4}
    ours, twin = Ours(task, "dense", **options), make("reference", task, **options)
    events = list(instances(rng, 30, weighted=False))
    play(task, ours, twin, events, [target(task, rng) for _ in events])


@pytest.mark.parametrize("task", ["classification", "multilabel"])
@pytest.mark.parametrize(
    ("selection", "step", "container"),
    [
        *itertools.product(("max", "prediction"), ("pa", "pa1", "pa2"), CONTAINERS),
        *itertools.product(("simperc", "simproj"), ("pa1",), CONTAINERS),
        *itertools.product(("conproj",), ("pa1",), ("dense", "csr")),  # dicts cannot start at a matrix
    ],
)
def test_labels_with_entropy_equal_the_twin(selection, step, task, container):
    rng = np.random.default_rng(58)
    more = step == "pa1"
    options = {
        "selection": selection,
        "step": step,
        "C": 0.1,
        "scale": 4.0,
        "margin": 0.7,
        "fit_intercept": more,
    }
    options |= {"average": more, "geometry": "entropy"}
    if selection == "conproj":  # from the uniform start labels would tie, and rounding decide
        options["w1"] = rng.normal(size=(K, WIDTH)) / 10
    ours, twin = Ours(task, container, K, **options), make("reference", task, k=K, **options)
    events = list(instances(rng, 35, weighted=more, repeats=False))
    play(task, ours, twin, events, truths(task, rng, 35), more)


@pytest.mark.parametrize("sort_thresholds", [False, True])
@pytest.mark.parametrize(
    ("selection", "step", "container"),
    [
        *itertools.product(("max",), ("pa", "pa1", "pa2"), CONTAINERS),
        *itertools.product(("simperc", "simproj", "conproj"), ("pa1",), CONTAINERS),
    ],
)
def test_ranks_with_entropy_equal_the_twin(selection, step, container, sort_thresholds):
    rng = np.random.default_rng(63)
    more = step == "pa1"
    options = {"selection": selection, "step": step, "average": more, "C": 0.1, "scale": 4.0, "margin": 0.3}
    options |= {"geometry": "entropy", "sort_thresholds": sort_thresholds}
    ours, twin = Ours("ordinal", container, K, **options), make("reference", "ordinal", k=K, **options)
    events = list(instances(rng, 30, weighted=more, repeats=False))
    play("ordinal", ours, twin, events, truths("ordinal", rng, 30), more)


@pytest.mark.parametrize("options", [{"cost": COST}, {"selection": "conproj", "nu": NU + 0.1}], ids=str)
def test_costs_and_weighted_constraints_with_entropy_equal_the_twin(options):
    rng = np.random.default_rng(59)
    options = {"step": "pa1", "C": 0.1, "scale": 4.0, "geometry": "entropy", **options}
    options["w1"] = rng.normal(size=(K, WIDTH)) / 10
    ours, twin = (
        Ours("classification", "dense", K, **options),
        make("reference", "classification", k=K, **options),
    )
    events = list(instances(rng, 25, weighted=True, repeats=False))
    play("classification", ours, twin, events, truths("classification", rng, 25))


def test_new_features_on_the_simplex_equal_the_twin():
    """A new feature has the weight of the start, which the others make room for: p+ p- is the same for all of them."""
    rng = np.random.default_rng(60)
    options = {"step": "pa1", "C": 0.3, "scale": 3.0, "geometry": "entropy"}
    ours, twin = Ours("classification", "dict", **options), None
    for n in (1, 2, 4):
        p = None if twin is None else twin.p.reshape(2, -1)
        twin = reference_geometries.EntropyReference("classification", step="pa1", C=0.3, scale=3.0)
        twin.start(np.zeros(n))
        if p is not None:
            begun = np.sqrt(p[0, 0] * p[1, 0])
            whole = np.hstack([p, np.full((2, n - p.shape[1]), begun)])
            twin.p = (whole / whole.sum()).ravel()
            twin.state = twin.weights()
        for _ in range(10):
            x, y = rng.normal(size=n), int(rng.choice([-1, 1]))
            ours.learn(x, y)
            twin.learn(x, y)
            close(ours.state, twin.state, "weights")
    assert ours.statistics.updates > 10


# --- batches -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", ["dense", "csr"])
@pytest.mark.parametrize("geometry", [*GEOMETRIES, {"geometry": "entropy"}], ids=[*NAMES, "entropy"])
@pytest.mark.parametrize("task", ["classification", "regression", "multilabel"])
def test_a_batch_in_a_given_order_equals_the_twin(task, geometry, container):
    rng = np.random.default_rng(61)
    events = list(instances(rng, 60, weighted=True))
    X, weights = np.array([x for x, _ in events]), np.array([w for _, w in events])
    many = task == "multilabel"
    y = truths(task, rng, 60) if many else [target(task, rng) for _ in events]
    options = {"average": True, "C": 0.4, "step": "pa2", "fit_intercept": True, **geometry}
    k = {"k": K} if many else {}
    ours, twin = Ours(task, container, **k, **options), make("reference", task, **k, **options)
    order = rng.permutation(60)[:50]
    ours.learner.learn(ours.rows(X), y, weights, order=order)
    for i in order:
        twin.learn(X[i], y[i], weights[i])
    same(ours, twin, average=True)


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
def test_weights_stay_on_the_simplex_when_all_exponents_fall(task):
    """All exponents fall without end; what is on the simplex stays there. (The twin would lose what underflows.)"""
    rng = np.random.default_rng(62)
    ours = Ours(task, "dense", geometry="entropy", signed=False, step="pa", scale=4.0, radius=0.1)
    for _ in range(400):
        x = 0.05 * rng.random(WIDTH) if task == "uniclass" else 2 * rng.random(WIDTH)
        ours.learn(x, {"classification": -1, "regression": -5.0}.get(task))
        assert (ours.w >= 0).all()
        assert ours.w.sum() == pytest.approx(4.0, rel=1e-9)
    assert ours.statistics.updates == 400


@pytest.mark.parametrize("seed", [185, 12, 18, 87, 85])
def test_the_average_of_large_steps_on_the_simplex_equals_the_twin(seed):
    """Weights go from one corner to another in a step or two; the average remembers where they were."""
    rng = np.random.default_rng(seed)
    options = {"geometry": "entropy", "step": "pa", "scale": 0.13, "average": True}
    ours, twin = Ours("regression", "dense", **options), make("reference", "regression", **options)
    for _ in range(30):
        x, y = rng.normal(size=3) * [0.3, 1, 3], rng.normal()
        ours.learn(x, y)
        twin.learn(x, y)
        close(ours.state, twin.state, "state")
        close(ours.average_w, twin.average_w, "average")
