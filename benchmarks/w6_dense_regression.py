"""W6: one PA-I epoch of regression over a dense matrix.

Data     200,000 x 50 float64 in C order, standard normals; target linear with normal noise of 0.2
         (data.dense_rows). epsilon 0.1; C 0.01, so that some steps are capped; two rows in three update.
Peers    scikit-learn SGDRegressor(epsilon_insensitive, pa1, no penalty, no shuffle, no intercept), one
         partial_fit; river PARegressor(mode=1, no intercept), learn_one of 2,000 rows as dicts.
Ours     PARegressor(step="pa1", C=0.01, epsilon=0.1, fit_intercept=False), the same calls.
Limit    loops.cpp as a plain C loop and with four independent sums; reading the array once (its sum).
Clock    CPU time of a single thread, best of 31 (river: of 5), taking turns.
Check    all end with the same weights, to 1e-8.
"""

from __future__ import annotations

import ctypes
from functools import partial
from typing import Any

import numpy as np

from data import Floats, dense_rows
from measure import Prepare, Row, Work, best_of, compared, compiled, main, optional, pointer

C, EPSILON = 0.01, 0.1
SKLEARN = "scikit-learn SGD(pa1)"


def sklearn_learner() -> Any:
    from sklearn.linear_model import SGDRegressor

    return SGDRegressor(
        loss="epsilon_insensitive", epsilon=EPSILON, penalty=None, learning_rate="pa1", eta0=C, shuffle=False,
        max_iter=1, tol=None, fit_intercept=False,
    )  # fmt: skip


def our_learner() -> Any:
    import hinge

    return hinge.PARegressor(step="pa1", C=C, epsilon=EPSILON, fit_intercept=False)


def river_learner() -> Any:
    return optional("river.linear_model").PARegressor(C=C, mode=1, eps=EPSILON, learn_intercept=False)


def c_epoch(loop: Any, x: Floats, y: Floats) -> Work:
    w = np.zeros(x.shape[1])
    sizes = ctypes.c_int64(x.shape[0]), ctypes.c_int64(x.shape[1])

    def epoch() -> Floats:
        loop(*sizes, pointer(x), pointer(y), ctypes.c_double(C), ctypes.c_double(EPSILON), pointer(w))
        return w

    return epoch


def events_through(learner: Any, events: list[tuple[dict[str, float], float]]) -> Work:
    def feed() -> Any:
        for x, y in events:
            learner.learn_one(x, y)
        return learner

    return feed


def epochs(x: Floats, y: Floats, repeats: int) -> list[Row]:
    loops = compiled("loops.cpp")
    candidates: dict[str, Prepare | None] = {
        "ours": (lambda: partial(our_learner().partial_fit, x, y)) if optional("hinge") else None,
        SKLEARN: (lambda: partial(sklearn_learner().partial_fit, x, y)) if optional("sklearn") else None,
        "plain C loop": (lambda: c_epoch(loops.dense_plain, x, y)) if loops else None,
        "C loop, 4 sums": (lambda: c_epoch(loops.dense_four, x, y)) if loops else None,
        "reading the array": lambda: x.sum,
    }
    timings = best_of(repeats, candidates)

    def compare(peer: str, target: float | None, limit: str) -> Row:
        row = compared(timings, "one epoch, dense", peer, target, limit)
        row.note = f"{row.theirs / x.size * 1e9:.2f} ns per number" if row.theirs else ""
        return row

    return [
        compare(SKLEARN, 4, "C loop, 4 sums"),
        compare("plain C loop", None, "reading the array"),
        compare("C loop, 4 sums", None, "reading the array"),
    ]


def single_events(x: Floats, y: Floats, repeats: int) -> Row:
    names = [f"f{i}" for i in range(x.shape[1])]
    rows = [dict(zip(names, row, strict=True)) for row in x.tolist()]
    events = list(zip(rows, y.tolist(), strict=True))
    candidates: dict[str, Prepare | None] = {
        "ours": (lambda: events_through(our_learner(), events)) if optional("hinge") else None,
        "river": (lambda: events_through(river_learner(), events)) if optional("river") else None,
    }
    timings = best_of(repeats, candidates, per=len(events))
    return compared(timings, "an event of 50, learn_one", "river", same=False)


def run(quick: bool) -> list[Row]:
    x, y = dense_rows(20_000 if quick else 200_000, 50)
    few = 200 if quick else 2000
    return [*epochs(x, y, 3 if quick else 31), single_events(x[:few], y[:few], 3 if quick else 5)]


if __name__ == "__main__":
    main(run)
