"""Column files: what is read, its sources, what is rejected, and examples made of them."""

from __future__ import annotations

import bz2
import gc
import gzip
import io
import itertools
import lzma
import pickle
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hinge import InputError
from hinge.data.sentences import Sentence
from hinge.streams import files
from hinge.streams.formats.columns import examples, read_columns, read_examples
from stream_files import read_or_rejected

TEXT = "The DT B-NP\ncat NN I-NP\n\nIt PRP B-NP\nsat VBD B-VP\n. . O\n"
NAMES = ("word", "pos", "tag")
SENTENCES = [
    Sentence({"word": ["The", "cat"], "pos": ["DT", "NN"], "tag": ["B-NP", "I-NP"]}, 1),
    Sentence({"word": ["It", "sat", "."], "pos": ["PRP", "VBD", "."], "tag": ["B-NP", "B-VP", "O"]}, 4),
]
PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


def words_of(sentences):
    return [list(sentence.columns.values()) for sentence in sentences]


def words(text, **options):
    return words_of(read_columns(text.split("\n"), **options))


def written(folder, data, name="train.txt"):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def rejection(source, *arguments, **options):
    """The error, whose text has the file, the line and the reason."""
    with pytest.raises(InputError) as caught:
        list(read_columns(source, *arguments, **options))
    error = caught.value
    assert str(error) == f"{error.file}:{error.line}: {error.reason}"
    assert "\n" not in str(error)
    assert isinstance(error, ValueError)
    return error


# ---- what is read -----------------------------------------------------------------------------------------------


def test_sentences_have_named_columns_and_their_first_line(tmp_path):
    assert list(read_columns(written(tmp_path, TEXT), NAMES)) == SENTENCES
    assert [len(sentence) for sentence in SENTENCES] == [2, 3]


def test_columns_without_names_have_numbers():
    assert list(next(read_columns(TEXT.split("\n"))).columns) == ["0", "1", "2"]


@pytest.mark.parametrize("names", ["word pos tag", "word,pos,tag", " word, pos ,tag ", list(NAMES)])
def test_column_names_may_be_one_string(names):
    assert list(read_columns(TEXT.split("\n"), names)) == SENTENCES


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: text.rstrip("\n"),
        lambda text: text + "\n\n \n\t\n",
        lambda text: "\ufeff" + text,
        lambda text: text.replace(" ", "\t"),
        lambda text: text.replace(" ", " \t  "),
        lambda text: text.replace("\n", " \t\n"),
        lambda text: "".join(f"  {line}\n" for line in text.split("\n")),
    ],
    ids=["crlf", "no last end", "blank lines", "mark", "tabs", "runs", "spaces after", "spaces before"],
)
def test_line_ends_and_white_space_change_nothing(tmp_path, change):
    assert list(read_columns(written(tmp_path, change(TEXT)), NAMES)) == SENTENCES


def test_blank_lines_separate_sentences(tmp_path):
    assert [s.first_line for s in read_columns(["", "", "a", "", "", "b", "c", ""])] == [3, 6]
    assert list(read_columns(written(tmp_path, ""))) == []
    assert list(read_columns([])) == list(read_columns(["", " "])) == []


def test_only_spaces_and_tabs_separate():
    """A no-break space, an ideographic one, a line separator or a form feed is part of a word."""
    odd = "10\u00a0000 \u3000 a\u2028b c\x0cd\x1ce"
    assert words(odd) == [[["10\u00a0000"], ["\u3000"], ["a\u2028b"], ["c\x0cd\x1ce"]]]


def test_separator_allows_empty_fields():
    assert words("New York\t\tB\n\tx\tO", separator="\t") == [[["New York", ""], ["", "x"], ["B", "O"]]]
    assert words("a, b,c\n,,\nd,e,f", separator=",") == [[["a"], [" b"], ["c"]], [["d"], ["e"], ["f"]]]
    assert words("a\tb\n\t\n \nc\td", separator="\t") == [[["a"], ["b"]], [["c"], ["d"]]]
    assert rejection(["a\tb", "c\td\t"], separator="\t").reason == "2 columns were expected, there are 3"


