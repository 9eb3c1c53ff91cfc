"""Seeded data for the workloads, generated in a second or two and not stored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def zipf_rows(
    rows: int, columns: int = 2**18, nonzeros: int = 82, noise: float = 0.02, seed: int = 0
) -> tuple[Any, Floats]:
    """A CSR matrix like hashed text, and labels -1 or +1 from a random separator, some of them flipped.

    The matrix is that of `zipf_matrix`. Frequent columns weigh more in the separator: PA-I updates on about
    30 % of the rows.
    """
    random = np.random.default_rng(seed)
    x, column_of = zipf_matrix(random, rows, columns, nonzeros)
    separator = np.empty(columns)
    separator[column_of] = random.standard_normal(columns) / np.sqrt(1 + np.arange(columns))
    score = x @ separator
    y = np.where(score > np.median(score), 1.0, -1.0)
    y[random.random(rows) < noise] *= -1
    return x, y


def zipf_classes(
    rows: int,
    columns: int = 100_000,
    nonzeros: int = 106,
    classes: int = 100,
    noise: float = 0.1,
    seed: int = 0,
) -> tuple[Any, Integers]:
    """The matrix of `zipf_matrix`, and labels 0, 1, ...: the highest score of a random linear teacher.

    Frequent columns weigh more, as in `zipf_rows`. The median is subtracted from each score, so that every
    class has some rows (60 to 380 of 20,000 for most). A part `noise` of the labels is drawn at random instead.
    """
    random = np.random.default_rng(seed)
    x, column_of = zipf_matrix(random, rows, columns, nonzeros)
    teacher = np.empty((columns, classes), dtype=np.float32)
    teacher[column_of] = random.standard_normal((columns, classes), dtype=np.float32)
    teacher /= (1 + np.argsort(column_of)[:, None]) ** 0.5
    scores = x @ teacher
    y = (scores - np.median(scores, axis=0)).argmax(axis=1)
    drawn = random.random(rows) < noise
    y[drawn] = random.integers(classes, size=int(drawn.sum()))
    return x, y


def zipf_matrix(random: np.random.Generator, rows: int, columns: int, nonzeros: int) -> tuple[Any, Any]:
    """A CSR matrix like hashed text, and the column of each rank: the most frequent one first.

    Each row has exactly `nonzeros` distinct columns, drawn by Zipf's law (the k-th most frequent has a chance
    of about 1/k) and scattered over all columns as a hash would; int32 indices, sorted; positive values; rows
    of length 1.
    """
    from scipy.sparse import csr_matrix

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
    return csr_matrix((values.ravel(), indices.ravel(), starts), shape=(rows, columns), copy=False), column_of


def unsorted(x: Any, descending: bool = False, seed: int = 0) -> Any:
    """The rows of a CSR matrix with as many columns each, with these in random or in descending order."""
    shape = x.shape[0], -1
    places = np.argsort(x.indices.reshape(shape), axis=1)[:, ::-1]
    if not descending:
        places = np.argsort(np.random.default_rng(seed).random(places.shape), axis=1)
    mixed = x.copy()
    mixed.indices = np.take_along_axis(x.indices.reshape(shape), places, axis=1).ravel()
    mixed.data = np.take_along_axis(x.data.reshape(shape), places, axis=1).ravel()
    mixed.has_sorted_indices = False
    return mixed


def images(rows: int, classes: int = 10, seed: int = 0) -> tuple[Floats, Integers]:
    """Images like those of MNIST: dense rows of 28 x 28 numbers from 0 to 1, four in five of them 0 and in runs.

    Each class has a smooth picture; an image is its picture, smoothly disturbed, above a threshold.
    """
    random = np.random.default_rng(seed)
    at, knots = np.linspace(0, 6, 28), np.arange(7)
    line = np.maximum(0, 1 - np.abs(at[:, None] - knots))  # from 7 knots to 28 pixels, linearly
    smooth = np.kron(line, line).T
    frame = np.kron(*2 * [np.exp(-(((at - 3) / 1.8) ** 2))])  # the border is empty
    pictures = random.standard_normal((classes, 49))
    y = random.integers(classes, size=rows)
    x = (pictures[y] + 0.9 * random.standard_normal((rows, 49))) @ smooth
    x = (x + 1.2) * frame
    x -= np.quantile(x[:1000], 0.81)
    np.clip(x, 0, 1, out=x)
    return x, y


def clusters(rows: int, columns: int = 256, classes: int = 10, seed: int = 0) -> tuple[Floats, Integers]:
    """Dense rows that no hyperplane separates: each class is six clusters in 24 dimensions, bent into more."""
    random = np.random.default_rng(seed)
    each, inner, spread, noise = 6, 24, 0.7, 0.3
    centres = random.standard_normal((classes * each, inner))
    y = random.integers(classes, size=rows)
    z = centres[y * each + random.integers(each, size=rows)] + spread * random.standard_normal((rows, inner))
    x = np.tanh(z @ random.standard_normal((inner, columns)) / np.sqrt(inner))
    return x + noise * random.standard_normal((rows, columns)), y


def dense_rows(rows: int, columns: int, noise: float = 0.2, seed: int = 0) -> tuple[Floats, Floats]:
    """A dense matrix of standard normals in C order, and a linear target with normal noise."""
    random = np.random.default_rng(seed)
    x = random.standard_normal((rows, columns))
    return x, x @ (random.standard_normal(columns) / np.sqrt(columns)) + noise * random.standard_normal(rows)
