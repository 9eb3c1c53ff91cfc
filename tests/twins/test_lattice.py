"""The lattice of every C (theory: T1.1) against explicit lanes, bit by bit, and its vote against that of all lanes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from hinge import Learner
from hinge.model.experts import plain_learner
from reference_committee import Committee, Task

LANES = range(-40, 41)
COUNTS = ("rounds", "mistakes", "updates", "capped")


def stream(classes, seed, *, columns=6, decades=0, weighted=False, count=250):
    """Noisy labels, norms that change by 10^(2 * decades), zero instances, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, columns)) * 10.0 ** rng.uniform(-decades, decades, size=(count, 1))
    X[1:][rng.random(count - 1) < 0.05] = 0
    y = (X @ rng.normal(size=(columns, classes))).argmax(axis=1)
    noisy = rng.random(count) < 0.15
    y[noisy] = rng.integers(0, classes, noisy.sum())
    weights = rng.choice([0.0, 0.25, 0.3, 1.0, 3.7], size=count) if weighted else np.ones(count)
    weights[0] = 1.0
    return X, y, weights


def first_C(learner):
    """C of lane 0."""
    lane = next(e for e in learner.experts if e.name.removeprefix("scaled:").startswith("pa1:"))
    return lane.parameter / 4.0 ** int(lane.name.split(":")[-1])


def place_of(learner, C):
    """The expert that stands for C, and by what its weights are multiplied."""
    held = [e.parameter for e in learner.experts]
    if C in held and np.isfinite(C):
        return held.index(C), 1.0
    if held[-2] < C:
        return len(held) - 1, 1.0
    return 0, C / held[0]


def assert_every_lane_is_exact(learner, plain):
    """`plain(C)`: a plain learner with that C, after the same rounds."""
    assert len(learner.experts) < 18, "a full lattice is not exact"
    c0 = first_C(learner)
    for j in LANES:
        C = c0 * 4.0**j
        place, factor = place_of(learner, C)
        ours, theirs = plain_learner(learner, place), plain(C)
        assert (factor * ours.weights == theirs.weights).all(), j
        assert (factor * np.asarray(ours.intercept) == theirs.intercept).all(), j
        for name in COUNTS:
            assert getattr(ours.statistics, name) == getattr(theirs.statistics, name), (j, name)
        if factor != 1:
            continue
        ours, theirs = ours.statistics, theirs.statistics
        if np.isfinite(learner.experts[place].parameter):  # `weighted` may count too much, never too little
            assert ours.weighted >= theirs.weighted, j
        ours, theirs = (dataclasses.astuple(each)[:-1] for each in (ours, theirs))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9 * max(map(abs, theirs)))


# The order in which products are added differs between learners with one lane and committees: up to three features it
# is the same.
@pytest.mark.parametrize(
    ("classes", "columns"), [(2, 1), (2, 2), (2, 3), (3, 6), (5, 9)], ids=lambda value: str(value)
)
@pytest.mark.parametrize("decades", [0, 3])
@pytest.mark.parametrize("margin", [1.0, 0.3, 2.5])
def test_every_lane_equals_a_plain_learner(classes, columns, decades, margin):
    seen = set()
    for seed in range(8):
        options = {"classes": list(range(classes)), "margin": margin, "fit_intercept": seed % 2 == 0}
        X, y, weights = stream(classes, seed, columns=columns, decades=decades, weighted=seed % 4 > 1)
        learner = Learner("classification", C="auto", **options)
        learner.learn(X, y, weights)
        if len(learner.experts) == 18:
            continue
        options["intercept_value"] = learner.experts[0].constant or 1.0

        def plain(C, options=options, X=X, y=y, weights=weights):
            its = Learner("classification", step="pa1", C=C, **options)
            its.learn(X, y, weights)
            return its

        assert_every_lane_is_exact(learner, plain)
        seen.add(len(learner.experts))
    assert max(seen) >= 6


@pytest.mark.parametrize("scaling", [False, True])
@pytest.mark.parametrize("decades", [0, 2])
def test_two_classes_equal_a_list_of_lanes(decades, scaling):
    """With many features, against committees of explicit lanes, of which at most 64 are allowed."""
    word = "scaled:" if scaling else ""
    for seed in range(3):
        X, y, weights = stream(2, seed, columns=11, decades=decades, weighted=True)
        learner = Learner("classification", experts=[f"{word}lattice"])
        learner.learn(X, y, weights)
        assert len(learner.experts) < 18
        lists = [
            Learner("classification", experts=[f"{word}pa1:{j}" for j in some])
            for some in (LANES[:40], LANES[40:])
        ]
        for each in lists:
            each.learn(X, y, weights)
        width = learner.n_features + 1
        ours = learner.to_parts()[1]["experts"].reshape(width, -1)
        theirs = np.hstack([each.to_parts()[1]["experts"].reshape(width, -1) for each in lists])
        for j in LANES:
            C = first_C(learner) * 4.0**j
            place, _ = place_of(learner, C)
            factor = C if place == 0 else 1.0  # the bottom holds w/C
            assert (factor * ours[:, place] == theirs[:, j - LANES[0]]).all(), j


