"""What is in the bytes of a fleet, read by rules of their own (see cpp/fleet/changes/format.hpp)."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Iterator
from typing import Any

from hinge import Fleet

MAGIC = b"hinge-fleet\n" + struct.pack("<I", 1)
HEAD, SHARED, NAMES, KEYS, FREE, END = 1, 2, 3, 4, 5, 6

# Options of fleets that differ in what a record consists of, and in what a limit does.
OPTIONS: list[dict[str, Any]] = [
    {},
    {"shared": False},
    {"shared": False, "geometry": "diagonal"},
    {"geometry": "diagonal", "average": True},
    {"average": 20, "dtype": "float32"},
    {"shared": False, "memory": 30_000},
    {"memory": 30_000},
    {"max_keys": 20, "at_max_keys": "evict", "max_features": 12, "at_max_features": "evict"},
    {"shared": False, "classes": ["a", "b", "c", "d"], "step": "pa2"},
]


def _table() -> list[int]:
    table = []
    for byte in range(256):
        rest = byte
        for _ in range(8):
            rest = rest >> 1 ^ (0x82F63B78 if rest & 1 else 0)
        table.append(rest)
    return table


_TABLE = _table()


def crc32c(data: bytes) -> int:
    rest = 0xFFFFFFFF
    for byte in data:
        rest = rest >> 8 ^ _TABLE[(rest ^ byte) & 0xFF]
    return rest ^ 0xFFFFFFFF


def chunks(data: bytes) -> list[tuple[int, bytes]]:
    """The kinds and contents of all chunks."""
    assert data.startswith(MAGIC)
    found, at = [], len(MAGIC)
    while at < len(data):
        kind, checksum, size = struct.unpack_from("<IIQ", data, at)
        content = data[at + 16 : at + 16 + size]
        assert len(content) == size
        assert checksum == crc32c(struct.pack("<IQ", kind, size) + content)
        found.append((kind, content))
        at += 16 + size
    return found


def joined(parts: list[tuple[int, bytes]]) -> bytes:
    """The bytes of chunks, with their checksums."""
    texts = [MAGIC]
    for kind, content in parts:
        checksum = crc32c(struct.pack("<IQ", kind, len(content)) + content)
        texts.append(struct.pack("<IIQ", kind, checksum, len(content)) + content)
    return b"".join(texts)


def content(fleet: Fleet) -> tuple[Any, ...]:
    """All that a fleet is, but for who has made its changes, its limits and its notes."""
    (_, head), *others = chunks(fleet.to_bytes())
    said = json.loads(head)
    for name in ("lineage", "lineage_from", "header"):
        del said[name]
    together: dict[int, bytes] = {}  # pieces may end at other places
    for kind, part in others:
        together[kind] = together.get(kind, b"") + part
    return said, together


def stream(
    count: int, seed: int = 0, keys: int = 40, labels: tuple[Any, ...] = ("b", "a", "c")
) -> Iterator[tuple[Any, dict[str, float], Any]]:
    """Events of keys that are strings and numbers."""
    rng = random.Random(seed)
    for _ in range(count):
        key = rng.randrange(keys)
        x = {f"f{rng.randrange(60)}": rng.gauss(0, 1) for _ in range(6)}
        yield (f"user {key}" if key % 2 else key), x, rng.choice(labels)


def feed(fleet: Fleet, count: int, seed: int = 0, **options: Any) -> None:
    for key, x, y in stream(count, seed, **options):
        fleet.learn_one(key, x, y)
