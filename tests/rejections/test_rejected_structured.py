"""PAStructured: invalid examples, features and costs; functions that raise; nested calls, and threads."""

from __future__ import annotations

import threading
import traceback
from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from hinge import PAStructured
from rejection import INF, NAN, rejected, rejects
from structured_problems import KINDS, Broken, Outputs, parts, play, stream


@dataclass
class Odd:
    """An input whose functions do what they should not: `where` says which one, `what` it returns or raises."""

    x: np.ndarray
    where: str
    what: object

    def do(self):
        if isinstance(self.what, type) and issubclass(self.what, BaseException):
            raise self.what("of a custom map")
        return self.what() if callable(self.what) else self.what


class Oddities(Outputs):
    """The problem, with inputs that may be odd. (The cost sees no input: y is a pair of both.)"""

    def joint_features(self, x, y):
        if isinstance(x, Odd):
            if x.where == "joint_features" or (x.where == "rival" and y != 1):
                return x.do()
            x = x.x
        return super().joint_features(x, y)

    def argmax(self, w, x):
        if isinstance(x, Odd):
            return x.do() if x.where == "argmax" else 2
        return super().argmax(w, x)

    def loss_augmented_argmax(self, w, x, y):
        if isinstance(x, Odd):
            return x.do() if x.where == "loss_augmented_argmax" else 3
        return super().loss_augmented_argmax(w, x, y)


def malformed():
    """A column that is not there."""
    row = scipy.sparse.csr_array(np.ones((1, 5)))
    row.indices[2] = 10**6
    return row


def shortened():
    """Fewer values than columns."""
    row = scipy.sparse.csr_array(np.ones((1, 5)))
    row.data = row.data[:3]
    return row


FEATURES = {
    "none": (lambda: None, "must return a dict"),
    "number": (3, "must return a dict"),
    "list": ([1.0] * 5, "must return a dict"),
    "word": ("word", "must return a dict"),
    "matrix": (np.ones((1, 5)), "one dimension"),
    "scalar": (np.array(1.0), "one dimension"),
    "empty": (np.ones(0), "one dimension"),
    "objects": (np.array([1.0, {}, 2, 3, 4], dtype=object), "must hold numbers"),
    "strings": (np.array(["a"] * 5), "must hold numbers"),
    "complex": (np.ones(5) * 1j, "must hold numbers"),
    "nan array": (np.array([1, 2, NAN, 4, 5]), "value 2 is NaN"),
    "inf array": (np.array([1, 2, 3, 4, -np.inf]), "value 4 is infinity"),
    "longer": (np.ones(6), "array of 6"),
    "shorter row": (scipy.sparse.csr_array(np.ones((1, 4))), "row of 4"),
    "two rows": (scipy.sparse.csr_array(np.ones((2, 5))), r"shape \(1, n\)"),
    "complex row": (scipy.sparse.csr_array(np.ones((1, 5)) * 1j), "must return numbers"),
    "nan row": (scipy.sparse.csr_array([[0, 0, 0, NAN, 0]]), "value 3 is NaN"),
    "malformed row": (malformed, "cannot be read"),
    "shortened row": (shortened, "cannot be read"),
    "nan dict": ({"f1": NAN}, "'f1' must be a finite number"),
    "large dict": ({"f1": 10**400}, "'f1' must be a finite number"),
    "list in a dict": ({"f1": [1]}, "'f1' must be a finite number"),
    "bytes in a dict": ({"f1": b"1"}, "'f1' must be a finite number"),
    "none in a dict": ({"f1": None}, "'f1' must be a finite number"),
    "pairs as names": ({("a", "b"): 1.0}, "name of a feature"),
    "no names": ({1.5: 1.0}, "name of a feature"),
}


def batches(model, message, *batch):
    """Every method that learns a batch rejects it."""
    error = rejects(model, message)
    error.learn_many(*batch)
    error.partial_fit(*batch)
    error.fit(*batch)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("bad", FEATURES)
