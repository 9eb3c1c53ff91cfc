"""Every algorithm on every task that it has, read from every format, with a certificate and a picture."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import table_of
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


PAIRS = [
    (algorithm.name, task)
    for algorithm in algorithms()
    for task in [*algorithm.tasks, "many"]
    if task in LABELS or (task == "many" and "classification" in algorithm.tasks)
]
OTHERS = ("svm", "jsonl", "csv")  # one of them for each pair, and VW text for all
CASES = [
    (*pair, form)
    for place, pair in enumerate(PAIRS)
    for form in ("vw", OTHERS[place % (2 if pair[1] == "multilabel" else 3)])  # a CSV cell has one label
]


@pytest.mark.parametrize(("algorithm", "task", "form"), CASES)
def test_every_algorithm_is_certified_and_drawn(tmp_path, capsys, algorithm, task, form):
    labels = MANY if task == "many" else LABELS[task]
    data, picture = tmp_path / f"data.{form}", tmp_path / "curve.svg"
    data.write_text(table_of(form, ROWS.tolist(), labels))
    options = ["--task", "classification" if task == "many" else task, "--algorithm", algorithm]
    options += CLASSES if task in ("many", "ordinal") else []
    options += ["--label", "label"] if form in ("csv", "jsonl") else []
    assert run(["learn", str(data), *options, "--certificate", "--plot", str(picture), "--json"]) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (certificate,) = [event for event in events if event["event"] == "certificate"]
    assert certificate.get("reason") or certificate["holds"], certificate
    assert picture.stat().st_size > 1000


@pytest.mark.parametrize("algorithm", ["uniform", "mira", "simproj"])
def test_the_first_prediction_of_an_average_counts_as_a_mistake(tmp_path, capsys, algorithm):
    """With scores for each label from the start, there are none before the first example."""
    data = tmp_path / "data.svm"
    data.write_text(table_of("svm", ROWS.tolist(), MANY))
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
