"""`hinge learn --follow`: a log that grows, rotates and is truncated, learned exactly once."""

import json
import os
import signal
import time

import pytest

import hinge
from command_line import called, started
from stream_files import BAD, GOOD, text_of


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return called(capfd, monkeypatch)


ENDINGS = list(GOOD)


class Log:
    """A log, and `hinge learn` that follows it."""

    def __init__(self, folder, ending, *options):
        self.folder, self.ending, self.path = folder, ending, folder / f"log.{ending}"
        self.options, self.count = options, 0
        self.process = None

    def write(self, count, more=""):
        header = (
            "a,label\n"
            if self.ending == "csv" and not (self.path.exists() and self.path.stat().st_size)
            else ""
        )
        lines = "".join(GOOD[self.ending](i) + "\n" for i in range(self.count, self.count + count))
        with self.path.open("a") as file:
            file.write(header + lines + more)
        self.count += count

    def start(self):
        columns = ["--columns", "word,tag"] if self.ending == "conll" else []
        self.process = started("learn", self.path.name, "--follow", "-m", "model", "--resume", "-q", "--save-every",
                               "0.1s", *columns, *self.options, folder=self.folder)  # fmt: skip

    def wait_for(self, count):
        """Waits until the saved model has learned so many examples."""
        for _ in range(6000):
            assert self.process.poll() is None, self.process.stderr.read()
            if self.learned() >= count:
                break
            time.sleep(0.01)
        assert self.learned() == count

    def learned(self):
        model = self.folder / "model"
        return hinge.load(model).notes["stream"]["position"]["examples"] if model.exists() else 0

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        _, err = self.process.communicate(timeout=60)
        assert self.process.returncode == (-9 if number == signal.SIGKILL else 128 + number)
        assert b"Traceback" not in err
        return err.decode()

    def same_as_a_whole_run(self, run):
        """Whether the model is the one of a single run over everything that was written."""
        whole = self.folder / f"whole.{self.ending}"
        whole.write_text(text_of(self.ending, self.count))
        assert run("learn", whole.name, "-m", "whole", "-q", *self.options).code == 0
        ours, theirs = hinge.load(self.folder / "model"), hinge.load(self.folder / "whole")
        assert ours.statistics == theirs.statistics
        ours.notes.clear()
        theirs.notes.clear()
        ours.save(self.folder / "a")
        theirs.save(self.folder / "b")
        return (self.folder / "a").read_bytes() == (self.folder / "b").read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_growing_log_is_learned_over_rotation_and_restarts(run, tmp_path, ending):
    log = Log(tmp_path, ending)
    log.write(30)
    log.start()
    log.wait_for(30)
    log.write(10)
    log.wait_for(40)
    os.rename(log.path, f"{log.path}.1")
    log.write(10)
    log.wait_for(50)
    log.end()
    log.write(5)  # while no process reads: more lines, two rotations, and more lines
    os.rename(f"{log.path}.1", f"{log.path}.2")
    os.rename(log.path, f"{log.path}.1")
    log.write(7)
    os.rename(f"{log.path}.1", tmp_path / f"log-20260101.{ending}")
    os.rename(log.path, f"{log.path}.1")
    log.write(3)
    log.start()
    log.wait_for(65)
    log.end(signal.SIGKILL)
    log.start()
    log.write(5)
    log.wait_for(70)
    assert log.end() == ""
    assert log.same_as_a_whole_run(run)


@pytest.mark.parametrize("ending", ["svm", "jsonl", "csv"])
def test_truncated_log_is_read_from_its_beginning(run, tmp_path, ending):
    log = Log(tmp_path, ending)
    log.write(30)
    log.start()
    log.wait_for(30)
    log.path.write_text("")  # copytruncate
    log.write(4)
    log.wait_for(34)
    log.end()
    log.path.write_text("")
    log.write(50)  # longer than before, with another beginning
    log.start()
    log.wait_for(84)
    assert "is no longer there" in log.end()
    assert log.same_as_a_whole_run(run)


@pytest.mark.parametrize("ending", ["svm", "jsonl"])
def test_incomplete_last_line_is_learned_when_it_is_complete(run, tmp_path, ending):
    log = Log(tmp_path, ending)
    text = GOOD[ending](10)
    log.write(10, more=text[:-3])
    log.start()
    log.wait_for(10)
    time.sleep(0.3)
    assert log.learned() == 10
    with log.path.open("a") as file:
        file.write(text[-3:] + "\n")
    log.count = 11
    log.wait_for(11)
    log.write(2, more="torn")
    log.wait_for(13)
    os.rename(log.path, f"{log.path}.1")
    log.write(1)
    log.wait_for(14)
    assert "its last line was incomplete (4 bytes) and is not learned" in log.end()
    assert log.same_as_a_whole_run(run)


def test_bad_line_in_a_log_can_be_corrected(run, tmp_path):
    log = Log(tmp_path, "jsonl")
    log.write(20, more=BAD["jsonl"] + "\n")
    log.start()
    _, err = log.process.communicate(timeout=60)
    assert log.process.returncode == 2
    assert b"log.jsonl:21: " in err
    assert b"model holds the 20 examples before it" in err
    text = log.path.read_text()
    fixed = tmp_path / "fixed"
    fixed.write_text(text.replace(BAD["jsonl"] + "\n", GOOD["jsonl"](20) + "\n"))
    os.replace(fixed, log.path)  # as an editor does
    log.count = 21
    log.write(9)
    log.start()
    log.wait_for(30)
    assert log.end() == ""
    assert log.same_as_a_whole_run(run)


def test_log_may_appear_later_and_predictions_are_one_per_line(tmp_path):
    log = Log(tmp_path, "svm", "-p", "predictions", "--task", "classification")
    log.start()
    time.sleep(0.2)
    log.write(20)
    log.wait_for(20)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        log.write(20)
        log.wait_for(log.count)
        log.end(number)
        log.start()
    log.write(1)
    log.wait_for(81)
    log.end()
    assert len((tmp_path / "predictions").read_text().splitlines()) == 81


@pytest.mark.parametrize("arguments", [["-"], ["a.svm", "b.svm"], ["a.svm.gz"], ["a.svm", "--passes", "2"],
                                       ["a.svm", "--shuffle"], ["a.svm", "--certificate"]], ids=str)  # fmt: skip
def test_options_that_contradict_following_are_rejected(run, tmp_path, arguments):
    done = run("learn", "--follow", *arguments)
    assert done.code == 2
    assert "--follow" in done.err


def test_model_that_follows_a_log_resumes_only_with_follow(run, tmp_path):
    log = Log(tmp_path, "jsonl")
    log.write(5)
    log.start()
    log.wait_for(5)
    log.end()
    done = run("learn", "log.jsonl", "-m", "model", "--resume")
    assert (done.code, done.err) == (
        2,
        "hinge: the model follows the log log.jsonl: --resume needs --follow\n",
    )
    assert json.loads(json.dumps(hinge.load("model").notes["stream"]["position"]["log"]))["line"] == 5
