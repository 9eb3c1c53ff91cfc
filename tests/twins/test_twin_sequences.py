"""hinge.PASequence against its slow twin (reference_sequences.py), weight by weight, after every event.

Where values are tied, or nearly so, and the order in which they are added up decides, two programmes may differ and
both be right. Such sentences (there are hardly any) are left out of both; ties that are exact are not.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import hinge
from reference_sequences import STEPS_OF, LongSequences, Sequences, split, tied
from sequence_streams import CONTAINERS, COUNTS, FIELDS, TAGS, Ours, events, in_container, sentence, tags

K, D = 3, 4
PAIRS = [(selection, step) for selection, steps in STEPS_OF.items() for step in steps]
GEOMETRIES = (
    {"geometry": "euclidean"},
    {"geometry": "diagonal", "covariance_update": "precision"},
    {"geometry": "diagonal", "covariance_update": "drop"},
)
NAMES = [" ".join(geometry.values()) for geometry in GEOMETRIES]
MORE = {"covariance_regularizer": 0.5, "initial_variance": 2.0}
WHOLE = np.array([[0, 1, 4], [2, 0, 0], [1, 3, 0]])  # B taken for C costs nothing
TYING = np.array([[0, 1, 1], [2, 0, 0], [1, 1, 0]])
PARTS = np.array([[0.0, 0.3, 1.7], [2.5, 0.0, 0.0], [0.25, 1.0, 0.0]])


def close(ours, theirs, what, tolerance, size=0.01):
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    limits = {"rtol": tolerance, "atol": tolerance * size}
    if ours.shape != theirs.shape or not np.all(
        np.abs(ours - theirs) <= limits["atol"] + tolerance * np.abs(theirs)
    ):
        np.testing.assert_allclose(ours, theirs, err_msg=what, **limits)  # slow; says where


def same(ours, twin, tolerance=1e-9):
    found, expected = ours.statistics, twin.statistics
    for name in COUNTS:
        assert getattr(found, name) == getattr(expected, name), name
    found, expected = ([getattr(s, name) for name in FIELDS] for s in (found, expected))
    close(found, expected, str(FIELDS), tolerance)
    if twin.statistics.rounds:
        close(ours.w, twin.average_w if twin.average else twin.w, "w", tolerance, np.abs(twin.w).max())


def same_predictions(ours, twin, x, tolerance=1e-9):
    """Of the average, if there is one. True if the best sequence of x was not the only one, and had to be found.

    The average is alpha v + u, and rounding may decide wherever it ties: then any of the best will do.
    """
    w = twin.average_w if twin.average else twin.w
    z = twin.predict(x, w)
    best = twin.score(x, z, w)
    other, size = z[1:] + z[:1], np.abs(twin.w).max() * (1 + np.abs(x).sum())
    found = [ours.score(x), ours.score(x, z), ours.score(x, other)]
    close(found, [best, best, twin.score(x, other, w)], "scores", tolerance, size)
    ties = len(tied(twin.all_values(x, None, w)[0], max(tolerance, 1e-9))) > 1
    if ties and (twin.average or twin.rounding_decides(x, w=w, near=max(tolerance, 1e-9))):
        assert twin.score(x, ours.predict(x), w) >= best - tolerance * (abs(best) + size)
        return False
    assert ours.predict(x) == z
    return ties


def play(ours, twin, stream, tolerance=1e-9):
    skipped, ties = 0, 0
    for t, (x, y, weight) in enumerate(stream):
        if twin.rounding_decides(x, y, near=max(tolerance, 1e-9)):
            skipped += 1
            continue
        ours.learn(x, y, weight)
        twin.learn(x, y, weight)
        same(ours, twin, tolerance)
        if twin.statistics.rounds and t % 3 == 0:
            ties += same_predictions(ours, twin, x, tolerance)
    s = twin.statistics
    assert s.updates >= 10
    assert skipped <= 2
    return ties


def learners(container, k=K, d=D, twin=Sequences, dtype=None, **options):
    more = {} if dtype is None else {"dtype": dtype}
    return Ours(k, d, container, **options, **more), twin(k, d, **options)


def kind_of(container):
    return "whole" if container == "lists" else "real"


# --- the grid ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("container", ["lists", "dense"])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize("more", [False, True])
@pytest.mark.parametrize(("selection", "step"), PAIRS)
def test_every_step_selection_and_geometry_equals_the_twin(selection, step, more, geometry, container):
    """Plain, and with all options, weights, a matrix of costs and the average."""
    options = {"selection": selection, "step": step, "average": more, **geometry}
    if more:
        options |= {"C": 0.4, "margin": 0.7, "cost": WHOLE}
        options |= MORE if geometry["geometry"] == "diagonal" else {}
    ours, twin = learners(container, **options)
    play(ours, twin, events(np.random.default_rng(60), 32, K, D, kind_of(container), more))
    assert twin.statistics.rounds > twin.statistics.updates or selection != "prediction"


def block_cost(y, z):
    """Not a sum over the positions: 1 for every run of wrong tags, and a bit more for a wrong end."""
    wrong = [a != b for a, b in zip(y, z, strict=True)]
    return (
        sum(w and not before for w, before in zip(wrong, [False, *wrong[:-1]], strict=True)) + wrong[-1] / 4
    )


COSTS = [
    ("prediction", "parts", PARTS),
    ("prediction", "blocks", block_cost),
    ("prediction", "thrice", 3 * PARTS),
    ("max", "twice", 2 * WHOLE),
    ("max-additive", "parts", PARTS),
    ("max-additive", "whole", WHOLE),
]


@pytest.mark.parametrize("geometry", GEOMETRIES[:2], ids=NAMES[:2])
@pytest.mark.parametrize(
    ("selection", "cost", "step"),
    [
        pytest.param(selection, cost, step, id=f"{selection} {name} {step}")
        for selection, name, cost in COSTS
        for step in STEPS_OF[selection]
    ],
)
def test_costs_equal_the_twin(selection, cost, step, geometry):
    options = {"selection": selection, "cost": cost, "step": step, "C": 0.3, **geometry}
    ours, twin = learners("dicts", **options)
    play(ours, twin, events(np.random.default_rng(61), 40, K, D, weighted=True))
    assert ours.statistics.cost != ours.statistics.mistakes


@pytest.mark.parametrize("selection", STEPS_OF)
def test_a_cost_by_names_equals_the_matrix(selection):
    """A dict of dicts is the matrix; what it leaves out on the diagonal is 0."""
    named = {TAGS[a]: {TAGS[b]: float(WHOLE[a, b]) for b in range(K) if a != b} for a in range(K)}
    twin = Sequences(K, D, selection=selection, cost=WHOLE)
    ours = Ours(K, D, "dense", selection=selection, cost=named)
    play(ours, twin, events(np.random.default_rng(62), 30, K, D))


@pytest.mark.parametrize("container", ["dicts", "csr"])
@pytest.mark.parametrize("geometry", GEOMETRIES[:2], ids=NAMES[:2])
@pytest.mark.parametrize(("selection", "step"), PAIRS)
def test_single_precision_equals_the_twin(selection, step, geometry, container):
    options = {"selection": selection, "step": step, "C": 0.4, "average": container == "csr", **geometry}
    ours, twin = learners(container, dtype="float32", **options)
    play(ours, twin, events(np.random.default_rng(63), 30, K, D), tolerance=2e-5)
    wide, _ = learners(container, **options)
    for x, y, weight in events(np.random.default_rng(63), 30, K, D):
        wide.learn(x, y, weight)
    assert not np.array_equal(wide.w, ours.w)  # it was single precision


# --- ties ----------------------------------------------------------------------------------------------------


def is_exact(twin, x, y):
    """Whether the weights will stay whole multiples of 1/4: for PA-I with C = 1/4, where the cap decides."""
    a, _, loss = twin.constraint(x, y, twin.competitor(x, y))
    return twin.step == "perceptron" or loss == 0 or loss >= 0.25 * (a @ a)


@pytest.mark.parametrize("container", ["lists", "csr"])
@pytest.mark.parametrize("cost", [None, TYING], ids=["hamming", "matrix"])
@pytest.mark.parametrize("selection", [*STEPS_OF, "perceptron"])
def test_exact_ties_equal_the_twin(selection, cost, container):
    """Whole features and weights: many sequences tie, to the bit, and the rule for ties decides."""
    options = {"selection": selection, "step": "pa1", "C": 0.25}
    if selection == "perceptron":
        options = {"step": "perceptron"}
    ties = contested = 0
    for seed, margin in enumerate([4.0, 8.0, 64.0]):
        rng = np.random.default_rng(seed)
        ours, twin = learners(container, cost=cost, margin=margin, **options)
        for _ in range(25):
            x = sentence(rng, int(rng.integers(1, 5)), D, "whole")
            y = tuple(rng.integers(K, size=len(x)).tolist())
            if not is_exact(twin, x, y):
                continue
            assert not twin.rounding_decides(x, y)
            contested += len(tied(twin.all_values(x, y)[1])) > 1
            ours.learn(x, y)
            twin.learn(x, y)
            same(ours, twin)
            ties += same_predictions(ours, twin, x)
        assert twin.statistics.updates >= 10
    assert ties >= 6
    assert contested >= 6


def alike(values, step, **geometry):
    """0 1 1 0 0 0 and 0 0 0 1 1 0 have the same transitions. With the same sums of features Phi is the same."""
    end = [1.0, 0.0]
    x, y = np.array([end, *([0, value] for value in values), end]), (0, 1, 1, 0, 0, 0)
    ours, twin = learners("dense", 2, 2, selection="max", step=step, **geometry)
    for learner in (ours, twin):
        learner.learn([end], (0,))
    before = ours.w
    assert before.any()
    assert twin.competitor(x, y) == (0, 0, 0, 1, 1, 0)
    for learner in (ours, twin):
        learner.learn(x, y)
    np.testing.assert_array_equal(ours.w, before)
    assert ours.statistics.loss == pytest.approx(1.0 + 2.0)
    assert ours.statistics.updates == 1
    same(ours, twin)


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("values", [(1, 2, 3, 0), (0.1, 0.7, 0.7, 0.1), (0.1, 0.2, 0.1 + 0.2, 0)], ids=str)
def test_features_that_cancel_make_no_step(values, step, geometry):
    alike(values, step, **geometry)


@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("values", [(0.1, 0.2, 0.3, 0), (0.7, 0.1, 0.6, 0.2)], ids=str)
def test_rounding_errors_make_no_step(values, step):
    """0.1 + 0.2 - 0.3 is 6e-17: along it PA would go 1e16 far."""
    alike(values, step)


# --- other shapes --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("geometry", GEOMETRIES[:2], ids=NAMES[:2])
@pytest.mark.parametrize("cost", [None, WHOLE], ids=["hamming", "matrix"])
@pytest.mark.parametrize(
    ("selection", "step"), [("prediction", "pa"), ("max", "pa1"), ("max-additive", "pa2")]
)
def test_long_sentences_equal_the_twin(selection, step, cost, geometry):
    """The twin with the dynamic programme."""
    ours, twin = learners("dense", twin=LongSequences, selection=selection, step=step, cost=cost, **geometry)
    rng = np.random.default_rng(64)
    for x, y, weight in events(rng, 15, K, D, weighted=True, longest=25):
        ours.learn(x, y, weight)
        twin.learn(x, y, weight)
        same(ours, twin)
        if twin.statistics.rounds:
            assert ours.predict(x) == twin.predict(x)
    assert twin.statistics.updates > 8


@pytest.mark.parametrize("labels", [1, 2, 6])
@pytest.mark.parametrize("selection", STEPS_OF)
def test_any_number_of_tags_equals_the_twin(selection, labels):
    """(A single one cannot be given as `classes`.)"""
    ours, twin = learners("dicts", labels, selection=selection, average=True)
    if labels == 1:
        ours = Ours(None, D, "dicts", selection=selection, average=True)
    for x, y, weight in events(np.random.default_rng(65), 25, labels, D, weighted=True, longest=3):
        ours.learn(x, y, weight)
        twin.learn(x, y, weight)
        same(ours, twin)
    assert (twin.statistics.updates > 8) == (labels > 1)
    assert ours.statistics.rounds > 10


@pytest.mark.parametrize("container", ["lists", "dicts"])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(("selection", "step"), PAIRS)
def test_new_tags_and_features_equal_the_twin(selection, step, geometry, container):
    """Tags are numbered as they come; what was not there yet was 0, for the average too. Weight 0: nothing came."""
    rng = np.random.default_rng(66)
    options = {"selection": selection, "step": step, "average": step != "pa", "C": 0.4, **geometry}
    ours, twin, order = Ours(None, 6, container, **options), None, []
    for t, (x, y, weight) in enumerate(events(rng, 36, 5, 6, kind_of(container), True, longest=3)):
        x, y = x * (np.arange(6) < 2 + t // 8), [min(k, 1 + t // 6) for k in y]  # new ones come late
        known = [*order, *(k for k in dict.fromkeys(y) if k not in order)]
        if weight:
            order = known
            twin = twin or Sequences(len(order), 6, **options)
            if len(order) > twin.K:
                twin.grow(len(order))
            places = tuple(order.index(k) for k in y)
            if twin.rounding_decides(x, places):
                continue
            twin.learn(x, places, weight)
        ours.learn(x, y, weight)
        if twin is not None:
            assert list(ours.learner.classes_) == [TAGS[k] for k in order]
            same(ours, twin)
            w = twin.average_w if twin.average else twin.w
            if len(tied(twin.all_values(x, None, w)[0])) == 1:
                assert ours.predict(x) == tuple(order[k] for k in twin.predict(x, w))
    assert len(order) == 5
    assert order != sorted(order)
    assert twin.statistics.updates > 10


# --- other ways in -------------------------------------------------------------------------------------------


def corpus(kind="real", seed=67, count=24):
    """Sentences, tags that do not come in their order, and weights."""
    rng = np.random.default_rng(seed)
    found = [(sentence(rng, 3, D, kind), (2, 1, 0), 1.0), *events(rng, count, K, D, kind, weighted=True)]
    return [x for x, _, _ in found], [y for _, y, _ in found], [weight for _, _, weight in found]


@pytest.mark.parametrize("container", ["lists", "csr"])
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(("selection", "step"), PAIRS)
def test_batches_equal_single_sentences(selection, step, geometry, container):
    """To the bit, with tags that come with the batch."""
    X, y, weights = corpus(kind_of(container))
    options = {"selection": selection, "step": step, "average": True, **geometry}
    one, many = Ours(None, D, container, **options), Ours(None, D, container, **options)
    for x, truth, weight in zip(X, y, weights, strict=True):
        one.learn(x, truth, weight)
    sentences = [in_container(x, container) for x in X]
    for part in (slice(0, 7), slice(7, 8), slice(8, None)):
        many.learner.learn_many(sentences[part], [tags(truth) for truth in y[part]], weights[part])
    assert list(one.learner.classes_) == list(many.learner.classes_) == tags([2, 1, 0])
    assert np.array_equal(one.w, many.w)
    for name in (*COUNTS, *FIELDS):
        assert getattr(one.statistics, name) == getattr(many.statistics, name), name
    assert one.statistics.updates > 8


def two_passes(twin, X, y, weights):
    """False if rounding may have decided something."""
    clear = True
    for x, truth, weight in 2 * list(zip(X, y, weights, strict=True)):
        clear = clear and not twin.rounding_decides(x, truth)
        twin.learn(x, truth, weight)
    return clear


@pytest.mark.parametrize("container", CONTAINERS)
@pytest.mark.parametrize(("selection", "step"), PAIRS)
def test_fit_and_partial_fit_equal_the_twin(selection, step, container):
    """fit goes over the sentences in order, again and again, with the tags sorted; partial_fit goes over them once."""
    options = {"selection": selection, "step": step, "C": 0.4, "average": False}
    given = [1, 2, 0]  # the order in which the tags are given to partial_fit
    for seed in range(5):
        X, y, weights = corpus(kind_of(container), seed, count=12)
        twin, other = Sequences(K, D, **options), Sequences(K, D, **options)
        clear = two_passes(twin, X, y, weights)
        if clear and two_passes(other, X, [tuple(given.index(k) for k in truth) for truth in y], weights):
            break
    else:
        raise AssertionError("no corpus without ties")
    sentences, truths = [in_container(x, container) for x in X], [tags(truth) for truth in y]

    ours = Ours(None, D, container, **options, shuffle=False, max_iter=2, tol=None)
    ours.learner.fit(sentences, truths, sample_weight=weights)
    assert list(ours.learner.classes_) == list(TAGS[:K])
    same(ours, twin)

    ours = Ours(None, D, container, **options)
    ours.learner.partial_fit(sentences[:5], truths[:5], classes=tags(given), sample_weight=weights[:5])
    ours.learner.partial_fit(sentences[5:], truths[5:], sample_weight=weights[5:])
    ours.learner.partial_fit(sentences, truths, sample_weight=weights)
    same(ours, other)
    predicted = [tuple(given[k] for k in other.predict(x)) for x in X if not other.rounding_decides(x)]
    clear = [
        (s, truth) for s, truth, x in zip(sentences, truths, X, strict=True) if not other.rounding_decides(x)
    ]
    found = ours.learner.predict([s for s, _ in clear])
    assert [list(z) for z in found] == [tags(z) for z in predicted]
    right = [
        a == b for z, (_, truth) in zip(found, clear, strict=True) for a, b in zip(z, truth, strict=True)
    ]
    assert ours.learner.score(*zip(*clear, strict=True)) == pytest.approx(np.mean(right))
    assert 0 < np.mean(right) < 1


@pytest.mark.parametrize("geometry", GEOMETRIES, ids=NAMES)
@pytest.mark.parametrize(("selection", "step"), PAIRS)
def test_structured_output_with_the_features_of_sequences_equals_the_twin(selection, step, geometry):
    """PAStructured, with functions that look at all sequences, is the same learner."""
    options = {"selection": selection, "step": step, "C": 0.4, "margin": 0.7, **geometry}
    twin, search = Sequences(K, D, **options), Sequences(K, D, **options)

    def competitor(w, x, y):
        search.w = np.array(w)
        return search.competitor(x, y)

    more = {} if selection == "prediction" else {"loss_augmented_argmax": competitor}
    ours = hinge.PAStructured(
        twin.features,
        lambda w, x: search.predict(x, np.array(w)),
        twin.cost,
        **more,
        **options,
        average=False,
    )
    for x, y, weight in events(np.random.default_rng(69), 40, K, D, weighted=True, noise=0.4):
        if not twin.rounding_decides(x, y):
            ours.learn_one(x, y, weight)
            twin.learn(x, y, weight)
            if twin.statistics.rounds:
                same(SimpleNamespace(w=np.ravel(ours.coef_), statistics=ours.stats_), twin)
    assert twin.statistics.updates > 8


def test_words_numbers_and_booleans_of_tokens_are_features():
    """{"word": "dog"} is the feature "word=dog" with the value 1; True is 1 and False is 0."""
    tokens = [
        {"word": "the", "upper": True, "length": 3},
        {"word": "dog", "upper": False, "length": 0.5},
        {"word": "barks", "upper": False, "length": 5.0},
    ]
    columns = ["word=the", "word=dog", "word=barks", "upper", "length"]
    x = np.array([[1, 0, 0, 1, 3], [0, 1, 0, 0, 0.5], [0, 0, 1, 0, 5]], dtype=float)
    ours, twin = hinge.PASequence(classes=["D", "N", "V"], average=False), Sequences(3, 5)
    for y in [(0, 1, 2), (1, 1, 2), (2, 1, 0)]:
        ours.learn_one(tokens, ["DNV"[k] for k in y])
        twin.learn(x, y)
        start, transition, emission = split(twin.w, 3)
        expected = {
            (f, "DNV"[k]): w for k, row in enumerate(emission) for f, w in zip(columns, row, strict=True) if w
        }
        assert ours.state_features_ == pytest.approx(expected)
        assert ours.start_features_ == pytest.approx({"DNV"[k]: w for k, w in enumerate(start) if w})
        moves = {
            ("DNV"[a], "DNV"[b]): transition[a, b] for a in range(3) for b in range(3) if transition[a, b]
        }
        assert ours.transition_features_ == pytest.approx(moves)
    assert twin.statistics.updates == 3


def test_invalid_sentences_leave_no_trace():
    """Each leaves no trace."""
    x = [["a"], ["b"]]

    def rejects(learner, sentence, y):
        before = learner.stats_, learner.state_features_, list(learner.classes_)
        with pytest.raises(ValueError):
            learner.learn_one(sentence, y)
        with pytest.raises(ValueError):  # all or none
            learner.learn_many([x, sentence], [["A", "B"], y])
        assert (learner.stats_, learner.state_features_, list(learner.classes_)) == before

    learner = hinge.PASequence()
    learner.learn_one(x, ["B", "A"])
    rejects(learner, [], [])
    rejects(learner, x, ["A"])
    rejects(learner, [{"a": np.nan}, {"b": 1.0}], ["A", "B"])
    learner = hinge.PASequence(classes=["A", "B"])
    learner.learn_one(x, ["B", "A"])
    rejects(learner, x, ["A", "C"])
    with pytest.raises(ValueError):
        hinge.PASequence(classes=["A", "B"]).learn_one([], [])
    with pytest.raises(ValueError):
        hinge.PASequence().partial_fit([x], [["A", "B"]])
    fixed = hinge.PASequence().partial_fit([x], [["A", "B"]], classes=["A", "B"])
    with pytest.raises(ValueError):
        fixed.partial_fit([x], [["A", "C"]])
    for options in (
        {"selection": "max", "cost": PARTS},
        {"selection": "max", "cost": block_cost},
        {"selection": "max-additive", "cost": block_cost},
        {"selection": "max", "step": "perceptron"},
        {"selection": "max-additive", "step": "perceptron"},
        {"cost": -WHOLE},
        {"cost": WHOLE + 1},  # a right tag costs something
        {"cost": WHOLE[:2]},
        {"C": 0.0},
        {"margin": -1.0},
    ):
        with pytest.raises(ValueError):
            hinge.PASequence(classes=list(TAGS[:K]), **options).learn_one(x, ["A", "B"])
