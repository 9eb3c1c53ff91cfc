"""`hinge learn` and `hinge predict`: the same as the library, whatever is read, and nothing lost on the way."""

import bz2
import gzip
import lzma
import re

import numpy as np
import pytest
from scipy.sparse import csr_array

import hinge
from hinge import Learner
from hinge.streams import read_svmlight
from stream_files import rows, svmlight


def array(count, seed=0):
    """The same as a CSR matrix: with the same sums in the same order."""
    columns, values, scores = zip(*rows(count, seed), strict=True)
    starts = np.arange(count + 1) * 6
    return csr_array((np.concatenate(values), np.concatenate(columns), starts), shape=(count, 30)), np.array(
        scores
    )


# ---- the same as the library ------------------------------------------------------------------------------------

LABELS = {
    "classification": lambda score: "+1" if score > 0 else "-1",
    "regression": lambda score: f"{float(score)!r}",
    "many": lambda score: f"{int(np.digitize(score, [-2, 0, 2]))}",
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("options", [{}, {"step": "pa2", "C": 0.1}, {"average": True, "step": "pa"},
                                     {"geometry": "diagonal", "dtype": "float32"}], ids=str)  # fmt: skip
def test_the_command_learns_what_the_library_learns(run, tmp_path, kind, options):
    (tmp_path / "train.svm").write_text(svmlight(300, LABELS[kind]))
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    done = run("learn", "train.svm", "-m", "model.hinge", "-q", *flags)
    assert done.code == 0, done.err
    ours = hinge.load(tmp_path / "model.hinge")
    X, scores = array(300)
    y = [float(LABELS[kind](score)) for score in scores]
    twin = Learner(
        "regression" if kind == "regression" else "classification", **(options or {"experts": "auto"})
    )
    twin.learn(X, np.asarray(y))
    np.testing.assert_array_equal(ours.weights, twin.weights[..., : ours.n_features])
    assert ours.statistics == twin.statistics
    assert ours.labels.known == twin.labels.known

    (tmp_path / "test.svm").write_text(svmlight(50, LABELS[kind], seed=1))
    done = run("predict", "test.svm", "-m", "model.hinge", "--scores", "--json")
    records = done.records
    test, _ = array(50, seed=1)
    expected = twin.scores(test)
    for record, score in zip(records, expected, strict=True):
        found = list(record["scores"].values()) if "scores" in record else record["score"]
        np.testing.assert_allclose(found, score, rtol=1e-5 if "dtype" in options else 1e-12)
        if kind == "regression":
            assert record["prediction"] == found


def test_the_error_is_progressive(run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(200))
    said = run("learn", "train.svm", "--json", "--step", "pa1").records
    X, scores = array(200)
    twin, wrong = Learner("classification", classes=[-1, 1]), 0
    errors = {}
    for number in range(1, 201):
        x, score = X[[number - 1]], scores[number - 1]
        # A score of 0 is a mistake whatever the truth is: only the first example has one.
        wrong += number == 1 or twin.scores(x)[0] * np.sign(score) <= 0
        twin.learn(x, np.sign([score]))
        errors[number] = wrong / number
    records = [record for record in said if record["event"] == "progress"]
    assert len(records) > 5
    for record in records:
        assert record["error"] == pytest.approx(errors[record["examples"]])
        assert record["window_error"] == record["error"]  # the window is larger than the data
    assert said[-1]["error"] == pytest.approx(errors[200])


def test_the_error_of_an_average_is_that_of_the_average(run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(60))
    last = run("learn", "train.svm", "--json", "--average", "yes").records[-1]
    X, scores = array(60)
    twin, wrong = Learner("classification", average=True), 0
    learned = 0
    while learned < 60:  # in steps of a twentieth: of one, up to here
        step = max(1, learned // 20)
        part = slice(learned, min(60, learned + step))
        guesses = [twin.labels.of(score) for score in twin.scores(X[part])] if learned else [None]
        wrong += sum(guess != sign for guess, sign in zip(guesses, np.sign(scores[part]), strict=True))
        twin.learn(X[part], np.sign(scores[part]))
        learned += step
    assert last["error"] == pytest.approx(wrong / 60)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_compressed_files_and_patterns_are_one_stream(run, tmp_path, pack):
    ending = {gzip.compress: "gz", bz2.compress: "bz2", lzma.compress: "xz"}[pack]
    text = svmlight(90)
    lines = text.splitlines(keepends=True)
    (tmp_path / "all.svm").write_text(text)
    for day in range(3):
        part = "".join(lines[30 * day : 30 * day + 30])
        (tmp_path / f"day-{day}.svm.{ending}").write_bytes(pack(part.encode()))
    assert run("learn", "all.svm", "-m", "one", "-q").code == 0
    assert run("learn", f"day-*.svm.{ending}", "-m", "several", "-q").code == 0
    one, several = (hinge.load(tmp_path / name) for name in ("one", "several"))
    np.testing.assert_array_equal(one.weights, several.weights)
    assert several.notes["stream"]["position"]["files"] == [f"day-{day}.svm.{ending}" for day in range(3)]


def test_passes_are_those_of_the_data_again_and_again(run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(80))
    done = run(
        "learn", "train.svm", "-m", "model", "-q", "--max-iter", "3", "--verbose", "1", "--step", "pa1"
    )
    assert re.findall(r"^pass (\d)", done.out, re.MULTILINE) == ["1", "2", "3"]
    X, scores = array(80)
    twin = Learner("classification", classes=[-1.0, 1.0])
    for _ in range(3):
        twin.learn(X, np.sign(scores))
    np.testing.assert_array_equal(hinge.load(tmp_path / "model").weights, twin.weights)


def test_tolerance_is_the_batch_conversion(run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(60))
    assert (
        run("learn", "train.svm", "-m", "model", "-q", "--step", "pa", "--batch-tolerance", "0.001").code == 0
    )
    model = hinge.load(tmp_path / "model")
    X, scores = array(60)
    losses = np.maximum(0, 1 - np.sign(scores) * model.scores(X))
    assert (losses**2 <= 0.001).all()
    assert "it needs --step pa" in run("learn", "train.svm", "--batch-tolerance", "0.1").err


def test_passes_stop_when_nothing_improves(run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(60))
    arguments = ["learn", "train.svm", "--json", "--max-iter", "50"]
    whole = run(*arguments).records[-1]["passes"]
    few = run(*arguments, "--tol", "0.5", "--n-iter-no-change", "2").records[-1]["passes"]
    assert 3 <= few < whole == 50


def test_shuffled_passes_have_orders_of_their_own(run, tmp_path):
    (tmp_path / "train.svm").write_text(svmlight(50))
    for seed in ("1", "1", "2"):
        name = f"m{len(list(tmp_path.glob('m*')))}"
        options = ("--shuffle", "--passes", "2", "--random-state", seed, "--step", "pa1")
        run("learn", "train.svm", "-m", name, "-q", *options)
    first, again, other = ((tmp_path / f"m{k}").read_bytes() for k in range(3))
    assert first == again != other
    X, scores = array(50)
    twin = Learner("classification", classes=[-1.0, 1.0])
    for number in range(2):
        order = np.random.default_rng([1, number]).permutation(50)
        twin.learn(X[order], np.sign(scores[order]))
    np.testing.assert_allclose(np.abs(hinge.load(tmp_path / "m0").weights), np.abs(twin.weights))


# ---- tasks ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "task", "reason"), [
    ("1 1:1\n-1 2:1\n", "classification", "the labels are -1, 1"),
    ("1.5 1:1\n2 2:1\n", "regression", "not whole: 1.5, 2"),
    ("1,2 1:1\n1 2:1\n", "multilabel", "several labels"),
    ("1:1\n2:1\n", "uniclass", "there are no labels"),
    ("".join(f"{k} 1:1\n" for k in range(150)), "regression", "150 different whole numbers"),
], ids=["classes", "numbers", "sets", "none", "quantities"])  # fmt: skip
def test_the_task_is_inferred_and_reported(run, tmp_path, text, task, reason):
    (tmp_path / "data.svm").write_text(text)
    done = run("learn", "data.svm", "-m", "model")
    assert f"Task: {task}, because " in done.err
    assert reason in done.err
    assert hinge.load(tmp_path / "model").task == task
    other = "regression" if task == "classification" else "classification"
    if task not in ("multilabel", "uniclass"):
        assert run("learn", "data.svm", "-m", "other", "--task", other, "-q").code == 0
        assert hinge.load(tmp_path / "other").task == other


