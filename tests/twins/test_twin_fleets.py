"""Fleets with shared and personal weights against their slow twin, after every event."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from fleets import GEOMETRIES, assert_same_learner, state
from hinge import Fleet, Learner
from reference_fleets import SharedFleet

KEYS = ["ann", "bob", 7]
NAMES = ["a", "b", 3, "c=d", "e"]
TASKS = [("regression", None), ("classification", ["p", "q"]), ("classification", ["r", 2, "p", "q"])]
COUNTS = ("rounds", "mistakes", "updates")
SUMS = ("loss", "squared_loss", "progress", "cost")


def stream(count, seed, labels, keys=KEYS):
    """No instance comes twice as it was: it would be just on the boundary, where rounding decides."""
    rng = np.random.default_rng(seed)
    for t in range(count):
        chosen = rng.permutation(len(NAMES))[: rng.integers(0 if t else 1, len(NAMES) + 1)]
        x = {NAMES[j]: float(rng.normal() * rng.choice([0.2, 1.0, 3.0])) for j in chosen}
        y = float(2 * rng.normal()) if labels is None else labels[rng.integers(0, len(labels))]
        yield keys[rng.integers(0, len(keys))], x, y, float(rng.choice([0.0, 0.4, 1.0, 1.0, 2.5]))


def cases():
    steps = ("pa", "pa1", "pa2", "perceptron")
    settings = (
        {},
        {"average": True, "personal": 1.5, "C": 0.2},
        {"average": 9, "fit_intercept": False, "personal": 0.25},
        {"intercept_value": 0.5, "C": 5.0},
    )
    for (task, labels), step, geometry in itertools.product(TASKS, steps, GEOMETRIES):
        if task == "regression" and step == "perceptron":
            continue
        kind = "numbers" if labels is None else f"{len(labels)} labels"
        yield pytest.param(task, labels, {"step": step, **geometry}, settings, id=f"{kind} {step} {geometry}")


def close(ours, theirs, what, tolerance=1e-9):
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=1e-11, err_msg=what)


def shown(names, weights, wanted, rows):
    """The weights by name in the order of `wanted`; 0 where there is none."""
    found = np.zeros((rows, len(wanted)))
    for name, its in zip(names, weights, strict=True):
        found[:, wanted.index(name)] = its[:rows]
    return found


def same_weights(fleet, twin, key, expected):
    """The weights of a key (None: those that all share), and of the constant feature."""
    names, weights, biases = fleet._core.weights(key)
    rows = len(expected)
    n = len(twin.names)
    close(shown(names, weights, twin.names, rows), expected[:, :n], f"weights of {key!r}")
    if twin.fit_intercept:
        close(np.asarray(biases)[:rows], twin.constant * expected[:, -1], f"intercept of {key!r}")


def same_statistics(ours, theirs):
    for name in COUNTS:
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in SUMS:
        close(getattr(ours, name), getattr(theirs, name), name)
    close(ours.largest_q, theirs.largest_q, "largest_q")


def scores_of(fleet, key, x):
    score = fleet.score_one(key, x)
    return list(score.values()) if isinstance(score, dict) else [score]


@pytest.mark.parametrize(("task", "labels", "rule", "settings"), list(cases()))
def test_fleet_equals_its_twin_after_every_event(task, labels, rule, settings):
    for seed, setting in enumerate(settings):
        options = {**rule, **setting}
        classes = {} if labels is None else {"classes": labels}
        fleet = Fleet(task, **options, **classes)
        twin = SharedFleet(NAMES, KEYS, labels=labels, **{"C": 1.0, **options})
        if labels is None:
            assert fleet.parameters["epsilon"] == 0.1
        for key, x, y, weight in stream(40, seed, labels):
            if twin.constant is not None or not twin.fit_intercept:
                for each in (key, "nobody"):
                    close(scores_of(fleet, each, x), twin.scores(each, x), "scores")
            fleet.learn_one(key, x, y, weight)
            twin.learn(key, x, y, weight)
            if twin.twin.state is None:
                continue
            same_statistics(fleet.statistics, twin.twin.statistics)
            same_weights(fleet, twin, None, twin.shared())
            for each in fleet:
                same_weights(fleet, twin, each, twin.of(each))
                counted = fleet[each].statistics
                assert (counted.rounds, counted.mistakes) == twin.of_key[each]
        assert set(fleet) == set(twin.of_key)


# ---- the same with a learner of long instances, which meets labels when they appear -----------------------------


def long(key, x, personal, constant):
    found = {}
    for name, value in [*x.items(), *([("(constant)", constant)] if constant else [])]:
        found[f"{name!r}"] = value
        found[f"{name!r} of {key!r}"] = personal * value
    return found


@pytest.mark.parametrize(
    "labels",
    [["b", "a"], ["b", "a", "d", "c"], [True, False], [3, "x", 1], ["only"]],
    ids=repr,
)
@pytest.mark.parametrize("average", [False, True, 6])
@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
def test_labels_that_appear_in_the_stream(labels, average, geometry):
    personal, constant = 0.7, 0.5
    options = {"average": average, "geometry": geometry, "C": 0.5}
    fleet = Fleet("classification", personal=personal, intercept_value=constant, **options)
    learner = Learner("classification", fit_intercept=False, **options)
    for t, (key, x, y, weight) in enumerate(stream(90, len(labels), labels)):
        if t < 10 * labels.index(y):
            y = labels[0]
        for each in (key, "nobody"):
            theirs = learner.score_one(long(each, x, personal, constant))
            theirs = list(theirs.values()) if isinstance(theirs, dict) else [theirs]
            close(scores_of(fleet, each, x), theirs, f"scores at {t}", 1e-8)
        predicted = learner.predict_one(long(key, x, personal, constant))
        assert fleet.round_one(key, x, y, weight) == predicted
        learner.learn_one(long(key, x, personal, constant), y, weight)
        ours, theirs = fleet.statistics, learner.statistics
        same_statistics(ours, theirs)
        assert fleet.labels == [
            label for label in dict.fromkeys(fleet.labels) if label in learner.labels.known
        ]
        for each in fleet:
            assert fleet[each].labels == learner.labels.known
    for part, of in ((None, ""), *((key, f" of {key!r}") for key in fleet)):
        names, weights, _ = fleet._core.weights(part)
        theirs = learner.named_weights()
        known = learner.labels.known
        for j, name in enumerate(names):
            column = f"{name!r}{of}"
            row = [theirs[label].get(column, 0.0) for label in known] if len(known) > 2 else [theirs[column]]
            close(np.asarray(weights)[j, : len(row)], row, column, 1e-8)


# ---- what must hold besides ------------------------------------------------------------------------------------


@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
@pytest.mark.parametrize("labels", [None, ["b", "a"], ["b", "a", "c"]], ids=repr)
def test_without_a_personal_part_it_is_one_learner(geometry, labels):
    task = "regression" if labels is None else "classification"
    options = {"geometry": geometry, "average": 4}
    fleet, learner = Fleet(task, personal=0, **options), Learner(task, **options)
    for key, x, y, weight in stream(120, 7, labels):
        for each in (key, "nobody"):
            ours, theirs = fleet.score_one(each, x), learner.score_one(x)
            close(*(list(s.values()) if isinstance(s, dict) else s for s in (ours, theirs)), "score")
        fleet.learn_one(key, x, y, weight)
        learner.learn_one(x, y, weight)
        same_statistics(fleet.statistics, learner.statistics)


def test_one_key_learns_like_one_learner_with_a_larger_step():
    """(x, s x): the scores and sizes of all instances grow by 1 + s^2."""
    s = 0.5
    fleet = Fleet("classification", personal=s, fit_intercept=False, C=0.3)
    learner = Learner("classification", fit_intercept=False, C=0.3 * (1 + s * s))
    for _, x, y, _ in stream(150, 3, ["p", "q"]):
        if learner.statistics.rounds > 1:
            close(fleet.score_one("k", x), learner.score_one(x), "score")
            close(fleet.score_one("nobody", x), learner.score_one(x) / (1 + s * s), "cold start")
        fleet.learn_one("k", x, y)
        learner.learn_one(x, y)
    assert fleet.statistics.mistakes == learner.statistics.mistakes


@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
def test_what_keys_are_called_does_not_matter(geometry):
    other = dict(zip(KEYS, [2**60, "", "ann"], strict=True))
    one, two = (Fleet("classification", geometry=geometry, average=True) for _ in range(2))
    for key, x, y, weight in stream(80, 5, ["b", "a", "c"]):
        assert one.round_one(key, x, y, weight) == two.round_one(other[key], x, y, weight)
    assert one.statistics == two.statistics
    for key in KEYS:
        assert one[key].statistics == two[other[key]].statistics
        assert one[key].named_weights() == two[other[key]].named_weights()
        assert_same_learner(one[key].learner(), two[other[key]].learner())


def test_keys_without_common_features_learn_as_if_alone():
    """Without an intercept, instances of different keys are orthogonal."""
    together = Fleet("regression", fit_intercept=False)
    alone = {key: Fleet("regression", fit_intercept=False) for key in KEYS}
    for key, x, y, weight in stream(90, 11, None):
        own = {f"{name} of {key}": value for name, value in x.items()}
        assert together.score_one(key, own) == alone[key].score_one(key, own)
        together.learn_one(key, own, y, weight)
        alone[key].learn_one(key, own, y, weight)
    for key in KEYS:
        assert together[key].statistics.loss == pytest.approx(alone[key].statistics.loss)
        assert together[key].named_weights() == alone[key][key].named_weights()


@pytest.mark.parametrize("labels", [None, ["b", "a"], ["b", "a", "c", "d"]], ids=repr)
@pytest.mark.parametrize("average", [False, 5])
@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("geometry", ["euclidean", "diagonal"])
def test_explanations_add_up_to_the_score(labels, average, shared, geometry):
    task = "regression" if labels is None else "classification"
    fleet = Fleet(task, average=average, shared=shared, geometry=geometry)
    for t, (key, x, y, weight) in enumerate(stream(80, 13, labels)):
        fleet.learn_one(key, x, y, weight)
        if t % 5 and t > 20:
            continue
        for each in fleet:  # also those that have not met the newest label
            event = {**x, "new": 2.0, "nested": {"a": 1.0}}
            score, view = fleet.score_one(each, event), fleet[each]
            if isinstance(score, dict):
                best = max(score, key=score.__getitem__)
                for label in [None, *score]:
                    parts = view.explain_one(event, label)
                    total = sum(part.contribution for part in parts)
                    assert total == pytest.approx(score[best if label is None else label], abs=1e-9)
            else:
                parts = view.explain_one(event)
                assert sum(part.contribution for part in parts) == pytest.approx(score, abs=1e-9)
            sizes = [abs(part.contribution) for part in parts]
            assert sizes == sorted(sizes, reverse=True)
            assert {"(intercept)", "new", "nested.a"} <= {part.feature for part in parts}
            if not shared:
                assert all(part.shared == 0 for part in parts)


@pytest.mark.parametrize("labels", [None, ["b", "a"], ["b", "a", "c", "d"]], ids=repr)
@pytest.mark.parametrize("average", [False, True])
def test_an_exported_learner_predicts_like_the_fleet(labels, average):
    task = "regression" if labels is None else "classification"
    fleet = Fleet(task, average=average)
    events = list(stream(100, 17, labels))
    for event in events:
        fleet.learn_one(*event)
    before = state(fleet)
    for key in KEYS:
        learner = fleet[key].learner()
        for _, x, _, _ in events:
            ours, theirs = fleet.score_one(key, x), learner.score_one(x)
            close(
                list(ours.values()) if isinstance(ours, dict) else ours,
                list(theirs.values()) if isinstance(theirs, dict) else theirs,
                "score",
            )
            assert learner.predict_one(x) == pytest.approx(fleet.predict_one(key, x))
        assert learner.statistics.rounds == 0
        learner.learn_one({"a": 1.0, "new": -1.0}, 3.0 if labels is None else "a")
    assert state(fleet) == before
