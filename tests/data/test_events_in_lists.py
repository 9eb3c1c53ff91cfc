"""A list of events, wherever an array may stand: predict, decision_function, score, uncertainty."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

import hinge

RANDOM = np.random.default_rng(3)
ROWS = RANDOM.normal(size=(60, 4)).round(3)
EVENTS = [
    {f"x{j}": value for j, value in enumerate(row) if j != i % 4} for i, row in enumerate(ROWS.tolist())
]
NEW = [{**event, "never seen": 2.0} for event in EVENTS]
THIRDS = np.digitize(ROWS.sum(axis=1), [-1, 1]).tolist()
MODELS = {
    "two classes": (hinge.PAClassifier(), [k > 0 for k in THIRDS]),
    "classes": (hinge.PAClassifier(selection="mira"), THIRDS),
    "kernel": (hinge.PAClassifier(kernel="rbf", gamma=0.3), THIRDS),
    "diagonal": (hinge.PAClassifier(geometry="diagonal"), THIRDS),
    "numbers": (hinge.PARegressor(), ROWS.sum(axis=1).tolist()),
    "ranks": (hinge.PAOrdinal(classes=[0, 1, 2]), THIRDS),
    "ball": (hinge.PAOneClass(radius=1.5), None),
    "hashed": (hinge.PAClassifier(hash_bits=8), THIRDS),
}


@pytest.mark.parametrize("kind", MODELS)
@pytest.mark.parametrize("events", [EVENTS, NEW], ids=["seen", "new"])
def test_a_list_of_events_is_predicted_as_one_after_the_other(kind, events):
    model, y = MODELS[kind]
    model = clone(model)
    model = model.learn_many(EVENTS) if y is None else model.learn_many(EVENTS, y)
    assert model.predict(events).tolist() == [model.predict_one(x) for x in events]
    if kind not in ("numbers", "ranks"):
        scores = [model.score_one(x) for x in events]
        expected = [list(score.values()) if isinstance(score, dict) else score for score in scores]
        np.testing.assert_array_equal(model.decision_function(events), expected)
    if kind == "diagonal":
        np.testing.assert_array_equal(model.uncertainty(events), [model.uncertainty_one(x) for x in events])
    if kind == "numbers":
        assert model.score(EVENTS, y) == pytest.approx(r2_score(y, [model.predict_one(x) for x in EVENTS]))
    elif y is not None:
        assert model.score(EVENTS, y) == np.mean(
            [model.predict_one(x) == t for x, t in zip(EVENTS, y, strict=True)]
        )
    if kind not in ("hashed",):
        with pytest.raises(ValueError, match="list of dicts or a DataFrame"):
            model.predict(ROWS)


def test_sets_of_labels():
    sets = [["a"] if k else ["b", "c"] for k in THIRDS]
    model = hinge.PAMultilabel().learn_many(EVENTS, sets)
    made = model.predict(EVENTS)
    for row, x in zip(np.asarray(made), EVENTS, strict=True):
        assert {label for label, on in zip(model.classes_, row, strict=True) if on} == set(
            model.predict_one(x)
        )


def test_what_is_no_event_among_them_is_refused():
    model = hinge.PAClassifier().learn_many(EVENTS, THIRDS)
    with pytest.raises(TypeError, match="row 1: an event must be a dict"):
        model.predict([EVENTS[0], [1.0, 2.0]])


def test_names_of_columns_are_those_of_a_frame_that_was_fitted():
    import pandas as pd

    frame = pd.DataFrame(ROWS, columns=list("abcd"))
    model = hinge.PAClassifier().fit(frame, THIRDS)
    np.testing.assert_array_equal(model.predict(frame), model.predict(frame.to_dict("records")))