def test_a_label_of_another_task_is_rejected_with_its_line(run, tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n1,2 1:1\n")
    done = run("learn", "data.svm", "-m", "model", "--task", "classification")
    assert done.code == 2
    assert done.err.splitlines()[-2] == "data.svm:3: there are 2 labels (--task multilabel learns sets)"
    assert hinge.load(tmp_path / "model").statistics.rounds == 2


def test_an_option_of_another_task_is_rejected(run, tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n")
    done = run("learn", "data.svm", "--epsilon", "0.2", "-m", "model")
    assert (done.code, done.err.splitlines()[-1]) == (
        2,
        "hinge: epsilon is for regression, not for classification",
    )
    assert not (tmp_path / "model").exists()


# ---- models -----------------------------------------------------------------------------------------------------


def test_a_model_is_never_replaced_by_accident(run, tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(20))
    run("learn", "data.svm", "-m", "model", "-q")
    before = (tmp_path / "model").read_bytes()
    done = run("learn", "data.svm", "-m", "model", "--C", "0.01")
    assert done.code == 2
    assert "--resume resumes it" in done.err
    assert (tmp_path / "model").read_bytes() == before
    assert run("learn", "data.svm", "-m", "model", "--C", "0.01", "--force", "-q").code == 0
    assert hinge.load(tmp_path / "model").parameters["C"] == 0.01


@pytest.mark.parametrize("options", [(), ("--step", "pa1"), ("--C", "auto")], ids=str)
def test_a_resumed_model_is_bit_identical(run, tmp_path, options):
    lines = svmlight(400).splitlines(keepends=True)
    (tmp_path / "data.svm").write_text("".join(lines))
    run("learn", "data.svm", "-m", "whole", "-q", *options)
    for have in (1, 150, 151, 399, 400):  # an append-only log, which grows between the runs
        (tmp_path / "data.svm").write_text("".join(lines[:have]))
        done = run("learn", "data.svm", "-m", "parts", "--resume", "-q", *options)
        assert done.code == 0, done.err
        assert f" {have} example" in done.out
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()


def test_resume_rejects_other_data_and_other_options(run, tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(20))
    (tmp_path / "other.svm").write_text(svmlight(20, seed=1))
    run("learn", "data.svm", "-m", "model", "-q", "--step", "pa1")
    assert (
        "learned from data.svm: --resume needs the same data"
        in run("learn", "other.svm", "-m", "model", "--resume").err
    )
    assert (
        "model has C=1.0: --resume cannot change it"
        in run("learn", "data.svm", "-m", "model", "--resume", "--C", "2").err
    )
    assert "-m FILE" in run("learn", "data.svm", "--resume").err
    assert run("learn", "data.svm", "-m", "model", "--resume", "--C", "1", "-q").code == 0


def test_learning_starts_from_an_initial_model(run, tmp_path):
    (tmp_path / "one.svm").write_text(svmlight(50))
    (tmp_path / "two.svm").write_text(svmlight(50, seed=1))
    run("learn", "one.svm", "-m", "first", "-q", "--step", "pa1")
    run("learn", "two.svm", "-i", "first", "-m", "second", "-q", "--C", "0.5")
    twin = Learner("classification", classes=[-1.0, 1.0])
    X, scores = array(50)
    twin.learn(X, np.sign(scores))
    twin.change(C=0.5)
    X, scores = array(50, seed=1)
    twin.learn(X, np.sign(scores))
    second = hinge.load(tmp_path / "second")
    np.testing.assert_array_equal(second.weights, twin.weights)
    assert second.parameters["C"] == 0.5
    assert hinge.load(tmp_path / "first").statistics.rounds == 50  # as it was


def test_models_of_estimators_can_be_used_on_the_command_line(run, tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(60))
    X, scores = array(60)
    model = hinge.PAClassifier().fit(X, np.sign(scores))
    model.save(tmp_path / "model")
    done = run("predict", "data.svm", "-m", "model", "-q")
    assert list(map(float, done.out.split())) == model.predict(X).tolist()


def test_unseen_features_do_not_change_a_prediction(run, tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n")
    run("learn", "data.svm", "-m", "model", "-q")
    (tmp_path / "new.svm").write_text("1 1:1 900:5\n-1 900:1 901:2\n")
    (tmp_path / "known.svm").write_text("1 1:1\n-1\n")
    new, known = (
        run("predict", name, "-m", "model", "--scores", "-q").out for name in ("new.svm", "known.svm")
    )
    assert new == known != ""


@pytest.mark.parametrize("given", ["model", "other"])
def test_an_invalid_model_file_is_rejected(run, tmp_path, given):
    (tmp_path / "data.svm").write_text(svmlight(5))
    (tmp_path / "model").write_bytes(b"not a model")
    done = run("predict", "data.svm", "-m", given)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert ("is not a hinge model" in done.err) == (given == "model")


# ---- what is wrong ----------------------------------------------------------------------------------------------

WRONG = {
    "garbage number": ("1 1:1\n-1 2:1e\n", 'data.svm:2: 6: "1e" is not a number'),
    "an index over the limit": (
        "1 1:1\n-1 99999999:1\n",
        'data.svm:2: 4: index "99999999" is over the limit of 16777216 features',
    ),
    "no value": ("1 1:1\n-1 2\n", 'data.svm:2: 5: ":" and a value were expected after the index'),
    "overflow": (
        "1 1:1\n-1 2:1e200\n",
        "data.svm:2: index 2: the value is too large: its square overflows float64",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_invalid_line_is_reported_in_one_line(run, tmp_path, name):
    text, told = WRONG[name]
    (tmp_path / "data.svm").write_text(text)
    done = run("learn", "data.svm", "-q")
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    assert done.err.startswith(told)
    assert done.out == ""
    assert [path.name for path in tmp_path.iterdir()] == ["data.svm"]
    done = run("learn", "data.svm", "-q", "-m", "model")
    assert done.err.splitlines()[0].startswith(told)
    assert hinge.load(tmp_path / "model").statistics.rounds == 1
    (tmp_path / "data.svm").write_text(text.partition("\n")[2])
    done = run("learn", "data.svm", "-q", "-m", "nothing")  # there is nothing before it
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize("name", WRONG)
def test_invalid_lines_can_be_skipped(run, tmp_path, name):
    text, told = WRONG[name]
    (tmp_path / "data.svm").write_text(text + "1 3:1\n" + text)
    done = run("learn", "data.svm", "-m", "model", "--on-error", "skip")
    assert done.code == 0
    assert f"skipped: {told}" in done.err
    assert "2 examples were skipped." in done.err
    assert hinge.load(tmp_path / "model").statistics.rounds == 3
    done = run("learn", "data.svm", "-m", "other", "--on-error", "skip", "--max-skipped", "1")
    assert done.code == 2
    assert "the first of 2 that cannot be read; 1 may be skipped" in done.err
    assert hinge.load(tmp_path / "other").statistics.rounds == 3


@pytest.mark.parametrize("cut", [10, -20])
def test_a_damaged_compressed_file_is_an_error(run, tmp_path, cut):
    data = gzip.compress(svmlight(2000).encode())
    (tmp_path / "data.svm.gz").write_bytes(data[:cut])
    done = run("learn", "data.svm.gz", "-m", "model", "-q")
    assert done.code == 2
    found = re.match(r"data\.svm\.gz:(\d+): the compressed file is damaged or truncated", done.err)
    if cut > 0:
        assert not (tmp_path / "model").exists()
    else:
        assert hinge.load(tmp_path / "model").statistics.rounds == int(found[1]) - 1


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"], ids=["empty", "blank", "comment"])
def test_data_without_examples_is_an_error(run, tmp_path, text):
    (tmp_path / "data.svm").write_text(text)
    done = run("learn", "data.svm", "-m", "model", "-q")
    assert (done.code, done.err) == (
        2,
        "hinge: there are no examples in data.svm: nothing was learned, nothing is saved\n",
    )
    assert not (tmp_path / "model").exists()


USES = {
    "an unknown option": (["learn", "data.svm", "--stp", "pa"], "there is no option --stp: did you mean --step?"),
    "an option in lower case": (["learn", "data.svm", "--c", "1"], "there is no option --c: did you mean --C?"),
    "nothing like an option": (["learn", "data.svm", "--zzz"], "there is no option --zzz ("),
    "a bad value": (["learn", "data.svm", "--C", "lots"], "--C must be a number greater than 0 (inf is allowed), auto"),
    "an unknown step": (["learn", "data.svm", "--step", "pa3"], "--step must be pa, pa1, pa2, (labels)"),
    "no data": (["learn"], "required: DATA"),
    "no file": (["learn", "date.svm"], "there is no file date.svm: did you mean data.svm?"),
    "a directory": (["learn", "."], ". is a folder"),
    "no folder for the model": (["learn", "data.svm", "-m", "no/model"], "there is no directory no for the model"),
    "json": (["learn", "data.svm", "--cost", "{"], "--cost: this is not JSON"),
    "an unknown algorithm": (["learn", "data.svm", "-a", "pa11"], "there is no algorithm 'pa11'; did you mean 'pa1'?"),
    "an option of another format": (
        ["learn", "data.svm", "--text", "body"],
        "--text is for CSV, JSON, Arrow: it cannot be used with the format svmlight",
    ),
    "many passes over stdin": (["learn", "-", "--passes", "2"], "the standard input can only be read once"),
    "a picture of another kind": (["learn", "data.svm", "--plot", "x.gif"], "must end in .png, .svg, .pdf or .html"),
    "a grid of nothing": (["tune", "data.svm", "--grid", "C"], "'C' should be an option and its values"),
    "a huge grid": (["tune", "data.svm", "--grid", "C=" + ",".join(["1"] * 201)], "there are 201 combinations"),
    "an unknown option in a spec": (["compare", "data.svm", "pa1:D=2"], "there is no option 'D'"),
    "no learner in a spec": (["compare", "pa1"], "there is no data"),
    "no shell": (["completion"], "bash, zsh, fish"),
}  # fmt: skip


@pytest.mark.parametrize("name", USES)
def test_invalid_arguments_are_reported_in_one_line(run, tmp_path, name):
    (tmp_path / "data.svm").write_text(svmlight(10))
    arguments, told = USES[name]
    done = run(*arguments, *(["-q"] if arguments[0] in ("learn", "compare", "tune") else []))
    assert done.code == 2
    assert told in done.err
    assert len(done.err.splitlines()) == 1


# ---- pictures and the rest --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["png", "svg", "html"])
def test_the_curve_is_drawn_with_its_bound(run, tmp_path, ending):
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n" * 100)
    done = run("learn", "data.svm", "-q", "--step", "pa1", "--plot", f"curve.{ending}")
    assert f"The curve is in curve.{ending}\n" in done.out
    data = (tmp_path / f"curve.{ending}").read_bytes()
    assert data.startswith({"png": b"\x89PNG", "svg": b"<?xml", "html": b"<!doctype html>"}[ending])
    if ending == "html":
        assert b"<th>guaranteed</th>" in data
        assert b" % wrong; guaranteed: at most " in data  # the title
        assert b"<th>lately</th>" not in data  # 200 examples are fewer than its 1000: it is the whole curve


def test_the_error_of_the_window_is_a_separate_curve(run, tmp_path):
    (tmp_path / "data.svm").write_text("1 1:1\n-1 2:1\n" * 100)
    run("learn", "data.svm", "-q", "--plot", "curve.html", "--window", "50")
    page = (tmp_path / "curve.html").read_bytes()
    assert b"<th>examples</th><th>so far</th><th>lately</th>" in page
    assert b"; lately: the last 50." in page


def test_a_bound_above_100_percent_is_not_drawn(run, tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(300))
    done = run("learn", "data.svm", "-q", "--step", "pa1", "--plot", "curve.html", "--certificate")
    assert "The curve is in curve.html (no bound: it is above 100 %, which says nothing)" in done.out
    assert "(There are 300 examples: it says nothing here.)" in done.out
    assert b"guaranteed" not in (tmp_path / "curve.html").read_bytes()


def test_a_bound_above_the_largest_error_in_ranks_is_not_drawn(run, tmp_path):
    (tmp_path / "data.svm").write_text("0 1:1\n2 1:1\n1 2:1\n" * 30)
    ranks = ("--task", "ordinal", "--classes", "0,1,2", "--step", "pa1")
    done = run("learn", "data.svm", "-q", "--plot", "curve.html", *ranks)
    assert (
        "(no bound: it is above the 2 ranks between the lowest and the highest, which says nothing)"
        in done.out
    )
    assert b"guaranteed" not in (tmp_path / "curve.html").read_bytes()


def test_the_plot_of_a_sequence_learner_counts_tags(run, tmp_path):
    (tmp_path / "data.conll").write_text("the DET\nman NOUN\n\nold ADJ\nmen NOUN\n\n" * 20)
    run("learn", "data.conll", "-q", "--plot", "curve.html")
    assert b"<th>tags</th><th>so far</th>" in (tmp_path / "curve.html").read_bytes()


def test_the_bound_is_above_the_curve(run, tmp_path):
    from hinge.cli.commands.learn import Figures
    from hinge.cli.curve import Curve, _bounds
    from hinge.streams.batches import BadLines
    from hinge.streams.evaluation import Score, Study
    from hinge.streams.files import Input
    from hinge.streams.formats.text import Svmlight
    from hinge.streams.session import Position, Session
    from hinge.streams.stream import Stream

    for kind, step in (("classification", "pa1"), ("classification", "pa2"), ("regression", "pa2")):
        (tmp_path / "data.svm").write_text(svmlight(300, LABELS[kind]))
        stream = Stream([Input(tmp_path / "data.svm")], Svmlight(), BadLines())
        session = Session(
            stream,
            BadLines(),
            Position(["data.svm"], "svmlight"),
            lambda _, kind=kind, step=step: Study.new(kind, {"step": step}),
        )
        curve = Curve(1000)
        for _ in session.run():
            score = session.study.score
            curve.see(Figures(session.position.examples, score, Score(), 0, 0.0, None), session.study)
        bound = dict(_bounds(session.study, curve, stream))
        assert len(bound) > 50
        for rounds, error in curve.errors:
            assert error <= bound.get(rounds, np.inf) * (1 + 1e-9)
        assert bound[300] < 50  # it says something


def test_completion_prints_the_possible_next_words(run):
    assert run("completion", "--words", "le").out == "learn\n"
    assert "--step" in run("completion", "--words", "learn", "--st").out.split()
    assert run("completion", "--words", "learn", "--step", "pa").out.split() == ["pa", "pa1", "pa2"]
    assert "simproj" in run("completion", "--words", "compare", "data.svm", "sim").out.split()
    for shell in ("bash", "zsh", "fish"):
        assert "hinge completion --words" in run("completion", shell).out


def test_read_svmlight_gives_the_same_rows(tmp_path):
    (tmp_path / "data.svm").write_text(svmlight(30))
    X = np.vstack([batch.X.toarray() for batch in read_svmlight(tmp_path / "data.svm", n_features=30)])
    np.testing.assert_array_equal(X, array(30)[0].toarray())
