"""Small faults, one at a time: the ways in which a line of code can be wrong.

An operator looks at one node of the syntax tree and yields what it could say instead. Text and messages of errors,
type hints, docstrings, imports and the declared rules of parameters are left alone: a fault there decides nothing.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace

_COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
_ARITHMETIC: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
_CALLS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "minimum": "maximum",
    "maximum": "minimum",
    "argmin": "argmax",
    "argmax": "argmin",
    "zeros": "ones",
    "ones": "zeros",
    "floor": "ceil",
    "ceil": "floor",
    "issuperset": "issubset",
    "append": "extend",
    "sum": "mean",
    "mean": "sum",
}

# Keyword arguments that change nothing that could be decided wrongly: messages, types, speed, layout.
_HARMLESS_KEYWORDS = {
    "align",
    "check_finite",
    "describe",
    "eager_only",
    "encoding",
    "help",
    "indent",
    "metavar",
    "prefer",
    "zorder",
    "dtype",
    "stacklevel",
    "copy",
    "order",
    "strict",
    "kind",
    "require",
    "maxsize",
    "overwrite_a",
    "use_threads",
    "n_jobs",
}


@dataclass(frozen=True)
class Mutant:
    """One fault.

    Attributes
    ----------
    file : str
        Below ``src/ppfs``.

    line : int
        Where it begins.

    operator : str
        What kind of fault it is.

    before, after : str
        The piece of code, and what stands in its place.

    start, end : int
        Offsets of the piece in the file.

    number : int
        Counts equal pieces of one file, from 0.
    """

    file: str
    line: int
    operator: str
    before: str
    after: str
    start: int
    end: int
    number: int = 0

    @property
    def key(self) -> str:
        """A name that stays when other lines of the file move."""
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.file}: {self.operator}: {before} -> {after} [{self.number}]"

    def applied_to(self, source: str) -> str:
        """Return the file's text with the fault in it."""
        return source[: self.start] + self.after + source[self.end :]


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Return all faults that the operators can make in one file, in the order of the text; not all of them compile."""
    tree = ast.parse(source)
    starts = _line_starts(source)
    seen = Counter[str]()
    found = []
    for node in _deciding_nodes(tree):
        for operator, after in _alternatives(node):
            start = starts[node.lineno - 1] + _characters(source, starts, node.lineno, node.col_offset)
            end_line = node.end_lineno or node.lineno
            end = starts[end_line - 1] + _characters(source, starts, end_line, node.end_col_offset or 0)
            mutant = Mutant(file, node.lineno, operator, source[start:end], after, start, end)
            found.append(replace(mutant, number=seen[mutant.key]))
            seen[mutant.key] += 1
    return found


def _deciding_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes whose change could change an answer."""
    for part in _parts(node):
        if not _decides_nothing(part):
            yield part
            yield from _deciding_nodes(part)


def _parts(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node, type hints and decorators left out."""
    match node:
        case ast.FunctionDef(args=arguments, body=body):
            yield from (default for default in arguments.defaults)
            yield from (default for default in arguments.kw_defaults if default is not None)
            yield from body
        case ast.ClassDef(body=body):
            yield from body
        case ast.AnnAssign(value=value):
            yield from () if value is None else (value,)
        case ast.keyword(arg=name, value=ast.Constant()) if name in _HARMLESS_KEYWORDS:
            return
        case ast.Call(func=ast.Attribute(attr="reshape")):
            # Any negative number is the size that is left.
            yield from (part for part in ast.iter_child_nodes(node) if ast.unparse(part) != "-1")
        case _:
            yield from ast.iter_child_nodes(node)


def _decides_nothing(node: ast.AST) -> bool:
    match node:
        case ast.Raise() | ast.Import() | ast.ImportFrom() | ast.Assert() | ast.JoinedStr():
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.AnnAssign(target=target) | ast.Assign(targets=[target]):
            return any(word in ast.unparse(target).lower() for word in ("constraints", "__all__"))
        case ast.Call(func=called):
            return ast.unparse(called) in {"warnings.warn", "_fail", "cast", "TypeVar", "NewType"}
    return False


def _alternatives(node: ast.AST) -> Iterator[tuple[str, str]]:
    match node:
        case ast.Compare(ops=[operator]) if type(operator) in _COMPARISONS:
            yield "comparison", _changed(node, ops=[_COMPARISONS[type(operator)]()])
        case ast.BinOp(op=operator) if type(operator) in _ARITHMETIC and not _is_text(node):
            yield "arithmetic", f"({_changed(node, op=_ARITHMETIC[type(operator)]())})"
        case ast.AugAssign(op=operator) if type(operator) in _ARITHMETIC:
            yield "arithmetic", _changed(node, op=_ARITHMETIC[type(operator)]())
        case ast.BoolOp(op=operator):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "boolean", f"({_changed(node, op=other)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "negation", f"({ast.unparse(operand)})"
        case ast.UnaryOp(op=ast.USub(), operand=operand) if not isinstance(operand, ast.Constant):
            yield "sign", f"({ast.unparse(operand)})"
        case ast.IfExp():
            yield "branch", f"({_changed(node, body=node.orelse, orelse=node.body)})"
        case ast.Constant(value=bool(value)):
            yield "constant", str(not value)
        case ast.Constant(value=int(value)) if abs(value) < 10**6:
            yield "constant", str(value + 1)
        case ast.Constant(value=float(value)) if value == value:
            yield "constant", repr(value * 2.0 if value else 1.0)
        case ast.Expr(value=ast.Call()):
            yield "statement", "pass"
        case ast.Continue():
            yield "loop", "break"
        case ast.Call():
            yield from _calls(node)


def _calls(node: ast.Call) -> Iterator[tuple[str, str]]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _CALLS:
        changed = deepcopy(node.func)
        if isinstance(changed, ast.Attribute):
            changed.attr = _CALLS[name]
        elif isinstance(changed, ast.Name):
            changed.id = _CALLS[name]
        if not (name in {"sum", "mean"} and isinstance(changed, ast.Name)):
            yield "call", _changed(node, func=changed)
    for number, keyword in enumerate(node.keywords):
        if keyword.arg is not None and keyword.arg not in _HARMLESS_KEYWORDS:
            fewer = [other for other in node.keywords if other is not node.keywords[number]]
            yield "argument", _changed(node, keywords=fewer)


def _changed(node: ast.AST, **fields: object) -> str:
    copy = deepcopy(node)
    for name, value in fields.items():
        setattr(copy, name, value)
    return ast.unparse(ast.fix_missing_locations(copy))


def _is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(part, ast.JoinedStr) or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in ast.walk(node)
    )


def _line_starts(source: str) -> list[int]:
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _characters(source: str, starts: list[int], line: int, offset: int) -> int:
    """Turn an offset in bytes, as the syntax tree has it, into one in characters."""
    text = source[starts[line - 1] : starts[line]]
    return len(text.encode()[:offset].decode())


def compiles(source: str) -> bool:
    """Return whether a text is Python: some faults are not."""
    try:
        compile(source, "mutant", "exec")
    except SyntaxError:
        return False
    return True
