"""The contracts of PASequence: predict is pure; batch = one by one = saved and loaded, to the bit; and so on."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher
from sklearn.model_selection import GridSearchCV, cross_val_score

import hinge
from hinge import PASequence
from hinge.sequence_learner import SequenceLearner

TAGS = [f"T{k}" for k in range(10)]  # more than a row of weights has room for at first
WHOLE = {a: {b: float((i + 2 * j) % 3) for j, b in enumerate(TAGS) if i != j} for i, a in enumerate(TAGS)}
PARTS = {a: {b: cost * 0.3 for b, cost in row.items()} for a, row in WHOLE.items()}


def blocks(truth, predicted):
    """Not a sum over the positions: 1 for every run of wrong tags."""
    wrong = [a != b for a, b in zip(truth, predicted, strict=True)]
    return float(sum(w and not before for w, before in zip(wrong, [False, *wrong[:-1]], strict=True)))


RULES = [
    *({"step": step} for step in ("pa", "pa1", "pa2", "perceptron")),
    *({"selection": "max", "step": step} for step in ("pa", "pa1", "pa2")),
    *({"selection": "max-additive", "step": step} for step in ("pa", "pa1", "pa2")),
    {"step": "pa1", "cost": PARTS},
    {"step": "pa2", "cost": blocks},
    {"step": "perceptron", "cost": blocks},
    {"selection": "max", "step": "pa1", "cost": WHOLE},
    {"selection": "max", "step": "pa", "cost": WHOLE},
    {"selection": "max-additive", "step": "pa2", "cost": PARTS},
    {"selection": "max-additive", "step": "pa", "cost": WHOLE},
]
SHAPES = [{}, {"geometry": "diagonal"}, {"geometry": "diagonal", "covariance_update": "drop"}]
WAYS = [  # average, dtype, hash_bits
    (False, "float64", None),
    (True, "float64", None),
    (True, "float32", 5),
    (9, "float64", None),
    (False, "float32", None),
    (True, "float64", 5),
    (9, "float32", None),
    (False, "float64", 5),
]
NOT_DEFAULT = {"average": True, "dtype": "float64", "hash_bits": None}


def _cases():
    """Every rule in every geometry, each with two ways to count and to keep, in turns."""
    for number, (shape, rule) in enumerate(itertools.product(SHAPES, RULES)):
        for way in (WAYS[number % 8], WAYS[(3 * number + 5) % 7]):
            more = dict(zip(NOT_DEFAULT, way, strict=True))
            if number % 4 == 3:
                more |= {"margin": 0.7}
                more |= {"covariance_regularizer": 0.5, "initial_variance": 2.0} if shape else {}
            yield {**rule, **shape, **more}


def name(options):
    if not isinstance(options, dict):
        return None
    words = []
    for key, value in options.items():
        if key == "cost":
            words.append({id(PARTS): "parts", id(WHOLE): "whole"}.get(id(value), "blocks"))
        elif NOT_DEFAULT.get(key, ()) != value:
            words.append(value if key in ("step", "selection", "covariance_update") else f"{key}={value}")
    return "-".join(words)


CASES = list({name(case): case for case in _cases()}.values())
SOME = CASES[::6]
VOCABULARY = [case for case in CASES if case["hash_bits"] is None]
every_case = pytest.mark.parametrize("options", CASES, ids=name)
some_cases = pytest.mark.parametrize("options", SOME, ids=name)
vocabulary_cases = pytest.mark.parametrize("options", VOCABULARY, ids=name)


def bug(why, **more):
    """Known, reported, and not mended yet: whoever mends it takes the mark away."""
    return pytest.mark.xfail(reason=why, **{"strict": True, **more})


def new(options, **more):
    return PASequence(**{"C": 0.3, **options, **more})


def is_open(options):
    """Whether tags may come with the stream: a cost by tags names them ahead."""
    return not isinstance(options.get("cost"), dict)


def stream(count=40, seed=0, longest=6):
    """Sentences of dicts, tags and weights. New words and tags come all along, some of them with a weight of 0."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(count):
        words = 3 + i // 2
        sentence, tags = [], []
        for _ in range(int(rng.integers(1, longest + 1))):
            word = int(rng.integers(words))
            token = {f"w{word}": 1.0, f"s{word % 4}": float(rng.normal()), "bias": 0.5}
            if rng.random() < 0.2:
                token["shape"] = rng.choice(["x", "Xx", "é"]).item()
            if rng.random() < 0.1:
                token = {}
            tag = (word + (tags[-1] if tags and rng.random() < 0.5 else 0)) % min(10, 2 + i // 3)
            sentence.append(token)
            tags.append(tag)
        X.append(sentence)
        y.append([TAGS[tag] for tag in tags])
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], size=count)


