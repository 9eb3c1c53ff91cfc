"""Every algorithm on every task that it has, read from every format, with a certificate and a picture."""

from __future__ import annotations

import json

import numpy as np
import pytest

from hinge.cli.app import run
from hinge.options.catalogue import algorithms

ROWS = np.random.default_rng(1).normal(size=(150, 4)).round(3)
SCORES = ROWS @ np.array([1.0, -2.0, 0.5, 0.0])
LABELS = {
    "classification": np.where(SCORES > 0, 1, -1).tolist(),
    "regression": SCORES.round(3).tolist(),
    "ordinal": np.digitize(SCORES, [-1.5, 0, 1.5]).tolist(),
    "uniclass": [1] * len(ROWS),
    "multilabel": [[k for k in range(3) if row[k] > 0.2] for row in ROWS.tolist()],
}
MANY = np.digitize(SCORES, [-1.5, 0, 1.5]).tolist()
CLASSES = ["--classes", "0,1,2,3"]


def joined(label):
    return ",".join(map(str, label)) if isinstance(label, list) else str(label)


def text_of(form, labels):
    lines = ["x0,x1,x2,x3,label"] if form == "csv" else []
    for row, label in zip(ROWS.tolist(), labels, strict=True):
        if form == "svm":
            lines.append(f"{joined(label)} " + " ".join(f"{j + 1}:{v:g}" for j, v in enumerate(row)))
        elif form == "vw":
            lines.append(f"{joined(label)} |f " + " ".join(f"x{j}:{v:g}" for j, v in enumerate(row)))
        elif form == "csv":
            lines.append(",".join(f"{v:g}" for v in row) + f",{label}")
        else:
            lines.append(json.dumps({"label": label, **{f"x{j}": v for j, v in enumerate(row)}}))
    return "\n".join(lines) + "\n"


PAIRS = [
    (algorithm.name, task)
    for algorithm in algorithms()
    for task in [*algorithm.tasks, "many"]
    if task in LABELS or (task == "many" and "classification" in algorithm.tasks)
]
OTHERS = (
    "svm",
    "jsonl",
    "csv",
)  # one of them for each pair, VW text (which names a feature only once) for all
CASES = [
    (*pair, form)
    for place, pair in enumerate(PAIRS)
    for form in ("vw", OTHERS[place % (2 if pair[1] == "multilabel" else 3)])  # a CSV cell has one label
]


@pytest.mark.parametrize(("algorithm", "task", "form"), CASES)
def test_every_algorithm_is_certified_and_drawn(tmp_path, capsys, algorithm, task, form):
    labels = MANY if task == "many" else LABELS[task]
    data, picture = tmp_path / f"data.{form}", tmp_path / "curve.svg"
    data.write_text(text_of(form, labels))
    options = ["--task", "classification" if task == "many" else task, "--algorithm", algorithm]
    options += CLASSES if task in ("many", "ordinal") else []
    options += ["--label", "label"] if form in ("csv", "jsonl") else []
    assert run(["learn", str(data), *options, "--certificate", "--plot", str(picture), "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (certificate,) = [event for event in events if event["event"] == "certificate"]
    assert certificate.get("reason") or certificate["holds"], certificate
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("algorithm", ["uniform", "mira", "simproj"])
def test_an_average_predicts_before_it_knows_a_label(tmp_path, capsys, algorithm):
    """With scores for each label from the start, there are none before the first example."""
    data = tmp_path / "data.svm"
    data.write_text(text_of("svm", MANY))
    assert run(["learn", str(data), "--algorithm", algorithm, "--average", "yes", "--json"]) == 0
    seen = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    first = next(event for event in seen if event.get("examples") == 1)
    assert first["error"] == 1.0


@pytest.mark.parametrize("algorithm", ["pa1", "arow"])
def test_a_bound_is_drawn_over_several_batches(tmp_path, capsys, algorithm):
    """Moments of the curve are ends of batches, after which nothing of the batch is left to see."""
    rows = np.random.default_rng(2).random((1000, 2)).round(3).tolist()
    data = tmp_path / "data.csv"
    data.write_text("a,b,y\n" + "".join(f"{a},{b},{'p' if a > 0.5 else 'n'}\n" for a, b in rows))
    plot = ["--plot", str(tmp_path / "curve.svg")]
    assert run(["learn", str(data), "--label", "y", "--algorithm", algorithm, *plot, "--json"]) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["event"] == "plot"
