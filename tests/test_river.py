"""hinge.river: River's checks, River's Passive-Aggressive classes as a reference, pipelines, files."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hinge

river = pytest.importorskip("river", reason="river is not installed")
pd = pytest.importorskip("pandas", reason="pandas is not installed")

from river import base, checks, datasets, evaluate, linear_model, metrics, preprocessing  # noqa: E402

import hinge.river  # noqa: E402
from hinge.river import AutoClassifier, AutoRegressor, PAClassifier, PAMultilabel, PARegressor  # noqa: E402

SETTINGS = [
    (PAClassifier, {}),
    (PAClassifier, {"step": "pa"}),
    (PAClassifier, {"step": "pa2", "average": True, "fit_intercept": False}),
    (PAClassifier, {"step": "perceptron", "average": 10}),
    (PAClassifier, {"C": 0.05, "margin": 0.5, "dtype": "float32"}),
    (PAClassifier, {"hash_bits": 10, "average": True}),
    (PAClassifier, {"selection": "simproj", "average": True}),
    (PAClassifier, {"selection": "mira", "dtype": "float32"}),
    (PAClassifier, {"step": "perceptron", "selection": "uniform", "hash_bits": 10}),
    (PARegressor, {}),
    (PARegressor, {"step": "pa", "epsilon": 0.0}),
    (PARegressor, {"step": "pa2", "average": True, "fit_intercept": False}),
    (PARegressor, {"C": 0.05, "max_features": 100}),
    (PARegressor, {"hash_bits": 10}),
    (PAClassifier, {"geometry": "diagonal", "step": "cw"}),
    (PAClassifier, {"geometry": "mahalanobis", "step": "pa2", "average": True}),
    (PAClassifier, {"geometry": "entropy"}),
    (PARegressor, {"geometry": "mahalanobis", "covariance_regularizer": 0.1}),
    (PARegressor, {"geometry": "entropy", "signed": False}),
    (PAClassifier, {"kernel": "rbf", "gamma": 0.5}),
    (PAClassifier, {"kernel": "rbf", "gamma": 0.5, "budget": 20}),
    (PAClassifier, {"C": "auto"}),
    (PAClassifier, {"C": [0.01, 0.1, 1.0], "step": "pa2", "average": True}),
    (PAClassifier, {"C": "auto", "selection": "simproj", "hash_bits": 10}),
    (PARegressor, {"C": "auto", "average": True}),
    (PARegressor, {"kernel": "rbf", "gamma": 1e-4}),  # dates of 7e5 in its data: |x - z|^2 has 11 digits less
]
COMMITTEES = [
    (AutoClassifier, {}),
    (AutoClassifier, {"hash_bits": 10, "experts": ["pa1:0", "scaled:arow:0:average"]}),
    (AutoRegressor, {}),
    (AutoRegressor, {"epsilon": 0.0, "fit_intercept": False}),
]
MULTILABEL = [
    (PAMultilabel, {}),
    (PAMultilabel, {"selection": "simproj", "threshold": 0.0, "average": True}),
    (PAMultilabel, {"step": "pa2", "hash_bits": 8, "dtype": "float32"}),
    (PAMultilabel, {"geometry": "diagonal", "covariance_update": "drop", "hash_bits": 8}),
]
CHECKS = [
    pytest.param(cls, options, place, id=f"{cls.__name__}-{options}-{place}-{check.__name__}")
    for cls, options in [
        *SETTINGS,
        *MULTILABEL,
        (PAMultilabel, {"kernel": "rbf", "gamma": 0.5, "budget": 20}),
    ]
    for place, check in enumerate(checks.yield_checks(cls(**options)))
]


class Songs:
    """Replaces datasets.Music, which needs a download: eight numbers and six labels per song."""

    def __iter__(self):
        rng = np.random.default_rng(5)
        W = rng.normal(size=(6, 8))
        for _ in range(600):
            x = rng.normal(size=8)
            relevant = W @ x + 0.3 * rng.normal(size=6) > 0.5
            yield (
                {f"f{j}": float(value) for j, value in enumerate(x)},
                {f"l{r}": bool(yes) for r, yes in enumerate(relevant)},
            )

    def take(self, count):
        return itertools.islice(self, count)


@pytest.fixture(autouse=True)
def no_downloads(monkeypatch):
    monkeypatch.setattr(datasets, "Music", Songs)


def scaled(data, count):
    scaler = preprocessing.StandardScaler()
    for x, y in itertools.islice(data, count):
        scaler.learn_one(x)
        yield scaler.transform_one(x), y


def events(cls, count=300):
    if cls is PARegressor:
        return [(x, y / 10) for x, y in scaled(datasets.TrumpApproval(), count)]
    return list(scaled(datasets.Phishing(), count))


def as_bytes(model):
    return hinge.model.file.to_bytes(*model.to_parts())


@pytest.mark.parametrize(("cls", "options", "place"), CHECKS)
def test_rivers_checks_pass(cls, options, place):
    model = cls(**options)
    assert model._unit_test_skips() == set()
    check = list(checks.yield_checks(model))[place]  # new checks: their datasets can be iterated once
    if "shuffle_features" in str(check) and options.get("dtype") == "float32":
        model = cls(
            **{**options, "dtype": "float64"}
        )  # sums in another order: float32 does not agree to 1e-6
    check(model.clone())


@pytest.mark.parametrize(
    ("cls", "options", "place"),
    [
        pytest.param(cls, options, place, id=f"{cls.__name__}-{options}-{place}-{check.__name__}")
        for cls, options in COMMITTEES
        for place, check in enumerate(checks.yield_checks(cls(**options)))
    ],
)
def test_rivers_checks_of_committees_pass(cls, options, place):
    model = cls(**options)
    assert model._unit_test_skips() == set()
    list(checks.yield_checks(model))[place](model.clone())


def test_classes_have_the_base_classes_of_river():
    assert issubclass(PAClassifier, base.MiniBatchClassifier)
    assert issubclass(PARegressor, base.MiniBatchRegressor)
    assert issubclass(PAMultilabel, base.MultiLabelClassifier)
    assert PAClassifier()._multiclass
    with pytest.raises(ValueError, match="C must be"):
        PAClassifier(C=-1)
    with pytest.raises(ValueError, match="perceptron"):
        PARegressor(step="perceptron")


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("C", [0.01, 0.3])
def test_without_an_intercept_the_classifier_equals_that_of_river(mode, C):
    ours = PAClassifier(C=C, step=("pa", "pa1", "pa2")[mode], fit_intercept=False)
    theirs = linear_model.PAClassifier(C=C, mode=mode, learn_intercept=False)
    for x, y in events(PAClassifier, 500):
        theirs_says = theirs.predict_proba_one(x)[True]  # the sigmoid of the score
        assert 1 / (1 + np.exp(-ours.score_one(x))) == pytest.approx(theirs_says, rel=1e-9)
        assert (ours.predict_proba_one(x)[True] > 0.5) == (theirs_says > 0.5)
        ours.learn_one(x, y)
        theirs.learn_one(x, y)
    assert ours.weights == pytest.approx(dict(theirs.weights), rel=1e-9, abs=1e-12)
    assert ours.statistics.updates > 100


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("C", [0.01, 0.3])
def test_without_an_intercept_the_regressor_equals_that_of_river(mode, C):
    """Except for the loss: River 0.26 measures the error from 2 y - 1, as if y were a class of 0 or 1."""
    ours = PARegressor(C=C, step=("pa", "pa1", "pa2")[mode], epsilon=0.05, fit_intercept=False)
    theirs = linear_model.PARegressor(C=C, mode=mode, eps=0.05, learn_intercept=False)
    theirs.loss = lambda truth, guess: max(abs(guess - truth) - 0.05, 0)
    for x, y in events(PARegressor, 500):
        assert ours.predict_one(x) == pytest.approx(theirs.predict_one(x), rel=1e-9, abs=1e-9)
        ours.learn_one(x, y)
        theirs.learn_one(x, y)
    assert ours.weights == pytest.approx(dict(theirs.weights), rel=1e-9, abs=1e-9)
    assert ours.statistics.updates > 100


@pytest.mark.parametrize(("cls", "options"), [*SETTINGS, *COMMITTEES])
def test_models_equal_the_learner(cls, options):
    more = {"experts": "auto"} if cls in (AutoClassifier, AutoRegressor) else {}
    model, learner = cls(**options), hinge.Learner(cls._task, **{**more, **options})
    for number, (x, y) in enumerate(events(cls)):
        assert model.score_one(x) == learner.score_one(x)
        model.learn_one(x, y, w=1.0 + number % 3)
        learner.learn_one(x, y, 1.0 + number % 3)
    assert model._learner.to_bytes() == learner.to_bytes()
    assert model.predict_one(x) == learner.predict_one(x)
    assert np.array_equal(model.intercept, learner.intercept)
    if "kernel" not in options:  # which has no weights
        assert model.explain_one(x) == learner.explain_one(x)
        assert model.weights == learner.named_weights()


def flat(weights):
    """One number per name, or per label and name."""
    if not any(isinstance(value, dict) for value in weights.values()):
        return weights
    return {(label, name): w for label, lane in weights.items() for name, w in lane.items()}


@pytest.mark.parametrize(("cls", "options"), SETTINGS)
def test_learn_many_equals_learn_one(cls, options):
    given = events(cls)
    X, y = pd.DataFrame([x for x, _ in given]), pd.Series([y for _, y in given])
    w = pd.Series(np.tile([1.0, 0.5, 2.0], len(y) // 3))
    one, rows, many = cls(**options), cls(**options), cls(**options)
    for place, (x, target) in enumerate(given):
        one.learn_one(x, target, w[place])
        rows.learn_many(X[place : place + 1], y[place : place + 1], w[place : place + 1])
    for start in (0, 100, 200):
        many.learn_many(X[start : start + 100], y[start : start + 100], w[start : start + 100])
    assert as_bytes(many) == as_bytes(rows)
    # The columns of a frame come in its order, those of events as they are first met.
    close = 1e-4 if options.get("dtype") == "float32" else 1e-9
    if "kernel" in options:
        ours, theirs = ({n: model.score_one(x) for n, (x, _) in enumerate(given)} for model in (many, one))
    else:
        ours, theirs = flat(many.weights), flat(one.weights)
    assert ours == pytest.approx({name: theirs.get(name, 0.0) for name in ours}, rel=close, abs=close / 1000)
    assert many.statistics.updates == one.statistics.updates

    X.index = [f"row {k}" for k in range(len(X))]
    answers = many.predict_many(X)
    assert list(answers.index) == list(X.index)
    assert answers.tolist() == pytest.approx([many.predict_one(x) for x, _ in given], rel=1e-9)
    if cls is PAClassifier:
        shares = many.predict_proba_many(X)
        assert list(shares.index) == list(X.index)
        for share, (x, _) in zip(shares.to_dict(orient="records"), given, strict=True):
            assert share == pytest.approx(many.predict_proba_one(x), rel=1e-9)


@pytest.mark.parametrize("w", [2, 2.0, np.int64(2), np.float32(2), [2.0] * 60])
def test_weights_are_one_number_or_one_per_row(w):
    given = events(PAClassifier, 60)
    X, y = pd.DataFrame([x for x, _ in given]), pd.Series([y for _, y in given])
    one, many = PAClassifier(C=0.1), PAClassifier(C=0.1)
    for place in range(len(y)):
        one.learn_many(X[place : place + 1], y[place : place + 1], w=2.0)
    many.learn_many(X, y, w)
    assert as_bytes(many) == as_bytes(one)


@pytest.mark.parametrize("labels", [(False, True), (0, 1), ("ham", "spam"), (np.False_, np.True_)])
@pytest.mark.parametrize("first", [0, 1])
def test_labels_may_have_any_type(labels, first):
    """The keys are the labels so far; boolean labels are both known from the start."""
    model = PAClassifier(fit_intercept=False)
    x, z = {"a": 1.0, "b": -0.5}, {"a": -0.5, "b": 1.0}
    assert model.predict_proba_one(x) == {False: 0.5, True: 0.5}
    assert model.predict_one(x) is False
    model.learn_one(x, labels[first])
    alone = model.predict_proba_one(x)
    if isinstance(labels[0], (bool, np.bool_)):
        assert list(alone) == [False, True]
        assert alone[labels[first]] >= 0.5 >= model.predict_proba_one(z)[labels[first]]
        assert model.predict_one(z) == labels[1 - first]
    else:
        assert alone == {labels[first]: 1.0}
        assert model.predict_proba_many(pd.DataFrame([x, z])).to_dict("list") == {labels[first]: [1.0, 1.0]}
    assert model.predict_one(x) == labels[first]
    for _ in range(5):
        model.learn_one(z, labels[1 - first])
        model.learn_one(x, labels[first])
    for event, truth in ((x, first), (z, 1 - first)):
        shares = model.predict_proba_one(event)
        assert list(shares) == list(labels)
        assert shares[labels[truth]] > 0.6
        assert sum(shares.values()) == pytest.approx(1.0)
        assert model.predict_one(event) == labels[truth]
    model.learn_one({"c": 1.0}, "third")  # may appear at any time
    assert list(model.predict_proba_one(x)) == [*labels, "third"]
    assert model.predict_one({"c": 1.0}) == "third"


@pytest.mark.parametrize(
    "options", [{}, {"selection": "mira"}, {"hash_bits": 8, "selection": "prediction"}], ids=str
)
def test_probabilities_of_many_classes_are_those_of_the_learner(options, tmp_path):
    model, learner = PAClassifier(C=0.1, **options), hinge.Learner("classification", C=0.1, **options)
    given = list(scaled(datasets.ImageSegments(), 300))
    right = 0
    for x, y in given:
        right += model.predict_one(x) == y
        model.learn_one(x, y)
        learner.learn_one(x, y)
    assert right > 200
    assert model._learner.to_bytes() == learner.to_bytes()
    X = pd.DataFrame([x for x, _ in given[:40]])
    shares, guesses = model.predict_proba_many(X), model.predict_many(X)
    for k, (x, _) in enumerate(given[:40]):
        one, scores = model.predict_proba_one(x), model.score_one(x)
        assert sum(one.values()) == pytest.approx(1.0)
        assert sorted(one, key=one.get) == sorted(scores, key=scores.get)
        best = max(scores, key=scores.get)
        assert one == learner.predict_proba_one(x)
        assert model.predict_one(x) == learner.predict_one(x) == best == guesses[k]
        assert shares.loc[k].to_dict() == pytest.approx(one)
        assert "Score: " + f"{scores[best]:,.5f}" in model.debug_one(x)
    model.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    for m in (model, again):
        m.learn_one(x, "another")
    assert as_bytes(again) == as_bytes(model)
    assert list(again.weights)[-1] == "another"
    assert model.explain_one(x, "another") == again._learner.explain_one(x, "another")


def test_probabilities_of_two_scores():
    """Except for selection='max', each of two classes has a score."""
    model, loss = PAClassifier(C=0.05, selection="simproj"), metrics.LogLoss()
    for x, y in events(PAClassifier, 300):
        loss.update(y, model.predict_proba_one(x))
        model.learn_one(x, y)
    assert loss.get() < 0.6  # ln 2 is that of a guess
    assert PAClassifier(cost={"a": {"b": 2.0}, "b": {"c": 1.0}}).predict_proba_one(x) == pytest.approx(
        dict.fromkeys("abc", 1 / 3)
    )


@pytest.mark.parametrize(("cls", "options"), MULTILABEL, ids=str)
def test_multilabel_equals_the_learner(cls, options):
    model, learner = cls(C=0.1, **options), hinge.Learner("multilabel", C=0.1, **options)
    assert model.predict_one({"f0": 1.0}) == model.predict_proba_one({"f0": 1.0}) == {}
    right = total = 0
    for k, (x, y) in enumerate(Songs()):
        guess = model.predict_one(x)
        if k > 100:
            right, total = right + sum(guess[label] == y[label] for label in y), total + len(y)
            assert list(guess) == list(y)
        for label, shares in model.predict_proba_one(x).items():
            assert sum(shares.values()) == pytest.approx(1.0)
            assert (shares[True] > 0.5) == guess[label]
        model.learn_one(x, y)
        learner.learn_one(x, {label for label, relevant in y.items() if relevant})
    assert right / total > 0.75
    assert model._learner.to_bytes() == learner.to_bytes()
    assert "Score: " in model.debug_one(x)
    before = as_bytes(model)
    for bad in ({"l0": True, "new": 1.0, None: True}, ["l0"], "l0", None):
        with pytest.raises(ValueError, match="must be a"):
            model.learn_one(x, bad)
        assert as_bytes(model) == before
    model.learn_one(x, {"new": True, "newer": False}, w=0.0)
    assert as_bytes(model) == before
    model.learn_one(x, {"l0": True, "never": False})
    assert model.predict_one(x)["never"] is False


def test_progressive_validation_in_a_pipeline():
    model = preprocessing.StandardScaler() | PAClassifier(C=0.01, average=True)
    metric = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy() + metrics.ROCAUC())
    assert [m.get() for m in metric.data] == pytest.approx([0.894, 0.96], abs=0.03)
    model = preprocessing.StandardScaler() | PARegressor(step="pa2")
    metric = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    assert metric.get() == pytest.approx(0.47, abs=0.02)


def test_mini_batches_in_a_pipeline():
    given = list(datasets.Phishing().take(200))
    X, y = pd.DataFrame([x for x, _ in given]), pd.Series([y for _, y in given])
    model = preprocessing.StandardScaler() | PAClassifier(C=0.1)
    model.learn_many(X, y)
    assert (model.predict_many(X) == y).mean() > 0.85


def test_debug_one_prints_the_score():
    model = preprocessing.StandardScaler() | PARegressor()
    for x, y in datasets.TrumpApproval().take(50):
        model.learn_one(x, y)
    text = model.debug_one(x)
    assert "(intercept)" in text
    score = float(text.split("Score: ")[1].split()[0])
    assert score == pytest.approx(model.predict_one(x), abs=1e-4)


@pytest.mark.parametrize("cls", [PAClassifier, PARegressor])
def test_rejected_input_changes_nothing(cls):
    model = cls()
    for x, y in events(cls, 30):
        model.learn_one(x, y)
    before = as_bytes(model)
    frame = pd.DataFrame([{**x, "new": 1.0}, {**x, "new": np.nan}])
    for call in (
        lambda: model.learn_one({**x, "new": float("nan")}, y),
        lambda: model.learn_one({**x, "new": float("inf")}, y),
        lambda: model.learn_one(x, float("nan")),
        lambda: model.learn_one(x, y, w=-1.0),
        lambda: model.learn_many(frame, pd.Series([y, y])),
    ):
        with pytest.raises(ValueError):
            call()
        assert as_bytes(model) == before
    model.learn_one({"new": 1.0}, y, w=0.0)
    assert as_bytes(model) == before


def test_irrelevant_labels_count_as_labels():
    """River's multilabel classifiers also know the labels that were never relevant."""
    model = PAMultilabel(max_labels=3)
    model.learn_one({"a": 1.0}, {"x": True, "y": False, "z": False})
    with pytest.raises(ValueError, match=r"'w' is new.*the limit is 3 \(max_labels\)"):
        model.learn_one({"a": 1.0}, {"w": False})
    model.learn_one({"a": 1.0}, {"w": False}, w=0.0)  # teaches nothing
    assert set(model.predict_one({"a": 1.0})) == {"x", "y", "z"}


def test_a_lowered_limit_of_labels_is_rejected():
    model = PAMultilabel()
    model.learn_one({"a": 1.0}, {"x": True, "y": False, "z": False})
    model.max_labels = 2
    with pytest.raises(ValueError, match="max_labels cannot change once learning has begun"):
        model.learn_one({"a": 1.0}, {"x": True})
