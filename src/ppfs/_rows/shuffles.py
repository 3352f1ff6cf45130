"""Random divisions of the rows in two, as scikit-learn's splitters draw them, for many seeds."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, ShuffleSplit, StratifiedShuffleSplit

Rows = NDArray[np.intp]

# From a generator to the rows of a train part and those of a test part.
Divide = Callable[[RandomState], tuple[Rows, Rows]]


def divider(n_rows: int, labels: NDArray[Any] | None, groups: Rows | None, test_size: float) -> Divide:
    """Return what draws a division of the rows: by classes, by groups, or of all rows alike.

    The divisions are those of `StratifiedShuffleSplit`, `GroupShuffleSplit` and `ShuffleSplit` with the same seed.
    scikit-learn's own checks, and what depends on the classes alone, are made once instead of for every seed.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,) or None
        Classes whose proportions are kept, or None.

    groups : ndarray of shape (n_rows,) or None
        Rows of one group go to the same part; `labels` are then ignored.
    """
    n_test = ceil(test_size * n_rows)
    if groups is None and labels is None and 0 < n_test < n_rows:
        return lambda state: _divided(n_rows, n_test, state)
    if groups is None and labels is not None and labels.ndim == 1:
        stratified = _Stratified(labels, n_rows - n_test, n_test)
        if stratified.is_possible:
            return stratified.divided
    # What cannot be divided is left to scikit-learn, which says why.
    shuffle = ShuffleSplit if labels is None else StratifiedShuffleSplit
    shuffle = shuffle if groups is None else GroupShuffleSplit

    def divided(state: RandomState) -> tuple[Rows, Rows]:
        splitter = shuffle(n_splits=1, test_size=test_size, random_state=state)
        train, test = next(splitter.split(np.empty((n_rows, 0)), labels, groups))
        return train, test

    return divided


def _divided(n_rows: int, n_test: int, state: RandomState) -> tuple[Rows, Rows]:
    order = state.permutation(n_rows)
    return order[n_test:], order[:n_test]


class _Stratified:
    """Divisions that keep the proportions of classes.

    Attributes
    ----------
    is_possible : bool
        Whether every class has two rows, and each part as many rows as there are classes.
    """

    def __init__(self, labels: NDArray[Any], n_train: int, n_test: int) -> None:
        _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
        self.is_possible = bool(counts.min() >= 2 and min(n_train, n_test) >= counts.size)
        self._counts, self._n_train, self._n_test = counts, n_train, n_test
        self._rows = np.split(np.argsort(codes.ravel(), kind="stable"), np.cumsum(counts)[:-1])

    def divided(self, state: RandomState) -> tuple[Rows, Rows]:
        """Draw a division."""
        n_train = _shares(self._counts, self._n_train, state)
        n_test = _shares(self._counts - n_train, self._n_test, state)
        train, test = [], []
        for rows, n_own, n_other in zip(self._rows, n_train.tolist(), n_test.tolist(), strict=True):
            order = rows[state.permutation(rows.size)]
            train.append(order[:n_own])
            test.append(order[n_own : n_own + n_other])
        return state.permutation(np.concatenate(train)), state.permutation(np.concatenate(test))


def _shares(counts: NDArray[np.intp], n_drawn: int, state: RandomState) -> NDArray[np.intp]:
    """Return how many rows of each class are drawn; the largest remainders are rounded up, equal ones at random."""
    exact = counts / counts.sum() * n_drawn
    shares = np.floor(exact)
    n_missing = int(n_drawn - shares.sum())
    remainders = exact - shares
    for remainder in np.unique(remainders)[::-1] if n_missing > 0 else ():
        equal = np.flatnonzero(remainders == remainder)
        chosen = state.choice(equal, size=min(equal.size, n_missing), replace=False)
        shares[chosen] += 1
        n_missing -= chosen.size
        if not n_missing:
            break
    return np.asarray(shares, dtype=np.intp)
