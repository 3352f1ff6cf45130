"""What an estimator's parameters say: which have been changed, and which of them a fast path knows."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from inspect import signature
from numbers import Number
from typing import Any


def changed_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters, by name, that do not have their default.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> changed_parameters(Ridge(alpha=2.0, solver="auto"))
    {'alpha': 2.0}
    """
    defaults = signature(type(estimator)).parameters
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if not _is_same(value, defaults[name].default)
    }


@dataclass(frozen=True)
class KnownParameters:
    """What a fast path makes of the parameters of one kind of model.

    Attributes
    ----------
    read : collection of str
        Parameters whose values the fast path uses.

    only : mapping of str to collection
        Parameters that it knows with certain values only.

    without_effect : collection of str
        Parameters that do not change what is fitted.

    Notes
    -----
    A parameter that is not listed, because another version of scikit-learn has it, must have its default: there it
    changes nothing. One that is listed may be missing.
    """

    read: Collection[str]
    only: Mapping[str, Collection[Any]]
    without_effect: Collection[str]

    def first_unknown(self, estimator: Any) -> str | None:
        """Return a parameter of this estimator that is not known, as it would be written, or None."""
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
    """Tell whether a parameter has this value.

    Only what is plain is compared: an array or an estimator may be like another one in a sense of its own.
    """
    if value is known:
        return True
    if not isinstance(value, str | Number | tuple) or not isinstance(known, str | Number | tuple):
        return False
    # A number of NumPy compares with the members of a tuple, one by one.
    if isinstance(value, tuple) != isinstance(known, tuple):
        return False
    return isinstance(value, bool) == isinstance(known, bool) and bool(value == known)
