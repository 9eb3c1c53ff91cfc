"""`hinge learn` under kills, bad lines, full disks and second writers: what was read is learned or reported.

`make torture` runs it for minutes, test_torture.py for some seconds. One round is one scenario with a seed, which is
printed if it fails: `python tests/cli/torture.py --seed N --rounds 1`.
"""

import argparse
import contextlib
import json
import os
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "support"))
import command_line
import hinge

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL]
LINES = {
    "svm": lambda i: f"{'+1' if i * 7 % 11 < 5 else '-1'} {i % 50 + 1}:1 {i % 31 + 60}:0.5",
    "vw": lambda i: f"{'1' if i * 7 % 11 < 5 else '-1'} | a{i % 50} b{i % 31}:0.5",
    "jsonl": lambda i: json.dumps(
        {"a": f"v{i % 50}", "b": i % 31 / 31, "label": "x" if i * 7 % 11 < 5 else "y"}
    ),
    "csv": lambda i: f"v{i % 50},{i % 31 / 31},{'x' if i * 7 % 11 < 5 else 'y'}",
}
HEADER = {"csv": "a,b,label\n"}
FORMATS = {"svm": "svmlight", "jsonl": "json"}


def text_of(ending, start, stop, bad=None):
    return "".join((LINES[ending](i) if i != bad else "{ bad") + "\n" for i in range(start, stop))


def started(folder, *arguments, **options):
    return command_line.started(
        "learn", *arguments, folder=folder, **{"stdin": subprocess.DEVNULL, **options}
    )


def ended(process, *codes):
    out, err = process.communicate(timeout=120)
    assert b"Traceback" not in err, err
    assert not codes or process.returncode in codes, (process.returncode, codes, err)
    return out, err


def position(folder):
    path = folder / "model"
    return hinge.load(path).notes["stream"]["position"] if path.exists() else {"examples": 0}


def same(folder, one="model", other="whole"):
    """The same model, but for the notes of how it came to be."""
    found = []
    for name in (one, other):
        model = hinge.load(folder / name)
        model.notes.clear()
        model.save(folder / "compared")
        found.append((folder / "compared").read_bytes())
    return found[0] == found[1]


def whole_run(folder, ending, count, *options):
    (folder / f"whole.{ending}").write_text(HEADER.get(ending, "") + text_of(ending, 0, count))
    ended(started(folder, f"whole.{ending}", "-m", "whole", "-q", *options), 0)


def options_of(dice):
    return dice.choice([[], ["--average", "yes"], ["--step", "pa2", "--C", "0.1"]])


# ---- scenarios --------------------------------------------------------------------------------------------------


def files(folder, dice):
    """A file, killed again and again, and resumed: the bits of one run."""
    ending, options = dice.choice(list(LINES)), options_of(dice)
    count = dice.randrange(2000, 20_000)
    (folder / f"data.{ending}").write_text(HEADER.get(ending, "") + text_of(ending, 0, count))
    whole_run(folder, ending, count, *options)
    every = dice.choice([["--save-every", str(dice.randrange(50, 3000))], ["--save-every", "0.02s"], []])
    for _ in range(4):
        process = started(
            folder, f"data.{ending}", "-m", "model", "-p", "made", "--resume", "-q", *every, *options
        )
        time.sleep(dice.uniform(0.2, 1.5))
        process.send_signal(dice.choice(SIGNALS))
        ended(process)
        assert position(folder)["examples"] <= count
    ended(
        started(folder, f"data.{ending}", "-m", "model", "-p", "made", "--resume", "-q", *every, *options), 0
    )
    assert same(folder)
    assert len((folder / "made").read_text().splitlines()) == count


def pipes(folder, dice):
    """A busy pipe and a signal: what was taken from it is learned, but for an unfinished line, which is reported."""
    ending = dice.choice(list(LINES))
    data = (HEADER.get(ending, "") + text_of(ending, 0, 400_000)).encode()
    os.mkfifo(folder / "pipe")
    hold = os.open(folder / "pipe", os.O_RDWR | os.O_NONBLOCK)
    with open(folder / "pipe", "rb", buffering=0) as pipe:
        process = started(folder, "-", "--format", FORMATS.get(ending, ending), "--task", "classification", "-m",
                          "model", "--json", "-q", "--save-every", "5000", stdin=pipe)  # fmt: skip
    number = dice.choice(SIGNALS)
    written, end, sent = 0, time.monotonic() + dice.uniform(0.3, 1.5), False
    while time.monotonic() < end + 0.2 and written < len(data):
        if time.monotonic() > end and not sent:
            process.send_signal(number)
            sent = True
        try:
            written += os.write(hold, data[written : written + dice.randrange(1, 5000)])
        except BlockingIOError:
            time.sleep(0.001)
    if not sent:
        process.send_signal(number)
    out, _ = ended(process, -9 if number == signal.SIGKILL else 128 + number, -number)
    left = 0
    with contextlib.suppress(BlockingIOError):
        while True:
            left += len(os.read(hold, 2**20))
    os.close(hold)
    taken = data[: written - left]
    lines = taken.count(b"\n") - (ending == "csv" and b"\n" in taken)
    if process.returncode > 0:  # not killed, and not stopped before it could answer
        summary = json.loads(out.splitlines()[-1]) if out else {"examples": 0}
        assert summary["examples"] == position(folder)["examples"] == lines, (summary, lines)
        if out:
            assert summary["unread_bytes"] == len(taken) - taken.rfind(b"\n") - 1
    else:
        assert position(folder)["examples"] <= lines


