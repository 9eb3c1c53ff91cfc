"""Templates, compared with a slow implementation that makes each feature of each token by itself."""

from __future__ import annotations

import json
import os
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hinge.data.sentences import Sentence
from hinge.streams.formats.columns import examples, read_columns, read_examples
from hinge.structured.templates import (
    CHUNKING,
    NAMED,
    NAMES,
    TAGGING,
    TemplateError,
    Templates,
)
from hinge.structured.templates import groups as module

CAT = {"word": ["The", "cat", "sat"], "pos": ["DT", "NN", "VBD"]}


# ---- the slow implementation --------------------------------------------------------------------------------------


def shape(text):
    made = ""
    for c in text:
        made += "d" if c.isdigit() else c if not c.isalpha() else "x" if c.lower() == c else "X"
    return made


def brief(text):
    return re.sub(r"(.)\1*", r"\1", shape(text), flags=re.DOTALL)


TESTS = {
    "is_alpha": lambda text: text.isalpha(),
    "is_digit": lambda text: text.isdigit(),
    "is_lower": lambda text: text.islower(),
    "is_upper": lambda text: text.isupper(),
    "is_title": lambda text: text.istitle(),
    "is_punctuation": lambda text: len(text) > 0 and all(not c.isalnum() for c in text),
    "has_digit": lambda text: any(c.isdigit() for c in text),
    "has_hyphen": lambda text: text.count("-") > 0,
    "has_upper": lambda text: text.lower() != text,
}


def applied(function, size, text):
    if function in TESTS:
        return "true" if TESTS[function](text) else None
    if function == "prefix":
        return None if len(text) < size else "".join(text[i] for i in range(size))
    if function == "suffix":
        return None if len(text) < size else "".join(text[len(text) - size + i] for i in range(size))
    return {"lower": str.lower, "shape": shape, "brief_shape": brief}[function](text)


def value(term, columns, place):
    """Of (column, [(function, size or None), ...], offset) for the token at a place."""
    column, functions, offset = term
    values = columns[column]
    if not 0 <= place + offset < len(values):
        return None
    text = values[place + offset]
    for function, size in functions:
        text = None if text is None else applied(function, size, text)
    return text


def written(term, spaces=""):
    """As a template, and as a name, which has no spaces."""
    column, functions, offset = term
    text = column
    for function, size in functions:
        text = f"{function}{spaces}({text}" + (f",{spaces}{size}" if size else "") + f"{spaces})"
    return f"{text}{spaces}[{offset}]"


def obvious(conjunctions, columns, marks=()):
    count = len(columns["word"])
    rows = []
    for place in range(count):
        row = []
        for terms in conjunctions:
            values = [value(term, columns, place) for term in terms]
            name = "|".join(written(term) for term in terms)
            if None not in values and not any(f.startswith(f"{name}=") for f in row):
                row.append(f"{name}={'|'.join(values)}")
        row += [m for m in marks if {"bias": True, "bos": place == 0, "eos": place == count - 1}[m]]
        rows.append(row)
    return rows


texts = st.text(st.sampled_from("aBcÄß1²-.|=[%_ǅ字"), max_size=4)
sentences = st.integers(0, 7).flatmap(
    lambda n: st.fixed_dictionaries(
        {c: st.lists(texts, min_size=n, max_size=n) for c in ("word", "pos", "0")}
    )
)
functions = st.one_of(
    st.tuples(st.sampled_from([*TESTS, "lower", "shape", "brief_shape"]), st.none()),
    st.tuples(st.sampled_from(["prefix", "suffix"]), st.integers(1, 5)),
)
terms = st.tuples(st.sampled_from(["word", "pos", "0"]), st.lists(functions, max_size=2), st.integers(-9, 9))
near = st.tuples(st.sampled_from(["word", "pos"]), st.just([]), st.integers(-2, 2))  # as they mostly are
conjunctions = st.lists(st.lists(st.one_of(terms, near), min_size=1, max_size=3), min_size=1, max_size=5)


