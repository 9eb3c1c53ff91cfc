"""Which form of a fleet suits which stream: HINGE_DATA=<folder> python benchmarks/fleet_forms.py [names ...]

Each form predicts a row, gets the truth, and learns it. Its error is the share of wrong labels, or the mean distance
of numbers, in all and by the age of the key (the number of its examples so far).

    one model          one model for all keys
    key as a feature   the same, with an indicator of the key among the features
    per key            a model for each key
    both, S            shared and personal weights, with personal=S
    shuffled, S        the control: the same with keys dealt out at random, so that personal weights cannot help

Each runs with PA-I at several C, and with AROW at several r; each of them with intercept_value="auto" and =1 ("b=1").
Rows have a length of about 1. Where labels belong to all keys, they are known from the start.

    --numbers FILE   writes all errors as CSV
    --from FILE      takes them from such a file
    --plot FILE      draws the error by age of some streams
"""

from __future__ import annotations

import argparse
import csv
import sys
from pathlib import Path
from typing import Any

import numpy as np

from hinge import Fleet
from hinge.fleet.forms import ages_of, by_age, errors_of
from keyed_streams import STREAMS, Keyed
from measure import markdown_table

STRENGTHS = (0.25, 0.5, 1.0)
LEARNERS: dict[str, dict[str, Any]] = {
    **{f"C={c:g}": {"C": c} for c in (1.0, 0.25, 0.0625)},
    **{
        f"r={r:g}": {"geometry": "diagonal", "step": "pa2", "C": 0.5 / r, "covariance_regularizer": r}
        for r in (1.0, 0.0625)
    },
}
# With the intercept's constant feature in proportion to the other values, or as long as a row.
SETTINGS = LEARNERS | {f"{name} b=1": {**its, "intercept_value": 1.0} for name, its in LEARNERS.items()}
DEFAULT = "C=1"
AGES = ("1-10", "11-100", "101-1000", "1001+")
FORMS = ("one model", "key as a feature", "per key", *(f"both, {s:g}" for s in STRENGTHS),
         *(f"shuffled, {s:g}" for s in STRENGTHS))  # fmt: skip

Errors = dict[str, float]  # of all rows, and by age
Table = dict[tuple[str, str, str], Errors]  # by stream, form and setting
Sizes = dict[str, tuple[int, int]]  # rounds and keys by stream


# ---- measuring ----------------------------------------------------------------------------------------------


def with_key_as_feature(stream: Keyed) -> Any:
    """The rows, with a column for each key that is 1 in its rows."""
    from scipy.sparse import csr_matrix, hstack

    places = np.unique(np.asarray(stream.keys), return_inverse=True)[1].ravel()
    rows = len(places)
    keys = csr_matrix((np.ones(rows), places, np.arange(rows + 1)), shape=(rows, int(places.max()) + 1))
    return hstack([csr_matrix(stream.x), keys], format="csr")


def forms_of(stream: Keyed) -> dict[str, tuple[list[Any], Any, dict[str, Any]]]:
    """The keys, the rows and the options of each form."""
    shuffled = [stream.keys[i] for i in np.random.default_rng(0).permutation(len(stream.keys))]
    nobody = [0] * len(stream.keys)
    alone: dict[str, Any] = {"shared": False, "max_features": 2**24}
    both = {s: {"personal": s, "max_features": 2**24} for s in STRENGTHS}
    return {
        "one model": (nobody, stream.x, alone),
        "key as a feature": (nobody, with_key_as_feature(stream), alone),
        "per key": (stream.keys, stream.x, alone),
        **{f"both, {s:g}": (stream.keys, stream.x, options) for s, options in both.items()},
        **{f"shuffled, {s:g}": (shuffled, stream.x, options) for s, options in both.items()},
    }


def measured(stream: Keyed) -> Table:
    ages = ages_of(stream.keys)
    known = {"classes": sorted(set(stream.y))} if stream.labels_known else {}
    table: Table = {}
    for form, (keys, x, options) in forms_of(stream).items():
        for setting, learner in SETTINGS.items():
            fleet = Fleet(stream.task, **options, **learner, **known)
            errors = errors_of(stream.task, predictions(fleet, keys, x, stream.y), stream.y)
            table[stream.name, form, setting] = {"error": float(errors.mean()), **by_age(errors, ages)}
    return table


def predictions(fleet: Fleet, keys: list[Any], x: Any, y: list[Any], batch: int = 1_000) -> list[Any]:
    """Each made before its row was learned. In batches: what a batch changes is noted until all of it is learned."""
    made: list[Any] = []
    for i in range(0, len(y), batch):
        made.extend(fleet.round_many(keys[i : i + batch], x[i : i + batch], y[i : i + batch]))
    return made


# ---- files --------------------------------------------------------------------------------------------------


def write(path: Path, table: Table, sizes: Sizes) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["stream", "rounds", "keys", "form", "setting", "error", *AGES])
        for (stream, form, setting), errors in table.items():
            cells = [f"{errors[name]:.5g}" if name in errors else "" for name in ("error", *AGES)]
            writer.writerow([stream, *sizes[stream], form, setting, *cells])


