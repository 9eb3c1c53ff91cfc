"""Every class that has options: how it is made with values of them, taught, saved and read."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import numpy as np

import hinge
import hinge.river
from hinge.model import file
from hinge.options import table
from hinge.structured.sequence_learner import SequenceLearner
from option_samples import LABELS, SAMPLES

_random = np.random.default_rng(0)
X = np.round(_random.random(size=(24, 4)), 3)
NAMES = [f"f{column}" for column in range(4)]
EVENTS = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
CODES = [row % 3 for row in range(24)]
TEXTS = [
    " ".join(["ant", "bee cat", "the cat and the ant", "seen all dog"][code] for code in (c, c // 2))
    for c in CODES
]
SENTENCES = [[[f"w={code}", "x"], ["x", f"y={code}"]] for code in CODES]
FIRST, SECOND = slice(0, 12), slice(12, 24)


def labels_of(options):
    """The true label of each example, among the classes that the options name."""
    given = options.get("classes")
    known = LABELS if given is None else np.asarray(given, dtype=object).tolist()
    return [known[code % len(known)] for code in CODES]


def ranks_of(options):
    given = options.get("classes")
    return CODES if given is None else labels_of(options)


def targets(task, options):
    return {
        "classification": labels_of,
        "multilabel": lambda options: [{label} for label in labels_of(options)],
        "ordinal": ranks_of,
        "regression": lambda options: X[:, 0].tolist(),
        "prototype": labels_of,
        "sequence": lambda options: [[label, labels_of(options)[0]] for label in labels_of(options)],
        "structured": lambda options: CODES,
    }[task](options)


def fixed_radius(options):
    """A ball of the paper, unless the options are about its radius: one by quantile goes with fewer others."""
    return options if {"radius", "max_radius"} & set(options) else {"radius": 1.0, **options}


class Kind:
    """How to make, teach and read a kind of model."""

    functions: tuple[str, ...] = ("kernel",)

    def __init__(self, name, make, task, options):
        self.name, self.make, self.task, self.options = name, make, task, options

    def samples(self, option):
        for sample in SAMPLES[option]:
            if (sample.tasks is None or self.task in sample.tasks) and self.takes(sample):
                yield sample

    def takes(self, sample):
        is_balanced = isinstance(sample.value, str) and sample.value == "balanced"  # of all data: for `fit`
        no_ranks = self.task == "ordinal" and sample in SAMPLES["classes"] and sample.value is None
        return set(sample.more) <= set(self.options) and not is_balanced and not no_ranks

    def adapted(self, options):
        """With the options without which this kind cannot be made."""
        if self.task == "ordinal" and "classes" not in options:
            return {**options, "classes": [0, 1, 2]}
        return fixed_radius(options) if self.task == "uniclass" else options

    def parameters(self, model):
        return model.parameters

    def begin(self, model, options):
        self.resume(model, options, FIRST)

    def resume(self, model, options, part=SECOND):
        truth = [] if self.task == "uniclass" else [targets(self.task, options)[part]]
        model.learn_many(EVENTS[part], *truth)

    def bytes(self, model):
        return model.to_bytes()

    def load(self, path, given):
        kernel = given.get("kernel")
        return hinge.load(path, **({"kernel": kernel} if callable(kernel) else {}))


class Estimator(Kind):
    def takes(self, sample):
        named = (
            isinstance(sample.value, Mapping) and self.task != "classification"
        )  # of columns without names
        return set(sample.more) <= set(self.options) and not named

    def begin(self, model, options):
        truth = [] if self.task == "uniclass" else [targets(self.task, options)[FIRST]]
        model.fit(X[FIRST], *truth)

    def resume(self, model, options, part=SECOND):
        truth = [] if self.task == "uniclass" else [targets(self.task, options)[part]]
        model.partial_fit(X[part], *truth)

    def parameters(self, model):
        return model.get_params(deep=False)

    def adapted(self, options):
        few = {"max_iter": 5, "max_updates": 50}
        if self.task == "uniclass":
            options = fixed_radius(options)
        return {**{name: few[name] for name in few if name in self.options}, **options}

    def bytes(self, model):
        return file.to_bytes(*model.to_parts())


class Ranker(Estimator):
    def begin(self, model, options):
        model.fit(TEXTS[FIRST], targets("prototype", options)[FIRST])

    def resume(self, model, options, part=SECOND):
        model.learn_many(TEXTS[part], targets("prototype", options)[part])

    def takes(self, sample):
        return Kind.takes(self, sample)

    def load(self, path, given):
        features = given.get("features", "tfidf")
        custom = not isinstance(features, str) and (
            getattr(features, "tokenizer", None) is not None or not hasattr(features, "options")
        )
        return hinge.PARanker.load(path, features=features) if custom else hinge.load(path)


class Tagger(Estimator):
    def begin(self, model, options):
        model.fit(SENTENCES[FIRST], targets("sequence", options)[FIRST])

    def resume(self, model, options, part=SECOND):
        model.learn_many(SENTENCES[part], targets("sequence", options)[part])

    def takes(self, sample):
        return Kind.takes(self, sample)

    def load(self, path, given):
        cost = given.get("cost")
        return hinge.PASequence.load(path, cost=cost) if callable(cost) else hinge.load(path)


class SentenceLearner(Tagger):
    def adapted(self, options):
        return {"selection": "prediction", **options}

    def begin(self, model, options):
        self.resume(model, options, FIRST)

    def parameters(self, model):
        return model.parameters

    def bytes(self, model):
        return model.to_bytes()

    def load(self, path, given):
        cost = given.get("cost")
        if callable(cost):
            return SequenceLearner.from_bytes(path.read_bytes(), cost)
        return hinge.load(path)


def joint_features(x, y):
    return {f"{name}/{y}": value for name, value in x.items()}


def argmax(w, x):
    return max(range(3), key=lambda y: w.dot(joint_features(x, y)))


def zero_one(y, predicted):
    return float(y != predicted)


FUNCTIONS = {"joint_features": joint_features, "argmax": argmax, "cost": zero_one}


def structured(**options):
    return hinge.PAStructured(**FUNCTIONS, **options)


class Structured(Estimator):
    def begin(self, model, options):
        model.fit(EVENTS[FIRST], CODES[FIRST])

    def resume(self, model, options, part=SECOND):
        model.partial_fit(EVENTS[part], CODES[part])

    def load(self, path, given):
        return hinge.PAStructured.load(path, **FUNCTIONS)


class River(Kind):
    def parameters(self, model):
        return model._get_params()

    def resume(self, model, options, part=SECOND):
        for x, y in zip(EVENTS[part], targets(self.task, options)[part], strict=True):
            model.learn_one(x, dict.fromkeys(y, True) if self.task == "multilabel" else y)

    def bytes(self, model):
        return file.to_bytes(*model.to_parts())


def options_of(cls):
    return tuple(name for name in inspect.signature(cls).parameters if name in table.PARAMETERS)


def kinds():
    for task in ("classification", "regression", "uniclass", "multilabel", "ordinal"):
        names = tuple(table.names_for(task, table.OF_LEARNER))
        yield Kind(
            f"Learner-{task}", lambda task=task, **options: hinge.Learner(task, **options), task, names
        )
    for cls in (hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass, hinge.PAMultilabel, hinge.PAOrdinal):
        yield Estimator(cls.__name__, cls, cls._task, options_of(cls))
    yield Ranker("PARanker", hinge.PARanker, "prototype", options_of(hinge.PARanker))
    yield Tagger("PASequence", hinge.PASequence, "sequence", options_of(hinge.PASequence))
    yield SentenceLearner("SequenceLearner", SequenceLearner, "sequence", table.OF_SEQUENCE)
    names = tuple(name for name in options_of(hinge.PAStructured) if name != "cost")
    yield Structured("PAStructured", structured, "structured", names)
    for cls in (hinge.river.PAClassifier, hinge.river.PARegressor, hinge.river.PAMultilabel):
        yield River(f"river.{cls.__name__}", cls, cls._task, options_of(cls))


KINDS = list(kinds())
CASES = [(kind, option) for kind in KINDS for option in kind.options]
