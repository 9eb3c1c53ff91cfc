"""The layers of the package: a module imports from its own layer and from those below it."""

from __future__ import annotations

import ast
from pathlib import Path

import hinge

PACKAGE = Path(hinge.__file__).parent
# From the bottom to the top. The layers of one line do not import each other.
LAYERS = [
    ["_core"],
    ["data"],
    ["model"],
    ["tasks"],
    ["options"],
    ["features"],
    ["learner"],
    ["fleet"],
    ["estimators"],
    ["structured"],
    ["theory"],
    ["streams"],
    ["compat", "plots", "river"],
    ["cli"],
    ["__main__"],
]
HEIGHT = {name: height for height, names in enumerate(LAYERS) for name in names}
# Methods that load a higher layer when they are called.
LAZY = {
    ("fleet", "theory"),
    ("tasks", "learner"),
    ("tasks", "structured"),
    ("learner", "theory"),
    ("structured", "theory"),
}


def imports(path: Path) -> set[str]:
    """The layers that a module imports from; what only type checkers import does not count."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    package = ("hinge", *path.relative_to(PACKAGE).parent.parts)
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in for_types:
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            if module[0] == "hinge":
                found |= {module[1]} if len(module) > 1 else {alias.name for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name.split(".")[1] for alias in node.names if alias.name.startswith("hinge.")}
    return found & HEIGHT.keys()


def layer(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def test_no_module_imports_from_a_higher_layer():
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        own = layer(path)
        if own == "__init__":
            continue
        for other in imports(path) - {own}:
            if HEIGHT[other] >= HEIGHT[own] and (own, other) not in LAZY:
                wrong.append(f"{path.relative_to(PACKAGE)} imports {other}")
    assert wrong == []


def test_every_module_has_a_layer():
    found = {layer(path) for path in PACKAGE.rglob("*.py")} - {"__init__"}
    assert found | {"_core"} == HEIGHT.keys()


def test_no_test_imports_a_test():
    tests = Path(__file__).parent
    wrong = [
        f"{path.relative_to(tests)}: {ast.unparse(node)}"
        for path in sorted(tests.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("test_")
    ]
    assert wrong == []
