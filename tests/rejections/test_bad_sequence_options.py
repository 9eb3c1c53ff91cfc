"""Bad costs and options, and what is beyond all measure: an error in words, and no trace."""

# ruff: noqa: B023 (every lambda is called at once)

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bad_sequences import X, Y, every_kind, refused, state
from hinge import ModelFileError, PASequence
from hinge.structured.sequence_learner import SequenceLearner

# ---- costs ----------------------------------------------------------------------------------------------------


def of_cost(cost):
    """A model that has learned with a cost that was fine, up to a mistake that is to come."""
    asked = []

    def given_cost(truth, predicted):
        asked.append(1)
        return cost(truth, predicted) if len(asked) > 4 else 1.0

    model = PASequence(cost=given_cost, average=False)
    for tags in itertools.cycle([["A", "B"], ["B", "C"], ["C", "A"]]):
        if len(asked) == 4:
            return model
        model.learn_one([["a"], ["b"]], tags)


def wrong_tags(model):
    return [{"A": "B", "B": "C", "C": "A"}[tag] for tag in model.predict_one([["a"], ["b"]])]


NONSENSE = {
    "nothing": None,
    "text": "x",
    "a number in text": "3",
    "a list": [1.0],
    "a negative number": -1.0,
    "an array": np.array(1.0),
    "NaN": float("nan"),
    "infinity": float("inf"),
    "complex": 1j,
    "an object": object(),
    "a dict": {},
}


@pytest.mark.parametrize("what", NONSENSE)
def test_costs_of_nonsense(what):
    model = of_cost(lambda truth, predicted: NONSENSE[what])
    x, y = [["a"], ["b"]], wrong_tags(model)
    message = "the cost must be a number of 0 or more, not "
    refused(model, f"^{message}", lambda: model.learn_one(x, y))
    batch = ([x, [["new"]], x], [model.predict_one(x), ["new"], y])
    refused(model, f"^row [12]: {message}", lambda: model.learn_many(*batch))


def test_a_cost_beyond_float64():
    model = of_cost(lambda truth, predicted: 10**400)
    refused(model, "cost", lambda: model.learn_one([["a"], ["b"]], wrong_tags(model)))


def test_a_cost_of_nonsense_names_the_sentence():
    x, message = [["a"], ["b"]], r"the cost must be a number of 0 or more, not -1.0, of \["
    for place in range(3):
        model = of_cost(lambda truth, predicted: -1.0)
        y = [model.predict_one(x)] * 3  # costs are asked for where something is wrong
        y[place] = wrong_tags(model)
        model.set_params(step="pa2", margin=1e-9)
        refused(model, f"^row {place}: {message}", lambda: model.learn_many([x] * 3, y))
        refused(model, f"^{message}", lambda: model.learn_one(x, y[place]))


@pytest.mark.parametrize("cost", [True, 1, np.float32(1.0), np.int8(1), np.bool_(True)], ids=repr)
def test_costs_that_are_numbers(cost):
    given = PASequence(cost=lambda truth, predicted: cost, average=False).learn_many(X * 3, Y * 3)
    plain = PASequence(cost=lambda truth, predicted: 1.0, average=False).learn_many(X * 3, Y * 3)
    assert state(given) == state(plain)


@pytest.mark.parametrize("error", [ValueError, ZeroDivisionError, KeyboardInterrupt, StopIteration])
def test_costs_that_raise(error):
    def cost(truth, predicted):
        raise error("of my own")

    model = of_cost(cost)
    x, y = [["a"], ["b"]], wrong_tags(model)
    refused(model, "of my own", lambda: model.learn_one(x, y), error)
    refused(model, "of my own", lambda: model.learn_many([x, [["new"]], x], [y, ["new"], y]), error)


def test_a_cost_that_changes_its_arguments():
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


def test_costs_too_large():
    """A margin, or a sum of costs, that leaves float64 is refused."""
    for cost in (1e308, 1.7e308):
        model = of_cost(lambda truth, predicted, cost=cost: cost)
        y = wrong_tags(model)
        x = [["a"], ["b"]]
        before = state(model)
        try:
            for _ in range(3):
                model.learn_one(x, wrong_tags(model))
                before = state(model)
        except ValueError as error:
            assert "overflow" in str(error) or "infinity" in str(error)  # noqa: PT017
        assert state(model) == before
        SequenceLearner.from_bytes(state(model), cost=lambda truth, predicted: 1.0).learn_one(x, y)


def test_a_sum_of_costs_too_large():
    model = PASequence(cost=lambda truth, predicted: 1e308, margin=1e-10, average=False)
    x = [["a"], ["b"]]
    model.learn_one(x, ["A", "B"])
    assert model.stats_.cost == 1e308
    wrong = [{"A": "B", "B": "A"}[tag] for tag in model.predict_one(x)]
    refused(model, "^the sum of the costs overflows float64", lambda: model.learn_one(x, wrong))
    SequenceLearner.from_bytes(state(model), cost=lambda truth, predicted: 1.0).learn_one(x, wrong)


