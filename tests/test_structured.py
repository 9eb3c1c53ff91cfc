"""PAStructured: against a twin in NumPy, as other learners do it, and the usual promises."""

from __future__ import annotations

import copy
import inspect
import pickle
import threading
import traceback
from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import hinge
from hinge import Learner, ModelFileError, PAClassifier, PAStructured, model_file, parameters
from hinge.structured import NamedWeights
from reference import TINY, Statistics, step_length
from reference_geometries import Covariance

STEPS = {
    "prediction": ("pa", "pa1", "pa2", "perceptron"),
    "max": ("pa", "pa1", "pa2"),
    "max-additive": ("pa", "pa1", "pa2"),
}
SELECTIONS = [(selection, step) for selection, steps in STEPS.items() for step in steps]
GEOMETRIES = [
    {},
    {"geometry": "mahalanobis", "covariance_regularizer": 0.7, "initial_variance": 2.0},
    {"geometry": "diagonal", "covariance_regularizer": 0.7},
    {"geometry": "diagonal", "covariance_update": "drop"},
]
KINDS = ("dict", "array", "sparse")
COST = np.array(
    [[0, 1, 4, 0.25], [2, 0, 1, 1], [1, 0, 0, 9], [0.5, 1, 2, 0]], dtype=float
)  # 1 is as good as 2


# ---- a problem: x has the features of each of its outputs, which are 0, 1, 2, ... -----------------------------------


def named(value):
    """A case by its options, without the addresses of functions, which differ between the workers."""
    if isinstance(value, dict):
        return ",".join(f"{k}={'function' if callable(v) else v}" for k, v in value.items())
    return str(value)


class Outputs:
    """The functions of the problem; instances can be pickled."""

    def __init__(self, kind="dict", selection="prediction", margin=1.0, cost=COST):
        self.kind, self.selection, self.margin, self.costs = kind, selection, margin, cost

    def joint_features(self, x, y):
        if self.kind == "array":
            return x[y]
        if self.kind == "sparse":
            return scipy.sparse.csr_array(x[[y]])
        return {f"f{j}": value for j, value in enumerate(x[y].tolist())}

    def scores(self, w, x):
        if self.kind != "dict":
            return x @ w
        return np.array([w.dot(self.joint_features(x, y)) for y in range(len(x))])

    def argmax(self, w, x):
        return int(np.argmax(self.scores(w, x)))

    def cost(self, y, predicted):
        return self.costs[y, predicted]

    def loss_augmented_argmax(self, w, x, y):
        cost = self.costs[y, : len(x)]
        wanted = cost if self.selection == "max-additive" else np.sqrt(cost)
        return int(np.argmax(self.scores(w, x) + self.margin * wanted))

    def model(self, **options):
        if self.selection != "prediction":
            options = {"loss_augmented_argmax": self.loss_augmented_argmax, **options}
        return PAStructured(
            self.joint_features,
            self.argmax,
            self.cost,
            selection=self.selection,
            margin=self.margin,
            **options,
        )


