"""The keyed streams of `fleet_forms.py`: real ones from the folder $HINGE_DATA, and artificial ones with a known truth.

Rows have a length of about 1, so that one list of C suits all streams. The column that the key was made from is not a
feature. Rows are in their order of time where they have one, and shuffled otherwise.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from real_sets import folder, json_lines, standardised
from streams import bodies, codes, reuters_in_time

MOST = 20_000
"""Rounds of a stream."""
ENRON = ("beck-s", "farmer-d", "kitchen-l", "lokay-m", "williams-w3")


@dataclass
class Keyed:
    """A stream with a key for each row. `task` is one of Fleet's."""

    name: str
    task: str
    keys: list[Any]
    x: Any
    y: list[Any]
    labels_are_personal: bool = False

    @property
    def labels_known(self) -> bool:
        """Labels that belong to all keys are known from the start."""
        return self.task == "classification" and not self.labels_are_personal


def words(documents: list[str]) -> Any:
    """The logarithms of the counts of words, in rows of length 1."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.preprocessing import normalize

    counts = CountVectorizer(token_pattern=r"[^\W_]+", dtype=np.float64).fit_transform(documents)
    counts.sort_indices()
    counts.data = 1 + np.log(counts.data)
    return normalize(counts)


def shuffled(name: str, task: str, keys: Any, x: Any, y: Any) -> Keyed:
    rows = np.random.default_rng(0).permutation(len(y))[:MOST]
    return Keyed(name, task, np.asarray(keys)[rows].tolist(), x[rows], np.asarray(y)[rows].tolist())


# ---- texts --------------------------------------------------------------------------------------------------


def enron() -> list[Keyed]:
    """The mail of five users, in time. A folder belongs to one user, all other labels to all of them."""
    mails = sorted((m for user in ENRON for m in json_lines(f"enron_{user}")), key=lambda m: m["time"])
    x = words([f"{m['subject'] or ''} {m['body'] or ''}" for m in mails])
    users, senders = [m["user"] for m in mails], [(m["from"] or "").strip().lower() for m in mails]
    inside = [sender.endswith("enron.com") for sender in senders]
    several = [f"{m['to'] or ''},{m['cc'] or ''}".count("@") > 1 for m in mails]
    folders = [f"{m['user']}/{m['folder']}" for m in mails]
    return [
        Keyed("mail: folder, by user", "classification", users, x, folders, labels_are_personal=True),
        Keyed("mail: from a colleague, by user", "classification", users, x, inside),
        Keyed("mail: several recipients, by user", "classification", users, x, several),
        Keyed("mail: several recipients, by sender", "classification", senders, x, several),
    ]


def webkb() -> list[Keyed]:
    pages = list(json_lines("webkb_course"))
    x = words([re.sub(r"<[^>]*>", " ", p["fulltext"]) for p in pages])
    universities = [p["university"] for p in pages]
    labels = [int(p["label"]) for p in pages]
    return [shuffled("webkb: course, by university", "classification", universities, x, labels)]


def reuters() -> list[Keyed]:
    """Documents with one topic, in time. The key is the first place, as the editors gave it."""
    documents = [d for d in reuters_in_time() if len(d["topics"]) == 1]
    places = [(d["places"] or ["none"])[0] for d in documents]
    topics = [d["topics"][0] for d in documents]
    return [Keyed("reuters: topic, by place", "classification", places, words(bodies(documents)), topics)]


def conll() -> list[Keyed]:
    """Tokens in the order of the text; the truth is the chunk. The key is the word, or the tag, which then is not a
    feature."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.preprocessing import normalize

    with gzip.open(folder() / "conll2000_train.txt.gz", "rt", encoding="utf-8") as file:
        tokens = [line.split() or ["", "", ""] for line in file][: MOST + 1_000]
    of_word, of_tag, its_words, its_tags, chunks = [], [], [], [], []
    for before, (word, tag, chunk), after in zip(tokens[:-2], tokens[1:-1], tokens[2:], strict=True):
        if not word:
            continue
        around = {"t-": before[1], "t+": after[1]}
        of_word.append({**around, "t": tag})
        of_tag.append({**around, "w": word, "w-": before[0], "w+": after[0]})
        its_words.append(word)
        its_tags.append(tag)
        chunks.append(chunk)
    return [
        Keyed(name, "classification", keys[:MOST], normalize(DictVectorizer().fit_transform(events[:MOST])),
              chunks[:MOST])
        for name, keys, events in (
            ("conll2000: chunk, by word", its_words, of_word),
            ("conll2000: chunk, by tag", its_tags, of_tag),
        )
    ]  # fmt: skip


