"""The sets of `fit_defaults.py`: fixed splits of real data, from the folder $HINGE_DATA.

Tables come twice: as they are ("raw"), and standardised by the training rows ("std"). Texts are tf-idf vectors of length
1, made from the training rows. Sets without a test part are split at random, 70 % to learn: five times if they have
fewer than 2,500 rows, else once; errors are means over the splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from real_sets import folder, json_lines, mail, mulan, narrow, newsgroups, reuters

TEST_SHARE, SMALL, SPLITS = 0.3, 2_500, 5
Table = tuple[Any, Any, Any, Any]  # X and y to learn, X and y to test; the test part may be None


@dataclass
class Split:
    X: Any
    y: Any
    test_X: Any
    test_y: Any


@dataclass
class FitSet:
    task: str
    name: str
    kind: str  # raw, std or text
    splits: list[Split]


# ---- tables -----------------------------------------------------------------------------------------------------


def table(name: str, most: int | None = None, y: Callable[[Any], Any] = lambda y: y) -> Table:
    """`most` rows of a table, in a random order; missing numbers are the median of their column."""
    with np.load(folder() / f"{name}.npz") as file:
        if "X_num" in file:
            X, target = np.hstack([file["X_num"], file["X_bin"]]), file["y"]
        elif "X_train" in file:
            X, target, test_X, test_y = (file[k] for k in ("X_train", "y_train", "X_test", "y_test"))
            some = np.random.default_rng(0).permutation(len(X))[:most]
            return X[some].astype(np.float64), y(target[some]), test_X.astype(np.float64), y(test_y)
        else:
            X, target = file["X"], file["y"]
    some = np.random.default_rng(0).permutation(len(X))[:most]
    X, target = X[some].astype(np.float64), target[some]
    X = np.where(np.isnan(X), np.nanmedian(X, axis=0), X)
    return X, y(target), None, None


def divided(X: Any, y: Any, test_X: Any = None, test_y: Any = None) -> Iterator[Split]:
    if test_X is not None:
        yield Split(X, y, test_X, test_y)
        return
    count = X.shape[0]
    for seed in range(SPLITS if count < SMALL else 1):
        order = np.random.default_rng(seed).permutation(count)
        test, train = np.split(order, [int(TEST_SHARE * count)])
        yield Split(X[train], y[train], X[test], y[test])


def standardised(split: Split) -> Split:
    mean, deviation = split.X.mean(axis=0), split.X.std(axis=0)
    deviation[deviation == 0] = 1
    return Split((split.X - mean) / deviation, split.y, (split.test_X - mean) / deviation, split.test_y)


def both(task: str, name: str, read: Callable[[], Table]) -> Iterator[FitSet]:
    splits = list(divided(*read()))
    yield FitSet(task, name, "raw", splits)
    yield FitSet(task, name, "std", [standardised(split) for split in splits])


# ---- texts ------------------------------------------------------------------------------------------------------


def texts(name: str, documents: list[str], labels: list[Any]) -> Iterator[FitSet]:
    from sklearn.feature_extraction.text import TfidfVectorizer

    splits = []
    for split in divided(np.asarray(documents, dtype=object), np.asarray(labels)):
        weigh = TfidfVectorizer(sublinear_tf=True).fit(split.X)
        splits.append(Split(weigh.transform(split.X), split.y, weigh.transform(split.test_X), split.test_y))
    yield FitSet("classification", name, "text", splits)


def folders(user: str) -> Iterator[FitSet]:
    """The folders with ten messages or more."""
    its = mail(user)
    common = {folder for folder in its.folders if its.folders.count(folder) >= 10}
    kept = [(" ".join(w), f) for w, f in zip(its.words, its.folders, strict=True) if f in common]
    yield from texts(f"enron {user}", [w for w, _ in kept], [f for _, f in kept])


def sms() -> Iterator[FitSet]:
    messages = list(json_lines("sms_spam"))
    yield from texts("sms spam", [m["text"] for m in messages], [m["label"] for m in messages])


def pages() -> Iterator[FitSet]:
    its = list(json_lines("webkb_course"))
    yield from texts("webkb", [p["fulltext"] for p in its], [p["label"] for p in its])


def rcv1() -> Iterator[FitSet]:
    import lzma

    from sklearn.datasets import load_svmlight_file

    parts = []
    for part in ("train", "test"):
        with lzma.open(folder() / f"rcv1_vw_small_{part}.svm.xz", "rb") as file:
            parts.append(load_svmlight_file(file, n_features=50_000))
    (X, y), (test_X, test_y) = ((narrow(X), y) for X, y in parts)
    yield FitSet("classification", "rcv1 small", "text", [Split(X, y, test_X, test_y)])


def news() -> Iterator[FitSet]:
    its = newsgroups()
    yield FitSet("classification", "20newsgroups", "text", [Split(its.x, its.y, its.test_x, its.test_y)])


def topics() -> Iterator[FitSet]:
    """Documents with one topic, of the ten most frequent ones."""
    its = reuters()
    top = np.argsort(-its.y.sum(axis=0))[:10]

    def of_one(X: Any, y: Any) -> tuple[Any, Any]:
        one = (y.sum(axis=1) == 1) & (y[:, top].sum(axis=1) == 1)
        return X[one], y[one].argmax(axis=1)

    yield FitSet(
        "classification",
        "reuters top 10",
        "text",
        [Split(*of_one(its.x, its.y), *of_one(its.test_x, its.test_y))],
    )


def label_sets(read: Callable[[], Any]) -> Iterator[FitSet]:
    its = read()
    yield FitSet("multilabel", its.name, "text", [Split(its.x, its.y, its.test_x, its.test_y)])


# ---- all --------------------------------------------------------------------------------------------------------


def _grades(y: Any) -> Any:
    """Five grades, about equally frequent."""
    return np.searchsorted(np.quantile(y, [0.2, 0.4, 0.6, 0.8]), y)


_CLASSES = "classification"
SETS: dict[str, Callable[[], Iterator[FitSet]]] = {
    **{
        name: partial(both, _CLASSES, name, partial(table, name, most))
        for name, most in {
            "bupa": None, "crx": None, "spambase": None, "letter": 10_000, "usps": None, "mnist": 5_000,
            "covtype": 20_000, "elec2": 20_000, "wine_quality_red": None, "novelty_mammography": None,
            "novelty_thyroid": None,
        }.items()
    },
    "20newsgroups": news,
    "reuters top 10": topics,
    "sms spam": sms,
    "webkb": pages,
    "rcv1 small": rcv1,
    **{
        f"enron {user}": partial(folders, user)
        for user in ("beck-s", "farmer-d", "kitchen-l", "lokay-m", "williams-w3")
    },
    **{
        f"{name}, numbers": partial(
            both, "regression", name, partial(table, name, None, lambda y: y.astype(np.float64))
        )
        for name in ("abalone", "cal_housing", "wine_quality_red")
    },
    **{
        f"{name}, grades": partial(both, "ordinal", name, partial(table, name, None, read))
        for name, read in {
            "ordinal_lev": lambda y: y, "ordinal_swd": lambda y: y, "wine_quality_red": lambda y: y,
            "abalone": _grades,
        }.items()
    },
    "reuters": partial(label_sets, reuters),
    "ml_enron": partial(label_sets, partial(mulan, "ml_enron")),
    "ml_medical": partial(label_sets, partial(mulan, "ml_medical")),
}  # fmt: skip
