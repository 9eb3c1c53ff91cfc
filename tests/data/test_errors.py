"""Rejected input says where it is wrong in numbers and names, not only in a text."""

from __future__ import annotations

import ast
import copy
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import hinge
from hinge import InputError, Learner, PAMultilabel, PARanker, PASequence, PAStructured, TextClassifier
from hinge.data.errors import InputTypeError, in_row, of_one_example, rows_from
from hinge.streams.batches import BadLines
from hinge.streams.evaluation import Study
from hinge.streams.files import Input
from hinge.streams.formats.csv_files import CsvFile
from hinge.streams.formats.json_lines import JsonLines
from hinge.streams.formats.text import Svmlight, VowpalText

SOURCE = Path(hinge.__file__).parent
NAN = float("nan")
X = np.arange(12.0).reshape(4, 3) / 12
BAD = X.copy()
BAD[2, 1] = NAN
Y = [1.0, -1.0, 1.0, -1.0]
EVENTS = [{"a": 1.0}, {"b": 2.0}, {"a": 1.0, "c": NAN}, {"a": 1.0}]
FRAME = pd.DataFrame(BAD, columns=["u", "v", "w"])
SENTENCES, TAGS = [[["a"], ["b"]], [["b"]]], [["A", "B"], ["B"]]


def rejected(call):
    with pytest.raises(InputError) as caught:
        call()
    return caught.value


def place(call):
    error = rejected(call)
    return error.row, error.column


# ---- the class --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({}, "why"),
        ({"row": 3}, "row 3: why"),
        ({"row": 3, "column": 5}, "row 3, column 5: why"),
        ({"column": 0}, "column 0: why"),
        ({"row": 0, "column": "a"}, "row 0, feature 'a': why"),
        ({"column": ""}, "feature '': why"),
        ({"file": "x.svm", "line": 7}, "x.svm:7: why"),
        ({"file": "x.svm", "line": 7, "column": 12}, "x.svm:7: 12: why"),
        ({"file": "x.vw", "line": 7, "row": 1, "column": "a"}, "x.vw:7: feature 'a': why"),
    ],
)
def test_the_message_is_composed_of_the_attributes(given, text):
    error = InputError("why", **given)
    assert str(error) == text
    assert isinstance(error, ValueError)
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert (str(again), vars(again)) == (text, vars(error))


def test_an_error_can_be_rebased():
    def fail():
        raise InputError("why", row=2)

    with pytest.raises(InputError, match=r"^row 12: why$") as caught, rows_from(10):
        fail()
    assert pickle.loads(pickle.dumps(caught.value)).row == 12
    assert rejected(of_one_example(fail)).row is None
    assert str(in_row(ValueError("why"), 4)) == "row 4: why"
    assert isinstance(in_row(TypeError("why"), 4), (InputTypeError, TypeError))
    same = InputError("why", row=0)
    assert in_row(same, 4) is same
    assert same.row == 4


def test_wrong_types_are_type_errors_and_value_errors():
    error = rejected(lambda: Learner("regression").learn([["a", 1.0]], [1.0]))
    assert isinstance(error, TypeError)
    assert not isinstance(rejected(lambda: Learner("regression").learn(BAD, Y)), TypeError)


# ---- arrays -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("of", [np.array, np.asfortranarray, np.float32, sp.csr_matrix, sp.csc_array, list])
def test_values_of_arrays(of):
    learner = Learner("regression")
    assert place(lambda: learner.learn(of(BAD), Y)) == (2, 1)
    assert place(lambda: learner.learn(of(BAD), Y, order=[3, 2, 2])) == (2, 1)
    learner.learn(X, Y)
    assert place(lambda: learner.scores(of(BAD))) == (2, 1)


def test_values_of_lists_that_are_not_numbers():
    learner = Learner("regression")
    assert place(lambda: learner.learn([[1.0, 2.0], [3.0, "x"]], [1.0, 2.0])) == (1, 1)
    assert place(lambda: learner.learn(np.array([[1.0, 2.0], [{}, 3.0]], dtype=object), [1.0, 2.0])) == (1, 0)
    masked = np.ma.masked_array(X, mask=np.isnan(BAD))
    assert place(lambda: learner.learn(masked, Y)) == (2, 1)


