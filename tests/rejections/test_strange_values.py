"""Every method of every model takes strange values, or raises ValueError or TypeError in words of its own. Then it is
what it was, to the bit."""

from __future__ import annotations

import contextlib
import os
import pickle
import re
import signal
import traceback
import warnings

import numpy as np
import pandas as pd
import pytest

import hinge
import hinge.compat
import hinge.river
from hinge.structured.sequence_learner import SequenceLearner
from strange_values import COUNT, EVERYTHING, SCALARS, WIDTH

pytestmark = pytest.mark.filterwarnings("ignore")

X = np.random.default_rng(0).normal(size=(COUNT, WIDTH))
EVENT = {"a": 1.0, "b": "red", "c": True}
SENTENCES, TAGS = [[["a"], ["b"]], [["b"]], [["c"]], [["a"]]], [[0, 1], [1], [0], [0]]
TEXTS = ["free money", "see you", "money", "you"]

# Words that come from Python, NumPy, pandas or the C++ library, and tell a user nothing.
FOREIGN = re.compile(
    r"^could not convert string|not supported between|unhashable|is not iterable|has no len|not subscriptable|"
    r"incompatible function arguments|vector::|basic_string|std::|bad_alloc|inhomogeneous|truth value|"
    r"Unable to allocate|setting an array element|unexpected keyword|positional argument|must be real number, not|"
    r"object cannot be interpreted|boolean value of NA|has no attribute|ufunc|Cannot cast|invalid literal|"
    r"^float\(\) argument|^int\(\) argument|bad operand|unsupported operand|codec can't|too large to convert|"
    r"cannot reshape|could not broadcast|Maximum recursion|maximum recursion"
)
LIMIT = 2  # seconds for a call


def dumped(model):
    """All that a model is, to compare."""
    if not getattr(model, "__sklearn_is_fitted__", lambda: True)():
        of_X = (
            "n_features_in_",
            "feature_names_in_",
        )  # as in scikit-learn, compat has them before it looks at y
        of_X = of_X if type(model).__module__.startswith("hinge.compat") else ()
        return pickle.dumps(sorted(name for name in vars(model) if name not in of_X))
    if isinstance(model, (hinge.compat.PassiveAggressiveClassifier, hinge.compat.PassiveAggressiveRegressor)):
        return pickle.dumps(vars(model))
    if isinstance(model, hinge.compat.CRF):
        model = getattr(model, "model_", None)
    if model is None:
        return b""
    return hinge.model.file.to_bytes(*model.to_parts())


