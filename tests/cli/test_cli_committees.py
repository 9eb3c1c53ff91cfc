"""Committees on the command line: when there is one, what is reported, and what the other commands do with it."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hinge
from hinge import Learner
from hinge.cli import committees
from hinge.model.experts import DEFAULT
from hinge.streams.evaluation import Study
from stream_files import svmlight

EXPERTS = len(DEFAULT["classification"].split())


def dense(count=300, seed=0, noise=0.5, scale=(1.0, 100.0, 0.01)):
    """Rows of three columns of different sizes, and a score of each."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, 3))
    return X * scale, X @ [1.0, -1.0, 0.5] + noise * rng.normal(size=count)


def write(path, labels, X):
    rows = (" ".join(f"{j + 1}:{v!r}" for j, v in enumerate(row)) for row in X.tolist())
    path.write_text("".join(f"{label} {row}\n" for label, row in zip(labels, rows, strict=True)))


@pytest.fixture
def files(tmp_path):
    """One file for each task that has committees."""
    X, scores = dense()
    write(tmp_path / "two.svm", np.where(scores > 0, 1, -1), X)
    write(tmp_path / "many.svm", np.digitize(scores, [-1, 0, 1]), X)
    write(tmp_path / "numbers.svm", scores.round(3), X)
    write(tmp_path / "ranks.svm", np.digitize(scores, [-1, 1]), X)
    sets = [",".join(str(j) for j in range(3) if x[j] > 0) for x in X * (1, 0.01, 100)]
    write(tmp_path / "sets.svm", sets, X)
    (tmp_path / "words.conll").write_text("the DET\nman NOUN\n\n" * 10)
    return tmp_path


COMMITTEES = {
    "two": [], "many": [], "numbers": [], "sets": ["--task", "multilabel"],
    "ranks": ["--task", "ordinal", "--classes", "0,1,2"],
}  # fmt: skip


# ---- when there is one ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", COMMITTEES)
def test_without_a_learner_there_is_a_committee(run, files, kind):
    done = run("learn", f"{kind}.svm", "-m", "model", "-q", *COMMITTEES[kind])
    assert done.code == 0, done.err
    learner = hinge.load(files / "model")
    assert learner.parameters["experts"] == "auto"
    count = len(DEFAULT[learner.task].split())
    assert len(learner.experts) == count
    assert f"(a committee of {count} experts" in done.out


@pytest.mark.parametrize(
    "options",
    [["two.svm", "--task", "uniclass"], ["words.conll"], ["two.svm", "--step", "pa1"], ["two.svm", "--C", "1"],
     ["two.svm", "--average", "yes"], ["two.svm", "--no-average"], ["two.svm", "--geometry", "diagonal"],
     ["two.svm", "--selection", "max"], ["two.svm", "--dtype", "float32"], ["two.svm", "--kernel", "linear"],
     ["two.svm", "-a", "arow"]],
    ids=str,
)  # fmt: skip
def test_an_option_of_one_learner_makes_one(run, files, options):
    if "--no-average" in options:
        options = ["two.svm", "--average", "no"]
    done = run("learn", *options, "-m", "model", "-q")
    assert done.code == 0, done.err
    assert hinge.load(files / "model").parameters.get("experts") is None
    assert "committee" not in done.out
    assert "Leader" not in done.out


@pytest.mark.parametrize(
    "options",
    [["--no-fit-intercept"], ["--margin", "2"], ["--intercept-value", "1"], ["--classes=-1,1"], ["--hash-bits", "6"],
     ["--class-weight=-1=2,1=1"], ["--max-features", "10"], ["--at-max-features", "ignore"], ["-a", "committee"],
     ["--experts", "auto"], ["-a", "committee:margin=2"]],
    ids=str,
)  # fmt: skip
def test_options_of_the_data_hold_for_all_experts(run, files, options):
    done = run("learn", "two.svm", "-m", "model", "-q", *options)
    assert done.code == 0, done.err
    assert len(hinge.load(files / "model").experts) == EXPERTS


