"""scikit-learn's own estimator checks, and what its users rely on beyond them."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge import PAClassifier, PAOneClass, PARegressor

# step='pa' is not among the classifiers: class_weight scales C, and the hard step has none.
ESTIMATORS = [
    PAClassifier(),
    PAClassifier(step="pa2", average=True),
    PAClassifier(dtype="float32", margin=0.5),
    PAClassifier(step="perceptron"),
    PARegressor(),
    PARegressor(step="pa2", average=True),
    PARegressor(step="pa", dtype="float32"),
    PAOneClass(),
    PAOneClass(max_radius=20.0, C=0.5),
    PAOneClass(step="pa", radius=5.0, w1="zero", average=True),
]

ONLINE = (
    "an online learner: a weight scales C and a repeated row is seen again, so neither stands for the other"
)


def expected_failures(estimator: Any) -> dict[str, str]:
    return {
        "check_sample_weight_equivalence_on_dense_data": ONLINE,
        "check_sample_weight_equivalence_on_sparse_data": ONLINE,
    }


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)
