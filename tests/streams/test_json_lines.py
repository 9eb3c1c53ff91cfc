"""JSON lines and texts: what is read, and what is rejected with which place."""

from __future__ import annotations

import json
import math
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hinge import InputError, Learner
from hinge._core import Texts
from hinge.features.words import weighted
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.json_lines import JsonLines
from stream_files import again, read, rejection, skipped, written


def lines(folder, *records, name="events.jsonl"):
    texts = [record if isinstance(record, str) else json.dumps(record) for record in records]
    return written(folder, "".join(text + "\n" for text in texts), name)


def features(folder, record, **options):
    """The features of one record, to which a label is added."""
    X, _, _ = read(JsonLines(**options), lines(folder, {"label": 1, **record}))
    return X[0]


# ---- what is read -----------------------------------------------------------------------------------------------


def test_fields_are_features(tmp_path):
    path = lines(tmp_path, {"label": "a", "x1": 1.5, "color": "red"}, "", {"x2": True, "label": "b"})
    X, labels, numbers = read(JsonLines(), path)
    assert X == [{"x1": 1.5, "color": "red"}, {"x2": True}]
    assert type(X[1]["x2"]) is bool
    assert labels == ["a", "b"]
    assert numbers == [1, 3]


def test_what_is_read_can_be_learned(tmp_path):
    path = lines(
        tmp_path, {"y": "a", "v": 1, "w": {"u": [1, 2]}, "s": ["p", "q"]}, {"y": "b", "v": 2.5, "t": "x"}
    )
    learner = Learner("classification")
    for batch in JsonLines().batches(Input(path), BadLines()):
        learner.learn_many(batch.X, batch.labels)
    assert learner.statistics.rounds == 2
    assert set(learner.feature_names) == {"v", "w.u[0]", "w.u[1]", "s=p", "s=q", "t=x"}


def test_first_object_with_a_label_decides_its_field(tmp_path):
    source = JsonLines()
    path = lines(tmp_path, {"y": 1, "v": 1}, {"label": 2, "v": 2}, {"label": 0, "y": 3})
    assert read(source, path)[:2] == ([{"v": 1}, {"label": 2, "v": 2}, {"label": 0}], [1, None, 3])
    unlabelled = JsonLines()
    assert read(unlabelled, lines(tmp_path, {"v": 1}, {"label": 2}))[:2] == ([{"v": 1}, {}], [None, 2])
    assert read(again(unlabelled), lines(tmp_path, {"y": 2}))[:2] == ([{"y": 2}], [None])


def test_empty_name_is_not_a_label(tmp_path):
    assert read(JsonLines(label="topic"), lines(tmp_path, {"topic": "", "v": 1}))[1] == [None]


@pytest.mark.parametrize("label", ["a", 3, 0.5, True, None, ["a", "b"], [1, 2], []])
def test_labels(tmp_path, label):
    _, labels, _ = read(JsonLines(label="topic"), lines(tmp_path, {"topic": label, "v": 1}))
    assert labels == [label]
    assert type(labels[0]) is type(label)


def test_features_may_be_in_a_nested_object(tmp_path):
    assert features(tmp_path, {"id": 7, "features": {"v": 1, "w": {"u": 2}}}) == {"v": 1, "w.u": 2}
    assert features(tmp_path, {"id": 7, "x": {"v": 1}}) == {"v": 1}
    assert features(tmp_path, {"v": 7, "x": [3, 4]}) == {"v": 7, "x[0]": 3, "x[1]": 4}


def test_nested_objects_are_flattened(tmp_path):
    record = {
        "a": {"b": {"c": 1}, "d": None},
        "n": None,
        "l": [1, None, 2.5],
        "s": ["u", "v", None],
        "e": [],
        "f": {},
    }
    assert features(tmp_path, record) == {"a.b.c": 1, "l[0]": 1, "l[2]": 2.5, "s=u": 1.0, "s=v": 1.0}


