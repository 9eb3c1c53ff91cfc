"""Learners when a process forks, when it ends, and when finalizers run in the middle of a call."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import hinge
from hinge.data.rows import rows_of

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")


def ran(program: str, seconds: float = 120) -> subprocess.CompletedProcess[str]:
    """Runs a program in a new process. The time limit only ends one that hangs."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)


BATCHES = """
    import os, signal, sys, threading, time
    import numpy as np
    from hinge import Learner, PAClassifier
    X = np.random.default_rng(0).normal(size=(2000, 50))
    y = (X[:, 0] > 0) * 1
"""


@pytest.mark.parametrize("what", ["model.partial_fit(X, y)", "model.predict(X)", "list(map(float, [1]))"])
def test_daemon_thread_does_not_abort_the_process_at_exit(what):
    program = f"""
    model = PAClassifier().partial_fit(X, y, classes=[0, 1])
    running = threading.Event()
    def work():
        while True:
            {what}
            running.set()
    threading.Thread(target=work, daemon=True).start()
    running.wait()
    """
    for _ in range(3):
        done = ran(BATCHES + program)
        assert (done.returncode, done.stderr) == (0, "")


def test_finalizer_at_exit_does_not_wait_for_a_daemon_thread():
    program = """
    model = PAClassifier().partial_fit(X, y, classes=[0, 1])
    class Last:
        def __del__(self, model=model, x=X[:2]):
            try:
                model.predict(x)
            except BaseException:
                pass
    last = Last()
    running = threading.Event()
    def work():
        while True:
            model.partial_fit(X, y)
            running.set()
    threading.Thread(target=work, daemon=True).start()
    running.wait()
    """
    assert ran(BATCHES + program).returncode == 0


# The kernel waits, and the learner is locked, until the test sets `leave`.
HELD = """
    import os, signal, threading
    import numpy as np
    from hinge import Learner
    inside, leave = threading.Event(), threading.Event()
    def kernel(A, B):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            leave.wait()
        return A @ B.T
    model = Learner("regression", kernel=kernel, epsilon=0.0)
    model.learn(np.eye(3), [1.0, 2.0, 3.0])
    def in_child(function):
        child = os.fork()
        if child == 0:
            signal.alarm(60)
            try:
                print(function(), flush=True)
            except RuntimeError as error:
                print(error, flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
"""


@needs_fork
@pytest.mark.parametrize(
    "use",
    [
        "model.scores(np.eye(3))",
        "model.learn(np.eye(3), [1.0, 2.0, 3.0])",
        "model.to_bytes()",
        "model.n_features",
    ],
)
def test_model_forked_while_a_thread_learns_is_rejected_in_the_child(use):
    program = f"""
    thread = threading.Thread(target=lambda: model.learn(np.eye(3), [3.0, 2.0, 1.0]))
    thread.start()
    inside.wait()
    in_child(lambda: {use})
    leave.set()
    thread.join()
    print(model.statistics.rounds)
    """
    done = ran(HELD + program)
    assert done.returncode == 0, done.stderr
    message, rounds = done.stdout.splitlines()
    assert "forked while another thread was learning" in message
    assert rounds == "6"  # the parent has learned on


