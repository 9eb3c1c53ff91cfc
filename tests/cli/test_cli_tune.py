"""`hinge tune` without a grid: what it tries suits the data, whatever the scale of its columns."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hinge.cli import candidates
from hinge.cli.candidates import default_candidates
from hinge.streams.batches import Batch
from stream_files import text_batch

COLUMNS = "temperature,humidity,pressure,wind,cloud,visibility,direction,rain"


def weather(rows=1500, seed=7):
    """Columns as they are measured, from 0 to 8 and from 1,000 to 40,000; about 20 % cannot be predicted."""
    rng = np.random.default_rng(seed)
    lines = [COLUMNS]
    for _ in range(rows):
        humidity, pressure, cloud = rng.normal(70, 15), rng.normal(1013, 8), int(rng.integers(9))
        wind, visibility, direction = rng.gamma(2, 4), rng.gamma(9, 1500), str(rng.choice(list("NESW")))
        score = 0.06 * (humidity - 70) - 0.12 * (pressure - 1013) + 0.3 * (cloud - 4) - 1 + rng.logistic()
        numbers = f"{rng.normal(12, 8):.1f},{humidity:.0f},{pressure:.1f},{wind:.1f},{cloud},{visibility:.0f}"
        lines.append(f"{numbers},{direction},{'yes' if score > 0 else 'no'}")
    return "\n".join(lines) + "\n"


def tuned(run, *arguments):
    done = run("tune", *arguments, "--json", "-q")
    assert done.code == 0, done.err
    return [record for record in done.records if record["event"] == "learner"]


def test_the_default_grid_suits_unscaled_columns(run, tmp_path):
    (tmp_path / "weather.csv").write_text(weather())
    learners = tuned(run, "weather.csv", "--label", "rain")
    errors = {its["name"]: its["error"] for its in learners if its["name"] != "committee"}
    rainy = np.mean([line.endswith("yes") for line in weather().splitlines()[1:]])
    assert len({round(error, 3) for error in errors.values()}) > 10  # different C are different learners
    best = min(errors, key=errors.__getitem__)
    assert best.startswith("arow:r=")
    assert errors[best] < rainy - 0.05  # better than the more frequent class
    assert any("average=yes" in name for name in errors)
    assert any("fit_intercept=no" in name for name in errors)


def test_the_default_grid_does_not_depend_on_the_scale(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    y = np.where(X @ [1, -1, 2, 0, 0] + rng.logistic(size=800) > 0, 1, -1)
    found = []
    for scale in (1.0, 2.0**-10, 2.0**14):
        lines = [f"{label} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(row))
                 for row, label in zip((scale * X).tolist(), y.tolist(), strict=True)]  # fmt: skip
        (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
        learners = tuned(run, "data.svm", "--no-fit-intercept")
        found.append([its["error"] for its in learners if its["name"].startswith("step=")])
    assert found[0][0] < found[0][-1] - 0.02
    np.testing.assert_allclose(found[1:], [found[0]] * 2, atol=0.01)  # C are rounded to two digits


def test_the_best_candidate_can_be_learned(run, tmp_path):
    (tmp_path / "weather.csv").write_text(weather(500))
    done = run("tune", "weather.csv", "--label", "rain", "-q")
    best = done.out.splitlines()[-1].removeprefix("Best: ").split()
    error = re.search(r"error: (\d+\.\d+ %) wrong for the best", done.out)[1]
    again = run("learn", "weather.csv", "--label", "rain", "-q", *best)
    assert again.code == 0, again.err
    assert f"{error} wrong" in again.out


def batch(rows=3, value=2.0, width=4):
    return text_batch(np.full((rows, width), value), [0, 1, 0])


def test_C_is_relative_to_q():
    found = [
        its.texts["C"]
        for its in default_candidates("classification", batch(), None, {"intercept_value": 1})
        if its.texts.get("step") == "pa2"
    ]
    with_intercept, without = found[: len(found) // 2], found[len(found) // 2 :]
    assert [float(C) for C in with_intercept] == pytest.approx(
        [c / 17 for c in candidates.MULTIPLES_OF_C], rel=0.05
    )
    assert [float(C) for C in without] == pytest.approx([c / 16 for c in candidates.MULTIPLES_OF_C], rel=0.05)
    events = Batch([{"a": 3.0, "b": True, "c": "x"}] * 3, [0, 1, 0], [1, 2, 3])
    assert candidates.typical_length(events) == 11.0
    assert candidates.typical_length(Batch([[["a"]]], [["X"]], [1])) == 0.0  # sentences


def specs(task, spec=None, data=None, **options):
    return [its.spec for its in default_candidates(task, data or batch(), spec, options) if its.spec]


def test_only_what_the_task_and_the_options_allow_is_tried():
    assert len(specs("classification")) == len(candidates.MULTIPLES_OF_R)
    assert specs("uniclass") == []
    assert specs("classification", kernel="rbf") == []
    assert all(
        its.texts["step"] == "pa2"
        for its in default_candidates("regression", batch(), None, {"step": "pa2", "geometry": "euclidean"})
    )
    assert all(
        "fit_intercept" not in its.texts
        for its in default_candidates("classification", batch(), None, {"fit_intercept": True})
    )
    assert {its.texts.get("step") for its in default_candidates("uniclass", batch(), None, {})} == {
        "pa1",
        "pa2",
    }
    assert all(
        spec.endswith("geometry=diagonal") for spec in specs("classification", data=batch(3, 2.0, 101))
    )


def test_only_the_given_algorithm_is_tuned():
    assert set(specs("classification", "pa2")) == {"pa2"}
    assert {its.texts["C"] for its in default_candidates("classification", batch(), "pa2", {})}
    assert [its.name for its in default_candidates("classification", batch(), "pa1:C=0.1", {})] == [
        "pa1:C=0.1"
    ]
    found = specs("classification", "arow")
    assert len(found) == len(candidates.MULTIPLES_OF_R)
    assert specs("classification", "arow:r=1") == ["arow:r=1"]
    assert all(
        spec.endswith(",geometry=diagonal") for spec in specs("classification", "arow:geometry=diagonal")
    )
