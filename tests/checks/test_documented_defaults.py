"""A default is what the documentation says it is: a change of one has to be a change of both."""

import inspect
import re

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


def documented(one):
    """Return the defaults that the section on parameters names, as they are spelled."""
    text = inspect.getdoc(one).split("Parameters\n---", 1)
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
