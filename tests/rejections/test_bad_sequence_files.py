"""Files of sequence models that are none: always a ModelFileError, or a model that works; never a crash."""

from __future__ import annotations

import copy
import subprocess
import sys

import numpy as np
import pytest

import hinge
from hinge import ModelFileError, PASequence
from hinge.model import file
from hinge.structured.sequence_learner import SequenceLearner
from model_files import header_with, header_without, labels, leaves, names, of_version, put, tensor

X = [[["a"], ["b"], ["a", "c"]], [{"b": 2.0, "d": -1.5}], [["c"], ["a"]]]
Y = [["A", "B", "C"], ["B"], ["C", "A"]]
WHOLE = {"A": {"B": 1.0, "C": 2.0}, "B": {"A": 3.0, "C": 1.0}, "C": {"A": 1.0, "B": 1.0}}
KINDS = {
    "plain": {"average": False},
    "average": {"average": True, "dtype": "float32"},
    "diagonal": {"average": True, "geometry": "diagonal"},
    "max": {"average": False, "selection": "max", "cost": WHOLE},
    "matrix": {"cost": [[0, 1, 2], [1, 0, 1], [1, 1, 0]], "classes": ["A", "B", "C"]},
    "hashed": {"average": True, "hash_bits": 5, "geometry": "diagonal", "covariance_update": "drop"},
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def small(kind="diagonal", **options):
    model = PASequence(**{"step": "pa", **KINDS[kind], **options})
    model.learn_many(X * 2, Y * 2)
    assert model.stats_.updates > 1
    return model


def changed(model, change):
    """The bytes of a learner whose header or tensors are others, with the right checksum."""
    learner = getattr(model, "_learner", model)
    header, tensors = learner.to_parts()
    header, tensors = copy.deepcopy(header), dict(tensors)
    change(header, tensors)
    return file.to_bytes(header, tensors)


def refused(data, tmp_path, match=None):
    with pytest.raises(ModelFileError, match=match):
        SequenceLearner.from_bytes(data)
    (tmp_path / "a-model").write_bytes(data)
    with pytest.raises(ModelFileError, match="a-model"):
        hinge.load(tmp_path / "a-model")


def use(learner):
    """A model that was read can be asked and learns on, or refuses to; and a refusal leaves no trace."""
    before = learner.to_bytes()
    tags = learner.labels.known
    for call in (
        lambda: learner.predict_many(X),
        lambda: learner.score_one(X[0], [tags[0]] * 3),
        lambda: learner.explain_one(X[0]),
        lambda: learner.emissions() and learner.transitions(),
        lambda: learner.predict_one([["a"]] * 50),
    ):
        try:
            call()
        except ValueError as error:
            assert "overflow" in str(error) or "too large" in str(error)  # noqa: PT017
        assert learner.to_bytes() == before
    for x, y in ((X[0], tags[-1:] * 3), (X[0][:1] * 30, tags[-1:] * 30), (X[1], tags[:1])):
        try:
            learner.learn_one(x, y)
        except ValueError as error:
            words = ("overflow", "large", "small", "infinity")
            assert any(word in str(error) for word in words), error  # noqa: PT017
            assert learner.to_bytes() == before
        before = learner.to_bytes()


# ---- bytes ----------------------------------------------------------------------------------------------------


@every_kind
def test_every_flip_of_a_bit_is_found(kind):
    data = small(kind)._learner.to_bytes()
    for place in range(0, len(data), 5):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ModelFileError):
            SequenceLearner.from_bytes(bytes(flipped))


def test_every_truncation_is_found():
    data = small()._learner.to_bytes()
    for length in range(0, len(data), 3):
        with pytest.raises(ModelFileError):
            SequenceLearner.from_bytes(data[:length])


def test_models_of_another_kind(tmp_path):
    """Whatever is read as what it is not."""
    learner = hinge.Learner("classification", classes=["a", "b"])
    learner.learn_one({"x": 1.0}, "a")
    with pytest.raises(ModelFileError):
        SequenceLearner.from_bytes(learner.to_bytes())
    with pytest.raises(ModelFileError):
        hinge.Learner.from_bytes(small()._learner.to_bytes())
    hinge.PARegressor().fit(np.eye(3), np.arange(3.0)).save(tmp_path / "other")
    with pytest.raises(ModelFileError, match="it is a PARegressor"):
        PASequence.load(tmp_path / "other")
    small()._learner.save(tmp_path / "learner")
    with pytest.raises(ModelFileError, match="it is a SequenceLearner"):
        PASequence.load(tmp_path / "learner")
    assert isinstance(hinge.load(tmp_path / "learner"), SequenceLearner)


