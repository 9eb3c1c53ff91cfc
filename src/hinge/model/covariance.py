"""The settings of the core for a geometry, and the covariance of a learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .experts import is_committee

if TYPE_CHECKING:
    from ..data.types import Doubles
    from ..learner import Learner


def geometry_options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the core that concern the geometry."""
    phi = 0.0
    if parameters["step"] == "cw":  # statistics takes long to import
        from statistics import NormalDist

        phi = NormalDist().inv_cdf(parameters["eta"])
    return {
        "geometry": parameters["geometry"],
        "regularizer": float(parameters["covariance_regularizer"]),
        "variance": float(parameters["initial_variance"]),
        "drop": parameters["covariance_update"] == "drop",
        "max_covariance": float(parameters["max_covariance"]),
        "phi": phi,
        "scale": float(parameters["scale"]),
        "signed": bool(parameters["signed"]),
        "paper": parameters["entropy_step"] == "paper",
    }


def covariance(variances: Doubles, upper: Doubles | None, with_intercept: bool) -> Doubles:
    """S = U D U' without the intercept's coordinate, which comes first; or the variances of a diagonal one."""
    first = int(with_intercept)
    if upper is None:
        return variances[first:]
    product = (upper[first:] * variances) @ upper[first:].T
    symmetric: Doubles = (product + product.T) / 2
    return symmetric


def check_has_covariance(learner: Learner) -> None:
    geometry = learner.parameters["geometry"]
    if is_committee(learner):
        raise AttributeError("each expert of a committee has its own covariance: see leader()")
    if geometry not in ("mahalanobis", "diagonal"):
        raise AttributeError(
            f"there is no covariance with geometry={geometry!r}; there is one with 'diagonal' and 'mahalanobis'"
        )
