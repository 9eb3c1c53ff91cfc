"""`hinge learn` of text does not load numpy: the core holds the rows, which equal arrays of the same rows."""

from __future__ import annotations

import itertools
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
from hinge._core import SvmlightReader, count_changes
from hinge.model import file
from keyed_files import as_json, records

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


@pytest.mark.parametrize(
    "options", [(), ("--no-shared", "--save-every", "50"), ("-p", "all.txt", "--json")], ids=str
)
def test_fleets_of_json_lines(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    data, model = tmp_path / "users.jsonl", tmp_path / "fleet"
    data.write_text(as_json(records(300)))
    assert learned("learn", data, "--key", "user", "-m", model, *options) == (0, False)
    assert hinge.load(model).statistics.rounds == 300
    assert learned("predict", data, "-m", model, "--scores", "-o", tmp_path / "predictions") == (0, False)


@pytest.mark.parametrize("labels", [[1, -1], [2, 5], [3, 1, 2], [0.5, 1.5, 2.5]], ids=str)
@pytest.mark.parametrize("options", [{"experts": "auto"}, {"step": "pa1"}, {"C": "auto"}], ids=str)
def test_it_is_the_learner_of_the_same_rows(tmp_path, labels, options):
    """Also if there are more classes, which numpy helps with from the third one on."""
    from sklearn.datasets import load_svmlight_file

    data, model = tmp_path / "train.svm", tmp_path / "model"
    data.write_bytes(svmlight(labels))
    flags = [word for name, value in options.items() for word in (f"--{name}", value)]
    code, loaded = learned("learn", data, "-m", model, *flags)
    assert (code, loaded) == (0, labels == [3, 1, 2])
    X, y = load_svmlight_file(str(data))
    task = "regression" if labels[0] == 0.5 else "classification"
    twin = hinge.Learner(task, **options)
    for row in range(len(y)):
        twin.learn(X[[row]], y[[row]])
    found = hinge.load(model)
    assert found.task == task
    assert found.labels.known == twin.labels.known
    assert found.statistics == twin.statistics
    np.testing.assert_array_equal(found.weights, twin.weights)
    np.testing.assert_array_equal(found.intercept, twin.intercept)


def test_a_rejected_first_example_teaches_no_label(tmp_path):
    """Its square overflows; it is skipped, and its label never was."""
    data, model = tmp_path / "train.svm", tmp_path / "model"
    data.write_bytes(b"9 1:1e200\n" + svmlight([1, -1]))
    assert learned("learn", data, "--on-error", "skip", "-m", model) == (0, False)
    assert hinge.load(model).labels.known == [-1.0, 1.0]


# ---- rows of a text -------------------------------------------------------------------------------------------------


def rows_of(lines):
    """A text as a reader has read it, and the same as lists."""
    reader = SvmlightReader(first=1, max_features=100, max_line=1000)
    text = "".join(
        f"{','.join(map(repr, labels))} {' '.join(f'{j + 1}:{v!r}' for j, v in features.items())}\n"
        for labels, features in lines
    )
    reader.read(text.encode())
    return reader.take(7)


def as_lists(text):
    values, columns, starts, width = text.csr()
    rows = [
        dict(zip(columns[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in itertools.pairwise(starts.tolist())
    ]
    assert len(text) == len(rows) == len(text.lines)
    assert len(values) == len(columns) == starts[-1]
    return rows, width


features = st.dictionaries(st.integers(0, 9), st.sampled_from([1.0, -2.5, 0.125]), max_size=4)
lines = st.lists(
    st.tuples(st.lists(st.sampled_from([1.0, -1.0, 2.5]), max_size=2), features), min_size=1, max_size=8
)


def nonempty(given):
    """A line without labels and features is blank, and not a row."""
    return [(labels, dict(sorted(features.items()))) for labels, features in given if labels or features]


@given(lines.map(nonempty).filter(bool), st.data())
def test_parts_of_a_text(given, data):
    text = rows_of(given)
    width = max(7, *(max(features, default=-1) + 1 for _, features in given))
    rows = [features for _, features in given]
    assert as_lists(text) == (rows, width)
    stop = data.draw(st.integers(0, len(given)))
    start = data.draw(st.integers(0, stop))
    order = data.draw(st.lists(st.integers(0, len(given) - 1), max_size=6))
    half = text.part(start, stop)
    for some, expected in (
        (half, given[start:stop]),
        (text.taken(order), [given[row] for row in order]),
        (type(text).joined([half, text.part(stop, len(given))]), given[start:]),
        (half.taken(list(range(len(half)))), given[start:stop]),
    ):
        assert as_lists(some) == ([features for _, features in expected], width)
        labels = [labels for labels, _ in expected]
        single = all(len(its) == 1 for its in labels)
        assert some.one_label_each == single
        assert some.label_list() == ([its[0] for its in labels] if single else labels)
        assert some.labels.tolist() == [label for its in labels for label in its]
        np.testing.assert_array_equal(some.label_starts(), np.cumsum([0, *map(len, labels)]))
    for known in (3, width):
        assert as_lists(half.narrowed(known)) == (
            [{j: v for j, v in its.items() if j < known} for its in rows[start:stop]],
            min(known, width),
        )
        squares = half.unseen_squares(known)
        expected = [sum(v * v for j, v in its.items() if j >= known) for its in rows[start:stop]]
        assert squares is None or squares.tolist() == expected
        assert (squares is None) == (known == width or not len(half))


def test_rows_that_do_not_exist():
    text = rows_of([([1.0], {0: 1.0})])
    for start, stop in ((1, 0), (0, 2)):
        with pytest.raises(hinge.InputError, match="no such rows"):
            text.part(start, stop)
    with pytest.raises(hinge.InputError, match="no row 1"):
        text.taken([1])


@given(arrays.arrays(np.float64, st.integers(0, 30), elements=st.sampled_from([1.0, -1.0, 0.0, 2.5])))
def test_changes_of_labels_are_counted(labels):
    assert count_changes(labels) == np.count_nonzero(labels[1:] != labels[:-1])


# ---- the model file -------------------------------------------------------------------------------------------------

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
    arrays = {name: tensor for name, tensor in TENSORS.items() if tensor.ndim}  # numbers are in the metadata
    theirs = save(arrays)
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
    for tensors, its in ((load(ours), arrays), (file.from_bytes(ours)[1], TENSORS)):
        assert tensors.keys() == its.keys()
        for name, tensor in tensors.items():
            np.testing.assert_array_equal(tensor, TENSORS[name], strict=True)


def test_a_tensor_of_another_byte_order_is_rejected():
    with pytest.raises(TypeError, match="v"):
        file.to_bytes({}, {"v": TENSORS["v"].astype(">f8")})