def test_invalid_features_are_rejected(bad, kind, begun):
    what, match = FEATURES[bad]
    X, y, _ = stream(6)
    model = Oddities(kind).model(shuffle=False)
    if begun:
        play(model, X, y)
    like = f"{match}|and (an array|a sparse row|a dict of named features)( of 5)? before"  # of another kind: that, too
    for where in ("joint_features", "rival"):
        if where == "joint_features" and not begun and bad in ("longer", "shorter row"):
            continue  # the first one says what is right
        odd = Odd(X[0], where, what)
        rejects(model, like).learn_one(odd, 1)
        batches(model, f"^row 2: .*({like})", [*X[:2], odd, X[3]], [0, 1, 1, 2])
    if begun:
        odd = Odd(X[0], "joint_features", what)
        rejects(model, like).score_one(odd, 1)
        rejects(model, like).explain_one(odd, 1)
    other = {"dict": np.ones(5), "array": {"f1": 1.0}, "sparse": np.ones(5)}[kind]
    rejects(model, "all must be alike").learn_one(Odd(X[0], "rival", other), 1)


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("where", ["joint_features", "rival", "argmax", "loss_augmented_argmax"])
@pytest.mark.parametrize("error", [Broken, ValueError, KeyError, StopIteration, KeyboardInterrupt])
def test_error_of_a_function_is_raised_with_a_note(error, where, begun):
    X, y, _ = stream(6)
    for kind in KINDS:
        model = Oddities(kind, "max").model(average=True)
        if begun:
            play(model, X, y)
        odd = Odd(X[0], where, error)
        name = where.replace("rival", "joint_features")
        raises, batch = rejects(model, "of a custom map", error), ([X[0], X[1], odd], [0, 1, 1])
        for row, raised in [
            ("", raises.learn_one(odd, 1)),
            (", for example 2", raises.learn_many(*batch)),
            (", for example 2", raises.partial_fit(*batch)),
            (", for example 1", raises.fit([X[0], odd], [0, 1])),
        ]:
            assert type(raised) is error
            if error is not KeyboardInterrupt:
                assert raised.__notes__ == [f"It was raised in {name}{row}."]
                assert f"It was raised in {name}" in "".join(traceback.format_exception(raised))
        if begun and where == "argmax":
            raised = raises.predict([X[0], odd])
            note = "It was raised in argmax, for example 1."
            assert error is KeyboardInterrupt or raised.__notes__ == [note]
            raises.score([X[0], odd], [0, 1])


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("selection", ["prediction", "max", "max-additive"])
@pytest.mark.parametrize(
    "bad",
    [-1.0, NAN, INF, -INF, "1", b"1", None, [1.0], np.ones(2), np.ones(1), 1j, 10**400],
    ids=repr,
)
def test_invalid_cost_is_rejected(bad, selection, begun):
    X, y, _ = stream(6)

    class Costs(Outputs):
        def cost(self, y, predicted):
            if isinstance(y, tuple):
                return bad
            return super().cost(y, predicted)

        def joint_features(self, x, y):
            return super().joint_features(x, 0 if isinstance(y, tuple) else y)

        def loss_augmented_argmax(self, w, x, y):
            return super().loss_augmented_argmax(w, x, 0 if isinstance(y, tuple) else y)

    model = Costs("array", selection).model()
    if begun:
        play(model, X, y)
        rejects(model, "row 1: cost must return a finite number").score(X[:2], [0, (0,)])
    rejects(model, "^cost must return a finite number, 0 or more, not ").learn_one(X[0], (0,))
    batches(model, "^row 2: cost must return a finite", X[:3], [0, 1, (0,)])


def test_numbers_of_any_type_are_costs():
    for one in (True, np.True_, 1, np.float32(1), np.array(1.0), np.int8(1)):
        model = PAStructured(lambda x, y: {str(y): 1.0}, lambda w, x: 0, lambda y, z, one=one: one)
        assert model.learn_one(None, 1).stats_.cost == 1.0
        assert model.named_weights() == {"1": 0.5, "0": -0.5}


