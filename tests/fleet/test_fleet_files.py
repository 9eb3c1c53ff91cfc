"""Fleets in files: they resume bit-identically, and what is damaged or crafted is rejected."""

from __future__ import annotations

import copy
import json
import os
import pickle
import random
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.fleet_files import (
    END,
    FREE,
    HEAD,
    KEYS,
    NAMES,
    OPTIONS,
    SHARED,
    chunks,
    content,
    feed,
    joined,
    stream,
)

import hinge
from hinge import Fleet, InputError, ModelFileError


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("labels", [("a", "b"), ("b", "a"), ("d", "b", "a", "c")], ids=str)
def test_a_saved_fleet_resumes_bit_identically(
    options: dict[str, Any], labels: tuple[str, ...], tmp_path: Path
) -> None:
    fleet = Fleet("classification", **options)
    feed(fleet, 300, labels=labels)
    del fleet[next(iter(fleet))]
    fleet.save(tmp_path / "f")
    copies = [
        hinge.load(tmp_path / "f"),
        Fleet.load(tmp_path / "f"),
        Fleet.from_bytes(fleet.to_bytes()),
        pickle.loads(pickle.dumps(fleet)),
        copy.deepcopy(fleet),
    ]
    assert (tmp_path / "f").read_bytes() == fleet.to_bytes()
    feed(fleet, 200, seed=1, keys=60, labels=labels)
    events = list(stream(50, seed=2, keys=70))
    for other in copies:
        assert other.parameters == fleet.parameters
        feed(other, 200, seed=1, keys=60, labels=labels)
        assert content(other) == content(fleet)
        assert [other.score_one(k, x) for k, x, _ in events] == [fleet.score_one(k, x) for k, x, _ in events]
        assert other.statistics == fleet.statistics


def test_numbers_resume_bit_identically() -> None:
    fleet = Fleet("regression", shared=True, average=True)
    rng = random.Random(0)
    events = [(rng.randrange(9), {"a": rng.random(), "b": rng.random()}, rng.gauss(3, 1)) for _ in range(200)]
    for event in events:
        fleet.learn_one(*event)
    other = Fleet.from_bytes(fleet.to_bytes())
    assert [other.round_one(*event) for event in events] == [fleet.round_one(*event) for event in events]
    assert content(other) == content(fleet)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_fleet_that_has_not_learned_is_saved(task: str) -> None:
    fleet = Fleet(task, C=0.5)
    other = Fleet.from_bytes(fleet.to_bytes())
    assert (len(other), other.clock, other.parameters) == (0, 0, fleet.parameters)


def test_what_is_loaded_is_what_was_saved() -> None:
    fleet = Fleet("classification")
    feed(fleet, 300)
    data = fleet.to_bytes()
    assert fleet.to_bytes() == data
    assert Fleet.from_bytes(data).to_bytes() == data


def test_names_notes_and_counts_are_saved(tmp_path: Path) -> None:
    fleet = Fleet("classification", max_features=3, at_max_features="ignore")
    fleet.notes = {"file": "mail.jsonl", "line": 7}
    fleet.learn_one("ä\udc80", {"a": 1, "b": 2, 3: 1, "dropped": 5}, True)
    fleet.learn_one(-(2**63), {"a": 1, "é": 2}, False)
    other = Fleet.from_bytes(fleet.to_bytes())
    assert list(other) == ["ä\udc80", -(2**63)]
    assert other.notes == fleet.notes
    assert other.n_ignored == fleet.n_ignored == 1
    assert other["ä\udc80"].named_weights() == fleet["ä\udc80"].named_weights()
    assert set(other[-(2**63)].named_weights()) == {"a", "é"}
    assert other.labels == fleet.labels


