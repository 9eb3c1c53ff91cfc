"""Absurd changes of model files, whose checksum is right: a table for each kind of model."""

from __future__ import annotations

import numpy as np

from model_files import header_with, header_without, labels, names, parameter, put, tensor, text, without


def other_dtype(header, tensors):
    its = header["parameters"]
    its["dtype"] = "float64" if its.get("dtype") == "float32" else "float32"


def array(values, dtype):
    return {"array": values, "dtype": dtype}


def raw(value):
    return lambda header, tensors: tensors.update(names=np.asarray(value))


EVERY = {
    "no parameters": header_without("parameters"),
    "parameters in a list": header_with("parameters", value=[1, 2]),
    "an unknown parameter": parameter("evil", 1),
    "C below 0": parameter("C", -1.0),
    "C of 0": parameter("C", 0.0),
    "C of NaN": parameter("C", float("nan")),
    "a step that is a dict": parameter("step", {"dict": 5}),
    "an unknown step": parameter("step", "jump"),
    "classes of objects": parameter("classes", array([[1], [2]], "|O")),
    "classes of an unknown type": parameter("classes", array(7, "what")),
    "another dtype": other_dtype,
    "an invalid dtype": parameter("dtype", "complex64"),
    "an average of text": parameter("average", "yes"),
    "an average from 0": parameter("average", 0),
    "an unknown geometry": parameter("geometry", "riemann"),
    "an infinite bound of the weights": put("weight_bound", (), np.inf),
    "no settings": without("settings"),
    "other settings": text("settings", {"task": "perceptron"}),
    "settings that are not an object": text("settings", [1]),
    "an unknown setting": text("settings", {"evil": 1}),
    "a setting of another type": text("settings", {"task": 5}),
    "settings that are not JSON": tensor("settings", lambda a: a[:-1]),
    "no names": without("names"),
    "names in an object": names({"a": 1}),
    "null instead of names": names(None),
    "a text instead of names": names("abcde"),
    "invalid names": names([1.5, None, [], "a", "b"]),
    "names that are not JSON": tensor("names", lambda a: a[:-1]),
    "names that are not text": raw(np.full(9, 255, dtype=np.uint8)),
    "names of reals": raw(np.full(5, 1e300)),
    "names nested too deeply": raw(np.frombuffer(b"[" * 100_000, dtype=np.uint8)),
    "no labels": without("labels"),
    "labels that are not a list": labels(5),
    "whether it is closed is missing": header_without("closed"),
}
NOT_OF_COMMITTEES = ("an infinite bound of the weights",)  # they find it again
LEARNER = {"no task": header_without("task"), "an unknown task": header_with("task", value="ranking")}
CLASSES = {
    "three labels": labels(["a", "b", "c"]),
    "labels twice": labels(["a", "a"]),
    "labels of lists": labels([["a"], ["b"]]),
    "labels of null": labels([None, None]),
}
UNHASHED = {
    "fewer features": parameter("max_features", 2),
    "hashed": parameter("hash_bits", 1),
    "the same name twice": names(["a", "a", "b", "c", "d"]),
    "the same number twice": names([1, True, "b", "c", "d"]),
}
WEIGHTS = {"too many names": names(["a", "b", "c", "d"])}
AVERAGED = {
    "no average": parameter("average", False),
    "a scale of 0": put("scale", (), 0.0),
    "a negative scale": put("scale", (), -1.0),
}

# The shape: what was added to the trace of the inverse, the variances D (that of the intercept first), then U column by
# column. A diagonal one: what was added to the inverse of each.
SHAPE = {
    **WEIGHTS,
    "too many numbers": tensor("shape", lambda a: np.r_[a, 0.5]),
    "a negative variance": put("shape", 1, -0.5),
    "a tiny negative variance": put("shape", 3, -5e-324),
    "a huge entry": put("shape", -1, 1e200),
    "a negative sum of what was added": put("shape", 0, -1.0),
    "a huge sum of what was added": put("shape", 0, 1e200),
    "the Euclidean geometry": parameter("geometry", "euclidean"),
    "a simplex": parameter("geometry", "entropy"),
    "a huge initial variance": parameter("initial_variance", 1e300),
}
ONE_LABEL_SHAPE = {
    "no intercept": parameter("fit_intercept", False),
    "biases": lambda header, tensors: tensors.update(biases=np.zeros(2)),
}
FULL = {
    "a diagonal covariance": parameter("geometry", "diagonal"),
    "a variance of 0": put("shape", 1, 0.0),
    "a variance above the initial one": put("shape", 1, 1.5),
    "a smaller initial variance": parameter("initial_variance", 0.1),
    "a lower limit": parameter("max_covariance", 8.0),
}
DIAGONAL = {"a full covariance": parameter("geometry", "mahalanobis"), "nothing added": put("shape", 0, 0.0)}
SIMPLEX = {  # v is theta
    **WEIGHTS,
    "another exponent": put("v", 0, 3.0),
    "a small exponent": put("v", 0, -200.0),
    "no mass": put("mass", (), 0.0),
    "a negative mass": put("mass", (), -1.0),
    "twice the mass": tensor("mass", lambda a: np.array(a * 2.0)),
    "a bit more mass": tensor("mass", lambda a: np.array(a * 1.0001)),
    "another shift": put("shift", (), 500.0),
    "a small shift": put("shift", (), 0.01),
    "a covariance": lambda header, tensors: tensors.update(shape=np.ones(5)),
    "the Euclidean geometry": parameter("geometry", "euclidean"),
    "another geometry": parameter("geometry", "diagonal"),
    "no scale": parameter("scale", 0.0),
}
OVERFLOWING_SIMPLEX = {
    "an exponent of 800": put("v", 0, 800.0),
    "an exponent of 1e200": put("v", 0, 1e200),
    "a shift of -1000": put("shift", (), -1000.0),
}


