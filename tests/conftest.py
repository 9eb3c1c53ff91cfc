"""Shared by all tests: one thread for linear algebra; the helpers in these folders can be imported."""

from __future__ import annotations

import os
import sys
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

_TESTS = Path(__file__).parent
sys.path[:0] = [*(str(_TESTS / name) for name in ("support", "twins", "contracts")), str(_TESTS.parent)]
