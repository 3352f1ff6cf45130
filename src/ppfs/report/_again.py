"""The selection, made again in parts of the rows: once for all that a report says of it."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ppfs._comparison import selects_for_a_model
from ppfs._data import FitData


def repeated(selector: Any) -> Any:
    """Return what `compare` repeats for a fitted selector.

    Parts of the rows in which `sufficiency_` has searched already are not searched again. That needs a seed, so that
    both divide the rows in the same way, and a selector in which `compare` leaves all parameters as they are.
    """
    return _Repeating(selector) if _is_shared(selector) else selector._to_repeat()


def is_searched_in_folds(selector: Any, n_folds: int) -> bool:
    """Return whether `sufficiency_` has searched in the folds of the scores already."""
    measured = selector._sufficiency
    return measured is not None and measured.n_folds == n_folds and _is_shared(selector)


def _is_shared(selector: Any) -> bool:
    return (
        selector._in_parts is not None
        and isinstance(selector.random_state, Integral)
        and not selects_for_a_model(selector)
        and selector.trace_.data.task in ("classification", "regression")
    )


class _Repeating(BaseEstimator):
    """A selector whose fit looks up what a fitted selector selects in the same rows."""

    def __init__(self, selector: Any) -> None:
        self.selector = selector

    def __sklearn_clone__(self) -> _Repeating:
        # The selector stays fitted: it holds what was found in parts of the rows.
        return _Repeating(self.selector)

    def fit(self, X: Any, y: Any, **rows: Any) -> Self:
        self._support: NDArray[np.bool_] = self.selector._in_parts.of(self.selector, FitData(X, y, **rows))
        return self

    def get_support(self) -> NDArray[np.bool_]:
        return self._support
