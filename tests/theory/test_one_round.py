"""What the papers say of a single round, on random streams: when it changes nothing, and how far it goes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from learners import KINDS, coordinates, make, play
from reference import TINY
from theorem_streams import ALL, check, streams

TASK_STEPS = [(task, step) for task in ALL for step in ("pa", "pa1", "pa2")]
TASK_STEPS += [("classification", "perceptron")]


def rounds_of(kind, stream, step, C, weight=1.0):
    """For each round: the learner's coordinates before and after it, its loss and its q."""
    learner = stream.learner(kind, step, C)
    B = stream.options.get("max_radius")
    before, loss, rounds = stream.start(), 0.0, 0
    for i, x in enumerate(stream.X):
        y = None if stream.y is None else stream.y[i]
        if learner.statistics.rounds:
            before = coordinates(learner, B)
        learner.learn(x, y, weight)
        after, s = coordinates(learner, B), learner.statistics
        if s.rounds > rounds:
            q = 1.0 if stream.task == "uniclass" else x @ x + stream.constant**2
            yield x, y, before, after, s.loss - loss, q
        loss, rounds = s.loss, s.rounds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "step"), TASK_STEPS)
def test_without_loss_nothing_changes(kind, task, step):
    def passive(stream):
        learner = stream.learner(kind, step)
        play(learner, stream.X, stream.y)
        judge = make("reference", task, fit_intercept=stream.intercept is not None, **stream.options)
        for i, x in enumerate(stream.X):
            y = None if stream.y is None else stream.y[i]
            judge.state = coordinates(learner, stream.options.get("max_radius"))
            w, intercept, radius, s = learner.w.copy(), learner.intercept, learner.radius, learner.statistics
            loss, updates, rounds = s.loss, s.updates, s.rounds
            learner.learn(x, y)
            s = learner.statistics
            assert s.rounds == rounds + 1
            if judge.discrepancy(x, y)[0] < judge.eps - 1e-9:
                assert learner.w.tobytes() == w.tobytes()
                assert (learner.intercept, learner.radius) == (intercept, radius)
                assert (s.loss, s.updates) == (loss, updates)

    check(kind, streams(task) | streams(task, "realizable"), passive)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("task", ALL)
def test_a_loss_of_exactly_zero_changes_nothing(kind, task, step):
    """On the boundary: y w.x = margin, |y - w.x| = epsilon, |x - w| = radius."""
    options, x, y = {
        "classification": ({"margin": 2.0}, [0.0, 4.0], 1),
        "regression": ({"epsilon": 0.5}, [1.0, 0.0], 1.5),
        "uniclass": ({"radius": 1.25}, [1.75, 1.5], None),
    }[task]
    learner = make(kind, task, step=step, w1=np.array([1.0, 0.5]), **options)
    for _ in range(2):
        learner.learn(np.array(x), y)
    s = learner.statistics
    assert (s.rounds, s.mistakes, s.updates, s.loss, s.progress) == (2, 0, 0, 0.0, 0.0)
    assert learner.w.tolist() == [1.0, 0.5]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_pa_has_no_loss_afterwards(kind, task):
    def aggressive(stream):
        judge = make("reference", task, fit_intercept=stream.intercept is not None, **stream.options)
        for x, y, _, after, _, q in rounds_of(kind, stream, "pa", 1.0):
            judge.state = after
            size = max(1.0, np.linalg.norm(after) * math.sqrt(x @ x + 1))
            assert judge.loss(x, y) <= 1e-12 * size or q <= TINY

    check(kind, streams(task), aggressive)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_pa1_never_steps_further_than_C_times_the_weight(kind, task):
    setups = st.tuples(streams(task), st.sampled_from([0.05, 0.5]), st.sampled_from([0.5, 1.0, 4.0]))

    def capped(setup):
        stream, C, weight = setup
        for _, _, before, after, loss, q in rounds_of(kind, stream, "pa1", C, weight):
            length = np.linalg.norm(after - before)
            assert length <= C * weight * math.sqrt(q) * (1 + 1e-9) + 1e-12
            if q > TINY:  # and it is that long, or ends without loss
                full = min(C * weight * math.sqrt(q), loss / math.sqrt(q))
                np.testing.assert_allclose(length, full, atol=1e-9)

    check(kind, setups, capped)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "step"), TASK_STEPS)
def test_an_example_of_weight_zero_is_not_a_round(kind, task, step):
    def ignored(stream):
        learner, other = stream.learner(kind, step), stream.learner(kind, step)
        for i, x in enumerate(stream.X):
            y = None if stream.y is None else stream.y[i]
            learner.learn(x[::-1] + 1.0, y, 0.0)  # first of all, too: it must not become the centre
            learner.learn(x, y)
            learner.learn(x, y, 0.0)
            other.learn(x, y)
            assert np.array(learner.w).tobytes() == np.array(other.w).tobytes()
            assert (learner.intercept, learner.radius) == (other.intercept, other.radius)
            for name in ("rounds", "mistakes", "updates", "loss", "squared_loss", "largest_q", "progress"):
                assert getattr(learner.statistics, name) == getattr(other.statistics, name), name

    check(kind, streams(task), ignored)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_an_instance_without_size_changes_nothing_and_is_counted(kind, step):
    learner = make(kind, "classification", step=step)
    for x in ([0.0, 0.0], [1e-160, 1e-160]):  # the second one's square is below the smallest normal number
        learner.learn(np.array(x), 1)
    s = learner.statistics
    assert (s.rounds, s.mistakes, s.updates, s.loss, s.squared_loss, s.progress) == (2, 2, 0, 2.0, 2.0, 0.0)
    assert not np.any(learner.w)
