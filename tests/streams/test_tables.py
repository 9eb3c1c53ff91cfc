"""CSV and TSV: what is read, decisions that are kept, missing values, and what is rejected."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hinge import Learner
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats import csv_files
from hinge.streams.formats.csv_files import CsvFile
from hinge.streams.formats.tables import MISSING
from stream_files import again, pipe, read, rejection, skipped, written

TEXT = "age,color,label\n1.5,red,a\n-2e3,green,b\n"
EXPECTED = ([{"age": 1.5, "color": "red"}, {"age": -2000.0, "color": "green"}], ["a", "b"], [2, 3])


def table(folder, text, name="t.csv"):
    return written(folder, text, name)


# ---- what is read -----------------------------------------------------------------------------------------------


def test_numbers_are_values_and_words_are_categories(tmp_path):
    source = CsvFile()
    assert read(source, table(tmp_path, TEXT)) == EXPECTED
    assert source.settings["categorical"] == ["color"]
    assert source.settings["numeric"] == ["age"]
    assert source.settings["label"] == "label"
    assert source.missing_counts == {}


def test_what_is_read_can_be_learned(tmp_path):
    learner = Learner("classification")
    text = "age,color,y\n1.5,red,1\n,green,2\n3,?,1\n"
    for batch in CsvFile().batches(Input(table(tmp_path, text)), BadLines()):
        learner.learn_many(batch.X, batch.labels)
    assert set(learner.feature_names) == {
        "age", "color=red", "color=green", "age is missing", "color is missing"
    }  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(",", ";"),
        lambda text: text.replace(",", "|"),
        lambda text: text.replace(",", ", "),
        lambda text: text.replace("red", '"red"').replace("age", '"age"'),
    ],
    ids=["semicolons", "bars", "spaces", "quoted"],
)
def test_separators_and_quotation_marks_change_nothing(tmp_path, change):
    assert read(CsvFile(), table(tmp_path, change(TEXT))) == EXPECTED


@pytest.mark.parametrize(
    ("name", "separator"),
    [("t.tsv", "\t"), ("t.tab", "\t"), ("t.TSV", "\t"), ("t.txt", "\t"), ("t.txt", ";")],
)
def test_separators_by_ending_and_by_header(tmp_path, name, separator):
    assert read(CsvFile(), table(tmp_path, TEXT.replace(",", separator), name)) == EXPECTED


def test_separator_is_found_in_the_header(tmp_path):
    assert read(CsvFile(), table(tmp_path, "a,b;c,d;e\ty\n", "t.tsv")) == ([], [], [])
    X, _, _ = read(CsvFile(), table(tmp_path, 'b;"a,b,c,d";y\n1,5;2;3\n', "t.txt"))
    assert X == [{"b": "1,5", "a,b,c,d": 2.0}]
    assert read(CsvFile(separator="x"), table(tmp_path, "ax y\n1x2\n"))[0] == [{"a": 1.0}]


def test_fields_in_quotation_marks(tmp_path):
    text = 'text,y\n"a, ""b""\n\nc",1\nd,2\n"e\nf",3\n'
    X, labels, lines = read(CsvFile(), table(tmp_path, text))
    assert X == [{"text": 'a, "b"\n\nc'}, {"text": "d"}, {"text": "e\nf"}]
    assert labels == [1, 2, 3]
    assert lines == [2, 5, 6]


def test_quoted_rows_may_span_batches(tmp_path):
    rows = [f'"{"x" * (k % 7)}\n{k}",{k}\n' if k % 3 else f"x,{k}\n" for k in range(5000)]
    X, labels, lines = read(CsvFile(), table(tmp_path, "text,y\n" + "".join(rows)))
    assert labels == list(range(5000))
    assert X[4999] == {"text": "x\n4999"}
    starts = np.cumsum([2, *(1 + (k % 3 > 0) for k in range(4999))])
    assert lines == starts.tolist()


def test_header_may_be_absent_or_given(tmp_path):
    path = table(tmp_path, "1,red,a\n2,green,b\n")
    assert read(CsvFile(header=False, label="2"), path) == (
        [{"0": 1.0, "1": "red"}, {"0": 2.0, "1": "green"}], ["a", "b"], [1, 2]
    )  # fmt: skip
    assert read(CsvFile(header=["n", "c", "y"]), path)[0][0] == {"n": 1.0, "c": "red"}
    assert (
        rejection(CsvFile(header=False), path)
        == '1: which column is the label? --label NAME, one of "0", "1", "2"'
    )
    assert rejection(CsvFile(header=["n", "y"]), path) == "1: 2 fields were expected, there are 3"


def test_labels_are_numbers_if_all_are(tmp_path):
    def labels(*texts):
        found = read(CsvFile(), table(tmp_path, "v,y\n" + "".join(f"1,{text}\n" for text in texts)))[1]
        return [(type(label).__name__, label) for label in found]

    assert labels("1", "-2", "+3") == [("int", 1), ("int", -2), ("int", 3)]
    assert labels("0.5", "1.0", "1e2") == [("float", 0.5), ("int", 1), ("int", 100)]
    assert labels("1", "b") == [("str", "1"), ("str", "b")]
    assert labels("", "1") == [("NoneType", None), ("int", 1)]
    assert labels("", "a") == [("NoneType", None), ("str", "a")]
    assert labels("true", "NA") == [("str", "true"), ("str", "NA")]
    assert labels("12345678901234567890") == [("int", 12345678901234567890)]


def test_options_drop_columns_and_name_categories_and_weights(tmp_path):
    path = table(tmp_path, "id,zip,w,v,y\n1,123,0.5,7,1\n2,456,2,8,2\n")
    (batch,) = CsvFile(drop=["id"], categorical=["zip"], weight="w").batches(Input(path), BadLines())
    assert batch.X == [{"zip": "123", "v": 7.0}, {"zip": "456", "v": 8.0}]
    np.testing.assert_array_equal(batch.weights, [0.5, 2.0])
    assert read(CsvFile(label=False, drop=["y", "w", "id", "zip"]), path)[:2] == (
        [{"v": 7.0}, {"v": 8.0}],
        [None] * 2,
    )
    assert read(CsvFile(drop=["id", "zip", "w", "v"]), path)[0] == [{}, {}]


# ---- what is missing --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("spelling", sorted(MISSING))
def test_missing_values_become_indicators(tmp_path, spelling):
    path = table(tmp_path, f"n,c,y\n1,red,1\n{spelling},{spelling},2\n{spelling},blue,1\n")
    source = CsvFile()
    X, labels, _ = read(source, path)
    assert X == [
        {"n": 1.0, "c": "red"},
        {"n is missing": 1.0, "c is missing": 1.0},
        {"c": "blue", "n is missing": 1.0},
    ]
    assert labels == [1, 2, 1]
    assert source.missing_counts == {"n": 2, "c": 1}
    omitting = CsvFile(missing="omit")
    assert read(omitting, path)[0] == [{"n": 1.0, "c": "red"}, {}, {"c": "blue"}]
    assert omitting.missing_counts == {"n": 2, "c": 1}
    assert rejection(CsvFile(missing="error"), path) == '3: the value of column "n" is missing'
    found, errors = skipped(CsvFile(missing="error"), path)
    assert found[2] == [2]
    assert errors == ['3: the value of column "n" is missing', '4: the value of column "n" is missing']


def test_other_spellings_of_missing_are_values(tmp_path):
    assert read(CsvFile(), table(tmp_path, "c,y\nNone,1\nnone,2\nNull,3\n"))[0] == [
        {"c is missing": 1.0}, {"c": "none"}, {"c": "Null"}
    ]  # fmt: skip


def test_column_is_undecided_until_it_has_a_value():
    with pipe() as (file, write):
        source = CsvFile()
        batches = source.batches(file, BadLines())
        write(b"n,c,y\n,?,\n")
        assert next(batches).X == [{"n is missing": 1.0, "c is missing": 1.0}]
        assert source.settings["numeric"] == source.settings["categorical"] == []
        write(b"1,red,4\n")
        batch = next(batches)
        assert (batch.X, batch.labels, list(batch.lines)) == ([{"n": 1.0, "c": "red"}], [4], [3])
        assert (source.settings["numeric"], source.settings["categorical"]) == (["n"], ["c"])
        batches.close()


# ---- once and for all -------------------------------------------------------------------------------------------


def test_kinds_of_columns_hold_for_later_files(tmp_path):
    source = CsvFile()
    read(source, table(tmp_path, "n,c,y\n1,a,x\n"))
    for same in (source, again(source)):
        assert read(same, table(tmp_path, "c,n,y\n7,2,8\n"))[:2] == ([{"c": "7", "n": 2.0}], ["8"])
        assert rejection(same, table(tmp_path, "c,n,y\n7,2,8\n7,z,8\n")) == (
            '3: column "n": "z" is not a number (--categorical n, if it is a category)'
        )
        # In prediction: no label, and columns that are not there.
        assert read(same, table(tmp_path, "c,n\na,2\n"))[:2] == ([{"c": "a", "n": 2.0}], [None])
        assert read(same, table(tmp_path, "n\n2\n"))[0] == [{"n": 2.0, "c is missing": 1.0}]
        assert same.missing_counts == {"c": 1}
    omitting = CsvFile(**{**source.settings, "missing": "omit"})
    assert read(omitting, table(tmp_path, "n\n2\n"))[0] == [{"n": 2.0}]
    strict = CsvFile(**{**source.settings, "missing": "error"})
    assert (
        rejection(strict, table(tmp_path, "n\n2\n")) == '1: there is no column "c", as there was before: "n"'
    )


def test_labels_must_stay_numbers(tmp_path):
    source = CsvFile()
    read(source, table(tmp_path, "v,y\n1,5\n"))
    assert rejection(again(source), table(tmp_path, "v,y\n1,5\n1,b\n")) == (
        '3: the label "b" is not a number, as those before were'
    )


# ---- what is rejected -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("", {}, "1: the file is empty: a table was expected"),
        ("\n\n", {}, "1: the file is empty: a table was expected"),
        ("a,b\n1,2\n", {}, '1: which column is the label? --label NAME, one of "a", "b"'),
        ("1,2\n3,4\n", {}, '1: which column is the label? --label NAME, one of "1", "2" '
         "(or is there no header? then --no-header)"),
        ("age,b\n1,2\n", {"label": "aeg"}, '1: there is no column "aeg" (--label): did you mean "age"?'),
        ("a,b,y\n", {"drop": ["zzz"]}, '1: there is no column "zzz" (--drop): there are "a", "b", "y"'),
        ("a,b,y\n", {"weight": "zzz"}, '1: there is no column "zzz" (--weight): there are "a", "b", "y"'),
        ("a,b,y\n", {"categorical": ["zzz"]}, '1: there is no column "zzz" (--categorical): there are "a", "b", "y"'),
        ("a,y,a\n", {}, '1: the header has "a" 2 times: names must be different'),
        ("a,7,7,y\n", {}, '1: the header has "7" 2 times: names must be different '
         "(or is there no header? then --no-header)"),
        ("\na,,y\n", {}, "2: column 2 of the header has no name"),
        ("a,b,y\n1,2,3\n1,2\n", {}, "3: 3 fields were expected, there are 2"),
        ("a,b,y\n1,2,3,4\n", {}, "2: 3 fields were expected, there are 4"),
        ("a,b,y\n1\n", {}, "2: 3 fields were expected, there is 1"),
        ("a,y\n1,2\n1e999,3\n", {}, '3: column "a": "1e999" is not a finite number'),
        ("a,y\n1,2\n-inf,3\n", {}, '3: column "a": "-inf" is not a finite number'),
        ("a,y\n1,nan\n", {}, '2: the label "nan" is not a number, as those before were'),
        ("w,y\n1,2\n-1,2\n", {"weight": "w"}, '3: a weight of 0 or more was expected, there is "-1"'),
        ("w,y\n,2\n", {"weight": "w"}, '2: the weight is missing (column "w")'),
        ('a,y\n1,2\n"b"c,3\n', {}, "3: ',' expected after '\"'; the row begins with \"\"b\"c,3\""),
        ('a,y\n1,2\n"b,3\n4,5\n', {}, "3: a quotation mark in this row has no counterpart"),
        ("a,y\n1,2\nb\rc,3\n", {}, '3: there is a carriage return within the line; the row begins with "b\\rc,3"'),
    ],
)  # fmt: skip
def test_invalid_input_is_reported_with_its_place(tmp_path, text, options, expected):
    assert rejection(CsvFile(**options), table(tmp_path, text)) == expected


@pytest.mark.parametrize("garbage", ["1e", "0x10", "1_000", "1,5", "--1", "1 2", "\u00bd"])
def test_garbage_numbers(tmp_path, garbage):
    source = CsvFile()
    read(source, table(tmp_path, "n,y\n1,1\n"))
    path = table(tmp_path, f'n,y\n1,1\n"{garbage}",2\n3,3\n')
    expected = f'3: column "n": "{garbage}" is not a number (--categorical n, if it is a category)'
    assert rejection(source, path) == expected
    assert skipped(source, path) == (([{"n": 1.0}, {"n": 3.0}], [1, 3], [2, 4]), [expected])


def test_only_invalid_rows_are_skipped(tmp_path):
    text = 'a,y\n1,1\n"2,2\n3,3\n4,"4"x\n5,5\n6\n\xff,7\n,8\n'
    found, errors = skipped(CsvFile(), table(tmp_path, text.encode("latin-1")))
    assert found == ([{"a": 1.0}, {"a": 3.0}, {"a": 5.0}, {"a is missing": 1.0}], [1, 3, 5, 8], [2, 4, 6, 9])
    assert errors == [
        "3: ',' expected after '\"'; the row begins with \"\"2,2\"",
        '5: \',\' expected after \'"\'; the row begins with "4,"4"x"',
        "7: 2 fields were expected, there is 1",
        "8: 1: not UTF-8: byte 0xff (invalid start byte)",
    ]


def test_skipped_rows_do_not_count_as_missing_or_weighted(tmp_path):
    path = table(tmp_path, "n,m,w,y\n1,1,1,1\nx,,2,2\n3,,3,3\n")
    source = CsvFile(weight="w", numeric=["n"])
    (batch,) = source.batches(Input(path), BadLines(skip=True))
    assert batch.X == [{"n": 1.0, "m": 1.0}, {"n": 3.0, "m is missing": 1.0}]
    np.testing.assert_array_equal(batch.weights, [1.0, 3.0])
    assert source.missing_counts == {"m": 1}


@pytest.mark.parametrize("before", [0, 998])  # at the end of a batch it has to be kept for the next
def test_unclosed_quotation_mark_is_limited(tmp_path, monkeypatch, before):
    monkeypatch.setattr(csv_files, "MAX_RECORD", 100)
    rows = [f"{k},{k}\n" for k in range(5000)]
    rows.insert(before, '"0,0\n')
    path = table(tmp_path, "a,y\n" + "".join(rows))
    expected = f"{before + 2}: a quotation mark in this row has no counterpart within 100 characters"
    assert rejection(CsvFile(), path) == expected
    (_, labels, lines), errors = skipped(CsvFile(), path)
    assert labels == list(range(5000))
    assert lines == [line for line in range(2, 5003) if line != before + 2]
    assert errors == [expected]


def test_fields_may_be_longer_than_the_limit_of_csv(tmp_path):
    before = csv.field_size_limit()
    long = "x" * (2 * before)
    for text in (f"a,y\n{long},1\n", f'a,y\n"{long}",1\n'):
        assert read(CsvFile(), table(tmp_path, text))[0] == [{"a": long}]
    assert csv.field_size_limit() == before


def test_columns_may_be_named_like_python_constants(tmp_path):
    found = read(CsvFile(label=False), table(tmp_path, "False,None,True\n1,2,3\n"))
    assert found == ([{"False": 1.0, "None": 2.0, "True": 3.0}], [None], [2])


def test_pipe_is_read_as_it_comes_within_quotation_marks():
    with pipe() as (file, write):
        batches = CsvFile().batches(file, BadLines())
        write(b"a,y\nx,")
        write(b'1\ny,2\n"3')
        assert next(batches).labels == [1, 2]
        write(b'\n4",3\n')
        batch = next(batches)
        assert (batch.X, batch.labels, list(batch.lines)) == ([{"a": "3\n4"}], [3], [4])
        batches.close()


# ---- anything at all --------------------------------------------------------------------------------------------

cell = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\r\0\ufeff"), min_size=1, max_size=4
)
cell = cell.filter(lambda text: text not in MISSING and not text.startswith(" "))


@settings(deadline=None)
@given(st.lists(st.tuples(cell, cell, cell), min_size=1, max_size=5), st.sampled_from(",;\t|"))
def test_what_is_written_is_read(rows, separator):
    text = io.StringIO()
    csv.writer(text, delimiter=separator, lineterminator="\n").writerows([("p", "q", "y"), *rows])
    source = CsvFile(categorical=["p", "q"], label_kind="category")
    with tempfile.TemporaryDirectory() as folder:
        X, labels, _ = read(source, written(Path(folder), text.getvalue(), "t.txt"))
    assert [{"p": p, "q": q} for p, q, _ in rows] == X
    assert labels == [label for *_, label in rows]
