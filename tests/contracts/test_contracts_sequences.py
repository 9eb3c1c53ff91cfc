"""Sequences of tags: fit, tags of any kind, hashing, limits, and the conventions of sklearn-crfsuite."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher
from sklearn.model_selection import GridSearchCV, cross_val_score

import hinge
from hinge import PASequence
from sequence_cases import (
    TAGS,
    blocks,
    close,
    matrices,
    new,
    same_weights,
    saved,
    state,
    stream,
    strings,
)


def test_custom_cost_is_not_saved(tmp_path):
    X, y, _ = stream()
    model = new({"cost": blocks}).learn_many(X, y)
    model.save(tmp_path / "m")
    with pytest.raises(hinge.ModelFileError, match=r"PASequence\.load"):
        hinge.load(tmp_path / "m")
    with pytest.raises(hinge.ModelFileError, match=r"PASequence\.load"):
        PASequence.load(tmp_path / "m")
    again = PASequence.load(tmp_path / "m", cost=blocks)
    assert again.cost is blocks
    assert state(again.learn_many(X, y)) == state(model.learn_many(X, y))


def test_arrays_of_whole_numbers_and_booleans():
    X = [np.array([[1, 0], [0, 1]]), np.array([[1, 1]])]
    y = [["A", "B"], ["B"]]
    expected = state(new({}).learn_many([x.astype(float) for x in X], y))
    for kind in (np.int8, np.uint64, bool):
        assert state(new({}).learn_many([x.astype(kind) for x in X], y)) == expected
        sparse = [scipy.sparse.csr_matrix(x.astype(kind)) for x in X]
        assert state(new({}).learn_many(sparse, y)) == expected
    assert state(
        new({}).learn_many(np.ones((2, 3, 4)), [["A", "B", "A"]] * 2)
    )  # three dimensions are sentences


def test_a_weight_of_zero_in_fit_is_no_round():
    X, y, weights = stream()
    model = new({}, random_state=0, shuffle=False).fit(X, y, weights)
    kept = weights != 0
    same = new({}, random_state=0, shuffle=False, classes=model.classes_)
    same.fit([X[k] for k in np.flatnonzero(kept)], [y[k] for k in np.flatnonzero(kept)], weights[kept])
    assert model.stats_.rounds == same.stats_.rounds == model.n_iter_ * np.count_nonzero(kept)
    assert model.stats_.loss == pytest.approx(same.stats_.loss)
    same_weights(model, same, {"dtype": "float64"})


def test_a_weight_of_zero_in_fit_teaches_no_names():
    """Nor tags, as in learn_many."""
    X, y = [[["a"], ["b"]], [["never"]], [["b"]]], [["A", "B"], ["never"], ["A"]]
    model = new({}, shuffle=False).fit(X, y, [1.0, 0.0, 1.0])
    assert model.attributes_ == ["a", "b"]
    assert model.classes_ == ["A", "B"]
    assert state(model) == state(new({}, shuffle=False).fit(X[::2], y[::2], [1.0, 1.0]))
    nothing = new({}).fit(X, y, [0.0, 0.0, 0.0])
    assert nothing.attributes_ == nothing.classes_ == []
    assert nothing.stats_.rounds == 0


def test_first_partial_fit_requires_classes():
    X, y, _ = stream()
    model = new({})
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        model.partial_fit(X, y)
    with pytest.raises(ValueError, match="'T2' is not one of the classes"):
        model.partial_fit(X, y, classes=["T0", "T1"])
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.partial_fit(X, y, classes=TAGS)
    before = state(model)
    with pytest.raises(ValueError, match="not the same as on last call to partial_fit"):
        model.partial_fit(X, y, classes=TAGS[:5])
    with pytest.raises(ValueError, match="row 1: the tag 'never' is not one of the classes"):
        model.partial_fit(X[:2], [y[0], ["never"] * len(X[1])])
    assert state(model) == before
    model.learn_one([{"a": 1.0}], ["never"])  # a stream may bring new ones
    assert model.classes_ == [*TAGS, "never"]


def test_fit_stops_when_nothing_changes(capsys):
    X, _, _ = stream(20, seed=5)
    X = [[token for token in x if "bias" in token] for x in X]
    X = [x for x in X if x]
    y = [[TAGS[int(next(iter(token))[1:]) % 3] for token in x] for x in X]
    model = new({"step": "pa", "average": False}, max_iter=500, random_state=0, verbose=1).fit(X, y)
    assert model.n_iter_ < 500
    assert len(capsys.readouterr().out.splitlines()) == model.n_iter_
    assert model.score(X, y) == 1.0


def test_rejected_fit_leaves_the_old_model():
    X, y, _ = stream()
    model = new({}, random_state=0, max_iter=2).fit(X, y)
    before, passes = state(model), model.n_iter_
    for bad_X, bad_y in (
        (X, y[:-1]),
        ([*X[:-1], [{"a": np.nan}]], [*y[:-1], ["T0"]]),
        ([], []),
        (None, None),
    ):
        with pytest.raises((ValueError, TypeError)):
            model.fit(bad_X, bad_y)
        assert state(model) == before
        assert model.n_iter_ == passes
    fresh = new({})
    with pytest.raises(ValueError, match="must be"):
        fresh.set_params(C=-1.0).fit(X, y)
    assert "_learner" not in vars(fresh)


def test_scikit_learn_can_search_it():
    X, y, _ = strings()
    model = PASequence(random_state=0, max_iter=3)
    assert len(cross_val_score(model, X, y, cv=3)) == 3
    search = GridSearchCV(model, {"C": [0.1, 1.0], "selection": ["prediction", "max"]}, cv=2).fit(X, y)
    assert search.best_estimator_.predict(X)[0] == search.predict(X)[0]


@pytest.mark.parametrize("bits", [1, 4, 10, 16])
@pytest.mark.parametrize("kind", [strings, stream])
def test_sentences_are_hashed_as_by_scikit_learn(bits, kind):
    X, y, weights = kind()
    hasher = FeatureHasher(2**bits, input_type="string" if kind is strings else "dict")
    hashed = new({}, hash_bits=bits).learn_many(X, y, weights)
    rows = new({}).learn_many([hasher.transform(x) for x in X], y, weights)
    close(hashed.stats_.loss, rows.stats_.loss, {"dtype": "float64"})
    assert hashed.stats_.updates == rows.stats_.updates
    same_weights(hashed, rows, {"dtype": "float64"})
    assert hashed.attributes_ == []
    for word in ("w1", "é", "", "a" * 1000, "日本"):
        row = hasher.transform([[word]] if kind is strings else [{word: 1.0}])
        (_, part) = sorted(hashed.explain_one([[word]], ["T0"])[0], key=lambda part: part.feature == word)
        assert part.value == row.data[0]
        assert part.weight == pytest.approx(rows.state_features_.get((row.indices[0], "T0"), 0.0))


def test_the_limit_of_tags():
    model = new({}, max_labels=3).learn_one([["a"], ["b"]], ["A", "B"])
    before = state(model)
    for call in (
        lambda: model.learn_one([["a"], ["b"]], ["C", "D"]),
        lambda: model.learn_many([[["a"]], [["new"]], [["b"]]], [["A"], ["C"], ["D"]]),
    ):
        with pytest.raises(ValueError, match="there would be 4 tags, the limit is 3"):
            call()
        assert state(model) == before
        assert model.classes_ == ["A", "B"]
    model.learn_many([[["a"]], [["new"]]], [["C"], ["D"]], [1, 0])
    assert model.classes_ == ["A", "B", "C"]
    with pytest.raises(ValueError, match="there would be 4 tags, the limit is 3"):
        new({}, max_labels=3).fit([[["a"]] * 4], [["A", "B", "C", "D"]])
    with pytest.raises(ValueError, match="there would be 4 tags, the limit is 3"):
        new({}, max_labels=3, classes=TAGS[:4]).learn_one([["a"]], ["T0"])


def test_a_closed_set_of_tags():
    for model in (
        new({}, classes=["A", "B"]),
        new({}, cost={"A": {"B": 1.0}}),
        new({}, cost=[[0, 1], [1, 0]], classes=["A", "B"]),
        new({}, cost={"A": {"B": 1.0}}).fit([[["a"], ["b"]]], [["A", "B"]]),
    ):
        model.learn_one([["a"], ["b"]], ["A", "B"])
        before = state(model)
        for copied in (model, pickle.loads(pickle.dumps(model))):
            with pytest.raises(ValueError, match="'C' is not one of the classes 'A' and 'B'"):
                copied.learn_one([["new"]], ["C"])
            assert state(copied) == before


def test_the_file_of_a_wide_vocabulary_is_small():
    """Only weights that moved are kept: 20,000 features and 40 tags would have 800,000."""
    model = new({"average": True}, classes=[f"tag{k}" for k in range(40)])
    words = [[[f"word{k}"] for k in range(start, start + 20)] for start in range(0, 20_000, 20)]
    model.learn_many(words, [["tag0"] * 20] * len(words))  # the first tag wins from the start: nothing moves
    assert model.stats_.updates == 0
    empty = len(state(model))
    names = sum(len(f'"word{k}", ') for k in range(20_000))
    assert empty < names + 5000
    model.learn_one(words[7], ["tag3", "tag5"] * 10)
    assert 0 < len(state(model)) - empty < 24 * (4 * 20 + 20)
    hashed = new({"hash_bits": 16, "average": True}, classes=model.classes_).learn_one(
        words[7], ["tag3", "tag5"] * 10
    )
    assert len(state(hashed)) < 8000
    assert saved_size(hashed) < 50 * 2**20


def saved_size(model):
    return sys.getsizeof(model._learner)


MEMORY = """
import os
from hinge import PASequence

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

