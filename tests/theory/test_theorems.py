"""The theorems of S3 to S7 on random sequences, and on sequences that reach them.

The random sequences would find a bound that is too small, or a learner that is not the theorem's; the tight
ones would find a bound that is too large.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import strategies as st

from hinge.theory import comparator, guarantees
from label_streams import find
from learners import KINDS, coordinates, make, play
from theorem_streams import ALL, LINEAR, Stream, check, streams

# --- every theorem on random sequences ---------------------------------------------------------------

T5 = "J06 Theorem 5 (N03 Theorem 3)"
ANY_NORM = "J06 Theorem 3 for any norms (derived)"
SHARPER, PA1_LOSS = "J06 Theorem 4, sharper (derived)", "PA-I loss (derived)"

# theorem, quantity, step, tasks, what the stream needs
THEOREMS = [
    ("J06 Lemma 1", "progress", "pa", ALL, "realizable"),
    ("J06 Lemma 1", "progress", "pa1", ALL, "any"),
    ("J06 Lemma 1", "progress", "perceptron", ["classification"], "any"),
    ("J06 Theorem 2", "squared loss", "pa", ALL, "realizable"),
    ("J06 Theorem 2", "mistakes", "pa", ["classification"], "realizable"),
    ("J06 Theorem 3", "squared loss", "pa", LINEAR, "unit"),
    ("J06 Theorem 3", "squared loss", "pa", ["uniclass"], "any"),
    ("J06 Theorem 3", "mistakes", "pa", ["classification"], "unit"),
    (ANY_NORM, "squared loss", "pa", ALL, "nonzero"),
    ("J06 Theorem 4", "mistakes", "pa1", ["classification"], "any"),
    (SHARPER, "mistakes", "pa1", ["classification"], "any"),
    (PA1_LOSS, "loss", "pa1", ALL, "any"),
    (T5, "squared loss", "pa2", ALL, "any"),
    (T5, "mistakes", "pa2", ["classification"], "any"),
    ("N03 Theorem 1", "squared loss and loss", "pa", ALL, "realizable"),
    ("N03 Theorem 1 (separable)", "squared loss", "pa", ["classification"], "realizable"),
    ("N03 Theorem 1 (separable)", "loss", "pa", ["classification"], "realizable"),
    ("N03 Lemma 2", "distance moved", "pa", ALL, "realizable"),
    ("perceptron, loss", "mistakes", "perceptron", ["classification"], "any"),
    ("perceptron, squared loss", "mistakes", "perceptron", ["classification"], "any"),
    ("perceptron, separable", "updates", "perceptron", ["classification"], "realizable"),
]
CASES = [(*name, task, needs) for *name, tasks, needs in THEOREMS for task in tasks]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("theorem", "quantity", "step", "task", "needs"), CASES)
def test_the_theorem_holds(kind, theorem, quantity, step, task, needs):
    start_at_zero = step == "perceptron" or "separable" in theorem
    setups = st.tuples(streams(task, needs, start_at_zero), st.sampled_from([0.05, 0.3, 1.0, 4.0, math.inf]))

    def holds(setup):
        stream, C = setup
        learner = stream.learner(kind, step, C)
        play(learner, stream.X, stream.y)
        moved = np.linalg.norm(coordinates(learner, stream.options.get("max_radius")) - stream.start())
        comparators = [stream.comparator()]
        if needs != "realizable" and stream.ball is None:  # hard to compete with: the last one, and none
            none = None if stream.intercept is None else 0.0
            last = None if stream.intercept is None else learner.intercept
            comparators += [stream.comparator(learner.w, last), stream.comparator(0 * stream.u, none)]
        for u in comparators:
            found = guarantees(step, learner.statistics, u, C=C, moved=moved)
            assert all(g.holds for g in found), [str(g) for g in found if not g.holds]
            guarantee = find(found, theorem, quantity)
            uncapped = step == "pa1" and math.inf == C
            needs_cap = {"J06 Lemma 1": u.loss > 0, PA1_LOSS: True, SHARPER: u.largest_q == 0}
            assert guarantee.applicable or (uncapped and needs_cap[theorem]), str(guarantee)
            if theorem == SHARPER and guarantee.applicable:  # never worse
                paper = find(found, "J06 Theorem 4", "mistakes").guaranteed
                assert guarantee.guaranteed <= paper * (1 + 1e-12)

    check(kind, setups, holds)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_the_bounds_of_pa1_carry_over_to_sample_weights(kind, task):
    """C_t = C o_t (docs/theory/committees.md). A step of at most C o_t gains at least what the step a o_t does, so that
    a mistake of weight o counts o; and what the step min(C o, m/R2) does, so that it counts 1."""

    def holds(setup):
        stream, C, seed = setup
        learner = stream.learner(kind, "pa1", C)
        o = np.random.default_rng(seed).choice([0.25, 0.5, 1.0, 3.0], size=len(stream.X))
        if task == "uniclass" and "w1" not in stream.options:
            o[0] = 1.0  # the first centre, not a round
        lost, mistakes, sizes, charged = 0.0, 0.0, 0.0, 0.0
        largest_q = stream.comparator().largest_q
        for t, x in enumerate(stream.X):
            y = None if stream.y is None else stream.y[t]
            before = replace(learner.statistics)  # the reference changes its own
            learner.learn(x, y, o[t])
            after = learner.statistics
            if after.rounds == before.rounds:
                continue
            lost += o[t] * (after.loss - before.loss)
            mistakes += o[t] * (after.mistakes - before.mistakes)
            one = one_round(stream, t).comparator()
            charged += o[t] * one.loss
            sizes += o[t] ** 2 * one.largest_q * (after.updates - before.updates)
        D2 = stream.comparator().distance2
        slack = 1 + 1e-9
        assert lost <= (charged + D2 / (2 * C) + C / 2 * sizes) * slack + 1e-12
        if task == "classification":
            m, total = stream.options["margin"], D2 + 2 * C * charged
            for R2, least, count in [
                (o.max() * largest_q, C, mistakes),
                (largest_q, C * o.min(), learner.statistics.mistakes),
            ]:
                a = min(least, m / R2) if R2 else least
                assert count <= total / (2 * a * m - a * a * R2) * slack

    seeds = st.integers(0, 2**32 - 1)
    check(kind, st.tuples(streams(task), st.sampled_from([0.05, 0.3, 1.0, 4.0]), seeds), holds)


def one_round(stream, t):
    """The stream of one round alone."""
    options = dict(stream.options)
    if stream.task == "uniclass" and "w1" not in options:
        options["w1"] = stream.X[0]
    y = None if stream.y is None else stream.y[t : t + 1]
    return replace(stream, X=stream.X[t : t + 1], y=y, options=options)


@pytest.mark.parametrize("kind", KINDS)
def test_an_infinite_C_has_the_guarantees_of_pa(kind):
    def holds(stream):
        for step, C in [("pa1", math.inf), ("pa2", math.inf)]:
            learner = stream.learner(kind, step, C)
            play(learner, stream.X, stream.y)
            found = guarantees(step, learner.statistics, stream.comparator(), C=C)
            assert find(found, "J06 Theorem 2", "squared loss").applicable
            assert all(g.holds and not math.isnan(g.guaranteed) for g in found)

    check(kind, streams("classification", "realizable"), holds)


# --- the formulas themselves, and their preconditions ---------------------------------------------------

# Two rounds, x = (3, 4) and (1, 0), labels +1 and -1, u = (0.5, 0), margin 1, start 0:
# margins of u 1.5 and -0.5, losses 0 and 1.5, R2 = 25, |u|^2 = 0.25.
X2, Y2, U2 = np.array([[3.0, 4.0], [1.0, 0.0]]), np.array([1.0, -1.0]), np.array([0.5, 0.0])


def values(step, C=1.0, X=X2, y=Y2, u=U2, **options):
    learner = make("reference", "classification", step=step, C=C, **options)
    play(learner, X, y)
    found = guarantees(step, learner.statistics, comparator("classification", X, y, u, **options), C=C)
    return {(g.theorem, g.quantity): g.guaranteed for g in found if g.applicable}


def test_bounds_equal_those_computed_by_hand():
    assert values("pa1", 0.1) == pytest.approx(
        {
            ("J06 Lemma 1", "progress"): 0.25 + 2 * 0.1 * 1.5,
            ("J06 Theorem 4", "mistakes"): 25 * (0.25 + 2 * 0.1 * 1.5),
            (SHARPER, "mistakes"): 25 * (0.25 + 2 * 0.1 * 1.5),
            (PA1_LOSS, "loss"): 1.5 + 0.25 / 0.2 + 0.05 * 26,
        }
    )
    cautious = values("pa1", 0.01)
    assert cautious["J06 Theorem 4", "mistakes"] == pytest.approx(100 * (0.25 + 2 * 0.01 * 1.5))
    assert cautious[SHARPER, "mistakes"] == pytest.approx((0.25 + 2 * 0.01 * 1.5) / (0.02 - 0.0001 * 25))
    assert values("pa2", 0.1) == pytest.approx(
        {
            (T5, "squared loss"): (25 + 5) * (0.25 + 0.2 * 2.25),
            (T5, "mistakes"): (25 + 5) * (0.25 + 0.2 * 2.25),
        }
    )
    assert values("perceptron") == pytest.approx(
        {
            ("J06 Lemma 1", "progress"): 0.25 + 2 * 1.5,
            ("perceptron, loss", "mistakes"): 1.5 + 6.25 / 2 + math.sqrt(6.25 * 1.5 + 6.25**2 / 4),
            ("perceptron, squared loss", "mistakes"): (5 * 0.5 + 1.5) ** 2,
        }
    )
    assert values("pa") == pytest.approx({(ANY_NORM, "squared loss"): 25 * (0.5 + 2 * 1.5) ** 2})


def test_bounds_of_a_separable_stream_equal_those_computed_by_hand():
    """Labels +1: u has the margins 1.5 and 0.5; 3 u is without loss, and 4.5 and 1.5 are its margins."""
    y = np.array([1.0, 1.0])
    separable = {
        ("N03 Theorem 1 (separable)", "squared loss"): 25 * 0.25 / 0.25,
        ("N03 Theorem 1 (separable)", "loss"): 2 * 25 * 0.25 / 0.25,
    }
    loose = {(ANY_NORM, "squared loss"): 25 * (0.5 + 2 * 0.5) ** 2}
    assert values("pa", y=y) == pytest.approx(loose | separable)
    assert values("pa", y=y, u=3 * U2) == pytest.approx(
        {
            ("J06 Lemma 1", "progress"): 2.25,
            ("J06 Theorem 2", "squared loss"): 25 * 2.25,
            ("J06 Theorem 2", "mistakes"): 25 * 2.25,
            ("N03 Theorem 1", "squared loss and loss"): 25 * 2.25,
            (ANY_NORM, "squared loss"): 25 * 2.25,
            **separable,
        }
    )
    assert values("perceptron", y=y)["perceptron, separable", "updates"] == pytest.approx(25 * 0.25 / 0.25)
    unit = values("pa", X=X2 / [[5.0], [1.0]])
    assert unit["J06 Theorem 3", "squared loss"] == pytest.approx((0.5 + 2 * math.hypot(0.7, 1.5)) ** 2)
    assert unit["J06 Theorem 3", "mistakes"] == pytest.approx((0.5 + 2 * math.hypot(0.7, 1.5)) ** 2)


@pytest.mark.parametrize(
    ("step", "C"), [("pa", 1.0), ("pa1", 0.1), ("pa1", 0.01), ("pa2", 0.1), ("perceptron", 1.0)]
)
@pytest.mark.parametrize("y", [[1.0, -1.0], [1.0, 1.0]])
def test_a_margin_only_rescales_the_bounds(step, C, y):
    """Margin 2 with 2 u (and, for PA-I, 2 C) is margin 1 with u (and C): the same mistakes."""
    y, u = np.array(y), 3 * U2
    one = values(step, C, y=y, u=u)
    two = values(step, 2 * C if step == "pa1" else C, y=y, u=2 * u, margin=2.0)
    assert one.keys() == two.keys()
    for theorem, quantity in one:
        scale = {"mistakes": 1, "updates": 1, "loss": 2}.get(quantity, 4)
        if (step, quantity) != ("perceptron", "progress"):  # its step does not scale
            assert two[theorem, quantity] == pytest.approx(scale * one[theorem, quantity]), theorem


def test_comparators_with_an_intercept_or_a_ball_equal_those_computed_by_hand():
    u = comparator("classification", X2, Y2, U2, intercept=1.0, w1=np.array([0.5, 1.0]))
    assert (u.distance2, u.largest_q, u.smallest_q, u.loss) == (1.0 + 1.0, 26.0, 2.0, 2.5)
    assert comparator("classification", X2, Y2, U2, intercept=0.0).largest_q == 26.0

    u = comparator("uniclass", X2, None, [0.0, 0.0], radius=4.0, w1="zero")
    assert (u.rounds, u.distance2, u.largest_q, u.loss, u.largest_discrepancy) == (2, 0.0, 1.0, 1.0, 5.0)
    u = comparator("uniclass", X2, None, [0.0, 0.0], radius=4.0)  # the first row is the centre
    assert (u.rounds, u.distance2, u.loss) == (1, 25.0, 0.0)
    u = comparator("uniclass", X2, None, [0.0, 0.0], radius=3.0, max_radius=5.0, w1="zero")  # at the height 4
    assert (u.distance2, u.insensitivity) == (1.0, 5.0)
    assert u.loss == pytest.approx(math.sqrt(25 + 16) - 5)


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
def test_a_sparse_matrix_gives_the_same_comparator(task):
    import scipy.sparse

    dense, sparse = (comparator(task, X, Y2, U2) for X in (X2, scipy.sparse.csr_matrix(X2)))
    assert dense == sparse


def test_a_theorem_that_does_not_apply_reports_the_reason():
    learner = make("reference", "classification", step="pa")
    play(learner, X2, Y2)
    u = comparator("classification", X2, Y2, U2)
    guarantee = find(guarantees("pa", learner.statistics, u), "J06 Theorem 2", "mistakes")
    assert (guarantee.applicable, guarantee.holds, guarantee.guaranteed) == (False, True, math.inf)
    assert "without loss" in guarantee.reason
    assert guarantee.reason in str(guarantee)
    with pytest.raises(ValueError, match="2 rounds"):
        guarantees("pa", learner.statistics, comparator("classification", X2[:1], Y2[:1], U2))
    with pytest.raises(ValueError, match="classification"):
        guarantees("perceptron", learner.statistics, comparator("regression", X2, Y2, U2))


def test_the_perceptron_bounds_need_a_start_at_zero():
    """A counterexample to |u - w_1| in place of |u|: u = w_1 has a loss of 1.01 and two mistakes are made."""
    u, X, y = np.array([1.0, 0.0]), np.array([[0.01, 1.0], [1.0, 1.0]]), np.array([-1.0, 1.0])
    learner = make("reference", "classification", step="perceptron", w1=u)
    play(learner, X, y)
    against = comparator("classification", X, y, u, w1=u)
    assert (learner.statistics.mistakes, against.loss, against.distance2) == (2, pytest.approx(1.01), 0.0)
    for guarantee in guarantees("perceptron", learner.statistics, against):
        assert guarantee.holds
        assert guarantee.applicable == (guarantee.quantity == "progress")


# --- sequences that reach the bounds ---------------------------------------------------------------------


def reached(kind, stream, step, names, C=1.0, moved=None):
    learner = stream.learner(kind, step, C)
    play(learner, stream.X, stream.y)
    if moved:
        moved = np.linalg.norm(coordinates(learner, stream.options.get("max_radius")) - stream.start())
    found = guarantees(step, learner.statistics, stream.comparator(), C=C, moved=moved)
    for theorem, quantity in names:
        guarantee = find(found, theorem, quantity)
        assert guarantee.applicable, str(guarantee)
        assert guarantee.holds, str(guarantee)
        assert guarantee.suffered >= 0.999 * guarantee.guaranteed, str(guarantee)


def one_example(task, tau):
    """One example of loss 2, with q = 16 (1 for uniclass), and u = w_1 + tau v: where the step tau ends."""
    if task == "classification":
        return Stream(task, np.array([[4.0]]), np.array([1.0]), np.array([4 * tau]), {"margin": 2.0})
    if task == "regression":
        return Stream(task, np.array([[4.0]]), np.array([-2.5]), np.array([-4 * tau]), {"epsilon": 0.5})
    return Stream(task, np.array([[0.0, 5.0]]), None, np.array([0.0, tau]), {"radius": 3.0, "w1": "zero"})


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_one_example_reaches_the_bounds(kind, task):
    q = 1.0 if task == "uniclass" else 16.0
    names = [
        ("J06 Lemma 1", "progress"),
        ("J06 Theorem 2", "squared loss"),
        (ANY_NORM, "squared loss"),
        ("N03 Theorem 1", "squared loss and loss"),
    ]
    if task == "classification":
        names += [("J06 Theorem 2", "mistakes"), ("N03 Theorem 1 (separable)", "squared loss")]
    if task == "uniclass":
        names += [("J06 Theorem 3", "squared loss")]
    reached(kind, one_example(task, 2 / q), "pa", names)

    C = 0.5 / q  # below l/q = 2/q: the comparator has a loss of 1.5
    reached(kind, one_example(task, C), "pa1", [("J06 Lemma 1", "progress")], C)
    if task == "classification":
        reached(kind, one_example(task, 2 / q), "pa1", [("J06 Theorem 4", "mistakes")], 2 / q)

    C = 0.75 / q
    names = [(T5, "squared loss")] + ([(T5, "mistakes")] if task == "classification" else [])
    reached(kind, one_example(task, 2 / (q + 1 / (2 * C))), "pa2", names, C)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_one_capped_example_reaches_the_bounds_of_pa1(kind, task):
    """u is where the step C ends. Mistakes: half the step C = m/q suffices for u, which then has half the margin."""
    q = 1.0 if task == "uniclass" else 16.0
    reached(kind, one_example(task, 0.5 / q), "pa1", [(PA1_LOSS, "loss")], 0.5 / q)
    if task == "classification":
        reached(kind, one_example(task, 0.5 / q), "pa1", [(SHARPER, "mistakes")], 0.5 / q)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("C", [0.02, 0.1, 0.5])
def test_orthogonal_instances_reach_the_sharper_theorem_4(kind, C):
    """Each is a mistake of loss 1 with a capped step; J06 Theorem 4 is above by 2 - C R2, of which C R2 < 1."""
    stream = Stream("classification", np.eye(6), np.ones(6), np.full(6, C))
    reached(kind, stream, "pa1", [(SHARPER, "mistakes"), (PA1_LOSS, "loss")], C)
    learner = stream.learner(kind, "pa1", C)
    play(learner, stream.X, stream.y)
    found = guarantees("pa1", learner.statistics, stream.comparator(), C=C)
    paper, sharper = (find(found, name, "mistakes").guaranteed for name in ("J06 Theorem 4", SHARPER))
    assert paper == pytest.approx((2 - C) * sharper)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
def test_one_example_reaches_the_bounds_of_the_learned_radius(kind, step):
    """From the centre 0 and c = B = 3 towards x = (4, 0): at the distance 5, so the loss is 2."""
    C = 0.5
    tau = {"pa": 2.0, "pa1": 0.5, "pa2": 1.0}[step]
    centre, height = 4 * tau / 5, 3 * (1 - tau / 5)
    stream = Stream(
        "uniclass",
        np.array([[4.0]]),
        None,
        np.array([centre]),
        {"max_radius": 3.0, "w1": "zero"},
        ball=math.sqrt(9 - height**2),
    )
    stream.u = stream.u + (1e-13 if step == "pa" else 0.0)  # without loss, also after rounding
    names = {
        "pa": [
            ("J06 Lemma 1", "progress"),
            ("J06 Theorem 2", "squared loss"),
            ("J06 Theorem 3", "squared loss"),
            ("N03 Theorem 1", "squared loss and loss"),
        ],
        "pa1": [("J06 Lemma 1", "progress")],
        "pa2": [(T5, "squared loss")],
    }[step]
    reached(kind, stream, step, names, C)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_contradictions_reach_theorem_3(kind, task):
    """The same instance with opposite targets, u = w_1 = 0: each round but the first has twice u's loss."""
    signs = np.resize([1.0, -1.0], 1000)
    X, names = np.ones((1000, 1)), [("J06 Theorem 3", "squared loss"), (ANY_NORM, "squared loss")]
    if task == "classification":
        stream = Stream(task, X, signs, np.zeros(1), {"margin": 2.0})
    elif task == "regression":
        stream = Stream(task, X, signs * 2.0, np.zeros(1), {"epsilon": 0.0})
    else:
        stream = Stream(task, signs[:, None] * 3.0, None, np.zeros(1), {"radius": 1.0, "w1": "zero"})
    reached(kind, stream, "pa", names)
    if task == "classification":
        reached(kind, Stream(task, 3 * X, signs, np.zeros(1)), "pa", [(ANY_NORM, "squared loss")])


