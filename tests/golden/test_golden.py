"""Golden runs of the command line: commands, inputs, and what is printed, predictions and figures, to the letter."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hinge.cli import app
from hinge.cli.app import command_parser
from hinge.cli.errors import report_error
from hinge.cli.options import ONLY_IN_FIT, flag
from hinge.cli.reference import pages
from hinge.options.table import PARAMETERS

GOLDEN = Path(__file__).parent
ROOT = GOLDEN.parents[1]


def blocks():
    """The head of the transcript, then each command with what it prints."""
    head, *rest = re.split(
        r"^\$ hinge ", (GOLDEN / "runs.txt").read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    return head, [tuple(part.split("\n", 1)) for part in rest]


def run(command, capfd):
    try:
        code = app.run(command.split())
    except Exception as error:
        code = report_error(error)
    out, err = capfd.readouterr()
    said = err + out + (f"[exit code {code}]\n" if code else "")
    said = re.sub(r"\b\d+\.\d\d s$", "# s", said, flags=re.MULTILINE)  # of learn
    said = re.sub(r'"(seconds|microseconds)": [\d.]+', r'"\1": "#"', said)
    said = re.sub(
        r"(?<=  )( *)\d+\.\d(?=$)", r"\1#", said, flags=re.MULTILINE
    )  # seconds in lines of progress
    return re.sub(
        r"^(\S.*?) +\d+\.\d\d(?=(   (?:best|for comparison))?$)", r"\1 #", said, flags=re.MULTILINE
    )  # us/example


def printed(command, capfd):
    """What a command of a page prints: one of hinge, or one of Python that makes its data."""
    program, arguments = command.split(" ", 1)
    if program == "hinge":
        return run(arguments, capfd)
    assert program == "python"
    return subprocess.run(
        [sys.executable, *shlex.split(arguments)], capture_output=True, text=True, check=True
    ).stdout


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(GOLDEN, tmp_path / "golden")
    monkeypatch.chdir(tmp_path / "golden")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.usefixtures("folder")
def test_commands_print_the_golden_output(capfd):
    head, expected = blocks()
    assert len(expected) > 20
    now = [(command, run(command, capfd)) for command, _ in expected]
    if os.environ.get("HINGE_GOLDEN") == "write":
        text = head + "\n".join(f"$ hinge {command}\n{said}" for command, said in now)
        (GOLDEN / "runs.txt").write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        return
    for (command, said), (_, before) in zip(now, expected, strict=True):
        assert said.rstrip("\n") == before.rstrip("\n"), command


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["docs/guide/command-line.md", "docs/start.md", "README.md"])
def test_pages_show_the_golden_output(capfd, name):
    page = (ROOT / name).read_text(encoding="utf-8")

    def block(found):
        commands = re.findall(r"^\$ (.*)$", found[1], re.MULTILINE)
        assert commands
        said = "\n".join(f"$ {command}\n{printed(command, capfd)}" for command in commands)
        return f"```console\n{said}```"

    now, blocks = re.subn(r"```console\n(.*?)```", block, page, flags=re.DOTALL)
    assert blocks
    if os.environ.get("HINGE_GOLDEN") == "write":
        (ROOT / name).write_text(now, encoding="utf-8")
    assert now == page


def test_the_reference_is_up_to_date():
    for name, page in pages().items():
        written = (ROOT / "docs" / "reference" / name).read_text(encoding="utf-8")
        assert written == page, f"docs/reference/{name} is out of date: run make docs"


def test_the_reference_has_every_option():
    commands, options = pages()["command-line.md"], pages()["options.md"]
    for name in PARAMETERS:
        assert f"| `{name}` |" in options
        assert (f"`{flag(name)}`" in commands) == (name not in ONLY_IN_FIT)
        assert name in ONLY_IN_FIT or name in command_parser("learn").parse_args(["data"])
