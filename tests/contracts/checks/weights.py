"""Weights of examples: 0 is nothing, others scale the step."""

from __future__ import annotations

import dataclasses

import numpy as np

from cases import CLASSES
from checks import check
from contract_case import Data

FRESH = {"alpha": 1.0, "new": 3.0, "color": "red"}


@check(lambda case: case.kernel is None)
def check_weight_of_zero_changes_nothing(case):
    """No round, no name, no label."""
    for form in case.forms:
        data = case.data(form)
        model = case.learned(data)
        before = case.state(model)
        case.learn(model, data.weighing(0.0))
        if form == "events":
            x, y, _ = data.one(0)
            unseen = [{"new": 1.0}] * len(x) if case.is_sequence else FRESH
            for weight in (0.0, -0.0):
                case.learn_one(model, unseen, y, weight)
            case.learn(model, Data([unseen], None if y is None else [y], np.zeros(1)))
            if not case.is_sequence:
                case.learn_one(model, {"fresh": 1e30}, y, 0.0)
        assert case.state(model) == before, form


@check(lambda case: (case.is_learner and case.kernel is None) or case.is_sequence)
def check_examples_without_weight_are_not_there(case):
    """Neither in a model that has not learned, nor among others."""
    data = case.data()
    fresh = case.new()
    empty = case.state(fresh.learn_many([], []) if case.is_sequence else fresh)
    case.learn(fresh, data.weighing(0.0))
    if case.is_learner:
        case.learn_one(fresh, FRESH, data.one(0)[1], 0.0)
    assert case.state(fresh) == empty
    assert case.state(case.learned(data)) == case.state(case.learned(data[np.flatnonzero(data.weights)]))


@check(lambda case: case.grows)
def check_examples_without_weight_teach_no_label(case):
    rows = case.data("dense")
    arrays = case.learned(rows.weighing(0.0))
    if case.task == "multilabel":
        indicator = np.array([[label in its for label in CLASSES] for its in rows.y])
        case.learn(arrays, Data(rows.X, indicator, np.zeros(len(rows))))
    assert arrays.labels.known == []
    assert arrays.statistics.rounds == 0
    early = np.arange(len(rows)) < case.room
    some, rest = case.learned(rows.weighing(early)), case.learned(rows[early].weighing(1.0))
    assert case.state(some) == case.state(rest)
    assert set(some.labels.known) == set(CLASSES[:2])


@check(lambda case: case.kernel is not None and case.is_exact)
def check_example_without_weight_only_counts(case):
    """It has a number in the stream, and nothing else comes of it."""

    def learned(model):
        return {key: value.tobytes() for key, value in model.to_parts()[1].items() if key != "examples"}

    data = case.data()
    model = case.learned(data)
    examples, before = model.to_parts()[1]["examples"], learned(model)
    case.learn_one(model, {"unheard": 9.0}, data.one(0)[1], 0.0)
    case.learn(model, data.weighing(0.0))
    assert learned(model) == before
    assert model.to_parts()[1]["examples"] == examples + len(data) + 1


@check(lambda case: case.is_sequence)
def check_weight_scales_the_cap(case):
    """C inside of the cap, and what a round adds to the inverse of the covariance."""
    data, weight, more = case.data().weighing(0.5), 0.5, {"C": 0.25}
    even = data.weighing(1.0)
    heavy = case.learned(data, **more)
    if case.options["step"] == "perceptron" and not case.has_covariance:  # a step is as long as its weight
        plain = case.learned(even, **more, margin=1.0)
        assert heavy.stats_.updates == plain.stats_.updates
        assert all(
            heavy.start_features_[key] == weight * value for key, value in plain.start_features_.items()
        )
        return
    regularizer = case.options.get("covariance_regularizer", 1.0)
    plain = case.learned(even, C=weight * 0.25, covariance_regularizer=regularizer / weight)
    assert heavy.state_features_ == plain.state_features_
    assert dataclasses.replace(heavy.stats_, weighted=0) == plain.stats_
    if case.options["step"] == "pa" and not case.has_covariance:
        assert case.state(heavy) == case.state(case.learned(even, C=0.25))
