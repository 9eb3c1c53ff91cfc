"""Certificates on the command line: for every task, from a stream that is read again."""

from __future__ import annotations

import json
from dataclasses import fields

import numpy as np
import pytest
from sklearn.datasets import load_digits

import hinge
from hinge.cli.app import run
from hinge.cli.hindsight import hindsight, moments, see
from hinge.streams.batches import part
from hinge.streams.evaluation import Study
from hinge.streams.files import Input
from hinge.streams.stream import Piece
from hinge.theory import comparator, follow, guarantees, label_comparator, ordinal_comparator
from hinge.theory.certificate import LEARNED
from hinge.theory.comparators.kinds import kind_of
from hinge.theory.open_bounds import NEEDS_DATA, open_bound
from hinge.theory.theorems import strongest
from stream_files import text_batch

RANDOM = np.random.default_rng(5)
ROWS = RANDOM.normal(size=(300, 6)).round(3)
SCORES = ROWS @ np.arange(-2.0, 4.0)
DIGITS, DIGIT = (part[:400] for part in load_digits(return_X_y=True))


def svm(rows, labels):
    return "".join(
        f"{label} " + " ".join(f"{j + 1}:{value:g}" for j, value in enumerate(row)) + "\n"
        for row, label in zip(rows.tolist(), labels, strict=True)
    )


def json_lines(rows, labels):
    return "".join(
        json.dumps({"label": label, **{f"x{j}": value for j, value in enumerate(row)}}) + "\n"
        for row, label in zip(rows.tolist(), labels, strict=True)
    )


def sentences():
    lines = []
    for _ in range(120):
        for word in RANDOM.integers(20, size=RANDOM.integers(2, 7)).tolist():
            lines.append(f"w{word} {'ABC'[word % 3]}")
        lines.append("")
    return "\n".join(lines) + "\n"


def mail():
    words = {
        "bills": "invoice pay amount due",
        "home": "lunch dinner friend garden",
        "travel": "flight hotel trip",
    }
    lines = []
    for _ in range(100):
        folder = str(RANDOM.choice(list(words)))
        text = " ".join([*RANDOM.choice(words[folder].split(), 3), *RANDOM.choice(["the", "a", "monday"], 2)])
        lines.append(json.dumps({"label": folder, "text": text}))
    return "\n".join(lines) + "\n"