@pytest.mark.parametrize("decades", [0, 2])
@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_lanes_of_regression_equal_plain_learners(epsilon, decades):
    births = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, _, weights = stream(2, seed, columns=3, decades=decades, weighted=seed % 2 == 1)
        y = X @ rng.normal(size=3) + rng.normal(size=len(X)) * 10.0 ** rng.uniform(-1, 2, size=len(X))
        learner = Learner("regression", C="auto", epsilon=epsilon)
        learner.learn(X, y, weights)
        experts = learner.experts
        assert [e.name for e in experts][:9] == [f"pa1:{j}" for j in range(-8, 1)]
        births += len(experts) - 10
        if len(experts) == 17:
            continue
        for j in range(-8, 41):
            place, factor = place_of(learner, first_C(learner) * 4.0**j)
            assert factor == 1
            its = Learner(
                "regression",
                C=first_C(learner) * 4.0**j,
                step="pa1",
                epsilon=epsilon,
                intercept_value=experts[0].constant,
            )
            its.learn(X, y, weights)
            ours = plain_learner(learner, place)
            assert (ours.weights == its.weights).all(), j
            assert ours.intercept == its.intercept
            assert ours.statistics.capped == its.statistics.capped
    assert births > 3


def explicit_prior(numbers):
    """Of lanes -40 to 39 and the top, which stands for the others; numbers: of -8 to 39."""
    if numbers:
        above = [0.1 / 2**j for j in range(1, 40)]
        return [0.1] * 9 + above + [0.1 / 2**39]
    below = [0.5 / (-j * (1 - j)) for j in range(-39, 0)]
    above = [0.5 / ((j + 1) * (j + 2)) for j in range(40)]
    return [0.5 - sum(below), *below, *above, 0.5 - sum(above)]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("kind", "lanes"), [("signs", 1), ("labels", 3), ("numbers", 1)])
def test_vote_equals_that_of_the_infinite_bank(kind, lanes, weighted):
    """Its priors and weights are the sums of those of the lanes for which a lane stands."""
    for seed in range(3):
        X, y, weights = stream(max(2, lanes), seed, weighted=weighted, decades=0.3, count=150)
        names = list(range(-8 if kind == "numbers" else -40, 40))
        twin = Committee(
            Task(kind, lanes),
            [*(f"pa1:{j}" for j in names), "pa"],
            X.shape[1],
            prior=explicit_prior(kind == "numbers"),
        )
        options = {} if kind == "numbers" else {"classes": list(range(max(2, lanes)))}
        learner = Learner("regression" if kind == "numbers" else "classification", C="auto", **options)
        for x, label, weight in zip(X, y.tolist(), weights.tolist(), strict=True):
            truth = float(3 * x[0] + label) if kind == "numbers" else label
            learner.learn(x[None], [truth], [weight])
            twin.learn(x, 2 * label - 1 if kind == "signs" else truth, weight)
        experts, priors = learner.experts, dict(zip([*names, 40], twin.vote.prior, strict=True))
        votes = dict(zip([*names, 40], twin.vote.weights, strict=True))
        held = [int(e.name.split(":")[1]) for e in experts if e.name.startswith("pa1:")]
        groups = [[j] for j in held] + [[j for j in priors if j > held[-1]]]
        if kind != "numbers":
            groups = [[j for j in priors if j < held[0]], *groups]
        for expert, group in zip(experts, groups, strict=True):
            assert expert.prior == pytest.approx(sum(priors[j] for j in group), rel=1e-9)
            assert expert.weight == pytest.approx(sum(votes[j] for j in group), rel=1e-7)


def test_a_full_lattice_bears_no_more():
    X, y, weights = stream(2, 0, decades=3)
    learner = Learner("classification", C="auto")
    learner.learn(X, y, weights)
    assert len(learner.experts) == 18
    learner.learn(X * 1e5, y)
    learner.learn(X * 1e-5, y)
    assert len(learner.experts) == 18
    assert np.isfinite(learner.scores(X)).all()


def test_max_weights_stops_births():
    """Lanes that there is no room for are not born; the stream is learned nevertheless."""
    X, y, weights = stream(2, 0, decades=2)
    bytes_of_three_lanes = (X.shape[1] + 1) * 8 * 8
    learner = Learner("classification", C="auto", max_weights=bytes_of_three_lanes)
    learner.learn(X, y, weights)
    plentiful = Learner("classification", C="auto")
    plentiful.learn(X, y, weights)
    assert 2 <= len(learner.experts) < len(plentiful.experts)
    assert learner.to_parts()[1]["experts"].nbytes <= bytes_of_three_lanes
    resumed = Learner.from_bytes(learner.to_bytes())
    resumed.learn(X, y), learner.learn(X, y)
    assert resumed.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize("average", [False, True])
def test_births_and_labels_in_any_order(average):
    """A third label after births, and births after it: as plain learners with the same labels."""
    X, y, _ = stream(4, 3, columns=3, decades=1, count=300)
    y[:80] %= 2
    learner = Learner("classification", C="auto", average=average)
    for i in range(0, 300, 20):
        learner.learn(X[i : i + 20], y[i : i + 20])
    members = [e for e in learner.experts if not e.averaged]
    assert len(members) < 18
    for place, expert in enumerate(members):
        if expert.name == "lattice:bottom":
            continue
        options = {k: v for k, v in expert.options.items() if k != "scaling"}
        theirs = Learner("classification", **options, intercept_value=expert.constant)
        theirs.learn(X[:80], y[:80]), theirs.learn(X[80:], y[80:])
        assert (plain_learner(learner, place).weights == theirs.weights).all(), expert.name