def stream(count, seed=0, n=5, k=4):
    """Outputs that a hidden w has chosen, some of them wrong."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)
    X = rng.integers(-8, 9, size=(count, k, n)) / 4 * (rng.random((count, k, n)) < 0.7)
    y = (X @ u).argmax(axis=1)
    y[rng.random(count) < 0.1] = 0
    return list(X), y.tolist(), rng.choice([0.0, 0.5, 1.0, 2.0], size=count)


def parts(model):
    return model_file.to_bytes(*model.to_parts())


def play(model, X, y, weights=None):
    for i, (x, output) in enumerate(zip(X, y, strict=True)):
        model.learn_one(x, output, 1.0 if weights is None else weights[i])
    return model


# ---- the twin ---------------------------------------------------------------------------------------------------


@dataclass
class Twin:
    """S10 and S11, with all outputs looked at. S is kept by its inverse."""

    n: int
    step: str
    selection: str
    C: float = 1.0
    margin: float = 1.0
    geometry: str = "euclidean"
    covariance_regularizer: float = 1.0
    initial_variance: float = 1.0
    covariance_update: str = "precision"
    copies: list = field(default_factory=list)
    statistics: Statistics = field(default_factory=Statistics)
    cost: float = 0.0

    def __post_init__(self):
        self.w = np.zeros(self.n)
        self.S = Covariance(self.n, self.geometry, self.covariance_update, self.initial_variance)

    def learn(self, Phi, y, weight):
        if weight == 0:
            return
        scores, cost = Phi @ self.w, COST[y, : len(Phi)]
        wanted = self.margin * (cost if self.selection == "max-additive" else np.sqrt(cost))
        predicted = np.argmax(scores)
        competitor = predicted if self.selection == "prediction" else np.argmax(scores + wanted)
        a = Phi[y] - Phi[competitor]
        loss = max(0.0, wanted[competitor] - self.w @ a)
        q = self.S.of(a)
        tau = step_length(self.step, loss, q, self.C, weight, loss > 0)
        if self.step == "perceptron" and self.geometry != "euclidean":
            tau = loss / (q + self.covariance_regularizer / weight) if q > TINY else 0.0
        s = self.statistics
        s.rounds += 1
        s.mistakes += cost[predicted] > 0
        s.updates += bool(tau > 0)
        s.loss += loss
        s.squared_loss += loss**2
        s.largest_q = max(s.largest_q, q if tau > 0 or self.geometry == "euclidean" else 0.0)
        s.progress += tau * (2 * loss - tau * q)
        self.cost += cost[predicted]
        self.copies.append(self.w)
        if tau > 0:
            self.w = self.w + tau * self.S.matrix @ a
            if self.geometry != "euclidean":
                self.S.add(a, weight / self.covariance_regularizer)

    @property
    def average(self):
        return np.mean(self.copies, axis=0) if self.copies else self.w


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=lambda g: "-".join(map(str, g.values())) or "euclidean")
@pytest.mark.parametrize(("selection", "step"), SELECTIONS)
def test_twin(selection, step, geometry, kind):
    for average, C, margin in [(False, 0.05, 0.5), (True, 0.7, 1.0)]:
        options = {"C": C, **geometry}
        X, y, weights = stream(50)
        twin = Twin(5, step, selection, margin=margin, **options)
        ours = Outputs(kind, selection, margin).model(step=step, average=average, **options)
        for x, output, weight in zip(X, y, weights, strict=True):
            ours.learn_one(x, output, weight)
            twin.learn(x, output, weight)
            if not twin.copies:
                continue
            named = ours.named_weights()
            w = [named.get(f"f{j}", 0.0) if kind == "dict" else named[j] for j in range(5)]
            np.testing.assert_allclose(w, twin.average if average else twin.w, rtol=1e-9, atol=1e-12)
        s, t = ours.stats_, twin.statistics
        assert (s.rounds, s.mistakes, s.updates) == (t.rounds, t.mistakes, t.updates)
        assert s.updates > 0
        np.testing.assert_allclose(
            [s.loss, s.squared_loss, s.largest_q, s.progress, s.cost],
            [t.loss, t.squared_loss, t.largest_q, t.progress, twin.cost],
            rtol=1e-9,
        )
        if geometry and kind != "dict":
            diagonal = geometry["geometry"] == "diagonal"
            S = twin.S.variances if diagonal else twin.S.matrix
            np.testing.assert_allclose(ours.covariance_, S, rtol=1e-8, atol=1e-12)
            np.testing.assert_allclose(ours.confidence_one(x, 2), twin.S.of(x[2]), rtol=1e-8)
            np.testing.assert_allclose(
                ours.confidence(X, y), [twin.S.of(x[z]) for x, z in zip(X, y, strict=True)]
            )


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("selection", ["prediction", "max"])
def test_classes_with_costs_are_a_special_case(selection, step):
    """Phi(x, r) is x in block r: the same as PAClassifier with a cost."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 6))
    y = (X[:, :4] + 0.5 * rng.normal(size=(200, 4))).argmax(axis=1)
    theirs = PAClassifier(
        C=0.3, step=step, cost=COST, selection=selection, classes=[0, 1, 2, 3], fit_intercept=False
    )
    theirs.partial_fit(X, y)
    ours = Outputs("array", selection).model(C=0.3, step=step)
    ours.learn_many([np.kron(np.eye(4), x) for x in X], y)
    np.testing.assert_allclose(ours.coef_.reshape(4, 6), theirs.coef_, rtol=1e-9, atol=1e-12)
    assert ours.stats_.updates == theirs.stats_.updates
    assert ours.stats_.cost == theirs.stats_.cost > 0
    assert ours.predict([np.kron(np.eye(4), x) for x in X]) == theirs.predict(X).tolist()


def test_the_core_learns_constraints_from_anything():
    """`Learner("structured")`, which is below: rows, dicts, files; and no intercept anywhere."""
    X, wanted = np.array([[1.0, -2.0], [0.5, 0.0]]), [1.0, 2.0]
    rows, sparse, events = (Learner("structured", geometry="diagonal", C=0.1) for _ in range(3))
    rows.learn(X, wanted)
    sparse.learn(scipy.sparse.csr_array(X), wanted)
    events.learn_many([{"a": 1.0, "b": -2.0}, {"a": 0.5}], wanted)
    assert rows.weights.tolist() == sparse.weights.tolist() == events.weights.tolist()
    assert rows.weights[0] > 0 > rows.weights[1]
    assert len(rows.covariance) == 2
    assert [part.feature for part in events.explain_one({"a": 1.0})] == ["a"]
    with pytest.raises(ValueError, match="y must hold numbers"):
        rows.learn(X, ["a", "b"])


# ---- the round, looked at closely -------------------------------------------------------------------------------


def test_what_the_functions_are_given():
    """w as it is now while learning, the average while predicting; it is not copied while nothing changes."""
    calls = []
    problem = Outputs("array", "max")

    def argmax(w, x):
        calls.append(("argmax", w))
        return problem.argmax(w, x)

    def augmented(w, x, y):
        calls.append(("augmented", w))
        return problem.loss_augmented_argmax(w, x, y)

    X, y, _ = stream(30)
    twin = Twin(5, "pa1", "max")
    model = problem.model(average=True, loss_augmented_argmax=augmented).set_params(argmax=argmax)
    for x, output in zip(X, y, strict=True):
        model.learn_one(x, output)
        np.testing.assert_allclose(calls[0][1], twin.w, rtol=1e-9, atol=1e-12)
        assert [name for name, _ in calls] == ["argmax", "augmented"]
        assert calls[0][1] is calls[1][1]
        twin.learn(x, output, 1.0)
        calls.clear()
    model.predict(X[:3])
    model.predict_one(X[0])
    assert len({id(w) for _, w in calls}) == 1
    np.testing.assert_allclose(calls[0][1], twin.average, rtol=1e-9)
    with pytest.raises(ValueError, match="read-only"):
        calls[0][1][0] = 1.0
    before = model.coef_.copy()
    model.learn_one(X[0], y[0])
    model.predict_one(X[0])
    assert calls[-1][1] is not calls[0][1]
    np.testing.assert_array_equal(calls[0][1], before)  # what was handed out stays what it was
    updates = model.stats_.updates
    for _ in range(3):  # a round without an update changes the average, too
        before = model.coef_
        model.learn_one(0 * X[1], 0)
        model.predict_one(X[1])
        np.testing.assert_array_equal(calls[-1][1], model.coef_)
        assert not np.array_equal(before, model.coef_)
    assert model.stats_.updates == updates


