"""The contracts of PASequence, continued: what a score is made of, and what is known before anything."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher

from hinge import PASequence
from sequence_cases import (
    TAGS,
    close,
    every_case,
    is_open,
    matrices,
    new,
    saved,
    some_cases,
    state,
    stream,
    strings,
)

# ---- what a score is made of ----------------------------------------------------------------------------------


@every_case
def test_scores_add_up(options):
    """Of arbitrary tags: by hand from the weights, and what explain_one says."""
    X, y, weights = stream()
    model = new(options).learn_many(X, y, weights)
    starts, transitions, states = (
        model.start_features_, model.transition_features_, model.state_features_
    )  # fmt: skip
    rng = np.random.default_rng(4)
    hasher = FeatureHasher(2 ** (options["hash_bits"] or 1), input_type="dict")
    for x in [*X[:8], [{"never": 3.0}, {"w0": 1.0}]]:
        tags = rng.choice(model.classes_, size=len(x)).tolist()
        by_hand = starts.get(tags[0], 0.0)
        by_hand += sum(transitions.get(pair, 0.0) for pair in itertools.pairwise(tags))
        for token, tag in zip(x, tags, strict=True):
            features = {
                f"{k}={v}" if isinstance(v, str) else k: 1.0 if isinstance(v, str) else v
                for k, v in token.items()
            }
            if options["hash_bits"]:
                row = hasher.transform([token])
                features = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
            by_hand += sum(value * states.get((feature, tag), 0.0) for feature, value in features.items())
        close(model.score_one(x, tags), by_hand, options, "by hand")
        parts = model.explain_one(x, tags)
        assert len(parts) == len(x)
        close(sum(part.contribution for token in parts for part in token), by_hand, options, "explained")
        for i, (token, its) in enumerate(zip(x, parts, strict=True)):
            assert len(its) == len(token) + 1
            sizes = [abs(part.contribution) for part in its]
            assert sizes == sorted(sizes, reverse=True)
            before = "(start)" if i == 0 else f"(after {tags[i - 1]})"
            assert before in [part.feature for part in its]
            for part in its:
                assert part.contribution == pytest.approx(part.value * part.weight)
        best = model.explain_one(x)
        close(sum(part.contribution for token in best for part in token), model.score_one(x), options)


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


@some_cases
def test_before_anything(options):
    known = {"classes": TAGS} if not is_open(options) else {}
    model = new(options, **known)
    x = [{"a": 1.0}, {}]
    for _ in range(2):  # to be asked makes no learner
        for call in (lambda: model.predict([[["a"]]]), lambda: model.classes_, lambda: model.stats_):
            with pytest.raises(NotFittedError):
                call()
        assert model.predict_one(x) == (["T0", "T0"] if known else [None, None])
        assert model.score_one(x) == 0.0
        assert model.predict_one([]) == []
        assert sum(part.contribution for token in model.explain_one(x) for part in token) == 0.0
        assert "_learner" not in vars(model)
    assert new(options, **known).learn_many([], []).stats_.rounds == 0
    model.learn_one(x, ["T1", "T1"])
    assert model.stats_.rounds == 1
    assert model.classes_ == (TAGS if known else ["T1"])


def test_a_prediction_before_partial_fit():
    X, y, _ = stream()
    model = new({})
    model.predict_one(X[0])
    model.partial_fit(X, y, classes=TAGS)
    assert state(model) == state(new({}).partial_fit(X, y, classes=TAGS))


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
