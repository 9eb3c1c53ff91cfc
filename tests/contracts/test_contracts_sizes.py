"""Values, targets and weights of any size: an event is rejected without a trace, or the state stays finite."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse

import hinge
from cases import ALL, CLASSES, NAMES, RANKS, name, new
from kernel_cases import SOME_KERNELS

TRUTHS = {
    "classification": ["ham", "spam"],
    "multiclass": CLASSES,
    "multilabel": [["ant"], ["bee", "cat"], [], CLASSES],
    "ordinal": RANKS,
    "uniclass": [None],
}


def is_finite(learner: hinge.Learner) -> bool:
    _, tensors = learner.to_parts()
    numbers = [tensor for tensor in tensors.values() if tensor.dtype.kind == "f"]
    return all(map(math.isfinite, vars_of(learner.statistics))) and all(
        np.isfinite(each).all() for each in numbers
    )


def vars_of(statistics) -> list[float]:
    return [getattr(statistics, field) for field in statistics.__dataclass_fields__]


def size(rng: np.random.Generator) -> float:
    """Of any order of magnitude, or near the edge of what can be squared."""
    exponent = rng.uniform(-160, 155) if rng.random() < 0.5 else rng.uniform(153.5, 154.2)
    return float(rng.choice([-1, 1]) * 10**exponent)


@pytest.mark.parametrize(("task", "options"), [*ALL, *SOME_KERNELS], ids=name)
def test_the_state_stays_finite(task, options):
    rng = np.random.default_rng(5)
    learner = new(task, options)
    for k in range(3):  # something usual first
        learner.learn_one(
            {NAMES[k]: 1.0}, 0.5 if task == "regression" else TRUTHS[task][k % len(TRUTHS[task])]
        )
    accepted = 0
    for _ in range(60):
        x = {str(feature): size(rng) for feature in rng.choice(NAMES, 2, replace=False)}
        if rng.random() < 0.3:
            x = dict.fromkeys(x, 1.0)
        y = size(rng) if task == "regression" else TRUTHS[task][rng.integers(len(TRUTHS[task]))]
        weight = abs(size(rng)) ** 1.9 if rng.random() < 0.3 else 1.0
        before = learner.to_bytes()
        try:
            learner.learn_one(x, y, weight)
        except ValueError:
            assert learner.to_bytes() == before
        else:
            accepted += 1
            assert is_finite(learner), (x, y, weight)
    assert accepted > 0


@pytest.mark.parametrize(
    "options",
    [
        *({"selection": rule} for rule in ("max", "simproj", "conproj", "mira", "prediction", "simperc")),
        {"cost": {"x": {"y": 1.0}, "y": {"z": 2.0}, "z": {"x": 1.0}}},
        {"step": "perceptron", "selection": "uniform"},
        {"kernel": "linear", "selection": "simproj"},
    ],
    ids=str,
)
def test_an_instance_whose_constraint_is_infinite_is_rejected(options):
    """|x|^2 is finite, 2|x|^2 is not."""
    known = {} if "cost" in options else {"classes": ["x", "y", "z"]}
    model = hinge.PAClassifier(**options)
    learner = hinge.Learner("classification", **known, **options)
    for feature, label in (("a", "x"), ("b", "y"), ("c", "z")):
        model.learn_one({feature: 1.0}, label)
        learner.learn_one({feature: 1.0}, label)
    before = learner.to_bytes()
    with pytest.raises(ValueError, match="overflows float64"):
        learner.learn_one({"d": 1e154}, "x")
    X = np.zeros((4, 3))
    X[2, 1] = 1e154
    rows = hinge.Learner("classification", **known, **options)
    with pytest.raises(ValueError, match=r"row 2.*overflows float64"):
        rows.learn(X, ["x", "y", "z", "x"])
    with pytest.raises(ValueError, match=r"row 2.*overflows float64"):
        rows.learn(scipy.sparse.csr_matrix(X), ["x", "y", "z", "x"])
    with pytest.raises(ValueError, match="overflows float64"):
        model.learn_one({"d": 1e154}, "x")
    assert learner.to_bytes() == before
    assert math.isfinite(model.stats_.largest_q)


def test_sums_of_costs_stay_finite():
    learner = hinge.Learner("regression", epsilon=1e308, fit_intercept=False)
    learner.learn_one({"a": 1.0}, 1e308)
    with pytest.raises(ValueError, match="sum of the costs overflows"):
        learner.learn_one({"a": 1.0}, 1e308)
    assert learner.statistics.cost == 1e308


def test_averages_of_large_coefficients_stay_finite():
    for average in (False, True):
        learner = hinge.Learner(
            "regression", step="pa", kernel="linear", average=average, epsilon=0.0, fit_intercept=False
        )
        if not average:
            learner.learn_one({"a": 1e-149}, 1.0)  # a coefficient of 1e298
            continue
        with pytest.raises(ValueError, match="larger than the model can hold"):  # 10^10 rounds would overflow
            learner.learn_one({"a": 1e-149}, 1.0)
