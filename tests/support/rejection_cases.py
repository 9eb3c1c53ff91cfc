"""The learners that invalid input is given to: plain ones, those of the geometries, and those with kernels."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
import scipy.sparse

import hinge

WIDTH, COUNT = 5, 40  # of a batch
BAD = 27  # the invalid row
TASKS = ("classification", "regression", "uniclass")
CLASSES = {
    "classification": [0, 1],
    **{task: [0, 1, 2] for task in ("multiclass", "cost", "multilabel", "ordinal")},
}
TASK_OPTIONS = {"cost": {"cost": [[0, 1, 2], [1, 0, 1], [2, 1, 0]]}}
SHAPES = {
    "full": {"geometry": "mahalanobis"},
    "diagonal": {"geometry": "diagonal"},
    "drop": {"geometry": "diagonal", "covariance_update": "drop"},
    "simplex": {"geometry": "entropy", "scale": 5.0},
    "plain simplex": {"geometry": "entropy", "scale": 5.0, "signed": False},
}


def csr(X):
    return scipy.sparse.csr_matrix(X)


def dense(values):
    return values.toarray() if scipy.sparse.issparse(values) else np.asarray(values)


def gram(X, Z):
    return dense(X @ Z.T) + 1.0


def stream(task, count=COUNT, seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((count, WIDTH)) < 0.7, rng.normal(size=(count, WIDTH)), 0.0)
    labels = rng.integers(0, 2 if task == "classification" else 3, count)
    y = {"regression": 3 * rng.normal(size=count), "uniclass": None}.get(task, labels)
    return X, [{label} for label in labels.tolist()] if task == "multilabel" else y


def truth(task):
    return {"uniclass": None, "multilabel": {1}, "regression": 0.5}.get(task, 1)


def pad(model, X):
    """The rows as wide as the model."""
    return np.pad(X, ((0, 0), (0, max(0, model.n_features - X.shape[1]))))


@dataclass(frozen=True)
class Case:
    """A kind of learner; `width` says how many columns it has learned before it is given invalid input."""

    task: str
    options: dict = field(default_factory=dict)
    width: int = WIDTH
    container: object = np.asarray
    count: int = COUNT
    bad: int = BAD

    @property
    def kernel(self):
        return "kernel" in self.options

    @property
    def covariance(self):
        return self.options.get("geometry") in ("mahalanobis", "diagonal")

    @property
    def sums(self):
        """Whether sums of weights predict, which overflow before the weights do."""
        return self.options.get("average", False) or "experts" in self.options or "C" in self.options

    @property
    def plain(self):
        return not self.kernel and "geometry" not in self.options

    def new(self, **options):
        more = {"classes": CLASSES[self.task]} if self.task in CLASSES else {}
        more |= TASK_OPTIONS.get(self.task, {})
        if self.task == "uniclass" and not self.plain:
            more["radius"] = 0.3
        task = "classification" if self.task in ("multiclass", "cost") else self.task
        return hinge.Learner(task, **{**more, **self.options, **options})

    def trained(self):
        model = self.new()
        if self.width:
            X, y = stream(self.task, self.count, seed=1)
            X = np.pad(X, ((0, 0), (0, (model.n_features or self.width) - WIDTH)))
            model.learn(csr(X), y)
            if self.kernel:
                model.learn(X[:30], None if y is None else y[:30])
        return model

    def trained_on_events(self):
        model, (X, y) = self.new(), stream(self.task, self.count, seed=1)
        model.learn_many([dict(zip("abcde", row, strict=True)) for row in X.tolist()], y)
        model.learn_one({"a": -2.0, "c": "red"}, truth(self.task))
        return model

    def stream(self, seed=0):
        return stream(self.task, self.count, seed)

    def rows(self, model, X):
        return self.container(pad(model, X))


def ids(case):
    options = ",".join(
        str(v if isinstance(v, str) else f"{k}={v}") for k, v in case.options.items() if k != "kernel"
    )
    kernel = case.options.get("kernel", "")
    kernel = "own" if callable(kernel) else kernel
    return "-".join(map(str, filter(None, (case.task, kernel, options, case.width, case.container.__name__))))


def parametrize(cases):
    return pytest.mark.parametrize("case", cases, ids=ids)


# Every way in which a batch is taken back: `width` columns of the model decide between a journal and a copy;
# a fresh model has nothing to take back; a small radius shrinks the scale below what is kept (uniclass).
WAYS = [(WIDTH, np.asarray), (WIDTH, csr), (3000, csr), (0, np.asarray), (0, csr)]
PLAIN_OPTIONS = [{}, {"average": True}, {"dtype": "float32", "average": True}, {"hash_bits": 12}]
MORE_OPTIONS = {
    "classification": [{"average": True, "class_weight": {0: 2.0}}],
    "regression": [],
    "uniclass": [
        {"radius": 1e-4, "step": "pa"},
        {"radius": 1e-4, "step": "pa", "average": True},
        {"radius": 1e-3, "step": "pa", "dtype": "float32"},
        {"max_radius": 2.0},
    ],
}
PLAIN = [
    Case(task, options, width, container)
    for task in TASKS
    for width, container in WAYS
    for options in PLAIN_OPTIONS + MORE_OPTIONS[task]
    if width or "hash_bits" not in options
]
KINDS_OF_SHAPES = [
    *(("classification", shape, {}) for shape in SHAPES),
    ("classification", "full", {"step": "perceptron", "average": True}),
    ("classification", "full", {"step": "cw", "dtype": "float32"}),
    ("classification", "drop", {"step": "cw", "average": True}),
    ("classification", "simplex", {"step": "pa", "hash_bits": 5}),
    ("regression", "full", {"step": "pa2", "average": True}),
    ("regression", "diagonal", {"step": "pa", "hash_bits": 5}),
    ("regression", "plain simplex", {"average": True}),
    ("uniclass", "simplex", {"average": True}),
    ("uniclass", "plain simplex", {"step": "pa"}),
    ("multiclass", "full", {"selection": "simproj", "step": "pa2"}),
    ("multiclass", "diagonal", {"step": "perceptron", "selection": "uniform"}),
    ("multiclass", "simplex", {"selection": "conproj"}),
    ("multilabel", "full", {"step": "cw"}),
    ("multilabel", "simplex", {"average": True}),
    ("ordinal", "diagonal", {"selection": "simproj"}),
    ("ordinal", "full", {"average": True}),
    ("ordinal", "simplex", {"selection": "conproj"}),
]
SHAPED = [
    Case(task, {**SHAPES[shape], **options}, width, container)
    for task, shape, options in KINDS_OF_SHAPES
    for width in (WIDTH, 0)
    for container in (np.asarray, csr)
]
KERNELS = {
    "linear": {"kernel": "linear"},
    "poly": {"kernel": "poly", "gamma": 0.5, "coef0": 1.0},
    "rbf": {"kernel": "rbf", "gamma": 0.3},
    "own": {"kernel": gram},
}
BUDGETS = (None, 8, "adaptive")
# More rows: supports are removed or merged before the invalid one comes.
KERNEL = [
    Case(task, {**kernel, "budget": budget}, WIDTH, container, count=150, bad=100)
    for number, task in enumerate((*CLASSES, "regression", "uniclass"))
    for place, (name, kernel) in enumerate(KERNELS.items())
    for budget in (BUDGETS if name == "rbf" else [BUDGETS[(number + place) % 3]])
    for container in (np.asarray, csr)
]
EXPERTS = ["pa", "pa1:0:average", "arow:0", "scaled:pa1:-1", "scaled:arow:0:average"]
COMMITTEES = [
    Case(task, options, width, container)
    for number, task in enumerate(("classification", "multiclass", "regression", "multilabel", "ordinal"))
    for width, container in WAYS
    for options in ({"C": "auto", "average": number % 2 == 0}, {"experts": EXPERTS})
]
CASES = PLAIN + SHAPED + COMMITTEES + KERNEL


def one_of_each(cases):
    """Without the variants that differ in width or container only."""
    return list({(case.task, repr(case.options)): case for case in reversed(cases)}.values())[::-1]


def still_learns(model, case):
    """Rejected input has left nothing behind that the state does not show either."""
    X, y = case.stream(seed=2)
    kernel = model.parameters["kernel"]
    again = hinge.Learner.from_bytes(model.to_bytes(), kernel=kernel if callable(kernel) else None)
    for each in (model, again):
        each.learn(case.rows(each, X), y)
    if callable(kernel):
        np.testing.assert_allclose(model.dual_coef, again.dual_coef, rtol=1e-8, atol=1e-10)
    else:
        assert model.to_bytes() == again.to_bytes()


def is_well(model):
    """All numbers are finite, the covariance is positive, the weights are on their simplex; and it can be saved."""
    assert np.isfinite(model.weights).all()
    assert np.isfinite(model.last_weights).all()
    if model.parameters["geometry"] == "entropy":
        total = np.abs(model.last_weights).sum() + np.abs(model.last_intercept).sum()
        assert total <= model.parameters["scale"] * (1 + 1e-6)
    else:
        S = model.covariance
        variances = S if S.ndim == 1 else np.diag(S)
        assert np.isfinite(S).all()
        assert (variances > 0).all()
        assert (variances <= model.parameters["initial_variance"] * (1 + 1e-9)).all()
    assert hinge.Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()
