"""Plots: names do not overlap and are not cut off, curves differ, titles state the result."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from experiments import papers
from experiments.papers.pictures import figure_of
from experiments.papers.recipe import Panel, Picture, Series, Table
from hinge import Learner, plots
from hinge.cli.race import title_of
from hinge.plots import reliability, style
from hinge.plots import votes as bands_of
from hinge.streams.evaluation import Study
from hinge.streams.fleets import AGES


def figure(curves, **options):
    given = {"title": "A title", "subtitle": "and more", "share": True, "dashed": None, "bold": None,
             "x": "examples", "digits": 1}  # fmt: skip
    return plots.progressive_figure(curves, **{**given, **options})


def texts(drawn):
    """All texts, with their boxes in pixels."""
    found = list(drawn.texts)
    for axes in drawn.axes:
        found += [*axes.texts, axes.xaxis.label, axes.title, axes._left_title, axes._right_title]
        low, high = axes.get_xlim()
        ticks = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
        found += [label for at, label in ticks if low <= at <= high]
    return [(text.get_text(), text.get_window_extent()) for text in found if text.get_text()]


def check_readable(drawn):
    """Checks that no text covers another one or leaves the figure."""
    drawn.draw_without_rendering()
    assert all(axes.get_legend() is None for axes in drawn.axes)  # it would cover curves
    written, whole = texts(drawn), drawn.bbox
    for words, box in written:
        inside = whole.x0 <= box.x0 and box.x1 <= whole.x1 and whole.y0 <= box.y0 and box.y1 <= whole.y1
        assert inside, f"{words!r} is cut off"
    for (words, box), (others, other) in itertools.combinations(written, 2):
        across = min(box.x1, other.x1) - max(box.x0, other.x0)
        along = min(box.y1, other.y1) - max(box.y0, other.y0)
        assert across <= 0 or along <= 2, (
            f"{words!r} covers {others!r}"
        )  # 2 pixels: a letter has room around it


def falling(end, rounds=1000):
    return [(at, end + 0.5 / at) for at in range(1, rounds + 1)]


LONG = "step=pa1 C=0.00028 fit_intercept=no average=yes covariance_update=precision geometry=diagonal"


@pytest.mark.parametrize("count", [1, 2, 8, 21, 40])
@pytest.mark.parametrize("name", ["pa{}", LONG + " {}", "{}" + "W" * 200])
def test_names_do_not_overlap_and_are_not_cut_off(count, name):
    drawn = figure(
        {name.format(i): falling(0.2 + 1e-4 * i) for i in range(count)}, dashed={"SVM": falling(0.1)}
    )
    check_readable(drawn)
    assert drawn.axes[0].get_window_extent().width / drawn.dpi >= style.NARROWEST - 1e-9


@pytest.mark.parametrize("title", ["Short", "A title that says far more than fits in one line " * 5])
def test_titles_are_not_cut_off(title):
    check_readable(figure({"pa": falling(0.2)}, title=title, subtitle=title))
    check_readable(plots.history_figure(history([0.5, 0.4]), title))


def test_dollars_are_not_formulas():
    drawn = figure({"a$b$c": falling(0.2), "$": falling(0.1)}, title="$x_1$ errs least")
    assert not any(text.get_parse_math() for text in [*drawn.texts, *drawn.axes[0].texts])


@pytest.mark.parametrize("count", [1, 8, 9, 30])
def test_curves_look_different(count):
    drawn = figure({f"learner {i}": falling(0.01 * i) for i in range(count)}, dashed={"SVM": falling(0.1)})
    curves = [line for line in drawn.axes[0].lines if len(line.get_xdata()) > 2]
    looks = {(line.get_color(), str(line._dash_pattern if line.is_dashed() else "solid")) for line in curves}
    assert len(looks) == len(curves) == count + 1


def lab(colour):
    """CIELAB of "#RRGGBB", D65."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb > 0.04045, ((rgb + 0.055) / 1.055) ** 2.4, rgb / 12.92)
    xyz = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]) @ linear
    x, y, z = np.cbrt(xyz / [0.9505, 1.0, 1.089])
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_colours_are_distinct_and_legible_on_white():
    for one, other in itertools.combinations(style.COLOURS, 2):
        assert np.linalg.norm(lab(one) - lab(other)) > 20, (one, other)
    for colour in (*style.COLOURS, style.INK, style.FAINT):
        assert lab(colour)[0] < 62, colour


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, 100])
def test_ticks_are_whole_numbers(rounds):
    drawn = figure({"pa": falling(0.2, rounds)}, x="tags")
    ticks = drawn.axes[0].get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))
    assert drawn.axes[0].get_xlabel() == "tags"


