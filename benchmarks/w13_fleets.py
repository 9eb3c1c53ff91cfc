"""W13: fleets: a model of 100 features for each of a million users.

Data     Users at random. An event has 20 (or 10) of the 100 features of its user. Batches are CSR matrices of 100,000
         rows; single events are dicts of 20 names; JSON lines have 20 names, 506 bytes. Labels at random.
Peers    For each user one River PAClassifier(mode=1), one loop over dicts (DictLoop of W4), one hinge.Learner; with
         fewer users: the number is in the notes. (More users make them slower: their memory is larger.)
Ours     Fleet("classification", shared=False); shared=True where it says so.
Clock    CPU time, best of 5 passes. Bytes are what the resident memory grows by, each in a process of its own. The
         pause is wall time: the longest learn_one of one thread while another one saves.
"""

from __future__ import annotations

import gc
import json
import multiprocessing
import os
import random
import tempfile
import threading
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from measure import Row, main, optional
from w4_named_event import DictLoop, river_learner

FEATURES, BATCH, EVENTS = 100, 100_000, 10_000
NAMES = [f"feature_{i}" for i in range(FEATURES)]
GOALS = {"learn_many": 0.5e-6, "learn_one": 2e-6, "load": 5.0, "pause": 5e-3}
BYTES = {"float64": 1e9 / 450_000, "float32": 1e9 / 600_000}
LEARNER, LOOP, RIVER = "hinge.Learner each", "Python dict loop", "River PAClassifier each"
Numbers = dict[str, float]
CASES: list[tuple[dict[str, Any], int, str]] = [
    ({}, 20, "float64"),
    ({}, 10, "float64"),
    ({"dtype": "float32"}, 10, "float32"),
    ({"shared": True}, 20, "shared"),
]


def resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def best(passes: int, work: Callable[[], object], events: int) -> float:
    times = []
    for _ in range(passes):
        gc.collect()
        gc.disable()
        start = time.process_time()
        work()
        times.append((time.process_time() - start) / events)
        gc.enable()
    return min(times)


def fleet(**options: Any) -> Any:
    import hinge

    return hinge.Fleet("classification", **{"shared": False, "classes": [False, True], **options})


# ---- batches --------------------------------------------------------------------------------------------------------


def matrix(users: Any, first: Any, size: int) -> Any:
    """`size` of the features of each user, from the first one on: columns of its own."""
    from scipy.sparse import csr_matrix

    columns = (users[:, None] * 7919 + (first[:, None] + np.arange(size)) % FEATURES * 104_729) % 1_000_003
    starts = np.arange(0, columns.size + 1, size)
    return csr_matrix((np.ones(columns.size), columns.ravel(), starts), shape=(len(users), 1_000_003))


def batches(users: int, passes: int, size: int, **options: Any) -> Numbers:
    chance = np.random.default_rng(0)
    before = resident()
    ours = fleet(max_names=0, **options)
    for first in range(0, FEATURES, size):
        for start in range(0, users, BATCH):
            some = np.arange(start, min(users, start + BATCH))
            rows = matrix(some, np.full(len(some), first), size)
            ours.learn_many(some, rows, chance.integers(0, 2, len(some)) == 1)
    del rows, some
    memory = (resident() - before) / users
    keys = chance.integers(0, users, BATCH)
    rows, labels = matrix(keys, chance.integers(0, FEATURES, BATCH), size), chance.integers(0, 2, BATCH) == 1
    ours.learn_many(keys, rows, labels)
    return {
        "bytes": memory,
        "learn_many": best(passes, lambda: ours.learn_many(keys, rows, labels), BATCH),
        "predict_many": best(passes, lambda: ours.predict_many(keys, rows), BATCH),
    }


# ---- events of named features ---------------------------------------------------------------------------------------


