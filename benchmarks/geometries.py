"""Errors of the learners with a covariance and of PA-II on real sets: scaled and unscaled, 10 permutations.

    HINGE_DATA=folder python benchmarks/geometries.py [bupa crx ...] [--quick] [--data FOLDER] [--markdown FILE]

Data     real_sets.py, from the folder $HINGE_DATA: bupa, crx, spambase; usps and mnist, one digit against as many of
         the rest (what M11 does), mnist_all against all of the rest; webkb_course, with all words, and webkb_common,
         with those of 20 pages at least. Unscaled: as they come. Scaled: rows of about length 1; what it takes is in
         the title of each table. Means and deviations are those of the whole set (of features, never of labels).
Ours     PA-II; PAM-II with a full covariance, with a diagonal one and its two updates; AROW, CW, SOP (the second-order
         perceptron), full and diagonal; and the multiplicative PA (geometry='entropy', step='pa').
Choice   everybody has one number, of which 11 values are tried, with and without an intercept (22 choices): C of PA-II
         and PAM-II (whose covariance regulariser is 1, as in M11), r of AROW, eta of CW, a of SOP, the scale of the
         multiplicative PA. The choice is that of the fewest mistakes in 2 permutations of their own, none of those that
         are measured; but they hold the same rows. "as is": nothing chosen, C = 1/2, r = 1, eta = 0.9, a = 1,
         scale = 10, with an intercept.
Error    progressive, in one pass: each row is predicted and then learned; a score of 0 is a mistake. F1 of the positive
         class (F1-: of the negative one) from the same predictions. Mean and standard deviation of the permutations.
Clock    CPU time a row of a single thread, one batch of the first permutation, once; it must count the same mistakes.
M11      what the paper reports; it says neither how features were scaled nor which digit it was, and its MNIST is
         suspect (no linear learner is that bad).
"""

from __future__ import annotations

import csv
import itertools
import os
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import real_sets
from measure import markdown_table, single_threaded_parser

CLASSES = [0, 1]
AS_PUBLISHED = {"covariance_update": "precision"}  # of a diagonal covariance
SMALL = [10.0**k for k in range(-8, 3)]  # of C: unscaled rows have squared lengths of up to 10^7
LARGE = [10.0**k for k in range(-3, 8)]  # of r and a
ETAS = [0.51, 0.55, 0.6, 0.65, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999, 0.9999]
SCALES = [10.0**k for k in range(-4, 7)]
SEARCH_SEEDS = (1000, 1001)
SCALINGS = ("scaled", "unscaled")
TABLE = Path(__file__).resolve().parents[1] / "docs" / "tables" / "geometries.csv"

M11: dict[str, dict[str, tuple[float, float]]] = {
    "bupa": {"PA-II": (61.21, 57.85), "PAM-II": (64.28, 60.20), "CW": (61.79, 57.61)},
    "crx": {"PA-II": (68.54, 77.83), "PAM-II": (80.37, 84.13), "CW": (78.28, 82.54)},
    "usps": {"PA-II": (94.08, 93.84), "PAM-II": (95.26, 95.05), "CW": (94.81, 94.57)},
    "mnist": {"PA-II": (57.85, 58.97), "PAM-II": (59.51, 60.47), "CW": (58.64, 58.52)},
    "webkb_course": {"PA-II": (77.02, 90.98), "PAM-II": (78.90, 92.94), "CW": (76.49, 90.78)},
    "webkb_common": {"PA-II": (77.02, 90.98), "PAM-II": (78.90, 92.94), "CW": (76.49, 90.78)},
}
"""Table 1: F1 of the positive and of the negative class, in percent."""


@dataclass(frozen=True)
class Learner:
    """`options(number)` are those of PAClassifier; `usual` is the number when nothing is chosen."""

    name: str
    symbol: str
    numbers: Sequence[float]
    usual: float
    options: Callable[[float], Mapping[str, Any]]

    def fresh(self, number: float, intercept: bool) -> Any:
        import hinge

        return hinge.PAClassifier(fit_intercept=intercept, **self.options(number))