def read(path: Path) -> tuple[Table, Sizes]:
    table, sizes = {}, {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = row["stream"], row["form"], row["setting"]
            table[place] = {name: float(row[name]) for name in ("error", *AGES) if row[name]}
            sizes[row["stream"]] = int(row["rounds"]), int(row["keys"])
    return table, sizes


# ---- the tables ---------------------------------------------------------------------------------------------


def error(table: Table, stream: str, form: str, setting: str | None) -> float:
    """At one setting, or at the best one for this form."""
    settings = SETTINGS if setting is None else [setting]
    return min(table[stream, form, name]["error"] for name in settings)


def rows_at(table: Table, sizes: Sizes, setting: str | None) -> list[list[str]]:
    rows = []
    for stream, (rounds, keys) in sizes.items():
        errors = [error(table, stream, form, setting) for form in FORMS]
        best = min(e for e, form in zip(errors, FORMS, strict=True) if not form.startswith("shuffled"))
        cells = [
            f"**{e:.3g}**" if e == best and not form.startswith("shuffled") else f"{e:.3g}"
            for e, form in zip(errors, FORMS, strict=True)
        ]
        rows.append([stream, f"{rounds:,}", f"{keys:,}", *cells])
    return rows


def figures(table: Table, sizes: Sizes, setting: str | None) -> str:
    """Each form's error, divided by that of the best form."""
    lines = []
    ours = [form for form in FORMS if not form.startswith("shuffled")]
    best = {stream: min(error(table, stream, form, setting) for form in ours) for stream in sizes}
    for form in ours:
        ratios = {stream: error(table, stream, form, setting) / best[stream] for stream in sizes}
        worst = max(ratios, key=lambda stream: ratios[stream])
        mean = mean_ratio(list(ratios.values()))
        lines.append(f"{form}: {mean:.3f} times the best form's error, at most {ratios[worst]:.2f} ({worst})")
    helped = [
        min(error(table, s, f"shuffled, {p:g}", setting) for p in STRENGTHS)
        > 1.02 * min(error(table, s, f"both, {p:g}", setting) for p in STRENGTHS)
        for s in sizes
    ]
    lines.append(
        f"the true keys are at least 2 % better than shuffled ones on {sum(helped)} of {len(helped)}"
    )
    return "\n".join(f"* {line}" for line in lines)


def mean_ratio(ratios: list[float]) -> float:
    return float(np.exp(np.mean(np.log(ratios))))


def best_setting(table: Table, stream: str, form: str) -> str:
    return min(SETTINGS, key=lambda name: table[stream, form, name]["error"])


def figures_by_age(table: Table, sizes: Sizes) -> str:
    """How far each form is from the best of the three, on average, at each age."""
    forms = ("one model", "per key", "both, 0.5")
    lines = []
    for form in forms:
        means = []
        for age in AGES:
            ratios = []
            for stream in sizes:
                at = {one: table[stream, one, best_setting(table, stream, one)] for one in forms}
                if age in at[form] and (best := min(its[age] for its in at.values())) > 0:
                    ratios.append(at[form][age] / best)
            means.append(f"{mean_ratio(ratios):.2f} ({age})")
        lines.append(f"{form}: times the error of the best of the three, by age: {', '.join(means)}")
    return "\n".join(f"* {line}" for line in lines)


def figures_of_settings(table: Table, sizes: Sizes) -> str:
    """How each setting compares with C=1, for personal=0.5."""
    form, lines = "both, 0.5", []
    for setting in SETTINGS:
        ratios = {s: table[s, form, setting]["error"] / table[s, form, DEFAULT]["error"] for s in sizes}
        better = sum(ratio < 1 for ratio in ratios.values())
        worst = max(ratios, key=lambda stream: ratios[stream])
        lines.append(
            f"{setting}: {mean_ratio(list(ratios.values())):.2f} times the error with {DEFAULT}, smaller on {better} "
            f"of {len(ratios)}, at most {ratios[worst]:.2f} ({worst})"
        )
    return "\n".join(f"* {line}" for line in lines)


def ages_table(table: Table, sizes: Sizes) -> list[list[str]]:
    """The errors by age, each form at its best setting in all."""
    rows = []
    for stream in sizes:
        for form in ("one model", "per key", "both, 0.5", "shuffled, 0.5"):
            setting = best_setting(table, stream, form)
            errors = table[stream, form, setting]
            cells = [f"{errors[age]:.3g}" if age in errors else "" for age in AGES]
            rows.append([stream if form == "one model" else "", form, setting, *cells])
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help=f"which to run (all): {', '.join(STREAMS)}")
    parser.add_argument("--numbers", type=Path)
    parser.add_argument("--from", dest="known", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    table: Table = {}
    sizes: Sizes = {}
    if options.known:
        table, sizes = read(options.known)
    else:
        for name in options.names or STREAMS:
            for stream in STREAMS[name]():
                sizes[stream.name] = len(stream.y), len(set(stream.keys))
                table |= measured(stream)
                print(stream.name, *(f"{error(table, stream.name, f, None):.4g}" for f in FORMS),
                      file=sys.stderr, flush=True)  # fmt: skip
    headings = ["stream", "rounds", "keys", *FORMS]
    for words, setting in (("PA-I, C = 1", DEFAULT), ("Each form at its best setting", None)):
        print(f"## {words}\n", markdown_table(headings, rows_at(table, sizes, setting)), sep="\n")
        print(figures(table, sizes, setting), end="\n\n")
    print("## By the age of the key\n", markdown_table(["stream", "form", "at", *AGES], ages_table(table, sizes)),
          sep="\n")  # fmt: skip
    print(
        figures_by_age(table, sizes),
        "## Settings, with personal=0.5",
        figures_of_settings(table, sizes),
        sep="\n\n",
    )
    if options.numbers:
        write(options.numbers, table, sizes)
    if options.plot:
        from fleet_pictures import error_by_age

        error_by_age(options.plot, table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
