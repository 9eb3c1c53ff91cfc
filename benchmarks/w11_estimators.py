"""W11: what scikit-learn's users do with estimators: fit with shuffling, DataFrames, kernels, HashingVectorizer.

Data     dense: 1,000,000 x 20 standard normals, two classes with noise. Short text: 20,000 rows of 12 words of 2^15,
         not sorted, two classes. DataFrames: 200,000 x 20 and 100 x 20. Kernels: 2,000 rows of `data.clusters`, 10
         classes, and 2,000 of a smooth function of 10 normals. compat: 5,000 rows of 82 of 2^20 columns, 20 classes.
Peer     scikit-learn: SGDClassifier(hinge, pa1), which PassiveAggressiveClassifier runs; SVC and SVR, defaults;
         PassiveAggressiveClassifier (until it goes in 1.10), or SGDClassifier.
Ours     PAClassifier, PARegressor and hinge.compat with the same options; kernel="rbf" with its defaults.
Clock    CPU time of a single thread, best of 5 (DataFrames: 25, short text: 10), taking turns.
Check    kernels: within 1 point of their accuracy (R^2) on as many other rows; compat: the same weights, to 1e-8.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

from data import clusters, dense_rows, unsorted, zipf_classes, zipf_rows
from measure import Prepare, Row, best_of, compared, main, optional

SKLEARN = "scikit-learn SGD(pa1)"
PASSES = {"max_iter": 5, "tol": None, "random_state": 0}
AS_SGD = {"average": False, "scaling": None, "intercept_value": 1.0}  # the same learner


def sgd(C: float = 1.0) -> Any:
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=C, **PASSES)


def ours(C: float = 1.0, **options: Any) -> Any:
    import hinge

    return hinge.PAClassifier(C=C, **{**PASSES, **AS_SGD, **options})


def compare(work: str, peer: str, candidates: dict[str, Prepare | None], repeats: int, per: int = 1) -> Row:
    return compared(best_of(repeats, candidates, per), work, peer, 1.0, same=work.startswith("compat"))


def fits(work: str, x: Any, y: Any, C: float, repeats: int) -> Row:
    return compare(
        work,
        SKLEARN,
        {
            "ours": lambda: partial(ours(C).fit, x, y),
            SKLEARN: (lambda: partial(sgd(C).fit, x, y)) if optional("sklearn") else None,
        },
        repeats,
    )


def frames(rows: int, repeats: int) -> Row | None:
    pandas = optional("pandas")
    if pandas is None or not optional("sklearn"):
        return None
    x, target = dense_rows(rows, 20)
    frame, y = pandas.DataFrame(x, columns=[f"c{i}" for i in range(20)]), (target > 0).astype(int)
    our, their = ours(0.01).fit(frame, y), sgd(0.01).fit(frame, y)
    return compare(
        f"predict, DataFrame {rows:,} x 20",
        SKLEARN,
        {"ours": lambda: partial(our.predict, frame), SKLEARN: lambda: partial(their.predict, frame)},
        repeats,
    )


def kernels(work: str, our: Any, their: Any, x: Any, y: Any, repeats: int) -> Row:
    half = len(x) // 2
    peer = type(their).__name__
    timings = best_of(
        repeats,
        {
            "ours": lambda: partial(our.fit, x[:half], y[:half]),
            peer: lambda: partial(their.fit, x[:half], y[:half]),
        },
    )
    row = compared(timings, work, peer, 1.0, same=False)
    scores = [timings[name].result.score(x[half:], y[half:]) for name in ("ours", peer)]
    row.difference = None if scores[0] >= scores[1] - 0.01 else 1.0
    row.note = (
        f"{our.n_iter_} passes, {our.n_support_} supports (it {len(their.support_)}), "
        f"score {scores[0]:.3f} (it {scores[1]:.3f})"
    )
    return row


def rbf_rows(count: int, repeats: int) -> list[Row]:
    if not optional("sklearn"):
        return []
    from sklearn.svm import SVC, SVR

    import hinge

    x, y = clusters(2 * count)
    random = np.random.default_rng(0)
    z = random.standard_normal((2 * count, 10))
    target = np.sin(z[:, 0]) + z[:, 1] * z[:, 2] + 0.1 * random.standard_normal(2 * count)
    return [
        kernels(
            "fit, rbf, 10 classes", hinge.PAClassifier(kernel="rbf", random_state=0), SVC(), x, y, repeats
        ),
        kernels(
            "fit, rbf, numbers", hinge.PARegressor(kernel="rbf", random_state=0), SVR(), z, target, repeats
        ),
    ]


def compat(count: int, repeats: int) -> Row | None:
    if not optional("sklearn"):
        return None
    import sklearn.linear_model

    import hinge.compat

    theirs = getattr(sklearn.linear_model, "PassiveAggressiveClassifier", None)
    peer = "scikit-learn PA" if theirs else SKLEARN
    x, y = zipf_classes(count, columns=2**20, nonzeros=82, classes=20)
    make = hinge.compat.PassiveAggressiveClassifier
    return compare(
        "compat: fit, 2^20 columns, 20 classes",
        peer,
        {
            "ours": lambda: partial(make(**PASSES).fit, x, y),
            peer: lambda: partial((theirs(**PASSES) if theirs else sgd()).fit, x, y),
        },
        repeats,
    )


def run(quick: bool) -> list[Row]:
    warnings.simplefilter("ignore")  # of passes that were cut short
    repeats = 1 if quick else 5
    x, target = dense_rows(50_000 if quick else 1_000_000, 20, noise=0.5)
    text, labels = zipf_rows(5000 if quick else 20_000, columns=2**15, nonzeros=12)
    rows = [
        fits("fit, dense, shuffled", x, (target > 0).astype(int), 0.01, repeats),
        fits("fit, short text", unsorted(text), labels, 1.0, 2 * repeats),
        frames(20_000 if quick else 200_000, 2 if quick else 25),
        frames(100, 2 if quick else 25),
        *rbf_rows(300 if quick else 2000, repeats),
        compat(500 if quick else 5000, repeats),
    ]
    return [row for row in rows if row is not None]


if __name__ == "__main__":
    main(run)
