"""The bounds of S9, S10, S12 and S13 by hand, on sequences that reach them, and where a printed claim fails."""

from __future__ import annotations

import math

import numpy as np
import pytest

from hinge.theory import guarantees, label_comparator, ordinal_comparator, prototype_comparator
from hinge.theory.theorems.table import steps_with_theorems
from label_streams import RUNNERS, Stream, find
from reference_labels import STEPS_OF

# Two rounds, x = (3, 4) and (1, 0), labels 0 and 1 of three, u_0 = (0.5, 0), the others 0: margins 1.5 and -0.5,
# losses 0 and 1.5, R2 = 2 * 25, |u|^2 = 0.25, and two rows a round.
X2, Y2 = np.array([[3.0, 4.0], [1.0, 0.0]]), [0, 1]
U2 = np.array([[0.5, 0.0], [0.0, 0.0], [0.0, 0.0]])
T5 = "J06 Theorem 5 (N03 Theorem 3)"
ANY_NORM = "J06 Theorem 3 for any norms (derived)"
MEAN = ", mean of projections (derived)"


def right_hand_sides(stream, step, C=1.0):
    outcome = stream.run("reference", step, C)
    c = stream.comparator(stream.u)
    found = guarantees(step, outcome.statistics, c, C=C, total=outcome.total)
    assert all(g.holds for g in found)
    return {(g.theorem, g.quantity): g.guaranteed for g in found if g.applicable}


def values(step, C=1.0, X=X2, y=Y2, u=U2, **options):
    return right_hand_sides(Stream("labels", 3, X, y, u.ravel(), options), step, C)


def test_bounds_of_one_row_equal_those_computed_by_hand():
    for selection, count in [("max", "mistakes"), ("prediction", "updates")]:
        sizes = 52 if selection == "max" else 50  # both rounds are updates, or one, of a size of at most R2
        assert values("pa1", 0.1, selection=selection) == pytest.approx(
            {
                ("J06 Lemma 1", "progress"): 0.25 + 0.2 * 1.5,
                ("J06 Theorem 4", count): 50 * (0.25 + 0.2 * 1.5),
                ("J06 Theorem 4, sharper (derived)", count): 50 * (0.25 + 0.2 * 1.5),
                ("PA-I loss (derived)", "loss"): 1.5 + 0.25 / 0.2 + 0.05 * sizes,
            }
        )
        capped = values("pa1", 0.01, selection=selection)
        assert capped["J06 Theorem 4", count] == pytest.approx(100 * (0.25 + 0.02 * 1.5))
        assert capped["J06 Theorem 4, sharper (derived)", count] == pytest.approx(0.28 / (0.02 - 0.0001 * 50))
        bound = (50 + 5) * (0.25 + 0.2 * 2.25)
        assert values("pa2", 0.1, selection=selection) == pytest.approx(
            {(T5, "squared loss"): bound, (T5, count): bound}
        )
        bound = 50 * (0.5 + 2 * 1.5 / math.sqrt(2)) ** 2
        assert values("pa", selection=selection) == pytest.approx(
            {(ANY_NORM, "squared loss"): bound, (ANY_NORM, count): bound}
        )
        separable = {
            ("N03 Theorem 1 (separable)", "squared loss"): 50 * 0.25 / 0.25,
            ("N03 Theorem 1 (separable)", "loss"): 2 * 50 * 0.25 / 0.25,
        }
        assert values("pa", y=[0, 0], u=3 * U2, selection=selection) == pytest.approx(
            {
                ("J06 Lemma 1", "progress"): 2.25,
                ("J06 Theorem 2", "squared loss"): 50 * 2.25,
                ("J06 Theorem 2", count): 50 * 2.25,
                ("N03 Theorem 1", "squared loss and loss"): 50 * 2.25,
                (ANY_NORM, "squared loss"): 50 * 2.25,
                (ANY_NORM, count): 50 * 2.25,
                **separable,
            }
        )


