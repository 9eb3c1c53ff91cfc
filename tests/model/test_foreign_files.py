"""Files that are not models of hinge: `hinge.load` says what they are, and what to do."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import pickle
import zlib

import numpy as np
import pytest
import safetensors.numpy

import hinge
from hinge import ModelFileError, PAClassifier

X = np.random.default_rng(0).normal(size=(20, 3))
Y = np.array([0, 1] * 10)


def packed(compression):
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
    "an old pickle": (lambda model: pickle.dumps(model, protocol=0), "it is a pickle, .* pickle.load"),
    "gzip": (packed(gzip), "it is a file compressed by gzip. .* joblib.load"),
    "bzip2": (packed(bz2), "it is a file compressed by bzip2. .* joblib.load"),
    "xz": (packed(lzma), "it is a file compressed by xz. .* joblib.load"),
    "zlib": (packed(zlib), "it is a file compressed by zlib. .* joblib.load"),
    "an array": (array_file, "it is an array of NumPy: read it with numpy.load"),
    "several arrays": (archive, "it is a zip archive"),
    "a safetensors file": (
        lambda model: safetensors.numpy.save({"coef": model.coef_}),
        "it is a safetensors file of something else",
    ),
    "Parquet": (lambda _: b"PAR1\x15\x04", "it is a Parquet table: .*read_parquet"),
    "a pointer": (lambda _: b"version https://git-lfs.github.com/spec/v1\noid", "git lfs pull"),
    "CSV": (lambda _: b"a,b,label\n1,2,yes\n", 'it is a text, which begins with "a,b,label": `hinge learn`'),
    "a text that is cut in a letter": (lambda _: ("é" * 200).encode(), 'it is a text, which begins with "éé'),
    "nothing": (lambda _: b"", "it is an empty file"),
    "zeros": (lambda _: bytes(200), "or its beginning is damaged"),
    "a stump": (lambda model: model_bytes(model)[:30], "or its beginning is damaged"),
}


def model_bytes(model):
    return hinge.model.file.to_bytes(*model.to_parts())


@pytest.mark.parametrize("what", OTHERS)
def test_file_that_is_not_a_model_is_called_what_it_is(what, tmp_path):
    contents, words = OTHERS[what]
    (tmp_path / "other").write_bytes(contents(PAClassifier().fit(X, Y)))
    with pytest.raises(ModelFileError, match=rf"other is not a hinge model.*{words}"):
        hinge.load(tmp_path / "other")