SEVERAL = {
    ("--C", "auto"): None,
    ("--C", "0.125,1,10"): ["pa1=0.125", "pa1=1", "pa1=10"],
    ("--C", "[0.5, 1]"): ["pa1=0.5", "pa1=1"],
    ("--C", "0.5,1", "--average", "yes"): ["pa1=0.5", "pa1=1", "pa1=0.5:average", "pa1=1:average"],
    ("--C", "0.5,1", "--step", "pa2"): ["pa2=0.5", "pa2=1"],
    ("-a", "pa1:C=[0.125,1]"): ["pa1=0.125", "pa1=1"],
    ("--experts", "pa1:-1,arow:0"): ["pa1:-1", "arow:0"],
    ("--experts", "pa1=0.5 scaled:pa2:0:average"): ["pa1=0.5", "scaled:pa2:0:average"],
    ("--experts", "pa"): ["pa"],
    ("--covariance-regularizer", "auto"): ["arow:1", "arow:0", "arow:-1", "arow:-2", "arow:-3"],
    ("--covariance-regularizer", "0.125,1"): ["arow=0.125", "arow=1"],
    ("-a", "arow:r=auto"): ["arow:1", "arow:0", "arow:-1", "arow:-2", "arow:-3"],
    ("-a", "arow:r=[0.125,1]"): ["arow=0.125", "arow=1"],
    ("-a", "committee:experts=pa1:-1"): ["pa1:-1"],
}


@pytest.mark.parametrize("options", SEVERAL, ids=str)
def test_several_values_are_a_committee(run, files, options):
    done = run("learn", "two.svm", "-m", "model", "-q", *options)
    assert done.code == 0, done.err
    found = [expert.name for expert in hinge.load(files / "model").experts]
    assert found == SEVERAL[options] or (SEVERAL[options] is None and len(found) > 1)
    assert done.out.count("Leader: ") == 1


WRONG = {
    ("--experts", "auto", "--step", "pa2"): "--step is for a single learner: each expert of a committee has its own",
    ("--experts", "auto", "--average", "yes"): "--average is for a single learner",
    ("-a", "committee:C=1"): "--C is for a single learner",
    ("-a", "committee", "--geometry", "diagonal"): "--geometry is for a single learner",
    ("-a", "committee", "--task", "uniclass"): "committee is for classification, regression, multilabel, ordinal",
    ("--experts", "pa3:1"): "--experts must be none, auto, or words: pa1:-1,arow:0, not 'pa3:1'",
    ("--C", "0.1,0.1"): "--C must be a number greater than 0 (inf is allowed), auto, or several numbers: 0.1,1,10, not",
    ("--C", "1,x"): "--C must be a number greater than 0",
    ("--C", "auto", "--step", "pa"): "C='auto' needs step='pa1' or 'pa2', not 'pa'",
    ("-a", "arow:r=x"): "r must be a number greater than 0, auto, or a list: [0.1,1], not 'x'",
}  # fmt: skip


@pytest.mark.parametrize("options", WRONG, ids=str)
def test_invalid_committees_are_reported_in_one_line(run, files, options):
    done = run("learn", "two.svm", "-q", *options)
    assert done.code == 2
    assert WRONG[options] in done.err
    assert len(done.err.splitlines()) == 1


# ---- what is reported -------------------------------------------------------------------------------------------


def numbers(text):
    return [float(number) for number in re.findall(r"(\d+(?:\.\d+)?)(?: %| off| ranks)", text)]


