"""Learners without any tuning on real streams: HINGE_DATA=<folder> python benchmarks/good_without_tuning.py [names ...]

Each learner predicts a row, gets the truth, and learns it: the progressive error. Classes: the share of
wrong labels; numbers and grades: the mean distance; label sets: the share of wrong labels. The mean of all orders.

    committee     Learner(task, experts="auto"), the default of AutoClassifier and its kin
    best expert   the expert of the committee that was best in hindsight, of each order
    C="auto"      PA-I with all C at once
    0.7           hinge 0.7 with its defaults: PA-I, C=1, intercept_value=1
    VW            vw, as it comes (squared loss); --oaa for many classes
    VW, logistic  the same with --loss_function logistic
    River         StandardScaler | LogisticRegression or PAClassifier, and their kin; OneVsRest for many classes
    SGD           SGDClassifier().partial_fit or SGDRegressor(), in batches of ten (stream_peers.py)

    --numbers FILE   writes all errors as CSV
    --peers FILE     takes the errors of the peers from such a file
    --experts WORDS  another committee, of these experts
"""

from __future__ import annotations

import argparse
import csv
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from measure import markdown_table
from stream_peers import PEERS, error
from streams import STREAMS, Stream

OURS = ("committee", "best expert", 'C="auto"', "0.7")
Errors = dict[str, float]


def ours(stream: Stream, x: Any, y: Any, words: Sequence[str] | None) -> tuple[Errors, str]:
    """The errors of hinge's learners, and the name of the best expert."""
    of_auto = {"selection": "simproj"} if stream.task == "ordinal" else {}  # AutoOrdinal has this
    committee = learned(stream, x, y, experts=words or "auto", **of_auto)
    best = min(committee.experts, key=lambda expert: expert.error)
    found = {"committee": committee.statistics.mean_cost, "best expert": best.error}
    found['C="auto"'] = learned(stream, x, y, C="auto").statistics.mean_cost
    before = {} if stream.task == "ordinal" else {"intercept_value": 1.0}
    return found | {"0.7": learned(stream, x, y, **before).statistics.mean_cost}, best.name


def learned(stream: Stream, x: Any, y: Any, **options: Any) -> Any:
    from hinge import Learner

    if stream.task != "regression":
        options["classes"] = list(range(stream.classes))
    learner = Learner(stream.task, **options)
    learner.learn(x, [np.flatnonzero(row).tolist() for row in y] if stream.task == "multilabel" else y)
    return learner


def measured(stream: Stream, words: Sequence[str] | None, peers: bool) -> tuple[Errors, list[str]]:
    """The mean errors over all orders, and the names of the best experts."""
    all_errors: dict[str, list[float]] = {}
    best = []
    for x, y in stream.rounds():
        found, name = ours(stream, x, y, words)
        best.append(name)
        for peer, predict in PEERS.items() if peers else ():
            predicted = predict(stream, x, y)
            found[peer] = float("nan") if predicted is None else error(stream, y, predicted)
        for key, value in found.items():
            all_errors.setdefault(key, []).append(value)
    return {key: float(np.mean(values)) for key, values in all_errors.items()}, best


# ---- the table ----------------------------------------------------------------------------------------------


def number(value: float) -> str:
    if np.isnan(value):
        return ""
    return f"{value:.3g}" if value < 1e9 else "diverges"


def line(name: str, rounds: int, errors: Errors, best: Sequence[str]) -> list[str]:
    cells = [number(errors[key]) for key in (*OURS, *PEERS)]
    lowest = min(
        float(errors[key]) for key in (*OURS, *PEERS) if key != "best expert" and errors[key] == errors[key]
    )
    for i, key in enumerate((*OURS, *PEERS)):
        if errors[key] == lowest and key != "best expert":
            cells[i] = f"**{cells[i]}**"
    return [name, f"{rounds:,}", cells[0], cells[1], " ".join(sorted(set(best))), *cells[2:]]


def figures(rows: Sequence[tuple[str, int, Errors]]) -> str:
    """What the committee must reach."""
    long = [(name, e) for name, rounds, e in rows if rounds >= 1_000]
    ratios = {name: e["committee"] / e["best expert"] for name, e in long}
    worst = max(ratios, key=lambda name: ratios[name])
    lines = [
        "committee / best expert, streams of 1,000 rounds or more: "
        f"mean {np.mean(list(ratios.values())):.3f} (goal 1.03), largest {ratios[worst]:.3f} (goal 1.08; {worst})"
    ]
    for key in ('C="auto"', "0.7", *PEERS):
        with_it = [e for _, _, e in rows if not np.isnan(e[key])]
        ahead = sum(e["committee"] < e[key] for e in with_it)
        ratio = np.exp(np.mean([np.log(e["committee"] / e[key]) for e in with_it if e[key] < 1e9]))
        goal = " (goal: three quarters)" if key == "VW" else ""
        lines.append(
            f"ahead of {key} on {ahead} of {len(with_it)} streams{goal}; error of the committee x {ratio:.2f}"
        )
    return "\n".join(lines)


def from_file(path: Path) -> dict[str, Errors]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {row["stream"]: {peer: float(row[peer] or "nan") for peer in PEERS} for row in rows}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"which to run (all): {', '.join(STREAMS)}")
    parser.add_argument("--numbers", type=Path)
    parser.add_argument("--peers", type=Path)
    parser.add_argument("--experts", nargs="+")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    known = from_file(options.peers) if options.peers else None
    headings = ["stream", "rounds", *OURS[:2], "which", *OURS[2:], *PEERS]
    rows, table = [], []
    for name in options.names or STREAMS:
        make: Callable[[], list[Stream]] = STREAMS[name]
        for stream in make():
            errors, best = measured(stream, options.experts, known is None)
            errors |= {} if known is None else known[stream.name]
            rows.append((stream.name, stream.length, errors))
            table.append(line(stream.name, stream.length, errors, best))
            print(" ".join(table[-1]), file=sys.stderr, flush=True)
    print(markdown_table(headings, table), figures(rows), sep="\n\n")
    if options.numbers:
        with options.numbers.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["stream", "rounds", *OURS, *PEERS])
            for name, rounds, errors in rows:
                writer.writerow([name, rounds, *(f"{errors[key]:.6g}" for key in (*OURS, *PEERS))])
    return 0


if __name__ == "__main__":
    sys.exit(main())