@pytest.mark.parametrize("kind", KINDS)
def test_unit_vectors_reach_the_mistakes_of_theorem_3_and_4(kind):
    stream = Stream("classification", np.eye(5), np.ones(5), np.ones(5))
    reached(kind, stream, "pa", [("J06 Theorem 3", "mistakes"), ("J06 Theorem 3", "squared loss")])
    reached(kind, stream, "pa1", [("J06 Theorem 4", "mistakes")])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_orthogonal_instances_reach_the_perceptron_bounds(kind, share):
    """u has the margin `share` times that wanted on each of them, and the perceptron none."""
    u = np.full(6, share * 2.0 / 3)
    stream = Stream("classification", 3.0 * np.eye(6), np.ones(6), u, {"margin": 2.0})
    names = [("perceptron, loss", "mistakes"), ("perceptron, squared loss", "mistakes")]
    reached(kind, stream, "perceptron", names + ([("perceptron, separable", "updates")] if share else []))


def staircase(u, room, stride, rounds):
    """Regression in the plane, from w = 0, with unit instances on which u is wrong by just epsilon - room,
    and the learner, moving by `stride` with a loss of `stride`, comes closer to u as slowly as it can."""
    epsilon, w, X, y = 0.5, np.zeros(2), [], []
    for _ in range(rounds):
        gap = u - w
        distance = np.linalg.norm(gap)
        loss = min(stride, distance - room)
        if loss < 1e-9:
            break
        cosine = (loss + room) / distance
        ahead, aside = gap / distance, np.array([-gap[1], gap[0]]) / distance
        x = cosine * ahead + math.sqrt(1 - min(1.0, cosine) ** 2) * aside
        X.append(x)
        y.append(u @ x + (epsilon - room) * (1 - 1e-12))
        w = w + (y[-1] - w @ x - epsilon) * x
    return Stream("regression", np.array(X), np.array(y), u, {"epsilon": epsilon})


@pytest.mark.parametrize("kind", KINDS)
def test_a_spiral_reaches_N03_theorem_1(kind):
    """Half of the left side is the squared loss here, and half is 2 (eps - eps*) times the loss."""
    stream = staircase(np.array([1.0, 0.0]), room=0.02, stride=0.04, rounds=2000)
    assert len(stream.X) > 200
    reached(kind, stream, "pa", [("N03 Theorem 1", "squared loss and loss")])


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_circle_reaches_N03_lemma_2(kind):
    stride = 0.001
    stream = staircase(np.array([1.0, 0.0]), room=0.0, stride=stride, rounds=round(math.pi / stride))
    reached(kind, stream, "pa", [("N03 Lemma 2", "distance moved")], moved=True)
