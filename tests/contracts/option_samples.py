"""Values of every type that each option accepts. tests/contracts/test_contracts_saved.py makes models with all of them.

An option without samples fails there. `Sample.more` are the other options that a value needs, `tasks` those that take
it (None: all that have the option).
"""

from __future__ import annotations

import collections
import enum
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

import hinge

LABELS = ["ant", "bee", "cat"]
WORDS = enum.StrEnum("WORDS", {word: word for word in ("pa2", "linear", "learned", "diagonal")})


class Seven(enum.IntEnum):
    SEVEN = 7


@dataclass(eq=False)
class Sample:
    value: Any
    tasks: tuple[str, ...] | None = None
    more: dict[str, Any] = field(default_factory=dict)


def reals(number, **more):
    """The types of a real number. (0.375 is the same in all of them.)"""
    kinds = (float, np.float64, np.float32, np.float16, np.longdouble, Fraction)
    return [Sample(kind(number), None, more) for kind in kinds]


def wholes(number, **more):
    kinds = (int, np.int64, np.int8, np.uint16, np.int32)
    return [Sample(kind(number), None, more) for kind in kinds]


def plain(*values, **more):
    return [Sample(value, None, more) for value in values]


BOOLS = [True, False, np.True_, np.False_]

# ---- matrices, in every way to give one ---------------------------------------------------------------------------


def matrices(matrix):
    """A matrix of whole numbers of 0 or more."""
    array = np.asarray(matrix)
    rows = array.tolist()
    kinds = ("f8", "f4", "f2", "g", "i8", "i4", "u1", ">f8", ">i4", "O")
    yield from (array.astype(kind) for kind in kinds)
    yield np.asfortranarray(array, dtype=float)
    yield np.repeat(array, 2, axis=-1)[..., ::2].astype(float)  # not contiguous
    yield rows
    if array.ndim == 1:
        yield tuple(rows)
        yield [np.float32(number) for number in rows]
        return
    yield tuple(map(tuple, rows))
    yield [np.asarray(row) for row in rows]
    yield [[np.float32(number) for number in row] for row in rows]
    yield array.astype(float).view(np.matrix)


def dicts(matrix):
    entries = {a: {b: matrix[i][j] for j, b in enumerate(LABELS) if i != j} for i, a in enumerate(LABELS)}
    yield entries
    yield {a: {b: float(value) for b, value in list(row.items())[:1]} for a, row in entries.items()}
    yield {
        np.str_(a): {np.str_(b): np.float32(value) for b, value in row.items()} for a, row in entries.items()
    }
    yield collections.UserDict({a: collections.UserDict(row) for a, row in entries.items()})
    yield collections.OrderedDict(entries)
    yield collections.defaultdict(dict, entries)


COST = [[0, 1, 4], [2, 0, 1], [1, 3, 0]]
NU = [[1, 2, 1], [3, 1, 1], [1, 1, 2]]
MATRIX = {"classes": LABELS}
SETS = {"classes": LABELS, "selection": "simproj"}
_PAIRS = ("classification", "multilabel", "prototype")


def tag_cost(truth, predicted):
    return float(sum(a != b for a, b in zip(truth, predicted, strict=True)))


def linear_kernel(A, B):
    product = A @ B.T
    return product.toarray() if hasattr(product, "toarray") else np.asarray(product)


class WordCounts(hinge.FeatureMap):
    """A custom map with a memory."""

    def __init__(self):
        self.seen = {}

    def features(self, x, labels):
        return ["seen", "all"], [[len(set(x.split()) & set(self.seen.get(r, ()))), len(x)] for r in labels]

    def learned(self, x, relevant):
        for label in relevant:
            self.seen[label] = sorted({*self.seen.get(label, ()), *x.split()})

    def state(self):
        return {"seen": list(self.seen.items()), "sizes": np.array([len(v) for v in self.seen.values()])}

    def restore(self, state):
        self.seen = {label: list(words) for label, words in state["seen"]}


def advanced(seed):
    """A generator in the middle: a position inside of its state, and a normal number kept for the next call."""
    generator = np.random.RandomState(seed)
    generator.random_sample(7)
    generator.standard_normal()
    return generator


def classes():
    for labels in (LABELS, [3, 1, 2], [4.0, 5.0, 6.0], [True, False]):
        yield labels
        yield tuple(labels)
        yield np.array(labels)
        yield np.array(labels, dtype=object)
    yield np.array([3, 1, 2], dtype=np.int8)
    yield np.array([3, 1, 2], dtype=np.uint16)
    yield np.array([3, 1, 2], dtype=">i4")
    yield np.array([4.0, 5.0, 6.0], dtype=np.float32)
    yield np.array([4.0, 5.0, 6.0], dtype=np.longdouble)
    yield np.array(LABELS, dtype="U100")[:]
    yield np.array([*LABELS, "dog"])[::-1]
    yield [np.str_(label) for label in LABELS]
    yield [np.int64(3), 1, np.uint8(2)]
    yield ["with \n \x00 \u2028 \U0001f600", "", "ant"]


def weights_of(labels, kind=float):
    return {label: kind(number) for label, number in zip(labels, (2, 1, 0), strict=True)}


