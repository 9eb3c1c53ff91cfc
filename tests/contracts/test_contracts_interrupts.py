"""An interrupt (Ctrl-C, any signal handler that raises) at any bytecode leaves the old model or the new one.

The interrupt is made by a trace function that raises at the n-th bytecode of hinge's own frames, for every n: nothing
depends on a clock. (Of actions with many bytecodes every 11th is tried, with HINGE_EVERY_BYTECODE=1 every one.)
"""

from __future__ import annotations

import functools
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hinge
from estimator_cases import ESTIMATORS, RIVER, SEQUENCE, STRUCTURED, options_of
from hinge.estimators.base import _FIRST

# Modules that only look at what they are given: an interrupt there is the same as one at their call.
PURE = (
    "parameters",
    "accepts",
    "combinations",
    "labels",
    "rows",
    "targets",
    "plain_rows",
    "kernels",
    "geometry",
    "model_file",
)
PACKAGE = Path(hinge.__file__).parent


@functools.cache
def is_traced(name: str) -> bool:
    path = Path(name)
    return PACKAGE in path.parents and path.stem not in PURE


def interrupted(n: int, act: Any, model: Any) -> bool:
    """Acts, and is interrupted at the n-th bytecode. False if there are not so many."""
    return bytecodes(act, model, n) is None


def bytecodes(act: Any, model: Any, n: int = 0) -> int | None:
    """How many bytecodes it takes; None if it is interrupted at the n-th."""
    count = 0

    def inside(frame: Any, event: str, _: Any) -> Any:
        nonlocal count
        if event == "opcode":
            count += 1
            if count == n:
                raise KeyboardInterrupt
        return inside

    def trace(frame: Any, *_: Any) -> Any:
        if not is_traced(frame.f_code.co_filename):
            return None
        frame.f_trace = inside  # since Python 3.12, frames without it do not begin to trace bytecodes
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return inside

    sys.settrace(trace)
    try:
        act(model)
    except KeyboardInterrupt:
        return None
    finally:
        sys.settrace(None)
        # A trace function can raise between the block of a `with` and its end, where Python handles no signal:
        # the lock that all models share would stay taken.
        while _FIRST._is_owned():  # type: ignore[attr-defined]
            _FIRST.release()
    return count


def looks(model: Any) -> Any:
    """All of a model: what it has learned, and its options and attributes. (Options of its learner show in what comes
    afterwards: before the next round they may be followed already, or not yet.)"""
    mine = vars(model)
    learner = mine.get("_learner")
    known = None
    if learner is not None:
        header, tensors = learner.to_parts()
        header.pop("parameters")
        tensors.pop("settings")  # the same as the core has them
        known = (json.dumps(header, default=str), {k: np.asarray(v).tobytes() for k, v in tensors.items()})
    rest = {
        name: value
        for name, value in mine.items()
        if name not in ("_learner", "_ready", "_used", "feature_map_", "_texts")
    }
    if "history_" in rest:  # without what the clock said
        rest["history_"] = [{**entry, "seconds": 0} for entry in rest["history_"]]
    counts = str(mine["feature_map_"].state()) if "feature_map_" in mine else ""
    if "_texts" in mine and learner is not None:
        texts = mine["_texts"]
        counts = str((texts.names(), *map(np.ndarray.tolist, map(np.asarray, texts.counts()))))
    return known, repr(sorted(rest.items())), counts


def bring_new_class(*more: str, **options: Any) -> Any:
    def make() -> Any:
        model = hinge.PAClassifier(**options)
        for k, label in enumerate(more):
            model.learn_one({f"f{k}": 1.0, "all": 0.5}, label)
        return model

    return make


EVENT = {"new": 1.0, "all": 0.5}
X = np.array([[1.0, 0.0], [0.5, 1.0], [0.0, 1.0], [1.0, 1.0]])
Y = np.array(["b", "a", "c", "b"])
BATCH = [{"f0": 1.0}, {"f1": 1.0}, {"new": 2.0, "f0": 0.5}, {"all": 1.0}]


def learn_event(model: Any) -> None:
    model.learn_one(EVENT, "a")


def more_of(case: Any) -> Any:
    return lambda model: case.teach["learn_many"](model, slice(30, 34))


