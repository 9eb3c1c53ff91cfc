"""`hinge learn`, killed, asked to stop, or fed for ever: nothing is lost."""

import random
import signal
import time

import pytest

import hinge
from command_line import feed, started, wait_until
from stream_files import svmlight

KILLS = 100


def test_killed_at_any_moment_nothing_is_lost(run, tmp_path):
    """kill -9 at random moments, a hundred times: the file always loads, and going on gives the bits of one run."""
    (tmp_path / "data.svm").write_text(svmlight(40_000))
    assert run("learn", "data.svm", "-m", "whole", "-q").code == 0
    whole = (tmp_path / "whole").read_bytes()
    model, moments = tmp_path / "parts", random.Random(5)
    kills = ends = loads = 0
    longest = 1.0  # of a run, about
    while kills < KILLS:
        began = time.monotonic()
        process = started(
            "learn", "data.svm", "-m", "parts", "--resume", "--save-every", "500", "-q", folder=tmp_path
        )
        if kills % 4:  # most of them once there is something to lose: just after the file has changed
            before = model.stat().st_mtime_ns if model.exists() else 0
            while process.poll() is None and (model.stat().st_mtime_ns if model.exists() else 0) == before:
                time.sleep(0.001)
            time.sleep(moments.uniform(0, 0.02))
        else:
            time.sleep(moments.uniform(0, longest))
        process.kill()
        process.communicate()
        if process.returncode == 0:
            ends += 1
            longest = time.monotonic() - began
            assert model.read_bytes() == whole
            model.unlink()
            continue
        assert process.returncode == -signal.SIGKILL
        kills += 1
        if model.exists():
            rounds = hinge.load(model).statistics.rounds
            assert 0 < rounds <= 40_000
            loads += 1
    assert loads > KILLS / 2
    assert run("learn", "data.svm", "-m", "parts", "--resume", "-q").code == 0
    assert model.read_bytes() == whole


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["INT", "TERM"]
)
@pytest.mark.parametrize("waiting", [True, False])
def test_a_stopping_signal_saves_the_model_and_reports_it(tmp_path, number, code, waiting):
    process = started("learn", "-", "--format", "svmlight", "-m", "model", folder=tmp_path)
    text = svmlight(300).encode()
    feed(process, text, 128)
    if waiting:
        time.sleep(0.3)
    else:
        feed(process, text)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == code
    assert b"Stopped: the model is saved in model, --resume continues." in out
    learner = hinge.load(tmp_path / "model")
    learned = learner.statistics.rounds
    assert 128 <= learned <= 600
    assert learner.notes["stream"]["position"]["examples"] == learned
    assert not learner.notes["stream"]["position"]["finished"]


def test_an_endless_stream_is_learned_as_it_arrives(tmp_path):
    process = started(
        "learn", "-", "--format", "svmlight", "-m", "model", "--save-every", "10", folder=tmp_path
    )
    model = tmp_path / "model"
    for number, line in enumerate(svmlight(40).splitlines(keepends=True), 1):
        feed(process, line)
        if number % 20 == 0:
            wait_until(lambda number=number: model.exists() and hinge.load(model).statistics.rounds == number)
    process.communicate(timeout=60)
    assert process.returncode == 0