def strings(count=40, seed=1):
    """Sentences of lists: whole counts, a feature as often as it counts."""
    X, y, weights = stream(count, seed)
    return (
        [[[f"{k}" for k in token] + ["twice"] * 2 * ("s1" in token) for token in sentence] for sentence in X],
        y,
        weights,
    )


def counted(sentence):
    return [{word: float(token.count(word)) for word in token} for token in sentence]


def state(model):
    return model._learner.to_bytes()


def saved(model, path):
    model.save(path)
    return PASequence.load(path, cost=blocks) if model.cost is blocks else hinge.load(path)


def tolerance(options):
    return 2e-4 if options["dtype"] == "float32" else 1e-9


def close(ours, theirs, options, what=""):
    allowed = tolerance(options)
    np.testing.assert_allclose(ours, theirs, rtol=allowed, atol=allowed, err_msg=what)


def same_weights(ours, theirs, options):
    for which in ("start_features_", "transition_features_", "state_features_"):
        a, b = getattr(ours, which), getattr(theirs, which)
        keys = a.keys() | b.keys()
        close([a.get(key, 0.0) for key in keys], [b.get(key, 0.0) for key in keys], options, which)


# ---- predict is pure ------------------------------------------------------------------------------------------


@every_case
def test_predict_is_pure(options):
    X, y, weights = stream()
    model = new(options).learn_many(X, y, weights)
    before = state(model)
    unseen = [{"never": 1.0, "w0": 2.0}, {}, {"shape": "never"}]
    for sentences in (X, [unseen], [], [[]]):
        first, second = model.predict(sentences), model.predict(sentences)
        assert first == second
        assert [len(tags) for tags in first] == [len(sentence) for sentence in sentences]
    model.score(X, y)
    for x in (X[3], unseen, tuple(X[3])):
        assert model.predict_one(x) == model.predict_single(x) == model.predict([x])[0]
        best = model.predict_one(x)
        assert model.score_one(x) == pytest.approx(model.score_one(x, best), rel=tolerance(options))
        model.explain_one(x)
        model.explain_one(x, best)
    for which in ("classes_", "attributes_", "stats_", "transition_features_", "start_features_"):
        getattr(model, which)
    assert model.state_features_
    assert state(model) == before


@every_case
def test_the_best_tags_are_the_best(options):
    """Against all others, for a short sentence."""
    X, y, weights = stream()
    model = new(options).learn_many(X, y, weights)
    known = model.classes_[:4]
    for x in X[:4]:
        best = model.score_one(x)
        others = [model.score_one(x[:3], list(z)) for z in itertools.product(known, repeat=min(3, len(x)))]
        assert model.score_one(x[:3]) >= max(others) - tolerance(options) * (1 + abs(best))


# ---- batches, files, copies -----------------------------------------------------------------------------------


@every_case
def test_a_batch_is_one_by_one(options):
    X, y, weights = stream()
    batch, ones, chunks = new(options).learn_many(X, y, weights), new(options), new(options)
    for x, tags, weight in zip(X, y, weights.tolist(), strict=True):
        ones.learn_one(x, tags, weight)
    for start in range(0, len(X), 7):
        part = slice(start, start + 7)
        chunks.learn_many(X[part], y[part], weights[part])
    assert batch.stats_.updates > 5
    assert len(batch.classes_) == 10
    assert state(batch) == state(ones) == state(chunks)
    assert batch.predict(X) == ones.predict(X)


