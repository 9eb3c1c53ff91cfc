"""Limits of memory: max_features, max_weights, max_covariance, max_cache. What goes beyond is rejected as a whole."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

import hinge
from rejection import rejects
from rejection_cases import csr, is_well


def test_events_beyond_max_features_are_rejected():
    model = hinge.Learner("regression", max_features=1000)
    model.learn_one({"a": 1.0}, 1.0)
    events = [{f"f{k}-{j}": 1.0 for j in range(10)} for k in range(101)]
    rejects(model, "row 99, feature 'f99-9': it is new").learn_many(events, np.ones(101))
    model.learn_many(events[:99], np.ones(99))
    assert model.n_features == 991


# ---- max_weights ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"dtype": "float32"},
        {"average": True},
        {"geometry": "entropy"},
        {"geometry": "diagonal"},
        {"selection": "mira"},
    ],
    ids=str,
)
def test_weights_beyond_max_weights_are_rejected(options):
    learner = hinge.Learner("classification", max_weights=20_000, **options)
    for k in range(40):
        learner.learn_one({f"f{k}": 1.0}, f"label {k % 4}")
    many = {f"g{k}": 1.0 for k in range(2000)}
    rejects(learner, r"bytes .*the limit is 20000 \(max_weights\)").learn_one(many, "label 0")
    rejects(learner, "max_weights").learn_many([{name: 1.0} for name in many], ["label 0"] * 2000)
    rejects(learner, "max_weights").learn_many([{"f1": 1.0}] * 900, [f"new {k}" for k in range(900)])
    before = learner.to_bytes()
    learner.predict_one(many)
    assert learner.to_bytes() == before
    assert hinge.Learner.from_bytes(before).to_bytes() == before


def test_weights_of_every_model_are_limited():
    names = [f"f{k}" for k in range(1000)]
    rejects(hinge.PASequence(max_weights=1000), "max_weights").learn_one([names], ["A"])
    rejects(hinge.PARegressor(max_weights=1000), "max_weights").fit(np.ones((2, 1000)), [1.0, 2.0])
    rejects(hinge.PAOneClass(max_weights=1000), "max_weights").learn_one(dict.fromkeys(names, 1.0))
    with pytest.raises(ValueError, match="max_weights"):
        hinge.Learner("classification", hash_bits=10, max_weights=1000)


# ---- max_covariance ------------------------------------------------------------------------------------------------

LIMIT = r"needs 11.65 KB, the limit is 10 KB \(max_covariance\); geometry='diagonal' needs 392 bytes"


def limited(**options):
    return hinge.Learner("regression", geometry="mahalanobis", max_covariance=1e4, **options)


def test_covariance_beyond_max_covariance_is_rejected():
    """The message names the memory, the limit, and what would do; of arrays, frames, names, starts and hashes."""
    message = r"of 20000 features and the intercept needs 1.601 GB, the limit is 1.074 GB .*'diagonal'"
    model = hinge.Learner("regression", geometry="mahalanobis")
    rejects(model, message).learn(scipy.sparse.csr_matrix((2, 20000)), [1.0, 2.0])
    for container in (np.eye, lambda n: csr(np.eye(n))):
        model = limited()
        rejects(model, LIMIT).learn(container(48), np.ones(48))
        model.learn(container(47), np.ones(47))  # 47 and the intercept
        assert model.covariance.shape == (47, 47)
    frame = pd.DataFrame(np.eye(48), columns=[f"f{k}" for k in range(48)])
    for model in (limited(), limited(average=True)):
        rejects(model, LIMIT).name_columns(frame.columns)
        rejects(model, LIMIT).learn_many(frame, np.ones(48))
        assert model.n_features == 0
    of_hash = r"of 64 features and the intercept needs 19.58 KB, the limit is 10 KB"
    of_names = {f"f{k}": 0.1 for k in range(48)}
    for options, message in (
        ({"w1": np.full(48, 0.1)}, LIMIT), ({"w1": of_names}, LIMIT), ({"hash_bits": 6}, of_hash),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=message):
            limited(**options)
    limited(hash_bits=5).learn_one({"a": 1.0}, 1.0)
    message = r"262144 features and the intercept needs 274.9 GB, .*; geometry='diagonal' needs 2.097 MB"
    rejects(hinge.PAClassifier(geometry="mahalanobis", hash_bits=18), message).learn_one({"a": 1.0}, "x")
    model = hinge.PAMultilabel(geometry="mahalanobis", max_covariance=1e4)
    rejects(model, "max_covariance").fit(np.eye(60), np.eye(60, 3))


@pytest.mark.parametrize("task", ["classification", "regression", "multilabel", "ordinal"])
def test_features_beyond_max_covariance_are_rejected_in_the_middle_of_a_stream(task):
    """What was learned stays, what is known can still be learned."""
    more = (
        {"classes": [0, 1, 2]}
        if task == "ordinal"
        else {"classes": [0, 1]}
        if task == "classification"
        else {}
    )
    model = hinge.Learner(task, geometry="mahalanobis", max_covariance=1e4, **more)
    room = 48 if task == "ordinal" else 47
    for k in range(40):
        model.learn_one({f"f{k}": 1.0, "all": 0.5}, {k % 3} if task == "multilabel" else k % 2)
    events = [{f"f{k}": 1.0, "all": -0.5} for k in range(60)]
    y = [{k % 4} if task == "multilabel" else (k + 1) % 2 for k in range(60)]
    message = f"row {room - 1}: a full covariance of 4[89] features( and the intercept)? {LIMIT}"
    rejects(model, message).learn_many(events, y)
    error, new = rejects(model, LIMIT), {f"new{k}": 1.0 for k in range(room - 40)}
    error.learn_one(new, y[0])
    error.learn_one(new, y[0], 2.0)
    model.learn_many(events[: room - 1], y[: room - 1])
    assert model.n_features == room
    error.learn_one({"one more": 1.0}, y[0])
    model.learn_one({"one more": 0.0, "all": 1.0}, y[0])  # which is no feature
    assert model.uncertainty_one({"one more": 2.0}) >= 4
    is_well(model)


# ---- max_cache -----------------------------------------------------------------------------------------------------

RBF = {"kernel": "rbf", "gamma": 0.5}


@pytest.mark.parametrize("task", ["regression", "uniclass"])
@pytest.mark.parametrize(
    "options", [{}, {"budget": 1000}, {"budget": "adaptive"}, {"dtype": "float32"}], ids=str
)
def test_supports_beyond_max_cache_are_rejected(task, options):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 5)), random.normal(size=300) if task == "regression" else None
    more = {"epsilon": 0.0} if task == "regression" else {"radius": 0.1}
    model = hinge.Learner(task, **RBF, max_cache=20_000, **options, **more)
    model.learn(X[:20], None if y is None else y[:20])
    rejects(model, r"row \d+: the supports would take more than 20000 bytes \(max_cache\)").learn(X, y)
    full = next(x for x in map(dict, map(enumerate, X.tolist())) if not learned(model, x))
    rejects(model, "max_cache").learn_one(full, 5.0)


def learned(model, x):
    try:
        model.learn_one(x, 5.0)
    except ValueError:
        return False
    return True


def test_max_cache_does_not_stop_a_full_budget():
    random = np.random.default_rng(0)
    model = hinge.Learner("regression", **RBF, max_cache=10_000, budget=10, epsilon=0.0)
    model.learn(random.normal(size=(2000, 5)), random.normal(size=2000))
    assert model.n_support == 10
