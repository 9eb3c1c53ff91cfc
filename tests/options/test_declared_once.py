"""An option is declared once, in the table: constructors, types, docstrings, help and the reference follow."""

from __future__ import annotations

import inspect
import json
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

import hinge
import hinge._core
import hinge.river
from estimator_cases import ESTIMATORS, EVERY, STRUCTURED, TEXT, Case
from hinge.options import generate, table
from hinge.options.classes import CLASSES
from hinge.structured.sequence_learner import SequenceLearner

ROOT = Path(__file__).parent.parent.parent
PACKAGE = Path(hinge.__file__).parent


def class_of(name):
    if name == "SequenceLearner":
        return SequenceLearner
    return getattr(hinge.river, name.removeprefix("river.")) if "." in name else getattr(hinge, name)


# ---- what is generated ----------------------------------------------------------------------------------------------


def test_the_types_are_up_to_date():
    types = (PACKAGE / "options" / "types.py").read_text(encoding="utf-8")
    assert types == generate.types(), "options/types.py should be made again: make docs"


@pytest.mark.parametrize("name", CLASSES)
def test_constructors_show_the_options_of_their_class(name):
    its, shown = CLASSES[name], inspect.signature(class_of(name)).parameters
    assert set(shown) - {"task"} == its.rows.keys()
    for option, row in its.rows.items():
        assert (shown[option].default, shown[option].annotation) == (row.default, row.type)
        positional = shown[option].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert positional == (option in its.positional)


# An option that no file but one row of the table knows.
ROW = 'Parameter("patience", 3.0, POSITIVE, "How long it waits."),'
ASKED = """
import inspect, json, sys
sys.path[:0] = json.loads(sys.argv[1])
import hinge, hinge.river
from hinge.cli import reference
from hinge.cli.app import command_parser
from hinge.options import generate
from hinge.structured.sequence_learner import SequenceLearner
classes = [hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass, hinge.PAMultilabel, hinge.PAOrdinal, hinge.PARanker,
           hinge.PASequence, hinge.PAStructured, hinge.river.PAClassifier, hinge.river.PARegressor,
           hinge.river.PAMultilabel, hinge.Learner, SequenceLearner]
def typed_dicts():
    found = {}
    exec(generate.types(), {"__name__": "hinge.options.types"}, found)
    return [name for name, cls in found.items() if name.endswith("Options")
            and cls.__annotations__.get("patience") is not None
            and cls.__annotations__["patience"].__forward_arg__ == "float"]
message = ""
try:
    hinge.PAClassifier(patience=0).fit([[1.0], [2.0]], [0, 1])
except ValueError as error:
    message = str(error)
print(json.dumps({
    "signatures": [cls.__name__ for cls in classes if "patience" in inspect.signature(cls).parameters],
    "classes": [cls.__name__ for cls in classes],
    "docstring": inspect.getdoc(hinge.PAClassifier),
    "given": [hinge.PAClassifier(patience=5).patience, hinge.PAClassifier().get_params()["patience"],
              hinge.river.PARegressor(patience=4).patience,
              hinge.Learner("regression", patience=6).parameters["patience"]],
    "message": message,
    "help": command_parser("learn").format_help(),
    "parsed": command_parser("learn").parse_args(["data", "--patience", "4"]).patience,
    "types": typed_dicts(),
    "reference": reference.options(),
}))
"""


def test_a_new_option_touches_one_file(tmp_path):
    copy = tmp_path / "hinge"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__", "_core.*.so"))
    core = Path(hinge._core.__file__)
    (copy / core.name).symlink_to(core)
    file = copy / "options" / "table" / "steps.py"
    file.write_text(file.read_text(encoding="utf-8").replace("ROWS = (\n", f"ROWS = (\n    {ROW}\n", 1))
    paths = json.dumps([str(tmp_path), *sys.path])
    asked = [sys.executable, "-S", "-c", ASKED, paths]  # -S: nothing else says where hinge is
    done = subprocess.run(asked, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    printed = json.loads(done.stdout)
    assert printed["signatures"] == printed["classes"]
    assert (
        "\npatience : a finite number greater than 0, default=3.0\n    How long it waits.\n"
        in printed["docstring"]
    )
    assert printed["given"] == [5, 3, 4, 6]
    assert printed["message"] == "patience must be a finite number greater than 0, not 0"
    assert "--patience X" in printed["help"]
    assert printed["parsed"] == "4"
    assert len(printed["types"]) == len(printed["classes"])
    assert (
        "| `patience` | `3.0` | a finite number greater than 0 | all | How long it waits. |\n"
        in printed["reference"]
    )


TYPED = """
from typing import Any
import hinge
import hinge.river
hinge.PAClassifier(0.5, step="pa2", classes=["a", "b"], random_state=3)
hinge.TextClassifier(analyzer="char", ngram_range=(1, 2))
hinge.PAStructured(lambda x, y: {}, lambda w, x: 0, lambda y, z: 0.0, C=0.5)
hinge.Learner("classification", w1={"a": 1.0})
options: dict[str, Any] = {}
hinge.PARegressor(**options)
hinge.PAClassifier(C="x")  # bad
hinge.PAClassifier(c=1)  # bad
hinge.PAClassifier(step=3)  # bad
hinge.PARegressor(margin=1.0)  # bad
hinge.PAStructured(lambda x, y: {})  # bad
hinge.Learner("classification", max_iter=3)  # bad
hinge.river.PAMultilabel(threshold=None)  # bad
"""


def test_type_checkers_know_the_options(tmp_path):
    pytest.importorskip("mypy")
    file = tmp_path / "typed.py"
    file.write_text(TYPED)
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file",
        str(ROOT / "pyproject.toml"),
        str(file),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=ROOT)
    found = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error: " in line}
    expected = {number for number, line in enumerate(TYPED.split("\n"), 1) if line.endswith("# bad")}
    assert found == expected, done.stdout + done.stderr


