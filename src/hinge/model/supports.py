"""The settings of the core for a kernel and its budget, and the supports of a learner."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..data.rows import Rows
    from ..data.types import Doubles


def kernel_options(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of the core that concern the kernel."""
    kernel, budget, gamma = parameters["kernel"], parameters["budget"], parameters["gamma"]
    if kernel is None:
        return {}
    if gamma == "scale" and kernel in ("poly", "rbf"):
        raise ValueError(
            "gamma='scale' is measured from the rows that `fit` or the first `partial_fit` of an estimator gets: here "
            "give a number, 1 over the number of features for example"
        )
    return {
        "kernel": kernel if isinstance(kernel, str) else "custom",
        "degree": int(parameters["degree"]),
        "gamma": 1.0 if gamma == "scale" else float(gamma),
        "coef0": float(parameters["coef0"]),
        "has_budget": budget is not None,
        "budget": 0 if budget is None or budget == "adaptive" else int(budget),
        "oldest": parameters["removal"] == "oldest",
        "max_cache": float(parameters["max_cache"]),
        "function": None if isinstance(kernel, str) else kernel,
    }


def beta_of(parameters: Mapping[str, Any]) -> float:
    """The margin of MIRA and of the perceptron, where none was given."""
    beta = parameters["beta"]
    if beta is not None:
        return float(beta)
    plain = parameters["step"] == "perceptron" and parameters.get("budget") is None
    return 0.0 if plain else 0.01


def scaled_gamma(rows: Rows) -> float:
    """1/(n_features * variance) of the rows, as scikit-learn's 'scale'. (Invalid values are rejected later.)"""
    import numpy as np

    values = rows.arrays[0]
    with np.errstate(all="ignore"):
        if rows.indptr is None:
            variance = float(np.var(values, dtype=np.float64))
        else:
            cells = max(1, rows.count * rows.width)
            mean = float(np.sum(values, dtype=np.float64)) / cells
            squares = float(np.sum(np.square(values.astype(np.float64) - mean)))
            variance = (squares + (cells - values.size) * mean**2) / cells
        gamma = 1.0 / (rows.width * variance) if variance > 0 else 1.0
    return gamma if 0 < gamma < np.inf else 1.0


class SupportSet:
    """The supports of a learner at one moment."""

    def __init__(self, parts: tuple[Any, ...], width: int) -> None:
        self.numbers: npt.NDArray[np.int64]
        self.coefficients: Doubles  # a row a support
        self.numbers, self.coefficients, values, columns, starts, sparse = parts
        from scipy.sparse import csr_matrix

        matrix = csr_matrix((values, columns, starts), shape=(len(self.numbers), width))
        self.vectors: Any = matrix if sparse else matrix.toarray()


def check_has_kernel(kernel: Any) -> None:
    if kernel is None:
        raise AttributeError("there are no supports without a kernel; give kernel='linear', 'poly' or 'rbf'")


def check_has_weights(kernel: Any) -> None:
    if kernel not in (None, "linear"):
        name = f"the kernel {kernel!r}" if isinstance(kernel, str) else "a custom kernel"
        raise AttributeError(f"there are no weights with {name}: see dual_coef and support_vectors")
