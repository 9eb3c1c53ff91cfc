"""AutoClassifier, AutoRegressor, AutoOrdinal, AutoMultilabel: committees as estimators, in streams and in `fit`."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score, train_test_split

import hinge
from hinge import (
    AutoClassifier,
    AutoMultilabel,
    AutoOrdinal,
    AutoRegressor,
    InputError,
    PAClassifier,
    PAMultilabel,
    PAOrdinal,
    PARegressor,
)
from hinge.model import experts

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(240, 6)) * [1.0, 100.0, 0.01, 1.0, 1.0, 1.0]
LATENT = X[:, 0] + X[:, 1] / 100 + 100 * X[:, 2] + RANDOM.normal(size=240) / 4
NAMES = [f"f{j}" for j in range(6)]


@dataclass(frozen=True)
class Kind:
    auto: Callable[..., Any]
    plain: type
    y: Any
    classes: Any  # for a first partial_fit

    def __repr__(self) -> str:
        return self.plain.__name__.replace("PA", "Auto")

    def partial_fit(self, model: Any, X: Any, y: Any) -> Any:
        return model.partial_fit(X, y, **({} if self.classes is None else {"classes": self.classes}))


def _sets(row: Any) -> set[str]:
    return {name for name, column in zip("abc", (0, 3, 4), strict=True) if row[column] > 0}


GRADES = np.digitize(LATENT, [-1.0, 1.0])
KINDS = [
    Kind(AutoClassifier, PAClassifier, np.where(LATENT > 0, "yes", "no"), ["no", "yes"]),
    Kind(
        AutoClassifier, PAClassifier, np.array(["low", "middle", "high"])[GRADES], ["high", "low", "middle"]
    ),
    Kind(AutoRegressor, PARegressor, 50 * LATENT, None),
    Kind(lambda **o: AutoOrdinal(**{"classes": [0, 1, 2], **o}), PAOrdinal, GRADES, [0, 1, 2]),
    Kind(AutoMultilabel, PAMultilabel, [_sets(row) for row in X], ["a", "b", "c"]),
]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=repr)


def events(rows: Any) -> list[dict[str, float]]:
    return [dict(zip(NAMES, row, strict=True)) for row in rows.tolist()]


def streamed(kind: Kind, some: slice = slice(None)) -> Any:
    model = kind.auto()
    for x, y in zip(events(X[some]), kind.y[some], strict=True):
        model.learn_one(x, y if isinstance(y, set) else y.item())
    return model


def state(model: Any) -> bytes:
    """All bits of what has been learned."""
    learned: bytes = model._learner.to_bytes()
    return learned


# ---- streams --------------------------------------------------------------------------------------------------------


@every_kind
def test_dicts_lists_frames_and_batches_learn_the_same(kind: Kind) -> None:
    one_by_one = streamed(kind)
    at_once = kind.auto().learn_many(events(X), kind.y)
    of_frame = kind.auto().learn_many(pd.DataFrame(X, columns=NAMES), kind.y)
    assert state(one_by_one) == state(at_once) == state(of_frame)
    predicted = [one_by_one.predict_one(x) for x in events(X[:20])]
    assert predicted == [at_once.predict_one(x) for x in events(X[:20])]


@every_kind
def test_dense_and_sparse_rows_learn_the_same(kind: Kind) -> None:
    dense, sparse = (
        kind.partial_fit(kind.auto(), X, kind.y),
        kind.partial_fit(kind.auto(), csr_matrix(X), kind.y),
    )
    assert state(dense) == state(sparse)
    np.testing.assert_array_equal(dense.predict(X), sparse.predict(csr_matrix(X)))


@every_kind
def test_a_committee_is_the_learner_with_these_experts(kind: Kind) -> None:
    model = streamed(kind)
    task = model._task
    selection = {"selection": "simproj"} if task == "ordinal" else {}
    classes = {"classes": [0, 1, 2]} if task == "ordinal" else {}
    learner = hinge.Learner(task, experts="auto", **selection, **classes)
    learner.learn_many(events(X), kind.y)
    assert model._learner.to_bytes() == learner.to_bytes()


@every_kind
def test_experts_are_shown_with_weights_and_errors(kind: Kind) -> None:
    model = streamed(kind)
    assert [each.name for each in model.experts_] == experts.DEFAULT[model._task].split()
    assert sum(each.weight for each in model.experts_) == pytest.approx(1)
    assert model.stats_.rounds == len(X)
    shown = repr(model.experts_).splitlines()
    assert len(shown) == 1 + len(model.experts_)
    assert shown[1].split()[0] == max(model.experts_, key=lambda each: each.weight).name


def test_labels_may_appear_in_mid_stream() -> None:
    model = AutoClassifier().learn_many(events(X[:100]), np.where(LATENT[:100] > 0, "yes", "no"))
    model.learn_one({"f0": 1.0, "new": 5.0}, "other")
    assert (
        model.classes_.tolist() == [*np.where(LATENT[:2] > 0, "yes", "no"), "other"]
        or len(model.classes_) == 3
    )
    for _ in range(5):
        model.learn_one({"new": 5.0}, "other")
    assert model.predict_one({"new": 5.0}) == "other"
    sets = AutoMultilabel().learn_many(events(X[:100]), KINDS[-1].y[:100])
    for _ in range(20):
        sets.learn_one({"new": 5.0}, {"other"})
    assert "other" in sets.predict_one({"new": 5.0})


@every_kind
@pytest.mark.parametrize(
    "bad", [{"f0": float("nan")}, {"f0": "text" * 3, "f1": [1]}, {"f1": float("inf")}], ids=str
)
def test_invalid_events_leave_no_trace(kind: Kind, bad: dict[str, Any]) -> None:
    model = streamed(kind, slice(100))
    before = state(model)
    y = kind.y[0] if isinstance(kind.y[0], set) else kind.y[0].item()
    with pytest.raises(InputError):
        model.learn_one(bad, y)
    with pytest.raises(InputError):
        model.learn_many([*events(X[100:110]), bad], [*kind.y[100:110], kind.y[0]])
    assert state(model) == before


@every_kind
def test_an_invalid_fit_leaves_the_old_model(kind: Kind) -> None:
    model = kind.auto(random_state=0).fit(X, kind.y)
    before = state(model)
    bad = X.copy()
    bad[100, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        model.fit(bad, kind.y)
    assert state(model) == before


# ---- saved ----------------------------------------------------------------------------------------------------------


@every_kind
@pytest.mark.parametrize("how", ["stream", "fit"])
def test_saved_and_pickled_models_resume_with_the_same_bits(kind: Kind, how: str, tmp_path: Path) -> None:
    model = (
        streamed(kind, slice(150))
        if how == "stream"
        else kind.auto(random_state=0).fit(X[:150], kind.y[:150])
    )
    model.save(tmp_path / "model")
    copies = [hinge.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))]
    more = (events(X[150:]), kind.y[150:]) if how == "stream" else (X[150:], kind.y[150:])
    learn = "learn_many" if how == "stream" else "partial_fit"
    getattr(model, learn)(*more)
    for copy in copies:
        assert type(copy) is type(model)
        assert copy.get_params() == model.get_params()
        getattr(copy, learn)(*more)
        assert state(copy) == state(model)
        assert repr(copy.experts_) == repr(model.experts_)


@every_kind
def test_clones_have_the_options_and_no_model(kind: Kind) -> None:
    model = kind.auto(random_state=3, experts=["pa1:0", "arow:0:average"]).fit(X, kind.y)
    twin = clone(model)
    assert twin.get_params() == model.get_params()
    assert not hasattr(twin, "n_features_in_")
    assert state(twin.fit(X, kind.y)) == state(model)


# ---- the leader ------------------------------------------------------------------------------------------------------


@every_kind
def test_the_leader_is_a_plain_learner_that_continues_by_itself(kind: Kind) -> None:
    model = streamed(kind, slice(150))
    leading = max(model.experts_, key=lambda each: each.weight)
    leader = model.leader()
    assert type(leader) is kind.plain
    before = model._learner.to_bytes()
    assert leader.stats_ == leading.statistics
    leader.learn_many(events(X[150:]), kind.y[150:])
    assert model._learner.to_bytes() == before
    model.learn_many(events(X[150:]), kind.y[150:])
    now = next(each for each in model.experts_ if each.name == leading.name)
    assert leader.stats_.rounds == now.statistics.rounds
    assert leader.stats_.updates == now.statistics.updates
    assert leader.stats_.loss == pytest.approx(now.statistics.loss, rel=1e-9)


@pytest.mark.parametrize(
    "word", ["pa1:-1", "pa1:0:average", "arow:0", "scaled:pa1:0", "scaled:arow:0:average"]
)
@every_kind
def test_a_leader_predicts_as_its_expert_in_the_committee(kind: Kind, word: str) -> None:
    model = kind.auto(experts=[word], random_state=0).fit(X, kind.y)  # a single expert has all votes
    leader = model.leader()
    if isinstance(leader, PARegressor):
        np.testing.assert_allclose(leader.predict(X), model.predict(X), rtol=1e-9)
    else:
        np.testing.assert_array_equal(leader.predict(X), model.predict(X))
    np.testing.assert_allclose(leader.coef_, model.coef_, rtol=1e-9)


def test_the_leader_of_several_C_has_one_C() -> None:
    leader = PAClassifier(C="auto").learn_many(events(X), KINDS[0].y).leader()
    assert isinstance(leader.C, float)
    assert leader.learn_one(events(X)[0], "yes").stats_.rounds == len(X) + 1


# ---- fit ------------------------------------------------------------------------------------------------------------


@every_kind
def test_fit_keeps_the_experts_with_large_weights(kind: Kind) -> None:
    model = kind.auto(random_state=0).fit(X, kind.y)
    weights = [each.weight for each in model.experts_]
    assert 1 <= len(weights) <= 8
    assert {each.name for each in model.experts_} <= set(experts.FIT.split())
    assert min(weights) >= 0.1 * max(weights)
    assert sum(weights) == pytest.approx(1)
    assert model.n_iter_ <= 20


@every_kind
def test_fit_keeps_given_experts(kind: Kind) -> None:
    words = ["pa1:-3", "pa1:0:average", "scaled:arow:0", "arow:1"]
    model = kind.auto(experts=words, random_state=0).fit(X, kind.y)
    assert sorted(each.name for each in model.experts_) == sorted(words)


@every_kind
def test_fit_is_reproducible(kind: Kind) -> None:
    models = [kind.auto(random_state=seed).fit(X, kind.y) for seed in (0, 0, 1)]
    assert state(models[0]) == state(models[1]) != state(models[2])


@every_kind
def test_one_pass_in_order_is_the_stream(kind: Kind) -> None:
    fitted = kind.auto(max_iter=1, shuffle=False).fit(X, kind.y)
    assert repr(fitted.experts_) == repr(kind.partial_fit(kind.auto(), X, kind.y).experts_)


@every_kind
def test_the_vote_learns_again_after_fit(kind: Kind) -> None:
    model = kind.auto(random_state=0).fit(X, kind.y)
    before = repr(model.experts_)
    model.partial_fit(X, kind.y)
    assert repr(model.experts_) != before


def test_the_vote_of_fit_counts_each_row_once() -> None:
    """Cross-validation: each row is judged by a committee that has not seen it."""
    model = AutoClassifier(random_state=0).fit(X, KINDS[0].y)
    assert model._learner._engine.vote_weight() == len(X)
    big = (
        np.repeat(X, 12, axis=0)
        + np.random.default_rng(1).normal(size=(12 * len(X), 6)) * X.std(axis=0) / 100
    )
    model.fit(big, np.repeat(KINDS[0].y, 12))
    assert model._learner._engine.vote_weight() == len(big) // 5


def test_a_noisy_row_does_not_make_its_memoriser_lead() -> None:
    """After many passes an expert with a large C has learned noise by heart. Cross-validation is not misled by that."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(400, 200))
    y = rows[:, 0] > 0
    y ^= random.random(400) < 0.2
    model = AutoClassifier(experts=["pa", "pa1:-3:average"], random_state=0).fit(rows, y)
    weights = {each.name: each.weight for each in model.experts_}
    assert weights["pa1:-3:average"] > weights["pa"]


