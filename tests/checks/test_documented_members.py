"""`help` of a public class lists everything that it takes and everything that `fit` leaves behind."""

import inspect
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import ppfs.blanket
import ppfs.compat
import ppfs.independence
import ppfs.models
import ppfs.wrappers

MODULES = (ppfs.blanket, ppfs.independence, ppfs.wrappers, ppfs.compat, ppfs.models)
CLASSES = {
    name: getattr(module, name)
    for module in MODULES
    for name in module.__all__
    if inspect.isclass(getattr(module, name))
    and issubclass(getattr(module, name), BaseEstimator)
    and not inspect.isabstract(getattr(module, name))
}
WITH_FIT = {name: one for name, one in CLASSES.items() if hasattr(one, "fit")}

# What is left behind does not depend on how long it takes.
QUICK = {"StabilitySelection": {"n_pairs": 1}}


def documented(one, section):
    """Return the names that a section of the docstring explains."""
    text = inspect.getdoc(one)
    parts = re.split(r"^(\w[\w ]*)\n-{3,}\n", text, flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    names = re.findall(r"^(\w[\w, ]*)(?: :.*)?$", sections.get(section, ""), flags=re.MULTILINE)
    return {name for line in names for name in line.split(", ")}


def fitted(one):
    """Fit on labels; what takes numbers only, on these."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    is_for_quantities = one.__name__.endswith(("Regressor", "PPIMBR"))
    return one(**QUICK.get(one.__name__, {})).fit(
        X, X[:, 0] + 0.1 * rng.normal(size=60) if is_for_quantities else (X[:, 0] > 0).astype(int)
    )


@pytest.mark.parametrize("name", CLASSES)
def test_every_parameter_is_explained(name):
    one = CLASSES[name]
    takes = {
        parameter.name
        for parameter in inspect.signature(one).parameters.values()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    }
    assert takes - documented(one, "Parameters") - documented(one, "Attributes") == set()


@pytest.mark.parametrize("name", WITH_FIT)
def test_every_fitted_attribute_is_explained(name):
    one = WITH_FIT[name]
    of_instance = set(vars(fitted(one)))
    of_class = {attribute for attribute, value in inspect.getmembers(one) if isinstance(value, property)}
    left_behind = {
        attribute
        for attribute in of_instance | of_class
        if attribute.endswith("_") and not attribute.startswith("_")
    }
    assert left_behind - documented(one, "Attributes") == set()


@pytest.mark.parametrize("name", CLASSES)
def test_no_docstring_sends_the_reader_to_another_class(name):
    assert not re.search(r"^\s+As in `", inspect.getdoc(CLASSES[name]), flags=re.MULTILINE)