def test_fields_can_be_dropped_or_give_the_weight(tmp_path):
    assert features(tmp_path, {"id": 7, "v": 1, "t": 0}, drop=["id", "t", "none"]) == {"v": 1}
    path = lines(tmp_path, {"y": 1, "w": 2, "v": 3}, {"y": 1, "w": 0.5, "v": 3})
    (batch,) = JsonLines(weight="w").batches(Input(path), BadLines())
    assert batch.X == [{"v": 3}] * 2
    np.testing.assert_array_equal(batch.weights, [2.0, 0.5])
    (batch,) = JsonLines().batches(Input(path), BadLines())
    assert batch.weights is None


def test_batches_of_long_lines_have_few_examples(tmp_path):
    wide = lines(tmp_path, *({"y": k, "v": "x" * 300_000} for k in range(10)))
    sizes = [len(batch) for batch in JsonLines().batches(Input(wide), BadLines())]
    assert sum(sizes) == 10
    assert max(sizes) <= 4


# ---- texts ------------------------------------------------------------------------------------------------------


def test_words_are_those_of_scikit_learn():
    from sklearn.feature_extraction.text import CountVectorizer

    text = "I can't, über-cool naïve_x 42 3.14 a I'm x2 ΣΑΣ don_t 北京 don't! ab"
    analyze = CountVectorizer(ngram_range=(1, 3)).build_analyzer()
    assert sorted(Texts(most=3).terms(text)) == sorted(analyze(text))


@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
@pytest.mark.parametrize("sizes", [(1, 1), (1, 3), (2, 4), (4, 5)])
@pytest.mark.parametrize("lowercase", [True, False])
@settings(deadline=None, max_examples=30)
@given(st.text(st.sampled_from("aBcß_7 .İéΣ北\U0001f600'-"), max_size=25))
def test_terms_are_those_of_scikit_learn(analyzer, sizes, lowercase, text):
    from sklearn.feature_extraction.text import CountVectorizer

    analyze = CountVectorizer(analyzer=analyzer, ngram_range=sizes, lowercase=lowercase).build_analyzer()
    found = Texts(analyzer=analyzer, least=sizes[0], most=sizes[1], lowercase=lowercase).terms(text)
    assert sorted(found) == sorted(analyze(text))


def bag_of_words(text, ngrams=1):
    return weighted([Texts(most=ngrams).terms(text)])


def test_text_has_length_ten_and_counts_each_word_once():
    assert bag_of_words("b2 to be TO be a", 1) == dict.fromkeys(["b2", "to", "be"], 10 / math.sqrt(3))
    assert set(bag_of_words("to be or", 3)) == {"to", "be", "or", "to be", "be or", "to be or"}
    assert bag_of_words("") == bag_of_words("a . !") == {}


def test_words_over_100_letters_are_ignored():
    assert list(bag_of_words("x" * 101 + " " + "y" * 100)) == ["y" * 100]


def test_fields_of_a_text_have_equal_weight():
    bag = weighted([["a"], ["a", "b", "c", "d"]])
    raw = {"a": 1.5, "b": 0.5, "c": 0.5, "d": 0.5}
    norm = math.sqrt(3.0)
    assert bag == pytest.approx({word: 10 * value / norm for word, value in raw.items()}, rel=1e-15)


def test_text_fields_become_words(tmp_path):
    path = lines(
        tmp_path, {"label": "a", "t": "To be", "u": 5}, {"label": "b", "t": ["Be", "x"]}, {"t": None}
    )
    X, labels, _ = read(JsonLines(text="t"), path)
    root = 10 / math.sqrt(2)
    assert [{"t=to": root, "t=be": root, "u": 5}, {"t=Be": root, "t=x": root}, {}] == X
    assert labels == ["a", "b", None]
    both = lines(tmp_path, {"label": "a", "t": "to", "u": "be"}, {"label": "b", "u": "or"})
    assert read(JsonLines(text=["t", "u"]), both)[0] == [{"t+u=to": root, "t+u=be": root}, {"t+u=or": 10.0}]
    assert list(read(JsonLines(text="t", ngrams=2), lines(tmp_path, {"t": "to be"}))[0][0]) == [
        "t=to",
        "t=be",
        "t=to be",
    ]