def test_the_lattice_votes_as_in_the_first_pass() -> None:
    model = PAClassifier(C="auto", average=False, random_state=0, max_iter=5, tol=None).fit(X, KINDS[0].y)
    assert model._learner._engine.vote_weight() == len(X)
    assert model.stats_.rounds == 5 * len(X)


def test_fit_on_tables_is_as_good_as_its_peers() -> None:
    for load, auto, peer in (
        (load_breast_cancer, AutoClassifier, LogisticRegression(max_iter=5000)),
        (load_digits, AutoClassifier, LogisticRegression(max_iter=5000)),
        (load_diabetes, AutoRegressor, Ridge()),
    ):
        rows, y = load(return_X_y=True)
        some, others, y_some, y_others = train_test_split(rows, y, random_state=0)
        mine = auto(random_state=0).fit(some, y_some).score(others, y_others)
        assert mine > peer.fit(some, y_some).score(others, y_others) - 0.02, load.__name__


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_fit_of_few_rows(count: int) -> None:
    assert AutoRegressor(random_state=0).fit(X[:count], LATENT[:count]).predict(X[:2]).shape == (2,)
    if count > 1:
        y = np.arange(count) % 2
        assert set(AutoClassifier(random_state=0).fit(X[:count], y).predict(X)) <= {0, 1}


