"""What every learner promises, of those with kernels and budgets (cases of their own: kernel_cases.py).

To the bit for the kernels that are built in; functions of one's own are asked for several rows at once, and may
round as they like.
"""

from __future__ import annotations

import copy
import io
import pickle
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

import hinge
from cases import (
    CLASSES,
    NAMES,
    as_dict,
    as_dicts,
    csr,
    new,
    number,
    numbered,
    numbers,
    one,
    part,
    rows_for,
    state,
)
from cases import stream as short_stream
from kernel_cases import COUNT, KERNELS, OWN, SOME_KERNELS, name, own

every_kernel = pytest.mark.parametrize(("task", "options"), KERNELS, ids=name)
some_kernels = pytest.mark.parametrize(("task", "options"), SOME_KERNELS, ids=name)
own_kernels = pytest.mark.parametrize(("task", "options"), OWN, ids=name)


def stream(task):
    return short_stream(task, COUNT)


def but(model, *names):
    """All that was learned, but for the tensors of these names, as bytes."""
    return {key: value.tobytes() for key, value in model.to_parts()[1].items() if key not in names}


def how_it_came(model):
    """All but whether the rows were sparse."""
    tensors = dict(model.to_parts()[1])
    for each in ("sparse", "columns", "names"):
        tensors.pop(each)
    return {key: value.tobytes() for key, value in tensors.items()}


def close(ours, theirs, options, what=""):
    single = options.get("dtype") == "float32"
    np.testing.assert_allclose(
        ours, theirs, rtol=1e-3 if single else 1e-9, atol=1e-4 if single else 1e-10, err_msg=what
    )


# ---- predicting changes nothing ----------------------------------------------------------------------------


@every_kernel
def test_predict_is_pure(task, options):
    X, y, weights = stream(task)
    unseen = {"alpha": 1.0, "never seen": 2.0, "color": "red", "flag": True}
    fresh = new(task, options)
    before = state(fresh)
    fresh.predict_one(unseen)
    assert state(fresh) == before
    assert (fresh.n_support, len(fresh.support), fresh.dual_coef.shape[-1]) == (0, 0, 0)
    rows = rows_for(options, X)
    for way, data in enumerate((rows, as_dicts(X))):
        learner = new(task, options)
        learner.learn_many(data, y, weights)
        before = state(learner)
        for event in (unseen, as_dict(X[0]), {}):
            learner.predict_one(event)
            learner.score_one(event)
        if way == 0:
            learner.scores(rows)
            learner.scores(csr(rows))
        elif options["hash_bits"] is None:
            learner.scores(pd.DataFrame(X, columns=NAMES).assign(new=1.0))
        views = [
            learner.n_support,
            learner.support,
            learner.dual_coef,
            learner.support_vectors,
            learner.radius if task == "uniclass" else None,
        ]
        assert len({repr(learner), str(learner.statistics), *map(str, views)}) >= 5
        copy.deepcopy(learner)
        learner.__sizeof__()
        assert state(learner) == before


@every_kernel
def test_scores_are_those_of_the_events_also_with_features_never_seen(task, options):
    if options["hash_bits"] is not None:
        pytest.skip("frames go by names")
    X, y, _ = stream(task)
    learner = new(task, options)
    learner.learn_many(as_dicts(X), y)
    frame = pd.DataFrame(X[:20], columns=NAMES)
    np.testing.assert_array_equal(numbers(learner, as_dicts(X[:20])), learner.scores(frame))
    frame["new"], frame["newer"] = np.linspace(-1, 1, 20), np.linspace(3, 0.1, 20)
    events = [{**as_dict(x), "new": float(row.new), "newer": float(row.newer)}
              for x, row in zip(X[:20], frame.itertuples(), strict=True)]  # fmt: skip
    np.testing.assert_array_equal(numbers(learner, events), learner.scores(frame))
    frame["newer"] = 1e200
    if options["kernel"] == "rbf":
        with pytest.raises(ValueError, match="row 0: the values are too large"):
            learner.scores(frame)


# ---- a batch is its rows, to the bit -----------------------------------------------------------------------