def test_rows_of_broken_csr_matrices():
    matrix = sp.csr_matrix(X + 1)
    matrix.indices[7] = 99
    assert place(lambda: Learner("regression").learn(matrix, Y))[0] == 2


def test_values_of_frames_have_the_names_of_columns():
    learner = Learner("regression")
    assert place(lambda: learner.learn_many(FRAME, Y)) == (2, "v")
    objects = pd.DataFrame({"u": [1.0, 2.0], "v": [1.0, object()]}, dtype=object)
    assert place(lambda: learner.learn_many(objects, [1.0, 2.0])) == (1, "v")
    dates = pd.DataFrame({"u": [1.0], "v": pd.to_datetime(["2020-01-01"])})
    assert place(lambda: learner.learn_many(dates, [1.0])) == (None, "v")
    learner.learn_many(FRAME[["u"]], Y)
    assert place(lambda: learner.scores(FRAME)) == (2, "v")


# ---- targets and weights ----------------------------------------------------------------------------------------


def test_targets():
    assert place(lambda: Learner("regression").learn(X, [1.0, NAN, 1.0, 1.0])) == (1, None)
    assert place(lambda: Learner("regression").learn(X, [1.0, 1.0, "x", 1.0])) == (2, None)
    known = Learner("classification", classes=["a", "b"])
    assert place(lambda: known.learn(X, ["a", "b", "a", "c"])) == (3, None)
    numbers = Learner("classification", classes=[0, 1])
    assert place(lambda: numbers.learn(X, [0, 1, 7, 1])) == (2, None)
    open_ = Learner("classification")
    assert place(lambda: open_.learn(X, np.array(["a", "b", [], "a"], dtype=object))) == (2, None)
    sets = PAMultilabel(classes=["a", "b"])
    assert place(lambda: sets.partial_fit(X, [["a"], ["b"], [], ["c"]]))[0] == 3
    assert place(lambda: PAMultilabel().learn_many(EVENTS[:2], [["a"], "b"])) == (1, None)


def test_weights():
    for weight in (-1.0, NAN, np.inf):
        weights = [1.0, 1.0, 1.0, weight]
        assert place(lambda w=weights: Learner("regression").learn(X, Y, w)) == (3, None)
        events = [{"a": 1.0}] * 4
        assert place(lambda w=weights, x=events: Learner("regression").learn_many(x, Y, w)) == (3, None)
        model = PASequence()
        assert place(lambda w=weight, m=model: m.learn_many(SENTENCES, TAGS, [1.0, w])) == (1, None)


# ---- events -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_events_in_lists(task):
    learner = Learner(task)
    assert place(lambda: learner.learn_many(EVENTS, Y)) == (2, "c")
    assert place(lambda: learner.learn_one(EVENTS[2], 1.0)) == (None, "c")
    assert place(lambda: learner.learn_many([{"a": 1.0}, {"b": {"c": [1.0, NAN]}}], [1.0, -1.0])) == (
        1,
        "b.c[1]",
    )
    assert place(lambda: learner.learn_many([{"a": 1.0}, {"b": 1e300}], [1.0, -1.0])) == (1, "b")
    assert place(lambda: learner.learn_many([{"a": 1.0}, {7: object()}], [1.0, -1.0])) == (1, 7)
    assert place(lambda: learner.learn_many([{"a": 1.0}, 3], [1.0, -1.0])) == (1, None)
    learner.learn_many(EVENTS[:2], [1.0, -1.0])
    assert place(lambda: learner.predict_one(EVENTS[2])) == (None, "c")
    assert place(lambda: learner.scores(EVENTS)) == (2, "c")
    assert place(lambda: learner.scores([EVENTS[0], 3])) == (1, None)
    assert place(lambda: learner.learn_one({"a": 1e300}, 1.0)) == (None, "a")