PASequence().learn_one([["a"]], ["T0"])  # all that is loaded is loaded now
before = resident()
model = PASequence(average=False, hash_bits=20)
model.learn_one([["a"]] * 4, ["T0", "T1", "T2", "T3"])
model.learn_one([["a"]] * 5, ["T0", "T1", "T2", "T3", "T4"])
print(resident() - before)
"""


@pytest.mark.skipif(
    not os.path.exists("/proc/self/statm") or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="reads /proc, and AddressSanitizer allocates more memory",
)
def test_hashed_model_takes_memory_for_seen_features_only():
    """Also when its fifth tag comes. In a new process: memory that others have freed would be counted."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20 * 2**20


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


FIXED = {
    "selection": "max-additive",
    "geometry": "diagonal",
    "covariance_regularizer": 2.0,
    "initial_variance": 2.0,
    "covariance_update": "precision",
    "average": False,
    "max_labels": 50,
    "max_features": 500,
    "max_weights": 1e7,
    "dtype": "float32",
    "hash_bits": 6,
    "cost": blocks,
    "classes": TAGS,
}


@pytest.mark.parametrize("name", FIXED)
def test_fixed_option_is_rejected_with_the_reason(name):
    """That a rejected change leaves no trace is checked in test_contracts_options.py."""
    X, y, _ = stream()
    model = new({}).learn_many(X[:20], y[:20])
    model.set_params(**{name: FIXED[name]})
    for learn in (
        lambda: model.learn_one(X[0], y[0]),
        lambda: model.learn_many(X, y),
        lambda: model.partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match=f"{name} cannot change once learning has begun"):
            learn()
