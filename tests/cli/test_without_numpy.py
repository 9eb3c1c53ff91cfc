"""`hinge learn` of text needs no numpy; what stands in for it there says what numpy would say."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from safetensors.numpy import load, save

import hinge
from hinge._core import are_among, count_changes, one_each
from hinge.data.rows import TextRows
from hinge.model import file
from hinge.streams.batches import Numbers

# ---- what is loaded -----------------------------------------------------------------------------------------------

LEARN = """
import sys
from hinge.cli import main
code = main()
print(code, "numpy" in sys.modules)
"""


def learned(*arguments, feed=None):
    """The exit code of the command line, in a process of its own, and whether it has loaded numpy."""
    done = subprocess.run(
        [sys.executable, "-c", LEARN, *map(str, arguments)], input=feed, capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    code, loaded = done.stdout.decode().split()[-2:]
    return int(code), loaded == "True"


def svmlight(labels, rows=300):
    random = np.random.default_rng(0)
    lines = []
    for row in range(rows):
        columns = np.sort(random.choice(50, size=8, replace=False)) + 1
        features = " ".join(f"{column}:{random.normal():.3f}" for column in columns)
        lines.append(f"{labels[row % len(labels)] if row < 90 else random.choice(labels)} {features}\n")
    return "".join(lines).encode()


LABELS = {
    "two classes": [1, -1],
    "one class first": [7, 7, 7, 3],
    "numbers": [0.5, -1.25, 3.75],
}


@pytest.mark.parametrize("name", LABELS)
@pytest.mark.parametrize("options", [(), ("--save-every", "50"), ("--json",)], ids=str)
def test_text_is_learned_without_numpy(tmp_path, name, options):
    data, model = tmp_path / "train.svm", tmp_path / "model"
    data.write_bytes(svmlight(LABELS[name]))
    assert learned("learn", data, "-m", model, *options) == (0, False)
    assert hinge.load(model).statistics.rounds == 300


def test_from_a_pipe_and_of_vw(tmp_path):
    model = tmp_path / "model"
    text = svmlight([1, -1])
    fed = learned("learn", "-", "--format", "svmlight", "-m", model, feed=text)
    assert fed == (0, False)
    vw = b"".join(line.replace(b" ", b" | ", 1) + b"\n" for line in text.replace(b":", b"f:").splitlines())
    (tmp_path / "train.vw").write_bytes(vw)
    assert learned("learn", tmp_path / "train.vw", "--force", "-m", model) == (0, False)


@pytest.mark.parametrize("labels", [[1, -1], [2, 5], [3, 1, 2], [0.5, 1.5, 2.5]], ids=str)
def test_it_is_the_learner_of_the_same_rows(tmp_path, labels):
    """Also if there are more classes, which numpy helps with from the third one on."""
    from sklearn.datasets import load_svmlight_file

    data, model = tmp_path / "train.svm", tmp_path / "model"
    data.write_bytes(svmlight(labels))
    code, loaded = learned("learn", data, "-m", model)
    assert (code, loaded) == (0, labels == [3, 1, 2])
    X, y = load_svmlight_file(str(data))
    task = "regression" if labels[0] == 0.5 else "classification"
    twin = hinge.Learner(task)
    for row in range(len(y)):
        twin.learn(X[[row]], y[[row]])
    found = hinge.load(model)
    assert found.task == task
    assert found.labels.known == twin.labels.known
    assert found.statistics == twin.statistics
    np.testing.assert_array_equal(found.weights, twin.weights)
    np.testing.assert_array_equal(found.intercept, twin.intercept)


def test_a_refused_first_example_teaches_no_label(tmp_path):
    """Its square overflows; it is skipped, and its label never was."""
    data, model = tmp_path / "train.svm", tmp_path / "model"
    data.write_bytes(b"9 1:1e200\n" + svmlight([1, -1]))
    assert learned("learn", data, "--on-error", "skip", "-m", model) == (0, False)
    assert hinge.load(model).labels.known == [-1.0, 1.0]


# ---- what stands in for it ------------------------------------------------------------------------------------------

numbers = arrays.arrays(np.float64, st.integers(0, 30), elements=st.sampled_from([1.0, -1.0, 0.0, 2.5]))


@given(numbers)
def test_labels_are_compared(labels):
    assert count_changes(labels) == np.count_nonzero(labels[1:] != labels[:-1])
    assert are_among(labels, 1.0, -1.0) == bool(np.isin(labels, [1.0, -1.0]).all())


@given(arrays.arrays(np.int64, st.integers(1, 12), elements=st.integers(0, 2)))
def test_one_each(counts):
    starts = np.concatenate([[0], np.cumsum(counts)])
    assert one_each(starts) == bool((counts == 1).all())
    values = np.arange(float(starts[-1]))
    labels = Numbers(values, starts)
    assert (labels.single is not None) == bool((counts == 1).all())
    half = labels.part(1, len(counts))
    assert len(half) == len(counts) - 1
    np.testing.assert_array_equal(half.values, values[starts[1] :])
    np.testing.assert_array_equal(half.starts, starts[1:] - starts[1])


def test_nan_is_among_nothing():
    assert not are_among(np.array([1.0, np.nan]), 1.0, np.nan)


@given(st.data())
def test_parts_of_a_text(data):
    counts = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=10))
    starts = np.concatenate([[0], np.cumsum(counts)])
    values = np.random.default_rng(0).normal(size=starts[-1])
    columns = np.arange(starts[-1], dtype=np.int32)
    start = data.draw(st.integers(0, len(counts)))
    stop = data.draw(st.integers(start, len(counts)))
    part = TextRows(memoryview(values), memoryview(columns), memoryview(starts), 100).part(start, stop)
    assert (part.count, part.width) == (stop - start, 100)
    its_values, its_columns, its_starts, _ = part.arrays
    np.testing.assert_array_equal(its_values, values[starts[start] : starts[stop]])
    np.testing.assert_array_equal(its_columns, columns[starts[start] : starts[stop]])
    np.testing.assert_array_equal(its_starts, starts[start : stop + 1] - starts[start])


KINDS = (
    "uint64",
    "int64",
    "float64",
    "float32",
    "uint32",
    "int32",
    "float16",
    "uint16",
    "int16",
    "int8",
    "uint8",
)
TENSORS = {
    "v": np.array([1.5, -0.0, np.pi]),
    "u": np.zeros(0),
    "a number": np.array(0.1),
    "single": np.array([1.5, 2.5], dtype=np.float32),
    "names": np.frombuffer('["ä", 1]'.encode(), dtype=np.uint8),
    "counts": np.arange(4),
    "a matrix": np.arange(6.0).reshape(2, 3),
    **{kind: np.arange(3).astype(kind) for kind in KINDS},
    "flags": np.array([True, False]),
}


def test_the_bytes_are_those_of_safetensors():
    header = {"a": '"quoted"', "b": "ä ü \x01\x7f/"}
    ours = file.to_bytes(header, TENSORS)
    theirs = save(TENSORS)
    description, expected = (
        json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")]) for data in (ours, theirs)
    )
    assert json.loads(description.pop("__metadata__")["header"]) == header
    assert description == expected
    numbers = theirs[8 + int.from_bytes(theirs[:8], "little") :]
    assert ours.endswith(numbers)
    views = {
        name: memoryview(tensor) if tensor.dtype.char in "dfl" and tensor.ndim == 1 else tensor
        for name, tensor in TENSORS.items()
    }
    assert file.to_bytes(header, views) == ours
    for tensors in (load(ours), file.from_bytes(ours)[1]):
        assert tensors.keys() == TENSORS.keys()
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(tensor, TENSORS[name], strict=True)


def test_a_tensor_of_another_byte_order_is_rejected():
    with pytest.raises(TypeError, match="v"):
        file.to_bytes({}, {"v": TENSORS["v"].astype(">f8")})
