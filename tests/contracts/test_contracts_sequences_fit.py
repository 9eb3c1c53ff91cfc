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
    blocks,
    close,
    every_case,
    is_open,
    new,
    same_weights,
    some_cases,
    state,
    stream,
    strings,
)

# ---- scikit-learn's contract ----------------------------------------------------------------------------------


@every_case
def test_partial_fit_is_learn_many(options):
    X, y, weights = stream()
    order = TAGS[::-1]
    if not is_open(options):
        options = {**options, "classes": order}
    one = new(options).partial_fit(X[:25], y[:25], classes=order, sample_weight=weights[:25])
    one.partial_fit(X[25:], y[25:], sample_weight=weights[25:])
    other = new(options, classes=order).learn_many(X, y, weights)
    assert one.classes_ == order
    assert {k: v.tobytes() for k, v in one._learner.to_parts()[1].items()} == {
        k: v.tobytes() for k, v in other._learner.to_parts()[1].items()
    }
    assert one.stats_ == other.stats_
    before = state(one)
    for classes in (TAGS, np.array(TAGS), tuple(order)):  # the same ones, in whatever order
        one.partial_fit(X[:1], y[:1], classes=classes, sample_weight=[0.0])
    assert state(one) == before


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


@some_cases
def test_fit_starts_anew_and_again(options):
    X, y, weights = stream()
    options = {**options, "max_iter": 4, "random_state": 3}
    first, second = new(options).fit(X, y, weights), new(options)
    second.learn_many(X[:3], y[:3]).fit(X, y, weights)
    assert state(first) == state(second)
    assert state(first.fit(X, y, weights)) == state(second)
    assert state(new(options, random_state=np.random.RandomState(3)).fit(X, y, weights)) == state(first)
    other = new(options, random_state=4).fit(X, y, weights)
    assert state(other) != state(first)
    assert first.classes_ == TAGS
    assert 1 <= first.n_iter_ <= 4
    assert first.stats_.rounds == first.n_iter_ * np.count_nonzero(weights)


@pytest.mark.filterwarnings("ignore::hinge.IneffectiveWeights")
@some_cases
def test_one_pass_in_order_is_partial_fit(options):
    X, y, _ = stream()
    weights = np.resize([0.5, 1.0, 3.0], len(X))
    fitted = new(options, max_iter=1, shuffle=False).fit(X, y, weights)
    once = new({**options, "classes": TAGS} if not is_open(options) else options)
    once.partial_fit(X, y, classes=TAGS, sample_weight=weights)
    (ours, tensors), (theirs, others) = fitted._learner.to_parts(), once._learner.to_parts()
    assert {k: (v.dtype, v.tobytes()) for k, v in tensors.items()} == {
        k: (v.dtype, v.tobytes()) for k, v in others.items()
    }
    # Only partial_fit tells its learner the classes ahead; a cost by tags does in both.
    assert theirs["parameters"]["classes"] == {"list": TAGS}
    assert ours["parameters"]["classes"] == (None if is_open(options) else {"list": TAGS})
    assert ours == {
        **theirs,
        "parameters": {**theirs["parameters"], "classes": ours["parameters"]["classes"]},
    }
    assert fitted.stats_ == once.stats_
    assert fitted.predict(X) == once.predict(X)
    for which in ("classes_", "attributes_", "start_features_", "transition_features_", "state_features_"):
        assert getattr(fitted, which) == getattr(once, which)


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


FOLLOWED = {"step": "pa2", "C": 0.01, "margin": 3.0}
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
}
UNNOTICED = {"cost": blocks, "classes": TAGS}


@pytest.mark.parametrize("name", FOLLOWED)
def test_what_may_change_in_mid_stream(name):
    X, y, _ = stream()
    model = new({}).learn_many(X[:20], y[:20])
    before = state(model)
    model.set_params(**{name: FOLLOWED[name]})
    assert model._learner.parameters[name] == FOLLOWED[name]
    changed = new({}).learn_many(X[:20], y[:20])
    changed._learner.change(**{name: FOLLOWED[name]})
    untouched = new({}).learn_many(X, y)
    for each in (model, changed):
        each._learner.learn_many(X[20:], y[20:])
    assert state(model) == state(changed) != state(untouched)
    by_attribute = new({}).learn_many(X[:20], y[:20])
    assert state(by_attribute) == before
    setattr(by_attribute, name, FOLLOWED[name])
    assert state(by_attribute.learn_many(X[20:], y[20:])) == state(model)
    as_one = new({}).learn_many(X[:20], y[:20]).set_params(**{name: FOLLOWED[name]})
    for x, tags in zip(X[20:], y[20:], strict=True):
        as_one.learn_one(x, tags)
    assert state(as_one) == state(model)


@pytest.mark.parametrize(
    "name",
    [
        *FIXED,
        *UNNOTICED,
    ],
)
def test_what_may_not(name):
    X, y, _ = stream()
    model = new({}).learn_many(X[:20], y[:20])
    before = state(model)
    model.set_params(**{name: {**FIXED, **UNNOTICED}[name]})
    for call in (
        lambda: model.learn_one(X[0], y[0]),
        lambda: model.learn_many(X, y),
        lambda: model.partial_fit(X, y),
    ):
        with pytest.raises(ValueError, match=f"{name} cannot change once learning has begun"):
            call()
        assert state(model) == before
    model.fit(X, y)  # starts anew
    assert model._learner.parameters[name] == model.get_params()[name]


def test_a_bad_parameter_in_mid_stream():
    X, y, _ = stream()
    model = new({}).learn_many(X, y)
    before = state(model)
    with pytest.raises(ValueError, match="C must be a number greater than 0"):
        model.set_params(C=-1.0)
    with pytest.raises(ValueError, match="C must be a number greater than 0"):
        model.learn_one(X[0], y[0])
    assert state(model) == before
    model.set_params(C=0.3).learn_one(X[0], y[0])


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


@some_cases
def test_the_limit_of_features(options):
    if options["hash_bits"]:
        options = {**options, "hash_bits": None}
    model = new(options, max_features=3, **({} if is_open(options) else {"classes": TAGS}))
    model.learn_one([{"a": 1.0}, {"b": 1.0}], ["T0", "T1"])
    before = state(model)
    for call in (
        lambda: model.learn_one([{"c": 1.0, "d": 1.0}], ["T0"]),
        lambda: model.learn_one([["c"], ["d"]], ["T0", "T1"]),
        lambda: model.learn_many([[["a"]], [["c"]], [["d"]]], [["T0"], ["T1"], ["T2"]]),
        lambda: model.partial_fit([[["c", "d"]]], [["T0"]]),
    ):
        with pytest.raises(
            ValueError,
            match=r"feature 'd': token [01]: it is new, and the model already has 3 features, its limit",
        ):
            call()
        assert state(model) == before
        assert model.attributes_ == ["a", "b"]
    model.learn_one([["c"]], ["T0"])
    assert model.predict_one([["d"], ["e"]])  # unknown ones are no trouble where nothing is learned
    with pytest.raises(ValueError, match=r"^column 3: it is new"):
        new(options, max_features=3, **({} if is_open(options) else {"classes": TAGS})).learn_one(
            np.ones((1, 4)), ["T0"]
        )


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
