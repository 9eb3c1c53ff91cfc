"""The feature maps of hinge, compared with counts over all earlier documents."""

from __future__ import annotations

import copy
import math
from collections import Counter

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer

from hinge import ClassTfIdf, EmailFeatures, PARanker
from mail import WORDS, mail


def naive_tfidf(x, labels, past):
    names = list(dict.fromkeys(x))
    values = np.zeros((len(labels), len(names)))
    for i, r in enumerate(labels):
        for j, word in enumerate(names):
            df = sum(Counter(document)[word] for document, its in past if r not in its)
            if past:
                values[i, j] = Counter(x)[word] * math.log(len(past) / max(1, df))
    return names, values


def naive_email(x, labels, past, scope="folder", often=0.2, rare=0.02, binary=False):
    names = list(dict.fromkeys(x))
    values = np.zeros((len(labels), len(names)))
    for i, r in enumerate(labels):
        folder = [document for document, its in past if r in its]
        for j, word in enumerate(names):
            if not folder:
                continue
            c = 1 if binary else Counter(x)[word]
            f = sum(word in document for document in folder) / len(folder)
            everywhere = sum(word in document for document, _ in past) / len(past)
            low = f if scope == "folder" else everywhere
            values[i, j] = 2 * c if f >= often else -c if low < rare else 0
    return names, values


@pytest.mark.parametrize("sets", [False, True])
@pytest.mark.parametrize(
    ("feature_map", "naive"),
    [
        (ClassTfIdf(), naive_tfidf),
        (EmailFeatures(), naive_email),
        (EmailFeatures(binary=True), lambda x, k, past: naive_email(x, k, past, binary=True)),
        (EmailFeatures(scope="all"), lambda x, k, past: naive_email(x, k, past, "all")),
        (
            EmailFeatures(often=0.5, rare=0.25, scope="all"),
            lambda x, k, past: naive_email(x, k, past, "all", 0.5, 0.25),
        ),
    ],
    ids=lambda value: None if callable(value) else repr(value),
)
def test_counts_are_those_of_earlier_rounds(feature_map, naive, sets):
    """Also for unseen labels, in any order, and in a ranker."""
    X, y = mail(120, sets=sets)
    model, past = PARanker(features=feature_map), []
    alone = copy.deepcopy(feature_map)
    for x, label in zip(X, y, strict=True):
        its = label if sets else {label}
        for labels in (list("edcbaz"), list("abc")):
            names, values = alone.features(x, labels)
            expected_names, expected = naive(x, labels, past)
            assert names == expected_names
            np.testing.assert_allclose(values, expected, rtol=1e-14, atol=0)
            assert values.dtype == np.float64
        model.learn_one(x, label)
        alone.learned(x, its)
        past.append((x, its))
    ours, theirs = model.feature_map_.state(), alone.state()
    assert set(ours["labels"]) == set(theirs["labels"])
    for labels in (list("abcdez"), []):
        np.testing.assert_array_equal(
            model.feature_map_.features(WORDS, labels)[1], alone.features(WORDS, labels)[1]
        )
    assert feature_map.state()["words"] == []  # the map that was given was copied


def test_thresholds_are_exact():
    """f >= 0.20 holds for 1 of 5, 2 of 10, ...; f < 0.02 does not hold for 1 of 50."""
    for n in (5, 10, 15, 35, 55):
        feature_map = EmailFeatures()
        for i in range(n):
            feature_map.learned(["often"] if i < n // 5 else ["other"], ["r"])
        assert feature_map.features(["often"], ["r"])[1] == [[2.0]]
    for n in (50, 100, 150):
        feature_map = EmailFeatures()
        for i in range(n):
            feature_map.learned(["rare"] if i < n // 50 else ["other"], ["r"])
        assert feature_map.features(["rare"], ["r"])[1] == [[0.0]]
        feature_map.learned(["other"], ["r"])
        assert feature_map.features(["rare"], ["r"])[1] == [[-1.0]]


def test_texts_are_read_as_scikit_learn_reads_them():
    text = "The cat, the DOG and 7 cats"
    for options in ({}, {"lowercase": False}, {"ngram_range": (1, 2)}, {"token_pattern": r"[a-z]+"}):
        names, _ = ClassTfIdf(**options).features(text, ["a"])
        assert names == list(dict.fromkeys(CountVectorizer(**options).build_analyzer()(text)))
    assert ClassTfIdf(tokenizer=lambda x: x["body"].split()).features({"body": "b a b"}, ["a"])[0] == [
        "b",
        "a",
    ]
    assert ClassTfIdf().features(np.array(["x", "y", "x"]), ["a"])[0] == ["x", "y"]
    assert type(ClassTfIdf().features(np.array(["x"]), ["a"])[0][0]) is str
    for feature_map in (ClassTfIdf(), EmailFeatures()):
        for nothing in ("", [], ()):
            feature_map.learned(nothing, {"a"})
            assert feature_map.features(nothing, ["a", "b"])[1].shape == (2, 0)
        for odd in (None, 3, b"bytes", {"a": 1}, {"a"}, [1], ["a", None], [["a"]], np.eye(2), iter("ab")):
            with pytest.raises(ValueError, match="must be a string"):
                feature_map.features(odd, ["a"])


@pytest.mark.parametrize(
    "options",
    [
        {"tokenizer": "word"},
        {"token_pattern": "("},
        {"token_pattern": "(a)(b)"},
        {"token_pattern": None},
        {"lowercase": 1},
        {"ngram_range": (2, 1)},
        {"ngram_range": 2},
        {"ngram_range": (0, 1)},
        {"max_features": 0},
        {"max_features": 1.5},
        {"often": 1.5},
        {"rare": float("nan")},
        {"rare": 0.5},
        {"scope": "folders"},
        {"binary": 1},
    ],
    ids=repr,
)
def test_invalid_options_are_rejected(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        EmailFeatures(**options)


def test_repr_shows_the_options_that_are_not_defaults():
    assert repr(EmailFeatures(scope="all", lowercase=False)) == "EmailFeatures(scope='all', lowercase=False)"
    assert repr(ClassTfIdf()) == "ClassTfIdf()"
