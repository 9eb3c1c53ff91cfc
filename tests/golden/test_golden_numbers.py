"""The numbers that every contract case learns, to the bit: their hashes were recorded before the redesign of 0.9.

`HINGE_GOLDEN=write` records them again. Entropy uses the system's `exp`, so its numbers are rounded first.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

import cases
import kernel_cases
import sequence_cases
from hinge.model.experts import is_committee

GOLDEN = Path(__file__).parent / "numbers.json"


def digest(values, exact=True):
    """A hash of numbers (arrays, dicts by name, nested lists) that does not depend on how a model is stored."""
    hashed = hashlib.sha256()
    for value in values:
        array = np.asarray(value, dtype=np.float64)
        hashed.update(array.tobytes() if exact else ",".join(f"{x:.7g}" for x in array.ravel()).encode())
    return hashed.hexdigest()[:16]


def learned_numbers(learner, X, events):
    """Scores by row and by event, what the averages say, and the statistics."""
    yield learner.scores(X)
    yield from (cases.number(learner.score_one(x)) for x in events)
    statistics = learner.statistics
    yield [getattr(statistics, name) for name in ("rounds", "updates", "mistakes", "loss", "squared_loss")]
    if learner.parameters["geometry"] in ("mahalanobis", "diagonal") and not is_committee(learner):
        yield learner.covariance
    elif learner.parameters["kernel"] is None:
        yield learner.weights
        yield learner.intercept


def of_learner(task, options, count):
    """Half of the stream as rows of an array, half as a CSR matrix; then all of it as events, one by one."""
    exact = options.get("geometry") != "entropy"
    X, y, weights = cases.stream(task, count)
    rows = cases.rows_for(options, X)
    half = count // 2
    if cases.new(task, options)._has_intercept:
        options = {**options, "intercept_value": 1.0}  # the default when they were recorded
    by_rows = cases.new(task, options)
    by_rows.learn(rows[:half], cases.part(y, slice(0, half)), weights[:half])
    by_rows.learn(cases.csr(rows[half:]), cases.part(y, slice(half, None)))
    by_events = cases.new(task, options)
    events = cases.as_dicts(X)
    for i, x in enumerate(events):
        by_events.learn_one(x, cases.one(y, i), float(weights[i]))
    order = list(map(str, by_events.feature_names)) if exact and not options["hash_bits"] else []
    named = [digest(learned_numbers(by_rows, rows, []), exact)]
    scores = (cases.number(by_events.score_one(x)) for x in events)
    return [*named, digest(scores, exact), ",".join(order)]


def of_sequences(options):
    X, y, weights = sequence_cases.stream()
    model = sequence_cases.new(options)
    for sentence, tags, weight in zip(X, y, weights, strict=True):
        model.learn_one(sentence, tags, float(weight))
    parts = ("start_features_", "transition_features_", "state_features_")
    learned = [sorted((str(k), v) for k, v in getattr(model, part).items()) for part in parts]
    return [digest([[v for _, v in part] for part in learned]), " ".join(map(" ".join, model.predict(X[:8])))]


def every_case():
    for task, options in cases.ALL:
        yield f"{task}-{cases.name(options)}", lambda t=task, o=options: of_learner(t, o, 60)
    for task, options in kernel_cases.KERNELS:
        yield (
            f"{task}-{kernel_cases.name(options)}",
            lambda t=task, o=options: of_learner(t, o, kernel_cases.COUNT),
        )
    for options in sequence_cases.CASES:
        yield f"sequence-{sequence_cases.name(options)}", lambda o=options: of_sequences(o)


CASES = dict(every_case())


@pytest.mark.skipif(
    os.environ.get("HINGE_GOLDEN") != "write", reason="records the numbers: HINGE_GOLDEN=write"
)
def test_record_the_numbers():
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(case())}" for name, case in CASES.items())
    GOLDEN.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    assert len(json.loads(GOLDEN.read_text(encoding="utf-8"))) == len(CASES) > 450


def test_learned_numbers_have_not_changed():
    golden = json.loads(GOLDEN.read_text(encoding="utf-8"))
    assert golden.keys() == CASES.keys()
    assert {name: case() for name, case in CASES.items()} == golden