# ---- constructors ---------------------------------------------------------------------------------------------------


def test_arguments_are_bound_as_in_any_constructor():
    assert hinge.PAClassifier(0.5).C == hinge.PAClassifier(C=0.5).C == 0.5
    with pytest.raises(TypeError, match="too many positional arguments"):
        hinge.PAClassifier(0.5, "pa2")
    with pytest.raises(TypeError, match="multiple values for argument 'C'"):
        hinge.PAClassifier(0.5, C=0.5)
    with pytest.raises(TypeError, match="missing a required argument: 'argmax'"):
        hinge.PAStructured(len)
    model = hinge.PAStructured(len, max, cost=min, loss_augmented_argmax=None)
    assert (model.joint_features, model.argmax, model.cost, model.loss_augmented_argmax) == (
        len,
        max,
        min,
        None,
    )


class Doubled(hinge.PAClassifier):
    """A user's subclass, with another option."""

    def __init__(self, C=1.0, *, factor=2.0, step="pa1"):
        super().__init__(C, step=step)
        self.factor = factor


class Renamed(hinge.PAClassifier):
    """A user's subclass without a constructor."""


@pytest.mark.parametrize(("cls", "options"), [(Doubled, {"factor": 3.0}), (Renamed, {"average": True})])
def test_user_defined_subclasses_are_estimators(cls, options):
    model = cls(C=0.5, **options)
    assert model.get_params() == {**cls().get_params(), "C": 0.5, **options}
    assert clone(model).get_params() == model.get_params()
    X, y = np.eye(4), [0, 1, 0, 1]
    expected = hinge.PAClassifier(
        C=0.5, **{k: v for k, v in options.items() if k != "factor"}, random_state=0
    )
    assert model.fit(X, y).predict(X).tolist() == expected.fit(X, y).predict(X).tolist()
    assert pickle.loads(pickle.dumps(model)).get_params() == model.get_params()
    with pytest.raises(ValueError, match="C must be"):
        model.set_params(C=-1.0).fit(X, y)
    with pytest.raises(TypeError, match=f"{cls.__name__} has no option 'loss'"):
        cls(loss="hinge")
    with pytest.raises(ValueError, match="has no option 'loss'"):
        model.set_params(loss="hinge")


# ---- checks ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def checked(monkeypatch):
    """The tasks whose options were checked."""
    found, check = [], table.check

    def counted(task, *arguments):
        found.append(task)
        check(task, *arguments)

    monkeypatch.setattr(table, "check", counted)
    return found


def beginnings():
    for case in ESTIMATORS:
        yield pytest.param(case, case.fit, id=f"{case}-fit")
        yield pytest.param(case, case.start, id=f"{case}-partial_fit")
        for name in ("learn_one", "learn_many"):
            yield pytest.param(
                case,
                lambda model, case=case, name=name: case.teach[name](model, slice(0, 9)),
                id=f"{case}-{name}",
            )
        if case not in (STRUCTURED, TEXT):  # which have no learner to predict with
            yield pytest.param(case, case.ask["predict_one"], id=f"{case}-predict_one")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("case", "begin"), list(beginnings()))
def test_the_first_example_checks_the_options_once(case: Case, begin, checked):
    model = case.new()
    assert checked == []
    begin(model)
    assert checked == [model._task]


@pytest.mark.parametrize("case", EVERY[len(ESTIMATORS) :], ids=repr)
def test_river_checks_its_options_in_the_constructor(case: Case, checked):
    model = case.new()
    assert len(checked) == 1
    case.teach["learn_one"](model, slice(0, 9))
    assert len(checked) == 1


def test_learners_check_their_options_once(checked):
    hinge.Learner("classification")
    SequenceLearner()
    assert checked == ["classification", "sequence"]


def test_replaced_options_are_checked():
    with pytest.raises(ValueError, match="classes must be None or two or more different labels"):
        hinge.PASequence().partial_fit([[["w"]]], [["a"]], classes=["a"])