@pytest.mark.filterwarnings("error")
def test_axes_of_zero_errors_start_at_zero():
    drawn = figure({"pa": [(at, 0.0) for at in range(1, 100)]})
    assert drawn.axes[0].get_ylim() == (0, 5)


def test_errors_that_are_not_fractions_are_legible():
    check_readable(
        figure({"pa": falling(2.0), "pa2": falling(1.9)}, share=False, dashed={"guaranteed": falling(400.0)})
    )
    check_readable(figure({"pa": falling(2.0)}, share=False, dashed={"guaranteed": falling(3.0)}))


@pytest.mark.parametrize(
    ("errors", "title"),
    [
        ({"pa": 0.2, "arow": 0.1}, "arow errs least: 10.00 % wrong"),
        ({"pa": 0.1, "pa1": 0.2, "arow": 0.1}, "pa and arow err least: 10.00 % wrong"),
        ({"a": 0.1, "b": 0.1, "c": 0.1}, "a, b and c err least: 10.00 % wrong"),
        ({"a": 0.1, "b": 0.1, "c": 0.1, "d": 0.1}, "a, b and 2 others err least: 10.00 % wrong"),
    ],
)
def test_the_title_of_a_comparison_names_all_ties(errors, title):
    assert title_of(Study.new("classification", {}), errors) == title


# ---- the vote of a committee ------------------------------------------------------------------------------------


def votes(count=40, **options):
    """The experts of a committee after each of some examples."""
    rng = np.random.default_rng(0)
    learner = Learner("classification", **(options or {"experts": "auto"}))
    found = []
    for number in range(1, 10 * count + 1):
        x = rng.normal(size=4)
        learner.learn_one({f"x{j}": float(v) for j, v in enumerate(x)}, bool(x[0] + 0.3 * rng.normal() > 0))
        if number % 10 == 0:
            found.append((number, learner.experts))
    return found


@pytest.mark.parametrize("options", [{}, {"C": "auto"}, {"C": [0.1, 1.0]}, {"experts": ["pa1:0"]}], ids=str)
def test_the_vote_is_drawn_below_the_curves(options):
    history = votes(**options)
    curve = [(at, 0.2 + 0.5 / at) for at, _ in history]
    drawn = figure({"so far": curve}, votes=history)
    check_readable(drawn)
    errors, panel = drawn.axes
    assert panel.get_xlim() == errors.get_xlim()
    assert panel.get_window_extent().y1 < errors.get_window_extent().y0
    assert panel.get_xlabel() == "examples"
    assert errors.get_xlabel() == ""
    bands = bands_of.vote_bands(history)
    assert len(panel.collections) == len(bands) <= len(bands_of.BANDS)
    assert [text.get_text().rpartition("  ")[0] for text in panel.texts] == [name for name, _ in bands]


@pytest.mark.parametrize("options", [{}, {"C": "auto"}, {"C": [0.1, 1.0]}], ids=str)
def test_bands_are_the_whole_vote(options):
    history = votes(**options)
    bands = bands_of.vote_bands(history)
    np.testing.assert_allclose(np.sum([shares for _, shares in bands], axis=0), 1)
    assert len({name for name, _ in bands}) == len(bands)
    shares = [shares[-1] for name, shares in bands if name != "others"]
    assert shares == sorted(shares, reverse=True)
    assert bands_of.vote_bands([]) == []


