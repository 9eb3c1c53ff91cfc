"""The package: what an import loads, what it offers, and one table of parameters for all constructors."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
from sklearn.base import clone

import hinge
import hinge.river
from estimator_cases import OTHER
from hinge.options import table
from hinge.options.constructors import describe, filled
from hinge.tasks import learner_tasks

HEAVY = ("sklearn", "scipy", "pandas", "matplotlib", "river", "pyarrow", "typer", "rich")


def loaded_by(code, modules):
    """Which of the modules are loaded after the code has run in a fresh interpreter."""
    code = f"import sys\n{code}\nprint(*[m for m in {modules!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.split()


def test_import_is_light():
    assert loaded_by("import hinge", (*HEAVY, "numpy", "safetensors", "hinge._core")) == []


def test_a_learner_needs_no_scikit_learn():
    code = """
import tempfile, hinge, numpy
m = hinge.Learner("classification")
m.learn(numpy.eye(1), ["y"])
m.learn_one({"a": 1.0}, "x")
m.predict_one({"a": 1.0}), m.explain_one({"a": 1.0})
with tempfile.TemporaryDirectory() as folder:
    m.save(folder + "/m")
    hinge.load(folder + "/m").statistics
"""
    assert loaded_by(code, HEAVY) == []


def test_the_bounds_need_no_scikit_learn():
    assert loaded_by("import hinge.theory", HEAVY) == []


def test_all_is_what_can_be_imported():
    assert len(set(hinge.__all__)) == len(hinge.__all__)
    for name in hinge.__all__:
        assert getattr(hinge, name) is not None
        assert name in dir(hinge)
    exec("from hinge import *", space := {})
    assert set(hinge.__all__) <= set(space)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        hinge.nothing  # noqa: B018
    public = {n for n in dir(hinge) if not n.startswith("_") and not inspect.ismodule(getattr(hinge, n))}
    assert public - {"annotations", "Any", "TYPE_CHECKING"} == set(hinge.__all__) - {"__version__", "theory"}


_RIVER = """
    C step fit_intercept intercept_value scaling average hash_bits max_features at_max_features max_weights
    dtype geometry kernel degree gamma coef0 budget removal max_cache covariance_regularizer initial_variance
    covariance_update max_covariance scale signed entropy_step
