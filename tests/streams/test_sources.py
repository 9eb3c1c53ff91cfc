"""Which format a file has, which files are meant, and what is peeked at is not lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import pytest

from hinge import InputError
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.json_lines import JsonLines
from hinge.streams.formats.lines import line_batches, shortened, text_batches
from hinge.streams.sources import ENDINGS, FORMATS, detect, expand, make_source, source_class
from stream_files import PACK, pipe, read, written

# ---- formats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ENDINGS)
def test_format_is_detected_by_the_ending(format):
    """The file is not opened: it does not exist."""
    for ending in ENDINGS[format]:
        for packed in ("", ".gz", ".bz2", ".xz", ".zst"):
            assert detect(Input(f"none{ending}{packed}")) == format
            assert detect(Input(f"NONE{ending}{packed}".upper())) == format


CONTENTS = [
    ("svmlight", "+1 1:0.5 3:2\n-1 2:1\n"),
    ("svmlight", "# a comment\n1 qid:3 1:0.5 # x\n"),
    ("svmlight", "1,2 1:0.5\n"),
    ("svmlight", "-1.5e3 7:1\n"),
    ("vw", "1 | a b:2\n"),
    ("vw", "1 2.0 'tag|words a b\n"),
    ("vw", "| a b c\n"),
    ("vw", "2:1.5 |a x |b y\n"),
    ("vw", "|a x:1\n1 |b y |c z\n"),
    ("csv", "a,b,label\n1,2,3\n"),
    ("csv", "a;b;label\n1;2;3\n"),
    ("csv", "a|b|label\n1|2|3\n"),
    ("csv", "a,b"),
    ("tsv", "a\tb\tlabel\n1\t2\t3\n"),
    ("json", '{"a": 1}\n'),
    ("json", '\n  {"a": 1}'),
    ("conll", "The DT B-NP\ncat NN I-NP\n\nIt PRP B-NP\n"),
    ("conll", "\n\nThe\tDT\tB-NP\n,\t,\tO\n\nIt\tPRP\tB-NP\n"),
    ("conll", ", , O\n\nThe DT B-NP\n, , O\n"),
    ("conll", "# # O\nx Y Z\n\n# # O\n"),
    ("parquet", b"PAR1\x15\x04\x15"),
    ("arrow", b"ARROW1\0\0\xff\xff"),
    ("arrow", b"\xff\xff\xff\xff\x78\x01\0\0"),
]


@pytest.mark.parametrize(("format", "content"), CONTENTS, ids=range(len(CONTENTS)))
def test_format_is_detected_by_the_content(tmp_path, format, content):
    path = written(tmp_path, content, "train.txt")
    assert detect(Input(path)) == format
    for ending, pack in PACK.items():
        assert detect(Input(written(tmp_path, pack(path.read_bytes()), f"train.txt{ending}"))) == format
    if isinstance(content, str):
        assert (
            detect(Input(written(tmp_path, "\ufeff" + content.replace("\n", "\r\n"), "train.txt"))) == format
        )


def test_format_of_very_long_lines_is_detected(tmp_path):
    pairs = " ".join(f"{k}:0.5" for k in range(1, 20_000))
    for format, content in (
        ("svmlight", f"1 {pairs}\n2 {pairs}\n"),
        ("vw", f"1 | {pairs}\n"),
        ("csv", "a," * 70_000),
    ):
        assert detect(Input(written(tmp_path, content, "train"))) == format


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("", "1: the file is empty, so its format is unknown; use --format, one of "),
        ("\n \n", "1: the file is empty, so its format is unknown; use --format, one of "),
        ("\nonce upon a time\n", '2: the format is unknown: a line begins with "once upon a time"; '),
        (b"\x1f\x8b\x08", "1: it is compressed, but its name does not end with .gz"),
        (b"\x28\xb5\x2f\xfd", "1: it is compressed, but its name does not end with .zst"),
        (b"\x7fELF\0\0\0\0", "1: it is not text: it begins with "),
        ("a,y\n1,2\n".encode("utf-16"), "1: it is not text: it begins with "),
    ],
)
def test_undetectable_format_is_reported(tmp_path, content, expected):
    path = written(tmp_path, content, "train")
    with pytest.raises(InputError) as caught:
        detect(Input(path))
    assert str(caught.value).startswith(f"{path}:{expected}")
    assert "\n" not in str(caught.value)


def test_damaged_compressed_file_has_no_format(tmp_path):
    packed = PACK[".gz"](b"a,y\n1,2\n")
    for cut in (0, 5, len(packed) - 1):
        with pytest.raises(InputError, match="the compressed file is damaged"):
            detect(Input(written(tmp_path, packed[:cut], "train.gz")))


def test_sources_are_made_by_the_name_of_the_format(tmp_path):
    for format in ("csv", "tsv", "json", "conll", "parquet", "arrow"):
        source = make_source(format)
        assert isinstance(source, source_class(format))
        assert json.loads(json.dumps(source.settings)) == source.settings
    assert make_source("tsv").settings["separator"] == "\t"
    assert make_source("json", text="t").settings["text"] == ["t"]
    with pytest.raises(ValueError, match=r"no format 'cvs': there are svmlight, vw, csv"):
        make_source("cvs")
    with pytest.raises(TypeError, match="separator"):
        make_source("json", separator=",")
    assert set(FORMATS) == set(ENDINGS)


def test_formats_are_imported_lazily():
    program = (
        "import sys, hinge.streams.sources; print([m for m in ('pyarrow', 'pandas') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "[]\n"


# ---- peeking ----------------------------------------------------------------------------------------------------


def test_peeked_bytes_are_read_again(tmp_path):
    file = Input(written(tmp_path, "abc" * 100, "a"))
    assert file.peek(5) == b"abcab"
    assert file.peek() == b"abc" * 100
    with file.opened() as stream:
        assert stream.read() == b"abc" * 100


def test_peeking_into_a_pipe_waits_for_a_line_and_loses_nothing():
    with pipe() as (file, write):
        write(b"\n")
        later = threading.Timer(0.2, write, [b'{"y": 1}\n{"y"'])
        later.start()
        assert detect(file) == "json"
        later.join()
        assert file.peek() == file.peek() == b'\n{"y": 1}\n{"y"'
        batches = JsonLines().batches(file, BadLines())
        assert next(batches).labels == [1]
        write(b": 2}\n")
        assert next(batches).labels == [2]
        batches.close()


def test_standard_input_is_peeked_at_and_read():
    program = """
