"""Committees against their slow twin: every prediction, the weights of the vote, and the weights of every expert."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hinge import Learner
from reference_committee import Committee, Task

WIDTH, COUNT = 6, 120
WORDS = [
    "pa1:-2",
    "pa1:0",
    "pa1:0:average",
    "pa1=0.3",
    "pa",
    "pa2:-1",
    "pa2:-1:average",
    "arow:0",
    "arow=2",
    "arow:-1:average",
    "scaled:pa1:-1",
    "scaled:pa:average",
    "scaled:arow:0",
    "scaled:arow:-1:average",
]
# The task of the twin, its options, the lanes; the task and the options of the learner.
CASES = {
    "two classes": ("signs", {}, 1, "classification", {"classes": [-1, 1]}),
    "two classes, margin": (
        "signs",
        {"margin": 0.4},
        1,
        "classification",
        {"classes": [-1, 1], "margin": 0.4},
    ),
    "many classes": ("labels", {}, 4, "classification", {"classes": [0, 1, 2, 3]}),
    "numbers": ("numbers", {"epsilon": 0.3}, 1, "regression", {"epsilon": 0.3}),
    "ranks": (
        "ranks",
        {"selection": "simproj"},
        3,
        "ordinal",
        {"classes": [0, 1, 2, 3], "selection": "simproj"},
    ),
    "ranks, one constraint": ("ranks", {}, 3, "ordinal", {"classes": [0, 1, 2, 3], "selection": "max"}),
    "sets": ("sets", {"threshold": 0.2}, 4, "multilabel", {"classes": [0, 1, 2, 3], "threshold": 0.2}),
    "sets, learned threshold": (
        "sets",
        {},
        5,
        "multilabel",
        {"classes": [0, 1, 2, 3], "threshold": "learned"},
    ),
}


def stream(kind, seed):
    """Rows of mixed sizes and columns of very different sizes, some of them zero, noisy targets, and weights."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(COUNT, WIDTH)) * rng.choice([0.1, 1.0, 5.0], size=(COUNT, 1))
    X *= np.where(rng.random((COUNT, WIDTH)) < 0.7, 10.0 ** np.arange(-2, WIDTH - 2), 0.0)
    X[:2] = rng.normal(size=(2, WIDTH))
    X[COUNT // 3] = 0
    Z = X / 10.0 ** np.arange(-2, WIDTH - 2)
    scores = Z @ rng.normal(size=(WIDTH, 4)) + 0.5 * rng.normal(size=(COUNT, 4))
    y = {
        "signs": np.where(scores[:, 0] > 0, 1, -1).tolist(),
        "labels": scores.argmax(axis=1).tolist(),
        "numbers": (30 * scores[:, 0]).tolist(),
        "ranks": np.digitize(scores[:, 0], [-1.0, 0.0, 2.0]).tolist(),
        "sets": [np.flatnonzero(row > 0.4).tolist() for row in scores],
    }[kind]
    weights = rng.choice([0.0, 0.4, 1.0, 3.0], size=COUNT)
    weights[:2] = 1.0
    if kind == "sets":  # the threshold moves at once: no label scores exactly as the threshold
        y[:2] = [[0], []]
    return X, y, weights


def as_event(x):
    return {f"f{j}": v for j, v in enumerate(x.tolist()) if v}


def expert_weights(learner, twin):
    """Of every member: its weights, one row per lane, with the last column for the constant, and its variances."""
    table = learner.to_parts()[1]["experts"].reshape(learner.n_features + 1, -1)
    at = 0
    averaged = {expert.name.removesuffix(":average") for expert in learner.experts if expert.averaged}
    seen = set()
    for expert, its in zip(learner.experts, twin.experts, strict=True):
        name = expert.name.removesuffix(":average")
        if name in seen:
            continue
        seen.add(name)
        held = len(its.W)
        weights = np.roll(table[:, at : at + held], -1, axis=0).T
        at += held * (2 if name in averaged else 1)
        variances = None
        if expert.kind == "arow":
            stored = np.roll(table[:, at], -1)
            variances, at = np.where(stored == 0, 1.0, stored), at + 1
        yield its, weights, variances
    assert at == table.shape[1]


def predicted(kind, learner, x):
    found = (
        learner.predict_one(x)
        if isinstance(x, dict)
        else learner._task.predictions(learner, learner.lanes(x))[0]
    )
    return {"signs": lambda label: int(label == 1), "sets": set}.get(kind, lambda found: found)(found)


def check(kind, learner, twin, x, given):
    np.testing.assert_allclose([e.weight for e in learner.experts], twin.vote.weights, rtol=1e-9, atol=1e-12)
    ours, theirs = predicted(kind, learner, given), twin.predict(x)
    assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-12) if kind == "numbers" else ours == theirs


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("container", ["events", "rows", "csr"])
@pytest.mark.parametrize("case", CASES)
def test_committee_equals_the_twin(case, container, fit_intercept):
    kind, its, lanes, task, options = CASES[case]
    if task != "ordinal":
        options = {**options, "fit_intercept": fit_intercept}
    for seed in range(2):
        X, y, weights = stream(kind, seed)
        learner = Learner(task, experts=WORDS, **options)
        twin = Committee(Task(kind, lanes, **its), WORDS, WIDTH, fit_intercept=fit_intercept)
        for i, (x, truth, weight) in enumerate(zip(X, y, weights.tolist(), strict=True)):
            row = {"events": as_event(x), "rows": x[None], "csr": scipy.sparse.csr_matrix(x[None])}[container]
            if container == "events":
                learner.learn_one(row, truth, weight)
            else:
                learner.learn(row, [truth], [weight])
            twin.learn(x, truth, weight)
            probe = 0.7 * X[(i + 1) % COUNT]
            given = {
                "events": as_event(probe),
                "rows": probe[None],
                "csr": scipy.sparse.csr_matrix(probe[None]),
            }
            check(kind, learner, twin, probe, given[container])
        for expert, w, variances in expert_weights(learner, twin):
            np.testing.assert_allclose(w, expert.W, rtol=1e-7, atol=1e-9 * np.abs(expert.W).max())
            if variances is not None:
                np.testing.assert_allclose(variances, expert.S, rtol=1e-9)
        record = learner._engine.vote_record()
        assert record[0] == pytest.approx(twin.vote.delta)
        assert record[1] == pytest.approx(twin.expected_loss)
        assert twin.vote.n > 30