@pytest.mark.parametrize("kind", KINDS)
def test_too_large_numbers_are_rejected(kind):
    X, y, _ = stream(6)
    huge, big = {"cost": 1.0}, np.full((4, 5), 1e200)
    big[1:] = -1e200
    problem = Outputs(kind)
    for begun in (False, True):
        model = problem.model().set_params(cost=lambda a, b: huge["cost"] * (a != b))
        if begun:
            play(model, X, y)
        wrong = 1 if not begun or model.predict_one(big) == 0 else 0
        rejects(model, "0.?: the value is too large.*overflows").learn_one(big, wrong)
        rejects(model, "infinity|overflows").learn_one(big * 1.7e108, wrong)
        message = r"^row 1, (feature 'f0'|column 0): .*too large.*overflows"
        rejects(model, message).learn_many([0 * big, big], [1, wrong])
        huge["cost"] = 1e308
        zero = 0 * big  # from which nothing can be learned
        rejects(model, "^row 1: .*overflows").learn_many([zero] * 9, [1] * 9)
        huge["cost"] = 1.0


@pytest.mark.parametrize("selection", ["max", "max-additive"])
def test_too_large_costs_are_rejected(selection):
    """The sum of the costs, though the competitor costs little; and a margin."""
    large = {"competitor": 1}
    model = PAStructured(
        lambda x, y: np.eye(3)[y],
        lambda w, x: 2,
        lambda y, z: [0.0, 1.0, 1e308][z],
        lambda w, x, y: large["competitor"],
        selection=selection,
    )
    model.learn_one(None, 0)
    rejects(model, "^the cost is too large").learn_one(None, 0)
    assert model.stats_.cost == 1e308
    model = clone(model).set_params(margin=1e200)
    large["competitor"] = 2
    rejects(model, "^row 0: the cost is too large").learn_many([None], [0])


EXAMPLES = [
    (lambda X, y: (X, y[:5]), "5 entries for 6"),
    (lambda X, y: (X, y, [1.0]), "1 entries for 6"),
    (lambda X, y: (X, y, [1.0] * 5 + [-1.0]), "row 5: the sample weight is -1.0"),
    (lambda X, y: (X, y, [NAN] * 6), "sample weight is nan"),
    (lambda X, y: (X, y, ["a"] * 6), "sample_weight must hold numbers"),
    (lambda X, y: (X, y, np.ones((6, 1))), "one-dimensional"),
    (lambda X, y: (X, None), "y must be a list"),
    (lambda X, y: (X, "012301"), "y must be a list"),
    (lambda X, y: ("words", y), "X must be a list"),
    (lambda X, y: (3, y), "X must be a list"),
    (lambda X, y: ({"a": 1}, y), "X must be a list"),
    (lambda X, y: (scipy.sparse.eye(6).tocsr(), y), "X must be a list"),
]