from hinge.streams.files import Input
from hinge.streams.batches import BadLines
from hinge.streams.sources import detect, make_source
file = Input("-")
source = make_source(detect(file))
print([(batch.X, batch.labels, list(batch.lines)) for batch in source.batches(file, BadLines())])
"""
    found = subprocess.run([sys.executable, "-c", program], input=b"a,y\n1,2\n", capture_output=True)
    assert found.stdout.decode() == "[([{'a': 1.0}], [2], [2])]\n"
    failed = subprocess.run([sys.executable, "-c", program], input=b"a,y\n1\n", capture_output=True)
    assert b"InputError: <stdin>:2: 2 fields were expected, there is 1" in failed.stderr


# ---- lines ------------------------------------------------------------------------------------------------------


def test_lines_of_any_length_are_joined(tmp_path):
    texts = [b"x" * size for size in (0, 1, 2**20 - 1, 2**20, 2**20 + 1, 3 * 2**20, 0, 5)]
    path = written(tmp_path, b"\n".join(texts), "a")
    found = [(first, line) for first, lines in line_batches(Input(path)) for line in lines]
    assert [line for _, line in found] == texts
    starts = [first for first, _ in line_batches(Input(path))]
    assert starts == sorted(starts)
    assert starts[0] == 1


def test_carriage_return_before_a_pending_newline_is_not_part_of_the_line():
    with pipe() as (file, write):
        batches = line_batches(file)
        write(b"a\r\nb\r")
        assert next(batches) == (1, [b"a"])
        write(b"\nc\rd\r\r\n")
        assert next(batches) == (2, [b"b", b"c\rd\r"])
        batches.close()


def test_lines_that_are_not_utf_8_are_skipped(tmp_path):
    path = written(tmp_path, b"a\nb\n\xff\n\xfe\xff\nc\n\xe2\x82", "a")
    bad = BadLines(skip=True)
    assert list(text_batches(Input(path), bad)) == [(1, ["a", "b"]), (5, ["c"])]
    assert [(error.line, error.column) for error in bad.first] == [(3, 1), (4, 1), (6, 1)]


def test_quotations_are_short_and_on_one_line():
    assert shortened("a" * 50, 10) == '"' + "a" * 7 + '..."'
    assert shortened("a\nb\0é") == '"a\\nb\\x00é"'


# ---- files ------------------------------------------------------------------------------------------------------


def test_patterns_are_expanded_in_order(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.makedirs("d/e")
    for name in ("b.svm", "a.svm", "c.csv", "d/e/f.svm", "[x].svm"):
        written(tmp_path, "", name)
    assert expand(["b.svm", "*.svm", "-"]) == ["b.svm", "[x].svm", "a.svm", "b.svm", "-"]
    assert expand(["?.svm"]) == ["a.svm", "b.svm"]
    assert expand(["**/*.svm"]) == ["[x].svm", "a.svm", "b.svm", "d/e/f.svm"]
    assert expand(["[x].svm"]) == ["[x].svm"]  # a file of this name comes first
    assert expand([]) == []


def test_missing_files_are_reported_with_similar_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.mkdir("data")
    for name in ("train.svm", "test.svm", "data/train.csv"):
        written(tmp_path, "", name)
    for path, expected in (
        ("trian.svm", r"there is no file trian\.svm: did you mean train\.svm\?"),
        ("data/trian.csv", r"there is no file data/trian\.csv: did you mean data/train\.csv\?"),
        ("zzzzzz", r"there is no file zzzzzz$"),
        ("nowhere/a", r"there is no nowhere/a: there is no folder nowhere"),
        ("*.csv", r"no file matches \*\.csv: there are test\.svm, train\.svm"),
    ):
        with pytest.raises(FileNotFoundError, match=expected):
            expand([path])
    with pytest.raises(IsADirectoryError, match=r"data is a folder: data/\* matches all files in it"):
        expand(["data"])


def test_one_source_reads_several_files(tmp_path):
    source = JsonLines()
    written(tmp_path, '{"y": 1, "v": 1}\n', "a.jsonl")
    written(tmp_path, '{"y": 2, "label": 1}\n', "b.jsonl")
    paths = expand([str(tmp_path / "*.jsonl")])
    assert [read(source, path)[:2] for path in paths] == [([{"v": 1}], [1]), ([{"label": 1}], [2])]
