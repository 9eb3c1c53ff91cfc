"""Certificates of sequences, structures and rankers: comparators against enumeration, theorems on streams."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hinge import PARanker, PASequence, PAStructured
from hinge.structured.sequence_learner import SequenceLearner
from hinge.theory import Trace, guarantees, prototype_comparator, structured_comparator
from hinge.theory.certificate import GIVEN, Against
from hinge.theory.hindsight.rankings import OfRankings
from hinge.theory.hindsight.sentences import OfSentences

WORDS = [f"w{i}" for i in range(12)]


def stream(count=80, noise=0.1, seed=0):
    """Sentences whose tags are those of their words, mostly."""
    random = np.random.default_rng(seed)
    X = [
        [[word, word[-1]] for word in random.choice(WORDS, random.integers(1, 5)).tolist()]
        for _ in range(count)
    ]
    Y = [
        [
            "ABC"[int(token[0][1:]) % 3] if random.random() > noise else str(random.choice(list("ABC")))
            for token in x
        ]
        for x in X
    ]
    return X, Y


X, Y = stream()
PRECISION = {"geometry": "diagonal", "covariance_update": "precision"}
DROP = {"geometry": "diagonal", "covariance_update": "drop"}
COSTS = {"A": {"B": 2, "C": 5}, "B": {"A": 1, "C": 1}, "C": {"A": 3, "B": 1}}


def cost_of(costs, truth, other):
    return sum(
        0 if a == b else 1 if costs is None else costs[a][b] for a, b in zip(truth, other, strict=True)
    )


def worst(model, x, truth, margin, additive, costs):
    """By looking at all tags."""
    lead = model.score_one(x, truth)
    return max(
        margin * (cost if additive else np.sqrt(cost)) - (lead - model.score_one(x, other))
        for other in itertools.product("ABC", repeat=len(x))
        for cost in [cost_of(costs, truth, other)]
    )


@pytest.mark.parametrize("costs", [None, COSTS], ids=["hamming", "costs"])
@pytest.mark.parametrize("additive", [False, True])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("margin", [0.3, 1.0, 4.0])
def test_the_worst_rival_is_that_of_the_enumeration(costs, additive, average, margin):
    model = PASequence(C=0.2, cost=costs, average=average).learn_many(X, Y)
    before = model._learner.to_bytes()
    losses = model._learner.suffered(X[:20], Y[:20], margin, additive)
    for x, truth, loss in zip(X, Y, losses.tolist(), strict=False):
        assert loss == pytest.approx(worst(model, x, truth, margin, additive, costs), abs=1e-12)
    assert model._learner.to_bytes() == before


def test_unknown_tags_are_rejected():
    learner = PASequence().learn_many(X, Y)._learner
    with pytest.raises(ValueError, match="'Z' is not"):
        learner.suffered(X[:1], [["Z"] * len(X[0])], 1.0)
    with pytest.raises(ValueError, match="tags"):
        learner.suffered(X[:1], [["A"] * 9], 1.0)
    with pytest.raises(ValueError, match="no tag"):
        learner._engine.suffered(X[:1], np.full(len(X[0]), 7), 1.0, False, False)


@pytest.mark.parametrize("scale", [0.1, 1.0, 2.5])
@pytest.mark.parametrize("selection", ["prediction", "max", "max-additive"])
def test_comparators_of_multiples_equal_those_of_scaled_weights(scale, selection):
    """s u with the margin m, by u with the margin m/s: against a model that has these weights."""
    learner = SequenceLearner(selection=selection, margin=0.7, C=0.2)
    learner.learn_many(X, Y)
    run = OfSentences(learner, [learner], Against("multiples", (scale,)), verify=False)
    run.see(X, Y)
    [comparator] = run.comparators(learner.statistics)

    class Scaled:
        def score_one(self, x, tags):
            return scale * learner.score_one(x, tags)

    additive = selection == "max-additive"
    losses = [worst(Scaled(), x, y, 0.7, additive, None) for x, y in zip(X, Y, strict=True)]
    assert comparator.loss == pytest.approx(sum(losses), rel=1e-9)
    assert comparator.squared_loss == pytest.approx(sum(loss**2 for loss in losses), rel=1e-9)
    weights = [*learner.transitions().values(), *learner.emissions().values()]
    assert comparator.norm2 == pytest.approx(scale**2 * sum(weight**2 for weight in weights))
    assert comparator.rounds == len(X)


def taggers():
    for selection in ("prediction", "max", "max-additive"):
        for step in ("pa", "pa1", "pa2", *(["perceptron"] if selection == "prediction" else [])):
            for cost, margin in ((None, 1.0), (None, 0.25), (COSTS, 3.0)):
                yield step, selection, cost, margin


@pytest.mark.parametrize(("step", "selection", "cost", "margin"), list(taggers()))
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_every_guarantee_of_a_tagger_holds(step, selection, cost, margin, noise):
    rows, tags = stream(60, noise, seed=3)
    for C in (0.01, 0.3, 10.0):
        model = PASequence(C=C, step=step, selection=selection, cost=cost, margin=margin, average=False)
        model.learn_many(rows, tags)
        found = model.certificate(rows, tags)
        assert not found.reason
        assert found.holds, [str(one) for one in found.guarantees if not one.holds]
        if step != "pa" or (noise == 0 and cost is None):  # a hard margin needs a comparator without loss
            assert found.applicable
    # Against any other: one that has learned something else.
    other = PASequence(C=1.0, cost=cost).learn_many(*stream(40, 0.5, seed=4))
    given = model.certificate(rows, tags, u=other)
    assert given.holds
    assert "given" in str(given)


def test_one_sentence_reaches_the_bound():
    """u = Delta/q has no loss and the squared length 1/q, and the round suffers 1: J06 Theorem 2 is an equality."""
    model = PASequence(step="pa", classes=["A", "B"], average=False).learn_many([[["x"]]], [["B"]])
    found = model.certificate([[["x"]]], [["B"]], u=model)
    its = {(one.theorem, one.quantity): one for one in found.applicable}
    for quantity in ("squared loss", "cost"):
        theorem = its["J06 Theorem 2", quantity]
        assert theorem.suffered == theorem.guaranteed == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"cost": lambda y, z: 1.0}, "a cost that is a function"),
        ({"cost": {"A": {"B": 0.5, "C": 1}, "B": {"A": 1, "C": 1}, "C": {"A": 1, "B": 1}}}, "whole numbers"),
        ({**PRECISION, "step": "perceptron"}, "no theorem is known"),
        (
            {"step": "perceptron", "cost": {"A": {"B": 1}, "B": {"A": 1, "C": 1}, "C": {"A": 1}}},
            "cost nothing",
        ),
    ],
)
def test_models_without_a_search_report_the_reason(options, reason):
    found = PASequence(**options).learn_many(X, Y).certificate(X, Y)
    assert found.holds
    assert not found.applicable
    assert reason in str(found)


def test_a_tagger_must_have_seen_the_whole_stream_once():
    assert "160 rounds, and here are 80" in str(PASequence().learn_many(X * 2, Y * 2).certificate(X, Y))
    model = PASequence(max_iter=1, shuffle=False, average=True).fit(X, Y)
    found = model.certificate(X, Y)
    assert found.applicable
    assert "about the vectors that were averaged" in str(found)


def test_weights_of_sentences_are_detected():
    model = SequenceLearner(C=0.01, selection="prediction")
    model.learn_many(X, Y, [50.0] * len(X))
    assert "without weights" in str(model.certificate(X, Y))


SIZES = np.random.default_rng(0).uniform(0.5, 1.5, size=40).tolist()
NOISE = ["C", "B", *np.random.default_rng(1).choice(["A", "B"], size=38).tolist()]


def test_a_perceptron_with_free_mistakes_has_no_theorem():
    """It moves when it confuses A and B, which costs nothing, so that no comparator is asked to tell them apart."""
    costs = {"A": {"B": 0, "C": 1}, "B": {"A": 0, "C": 1}, "C": {"A": 1, "B": 1}}
    rows, tags = [[{"x": size}] for size in SIZES], [[letter] for letter in NOISE]
    model = PASequence(step="perceptron", cost=costs, average=False).learn_many(rows, tags)
    assert model.stats_.updates > 10
    found = model.certificate(rows, tags)
    assert not found.applicable
    assert "mistakes that cost nothing" in str(found)


# ---- structures ------------------------------------------------------------------------------------------------


def joint_features(x, y):
    """Of sentences, as a dict."""
    features = {}
    for place, (token, tag) in enumerate(zip(x, y, strict=True)):
        for name in [*token, f"after {y[place - 1] if place else None}"]:
            features[f"{name}:{tag}"] = features.get(f"{name}:{tag}", 0.0) + 1.0
    return features


def as_array(x, y):
    """The same, hashed by hand."""
    vector = np.zeros(64)
    for name, value in joint_features(x, y).items():
        vector[sum(map(ord, name)) * 7 % 64] += value
    return vector


def outputs(x):
    return [list(tags) for tags in itertools.product("ABC", repeat=len(x))]


def searched(features, margin=1.0, root=True):
    def dot(w, vector):
        return w.dot(vector) if isinstance(vector, dict) else float(w @ vector)

    def argmax(w, x):
        return max(outputs(x), key=lambda y: dot(w, features(x, y)))

    def loss_augmented(w, x, y):
        def value(z):
            cost = cost_of(None, y, z)
            return dot(w, features(x, z)) + margin * (np.sqrt(cost) if root else cost)

        return max(outputs(x), key=value)

    return argmax, loss_augmented


def hamming(y, z):
    return cost_of(None, y, z)


@pytest.mark.parametrize("features", [joint_features, as_array])
@pytest.mark.parametrize("selection", ["prediction", "max", "max-additive"])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_every_guarantee_of_a_structure_holds(features, selection, step):
    if step == "perceptron" and selection != "prediction":
        pytest.skip("perceptrons move on mistakes")
    argmax, loss_augmented = searched(features, root=selection != "max-additive")
    given = None if selection == "prediction" else loss_augmented
    rows, tags = stream(25, 0.05, seed=6)
    model = PAStructured(features, argmax, hamming, given, C=0.2, step=step, selection=selection)
    model.learn_many(rows, tags)
    found = model.certificate(rows, tags)
    assert not found.reason
    assert found.holds, [str(one) for one in found.guarantees if not one.holds]
    assert ("with the rivals of the run" in found.against) == (given is None)
    if step != "pa":
        assert found.applicable
    other = PAStructured(features, argmax, hamming, given, C=0.1, selection=selection).fit(rows, tags)
    assert model.certificate(rows, tags, u=other).holds


def knows_the_largest_cost(guarantee):
    return "9" in guarantee.theorem or (
        guarantee.theorem.startswith("PA-I loss") and guarantee.quantity == "cost"
    )


def test_a_structure_has_the_guarantees_of_the_same_tagger():
    """Sequences with a custom search: the same comparator, the same guarantees."""
    rows, tags = stream(25, 0.05, seed=6)
    argmax, loss_augmented = searched(joint_features)
    structure = PAStructured(joint_features, argmax, hamming, loss_augmented, C=0.2, selection="max")
    tagger = PASequence(C=0.2, selection="max", average=False, classes=list("ABC"))
    found = structure.learn_many(rows, tags).certificate(rows, tags, u=structure)
    expected = tagger.learn_many(rows, tags).certificate(rows, tags, u=tagger)
    assert structure.stats_.cost == tagger.stats_.cost
    for one, other in zip(found.guarantees, expected.guarantees, strict=True):
        assert (one.theorem, one.quantity) == (other.theorem, other.quantity)
        assert one.suffered == pytest.approx(other.suffered)
        if knows_the_largest_cost(
            one
        ):  # of the one what predictions have cost, of the other the most that they can
            assert one.guaranteed <= other.guaranteed * (1 + 1e-9)
        else:
            assert one.guaranteed == pytest.approx(other.guaranteed)


COVARIANCES = [
    PRECISION,
    {**PRECISION, "covariance_regularizer": 0.3, "initial_variance": 2.0},
    DROP,
    {**DROP, "covariance_regularizer": 0.3, "initial_variance": 2.0},
    {"geometry": "mahalanobis"},
    {"geometry": "mahalanobis", "covariance_regularizer": 3.0, "initial_variance": 0.5},
]


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_comparators_with_a_covariance_are_measured_from_the_run(covariance, step):
    """Against a trace of the same run, which has all vectors and matrices."""
    rows, tags = stream(25, 0.05, seed=6)
    argmax, _ = searched(as_array)
    options = {"C": 0.2, "step": step, **covariance}
    model = PAStructured(as_array, argmax, hamming, **options).learn_many(rows, tags)
    again = PAStructured(as_array, argmax, hamming, **options)
    u = PAStructured(as_array, argmax, hamming, C=0.1).fit(rows, tags)
    trace, losses = Trace("classification", {**model._learner.parameters, "fit_intercept": False}), []
    for x, y in zip(rows, tags, strict=True):
        rival = again.predict_one(x) if trace.instances else argmax(np.zeros(64), x)
        a = as_array(x, y) - as_array(x, rival)
        before = again.stats_.updates if trace.instances else 0
        again.learn_one(x, y)
        trace.add(a, 1.0, again.coef_, updated=again.stats_.updates > before, mistake=False)
        losses.append(max(0.0, np.sqrt(hamming(y, rival)) - u.coef_ @ a))
    found = model.certificate(rows, tags, u=u)
    stated = {
        one.theorem: one.guaranteed
        for one in found.guarantees
        if one.quantity in ("progress", "squared loss")
    }
    distance2 = u.coef_ @ u.coef_ / covariance.get("initial_variance", 1.0) + trace.Q(u.coef_)
    if step == "pa1":
        assert stated["J06 Lemma 1, Mahalanobis (derived)"] == pytest.approx(
            distance2 + 2 * 0.2 * sum(losses)
        )
    elif step == "pa2":  # (R2 + 1/2C)(D2 + 2C S)
        allowed = distance2 + 0.4 * sum(loss**2 for loss in losses)
        assert stated["M11 Theorem 3 (resolved)"] == pytest.approx(
            (model.stats_.largest_q + 1 / 0.4) * allowed
        )
    else:  # u has losses
        assert not found.applicable
    assert found.holds
    assert model.certificate(rows, tags).holds


@pytest.mark.parametrize("diagonal", [PRECISION, DROP], ids=["precision", "drop"])
@pytest.mark.parametrize("step", ["pa1", "pa2"])
def test_a_structure_with_a_covariance_has_the_guarantees_of_the_same_tagger(step, diagonal):
    rows, tags = stream(25, 0.05, seed=6)
    argmax, loss_augmented = searched(joint_features)
    options = {
        "C": 0.2,
        "step": step,
        "selection": "max",
        "covariance_regularizer": 0.4,
        **diagonal,
    }
    structure = PAStructured(joint_features, argmax, hamming, loss_augmented, **options)
    tagger = PASequence(average=False, classes=list("ABC"), **options)
    found = structure.learn_many(rows, tags).certificate(rows, tags, u=structure)
    expected = tagger.learn_many(rows, tags).certificate(rows, tags, u=tagger)
    assert found.applicable
    for one, other in zip(found.guarantees, expected.guarantees, strict=True):
        assert (one.theorem, one.quantity) == (other.theorem, other.quantity)
        assert one.suffered == pytest.approx(other.suffered)
        if knows_the_largest_cost(one):
            assert one.guaranteed <= other.guaranteed * (1 + 1e-9)
        else:
            assert one.guaranteed == pytest.approx(other.guaranteed)


@pytest.mark.parametrize("options", [{}, {"hash_bits": 6}, {"initial_variance": 3.0}])
@pytest.mark.parametrize("selection", ["prediction", "max", "max-additive"])
@pytest.mark.parametrize("diagonal", [PRECISION, DROP], ids=["precision", "drop"])
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_every_guarantee_of_a_tagger_with_a_covariance_holds(step, diagonal, selection, options):
    for noise in (0.0, 0.1):
        rows, tags = stream(60, noise, seed=3)
        model = PASequence(C=0.3, step=step, selection=selection, **diagonal, **options)
        before = model.learn_many(rows, tags)._learner.to_bytes()
        found = model.certificate(rows, tags)
        assert not found.reason
        assert found.holds, [str(one) for one in found.guarantees if not one.holds]
        assert found.applicable or step == "pa"
        assert model._learner.to_bytes() == before
        assert "goes another way" in str(model.certificate(rows[::-1], tags[::-1]))
    ahead = PASequence(step=step, **diagonal, max_iter=1, shuffle=False).fit(rows, tags)
    assert not ahead.certificate(rows, tags).reason


def test_a_search_that_misses_the_best_output_is_detected():
    def lazy(w, x):  # never looks at C
        return max(itertools.product("AB", repeat=len(x)), key=lambda y: w.dot(joint_features(x, y)))

    model = PAStructured(joint_features, lazy, hamming, C=0.2).learn_many(X, Y)
    found = model.certificate(X, Y)
    assert found.holds
    assert "has not found the best output" in str(found)


def test_a_structured_perceptron_with_free_mistakes_has_no_theorem():
    def cost(y, z):
        return 0 if {y, z} <= {"A", "B"} or y == z else 1

    def features(x, y):
        return {y: x}

    def argmax(w, x):
        return max("ABC", key=lambda y: w.dot(features(x, y)))

    model = PAStructured(features, argmax, cost, step="perceptron").learn_many(SIZES, NOISE)
    assert model.stats_.updates > 10
    found = model.certificate(SIZES, NOISE)
    assert not found.applicable
    assert "mistakes that cost nothing" in str(found)


def test_a_comparator_is_charged_with_the_losses_of_the_learner():
    """Its weights count, not the margin that it was asked for itself."""
    argmax, loss_augmented = searched(joint_features)
    options = {"C": 0.2, "selection": "max"}
    model = PAStructured(joint_features, argmax, hamming, loss_augmented, **options).learn_many(X, Y)
    other = PAStructured(joint_features, argmax, hamming, loss_augmented, **options).learn_many(X, Y)
    expected = model.certificate(X, Y, u=other)
    other._learner.parameters["margin"] = 0.01
    assert model.certificate(X, Y, u=other) == expected


def test_another_order_of_structures_is_detected():
    argmax, _ = searched(joint_features)
    model = PAStructured(joint_features, argmax, hamming, C=0.2).learn_many(X, Y)
    assert "goes another way" in str(model.certificate(X[::-1], Y[::-1]))
    assert "here are 3" in str(model.certificate(X[:3], Y[:3]))
    assert model.stats_.rounds == len(X)


def test_a_cost_that_ignores_mistakes_leaves_the_perceptron_without_a_theorem():
    argmax, _ = searched(joint_features)
    model = PAStructured(joint_features, argmax, lambda y, z: float(y[0] != z[0]), step="perceptron")
    assert "cost nothing" in str(model.learn_many(X, Y).certificate(X, Y))
    model = PAStructured(joint_features, argmax, lambda y, z: float(y[0] != z[0]), step="pa2")
    found = model.learn_many(X, Y).certificate(X, Y)
    assert found.holds
    assert found.applicable


def test_hashed_features_have_guarantees():
    argmax, _ = searched(joint_features)
    model = PAStructured(joint_features, argmax, hamming, C=0.2, hash_bits=4).learn_many(X[:30], Y[:30])
    found = model.certificate(X[:30], Y[:30])
    assert found.holds
    assert found.applicable


# ---- rankers ---------------------------------------------------------------------------------------------------

FOLDERS = {
    "bills": "invoice pay amount due",
    "home": "lunch dinner friend garden",
    "travel": "flight hotel trip",
}


def mail(count=80, noise=0.1, seed=0):
    random = np.random.default_rng(seed)
    texts, labels = [], []
    for _ in range(count):
        folder = str(random.choice(list(FOLDERS)))
        texts.append(" ".join([*random.choice(FOLDERS[folder].split(), 3), *random.choice(["the", "a"], 2)]))
        labels.append(folder if random.random() > noise else "bills")
    return texts, labels


TEXTS, LABELS = mail()


def rankers():
    for features in ("email", "tfidf"):
        for selection in ("max", "prediction", "simproj", "conproj"):
            for step in ("pa", "pa1", "pa2"):
                yield {"features": features, "selection": selection, "step": step}
        yield {"features": features, "selection": "simperc"}
        for selection in ("max", "uniform"):
            yield {"features": features, "selection": selection, "step": "perceptron"}
    costs = {a: {b: 2.0 for b in FOLDERS if b != a} for a in FOLDERS}
    yield {"features": "tfidf", "cost": costs}
    yield {"features": "tfidf", "cost": costs, "step": "pa2", "selection": "prediction"}
    yield {"features": "tfidf", "selection": "conproj", "nu": 2.0 - np.eye(3), "classes": list(FOLDERS)}
    yield {"features": "email", "margin": 3.0, "average": True}


@pytest.mark.parametrize("how", ["fit", "learn_many"])
@pytest.mark.parametrize(
    "options", list(rankers()), ids=lambda options: " ".join(map(str, list(options.values())[:3]))
)
def test_every_guarantee_of_a_ranker_holds(options, how):
    if how == "learn_many" and "cost" in options:
        options = {**options, "classes": list(FOLDERS)}
    for C in (0.01, 0.5):
        model = getattr(PARanker(**{"C": C, **options}), how)(TEXTS, LABELS)
        found = model.certificate(TEXTS, LABELS)
        assert not found.reason
        assert found.holds, [str(one) for one in found.guarantees if not one.holds]
        if options.get("step", "pa1") != "pa":
            assert found.applicable


def test_guarantees_of_a_ranker_equal_those_of_prototype_comparator():
    """By a map that is a table, so that the matrices of the features can be written down."""
    from hinge.structured.feature_maps import FeatureMap

    random = np.random.default_rng(2)
    table = random.normal(size=(40, 3, 5))

    class Table(FeatureMap):
        def features(self, x, labels):
            return list("abcde"), table[x][: len(labels)]

    y = [int(np.argmax(table[x] @ np.arange(1.0, 6.0))) for x in range(40)]
    model = PARanker(features=Table(), C=0.3, classes=[0, 1, 2], selection="max").learn_many(range(40), y)
    other = PARanker(features=Table(), C=0.1, classes=[0, 1, 2], max_iter=5).fit(range(40), y)
    u = np.array([other.named_weights()[name] for name in "abcde"])
    comparator = prototype_comparator([phi.T for phi in table], y, u)
    expected = guarantees("pa1", model.stats_, comparator, C=0.3)
    found = model.certificate(range(40), y, u=other)
    assert [(one.theorem, one.suffered) for one in found.guarantees] == [
        (g.theorem, g.suffered) for g in expected
    ]
    assert [one.guaranteed for one in found.guarantees] == pytest.approx([g.guaranteed for g in expected])


def test_labels_that_come_later_have_no_constraints():
    """A label that came with example 3 is asked for nothing before: by hand, with a map that is a table."""
    from hinge.structured.feature_maps import FeatureMap

    table = {"a": [1.0, 0.0], "b": [0.5, 2.0], "c": [3.0, -1.0]}

    class Table(FeatureMap):
        def features(self, x, labels):
            return ["f", "g"], np.array([table[label] for label in labels]) * x

    labels, X = ["a", "b", "a", "c", "b"], [1.0, 2.0, 3.0, 1.0, 0.5]
    model = PARanker(features=Table(), step="pa2", selection="max").learn_many(X, labels)
    weights = {"f": 0.3, "g": -0.2}
    run = OfRankings(model, [weights], GIVEN)
    losses, largest = [], 0.0
    for t, (x, label) in enumerate(zip(X, labels, strict=True)):
        run.see([x], [[label]])
        rows = [x * (np.array(table[label]) - table[r]) for r in dict.fromkeys(labels[: t + 1]) if r != label]
        losses.append(max([0.0, *(1 - 0.3 * row[0] + 0.2 * row[1] for row in rows)]))
        largest = max([largest, *(float(row @ row) for row in rows)])
    assert run.other_run() == ""
    [comparator] = run.comparators(model.stats_)
    assert comparator.loss == pytest.approx(sum(losses))
    assert comparator.squared_loss == pytest.approx(sum(loss**2 for loss in losses))
    assert comparator.largest_q == pytest.approx(largest)
    assert model.certificate(X, labels).holds


def test_a_ranker_needs_the_order_and_the_whole_stream():
    model = PARanker(features="tfidf").learn_many(TEXTS, LABELS)
    assert "goes another way" in str(model.certificate(TEXTS[::-1], LABELS[::-1]))
    assert "here are 5" in str(model.certificate(TEXTS[:5], LABELS[:5]))
    started = PARanker(features="tfidf", w1={"x": 1.0}, classes=list(FOLDERS)).learn_many(TEXTS, LABELS)
    assert "started at zero" in str(started.certificate(TEXTS, LABELS))


def test_the_learner_inside_a_ranker_refers_to_the_ranker():
    with pytest.raises(ValueError, match="the model around this learner"):
        PARanker(features="tfidf").learn_many(TEXTS, LABELS)._learner.certificate(TEXTS, LABELS)


def test_a_comparator_of_structures_checks_its_selection():
    with pytest.raises(ValueError, match="prediction, max, max-additive"):
        structured_comparator([0.0], norm2=1.0, largest_q=1.0, largest_cost=1.0, selection="mira")


def test_features_of_a_rejected_round_are_not_reported():
    """Its features and tags are forgotten: of what it asked, only what is still known is left."""
    model = PASequence(average=False).learn_one([{"a": 1.0}], ["A"]).learn_one([{"b": 1.0}], ["B"])
    before = model._learner.to_bytes()
    with pytest.raises(ValueError, match="overflows"):
        model.learn_one([{"a": 1e153, f"new{i}": 1e153} for i in range(300)], ["A", "B", "C"] * 100)
    assert model._learner.to_bytes() == before
    left = model._learner._engine.delta()
    assert all(which in (None, "A", "B", "a", "b") and tag in ("A", "B") for _, which, tag, _, _ in left)


def test_a_ranker_with_one_label_has_no_guarantee():
    for labels in ([["bills"]], [[]]):
        model = PARanker().learn_many(["pay the invoice"], labels)
        assert "nothing to rank" in str(model.certificate(["pay the invoice"], labels))