@settings(deadline=None, max_examples=150)
@given(
    conjunctions,
    st.lists(sentences, min_size=1, max_size=3),
    st.permutations(["bias", "bos", "eos"]),
    st.data(),
)
def test_features_equal_those_of_the_slow_implementation(conjunctions, sentences, marks, data):
    marks = marks[: data.draw(st.integers(0, 3))]
    spaces = data.draw(st.sampled_from(["", " "]))
    sources = [f"{spaces}|{spaces}".join(written(term, spaces) for term in terms) for terms in conjunctions]
    templates = Templates([*marks, *sources])
    for columns in sentences:
        expected = obvious(conjunctions, columns, marks)
        assert templates(columns) == expected
        assert templates(Sentence(columns)) == expected  # again, from the cache


@settings(deadline=None)
@given(st.lists(near.map(lambda term: [term]), min_size=1, max_size=4), sentences)
def test_windows_equal_those_of_the_slow_implementation(conjunctions, columns):
    """Windows have a fast path: in the middle of a sentence no feature is missing."""
    templates = Templates([written(terms[0]) for terms in conjunctions])
    assert templates(columns) == obvious(conjunctions, columns)


def crfpp(line, columns, place):
    """By the manual of CRF++: the macros are replaced."""
    values = list(columns.values())

    def replaced(macro):
        at = place + int(macro[1])
        count = len(values[0])
        if at < 0:
            return f"_B-{-at}"
        return f"_B+{at - count + 1}" if at >= count else values[int(macro[2])][at]

    return re.sub(r"%x\[(-?\d+),(\d+)\]", replaced, line)


macros = st.builds("%x[{},{}]".format, st.integers(-4, 4), st.integers(0, 2))
lines = st.builds(
    lambda number, parts: f"U{number:02}:" + "/".join(parts),
    st.integers(0, 99),
    st.lists(macros, min_size=1, max_size=3),
)


@settings(deadline=None)
@given(st.lists(lines, min_size=1, max_size=5, unique=True), sentences)
def test_crfpp_templates_follow_its_manual(lines, columns):
    templates = Templates.from_crfpp("\n".join(["# a comment", *lines, "", "B"]))
    count = len(columns["word"])
    assert templates(columns) == [[crfpp(line, columns, place) for line in lines] for place in range(count)]


@pytest.mark.parametrize("cached", [1, 7, 50])
def test_a_small_cache_changes_nothing(monkeypatch, cached):
    made = [{"word": [f"w{i * j % 11}" for j in range(i % 7)], "pos": ["P"] * (i % 7)} for i in range(60)]
    for templates in NAMED.values():
        expected = [templates(sentence) for sentence in made]
        with monkeypatch.context() as patch:
            patch.setattr(module, "CACHED", cached)
            forgetful = Templates(templates.sources)
        assert [forgetful(sentence) for sentence in made] == expected
        for group in forgetful._groups:
            features = len(group.rows)
            assert len(group.cache) * features <= max(cached, features)
            assert len(group.cache.older) * features <= max(cached, features)


# ---- by example -------------------------------------------------------------------------------------------------


def test_chunking_has_the_features_of_crfsuite():
    """The templates of its chunking.py; its __BOS__ and __EOS__ are bos and eos."""
    columns = {"word": list("abcde"), "pos": list("ABCDE")}
    places = [[(name, k)] for name in ("word", "pos") for k in range(-2, 3)]
    pairs = [[("word", k), ("word", k + 1)] for k in (-1, 0)] + [
        [("pos", k), ("pos", k + 1)] for k in range(-2, 2)
    ]
    triples = [[("pos", k), ("pos", k + 1), ("pos", k + 2)] for k in range(-2, 1)]
    wanted = [[(name, [], k) for name, k in template] for template in places + pairs + triples]
    for made, expected in zip(CHUNKING(columns), obvious(wanted, columns, ["bos", "eos"]), strict=True):
        assert sorted(made) == sorted(expected)
    assert CHUNKING(columns)[2][0] == "word[-2]=a"
    assert "pos[-1]|pos[0]|pos[1]=B|C|D" in CHUNKING(columns)[2]
    assert len(CHUNKING(columns)[2]) == 19
    assert CHUNKING(columns)[4][-1] == "eos"


