"""W5: 278 MB of svmlight text to a saved model, whole processes: `hinge learn`, VW, scikit-learn and liblinear.

Each is a process of its own, from its start to its end, with its CPU time (user and system, all threads) and its peak
memory. VW gets the same numbers in its own format, and hinge is timed on that, too, and from a pipe. The limit is to
read the bytes and do nothing with them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data import zipf_rows
from measure import Row, main, optional

SCIKIT_LEARN = """
import sys, joblib
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import SGDClassifier
x, y = load_svmlight_file(sys.argv[1])
x.indices, x.indptr = x.indices.astype("int32"), x.indptr.astype("int32")  # else scikit-learn 1.9.1 rejects them
model = SGDClassifier(loss="hinge", penalty=None, learning_rate="pa1", eta0=1.0, max_iter=1, tol=None, shuffle=False)
joblib.dump(model.fit(x, y), sys.argv[2])
"""
LIBLINEAR = """
import sys
from liblinear.liblinearutil import save_model, svm_read_problem, train
y, x = svm_read_problem(sys.argv[1], return_scipy=True)
save_model(sys.argv[2], train(y, x, "-s 3 -q"))
"""
VW = """
import sys
from vowpalwabbit import Workspace
Workspace(f"--quiet --loss_function hinge -b 18 -d {sys.argv[1]} -f {sys.argv[2]}").finish()
"""


# A small process between us and the one that is measured: what we hold ourselves would count as its memory.
MEASURE = """
import json, os, sys
pid = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, used = os.wait4(pid, 0)
print(json.dumps([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


@dataclass
class Usage:
    seconds: float  # CPU
    megabytes: float


def usage_of(command: list[str], feed: Path | None = None) -> Usage:
    """Runs a process and waits for its end."""
    # As in any installation: with compiled bytecode, which pip writes, and which must not be written here.
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["PYTHONPYCACHEPREFIX"] = str(Path(command[-1]).parent / "bytecode")
    source = subprocess.Popen(["cat", str(feed)], stdout=subprocess.PIPE) if feed is not None else None
    measured = [sys.executable, "-S", "-I", "-c", MEASURE, *command]
    done = subprocess.run(
        measured, env=environment, stdin=source.stdout if source else None, capture_output=True
    )
    if source is not None:
        source.wait()
    code, seconds, megabytes = json.loads(done.stdout.splitlines()[-1])
    if code:
        raise RuntimeError(f"{command[:4]}: {done.stderr.decode()[-300:]}")
    return Usage(seconds, megabytes)


@dataclass
class Candidate:
    command: list[str]
    feed: Path | None = None
    runs: int = 1


def least(candidates: dict[str, Candidate]) -> dict[str, Usage]:
    """The least CPU time of each, and the most memory. They take turns: a noisy moment does not fall on one alone."""
    best: dict[str, Usage] = {}
    for turn in range(max(candidate.runs for candidate in candidates.values())):
        for name, candidate in candidates.items():
            if turn >= candidate.runs:
                continue
            used, before = usage_of(candidate.command, candidate.feed), best.get(name)
            if before is not None:
                used = Usage(min(used.seconds, before.seconds), max(used.megabytes, before.megabytes))
            best[name] = used
    return best


def write_texts(folder: Path, rows: int) -> tuple[Path, Path]:
    """The same data as svmlight text and as VW's."""
    x, y = zipf_rows(rows)
    svmlight, vw = folder / "train.svm", folder / "train.vw"
    indices, values, starts = x.indices.tolist(), x.data.tolist(), x.indptr.tolist()
    with svmlight.open("w", encoding="ascii") as one, vw.open("w", encoding="ascii") as other:
        for label, start, stop in zip(y.tolist(), starts[:-1], starts[1:], strict=True):
            row = sorted(zip(indices[start:stop], values[start:stop], strict=True))
            features = " ".join([f"{column + 1}:{value:.7g}" for column, value in row])
            one.write(f"{label:+.0f} {features}\n")
            other.write(f"{label:+.0f} | {features}\n")
    return svmlight, vw


def run(quick: bool) -> list[Row]:
    rows_of_data, runs = (2_000, 2) if quick else (200_000, 7)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        svmlight, vw = write_texts(folder, rows_of_data)
        python, model = sys.executable, str(folder / "model")
        learn, end = [python, "-m", "hinge", "learn"], ["-q", "--force", "-m", model]
        candidates = {
            "ours": Candidate([*learn, str(svmlight), *end], runs=runs),
            "ours, vw": Candidate([*learn, str(vw), *end], runs=runs),
            "ours, hashed": Candidate([*learn, str(vw), "--hash-bits", "18", *end], runs=runs),
            "ours, pipe": Candidate([*learn, "-", "--format", "svmlight", *end], svmlight, runs),
            "reading": Candidate(["dd", "bs=1M", "status=none", "of=/dev/null", f"if={svmlight}"], runs=runs),
        }
        for module, script, times in (
            ("vowpalwabbit", VW, runs), ("sklearn", SCIKIT_LEARN, 1 if quick else 3), ("liblinear", LIBLINEAR, 2),
        ):  # fmt: skip
            data = vw if module == "vowpalwabbit" else svmlight
            if optional(module) is not None:
                candidates[module] = Candidate([python, "-c", script, str(data), model], runs=times)
        used = least(candidates)

    def row(work: str, peer: str, theirs: Usage | None, mine: Usage, target: float | None) -> Row:
        memory = f"{mine.megabytes:.0f} MB" + (f", theirs {theirs.megabytes:.0f} MB" if theirs else "")
        seconds = None if theirs is None else theirs.seconds
        return Row(
            work,
            peer,
            seconds,
            mine.seconds,
            target,
            used["reading"].seconds,
            "to read the bytes",
            note=memory,
        )

    megabytes = rows_of_data * 278 // 200_000
    text = f"{megabytes} MB of svmlight to a model"
    made: list[Any] = [
        row(text, "VW --loss_function hinge", used.get("vowpalwabbit"), used["ours"], 4),
        row(f"{text}, from a pipe", "VW", used.get("vowpalwabbit"), used["ours, pipe"], 4),
        row(text, "scikit-learn: load, SGD(pa1), dump", used.get("sklearn"), used["ours"], 20),
        row(text, "liblinear -s 3", used.get("liblinear"), used["ours"], None),
        row(f"{megabytes} MB of VW text, names kept", "VW", used.get("vowpalwabbit"), used["ours, vw"], None),
        row(
            f"{megabytes} MB of VW text, 2^18 columns",
            "VW",
            used.get("vowpalwabbit"),
            used["ours, hashed"],
            None,
        ),
    ]
    return made


if __name__ == "__main__":
    main(run)
