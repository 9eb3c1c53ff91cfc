"""Seeded data for the workloads, made in a second or two and kept nowhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def zipf_rows(
    rows: int, columns: int = 2**18, nonzeros: int = 82, noise: float = 0.02, seed: int = 0
) -> tuple[Any, Floats]:
    """A CSR matrix like hashed text, and labels -1 or +1 from a random separator, some of them flipped.

    Each row has exactly `nonzeros` distinct columns, drawn by Zipf's law (the k-th most frequent has a chance
    of about 1/k) and scattered over all columns as a hash would; int32 indices, sorted; positive values; rows
    of length 1. Frequent columns weigh more in the separator: PA-I updates on about 30 % of the rows.
    """
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(seed)
    place = np.arange(nonzeros, dtype=np.int32)
    ranks = ((columns - nonzeros) ** random.random((rows, nonzeros))).astype(np.int32) - 1
    ranks.sort(axis=1)
    ranks = np.maximum.accumulate(ranks - place, axis=1) + place  # a rank drawn twice moves to the next one
    column_of = random.permutation(columns).astype(np.int32)
    indices = column_of[ranks]
    indices.sort(axis=1)
    values = random.random((rows, nonzeros)) + 0.1
    values /= np.sqrt(np.einsum("ij,ij->i", values, values))[:, None]
    starts = np.arange(0, rows * nonzeros + 1, nonzeros, dtype=np.int32)
    x = csr_matrix((values.ravel(), indices.ravel(), starts), shape=(rows, columns), copy=False)
    separator = np.empty(columns)
    separator[column_of] = random.standard_normal(columns) / np.sqrt(1 + np.arange(columns))
    score = x @ separator
    y = np.where(score > np.median(score), 1.0, -1.0)
    y[random.random(rows) < noise] *= -1
    return x, y


def dense_rows(rows: int, columns: int, noise: float = 0.2, seed: int = 0) -> tuple[Floats, Floats]:
    """A dense matrix of standard normals in C order, and a linear target with normal noise."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((rows, columns))
    return x, x @ (random.standard_normal(columns) / np.sqrt(columns)) + noise * random.standard_normal(rows)
