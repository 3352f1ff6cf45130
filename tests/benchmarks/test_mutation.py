"""The mutator: what it changes, what it leaves alone, and the list of faults made by hand."""

import ast
import sys
import tomllib
import types

import pytest


@pytest.fixture(scope="module")
def operators(script):
    return script("mutation/operators.py")


def faults(operators, source):
    return {(mutant.before, mutant.after) for mutant in operators.mutants_of("m.py", source)}


@pytest.mark.parametrize(
    ("source", "before", "after"),
    [
        ("x = a < b", "a < b", "a <= b"),
        ("x = a in b", "a in b", "a not in b"),
        ("x = a - b", "a - b", "(a + b)"),
        ("x += y", "x += y", "x -= y"),
        ("x = a and b", "a and b", "(a or b)"),
        ("x = not a", "not a", "(a)"),
        ("x = 20", "20", "21"),
        ("x = 0.5", "0.5", "1.0"),
        ("x = True", "True", "False"),
        ("x = a if c else b", "a if c else b", "(b if c else a)"),
        ("f(x)", "f(x)", "pass"),
        ("x = max(a, b)", "max(a, b)", "min(a, b)"),
        ("x = f(a, alpha=b)", "f(a, alpha=b)", "f(a)"),
        ("def f(n=3): return n", "3", "4"),
    ],
)
def test_a_small_fault_is_made(operators, source, before, after):
    assert (before, after) in faults(operators, source)


@pytest.mark.parametrize(
    "source",
    [
        '"""At most 20 rows."""',
        "raise ValueError(f'{1 + n} rows')",
        "import os",
        "x: tuple[int, 1]",
        "_parameter_constraints = {'n': [2 + 1]}",
        "assert a < b",
        "x = 'text' + 'more'",
        "for x in zip(a, strict=True): pass",
        "x = y.reshape(n, -1)",
    ],
)
def test_what_decides_nothing_is_left_alone(operators, source):
    assert not faults(operators, source)


def test_a_fault_is_applied_where_it_stands_and_has_a_name_of_its_own(operators):
    source = "é = 1\nx = (a <\n     b)\ny = 1\n"
    found = operators.mutants_of("m.py", source)
    assert len({mutant.key for mutant in found}) == len(found)
    (turned,) = [mutant for mutant in found if mutant.operator == "comparison"]
    assert turned.line == 2
    assert turned.applied_to(source) == "é = 1\nx = (a <= b)\ny = 1\n"


SOURCE = """@wrapped
def f(x, n=1):
    '''Text.'''
    if x > n:
        return 1
    def inner():
        return 2
    return inner()

y = 3
"""


def test_a_statement_is_marked_before_it_runs(script):
    maps = script("mutation/tests_by_statement.py")
    seen = set()
    space = {"__ppfs_mark__": seen.add, "wrapped": lambda function: function}
    exec(compile(maps.marked(ast.parse(SOURCE), "m.py"), "m.py", "exec"), space)
    assert not seen
    assert (space["f"](0), space["f"].__doc__) == (2, "Text.")
    assert seen >= {maps.mark_of(SOURCE, "m.py", line) for line in (2, 4, 7, 8)}
    assert maps.mark_of(SOURCE, "m.py", 5) not in seen
    assert maps.mark_of(SOURCE, "m.py", 10) == "m.py"


def test_the_mark_of_a_statement_stays_when_lines_move(script):
    maps = script("mutation/tests_by_statement.py")
    assert [maps.mark_of("\n\n" + SOURCE, "m.py", line + 2) for line in range(1, 9)] == [
        maps.mark_of(SOURCE, "m.py", line) for line in range(1, 9)
    ]


