"""Learners with kernels, on a budget or not: every task with some of its rules, kernels and ways to keep in turns."""

from __future__ import annotations

import numpy as np

from cases import COST, NU

COUNT = 150  # rows of a stream: more than are prefetched, 64


def own(X, Z):
    """A custom kernel, the same numbers for arrays and sparse matrices: (1 + x.z/2)^2."""
    products = X @ Z.T
    return np.square(1 + np.asarray(products.todense() if hasattr(products, "todense") else products) / 2)


BUILT_IN = [
    {"kernel": "rbf", "gamma": 0.4},
    {"kernel": "poly", "degree": 2, "gamma": 0.3, "coef0": 1.0},
    {"kernel": "linear"},
]
RULES = [
    ("classification", {"step": "pa1"}),
    ("classification", {"step": "pa2"}),
    ("classification", {"step": "perceptron", "beta": 0.2}),
    ("regression", {"step": "pa1"}),
    ("regression", {"step": "pa"}),
    ("uniclass", {"step": "pa1", "radius": 0.6}),
    ("uniclass", {"step": "pa1", "radius": 0.6, "w1": "zero"}),
    ("uniclass", {"step": "pa2", "max_radius": 1.0}),
    ("multiclass", {"step": "pa1"}),
    ("multiclass", {"step": "perceptron", "selection": "uniform"}),
    ("multiclass", {"step": "pa1", "selection": "simproj", "nu": NU}),
    ("multiclass", {"step": "pa1", "selection": "mira", "beta": 0.5}),
    ("multiclass", {"step": "pa2", "cost": COST, "selection": "prediction"}),
    ("multiclass", {"step": "pa1", "cost": COST}),
    ("multilabel", {"step": "pa1", "threshold": "learned"}),
    ("multilabel", {"step": "pa1", "selection": "simproj", "threshold": 0.1}),
    ("ordinal", {"step": "pa", "selection": "max"}),
    ("ordinal", {"step": "pa1", "selection": "simproj"}),
    ("ordinal", {"step": "pa1", "selection": "simperc", "sort_thresholds": False}),
]
BUDGETS = [
    {"budget": None},
    {"budget": 9},
    {"budget": "adaptive"},
    {"budget": 9, "removal": "oldest"},
    {"budget": None, "average": True},
]


def _cases():
    number = 0
    for task, rule in RULES:
        for budget in BUDGETS:
            number += 1
            more = {
                "dtype": "float32" if number % 4 == 0 else "float64",
                "hash_bits": 6 if number % 5 == 2 else None,
            }
            if task not in ("uniclass", "ordinal"):
                more["fit_intercept"] = number % 2 == 0
            yield task, {"C": 0.3, **rule, **BUILT_IN[number % 3], **budget, **more}


KERNELS = list(_cases())
SOME_KERNELS = KERNELS[::3]
OWN = [
    (task, {"C": 0.3, **rule, "kernel": own, **BUDGETS[number % 3]})
    for number, (task, rule) in enumerate(RULES)
    if number % 2 == 0 or task == "uniclass"
]


def name(case):
    """The id of a case: what is not the default."""
    if not isinstance(case, dict):
        return "own" if callable(case) else str(case)
    shown = {
        key: value for key, value in case.items() if key != "C" and value not in (False, None, "float64")
    }
    return "-".join(
        key if isinstance(value, (dict, list)) else "own" if callable(value) else f"{key}={value}"
        if isinstance(value, (int, float)) else str(value)
        for key, value in shown.items()
    )  # fmt: skip
