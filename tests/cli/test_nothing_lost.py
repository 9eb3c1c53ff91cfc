"""`hinge learn` loses nothing: what it reads is learned, or counted and reported, however the run ends."""

import argparse
import errno
import gzip
import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

import pytest

import hinge
from command_line import feed, started, wait_for_examples, wait_until
from stream_files import GOOD, svmlight, text_of


def rounds(path):
    return hinge.load(path).statistics.rounds


# ---- a bad line keeps the good ones before it -------------------------------------------------------------------


@pytest.mark.parametrize("ending", GOOD)
@pytest.mark.parametrize("place", [3, 40, 2500])
def test_the_examples_before_an_invalid_line_are_saved(run, tmp_path, ending, place):
    path = tmp_path / f"data.{ending}"
    path.write_text(text_of(ending, 3000, bad=[place]))
    done = run("learn", path.name, "-m", "model", "-q")
    assert done.code == 2
    first, second = done.err.splitlines()
    line = 2 * place + 1 if ending == "conll" else place + 1 + (ending == "csv")
    assert first.startswith(f"{path.name}:{line}:")
    assert second.startswith(f"model holds the {place:,} examples before it: to continue, correct it and")
    position = hinge.load("model").notes["stream"]["position"]
    assert position["examples"] == place
    path.write_text(text_of(ending, 3000))
    assert run("learn", path.name, "-m", "model", "--resume", "-q").code == 0
    assert run("learn", path.name, "-m", "whole", "-q").code == 0
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("ending", GOOD)
def test_unread_lines_of_a_pipe_after_an_invalid_line_are_reported(tmp_path, ending):
    process = started("learn", "-", "--format", {"svm": "svmlight", "jsonl": "json"}.get(ending, ending),
                      *(["--columns", "word,tag"] if ending == "conll" else []),
                      "-m", "model", "-q", "--save-every", "7", folder=tmp_path)  # fmt: skip
    text = text_of(ending, 60, bad=[50]) + "unfinished"
    _, err = process.communicate(text.encode(), timeout=60)
    assert process.returncode == 2
    assert b"model holds the 50 examples before it" in err
    lost = re.search(
        rb"Read but not learned: (\d+) lines after it and an incomplete last line \((\d+) bytes\)", err
    )
    after = 2 * 9 if ending == "conll" else 9
    assert (int(lost[1]), int(lost[2])) == (after, len("unfinished"))


def test_the_examples_before_too_many_invalid_lines_are_saved(run, tmp_path):
    for ending in ("svm", "jsonl"):
        path = tmp_path / f"data.{ending}"
        path.write_text(text_of(ending, 100, bad=[10, 20, 30, 40]))
        done = run("learn", path.name, "-m", ending, "-q", "--on-error", "skip", "--max-skipped", "2")
        assert done.code == 2
        assert f"data.{ending}:11:" in done.err
        assert hinge.load(ending).notes["stream"]["position"]["examples"] == 28  # 30 lines, two of them bad


def test_the_examples_before_a_rejected_row_are_saved(run, tmp_path):
    lines = svmlight(300).splitlines()
    lines[200] = "1 1:1e200"
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    for more in ([], ["--average", "yes"]):
        done = run("learn", "data.svm", "-m", "model", "-q", "--force", *more)
        assert done.code == 2
        assert done.err.startswith("data.svm:201:")
        assert "model holds the 200 examples before it" in done.err
        assert rounds("model") == 200


def test_invalid_labels_and_rejected_rows_are_both_skipped(run, tmp_path):
    """The label is looked at before the features: the row that is found first is not always the first one."""
    lines = ['{"a": 1, "label": "x"}', '{"a": 2, "label": "y"}'] * 20
    lines[10], lines[20] = '{"a": 1e300, "label": "x"}', '{"a": 1, "label": ["x", "y"]}'
    (tmp_path / "data.jsonl").write_text("\n".join(lines) + "\n")
    done = run("learn", "data.jsonl", "-m", "model", "-q", "--task", "classification", "--on-error", "skip")
    assert done.code == 0, done.err
    assert "2 examples were skipped" in done.err
    assert rounds("model") == 38


