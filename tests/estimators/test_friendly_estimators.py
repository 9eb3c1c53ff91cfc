"""What a new user tries: dicts and text in `fit`, options of other libraries, weights, missing labels."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

import hinge
import hinge.compat
import hinge.river
from hinge.options import hints, table
from hinge.structured.sequence_learner import SequenceLearner

EVENTS = [
    {"size": 1.0, "color": "red"},
    {"size": 2.5, "color": "blue"},
    {"size": 0.5, "color": "red", "new": True},
] * 8
TARGETS = {
    hinge.PAClassifier: ["a", "b", "a"] * 8,
    hinge.PARegressor: [1.0, 2.0, 0.5] * 8,
    hinge.PAOneClass: None,
    hinge.PAMultilabel: [{"a"}, {"b", "c"}, {"a", "c"}] * 8,
    hinge.PAOrdinal: [1, 2, 1] * 8,
}
FRAME = pd.DataFrame(
    {"size": [1.0, 2.5, 0.5] * 8, "color": ["red", "blue", "red"] * 8, "on": [True, False, True] * 8}
)
ESTIMATORS = [*TARGETS, hinge.PARanker, hinge.PASequence, hinge.PAStructured, hinge.TextClassifier]
COMPAT = [hinge.compat.PassiveAggressiveClassifier, hinge.compat.PassiveAggressiveRegressor, hinge.compat.CRF]
RIVER = [hinge.river.PAClassifier, hinge.river.PARegressor, hinge.river.PAMultilabel]


def once(cls, **options):
    """`fit` as one pass in the order of the rows."""
    return cls(max_iter=1, tol=None, shuffle=False, **options)


@pytest.mark.parametrize("hash_bits", [None, 6])
@pytest.mark.parametrize("cls", TARGETS)
def test_fit_takes_a_list_of_dicts(cls, hash_bits):
    y = TARGETS[cls]
    model = once(cls, hash_bits=hash_bits).fit(EVENTS, y)
    known = {"classes": model.classes_.tolist()} if cls in (hinge.PAOrdinal, hinge.PAMultilabel) else {}
    stream = cls(hash_bits=hash_bits, **known)
    for i, x in enumerate(EVENTS):
        stream.learn_one(x) if y is None else stream.learn_one(x, y[i])
    if cls is hinge.PAOneClass:  # |w|^2 is summed anew after as many values as there are columns
        assert model.named_weights() == pytest.approx(stream.named_weights(), rel=1e-12)
    else:
        assert model.named_weights() == stream.named_weights()
        np.testing.assert_array_equal(model.predict(EVENTS), stream.predict(EVENTS))
    first = cls(hash_bits=hash_bits)
    more = {"classes": model.classes_} if hasattr(model, "classes_") else {}
    first.partial_fit(EVENTS, y, **more).partial_fit(EVENTS, y)
    np.testing.assert_array_equal(first.predict(EVENTS[:3]), first.predict(EVENTS)[:3])
    if hash_bits is None:
        names = model.named_weights()
        assert list(names if "size" in names else next(iter(names.values()))) == [
            "size",
            "color=red",
            "color=blue",
            "new",
        ]
        with pytest.raises(ValueError, match="have names"):
            model.predict(np.ones((2, 4)))


@pytest.mark.parametrize("cls", TARGETS)
def test_text_columns_of_a_frame_are_indicators(cls, tmp_path):
    y = TARGETS[cls]
    events = FRAME.to_dict(orient="records")
    model, other = once(cls).fit(FRAME, y), once(cls).fit(events, y)
    assert model.named_weights() == other.named_weights()
    np.testing.assert_array_equal(model.predict(FRAME), other.predict(events))
    model.partial_fit(FRAME, y)
    model.learn_many(*((FRAME,) if y is None else (FRAME, y)))
    model.predict_one({"size": 1.0, "color": "green"})
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(hinge.load(tmp_path / "model").predict(FRAME), model.predict(FRAME))
    categories = FRAME.assign(color=FRAME["color"].astype("category"))
    assert once(cls).fit(categories, y).named_weights() == other.named_weights()
    with pytest.raises(ValueError, match="color"):
        once(cls).fit(FRAME.assign(color=[*FRAME["color"][:-1], np.nan]), y)


def test_bad_events_are_rejected_with_their_row_and_leave_no_trace():
    model = hinge.PAClassifier()
    before = dict(vars(model))
    with pytest.raises(ValueError, match=r"(?s)row 1.*size|size.*row 1"):
        model.fit([{"size": 1.0}, {"size": np.nan}], ["a", "b"])
    with pytest.raises(TypeError, match="row 1: an event must be a dict"):
        model.fit([{"size": 1.0}, 3], ["a", "b"])
    assert vars(model) == before


def test_weights_after_arrays_are_named_by_their_columns():
    X = np.array([[1.0, 0.0], [0.0, 1.0]])
    model = hinge.PAClassifier(random_state=0).fit(X, [0, 1])
    assert model.named_weights() == dict(enumerate(model.coef_[0].tolist()))
    three = hinge.PAClassifier(random_state=0).fit(np.eye(3), [0, 1, 2])
    assert three.named_weights()[2] == dict(enumerate(three.coef_[2].tolist()))


@pytest.mark.parametrize("cls", [hinge.PAClassifier, hinge.PAMultilabel])
def test_a_missing_label_is_rejected_with_its_row(cls):
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match="row 1: the label is"):
            cls().fit(np.eye(3), np.array(["a", missing, "b"], dtype=object))


MIXED = ["a", "b", 1, "a"]


@pytest.mark.parametrize("y", [MIXED, np.array(MIXED, dtype=object), pd.Series(MIXED, dtype=object)])
def test_strings_among_numbers_are_rejected_with_their_row_by_fit_and_learned_in_a_stream(y):
    for learn in ("fit", "partial_fit"):
        with pytest.raises(
            ValueError, match=r"row 2: the label is 1, and that of row 0 is 'a': .*\[str\(label\)"
        ):
            getattr(hinge.PAClassifier(classes=["a", "b"]), learn)(np.eye(4), y)
    stream = hinge.PAClassifier().learn_many(np.eye(4), y)
    assert stream.classes_.tolist() == ["a", "b", 1]


@pytest.mark.parametrize(
    "X", [np.array([["1", "b"], ["2", "c"]]), np.array([[1.0, "b"], [2.0, 3]], dtype=object)]
)
@pytest.mark.parametrize("cls", [hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass, *COMPAT[:2]])
def test_texts_in_an_array_are_rejected_with_row_and_column(cls, X):
    with pytest.raises(
        ValueError, match=r"^row 0, column 1: X must hold numbers: 'b' is not a number; give .* OneHotEncoder"
    ):
        cls().fit(X, [0, 1])


def test_weights_of_a_frame_are_named_by_its_columns():
    frame = pd.DataFrame(np.eye(3), columns=["x", "y", "z"])
    model = once(hinge.PARegressor).fit(frame, [1.0, 2.0, 3.0])
    assert model.named_weights() == dict(zip("xyz", model.coef_.tolist(), strict=True))


# ---- options that there are not -----------------------------------------------------------------------------------


def classification(**options):
    return hinge.Learner("classification", **options)


def made(**options):
    return hinge.make("pa1", **options)


# What makes a model: the name in the message, and the options that it has.
MAKERS = {
    **{
        cls: (cls.__name__, inspect.signature(cls).parameters)
        for cls in [*ESTIMATORS, *RIVER, *COMPAT, hinge.Features]
    },
    classification: ("Learner", table.OF_LEARNER),
    SequenceLearner: ("SequenceLearner", table.OF_SEQUENCE),
    made: ("PAClassifier", inspect.signature(hinge.PAClassifier).parameters),
}


@pytest.mark.parametrize("make", MAKERS)
def test_the_error_for_an_unknown_option_suggests_another(make):
    model, own = MAKERS[make]
    for name, hint in hints.HABITS.items():
        if name in own or name in table.PARAMETERS:
            continue
        with pytest.raises(TypeError) as caught:
            make(**{name: 1})
        assert str(caught.value) == f"{model} has no option {name!r}: {hint}"
    near = next(iter(own))
    with pytest.raises(TypeError, match=f"has no option '{near}_x': did you mean `|there are .*{near}"):
        make(**{f"{near}_x": "pa"})


@pytest.mark.parametrize("make", MAKERS)
def test_the_error_for_an_option_of_another_estimator_names_it(make):
    model, own = MAKERS[make]
    for name in table.PARAMETERS:
        if name not in own:
            with pytest.raises(TypeError, match=rf"{model} has no option '{name}': \S+ \S+"):
                make(**{name: 1})


def test_the_hint_names_another_class():
    with pytest.raises(TypeError, match=r"'kernel': it is an option of hinge\.PAClassifier"):
        hinge.TextClassifier(kernel="rbf")
    with pytest.raises(TypeError, match=r"'classes': it is an option of hinge\.PAClassifier"):
        hinge.river.PAClassifier(classes=[0, 1])
    with pytest.raises(TypeError, match="'C': did you mean `c`"):
        hinge.compat.CRF(C=1.0)


@pytest.mark.parametrize("cls", TARGETS)
def test_hints_do_not_hide_the_signature(cls):
    assert "C" in inspect.signature(cls).parameters
    assert clone(cls(C=0.5)).get_params()["C"] == 0.5
    with pytest.raises(ValueError, match="has no option 'loss': the loss is that of the task"):
        cls().set_params(loss="hinge")


def test_help_is_grouped():
    text = inspect.getdoc(hinge.PAClassifier)
    places = [text.index(f"\n*{name[0].upper()}{name[1:]}*\n") for name in table.GROUPS]
    assert places == sorted(places)
    assert text.index("*Kernel and budget*") < text.index("\ndegree : ")


# ---- weights ------------------------------------------------------------------------------------------------------

X, Y = load_breast_cancer(return_X_y=True)
X = scale(X)


@pytest.mark.parametrize(
    "options", [{}, {"step": "pa"}, {"selection": "mira"}, {"C": 1e3, "kernel": "linear"}]
)
def test_weights_without_effect_are_reported(options):
    plain = hinge.PAClassifier(random_state=0, max_iter=3, tol=None, **options).fit(X, Y)
    weighted = clone(plain).set_params(class_weight="balanced")
    with pytest.warns(hinge.IneffectiveWeights, match=r"changed nothing: (they scale C|step='pa' does not)"):
        weighted.fit(X, Y)
    assert weighted.stats_.weighted == 0
    np.testing.assert_array_equal(weighted.decision_function(X), plain.decision_function(X))
    with pytest.warns(hinge.IneffectiveWeights):
        clone(plain).fit(X, Y, np.where(Y, 2.0, 3.0))


@pytest.mark.parametrize(
    "options",
    [
        {"C": 1e-3},
        {"step": "pa2"},
        {"step": "perceptron"},
        {"geometry": "diagonal"},
        {"selection": "simperc"},
    ],
)
def test_weights_with_an_effect_are_not_reported(options):
    plain = hinge.PAClassifier(random_state=0, max_iter=3, tol=None, **options).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        weighted = clone(plain).set_params(class_weight="balanced").fit(X, Y)
        clone(plain).fit(X, Y, np.ones(len(Y)))
        hinge.PAClassifier(max_iter=3, tol=None).fit(X, Y, np.where(np.arange(len(Y)) < 400, 1.0, 0.0))
    assert weighted.stats_.weighted > 0
    assert not np.array_equal(weighted.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize(
    ("cls", "options"),
    [
        (hinge.PAClassifier, {}),
        (hinge.PAClassifier, {"average": True, "dtype": "float32"}),
        (hinge.PAClassifier, {"selection": "prediction"}),
        (hinge.PARegressor, {}),
        (hinge.PAOneClass, {"radius": 0.5}),
        (hinge.PAOrdinal, {"selection": "max"}),
    ],
)
def test_steps_that_C_shortens_are_counted(cls, options, tmp_path):
    """Exactly where 'pa' would have moved farther: tau = loss/q > C, computed from the losses of one row each."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) * rng.choice([0.2, 1.0, 3.0], size=(60, 1))
    y = (
        None
        if cls is hinge.PAOneClass
        else (rows[:, 0] > 0).astype(int)
        if cls is not hinge.PARegressor
        else 3 * rows[:, 0]
    )
    model = cls(C=0.3, **options)
    known = {} if cls in (hinge.PARegressor, hinge.PAOneClass) else {"classes": [0, 1]}
    capped = 0
    for i in range(60):
        target = None if y is None else y[i : i + 1]
        if i:
            before = model._learner.to_bytes()
            free = hinge.Learner.from_bytes(before)
            free.change(step="pa")
            free.learn(rows[i : i + 1], target)
        model.partial_fit(rows[i : i + 1], target, **known)
        if i:
            same = np.allclose(free.last_weights, model._learner.last_weights, rtol=1e-6, atol=0)
            capped += not same
        else:
            capped = model.stats_.capped
    assert model.stats_.capped == capped > 0
    assert model.stats_.capped <= model.stats_.updates
    model.save(tmp_path / "model")
    assert hinge.load(tmp_path / "model").stats_ == model.stats_


# ---- what can never learn -----------------------------------------------------------------------------------------


def test_a_perceptron_that_drops_each_support_at_once_is_rejected():
    for cls in (hinge.PAClassifier, hinge.PAMultilabel):
        with pytest.raises(ValueError, match="never learns: a support is removed"):
            cls(step="perceptron", beta=0, budget="adaptive", kernel="linear").learn_one({"a": 1.0}, {"x"})
