"""W1: one PA-I epoch over a sparse matrix, binary.

Data     CSR float64, 200,000 x 2^18, 82 non-zeros a row, Zipf columns, int32 indices, 2 % of the labels
         flipped (data.zipf_rows); about 30 % of the rows update. All in memory before the clock starts.
Peer     scikit-learn SGDClassifier(hinge, pa1, no penalty, no shuffle, no intercept), one partial_fit: what
         its PassiveAggressiveClassifier runs. Not fit, which is slower by 1 ms.
Ours     PAClassifier(step="pa1", C=1, fit_intercept=False).partial_fit on the same arrays.
Limit    loops.cpp: the same epoch as a plain C loop, without any check, and with four independent sums;
         reading the arrays once.
Clock    CPU time of a single thread, best of 31, taking turns.
Check    all end with the same weights, to 1e-8.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from data import Floats, zipf_rows
from measure import Prepare, Row, Work, best_of, compared, compiled, main, optional, pointer

SKLEARN = "scikit-learn SGD(pa1)"


def sklearn_learner() -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(
        loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, shuffle=False, max_iter=1, tol=None,
        fit_intercept=False,
    )  # fmt: skip


def our_learner() -> Any:
    import hinge

    return hinge.PAClassifier(step="pa1", C=1.0, fit_intercept=False)


def c_epoch(loop: Any, x: Any, y: Floats) -> Work:
    w = np.zeros(x.shape[1])
    w.fill(0)  # takes its pages from the system now, before the clock starts
    arrays = pointer(x.indptr), pointer(x.indices), pointer(x.data), pointer(y)

    def epoch() -> Floats:
        loop(ctypes.c_int64(x.shape[0]), *arrays, ctypes.c_double(1.0), pointer(w))
        return w

    return epoch


def run(quick: bool) -> list[Row]:
    x, y = zipf_rows(20_000 if quick else 200_000)
    classes = np.array([-1.0, 1.0])
    loops = compiled("loops.cpp")

    def one_epoch(learner: Callable[[], Any]) -> Prepare:
        return lambda: partial(learner().partial_fit, x, y, classes=classes)

    candidates: dict[str, Prepare | None] = {
        "ours": one_epoch(our_learner) if optional("hinge") else None,
        SKLEARN: one_epoch(sklearn_learner) if optional("sklearn") else None,
        "plain C loop": (lambda: c_epoch(loops.sparse_plain, x, y)) if loops else None,
        "C loop, 4 sums": (lambda: c_epoch(loops.sparse_four, x, y)) if loops else None,
        "reading the arrays": lambda: lambda: (x.data.sum(), x.indices.max(), x.indptr.max()),
    }
    timings = best_of(3 if quick else 31, candidates)

    def compare(peer: str, target: float | None, limit: str) -> Row:
        row = compared(timings, "one epoch, sparse", peer, target, limit)
        row.note = f"{row.theirs / x.nnz * 1e9:.2f} ns per non-zero" if row.theirs else ""
        return row

    return [
        compare(SKLEARN, 2.2, "plain C loop"),
        compare("plain C loop", 1 / 1.1, "reading the arrays"),
        compare("C loop, 4 sums", None, "reading the arrays"),
    ]


if __name__ == "__main__":
    main(run)