def test_the_examples_before_the_end_of_a_truncated_file_are_learned(run, tmp_path):
    for ending in ("svm", "jsonl"):
        packed = gzip.compress(text_of(ending, 20_000).encode(), mtime=0)
        (tmp_path / f"data.{ending}.gz").write_bytes(packed[: len(packed) // 2])
        done = run("learn", f"data.{ending}.gz", "-m", ending, "-q")
        assert done.code == 2
        assert "damaged or truncated" in done.err
        learned = rounds(ending)
        assert learned > 1000
        assert f"{ending} holds the {learned:,} examples before it" in done.err


# ---- a full disk ------------------------------------------------------------------------------------------------


def test_on_a_full_disk_the_old_model_stays(tmp_path):
    (tmp_path / "small.svm").write_text("1 1:1\n-1 2:1\n")
    started("learn", "small.svm", "-m", "model", "-q", folder=tmp_path).communicate(timeout=60)
    before = (tmp_path / "model").read_bytes()
    large = "1 1:1\n-1 2:1\n" + "".join(f"{(-1) ** i} {i + 3}:1\n" for i in range(2000))
    (tmp_path / "small.svm").write_text(large)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

    process = started("learn", "small.svm", "-m", "model", "-q", "--resume", "--save-every", "500",
                      folder=tmp_path, preexec_fn=limit)  # fmt: skip
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.count(b"model could not be saved after") == 4
    assert b"model is as it was after 2 examples: 2,000 more were learned and are not saved." in err
    assert b"Traceback" not in err
    assert (tmp_path / "model").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["model", "small.svm"]
    started("learn", "small.svm", "-m", "model", "-q", "--resume", folder=tmp_path).communicate(timeout=60)
    started("learn", "small.svm", "-m", "whole", "-q", folder=tmp_path).communicate(timeout=60)
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()


# ---- signals on a busy pipe -------------------------------------------------------------------------------------


class Feeder:
    """Writes lines into a pipe as fast as they are taken, and counts what was taken."""

    def __init__(self, folder, ending):
        os.mkfifo(folder / "pipe")
        self.hold = os.open(folder / "pipe", os.O_RDWR | os.O_NONBLOCK)
        self.block = "".join(GOOD[ending](i) + "\n" for i in range(1000)).encode()
        self.written = self.start = 0

    def feed(self, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                count = os.write(self.hold, self.block[self.start : self.start + 3000])
                self.written += count
                self.start = (self.start + count) % len(self.block)
            except BlockingIOError:
                time.sleep(0.001)

    def taken(self):
        """The bytes that somebody else has read."""
        left = 0
        while True:
            try:
                left += len(os.read(self.hold, 2**20))
            except BlockingIOError:
                os.close(self.hold)
                return self.written - left


FORMATS = {"svm": "svmlight", "vw": "vw", "jsonl": "json"}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP], ids=str)
@pytest.mark.parametrize("ending", FORMATS)
def test_everything_read_from_a_busy_pipe_is_learned(tmp_path, number, ending):
    feeder = Feeder(tmp_path, ending)
    with open(tmp_path / "pipe", "rb", buffering=0) as pipe:
        process = started("learn", "-", "--format", FORMATS[ending], "--task", "classification", "-m", "model",
                          "--json", folder=tmp_path, stdin=pipe)  # fmt: skip
    feeder.feed(0.1)
    while not process.stdout.readline().startswith(b'{"event": "progress"'):
        pass
    feeder.feed(0.5)
    process.send_signal(number)
    feeder.feed(0.2)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (128 + number, b"")
    summary = json.loads(out.splitlines()[-1])
    taken = feeder.taken()
    whole, rest = divmod(taken, len(feeder.block))
    lines = whole * 1000 + feeder.block[:rest].count(b"\n")
    assert summary["event"] == "stopped"
    assert (summary["examples"], summary["unread_lines"]) == (lines, 0)
    assert summary["unread_bytes"] == rest - (feeder.block[:rest].rfind(b"\n") + 1)
    assert rounds(tmp_path / "model") == lines > 1000


def test_an_incomplete_line_and_an_incomplete_sentence_are_reported(tmp_path):
    process = started(
        "learn", "-", "--format", "conll", "--columns", "word,tag", "-m", "model", folder=tmp_path
    )
    feed(process, "a A\nb B\n\nc A\nd B\n\nthe A\ncat", 2)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    out, _ = process.communicate()
    assert (
        b"Read but not learned: 1 line of an incomplete example and an incomplete last line (3 bytes)." in out
    )
    assert rounds(tmp_path / "model") == 2


@pytest.mark.parametrize("text", [b"1 1:1", b"1 1:1\n-1 2:1\n"])
def test_bytes_that_were_peeked_at_are_not_lost(tmp_path, text):
    """Without --format the beginning of a pipe is looked at first: that counts as read, too."""
    process = started("learn", "-", "-m", "model", folder=tmp_path)
    feed(process, text)
    if text.endswith(b"\n"):
        wait_for_examples(process, 2)
    else:
        time.sleep(0.5)
        wait_until(lambda: is_read(process))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 143
    out, err = process.communicate()
    if text.endswith(b"\n"):
        assert rounds(tmp_path / "model") == 2
        assert b"All input was learned, or is counted above." in out
    else:
        assert err.endswith(b"Read but not learned: an incomplete last line (5 bytes).\n")


def is_read(process):
    """Whether the process has taken everything from its standard input."""
    import fcntl
    import termios

    return fcntl.ioctl(process.stdin.fileno(), termios.FIONREAD, b"\0\0\0\0") == b"\0\0\0\0"


# ---- saving now and then ----------------------------------------------------------------------------------------


def test_save_every_n_saves_after_exactly_n_examples(run, tmp_path, monkeypatch):
    from hinge.streams.evaluation import Study

    (tmp_path / "data.svm").write_text(svmlight(2000))
    saved = []
    save = Study.save

    def watched(self, path):
        saved.append(self.learner.notes["stream"]["position"]["examples"])
        save(self, path)

    monkeypatch.setattr(Study, "save", watched)
    assert run("learn", "data.svm", "-m", "model", "-q", "--save-every", "300").code == 0
    assert saved == [300, 600, 900, 1200, 1500, 1800, 2000]
    saved.clear()
    assert run("learn", "data.svm", "-m", "model", "-q", "--save-every", "1", "--force").code == 0
    assert saved == [*range(1, 2001), 2000]


def test_saves_do_not_change_what_is_learned(run, tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(1000, lambda score: f"{score:.3f}"))
    for number, more in enumerate(([], ["--average", "yes"], ["--average", "yes", "--passes", "2"])):
        run("learn", "data.svm", "-m", f"whole{number}", "-q", *more)
        run("learn", "data.svm", "-m", f"saved{number}", "-q", "--save-every", "17", *more)
        assert (tmp_path / f"saved{number}").read_bytes() == (tmp_path / f"whole{number}").read_bytes()


def test_SIGUSR1_saves_the_model(tmp_path):
    process = started("learn", "-", "--format", "svmlight", "-m", "model", folder=tmp_path)
    feed(process, svmlight(64), 64)
    assert not (tmp_path / "model").exists()
    process.send_signal(signal.SIGUSR1)
    wait_until((tmp_path / "model").exists)
    assert rounds(tmp_path / "model") == 64
    assert process.poll() is None
    process.communicate(timeout=60)
    assert process.returncode == 0


def test_save_every_interval_saves_while_no_example_arrives(tmp_path):
    process = started(
        "learn", "-", "--format", "svmlight", "-m", "model", "--save-every", "0.1s", folder=tmp_path
    )
    feed(process, svmlight(64))
    wait_until(lambda: (tmp_path / "model").exists() and rounds(tmp_path / "model") == 64)
    process.communicate(timeout=60)


# ---- one writer per model ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("second", [["learn", "data.svm", "--resume"], ["learn", "data.svm", "--force"],
                                    ["learn", "data.svm"], ["tune", "data.svm", "--force"]], ids=str)  # fmt: skip