@pytest.mark.parametrize("kind", COMMITTEES)
def test_the_closing_report_names_the_leader_and_the_best_expert(run, files, kind):
    done = run("learn", f"{kind}.svm", "-m", "model", "-q", *COMMITTEES[kind])
    _, leading, shares, best, _ = done.out.splitlines()
    learner = hinge.load(files / "model")
    leader = max(learner.experts, key=lambda expert: expert.weight)
    found = min(learner.experts, key=lambda expert: expert.error)
    assert leading == f"Leader: {leader.in_words}, with {100 * leader.weight:.0f} % of the vote."
    assert sum(numbers(shares)) == pytest.approx(100, abs=3)  # each is rounded
    assert best.startswith(f"Best expert in hindsight: {found.in_words}: ")
    factor = 1 if kind in ("numbers", "ranks") else 100
    errors = numbers(best.split(f"{found.in_words}: ")[1].replace(")", " off"))
    committee = (
        learner.statistics.cost if kind in ("numbers", "ranks", "sets") else learner.statistics.mistakes
    )
    assert errors == pytest.approx([factor * found.error, factor * committee / 300], abs=0.01)


def test_the_report_as_json_has_all_experts(run, files):
    (*_, last) = run("learn", "two.svm", "-m", "model", "--json").records
    experts = hinge.load(files / "model").experts
    assert [its["expert"] for its in last["experts"]] == [expert.name for expert in experts]
    assert [its["weight"] for its in last["experts"]] == [expert.weight for expert in experts]
    assert sum(its["weight"] for its in last["experts"]) == pytest.approx(1)
    assert last["leader"] == max(experts, key=lambda expert: expert.weight).in_words
    assert "experts" not in run("learn", "two.svm", "--json", "--step", "pa1").records[-1]


WORDS = {
    "pa": "PA", "pa1=0.5": "PA-I, C = 0.5", "pa2=0.25": "PA-II, C = 0.25", "arow=2": "AROW, r = 2",
    "scaled:arow=0.25": "AROW, r = 0.25, on scaled columns", "pa1=1:average": "PA-I, C = 1, averaged",
    "scaled:pa1=1:average": "PA-I, C = 1, averaged, on scaled columns",
}  # fmt: skip


def test_experts_in_words():
    learner = Learner("classification", experts=list(WORDS))
    assert [expert.in_words for expert in learner.experts] == list(WORDS.values())
    assert [expert.family for expert in learner.experts] == [
        re.sub(r", [Cr] = [\d.]+", "", words).replace(",", "") for words in WORDS.values()
    ]
    lattice = Learner("classification", C="auto")
    for i in range(40):
        lattice.learn_one({"a": i % 3, "b": i % 5 - 2.0}, i % 2)
    words = [expert.in_words for expert in lattice.experts]
    assert words[0].endswith(" or less")
    assert words[-1] == "PA"
    assert {expert.family for expert in lattice.experts} == {"PA-I"}


def test_a_leader_without_a_loss_is_not_named(run, tmp_path):
    (tmp_path / "zeros.svm").write_text("1\n-1\n")
    done = run("learn", "zeros.svm", "-q", "--task", "classification")
    assert "No expert leads yet" in done.out


def test_weighted_examples_are_compared_by_their_weights(run, tmp_path):
    (tmp_path / "w.vw").write_text("".join(f"{(-1) ** i} {1 + i % 2} |f a:{i % 7} b\n" for i in range(60)))
    done = run("learn", "w.vw", "-q", "-m", "model")
    assert "over all that it has learned, with the weights of the examples." in done.out
    assert "had no effect" not in done.out


# ---- passes and measures ----------------------------------------------------------------------------------------


def test_the_vote_learns_in_the_first_pass_only(run, files):
    run("learn", "two.svm", "-m", "one", "-q")
    done = run("learn", "two.svm", "-m", "three", "-q", "--passes", "3")
    one, three = (hinge.load(files / name) for name in ("one", "three"))
    assert three._engine.vote_weight() == 300
    assert [expert.loss for expert in one.experts] == [expert.loss for expert in three.experts]
    assert [expert.weight for expert in one.experts] == [expert.weight for expert in three.experts]
    assert three.statistics.rounds == 900
    assert not np.array_equal(one.weights, three.weights)
    assert "(the committee: " in done.out


