"""Which parameters of a model a fast path knows; whoever has others is left to scikit-learn."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np


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
        defaults = signature(type(estimator)).parameters
        for name, value in estimator.get_params(deep=False).items():
            if name in self.read or name in self.without_effect:
                continue
            known = self.only[name] if name in self.only else (defaults[name].default,)
            if not any(_is_same(value, one) for one in known):
                return f"{name}={value!r}"
        return None


def _is_same(value: Any, known: Any) -> bool:
    """Tell whether a parameter has this value; arrays are like nothing."""
    return value is known or (np.ndim(value) == 0 and bool(value == known))
