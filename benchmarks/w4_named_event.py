"""W4: predict_one and learn_one of one event of 20 named features, binary.

Data     JSON lines {"name": number, ...}, labels from a random separator, 10 % flipped. Parsed 200 lines at a
         time just before the clock starts, so that, as in a live stream, the keys are new strings in every
         event and the event is in cache.
         same keys     the same 20 names in the same order in every event; the work with targets
         interned keys the same, but the key strings are the same objects in every event
         many keys     20 of 1,000 names, in any order
Peers    river PAClassifier(mode=1); VW (hinge loss), fed finished text lines, so that making the text is
         free; scikit-learn DictVectorizer + SGDClassifier(pa1); a Python loop over dicts (DictLoop).
Ours     PAClassifier(step="pa1", C=1, intercept_value=1).
Limit    events.cpp: the same over a whole block of dicts in one C call, guessing that a key is the one that
         stood in its place in the last event. It pays for no call from Python and for no check.
Clock    CPU time of the pair, best of 50 blocks of 200 events (scikit-learn: best of 3 of 100), taking turns,
         after five blocks to warm up. The loop over the events is included, about 0.03 us.
Check    ours predicts what the Python loop predicts on every one of 2,000 events, from the first.
"""

from __future__ import annotations

import ctypes
import json
import sys
from collections.abc import Callable, Sequence
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np

from measure import Prepare, Row, Work, best_of, compiled, main, optional, pointer, time_of

Event = tuple[dict[str, float], bool]
Line = tuple[str, bool]
Parse = Callable[[Sequence[Line]], Any]

BLOCK = 200
GOAL = 1.6e-6  # seconds for the pair
SKLEARN, VW, LOOP, LIMIT = "scikit-learn SGD(pa1)", "VW (text)", "Python dict loop", "C over dicts"


def lines_of(count: int, names: int, seed: int = 0) -> list[Line]:
    random = np.random.default_rng(seed)
    separator = random.standard_normal(names)
    values = random.standard_normal((count, 20)).round(4)
    chosen = [np.arange(20) if names == 20 else random.choice(names, 20, replace=False) for _ in range(count)]
    lines = []
    for row, which in zip(values, chosen, strict=True):
        label = bool(row @ separator[which] > 0) != bool(random.random() < 0.1)
        x = {f"feature_{i}": value for i, value in zip(which, row.tolist(), strict=True)}
        lines.append((json.dumps(x), label))
    return lines


def parse(lines: Sequence[Line]) -> list[Event]:
    return [(json.loads(text), label) for text, label in lines]


def parse_interned(lines: Sequence[Line]) -> list[Event]:
    return [({sys.intern(name): value for name, value in x.items()}, label) for x, label in parse(lines)]


class DictLoop:
    """PA-I with a constant feature, as one would write it in ten lines of Python."""

    def __init__(self) -> None:
        self.w: dict[str, float] = {}
        self.b = 0.0

    def predict_one(self, x: dict[str, float]) -> bool:
        get = self.w.get
        return self.b + sum(get(name, 0.0) * value for name, value in x.items()) > 0

    def learn_one(self, x: dict[str, float], label: bool) -> None:
        w, y = self.w, 1.0 if label else -1.0
        score, square = self.b, 1.0
        for name, value in x.items():
            score += w.get(name, 0.0) * value
            square += value * value
        if y * score < 1:
            step = y * min(1.0, (1 - y * score) / square)
            self.b += step
            for name, value in x.items():
                w[name] = w.get(name, 0.0) + step * value


class VowpalWabbit:
    """Events are pairs of text lines here, the first without its label."""

    def __init__(self) -> None:
        from vowpalwabbit import Workspace

        workspace = Workspace("--loss_function hinge --quiet")
        self.predict_one, self.learn = workspace.predict, workspace.learn

    def learn_one(self, x: str, labelled: str) -> None:
        self.learn(labelled)

    @staticmethod
    def parse(lines: Sequence[Line]) -> list[tuple[str, str]]:
        texts = [(" | " + " ".join(f"{k}:{v}" for k, v in x.items()), label) for x, label in parse(lines)]
        return [(text, ("1" if label else "-1") + text) for text, label in texts]


