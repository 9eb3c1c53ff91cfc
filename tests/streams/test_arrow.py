"""Parquet and Arrow: the same tables as CSV, by the types of their columns."""

from __future__ import annotations

import gzip
import math
import os
import subprocess
import sys

import numpy as np
import pytest

from hinge import InputError, Learner
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.arrow_files import ArrowFile
from stream_files import again, read, rejection, skipped, written

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")
parquet = pytest.importorskip("pyarrow.parquet")


def save(folder, columns, kind="parquet", chunk=10**6):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    path = folder / f"t.{kind}"
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=chunk)
    else:
        with (ipc.new_file if kind == "arrow" else ipc.new_stream)(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=chunk)
    return path


KINDS = ["parquet", "arrow", "stream"]
COLUMNS = {
    "n": [1, 2, None],
    "f": [1.5, math.nan, -2.0],
    "s": ["a", None, "b"],
    "b": [True, False, None],
    "label": ["x", "y", None],
}
X = [
    {"n": 1.0, "f": 1.5, "s": "a", "b": True},
    {"n": 2.0, "b": False, "f is missing": 1.0, "s is missing": 1.0},
    {"f": -2.0, "s": "b", "n is missing": 1.0, "b is missing": 1.0},
]


@pytest.mark.parametrize("kind", KINDS)
def test_column_types_decide_what_columns_are(tmp_path, kind):
    source = ArrowFile()
    path = save(tmp_path, COLUMNS, kind)
    assert read(source, path) == (X, ["x", "y", None], [1, 2, 3])
    assert source.settings["numeric"] == ["n", "f"]
    assert source.settings["categorical"] == ["s", "b"]
    assert source.missing_counts == {"n": 1, "f": 1, "s": 1, "b": 1}
    assert read(again(source), path) == (X, ["x", "y", None], [1, 2, 3])
    assert again(source).settings == source.settings
    learner = Learner("classification")
    learner.learn_many(X[:2], ["x", "y"])
    assert learner.statistics.rounds == 2


@pytest.mark.parametrize("type_", ["int8", "uint64", "float16", "float32", "float64"])
def test_every_numeric_type_is_read_as_float(tmp_path, type_):
    values = pa.array(np.array([0, 1, 7], dtype=type_))
    assert values.type == getattr(pa, type_)()
    found = read(ArrowFile(), save(tmp_path, {"v": values, "y": [1, 2, 3]}, "arrow"))
    assert found[:2] == ([{"v": 0.0}, {"v": 1.0}, {"v": 7.0}], [1, 2, 3])
    assert all(type(x["v"]) is float for x in found[0])


def test_dictionary_columns_are_read_by_their_values(tmp_path):
    columns = {
        "d": pa.array(["u", None, "u"]).dictionary_encode(),
        "e": pa.array([5, 6, None]).dictionary_encode(),
        "l": pa.array(["u", "v", "w"], pa.large_string()),
        "y": pa.array(["p", "q", "p"]).dictionary_encode(),
    }
    for kind in KINDS:
        found, labels, _ = read(ArrowFile(missing="omit"), save(tmp_path, columns, kind))
        assert found == [{"d": "u", "e": 5.0, "l": "u"}, {"e": 6.0, "l": "v"}, {"d": "u", "l": "w"}]
        assert labels == ["p", "q", "p"]


@pytest.mark.parametrize(
    "labels", [[["a"], ["a", "b"], []], [[1], [2, 3], None], [True, False, None], [1, 2, 3], [0.5, 1.5, None]]
)
def test_labels(tmp_path, labels):
    found = read(ArrowFile(), save(tmp_path, {"v": [1, 2, 3], "Y": labels}))[1]
    assert found == labels
    assert list(map(type, found)) == list(map(type, labels))


def test_options_drop_columns_and_name_categories_and_weights(tmp_path):
    columns = {
        "id": [1, 2],
        "zip": [5, None],
        "w": [1, 2],
        "t": pa.array([1, 2], pa.timestamp("s")),
        "y": [1, 2],
    }
    source = ArrowFile(drop=["id", "t"], categorical=["zip"], weight="w")
    (batch,) = source.batches(Input(save(tmp_path, columns)), BadLines())
    assert batch.X == [{"zip": "5"}, {"zip is missing": 1.0}]
    np.testing.assert_array_equal(batch.weights, [1.0, 2.0])


def test_column_of_nulls_stays_undecided(tmp_path):
    source = ArrowFile()
    assert read(source, save(tmp_path, {"v": pa.nulls(2), "y": [1, 2]}))[0] == [{"v is missing": 1.0}] * 2
    assert source.settings["numeric"] == source.settings["categorical"] == []
    assert read(source, save(tmp_path, {"v": [3], "y": [1]}))[0] == [{"v": 3.0}]


def test_later_files_are_read_with_the_same_kinds_of_columns(tmp_path):
    source = ArrowFile()
    read(source, save(tmp_path, {"v": [1.0], "c": ["1"], "y": ["a"]}))
    assert read(again(source), save(tmp_path, {"c": [1], "v": [2]}))[:2] == ([{"c": "1", "v": 2.0}], [None])
    assert rejection(again(source), save(tmp_path, {"c": [1], "v": ["z"]})) == (
        '1: column "v" held numbers before, now string'
    )


@pytest.mark.parametrize("kind", KINDS)
def test_batches_are_bounded(tmp_path, kind):
    path = save(tmp_path, {"v": np.arange(3500), "y": np.arange(3500)}, kind, chunk=3000)
    batches = list(ArrowFile().batches(Input(path), BadLines()))
    assert max(map(len, batches)) == 1000
    assert [label for batch in batches for label in batch.labels] == list(range(3500))
    assert [line for batch in batches for line in batch.lines] == list(range(1, 3501))
    wide = {f"c{k}": np.zeros(300) for k in range(1000)}
    sizes = [len(b) for b in ArrowFile(label="c0").batches(Input(save(tmp_path, wide, kind)), BadLines())]
    assert sizes == [100, 100, 100]


