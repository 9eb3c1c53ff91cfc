"""hinge.compat: the same numbers as scikit-learn's PassiveAggressive classes, and scikit-learn's own tests."""

from __future__ import annotations

import importlib.util
import inspect
import os
import pickle
import subprocess
import sys
import warnings
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
from packaging.version import Version
from scipy.sparse import csr_array, csr_matrix, issparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

from hinge._core import shuffle_like_scikit_learn
from hinge.compat import PassiveAggressiveClassifier, PassiveAggressiveRegressor

OURS = {"classifier": PassiveAggressiveClassifier, "regressor": PassiveAggressiveRegressor}
THEIRS = {kind: getattr(sklearn.linear_model, ours.__name__, None) for kind, ours in OURS.items()}
GONE = "this scikit-learn has no PassiveAggressive classes (removed in 1.10): nothing to compare with"

with_theirs = [
    pytest.mark.skipif(None in THEIRS.values(), reason=GONE),
    pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning"),
]


# ---- scikit-learn's own tests ---------------------------------------------------------------------------

THEIR_TESTS = "sklearn.linear_model.tests.test_passive_aggressive"
# These expect deprecation warnings, which ours does not raise: of the classes, and of average=0 (1.6 only).
ABOUT_DEPRECATIONS = {"test_class_deprecation", "test_passive_aggressive_deprecated_average"}

PLUGIN = """
import pytest
import sklearn.linear_model
from hinge import compat

OURS = compat.PassiveAggressiveClassifier, compat.PassiveAggressiveRegressor
sklearn.linear_model.PassiveAggressiveClassifier, sklearn.linear_model.PassiveAggressiveRegressor = OURS

def pytest_collection_modifyitems(items):
    for item in items:
        if (item.module.PassiveAggressiveClassifier, item.module.PassiveAggressiveRegressor) != OURS:
            raise pytest.UsageError("scikit-learn's tests did not get our classes")
"""