@pytest.mark.parametrize("begun", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_invalid_examples_are_rejected(kind, begun):
    X, y, _ = stream(6)
    model = Outputs(kind).model()
    if begun:
        play(model, X, y)
    for make, message in EXAMPLES:
        batches(model, message, *make(X, y))
    for weight in (-1.0, NAN, INF, "one", None, [1.0]):
        rejects(model, "sample.weight|must hold").learn_one(X[0], 0, weight=weight)
    error = rejects(model, "no examples")
    error.fit([], [])
    error.fit(X, y, [0.0] * 6)
    if begun:
        error.score(X, y, [0.0] * 6)
        rejects(model, "X must be a list").predict("words")


def test_features_beyond_a_limit_are_rejected():
    X, y, _ = stream(6)
    for kind in KINDS:
        model = Outputs(kind).model(max_features=4)
        rejects(model, "^row [0-9].* limit.*max_features").learn_many(X, y)
        if kind == "dict":
            play(model, [x * (np.arange(5) < 4) for x in X], y)
            rejects(model, "f4.*max_features").learn_many(X, y)
            continue
        assert play(Outputs(kind).model(max_features=5), X, y).stats_.rounds == 6
        rejects(Outputs(kind).model(hash_bits=3), "hash_bits is for").learn_one(X[0], 0)
    wide = scipy.sparse.csr_array(([1.0], [2**40], [0, 1]), shape=(1, 2**41))
    model = PAStructured(lambda x, y: wide, lambda w, x: 0, lambda y, z: 1.0)
    rejects(model, "the limit is 16777216").learn_one(None, 0)


def test_sparse_rows_of_all_formats_are_read():
    """Sparse rows of any format, with the same column twice or out of order; and of one dimension."""
    X, y, _ = stream(40)
    expected = Outputs("sparse").model().learn_many(X, y)

    def shuffled(row):
        columns = np.array([4, 3, 2, 1, 0, 2])
        values = np.append(row[::-1], 0.0)
        values[2], values[5] = row[2] - 1, 1.0
        return scipy.sparse.csr_array((values, columns, [0, 6]), shape=(1, 5))

    for make in (
        scipy.sparse.csc_matrix,
        scipy.sparse.coo_array,
        scipy.sparse.lil_array,
        lambda row: scipy.sparse.coo_array(row[0]),
        lambda row: shuffled(row[0]),
    ):
        model = PAStructured(
            lambda x, z, make=make: make(x[[z]]), Outputs("array").argmax, Outputs().cost
        ).learn_many(X, y)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        explained = model.explain_one(X[0], 1)
        assert sorted(part.feature for part in explained) == np.flatnonzero(X[0][1]).tolist()
        assert sum(part.contribution for part in explained) == pytest.approx(model.score_one(X[0], 1))


# ---- calls from within, and threads -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_functions_cannot_train_their_own_model(kind):
    X, y, _ = stream(8)
    problem = Outputs(kind, "max")
    call = {}

    def nested(name):
        def function(*arguments):
            if "ask" in call:
                ask = call.pop("ask")
                ask()
            return getattr(problem, name)(*arguments)

        return function

    names = ["joint_features", "argmax", "cost", "loss_augmented_argmax"]
    for name in names:
        model = problem.model().set_params(**{name: nested(name)})
        learning = [
            lambda m=model: m.learn_one(X[0], 0),
            lambda m=model: m.learn_many(X, y),
            lambda m=model: m.partial_fit(X, y),
            lambda m=model: m.fit(X, y),
        ]

        def ask_then(ask, outer, name=name):
            call["ask"] = ask
            outer()

        for inner in learning:
            for outer in learning:
                raised = rejected(model, "model is busy", ask_then, inner, outer, error=RuntimeError)
                assert raised.__notes__[0].startswith(f"It was raised in {name}")
        play(model, X, y)
        for inner in learning:
            for outer in (*learning, lambda m=model: m.score(X, y)):
                if name == "joint_features" and outer not in learning:
                    continue  # which is not called for a score
                if name == "loss_augmented_argmax" and outer not in learning:
                    continue
                rejected(model, "model is busy", ask_then, inner, outer, error=RuntimeError)
        # To look at it is all right, and so is to train another one.
        other = problem.model()

        def look(m=model, other=other):
            call["read"] = m.predict_one(X[0]), m.stats_, parts(m)
            other.learn_one(X[0], 0)

        before = model.predict_one(X[0]), model.stats_, parts(model)
        ask_then(look, learning[0])
        assert call["read"] == before
        assert other.stats_.rounds == 1
        assert model.stats_.rounds == before[1].rounds + 1


def test_threads_take_turns():
    X, y, _ = stream(40)
    for kind in KINDS:
        model = Outputs(kind).model(average=True)
        errors = []
        start = threading.Barrier(4)

        def learn(model=model, start=start, errors=errors):
            try:
                start.wait()
                for x, output in zip(X, y, strict=True):
                    model.learn_one(x, output)
                model.learn_many(X, y)
                model.predict(X)
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=learn) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        assert not errors
        assert model.stats_.rounds == 4 * 2 * len(X)


def test_first_round_that_fails_does_not_lose_the_one_that_waits():
    """The round that waits is not lost with the learner that was given up."""
    entered, resume = threading.Event(), threading.Event()

    def argmax(w, x):
        if x == "fails":
            entered.set()
            assert resume.wait(60)
            raise Broken
        return 0

    model = PAStructured(lambda x, y: {str(y): 1.0}, argmax, lambda y, z: y != z)
    failures = []

    def fail():
        try:
            model.learn_one("fails", 1)
        except Broken as error:
            failures.append(error)

    failing = threading.Thread(target=fail)
    failing.start()
    assert entered.wait(60)
    with pytest.raises(NotFittedError):
        model.predict_one("x")
    waiting = threading.Thread(target=lambda: model.learn_one("x", 1))
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    resume.set()
    failing.join(60)
    waiting.join(60)
    assert len(failures) == 1
    assert model.stats_.rounds == 1
    assert model.named_weights() == {"1": 0.5, "0": -0.5}
