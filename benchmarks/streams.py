"""The streams of `good_without_tuning.py`, from the folder $HINGE_DATA: rows in time, or shuffled three times."""

from __future__ import annotations

import gzip
import lzma
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from real_sets import folder, json_lines

MOST = 5_000
"""Rounds of a stream."""


@dataclass
class Stream:
    """`task` is one of Learner's. For label sets y is a 0/1 matrix, for grades the ranks 0, 1, ..."""

    name: str
    task: str
    x: Any
    y: Any
    orders: int = 1  # 1: in the order of the file

    def rounds(self) -> Iterator[tuple[Any, Any]]:
        """The rows of each order, with their truths."""
        for order in range(self.orders):
            random = np.random.default_rng(order)
            rows = np.arange(len(self.y)) if self.orders == 1 else random.permutation(len(self.y))[:MOST]
            yield self.x[rows], self.y[rows]

    @property
    def length(self) -> int:
        return len(self.y) if self.orders == 1 else min(len(self.y), MOST)

    @property
    def classes(self) -> int:
        return self.y.shape[1] if self.y.ndim == 2 else int(self.y.max()) + 1


def shuffled(name: str, task: str, x: Any, y: Any) -> Stream:
    return Stream(name, task, x, y, orders=3 if len(y) <= 2_000 else 2)


def codes(labels: Any) -> Any:
    return np.unique(np.asarray(labels), return_inverse=True)[1].ravel()


# ---- tables -------------------------------------------------------------------------------------------------


