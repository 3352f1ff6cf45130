"""A default is what the documentation says it is: a change of one has to be a change of both."""

import ast
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest

import ppfs.blanket
import ppfs.compat
import ppfs.independence
import ppfs.wrappers
from ppfs.blanket import BaseBlanketSelector
from ppfs.independence import IndependenceTest

CLASSES = [
    getattr(module, name)
    for module in (ppfs.blanket, ppfs.independence, ppfs.wrappers, ppfs.compat)
    for name in module.__all__
    if inspect.isclass(getattr(module, name)) and not inspect.isabstract(getattr(module, name))
]
WITH_PARAMETERS = [
    one
    for one in CLASSES
    if issubclass(one, BaseBlanketSelector | IndependenceTest)
    or one.__module__.startswith(("ppfs.wrappers", "ppfs.compat"))
]


def documented(one, section="Parameters"):
    """Return the defaults that a section names, as they are spelled."""
    text = (inspect.getdoc(one) or "").split(f"{section}\n---", 1)
    if len(text) < 2:
        return {}
    section = re.split(r"\n\w[\w ]*\n---", text[1])[0]
    found = {}
    for names, rule in re.findall(r"^(\w[\w, ]*) : (.*)$", section, flags=re.MULTILINE):
        spelled = re.search(r"default=(.+)$", rule)
        values = spelled.group(1).split(", ") if spelled else []
        for number, name in enumerate(names.split(", ")):
            if values:
                found[name] = values[min(number, len(values) - 1)]
    return found


@pytest.mark.parametrize("one", WITH_PARAMETERS, ids=lambda one: one.__name__)
def test_defaults_are_the_documented_ones(one):
    parameters = inspect.signature(one).parameters
    for name, spelled in documented(one).items():
        if name in parameters:
            default = parameters[name].default
            assert spelled.rstrip(".").replace("'", '"') == repr(default).replace("'", '"'), name


def test_the_defaults_of_the_paper_are_documented():
    told = documented(ppfs.blanket.PPFS)
    assert told["n_splits"] == "30"
    assert told["alpha"] == "0.05"
    assert told["significance"] == '"wilcoxon"'
    assert len(told) >= 20


@pytest.mark.parametrize(
    "one", [one for one in CLASSES if issubclass(one, IndependenceTest)], ids=lambda one: one.__name__
)
def test_every_test_is_bound_to_data_in_the_same_way(one):
    """Searches call `bind` without knowing whose it is."""
    expected = inspect.signature(IndependenceTest.bind).parameters
    assert [
        (name, own.kind, own.default) for name, own in inspect.signature(one.bind).parameters.items()
    ] == [(name, its.kind, its.default) for name, its in expected.items()]


def of_all_modules() -> Iterator[object]:
    """Yield every function, method and class that the package defines, private ones too."""
    for module in pkgutil.walk_packages(ppfs.__path__, "ppfs."):
        if not module.name.endswith("__main__"):
            try:
                space = vars(importlib.import_module(module.name))
            except ImportError:
                continue  # What needs a library that is not here.
            own = [one for one in space.values() if getattr(one, "__module__", "") == module.name]
            yield from own
            for kind in filter(inspect.isclass, own):
                yield from (getattr(one, "__func__", one) for one in vars(kind).values())


def literal(spelled):
    """Return the value of a default that is spelled out, and None for one that is described."""
    try:
        return (ast.literal_eval(spelled.rstrip(".")),)
    except (SyntaxError, ValueError):
        return None


def test_the_defaults_of_functions_and_of_fields_are_the_documented_ones():
    n_compared = 0
    for one in map(inspect.unwrap, of_all_modules()):
        told = documented(one, "Attributes" if inspect.isclass(one) else "Parameters")
        if not told or not (inspect.isclass(one) or inspect.isfunction(one)):
            continue
        parameters = inspect.signature(one).parameters
        for name, spelled in told.items():
            value = literal(spelled)
            if name in parameters and value is not None:
                n_compared += 1
                assert (one, name, parameters[name].default) == (one, name, *value)
    assert n_compared > 100