class ScikitLearn:
    def __init__(self, vocabulary: list[dict[str, float]]) -> None:
        from sklearn.feature_extraction import DictVectorizer

        from w1_sparse_epoch import sklearn_learner

        self.transform = DictVectorizer(sparse=False).fit(vocabulary).transform
        self.learner = sklearn_learner().set_params(fit_intercept=True)
        self.learner.partial_fit(self.transform(vocabulary[:2]), [False, True], classes=[False, True])

    def predict_one(self, x: dict[str, float]) -> Any:
        return self.learner.predict(self.transform([x]))

    def learn_one(self, x: dict[str, float], label: bool) -> None:
        self.learner.partial_fit(self.transform([x]), [label])


def c_stream(library: Any, lines: list[Line], parse: Parse) -> Prepare:
    names = sorted({name for x, _ in parse(lines) for name in x})
    vocabulary = {name: column for column, name in enumerate(names)}
    w = np.zeros(len(names) + 1)
    library.predict_and_learn.argtypes = [ctypes.py_object] * 3 + [ctypes.c_void_p]

    def feed(lines: list[Line]) -> Work:
        return partial(library.predict_and_learn, parse(lines), vocabulary, names, pointer(w))

    feed(lines[: 5 * BLOCK])()
    blocks = cycle([lines[i : i + BLOCK] for i in range(5 * BLOCK, len(lines), BLOCK)])
    return lambda: feed(next(blocks))


def our_learner() -> Any:
    import hinge

    return hinge.PAClassifier(step="pa1", C=1.0, fit_intercept=True, intercept_value=1.0)


def river_learner() -> Any:
    return optional("river.linear_model").PAClassifier(C=1.0, mode=1)


def stream(learner: Any, lines: list[Line], parse: Parse, block: int = BLOCK) -> Prepare:
    """Warms the learner up, and then hands it the next block of events at each repetition."""

    def feed(events: Any) -> None:
        predict, learn = learner.predict_one, learner.learn_one
        for x, y in events:
            predict(x)
            learn(x, y)

    for x, y in parse(lines[: 5 * block]):
        learner.learn_one(x, y)
    blocks = cycle([lines[i : i + block] for i in range(5 * block, len(lines), block)])

    def prepare() -> Work:
        events = parse(next(blocks))
        return lambda: feed(events)

    return prepare


def wrong_predictions(lines: list[Line]) -> int:
    ours, loop, wrong = our_learner(), DictLoop(), 0
    for at, (x, y) in enumerate(parse(lines[:2000])):
        if at >= 2:  # ours knows both labels by then
            wrong += bool(ours.predict_one(x)) != loop.predict_one(x)
        ours.learn_one(x, y)
        loop.learn_one(x, y)
    return wrong


def case(name: str, names: int, parse: Parse, main_case: bool, quick: bool) -> list[Row]:
    lines = lines_of(3000, names)
    library = compiled("events.cpp")
    candidates: dict[str, Prepare | None] = {
        "ours": stream(our_learner(), lines, parse) if optional("hinge") else None,
        "river": stream(river_learner(), lines, parse) if optional("river") else None,
        LOOP: stream(DictLoop(), lines, parse),
        LIMIT: c_stream(library, lines, parse) if library else None,
    }
    if main_case and optional("vowpalwabbit"):
        candidates[VW] = stream(VowpalWabbit(), lines, VowpalWabbit.parse)
    timings = best_of(5 if quick else 50, candidates, per=BLOCK)
    if main_case and optional("sklearn"):
        learner = ScikitLearn([x for x, _ in parse(lines[:100])])
        timings |= best_of(1 if quick else 3, {SKLEARN: stream(learner, lines, parse, block=100)}, per=100)
    ours = time_of(timings, "ours")
    wrong = wrong_predictions(lines) if ours else None

    def compare(peer: str, target: float | None = None) -> Row:
        row = Row(f"an event, {name}", peer, time_of(timings, peer), ours, target)
        row.limit, row.limit_name = time_of(timings, LIMIT), LIMIT
        row.difference, row.tolerance = wrong if peer == LOOP else None, 0
        return row

    if not main_case:
        return [compare("river"), compare(LOOP)]
    goal = compare("the goal", 1)
    goal.theirs = GOAL
    return [compare("river", 10), goal, compare(LOOP), compare(VW), compare(SKLEARN)]


def run(quick: bool) -> list[Row]:
    return [
        *case("same keys", 20, parse, True, quick),
        *case("interned keys", 20, parse_interned, False, quick),
        *case("many keys", 1000, parse, False, quick),
    ]


if __name__ == "__main__":
    main(run)
