"""Every package is entered by its door: what it shows in its `__init__`."""

import ast
from pathlib import Path

import ppfs

SOURCE = Path(ppfs.__file__).parent


def _modules():
    return [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py" or path.parent != SOURCE]


def _room(module):
    """The package directly below ppfs that a dotted name belongs to."""
    return module.split(".")[1]


def _imported(path):
    """The dotted names of the modules that a file imports from, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            for name in node.names:
                inside = SOURCE.joinpath(*node.module.split(".")[1:], name.name)
                if node.module.startswith("ppfs") and (inside.with_suffix(".py").exists() or inside.is_dir()):
                    yield f"{node.module}.{name.name}"
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_no_module_reaches_into_another_package():
    """What lies inside a package is imported only from within it."""
    trespassers = [
        f"{path.relative_to(SOURCE)} imports {module}"
        for path in _modules()
        for module in _imported(path)
        if module.startswith("ppfs.")
        and module.count(".") > 1
        and _room(module) != path.relative_to(SOURCE).parts[0]
    ]
    assert trespassers == []


FOREIGN = ("sklearn", "scipy", "numba", "joblib", "numpy", "pandas", "polars", "narwhals")


def _private_imports(path):
    """The names below a dependency that begin with an underscore, imported anywhere in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{name.name}" for name in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] in FOREIGN and any(part.startswith("_") and part[:2] != "__" for part in parts):
                yield name


def test_private_names_of_dependencies_pass_through_one_file():
    """A new version of a dependency can then break one file only."""
    found = {path.relative_to(SOURCE).as_posix(): [*_private_imports(path)] for path in SOURCE.rglob("*.py")}
    assert {path for path, names in found.items() if names} == {"_conventions/sklearn_compat.py"}
