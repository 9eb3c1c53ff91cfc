"""Sentences of column files as batches: features, tags, and what is rejected."""

from __future__ import annotations

import pytest

from hinge import InputError, PASequence
from hinge.streams.batches import BadLines
from hinge.streams.files import Input
from hinge.streams.formats.conll import ConllColumns, default_templates
from hinge.structured.templates import CHUNKING, Templates
from stream_files import PACK, Endless, again, read, rejection, skipped, written

TEXT = "The DT B-NP\ncat NN I-NP\n\nIt PRP B-NP\nsat VBD B-VP\n. . O\n"
WORDS = ["word[0]", "pos[0]"]
X = [
    [["word[0]=The", "pos[0]=DT"], ["word[0]=cat", "pos[0]=NN"]],
    [["word[0]=It", "pos[0]=PRP"], ["word[0]=sat", "pos[0]=VBD"], ["word[0]=.", "pos[0]=."]],
]
TAGS = [["B-NP", "I-NP"], ["B-NP", "B-VP", "O"]]


def test_sentences_are_features_and_tags(tmp_path):
    path = written(tmp_path, TEXT, "t.conll")
    source = ConllColumns(templates=WORDS)
    assert read(source, path) == (X, TAGS, [1, 4])
    path = written(tmp_path, TEXT + "\n", "t.conll")
    (batch,) = source.batches(Input(path), BadLines())
    assert [sentence.columns for sentence in batch.sentences] == [
        {"word": ["The", "cat"], "pos": ["DT", "NN"]},
        {"word": ["It", "sat", "."], "pos": ["PRP", "VBD", "."]},
    ]
    assert batch.position == len(TEXT) + 1
    assert source.settings["columns"] == ["word", "pos", "tag"]
    assert again(source).settings == source.settings


@pytest.mark.parametrize(
    ("line", "columns"),
    [
        ("a x", ["word", "tag"]),
        ("a x x", ["word", "pos", "tag"]),
        ("a x x x", ["word", "pos", "chunk", "tag"]),
        ("a x x x x", ["word", "column2", "column3", "column4", "tag"]),
    ],
)
def test_default_column_names_depend_on_their_number(tmp_path, line, columns):
    source = ConllColumns()
    ((tokens,), _, _) = read(source, written(tmp_path, line, "t.conll"))
    assert source.settings["columns"] == columns
    assert {f"{name}[0]=x" for name in columns[1:-1]} <= set(tokens[0])
    assert not any("tag" in feature for feature in tokens[0])


def test_default_templates_have_words_shapes_and_the_other_columns():
    templates = default_templates(["word", "pos"])
    assert set(CHUNKING.names) <= set(templates.names)
    assert {"suffix(word,3)[0]", "brief_shape(word)[-1]", "lower(word)[0]"} <= set(templates.names)
    assert default_templates(["token"]).columns == ["token"]


def test_what_is_read_can_be_learned(tmp_path):
    source = ConllColumns()
    found, tags, _ = read(source, written(tmp_path, TEXT, "t.conll"))
    model = PASequence(random_state=0).fit(found, tags)
    assert model.predict(found) == tags


def test_templates_can_be_given_by_name(tmp_path):
    path = written(tmp_path, TEXT, "t.conll")
    assert read(ConllColumns(templates="chunking"), path) == read(ConllColumns(templates=CHUNKING), path)
    source = ConllColumns(templates="chunking")
    assert Templates(source.settings["templates"]) == CHUNKING
    with pytest.raises(ValueError, match="there are no templates 'none'"):
        ConllColumns(templates="none")


def test_tag_column_may_be_absent_or_elsewhere(tmp_path):
    source = ConllColumns(templates=WORDS)
    read(source, written(tmp_path, TEXT, "t.conll"))
    bare = written(tmp_path, "The DT\ncat NN\n\nIt PRP\n", "u.conll")
    for same in (source, again(source)):
        assert read(same, bare) == ([X[0], X[1][:1]], [None, None], [1, 4])
    assert rejection(source, written(tmp_path, "The DT\n\nIt PRP B\n", "u.conll")) == (
        "3: 2 columns were expected, there are 3"
    )
    by_name = ConllColumns(columns="word tag pos", tag="tag", templates=WORDS)
    assert read(by_name, written(tmp_path, "The B-NP DT\n", "u.conll"))[:2] == ([X[0][:1]], [["B-NP"]])
    by_place = ConllColumns(tag=0, templates=["pos[0]"], columns="tag pos")
    assert read(by_place, written(tmp_path, "B-NP DT\n", "u.conll"))[:2] == ([[["pos[0]=DT"]]], [["B-NP"]])
    without = ConllColumns(tag=False, templates=["word[0]"])
    assert read(without, written(tmp_path, "The\n", "u.conll"))[:2] == ([[["word[0]=The"]]], [None])
    assert read(again(without), written(tmp_path, "The\n", "u.conll"))[:2] == ([[["word[0]=The"]]], [None])