def test_a_run_resumed_in_a_later_pass_is_bit_identical(run, files):
    run("learn", "two.svm", "-m", "whole", "-q", "--passes", "3")
    learner = hinge.load(files / "whole")
    lines = (files / "two.svm").read_text().splitlines(keepends=True)
    (files / "two.svm").write_text("".join([*lines[:200], "1 1:1e200\n"]))
    # The first pass ends at the invalid line: the run resumes there.
    assert run("learn", "two.svm", "-m", "parts", "-q", "--passes", "3").code == 2
    (files / "two.svm").write_text("".join(lines))
    assert run("learn", "two.svm", "-m", "parts", "-q", "--passes", "3", "--resume").code == 0
    parts = hinge.load(files / "parts")
    learner.notes.clear()
    parts.notes.clear()
    assert parts.to_bytes() == learner.to_bytes()


def test_sets_of_labels_are_judged_label_by_label(run, files):
    done = run("learn", "sets.svm", "-m", "model", "--json", *COMMITTEES["sets"])
    learner = hinge.load(files / "model")
    assert done.records[-1]["error"] == pytest.approx(learner.statistics.cost / 300)
    said = run("predict", "sets.svm", "-m", "model", "--json")
    truth = [line.split(" ")[0].split(",") for line in (files / "sets.svm").read_text().splitlines()]
    wrong = [len(set(record["prediction"]) ^ {int(one) for one in labels if one}) / 3
             for record, labels in zip(said.records, truth, strict=True)]  # fmt: skip
    assert f"{100 * np.mean(wrong):.2f} % of the labels wrong" in said.err


# ---- the other commands -----------------------------------------------------------------------------------------


def test_an_existing_model_keeps_what_it_is(run, files):
    run("learn", "two.svm", "-m", "single", "-q", "--step", "pa1")
    run("learn", "two.svm", "-m", "committee", "-q")
    for model in ("single", "committee"):
        assert run("learn", "two.svm", "-m", model, "-q", "--resume").code == 0
        assert run("learn", "many.svm", "-i", model, "-m", "more", "-q", "--force").code == 0
        assert (hinge.load(files / "more").parameters["experts"] is None) == (model == "single")
    done = run("learn", "two.svm", "-m", "committee", "--resume", "--step", "pa1")
    assert "--step is for a single learner" in done.err
    done = run("learn", "two.svm", "-i", "committee", "-m", "other", "--C", "0.1")
    assert "--C is for a single learner" in done.err
    done = run("learn", "two.svm", "-m", "single", "--resume", "--experts", "auto")
    assert "single has experts=None: --resume cannot change it" in done.err


def test_inspect_shows_the_experts_and_what_is_guaranteed(run, files):
    run("learn", "two.svm", "-m", "model", "-q")
    learner = hinge.load(files / "model")
    text = run("inspect", "model").out
    largest = sorted(learner.experts, key=lambda expert: -expert.weight)
    rows = re.findall(r"^(\S.*?) +(\d+\.\d) % +(\d+\.\d\d) %$", text, re.MULTILINE)
    assert [row[0] for row in rows] == [expert.in_words for expert in largest[: committees.SHOWN_EXPERTS]]
    assert [float(row[1]) for row in rows] == pytest.approx(
        [100 * its.weight for its in largest[:12]], abs=0.06
    )
    assert f"{EXPERTS - 12} others" in text
    assert "Guaranteed: the expected loss of the vote" in text
    (record,) = run("inspect", "model", "--json").records
    assert record["leader"] == largest[0].in_words
    assert record["vote"]["telling"] <= 300
    assert "J06" not in record["certificate"]


