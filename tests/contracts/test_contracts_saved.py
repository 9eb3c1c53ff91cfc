"""Every model that can be made can be saved, loaded, pickled, copied and resumed, with options of every accepted type.

The options are those of src/hinge/options/table. One that is added there needs values in option_samples.py.
"""

from __future__ import annotations

import array
import collections
import copy
import datetime
import decimal
import io
import itertools
import json
import pickle
import warnings
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn.base

import hinge
import hinge.river
from hinge.model import encoding
from hinge.options import table
from option_kinds import CASES, EVENTS, X, labels_of
from option_samples import LABELS, SAMPLES, linear_kernel, tag_cost

# ---- equal parameters ----------------------------------------------------------------------------------------------


def same(name, given, found):
    """Whether a parameter came back: equal, of the same kind, in the order that it had."""
    if given is found or (callable(given) and name != "dtype"):
        return given is found
    if name == "dtype":
        return np.dtype(given) == np.dtype(found)
    if isinstance(given, hinge.FeatureMap):
        options = getattr(given, "options", dict)()
        return (
            type(given) is type(found)
            and getattr(found, "options", dict)() == options
            and str(given.state()) == str(found.state())
        )
    if isinstance(given, np.random.RandomState):
        return str(given.get_state()) == str(found.get_state())
    if isinstance(given, np.ndarray) and isinstance(found, np.ndarray):
        given, found = (
            each.astype(float) if each.dtype.char == "g" else np.asarray(each) for each in (given, found)
        )
        return (
            found.shape == given.shape
            and (found.dtype.newbyteorder("=") == given.dtype.newbyteorder("=") or found.dtype.kind in "UO")
            and found.tolist() == given.tolist()
        )
    if isinstance(given, Mapping):
        pairs = itertools.zip_longest(given.items(), found.items(), fillvalue=(None, None))
        return isinstance(found, Mapping) and all(
            same("", k, l) and same("", v, w) for (k, v), (l, w) in pairs
        )
    if isinstance(given, (list, tuple)):
        return (
            isinstance(found, type(given))
            and len(given) == len(found)
            and all(map(same, itertools.repeat(""), given, found))
        )
    if np.ndim(given):  # a range, a Series
        return isinstance(found, np.ndarray) and found.tolist() == np.asarray(given).tolist()
    if given is None or isinstance(given, str):
        return found == given
    if isinstance(given, (bool, np.bool_)):
        return found is bool(given)
    return float(found) == float(given)


# ---- the contract --------------------------------------------------------------------------------------------------


def test_every_option_has_samples():
    assert set(SAMPLES) == set(table.PARAMETERS)
    assert all(SAMPLES.values())


def test_every_sample_is_used_by_some_kind_of_model():
    used = {id(sample) for kind, option in CASES for sample in kind.samples(option)}
    unused = [(name, sample) for name in SAMPLES for sample in SAMPLES[name] if id(sample) not in used]
    assert unused == []


def copies(kind, model, given, folder, first):
    """The model by every way to keep one. (Those for the `first` value only go the way of a pickle, too.)"""
    model.save(folder / "model")
    yield "load", kind.load(folder / "model", given)
    yield "pickle", pickle.loads(pickle.dumps(model))
    if first:
        yield "deepcopy", copy.deepcopy(model)
        joblib.dump(model, folder / "joblib")
        yield "joblib", joblib.load(folder / "joblib")


@pytest.mark.parametrize(("kind", "option"), CASES, ids=[f"{kind.name}-{option}" for kind, option in CASES])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::hinge.IneffectiveWeights")
def test_model_is_saved_with_every_value_of_an_option(kind, option, tmp_path):
    for number, sample in enumerate(kind.samples(option)):
        options = kind.adapted({**sample.more, option: sample.value})
        model = kind.make(**copy.deepcopy(options))
        kind.begin(model, options)
        state, given = kind.bytes(model), kind.parameters(model)
        kept = dict(copies(kind, model, given, tmp_path, number == 0))
        kind.resume(model, options)
        for way, again in kept.items():
            label = f"{way} with {option}={sample.value!r}"
            assert kind.bytes(again) == state, label
            found = kind.parameters(again)
            assert list(found) == list(given), label
            for name in given:
                assert same(name, given[name], found[name]), f"{label}: {name}={found[name]!r}"
            kind.resume(again, options)
            assert kind.bytes(again) == kind.bytes(model), label
            if kind.fits and way == "load":
                check_clone(kind, again, options)


def check_clone(kind, again, options):
    """A clone of the loaded model learns what the loaded model learns."""
    cloned = sklearn.base.clone(again)
    kind.begin(cloned, options)
    kind.begin(again, options)
    if again.get_params()["random_state"] is not None or not again.get_params()["shuffle"]:
        assert kind.bytes(cloned) == kind.bytes(again)


# ---- anything that the table accepts -------------------------------------------------------------------------------

