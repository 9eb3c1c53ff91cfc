"""The theorems of S3 to S7 and S21 on random sequences, and on sequences that reach them.

The random sequences would find a bound that is too small, or a learner that is not the theorem's; the tight
ones would find a bound that is too large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hinge.bounds import comparator, guarantees
from learners import KINDS, HingeLearner, coordinates, make, play
from reference import TINY, batch_conversion

EXAMPLES = {"learner": 60, "reference": 20}


def check(kind, strategy, test):
    """test(example) for many examples: fewer with the slow learner."""
    quiet = [HealthCheck.filter_too_much, HealthCheck.too_slow]
    given(strategy)(settings(max_examples=EXAMPLES[kind], deadline=None, suppress_health_check=quiet)(test))()


# --- streams -------------------------------------------------------------------------------------------


@dataclass
class Stream:
    """Examples, the learner's options, and a comparator with its own intercept or radius."""

    task: str
    X: np.ndarray
    y: np.ndarray | None
    u: np.ndarray
    options: dict = field(default_factory=dict)
    intercept: float | None = None
    ball: float | None = None  # the comparator's radius, if the learner learns its own

    def learner(self, kind, step, C=1.0):
        return make(kind, self.task, step=step, C=C, fit_intercept=self.intercept is not None, **self.options)

    def comparator(self, u=None, intercept=None):
        options = dict(self.options)
        if self.ball is not None:
            options["radius"] = self.ball
        if u is None:
            u, intercept = self.u, self.intercept
        return comparator(self.task, self.X, self.y, u, intercept=intercept, **options)

    def start(self):
        """w_1, with the extra coordinate."""
        w1 = self.options.get("w1")
        w = self.X[0] if self.task == "uniclass" and w1 is None else np.zeros(len(self.u))
        w = np.array(w1) if isinstance(w1, np.ndarray) else w
        if self.options.get("max_radius") is not None:
            return np.append(w, self.options["max_radius"])
        return w if self.intercept is None else np.append(w, 0.0)


# Eighths: zeros, ties and repetitions are common, and no square underflows.
def eighths(largest):
    return st.integers(-8 * largest, 8 * largest).map(lambda i: i / 8)


@st.composite
def streams(draw, task, needs="any", start_at_zero=False):
    """needs: "any" stream, a "realizable" one (u has no loss), or one of "nonzero" or "unit" instances."""
    n, rounds = draw(st.integers(1, 3)), draw(st.integers(2, 12))
    X = draw(arrays(float, (rounds, n), elements=eighths(4)))
    u = draw(arrays(float, n, elements=eighths(3)))
    options = {}
    if not start_at_zero and draw(st.booleans()):
        options["w1"] = draw(arrays(float, n, elements=eighths(2)))
    if task == "uniclass":
        return _balls(draw, X, u, options, needs)

    intercept = draw(st.none() | eighths(2)) if needs != "unit" else None
    if needs in ("nonzero", "unit"):
        X = X[X.any(axis=1)]
        assume(len(X) > 0)
    if needs == "unit":
        X = X / np.linalg.norm(X, axis=1, keepdims=True)
    scores = X @ u + (intercept or 0.0)
    if task == "classification":
        margin = options["margin"] = draw(st.sampled_from([1.0, 0.5, 2.0]))
        if needs == "realizable":
            X, scores = X[scores != 0], scores[scores != 0]
            assume(len(X) > 0)
            scale = draw(st.sampled_from([1.0, 1.5, 3.0])) * margin / np.abs(scores).min() * (1 + 1e-12)
            u, intercept = u * scale, None if intercept is None else intercept * scale
            y = np.sign(scores)
        else:
            y = draw(arrays(float, len(X), elements=st.sampled_from([-1.0, 1.0])))
    else:
        epsilon = options["epsilon"] = draw(st.sampled_from([0.0, 0.25, 1.0]))
        if needs == "realizable":
            within = draw(st.sampled_from([0.5, 1.0])) * epsilon * (1 - 1e-12)
            noise = draw(arrays(float, len(X), elements=st.sampled_from([-1.0, -0.5, 0.25, 1.0])))
            y = scores + within * noise
        else:
            y = draw(arrays(float, len(X), elements=eighths(4)))
    return Stream(task, X, y, u, options, intercept)