def test_a_second_writer_is_rejected(run, tmp_path, second):
    (tmp_path / "data.svm").write_text(svmlight(20))
    first = started("learn", "-", "--format", "svmlight", "-m", "model", "--save-every", "1", folder=tmp_path)
    feed(first, "1 1:1\n", 1)
    done = run(*second, "-m", "model", "-q")
    assert done.code == 2
    if "--resume" in second or "--force" in second:
        assert f"is being written by process {first.pid}" in done.err
    first.communicate(b"-1 2:1\n", timeout=60)
    assert rounds("model") == 2
    assert sorted(os.listdir(tmp_path)) == ["data.svm", "model"]


# ---- ends without a trace ---------------------------------------------------------------------------------------


def test_a_second_signal_ends_at_once_without_a_traceback(tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(2000))
    process = started("learn", "data.svm", "--save-every", "1", "-m", "model", folder=tmp_path)
    wait_for_examples(process, 8)
    for _ in range(5):
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_the_model_is_saved_when_the_reader_of_the_progress_leaves(tmp_path):
    process = started("learn", "-", "--format", "svmlight", "--json", "-m", "model", folder=tmp_path)
    feed(process, svmlight(64))
    while b'"examples": 64' not in process.stdout.readline():
        pass
    process.stdout.close()
    feed(process, svmlight(1000))
    assert process.wait(timeout=60) == 0
    process.stdin.close()
    assert rounds(tmp_path / "model") == 1064
    with process.stderr:
        assert process.stderr.read() == b""


