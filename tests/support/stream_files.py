"""Formats of examples, files to write and to read whole, and what reading them reports."""

from __future__ import annotations

import bz2
import gzip
import importlib
import itertools
import json
import lzma
import os
from contextlib import contextmanager, suppress
from functools import partial

import numpy as np
import pytest

from hinge import InputError
from hinge._core import SvmlightReader, TextPart
from hinge.streams.batches import BadLines, Batch
from hinge.streams.files import Input

PACK = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
for module in ("compression.zstd", "backports.zstd"):
    with suppress(ImportError):
        zstandard = importlib.import_module(module)
        checked = {zstandard.CompressionParameter.checksum_flag: 1}  # the command has it on, the package off
        PACK[".zst"] = partial(zstandard.compress, options=checked)


def written(folder, data, name):
    path = folder / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


def read(source, path, bad=None):
    """All batches of a file as one: X, labels, lines."""
    return joined(source.batches(Input(path), bad or BadLines()))


def text_batch(rows, labels):
    """The rows of an array, zeros included, and their labels, as a reader of svmlight text gives them."""
    lines = []
    for row, label in zip(rows.tolist(), labels, strict=True):
        truth = [] if label is None else [",".join(map(repr, label if isinstance(label, list) else [label]))]
        lines.append(" ".join([*truth, *(f"{k}:{value!r}" for k, value in enumerate(row))]) + "\n")
    reader = SvmlightReader(first=0, max_features=rows.shape[1], max_line=10**6)
    reader.read("".join(lines).encode())
    reader.finish()
    text = reader.take(rows.shape[1])
    return Batch(text, None, text.lines, numbered=True)


def joined(batches):
    """Batches as one. Rows become dicts, whose names are those of the columns or else their numbers from 1."""
    found, names = ([], [], []), []
    for batch in batches:
        X, labels = batch.X, batch.labels
        if isinstance(X, TextPart):
            names += X.new_names
            labels = [its or None for its in X.label_list()] if not X.one_label_each else X.label_list()
            labels = [its[0] if isinstance(its, list) and len(its) == 1 else its for its in labels]
            X = list(_named(X, names))
        assert len(batch) == len(X) == len(labels) == len(batch.lines) > 0
        for values, more in zip(found, (X, labels, batch.lines), strict=True):
            values.extend(more)
    return found


def _named(rows, names):
    values, columns, starts, _ = rows.csr()
    for start, stop in itertools.pairwise(starts):
        found = zip(columns[start:stop].tolist(), values[start:stop].tolist(), strict=True)
        yield {names[column] if names else str(column + 1): value for column, value in found}


def again(source):
    """A source made of the settings that a model keeps."""
    return type(source)(**json.loads(json.dumps(source.settings)))


@contextmanager
def read_or_rejected():
    """An error of the input must have a place in the file."""
    try:
        yield
    except InputError as error:
        if error.file is None or error.line < 1:
            raise


def rejection(source, path, skip=False):
    """What an error says after the name of the file."""
    with pytest.raises(InputError) as caught:
        read(source, path, BadLines(skip=skip))
    text = str(caught.value)
    assert text.startswith(f"{path}:")
    assert "\n" not in text
    return text.removeprefix(f"{path}:")


def skipped(source, path):
    """What can be read, and what the errors of the rest say after the name of the file."""
    bad = BadLines(skip=True)
    found = read(source, path, bad)
    assert bad.count == len(bad.first)
    return found, [str(error).removeprefix(f"{path}:") for error in bad.first]


@contextmanager
def pipe():
    """A pipe: the file to be read, and the function that writes to it."""
    reading, writing = os.pipe()
    try:
        yield Input(f"/dev/fd/{reading}"), lambda data: os.write(writing, data)
    finally:
        os.close(reading)
        os.close(writing)


class Endless(Input):
    """The same bytes again and again. A reader that takes more than `most` of them has no limit."""

    def __init__(self, data, most):
        super().__init__("endless")
        self.data, self.most = data, most

    @contextmanager
    def opened(self):
        yield self

    def read1(self, size):
        self.most -= len(self.data)
        assert self.most > 0
        return self.data


RNG = np.random.default_rng(11)


WEIGHTS = RNG.normal(size=30)


def rows(count, seed=0):
    """Sparse rows and their scores by a linear teacher."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        columns = np.sort(rng.choice(30, size=6, replace=False))
        values = np.round(rng.normal(size=6), 4)
        yield columns.tolist(), values.tolist(), float(WEIGHTS[columns] @ values)


def svmlight(count, label=lambda score: "+1" if score > 0 else "-1", seed=0):
    lines = [f"{label(score)} " + " ".join(f"{c + 1}:{v!r}" for c, v in zip(columns, values, strict=True))
             for columns, values, score in rows(count, seed)]  # fmt: skip
    return "\n".join(lines) + "\n"


GOOD = {
    "svm": lambda i: f"{1 if i % 2 else -1} {i % 7 + 1}:1",
    "vw": lambda i: f"{1 if i % 2 else -1} | a{i % 7}",
    "jsonl": lambda i: json.dumps({"a": i % 7, "label": "x" if i % 2 else "y"}),
    "csv": lambda i: f"{i % 7},{'x' if i % 2 else 'y'}",
    "conll": lambda i: f"w{i % 7} {'A' if i % 2 else 'B'}\n",
}


BAD = {"svm": "1 x", "vw": "1 nothing", "jsonl": "{", "csv": "1", "conll": "one"}


def text_of(ending, count, bad=(), start=0):
    lines = [BAD[ending] if i in bad else GOOD[ending](i) for i in range(start, start + count)]
    header = "a,label\n" if ending == "csv" and start == 0 else ""
    return header + "\n".join(lines) + "\n"
