"""Which tests execute which faulty statement, and how long they take, so that each fault runs only these tests.

    pytest -p tests_by_fault --sample sample.json --maps folder tests/...       (run.py does so)

A pytest plugin. As the package is imported, a mark is set before each statement that holds a fault of the sample, and
at the start of every function of those files; nothing else is traced, so the tests take hardly longer than without.
Times are seconds of the processor, whatever else runs on the machine.
"""

from __future__ import annotations

import ast
import builtins
import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

_MARK = "__ppfs_mark__"
_marked: set[str] = set()
_broken: set[str] = set()
_tests: dict[str, dict[str, float]] = defaultdict(dict)
_by_mark: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

#: Faults of each file: line to keys.
Faults = dict[str, dict[int, list[str]]]


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--sample", help="the faults: file, line, key")
    parser.addoption("--maps", help="the folder that the maps go to, one for each file of tests")


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Stand before the import of the package."""
    faults: Faults = defaultdict(lambda: defaultdict(list))
    for file, line, key in json.loads(Path(early_config.known_args_namespace.sample).read_text()):
        faults[file][line].append(key)
    setattr(builtins, _MARK, _marked.add)
    sys.meta_path.insert(0, MarkingFinder(faults))


class MarkingFinder(MetaPathFinder):
    """Finds modules as usual, and has marks put into those with faults."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Return the specification of a module of this package."""
        if not fullname.startswith("ppfs"):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            file = spec.origin.split("/ppfs/")[-1]
            if file in self._faults:
                spec.loader = MarkingLoader(fullname, spec.origin, file, self._faults[file])
        return spec


class MarkingLoader(SourceFileLoader):
    """Compiles a marked copy of a module, and keeps it from the cache of compiled modules."""

    def __init__(self, fullname: str, path: str, file: str, faults: dict[int, list[str]]) -> None:
        super().__init__(fullname, path)
        self._file = file
        self._faults = faults

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module with its marks."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        return compile(marked(tree, self._file, self._faults), path, "exec", dont_inherit=True)


def marked(tree: ast.Module, file: str, faults: dict[int, list[str]]) -> ast.Module:
    """Put a mark at the start of every function, and before every statement of a function that holds a fault."""
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            _mark_faults(node, faults)
    for node in list(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
            head = _lines_of_defaults(node)
            keys = [key for line, keys in faults.items() if line in head for key in keys]
            node.body[int(has_text) : int(has_text)] = [_mark(name, node) for name in (file, *keys)]
    return ast.fix_missing_locations(tree)


def _lines_of_defaults(function: ast.FunctionDef | ast.AsyncFunctionDef) -> range:
    """Return the lines before the body: the faults there are in defaults, which each call uses."""
    return range(function.lineno, function.body[0].lineno)


def _mark_faults(owner: ast.AST, faults: dict[int, list[str]]) -> None:
    """Mark the innermost statement that spans the line of each fault."""
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(owner, field, None)
        if isinstance(statements, list):
            _mark_in(statements, faults)
    for part in [*getattr(owner, "handlers", []), *getattr(owner, "cases", [])]:
        _mark_faults(part, faults)


def _mark_in(statements: list[ast.stmt], faults: dict[int, list[str]]) -> None:
    new: list[ast.stmt] = []
    for statement in statements:
        is_function = isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        own = set() if is_function else _own_lines(statement)
        new += [_mark(key, statement) for line, keys in faults.items() if line in own for key in keys]
        new.append(statement)
        if not is_function:
            _mark_faults(statement, faults)
    statements[:] = new


def _own_lines(statement: ast.stmt) -> set[int]:
    """Return the lines of a statement without those of statements inside it."""
    lines = set(range(statement.lineno, (statement.end_lineno or statement.lineno) + 1))
    inner = {
        line
        for node in ast.walk(statement)
        if isinstance(node, ast.stmt) and node is not statement
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return lines - inner


def _mark(name: str, where: ast.stmt) -> ast.Expr:
    call = ast.Call(ast.Name(_MARK, ast.Load()), [ast.Constant(name)], [])
    return ast.copy_location(ast.Expr(call), where)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: Any, nextitem: Any) -> Iterator[None]:
    file, name = item.nodeid.split("::")[0], item.nodeid
    _marked.clear()
    start = time.process_time()
    outcome = yield
    _tests[file][name] = round(time.process_time() - start, 3)
    for mark in _marked:
        _by_mark[file][mark].append(name)
    if nextitem is None or nextitem.nodeid.split("::")[0] != file:
        _write(file, Path(item.config.getoption("--maps")))
    return outcome


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed:
        _broken.add(report.nodeid)


def _write(file: str, folder: Path) -> None:
    """Write down what the tests of one file run; those that fail without a fault prove nothing."""
    tests = {test: seconds for test, seconds in _tests[file].items() if test not in _broken}
    marks = {mark: [test for test in found if test in tests] for mark, found in _by_mark[file].items()}
    name = file.removesuffix(".py").replace("/", "-")
    (folder / f"{name}.json").write_text(json.dumps({"tests": tests, "marks": marks}))
