"""Snapshots of a fleet in a directory."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from support.fleet_files import content, feed

import hinge
from hinge import Fleet, ModelFileError


def files(folder: Path) -> list[str]:
    return sorted(name for name in os.listdir(folder) if not name.startswith("."))


def test_a_directory_grows_by_what_has_changed(tmp_path: Path) -> None:
    fleet = Fleet("classification", shared=False)
    feed(fleet, 400, keys=100)
    fleet.snapshot(tmp_path / "d")
    fleet.snapshot(tmp_path / "d")  # nothing is new
    assert files(tmp_path / "d") == ["00000001.fleet", "fleet.json"]
    for step in range(3):
        feed(fleet, 3, seed=step)
        fleet.notes = {"step": step}
        fleet.snapshot(tmp_path / "d")
        for read in (Fleet.load(tmp_path / "d"), hinge.load(tmp_path / "d")):
            assert content(read) == content(fleet)
            assert read.notes == fleet.notes
    assert files(tmp_path / "d") == [*(f"0000000{i}.fleet" for i in range(1, 5)), "fleet.json"]
    sizes = [(tmp_path / "d" / name).stat().st_size for name in files(tmp_path / "d")[:-1]]
    assert max(sizes[1:]) < sizes[0] / 5


def test_a_directory_is_compacted_when_it_has_outgrown_the_fleet(tmp_path: Path) -> None:
    fleet = Fleet("classification", shared=False)
    feed(fleet, 100, keys=20)
    longest = 0
    for step in range(30):
        feed(fleet, 20, seed=step, keys=20)
        fleet.snapshot(tmp_path)
        longest = max(longest, len(files(tmp_path)))
        total = sum((tmp_path / name).stat().st_size for name in files(tmp_path))
        assert total < 3.2 * len(fleet.to_bytes())
        assert content(Fleet.load(tmp_path)) == content(fleet)
    assert longest < 12


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: path.write_bytes(b"cut")], ids=["gone", "cut"])
def test_a_directory_that_has_lost_a_segment_is_written_anew(harm: Any, tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 100)
    fleet.snapshot(tmp_path / "d")
    harm(tmp_path / "d" / "00000001.fleet")
    feed(fleet, 5)
    fleet.snapshot(tmp_path / "d")
    assert content(Fleet.load(tmp_path / "d")) == content(fleet)
    with pytest.raises(FileNotFoundError, match="no folder"):
        fleet.snapshot(tmp_path / "nowhere" / "d")
    (tmp_path / "file").write_text("x")
    with pytest.raises(NotADirectoryError, match="snapshots go to a directory"):
        fleet.snapshot(tmp_path / "file")


def test_a_restarted_fleet_goes_on_in_its_directory(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 100)
    fleet.snapshot(tmp_path)
    again = Fleet.load(tmp_path)
    feed(again, 10, seed=1)
    again.snapshot(tmp_path)
    assert content(Fleet.load(tmp_path)) == content(again)
    feed(fleet, 20, seed=2)
    with pytest.raises(ValueError, match="snapshots of another fleet, or of a later state"):
        fleet.snapshot(tmp_path)
    with pytest.raises(ValueError, match="snapshots of another fleet"):
        Fleet("classification").snapshot(tmp_path)
    assert content(Fleet.load(tmp_path)) == content(again)


def test_a_forgotten_key_is_gone_from_files(tmp_path: Path) -> None:
    fleet = Fleet("classification", memory=2_000)
    feed(fleet, 100)
    fleet.learn_one("somebody@example.org", {"f1": 1}, "a")
    feed(fleet, 50, seed=1)
    fleet.snapshot(tmp_path / "d")
    del fleet["somebody@example.org"]
    assert "somebody@example.org" not in fleet
    assert b"somebody" not in fleet.to_bytes()
    assert b"somebody" not in fleet.changes(50)
    fleet.snapshot(tmp_path / "d", compact=True)
    assert files(tmp_path / "d") == ["00000002.fleet", "fleet.json"]
    assert not any(b"somebody" in path.read_bytes() for path in (tmp_path / "d").iterdir())
    assert "somebody@example.org" not in Fleet.load(tmp_path / "d")


def test_damaged_directories_are_rejected(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    with pytest.raises(FileNotFoundError, match=r"no fleet in .*: it has no fleet.json"):
        Fleet.load(tmp_path)
    feed(fleet, 100)
    fleet.snapshot(tmp_path)
    feed(fleet, 5)
    fleet.snapshot(tmp_path)
    listed = (tmp_path / "fleet.json").read_text()
    first, second = files(tmp_path)[:2]
    for wrong in ("", "{}", "[]", '{"version": 2, "segments": []}', '{"version": 1, "segments": []}',
                  listed.replace(first, "../x"), listed.replace('"until"', '"x"')):  # fmt: skip
        (tmp_path / "fleet.json").write_text(wrong)
        with pytest.raises(ModelFileError, match="is not the list of a fleet"):
            Fleet.load(tmp_path)
    said = json.loads(listed)
    said["segments"][1]["maker"] = "0" * 32
    (tmp_path / "fleet.json").write_text(json.dumps(said))
    with pytest.raises(ModelFileError, match="does not belong to the segments"):
        Fleet.load(tmp_path)
    (tmp_path / "fleet.json").write_text(listed)
    data = (tmp_path / second).read_bytes()
    (tmp_path / second).write_bytes(data[:-5])
    with pytest.raises(ModelFileError, match=f"{second} is damaged"):
        Fleet.load(tmp_path)
    (tmp_path / second).unlink()
    with pytest.raises(FileNotFoundError):
        Fleet.load(tmp_path)
    (tmp_path / second).write_bytes(data)
    assert content(Fleet.load(tmp_path)) == content(fleet)


def test_notes_go_with_changes_and_snapshots(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    fleet.snapshot(tmp_path)  # nothing has been learned
    feed(fleet, 20)
    copied = Fleet.from_bytes(fleet.to_bytes())
    fleet.notes["place"] = 1
    fleet.snapshot(tmp_path)
    assert copied.apply(fleet.changes(20)) is False  # nothing has changed but the notes
    fleet.notes["place"] = 2
    fleet.snapshot(tmp_path)
    assert Fleet.load(tmp_path).notes == {"place": 2}
    feed(fleet, 1)
    copied.apply(fleet.changes(20))
    assert copied.notes == {"place": 2}
    small = Fleet.load(tmp_path, max_keys=1000)
    small.snapshot(tmp_path)
    assert Fleet.load(tmp_path).parameters["max_keys"] == 1000
    assert content(Fleet.load(tmp_path)) == content(small)


def test_an_empty_snapshot_is_of_any_fleet(tmp_path: Path) -> None:
    Fleet("classification").snapshot(tmp_path)
    numbers = Fleet("regression")
    numbers.learn_one("a", {"x": 1}, 2.0)
    numbers.snapshot(tmp_path)
    assert content(Fleet.load(tmp_path)) == content(numbers)


def test_a_directory_is_read_while_it_is_compacted(tmp_path: Path) -> None:
    fleet = Fleet("classification")
    feed(fleet, 30)
    fleet.snapshot(tmp_path)
    stopped = threading.Event()

    def compact() -> None:
        step = 0
        while not stopped.is_set():
            feed(fleet, 1, seed=step)
            fleet.notes = {"clock": fleet.clock}
            fleet.snapshot(tmp_path, compact=step % 2 == 0)
            step += 1

    thread = threading.Thread(target=compact)
    thread.start()
    try:
        for _ in range(200):
            loaded = Fleet.load(tmp_path)
            assert loaded.notes.get("clock", loaded.clock) == loaded.clock
    finally:
        stopped.set()
        thread.join()
