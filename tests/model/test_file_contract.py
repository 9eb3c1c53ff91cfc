"""What the file of every kind of model promises.

A loaded model is the model that was saved, bit by bit. Whatever happened to the bytes, reading them raises a
ModelFileError or returns a model that works; it never crashes.
"""

from __future__ import annotations

import numpy as np
import pytest

import hinge
from hinge import ModelFileError
from hinge.model import file
from hinge.structured.sequence_learner import SequenceLearner
from model_files import (
    COMPOSED,
    ESTIMATORS,
    JSON_TENSORS,
    LEARNERS,
    WITH_GEOMETRIES,
    WITH_KERNELS,
    WITH_WEIGHTS,
    bytes_of,
    changed,
    check_rejected,
    check_use,
    each_of,
    header_with,
    learner_case,
    leaves,
    load,
    of_version,
    put,
    sequence_case,
    tensor,
    untrained_case,
    without,
)

PLAIN = [learner_case(*each) for each in WITH_WEIGHTS[:3]]
UNTRAINED = [untrained_case(task) for task in ("classification", "regression", "uniclass")]


# ---- what is saved -------------------------------------------------------------------------------------------------


@each_of([*UNTRAINED, *LEARNERS, *ESTIMATORS, *COMPOSED])
def test_loaded_model_is_the_saved_one_and_resumes(case, tmp_path):
    model = case.make()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model", case)
    assert type(again) is type(model)
    for lesson in [lambda _: None, *case.lessons]:
        for each in (model, again):
            lesson(each)
        assert bytes_of(again) == bytes_of(model)


@pytest.mark.parametrize(
    "options", [{}, {"classes": ["A", "B"]}, {"hash_bits": 4, "geometry": "diagonal"}], ids=str
)
def test_sequence_model_that_has_not_learned_is_saved_and_resumes(options, tmp_path):
    model = SequenceLearner(**options)
    again = SequenceLearner.from_bytes(model.to_bytes())
    assert again.to_bytes() == model.to_bytes()
    place = tensor("places", lambda a: np.array([0], dtype=a.dtype))
    check_rejected(changed(model, place), tmp_path, SequenceLearner)
    for each in (model, again):
        each.learn_many([[["a"], ["b"]]] * 3, [["A", "B"], ["B", "A"], ["B", "B"]])
    assert again.to_bytes() == model.to_bytes()


# ---- bytes ---------------------------------------------------------------------------------------------------------


@each_of(PLAIN)
def test_every_flip_of_a_bit_is_found(case):
    data = case.make().to_bytes()
    assert len(data) < 4000
    for place in range(len(data)):
        for bit in range(8):
            flipped = bytearray(data)
            flipped[place] ^= 1 << bit
            with pytest.raises(ModelFileError):
                file.from_bytes(bytes(flipped))


@each_of([case for case in LEARNERS if case not in PLAIN])
def test_flips_in_every_kind_of_model_are_found(case):
    model = case.make()
    data, step = model.to_bytes(), 3 if case.geometry != "euclidean" else 5
    for place in range(0, len(data), step):
        flipped = bytearray(data)
        flipped[place] ^= 1 << place % 8
        with pytest.raises(ModelFileError):
            type(model).from_bytes(bytes(flipped))


@each_of(ESTIMATORS + COMPOSED)
def test_flips_in_every_estimator_are_found(case, tmp_path):
    data, place = bytes_of(case.make()), tmp_path / "a-model"
    for byte in range(0, len(data), 7 if case in ESTIMATORS[:3] else 41):
        flipped = bytearray(data)
        flipped[byte] ^= 0x10
        check_rejected(bytes(flipped), tmp_path)
    place.write_bytes(data)
    assert bytes_of(load(place, case)) == data


def test_every_other_byte_is_found():
    """Each byte is replaced by those that a text might hold, and by binary ones."""
    data = PLAIN[0].make().to_bytes()
    for place in range(len(data)):
        for other in b'\0 "0a\xff':
            if data[place] != other:
                with pytest.raises(ModelFileError):
                    file.from_bytes(data[:place] + bytes([other]) + data[place + 1 :])


@each_of([PLAIN[0], sequence_case("diagonal")])
def test_every_truncation_is_found(case, tmp_path):
    model = case.make()
    data = model.to_bytes()
    for length in range(len(data)):
        with pytest.raises(ModelFileError):
            file.from_bytes(data[:length])
    for length in (0, 1, 7, 8, 9, 100, len(data) - 1):
        check_rejected(data[:length], tmp_path, type(model))


def test_bytes_before_and_after_a_model_are_found(tmp_path):
    data = PLAIN[0].make().to_bytes()
    for more in (b"\0", b"more", data, b"\0" * 100000):
        check_rejected(data + more, tmp_path)
        check_rejected(more + data, tmp_path)


def test_swapped_parts_are_found(tmp_path):
    data = PLAIN[0].make().to_bytes()
    for start in range(8, len(data) - 40, 97):
        a, b = data[start : start + 16], data[start + 20 : start + 36]
        if a != b:
            swapped = data[:start] + b + data[start + 16 : start + 20] + a + data[start + 36 :]
            check_rejected(swapped, tmp_path)


