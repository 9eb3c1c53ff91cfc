"""The experiments of the papers as recipes: what was claimed, and whether it can be reproduced.

    >>> from experiments import papers
    >>> [recipe.name for recipe in papers.recipes()][:4]
    ['E1', 'E2', 'E3a', 'E3b']

`hinge papers run E1` runs one from the command line.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path

from .recipe import Outcome as Outcome
from .recipe import Recipe as Recipe
from .recipe import Setting as Setting

_MODULES = ("noise", "digits", "caches", "mail", "covariance", "beyond")


def recipes() -> list[Recipe]:
    """All experiments, in the order of their names."""
    found = [
        recipe for module in _MODULES for recipe in importlib.import_module(f".{module}", __package__).RECIPES
    ]
    return sorted(found, key=lambda recipe: (int(recipe.name[1:].rstrip("ab")), recipe.name))


def recipe_named(name: str) -> Recipe:
    found = {recipe.name.lower(): recipe for recipe in recipes()}
    if name.lower() not in found:
        names = ", ".join(recipe.name for recipe in found.values())
        raise ValueError(f"there is no experiment {name!r}; there are {names}")
    return found[name.lower()]


def run(
    name: str,
    data: Path | str | None = None,
    size: str = "full",
    say: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Runs an experiment on the data of a folder, or on its substitute. `size`: 'full', 'quick' or 'tiny'."""
    return recipe_named(name).run(Setting(None if data is None else Path(data), size, say))