def test_comments_are_words_by_default():
    text = "# # O\n1 2 3"
    assert words(text) == [[["#", "1"], ["#", "2"], ["O", "3"]]]
    assert words("# sent_id = 1\n" + text + "\n#\na b c", comments=True) == [
        [["1", "a"], ["2", "b"], ["3", "c"]]
    ]


def test_docstart_lines_can_be_skipped():
    text = "-DOCSTART- -X- O\n\na b O\n-DOCSTART-\nc d O"
    assert words(text, docstart=True) == [[["a"], ["b"], ["O"]], [["c"], ["d"], ["O"]]]
    assert rejection(text.split("\n")).line == 4
    assert words("-DOCSTART- x")[0][0] == ["-DOCSTART-"]


def test_last_columns_may_be_optional():
    assert list(next(read_columns(["a b c"], NAMES, optional=1)).columns) == ["word", "pos", "tag"]
    assert next(read_columns(["a b"], NAMES, optional=1)).columns == {"word": ["a"], "pos": ["b"]}
    assert rejection(["a b", "", "a b c"], NAMES, optional=1).reason == "2 columns were expected, there are 3"
    assert rejection(["a"], NAMES, optional=1).reason == "2 to 3 columns were expected, there is 1"


# ---- from where -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "opened",
    [
        str,
        Path,
        lambda path: path.open(encoding="utf-8"),
        lambda path: path.open("rb"),
        lambda path: path.open("rb", buffering=0),
        lambda path: io.StringIO(path.read_text()),
        lambda path: io.BytesIO(path.read_bytes()),
        lambda path: path.read_text().split("\n"),
        lambda path: path.read_bytes().splitlines(keepends=True),
        lambda path: (line for line in path.read_text().splitlines(keepends=True)),
    ],
)
def test_sources(tmp_path, opened):
    source = opened(written(tmp_path, TEXT))
    assert list(read_columns(source, NAMES)) == SENTENCES
    if isinstance(source, io.IOBase):
        assert not source.closed  # the caller closes it
        source.close()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_standard_input_is_read_in_the_given_encoding(monkeypatch, encoding):
    """The encoding of the terminal does not matter, and the input stays open."""
    stdin = io.TextIOWrapper(io.BytesIO("ü X\nb".encode(encoding)), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", stdin)
    assert str(rejection("-", encoding=encoding)) == "<stdin>:2: 2 columns were expected, there is 1"
    stdin.buffer.seek(0)
    assert words_of(read_columns("-", encoding=encoding, separator=",")) == [[["ü X", "b"]]]
    assert not stdin.buffer.closed


def test_standard_input_without_a_buffer_is_read(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(TEXT))
    assert list(read_columns("-", NAMES)) == SENTENCES


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32-le", "latin-1", "cp1252"])
def test_encodings(tmp_path, encoding):
    path = written(tmp_path, "Bär NN\r\nthe\u00a0e DT\n\nü X".encode(encoding))
    expected = [[["Bär", "the\u00a0e"], ["NN", "DT"]], [["ü"], ["X"]]]
    assert words_of(read_columns(path, encoding=encoding)) == expected
    with path.open("rb") as file:
        assert len(list(read_columns(file, encoding=encoding))) == 2
        assert not file.closed


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz", ".GZ"])
def test_compressed(tmp_path, ending):
    path = written(tmp_path, PACK[ending.lower()](TEXT.encode()), f"train.txt{ending}")
    assert list(read_columns(path, NAMES)) == SENTENCES


def test_zstandard(tmp_path):
    """Reads it with a library, or reports which one is missing."""
    path = tmp_path / "train.zst"
    try:
        library = files._zstandard("")
    except ImportError:
        path.write_bytes(b"whatever")
        with pytest.raises(ImportError, match=r"train\.zst needs Python 3\.14 or the package backports"):
            list(read_columns(path))
        return
    compressed = library.compress(TEXT.encode())
    assert list(read_columns(written(tmp_path, compressed, "train.zst"), NAMES)) == SENTENCES
    for damaged in (compressed[:-3], TEXT.encode(), b""):
        assert "damaged" in rejection(written(tmp_path, damaged, "train.zst")).reason


def test_endless_lines_are_read_lazily():
    endless = (line for _ in itertools.count() for line in ("a b", ""))
    assert len(list(itertools.islice(read_columns(endless), 1000))) == 1000


def test_opened_files_are_closed(tmp_path, monkeypatch):
    opened = []

    def watched(*arguments, **options):
        opened.append(open(*arguments, **options))  # noqa: SIM115
        return opened[-1]

    monkeypatch.setattr(files, "open", watched, raising=False)
    for ending, pack in {"": bytes, **PACK}.items():
        path = written(tmp_path, pack(TEXT.encode()), f"train{ending}")
        list(read_columns(path))
        some = read_columns(path)
        next(some)
        assert not opened[-1].closed
        some.close()
        rejection(path, "one")
    assert len(opened) == 12
    assert all(file.closed for file in opened)


# ---- what is rejected -------------------------------------------------------------------------------------------


def test_line_with_another_number_of_columns_is_rejected(tmp_path):
    path = written(tmp_path, TEXT.replace("sat VBD", "sat"))
    error = rejection(path)
    assert str(error) == f"{path}:5: 3 columns were expected, there are 2"
    assert (error.file, error.line) == (str(path), 5)
    assert rejection(["a", "b c"]).reason == "1 column was expected, there are 2"
    assert rejection(["a", "b c"], NAMES).line == 1
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_sentences_before_an_error_are_yielded():
    sentences = read_columns(["a b", "", "c"])
    assert next(sentences).columns == {"0": ["a"], "1": ["b"]}
    with pytest.raises(InputError, match="<lines>:3: "):
        next(sentences)


@pytest.mark.parametrize("size", [0, 70_000])
def test_bytes_outside_the_encoding_are_rejected(tmp_path, size):
    path = written(tmp_path, b"a b\n" * size + b"c d\n\xe4 e\nf g\n")
    assert str(rejection(path)) == f"{path}:{size + 2}: not utf-8: byte 0xe4 (invalid continuation byte)"
    assert rejection(path.read_bytes().splitlines()).line == size + 2
    with path.open(encoding="utf-8") as file:
        assert "not utf-8" in rejection(file).reason  # it decodes ahead, so the line is not exact
    assert rejection(written(tmp_path, "ä b".encode()), encoding="ascii").line == 1
    assert (
        "not utf-16" in rejection(written(tmp_path, "a b\nc".encode("utf-16")[:-1]), encoding="utf-16").reason
    )


def test_utf_16_without_a_mark_is_rejected(tmp_path):
    assert "zero byte" in rejection(written(tmp_path, "a b\nc d\n".encode("utf-16-le"))).reason


def test_carriage_return_within_a_line_is_rejected(tmp_path):
    assert "line break" in rejection(written(tmp_path, "a b\rc d\r")).reason
    assert "line break" in rejection(["a b\nc d\n"]).reason


@pytest.mark.parametrize("ending", PACK)
def test_truncated_compressed_file_is_rejected(tmp_path, ending):
    """At every byte there is an error. (Without its last bytes, bz2 or xz may give all lines first.)"""
    compressed = PACK[ending](TEXT.encode())
    for length in range(len(compressed)):
        error = rejection(written(tmp_path, compressed[:length], f"train{ending}"))
        assert "damaged" in error.reason


@pytest.mark.parametrize("ending", PACK)
def test_damaged_compressed_file_is_read_or_rejected(tmp_path, ending):
    """Some bytes do not matter, like the time in a gzip file; some give odd lines before the checksum is read."""
    compressed = PACK[ending](TEXT.encode())
    rejected = 0
    for place in range(len(compressed)):
        for flip in (0x01, 0x06, 0xFF):
            damaged = bytearray(compressed)
            damaged[place] ^= flip
            try:
                assert list(read_columns(written(tmp_path, damaged, f"train{ending}"), NAMES)) == SENTENCES
            except InputError as error:
                rejected += error.file is not None
    assert rejected > len(compressed)
    error = rejection(written(tmp_path, TEXT, f"train{ending}"))
    assert error.line == 1
    assert "damaged" in error.reason


def test_missing_files_and_folders_raise_os_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        list(read_columns(tmp_path / "none.txt"))
    with pytest.raises(FileNotFoundError):
        list(read_columns(tmp_path / "none.txt.gz"))
    with pytest.raises(IsADirectoryError):
        list(read_columns(tmp_path))


class Endless(io.RawIOBase):
    """A line without an end. It counts the bytes that were read."""

    given = 0

    def readable(self):
        return True

    def readinto(self, buffer):
        buffer[:] = b"x" * len(buffer)
        self.given += len(buffer)
        return len(buffer)


def test_lines_have_a_limit(tmp_path):
    for end in ("", "\n", "\r\n"):
        fits = written(tmp_path, "x" * 100 + end)
        assert len(list(read_columns(fits, max_line=100))) == 1
        assert rejection(fits, max_line=99).reason == "the line is longer than max_line=99"
        with fits.open(newline="") as file:
            assert rejection(file, max_line=99).line == 1
        assert rejection(["y", "x" * 100 + end], max_line=99).line == 2
        assert len(list(read_columns(["x" * 100 + end], max_line=100))) == 1
    source = Endless()
    assert "longer" in rejection(io.BufferedReader(source)).reason
    assert source.given < 10 * 2**16
    assert "longer" in rejection(io.TextIOWrapper(io.BufferedReader(Endless()), encoding="utf-8")).reason


def test_sentences_have_a_limit():
    assert len(next(read_columns(["x"] * 5, max_sentence=5))) == 5
    error = rejection(["", *["x"] * 6], max_sentence=5)
    assert error.line == 7
    assert "sentence of line 2 has more than max_sentence=5 tokens" in error.reason
    assert "max_sentence" in rejection(itertools.repeat("x")).reason


@pytest.mark.parametrize(
    ("source", "options", "error"),
    [
        (TEXT, {}, ValueError),  # a text is not a path
        (7, {}, TypeError),
        (["a"], {"columns": []}, ValueError),
        (["a"], {"columns": ""}, ValueError),
        (["a"], {"columns": ["a", ""]}, ValueError),
        (["a"], {"columns": [1]}, ValueError),
        (["a"], {"columns": "a b a"}, ValueError),
        (["a"], {"optional": 1}, ValueError),
        (["a"], {"columns": "a b", "optional": 2}, ValueError),
        (["a"], {"columns": "a b", "optional": -1}, ValueError),
        (["a"], {"separator": ""}, ValueError),
        (["a"], {"separator": "\n"}, ValueError),
        (["a"], {"separator": 1}, ValueError),
        (["a"], {"max_line": 0}, ValueError),
        (["a"], {"max_sentence": 1.5}, ValueError),
        (["a"], {"encoding": "utf-9"}, ValueError),
        (["a"], {"encoding": "rot13"}, ValueError),
        (["a"], {"encoding": None}, ValueError),
    ],
)
def test_invalid_arguments_are_rejected_before_reading(source, options, error):
    named = next(iter(options), "source")
    with pytest.raises(error, match=named):
        read_columns(source, **options)


def test_lines_that_are_not_strings_are_rejected():
    with pytest.raises(TypeError, match="<lines>:2: a line must be a string, not 7"):
        list(read_columns(["a", 7]))


# ---- anything at all --------------------------------------------------------------------------------------------

ODD = "a|\t| |\n|\r|\r\n|#|\0|\xef\xbb\xbf|\xc3|\xa9|\xff|-DOCSTART-".encode("latin-1").split(b"|")
bytes_ = st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(ODD), max_size=40).map(b"".join))
options_ = st.fixed_dictionaries(
    {},
    optional={
        "columns": st.sampled_from(["a", "a b", "a b c"]),
        "separator": st.sampled_from(["\t", " ", ","]),
        "comments": st.booleans(),
        "docstart": st.booleans(),
        "max_line": st.integers(1, 20),
        "max_sentence": st.integers(1, 5),
        "encoding": st.sampled_from(["utf-8", "utf-16", "latin-1", "utf-8-sig"]),
    },
)


