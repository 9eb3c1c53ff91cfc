"""hinge.river.FleetClassifier and FleetRegressor: River's checks, and the fleet of the same examples."""

from __future__ import annotations

import copy
import pickle

import pytest

river = pytest.importorskip("river", reason="river is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

from river import base, checks, compose, evaluate, metrics, preprocessing  # noqa: E402

from hinge import Fleet, InputError  # noqa: E402
from hinge.river import FleetClassifier, FleetRegressor  # noqa: E402
from keyed_files import contents, parted, records  # noqa: E402


class Keyed:
    """The data of River's checks has no key: it is made of the number of features."""

    def _parted(self, x):
        return f"k{len(x) % 3}", dict(x)

    def learn_many(self, X, y, w=1.0):
        super().learn_many(X.assign(**{self.key: f"k{X.shape[1] % 3}"}), y, w)

    def predict_many(self, X):
        return super().predict_many(X.assign(**{self.key: f"k{X.shape[1] % 3}"}))


class KeyedClassifier(Keyed, FleetClassifier):
    """A docstring, which the checks want."""


class KeyedRegressor(Keyed, FleetRegressor):
    """A docstring, which the checks want."""


SETTINGS = [
    (KeyedClassifier, {}),
    (KeyedClassifier, {"shared": False, "step": "pa2", "C": 0.1}),
    (KeyedClassifier, {"average": True, "geometry": "diagonal", "step": "pa2"}),
    (KeyedRegressor, {"C": 0.01}),
    (KeyedRegressor, {"shared": False, "step": "pa2"}),
]


@pytest.mark.parametrize(
    ("cls", "options", "place"),
    [
        pytest.param(cls, options, place, id=f"{cls.__name__}-{options}-{place}-{check.__name__}")
        for cls, options in SETTINGS
        for place, check in enumerate(checks.yield_checks(cls(**options)))
    ],
)
def test_rivers_checks_pass(cls, options, place):
    model = cls(**options)
    check = list(checks.yield_checks(model))[place]
    if check.__name__ in model._unit_test_skips():
        pytest.skip("scores of keys are not calibrated: there are no probabilities")
    check(model.clone())


def test_classes_have_the_base_classes_of_river():
    assert issubclass(FleetClassifier, base.MiniBatchClassifier)
    assert issubclass(FleetRegressor, base.MiniBatchRegressor)
    assert FleetClassifier()._multiclass
    with pytest.raises(ValueError, match="personal must be"):
        FleetClassifier(personal=-1)
    with pytest.raises(ValueError, match="key must be the name of a feature, not 3"):
        FleetClassifier(key=3)


@pytest.mark.parametrize("options", [{}, {"shared": False}, {"C": 0.1, "average": True}], ids=str)
def test_models_equal_the_fleet(options):
    rows = records(200)
    model, fleet = FleetClassifier("user", **options), Fleet("classification", **options)
    for row, key, x, y in zip(rows, *parted(rows), strict=True):
        given = {**x, "user": row["user"]}
        assert model.predict_one(given) == (fleet.predict_one(key, x) or False)
        assert model.score_one(given) == fleet.score_one(key, x)
        model.learn_one(given, y, w=1.5)
        fleet.learn_one(key, x, y, 1.5)
        assert given == {**x, "user": row["user"]}
    assert contents(model.fleet) == contents(fleet)
    assert model["u0"].statistics == fleet["u0"].statistics
    assert model.explain_one(given) == fleet[key].explain_one(x)


@pytest.mark.parametrize(
    ("cls", "task"), [(FleetClassifier, "classification"), (FleetRegressor, "regression")]
)
def test_frames_are_learned_and_predicted(cls, task):
    rows = records(120)
    X = pd.DataFrame(
        [{name: value for name, value in row.items() if name != "label"} for row in rows]
    ).fillna(0.0)
    y = pd.Series([row["label"] if task == "classification" else float(len(row)) for row in rows])
    model, fleet = cls("user"), Fleet(task)
    for start in (0, 60):
        model.learn_many(X[start : start + 60], y[start : start + 60], w=2.0)
        fleet.learn_many("user", X[start : start + 60], y[start : start + 60], [2.0] * 60)
    assert contents(model.fleet) == contents(fleet)
    X.index = [f"row {i}" for i in range(120)]
    answers = model.predict_many(X)
    assert list(answers.index) == list(X.index)
    assert answers.tolist() == list(fleet.predict_many("user", X))
    assert model.predict_many(X[:0]).empty


def test_copies_learn_on_by_themselves():
    model = FleetClassifier("user")
    for row in records(50):
        model.learn_one({name: value for name, value in row.items() if name != "label"}, row["label"])
    x = {"user": "u1", "t0": 1, "size": 0.3}
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert contents(other.fleet) == contents(model.fleet)
        before = model.score_one(x)
        other.learn_one(x, "no" if other.predict_one(x) == "yes" else "yes")
        assert model.score_one(x) == before != other.score_one(x)
    new = model.clone()
    assert (len(new.fleet), new.key) == (0, "user")


def test_an_example_without_its_key_is_rejected():
    model = FleetClassifier("user")
    model.learn_one({"user": 1, "a": 1}, "x")
    before = contents(model.fleet)
    for call in (model.predict_one, lambda x: model.learn_one(x, "x")):
        with pytest.raises(InputError, match="there is no feature 'user', which is the key: there are 'a'"):
            call({"a": 1})
        with pytest.raises(InputError, match=r"a key must be a string or a whole number, not 1\.5"):
            call({"a": 1, "user": 1.5})
    assert contents(model.fleet) == before


def test_options_cannot_change_once_learning_has_begun():
    model = FleetClassifier("user")
    model.C = 0.5
    with pytest.raises(ValueError, match="C cannot change once learning has begun"):
        model.learn_one({"user": 1, "a": 1}, "x")
    model.C = 1.0
    model.learn_one({"user": 1, "a": 1}, "x")


def test_progressive_validation_in_a_pipeline():
    """The users are not scaled. Who they are helps."""

    def accuracy(**options):
        scaled = compose.Discard("user") | preprocessing.StandardScaler()
        model = (scaled + compose.Select("user")) | FleetClassifier("user", **options)
        stream = [
            ({n: v for n, v in row.items() if n != "label"}, row["label"]) for row in records(600, users=3)
        ]
        return evaluate.progressive_val_score(stream, model, metrics.Accuracy()).get()

    assert accuracy(personal=2.0) > accuracy(personal=1e-6) + 0.05
