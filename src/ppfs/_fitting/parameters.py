"""Which parameters of an estimator differ from their defaults, and which of them a fast path supports."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from inspect import signature
from numbers import Number
from typing import Any


def default_parameters(kind: Any) -> Mapping[str, Any]:
    """Return the default of each parameter of a class of estimators, in the order of its constructor."""
    return _default_parameters(kind)


@cache
def _default_parameters(kind: Any) -> Mapping[str, Any]:
    return {name: parameter.default for name, parameter in signature(kind).parameters.items()}


def changed_parameters(estimator: Any, preset: Any = None) -> dict[str, Any]:
    """Return the parameters that differ from their defaults, or from those of another estimator, by name.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> changed_parameters(Ridge(alpha=2.0, solver="auto"))
    {'alpha': 2.0}
    """
    usual = default_parameters(type(estimator)) if preset is None else preset.get_params(deep=False)
    given = estimator.get_params(deep=False)
    return {name: value for name, value in given.items() if not _is_same(value, usual[name])}


@dataclass(frozen=True)
class KnownParameters:
    """The parameters of one kind of model that a fast path supports.

    Attributes
    ----------
    read : collection of str
        Parameters whose values the fast path uses.

    only : mapping of str to collection
        Parameters that it supports with certain values only.

    without_effect : collection of str
        Parameters that do not change what is fitted.

    Notes
    -----
    A parameter that is not listed, because another version of scikit-learn has it, must have its default. A parameter
    that is listed may not exist.
    """

    read: Collection[str]
    only: Mapping[str, Collection[Any]]
    without_effect: Collection[str]

    def first_unknown(self, estimator: Any) -> str | None:
        """Return a parameter of this estimator that is not supported, as ``name=value``, or None."""
        changed = changed_parameters(estimator)
        for name, value in estimator.get_params(deep=False).items():
            if name in self.read or name in self.without_effect:
                continue
            is_known = (
                any(_is_same(value, one) for one in self.only[name])
                if name in self.only
                else name not in changed
            )
            if not is_known:
                return f"{name}={value!r}"
        return None


def _is_same(value: Any, known: Any) -> bool:
    """Return whether a parameter has this value.

    Only plain values are compared: arrays and estimators define equality in their own ways.
    """
    if value is known:
        return True
    if not isinstance(value, str | Number | tuple) or not isinstance(known, str | Number | tuple):
        return False
    # A NumPy scalar compares with each member of a tuple.
    if isinstance(value, tuple) != isinstance(known, tuple):
        return False
    return isinstance(value, bool) == isinstance(known, bool) and bool(value == known)