def test_limits_may_be_given_anew(tmp_path: Path) -> None:
    fleet = Fleet("classification", max_keys=100)
    feed(fleet, 100)
    fleet.save(tmp_path / "f")
    other = Fleet.load(tmp_path / "f", max_keys=len(fleet), memory=10_000)
    assert content(other) == content(fleet)
    with pytest.raises(InputError, match="max_keys"):
        other.learn_one("new", {"a": 1}, "a")
    with pytest.raises(ValueError, match="C is part of what was saved"):
        Fleet.load(tmp_path / "f", C=3)


@pytest.mark.parametrize("notes", ["hi", None, ["a"], {1: 2}, {"a": {1, 2}}], ids=str)
def test_notes_that_are_no_json_are_not_saved(notes: Any, tmp_path: Path) -> None:
    fleet = Fleet("classification")
    fleet.notes = notes
    for save in (fleet.to_bytes, lambda: fleet.save(tmp_path / "f"), lambda: fleet.snapshot(tmp_path / "d")):
        with pytest.raises((ValueError, TypeError), match="notes"):
            save()
    assert not (tmp_path / "f").exists()


def test_a_smaller_limit_of_keys_is_kept() -> None:
    fleet = Fleet("classification")
    feed(fleet, 100)
    small = Fleet.from_bytes(fleet.to_bytes(), max_keys=5, at_max_keys="evict")
    small.learn_one("new", {"a": 1}, "a")
    assert len(small) == 5
    assert "new" in small


def test_a_failed_save_keeps_the_old_file(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 30)
    fleet.save(tmp_path / "f")
    before = (tmp_path / "f").read_bytes()
    fleet.notes = {"no": {1, 2}}
    with pytest.raises((TypeError, ValueError)):
        fleet.save(tmp_path / "f")
    with pytest.raises(FileNotFoundError, match="no folder"):
        fleet.save(tmp_path / "nowhere" / "f")
    assert (tmp_path / "f").read_bytes() == before
    assert os.listdir(tmp_path) == ["f"]


# ---- damaged files --------------------------------------------------------------------------------------------------


def saved() -> bytes:
    fleet = Fleet("classification", shared=False, geometry="diagonal", average=True)
    feed(fleet, 60, keys=8, labels=("b", "a"))
    del fleet["user 3"]
    return fleet.to_bytes()


def test_every_truncated_file_is_rejected(tmp_path: Path) -> None:
    data = saved()
    for size in [*range(0, len(data), 97), *range(40), *range(len(data) - 60, len(data))]:
        with pytest.raises(ModelFileError):
            Fleet.from_bytes(data[:size])
    (tmp_path / "f").write_bytes(data[:-1])
    with pytest.raises(ModelFileError, match=r"f is damaged"):
        hinge.load(tmp_path / "f")


def test_every_changed_byte_is_noticed() -> None:
    data = saved()
    for at in range(0, len(data), 61):
        changed = bytearray(data)
        changed[at] ^= 1 << at % 8
        with pytest.raises(ModelFileError):
            Fleet.from_bytes(bytes(changed))
    with pytest.raises(ModelFileError):
        Fleet.from_bytes(data + b"\0")


