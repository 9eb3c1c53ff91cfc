"""The native reader of Vowpal Wabbit's text: compared with dicts and hashing, on texts cut anywhere, on any bytes."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction import FeatureHasher

from hinge import InputError, Learner
from hinge._core import VowpalTextReader
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.text import VowpalText


class Text:
    """All batches of a text as one."""

    def __init__(self, path, data, bad=None, source=None, **options):
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        self.source = source or VowpalText(**options)
        self.bad = bad or BadLines()
        self.batches = list(self.source.batches(Input(path), self.bad))
        self.names = [name for batch in self.batches for name in batch.X.new_names]
        self.lines = [int(line) for batch in self.batches for line in batch.lines]
        self.labels = []
        for batch in self.batches:
            values, starts = batch.X.labels, batch.X.label_starts()
            self.labels += [values[a:b].tolist() for a, b in itertools.pairwise(starts)]

    @property
    def width(self):
        return self.batches[-1].X.width

    @property
    def weights(self):
        return None if self.batches[0].weights is None else self.batches[0].weights.tolist()

    def matrix(self):
        parts = []
        for batch in self.batches:
            values, columns, starts, _ = batch.X.csr()
            for row in range(len(batch)):
                assert (np.diff(columns[starts[row] : starts[row + 1]]) > 0).all()
            parts.append(sp.csr_array((values, columns, starts), shape=(len(batch), self.width)))
        return sp.vstack(parts, format="csr")

    def dense(self):
        return self.matrix().toarray()

    def dicts(self):
        """Each row as {name: value}."""
        return [
            {n: v for n, v in zip(self.names, row, strict=True) if v != 0} for row in self.dense().tolist()
        ]


@pytest.fixture
def read(tmp_path):
    return lambda data, **options: Text(tmp_path / "train.vw", data, **options)


def test_grammar_is_read(read):
    text = read(
        "1 | a b:2\n"
        "-1.5 2 'tag |n x y:0.5 |m:10 x:3 |n z\n"
        "|n y\n"
        "\n"
        "2,3,4 0.25 id|a^b c |d|e f\r\n"
        "0 | a:1e-2 a:1 a:-.5\t\tb:0\n"
        "  1   3   |  spaced   out  "
    )
    assert text.labels == [[1], [-1.5], [], [2, 3, 4], [0], [1]]
    assert text.lines == [1, 2, 3, 5, 6, 7]
    assert text.weights == [1, 2, 1, 0.25, 1, 3]
    assert text.dicts() == [
        {"a": 1, "b": 2},
        {"n^x": 1, "n^y": 0.5, "m^x": 30, "n^z": 1},
        {"n^y": 1},
        {"a^b^c": 1, "e^f": 1},
        {"a": pytest.approx(0.51, abs=1e-15)},
        {"spaced": 1, "out": 1},
    ]
    assert text.names == ["a", "b", "n^x", "n^y", "m^x", "n^z", "a^b^c", "e^f", "spaced", "out"]
    assert text.source.settings == {"hash_bits": None, "keep": [], "drop": [], "interactions": []}


def test_word_that_touches_the_bar_is_a_tag(read):
    assert read("1|a b\n1 2|a b\n'x|a b\n1 'y | b\n").labels == [[], [1], [], [1]]


def test_batch_without_weights_has_none(read):
    assert read("1 | a\n1 'tag | a\n").weights is None
    # nor if the only line with a weight is rejected after its weight was read (found by fuzzing)
    text = read("1 | a\n1 2 | a a a a a a a a\n1 | b\n", max_line=15, bad=BadLines(skip=True))
    assert (text.lines, text.weights) == ([1, 3], None)


BAD = [
    ("x | a", 1, '"x" is not a number'),
    ("nan | a", 1, '"nan" is not a number'),
    ("1, | a", 3, '"" is not a number'),
    ("1:2 | a", 2, 'a space was expected after the label, not ":2"'),
    ("1 x | a", 3, '"x" is not a number'),
    ("1 -1 | a", 3, 'the importance is "-1": it must not be negative'),
    ("1 1:3 | a", 4, 'a space was expected after the importance, not ":3"'),
    ("1 1 0.5 | a", 5, r'"\|" or a tag was expected, not "0.5": initial predictions are not supported'),
    ("1 'tag 2 | a", 8, r'"\|" was expected after the tag'),
    ("1", 2, r'"\|" was expected before the features'),
    ("1 2 'a", 7, r'"\|" was expected after the tag'),
    ("1 |:2 a", 4, 'the name of a namespace was expected before ":"'),
    ("1 |n:x a", 6, '"x" is not a number'),
    ("1 |n:1:2 a", 7, 'a space was expected after the scale, not ":2"'),
    ("1 | :2", 5, 'the name of a feature was expected before ":"'),
    ("1 | a:", 7, '"" is not a number'),
    ("1 | a:1e", 7, '"1e" is not a number'),
    ("1 | a:inf", 7, '"inf" is not a number'),
    ("1 | a:1e999", 7, '"1e999" is too large for float64'),
    ("1 | a:1:2", 8, 'a space was expected after the value, not ":2"'),
    ("1 | a:1x", 8, 'a space was expected after the value, not "x"'),
    ("1 |n:1e300 b a:1e300", 14, 'the value of "a:1e300" is too large for float64'),
    ("1 | a:1e308 a:1e308", 1, "the values of a feature that is repeated add up to more than float64 holds"),
    (b"1 | ok \xff", 8, r'the name "\\xff" is not UTF-8'),
    (b"1 | \xed\xa0\x80", 5, r'the name "\\xed\\xa0\\x80" is not UTF-8'),
    (b"1 |\xc3( a", 4, r'the name "\\xc3\(" is not UTF-8'),
    (b"\x00 | a", 1, r'"\\x00" is not a number'),
]


@pytest.mark.parametrize(("line", "column", "reason"), BAD, ids=[f"{line[:20]!r}" for line, _, _ in BAD])
@pytest.mark.parametrize("after", [b"\n", b"\n1 | a\n", b"", b"\n" + b"1 | a b:0.5 c:1.25\n" * 9])
def test_bad_lines_are_reported_with_place_and_reason(read, line, column, reason, after):
    line = line if isinstance(line, bytes) else line.encode()
    data = b"1 | first\n\n" + line + after
    with pytest.raises(InputError, match=f"train.vw:3: {column}: {reason}") as caught:
        read(data)
    assert (caught.value.line, caught.value.column) == (3, column)
    bad = BadLines(skip=True)
    text = read(data, bad=bad)
    good = [1, *range(4, 4 + after.count(b"|"))]
    assert (bad.count, text.lines) == (1, good)
    assert text.names == ["first", *(["a"] if b"a" in after else []), *(["b", "c"] if b"c" in after else [])]
    with pytest.raises(InputError, match="the first of 1 that cannot be read; 0 may be skipped"):
        read(data, bad=BadLines(skip=True, most=0))


def test_line_with_too_many_features_is_rejected(read):
    data = "1 | a b\n1 | c d e\n1 | b a\n"
    with pytest.raises(InputError, match='vw:2: 9: the feature "e" is new, and there are already 4 features'):
        read(data, max_features=4)
    text = read(data, max_features=4, bad=BadLines(skip=True))
    assert (text.names, text.lines, text.width) == (["a", "b"], [1, 3], 2)


def test_long_lines_are_rejected_or_skipped(read):
    long = "1 | " + "a " * 200_000
    with pytest.raises(InputError, match=r"vw:2: 101: the line is longer than 100 bytes \(max_line\)"):
        read(f"1 | b\n{long}\n1 | c\n", max_line=100)
    bad = BadLines(skip=True)
    text = read(f"1 | b\n{long}\n1 | c\n{long}", bad=bad, max_line=100)
    assert (text.names, text.lines, bad.count) == (["b", "c"], [1, 3], 2)
    text = read(f"{long}\n")
    assert text.dicts() == [{"a": 200_000}]


def test_names_may_be_any_text(read):
    names = ["ä", "日本", "\U0001f600", "a\x00b", "a,b", "^", "#"]
    text = read("1 |größe " + " ".join(names) + "\n")
    assert text.dicts() == [{f"größe^{name}": 1 for name in names}]


# ---- names, hashing, dicts


names = st.text(
    st.characters(exclude_characters=" \t\r\n:|", exclude_categories=["Cs"]), min_size=1, max_size=5
)
numbers = st.floats(-100, 100).map(lambda value: value + 0.0)
rows = st.lists(st.dictionaries(names, numbers, max_size=8), min_size=1, max_size=8)


def written(events):
    return "".join(
        f"{i % 2} | " + " ".join(f"{name}:{value!r}" for name, value in event.items()) + "\n"
        for i, event in enumerate(events)
    )


@given(rows, st.integers(1, 12))
@settings(deadline=None, max_examples=60)
def test_names_are_hashed_as_dicts_are(tmp_path_factory, events, bits):
    text = Text(tmp_path_factory.mktemp("vw") / "a.vw", written(events), hash_bits=bits)
    assert text.width == 2**bits
    assert text.names == []
    np.testing.assert_allclose(
        text.dense(), FeatureHasher(2**bits).transform(events).toarray(), rtol=1e-12, atol=1e-12
    )
    learned = Learner("classification", classes=[0, 1], hash_bits=bits)
    fed = Learner("classification", classes=[0, 1])
    for i, event in enumerate(events):
        learned.learn_one(event, i % 2)
    fed.learn_many(text.matrix(), np.arange(len(events)) % 2)
    np.testing.assert_array_equal(learned.weights, fed.weights)
    assert learned.statistics == fed.statistics


@given(rows)
@settings(deadline=None, max_examples=60)
def test_names_get_columns_in_order_of_appearance(tmp_path_factory, events):
    text = Text(tmp_path_factory.mktemp("vw") / "a.vw", written(events))
    events = [{name: value for name, value in event.items() if value != 0} for event in events]
    assert text.dicts() == events
    assert text.names == list(dict.fromkeys(name for event in events for name in event))
    if text.names:
        learned, fed = (Learner("classification", classes=[0, 1]) for _ in range(2))
        for i, event in enumerate(events):
            learned.learn_one(event, i % 2)
        fed.learn_many(text.matrix(), np.arange(len(events)) % 2)
        assert list(learned.named_weights().values()) == fed.weights.tolist()


def test_names_of_the_model_come_first_and_last_across_files(read):
    source = VowpalText(names=["known", 7, "b"])
    first = read("1 | a b 7\n", source=source)
    assert first.names == ["a", "7"]
    assert first.batches[0].X.csr()[1].tolist() == [2, 3, 4]
    second = read("1 | c a known\n", source=source)
    assert (second.names, second.width) == (["c"], 6)
    assert second.batches[0].X.csr()[1].tolist() == [0, 3, 5]
    with pytest.raises(ValueError, match="occurs twice"):
        VowpalText(names=["a", "b", "a"])


def test_unknown_names_are_ignored_if_the_vocabulary_is_fixed(read):
    text = read("1 | a:2 x:3 x:1 b y:2\n0 | b\n0 |n a\n", names=["a", "b"], grow=False)
    assert text.names == []
    assert text.dense().tolist() == [[2, 1], [0, 1], [0, 0]]
    assert text.batches[0].X.unseen_squares(text.width).tolist() == [20, 0, 1]
    text = read("1 | b c d e f\n", names=["a", "b"], grow=False, max_features=2)
    assert text.batches[0].X.unseen_squares(text.width).tolist() == [4]


def test_large_vocabulary_keeps_its_order(read):
    events = [[f"n{i * j % 5000}" for j in range(1, 40)] for i in range(2000)]
    text = read("".join("1 | " + " ".join(event) + "\n" for event in events))
    expected = dict.fromkeys(name for event in events for name in event)
    assert text.names == list(expected)
    places = {name: column for column, name in enumerate(expected)}
    sums = np.zeros(len(places))
    for event in events:
        for name in event:
            sums[places[name]] += 1
    np.testing.assert_array_equal(text.dense().sum(axis=0), sums)


# ---- any bytes, any pieces


def outcome(pieces, skip, options):
    from hinge import InputError

    reader = VowpalTextReader(**{"hash_bits": 0, "max_features": 9, "grow": True, "max_line": 60} | options)
    reader.restart(skip=skip)
    try:
        for piece in pieces:
            reader.read(piece)
        reader.finish()
    except InputError as error:
        return error.line, error.column, error.reason
    read = reader.take()
    shown = read and [
        [part.tolist() if isinstance(part, np.ndarray) else part for part in read.csr()],
        read.label_list(), read.lines.tolist(), read.weights is None or read.weights.tolist(), read.new_names,
    ]  # fmt: skip
    return shown, reader.bad_lines(), reader.lines


@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                [b" ", b"\n", b"|", b":", b"1", b"0.5", b"a", b"b", b"'t", b",", b"\xff", b"\0", b"\r"]
            ),
            st.binary(max_size=4),
        ),
        max_size=60,
    ).map(b"".join),
    st.lists(st.integers(0, 200), max_size=5),
    st.booleans(),
    st.sampled_from([{}, {"hash_bits": 3}, {"grow": False}]),
)
@example(b"1 |" + b" a" * 40 + b"\n1 | b\n", [50, 70], True, {})
@settings(deadline=None)
def test_any_bytes_in_any_pieces_give_the_same_result(data, cuts, skip, options):
    at = sorted(min(cut, len(data)) for cut in cuts)
    pieces = [memoryview(data)[a:b] for a, b in zip([0, *at], [*at, len(data)], strict=True)]
    assert outcome(pieces, skip, options) == outcome([data], skip, options)


# ---- files, pipes, options, threads


def test_reader_rejects_invalid_options_and_text():
    with pytest.raises(ValueError, match="at most 30"):
        VowpalTextReader(hash_bits=64, max_features=1, grow=True, max_line=1)
    with pytest.raises(TypeError):
        VowpalTextReader(hash_bits=0, max_features=1, grow=True, max_line=1).read("text")


def test_source_reads_one_file_at_a_time(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 | a\n")
    source = VowpalText()
    first = source.batches(Input(path), BadLines())
    next(first)
    with pytest.raises(RuntimeError, match="still reading another file"):
        next(source.batches(Input(path), BadLines()))
    first.close()
    assert len(list(source.batches(Input(path), BadLines()))) == 1


def test_arrays_outlive_the_reader(read):
    text = read("".join(f"1 | a{i}:{i}\n" for i in range(1, 200_000)))
    del text.source
    values = np.concatenate([batch.X.csr()[0] for batch in text.batches])
    assert len(text.batches) > 1
    np.testing.assert_array_equal(values, np.arange(1, 200_000))
