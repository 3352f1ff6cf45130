"""Warnings point to the line that called into the package, however deep inside they arose."""

import sys
import warnings

import pytest

from ppfs._conventions.messages import warn_caller


def function(module, calls):
    """Return a function of a module that calls another one."""
    space = {"__name__": module, "inner": calls}
    exec(compile("def outer():\n    inner()\n", f"<{module}>", "exec"), space)
    return space["outer"]


def warned():
    warn_caller("a message", FutureWarning)


@pytest.mark.parametrize(
    "modules",
    [
        [],
        ["ppfs"],
        ["ppfs.blanket", "ppfs._rows"],
        ["sklearn.pipeline", "ppfs.blanket"],
        ["joblib", "ppfs"],
        # Another library in between, as where a selector calls a model that calls a selector.
        ["ppfs", "other", "ppfs"],
        ["ppfs", "other", "more", "sklearn.base"],
    ],
)
def test_a_warning_points_to_the_outermost_call(modules):
    space = {"__name__": "ppfs.innermost", "warn_caller": warn_caller}
    exec("def call():\n    warn_caller('a message', FutureWarning)\n", space)
    call = space["call"]
    for module in reversed(modules):
        call = function(module, call)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = sys._getframe().f_lineno + 1
        call()
    (one,) = caught
    assert (one.filename, one.lineno) == (__file__, line)
    assert (str(one.message), one.category) == ("a message", FutureWarning)


@pytest.mark.parametrize("module", ["ppfsx", "other.ppfs", "scikit"])
def test_other_packages_are_callers(module):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        function(module, warned)()
    assert caught[0].filename == __file__
    assert caught[0].lineno == warned.__code__.co_firstlineno + 1
