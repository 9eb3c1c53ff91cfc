"""Examples without a label are predicted and not learned, and predictions are made before learning: in every format."""

import json

import pytest

import hinge
from command_line import called, started
from stream_files import svmlight


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return called(capfd, monkeypatch)


DATA = {  # the second and the fifth have no label
    "svm": "1 1:1\n 2:1\n-1 3:1\n1 1:1\n 1:1\n-1 3:2\n",
    "vw": "1 |f a\n|f b\n-1 |f c\n1 |f a\n|f a\n-1 |f c\n",
    "jsonl": '{"f": "a", "label": "p"}\n{"f": "b"}\n{"f": "c", "label": "n"}\n{"f": "a", "label": "p"}\n'
    '{"f": "a", "label": null}\n{"f": "c", "label": "n"}\n',
    "csv": "f,label\na,p\nb,\nc,n\na,p\na,\nc,n\n",
}


@pytest.mark.parametrize("ending", DATA)
@pytest.mark.parametrize("options", [[], ["--average", "yes"], ["--task", "classification"]], ids=str)
def test_example_without_a_label_is_not_learned(run, tmp_path, ending, options):
    (tmp_path / f"data.{ending}").write_text(DATA[ending])
    done = run("learn", f"data.{ending}", "-m", "model", "-q", *options)
    assert done.code == 0, done.err
    assert done.out.startswith("2 examples have no label: predicted but not learned.\nclassification (")
    model = hinge.load("model")
    assert model.statistics.rounds == 4
    assert len(model.labels.known) == 2
    rows = DATA[ending].splitlines(keepends=True)
    header = rows[:1] if ending == "csv" else []
    rows = rows[len(header) :]
    (tmp_path / f"some.{ending}").write_text("".join([*header, *rows[:1], *rows[2:4], *rows[5:]]))
    assert run("learn", f"some.{ending}", "-m", "some", "-q", *options).code == 0
    assert hinge.load("some").statistics == model.statistics


@pytest.mark.parametrize("ending", DATA)
def test_first_examples_may_have_no_label(run, tmp_path, ending):
    rows = DATA[ending].splitlines(keepends=True)
    header = rows[:1] if ending == "csv" else []
    rows = rows[len(header) :]
    process = started("learn", "-", "--format", {"svm": "svmlight", "jsonl": "json"}.get(ending, ending), "-m", "model",
                      "-q", folder=tmp_path)  # fmt: skip
    process.stdin.write("".join([*header, rows[1], rows[4]]).encode())
    process.stdin.flush()
    out, err = process.communicate("".join([rows[0], rows[2]]).encode(), timeout=60)
    assert process.returncode == 0, err
    assert out.startswith(b"2 examples have no label: predicted but not learned.\nclassification (")
    assert hinge.load(tmp_path / "model").statistics.rounds == 2


def test_empty_name_is_not_a_class(run, tmp_path):
    (tmp_path / "data.jsonl").write_text(
        '{"a": 1, "label": ""}\n{"a": 1, "label": "x"}\n{"a": 2, "label": "y"}\n'
    )
    assert run("learn", "data.jsonl", "-m", "model", "-q").code == 0
    assert hinge.load("model").labels.known == ["x", "y"]


