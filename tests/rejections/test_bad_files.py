"""Model files that are none: truncated, altered, foreign, newer, or absurd. Always a ModelFileError."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest
from safetensors.numpy import save as save_safetensors

import hinge
from hinge import ModelFileError
from hinge.model import file
from model_files import header_with, header_without, labels, leaves, names, of_version, put, tensor, text

TASKS = ("classification", "regression", "uniclass")


def small(task="classification", **options):
    model = hinge.Learner(task, average=True, **options)
    truth = {"classification": ["no", "yes"], "regression": [1.0, 2.0], "uniclass": None}[task]
    model.learn_many([{"a": 1.0, "b": 2.0}, {"b": -1.0, "c": 0.5}], truth)
    return model


def estimators():
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.array([0, 1] * 10)
    options = {"random_state": 0, "max_iter": 5, "tol": None}
    return [
        hinge.PAClassifier(**options).fit(X, y),
        hinge.PARegressor(**options).fit(X, y),
        hinge.PAOneClass(**options).fit(X),
    ]


def refused(data, tmp_path, match=None):
    """By hinge.load, with the name of the file, and from bytes."""
    place = tmp_path / "a-model"
    place.write_bytes(data)
    with pytest.raises(ModelFileError, match=match or "a-model"):
        hinge.load(place)
    with pytest.raises(ModelFileError, match=match):
        hinge.Learner.from_bytes(data)


@pytest.mark.parametrize("task", TASKS)
def test_every_flip_of_a_bit_is_found(task):
    data = small(task).to_bytes()
    assert len(data) < 4000
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            with pytest.raises(ModelFileError):
                file.from_bytes(bytes(flipped))


def test_every_other_byte_is_found():
    """Each byte replaced by those that a text might hold, or binary data."""
    data = small().to_bytes()
    for place in range(len(data)):
        for other in b'\0 "0a\xff':
            if data[place] != other:
                with pytest.raises(ModelFileError):
                    file.from_bytes(data[:place] + bytes([other]) + data[place + 1 :])


@pytest.mark.parametrize("model", estimators(), ids=lambda m: type(m).__name__)
def test_a_flip_in_an_estimator_is_found(model, tmp_path):
    model.save(tmp_path / "good")
    data = (tmp_path / "good").read_bytes()
    for place in range(0, len(data), 7):
        flipped = bytearray(data)
        flipped[place] ^= 0x10
        refused(bytes(flipped), tmp_path)


def test_every_truncation_is_found(tmp_path):
    data = small().to_bytes()
    for length in range(len(data)):
        with pytest.raises(ModelFileError):
            file.from_bytes(data[:length])
    for length in (0, 1, 7, 8, 9, 100, len(data) - 1):
        refused(data[:length], tmp_path)


def test_more_than_a_model_is_found(tmp_path):
    data = small().to_bytes()
    for more in (b"\0", b"more", data, b"\0" * 100000):
        refused(data + more, tmp_path)
        refused(more + data, tmp_path)


def test_parts_that_changed_places(tmp_path):
    data = small().to_bytes()
    for start in range(8, len(data) - 40, 97):
        a, b = data[start : start + 16], data[start + 20 : start + 36]
        if a != b:
            refused(data[:start] + b + data[start + 16 : start + 20] + a + data[start + 36 :], tmp_path)


FOREIGN = {
    "nothing": b"",
    "zeros": bytes(1000),
    "text": b"not a model\n" * 100,
    "safetensors": save_safetensors({"v": np.zeros(3)}),
    "safetensors with metadata": save_safetensors({"v": np.zeros(3)}, {"format": "pt", "hinge": "1"}),
    "safetensors like ours": save_safetensors({"v": np.zeros(3)}, {"hinge": '{"format":"hinge-model"}'}),
    "pickle": pickle.dumps({"a": 1}),
    "pickle of a model": pickle.dumps(small()),
    "json": b'{"kind": "Learner"}',
    "a huge header": (2**63 - 1).to_bytes(8, "little") + b"{}",
    "a header of -1": b"\xff" * 8 + b"{}",
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_foreign_files(what, tmp_path):
    refused(FOREIGN[what], tmp_path)


def test_random_bytes(tmp_path):
    rng = np.random.default_rng(7)
    for length in (1, 8, 9, 16, 100, 1000, 10000):
        for _ in range(20):
            refused(rng.bytes(length), tmp_path)
            refused((length // 2).to_bytes(8, "little") + rng.bytes(length), tmp_path)


@pytest.mark.parametrize("version", [2, 99])
def test_another_version(version, tmp_path):
    data = of_version(version, *small().to_parts())
    refused(data, tmp_path, f"format version {version}, this hinge reads 3: upgrade")


def test_no_file_at_all(tmp_path):
    with pytest.raises(FileNotFoundError):
        hinge.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        hinge.load(tmp_path)


# ---- whole files that say something absurd: their checksum is right ------------------------------------


def parts(model=None):
    header, tensors = (model or small()).to_parts()
    return copy.deepcopy(header), dict(tensors)


ABSURD = {
    "an unknown kind": header_with("kind", value="os.system"),
    "a kind that is a list": header_with("kind", value=["Learner"]),
    "another kind": header_with("kind", value="PAClassifier"),
    "no kind": header_without("kind"),
    "no task": header_without("task"),
    "an unknown task": header_with("task", value="ranking"),
    "no parameters": header_without("parameters"),
    "parameters in a list": header_with("parameters", value=[1, 2]),
    "a parameter too many": header_with("parameters", "evil", value=1),
    "a parameter out of range": header_with("parameters", "C", value=-1.0),
    "a parameter of another type": header_with("parameters", "step", value={"dict": 5}),
    "an array of objects": header_with("parameters", "classes", value={"array": [[1], [2]], "dtype": "|O"}),
    "an array of nothing": header_with("parameters", "classes", value={"array": 7, "dtype": "what"}),
    "another dtype": header_with("parameters", "dtype", value="float32"),
    "no average": header_with("parameters", "average", value=False),
    "fewer features": header_with("parameters", "max_features", value=2),
    "hashed": header_with("parameters", "hash_bits", value=1),
    "three labels": labels(["a", "b", "c"]),
    "labels twice": labels(["a", "a"]),
    "labels of lists": labels([["a"], ["b"]]),
    "labels that are null": labels([None, None]),
    "labels not in a list": labels(5),
    "no labels": lambda header, tensors: tensors.pop("labels"),
    "other settings": text("settings", {"task": "regression"}),
    "settings that are no object": text("settings", [1]),
    "an unknown setting": text("settings", {"evil": 1}),
    "a setting of another type": text("settings", {"task": 5}),
    "settings that are no json": tensor("settings", lambda a: a[:-1]),
    "no settings": lambda header, tensors: tensors.pop("settings"),
    "negative features ignored": put("ignored", (), -1),
    "no names": lambda header, tensors: tensors.pop("names"),
    "names that are no list": names({"a": 1}),
    "names that are no names": names([1.5, None, []]),
    "the same name twice": names(["a", "a", "b"]),
    "too many names": names(["a", "b", "c", "d"]),
    "names that are no json": tensor("names", lambda a: a[:-2]),
    "names that are no text": tensor("names", lambda a: a * 0 + 255),
    "names of reals": tensor("names", lambda a: np.full(5, 1e300)),
    "no weights": lambda header, tensors: tensors.pop("v"),
    "fewer weights": tensor("v", lambda a: a[:-1]),
    "weights in two dimensions": tensor("v", lambda a: a[None]),
    "whole weights": tensor("v", lambda a: a.astype(np.int64)),
    "single weights": tensor("v", lambda a: a.astype(np.float32)),
    "a weight of NaN": put("v", 1, np.nan),
    "an infinite weight": put("v", 0, np.inf),
    "no sums": tensor("u", lambda a: a[:0]),
    "a sum of NaN": put("u", 0, np.nan),
    "sums in single": tensor("u", lambda a: a.astype(np.float32)),
    "no loss": lambda header, tensors: tensors.pop("loss"),
    "a vector of losses": tensor("loss", lambda a: a[None]),
    "a loss of NaN": put("loss", (), np.nan),
    "an infinite bound of the weights": put("weight_bound", (), np.inf),
    "a scale of 0": put("scale", (), 0.0),
    "a negative scale": put("scale", (), -1.0),
    "the scale of a ball": put("scale", (), 0.5),
    "no rounds": lambda header, tensors: tensors.pop("rounds"),
    "real rounds": tensor("rounds", lambda a: a.astype(float)),
    "negative rounds": put("rounds", (), -100),
    "rounds that overflow": put("rounds", (), 2**63 - 1),
    "a first instance that is awaited": put("awaits_first", (), 1),
}


@pytest.mark.parametrize("what", ABSURD)
def test_absurd_files(what, tmp_path):
    header, tensors = parts()
    ABSURD[what](header, tensors)
    place = tmp_path / "a-model"
    place.write_bytes(file.to_bytes(header, tensors))
    with pytest.raises(ModelFileError, match="a-model"):
        hinge.load(place)
    if "kind" not in what:
        with pytest.raises(ModelFileError):
            hinge.Learner.from_bytes(place.read_bytes())


@pytest.mark.parametrize("header", [None, 5, [], "Learner", {}, {"kind": None}], ids=str)
def test_headers_that_are_none(header, tmp_path):
    refused(file.to_bytes(header, parts()[1]), tmp_path)


@pytest.mark.parametrize("model", estimators(), ids=lambda m: type(m).__name__)
def test_absurd_estimators(model, tmp_path):
    for change in (
        header_without("learner"),
        header_with("learner", value=5),
        header_without("attributes"),
        header_with("parameters", "evil", value=1),
        header_with("learner", "task", value="x"),
        header_with("parameters", value=None),
        header_with("attributes", value=[1]),
        header_with("batch_report", value={"evil": 1}),
        put("v", 0, np.nan),
    ):
        header, tensors = parts(model)
        change(header, tensors)
        (tmp_path / "a-model").write_bytes(file.to_bytes(header, tensors))
        with pytest.raises(ModelFileError, match="a-model"):
            hinge.load(tmp_path / "a-model")


@pytest.mark.parametrize("task", TASKS)
def test_any_other_value_anywhere(task, tmp_path):
    """Either the file is refused, or it is a model that works: never another error, never a crash."""
    values = [
        None,
        True,
        0,
        -1,
        2**70,
        1.5,
        float("nan"),
        float("inf"),
        "",
        "x",
        [],
        [1],
        {},
        {"dict": [[1, 2]]},
        {"list": [1]},
        {"array": [1.0], "dtype": "<f8"},
        {"RandomState": []},
    ]
    place = tmp_path / "a-model"
    loaded = 0
    for model in (small(task), hinge.Learner(task, w1=[1.0, 2.0], dtype="float32")):
        header, tensors = parts(model)
        for path in list(leaves(header))[1:]:
            for value in values:
                changed = copy.deepcopy(header)
                header_with(*path, value=value)(changed, tensors)
                place.write_bytes(file.to_bytes(changed, tensors))
                try:
                    again = hinge.load(place)
                except ModelFileError:
                    continue
                loaded += 1
                again.predict_one({"a": 1.0})
                again.to_bytes()
    assert loaded > 10


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    model, place = small(), tmp_path / "model"
    model.save(place)
    before = place.read_bytes()
    model.learn_one({"a": 1.0}, "no")
    monkeypatch.setattr("os.replace", lambda *a: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        model.save(place)
    monkeypatch.undo()
    assert place.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["model"]
    model.save(place)
    assert hinge.load(place).to_bytes() == model.to_bytes()


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder .*nowhere to write model\.hinge into"):
        small().save(tmp_path / "nowhere" / "model.hinge")
    assert not list(tmp_path.iterdir())