def test_bounds_of_perceptrons_equal_those_computed_by_hand():
    found = {
        ("J06 Lemma 1", "progress"): 0.25 + 2 * 1.5,
        ("perceptron, loss", "mistakes"): 1.5 + 6.25 + math.sqrt(12.5 * 1.5 + 12.5**2 / 4),
        ("perceptron, squared loss", "mistakes"): (math.sqrt(50) * 0.5 + 1.5) ** 2,
        ("CS03", "mistakes"): 2 * (5 * 0.5 + 1.5) ** 2,
    }
    for selection in ("max", "uniform"):
        assert values("perceptron", selection=selection) == pytest.approx(found)
    separable = values("perceptron", y=[0, 0], selection="uniform")
    assert separable["perceptron, separable", "updates"] == pytest.approx(50 * 0.25 / 0.25)


def test_bounds_of_simultaneous_projections_equal_those_computed_by_hand():
    simperc = values("pa1", 0.01, selection="simperc")
    assert simperc == pytest.approx(
        {
            ("J06 Lemma 1", "progress"): 0.25 + 0.02 * 1.5,
            ("S06 Theorem 1", "mistakes"): 0.28 / (0.02 - 0.0001 * 50),
            ("S06 Theorem 1 with the best C", "mistakes"): 1.5 + 6.25 + math.sqrt(12.5 * 1.5 + 12.5**2 / 4),
            ("perceptron, squared loss", "mistakes"): (math.sqrt(50) * 0.5 + 1.5) ** 2,
        }
    )
    assert ("S06 Theorem 1", "mistakes") not in values("pa1", 0.04, selection="simperc")  # C < 2/50
    any_C = "S06 Theorem 1 for any C (derived)"
    conproj = values("pa1", 0.01, selection="conproj")
    assert conproj["S06 Theorem 1", "mistakes"] == conproj[any_C, "mistakes"] == pytest.approx(0.28 / 0.015)
    assert values("pa1", 0.1, selection="conproj") == pytest.approx(
        {("J06 Lemma 1", "progress"): 0.55, (any_C, "mistakes"): 0.55 * 50}
    )
    simproj = values("pa1", 0.1, selection="simproj")
    assert simproj["S06 Theorem 1 for SimProj (derived)", "mistakes"] == pytest.approx(2 * 0.55 * 50)
    bound = (50 + 5) * (0.25 + 0.2 * 2.25)
    assert values("pa2", 0.1, selection="conproj") == pytest.approx({(T5 + MEAN, "mistakes"): bound})
    assert values("pa2", 0.1, selection="simproj") == pytest.approx(
        {(T5 + MEAN, "mistakes"): 2 * bound, (T5 + MEAN, "squared loss"): 2 * bound}
    )


def test_bounds_with_nu_equal_those_computed_by_hand():
    """The second round's losses are 1.5 (label 0) and 1 (label 2): with nu 2 and 0.5 the slack is 2."""
    nu = np.array([[1.0, 1.0, 1.0], [2.0, 1.0, 0.5], [1.0, 1.0, 1.0]])
    simperc = values("pa1", 0.01, selection="simperc", nu=nu)
    assert simperc == pytest.approx(
        {
            ("J06 Lemma 1", "progress"): 0.25 + 0.02 * 2,
            ("S06 Theorem 1", "mistakes"): (0.25 + 0.02 * 2) / (2 * 0.005 - 0.005**2 * 50),
        }
    )
    conproj = values("pa1", 0.1, selection="conproj", nu=nu)
    assert conproj["S06 Theorem 1 for any C (derived)", "mistakes"] == pytest.approx((0.25 + 0.2 * 2) * 50)
    capped = values("pa1", 0.01, selection="conproj", nu=nu)["S06 Theorem 1 for any C (derived)", "mistakes"]
    assert capped == pytest.approx(0.29 / (2 * 0.005 - 0.005**2 * 50))
    nu[1, 0] = 0.0
    assert values("pa1", 0.1, selection="conproj", nu=nu) == {}  # u has a loss there


