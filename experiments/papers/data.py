"""The data of E6 to E8 and E10: from the folder of the sets (the files are in `needs` of each recipe), or a substitute.

Substitutes are scikit-learn's bundled sets, and for mail a generated stream: nothing is downloaded.
"""

from __future__ import annotations

import gzip
import json
import lzma
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .recipe import Setting

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

LETTERS = re.compile(r"[^\W\d_]+")
ALL_WORDS = "webkb (all words)"


# ---- mail -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mail:
    """One user's messages in the order of time: their words, and the folders that they went to."""

    user: str
    words: list[list[str]]
    folders: list[str]

    def first(self, messages: int | None) -> Mail:
        return Mail(self.user, self.words[:messages], self.folders[:messages])


USERS = ("beck-s", "farmer-d", "kaminski-v", "kitchen-l", "lokay-m", "sanders-r", "williams-w3")  # S06's


def enron_file(user: str) -> str:
    return f"enron_{user}.jsonl.xz"


def enron(setting: Setting, users: Sequence[str] = USERS) -> list[Mail]:
    """The mail of the users whose messages are in the folder."""
    return [_enron_user(user, file) for user in users if (file := setting.file(enron_file(user)))]


def _enron_user(user: str, file: Path) -> Mail:
    """The words of sender and recipients (addresses and names), subject and body: runs of letters, in lower case."""
    messages = list(json_lines(file))
    parts = ("from", "to", "cc", "x_from", "x_to", "subject", "body")
    texts = [" ".join(message.get(part) or "" for part in parts).lower() for message in messages]
    return Mail(user, [LETTERS.findall(text) for text in texts], [message["folder"] for message in messages])