SIGNS = np.where(SCORES > 0, 1, -1).tolist()
SETS = [[name for name, value in zip("abc", row, strict=False) if value > 0.2] for row in ROWS.tolist()]
STREAMS = {
    "two.svm": svm(ROWS, SIGNS),
    "two.jsonl": json_lines(ROWS, ["yes" if sign > 0 else "no" for sign in SIGNS]),
    "many.svm": svm(DIGITS / 16, DIGIT.tolist()),
    "sets.jsonl": json_lines(ROWS, SETS),
    "numbers.svm": svm(ROWS, SCORES.round(3).tolist()),
    "ranks.svm": svm(ROWS, np.digitize(SCORES, [-3, 0, 3]).tolist()),
    "rows.svm": svm(ROWS, [1] * 300),
    "tags.conll": sentences(),
    "mail.jsonl": mail(),
}
PRECISION = ["--geometry", "diagonal", "--covariance-update", "precision"]
DROP = ["--geometry", "diagonal", "--covariance-update", "drop"]
DIAGONAL = {"geometry": "diagonal", "covariance_update": "precision"}
DROPPING = {"geometry": "diagonal", "covariance_update": "drop"}
ALL_DIGITS = ["--classes", "0,1,2,3,4,5,6,7,8,9"]
RUNS = [
    ("two.svm", ["--step", "pa1", "--C", "0.1"], "mistakes"),
    ("two.svm", ["--step", "pa2"], "mistakes"),
    ("two.svm", ["--step", "perceptron"], "mistakes"),
    ("two.svm", ["--kernel", "rbf", "--gamma", "0.1"], "mistakes"),
    ("two.svm", ["--algorithm", "arow"], "mistakes"),
    ("two.svm", ["--algorithm", "sop"], "mistakes"),
    ("two.jsonl", ["--geometry", "mahalanobis", "--C", "0.1"], "mistakes"),
    ("two.jsonl", [*PRECISION, "--step", "pa2", "--hash-bits", "4"], "mistakes"),
    ("many.svm", [*PRECISION, "--C", "0.1", *ALL_DIGITS], "mistakes"),
    ("two.svm", [*DROP, "--C", "0.1"], "mistakes"),
    ("two.jsonl", [*DROP, "--step", "pa2", "--hash-bits", "4"], "mistakes"),
    ("many.svm", [*DROP, "--C", "0.1", *ALL_DIGITS], "mistakes"),
    ("numbers.svm", [*DROP, "--task", "regression", "--step", "pa2"], "squared loss"),
    ("ranks.svm", [*DROP, "--task", "ordinal", "--classes", "0,1,2,3", "--C", "0.1"], "mistakes"),
    ("numbers.svm", ["--task", "regression", "--geometry", "mahalanobis", "--step", "pa2"], "squared loss"),
    (
        "ranks.svm",
        ["--task", "ordinal", *PRECISION, "--classes", "0,1,2,3", "--C", "0.1"],
        "mistakes",
    ),
    ("two.jsonl", ["--step", "pa1", "--C", "0.1"], "mistakes"),
    ("two.jsonl", ["--hash-bits", "10"], "mistakes"),
    ("many.svm", ["--C", "0.1", *ALL_DIGITS], "mistakes"),
    ("many.svm", ["--C", "0.1", "--selection", "simproj"], "mistakes"),
    ("many.svm", ["--selection", "mira"], "mistakes"),
    ("many.svm", ["--step", "perceptron", "--selection", "uniform"], "mistakes"),
    ("many.svm", ["--C", "0.1", "--kernel", "poly", "--gamma", "0.1", *ALL_DIGITS], "mistakes"),
    ("sets.jsonl", ["--task", "multilabel", "--C", "0.1"], "mistakes"),
    ("numbers.svm", ["--task", "regression", "--step", "pa2"], "squared loss"),
    ("ranks.svm", ["--task", "ordinal", "--classes", "0,1,2,3", "--C", "0.1"], "mistakes"),
    ("rows.svm", ["--task", "uniclass", "--step", "pa2", "--radius", "1"], "squared loss"),
    ("rows.svm", ["--task", "uniclass", "--step", "pa2", "--max-radius", "3"], "squared loss"),
    ("rows.svm", ["--task", "uniclass", "--step", "pa2", "--radius", "1", "--w1", "zero"], "squared loss"),
    ("tags.conll", ["--C", "0.1", "--average", "no"], "cost"),
    ("tags.conll", ["--step", "pa2", "--selection", "max", "--average", "no"], "cost"),
    ("tags.conll", ["--step", "perceptron"], "updates"),
    ("tags.conll", [*PRECISION, "--step", "pa2", "--average", "no"], "cost"),
    ("tags.conll", [*DROP, "--step", "pa2", "--average", "no"], "cost"),
    (
        "mail.jsonl",
        ["--task", "prototype", "--features", "email", "--text", "text", "--C", "0.1"],
        "mistakes",
    ),
]


@pytest.fixture
def events_of(tmp_path, capsys):
    """Runs hinge, and returns the events that it prints as JSON."""

    def run_on(name, *arguments, command="learn"):
        file = tmp_path / name
        file.write_text(STREAMS[name])
        assert run([command, str(file), *arguments, "--json"]) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run_on


def of(events, kind):
    return next(event for event in events if event["event"] == kind)


