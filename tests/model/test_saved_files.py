"""Model files: what `save` writes, `load` accepts; what a file may ask for; what unfinished files leave behind."""

from __future__ import annotations

import pickle
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import hinge
from hinge import Learner, ModelFileError, PAClassifier, PARanker, PARegressor
from hinge.model import file
from model_files import X, Y, changed, header_with, labels, parameter, text


def crafted(model, change, tmp_path):
    place = tmp_path / "crafted"
    place.write_bytes(changed(model, change))
    return place


# ---- what `save` writes, `load` accepts ----------------------------------------------------------------------------

SETTINGS = [
    ("classification", {}),
    ("classification", {"step": "pa", "average": True}),
    ("classification", {"selection": "simproj"}),
    ("classification", {"selection": "mira", "dtype": "float32"}),
    ("classification", {"geometry": "mahalanobis", "step": "pa2"}),
    ("classification", {"geometry": "mahalanobis", "step": "cw", "average": True}),
    ("classification", {"geometry": "diagonal", "step": "cw"}),
    ("classification", {"geometry": "entropy"}),
    ("classification", {"kernel": "linear", "budget": 3}),
    ("classification", {"kernel": "rbf", "gamma": 0.5, "average": True}),
    ("regression", {"geometry": "mahalanobis", "step": "pa2", "fit_intercept": False}),
    ("regression", {"geometry": "mahalanobis", "step": "pa", "initial_variance": 1e30}),
    ("regression", {"geometry": "diagonal", "covariance_update": "drop"}),
    ("regression", {"average": 2, "dtype": "float32"}),
    ("regression", {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "budget": "adaptive"}),
    ("uniclass", {"max_radius": 5.0, "average": True}),
    ("uniclass", {"geometry": "entropy", "radius": 1.0}),
    ("multilabel", {"selection": "simproj"}),
    ("multilabel", {"geometry": "mahalanobis"}),
    ("ordinal", {"classes": [0, 1, 2], "average": True}),
    ("ordinal", {"classes": [0, 1, 2], "geometry": "diagonal", "selection": "simproj"}),
]
sizes = st.builds(
    lambda sign, mantissa, exponent: sign * mantissa * 10.0**exponent,
    st.sampled_from([1, -1, 0]),
    st.sampled_from([1.0, 2.5, 7.0]),
    st.one_of(st.integers(-3, 3), st.integers(-60, 60), st.integers(-320, 307)),
)
rows = st.lists(
    st.tuples(st.lists(sizes, min_size=3, max_size=3), st.integers(0, 2)), min_size=1, max_size=12
)


@pytest.mark.parametrize(("task", "options"), SETTINGS, ids=lambda value: str(value).replace("'", ""))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=rows)
def test_whatever_was_learned_can_be_saved_loaded_and_resumed(task, options, rows):
    """Values of any size that the learner accepts, one after the other."""
    model = Learner(task, **options)
    for values, code in rows:
        truth = {"classification": f"c{code}", "multilabel": {f"c{code}"}, "ordinal": code, "uniclass": None}
        try:
            model.learn_one(dict(zip("abc", values, strict=True)), truth.get(task, values[code]))
        except ValueError:
            continue  # rejected, without a trace
        if not np.isfinite(list(vars(model.statistics).values())).all():
            with pytest.raises(ValueError, match="cannot be saved"):
                model.to_bytes()
            return
        again = Learner.from_bytes(model.to_bytes())
        assert again.to_bytes() == model.to_bytes()
        assert again.statistics == model.statistics
    for values, code in rows[:2]:
        outcomes = []
        for each in (model, Learner.from_bytes(model.to_bytes())):
            try:
                each.learn_one(dict(zip("abc", values, strict=True)), truth.get(task, values[code]))
            except ValueError as error:
                outcomes.append(str(error))
            else:
                outcomes.append(each.to_bytes())
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("selection", ["simproj", "conproj", "mira", "prediction", "simperc"])
def test_event_of_nearly_infinite_size_does_not_break_the_file(selection, tmp_path):
    """A value of 1e154 is rejected, or the model that has learned it is saved and loaded, or rejected when saving."""
    model = PAClassifier(selection=selection)
    for name, label in (("a", "x"), ("b", "y"), ("c", "z")):
        model.learn_one({name: 1.0}, label)
    model.save(tmp_path / "model")
    try:
        model.learn_one({"d": 1e154}, "x")
        model.save(tmp_path / "model")
    except ValueError as error:
        assert "cannot be saved" in str(error) or "too large" in str(error)  # noqa: PT017
    assert hinge.load(tmp_path / "model").predict_one({"a": 1.0}) in ("x", "y", "z")


