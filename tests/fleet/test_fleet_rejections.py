"""Bad input leaves no trace: the error says what is wrong and where, the fleet stays what it was in all its parts, and
learns on as if nothing had happened."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse

from fleets import assert_same_state, events, state
from hinge import Fleet
from hinge.data.errors import InputError

NAN, INF = float("nan"), float("inf")
X = {"x": 1.0, "y": -2.0}
OK = {"x": 0.5}


class Raises:
    """A value that fails when it is read."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __float__(self) -> float:
        raise self.error


FLEETS: dict[str, tuple[str, dict[str, Any]]] = {
    "shared": ("classification", {"average": True}),
    "per key": ("classification", {"shared": False, "average": 2}),
    "diagonal": ("classification", {"geometry": "diagonal"}),
    "one class": ("classification", {"dtype": "float32"}),  # it has met one label so far
    "numbers": ("regression", {"average": True}),
    "numbers per key": ("regression", {"shared": False, "geometry": "diagonal"}),
    "new": ("classification", {}),
    "evicts": (
        "classification",
        {"max_keys": 5, "at_max_keys": "evict", "max_features": 4, "at_max_features": "evict"},
    ),
    "evicts per key": (
        "classification",
        {
            "max_keys": 5,
            "at_max_keys": "evict",
            "max_features": 4,
            "at_max_features": "evict",
            "shared": False,
        },
    ),
    "ignores": (
        "classification",
        {"max_keys": 3, "at_max_keys": "ignore", "max_features": 4, "at_max_features": "ignore"},
    ),
}


def new(name: str) -> Fleet:
    """A fleet that has learned something. Two of the same name are the same."""
    task, options = FLEETS[name]
    fleet = Fleet(task, **options)
    if name != "new":
        labels = {"one class": ["q"]}.get(name, ["q", "p", "r"])
        for event in events(
            40, 2, None if task == "regression" else labels, ["a", "b", 7, "c"], ["x", "y", 3, "z"]
        ):
            fleet.learn_one(*event)
    return fleet


def learn_on(fleet: Fleet) -> None:
    labels = None if fleet.task == "regression" else ["r", "new", "q", "p"]
    for event in events(
        30, 3, labels, ["b", "fresh", 7, "other", "a", "late", 8, 9], ["x", "z", "w", "v", "u"]
    ):
        fleet.learn_one(*event)


def assert_no_trace(name: str, call: Any, error: Any, match: str) -> Any:
    """The call is rejected with this message; the fleet is what it was, and becomes what it would have become."""
    fleet, untouched = new(name), new(name)
    before = state(untouched)
    assert_same_state(fleet, before)
    written = fleet.to_bytes()
    with pytest.raises(error, match=match or None) as caught:
        call(fleet)
    assert_same_state(fleet, before)
    assert fleet.to_bytes() == written
    learn_on(fleet)
    learn_on(untouched)
    assert_same_state(fleet, state(untouched))
    assert fleet.predict_one("a", X) == untouched.predict_one("a", X)
    return caught.value


def truth(fleet: Fleet, label: Any = "q") -> Any:
    return 1.5 if fleet.task == "regression" else label


# ---- one event -------------------------------------------------------------------------------------------------

