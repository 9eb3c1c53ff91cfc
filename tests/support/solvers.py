"""Generic solvers of the problems that a round solves: they know nothing of closed forms.

    min 1/2 (v-w)'A(v-w) + the price of xi   s.t.   room(v) + nu xi >= 0,  xi >= 0

The price is that of the step: C xi of PA-I, C xi^2 of PA-II; PA has xi = 0. A is the identity if it is not given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

PRICE = {"pa": lambda xi, C: 0.0, "pa1": lambda xi, C: C * xi, "pa2": lambda xi, C: C * xi**2}
SLOPE = {"pa": lambda xi, C: 0.0, "pa1": lambda xi, C: C, "pa2": lambda xi, C: 2 * C * xi}


@dataclass
class Problem:
    step: str
    w: np.ndarray
    C: float
    room: Callable  # by how much v satisfies each constraint
    gradients: Callable  # one row for each number of `room`
    nu: np.ndarray
    A: np.ndarray | None = None

    def slack(self, v):
        """The smallest xi with which v is feasible."""
        missing = -self.room(v)[self.nu > 0] / self.nu[self.nu > 0]
        return max(0.0, missing.max(initial=0.0))

    def distance(self, v):
        return v - self.w if self.A is None else self.A @ (v - self.w)

    def objective(self, v, xi):
        return 0.5 * (v - self.w) @ self.distance(v) + PRICE[self.step](xi, self.C)

    def solution(self):
        """The new weights. The variables of the solver are v and xi."""
        n = len(self.w)
        result = minimize(
            lambda p: self.objective(p[:n], p[n]),
            np.append(self.w, 0.0 if self.step == "pa" else self.slack(self.w)),
            jac=lambda p: np.append(self.distance(p[:n]), SLOPE[self.step](p[n], self.C)),
            method="SLSQP",
            bounds=[(None, None)] * n + [(0, 0) if self.step == "pa" else (0, None)],
            constraints=[
                {
                    "type": "ineq",
                    "fun": lambda p: self.room(p[:n]) + self.nu * p[n],
                    "jac": lambda p: np.hstack([self.gradients(p[:n]), self.nu[:, None]]),
                }
            ],
            options={"ftol": 1e-16, "maxiter": 1000},
        )
        return result.x[:n]

    def check(self, v, rtol=1e-6, atol=1e-6):
        """v is feasible, as good as the solver's point and, the problem being strictly convex, that point."""
        solution, xi = self.solution(), self.slack(v)
        if self.step == "pa":
            assert xi <= 1e-9
        best = self.objective(solution, self.slack(solution))
        assert self.objective(v, xi) <= best * (1 + 1e-9) + 1e-9
        np.testing.assert_allclose(v, solution, rtol=rtol, atol=atol)


def of_rows(step, w, rows, b, C, A=None, nu=None):
    """The constraints v.a_j >= b_j of the rows a_j."""
    nu = np.ones(len(rows)) if nu is None else np.asarray(nu, dtype=float)
    return Problem(step, w, C, lambda v: rows @ v - b, lambda v: rows, nu, A)