def learners() -> list[Learner]:
    def pam(number: float, **more: Any) -> dict[str, Any]:
        return {"step": "pa2", "C": number, **AS_PUBLISHED, **more}

    def arow(number: float, geometry: str) -> dict[str, Any]:
        r = {"C": 0.5 / number, "covariance_regularizer": number}
        return {"step": "pa2", **r, "geometry": geometry, **AS_PUBLISHED}

    def cw(number: float, geometry: str) -> dict[str, Any]:
        return {"step": "cw", "eta": number, "geometry": geometry, **AS_PUBLISHED}

    def sop(number: float, geometry: str) -> dict[str, Any]:
        return {"step": "perceptron", "initial_variance": 1 / number, "geometry": geometry, **AS_PUBLISHED}

    def multiplicative(number: float) -> dict[str, Any]:
        return {"step": "pa", "geometry": "entropy", "scale": number}

    def by_c(name: str, **more: Any) -> Learner:
        return Learner(name, "C", SMALL, 0.5, partial(pam, **more))

    def both(name: str, symbol: str, numbers: Sequence[float], usual: float, options: Any) -> list[Learner]:
        geometries = (("full", "mahalanobis"), ("diagonal", "diagonal"))
        return [
            Learner(f"{name} {shown}", symbol, numbers, usual, partial(options, geometry=geometry))
            for shown, geometry in geometries
        ]

    return [
        by_c("PA-II"),
        by_c("PAM-II full", geometry="mahalanobis"),
        by_c("PAM-II diagonal", geometry="diagonal"),
        by_c("PAM-II diagonal, drop", geometry="diagonal", covariance_update="drop"),
        *both("AROW", "r", LARGE, 1.0, arow),
        *both("CW", "eta", ETAS, 0.9, cw),
        *both("SOP", "a", LARGE, 1.0, sop),
        Learner("multiplicative", "scale", SCALES, 10.0, multiplicative),
    ]


# ---- streams ---------------------------------------------------------------------------------------------------


class Stream:
    """The rows of one permutation, as a matrix and one by one."""

    def __init__(self, x: Any, y: Any, order: Any) -> None:
        self.x, self.y = x[order], y[order]
        self._rows: list[Any] | None = None

    @property
    def rows(self) -> list[Any]:
        if self._rows is None:
            self._rows = [self.x[t : t + 1] for t in range(self.x.shape[0])]
        return self._rows

    def learned(self, model: Any) -> Any:
        return model.partial_fit(self.x, self.y, classes=CLASSES)

    def mistakes(self, model: Any) -> tuple[int, int]:
        """The mistakes on the negatives and on the positives: each row is predicted before it is learned."""
        labels, counts, before = [self.y[t : t + 1] for t in range(len(self.y))], [0, 0], 0
        model.partial_fit(self.rows[0], labels[0], classes=CLASSES)
        for t, (row, label) in enumerate(zip(self.rows, labels, strict=True)):
            if t:
                model.partial_fit(row, label)
            now = model.stats_.mistakes
            counts[label[0]] += now - before
            before = now
        return counts[0], counts[1]


@dataclass
class Result:
    """One learner on one set and scaling; a list has a number for each permutation."""

    learner: Learner
    number: float = 0.0
    intercept: bool = True
    error: list[float] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)
    f1_negative: list[float] = field(default_factory=list)
    as_is: list[float] = field(default_factory=list)
    seconds: float = 0.0  # a row
    updates: float = 0.0  # the part of the rounds that updated
    rejection: str = ""

    @property
    def chosen(self) -> str:
        return f"{self.learner.symbol} {self.number:g}{'' if self.intercept else ', no intercept'}"


def f1(hits: int, false_alarms: int, misses: int) -> float:
    return 2 * hits / max(1, 2 * hits + false_alarms + misses)


def choose(learner: Learner, streams: Sequence[Stream], quick: bool) -> tuple[float, bool]:
    """A choice that is rejected (numbers beyond float64) is skipped, and reported on stderr."""
    numbers = learner.numbers[1::4] if quick else learner.numbers
    tried = {}
    for choice in itertools.product(numbers, (True, False)):
        try:
            models = [stream.learned(learner.fresh(*choice)) for stream in streams]
            tried[choice] = sum(model.stats_.mistakes for model in models)
        except ValueError as error:
            print(f"{learner.name}, {choice}: {error}", file=sys.stderr)
    return min(tried, key=tried.__getitem__)


