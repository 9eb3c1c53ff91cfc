"""Model files with supports that are none: always a ModelFileError, or a model that works; never a crash."""

from __future__ import annotations

import numpy as np
import pytest

import hinge
from hinge import ModelFileError
from hinge.model import file
from model_files import changed, header_with, leaves, put, refused, tensor, without

CASES = [
    ("classification", {"kernel": "rbf", "gamma": 0.5}),
    ("classification", {"kernel": "rbf", "gamma": 0.5, "budget": 3}),
    ("regression", {"kernel": "poly", "gamma": 0.5, "budget": "adaptive"}),
    ("regression", {"kernel": "linear", "average": True}),
    ("uniclass", {"kernel": "rbf", "gamma": 0.5, "budget": 3, "radius": 0.2}),
    ("multiclass", {"kernel": "rbf", "gamma": 0.5, "budget": 4, "dtype": "float32"}),
    ("multilabel", {"kernel": "linear", "budget": 3}),
    ("multilabel", {"kernel": "rbf", "gamma": 0.1, "threshold": 0.0}),
    ("ordinal", {"kernel": "rbf", "gamma": 0.5, "budget": 3, "classes": [0, 1, 2]}),
    ("ordinal", {"kernel": "linear", "classes": [0, 1, 2]}),
]
cases = pytest.mark.parametrize(("task", "options"), CASES, ids=str)
EVENTS = [
    {"a": 1.0, "b": 2.0}, {"b": -1.0, "c": 0.5}, {"a": 1.0, "c": 1.0}, {"c": -3.0}, {"a": -2.0, "b": 0.5}, {"d": 1.5},
]  # fmt: skip
ALWAYS = ("v", "u", "biases", "bias_sums",
          "support_numbers", "support_ages", "support_starts", "support_columns", "support_values", "support_given",
          "scale", "alpha", "norm2", "sum_norm2", "sum_product", "origin", "weight_bound",
          "tallied", "insertions", "removals", "examples", "sparse", "columns",
          "loss", "squared_loss", "largest_q", "progress", "cost",
          "rounds", "mistakes", "updates", "capped", "weighted", "awaits_first", "ignored")  # fmt: skip
TEXTS = {"settings", "names", "labels"}
QUANTILE = ("quantile_value", "quantile_spread", "quantile_seen")
BUDGETED = ("support_products", "support_truths", "support_truth_starts", "support_truth_labels")


def truths(task):
    return {
        "regression": [1.0, 2.0, -9.0, 4.0, -2.0, 3.0],
        "uniclass": None,
        "multilabel": [{"a"}, {"a", "b"}, {"c"}, {"b"}, {"a", "c"}, set()],
        "ordinal": [0, 2, 1, 0, 2, 1],
        "multiclass": ["no", "yes", "maybe", "no", "yes", "yes"],
    }.get(task, ["no", "yes", "yes", "no", "yes", "no"])


def small(task, options):
    model = hinge.Learner("classification" if task == "multiclass" else task, **options)
    model.learn_many(EVENTS, truths(task))
    assert model.n_support > 1
    return model


def tensors_of(task, options):
    by_quantile = task == "uniclass" and not {"radius", "max_radius"} & set(options)
    return [*ALWAYS, *(BUDGETED if options.get("budget") else ()), *(QUANTILE if by_quantile else ())]


@cases
def test_every_tensor_is_needed_and_of_its_type_and_length(task, options, tmp_path):
    model = small(task, options)
    found = model.to_parts()[1]
    assert set(found) == {*tensors_of(task, options)} | TEXTS
    for name in tensors_of(task, options):
        changes = [
            without(name),
            tensor(name, lambda a: np.append(a, a.ravel()[-1:] if a.size else np.zeros(1, a.dtype))),
            tensor(name, lambda a: a[None]),
            tensor(name, lambda a: a.astype(np.float32)),
            tensor(name, lambda a: a.astype(np.int64 if a.dtype == np.float64 else np.float64)),
        ]
        if found[name].size:
            changes.append(tensor(name, lambda a: a.ravel()[:-1]))
            changes.append(tensor(name, lambda a: a.ravel()[:0]))
        if found[name].dtype == np.float64:
            for value in (np.nan, np.inf):
                changes += [put(name, place, value) for place in np.ndindex(found[name].shape)]
        else:
            for value in (-1, 2**62, -(2**63)):
                changes += [put(name, place, value) for place in np.ndindex(found[name].shape)]
        for number, change in enumerate(changes):
            data = changed(model, change)
            if number % 7 == 0:
                refused(data, tmp_path)
            else:
                with pytest.raises(ModelFileError):
                    hinge.Learner.from_bytes(data)


