"""Records become features by the same rules in Python and on the command line."""

from __future__ import annotations

import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hinge
from command_line import called
from hinge import Features, Learner, Pipeline
from hinge.features.values import RecordError


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    return called(capfd, monkeypatch)


def write_lines(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


RULES = [
    ({"a": 1.5, "b": True, "c": 0}, {"a": 1.5, "b": 1.0}),
    ({"color": "red"}, {"color=red": 1.0}),
    ({"a": None}, {}),
    ({"a": {"b": {"c": 2}, "d": None, "e": "x"}}, {"a.b.c": 2.0, "a.e=x": 1.0}),
    ({"a": [1, None, 2.5], "b": (3,)}, {"a[0]": 1.0, "a[2]": 2.5, "b[0]": 3.0}),
    ({"a": ["x", None, "y"]}, {"a=x": 1.0, "a=y": 1.0}),
    ({"a": [], "b": {}}, {}),
    ({"a": ["x", "x"]}, {"a=x": 2.0}),
    ({"a": {"b": 1}, "a.b": 2}, {"a.b": 3.0}),
]


@pytest.mark.parametrize(("record", "expected"), RULES)
def test_learn_one_and_features_have_the_same_rules(record, expected):
    learner = Learner("regression")
    learner.learn_one(record, 1.0)
    assert sorted(learner.feature_names) == sorted(expected)
    sums = {}
    for part in learner.explain_one(record):
        sums[part.feature] = sums.get(part.feature, 0.0) + part.value
    sums.pop("(intercept)")
    assert sums == expected
    other = Learner("regression")
    other.learn_one(Features().event(record), 1.0)
    assert other.named_weights() == learner.named_weights()
    many = Learner("regression")
    many.learn_many([record], [1.0])
    assert many.named_weights() == learner.named_weights()


WRONG = [
    ({"a": [1, "x"]}, "a list of numbers or of strings was expected"),
    ({"a": [True]}, "a list of numbers or of strings was expected"),
    ({"a": [[1]]}, "a list of numbers or of strings was expected"),
    ({"a": [{"b": 1}]}, "a list of numbers or of strings was expected"),
    ({"a": {"b": math.inf}}, "infinity"),
    ({"a": [math.nan]}, "NaN"),
    ({"a": object()}, "is not a number, a string or a boolean"),
    ({"a": {1.5: 2}}, "the name of a feature must be a string"),
    ({"a": 10**400}, "too large"),
]


@pytest.mark.parametrize(("record", "reason"), WRONG)
def test_invalid_values_are_rejected_by_both_and_leave_no_trace(record, reason):
    learner = Learner("regression")
    learner.learn_one({"z": 1.0}, 1.0)
    before = learner.to_bytes()
    with pytest.raises(ValueError, match=reason):
        learner.learn_one({"y": 1.0, **record}, 2.0)
    with pytest.raises(ValueError, match=reason):
        learner.learn_many([{"y": 1.0}, record], [2.0, 3.0])
    with pytest.raises(ValueError, match=reason):
        learner.predict_one(record)
    assert learner.to_bytes() == before
    with pytest.raises(RecordError, match=reason) as caught:
        Features().event({"y": 1.0, **record})
    assert caught.value.field == "a"


def test_nesting_has_a_limit():
    record: dict = {"v": 1}
    for _ in range(20):
        record = {"a": record}
    assert list(Features().event(record)) == [".".join("a" * 20) + ".v"]
    with pytest.raises(ValueError, match="objects in more than 20 objects"):
        Learner("regression").learn_one({"a": record}, 1.0)


values = st.recursive(
    st.none() | st.booleans() | st.text("ab=", max_size=2) | st.integers(-3, 3) | st.floats(-5, 5)
    | st.lists(st.none() | st.integers(-3, 3), max_size=3) | st.lists(st.text("ab", max_size=2), max_size=3),
    lambda inner: st.dictionaries(st.text("ab", min_size=1, max_size=2), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip


@settings(deadline=None, max_examples=60)
@given(st.dictionaries(st.text("pq", min_size=1, max_size=2), values, max_size=4))
def test_any_record_has_the_same_features_everywhere(record):
    """Directly, and by the event of the pipeline."""
    direct, through = Learner("regression"), Learner("regression")
    direct.learn_one(record, 1.0)
    through.learn_one(Features().event(record), 1.0)
    assert direct.named_weights() == pytest.approx(through.named_weights())


# ---- names ------------------------------------------------------------------------------------------------------


def test_a_column_with_an_equals_sign_is_not_the_value_of_another(run, tmp_path):
    (tmp_path / "d.csv").write_text("a=b,a,y\n1,b,p\n2,c,n\n1,b,p\n")
    assert run("learn", "d.csv", "-m", "m.hinge", "-q").code == 0
    model = hinge.load("m.hinge")
    assert sorted(model.feature_names) == ["a=b", "a=c", "a\\=b"]


@pytest.mark.parametrize("record", [{"a=b": 1}, {"a": {"b=c": 1}}, {"a*b": 1}, {"a+b": 1}, {"a\\": 1}])
def test_special_characters_in_names_get_a_backslash(record):
    (name,) = Features().event(record)
    assert "\\" in name


def test_words_do_not_collide_with_fields():
    features = Features(text="body")
    assert sorted(features.event({"body": "age old", "age": 3, "old": "x"})) == [
        "age",
        "body=age",
        "body=old",
        "old",
    ]


# ---- texts and other fields -------------------------------------------------------------------------------------


def mails(count=60):
    rng = np.random.RandomState(0)
    words = ["meeting", "invoice", "free", "money", "lunch", "Über", "report"]
    for i in range(count):
        spam = bool(rng.rand() < 0.4)
        body = " ".join(rng.choice(words[2:4] if spam else words, 5))
        yield {"label": "spam" if spam else "ham", "subject": str(rng.choice(words)), "body": body,
               "sender": str(rng.choice(["ann", "bob"])), "size": int(rng.randint(9)), "to": ["x", "y"][: i % 3],
               "meta": {"lang": "en", "score": rng.rand()}, "id": i, "cc": None}  # fmt: skip


def test_other_fields_are_features_next_to_text(run, tmp_path):
    write_lines(tmp_path / "m.jsonl", mails())
    assert run("learn", "m.jsonl", "--text", "body", "--drop", "id", "-m", "m.hinge", "-q").code == 0
    names = hinge.load("m.hinge").feature_names
    assert {"body=free", "sender=ann", "size", "meta.lang=en", "meta.score", "to=x"} <= set(names)
    assert not any(str(name).startswith(("id", "label")) for name in names)
    assert run("learn", "m.jsonl", "--text", "body", "--keep", "sender", "-m", "k.hinge", "-q").code == 0
    kept = {str(name).split("=")[0] for name in hinge.load("k.hinge").feature_names}
    assert kept == {"body", "sender"}


OPTIONS = [
    ["--text", "body"],
    ["--text", "body", "--text", "subject", "--ngrams", "2"],
    ["--text", "body", "--char-ngrams", "2-3", "--drop", "id,meta.*"],
    ["--keep", "sender,meta.lang,size", "--interactions", "sender*size"],
    ["--drop", "id,body,subject", "--interactions", "all"],
    ["--text", "body", "--interactions", "body*sender,size*size", "--missing", "indicator"],
    ["--categorical", "size", "--drop", "body"],
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: " ".join(options))
@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_a_model_of_the_command_line_predicts_the_same_in_python(run, tmp_path, options, format):
    records = list(mails())
    if format == "csv":
        if any("meta" in option for option in options):
            options = [option.replace(",meta.lang", "").replace(",meta.*", "") for option in options]
        columns = ["label", "subject", "body", "sender", "size", "id"]
        rows = [",".join(f'"{record[name]}"' for name in columns) for record in records]
        rows[3] = rows[3].replace('"ann"', "NA").replace('"bob"', "NA")
        (tmp_path / "m.csv").write_text("\n".join([",".join(columns), *rows]) + "\n")
        records = [{name: str(record[name]) for name in columns} for record in records]
        records[3]["sender"] = "NA"
    else:
        write_lines(tmp_path / "m.jsonl", records)
    done = run("learn", f"m.{format}", *options, "-m", "m.hinge", "-q")
    assert done.code == 0, done.err
    done = run("predict", f"m.{format}", "-m", "m.hinge", "--scores", "-q")
    model = hinge.load("m.hinge")
    assert isinstance(model, Pipeline)
    for record, line in zip(records, done.out.splitlines(), strict=True):
        label, score = line.split("\t")
        assert model.predict_one(record) == label
        assert f"{model.score_one(record):.9g}" == score
        unlabelled = {name: value for name, value in record.items() if name != "label"}
        assert model.score_one(unlabelled) == model.score_one(record)
    assert model.predict_many(records) == [line.split("\t")[0] for line in done.out.splitlines()]


def test_a_model_of_the_command_line_resumes_in_python(run, tmp_path):
    records = list(mails())
    write_lines(tmp_path / "all.jsonl", records)
    write_lines(tmp_path / "half.jsonl", records[:30])
    run("learn", "all.jsonl", "--text", "body", "-m", "all.hinge", "-q")
    run("learn", "half.jsonl", "--text", "body", "-m", "half.hinge", "-q")
    model = hinge.load("half.hinge")
    for record in records[30:]:
        model.learn_one(record, record["label"])
    assert model.named_weights() == hinge.load("all.hinge").named_weights()
    model.save("more.hinge")
    assert hinge.load("more.hinge").named_weights() == model.named_weights()
    assert (
        run("predict", "all.jsonl", "-m", "more.hinge", "-q").out
        == run("predict", "all.jsonl", "-m", "all.hinge", "-q").out
    )


def test_a_text_model_for_rankings_takes_records(run, tmp_path):
    records = [{"body": "free money", "label": ["spam"]}, {"body": "see you", "label": ["ham"]}] * 5
    write_lines(tmp_path / "m.jsonl", records)
    assert run("learn", "m.jsonl", "--task", "prototype", "--text", "body", "-m", "m.hinge", "-q").code == 0
    model = hinge.load("m.hinge")
    out = run("predict", "m.jsonl", "-m", "m.hinge", "-q").out.splitlines()
    assert [model.predict_one(record) for record in records] == out


# ---- Features and Pipeline as objects -----------------------------------------------------------------------------


def test_features_and_pipelines_can_be_saved_and_copied(tmp_path):
    features = Features(
        text=["a", "b"], ngrams=(1, 2), char_ngrams=3, categorical=["c"], numeric=["n"], keep=["c", "n", "d*"],
        drop=["dx"], interactions=["c*n"], missing="indicator", aside=["label"], within=["x"],
    )  # fmt: skip
    assert Features(**json.loads(json.dumps(features.settings))).settings == features.settings
    record = {"a": "To be", "c": 3, "n": "2.5", "d1": "q", "dx": 1, "z": 9, "label": 1}
    event = features.event(record)
    for twin in (pickle.loads(pickle.dumps(features)), copy.deepcopy(features)):
        assert twin.event(record) == event
    assert {"c=3", "n", "d1=q", "c=3*n", "a+b=to", "a+b=to be", "a+b.chars= to"} <= set(event)
    assert not any(name.startswith(("dx", "z", "label")) for name in event)
    model = Pipeline(features, hinge.PAClassifier())
    model.learn_one(record, "p")
    model.learn_one({"a": "or not", "c": 4}, "n")
    model.save(tmp_path / "m.hinge")
    for twin in (hinge.load(tmp_path / "m.hinge"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert isinstance(twin.model, hinge.PAClassifier)
        assert twin.score_one(record) == model.score_one(record)
        assert twin.explain_one(record)[0] == model.explain_one(record)[0]


def test_errors_of_records_report_the_row():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"body": ["free money", "see you"], "size": [1, 2]})
    model = Pipeline(Features(text="body"), Learner("classification"))
    model.learn_many(frame, ["spam", "ham"])
    assert model.predict_many(frame) == ["spam", "ham"]
    with pytest.raises(
        ValueError, match="row 1, feature 'body': a text or a list of words was expected, not 5"
    ):
        model.learn_many([{"body": "a"}, {"body": 5}], ["spam", "ham"])
    with pytest.raises(ValueError, match="row 0: a record must be a dict of fields, not int"):
        model.learn_many([3], ["spam"])


def test_records_are_not_changed():
    record = {"label": 1, "a": {"b": 1, "c": 2}, "t": "word", "n": None}
    before = copy.deepcopy(record)
    Features(text="t", drop=["a.c"], aside=["label"], interactions="all", missing="indicator").event(record)
    assert record == before


def test_names_of_options_match_column_numbers():
    assert Features(drop=["3"]).event({3: 1.0, 4: 2.0}) == {4: 2.0}
    assert Features(keep=["3"]).event({3: 1.0, 4: 2.0}) == {3: 1.0}


MISTAKES = [
    ({"missing": "never"}, "missing must be 'indicator', 'omit' or 'error'"),
    ({"ngrams": 0}, "ngrams must be a whole number from 1 to 10"),
    ({"char_ngrams": (3, 2)}, "char_ngrams must be a whole number from 1 to 10"),
    ({"categorical": ["a"], "numeric": ["a"]}, "categorical or numeric, not both"),
    ({"interactions": ["a"]}, "an interaction is two names"),
    ({"interactions": ["a*b*c"]}, "an interaction is two names"),
    ({"drop": [3]}, "drop must be names of fields"),
    ({"only_words": True}, "name its field"),
]


@pytest.mark.parametrize(("options", "reason"), MISTAKES)
def test_invalid_options_are_rejected(options, reason):
    with pytest.raises(ValueError, match=reason):
        Features(**options)


def test_missing_values_become_indicators_or_errors():
    indicator = Features(numeric=["age"], categorical=["zip"], missing="indicator", strings=True)
    assert indicator.event({"age": "NA", "zip": "8"}) == {"age is missing": 1.0, "zip": "8"}
    assert indicator.event({"age": math.nan}) == {"age is missing": 1.0, "zip is missing": 1.0}
    assert Features(numeric=["age"]).event({"age": None, "b": 1}) == {"b": 1}
    with pytest.raises(RecordError, match="feature 'age': the value is missing"):
        Features(numeric=["age"], missing="error").event({"b": 1})
    with pytest.raises(RecordError, match="feature 'age': a finite number was expected, not 'old'"):
        Features(numeric=["age"]).event({"age": "old"})


# ---- interactions -----------------------------------------------------------------------------------------------


def test_interactions_multiply_features():
    features = Features(interactions=["u*v", "v*v"])
    assert features.event({"u": "ann", "v": 3}) == {"u=ann": 1.0, "v": 3.0, "u=ann*v": 3.0, "v*v": 9.0}
    everything = Features(interactions="all").event({"a": 2, "b": ["x", "y"]})
    assert everything == {"a": 2.0, "b=x": 1.0, "b=y": 1.0, "a*a": 4.0, "a*b=x": 2.0, "a*b=y": 2.0,
                          "b=x*b=x": 1.0, "b=x*b=y": 1.0, "b=y*b=y": 1.0}  # fmt: skip


def test_interactions_have_a_limit():
    with pytest.raises(RecordError, match="make more than 100,000 features"):
        Features(interactions="all").event({f"f{i}": 1.0 for i in range(500)})
    with pytest.raises(RecordError, match="too large for float64"):
        Features(interactions=["a*b"]).event({"a": 1e200, "b": 1e200})