@pytest.mark.parametrize(
    ("name", "options", "quantity"), RUNS, ids=lambda part: " ".join(part) if isinstance(part, list) else None
)
def test_every_task_is_certified(events_of, tmp_path, name, options, quantity):
    """What it guarantees is of the right kind, kept, and the learner's own; the picture has the bound, if it is one."""
    model = tmp_path / "model.hinge"
    events = events_of(name, *options, "--certificate", "--plot", str(tmp_path / "p.svg"), "-m", str(model))
    found = of(events, "certificate")
    assert found["holds"], found
    its = [one for one in found["guarantees"] if one["quantity"] == quantity]
    assert its, found
    learned = hinge.load(model)
    statistics = learned.stats_ if hasattr(learned, "stats_") else learned.statistics
    suffered = {"mistakes": statistics.mistakes, "updates": statistics.updates, "cost": statistics.cost}
    expected = suffered.get(quantity, statistics.squared_loss)
    for one in its:
        assert one["suffered"] == pytest.approx(expected)
        assert one["suffered"] <= one["guaranteed"] * (1 + 1e-9)
    drawn = quantity in ("mistakes", "cost") or "regression" in options
    why_not = of(events, "plot")["no_bound"]
    assert (why_not is None or why_not.endswith("which says nothing")) == drawn


@pytest.mark.parametrize(
    ("name", "options", "reason"),
    [
        ("many.svm", [], "name all of them with --classes 0,1,2,3,4,5,6,7,8,9"),
        ("two.svm", ["--geometry", "entropy"], "new features appeared"),
        ("sets.jsonl", ["--task", "multilabel", *PRECISION], "must be named (--classes)"),
        ("two.svm", ["--kernel", "linear", "--budget", "5"], "budget"),
        ("two.svm", ["--passes", "2"], "one whole pass"),
    ],
)
def test_runs_without_a_certificate_report_the_reason(events_of, name, options, reason):
    found = of(events_of(name, *options, "--certificate"), "certificate")
    assert not found["guarantees"]
    assert found["holds"]
    assert reason in found["sentence"]


def test_certificates_of_averages_are_about_the_averaged_vectors(events_of, tmp_path):
    events = events_of("two.svm", "--average", "1", "--certificate", "--plot", str(tmp_path / "p.svg"))
    assert "about the vectors that were averaged" in of(events, "certificate")["sentence"]
    assert "averaged" in of(events, "plot")["no_bound"]


def test_compare_certifies_each_learner_unless_disabled(events_of):
    names = ["pa1:C=0.1", "pa2", "perceptron", "arow"]
    events = events_of("two.svm", *names, command="compare")
    found = {event["name"]: event for event in events if event["event"] == "certificate"}
    mistakes = {event["name"]: event["mistakes"] for event in events if event["event"] == "learner"}
    assert list(found) == names
    for name in names:
        assert found[name]["holds"]
        one = next(g for g in found[name]["guarantees"] if g["quantity"] == "mistakes")
        assert mistakes[name] == one["suffered"] <= one["guaranteed"]
    assert "AROW guarantees mistakes of at most" in found["arow"]["sentence"]
    events = events_of("two.svm", *names, "--no-certificate", command="compare")
    assert not [event for event in events if event["event"] == "certificate"]


def by_arrays(learner, X, y, u, extra):
    """What u suffers, by the functions of hinge.theory. `extra`: its intercepts, thresholds, or radius."""
    p, ranks = learner.parameters, learner.task == "ordinal"
    intercept = None if ranks or not p["fit_intercept"] else extra if learner.many_scores else float(extra[0])
    constant = {} if intercept is None else {"intercept_value": learner.constant}
    if p["geometry"] != "euclidean":
        named = {"classes": learner.labels.known} if learner.labels.known else {}
        trace = follow(hinge.Learner(learner.task, **{**p, **named}), X, y)
        return trace.comparator(u, intercept=intercept, thresholds=extra if ranks else None)
    if ranks:
        return ordinal_comparator(X, y, u, extra, selection=p["selection"])
    if learner.many_scores:
        return label_comparator(X, y, u, intercepts=intercept, selection=p["selection"], **constant)
    if learner.task == "uniclass":
        return comparator("uniclass", X, None, u, radius=float(extra[0]), max_radius=p["max_radius"])
    return comparator(learner.task, X, y, u, intercept=intercept, **constant)


