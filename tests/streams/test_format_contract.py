"""What every format of examples promises: the same examples give the same batches, and what cannot be read is reported
with its place, ends the reading or is skipped and counted, and takes no more memory than the limits allow.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hinge import InputError, Learner
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.conll import ConllColumns
from hinge.streams.formats.csv_files import CsvFile
from hinge.streams.formats.json_lines import JsonLines
from hinge.streams.formats.text import Svmlight, VowpalText
from hinge.streams.sources import detect, make_source
from stream_files import (
    PACK,
    Endless,
    again,
    joined,
    pipe,
    read,
    read_or_rejected,
    rejection,
    skipped,
    written,
)

# ---- formats -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Format:
    """A format of text. `line(i)` is an example with the label i, and `bad` a line that is not one."""

    ending: str
    make: Callable[..., Any]
    line: Callable[[int], str]
    x: Callable[[int], Any]
    bad: str
    reason: str  # after the file and the line
    too_long: str
    header: str = ""
    has_mark: bool = True  # a byte order mark is skipped
    label: Callable[[int], Any] = int
    first: int = 1  # the line of the first example
    lines: int = 1  # that an example takes
    options: dict[str, Any] = field(default_factory=dict)

    def text(self, numbers):
        return self.header + "".join(self.line(i) + "\n" for i in numbers)

    def expected(self, numbers):
        lines = [self.first + self.lines * place for place in range(len(numbers))]
        return [self.x(i) for i in numbers], [self.label(i) for i in numbers], lines

    def write(self, folder, text, more=""):
        return written(folder, text, f"data.{self.ending}{more}")


NATIVE = "1001: the line is longer than 1000 bytes (max_line)"
OTHER = "the line is longer than max_line=1000 bytes"
FORMATS = [
    Format("svm", Svmlight, lambda i: f"{i} 3:{i}.5", lambda i: {"3": i + 0.5}, "1 x:1", '3: "x" is not an index',
           NATIVE, has_mark=False),
    Format("vw", VowpalText, lambda i: f"{i} | é:{i}.5", lambda i: {"é": i + 0.5}, "1 | a:x", '7: "x" is not a number',
           NATIVE, has_mark=False),
    Format("jsonl", JsonLines, lambda i: f'{{"label": {i}, "v": "{"é" * (i % 5)}"}}', lambda i: {"v": "é" * (i % 5)},
           "x", '1: not JSON: expecting value, there is "x"', OTHER),
    Format("csv", CsvFile, lambda i: f"é{i},{i}", lambda i: {"v": f"é{i}"}, "a,b,c",
           "2 fields were expected, there are 3", OTHER, header="v,label\n", first=2),
    Format("tsv", CsvFile, lambda i: f"é{i}\t{i}", lambda i: {"v": f"é{i}"}, "a\tb\tc",
           "2 fields were expected, there are 3", OTHER, header="v\tlabel\n", first=2),
    Format("conll", ConllColumns, lambda i: f"é{i} T{i}\n", lambda i: [[f"word[0]=é{i}"]], "a\n",
           "2 columns were expected, there is 1", OTHER, label=lambda i: [f"T{i}"], lines=2,
           options={"templates": ["word[0]"]}),
]  # fmt: skip
of_text = pytest.mark.parametrize("format", FORMATS, ids=lambda format: format.ending)
through_python = pytest.mark.parametrize("format", FORMATS[2:], ids=lambda format: format.ending)


# ---- what is read --------------------------------------------------------------------------------------------------

TABLE = {"label": [1.0, 2.0, None, 1.0], "a": [1.5, -2.0, 4.0, None], "b": [2.0, None, 1e-3, 0.25]}
SAME = {
    "svm": "1 1:1.5 2:2\n2 1:-2\n 1:4 2:1e-3\n1 2:.25\n",
    "vw": "1 | 1:1.5 2:2\n2 | 1:-2\n| 1:4 2:1e-3\n1 | 2:.25\n",
    "jsonl": '{"label": 1, "1": 1.5, "2": 2}\n{"1": -2, "label": 2}\n{"1": 4, "2": 1e-3}\n{"2": 0.25, "label": 1}\n',
    "csv": "1,2,label\n1.5,2,1\n-2,,2\n4,1e-3,\n,.25,1\n",
    "tsv": "label\t1\t2\n1\t1.5\t2\n2\t-2\t\n\t4\t1e-3\n1\t\t.25\n",
}


def tables(folder):
    pa = pytest.importorskip("pyarrow")
    ipc = pytest.importorskip("pyarrow.ipc")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({{"a": "1", "b": "2"}.get(name, name): values for name, values in TABLE.items()})
    parquet.write_table(table, folder / "data.parquet")
    for ending, writer in (("arrow", ipc.new_file), ("arrows", ipc.new_stream)):
        with writer(folder / f"data.{ending}", table.schema) as file:
            file.write_table(table)


@pytest.mark.parametrize("ending", [*SAME, "parquet", "arrow", "arrows"])
def test_same_examples_give_the_same_batches_in_every_format(tmp_path, ending):
    path = tmp_path / f"data.{ending}"
    if ending in SAME:
        path.write_text(SAME[ending])
    else:
        tables(tmp_path)
    format = detect(Input(path))
    options = {"missing": "omit"} if format not in ("svmlight", "vw", "json") else {}
    source = make_source(format, **options)
    X, labels, lines = read(source, path)
    assert X == [{"1": 1.5, "2": 2.0}, {"1": -2.0}, {"1": 4.0, "2": 1e-3}, {"2": 0.25}]
    assert labels == [1, 2, None, 1]
    assert lines == ([2, 3, 4, 5] if ending in ("csv", "tsv") else [1, 2, 3, 4])
    assert read(again(source), path) == (X, labels, lines)
    learner = Learner("regression")
    learner.learn_many([X[0], X[1], X[3]], [labels[0], labels[1], labels[3]])
    assert learner.statistics.rounds == 3


DRESSES = {
    "plain": lambda text: text,
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "no final newline": lambda text: text.rstrip("\n"),
    "blank lines at the end": lambda text: text + "\n\n",
    "byte order mark": lambda text: "\ufeff" + text,
}


@of_text
@pytest.mark.parametrize("dress", DRESSES)
def test_line_ends_marks_and_blank_lines_change_nothing(tmp_path, format, dress):
    path = format.write(tmp_path, DRESSES[dress](format.text(range(1, 8))))
    source = format.make(**format.options)
    if dress == "byte order mark" and not format.has_mark:
        assert "is not a number" in rejection(source, path)
        return
    assert read(source, path) == format.expected(range(1, 8))


@of_text
@pytest.mark.parametrize("packing", PACK)
def test_compressed_file_gives_the_same_and_a_truncated_one_is_rejected(tmp_path, format, packing):
    data = PACK[packing](format.text(range(1, 300)).encode())
    path = format.write(tmp_path, data, packing)
    assert read(format.make(**format.options), path) == format.expected(range(1, 300))
    for cut in (*range(0, len(data), 97), 1, 20, len(data) - 1):
        path = format.write(tmp_path, data[:cut], packing)
        assert "the compressed file is damaged" in rejection(format.make(**format.options), path, skip=True)


@of_text
@pytest.mark.parametrize("packing", PACK)
def test_damaged_compressed_file_gives_the_same_or_is_rejected(tmp_path, format, packing):
    data, rejected = PACK[packing](format.text(range(1, 300)).encode()), 0
    places = range(0, len(data), 97)
    for place in places:
        damaged = bytearray(data)
        damaged[place] ^= 0x55
        try:
            found = read(format.make(**format.options), format.write(tmp_path, bytes(damaged), packing))
        except InputError as error:
            rejected += error.file is not None
        else:
            assert found == format.expected(range(1, 300))
    assert rejected > len(places) // 2


@of_text
def test_file_of_nothing_gives_no_batch(tmp_path, format):
    for more in ("", "\n\n", "\r\n", *([] if format.header else [" \t \r\n"])):
        text = format.header + more
        assert read(format.make(), format.write(tmp_path, text)) == ([], [], [])
        if format.has_mark:
            assert read(format.make(), format.write(tmp_path, "\ufeff" + text)) == ([], [], [])


@of_text
def test_batches_are_bounded_and_lines_count_on(tmp_path, format):
    numbers = range(1, 120_000 if format in FORMATS[:2] else 2501)
    path = format.write(tmp_path, format.text(numbers))
    batches = list(format.make(**format.options).batches(Input(path), BadLines()))
    assert len(batches) > 1
    assert format in FORMATS[:2] or max(map(len, batches)) <= 1000
    assert batches[-1].position == path.stat().st_size
    assert joined(batches) == format.expected(numbers)


@of_text
def test_pipe_gives_examples_as_they_come(format):
    text = format.text(range(1, 5)).encode()
    middle = text.index(format.line(3).encode()) + 2  # within the third example
    with pipe() as (file, write):
        batches = format.make(**format.options).batches(file, BadLines())
        write(text[:middle])
        first = next(batches)
        write(text[middle:])
        second = next(batches)
        batches.close()
        assert 1 <= len(first) <= 2  # a sentence may end only with the line after it
        count = len(first) + len(second)
        assert joined([first, second]) == tuple(each[:count] for each in format.expected(range(1, 5)))


RECORD = '{"class": 1, "z": 2, "w": 3, "t": "to be", "u": "or"}\n'
ROWS = "a;b;w;y\n1;x;1;2\n"


@pytest.mark.parametrize(
    ("make", "options", "text"),
    [
        *((format.make, format.options, format.text(range(1, 8))) for format in FORMATS),
        (JsonLines, {}, RECORD),
        (JsonLines, {"label": "z", "text": ["t", "u"], "ngrams": 2, "weight": "w"}, RECORD),
        (JsonLines, {"drop": ["t"], "max_line": 99}, RECORD),
        (CsvFile, {}, ROWS),
        (CsvFile, {"separator": ";", "label": "y", "weight": "w", "drop": ["a"], "categorical": ["b"],
                   "missing": "omit"}, ROWS),
        (CsvFile, {"header": ["p", "q", "r", "y"]}, ROWS),
        (Svmlight, {"zero_based": True}, "1 0:1\n"),
    ],
)  # fmt: skip
def test_settings_make_the_same_source(tmp_path, make, options, text):
    source = make(**options)
    found = read(source, written(tmp_path, text, "data"))
    assert again(source).settings == source.settings
    assert read(again(source), tmp_path / "data") == found
    if make in (JsonLines, CsvFile):
        assert {**source.settings, **options} == source.settings


@pytest.mark.parametrize(
    ("make", "options", "named"),
    [
        (JsonLines, {"label": True}, "label"), (JsonLines, {"ngrams": 0}, "ngrams"),
        (JsonLines, {"ngrams": 1.5}, "ngrams"), (CsvFile, {"separator": ",,"}, "separator"),
        (CsvFile, {"separator": '"'}, "separator"), (CsvFile, {"missing": "drop"}, "missing"),
        (CsvFile, {"label": True}, "label"),
        (CsvFile, {"categorical": ["a"], "numeric": ["a"]}, "categorical or numeric"),
        (ConllColumns, {"tag": True}, "tag"), (ConllColumns, {"columns": "a a"}, "columns"),
        (ConllColumns, {"max_line": 0}, "max_line"), (ConllColumns, {"separator": ""}, "separator"),
        (ConllColumns, {"templates": ["word["]}, "template"),
        (VowpalText, {"hash_bits": 0}, "hash_bits must be None or a whole number from 1 to 30, not 0"),
        (VowpalText, {"hash_bits": 31}, "hash_bits must be"), (VowpalText, {"max_features": 0}, "max_features must be"),
        (VowpalText, {"max_features": 2**31}, "max_features must be"),
        (VowpalText, {"max_line": 0}, "max_line must be"),
        (Svmlight, {"max_features": 2**31}, "max_features must be"),
    ],
    ids=str,
)  # fmt: skip
def test_invalid_option_is_rejected(make, options, named):
    with pytest.raises(ValueError, match=named):
        make(**options)


@pytest.mark.parametrize("make", [JsonLines, CsvFile])
@pytest.mark.parametrize("name", ["label", "y", "target", "class"])
def test_label_has_one_of_four_names(tmp_path, make, name):
    spellings = [name] if make is JsonLines else [name, name.capitalize(), name.upper()]
    for each in spellings:
        source = make()
        text = json.dumps({"v": 1, each: 7}) if make is JsonLines else f"v,{each}\n1,7\n"
        assert read(source, written(tmp_path, text, "data"))[:2] == ([{"v": 1}], [7])
        assert source.settings["label"] == each


# ---- what cannot be read -------------------------------------------------------------------------------------------


@of_text
def test_bad_line_is_reported_with_its_place_or_skipped_and_counted(tmp_path, format):
    lines = [format.line(i) for i in range(1, 9)]
    bad_places = (2, 3, 6)
    for place in bad_places:
        lines[place] = format.bad
    path = format.write(tmp_path, format.header + "".join(line + "\n" for line in lines))
    source = format.make(**format.options)
    expected = [f"{format.first + format.lines * place}: {format.reason}" for place in bad_places]
    with pytest.raises(InputError, match=re.escape(f"{path}:{expected[0]}")) as caught:
        read(source, path)
    assert (caught.value.file, caught.value.line) == (str(path), format.first + 2 * format.lines)
    X, labels, numbers = format.expected(range(1, 9))
    kept = [place for place in range(8) if place not in bad_places]
    found, errors = skipped(format.make(**format.options), path)
    assert found == tuple([each[place] for place in kept] for each in (X, labels, numbers))
    assert errors == expected
    assert len(read(format.make(**format.options), path, BadLines(skip=True, most=3))[0]) == 5
    first = re.escape(expected[0])
    with pytest.raises(InputError, match=f":{first} \\(the first of 3 that cannot be read; 2 may be skipped"):
        read(format.make(**format.options), path, BadLines(skip=True, most=2))


@of_text
def test_examples_before_a_bad_line_are_given(tmp_path, format):
    path = format.write(tmp_path, format.text(range(1, 4)) + format.bad + "\n" + format.line(4) + "\n")
    batches = format.make(**format.options).batches(Input(path), BadLines())
    assert joined([next(batches)]) == format.expected(range(1, 4))
    with pytest.raises(InputError, match=re.escape(format.reason)):
        next(batches)


@of_text
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_long_line_is_rejected(tmp_path, format, end):
    native = format in FORMATS[:2]
    for length in (1001, 100_000):
        text = format.text([1]) + "x" * length + end
        source = format.make(max_line=1000, **format.options)
        place = format.first + format.lines
        assert (
            rejection(source, format.write(tmp_path, text), skip=not native) == f"{place}: {format.too_long}"
        )
        if native:
            (_, labels, _), errors = skipped(source, format.write(tmp_path, text))
            assert (labels, errors) == ([1], [f"{place}: {format.too_long}"])


@through_python
def test_endless_line_is_not_read_whole(format):
    source = format.make(max_line=1000, **format.options)
    with pytest.raises(InputError, match="longer than max_line=1000 bytes"):
        next(source.batches(Endless(b"x" * 100, most=2000), BadLines()))


@through_python
def test_bytes_that_are_not_utf_8_are_reported_with_their_place(tmp_path, format):
    data = [format.line(i).encode() + b"\n" for i in range(1, 7)]
    broken = {1: b"\xff", 3: b"\xc3(", 5: b"\xc3"}
    reasons = [
        "0xff (invalid start byte)",
        "0xc3 (invalid continuation byte)",
        "0xc3 (unexpected end of data)",
    ]
    for place, character in broken.items():
        data[place] = data[place].replace("é".encode(), character, 1)
    data[5] = data[5].partition(b"\xc3")[0] + b"\xc3"  # the end of the file
    path = format.write(tmp_path, format.header.encode() + b"".join(data))
    (_, labels, _), errors = skipped(format.make(**format.options), path)
    assert labels == [format.label(i) for i in (1, 3, 5)]
    for error, place, reason in zip(errors, broken, reasons, strict=True):
        line, column = format.first + format.lines * place, format.line(place + 1).index("é") + 1
        where = f"{line}: not utf-8" if format.ending == "conll" else f"{line}: {column}: not UTF-8"
        assert error == f"{where}: byte {reason}"


PIECES = {
    "jsonl": ["{", "}", "[", "]", '"a"', '"label"', ":", ",", "1", "1e999", "null", "NaN", "\\", '"', "\n", "\r",
              "\ufeff", "\\ud800"],
    "csv": ["y", "a", ",", ",", "\n", "\n", "\r", '"', "1", "1e999", "NA", " ", "\t", "\0", "\ufeff", "_"],
    "conll": ["a", "b", " ", " ", "\n", "\n", "\r", "#", "\0", "\ufeff", "\xff", "-DOCSTART-"],
}  # fmt: skip
OPTIONS = {
    "jsonl": [{}, {"text": "a"}, {"weight": "a"}],
    "csv": [{}],
    "conll": [{}, {"columns": "word tag"}, {"comments": True, "docstart": True}],
}


@pytest.mark.parametrize("format", [FORMATS[2], FORMATS[3], FORMATS[5]], ids=lambda format: format.ending)
@settings(deadline=None, max_examples=300)
@given(st.data())
def test_any_bytes_are_read_or_rejected(format, data):
    pieces = st.lists(st.sampled_from(PIECES[format.ending]), max_size=40)
    text = data.draw(st.one_of(st.binary(max_size=60), pieces.map(lambda its: "".join(its).encode())))
    source = format.make(**data.draw(st.sampled_from(OPTIONS[format.ending])))
    if format.ending == "csv" and data.draw(st.booleans()):
        text = b"y,a\n" + text
    with tempfile.TemporaryDirectory() as folder, read_or_rejected():
        path = format.write(Path(folder), text)
        X, labels, _ = read(source, path, BadLines(data.draw(st.booleans())))
        if format.ending == "conll":
            for sentence, tags in zip(X, labels, strict=True):
                assert tags is None or len(sentence) == len(tags) > 0
        else:
            Learner("regression").learn_many(X, [0.0] * len(labels))
