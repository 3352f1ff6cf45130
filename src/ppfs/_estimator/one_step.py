"""Fitting in one step: the results of a fit are set completely, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Estimator = TypeVar("Estimator")

_ABSENT = object()


@contextmanager
def in_one_step(estimator: Estimator) -> Iterator[Estimator]:
    """Give an unfitted copy to the block; if the block succeeds, set the estimator's attributes to those of the copy.

    The copy shares the parameters and all other attributes that are not fitted. After an error or an interrupt inside
    the block the estimator is unchanged, fitted or not. If two threads fit one estimator, the result is one of the two
    fits.

    Parameters
    ----------
    estimator : estimator
        Fitted attributes are those whose names end with an underscore and do not begin with one.

    Yields
    ------
    estimator
        The copy, whose methods may set fitted attributes.

    Examples
    --------
    >>> from sklearn.feature_selection import VarianceThreshold
    >>> from ppfs._estimator.one_step import in_one_step
    >>> selector = VarianceThreshold()
    >>> with in_one_step(selector) as draft:
    ...     _ = draft.fit([[0, 1], [0, 2]])
    ...     print(hasattr(selector, "variances_"))
    False
    >>> selector.get_support().tolist()
    [False, True]
    """
    draft = object.__new__(type(estimator))
    before = _unfitted(estimator)
    vars(draft).update(before)
    yield draft
    found = {name: value for name, value in vars(draft).items() if value is not before.get(name, _ABSENT)}
    # One assignment, so that no thread or interrupt sees a part of it.
    estimator.__dict__ = {**_unfitted(estimator), **found}


def _unfitted(estimator: Any) -> dict[str, Any]:
    """Return the parameters and private attributes."""
    # Copied first: another thread may be setting attributes.
    attributes = dict(vars(estimator))
    return {
        name: value for name, value in attributes.items() if name.startswith("_") or not name.endswith("_")
    }
