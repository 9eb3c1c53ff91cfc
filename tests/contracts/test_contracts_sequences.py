"""The contracts of PASequence: predict is pure; batch = one by one = saved and loaded, to the bit; and so on."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import hinge
from hinge import PASequence
from sequence_cases import (
    blocks,
    new,
    same_weights,
    state,
    stream,
)

# ---- predict is pure ------------------------------------------------------------------------------------------


# ---- batches, files, copies -----------------------------------------------------------------------------------


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


# ---- weights --------------------------------------------------------------------------------------------------


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
