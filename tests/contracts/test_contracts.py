"""What every learner promises, whatever its task, step, memory or way of counting.

Predicting changes nothing. A batch is its events, one after the other, and a saved model goes on as if it had
never stopped: to the bit. The container of the data does not matter: to rounding.
"""

from __future__ import annotations

import copy
import io
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest

import hinge
from cases import (
    ALL,
    CLASSES,
    LABELS,
    NAMES,
    RANKS,
    SOME,
    VOCABULARY,
    WIDTH,
    as_dict,
    as_dicts,
    covariance_by_name,
    csr,
    name,
    named_first,
    new,
    number,
    numbered,
    numbers,
    one,
    part,
    rows_for,
    starts_at_first,
    state,
    stream,
    tensors,
    weights_by_name,
)

every_learner = pytest.mark.parametrize(("task", "options"), ALL, ids=name)
some_learners = pytest.mark.parametrize(("task", "options"), SOME, ids=name)
with_vocabulary = pytest.mark.parametrize(("task", "options"), VOCABULARY, ids=name)


def close(ours, theirs, options, what=""):
    rtol, atol = (1e-3, 1e-5) if options["dtype"] == "float32" else (1e-9, 1e-12)
    np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol, err_msg=what)


def same(ours, theirs, options):
    close(weights_by_name(ours), weights_by_name(theirs), options, "weights")
    close(ours.intercept, theirs.intercept, options, "intercept")
    if ours.task == "uniclass":
        close(ours.radius, theirs.radius, options, "radius")
    if ours.task == "ordinal":
        close(ours.thresholds, theirs.thresholds, options, "thresholds")
    if ours.parameters["geometry"] in ("mahalanobis", "diagonal"):
        close(covariance_by_name(ours), covariance_by_name(theirs), options, "covariance")
    assert ours.statistics.rounds == theirs.statistics.rounds
    assert ours.statistics.updates == theirs.statistics.updates
    close(ours.statistics.loss, theirs.statistics.loss, options, "loss")


# ---- predicting changes nothing ------------------------------------------------------------------------


@every_learner
def test_predict_is_pure(task, options):
    X, y, weights = stream(task)
    unseen = {"alpha": 1.0, "never seen": 2.0, "color": "red", "flag": True}
    for learner in (new(task, options), new(task, options)):
        before = state(learner)
        learner.predict_one(unseen)
        assert state(learner) == before
    rows = rows_for(options, X)
    for way, data in enumerate((rows, as_dicts(X))):
        learner = new(task, options)
        learner.learn_many(data, y, weights)
        before = state(learner)
        for event in (unseen, as_dict(X[0]), {}):
            learner.predict_one(event)
            learner.score_one(event)
            learner.explain_one(event)
            look_at_covariance(options, learner, lambda m, x=event: m.uncertainty_one(x))
        if way == 0:
            learner.scores(rows)
            learner.scores(csr(rows))
            look_at_covariance(options, learner, lambda m: m.uncertainty(csr(rows)))
        elif options["hash_bits"] is None:
            learner.scores(pd.DataFrame(X, columns=NAMES).assign(new=1.0))
        shown = {
            repr(learner),
            str(learner.statistics),
            str(learner.weights),
            str(getattr(learner, "radius", None)),
        }
        assert len(shown) == 4
        copy.deepcopy(learner)
        learner.__sizeof__()
        assert state(learner) == before


def look_at_covariance(options, learner, look):
    if options.get("geometry") in ("mahalanobis", "diagonal"):
        look(learner)
        assert np.isfinite(learner.covariance).all()


@every_learner
def test_scores_are_those_of_the_events(task, options):
    """score_one = scores, before and after learning; predict_one says the same."""
    X, y, _ = stream(task)
    learner = new(task, options)
    if options.get("signed", True):  # else all weights are positive
        assert np.all(number(learner.score_one({})) == (learner.radius if task == "uniclass" else 0.0))
    learner.learn_many(as_dicts(X), y)
    if options["hash_bits"] is None:
        scores = learner.scores(pd.DataFrame(X, columns=NAMES))
        close(numbers(learner, as_dicts(X)), scores, {"dtype": "float64"})
    for x in as_dicts(X):
        assert learner.predict_one(x) == said_by(task, options, learner, x)