def test_invalid_text_fields_are_rejected(tmp_path):
    source = JsonLines(text="body", label="y")
    assert rejection(source, lines(tmp_path, {"text": "a", "y": 1})) == (
        "1: there is no field 'body' (text): there are 'text', 'y'"
    )
    assert rejection(source, lines(tmp_path, {"y": 1, "body": 5})) == (
        "1: 10: feature 'body': a text or a list of words was expected, not 5"
    )
    assert rejection(source, lines(tmp_path, {"y": 1, "body": ["a", 5]})) == (
        "1: 10: feature 'body': a text or a list of words was expected, not ['a', 5]"
    )


# ---- what is rejected -------------------------------------------------------------------------------------------

TRAILING_COMMA = (  # the message depends on the version of Python
    '9: not JSON: illegal trailing comma before end of object, there is ",}"'
    if sys.version_info >= (3, 13)
    else '10: not JSON: expecting property name enclosed in double quotes, there is "}"'
)
WRONG = [
    ('{"a": 1', "8: not JSON: expecting ',' delimiter, there is the end of the line"),
    ('{"é": 1,}', TRAILING_COMMA),
    ('{"a": 1} x', '10: not JSON: extra data, there is "x"'),
    ("label 1:2", '1: not JSON: expecting value, there is "label 1:2"'),
    ('{"a": 1e}', "8: not JSON: expecting ',' delimiter, there is \"e}\""),
    ("[1, 2]", "an object, {...}, was expected, there is [1, 2]"),
    ("7", "an object, {...}, was expected, there is 7"),
    ('{"a": NaN}', "7: NaN is not a finite number: null is for what is missing"),
    ('{"NaN": -Infinity}', "9: -Infinity is not a finite number: null is for what is missing"),
    ('{"b": 0, "a": 1e999}', "10: feature 'a': the value is infinity (inf)"),
    ('{"a": [1, -1e999]}', "2: feature 'a[1]': the value is infinity (inf)"),
    ('{"a": 1%s}' % ("0" * 400), "2: feature 'a': the value is too large for float64"),
    ('{"a": 1%s}' % ("0" * 5000), "there is a number with thousands of digits"),
    ('{"a": 1, "b": 2, "a": 3}', '18: the field "a" occurs 2 times'),
    ('{"a": 1, "b": {"c": 2, "c": 3}}', '24: the field "c" occurs 2 times'),
    ('{"a": 1, "a" : ":"}', '10: the field "a" occurs 2 times'),
    ('{"a": [1, "b"]}', "2: feature 'a': a list of numbers or of strings was expected, there is 'b' in it"),
    ('{"a": [true]}', "2: feature 'a': a list of numbers or of strings was expected, there is True in it"),
    ('{"a": [[1]]}', "2: feature 'a': a list of numbers or of strings was expected, there is [1] in it"),
    ('{"label": {"b": 1}}', '2: a string, a number, true, false or a list of them was expected for the label, '
     'there is {"b": 1}'),
    ('{"label": [null]}', "2: a string, a number, true, false or a list of them was expected for the label, "
     "there is null"),
    ('{"label": 1e999}', "2: a string, a number, true, false or a list of them was expected for the label, "
     "there is a number beyond 1.8e308"),
    ('{"a": "\\ud800"}', "there is half of a surrogate pair (\\ud800 to \\udfff)"),
    ("[" * 100_000, "objects and lists are nested too deep"),
    ('{"a":' * 30 + "1" + "}" * 30, "147: feature 'a" + ".a" * 20 + "': objects in more than 20 objects"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), WRONG, ids=range(len(WRONG)))
def test_invalid_input_is_reported_with_its_place(tmp_path, text, expected):
    path = lines(tmp_path, {"label": 1, "v": 1}, text, {"label": 2, "v": 2})
    assert rejection(JsonLines(), path) == f"2: {expected}"
    assert skipped(JsonLines(), path) == (([{"v": 1}, {"v": 2}], [1, 2], [1, 3]), [f"2: {expected}"])


def test_surrogate_pairs_are_characters(tmp_path):
    assert features(tmp_path, {"v": "\U0001f600"}) == {"v": "\U0001f600"}  # json.dumps writes a pair