def test_other_files_are_no_fleets(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a fleet")
    with pytest.raises(ModelFileError, match="not a hinge fleet"):
        Fleet.load(tmp_path / "text")
    hinge.Learner("regression").save(tmp_path / "learner")
    with pytest.raises(ModelFileError, match=r"not a fleet but another model: hinge.load reads it"):
        Fleet.load(tmp_path / "learner")
    with pytest.raises(ModelFileError, match=r"a fleet: hinge.load and Fleet.load read it"):
        hinge.Learner.from_bytes(saved())
    with pytest.raises(ModelFileError, match="version 2, this hinge reads 1: upgrade"):
        Fleet.from_bytes(b"hinge-fleet\n" + struct.pack("<I", 2))
    with pytest.raises(FileNotFoundError):
        Fleet.load(tmp_path / "nothing")


# ---- crafted files, with right checksums ----------------------------------------------------------------------------

Parts = list[tuple[int, bytes]]
# In a packed record (record.hpp): the places of some fields, and the end of its head.
FEATURES, ROOM, WIDTH, LABELS, KEY_BYTES, ROUNDS, BOUND, RECORD_HEAD = 8, 12, 16, 20, 24, 32, 120, 136


def replaced(parts: Parts, kind: int, change: Callable[[bytes], bytes]) -> bytes:
    assert kind in {its for its, _ in parts}
    return joined([(its, change(part) if its == kind else part) for its, part in parts])


def head(change: Callable[[dict[str, Any]], Any]) -> Callable[[Parts], bytes]:
    def changed(part: bytes) -> bytes:
        said = json.loads(part)
        change(said)
        return json.dumps(said).encode()

    return lambda parts: replaced(parts, HEAD, changed)


def record(at: int, value: bytes) -> Callable[[Parts], bytes]:
    """Writes a value into the first packed record, which follows slot, size and stamp."""
    return lambda parts: replaced(
        parts, KEYS, lambda part: part[: 16 + at] + value + part[16 + at + len(value) :]
    )


def keys(change: Callable[[bytes], bytes]) -> Callable[[Parts], bytes]:
    return lambda parts: replaced(parts, KEYS, change)


def first_record(part: bytes) -> bytes:
    return part[: 16 + struct.unpack_from("<I", part, 4)[0]]


CRAFTED: dict[str, Callable[[Parts], bytes]] = {
    "no head": lambda parts: joined(parts[1:]),
    "two heads": lambda parts: joined([parts[0], *parts]),
    "unknown chunk": lambda parts: joined([*parts[:-1], (77, b""), parts[-1]]),
    "shared weights": lambda parts: joined([parts[0], (SHARED, first_record(parts[-3][1])[16:]), *parts[1:]]),
    "no end": lambda parts: joined(parts[:-1]),
    "two ends": lambda parts: joined([*parts, parts[-1]]),
    "no keys": lambda parts: joined([part for part in parts if part[0] != KEYS]),
    "no names": lambda parts: joined([part for part in parts if part[0] != NAMES]),
    "counts": lambda parts: joined([*parts[:-1], (END, struct.pack("<QQQ", 1, 2, 3))]),
    "json": lambda parts: replaced(parts, HEAD, lambda part: b"{"),
    "no clock": head(lambda said: said.pop("until")),
    "negative": head(lambda said: said.update(slots=-1)),
    "too many slots": head(lambda said: said.update(slots=2**32)),
    "billions of slots": head(lambda said: said.update(slots=2**32 - 2)),
    "one slot more": head(lambda said: said.update(slots=said["slots"] + 1)),
    "a late clock": head(lambda said: said.update(until=2**62 + 1)),
    "later than now": head(lambda said: said.update(since=said["until"] + 1)),
    "no hand": head(lambda said: said.update(hand=[1])),
    "label twice": head(lambda said: said.update(labels='["a","a"]')),
    "labels": head(lambda said: said.update(labels='{"a":1}')),
    "known labels": head(lambda said: said.update(known=[7])),
    "free list": head(lambda said: said.update(first_free=0)),
    "no free list": head(lambda said: said.update(first_free=2**32 - 1)),
    "lineage": head(lambda said: said.update(lineage=[])),
    "settings": head(lambda said: said.update(settings="{}")),
    "header": head(lambda said: said.update(header="[]")),
    "task": head(lambda said: said.update(header='{"kind":"Fleet","task":"x","parameters":{},"notes":{}}')),
    "parameter": head(
        lambda said: said.update(header='{"task":"classification","parameters":{"x":1},"notes":{}}')
    ),
    "free slot in a circle": lambda parts: replaced(parts, FREE, lambda part: part[:4] + part[:4] + part[8:]),
    "free slot twice": lambda parts: replaced(parts, FREE, lambda part: part + part),
    "half a free slot": lambda parts: replaced(parts, FREE, lambda part: part[:-1]),
    "name": lambda parts: replaced(parts, NAMES, lambda part: part[:8] + b"\xff" + part[9:]),
    "name of another hash": lambda parts: replaced(parts, NAMES, lambda part: b"\0\0\0\0" + part[4:]),
    "size of a name": lambda parts: replaced(parts, NAMES, lambda part: part[:4] + b"\xff\xff\xff\xff" + part[8:]),
    "slot": keys(lambda part: struct.pack("<I", 2**31) + part[4:]),
    "slot twice": keys(lambda part: part + first_record(part)),
    "key twice": keys(lambda part: struct.pack("<I", 3) + first_record(part)[4:] + part),
    "size of a record": keys(lambda part: part[:4] + struct.pack("<I", 2**31) + part[8:]),
    "stamp": keys(lambda part: part[:8] + struct.pack("<Q", 2**40) + part[16:]),
    "stamp 0": keys(lambda part: part[:8] + struct.pack("<Q", 0) + part[16:]),
    "features": record(FEATURES, struct.pack("<I", 2**30)),
    "fewer features": record(FEATURES, struct.pack("<I", 1)),
    "room": record(ROOM, struct.pack("<I", 2**31)),
    "width": record(WIDTH, struct.pack("<I", 8)),
    "no width": record(WIDTH, struct.pack("<I", 0)),
    "many labels": record(LABELS, struct.pack("<I", 2**20)),
    "length of a key": record(KEY_BYTES, struct.pack("<I", 2**31)),
    "rounds": record(ROUNDS, struct.pack("<q", -1)),
    "loss": record(ROUNDS + 24, struct.pack("<d", float("nan"))),
    "bound": record(BOUND, struct.pack("<d", 0.0)),
    "infinite bound": record(BOUND, struct.pack("<d", float("inf"))),
    "invalid key": record(RECORD_HEAD, b"\xfe"),
    "weight": keys(lambda part: part[:400] + struct.pack("<d", float("nan")) + part[408:]),
    "feature twice": keys(lambda part: (r := first_record(part))[:-8] + r[-4:] + r[-4:] + part[len(r) :]),
}  # fmt: skip


@pytest.mark.parametrize("what", CRAFTED)
def test_crafted_files_are_rejected(what: str) -> None:
    crafted = CRAFTED[what](chunks(saved()))
    with pytest.raises(ModelFileError):
        Fleet.from_bytes(crafted)


@pytest.mark.parametrize(
    "what", [what for what in CRAFTED if what not in ("header", "task", "parameter", "lineage")]
)
def test_crafted_changes_leave_no_trace(what: str) -> None:
    fleet = Fleet.from_bytes(saved())
    copied = Fleet.from_bytes(fleet.to_bytes())
    feed(fleet, 60, seed=5, keys=12, labels=("b", "a"))
    del fleet["user 5"]
    before = copied.to_bytes()
    try:
        crafted = CRAFTED[what](chunks(fleet.changes(0)))
        changed = copied.apply(crafted)
    except (ModelFileError, InputError):
        changed = False
    if not changed:
        assert copied.to_bytes() == before
    assert not changed


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_whatever_is_in_a_file_does_no_harm(data: st.DataObject) -> None:
    """Loaded or rejected: a fleet that was loaded predicts, learns or rejects what is extreme, and can be saved."""
    parts = chunks(SAVED)
    at = data.draw(st.integers(0, len(parts) - 1))
    kind, part = parts[at]
    changed = bytearray(part)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(part) - 1))
        changed[place] = data.draw(st.integers(0, 255))
    parts[at] = kind, bytes(changed)
    try:
        fleet = Fleet.from_bytes(joined(parts))
    except (ModelFileError, InputError):
        return
    for key in [*fleet, "new"]:
        fleet.predict_one(key, {"f1": 1.0})
        with suppress(InputError):  # what overflows is rejected
            fleet.round_one(key, {"f1": 1.0, "new": 2.0}, "a")
    fleet.summary()
    assert len(Fleet.from_bytes(fleet.to_bytes())) == len(fleet)


SAVED = saved()
