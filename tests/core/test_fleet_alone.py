"""Fleets in the core, without Python: changes are written piece by piece while the fleet learns."""

from __future__ import annotations

import subprocess
from pathlib import Path

from support.programs import compiled


def test_a_snapshot_is_of_one_moment_whatever_happens_between_two_pieces(tmp_path: Path) -> None:
    program = compiled("fleet_alone", tmp_path)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