# ---- tensors --------------------------------------------------------------------------------------------------

TENSORS = {
    "no places": lambda header, tensors: tensors.pop("places"),
    "no weights": lambda header, tensors: tensors.pop("v"),
    "no sums": lambda header, tensors: tensors.pop("u"),
    "no covariance": lambda header, tensors: tensors.pop("t"),
    "no loss": lambda header, tensors: tensors.pop("loss"),
    "no rounds": lambda header, tensors: tensors.pop("rounds"),
    "no names": lambda header, tensors: tensors.pop("names"),
    "a negative place": put("places", 0, -1),
    "a place of -2^63": put("places", 0, -(2**63)),
    "a place beyond the weights": put("places", -1, 10_000),
    "a place of 2^62": put("places", -1, 2**62),
    "a place of 2^63 - 1": put("places", -1, 2**63 - 1),
    "the same place twice": tensor("places", lambda a: np.r_[a[:1], a[:-1]]),
    "places that descend": tensor("places", lambda a: a[::-1].copy()),
    "two places changed": tensor("places", lambda a: np.r_[a[1], a[0], a[2:]]),
    "too few places": tensor("places", lambda a: a[:-1]),
    "too many places": tensor("places", lambda a: np.r_[a, a[-1] + 1]),
    "places in two dimensions": tensor("places", lambda a: a[None]),
    "a weight of NaN": put("v", 0, np.nan),
    "an infinite weight": put("v", -1, np.inf),
    "an infinite negative weight": put("v", -1, -np.inf),
    "fewer weights": tensor("v", lambda a: a[:-1]),
    "more weights": tensor("v", lambda a: np.r_[a, a[:1]]),
    "no weight at all": tensor("v", lambda a: a[:0]),
    "weights in two dimensions": tensor("v", lambda a: a[None]),
    "weights of another type": tensor("v", lambda a: a.astype(np.float32 if a.dtype == np.float64 else np.float64)),
    "whole weights": tensor("v", lambda a: a.astype(np.int64)),
    "halves of weights": tensor("v", lambda a: a.astype(np.float16)),
    "a sum too many": tensor("u", lambda a: np.r_[a, 0.5]),
    "sums in single": tensor("u", lambda a: np.ones(len(a), dtype=np.float32)),
    "a covariance too many": tensor("t", lambda a: np.r_[a, 0.5]),
    "whole covariances": tensor("t", lambda a: np.ones(len(a), dtype=np.int64)),
    "a vector of losses": tensor("loss", lambda a: a[None]),
    "two losses": tensor("loss", lambda a: np.r_[a, 1.0]),
    "a loss of NaN": put("loss", (), np.nan),
    "a loss in single": tensor("loss", lambda a: a.astype(np.float32)),
    "an infinite bound": put("weight_bound", (), np.inf),
    "an infinite loss": put("loss", (), np.inf),
    "an infinite cost": put("cost", (), np.inf),
    "a vector of rounds": tensor("rounds", lambda a: a[None]),
    "two numbers of rounds": tensor("rounds", lambda a: np.r_[a, 1]),
    "negative updates": put("updates", (), -1000),
    "negative rounds": put("rounds", (), -1),
    "rounds that overflow": put("rounds", (), 2**63 - 1),
    "real rounds": tensor("rounds", lambda a: a.astype(float)),
    "short rounds": tensor("rounds", lambda a: a.astype(np.int32)),
    "names that are no list": names({"a": 1}),
    "names that are nothing": names(None),
    "names of text": names("abcde"),
    "names that are no names": names([1.5, None, [], "a", "b"]),
    "names that are no json": tensor("names", lambda a: a[:-1]),
    "names that are no text": lambda header, tensors: tensors.update(names=np.full(9, 255, dtype=np.uint8)),
    "names of reals": lambda header, tensors: tensors.update(names=np.full(5, 1e300)),
}  # fmt: skip
AVERAGED = {
    "a sum of NaN": put("u", 0, np.nan),
    "an infinite sum": put("u", 0, np.inf),
    "no sum at all": tensor("u", lambda a: a[:0]),
    "a sum too few": tensor("u", lambda a: a[:-1]),
    "a weight of the average of NaN": put("alpha", (), np.nan),
}
SHAPED = {
    "a covariance of NaN": put("t", 0, np.nan),
    "an infinite covariance": put("t", 0, np.inf),
    "a negative covariance": put("t", 0, -0.5),
    "a tiny negative covariance": put("t", 1, -5e-324),
    "all that was added is negative": put("added", (), -1.0),
    "nothing was added": put("added", (), 0.0),
    "too much was added": put("added", (), 1e200),
    "a covariance beyond all": put("t", 0, 1e200),
    "no covariance at all": tensor("t", lambda a: a[:0]),
    "a covariance too few": tensor("t", lambda a: a[:-1]),
}
NAMED = {
    "the same name twice": names(["a", "a", "b", "c", "d"]),
    "the same number twice": names([1, True, "b", "c", "d"]),
    "fewer names than weights": names(["a"]),
    "no name": names([]),
}