BAD_KEYS: list[tuple[Any, str]] = [
    (None, "a key must be a string or a whole number, not None"),
    (2.0, "a key must be a string or a whole number, not 2.0"),
    (True, "a key must be a string or a whole number, not True"),
    (b"a", "a key must be a string or a whole number, not b'a'"),
    ((1, 2), "a key must be a string or a whole number"),
    (["a"], "a key must be a string or a whole number"),
    (np.float64(3), "a key must be a string or a whole number"),
    (2**63, "a key that is a whole number must fit into 64 bits"),
    (-(2**63) - 1, "a key that is a whole number must fit into 64 bits"),
]
LONG_KEYS: list[tuple[Any, str]] = [
    ("k" * 1025, "a key must have at most 1024 bytes, not 1025"),
    ("ü" * 513, "a key must have at most 1024 bytes, not 1026"),
]
BAD_FEATURES: list[tuple[Any, Any, str]] = [
    ({"x": NAN}, InputError, "feature 'x': the value is NaN"),
    ({"x": -INF}, InputError, "feature 'x': the value is -?inf"),
    ({"ok": 1.0, "big": 1e200}, InputError, "feature 'big': the value is too large: its square overflows"),
    ({"u": 1e154, "v": 1e154}, InputError, "the squared norm of the instance overflows"),
    (
        {"u.a": 1e154, "u": {"a": 1e154}},
        InputError,
        "feature 'u.a': the value is too large: its square overflows",
    ),
    ({2.5: 1.0}, InputError, "the name of a feature must be a string .* not 2.5"),
    ({None: 1.0}, InputError, "the name of a feature must be a string .* not None"),
    ({2**70: 1.0}, InputError, "a column number is too large"),
    ({"u": object()}, InputError, "feature 'u': .* is not a number, a string or a boolean"),
    ({"u": 1 + 2j}, InputError, "feature 'u': "),
    ({"u": {"v": NAN}}, InputError, "feature 'u.v': the value is NaN"),
    ({"u": {"v": {1.5: 1.0}}}, InputError, "the name of a feature must be a string .* not 1.5"),
    ({"u": [1, "a"]}, InputError, "feature 'u': a list of numbers or of strings was expected"),
    ({"u": [{"a": 1}]}, InputError, "feature 'u': a list of numbers or of strings was expected"),
    ({"u": Raises(ValueError("broken"))}, InputError, "feature 'u': the value cannot be read: .*broken"),
    ({"u": Raises(KeyboardInterrupt())}, KeyboardInterrupt, ""),
    ([1.0], TypeError, "x must be a dict of named features, not list"),
    (None, TypeError, "x must be a dict of named features, not NoneType"),
    ("x", TypeError, "x must be a dict of named features, not str"),
]
BAD_LABELS: list[tuple[Any, str]] = [
    (None, "a label must be a string, a boolean or a number, not None"),
    ([1], r"a label must be a string, a boolean or a number, not \[1\]"),
    (b"p", "a label must be a string, a boolean or a number, not b'p'"),
    (NAN, "the label is NaN"),
    (2**70, "a label that is a whole number must fit into 64 bits"),
]
BAD_NUMBERS: list[tuple[Any, str]] = [
    (None, "the target must be a number, not None"),
    ("1", "the target must be a number, not '1'"),
    ([1.0], "the target must be a number, not "),
    (NAN, "the target is NaN"),
    (INF, "the target is infinity"),
    (1e300, "the loss or the step is too large"),
]
BAD_WEIGHTS: list[tuple[Any, Any, str]] = [
    (NAN, InputError, "the sample weight is nan"),
    (INF, InputError, "the sample weight is inf"),
    (-INF, InputError, "the sample weight is -inf"),
    (-1, InputError, "the sample weight is -1.0*; it must be 0 or more"),
    ("1", TypeError, "the weight must be a number, 0 or more, not '1'"),
    (None, TypeError, "the weight must be a number, 0 or more, not None"),
]
# The message for an example that is not learned: names that occur twice are not looked up.
NOT_ADDED_UP = {BAD_FEATURES[4][2]: "the squared norm of the instance overflows"}


