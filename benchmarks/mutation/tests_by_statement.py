"""Which tests execute which statement, and how long they take, so that each fault runs only these tests.

    pytest -p tests_by_statement --marked sources.json --maps folder tests/...       (run.py does so)

A pytest plugin. As the package is imported, a mark is set before each statement of a function, and at the start of
every function. A mark is named by the function and the text of the statement, so a map stays of use when lines move and
serves every sample. Times are seconds of the processor, whatever else runs on the machine.
"""

from __future__ import annotations

import ast
import builtins
import hashlib
import json
import os
import signal
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

# So many tests of one file are written down for a statement, the quickest.
_MOST_TESTS = 100

# Tests that take more CPU seconds than this are left out: no fault would be tried against them.
_MOST_SECONDS = 4.0

_marked: set[str] = set()
_broken: set[str] = set()
_tests: dict[str, dict[str, float]] = defaultdict(dict)
_by_mark: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

# The decorators of `ppfs._engine.jit.kernels`.
_COMPILED = {
    "branching_kernel",
    "kernel",
    "kernel_part",
    "kernel_function",
    "allocating_kernel",
    "allocating_function",
    "summing_part",
}

_Function = ast.FunctionDef | ast.AsyncFunctionDef


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--marked", help="the files of the package to mark")
    parser.addoption("--maps", help="the folder that the maps go to, one for each file of tests")


def pytest_load_initial_conftests(early_config: Any) -> None:
    """Stand before the import of the package."""
    files = json.loads(Path(early_config.known_args_namespace.marked).read_text())
    setattr(builtins, _MARK, _marked.add)
    sys.meta_path.insert(0, MarkingFinder(set(files)))


class MarkingFinder(MetaPathFinder):
    """Finds modules as usual, and has marks put into some."""

    def __init__(self, files: set[str]) -> None:
        self._files = files

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """Return the specification of a module of this package."""
        if not fullname.startswith("ppfs"):
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.origin is not None:
            file = spec.origin.split("/ppfs/")[-1]
            if file in self._files:
                spec.loader = MarkingLoader(fullname, spec.origin, file)
        return spec


class MarkingLoader(SourceFileLoader):
    """Compiles a marked copy of a module, and keeps it from the cache of compiled modules."""

    def __init__(self, fullname: str, path: str, file: str) -> None:
        super().__init__(fullname, path)
        self._file = file

    def get_code(self, fullname: str) -> CodeType:
        """Return the code of the module with its marks."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        return compile(marked(tree, self._file), path, "exec", dont_inherit=True)


def marked(tree: ast.Module, file: str) -> ast.Module:
    """Put a mark at the start of every function, and before every statement of a function."""
    is_plain = os.environ.get("NUMBA_DISABLE_JIT") == "1"
    for function, marks in list(_functions(tree, file)):
        if is_compiled(function) and not is_plain:
            continue
        for statements in _blocks(function):
            statements[:] = [part for one in statements for part in (_mark(marks[one], one), one)]
        has_text = isinstance(function.body[1], ast.Expr) and isinstance(function.body[1].value, ast.Constant)
        if has_text:
            del function.body[0]
        here = int(has_text)
        function.body[here:here] = [_mark(name, function) for name in (file, marks[function])]
    return ast.fix_missing_locations(tree)


def mark_of(source: str, file: str, line: int) -> str:
    """Return the mark that is met whenever the code of a line runs: a statement's, a function's or a file's."""
    found = file
    for function, marks in _functions(ast.parse(source), file):
        for node, name in marks.items():
            own = range(function.lineno, function.body[0].lineno) if node is function else _own_lines(node)
            if line in own:
                found = name
    return found


def marks_of(source: str, file: str, line: int) -> list[str]:
    """Return the marks of a line: of its statement, or of those that read the constant that the line defines."""
    own = mark_of(source, file, line)
    return [own] if own != file else readers_of(source, file, constants_of(source, line)) or [file]


