"""TextClassifier: strings in, labels out."""

from __future__ import annotations

import copy
import math
import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import normalize

import hinge
from hinge import PAClassifier, TextClassifier
from hinge._core import Texts
from hinge.model import file


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
    {"weighting": "binary"},
    {"weighting": "binary", "hash_bits": 14},
    {"ngram_range": (1, 2)},
    {"analyzer": "char_wb", "ngram_range": (2, 4)},
    {"analyzer": "char", "ngram_range": [3, 3], "lowercase": False},
    {"average": True, "step": "pa2", "C": 0.01},
    {"early_stopping": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_texts_are_learned_by_every_method(options, tmp_path):
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
def test_binary_rows_are_those_of_scikit_learn_of_length_ten(hash_bits):
    texts, labels = news(100)
    model = TextClassifier(weighting="binary", hash_bits=hash_bits)
    model.partial_fit(texts, labels, classes=np.unique(labels))
    if hash_bits is None:
        names = model._learner.feature_names
        X = 10 * normalize(CountVectorizer(vocabulary=names, binary=True).fit_transform(texts).astype(float))
    else:
        X = FeatureHasher(2**hash_bits, input_type="string").transform(
            sorted(set(CountVectorizer().build_analyzer()(text))) for text in texts
        )
        X = 10 * X.multiply(1 / np.sqrt([[len(set(t.split()))] for t in texts])).tocsr()
    other = PAClassifier().partial_fit(X, labels, classes=np.unique(labels))
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-12)


def test_fit_weighs_terms_as_scikit_learn_does():
    texts, labels = news(100)
    texts = [f"{text} {text.split()[0]}" for text in texts]
    model = TextClassifier(random_state=0).fit(texts, labels)
    vectorizer = TfidfVectorizer(sublinear_tf=True, vocabulary=model._learner.feature_names)
    X = vectorizer.fit_transform(texts)
    other = PAClassifier(random_state=0).fit(10 * X, labels)
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-12)
    np.testing.assert_allclose(model.decision_function(texts), other.decision_function(10 * X), atol=1e-12)


def reference_row(terms, texts, frequencies):
    """The terms of a text with their values in a row of length 10, by the texts before it."""
    weights = {
        term: (1 + math.log(terms.count(term))) * (1 + math.log((1 + texts) / (1 + frequencies.get(term, 0))))
        for term in terms
    }
    length = math.hypot(*weights.values())
    return {term: 10 * weight / length for term, weight in weights.items()}


@pytest.mark.parametrize("hash_bits", [None, 18])
def test_a_stream_weighs_each_text_by_those_before_it(hash_bits):
    texts, labels = news(80)
    model = TextClassifier(hash_bits=hash_bits)
    other = PAClassifier(hash_bits=hash_bits)
    frequencies = {}
    for number, (text, label) in enumerate(zip(texts, labels, strict=True)):
        terms = text.lower().split() * (1 + number % 2)
        row = reference_row(terms, number, frequencies)
        if number > 2:
            expected = other.score_one(row)
            assert model.score_one(" ".join(terms)) == pytest.approx(expected, abs=1e-12)
        model.learn_one(" ".join(terms), label)
        other.learn_one(row, label)
        frequencies |= {term: frequencies.get(term, 0) + 1 for term in row}
    assert model.stats_.loss == pytest.approx(other.stats_.loss)
    row = reference_row([*frequencies], 80, frequencies)
    explained = {part.feature: abs(part.value) for part in model.explain_one(" ".join(frequencies))}
    del explained["(intercept)"]
    assert explained == pytest.approx(row)


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_the_score_before_learning_is_that_of_the_round(hash_bits):
    """The text that `learn_one` learns from is, to the bit, the text that `predict_one` saw."""
    texts, labels = news(200)
    model = TextClassifier(hash_bits=hash_bits)
    wrong = loss = 0
    for number, (text, label) in enumerate(zip(texts, (labels == "sport").tolist(), strict=True)):
        margin = model.score_one(text) * (1 if label else -1) if number else 0.0
        wrong += model.predict_one(text) != label
        model.learn_one(text, label)
        loss += max(0.0, 1 - margin)
    assert model.stats_.mistakes == wrong > 3
    assert model.stats_.loss == loss


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_predictions_do_not_change_the_counts(hash_bits):
    texts, labels = news(50)
    model = TextClassifier(hash_bits=hash_bits).partial_fit(texts, labels, classes=np.unique(labels))
    before = counted(model)
    model.predict([*texts, "brand new words"]), model.score(texts, labels), model.explain_one("goal goal")
    model.predict_one("goal new"), model.score_one("bank"), model.explain(texts[:3])
    assert counted(model) == before
    assert before[1] == 50