def test_tests_near_a_module_come_first(script, monkeypatch):
    run = script("mutation/run.py")
    near, same_room, far = (
        "tests/data/test_masked_arrays.py::test_a",
        "tests/data/test_kinds.py::test_b",
        "tests/cli/test_select.py::test_c",
    )
    assert [run._distance("_data/reading/masked.py", test) for test in (near, same_room, far)] == [0, 1, 2]
    mutant = script("mutation/operators.py").mutants_of(
        "_data/kinds.py", (run.PACKAGE / "_data/kinds.py").read_text()
    )[0]
    tests = [
        (far, 0.1),
        (same_room, 0.5),
        (same_room + "[2]", 0.01),
        ("tests/cli/test_select.py::slow", 99.0),
    ]
    monkeypatch.setattr(
        run,
        "_maps",
        lambda is_kernel: {
            mutant.file: tests,
            run.marks_of(run._source(mutant.file), mutant.file, mutant.line)[0]: tests,
        },
    )
    assert run.tests_for(mutant, 10.0) == [same_room + "[2]", same_room, far]


def test_faults_made_by_hand_can_still_be_made(operators, script):
    """Where a line was rewritten, its fault has to be rewritten too."""
    run = script("mutation/run.py")
    entries = tomllib.loads((run.ROOT / "benchmarks/mutation/by_hand.toml").read_text())["mutant"]
    assert len(entries) >= 20
    for entry in entries:
        assert entry["old"] in (run.ROOT / "src/ppfs" / entry["file"]).read_text(), entry["name"]


def test_a_fault_reaches_the_function_of_a_command(script):
    """A command of Click is an object that holds its function: the fault has to be put into that."""
    click = pytest.importorskip("click")

    def work():
        return 1

    assert list(script("mutation/in_forks.py")._functions_in(click.Command("work", callback=work))) == [work]


CONSTANTS = """LIMIT, OTHER = 3, 4


class A:
    n: int = 5

    @kernel_part
    def f(self):
        return LIMIT + 1

    def g(self, x):
        x += 1
        return self.n
"""


def test_a_constant_meets_the_tests_of_the_statements_that_read_it(script):
    maps = script("mutation/tests_by_statement.py")
    f, g, last = (maps.mark_of(CONSTANTS, "m.py", line) for line in (9, 11, 13))
    assert set(maps.marks_of(CONSTANTS, "m.py", 1)) == {f, f.split(":")[0]}
    assert set(maps.marks_of(CONSTANTS, "m.py", 5)) == {last, g}
    assert maps.marks_of(CONSTANTS, "m.py", 12) == [maps.mark_of(CONSTANTS, "m.py", 12)]
    assert maps.marks_of(CONSTANTS.replace("LIMIT + 1", "1"), "m.py", 1) == ["m.py"]


def test_a_constant_meets_the_tests_of_other_modules_that_read_it(script):
    run = script("mutation/run.py")
    file = "independence/_predictive/losses.py"
    (mutant, *_) = [
        mutant
        for mutant in run.mutants_of(file, run._source(file))
        if "LOSS_POWERS = " in line_of(run, mutant)
    ]
    found = run._marks_of(mutant)
    assert {mark.split(":")[0] for mark in found} == {
        "independence/_predictive/target_problem.py.TargetProblems.of"
    }


def line_of(run, mutant):
    return run._source(mutant.file).splitlines()[mutant.line - 1]


def test_faults_in_kernels_need_the_interpreter(script):
    maps = script("mutation/tests_by_statement.py")
    needing = [line for line in range(1, 14) if maps.needs_no_compiler(CONSTANTS, line)]
    # The constant of line 5 is read by plain code only.
    assert needing == [1, 2, 3, 4, *range(6, 11)]


def test_every_decorator_that_compiles_is_known(script):
    maps = script("mutation/tests_by_statement.py")
    root = script("mutation/run.py").PACKAGE / "_engine"
    imported = {
        name.name
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and node.module == "ppfs._engine.jit.kernels"
        for name in node.names
    }
    used = {
        decorator.id
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Name)
    }
    assert used & imported <= maps._COMPILED


