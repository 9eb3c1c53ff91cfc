"""Golden runs of the command line: commands, inputs, and what is printed, predictions and figures, to the letter."""

import os
import re
import shutil
from pathlib import Path

import pytest

from hinge.cli import app
from hinge.cli.errors import told

GOLDEN = Path(__file__).parent / "golden"


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
        code = told(error)
    out, err = capfd.readouterr()
    said = err + out + (f"[exit code {code}]\n" if code else "")
    said = re.sub(r"\b\d+\.\d\d s$", "# s", said, flags=re.MULTILINE)  # of learn
    said = re.sub(r'"(seconds|microseconds)": [\d.]+', r'"\1": "#"', said)
    said = re.sub(
        r"(?<=  )( *)\d+\.\d(?=$)", r"\1#", said, flags=re.MULTILINE
    )  # seconds in lines of progress
    return re.sub(r"^(\S.*?) +\d+\.\d\d(?=(   best)?$)", r"\1 #", said, flags=re.MULTILINE)  # us/example


@pytest.fixture
def folder(tmp_path, monkeypatch):
    shutil.copytree(GOLDEN, tmp_path / "golden")
    monkeypatch.chdir(tmp_path / "golden")
    monkeypatch.setenv("COLUMNS", "100")


@pytest.mark.usefixtures("folder")
def test_golden_runs(capfd):
    head, expected = blocks()
    assert len(expected) > 20
    now = [(command, run(command, capfd)) for command, _ in expected]
    if os.environ.get("HINGE_GOLDEN") == "write":
        text = head + "\n".join(f"$ hinge {command}\n{said}" for command, said in now)
        (GOLDEN / "runs.txt").write_text(text.rstrip("\n") + "\n", encoding="utf-8")
        return
    for (command, said), (_, before) in zip(now, expected, strict=True):
        assert said.rstrip("\n") == before.rstrip("\n"), command