def facts(c):
    """All that is known of a comparator."""
    found = {field.name: getattr(c, field.name) for field in fields(c)}
    its = found.pop("second_order")
    return (
        found if its is None else {**found, **{field.name: getattr(its, field.name) for field in fields(its)}}
    )


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize(
    ("task", "options"),
    [
        ("classification", {"geometry": "mahalanobis", "step": "pa2", "C": 0.5}),
        ("classification", {"geometry": "mahalanobis", "step": "perceptron"}),
        ("classification", {"geometry": "mahalanobis", "step": "pa", "initial_variance": 3.0}),
        ("classification", {**DIAGONAL, "step": "pa1", "covariance_regularizer": 0.3}),
        (
            "classification",
            {"geometry": "mahalanobis", "selection": "simproj", "C": 0.2, "classes": [0.0, 1.0, 2.0]},
        ),
        ("multilabel", {**DIAGONAL, "C": 0.2, "classes": [0, 1, 2]}),
        ("classification", {**DROPPING, "step": "pa1", "C": 0.2, "covariance_regularizer": 0.3}),
        ("multilabel", {**DROPPING, "C": 0.2, "classes": [0, 1, 2], "initial_variance": 2.0}),
        ("regression", {**DROPPING, "step": "pa2", "initial_variance": 2.0}),
        ("ordinal", {**DROPPING, "classes": [0.0, 1.0, 2.0], "covariance_regularizer": 0.5}),
        ("regression", {"geometry": "mahalanobis", "step": "pa2", "initial_variance": 2.0}),
        ("ordinal", {**DIAGONAL, "classes": [0.0, 1.0, 2.0], "initial_variance": 2.0}),
        ("classification", {"C": 0.3}),
        ("classification", {"selection": "mira", "classes": [0.0, 1.0, 2.0]}),
        ("uniclass", {"step": "pa2", "radius": 1.0}),
        ("uniclass", {"step": "pa2", "max_radius": 3.0}),
    ],
)
def test_comparators_on_a_stream_equal_those_on_arrays(task, options, average, intercept):
    """What is computed in pieces, from the core's scores, against the comparators of bounds, from the weights."""
    if task not in ("ordinal", "uniclass"):
        options = {**options, "fit_intercept": intercept}
    thirds = np.digitize(SCORES, [-3, 3])
    y = {"regression": SCORES, "uniclass": None, "ordinal": thirds, "multilabel": np.eye(3)[thirds]}.get(
        task, thirds
    )
    if task == "classification" and "classes" not in options:
        y = np.asarray(SIGNS)
    study = Study.new(task, {**options, "average": average})
    study.learner.learn(ROWS, [[k] for k in thirds.tolist()] if task == "multilabel" else y)
    seen = hindsight(study)
    labels = [None] * 300 if y is None else [[int(k)] for k in thirds] if task == "multilabel" else y.tolist()
    for start in range(0, 300, 70):
        rows = ROWS[start : start + 70]
        see(seen, study, text_batch(rows, labels[start : start + 70]), "x")
    learner = study.learner
    one = seen.comparators(learner.statistics)[LEARNED.scales.index(1.0) if task != "uniclass" else 0]
    extra = {"ordinal": "thresholds", "uniclass": "radius"}.get(task, "intercept")
    expected = by_arrays(
        learner, ROWS, labels, np.asarray(learner.weights), np.atleast_1d(getattr(learner, extra))
    )
    mine, its = facts(one), facts(expected)
    assert mine.keys() == its.keys()
    # The learner keeps neither the smallest norm nor their sum; where a ball started is a distance, and no more.
    for name in mine.keys() - {"smallest_q", "total_q", *(["start_norm"] if task == "uniclass" else [])}:
        assert mine[name] == (
            its[name] if isinstance(its[name], str) else pytest.approx(its[name], rel=1e-9)
        ), name


