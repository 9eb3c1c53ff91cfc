"""Certificates of committees: what they say was observed is what happened, and what they guarantee holds."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import dump_svmlight_file

import hinge
from command_line import called
from hinge.model.experts import plain_learner
from hinge.theory import comparator, label_comparator
from hinge.theory.committees import BEST, DELTA, FIXED, REGRET, VOTE, VoteRecord
from hinge.theory.open_bounds import open_bound

EPS = 1 + 1e-9
WORDS = [
    "pa",
    "pa1:-2",
    "pa1=0.3",
    "pa1:0",
    "pa1:0:average",
    "pa2:-1",
    "pa2=0.1:average",
    "arow:0",
    "arow:-1:average",
]
TASKS = ("two", "many", "ordinal", "regression", "multilabel")
KINDS = {
    "auto": {"experts": "auto"},
    "words": {"experts": WORDS},
    "lattice": {"C": "auto"},
    "averages": {"C": "auto", "average": True},
    "list": {"C": [0.01, 0.1, 1.0]},
}


def stream(task, rounds=200, seed=0, noise=1.0):
    """Rows whose norms grow, so that lanes are born on both sides, and targets with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rounds, 4)) * np.array([1, 3, 0.1, 1]) * np.geomspace(0.3, 3, rounds)[:, None]
    score = X @ rng.normal(size=4) + noise * rng.normal(size=rounds)
    if task == "multilabel":
        return X, [[k for k in range(3) if value > k - 1] for value in score]
    return X, {"two": np.where(score > 0, "b", "a"), "regression": score}.get(
        task, np.digitize(score, [-1, 1])
    )


def learner_of(task, options):
    classes = {"regression": {}, "two": {"classes": ["a", "b"]}}.get(task, {"classes": [0, 1, 2]})
    name = task if task in ("ordinal", "regression", "multilabel") else "classification"
    return hinge.Learner(name, **options, **classes)


def guaranteed(certificate, theorem):
    [found] = [one for one in certificate.guarantees if one.theorem == theorem]
    return found


# --- what was observed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", TASKS)
def test_the_record_is_what_happened(task, kind, weighted):
    """Round by round: the losses are the differences of the experts' sums, the weights those before the round. Lanes
    that are born in a round are copies of their neighbours, of which they take a part of the weight."""
    X, y = stream(task, 120)
    learner, expected, telling, own = learner_of(task, KINDS[kind]), 0.0, 0.0, 0.0
    weights = np.random.default_rng(1).choice([0.5, 1.0, 2.0], len(X)) if weighted else np.ones(len(X))
    for x, truth, weight in zip(X, y, weights.tolist(), strict=True):
        before, cost = learner.experts, learner.statistics.cost
        learner.learn_one(dict(enumerate(x.tolist())), truth, weight=weight)
        losses = losses_of_round(before, learner.experts)
        h = sum(each.weight * loss for each, loss in zip(before, losses, strict=True))
        expected += h
        telling += h if max(losses) - min(losses) > 1e-9 else 0.0
        own += weight * (learner.statistics.cost - cost)
    record = VoteRecord.of(learner)
    assert record.expected_loss == pytest.approx(expected, rel=1e-6)
    assert record.telling_loss == pytest.approx(telling, rel=1e-6, abs=1e-6)
    assert record.weight == weights.sum()
    assert record.loss == pytest.approx(own, rel=1e-9)
    certificate = learner.certificate()
    assert certificate.holds
    assert certificate.vote == record


def losses_of_round(before, after):
    """What each of the experts before the round lost in it. Births insert experts; names of the others stay."""
    sums = {each.name: each.loss for each in after}
    return [sums[each.name] - each.loss for each in before]


