"""Programs in C++ that use the core without Python."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def compiled(source: str, folder: Path) -> Path:
    """A program that is built without Python."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler on the path")
    program = folder / source
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run(
        [compiler, *flags, str(ROOT / "tests" / "core" / f"{source}.cpp"), "-o", str(program)], check=True
    )
    return program