def test_w_after_a_batch_that_was_taken_back():
    """What was handed out in the middle of it is not handed out again, though as many rounds were made."""
    X, y, _ = stream(6)
    problem = Outputs("array")
    model = problem.model(average=True).learn_many(X[:3], y[:3])

    def argmax(w, x):
        if x is X[4]:
            model.predict_one(X[0])
            raise Broken
        return problem.argmax(w, x)

    model.set_params(argmax=argmax)
    with pytest.raises(Broken):
        model.learn_many(X[3:5], y[3:5])
    model.learn_one(X[5], y[5])
    seen = []
    model.set_params(argmax=lambda w, x: seen.append(w)).predict_one(X[0])
    np.testing.assert_array_equal(seen[0], model.coef_)


@pytest.mark.parametrize("options", [{}, {"hash_bits": 8}, {"average": True}], ids=str)
def test_weights_by_name(options):
    seen = []

    def joint_features(x, y):
        more = {f"n{j}": 0.5 for j in range(8)} if y == "c" else {}
        return {"bias": 1.0, "kind": y, 7: 2.0 * (y == "b"), "is": y == "a", **more}

    def argmax(w, x):
        seen.append([w["kind=a"], w.get("kind=b"), w["never"]])
        assert isinstance(w, NamedWeights)
        assert w.dot(joint_features(x, "b")) == pytest.approx(w["bias"] + w["kind=b"] + 2 * w[7])
        if "hash_bits" not in options:
            assert w.get("never", 3.0) == 3.0
            assert "never" not in w
            assert ("kind=a" in w) == (len(seen) > 1)
        with pytest.raises(TypeError):
            iter(w)
        with pytest.raises(TypeError):
            w["bias"] = 1.0
        with pytest.raises(AttributeError):
            w.more = 1.0
        with pytest.raises(ValueError, match="name of a feature"):
            w[("a", "b")]
        return "b"

    model = PAStructured(joint_features, argmax, lambda y, z: float(y != z), **options)
    model.learn_one(None, "a").learn_one(None, "a")
    assert seen[0] == [0.0, 0.0, 0.0]
    # |delta|^2 is 1 + 1 + 4 + 1: the features that both have are not among them.
    np.testing.assert_allclose(seen[1], [1 / 7, -1 / 7, 0.0])
    if "hash_bits" not in options:
        assert set(model.named_weights()) == {"kind=a", "kind=b", 7, "is"}
    assert len(model.coef_) == (256 if "hash_bits" in options else 4)
    views = []
    model.learn_one(None, "c").learn_one(None, "c").set_params(
        argmax=lambda w, x: views.append(w)
    ).predict_one(None)
    for name in (f"n{j}" for j in range(8)):  # hashed names have a sign
        assert views[0][name] == pytest.approx(views[0].dot({name: 1.0})) != 0.0


def test_an_indicator_and_a_number_of_the_same_name_add_up():
    for features in ({"a": "b", "a=b": 2.0}, {"a=b": 2.0, "a": "b"}, {"a=b": 3.0}, {"a=b": np.float32(3)}):
        model = PAStructured(lambda x, y, f=features: f if y else {}, lambda w, x: 0, lambda y, z: y != z)
        assert model.learn_one(None, 1).named_weights() == {"a=b": pytest.approx(1 / 3)}


@pytest.mark.parametrize("kind", KINDS)
def test_functions_may_use_the_same_buffer_again(kind):
    X, y, _ = stream(30)
    problem, buffer = Outputs(kind), Outputs(kind).joint_features(np.zeros((1, 5)), 0)
    if kind == "sparse":
        buffer = scipy.sparse.csr_array((np.zeros(5), np.arange(5), [0, 5]), shape=(1, 5))

    def joint_features(x, y):
        if kind == "dict":
            buffer.clear()
            buffer.update(problem.joint_features(x, y))
        elif kind == "array":
            buffer[:] = x[y]
        else:
            buffer.data[:] = x[y]
        return buffer

    expected = problem.model().learn_many(X, y)
    model = problem.model().set_params(joint_features=joint_features).learn_many(X, y)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)


def test_rounds_that_are_right_are_rounds():
    X, y, _ = stream(40)
    for kind in KINDS:
        model = Outputs(kind).model(step="pa").fit(X[:3], y[:3])
        x = X[0]
        right = model.predict_one(x)
        before = model.stats_
        assert model.learn_one(x, right).stats_.rounds == before.rounds + 1
        assert model.stats_.updates == before.updates
        assert model.stats_.cost == before.cost


@pytest.mark.parametrize("kind", KINDS)
def test_what_rounding_leaves_is_no_direction(kind):
    """A path that adds up the same numbers in another order; step='pa' would divide by the square of what is left."""
    x = np.array([[0.1 + 0.2, 1.0, 0.0], [0.3, 1.0, 0.0], [0.3 * (1 + 1e-9), 1.0, 0.0]])
    assert x[0, 0] != x[1, 0]
    model = PAStructured(Outputs(kind).joint_features, lambda w, x: 0, lambda y, z: y != z, step="pa")
    assert model.learn_one(x, 1).stats_.updates == 0
    assert model.stats_.loss == 1.0
    assert model.learn_one(x, 2).stats_.updates == 1  # small, but not by rounding


@pytest.mark.parametrize("kind", KINDS)
def test_without_weight_nothing_is_even_looked_at(kind):
    X, y, _ = stream(10)
    model = Outputs(kind).model()
    before = dict(vars(model))
    assert vars(model.learn_one("nonsense", None, weight=0.0)) == before
    assert vars(model.learn_many(["nonsense"] * 2, [None] * 2, [0, 0])) == before
    assert vars(model.learn_many([], [])) == before
    model.set_params(average=True).learn_many(X, y)
    bytes_before = parts(model)
    model.learn_one("nonsense", None, weight=0.0).learn_many([X[0], "nonsense"], [0, None], [0.0, 0.0])
    assert parts(model) == bytes_before


