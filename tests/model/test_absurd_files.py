"""Files whose checksum is right and that say something absurd are rejected, or are models that work."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import numpy as np
import pytest

import hinge
from absurd_changes import changes
from hinge import ModelFileError, PASequence
from hinge.structured.sequence_learner import SequenceLearner
from model_files import (
    ESTIMATORS,
    EVENTS,
    LEARNERS,
    TRUTHS,
    WITH_KERNELS,
    changed,
    check_rejected,
    check_use,
    each_of,
    header_with,
    header_without,
    labels,
    learner_case,
    parameter,
    put,
    sequence_case,
    tensor,
    text,
)


@each_of(LEARNERS)
def test_absurd_file_is_rejected(case, tmp_path):
    model = case.make()
    for what, change in itertools.chain(*(table.items() for table in changes(case))):
        try:
            check_rejected(changed(model, change), tmp_path, type(model))
        except BaseException as error:
            error.add_note(what)
            raise


KINDS = {
    "an unknown kind": header_with("kind", value="os.system"),
    "a kind in a list": header_with("kind", value=["Learner"]),
    "another kind": header_with("kind", value="PAClassifier"),
    "no kind": header_without("kind"),
}


@pytest.mark.parametrize("what", KINDS)
@each_of([LEARNERS[0], sequence_case("diagonal")])
def test_file_of_an_unknown_kind_is_rejected(case, what, tmp_path):
    check_rejected(changed(case.make(), KINDS[what]), tmp_path, cls=None)


ESTIMATOR = {
    "no learner": header_without("learner"),
    "a learner that is a number": header_with("learner", value=5),
    "a learner of another kind": header_with("learner", value={"kind": "Learner", "task": "perceptron"}),
    "no attributes": header_without("attributes"),
    "attributes in a list": header_with("attributes", value=[1]),
    "no parameters": header_without("parameters"),
    "null instead of parameters": header_with("parameters", value=None),
    "an unknown parameter": parameter("evil", 1),
    "an invalid seed": parameter("random_state", {"RandomState": [1, 2]}),
    "a weight of NaN": put("v", 0, np.nan),
}


@each_of(ESTIMATORS)
def test_absurd_estimator_is_rejected(case, tmp_path):
    model = case.make()
    table = dict(ESTIMATOR)
    if not isinstance(model, PASequence):
        table["an unknown task"] = header_with("learner", "task", value="x")
        table["an invalid report"] = header_with("batch_report", value={"evil": 1})
    for name in ("predict", "_fixed", "get_params"):
        table[f"the attribute {name}"] = header_with("attributes", name, value="nonsense")
    for what, change in table.items():
        (tmp_path / "a-model").write_bytes(changed(model, change))
        name = what.removeprefix("the attribute ")
        match = "a-model" if name == what else f"'{name}' is not an attribute of a {type(model).__name__}"
        for load in (hinge.load, *[PASequence.load] * isinstance(model, PASequence)):
            try:
                with pytest.raises(ModelFileError, match=match):
                    load(tmp_path / "a-model")
            except BaseException as error:
                error.add_note(what)
                raise


def test_model_of_another_class_is_rejected(tmp_path):
    learner, sequences = LEARNERS[0].make(), sequence_case("diagonal").make()
    for cls, model in ((SequenceLearner, learner), (hinge.Learner, sequences)):
        with pytest.raises(ModelFileError):
            cls.from_bytes(model.to_bytes())
    hinge.PARegressor().fit(np.eye(3), np.arange(3.0)).save(tmp_path / "other")
    with pytest.raises(ModelFileError, match="it is a PARegressor"):
        PASequence.load(tmp_path / "other")
    sequences.save(tmp_path / "learner")
    with pytest.raises(ModelFileError, match="it is a SequenceLearner"):
        PASequence.load(tmp_path / "learner")
    assert isinstance(hinge.load(tmp_path / "learner"), SequenceLearner)


# ---- simplexes and supports ----------------------------------------------------------------------------------------


def test_mass_of_another_scale_or_without_signs_is_rejected(tmp_path):
    """The mass of exponents without signs is another one; a larger scale makes all weights that much larger."""
    model = hinge.Learner("regression", geometry="entropy", average=True)
    model.learn_many(EVENTS[:3], TRUTHS["regression"][:3])
    check_rejected(changed(model, parameter("signed", False)), tmp_path)
    check_rejected(changed(model, parameter("scale", 20.0)), tmp_path)

    def rescale(header, tensors):
        header["parameters"]["scale"] = 20.0
        settings = {**json.loads(tensors["settings"].tobytes()), "scale": 20.0}
        text("settings", settings)(header, tensors)

    larger = hinge.Learner.from_bytes(changed(model, rescale))
    np.testing.assert_allclose(larger.last_weights, 2 * model.last_weights)


def test_weights_are_not_supports(tmp_path):
    plain = hinge.Learner("regression")
    plain.learn_many(EVENTS, TRUTHS["regression"])
    check_rejected(changed(plain, parameter("kernel", "linear")), tmp_path)
    model = learner_case(*WITH_KERNELS[3]).make()
    assert not any(name.startswith(("support_products", "support_truth")) for name in model.to_parts()[1])
    budget = lambda header, tensors: header["parameters"].update(budget=8, average=False)  # noqa: E731
    check_rejected(changed(model, budget), tmp_path)


def test_model_keeps_columns_without_values(tmp_path):
    """Also if it has no supports at all."""
    for count in (0, 3):
        model = hinge.Learner("regression", kernel="rbf", gamma=1.0, budget=2)
        X = np.pad(np.random.default_rng(0).normal(size=(3, 2)), ((0, 0), (1, 4)))
        model.learn(X[:count] if count else X, np.ones(3) * count)
        model.save(tmp_path / "model")
        again = hinge.load(tmp_path / "model")
        assert again.n_features == 7
        np.testing.assert_array_equal(again.scores(X), model.scores(X))
        assert again.support_vectors.shape[1] == 7


# ---- sequences -----------------------------------------------------------------------------------------------------


@each_of([case for case in LEARNERS if case.is_sequence])
def test_huge_weights_of_tags_are_rejected_or_work(case):
    """All weights at once: any score may overflow."""
    model = case.make()
    largest = np.finfo(case.options.get("dtype", "float64")).max
    for share in (-1.0, -0.25, 0.0, 0.25, 1.0):
        for name in {"v", "u"} & model.to_parts()[1].keys():
            change = tensor(name, lambda a, value=share * largest: np.full_like(a, value))
            check_use(SequenceLearner.from_bytes(changed(model, change)), case)


def test_more_tags_than_there_is_memory_for_are_rejected(tmp_path):
    """A small file that asks for 2^30 columns and 6000 tags: more than an address space."""

    def change(header, tensors):
        header["parameters"].update(hash_bits=30, max_features=2**31)
        labels([f"L{k}" for k in range(6000)])(header, tensors)

    check_rejected(changed(sequence_case("hashed").make(), change), tmp_path, SequenceLearner)


START = """
import numpy as np
from hinge.model import file
from hinge.structured.sequence_learner import SequenceLearner
def again(learner, change):
    header, tensors = learner.to_parts()
    change(header, tensors)
    return SequenceLearner.from_bytes(file.to_bytes(header, tensors))