def test_a_kind_with_most_of_the_vote_is_shown_expert_by_expert():
    one_kind = bands_of.vote_bands(votes(C=[0.125, 1.0]))
    assert {name for name, _ in one_kind} == {"PA-I, C = 0.125", "PA-I, C = 1"}
    history = votes(experts=["pa1:0", "pa1:-1", "arow:0", "arow:-1"])
    arow = np.mean([sum(its.weight for its in experts if its.family == "AROW") for _, experts in history])
    assert abs(arow - 0.5) > 0.1
    large, small = ("AROW, r", "PA-I") if arow > 0.5 else ("PA-I, C", "AROW")
    names = [name for name, _ in bands_of.vote_bands(history)]
    assert small in names
    assert sum(name.startswith(large) for name in names) == 2


def test_users_draw_the_vote_of_their_committee(tmp_path):
    history = votes()
    plots.plot_experts(history, tmp_path / "vote.svg")
    assert (tmp_path / "vote.svg").read_bytes().startswith(b"<?xml")
    check_readable(plots.experts_figure(history))
    titles = [text.get_text() for text in plots.experts_figure(history).texts]
    leader = max(history[-1][1], key=lambda expert: expert.weight)
    assert titles[0] == f"Leader: {leader.in_words}, {100 * leader.weight:.0f} % of the vote"
    with pytest.raises(ValueError, match="two or more entries"):
        plots.plot_experts(history[:1], tmp_path / "none.svg")


def test_bands_of_a_vote_differ_in_black_and_white():
    lightness = [lab(fill)[0] for fill, _ in bands_of.BANDS]
    assert min(abs(np.diff(lightness))) > 15
    for _, ink in bands_of.BANDS:
        assert lab(ink)[0] < 62, ink


# ---- the passes of fit ------------------------------------------------------------------------------------------


def history(losses, scores=None):
    return [
        {"mean_loss": loss, "seconds": 0.1, **({} if scores is None else {"validation_score": scores[i]})}
        for i, loss in enumerate(losses)
    ]


@pytest.mark.parametrize("count", [1, 2, 5, 30])
@pytest.mark.parametrize("best", [0, -1])
def test_the_history_of_fit_is_legible(count, best):
    losses, scores = np.linspace(0.6, 0.4, count), np.full(count, 0.7)
    scores[best] = 0.9
    for drawn in (plots.history_figure(history(losses)), plots.history_figure(history(losses, scores))):
        check_readable(drawn)
        for axes in drawn.axes:
            low, high = axes.get_xlim()
            shown = [tick for tick in axes.get_xticks() if low <= tick <= high]
            assert shown == sorted(set(map(round, shown)))


def test_the_title_of_a_history_states_the_result():
    titles = [text.get_text() for text in plots.history_figure(history([0.6, 0.5, 0.4])).texts]
    assert titles == ["Mean loss 0.4 after 3 passes, 0.6 in the first", "3 passes, 0.3 s"]
    titles = [text.get_text() for text in plots.history_figure(history([0.6, 0.5], [0.9, 0.8])).texts]
    assert titles[0] == "Pass 1 of 2 was kept: its score was 0.9"
    titles = [text.get_text() for text in plots.history_figure(history([0.6])).texts]
    assert titles == ["Mean loss 0.6 after 1 pass", "1 pass, 0.1 s"]


# ---- the figures of the papers ------------------------------------------------------------------------------------


def line(name, **options):
    return Series(name, list(range(1, 9)), [0.3 + 0.01 * len(name)] * 8, **options)


NAMES = ["PA", "PA-I", "PA-II", "the best fixed line", "perceptron, uniform", "MIRA"]
CURVES = Panel("mistakes so far", "examples", "mistakes", [line(name) for name in NAMES])
ROWS = Panel("points", "points", "", [Series(name, [1.0, 40.0], [0, 1]) for name in ("here", "in the paper")],
             rows=["a long name of a set  12.3 %", "b"], limits=(-5, 10))  # fmt: skip
POINTS = Panel(
    "test error", "supports", "%", [line("fixed"), Series("MIRA", [4], [0.5], points=True)], log_x=True
)


