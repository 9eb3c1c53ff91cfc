"""Named features and arrays side by side: what has an order, what has not, and what is told apart."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import hinge
from hinge import Learner, PAClassifier, PAOneClass, PARegressor

EVENTS = [({"b": 1.0, "a": 2.0}, "x"), ({"a": 1.0, "c": -1.0}, "y")]


def learned(model: Any) -> Any:
    for x, y in EVENTS:
        model.learn_one(x, y)
    return model


@pytest.mark.parametrize("model", [PAClassifier(), Learner("classification")])
def test_arrays_are_refused_where_events_gave_the_names(model: Any, tmp_path: Path) -> None:
    """The columns stand in the order in which events brought them, which no array can follow."""
    learned(model)
    model.save(tmp_path / "model")
    for each in (model, hinge.load(tmp_path / "model")):
        predict = each.predict if isinstance(each, PAClassifier) else each.scores
        with pytest.raises(ValueError, match="give a list of dicts or a DataFrame"):
            predict(np.ones((1, 3)))
        frame = pd.DataFrame({"a": [1.0], "c": [-1.0], "b": [0.0]})
        score = predict(frame)[0]
        assert score == (each.predict_one if isinstance(each, PAClassifier) else each.score_one)(
            {"c": -1.0, "a": 1.0}
        )


def test_hashed_names_need_no_order() -> None:
    model = learned(PAClassifier(hash_bits=4))
    assert model.decision_function(np.zeros((1, 16))) == model.intercept_


def test_names_given_to_columns_have_an_order() -> None:
    learner = Learner("regression")
    learner.name_columns(["a", "b"])
    learner.learn(np.array([[1.0, 2.0]]), np.array([3.0]))
    learner = Learner.from_bytes(learner.to_bytes())
    assert learner.scores(np.array([[1.0, 0.5]]))[0] == learner.score_one({"b": 0.5, "a": 1.0})


def test_a_frame_then_events_then_arrays() -> None:
    """A fitted estimator takes arrays of the width that it was fitted on, whatever events came after."""
    frame = pd.DataFrame({"a": [1.0, 0.0, 2.0], "b": [0.0, 1.0, 1.0]})
    model = PARegressor(random_state=0).fit(frame, [1.0, 2.0, 4.0])
    model.learn_one({"c": 1.0}, 7.0)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        by_array = model.predict(frame.to_numpy())
    np.testing.assert_array_equal(by_array, model.predict(frame))
    np.testing.assert_allclose(by_array[2], model.predict_one({"a": 2, "b": 1}))


def test_columns_are_called_by_their_numbers() -> None:
    model = PARegressor(random_state=0).fit(np.array([[1.0, 0.0], [0.0, 2.0]]), [1.0, 2.0])
    np.testing.assert_allclose(model.predict_one({0: 1.0, 1: 3.0}), model.predict(np.array([[1.0, 3.0]]))[0])


def test_a_boolean_knows_its_other_class() -> None:
    model = PAClassifier(step="pa").learn_one({"a": 1.0}, True)
    assert model.classes_.tolist() == [False, True]
    assert model.score_one({"a": 1.0}) == pytest.approx(1.0)
    assert model.predict_one({"a": -9.0}) is False


def test_an_event_for_one_class_takes_no_label() -> None:
    model = PAOneClass(w1="zero").learn_one({"a": 3.0}).learn_one({"a": 3.0}, 2.0)
    assert model.stats_.rounds == 2
