"""A process is killed while it writes snapshots: what it had reported as written is there, and nothing is torn."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from support.fleet_files import content

from hinge import Fleet

# Event i is the same in every run, so a fleet with i changes has learned the first i events.
EVENTS = """
    def event(i):
        key = f"user {i * 7919 % 997}"
        return key, {f"f{i % 13}": 1.0, f"f{i % 7}": 0.5, "all": 1.0 + i % 3}, "ab"[i * i % 5 % 2]
"""
LEARN = f"""
    import os, sys
    from hinge import Fleet
{EVENTS}
    place = sys.argv[1]
    def write(fleet):
        fleet.snapshot(place) if place.endswith("d") else fleet.save(place)
        print(fleet.clock, flush=True)
    begun = os.path.isfile(place) or os.path.exists(os.path.join(place, "fleet.json"))
    fleet = Fleet.load(place) if begun else Fleet("classification", memory=100_000)
    while True:
        for i in range(fleet.clock, fleet.clock + 61):
            fleet.learn_one(*event(i))
        write(fleet)
"""
_event: dict[str, object] = {}
exec(dedent(EVENTS), _event)


@pytest.mark.parametrize("kind", ["file", "d"])
def test_a_killed_process_leaves_its_last_snapshot(kind: str, tmp_path: Path) -> None:
    rng = random.Random(kind)
    place = tmp_path / kind
    whole = Fleet("classification")
    for restarts in range(int(os.environ.get("HINGE_KILLS", "8"))):
        process = subprocess.Popen(
            [sys.executable, "-c", dedent(LEARN), str(place)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        assert process.stderr is not None
        reported = 0
        for _ in range(rng.randint(1, 25)):
            line = process.stdout.readline()
            assert line, process.stderr.read()
            reported = int(line)
        try:
            process.wait(rng.random() * 0.02)  # into the next one, somewhere
        except subprocess.TimeoutExpired:
            process.kill()
        rest, errors = process.communicate()
        assert not errors
        reported = max([reported, *(int(line) for line in rest.split("\n")[:-1])])
        fleet = Fleet.load(place)
        assert fleet.clock >= reported
        for i in range(whole.clock, fleet.clock):
            whole.learn_one(*_event["event"](i))  # type: ignore[operator]
        assert content(fleet) == content(whole)
        assert len(list(tmp_path.rglob("*.tmp"))) <= restarts + 1
    assert whole.clock > 61


def test_what_a_killed_process_left_is_cleared_away(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    fleet.learn_one("a", {"x": 1}, "yes")
    fleet.snapshot(tmp_path)
    (tmp_path / "00000002.fleet").write_bytes(b"written, but not in the list")
    assert Fleet.load(tmp_path).clock == 1
    fleet.learn_one("a", {"x": 1}, "no")
    fleet.snapshot(tmp_path)
    (tmp_path / "00000009.fleet").write_bytes(b"left behind")
    (tmp_path / "notes.txt").write_text("not ours")
    fleet.learn_one("b", {"x": 1}, "no")
    fleet.snapshot(tmp_path)
    assert content(Fleet.load(tmp_path)) == content(fleet)
    assert not (tmp_path / "00000009.fleet").exists()
    assert (tmp_path / "notes.txt").exists()
