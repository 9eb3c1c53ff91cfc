"""Good and bad calls in any order: a fleet that shares nothing against a dict of learners, and one with limits against
another that never sees the bad calls. Meanwhile it is written and read, and copies follow it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from fleets import assert_same_learner, assert_same_state, state
from hinge import Fleet, Learner
from hinge.data.errors import InputError

KEYS = st.sampled_from(["a", "b", 3, "", -1])
VALUES = st.floats(-100, 100).map(lambda value: round(value, 3)) | st.sampled_from(
    [0.0, 1, True, "red", None]
)
RECORDS = st.dictionaries(st.sampled_from(["x", "y", "z", 0, "w"]), VALUES, max_size=4)
LABELS = st.sampled_from(["q", "p", "r", 5])
WEIGHTS = st.sampled_from([1.0, 1.0, 0.0, 0.3])
EVENTS = st.tuples(KEYS, RECORDS, LABELS, WEIGHTS)
# What is wrong with the last event of a batch.
BAD: Any = st.sampled_from(
    [
        (None, {"x": 1.0}, "q", 1.0),
        (2**64, {"x": 1.0}, "q", 1.0),
        ("k" * 2000, {"x": 1.0}, "q", 1.0),
        ("new", {"x": float("nan")}, "q", 1.0),
        ("a", {"new": 1.0, "x": 1e300}, "q", 1.0),
        ("a", {"new": 1.0, "newer": -float("inf")}, "q", 1.0),
        ("b", {"x": object()}, "q", 1.0),
        ("a", {"x": 1.0}, None, 1.0),
        ("a", {"x": 1.0}, float("nan"), 1.0),
        ("a", {"x": 1.0}, "new label", -1.0),
        ("new", {"new": 1.0}, "new label", float("nan")),
    ]
)
OPTIONS: Any = st.fixed_dictionaries(
    {
        "geometry": st.sampled_from(["euclidean", "diagonal"]),
        "average": st.sampled_from([False, True, 3]),
        "dtype": st.sampled_from(["float64", "float32"]),
    }
)


class Against(RuleBasedStateMachine):
    """What both machines do. `learned` is called with what the fleet has learned."""

    fleet: Fleet
    copy: Fleet | None = None
    sizes = True  # whether a rejected call must not change what is in memory

    def learned(self, *event: Any) -> None:
        raise NotImplementedError

    @rule(event=EVENTS)
    def learn_one(self, event: Any) -> None:
        self.fleet.learn_one(*event)
        self.learned(*event)

    @rule(event=EVENTS)
    def round_one(self, event: Any) -> None:
        expected = self.fleet.predict_one(*event[:2])
        assert self.fleet.round_one(*event) == expected
        self.learned(*event)

    @rule(events=st.lists(EVENTS, max_size=6))
    def learn_many(self, events: list[Any]) -> None:
        columns = [list(column) for column in zip(*events, strict=True)] or [[], [], []]
        self.fleet.learn_many(*columns)
        for event in events:
            self.learned(*event)

    @rule(events=st.lists(EVENTS, max_size=6), bad=BAD, predicts=st.booleans())
    def learn_many_with_a_bad_row(self, events: list[Any], bad: Any, predicts: bool) -> None:
        columns = [list(column) for column in zip(*events, bad, strict=True)]
        before, written = state(self.fleet, self.sizes), self.fleet.to_bytes()
        with pytest.raises(ValueError) as caught:
            (self.fleet.round_many if predicts else self.fleet.learn_many)(*columns)
        assert isinstance(caught.value, InputError)
        assert caught.value.row == len(events)
        assert_same_state(self.fleet, before, self.sizes)
        assert self.fleet.to_bytes() == written

    @rule(bad=BAD)
    def learn_a_bad_event(self, bad: Any) -> None:
        before = state(self.fleet, self.sizes)
        with pytest.raises(ValueError):
            self.fleet.learn_one(*bad)
        assert_same_state(self.fleet, before, self.sizes)

    @rule(key=KEYS, x=RECORDS)
    def predict(self, key: Any, x: Any) -> None:
        before = state(self.fleet, self.sizes)
        self.fleet.predict_one(key, x)
        self.fleet.score_many([key, "nobody"], [x, x])
        assert_same_state(self.fleet, before, self.sizes)

    @rule(key=KEYS)
    def forget(self, key: Any) -> None:
        if key not in self.fleet:
            with pytest.raises(KeyError):
                del self.fleet[key]
            return
        del self.fleet[key]
        assert key not in self.fleet
        self.forgotten(key)

    def forgotten(self, key: Any) -> None:
        raise NotImplementedError

    @rule()
    def resume_from_a_file(self) -> None:
        self.fleet = Fleet.from_bytes(self.fleet.to_bytes())

    @rule()
    def take_a_copy(self) -> None:
        self.copy = Fleet.from_bytes(self.fleet.to_bytes())

    @rule(takes_over=st.booleans())
    def bring_the_copy_up_to_date(self, takes_over: bool) -> None:
        if self.copy is None:
            return
        self.copy.apply(self.fleet.changes(self.copy.clock))
        assert_same_state(self.copy, state(self.fleet, sizes=False), sizes=False)
        if takes_over:
            self.fleet, self.copy = self.copy, None


class AgainstLearners(Against):
    @initialize(
        options=OPTIONS, memory=st.sampled_from([None, 2000])
    )  # in the latter, keys go to disk and return
    def begin(self, options: Any, memory: int | None) -> None:
        self.sizes = memory is None
        self.fleet = Fleet("classification", shared=False, memory=memory, **options)
        self.new = lambda: Learner("classification", **options)
        self.learners: dict[Any, Learner] = {}

    def learned(self, key: Any, x: Any, y: Any, weight: float) -> None:
        if weight > 0:
            self.learners.setdefault(key, self.new()).learn_one(x, y, weight)

    def forgotten(self, key: Any) -> None:
        del self.learners[key]

    @invariant()
    def it_has_the_same_models(self) -> None:
        assert set(self.fleet) == set(self.learners)
        for key, learner in self.learners.items():
            assert_same_learner(self.fleet[key].learner(), learner)


class AgainstAnother(Against):
    """With limits: keys are evicted, features are ignored."""

    @initialize(options=OPTIONS, limit=st.sampled_from(["ignore", "evict"]), shared=st.booleans())
    def begin(self, options: Any, limit: str, shared: bool) -> None:
        self.fleet, self.other = (
            Fleet(
                "classification",
                shared=shared,
                max_keys=3,
                at_max_keys=limit,
                max_features=3,
                at_max_features=limit,
                **options,
            )
            for _ in range(2)
        )

    def learned(self, *event: Any) -> None:
        self.other.learn_one(*event)

    def forgotten(self, key: Any) -> None:
        del self.other[key]

    @invariant()
    def it_has_the_same_state(self) -> None:
        assert_same_state(self.fleet, state(self.other, sizes=False), sizes=False)
        assert len(self.fleet) <= 3


TestAgainstLearners = AgainstLearners.TestCase
TestAgainstAnother = AgainstAnother.TestCase
TestAgainstLearners.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestAgainstAnother.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
