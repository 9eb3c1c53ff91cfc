"""The peers of `good_without_tuning.py` on a stream: each predicts a row, gets the truth, and learns it.

All are as they come: no option was chosen. A peer returns its predictions; None: it has no such task.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from streams import Stream

Floats = Any


def error(stream: Stream, y: Any, predicted: Any) -> float:
    """Wrong labels, the mean distance of numbers or grades, or the share of wrong labels of a set."""
    if stream.task == "classification":
        return float(np.mean(predicted != y))
    if stream.task == "multilabel":
        return float(np.mean(predicted != y))
    distances = np.abs(np.asarray(predicted, dtype=np.float64) - y)
    return float(np.mean(np.nan_to_num(distances, nan=np.inf)))


def as_grades(stream: Stream, numbers: Any) -> Any:
    """A grade is predicted as a number, and rounded."""
    if stream.task != "ordinal":
        return numbers
    return np.clip(np.rint(np.nan_to_num(numbers)), 0, stream.classes - 1)


# ---- Vowpal Wabbit -------------------------------------------------------------------------------------------


def vw(stream: Stream, x: Any, y: Any) -> Any:
    """Its default is the squared loss, also of two classes."""
    names = {"classification": f"--oaa {stream.classes}", "multilabel": f"--multilabel_oaa {stream.classes}"}
    two = stream.task == "classification" and stream.classes == 2
    return run_vw(stream, x, y, "--binary" if two else names.get(stream.task, ""))


def vw_logistic(stream: Stream, x: Any, y: Any) -> Any:
    if stream.task != "classification":
        return None
    two = stream.classes == 2
    return run_vw(
        stream, x, y, "--loss_function logistic " + ("--binary" if two else f"--oaa {stream.classes}")
    )


def run_vw(stream: Stream, x: Any, y: Any, options: str) -> Any:
    from vowpalwabbit import Workspace

    bits = max(18, int(np.ceil(np.log2(x.shape[1] * stream.classes)))) if stream.task != "regression" else 18
    with tempfile.TemporaryDirectory() as folder:
        text, made = Path(folder, "text"), Path(folder, "predictions")
        with text.open("w", encoding="ascii") as file:
            file.writelines(vw_lines(stream, x, y))
        workspace = Workspace(f"--quiet -b {min(bits, 26)} {options} -d {text} -p {made}")
        workspace.run_parser()
        workspace.finish()
        lines = made.read_text(encoding="ascii").splitlines()
    lines = lines[: len(y)]
    if stream.task == "multilabel":
        predicted = np.zeros_like(y)
        for row, line in zip(predicted, lines, strict=True):
            row[[int(label) for label in line.strip().split(",") if label]] = 1
        return predicted
    numbers = np.array([float(line.split()[0]) for line in lines])
    if stream.task == "classification":
        return (numbers > 0).astype(int) if stream.classes == 2 else numbers.astype(int) - 1
    return as_grades(stream, numbers)


def vw_lines(stream: Stream, x: Any, y: Any) -> Iterator[str]:
    for (columns, values), truth in zip(sparse_rows(x), y, strict=True):
        if stream.task == "multilabel":
            label = ",".join(str(i) for i in np.flatnonzero(truth))
        elif stream.task == "classification":
            label = str(2 * truth - 1) if stream.classes == 2 else str(truth + 1)
        else:
            label = repr(float(truth))
        yield f"{label} | " + " ".join(f"{c}:{v:.9g}" for c, v in zip(columns, values, strict=True)) + "\n"


def sparse_rows(x: Any) -> Iterator[tuple[list[int], list[float]]]:
    if isinstance(x, np.ndarray):
        for row in x:
            there = np.flatnonzero(row)
            yield there.tolist(), row[there].tolist()
        return
    for start, stop in zip(x.indptr[:-1], x.indptr[1:], strict=True):
        yield x.indices[start:stop].tolist(), x.data[start:stop].tolist()


# ---- River ---------------------------------------------------------------------------------------------------


def river_logistic(stream: Stream, x: Any, y: Any) -> Any:
    from river.linear_model import LinearRegression, LogisticRegression

    return run_river(stream, x, y, LogisticRegression(), LinearRegression())


def river_pa(stream: Stream, x: Any, y: Any) -> Any:
    from river.linear_model import PAClassifier, PARegressor

    return run_river(stream, x, y, PAClassifier(), PARegressor())


def run_river(stream: Stream, x: Any, y: Any, classifier: Any, regressor: Any) -> Any:
    """StandardScaler, then the learner; one learner per class or per label."""
    from river.compose import Pipeline
    from river.multiclass import OneVsRestClassifier
    from river.preprocessing import StandardScaler

    if stream.task == "multilabel":
        return None  # minutes
    numbers = stream.task != "classification"
    learner = regressor if numbers else classifier
    if not numbers and stream.classes > 2:
        learner = OneVsRestClassifier(learner)
    model, made = Pipeline(StandardScaler(), learner), []
    dense = isinstance(x, np.ndarray)
    rows = (
        (enumerate(row.tolist()) for row in x)
        if dense
        else (zip(*row, strict=True) for row in sparse_rows(x))
    )
    for row, truth in zip(rows, y.tolist(), strict=True):
        event = dict(row)
        truth = bool(truth) if not numbers and stream.classes == 2 else truth
        made.append(model.predict_one(event))
        model.learn_one(event, truth)
    if numbers:
        return as_grades(stream, np.array(made))
    return np.array([-1 if label is None else int(label) for label in made])


# ---- scikit-learn --------------------------------------------------------------------------------------------

BATCH, LARGE_BATCH = 10, 50


def sgd(stream: Stream, x: Any, y: Any) -> Any:
    """SGDClassifier() or SGDRegressor(), in batches: it predicts ten rows, and then learns them. Where it has more than
    200,000 weights, 50 rows: each call copies all weights."""
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    if stream.task == "multilabel":
        return np.column_stack([sgd_of(SGDClassifier(random_state=0), x, label, [0, 1]) for label in y.T])
    if stream.task == "classification":
        return sgd_of(SGDClassifier(random_state=0), x, y, list(range(stream.classes)))
    return as_grades(stream, sgd_of(SGDRegressor(random_state=0), x, y, None))


def sgd_of(learner: Any, x: Any, y: Any, classes: list[int] | None) -> Any:
    made = np.zeros(len(y), dtype=np.float64)
    batch = LARGE_BATCH if x.shape[1] * len(classes or [0]) > 200_000 else BATCH
    for i in range(0, len(y), batch):
        rows = x[i : i + batch]
        if i > 0:
            try:
                made[i : i + batch] = learner.predict(rows)
            except ValueError:  # its weights are not finite
                made[i : i + batch] = np.nan
                continue
        try:
            learner.partial_fit(rows, y[i : i + batch], **({} if classes is None else {"classes": classes}))
        except ValueError:
            continue
    return made


PEERS = {
    "VW": vw,
    "VW, logistic": vw_logistic,
    "River, logistic": river_logistic,
    "River, PA": river_pa,
    "SGD": sgd,
}
