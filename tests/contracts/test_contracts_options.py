"""Options changed in mid-stream are followed or rejected by every learning method; asking changes nothing."""

from __future__ import annotations

import contextlib
import copy
import pickle

import numpy as np
import pytest

import hinge
from estimator_cases import (
    ESTIMATORS,
    EVERY,
    OTHER,
    OTHER_OF_TEXTS,
    STRUCTURED,
    Case,
    options_of,
    tensors,
    twice_wrong,
    whole,
)
from hinge.options import table
from hinge.structured.inputs import FUNCTIONS

FIRST, THEN = slice(0, 30), slice(30, 60)
SETTERS = {
    "attribute": setattr,
    "set_params": lambda model, name, value: model.set_params(**{name: value}),
}

OF_ONE_LEARNER = [case for case in EVERY if hasattr(case.new(), "C")]  # not a committee of them


def test_every_option_has_another_value():
    assert OTHER.keys() == table.PARAMETERS.keys()
    assert all(OTHER[name] != table.default(name) for name in OTHER)
    grouped = [name for names in table.GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(table.PARAMETERS)


def test_every_option_of_texts_has_another_value():
    mine = hinge.TextClassifier().get_params()
    assert OTHER_OF_TEXTS.keys() == mine.keys() - table.PARAMETERS.keys()
    assert all(OTHER_OF_TEXTS[name] != mine[name] for name in OTHER_OF_TEXTS)


# Committees of their own have neither C nor an average.
OF_ONE_LEARNER = [case for case in EVERY if "C" in options_of(case)]


def other(name):
    return OTHER_OF_TEXTS[name] if name in OTHER_OF_TEXTS else OTHER[name]


def changes():
    for case in EVERY:
        for name in options_of(case):
            if name in FUNCTIONS and case is STRUCTURED:
                continue
            for method in case.teach:
                for setter in SETTERS if case in ESTIMATORS else ["attribute"]:
                    yield pytest.param(case, name, method, setter, id=f"{case}-{name}-{method}-{setter}")


@pytest.mark.parametrize(("case", "name", "method", "setter"), list(changes()))
def test_change_in_mid_stream_is_followed_or_rejected(case: Case, name, method, setter, tmp_path):
    model, value = case.learned(), other(name)
    if name == "average":
        value = not model.average
    reference, unchanged, before = copy.deepcopy(model), copy.deepcopy(model), whole(model)
    SETTERS[setter](model, name, value)
    if name in table.OF_FIT and name != "batch_tolerance":  # which does not go with step='pa1'
        case.teach[method](model, THEN)
        case.teach[method](unchanged, THEN)
        assert tensors(model) == tensors(unchanged)
    elif name in case.new()._changeable:
        if setter == "set_params":  # which is followed at once
            assert model._learner.parameters[name] == value
        case.teach[method](model, THEN)
        reference._learner.change(**{name: value})
        case.teach[method](reference, THEN)
        assert tensors(model) == tensors(reference)
        assert model._learner.parameters[name] == value
    else:
        with pytest.raises(ValueError, match=name):
            case.teach[method](model, THEN)
        with pytest.raises(ValueError, match=name):
            model.save(tmp_path / "model")
        SETTERS[setter](model, name, getattr(reference, name))
        assert whole(model) == before
        case.teach[method](model, THEN)
        case.teach[method](unchanged, THEN)
        assert whole(model) == whole(unchanged)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("setter", SETTERS)
@pytest.mark.parametrize("case", ESTIMATORS, ids=repr)
def test_fit_starts_from_scratch_with_the_changed_options(case, setter):
    followed = 0
    for name in options_of(case):
        if name in FUNCTIONS and case is STRUCTURED:
            continue
        model, fresh = case.learned(), case.new(**{name: other(name)})
        try:
            case.fit(fresh)
        except ValueError:
            with contextlib.suppress(ValueError):  # a bad combination is rejected at once, or by fit
                SETTERS[setter](model, name, other(name))
            with pytest.raises(ValueError):
                case.fit(model)
            continue
        SETTERS[setter](model, name, other(name))
        assert tensors(case.fit(model)) == tensors(fresh)
        assert getattr(model, name) == other(name)
        case.teach["learn_many"](model, THEN)  # with these options
        followed += 1
    assert followed >= (10 if case in OF_ONE_LEARNER else 9)


@pytest.mark.parametrize("case", OF_ONE_LEARNER, ids=repr)
def test_invalid_value_is_rejected_until_it_is_corrected(case):
    model = case.learned()
    for method in case.teach:
        before = whole(model)
        model.C = -1.0
        for _ in range(2):
            with pytest.raises(ValueError, match="C must be"):
                case.teach[method](model, THEN)
        if case in ESTIMATORS:
            with pytest.raises(ValueError, match="C must be"):
                model.set_params(C=-1.0)
        model.C = 1.0
        assert whole(model) == before
        case.teach[method](model, THEN)
        assert whole(model) != before


@pytest.mark.parametrize("case", [case for case in OF_ONE_LEARNER if case is not STRUCTURED], ids=repr)
def test_saved_model_has_the_options_it_learns_with(case, tmp_path):
    model = case.learned()
    model.C = 0.25
    model.save(tmp_path / "model")
    loaded = hinge.load(tmp_path / "model")
    assert loaded.C == loaded._learner.parameters["C"] == 0.25
    for each in (model, loaded):
        case.teach["learn_one"](each, THEN)
    assert tensors(model) == tensors(loaded)


@pytest.mark.parametrize("case", OF_ONE_LEARNER, ids=repr)
def test_copies_keep_changed_options(case):
    model = case.learned()
    before = model.average
    model.average = not model.average
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.average is model.average
        with pytest.raises(ValueError, match="average"):
            case.teach["learn_one"](again, THEN)
        again.average = before
        case.teach["learn_one"](again, THEN)


@pytest.mark.parametrize("case", OF_ONE_LEARNER, ids=repr)
def test_equal_values_of_other_types_change_nothing(case):
    model = case.learned()
    model.C = np.float64(1.0)
    model.dtype = np.float64
    if model.average != "auto":
        model.average = int(model.average) if model.average else np.bool_(False)
    case.teach["learn_one"](model, THEN)


def test_functions_of_a_structure_are_read_when_used():
    model, other = STRUCTURED.learned(), STRUCTURED.learned()
    model.cost = twice_wrong
    for each in (model, other):
        STRUCTURED.teach["learn_one"](each, THEN)
    assert tensors(model) != tensors(other)
    model.argmax = None
    with pytest.raises(ValueError, match="argmax must be a function"):
        STRUCTURED.teach["learn_many"](model, THEN)


def test_several_options_are_set_together_or_not_at_all():
    model = ESTIMATORS[0].learned()
    with pytest.raises(ValueError, match="nonsense"):
        model.set_params(C=0.5, nonsense=1)
    assert model.C == 1.0


# ---- what does not learn ------------------------------------------------------------------------------------------


def asked():
    for case in EVERY:
        for name in case.ask:
            yield pytest.param(case, name, id=f"{case}-{name}")


def ask(case: Case, name: str, model) -> str:
    try:
        return str(case.ask[name](model))
    except (
        ValueError,
        AttributeError,
        TypeError,
        NotImplementedError,
    ) as error:  # there may be no such thing
        return type(error).__name__


@pytest.mark.parametrize(("case", "name"), list(asked()))
def test_asking_an_unlearned_model_changes_nothing(case: Case, name):
    model = case.new()
    before = dict(vars(model))
    ask(case, name, model)
    assert vars(model) == before
    new = case.new()
    if case.start is not None:  # it may still be told all classes
        case.start(model)
        case.start(new)
    else:
        case.teach["learn_one"](model, FIRST)
        case.teach["learn_one"](new, FIRST)
    assert whole(model) == whole(new)


@pytest.mark.parametrize(("case", "name"), list(asked()))
def test_asking_a_learned_model_changes_nothing(case: Case, name):
    model = case.learned()
    before, saved = dict(vars(model)), whole(model)
    other = copy.deepcopy(model)
    first = ask(case, name, model)
    assert vars(model) == before
    assert whole(model) == saved
    if name not in ("state", "repr"):
        assert ask(case, name, model) == first
    for each in (model, other):
        case.teach["learn_many" if "learn_many" in case.teach else "learn_one"](each, THEN)
    assert whole(model) == whole(other)


@pytest.mark.parametrize("case", EVERY, ids=repr)
def test_rejected_first_example_begins_no_model(case):
    """Else the first partial_fit could not say which classes there are."""
    model, new = case.new(), case.new()
    x = {"river": {"a": np.nan}, "PARanker": 3, "PASequence": [[3]], "PAStructured": None}
    bad = x.get(case.name.split(".")[0], {"a": np.nan})
    with pytest.raises((ValueError, TypeError)):
        model.learn_one(
            bad, *([] if case.name == "PAOneClass" else [["x"] if case.name == "PASequence" else "x"])
        )
    if case.start is None:
        return
    assert not model.__sklearn_is_fitted__()
    assert vars(model) == vars(new)
    case.start(model)
    case.start(new)
    assert whole(model) == whole(new)


def test_a_prediction_for_an_event_leaves_room_for_wider_rows():
    learner = hinge.Learner("regression")
    learner.learn(np.ones((3, 2)), np.ones(3))
    learner.score_one({0: 1.0})
    learner.learn_rows(hinge.data.rows.rows_of(np.ones((3, 4))), np.full(3, 5.0))
    assert learner.n_features == 4
    assert learner.score_one({3: 1.0}) != learner.score_one({4: 1.0})
