"""Strange values, for every argument of every method."""

from __future__ import annotations

import array
import collections
import datetime
import decimal
import enum
import fractions
import types

import numpy as np
import pandas as pd
import scipy.sparse

WIDTH, COUNT = 3, 4  # of the valid arrays of test_strange_values.py
_HUGE = 10**400


class Text(str):
    """A str subclass."""

    __slots__ = ()


class Color(enum.StrEnum):
    RED = "red"


class Length:
    """Has a length, and no items."""

    def __len__(self):
        return 2**62


class Number:
    """Looks like a number, and is not one."""

    def __float__(self):
        return "1"


def recursive_list():
    inner = [1.0]
    inner.append(inner)
    return inner


def recursive_dict():
    inner = {"a": 1.0}
    inner["b"] = inner
    return inner


def deep_list():
    inner = [1.0]
    for _ in range(2000):
        inner = [inner]
    return inner


def sparse_objects():
    matrix = scipy.sparse.csr_matrix(np.eye(COUNT, WIDTH))
    matrix.data = matrix.data.astype(object)
    return matrix


# Each is a function: generators are used up, and some values may be changed.
SCALARS = {
    "None": lambda: None,
    "True": lambda: True,
    "-1": lambda: -1,
    "-0.0": lambda: -0.0,
    "0.5": lambda: 0.5,
    "nan": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "-inf": lambda: float("-inf"),
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "10**400": lambda: _HUGE,
    "-10**400": lambda: -_HUGE,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "numpy bool": lambda: np.True_,
    "int8": lambda: np.int8(-7),
    "uint64": lambda: np.uint64(2**64 - 1),
    "float16": lambda: np.float16(0.1),
    "longdouble": lambda: np.longdouble("1e4000"),
    "complex": lambda: 1 + 2j,
    "complex128": lambda: np.complex128(1j),
    "datetime64": lambda: np.datetime64("2020-01-01"),
    "NaT": lambda: np.datetime64("NaT"),
    "timedelta64": lambda: np.timedelta64(5, "D"),
    "datetime": lambda: datetime.datetime(2020, 1, 1),
    "Timestamp": lambda: pd.Timestamp("2020-01-01"),
    "pd.NA": lambda: pd.NA,
    "Decimal": lambda: decimal.Decimal("1.5"),
    "Decimal nan": lambda: decimal.Decimal("sNaN"),
    "Decimal huge": lambda: decimal.Decimal("1e5000"),
    "Fraction": lambda: fractions.Fraction(1, 3),
    "Fraction huge": lambda: fractions.Fraction(_HUGE, 3),
    "text": lambda: "a",
    "empty text": lambda: "",
    "number as text": lambda: "1.5",
    "NUL": lambda: "a\0b",
    "surrogate": lambda: "\ud800",
    "str subclass": lambda: Text("a"),
    "enumeration": lambda: Color.RED,
    "bytes": lambda: b"a",
    "bytearray": lambda: bytearray(b"ab"),
    "object": object,
    "type": lambda: int,
    "function": lambda: len,
    "module": lambda: types,
    "long": Length,
    "no number": Number,
    "Ellipsis": lambda: ...,
    "slice": lambda: slice(None),
    "0-d array": lambda: np.array(1.0),
    "0-d object": lambda: np.array(None),
    "0-d text": lambda: np.array("a"),
    "void": lambda: np.zeros(1, dtype="i4,f8")[0],
}