POOL = [
    None, True, np.True_, 0, 1, 7, 2**31, 2**70, 0.5, -1.0, float("inf"), 1e300, "scale", "max", "zero", "",
    b"pa", decimal.Decimal("0.5"), Fraction(1, 3), complex(1), np.float16(0.5), np.longdouble("0.1"), np.int8(3),
    np.uint64(3), np.datetime64("2020-01-01"), np.timedelta64(3, "s"), np.str_("pa"), np.bytes_(b"pa"), np.array(0.5),
    np.array(3), [], (), {}, set(), [0.5], (0.5,), [1, 2], ["a", "b"], ["a", 1], [None, 1], [b"a", b"b"], {"a": 1.0},
    {1: 2}, {None: 1}, {("a",): 1}, {b"a": 1}, {frozenset("a"): 1.0}, {datetime.date(2020, 1, 1): 1}, range(3),
    [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)], np.array(["2020", "2021"], dtype="M8[D]"),
    np.array([1, 2], dtype="m8[s]"), np.array([b"a", b"b"]), np.array([1j, 2j]), np.array([None, 1]), np.zeros((2, 2)),
    np.zeros((2, 2), dtype=complex), np.zeros((2, 2, 2)), np.zeros(2, dtype="V3"),
    np.array([(1, 2.0)], dtype="i4,f8"), [[0, 1], [1, 0]], ((0, 1), (1, 0)), [np.zeros((2, 2))], {"a": {"b": 1}},
    {1: {2.5: Fraction(1, 2)}}, MappingProxyType({"a": 1.0}), collections.UserDict({"a": 1.0}),
    collections.Counter("aab"), collections.deque([1, 2]), np.float32, np.float64, np.int64, float, int, "f4", ">f8",
    np.dtype(">f4"), object,
    np.random.RandomState(0), np.random.default_rng(0), np.random.mtrand._rand,
    linear_kernel, tag_cost, len, dict, hinge.ClassTfIdf(), pd.Series([1.0, 2.0]),
    pd.DataFrame([[0, 1], [2, 0]]), array.array("d", [1.0, 2.0]), memoryview(b"ab"),
]  # fmt: skip


# What models can be made with, and no file holds: the error says so when the model is saved.
UNSAVED = [np.random.RandomState(np.random.PCG64(0)), 10**400]


@pytest.mark.parametrize("option", table.PARAMETERS)
def test_accepted_values_come_back_from_a_file(option):
    accepts, kept = table.PARAMETERS[option].accepts, 0
    for value in [*POOL, *UNSAVED, *(sample.value for sample in SAMPLES[option])]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if not accepts(value) or isinstance(value, hinge.FeatureMap):
                    continue
        except (TypeError, ValueError, OverflowError):
            continue
        if any(value is each for each in UNSAVED):
            with pytest.raises(ValueError, match=rf"{option} cannot be saved: a model file cannot hold"):
                encoding.encoded({option: value}, {})
            continue
        tensors = {}
        header = json.loads(json.dumps(encoding.encoded({option: value}, tensors)))
        functions = {option: value} if header[option] == {"function": option} else {}
        found = encoding.decoded(header, tensors, functions)[option]
        assert same(option, value, found), f"{option}={value!r} became {found!r}"
        assert accepts(found)
        kept += 1
    assert kept or option == "features"


def test_numbers_that_no_file_can_hold_are_rejected_when_saving(tmp_path):
    model = hinge.PARegressor(max_iter=3, tol=None).fit(X, X[:, 0])
    model.max_iter = 10**5000
    with pytest.raises(ValueError, match=r"max_iter must be .*, not a whole number of 16610 bits"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    assert pickle.loads(pickle.dumps(model)).max_iter == 10**5000


def test_pickles_hold_functions_and_files_do_not(tmp_path):
    model = hinge.PARegressor(kernel=linear_kernel).fit(X, X[:, 0])
    again = pickle.loads(pickle.dumps(model))
    assert again.kernel is linear_kernel
    model.save(tmp_path / "model")
    with pytest.raises(hinge.ModelFileError, match=r"use hinge.load\(path, kernel=...\)"):
        hinge.load(tmp_path / "model")
    buffer = io.BytesIO()
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dump(hinge.PARegressor(kernel=lambda A, B: A @ B.T).fit(X, X[:, 0]), buffer)


def test_parameters_are_those_that_were_learned_with(tmp_path):
    """An array that is changed afterwards changes no model: neither the one in memory nor its file."""
    cost = 1 - np.eye(3)
    model = hinge.Learner("classification", classes=LABELS, cost=cost)
    model.learn_many(EVENTS, labels_of({}))
    before = model.to_bytes()
    cost[0, 1] = 99
    assert model.to_bytes() == before
    again = hinge.Learner.from_bytes(before)
    model.learn_many(EVENTS, labels_of({}))
    again.learn_many(EVENTS, labels_of({}))
    assert model.to_bytes() == again.to_bytes()