def test_bounds_of_mira_equal_those_computed_by_hand():
    """beta = 0.5: the losses of u are 0 and 1."""
    assert values("pa1", 0.1, selection="mira", beta=0.5) == pytest.approx(
        {
            ("J06 Lemma 1", "progress"): 0.45,
            ("MIRA, beta > 0 (derived)", "mistakes"): 0.45 / (0.01 - 0.0001 * 50),
            ("PA-I loss (derived)", "loss"): 1 + 0.25 / 0.2 + 0.05 * 52,
        }
    )
    capped = values("pa1", 0.001, selection="mira", beta=0.5)
    assert capped["MIRA, beta > 0 (derived)", "mistakes"] == pytest.approx(0.252 / (0.001 - 1e-6 * 50))
    stream = Stream("labels", 3, X2, [0, 0], U2.ravel(), {"selection": "mira", "beta": 0.0}, -2 * U2.ravel())
    found = right_hand_sides(stream, "pa1")
    assert found["MIRA, beta = 0", "total step"] == pytest.approx(2 * 0.5 * 1.0 / 0.5)


def test_bounds_of_costs_equal_those_computed_by_hand():
    """The losses of u are max(0, -1.5 + 2) and max(0.5 + 1, 0 + 2)."""
    cost = np.array([[0.0, 4.0, 1.0], [1.0, 0.0, 4.0], [1.0, 1.0, 0.0]])
    for selection in ("max", "prediction"):
        any_C = ("J06 Theorem 9 for any C (derived)", "cost")
        sharper, loss = ("J06 Theorem 9, sharper (derived)", "cost"), ("PA-I loss (derived)", "loss")
        found = values("pa1", 0.1, selection=selection, cost=cost)
        assert found == pytest.approx(
            {
                ("J06 Lemma 1", "progress"): 0.75,
                any_C: 50 * 0.75,
                sharper: 50 * 0.75,
                loss: 2.5 + 0.25 / 0.2 + 0.05 * (52 if selection == "max" else 50),
            }
        )
        found = values("pa1", 0.01, selection=selection, cost=cost)
        assert found[any_C] == pytest.approx(200 * (0.25 + 0.02 * 2.5))
        assert found[sharper] == pytest.approx(4 / (0.04 - 0.0001 * 50) * (0.25 + 0.02 * 2.5))
        small = values("pa1", 2.0, X=X2 / 10, selection=selection, cost=cost)
        assert small["J06 Theorem 9", "cost"] == pytest.approx(0.25 + 4 * (1.85 + 2.0))
        assert ("J06 Theorem 9", "cost") not in values("pa1", 1.9, X=X2 / 10, selection=selection, cost=cost)
        bound = (50 + 5) * (0.25 + 0.2 * 4.25)
        assert values("pa2", 0.1, selection=selection, cost=cost) == pytest.approx(
            {(T5, "squared loss"): bound, (T5, "cost"): bound}
        )


def test_bounds_of_ranks_equal_those_computed_by_hand():
    """Ranks 2 and 0, w = (0.5, 0), b = (0, 1): margins 0.5 and -0.5, losses 0.5 and 1.5, R2 = 26, |u|^2 = 1.25."""
    u = np.array([0.5, 0.0, 0.0, 1.0])
    for selection, theorem, times in [
        ("simperc", "S06 Theorem 1", 1),
        ("conproj", "S06 Theorem 1", 1),
        ("conproj", "S06 Theorem 1 for any C (derived)", 1),
        ("simproj", "S06 Theorem 1 for SimProj (derived)", 2),
        ("max", "J06 Theorem 4, sharper (derived)", 1),
    ]:
        found = right_hand_sides(Stream("ordinal", 3, X2, [2, 0], u, {"selection": selection}), "pa1", 0.01)
        assert found[theorem, "mistakes"] == pytest.approx(times * (1.25 + 0.02 * 2) / (0.02 - 0.0001 * 26))
    u[2:] = [1.0, 0.0]  # not in order, though the learner's are
    assert right_hand_sides(Stream("ordinal", 3, X2, [2, 0], u, {"selection": "simperc"}), "pa1", 0.01) == {}
    assert right_hand_sides(Stream("ordinal", 3, X2, [2, 0], u, {"selection": "simproj"}), "pa1", 0.01) != {}


