"""hinge.Learner against its slow twin, weight by weight, after every event."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from learners import CONTAINERS, make
from reference import Reference

FIELDS = ("rounds", "mistakes", "updates", "loss", "squared_loss", "largest_q", "progress", "cost")
COUNTS = ("rounds", "mistakes", "updates")

LINEAR = [
    (task, step, {"fit_intercept": fit_intercept, **options})
    for task, steps, settings in [
        ("classification", ("pa", "pa1", "pa2", "perceptron"), [{}, {"margin": 0.4}]),
        ("regression", ("pa", "pa1", "pa2"), [{}, {"epsilon": 0.0}]),
    ]
    for step, fit_intercept, options in itertools.product(steps, (False, True), settings)
]
BALLS = [
    ("uniclass", step, options)
    for step in ("pa", "pa1", "pa2")
    for options in (
        {"radius": 0.9},
        {"radius": 0.9, "w1": "zero"},
        {"radius": 0.0},
        {"max_radius": 2.5},
        {"max_radius": 2.5, "w1": "zero"},
        {"max_radius": 2.5, "w1": "array"},
    )
]
STARTED = [
    ("classification", "pa1", {"fit_intercept": True, "w1": "array"}),
    ("regression", "pa2", {"fit_intercept": False, "w1": "array"}),
    ("uniclass", "pa1", {"radius": 0.9, "w1": "array"}),
]
CASES = [
    pytest.param(*case, id=" ".join([*case[:2], *(f"{name}={value}" for name, value in case[2].items())]))
    for case in LINEAR + BALLS + STARTED
]
WIDTH = 6


def stream(task, rng, events, weighted):
    """Sparse rows of mixed sizes, with zero rows, repeated directions and, if weighted, zero weights.

    No row is repeated as it was: after a step of PA it would be just on the boundary, where rounding decides.
    """
    row = np.zeros(WIDTH)
    for t in range(events):
        if t % 7 == 3:
            row = 1.3 * row
        else:
            row = np.where(rng.random(WIDTH) < 0.6, rng.normal(size=WIDTH) * rng.choice([0.2, 1.0, 3.0]), 0.0)
        x = np.zeros(WIDTH) if t % 9 == 5 else row
        label, target = int(rng.choice([-1, 1])), 2 * rng.normal()
        y = {"classification": label, "regression": target, "uniclass": None}[task]
        yield x, y, float(rng.choice([0.0, 0.3, 1.0, 2.5])) if weighted else 1.0


def close(ours, theirs, what):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12, err_msg=what)


def same_state(ours, theirs, average):
    close(ours.w, theirs.w, "w")
    close(ours.intercept, theirs.intercept, "intercept")
    if average:
        close(ours.average_w, theirs.average_w, "average of w")
        close(ours.average_intercept, theirs.average_intercept, "average of the intercept")
    if theirs.task == "uniclass":
        close(ours.radius, theirs.average_radius if average else theirs.radius, "radius")


def same_statistics(ours, theirs):
    for name in FIELDS:
        if name in COUNTS:
            assert getattr(ours.statistics, name) == getattr(theirs.statistics, name), name
        else:
            close(getattr(ours.statistics, name), getattr(theirs.statistics, name), name)


def expected_score(twin, x, average):
    w = twin.average_w if average else twin.w
    if twin.task == "uniclass":
        return (twin.average_radius if average else twin.radius) - np.linalg.norm(x - w)
    return w @ x + (twin.average_intercept if average else twin.intercept)


def given(options, rng):
    return {**options, "w1": rng.normal(size=WIDTH)} if options.get("w1") == "array" else options


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("task", "step", "options"), CASES)
def test_learner_equals_the_twin_after_every_event(task, step, options, average, weighted, container):
    rng = np.random.default_rng(20)
    options = given(options, rng)
    ours = make(container, task, step=step, C=0.7, average=average, **options)
    twin = Reference(task, step=step, C=0.7, average=average, **options)
    for x, y, weight in stream(task, rng, 40, weighted):
        if twin.state is not None:
            close(ours.score(x), expected_score(twin, x, average), "score")
        ours.learn(x, y, weight)
        twin.learn(x, y, weight)
        same_statistics(ours, twin)
        if twin.state is not None:
            same_state(ours, twin, average)
    assert twin.statistics.updates >= 5


@pytest.mark.parametrize("container", ["dense", "csr"])
@pytest.mark.parametrize(("task", "step", "options"), CASES)
def test_learner_equals_the_twin_after_a_batch_in_a_given_order(task, step, options, container):
    rng = np.random.default_rng(21)
    options = given(options, rng)
    ours = make(container, task, step=step, C=0.7, average=True, **options)
    twin = Reference(task, step=step, C=0.7, average=True, **options)
    events = list(stream(task, rng, 30, weighted=True))
    X = np.array([x for x, _, _ in events])
    y = None if task == "uniclass" else np.array([y for _, y, _ in events])
    weights = np.array([weight for _, _, weight in events])
    order = rng.permutation(len(events))
    ours.learn_all(X, y, sample_weight=weights, order=order)
    for i in order:
        twin.learn(*events[i])
    same_statistics(ours, twin)
    same_state(ours, twin, average=True)


@pytest.mark.parametrize("container", ["dense", "csr"])
@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("classification", {}),
        ("regression", {}),
        ("uniclass", {"radius": 1.0}),
        ("uniclass", {"radius": 0.1}),
        ("uniclass", {"max_radius": 3.0}),
    ],
)
def test_the_average_of_a_long_stream_equals_the_twin(task, options, container):
    """The centre forgets where it was, fast if the radius is small; its average must not."""
    rng = np.random.default_rng(23)
    ours = make(container, task, step="pa", average=True, **options)
    twin = Reference(task, step="pa", average=True, **options)
    events = list(stream(task, rng, 400, weighted=False))
    y = None if task == "uniclass" else np.array([y for _, y, _ in events])
    ours.learn_all(np.array([x for x, _, _ in events]), y)
    for event in events:
        twin.learn(*event)
    same_statistics(ours, twin)
    same_state(ours, twin, average=True)


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_centre_far_from_the_origin_equals_the_twin(container):
    """The distances are small differences of large numbers."""
    rng = np.random.default_rng(22)
    options = {"step": "pa", "radius": 0.5}
    ours, twin = make(container, "uniclass", **options), Reference("uniclass", **options)
    far = np.array([1e4, -2e4, 0.0, 3e4, 0.0, 1e4])
    for _ in range(40):
        x = far + np.where(far != 0, rng.normal(size=WIDTH), 0.0)
        ours.learn(x)
        twin.learn(x)
        assert ours.statistics.updates == twin.statistics.updates
        close(ours.w, twin.w, "w")
        close(ours.statistics.loss, twin.statistics.loss, "loss")


@pytest.mark.parametrize("container", CONTAINERS)
def test_the_centre_itself_has_no_loss(container):
    """S7: also with the radius 0, where any rounding of |x - w| would be a loss."""
    ours = make(container, "uniclass", step="pa", radius=0.0)
    x, z = np.array([0.1, 0.0, 0.3, 0.0, 0.7, 0.0]), np.array([0.0, 0.2, 0.3, 0.1, 0.0, 0.9])
    for row in (x, z, x):
        ours.learn(row)
        np.testing.assert_array_equal(ours.w, row)
        updates = ours.statistics.updates
        ours.learn(row)
        assert ours.statistics.updates == updates