@every_case
def test_saved_and_copied_models_go_on(options, tmp_path):
    X, y, weights = stream(48)
    ways = [
        lambda m: saved(m, tmp_path / "m"),
        lambda m: pickle.loads(pickle.dumps(m)),
        copy.deepcopy,
        lambda m: (joblib.dump(m, tmp_path / "j"), joblib.load(tmp_path / "j"))[1],
    ]
    never, stopped = new(options).learn_many(X, y, weights), new(options)
    for start, way in zip(range(0, 48, 12), ways, strict=True):
        part = slice(start, start + 12)
        stopped.learn_many(X[part], y[part], weights[part])
        again = way(stopped)
        assert type(again) is PASequence
        assert again is not stopped
        assert again._learner is not stopped._learner
        assert state(again) == state(stopped)
        assert again.get_params().keys() == stopped.get_params().keys()
        stopped = again
    assert state(stopped) == state(never)
    assert stopped.stats_ == never.stats_
    assert stopped.predict(X) == never.predict(X)
    assert stopped.state_features_ == never.state_features_


@some_cases
def test_learners_without_an_estimator(options):
    """Pickled and copied through the same bytes."""
    X, y, weights = stream()
    learner = new(options).learn_many(X, y, weights)._learner
    cost = blocks if options.get("cost") is blocks else None
    for again in (
        pickle.loads(pickle.dumps(learner)),
        copy.deepcopy(learner),
        SequenceLearner.from_bytes(learner.to_bytes(), cost),
    ):
        assert again.to_bytes() == learner.to_bytes()
        again.learn_many(X, y, weights)
        assert again.to_bytes() != learner.to_bytes()


@some_cases
def test_clones_and_copies_are_apart(options):
    X, y, _ = stream()
    model = new(options).learn_many(X, y)
    fresh = clone(model)
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    assert state(fresh.learn_many(X, y)) == state(model)
    before = state(model)
    copied = copy.deepcopy(model)
    copied.learn_many(X, y)
    assert state(model) == before != state(copied)


def test_a_cost_of_ones_own_is_in_no_file(tmp_path):
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


# ---- the same sentences in other containers -------------------------------------------------------------------


@every_case
def test_lists_are_dicts_of_ones(options):
    """To the bit. A string that comes twice counts twice."""
    X, y, weights = strings()
    lists = new(options).learn_many(X, y, weights)
    dicts = new(options).learn_many([counted(x) for x in X], y, weights)
    tuples = new(options).learn_many([tuple(map(tuple, x)) for x in X], [tuple(tags) for tags in y], weights)
    numpy_strings = new(options).learn_many(
        [[[np.str_(word) for word in token] for token in x] for x in X],
        [np.array(tags) for tags in y],
        weights,
    )
    assert state(lists) == state(dicts) == state(tuples) == state(numpy_strings)


