"""Shared by the tests of the command line."""

import pytest

from command_line import called


@pytest.fixture
def run(capfd, monkeypatch, tmp_path):
    """Runs the command in this process, in the folder `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    return called(capfd, monkeypatch)