def test_before_the_first_round():
    model = Outputs().model()
    calls = [
        model.predict_one,
        lambda x: model.predict([x]),
        lambda x: model.score_one(x, 0),
        lambda x: model.score([x], [0]),
        model.explain_one,
        lambda x: model.stats_,
        lambda x: model.coef_,
        lambda x: model.to_parts(),
    ]
    for call in calls:
        with pytest.raises(NotFittedError, match="not fitted"):
            call(np.eye(4))
    assert not hasattr(model, "_learner")


# ---- batches, files, copies: to the bit -------------------------------------------------------------------------


MODELS = {
    "dict": (Outputs("dict"), {}),
    "array": (Outputs("array"), {"step": "pa2"}),
    "sparse": (Outputs("sparse", "max"), {}),
    "average": (Outputs("dict", "max-additive", 0.5), {"average": True, "C": 0.1}),
    "late": (Outputs("array"), {"average": 30}),
    "float32": (Outputs("array"), {"dtype": "float32", "average": True}),
    "hashed": (Outputs("dict"), {"hash_bits": 6}),
    "diagonal": (Outputs("dict"), {"geometry": "diagonal", "average": True}),
    "mahalanobis": (Outputs("sparse", "max"), {"geometry": "mahalanobis"}),
    "perceptron": (Outputs("dict"), {"step": "perceptron"}),
}
models = pytest.mark.parametrize(("problem", "options"), MODELS.values(), ids=MODELS)


@models
def test_a_batch_is_its_events_and_a_file_goes_on(problem, options, tmp_path):
    X, y, weights = stream(90)
    one_by_one = play(problem.model(**options), X, y, weights)
    batches = problem.model(**options)
    for rows, learn in [
        (slice(0, 1), "learn_many"),
        (slice(1, 40), "partial_fit"),
        (slice(40, 90), "learn_many"),
    ]:
        getattr(batches, learn)(X[rows], np.array(y[rows]), weights[rows])
    assert parts(batches) == parts(one_by_one)
    fitted = problem.model(max_iter=1, shuffle=False, **options).fit(X, y, weights)
    assert fitted.stats_ == one_by_one.stats_
    np.testing.assert_array_equal(fitted.coef_, one_by_one.coef_)

    stopped = play(problem.model(**options), X[:50], y[:50], weights[:50])
    stopped.save(tmp_path / "model")
    functions = [problem.joint_features, problem.argmax, problem.cost]
    if problem.selection != "prediction":
        functions.append(problem.loss_augmented_argmax)
    for again in (
        PAStructured.load(tmp_path / "model", *functions),
        pickle.loads(pickle.dumps(stopped)),
        copy.deepcopy(stopped),
    ):
        assert type(again) is PAStructured
        assert parts(again) == parts(stopped)
        play(again, X[50:], y[50:], weights[50:])
        assert parts(again) == parts(one_by_one)
        assert again.predict(X) == one_by_one.predict(X)
    assert again.score(X, y) == one_by_one.score(X, y) < 0


@models
def test_prediction_changes_nothing(problem, options):
    X, y, weights = stream(60)
    model = problem.model(**options).fit(X, y)
    before = parts(model)
    predicted = model.predict(X)
    assert predicted == [model.predict_one(x) for x in X]
    scores = np.array([[model.score_one(x, z) for z in range(4)] for x in X])
    assert predicted == scores.argmax(axis=1).tolist()
    costs = COST[y, predicted]
    assert model.score(X, y) == pytest.approx(-costs.mean())
    assert model.score(X, y, weights) == pytest.approx(-np.average(costs, weights=weights))
    for output in (None, 2):
        explained = model.explain_one(X[1], output)
        score = scores[1].max() if output is None else scores[1, output]
        assert sum(part.contribution for part in explained) == pytest.approx(score, rel=1e-5)
        sizes = [abs(part.contribution) for part in explained]
        assert sizes == sorted(sizes, reverse=True)
        assert len(explained) == np.count_nonzero(X[1][predicted[1] if output is None else output])
    assert parts(model) == before


def test_a_perfect_score_is_zero():
    X, y, _ = stream(10)
    model = Outputs("array").model().fit(X, y)
    assert str(model.score(X, model.predict(X))) == "0.0"


def test_copies_of_functions_that_cannot_be_pickled():
    model = PAStructured(lambda x, y: x[y], lambda w, x: int(np.argmax(x @ w)), lambda y, z: y != z)
    X, y, _ = stream(20)
    model.fit(X, y)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(model)
    again = clone(model)
    assert again.joint_features is model.joint_features
    assert parts(again.fit(X, y)) != b""
    assert parts(copy.deepcopy(model)) == parts(model)


def test_code_of_ones_own_is_wanted_again(tmp_path):
    X, y, _ = stream(20)
    problem = Outputs("array", "max")
    functions = [problem.joint_features, problem.argmax, problem.cost]
    problem.model().fit(X, y).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"PAStructured.load\(path, joint_features="):
        hinge.load(tmp_path / "model")
    with pytest.raises(ModelFileError, match="selection='max' needs loss_augmented_argmax"):
        PAStructured.load(tmp_path / "model", *functions)
    with pytest.raises(ModelFileError, match="argmax must be a function"):
        PAStructured.load(tmp_path / "model", problem.joint_features, None, problem.cost)
    again = PAStructured.load(
        tmp_path / "model", *functions, loss_augmented_argmax=problem.loss_augmented_argmax
    )
    assert again.n_iter_ > 0
    PAClassifier().fit(np.eye(2), [0, 1]).save(tmp_path / "classifier")
    with pytest.raises(ModelFileError, match="it is a PAClassifier"):
        PAStructured.load(tmp_path / "classifier", *functions)
    header, tensors = again.to_parts()
    for learner in ({"features": "list"}, {"features": None}, {"task": "regression"}, {"parameters": 3}):
        absurd = {**header, "learner": {**header["learner"], **learner}}
        (tmp_path / "absurd").write_bytes(model_file.to_bytes(absurd, tensors))
        with pytest.raises(ModelFileError):
            PAStructured.load(tmp_path / "absurd", *functions, problem.loss_augmented_argmax)


