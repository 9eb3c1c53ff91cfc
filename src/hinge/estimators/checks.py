"""scikit-learn's estimator checks that do not hold for online learners, each with the reason.

check_estimator(model, expected_failed_checks=hinge.expected_failed_checks(model))
"""

from __future__ import annotations

from typing import Any

_ONLINE = (
    "an online learner: a weight scales C and a repeated row is seen again, so neither stands for the other"
)
_NAMES = "it fits strings: ranks with names need their order, classes=[...], which the check does not know"
_NO_CAP = "class_weight scales C, which this step does not have"
_GIVEN_RADIUS = "with a radius that is given, or learned up to max_radius, `contamination` decides nothing"
_OUTLIERS = ("check_outliers_train", "check_outliers_fit_predict")


def expected_failed_checks(estimator: Any) -> dict[str, str]:
    """The names of the checks that fail, and why: what `check_estimator` and `parametrize_with_checks` take under the
    same name."""
    task = type(estimator)._task
    has_no_cap = task == "classification" and estimator.step in ("pa", "cw")
    has_given_radius = task == "uniclass" and not (estimator.radius is None and estimator.max_radius is None)
    return {
        **({"check_class_weight_classifiers": _NO_CAP} if has_no_cap else {}),
        "check_sample_weight_equivalence_on_dense_data": _ONLINE,
        "check_sample_weight_equivalence_on_sparse_data": _ONLINE,
        **({"check_classifiers_classes": _NAMES} if task == "ordinal" else {}),
        **(dict.fromkeys(_OUTLIERS, _GIVEN_RADIUS) if has_given_radius else {}),
    }
