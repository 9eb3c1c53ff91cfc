"""W9: an update with a full covariance: AROW with r = 1, which is PAM-II with C = 1/2.

Data     dense rows of 500 standard normals (and of 100 and 2,000), 2,000 of them (5,000; 300). An adversary labels
         them, each against AROW's prediction: every round is a mistake, so every round updates (stats_ is asked).
Peers    NumPy as one would write it down: S @ x, S -= b * np.outer(g, g), all of S; and with a place for the product.
         glibc is set to keep its memory: otherwise new pages for the product can cost more than the work (3 ms, not
         0.3). BLAS through scipy.linalg.blas: dsymv, and dsyr in place on one half of S; that nothing is copied is
         checked.
Ours     PAClassifier(geometry="mahalanobis", step="pa2", C=0.5, fit_intercept=False).partial_fit, in one batch and row
         by row.
Limit    covariance.cpp: half of the matrix read and written once; the update as a C loop, in two passes and in one.
Diagonal 20,000 sparse rows of 2^18 columns, 82 non-zeros (data.zipf_rows), against NumPy on the non-zeros of each row;
         the limit is reading the arrays once.
Clock    CPU time of a single thread, best of 15 (100: 7, 2,000: 5), taking turns.
Check    all end with the same weights, to 1e-8.
"""

from __future__ import annotations

import ctypes
import tracemalloc
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from data import Floats, zipf_rows
from measure import Prepare, Row, Work, best_of, compared, compiled, main, optional, pointer

R = 1.0
NUMPY, IN_PLACE, BLAS = "NumPy", "NumPy, in place", "BLAS dsymv + dsyr"
TWO, ONE = "C loop, two passes", "C loop, one pass"
HALF = "half of S read and written once"


def keep_memory() -> None:
    """Freed memory is not given back to the system (glibc's mallopt): that is what a peer's temporaries wait for."""
    trim_threshold, mmap_threshold = -1, -3
    library = ctypes.CDLL(None)
    if hasattr(library, "mallopt"):
        for what in (trim_threshold, mmap_threshold):
            library.mallopt(what, 1 << 30)


class NumpyArow:
    """Straightforward NumPy: the whole matrix, in double."""

    def __init__(self, n: int) -> None:
        self.w, self.S = np.zeros(n), np.eye(n)

    def update(self, x: Floats, y: float) -> None:
        g = self.S @ x
        loss = 1 - y * (self.w @ x)
        if loss > 0:
            b = 1 / (x @ g + R)
            self.w += loss * b * y * g
            self.subtract(b, g)

    def subtract(self, b: float, g: Floats) -> None:
        self.S -= b * np.outer(g, g)