def json_lines(file: Path) -> Iterator[dict[str, Any]]:
    unpack: Any = lzma.open if file.suffix == ".xz" else gzip.open
    with unpack(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def made_up_mail(messages: int, seed: int, folders: int = 20) -> Mail:
    """Words of a folder's topic among words that all share; folders open one after the other, some are busy.

    A few of a topic's words belong to another topic as well, and in every message a few words are repeated often: what
    makes counts of words in real mail uneven.
    """
    random = np.random.default_rng(seed)
    common = 1 / np.arange(1, 2001)
    topics = random.integers(0, 600, size=(folders, 30))
    opens = np.sort(random.integers(0, messages // 2, size=folders))
    busy = random.pareto(1.0, size=folders) + 0.2
    texts, labels = [], []
    for time in range(messages):
        there = max(1, int(np.searchsorted(opens, time, side="right")))
        folder = int(random.choice(there, p=busy[:there] / busy[:there].sum()))
        length = 5 + int(random.lognormal(3.0, 0.8))
        shared = random.choice(len(common), size=length, p=common / common.sum())
        own = random.choice(topics[folder], size=1 + length // 6)
        drawn = [*(f"common{word}" for word in shared), *(f"topic{word}" for word in own)]
        repeated = [
            word for word in drawn if random.random() < 0.05 for _ in range(int(random.pareto(1.0) * 3))
        ]
        texts.append(drawn + repeated)
        labels.append(f"folder {folder}")
    return Mail(f"made up ({seed})", texts, labels)


# ---- two classes ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TwoClasses:
    """Rows, unscaled and scaled to a length of about 1, and their classes.

    With `ten`, y holds digits: a stream has all rows of one digit, which the seed selects, and as many of the others.
    """

    name: str
    unscaled: Any
    scaled: Any
    y: Integers
    about: str
    ten: bool = False
    full: bool = True  # whether a full covariance is affordable

    def stream(self, seed: int, scaling: str, most: int | None) -> tuple[Any, Integers]:
        """The rows of one randomisation and their classes, 0 or 1."""
        random = np.random.default_rng(seed)
        x = getattr(self, scaling)
        if not self.ten:
            order = random.permutation(len(self.y))[:most]
            return x[order], self.y[order]
        y = (self.y == random.integers(10)).astype(np.int64)
        positive, negative = np.flatnonzero(y == 1), np.flatnonzero(y == 0)
        drawn = random.choice(negative, len(positive), replace=False)
        order = random.permutation(np.concatenate([positive, drawn]))[:most]
        return x[order], y[order]


def standardised(x: Floats) -> Floats:
    """Columns of mean 0 and deviation 1, divided by the root of their number. Uses all rows, but no label."""
    deviation = x.std(axis=0)
    of_columns: Floats = (x - x.mean(axis=0)) / np.where(deviation > 0, deviation, 1) / np.sqrt(x.shape[1])
    return of_columns


def _as_numbers(name: str, x: npt.ArrayLike, y: Any, about: str, ten: bool = False) -> TwoClasses:
    rows = np.asarray(x, dtype=np.float64)
    rows = np.where(np.isnan(rows), np.nanmean(rows, axis=0), rows)
    return TwoClasses(name, rows, standardised(rows), np.asarray(y, dtype=np.int64), about, ten)


def _uci(file: Path, positive: int, about: str) -> TwoClasses:
    with np.load(file) as stored:
        return _as_numbers(file.stem, stored["X"], stored["y"] == positive, about)


def _digits(file: Path) -> TwoClasses:
    """MNIST is divided by one number: standardising would inflate the pixels at the border."""
    from scipy.sparse import csr_matrix

    about = "one digit (each time another) against as many of the others"
    with np.load(file) as stored:
        x, y = (np.concatenate([stored[f"{part}_train"], stored[f"{part}_test"]]) for part in "Xy")
    if file.stem == "usps":
        return _as_numbers("usps", x, y, about, ten=True)
    pixels = csr_matrix(x, dtype=np.float64)
    length = np.sqrt(pixels.multiply(pixels).sum() / pixels.shape[0])
    return TwoClasses(file.stem, pixels, pixels / length, y.astype(np.int64), about, ten=True)


def _webkb(file: Path, common: int) -> TwoClasses:
    """Pages of courses: the words outside of tags that occur in at least `common` pages."""
    from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

    pages = list(json_lines(file))
    texts = [re.sub(r"<[^>]*>", " ", page["fulltext"]) for page in pages]
    vectorizer = CountVectorizer(token_pattern=LETTERS.pattern, min_df=common, dtype=np.float64)
    counts = vectorizer.fit_transform(texts)
    counts.sort_indices()
    scaled = TfidfTransformer(sublinear_tf=True).fit_transform(counts)
    y = np.array([page["label"] for page in pages], dtype=np.int64)
    if common == 1:
        about = "all words; a diagonal covariance"
        return TwoClasses(ALL_WORDS, counts, scaled, y, about, full=False)
    return TwoClasses("webkb", counts, scaled, y, f"words of at least {common} pages")


WEBKB_COMMON = 20  # with all 16,694 words a full covariance takes 1.1 GB


def two_classes(setting: Setting) -> list[TwoClasses]:
    """M11's sets that are in the folder."""
    found: list[TwoClasses] = []
    for name, positive, about in (("bupa", 2, "selector 2 against 1"), ("crx", 1, "granted or not")):
        if file := setting.file(f"{name}.npz"):
            found.append(_uci(file, positive, about))
    found += [_digits(file) for name in ("usps", "mnist") if (file := setting.file(f"{name}.npz"))]
    if file := setting.file("webkb_course.jsonl.gz"):
        found += [_webkb(file, common) for common in (WEBKB_COMMON, 1)]
    return found


def bundled() -> list[TwoClasses]:
    """Sets that come with scikit-learn: no network, no folder."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

    cancer, digits, iris, wine = load_breast_cancer(), load_digits(), load_iris(), load_wine()
    last_two = iris.target > 0
    return [
        _as_numbers("breast cancer", cancer.data, cancer.target, "benign or not"),
        _as_numbers(
            "digits", digits.data, digits.target, "one digit (each time another) against as many others", True
        ),
        _as_numbers("iris", iris.data[last_two], iris.target[last_two] == 1, "versicolor against virginica"),
        _as_numbers("wine", wine.data, wine.target == 1, "the second cultivar against the others"),
    ]
