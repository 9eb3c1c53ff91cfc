"""The contracts of PASequence, continued: scikit-learn's, what may change in mid-stream, and limits."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher
from sklearn.model_selection import GridSearchCV, cross_val_score

from hinge import PASequence
from sequence_cases import (
    TAGS,
    close,
    new,
    same_weights,
    state,
    stream,
    strings,
)

# ---- scikit-learn's contract ----------------------------------------------------------------------------------


def test_partial_fit_wants_its_classes():
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


def test_a_refused_fit_leaves_the_old_model():
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


# ---- hashed features ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [1, 4, 10, 16])
@pytest.mark.parametrize("kind", [strings, stream])
def test_hashed_as_scikit_learn_does(bits, kind):
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


# ---- limits ---------------------------------------------------------------------------------------------------


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
    reason="reads /proc, and AddressSanitizer has memory of its own",
)
def test_a_hashed_model_takes_the_memory_of_what_it_has_seen():
    """Also when its fifth tag comes. In a process of its own: what others have freed would be counted."""
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20 * 2**20
