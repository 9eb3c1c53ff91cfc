"""What the workloads share: CPU time, best of repetitions that take turns; rows of results; C loops."""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

Work = Callable[[], object]  # the part whose time counts
Prepare = Callable[[], Work]  # makes a fresh learner, and hands back the part whose time counts

SINGLE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
"""The environment of a workload. Threads of BLAS and OpenMP that wait for work spin, and that counts as CPU
time: it doubles scikit-learn's in W1."""


@dataclass
class Row:
    """One line of the table: a peer and ours, on the same work in the same run, in seconds or in bytes."""

    work: str
    peer: str
    theirs: float | None = None  # None: not installed
    ours: float | None = None  # None: hinge is not installed
    target: float | None = None  # theirs / ours must be at least this; None: for comparison only
    limit: float | None = None  # the machine's, measured in the same run
    limit_name: str = ""
    difference: float | None = None  # between the two models, largest of all weights
    tolerance: float = 1e-8
    note: str = ""
    error: str = ""
    unit: str = "s"  # or "bytes"

    @property
    def ratio(self) -> float | None:
        return self.theirs / self.ours if self.theirs and self.ours else None

    @property
    def agrees(self) -> bool:
        return self.difference is None or self.difference <= self.tolerance

    @property
    def reached(self) -> bool | None:
        """Whether ours is fast enough and learned the same; None where there is nothing to decide."""
        if self.ratio is None or self.target is None:
            return None if self.agrees else False
        return self.ratio >= self.target and self.agrees

    def record(self) -> dict[str, Any]:
        return asdict(self) | {"ratio": self.ratio, "reached": self.reached}


@dataclass
class Timing:
    seconds: float
    result: Any  # of the last repetition


def optional(module: str) -> Any:
    """The module, or None when its package is not installed. One that is there but broken is an error."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module.split(".")[0]:
            raise
        return None


def best_of(repeats: int, candidates: Mapping[str, Prepare | None], per: int = 1) -> dict[str, Timing]:
    """The least CPU time of each candidate, divided by `per` units of work.

    The candidates take turns, so that a noisy moment of the machine does not fall on one of them alone. A
    candidate that is None (not installed) is left out.
    """
    timings: dict[str, Timing] = {}
    for _ in range(repeats):
        for name, prepare in candidates.items():
            if prepare is None:
                continue
            gc.collect()
            gc.disable()
            work = prepare()
            start = time.process_time()
            result = work()
            seconds = (time.process_time() - start) / per
            gc.enable()
            before = timings.get(name)
            timings[name] = Timing(min(seconds, before.seconds) if before else seconds, result)
    return timings


def time_of(timings: Mapping[str, Timing], name: str) -> float | None:
    return timings[name].seconds if name in timings else None


def difference(timings: Mapping[str, Timing], one: str, other: str) -> float | None:
    """The largest difference of any weight between two results: learners with `coef_`, or arrays."""
    if one not in timings or other not in timings:
        return None
    a, b = (np.ravel(getattr(t.result, "coef_", t.result)) for t in (timings[one], timings[other]))
    return float(np.max(np.abs(a - b)))


def compared(
    timings: Mapping[str, Timing],
    work: str,
    peer: str,
    target: float | None = None,
    limit: str = "",
    ours: str = "ours",
    same: bool = True,
) -> Row:
    """The row of a peer and ours. `same`: both learn the same model, so their weights are compared."""
    row = Row(work, peer, time_of(timings, peer), time_of(timings, ours), target)
    row.limit, row.limit_name = time_of(timings, limit), limit
    row.difference = difference(timings, ours, peer) if same else None
    return row


def compiled(name: str) -> Any:
    """A source file next to this one as a library, compiled for this run with -O3; None without a compiler."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if not compiler:
        return None
    source = Path(__file__).with_name(name)
    needs_python = "Python.h" in source.read_text(encoding="utf-8")
    include = sysconfig.get_path("include")
    if needs_python and not Path(include, "Python.h").exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = str(Path(folder, "library.so"))
        options = ["-std=c++20", "-O3", "-shared", "-fPIC", f"-I{include}", "-o", library, str(source)]
        subprocess.run([*compiler.split(), *options], check=True)
        return ctypes.PyDLL(library) if needs_python else ctypes.CDLL(library)


def pointer(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


def markdown_table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"| {' | '.join(line)} |" for line in [headings, ["---"] * len(headings), *lines])


def single_threaded_parser(about: str | None) -> argparse.ArgumentParser:
    """The parser of a program, which is started again with a single thread if it has more."""
    if not SINGLE_THREAD.items() <= os.environ.items():
        os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | SINGLE_THREAD)
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a smoke test: less data, numbers mean little")
    return parser


def main(run: Callable[[bool], Sequence[Row]]) -> None:
    """The end of every workload file: prints the rows as JSON, for run.py."""
    rows = run(single_threaded_parser(sys.modules[run.__module__].__doc__).parse_args().quick)
    print(json.dumps([row.record() for row in rows]))