def test_full_covariance_after_large_values_can_be_loaded():
    model = Learner("regression", geometry="mahalanobis", step="pa2", fit_intercept=False)
    for x, y in (([1.0, 1e48], -1.0), ([-1e30, 1.0], 1.0), ([-1e35, 1e40], 100.0)):
        model.learn(np.array([x]), [y])
        assert Learner.from_bytes(model.to_bytes()).to_bytes() == model.to_bytes()


def test_overflowed_state_does_not_replace_a_good_file(tmp_path, monkeypatch):
    model = Learner("regression")
    model.learn_one({"a": 1.0}, 1.0)
    model.save(tmp_path / "model")
    before = (tmp_path / "model").read_bytes()
    state = model._engine.state()

    class Overflowed:
        labels = model.labels

        def state(self):
            return {**state, "largest_q": np.array(np.inf)}

    monkeypatch.setattr(model, "_engine", Overflowed())
    with pytest.raises(ValueError, match="cannot be saved: one of its sums has become inf"):
        model.save(tmp_path / "model")
    assert (tmp_path / "model").read_bytes() == before


# ---- notes and labels ------------------------------------------------------------------------------------------


NOTES = [
    {"checksum": "0" * 64},
    {"checksum": "a" * 64, "again": {"checksum": "f" * 64}},
    {'{"__metadata__":{"checksum":"': "b" * 64},
    {"text": 'quotes " and \\ \n \u2028 \ud800 \x00', "numbers": [1, 2.5, None, True, 1e300]},
]


@pytest.mark.parametrize("notes", NOTES, ids=range(len(NOTES)))
def test_notes_come_back(notes):
    model = Learner("regression")
    model.notes = notes
    assert Learner.from_bytes(model.to_bytes()).notes == notes