@every_kernel
@pytest.mark.parametrize("container", [np.asarray, csr], ids=["dense", "csr"])
def test_a_batch_is_its_rows(task, options, container):
    X, y, weights = stream(task)
    X = rows_for(options, X)
    batch, rows, *cut = (new(task, options) for _ in range(4))
    batch.learn(container(X), y, weights)
    for i in range(len(X)):
        rows.learn(container(X[i : i + 1]), part(y, slice(i, i + 1)), weights[i : i + 1])
    for learner, size in zip(cut, (13, 65), strict=True):
        for start in range(0, len(X), size):
            chunk = slice(start, start + size)
            learner.learn(container(X[chunk]), part(y, chunk), weights[chunk])
    assert state(batch) == state(rows)
    assert all(state(learner) == state(rows) for learner in cut)
    assert batch.statistics.updates > 0
    assert batch.statistics.insertions - batch.statistics.removals == batch.n_support


@every_kernel
def test_learn_many_is_a_loop_of_learn_one(task, options):
    X, y, weights = stream(task)
    events = as_dicts(X)
    events[3]["color"], events[5]["color"], events[70]["flag"] = "red", "blue", True
    many, single = new(task, options), new(task, options)
    for chunk in (slice(0, 20), slice(20, COUNT)):
        many.learn_many(events[chunk], part(y, chunk), weights[chunk])
    for i, event in enumerate(events):
        single.learn_one(event, one(y, i), float(weights[i]))
    assert state(many) == state(single)


@some_kernels
def test_arrays_events_and_frames(task, options):
    """The same values in the same order of columns: the same bits, however they came."""
    X, y, weights = stream(task)
    if options["hash_bits"] is not None:
        learners = [new(task, options) for _ in range(2)]
        for learner, data in zip(learners, (rows_for(options, X), csr(rows_for(options, X))), strict=True):
            learner.learn(data, y, weights)
    else:
        learners = [new(task, options) for _ in range(4)]
        for learner, data in zip(
            learners, (X, csr(X), numbered(X), pd.DataFrame(X, columns=NAMES)), strict=True
        ):
            if isinstance(data, list):
                learner.name_columns([])
                learner._engine.name_columns(list(range(X.shape[1])))
            learner.learn_many(data, y, weights)
    assert all(how_it_came(learner) == how_it_came(learners[0]) for learner in learners)
    vectors = learners[1].support_vectors
    assert not isinstance(vectors, np.ndarray)
    np.testing.assert_array_equal(learners[0].support_vectors, vectors.toarray())


def strided(X):
    wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
    wide[::2, ::3] = X
    return wide[::2, ::3]


def repeated(X):
    """The columns of each row backwards, and each value as two halves."""
    matrix = csr(X)
    order = np.concatenate(
        [np.arange(b - 1, a - 1, -1) for a, b in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True)]
    ).astype(int)
    double = csr(np.zeros((len(X), X.shape[1])))
    double.data = np.repeat(matrix.data[order] / 2, 2)
    double.indices, double.indptr = np.repeat(matrix.indices[order], 2), matrix.indptr * 2
    return double


@some_kernels
@pytest.mark.parametrize("container", [strided, np.asfortranarray, repeated], ids=lambda f: f.__name__)
def test_any_array(task, options, container):
    X, y, weights = stream(task)
    X = rows_for(options, X)
    expected, learner = new(task, options), new(task, options)
    expected.learn(X, y, weights)
    learner.learn(container(X), y, weights)
    assert how_it_came(learner) == how_it_came(expected)
    np.testing.assert_array_equal(learner.scores(container(X)), expected.scores(X))


@some_kernels
def test_single_precision_data_is_read_as_what_it_is(task, options):
    X, y, weights = stream(task)
    X = rows_for(options, X).astype(np.float32)
    learners = [new(task, options) for _ in range(3)]
    for learner, data in zip(learners, (X, X.astype(np.float64), csr(X)), strict=True):
        learner.learn(data, y, weights)
    assert how_it_came(learners[0]) == how_it_came(learners[1]) == how_it_came(learners[2])


