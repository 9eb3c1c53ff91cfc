"""Vowpal Wabbit through its Python package, fed from files: one against all, from text or from a cache."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from measure import Work


def write_text(path: Path, x: Any, y: Any) -> Path:
    """A CSR matrix as VW's text, its labels 0, 1, ... as 1, 2, ...: "3 | 17:0.25 ..."."""
    digits = [f"{column}:" for column in range(x.shape[1])]
    indices, values, starts = x.indices.tolist(), x.data.tolist(), x.indptr.tolist()
    with path.open("w", encoding="ascii") as file:
        for label, start, stop in zip(np.asarray(y).tolist(), starts[:-1], starts[1:], strict=True):
            row = zip(indices[start:stop], values[start:stop], strict=True)
            file.write(
                f"{label + 1} | " + " ".join([f"{digits[column]}{value:.6g}" for column, value in row]) + "\n"
            )
    return path


def run(options: str) -> Any:
    """A finished run over the files that the options name. (Calling it in `with` would lose the sums.)"""
    from vowpalwabbit import Workspace

    workspace = Workspace(f"--quiet {options}")
    if "-d " not in options:
        workspace.run_parser()
    return workspace


def error(workspace: Any) -> float:
    """The part of the rows whose label was not predicted, each before it was learned."""
    return float(workspace.get_sum_loss() / workspace.get_weighted_examples())


def from_cache(options: str, cache: Path) -> Work:
    """One pass over a cache file, ready to go; the result is its progressive error."""
    from vowpalwabbit import Workspace

    workspace = Workspace(f"--quiet {options} --cache_file {cache}")

    def epoch() -> float:
        workspace.run_parser()
        return error(workspace)

    return epoch


def write_cache(options: str, text: Path) -> Path:
    """The text as VW's own binary file, which it reads without parsing."""
    cache = text.with_suffix(".cache")
    run(f"{options} -d {text} --cache_file {cache} -k").finish()
    return cache


class OneAgainstAll:
    """`--oaa` with the calls of an estimator; `C` is the learning rate. Rows go through files in `folder`."""

    def __init__(self, folder: Path, classes: int, C: float, passes: int = 1) -> None:
        self.folder, self.classes, self.rate, self.passes = folder, classes, C, passes
        self.model = folder / "model"

    def text(self, x: Any, y: Any) -> Path:
        """Written once for each matrix; `x` keeps its path."""
        path: Path | None = getattr(x, "vw_text", None)
        if path is None:
            path = write_text(self.folder / f"{len(list(self.folder.iterdir()))}.txt", x, y)
            x.vw_text = path
        return path

    def fit(self, x: Any, y: Any) -> Any:
        again = (
            f"--passes {self.passes} --holdout_off --cache_file {self.model}.cache -k"
            if self.passes > 1
            else ""
        )
        bits = max(18, int(np.ceil(np.log2(x.shape[1] * self.classes))))
        workspace = run(
            f"--oaa {self.classes} --loss_function hinge -l {self.rate} -b {bits} {again} -d {self.text(x, y)} "
            f"-f {self.model}"
        )
        self.progressive = error(workspace)
        workspace.finish()
        return self

    def error(self, x: Any, y: Any) -> float:
        workspace = run(f"-t -i {self.model} -d {self.text(x, y)}")
        wrong = error(workspace)
        workspace.finish()
        return wrong
