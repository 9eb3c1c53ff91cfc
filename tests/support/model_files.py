"""Every kind of model in a small state, how a model that was read is used, and files with a change in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import hinge
from hinge import ModelFileError
from hinge._core import file_bytes
from hinge.model import file
from hinge.structured.sequence_learner import SequenceLearner
from structured_problems import Outputs

JSON_TENSORS = {"settings", "names", "labels"}

# ---- kinds of models -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A kind of model: `make` gives one that has learned."""

    name: str
    make: Callable[[], Any]
    uses: list[Callable[[Any], Any]]
    lessons: list[Callable[[Any], Any]]
    options: dict[str, Any]
    task: str = ""
    words: tuple[str, ...] = ("large", "overflow")  # of the errors that a model with absurd numbers may raise

    @property
    def has_kernel(self) -> bool:
        return "kernel" in self.options

    @property
    def is_committee(self) -> bool:
        return "experts" in self.options or isinstance(self.options.get("C"), (str, list))

    @property
    def is_sequence(self) -> bool:
        return self.task == "sequence"

    @property
    def geometry(self) -> str:
        return str(self.options.get("geometry", "euclidean"))


EVENTS = [
    {"a": 1.0, "b": 2.0}, {"b": -1.0, "c": 0.5}, {"a": 1.0, "c": 1.0}, {"c": -3.0}, {"a": -2.0, "b": 0.5}, {"d": 1.5},
]  # fmt: skip
TRUTHS = {
    "classification": ["no", "yes", "yes", "no", "yes", "no"],
    "multiclass": ["no", "yes", "maybe", "no", "yes", "yes"],
    "regression": [1.0, 2.0, -9.0, 4.0, -2.0, 3.0],
    "uniclass": [None] * 6,
    "multilabel": [{"a"}, {"a", "b"}, {"c"}, {"b"}, {"a", "c"}, set()],
    "ordinal": [0, 2, 1, 0, 2, 1],
}


def named(task: str, options: dict[str, Any]) -> str:
    return "-".join([task, *(f"{name}={value}" for name, value in options.items())]).replace("'", "")


def learner_case(task: str, options: dict[str, Any]) -> Case:
    has_kernel = "kernel" in options
    events = EVENTS if has_kernel else EVENTS[:3]
    truths = None if task == "uniclass" else TRUTHS[task][: len(events)]

    def make() -> hinge.Learner:
        model = hinge.Learner("classification" if task == "multiclass" else task, **options)
        model.learn_many(events, truths)
        assert model.statistics.updates > 0
        assert not has_kernel or model.n_support > 1
        return model

    uses = [lambda m: m.predict_one({"a": 1.0}), lambda m: m.score_one({"a": 1.0, "c": 2.0})]
    lessons = [
        lambda m: m.learn_one({"a": 1.0, "c": 2.0}, TRUTHS[task][0]),
        lambda m: m.learn_many(events, truths),
    ]
    words = ("large", "overflow", "small")
    if has_kernel:
        uses.append(lambda m: (m.support, m.dual_coef, m.support_vectors, m.n_support, m.__sizeof__()))
        words = ("large", "overflow")
    return Case(named(task, options), make, uses, lessons, options, task, words)


def untrained_case(task: str) -> Case:
    truths = [1.0, 2.0] if task == "regression" else None
    return Case(
        f"{task}-untrained",
        lambda: hinge.Learner(task, w1=[1.0, 2.0], dtype="float32"),
        [lambda m: m.predict_one({"a": 1.0})],
        [] if task == "classification" else [lambda m: m.learn(np.eye(2), truths)],  # w1 needs the classes
        {},
        task,
    )


AVERAGED = {"average": True}
RANKS = {"classes": [0, 1, 2]}
WITH_WEIGHTS = [
    ("classification", AVERAGED),
    ("regression", AVERAGED),
    ("uniclass", AVERAGED),
    ("multiclass", {"dtype": "float32", "selection": "mira"}),
    ("multilabel", {"selection": "simproj"}),
    ("ordinal", {**RANKS, **AVERAGED}),
]
WITH_GEOMETRIES = [
    *(("classification", {"geometry": each, **AVERAGED}) for each in ("mahalanobis", "diagonal", "entropy")),
    ("regression", {"geometry": "entropy", "signed": False, **AVERAGED}),
    ("uniclass", {"geometry": "entropy", "radius": 1.0, **AVERAGED}),
    ("multilabel", {"geometry": "mahalanobis", **AVERAGED}),
    ("ordinal", {"geometry": "diagonal", **RANKS, **AVERAGED}),
    ("ordinal", {"geometry": "entropy", **RANKS, **AVERAGED}),
]
EXPERTS = ["pa1:0", "pa1:0:average", "arow=2", "scaled:pa2:-1:average", "scaled:arow:0"]
WITH_COMMITTEES = [
    ("classification", {"C": "auto", **AVERAGED}),
    ("classification", {"experts": EXPERTS}),
    ("multiclass", {"C": [0.1, 1.0]}),
    ("regression", {"C": "auto"}),
    ("multilabel", {"experts": EXPERTS}),
    ("ordinal", {"experts": EXPERTS, **RANKS}),
]
WITH_KERNELS = [
    ("classification", {"kernel": "rbf", "gamma": 0.5}),
    ("classification", {"kernel": "rbf", "gamma": 0.5, "budget": 3}),
    ("regression", {"kernel": "poly", "gamma": 0.5, "budget": "adaptive"}),
    ("regression", {"kernel": "linear", "average": True}),
    ("uniclass", {"kernel": "rbf", "gamma": 0.5, "budget": 3, "radius": 0.2}),
    ("multiclass", {"kernel": "rbf", "gamma": 0.5, "budget": 4, "dtype": "float32"}),
    ("multilabel", {"kernel": "linear", "budget": 3}),
    ("multilabel", {"kernel": "rbf", "gamma": 0.1, "threshold": 0.0}),
    ("ordinal", {"kernel": "rbf", "gamma": 0.5, "budget": 3, **RANKS}),
    ("ordinal", {"kernel": "linear", **RANKS}),
]