def measured(learner: Learner, search: Sequence[Stream], streams: Sequence[Stream], quick: bool) -> Result:
    result = Result(learner)
    try:
        learner.fresh(learner.usual, True).partial_fit(search[0].x[:2], search[0].y[:2], classes=CLASSES)
    except ValueError as error:
        if "diagonal" not in str(error):  # a full covariance would take too much memory
            raise
        result.rejection = str(error)
        return result
    result.number, result.intercept = choose(learner, search, quick)
    for stream in streams:
        one_stream(result, stream)
    result.as_is = as_is(learner, streams)
    rounds, start = len(streams[0].y), time.process_time()
    batch = streams[0].learned(learner.fresh(result.number, result.intercept))
    result.seconds = (time.process_time() - start) / rounds
    result.updates = batch.stats_.updates / rounds
    if batch.stats_.mistakes != round(result.error[0] * rounds):
        raise AssertionError(
            f"{learner.name}: a batch makes {batch.stats_.mistakes} mistakes, single rows do not"
        )
    return result


def one_stream(result: Result, stream: Stream) -> None:
    model = result.learner.fresh(result.number, result.intercept)
    false_alarms, misses = stream.mistakes(model)
    rounds, positives = len(stream.y), int(stream.y.sum())
    result.error.append((false_alarms + misses) / rounds)
    result.f1.append(f1(positives - misses, false_alarms, misses))
    result.f1_negative.append(f1(rounds - positives - false_alarms, misses, false_alarms))
    if not (np.isfinite(model.coef_).all() and np.isfinite(model.stats_.loss)):
        raise AssertionError(f"{result.learner.name}: not finite")


def as_is(learner: Learner, streams: Sequence[Stream]) -> list[float]:
    """The errors with the default options; empty if they are rejected."""
    try:
        return [stream.learned(learner.fresh(learner.usual, True)).stats_.error for stream in streams]
    except ValueError as error:
        print(f"{learner.name}, as is: {error}", file=sys.stderr)
        return []


Results = dict[str, list[Result]]  # of each scaling


def one_set(data: real_sets.Binary, names: Sequence[str], permutations: int, quick: bool) -> Results:
    results: Results = {}
    for scaling in SCALINGS:
        x, rows = getattr(data, scaling), 400 if quick else None
        search = [Stream(x, data.y, data.stream(seed)[:rows]) for seed in SEARCH_SEEDS]
        streams = [Stream(x, data.y, data.stream(seed)[:rows]) for seed in range(permutations)]
        results[scaling] = []
        for learner in learners():
            if names and not any(learner.name.startswith(name) for name in names):
                continue
            start = time.process_time()
            result = measured(learner, search, streams, quick)
            results[scaling].append(result)
            shown = result.rejection or f"error {percent(result.error)}, {result.chosen}"
            took = time.process_time() - start
            print(
                f"{data.name}, {scaling}, {learner.name}: {shown} ({took:.1f} s)", file=sys.stderr, flush=True
            )
    return results


# ---- tables -------------------------------------------------------------------------------------------------


def deviation(values: Sequence[float]) -> float:
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def percent(values: Sequence[float]) -> str:
    return f"{100 * np.mean(values):.2f} +- {100 * deviation(values):.2f}" if values else "-"


HEADINGS = [
    "learner",
    *(f"{scaling}: {what}" for scaling in SCALINGS for what in ("error %", "F1 %", "chosen", "as is, error %")),
    "a row",
]  # fmt: skip


def lines(results: Results) -> list[list[str]]:
    best = {
        (scaling, key): choose_best(np.mean(getattr(r, key)) for r in results[scaling] if r.error)
        for scaling in SCALINGS
        for key, choose_best in (("error", min), ("f1", max))
    }

    def cell(result: Result, scaling: str, key: str) -> str:
        values = getattr(result, key)
        shown = percent(values)
        return f"**{shown}**" if values and np.mean(values) == best[scaling, key] else shown

    table = []
    for both in zip(*(results[scaling] for scaling in SCALINGS), strict=True):
        line = [both[0].learner.name]
        for scaling, r in zip(SCALINGS, both, strict=True):
            line += [cell(r, scaling, "error"), cell(r, scaling, "f1"), r.chosen if r.error else "-"]
            line.append(percent(r.as_is))
        times = [f"{r.seconds * 1e6:.3g}" for r in both if r.error]
        table.append([*line, f"{', '.join(times)} us" if times else "-"])
    return table


