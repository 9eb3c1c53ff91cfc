"""The contracts of PASequence, continued: what a score is made of, and what is known before anything."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from hinge import PASequence
from sequence_cases import (
    matrices,
    new,
    saved,
    state,
    stream,
    strings,
)

# ---- what a score is made of ----------------------------------------------------------------------------------


def test_arrays_are_explained():
    X, y = matrices()
    model = new({}).learn_many(X, y)
    for x in (X[2], scipy.sparse.csr_matrix(X[2])):
        parts = model.explain_one(x, y[2])
        assert sum(p.contribution for token in parts for p in token) == pytest.approx(
            model.score_one(x, y[2])
        )
        assert {p.feature for token in parts for p in token if isinstance(p.feature, int)} <= set(range(6))


def test_numpy_strings_are_explained():
    X, y, _ = strings()
    model = new({}).learn_many(X, y)
    x = [[np.str_(word) for word in token] for token in X[5]]
    parts = model.explain_one(x, y[5])
    assert sum(p.contribution for token in parts for p in token) == pytest.approx(model.score_one(x, y[5]))


# ---- before anything, and few tags ----------------------------------------------------------------------------


def test_a_prediction_before_set_params():
    X, y, _ = stream()
    model = new({})
    model.predict_one(X[0])
    model.set_params(selection="max").learn_many(X, y)
    assert state(model) == state(new({"selection": "max"}).learn_many(X, y))


@pytest.mark.parametrize("selection", ["prediction", "max", "max-additive"])
def test_one_tag(selection, tmp_path):
    """There is nothing to be wrong about."""
    model = new({"selection": selection})
    for _ in range(3):
        model.learn_one([["a"], ["b"]], ["A", "A"])
    assert model.predict([[["c"]]]) == [["A"]]
    assert model.stats_.mistakes == model.stats_.updates == 0
    assert model.stats_.rounds == 3
    assert saved(model, tmp_path / "m").predict([[["c"]]]) == [["A"]]


def test_one_tag_in_fit():
    model = new({}).fit([[["a"], ["b"]]], [["A", "A"]])
    assert model.predict([[["c"]]]) == [["A"]]
    assert model.classes_ == ["A"]
    assert model.stats_.mistakes == model.stats_.updates == 0


def test_labels_of_any_kind(tmp_path):
    for tags in (
        [1, 2, 3],
        [True, False, True],
        [0.5, -1.0, 2.0],
        ["a", 1, 2.5],
        [np.int64(3), np.str_("x"), 0],
    ):
        model = new({"average": False}).learn_many([[["a"], ["b"], ["c"]]] * 5, [tags] * 5)
        assert model.predict_one([["a"], ["b"], ["c"]]) == tags
        again = saved(model, tmp_path / "m")
        assert again.predict_one([["a"], ["b"], ["c"]]) == tags
        assert [type(tag) for tag in again.classes_] == [type(tag) for tag in model.classes_]
        assert all(type(tag) in (bool, int, float, str) for tag in model.classes_)
        fitted = new({}, random_state=0).fit([[["a"], ["b"], ["c"]]], [tags])
        assert set(fitted.classes_) == set(tags)


def test_tags_in_a_series():
    pandas = pytest.importorskip("pandas")
    X, y = [[["a"], ["b"]]], [pandas.Series(["A", "B"])]
    assert new({}).learn_many(X, y).classes_ == ["A", "B"]
    assert new({}).fit(X, y).classes_ == ["A", "B"]


def test_the_calling_conventions_of_sklearn_crfsuite():
    X, y, _ = strings()
    model = PASequence(max_iter=5, random_state=0)
    assert model.fit(X, y) is model
    tagged = model.predict(X)
    assert isinstance(tagged, list)
    assert all(isinstance(tags, list) and all(type(tag) is str for tag in tags) for tags in tagged)
    assert model.predict_single(X[0]) == tagged[0]
    assert model.classes_ == sorted({tag for tags in y for tag in tags})
    assert set(model.attributes_) == {word for x in X for token in x for word in token}
    right = sum(a == b for t, z in zip(y, tagged, strict=True) for a, b in zip(t, z, strict=True))
    assert model.score(X, y) == pytest.approx(right / sum(map(len, y)))
    assert model.score(X, y, np.eye(len(X))[3]) == np.mean(
        [a == b for a, b in zip(y[3], tagged[3], strict=True)]
    )
    for (before, after), weight in model.transition_features_.items():
        assert {before, after} <= set(model.classes_)
        assert type(weight) is float
        assert weight != 0
    for (feature, tag), weight in model.state_features_.items():
        assert feature in model.attributes_
        assert tag in model.classes_
        assert weight != 0
    # A token as sklearn-crfsuite's tutorial has it.
    token = {
        "bias": 1.0,
        "word.lower()": "la",
        "word.isupper()": False,
        "postag": "DA",
        "BOS": True,
        "+1:word[-3:]": "ña",
    }
    model.learn_one([token, {"bias": 1}], ["O", "B-LOC"])
    assert {"word.lower()=la", "postag=DA", "BOS", "+1:word[-3:]=ña"} <= set(model.attributes_)
    assert "word.isupper()" not in model.attributes_  # a feature of value 0 is not a feature