def tensors_of_kinds():
    for kind, options in KINDS.items():
        table = dict(TENSORS)
        if options.get("average", True):
            table |= AVERAGED
        if "geometry" in options:
            table |= SHAPED
        if "hash_bits" not in options:
            table |= NAMED
        else:
            table["hashed columns with names"] = names(["a", "b"])
        for what, change in table.items():
            yield pytest.param(kind, change, id=f"{kind}-{what}")


@pytest.mark.parametrize(("kind", "change"), list(tensors_of_kinds()))
def test_tensors_that_are_none(kind, change, tmp_path):
    refused(changed(small(kind), change), tmp_path)


@pytest.mark.parametrize("dtype", [np.float64, np.int32, np.uint8])
def test_places_of_another_type(dtype, tmp_path):
    refused(changed(small(), tensor("places", lambda a: a.astype(dtype))), tmp_path)


# ---- the header -----------------------------------------------------------------------------------------------

HEADERS = {
    "no parameters": header_without("parameters"),
    "parameters in a list": header_with("parameters", value=[1, 2]),
    "a parameter too many": header_with("parameters", "evil", value=1),
    "a parameter of another task": header_with("parameters", "epsilon", value=0.1),
    "a step that is none": header_with("parameters", "step", value="jump"),
    "no C": header_with("parameters", "C", value=0.0),
    "a C of NaN": header_with("parameters", "C", value=float("nan")),
    "a margin of text": header_with("parameters", "margin", value="wide"),
    "an infinite margin": header_with("parameters", "margin", value=float("inf")),
    "an unknown selection": header_with("parameters", "selection", value="best"),
    "a geometry that is none": header_with("parameters", "geometry", value="entropy"),
    "a variance beyond all": header_with("parameters", "initial_variance", value=1e300),
    "another dtype": lambda header, tensors: header["parameters"].update(
        dtype="float32" if header["parameters"]["dtype"] == "float64" else "float64"
    ),
    "a dtype that is none": header_with("parameters", "dtype", value="complex64"),
    "an average of text": header_with("parameters", "average", value="yes"),
    "an average from 0": header_with("parameters", "average", value=0),
    "fewer tags than weights": labels(["A"]),
    "no tags": labels([]),
    "the same tag twice": labels(["A", "B", "A"]),
    "tags that are equal": labels(["A", 1, True]),
    "tags in lists": labels([["A"], ["B"], ["C"]]),
    "tags that are none": labels([None, "B", "C"]),
    "a tag of NaN": labels([float("nan"), "B", "C"]),
    "tags not in a list": labels(5),
    "no tags in the header": lambda header, tensors: tensors.pop("labels"),
    "more tags than the limit": header_with("parameters", "max_labels", value=2),
    "a limit of tags that is none": header_with("parameters", "max_labels", value=0),
    "bits that are none": header_with("parameters", "hash_bits", value=99),
    "bits beyond the features": header_with("parameters", "hash_bits", value=30),
    "a limit of features that is none": header_with("parameters", "max_features", value=-1),
    "a cost of text": header_with("parameters", "cost", value="os.system"),
    "a negative cost": header_with("parameters", "cost", value={"array": [[0, -1], [1, 0]], "dtype": "<f8"}),
    "a cost for fewer tags": header_with(
        "parameters", "cost", value={"array": [[0, 1], [1, 0]], "dtype": "<f8"}
    ),
    "a cost for other tags": header_with(
        "parameters", "cost", value={"dict": [["X", {"dict": [["Y", 1.0]]}]]}
    ),
    "an array of objects": header_with("parameters", "classes", value={"array": [[1], [2]], "dtype": "|O"}),
    "an array of nothing": header_with("parameters", "classes", value={"array": 7, "dtype": "what"}),
    "its cost is a function": header_with("parameters", "cost", value={"function": "cost"}),
    "its cost is a function of another option": header_with(
        "parameters", "cost", value={"function": "kernel"}
    ),
    "whether it is closed is not said": header_without("closed"),
}
OF_KINDS = {
    "plain": {
        "an average": header_with("parameters", "average", value=True),
        "a diagonal": header_with("parameters", "geometry", value="diagonal"),
        "fewer features": header_with("parameters", "max_features", value=2),
        "hashed": header_with("parameters", "hash_bits", value=4),
    },
    "diagonal": {
        "no average": header_with("parameters", "average", value=False),
        "no diagonal": header_with("parameters", "geometry", value="euclidean"),
        "fewer features": header_with("parameters", "max_features", value=2),
    },
    "hashed": {
        "not hashed": header_with("parameters", "hash_bits", value=None),
        "fewer bits": header_with("parameters", "hash_bits", value=1),
    },
    "max": {"parts of costs": header_with("parameters", "cost", value={"dict": [["A", {"dict": [["B", 0.5]]}]]})},
    "average": {},
    "matrix": {},
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        pytest.param(kind, change, id=f"{kind}-{what}")
        for kind in KINDS
        for what, change in {**HEADERS, **OF_KINDS[kind]}.items()
    ],
)
def test_headers_that_are_none(kind, change, tmp_path):
    refused(changed(small(kind), change), tmp_path)


