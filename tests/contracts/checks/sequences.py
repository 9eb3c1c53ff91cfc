"""Sequences of tags: sentences in any container, scores by position, and scikit-learn's ways."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction import FeatureHasher

from checks import check
from checks.containers import DENSE, SPARSE
from contract_case import Data
from sequence_cases import TAGS, counted, same_weights


def sequences(case):
    return case.is_sequence


def some(case):
    return case.is_sequence and case.sampled


def closed(case):
    """The classes that must be known, if a cost names them."""
    return {} if case.is_open else {"classes": TAGS}


def tensors(model):
    return {k: (v.dtype, v.tobytes()) for k, v in model._learner.to_parts()[1].items()}


# ---- predictions and scores --------------------------------------------------------------------------------------


@check(sequences)
def check_predictions_of_sentences_agree(case):
    data = case.data()
    model = case.learned(data)
    unseen = [{"never": 1.0, "w0": 2.0}, {}, {"shape": "never"}]
    for sentences in (data.X, [unseen], [], [[]]):
        assert [len(tags) for tags in model.predict(sentences)] == [len(sentence) for sentence in sentences]
    for x in (data.X[3], unseen, tuple(data.X[3])):
        best = model.predict_one(x)
        assert best == model.predict_single(x) == model.predict([x])[0]
        assert model.score_one(x) == pytest.approx(model.score_one(x, best), rel=case.tolerance[0])
    assert model.state_features_
    assert len(model.classes_) == 10


@check(sequences)
def check_predicted_tags_have_the_highest_score(case):
    """Among all others, for a short sentence."""
    data = case.data()
    model = case.learned(data)
    known = model.classes_[:4]
    for x in data.X[:4]:
        others = [model.score_one(x[:3], list(z)) for z in itertools.product(known, repeat=min(3, len(x)))]
        assert model.score_one(x[:3]) >= max(others) - case.tolerance[0] * (1 + abs(model.score_one(x)))


@check(sequences)
def check_scores_of_tags_add_up(case):
    """Of arbitrary tags: by hand from the weights, and what explain_one says."""
    model = case.learned()
    hashed = FeatureHasher(2 ** (case.options["hash_bits"] or 1), input_type="dict").transform
    rng = np.random.default_rng(4)
    for x in [*case.data().X[:8], [{"never": 3.0}, {"w0": 1.0}]]:
        tags = rng.choice(model.classes_, size=len(x)).tolist()
        by_hand = score_by_hand(model, x, tags, hashed if case.hashes else None)
        case.close(model.score_one(x, tags), by_hand, "by hand")
        parts = model.explain_one(x, tags)
        assert len(parts) == len(x)
        case.close(sum(part.contribution for token in parts for part in token), by_hand, "explained")
        for i, (token, its) in enumerate(zip(x, parts, strict=True)):
            assert len(its) == len(token) + 1
            sizes = [abs(part.contribution) for part in its]
            assert sizes == sorted(sizes, reverse=True)
            before = "(start)" if i == 0 else f"(after {tags[i - 1]})"
            assert before in [part.feature for part in its]
            for part in its:
                assert part.contribution == pytest.approx(part.value * part.weight)
        best = model.explain_one(x)
        case.close(sum(part.contribution for token in best for part in token), model.score_one(x))


def score_by_hand(model, x, tags, hashed):
    score = model.start_features_.get(tags[0], 0.0)
    score += sum(model.transition_features_.get(pair, 0.0) for pair in itertools.pairwise(tags))
    states = model.state_features_
    for token, tag in zip(x, tags, strict=True):
        features = {
            f"{k}={v}" if isinstance(v, str) else k: 1.0 if isinstance(v, str) else v
            for k, v in token.items()
        }
        if hashed is not None:
            row = hashed([token])
            features = dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        score += sum(value * states.get((feature, tag), 0.0) for feature, value in features.items())
    return score


@check(some)
def check_unlearned_tagger_predicts_no_tags(case):
    known = closed(case)
    model = case.new(**known)
    x = [{"a": 1.0}, {}]
    for _ in range(2):  # to be asked makes no learner
        for call in (lambda: model.predict([[["a"]]]), lambda: model.classes_, lambda: model.stats_):
            with pytest.raises(NotFittedError):
                call()
        assert model.predict_one(x) == (["T0", "T0"] if known else [None, None])
        assert model.score_one(x) == 0.0
        assert model.predict_one([]) == []
        assert sum(part.contribution for token in model.explain_one(x) for part in token) == 0.0
        assert "_learner" not in vars(model)
    assert case.new(**known).learn_many([], []).stats_.rounds == 0
    model.learn_one(x, ["T1", "T1"])
    assert model.stats_.rounds == 1
    assert model.classes_ == (TAGS if known else ["T1"])


@check(sequences)
def check_sentence_without_weight_teaches_no_names(case):
    """Neither features nor tags, alone or among others."""
    data = case.data()
    new_tags = ["never"] if case.is_open else ["T0"]
    model = case.learned(data[:20])
    before = case.state(model)
    for sentence in ([{"new": 1.0}], [["new"]]):
        for weight in (0.0, -0.0):
            model.learn_one(sentence, new_tags, weight)
        model.learn_many([sentence] * 3, [new_tags] * 3, [0, 0, 0])
    assert case.state(model) == before
    X, y = data.X[:2], data.y[:2]
    among = case.new().learn_many([X[0], [["new"]], X[1]], [y[0], new_tags, y[1]], [1, 0, 1])
    assert case.state(among) == case.state(case.new().learn_many(X, y))
    nothing = case.learned(data.weighing(0.0))
    assert nothing.attributes_ == []


# ---- containers ----------------------------------------------------------------------------------------------------


@check(sequences)
def check_lists_are_dicts_of_counts(case):
    """To the bit. A string that comes twice counts twice."""
    data = case.data("strings")
    tuples = [tuple(map(tuple, x)) for x in data.X]
    numpy_strings = [[[np.str_(word) for word in token] for token in x] for x in data.X]
    lists = case.state(case.learned(data))
    for X, y in (
        ([counted(x) for x in data.X], data.y),
        (tuples, [tuple(tags) for tags in data.y]),
        (numpy_strings, [np.array(tags) for tags in data.y]),
    ):
        assert case.state(case.learned(Data(X, y, data.weights))) == lists


MATRICES = {
    **{
        name: DENSE[name]
        for name in ("C order", "F order", "strided", "reversed", "read-only", "byte-swapped")
    },
    **{name: SPARSE[name] for name in SPARSE if name not in ("csr short indices", "csr byte-swapped")},
    "single": lambda x: x.astype(np.float32),
    "half": lambda x: x.astype(np.float16),
    "dicts": lambda x: [{j: v for j, v in enumerate(row) if v} for row in x.tolist()],
    "dicts with zeros": lambda x: [dict(enumerate(row)) for row in x.tolist()],
}


@check(lambda case: case.is_sequence and not case.hashes)
def check_matrices_are_dicts_of_numbers(case):
    """To the bit, whatever their order and type."""
    data = case.data("matrices")
    expected = case.learned(data)
    for name, container in MATRICES.items():
        sentences = [container(x) for x in data.X]
        model = case.learned(Data(sentences, data.y, data.weights))
        assert case.state(model) == case.state(expected), name
        assert model.predict(sentences) == expected.predict(data.X), name
        assert model.score_one(sentences[3]) == expected.score_one(data.X[3]), name
    assert case.state(case.new().learn_many(tuple(data.X), data.y)) == case.state(expected)


def shuffled(X, seed=3):
    rng = np.random.default_rng(seed)

    def in_another_order(token):
        order = rng.permutation(len(token))
        items = list(token.items()) if isinstance(token, dict) else token
        mixed = [items[k] for k in order]
        return dict(mixed) if isinstance(token, dict) else mixed

    return [[in_another_order(token) for token in sentence] for sentence in X]


@check(sequences)
def check_order_of_features_in_a_token_does_not_matter(case):
    """To the bit, if they have columns already; new ones get theirs as they come, which is a matter of rounding."""
    for form in ("events", "strings"):
        data = case.data(form)
        tokens = [token for x in data.X for token in (counted(x) if form == "strings" else x)]
        mixed = Data(shuffled(data.X), data.y, data.weights)
        states = []
        for each in (data, mixed):
            model = case.new(classes=TAGS)
            model.learn_one([dict.fromkeys((f for token in tokens for f in token), 1.0)], TAGS[:1])
            model.learn_many([[{"shape": s} for s in ("x", "Xx", "é")]], [TAGS[:3]])
            case.learn(model, each)
            states.append(case.state(model))
        assert states[0] == states[1]
        if form == "events" and case.options["step"] != "perceptron" and not case.is_single:
            straight, other = (case.learned(each.weighing(1.0)) for each in (data, mixed))
            assert set(straight.attributes_) == set(other.attributes_)
            if not case.hashes:
                same_weights(straight, other, case.options)


# ---- the learner inside, partial_fit and fit -------------------------------------------------------------------------


@check(some)
def check_learner_of_sentences_is_kept(case):
    """Without an estimator: pickled and copied through the same bytes."""
    data = case.data()
    learner = case.learned(data)._learner
    for again in (
        pickle.loads(pickle.dumps(learner)),
        copy.deepcopy(learner),
        case.learner_from_bytes(learner.to_bytes()),
    ):
        assert again.to_bytes() == learner.to_bytes()
        again.learn_many(data.X, data.y, data.weights)
        assert again.to_bytes() != learner.to_bytes()


@check(sequences)
def check_partial_fit_equals_learn_many(case):
    first, rest = case.data().parts(25)
    order = TAGS[::-1]
    more = {} if case.is_open else {"classes": order}
    one = case.new(**more).partial_fit(first.X, first.y, classes=order, sample_weight=first.weights)
    one.partial_fit(rest.X, rest.y, sample_weight=rest.weights)
    other = case.learned(classes=order)
    assert one.classes_ == order
    assert tensors(one) == tensors(other)
    assert one.stats_ == other.stats_
    before = case.state(one)
    for classes in (TAGS, np.array(TAGS), tuple(order)):  # the same ones, in whatever order
        one.partial_fit(first.X[:1], first.y[:1], classes=classes, sample_weight=[0.0])
    assert case.state(one) == before


@check(some)
def check_fit_of_sentences_starts_from_scratch(case):
    data = case.data()
    X, y, weights = data.X, data.y, data.weights
    more = {"max_iter": 4, "random_state": 3}
    first, second = case.new(**more).fit(X, y, weights), case.new(**more)
    second.learn_many(X[:3], y[:3]).fit(X, y, weights)
    assert case.state(first) == case.state(second)
    assert case.state(first.fit(X, y, weights)) == case.state(second)
    seeded = case.new(**{**more, "random_state": np.random.RandomState(3)}).fit(X, y, weights)
    assert case.state(seeded) == case.state(first)
    other = case.new(**{**more, "random_state": 4}).fit(X, y, weights)
    assert case.state(other) != case.state(first)
    assert first.classes_ == TAGS
    assert 1 <= first.n_iter_ <= 4
    assert first.stats_.rounds == first.n_iter_ * np.count_nonzero(weights)


@check(some)
def check_one_pass_of_fit_equals_partial_fit(case):
    data = case.data()
    X, y, weights = data.X, data.y, np.resize([0.5, 1.0, 3.0], len(data))
    fitted = case.new(max_iter=1, shuffle=False).fit(X, y, weights)
    once = case.new(**closed(case), max_iter=1, shuffle=False)
    once.partial_fit(X, y, classes=TAGS, sample_weight=weights)
    assert tensors(fitted) == tensors(once)
    # Only partial_fit has its learner know the classes; a cost by tags does in both.
    ours, theirs = fitted._learner.to_parts()[0], once._learner.to_parts()[0]
    assert theirs["parameters"].pop("classes") == {"list": TAGS}
    assert ours["parameters"].pop("classes", None) == (None if case.is_open else {"list": TAGS})
    assert ours == theirs
    assert fitted.stats_ == once.stats_
    assert fitted.predict(X) == once.predict(X)
    for which in ("classes_", "attributes_", "start_features_", "transition_features_", "state_features_"):
        assert getattr(fitted, which) == getattr(once, which)


@check(some)
def check_max_features_limits_sentences(case):
    more = {"hash_bits": None, "max_features": 3, **closed(case)}
    model = case.new(**more)
    model.learn_one([{"a": 1.0}, {"b": 1.0}], ["T0", "T1"])
    before = case.state(model)
    for call in (
        lambda: model.learn_one([{"c": 1.0, "d": 1.0}], ["T0"]),
        lambda: model.learn_one([["c"], ["d"]], ["T0", "T1"]),
        lambda: model.learn_many([[["a"]], [["c"]], [["d"]]], [["T0"], ["T1"], ["T2"]]),
        lambda: model.partial_fit([[["c", "d"]]], [["T0"]]),
    ):
        limit = r"feature 'd': token [01]: it is new, and the model already has 3 features, its limit"
        with pytest.raises(ValueError, match=limit):
            call()
        assert case.state(model) == before
        assert model.attributes_ == ["a", "b"]
    model.learn_one([["c"]], ["T0"])
    assert model.predict_one([["d"], ["e"]])  # unknown ones are no trouble where nothing is learned
    with pytest.raises(ValueError, match=r"^column 3: it is new"):
        case.new(**more).learn_one(np.ones((1, 4)), ["T0"])