PAPER = ["set", "class", "learner", "M11", *SCALINGS]


def compared_with_the_paper(name: str, results: Results) -> list[list[str]]:
    """PAM-II and CW with a full covariance, as in the paper; with a diagonal one where that is rejected."""
    table = []
    for place, (sign, key) in enumerate((("+", "f1"), ("-", "f1_negative"))):
        for peer, reported in M11.get(name, {}).items():
            ways = (peer, f"{peer} full", f"{peer} diagonal")
            found = {s: [r for r in results[s] if r.learner.name in ways and r.error][:1] for s in SCALINGS}
            if not all(found.values()):
                continue
            shown = [percent(getattr(found[scaling][0], key)) for scaling in SCALINGS]
            learner = found[SCALINGS[0]][0].learner.name
            table.append([name, sign, learner, f"{reported[place]:.2f}", *shown])
    return table


CSV = (
    "set", "rows", "columns", "scaling", "learner", "number", "value", "intercept", "error", "error sd", "F1", "F1 sd",
    "F1 of negatives", "F1 of negatives sd", "as is, error", "as is, error sd", "updates a row", "us a row", "rejected",
)  # fmt: skip


def records(data: real_sets.Binary, rows: int, results: Results) -> list[list[Any]]:
    table = []
    for scaling, of_it in results.items():
        for r in of_it:
            line = [data.name, rows, data.scaled.shape[1], scaling, r.learner.name, r.learner.symbol]
            if r.rejection:
                table.append([*line, *[""] * (len(CSV) - len(line) - 1), r.rejection])
                continue
            line += [f"{r.number:g}", r.intercept]
            for values in (r.error, r.f1, r.f1_negative, r.as_is):
                line += [f"{np.mean(values):.5f}", f"{deviation(values):.5f}"] if values else ["", ""]
            table.append([*line, f"{r.updates:.4f}", f"{r.seconds * 1e6:.3f}", ""])
    return table


def markdown(title: str, headings: list[str], table: list[list[str]]) -> str:
    return f"### {title}\n\n{markdown_table(headings, table)}\n"


def main() -> int:
    known = list(real_sets.BINARY)
    parser = single_threaded_parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="set", help=f"which sets (all): {' '.join(known)}")
    parser.add_argument("--permutations", type=int, default=10, metavar="N")
    parser.add_argument(
        "--learners", nargs="*", default=[], metavar="NAME", help="how their names begin (all)"
    )
    parser.add_argument(
        "--data", type=Path, metavar="FOLDER", help="where the sets are, instead of $HINGE_DATA"
    )
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables here too")
    parser.add_argument(
        "--csv", type=Path, metavar="FILE", help=f"write every number here ({TABLE.name}, if all ran)"
    )
    options = parser.parse_args()
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no set {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    if options.data:
        os.environ["HINGE_DATA"] = str(options.data)
    permutations = 2 if options.quick else options.permutations
    whole = not (options.quick or options.names or options.learners) and permutations == 10
    numbers, paper, texts = [], [], []
    for name in options.names or known:
        data = real_sets.BINARY[name]()
        results = one_set(data, options.learners, permutations, options.quick)
        rows = len(data.stream(0)[: 400 if options.quick else None])
        title = f"{name}: {rows} x {data.scaled.shape[1]}, {data.about}; {permutations} permutations"
        texts.append(markdown(title, HEADINGS, lines(results)))
        numbers += records(data, rows, results)
        paper += compared_with_the_paper(name, results)
    texts.append(markdown("Beside M11's Table 1: F1 in percent", PAPER, paper))
    print("\n".join(texts))
    if options.markdown:
        options.markdown.write_text("\n".join(texts), encoding="utf-8")
    where = options.csv or (TABLE if whole else None)
    if where:
        with where.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([CSV, *numbers])
    return 0


if __name__ == "__main__":
    sys.exit(main())
