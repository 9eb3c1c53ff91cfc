"""Lists, dicts and names that change, or raise, while they are read: never a crash, never a trace of a rejection."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import numpy as np
import pytest

from hinge.structured.sequence_learner import SequenceLearner
from rejection import Does, rejects
from rejection_sentences import every_kind, state, trained


@every_kind
@pytest.mark.parametrize("way", ["learn_one", "learn_many", "predict_one", "score_one", "explain_one"])
def test_lists_that_change_while_they_are_read(options, way):
    """They are rejected, or read as they were."""
    for change in (
        lambda token, sentence, batch, y: token.clear(),
        lambda token, sentence, batch, y: token.update({"another": 1.0}),
        lambda token, sentence, batch, y: (token.pop("b"), token.update(another=1.0)),
        lambda token, sentence, batch, y: sentence.clear(),
        lambda token, sentence, batch, y: sentence.append(["a"]),
        lambda token, sentence, batch, y: sentence.__setitem__(slice(None), [["a"]] * 3),
        lambda token, sentence, batch, y: sentence.__setitem__(2, None),
        lambda token, sentence, batch, y: batch.clear(),
        lambda token, sentence, batch, y: batch.append([["a"]]),
        lambda token, sentence, batch, y: y.clear(),
        lambda token, sentence, batch, y: batch[-1].clear(),
        lambda token, sentence, batch, y: batch[-1].append(["a"]),
    ):
        model = trained(options)
        token, y = {"a": 1.0, "new": 1.0}, ["A", "B", "C"]
        sentence = [["b"], token, ["c" * 50, "d" * 50]]
        batch = [[["a"]], sentence, [["z" * 30]]]
        token["x"] = Does(lambda c=change, t=token, s=sentence, b=batch, y=y: c(t, s, b, y))
        token["b"] = 2.0
        before = state(model)
        arguments = {
            "learn_one": (sentence, y),
            "learn_many": (batch, [["A"], y, ["B"]]),
            "predict_one": (sentence,),
            "score_one": (sentence, y),
            "explain_one": (sentence, y),
        }[way]
        try:
            getattr(model, way)(*arguments)
        except (ValueError, IndexError, TypeError):
            assert state(model) == before
        SequenceLearner.from_bytes(state(model)).learn_one([["a"]], ["A"])


def test_name_may_change_what_is_read():
    """np.int64 and the like stand for their number; an __index__ may do anything."""

    class Name:
        def __init__(self, does):
            self.does = does

        def __hash__(self):
            return 1

        def __index__(self):
            self.does()
            return 7

    token = {}
    token.update({Name(token.clear): 1.0, "a": 1.0, "b": 1.0})
    model = trained({})
    rejects(model, "changed while it was read").learn_one([token], ["A"])
    model.learn_one([{np.int64(3): 1.0, True: 2.0}], ["A"])
    assert {3, 1} <= set(model.attributes_)


def error_of(code):
    """The error that a piece of code ends with, in another process, which may crash."""
    start = "from hinge import PASequence\nimport numpy as np, scipy.sparse\n"
    result = subprocess.run(
        [sys.executable, "-c", start + textwrap.dedent(code)], capture_output=True, timeout=120, check=False
    )
    assert result.returncode == 1, result
    return result.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize(
    ("token", "message"),
    [
        ("{Name(): 1.0}", "ValueError: no number"),
        (
            "{10**5000: 'text'}",
            "hinge.data.errors.InputError: token 0: a column number is too large to be the name of a feature",
        ),
    ],
)
def test_name_that_cannot_be_read_is_rejected(token, message):
    code = f"""
        class Name:
            def __hash__(self):
                return 1
            def __index__(self):
                raise ValueError("no number")
        PASequence().learn_one([{token}], ["A"])
        """
    assert error_of(code) == message


def test_sparse_array_of_one_dimension_is_rejected():
    code = "PASequence().learn_one(scipy.sparse.coo_array(np.ones(3)), ['A', 'B', 'A'])"
    assert error_of(code).endswith("an array of tokens must have two dimensions, not 1")