@pytest.mark.parametrize("notes", [{1: 2}, {"a": {None: 1}}, {"a": [{2: 3}]}, {"a": {1, 2}}, {"a": object()}])
def test_notes_that_json_would_change_are_rejected(notes, tmp_path):
    model = Learner("regression")
    model.notes = notes
    with pytest.raises(ValueError, match="notes"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("estimator", [hinge.PAClassifier, hinge.PAOrdinal, hinge.PAMultilabel])
def test_longdouble_labels_are_learned_and_saved(estimator, tmp_path):
    model = estimator(random_state=0).fit(X, Y.astype(np.longdouble))
    model.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.predict(X).dtype == model.predict(X).dtype == np.float64


# ---- memory ---------------------------------------------------------------------------------------


def generator(place, value):
    def change(header, tensors):
        header["parameters"]["random_state"]["RandomState"][place] = value

    return change


BAD_STATES = {
    "a position outside": generator(1, 2**31 - 1),
    "a position just outside": generator(1, 625),
    "a negative position": generator(1, -1),
    "a position that is a float": generator(1, 3.0),
    "too few keys": generator(0, [1] * 623),
    "keys that are too large": generator(0, [2**32] * 624),
    "keys that are strings": generator(0, ["1"] * 624),
    "more than one number in advance": generator(2, 2),
    "NaN as the number in advance": generator(3, float("nan")),
}


@pytest.mark.parametrize("what", BAD_STATES)
def test_impossible_random_state_is_rejected(what, tmp_path):
    model = PAClassifier(random_state=np.random.RandomState(0)).fit(X, Y)
    place = crafted(model, BAD_STATES[what], tmp_path)
    with pytest.raises(ModelFileError, match="RandomState"):
        hinge.load(place)


def wide_strings(header, tensors):
    header["attributes"]["_classes"] = {"array": ["a", "b"], "dtype": "U200000000", "shape": [2]}


def one_long_string(header, tensors):
    strings = ["x" * 100_000, *map(str, range(10_000))]
    header["parameters"]["classes"] = {"array": strings, "dtype": "U", "shape": [10_001]}


def sparse_cost(header, tensors):
    known = [f"l{number}" for number in range(30_000)]
    entries = {"dict": [["l0", {"dict": [["l1", 1.0]]}]]}
    header["parameters"].update(classes={"list": known}, cost=entries)
    labels(known)(header, tensors)


def huge_shape(header, tensors):
    header["attributes"]["_classes"] = {"array": [], "dtype": "O", "shape": [2**40, 0]}


BOMBS = {
    "wide strings": wide_strings,
    "one long string": one_long_string,
    "a sparse cost": sparse_cost,
    "a huge shape": huge_shape,
}


@pytest.mark.parametrize("what", BOMBS)
def test_small_file_cannot_ask_for_much_memory(what, tmp_path):
    place = crafted(PAClassifier().fit(X, Y), BOMBS[what], tmp_path)
    check_memory(place)


def test_small_ranker_cannot_ask_for_much_memory(tmp_path):
    model = PARanker().learn_one("one two", "a").learn_one("two three", "b")

    def change(header, tensors):
        words = [f"w{number}" for number in range(20_000)]
        text("map", {"words": words, "labels": list(range(20_000)), "documents": 2})(header, tensors)
        for name in ("map.totals", "map.documents_of"):
            tensors[name] = np.zeros(20_000, dtype=np.int64)

    check_memory(crafted(model, change, tmp_path))


def check_memory(place):
    """Loading takes memory in proportion to the file, whether it is rejected or not."""
    tracemalloc.start()
    try:
        hinge.load(place)
    except ModelFileError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 2**25 + 60 * place.stat().st_size


def test_sparse_cost_of_many_labels_is_rejected_when_it_is_made():
    labels = [f"l{number}" for number in range(5000)]
    with pytest.raises(ValueError, match="cost has 1 entries for 5000 labels"):
        Learner("classification", classes=labels, cost={"l0": {"l1": 1.0}})


LARGE = """
import resource, sys
import numpy, safetensors.numpy, hinge, hinge.learner
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
if sys.argv[1] == "save":
    model = hinge.Learner("regression", w1=numpy.random.default_rng(0).normal(size=6_000_000), average=True)
    model.learn(numpy.eye(1, 6_000_000), [1.0])
    model.parameters["w1"] = None
    model.save(sys.argv[2])
else:
    before = peak()
    model = hinge.load(sys.argv[2])
    print(peak() - before)
"""


def test_loading_takes_twice_the_file(tmp_path):
    """One copy in the file, one in the model."""
    place = tmp_path / "model"
    subprocess.run([sys.executable, "-c", LARGE, "save", place], check=True, timeout=300)
    run = [sys.executable, "-c", LARGE, "load", place]
    taken = int(subprocess.run(run, check=True, timeout=300, capture_output=True).stdout)
    assert taken <= 2 * place.stat().st_size + 2**24


# ---- parameters and attributes -------------------------------------------------------------------------------------


def attribute(name, value):
    return header_with("attributes", name, value=value)


INVALID = {
    "C": parameter("C", -1.0),
    "step": parameter("step", "what"),
    "tol": parameter("tol", "small"),
    "max_iter": parameter("max_iter", 0),
    "a combination": parameter("tolerance", 0.5),
    "shuffle": parameter("shuffle", 7),
    "n_features_in_": attribute("n_features_in_", "3"),
    "n_iter_": attribute("n_iter_", -1),
    "_classes": header_with(
        "attributes", "_classes", value={"array": ["a", "b"], "dtype": "U", "shape": [2]}
    ),
    "_classes of two dimensions": header_with(
        "attributes", "_classes", value={"array": ["a", "b"], "dtype": "U", "shape": [1, 2]}
    ),
    "feature_names_in_": header_with(
        "attributes", "feature_names_in_", value={"array": ["a"], "dtype": "O", "shape": [1]}
    ),
    "a kind of value": parameter("C", {"what": 1}),
    "labels": labels(["x", "y"]),
}


@pytest.mark.parametrize("what", INVALID)
def test_invalid_parameter_or_attribute_in_a_file_is_rejected(what, tmp_path):
    place = crafted(PAClassifier().fit(X, Y), INVALID[what], tmp_path)
    with pytest.raises(ModelFileError, match="crafted"):
        hinge.load(place)


def test_invalid_parameter_is_rejected_when_saving(tmp_path):
    model = PARegressor().fit(X, X[:, 0])
    model.C = -1
    with pytest.raises(ValueError, match="C must be a number greater than 0"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_parameters_are_stored_once():
    """Those that differ from their defaults: in the estimator, or in its learner."""
    model = PAClassifier(C=0.25, geometry="diagonal").fit(X, Y)
    header, _ = model.to_parts()
    assert header["parameters"] == {"C": 0.25, "geometry": "diagonal"}
    found = {"classes", "average", "scaling"}  # by `fit`
    assert set(header["learner"]["parameters"]) & set(model.get_params()) == found
    stream = PAClassifier().learn_many([{"a": 1.0}, {"b": 1.0}], ["x", "y"])
    assert not set(stream.to_parts()[0]["learner"]["parameters"]) & set(model.get_params())
    model = PARegressor(C=0.25, w1=np.ones(3), average=False).fit(X, X[:, 0])
    header, _ = model.to_parts()
    assert set(header["parameters"]) == {"C", "w1", "average"}
    assert not set(header["learner"]["parameters"]) & set(model.get_params())


@pytest.mark.parametrize("fresh", [{"geometry": "diagonal"}, {"average": True}, {"dtype": "float32"}])
def test_model_that_contradicts_itself_is_not_saved(fresh, tmp_path):
    model = PAClassifier().fit(X, Y)
    before = model.get_params()
    model.set_params(**fresh)
    with pytest.raises(ValueError, match=f"{next(iter(fresh))} cannot change once learning has begun"):
        model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="cannot change once learning has begun"):
        pickle.loads(pickle.dumps(model)).partial_fit(X, Y)
    model.set_params(**before).save(tmp_path / "model")
    assert hinge.load(tmp_path / "model").get_params() == before


@pytest.mark.parametrize("name", ["geometry", "C", "average", "hash_bits"])
def test_file_that_contradicts_itself_is_rejected(name, tmp_path):
    other = {"geometry": "diagonal", "C": 0.5, "average": True, "hash_bits": 4}
    change = header_with("learner", "parameters", name, value=other[name])
    for model in (PAClassifier(average=False).fit(X, Y), hinge.river.PARegressor()):
        with pytest.raises(ModelFileError, match=f"{name}|do not agree"):
            hinge.load(crafted(model, change, tmp_path))


def test_changed_step_and_aggressiveness_are_followed_after_loading(tmp_path):
    model = PAClassifier().fit(X, Y)
    model.C, model.step = 0.125, "pa2"
    model.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model").partial_fit(X, Y)
    model.partial_fit(X, Y)
    assert file.to_bytes(*again.to_parts()) == file.to_bytes(*model.to_parts())


def test_start_by_names_stays_a_dict(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = PARegressor(w1={"b": 2.0}, random_state=0).fit(frame, X[:, 0])
    model.save(tmp_path / "model")
    again = hinge.load(tmp_path / "model")
    assert again.w1 == {"b": 2.0}
    again.fit(frame, X[:, 0])
    assert again.coef_.tobytes() == model.fit(frame, X[:, 0]).coef_.tobytes()
