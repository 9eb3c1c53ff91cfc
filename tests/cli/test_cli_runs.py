"""The command line in the hands of its users: what must not be lost, replaced, mixed up, or shown as a trace."""

import json
import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

import hinge
from command_line import feed, shown_on_a_terminal, started
from stream_files import svmlight


@pytest.fixture
def run(run, tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(60))
    return run


def table(count, seed=0):
    """A CSV with two columns that could be the label."""
    rng = np.random.default_rng(seed)
    lines = [f"{rng.normal():.3f},{rng.choice(['a', 'b'])},{rng.choice(['x', 'y'])}" for _ in range(count)]
    return "size,kind,other\n" + "\n".join(lines) + "\n"


# ---- what is written where --------------------------------------------------------------------------------------


def test_predictions_are_written_to_devices_and_through_links(run, tmp_path):
    run("learn", "data.svm", "-m", "model", "-q")
    expected = run("predict", "data.svm", "-m", "model", "-q").out
    assert run("predict", "data.svm", "-m", "model", "-o", "/dev/null", "-q").code == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    if os.path.exists("/dev/full"):
        done = run("predict", "data.svm", "-m", "model", "-o", "/dev/full", "-q")
        assert (done.code, done.err) == (2, "hinge: /dev/full: No space left on device\n")
        assert stat.S_ISCHR(os.stat("/dev/full").st_mode)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "true.txt").write_text("before")
    (tmp_path / "link.txt").symlink_to(tmp_path / "folder" / "true.txt")
    run("predict", "data.svm", "-m", "model", "-o", "link.txt", "-q")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "folder" / "true.txt").read_text() == expected


def test_predictions_are_written_to_a_named_pipe(run, tmp_path):
    run("learn", "data.svm", "-m", "model", "-q")
    os.mkfifo(tmp_path / "pipe")
    reading = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE, cwd=tmp_path)
    assert run("predict", "data.svm", "-m", "model", "-o", "pipe", "-q").code == 0
    out, _ = reading.communicate(timeout=30)
    assert len(out.splitlines()) == 60


@pytest.mark.parametrize("arguments", [
    ["predict", "data.svm", "-m", "model", "-o", "model"],
    ["predict", "data.svm", "-m", "model", "-o", "data.svm"],
    ["learn", "data.svm", "-m", "data.svm", "--force"],
], ids=["the model", "the data", "the data to learn from"])  # fmt: skip
def test_inputs_are_never_overwritten(run, tmp_path, arguments):
    run("learn", "data.svm", "-m", "model", "-q")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    done = run(*arguments)
    assert done.code == 2
    assert "is an input" in done.err
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


# ---- going on ---------------------------------------------------------------------------------------------------


def test_resume_accepts_the_same_algorithm(run):
    arguments = [
        "learn",
        "data.svm",
        "-a",
        "arow:r=0.5",
        "--geometry",
        "diagonal",
        "-m",
        "model",
        "--resume",
        "-q",
    ]
    assert run(*arguments).code == 0
    assert run(*arguments).code == 0
    done = run("learn", "data.svm", "-a", "pa2:C=0.3", "-m", "model", "--resume", "-q")
    assert done.code == 2
    assert "--resume cannot change" in done.err


