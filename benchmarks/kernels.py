"""Kernels on a budget, on real sets: errors, supports and times.

    HINGE_DATA=folder python benchmarks/kernels.py [usps letter mnist] [--quick] [--data FOLDER] [--markdown FILE]

Data     real_sets.py, from the folder $HINGE_DATA: usps, letter, mnist; rows scaled to a mean squared length of 1.
         MNIST is written to a file of float32 first and learned from there, memory-mapped.
Ours     PAClassifier in one pass, without intercept; MIRA (B03's choice) and PA-I that keep all supports, that keep as
         many as are needed (adaptive), or a fixed number; the aggressive perceptron with beta = 1, adaptive. The kernel
         is that of the set: poly of degree 5 for the digits, rbf for letter. Several permutations (usps and letter 5,
         mnist 3): means, and the deviation of the error; times are those of the fastest.
Peers    scikit-learn SVC with rbf, C=10, gamma='scale' (once: it does not depend on the order); Nystroem with the same
         kernel as ours, and PA-I on what it makes of the rows, 5 passes; both in the first permutation.
Clock    CPU time of a single thread; to predict: a row, all test rows in one call.
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import real_sets
from measure import markdown_table, single_threaded_parser

PERMUTATIONS = {"usps": 5, "letter": 5, "mnist": 3}
KERNELS: dict[str, dict[str, Any]] = {
    "usps": {"kernel": "poly", "degree": 5, "gamma": 1.0},
    "letter": {"kernel": "rbf", "gamma": 8.0},
    "mnist": {"kernel": "poly", "degree": 5, "gamma": 1.0},
}
BUDGETS = {"usps": (250, 500, 1000, 1500), "letter": (1000, 2000, 4000, 6000), "mnist": (1000, 2000, 4000)}
COMPONENTS = {"usps": (500, 1000), "letter": (500, 1000), "mnist": (500, 1000)}
TABLE = Path(__file__).resolve().parents[1] / "docs" / "tables" / "kernels.csv"
MIRA: dict[str, Any] = {"selection": "mira"}


@dataclass
class Result:
    """The results of one learner on one set: one entry per permutation."""

    set: str
    learner: str
    supports: list[int] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)  # of the test rows, in percent
    online: list[float] = field(default_factory=list)  # progressive, in percent; none for batch learners
    insertions: list[int] = field(default_factory=list)
    fit: list[float] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)  # microseconds a row

    def record(self) -> dict[str, Any]:
        return {
            "set": self.set,
            "learner": self.learner,
            "supports": round(float(np.mean(self.supports))),
            "test error": f"{np.mean(self.errors):.2f}",
            "deviation": f"{np.std(self.errors):.2f}" if len(self.errors) > 1 else "",
            "online error": f"{np.mean(self.online):.2f}" if self.online else "",
            "insertions": round(float(np.mean(self.insertions))) if self.insertions else "",
            "fit, s": f"{min(self.fit):.2f}",
            "predict, us": f"{min(self.predict):.0f}",
            "permutations": len(self.errors),
        }


def ours(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "MIRA, all", MIRA
    yield "MIRA, adaptive", {**MIRA, "budget": "adaptive"}
    for size in BUDGETS[name]:
        yield f"MIRA, {size:,}", {**MIRA, "budget": size}
    yield f"MIRA, {BUDGETS[name][1]:,}, float32", {**MIRA, "budget": BUDGETS[name][1], "dtype": "float32"}
    yield "PA-I, all", {}
    yield "PA-I, adaptive", {"budget": "adaptive"}
    yield "perceptron, adaptive", {"step": "perceptron", "beta": 1.0, "budget": "adaptive"}


def new_learner(name: str, options: dict[str, Any]) -> Any:
    import hinge

    passes: dict[str, Any] = {"max_iter": 1, "shuffle": False, "tol": None, "max_cache": 2**33}
    return hinge.PAClassifier(**KERNELS[name], fit_intercept=False, **passes, **options)


def peers(name: str, count: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    from sklearn.kernel_approximation import Nystroem
    from sklearn.pipeline import make_pipeline
    from sklearn.svm import SVC

    import hinge

    yield "SVC, rbf", lambda: SVC(C=10)
    for components in COMPONENTS[name]:
        if components < count:
            yield (
                f"Nystroem {components:,}, PA-I",
                lambda n=components: make_pipeline(
                    Nystroem(**KERNELS[name], n_components=n, random_state=0),
                    hinge.PAClassifier(max_iter=5, tol=None, random_state=0),
                ),
            )


def measure(result: Result, model: Any, x: Any, y: Any, test_x: Any, test_y: Any) -> None:
    start = time.process_time()
    model.fit(x, y)
    fitted = time.process_time()
    wrong = np.mean(model.predict(test_x) != test_y)
    result.predict.append((time.process_time() - fitted) / len(test_y) * 1e6)
    result.fit.append(fitted - start)
    result.errors.append(100 * float(wrong))
    if hasattr(model, "stats_"):
        result.online.append(100 * model.stats_.error)
        result.insertions.append(model.stats_.insertions)
        result.supports.append(model.n_support_)
    else:
        first = model[0] if hasattr(model, "steps") else model
        result.supports.append(len(getattr(first, "support_", getattr(first, "components_", ()))))


def run_set(name: str, quick: bool, say: Callable[[str], None]) -> list[Result]:
    data = real_sets.letter() if name == "letter" else real_sets.digits(name)
    x, y, test_x, test_y = data.x, data.y, data.test_x, data.test_y
    if name == "mnist":
        x, test_x = x.toarray().astype(np.float32), test_x.toarray().astype(np.float32)
    if quick:
        x, y, test_x, test_y = x[:1500], y[:1500], test_x[:500], test_y[:500]
    results: dict[str, Result] = {}
    with tempfile.TemporaryDirectory() as folder:
        for permutation in range(1 if quick else PERMUTATIONS[name]):
            order = np.random.default_rng(permutation).permutation(len(y))
            rows, labels = x[order], y[order]
            if name == "mnist":
                np.save(Path(folder, "rows.npy"), rows)
                rows = np.load(Path(folder, "rows.npy"), mmap_mode="r")
            learners = [(label, lambda o=o: new_learner(name, o)) for label, o in ours(name)]
            for label, make in [*learners, *(peers(name, len(y)) if permutation == 0 else [])]:
                result = results.setdefault(label, Result(name, label))
                measure(result, make(), rows, labels, test_x, test_y)
                say(
                    f"{name} {permutation}: {label}, {result.supports[-1]:,} supports, {result.errors[-1]:.2f} %, "
                    f"{result.fit[-1]:.2f} s, {result.predict[-1]:.0f} us"
                )
    return list(results.values())


def verdicts(results: list[Result]) -> list[str]:
    """The targets, and whether they are reached."""
    found = {(r.set, r.learner): r for r in results}
    lines, good = [], 0
    for name in dict.fromkeys(r.set for r in results):
        everything, adaptive = found[name, "MIRA, all"], found[name, "MIRA, adaptive"]
        fewer = np.mean(adaptive.supports) < np.mean(everything.supports)
        no_worse = np.mean(adaptive.errors) <= np.mean(everything.errors)
        good += fewer and no_worse
        lines.append(
            f"{name}: adaptive keeps {np.mean(adaptive.supports):,.0f} of {np.mean(everything.supports):,.0f} supports "
            f"and errs {np.mean(adaptive.errors):.2f} % where all err {np.mean(everything.errors):.2f} %."
        )
        svc = found[name, "SVC, rbf"]
        for size in BUDGETS[name]:
            fixed = found[name, f"MIRA, {size:,}"]
            lines.append(
                f"{name}: {size:,} supports err {np.mean(fixed.errors) - svc.errors[0]:+.2f} points of SVC, fit "
                f"{svc.fit[0] / min(fixed.fit):.1f} x and predict {svc.predict[0] / min(fixed.predict):.1f} x faster."
            )
    return [
        *lines,
        f"Fewer supports and no more error with adaptive: {good} of {len({r.set for r in results})} sets.",
    ]


def main() -> None:
    parser = single_threaded_parser(__doc__)
    parser.add_argument("sets", nargs="*", default=list(KERNELS), help="usps, letter, mnist")
    parser.add_argument("--data", help="the folder of the data, instead of $HINGE_DATA")
    parser.add_argument("--markdown", type=Path, help="where to write the table as well")
    arguments = parser.parse_args()
    if arguments.data:
        os.environ["HINGE_DATA"] = arguments.data
    results = [
        result
        for name in arguments.sets
        for result in run_set(name, arguments.quick, lambda text: print(text, file=sys.stderr, flush=True))
    ]
    records = [result.record() for result in results]
    table = markdown_table(list(records[0]), [[*map(str, record.values())] for record in records])
    text = table + "\n\n" + "\n".join(f"* {line}" for line in verdicts(results)) + "\n"
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    if not arguments.quick and set(arguments.sets) == set(KERNELS):
        with TABLE.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(records[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(records)


if __name__ == "__main__":
    main()
