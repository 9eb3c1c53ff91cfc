"""JSON lines that the core reads: the same examples, errors and models as those that Python reads."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command_line import called
from hinge import InputError, Learner
from hinge._core import EventPart
from hinge.streams.batches import BadLines, Batch, joined, part, taken
from hinge.streams.files import Input
from hinge.streams.formats.json_lines import JsonLines
from stream_files import written


def flat(event: dict[str, Any]) -> dict[str, float]:
    """An event with all features as numbers, without zeros."""
    numbers = ((f"{k}={v}", 1.0) if isinstance(v, str) else (k, float(v)) for k, v in event.items())
    return {name: value for name, value in numbers if value != 0}


def read(path: str, lazy: bool, skip: bool = False, **options: Any) -> tuple[Any, list[str]]:
    """Events, labels, lines and weights, and the errors."""
    bad = BadLines(skip, 10**6)
    source = JsonLines(lazy=lazy, **options)
    events, labels, lines, weights, errors = [], [], [], [], []
    try:
        for batch in source.batches(Input(path), bad):
            assert isinstance(batch.X, EventPart) is lazy
            events += [list(flat(x).items()) for x in batch.X]
            labels += [(type(label), label) for label in batch.labels or []]
            lines += list(batch.lines)
            weights += [1.0] * len(batch) if batch.weights is None else batch.weights.tolist()
    except InputError as error:
        errors.append(str(error))
    return (events, labels, lines, weights), [*errors, *map(str, bad.first)]


def expect_same(folder: Path, text: str | bytes, settled: bool = True, **options: Any) -> None:
    path = written(folder, text, "events.jsonl")
    for skip in (False, True):
        native, python = (read(path, lazy, skip, settled=settled, **options) for lazy in (True, False))
        assert native == python


LINES = [
    '{"label": "a", "v": 1.5, "color": "red", "n": null, "t": true, "f": false}',
    '{"label": 1, "o": {"p": {"q": 1, "r=s": "x"}}, "l": [1, null, 2.5], "s": ["u", "v", "u"]}',
    '{"label": 0.5, "a": {"b": 1}, "a.b": -1, "c": {"d": 2}, "c.d": 3, "e": [1], "e[0]": 0.1}',
    '{"label": true, "id": 7, "uuid": "x", "weight": 2, "a=b": 1, "a*b": "c+d"}',
    '{"label": ["a", 2, true], "features": {"v": 1, "id": 3}, "v": 2}',
    '{"label": [], "features": [1, 2], "x": {"label": 3}}',
    '{"label": null}',
    '{"label": ""}',
    "{}",
    "",
    "   \t ",
    '{"label": 123456789012345678901234567890, "v": 12345678901234567890}',
    '{"label": "\\u00e9", "\\u00e9": "\\ud83d\\ude00"}\r',
    '{"label": "é", "é": 1e5}',
]
WRONG = [
    '{"a": 1',
    '{"a": 1} x',
    "[1, 2]",
    '[{"a": 1}]',
    "7",
    '{"a": NaN}',
    '{"a": 1e999}',
    '{"a": 1, "a": 2}',
    '{"a": [1, "b"]}',
    '{"a": [true]}',
    '{"a": [1.50, {"b": [null, 1e5]}]}',
    '{"label": {"b": 1}}',
    '{"label": [null]}',
    '{"label": ["a", ""]}',
    '{"label": [[1]]}',
    '{"label": 1e999}',
    '{"weight": -1}',
    '{"weight": "2"}',
    '{"weight": null}',
    '{"weight": true}',
    '{"weight": 1%s}' % ("0" * 400),
    '{"a": "\\ud800"}',
    '{"a":' * 30 + "1" + "}" * 30,
    '{"a": 1%s}' % ("0" * 5000),
    "\x0b",
    '{"a": {"b": 1e308}, "a.b": 1e308}',
    '{"a": "b\tc"}',
    '{"a": "\\x"}',
    "{'a': 1}",
    '{"label": "a", "id": [1, {"b": 2, "b": 3}]}',
]


def test_examples_are_the_same(tmp_path: Path) -> None:
    expect_same(tmp_path, "\n".join(LINES), label="label", weight="weight")
    expect_same(tmp_path, "\n".join(LINES), label=False)
    expect_same(tmp_path, "\ufeff" + "\r\n".join(LINES), label="id")


@pytest.mark.parametrize("line", WRONG, ids=range(len(WRONG)))
def test_errors_are_the_same(tmp_path: Path, line: str) -> None:
    lines = [*LINES, line, *LINES, line]
    expect_same(tmp_path, "\n".join(lines) + "\n", label="label", weight="weight")


def test_what_is_not_utf8_is_the_same(tmp_path: Path) -> None:
    good = b'{"label": 1, "v": 2}\n'
    for wrong in (b'{"a": "\xff"}\n', b'{"a": "\xed\xa0\x80"}\n', b'{"\xc3": 1}\n', b"{}\xe2\x82\n"):
        expect_same(tmp_path, good * 3 + wrong + good, label="label")


def test_long_lines_end_the_reading(tmp_path: Path) -> None:
    good = '{"label": 1, "v": 2}'
    long = f'{{"label": 1, "w": {10**20}}}'
    for end in ("\n", "\r\n"):
        for wrong in (long, " " * len(long), "x" * len(long), long * 10**4):
            path = written(tmp_path, end.join([good, "{", good, wrong, good, ""]), "events.jsonl")
            (_, labels, lines, _), errors = read(
                path, True, True, label="label", settled=True, max_line=len(long) - 1
            )
            assert (len(labels), lines) == (2, [1, 3])
            assert errors[0] == f"{path}:4: the line is longer than max_line={len(long) - 1} bytes"
    expect_same(tmp_path, f"{long}\r\n{long}\n", label="label", max_line=len(long))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.sampled_from([*LINES, *WRONG]), max_size=8), st.booleans())
def test_any_lines_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], settled: bool
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    expect_same(
        folder,
        "\n".join(['{"label": "a", "weight": 1}', *lines, ""]),
        settled,
        label="label",
        weight="weight",
    )


def test_first_line_settles_the_format(tmp_path: Path) -> None:
    path = written(tmp_path, '\n{"y": 1, "id": 4, "v": 1}\n{"label": 2, "v": 2}\n', "events.jsonl")
    source = JsonLines(lazy=True)
    (batch,) = source.batches(Input(path), BadLines())
    assert isinstance(batch.X, EventPart)
    assert (source.label, source.ids, list(batch.X)) == ("y", ["id"], [{"v": 1.0}, {"label": 2.0, "v": 2.0}])
    for text in ('{"v": 1}\n{"y": 1}\n', '{"v"\n{"y": 1}\n', "", '{"w": 1}\n'):
        path = written(tmp_path, text, "events.jsonl")
        for options in ({}, {"weight": "w"}):
            native, python = (read_any(path, lazy, **options) for lazy in (True, False))
            assert native == python


def read_any(path: str, lazy: bool, **options: Any) -> Any:
    source = JsonLines(lazy=lazy, **options)
    try:
        return [(list(b.X), b.labels) for b in source.batches(Input(path), BadLines())], source.label
    except InputError as error:
        return str(error), source.label


@pytest.mark.parametrize(
    "options",
    [
        {"text": "t"},
        {"keep": ["v"]},
        {"drop": ["v"]},
        {"categorical": ["v"]},
        {"interactions": ["v*v"]},
        {"missing": "indicator"},
    ],
)
def test_options_of_features_are_for_python(tmp_path: Path, options: dict[str, Any]) -> None:
    path = written(tmp_path, '{"label": 1, "v": 1, "t": "a b"}\n', "events.jsonl")
    (batch,) = JsonLines(lazy=True, **options).batches(Input(path), BadLines())
    assert isinstance(batch.X, list)


# ---- a sequence of dicts ------------------------------------------------------------------------------------------


def events(tmp_path: Path, count: int = 10) -> Batch:
    text = "".join(
        f'{{"label": "{"ab"[k % 2]}", "v": {k + 1}, "w": "{k % 3}", "weight": {k}}}\n' for k in range(count)
    )
    source = JsonLines(lazy=True, weight="weight")
    (batch,) = source.batches(Input(written(tmp_path, text, "events.jsonl")), BadLines())
    return batch


def test_events_are_a_sequence(tmp_path: Path) -> None:
    X = events(tmp_path).X
    assert len(X) == 10
    assert X[0] == {"v": 1.0, "w=0": 1.0}
    assert X[-1] == X[9] == {"v": 10.0, "w=0": 1.0}
    assert list(X[2:4]) == [X[2], X[3]]
    assert len(X[7:3]) == 0
    for wrong in (10, -11):
        with pytest.raises(IndexError):
            X[wrong]
    with pytest.raises(ValueError, match="steps of 1"):
        X[::2]
    with pytest.raises(TypeError):
        X["v"]  # type: ignore[call-overload]


def test_batches_are_cut_and_joined(tmp_path: Path) -> None:
    batch = events(tmp_path)
    some = joined([part(batch, 0, 3), taken(batch, [9, 5])])
    assert isinstance(some.X, EventPart)
    assert list(some.X) == [batch.X[row] for row in (0, 1, 2, 9, 5)]
    assert (some.labels, list(some.lines)) == (["a", "b", "a", "b", "b"], [1, 2, 3, 10, 6])
    np.testing.assert_array_equal(some.weights, [0, 1, 2, 9, 5])
    with pytest.raises(InputError, match="there is no event 10"):
        taken(batch, [10])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hash_bits": 6},
        {"max_features": 4, "at_max_features": "ignore"},
        {"C": "auto"},
        {"kernel": "rbf", "gamma": 0.5},
    ],
    ids=str,
)
def test_they_are_learned_and_scored_as_dicts(tmp_path: Path, options: dict[str, Any]) -> None:
    batch = events(tmp_path, 60)
    native, python = Learner("classification", **options), Learner("classification", **options)
    native.learn_many(batch.X, batch.labels, batch.weights)
    python.learn_many(list(batch.X), batch.labels, batch.weights)
    assert saved(native) == saved(python)
    new = JsonLines(lazy=True, label=False).batches(
        Input(written(tmp_path, '{"v": 2, "new": 3}\n{"w": "9"}\n{}\n', "new.jsonl")), BadLines()
    )
    (unknown,) = new
    np.testing.assert_array_equal(native.scores(unknown.X), python.scores(list(unknown.X)))
    assert native.predict_one(unknown.X[0]) == python.predict_one(unknown.X[0])


def saved(learner: Learner) -> bytes:
    return learner.to_bytes()


def test_what_is_rejected_is_rejected_as_a_whole(tmp_path: Path) -> None:
    text = '{"label": "a", "v": 1}\n{"label": "b", "new": 1, "v": 1e200}\n'
    (batch,) = JsonLines(lazy=True).batches(Input(written(tmp_path, text, "events.jsonl")), BadLines())
    learner = Learner("classification", max_features=1)
    for message in ("feature 'new': it is new", "feature 'v': the value is too large"):
        before = saved(learner)
        with pytest.raises(InputError, match=message) as caught:
            learner.learn_many(batch.X, batch.labels)
        assert caught.value.row == 1
        assert saved(learner) == before
        learner = Learner("classification")


# ---- commands -----------------------------------------------------------------------------------------------------


def a_log(folder: Path, count: int = 6000) -> Path:
    rng = random.Random(5)
    path = folder / "log.jsonl"
    with path.open("w") as file:
        for k in range(count):
            record: dict[str, Any] = {"label": rng.choice(["buy", "leave"]) if k % 50 else None, "id": k}
            record |= {
                f"f{j}": round(rng.gauss(0, 1), rng.randrange(1, 17)) for j in range(8) if rng.random() < 0.8
            }
            record |= {
                "country": rng.choice("abc"),
                "w": rng.randrange(3),
                "user": {"age": rng.randrange(90), "tags": ["x", "y"]},
            }
            if k % 700 == 699:
                record["f1"] = [1, "x"]
            file.write(json.dumps(record) + "\n")
    return path


COMMANDS: list[list[str]] = [
    [],
    ["--step", "pa1", "--average", "true"],
    ["--hash-bits", "8"],
    ["--passes", "2", "--shuffle"],
    ["--weight", "w"],
    ["--geometry", "entropy"],
    ["--kernel", "poly", "--gamma", "0.1", "--budget", "20"],
    ["--max-features", "10", "--at-max-features", "ignore"],
    ["--task", "multilabel"],
    ["--task", "regression", "--label", "w"],
    ["--task", "uniclass"],
    ["--label", "country"],
]


@pytest.mark.parametrize("options", COMMANDS, ids=" ".join)
def test_commands_give_the_same_model_and_predictions(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    hinge = called(capfd, monkeypatch)
    log = a_log(tmp_path, 900 if "--kernel" in options else 6000)
    explained = [] if {"--kernel", "--hash-bits"} & {*options} else ["--explain", "2"]
    found = []
    for natively in (True, False):
        if not natively:
            monkeypatch.setattr(JsonLines, "_read_by_core", JsonLines._decoded)
        model, predictions = tmp_path / f"{natively}.hinge", tmp_path / "predictions"
        learn = [
            "learn",
            log,
            "-m",
            model,
            "--on-error",
            "skip",
            "-q",
            "--predictions",
            predictions,
            *options,
        ]
        code, out, error = hinge(*learn)
        assert code == 0, error
        words = out.rpartition(" features, ")[0], [line for line in error.splitlines() if "skipped" in line]
        again = hinge("predict", log, "-m", model, "--scores", *explained, "--on-error", "skip")
        found.append((model.read_bytes(), predictions.read_text(), words, again[:2]))
    assert found[0] == found[1]
    assert found[0][3][0] == 0
