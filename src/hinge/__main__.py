"""`python -m hinge` is the `hinge` command."""

import sys

from .cli import command

if __name__ == "__main__":
    sys.exit(command())