def logs(folder, dice):
    """A log that grows, rotates, and is learned by a process that is killed: every line exactly once."""
    ending = dice.choice(list(LINES))
    log, count, number = folder / f"log.{ending}", 0, 0
    columns = ["--task", "classification"]

    def write(lines):
        nonlocal count
        header = HEADER.get(ending, "") if not log.exists() else ""
        with log.open("a") as file:
            file.write(header + text_of(ending, count, count + lines))
        count += lines

    def start(*every):
        return started(folder, log.name, "--follow", "-m", "model", "-p", "made", "--resume", "-q", "--save-every",
                       dice.choice(every or ["0.05s", "100", "7"]), *columns)  # fmt: skip

    write(100)
    process = start("0.05s")
    while position(folder)["examples"] == 0:  # without a model, what was rotated before is not looked for
        time.sleep(0.02)
    for _ in range(12):
        write(dice.randrange(1, 300))
        time.sleep(dice.uniform(0, 0.3))
        if dice.random() < 0.3:
            number += 1
            os.rename(log, f"{log}.{number}")
        if dice.random() < 0.4:
            process.send_signal(dice.choice(SIGNALS))
            ended(process)
            process = start()
    process.send_signal(signal.SIGKILL)
    ended(process, -9)
    write(1)
    process = start("0.05s")
    end = time.monotonic() + 60
    while position(folder)["examples"] < count and time.monotonic() < end:
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    ended(process, 143)
    whole_run(folder, ending, count, *columns)
    assert position(folder)["examples"] == count
    assert same(folder)
    assert len((folder / "made").read_text().splitlines()) == count


def bad_lines(folder, dice):
    """A bad line: the model holds what was before it; corrected and resumed, the bits of one run."""
    ending, options = dice.choice(list(LINES)), options_of(dice)
    count = dice.randrange(10, 5000)
    place = dice.randrange(1, count)
    (folder / f"data.{ending}").write_text(HEADER.get(ending, "") + text_of(ending, 0, count, bad=place))
    command = [
        f"data.{ending}",
        "-m",
        "model",
        "-q",
        "--resume",
        "--save-every",
        str(dice.randrange(1, 500)),
        *options,
    ]
    _, err = ended(started(folder, *command), 2)
    assert position(folder)["examples"] == place, err
    assert re.search(rb"model holds the [\d,]+ examples? before it", err)
    (folder / f"data.{ending}").write_text(HEADER.get(ending, "") + text_of(ending, 0, count))
    ended(started(folder, *command), 0)
    whole_run(folder, ending, count, *options)
    assert same(folder)


def full_disk(folder, dice):
    """No room for the model: the old one stays, and the message counts what is not saved."""
    first, count = dice.randrange(1, 50), dice.randrange(500, 3000)
    (folder / "data.vw").write_text(text_of("vw", 0, first))
    ended(started(folder, "data.vw", "-m", "model", "-q"), 0)
    before = (folder / "model").read_bytes()
    text = "".join(f"{1 if i % 2 else -1} | long_name_number_{i}\n" for i in range(count))
    (folder / "data.vw").write_text(text_of("vw", 0, first) + text)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, len(before) + 100))

    _, err = ended(started(folder, "data.vw", "-m", "model", "-q", "--resume", preexec_fn=limit), 2)
    assert (folder / "model").read_bytes() == before
    assert f"{count:,} more were learned and are not saved".encode() in err
    ended(started(folder, "data.vw", "-m", "model", "-q", "--resume"), 0)
    assert position(folder)["examples"] == first + count


def two_writers(folder, dice):
    """The second one is turned away, and takes nothing from the first; a kill releases the lock."""
    (folder / "data.svm").write_text(text_of("svm", 0, 50))
    first = started(
        folder, "-", "--format", "svmlight", "-m", "model", "--save-every", "1", stdin=subprocess.PIPE
    )
    first.stdin.write(b"+1 1:1\n")
    first.stdin.flush()
    while not (folder / "model").exists():
        time.sleep(0.01)
    _, err = ended(started(folder, "data.svm", "-m", "model", dice.choice(["--resume", "--force"]), "-q"), 2)
    assert f"process {first.pid}".encode() in err
    first.send_signal(dice.choice(SIGNALS))
    first.wait(timeout=60)
    first.communicate()
    assert position(folder)["examples"] == 1
    ended(started(folder, "data.svm", "-m", "model", "--force", "-q"), 0)
    assert position(folder)["examples"] == 50


SCENARIOS = [files, pipes, logs, bad_lines, full_disk, two_writers]


def one_round(seed, scenario=None):
    dice = random.Random(seed)
    scenario = scenario or dice.choice(SCENARIOS)
    with tempfile.TemporaryDirectory() as folder:
        try:
            scenario(Path(folder), dice)
        except Exception:
            print(f"seed {seed}: {scenario.__name__}", file=sys.stderr)
            raise
    return scenario.__name__


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--rounds", type=int, default=10**9)
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = int(time.time()) if arguments.seed is None else arguments.seed
    end, counts = time.monotonic() + arguments.seconds, {}
    for number in range(arguments.rounds):
        if time.monotonic() > end:
            break
        name = one_round(seed + number)
        counts[name] = counts.get(name, 0) + 1
    print(f"{sum(counts.values())} rounds from seed {seed}: {counts}")


if __name__ == "__main__":
    main()
