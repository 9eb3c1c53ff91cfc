"""The native reader of svmlight's format: compared with scikit-learn's, on texts cut anywhere, on any bytes."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from hinge import InputError, PAClassifier, PAMultilabel
from hinge._core import SvmlightReader
from hinge.streams import read_svmlight
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.text import Svmlight


def whole(source, n_features=1000, **options):
    """All batches as one: X, the labels of each row, the last batch."""
    batches = list(read_svmlight(source, n_features=n_features, **options))
    if not batches:
        return sp.csr_array((0, n_features)), [], None
    sets = [labels for batch in batches for labels in batch.label_sets]
    return sp.vstack([batch.X for batch in batches]), sets, batches[-1]


def test_reader_agrees_with_scikit_learn(tmp_path):
    random = np.random.default_rng(0)
    X = sp.random_array((300, 50), density=0.2, rng=random, format="csr")
    X.data *= 10.0 ** random.integers(-300, 300, size=X.nnz)
    y = random.integers(-3, 4, size=300).astype(float)
    path = str(tmp_path / "data.svm")
    dump_svmlight_file(X, y, path, zero_based=False, comment="made by\nscikit-learn", query_id=np.arange(300))
    theirs, their_y = load_svmlight_file(path, n_features=50, zero_based=False)
    for batch_bytes in (1, 7, 64, 1000, 2**20):
        ours, labels, last = whole(path, 50, batch_bytes=batch_bytes)
        np.testing.assert_array_equal(ours.data, theirs.data)
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_array_equal(ours.indptr, theirs.indptr)
        assert labels == [[label] for label in their_y]
        assert last.last_line == Path(path).read_text().count("\n")


def test_lines_have_any_number_of_labels():
    lines = [
        b"1,5,7 3:1\n",
        b" 2:1\n",
        b"4\n",
        b"# nothing\n",
        b"\n",
        b"-2.5e0 qid:3 1:2 qid:4 2:.5#c\n",
        b"qid:1 1:1",
    ]
    X, labels, last = whole(lines, 3)
    assert labels == [[1, 5, 7], [], [4], [-2.5], []]
    np.testing.assert_array_equal(X.toarray(), [[0, 0, 1], [0, 1, 0], [0, 0, 0], [2, 0.5, 0][:3], [1, 0, 0]])
    assert last.last_line == 7
    with pytest.raises(ValueError, match="has 3 labels: use label_sets"):
        next(iter(read_svmlight(lines, n_features=3))).y  # noqa: B018


def number(text):
    X, _, _ = whole([f"1 1:{text}\n".encode()], 1)
    return X.toarray()[0, 0]


@given(st.floats(allow_nan=False, allow_infinity=False))
@example(5e-324)
@example(2.2250738585072011e-308)
@example(1.7976931348623157e308)
@example(9007199254740993.0)
@settings(deadline=None)
def test_numbers_are_rounded_as_python_rounds_them(value):
    for text in (repr(value), f"{value:.17g}", f"{value:.6f}", f"{value:e}", f"{value:+.3g}"):
        if np.isfinite(float(text)):  # fewer digits may be rounded up
            assert number(text) == float(text), text


@given(st.from_regex(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?", fullmatch=True))
@settings(deadline=None)
def test_any_digits_are_read_as_python_reads_them(text):
    assert number(text) == float(text)


def test_underflowing_number_is_zero():
    assert number("1e-999") == 0


def test_numbers_of_any_length_are_read():
    """The parser reads several bytes at once: these may begin and end anywhere in a feature."""
    random = np.random.default_rng(5)

    def digits(most):
        return "".join(map(str, random.integers(0, 10, size=random.integers(1, most))))

    for _ in range(300):
        values = [random.choice(["", f"{digits(12)}."]) + digits(19) for _ in range(30)]
        features = [(int(random.integers(1, 10 ** random.integers(1, 8))), value) for value in values]
        line = "1 " + " ".join(f"{index}:{value}" for index, value in features) + "\n"
        X, _, _ = whole([line.encode()], 10**7)
        assert X.indices.tolist() == [index - 1 for index, _ in features]
        assert X.data.tolist() == [float(value) for _, value in features]


BAD = [
    ("1 1:1e", 5, '"1e" is not a number'),
    ("1 1:1 2:x", 9, '"x" is not a number'),
    ("1 1:", 5, '"" is not a number'),
    ("1 1:nan", 5, '"nan" is not a number'),
    ("1 1:inf", 5, '"inf" is not a number'),
    ("1 1:-inf", 5, '"-inf" is not a number'),
    ("1 1:1e999", 5, '"1e999" is too large for float64'),
    ("1 1:--1", 5, '"--1" is not a number'),
    ("1 1:0x10", 6, 'a space was expected after the value, not "x10"'),
    ("1 1:1:2", 6, 'a space was expected after the value, not ""'),
    ("1 a:1", 3, '"a" is not an index'),
    ("1 -1:1", 3, '"-1" is not an index'),
    ("1 1.5:1", 3, '"1.5" is not an index'),
    ("1 12a:1", 3, '"12a" is not an index'),
    ("1 0:1", 3, 'index "0": indices count from 1'),
    ("1 11:1", 3, 'index "11" is over the limit of 10 features'),
    ("1 99999999999999999999999:1", 3, "is over the limit of 10 features"),
    ("1 5", 4, '":" and a value were expected after the index'),
    ("spam 1:1", 1, '"spam" is not a number'),
    ("1, 1:1", 3, '"" is not a number'),
    ("1;2 1:1", 2, 'a space was expected after the label, not ";2"'),
    ("\xff\x00\xe9 1:1", 1, r'"\\xc3\\xbf\\x00\\xc3\\xa9" is not a number'),
    ("1 1:" + "y" * 100, 5, '"' + "y" * 40 + r'\.\.\." is not a number'),
]


@pytest.mark.parametrize(("line", "column", "reason"), BAD, ids=[f"{line[:20]!r}" for line, _, _ in BAD])
@pytest.mark.parametrize("after", ["\n", "\n1 1:1\n", "", "\n" + "1 1:1 2:2 3:3\n" * 9])
def test_bad_lines_are_reported_with_place_and_reason(tmp_path, line, column, reason, after):
    path = tmp_path / "train.svm"
    path.write_text(f"1 1:1\n# a comment\n{line}{after}", encoding="utf-8")
    with pytest.raises(InputError, match=f"train.svm:3: {column}: .*{reason}") as caught:
        whole(path, 10)
    assert (caught.value.line, caught.value.column) == (3, column)
    good = [text for text in ("1 1:1", *after.split("\n")) if text]
    X, labels, last = whole(path, 10, on_error="skip")
    assert len(labels) == X.shape[0] == len(good)
    assert last.skipped <= 1
    with pytest.raises(InputError, match="the first of 1 that cannot be read; 0 may be skipped"):
        whole(path, 10, on_error="skip", max_skipped=0)


@pytest.mark.parametrize("source", [b"", b"\n\n", b"# only a comment", b"   \t \r\n"])
def test_text_without_examples_gives_no_batch(source):
    assert list(read_svmlight([source], n_features=3)) == []


def test_long_lines_are_rejected_or_skipped():
    long = b"1 " + b"1:1 " * 1000
    for source in ([long], [long + b"\n"], [long[:2000], long[2000:], b"\n1 1:1\n"]):
        with pytest.raises(InputError, match="<lines>:1: 101: the line is longer than 100 bytes"):
            whole(source, max_line=100)
    for source in ([long + b"\n1 2:2\n"], [long[:2000], long[2000:], b" 1:1\n1 2:2\n"], [b"1 2:2\n" + long]):
        X, _, last = whole(source, max_line=100, on_error="skip")
        assert (X.shape[0], last.skipped) == (1, 1)


text = st.lists(
    st.one_of(
        st.sampled_from(
            [b" ", b"\n", b":", b"1", b"0.5", b"12:0.25 ", b"3:-1e5 ", b",", b"#", b"qid:", b"\0", b"\r"]
        ),
        st.binary(max_size=4),
    ),
    max_size=60,
).map(b"".join)


@given(
    text,
    st.lists(st.integers(0, 300), max_size=5),
    st.sampled_from(["raise", "skip"]),
    st.sampled_from([40, 2**24]),
)
@example(b"1 1:12345678", [], "raise", 2**24)
@example(b"1:1 1:1\n1\xa01:1", [3], "skip", 2**24)
@example(b"1" + b" 1:1" * 30 + b"\n1 2:1\n", [50, 70], "skip", 40)
@settings(deadline=None)
def test_any_bytes_are_read_or_rejected(data, cuts, on_error, max_line):
    """Whatever the bytes, and however they are cut: the same rows, or the same error."""

    def outcome(pieces):
        try:
            X, labels, _ = whole(pieces, 50, on_error=on_error, ahead=0, max_line=max_line)
        except InputError as error:
            return str(error)
        return X.toarray().tolist(), labels

    at = sorted(min(cut, len(data)) for cut in cuts)
    pieces = [data[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]
    first = outcome([data])
    assert first == outcome(pieces)


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(-9, 9), max_size=3),
            st.lists(st.tuples(st.integers(1, 50), st.floats(-1e6, 1e6)), max_size=6),
        ),
        max_size=8,
    ),
    st.sampled_from([" ", "  ", "\t", " \t "]),
    st.sampled_from(["\n", "\r\n", " \n", " # x:y\n", "\n\n"]),
)
@settings(deadline=None)
def test_what_is_written_is_read(rows, space, end):
    rows = [row for row in rows if row[0] or row[1]]
    text = "".join(
        space.join([",".join(map(str, labels)), *(f"{i}:{v!r}" for i, v in features)]) + end
        for labels, features in rows
    )
    X, labels, _ = whole([text.encode()], 50)
    assert labels == [its for its, _ in rows]
    assert X.indices.tolist() == [i - 1 for _, features in rows for i, _ in features]
    assert X.data.tolist() == [v for _, features in rows for _, v in features]


def test_sources(tmp_path):
    text = b"1 1:1\n0 2:1\n"
    path = tmp_path / "a.svm"
    path.write_bytes(text)
    with path.open("rb") as file:
        assert whole(file, 2)[1] == [[1], [0]]
    assert whole(io.BytesIO(text), 2)[1] == whole(path, 2)[1] == whole(str(path), 2)[1] == [[1], [0]]
    assert whole([b"0 0:3\n"], 1, zero_based=True)[0].toarray().tolist() == [[3]]
    compressed = tmp_path / "a.svm.gz"
    compressed.write_bytes(gzip.compress(text))
    assert whole(compressed, 2)[1] == [[1], [0]]
    compressed.write_bytes(gzip.compress(text)[:-1])
    with pytest.raises(InputError, match="damaged"):
        whole(compressed, 2)
    with pytest.raises(TypeError, match="open files with 'rb'"):
        whole(["1 1:1\n"])
    with pytest.raises(TypeError, match="not bytes"):
        whole(text)
    with pytest.raises(FileNotFoundError):
        whole(tmp_path / "none.svm")
    with pytest.raises(ValueError, match="on_error must be"):
        whole(path, on_error="ignore")
    with pytest.raises(ValueError, match="n_features must be"):
        whole(path, 0)
    with pytest.raises(ValueError, match="batch_bytes must be"):
        whole(path, 1, batch_bytes=0)


# ---- as a source


def batches_of(path, data, bad=None, source=None, **options):
    path.write_bytes(data)
    return list((source or Svmlight(**options)).batches(Input(path), bad or BadLines()))


def test_source_gives_rows_labels_and_lines(tmp_path):
    path = tmp_path / "a.svm"
    source = Svmlight(max_features=100)
    assert source.settings == {"zero_based": False, "keep": [], "drop": []}
    (batch,) = batches_of(path, b"1 2:0.5\n\n# c\n1,2 3:1 7:-2\n 1:1\n", source=source)
    values, columns, starts, width = batch.X.csr()
    assert (values.tolist(), columns.tolist(), starts.tolist()) == (
        [0.5, 1, -2, 1],
        [1, 2, 6, 0],
        [0, 1, 3, 4],
    )
    assert (width, batch.X.width, len(batch)) == (7, 7, 3)
    assert batch.lines.tolist() == [1, 4, 5]
    assert (batch.X.labels.tolist(), batch.X.label_starts().tolist()) == ([1, 1, 2], [0, 1, 3, 3])
    assert (batch.weights, batch.X.new_names, batch.X.unseen_squares(7), batch.position) == (
        None,
        [],
        None,
        path.stat().st_size,
    )
    (batch,) = batches_of(path, b"1 2:1\n", source=source)
    assert batch.X.width == 7  # it never shrinks
    assert Svmlight(zero_based=True).settings == {"zero_based": True, "keep": [], "drop": []}
    (batch,) = batches_of(path, b"1 0:1\n", zero_based=True)
    assert batch.X.width == 1


def test_source_skips_and_counts_bad_lines(tmp_path):
    path = tmp_path / "a.svm"
    data = b"".join(b"1 %d:1\n" % (i % 20) for i in range(200_000))  # one in twenty has the index 0
    bad = BadLines(skip=True, most=20_000)
    batches = batches_of(path, data, bad)
    assert (bad.count, len(bad.first), len(batches)) == (10_000, 10, 2)
    assert str(bad.first[1]).endswith('a.svm:21: 3: index "0": indices count from 1')
    lines = np.concatenate([batch.lines for batch in batches])
    np.testing.assert_array_equal(lines, [i + 1 for i in range(200_000) if i % 20])
    bad = BadLines(skip=True, most=100)
    with pytest.raises(InputError, match=r"a.svm:1: 3: .*\(the first of 101 that cannot be read; 100 may be"):
        batches_of(path, data, bad)
    with pytest.raises(InputError, match=r'a.svm:1: 3: index "0"'):
        batches_of(path, data)


def test_source_does_not_import_scipy():
    """Its import takes longer than reading 100 MB."""
    code = (
        "import sys, tempfile; from hinge.streams.formats.text import Svmlight; from hinge.streams.files import Input\n"
        "from hinge.streams.batches import BadLines\n"
        "with tempfile.NamedTemporaryFile() as file:\n"
        "    file.write(b'1 1:1\\n'); file.flush()\n"
        "    print(len(list(Svmlight().batches(Input(file.name), BadLines()))), 'scipy' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "1 False\n"


def test_huge_lines(tmp_path):
    line = b"1 " + b" ".join(b"%d:%d.5" % (i, i) for i in range(1, 300_000)) + b"\n"
    batches = batches_of(tmp_path / "a.svm", line + b"1 1:1\n" + line)
    assert sum(map(len, batches)) == 3
    values = np.concatenate([batch.X.csr()[0] for batch in batches])
    once = np.arange(1, 300_000) + 0.5
    np.testing.assert_array_equal(values, [*once, 1, *once])
    with pytest.raises(InputError, match=r"a.svm:1: 1048577: the line is longer than 1048576 bytes"):
        batches_of(tmp_path / "a.svm", line, max_line=2**20)
    with pytest.raises(InputError, match=r"a.svm:1: 101: the line is longer than 100 bytes"):
        batches_of(tmp_path / "a.svm", b"\0" * 10**6, max_line=100)


def test_core_rejects_input_that_is_not_bytes():
    reader = SvmlightReader(first=1, max_features=3, max_line=100)
    for data in ("1 1:1\n", None, 3, memoryview(bytes(16))[::2]):
        with pytest.raises((TypeError, BufferError)):
            reader.read(data)
    reader.read(bytearray(b"1 1:1\n1 2:"))
    reader.read(memoryview(b"xx3\n1 1:1")[2:])
    assert reader.take().lines.tolist() == [1, 2]
    assert reader.take() is None
    reader.restart(skip=False)  # the incomplete line is dropped
    reader.read(b"1 2:5\n")
    assert (reader.lines, reader.take().csr()[0].tolist()) == (1, [5])


def test_reader_rejects_a_second_thread():
    reader = SvmlightReader(first=1, max_features=3, max_line=100)
    data, rejected = b"1 1:0.5\n" * 10**6, 0

    def read():
        while True:
            try:
                return reader.read(data)
            except RuntimeError:  # the main thread was using it
                continue

    thread = threading.Thread(target=read)
    thread.start()
    while thread.is_alive():
        try:
            assert reader.lines in (0, 10**6)
        except RuntimeError as error:
            assert str(error) == "another thread is using this reader"  # noqa: PT017
            rejected += 1
    assert rejected > 0
    assert len(reader.take().lines) == 10**6


# ---- ahead


def test_reading_ahead_is_bounded_and_ends_with_close():
    made = []

    def pieces():
        for i in range(1000):
            made.append(i)
            yield b"1 1:1\n"

    batches = read_svmlight(pieces(), n_features=1, ahead=3)
    next(batches)
    time.sleep(0.3)
    assert len(made) <= 6
    batches.close()
    assert not any(thread.name == "hinge reads ahead" for thread in threading.enumerate())


def test_learning_from_a_file_equals_learning_from_its_rows(tmp_path):
    random = np.random.default_rng(1)
    X = sp.random_array((500, 30), density=0.3, rng=random, format="csr")
    y = np.where(X.sum(axis=1) > 4.5, 1.0, -1.0)
    path = str(tmp_path / "train.svm")
    dump_svmlight_file(X, y, path, zero_based=False)
    streamed = PAClassifier()
    for batch in read_svmlight(path, n_features=30, batch_bytes=1000):
        streamed.partial_fit(batch.X, batch.y, classes=[-1, 1])
    rows = load_svmlight_file(path, n_features=30, zero_based=False)[0]
    at_once = PAClassifier().partial_fit(rows, y, classes=[-1, 1])
    np.testing.assert_array_equal(streamed.coef_, at_once.coef_)
    assert streamed.stats_ == at_once.stats_
    several = [b"1,2 1:1\n", b"3 2:1\n"]
    model = PAMultilabel()
    for batch in read_svmlight(several, n_features=2):
        model.partial_fit(batch.X, batch.label_sets, classes=[1, 2, 3])
    assert model.stats_.rounds == 2