def test_options_of_read_columns_are_accepted(tmp_path):
    text = "# a comment\n-DOCSTART-,X,O\n\nNew York,,B\n\n# x\nb,c,O"
    source = ConllColumns(separator=",", comments=True, docstart=True, templates=["word[0]"])
    expected = ([[["word[0]=New York"]], [["word[0]=b"]]], [["B"], ["O"]], [4, 7])
    for same in (source, again(source)):
        assert read(same, written(tmp_path, text, "t.conll")) == expected
        assert read(same, written(tmp_path, text.replace("\n", "\r\n"), "t.conll")) == expected
        assert read(same, written(tmp_path, "\ufeff" + text, "t.conll")) == expected


def test_universal_dependencies(tmp_path):
    words = [
        ("1-2", "du", "_"),
        ("1", "de", "ADP"),
        ("2", "le", "DET"),
        ("3", "vin", "NOUN"),
        ("3.1", "x", "_"),
    ]
    rows = ["# text = du vin", *(f"{k}\t{word}\t_\t{tag}" + "\t_" * 6 for k, word, tag in words)]
    source = ConllColumns()
    ((sentence,), tags, lines) = read(source, written(tmp_path, "\n".join(rows) + "\n\n", "t.conllu"))
    assert tags == [["ADP", "DET", "NOUN"]]
    assert lines == [3]
    assert "word[1]=le" in sentence[0]
    assert not any("upos" in feature for token in sentence for feature in token)
    compressed = written(tmp_path, PACK[".gz"]("\n".join(rows).encode()), "t.conllu.gz")
    assert read(ConllColumns(), compressed)[1] == tags
    assert read(again(source), compressed)[1] == tags


def test_lines_are_counted_across_batches(tmp_path):
    sentences = [[f"w{k}-{t} T{t}" for t in range(k % 5 + 1)] for k in range(3000)]
    text = "\n\n".join("\n".join(sentence) for sentence in sentences)
    source = ConllColumns(templates=["word[0]"])
    found, tags, lines = read(source, written(tmp_path, text, "t.conll"))
    assert found == [[[f"word[0]=w{k}-{t}"] for t in range(k % 5 + 1)] for k in range(3000)]
    assert [len(sentence) for sentence in tags] == [k % 5 + 1 for k in range(3000)]
    starts = [1]
    for k in range(2999):
        starts.append(starts[-1] + k % 5 + 2)
    assert lines == starts
    sizes = [len(batch) for batch in source.batches(Input(tmp_path / "t.conll"), BadLines())]
    assert max(sizes) <= 1000


def test_byte_order_mark_within_a_file_is_a_character(tmp_path):
    """Only the first batch may skip it."""
    text = "a x\n\n" * 499 + "a x\n\n" + "\ufeffb x\n\n"
    found = read(ConllColumns(templates=["word[0]"]), written(tmp_path, text, "t.conll"))[0]
    assert found[-1] == [["word[0]=\ufeffb"]]


# ---- what is rejected -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("a b c\nd e\n", {}, "2: 3 columns were expected, there are 2"),
        ("\n\na\n", {}, "3: there is one column: words and their tags were expected"),
        ("a b\n", {"tag": "pos"}, "1: there is no column tag='pos': there are 'word', 'tag'"),
        ("a b\n", {"tag": 2}, "1: there is no column tag=2: there are 'word', 'tag'"),
        ("a b\n", {"templates": ["tag[0]"]}, "1: the templates read the column 'tag', which is the tag"),
        ("a b\n", {"templates": ["pos[0]"]}, "1: the templates read the column 'pos': there are 'word', 'tag'"),
        ("a b c\n", {"columns": "word tag"}, "1: 1 to 2 columns were expected, there are 3"),
        ("a b\n\nc \0\n", {}, "3: there is a zero byte: not utf-8, or not a text"),
        ("a b\nc\rd e\n", {}, "2: there is a line break within the line"),
        ("\n" + "a b\n" * 6, {"max_sentence": 5}, "7: the sentence of line 2 has more than max_sentence=5 tokens: "
         "are there no blank lines?"),
    ],
)  # fmt: skip
def test_invalid_input_is_reported_with_its_place(tmp_path, text, options, expected):
    assert rejection(ConllColumns(**options), written(tmp_path, text, "t.conll")) == expected


def test_only_invalid_sentences_are_skipped(tmp_path):
    text = b"a A\nb B\n\nc C\nd\ne E\n\nf F\n\ng \xff\n\nh\n\ni I\n"
    (found, tags, lines), errors = skipped(
        ConllColumns(templates=["word[0]"]), written(tmp_path, text, "t.conll")
    )
    assert found == [[["word[0]=a"], ["word[0]=b"]], [["word[0]=f"]], [["word[0]=i"]]]
    assert tags == [["A", "B"], ["F"], ["I"]]
    assert lines == [1, 8, 14]
    assert errors == [
        "5: 2 columns were expected, there is 1",
        "10: not utf-8: byte 0xff (invalid start byte)",
        "12: 2 columns were expected, there is 1",
    ]


def test_file_without_blank_lines_does_not_fill_the_memory(tmp_path):
    path = written(tmp_path, "a b\n" * 20_000, "t.conll")
    assert "has more than max_sentence=5000 tokens" in rejection(ConllColumns(max_sentence=5000), path)
    assert len(read(ConllColumns(), path)[0][0]) == 20_000
    with pytest.raises(InputError, match="more than max_sentence=100 tokens"):
        next(ConllColumns(max_sentence=100).batches(Endless(b"a b\n" * 10, most=10_000), BadLines()))