@needs_fork
def test_model_forked_while_a_thread_predicts_works_in_the_child():
    program = """
    thread = threading.Thread(target=lambda: model.scores(np.eye(3)))
    thread.start()
    inside.wait()
    in_child(lambda: (model.scores(np.eye(3)).shape, model.learn(np.eye(3), [1.0, 2.0, 3.0]), model.statistics.rounds))
    leave.set()
    thread.join()
    """
    done = ran(HELD + program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "((3,), 3, 6)\n"


@needs_fork
def test_fork_within_a_call_does_not_disturb_the_call():
    program = """
    def forking(A, B):
        if not os.environ.get("FORKED"):
            os.environ["FORKED"] = "1"
            child = os.fork()
            if child != 0:
                assert os.waitpid(child, 0)[1] == 0
            else:
                signal.alarm(60)
        return A @ B.T
    other = Learner("regression", kernel=forking, epsilon=0.0)
    other.learn(np.eye(3), [1.0, 2.0, 3.0])
    other.learn(np.eye(3), [1.0, 2.0, 3.0])
    print(other.statistics.rounds, flush=True)
    """
    done = ran(HELD + program)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "6\n6\n"


# ---- finalizers -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "of",
    [
        """
        from hinge import PASequence
        model = PASequence().learn_one([["a"], ["b"]], ["A", "B"])
        make, ask = lambda: [f"key-{i}-" * 9 for i in range(200)], lambda token: model.explain_one([["a"], token])
        """,
        """
        from hinge import PASequence
        model = PASequence().learn_one([["a"], ["b"]], ["A", "B"])
        make, ask = lambda: {f"key-{i}-" * 9: 1.5 for i in range(200)}, lambda token: model.explain_one([["a"], token])
        """,
        """
        from hinge import PARegressor
        model = PARegressor().learn_one({"a": 1.0}, 1.0)
        make, ask = lambda: {f"key-{i}-" * 9: 1.5 for i in range(200)}, model.explain_one
        """,
    ],
    ids=["sequence of lists", "sequence of dicts", "events"],
)
def test_finalizer_may_clear_the_input_that_is_being_read(of):
    program = """
    import gc
    class T:
        def __init__(self, f): self.f, self.me = f, self
        def __del__(self): self.f()
    for threshold in range(5, 200, 3):
        x = make()
        gc.disable()
        T(x.clear)
        gc.set_threshold(threshold, 1, 1)
        gc.enable()
        try:
            ask(x)
        except ValueError as error:
            assert "changed while it was read" in str(error), error
    print("whole")
    """
    done = ran(textwrap.dedent(of) + textwrap.dedent(program))
    assert (done.returncode, done.stdout) == (0, "whole\n"), done.stderr


# ---- the same bits on every processor -------------------------------------------------------------------------------


def test_simplex_is_bit_identical_without_fused_operations():
    """The C library's exp and log take other code paths where a processor has fused operations."""
    program = """
    import hashlib
    import numpy as np
    from hinge import Learner
    X = np.random.default_rng(1).normal(size=(2000, 8))
    digest = hashlib.sha256()
    for options in ({}, {"average": True}, {"w1": np.linspace(0.01, 0.2, 8), "fit_intercept": False}):
        learner = Learner("classification", geometry="entropy", classes=[0, 1], **options)
        learner.learn(X, (X[:, 0] > 0) * 1)
        digest.update(learner.to_bytes())
    print(digest.hexdigest())
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    digests = {
        subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "GLIBC_TUNABLES": tunables},
        ).stdout
        for tunables in (
            "glibc.malloc.check=0",
            "glibc.cpu.hwcaps=-FMA,-AVX2",
            "glibc.cpu.hwcaps=-FMA,-AVX2,-AVX",
        )
    }
    assert len(digests) == 1


# ---- names --------------------------------------------------------------------------------------------------------


def test_sizeof_counts_the_names():
    short, long = hinge.Learner("regression"), hinge.Learner("regression")
    for learner, width in ((short, 3), (long, 300)):
        learner.learn_one({str(k).ljust(width): 1.0 for k in range(100)}, 1.0)
    assert sys.getsizeof(long) - sys.getsizeof(short) == 100 * 297


def test_prediction_does_not_name_columns():
    learner = hinge.Learner("regression")
    learner.learn_rows(rows_of(np.eye(3)), [1.0, 2.0, 3.0])
    assert learner.predict_one({1: 2.0, 7: 1.0}) == pytest.approx(
        float(learner.scores(np.eye(3)[1:2] * 2.0)[0])
    )
    assert [part.feature for part in learner.explain_one({1: 2.0}) if part.value == 2.0] == [1]
    assert learner.feature_names == []
    learner.learn_rows(rows_of(np.eye(5)), [1.0] * 5)  # wider
    assert learner.n_features == 5
    learner.learn_one({4: 1.0}, 1.0)  # events name them, by their numbers
    learner.learn_rows(rows_of(np.eye(6)), [1.0] * 6)
    assert learner.feature_names == [0, 1, 2, 3, 4]