ACTIONS: dict[str, tuple[Any, Any, Any]] = {
    # name: a new model, what is interrupted, and what comes afterwards
    "the first class": (bring_new_class(), learn_event, learn_event),
    "the second class, which sorts first": (bring_new_class("b"), learn_event, learn_event),
    "the third class": (bring_new_class("b", "c"), learn_event, learn_event),
    "the third class, with an average": (bring_new_class("b", "c", average=True), learn_event, learn_event),
    "the third class, with a covariance": (bring_new_class("b", "c", geometry="diagonal"), learn_event, learn_event),
    "the third class, with a kernel": (bring_new_class("b", "c", kernel="linear"), learn_event, learn_event),
    "the third class, in a lattice": (bring_new_class("b", "c", C="auto", average=True), learn_event, learn_event),
    "a batch with new classes for a committee": (
        bring_new_class("b", "c", C=[0.1, 1.0]),
        lambda m: m.learn_many(BATCH, ["b", "d", "a", "c"]),
        learn_event,
    ),
    "a batch of new columns for a committee": (
        bring_new_class("b", "c", C="auto"),
        lambda m: m.learn_many(hinge_frame(), ["b", "c", "c", "b"]),
        learn_event,
    ),
    "an event for experts in River": (
        lambda: hinge.river.AutoClassifier(),
        lambda m: m.learn_one(EVENT, "a"),
        lambda m: m.learn_one({"f0": 1.0}, "b"),
    ),
    "the fourth class": (bring_new_class("b", "c", "d"), learn_event, learn_event),
    "a class, each with its weights": (bring_new_class("b", selection="simproj"), learn_event, learn_event),
    "a batch with new classes": (
        bring_new_class("b", "c"),
        lambda m: m.learn_many(BATCH, ["b", "d", "a", "c"]),
        learn_event,
    ),
    "a batch with the first classes": (
        bring_new_class("b"),
        lambda m: m.learn_many(BATCH, ["b", "a", "a", "b"]),
        learn_event,
    ),
    "a batch of new columns": (
        bring_new_class("b", "c"),
        lambda m: m.learn_many(hinge_frame(), ["b", "c", "c", "b"]),
        learn_event,
    ),
    "a set of new labels": (
        lambda: hinge.PAMultilabel().learn_one({"f0": 1.0}, {"b", "c"}),
        lambda m: m.learn_one(EVENT, {"a", "b"}),
        lambda m: m.learn_one(EVENT, {"a"}),
    ),
    "sets after vectors": (
        lambda: hinge.PAMultilabel(max_iter=1, tol=None, random_state=0).fit(X, Y),
        lambda m: m.learn_one({0: 1.0}, {"a", "b"}),
        lambda m: m.learn_one({1: 1.0}, {"a"}),
    ),
    "options": (
        bring_new_class("b", "c"),
        lambda m: m.set_params(C=0.1, margin=0.5),
        lambda m: m.learn_one({"f0": 1.0}, "b"),
    ),
    "a first fit": (lambda: hinge.PAClassifier(max_iter=2, tol=None, random_state=0), lambda m: m.fit(X, Y), None),
    "a second fit": (
        lambda: hinge.PAClassifier(max_iter=2, tol=None, random_state=0).fit(X[:, :1], Y),
        lambda m: m.fit(X, ["u", "v", "v", "v"]),
        None,
    ),
    "a first partial_fit": (
        hinge.PAClassifier,
        lambda m: m.partial_fit(X, Y, classes=["a", "b", "c"]),
        lambda m: m.partial_fit(X, Y, classes=["a", "b", "c"]),
    ),
    "a second partial_fit": (
        lambda: hinge.PAClassifier().partial_fit(X, Y, classes=["a", "b", "c"]),
        lambda m: m.partial_fit(X, Y),
        lambda m: m.partial_fit(X, Y),
    ),
    "a fit of numbers": (
        lambda: hinge.PARegressor(max_iter=2, tol=None, shuffle=False), lambda m: m.fit(X, X[:, 0]), None),
    "a fit of a ball": (lambda: hinge.PAOneClass(max_iter=2, tol=None, shuffle=False), lambda m: m.fit(X), None),
    "a fit of ranks": (
        lambda: hinge.PAOrdinal(max_iter=2, tol=None, shuffle=False), lambda m: m.fit(X, [1, 2, 3, 2]), None),
    "a text with a new label": (
        lambda: hinge.PARanker().learn_many(["a b", "b c"], ["x", "y"]),
        lambda m: m.learn_one("a d", "z"),
        lambda m: m.learn_one("a d", "x"),
    ),
    "texts with new labels": (
        lambda: hinge.PARanker().learn_many(["a b", "b c"], ["x", "y"]),
        lambda m: m.learn_many(["a d", "e"], ["z", "w"]),
        lambda m: m.learn_one("a d", "x"),
    ),
    "a first text": (hinge.PARanker, lambda m: m.learn_one("a d", "z"), lambda m: m.learn_one("a d", "x")),
    "a fit of texts": (hinge.PARanker, lambda m: m.fit(["a b", "b c"], ["x", "y"]), None),
    "a text with new words and a new label": (
        lambda: hinge.TextClassifier().learn_many(["aa bb", "bb cc"], ["x", "y"]),
        lambda m: m.learn_one("aa dd", "z"),
        lambda m: m.learn_one("aa dd", "x"),
    ),
    "hashed texts": (
        lambda: hinge.TextClassifier(hash_bits=6).learn_many(["aa bb", "bb cc"], ["x", "y"]),
        lambda m: m.learn_many(["aa dd", "ee"], ["x", "y"]),
        lambda m: m.learn_one("aa dd", "x"),
    ),
    "a first text of a classifier": (
        hinge.TextClassifier,
        lambda m: m.learn_one("aa dd", "z"),
        lambda m: m.learn_one("aa ee", "x"),
    ),
    "a second fit of a classifier of texts": (
        lambda: hinge.TextClassifier(max_iter=2, tol=None, random_state=0).fit(["aa bb", "cc"], ["x", "y"]),
        lambda m: m.fit(["aa bb", "bb cc", "dd"], ["x", "y", "z"]),
        lambda m: m.learn_one("aa ee", "x"),
    ),
    "a sentence": (SEQUENCE.learned, lambda m: m.learn_one([["w=new"]], ["NEW"]), more_of(SEQUENCE)),
    "a fit of sentences": (SEQUENCE.new, lambda m: m.fit([[["a"], ["b"]]], [["X", "Y"]]), more_of(SEQUENCE)),
    "a structure": (STRUCTURED.learned, lambda m: STRUCTURED.teach["learn_one"](m, slice(30, 31)), more_of(STRUCTURED)),
    "structures": (STRUCTURED.learned, lambda m: STRUCTURED.teach["learn_many"](m, slice(30, 32)), more_of(STRUCTURED)),
    "a first structure": (
        STRUCTURED.new,
        lambda m: STRUCTURED.teach["learn_one"](m, slice(0, 1)),
        more_of(STRUCTURED),
    ),
    "an event in River": (
        lambda: hinge.river.PAMultilabel(),
        lambda m: m.learn_one({"f": 1.0}, {"a": True, "b": False}),
        lambda m: m.learn_one({"f": 1.0}, {"b": True}),
    ),
}  # fmt: skip


