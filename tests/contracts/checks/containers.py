"""The container of the data does not matter: to the bit where the numbers come in the same order, else to rounding."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse

from cases import (
    NAMES,
    WIDTH,
    as_dicts,
    covariance_by_name,
    csr,
    named_first,
    numbers,
    rows_for,
    stream,
    weights_by_name,
)
from checks import check
from contract_case import Data


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


def memory_map(X):
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        return np.load(Path(folder) / "X.npy", mmap_mode="r")


def shuffled(matrix):
    for i in range(matrix.shape[0]):
        row = slice(matrix.indptr[i], matrix.indptr[i + 1])
        matrix.indices[row], matrix.data[row] = (
            matrix.indices[row][::-1].copy(),
            matrix.data[row][::-1].copy(),
        )
    return matrix


def with_zeros(X):
    matrix = csr(np.ones_like(X))
    matrix.data = X.ravel().copy()
    return matrix


def repeated(X):
    """The columns of each row backwards, and each value as two halves."""
    matrix = shuffled(csr(X))
    double = csr(np.zeros(X.shape))
    double.data, double.indices = np.repeat(matrix.data / 2, 2), np.repeat(matrix.indices, 2)
    double.indptr = matrix.indptr * 2
    return double


DENSE = {
    "C order": np.ascontiguousarray,
    "F order": np.asfortranarray,
    "strided": strided,
    "reversed": lambda X: np.ascontiguousarray(X[::-1, ::-1])[::-1, ::-1],
    "read-only": read_only,
    "misaligned": misaligned,
    "memory map": memory_map,
    "byte-swapped": lambda X: X.astype(X.dtype.newbyteorder()),
    "object": lambda X: X.astype(object),
    "long double": lambda X: X.astype(np.longdouble),
}
SPARSE = {
    "csr int32": csr,
    "csr int64": lambda X: csr(X, np.int64),
    "csr short indices": lambda X: csr(X, np.int16),
    "csr byte-swapped": lambda X: csr(X, np.dtype(np.int32).newbyteorder()),
    "csr unsorted": lambda X: shuffled(csr(X)),
    "csr with zeros": with_zeros,
    "csr with values in two halves": repeated,
    "csr array": scipy.sparse.csr_array,
    "csc": scipy.sparse.csc_matrix,
}


def same_numbers(case, ours, theirs, what=""):
    """All that two learners have learned, to rounding."""
    case.close(weights_by_name(ours), weights_by_name(theirs), f"{what}: weights")
    case.close(ours.intercept, theirs.intercept, f"{what}: intercept")
    if case.task == "uniclass":
        case.close(ours.radius, theirs.radius, f"{what}: radius")
    if case.task == "ordinal":
        case.close(ours.thresholds, theirs.thresholds, f"{what}: thresholds")
    if case.has_covariance:
        case.close(covariance_by_name(ours), covariance_by_name(theirs), f"{what}: covariance")
    assert ours.statistics.rounds == theirs.statistics.rounds, what
    assert ours.statistics.updates == theirs.statistics.updates, what
    case.close(ours.statistics.loss, theirs.statistics.loss, f"{what}: loss")


def learned_bytes(model):
    """All that a learner with a kernel has learned, but whether the rows were sparse."""
    tensors = model.to_parts()[1].items()
    return {key: value.tobytes() for key, value in tensors if key not in ("sparse", "columns", "names")}


@check(lambda case: case.is_learner and case.sampled and not case.grows and case.is_exact)
def check_arrays_agree(case):
    data = case.data("dense")
    plain = case.learned(data)
    for name, container in {**DENSE, **SPARSE}.items():
        X = container(data.X)
        other = case.learned(Data(X, data.y, data.weights))
        if case.kernel is not None:
            assert learned_bytes(other) == learned_bytes(plain), name
            np.testing.assert_array_equal(other.scores(X), plain.scores(data.X), name)
            continue
        same_numbers(case, other, plain, name)
        case.close(other.scores(X), plain.scores(data.X), name)
        if name in DENSE and name != "long double":
            assert case.state(other) == case.state(plain), name


@check(lambda case: case.is_learner and case.sampled and not case.grows and case.is_exact)
def check_data_types_are_read_exactly(case):
    """Single precision, whole numbers and booleans are the numbers that they are as float64."""
    data = case.data("dense")
    same = case.state if case.kernel is None else learned_bytes
    bits = np.random.default_rng(3).integers(0, 2, size=(case.count, WIDTH))
    kinds = [
        data.X.astype(np.float32),
        *(rows_for(case.options, bits).astype(k) for k in (np.int8, np.uint16, np.int64, bool)),
    ]
    for X in kinds:
        for container in (np.ascontiguousarray, np.asfortranarray, csr):
            given, real = container(X), container(X.astype(np.float64))
            ours, theirs = (case.learned(Data(each, data.y, data.weights)) for each in (given, real))
            assert same(ours) == same(theirs), X.dtype


@check(lambda case: case.is_learner and case.kernel is None and not case.hashes and not case.grows)
def check_arrays_events_and_frames_agree(case):
    data = case.data("dense")
    arrays = case.learned(data)
    frame = case.data("frame")
    for form in (case.data("events"), frame, Data(frame.X[NAMES[::-1]], data.y, data.weights)):
        model = named_first(case.new())
        case.learn(model, form)
        same_numbers(case, model, arrays, type(form.X).__name__)
        case.close(numbers(model, as_dicts(data.X)), arrays.scores(data.X))


@check(lambda case: case.kernel is not None and case.sampled and case.is_exact)
def check_kernels_learn_the_same_from_all_forms(case):
    """The same values in the same order of columns."""
    learners = [case.learned(case.data("dense")), case.learned(case.data("csr"))]
    for form in () if case.hashes else ("numbered", "frame"):
        learners.append(case.new())
        if form == "numbered":
            learners[-1].name_columns([])
            learners[-1]._engine.name_columns(list(range(WIDTH)))
        case.learn(learners[-1], case.data(form))
    assert all(learned_bytes(model) == learned_bytes(learners[0]) for model in learners)
    vectors = learners[1].support_vectors
    assert not isinstance(vectors, np.ndarray)
    np.testing.assert_array_equal(learners[0].support_vectors, vectors.toarray())


def reordered(events):
    return [dict(reversed(x.items())) for x in events]


@check(
    lambda case: (
        case.is_learner and case.is_exact and not case.grows and (case.kernel is None or case.sampled)
    )
)
def check_order_of_features_does_not_matter(case):
    """To the bit once they have columns; to rounding if the columns come in another order."""
    data = case.data()
    mirrored = Data(reordered(data.X), data.y, data.weights)
    first, second = case.new(), case.new()
    for model in (first, second):
        case.learn(model, data[:20])
    for i in range(20, 60):
        case.learn_one(first, *data.one(i))
        case.learn_one(second, *mirrored.one(i))
        assert case.kernel is not None or first.score_one(data.X[i]) == second.score_one(mirrored.X[i])
    if case.kernel is None:
        assert case.state(first) == case.state(second)
    elif case.is_single:  # rounding may decide
        return
    ours, theirs = case.learned(data), case.learned(mirrored)
    np.testing.assert_allclose(
        numbers(theirs, data.X),
        numbers(ours, data.X),
        rtol=case.tolerance[0],
        atol=1e-5 if case.is_single else 1e-10,
    )
    assert theirs.statistics.updates == ours.statistics.updates
    if case.kernel is not None:
        np.testing.assert_array_equal(ours.support, theirs.support)


@check(lambda case: case.is_learner and case.kernel is None and not case.hashes and not case.grows)
def check_zeros_and_absent_features_are_the_same(case):
    X = stream(case.task)[0]
    sparse, full = case.data(), case.data()
    full.X[:] = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
    models = case.new(), case.new()
    for model, data in zip(models, (sparse, full), strict=True):
        for i in range(len(data)):
            case.learn_one(model, *data.one(i))
    assert case.state(models[0]) == case.state(models[1])


@check(lambda case: case.is_learner and case.sampled and case.kernel is None and not case.grows)
def check_statistics_of_events_and_rows_agree(case):
    from sklearn.feature_extraction import FeatureHasher

    events, rows = case.data("events"), case.data("dense")
    by_rows, by_events = case.new(), case.new()
    if case.hashes:
        rows = Data(FeatureHasher(2 ** case.options["hash_bits"]).transform(events.X), rows.y, rows.weights)
    else:
        named_first(by_events)
    case.learn(by_rows, rows)
    case.learn(by_events, events)
    ours, theirs = by_events.statistics, by_rows.statistics
    assert (ours.rounds, ours.mistakes, ours.updates) == (theirs.rounds, theirs.mistakes, theirs.updates)
    for field in ("loss", "squared_loss", "largest_q", "progress"):
        np.testing.assert_allclose(
            getattr(ours, field), getattr(theirs, field), rtol=1e-4 if case.is_single else 1e-9
        )