def said_by(task, options, learner, x):
    """What the score means."""
    score = learner.score_one(x)
    if task == "multilabel":
        threshold = options["threshold"]
        if threshold == "learned":  # the lane before those of the labels
            threshold = learner._engine.scores_one(x, learner.averaged)[0]
        return {label for label, its in score.items() if its > threshold}
    if task == "ordinal":
        return RANKS[next((j for j, b in enumerate(learner.thresholds) if score < b), len(RANKS) - 1)]
    if isinstance(score, dict):
        return {"multiclass": CLASSES, "classification": LABELS}[task][int(np.argmax(number(score)))]
    return {
        "classification": LABELS[int(score > 0)],
        "regression": score,
        "uniclass": 1 if score >= 0 else -1,
    }[task]


# ---- a batch is its events, to the bit -----------------------------------------------------------------

ROUNDTRIPS = {
    "bytes": lambda m, _: hinge.Learner.from_bytes(m.to_bytes()),
    "file": lambda m, folder: (m.save(folder / "model"), hinge.load(folder / "model"))[1],
    "pickle": lambda m, _: pickle.loads(pickle.dumps(m)),
    "old pickle": lambda m, _: pickle.loads(pickle.dumps(m, protocol=2)),
    "joblib": lambda m, _: through_joblib(m),
    "deepcopy": lambda m, _: copy.deepcopy(m),
    "copy": lambda m, _: copy.copy(m),
}


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@every_learner
@pytest.mark.parametrize("container", [np.asarray, csr], ids=["dense", "csr"])
def test_a_batch_is_its_rows(task, options, container):
    X, y, weights = stream(task)
    X = rows_for(options, X)
    batch, rows, chunks = (new(task, options) for _ in range(3))
    batch.learn(container(X), y, weights)
    for i in range(len(X)):
        rows.learn(container(X[i : i + 1]), part(y, slice(i, i + 1)), weights[i : i + 1])
    for start in range(0, len(X), 13):
        chunk = slice(start, start + 13)
        chunks.learn(container(X[chunk]), part(y, chunk), weights[chunk])
    assert state(batch) == state(rows) == state(chunks)
    assert batch.statistics.rounds == np.count_nonzero(weights) - starts_at_first(task, options)
    assert batch.statistics.updates > 0


@every_learner
def test_learn_many_is_a_loop_of_learn_one(task, options):
    X, y, weights = stream(task)
    events = as_dicts(X)
    events[3]["color"], events[5]["color"], events[7]["flag"] = "red", "blue", True
    many, single = new(task, options), new(task, options)
    for start in (0, 20):
        chunk = slice(start, start + 20)
        many.learn_many(events[chunk], part(y, chunk), weights[chunk])
    for i, event in enumerate(events[:40]):
        single.learn_one(event, one(y, i), float(weights[i]))
    assert state(many) == state(single)


@with_vocabulary
def test_a_frame_is_its_rows(task, options):
    X, y, weights = stream(task)
    frame = pd.DataFrame(X, columns=NAMES)
    batch, rows = new(task, options), new(task, options)
    batch.learn_many(frame, y, weights)
    for i in range(len(X)):
        rows.learn_many(frame[i : i + 1], part(y, slice(i, i + 1)), weights[i : i + 1])
    assert state(batch) == state(rows)


@some_learners
@pytest.mark.parametrize("way", ROUNDTRIPS)
def test_save_load_and_go_on(task, options, way, tmp_path):
    X, y, weights = stream(task)
    never_stopped, stopped = new(task, options), new(task, options)
    for start in range(0, len(X), 12):
        chunk = slice(start, start + 12)
        events = numbered(X[chunk]) if start % 24 else rows_for(options, X[chunk])
        never_stopped.learn_many(events, part(y, chunk), weights[chunk])
        stopped = ROUNDTRIPS[way](stopped, tmp_path)
        stopped.learn_many(events, part(y, chunk), weights[chunk])
        assert state(stopped) == state(never_stopped)
        assert stopped.parameters == never_stopped.parameters
        assert stopped.statistics == never_stopped.statistics
        assert np.array_equal(stopped.weights, never_stopped.weights)
        assert stopped.predict_one({0: 1.0, 3: 2.0}) == never_stopped.predict_one({0: 1.0, 3: 2.0})
        assert stopped._column_names == never_stopped._column_names  # a file has no names that are numbers


