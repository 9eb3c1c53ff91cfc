"""Anything at all, by Hypothesis: it is learned, or rejected without a trace."""

from __future__ import annotations

import contextlib
import decimal
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from hinge import PASequence
from hinge.structured.sequence_learner import SequenceLearner
from rejection_sentences import OPTIONS, X, csr, of_arrays, state, trained

# ---- anything at all ------------------------------------------------------------------------------------------

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=4),
    st.sampled_from(["a", "b", "A", "B"]),
    st.binary(max_size=3),
    st.just(b""),
    st.complex_numbers(max_magnitude=3),
    st.sampled_from(
        [np.float32(1.5), np.str_("a"), np.int64(3), np.bool_(True), decimal.Decimal(2), object, 10**400]
    ),
)
hashable = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3), st.sampled_from("abAB")
)


def nested(inner):
    return st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashable, inner, max_size=3),
        st.sets(hashable, max_size=3),
    )


# Not st.recursive, which warns when it happens to draw nothing nested. Three levels make a batch.
junk = st.one_of(scalars, nested(st.one_of(scalars, nested(st.one_of(scalars, nested(scalars))))))
token = st.one_of(
    st.lists(st.text(max_size=3), max_size=3), st.dictionaries(st.text(max_size=2), scalars, max_size=3), junk
)
sentence = st.one_of(st.lists(token, max_size=4), junk)
tags = st.one_of(st.lists(st.one_of(st.sampled_from("ABC"), scalars), max_size=4), junk)
batches = st.integers(0, 3).flatmap(
    lambda n: st.tuples(st.lists(sentence, min_size=n, max_size=n), st.lists(tags, min_size=n, max_size=n))
)
plausible = st.one_of(batches, st.tuples(junk, junk))
weights = st.one_of(st.none(), st.lists(st.floats(), max_size=4), junk)
anything = settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck), database=None
)
MODELS = {str(options): trained(options) for options in OPTIONS}
START = {what: state(model) for what, model in MODELS.items()}


@pytest.mark.parametrize("what", MODELS)
@anything
@given(batch=plausible, weights=weights)
def test_any_batch_is_learned_or_rejected(what, batch, weights):
    """Rejected without a trace; a model that has learned can be saved, loaded and used."""
    learner = SequenceLearner.from_bytes(START[what])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            learner.learn_many(*batch, weights)
        except (ValueError, TypeError):
            assert learner.to_bytes() == START[what]
            return
    again = SequenceLearner.from_bytes(learner.to_bytes())
    assert again.to_bytes() == learner.to_bytes()
    assert again.predict_many(X) == learner.predict_many(X)


@pytest.mark.parametrize("what", MODELS)
@anything
@given(x=sentence, y=tags)
def test_any_sentence_is_tagged_or_rejected(what, x, y):
    model = MODELS[what]
    for call in (
        lambda: model.predict_one(x),
        lambda: model.score_one(x, y),
        lambda: model.explain_one(x, y),
        lambda: model.predict(x),
        lambda: model.score(x, y),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(ValueError, TypeError):
                call()
    assert state(model) == START[what]
    assert set(model.predict_one(X[0])) <= set(model.classes_)


@anything
@given(batch=plausible, weights=weights)
def test_anything_is_fitted_or_rejected(batch, weights):
    model = PASequence(max_iter=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(*batch, weights)
        except (ValueError, TypeError):
            assert "_learner" not in vars(model)
            return
    again = SequenceLearner.from_bytes(state(model))
    assert again.labels.known == model.classes_


OF_ARRAYS = {str(options): of_arrays(options) for options in OPTIONS if "hash_bits" not in options}
views = st.sampled_from(
    [
        lambda a: a,
        lambda a: a.T,
        lambda a: a[::-1],
        lambda a: a[..., ::-2],
        lambda a: a[1:],
        np.asfortranarray,
    ]
)
dtypes = st.one_of(
    arrays_of.scalar_dtypes(),
    arrays_of.unicode_string_dtypes(max_len=2),
    arrays_of.nested_dtypes(max_itemsize=64),
)
arrays = st.one_of(
    arrays_of.arrays(
        st.sampled_from([np.float64, np.float32, np.int8]), st.tuples(st.integers(0, 4), st.integers(0, 5))
    ),
    arrays_of.arrays(dtypes, arrays_of.array_shapes(min_dims=0, max_side=3)),
)
ints = st.one_of(st.integers(-2, 6), st.sampled_from([2**31, -(2**31), 2**62]))
matrices = st.builds(
    csr,
    st.lists(st.floats(), max_size=5).map(np.array),
    st.lists(ints, max_size=5).map(lambda v: np.array(v, dtype=np.int64)),
    st.lists(ints, max_size=5).map(lambda v: np.array(v, dtype=np.int64)),
    st.tuples(st.integers(0, 3), st.integers(0, 6)),
)


@pytest.mark.parametrize("what", OF_ARRAYS)
@anything
@given(x=st.one_of(st.builds(lambda view, a: view(a) if a.ndim else a, views, arrays), matrices), length=ints)
def test_any_array_is_learned_or_rejected(what, x, length):
    learner = SequenceLearner.from_bytes(state(OF_ARRAYS[what]))
    before = learner.to_bytes()
    length = (
        length if 0 <= length < 7 else len(x.indptr) - 1 if hasattr(x, "indptr") else len(np.atleast_1d(x))
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert len(learner.predict_one(x)) in (len(getattr(x, "indptr", ())) - 1, x.shape[0])
        except (ValueError, TypeError):
            assert learner.to_bytes() == before
        try:
            learner.learn_many([np.ones((1, 3)), x], [["new"], ["A"] * length])
        except (ValueError, TypeError):
            assert learner.to_bytes() == before
            return
    again = SequenceLearner.from_bytes(learner.to_bytes())
    assert again.predict_one(np.ones((2, 3))) == learner.predict_one(np.ones((2, 3)))