# ---- passes, and scikit-learn's ways ----------------------------------------------------------------------------


def test_passes(capsys):
    X, y, _ = stream(60)
    problem = Outputs("array")
    y = [problem.argmax(np.arange(5) - 1.5, x) for x in X]  # can be learned
    model = problem.model(step="pa", max_iter=500, random_state=1, verbose=1).fit(X, y)
    assert 1 < model.n_iter_ < 500
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == model.n_iter_
    assert lines[-1].endswith("0 mistakes, 0 updates")
    assert model.stats_.rounds == 60 * model.n_iter_
    assert model.score(X, y) == 0
    assert parts(problem.model(step="pa", max_iter=500, random_state=1, verbose=1).fit(X, y)) == parts(model)
    other = problem.model(step="pa", max_iter=500, random_state=2).fit(X, y)
    assert other.coef_.tolist() != model.coef_.tolist()
    assert parts(model.fit(X, y)) == parts(model)
    noise = np.random.default_rng(0).integers(4, size=60).tolist()
    assert problem.model().fit(X, noise).n_iter_ == 10
    assert problem.model(tol=10.0, n_iter_no_change=2, max_iter=50).fit(X, noise).n_iter_ == 3


def test_estimator():
    X, y, _ = stream(60)
    model = Outputs("array").model(C=0.5)
    assert clone(model).get_params().keys() == model.get_params().keys()
    search = GridSearchCV(model, {"step": ["pa1", "pa2", "perceptron"]}, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ == max(search.cv_results_["mean_test_score"]) < 0
    assert search.best_estimator_.score(X, y) == search.score(X, y)
    model.fit(X, y)
    model.set_params(C=0.01, step="pa2", margin=2.0)
    assert model._learner.parameters["margin"] == 2.0
    twin = Twin(5, "pa2", "prediction", C=0.01, margin=2.0)
    twin.w = model.coef_
    twin.learn(X[0], y[0], 1.0)
    np.testing.assert_allclose(model.learn_one(X[0], y[0]).coef_, twin.w, rtol=1e-9)
    before = parts(model)
    model.set_params(average=True)
    for learn in (model.learn_many, model.partial_fit):
        with pytest.raises(ValueError, match="average cannot change"):
            learn(X, y)
    with pytest.raises(ValueError, match="average cannot change"):
        model.learn_one(X[0], y[0])
    assert parts(model.set_params(average=False)) == before
    assert model.set_params(average=True).fit(X, y).learn_one(X[0], y[0]).average


def test_the_constructor_agrees_with_the_table():
    signature = inspect.signature(PAStructured).parameters
    functions = ["joint_features", "argmax", "cost", "loss_augmented_argmax"]
    assert list(signature)[:4] == functions
    names = [n for n in parameters.names_for("structured", parameters.PARAMETERS) if n not in functions]
    assert set(signature) == {*functions, *names}
    others = {"selection": "prediction", "max_iter": 10, "tol": None}
    for name in names:
        parameter = parameters.PARAMETERS[name]
        default = others.get(name, parameter.default)
        assert signature[name].default == default
        assert f"    {name} : {parameter.allowed}, default={default!r}" in PAStructured.__doc__
    for name in functions:
        assert f"    {name} : function" in PAStructured.__doc__


# ---- what is refused leaves no trace ----------------------------------------------------------------------------


def refused(model, call, match, error=ValueError):
    """Returns what was raised."""
    begun = hasattr(model, "_learner")
    before = parts(model) if begun else dict(vars(model))
    with pytest.raises(error, match=match) as caught:
        call()
    assert (parts(model) if begun else dict(vars(model))) == before
    return caught.value


class Broken(Exception):
    pass


@dataclass
class Odd:
    """An input whose functions do what they should not: `where` says which one, `what` it returns or raises."""

    x: np.ndarray
    where: str
    what: object

    def do(self):
        if isinstance(self.what, type) and issubclass(self.what, BaseException):
            raise self.what("of one's own")
        return self.what() if callable(self.what) else self.what


class Oddities(Outputs):
    """The problem, with inputs that may be odd. (The cost sees no input: y is a pair of both.)"""

    def joint_features(self, x, y):
        if isinstance(x, Odd):
            if x.where == "joint_features" or (x.where == "rival" and y != 1):
                return x.do()
            x = x.x
        return super().joint_features(x, y)

    def argmax(self, w, x):
        if isinstance(x, Odd):
            return x.do() if x.where == "argmax" else 2
        return super().argmax(w, x)

    def loss_augmented_argmax(self, w, x, y):
        if isinstance(x, Odd):
            return x.do() if x.where == "loss_augmented_argmax" else 3
        return super().loss_augmented_argmax(w, x, y)


def malformed():
    """A column that is not there."""
    row = scipy.sparse.csr_array(np.ones((1, 5)))
    row.indices[2] = 10**6
    return row


def shortened():
    """Fewer values than columns."""
    row = scipy.sparse.csr_array(np.ones((1, 5)))
    row.data = row.data[:3]
    return row


NAN = float("nan")
BAD_FEATURES = {
    "none": (lambda: None, "must return a dict"),
    "number": (3, "must return a dict"),
    "list": ([1.0] * 5, "must return a dict"),
    "word": ("word", "must return a dict"),
    "matrix": (np.ones((1, 5)), "one dimension"),
    "scalar": (np.array(1.0), "one dimension"),
    "empty": (np.ones(0), "one dimension"),
    "objects": (np.array([1.0, {}, 2, 3, 4], dtype=object), "must hold numbers"),
    "strings": (np.array(["a"] * 5), "must hold numbers"),
    "complex": (np.ones(5) * 1j, "must hold numbers"),
    "nan array": (np.array([1, 2, NAN, 4, 5]), "value 2 is NaN"),
    "inf array": (np.array([1, 2, 3, 4, -np.inf]), "value 4 is infinity"),
    "longer": (np.ones(6), "array of 6"),
    "shorter row": (scipy.sparse.csr_array(np.ones((1, 4))), "row of 4"),
    "two rows": (scipy.sparse.csr_array(np.ones((2, 5))), r"shape \(1, n\)"),
    "complex row": (scipy.sparse.csr_array(np.ones((1, 5)) * 1j), "must return numbers"),
    "nan row": (scipy.sparse.csr_array([[0, 0, 0, NAN, 0]]), "value 3 is NaN"),
    "malformed row": (malformed, "cannot be read"),
    "shortened row": (shortened, "cannot be read"),
    "nan dict": ({"f1": NAN}, "'f1' must be a finite number"),
    "large dict": ({"f1": 10**400}, "'f1' must be a finite number"),
    "list in a dict": ({"f1": [1]}, "'f1' must be a finite number"),
    "bytes in a dict": ({"f1": b"1"}, "'f1' must be a finite number"),
    "none in a dict": ({"f1": None}, "'f1' must be a finite number"),
    "pairs as names": ({("a", "b"): 1.0}, "name of a feature"),
    "no names": ({1.5: 1.0}, "name of a feature"),
}


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", BAD_FEATURES)
def test_features_that_make_no_sense(bad, kind, begun):
    what, match = BAD_FEATURES[bad]
    X, y, _ = stream(6)
    model = Oddities(kind).model(shuffle=False)
    if begun:
        play(model, X, y)
    like = f"{match}|and (an array|a sparse row|a dict of named features)( of 5)? before"  # of another kind: that, too
    for where in ("joint_features", "rival"):
        if where == "joint_features" and not begun and bad in ("longer", "shorter row"):
            continue  # the first one says what is right
        odd = Odd(X[0], where, what)
        refused(model, lambda odd=odd: model.learn_one(odd, 1), like)
        for learn in (model.learn_many, model.partial_fit, model.fit):
            refused(
                model,
                lambda odd=odd, learn=learn: learn([*X[:2], odd, X[3]], [0, 1, 1, 2]),
                f"^example 2: .*({like})",
            )
    if begun:
        odd = Odd(X[0], "joint_features", what)
        refused(model, lambda: model.score_one(odd, 1), like)
        refused(model, lambda: model.explain_one(odd, 1), like)
    other = {"dict": np.ones(5), "array": {"f1": 1.0}, "sparse": np.ones(5)}[kind]
    refused(model, lambda: model.learn_one(Odd(X[0], "rival", other), 1), "all must be alike")


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("where", ["joint_features", "rival", "argmax", "loss_augmented_argmax"])
@pytest.mark.parametrize("error", [Broken, ValueError, KeyError, StopIteration, KeyboardInterrupt])
def test_functions_that_raise(error, where, begun):
    """What they raise comes as it is, with a note."""
    X, y, _ = stream(6)
    for kind in KINDS:
        model = Oddities(kind, "max").model(average=True)
        if begun:
            play(model, X, y)
        odd = Odd(X[0], where, error)
        name = where.replace("rival", "joint_features")
        for row, call in [
            ("", lambda m=model, o=odd: m.learn_one(o, 1)),
            (", for example 2", lambda m=model, o=odd: m.learn_many([X[0], X[1], o], [0, 1, 1])),
            (", for example 2", lambda m=model, o=odd: m.partial_fit([X[0], X[1], o], [0, 1, 1])),
            (", for example 1", lambda m=model, o=odd: m.fit([X[0], o], [0, 1])),
        ]:
            raised = refused(model, call, "of one's own", error)
            assert type(raised) is error
            if error is not KeyboardInterrupt:
                assert raised.__notes__ == [f"It was raised in {name}{row}."]
                assert f"It was raised in {name}" in "".join(traceback.format_exception(raised))
        if begun and where == "argmax":
            raised = refused(model, lambda m=model, o=odd: m.predict([X[0], o]), "of one's own", error)
            assert error is KeyboardInterrupt or raised.__notes__ == [
                "It was raised in argmax, for example 1."
            ]
            refused(model, lambda m=model, o=odd: m.score([X[0], o], [0, 1]), "of one's own", error)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("selection", ["prediction", "max", "max-additive"])
@pytest.mark.parametrize(
    "bad",
    [-1.0, NAN, float("inf"), -float("inf"), "1", b"1", None, [1.0], np.ones(2), np.ones(1), 1j, 10**400],
    ids=repr,
)
def test_costs_that_make_no_sense(bad, selection, begun):
    X, y, _ = stream(6)

    class Costs(Outputs):
        def cost(self, y, predicted):
            if isinstance(y, tuple):
                return bad
            return super().cost(y, predicted)

        def joint_features(self, x, y):
            return super().joint_features(x, 0 if isinstance(y, tuple) else y)

        def loss_augmented_argmax(self, w, x, y):
            return super().loss_augmented_argmax(w, x, 0 if isinstance(y, tuple) else y)

    model = Costs("array", selection).model()
    if begun:
        play(model, X, y)
        refused(model, lambda: model.score(X[:2], [0, (0,)]), "example 1: cost must return a finite number")
    refused(model, lambda: model.learn_one(X[0], (0,)), "^cost must return a finite number, 0 or more, not ")
    for learn in (model.learn_many, model.partial_fit, model.fit):
        refused(
            model, lambda learn=learn: learn(X[:3], [0, 1, (0,)]), "^example 2: cost must return a finite"
        )


def test_costs_of_any_type():
    for one in (True, np.True_, 1, np.float32(1), np.array(1.0), np.int8(1)):
        model = PAStructured(lambda x, y: {str(y): 1.0}, lambda w, x: 0, lambda y, z, one=one: one)
        assert model.learn_one(None, 1).stats_.cost == 1.0
        assert model.named_weights() == {"1": 0.5, "0": -0.5}


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_are_too_large(kind):
    X, y, _ = stream(6)
    huge, big = {"cost": 1.0}, np.full((4, 5), 1e200)
    big[1:] = -1e200
    problem = Outputs(kind)
    for begun in (False, True):
        model = problem.model().set_params(cost=lambda a, b: huge["cost"] * (a != b))
        if begun:
            play(model, X, y)
        wrong = 1 if not begun or model.predict_one(big) == 0 else 0
        refused(model, lambda m=model, z=wrong: m.learn_one(big, z), "0.?: the value is too large.*overflows")
        refused(model, lambda m=model, z=wrong: m.learn_one(big * 1.7e108, z), "infinity|overflows")
        refused(
            model,
            lambda m=model, z=wrong: m.learn_many([0 * big, big], [1, z]),
            "^example 1: .*too large.*overflows",
        )
        huge["cost"] = 1e308
        odd = 0 * big  # from which nothing can be learned
        refused(model, lambda m=model, x=odd: m.learn_many([x] * 9, [1] * 9), "^example 1: .*overflows")
        huge["cost"] = 1.0


@pytest.mark.parametrize("selection", ["max", "max-additive"])
def test_costs_that_are_too_large(selection):
    """The sum of the costs, though the competitor costs little; and a margin."""
    large = {"competitor": 1}
    model = PAStructured(
        lambda x, y: np.eye(3)[y],
        lambda w, x: 2,
        lambda y, z: [0.0, 1.0, 1e308][z],
        lambda w, x, y: large["competitor"],
        selection=selection,
    )
    model.learn_one(None, 0)
    refused(model, lambda: model.learn_one(None, 0), "^the cost is too large")
    assert model.stats_.cost == 1e308
    model = clone(model).set_params(margin=1e200)
    large["competitor"] = 2
    refused(model, lambda: model.learn_many([None], [0]), "^example 0: the cost is too large")


def test_bad_examples():
    X, y, _ = stream(6)
    for kind in KINDS:
        for begun in (False, True):
            model = Outputs(kind).model()
            if begun:
                play(model, X, y)
            for learn in (model.learn_many, model.partial_fit, model.fit):
                for bad, match in [
                    ((X, y[:5]), "5 entries for 6"),
                    ((X, y, [1.0]), "1 entries for 6"),
                    ((X, y, [1.0] * 5 + [-1.0]), "example 5: the sample weight is -1.0"),
                    ((X, y, [NAN] * 6), "sample weight is nan"),
                    ((X, y, ["a"] * 6), "sample_weight must hold numbers"),
                    ((X, y, np.ones((6, 1))), "one-dimensional"),
                    ((X, None), "y must be a list"),
                    ((X, "012301"), "y must be a list"),
                    (("words", y), "X must be a list"),
                    ((3, y), "X must be a list"),
                    (({"a": 1}, y), "X must be a list"),
                    ((scipy.sparse.eye(6).tocsr(), y), "X must be a list"),
                ]:
                    refused(model, lambda learn=learn, bad=bad: learn(*bad), match)
            for weight in (-1.0, NAN, float("inf"), "one", None, [1.0]):
                refused(
                    model, lambda m=model, w=weight: m.learn_one(X[0], 0, weight=w), "sample.weight|must hold"
                )
            refused(model, lambda m=model: m.fit([], []), "no examples")
            refused(model, lambda m=model: m.fit(X, y, [0.0] * 6), "no examples")
            if begun:
                refused(model, lambda m=model: m.score(X, y, [0.0] * 6), "no examples")
                refused(model, lambda m=model: m.predict("words"), "X must be a list")


FUNCTIONS = {"joint_features": lambda x, y: {}, "argmax": lambda w, x: 0, "cost": lambda y, z: 0.0}
SEARCH = {"loss_augmented_argmax": lambda w, x, y: 0}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"joint_features": None}, "joint_features must be a function"),
        ({"argmax": "argmax"}, "argmax must be a function"),
        ({"cost": np.eye(2)}, "cost must be a function"),
        ({"loss_augmented_argmax": 3, "selection": "max"}, "must be a function or None"),
        ({"selection": "max"}, "needs loss_augmented_argmax"),
        ({"selection": "max-additive"}, "needs loss_augmented_argmax"),
        (SEARCH, "does not use loss_augmented_argmax"),
        ({"selection": "simproj"}, "there are prediction, max, max-additive"),
        ({"selection": "mira", **SEARCH}, "there are prediction, max, max-additive"),
        ({"selection": "best"}, "selection must be"),
        ({"step": "cw"}, "step='cw' is not for structured"),
        ({"step": "perceptron", "selection": "max", **SEARCH}, "use selection='prediction'"),
        ({"geometry": "entropy"}, "not for structures"),
        ({"C": 0}, "C must be"),
        ({"margin": -1.0}, "margin must be"),
        ({"max_iter": 0}, "max_iter must be"),
        ({"dtype": "int"}, "dtype must be"),
        ({"hash_bits": 40}, "hash_bits must be"),
    ],
    ids=named,
)
def test_options_that_make_no_sense(options, match):
    model = PAStructured(**{**FUNCTIONS, **options})
    for call in (
        lambda: model.learn_one(None, 0),
        lambda: model.learn_many([None] * 2, [0, 0]),
        lambda: model.fit([None], [0]),
    ):
        refused(model, call, match)