@pytest.mark.parametrize("kind", COMMITTEES)
def test_the_guarantee_of_the_vote_holds(run, files, kind):
    run("learn", f"{kind}.svm", "-m", "model", "-q", *COMMITTEES[kind])
    study = Study.load(files / "model")
    best, cost = committees.bound_of(study.learner)
    vote = committees.vote_of(study.learner)
    assert vote.expected_loss <= best.loss + cost
    assert all(best.loss + cost <= its.loss + cost * 10 for its in study.experts)
    suffered = study.learner.statistics.cost if kind != "many" else study.learner.statistics.mistakes
    assert suffered <= (1 if kind == "numbers" else 2) * vote.expected_loss * (1 + 1e-12)
    assert committees.guarantee_of(study.learner).holds


def test_explanations_are_those_of_the_leader(run, files):
    run("learn", "two.svm", "-m", "model", "-q", "--experts", "pa1:0,pa1:-1:average")
    learner = hinge.load(files / "model")
    leader = learner.leader()
    words = max(learner.experts, key=lambda expert: expert.weight).in_words
    done = run("predict", "two.svm", "-m", "model", "--explain", "9", "--json")
    assert f"The contributions are to the score of the leader of the committee: {words}." in done.err
    leader._events()
    for record, line in zip(done.records, (files / "two.svm").read_text().splitlines(), strict=True):
        x = {int(pair.split(":")[0]) - 1: float(pair.split(":")[1]) for pair in line.split()[1:]}
        total = sum(value for _, value in record["contributions"])
        assert total == pytest.approx(leader.score_one(x))
    run("learn", "two.svm", "-m", "model", "-q", "--force", "--step", "pa1")
    assert "leader" not in run("predict", "two.svm", "-m", "model", "--explain").err


def test_a_committee_has_a_certificate_of_its_own(run, files):
    done = run("learn", "two.svm", "-q", "--certificate", "--plot", "curve.svg")
    assert done.code == 0, done.err
    assert "(no bound: a committee is compared with its experts" in done.out
    assert "J06" not in done.out


def test_compare_has_the_committee_as_a_row(run, files):
    names = [
        record["name"] for record in run("compare", "two.svm", "--json", "-q").records if "name" in record
    ]
    assert names[0] == "committee"
    names = [record["name"] for record in run("compare", "two.svm", "--json", "-q", "--step", "pa1").records
             if "name" in record]  # fmt: skip
    assert "committee" not in names
    alone = run("learn", "two.svm", "--json").records[-1]["error"]
    (first, *_) = run("compare", "two.svm", "committee", "pa1", "--json", "-q").records
    assert first["error"] == alone
    done = run("compare", "two.svm", "committee", "pa1", "-q", "--C", "0.1")
    assert "out: --C is for a single learner" in " ".join(done.out.split())


