"""W10: how long an import takes, and `hinge --help`, in a fresh process.

Peers    numpy (ours needs it), scikit-learn's and river's linear_model.
Ours     import hinge; `hinge --help`, or `python -m hinge --help` where the script is not installed.
Limit    the bare interpreter, python -c "".
Clock    CPU time, user and system, of the whole process, best of 7, taking turns; a first round, which may
         write bytecode, does not count. Run in an empty folder, with a single thread for BLAS.
Goal     at most numpy's time and 50 ms.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

from measure import Row, main

ALLOWANCE = 0.050  # seconds over numpy's


def commands() -> dict[str, list[str]]:
    modules = ["", "numpy", "hinge", "sklearn.linear_model", "river.linear_model"]
    found = [name for name in modules if not name or importlib.util.find_spec(name.split(".")[0])]
    imports = {name: [sys.executable, "-c", f"import {name}" if name else ""] for name in found}
    if "hinge" not in found:
        return imports
    script = Path(sysconfig.get_path("scripts"), "hinge")
    hinge = [str(script)] if script.exists() else [sys.executable, "-m", "hinge"]
    return imports | {"--help": [*hinge, "--help"]}


def cpu_seconds(command: list[str], folder: str) -> float:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(quick: bool) -> list[Row]:
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        for command in commands().values():
            cpu_seconds(command, folder)
        for _ in range(2 if quick else 7):
            for name, command in commands().items():
                best[name] = min(cpu_seconds(command, folder), best.get(name, float("inf")))
    goal, bare = best["numpy"] + ALLOWANCE, best[""]

    def row(work: str, peer: str, theirs: float | None, ours: str, target: float | None = None) -> Row:
        return Row(work, peer, theirs, best.get(ours), target, bare, "bare interpreter")

    return [
        row("import", "numpy", best["numpy"], "hinge"),
        row("import", "numpy + 50 ms", goal, "hinge", 1),
        row("import", "sklearn.linear_model", best.get("sklearn.linear_model"), "hinge"),
        row("import", "river.linear_model", best.get("river.linear_model"), "hinge"),
        row("hinge --help", "numpy + 50 ms", goal, "--help", 1),
    ]


if __name__ == "__main__":
    main(run)
