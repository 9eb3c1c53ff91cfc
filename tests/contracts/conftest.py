"""Assertions in `checks` are reported as those of test modules are."""

import pytest

pytest.register_assert_rewrite("checks")
