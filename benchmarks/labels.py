"""Errors of the learners for many labels on real sets, compared with others; times are reported, too.

    HINGE_DATA=folder python benchmarks/labels.py [mnist ml_enron ...] [--quick] [--markdown FILE] [--csv FILE]

Data     real_sets.py, from the folder $HINGE_DATA; rows in one shuffled order, the same for all (mail: in time).
Ours     PAClassifier, PAMultilabel, PAOrdinal, PARanker: PA-I with every selection. 'mira' with beta=1, the margin of
         the others, so that C means the same; 'simperc' steps by C on mistakes only. "diagonal": with a variance for
         each feature (geometry='diagonal') and covariance_regularizer = 1/C; "diagonal, slow": 10/C.
Peers    scikit-learn's PA: SGDClassifier(hinge, pa1, no penalty), what PassiveAggressiveClassifier runs, one against
         all; LinearSVC, one against all; VW --oaa (hinge loss; its C is the learning rate); mord LogisticAT.
C        each learner's from a grid, by rows held out of the training rows: the last fifth of at most 15,000, or 3
         folds if there are fewer than 3,000; for one pass and for several, for the last w and for the average, each on
         its own. The PA learners, scikit-learn's and ours, choose in the same way whether to learn an intercept: ours
         is a constant feature that counts in the norm, and on rows of length 1 it takes half of every step. A line
         "max, intercept" has it always, which is the default. "chosen" is the selection that was best on the
         held-out rows: no test row has a say in it. Sets of labels: all by the average precision. Mail: there is
         nothing to hold out; the C with the fewest mistakes, for all learners alike.
Error    progressive: each row is predicted and then learned, in one pass, with the last w. Ours and VW count while they
         learn; for scikit-learn, which cannot, one_against_all below does the same steps, and its weights are
         compared with scikit-learn's. Test: after that pass, and after `fit` with 10 passes (ranks: 30).
Clock    CPU time of a single thread, once, without the search for C.
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import real_sets
from label_learners import (
    DIAGONAL,
    EITHER,
    MORD,
    SKLEARN,
    SVC,
    SVC_GRID,
    VW,
    Choice,
    Learner,
    all_of_ours,
    default_intercept,
    linear_svc,
    logistic_at,
    one_against_rest,
    ours,
    sklearn_pa,
    sklearn_progressive,
)
from measure import markdown_table, optional, single_threaded_parser
from vw import OneAgainstAll

PASSES, RANK_PASSES = 10, 30
VERDICT = ["set", "measure", SKLEARN, "ours, chosen on held-out rows", "our best, in hindsight", "behind?"]


@dataclass
class Result:
    """One learner on one set: each measure on the held-out rows (as an error) and on the test rows."""

    learner: Learner
    held_out: dict[str, float] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


@dataclass
class Report:
    """What is printed and written: tables, and every number in long form."""

    tables: list[tuple[str, list[str], list[list[str]]]] = field(default_factory=list)
    verdicts: list[list[str]] = field(default_factory=list)
    numbers: list[list[Any]] = field(default_factory=list)

    def keep(self, name: str, results: Iterable[Result]) -> None:
        for r in results:
            kinds = {"held out": r.held_out, "test": r.values, "chosen": r.chosen, "seconds": r.seconds}
            for kind, values in kinds.items():
                self.numbers += [[name, r.learner.name, kind, key, value] for key, value in values.items()]

    def judge(
        self, name: str, measure: str, results: Sequence[Result], keys: Sequence[str], sign: int = 1
    ) -> None:
        """Ours, as chosen on the held-out rows, and scikit-learn's PA; `sign` is -1 if more is better."""
        ours = [r for r in results if r.learner.ours]
        peer = next(r for r in results if r.learner.name.startswith(SKLEARN))
        choices = [(r.held_out[k], sign * r.values[k], r.learner.name, k) for r in ours for k in keys]
        _, chosen, which, key = min(choices, key=lambda c: c[0])
        _, best, best_name, _ = min(choices, key=lambda c: c[1])
        theirs = min((peer.held_out[k], sign * peer.values[k]) for k in keys)[1]
        verdict = "no" if chosen <= theirs else f"yes, by {chosen - theirs:.2g}"
        if chosen > theirs >= best:
            verdict += " (our best is not)"
        average = ", average" if key.endswith(", average") else ""
        line = [number(sign * theirs), f"{number(sign * chosen)} ({which}{average})"]
        self.verdicts.append([name, measure, *line, f"{number(sign * best)} ({best_name})", verdict])
        self.numbers.append([name, "verdict", "behind", measure, verdict])


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}" if abs(value) < 10 else f"{value:.2f}"


def seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2g} s" if value < 10 else f"{value:.0f} s"


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def held_out_parts(count: int, quick: bool) -> list[tuple[Any, Any]]:
    """Rows to learn and rows held out: the last fifth, or for a small set three folds."""
    rows = np.arange(min(count, 15_000))
    if count >= 3000 or quick:
        learned, held = np.split(rows, [len(rows) * 4 // 5])
        return [(learned, held)]
    return [(rows[rows % 3 != fold], rows[rows % 3 == fold]) for fold in range(3)]


# ---- one label a row --------------------------------------------------------------------------------------


def wrong(model: Any, x: Any, y: Any) -> float:
    return float(model.error(x, y) if isinstance(model, OneAgainstAll) else np.mean(model.predict(x) != y))


def learn(model: Any, x: Any, y: Any, passes: int) -> Any:
    if passes == 1 and hasattr(model, "partial_fit"):
        return model.partial_fit(x, y, classes=np.unique(y))
    return model.fit(x, y)


def progressive(learner: Learner, model: Any, x: Any, y: Any) -> float:
    if learner.name == SKLEARN:
        return sklearn_progressive(model, x, y)
    return float(model.progressive if learner.name == VW else model.stats_.error)


def measures(learner: Learner) -> Iterator[tuple[str, int, bool]]:
    for passes, name in ((1, "one pass"), (PASSES, f"{PASSES} passes")):
        for average in learner.averages:
            if passes > 1 or learner.streams:
                yield name + (", average" if average else ""), passes, average


def multiclass_result(learner: Learner, data: real_sets.Set, parts: Sequence[Any], quick: bool) -> Result:
    result = Result(learner)
    pieces = [(data.x[a], data.y[a], data.x[b], data.y[b]) for a, b in parts]

    def held_out(choice: Choice, passes: int) -> float:
        errors = [
            wrong(learn(learner.fresh(choice, passes), x, y, passes), hx, hy) for x, y, hx, hy in pieces
        ]
        return float(np.mean(errors))

    for name, passes, average in measures(learner):
        errors = {choice: held_out(choice, passes) for choice in learner.choices([average], quick)}
        best = min(errors, key=errors.__getitem__)
        fresh = learner.fresh(best, passes)
        if isinstance(fresh, OneAgainstAll):
            fresh.text(data.x, data.y)  # the file is written before the clock starts
        model, result.seconds[name] = timed(partial(learn, fresh, data.x, data.y, passes))
        result.chosen[f"{name}: C"], result.chosen[f"{name}: intercept"] = best[0], best[2]
        result.held_out[name], result.values[name] = errors[best], wrong(model, data.test_x, data.test_y)
        if name == "one pass":
            result.held_out["progressive"] = result.held_out[name]
            result.values["progressive"] = progressive(learner, model, data.x, data.y)
    return result


def multiclass(data: real_sets.Set, report: Report, quick: bool) -> None:
    from scipy.sparse import csr_matrix

    classes = int(data.y.max()) + 1
    learners = all_of_ours("PAClassifier")
    learners.append(default_intercept("PAClassifier"))
    learners.append(Learner(SKLEARN, sklearn_pa, intercepts=EITHER))
    learners.append(Learner(SVC, linear_svc, SVC_GRID, [False], streams=False))
    parts = held_out_parts(data.x.shape[0], quick)
    results = [multiclass_result(learner, data, parts, quick) for learner in learners]
    if optional("vowpalwabbit"):
        with tempfile.TemporaryDirectory() as folder:

            def make(C: float, average: bool, passes: int) -> Any:
                return OneAgainstAll(Path(folder), classes, C, passes)

            sparse = real_sets.Set(
                data.name, csr_matrix(data.x), data.y, csr_matrix(data.test_x), data.test_y
            )
            learner = Learner(VW, make, [0.05, 0.15, 0.5, 1.5, 5.0], [False])
            results.append(multiclass_result(learner, sparse, parts, quick))
    several = f"{PASSES} passes"
    columns = ["progressive", "one pass", "one pass, average", several, f"{several}, average"]
    lines = [
        [
            r.learner.shown,
            *(number(r.values.get(key)) for key in columns),
            *(seconds(r.seconds.get(key)) for key in ("one pass", several)),
        ]
        for r in results
    ]
    headings = ["learner", *columns, "time, one pass", f"time, {several}"]
    rows, width = data.x.shape
    title = f"{data.name}: {rows} + {data.test_x.shape[0]} x {width}, {classes} classes, {data.about}"
    report.tables.append((title, headings, lines))
    report.keep(data.name, results)
    report.judge(data.name, "progressive error", results, ["progressive"])
    report.judge(data.name, "test error, one pass", results, columns[1:3])
    report.judge(data.name, f"test error, {several}", results, columns[3:])


# ---- sets of labels ----------------------------------------------------------------------------------------


def precision(scores: Any, y: Any) -> float:
    """scikit-learn's label_ranking_average_precision_score, many times faster; `ranking` compares the two."""
    above = scores[:, None, :] >= scores[:, :, None]
    relevant_above = (above & (y[:, None, :] > 0)).sum(axis=2)
    shares = np.where(y > 0, relevant_above / above.sum(axis=2), 0).sum(axis=1)
    count = y.sum(axis=1)
    trivial = (count == 0) | (count == y.shape[1])
    return float(np.mean(np.where(trivial, 1, shares / np.maximum(count, 1))))


def ranking(model: Any, x: Any, y: Any) -> dict[str, float]:
    from sklearn import metrics

    asked = y.any(axis=1)
    x, y = x[asked], y[asked]
    scores = model.decision_function(x)
    average_precision = float(metrics.label_ranking_average_precision_score(y, scores))
    if abs(average_precision - precision(scores, y)) > 1e-9:
        raise AssertionError("`precision` is not what scikit-learn computes")
    return {
        "one-error": float(1 - y[np.arange(len(y)), scores.argmax(axis=1)].mean()),
        "coverage": float(metrics.coverage_error(y, scores)),
        "ranking loss": float(metrics.label_ranking_loss(y, scores)),
        "average precision": average_precision,
        "micro-F1": float(metrics.f1_score(y, model.predict(x), average="micro")),
    }


def multilabel_result(learner: Learner, data: real_sets.Set, parts: Sequence[Any], quick: bool) -> Result:
    """C, the intercept and whether to average: by the average precision on the held-out rows."""
    result = Result(learner)
    pieces = [(data.x[a], data.y[a], data.x[b], data.y[b]) for a, b in parts]

    def held_out(choice: Choice, passes: int) -> float:
        models = [(learner.fresh(choice, passes).fit(x, y), hx, hy) for x, y, hx, hy in pieces]
        return 1 - float(np.mean([precision(model.decision_function(hx), hy) for model, hx, hy in models]))

    for name, passes in (("one pass, ", 1), ("", PASSES)):
        if passes == 1 and not learner.streams:
            continue
        errors = {choice: held_out(choice, passes) for choice in learner.choices(learner.averages, quick)}
        best = min(errors, key=errors.__getitem__)
        model, result.seconds[f"{name}fit"] = timed(partial(learner.fresh(best, passes).fit, data.x, data.y))
        result.chosen |= {f"{name}C": best[0], f"{name}average": best[1], f"{name}intercept": best[2]}
        for key, value in ranking(model, data.test_x, data.test_y).items():
            result.values[f"{name}{key}"], result.held_out[f"{name}{key}"] = value, errors[best]
    return result


def multilabel(data: real_sets.Set, report: Report, quick: bool) -> None:
    learners = all_of_ours("PAMultilabel")
    learners.append(default_intercept("PAMultilabel"))
    learners.append(Learner(SKLEARN, partial(one_against_rest, sklearn_pa), intercepts=EITHER))
    svc = partial(one_against_rest, linear_svc)
    learners.append(Learner(SVC, svc, SVC_GRID, [False], streams=False))
    parts = held_out_parts(data.x.shape[0], quick)
    results = [multilabel_result(learner, data, parts, quick) for learner in learners]
    columns = ["one-error", "coverage", "ranking loss", "average precision", "micro-F1"]
    early = ["one pass, one-error", "one pass, average precision"]
    lines = [
        [
            r.learner.shown,
            *(number(r.values.get(key)) for key in early + columns),
            "yes" if r.chosen["average"] else "no",
            seconds(r.seconds["fit"]),
        ]
        for r in results
    ]
    rows, width = data.x.shape
    title = f"{data.name}: {rows} + {data.test_x.shape[0]} x {width}, {data.about}"
    report.tables.append((title, ["learner", *early, *columns, "averaged", f"time, {PASSES} passes"], lines))
    report.keep(data.name, results)
    for key in [*early, *columns]:
        report.judge(data.name, key, results, [key], -1 if "precision" in key or "F1" in key else 1)


# ---- ranks ---------------------------------------------------------------------------------------------------


def off(model: Any, x: Any, y: Any, learned: Any, held: Any) -> Any:
    return np.abs(model.fit(x[learned], y[learned]).predict(x[held]) - y[held])


def ordinal_result(learner: Learner, data: real_sets.Set, quick: bool) -> Result:
    """Random splits, 70 to 30; C and whether to average: by the mean absolute error of 3 folds of the 70."""
    random, collected = np.random.default_rng(0), []
    for _ in range(2 if quick else 10):
        order = random.permutation(len(data.y))
        train, test = np.split(order, [len(order) * 7 // 10])
        place = np.arange(len(train))
        mean, deviation = data.x[train].mean(axis=0), data.x[train].std(axis=0)
        x, y = (data.x - mean) / deviation / np.sqrt(data.x.shape[1]), data.y
        folds = [(train[place % 3 != fold], train[place % 3 == fold]) for fold in range(3)]
        errors = {
            choice: float(
                np.mean([off(learner.fresh(choice, RANK_PASSES), x, y, a, b).mean() for a, b in folds])
            )
            for choice in learner.choices(learner.averages, quick)
        }
        best = min(errors, key=errors.__getitem__)
        model, took = timed(partial(learner.fresh(best, RANK_PASSES).fit, x[train], y[train]))
        away = np.abs(model.predict(x[test]) - y[test])
        collected.append([errors[best], float(np.mean(away == 0)), float(away.mean()), took, float(best[1])])
    held, accuracy, error, times, averaged = np.array(collected).T
    result = Result(learner, {"mean absolute error": held.mean(), "accuracy": held.mean()})
    for key, values in (("accuracy", accuracy), ("mean absolute error", error)):
        result.values |= {key: values.mean(), f"{key}, sd": values.std(ddof=1)}
    result.chosen, result.seconds = {"averaged": averaged.mean()}, {"fit": times.min()}
    return result


def ordinal(data: real_sets.Set, report: Report, quick: bool) -> None:
    learners = [
        ours("PAOrdinal", selection, [None]) for selection in ("simproj", "conproj", "simperc", "max")
    ]
    learners.append(Learner(SKLEARN, sklearn_pa, intercepts=EITHER))
    learners.append(Learner(SVC, linear_svc, SVC_GRID, [False]))
    mord = optional("mord")
    if mord:
        learners.append(Learner(MORD, partial(logistic_at, mord), [0.01, 0.1, 1.0, 10.0], [False]))
    results = [ordinal_result(learner, data, quick) for learner in learners]
    lines = [
        [
            r.learner.shown,
            *(
                f"{r.values[k]:.4f} +- {r.values[f'{k}, sd']:.3f}"
                for k in ("accuracy", "mean absolute error")
            ),
            f"{r.chosen['averaged']:.0%}",
            f"{r.seconds['fit'] * 1e3:.2g} ms",
        ]
        for r in results
    ]
    if not mord:
        lines.append([MORD, "not installed", "", "", ""])
    rows, width = data.x.shape
    title = f"{data.name}: {rows} x {width}, {data.about}, {2 if quick else 10} splits 70/30"
    report.tables.append(
        (title, ["learner", "accuracy", "mean absolute error", "averaged", "time, fit"], lines)
    )
    report.keep(data.name, results)
    report.judge(data.name, "mean absolute error", results, ["mean absolute error"])
    report.judge(data.name, "accuracy", results, ["accuracy"], -1)


# ---- mail into folders ------------------------------------------------------------------------------------------


def mail(data: real_sets.Mail, report: Report, quick: bool) -> None:
    """One pass in the order of time; word counts for all but PARanker, whose features depend on the folder."""
    from sklearn.feature_extraction.text import CountVectorizer

    import hinge

    few = 300 if quick else len(data.words)
    words, folders = data.words[:few], np.array(data.folders[:few])
    names, y = np.unique(folders, return_inverse=True)
    x = CountVectorizer(analyzer=lambda document: document, dtype=np.float64).fit_transform(words)
    x.sort_indices()
    every = range(len(names))

    def on_counts(selection: str, diagonal: float, C: float, intercept: bool | None) -> tuple[float, float]:
        fresh = ours("PAClassifier", selection, diagonal=diagonal).fresh((C, False, intercept), 1)
        model, took = timed(partial(fresh.partial_fit, x, y, every))
        return model.stats_.error, took

    def on_features(selection: str, C: float, intercept: bool | None) -> tuple[float, float]:
        fresh = hinge.PARanker(C, features="email", selection=selection)
        model, took = timed(partial(fresh.fit, words, folders))
        return model.stats_.error, took

    def scikit_learn(C: float, intercept: bool | None) -> tuple[float, float]:
        model, took = timed(partial(sklearn_pa(C, False, 1, bool(intercept)).partial_fit, x, y, every))
        return sklearn_progressive(model, x, y), took

    projections = ("simproj", "conproj", "simperc", "max")
    candidates: list[tuple[str, str, Callable[..., tuple[float, float]]]] = [
        (f"{selection}, features of each folder", "PARanker", partial(on_features, selection))
        for selection in projections
        if hasattr(hinge, "PARanker")
    ]
    candidates += [
        (f"{selection}, word counts", "PAClassifier", partial(on_counts, selection, 0))
        for selection in (*projections, "mira")
    ]
    candidates += [
        (f"{selection}{DIAGONAL[d]}, word counts", "PAClassifier", partial(on_counts, selection, d))
        for selection, d in product(("max", "mira"), (1, 10))
    ]
    candidates.append((f"{SKLEARN}, word counts", "", scikit_learn))
    results, lines = [], []
    for name, estimator, run in candidates:
        # The words of a message make a long vector, its squared length is thousands: smaller C than elsewhere.
        intercepts: Sequence[bool | None] = [None] if estimator == "PARanker" else EITHER
        tried = {(C, b): run(C, b) for C in (1e-4, 1e-3, 1e-2, 1e-1, 1.0) for b in intercepts}
        best = min(tried, key=lambda choice: tried[choice][0])
        error, took = tried[best]
        result = Result(Learner(name, sklearn_pa, ours=bool(estimator)))
        result.values["progressive"] = result.held_out["progressive"] = error
        result.chosen |= {"C": best[0], "intercept": best[1]}
        result.seconds["one pass"] = took
        results.append(result)
        lines.append([name, estimator, number(error), f"{best[0]:g}", seconds(took)])
    name = f"enron_{data.name}"
    title = f"{name}: {few} messages, {len(names)} folders"
    report.tables.append((title, ["learner", "estimator", "progressive", "C", "time"], lines))
    report.keep(name, results)
    report.judge(name, "progressive error, all", results, ["progressive"])
    counts = [r for r in results if "word counts" in r.learner.name]
    report.judge(name, "progressive error, word counts", counts, ["progressive"])


# ---- all of them ---------------------------------------------------------------------------------------------

KINDS: list[tuple[dict[str, Callable[[], Any]], Callable[[Any, Report, bool], None]]] = [
    (real_sets.MULTICLASS, multiclass),
    (real_sets.MULTILABEL, multilabel),
    (real_sets.ORDINAL, ordinal),
    (real_sets.MAIL, mail),
]


def markdown(report: Report) -> str:
    parts = [f"### {title}\n\n{markdown_table(headings, lines)}" for title, headings, lines in report.tables]
    return "\n\n".join([f"### Is ours behind?\n\n{markdown_table(VERDICT, report.verdicts)}", *parts]) + "\n"


def show(console: Console, title: str, headings: list[str], lines: list[list[str]]) -> None:
    table = Table(*headings, title=title, title_justify="left")
    for line in lines:
        table.add_row(*line)
    console.print(table)


def main() -> int:
    known = [name for sets, _ in KINDS for name in sets]
    parser = single_threaded_parser(__doc__)
    parser.add_argument("names", nargs="*", metavar="set", help=f"which sets (all): {' '.join(known)}")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables here too")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write every number here")
    options = parser.parse_args()
    unknown = set(options.names) - set(known)
    if unknown:
        parser.error(f"no set {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    warnings.simplefilter(
        "ignore"
    )  # scikit-learn's, of passes that did not converge and labels that never occur
    report, console = Report(), Console(width=None if sys.stdout.isatty() else 170)
    for sets, measure in KINDS:
        for name, load in sets.items():
            if options.names and name not in options.names:
                continue
            data = load()
            if options.quick and isinstance(data, real_sets.Set):
                data.x, data.y = data.x[:1000], data.y[:1000]
            took = timed(partial(measure, data, report, options.quick))[1]
            title, headings, lines = report.tables[-1]
            show(console, f"{title} ({took:.0f} s in all)", headings, lines)
    show(console, "Is ours behind?", VERDICT, report.verdicts)
    if options.markdown:
        options.markdown.write_text(markdown(report), encoding="utf-8")
    if options.csv:
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["set", "learner", "kind", "measure", "value"], *report.numbers])
    return 0


if __name__ == "__main__":
    sys.exit(main())
