"""The native module called as no one should call it: an error, never a crash. (Learner checks before.)"""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from hinge._core import Engine

X = np.ones((3, 4))
DATA, INDICES, INDPTR = np.ones(4), np.arange(4, dtype=np.int32), np.array([0, 2, 4], dtype=np.int32)
TWO = np.array([0.0, 1.0])


def new(task="classification", **options):
    given = {
        "step": "pa1", "C": 1.0, "margin": 1.0, "epsilon": 0.1, "radius": 1.0, "learned_radius": False,
        "fit_intercept": True, "start_at_first": task == "uniclass", "single": False, "average_from": 1,
        "hash_bits": 0, "max_features": 100,
    }  # fmt: skip
    return Engine(task, **{**given, **options})


def state(engine):
    return pickle.dumps(engine.state()), engine.names(), engine.n_columns


CALLS = {
    "one class": lambda e: e.learn_dense(X, np.zeros(3), classes=np.zeros(1)),
    "no classes": lambda e: e.learn_dense(X, np.zeros(3), classes=np.zeros(0)),
    "one dimension": lambda e: e.learn_dense(np.ones(3), None),
    "three dimensions": lambda e: e.learn_dense(np.ones((3, 4, 5)), None),
    "no dimension": lambda e: e.learn_dense(np.float64(1), None),
    "whole numbers": lambda e: e.learn_dense(np.ones((3, 4), dtype=int), None),
    "byte-swapped": lambda e: e.learn_dense(X.astype(">f8"), None),
    "no array": lambda e: e.learn_dense("X", None),
    "nothing": lambda e: e.learn_dense(None, None),
    "too few targets": lambda e: e.learn_dense(X, np.ones(2)),
    "targets in two dimensions": lambda e: e.learn_dense(X, np.ones((3, 1))),
    "complex targets": lambda e: e.learn_dense(X, np.ones(3, dtype=complex)),
    "text for targets": lambda e: e.learn_dense(X, np.array(["a", "b", "c"])),
    "too few weights": lambda e: e.learn_dense(X, np.ones(3), weights=np.ones(2)),
    "an order of rows that are not there": lambda e: e.learn_dense(X, np.ones(3), order=np.array([0, 3])),
    "an order of negative rows": lambda e: e.learn_dense(X, np.ones(3), order=np.array([-1])),
    "data in two dimensions": lambda e: e.learn_sparse(np.ones((2, 2)), INDICES, INDPTR, 4, np.ones(2)),
    "strided data": lambda e: e.learn_sparse(np.ones(8)[::2], INDICES, INDPTR, 4, np.ones(2)),
    "strided indices": lambda e: e.learn_sparse(
        DATA, np.arange(8, dtype=np.int32)[::2], INDPTR, 4, np.ones(2)
    ),
    "short indices": lambda e: e.learn_sparse(DATA, INDICES.astype(np.int16), INDPTR, 4, np.ones(2)),
    "real indices": lambda e: e.learn_sparse(DATA, INDICES.astype(float), INDPTR, 4, np.ones(2)),
    "real starts": lambda e: e.learn_sparse(DATA, INDICES, INDPTR.astype(float), 4, np.ones(2)),
    "no starts": lambda e: e.learn_sparse(DATA, INDICES, INDPTR[:0], 4, None),
    "more starts than values": lambda e: e.learn_sparse(DATA[:1], INDICES, INDPTR, 4, np.ones(2)),
    "no width": lambda e: e.learn_sparse(DATA, INDICES, INDPTR, 0, np.ones(2)),
    "a negative width": lambda e: e.learn_sparse(DATA, INDICES, INDPTR, -1, np.ones(2)),
    "a huge width": lambda e: e.learn_sparse(DATA, INDICES, INDPTR, 2**62, np.ones(2)),
    "scores of wider rows": lambda e: e.score_dense(np.ones((2, 50)), True),
    "scores of broken rows": lambda e: e.score_sparse(DATA, INDICES - 1, INDPTR, 4, False),
    "events that are no dicts": lambda e: e.learn_dicts([{}, 5], np.ones(2)),
    "events that are no list": lambda e: e.learn_dicts({}, np.ones(1)),
    "fewer targets than events": lambda e: e.learn_dicts([{}, {}], np.ones(1)),
    "fewer weights than events": lambda e: e.learn_dicts([{}, {}], np.ones(2), np.ones(1)),
    "a start that is too long": lambda e: e.start_at(np.ones(101), 0.0),
    "a start of NaN": lambda e: e.start_at(np.array([np.nan]), 0.0),
    "another step": lambda e: e.change_rule("pa9", 1.0, 1.0, 0.1),
    "names twice": lambda e: e.name_columns(["x", "x"]),
    "names that are none": lambda e: e.name_columns(["x", None]),
    "a state of nothing": lambda e: e.restore(
        np.ones(0), np.ones(0), np.ones(0), np.zeros(0, dtype=np.int64)
    ),
    "a state in two dimensions": lambda e: e.restore(X, X, np.ones(10), np.zeros(6, dtype=np.int64)),
    "a strided state": lambda e: e.restore(
        np.ones(8)[::2], np.ones(4), np.ones(10), np.zeros(6, dtype=np.int64)
    ),
}


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.parametrize("task", ["classification", "regression", "uniclass"])
@pytest.mark.parametrize("single", [False, True])
def test_misuse(what, task, single):
    for fresh in (True, False):
        engine = new(task, single=single)
        if not fresh:
            engine.learn_dense(X, np.ones(3), classes=TWO if task == "classification" else None)
            engine.name_columns(["a", "b", "c", "d"])
            engine.learn_dicts([{"a": 1.0, "e": 2.0}], np.ones(1))
        before = state(engine)
        with pytest.raises((TypeError, ValueError)):
            CALLS[what](engine)
        assert state(engine) == before
        engine.learn_dicts([{"a": 1.0, "f": 2.0}], np.ones(1))  # and it goes on


@pytest.mark.parametrize("task", ["ranking", ""])
def test_no_such_task(task):
    with pytest.raises(ValueError, match="unknown task"):
        new(task)
