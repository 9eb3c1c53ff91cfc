"""S21: a batch by cycling through it, within the number of presentations that N03 guarantees."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import strategies as st

from hinge.theory import comparator
from learners import KINDS, HingeLearner, coordinates, make
from reference import batch_conversion
from theorem_streams import ALL, Stream, check, streams


def converted(kind, stream, tolerance, max_updates=100_000):
    """The learner after PA cycled through the set until all squared losses were within the tolerance."""
    if kind == "reference":
        learner, finished = batch_conversion(
            stream.X,
            stream.y,
            tolerance,
            max_updates,
            stream.task,
            fit_intercept=stream.intercept is not None,
            **stream.options,
        )
        assert finished
        return learner
    learner = stream.learner(kind, "pa")
    while learner.learn_all(stream.X, stream.y, tolerance=tolerance):
        assert learner.statistics.rounds <= max_updates
    return learner


def all_rows(stream):
    """The comparator on the whole set: also the first row of uniclass, which is its start."""
    return comparator(
        stream.task,
        stream.X,
        stream.y,
        stream.u,
        intercept=stream.intercept,
        **{
            **stream.options,
            "w1": stream.start()[: len(stream.u)],
            **({} if stream.ball is None else {"radius": stream.ball}),
        },
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_batch_conversion_ends_within_its_bound(kind, task):
    setups = st.tuples(streams(task, "realizable"), st.sampled_from([0.5, 0.1, 0.02]))

    def converts(setup):
        stream, tolerance = setup
        learner = converted(kind, stream, tolerance)
        u = all_rows(stream)
        assert u.loss == 0
        B = 1.0 if task == "uniclass" else u.largest_q
        assert learner.statistics.rounds <= math.floor(B * u.distance2 / tolerance * (1 + 1e-9))

        B = stream.options.get("max_radius")
        last = coordinates(learner, B)
        judge = make("reference", task, fit_intercept=stream.intercept is not None, **stream.options)
        judge.state = last
        losses = [judge.loss(x, None if stream.y is None else stream.y[i]) for i, x in enumerate(stream.X)]
        assert max(losses) <= math.sqrt(tolerance) * (1 + 1e-9)
        assert np.linalg.norm(last - stream.start()) <= 2 * math.sqrt(u.distance2) * (1 + 1e-9) + 1e-12

    check(kind, setups, converts)


@pytest.mark.parametrize("kind", KINDS)
def test_orthogonal_instances_reach_the_bound_on_presentations(kind):
    """Orthogonal instances: floor(4/0.999) = 4."""
    stream = Stream("classification", np.eye(4), np.ones(4), np.ones(4))
    assert converted(kind, stream, 0.999).statistics.rounds == 4 == math.floor(4 / 0.999)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("tolerance", "presentations"), [(0.25, 0), (0.2499, 1)])
def test_the_squared_loss_must_exceed_the_tolerance(kind, tolerance, presentations):
    """y w.x = 0.5: a loss of 0.5."""
    stream = Stream("classification", np.ones((1, 1)), np.ones(1), np.ones(1), {"w1": np.array([0.5])})
    assert converted(kind, stream, tolerance).statistics.rounds == presentations


@pytest.mark.parametrize("task", ALL)
def test_batch_conversion_equals_the_reference(task):
    def agrees(stream):
        ours, theirs = (converted(kind, stream, 0.05) for kind in ("learner", "reference"))
        assert ours.statistics.rounds == theirs.statistics.rounds
        np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-9, atol=1e-12)

    check("learner", streams(task, "realizable"), agrees)


CONTRADICTION = Stream("classification", np.ones((2, 1)), np.array([1.0, -1.0]), np.ones(1))


def test_batch_conversion_of_contradictions_stops_at_max_updates():
    learner, finished = batch_conversion(CONTRADICTION.X, CONTRADICTION.y, 0.1, max_updates=7)
    assert not finished
    assert learner.statistics.rounds == learner.statistics.updates == 7


def test_the_learner_stops_at_max_updates():
    learner = CONTRADICTION.learner("learner", "pa")
    assert isinstance(learner, HingeLearner)
    X, y = np.ones((6, 1)), np.resize([1.0, -1.0], 6)
    assert learner.learn_all(X, y, tolerance=0.1, max_updates=4) == 4
    assert learner.statistics.rounds == learner.statistics.updates == 4
    assert learner.w == pytest.approx([-1.0])
