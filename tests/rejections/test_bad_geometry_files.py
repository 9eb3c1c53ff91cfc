"""Model files with a covariance or a simplex that is none: always a ModelFileError, or a model that works."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hinge
from hinge import ModelFileError
from hinge.model import file
from model_files import changed, header_with, leaves, put, refused, tensor, text, without

GEOMETRIES = ("mahalanobis", "diagonal", "entropy")
KINDS = [
    *((geometry, "classification", {}) for geometry in GEOMETRIES),
    ("entropy", "regression", {"signed": False}),
    ("entropy", "uniclass", {"radius": 1.0}),
    ("mahalanobis", "multilabel", {}),
    ("diagonal", "ordinal", {"classes": [0, 1, 2]}),
    ("entropy", "ordinal", {"classes": [0, 1, 2]}),
]


def small(geometry, task="classification", **options):
    model = hinge.Learner(task, average=True, geometry=geometry, **options)
    y = {
        "regression": [1.0, 2.0, -9.0],
        "uniclass": None,
        "multilabel": [{"a"}, {"a", "b"}, {"c"}],
        "ordinal": [0, 2, 1],
    }.get(task, ["no", "yes", "yes"])
    model.learn_many([{"a": 1.0, "b": 2.0}, {"b": -1.0, "c": 0.5}, {"a": 1.0, "c": 1.0}], y)
    assert model.statistics.updates > 0
    return model


# The shape is what was added to the trace of the inverse, then the variances D (intercept first) and U column by
# column; or of a diagonal one, what was added to the inverse of each.
SHAPES = {
    "no covariance": without("shape"),
    "nothing in it": tensor("shape", lambda a: a[:0]),
    "too few numbers": tensor("shape", lambda a: a[:-1]),
    "too many numbers": tensor("shape", lambda a: np.r_[a, 0.5]),
    "a matrix": tensor("shape", lambda a: a[None]),
    "NaN": put("shape", 2, np.nan),
    "infinity": put("shape", 2, np.inf),
    "NaN in the end": put("shape", -1, np.nan),
    "a negative variance": put("shape", 1, -0.5),
    "a tiny negative variance": put("shape", 3, -5e-324),
    "an entry beyond all": put("shape", -1, 1e200),
    "less than nothing added": put("shape", 0, -1.0),
    "too much added": put("shape", 0, 1e200),
    "no geometry": header_with("parameters", "geometry", value="euclidean"),
    "a simplex": header_with("parameters", "geometry", value="entropy"),
    "an unknown geometry": header_with("parameters", "geometry", value="riemann"),
    "no intercept": header_with("parameters", "fit_intercept", value=False),
    "a start beyond all": header_with("parameters", "initial_variance", value=1e300),
    "biases": lambda header, tensors: tensors.update(biases=np.zeros(2)),
}
FULL = {
    "a diagonal one": header_with("parameters", "geometry", value="diagonal"),
    "a variance of 0": put("shape", 1, 0.0),
    "a variance above the start": put("shape", 1, 1.5),
    "a smaller start": header_with("parameters", "initial_variance", value=0.1),
    "whole numbers": tensor("shape", lambda a: a.astype(np.int64)),
    "a limit below": header_with("parameters", "max_covariance", value=8.0),
}
DIAGONAL = {
    "a full one": header_with("parameters", "geometry", value="mahalanobis"),
    "nothing added": put("shape", 0, 0.0),
}


@pytest.mark.parametrize(
    ("geometry", "change"),
    [
        *(
            pytest.param(g, change, id=f"{g}-{what}")
            for g in GEOMETRIES[:2]
            for what, change in SHAPES.items()
        ),
        *(pytest.param("mahalanobis", change, id=f"full-{what}") for what, change in FULL.items()),
        *(pytest.param("diagonal", change, id=f"diagonal-{what}") for what, change in DIAGONAL.items()),
    ],
)
def test_covariances_that_are_none(geometry, change, tmp_path):
    refused(changed(small(geometry), change), tmp_path)


# The simplex: v is theta.
SIMPLEX = {
    "no biases": without("biases"),
    "no sums of biases": without("bias_sums"),
    "too few biases": tensor("biases", lambda a: a[:-1]),
    "a bias of NaN": put("biases", 0, np.nan),
    "a sum of biases of NaN": put("bias_sums", 0, np.nan),
    "an exponent of NaN": put("v", 0, np.nan),
    "an infinite exponent": put("v", 1, np.inf),
    "another exponent": put("v", 0, 3.0),
    "an exponent far below": put("v", 0, -200.0),
    "exponents in single": tensor("v", lambda a: a.astype(np.float32)),
    "fewer exponents": tensor("v", lambda a: a[:-1]),
    "no mass": put("mass", (), 0.0),
    "a negative mass": put("mass", (), -1.0),
    "twice the mass": tensor("mass", lambda a: np.array(a * 2.0)),
    "a bit more mass": tensor("mass", lambda a: np.array(a * 1.0001)),
    "a mass of NaN": put("mass", (), np.nan),
    "another shift": put("shift", (), 500.0),
    "a little shift": put("shift", (), 0.01),
    "a sum of NaN": put("u", 0, np.nan),
    "a covariance": lambda header, tensors: tensors.update(shape=np.ones(5)),
    "no geometry": header_with("parameters", "geometry", value="euclidean"),
    "another geometry": header_with("parameters", "geometry", value="diagonal"),
    "no scale": header_with("parameters", "scale", value=0.0),
}
BEYOND = {
    "an exponent of 800": put("v", 0, 800.0),
    "an exponent of 1e200": put("v", 0, 1e200),
    "a shift of -1000": put("shift", (), -1000.0),
}


@pytest.mark.parametrize("what", SIMPLEX)
@pytest.mark.parametrize(("task", "options"), [("classification", {}), ("regression", {"signed": False})])
def test_simplexes_that_are_none(task, options, what, tmp_path):
    refused(changed(small("entropy", task, **options), SIMPLEX[what]), tmp_path)


@pytest.mark.parametrize("what", BEYOND)
def test_simplexes_beyond_all_numbers(what, tmp_path):
    refused(changed(small("entropy"), BEYOND[what]), tmp_path)


def test_other_scales_and_signs_are_other_simplexes(tmp_path):
    """The mass of exponents without signs is another one; of another scale all weights are that much larger."""
    model = small("entropy", "regression")
    refused(changed(model, header_with("parameters", "signed", value=False)), tmp_path)
    refused(changed(model, header_with("parameters", "scale", value=20.0)), tmp_path)

    def rescale(header, tensors):
        header["parameters"]["scale"] = 20.0
        settings = {**json.loads(tensors["settings"].tobytes()), "scale": 20.0}
        text("settings", settings)(header, tensors)

    larger = hinge.Learner.from_bytes(changed(model, rescale))
    np.testing.assert_allclose(larger.last_weights, 2 * model.last_weights)


@pytest.mark.parametrize(("geometry", "task", "options"), KINDS, ids=str)
def test_every_flip_of_a_bit_is_found(geometry, task, options):
    data = small(geometry, task, **options).to_bytes()
    for place in range(0, len(data), 3):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ModelFileError):
            file.from_bytes(bytes(flipped))


@pytest.mark.parametrize(("geometry", "task", "options"), KINDS, ids=str)
def test_any_other_number_anywhere(geometry, task, options):
    """With a right checksum: refused, or a model that can be asked and learns on (or refuses to); never a crash."""
    model = small(geometry, task, **options)
    _, tensors = model.to_parts()
    loaded = 0
    for name in tensors.keys() - {"settings", "names", "labels"}:
        for place in np.ndindex(tensors[name].shape):
            for value in (-1e9, -1.0, 0.0, 1e-300, 3.0, 250.0, 1e15, 1e100, 1.7e308):
                if tensors[name].dtype.kind == "i" and value > 1e15:
                    continue
                try:
                    again = hinge.Learner.from_bytes(changed(model, put(name, place, value)))
                except ModelFileError:
                    continue
                loaded += 1
                for use in (
                    lambda m: m.score_one({"a": 1.0, "c": 2.0}),
                    lambda m: m.learn_one(
                        {"a": 1.0, "c": 2.0},
                        {"uniclass": None, "multilabel": {"a"}, "classification": "no"}.get(task, 1),
                    ),
                    lambda m: m.to_bytes(),
                    lambda m: m.predict_one({"a": -1.0}),
                ):
                    try:
                        use(again)
                    except ValueError as error:
                        assert "large" in str(error) or "overflow" in str(error) or "small" in str(error)  # noqa: PT017
    assert loaded > 20


@pytest.mark.parametrize(("geometry", "task", "options"), [KINDS[0], KINDS[2]], ids=str)
def test_any_other_value_in_the_header(geometry, task, options, tmp_path):
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
        "diagonal",
        {"array": [1.0], "dtype": "<f8"},
    ]
    model, place, loaded = small(geometry, task, **options), tmp_path / "a-model", 0
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