class Each:
    """A model for each key, as one would write it."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make
        self.models: dict[int, Any] = {}

    def learn_one(self, key: int, x: dict[str, float], y: bool) -> None:
        model = self.models.get(key)
        if model is None:
            model = self.models[key] = self.make()
        model.learn_one(x, y)

    def predict_one(self, key: int, x: dict[str, float]) -> Any:
        model = self.models.get(key)
        return None if model is None else model.predict_one(x)

    def ingest(self, lines: bytes) -> list[Any]:
        predicted = []
        for line in lines.splitlines():
            event = json.loads(line)
            key, label = event.pop("key"), event.pop("label")
            predicted.append(self.predict_one(key, event))
            self.learn_one(key, event, label)
        return predicted


def learner() -> Any:
    import hinge

    return hinge.Learner("classification", step="pa1", C=1.0, classes=[False, True])


MAKE = {
    "ours": fleet,
    "ours, shared": partial(fleet, shared=True),
    LEARNER: lambda: Each(learner),
    LOOP: lambda: Each(DictLoop),
    RIVER: lambda: Each(river_learner),
}


def event(chance: random.Random, block: int) -> dict[str, float]:
    return {name: round(chance.gauss(0, 1), 6) for name in NAMES[20 * block : 20 * block + 20]}


def events(name: str, users: int, passes: int) -> Numbers:
    chance = random.Random(0)
    before = resident()
    ours = MAKE[name]()
    for block in range(5):
        blocks = cycle([event(chance, block) for _ in range(100)])
        for key in range(users):
            ours.learn_one(key, next(blocks), chance.random() < 0.5)
    memory = (resident() - before) / users
    some = [
        (chance.randrange(users), event(chance, chance.randrange(5)), chance.random() < 0.5)
        for _ in range(EVENTS)
    ]
    lines = b"".join(json.dumps({"key": k, "label": y, **x}).encode() + b"\n" for k, x, y in some)

    def learn() -> None:
        for key, x, y in some:
            ours.learn_one(key, x, y)

    def predict() -> None:
        for key, x, _ in some:
            ours.predict_one(key, x)

    numbers = {
        "bytes": memory,
        "learn_one": best(passes, learn, EVENTS),
        "predict_one": best(passes, predict, EVENTS),
        "ingest": best(passes, lambda: ours.ingest(lines), EVENTS),
        "line": len(lines) / EVENTS,
    }
    return numbers | (kept(ours, some) if name == "ours" else {})


def kept(ours: Any, some: list[Any]) -> Numbers:
    """Save, the longest pause of a thread that learns meanwhile, and load."""
    import hinge

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fleet.hinge")
        saving = threading.Thread(target=ours.save, args=(path,))
        pause, began = 0.0, time.perf_counter()
        saving.start()
        while saving.is_alive():
            for key, x, y in some[:100]:
                start = time.perf_counter()
                ours.learn_one(key, x, y)
                pause = max(pause, time.perf_counter() - start)
        saved = time.perf_counter() - began
        start = time.process_time()
        hinge.Fleet.load(path)
        return {"pause": pause, "save": saved, "load": time.process_time() - start}


# ---- the table ------------------------------------------------------------------------------------------------------


def alone(work: Callable[..., Numbers], *arguments: Any, **options: Any) -> Numbers:
    """In a process of its own, which gives all of its memory back."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(work, arguments, options)


def row(
    work: str, peer: str, theirs: float | None, ours: float, target: float | None = None, **more: Any
) -> Row:
    return Row(work, peer, theirs, ours, target, **more)


def of_batches(users: int, passes: int) -> list[Row]:
    rows = []
    for options, size, name in CASES:
        found = alone(batches, users, passes, size, **options)
        note = f"{1e-6 / found['learn_many']:.2f} million events/s; predict_many {1e6 * found['predict_many']:.2f} us"
        work = f"learn_many, {users:,} users, {size} features, {name}"
        if name == "shared":  # two records for each event
            rows.append(row(work, "shared=False", rows[0].ours, found["learn_many"], note=note))
            continue
        rows.append(row(work, "the goal", GOALS["learn_many"], found["learn_many"], 1, note=note))
        if size == 10:
            rows.append(
                row(
                    f"bytes per model, {users:,} users, {name}",
                    "the goal",
                    BYTES[name],
                    found["bytes"],
                    1,
                    unit="bytes",
                )
            )
    for fewer in (users // 100, users // 10):
        found = alone(batches, fewer, passes, 20)
        rows.append(
            row(
                f"learn_many, {fewer:,} users, 20 features, float64",
                "the goal",
                GOALS["learn_many"],
                found["learn_many"],
            )
        )
    return rows


def of_events(users: int, fewer: int, passes: int) -> list[Row]:
    ours, shared = alone(events, "ours", users, passes), alone(events, "ours, shared", users // 10, passes)
    rows = [
        row(f"learn_one, {users:,} users", "the goal", GOALS["learn_one"], ours["learn_one"], 1),
        row(
            f"learn_one, {users // 10:,} users, shared",
            "the goal",
            GOALS["learn_one"],
            shared["learn_one"],
            1,
        ),
        row(
            f"Fleet.load, {users:,} users",
            "the goal",
            GOALS["load"],
            ours["load"],
            1,
            note=f"saved in {ours['save']:.1f} s",
        ),
        row(
            f"pause while saved, {users:,} users",
            "the goal",
            GOALS["pause"],
            ours["pause"],
            1,
            note="wall time",
        ),
    ]
    peers = [LEARNER, LOOP] + ([RIVER] if optional("river") else [])
    for peer in peers:
        theirs = alone(events, peer, fewer, max(1, passes // 2))
        note = f"theirs: {fewer:,} users"
        for what in ("bytes", "learn_one", "predict_one", "ingest"):
            speed = f"; {ours['line'] / ours[what] / 1e6:.0f} MB/s" if what == "ingest" else ""
            unit = "bytes" if what == "bytes" else "s"
            work = {"bytes": "bytes per model", "ingest": "ingest a JSON line"}.get(what, what)
            rows.append(
                row(f"{work}, {users:,} users", peer, theirs[what], ours[what], note=note + speed, unit=unit)
            )
    return rows


def run(quick: bool) -> list[Row]:
    users, fewer, passes = (10_000, 200, 2) if quick else (1_000_000, 5_000, 5)
    return [*of_batches(users, passes), *of_events(users, fewer, passes)]


if __name__ == "__main__":
    main(run)
