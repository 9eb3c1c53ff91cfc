"""Files that are not models of hinge: `hinge.load` says what they are, and what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import zlib

import joblib
import numpy as np
import pytest
import safetensors.numpy

import hinge
from hinge import Learner, ModelFileError, PAClassifier
from model_files import X, Y, check_rejected


def compressed(compression):
    return lambda model: compression.compress(pickle.dumps(model))


def array_file(model):
    file = io.BytesIO()
    np.save(file, model.coef_)
    return file.getvalue()


def archive(model):
    file = io.BytesIO()
    np.savez(file, model.coef_)
    return file.getvalue()


OTHERS = {
    "a pickle of protocol 0": (
        lambda model: pickle.dumps(model, protocol=0),
        "it is a pickle, .* pickle.load",
    ),
    "gzip": (compressed(gzip), "it is a file compressed by gzip. .* joblib.load"),
    "bzip2": (compressed(bz2), "it is a file compressed by bzip2. .* joblib.load"),
    "xz": (compressed(lzma), "it is a file compressed by xz. .* joblib.load"),
    "zlib": (compressed(zlib), "it is a file compressed by zlib. .* joblib.load"),
    "an array": (array_file, "it is an array of NumPy: read it with numpy.load"),
    "arrays": (archive, "it is a zip archive"),
    "a safetensors file": (
        lambda model: safetensors.numpy.save({"coef": model.coef_}),
        "it is a safetensors file of something else",
    ),
    "Parquet": (lambda _: b"PAR1\x15\x04", "it is a Parquet table: .*read_parquet"),
    "a pointer of Git LFS": (lambda _: b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
    "CSV": (lambda _: b"a,b,label\n1,2,yes\n", 'it is a text, which begins with "a,b,label": `hinge learn`'),
    "a text cut within a letter": (lambda _: ("é" * 200).encode(), 'it is a text, which begins with "éé'),
    "an empty file": (lambda _: b"", "it is an empty file"),
    "zeros": (lambda _: bytes(200), "or its beginning is damaged"),
    "the first bytes of a model": (lambda model: model_bytes(model)[:30], "or its beginning is damaged"),
}


def model_bytes(model):
    return hinge.model.file.to_bytes(*model.to_parts())


@pytest.mark.parametrize("what", OTHERS)
def test_error_names_what_the_file_is(what, tmp_path):
    contents, words = OTHERS[what]
    (tmp_path / "other").write_bytes(contents(PAClassifier().fit(X, Y)))
    with pytest.raises(ModelFileError, match=rf"other is not a hinge model.*{words}"):
        hinge.load(tmp_path / "other")


@pytest.mark.parametrize("dump", [pickle.dump, joblib.dump])
def test_error_for_a_pickle_says_how_to_read_it(dump, tmp_path):
    with open(tmp_path / "model.pkl", "wb") as file:
        dump(PAClassifier().fit(X, Y), file)
    expected = r"model\.pkl is not a hinge model: it is a pickle, .* pickle\.load .* model\.save"
    with pytest.raises(ModelFileError, match=expected):
        hinge.load(tmp_path / "model.pkl")


SAVE = safetensors.numpy.save
FOREIGN = {
    "nothing": b"",
    "zeros": bytes(1000),
    "text": b"not a model\n" * 100,
    "safetensors": SAVE({"v": np.zeros(3)}),
    "safetensors with metadata": SAVE({"v": np.zeros(3)}, {"format": "pt", "hinge": "1"}),
    "safetensors like ours": SAVE({"v": np.zeros(3)}, {"hinge": '{"format":"hinge-model"}'}),
    "pickle": pickle.dumps({"a": 1}),
    "pickle of a model": pickle.dumps(Learner("regression")),
    "json": b'{"kind": "Learner"}',
    "a huge header": (2**63 - 1).to_bytes(8, "little") + b"{}",
    "a header of -1": b"\xff" * 8 + b"{}",
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_foreign_file_is_rejected(what, tmp_path):
    check_rejected(FOREIGN[what], tmp_path)


def test_missing_file_and_folder_are_errors_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        hinge.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match=re.escape(str(tmp_path))):
        hinge.load(tmp_path)


def test_devices_and_pipes_are_rejected_at_once(tmp_path):
    with pytest.raises(ModelFileError, match="device or a pipe"):
        hinge.load("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="device or a pipe"):
        hinge.load(tmp_path / "pipe")


def test_file_that_is_not_a_model_is_not_read_whole(tmp_path):
    with open(tmp_path / "large", "wb") as file:
        file.truncate(2**40)
    with pytest.raises(ModelFileError, match="not a hinge model"):
        hinge.load(tmp_path / "large")