@pytest.mark.parametrize("kind", ["words", "averages", "list"])
def test_the_loss_of_the_vote_is_that_of_its_predictions(kind):
    """Without scaling, which sees the example before its round and not before its prediction."""
    X, y = stream("regression", 100)
    learner, total = learner_of("regression", KINDS[kind]), 0.0
    for x, truth in zip(X, y, strict=True):
        features = dict(enumerate(x.tolist()))
        total += abs(truth - learner.predict_one(features))
        learner.learn_one(features, truth)
    assert VoteRecord.of(learner).loss == pytest.approx(total)


# --- what is guaranteed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", TASKS)
def test_every_guarantee_holds(task, kind):
    for seed in range(6):
        X, y = stream(task, 150, seed, noise=[0.0, 1.0, 5.0][seed % 3])
        learner = learner_of(task, KINDS[kind])
        learner.learn_many(X, y)
        certificate = learner.certificate(X, y)
        assert certificate.holds, [str(one) for one in certificate.guarantees]
        record, experts = certificate.vote, learner.experts
        bounds = [each.loss + record.price(each.prior) for each in experts]
        assert guaranteed(certificate, REGRET).guaranteed == pytest.approx(min(bounds))
        assert all(record.expected_loss <= bound * EPS for bound in bounds)
        assert sum(each.prior for each in experts) == pytest.approx(1)
        for one in (REGRET, DELTA, VOTE, BEST):
            assert guaranteed(certificate, one).applicable
        assert certificate.tightest == guaranteed(certificate, REGRET)
        fixed = guaranteed(certificate, FIXED)
        assert fixed.applicable == (task != "multilabel"), fixed.reason


def test_the_bound_of_the_vote_by_hand():
    """Two classes: where all err, a mistake counts once; elsewhere h counts twice."""
    X, y = stream("two", 200)
    learner = learner_of("two", {"C": "auto"})
    learner.learn_many(X, y)
    certificate = learner.certificate()
    r = certificate.vote
    assert guaranteed(certificate, VOTE).guaranteed == r.loss_of_all + 2 * r.telling_loss
    assert guaranteed(certificate, VOTE).suffered == r.loss == learner.statistics.mistakes
    c = {each.name: 1 + (math.log(1 / each.prior) + math.log(r.telling)) / 2 for each in learner.experts}
    best = min(each.loss + each.telling_loss + 2 * c[each.name] * r.delta for each in learner.experts)
    assert guaranteed(certificate, BEST).guaranteed == pytest.approx(best)
    assert r.delta <= math.sqrt(2 * r.variance) + 7 / 3 * r.range


@pytest.mark.parametrize("task", ["two", "many", "regression"])
def test_the_bound_against_a_fixed_predictor_by_hand(task):
    """T1.5: for a given u, the smallest of T0.1 (numbers: T0.2) over the lanes, each with its c Delta."""
    X, y = stream(task, 300, noise=2.0)
    learner = learner_of(task, {"C": "auto", "fit_intercept": False})
    learner.learn_many(X, y)
    rng = np.random.default_rng(3)
    u = 0.1 * rng.normal(size=(3, 4) if task == "many" else 4)
    if task == "many":
        c = label_comparator(X, y, u)
    elif task == "two":
        c = comparator("classification", X, np.where(y == "b", 1, -1), u)
    else:
        c = comparator("regression", X, y, u)
    record, bounds = VoteRecord.of(learner), []
    for each in learner.experts:
        if math.isinf(each.parameter):
            continue
        C, R2, U, L = each.parameter, c.largest_q, c.distance2, c.loss
        if task == "regression":
            sizes = min(each.statistics.updates * R2, c.total_q)
            bound = L + U / (2 * C) + C / 2 * sizes + 0.1 * len(X)
        else:
            a = min(C, 1 / R2)
            bound = (U / 2 + C * L) / (a - a * a * R2 / 2)
        bounds.append(bound + record.price(each.prior))
    found = guaranteed(learner.certificate(X, y, u), FIXED)
    assert found.guaranteed == pytest.approx(min(bounds))
    assert found.suffered == record.expected_loss <= found.guaranteed


