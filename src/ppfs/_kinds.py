"""Categories or quantities: the one place that tells what a column of numbers holds.

A column is categorical when

1. its type says so (text, categories), or the caller names it in `categorical_features`;
2. it holds at most two different whole numbers, such as 0 and 1, which have no distances to compare;
3. nobody said anything (``categorical_features="auto"``) and it holds at most 20 different whole numbers, as codes do.

Everything else is a quantity. Columns of the first kind are stored as codes, and models see them as categories; what
was only inferred from the values, by rules 2 and 3, is passed to models as the numbers that the caller gave.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: Whole numbers with more different values than this are quantities, not labels. The paper's largest
#: classification problem has 8 classes, its smallest regression problem 55 distinct efforts.
MAX_WHOLE_CATEGORIES = 20

# Two numbers have one distance between them, so that calling them categories or numbers makes no difference to a
# regression.
_NO_DISTANCES = 2

Mask = NDArray[np.bool_]

# Rows that are looked at first: a quantity nearly always shows within them.
_HEAD = 64

# Values looked at together, so that the copies stay small.
_VALUES_AT_ONCE = 2**21


class ColumnKinds:
    """The kinds of a table's columns, found when first asked for.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n_rows, n_columns)
        Numbers, and codes of categories.

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 where neither its type nor the caller calls it categorical.

    from_values : bool
        Whether few whole numbers make a column categorical. False when the caller said which columns are.
    """

    def __init__(self, X: Any, n_levels: NDArray[np.intp], *, from_values: bool) -> None:
        self._X = X
        self._n_levels = n_levels
        self.from_values = from_values

    @cached_property
    def categorical_mask(self) -> Mask:
        """Which columns are categorical, shape (n_columns,)."""
        most = MAX_WHOLE_CATEGORIES if self.from_values else _NO_DISTANCES
        return (self._n_levels > 0) | self._few_whole_mask(most)

    def _few_whole_mask(self, most: int) -> Mask:
        """Return which of the columns that nobody called categorical hold at most `most` whole numbers."""
        if sp.issparse(self._X):
            return np.asarray(_few_whole_sparse(self._X, most) & (self._n_levels == 0))
        n_rows, n_columns = self._X.shape
        mask = np.zeros(n_columns, dtype=bool)
        mask[self._n_levels == 0] = True
        mask &= _few_whole(self._X[:_HEAD], most)
        if n_rows <= _HEAD:
            return mask
        waiting = np.flatnonzero(mask)
        at_once = max(1, _VALUES_AT_ONCE // n_rows)
        for start in range(0, waiting.size, at_once):
            some = waiting[start : start + at_once]
            mask[some] = _few_whole(self._X[:, some], most)
        return mask

    def described(self, names: Sequence[str]) -> str:
        """Say in words which columns are categorical and why; "" where all are quantities."""
        declared, two = self._n_levels > 0, self._few_whole_mask(_NO_DISTANCES)
        few = self.categorical_mask & ~declared & ~two
        by_whom = "" if self.from_values else " or categorical_features"
        parts = [
            f"{_counted(declared, names)} hold categories by their type{by_whom}" if declared.any() else "",
            f"{_counted(few, names)} hold at most {MAX_WHOLE_CATEGORIES} different whole numbers, which models see as "
            "numbers and the other tests as categories"
            if few.any()
            else "",
            f"{_counted(two, names)} hold at most two whole numbers" if two.any() else "",
        ]
        told = [part for part in parts if part]
        if not told:
            return ""
        n_left = int((~self.categorical_mask).sum())
        return f"kinds of columns: {'; '.join(told)}; {n_left} of {len(names)} are quantities"


def _counted(mask: Mask, names: Sequence[str], limit: int = 3) -> str:
    chosen = [names[column] for column in np.flatnonzero(mask)[:limit]]
    more = ", ..." if mask.sum() > limit else ""
    return f"{int(mask.sum())} ({', '.join(map(repr, chosen))}{more})"


def holds_few_whole_numbers(values: NDArray[Any]) -> bool:
    """Tell whether a vector of numbers holds at most 20 different whole numbers and nothing else, gaps aside."""
    return bool(_few_whole(values[:, np.newaxis], MAX_WHOLE_CATEGORIES)[0])


def can_be_levels(distinct: NDArray[Any], n_rows: int, most: int) -> bool:
    """Tell whether a test that can only count may count these distinct values of a column.

    Labels and whole numbers it may, up to `most` of them, because it knows no other way to read them. Numbers with a
    fraction when there are few and most of them repeat, as after a discretisation.
    """
    if distinct.dtype.kind == "f" and not np.array_equal(distinct, np.floor(distinct)):
        return distinct.size <= min(MAX_WHOLE_CATEGORIES, most, max(1, n_rows // 2))
    return distinct.size <= most


def _few_whole(columns: NDArray[Any], most: int) -> Mask:
    if columns.dtype.kind == "f":
        mask = ((columns == np.floor(columns)) | np.isnan(columns)).all(axis=0)
    else:
        mask = np.ones(columns.shape[1], dtype=bool)
    # fmin and fmax pass over gaps.
    for column in _wide_ones(mask, np.fmin.reduce(columns), np.fmax.reduce(columns), most):
        mask[column] = _has_few_values(columns[:, column], most)
    return np.asarray(mask)


def _few_whole_sparse(X: Any, most: int) -> Mask:
    n_rows, n_columns = X.shape
    fractions = ~((X.data == np.floor(X.data)) | np.isnan(X.data))
    column_of_each = np.repeat(np.arange(n_columns), np.diff(X.indptr))
    mask = np.bincount(column_of_each[fractions], minlength=n_columns) == 0
    lowest, highest = (extreme(axis=0).toarray().ravel() for extreme in (X.nanmin, X.nanmax))
    for column in _wide_ones(mask, lowest, highest, most):
        stored = X.data[X.indptr[column] : X.indptr[column + 1]]
        mask[column] = _has_few_values(stored if stored.size == n_rows else np.append(0.0, stored), most)
    return np.asarray(mask)


def _wide_ones(mask: Mask, lowest: NDArray[Any], highest: NDArray[Any], most: int) -> NDArray[np.intp]:
    """Return the columns of whole numbers that lie so far apart that they have to be counted."""
    with np.errstate(invalid="ignore"):
        is_narrow = highest.astype(np.float64) - lowest.astype(np.float64) < most
    return np.flatnonzero(mask & ~is_narrow)


def _has_few_values(values: NDArray[Any], most: int) -> bool:
    for some in (values[:_HEAD], values):
        distinct = np.unique(some)
        n_gaps = int(np.isnan(distinct).sum()) if distinct.dtype.kind == "f" else 0
        if distinct.size - n_gaps > most:
            return False
    return True