def test_compare_has_one_error_for_sets_of_labels(run, files):
    task = COMMITTEES["sets"]
    both = run("compare", "sets.svm", "committee", "pa1", "-q", *task).out
    assert "of the labels wrong for the best" in both
    found = {its["name"]: its["error"] for its in run("compare", "sets.svm", "committee", "pa1", "-q", "--json", *task)
             .records if its["event"] == "learner"}  # fmt: skip
    alone = run("compare", "sets.svm", "pa1", "-q", *task).out
    assert "with a label out of order for the best" in alone
    assert found["committee"] == pytest.approx(run("learn", "sets.svm", "--json", *task).records[-1]["error"])
    # Of the single learner: the share of wrong labels in its predictions, made in steps of a twentieth.
    learner, wrong, learned = Learner("multilabel"), 0.0, 0
    lines = (files / "sets.svm").read_text().splitlines()
    X = [{int(p.split(":")[0]): float(p.split(":")[1]) for p in line.split(" ")[1:]} for line in lines]
    truth = [{int(one) for one in line.split(" ")[0].split(",") if one} for line in lines]
    while learned < 300:
        step = slice(learned, min(300, learned + max(1, learned // 20)))
        count = max(1, len(learner.labels.known))
        wrong += sum(
            len(learner.predict_one(x) ^ y) / count for x, y in zip(X[step], truth[step], strict=True)
        )
        for x, y in zip(X[step], truth[step], strict=True):
            learner.learn_one(x, sorted(y))
        learned = step.stop
    assert found["pa1"] == pytest.approx(wrong / 300)


def verdict(run, *arguments):
    records = run("tune", *arguments, "--json", "-q").records
    (found,) = [record for record in records if record["event"] == "committee"]
    return found, records


def test_tune_says_whether_it_is_needed(run, files):
    found, records = verdict(run, "two.svm")
    best = min(record["error"] for record in records if record.get("name", "committee") != "committee")
    assert found["best_error"] == best
    assert found["tuning_needed"] == (found["error"] > best + max(0.05 * best, np.sqrt(best / 300)))
    words = run("tune", "two.svm", "-q").out
    assert ("No tuning needed: " in words) != found["tuning_needed"]
    assert words.splitlines()[-1].startswith("Best: --")


def test_tune_of_a_worse_grid_needs_no_tuning(run, files):
    found, records = verdict(run, "two.svm", "--grid", "C=0.000001,0.000002", "-m", "model")
    assert not found["tuning_needed"]
    assert found["error"] < found["best_error"]
    (best,) = [record["name"] for record in records if record.get("best")]
    assert best.startswith("C=")  # the committee is there for comparison
    assert hinge.load(files / "model").parameters["C"] < 1e-5


def test_tune_of_a_better_grid_needs_tuning(run, files):
    X, _ = dense(2000, noise=0.0, scale=(1.0, 1.0, 1.0))
    rng = np.random.default_rng(1)
    flips = np.where(rng.random(2000) < 0.02, -1, 1)
    write(files / "product.svm", np.where(X[:, 0] * X[:, 1] > 0, 1, -1) * flips, X)
    grid = ("--grid", "kernel=poly", "--grid", "degree=2", "--grid", "gamma=1")
    found, _ = verdict(run, "product.svm", *grid)
    assert found["tuning_needed"]
    assert "Tuning helps: " in run("tune", "product.svm", "-q", *grid).out


@pytest.mark.parametrize(
    "arguments",
    [
        ["sets.svm", "--task", "multilabel"],
        ["two.svm", "-a", "pa1"],
        ["two.svm", "--step", "pa1"],
        ["two.svm", "--task", "uniclass"],
    ],
    ids=str,
)
def test_tune_compares_with_a_committee_where_there_is_one(run, files, arguments):
    done = run("tune", *arguments, "--grid", "C=0.1,1", "-q")
    assert done.code == 0, done.err
    assert "committee" not in done.out


def test_options_that_tune_recommends_are_learned(run, files):
    done = run("tune", "two.svm", "-q", "--grid", "fit_intercept=yes,no")
    best = done.out.splitlines()[-1].removeprefix("Best: ").split()
    error = re.search(r"error: (\d+\.\d+ %) wrong for the best", done.out)[1]
    assert f"{error} wrong" in run("learn", "two.svm", "-q", *best).out


def test_predictions_made_while_learning_are_resumed(run, tmp_path):
    lines = svmlight(120).splitlines(keepends=True)
    (tmp_path / "data.svm").write_text("".join(lines))
    run("learn", "data.svm", "-m", "whole", "-p", "expected", "--scores", "-q")
    (tmp_path / "data.svm").write_text("".join(lines[:70]))
    run("learn", "data.svm", "-m", "parts", "-p", "made", "--scores", "-q", "--save-every", "9")
    (tmp_path / "data.svm").write_text("".join(lines))
    run("learn", "data.svm", "-m", "parts", "-p", "made", "--scores", "-q", "--resume")
    assert (tmp_path / "made").read_text() == (tmp_path / "expected").read_text()
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