def _balls(draw, X, u, options, needs):
    """Uniclass: w_1 is zero, given or the first instance; the radius is fixed or learned."""
    if "w1" not in options and draw(st.booleans()):
        options["w1"] = "zero"
    radius = draw(st.sampled_from([0.5, 1.0, 2.0]))
    ball = None
    if draw(st.booleans()):
        options["max_radius"] = draw(st.sampled_from([1.0, 1.5, 4.0])) * radius
        ball = radius
    else:
        options["radius"] = radius
    if needs == "realizable":  # into the ball around u
        distances = np.linalg.norm(X - u, axis=1, keepdims=True)
        shrunk = u + (X - u) * (radius * (1 - 1e-12) / np.maximum(distances, radius))
        X = shrunk if draw(st.booleans()) else u + (shrunk - u) * 0.75
    return Stream("uniclass", X, None, u, options, None, ball)


def find(found, theorem, quantity):
    [guarantee] = [g for g in found if g.theorem == theorem and g.quantity == quantity]
    return guarantee


# --- every theorem on random sequences ---------------------------------------------------------------

LINEAR = ("classification", "regression")
ALL = (*LINEAR, "uniclass")
T5 = "J06 Theorem 5 (N03 Theorem 3)"
ANY_NORM = "J06 Theorem 3 for any norms (derived)"

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
            uncapped = theorem == "J06 Lemma 1" and step == "pa1" and math.inf == C
            assert guarantee.applicable or (uncapped and u.loss > 0), str(guarantee)

    check(kind, setups, holds)


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


def test_the_right_hand_sides():
    assert values("pa1", 0.1) == pytest.approx(
        {
            ("J06 Lemma 1", "progress"): 0.25 + 2 * 0.1 * 1.5,
            ("J06 Theorem 4", "mistakes"): 25 * (0.25 + 2 * 0.1 * 1.5),
        }
    )
    assert values("pa1", 0.01)["J06 Theorem 4", "mistakes"] == pytest.approx(100 * (0.25 + 2 * 0.01 * 1.5))
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


def test_the_right_hand_sides_of_a_separable_stream():
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
def test_a_margin_only_rescales(step, C, y):
    """Margin 2 with 2 u (and, for PA-I, 2 C) is margin 1 with u (and C): the same mistakes."""
    y, u = np.array(y), 3 * U2
    one = values(step, C, y=y, u=u)
    two = values(step, 2 * C if step == "pa1" else C, y=y, u=2 * u, margin=2.0)
    assert one.keys() == two.keys()
    for theorem, quantity in one:
        scale = {"mistakes": 1, "updates": 1, "loss": 2}.get(quantity, 4)
        if (step, quantity) != ("perceptron", "progress"):  # its step does not scale
            assert two[theorem, quantity] == pytest.approx(scale * one[theorem, quantity]), theorem


def test_a_comparator_with_an_intercept_or_a_ball():
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


def test_what_does_not_apply_says_why():
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


# --- S21: batch conversion -------------------------------------------------------------------------------


def converted(kind, stream, tolerance, max_updates=100_000):
    """The learner after PA cycled through the set until all squared losses were within the tolerance."""
    if kind == "reference":
        learner, finished = batch_conversion(
            stream.X,
            stream.y,
            tolerance,
            max_updates,
            stream.task,
            fit_intercept=stream.intercept is not None,
            **stream.options,
        )
        assert finished
        return learner
    learner = stream.learner(kind, "pa")
    while learner.learn_all(stream.X, stream.y, tolerance=tolerance):
        assert learner.statistics.rounds <= max_updates
    return learner


