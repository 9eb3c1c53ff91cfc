"""Costs of sequences: nonsense, errors, what is too large; and scores and sentences beyond all measure."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hinge import ModelFileError, PASequence
from hinge.structured.sequence_learner import SequenceLearner
from rejection import INF, NAN, rejects
from rejection_sentences import X, Y, every_kind, state

PAIR = [["a"], ["b"]]


def of_cost(cost):
    """A model that has learned with a valid cost, up to a mistake that is to come."""
    calls = []

    def given_cost(truth, predicted):
        calls.append(1)
        return cost(truth, predicted) if len(calls) > 4 else 1.0

    model = PASequence(cost=given_cost, average=False)
    for tags in itertools.cycle([["A", "B"], ["B", "C"], ["C", "A"]]):
        if len(calls) == 4:
            return model
        model.learn_one(PAIR, tags)


def wrong_tags(model):
    return [{"A": "B", "B": "C", "C": "A"}[tag] for tag in model.predict_one(PAIR)]


NONSENSE = [None, "x", "3", [1.0], -1.0, np.array(1.0), NAN, INF, 1j, object(), {}]


@pytest.mark.parametrize("cost", NONSENSE, ids=lambda v: f"{type(v).__name__} {v!r:.4}")
def test_nonsense_for_a_cost_is_rejected(cost):
    model = of_cost(lambda truth, predicted: cost)
    y, message = wrong_tags(model), "the cost must be a number of 0 or more, not "
    rejects(model, f"^{message}").learn_one(PAIR, y)
    batch = [PAIR, [["new"]], PAIR], [model.predict_one(PAIR), ["new"], y]
    rejects(model, f"^row [12]: {message}").learn_many(*batch)


def test_cost_beyond_float64_is_rejected():
    model = of_cost(lambda truth, predicted: 10**400)
    rejects(model, "cost").learn_one(PAIR, wrong_tags(model))


@pytest.mark.parametrize("row", range(3))
def test_rejected_cost_names_the_sentence(row):
    model = of_cost(lambda truth, predicted: -1.0)
    y = [model.predict_one(PAIR)] * 3  # costs are asked for where something is wrong
    y[row] = wrong_tags(model)
    model.set_params(step="pa2", margin=1e-9)
    message = r"the cost must be a number of 0 or more, not -1.0, of \["
    rejects(model, f"^row {row}: {message}").learn_many([PAIR] * 3, y)
    rejects(model, f"^{message}").learn_one(PAIR, y[row])


@pytest.mark.parametrize("cost", [True, 1, np.float32(1.0), np.int8(1), np.bool_(True)], ids=repr)
def test_numbers_of_any_type_are_costs(cost):
    given = PASequence(cost=lambda truth, predicted: cost, average=False).learn_many(X * 3, Y * 3)
    plain = PASequence(cost=lambda truth, predicted: 1.0, average=False).learn_many(X * 3, Y * 3)
    assert state(given) == state(plain)


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, KeyboardInterrupt, StopIteration])
def test_error_of_a_cost_is_raised_unchanged(error):
    def cost(truth, predicted):
        raise error("of my own")

    model = of_cost(cost)
    y, raised = wrong_tags(model), rejects(model, "of my own", error)
    raised.learn_one(PAIR, y)
    raised.learn_many([PAIR, [["new"]], PAIR], [y, ["new"], y])


def test_cost_may_change_its_arguments():
    seen = []

    def cost(truth, predicted):
        seen.append((list(truth), list(predicted)))
        truth.clear()
        predicted[:] = ["nonsense"] * 50
        return 1.0

    model = PASequence(cost=cost, average=False)
    plain = PASequence(cost=lambda truth, predicted: 1.0, average=False)
    for each in (model, plain):
        each.learn_many(X * 5, Y * 5)
    assert model.state_features_ == plain.state_features_
    assert model.stats_ == plain.stats_
    assert all(len(truth) == len(predicted) and truth != predicted for truth, predicted in seen)
    assert model.classes_ == ["A", "B", "C"]


@pytest.mark.parametrize("cost", [1e308, 1.7e308])
def test_margin_or_sum_of_costs_that_overflows_is_rejected(cost):
    model = of_cost(lambda truth, predicted: cost)
    y = wrong_tags(model)
    before = state(model)
    try:
        for _ in range(3):
            model.learn_one(PAIR, wrong_tags(model))
            before = state(model)
    except ValueError as error:
        assert "overflow" in str(error) or "infinity" in str(error)  # noqa: PT017
    assert state(model) == before
    SequenceLearner.from_bytes(state(model), cost=lambda truth, predicted: 1.0).learn_one(PAIR, y)


def test_sum_of_costs_that_overflows_is_rejected():
    model = PASequence(cost=lambda truth, predicted: 1e308, margin=1e-10, average=False)
    model.learn_one(PAIR, ["A", "B"])
    assert model.stats_.cost == 1e308
    wrong = [{"A": "B", "B": "A"}[tag] for tag in model.predict_one(PAIR)]
    rejects(model, "^the sum of the costs overflows float64").learn_one(PAIR, wrong)
    SequenceLearner.from_bytes(state(model), cost=lambda truth, predicted: 1.0).learn_one(PAIR, wrong)


@pytest.mark.parametrize(
    "options", [{"cost": [[0, 1], [1, 0]], "classes": ["A", "B"]}, {"cost": {"A": {"B": 1.0}}}, {}], ids=str
)
def test_file_with_a_cost_rejects_another(options, tmp_path):
    PASequence(**options).learn_one(PAIR, ["A", "B"]).save(tmp_path / "m")
    message = "its cost is not a function, and is in the file: load it without cost="
    with pytest.raises(ModelFileError, match=message):
        PASequence.load(tmp_path / "m", cost=lambda truth, predicted: 1.0)
    assert PASequence.load(tmp_path / "m").classes_ == ["A", "B"]


# ---- beyond all measure --------------------------------------------------------------------------------------------


def test_enormous_sentence_is_learned():
    model = PASequence(average=False).learn_many([[["a"], ["b"], ["c"]]] * 5, [["A", "B", "C"]] * 5)
    x = [["a"], ["b"], ["c"]] * 33_334
    tags = model.predict_one(x)
    assert tags == ["A", "B", "C"] * 33_334
    assert model.score_one(x, tags) == pytest.approx(model.score_one(x))
    model.learn_one(x, tags[::-1])
    assert model.stats_.rounds == 6


@pytest.mark.parametrize("cost", [None, [[0, 2], [3, 0]]])
def test_enormous_sentence_is_rejected_by_an_exact_search(cost):
    """Its states are too many: rejected, not killed."""
    model = PASequence(selection="max", classes=["A", "B"], cost=cost).learn_one(PAIR, ["A", "B"])
    x, y = [["a"], ["new"]] * 15_000, ["B", "A"] * 15_000
    message = (
        "a sentence of 30000 tokens is too long for selection='max' .*; use 'max-additive' or 'prediction'"
    )
    rejects(model, f"^{message}").learn_one(x, y)
    rejects(model, f"^row 1: {message}").learn_many([[["newer"]], x], [["A"], y])
    assert len(model.predict_one(x)) == 30_000
    model.learn_one(x[:300], y[:300])


def overflowing(options):
    """A model, and a sentence for whose best tags, all of them A, it has no number."""
    margin, value = (1e37, 1e10) if options.get("dtype") == "float32" else (1e153, 1e153)
    model = PASequence(**{**options, "step": "pa", "average": False, "margin": margin})
    names = [f"f{k}" for k in range(100)]
    for tags in (["A", "B"], ["B", "A"], ["A", "A"]):
        model.learn_one([dict.fromkeys(names, 1.0), {}], tags)
    assert model.stats_.updates
    best = model.predict_one([{"f0": 1.0}])
    return model, [dict.fromkeys(names, value if best == ["A"] else -value)] * 2000


@every_kind
def test_score_that_overflows_is_rejected(options):
    """Every value is fine, and so is every weight, but not the sum of their products."""
    model, x = overflowing(options)
    alone, inside = (rejects(model, f"^{row}the score overflows float64") for row in ("", "row 1: "))
    alone.predict_one(x)
    alone.score_one(x)
    alone.score_one(x, ["A"] * len(x))
    alone.explain_one(x)
    alone.learn_one(x, ["A"] * len(x))
    alone.learn_one(x, ["B"] * len(x))
    short = [{"f0": -1.0}, ["new"]]
    inside.learn_many([short, x, short], [["B", "A"], ["B"] * len(x), ["A", "new"]])
    inside.predict([short, x])
    assert len(model.predict_one(short)) == 2
