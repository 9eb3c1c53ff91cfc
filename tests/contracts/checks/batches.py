"""A batch is its examples, one after the other, bit for bit, in whatever form they come."""

from __future__ import annotations

import itertools

import numpy as np

from cases import number
from checks import check


@check()
def check_batch_equals_single_examples(case):
    for form in case.batch_forms:
        data = case.data(form)
        whole, single, *cut = (case.new() for _ in range(2 + len(case.batches)))
        case.learn(whole, data)
        for i in range(len(data)):
            case.learn(single, data[i : i + 1])
        for model, size in zip(cut, case.batches, strict=True):
            for start in range(0, len(data), size):
                case.learn(model, data[start : start + size])
        for model in (single, *cut):
            case.assert_same(model, whole, form)


@check()
def check_rounds_and_updates_are_counted(case):
    data = case.data(case.forms[0])
    model = case.learned(data)
    statistics = model.statistics if case.is_learner else model.stats_
    is_first_the_centre = (
        "uniclass" in (case.task, getattr(model, "_task", "")) and case.geometry != "entropy"
    )
    if case.kernel is None:
        is_start = is_first_the_centre and case.options.get("w1") is None
        assert statistics.rounds == np.count_nonzero(data.weights) - is_start
    else:
        assert statistics.insertions - statistics.removals == model.n_support
    assert statistics.updates >= case.least_updates


@check(lambda case: case.is_exact)
def check_learn_many_equals_learn_one(case):
    """Also with features that are strings and booleans."""
    for form in ({"events", "strings"} & set(case.forms)) if case.is_sequence else ["events"]:
        if form not in case.forms:
            continue
        data = case.data(form)
        if not case.is_sequence:
            data.X[3]["color"], data.X[5]["color"], data.X[len(data) // 2]["flag"] = "red", "blue", True
        many, single = case.new(), case.new()
        for part in data.parts(20):
            case.learn(many, part)
        for i in range(len(data)):
            case.learn_one(single, *data.one(i))
        assert case.state(many) == case.state(single)


@check(lambda case: case.is_learner and case.kernel is None and not case.grows)
def check_round_equals_prediction_then_learning(case):
    """With names and labels that are new, and weights of 0."""
    data = case.data()
    together, apart = case.new(), case.new()
    for i in range(len(data)):
        x, y, weight = data.one(i)
        expected = apart.predict_one(x)
        apart.learn_one(x, y, weight)
        assert together.round_one(x, y, weight) == expected
    assert case.state(together) == case.state(apart)


@check(lambda case: (case.is_learner and case.sampled and case.kernel is None) or case.grows)
def check_rows_are_learned_in_given_order(case):
    data = case.data("dense")
    order = np.random.default_rng(1).permutation(len(data))
    kinds = (
        order,
        order.tolist(),
        order.astype(np.int32),
        order.astype(np.uint8),
        order.astype(">i8"),
        order[:50],
    )
    for given in kinds:
        ordered = case.new()
        ordered.learn(data.X, data.y, data.weights, order=given)
        assert case.state(ordered) == case.state(case.learned(data[np.asarray(given)]))


@check(lambda case: case.grows)
def check_labels_come_in_any_order(case):
    """Whatever comes first, and whatever has no weight."""
    for seed in range(4):
        data = case.data(seed=seed)
        shuffled = data[np.random.default_rng(seed).permutation(len(data))]
        single = case.new()
        for i in range(len(shuffled)):
            case.learn_one(single, *shuffled.one(i))
        assert case.state(case.learned(shuffled)) == case.state(single)
        limited, rows = case.new(), case.data("dense", seed)
        limited.learn(rows.X, rows.y, rows.weights, max_updates=3)
        assert limited.statistics.updates == 3


@check(lambda case: case.grows)
def check_labels_come_in_the_middle_of_a_batch(case):
    data = case.data()
    known = case.learned(data).labels.known
    assert sorted(known) == ["ant", "bee", "cat", "dog"]
    assert set(known[:2]) == {"ant", "bee"}
    in_parts = case.new()
    for start, stop in itertools.pairwise((0, *case.stages, len(data))):
        case.learn(in_parts, data[start:stop])
    assert in_parts.labels.known == known


@check(lambda case: case.kernel is not None)
def check_kernel_scores_of_rows_and_events_agree(case):
    data = case.data("dense")
    model = case.learned(data)
    events = case.in_form("numbered", data.X[:9])
    if not case.hashes:
        case.close([number(model.score_one(x)) for x in events], model.scores(data.X[:9]))