def table(name: str, task: str, file: str, most: int | None = None) -> list[Stream]:
    """A table of numbers, as it comes and standardised."""
    with np.load(folder() / f"{file}.npz") as arrays:
        given, y = matrix(arrays), np.concatenate([arrays[n] for n in arrays.files if n.startswith("y")])
    if task != "regression":
        y = codes(y)
    if most is None:
        rows = np.random.default_rng(9).permutation(len(y))[: 2 * MOST]
        given, y = given[rows], y[rows]
    x = np.where(np.isnan(given), np.nanmean(given, axis=0), given)
    deviation = x.std(axis=0)
    scaled = (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
    raw = shuffled(f"{name} raw", task, x, y.astype(np.float64) if task == "regression" else y)
    if most is not None:  # the rows come in time
        raw = replace(raw, x=x[:most], y=y[:most], orders=1)
        scaled = scaled[:most]
    return [raw, replace(raw, name=f"{name} standardised", x=scaled)]


def matrix(arrays: Any) -> Any:
    if "X_num" in arrays:  # covtype
        return np.hstack([arrays["X_num"], arrays["X_bin"]]).astype(np.float64)
    return np.concatenate([arrays[n] for n in arrays.files if n.startswith("X")]).astype(np.float64)


def grades(name: str, file: str, most: int = 10) -> list[Stream]:
    """Grades: those of more than `most` values are cut into `most` of about the same size."""
    found = []
    for stream in table(name, "regression", file):
        y = codes(stream.y)
        if y.max() >= most:
            edges = np.quantile(stream.y, np.arange(1, most) / most)
            y = codes(np.searchsorted(edges, stream.y))
        found.append(replace(stream, task="ordinal", y=y))
    return found


# ---- texts --------------------------------------------------------------------------------------------------


def texts(
    name: str, documents: list[str], y: Any, task: str = "classification", in_time: bool = False
) -> list[Stream]:
    """Words that occur or not, and the logarithms of their counts in rows of length 1 (no statistics of other rows)."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    rows = np.arange(len(documents)) if in_time else np.random.default_rng(0).permutation(len(documents))
    rows = rows[:MOST]
    y = np.asarray(y)[rows]
    words = CountVectorizer(token_pattern=r"[^\W_]+", dtype=np.float64).fit_transform(
        [documents[i] for i in rows]
    )
    words.sort_indices()
    there, lengths = words.copy(), words.copy()
    there.data = np.ones_like(there.data)
    lengths.data = 1 + np.log(lengths.data)
    make = Stream if in_time else shuffled
    y = y if y.ndim == 2 else codes(y)
    return [make(f"{name} 0/1", task, there, y), make(f"{name} length 1", task, normalize(lengths), y)]


def mail(user: str) -> list[Stream]:
    messages = list(json_lines(f"enron_{user}"))
    bodies = [f"{m['subject'] or ''} {m['body'] or ''}" for m in messages]
    return texts(f"mail {user}", bodies, [m["folder"] for m in messages], in_time=True)


def sms() -> list[Stream]:
    messages = list(json_lines("sms_spam"))
    return texts("sms", [m["text"] for m in messages], [m["label"] for m in messages])


def webkb() -> list[Stream]:
    pages = list(json_lines("webkb_course"))
    return texts(
        "webkb", [re.sub(r"<[^>]*>", " ", p["fulltext"]) for p in pages], [p["label"] for p in pages]
    )


def newsgroups() -> list[Stream]:
    documents = list(json_lines("20newsgroups"))
    return texts("20newsgroups", [d["text"] for d in documents], [d["label"] for d in documents])


def reuters_in_time() -> list[dict[str, Any]]:
    from datetime import datetime

    def date(document: dict[str, Any]) -> float:
        try:
            return datetime.strptime(document["date"].strip(), "%d-%b-%Y %H:%M:%S.%f").timestamp()
        except ValueError:
            return 0.0  # four cannot be parsed

    documents = [d for d in json_lines("reuters21578") if d["has_topics"] == "YES" and d["topics"]]
    return sorted(documents, key=date)[:MOST]


def bodies(documents: list[dict[str, Any]]) -> list[str]:
    return [f"{d['title']} {d['body']}" for d in documents]


def reuters() -> list[Stream]:
    """Documents with one topic, in time."""
    documents = [d for d in reuters_in_time() if len(d["topics"]) == 1]
    return texts("reuters", bodies(documents), [d["topics"][0] for d in documents], in_time=True)


def rcv1() -> list[Stream]:
    x, y = svmlight(["rcv1_vw_small_train", "rcv1_vw_small_test"])
    return [shuffled("rcv1", "classification", x, codes(y))]


def svmlight(names: list[str], several: bool = False) -> Any:
    from scipy.sparse import vstack
    from sklearn.datasets import load_svmlight_file

    parts = []
    for name in names:
        with lzma.open(folder() / f"{name}.svm.xz", "rb") as file:
            parts.append(
                load_svmlight_file(file, n_features=2_000 if several else 60_000, multilabel=several)
            )
    x = vstack([part for part, _ in parts], format="csr")
    x.indices, x.indptr = x.indices.astype(np.int32), x.indptr.astype(np.int32)
    return x, [y for _, part in parts for y in part]


def conll() -> list[Stream]:
    """Each word with its neighbours and tags; the truth is its chunk."""
    from sklearn.feature_extraction import DictVectorizer

    with gzip.open(folder() / "conll2000_train.txt.gz", "rt", encoding="utf-8") as file:
        lines = [line.split() for line in file][: MOST + 1_000]
    lines = [line or ["", "", ""] for line in lines]
    events, chunks = [], []
    for i in range(1, len(lines) - 1):
        if not lines[i][0]:
            continue
        (before, tag_before, _), (word, tag, chunk), (after, tag_after, _) = lines[i - 1 : i + 2]
        events.append(
            {
                "w": word,
                "t": tag,
                "s": word[-3:],
                "w-": before,
                "t-": tag_before,
                "w+": after,
                "t+": tag_after,
            }
        )
        chunks.append(chunk)
    x = DictVectorizer().fit_transform(events[:MOST])
    return [Stream("conll2000 tokens", "classification", x, codes(chunks[:MOST]))]


# ---- sets of labels ------------------------------------------------------------------------------------------


def mulan(name: str) -> list[Stream]:
    from sklearn.preprocessing import MultiLabelBinarizer, normalize

    x, y = svmlight([f"{name}_train", f"{name}_test"], several=True)
    sets = MultiLabelBinarizer().fit_transform(y).astype(np.int64)
    there = shuffled(f"{name} 0/1", "multilabel", x, sets)
    return [there, replace(there, name=f"{name} length 1", x=normalize(x))]


def reuters_topics() -> list[Stream]:
    """All topics of at least three documents, in time."""
    from sklearn.preprocessing import MultiLabelBinarizer

    documents = reuters_in_time()
    sets = MultiLabelBinarizer().fit_transform([d["topics"] for d in documents]).astype(np.int64)
    return texts(
        "reuters topics", bodies(documents), sets[:, sets.sum(axis=0) >= 3], "multilabel", in_time=True
    )


USERS = ("beck-s", "farmer-d", "kitchen-l", "lokay-m", "williams-w3")
TABLES = ("mnist", "usps", "letter", "covtype", "spambase", "bupa", "crx")

STREAMS: dict[str, Callable[[], list[Stream]]] = {
    "elec2": lambda: table("elec2", "classification", "elec2", most=20_000),
    **{f"mail {user}": lambda user=user: mail(user) for user in USERS},
    "reuters": reuters,
    "conll2000": conll,
    "sms": sms,
    "webkb": webkb,
    "rcv1": rcv1,
    "20newsgroups": newsgroups,
    **{name: lambda name=name: table(name, "classification", name) for name in TABLES},
    "mammography": lambda: table("mammography", "classification", "novelty_mammography"),
    "thyroid": lambda: table("thyroid", "classification", "novelty_thyroid"),
    "abalone": lambda: table("abalone", "regression", "abalone"),
    "cal_housing": lambda: table("cal_housing", "regression", "cal_housing"),
    "wine": lambda: table("wine", "regression", "wine_quality_red"),
    "lev": lambda: grades("grades: lev", "ordinal_lev"),
    "swd": lambda: grades("grades: swd", "ordinal_swd"),
    "wine grades": lambda: grades("grades: wine", "wine_quality_red"),
    "abalone grades": lambda: grades("grades: abalone", "abalone"),
    "ml_enron": lambda: mulan("ml_enron"),
    "ml_medical": lambda: mulan("ml_medical"),
    "reuters topics": reuters_topics,
}