def test_weights_of_examples_and_classes_count() -> None:
    y = LATENT + 1.5 * np.random.default_rng(3).normal(size=len(X)) > 0
    plain, heavy = (AutoClassifier(class_weight=w, random_state=0).fit(X, y) for w in (None, {True: 20.0}))
    assert heavy.predict(X).mean() > plain.predict(X).mean()
    weights = np.where(np.arange(len(X)) < 120, 1.0, 0.0)
    half = AutoClassifier(random_state=0).fit(X, y, sample_weight=weights)
    assert half._learner._engine.vote_weight() == 120


def test_cross_validation_of_scikit_learn() -> None:
    assert cross_val_score(AutoClassifier(random_state=0), X, KINDS[0].y, cv=3).mean() > 0.85


# ---- options --------------------------------------------------------------------------------------------------------


def test_experts_must_be_given() -> None:
    with pytest.raises(ValueError, match="for one learner use the PA estimators"):
        AutoClassifier(experts=None).fit(X, KINDS[0].y)
    with pytest.raises(ValueError, match="experts must be"):
        AutoClassifier(experts=["pa3:0"]).learn_one({"a": 1.0}, "x")


def test_options_of_one_learner_are_unknown() -> None:
    with pytest.raises(TypeError, match="C"):
        AutoClassifier(C=1.0)