def test_names_that_are_not_text_survive():
    assert place(lambda: Learner("regression").learn_one({"\ud800": NAN}, 1.0)) == (None, "\ud800")


def test_events_beyond_the_limit_of_features():
    learner = Learner("regression", max_features=2)
    assert place(lambda: learner.learn_many([{"a": 1.0}, {"b": 1.0}, {"c": 1.0}], Y[:3])) == (2, "c")


def test_events_that_bring_new_labels_are_counted_from_the_start():
    """Such a batch is learned in parts."""
    y = ["a", "b", "c", "d", "d"]
    events = [*[{"a": 1.0}] * 4, {"x": 1e300}]
    assert place(lambda: Learner("classification").learn_many(events, y)) == (4, "x")
    rows = np.vstack([X, BAD[2]])
    assert place(lambda: Learner("classification").learn(rows, y)) == (4, 1)


def test_records():
    features = hinge.Features(numeric=["age"], missing="error")
    assert place(lambda: features.event({"b": 1})) == (None, "age")
    assert place(lambda: hinge.Features().event({"a": [1.0, NAN]})) == (None, "a[1]")
    pipeline = hinge.Pipeline(features, Learner("regression"))
    assert place(lambda: pipeline.learn_many([{"age": 1}, {"age": "old"}], [1.0, 2.0])) == (1, "age")
    assert place(lambda: pipeline.learn_many([{"age": 1}, 3], [1.0, 2.0])) == (1, None)


def test_texts():
    model = TextClassifier()
    assert place(lambda: model.learn_many(["good", 5], ["a", "b"])) == (1, None)
    assert place(lambda: model.learn_one(5, "a")) == (None, None)


# ---- structures -------------------------------------------------------------------------------------------------


def test_sentences():
    model = PASequence()
    bad = [["a"], {"x": NAN}]
    error = rejected(lambda: model.learn_many([SENTENCES[0], bad], [TAGS[0], ["A", "B"]]))
    assert (error.row, error.column, error.reason) == (1, "x", "token 1: the value is NaN")
    assert place(lambda: model.learn_one(bad, ["A", "B"])) == (None, "x")
    error = rejected(lambda: model.learn_many([X[:2], BAD], [["A", "B"], ["A"] * 4]))
    assert (error.row, error.column, error.reason) == (1, 1, "token 2: the value is NaN")
    assert place(lambda: model.learn_many(SENTENCES, [TAGS[0], ["A", "B"]])) == (1, None)
    assert place(lambda: model.learn_many(SENTENCES, [TAGS[0], [object()]])) == (1, None)
    assert place(lambda: model.learn_one(SENTENCES[1], ["A", "B"])) == (None, None)
    model.learn_many(SENTENCES, TAGS)
    assert place(lambda: model.predict([SENTENCES[0], bad])) == (1, "x")
    assert place(lambda: model.predict_one(bad)) == (None, "x")
    assert place(lambda: model.predict_single(bad)) == (None, "x")
    assert place(lambda: model.score(SENTENCES, [TAGS[0], 5])) == (1, None)


def test_structures():
    def joint_features(x, y):
        return {"a": x * y}

    model = PAStructured(joint_features, lambda w, x: 1, lambda y, z: float(y != z))
    assert place(lambda: model.learn_many([1.0, NAN], [2, 2]))[0] == 1
    assert place(lambda: model.learn_one(NAN, 2))[0] is None
    assert place(lambda: model.learn_many([1.0, 1.0], [2, 2], [1.0, -1.0])) == (1, None)
    assert place(lambda: model.learn_one(1.0, 2, -1.0)) == (None, None)
    arrays = PAStructured(lambda x, y: np.array([x * y]), lambda w, x: 1, lambda y, z: float(y != z))
    assert place(lambda: arrays.learn_one(1e300, 2))[0] is None


