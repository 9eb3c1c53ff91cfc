"""The fuzz targets compile and find nothing within a second. (`make fuzz` gives them a minute.)"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_fuzz_targets_find_nothing(tmp_path: Path) -> None:
    compiler = os.environ.get("CXX", "g++")
    if shutil.which(compiler) is None or shutil.which("sh") is None:
        pytest.skip("no C++ compiler on the path")
    command = ["sh", str(ROOT / "tests" / "core" / "fuzz" / "run.sh"), "2", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
