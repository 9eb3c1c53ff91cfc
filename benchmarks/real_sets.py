"""The real sets of `labels.py` and `geometries.py`, from the folder $HINGE_DATA (none is in this repository)."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Words = list[str]

DIGIT = 8
"""Against the rest: the digit that linear learners find the hardest to tell, so that differences show."""


@dataclass
class Set:
    """Training rows in the fixed order in which they are learned, and test rows (none: the rows are split anew)."""

    name: str
    x: Any
    y: Any
    test_x: Any = None
    test_y: Any = None
    about: str = ""


@dataclass
class Mail:
    """One user's messages in the order of time: their words, and the folders that they went to."""

    name: str
    words: list[Words]
    folders: list[str]


def folder() -> Path:
    where = os.environ.get("HINGE_DATA")
    if not where:
        raise SystemExit("set HINGE_DATA to the folder that holds the sets (mnist.npz, usps.npz, ...)")
    return Path(where)


def json_lines(name: str) -> Iterator[dict[str, Any]]:
    path = folder() / f"{name}.jsonl.xz"
    unpack: Any = lzma.open if path.exists() else gzip.open
    with unpack(path if path.exists() else path.with_suffix(".gz"), "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def shuffled(name: str, x: Any, y: Any, test_x: Any, test_y: Any, about: str) -> Set:
    order = np.random.default_rng(0).permutation(x.shape[0])
    return Set(name, x[order], y[order], test_x, test_y, about)


# ---- one label a row --------------------------------------------------------------------------------------


def digits(name: str) -> Set:
    """Pictures, divided by one number, so that the mean squared length of a row is 1."""
    from scipy.sparse import csr_matrix

    with np.load(folder() / f"{name}.npz") as file:
        x, test = (file[f"X_{part}"].astype(np.float64) for part in ("train", "test"))
        y, test_y = (file[f"y_{part}"].astype(np.int64) for part in ("train", "test"))
    length = np.sqrt(np.einsum("ij,ij->", x, x) / len(x))
    x, test = x / length, test / length
    if name == "mnist":  # four numbers in five are 0: everyone is faster with CSR
        x, test = csr_matrix(x), csr_matrix(test)
    return shuffled(name, x, y, test, test_y, "scaled to a mean squared length of 1")


def letter() -> Set:
    """16 numbers, standardised and divided by 4: the mean squared length of a row is 1."""
    with np.load(folder() / "letter.npz") as file:
        x, y = file["X"].astype(np.float64), file["y"].astype(np.int64)
    x = (x - x[:16_000].mean(axis=0)) / x[:16_000].std(axis=0) / 4
    return shuffled("letter", x[:16_000], y[:16_000], x[16_000:], y[16_000:], "standardised, divided by 4")


def newsgroups() -> Set:
    from sklearn.feature_extraction.text import TfidfVectorizer

    documents = list(json_lines("20newsgroups"))
    train, test = ([d for d in documents if d["split"] == part] for part in ("train", "test"))
    names = sorted({d["label"] for d in documents})
    vectorizer = TfidfVectorizer(sublinear_tf=True)
    x = vectorizer.fit_transform([d["text"] for d in train])
    test_x = vectorizer.transform([d["text"] for d in test])
    y, test_y = (np.array([names.index(d["label"]) for d in part]) for part in (train, test))
    return shuffled("20newsgroups", x, y, test_x, test_y, "tf-idf, rows of length 1")


# ---- sets of labels ----------------------------------------------------------------------------------------


def reuters() -> Set:
    """ModApte: the 90 topics that occur in both parts, documents with one of them at least."""
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.preprocessing import MultiLabelBinarizer

    documents = [d for d in json_lines("reuters21578") if d["has_topics"] == "YES"]
    train, test = ([d for d in documents if d["lewissplit"] == part] for part in ("TRAIN", "TEST"))
    topics = sorted({t for d in train for t in d["topics"]} & {t for d in test for t in d["topics"]})
    train, test = ([d for d in part if set(d["topics"]) & set(topics)] for part in (train, test))
    sets = MultiLabelBinarizer(classes=topics)
    y, test_y = (
        sets.fit_transform([set(d["topics"]) & set(topics) for d in part]).astype(np.int64)
        for part in (train, test)
    )
    texts, test_texts = ([f"{d['title']}\n{d['body']}" for d in part] for part in (train, test))
    vectorizer = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    x, test_x = vectorizer.fit_transform(texts), vectorizer.transform(test_texts)
    return shuffled("reuters21578", x, y, test_x, test_y, f"{len(topics)} topics, tf-idf, rows of length 1")


def mulan(name: str) -> Set:
    """Words that occur or not; rows of length 1."""
    from sklearn.datasets import load_svmlight_file
    from sklearn.preprocessing import MultiLabelBinarizer, normalize

    parts = []
    for part in ("train", "test"):
        with lzma.open(folder() / f"{name}_{part}.svm.xz", "rb") as file:
            parts.append(load_svmlight_file(file, n_features=1500, multilabel=True))
    sets = MultiLabelBinarizer().fit([labels for _, part in parts for labels in part])
    (x, y), (test_x, test_y) = ((narrow(normalize(x)), sets.transform(y).astype(np.int64)) for x, y in parts)
    return shuffled(name, x, y, test_x, test_y, f"{len(sets.classes_)} labels, rows of length 1")


def narrow(x: Any) -> Any:
    """With int32 indices: scikit-learn's linear models reject the int64 ones of its own svmlight reader."""
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x


# ---- ranks, and mail ---------------------------------------------------------------------------------------


def ranks(name: str) -> Set:
    """Not standardised here: that is learned from the training rows of each split."""
    with np.load(folder() / f"{name}.npz") as file:
        x, y = file["X"].astype(np.float64), file["y"].astype(np.int64)
    return Set(name, x, y, about=f"{len(np.unique(y))} ranks, standardised")


def mail(user: str) -> Mail:
    """The words of sender, recipients, subject and body: runs of letters, in lower case."""
    parts = ("from", "to", "cc", "subject", "body")
    messages = list(json_lines(f"enron_{user}"))
    words = [re.findall(r"[^\W\d_]+", " ".join(m[part] or "" for part in parts).lower()) for m in messages]
    return Mail(user, words, [m["folder"] for m in messages])


# ---- two classes, as they come and scaled -------------------------------------------------------------------


@dataclass
class Binary:
    """Two classes, y is 0 or 1; the features as they come and scaled, rows of about length 1."""

    name: str
    unscaled: Any
    scaled: Any
    y: Any
    about: str
    balanced: bool = False  # a stream has all positives and as many of the negatives, drawn anew
    most: int | None = None  # rows of a stream

    def stream(self, seed: int) -> Any:
        """The rows of a permutation, in its order."""
        random = np.random.default_rng(seed)
        if not self.balanced:
            return random.permutation(len(self.y))[: self.most]
        positive, negative = np.flatnonzero(self.y == 1), np.flatnonzero(self.y == 0)
        drawn = random.choice(negative, len(positive), replace=False)
        return random.permutation(np.concatenate([positive, drawn]))


def standardised(x: Any) -> Any:
    """Columns of mean 0 and deviation 1, divided by the square root of their number."""
    deviation = x.std(axis=0)
    return (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1) / np.sqrt(x.shape[1])


def numbers(name: str, positive: int, about: str) -> Binary:
    """A missing number is the mean of its column."""
    with np.load(folder() / f"{name}.npz") as file:
        x, y = file["X"].astype(np.float64), (file["y"] == positive).astype(np.int64)
    x = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    return Binary(name, x, standardised(x), y, f"{about}; scaled: standardised")


def one_digit(name: str, digit: int, balanced: bool = True) -> Binary:
    """MNIST is divided by one number: standardising would blow up the pixels at the border."""
    from scipy.sparse import csr_matrix

    with np.load(folder() / f"{name}.npz") as file:
        x, y = (np.concatenate([file[f"{which}_train"], file[f"{which}_test"]]) for which in "Xy")
    x, y = x.astype(np.float64), (y == digit).astype(np.int64)
    rest = "as many of the rest, drawn anew for each permutation" if balanced else "all of the rest"
    about = f"{digit} against {rest}; scaled: "
    if name == "usps":
        return Binary(name, x, standardised(x), y, f"{about}standardised", balanced)
    length = np.sqrt(np.einsum("ij,ij->", x, x) / len(x))
    x = csr_matrix(x)
    about += "mean squared length 1"
    if balanced:
        return Binary(name, x, x / length, y, about, balanced)
    return Binary(f"{name}_all", x, x / length, y, f"{about}; 20,000 rows of each permutation", most=20_000)


def webkb(common: int = 1) -> Binary:
    """Pages of courses: the words outside of the tags, runs of letters in lower case, in `common` pages at least."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    pages = list(json_lines("webkb_course"))
    texts = [re.sub(r"<[^>]*>", " ", page["fulltext"]) for page in pages]
    counts = CountVectorizer(token_pattern=r"[^\W\d_]+", min_df=common, dtype=np.float64).fit_transform(texts)
    counts.sort_indices()
    scaled = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    y = np.array([page["label"] for page in pages], dtype=np.int64)
    words = "all words" if common == 1 else f"words of at least {common} pages"
    name = "webkb_course" if common == 1 else "webkb_common"
    return Binary(name, counts, scaled, y, f"{words}, how often; scaled: tf-idf, rows of length 1")


MULTICLASS: dict[str, Callable[[], Set]] = {
    "mnist": lambda: digits("mnist"),
    "usps": lambda: digits("usps"),
    "letter": letter,
    "20newsgroups": newsgroups,
}
MULTILABEL: dict[str, Callable[[], Set]] = {
    "reuters21578": reuters,
    "ml_enron": lambda: mulan("ml_enron"),
    "ml_medical": lambda: mulan("ml_medical"),
}
ORDINAL: dict[str, Callable[[], Set]] = {
    name: lambda name=name: ranks(name) for name in ("ordinal_lev", "ordinal_swd", "wine_quality_red")
}
MAIL: dict[str, Callable[[], Mail]] = {
    f"enron_{user}": lambda user=user: mail(user) for user in ("lokay-m", "farmer-d")
}
BINARY: dict[str, Callable[[], Binary]] = {
    "bupa": lambda: numbers("bupa", 2, "the selector's 2 against 1"),
    "crx": lambda: numbers("crx", 1, "granted or not; missing numbers: the mean"),
    "spambase": lambda: numbers("spambase", 1, "spam or not"),
    "usps": lambda: one_digit("usps", DIGIT),
    "mnist": lambda: one_digit("mnist", DIGIT),
    "webkb_course": webkb,
    "webkb_common": lambda: webkb(common=20),
    "mnist_all": lambda: one_digit("mnist", DIGIT, balanced=False),
}
