"""The versions that pyproject.toml requires are the versions that `make test-oldest` tests."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = PYPROJECT["project"]


def minimums(lines: list[str]) -> dict[str, Version]:
    """The minimum of each requirement; those of hinge's own extras have none."""
    found = {}
    for requirement in map(Requirement, lines):
        if requirement.name != "hinge":
            (only,) = requirement.specifier
            assert only.operator == ">=", requirement
            found[requirement.name] = Version(only.version)
    return found


def oldest_allowed() -> dict[str, Version]:
    extras = PROJECT["optional-dependencies"]
    return minimums([*PROJECT["dependencies"], *(line for e in extras if e != "bench" for line in extras[e])])


def test_the_oldest_versions_are_the_minimums() -> None:
    lines = (ROOT / "constraints-oldest.txt").read_text().splitlines()
    pins = [Requirement(line) for line in lines if not line.startswith("#")]
    pinned = {pin.name: Version(str(pin.specifier).removeprefix("==")) for pin in pins}
    wanted = oldest_allowed()
    assert {name: pinned.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("name", ["scikit-build-core", "nanobind"])
def test_the_build_requires_what_was_tested(name: str) -> None:
    assert minimums(PYPROJECT["build-system"]["requires"])[name] == oldest_allowed()[name]


def test_the_oldest_python_is_the_first_classifier() -> None:
    start = "Programming Language :: Python :: 3."
    pythons = [int(c.removeprefix(start)) for c in PROJECT["classifiers"] if c.startswith(start)]
    assert PROJECT["requires-python"] == f">=3.{pythons[0]}"
    assert pythons == sorted(pythons)
