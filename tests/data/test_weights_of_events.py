"""Weights of single events, of every type of number; masked weights."""

from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pytest

import hinge

NUMBERS = [2, 2.0, np.float32(2), np.float16(2), np.float64(2), np.int64(2), np.int8(2), np.uint16(2)]
STREAM = [({"a": 1.0}, "x"), ({"b": 1.0}, "y"), ({"a": 1.0, "b": 1.0}, "z"), ({"b": 2.0}, "x")]


def learned(model, weight):
    for x, y in STREAM:
        model.learn_one(x, {y} if isinstance(model, hinge.PAMultilabel) else y, weight)
    return model


@pytest.mark.parametrize("weight", NUMBERS, ids=lambda weight: type(weight).__name__)
@pytest.mark.parametrize("estimator", [hinge.PAClassifier, hinge.PAMultilabel])
def test_a_weight_of_any_type_of_number_teaches_new_labels(estimator, weight):
    model = learned(estimator(C=0.1), weight)
    assert sorted(model.classes_) == ["x", "y", "z"]
    assert model.named_weights() == learned(estimator(C=0.1), 2.0).named_weights()


@pytest.mark.parametrize("weight", [0, np.float32(0), np.int64(0)], ids=lambda weight: type(weight).__name__)
def test_a_weight_of_0_teaches_no_label(weight):
    assert len(hinge.PAClassifier().learn_one({"a": 1.0}, "x", weight).classes_) == 0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_class_weights_of_numpys_types_count_before_and_after_a_copy(copied):
    weights = {"x": np.float32(2), "y": np.int64(3), "z": np.float16(0.5)}
    model = hinge.PAClassifier(C=0.1, class_weight=weights)
    for x, y in STREAM[:2]:
        model.learn_one(x, y)
    again = copied(model)
    for x, y in STREAM[2:]:
        model.learn_one(x, y)
        again.learn_one(x, y)
    plain = hinge.PAClassifier(C=0.1, class_weight={"x": 2.0, "y": 3.0, "z": 0.5})
    for x, y in STREAM:
        plain.learn_one(x, y)
    assert model.named_weights() == again.named_weights() == plain.named_weights()


@pytest.mark.parametrize("method", ["fit", "partial_fit", "learn_many"])
@pytest.mark.parametrize(
    "estimator", [hinge.PAClassifier, hinge.PARegressor, hinge.PAOrdinal, hinge.PAOneClass]
)
def test_masked_weights_are_rejected(estimator, method):
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    weights = np.ma.masked_array(np.ones(4), mask=[False, False, True, False])
    labelled = estimator in (hinge.PAClassifier, hinge.PAOrdinal)
    model = estimator(classes=[0, 1]) if labelled else estimator()
    truth = {} if estimator is hinge.PAOneClass else {"y": y}
    with pytest.raises(ValueError, match="row 2: the value of sample_weight is masked"):
        getattr(model, method)(X, **truth, sample_weight=weights)
    assert "_learner" not in vars(model)


def test_the_size_of_a_learner_counts_its_labels():
    sizes = []
    for length in (1, 1001):
        learner = hinge.Learner("classification")
        for i in range(100):
            learner.learn_one({"a": 1.0}, f"{i:03}" + "x" * length)
        sizes.append(sys.getsizeof(learner))
    assert sizes[1] - sizes[0] >= 100 * 1000
