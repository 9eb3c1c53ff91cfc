"""Probabilities on real sets: `predict_proba` after `fit` and after one pass of a stream, with default options.

For each set: the log loss (natural logarithm), and how far probabilities are off: the mean of |right - expected| over
ten bins. `--picture FILE` draws a reliability diagram of one stream. With HINGE_DATA=<folder>; a minute or two.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.svm import LinearSVC

from fit_sets import SETS, FitSet, Split
from hinge import AutoClassifier, PAClassifier
from hinge.plots import plot_reliability
from hinge.plots.reliability import highest, reliability

CHOSEN = ("bupa", "crx", "spambase", "letter", "usps", "covtype", "elec2", "wine_quality_red", "novelty_mammography",
          "novelty_thyroid", "reuters top 10", "sms spam", "webkb", "rcv1 small")  # fmt: skip


def stream(make: Callable[[], Any]) -> Callable[[], Any]:
    """A learner that `fit` gives one pass, as a stream."""
    return lambda: make().set_params(max_iter=1)


METHODS: dict[str, Callable[[], Any]] = {
    "AutoClassifier, fit": lambda: AutoClassifier(random_state=0),
    "AutoClassifier, one pass": stream(lambda: AutoClassifier(random_state=0)),
    "PAClassifier, fit": lambda: PAClassifier(random_state=0),
    "LogisticRegression": lambda: LogisticRegression(max_iter=1000),
    "CalibratedClassifierCV(LinearSVC)": lambda: CalibratedClassifierCV(LinearSVC(random_state=0), cv=5),
}


def judged(model: Any, split: Split) -> tuple[float, float]:
    """The log loss, and how far the highest probabilities are off."""
    found = model.predict_proba(split.test_X)
    classes = model.classes_
    known = np.isin(split.test_y, classes)  # a label may be missing in a small set
    found, truth = found[known], np.asarray(split.test_y)[known]
    bins = reliability(*highest(truth, found, classes))
    off = sum(b.predictions * abs(b.right - b.probability) for b in bins) / sum(b.predictions for b in bins)
    return log_loss(truth, np.clip(found, 1e-15, None), labels=classes), off


def results() -> Iterator[tuple[FitSet, dict[str, tuple[float, float]]]]:
    for name in CHOSEN:
        for its in SETS[name]():
            scores: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
            for split in its.splits:
                for name, make in METHODS.items():
                    scores[name].append(judged(make().fit(split.X, split.y), split))
            yield its, {name: tuple(np.mean(each, axis=0)) for name, each in scores.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--picture", help="draw a reliability diagram into this file, and nothing else")
    wanted = parser.parse_args().picture
    warnings.simplefilter("ignore")
    if wanted:
        return draw(wanted)
    print("| set | columns | " + " | ".join(METHODS) + " |")
    print("|---" * (2 + len(METHODS)) + "|")
    ratios: dict[str, list[float]] = {name: [] for name in METHODS}
    for its, scores in results():
        least = min(loss for loss, _ in scores.values())
        cells = []
        for name, (loss, off) in scores.items():
            ratios[name].append(loss / scores["LogisticRegression"][0])
            cells.append(
                f"{'**' * int(loss == least)}{loss:.3f}{'**' * int(loss == least)} ({100 * off:.1f} %)"
            )
        print(f"| {its.name} | {its.kind} | " + " | ".join(cells) + " |", flush=True)
    for name, each in ratios.items():
        print(
            f"{name}: {np.exp(np.mean(np.log(each))):.2f} times the log loss of LogisticRegression (geometric mean)"
        )


def draw(path: str) -> None:
    """elec2 in time: each probability was said before its label was seen."""
    from fit_sets import folder

    with np.load(folder() / "elec2.npz") as file:
        X, y = file["X"].astype(float)[:20000], file["y"][:20000]
    model, truths, said = AutoClassifier(), [], []
    for row, label in zip(X.tolist(), y.tolist(), strict=True):
        x = dict(enumerate(row))
        truths.append(label)
        said.append(model.predict_proba_one(x))
        model.learn_one(x, label)
    plot_reliability(truths, said, path)


if __name__ == "__main__":
    main()
