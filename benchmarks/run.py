"""hinge and the libraries that users would choose instead: python benchmarks/run.py [W1 W4 ...] [--quick]

Each workload is a file w<number>_<name>.py next to this one and runs in its own process.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from measure import markdown_table

HEADINGS = ["", "work", "peer", "theirs", "ours", "ratio", "target", "reached", "limit", "notes"]
PACKAGES = ["hinge", "numpy", "scipy", "scikit-learn", "river", "vowpalwabbit", "python-crfsuite"]


def workloads() -> dict[str, Path]:
    """Name to file, in the order of the numbers: {"W1": .../w1_sparse_epoch.py, "W1b": ...}."""
    found = [(re.match(r"w(\d+)([a-z]?)_", path.name), path) for path in Path(__file__).parent.glob("w*.py")]
    ordered = sorted((int(match[1]), match[2], path) for match, path in found if match)
    return {f"W{number}{letter}": path for number, letter, path in ordered}


def run_workload(path: Path, quick: bool) -> list[dict[str, Any]]:
    command = [sys.executable, str(path), *(["--quick"] if quick else [])]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        rows: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
        return rows
    sys.stderr.write(done.stderr)
    last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
    return [{"work": path.stem, "peer": "", "error": last}]


def duration(seconds: float | None) -> str:
    if seconds is None:
        return "not installed"
    units = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
    unit = next((unit for unit, size in units.items() if seconds >= size), "ns")
    return f"{seconds / units[unit]:.3g} {unit}"


def amount(number: float | None, unit: str) -> str:
    return duration(number) if unit == "s" or number is None else f"{number:,.0f} {unit}"


def cells(name: str, row: dict[str, Any]) -> list[str]:
    if row.get("error"):
        return [name, row["work"], row["peer"], "", "", "", "", "failed", "", row["error"]]
    ratio, target, reached = row["ratio"], row["target"], row["reached"]
    limit = f"{duration(row['limit'])} ({row['limit_name']})" if row["limit"] else ""
    notes = [row["note"]] if row["note"] else []
    if row["difference"] is not None:
        same = row["difference"] <= row["tolerance"]
        notes.append("same model" if same else f"MODELS DIFFER by {row['difference']:.2g}")
    return [
        name, row["work"], row["peer"], amount(row["theirs"], row["unit"]), amount(row["ours"], row["unit"]),
        f"{ratio:.2f} x" if ratio else "", f"{target:.3g} x" if target else "",
        "" if reached is None else "yes" if reached else "no", limit, ", ".join(notes),
    ]  # fmt: skip


def machine() -> dict[str, Any]:
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            versions[package] = "not installed"
    return {"python": platform.python_version(), "machine": platform.platform(), "packages": versions}


def main() -> int:
    known = workloads()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="W", help=f"which to run (all): {' '.join(known)}")
    parser.add_argument("--quick", action="store_true", help="a smoke test: less data, numbers mean little")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table here too")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every number here, in seconds")
    options = parser.parse_args()
    by_name = {name.lower(): name for name in known}
    unknown = [name for name in options.names if name.lower() not in by_name]
    if unknown:
        parser.error(f"no workload {', '.join(unknown)}; there are {', '.join(known)}")
    chosen = [by_name[name.lower()] for name in options.names] or list(known)

    about = machine()
    console = Console(width=None if sys.stdout.isatty() else 170)
    table = Table(*HEADINGS, caption=", ".join(f"{k} {v}" for k, v in about["packages"].items()))
    results: list[dict[str, Any]] = []
    for name in chosen:
        with console.status(name):
            rows = run_workload(known[name], options.quick)
        results += [{"name": name, **row} for row in rows]
        for row in rows:
            table.add_row(*cells(name, row))
        table.add_section()
    console.print(table)

    if options.markdown:
        text = markdown_table(HEADINGS, [cells(row["name"], row) for row in results])
        options.markdown.write_text(f"{text}\n\n{table.caption}\n", encoding="utf-8")
    if options.json:
        about |= {"quick": options.quick, "rows": results}
        options.json.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")
    return 1 if any(row.get("error") for row in results) else 0


if __name__ == "__main__":
    sys.exit(main())
