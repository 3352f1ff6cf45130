"""The mutator: what it changes, what it leaves alone, and the list of faults made by hand."""

import ast
import tomllib

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


def test_a_fault_is_marked_before_the_statement_that_holds_it(script):
    source = '@wrapped\ndef f(x, n=1):\n    """Text."""\n    if x > n:\n        return 1\n    return 2\n'
    faults = {2: ["default"], 4: ["condition"], 5: ["above"], 6: ["below"]}
    marked = script("mutation/tests_by_fault.py").marked(ast.parse(source), "m.py", faults)
    seen = set()
    space = {"__ppfs_mark__": seen.add, "wrapped": lambda function: function}
    exec(compile(marked, "m.py", "exec"), space)
    assert not seen
    assert (space["f"](0), space["f"].__doc__) == (2, "Text.")
    assert seen == {"m.py", "default", "condition", "below"}


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