@every_learner
def test_a_copy_of_each_kind_goes_on(task, options):
    X, y, _ = stream(task)
    learner = new(task, options)
    learner.learn_many(as_dicts(X[:30]), part(y, slice(30)))
    other = hinge.Learner.from_bytes(learner.to_bytes())
    for model in (learner, other):
        model.learn_many(as_dicts(X[30:]), part(y, slice(30, None)))
    assert state(other) == state(learner)


# ---- the container does not matter, to rounding --------------------------------------------------------


def strided(X):
    wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan)
    wide[::2, ::3] = X
    return wide[::2, ::3]


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def misaligned(X):
    memory = np.zeros(X.nbytes + 1, dtype=np.uint8)[1:]
    view = memory[: X.nbytes].view(X.dtype).reshape(X.shape)
    view[...] = X
    assert not view.flags.aligned
    return view


CONTAINERS = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "misaligned": misaligned,
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "object": lambda X: X.astype(object),
    "long double": lambda X: X.astype(np.longdouble),
    "csr int32": csr,
    "csr int64": lambda X: csr(X, np.int64),
    "csr short indices": lambda X: csr(X, np.int16),
    "csr byte-swapped": lambda X: csr(X, np.dtype(np.int32).newbyteorder()),
    "csr unsorted": lambda X: shuffled(csr(X)),
    "csr with zeros": lambda X: full_csr(X),
    "csr array": lambda X: __import__("scipy.sparse").sparse.csr_array(X),
    "csc": lambda X: __import__("scipy.sparse").sparse.csc_matrix(X),
}


def shuffled(matrix):
    for i in range(matrix.shape[0]):
        row = slice(matrix.indptr[i], matrix.indptr[i + 1])
        matrix.indices[row], matrix.data[row] = (
            matrix.indices[row][::-1].copy(),
            matrix.data[row][::-1].copy(),
        )
    return matrix


def full_csr(X):
    matrix = csr(np.ones_like(X))
    matrix.data = X.ravel().copy()
    return matrix


@some_learners
@pytest.mark.parametrize("container", CONTAINERS)
def test_any_array(task, options, container):
    X, y, weights = stream(task)
    X = rows_for(options, X)
    plain, other = new(task, options), new(task, options)
    plain.learn(X, y, weights)
    other.learn(CONTAINERS[container](X), y, weights)
    same(plain, other, options)
    close(other.scores(CONTAINERS[container](X)), plain.scores(X), options)
    if container in ("F order", "strided", "reversed", "read-only", "misaligned", "byte-swapped", "object"):
        assert state(other) == state(plain)


@some_learners
def test_a_memory_map(task, options, tmp_path):
    X, y, weights = stream(task)
    X = rows_for(options, X)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    plain, other = new(task, options), new(task, options)
    plain.learn(X, y, weights)
    other.learn(mapped, y, weights)
    assert state(other) == state(plain)
    assert np.array_equal(other.scores(mapped), plain.scores(X))


@some_learners
@pytest.mark.parametrize("container", [np.ascontiguousarray, np.asfortranarray, csr], ids=["C", "F", "csr"])
def test_single_precision_data_is_read_as_what_it_is(task, options, container):
    X, y, weights = stream(task)
    X = rows_for(options, X.astype(np.float32))
    single, double = new(task, options), new(task, options)
    single.learn(container(X), y, weights)
    double.learn(container(X.astype(np.float64)), y, weights)
    assert state(single) == state(double)


@some_learners
@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.int64, bool])
def test_whole_numbers_are_numbers(task, options, kind):
    rng = np.random.default_rng(3)
    X = rows_for(options, rng.integers(0, 2, size=(30, WIDTH))).astype(kind)
    _, y, _ = stream(task, 30)
    whole, real = new(task, options), new(task, options)
    whole.learn(X, y)
    real.learn(X.astype(float), y)
    assert state(whole) == state(real)


@with_vocabulary
def test_arrays_events_and_frames(task, options):
    X, y, weights = stream(task)
    learners = [new(task, options), *(named_first(new(task, options)) for _ in range(3))]
    learners[0].learn(X, y, weights)
    learners[1].learn_many(as_dicts(X), y, weights)
    learners[2].learn_many(pd.DataFrame(X, columns=NAMES), y, weights)
    learners[3].learn_many(pd.DataFrame(X, columns=NAMES)[NAMES[::-1]], y, weights)
    for learner in learners[1:]:
        same(learner, learners[0], options)
        close(numbers(learner, as_dicts(X)), learners[0].scores(X), options)