def with_another_option(case: Any) -> Any:
    model = case.learned()
    model.C = 0.1
    return model


for case in (each for each in (*ESTIMATORS, *RIVER) if "C" in options_of(each)):
    ACTIONS[f"a round after an option of {case} has changed"] = (
        lambda case=case: with_another_option(case),
        lambda m, case=case: case.teach["learn_one"](m, slice(30, 31)),
        lambda m, case=case: case.teach["learn_one"](m, slice(31, 33)),
    )


def hinge_frame() -> Any:
    import pandas as pd

    return pd.DataFrame([[1.0, 2.0], [0.5, 1.0], [3.0, 0.0], [0.0, 1.0]], columns=["f0", "fresh"])


@pytest.mark.parametrize("name", ACTIONS)
def test_interrupt_leaves_the_old_model_or_the_new_one(name: str) -> None:
    make, act, then = ACTIONS[name]
    then = act if then is None else then
    old, new = make(), make()
    act(new)
    started, ended = looks(old), looks(new)
    assert started != ended
    states = {str(started): old, str(ended): new}
    later = {}
    for key, model in states.items():
        then(model)
        later[key] = str(looks(model))
    total = bytecodes(act, make())
    assert total > 20
    for n in range(1, total + 1, 1 if total < 700 or os.environ.get("HINGE_EVERY_BYTECODE") else 11):
        model = make()
        if not interrupted(n, act, model):
            break  # some of it is made once only
        found = str(looks(model))
        assert found in states, f"interrupted at bytecode {n}: neither the old model nor the new one"
        then(model)
        assert str(looks(model)) == later[found], f"interrupted at bytecode {n}: it resumes as another one"