@pytest.mark.parametrize("task", ["classification", "regression", "ordinal"])
@pytest.mark.parametrize("seed", range(20))
def test_bounds_hold_when_entries_are_dropped(task, seed):
    """Random streams with large rows and gaps: every guarantee is kept, and it is that of `Learner.certificate`."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(120, 8)) * 10 ** random.uniform(-1.5, 1.5, size=8)
    rows[random.random(rows.shape) < 0.4] = 0
    rows[60] *= 100
    scores = rows @ random.normal(size=8) + random.normal(size=120)
    y = {"classification": np.where(scores > 0, 1, -1), "ordinal": np.digitize(scores, [-3, 3])}.get(
        task, scores
    )
    options = {
        **DROPPING, "step": ["pa1", "pa2"][seed % 2], "C": float(10 ** random.uniform(-2, 1)),
        "initial_variance": float(10 ** random.uniform(-1, 1)),
        "covariance_regularizer": float(10 ** random.uniform(-1, 1)),
        **({"classes": [0, 1, 2]} if task == "ordinal" else {"classes": [-1, 1]} if task == "classification" else {}),
    }  # fmt: skip
    study = Study.new(task, options)
    study.learner.learn(rows, y)
    seen = hindsight(study)
    see(seen, study, text_batch(rows, y.tolist()), "x")
    statistics, learner = study.learner.statistics, study.learner
    found = seen.guarantees(statistics)
    assert any(one.applicable for one in found)
    assert all(one.holds for one in found), found
    extra = np.atleast_1d(learner.thresholds if task == "ordinal" else learner.intercept)
    for scale, one in zip(LEARNED.scales, seen.comparators(statistics), strict=True):
        python = learner.certificate(rows, y, u=scale * learner.weights, intercept=scale * extra)
        assert python.holds
        its = by_arrays(learner, rows, y, scale * np.asarray(learner.weights), scale * extra)
        assert one.largest_q == pytest.approx(its.largest_q, rel=1e-12)
        mine = strongest(learner.step, statistics, [one], C=options["C"])
        numbers = [(g.theorem, g.quantity, g.suffered, g.guaranteed) for g in mine if g.applicable]
        expected = [(g.theorem, g.quantity, g.suffered, g.guaranteed) for g in python.applicable]
        assert [row[:3] for row in numbers] == [row[:3] for row in expected]
        assert [row[3] for row in numbers] == pytest.approx([row[3] for row in expected], rel=1e-9)


@pytest.mark.parametrize(
    ("name", "options"), [part[:2] for part in RUNS if "--geometry" not in part[1] and "--algorithm" not in part[1]],
    ids=lambda part: " ".join(part) if isinstance(part, list) else None,
)  # fmt: skip
def test_inspect_prints_the_bound_with_u_open(events_of, tmp_path, name, options):
    """What it says of every u, for the one that was learned in the end: the certificate's numbers."""
    model = tmp_path / "model.hinge"
    found = of(events_of(name, *options, "--certificate", "-m", str(model)), "certificate")
    study = Study.load(str(model))
    said = open_bound(study.learner)
    if name in ("rows.svm", "tags.conll", "mail.jsonl") or "perceptron" in options:
        assert said == NEEDS_DATA
        return
    assert " for every u, where " in said
    theorem, quantity = (
        said.split(": ")[0],
        said.split(": ")[1].rsplit(" ", 1)[0].split(" <=")[0].rsplit(" ", 1)[0],
    )
    stated = next(
        one for one in found["guarantees"] if one["theorem"] == theorem and one["quantity"] == quantity
    )
    p, seen = study.learner.parameters, hindsight(study)
    stream = tmp_path / name
    for piece in reopened(stream, options):
        see(seen, study, piece.batch, name)
    least, kind = np.inf, kind_of(study.learner)
    kind = kind.of(study.learner, kind.extra_of(study.learner))
    for c in seen.comparators(study.learner.statistics):
        open_u = kind.open(study.learner.statistics, c.distance2, c.loss, c.squared_loss)
        its = guarantees(p["step"], study.learner.statistics, open_u, C=float(p["C"]))
        least = min(least, next(g.guaranteed for g in its if (g.theorem, g.quantity) == (theorem, quantity)))
    assert stated["guaranteed"] <= least * (1 + 1e-9)
    if "multilabel" not in options:  # where a round has fewer rows than it could
        assert stated["guaranteed"] == pytest.approx(least, rel=1e-9)