def test_scikit_learns_own_tests_pass_with_our_classes(tmp_path: Path) -> None:
    found = importlib.util.find_spec(THEIR_TESTS)
    if found is None or found.origin is None:
        pytest.skip(f"this scikit-learn does not install {THEIR_TESTS}")
    (tmp_path / "ours_in_place.py").write_text(PLUGIN)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts =\n")
    report = tmp_path / "report.xml"
    command = [
        *(sys.executable, "-m", "pytest", "-q", "-c", "pytest.ini", "--pyargs", THEIR_TESTS),
        *("-p", "ours_in_place", "-p", "no:cacheprovider", "-W", "error::FutureWarning"),
        *("-k", f"not ({' or '.join(sorted(ABOUT_DEPRECATIONS))})", f"--junitxml={report}"),
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr

    suite = ElementTree.parse(report).getroot()[0]
    assert [suite.get(count) for count in ("failures", "errors", "skipped")] == ["0", "0", "0"]
    ran = [case.get("name", "").split("[")[0] for case in suite.iter("testcase")]
    source = Path(found.origin).read_text()
    written = {line[4:].split("(")[0] for line in source.splitlines() if line.startswith("def test_")}
    assert set(ran) == written - ABOUT_DEPRECATIONS
    assert len(ran) == int(suite.get("tests", 0))
    print(f"{len(ran)} of scikit-learn's tests ran")


# ---- the same numbers -----------------------------------------------------------------------------------

random = np.random.RandomState(0)
X = random.randn(120, 7)
X[random.rand(120, 7) < 0.4] = 0
X[::17] = 0  # PA-I skips empty rows, PA-II does not
SCORES = X @ random.randn(7, 3) + 0.3 * random.randn(120, 3)
TARGETS = {
    "two classes": np.where(SCORES[:, 0] > 0, "b", "a"),
    "three classes": SCORES.argmax(axis=1) * 10,
    "numbers": SCORES[:, 0],
}
LAYOUTS = {"dense": np.asarray, "csr_matrix": csr_matrix, "csr_array": csr_array}

LEARNED = ("coef_", "intercept_", "t_", "n_iter_")
AVERAGING = ("_standard_coef", "_standard_intercept", "_average_coef", "_average_intercept")

OPTIONS: list[dict[str, Any]] = [
    {},
    {"squared": True},
    {"shuffle": False},
    {"fit_intercept": False},
    {"C": 0.02},
    {"C": np.inf},
    {"average": True},
    {"average": True, "squared": True, "fit_intercept": False},
    {"average": 10},
    {"average": 10, "shuffle": False, "squared": True},
    {"average": 100_000},  # never reached
]
FIT_OPTIONS: list[dict[str, Any]] = [
    *OPTIONS,
    {"tol": None, "max_iter": 7},
    {"tol": 0.0, "max_iter": 30},
    {"tol": 0.05, "n_iter_no_change": 2},
    {"max_iter": 2},
    {"max_iter": 3, "average": 300},  # reached in the third pass
    {"early_stopping": True},
    {"early_stopping": True, "validation_fraction": 0.4, "tol": 1e-9, "n_iter_no_change": 3, "average": True},
    {"early_stopping": True, "squared": True, "shuffle": False},
    {"early_stopping": True, "tol": None, "max_iter": 6},
    {"early_stopping": True, "tol": 0.0, "max_iter": 30, "n_iter_no_change": 2},  # an equal score is no worse
]


def _shown(options: dict[str, Any]) -> str:
    return ",".join(f"{name}={value}" for name, value in options.items()) or "defaults"


every_task = pytest.mark.parametrize("task", TARGETS)
every_layout = pytest.mark.parametrize("layout", LAYOUTS)


def pair(task: str, squared: bool = False, **options: Any) -> tuple[Any, Any]:
    """Ours and theirs, with the same parameters."""
    kind = "regressor" if task == "numbers" else "classifier"
    if squared:
        options["loss"] = "squared_epsilon_insensitive" if task == "numbers" else "squared_hinge"
    options.setdefault("random_state", 3)
    return OURS[kind](**options), THEIRS[kind](**options)  # type: ignore[misc]


def both(models: tuple[Any, Any], call: str, *arguments: Any, **named: Any) -> None:
    """Calls a method of both, which must raise the same warnings and learn the same numbers."""
    heard = []
    for model in models:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(model, call)(*arguments, **named)
        heard.append([str(w.message) for w in caught if w.category is not FutureWarning])
    assert heard[0] == heard[1]
    assert_same(*models)


def assert_same(ours: Any, theirs: Any, rtol: float = 1e-8, atol: float = 1e-10) -> None:
    for name in (*LEARNED, *(AVERAGING if theirs.average else ())):
        mine, their = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
        assert mine.shape == their.shape, name
        assert mine.dtype == their.dtype or name in AVERAGING, name
        np.testing.assert_allclose(mine, their, rtol=rtol, atol=atol, err_msg=name)
    if hasattr(theirs, "classes_"):
        np.testing.assert_array_equal(ours.classes_, theirs.classes_)


def parameters_of(function: Any) -> list[tuple[Any, ...]]:
    return [(p.name, p.kind, p.default) for p in inspect.signature(function).parameters.values()]


class TestSameNumbers:
    """The same calls, with the same numbers after each."""

    pytestmark = with_theirs

    @every_task
    @every_layout
    @pytest.mark.parametrize("options", FIT_OPTIONS, ids=_shown)
    def test_fit(self, task: str, layout: str, options: dict[str, Any]) -> None:
        models, y = pair(task, **options), TARGETS[task]
        rows = LAYOUTS[layout](X)
        both(models, "fit", rows, y)
        assert models[0].score(rows, y) == pytest.approx(models[1].score(rows, y))
        both(models, "partial_fit", rows[:40], y[:40])
        both(models, "partial_fit", rows[40:], y[40:])
        both(models, "fit", rows, y)

    @every_task
    @every_layout
    @pytest.mark.parametrize("options", OPTIONS, ids=_shown)
    def test_partial_fit(self, task: str, layout: str, options: dict[str, Any]) -> None:
        models, y = pair(task, **options), TARGETS[task]
        rows = LAYOUTS[layout](X)
        for start in range(0, 120, 8):
            named = {"classes": np.unique(y)} if start == 0 and task != "numbers" else {}
            both(models, "partial_fit", rows[start : start + 8], y[start : start + 8], **named)

    @every_task
    @pytest.mark.parametrize("average", [False, True, 10, 300])
    def test_warm_start(self, task: str, average: bool | int) -> None:
        models, y = pair(task, warm_start=True, average=average, max_iter=2, tol=None), TARGETS[task]
        for _ in range(3):
            both(models, "fit", X, y)
        both(models, "partial_fit", X, y)
        both(models, "fit", X, y)

    @every_task
    @pytest.mark.parametrize("average", [False, 10])
    @pytest.mark.parametrize("fit_intercept", [True, False])
    @pytest.mark.parametrize("given", [["coef_init"], ["intercept_init"], ["coef_init", "intercept_init"]])
    def test_given_weights(self, task: str, average: Any, fit_intercept: bool, given: list[str]) -> None:
        lanes = 3 if task == "three classes" else 1
        weights = np.arange(7.0 * lanes).reshape(lanes, 7) / 10
        start = {"coef_init": weights, "intercept_init": np.full(lanes, 0.5)}
        models = pair(task, average=average, fit_intercept=fit_intercept)
        copies = {name: start[name].copy() for name in given}
        models[0].fit(X, TARGETS[task], **copies)
        for name in given:
            np.testing.assert_array_equal(copies[name], start[name])  # theirs overwrites the caller's array
        both(models, "fit", X, TARGETS[task], **{name: start[name].copy() for name in given})

    @pytest.mark.parametrize("task", ["two classes", "three classes"])
    @pytest.mark.parametrize("average", [False, 10])
    @pytest.mark.parametrize("squared", [False, True])
    @pytest.mark.parametrize("factors", ["balanced", (0.3, 1.5), (0.0, 1.0), (1.0, 0.0)])
    def test_class_weight(self, task: str, average: bool | int, squared: bool, factors: Any) -> None:
        y = TARGETS[task]
        if not isinstance(factors, str):
            factors = dict(zip(np.unique(y).tolist(), factors, strict=False))
        models = pair(task, class_weight=factors, average=average, squared=squared)
        both(models, "fit", X, y)
        both(models, "partial_fit", X, y)

    def test_overflow_raises_in_both(self) -> None:
        """The reason why the check below is expected to fail, in scikit-learn, too."""
        for model in pair("two classes", squared=True, class_weight={"a": 1000.0}, max_iter=200, tol=None):
            with pytest.raises(ValueError, match="overflow"):
                model.fit(X, TARGETS["two classes"])

    @every_task
    @pytest.mark.parametrize("early_stopping", [False, True])
    @pytest.mark.parametrize("shared", [False, True])
    def test_random_state(self, task: str, early_stopping: bool, shared: bool) -> None:
        """A RandomState keeps its position between calls, so all draws must be the same."""
        for model in (models := pair(task, early_stopping=early_stopping)):
            np.random.seed(5)  # noqa: NPY002 (random_state=None is this one)
            model.random_state = np.random.RandomState(5) if shared else None
            model.fit(X, TARGETS[task]).fit(X, TARGETS[task])
        assert_same(*models)

    @every_task
    @every_layout
    @pytest.mark.parametrize("average", [False, True, 40])
    @pytest.mark.parametrize("squared", [False, True])
    def test_mostly_empty_rows(self, task: str, layout: str, average: bool | int, squared: bool) -> None:
        rows = X.copy()
        rows[np.arange(120) % 3 > 0] = 0
        models = pair(task, average=average, squared=squared, C=0.4)
        both(models, "fit", LAYOUTS[layout](rows), TARGETS[task])
        both(models, "partial_fit", LAYOUTS[layout](rows), TARGETS[task])

    @every_task
    @every_layout
    @pytest.mark.parametrize("average", [False, True])
    def test_float32(self, task: str, layout: str, average: bool) -> None:
        """The weights are float32 in both; the sums are float64 in ours."""
        rows = LAYOUTS[layout](X.astype(np.float32))
        ours, theirs = pair(task, average=average, max_iter=4, tol=None)
        assert_same(ours.fit(rows, TARGETS[task]), theirs.fit(rows, TARGETS[task]), rtol=1e-4, atol=1e-5)
        assert ours.coef_.dtype == np.float32

    @every_task
    def test_sparsify(self, task: str) -> None:
        y, models = TARGETS[task], pair(task)
        both(models, "fit", X, y)
        expected, weights = models[0].predict(X), models[0].coef_
        for model in models:
            assert issparse(model.sparsify().coef_)
        for rows in (X, csr_matrix(X)):
            close = np.testing.assert_allclose if task == "numbers" else np.testing.assert_array_equal
            close(models[0].predict(rows), expected)
        for model in models:
            model.densify()
        np.testing.assert_array_equal(models[0].coef_, weights, strict=True)
        if task == "numbers" and Version(sklearn.__version__) < Version("1.9"):
            models[1].coef_ = models[1].coef_.ravel()  # their densify returned a matrix of one row
        assert_same(*models)
        both(models, "partial_fit", X, y)

    @pytest.mark.parametrize("kind", OURS)
    def test_signatures(self, kind: str) -> None:
        ours, theirs = OURS[kind], THEIRS[kind]
        assert parameters_of(ours) == parameters_of(theirs)
        for name in dir(theirs):
            method = getattr(theirs, name)
            # set_..._request: scikit-learn makes them of the other signatures, also of its base classes
            if callable(method) and not name.startswith("_") and not name.endswith("_request"):
                assert parameters_of(getattr(ours, name)) == parameters_of(method), name


def test_the_order_of_rows_is_that_of_scikit_learns_dataset() -> None:
    datasets = pytest.importorskip("sklearn.utils._seq_dataset", reason="scikit-learn has moved its datasets")
    for seed in (0, 1, 2, 12345, 2**31 - 2):
        order = np.arange(50)
        theirs = datasets.ArrayDataset64(np.zeros((50, 1)), np.zeros(50), np.ones(50), seed=1)
        for _ in range(3):
            shuffle_like_scikit_learn(order, seed)
            theirs._shuffle_py(seed)
            assert order.tolist() == [theirs._next_py()[3] for _ in range(50)]


# ---- only ours ------------------------------------------------------------------------------------------


def expected_failures(estimator: Any) -> dict[str, str]:
    if getattr(estimator, "loss", None) != "squared_hinge":
        return {}
    reason = "a class weight of 1000 after the cap overshoots until PA-II overflows; in scikit-learn too"
    return {"check_class_weight_classifiers": reason}


@parametrize_with_checks(
    [
        PassiveAggressiveClassifier(),
        PassiveAggressiveClassifier(loss="squared_hinge", average=True, n_jobs=2),
        PassiveAggressiveRegressor(),
        PassiveAggressiveRegressor(loss="squared_epsilon_insensitive", average=10),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_estimator_checks(estimator: Any, check: Any) -> None:
    check(estimator)  # none is about sample_weight, which `fit` does not take


def new(task: str, **options: Any) -> Any:
    return OURS["regressor" if task == "numbers" else "classifier"](**{"random_state": 0, **options})


@pytest.mark.parametrize("kind", OURS)
def test_there_is_no_deprecation_warning(kind: str) -> None:
    OURS[kind]()  # warnings are errors


def test_scikit_learns_sgd_is_not_imported() -> None:
    code = "import sys, hinge.compat; print([m for m in sys.modules if 'sklearn.linear_model' in m])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert run.stdout.strip() == b"[]"


def test_fit_warns_at_max_iter() -> None:
    with pytest.warns(ConvergenceWarning, match="Maximum number of iteration reached"):
        new("two classes", max_iter=2).fit(X, TARGETS["two classes"])


@pytest.mark.parametrize("kind", OURS)
def test_grid_search_changes_C(kind: str) -> None:
    """In scikit-learn 1.9 only the constructor reads C: set_params and GridSearchCV change nothing."""
    y = TARGETS["two classes" if kind == "classifier" else "numbers"]
    given, changed = OURS[kind](C=1e-3, random_state=0), OURS[kind](random_state=0).set_params(C=1e-3)
    np.testing.assert_array_equal(given.fit(X, y).coef_, changed.fit(X, y).coef_)
    found = GridSearchCV(OURS[kind](random_state=0), {"C": [1e-6, 1.0]}).fit(X, y)
    assert len(set(found.cv_results_["mean_test_score"])) == 2


@every_task
def test_pickled_models_resume(task: str) -> None:
    y = TARGETS[task]
    for options in ({}, {"average": 10}):
        model = new(task, **options).fit(X, y)
        copy = pickle.loads(pickle.dumps(model))
        for each in (model, copy):
            each.partial_fit(X, y)
        np.testing.assert_array_equal(model.coef_, copy.coef_)
        np.testing.assert_array_equal(model.predict(X), copy.predict(X))


def test_threads_change_nothing() -> None:
    one, two = (new("three classes", n_jobs=jobs).fit(X, TARGETS["three classes"]) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)


@every_task
def test_inputs_that_scikit_learn_rejects_are_learned(task: str) -> None:
    """64-bit indices, a change of precision, and a sparsified model."""
    y, wide, rows = TARGETS[task], csr_matrix(X), csr_matrix(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    np.testing.assert_array_equal(new(task).fit(wide, y).coef_, new(task).fit(rows, y).coef_)

    single = new(task).fit(X.astype(np.float32), y).partial_fit(X, y)
    assert single.coef_.dtype == np.float32
    model, sparse = new(task).fit(X, y), new(task).fit(X, y).sparsify()
    np.testing.assert_array_equal(model.partial_fit(X, y).coef_, sparse.partial_fit(X, y).coef_)


def test_a_class_of_weight_0_leaves_no_trace() -> None:
    rows, y = np.eye(4)[[0, 1, 2, 3] * 5], ["a", "b", "a", "b"] * 5
    model = new("two classes", class_weight={"a": 0.0}, fit_intercept=False).fit(rows, y)
    assert model.coef_[0, [0, 2]].tolist() == [0.0, 0.0]
    assert (model.coef_[0, [1, 3]] > 0.9).all()


def test_verbose_reports_each_pass(capsys: pytest.CaptureFixture[str]) -> None:
    model = new("two classes", verbose=1, early_stopping=True).fit(X, TARGETS["two classes"])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.startswith("-- Epoch")] == [
        f"-- Epoch {k}" for k in range(1, model.n_iter_ + 1)
    ]
    assert sum("Validation score:" in line for line in lines) == model.n_iter_
    assert lines[-1].startswith(f"Convergence after {model.n_iter_} epochs")


BAD_PARAMETERS: list[dict[str, Any]] = [
    {"C": 0}, {"C": -1.0}, {"C": "1"}, {"loss": "hinges"}, {"max_iter": 0}, {"tol": -1e-3}, {"average": 0.5},
    {"n_iter_no_change": 0}, {"validation_fraction": 1.0}, {"validation_fraction": "0.1"}, {"shuffle": 2},
    {"early_stopping": 1}, {"warm_start": None}, {"random_state": "0"}, {"verbose": -1}, {"fit_intercept": 1},
]  # fmt: skip


@pytest.mark.parametrize("options", BAD_PARAMETERS, ids=_shown)
@every_task
def test_invalid_parameters_are_rejected_by_name(task: str, options: dict[str, Any]) -> None:
    model = new(task, **options)
    named = {} if task == "numbers" else {"classes": np.unique(TARGETS[task])}
    for call in (model.fit, lambda *data: model.partial_fit(*data, **named)):
        with pytest.raises(ValueError, match=next(iter(options))):
            call(X, TARGETS[task])


def test_invalid_parameters_of_one_class_are_rejected() -> None:
    y = TARGETS["two classes"]
    for options, words in (
        ({"n_jobs": 1.5}, "n_jobs"),
        ({"class_weight": {"a": -1.0}}, "class_weight"),
        ({"class_weight": {"c": 2.0}}, "class_weight"),
        ({"class_weight": "equal"}, "class_weight"),
    ):
        with pytest.raises(ValueError, match=words):
            new("two classes", **options).fit(X, y)
    with pytest.raises(ValueError, match="epsilon"):
        new("numbers", epsilon=-0.1).fit(X, TARGETS["numbers"])


def test_invalid_calls_are_rejected() -> None:
    y = TARGETS["two classes"]
    invalid = [
        ("coef_init has the shape", lambda m: m.fit(X, y, coef_init=np.zeros(6))),
        ("intercept_init has the shape", lambda m: m.fit(X, y, intercept_init=[0.0, 0.0])),
        ("greater than one", lambda m: m.fit(X, ["a"] * 120)),
        ("Unknown label type", lambda m: m.fit(X, SCORES[:, 0])),
        ("classes must be passed on the first call", lambda m: m.partial_fit(X, y)),
        ("valid labels", lambda m: m.partial_fit(X, y, classes=["a", "c"])),
        ("not the same as on last call", lambda m: m.fit(X, y).partial_fit(X, y, classes=["a", "c"])),
        ("features", lambda m: m.fit(X, y).partial_fit(X[:, 1:], y)),
        ("early_stopping", lambda m: m.set_params(early_stopping=True).partial_fit(X, y, classes=["a", "b"])),
        ("balanced", lambda m: m.set_params(class_weight="balanced").partial_fit(X, y, classes=["a", "b"])),
    ]
    for words, call in invalid:
        with pytest.raises(ValueError, match=words):
            call(new("two classes"))
    for early in (lambda m: m.predict(X), lambda m: m.decision_function(X), lambda m: m.sparsify()):
        with pytest.raises(NotFittedError):
            early(new("two classes"))


@every_task
def test_rejected_input_changes_nothing(task: str) -> None:
    """scikit-learn would continue with weights of 1e308, or without weights."""
    y = TARGETS[task]
    model = new(task, average=True).fit(X, y)
    before = {name: np.copy(getattr(model, name)) for name in (*LEARNED, *AVERAGING)}
    huge = X.copy()
    huge[100, 3] = 1e200
    for call in (model.partial_fit, model.fit):
        with pytest.raises(ValueError, match="row 100"):
            call(huge, y)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(model, name), value)


@pytest.mark.filterwarnings("ignore")
def test_short_rows_with_an_intercept_amplify_rounding_in_scikit_learn() -> None:
    """There the weights do not agree to 1e-8: even the order of the columns changes them."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    places = np.random.default_rng(0).permutation(X.shape[1])

    def changes(scale: float, fit_intercept: bool) -> tuple[float, float]:
        options = {"random_state": 0, "fit_intercept": fit_intercept, "max_iter": 20, "tol": None}
        theirs = sklearn.linear_model.PassiveAggressiveClassifier(**options).fit(X / scale, y).coef_
        moved = sklearn.linear_model.PassiveAggressiveClassifier(**options).fit(X[:, places] / scale, y).coef_
        ours = PassiveAggressiveClassifier(**options).fit(X / scale, y).coef_
        largest = np.abs(theirs).max()
        return np.abs(moved - theirs[:, places]).max() / largest, np.abs(ours - theirs).max() / largest

    for scale, fit_intercept in [(16, True), (64, False), (256, False)]:
        assert max(changes(scale, fit_intercept)) < 1e-12
    itself, ours = changes(256, True)
    assert itself > 1e-6
    assert ours > 1e-6
