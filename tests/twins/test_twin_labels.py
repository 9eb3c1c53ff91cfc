"""hinge.Learner with many labels against its slow twin (reference_labels.py), weight by weight, after every event."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse

import hinge
import reference_labels
from hinge.tasks import TASKS
from label_truths import COST, COUNTS, NU, WIDTH, K, ties, truths
from reference_labels import STEPS_OF

FIELDS = ("loss", "squared_loss", "largest_q", "progress", "cost")
CONTAINERS = ("dense", "csr", "dict")
PAIRS = [
    (selection, step)
    for selection, steps in STEPS_OF.items()
    for step in steps
    if (selection, step) != ("prediction", "perceptron")
]
RANK_PAIRS = [
    (selection, step)
    for selection, step in PAIRS
    if selection in ("max", "simperc", "simproj", "conproj") and step in TASKS["ordinal"].steps
]


def instances(rng, count, weighted, repeats=True):
    """Sparse rows of mixed sizes, zero rows among them, repeated directions, and weights.

    MIRA, averages of equal steps, and a cost of 0 leave labels that tie exactly: if the same direction came again
    (`repeats`), rounding would decide.
    """
    row = np.zeros(WIDTH)
    for t in range(count):
        if t % 7 == 3 and repeats:
            row = 1.3 * row
        else:
            row = np.where(rng.random(WIDTH) < 0.6, rng.normal(size=WIDTH) * rng.choice([0.2, 1.0, 3.0]), 0.0)
        x = np.zeros(WIDTH) if (t % 9 == 5 if repeats else t == 0) else row
        yield x, float(rng.choice([0.0, 0.3, 1.0, 2.5])) if weighted else 1.0


class Ours:
    """hinge.Learner, fed with one of the containers, read in the order of the columns and labels."""

    def __init__(self, task, container, k=K, **options):
        known = {} if k is None else {"classes": list(range(k))}
        if isinstance(options.get("w1"), np.ndarray) and container == "dict" and options["w1"].ndim == 1:
            options["w1"] = {f"x{j}": weight for j, weight in enumerate(options["w1"].tolist())}
        self.learner, self.container = hinge.Learner(task, **known, **options), container

    def named(self, x):
        return {f"x{j}": float(value) for j, value in enumerate(x) if value != 0}

    def rows(self, x):
        return scipy.sparse.csr_matrix(np.atleast_2d(x)) if self.container == "csr" else np.atleast_2d(x)

    def learn(self, x, y, weight):
        if self.container == "dict":
            self.learner.learn_one(self.named(x), y, weight)
        else:
            self.learner.learn(self.rows(x), [y], [weight])

    def scores(self, x):
        if self.container != "dict":
            return np.ravel(self.learner.scores(self.rows(x)))
        score = self.learner.score_one(self.named(x))
        return np.array(list(score.values())) if isinstance(score, dict) else np.array([score])

    def weights(self, averaged):
        weights = np.atleast_2d(self.learner.weights if averaged else self.learner.last_weights)
        if self.container != "dict":
            return np.pad(weights, ((0, 0), (0, WIDTH - weights.shape[1])))
        found = np.zeros((len(weights), WIDTH))
        found[:, [int(name[1:]) for name in self.learner.feature_names]] = weights
        return found


def close(ours, theirs, what):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-11, err_msg=what)


def same_statistics(ours, twin):
    for name in COUNTS:
        assert getattr(ours.learner.statistics, name) == getattr(twin.statistics, name), name
    for name in FIELDS:
        close(getattr(ours.learner.statistics, name), getattr(twin.statistics, name), name)


def same_labels(ours, twin, average):
    same_statistics(ours, twin)
    if twin.state is None:
        return
    close(ours.weights(False), twin.W, "W")
    close(ours.learner.last_intercept, twin.intercepts, "intercepts")
    if average:
        close(ours.weights(True), twin.average_W, "average of W")
        close(ours.learner.intercept, twin.average_intercepts, "average of the intercepts")


def same_ranks(ours, twin, average):
    same_statistics(ours, twin)
    if twin.state is None:
        return
    close(ours.weights(False)[0], twin.w, "w")
    close(ours.learner._extras(False), twin.thresholds, "thresholds")
    if average:
        close(ours.weights(True)[0], twin.average_w, "average of w")
        close(ours.learner.thresholds, twin.average_thresholds, "average of the thresholds")


def play(task, ours, twin, same, average, weighted, seed, count=40):
    rng = np.random.default_rng(seed)
    y = truths(task, rng, count)
    repeats = not ties(ours.learner.parameters)
    for t, (x, weight) in enumerate(instances(rng, count, weighted, repeats)):
        if twin.state is not None and not average and task != "ordinal":
            close(ours.scores(x), twin.scores(x), "scores")
        if twin.state is not None and not average and task == "ordinal":
            close(ours.scores(x), [twin.score(x)], "score")
        ours.learn(x, y[t], weight)
        twin.learn(x, y[t], weight)
        same(ours, twin, average)
    assert twin.statistics.updates >= 5


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("average", "weighted"), [(False, False), (True, True)])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize(("selection", "step"), PAIRS)
@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_labels_equal_the_twin(task, selection, step, fit_intercept, average, weighted, container):
    options = {
        "selection": selection,
        "step": step,
        "fit_intercept": fit_intercept,
        "average": average,
        "C": 0.4,
    }
    more = {"beta": 0.5} if selection == "mira" else {"margin": 0.7}
    threshold = {"threshold": "learned" if average else 0.0} if task == "multilabel" else {}
    ours = Ours(task, container, **options, **more, **threshold)
    twin = reference_labels.make("labels", K, **options, **more)
    play(task, ours, twin, same_labels, average, weighted, seed=30)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("selection", ["max", "prediction"])
def test_costs_equal_the_twin(selection, step, fit_intercept, average, container):
    options = {
        "selection": selection,
        "step": step,
        "fit_intercept": fit_intercept,
        "average": average,
        "C": 0.4,
    }
    ours = Ours("classification", container, cost=COST, **options)
    twin = reference_labels.make("labels", K, cost=COST, **options)
    play("classification", ours, twin, same_labels, average, average, seed=31)
    assert ours.learner.statistics.cost != ours.learner.statistics.mistakes


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("selection", ["simproj", "conproj"])
@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_weighted_constraints_equal_the_twin(task, selection, container):
    options = {"selection": selection, "C": 0.1, "average": True, "fit_intercept": True}
    ours = Ours(task, container, nu=NU, **options)
    twin = reference_labels.make("labels", K, nu=NU, **options)
    play(task, ours, twin, same_labels, True, True, seed=32)


@pytest.mark.parametrize("selection", ["simproj", "conproj"])
def test_the_largest_of_several_weights_counts(selection):
    other = NU.T.copy()
    ours = Ours("classification", "dense", nu=[NU, other], selection=selection, C=0.1, fit_intercept=False)
    twin = reference_labels.make("labels", K, nu=np.maximum(NU, other), selection=selection, C=0.1)
    play("classification", ours, twin, same_labels, False, True, seed=33)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("average", "weighted"), [(False, False), (True, True)])
@pytest.mark.parametrize("sort_thresholds", [None, False, True])
@pytest.mark.parametrize(("selection", "step"), RANK_PAIRS)
def test_ranks_equal_the_twin(selection, step, sort_thresholds, average, weighted, container):
    options = {
        "selection": selection,
        "step": step,
        "sort_thresholds": sort_thresholds,
        "average": average,
        "C": 0.4,
    }
    ours = Ours("ordinal", container, margin=0.7, **options)
    twin = reference_labels.make("ordinal", K, margin=0.7, **options)
    play("ordinal", ours, twin, same_ranks, average, weighted, seed=34)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("selection", ["simproj", "conproj"])
def test_weighted_thresholds_equal_the_twin(selection, container):
    options = {"selection": selection, "nu": [2.0, 0.0, 0.5], "C": 0.1, "average": True}
    ours = Ours("ordinal", container, **options)
    twin = reference_labels.make("ordinal", K, **options)
    play("ordinal", ours, twin, same_ranks, True, True, seed=35)


@pytest.mark.parametrize("container", ["dense", "csr"])
@pytest.mark.parametrize("task", ["classification", "multilabel"])
@pytest.mark.parametrize(
    ("selection", "beta"), [("max", 0.01), ("mira", 0.0), ("mira", 1.0), ("simproj", 0.01)]
)
def test_a_start_matrix_equals_the_twin(task, selection, beta, container):
    W1 = np.random.default_rng(7).normal(size=(K, WIDTH))
    options = {"selection": selection, "beta": beta, "fit_intercept": True, "average": True}
    ours = Ours(task, container, w1=W1, **options)
    twin = reference_labels.make("labels", K, W1=W1, **options)
    play(task, ours, twin, same_labels, True, False, seed=36)


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(("selection", "step"), PAIRS)
@pytest.mark.parametrize("task", ["classification", "multilabel"])
def test_new_labels_equal_the_twin(task, selection, step, average, container):
    """The twin grows when a label comes first. (Classification: from three labels on, two would have one w.)"""
    options = {"selection": selection, "step": step, "average": average, "C": 0.4, "fit_intercept": True}
    ours, twin = Ours(task, container, k=None, **options), None
    rng = np.random.default_rng(37)
    places: dict[int, int] = {}
    first_ones = [0, 1, 2] if selection == "max" and task == "classification" else [0]
    if len(first_ones) == 3:
        ours.learner = hinge.Learner(task, **options, classes=first_ones)
        ours.learner.closed = False
        places = {label: label for label in first_ones}
        twin = reference_labels.make("labels", 3, **options)
    y = truths(task, rng, 45, k=7)
    for t, (x, weight) in enumerate(instances(rng, 45, weighted=True, repeats=not ties(options))):
        fresh = [label for label in (sorted(y[t]) if task == "multilabel" else [y[t]]) if label not in places]
        if weight:
            places.update({label: len(places) + k for k, label in enumerate(fresh)})
            twin = twin or reference_labels.make("labels", max(1, len(places)), **options)
            if len(places) > twin.k:
                twin.grow(len(places))
            known = {places[label] for label in y[t]} if task == "multilabel" else places[y[t]]
            twin.learn(x, known, weight)
        ours.learn(x, y[t], weight)
        if twin is not None and places:
            same_labels(ours, twin, average)
    assert ours.learner.labels.known == list(places)
    assert len(places) == 7


@pytest.mark.parametrize("container", ["dense", "csr"])
@pytest.mark.parametrize(
    ("task", "options"),
    [
        *(("classification", {"selection": s, "step": p}) for s, p in PAIRS),
        *(("multilabel", {"selection": s, "step": p}) for s, p in PAIRS),
        *(("ordinal", {"selection": s, "step": p}) for s, p in RANK_PAIRS),
    ],
    ids=str,
)
def test_a_batch_in_a_given_order_equals_the_twin(task, options, container):
    rng = np.random.default_rng(38)
    events = list(instances(rng, 60, weighted=True, repeats=not ties(options)))
    X, weights = np.array([x for x, _ in events]), np.array([w for _, w in events])
    y, order = truths(task, rng, 60), rng.permutation(60)[:50]
    ours = Ours(task, container, average=True, C=0.4, **options)
    family = "ordinal" if task == "ordinal" else "labels"
    more = {} if task == "ordinal" else {"fit_intercept": True}
    twin = reference_labels.make(family, K, average=True, C=0.4, **options, **more)
    ours.learner.learn(ours.rows(X), y, weights, order=order)
    for i in order:
        twin.learn(X[i], y[i], weights[i])
    (same_ranks if task == "ordinal" else same_labels)(ours, twin, True)


def test_predictions_equal_the_twin():
    rng = np.random.default_rng(39)
    events, ranks = list(instances(rng, 60, weighted=False)), truths("ordinal", rng, 60)
    ours, twin = (
        Ours("ordinal", "dense", selection="simperc", sort_thresholds=False),
        reference_labels.make("ordinal", K, selection="simperc", sort_thresholds=False),
    )
    crossed = 0
    for (x, _), rank in zip(events, ranks, strict=True):
        if twin.state is not None:
            assert ours.learner.predict_one(dict(enumerate(x.tolist()))) == twin.predict(x)
            crossed += bool(np.any(np.diff(twin.thresholds) < 0))
        ours.learn(x, rank, 1.0)
        twin.learn(x, rank, 1.0)
    assert crossed  # unordered thresholds are well defined too


def test_the_learned_threshold_equals_its_definition():
    """A regression: towards the middle between the relevant and the other labels (see the core)."""
    rng = np.random.default_rng(40)
    margin, C = 0.8, 0.3
    thresholds = {"learned": 0.0, "lenient": margin / 10}
    for step, fit_intercept, threshold in itertools.product(("pa", "pa1", "pa2"), (False, True), thresholds):
        options = {
            "step": step,
            "C": C,
            "margin": margin,
            "fit_intercept": fit_intercept,
            "threshold": threshold,
        }
        learner = hinge.Learner("multilabel", classes=list(range(K)), intercept_value=1.0, **options)
        weights = np.zeros(WIDTH + 1)
        for (x, weight), y in zip(instances(rng, 40, True), truths("multilabel", rng, 40), strict=True):
            scores = learner.scores(np.atleast_2d(x))[0] if learner.n_features else np.zeros(K)
            z = np.append(x, float(fit_intercept))
            relevant = np.isin(np.arange(K), list(y))
            low, high = min(scores[relevant], default=None), max(scores[~relevant], default=None)
            slack = 0.0
            if low is None:
                middle = high + margin / 2
            elif high is None:
                middle = low - margin / 2
            else:
                middle, slack = (low + high) / 2 - thresholds[threshold], max(0.0, (low - high - margin) / 2)
            residual, q = middle - weights @ z, z @ z
            loss = max(0.0, abs(residual) - slack)
            if weight and q > 0:
                tau = {
                    "pa": loss / q,
                    "pa1": min(C * weight, loss / q),
                    "pa2": loss / (q + 1 / (2 * C * weight)),
                }[step]
                weights = weights + tau * np.sign(residual) * z
            learner.learn(np.atleast_2d(x), [y], [weight])
            lanes = learner.lanes(np.eye(WIDTH))[:, 0] if learner.n_features else np.zeros(WIDTH)
            close(lanes, weights[:-1] + weights[-1], "threshold")