def all_rows(stream):
    """The comparator on the whole set: also the first row of uniclass, which is its start."""
    return comparator(
        stream.task,
        stream.X,
        stream.y,
        stream.u,
        intercept=stream.intercept,
        **{
            **stream.options,
            "w1": stream.start()[: len(stream.u)],
            **({} if stream.ball is None else {"radius": stream.ball}),
        },
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_batch_conversion(kind, task):
    setups = st.tuples(streams(task, "realizable"), st.sampled_from([0.5, 0.1, 0.02]))

    def converts(setup):
        stream, tolerance = setup
        learner = converted(kind, stream, tolerance)
        u = all_rows(stream)
        assert u.loss == 0
        B = 1.0 if task == "uniclass" else u.largest_q
        assert learner.statistics.rounds <= math.floor(B * u.distance2 / tolerance * (1 + 1e-9))

        B = stream.options.get("max_radius")
        last = coordinates(learner, B)
        judge = make("reference", task, fit_intercept=stream.intercept is not None, **stream.options)
        judge.state = last
        losses = [judge.loss(x, None if stream.y is None else stream.y[i]) for i, x in enumerate(stream.X)]
        assert max(losses) <= math.sqrt(tolerance) * (1 + 1e-9)
        assert np.linalg.norm(last - stream.start()) <= 2 * math.sqrt(u.distance2) * (1 + 1e-9) + 1e-12

    check(kind, setups, converts)


@pytest.mark.parametrize("kind", KINDS)
def test_batch_conversion_needs_all_of_its_presentations(kind):
    """Orthogonal instances: floor(4/0.999) = 4."""
    stream = Stream("classification", np.eye(4), np.ones(4), np.ones(4))
    assert converted(kind, stream, 0.999).statistics.rounds == 4 == math.floor(4 / 0.999)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("tolerance", "presentations"), [(0.25, 0), (0.2499, 1)])
def test_the_squared_loss_must_exceed_the_tolerance(kind, tolerance, presentations):
    """y w.x = 0.5: a loss of 0.5."""
    stream = Stream("classification", np.ones((1, 1)), np.ones(1), np.ones(1), {"w1": np.array([0.5])})
    assert converted(kind, stream, tolerance).statistics.rounds == presentations


@pytest.mark.parametrize("task", ALL)
def test_batch_conversion_by_the_learner_is_that_of_the_reference(task):
    def agrees(stream):
        ours, theirs = (converted(kind, stream, 0.05) for kind in ("learner", "reference"))
        assert ours.statistics.rounds == theirs.statistics.rounds
        np.testing.assert_allclose(ours.w, theirs.w, rtol=1e-9, atol=1e-12)

    check("learner", streams(task, "realizable"), agrees)


CONTRADICTION = Stream("classification", np.ones((2, 1)), np.array([1.0, -1.0]), np.ones(1))


def test_batch_conversion_of_contradictions_is_capped():
    learner, finished = batch_conversion(CONTRADICTION.X, CONTRADICTION.y, 0.1, max_updates=7)
    assert not finished
    assert learner.statistics.rounds == learner.statistics.updates == 7


def test_the_learner_stops_at_max_updates():
    learner = CONTRADICTION.learner("learner", "pa")
    assert isinstance(learner, HingeLearner)
    X, y = np.ones((6, 1)), np.resize([1.0, -1.0], 6)
    assert learner.learn_all(X, y, tolerance=0.1, max_updates=4) == 4
    assert learner.statistics.rounds == learner.statistics.updates == 4
    assert learner.w == pytest.approx([-1.0])


# --- properties of one round ---------------------------------------------------------------------------

TASK_STEPS = [(task, step) for task in ALL for step in ("pa", "pa1", "pa2")]
TASK_STEPS += [("classification", "perceptron")]


def rounds_of(kind, stream, step, C, weight=1.0):
    """For each round: the learner's coordinates before and after it, its loss and its q."""
    learner = stream.learner(kind, step, C)
    B = stream.options.get("max_radius")
    before, loss, rounds = stream.start(), 0.0, 0
    for i, x in enumerate(stream.X):
        y = None if stream.y is None else stream.y[i]
        if learner.statistics.rounds:
            before = coordinates(learner, B)
        learner.learn(x, y, weight)
        after, s = coordinates(learner, B), learner.statistics
        if s.rounds > rounds:
            q = 1.0 if stream.task == "uniclass" else x @ x + (stream.intercept is not None)
            yield x, y, before, after, s.loss - loss, q
        loss, rounds = s.loss, s.rounds


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "step"), TASK_STEPS)
def test_without_loss_nothing_changes(kind, task, step):
    def passive(stream):
        learner = stream.learner(kind, step)
        play(learner, stream.X, stream.y)
        judge = make("reference", task, fit_intercept=stream.intercept is not None, **stream.options)
        for i, x in enumerate(stream.X):
            y = None if stream.y is None else stream.y[i]
            judge.state = coordinates(learner, stream.options.get("max_radius"))
            w, intercept, radius, s = learner.w.copy(), learner.intercept, learner.radius, learner.statistics
            loss, updates, rounds = s.loss, s.updates, s.rounds
            learner.learn(x, y)
            s = learner.statistics
            assert s.rounds == rounds + 1
            if judge.discrepancy(x, y)[0] < judge.eps - 1e-9:
                assert learner.w.tobytes() == w.tobytes()
                assert (learner.intercept, learner.radius) == (intercept, radius)
                assert (s.loss, s.updates) == (loss, updates)

    check(kind, streams(task) | streams(task, "realizable"), passive)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2"])