def test_a_call_of_the_parent_class_can_be_left_out(script, monkeypatch):
    forks = script("mutation/in_forks.py")
    calling = (
        "class B(dict):\n    def __init__(self, n=1):\n        super().__init__(a=n)\n        self.n = n\n"
    )
    plain = calling.replace("super().__init__(a=n)", "pass")
    for before, after in [(calling, plain), (plain, calling)]:
        module = types.ModuleType("ppfs.made_up")
        module.__file__ = "made_up.py"
        exec(compile(before, "made_up.py", "exec"), module.__dict__)
        monkeypatch.setitem(sys.modules, "ppfs.made_up", module)
        if after is plain:
            assert module.B() == {"a": 1}
            forks.put_in("made_up.py", after)
            assert (module.B(), module.B(2).n) == ({}, 2)
        else:
            with pytest.raises(forks.CannotBePutInError):
                forks.put_in("made_up.py", after)


def test_flags_and_commands_are_loaded_once(script):
    run = script("mutation/run.py")
    lines = run._source("cli/commands/plan.py").splitlines()
    flag, body = (
        next(n for n, line in enumerate(lines, 1) if word in line) for word in ("@click", "is_named = ")
    )
    found = [run._is_loaded_once("cli/commands/plan.py", line) for line in (flag, body)]
    assert found == [True, False]
    assert run._is_loaded_once("cli/flags/data.py", 50)
    assert not run._is_loaded_once("_data/kinds.py", 1)
    lines = run._source("_data/sources/text.py").splitlines()
    assert run._is_loaded_once("_data/sources/text.py", 1 + lines.index("csv.field_size_limit(2**31 - 1)"))


def loaded(monkeypatch, source):
    module = types.ModuleType("ppfs.made_up")
    module.__file__ = "made_up.py"
    monkeypatch.setitem(sys.modules, "ppfs.made_up", module)
    exec(compile(source, "made_up.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("X = 3", "X = 4"),
        ("import numpy as np\nX = np.uint64(3)", "import numpy as np\nX = np.uint64(4)"),
        ("import numpy as np\nX = np.arange(3)", "import numpy as np\nX = np.arange(4)"),
        ("import re\nX = re.compile('a', re.I)", "import re\nX = re.compile('a')"),
        (
            "from functools import partial\nX = partial(int, base=3)",
            "from functools import partial\nX = partial(int)",
        ),
    ],
)
def test_constants_of_any_kind_are_exchanged(script, monkeypatch, before, after):
    module = loaded(monkeypatch, before)
    other = loaded(monkeypatch, after)
    monkeypatch.setitem(sys.modules, "ppfs.made_up", module)
    script("mutation/in_forks.py").put_in("made_up.py", after)
    assert repr(module.X) == repr(other.X) != repr(loaded(monkeypatch, before).X)


@pytest.mark.parametrize(
    "source",
    [
        "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    n: int\nX = {'a': [A(1)]}",
        "from enum import IntEnum\nclass A(IntEnum):\n    ONE = 1",
    ],
)
def test_objects_of_classes_that_are_made_again_cannot_be_exchanged(script, monkeypatch, source):
    forks = script("mutation/in_forks.py")
    module = loaded(monkeypatch, source)
    kept = dict(vars(module))
    forks.put_in("made_up.py", source + "\nY = 1")
    assert all(vars(module)[name] is value for name, value in kept.items())
    with pytest.raises(forks.CannotBePutInError):
        forks.put_in("made_up.py", source.replace("1", "2"))


@pytest.mark.parametrize(
    ("n_noticed", "told"),
    [
        (92, "92 were noticed at first (92.0 %). Of the other 8, 2 change no answer, so that 93.9 % of"),
        (91, "The target of 92 % is reached by the second, and missed by the first of these numbers."),
        (90, "90 were noticed at first (90.0 %). Of the other 10, 2 change no answer, so that 91.8 % of"),
    ],
)
def test_the_page_says_how_many_faults_were_noticed(script, n_noticed, told):
    tried = [
        types.SimpleNamespace(key=str(number), outcome="caught" if number < n_noticed else "survived")
        for number in range(100)
    ]
    assert told in script("mutation/render.py").summary("123", tried, {"98", "99"})
