"""W1u: W1's learning on sparse rows whose columns are not sorted: fit, partial_fit and predict.

Data     the rows of W1 with the columns of each row in random order (what TfidfVectorizer.fit_transform gives), and in
         descending order (what `diags @ X` gives of sorted rows); 200,000 rows, one epoch; batches of 1,000 rows cut
         before the clock starts. Many labels: 20,000 rows, 20 classes, shuffled columns.
Peer     scikit-learn SGDClassifier as in W1; `fit` with max_iter=5 and tol=None, shuffled, with the same seed.
Ours     PAClassifier as in W1.
Limit    ours on the same rows, sorted.
Clock    CPU time of a single thread, best of 15, taking turns.
Check    one score: both end with the same weights, to 1e-8. (Orders of `fit` and rules for many labels differ.)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from data import Floats, unsorted, zipf_classes, zipf_rows
from measure import Prepare, Row, best_of, compared, main, optional
from w1_sparse_epoch import SKLEARN, our_learner, sklearn_learner
from w1b_sparse_batches import batches_through

TARGET = 1.5
CLASSES = np.array([-1.0, 1.0])


def compare(work: str, candidates: dict[str, Prepare | None], repeats: int, per: int = 1) -> Row:
    timings = best_of(repeats, candidates, per)
    same = "batches" in work or "partial_fit" in work
    row = compared(timings, work, SKLEARN, TARGET, "sorted", same=same)
    row.limit_name = "ours, sorted"
    return row


def makers() -> dict[str, Any]:
    return {
        "ours": our_learner if optional("hinge") else None,
        SKLEARN: sklearn_learner if optional("sklearn") else None,
    }


def candidates_for(prepare: Any, x: Any, ordered: Any) -> dict[str, Prepare | None]:
    """`prepare(make, x)` returns the work of a learner on x."""
    found: dict[str, Prepare | None] = {
        name: None if make is None else partial(prepare, make, x) for name, make in makers().items()
    }
    if found["ours"] is not None:
        found["sorted"] = partial(prepare, our_learner, ordered)
    return found


def one_score(order: str, x: Any, ordered: Any, y: Floats, repeats: int) -> list[Row]:
    def epoch(make: Any, rows: Any) -> Any:
        return partial(make().partial_fit, rows, y, classes=CLASSES)

    def batches(make: Any, rows: Any) -> Any:
        return batches_through(
            make(), [(rows[i : i + 1000], y[i : i + 1000]) for i in range(0, min(50_000, len(y)), 1000)]
        )

    def prediction(make: Any, rows: Any) -> Any:
        learner = make().partial_fit(rows[:5000], y[:5000], classes=CLASSES)
        return partial(learner.decision_function, rows)

    def passes(make: Any, rows: Any) -> Any:
        learner = make().set_params(max_iter=5, tol=None, shuffle=True, random_state=0)
        return partial(learner.fit, rows, y)

    return [
        compare(f"partial_fit, {order} columns", candidates_for(epoch, x, ordered), repeats),
        compare(
            f"a row, batches of 1,000, {order} columns",
            candidates_for(batches, x, ordered),
            repeats,
            min(50_000, len(y)) - 1000,
        ),
        compare(f"predict, {order} columns", candidates_for(prediction, x, ordered), repeats),
        compare(f"fit, 5 passes, {order} columns", candidates_for(passes, x, ordered), max(2, repeats // 3)),
    ]


def many_labels(x: Any, ordered: Any, y: Any, repeats: int) -> list[Row]:
    classes = np.unique(y)

    def epoch(make: Any, rows: Any) -> Any:
        return partial(make().partial_fit, rows, y, classes=classes)

    def prediction(make: Any, rows: Any) -> Any:
        learner = make().partial_fit(rows[:2000], y[:2000], classes=classes)
        return partial(learner.decision_function, rows)

    return [
        compare("an epoch, 20 classes, shuffled columns", candidates_for(epoch, x, ordered), repeats),
        compare("predict, 20 classes, shuffled columns", candidates_for(prediction, x, ordered), repeats),
    ]


def run(quick: bool) -> list[Row]:
    count, repeats = (20_000, 2) if quick else (200_000, 15)
    x, y = zipf_rows(count)
    rows = one_score("shuffled", unsorted(x), x, y, repeats)
    rows += one_score("descending", unsorted(x, descending=True), x, y, repeats)
    x, labels = zipf_classes(2000 if quick else 20_000, classes=20)
    return rows + many_labels(unsorted(x), x, labels, repeats)


if __name__ == "__main__":
    main(run)
