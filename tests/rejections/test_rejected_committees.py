"""Options of committees: what experts cannot have, and learners that have no committee, say so."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pytest

import hinge
import hinge.compat
from hinge import Learner
from hinge.structured.sequence_learner import SequenceLearner

X = np.random.default_rng(0).normal(size=(30, 3))
Y = (X[:, 0] > 0).astype(int)
INF = float("inf")
SEVERAL = [{"C": "auto"}, {"C": [0.1, 1.0]}]
RADII = [{"covariance_regularizer": "auto"}, {"covariance_regularizer": [0.1, 1.0]}]
FUNCTIONS = (lambda x, y: {}, lambda w, x: 0, lambda y, z: 0.0)
WITHOUT = {
    "sequence": lambda **o: SequenceLearner(**o),
    "structured": lambda **o: hinge.PAStructured(*FUNCTIONS, **o).learn_one([1], 0),
    "uniclass": lambda **o: Learner("uniclass", **o),
    "prototype": lambda **o: hinge.PARanker(**o).learn_one("one two", "a"),
    "PassiveAggressiveClassifier": lambda **o: hinge.compat.PassiveAggressiveClassifier(**o).fit(X, Y),
    "PassiveAggressiveRegressor": lambda **o: hinge.compat.PassiveAggressiveRegressor(**o).fit(X, X[:, 0]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("options", SEVERAL, ids=str)
@pytest.mark.parametrize("name", WITHOUT)
def test_several_C_are_rejected_where_there_is_no_vote(name, options):
    with pytest.raises(ValueError, match=rf"C=.* is not for {name}.*give a number"):
        WITHOUT[name](**options)


@pytest.mark.parametrize("options", RADII, ids=str)
@pytest.mark.parametrize("name", ["sequence", "structured", "uniclass"])
def test_several_regularizers_are_rejected_where_there_is_no_vote(name, options):
    with pytest.raises((ValueError, TypeError), match="covariance_regularizer"):
        WITHOUT[name](**options)


def test_experts_are_rejected_where_there_is_no_vote():
    with pytest.raises(ValueError, match=r"experts.* is not for uniclass: "):
        Learner("uniclass", experts="auto")
    for make in (
        SequenceLearner,
        hinge.PAOneClass,
        hinge.PARanker,
        hinge.river.PAMultilabel,
    ):
        with pytest.raises(TypeError, match="has no option 'experts'"):
            make(experts="auto")


COMBINATIONS = [
    ("classification", {"kernel": "rbf"}, "kernel='rbf' does not go with {}: its experts have weights"),
    ("classification", {"w1": [1.0]}, "does not go with {}: its experts start at 0"),
    ("classification", {"dtype": "float32"}, "dtype='float32' does not go with {}: its weights are float64"),
    ("classification", {"cost": {"a": {"b": 2.0}}}, "does not go with {}: the vote counts mistakes"),
    (
        "classification",
        {"selection": "mira"},
        "selection='mira' does not go with {}: the vote needs one loss",
    ),
    ("classification", {"selection": "prediction"}, "does not go with {}: the vote needs one loss per round"),
    ("classification", {"geometry": "entropy"}, "{} needs geometry='euclidean', not 'entropy'"),
    ("classification", {"geometry": "mahalanobis"}, "{} needs geometry='euclidean', not 'mahalanobis'"),
    ("classification", {"covariance_update": "precision"}, "does not go with {}: its AROW drops"),
    ("classification", {"initial_variance": 2.0}, "does not go with {}: its variances start at 1"),
    (
        "ordinal",
        {"nu": [1.0, 2.0], "selection": "simproj"},
        "does not go with {}: it has no weights of constraints",
    ),
]
OF_LISTS = [
    ("classification", {"C": "auto", "step": "pa"}, "C='auto' needs step='pa1' or 'pa2', not 'pa'"),
    (
        "classification",
        {"C": "auto", "step": "perceptron"},
        "C='auto' needs step='pa1' or 'pa2', not 'perceptron'",
    ),
    ("classification", {"C": [1.0], "average": 9}, "average=9 does not go with C=[1.0]: its averages begin"),
    (
        "classification",
        {"C": [1.0, INF], "selection": "simperc"},
        "selection='simperc' takes steps of length C",
    ),
    ("classification", {"C": []}, "C must be a number greater than 0"),
    ("classification", {"C": [1.0, 1.0]}, "C must be a number greater than 0"),
    ("classification", {"C": [1.0, -1.0]}, "C must be a number greater than 0"),
    ("classification", {"C": [1.0, "auto"]}, "C must be a number greater than 0"),
    ("classification", {"C": list(range(1, 66))}, "C must be a number greater than 0"),
    ("classification", {"C": "best"}, "C must be a number greater than 0"),
    ("classification", {"covariance_regularizer": "auto"}, "needs geometry='diagonal', not 'euclidean'"),
    (
        "classification",
        {"covariance_regularizer": "auto", "geometry": "diagonal", "step": "pa1"},
        "needs step='pa2'",
    ),
    (
        "classification",
        {"covariance_regularizer": "auto", "geometry": "diagonal", "step": "pa2", "C": "auto"},
        "C='auto' and covariance_regularizer='auto': only one of them may be several numbers",
    ),
    ("classification", {"experts": "auto", "C": "auto"}, "C='auto' does not go with experts"),
    ("classification", {"experts": "auto", "average": True}, "give words that end in ':average'"),
    (
        "classification",
        {"experts": "auto", "selection": "simperc"},
        "use C=[...] with step='pa1', not experts",
    ),
    (
        "classification",
        {"experts": ["lattice"], "selection": "simproj"},
        "the expert 'lattice' is for regression",
    ),
    ("multilabel", {"experts": ["lattice"]}, "the expert 'lattice' is for regression"),
    ("ordinal", {"experts": ["scaled:lattice"]}, "the expert 'lattice' is for regression"),
    ("classification", {"experts": ["lattice", "pa"]}, "a lattice stands alone, with its averages at most"),
    ("classification", {"experts": ["pa", "lattice"]}, "a lattice stands alone, with its averages at most"),
    ("classification", {"experts": ["lattice", "scaled:lattice"]}, "a lattice stands alone"),
    ("classification", {"experts": ["lattice:average"]}, "the averages of a lattice come after it"),
    ("classification", {"experts": ["pa1:0", "arow:0", "pa1:0"]}, "experts must be"),
    ("classification", {"experts": ["pa1=1", "pa1=1.0"]}, "an expert is named twice"),
]


def learner(task, options):
    return Learner(task, **({"classes": [0, 1, 2]} if task == "ordinal" else {}), **options)


@pytest.mark.parametrize("several", [*SEVERAL, {"experts": "auto"}], ids=str)
@pytest.mark.parametrize(("task", "options", "message"), COMBINATIONS)
def test_option_that_experts_cannot_have_is_rejected(task, options, message, several):
    what = "experts" if "experts" in several else f"C={several['C']!r}"
    with pytest.raises(ValueError, match=re.escape(message.format(what))):
        learner(task, {**options, **several})


@pytest.mark.parametrize(("task", "options", "message"), OF_LISTS)
def test_invalid_combination_of_a_committee_is_rejected(task, options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        learner(task, options)


INVALID = [
    *(
        "pa1",
        "pa1:",
        "pa1=",
        "pa1=0",
        "pa1=-1",
        "pa1=nan",
        "pa1=inf",
        "pa1=1e999",
        "pa1:1.5",
        "pa1:200",
        "pa1:x",
    ),
    *(
        "pa:1",
        "lattice:1",
        "arow",
        "scaled",
        "scaled:",
        "scaled:scaled:pa",
        "pa1:0:averages",
        "average:pa1:0",
    ),
    *("perceptron", "pa1:0x"),
]


@pytest.mark.parametrize(
    "words",
    [*([word] for word in INVALID), [], [""], [1], [None], ["pa1:0 pa1:1"], ["pa1= 1"], "pa1:0", 5],
    ids=str,
)
def test_invalid_words_are_rejected(words):
    with pytest.raises(ValueError, match="experts must be None, 'auto', or a list of words"):
        Learner("classification", experts=words)


def test_more_than_64_experts_are_rejected():
    with pytest.raises(ValueError, match="experts must be"):
        Learner("classification", experts=[f"pa1:{j}" for j in range(65)])
    with pytest.raises(ValueError, match="there are more than 64 experts"):
        Learner("classification", C=list(range(1, 41)), average=True)
    assert len(Learner("classification", C=list(range(1, 65))).experts) == 64


def test_plain_learners_have_no_experts():
    learner = Learner("classification")
    for ask in (lambda: learner.experts, learner.leader):
        with pytest.raises(AttributeError, match=r"there are no experts: this is one learner \(C=1.0\)"):
            ask()


def test_committees_have_no_covariance_and_nothing_to_change():
    committee = Learner("classification", covariance_regularizer="auto", geometry="diagonal", step="pa2")
    for ask in (lambda: committee.covariance, lambda: committee.uncertainty_one({"a": 1.0})):
        with pytest.raises(
            AttributeError, match=r"each expert of a committee has its own covariance: see leader\(\)"
        ):
            ask()
    with pytest.raises(ValueError, match="C of a committee cannot change once learning has begun"):
        Learner("classification", C="auto").change(C=1.0)
    with pytest.raises(ValueError, match="C of a committee cannot change once learning has begun"):
        Learner("classification").change(C="auto")


def test_leader_needs_an_example():
    for task in ("classification", "regression"):
        with pytest.raises(ValueError, match="no expert leads yet: no example with a loss was learned"):
            Learner(task, C="auto").leader()


@pytest.mark.parametrize("average", [1, True, np.True_])
def test_averages_from_the_first_round_are_accepted(average):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learner = Learner("classification", C=[0.1, INF], average=average).experts
    assert [each.name for each in learner] == ["pa1=0.1", "pa", "pa1=0.1:average", "pa:average"]