@pytest.mark.parametrize(
    ("selection", "step"),
    [
        (s, step)
        for s, steps in STEPS_OF.items()
        if s != "mira"
        for step in steps
        if step in steps_with_theorems()
    ],
)
@pytest.mark.parametrize("y", [[0, 1], [0, 0]])
def test_a_margin_only_rescales_the_bounds(selection, step, y):
    """Margin 2 with 2 u (and, for PA-I, 2 C) is margin 1 with u (and C): the same mistakes."""
    one = values(step, 0.01, y=y, u=3 * U2, selection=selection)
    C = 0.02 if step == "pa1" else 0.01
    two = values(step, C, y=y, u=6 * U2, selection=selection, margin=2.0)
    assert one.keys() == two.keys()
    assert one
    for theorem, quantity in one:
        scale = {"mistakes": 1, "updates": 1, "loss": 2}.get(quantity, 4)
        if (step, quantity) != ("perceptron", "progress"):  # its step does not scale
            assert two[theorem, quantity] == pytest.approx(scale * one[theorem, quantity]), theorem


def test_labels_sets_and_indicators_give_the_same_comparator():
    """Labels, sets and an indicator matrix; a set that is empty or full asks nothing."""
    X, u = np.array([[3.0, 4.0], [1.0, 0.0], [9.0, 9.0], [9.0, 9.0]]), U2
    indicator = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 0], [1, 1, 1]])
    c = label_comparator(X, indicator, u)
    assert c == label_comparator(X, [{0}, [1], set(), [0, 1, 2]], u)
    assert (c.rounds, c.loss, c.largest_q, c.smallest_q, c.most_rows) == (4, 1.5, 50.0, 2.0, 2)
    c = label_comparator(X2, [{0, 2}, 1], u)  # scores (1.5, 0, 0) and (0.5, 0, 0)
    assert (c.loss, c.smallest_margin) == (1.0 + 1.5, -0.5)
    c = label_comparator(X2, Y2, u, intercepts=[0.0, 1.0, 0.0], w1=2 * u)
    assert (c.loss, c.largest_q, c.distance2, c.norm2, c.start_norm) == (0.5 + 0.5, 52.0, 1.25, 1.25, 1.0)
    blocks = [np.kron(np.eye(3), x[:, None]) for x in X2]
    assert prototype_comparator(blocks, Y2, u.ravel()) == label_comparator(X2, Y2, u)
    for y in ([0, 3], [0], np.ones((2, 4)), [0, {-1}]):
        with pytest.raises(ValueError):
            label_comparator(X2, y, u)
    with pytest.raises(ValueError):
        ordinal_comparator(X2, [0, 3], [0.5, 0.0], [0.0, 1.0])


# --- sequences that reach the bounds -----------------------------------------------------------------------

# One round with x = 0.5, two labels, u = a/|a|^2, so that R2 = 0.5 and |u|^2 = 2.
REACHED = [
    ("max", "pa", 1.0, {}, ["J06 Theorem 2", "N03 Theorem 1 (separable)"]),
    ("mira", "pa", 1.0, {"beta": 1.0}, ["J06 Theorem 2"]),
    ("conproj", "pa", 1.0, {}, ["J06 Theorem 2" + MEAN]),
    ("simproj", "pa", 1.0, {}, ["J06 Theorem 2" + MEAN]),
    ("max", "pa1", 2.0, {}, ["J06 Lemma 1", "J06 Theorem 4", "J06 Theorem 4, sharper (derived)"]),
    ("mira", "pa1", 2.0, {"beta": 1.0}, ["MIRA, beta > 0 (derived)"]),
    ("conproj", "pa1", 2.0, {}, ["S06 Theorem 1", "S06 Theorem 1 for any C (derived)"]),
    ("simproj", "pa1", 2.0, {}, ["S06 Theorem 1 for SimProj (derived)"]),
    ("simperc", "pa1", 2.0, {}, ["S06 Theorem 1", "S06 Theorem 1 with the best C"]),
    ("max", "perceptron", 1.0, {}, ["perceptron, loss", "perceptron, squared loss", "CS03"]),
    ("uniform", "perceptron", 1.0, {}, ["perceptron, loss", "perceptron, separable", "CS03"]),
    ("max", "pa", 1.0, {"cost": 1 - np.eye(2)}, ["J06 Theorem 2"]),
    ("max", "pa1", 2.0, {"cost": 1 - np.eye(2)}, ["J06 Theorem 9 for any C (derived)"]),
]


