"""TextClassifier: strings in, labels out."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import normalize

import hinge
from hinge import PAClassifier, TextClassifier
from hinge._core import Texts


def news(count=300, seed=0):
    """Texts of three topics, which share most of their words."""
    rng = np.random.RandomState(seed)
    common = [f"word{i}" for i in range(40)]
    topics = {
        "sport": ["goal", "Match", "team"],
        "money": ["bank", "Märkte", "shares"],
        "films": ["actor", "scène", "plot"],
    }
    texts, labels = [], []
    for _ in range(count):
        label = str(rng.choice(list(topics)))
        words = [*rng.choice(common, 8), *rng.choice(topics[label], 2)]
        texts.append(" ".join(map(str, rng.permutation(words))))
        labels.append(label)
    return texts, np.array(labels)


OPTIONS = [
    {},
    {"hash_bits": 14},
    {"ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char", "ngram_range": [3, 3], "lowercase": False},
    {"average": True, "step": "pa2", "C": 0.01},
    {"early_stopping": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_learns_texts_in_every_way(options, tmp_path):
    texts, labels = news()
    model = TextClassifier(random_state=0, **options).fit(texts[:200], labels[:200])
    assert model.score(texts[200:], labels[200:]) > 0.9
    assert model.classes_.tolist() == ["films", "money", "sport"]
    batches, single = TextClassifier(**options), TextClassifier(**options)
    batches.partial_fit(texts[:50], labels[:50], classes=model.classes_)
    batches.partial_fit(texts[50:], labels[50:])
    single.partial_fit(texts[:1], labels[:1], classes=model.classes_)
    for text, label in zip(texts[1:], labels[1:], strict=True):
        single.learn_one(text, label)
    assert batches.stats_.rounds == single.stats_.rounds == 300
    np.testing.assert_array_equal(batches.coef_, single.coef_)
    scores = batches.decision_function(texts)
    for row in (0, 100):
        assert [*batches.score_one(texts[row]).values()] == scores[row].tolist()
        assert batches.predict_one(texts[row]) == batches.predict(texts)[row]
        parts = batches.explain_one(texts[row], "money")
        assert sum(part.contribution for part in parts) == pytest.approx(scores[row][1])
    batches.save(tmp_path / "m.hinge")
    for twin in (
        hinge.load(tmp_path / "m.hinge"),
        pickle.loads(pickle.dumps(batches)),
        copy.deepcopy(batches),
    ):
        assert isinstance(twin, TextClassifier)
        twin.learn_one("a new text of goals", "sport")
        again = copy.deepcopy(batches).learn_one("a new text of goals", "sport")
        np.testing.assert_array_equal(twin.coef_, again.coef_)
        np.testing.assert_array_equal(twin.decision_function(texts), again.decision_function(texts))


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_rows_are_those_of_scikit_learn_of_length_ten(hash_bits):
    texts, labels = news(100)
    model = TextClassifier(hash_bits=hash_bits).partial_fit(texts, labels, classes=np.unique(labels))
    if hash_bits is None:
        names = model._learner.feature_names
        X = 10 * normalize(CountVectorizer(vocabulary=names, binary=True).fit_transform(texts).astype(float))
    else:
        from sklearn.feature_extraction import FeatureHasher

        X = FeatureHasher(2**hash_bits, input_type="string").transform(
            sorted(set(CountVectorizer().build_analyzer()(text))) for text in texts
        )
        X = 10 * X.multiply(1 / np.sqrt([[len(set(t.split()))] for t in texts])).tocsr()
    other = PAClassifier().partial_fit(X, labels, classes=np.unique(labels))
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-12)


def test_labels_and_words_come_with_the_stream():
    model = TextClassifier()
    assert model.predict_one("free money") is None
    with pytest.raises(ValueError, match="not fitted"):
        model.explain_one("free")
    for text, label in [("free money", "spam"), ("see you", "ham"), ("the invoice", "bills")] * 3:
        model.learn_one(text, label)
    assert [model.predict_one(text) for text in ("money", "see", "invoice")] == ["spam", "ham", "bills"]
    assert set(model.named_weights()["bills"]) == {"free", "money", "see", "you", "the", "invoice"}
    assert model.explain_one("money for nothing")[0].feature == "money"
    assert model.predict_one("") in model.classes_


def test_predicting_first_does_not_make_it_fitted():
    model = TextClassifier()
    model.predict_one("free money")
    model.partial_fit(["a b", "cc dd"], [0, 1], classes=[0, 1])
    assert model.classes_.tolist() == [0, 1]


def test_texts_come_in_many_forms():
    pd = pytest.importorskip("pandas")
    texts, labels = news(60)
    expected = TextClassifier(random_state=0).fit(texts, labels).decision_function(texts)
    for X in (tuple(texts), np.array(texts), np.array(texts, dtype=object)[:, None], pd.Series(texts),
              pd.DataFrame({"body": texts})):  # fmt: skip
        model = TextClassifier(random_state=0).fit(X, labels)
        np.testing.assert_array_equal(model.decision_function(X), expected)


BAD = [
    ("free money", "not one text"),
    (["free", None], "row 1: a text must be a string, not None"),
    (["free", b"money"], "row 1: a text must be a string, not b'money'"),
    (["free", 3.5], "row 1: a text must be a string, not 3.5"),
    (np.zeros((2, 2)), "texts were expected"),
    (5, "texts were expected"),
]


@pytest.mark.parametrize(("X", "reason"), BAD, ids=range(len(BAD)))
def test_wrong_texts_are_rejected_and_leave_no_trace(X, reason):
    model = TextClassifier().partial_fit(["see you", "free money"], [0, 1], classes=[0, 1])
    before = pickle.dumps(model._learner)
    for call in (
        lambda: model.predict(X),
        lambda: model.partial_fit(X, [0, 1]),
        lambda: model.fit(X, [0, 1]),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
    assert pickle.dumps(model._learner) == before
    assert model._texts.names() == model._learner.feature_names
    with pytest.raises(ValueError, match="the label"):
        model.partial_fit(["brand new words", "and more"], [0, 7])
    assert pickle.dumps(model._learner) == before
    assert model._texts.names() == model._learner.feature_names


def test_a_frame_must_have_one_column():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match="one column of texts, not 2"):
        TextClassifier().fit(pd.DataFrame({"a": ["x"], "b": ["y"]}), [0])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"analyzer": "sentence"}, "analyzer must be one of"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"ngram_range": (0, 1)}, "ngram_range must be"),
        ({"hash_bits": 50}, "hash_bits must be"),
        ({"C": -1}, "C must be"),
    ],
)
def test_bad_options_are_rejected(options, reason):
    with pytest.raises(ValueError, match=reason):
        TextClassifier(**options).fit(["see you", "free money"], [0, 1])


def test_new_words_of_a_full_vocabulary_are_ignored_and_counted():
    model = TextClassifier(max_features=3)
    model.learn_one("free money now", "spam").learn_one("free lunch", "ham")
    assert model._learner.feature_names == ["free", "money", "now"]
    assert model.n_ignored_ == 1
    assert len(model.coef_[0]) == 3


def test_scikit_learn_can_search_and_clone():
    texts, labels = news(150)
    assert cross_val_score(TextClassifier(random_state=0), texts, labels, cv=3).mean() > 0.9
    search = GridSearchCV(
        TextClassifier(random_state=0), {"ngram_range": [(1, 1), (1, 2)], "C": [0.01, 1]}, cv=2
    )
    assert search.fit(texts, labels).best_score_ > 0.9
    model = clone(TextClassifier(analyzer="char"))
    assert model.get_params()["analyzer"] == "char"
    assert model.__sklearn_tags__().input_tags.string


def test_texts_of_an_object_that_only_looks_like_a_string():
    class Loud(str):
        def lower(self):
            raise AssertionError("not asked")

    assert Texts().terms(Loud("ÜBER Wald")) == ["über", "wald"]
