"""Every package is entered by its door: what it shows in its `__init__`."""

import ast
import re
from collections import Counter
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


def test_rooms_and_modules_stay_small():
    """A folder has at most 20 modules, a module at most 450 lines, and the root at most six modules."""
    modules = list(SOURCE.rglob("*.py"))
    by_room = Counter(path.parent for path in modules if path.name != "__init__.py")
    assert [path for path in modules if len(path.read_text(encoding="utf-8").splitlines()) > 450] == []
    assert [room for room, n_modules in by_room.items() if n_modules > 20] == []
    assert by_room[SOURCE] <= 6


CONTRIBUTING = Path(__file__).parents[1] / "docs" / "contributing.md"


def test_the_ten_questions_of_a_stranger_are_answered_by_files_that_exist():
    rows = re.findall(
        r"^\| .+\? \| `(.+?)` \|$", CONTRIBUTING.read_text(encoding="utf-8"), flags=re.MULTILINE
    )
    assert len(rows) == 10
    assert [path for path in rows if not (CONTRIBUTING.parents[1] / path).is_file()] == []


def test_contributors_are_sent_to_files_that_exist():
    text = CONTRIBUTING.read_text(encoding="utf-8")
    paths = set(re.findall(r"`((?:src|tests|benchmarks|docs|tools)/[\w./]+)`", text))
    # A file called name stands for the file of a new search or test.
    old = sorted(path for path in paths if not path.endswith(("_name.py", "/name.py")))
    assert len(old) > 20
    assert [path for path in old if not (CONTRIBUTING.parents[1] / path).exists()] == []
