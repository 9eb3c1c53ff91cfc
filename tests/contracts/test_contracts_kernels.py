"""What every learner promises, of those with kernels and budgets (cases of their own: kernel_cases.py).

To the bit for the kernels that are built in; functions of one's own are asked for several rows at once, and may
round as they like.
"""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

import hinge
from cases import (
    CLASSES,
    new,
    numbers,
)
from cases import stream as short_stream
from kernel_cases import COUNT, name, own


def stream(task):
    return short_stream(task, COUNT)


def but(model, *names):
    """All that was learned, but for the tensors of these names, as bytes."""
    return {key: value.tobytes() for key, value in model.to_parts()[1].items() if key not in names}


def close(ours, theirs, options, what=""):
    single = options.get("dtype") == "float32"
    np.testing.assert_allclose(
        ours, theirs, rtol=1e-3 if single else 1e-9, atol=1e-4 if single else 1e-10, err_msg=what
    )


# ---- predicting changes nothing ----------------------------------------------------------------------------


# ---- a batch is its rows, to the bit -----------------------------------------------------------------------


# ---- saved, loaded, gone on --------------------------------------------------------------------------------


def test_a_function_is_only_given_where_one_is_missing(tmp_path):
    model = hinge.Learner("regression", kernel="linear")
    model.save(tmp_path / "model")
    with pytest.raises(hinge.ModelFileError, match="its kernel is not a function"):
        hinge.load(tmp_path / "model", kernel=own)


# ---- weights of 0 ------------------------------------------------------------------------------------------


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