CONTAINERS = {
    "empty list": list,
    "empty tuple": tuple,
    "empty dict": dict,
    "empty set": set,
    "empty array": lambda: np.empty(0),
    "no rows": lambda: np.empty((0, WIDTH)),
    "no columns": lambda: np.empty((COUNT, 0)),
    "list of texts": lambda: ["a", "b", "c", "d"],
    "list of lists": lambda: [[1.0, 2.0, 3.0]] * COUNT,
    "ragged lists": lambda: [[1.0], [1.0, 2.0], [], [3.0]],
    "lists of texts": lambda: [["a", "b", "c"]] * COUNT,
    "mixed labels": lambda: ["a", 1, "b", 2.5],
    "Nones": lambda: [None] * COUNT,
    "list of dicts": lambda: [{"a": 1.0}] * COUNT,
    "list of sets": lambda: [{"a"}, {1}, set(), {"a", 1}],
    "dict of lists": lambda: {"a": [1.0, 2.0], "b": [1.0, 2.0]},
    "dict as y": lambda: dict.fromkeys(range(COUNT), 1),
    "recursive list": recursive_list,
    "recursive dict": recursive_dict,
    "deep list": deep_list,
    "set": lambda: {1, 2, 3, 4},
    "frozenset": lambda: frozenset({"a"}),
    "generator": lambda: (value for value in [1.0, 2.0, 3.0, 4.0]),
    "generator of dicts": lambda: ({"a": 1.0} for _ in range(COUNT)),
    "iterator": lambda: iter([[1.0, 2.0, 3.0]] * COUNT),
    "range": lambda: range(COUNT),
    "map": lambda: map(str, range(COUNT)),
    "deque": lambda: collections.deque([1.0, 2.0, 3.0, 4.0]),
    "mapping proxy": lambda: types.MappingProxyType({"a": 1.0}),
    "array.array": lambda: array.array("d", [1.0, 2.0, 3.0, 4.0]),
    "memoryview": lambda: memoryview(b"abcd"),
    "memoryview of chars": lambda: memoryview(b"abcd").cast("c"),
    "memoryview, 2-d": lambda: memoryview(bytes(COUNT * WIDTH)).cast("B", (COUNT, WIDTH)),
    "memoryview of doubles": lambda: memoryview(array.array("d", [1.0, 2.0, 3.0, 4.0])),
    "memoryview of longdoubles": lambda: memoryview(np.ones(COUNT, dtype=np.longdouble)),
    "memoryview, strided": lambda: memoryview(np.ones((COUNT, 2 * WIDTH)))[::2],
    "int array": lambda: np.arange(COUNT),
    "wrong length": lambda: np.ones(COUNT + 1),
    "one row less": lambda: np.ones((COUNT - 1, WIDTH)),
    "one column more": lambda: np.ones((COUNT, WIDTH + 1)),
    "column": lambda: np.ones((COUNT, 1)),
    "3-d": lambda: np.ones((COUNT, WIDTH, 2)),
    "negative": lambda: -np.ones(COUNT),
    "nan array": lambda: np.full(COUNT, np.nan),
    "nan matrix": lambda: np.full((COUNT, WIDTH), np.nan),
    "inf matrix": lambda: np.full((COUNT, WIDTH), np.inf),
    "large matrix": lambda: np.full((COUNT, WIDTH), 1e300),
    "bool matrix": lambda: np.ones((COUNT, WIDTH), dtype=bool),
    "half matrix": lambda: np.ones((COUNT, WIDTH), dtype=np.float16),
    "longdouble matrix": lambda: np.full((COUNT, WIDTH), np.longdouble("1e4000")),
    "longdoubles": lambda: np.full(COUNT, np.longdouble("1e4000")),
    "complex matrix": lambda: np.ones((COUNT, WIDTH), dtype=complex),
    "complex": lambda: np.ones(COUNT, dtype=complex),
    "dates": lambda: np.array(["2020-01-01"] * COUNT, dtype="datetime64[D]"),
    "matrix of dates": lambda: np.full((COUNT, WIDTH), np.datetime64("2020-01-01")),
    "durations": lambda: np.ones((COUNT, WIDTH), dtype="timedelta64[s]"),
    "text matrix": lambda: np.array([["a", "b", "c"]] * COUNT),
    "bytes matrix": lambda: np.array([[b"a", b"b", b"c"]] * COUNT),
    "bytes array": lambda: np.array([b"a"] * COUNT),
    "text array": lambda: np.array(["a", "b", "a", "c"]),
    "object matrix with None": lambda: np.array([[1.0, None, 2.0]] * COUNT, dtype=object),
    "object matrix with text": lambda: np.array([[1.0, 2.0, 3.0], [1.0, "b", 2.0]] * 2, dtype=object),
    "object matrix, huge": lambda: np.array([[1.0, _HUGE, 2.0]] * COUNT, dtype=object),
    "objects": lambda: np.array([object()] * COUNT),
    "mixed objects": lambda: np.array(["a", 1, None, 2.5], dtype=object),
    "huge ints": lambda: [_HUGE] * COUNT,
    "huge floats": lambda: [1e308] * COUNT,
    "records": lambda: np.zeros(COUNT, dtype="i4,f8"),
    "masked": lambda: np.ma.masked_array(np.ones((COUNT, WIDTH)), mask=np.eye(COUNT, WIDTH)),
    "masked vector": lambda: np.ma.masked_array(np.ones(COUNT), mask=[0, 1, 0, 0]),
    "swapped bytes": lambda: np.ones((COUNT, WIDTH), dtype=">f8"),
    "negative strides": lambda: np.ones((COUNT, WIDTH))[::-1, ::-1],
    "unaligned": lambda: (
        np.frombuffer(bytes(8 * COUNT * WIDTH + 1), dtype=np.uint8)[1:].view(np.float64).reshape(COUNT, WIDTH)
    ),
    "TiB of rows": lambda: np.broadcast_to(np.float64(1), (2**40, WIDTH)),
    "TiB of int rows": lambda: np.broadcast_to(np.int64(1), (2**40, WIDTH)),
    "TiB of columns": lambda: np.broadcast_to(np.float64(1), (COUNT, 2**40)),
    "TiB of float32": lambda: np.broadcast_to(np.float32(1), (COUNT, 2**40)),
    "TiB of numbers": lambda: np.broadcast_to(np.int64(1), 2**40),
    "TiB of texts": lambda: np.broadcast_to(np.array("a"), 2**40),
    "sparse": lambda: scipy.sparse.csr_matrix(np.eye(COUNT, WIDTH)),
    "sparse of ints": lambda: scipy.sparse.coo_matrix(np.eye(COUNT, WIDTH, dtype=int)),
    "sparse of objects": sparse_objects,
    "sparse of complex": lambda: scipy.sparse.csc_matrix(np.eye(COUNT, WIDTH, dtype=complex)),
    "sparse with nan": lambda: scipy.sparse.csr_matrix(np.full((COUNT, WIDTH), np.nan)),
    "sparse, 1-d": lambda: scipy.sparse.coo_array(np.ones(COUNT)),
    "sparse, TiB": lambda: scipy.sparse.csr_matrix((COUNT, 2**40)),
    "sparse, empty": lambda: scipy.sparse.csr_matrix((0, WIDTH)),
    "frame": lambda: pd.DataFrame(np.ones((COUNT, WIDTH)), columns=["a", "b", "c"]),
    "frame of texts": lambda: pd.DataFrame({"a": ["x", "y", "x", "z"], "b": 1.0}),
    "frame of objects": lambda: pd.DataFrame({"a": ["x", None, 1, 2.5], "b": 1.0}),
    "frame of dates": lambda: pd.DataFrame({"a": pd.to_datetime(["2020-01-01"] * COUNT)}),
    "frame with pd.NA": lambda: pd.DataFrame({"a": pd.array([1, None, 2, 3], dtype="Int64")}),
    "frame, columns alike": lambda: pd.DataFrame(np.ones((COUNT, WIDTH)), columns=["a", "a", "b"]),
    "frame, numbered": lambda: pd.DataFrame(np.ones((COUNT, WIDTH))),
    "frame, empty": pd.DataFrame,
    "series": lambda: pd.Series([1.0, 2.0, 3.0, 4.0]),
    "series of texts": lambda: pd.Series(["a", "b", "a", None]),
    "series of categories": lambda: pd.Series(["a", "b", "a", "c"], dtype="category"),
    "series with pd.NA": lambda: pd.Series([1, None, 2, 3], dtype="Int64"),
}

EVERYTHING = {**SCALARS, **CONTAINERS}