MATRIX = [[0, 1], [1, 0]]
OPTIONS_THAT_ARE_NONE = {
    "a negative cost": (
        {"cost": [[0, -1], [1, 0]], "classes": ["A", "B"]},
        "cost must be None, a square matrix or a dict",
    ),
    "a cost on the diagonal": ({"cost": [[1, 1], [1, 0]], "classes": ["A", "B"]}, "with 0 on the diagonal"),
    "a cost that is not square": (
        {"cost": [[0, 1, 1], [1, 0, 1]], "classes": ["A", "B"]},
        "cost must be .* a square matrix",
    ),
    "a cost of NaN": ({"cost": [[0, np.nan], [1, 0]], "classes": ["A", "B"]}, "cost must be None"),
    "an infinite cost": ({"cost": [[0, np.inf], [1, 0]], "classes": ["A", "B"]}, "cost must be None"),
    "a cost of text": ({"cost": "hamming"}, "cost must be None"),
    "a number for a cost": ({"cost": 2.0}, "cost must be None"),
    "no cost at all": ({"cost": []}, "cost must be None"),
    "an empty dict": ({"cost": {}}, "cost must be None"),
    "a dict of numbers": ({"cost": {"A": 1.0}}, "cost must be None"),
    "a negative cost in a dict": ({"cost": {"A": {"B": -1.0}}}, "cost must be None"),
    "a diagonal in a dict": ({"cost": {"A": {"A": 1.0, "B": 1.0}}}, "cost must be None"),
    "more costs than classes": (
        {"cost": np.ones((3, 3)) - np.eye(3), "classes": ["A", "B"]},
        "a row and a column for each of the 2 labels",
    ),
    "costs without classes": (
        {"cost": MATRIX},
        r"a cost matrix needs the tags in order: give classes=\[...\]",
    ),
    "a cost of other tags": (
        {"cost": {"A": {"C": 1.0}}, "classes": ["A", "B"]},
        "cost names 'C', which is not one of the labels",
    ),
    "parts of costs with max": (
        {"cost": [[0, 0.5], [1, 0]], "classes": ["A", "B"], "selection": "max"},
        "whole numbers .*: use 'max-additive' or 'prediction'",
    ),
    "huge costs with max": (
        {"cost": [[0, 2**21], [1, 0]], "classes": ["A", "B"], "selection": "max"},
        "whole numbers .*: use 'max-additive'",
    ),
    "a function with max": (
        {"cost": lambda y, z: 1.0, "selection": "max"},
        "goes with selection='prediction'",
    ),
    "a function with max-additive": (
        {"cost": lambda y, z: 1.0, "selection": "max-additive"},
        "goes with selection='prediction'",
    ),
    "an unknown selection": (
        {"selection": "best"},
        "selection must be .*'prediction'.*'max-additive', not 'best'",
    ),
    "a selection for labels": (
        {"selection": "simproj"},
        "not for sequence; there are prediction, max, max-additive",
    ),
    "an unknown step": ({"step": "pa3"}, "step must be 'pa', 'pa1', 'pa2', .*, not 'pa3'"),
    "cw": ({"step": "cw"}, "step='cw' is not for sequence; use AROW: step='pa2' with geometry='diagonal'"),
    "the perceptron with max": ({"step": "perceptron", "selection": "max"}, "use selection='prediction'"),
    "an unknown geometry": ({"geometry": "round"}, "geometry must be .*'diagonal'.*, not 'round'"),
    "a full covariance": ({"geometry": "mahalanobis"}, "use 'euclidean' or 'diagonal'"),
    "a simplex": ({"geometry": "entropy"}, "use 'euclidean' or 'diagonal'"),
    "an unknown update": (
        {"covariance_update": "exact"},
        "covariance_update must be 'precision' or 'drop', not 'exact'",
    ),
    "C of 0": ({"C": 0.0}, "C must be a number greater than 0"),
    "C of NaN": ({"C": float("nan")}, "C must be a number greater than 0"),
    "no margin": ({"margin": 0.0}, "margin must be a finite number greater than 0"),
    "an infinite margin": ({"margin": float("inf")}, "margin must be a finite number greater than 0"),
    "an average from 0": ({"average": 0}, "average must be True, False, or a whole number of 1 or more"),
    "an average of text": ({"average": "yes"}, "average must be True, False"),
    "one class": ({"classes": ["A"]}, "classes must be None or two or more different labels"),
    "the same class twice": ({"classes": ["A", "A"]}, "the labels must be different"),
    "classes of nothing": (
        {"classes": [None, "A"]},
        "classes must be None or two or more different labels, not",
    ),
    "classes of text": ({"classes": "AB"}, "classes must be None or two or more different labels"),
    "no labels": ({"max_labels": 0}, "max_labels must be a whole number from 2"),
    "0 bits": ({"hash_bits": 0}, "hash_bits must be None or a whole number from 1 to 30"),
    "99 bits": ({"hash_bits": 99}, "hash_bits must be None or a whole number from 1 to 30"),
    "more columns than features": ({"hash_bits": 20, "max_features": 1000}, "more than max_features"),
    "no features": ({"max_features": 0}, "max_features must be a whole number from 1"),
    "whole weights": ({"dtype": "int64"}, "dtype must be 'float32' or 'float64'"),
    "a start of 0": ({"initial_variance": 0.0}, "initial_variance must be"),
    "no regularizer": ({"covariance_regularizer": 0.0}, "covariance_regularizer must be"),
    "no passes": ({"max_iter": 0}, "max_iter must be a whole number of 1 or more"),
    "a seed of text": ({"random_state": "x"}, "random_state must be"),
    "shuffled a bit": ({"shuffle": 0.5}, "shuffle must be True or False"),
}