def test_random_bytes_are_rejected(tmp_path):
    rng = np.random.default_rng(7)
    for length in (1, 8, 9, 16, 100, 1000, 10000):
        for _ in range(20):
            check_rejected(rng.bytes(length), tmp_path)
            check_rejected((length // 2).to_bytes(8, "little") + rng.bytes(length), tmp_path)


@pytest.mark.parametrize("version", [2, 99])
@each_of([PLAIN[0], sequence_case("diagonal")])
def test_other_version_is_rejected(case, version, tmp_path):
    model = case.make()
    expected = f"format version {version}, this hinge reads 4: upgrade"
    check_rejected(of_version(version, model), tmp_path, type(model), expected)


# ---- tensors -------------------------------------------------------------------------------------------------------

UNBOUNDED = {"work"}  # counters that may have any value of 0 or more


@each_of(LEARNERS)
def test_every_tensor_is_needed_and_of_its_type_and_length(case, tmp_path):
    model = case.make()
    cls, found = type(model), {name: np.asarray(its) for name, its in model.to_parts()[1].items()}
    assert found.keys() >= JSON_TENSORS
    for name in found.keys() - JSON_TENSORS:
        its = found[name]
        changes = [
            tensor(name, lambda a: np.append(a, a.ravel()[-1:] if a.size else np.zeros(1, a.dtype))),
            tensor(name, lambda a: a[None]),
            *(tensor(name, lambda a, t=other: a.astype(t)) for other in _other_types(its.dtype)),
        ]
        if its.shape:  # a number that is absent has its default
            changes.append(without(name))
        if its.size:
            changes += [tensor(name, lambda a: a.ravel()[:-1]), tensor(name, lambda a: a.ravel()[:0])]
        wrong = [np.nan, np.inf, -np.inf] if its.dtype.kind == "f" else [-1, -(2**63)]
        if its.dtype.kind == "i" and name not in UNBOUNDED:
            wrong += [2**62, 2**63 - 1]
        changes += [put(name, place, value) for place in np.ndindex(its.shape) for value in wrong]
        for number, change in enumerate(changes):
            try:
                if number % 7 == 0:
                    check_rejected(changed(model, change), tmp_path, cls)
                else:
                    with pytest.raises(ModelFileError):
                        cls.from_bytes(changed(model, change))
            except BaseException as error:
                error.add_note(f"{name}, change {number}")
                raise


@each_of(LEARNERS)
def test_file_without_one_number_is_rejected_or_works(case):
    model = case.make()
    for name in model.to_parts()[1].keys() - JSON_TENSORS:
        try:
            again = type(model).from_bytes(changed(model, without(name)))
        except ModelFileError:
            continue
        check_use(again, case)


def _other_types(dtype):
    types = ("f8", "f4", "f2", "i8") if dtype.kind == "f" else ("f8", "f4", "i4", "u1")
    return [other for other in types if np.dtype(other) != dtype]


@each_of(LEARNERS)
def test_any_other_number_anywhere_is_rejected_or_works(case):
    model = case.make()
    cls, found, loaded = type(model), model.to_parts()[1], 0
    values = (-1e300, -1e9, -1.0, 0.0, 1e-300, 2.0, 3.0, 250.0, 1e15, 1e100, 1.7e308)
    if case.has_kernel:
        values = (-1e9, 0.0, 1e-300, 2.0, 250.0, 1e100, 1.7e308)
    for name in found.keys() - JSON_TENSORS:
        its = np.asarray(found[name])
        for place in list(np.ndindex(its.shape))[:: 4 if case.is_sequence else 1]:
            for value in values:
                if its.dtype.kind == "i" and abs(value) > 1e15:
                    continue
                try:
                    with np.errstate(over="ignore"):
                        again = cls.from_bytes(changed(model, put(name, place, value)))
                except ModelFileError:
                    continue
                loaded += 1
                check_use(again, case)
    assert loaded > 20


# ---- the header ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header", [None, 5, [], "Learner", "SequenceLearner", {}, {"kind": None}, {"kind": "os.system"}], ids=str
)
@each_of([PLAIN[0], sequence_case("diagonal")])
def test_header_without_a_known_kind_is_rejected(case, header, tmp_path):
    model = case.make()
    check_rejected(file.to_bytes(header, model.to_parts()[1]), tmp_path, type(model))


COMMON = [None, True, 0, -1, 2**70, 1.5, float("nan"), "", "x", [], {}, {"array": [1.0], "dtype": "<f8"}]
NESTED = [[1], {"dict": [[1, 2]]}, {"list": [1]}]
HEADERS = [
    *((case, [*COMMON, *NESTED, float("inf"), {"RandomState": []}]) for case in PLAIN + UNTRAINED),
    *((learner_case(*WITH_GEOMETRIES[number]), [*COMMON, "diagonal"]) for number in (0, 2)),
    *(
        (learner_case(*each), [*COMMON, "rbf", "adaptive", {"function": "kernel"}])
        for each in WITH_KERNELS[1:3]
    ),
    *((sequence_case(each), [*COMMON, *NESTED, "prediction"]) for each in ("diagonal", "matrix", "hashed")),
]


@pytest.mark.parametrize(("case", "values"), HEADERS, ids=[case.name for case, _ in HEADERS])
def test_any_other_value_in_the_header_is_rejected_or_works(case, values, tmp_path):
    model, place, loaded = case.make(), tmp_path / "a-model", 0
    for path in list(leaves(model.to_parts()[0]))[1:]:
        for value in values:
            place.write_bytes(changed(model, header_with(*path, value=value)))
            try:
                again = hinge.load(place)
            except ModelFileError:
                continue
            loaded += 1
            case.uses[0](again)
            again.to_bytes()
    assert loaded > 10
