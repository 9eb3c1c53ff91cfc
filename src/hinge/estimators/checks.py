"""scikit-learn's estimator checks that fail for online learners, each with the reason.

check_estimator(model, expected_failed_checks=hinge.expected_failed_checks(model))
"""

from __future__ import annotations

from typing import Any

_ONLINE = "an online learner: a weight scales C and a repeated row is seen again, so they are not equivalent"


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The names of the checks that fail, and why: what `check_estimator` and `parametrize_with_checks` take under the
    same name."""
    return {
        "check_sample_weight_equivalence_on_dense_data": _ONLINE,
        "check_sample_weight_equivalence_on_sparse_data": _ONLINE,
        **estimator._failed_checks(),
    }
