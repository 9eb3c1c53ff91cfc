"""What `fit` prepares once for all passes: targets, weights, the order of dense values, kernel values."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

import hinge

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 12))
SCORES = X @ RANDOM.normal(size=12) + 0.5 * RANDOM.normal(size=200)
TWO = (SCORES > 0).astype(int)
THREE = np.digitize(SCORES, [-1, 1])


def by_passes(learner, y, passes, sample_weight=None, seed=0):
    """The passes of `fit`, one `learn` after the other: targets and weights are read anew in each."""
    random = np.random.RandomState(seed)
    for _ in range(passes):
        learner.learn(X, y, sample_weight, order=random.permutation(len(X)))
    return learner


@pytest.mark.parametrize("labels", ["int", "str", "bool", "float"])
def test_targets_encoded_once_give_the_bits_of_targets_encoded_in_each_pass(labels):
    y = {"int": TWO, "str": np.array(["no", "yes"])[TWO], "bool": TWO > 0, "float": 2.0 * TWO - 1}[labels]
    weights = RANDOM.random(200)
    model = hinge.PAClassifier(C=0.1, max_iter=3, tol=None, random_state=0, average=False, scaling=None)
    model.fit(X, y, weights)
    learner = by_passes(hinge.Learner("classification", C=0.1, classes=np.unique(y).tolist()), y, 3, weights)
    np.testing.assert_array_equal(model.coef_[0], learner.weights)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_class_weights_count_once(y):
    class_weight = {label: 0.2 + label for label in np.unique(y).tolist()}
    weights = RANDOM.random(200)
    model = hinge.PAClassifier(C=0.1, max_iter=3, tol=None, random_state=0, class_weight=class_weight)
    model.fit(X, y, weights)
    factors = np.array([class_weight[label] for label in y.tolist()])
    other = hinge.PAClassifier(C=0.1, max_iter=3, tol=None, random_state=0).fit(X, y, weights * factors)
    np.testing.assert_array_equal(model.coef_, other.coef_)


def test_a_label_that_is_not_among_the_classes_is_rejected_with_its_row():
    model = hinge.PAClassifier(classes=[0, 1], max_iter=3)
    with pytest.raises(ValueError, match="row 7: the label 2 is not one of the classes 0 and 1"):
        model.fit(X, np.where(np.arange(200) == 7, 2, TWO))
    assert "_learner" not in vars(model)


# ---- dense values in Fortran order ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("count", "width"), [(1, 3), (7, 1), (64, 12), (65, 12), (300, 70), (20, 700), (3, 5000)]
)
def test_scores_do_not_depend_on_the_order_of_the_array(count, width, dtype):
    values = RANDOM.normal(size=(count, width)).astype(dtype)
    columns_together = np.asfortranarray(values)
    backwards = np.asfortranarray(values[::-1])[::-1]
    for options in ({}, {"classes": [0, 1, 2]}):
        task = "classification" if options else "regression"
        learner = hinge.Learner(task, average=True, **options)
        learner.learn(values, np.arange(count) % 3)
        for other in (columns_together, backwards):
            np.testing.assert_array_equal(learner.scores(values), learner.scores(other))


def test_a_bad_value_in_fortran_order_is_rejected_with_its_place():
    learner = hinge.Learner("regression")
    learner.learn(X, SCORES)
    values = np.asfortranarray(X)
    values[150, 3] = np.inf
    with pytest.raises(ValueError, match="row 150, column 3"):
        learner.scores(values)


def test_fit_does_not_depend_on_the_order_of_the_array():
    one = hinge.PAClassifier(max_iter=3, tol=None, random_state=0).fit(X, TWO)
    other = hinge.PAClassifier(max_iter=3, tol=None, random_state=0).fit(np.asfortranarray(X), TWO)
    np.testing.assert_array_equal(one.coef_, other.coef_)


# ---- kernel values --------------------------------------------------------------------------------------------------

KERNELS = {
    "two": (hinge.PAClassifier, TWO, {}),
    "three": (hinge.PAClassifier, THREE, {}),
    "averaged": (hinge.PAClassifier, TWO, {"average": True}),
    "float32": (hinge.PAClassifier, TWO, {"dtype": "float32"}),
    "numbers": (hinge.PARegressor, SCORES, {"C": 0.5}),
    "ranks": (hinge.PAOrdinal, THREE, {}),
    "batch": (hinge.PAClassifier, TWO, {"step": "pa", "batch_tolerance": 1e-2, "max_updates": 3000}),
    "budget": (hinge.PAClassifier, TWO, {"budget": 60}),
    "uniclass": (hinge.PAOneClass, None, {"radius": 2.0}),
}


def same_but_for_rounding(model, other):
    """The same rounds. (A row at the very edge of its margin could fall to either side; there is none here.)"""
    np.testing.assert_array_equal(model.support_, other.support_)
    np.testing.assert_allclose(model.dual_coef_, other.dual_coef_, rtol=1e-7, atol=1e-10)
    for name in ("rounds", "mistakes", "updates", "insertions", "removals"):
        assert getattr(model.stats_, name) == getattr(other.stats_, name)
    np.testing.assert_allclose(model.stats_.loss, other.stats_.loss, rtol=1e-9)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "poly"])
@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.filterwarnings("ignore:.*passes:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:the batch conversion:sklearn.exceptions.ConvergenceWarning")
def test_following_the_scores_of_all_rows_gives_the_sums_over_the_supports(kind, kernel, sparse, monkeypatch):
    estimator, y, options = KERNELS[kind]
    options = {"kernel": kernel, "gamma": 0.1, "max_iter": 8, "tol": None, "random_state": 0, **options}
    rows = scipy.sparse.csr_matrix(X * (np.abs(X) > 0.7)) if sparse else X
    followed = estimator(**options).fit(rows, y)
    computed = estimator(**options, max_cache=100_000).fit(rows, y)  # room for a part of the kernel values
    learn = hinge.Learner.learn_rows

    def forgetful(self, *arguments, **named):
        self._engine.forget_rows()
        return learn(self, *arguments, **named)

    monkeypatch.setattr(hinge.Learner, "learn_rows", forgetful)
    summed = estimator(**options).fit(rows, y)
    np.testing.assert_array_equal(followed.dual_coef_, computed.dual_coef_)
    assert followed.stats_ == computed.stats_
    same_but_for_rounding(followed, summed)
    assert followed.n_support_ > 10 or kind == "uniclass"
    if kind == "budget":
        assert followed.stats_ == summed.stats_


@pytest.mark.parametrize("kind", ["two", "three", "numbers", "ranks", "uniclass"])
def test_a_custom_kernel_learns_what_the_built_in_one_learns(kind):
    """In several passes: the values of a function are not those of the vectors themselves."""
    estimator, y, options = KERNELS[kind]
    options = {"max_iter": 6, "tol": None, "random_state": 0, **options}

    def rbf(left, right):
        return np.exp(-0.1 * ((left[:, None] - right[None]) ** 2).sum(axis=2))

    custom = estimator(kernel=rbf, **options).fit(X, y)
    same_but_for_rounding(custom, estimator(kernel="rbf", gamma=0.1, **options).fit(X, y))


def test_one_pass_gives_the_bits_of_partial_fit():
    options = {"kernel": "rbf", "gamma": 0.1}
    one = hinge.PAClassifier(max_iter=1, shuffle=False, **options).fit(X, TWO)
    other = hinge.PAClassifier(**options).partial_fit(X, TWO, classes=[0, 1])
    np.testing.assert_array_equal(one.dual_coef_, other.dual_coef_)


@pytest.mark.parametrize("rejects", [False, True])
def test_passes_over_other_rows_do_not_take_the_scores_of_the_rows_before(rejects):
    """Passes over other arrays, rejected passes and single events between passes."""
    other = X[::-1].copy()

    def rounds(forget):
        learner = hinge.Learner("classification", classes=[0, 1], kernel="rbf", gamma=0.1)
        for rows, first in [(X, 0), (X, 0), (X, 0), (other, 200), (other, 200), (X, 0), (X, 0)]:
            if forget:
                learner._engine.forget_rows()
            learner._engine.learn_dense(rows, TWO, (0.0, 1.0), first=first, repeats=True)
            broken = rows.copy()
            broken[150, 0] = np.nan
            if rejects:
                with pytest.raises(ValueError, match="row 150"):
                    learner._engine.learn_dense(broken, TWO, (0.0, 1.0), first=first, repeats=True)
        return learner

    followed, summed = rounds(forget=False), rounds(forget=True)
    np.testing.assert_array_equal(followed.support, summed.support)
    np.testing.assert_allclose(followed.dual_coef, summed.dual_coef, rtol=1e-9)
    if rejects:  # after a rejected pass the scores are summed up as if nothing had been kept
        assert followed.to_bytes() == summed.to_bytes()


# ---- unsorted rows --------------------------------------------------------------------------------------------------


def test_unsorted_rows_with_repeated_columns_are_summed_up_in_every_pass():
    """Rows with distinct columns are known after the first pass; rows with repeated ones are sorted in each."""
    columns = np.argsort(RANDOM.random((200, 12)), axis=1)
    columns[::3, 5] = columns[::3, 2]
    rows = scipy.sparse.csr_matrix((X.ravel(), columns.ravel(), np.arange(0, 2401, 12)), shape=(200, 12))
    expected = rows.copy()
    expected.sum_duplicates()
    options = {"C": 0.1, "max_iter": 5, "tol": None, "random_state": 0}
    for y in (TWO, THREE):
        model = hinge.PAClassifier(**options).fit(rows, y)
        other = hinge.PAClassifier(**options).fit(expected, y)
        np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-9, atol=1e-12)
    assert not rows.has_sorted_indices


def test_columns_outside_are_rejected_in_a_later_pass():
    """What is known of a row from the first pass does not let it read outside of the weights."""
    columns = np.argsort(RANDOM.random((200, 12)), axis=1).astype(np.int32)
    starts = np.arange(0, 2401, 12)
    learner = hinge.Learner("classification", classes=[0, 1])
    learner._engine.learn_sparse(
        X.ravel(), columns.ravel(), starts, 12, TWO, (0.0, 1.0), repeats=True, first=0
    )
    before, known = learner.to_bytes(), columns.ravel()
    known[150 * 12 + 3] = 2**30
    for _ in range(2):
        with pytest.raises(ValueError, match="row 150"):
            learner._engine.learn_sparse(X.ravel(), known, starts, 12, TWO, (0.0, 1.0), repeats=True, first=0)
    assert learner.to_bytes() == before
