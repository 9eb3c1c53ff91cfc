"""The examples run, and show what they claim."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))


def run(name, folder, *arguments):
    """What an example prints."""
    place = next(path for path in EXAMPLES if path.name == name)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(place), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def numbers(text, name):
    """The numbers in the line that begins with a name."""
    line = re.search(rf"^  {re.escape(name)} (.*)$", text, re.MULTILINE)
    assert line is not None, f"no line for {name!r} in\n{text}"
    return [float(number) for number in re.findall(r"-?\d+\.?\d*", line[1])]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_examples_have_a_docstring_and_a_command(example):
    text = example.read_text()
    assert text.startswith('"""')
    assert f"    python examples/{example.name}" in text.split('"""')[1]


def test_reranking_improves_on_the_system(tmp_path):
    """Better than the system, nearly as good as can be; and the same each time."""
    said = run("reranking.py", tmp_path)
    system, best = numbers(said, "the system's own score"), numbers(said, "the best there is")
    for selection in ("prediction", "max"):
        learned = numbers(said, f"learned, selection='{selection}'")
        assert best[0] - learned[0] < 0.2 * (best[0] - system[0])
        assert learned[1] > 3 * system[1]
    assert run("reranking.py", tmp_path) == said
    assert not list(tmp_path.iterdir())


def test_learned_weights_align_better_than_weights_set_by_hand(tmp_path):
    """Learned weights are less than half as far off the true path as those set by hand."""
    said = run("alignment.py", tmp_path)
    learned = numbers(said, "learned")[0]
    for by_hand in ("by hand: the distance in semitones", "by hand: octaves forgiven"):
        assert learned < 0.5 * numbers(said, by_hand)[0]
    weights = numbers(said, "an octave off")
    assert weights[2] > 0 > weights[0]
    assert not list(tmp_path.iterdir())


def test_the_inbox_learns_to_sort(tmp_path):
    """It learns, and a model from its file knows what to do with a record."""
    said = run("inbox.py", tmp_path)
    first, last = numbers(said, "of the first 500")[-1], numbers(said, "of the last 500")[-1]
    assert last < 0.2 * first < 20
    assert "A new mail goes to travel" in said
    assert "subject+body=flight" in said
    assert not list(tmp_path.iterdir())


def test_a_fleet_learns_what_readers_like(tmp_path):
    """Shared + personal is the best form, and does well on readers that it knows."""
    said = run("fleet_news.py", tmp_path)
    forms = re.findall(r"^(\S.*?)  +(\d+\.\d\d) %  ", said, re.MULTILINE)
    assert forms[0][0].startswith("shared + personal")
    errors = {name: float(error) for name, error in forms}
    assert errors["shared + personal, 0.5"] < 0.5 * errors["shuffled keys, 0.5"]
    assert errors["shared + personal, 0.5"] < 0.8 * errors["per key"]
    assert "The keys matter." in said
    new, old = numbers(said, "the first 100 of each reader")[-1], numbers(said, "later ones")[-1]
    assert old < 0.2 * new < 5
    assert "A new reader opens an exclusive story about films." in said
    assert re.search(r"^reader-\d+ skips it, because of$", said, re.MULTILINE)
    assert not list(tmp_path.iterdir())


def test_the_picture_of_an_alignment(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    run("alignment.py", tmp_path, "--picture", "paths.png")
    assert (tmp_path / "paths.png").read_bytes().startswith(b"\x89PNG")
