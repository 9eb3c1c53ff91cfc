"""Print the versions of hinge and of its dependencies."""

from __future__ import annotations

import argparse
import platform
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

from ... import __version__


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(arguments: argparse.Namespace) -> int:
    print(f"hinge {__version__}")
    print(f"Python {platform.python_version()} on {platform.system()} {platform.machine()}")
    for package in ("numpy", "scipy", "scikit-learn", "matplotlib", "pyarrow", "river"):
        try:
            print(f"{package} {installed(package)}")
        except PackageNotFoundError:
            print(f"{package}: not installed")
    return 0