def test_ready_made_templates_read_their_columns():
    assert Templates.named("chunking") is CHUNKING
    assert {name: templates.columns for name, templates in NAMED.items()} == {
        "chunking": ["word", "pos"],
        "names": ["word"],
        "tagging": ["word"],
    }
    row = NAMES({"word": ["McCoy-42"]})[0]
    assert {"shape(word)[0]=XxXxx-dd", "brief_shape(word)[0]=XxXx-d", "prefix(word,2)[0]=Mc"} <= set(row)
    assert {"suffix(word,4)[0]=y-42", "has_hyphen(word)[0]=true"} <= set(TAGGING({"word": ["McCoy-42"]})[0])
    with pytest.raises(
        ValueError, match="there are no templates 'parsing': there are 'chunking', 'names', 'tagging'"
    ):
        Templates.named("parsing")


@pytest.mark.parametrize(
    ("template", "names"),
    [
        ("word", ["word[0]"]),
        ("word[+1]", ["word[1]"]),
        ("word[-1..1]", ["word[-1]", "word[0]", "word[1]"]),
        ("prefix(word, 2..3)", ["prefix(word,2)[0]", "prefix(word,3)[0]"]),
        (" suffix ( lower ( word ) , 3 ) [ -1 ] ", ["suffix(lower(word),3)[-1]"]),
        ("word[0..1]|pos[2..3]", ["word[0]|pos[2]", "word[0]|pos[3]", "word[1]|pos[2]", "word[1]|pos[3]"]),
        ("prefix(suffix(0,1..2),1)", ["prefix(suffix(0,1),1)[0]", "prefix(suffix(0,2),1)[0]"]),
        ("is_title(word)[1]|x-y", ["is_title(word)[1]|x-y[0]"]),
        (" bos ", ["bos"]),
        ("lower", ["lower[0]"]),  # a column may have the name of a function
        ("U05:%x[-1,0]/%x[0,1]", ["U05:%x[-1,0]/%x[0,1]"]),
    ],
)
def test_a_template_expands_to_these_features(template, names):
    assert Templates([template]).names == names
    assert len(Templates([template])) == len(names)


@pytest.mark.parametrize(
    ("template", "position", "reason"),
    [
        ("", 0, "the name of a column or of a function was expected, there is the end"),
        ("word[", 5, "a position like 0, -1 or -2..2 was expected, there is the end"),
        ("word[x]", 5, "a position like"),
        ("word[1", 6, "']' was expected"),
        ("word[1..]", 8, "a number was expected, there is ']'"),
        ("word[2..-2]", 5, "2..-2 is empty"),
        ("word[0]pos[0]", 7, "'|' or the end was expected, there is 'pos[0]'"),
        ("word pos", 5, "'[', '|' or the end was expected, there is 'pos'"),
        ("word[0]|", 8, "the name of a column"),
        ("|word", 0, "the name of a column"),
        (
            "lowr(word)",
            0,
            "no function 'lowr': there are prefix, suffix, lower, shape, brief_shape, is_alpha",
        ),
        ("word|shape(upper(word))", 11, "no function 'upper'"),
        ("lower(word", 10, "')' (lower is a function of one thing) was expected"),
        ("lower(word, 2)", 10, "')' (lower is a function of one thing) was expected, there is ', 2)'"),
        ("lower(word[1])", 10, "')' (lower"),
        ("prefix(word)", 11, "',' and a length (as in prefix(word, 1..4)) was expected"),
        ("prefix(word, x)", 13, "a length like 3 or 1..4 was expected"),
        ("prefix(word, 0..3)", 13, "a length of 1 or more was expected, not 0"),
        ("prefix(word, -1)", 13, "a length of 1 or more"),
        ("bos[0]", 0, "'bos' must stand alone"),
        ("word|bias", 5, "'bias' must stand alone"),
        ("lower(eos)", 6, "'eos' must stand alone"),
        ("word[-1000..1000]", 5, "more than 1000 features"),
        ("word[0..99]|word[0..99]", 0, "it stands for 10000 features"),
        ("prefix(prefix(word,1..99),1..99)", 0, "more than 1000 features"),
        ("word[99999999999999999999]", 5, "a position like"),
        ("wörd[0] = x", 8, "'|' or the end"),
        ("U05:%y[0,0]", 4, "%x[row,column] was expected"),
        ("U05:%x[0,0]/%x[0]", 12, "%x[row,column] was expected"),
        ("U05:%x[0,-1]", 4, "%x[row,column] was expected"),
    ],
)
def test_invalid_templates_are_rejected(template, position, reason):
    with pytest.raises(TemplateError) as caught:
        Templates(["word[0]", template])
    error = caught.value
    assert (error.template, error.position) == (template, position)
    assert reason in error.reason
    assert str(error) == f"template {template!r}, position {position}: {error.reason}"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