def test_comparators_that_are_found_bound_a_sparse_stream():
    """Sparse rows, more classes, an intercept: found comparators bound the expected mistakes."""
    X, y = stream("many", 400, noise=0.1)
    learner = learner_of("many", {"experts": "auto"})
    X[1:] *= np.random.default_rng(5).random((399, 4)) < 0.5
    sparse = csr_matrix(X)
    learner.learn_many(sparse, y)
    certificate = learner.certificate(sparse, y)
    assert certificate.holds
    assert guaranteed(certificate, FIXED).applicable
    assert "Against averages of several passes over the same data" in str(certificate)


# --- where there is none ---------------------------------------------------------------------------------------------


def test_a_committee_that_has_seen_nothing_has_no_certificate():
    learner = learner_of("two", {"experts": "auto"})
    assert str(learner.certificate()) == "Nothing is guaranteed: the vote has seen no example yet."
    assert open_bound(learner) == "nothing yet: it has seen no example"


@pytest.mark.parametrize(
    ("options", "task", "reason"),
    [
        ({"experts": ["arow:0", "arow:1"]}, "two", "only experts without scaling"),
        ({"experts": ["pa1:0:average", "arow:1"]}, "two", "only experts without scaling"),
        ({"C": "auto"}, "multilabel", "for multilabel"),
    ],
)
def test_why_there_is_no_bound_against_fixed_predictors(options, task, reason):
    X, y = stream(task, 80)
    learner = learner_of(task, options)
    learner.learn_many(X, y)
    certificate = learner.certificate(X, y)
    assert certificate.holds
    assert reason in guaranteed(certificate, FIXED).reason
    assert not math.isfinite(guaranteed(certificate, FIXED).guaranteed)
    assert guaranteed(certificate, REGRET).applicable


def test_other_rows_than_those_that_were_learned_have_no_fixed_bound():
    X, y = stream("two", 80)
    learner = learner_of("two", {"C": "auto"})
    learner.learn_many(X, y)
    assert "it must be the whole stream" in guaranteed(learner.certificate(X[:40], y[:40]), FIXED).reason
    assert "run again" in guaranteed(learner.certificate(X[::-1], y[::-1]), FIXED).reason
    weighted = learner_of("two", {"C": "auto"})
    weighted.learn_many(X, y, sample_weight=np.where(np.arange(80) % 2, 1.0, 0.1))
    assert "without weights" in guaranteed(weighted.certificate(X, y), FIXED).reason


def test_the_certificate_of_one_learner_needs_the_rows():
    X, y = stream("two", 20)
    learner = learner_of("two", {"step": "pa1"})
    learner.learn_many(X, y)
    with pytest.raises(TypeError, match="certificate needs the rows that were learned, X and y"):
        learner.certificate()


# --- how it is said --------------------------------------------------------------------------------------------------


def test_the_sentence_has_the_numbers():
    X, y = stream("two", 300, noise=0.5)
    model = hinge.PAClassifier(C="auto").partial_fit(X, y, classes=["a", "b"])
    certificate = model.certificate()
    r, best = certificate.vote, certificate.best
    assert str(certificate) == (
        f"Guaranteed: at most {math.ceil(best.guaranteed)} expected mistakes, because {best.name}, one of "
        f"{len(model.experts_)} experts, had {best.loss:.0f}; observed: {r.expected_loss:.6g}. "
        f"The vote had {r.loss:.0f} mistakes, of at most {math.ceil(r.loss_of_all + 2 * r.telling_loss)}."
    )
    learner = model._fitted()
    assert f"Guaranteed: {open_bound(learner)}." == str(certificate)
    record = json.loads(json.dumps(certificate.record))
    assert record["sentence"] == str(certificate)
    assert len(record["experts"]) == len(model.experts_)
    assert record["vote"]["expected_loss"] == r.expected_loss


