"""The core compiles without warnings and runs without Python; the stub of the native module is current."""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

from hinge.model.file import read
from programs import compiled

ROOT = Path(__file__).parents[2]


def output(*command: object) -> tuple[int, str]:
    ran = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout


@pytest.mark.parametrize(
    ("source", "said"), [("core_alone", "the core stands alone"), ("model_alone", "a saved model resumes")]
)
def test_core_runs_without_python(source: str, said: str, tmp_path: Path) -> None:
    assert output(compiled(source, tmp_path), tmp_path / "model") == (0, f"{said}\n")


@pytest.fixture(scope="module")
def text_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("text_alone", tmp_path_factory.mktemp("core"))


LABELS = {"classification": [3, 3, 3, -1], "regression": [0.5, -2.25, 1e3], "uniclass": [1]}


def examples(format: str, labels: list[float], seed: int, tmp_path: Path) -> Path:
    """Lines of text. The second file has more features, and weights if the format has them."""
    random = np.random.default_rng(seed)
    path = tmp_path / f"{seed}.{format}"
    with path.open("w") as file:
        for row in range(500):
            label = labels[row % len(labels)] if row < 50 else random.choice(labels)
            features = sorted(random.choice(40 * (seed + 1), size=6, replace=False).tolist())
            if format == "svm":
                file.write(f"{label} " + " ".join(f"{j + 1}:{random.normal():.4f}" for j in features) + "\n")
            else:
                weight = " 0.5" if seed and row % 7 == 0 else ""
                words = " ".join(f"w{j}:{random.normal():.4f}" for j in features)
                file.write(f"{label}{weight} |a {words} |b x{row % 5}\n")
    return path


@pytest.mark.parametrize("task", LABELS)
@pytest.mark.parametrize("format", ["svmlight", "vw", "hashed"])
def test_text_becomes_the_model_of_hinge_learn(
    text_alone: Path, format: str, task: str, tmp_path: Path
) -> None:
    """Without Python: a file is learned, saved, loaded, and the second file is learned by the loaded model."""
    ending = "svm" if format == "svmlight" else "vw"
    files = [examples(ending, LABELS[task], seed, tmp_path) for seed in (0, 1)]
    ours, theirs = tmp_path / "native", tmp_path / "python"
    assert output(text_alone, format, task, *files, ours) == (0, "text becomes a model\n")
    options = ["--hash-bits", "10"] if format == "hashed" else []
    if task == "uniclass":
        options += ["--radius", "1"]
    if task != "uniclass":
        options += ["--step", "pa1"]
    hinge = [sys.executable, "-m", "hinge", "learn", *files, "-q", "-m", theirs, "--task", task, *options]
    assert output(*hinge)[0] == 0
    native, python = (read(path)[1] for path in (ours, theirs))
    assert native.keys() == python.keys()
    for name in native:
        if name != "settings":  # Python gives all of them, also those that do not matter
            assert native[name].tobytes() == python[name].tobytes(), name


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

    def checked(compiler: str, file: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([compiler, *flags, str(file)], capture_output=True, text=True, check=False)

    found = filter(None, map(shutil.which, ("clang++", *(f"clang++-{n}" for n in range(22, 13, -1)))))
    compiler = next((each for each in found if checked(each, source).returncode == 0), None)
    if compiler is None:
        pytest.skip("no clang++ with libc++ on the path")
    headers = sorted(file for file in (ROOT / "cpp").rglob("*.hpp") if "python" not in file.parts)
    source.write_text("".join(f'#include "{header}"\n' for header in headers))
    for file in (*sorted((ROOT / "tests" / "core").glob("*_alone.cpp")), source):
        done = checked(compiler, file)
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
