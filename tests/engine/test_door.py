"""The engine's public names: all there, and loaded when they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import ppfs
from ppfs import _engine


def run(code):
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("name", _engine.__all__)
def test_every_public_name_is_there(name):
    assert getattr(_engine, name) is not None


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"'ppfs\._engine' has no attribute 'fit_columns'"):
        _ = _engine.fit_columns


def test_type_checkers_see_the_same_names_in_the_same_modules():
    """The imports for type checkers are a second list of the names: this keeps the two equal."""
    tree = ast.parse(Path(_engine.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.col_offset]
    assert {node.module: tuple(name.name for name in node.names) for node in imports} == {
        f"ppfs._engine.{module}": names for module, names in _engine._MODULES.items()
    }


def test_importing_ppfs_and_the_engine_loads_neither_numba_nor_kernels():
    run("import sys, ppfs, ppfs._engine; assert not {'numba', 'ppfs._engine.jit'} & set(sys.modules)")


def test_a_name_loads_its_family_only():
    run(
        "import sys; from ppfs import _engine; _engine.count_cells;"
        "assert 'ppfs._engine.tables.counting' in sys.modules;"
        "assert not {'ppfs._engine.boosting', 'ppfs._engine.many_columns'} & set(sys.modules)"
    )


def test_no_function_imports_the_engine():
    """One import at the top of a module is enough, because it costs nothing."""
    source = Path(ppfs.__file__).parent
    lazy = [
        f"{path.relative_to(source)}:{node.lineno}"
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "ppfs._engine"
    ]
    assert lazy == []