@pytest.mark.parametrize("weight", [-1, None, "2", True, math.inf])
def test_invalid_weights_are_rejected(tmp_path, weight):
    text = rejection(JsonLines(weight="w"), lines(tmp_path, {"v": 1, "w": weight}))
    if weight == math.inf:
        assert text == "1: 15: Infinity is not a finite number: null is for what is missing"
    else:
        assert text == f'1: 10: a weight of 0 or more was expected in "w", there is {json.dumps(weight)}'


def test_named_fields_must_exist(tmp_path):
    source = JsonLines(weight="w", label="topic")
    path = lines(tmp_path, {"v": 1, "w": 2}, {"w": 1, "v": 2}, {"v": 3})
    assert rejection(source, path) == '1: there is no field "topic" (--label): there are "v", "w"'
    many = lines(tmp_path, *[{"v": 1, "w": 2}] * 3000)
    batches = JsonLines(label="topic").batches(Input(many), BadLines())
    assert len(next(batches)) == 1000
    with pytest.raises(InputError, match='1: there is no field "topic"'):  # before the end of the file
        next(batches)
    path = lines(tmp_path, {"topic": 1, "v": 2}, {"topic": 1, "w": 3, "v": 3}, {"v": 4})
    bad = BadLines(skip=True)
    (batch,) = JsonLines(weight="w", label="topic").batches(Input(path), bad)
    assert (batch.X, batch.labels, batch.lines) == ([{"v": 3}, {"v": 4}], [1, None], [2, 3])
    np.testing.assert_array_equal(batch.weights, [3.0, 1.0])
    assert str(bad.first[0]).endswith(':1: there is no field "w" (--weight): there are "topic", "v"')


def test_examples_without_a_label(tmp_path):
    records = [{"v": 1}, {"v": 2, "topic": None}, {"v": 3, "topic": ""}, {"v": 4, "topic": "a"}, {"v": 5}]
    for source in (JsonLines(label="topic"), JsonLines()):
        named = "topic" if source.label else "label"
        path = lines(tmp_path, *[{named if k == "topic" else k: v for k, v in r.items()} for r in records])
        X, labels, _ = read(source, path)
        assert labels == [None, None, None, "a", None]
        assert [{"v": v} for v in (1, 2, 3, 4, 5)] == X
        assert read(again(source), lines(tmp_path, {"v": 1}))[:2] == ([{"v": 1}], [None])
    assert "empty name among the labels" in rejection(JsonLines(), lines(tmp_path, {"label": ["a", ""]}))


def test_lines_have_a_limit(tmp_path):
    record = json.dumps({"y": 1, "v": "x" * 80})
    for end in ("", "\n", "\r\n"):
        path = written(tmp_path, '{"y": 0}\n' + record + end, "a.jsonl")
        assert read(JsonLines(max_line=len(record)), path)[1] == [0, 1]
        expected = f"2: the line is longer than max_line={len(record) - 1} bytes"
        assert rejection(JsonLines(max_line=len(record) - 1), path, skip=True) == expected
    long = written(tmp_path, b'{"y": "' + b"x" * 2**24 + b'"}\n', "a.jsonl")
    assert rejection(JsonLines(), long, skip=True) == "1: the line is longer than max_line=16777216 bytes"
    fits = written(tmp_path, b'{"y": "' + b"x" * (2**24 - 9) + b'"}\n', "a.jsonl")
    assert len(read(JsonLines(), fits)[1][0]) == 2**24 - 9


# ---- anything at all --------------------------------------------------------------------------------------------

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.text(max_size=3), st.floats(-1e100, 1e100)),
    lambda inner: st.dictionaries(st.text("ab", max_size=2), inner, max_size=3),
    max_leaves=5,
)


@settings(deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from("pqr"), values, max_size=3), min_size=1, max_size=4))
def test_what_is_written_is_read(records):
    with tempfile.TemporaryDirectory() as folder:
        X, _, _ = read(JsonLines(), lines(Path(folder), *records))
    for x, record in zip(X, records, strict=True):
        found, expected = Learner("regression"), Learner("regression")
        found.learn_one(x, 1.0)
        expected.learn_one(record, 1.0)
        assert found.named_weights() == pytest.approx(expected.named_weights())