@pytest.mark.parametrize("what", OPTIONS_THAT_ARE_NONE)
def test_options_that_are_none(what):
    options, message = OPTIONS_THAT_ARE_NONE[what]
    model = PASequence(**options)  # as scikit-learn wants it, nothing is checked here
    x, y = [["a"], ["b"]], ["A", "B"]
    for call in (
        lambda: model.fit([x], [y]),
        lambda: model.learn_one(x, y),
        lambda: model.learn_many([x], [y]),
        lambda: model.partial_fit([x], [y], classes=options.get("classes", ["A", "B"])),
        lambda: model.predict_one(x),
    ):
        if call.__code__.co_names[0] == "partial_fit" and what == "costs without classes":
            continue  # now they are given
        with pytest.raises(ValueError, match=message):
            call()
        assert "_learner" not in vars(model)


def test_classes_that_are_not_those_of_the_constructor():
    model = PASequence(classes=["A", "B"])
    for classes in (["A", "C"], ["A"], ["A", "B", "C"]):
        with pytest.raises(ValueError, match="are not those of the constructor"):
            model.partial_fit([[["a"]]], [["A"]], classes=classes)
        assert "_learner" not in vars(model)
    assert model.partial_fit([[["a"]]], [["A"]], classes=["B", "A"]).classes_ == ["A", "B"]


def test_another_cost_for_a_file(tmp_path):
    for options in ({"cost": MATRIX, "classes": ["A", "B"]}, {"cost": {"A": {"B": 1.0}}}, {}):
        PASequence(**options).learn_one([["a"], ["b"]], ["A", "B"]).save(tmp_path / "m")
        with pytest.raises(
            ModelFileError, match="its cost is not a function, and is in the file: load it without cost="
        ):
            PASequence.load(tmp_path / "m", cost=lambda truth, predicted: 1.0)
        assert PASequence.load(tmp_path / "m").classes_ == ["A", "B"]


# ---- beyond all measure ---------------------------------------------------------------------------------------


def test_an_enormous_sentence():
    model = PASequence(average=False).learn_many([[["a"], ["b"], ["c"]]] * 5, [["A", "B", "C"]] * 5)
    x = [["a"], ["b"], ["c"]] * 33_334
    tags = model.predict_one(x)
    assert tags == ["A", "B", "C"] * 33_334
    assert model.score_one(x, tags) == pytest.approx(model.score_one(x))
    model.learn_one(x, tags[::-1])
    assert model.stats_.rounds == 6


@pytest.mark.parametrize("cost", [None, [[0, 2], [3, 0]]])
def test_an_enormous_sentence_for_an_exact_search(cost):
    """Its states are too many: refused, in words, not killed."""
    model = PASequence(selection="max", classes=["A", "B"], cost=cost).learn_one([["a"], ["b"]], ["A", "B"])
    x, y = [["a"], ["new"]] * 15_000, ["B", "A"] * 15_000
    message = (
        "a sentence of 30000 tokens is too long for selection='max' .*; use 'max-additive' or 'prediction'"
    )
    refused(model, f"^{message}", lambda: model.learn_one(x, y))
    refused(model, f"^row 1: {message}", lambda: model.learn_many([[["newer"]], x], [["A"], y]))
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
def test_scores_that_overflow(options):
    """Every value is fine, and so is every weight, but not what comes together of their products."""
    model, x = overflowing(options)
    for call in (
        lambda: model.predict_one(x),
        lambda: model.score_one(x),
        lambda: model.score_one(x, ["A"] * len(x)),
        lambda: model.explain_one(x),
        lambda: model.learn_one(x, ["A"] * len(x)),
        lambda: model.learn_one(x, ["B"] * len(x)),
    ):
        refused(model, "^the score overflows float64", call)
    short = [{"f0": -1.0}, ["new"]]
    inside = "^row 1: the score overflows float64"
    refused(
        model, inside, lambda: model.learn_many([short, x, short], [["B", "A"], ["B"] * len(x), ["A", "new"]])
    )
    refused(model, inside, lambda: model.predict([short, x]))
    assert len(model.predict_one(short)) == 2