@settings(deadline=None, max_examples=300)
@given(st.text(st.sampled_from("word[]()|,.-+0123 %xUprefix_bos"), max_size=20))
def test_any_text_is_a_template_or_rejected(text):
    try:
        templates = Templates([text])
    except TemplateError as error:
        assert 0 <= error.position <= len(text)  # noqa: PT017
    else:
        assert Templates(templates.names) == templates  # names are templates, too


@pytest.mark.parametrize("templates", ["word[0]", "chunking"])
def test_a_string_instead_of_a_list_is_rejected(templates):
    with pytest.raises(TypeError, match=r"must be a list, not one string.*Templates\.named\('chunking'"):
        Templates(templates)


def test_empty_lists_and_other_types_are_rejected():
    with pytest.raises(ValueError, match="at least one"):
        Templates([])
    with pytest.raises(TypeError, match="a template must be a string, not 7"):
        Templates([7])


def test_an_unknown_column_is_rejected():
    with pytest.raises(ValueError, match=r"there is no column 'lemma': there are 'word', 'pos'$"):
        Templates(["word", "lemma"])(CAT)
    with pytest.raises(
        ValueError, match=r"no column 'word': there are '0', '1'; columns='word pos tag' or the like"
    ):
        CHUNKING({"0": ["a"], "1": ["b"]})
    with pytest.raises(ValueError, match=r"there is no column of number 2: there are 'word', 'pos'$"):
        Templates.from_crfpp("U:%x[0,2]")(CAT)


def test_columns_must_have_one_length():
    with pytest.raises(ValueError, match="must be of one length, not 'word': 2, 'pos': 1"):
        CHUNKING({"word": ["a", "b"], "pos": ["c"]})
    with pytest.raises(ValueError, match="not none at all"):
        CHUNKING({})


def test_short_sentences_have_fewer_features():
    every = Templates(["bias", "bos", "eos", "word[-1..1]", "word[0]|word[3]"])
    assert every({"word": []}) == []
    assert every({"word": ["a"]}) == [["word[0]=a", "bias", "bos", "eos"]]
    assert Templates(["bos"])({"word": ["a", "b"]}) == [["bos"], []]
    assert Templates(["word[5]"])({"word": ["a", "b"]}) == [[], []]


def test_each_feature_is_made_once():
    assert Templates(["word", "word[-1..0]", "word[0]"]).names == ["word[0]", "word[-1]"]
    assert Templates(["word", "word[0]"])({"word": ["a"]}) == [["word[0]=a"]]


def test_the_order_of_a_conjunction_counts():
    both = Templates(
        ["word[0]|word[1]", "word[1]|word[0]", "lower(word)[0]|word[1]", "word[0]|lower(word)[1]"]
    )
    assert [feature.partition("=")[2] for feature in both(CAT)[0]] == [
        "The|cat",
        "cat|The",
        "the|cat",
        "The|cat",
    ]


def test_tokens_do_not_share_lists():
    templates = Templates(["word", "bos"])
    templates(CAT)[0].append("mine")
    assert templates(CAT)[0] == ["word[0]=The", "bos"]
    assert type(templates(CAT)[0]) is list


def test_equal_features_are_one_string():
    first, second = (CHUNKING({"word": ["a", "cat"], "pos": ["D", "N"]}) for _ in range(2))
    assert all(
        one is other for a, b in zip(first, second, strict=True) for one, other in zip(a, b, strict=True)
    )


