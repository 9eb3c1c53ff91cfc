"""A value that only other tasks have is rejected with what to use instead."""

from __future__ import annotations

import pytest

import hinge
from hinge.structured.sequence_learner import SequenceLearner


def test_the_error_for_cw_on_sequences_suggests_arow():
    expected = "step='cw' is not for sequence; use AROW: step='pa2' with geometry='diagonal'"
    with pytest.raises(ValueError, match=expected):
        hinge.PASequence(step="cw").fit([[["w=a"]]], [["A"]])
    with pytest.raises(ValueError, match=expected):
        SequenceLearner(step="cw")


def test_the_recommended_options_work():
    model = hinge.PASequence(step="pa2", geometry="diagonal").fit([[["w=a"], ["w=b"]]], [["A", "B"]])
    assert model.predict([[["w=b"]]]) == [["B"]]


@pytest.mark.parametrize("geometry", ["mahalanobis", "diagonal", "entropy"])
def test_the_error_for_a_geometry_of_a_ranker_gives_the_reason(geometry):
    expected = (
        f"geometry='{geometry}' is not for prototype; use 'euclidean': each label has its own features, so "
        "there is no single vector per example"
    )
    with pytest.raises(ValueError, match=expected):
        hinge.Learner("prototype", geometry=geometry)
    with pytest.raises(TypeError, match="PARanker has no option 'geometry': each label has its own features"):
        hinge.PARanker(geometry=geometry)
