"""The `hinge` command as a user meets it: the demo, the help, and what is said when something is wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from itertools import cycle
from math import inf

import numpy as np
import pytest

from command_line import shown_on_a_terminal, started
from hinge import Learner, PAClassifier, PARegressor, __version__
from hinge.streams import absolute, progressive
from hinge.theory import Guarantee

LEARNERS = ("committee", "perceptron", "pa", "pa1", "pa2", "pa1 averaged", "arow")


def command(*arguments, cwd, python=(), **environment):
    """Runs `hinge`, as if for a file of 80 columns."""
    unwanted = ("FORCE_COLOR", "TTY_COMPATIBLE", "PYTHONWARNINGS")
    kept = {name: value for name, value in os.environ.items() if name not in unwanted}
    return subprocess.run(
        [sys.executable, *python, "-m", "hinge", *arguments],
        cwd=cwd, env={**kept, "COLUMNS": "80", "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True, encoding="utf-8", timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = command("demo", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Warning" not in done.stderr
    assert "Traceback" not in done.stderr
    return folder, done.stdout


def table(text, header):
    """The rows of the table whose first line begins so, up to the next empty line."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if re.match(header, line))
    return lines[start + 2 : lines.index("", start)]


# ---- the demo -------------------------------------------------------------------------------------------


def test_the_demo_shows_every_learner(demo):
    rows = table(demo[1], r"learner +C +error")
    assert tuple(re.split(r" {2,}", row)[0] for row in rows) == LEARNERS
    for row in rows:
        error, mistakes, updates, time = re.search(r"([\d.]+) % +([\d,]+) +([\d,]+) +([\d.]+)$", row).groups()
        assert float(error) == pytest.approx(100 * int(mistakes) / 1797, abs=0.05)
        assert (
            0 < int(mistakes) <= int(updates.replace(",", ""))
            if "averaged" not in row
            else int(updates.replace(",", "")) > 0
        )
        assert float(time) > 0


def test_every_guarantee_of_the_demo_holds(demo):
    rows = table(demo[1], "learner +theorem")
    number = r"([\d,.]+)"
    found = [re.search(rf"(mistakes|loss) {number} <= {number}$", row) for row in rows]
    kept = [tuple(float(n.replace(",", "")) for n in match.groups()[1:]) for match in found if match]
    assert len(kept) == 8  # committee, perceptron, pa, pa1, pa2, arow, regression, one class
    assert all(suffered <= guaranteed for suffered, guaranteed in kept)
    assert sum("not applicable: it" in row for row in rows) == 2  # pa's Theorem 2, and the average
    assert "VIOLATED" not in demo[1]


def test_the_demo_draws_a_picture(demo):
    image = pytest.importorskip("matplotlib.image")
    folder, said = demo
    pixels = image.imread(folder / "hinge-demo.png")
    assert pixels.shape[0] > 500
    assert pixels.shape[1] > 800
    assert len(np.unique(pixels[::4, ::4].reshape(-1, pixels.shape[2]), axis=0)) > 50  # it is not blank
    assert "hinge-demo.png" in said
    assert [path.name for path in folder.iterdir()] == ["hinge-demo.png"]


def test_output_to_a_file_has_no_control_characters_and_no_long_lines(demo):
    said = demo[1]
    assert not re.search(r"[^\n -~─]", said)  # the rule below the head of a table is the only non-ASCII
    assert max(map(len, said.splitlines())) <= 80
    assert not re.search(r" $", said, re.MULTILINE)


def test_the_snippet_at_the_end_runs(demo):
    snippet = "\n".join(line[4:] for line in demo[1].splitlines() if re.match(r"    \S", line))
    assert snippet.count("\n") == 3
    done = subprocess.run([sys.executable, "-c", snippet], capture_output=True, text=True, check=True)
    assert done.stdout == re.search(r"# (\w+)$", snippet)[1] + "\n"


def test_on_a_terminal_there_are_bars(tmp_path):
    said = shown_on_a_terminal("demo", "--no-plot", folder=tmp_path, columns=80)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said)
    bars = [line for line in plain.splitlines() if "rounds/s" in line]
    for name, line in zip(LEARNERS, bars[-len(LEARNERS) :], strict=True):
        assert line.startswith(name + " ")
        assert re.search(r"━+ 1,797 rounds +[\d,]+ rounds/s +[\d.]+ % wrong", line)
        assert len(line.rstrip()) <= 80
    assert not list(tmp_path.iterdir())


def test_the_demo_fails_if_a_guarantee_is_violated():
    from hinge.cli.console import new_console
    from hinge.cli.demo import _show_guarantees
    from hinge.cli.demo_runs import Run

    def shown(guarantee):
        return _show_guarantees(new_console(), [Run("x", [0.5], 1, 1.0, [guarantee])], [])

    assert shown(Guarantee("T", "mistakes", 2, 2.5))
    assert not shown(Guarantee("T", "mistakes", 3, 2.5))
    assert shown(Guarantee("T", "mistakes", 3, inf, "it needs something else"))


def test_the_demo_shows_the_most_informative_guarantees():
    from hinge.cli.demo_runs import most_informative

    refused = Guarantee("A", "squared loss", 5, inf, "no")
    loose, tight = Guarantee("B", "mistakes", 5, 100), Guarantee("C", "squared loss", 5, 6)
    other = Guarantee("D", "progress", 5, 5)
    assert most_informative([refused, loose, tight, other]) == [refused, tight]
    assert most_informative([loose, refused, tight]) == [tight]
    assert most_informative([refused]) == [refused]
    assert most_informative([other]) == []


# ---- what can go wrong ----------------------------------------------------------------------------------