@pytest.mark.parametrize(
    ("method", "name"),
    [*(("learn_one", name) for name in FLEETS), ("round_one", "shared"), ("round_one", "numbers")],
)
def test_bad_events_leave_no_trace(method: str, name: str) -> None:
    def learn(*arguments: Any) -> Any:
        return lambda fleet: getattr(fleet, method)(
            *[truth(fleet) if argument is truth else argument for argument in arguments]
        )

    for key, message in BAD_KEYS:
        assert_no_trace(name, learn(key, X, truth), InputError, message)
    if name not in ("ignores",):  # a new key, which is not looked at
        for key, message in LONG_KEYS:
            assert_no_trace(name, learn(key, X, truth), InputError, message)
    for key in ("a", "entirely new"):
        for x, error, message in BAD_FEATURES:
            if name == "ignores":  # it ignores both keys
                message = NOT_ADDED_UP.get(message, message)
            assert_no_trace(name, learn(key, x, truth), error, message)
        if FLEETS[name][0] == "regression":
            for y, message in BAD_NUMBERS:
                assert_no_trace(name, learn(key, X, y), ValueError, message)
        elif key == "a" or name != "ignores":
            for y, message in BAD_LABELS:
                assert_no_trace(name, learn(key, X, y), ValueError, message)
        for weight, error, message in BAD_WEIGHTS:
            assert_no_trace(name, learn(key, X, truth, weight), error, message)


@pytest.mark.parametrize("name", FLEETS)
def test_an_event_without_weight_must_be_valid_and_changes_nothing(name: str) -> None:
    fleet = new(name)
    before = state(fleet)
    for key in ("a", "entirely new"):
        fleet.learn_one(key, {"brand new": 1.0}, truth(fleet, "new label"), 0)
        fleet.learn_many([key], [{"brand new": 1.0}], [truth(fleet, "new label")], [0.0])
        assert fleet.round_one(key, {"x": 1.0}, truth(fleet, "newer"), 0.0) == fleet.predict_one(
            key, {"x": 1.0}
        )
        assert_same_state(fleet, before)
        for x, error, message in BAD_FEATURES:
            with pytest.raises(error, match=NOT_ADDED_UP.get(message, message) or None):
                fleet.learn_one(key, x, truth(fleet), 0.0)
        if fleet.task == "regression":
            with pytest.raises(ValueError, match="the target is NaN"):
                fleet.learn_one(key, X, NAN, 0.0)
    assert_same_state(fleet, before)


@pytest.mark.parametrize("name", FLEETS)
def test_bad_questions(name: str) -> None:
    fleet = new(name)
    before = state(fleet)
    for method in ("predict_one", "score_one"):
        ask = getattr(fleet, method)
        for key, message in BAD_KEYS:
            with pytest.raises(InputError, match=message):
                ask(key, X)
        for x, error, message in BAD_FEATURES:
            if isinstance(x, dict) and ("norm" in message or "u.a" in x):
                continue  # features without weights are not looked at
            with pytest.raises(error, match=message or None):
                ask("a", x)
    for method in ("predict_many", "score_many"):
        ask = getattr(fleet, method)
        with pytest.raises(InputError, match="row 1: a key must be a string or a whole number, not None"):
            ask(["a", None], [X, X])
        with pytest.raises(InputError, match=r"row 1.* feature 'x': the value is NaN"):
            ask(["a", "b"], [X, {"x": NAN}])
        with pytest.raises(InputError, match=r"row 1.* column 0: the value is NaN"):
            ask(["a", "b"], np.array([[1.0], [NAN]]))
        with pytest.raises(InputError, match="there are 1 keys for 2 rows"):
            ask(["a"], [X, X])
    for key, message in BAD_KEYS:
        assert key not in fleet if isinstance(key, (int, str)) else True
        with pytest.raises(InputError, match=message):
            fleet[key]
        with pytest.raises(InputError, match=message):
            del fleet[key]
    assert_same_state(fleet, before)


# ---- many --------------------------------------------------------------------------------------------------------