"""
RIVER = _RIVER.split()
ONE_LEARNER = [name for name in table.PARAMETERS if name != "experts"]
CONSTRUCTORS = [
    (hinge.Learner, None, table.OF_LEARNER),
    (hinge.PAClassifier, "classification", ONE_LEARNER),
    (hinge.PARegressor, "regression", ONE_LEARNER),
    (hinge.PAOneClass, "uniclass", ONE_LEARNER),
    (hinge.PAMultilabel, "multilabel", ONE_LEARNER),
    (hinge.PAOrdinal, "ordinal", ONE_LEARNER),
    (hinge.PASequence, "sequence", ONE_LEARNER),
    (
        hinge.river.PAClassifier,
        "classification",
        [*RIVER, "margin", "selection", "beta", "cost", "max_labels", "eta"],
    ),
    (hinge.river.PARegressor, "regression", [*RIVER, "epsilon"]),
    (
        hinge.river.PAMultilabel,
        "multilabel",
        [*RIVER, "margin", "selection", "beta", "threshold", "max_labels", "eta"],
    ),
]
OTHER_DEFAULTS = {
    **{
        (cls, name): "auto"
        for cls in (hinge.PAClassifier, hinge.PARegressor, hinge.PAMultilabel, hinge.PAOrdinal)
        for name in ("average", "scaling")
    },
    (hinge.PAMultilabel, "threshold"): "auto",
    (hinge.PAOrdinal, "selection"): "simproj",
    (hinge.PASequence, "selection"): "prediction",
    (hinge.PASequence, "average"): True,
    (hinge.PASequence, "max_iter"): 10,
    (hinge.PASequence, "tol"): None,
    **{(cls, "step"): None for cls in (hinge.Learner, hinge.PARegressor, hinge.river.PARegressor)},
}
TASKS = [task for task in learner_tasks() if task != "prototype"]  # PARanker has no Learner
constructors = pytest.mark.parametrize(
    ("cls", "task", "names"), CONSTRUCTORS, ids=lambda v: getattr(v, "__name__", "")
)


@constructors
def test_constructors_agree_with_the_table(cls, task, names):
    signature = inspect.signature(cls).parameters
    expected = set(names) if task is None else set(table.names_for(task, names))
    assert set(signature) - {"task"} == expected
    for name in expected:
        default = OTHER_DEFAULTS.get((cls, name), table.PARAMETERS[name].default)
        assert signature[name].default == default, name
        assert signature[name].annotation is not inspect.Parameter.empty, name


@constructors
def test_documentation_names_each_parameter(cls, task, names):
    lines = inspect.getdoc(cls).splitlines()  # without the indentation that Python 3.13 removes already
    for name in table.names_for(task, names) if task else ():
        default = inspect.signature(cls).parameters[name].default
        place = lines.index(f"{name} : {table.PARAMETERS[name].allowed}, default={default!r}")
        assert lines[place + 1] == f"    {table.PARAMETERS[name].help}"


@pytest.mark.parametrize(
    "indent", ["", "    "]
)  # what the compiler leaves in a docstring: since Python 3.13, before
def test_parameters_are_indented_as_their_place_in_the_docstring(indent):
    docstring = f"One.\n\n{indent}Before\n{indent}{{parameters}}\n{indent}After"
    rows = {name: table.PARAMETERS[name] for name in ("C", "epsilon")}
    lines = filled(docstring, rows).split("\n")
    assert [lines[2], lines[-1]] == [f"{indent}Before", f"{indent}After"]
    assert lines[3:5] == [f"{indent}*The step*", ""]
    assert lines[5].startswith(f"{indent}C : ")
    assert lines[6] == f"{indent}    {table.PARAMETERS['C'].help}"
    assert lines[7].startswith(f"{indent}epsilon : ")


def test_every_parameter_is_whole():
    for name, parameter in table.PARAMETERS.items():
        assert parameter.name == name
        assert parameter.accepts(parameter.default), name
        assert parameter.help.endswith("."), name
        assert set(parameter.tasks) <= set(table.ALL_TASKS), name
        heading, blank, line, text = describe({name: parameter})
        assert heading.strip("*").lower() in table.GROUPS
        assert (blank, text) == ("", f"    {parameter.help}")
        assert line.startswith(f"{name} : ")
    assert set(table.OF_LEARNER) <= set(table.PARAMETERS)


# Values other than the defaults that go together.
TOGETHER = {
    **OTHER,
    "C": 0.25,
    "selection": "prediction",
    "cost": {"x": {"y": 2.0}, "y": {"x": 3.0}},
    "nu": None,
    "kernel": None,
    "budget": None,
    "class_weight": {"x": 2.0},
    "batch_tolerance": None,
    "w1": None,
    "experts": None,
}
TOGETHER_OF = {
    "multilabel": {"selection": "conproj", "cost": None, "nu": [{"x": {"y": 2.0}}, {"y": {"x": 0.5}}]},
    "ordinal": {"selection": "conproj", "cost": None, "nu": [2.0]},
    "uniclass": {
        "selection": "max",
        "cost": None,
        "max_radius": None,
        "geometry": "entropy",
        "step": "pa",
        "scaling": None,
    },
    "structured": {"scaling": None},
}


def together(task):
    return {**TOGETHER, **TOGETHER_OF.get(task, {})}


@pytest.mark.parametrize(
    "cls", [hinge.PAClassifier, hinge.PARegressor, hinge.PAOneClass, hinge.PAMultilabel, hinge.PAOrdinal]
)
def test_parameters_go_in_and_come_out(cls):
    others = together(cls._task)
    given = {name: others[name] for name in inspect.signature(cls).parameters}
    model = cls(**given)
    assert model.get_params() == given
    assert clone(model).get_params() == given
    assert cls().set_params(**given).get_params() == given
    assert cls(**model.get_params()).get_params() == given


@pytest.mark.parametrize("task", TASKS)
def test_a_learner_keeps_its_parameters(task):
    others = together(task)
    given = {name: others[name] for name in table.OF_LEARNER}
    learner = hinge.Learner(task, **given)
    assert learner.parameters == given
    again = hinge.Learner.from_bytes(learner.to_bytes())
    assert again.parameters == given
    assert repr(again) == repr(learner)
    assert "C=0.25" in repr(learner)
    assert eval(repr(learner), {"Learner": hinge.Learner}).parameters == given
    assert len(repr(hinge.Learner("classification", classes=list(range(5000))))) < 100


@pytest.mark.parametrize("task", ["classification", "regression", "uniclass", "ordinal"])
@pytest.mark.parametrize("w1", [[1.0, 2.0], (1.0, 2.0), np.array([1.0, 2.0]), {"a": 1.0, "b": 2.0}])
def test_a_start_vector_is_kept(task, w1):
    more = {"classes": ["a", "b"]} if task in ("classification", "ordinal") else {}
    learner = hinge.Learner(task, w1=w1, **more)
    assert learner.weights.tolist() == [1.0, 2.0]
    again = hinge.Learner.from_bytes(learner.to_bytes())
    assert again.weights.tolist() == [1.0, 2.0]
    assert again.to_bytes() == learner.to_bytes()


@pytest.mark.parametrize("task", ["classification", "multilabel"])
@pytest.mark.parametrize("as_given", [list, tuple, np.array])
@pytest.mark.parametrize("options", [{}, {"selection": "mira", "beta": 0}, {"dtype": "float32"}], ids=str)
def test_a_start_matrix_is_kept(task, as_given, options):
    """A row for each label; the intercepts and a learned threshold begin at 0."""
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.5]]
    learner = hinge.Learner(task, w1=as_given(rows), classes=["a", "b", "c"], **options)
    assert learner.weights.tolist() == rows
    assert learner.score_one({0: 1.0, 1: -1.0}) == {"a": -1.0, "b": -1.0, "c": -1.5}
    if task == "multilabel":
        assert learner.predict_one({0: 1.0}) == {"a", "b", "c"}
    again = hinge.Learner.from_bytes(learner.to_bytes())
    assert again.to_bytes() == learner.to_bytes()
    assert again.weights.tolist() == rows
    for model in (learner, again):
        model.learn_one({0: 1.0, 1: 1.0}, ["a"] if task == "multilabel" else "a")
    assert again.to_bytes() == learner.to_bytes()
    assert learner.statistics.updates == 1


def test_changing_the_rule():
    learner = hinge.Learner("classification", C=1.0)
    learner.learn_one({"a": 1.0}, "x")
    learner.change(C=0.01, step="pa2", margin=2.0)
    fresh = hinge.Learner("classification", C=1.0)
    fresh.learn_one({"a": 1.0}, "x")
    assert fresh.weights == learner.weights
    before = learner.to_bytes()
    for bad in ({"C": -1}, {"step": "pa3"}, {"average": True}, {"margin": 0.0}):
        with pytest.raises(ValueError, match=f"^{next(iter(bad))}"):
            learner.change(**bad)
        assert learner.to_bytes() == before
    assert hinge.Learner.from_bytes(before).parameters["C"] == 0.01