def matrices(count=30, width=6, seed=2):
    """Rows with zeros and whole numbers of quarters, so that float32 holds them; every column in the first."""
    rng = np.random.default_rng(seed)
    X = [rng.integers(-3, 4, size=(int(rng.integers(1, 6)), width)) / 4 for _ in range(count)]
    X[0][0] = 0.25 + np.arange(width)
    return X, [[TAGS[k] for k in rng.integers(min(10, 2 + i // 3), size=len(x))] for i, x in enumerate(X)]


@vocabulary_cases
def test_arrays_are_dicts_of_numbers(options):
    """To the bit, whatever their order and type."""
    X, y = matrices()
    containers = {
        "dense": X,
        "fortran": [np.asfortranarray(x) for x in X],
        "strided": [np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3] for x in X],
        "backwards": [x[::-1, ::-1].copy()[::-1, ::-1] for x in X],
        "single": [x.astype(np.float32) for x in X],
        "half": [x.astype(np.float16) for x in X],
        "other bytes": [x.astype(x.dtype.newbyteorder()) for x in X],
        "csr": [scipy.sparse.csr_matrix(x) for x in X],
        "csr_array": [scipy.sparse.csr_array(x) for x in X],
        "csr, 64 bits": [wide(x) for x in X],
        "csr, zeros stored": [with_zeros(x) for x in X],
        "csr, unsorted": [unsorted_csr(x) for x in X],
        "csc": [scipy.sparse.csc_matrix(x) for x in X],
        "dicts": [[{j: v for j, v in enumerate(row) if v} for row in x.tolist()] for x in X],
        "dicts with zeros": [[dict(enumerate(row)) for row in x.tolist()] for x in X],
    }
    expected = new(options).learn_many(X, y)
    for what, sentences in containers.items():
        model = new(options).learn_many(sentences, y)
        assert state(model) == state(expected), what
        assert model.predict(sentences) == expected.predict(X), what
        assert model.score_one(sentences[3]) == expected.score_one(X[3]), what
    assert state(new(options).learn_many(tuple(X), y)) == state(expected)


def wide(x):
    matrix = scipy.sparse.csr_matrix(x)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


def with_zeros(x):
    count, width = x.shape
    return scipy.sparse.csr_matrix(
        (x.ravel(), np.tile(np.arange(width), count), np.arange(count + 1) * width), shape=x.shape
    )


def unsorted_csr(x):
    """Columns backwards, and the first one in two halves."""
    data, indices, indptr = [], [], [0]
    for row in x.tolist():
        for j in reversed(range(len(row))):
            data += [row[j]] if j else [row[j] / 2, row[j] / 2]
            indices += [j] if j else [j, j]
        indptr.append(len(data))
    return scipy.sparse.csr_matrix((data, indices, indptr), shape=x.shape)


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


def shuffled(X, seed=3):
    rng = np.random.default_rng(seed)

    def in_another_order(token):
        order = rng.permutation(len(token))
        if isinstance(token, dict):
            items = list(token.items())
            return dict(items[k] for k in order)
        return [token[k] for k in order]

    return [[in_another_order(token) for token in sentence] for sentence in X]


@every_case
@pytest.mark.parametrize("kind", [stream, strings])
def test_the_order_of_features_does_not_matter(options, kind):
    """To the bit, if they have columns already; new ones get theirs as they come, which is a matter of rounding."""
    X, y, weights = kind()
    first = [
        {
            f: 1.0
            for sentence in X
            for token in (counted(sentence) if kind is strings else sentence)
            for f in token
        }
    ]
    straight, mixed = (new(options, classes=TAGS) for _ in range(2))
    for model, sentences in ((straight, X), (mixed, shuffled(X))):
        model.learn_one(first, TAGS[:1])
        model.learn_many([[{"shape": s} for s in ("x", "Xx", "é")]], [TAGS[:3]])
        model.learn_many(sentences, y, weights)
    assert state(straight) == state(mixed)
    if kind is stream and not (options["step"] == "perceptron" or options["dtype"] == "float32"):
        straight, mixed = new(options).learn_many(X, y), new(options).learn_many(shuffled(X), y)
        assert set(straight.attributes_) == set(mixed.attributes_)
        if options["hash_bits"] is None:
            same_weights(straight, mixed, options)


# ---- weights --------------------------------------------------------------------------------------------------


@every_case
def test_a_weight_of_zero_is_nothing(options):
    """No round, no tag, no name."""
    X, y, _ = stream()
    model = new(options).learn_many(X[:20], y[:20])
    before = state(model)
    new_tags = ["never"] if is_open(options) else ["T0"]
    for sentence, tags in ((X[30], y[30]), ([{"new": 1.0}], new_tags), ([["new"]], new_tags)):
        model.learn_one(sentence, tags, 0.0)
        model.learn_one(sentence, tags, -0.0)
        model.learn_many([sentence] * 3, [tags] * 3, [0, 0, 0])
    assert state(model) == before
    fresh = new(options)
    empty = state(fresh.learn_many([], []))
    fresh.learn_many(X, y, np.zeros(len(X)))
    assert state(fresh) == empty
    assert fresh.attributes_ == []
    # Among others that weigh something it is as if it were not there.
    with_it = new(options).learn_many([X[0], [["new"]], X[1]], [y[0], new_tags, y[1]], [1, 0, 1])
    assert state(with_it) == state(new(options).learn_many(X[:2], y[:2]))


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


@every_case
def test_weights_scale_the_cap(options):
    """C inside of the cap, and what a round adds to the inverse of the covariance."""
    X, y, _ = stream()
    weight, more = 0.5, {"C": 0.25}
    heavy = new(options, **more).learn_many(X, y, np.full(len(X), weight))
    regularizer = options.get("covariance_regularizer", 1.0)
    if options["step"] == "perceptron" and "geometry" not in options:  # a step is as long as its weight
        plain = new(options, **more, margin=1.0).learn_many(X, y)
        close(heavy.stats_.updates, plain.stats_.updates, {"dtype": "float64"})
        for key, value in plain.start_features_.items():
            assert heavy.start_features_[key] == weight * value
        return
    more = {"C": weight * 0.25, "covariance_regularizer": regularizer / weight}
    plain = new(options, **more).learn_many(X, y)
    assert heavy.state_features_ == plain.state_features_
    assert heavy.stats_ == plain.stats_
    if options["step"] == "pa" and "geometry" not in options:
        assert state(heavy) == state(new(options, C=0.25).learn_many(X, y))


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
    with pytest.raises(ValueError, match="sentence 1: the tag 'never' is not one of the classes"):
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
    "covariance_update": "drop",
    "average": False,
    "max_labels": 50,
    "max_features": 500,
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
        *(
            pytest.param(name, marks=bug("set_params: containers and functions are not compared"))
            for name in UNNOTICED
        ),
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
        with pytest.raises(ValueError, match="'d' is new, and the model already has 3 features, its limit"):
            call()
        assert state(model) == before
        assert model.attributes_ == ["a", "b"]
    model.learn_one([["c"]], ["T0"])
    assert model.predict_one([["d"], ["e"]])  # unknown ones are no trouble where nothing is learned
    with pytest.raises(ValueError, match="the feature 3 is new"):
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


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(
    not os.path.exists("/proc/self/statm") or "asan" in os.environ.get("LD_PRELOAD", ""),
    reason="reads /proc, and AddressSanitizer has memory of its own",
)
def test_a_hashed_model_takes_the_memory_of_what_it_has_seen():
    """Also when its fifth tag comes."""
    before = resident()
    model = new({"average": False}, hash_bits=20)
    model.learn_one([["a"]] * 4, TAGS[:4])
    model.learn_one([["a"]] * 5, TAGS[:5])
    assert resident() - before < 20 * 2**20


# ---- threads --------------------------------------------------------------------------------------------------


@pytest.fixture
def switch_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def run(*jobs):
    """In one thread each, all at once; errors are raised here."""
    errors = []
    start = threading.Barrier(len(jobs))

    def guarded(job):
        try:
            start.wait()
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=[job], daemon=True) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.usefixtures("switch_often")
@pytest.mark.parametrize("options", CASES[::16], ids=name)
def test_predictions_while_it_learns(options):
    """Whoever reads reads a whole model: known tags, one for each token."""
    X, y, _ = stream(60)
    model = new(options, classes=TAGS).learn_one(X[0], y[0])
    done = threading.Event()
    seen = []

    def learn():
        try:
            for start in range(1, 60, 5):
                model.learn_many(X[start : start + 4], y[start : start + 4])
                model.learn_one(X[start + 4 - 60], y[start + 4 - 60])
        finally:
            done.set()

    def predict():
        while not done.is_set():
            tagged = model.predict(X[::7])
            assert [len(tags) for tags in tagged] == [len(x) for x in X[::7]]
            assert all(tag in TAGS for tags in tagged for tag in tags)
            assert np.isfinite(model.score_one(X[0], y[0]))
            time.sleep(1e-4)

    def read():
        while not done.is_set():
            learner = SequenceLearner.from_bytes(
                state(model), options.get("cost") if callable(options.get("cost")) else None
            )
            seen.append(learner.statistics.rounds)
            assert len(model.explain_one(X[0])) == len(X[0])
            time.sleep(1e-4)

    run(learn, predict, predict, read)
    assert seen == sorted(seen)
    assert model.stats_.rounds == 61


@pytest.mark.usefixtures("switch_often")
def test_two_threads_learn():
    X, y, _ = stream(60)
    model = new({}).learn_many([], [])

    def learn(part):
        return lambda: [model.learn_one(x, tags) for x, tags in zip(X[part], y[part], strict=True)]

    run(learn(slice(30)), learn(slice(30, 60)), lambda: [state(model) for _ in X])
    assert model.stats_.rounds == 60
    assert set(model.classes_) == set(TAGS)
    assert len(set(model.attributes_)) == len(model.attributes_)


@pytest.mark.usefixtures("switch_often")
def test_predictions_while_new_tags_come():
    X, y, _ = stream(60)
    for _ in range(5):
        model = new({}).learn_many([], [])

        def learn(part, model=model):
            for x, tags in zip(X[part], y[part], strict=True):
                model.learn_one(x, [f"{tag}{part.start}" for tag in tags])

        def predict(model=model):
            for x in X * 3:
                assert len(model.predict_one(x)) == len(x)

        run(lambda: learn(slice(0, 30)), lambda: learn(slice(30, 60)), predict)


@pytest.mark.usefixtures("switch_often")
def test_first_calls_in_several_threads():
    X, y, _ = stream(8)
    for _ in range(40):
        model = new({})
        learn = lambda model=model: [model.learn_one(x, tags) for x, tags in zip(X, y, strict=True)]  # noqa: E731
        run(learn, learn, lambda model=model: model.predict_one(X[0]))
        assert model.stats_.rounds == 16


@pytest.mark.usefixtures("switch_often")
def test_weights_are_read_whole_while_it_learns():
    model = new({}).learn_one([["a"], ["b"]], ["A", "B"])
    done = threading.Event()

    def learn():
        for k in range(400):
            model.learn_one([["a"], [f"f{k}"]], ["A", f"T{k % 50}"])
        done.set()

    def read():
        while not done.is_set():
            assert model.state_features_ is not None
            assert model.transition_features_ is not None
            time.sleep(1e-5)

    run(learn, read, read)


@pytest.mark.parametrize("many", [False, True])
def test_a_cost_that_calls_its_model(many):
    """An error, no deadlock; and it is taken back."""
    inner = [lambda: None]

    def cost(truth, predicted):
        inner[0]()
        return 1.0

    model = new({"cost": cost, "average": False})
    x = [["a"], ["b"]]
    model.learn_many([x, x], [["A", "B"], ["B", "A"]])
    before = state(model)
    wrong = [{"A": "B", "B": "A"}[tag] for tag in model.predict_one(x)]
    sentences, tags = ([x, x, [["new"]]], [wrong, wrong, ["C"]]) if many else ([x], [wrong])
    for call in (
        lambda: model.predict_one(x),
        lambda: model.predict([x, x]),
        lambda: model.learn_one(x, wrong),
        lambda: model.learn_many([x, x], [["new", "tags"], wrong]),
        lambda: model.score_one(x, wrong),
        lambda: model.explain_one(x),
        lambda: state(model),
        lambda: model.stats_,
        lambda: model.state_features_,
        lambda: model._learner.change(C=0.7),
    ):
        inner[0] = call
        with pytest.raises(RuntimeError, match="busy: it was called from within one of its own calls"):
            model.learn_many(sentences, tags)
        assert state(model) == before
    swallowed = []

    def swallow():
        try:
            model.learn_one(x, ["D", "E"])
        except RuntimeError as error:
            swallowed.append(error)

    inner[0] = swallow
    model.learn_many(sentences, tags)
    assert swallowed
    assert model.classes_ == (["A", "B", "C"] if many else ["A", "B"])
    model = new({"cost": cost, "average": False})
    inner[0] = lambda: new({}).learn_one(x, wrong)  # another model may be called
    assert model.learn_many([x, x], [["A", "B"], ["B", "A"]]).stats_.cost > 0


class Calls:
    """A value that calls back when it is read."""

    def __init__(self, call):
        self.call = call

    def __float__(self):
        self.call()
        return 1.0


def test_a_value_that_calls_the_model():
    model = new({"average": False}).learn_one([{"a": 1.0}, {"b": 1.0}], ["A", "B"])
    before = state(model)
    for outside in (
        lambda x: model.learn_one(x, ["A", "B"]),
        lambda x: model.learn_many([x, x], [["A", "B"], ["B", "A"]]),
        lambda x: model.predict_one(x),
        lambda x: model.score_one(x, ["A", "B"]),
        lambda x: model.explain_one(x, ["A", "B"]),
    ):
        for inside in (
            lambda: model.learn_one([{"a": 1.0}], ["A"]),
            lambda: model.predict_one([{"a": 1.0}]),
            lambda: state(model),
        ):
            with pytest.raises((RuntimeError, ValueError), match="busy"):
                outside([{"new": 1.0}, {"b": Calls(inside)}])
            assert state(model) == before


DEADLOCK = """
import os, threading, time
from hinge import PASequence
model = PASequence().learn_one([{"a": 1.0}], ["A"])
inside = threading.Event()

class Learns:
    def __float__(self):
        inside.set()
        time.sleep(0.3)  # meanwhile the other thread waits for this one
        CALL
        return 1.0

said = []

def predict():
    try:
        model.predict_one([{"a": Learns()}])
    except (RuntimeError, ValueError) as error:
        said.append(str(error))

def learn():
    inside.wait()
    model.learn_one([{"a": 1.0}], ["A"])

threads = [threading.Thread(target=job, daemon=True) for job in (predict, learn)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(20)
fine = not any(thread.is_alive() for thread in threads) and len(said) == 1 and "busy" in said[0]
os._exit(0 if fine and model.stats_.rounds == 2 else 1)
"""


@pytest.mark.parametrize(
    "call",
    [
        'model.learn_one([{"a": 1.0}], ["A"])',
        'model.partial_fit([[{"a": 1.0}]], [["A"]])',
        'model.score_one([["a"]], ["A"])',
        'model.explain_one([["a"]], ["A"])',
        "model._learner.to_bytes()",
        "model.classes_",
    ],
)
def test_a_value_that_calls_the_model_while_another_thread_waits(call):
    """An error, no deadlock."""
    code = DEADLOCK.replace("CALL", call)
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


@pytest.fixture
def timer():
    """Calls a function now and then while this process works, and Ctrl-C is what it usually is; for one test."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        pytest.skip("signals come to the main thread only")
    old = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGVTALRM)]

    def start(function):
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGVTALRM, function)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.005, 0.005)

    yield start
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    for number, function in old:
        signal.signal(number, function)


@pytest.mark.parametrize(
    "options",
    [
        {"average": False},
        {"average": True, "dtype": "float32"},
        {"geometry": "diagonal", "selection": "max-additive"},
    ],
    ids=str,
)
@pytest.mark.parametrize("way", ["learn_many", "fit"])
def test_an_interrupt_takes_the_whole_batch_back(options, way, timer):
    """Tags, names and rounds."""
    model = PASequence(step="pa2", C=1e-6, **options)  # every round is an update
    x, y = [["a"], ["b"], ["c"]] * 3, ["A", "B", "C"] * 3
    model.learn_many([x, x], [y, y[::-1]])
    before = state(model)
    count = 40_000
    X, Y = [[["new"]], *[x] * count], [["D"], *[y] * count]
    busy = []

    def press(_number, _frame):
        if busy:
            return
        if way == "fit":
            busy.append("it is another learner that learns")
        else:
            try:
                model.predict_one(x)
            except RuntimeError as error:  # now it is in the middle of the batch
                busy.append(str(error))
        if busy:
            signal.raise_signal(signal.SIGINT)

    timer(press)
    with pytest.raises(KeyboardInterrupt):
        getattr(model, way)(X, Y)
    assert busy
    assert state(model) == before
    assert model.classes_ == ["A", "B", "C"]
    assert model.attributes_ == ["a", "b", "c"]
    model.learn_many([x, x], [y, y])  # and goes on
    assert model.stats_.rounds == 4


@pytest.mark.parametrize("new_tag", [False, True])
def test_an_interrupt_while_a_long_sentence_is_learned(new_tag, timer):
    """It is answered when the sentence is learned: all of it, or nothing, and the model works."""
    x, y = [["a"], ["b"], ["new"]] * 500, ["A", "B", "new" if new_tag else "A"] * 500
    model = PASequence(selection="max", average=False).learn_one([["a"], ["b"]], ["A", "B"])
    before = state(model)
    whole = copy.deepcopy(model).learn_one(x, y)

    def press(_number, _frame):
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        raise KeyboardInterrupt

    timer(press)
    with pytest.raises(KeyboardInterrupt):
        model.learn_one(x, y)
    assert len(model.classes_) == model._learner._engine.n_tags
    assert state(model) in (before, state(whole))
    assert model.predict([x[:2]])
    SequenceLearner.from_bytes(state(model)).learn_one(x[:3], y[:3])


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, ZeroDivisionError])
def test_a_cost_that_raises_takes_the_batch_back(error):
    calls = []

    def cost(truth, predicted):
        calls.append(1)
        if len(calls) == 4:
            raise error
        return 1.0

    model = new({"cost": cost, "average": True}).learn_one([["a"]], ["A"])
    before = state(model)
    X, y = [[["a"]], [["b"]], [["c"]]] * 10, [["B"], ["C"], ["D"]] * 10
    with pytest.raises(error):
        model.learn_many(X, y)
    assert len(calls) == 4
    assert state(model) == before
