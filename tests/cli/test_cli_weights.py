"""`hinge learn` reports weights without an effect, and a C that capped no step."""

import json

import pytest

import hinge

NO_EFFECT = "The weights of the examples had no effect"


def vw(folder, weight):
    """Two words that agree with their labels, but for every seventh example."""
    lines = []
    for i in range(60):
        label = (1 if i % 2 else -1) * (-1 if i % 7 == 0 else 1)
        lines.append(f"{label} {weight} |f {'odd' if i % 2 else 'even'} w{i % 5}")
    (folder / "w.vw").write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (
            ["--step", "pa1", "--intercept-value", "1"],
            "they scale C=1, which capped no step. Lower --C, or use --step pa2.",
        ),
        (["--step", "pa"], "--step pa does not use them."),
        (["--selection", "mira"], "they scale C=1"),
    ],
)
def test_weights_without_effect_are_reported_once(run, tmp_path, options, why):
    vw(tmp_path, 3)
    done = run("learn", "w.vw", *options, "-m", "weighted.hinge", "-q")
    assert done.code == 0, done.err
    assert done.out.count(NO_EFFECT) == 1
    assert why in done.out
    vw(tmp_path, 1)
    plain = run("learn", "w.vw", *options, "-m", "plain.hinge", "-q")
    assert NO_EFFECT not in plain.out
    weighted, plain = (hinge.load(tmp_path / f"{name}.hinge") for name in ("weighted", "plain"))
    assert weighted.named_weights() == plain.named_weights()  # it is true


@pytest.mark.parametrize(
    ("weight", "options"),
    [
        (1, []),
        (3, ["--C", "0.01"]),
        (3, ["--step", "pa2"]),
        (3, ["--step", "perceptron"]),
        (3, ["--geometry", "diagonal"]),
    ],
)
def test_weights_with_an_effect_are_not_reported(run, tmp_path, weight, options):
    vw(tmp_path, weight)
    done = run("learn", "w.vw", *options, "-q")
    assert done.code == 0, done.err
    assert NO_EFFECT not in done.out


def test_weights_of_zero_have_an_effect(run, tmp_path):
    (tmp_path / "w.jsonl").write_text(
        "".join(json.dumps({"label": "ab"[i % 2], "x": i % 3, "w": i % 2 * 2}) + "\n" for i in range(20))
    )
    done = run("learn", "w.jsonl", "--weight", "w", "-q")
    assert done.code == 0, done.err
    assert NO_EFFECT not in done.out


def test_class_weights_without_effect_are_reported(run, tmp_path):
    vw(tmp_path, 1)
    plain = ("--step", "pa1", "--intercept-value", "1")
    assert NO_EFFECT in run("learn", "w.vw", "--class-weight=-1=5,1=1", "-q", *plain).out
    assert NO_EFFECT not in run("learn", "w.vw", "--class-weight=-1=5,1=1", "-q", "--C", "0.01").out
    assert NO_EFFECT not in run("learn", "w.vw", "--class-weight=-1=1,1=1", "-q", *plain).out
    assert NO_EFFECT not in run("learn", "w.vw", "--class-weight=-1=5,1=1", "-q").out  # the vote heeds them


def test_comparisons_and_label_sets_report_ineffective_weights(run, tmp_path):
    vw(tmp_path, 3)
    done = run("compare", "w.vw", "pa1", "pa", "-q", "--intercept-value", "1")
    assert done.out.count(NO_EFFECT) == 1
    (tmp_path / "w.jsonl").write_text(
        "".join(json.dumps({"label": ["ab"[i % 2]], "x": i % 3 + 1, "w": 2}) + "\n" for i in range(20))
    )
    options = ("--task", "multilabel", "--step", "pa1")
    done = run("learn", "w.jsonl", "--weight", "w", *options, "-q", "--json")
    assert done.code == 0, done.err
    (remark,) = [text for text in done.records[-1]["remarks"] if NO_EFFECT in text]
    assert "--C" in remark


@pytest.mark.parametrize(("C", "unused"), [(1, True), (100, True), (0.01, False)])
def test_the_closing_line_says_that_C_capped_no_step(run, tmp_path, C, unused):
    vw(tmp_path, 1)
    options = ("--C", C, "--intercept-value", "1")
    done = run("learn", "w.vw", *options, "-q")
    (closing,) = [line for line in done.out.splitlines() if line.startswith("classification")]
    unused_words = " capped no step" if unused else ""
    assert closing.startswith(f"classification (pa1, C={C}{unused_words}, intercept_value=1): 60 examples")
    done = run("learn", "w.vw", *options, "-q", "--json")
    assert (done.records[-1]["capped"] == 0) == unused


@pytest.mark.parametrize("step", ["pa", "pa2", "perceptron"])
def test_steps_without_a_cap_do_not_mention_it(run, tmp_path, step):
    vw(tmp_path, 1)
    assert "capped" not in run("learn", "w.vw", "--step", step, "-q").out
