"""The core compiles without warnings and runs without Python; the stub of the native module is current."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("source", "said"), [("core_alone", "the core stands alone"), ("model_alone", "a saved model resumes")]
)
def test_core_runs_without_python(source: str, said: str, tmp_path: Path) -> None:
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler on the path")
    program = tmp_path / source
    flags = ["-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    subprocess.run(
        [compiler, *flags, str(ROOT / "tests" / "core" / f"{source}.cpp"), "-o", str(program)], check=True
    )
    ran = subprocess.run([program, tmp_path / "model"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, f"{said}\n")


def test_core_compiles_with_clang_and_libcxx(tmp_path: Path) -> None:
    """As on macOS: a standard library that includes less, and reads no doubles with from_chars before version 20."""
    flags = [
        "-std=c++20",
        "-stdlib=libc++",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-ffp-contract=off",
        "-fsyntax-only",
    ]
    source = tmp_path / "source.cpp"
    source.write_text("#include <vector>\n")

    def compiled(compiler: str, file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([compiler, *flags, str(file)], capture_output=True, text=True, check=False)

    found = filter(None, map(shutil.which, ("clang++", *(f"clang++-{n}" for n in range(22, 13, -1)))))
    compiler = next((each for each in found if compiled(each, source).returncode == 0), None)
    if compiler is None:
        pytest.skip("no clang++ with libc++ on the path")
    headers = sorted(file for file in (ROOT / "cpp").rglob("*.hpp") if "python" not in file.parts)
    source.write_text("".join(f'#include "{header}"\n' for header in headers))
    for file in (*sorted((ROOT / "tests" / "core").glob("*_alone.cpp")), source):
        done = compiled(compiler, file)
        assert done.returncode == 0, done.stderr


def test_only_the_bindings_include_python() -> None:
    for file in (ROOT / "cpp").rglob("*.hpp"):
        if "python" not in file.parts:
            text = file.read_text()
            assert "nanobind" not in text, file
            assert "Python.h" not in text, file


def test_stub_is_current(tmp_path: Path) -> None:
    """`make stubs` writes it; each version of nanobind writes it differently."""
    if f"nanobind=={version('nanobind')}\n" not in (ROOT / "constraints.txt").read_text():
        pytest.skip("another nanobind than that of constraints.txt")
    made = tmp_path / "_core.pyi"
    command = [sys.executable, "-m", "nanobind.stubgen", "-q", "-m", "hinge._core", "-o", str(made)]
    subprocess.run(command, check=True, capture_output=True)
    assert made.read_text() == (ROOT / "src" / "hinge" / "_core.pyi").read_text(), "run `make stubs`"
