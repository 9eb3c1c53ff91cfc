"""W1b: the same PA-I learning as W1, fed in partial_fit batches of 1,000 rows and of 1 row.

Data     the rows of W1, cut into batches before the clock starts: 100 batches of 1,000; 500 batches of 1.
Peer     scikit-learn SGDClassifier as in W1.
Ours     PAClassifier as in W1.
Limit    the plain C loop of W1, over the same rows in one call.
Clock    CPU time a row, best of 7 (of 1,000) and of 5 (of 1), taking turns. The first batch, which names the
         classes and makes the weights, is fed before the clock starts.
Check    both end with the same weights, to 1e-8.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from data import Floats, zipf_rows
from measure import Prepare, Row, Work, best_of, compared, compiled, main, optional
from w1_sparse_epoch import SKLEARN, c_epoch, our_learner, sklearn_learner


def batches_through(learner: Any, batches: list[tuple[Any, Floats]]) -> Work:
    learner.partial_fit(*batches[0], classes=np.array([-1.0, 1.0]))

    def feed() -> Any:
        for x, y in batches[1:]:
            learner.partial_fit(x, y)
        return learner

    return feed


def rows_for(size: int, count: int, repeats: int, target: float, x: Any, y: Floats) -> Row:
    batches = [(x[i : i + size], y[i : i + size]) for i in range(0, size * (count + 1), size)]
    learned = size * count
    loops = compiled("loops.cpp")
    candidates: dict[str, Prepare | None] = {
        "ours": (lambda: batches_through(our_learner(), batches)) if optional("hinge") else None,
        SKLEARN: (lambda: batches_through(sklearn_learner(), batches)) if optional("sklearn") else None,
        "plain C loop": (lambda: c_epoch(loops.sparse_plain, x[:learned], y)) if loops else None,
    }
    timings = best_of(repeats, candidates, per=learned)
    return compared(timings, f"a row, batches of {size:,}", SKLEARN, target, "plain C loop")


def run(quick: bool) -> list[Row]:
    x, y = zipf_rows(11_000 if quick else 101_000)
    return [
        rows_for(1000, 10 if quick else 100, 3 if quick else 7, 10, x, y),
        rows_for(1, 50 if quick else 500, 2 if quick else 5, 200, x, y),
    ]


if __name__ == "__main__":
    main(run)