@every_kind
def test_experts_cannot_change_once_learning_has_begun(kind: Kind) -> None:
    model = streamed(kind, slice(50))
    model.set_params(experts=["pa1:0"])
    with pytest.raises(ValueError, match="experts cannot change"):
        model.learn_many(events(X[50:60]), kind.y[50:60])


# ---- what `fit` decides for plain learners ---------------------------------------------------------------------------


def test_fit_averages_and_scales_tables_and_streams_do_not() -> None:
    y = KINDS[0].y
    model = PAClassifier(random_state=0).fit(X, y)
    assert (model._learner.parameters["average"], model._learner.parameters["scaling"]) == (True, "online")
    assert (model.average, model.scaling) == ("auto", "auto")
    sparse = PAClassifier(random_state=0).fit(csr_matrix(X), y)
    assert (sparse._learner.parameters["average"], sparse._learner.parameters["scaling"]) == (True, None)
    for stream in (
        PAClassifier().learn_many(events(X), y),
        PAClassifier().partial_fit(X, y, classes=["no", "yes"]),
        PAClassifier(max_iter=1).fit(X, y),
        PAClassifier(kernel="rbf").fit(X, y),
        PAClassifier(step="pa", batch_tolerance=0.5, max_updates=100).fit(X, y),
    ):
        assert not stream._learner.parameters["average"]
        assert stream._learner.parameters["scaling"] is None


def test_what_was_decided_is_saved_and_decided_anew(tmp_path: Path) -> None:
    y = KINDS[0].y
    model = PAClassifier(random_state=0).fit(X, y)
    model.save(tmp_path / "model")
    copy = hinge.load(tmp_path / "model")
    assert copy.get_params() == model.get_params()
    np.testing.assert_array_equal(copy.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)
    assert copy.fit(csr_matrix(X), y)._learner.parameters["scaling"] is None
    fresh = clone(copy).learn_many(events(X), y)
    assert state(fresh) == state(PAClassifier().learn_many(events(X), y))


def test_auto_is_for_the_estimators_of_rows() -> None:
    with pytest.raises(ValueError, match="average='auto' is for"):
        hinge.PASequence(average="auto").fit([[["a"]]], [["x"]])
    assert not hinge.Learner("classification", average="auto", scaling="auto").parameters["average"]
