"""Every class that has options: how it is made with values of them, taught, saved and read."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

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


TARGETS = {
    "classification": labels_of,
    "multilabel": lambda options: [{label} for label in labels_of(options)],
    "ordinal": lambda options: CODES if options.get("classes") is None else labels_of(options),
    "regression": lambda options: X[:, 0].tolist(),
    "prototype": labels_of,
    "sequence": lambda options: [[label, labels_of(options)[0]] for label in labels_of(options)],
    "structured": lambda options: CODES,
}


def joint_features(x, y):
    return {f"{name}/{y}": value for name, value in x.items()}


def argmax(w, x):
    return max(range(3), key=lambda y: w.dot(joint_features(x, y)))


def zero_one(y, predicted):
    return float(y != predicted)


FUNCTIONS = {"joint_features": joint_features, "argmax": argmax, "cost": zero_one}


@dataclass(frozen=True)
class Kind:
    """A class, its options, and its examples."""

    name: str
    cls: Any
    task: str
    options: tuple[str, ...]
    X: Any
    fits: bool = True  # has fit: an estimator
    teach: str = "learn_many"

    def samples(self, option):
        for sample in SAMPLES[option]:
            if (sample.tasks is None or self.task in sample.tasks) and self._takes(sample):
                yield sample

    def _takes(self, sample):
        if not set(sample.more) <= set(self.options):
            return False
        if self.teach == "partial_fit":  # of columns without names
            return not isinstance(sample.value, Mapping) or self.task in ("classification", "structured")
        is_balanced = isinstance(sample.value, str) and sample.value == "balanced"  # of all data: for `fit`
        no_ranks = self.task == "ordinal" and sample in SAMPLES["classes"] and sample.value is None
        return not is_balanced and not no_ranks

    def adapted(self, options):
        """With the options without which this kind cannot be made."""
        if self.cls is SequenceLearner:
            return {"selection": "prediction", **options}
        if self.fits:
            few = {"max_iter": 5, "max_updates": 50}
            options = {**{name: few[name] for name in few if name in self.options}, **options}
        elif self.task == "ordinal":
            return {"classes": [0, 1, 2], **options}
        if self.task == "uniclass" and not {"radius", "max_radius"} & set(options):
            return {"radius": 1.0, **options}  # one by quantile goes with fewer other options
        return options

    def make(self, **options):
        if self.cls is hinge.Learner:
            return hinge.Learner(self.task, **options)
        return self.cls(**options, **(FUNCTIONS if self.task == "structured" else {}))

    def targets(self, options, part):
        return [] if self.task == "uniclass" else [TARGETS[self.task](options)[part]]

    def begin(self, model, options):
        if self.fits:
            model.fit(self.X[FIRST], *self.targets(options, FIRST))
        else:
            self.resume(model, options, FIRST)

    def resume(self, model, options, part=SECOND):
        examples, truth = self.X[part], self.targets(options, part)
        if self.teach != "learn_one":
            getattr(model, self.teach)(examples, *truth)
            return
        for x, y in zip(examples, *truth, strict=True):
            model.learn_one(x, dict.fromkeys(y, True) if self.task == "multilabel" else y)

    def parameters(self, model):
        if self.fits:
            return model.get_params(deep=False)
        return model._get_params() if self.teach == "learn_one" else model.parameters

    def bytes(self, model):
        return model.to_bytes() if hasattr(model, "to_bytes") else file.to_bytes(*model.to_parts())

    def load(self, path, given):
        """With the functions that no file holds."""
        if self.task == "structured":
            return hinge.PAStructured.load(path, **FUNCTIONS)
        features = given.get("features")
        if isinstance(features, hinge.FeatureMap) and (
            getattr(features, "tokenizer", None) is not None or not hasattr(features, "options")
        ):
            return hinge.PARanker.load(path, features=features)
        if callable(cost := given.get("cost")):
            if self.cls is SequenceLearner:
                return SequenceLearner.from_bytes(path.read_bytes(), cost)
            return hinge.PASequence.load(path, cost=cost)
        kernel = given.get("kernel")
        return hinge.load(path, **({"kernel": kernel} if callable(kernel) else {}))


def options_of(cls):
    return tuple(name for name in inspect.signature(cls).parameters if name in table.PARAMETERS)


def kinds():
    for task in ("classification", "regression", "uniclass", "multilabel", "ordinal"):
        names = tuple(table.names_for(task, table.OF_LEARNER))
        yield Kind(f"Learner-{task}", hinge.Learner, task, names, EVENTS, fits=False)
    for cls in (hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass, hinge.PAMultilabel, hinge.PAOrdinal):
        yield Kind(cls.__name__, cls, cls._task, options_of(cls), X, teach="partial_fit")
    yield Kind("PARanker", hinge.PARanker, "prototype", options_of(hinge.PARanker), TEXTS)
    yield Kind("PASequence", hinge.PASequence, "sequence", options_of(hinge.PASequence), SENTENCES)
    yield Kind("SequenceLearner", SequenceLearner, "sequence", table.OF_SEQUENCE, SENTENCES, fits=False)
    names = tuple(name for name in options_of(hinge.PAStructured) if name != "cost")
    yield Kind("PAStructured", hinge.PAStructured, "structured", names, EVENTS, teach="partial_fit")
    for cls in (hinge.river.PAClassifier, hinge.river.PARegressor, hinge.river.PAMultilabel):
        name = f"river.{cls.__name__}"
        yield Kind(name, cls, cls._task, options_of(cls), EVENTS, fits=False, teach="learn_one")


KINDS = list(kinds())
CASES = [(kind, option) for kind in KINDS for option in kind.options]
