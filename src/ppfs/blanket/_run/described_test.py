"""The test that a selector's own parameters describe."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

from sklearn.base import clone

from ppfs._fitting import changed_parameters, default_parameters
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, TESTS_BY_NAME, IndependenceTest

# Parameters of the paper's test only; other tests have other parameters and defaults.
OF_THE_PAPERS_TEST = ("n_splits", "test_size", "knockoff", "significance")

# Parameters of any predictive test, with their names in the tests.
_OF_ANY_TEST = {
    "estimator": "estimator",
    "growth_estimator": "marginal_estimator",
    "stratify": "stratify",
    "n_draws": "n_draws",
    "conditional": "conditional",
    "loss": "loss",
    "class_weight": "class_weight",
    "impute": "impute",
    "splitter": "splitter",
    "task": "task",
    "device": "device",
}


def described_test(selector: Any, independence: IndependenceTest | str | None) -> IndependenceTest:
    """Return the test of a selector with flat parameters: an instance, a test by name, or the paper's.

    Parameters
    ----------
    selector : PPFS
        Those of its parameters that do not have their default describe the test.

    independence : IndependenceTest, str or None
        A ready test, the name of one, or None for the paper's.

    Raises
    ------
    InvalidInputError
        For a parameter that would have no effect.
    """
    changed = changed_parameters(selector)
    described = {name: changed[name] for name in (*_OF_ANY_TEST, *OF_THE_PAPERS_TEST) if name in changed}
    taker = (
        independence
        if isinstance(independence, IndependenceTest)
        else TESTS_BY_NAME.get(independence or "ppi")
    )
    if "task" in described and "task" not in signature(taker.__init__).parameters:  # type: ignore[misc]
        # Such a test gets the task from the table, which the selector reads.
        del described["task"]
    if isinstance(independence, IndependenceTest):
        _require_none(described, independence)
        # Before it is cloned: invalid parameters may make cloning fail.
        independence._validate_params()
        ready: IndependenceTest = clone(independence)
        return ready
    make = PPI if independence is None else TESTS_BY_NAME[independence]
    names = {**_OF_ANY_TEST, **(dict.fromkeys(OF_THE_PAPERS_TEST) if make is PPI else {})}
    known = default_parameters(make)
    taken = {name: own or name for name, own in names.items() if (own or name) in known}
    useless = [name for name in described if name not in taken]
    if useless:
        raise InvalidInputError(
            f"{useless[0]}={described[useless[0]]!r} would have no effect: independence={independence!r} does not take "
            f"it. Leave it out, or pass a ready test with parameters of its own: independence={make.__name__}(...)."
        )
    return make(**{taken[name]: value for name, value in described.items()})


def _require_none(described: Mapping[str, Any], ready: IndependenceTest) -> None:
    """Raise if parameters are given beside a ready test, which has its own."""
    if not described:
        return
    name, value = next(iter(described.items()))
    kind = type(ready)
    own = _OF_ANY_TEST.get(name, name)
    by_name = next((one for one, test in TESTS_BY_NAME.items() if test is kind), None)
    way_out = (
        f"Write independence={kind.__name__}({own}=...)"
        + (f", or independence={by_name!r}, which takes {name}" if by_name and name in _OF_ANY_TEST else "")
        if own in ready.get_params(deep=False)
        else "Leave it out"
    )
    raise InvalidInputError(
        f"{name}={value!r} would have no effect: independence={kind.__name__}(...) is a ready test with parameters of "
        f"its own. {way_out}."
    )