def test_templates_are_saved_as_strings():
    for templates in (*NAMED.values(), Templates.from_crfpp("U00\nU05:%x[-1,0]/%x[0,0]")):
        again = Templates(json.loads(json.dumps(templates.sources)))
        assert again == templates == pickle.loads(pickle.dumps(templates)) == eval(repr(templates))
        assert hash(again) == hash(templates)
        assert again.sources == templates.sources
    templates = Templates(["word"])
    templates.sources.append("pos")
    assert templates.sources == ["word"]
    assert templates == Templates(["word[0]"])
    assert templates != Templates(["pos"])
    assert templates != ["word"]
    assert (templates + ("pos",)).sources == ["word", "pos"]  # noqa: RUF005
    assert (templates + CHUNKING).names[0] == "word[0]"


# ---- CRF++ ------------------------------------------------------------------------------------------------------


def test_a_crfpp_file_is_read():
    text = "# Unigram\nU00:%x[-2,0]\r\nU05:%x[-1,0]/%x[0,0]\n\n  U10:%x[0,1]%x[1,1]!\n\n# Bigram\nB\nB01\n"
    assert Templates.from_crfpp(text)(CAT) == [
        ["U00:_B-2", "U05:_B-1/The", "U10:DTNN!"],
        ["U00:_B-1", "U05:The/cat", "U10:NNVBD!"],
        ["U00:The", "U05:cat/sat", "U10:VBD_B+1!"],
    ]
    assert Templates.from_crfpp("U00:\nU01").names == ["bias"]


def test_columns_of_crfpp_are_counted_without_the_tag():
    X, y = read_examples(["The DT B-NP", "cat NN I-NP"], Templates.from_crfpp("U:%x[0,0]/%x[0,1]"))
    assert (X, y) == ([[["U:The/DT"], ["U:cat/NN"]]], [["B-NP", "I-NP"]])
    with pytest.raises(ValueError, match="there is no column of number 2"):
        read_examples(["The DT B-NP"], Templates.from_crfpp("U:%x[0,2]"))


def test_unsupported_crfpp_templates_are_left_out():
    with pytest.warns(UserWarning, match=r"left out: 'B01:%x\[0,0\]'"):
        assert Templates.from_crfpp("U:%x[0,0]\nB01:%x[0,0]").names == ["U:%x[0,0]"]
    with pytest.raises(TemplateError, match="U, B or # was expected at the start of line 2"):
        Templates.from_crfpp("U:%x[0,0]\nword[0]")
    with pytest.raises(ValueError, match="at least one"):
        Templates.from_crfpp("B")


# ---- files ------------------------------------------------------------------------------------------------------


def test_the_tag_is_not_a_feature():
    lines = ["The DT B-NP", "cat NN I-NP"]
    assert next(examples(lines, Templates(["word", "pos"]), "word pos tag"))[1] == ["B-NP", "I-NP"]
    with pytest.raises(ValueError, match="the templates read the column 'tag', but it is the tag"):
        read_examples(lines, Templates(["word", "tag[-1]"]), "word pos tag")
    with pytest.raises(ValueError, match="the templates read the column '0'"):
        read_examples(lines, Templates(["0"]), tag=0)


def test_a_file_without_tags_has_the_same_features():
    with_tags = read_columns(["The DT B-NP", "cat NN I-NP"], "word pos tag", optional=1)
    without = read_columns(["The DT", "cat NN"], "word pos tag", optional=1)
    assert CHUNKING(next(with_tags)) == CHUNKING(next(without))


@pytest.mark.skipif("HINGE_DATA" not in os.environ, reason="HINGE_DATA does not say where the sets are")
def test_conll_2000_has_the_published_counts():
    path = Path(os.environ["HINGE_DATA"]) / "conll2000_train.txt.gz"
    X, y = read_examples(path, CHUNKING, "word pos tag")
    assert len(X) == len(y) == 8936
    assert sum(map(len, y)) == sum(map(len, X)) == 211_727
    assert len({tag for tags in y for tag in tags}) == 22
    assert len({feature for sentence in X for token in sentence for feature in token}) == 335_674