def test_a_bound_above_the_number_of_examples_is_called_so():
    learner = learner_of("two", {"experts": "auto"})
    learner.learn_one({"x": 1.0}, "a")
    assert str(learner.certificate()).endswith("There are 1 examples: it says nothing here.")


def test_a_saved_committee_has_the_same_certificate(tmp_path):
    X, y = stream("regression", 100)
    learner = learner_of("regression", {"experts": "auto"})
    learner.learn_many(X, y)
    learner.save(tmp_path / "model")
    assert hinge.load(tmp_path / "model").certificate() == learner.certificate()


# --- leaders ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["auto", "words", "lattice", "averages"])
@pytest.mark.parametrize("task", TASKS)
def test_every_expert_has_the_statistics_and_the_certificate_of_the_plain_learner_that_it_is(task, kind):
    """The averaged ones and those of AROW, too: the statistics are those since the start of the stream."""
    X, y = stream(task, 150)
    learner = learner_of(task, KINDS[kind])
    learner.learn_many(X, y)
    for place, expert in enumerate(learner.experts):
        alone = plain_learner(learner, place)
        if expert.scaled and "scaling" not in alone.parameters:
            continue
        again = hinge.Learner(alone.task, **alone.parameters)
        again.learn_many(X, y)
        its, same = alone.statistics, again.statistics
        assert (its.rounds, its.mistakes, its.updates) == (same.rounds, same.mistakes, same.updates), (
            expert.name
        )
        for name in ("loss", "squared_loss", "progress", "largest_q", "cost"):
            if name != "largest_q" or expert.kind != "arow":
                assert getattr(its, name) == pytest.approx(getattr(same, name), rel=1e-9), (expert.name, name)
        certificate = alone.certificate(X, y)
        assert certificate.reason == "", expert.name
        assert certificate.holds, [str(one) for one in certificate.guarantees]
        assert certificate.averaged == expert.averaged
        if its.mistakes and not expert.averaged and expert.name != "lattice:top":
            assert certificate.applicable, expert.name


def test_a_leader_has_its_own_certificate():
    X, y = stream("two", 200)
    model = hinge.PAClassifier(C="auto").partial_fit(X, y, classes=["a", "b"])
    leader = model.leader()
    certificate = leader.certificate(X, y)
    assert certificate.holds
    assert certificate.applicable
    assert leader.stats_.mistakes == max(model.experts_, key=lambda expert: expert.weight).loss


# --- on the command line ---------------------------------------------------------------------------------------------


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    X, y = stream("regression", 100)
    dump_svmlight_file(X, y, "numbers.svm", zero_based=False)
    return called(capfd, monkeypatch)


def test_the_command_line_has_the_certificate_of_a_committee(run):
    """It was observed: the data are not read again."""
    made = run(
        "learn",
        "numbers.svm",
        "--task",
        "regression",
        "--C",
        "auto",
        "--certificate",
        "--json",
        "-m",
        "model",
    )
    [event] = [record for record in made.records if record["event"] == "certificate"]
    certificate = hinge.load("model").certificate()
    assert event["sentence"] == str(certificate)
    assert {one["theorem"] for one in event["guarantees"]} == {REGRET, DELTA, VOTE, BEST}
    assert str(certificate).removeprefix("Guaranteed: at most ")[:20] in run("inspect", "model").out.replace(
        "\n", " "
    )


def test_compare_shows_the_guarantee_of_a_committee(run):
    rows = run("compare", "numbers.svm", "pa2", "pa1:C=auto", "--task", "regression", "--json").records
    found = {row["name"]: row for row in rows if row["event"] == "certificate"}
    assert found["pa1:C=auto"]["holds"]
    assert found["pa1:C=auto"]["vote"]["weight"] == 100
    assert {one["theorem"] for one in found["pa2"]["guarantees"]} >= {"J06 Theorem 5 (N03 Theorem 3)"}
    assert (
        "T1.2 (committee)" in run("compare", "numbers.svm", "pa2", "pa1:C=auto", "--task", "regression").out
    )