@pytest.mark.parametrize("kind", RUNNERS)
@pytest.mark.parametrize(("selection", "step", "C", "options", "theorems"), REACHED)
def test_one_example_reaches_the_bounds(kind, selection, step, C, options, theorems):
    stream = Stream(
        "labels", 2, np.array([[0.5]]), [1], np.array([-1.0, 1.0]), {"selection": selection, **options}
    )
    outcome = stream.run(kind, step, C)
    found = guarantees(step, outcome.statistics, stream.comparator(stream.u), C=C)
    for theorem in theorems:
        reached = [g for g in found if g.theorem == theorem and g.quantity != "loss"]
        assert reached
        for g in reached:
            assert (
                g.suffered
                == pytest.approx(g.guaranteed)
                == pytest.approx(2.0 if g.quantity == "progress" else 1)
            )


@pytest.mark.parametrize("kind", RUNNERS)
@pytest.mark.parametrize(
    ("selection", "options", "theorems"),
    [
        ("max", {}, ["J06 Theorem 4, sharper (derived)", "PA-I loss (derived)"]),
        ("prediction", {}, ["J06 Theorem 4, sharper (derived)", "PA-I loss (derived)"]),
        ("mira", {"beta": 1.0}, ["MIRA, beta > 0 (derived)", "PA-I loss (derived)"]),
        ("max", {"cost": 1 - np.eye(2)}, ["J06 Theorem 9, sharper (derived)", "PA-I loss (derived)"]),
    ],
)
def test_one_capped_example_reaches_the_sharper_bounds(kind, selection, options, theorems):
    """u = C a is where the step ends: l* = 1 - C/2. The bounds of the paper are above by the factor 2 - C/2."""
    C, options = 0.5, {"selection": selection, **options}
    stream = Stream("labels", 2, np.array([[0.5]]), [1], C * np.array([-0.5, 0.5]), options)
    outcome = stream.run(kind, "pa1", C)
    found = guarantees("pa1", outcome.statistics, stream.comparator(stream.u), C=C)
    for theorem in theorems:
        [g] = [g for g in found if g.theorem == theorem]
        assert g.suffered == pytest.approx(g.guaranteed) == pytest.approx(1)
    for paper in ("J06 Theorem 4", "J06 Theorem 9 for any C (derived)"):
        assert all(g.guaranteed == pytest.approx(2 - C / 2) for g in found if g.theorem == paper)


@pytest.mark.parametrize("kind", RUNNERS)
def test_one_example_reaches_theorem_9(kind):
    """|phi(x, 0) - phi(x, 1)| = 1."""
    stream = Stream("prototype", 2, np.array([[[0.0, 1.0]]]), [1], np.array([1.0]))
    stream.options = {"selection": "max", "cost": 1 - np.eye(2)}
    outcome = stream.run(kind, "pa1", 1.0)
    found = guarantees("pa1", outcome.statistics, stream.comparator(stream.u), C=1.0)
    guarantee = find(found, "J06 Theorem 9", "cost")
    assert guarantee.suffered == guarantee.guaranteed == 1.0