def test_limits():
    X, y, _ = stream(6)
    for kind in KINDS:
        model = Outputs(kind).model(max_features=4)
        refused(model, lambda m=model: m.learn_many(X, y), "example .* limit.*max_features")
        if kind == "dict":
            play(model, [x * (np.arange(5) < 4) for x in X], y)
            refused(model, lambda m=model: m.learn_many(X, y), "f4.*max_features")
            continue
        assert play(Outputs(kind).model(max_features=5), X, y).stats_.rounds == 6
        refused(
            Outputs(kind).model(hash_bits=3),
            lambda k=kind: Outputs(k).model(hash_bits=3).learn_one(X[0], 0),
            "hash_bits is for",
        )
    wide = scipy.sparse.csr_array(([1.0], [2**40], [0, 1]), shape=(1, 2**41))
    model = PAStructured(lambda x, y: wide, lambda w, x: 0, lambda y, z: 1.0)
    refused(model, lambda: model.learn_one(None, 0), "the limit is 16777216")


def test_rows_of_all_formats():
    """Sparse rows of any format, with the same column twice or out of order; and of one dimension."""
    X, y, _ = stream(40)
    expected = Outputs("sparse").model().learn_many(X, y)

    def shuffled(row):
        columns = np.array([4, 3, 2, 1, 0, 2])
        values = np.append(row[::-1], 0.0)
        values[2], values[5] = row[2] - 1, 1.0
        return scipy.sparse.csr_array((values, columns, [0, 6]), shape=(1, 5))

    for make in (
        scipy.sparse.csc_matrix,
        scipy.sparse.coo_array,
        scipy.sparse.lil_array,
        lambda row: scipy.sparse.coo_array(row[0]),
        lambda row: shuffled(row[0]),
    ):
        model = PAStructured(
            lambda x, z, make=make: make(x[[z]]), Outputs("array").argmax, Outputs().cost
        ).learn_many(X, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        explained = model.explain_one(X[0], 1)
        assert sorted(part.feature for part in explained) == np.flatnonzero(X[0][1]).tolist()
        assert sum(part.contribution for part in explained) == pytest.approx(model.score_one(X[0], 1))


# ---- calls from within, and threads -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_functions_cannot_teach_their_own_model(kind):
    X, y, _ = stream(8)
    problem = Outputs(kind, "max")
    call = {}

    def nested(name):
        def function(*arguments):
            if "ask" in call:
                ask = call.pop("ask")
                ask()
            return getattr(problem, name)(*arguments)

        return function

    names = ["joint_features", "argmax", "cost", "loss_augmented_argmax"]
    for name in names:
        model = problem.model().set_params(**{name: nested(name)})
        learning = [
            lambda m=model: m.learn_one(X[0], 0),
            lambda m=model: m.learn_many(X, y),
            lambda m=model: m.partial_fit(X, y),
            lambda m=model: m.fit(X, y),
        ]

        def ask_then(ask, outer, name=name):
            call["ask"] = ask
            outer()

        for inner in learning:
            for outer in learning:
                raised = refused(
                    model, lambda i=inner, o=outer: ask_then(i, o), "model is busy", RuntimeError
                )
                assert raised.__notes__[0].startswith(f"It was raised in {name}")
        play(model, X, y)
        for inner in learning:
            for outer in (*learning, lambda m=model: m.score(X, y)):
                if name == "joint_features" and outer not in learning:
                    continue  # which is not asked for a score
                if name == "loss_augmented_argmax" and outer not in learning:
                    continue
                refused(model, lambda i=inner, o=outer: ask_then(i, o), "model is busy", RuntimeError)
        # To look at it is all right, and so is to teach another one.
        other = problem.model()

        def look(m=model, other=other):
            call["said"] = m.predict_one(X[0]), m.stats_, parts(m)
            other.learn_one(X[0], 0)

        before = model.predict_one(X[0]), model.stats_, parts(model)
        ask_then(look, learning[0])
        assert call["said"] == before
        assert other.stats_.rounds == 1
        assert model.stats_.rounds == before[1].rounds + 1


def test_threads_take_turns():
    X, y, _ = stream(40)
    for kind in KINDS:
        model = Outputs(kind).model(average=True)
        errors = []
        start = threading.Barrier(4)

        def learn(model=model, start=start, errors=errors):
            try:
                start.wait()
                for x, output in zip(X, y, strict=True):
                    model.learn_one(x, output)
                model.learn_many(X, y)
                model.predict(X)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=learn) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert not errors
        assert model.stats_.rounds == 4 * 2 * len(X)


def test_a_first_round_that_fails_while_another_waits():
    """The round that waits is not lost with the learner that was given up."""
    entered, go_on = threading.Event(), threading.Event()

    def argmax(w, x):
        if x == "fails":
            entered.set()
            assert go_on.wait(60)
            raise Broken
        return 0

    model = PAStructured(lambda x, y: {str(y): 1.0}, argmax, lambda y, z: y != z)
    failures = []

    def fail():
        try:
            model.learn_one("fails", 1)
        except Broken as error:
            failures.append(error)

    failing = threading.Thread(target=fail)
    failing.start()
    assert entered.wait(60)
    with pytest.raises(NotFittedError):
        model.predict_one("x")
    waiting = threading.Thread(target=lambda: model.learn_one("x", 1))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    go_on.set()
    failing.join(60)
    waiting.join(60)
    assert len(failures) == 1
    assert model.stats_.rounds == 1
    assert model.named_weights() == {"1": 0.5, "0": -0.5}
