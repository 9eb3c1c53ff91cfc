"""Each closed form against a generic solver of its own problem (S2, S6, S7), written down literally.

PA     min 1/2|v-w|^2                s.t. v in K
PA-I   min 1/2|v-w|^2 + C xi         s.t. v in K enlarged by xi, xi >= 0
PA-II  min 1/2|v-w|^2 + C xi^2       s.t. v in K enlarged by xi
"""

from __future__ import annotations

import numpy as np
import pytest

from learners import KINDS, coordinates, make, play
from solvers import Problem

MARGIN, EPSILON, RADIUS, MAX_RADIUS = 1.5, 0.3, 0.8, 2.0
OPTIONS = {"margin": MARGIN, "epsilon": EPSILON, "radius": RADIUS}


def room(task, v, z, y):
    """By how much v is inside of K: each number must be >= 0, or >= -xi."""
    if task == "classification":  # y v.z >= margin
        return np.array([y * (v @ z) - MARGIN])
    if task == "regression":  # |y - v.z| <= epsilon
        return np.array([EPSILON - (y - v @ z), EPSILON + (y - v @ z)])
    if task == "uniclass":  # |z - v| <= radius
        return np.array([RADIUS - np.linalg.norm(z - v)])
    return np.array([MAX_RADIUS - np.linalg.norm(z - v)])  # the same one dimension up


def room_gradient(task, v, z, y):
    """One row for each number of `room`."""
    if task == "classification":
        return np.array([y * z])
    if task == "regression":
        return np.array([z, -z])
    return np.array([(z - v) / np.linalg.norm(z - v)])


def problem_of(task, step, w, z, y, C):
    nu = np.ones(len(room(task, w, z, y)))
    return Problem(step, w, C, lambda v: room(task, v, z, y), lambda v: room_gradient(task, v, z, y), nu)


def example(task, rng, n):
    x = rng.normal(size=n) * rng.choice([0.3, 1.0, 2.0])
    if task == "classification":
        return x, int(rng.choice([-1, 1]))
    if task == "regression":
        return x, rng.normal() * 2
    return x, None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize(
    ("task", "fit_intercept"),
    [
        ("classification", False),
        ("classification", True),
        ("regression", False),
        ("regression", True),
        ("uniclass", False),
        ("learned radius", False),
    ],
)
def test_the_step_solves_its_problem(kind, task, step, fit_intercept):
    name = "uniclass" if task == "learned radius" else task
    max_radius = MAX_RADIUS if task == "learned radius" else None
    rng = np.random.default_rng(7)
    moved = capped = 0
    for _ in range(30):
        n = int(rng.integers(1, 4))
        C = float(rng.choice([0.1, 0.5, 2.0]))
        weight = float(rng.choice([0.5, 1.0, 3.0]))
        learner = make(
            kind,
            name,
            step=step,
            C=C,
            fit_intercept=fit_intercept,
            intercept_value=1.0,
            max_radius=max_radius,
            w1=rng.normal(size=n),
            **OPTIONS,
        )
        for _ in range(rng.integers(1, 4)):  # to some state
            learner.learn(*example(task, rng, n))
        w = coordinates(learner, max_radius)
        x, y = example(task, rng, n)
        z = np.append(x, 1.0) if fit_intercept else np.append(x, 0.0) if max_radius else x

        learner.learn(x, y, weight)
        v = coordinates(learner, max_radius)
        problem = problem_of(task, step, w, z, y, C * weight)
        problem.check(v, atol=1e-5)
        moved += not np.array_equal(v, w)
        capped += problem.slack(v) > 1e-6
    assert 10 <= moved <= 29  # the passive rounds are in the sample too
    assert (capped == 0) if step == "pa" else (capped >= 5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
def test_an_infinite_C_equals_pa(kind, task):
    rng = np.random.default_rng(3)
    stream = [example(task, rng, 3) for _ in range(20)]
    learners = [
        make(kind, task, step=step, C=C, **OPTIONS)
        for step, C in [("pa", 0.01), ("pa1", np.inf), ("pa2", np.inf)]
    ]
    for x, y in stream:
        for learner in learners:
            learner.learn(x, y)
        for learner in learners[1:]:
            assert np.array_equal(learner.w, learners[0].w)
    assert learners[0].statistics.updates > 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ["classification", "regression"])
def test_pa2_equals_pa_with_one_more_coordinate_per_round(kind, task):
    """S2 (A05): of the value sqrt(1/(2C))."""
    rng, C, rounds = np.random.default_rng(5), 0.7, 15
    examples = [example(task, rng, 3) for _ in range(rounds)]
    X, y = np.array([x for x, _ in examples]), np.array([y for _, y in examples])
    relaxed = make(kind, task, step="pa2", C=C, **OPTIONS)
    hard = make(kind, task, step="pa", **OPTIONS)
    play(relaxed, X, y)
    play(hard, np.hstack([X, np.sqrt(1 / (2 * C)) * np.eye(rounds)]), y)
    np.testing.assert_allclose(relaxed.w, hard.w[:3], rtol=1e-12)
    assert relaxed.statistics.updates > 3


@pytest.mark.parametrize("kind", KINDS)
def test_a_learned_radius_equals_a_fixed_one_with_one_more_coordinate(kind):
    """S7 (A06): and it starts at 0, never shrinks, stays below B, and decides when there is a loss."""
    rng = np.random.default_rng(11)
    for step in ("pa", "pa1", "pa2"):
        learned = make(kind, "uniclass", step=step, C=0.4, max_radius=MAX_RADIUS, w1="zero")
        fixed = make(kind, "uniclass", step=step, C=0.4, radius=MAX_RADIUS, w1=[0.0, 0.0, MAX_RADIUS])
        before = 0.0
        for _ in range(30):
            x = rng.normal(size=2) * 2
            updates = learned.statistics.updates
            centre = learned.w if learned.statistics.rounds else np.zeros(2)
            learned.learn(x)
            fixed.learn(np.append(x, 0.0))
            assert learned.statistics.updates - updates == (np.linalg.norm(x - centre) > before)
            np.testing.assert_allclose(coordinates(learned, MAX_RADIUS), fixed.w, rtol=1e-9, atol=1e-12)
            assert before <= learned.radius <= MAX_RADIUS
            before = learned.radius
        assert before > 0