@cases
def test_supports_that_contradict_each_other(task, options, tmp_path):
    model = small(task, options)
    found = model.to_parts()[1]
    count = model.n_support
    several = int(np.flatnonzero(np.diff(found["support_starts"]) > 1)[0])
    place = int(found["support_starts"][several])

    def swapped(name, i, j):
        def change(header, tensors):
            values = tensors[name].copy()
            values[[i, j]] = values[[j, i]]
            tensors[name] = values

        return change

    changes = {
        "columns out of order": swapped("support_columns", place, place + 1),
        "a column twice": put("support_columns", place + 1, int(found["support_columns"][place])),
        "a column that the model has not": put("support_columns", -1, 9),
        "a column beyond all": put("support_columns", -1, 2**40),
        "starts that go back": put("support_starts", 1, 10**6),
        "starts that begin late": put("support_starts", 0, 1),
        "the same age twice": put("support_ages", 0, int(found["support_ages"][1])),
        "an age to come": put("support_ages", 0, 10**6),
        "more that went than came": put("removals", (), 10**6),
        "one more that came": put("insertions", (), int(found["insertions"]) + 1),
        "neither sparse nor dense": put("sparse", (), 2),
        "fewer columns": put("columns", (), 1),
        "more columns than there may be": put("columns", (), 2**60),
        "a scale of 0": put("scale", (), 0.0),
        "a negative scale": put("scale", (), -1.0),
        "no kernel": header_with("parameters", "kernel", value=None),
        "a function": header_with("parameters", "kernel", value={"function": "kernel"}),
        "an unknown kernel": header_with("parameters", "kernel", value="cosine"),
        "a gamma of 0": header_with("parameters", "gamma", value=0.0),
        "gamma to be measured": header_with("parameters", "gamma", value="scale"),
        "a degree of 1.5": header_with("parameters", "degree", value=1.5),
        "a smaller budget": header_with("parameters", "budget", value=count - 1),
        "a geometry": header_with("parameters", "geometry", value="diagonal"),
        "another task": header_with("task", value="prototype"),
    }
    if options["kernel"] == "linear":
        del changes["gamma to be measured"]
    if options.get("budget"):
        changes["no budget, but an average"] = header_with("parameters", "average", value=True)
        if task in ("multiclass", "ordinal"):
            changes["a label that is none"] = put("support_truths", 0, 3.0)
            changes["half a label"] = put("support_truths", 0, 0.5)
        if task == "multilabel":
            changes["a label that is none"] = put("support_truth_labels", 0, 3)
    for what, change in changes.items():
        try:
            refused(changed(model, change), tmp_path)
        except BaseException as error:
            error.add_note(what)
            raise


@cases
def test_any_other_number_anywhere(task, options):
    """With a right checksum: refused, or a model that can be asked and learns on (or refuses to); never a crash."""
    model = small(task, options)
    found, loaded = model.to_parts()[1], 0
    for name in tensors_of(task, options):
        for place in np.ndindex(found[name].shape):
            for value in (-1e9, 0.0, 1e-300, 2.0, 250.0, 1e100, 1.7e308):
                if found[name].dtype != np.float64 and value > 1e15:
                    continue
                try:
                    again = hinge.Learner.from_bytes(changed(model, put(name, place, value)))
                except ModelFileError:
                    continue
                loaded += 1
                for use in (
                    lambda m: m.score_one({"a": 1.0, "c": 2.0}),
                    lambda m: m.learn_many(EVENTS, truths(task)),
                    lambda m: m.to_bytes(),
                    lambda m: (m.support, m.dual_coef, m.support_vectors, m.n_support, m.__sizeof__()),
                    lambda m: hinge.Learner.from_bytes(m.to_bytes()),
                ):
                    try:
                        use(again)
                    except ValueError as error:
                        assert "large" in str(error) or "overflow" in str(error)  # noqa: PT017
    assert loaded > 20


def test_any_other_value_in_the_header(tmp_path):
    values = [
        None,
        True,
        0,
        -1,
        2**70,
        1.5,
        float("nan"),
        "",
        "x",
        [],
        {},
        "rbf",
        "adaptive",
        {"function": "kernel"},
    ]
    for task, options in CASES[1:3]:
        model, loaded, place = small(task, options), 0, tmp_path / "a-model"
        header, _ = model.to_parts()
        for path in list(leaves(header))[1:]:
            for value in values:
                place.write_bytes(changed(model, header_with(*path, value=value)))
                try:
                    again = hinge.load(place)
                except ModelFileError:
                    continue
                loaded += 1
                again.predict_one({"a": 1.0})
                again.to_bytes()
        assert loaded > 10


@cases
def test_every_flip_of_a_bit_is_found(task, options):
    data = small(task, options).to_bytes()
    for place in range(0, len(data), 5):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ModelFileError):
            file.from_bytes(bytes(flipped))


def test_weights_are_no_supports(tmp_path):
    plain = hinge.Learner("regression")
    plain.learn_many(EVENTS, truths("regression"))
    refused(changed(plain, header_with("parameters", "kernel", value="linear")), tmp_path)
    supports = small(*CASES[3])
    for name in BUDGETED:
        refused(changed(supports, lambda h, t: h["parameters"].update(budget=8, average=False)), tmp_path)
        assert name not in supports.to_parts()[1]


def test_a_model_keeps_its_columns(tmp_path):
    """Also those in which no support has a value, or none at all."""
    for count in (0, 3):
        model = hinge.Learner("regression", kernel="rbf", gamma=1.0, budget=2)
        X = np.pad(np.random.default_rng(0).normal(size=(3, 2)), ((0, 0), (1, 4)))
        model.learn(X[:count] if count else X, np.ones(3) * count)
        model.save(tmp_path / "model")
        again = hinge.load(tmp_path / "model")
        assert again.n_features == 7
        np.testing.assert_array_equal(again.scores(X), model.scores(X))
        assert again.support_vectors.shape[1] == 7