class NumpyInPlace(NumpyArow):
    """The same without new arrays of the size of S."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self.outer = np.zeros((n, n))

    def subtract(self, b: float, g: Floats) -> None:
        self.S -= np.outer(b * g, g, out=self.outer)


class BlasArow:
    """One half of the matrix, in place: dsymv reads it, dsyr reads and writes it."""

    def __init__(self, n: int) -> None:
        from scipy.linalg import blas

        self.w, self.S = np.zeros(n), np.asfortranarray(np.eye(n))
        self.symv, self.syr = blas.dsymv, blas.dsyr

    def update(self, x: Floats, y: float) -> None:
        g = self.symv(1.0, self.S, x, lower=1)
        loss = 1 - y * (self.w @ x)
        if loss > 0:
            b = 1 / (x @ g + R)
            self.w += loss * b * y * g
            self.S = self.syr(-b, g, lower=1, a=self.S, overwrite_a=1)


class NumpyDiagonal:
    """A vector of variances; an update touches the non-zeros of its row."""

    def __init__(self, n: int) -> None:
        self.w, self.s = np.zeros(n), np.ones(n)

    def update(self, columns: Any, x: Floats, y: float) -> None:
        s, w = self.s[columns], self.w[columns]
        g = s * x
        loss = 1 - y * (w @ x)
        if loss > 0:
            self.w[columns] = w + loss / (x @ g + R) * y * g
            self.s[columns] = s / (1 + s * x * x / R)


def against_it(rows: int, n: int, seed: int = 0) -> tuple[Floats, Floats]:
    """Rows of standard normals, and labels that are not what AROW predicts."""
    x, y, arow = np.random.default_rng(seed).standard_normal((rows, n)), np.empty(rows), NumpyArow(n)
    for t, row in enumerate(x):
        y[t] = -1.0 if arow.w @ row > 0 else 1.0
        arow.update(row, y[t])
    return x, y


def copies_nothing(x: Floats, y: Floats) -> None:
    """An update through BLAS stays where it is, and takes no memory beyond a few vectors."""
    arow = BlasArow(x.shape[1])
    place = arow.S.ctypes.data
    tracemalloc.start()
    arow.update(x[0], y[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if arow.S.ctypes.data != place or peak > x.shape[1] * 8 * 16:
        raise AssertionError(f"BLAS does not work in place: {peak} bytes more at the peak")


def our_learner(geometry: str) -> Any:
    import hinge

    return hinge.PAClassifier(geometry=geometry, step="pa2", C=0.5 / R, fit_intercept=False)


def one_batch(geometry: str, x: Any, y: Floats) -> Work:
    return partial(our_learner(geometry).partial_fit, x, y, classes=[-1.0, 1.0])


def row_by_row(x: Floats, y: Floats) -> Work:
    learner = our_learner("mahalanobis")
    rows = [(x[t : t + 1], y[t : t + 1]) for t in range(len(x))]

    def feed() -> Any:
        learner.partial_fit(*rows[0], classes=[-1.0, 1.0])
        for row, label in rows[1:]:
            learner.partial_fit(row, label)
        return learner

    return feed


def updates(arow: Any, x: Floats, y: Floats) -> Work:
    labels = y.tolist()

    def feed() -> Any:
        for row, label in zip(x, labels, strict=True):
            arow.update(row, label)
        return arow.w

    return feed


def c_updates(loop: Any, x: Floats, y: Floats) -> Work:
    n = x.shape[1]
    half, w, work = np.eye(n)[np.triu_indices(n)], np.zeros(n), np.zeros(2 * n)
    sizes = ctypes.c_int64(len(x)), ctypes.c_int64(n)

    def feed() -> Any:
        loop(*sizes, pointer(x), pointer(y), ctypes.c_double(R), pointer(half), pointer(w), pointer(work))
        return w

    return feed


def c_half(loops: Any, rows: int, n: int) -> Work:
    half = np.ones(n * (n + 1) // 2)
    sizes = ctypes.c_int64(rows), ctypes.c_int64(n)
    return lambda: loops.half_once(*sizes, ctypes.c_double(1.0), pointer(half))


def full(rows: int, n: int, repeats: int, targets: Mapping[str, float] | None = None) -> list[Row]:
    x, y = against_it(rows, n)
    hinge, scipy, loops = optional("hinge"), optional("scipy.linalg.blas"), compiled("covariance.cpp")
    if scipy:
        copies_nothing(x, y)
    candidates: dict[str, Prepare | None] = {
        "batch": (lambda: one_batch("mahalanobis", x, y)) if hinge else None,
        "rows": (lambda: row_by_row(x, y)) if hinge else None,
        NUMPY: lambda: updates(NumpyArow(n), x, y),
        IN_PLACE: lambda: updates(NumpyInPlace(n), x, y),
        BLAS: (lambda: updates(BlasArow(n), x, y)) if scipy else None,
        TWO: (lambda: c_updates(loops.two_passes, x, y)) if loops else None,
        ONE: (lambda: c_updates(loops.one_pass, x, y)) if loops else None,
        HALF: (lambda: c_half(loops, rows, n)) if loops else None,
    }
    timings = best_of(repeats, candidates, per=rows)
    for way in ("batch", "rows"):
        if way in timings and timings[way].result.stats_.updates != rows:
            raise AssertionError(f"{rows} rounds, but {timings[way].result.stats_.updates} updates")

    targets = targets or {}
    peers = (NUMPY, IN_PLACE, BLAS, TWO, ONE) if targets else (NUMPY, BLAS)
    result = [
        compared(timings, f"an update, n = {n}", peer, targets.get(peer), HALF, "batch") for peer in peers
    ]
    return result + [
        compared(timings, f"one row per call, n = {n}", peer, None, HALF, "rows") for peer in (NUMPY, BLAS)
    ]


def diagonal(rows: int, repeats: int) -> Row:
    x, y = zipf_rows(rows)
    labels, starts = y.tolist(), x.indptr.tolist()

    def numpy_updates() -> Work:
        arow = NumpyDiagonal(x.shape[1])

        def feed() -> Any:
            for t, label in enumerate(labels):
                part = slice(starts[t], starts[t + 1])
                arow.update(x.indices[part], x.data[part], label)
            return arow.w

        return feed

    reading = "reading the arrays"
    candidates: dict[str, Prepare | None] = {
        "batch": (lambda: one_batch("diagonal", x, y)) if optional("hinge") else None,
        NUMPY: numpy_updates,
        reading: lambda: lambda: (x.data.sum(), x.indices.sum()),
    }
    timings = best_of(repeats, candidates, per=rows)
    row = compared(timings, "a row, diagonal, sparse", NUMPY, None, reading, "batch")
    if "batch" in timings:
        row.note = f"{timings['batch'].result.stats_.updates / rows:.0%} of the rows update"
    return row


def run(quick: bool) -> list[Row]:
    keep_memory()
    targets = {NUMPY: 8, BLAS: 1.5}
    if quick:
        return [*full(200, 500, 3, targets), *full(200, 100, 3), *full(20, 2000, 2), diagonal(2000, 2)]
    return [*full(2000, 500, 15, targets), *full(5000, 100, 7), *full(300, 2000, 5), diagonal(20_000, 5)]


if __name__ == "__main__":
    main(run)
