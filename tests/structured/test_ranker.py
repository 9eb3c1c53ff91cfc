"""PARanker: compared with its twin, and what every learner promises. (test_feature_maps.py tests its maps.)"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone

import hinge
from hinge import ClassTfIdf, EmailFeatures, FeatureMap, ModelFileError, PARanker
from hinge.model import file
from mail import mail
from reference_labels import STEPS_OF, Prototype

SELECTIONS = [
    (selection, step)
    for selection, steps in STEPS_OF.items()
    for step in steps
    if selection != "mira" and (selection, step) != ("prediction", "perceptron")
]


class Given(FeatureMap):
    """x is phi(x, .) itself: a matrix with one row per label; it may have more labels than the model."""

    def features(self, x, labels):
        return [f"f{j}" for j in range(x.shape[1])], x[[int(label) for label in labels]]


class Remembers(FeatureMap):
    """A map with a memory, which fails in the way that x names."""

    def __init__(self):
        self.seen = {}

    def features(self, x, labels):
        if x == "raises":
            raise KeyError(x)
        values = np.array([[float(len(x)), float(self.seen.get(label, 0))] for label in labels])
        return {
            "nan": (["length", "seen"], values * np.nan),
            "inf": (["length", "seen"], values + np.inf),
            "huge": (["length", "seen"], values + 1e200),
            "wide": (["length", "seen"], np.hstack([values, values])),
            "flat": (["length", "seen"], values.ravel()),
            "short": (["length", "seen"], values[1:]),
            "twice": (["length", "length"], values),
            "number": (["length", 3], values),
            "words": (["length", "seen"], [["a", "b"] for _ in labels]),
            "nothing": None,
            "three": (["length", "seen"], values, 1),
        }.get(x, (["length", "seen"], values))

    def learned(self, x, relevant):
        for label in relevant:
            self.seen[label] = self.seen.get(label, 0) + 1
        if x == "forgets":
            raise RuntimeError("half way")

    def state(self):
        return {"labels": list(self.seen), "counts": np.array(list(self.seen.values()), dtype=np.int64)}

    def restore(self, state):
        self.seen = dict(zip(state["labels"], state["counts"].tolist(), strict=True))


def parts(model):
    return file.to_bytes(*model.to_parts())


def play(model, X, y, weights=None):
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        model.learn_one(x, label, 1.0 if weights is None else weights[i])
    return model


# ---- the learner, against the twin -------------------------------------------------------------------------


def depends_on_rounding(twin, Phi):
    """Whether two scores differ only by rounding: which label is ahead then depends on the BLAS."""
    if twin.state is None or not twin.state.any():  # all scores are 0, exactly
        return False
    scores = twin.scores(Phi.T)
    pairs = itertools.combinations(range(len(Phi)), 2)
    return any(abs(scores[r] - scores[s]) < 1e-9 and (Phi[r] != Phi[s]).any() for r, s in pairs)


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("sets", [False, True])
@pytest.mark.parametrize(("selection", "step"), SELECTIONS)
def test_rounds_equal_those_of_the_twin(selection, step, sets, average):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        k, n = int(rng.integers(2, 6)), int(rng.integers(1, 7))
        options = {
            "selection": selection,
            "step": step,
            "C": rng.choice([0.05, 0.7]),
            "margin": rng.choice([0.5, 1]),
        }
        if step == "pa1" and selection in ("simproj", "conproj") and seed % 2:
            options["nu"] = rng.choice([0.0, 0.5, 1.0, 2.0], size=(k, k))
        twin = Prototype(k, average=average, **options)
        ours = PARanker(features=Given(), classes=list(range(k)), average=average, **options)
        learned = 0
        for _ in range(40):
            Phi = rng.integers(-8, 9, size=(k, n)) / 4 * (rng.random((k, n)) < rng.choice([0.5, 1.0]))
            Y = np.flatnonzero(rng.integers(2, size=k)).tolist() if sets else [int(rng.integers(k))]
            weight = float(rng.choice([0.0, 0.5, 1.0, 2.0]))
            if depends_on_rounding(twin, Phi):
                continue
            learned += 1
            ours.learn_one(Phi, Y if sets else Y[0], weight)
            twin.learn(Phi.T, Y, weight)
            names = ours.named_weights()
            state = twin.state if twin.state is not None else np.zeros(n)
            w = np.array([names.get(f"f{j}", 0.0) for j in range(n)])
            np.testing.assert_allclose(
                w, twin.average_w if average and twin.copies else state, rtol=1e-9, atol=1e-12
            )
            scores = ours.score_one(Phi)
            np.testing.assert_allclose(list(scores.values()), w @ Phi.T, rtol=1e-9, atol=1e-11)
        s, t = ours.stats_, twin.statistics
        assert learned > 20  # few rounds are left out
        assert (s.rounds, s.mistakes, s.updates) == (t.rounds, t.mistakes, t.updates)
        np.testing.assert_allclose(
            [s.loss, s.squared_loss, s.progress, s.cost],
            [t.loss, t.squared_loss, t.progress, t.cost],
            rtol=1e-9,
        )


@pytest.mark.parametrize("selection", ["max", "prediction"])
def test_rounds_with_costs_equal_those_of_the_twin(selection):
    rng = np.random.default_rng(0)
    cost = rng.choice([0.0, 0.25, 1.0, 2.0], size=(4, 4)) * (1 - np.eye(4))
    twin = Prototype(4, selection=selection, cost=cost)
    ours = PARanker(features=Given(), classes=[0, 1, 2, 3], selection=selection, cost=cost)
    for _ in range(60):
        Phi, y = rng.normal(size=(4, 3)), int(rng.integers(4))
        assert ours.predict_one(Phi) == (0 if twin.state is None else twin.predict(Phi.T))
        ours.learn_one(Phi, y)
        twin.learn(Phi.T, y)
    np.testing.assert_allclose(list(ours.named_weights().values()), twin.w, rtol=1e-9)
    np.testing.assert_allclose(ours.stats_.cost, twin.statistics.cost)
    for several in ([], [1, 2]):
        with pytest.raises(ValueError, match="one label"):
            ours.learn_one(Phi, several)


def test_w1_is_the_start():
    w1 = {"f0": 0.5, "f2": -1.0}
    model = PARanker(features=Given(), classes=[0, 1], w1=w1)
    assert model.score_one(np.eye(3)) == {0: 0.5, 1: 0.0}
    play(model, [np.eye(3)] * 3, [1, 0, 1])
    twin = Prototype(2, w1=[0.5, 0.0, -1.0])
    for y in (1, 0, 1):
        twin.learn(np.eye(3)[:2].T, y)
    np.testing.assert_allclose([model.named_weights()[name] for name in ("f0", "f1")], twin.w[:2])
    with pytest.raises(ValueError, match="dict of named weights"):
        PARanker(features=Given(), w1=[0.5]).learn_one(np.eye(3), 1)


KINDS = {
    "tfidf": {"features": "tfidf"},
    "email": {"features": "email", "selection": "simproj", "C": 0.1},
    "average": {"features": EmailFeatures(scope="all", binary=True), "average": True, "selection": "conproj"},
    "float32": {"features": ClassTfIdf(ngram_range=(1, 2)), "dtype": "float32", "step": "pa2"},
}


@pytest.mark.parametrize("sets", [False, True])
@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_batches_equal_events(options, sets):
    X, y = mail(90, sets=sets)
    weights = np.random.default_rng(1).choice([0.0, 0.5, 1.0], size=len(X))
    one_by_one = play(PARanker(**options), X, y, weights)
    batches = PARanker(**options)
    for rows in (slice(0, 1), slice(1, 40), slice(40, 90)):
        batches.learn_many(X[rows], y[rows], weights[rows])
    assert parts(batches) == parts(one_by_one)


def test_predicting_changes_nothing():
    X, y = mail()
    model = play(PARanker(features="email"), X, y)
    before = parts(model)
    scores = model.decision_function(X)
    assert scores.shape == (60, 5)
    assert model.predict(X).tolist() == [model.predict_one(x) for x in X]
    assert model.predict(X).tolist() == [max(s := model.score_one(x), key=s.get) for x in X]
    assert model.score(X, y) == np.mean(model.predict(X) == np.array(y))
    assert model.score(X, [{label, "z"} for label in y]) == model.score(X, y)
    weights = np.arange(60.0)
    assert model.score(X, y, weights) == pytest.approx(np.average(model.predict(X) == y, weights=weights))
    for x in (["never", "seen"], []):
        assert model.predict_one(x) in model.classes_
    for label in (None, "c"):
        explained = model.explain_one(X[3], label)
        score = max(model.score_one(X[3]).values()) if label is None else model.score_one(X[3])[label]
        assert sum(part.contribution for part in explained) == pytest.approx(score)
    with pytest.raises(ValueError, match="not one of the labels"):
        model.explain_one(X[3], "z")
    assert parts(model) == before


def test_an_unfitted_ranker_predicts_nothing():
    model = PARanker()
    assert model.predict_one("a text") is None
    assert model.score_one("a text") == {}
    assert model.explain_one("a text") == []
    model.learn_one("a text", set()).learn_one("a text", "spam", weight=0.0)
    assert (model.stats_.rounds, model.stats_.updates, list(model.classes_)) == (1, 0, [])
    model.learn_one("a text", "spam")
    assert model.predict_one("any text") == "spam"
    with pytest.raises(Exception, match="not fitted"):
        PARanker().predict(["a text"])


# ---- fit, and scikit-learn's conventions ---------------------------------------------------------------------


def test_fit_is_one_pass_in_order_with_all_labels_known():
    X, y = mail()
    fitted = PARanker(features="email").fit(X, y)
    stream = play(PARanker(features="email", classes=sorted(set(y))), X, y)
    assert fitted.named_weights() == stream.named_weights()
    assert fitted.stats_ == stream.stats_
    assert fitted.n_iter_ == 1
    assert fitted.classes_.tolist() == list("abcde")
    before = parts(fitted)
    assert parts(fitted.fit(X, y)) == before  # afresh
    in_parts = PARanker(features="email").partial_fit(X[:20], y[:20], classes=list("abcde"))
    in_parts.partial_fit(X[20:], y[20:])
    assert in_parts.named_weights() == fitted.named_weights()
    fitted.learn_one(["something"], "new")
    assert fitted.classes_.tolist() == [*"abcde", "new"]


def test_later_passes_do_not_count_again():
    X, y = mail()
    model = PARanker(max_iter=4, shuffle=True, random_state=3).fit(X, y)
    once = PARanker(shuffle=True, random_state=3).fit(X, y)
    assert (model.n_iter_, model.stats_.rounds, once.stats_.rounds) == (4, 240, 60)
    assert model.feature_map_.state()["documents"] == 60
    assert model.feature_map_.state()["words"] == once.feature_map_.state()["words"]
    assert parts(PARanker(max_iter=4, shuffle=True, random_state=3).fit(X, y)) == parts(model)
    assert PARanker(max_iter=500, C=100.0).fit(X[:6], list("aabbab")).n_iter_ < 500


def test_scikit_learn_conventions_hold():
    given = EmailFeatures(often=0.3)
    model = PARanker(features=given, C=0.5)
    other = clone(model)
    assert other.get_params()["C"] == 0.5
    assert other.features is not given
    assert repr(other) == repr(model) == "PARanker(C=0.5, features=EmailFeatures(often=0.3))"
    X, y = mail()
    model.fit(np.array([" ".join(x) for x in X], dtype=object), np.array(y))
    assert model.set_params(C=0.1)._learner.parameters["C"] == 0.1
    assert "max_iter : a whole number of 1 or more, default=1\n" in PARanker.__doc__
    assert "features : " in PARanker.__doc__
    numbers = PARanker().fit(["a b c", "d e f"], [7, 3])
    assert numbers.classes_.tolist() == [3, 7]


def test_learning_starts_from_the_counts_of_the_given_map(tmp_path):
    fed = ClassTfIdf()
    fed.learned("some text of before", {"a"})
    model = PARanker(features=fed).fit(["some text", "other text"], ["a", "b"])
    assert model.feature_map_.state()["documents"] == 3
    model.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    assert again.features.state()["documents"] == fed.state()["documents"] == 1
    assert parts(again) == parts(model)


# ---- custom maps -------------------------------------------------------------------------------------------


def test_loading_needs_the_custom_code(tmp_path):
    X, y = ["aa bb", "cc", "aa cc", "bb"] * 5, list("abab") * 5
    for name, make in {"own": Remembers, "tokens": lambda: ClassTfIdf(tokenizer=str.split)}.items():
        model = play(PARanker(features=make()), X, y)
        model.save(tmp_path / name)
        with pytest.raises(ModelFileError, match=r"PARanker.load\(path, features="):
            hinge.load(tmp_path / name)
        with pytest.raises(ModelFileError, match="saved with the feature map"):
            PARanker.load(tmp_path / name, features=EmailFeatures())
        again = PARanker.load(tmp_path / name, features=make())
        assert parts(again) == parts(model)
        assert parts(play(again, X, y)) == parts(play(model, X, y))
    hinge.PAClassifier().fit(np.eye(2), [0, 1]).save(tmp_path / "classifier")
    with pytest.raises(ModelFileError, match="PAClassifier"):
        PARanker.load(tmp_path / "classifier")


def test_invalid_map_states_are_not_saved(tmp_path):
    class Odd(Remembers):
        def state(self):
            return {"labels": [], "counts": self.odd}

    for odd in ({1, 2}, object(), np.array([{}])):
        feature_map = Odd()
        feature_map.odd = odd
        model = PARanker(features=feature_map).learn_one("x", "a")
        with pytest.raises(TypeError, match="Odd"):
            model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_invalid_maps_are_rejected():
    class Forgetful(Given):
        def learned(self, x, relevant):
            self.seen = True

    with pytest.raises(ValueError, match="must have `state`"):
        PARanker(features=Forgetful()).learn_one(np.eye(2), 0)
    for odd in ("words", None, 3, ClassTfIdf, str.split):
        with pytest.raises(ValueError, match="features must be"):
            PARanker(features=odd).fit(["a", "b"], [0, 1])


# ---- rejected input leaves no trace ------------------------------------------------------------------------


def rejected(model, call, match, error=ValueError):
    fitted = model.__sklearn_is_fitted__()
    before = parts(model) if fitted else dict(vars(model))
    with pytest.raises(error, match=match):
        call()
    assert (parts(model) if fitted else vars(model)) == before


BAD_MAPS = {
    "raises": (KeyError, "raises"),
    "forgets": (RuntimeError, "half way"),
    "nan": (ValueError, "NaN"),
    "inf": (ValueError, "inf"),
    "huge": (ValueError, "overflows"),
    "wide": (ValueError, "a column for"),
    "flat": (ValueError, "one row of values"),
    "short": (ValueError, "one row of values"),
    "twice": (ValueError, "occurs twice"),
    "number": (ValueError, "strings as names"),
    "words": (ValueError, "array of numbers"),
    "nothing": (ValueError, "names and an array"),
    "three": (ValueError, "names and an array"),
}


@pytest.mark.parametrize("asked", BAD_MAPS)
@pytest.mark.parametrize("learned_before", [False, True])
def test_errors_of_a_map_leave_no_trace(asked, learned_before):
    error, match = BAD_MAPS[asked]
    model = PARanker(features=Remembers())
    model.predict_one("")
    if learned_before:
        play(model, ["x", "xx", "xxx"], ["a", "b", "a"])
    for label in ("a", "new", {"a", "new"}):
        rejected(model, lambda y=label: model.learn_one(asked, y), match, error)
    batch = ["x", "yy", asked, "z"]
    rejected(model, lambda: model.learn_many(batch, ["a", "c", "d", "a"]), match, error)
    if learned_before:
        rejected(model, lambda: model.partial_fit(batch, ["a", "b", "b", "a"]), match, error)
        rejected(model, lambda: model.fit(batch, ["a", "b", "b", "a"]), match, error)
        if asked != "forgets":
            rejected(model, lambda: model.predict_one(asked), match, error)


@pytest.mark.parametrize("options", KINDS.values(), ids=KINDS)
def test_invalid_input_is_rejected(options):
    X, y = mail()
    model = play(PARanker(**options), X, y)
    good, more = ["w1", "w2", "brand new"], ["w3", "newer still"]
    for odd, match in [
        (None, "a text must"),
        (7, "a text must"),
        (["w", 3], "a word must"),
        ({"w"}, "a text must"),
    ]:
        rejected(model, lambda odd=odd: model.learn_one(odd, "a"), match)
        rejected(model, lambda odd=odd: model.learn_one(odd, "fresh"), match)
        rejected(model, lambda odd=odd: model.learn_one(odd, "a", weight=0.0), match)
        for method in (model.learn_many, model.partial_fit, model.fit):
            rejected(
                model,
                lambda odd=odd, method=method: method([good, odd, more], list("aba")),
                f"row 1: {match}",
            )
        rejected(model, lambda odd=odd: model.predict([good, odd]), f"row 1: {match}")
    for odd in (None, float("nan"), {"a", None}, [["a"]], b"a", {"a": 1}):
        rejected(model, lambda odd=odd: model.learn_one(good, odd), "a label must be|the label is NaN")
        rejected(
            model,
            lambda odd=odd: model.learn_many([good, more], ["fresh", odd]),
            "row 1: (a label must be|the label is NaN)",
        )
    for odd in (-1.0, float("nan"), float("inf"), "one", None):
        rejected(model, lambda odd=odd: model.learn_one(good, "a", weight=odd), "sample weight")
    rejected(model, lambda: model.learn_many([good, more], ["fresh", "a"], [1.0, -1.0]), "sample weight")
    rejected(model, lambda: model.learn_many([good, more], ["a", "b"], [1.0]), "1 entries for 2")
    rejected(model, lambda: model.learn_many([good, more], ["a"]), "1 entries for 2")
    rejected(model, lambda: model.learn_many("a text", ["a"]), "list of examples")
    rejected(model, lambda: model.learn_many([good], None), "y is None")
    rejected(model, lambda: model.learn_many([good, more], np.eye(2)), "a label, or a set")
    rejected(model, lambda: model.fit([good, more], ["a", "a"]), "only 1 class")
    rejected(model, lambda: model.partial_fit([good, more], ["a", "fresh"]), "row 1: the label 'fresh'")
    rejected(model, lambda: model.partial_fit([good], ["a"], classes=["a", "b"]), "not the same")
    before = parts(model)
    assert parts(model.learn_one(good, "fresh", weight=0.0)) == before
    assert parts(model.learn_many([], [])) == before


def test_limits_are_enforced():
    X, y = mail(labels="abc")
    model = play(PARanker(features=EmailFeatures(max_features=25)), X[:3], y[:3])
    known = len(model.feature_map_.state()["words"])
    fresh = [f"new{j}" for j in range(26 - known)]
    rejected(model, lambda: model.learn_one(fresh, "fresh"), "max_features")
    model.learn_one(fresh[1:], "fresh")

    model = PARanker(features=EmailFeatures(), max_features=3)  # of w
    play(model, [["a", "b"], ["b", "c"]], "pq")
    rejected(model, lambda: model.learn_one(["d", "e"], "r"), "max_features")
    rejected(model, lambda: model.learn_many([["a"], ["d", "e"]], ["r", "q"]), "max_features")

    model = play(PARanker(max_labels=3), X, y)
    rejected(model, lambda: model.learn_one(["w1"], "fresh"), "max_labels")
    model = play(PARanker(classes=list("abc")), X, y)
    rejected(model, lambda: model.learn_one(["w1"], "fresh"), "not one of the classes")
    rejected(model, lambda: model.learn_one(["w1"], {"a", "fresh"}), "not one of the classes")
    with pytest.raises(ValueError, match="classes must be passed"):
        PARanker().partial_fit(X, y)
    with pytest.raises(ValueError, match="not those of the constructor"):
        PARanker(classes=list("abc")).partial_fit(X, y, classes=list("abd"))
    with pytest.raises(ValueError, match="selection='mira'"):
        PARanker(selection="mira").learn_one(["w1"], "a")


def test_a_label_takes_part_from_its_first_example_on():
    """A model that knows it from the start may learn something else."""
    X, y = mail(120)
    twin, ours = None, PARanker(features="email", selection="simproj")
    feature_map, labels, names, w = EmailFeatures(), [], [], {}
    for x, label in zip(X, y, strict=True):
        labels += [label] if label not in labels else []
        names, values = feature_map.features(x, labels)
        twin = Prototype(len(labels), selection="simproj", w1=[w.get(name, 0.0) for name in names])
        twin.learn(values.T, labels.index(label))
        w.update(zip(names, twin.state.tolist(), strict=True))
        feature_map.learned(x, {label})
        ours.learn_one(x, label)
        assert ours.classes_.tolist() == labels
    learned = ours.named_weights()
    for name, weight in w.items():
        assert learned.get(name, 0.0) == pytest.approx(weight, rel=1e-9, abs=1e-12)


def test_corrupt_files_are_rejected(tmp_path):
    X, y = mail()
    model = play(PARanker(features="email"), X, y)
    header, tensors = model.to_parts()
    for name, odd in [
        ("map.counted", tensors["map.counted"][:-1]),
        ("map.counted", ~tensors["map.counted"]),
        ("map.counted", tensors["map.counted"].astype(np.int64)),
        ("map.by_label", -tensors["map.by_label"]),
        ("map.totals", tensors["map.totals"][1:]),
        ("map.totals", tensors["map.totals"].astype(float)),
        ("map", np.frombuffer(b"{}", dtype=np.uint8)),
        ("map", np.frombuffer(b"no", dtype=np.uint8)),
    ]:
        (tmp_path / "model").write_bytes(file.to_bytes(header, {**tensors, name: odd}))
        with pytest.raises(ModelFileError):
            hinge.load(tmp_path / "model")
    for odd in ({**header["map"], "kind": "Path"}, {**header["map"], "options": {"scope": 3}}):
        (tmp_path / "model").write_bytes(file.to_bytes({**header, "map": odd}, tensors))
        with pytest.raises(ModelFileError):
            hinge.load(tmp_path / "model")
