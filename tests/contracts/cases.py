"""Every kind of learner that the contracts are checked on, and small streams for them."""

from __future__ import annotations

import itertools

import numpy as np
import scipy.sparse

import hinge
from hinge import model_file

WIDTH = 7
NAMES = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta"]
LABELS = np.array(["ham", "spam"])
STEPS = {
    "classification": ("pa", "pa1", "pa2", "perceptron"),
    "regression": ("pa", "pa1", "pa2"),
    "uniclass": ("pa", "pa1", "pa2"),
}


def _learners():
    for task, steps in STEPS.items():
        last = ("max_radius", (None, 2.5)) if task == "uniclass" else ("fit_intercept", (False, True))
        for step, average, dtype, hash_bits, value in itertools.product(
            steps, (False, True, 9), ("float64", "float32"), (None, 6), last[1]
        ):
            if average == 9 and (step != "pa1" or hash_bits):  # an average that starts late: enough is enough
                continue
            yield (
                task,
                {
                    "C": 0.3,
                    "step": step,
                    "average": average,
                    "dtype": dtype,
                    "hash_bits": hash_bits,
                    last[0]: value,
                },
            )


ALL = list(_learners())
# One of each step, and one of each option.
SOME = [
    (task, options)
    for task, options in ALL
    if (options["average"], options["dtype"], options["hash_bits"])
    in ((False, "float64", None), (True, "float64", None), (True, "float32", 6))
]
VOCABULARY = [(task, options) for task, options in ALL if options["hash_bits"] is None]


def name(case):
    """The id of a case: what is not the default."""
    if isinstance(case, str):
        return case
    if isinstance(case, dict):
        return (
            "-".join(
                str(v) if k == "step" else f"{k}={v}"
                for k, v in case.items()
                if k != "C" and v not in (False, None, "float64")
            )
            or "plain"
        )
    return None


def new(task, options, **more):
    if task == "classification":
        more.setdefault("classes", LABELS.tolist())
    if task == "uniclass" and options.get("max_radius") is None:
        more.setdefault("radius", 0.8)
    return hinge.Learner(task, **{**more, **options})


def stream(task, count=60, seed=0):
    """Rows with zeros among them, one row of zeros only, targets, and weights with zeros among them."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((count, WIDTH)) < 0.6, rng.normal(size=(count, WIDTH)), 0.0)
    X[count // 2] = 0.0
    w = rng.normal(size=WIDTH)
    scores = X @ w + 0.3 + 0.3 * rng.normal(size=count)
    y = {"classification": LABELS[(scores > 0).astype(int)], "regression": scores, "uniclass": None}[task]
    return X, y, rng.choice([0.0, 0.4, 1.0, 3.0], size=count)


def rows_for(options, X):
    """As wide as the model: to a hashed one an array has all of its columns."""
    return np.pad(X, ((0, 0), (0, 2 ** options["hash_bits"] - WIDTH))) if options.get("hash_bits") else X


def numbered(X):
    """Events whose features are called by the numbers of the columns."""
    return [{j: value for j, value in enumerate(row) if value} for row in X.tolist()]


def as_dict(row):
    return {NAMES[j]: float(value) for j, value in enumerate(row) if value != 0}


def as_dicts(X):
    return [as_dict(row) for row in X]


def part(y, rows):
    return None if y is None else y[rows]


def one(y, i):
    """The target of one event, a plain value."""
    return None if y is None else y[i].item()


def csr(X, index=np.int32):
    matrix = scipy.sparse.csr_matrix(X)
    matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
    return matrix


def weights_by_name(learner):
    """w in the order of NAMES, whatever the order of the columns."""
    if learner.feature_names and learner.feature_names[0] != 0:
        known = learner.named_weights()
        return np.array([known.get(name, 0.0) for name in NAMES])
    return np.pad(learner.weights.astype(float), (0, max(0, WIDTH - learner.n_features)))


def tensors(model):
    """All that learning has changed, as bytes."""
    learner = model if isinstance(model, hinge.Learner) else model._learner
    return {key: value.tobytes() for key, value in learner.to_parts()[1].items()}


def state(model):
    """All of a model, as bytes."""
    return model.to_bytes() if isinstance(model, hinge.Learner) else model_file.to_bytes(*model.to_parts())