def constants_of(source: str, line: int) -> set[str]:
    """Return the names that a line of a module, or of a class, defines; none inside functions."""
    tree = ast.parse(source)
    owners = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    return {
        node.id
        for owner in owners
        for statement in owner.body
        if isinstance(statement, ast.Assign | ast.AnnAssign) and line in _own_lines(statement)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def readers_of(source: str, file: str, names: set[str]) -> list[str]:
    """Return the marks of the statements of a file that read one of some names."""
    if not any(name in source for name in names):
        return []
    return [
        mark
        for _, marks in _functions(ast.parse(source), file)
        for statement, mark in marks.items()
        if _reads(statement, names)
    ]


def _reads(part: ast.AST, names: set[str]) -> bool:
    return any(getattr(node, "id", getattr(node, "attr", "")) in names for node in ast.walk(part))


def is_compiled(function: _Function) -> bool:
    """Return whether Numba compiles a function: it cannot be marked then, nor can a fault be put in."""
    return not _COMPILED.isdisjoint(one.id for one in function.decorator_list if isinstance(one, ast.Name))


def needs_no_compiler(source: str, line: int) -> bool:
    """Return whether a line of the engine works in compiled code: of a kernel, or a constant that kernels may read."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, _Function)]
    around = [node for node in functions if node.lineno <= line <= (node.end_lineno or node.lineno)]
    if not around:
        names = constants_of(source, line)
        around = [node for node in functions if _reads(node, names)]
    return not around or any(map(is_compiled, around))


def _functions(tree: ast.Module, file: str) -> Iterator[tuple[_Function, dict[ast.stmt, str]]]:
    """Yield every function, the outer before the inner ones, with the marks of it and of its own statements."""
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, path = waiting.pop(0)
        for child in ast.iter_child_nodes(node):
            named = f"{path}.{child.name}" if isinstance(child, _Function | ast.ClassDef) else path
            waiting.append((child, named))
        if isinstance(node, _Function):
            statements = [one for block in _blocks(node) for one in block]
            texts = {one: hashlib.sha256(ast.unparse(one).encode()).hexdigest()[:10] for one in statements}
            yield node, {node: f"{file}{path}"} | {one: f"{file}{path}:{texts[one]}" for one in statements}


def _blocks(owner: ast.AST) -> list[list[ast.stmt]]:
    """Return the lists of statements of a function, those of functions inside it left out."""
    found = []
    for field in ("body", "orelse", "finalbody"):
        statements = getattr(owner, field, None)
        if isinstance(statements, list) and statements and isinstance(statements[0], ast.stmt):
            found.append(statements)
            for one in statements:
                if not isinstance(one, _Function | ast.ClassDef):
                    found += _blocks(one)
    for part in [*getattr(owner, "handlers", []), *getattr(owner, "cases", [])]:
        found += _blocks(part)
    return found


def _own_lines(statement: ast.stmt) -> set[int]:
    """Return the lines of a statement without those of statements inside it."""
    if isinstance(statement, _Function | ast.ClassDef):
        return set()
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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: Any) -> Iterator[None]:
    """End a test that is too slow. What it shares with others may take longer: to end that would fail them all."""
    signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, _MOST_SECONDS)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)


def _too_slow(signum: int, frame: object) -> None:
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    pytest.fail("too slow")


def pytest_runtest_logreport(report: Any) -> None:
    if report.failed:
        _broken.add(report.nodeid)


def _write(file: str, folder: Path) -> None:
    """Write down what the tests of one file run; those that fail without a fault prove nothing."""
    tests = {test: seconds for test, seconds in _tests.pop(file, {}).items() if test not in _broken}
    numbers = {test: number for number, test in enumerate(tests)}
    marks = {
        mark: [numbers[test] for test in sorted({*found} & tests.keys(), key=lambda one: (tests[one], one))]
        for mark, found in _by_mark.pop(file, {}).items()
    }
    name = file.removesuffix(".py").replace("/", "-")
    content = {"tests": tests, "marks": {mark: found[:_MOST_TESTS] for mark, found in marks.items()}}
    (folder / f"{name}.json").write_text(json.dumps(content))