def test_null_nan_and_empty_names_are_not_labels_in_arrow_tables(run, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    for name, labels in (("numbers", [1.0, None, float("nan"), 2.0]), ("names", ["a", None, "", "b"])):
        parquet.write_table(
            pa.table({"x": [1.0, 2.0, 3.0, 4.0], "label": labels}), tmp_path / f"{name}.parquet"
        )
        done = run("learn", f"{name}.parquet", "-m", name, "-q", "--task", "classification")
        assert done.code == 0, done.err
        assert "2 examples have no label" in done.out
        assert hinge.load(name).statistics.rounds == 2


def test_sentences_without_tags_are_not_learned(run, tmp_path):
    (tmp_path / "tags.conll").write_text("a A\nb B\n\nb B\n")
    (tmp_path / "words.conll").write_text("a\nb\n\nb\n")
    done = run("learn", "tags.conll", "words.conll", "--columns", "word,tag", "-m", "model", "-q")
    assert done.code == 0, done.err
    assert "2 examples have no label" in done.out
    assert hinge.load("model").statistics.rounds == 2


def test_empty_set_is_learned_where_it_can_be_written(run, tmp_path):
    (tmp_path / "sets.svm").write_text("1,2 1:1\n 2:1\n2 3:1\n")
    (tmp_path / "sets.jsonl").write_text('{"a": 1, "label": ["x", "y"]}\n{"a": 2, "label": []}\n{"a": 3}\n')
    for name, learned in (("sets.svm", 3), ("sets.jsonl", 2)):
        done = run("learn", name, "-m", f"{name}.model", "-q")
        assert done.code == 0, done.err
        assert hinge.load(f"{name}.model").task == "multilabel"
        assert hinge.load(f"{name}.model").statistics.rounds == learned


def test_file_without_labels_is_an_error(run, tmp_path):
    (tmp_path / "data.svm").write_text(" 1:1\n 2:1\n")
    done = run("learn", "data.svm", "--task", "classification", "-m", "model")
    assert done.code == 2
    assert "there are no examples with a label in data.svm: nothing was learned, nothing is saved" in done.err
    assert not (tmp_path / "model").exists()


def test_certificates_and_curves_skip_examples_without_a_label(run, tmp_path):
    lines = svmlight(300).splitlines()
    lines[7] = lines[7].partition(" ")[2]
    (tmp_path / "data.svm").write_text("\n".join(lines) + "\n")
    done = run("learn", "data.svm", "-q", "--certificate", "--plot", "curve.svg")
    assert done.code == 0, done.err
    done = run("compare", "data.svm", "pa1", "pa2", "-q", "--certificate")
    assert done.code == 0, done.err


# ---- predictions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [[], ["--average", "yes"], ["--scores"], ["--save-every", "7"]], ids=str)
@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_predictions_are_made_before_learning(run, tmp_path, options, kind):
    """They are those of `predict` with a model of the lines before."""
    label = (
        (lambda score: f"{score:.3f}") if kind == "numbers" else (lambda score: "+1" if score > 0 else "-1")
    )
    lines = svmlight(60, label).splitlines(keepends=True)
    lines[30] = " " + lines[30].partition(" ")[2]  # without a label
    (tmp_path / "data.svm").write_text("".join(lines))
    learning = [word for word in options if word != "--scores"]
    assert run("learn", "data.svm", "-m", "model", "-p", "made", "-q", *options).code == 0
    assert run("learn", "data.svm", "-m", "other", "-q", *learning).code == 0
    made = (tmp_path / "made").read_text().splitlines(keepends=True)
    assert len(made) == 60
    model, other = hinge.load("model"), hinge.load("other")
    assert model.statistics == other.statistics
    assert {**model.notes["stream"]["position"], "predicted": 0} == other.notes["stream"]["position"]
    for count in (1, 2, 17, 30, 31, 59):
        (tmp_path / "before.svm").write_text("".join(lines[:count]))
        run("learn", "before.svm", "-m", "before", "-q", "--force", "--task", model.task, *learning)
        (tmp_path / "one.svm").write_text(lines[count])
        scores = ["--scores"] if "--scores" in options else []
        assert run("predict", "one.svm", "-m", "before", "-q", *scores).out == made[count]


def test_predictions_as_json_and_of_other_formats(run, tmp_path):
    (tmp_path / "data.jsonl").write_text(DATA["jsonl"])
    done = run("learn", "data.jsonl", "-p", "made", "--json", "--scores", "-q")
    assert done.code == 0, done.err
    records = [json.loads(line) for line in (tmp_path / "made").read_text().splitlines()]
    assert [record["line"] for record in records] == [1, 2, 3, 4, 5, 6]
    assert [record["prediction"] for record in records][3:] == ["p", "p", "n"]
    assert records[0]["prediction"] is None
    (tmp_path / "tags.conll").write_text("a A\nb B\n\nb B\n")
    run("learn", "tags.conll", "-p", "made", "-q")
    assert len((tmp_path / "made").read_text().splitlines()) == 5


def test_resumed_run_writes_the_predictions_of_one_run(run, tmp_path):
    lines = svmlight(300).splitlines(keepends=True)
    (tmp_path / "data.svm").write_text("".join(lines))
    run("learn", "data.svm", "-m", "whole", "-p", "expected", "-q")
    (tmp_path / "data.svm").write_text("".join(lines[:100]))
    run("learn", "data.svm", "-m", "model", "-p", "made", "-q")
    with (tmp_path / "made").open("a") as file:
        file.write("1\n-1\n")  # as a run that was killed leaves it
    (tmp_path / "data.svm").write_text("".join(lines))
    assert run("learn", "data.svm", "-m", "model", "-p", "made", "-q", "--resume").code == 0
    assert (tmp_path / "made").read_bytes() == (tmp_path / "expected").read_bytes()
    assert (tmp_path / "model").read_bytes() == (tmp_path / "whole").read_bytes()
    (tmp_path / "made").write_text("1\n")
    done = run("learn", "data.svm", "-m", "model", "-p", "made", "-q", "--resume")
    assert done.code == 2
    assert "when the model was saved: it is another file" in done.err