"""
OVERFLOW = """
model = SequenceLearner(selection="max", average=False, step="pa", classes=["A", "B"], cost=[[0, 9], [9, 0]])
model.learn_many([[["a"], ["b"]]] * 2, [["A", "B"], ["B", "A"]])
learner = again(model, lambda header, tensors: tensors.update(v=np.full(len(tensors["v"]), -1e308)))
for tags in (["A", "B"], ["B", "B"], ["B", "A"]):
    try:
        learner.learn_one([["a"]] * 300, tags * 150)
    except ValueError as error:
        assert "overflow" in str(error)
"""
OPEN = """
model = SequenceLearner(classes=["A", "B"], cost=[[0, 1], [1, 0]], average=False)
model.learn_one([["a"], ["b"]], ["A", "B"])
try:
    again(model, lambda header, tensors: header.update(closed=False)).learn_one([["a"]], ["new"])
except ValueError as error:
    assert "the tag 'new' is not one of the classes" in str(error), error
else:
    raise AssertionError("a tag that has no costs was learned")
"""


@pytest.mark.parametrize(
    "program", [OVERFLOW, OPEN], ids=["scores that overflow", "a cost matrix of open tags"]
)
def test_absurd_sequence_model_does_not_crash_the_process(program):
    command = [sys.executable, "-c", START + program]
    done = subprocess.run(command, timeout=120, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2000:]
