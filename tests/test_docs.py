"""The documentation is run: every `>>>` in README, docs and docstrings, and the README's transcript of the demo."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import hinge

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "benchmarks" / "README.md"])
MODULES = sorted(
    m.name for m in pkgutil.walk_packages(hinge.__path__, "hinge.") if not m.name.endswith("_core")
)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_of_pages_are_correct(page: Path) -> None:
    result = doctest.testfile(str(page), module_relative=False)
    assert result.failed == 0
    assert result.attempted == page.read_text().count("\n>>> ")


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_are_correct(name: str) -> None:
    if name == "hinge.__main__":
        return
    if name.startswith("hinge.river"):
        pytest.importorskip("river", reason="the extra `river` is not installed")
    module = importlib.import_module(name)
    assert module.__doc__, f"{name} does not say what it is"
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_relative_links_point_to_files_and_headings(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in _anchors(file), f"{page.name} links to {target}"


def _anchors(page: Path) -> set[str]:
    """The anchors of the headings of a page, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_readme_shows_the_output_of_the_demo(tmp_path: Path) -> None:
    """Line by line, but for the times."""
    ran = subprocess.run(
        [sys.executable, "-m", "hinge", "demo", "--no-plot"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=True,
    )
    excerpt = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert excerpt is not None
    said = {_without_times(line) for line in ran.stdout.splitlines()}
    for line in excerpt[1].splitlines():
        assert _without_times(line) in said, line


def _without_times(line: str) -> str:
    return re.sub(r"\d+\.\d$", "", line).rstrip()


def test_both_commands_stand_at_the_top_of_the_readme() -> None:
    top = (ROOT / "README.md").read_text().splitlines()[:10]
    assert any("make demo" in line for line in top)
    assert any("make test" in line for line in top)
