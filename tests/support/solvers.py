"""A generic solver of the problem that a round solves."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

SLACK = {"pa": lambda xi, C: 0.0, "pa1": lambda xi, C: C * xi, "pa2": lambda xi, C: C * xi**2}


def objective(step, v, w, A, xi, C):
    return 0.5 * (v - w) @ A @ (v - w) + SLACK[step](xi, C)


def least_slack(v, rows, b):
    return max(0.0, (b - rows @ v).max())


def solve(step, w, A, rows, b, C):
    """The new weights, by a solver that knows nothing of closed forms; its variables are v and xi."""
    n = len(w)
    slope = {"pa": lambda xi: 0.0, "pa1": lambda xi: C, "pa2": lambda xi: 2 * C * xi}[step]
    result = minimize(
        lambda p: objective(step, p[:n], w, A, p[n], C),
        np.append(w, 0.0 if step == "pa" else least_slack(w, rows, b)),
        jac=lambda p: np.append(A @ (p[:n] - w), slope(p[n])),
        method="SLSQP",
        bounds=[(None, None)] * n + [(0, 0) if step == "pa" else (0, None)],
        constraints=[
            {
                "type": "ineq",
                "fun": lambda p: rows @ p[:n] - b + p[n],
                "jac": lambda p: np.hstack([rows, np.ones((len(rows), 1))]),
            }
        ],
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    return result.x[:n]


def solves(step, v, w, A, rows, b, C):
    """v is feasible, as good as the solver's point and, the problem being strictly convex, that point."""
    solution = solve(step, w, A, rows, b, C)
    xi = least_slack(v, rows, b)
    if step == "pa":
        assert xi <= 1e-9
    best = objective(step, solution, w, A, least_slack(solution, rows, b), C)
    assert objective(step, v, w, A, xi, C) <= best * (1 + 1e-9) + 1e-9
    np.testing.assert_allclose(v, solution, rtol=1e-5, atol=1e-5)