# What a batch does before its last row fails: it adds keys, labels and features, flips classes, evicts keys and
# features, and makes records larger.
GOOD_KEYS = ["a", "new1", 7, "new2", "b", "new3", "new4", "a", "new5", "a"]
GOOD = [
    {"x": 1.0, "fresh": 2.0},
    {"x": 1.0},
    {f"f{i}": 1.0 for i in range(40)},
    {"z": -1.0, "other": 1.0},
    {"w": 1.0, "v": 1.0, "x": 3.0},
    {},
    {"x": 4.0},
    {f"g{i}": 0.5 for i in range(300)},
    {"x": 1.0, "y": 2.0},
    {"f0": 1.0, "fresh": 1.0},
]
GOOD_LABELS = ["q", "p", "another", "r", "p", "q", "a first one", "p", "p", "q"]
COLUMNS = ["x", "y", "fresh", "fresher"]


def batch(fleet: Fleet, key: Any = "a", x: Any = OK, y: Any = truth) -> tuple[Any, Any, Any]:
    good = [1.0 + t for t in range(len(GOOD))] if fleet.task == "regression" else GOOD_LABELS
    return [*GOOD_KEYS, key], [*GOOD, x], [*good, truth(fleet) if y is truth else y]


def rows_of(fleet: Fleet) -> int:
    return len(GOOD) + 1


LAST = len(GOOD)


@pytest.mark.parametrize("name", FLEETS)
@pytest.mark.parametrize("method", ["learn_many", "round_many"])
def test_batches_whose_last_row_is_bad_leave_no_trace(name: str, method: str) -> None:
    def learn(weights: Any = None, **bad: Any) -> Any:
        def call(fleet: Fleet) -> None:
            given = [1.0] * LAST + [weights] if weights is not None else None
            getattr(fleet, method)(*batch(fleet, **bad), given)

        return call

    def rejected(call: Any, error: Any, message: str) -> None:
        found = assert_no_trace(name, call, error, f"row {LAST}.*{message}")
        assert found.row == LAST

    for key, message in BAD_KEYS:
        rejected(learn(key=key), InputError, message)
    if name != "ignores":
        for key, message in LONG_KEYS:
            rejected(learn(key=key), InputError, message)
    for x, error, message in BAD_FEATURES:
        if error is InputError:
            message = NOT_ADDED_UP.get(message, message) if name == "ignores" else message
            rejected(learn(x=x), error, message)
    if FLEETS[name][0] == "regression":
        for y, message in BAD_NUMBERS[3:]:
            rejected(learn(y=y), ValueError, message)
        rejected(learn(y="a"), ValueError, "'a' is not a number")
    else:
        for y, message in BAD_LABELS:
            rejected(learn(y=y), ValueError, message)
    for weight, _, message in BAD_WEIGHTS[:4]:
        rejected(learn(weight), InputError, message)
    rejected(learn("heavy"), TypeError, "'heavy' is not a number")


@pytest.mark.parametrize("name", FLEETS)
def test_lengths_that_differ_leave_no_trace(name: str) -> None:
    def given(change: Any) -> Any:
        def call(fleet: Fleet) -> None:
            keys, x, y = batch(fleet)
            fleet.learn_many(*change(keys, x, y))

        return call

    for change, message in (
        (lambda k, x, y: (k[1:], x, y), f"there are {LAST} keys for {LAST + 1} rows"),
        (lambda k, x, y: (k, x[1:], y), f"(entries for|keys for) {LAST} rows"),
        (lambda k, x, y: (k, x, y[1:]), f"y has {LAST} entries for {LAST + 1} rows"),
        (lambda k, x, y: (k, x, y, [1.0]), f"sample_weight has 1 entries for {LAST + 1} rows"),
        (lambda k, x, y: ("key", x, y), "only a table has columns with names"),
        (lambda k, x, y: (3, x, y), "keys must be a list of strings or whole numbers, not int"),
        (lambda k, x, y: (np.zeros((2, 2), int), x, y), "keys must be one-dimensional, not 2-dimensional"),
        (lambda k, x, y: (np.array([1.5] * (LAST + 1)), x, y), "row 0: a key must be .* not 1.5"),
        (lambda k, x, y: (np.array([2**63] * (LAST + 1), dtype="u8"), x, y), "row 0: .* must fit into 64 bits"),
        (lambda k, x, y: (k, "x", y), ""),
        (lambda k, x, y: (k, 3, y), ""),
        (lambda k, x, y: (k, {"x": 1.0}, y), ""),
        (lambda k, x, y: (k, x, None), ""),
        (lambda k, x, y: (k, x, "q" * len(x)), "y must"),
        (lambda k, x, y: (k, [*x[:-1], None], y), f"row {LAST}: an event must be a dict .* not NoneType"),
        (lambda k, x, y: (k, [*x[:-1], 3.0], y), f"row {LAST}: an event must be a dict .* not float"),
    ):  # fmt: skip
        assert_no_trace(name, given(change), (ValueError, TypeError), message)