def counted(model):
    counts, texts, ignored = model._texts.counts()
    return counts.tolist(), texts, ignored, model._texts.names()


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_rejected_texts_are_not_counted(hash_bits):
    texts, labels = news(50)
    model = TextClassifier(hash_bits=hash_bits, max_features=2**12 if hash_bits else 30)
    model.partial_fit(texts, labels, classes=np.unique(labels))
    before = counted(model)
    with pytest.raises(ValueError, match="the label"):
        model.partial_fit(["brand new goal", "goal"], ["sport", "unheard of"])
    with pytest.raises(ValueError, match="row 1: a text must be a string"):
        model.learn_many(["brand new goal", None], ["sport", "money"])
    with pytest.raises(ValueError, match="sample_weight"):
        model.learn_many(["brand new goal", "goal"], ["sport", "money"], sample_weight=[1.0])
    with pytest.raises(ValueError, match="weight"):
        model.learn_one("brand new goal", "sport", weight=-1.0)
    assert counted(model) == before


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_texts_without_weight_are_not_counted(hash_bits):
    texts, labels = news(60)
    weights = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)
    kept = [text for text, weight in zip(texts, weights, strict=True) if weight]
    for learn in (
        lambda m, X, y, w: m.fit(X, y, sample_weight=w),
        lambda m, X, y, w: m.partial_fit(X, y, classes=np.unique(labels), sample_weight=w),
        lambda m, X, y, w: m.learn_many(X, y, sample_weight=w),
    ):
        options = {"hash_bits": hash_bits, "shuffle": False, "max_iter": 2, "tol": None}
        some = learn(TextClassifier(**options), texts, labels, weights)
        only = learn(TextClassifier(**options), kept, labels[weights > 0], None)
        assert some._texts.n_texts == only._texts.n_texts == 40
        for text in texts:  # terms have other columns, so sums have another order
            assert some.score_one(text) == pytest.approx(only.score_one(text), abs=1e-12)
    before = some.decision_function(texts)
    some.learn_one("goal goal brand new", "sport", weight=0.0)
    np.testing.assert_array_equal(some.decision_function(texts), before)


BITS = {
    "free": "0x1.fb64c39c75410p-2",
    "money": "0x1.2bacc24a175c9p-2",
    "and": "0x1.02cb1128163c7p-1",
    "lunch": "0x1.7c197b27c62e6p-2",
    "on": "0x1.7c197b27c62e6p-2",
    "monday": "0x1.7c197b27c62e6p-2",
}


def test_weights_have_the_same_bits_on_every_machine():
    texts = Texts(weighting="tfidf")
    texts.rows(["free money now", "free lunch", "see you on monday", "money money money"], grow=True)
    values = {
        term: value.hex() for term, value in texts.weighed("free money and free lunch on monday").items()
    }
    assert values == BITS


def test_a_file_without_counts_is_rejected(tmp_path):
    texts, labels = news(60)
    header, tensors = TextClassifier().learn_many(texts, labels).to_parts()
    del header["texts"]
    file.save(tmp_path / "model", header, tensors)
    with pytest.raises(file.ModelFileError, match="texts"):
        hinge.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("counts", "texts", "ignored"),
    [
        ([1, 1, 1], 2, 0),
        ([1, 1, 1, 3], 2, 0),
        ([1, 1, 1, -1], 2, 0),
        ([1.0, 1.0, 1.0, 1.0], 2, 0),
        ([1, 1, 1, 1], -1, 0),
        ([1, 1, 1, 1], 2**60, 0),
        ([1, 1, 1, 1], "2", 0),
        ([1, 1, 1, 1], 2, -1),
    ],
)
def test_a_file_with_impossible_counts_is_rejected(counts, texts, ignored, tmp_path):
    model = TextClassifier().learn_one("free money", "spam").learn_one("see you", "ham")
    header, tensors = model.to_parts()
    assert tensors["document_frequencies"].tolist() == [1, 1, 1, 1]
    tensors["document_frequencies"] = np.array(counts)
    header["texts"] = {"counted": texts, "ignored": ignored}
    file.save(tmp_path / "m.hinge", header, tensors)
    with pytest.raises(hinge.ModelFileError):
        hinge.load(tmp_path / "m.hinge")