@pytest.mark.parametrize(
    "header", [None, 5, [], "SequenceLearner", {}, {"kind": None}, {"kind": "os.system"}], ids=str
)
def test_headers_that_are_no_dict(header, tmp_path):
    tensors = small()._learner.to_parts()[1]
    refused(file.to_bytes(header, tensors), tmp_path)


ESTIMATORS = {
    "no learner": header_without("learner"),
    "a learner that is a number": header_with("learner", value=5),
    "a learner of another kind": header_with("learner", value={"kind": "Learner", "task": "regression"}),
    "no attributes": header_without("attributes"),
    "attributes in a list": header_with("attributes", value=[1]),
    "no parameters": header_without("parameters"),
    "a parameter too many": header_with("parameters", "evil", value=1),
    "parameters that are nothing": header_with("parameters", value=None),
    "a weight of NaN": put("v", 0, np.nan),
    "a seed that is none": header_with("parameters", "random_state", value={"RandomState": [1, 2]}),
}


def estimator(change):
    model = small()
    header, tensors = model.to_parts()
    header, tensors = copy.deepcopy(header), dict(tensors)
    change(header, tensors)
    return file.to_bytes(header, tensors)


@pytest.mark.parametrize("what", ESTIMATORS)
def test_estimators_that_are_none(what, tmp_path):
    (tmp_path / "a-model").write_bytes(estimator(ESTIMATORS[what]))
    for load in (hinge.load, PASequence.load):
        with pytest.raises(ModelFileError, match="a-model"):
            load(tmp_path / "a-model")


@pytest.mark.parametrize("name", ["predict", "_fixed", "get_params"])
def test_attributes_that_are_none(name, tmp_path):
    (tmp_path / "a-model").write_bytes(estimator(header_with("attributes", name, value="nonsense")))
    for load in (hinge.load, PASequence.load):
        with pytest.raises(ModelFileError, match=f"'{name}' is no attribute of a PASequence"):
            load(tmp_path / "a-model")


def test_names_that_are_nested_too_deeply(tmp_path):
    deep = np.frombuffer(b"[" * 100_000, dtype=np.uint8)
    refused(changed(small(), lambda header, tensors: tensors.update(names=deep)), tmp_path)


def test_more_tags_than_there_is_memory_for(tmp_path):
    """A small file that asks for 2^30 columns and 6000 tags: more than an address space, whatever is promised."""

    def change(header, tensors):
        header["parameters"].update(hash_bits=30, max_features=2**31)
        labels([f"L{k}" for k in range(6000)])(header, tensors)

    refused(changed(small("hashed"), change), tmp_path)


# ---- anything else --------------------------------------------------------------------------------------------


@every_kind
def test_any_other_number_anywhere(kind):
    """Rejected, or a model that can be asked and learns on (or refuses to); never a crash."""
    model = small(kind)
    loaded = 0
    for name, tensor_ in model._learner.to_parts()[1].items():
        if name in ("settings", "names", "labels"):
            continue
        for place in list(np.ndindex(tensor_.shape))[::4]:
            for value in (-1e300, -1e9, -1.0, 0.0, 1e-300, 3.0, 1e15, 1e100, 1.7e308):
                if tensor_.dtype.kind == "i" and abs(value) > 1e15:
                    continue
                with np.errstate(over="ignore"):
                    data = changed(model, put(name, place, value))
                try:
                    again = SequenceLearner.from_bytes(data)
                except ModelFileError:
                    continue
                loaded += 1
                use(again)
    assert loaded > 20


