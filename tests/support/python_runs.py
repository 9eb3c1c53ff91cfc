"""Python programs in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from textwrap import dedent


def run_python(program: str, **environment: str) -> str:
    """What a program prints; its failure is that of the test."""
    done = subprocess.run(
        [sys.executable, "-c", dedent(program)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