TARGETS = {
    "classification": [
        list,
        lambda y: y.astype(object),
        pd.Series,
        lambda y: pd.Series(y).astype("category"),
    ],
    "regression": [
        list,
        tuple,
        pd.Series,
        lambda y: y.astype(object),
        misaligned,
        lambda y: np.repeat(y, 2)[::2],
        lambda y: y.astype(">f8"),
        lambda y: y.astype(np.longdouble),
    ],
}


@pytest.mark.parametrize(
    ("task", "place"), [(task, k) for task, ways in TARGETS.items() for k in range(len(ways))]
)
def test_any_targets_and_weights(task, place):
    X, y, weights = stream(task)
    plain, other = hinge.Learner(task), hinge.Learner(task)
    plain.learn(X, y, weights)
    other.learn(X, TARGETS[task][place](y), [list, pd.Series, misaligned][place % 3](weights))
    assert state(other) == state(plain)


@pytest.mark.parametrize(
    "kind", ["?", "b", "B", "h", "H", "i", "I", "q", "Q", "e", "f", "d", "g", ">i4", ">f8", "O"]
)
def test_labels_of_any_type(kind):
    X, y, _ = stream("classification")
    signs = (y == "spam").astype(int)
    plain, known, other = hinge.Learner("classification"), hinge.Learner("classification"), None
    plain.learn(X, signs)
    known.learn(X[:9], signs[:9])
    assert len(known.labels.known) == 2
    other = hinge.Learner("classification")
    other.learn(X, signs.astype(kind))
    known.learn(X[9:], np.repeat(signs.astype(kind), 2)[::2][9:])
    assert tensors(plain) == tensors(other) == tensors(known)


@some_learners
def test_the_order_of_rows_may_be_given(task, options):
    X, y, weights = stream(task)
    X = rows_for(options, X)
    order = np.random.default_rng(1).permutation(len(X))
    for given in (order, order.tolist(), order.astype(np.int32), order.astype(np.uint8), order.astype(">i8")):
        ordered, sorted_ = new(task, options), new(task, options)
        ordered.learn(X, y, weights, order=given)
        sorted_.learn(X[order], part(y, order), weights[order])
        assert state(ordered) == state(sorted_)


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_rows_of_any_length(task, kind):
    """The sums are made in blocks: no length may lose a value. Dense, strided and sparse, against NumPy."""
    rng = np.random.default_rng(6)
    for length in [*range(40), 127, 128, 129, 130, 255, 256, 1000]:
        X = rng.normal(size=(1, length)).astype(kind)
        y = {"classification": ["spam"], "regression": [0.5], "uniclass": None}[task]
        wide = np.zeros((1, 2 * length), dtype=kind)
        wide[:, ::2] = X
        learners = [
            new(task, {"step": "pa", "w1": "zero", "radius": 0.1} if task == "uniclass" else {"step": "pa"})
            for _ in range(5)
        ]
        for learner, data in zip(
            learners,
            (X, np.asfortranarray(np.repeat(X, 2, axis=0))[:1], csr(X), csr(X, np.int64), csr(wide)),
            strict=True,
        ):
            learner.learn(data, y)
            square = float(X.astype(float)[0] @ X.astype(float)[0])
            if task == "uniclass":
                expected = X[0].astype(float) * max(0.0, 1 - 0.1 / max(np.sqrt(square), 1e-300))
            else:
                expected = (
                    X[0].astype(float) * {"classification": 1.0, "regression": 0.4}[task] / (square + 1)
                )
            found = learner.weights[::2] if learner.n_features == 2 * length else learner.weights
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
            score = expected @ X[0].astype(float) + learner.intercept
            if task == "uniclass":
                score = 0.1 - np.linalg.norm(X[0].astype(float) - expected)
            np.testing.assert_allclose(learner.scores(data), [score], rtol=1e-7, atol=1e-9)
        many = dict(enumerate(X[0].tolist()))
        learners[0].learn_one(many, None if y is None else y[0])
        np.testing.assert_allclose(
            learners[0].score_one(many), learners[0].scores(X)[0], rtol=1e-9, atol=1e-9
        )
