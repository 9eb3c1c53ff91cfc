"""`fit` with default options: test errors and seconds of hinge and of scikit-learn's linear models, on real data.

    HINGE_DATA=folder python benchmarks/fit_defaults.py [--task regression ...] [--set letter ...] [--csv FILE]

It prints Markdown. Sets and splits: fit_sets.py. No learner has any option, but for random_state=0.
Classification: share of wrong labels. Regression: mean absolute error. Ranks: mean distance in ranks. Label sets: 1 -
micro-F1. The clock is the CPU time of one thread for fit and predict, once: it is only good for ratios.
"""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import hinge
from fit_sets import SETS, FitSet, Split
from measure import single_threaded_parser

MEASURES = {
    "classification": "share of wrong labels",
    "regression": "mean absolute error",
    "ordinal": "mean distance in ranks",
    "multilabel": "1 - micro-F1",
}
TIE = 1e-9


@dataclass(frozen=True)
class Method:
    name: str
    make: Callable[[], Any]
    ours: bool = False


@dataclass(frozen=True)
class Result:
    task: str
    name: str
    kind: str
    method: str
    error: float
    seconds: float


def methods(task: str) -> list[Method]:
    """Ours first, then the peers. PAClassifier as it was before `fit` decided: average=False, scaling=None."""
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.svm import LinearSVC, LinearSVR

    def ours(kind: str) -> list[Method]:
        plain = getattr(hinge, f"PA{kind}")
        before = partial(plain, random_state=0, average=False, scaling=None)
        return [
            Method(f"Auto{kind}", partial(getattr(hinge, f"Auto{kind}"), random_state=0), True),
            Method(f"PA{kind}", partial(plain, random_state=0), True),
            Method(f"PA{kind}, before", before, True),
        ]

    if task == "classification":
        peers = {"LogisticRegression": LogisticRegression, "LinearSVC": partial(LinearSVC, random_state=0)}
        return ours("Classifier") + [Method(*peer) for peer in peers.items()]
    if task == "regression":
        peers = {"Ridge": Ridge, "LinearSVR": partial(LinearSVR, random_state=0)}
        return ours("Regressor") + [Method(*peer) for peer in peers.items()]
    if task == "ordinal":
        peers = {"LogisticRegression": LogisticRegression} | _mord()
        return ours("Ordinal") + [Method(*peer) for peer in peers.items()]
    peers = {
        "LogisticRegression": lambda: OneVsRestClassifier(LogisticRegression()),
        "LinearSVC": lambda: OneVsRestClassifier(LinearSVC(random_state=0)),
    }
    return ours("Multilabel") + [Method(*peer) for peer in peers.items()]


def _mord() -> dict[str, Callable[[], Any]]:
    try:
        from mord import LogisticAT
    except ImportError:
        return {}
    return {"mord LogisticAT": LogisticAT}


def error_of(task: str, truth: Any, made: Any) -> float:
    if task == "classification":
        return float(np.mean(truth != made))
    if task == "multilabel":
        from sklearn.metrics import f1_score

        return 1 - float(f1_score(truth, made, average="micro"))
    return float(np.mean(np.abs(truth.astype(float) - made)))


def measured(its: FitSet, method: Method) -> Result:
    errors, began = [], time.process_time()
    for split in its.splits:
        errors.append(error_of(its.task, split.test_y, _predicted(method, split)))
    seconds = (time.process_time() - began) / len(its.splits)
    return Result(its.task, its.name, its.kind, method.name, float(np.mean(errors)), seconds)


def _predicted(method: Method, split: Split) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that passes or iterations ended at their limit
        return method.make().fit(split.X, split.y).predict(split.test_X)


# ---- tables -----------------------------------------------------------------------------------------------------


def table(task: str, results: list[Result]) -> Iterable[str]:
    """Markdown: a row per set, a column per method; the smallest error is bold."""
    names = list(dict.fromkeys(result.method for result in results))
    yield f"\n{task.capitalize()}: {MEASURES[task]} (seconds)\n"
    yield "| set | columns | " + " | ".join(names) + " |"
    yield "|---|---|" + "---|" * len(names)
    for key in dict.fromkeys((result.name, result.kind) for result in results):
        row = [result for result in results if (result.name, result.kind) == key]
        least = min(result.error for result in row)
        cells = [f"{_shown(result, least)} ({result.seconds:.2g})" for result in row]
        yield f"| {key[0]} | {key[1]} | " + " | ".join(cells) + " |"


def _shown(result: Result, least: float) -> str:
    text = f"{result.error:.4f}" if result.error < 100 else f"{result.error:.0f}"
    return f"**{text}**" if result.error <= least + TIE else text


def summary(task: str, results: list[Result]) -> Iterable[str]:
    """On how many sets each of ours is at least as good as each peer, and the geometric mean of the ratio of errors."""
    errors = {(r.name, r.kind, r.method): r.error for r in results}
    its = [method for method in methods(task) if any(r.method == method.name for r in results)]
    for mine in (method for method in its if method.ours):
        words = []
        for peer in (method for method in its if not method.ours):
            pairs = [(e, errors[(*k[:2], peer.name)]) for k, e in errors.items() if k[2] == mine.name]
            wins = sum(a <= b + TIE for a, b in pairs)
            ratio = np.exp(np.mean([np.log(max(a, TIE) / max(b, TIE)) for a, b in pairs]))
            words.append(f"{peer.name} on {wins} of {len(pairs)} (mean ratio of errors {ratio:.3f})")
        yield f"* {mine.name}: at least as good as {', as '.join(words)}."


def main() -> None:
    parser = single_threaded_parser(__doc__)
    parser.add_argument("--task", nargs="+", choices=MEASURES, default=list(MEASURES))
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--csv", type=Path, help="write the numbers to this file, too")
    given = parser.parse_args()
    results: list[Result] = []
    for name in given.set[:: 6 if given.quick else 1]:
        for its in SETS[name]():
            if its.task in given.task:
                results += [measured(its, method) for method in methods(its.task)]
    for task in given.task:
        of_task = [result for result in results if result.task == task]
        if of_task:
            print("\n".join([*table(task, of_task), "", *summary(task, of_task)]), flush=True)
    if given.csv is not None:
        with given.csv.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["task", "set", "columns", "method", "error", "seconds"])
            writer.writerows(
                [r.task, r.name, r.kind, r.method, f"{r.error:.6g}", f"{r.seconds:.3g}"] for r in results
            )


if __name__ == "__main__":
    main()