def test_rare_words_weigh_more_than_common_ones():
    """Half of the words of a text are of its topic, but each of them is rare."""
    rng = np.random.RandomState(0)
    labels = rng.randint(4, size=800)
    texts = [
        " ".join(f"common{i}" for i in rng.randint(30, size=12))
        + "".join(f" topic{label}n{i}" for i in rng.randint(60, size=2))
        for label in labels
    ]
    errors = [
        TextClassifier(weighting=weighting).learn_many(texts, labels).stats_.error
        for weighting in ("tfidf", "binary")
    ]
    assert errors[0] < 0.8 * errors[1]


def test_new_labels_and_words_are_learned():
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


def test_lists_arrays_series_and_frames_of_texts_are_equal():
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
def test_invalid_texts_are_rejected_and_leave_no_trace(X, reason):
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
        ({"analyzer": "sentence"}, "analyzer must be 'word', 'char' or 'char_wb', not 'sentence'"),
        ({"weighting": "idf"}, "weighting must be 'tfidf' or 'binary', not 'idf'"),
        ({"weighting": None}, "weighting must be 'tfidf' or 'binary', not None"),
        ({"ngram_range": (2, 1)}, "ngram_range must be"),
        ({"ngram_range": (0, 1)}, "ngram_range must be"),
        ({"hash_bits": 50}, "hash_bits must be"),
        ({"C": -1}, "C must be"),
    ],
)
def test_invalid_options_are_rejected(options, reason):
    with pytest.raises(ValueError, match=reason):
        TextClassifier(**options).fit(["see you", "free money"], [0, 1])


def test_new_words_of_a_full_vocabulary_are_ignored_and_counted(tmp_path):
    model = TextClassifier(max_features=3)
    model.learn_one("free money now", "spam").learn_one("free lunch", "ham")
    assert model._learner.feature_names == ["free", "money", "now"]
    assert model.n_ignored_ == 1
    assert len(model.coef_[0]) == 3
    assert pickle.loads(pickle.dumps(model)).n_ignored_ == 1
    model.save(tmp_path / "m.hinge")
    assert hinge.load(tmp_path / "m.hinge").n_ignored_ == 1


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


def test_methods_of_subclasses_of_str_are_not_called():
    class Loud(str):
        def lower(self):
            raise AssertionError("called")

    assert Texts().terms(Loud("ÜBER Wald")) == ["über", "wald"]


def test_readers_see_a_text_whole_or_not_at_all():
    """Counts, columns and weights are of one moment, while another thread learns."""
    texts, labels = news(400)
    model = TextClassifier().learn_many(texts[:3], labels[:3])
    ended, failures = threading.Event(), []

    def ask():
        try:
            while not ended.is_set():
                saved = pickle.loads(pickle.dumps(model))
                assert saved._texts.n_texts == saved.stats_.rounds
                model.predict(texts[:5]), model.explain_one(texts[0]), model.score_one(texts[1])
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=ask) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number, (text, label) in enumerate(zip(texts[3:], labels[3:], strict=True)):
        model.learn_one(f"{text} brandnew{number}", label)
    ended.set()
    for reader in readers:
        reader.join()
    assert failures == []


@pytest.mark.parametrize("hash_bits", [None, 12])
def test_a_committee_of_texts_has_a_leader_of_texts(hash_bits, tmp_path):
    texts = ["free money", "see you", "win money", "call me", "free prize", "on monday"] * 8
    labels = ["spam", "ham"] * 24
    model = TextClassifier(experts="auto", hash_bits=hash_bits)
    for text, label in zip(texts, labels, strict=True):
        model.learn_one(text, label)
    assert len(model.experts_) > 10
    leader = model.leader()
    assert type(leader) is TextClassifier
    assert leader.experts is None
    assert leader.predict(texts).tolist() == model.predict(texts).tolist() == labels
    leader.learn_one("something new", "ham")
    for each in (model, leader, TextClassifier(experts="auto", random_state=0).fit(texts, labels)):
        each.save(tmp_path / "model")
        again = hinge.load(tmp_path / "model")
        assert again.predict(texts).tolist() == labels
        again.learn_one("something else", "spam")
        each.learn_one("something else", "spam")
        assert again.predict_one("see money") == each.predict_one("see money")