SENTENCES = [[["a"], ["b"], ["a", "c"]], [{"b": 2.0, "d": -1.5}], [["c"], ["a"]]]
TAGS = [["A", "B", "C"], ["B"], ["C", "A"]]
_COSTS = {"A": {"B": 1.0, "C": 2.0}, "B": {"A": 3.0, "C": 1.0}, "C": {"A": 1.0, "B": 1.0}}
SEQUENCES = {
    "plain": {"average": False},
    "average": {"average": True, "dtype": "float32"},
    "diagonal": {"average": True, "geometry": "diagonal"},
    "max": {"average": False, "selection": "max", "cost": _COSTS},
    "matrix": {"average": True, "cost": [[0, 1, 2], [1, 0, 1], [1, 1, 0]], "classes": ["A", "B", "C"]},
    "hashed": {"average": True, "hash_bits": 5, "geometry": "diagonal", "covariance_update": "drop"},
}


def sequence_case(name: str) -> Case:
    def make() -> SequenceLearner:
        model = SequenceLearner(step="pa", **SEQUENCES[name])
        model.learn_many(SENTENCES * 2, TAGS * 2)
        assert model.statistics.updates > 1
        return model

    def last(model: SequenceLearner) -> list[Any]:
        return model.labels.known[-1:]

    return Case(
        f"sequence-{name}",
        make,
        [
            lambda m: m.predict_many(SENTENCES),
            lambda m: m.score_one(SENTENCES[0], [m.labels.known[0]] * 3),
            lambda m: m.explain_one(SENTENCES[0]),
            lambda m: m.emissions() and m.transitions(),
            lambda m: m.predict_one([["a"]] * 50),
        ],
        [
            lambda m: m.learn_one(SENTENCES[0], last(m) * 3),
            lambda m: m.learn_one(SENTENCES[0][:1] * 30, last(m) * 30),
            lambda m: m.learn_one(SENTENCES[1], m.labels.known[:1]),
        ],
        {"average": True, **SEQUENCES[name]},
        "sequence",
        ("large", "overflow", "small", "infinity"),
    )


X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.array([0, 1] * 10)
_PASSES = {"random_state": 0, "max_iter": 5, "tol": None}


def _river() -> Any:
    model = hinge.river.PAClassifier()
    for event, label in zip(EVENTS, TRUTHS["classification"], strict=True):
        model.learn_one(event, label)
    return model


def _structured() -> Any:
    return Outputs("array").model(step="pa").learn_many([X[:3], X[3:6], X[6:9]], [0, 1, 2])


def _pipeline() -> Any:
    model = hinge.Pipeline(hinge.Features(), hinge.PAClassifier())
    model.learn_many(EVENTS, TRUTHS["classification"])
    return model


def _ranker() -> Any:
    return hinge.PARanker().learn_one("one two", "a").learn_one("two three", "b")


def _texts() -> Any:
    return hinge.TextClassifier(random_state=0).fit(["one two", "two three"], ["a", "b"])


def estimator_case(make: Callable[[], Any], x: Any, learn: Callable[[Any], Any]) -> Case:
    return Case(type(make()).__module__.replace("hinge.", "") + "." + type(make()).__name__, make,
                [lambda m: m.predict_one(x)], [learn], {})  # fmt: skip


def _fitted(cls: Any, y: Any = Y) -> Case:
    event, truth = {0: 1.0, 2: 2.0}, () if y is None else (y[0],)
    return estimator_case(
        lambda: cls(**_PASSES).fit(X, y), event, lambda m: m.learn_one(event, *truth).partial_fit(X, y)
    )