def test_table_without_rows_gives_no_batch(tmp_path):
    for kind in KINDS:
        assert read(ArrowFile(), save(tmp_path, {"v": pa.array([], pa.int64()), "y": []}, kind)) == (
            [],
            [],
            [],
        )


# ---- what is rejected -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "options", "expected"),
    [
        ({"v": [1]}, {}, '1: which column is the label? --label NAME, one of "v"'),
        ({"v": [1]}, {"label": "w"}, '1: there is no column "w" (--label): there are "v"'),
        ({"v": [1.0, math.inf], "y": [1, 2]}, {}, '2: column "v": inf is not a finite number'),
        ({"v": [1, None], "y": [1, 2]}, {"missing": "error"}, '2: the value of column "v" is missing'),
        ({"v": [1, 2], "y": [1, -math.inf]}, {}, "2: the label -inf is not a finite number"),
        ({"v": [1, 2], "y": [["a"], ["b", None]]}, {}, "2: there is a null among the labels"),
        ({"w": [1, -2], "y": [1, 2]}, {"weight": "w"}, "2: a weight of 0 or more was expected, there is -2.0"),
        ({"w": [1, None], "y": [1, 2]}, {"weight": "w"}, '2: the weight is missing (column "w")'),
        ({"w": ["1"], "y": [1]}, {"weight": "w"}, '1: column "w" is of type string, not numbers'),
        ({"v": [[1]], "y": [1]}, {}, '1: column "v" is of type list<element: int64>, not numbers, booleans or strings '
         "(--drop v leaves it out)"),
        ({"v": [1], "y": [{"a": 1}]}, {},
         '1: column "y" is of type struct<a: int64>, not numbers, booleans or strings'),
        ({"v": [b"x"], "y": [1]}, {}, '1: column "v" is of type binary, not numbers, booleans or strings '
         "(--drop v leaves it out)"),
    ],
)  # fmt: skip
def test_invalid_value_is_reported_with_its_row(tmp_path, columns, options, expected):
    assert rejection(ArrowFile(**options), save(tmp_path, columns)) == expected


def test_invalid_rows_are_skipped(tmp_path):
    path = save(tmp_path, {"v": [1.0, math.inf, 3.0], "y": [1, 2, 3]})
    found, errors = skipped(ArrowFile(), path)
    assert found == ([{"v": 1.0}, {"v": 3.0}], [1, 3], [1, 3])
    assert errors == ['2: column "v": inf is not a finite number']


@pytest.mark.parametrize("kind", KINDS)
def test_truncated_and_foreign_files_are_rejected(tmp_path, kind):
    whole = save(tmp_path, COLUMNS, kind, chunk=1).read_bytes()
    for cut in (*range(0, len(whole), 8), len(whole) - 1):  # Arrow's parts begin at multiples of 8
        text = rejection(ArrowFile(), written(tmp_path, whole[:cut], f"cut.{kind}"), skip=True)
        assert "damaged" in text or text == "1: the file is empty: a table was expected"
    for text in ("a,y\n1,2\n", "PAR1", "ARROW1", "x"):
        assert "damaged, or neither Parquet nor Arrow" in rejection(
            ArrowFile(), written(tmp_path, text, f"t.{kind}")
        )


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_files_are_read_or_rejected(tmp_path, kind):
    whole = save(tmp_path, COLUMNS, kind).read_bytes()
    rejected = 0
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        try:
            read(ArrowFile(), written(tmp_path, bytes(damaged), f"t.{kind}"))
        except InputError as error:
            rejected += error.file is not None
    assert rejected > 10


def test_arrow_streams_may_be_compressed_but_not_files(tmp_path):
    for kind in KINDS:
        data = save(tmp_path, COLUMNS, kind).read_bytes()
        path = written(tmp_path, gzip.compress(data), f"t.{kind}.gz")
        if kind == "stream":
            assert read(ArrowFile(), path)[0] == X
            cut = written(tmp_path, gzip.compress(data)[:-20], f"t.{kind}.gz")
            assert "the compressed file is damaged" in rejection(ArrowFile(), cut)
        else:
            expected = "1: Parquet and Arrow files are read from their end: it must be an uncompressed file, not a pipe"
            assert rejection(ArrowFile(), path) == expected


def test_arrow_stream_in_a_pipe_is_read_as_it_comes():
    reading, writing = os.pipe()
    schema = pa.schema({"v": pa.int64(), "y": pa.int64()})
    with os.fdopen(writing, "wb", buffering=0) as sink, ipc.new_stream(sink, schema) as writer:
        writer.write_batch(pa.record_batch({"v": [1], "y": [2]}))
        batches = ArrowFile().batches(Input(f"/dev/fd/{reading}"), BadLines())
        assert next(batches).X == [{"v": 1.0}]
        writer.write_batch(pa.record_batch({"v": [3], "y": [4]}))
        assert next(batches).labels == [4]
        batches.close()
    os.close(reading)


def test_missing_pyarrow_is_reported_with_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        ImportError, match=r"reading .*t\.parquet needs pyarrow: pip install 'hinge\[arrow\]'"
    ):
        read(ArrowFile(), tmp_path / "t.parquet")


def test_sources_are_imported_without_pyarrow():
    program = (
        "import sys, hinge.streams.sources as s; s.source_class('json'), s.source_class('parquet');"
        "sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0