# ---- tables -------------------------------------------------------------------------------------------------


def arrays(name: str) -> Any:
    with np.load(folder() / f"{name}.npz") as found:
        return {key: found[key] for key in found.files}


def covtype() -> list[Keyed]:
    """Wilderness areas are columns 0 to 3 of X_bin, soil types the other 40."""
    found = arrays("covtype")
    x, is_in, y = found["X_num"].astype(np.float64), found["X_bin"], found["y"]
    with_area = standardised(np.hstack([x, is_in[:, :4]]))
    return [
        shuffled("covtype: cover, by area", "classification", is_in[:, :4].argmax(1), standardised(x), y),
        shuffled("covtype: cover, by soil", "classification", is_in[:, 4:].argmax(1), with_area, y),
    ]


def elec2() -> list[Keyed]:
    """Half-hours in time: columns are date, day, period, prices and demands."""
    found = arrays("elec2")
    x, y = found["X"].astype(np.float64), found["y"]
    period, day = codes(x[:, 2]).tolist(), x[:, 1].astype(int).tolist()
    return [
        Keyed("elec2: up, by half-hour", "classification", period[:MOST],
              standardised(np.delete(x, 2, axis=1))[:MOST], y[:MOST].tolist()),
        Keyed("elec2: up, by weekday", "classification", day[:MOST],
              standardised(np.delete(x, 1, axis=1))[:MOST], y[:MOST].tolist()),
    ]  # fmt: skip


def abalone() -> list[Keyed]:
    found = arrays("abalone")
    x, y = found["X"].astype(np.float64), found["y"].astype(np.float64)
    return [shuffled("abalone: rings, by sex", "regression", x[:, :3].argmax(1), standardised(x[:, 3:]), y)]


def cal_housing() -> list[Keyed]:
    """Prices in 100,000 dollars. The key is a square on the map, of half a degree or of a tenth of a degree."""
    found = arrays("cal_housing")
    x, y = found["X"].astype(np.float64), found["y"].astype(np.float64) / 1e5
    streams = []
    for name, width in (("half degree", 0.5), ("tenth degree", 0.1)):
        cells = codes([f"{a}/{b}" for a, b in np.floor(x[:, :2] / width).astype(int).tolist()])
        streams.append(
            shuffled(f"cal_housing: price, by {name}", "regression", cells, standardised(x[:, 2:]), y)
        )
    return streams


# ---- streams with a known truth -----------------------------------------------------------------------------


def artificial(own: float, users: int = 5_000, rounds: int = 60_000) -> Keyed:
    """Users whose truth is u_k = sqrt(1 - own) u + sqrt(own) p_k: the share `own` of its variance is their own. Rows
    have 8 of 40 features; user k has a share of about 1 / k of the rows; 5 % of the labels are wrong."""
    random = np.random.default_rng(0)
    columns, present = 40, 8
    common, personal = random.standard_normal(columns), random.standard_normal((users, columns))
    truth = np.sqrt(1 - own) * common + np.sqrt(own) * personal
    shares = 1 / np.arange(1, users + 1)
    keys = random.choice(users, size=rounds, p=shares / shares.sum())
    x = np.zeros((rounds, columns))
    places = random.random((rounds, columns)).argpartition(present, axis=1)[:, :present]
    np.put_along_axis(x, places, random.standard_normal((rounds, present)) / np.sqrt(present), axis=1)
    y = (np.einsum("ij,ij->i", x, truth[keys]) > 0) ^ (random.random(rounds) < 0.05)
    return Keyed(f"artificial: {own:.0%} own", "classification", keys.tolist(), x, y.tolist())


STREAMS: dict[str, Callable[[], list[Keyed]]] = {
    "enron": enron,
    "webkb": webkb,
    "reuters": reuters,
    "conll": conll,
    "covtype": covtype,
    "elec2": elec2,
    "abalone": abalone,
    "cal_housing": cal_housing,
    "artificial": lambda: [artificial(own) for own in (0.0, 0.1, 0.5, 1.0)],
}