COSTS = {"cost": 1 - np.eye(3), "classes": ["A", "B", "C"]}
LEARNERS = [
    learner_case(*each) for each in WITH_WEIGHTS + WITH_GEOMETRIES + WITH_KERNELS + WITH_COMMITTEES
] + [sequence_case(name) for name in SEQUENCES]
ESTIMATORS = [
    _fitted(hinge.PAClassifier),
    _fitted(hinge.PARegressor, X[:, 0]),
    _fitted(hinge.PAOneClass, None),
    _fitted(hinge.PAMultilabel, [{"a"}, {"b", "c"}] * 10),
    _fitted(hinge.PAOrdinal, np.arange(20) % 3),
    estimator_case(lambda: hinge.PASequence(step="pa", **COSTS).learn_many(SENTENCES * 2, TAGS * 2), SENTENCES[0],
                   lambda m: m.learn_many(SENTENCES, TAGS)),
]  # fmt: skip
COMPOSED = [
    estimator_case(_texts, "one", lambda m: m.learn_one("two one", "b")),
    estimator_case(_ranker, "one", lambda m: m.learn_one("two one", "b")),
    estimator_case(_structured, X[:3], lambda m: m.learn_one(X[3:6], 2)),
    estimator_case(_pipeline, {"a": 1.0}, lambda m: m.learn_one({"a": 1.0}, "no")),
    estimator_case(_river, {"a": 1.0}, lambda m: m.learn_one({"a": 1.0}, "no")),
]


def each_of(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


# ---- reading and using ---------------------------------------------------------------------------------------------


def load(path: Any, case: Case) -> Any:
    """The model of a file. The functions of a structured problem are in no file."""
    return _structured_again(path) if case.make is _structured else hinge.load(path)


def _structured_again(path: Any) -> Any:
    problem = Outputs("array")
    return hinge.PAStructured.load(
        path, joint_features=problem.joint_features, argmax=problem.argmax, cost=problem.cost
    )


def bytes_of(model: Any) -> bytes:
    return file.to_bytes(*model.to_parts())


def check_use(model: Any, case: Case) -> None:
    """A model that was read predicts, learns and is saved, or reports numbers that are too large, without a trace."""
    before = _saved(model)
    for use in case.uses:
        _attempt(use, model, case)
    assert _saved(model) == before
    for lesson in [*case.lessons, *([_reload] if case.has_kernel else [])]:
        learned = _attempt(lesson, model, case)
        assert learned or _saved(model) == before
        before = _saved(model)


def _reload(model: Any) -> None:
    type(model).from_bytes(model.to_bytes())


def _attempt(use: Callable[[Any], Any], model: Any, case: Case) -> bool:
    try:
        use(model)
    except ValueError as error:
        assert any(word in str(error) for word in case.words), error  # noqa: PT017
        return False
    return True


def _saved(model: Any) -> Any:
    """What `save` would write, or why it would not."""
    try:
        return bytes_of(model)
    except ValueError as error:
        assert "cannot be saved" in str(error)  # noqa: PT017
        return str(error)


# ---- changes -------------------------------------------------------------------------------------------------------


def header_with(*path, value):
    def change(header, tensors):
        inside = header
        for name in path[:-1]:
            inside = inside[name]
        inside[path[-1]] = value

    return change


def parameter(name, value):
    return header_with("parameters", name, value=value)


def header_without(*path):
    def change(header, tensors):
        inside = header
        for name in path[:-1]:
            inside = inside[name]
        del inside[path[-1]]

    return change


def without(name):
    return lambda header, tensors: tensors.pop(name)


def tensor(name, function):
    return lambda header, tensors: tensors.update({name: function(np.array(tensors[name]))})


def put(name, place, value):
    def change(header, tensors):
        absent = np.zeros((), dtype=type(value))  # a file omits numbers that are 0
        tensors[name] = np.array(tensors.get(name, absent))
        tensors[name][place] = value

    return change


def text(name, value):
    """A tensor that holds JSON."""
    encoded = np.frombuffer(json.dumps(value).encode(), dtype=np.uint8)
    return lambda header, tensors: tensors.update({name: encoded})


def names(value):
    return text("names", value)


def labels(value):
    return text("labels", value)


def leaves(value, path=()):
    """The places of all values in nested dicts and lists."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inside in items:
        yield from leaves(inside, (*path, key))


def changed(model, change):
    """The bytes of a model with a change in its header or tensors; the checksum is right."""
    header, tensors = model.to_parts()
    header, tensors = copy.deepcopy(header), dict(tensors)
    change(header, tensors)
    return file.to_bytes(header, tensors)


def of_version(version, model):
    """The bytes of a file that claims another version of the format."""
    header, tensors = model.to_parts()
    return file_bytes(json.dumps(header), tensors, version)


def check_rejected(data, folder, cls=hinge.Learner, match=None):
    """By `hinge.load`, with the name of the file, and from bytes; `cls=None`: its class does not read bytes."""
    place = folder / "a-model"
    place.write_bytes(data)
    with pytest.raises(ModelFileError, match=match or "a-model"):
        hinge.load(place)
    if cls is not None:
        with pytest.raises(ModelFileError, match=match):
            cls.from_bytes(data)