def reopened(path, options):
    from types import SimpleNamespace

    from hinge.cli import app, reading
    from hinge.cli.arguments import limits
    from hinge.streams.batches import BadLines

    arguments = app.command_parser("learn").parse_args([str(path), *options])
    stream, _ = reading.open_stream(arguments, None, limits(None, {}, arguments.task), BadLines())
    return (SimpleNamespace(batch=piece.batch) for piece in stream.once())


class Pieces:
    """A stream in pieces of a given length."""

    def __init__(self, batch, length):
        self.all = [
            Piece(part(batch, start, start + length), Input("x"), None)
            for start in range(0, len(batch), length)
        ]

    def once(self):
        return iter(self.all)


@pytest.mark.parametrize("length", [7, 50, 400])
def test_comparators_do_not_depend_on_the_size_of_batches(length):
    """Comparators of the moments of a run are those of its beginnings, however the stream is cut."""
    rows, labels = DIGITS / 16, DIGIT.tolist()
    study = Study.new("classification", {"classes": list(range(10)), "C": 0.1})
    batch = text_batch(rows, labels)
    study.learner.learn(rows, labels)
    statistics = study.learner.statistics
    at = [3, 50, 51, 399, 400]
    for count, seen in zip(at, moments(study, Pieces(batch, length), at), strict=True):
        alone = hindsight(study)
        see(alone, study, text_batch(rows[:count], labels[:count]), "x")
        for one, other in zip(seen.comparators(statistics), alone.comparators(statistics), strict=True):
            assert one.rounds == other.rounds == count
            assert one.loss == pytest.approx(other.loss, rel=1e-12)
            assert one.squared_loss == pytest.approx(other.squared_loss, rel=1e-12)
            assert one.largest_discrepancy == other.largest_discrepancy
            assert (one.most_rows, one.distance2) == (other.most_rows, other.distance2)


def test_the_ball_of_a_hard_margin_has_theorem_3(events_of):
    """The direction to a ball has the length 1, always."""
    events = events_of("rows.svm", "--task", "uniclass", "--step", "pa", "--radius", "1", "--certificate")
    assert "J06 Theorem 3" in {one["theorem"] for one in of(events, "certificate")["guarantees"]}


@pytest.mark.parametrize("name", ["ranks.svm", "tags.conll"])
def test_unknown_norms_are_not_reported_as_zero(events_of, name):
    options = ["--task", "ordinal", "--classes", "0,1,2,3"] if name == "ranks.svm" else ["--margin", "50"]
    sentence = of(events_of(name, "--step", "pa", *options, "--certificate"), "certificate")["sentence"]
    assert "the smallest norm, which is not known here" in sentence
    assert "not zero" not in sentence
    assert "from 0" not in sentence


def test_a_stream_of_one_class_with_a_covariance_has_guarantees(events_of):
    events = events_of("rows.svm", "--task", "classification", "--geometry", "mahalanobis", "--certificate")
    assert of(events, "certificate")["guarantees"]
