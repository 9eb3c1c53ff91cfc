"""W8: kernels, 10,000 x 256, 10 classes: to fit, and to predict.

Data     data.clusters: 10,000 rows of 256 numbers in float64, each class in six clusters that overlap with others';
         2,000 more rows to predict, and to see how much each errs. All in memory before the clock starts.
Peer     scikit-learn SVC (libsvm), poly (degree 3) and rbf, its defaults: C=1, gamma='scale'; its cache of 200 MB.
Ours     PAClassifier(kernel=..., selection="mira", fit_intercept=False), the same gamma, one pass: 1,500 supports, in
         float64 and in float32; and with all supports, and with an adaptive budget.
Limit    BLAS: the products of the rows with the supports that there are at the end, by numpy (to predict only).
Clock    CPU time of a single thread, best of 3, taking turns; to predict: a row, all 2,000 in one call.
Check    ours errs at most 1 point more than SVC; else the row says so.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from data import clusters
from measure import Prepare, Row, best_of, main, optional, time_of

SVC = "scikit-learn SVC"
FIXED = "1,500"  # for which there is a target
BUDGETS: dict[str, dict[str, Any]] = {
    FIXED: {"budget": 1500},
    f"{FIXED}, float32": {"budget": 1500, "dtype": "float32"},
    "adaptive": {"budget": "adaptive"},
    "all": {},
}


def our_learner(kernel: str, options: dict[str, Any]) -> Any:
    import hinge

    passes: dict[str, Any] = {"max_iter": 1, "shuffle": False, "tol": None}
    return hinge.PAClassifier(kernel=kernel, selection="mira", fit_intercept=False, **passes, **options)


def their_learner(kernel: str) -> Any:
    from sklearn.svm import SVC

    return SVC(kernel=kernel)


def compare(kernel: str, x: Any, y: Any, others: Any, others_y: Any, repeats: int) -> list[Row]:
    fits: dict[str, Prepare | None] = {
        SVC: (lambda: partial(their_learner(kernel).fit, x, y)) if optional("sklearn") else None,
        **{name: (lambda o=o: partial(our_learner(kernel, o).fit, x, y)) for name, o in BUDGETS.items()},
    }
    fitted = best_of(repeats, fits)
    predictions: dict[str, Prepare | None] = {
        name: (lambda m=timing.result: partial(m.predict, others)) for name, timing in fitted.items()
    }
    for name in BUDGETS:
        vectors = fitted[name].result.support_vectors_.astype(others.dtype)
        predictions[f"BLAS {name}"] = lambda v=vectors: partial(np.matmul, others, v.T)
    predicted = best_of(repeats, predictions, per=len(others))
    errors = {name: float(np.mean(predicted[name].result != others_y)) for name in fitted}
    rows = []
    for name in BUDGETS:
        count = fitted[name].result.n_support_
        note = f"{count:,} supports, ours errs {errors[name]:.2%}"
        if SVC in fitted:
            note += f", it {errors[SVC]:.2%} with {len(fitted[SVC].result.support_):,}"
        near = SVC not in errors or errors[name] <= errors[SVC] + 0.01
        for what, times, target in (("fit", fitted, 3.0), ("predict a row", predicted, 5.0)):
            row = Row(f"{kernel}, {what}, supports: {name}", SVC, time_of(times, SVC), time_of(times, name))
            row.target = target if name.startswith(FIXED) else None
            row.note = note if near else f"{note}: NOT within 1 point"
            row.difference = None if near else 1.0
            if times is predicted:
                row.limit, row.limit_name = time_of(times, f"BLAS {name}"), "the products by BLAS"
            rows.append(row)
    return rows


def run(quick: bool) -> list[Row]:
    count, other = (2000, 500) if quick else (10_000, 2000)
    x, y = clusters(count + other)
    return [
        row
        for kernel in ("poly", "rbf")
        for row in compare(kernel, x[:count], y[:count], x[count:], y[count:], 1 if quick else 3)
    ]


if __name__ == "__main__":
    main(run)