@every_kind
def test_all_numbers_are_others(kind):
    """All weights at once: scores may leave float64 wherever one looks."""
    model = small(kind)
    largest = np.finfo(np.float32 if KINDS[kind].get("dtype") else np.float64).max
    for value in (-1.0, -0.25, 0.0, 0.25, 1.0):
        for name in ("v", "u"):
            again = SequenceLearner.from_bytes(
                changed(model, tensor(name, lambda a, v=value: np.full_like(a, v * largest)))
            )
            use(again)


EXACT = """
import copy, numpy as np
from hinge import PASequence
from hinge.model import file as model_file
from hinge.structured.sequence_learner import SequenceLearner
model = PASequence(selection="max", average=False, step="pa", classes=["A", "B"], cost=[[0, 9], [9, 0]])
model.learn_many([[["a"], ["b"]]] * 2, [["A", "B"], ["B", "A"]])
header, tensors = model._learner.to_parts()
tensors = dict(tensors, v=np.full(len(tensors["v"]), -1e308))
learner = SequenceLearner.from_bytes(model_file.to_bytes(header, tensors))
for tags in (["A", "B"], ["B", "B"], ["B", "A"]):
    try:
        learner.learn_one([["a"]] * 300, tags * 150)
    except ValueError as error:
        assert "overflow" in str(error)
"""


OPEN = """
from hinge import PASequence
from hinge.model import file as model_file
from hinge.structured.sequence_learner import SequenceLearner
model = PASequence(classes=["A", "B"], cost=[[0, 1], [1, 0]], average=False).learn_one([["a"], ["b"]], ["A", "B"])
header, tensors = model._learner.to_parts()
header["closed"] = False
data = model_file.to_bytes(header, tensors)
try:
    SequenceLearner.from_bytes(data).learn_one([["a"]], ["new"])
except ValueError as error:
    assert "the tag 'new' is not one of the classes" in str(error), error
else:
    raise AssertionError("a tag that has no costs was learned")
"""


def works(code):
    """In a process of its own, which may die of it."""
    result = subprocess.run([sys.executable, "-c", code], timeout=120, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr.decode()[-2000:]


def test_an_exact_search_where_nothing_is_finite():
    works(EXACT)


def test_a_matrix_of_costs_that_is_open():
    """Its tags are closed all the same."""
    works(OPEN)


@pytest.mark.parametrize("kind", ["diagonal", "matrix", "hashed"])
def test_any_other_value_in_the_header(kind, tmp_path):
    values = [
        None,
        True,
        0,
        -1,
        2**70,
        1.5,
        float("nan"),
        "",
        "x",
        [],
        [1],
        {},
        "prediction",
        {"dict": [[1, 2]]},
        {"list": [1]},
        {"array": [1.0], "dtype": "<f8"},
    ]
    model, place, loaded = small(kind), tmp_path / "a-model", 0
    header = model._learner.to_parts()[0]
    for path in list(leaves(header))[1:]:
        for value in values:
            data = changed(model, header_with(*path, value=value))
            place.write_bytes(data)
            try:
                again = hinge.load(place)
            except ModelFileError:
                continue
            loaded += 1
            assert len(again.predict_one(X[0])) == 3
            again.to_bytes()
    assert loaded > 10


def test_a_file_of_nothing_learned(tmp_path):
    """Before the first round, with and without tags; and from there on."""
    for options in ({}, {"classes": ["A", "B"]}, {"hash_bits": 4, "geometry": "diagonal"}):
        learner = SequenceLearner(**options)
        again = SequenceLearner.from_bytes(learner.to_bytes())
        assert again.to_bytes() == learner.to_bytes()
        for each in (learner, again):
            each.learn_many([[["a"], ["b"]]] * 3, [["A", "B"], ["B", "A"], ["B", "B"]])
        assert again.to_bytes() == learner.to_bytes()
        refused(changed(SequenceLearner(**options), put_one("places", 0)), tmp_path)


def put_one(name, value):
    """An entry where there is none."""

    def change(header, tensors):
        tensors[name] = np.array([value], dtype=tensors[name].dtype)

    return change


@pytest.mark.parametrize("version", [2, 99])
def test_an_older_or_newer_file(version, tmp_path):
    data = of_version(version, *small()._learner.to_parts())
    refused(data, tmp_path, f"format version {version}, this hinge reads 3: upgrade")
