"""`compare_forms`: which form wins where the truth is known, the control, the settings, the table and the plot."""

from __future__ import annotations

import numpy as np
import pytest

from hinge import Fleet
from hinge.fleet import compare_forms
from hinge.fleet.forms import ages_of, by_age


def stream(own, users=40, count=4000, seed=0):
    """The share `own` of each user's weights is the user's own."""
    random = np.random.default_rng(seed)
    common, personal = random.standard_normal(10), random.standard_normal((users, 10))
    truth = np.sqrt(1 - own) * common + np.sqrt(own) * personal
    keys = random.integers(users, size=count)
    X = random.standard_normal((count, 10)) / np.sqrt(10)
    return keys, X, np.einsum("ij,ij->i", X, truth[keys])


def labels(scores):
    return np.where(scores > 0, "yes", "no").tolist()


@pytest.mark.parametrize("own", [0.0, 0.5])
def test_keys_matter_where_users_differ(own):
    keys, X, scores = stream(own)
    forms = compare_forms("classification", keys, X, labels(scores), classes=["no", "yes"])
    assert forms.keys_matter == (own > 0)
    assert str(forms).endswith("The keys matter." if own else "There is no sign that the keys matter.")
    assert forms.best.name.startswith("shared + personal") if own else forms.best.name == "one model for all"
    assert not forms.best.is_control
    assert [form.error for form in forms] == sorted(form.error for form in forms)


def test_numbers_have_distances():
    keys, X, scores = stream(0.1, users=200)
    forms = compare_forms("regression", keys, X, scores, strengths=[0.5], settings=[{}], epsilon=0.01)
    assert forms.keys_matter
    assert forms.best.name == "shared + personal, 0.5"
    fleet = Fleet("regression", **forms.best.options)
    distances = np.abs(fleet.round_many(keys, X, scores) - scores)
    assert forms.best.error == pytest.approx(distances.mean(), rel=1e-12)


def test_the_best_setting_counts_and_its_options_make_the_fleet():
    keys, X, scores = stream(0.5, count=1000)
    settings = [{"C": C} for C in (0.01, 0.1, 1.0)]
    forms = compare_forms("classification", keys, X, labels(scores), settings=settings)
    alone = [compare_forms("classification", keys, X, labels(scores), settings=[one]) for one in settings]
    for form in forms:
        runs = [next(its for its in found if its.name == form.name) for found in alone]
        assert form == min(runs, key=lambda run: run.error)
        assert form.options["C"] in (0.01, 0.1, 1.0)
    fleet = Fleet("classification", **forms.best.options)
    wrong = [p != t for p, t in zip(fleet.round_many(keys, X, labels(scores)), labels(scores), strict=True)]
    assert forms.best.error == np.mean(wrong)


def test_errors_by_age_add_up():
    keys, X, scores = stream(0.5, users=3, count=3500)
    assert ages_of(["a", "b", "a", "a", "b"]).tolist() == [0, 0, 1, 2, 1]
    ages = ages_of(keys.tolist())
    for form in compare_forms("classification", keys, X, labels(scores), settings=[{}]):
        assert list(form.by_age) == ["1-10", "11-100", "101-1000", "1001+"]
        counts = [30, 270, 2700, 500]
        mean = sum(count * error for count, error in zip(counts, form.by_age.values(), strict=True)) / 3500
        assert form.error == pytest.approx(mean)
    assert by_age(np.ones(3500), ages) == {"1-10": 1, "11-100": 1, "101-1000": 1, "1001+": 1}
    assert by_age(np.asarray([0.0, 1.0]), np.asarray([9, 10])) == {"1-10": 0, "11-100": 1}


def test_one_model_may_have_more_features_than_a_key():
    keys, y = [f"user{i % 20}" for i in range(200)], ["a", "b"] * 100
    X = [{f"word{i}": 1.0, "long": i % 2} for i in range(200)]
    forms = compare_forms("classification", keys, X, y, max_features=30, settings=[{}])
    assert len(forms) == 8


def test_the_table_has_a_line_for_each_form():
    keys, X, scores = stream(0.5, count=500)
    forms = compare_forms("classification", keys, X, labels(scores), strengths=[0.5], classes=["no", "yes"])
    lines = str(forms).splitlines()
    assert len(lines) == 7
    assert lines[0].split() == ["error", "1-10", "11-100", "with"]
    for form, line in zip(forms, lines[1:-2], strict=True):
        assert line.startswith(form.name)
        assert f"{100 * form.error:.2f} %" in line
        assert "classes" not in line
    true, shuffled = (
        f"{100 * form.error:.2f} %" for form in forms if "personal" in form.name or form.is_control
    )
    assert lines[-2].startswith(
        f"Personal weights err {true} with the true keys, {shuffled} with shuffled ones"
    )
    assert lines[-1] == (
        "The keys matter." if forms.keys_matter else "There is no sign that the keys matter."
    )
    assert repr(forms) == str(forms)
    assert forms[0] is next(iter(forms))
    assert forms[:2] == list(forms)[:2]


def test_without_controls_there_is_no_gain():
    keys, X, scores = stream(0.5, count=200)
    forms = compare_forms("classification", keys, X, labels(scores), strengths=[])
    assert [form.name for form in forms if form.is_control] == []
    assert (forms.gain, forms.keys_matter) == (0.0, False)


def test_no_examples_are_rejected():
    with pytest.raises(ValueError, match="no examples"):
        compare_forms("classification", [], [], [])


def test_the_plot_is_a_picture(tmp_path):
    pytest.importorskip("matplotlib", reason="the extra `plots` is not installed")
    from hinge.plots import plot_forms

    keys, X, scores = stream(0.5, count=500)
    plot_forms(compare_forms("regression", keys, X, scores), tmp_path / "forms.png")
    assert (tmp_path / "forms.png").read_bytes().startswith(b"\x89PNG")