@some_kernels
def test_the_order_of_features_does_not_matter(task, options):
    if options["dtype"] == "float32":
        pytest.skip("rounding may decide")
    X, y, weights = stream(task)
    ours, theirs = new(task, options), new(task, options)
    ours.learn_many(as_dicts(X), y, weights)
    theirs.learn_many([dict(reversed(x.items())) for x in as_dicts(X)], y, weights)
    close(numbers(ours, as_dicts(X)), numbers(theirs, as_dicts(X)), options)
    np.testing.assert_array_equal(ours.support, theirs.support)


# ---- saved, loaded, gone on --------------------------------------------------------------------------------


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


@every_kernel
def test_save_load_and_go_on(task, options, tmp_path):
    X, y, weights = stream(task)
    X = rows_for(options, X)
    whole, model = new(task, options), new(task, options)
    whole.learn(X, y, weights)
    model.learn(X[:70], part(y, slice(70)), weights[:70])
    model.save(tmp_path / "model")
    copies = [
        hinge.load(tmp_path / "model"),
        hinge.Learner.from_bytes(model.to_bytes()),
        pickle.loads(pickle.dumps(model)),
        through_joblib(model),
        copy.deepcopy(model),
    ]
    rest = slice(70, COUNT)
    for again in copies:
        assert state(again) == state(model)
        np.testing.assert_array_equal(again.scores(X), model.scores(X))
        again.learn(X[rest], part(y, rest), weights[rest])
        assert state(again) == state(whole)


@own_kernels
@pytest.mark.parametrize("container", [np.asarray, csr], ids=["dense", "csr"])
def test_a_kernel_of_ones_own(task, options, container, tmp_path):
    """A batch is its rows, to rounding; and it goes on from a file, if the function is given again."""
    X, y, weights = stream(task)
    batch, rows, cut = (new(task, options) for _ in range(3))
    batch.learn(container(X), y, weights)
    for i in range(len(X)):
        rows.learn(container(X[i : i + 1]), part(y, slice(i, i + 1)), weights[i : i + 1])
    cut.learn(container(X[:70]), part(y, slice(70)), weights[:70])
    cut.save(tmp_path / "model")
    with pytest.raises(hinge.ModelFileError, match=r"hinge\.load\(path, kernel=\.\.\.\)"):
        hinge.load(tmp_path / "model")
    for again in (
        hinge.load(tmp_path / "model", kernel=own),
        copy.deepcopy(cut),
        pickle.loads(pickle.dumps(cut)),
    ):
        assert state(again) == state(cut)
        again.learn(container(X[70:]), part(y, slice(70, COUNT)), weights[70:])
        close(again.scores(X), batch.scores(X), options)
        np.testing.assert_array_equal(again.support, batch.support)
    close(rows.scores(container(X)), batch.scores(X), options)
    np.testing.assert_array_equal(rows.support, batch.support)
    close([number(batch.score_one(x)) for x in numbered(X[:9])], batch.scores(X[:9]), options)


def test_a_function_is_only_given_where_one_is_missing(tmp_path):
    model = hinge.Learner("regression", kernel="linear")
    model.save(tmp_path / "model")
    with pytest.raises(hinge.ModelFileError, match="its kernel is not a function"):
        hinge.load(tmp_path / "model", kernel=own)


# ---- weights of 0 ------------------------------------------------------------------------------------------


@every_kernel
def test_an_example_without_weight_only_counts(task, options):
    """It has a number in the stream, and nothing else comes of it."""
    X, y, weights = stream(task)
    learner = new(task, options)
    learner.learn_many(as_dicts(X), y, weights)
    examples = learner.to_parts()[1]["examples"]
    before = but(learner, "examples")
    learner.learn_one({"unheard": 9.0}, one(y, 0), 0.0)
    learner.learn_many(as_dicts(X), y, np.zeros(COUNT))
    assert but(learner, "examples") == before
    assert learner.to_parts()[1]["examples"] == examples + COUNT + 1