@pytest.mark.parametrize("task", ALL)
def test_a_loss_of_exactly_zero_changes_nothing(kind, task, step):
    """On the boundary: y w.x = margin, |y - w.x| = epsilon, |x - w| = radius."""
    options, x, y = {
        "classification": ({"margin": 2.0}, [0.0, 4.0], 1),
        "regression": ({"epsilon": 0.5}, [1.0, 0.0], 1.5),
        "uniclass": ({"radius": 1.25}, [1.75, 1.5], None),
    }[task]
    learner = make(kind, task, step=step, w1=np.array([1.0, 0.5]), **options)
    for _ in range(2):
        learner.learn(np.array(x), y)
    s = learner.statistics
    assert (s.rounds, s.mistakes, s.updates, s.loss, s.progress) == (2, 0, 0, 0.0, 0.0)
    assert learner.w.tolist() == [1.0, 0.5]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_pa_has_no_loss_afterwards(kind, task):
    def aggressive(stream):
        judge = make("reference", task, fit_intercept=stream.intercept is not None, **stream.options)
        for x, y, _, after, _, q in rounds_of(kind, stream, "pa", 1.0):
            judge.state = after
            size = max(1.0, np.linalg.norm(after) * math.sqrt(x @ x + 1))
            assert judge.loss(x, y) <= 1e-12 * size or q <= TINY

    check(kind, streams(task), aggressive)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", ALL)
def test_pa1_never_steps_further_than_C_times_the_weight(kind, task):
    setups = st.tuples(streams(task), st.sampled_from([0.05, 0.5]), st.sampled_from([0.5, 1.0, 4.0]))

    def capped(setup):
        stream, C, weight = setup
        for _, _, before, after, loss, q in rounds_of(kind, stream, "pa1", C, weight):
            length = np.linalg.norm(after - before)
            assert length <= C * weight * math.sqrt(q) * (1 + 1e-9) + 1e-12
            if q > TINY:  # and it is that long, or ends without loss
                full = min(C * weight * math.sqrt(q), loss / math.sqrt(q))
                np.testing.assert_allclose(length, full, atol=1e-9)

    check(kind, setups, capped)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("task", "step"), TASK_STEPS)
def test_a_weight_of_zero_is_no_round(kind, task, step):
    def ignored(stream):
        learner, other = stream.learner(kind, step), stream.learner(kind, step)
        for i, x in enumerate(stream.X):
            y = None if stream.y is None else stream.y[i]
            learner.learn(x[::-1] + 1.0, y, 0.0)  # first of all, too: it must not become the centre
            learner.learn(x, y)
            learner.learn(x, y, 0.0)
            other.learn(x, y)
            assert np.array(learner.w).tobytes() == np.array(other.w).tobytes()
            assert (learner.intercept, learner.radius) == (other.intercept, other.radius)
            for name in ("rounds", "mistakes", "updates", "loss", "squared_loss", "largest_q", "progress"):
                assert getattr(learner.statistics, name) == getattr(other.statistics, name), name

    check(kind, streams(task), ignored)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", ["pa", "pa1", "pa2", "perceptron"])
def test_an_instance_without_size_changes_nothing_and_is_counted(kind, step):
    learner = make(kind, "classification", step=step)
    for x in ([0.0, 0.0], [1e-160, 1e-160]):  # the second one's square is below the smallest normal number
        learner.learn(np.array(x), 1)
    s = learner.statistics
    assert (s.rounds, s.mistakes, s.updates, s.loss, s.squared_loss, s.progress) == (2, 2, 0, 2.0, 2.0, 0.0)
    assert not np.any(learner.w)