def tables(bad: Any) -> dict[str, Any]:
    """Tables whose last row has this value in column 2."""
    values = np.where(np.arange(4 * (LAST + 1)).reshape(-1, 4) % 3 == 0, 0.0, 1.5)
    values[-1, 2] = bad
    sparse = scipy.sparse.csr_matrix(values)
    return {
        "dense": values,
        "sparse": sparse,
        "frame": pd.DataFrame(values, columns=COLUMNS),
        "arrow": pa.table({name: values[:, j] for j, name in enumerate(COLUMNS)}),
    }


@pytest.mark.parametrize("name", FLEETS)
@pytest.mark.parametrize("kind", ["dense", "sparse", "frame", "arrow"])
def test_bad_values_of_tables_leave_no_trace(name: str, kind: str) -> None:
    for bad, message in ((NAN, "NaN"), (INF, "inf"), (1e200, "too large: its square overflows")):

        def call(fleet: Fleet, table: Any = tables(bad)[kind]) -> None:  # fmt: skip
            keys, _, y = batch(fleet)
            fleet.learn_many(keys, table, y)

        found = assert_no_trace(name, call, InputError, message)
        assert found.row == LAST
        assert found.column == 2 or "'fresh'" in str(found)


@pytest.mark.parametrize("name", FLEETS)
def test_broken_sparse_matrices_leave_no_trace(name: str) -> None:
    for part, place, value, message in (
        ("indices", -1, 4, f"row {LAST}.*column index 4 is outside of the 4 columns"),
        ("indices", -1, -1, f"row {LAST}.*column index -1 is outside of the 4 columns"),
        ("indices", 0, 10**6, "row 0.*column index 1000000 is outside of the 4 columns"),
        ("indptr", -1, 10**6, ""),
        ("indptr", 3, -1, ""),
        ("indptr", 3, 0, ""),
    ):

        def call(fleet: Fleet, part: str = part, place: int = place, value: int = value) -> None:
            keys, _, y = batch(fleet)
            matrix = tables(1.0)["sparse"]
            getattr(matrix, part)[place] = value
            fleet.learn_many(keys, matrix, y)

        assert_no_trace(name, call, InputError, message)


@pytest.mark.parametrize("name", FLEETS)
def test_key_columns_that_are_wrong_leave_no_trace(name: str) -> None:
    def given(make: Any, key: str = "k") -> Any:
        def call(fleet: Fleet) -> None:
            keys, _, y = batch(fleet)
            fleet.learn_many(key, make(keys), y)

        return call

    frame = tables(1.0)["frame"]
    table = tables(1.0)["arrow"]
    for call, message in (
        (given(lambda keys: frame), "keys: there is no column 'k' among 'x', 'y'"),
        (given(lambda keys: table), "keys: there is no column 'k' among 'x', 'y'"),
        (given(lambda keys: frame.assign(k=0.5)), "row 0: a key must be .* not 0.5"),
        (given(lambda keys: frame.assign(k=[*keys[:-1], None])), f"row {LAST}: a key must be .* not None"),
        (
            given(lambda keys: table.append_column("k", pa.array([*map(str, keys[:-1]), None]))),
            f"row {LAST}: a key",
        ),
        (
            given(lambda keys: pd.concat([frame, frame], axis=1), "x"),
            "keys: there are two columns 'x' among 'x', 'y'",
        ),
    ):
        assert_no_trace(name, call, (ValueError, TypeError), message)