def test_without_matplotlib_the_demo_says_how_to_get_it(tmp_path):
    missing = tmp_path / "missing" / "matplotlib"
    missing.mkdir(parents=True)
    (missing / "__init__.py").write_text("raise ModuleNotFoundError(\"No module named 'matplotlib'\")")
    # An ASCII stdout as well: what cannot be printed there must not be an error.
    done = command("demo", cwd=tmp_path, PYTHONPATH=str(missing.parent), PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "pip install 'hinge[plots]'" in done.stdout
    assert len(table(done.stdout, r"learner +\| +C")) == len(LEARNERS)
    assert done.stdout.isascii()
    assert not (tmp_path / "hinge-demo.png").exists()


@pytest.mark.parametrize(
    ("path", "reason"),
    [("no/such/place.png", "no directory"), ("picture.txt", ".svg"), (".", "directory")],
)
def test_an_invalid_plot_path_is_rejected_before_the_demo_runs(tmp_path, path, reason):
    done = command("demo", "--plot", path, cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert "--plot" in done.stderr
    assert done.stdout == ""


def test_the_demo_succeeds_without_its_default_plot(tmp_path):
    (tmp_path / "hinge-demo.png").mkdir()
    done = command("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "No picture: hinge-demo.png cannot be written" in done.stdout


def test_an_unknown_command_gets_a_hint(tmp_path):
    done = command("dmeo", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == "hinge: there is no command 'dmeo': did you mean 'demo'?\n"


def test_ctrl_c_ends_with_one_line(tmp_path):
    process = started("demo", "--no-plot", folder=tmp_path)
    process.stdout.readline()  # it has begun
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (130, b"Stopped.\n")


# ---- light ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["demo", "--help"], ["version"], ["dmeo"]])
def test_help_and_version_import_no_large_modules(tmp_path, arguments):
    done = command(*arguments, cwd=tmp_path, python=["-X", "importtime"])
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    modules = {line.split("|")[-1].strip() for line in lines}
    assert "hinge.cli" in modules
    heavy = {"typer", "pydantic", "numpy", "scipy", "sklearn", "matplotlib", "rich", "pandas", "hinge._core"}
    assert not modules & heavy


def test_version(tmp_path):
    assert command("--version", cwd=tmp_path).stdout == f"hinge {__version__}\n"
    said = command("version", cwd=tmp_path).stdout
    assert said.startswith(f"hinge {__version__}\n")
    assert f"numpy {np.__version__}" in said


def test_help_names_the_commands(tmp_path):
    said = command("--help", cwd=tmp_path).stdout
    assert re.search(r"^  demo +\w+", said, re.MULTILINE)
    assert re.search(r"^  version +\w+", said, re.MULTILINE)


# ---- progressive validation -----------------------------------------------------------------------------


def events(count, label):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(count, 4))
    return [({f"x{j}": float(v) for j, v in enumerate(row)}, label(row)) for row in rows]


def test_progressive_validation_predicts_and_then_learns():
    stream = events(300, lambda row: "yes" if row[0] + 0.3 * row[1] > 0.2 else "no")
    ours, twin = PAClassifier(C=0.1), PAClassifier(C=0.1)
    mistakes = 0
    rounds = list(progressive(ours, stream))
    for number, ((x, y), event) in enumerate(zip(stream, rounds, strict=True), start=1):
        guess = twin.predict_one(x)
        twin.learn_one(x, y)
        mistakes += guess != y
        assert (event.number, event.prediction, event.truth) == (number, guess, y)
        assert event.cost == (guess != y)
        assert event.error == mistakes / number
    assert 0 < mistakes < 100
    assert ours.named_weights() == twin.named_weights()
    times = [event.seconds for event in rounds]
    assert times == sorted(times)
    assert times[0] > 0


def test_progressive_validation_of_numbers():
    stream = events(100, lambda row: float(2 * row[0] - row[2]))
    twin = PARegressor(epsilon=0.01)
    total = 0.0
    for number, event in enumerate(progressive(PARegressor(epsilon=0.01), stream, absolute), start=1):
        x, y = stream[number - 1]
        total += abs(twin.predict_one(x) - y)
        twin.learn_one(x, y)
        assert event.error == total / number
    assert number == 100


def test_progressive_validation_is_lazy():
    learner = Learner("classification")
    endless = cycle(events(10, lambda row: row[0] > 0))
    watched = progressive(learner, endless)
    assert learner.statistics.rounds == 0
    next(watched)
    next(watched)
    assert learner.statistics.rounds == 2
    assert list(progressive(learner, [])) == []


# ---- names beside curves --------------------------------------------------------------------------------


def test_labels_of_curves_are_moved_as_little_as_possible():
    from hinge.plots import spread

    assert spread([], 1.0) == []
    assert spread([1.0, 3.0], 1.0) == [1.0, 3.0]
    assert spread([5.0, 5.0], 1.0) == pytest.approx([4.5, 5.5])
    assert spread([0.0, 5.0, 5.1, 5.2, 9.0], 1.0) == pytest.approx([0.0, 4.1, 5.1, 6.1, 9.0])
    heights = np.sort(np.random.default_rng(1).uniform(0, 10, size=12)).tolist()
    assert spread([0.9, 0.95, 1.0], 0.2, 0.0, 1.0) == pytest.approx(
        [0.6, 0.8, 1.0]
    )  # labels stay beside the axes
    assert spread([0.0, 0.0, 0.9], 0.2, 0.0, 1.0) == pytest.approx([0.0, 0.2, 0.9])
    moved = spread(heights, 0.7)
    assert min(np.diff(moved)) >= 0.7 - 1e-12
    assert np.mean(moved) == pytest.approx(np.mean(heights))
