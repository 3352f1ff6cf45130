"""Kernels that make arrays say so: the others are compiled without Numba's memory management."""

import ast
from pathlib import Path

import ppfs._engine

_UNCOUNTED = {"kernel", "branching_kernel", "kernel_part", "kernel_function", "summing_part"}
_MAKERS = {
    "arange",
    "array",
    "concatenate",
    "copy",
    "empty",
    "full",
    "ones",
    "sort",
    "unique",
    "where",
    "zeros",
}


def _functions():
    for path in sorted(Path(ppfs._engine.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef):
                yield path.name, node, {ast.unparse(one) for one in node.decorator_list}


def test_what_makes_arrays_is_compiled_as_such():
    allocating = {node.name for _, node, kinds in _functions() if kinds & {"allocating_function"}}
    n_seen = 0
    for file, node, kinds in _functions():
        if kinds & _UNCOUNTED:
            n_seen += 1
            calls = [call.func for call in ast.walk(node) if isinstance(call, ast.Call)]
            made = {one.attr for one in calls if isinstance(one, ast.Attribute)} & _MAKERS
            called = {one.id for one in calls if isinstance(one, ast.Name)} & allocating
            assert not made | called, f"{file}: {node.name} makes arrays: decorate it with allocating_..."
    assert n_seen > 100


def test_no_kernel_contains_what_the_compiler_does_not_look_for():
    """`ppfs._engine.jit.compiler` leaves out Numba's passes for these."""
    needs_a_pass = (
        ast.With,
        ast.Lambda,
        ast.FunctionDef,
        ast.ListComp,
        ast.SetComp,
        ast.DictComp,
        ast.GeneratorExp,
        ast.Raise,
    )
    special = {"literally", "literal_unroll", "prange", "pndindex"}
    for file, node, kinds in _functions():
        if kinds & {*_UNCOUNTED, "allocating_kernel", "allocating_function"}:
            found = [
                part
                for part in ast.walk(node)
                if (part is not node and isinstance(part, needs_a_pass))
                or (isinstance(part, ast.Name) and part.id in special)
                or (isinstance(part, ast.Attribute) and part.attr in special)
            ]
            assert not found, f"{file}: {node.name} contains {ast.unparse(found[0])!r}"