# --- counterexamples ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", RUNNERS)
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_the_printed_bound_with_the_best_C_is_too_small(kind, C):
    """C05, E9: one example with R2 = 1, u = a/2 has l* = 1/2. A factor of 4 is missing under the root."""
    ranking = Stream("labels", 2, np.array([[math.sqrt(0.5)]]), [0], np.array([0.5, -0.5]) * math.sqrt(0.5))
    ordinal = Stream("ordinal", 2, np.array([[0.0]]), [1], np.array([0.0, -0.5]))
    for stream in (ranking, ordinal):
        stream.options = {"selection": "simperc"}
        c = stream.comparator(stream.u)
        assert (c.largest_q, c.norm2, c.loss) == pytest.approx((1.0, 0.25, 0.5))
        outcome = stream.run(kind, "pa1", C)
        printed = c.loss + 0.5 * c.norm2 + 0.5 * math.sqrt(c.norm2**2 + c.norm2 * c.loss)
        assert outcome.statistics.mistakes == 1 > printed
        found = guarantees("pa1", outcome.statistics, c, C=C)
        guarantee = find(found, "S06 Theorem 1 with the best C", "mistakes")
        assert guarantee.holds
        assert guarantee.guaranteed == pytest.approx(1.0)


@pytest.mark.parametrize("kind", RUNNERS)
@pytest.mark.parametrize("selection", ["simperc", "conproj", "simproj", "max"])
@pytest.mark.parametrize("C", [0.1, 1.0])
def test_thresholds_cross_unless_sorted(kind, selection, C):
    """C06, E13: four ranks. Rank 1 moves the thresholds 2/3 of a step apart, rank 0 moves the first a whole one.

    With max they cross at once: of equal thresholds that should be higher, only the first is moved.
    """
    X, y = np.eye(2), [1, 0]
    if selection == "max":
        X, y = X[1:], y[1:]
    options = {"selection": selection, "C": C, "step": "pa1"}
    thresholds = {
        sort: RUNNERS[kind]("ordinal", 4, {**options, "sort_thresholds": sort}, X, y).weights[2:]
        for sort in (False, True, None)
    }
    assert (np.diff(thresholds[False]) < 0).any() == (selection != "simproj")
    np.testing.assert_array_equal(thresholds[True], np.sort(thresholds[False]))
    np.testing.assert_array_equal(thresholds[None], thresholds[True])


@pytest.mark.parametrize("kind", RUNNERS)
def test_mira_with_beta_0_never_leaves_0(kind):
    """C07: every round is a mistake; with any beta > 0 it learns."""
    rng = np.random.default_rng(1)
    u, X = rng.normal(size=(3, 2)), rng.normal(size=(40, 2))
    y = (X @ u.T).argmax(axis=1).tolist()
    stuck = RUNNERS[kind]("labels", 3, {"selection": "mira", "beta": 0.0}, X, y)
    assert not stuck.weights.any()
    assert (stuck.statistics.mistakes, stuck.statistics.updates) == (40, 0)
    learns = RUNNERS[kind]("labels", 3, {"selection": "mira", "beta": 1e-6}, X, y)
    assert learns.statistics.mistakes < 20


@pytest.mark.parametrize("kind", RUNNERS)
@pytest.mark.parametrize("cost", [None, 1 - np.eye(2)])
def test_ties_are_mistakes_but_not_updates_of_selection_prediction(kind, cost):
    """Why the theorems bound the updates (or the cost) of selection="prediction", and not its mistakes."""
    options = {"selection": "prediction", **({} if cost is None else {"cost": cost})}
    stream = Stream("labels", 2, np.ones((30, 1)), [0] * 30, np.array([1.0, 0.0]), options)
    outcome = stream.run(kind, "pa", 1.0)
    s = outcome.statistics
    assert (s.mistakes, s.updates, s.loss) == (30, 0, 0.0)
    found = guarantees("pa", s, stream.comparator(stream.u))
    guarantee = find(found, "J06 Theorem 2", "updates" if cost is None else "cost")
    assert guarantee.applicable
    assert guarantee.guaranteed == 2.0 < s.mistakes