@pytest.mark.parametrize("budget", [None, 9, "adaptive"])
def test_class_weights_are_weights(budget):
    X, y, _ = stream("multiclass")
    factors = {"ant": 3.0, "bee": 0.0}
    options = {"kernel": "rbf", "gamma": 0.4, "budget": budget, "classes": CLASSES}
    ours, theirs = (
        hinge.Learner("classification", class_weight=factors, **options),
        hinge.Learner("classification", **options),
    )
    ours.learn(X, y)
    theirs.learn(X, y, [factors.get(label, 1.0) for label in y])
    assert but(ours) == but(theirs)


# ---- memory ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("removal", ["largest", "oldest"])
@pytest.mark.parametrize(
    "task", ["classification", "multiclass", "multilabel", "ordinal", "regression", "uniclass"]
)
def test_the_budget_holds_at_every_moment(task, removal):
    """Also within a batch, as the function sees, and after loading."""
    asked = []

    def seen(X, Z):
        asked.append(Z.shape[0] if Z is not X else 0)
        return own(X, Z)

    X, y, _ = stream(task)
    learner = new(task, {"kernel": seen, "budget": 5, "removal": removal, "radius": 0.1})
    learner.learn(X, y)
    assert learner.n_support in (4, 5)  # a victim goes even if the step is not taken then
    assert learner.statistics.removals > 5
    again = hinge.Learner.from_bytes(learner.to_bytes(), kernel=seen)
    again.learn(X, y)
    assert again.n_support in (4, 5)
    assert max(asked) == 5


def test_the_memory_of_a_long_stream_is_bounded():
    random = np.random.default_rng(0)
    for options in ({"fit_intercept": False}, {"dtype": "float32"}, {"hash_bits": 8}):
        learner = hinge.Learner("regression", kernel="rbf", gamma=0.5, budget=20, epsilon=0.0, **options)
        sizes = []
        for _ in range(40):
            if "hash_bits" in options:
                events = [{int(j): 1.0 for j in row} for row in random.integers(0, 10**6, size=(50, 3))]
                learner.learn_many(events, random.normal(size=50))
            else:
                learner.learn(random.normal(size=(50, 6)), random.normal(size=50))
            assert learner.n_support == 20
            sizes.append(sys.getsizeof(learner))
        assert max(sizes) == max(sizes[:5]) < 40_000


# ---- new features ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{"kernel": "rbf", "gamma": 0.3}, {"kernel": "linear"}, {"kernel": own}], ids=name
)
@pytest.mark.parametrize("budget", [None, 6, "adaptive"])
def test_features_come_with_the_stream(options, budget):
    """As if all columns had been there from the start."""
    X, y, _ = stream("regression")
    events = [
        {f"x{j}": value for j, value in enumerate(row[: 1 + i // 25]) if value}
        for i, row in enumerate(X.tolist())
    ]
    full = [{f"x{j}": x.get(f"x{j}", 0.0) for j in range(7)} for x in events]
    growing, known = (hinge.Learner("regression", budget=budget, **options) for _ in range(2))
    known.name_columns([f"x{j}" for j in range(7)])
    growing.learn_many(events[:90], y[:90])
    for x, its in zip(events[90:], y[90:].tolist(), strict=True):
        growing.learn_one(x, its)
    known.learn_many(pd.DataFrame(full).to_numpy(), y)
    close(numbers(growing, events), numbers(known, events), {})
    np.testing.assert_array_equal(growing.support, known.support)


def test_a_wide_row_among_narrow_ones_costs_what_it_holds():
    """Vectors are kept in panels as long as they are dense; one far out must not make them all that wide."""
    import scipy.sparse

    width = 2**29
    columns = np.array([0, 0, 1, width - 1, 5, 6], dtype=np.int64)
    X = scipy.sparse.csr_matrix((np.ones(6), columns, np.arange(7)), shape=(6, width))
    for parts in ([slice(0, 6)], [slice(i, i + 1) for i in range(6)]):
        learner = hinge.Learner("regression", kernel="rbf", gamma=0.5, max_features=2**30, epsilon=0.0)
        for some in parts:
            learner.learn(X[some], np.arange(1.0, 7.0)[some])
        assert learner.n_support == 6
