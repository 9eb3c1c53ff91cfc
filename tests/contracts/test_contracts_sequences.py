"""The contracts of PASequence: predict is pure; batch = one by one = saved and loaded, to the bit; and so on."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import hinge
from hinge import PASequence
from hinge.structured.sequence_learner import SequenceLearner
from sequence_cases import (
    TAGS,
    blocks,
    close,
    counted,
    every_case,
    is_open,
    matrices,
    new,
    same_weights,
    saved,
    some_cases,
    state,
    stream,
    strings,
    tolerance,
    vocabulary_cases,
)

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
    assert dataclasses.replace(heavy.stats_, weighted=0) == plain.stats_
    if options["step"] == "pa" and "geometry" not in options:
        assert state(heavy) == state(new(options, C=0.25).learn_many(X, y))