@contextlib.contextmanager
def within(seconds):
    def stop(*_):
        raise TimeoutError(f"not within {seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def wrong(model, call):
    """What is wrong with how a call ends; None if nothing is. And whether the model has learned."""
    before = dumped(model)
    try:
        with within(LIMIT), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            call()
        return None, dumped(model) != before
    except (ValueError, TypeError) as error:
        words = str(error)
        places = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        if not words.strip() or FOREIGN.search(words):
            return f"{type(error).__name__}: {words[:150]!r} at {places[-1]}", False
        if not any(owner in places[-1] for owner in ("hinge", "sklearn")):
            return f"{type(error).__name__} of {places[-1]}: {words[:150]!r}", False
    except AttributeError as error:
        if not re.match("there is no covariance|there are no weights", str(error)):
            return f"AttributeError: {str(error)[:150]!r}", False
    except BaseException as error:
        return f"{type(error).__name__}: {str(error)[:150]!r}", True
    return (None if dumped(model) == before else "the model has changed"), False


def placed(kind, name, value, valid):
    """Where a strange value goes, by the kind of the argument: as it is, and inside of one that is valid."""
    yield "", value
    with contextlib.suppress(TypeError, ValueError):
        if kind == "event":
            yield "as a value", {**EVENT, "a": value}
            yield "as a name", {**EVENT, value: 1.0}
        elif kind == "matrix" and name in SCALARS:
            yield "in a cell", [[value, 1.0, 1.0], *X[1:].tolist()]
        elif kind == "vector" and name in SCALARS:
            yield "in the first place", [value, *list(valid)[1:]]


def calls_of(kinds, arguments):
    """Each argument replaced by each strange value, the others valid."""
    for place, kind in enumerate(kinds):
        values = SCALARS if kind == "scalar" else EVERYTHING
        for name, make in values.items():
            for how, value in placed(kind, name, make(), arguments[place]):
                yield f"{kind} {place}: {name} {how}", [*arguments[:place], value, *arguments[place + 1 :]]


# ---- the models: how one is made, and each method with valid arguments ----------------------------------------------

ROWS = ("matrix", "vector", "vector")


def of_estimator(y, one, classes=None):
    weights = [1.0] * COUNT
    first = (classes,) if classes is not None else ()
    return {
        "fit": (ROWS, (X, y, weights)),
        "partial_fit": (("matrix", "vector", *("vector",) * len(first), "vector"), (X, y, *first, weights)),
        "learn_many": (ROWS, (X, y, weights)),
        "learn_one": (("event", "scalar", "scalar"), (EVENT, one, 1.0)),
        "predict": (("matrix",), (X,)),
        "decision_function": (("matrix",), (X,)),
        "score": (ROWS, (X, y, weights)),
        "predict_one": (("event",), (EVENT,)),
        "score_one": (("event",), (EVENT,)),
        "explain_one": (("event", "scalar"), (EVENT, None)),
        "explain": (("matrix", "scalar"), (X, None)),
        "uncertainty": (("matrix",), (X,)),
        "uncertainty_one": (("event",), (EVENT,)),
        "certificate": (("matrix", "vector", "vector", "vector"), (X, y, None, None)),
    }


LABELS, NUMBERS, SETS, RANKS = (
    ["a", "b", "a", "b"],
    [0.5, 1.0, 2.0, -1.0],
    [{"a"}, {"b"}, {"a", "c"}, {"b"}],
    [1, 2, 3, 1],
)


def joint_features(x, y):
    """Functions that look at nothing: what they would raise is not ours."""
    return {type(x).__name__: 1.0, type(y).__name__: 1.0}


def argmax(w, x):
    return 0


def cost(y, other):
    return 0.0 if y is other else 1.0


OF_LEARNER = {
    "learn_many": (ROWS, (X, None, None)),
    "learn": ((*ROWS, "vector"), (X, None, None, range(COUNT))),
    "learn_one": (("event", "scalar", "scalar"), (EVENT, None, 1.0)),
    "scores": (("matrix",), (X,)),
    "score_one": (("event",), (EVENT,)),
    "predict_one": (("event",), (EVENT,)),
    "explain_one": (("event", "scalar"), (EVENT, None)),
    "certificate": (ROWS, (X, None, None)),
    "name_columns": (("vector",), (["a", "b", "c"],)),
    "set_radius": (("scalar",), (1.0,)),
}


def of_learner(y, one):
    with_truth = {name: list(arguments) for name, (_, arguments) in OF_LEARNER.items()}
    for name in ("learn_many", "learn", "certificate"):
        with_truth[name][1] = y
    with_truth["learn_one"][1] = one
    return {name: (kinds, tuple(with_truth[name])) for name, (kinds, _) in OF_LEARNER.items()}


def of_sentences(one):
    whole = {
        "fit": (("list", "list", "vector"), (SENTENCES, TAGS, [1.0] * COUNT)),
        "partial_fit": (("list", "list", "vector", "vector"), (SENTENCES, TAGS, [0, 1], [1.0] * COUNT)),
        "learn_many": (("list", "list", "vector"), (SENTENCES, TAGS, [1.0] * COUNT)),
        "learn_one": (("list", "list", "scalar"), (*one, 1.0)),
        "predict": (("list",), (SENTENCES,)),
        "predict_one": (("list",), (one[0],)),
        "predict_single": (("list",), (one[0],)),
        "score": (("list", "list", "vector"), (SENTENCES, TAGS, [1.0] * COUNT)),
        "score_one": (("list", "list"), one),
        "explain_one": (("list", "list"), one),
        "explain": (("list", "list"), (SENTENCES, TAGS)),
        "certificate": (("list", "list", "scalar"), (SENTENCES, TAGS, None)),
    }
    return whole


def of_texts():
    y = LABELS
    return {
        "fit": (("list", "vector", "vector"), (TEXTS, y, [1.0] * COUNT)),
        "partial_fit": (("list", "vector", "vector"), (TEXTS, y, ["a", "b"])),
        "learn_many": (("list", "vector", "vector"), (TEXTS, y, [1.0] * COUNT)),
        "learn_one": (("list", "scalar", "scalar"), ("free", "a", 1.0)),
        "predict": (("list",), (TEXTS,)),
        "decision_function": (("list",), (TEXTS,)),
        "score": (("list", "vector"), (TEXTS, y)),
        "predict_one": (("list",), ("free",)),
        "score_one": (("list",), ("free",)),
        "explain_one": (("list", "scalar"), ("free", None)),
        "explain": (("list", "scalar"), (TEXTS, None)),
    }


def of_river(one, series):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    return {
        "learn_one": (("event", "list", "scalar"), (EVENT, one, 1.0)),
        "learn_many": (("matrix", "vector", "vector"), (frame, series, 1.0)),
        "predict_one": (("event",), (EVENT,)),
        "predict_proba_one": (("event",), (EVENT,)),
        "predict_many": (("matrix",), (frame,)),
        "score_one": (("event",), (EVENT,)),
        "explain_one": (("event", "scalar"), (EVENT, None)),
    }


def of_compat(y, classes=None):
    return {
        "fit": (("matrix", "vector", "vector", "vector"), (X, y, np.zeros((1, WIDTH)), np.zeros(1))),
        "partial_fit": (
            ("matrix", "vector", *("vector",) * (classes is not None)),
            (X, y, *(() if classes is None else (classes,))),
        ),
        "predict": (("matrix",), (X,)),
        "decision_function": (("matrix",), (X,)),
        "score": (ROWS, (X, y, [1.0] * COUNT)),
    }


def without_truth(methods):
    del methods["score"], methods["explain_one"], methods["explain"]
    return {
        **methods,
        "learn_one": (("event", "scalar"), (EVENT, 1.0)),
        "learn_many": (("matrix", "vector"), (X, [1.0] * COUNT)),
        "score_samples": (("matrix",), (X,)),
    }


def pipeline_methods():
    return {
        "learn_one": (("event", "scalar", "scalar"), (EVENT, "a", 1.0)),
        "learn_many": (("list", "vector", "vector"), ([EVENT] * COUNT, LABELS, [1.0] * COUNT)),
        "predict_many": (("list",), ([EVENT],)),
        "predict_one": (("event",), (EVENT,)),
        "score_one": (("event",), (EVENT,)),
        "explain_one": (("event", "scalar"), (EVENT, None)),
    }


CLASSES = of_estimator(LABELS, "a", ["a", "b"])
MODELS = {
    "PAClassifier": (lambda: hinge.PAClassifier(max_iter=2), CLASSES),
    "PAClassifier, 3 classes": (
        lambda: hinge.PAClassifier(max_iter=2, geometry="mahalanobis"),
        of_estimator([1, 2, 3, 1], 1, [1, 2, 3]),
    ),
    "PAClassifier, kernel": (lambda: hinge.PAClassifier(max_iter=2, kernel="rbf", budget=10), CLASSES),
    "PAClassifier, early stopping": (
        lambda: hinge.PAClassifier(max_iter=2, early_stopping=True, validation_fraction=0.5),
        {"fit": CLASSES["fit"]},
    ),
    "PAClassifier, hashed": (lambda: hinge.PAClassifier(max_iter=2, hash_bits=4), CLASSES),
    "PARegressor": (lambda: hinge.PARegressor(max_iter=2, geometry="diagonal"), of_estimator(NUMBERS, 0.5)),
    "PAOneClass": (lambda: hinge.PAOneClass(max_iter=2), without_truth(of_estimator(None, None))),
    "PAMultilabel": (lambda: hinge.PAMultilabel(max_iter=2), of_estimator(SETS, {"a"}, ["a", "b", "c"])),
    "PAOrdinal": (lambda: hinge.PAOrdinal(max_iter=2), of_estimator(RANKS, 1, [1, 2, 3])),
    "PARanker": (
        hinge.PARanker,
        {name: call for name, call in of_texts().items() if name != "score"},
    ),
    "PASequence": (lambda: hinge.PASequence(max_iter=2), of_sentences((SENTENCES[0], TAGS[0]))),
    "PAStructured": (
        lambda: hinge.PAStructured(joint_features, argmax, cost, max_iter=2),
        {
            "fit": (("list", "list", "vector"), (TEXTS, [0, 1, 0, 1], [1.0] * COUNT)),
            "learn_one": (("list", "list", "scalar"), ("free", 0, 1.0)),
            "learn_many": (("list", "list", "vector"), (TEXTS, [0, 1, 0, 1], [1.0] * COUNT)),
            "predict": (("list",), (TEXTS,)),
            "score": (("list", "list", "vector"), (TEXTS, [0, 1, 0, 1], [1.0] * COUNT)),
            "certificate": (("list", "list", "scalar"), (TEXTS, [0, 1, 0, 1], None)),
        },
    ),
    "TextClassifier": (lambda: hinge.TextClassifier(max_iter=2), of_texts()),
    "Pipeline": (
        lambda: hinge.Pipeline(hinge.Features(missing="indicator"), hinge.Learner("classification")),
        pipeline_methods(),
    ),
    "Pipeline of text": (
        lambda: hinge.Pipeline(
            hinge.Features(text="b", categorical=["c"], numeric=["a"], interactions="a*c"),
            hinge.Learner("classification"),
        ),
        pipeline_methods(),
    ),
    "Learner, classification": (lambda: hinge.Learner("classification"), of_learner(LABELS, "a")),
    "Learner, regression": (lambda: hinge.Learner("regression"), of_learner(NUMBERS, 0.5)),
    "Learner, uniclass": (lambda: hinge.Learner("uniclass"), of_learner(None, None)),
    "Learner, multilabel": (lambda: hinge.Learner("multilabel"), of_learner(SETS, {"a"})),
    "Learner, ordinal": (lambda: hinge.Learner("ordinal", classes=[1, 2, 3]), of_learner(RANKS, 1)),
    "SequenceLearner": (
        SequenceLearner,
        {
            name: call
            for name, call in of_sentences((SENTENCES[0], TAGS[0])).items()
            if name in ("learn_one", "learn_many", "predict_one", "score_one", "explain_one", "certificate")
        },
    ),
    "river.PAClassifier": (hinge.river.PAClassifier, of_river("a", pd.Series(LABELS))),
    "river.PARegressor": (hinge.river.PARegressor, of_river(0.5, pd.Series(NUMBERS))),
    "river.AutoClassifier": (hinge.river.AutoClassifier, of_river("a", pd.Series(LABELS))),
    "river.AutoRegressor": (hinge.river.AutoRegressor, of_river(0.5, pd.Series(NUMBERS))),
    "river.PAMultilabel": (
        hinge.river.PAMultilabel,
        {name: call for name, call in of_river({"a": True}, None).items() if not name.endswith("many")},
    ),
    "compat classifier": (
        lambda: hinge.compat.PassiveAggressiveClassifier(max_iter=2),
        of_compat(LABELS, ["a", "b"]),
    ),
    "compat regressor": (lambda: hinge.compat.PassiveAggressiveRegressor(max_iter=2), of_compat(NUMBERS)),
    "compat CRF": (
        lambda: hinge.compat.CRF(algorithm="pa", max_iterations=2),
        {
            "fit": (("list", "list"), (SENTENCES, TAGS)),
            "predict": (("list",), (SENTENCES,)),
            "predict_single": (("list",), (SENTENCES[0],)),
            "score": (("list", "list"), (SENTENCES, TAGS)),
        },
    ),
}  # fmt: skip


def taught(make, methods):
    """One that has learned."""
    model = make()
    first = next(name for name in ("fit", "learn_many", "learn_one") if name in methods)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(model, first)(*methods[first][1])
    return model


def some_of(calls, offset):
    """HINGE_FUZZ=all: all of them (ten minutes). Else as many as take a minute in all; models take different ones."""
    calls = list(calls)
    return calls if os.environ.get("HINGE_FUZZ") == "all" else calls[offset % 37 :: 37]


@pytest.mark.parametrize("fresh", [False, True], ids=["taught", "fresh"])
@pytest.mark.parametrize("which", MODELS)
def test_strange_values(which, fresh):
    make, methods = MODELS[which]
    found, model, offset = [], None, 7 * list(MODELS).index(which) + fresh
    for method, (kinds, arguments) in methods.items():
        if not hasattr(make() if fresh else taught(make, methods), method):
            continue
        offset += 3
        for what, strange in some_of(calls_of(kinds, arguments), offset):
            if model is None:
                model = make() if fresh else taught(make, methods)
            fault, learned = wrong(model, lambda m=model, n=method, a=strange: getattr(m, n)(*a))
            if fault is not None:
                found.append(f"{method}, {what}: {fault}")
            if fault is not None or learned:
                model = None
    assert not found, f"{len(found)}:\n" + "\n".join(found)


OPTIONS = {
    "PAClassifier": lambda **o: hinge.PAClassifier(**{"max_iter": 2, **o}).fit(X, LABELS),
    "PARegressor": lambda **o: hinge.PARegressor(**{"max_iter": 2, **o}).fit(X, NUMBERS),
    "PAOneClass": lambda **o: hinge.PAOneClass(**{"max_iter": 2, **o}).fit(X),
    "PAMultilabel": lambda **o: hinge.PAMultilabel(**{"max_iter": 2, **o}).fit(X, SETS),
    "PAOrdinal": lambda **o: hinge.PAOrdinal(**{"max_iter": 2, **o}).fit(X, RANKS),
    "PARanker": lambda **o: hinge.PARanker(**o).fit(TEXTS, LABELS),
    "PASequence": lambda **o: hinge.PASequence(**{"max_iter": 2, **o}).fit(SENTENCES, TAGS),
    "TextClassifier": lambda **o: hinge.TextClassifier(**{"max_iter": 2, **o}).fit(TEXTS, LABELS),
    "PassiveAggressiveClassifier": lambda **o: hinge.compat.PassiveAggressiveClassifier(
        **{"max_iter": 2, **o}
    ).fit(X, LABELS),
}


@pytest.mark.parametrize("which", OPTIONS)
def test_strange_options(which):
    cls = getattr(hinge.compat if which.startswith("Passive") else hinge, which)
    found, model = [], OPTIONS[which]()
    values = {what: make for what, make in EVERYTHING.items() if not what.startswith("TiB")}
    calls = [(name, what) for name in cls().get_params() for what in values if name != "verbose"]
    for name, what in some_of(calls, list(OPTIONS).index(which)):
        value = EVERYTHING[what]()
        fault, _ = wrong(model, lambda n=name, v=value: OPTIONS[which](**{n: v}))
        if fault is not None:
            found.append(f"{name}={what}: {fault}")
    assert not found, f"{len(found)}:\n" + "\n".join(found)