def test_rankers():
    model = PARanker().learn_many(["good", "bad"], ["x", "y"])
    assert place(lambda: model.learn_many(["good", 5], ["x", "y"])) == (1, None)
    assert place(lambda: model.learn_many(["good", "bad"], ["x", [[]]])) == (1, None)
    assert place(lambda: model.predict(["good", 5])) == (1, None)


# ---- files ------------------------------------------------------------------------------------------------------

FILES = {
    "a.svm": ("1 1:1\n1 2:x\n", Svmlight, 2, 5),
    "a.vw": ("1 | a\n1 | b\n1 | c:x\n", VowpalText, 3, 7),
    "a.jsonl": ('{"y": 1, "a": 1}\n{"y": 1, "a": [1, true]}\n', JsonLines, 2, 10),
    "a.csv": ("y,a\n1,2\n1,2,3\n", CsvFile, 3, None),
}


@pytest.mark.parametrize("name", FILES)
def test_lines_of_files(tmp_path, name):
    text, source, line, column = FILES[name]
    path = tmp_path / name
    path.write_text(text)
    error = rejected(lambda: list(source().batches(Input(path), BadLines())))
    assert (error.file, error.line, error.column, error.row) == (str(path), line, column, None)
    assert str(error).startswith(f"{path}:{line}: ")
    bad = BadLines(skip=True)
    list(source().batches(Input(path), bad))
    (skipped,) = bad.first
    assert (str(skipped), vars(skipped)) == (str(error), vars(error))


@pytest.mark.parametrize(
    ("name", "text", "source", "reason", "column"),
    [
        ("a.svm", "1 1:1\n\n1 2:1e300\n", Svmlight, "index 2: the value is too large", None),
        ("a.jsonl", '{"y": 1, "a": 1}\n\n{"y": 1, "b": 1e300}\n', JsonLines, "the value is too large", "b"),
    ],
)
def test_what_a_learner_rejects_has_the_line_of_its_file(tmp_path, name, text, source, reason, column):
    path = tmp_path / name
    path.write_text(text)
    (batch,) = source().batches(Input(path), BadLines())
    study = Study.new("regression", {})
    taken = study.learn(batch, str(path), BadLines())
    error = taken.error
    assert (taken.rows, error.file, error.line, error.column, error.row) == (1, str(path), 3, column, None)
    assert error.reason.startswith(reason)


# ---- the source -------------------------------------------------------------------------------------------------


def texts_of_errors(tree):
    """The names of caught errors in each handler."""
    for handler in ast.walk(tree):
        if isinstance(handler, ast.ExceptHandler) and handler.name:
            yield handler.name, handler


def reads_a_message(node, error):
    """Whether a call takes the message of an error apart: re.match(..., str(error)), str(error).split(), ..."""
    taken = {"split", "partition", "rpartition", "removeprefix", "startswith", "replace", "index", "find"}
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return False
    messages = (f"str({error})", f"{error}.reason", f"{error}.args")
    if isinstance(node.func.value, ast.Name) and node.func.value.id == "re":
        return any(ast.unparse(argument).startswith(messages) for argument in node.args)
    return node.func.attr in taken and ast.unparse(node.func.value).startswith(messages)


def test_no_module_reads_a_message():
    """`" ".join(str(error).split())`, which puts the message of another library on one line, reads nothing."""
    found = []
    for path in SOURCE.rglob("*.py"):
        for name, handler in texts_of_errors(ast.parse(path.read_text())):
            found += [
                f"{path.relative_to(SOURCE)}:{node.lineno}: {ast.unparse(node)}"
                for node in ast.walk(handler)
                if reads_a_message(node, name) and ast.unparse(node) != f"str({name}).split()"
            ]
    assert found == []


def test_the_search_for_messages_that_are_read_finds_them():
    code = "try: f()\nexcept ValueError as e:\n    re.sub('row', '', str(e))\n    str(e).removeprefix('row')\n    g(e)"
    ((name, handler),) = texts_of_errors(ast.parse(code))
    assert sum(reads_a_message(node, name) for node in ast.walk(handler)) == 2