STARTED = {  # the first instance was learned: its constant, C and size, of values as they come and as they are scaled
    "a negative constant": put("starts", 0, -1.0),
    "an infinite first C": put("starts", 1, np.inf),
    "too few starts": tensor("starts", lambda a: a[:-1]),
    "a negative prior": put("vote", 0, -0.5),
    "priors that are not shares": put("vote", 0, 0.9),
    "weights that are not shares": tensor("vote", lambda a: np.r_[a[: len(a) // 5], 2 * a[len(a) // 5 :]]),
    "a negative Delta": put("vote_delta", (), -1.0),
    "an infinite Delta": put("vote_delta", (), np.inf),
    "no Delta, but rounds that told experts apart": lambda _, tensors: tensors.update(
        vote_telling=np.array(3), vote_delta=np.array(0.0)
    ),
    "a lane that a list does not have": put("lanes_above", (), 40),
    "fewer lanes below than at the start": put("lanes_below", (), -1),
    "half a round": put("expert_statistics", 0, 0.5),
    "negative rounds": put("expert_statistics", 0, -1.0),
    "weights of half a column": tensor("experts", lambda a: a[:-1]),
    "no weights": tensor("experts", lambda a: a[:0]),
    "no experts": parameter("experts", []),
    "an unknown expert": parameter("experts", ["pa3:0"]),
    "another committee": parameter("experts", ["pa1:1", "pa1:2", "pa1:3"]),
}
SCALED = {
    "half a value of a column": put("scales", 0, 0.5),
    "a negative sum of squares": put("scales", 1, -1.0),
    "scales of half a column": tensor("scales", lambda a: a[:-1]),
    "too few scales": tensor("scales", lambda a: a[:-2]),
    "no scales": without("scales"),
}


def swapped(name, i, j):
    def change(header, tensors):
        tensors[name] = np.array(tensors[name])
        tensors[name][[i, j]] = tensors[name][[j, i]]

    return change


def supports(case):
    """Supports that contradict each other, or the parameters."""
    model = case.make()
    found = model.to_parts()[1]
    several = int(np.flatnonzero(np.diff(found["support_starts"]) > 1)[0])
    place = int(found["support_starts"][several])
    table = {
        "columns out of order": swapped("support_columns", place, place + 1),
        "a column twice": put("support_columns", place + 1, int(found["support_columns"][place])),
        "a column that the model does not have": put("support_columns", -1, 9),
        "a column of 2^40": put("support_columns", -1, 2**40),
        "decreasing starts": put("support_starts", 1, 10**6),
        "a late first start": put("support_starts", 0, 1),
        "the same age twice": put("support_ages", 0, int(found["support_ages"][1])),
        "an age in the future": put("support_ages", 0, 10**6),
        "more removals than insertions": put("removals", (), 10**6),
        "one more insertion": put("insertions", (), int(found["insertions"]) + 1),
        "neither sparse nor dense": put("sparse", (), 2),
        "fewer columns": put("columns", (), 1),
        "2^60 columns": put("columns", (), 2**60),
        "a scale of 0": put("scale", (), 0.0),
        "a negative scale": put("scale", (), -1.0),
        "no kernel": parameter("kernel", None),
        "a function": parameter("kernel", {"function": "kernel"}),
        "an unknown kernel": parameter("kernel", "cosine"),
        "a gamma of 0": parameter("gamma", 0.0),
        "a degree of 1.5": parameter("degree", 1.5),
        "a smaller budget": parameter("budget", model.n_support - 1),
        "a geometry": parameter("geometry", "diagonal"),
        "another task": header_with("task", value="prototype"),
    }
    if case.options["kernel"] != "linear":
        table["a gamma to be measured"] = parameter("gamma", "scale")
    if "budget" in case.options:
        table["an average in spite of a budget"] = parameter("average", True)
        if case.task in ("multiclass", "ordinal"):
            table["an unknown label"] = put("support_truths", 0, 3.0)
            table["half a label"] = put("support_truths", 0, 0.5)
        if case.task == "multilabel":
            table["an unknown label"] = put("support_truth_labels", 0, 3)
    return table


SEQUENCE = {
    "a place beyond the weights": put("places", -1, 10_000),
    "the same place twice": tensor("places", lambda a: np.r_[a[:1], a[:-1]]),
    "descending places": tensor("places", lambda a: a[::-1].copy()),
    "two swapped places": tensor("places", lambda a: np.r_[a[1], a[0], a[2:]]),
    "one more place": tensor("places", lambda a: np.r_[a, a[-1] + 1]),
    "an infinite cost so far": put("cost", (), np.inf),
    "negative updates": put("updates", (), -1000),
    "a parameter of another task": parameter("epsilon", 0.1),
    "a margin of text": parameter("margin", "wide"),
    "an infinite margin": parameter("margin", float("inf")),
    "an unknown selection": parameter("selection", "best"),
    "a simplex": parameter("geometry", "entropy"),
    "a huge variance": parameter("initial_variance", 1e300),
    "fewer tags than weights": labels(["A"]),
    "no tags": labels([]),
    "the same tag twice": labels(["A", "B", "A"]),
    "equal tags": labels(["A", 1, True]),
    "tags in lists": labels([["A"], ["B"], ["C"]]),
    "null among the tags": labels([None, "B", "C"]),
    "NaN among the tags": labels([float("nan"), "B", "C"]),
    "more tags than the limit": parameter("max_labels", 2),
    "an invalid limit of tags": parameter("max_labels", 0),
    "99 bits": parameter("hash_bits", 99),
    "more bits than features": parameter("hash_bits", 30),
    "an invalid limit of features": parameter("max_features", -1),
    "a cost of text": parameter("cost", "os.system"),
    "a negative cost": parameter("cost", array([[0, -1], [1, 0]], "<f8")),
    "a cost for fewer tags": parameter("cost", array([[0, 1], [1, 0]], "<f8")),
    "a cost for other tags": parameter("cost", {"dict": [["X", {"dict": [["Y", 1.0]]}]]}),
    "a cost by a function": parameter("cost", {"function": "cost"}),
    "a cost by the function of another option": parameter("cost", {"function": "kernel"}),
}
UNHASHED_SEQUENCE = {"one name": names(["a"]), "no name": names([])}
DIAGONAL_SEQUENCE = {
    "a negative covariance": put("t", 0, -0.5),
    "a tiny negative covariance": put("t", 1, -5e-324),
    "a huge covariance": put("t", 0, 1e200),
    "a negative sum of what was added": put("added", (), -1.0),
    "nothing added": put("added", (), 0.0),
    "a huge sum of what was added": put("added", (), 1e200),
}
SEQUENCES = {
    "sequence-plain": {
        "an average": parameter("average", True),
        "a diagonal": parameter("geometry", "diagonal"),
        "fewer features": parameter("max_features", 2),
        "hashed": parameter("hash_bits", 4),
    },
    "sequence-diagonal": {
        "no average": parameter("average", False),
        "no diagonal": parameter("geometry", "euclidean"),
        "fewer features": parameter("max_features", 2),
    },
    "sequence-hashed": {
        "not hashed": parameter("hash_bits", None),
        "fewer bits": parameter("hash_bits", 1),
        "names of hashed columns": names(["a", "b"]),
    },
    "sequence-max": {"an incomplete cost": parameter("cost", {"dict": [["A", {"dict": [["B", 0.5]]}]]})},
}  # fmt: skip


def changes(case):
    """Those that make sense for a kind of model."""
    is_hashed = "hash_bits" in case.options
    tables = [EVERY] if is_hashed else [EVERY, UNHASHED]
    if case.is_sequence:
        tables += [SEQUENCE, SEQUENCES.get(case.name, {})]
        tables += [DIAGONAL_SEQUENCE] if case.geometry == "diagonal" else []
        return tables if is_hashed else [*tables, UNHASHED_SEQUENCE]
    tables.append(LEARNER)
    if case.task != "uniclass":
        tables.append({"the first example is awaited": put("awaits_first", (), 1)})
    if case.has_kernel:
        return [*tables, supports(case)]
    if case.task == "classification":
        tables.append(CLASSES)
    if case.is_committee:
        tables[0] = {what: change for what, change in EVERY.items() if what not in NOT_OF_COMMITTEES}
        return [*tables, STARTED, WEIGHTS, SCALED if "experts" in case.options else {}]
    if case.geometry == "entropy":
        return [*tables, SIMPLEX, OVERFLOWING_SIMPLEX if case.task == "classification" else {}]
    if case.geometry == "euclidean":
        is_averaged = case.options.get("average") and case.task != "ordinal"
        is_scaled = case.task == "uniclass"  # only a ball has a scale other than 1
        scale = {} if is_scaled or not is_averaged else {"a scale of 0.5": put("scale", (), 0.5)}
        return [*tables, WEIGHTS, AVERAGED if is_averaged else {}, scale]
    tables += [SHAPE, FULL if case.geometry == "mahalanobis" else DIAGONAL]
    return tables if case.task == "ordinal" else [*tables, ONE_LABEL_SHAPE]