# ---- predictions that cannot be written, and readers that leave -----------------------------------------------------


@pytest.mark.parametrize("piped", [False, True])
def test_a_full_disk_for_the_predictions_keeps_what_was_learned(tmp_path, piped):
    (tmp_path / "data.svm").write_text(svmlight(40_000))
    command = [sys.executable, "-m", "hinge", "learn", "-" if piped else "data.svm",
               "--format", "svmlight", "-m", "model", "-p", "/dev/full", "-q"]  # fmt: skip
    with open(tmp_path / "data.svm", "rb") as data:
        done = subprocess.run(
            command, cwd=tmp_path, stdin=data if piped else None, capture_output=True, text=True, timeout=60
        )
    assert done.returncode == 2
    assert "/dev/full: No space left on device" in done.stderr
    learned = rounds(tmp_path / "model")
    assert f"model holds the {learned:,} examples before it" in done.stderr
    lost = re.search(r"/dev/full does not have the last ([\d,]+) predictions", done.stderr)
    assert int(lost[1].replace(",", "")) == learned
    unread = re.search(r"Read but not learned: ([\d,]+) lines? after it", done.stderr)
    if piped:
        assert learned + (0 if unread is None else int(unread[1].replace(",", ""))) == 40_000
    resumed = subprocess.run(
        [*command[:-3], "-q", "--resume"], cwd=tmp_path, input="", capture_output=True, text=True, timeout=60
    )
    assert resumed.returncode == 0
    assert rounds(tmp_path / "model") == (learned if piped else 40_000)


def test_a_disk_that_fills_up_leaves_whole_lines_of_predictions(tmp_path, monkeypatch):
    """And the model knows how many there are."""
    from hinge.cli import predictions as module

    arguments = argparse.Namespace(scores=False)
    written = module.Predictions(str(tmp_path / "p"), None, arguments)
    written.write("1\n" * 10)
    assert written.flush() == 20
    real, calls = written._file, []

    class Full:
        def write(self, data):
            calls.append(len(data))
            if len(calls) > 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real.write(bytes(data[:3]))

        def __getattr__(self, name):
            return getattr(real, name)

    written._file = Full()
    written.write("22\n" * 5)
    assert written.flush() == 20
    assert (written.error.errno, written.error.filename) == (errno.ENOSPC, str(tmp_path / "p"))
    written.write("3\n")
    written.close()
    assert written.missing == 6
    assert (tmp_path / "p").read_text() == "1\n" * 10


@pytest.mark.parametrize("reader", ["true", "head -1", "head -2", "head -4"])
def test_a_reader_of_the_progress_that_leaves_early_loses_nothing(tmp_path, reader):
    """What was taken from the pipe is learned, whenever the reader leaves: before the first line, or later."""
    (tmp_path / "data.svm").write_text(svmlight(16_000))
    learn = f"{sys.executable} -m hinge learn - --format svmlight -m model --json --progress 100"
    line = f"cat data.svm | ({learn}; echo $? > code; wc -l > left) | {reader} > seen"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (tmp_path / "code").read_text() == "0\n"
    assert re.fullmatch(r"(Read but not learned: an incomplete last line .*\n)?", done.stderr)
    left = int((tmp_path / "left").read_text())
    learned = rounds(tmp_path / "model") if (tmp_path / "model").exists() else 0
    assert learned == 16_000 - left
    assert learned > 0 or reader == "true"


def test_two_runs_do_not_write_the_same_predictions(tmp_path):
    first = started("learn", "-", "--format", "svmlight", "-p", "p", "-q", folder=tmp_path)
    feed(first, svmlight(2))
    wait_until(lambda: list(tmp_path.glob(".p.lock")))
    (tmp_path / "data.svm").write_text(svmlight(10))
    second = subprocess.run([sys.executable, "-m", "hinge", "learn", "data.svm", "-p", "p", "-q"], cwd=tmp_path,
                            capture_output=True, text=True, timeout=60)  # fmt: skip
    assert second.returncode == 2
    assert f"p is being written by process {first.pid}" in second.stderr
    first.communicate(svmlight(2).encode(), timeout=60)
    assert len((tmp_path / "p").read_text().splitlines()) == 4


def test_escape_sequences_in_options_are_not_printed_raw(run):
    done = run("learn", "x", "--x\x1b[31m")
    assert done.code == 2
    assert "\x1b" not in done.err