@pytest.mark.parametrize(
    "changed", [["--label", "kind"], ["--drop", "size"], ["--missing", "omit"], ["--shuffle"]]
)
def test_resume_rejects_changed_data_options(run, tmp_path, changed):
    whole = table(60)
    (tmp_path / "log.csv").write_text(whole[: whole.index("\n", len(whole) // 2) + 1])
    assert run("learn", "log.csv", "--label", "other", "-m", "model", "-q").code == 0
    before = (tmp_path / "model").read_bytes()
    (tmp_path / "log.csv").write_text(whole)
    done = run("learn", "log.csv", *changed, "-m", "model", "--resume", "-q")
    assert done.code == 2
    assert "--resume cannot change" in done.err
    assert (tmp_path / "model").read_bytes() == before
    assert run("learn", "log.csv", "--label", "other", "-m", "model", "--resume", "-q").code == 0


def test_resume_rejects_a_file_that_was_replaced_or_shortened(run, tmp_path):
    run("learn", "data.svm", "-m", "model", "-q")
    lines = svmlight(60).splitlines(keepends=True)
    (tmp_path / "data.svm").write_text(svmlight(80, seed=3))
    assert "data.svm begins differently" in run("learn", "data.svm", "-m", "model", "--resume").err
    big = svmlight(2000)
    (tmp_path / "data.svm").write_text(big)
    run("learn", "data.svm", "-m", "large", "-q")
    (tmp_path / "data.svm").write_text("".join(big.splitlines(keepends=True)[:1000]))
    done = run("learn", "data.svm", "-m", "large", "--resume")
    assert done.code == 2
    assert "learned 2,000 examples, and there are 1,000 in data.svm: it is not the same data" in done.err
    (tmp_path / "data.svm").write_text("".join(lines)[:-1])
    done = run("learn", "data.svm", "-m", "other", "-q")
    assert "The last line of data.svm has no newline at its end: it was read nevertheless." in done.out


def test_resume_learns_new_files(run, tmp_path):
    text = svmlight(90).splitlines(keepends=True)
    for day in range(3):
        (tmp_path / f"day-{day}.svm").write_text("".join(text[30 * day : 30 * day + 30]))
    run("learn", "day-0.svm", "day-1.svm", "-m", "parts", "-q")
    assert run("learn", "day-*.svm", "-m", "parts", "--resume", "-q").code == 0
    run("learn", "day-*.svm", "-m", "whole", "-q")
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_resuming_from_a_pipe_reads_from_its_current_position(tmp_path):
    text = svmlight(90).splitlines(keepends=True)
    for part in (text[:50], text[50:]):
        process = started(
            "learn", "-", "--format", "svmlight", "-m", "model", "--resume", "-q", folder=tmp_path
        )
        process.communicate("".join(part).encode(), timeout=60)
        assert process.returncode == 0
    assert hinge.load(tmp_path / "model").statistics.rounds == 90


def test_a_shuffled_average_resumes_bit_identically(run, tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(2500))
    options = ["--shuffle", "--passes", "3", "--average", "yes", "-q"]
    run("learn", "data.svm", "-m", "whole", *options)
    stops = 0
    for _ in range(8):
        process = started(
            "learn", "data.svm", "-m", "parts", "--resume", "--save-every", "100", *options, folder=tmp_path
        )
        before = (tmp_path / "parts").stat().st_mtime_ns if (tmp_path / "parts").exists() else 0
        while process.poll() is None:
            if (tmp_path / "parts").exists() and (tmp_path / "parts").stat().st_mtime_ns != before:
                break
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        stops += process.returncode == 143
    assert stops > 2
    assert run("learn", "data.svm", "-m", "parts", "--resume", *options).code == 0
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_several_passes_over_a_pipe_are_rejected(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writing = subprocess.Popen(["cp", "data.svm", "pipe"], cwd=tmp_path)
    try:
        done = run("learn", "pipe", "--format", "svmlight", "--passes", "3")
        assert (done.code, done.out) == (2, "")
        assert "pipe can only be read once" in done.err
    finally:
        writing.kill()
        writing.wait()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_a_signal_before_the_first_example_saves_nothing(tmp_path, number, code):
    process = started("learn", "-", "--format", "svmlight", "-m", "model", folder=tmp_path)
    for line in process.stderr:
        if b"svmlight" in line:
            break
    time.sleep(0.2)
    process.send_signal(number)
    assert process.wait(timeout=60) == code
    _, err = process.communicate()
    assert err == b"Stopped before anything was learned: nothing is saved.\n"
    assert not (tmp_path / "model").exists()


def test_under_nohup_a_hangup_is_ignored(tmp_path):
    process = started("learn", "-", "--format", "svmlight", "-m", "model", folder=tmp_path,
                      before="signal.signal(signal.SIGHUP, signal.SIG_IGN)")  # fmt: skip
    feed(process, "1 1:1\n", 1)
    process.send_signal(signal.SIGHUP)
    process.communicate(b"-1 2:1\n", timeout=60)
    assert process.returncode == 0
    assert hinge.load(tmp_path / "model").statistics.rounds == 2


# ---- what is shown ----------------------------------------------------------------------------------------------


def test_the_error_of_the_batch_conversion_is_that_of_all_examples(run):
    command = ("learn", "data.svm", "--step", "pa", "--json", "-q")
    plain, conversion = (run(*command, *more).records[-1] for more in ((), ("--batch-tolerance", "1e-9")))
    assert conversion["passes"] > 1
    assert conversion["error"] == pytest.approx(plain["error"])
    assert conversion["examples"] == 60


def test_with_json_every_line_is_json(run):
    for arguments in (["learn", "data.svm"], ["compare", "data.svm", "pa1"], ["tune", "data.svm"]):
        done = run(*arguments, "--json", "--plot", "curve.svg")
        assert done.code == 0
        events = [record["event"] for record in done.records]
        assert events[-1] == "plot"


def test_options_may_come_between_files(run):
    done = run("compare", "data.svm", "--C", "0.1", "pa1", "-q", "mira")
    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines()[2:4]] == ["pa1", "mira"]


def test_contradicting_options_are_rejected(run):
    done = run("learn", "data.svm", "-a", "pa1:C=0.1", "--C", "0.2", "-q")
    assert (done.code, done.err) == (2, "hinge: pa1:C=0.1 has C=0.1, and --C says 0.2\n")
    assert run("learn", "data.svm", "-a", "pa1:C=0.1", "--C", "0.1", "-q").code == 0
    table = run("compare", "data.svm", "pa1:C=0.001", "pa1", "--C", "0.2", "--json", "-q").records
    assert [record["options"]["C"] for record in table[:2]] == [0.001, 0.2]


def test_the_printed_options_of_tune_can_be_learned(run):
    done = run("tune", "data.svm", "-q", "--grid", "fit-intercept=no", "--grid", "C=0.1", "--grid", "C=0.2")
    best = done.out.splitlines()[-1].removeprefix("Best: ").split()
    assert best[0] == "--no-fit-intercept"
    assert run("learn", "data.svm", "-q", *best).code == 0
    assert len([line for line in done.out.splitlines() if "fit_intercept=no C=" in line]) == 2


def test_compare_excludes_learners_that_cannot_learn_the_data(run, tmp_path):
    (tmp_path / "normal.jsonl").write_text('{"a": 1}\n{"a": 2}\n{"a": 1.5}\n')
    done = run("compare", "normal.jsonl", "perceptron", "pa", "pa1", "-q")
    assert done.code == 0, done.err
    assert "out: 'perceptron' is for" in done.out


@pytest.mark.parametrize(("arguments", "told"), [
    (["learn", "data.svm", "--task", "sequence"], "data.svm:1: sequences need sentences (--format conll)"),
    (["learn", "words.conll", "--task", "classification"], "words.conll:1: there are sentences, which are"),
    (["predict", "data.svm", "-m", "tagger"], "data.svm:1: sequences need sentences (--format conll)"),
    (["learn", "one.svm", "--plot", "one.png"], "hinge: --plot: there are too few examples to draw a curve"),
    (["predict", "data.svm", "-m", "model", "-o", "no/where"], "hinge: there is no directory no for the predictions"),
], ids=str)  # fmt: skip
def test_data_of_another_kind_is_rejected_in_one_line(run, tmp_path, arguments, told):
    (tmp_path / "words.conll").write_text("The DT\ncat NN\n\nIt PRP\n")
    (tmp_path / "one.svm").write_text("1 1:1\n")
    run("learn", "words.conll", "-m", "tagger", "-q")
    run("learn", "data.svm", "-m", "model", "-q")
    done = run(*arguments, "-q")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(told)


def test_data_with_unknown_ranks_is_predicted(run, tmp_path):
    (tmp_path / "ranks.csv").write_text("a,label\n1,low\n2,high\n1.1,low\n")
    run("learn", "ranks.csv", "-m", "ranks", "--task", "ordinal", "--classes", "low,high", "-q")
    (tmp_path / "new.csv").write_text("a,label\n1,low\n2,best\n")
    done = run("predict", "new.csv", "-m", "ranks")
    assert done.code == 0
    assert len(done.out.splitlines()) == 2
    assert "No error is reported: new.csv:3: the rank 'best' is not one of 'low' and 'high'" in done.err


def test_a_model_reads_other_formats_with_the_same_options(run, tmp_path):
    (tmp_path / "train.csv").write_text("a,b,label\n1,x,yes\n2,y,no\n1.2,x,yes\n")
    run("learn", "train.csv", "-m", "model", "-q")
    (tmp_path / "new.csv").write_text("a,b\n1.1,x\n2.2,y\n")
    (tmp_path / "new.jsonl").write_text('{"a": 1.1, "b": "x"}\n{"a": 2.2, "b": "y"}\n')
    found = [run("predict", name, "-m", "model", "--scores", "-q").out for name in ("new.csv", "new.jsonl")]
    assert found[0] == found[1] != ""


def test_a_closed_pipe_is_not_an_error(tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(3000))
    for command in ("predict data.svm -m model", "inspect model", "algorithms"):
        process = started("learn", "data.svm", "-m", "model", "-q", "--force", folder=tmp_path)
        process.communicate(timeout=60)
        line = f"{sys.executable} -m hinge {command} | head -1; exit ${{PIPESTATUS[0]}}"
        done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, timeout=60)
        assert done.returncode == 0
        assert b"Traceback" not in done.stderr


def test_labels_with_line_breaks_are_one_line_each(run, tmp_path):
    (tmp_path / "odd.csv").write_text('a,label\n1,"x\ny"\n2,z\n1.1,"x\ny"\n')
    run("learn", "odd.csv", "-m", "model", "-q")
    lines = run("predict", "odd.csv", "-m", "model", "-q").out.splitlines()
    assert len(lines) == 3
    assert "x\\ny" in lines


def test_control_characters_do_not_reach_the_terminal(run, tmp_path):
    odd = "x\x1b[31m\x08\x00y"
    lines = [json.dumps({"a" + odd: 1, "label": odd}), json.dumps({"b": 1, "label": "z"})] * 3
    (tmp_path / "odd.jsonl").write_text("\n".join(lines) + "\n")
    shown = [
        run("learn", "odd.jsonl", "-m", "model"),
        run("inspect", "model"),
        run("predict", "odd.jsonl", "-m", "model"),
    ]
    (tmp_path / "a\nhinge: forged.jsonl").write_text("{\n")
    shown.append(run("learn", "a\nhinge: forged.jsonl"))
    for done in shown:
        text = (done.out + done.err).replace("\n", "")
        assert text.isprintable(), text
    assert shown[2].out.splitlines()[0] == "x\\x1b[31m\\x08\\x00y"
    assert not any(line.startswith("hinge: forged") for line in shown[3].err.splitlines())


@pytest.mark.parametrize(("every", "expected"), [("25", [25, 50, 75, 100]), ("1000s", [])])
def test_progress_is_printed_at_the_given_intervals(run, tmp_path, every, expected):
    (tmp_path / "more.svm").write_text(svmlight(110))
    done = run("learn", "more.svm", "--json", "--progress", every)
    assert [its["examples"] for its in done.records if its["event"] == "progress"] == expected


def test_on_a_terminal_there_is_a_bar(tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(20_000))
    text = shown_on_a_terminal("learn", "data.svm", folder=tmp_path, columns=120)
    assert "\x1b[" in text
    assert "Task: classification" in text
    assert "updates" in text.split("classification (pa1")[0]  # next to the bar
    assert "20,000 examples" in text


def test_a_model_with_names_rejects_numbered_features_and_vice_versa(run, tmp_path):
    (tmp_path / "names.vw").write_text("1 | a b\n-1 | c\n1 | a\n")
    run("learn", "names.vw", "-m", "named", "-q")
    run("learn", "data.svm", "-m", "numbered", "-q")
    for command in ("predict", "learn"):
        more = ["--initial"] if command == "learn" else ["-m"]
        for data, model, theirs, ours in (
            ("data.svm", "named", "numbers", "names"), ("names.vw", "numbered", "names", "numbers"),
        ):  # fmt: skip
            done = run(command, data, *more, model, "-q")
            expected = f"{data}:1: the features have {theirs}, those of the model have {ours}\n"
            assert (done.code, done.err) == (2, expected)


@pytest.mark.parametrize(("more", "why"), [
    (["--shuffle"], "in its order"), (["--passes", "2"], "one whole pass"), (["--initial", "model"], "from the start"),
    (["--average", "yes"], "not about their average"),
], ids=str)  # fmt: skip
def test_a_bound_is_drawn_only_where_a_theorem_holds(run, more, why):
    run("learn", "data.svm", "-m", "model", "-q", "--step", "pa1")
    done = run("learn", "data.svm", "-q", "--step", "pa1", "--plot", "curve.svg", *more)
    assert done.code == 0, done.err
    assert why in done.out.split("(no bound: ")[1]


def test_there_is_no_certificate_for_weighted_examples(run, tmp_path):
    plain = ["1 | a", "-1 | b c", "1 | a d"] * 5
    (tmp_path / "plain.vw").write_text("\n".join(plain) + "\n")
    (tmp_path / "weighted.vw").write_text("\n".join([*plain, "1 0.5 | a b"]) + "\n")
    run("learn", "plain.vw", "-m", "plain", "-q", "--step", "pa1")
    assert "J06 Theorem 4: mistakes" in run("inspect", "plain").out
    done = run("learn", "weighted.vw", "-m", "weighted", "-q", "--step", "pa1", "--plot", "curve.svg")
    assert "(no bound: the theorems are about examples without weights)" in done.out
    assert "nothing is known: examples had weights" in " ".join(run("inspect", "weighted").out.split())


def test_the_batch_conversion_rejects_events(run, tmp_path):
    (tmp_path / "data.jsonl").write_text('{"a": 1, "label": "x"}\n{"b": 1, "label": "y"}\n')
    done = run("learn", "data.jsonl", "--step", "pa", "--batch-tolerance", "0.1", "-q")
    assert (done.code, done.err) == (
        2, "hinge: --batch-tolerance is for svmlight and VW text: events are presented all, or not at all\n"
    )  # fmt: skip
    assert run("learn", "data.svm", "-a", "pa", "--batch-tolerance", "0.1", "-q").code == 0


def test_data_with_invalid_labels_is_predicted(run, tmp_path):
    run("learn", "data.svm", "-m", "model", "-q")
    (tmp_path / "sets.svm").write_text("1,-1 1:1\n1 2:1\n")
    (tmp_path / "sets.jsonl").write_text('{"a": 1, "label": ["x", "y"]}\n')
    (tmp_path / "train.jsonl").write_text('{"a": 1, "label": "x"}\n{"a": -1, "label": "y"}\n')
    run("learn", "train.jsonl", "-m", "named", "-q")
    for data, model in (("sets.svm", "model"), ("sets.jsonl", "named")):
        done = run("predict", data, "-m", model)
        assert done.code == 0, done.err
        assert "Traceback" not in done.err
    assert "No error is reported: sets.jsonl:1: there are 2 labels" in done.err


def test_lines_that_several_learners_skip_are_counted_once(run, tmp_path):
    lines = svmlight(200).splitlines()
    for place in (20, 90, 150):
        lines[place] = "1 1:1e200"
    (tmp_path / "some.svm").write_text("\n".join(lines) + "\n")
    done = run("compare", "some.svm", "pa1", "pa2", "-q", "--on-error", "skip")
    assert done.code == 0, done.err
    assert "3 examples were skipped; the first: some.svm:21: " in done.err
    done = run("compare", "some.svm", "pa1", "pa2", "-q", "--on-error", "skip", "--max-skipped", "2")
    assert done.code == 2
    assert "the first of 3 that cannot be read; 2 may be skipped" in done.err


def test_tune_rejects_an_input_as_output_and_contradicting_options(run, tmp_path):
    before = (tmp_path / "data.svm").read_bytes()
    assert "data.svm is an input" in run("tune", "data.svm", "-m", "data.svm", "--force", "-q").err
    assert (tmp_path / "data.svm").read_bytes() == before
    done = run("tune", "data.svm", "-a", "pa1:C=0.1", "--grid", "C=1,2", "-q")
    assert (done.code, done.err) == (2, "hinge: pa1:C=0.1 has C=0.1, and --C says 1\n")


@pytest.mark.parametrize("change", [{"passes": 5}, {"before": []}, {"scores": [[1]]}, {"files": []}, {"passes": -1}],
                         ids=str)  # fmt: skip
def test_an_invalid_saved_position_is_rejected(run, tmp_path, change):
    run("learn", "data.svm", "-m", "model", "-q")
    learner = hinge.load(tmp_path / "model")
    learner.notes["stream"]["position"] |= change
    learner.save(tmp_path / "model")
    done = run("learn", "data.svm", "-m", "model", "--resume", "-q")
    assert done.code == 2
    assert done.err.startswith("hinge: its record of the stream is invalid")
    assert len(done.err.splitlines()) == 1
