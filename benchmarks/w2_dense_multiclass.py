"""W2: one PA-I epoch over a dense matrix, 10 classes.

Data     60,000 x 784 float64 in C order, from 0 to 1, four numbers in five 0: MNIST if $HINGE_DATA is a folder with
         mnist.npz, else data.images, which has the same shape and sparsity; 10,000 more rows to see how much each errs.
         As float32 too, and both as CSR. All in memory before the clock starts.
Peers    scikit-learn SGDClassifier(hinge, pa1, no penalty, no shuffle, no intercept), one partial_fit: what its
         PassiveAggressiveClassifier runs; one against all, 10 passes over the data. VW --oaa 10 (hinge loss, no
         constant), one pass over a cache file, which holds the non-zeros.
Ours     PAClassifier(step="pa1", C=1, selection="max", fit_intercept=False).partial_fit on the same arrays.
Limit    lanes.cpp: the same epoch as a plain C++ loop with the weights of a feature side by side.
Clock    CPU time of a single thread (VW: and its parser's), best of 15 (VW: of 5), taking turns.
Check    ours ends with the weights of the C++ loop, to 1e-8 (float32: 1e-4). The peers learn another model: what both
         err on the other rows is reported, too.
"""

from __future__ import annotations

import ctypes
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import vw
from data import Integers, images
from measure import Prepare, Row, Timing, Work, best_of, compared, compiled, main, optional, pointer
from w1_sparse_epoch import sklearn_learner

SKLEARN, LOOP, VW = "scikit-learn SGD(pa1)", "plain C++ loop", "VW --oaa"


@dataclass
class Data:
    """The same rows in every form: "dense" and "CSR", in float64 and float32; and more rows for the errors."""

    forms: Mapping[tuple[str, str], Any]
    y: Integers
    others: Any
    others_y: Integers

    @property
    def classes(self) -> int:
        return int(self.y.max()) + 1


def our_learner(dtype: str) -> Any:
    import hinge

    return hinge.PAClassifier(step="pa1", C=1.0, selection="max", fit_intercept=False, dtype=dtype)


def c_epoch(loops: Any, x: Any, y: Integers, classes: int) -> Work:
    real = "float" if x.dtype == np.float32 else "double"
    w = np.zeros((x.shape[1], classes), dtype=x.dtype)
    w.fill(0)  # takes its pages from the system now, before the clock starts
    if isinstance(x, np.ndarray):
        loop, arrays = getattr(loops, f"dense_{real}"), [ctypes.c_int64(x.shape[1]), pointer(x)]
    else:
        loop, arrays = (
            getattr(loops, f"sparse_{real}"),
            [pointer(x.indptr), pointer(x.indices), pointer(x.data)],
        )

    def epoch() -> Any:
        loop(
            ctypes.c_int64(x.shape[0]),
            *arrays,
            ctypes.c_int64(classes),
            pointer(y),
            ctypes.c_double(1.0),
            pointer(w),
        )
        return w.T

    return epoch


def one_form(data: Data, loops: Any, form: tuple[str, str], repeats: int) -> dict[str, Timing]:
    x, classes = data.forms[form], np.arange(data.classes)

    def one_epoch(learner: Callable[[], Any]) -> Prepare:
        return lambda: partial(learner().partial_fit, x, data.y, classes=classes)

    candidates: dict[str, Prepare | None] = {
        "ours": one_epoch(partial(our_learner, form[1])) if optional("hinge") else None,
        SKLEARN: one_epoch(sklearn_learner) if optional("sklearn") else None,
        LOOP: (lambda: c_epoch(loops, x, data.y, data.classes)) if loops else None,
    }
    return best_of(repeats, candidates)


def from_cache(data: Data, options: str, repeats: int) -> Timing | None:
    if not optional("vowpalwabbit"):
        return None
    with tempfile.TemporaryDirectory() as folder:
        text = vw.write_text(Path(folder, "rows.txt"), data.forms["CSR", "float64"], data.y)
        cache = vw.write_cache(options, text)
        return best_of(repeats, {VW: lambda: vw.from_cache(options, cache)})[VW]


def compare(data: Data, targets: Mapping[tuple[str, str], float], vw_options: str, repeats: int) -> list[Row]:
    """The rows of all forms; W3 has the same."""
    loops, rows, ours = compiled("lanes.cpp"), [], None
    for form in data.forms:
        timings = one_form(data, loops, form, repeats)
        target, name = targets.get(form), f"one epoch, {form[0]}, {form[1]}"
        row = compared(timings, name, SKLEARN, target, LOOP, same=False)
        errors = [
            f"{who} {np.mean(timings[peer].result.predict(data.others) != data.others_y):.1%}"
            for who, peer in (("it errs", SKLEARN), ("ours", "ours"))
            if peer in timings
        ]
        row.note = ", ".join(errors)
        loop = compared(timings, name, LOOP)
        loop.tolerance = 1e-8 if form[1] == "float64" else 1e-4
        rows += [row, loop]
        ours = timings.get("ours") if form == ("CSR", "float64") else ours
    cached = from_cache(data, vw_options, max(1, repeats // 3))
    note = (
        f"progressive: it errs {cached.result:.1%}, ours {ours.result.stats_.error:.1%}"
        if cached and ours
        else ""
    )
    last = Row("one epoch, cache file", VW, cached and cached.seconds, ours and ours.seconds, note=note)
    return [*rows, last]


def forms(x: Any, csr: Any) -> dict[tuple[str, str], Any]:
    return {
        ("dense", "float64"): x,
        ("dense", "float32"): x.astype(np.float32),
        ("CSR", "float64"): csr,
        ("CSR", "float32"): csr.astype(np.float32),
    }


def load(quick: bool) -> Data:
    from scipy.sparse import csr_matrix

    rows = 6000 if quick else 60_000
    file = Path(os.environ.get("HINGE_DATA", ""), "mnist.npz")
    if os.environ.get("HINGE_DATA") and file.exists():
        with np.load(file) as mnist:
            x, y = mnist["X_train"][:rows] / 255.0, mnist["y_train"][:rows].astype(np.int64)
            others, others_y = mnist["X_test"] / 255.0, mnist["y_test"].astype(np.int64)
    else:
        x, y = images(rows + 10_000)
        x, others, y, others_y = x[:rows], x[rows:], y[:rows], y[rows:]
    return Data(forms(x, csr_matrix(x)), y, others, others_y)


def run(quick: bool) -> list[Row]:
    options = "--oaa 10 --loss_function hinge --noconstant"
    return compare(load(quick), {("dense", "float64"): 8}, options, 3 if quick else 15)


if __name__ == "__main__":
    main(run)