@settings(deadline=None, max_examples=300)
@given(bytes_, options_, st.sampled_from(["", ".gz", ".bz2", ".xz"]), st.booleans())
def test_any_bytes_are_read_or_rejected(data, options, ending, compressed):
    """There is no other error, and everything that is yielded is a sentence."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(Path(folder), PACK[ending](data) if ending and compressed else data, f"file{ending}")
        with read_or_rejected():
            for sentence in read_columns(path, **options):
                assert 0 < len(sentence) <= options.get("max_sentence", 60)
                assert {len(column) for column in sentence.columns.values()} == {len(sentence)}
                assert (
                    not {"", "\n"} & set(itertools.chain(*sentence.columns.values()))
                    or "separator" in options
                )
                assert "columns" not in options or list(sentence.columns) == options["columns"].split()


field = st.text(
    st.characters(exclude_characters=" \t\r\n\0\ufeff", exclude_categories=["Cs"]), min_size=1, max_size=5
)


@settings(deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(
            st.lists(st.lists(field, min_size=width, max_size=width), min_size=1, max_size=4), max_size=4
        )
    ),
    st.sampled_from([(" ", None), ("\t", None), (" \t ", None), ("\t", "\t"), (" ", " ")]),
    st.sampled_from(["\n", "\r\n"]),
    st.integers(1, 3),
    st.booleans(),
)
def test_what_is_written_is_read(sentences, separators, end, blanks, as_file):
    between, separator = separators
    blocks = [end.join(between.join(token) for token in sentence) for sentence in sentences]
    text = (end * (blanks + 1)).join(blocks)
    source = io.BytesIO(text.encode()) if as_file else text.split("\n")
    read = list(read_columns(source, separator=separator))
    assert [list(map(list, zip(*s.columns.values(), strict=True))) for s in read] == sentences
    starts = [text[: text.index(block)].count("\n") + 1 for block in blocks[:1]]
    assert [sentence.first_line for sentence in read[:1]] == starts


# ---- examples ---------------------------------------------------------------------------------------------------


def both(sentence):
    return [list(values) for values in zip(*sentence.columns.values(), strict=True)]


def test_examples_are_features_and_tags(tmp_path):
    path = written(tmp_path, TEXT)
    X = [[["The", "DT"], ["cat", "NN"]], [["It", "PRP"], ["sat", "VBD"], [".", "."]]]
    y = [["B-NP", "I-NP"], ["B-NP", "B-VP", "O"]]
    assert read_examples(path, both) == (X, y)
    assert list(examples(path, both, NAMES, tag="tag")) == list(zip(X, y, strict=True))
    other = read_examples(path, both, "word pos tag", tag=0)
    assert other[0][0] == [["DT", "B-NP"], ["NN", "I-NP"]]
    assert other[1][0] == ["The", "cat"]
    assert read_examples(path, both, NAMES, tag=-2)[1][0] == ["DT", "NN"]


def test_examples_take_the_options_of_read_columns():
    assert read_examples(["# x", "a,b"], both, separator=",", comments=True) == ([[["a"]]], [["b"]])
    with pytest.raises(TypeError, match="seperator"):
        examples(["a b"], both, seperator=",")


def test_equal_tags_are_one_string():
    """A corpus has many of them."""
    _, y = read_examples(["a B-NP", "b B-NP", "", "c B-NP"], both)
    assert y[0][0] is y[0][1] is y[1][0]


@pytest.mark.parametrize("tag", [2, -3, "pos", None, 1.0])
def test_missing_tag_column_is_rejected(tag):
    with pytest.raises(ValueError, match=r"there is no column tag=.*: there are 'word', 'tag'"):
        read_examples(["a b"], both, "word tag", tag=tag)


def test_templates_must_be_callable():
    with pytest.raises(TypeError, match="templates must be"):
        examples(["a b"], ["word[0]"])


@pytest.mark.parametrize("collecting", [True, False])
def test_garbage_collector_is_restored(collecting):
    was = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        read_examples(["a b"], both)
        assert gc.isenabled() == collecting
        with pytest.raises(InputError):
            read_examples(["a b", "c"], both)
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if was else gc.disable)()