KERNEL = {"kernel": "rbf", "gamma": 0.25}
POLY = {"kernel": "poly", "gamma": 0.25}
SHAPED = {"geometry": "diagonal"}
FULL = {"geometry": "mahalanobis"}
ENTROPY = {"geometry": "entropy"}
ONE_W = ("regression", "uniclass")
COMMITTEES = ("classification", "regression", "multilabel", "ordinal")
START = [0.25, -0.5, 0.0, 1.0]  # one number per column

SAMPLES: dict[str, list[Sample]] = {
    "step": [
        *plain("pa", "pa1", "pa2", np.str_("pa1"), WORDS.pa2),
        Sample(None, ("regression",)),
        Sample("perceptron", ("classification", "multilabel", "sequence", "structured", "prototype")),
        Sample("cw", ("classification", "multilabel"), SHAPED),
    ],
    "C": [
        *reals(0.375),
        *wholes(2),
        *plain(math.inf, np.inf, Seven.SEVEN, 1e-100),
        *(
            Sample(several, COMMITTEES)
            for several in ("auto", np.str_("auto"), [0.25, 2], (np.float32(0.5),))
        ),
    ],
    "experts": [
        *plain(None),
        *(Sample(words, COMMITTEES) for words in ("auto", ["pa1:0", "scaled:arow=2"], (np.str_("pa"),))),
    ],
    "margin": [*reals(0.375), *wholes(2)],
    "selection": [
        Sample("max", ("classification", "multilabel", "ordinal", "prototype")),
        Sample("prediction", ("classification", "multilabel", "prototype", "sequence", "structured")),
        *(
            Sample(np.str_(word), ("classification", "multilabel", "ordinal", "prototype"))
            for word in ("simperc", "simproj", "conproj")
        ),
        Sample("mira", ("classification", "multilabel")),
        Sample("uniform", ("classification", "multilabel", "prototype"), {"step": "perceptron"}),
        Sample("max", ("sequence",)),
        Sample("max-additive", ("sequence",)),
    ],
    "beta": [*reals(0.375, selection="mira"), *wholes(2, selection="mira"), *plain(None, 0, selection="max")],
    "cost": [
        *plain(None),
        *(Sample(cost, ("classification", "prototype", "sequence"), MATRIX) for cost in matrices(COST)),
        *(Sample(cost, ("classification", "prototype", "sequence"), MATRIX) for cost in dicts(COST)),
        *(Sample(cost, ("classification", "prototype", "sequence")) for cost in dicts(COST)),
        Sample(tag_cost, ("sequence",)),
    ],
    "nu": [
        *plain(None),
        *(Sample(nu, _PAIRS, SETS) for nu in matrices(NU)),
        *(Sample(nu, _PAIRS, SETS) for nu in dicts(NU)),
        Sample([NU, np.asarray(NU) * 2], _PAIRS, SETS),
        Sample(np.asarray([NU, NU], dtype=np.float32), _PAIRS, SETS),
        Sample([*dicts(NU)][:2], _PAIRS, SETS),
        Sample(tuple(dicts(NU))[:2], _PAIRS, SETS),
        *(Sample(nu, ("ordinal",), {"selection": "simproj"}) for nu in matrices([2, 1])),
        *(Sample(nu, ("ordinal",), {"selection": "conproj"}) for nu in matrices([[2, 1], [1, 3]])),
    ],
    "features": [
        *plain("tfidf", np.str_("email")),
        *plain(hinge.ClassTfIdf(), hinge.ClassTfIdf(lowercase=False, ngram_range=(1, 2), max_features=99)),
        *plain(hinge.EmailFeatures(often=0.5, rare=0.125, scope="all", binary=True), WordCounts()),
        *plain(hinge.ClassTfIdf(tokenizer=str.split)),
    ],
    "threshold": [*reals(0.375), *wholes(2), *plain("learned", WORDS.learned, "lenient", -1.5)],
    "sort_thresholds": plain(None, *BOOLS),
    "epsilon": [*reals(0.375), *wholes(0)],
    "radius": [*reals(0.375), *wholes(0), *plain(None)],
    "contamination": reals(0.375, radius=None),
    "max_radius": [*reals(4.5), *wholes(4), *plain(None)],
    "fit_intercept": plain(*BOOLS),
    "intercept_value": [*reals(0.375), *wholes(2), *plain("auto", np.str_("auto"))],
    "scaling": plain(None, "online", np.str_("online")),
    "geometry": [
        *plain("euclidean"),
        *(
            Sample(word, ("classification", "regression", "multilabel", "ordinal"))
            for word in ("mahalanobis",)
        ),
        Sample(
            WORDS.diagonal,
            ("classification", "regression", "multilabel", "ordinal", "sequence", "structured"),
        ),
        Sample("entropy", ("classification", "regression", "multilabel", "ordinal", "uniclass")),
    ],
    "kernel": [
        *plain(None, "linear", WORDS.linear, np.str_("linear"), linear_kernel),
        *plain("rbf", "poly", gamma=0.25),
    ],
    "degree": wholes(2, **POLY),
    "gamma": [*reals(0.375, kernel="rbf"), *wholes(2, kernel="poly"), *plain("scale")],
    "coef0": [*reals(0.375, **POLY), *wholes(2, **POLY)],
    "budget": [*wholes(5, **KERNEL), *plain(None, "adaptive", np.str_("adaptive"), Seven.SEVEN, **KERNEL)],
    "removal": plain("largest", "oldest", np.str_("oldest"), budget=3, **KERNEL),
    "max_cache": [*plain(2**14, np.int64(2**14), Fraction(2**15), 1e6, np.float32(2**20), 2**40, **KERNEL)],
    "covariance_regularizer": [
        *reals(0.375, **SHAPED),
        *wholes(2, **SHAPED),
        *(
            Sample(several, COMMITTEES, {"step": "pa2", "covariance_update": "drop", **SHAPED})
            for several in ("auto", [0.25, 2])
        ),
    ],
    "initial_variance": [*reals(0.375, **SHAPED), *wholes(2, **SHAPED)],
    "covariance_update": plain("precision", "drop", np.str_("drop"), **SHAPED),
    "max_covariance": plain(2**14, np.int64(2**14), 1e6, np.float32(2**20), Fraction(2**20), **FULL),
    "eta": [
        Sample(kind(0.875), None, {"step": "cw", **SHAPED})
        for kind in (float, np.float64, np.float32, np.longdouble, Fraction)
    ],
    "scale": [*reals(4.5, **ENTROPY), *wholes(4, **ENTROPY)],
    "signed": [
        *plain(True, np.True_, **ENTROPY),
        *(Sample(value, ONE_W, ENTROPY) for value in (False, np.False_)),
    ],
    "entropy_step": [
        *plain("range", np.str_("range"), **ENTROPY),
        Sample("paper", ("regression",), {"step": "pa", "signed": False, **ENTROPY}),
    ],
    "w1": [
        *plain(None),
        *(
            Sample(start, ("regression", "uniclass", "ordinal"))
            for start in (START, tuple(START), np.array(START), np.array(START, "f4"), np.array(START, "g"))
        ),
        Sample(np.array([1, 0, 2, 3]), ("regression",)),
        Sample(np.array(START, dtype=object), ("regression",)),
        Sample(np.array([True, False, True, True]), ("regression",)),
        *(
            Sample(start, ("classification", "multilabel"), MATRIX)
            for start in (np.outer([1, 2, 3], START), np.outer([1, 2, 3], START).tolist())
        ),
        Sample({"f0": 0.5, "f3": np.float32(2)}, ("regression", "uniclass")),
        Sample(collections.UserDict({"f1": 1}), ("regression",)),
        Sample({"ant": 0.5, "seen": np.float32(2)}, ("prototype",), MATRIX),
        *(Sample(word, ("uniclass",)) for word in ("first", "zero", np.str_("zero"))),
    ],
    "average": [*plain(*BOOLS), *wholes(5)],
    "classes": [*plain(None), *(Sample(labels) for labels in classes())],
    "max_labels": [*wholes(100), *plain(2**24)],
    "class_weight": [
        *plain(None, {}, weights_of(LABELS), weights_of(LABELS, int), weights_of(LABELS, np.float32)),
        *plain(weights_of(LABELS, Fraction), collections.UserDict(weights_of(LABELS)), {"bee": math.pi}),
        *plain({np.str_("ant"): np.longdouble(2)}),
        *(
            Sample(weights_of([3, 1, 2]), None, {"classes": value})
            for value in ([3, 1, 2], np.array([3, 1, 2]))
        ),
        Sample({np.int64(3): 2, np.int8(1): 3}, None, {"classes": [3, 1, 2]}),
        Sample({4.0: 2.0, np.float32(5): 3}, None, {"classes": [4.0, 5.0, 6.0]}),
        *plain("balanced", np.str_("balanced")),
    ],
    "max_iter": wholes(3),
    "tol": [*reals(0.375), *wholes(0), *plain(None)],
    "n_iter_no_change": wholes(2),
    "early_stopping": plain(*BOOLS),
    "validation_fraction": reals(0.375, early_stopping=True),
    "shuffle": plain(*BOOLS),
    "batch_tolerance": [*reals(0.375, step="pa"), *wholes(1, step="pa"), *plain(None)],
    "max_updates": wholes(100),
    "hash_bits": [*wholes(5), *plain(None)],
    "max_features": [*wholes(100), *plain(2**40, np.uint64(2**40))],
    "at_max_features": plain("error", "ignore", np.str_("ignore")),
    "max_weights": [*plain(2**40, 1e9, np.float32(2**20), Fraction(2**30))],
    "dtype": plain(
        "float32",
        "float64",
        np.float32,
        np.float64,
        np.dtype("f4"),
        np.dtype("f8"),
        float,
        "f4",
        "<f8",
        "d",
        np.str_("f"),
    ),
    "random_state": [
        *wholes(3),
        *plain(None, 2**32 - 1, np.uint32(2**32 - 1), np.random.RandomState(5), advanced(6)),
    ],
    "verbose": [*wholes(1), *plain(*BOOLS)],
}
