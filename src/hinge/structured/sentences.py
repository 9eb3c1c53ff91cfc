"""Sentences and their tags as the core reads them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import sparse
from ..data.errors import InputError, in_row
from ..data.events import as_list, is_sparse
from ..data.rows import as_array, too_large
from ..data.shown import shown


def sentence_list(X: Any) -> list[Any]:
    """A list of sentences as the core reads them: lists of tokens, or float arrays."""
    sentences = as_list(X, "X", "of sentences")
    for row, sentence in enumerate(sentences):
        if not isinstance(sentence, (list, tuple)):
            try:
                sentences[row] = _array(sentence)
            except (TypeError, ValueError) as error:
                raise in_row(error, row) from None
    return sentences


def _array(sentence: Any) -> Any:
    if is_sparse(sentence):
        if sentence.ndim != 2:
            raise ValueError(f"an array of tokens must have two dimensions, not {sentence.ndim}")
        if sentence.dtype.kind not in "biuf":
            raise ValueError(f"an array of tokens must hold numbers, not {sentence.dtype}")
        is_csr = sentence.format == "csr"  # the core checks its rows, and reports the token
        matrix = sentence if is_csr else sparse.to_csr(sentence, "the array")
        if any(part.dtype not in (np.int32, np.int64) for part in (matrix.indices, matrix.indptr)):
            raise ValueError("the indices and indptr of a CSR matrix must be int32 or int64")
        if any(
            part.ndim != 1 or not part.flags.c_contiguous
            for part in (matrix.data, matrix.indices, matrix.indptr)
        ):
            raise ValueError("the arrays of a CSR matrix must be one-dimensional and contiguous")
        if len(matrix.indptr) != matrix.shape[0] + 1:
            raise ValueError(f"indptr has {len(matrix.indptr)} entries for {matrix.shape[0]} rows")
        return matrix if matrix.dtype in (np.float32, np.float64) else matrix.astype(np.float64)
    if not hasattr(sentence, "__array__"):
        raise ValueError(
            f"a sentence must be a list of tokens, or an array with one row per token, not {type(sentence).__name__}"
        )
    array = as_array(sentence, "a sentence")
    if array.ndim != 2:
        raise ValueError(f"an array of tokens must have two dimensions, not {array.ndim}")
    if array.dtype.kind not in "biuf":
        raise ValueError(f"an array of tokens must hold numbers, not {array.dtype}")
    in_place = array.dtype in (np.float32, np.float64) and array.flags.aligned and array.dtype.isnative
    if in_place and not any(stride % array.itemsize for stride in array.strides):
        return array
    try:
        return array.astype(np.float32 if array.dtype == np.float32 else np.float64)
    except MemoryError:
        raise too_large("a sentence", array.shape) from None


def dense_rows(sentence: Any) -> list[list[float]]:
    rows: list[list[float]] = (
        sparse.to_csr(sentence, "the array").toarray() if is_sparse(sentence) else sentence
    ).tolist()
    return rows


def tag_list(sentence: Any, given: Any, row: int) -> list[Any]:
    """The tags of a sentence, one for each token."""
    try:
        tags = as_list(given, "y", "of tags")
    except TypeError:
        raise InputError(
            f"there must be a list of tags, one for each token, not {shown(given)}", row
        ) from None
    length = len(sentence) if isinstance(sentence, (list, tuple)) else sentence.shape[0]
    if length != len(tags):
        raise InputError(f"there are {length} tokens and {len(tags)} tags", row)
    if length == 0:
        raise InputError("the sentence is empty", row)
    return tags
