"""PAStructured: its rounds in detail, and what every learner promises."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import hinge
from hinge import ModelFileError, PAClassifier, PAStructured
from hinge.model import file
from hinge.options.classes import CLASSES
from hinge.options.parameter import REQUIRED
from hinge.structured.structured import NamedWeights
from reference_structured import Twin
from structured_problems import COST, KINDS, Broken, Outputs, parts, play, stream

# ---- rounds in detail -------------------------------------------------------------------------------------------


def test_functions_receive_the_current_w():
    """The last w while learning, the average while predicting, without a copy while nothing changes."""
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
    np.testing.assert_array_equal(calls[0][1], before)  # the earlier array has not changed
    updates = model.stats_.updates
    for _ in range(3):  # a round without an update also changes the average
        before = model.coef_
        model.learn_one(0 * X[1], 0)
        model.predict_one(X[1])
        np.testing.assert_array_equal(calls[-1][1], model.coef_)
        assert not np.array_equal(before, model.coef_)
    assert model.stats_.updates == updates


def test_w_of_a_rolled_back_batch_is_not_reused():
    """Even after the same number of rounds."""
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
def test_named_weights_are_read_only(options):
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
    # |delta|^2 is 1 + 1 + 4 + 1: the common features cancel.
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
def test_functions_may_reuse_a_buffer(kind):
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


def test_a_right_prediction_counts_as_a_round():
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
def test_rounding_errors_do_not_move_w(kind):
    """A sum in another order leaves rounding errors; step='pa' would divide by their square."""
    x = np.array([[0.1 + 0.2, 1.0, 0.0], [0.3, 1.0, 0.0], [0.3 * (1 + 1e-9), 1.0, 0.0]])
    assert x[0, 0] != x[1, 0]
    model = PAStructured(Outputs(kind).joint_features, lambda w, x: 0, lambda y, z: y != z, step="pa")
    assert model.learn_one(x, 1).stats_.updates == 0
    assert model.stats_.loss == 1.0
    assert model.learn_one(x, 2).stats_.updates == 1  # small, but not a rounding error


@pytest.mark.parametrize("kind", KINDS)
def test_examples_of_weight_0_are_not_read(kind):
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


def test_an_unfitted_model_raises():
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


# ---- batches and predictions --------------------------------------------------------------------------------------


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
def test_batches_equal_events(problem, options):
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


@models
def test_predicting_changes_nothing(problem, options):
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


def test_models_with_lambdas_can_be_copied():
    model = PAStructured(lambda x, y: x[y], lambda w, x: int(np.argmax(x @ w)), lambda y, z: y != z)
    X, y, _ = stream(20)
    model.fit(X, y)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        pickle.dumps(model)
    again = clone(model)
    assert again.joint_features is model.joint_features
    assert parts(again.fit(X, y)) != b""
    assert parts(copy.deepcopy(model)) == parts(model)


def test_loading_needs_the_functions(tmp_path):
    X, y, _ = stream(20)
    problem = Outputs("array", "max")
    functions = [problem.joint_features, problem.argmax, problem.cost]
    problem.model().fit(X, y).save(tmp_path / "model")
    with pytest.raises(ModelFileError, match=r"PAStructured.load\(path, .*joint_features="):
        hinge.load(tmp_path / "model")
    with pytest.raises(ModelFileError, match="its loss_augmented_argmax is a function"):
        PAStructured.load(tmp_path / "model", *functions)
    with pytest.raises(ModelFileError, match="its argmax, loss_augmented_argmax are functions"):
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
        (tmp_path / "absurd").write_bytes(file.to_bytes(absurd, tensors))
        with pytest.raises(ModelFileError):
            PAStructured.load(tmp_path / "absurd", *functions, problem.loss_augmented_argmax)


# ---- fit, and scikit-learn's conventions --------------------------------------------------------------------------


def test_fit_makes_passes_until_nothing_changes(capsys):
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


def test_scikit_learn_conventions_hold():
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


def test_the_docstring_lists_every_option():
    documentation, signature = inspect.getdoc(PAStructured), inspect.signature(PAStructured).parameters
    for name, row in CLASSES["PAStructured"].rows.items():
        default = "" if row.default is REQUIRED else f", default={row.default!r}"
        assert f"\n{name} : {row.allowed}{default}\n" in documentation
    assert [signature[name].default for name in ("selection", "max_iter", "tol")] == ["prediction", 10, None]