# ---- lines of JSON -----------------------------------------------------------------------------------------------


def lines(fleet: Fleet, last: str) -> bytes:
    keys, rows, y = batch(fleet)
    parts = [json.dumps({"key": k, "label": t, "x": x}) for k, x, t in zip(keys, rows, y, strict=True)]
    return "\n".join([parts[0], "", *parts[1:-1], last]).encode()


@pytest.mark.parametrize("name", FLEETS)
def test_bad_lines_leave_no_trace(name: str) -> None:
    is_regression = FLEETS[name][0] == "regression"
    good = "1.5" if is_regression else '"q"'
    for line, message in (
        ('{"key":"a","label":GOOD,"x":1', "not JSON"),
        ("[1]", ""),
        ("nonsense", ""),
        ('{"label":GOOD,"x":1}', 'a key, a string or a whole number, was expected in "key", there is none'),
        (
            '{"key":null,"label":GOOD,"x":1}',
            'a key, a string or a whole number, was expected in "key", there is null',
        ),
        ('{"key":1.5,"label":GOOD,"x":1}', "a key, .* was expected in .key., there is 1.5"),
        ('{"key":[1],"label":GOOD,"x":1}', "a key, .* was expected"),
        ('{"key":9223372036854775808,"label":GOOD,"x":1}', "a key"),
        ('{"key":"a","label":["q"],"x":1}', r"was expected for the label, there is \[\"q\"\]"),
        ('{"key":"a","label":{},"x":1}', "was expected for the label, there is {}"),
        ('{"key":"a","label":GOOD,"x":1e200}', "feature 'x': the value is too large: its square overflows"),
        ('{"key":"a","label":GOOD,"x":1e999}', "feature 'x'"),
        ('{"key":"a","label":GOOD,"x":{"u":1e154,"v":1e154}}', "the squared norm of the instance overflows"),
        ('{"key":"a","label":GOOD,"x":1,"w":-1}', "a weight of 0 or more was expected, there is -1"),
        ('{"key":"a","label":GOOD,"x":1,"w":"1"}', "a weight of 0 or more was expected"),
        ('{"key":"a","label":GOOD,"x":1}\n\xff', ""),
    ):

        def call(fleet: Fleet, line: str = line) -> None:
            text = lines(fleet, line.replace("GOOD", good).replace("\xff", ""))
            fleet.ingest(text + (b"\xff" if "\xff" in line else b""), weight="w")

        found = assert_no_trace(name, call, InputError, message)
        assert found.line == LAST + 2 + line.count("\n")
        assert str(found).startswith(f"data:{found.line}:")
    if name not in ("ignores",):
        long = f'{{"key":"{"k" * 1025}","label":{good},"x":1}}'
        found = assert_no_trace(
            name, lambda fleet: fleet.ingest(lines(fleet, long)), InputError, "at most 1024 bytes"
        )
        assert found.line == LAST + 2
    if is_regression:
        text = '{"key":"a","label":"q","x":1}'
        found = assert_no_trace(
            name, lambda fleet: fleet.ingest(lines(fleet, text)), InputError, 'a number was expected .* "q"'
        )


def test_ingest_wants_bytes() -> None:
    fleet = Fleet("classification")
    for data in ("{}", None, [b"{}"], 3):
        with pytest.raises(TypeError, match="data must be bytes, not "):
            fleet.ingest(data)  # type: ignore[arg-type]
    for option in ("key", "label", "weight"):
        with pytest.raises(TypeError, match=f"{option} must be the name of a field, not 3"):
            fleet.ingest(b"{}", **{option: 3})  # type: ignore[arg-type]