@pytest.mark.parametrize(
    "panels",
    [
        [CURVES],
        [CURVES] * 2,
        [CURVES] * 4,
        [ROWS],
        [ROWS] * 2,
        [POINTS],
        [POINTS] * 9,
        [CURVES, ROWS, CURVES],
    ],
    ids=range(8),
)
def test_figures_of_papers_are_legible(panels):
    title, reading = "A title that states the result, in more than one line " * 3, "How to read it. " * 9
    drawn = figure_of(Picture(title, reading, panels), "E0 (not judged): data.")
    check_readable(drawn)
    named = {text for text, _ in texts(drawn)} | {
        text.get_text() for legend in drawn.legends for text in legend.get_texts()
    }
    assert {series.name for panel in panels for series in panel.series} <= named


@pytest.mark.parametrize("name", ["E6", "E7", "E8", "E10"])
def test_figures_of_saved_tables_are_legible(name):
    table = Table.read(Path(__file__).parent.parent / "docs" / "theory" / "papers" / f"{name}.csv")
    check_readable(figure_of(papers.recipe_named(name).picture(table.lines), f"{name}: {table.data}"))


def coins(rows=2000, honest=True):
    rng = np.random.default_rng(0)
    p = rng.uniform(0, 1, rows)
    y = (rng.uniform(0, 1, rows) < p).astype(int)
    said = p if honest else np.where(p > 0.5, 0.99, 0.01)
    return y, np.column_stack([1 - said, said])


@pytest.mark.parametrize("honest", [True, False])
def test_reliability_says_how_far_probabilities_are_off(honest, tmp_path):
    y, probabilities = coins(honest=honest)
    drawn = plots.reliability_figure(y, probabilities)
    check_readable(drawn)
    title = drawn.texts[-2].get_text()
    off = float(title.split(" % on")[0].split()[-1])
    assert off < 4 if honest else off == pytest.approx(100 * (0.99 - 0.75), abs=2)
    named = [dict(zip("ab", row, strict=True)) for row in probabilities.tolist()]
    labels = ["ab"[label] for label in y]
    events, rows = reliability.highest(labels, named), reliability.highest(labels, probabilities, ["a", "b"])
    assert events == rows == reliability.highest(y, probabilities)
    plots.plot_reliability(labels, named, tmp_path / "reliability.png", title="A title of its own")
    assert (tmp_path / "reliability.png").read_bytes().startswith(b"\x89PNG")


def test_reliability_of_few_predictions():
    bins = reliability.reliability([0.6, 0.9, 0.7], [True, True, False])
    assert bins == [(pytest.approx(2.2 / 3), pytest.approx(2 / 3), 3)]
    check_readable(plots.reliability_figure([0, 1], [[0.6, 0.4], [0.2, 0.8]]))
    with pytest.raises(ValueError, match="2 rows of probabilities for 1 labels"):
        plots.reliability_figure([0], [[0.6, 0.4], [0.2, 0.8]])
    with pytest.raises(ValueError, match="no example has a probability"):
        plots.reliability_figure(["a"], [{}])


@pytest.mark.parametrize("keys", [1, 40, 100_000])
@pytest.mark.parametrize("ages", [0, 1, 14])
@pytest.mark.parametrize("share", [True, False])
def test_pictures_of_fleets_are_readable(keys, ages, share):
    draw = np.random.default_rng(0)
    examples = np.exp(draw.uniform(0, 14, keys)).astype(int).tolist()
    features = draw.integers(0, 5000, keys).tolist()
    by_age = [plots.AtAge(age, 10, 0.5 / (1 + place)) for place, age in enumerate(AGES[:ages])]
    drawn = plots.fleet_figure(examples, features, by_age, title=LONG, subtitle=LONG, share=share)
    check_readable(drawn)
    assert len(drawn.axes) == (3 if ages else 2)
    for axes, values in zip(drawn.axes, (examples, features), strict=False):
        assert sum(bar.get_height() for bar in axes.patches) == len(values)


def test_a_fleet_without_keys_has_a_picture():
    check_readable(plots.fleet_figure([], [], [], title="Empty", subtitle="", share=True))
