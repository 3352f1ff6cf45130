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
from dataclasses import dataclass
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
_VALUES_AT_ONCE = 2**18


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
        mask: Mask = self.whole_columns.is_whole & (self._n_levels == 0)
        # Between extremes so close there is no room for more.
        is_narrow = self.whole_columns.spans < most
        if sp.issparse(self._X):
            # Nor among so few values that are stored, and zero.
            is_narrow |= np.diff(self._X.indptr) < most
        for column in np.flatnonzero(mask & ~is_narrow).tolist():
            mask[column] = _has_few_values(self._values(column), most)
        return mask

    @cached_property
    def whole_columns(self) -> WholeColumns:
        """Which columns hold whole numbers, and how far these lie apart."""
        return _look_at_sparse(self._X) if sp.issparse(self._X) else _look_at(self._X)

    def whole_columns_of(self, X: Any) -> WholeColumns:
        """Return the same of some of the rows: a part of the table shares its kinds, but may hold fewer values."""
        return self.whole_columns if X is self._X else _look_at(X)

    def for_part(self, storage: Any) -> ColumnKinds:
        """Return the kinds of the columns in some of the rows: the same, whatever values these rows hold."""
        return self

    def _values(self, column: int) -> NDArray[Any]:
        """Return the values of a column, in any order and those of rows that are not stored once."""
        if not sp.issparse(self._X):
            return np.asarray(self._X[:, column])
        stored = self._X.data[self._X.indptr[column] : self._X.indptr[column + 1]]
        return np.asarray(stored if stored.size == self._X.shape[0] else np.append(0.0, stored))

    def described(self, names: Sequence[str]) -> str:
        """Say in words which columns are categorical and why; "" where all are quantities."""
        declared = self._n_levels > 0
        inferred = self.categorical_mask & ~declared
        by_whom = "" if self.from_values else " or categorical_features"
        most = MAX_WHOLE_CATEGORIES if self.from_values else _NO_DISTANCES
        parts = [
            f"{_counted(declared, names)} hold categories by their type{by_whom}" if declared.any() else "",
            f"{_counted(inferred, names)} hold at most {most} different whole numbers, which models see as numbers and "
            "the other tests as categories"
            if inferred.any()
            else "",
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
    if values.dtype.kind == "f" and not ((values == np.floor(values)) | np.isnan(values)).all():
        return False
    return _has_few_values(values, MAX_WHOLE_CATEGORIES)


def can_be_levels(distinct: NDArray[Any], n_rows: int, most: int) -> bool:
    """Tell whether a test that can only count may count these distinct values of a column.

    Labels and whole numbers it may, up to `most` of them, because it knows no other way to read them. Numbers with a
    fraction when there are few and most of them repeat, as after a discretisation.
    """
    if distinct.dtype.kind == "f" and not np.array_equal(distinct, np.floor(distinct)):
        return distinct.size <= min(MAX_WHOLE_CATEGORIES, most, max(1, n_rows // 2))
    return distinct.size <= most


@dataclass(frozen=True)
class WholeColumns:
    """Which columns hold whole numbers only, and between which extremes, gaps aside; each of shape (n_columns,).

    The extremes of other columns have no meaning.
    """

    is_whole: Mask
    lowest: NDArray[Any]
    highest: NDArray[Any]

    @property
    def spans(self) -> NDArray[Any]:
        """The distances between the extremes."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(self.highest - self.lowest)


def _look_at(X: NDArray[Any]) -> WholeColumns:
    if X.dtype.kind in "biu":
        extremes = (extreme(axis=0).astype(np.float64) for extreme in (X.min, X.max))
        return WholeColumns(np.ones(X.shape[1], dtype=bool), *extremes)
    head = X[:_HEAD]
    is_whole = ((head == np.floor(head)) | np.isnan(head)).all(axis=0)
    lowest, highest = np.zeros(is_whole.size), np.zeros(is_whole.size)
    waiting = np.flatnonzero(is_whole)
    at_once = max(1, _VALUES_AT_ONCE // X.shape[0])
    for start in range(0, waiting.size, at_once):
        some = waiting[start : start + at_once]
        columns = as_rows(X, some)
        lowest[some], highest[some] = columns.min(axis=1), columns.max(axis=1)
        has_gaps = bool(np.isnan(lowest[some]).any())
        if has_gaps:
            lowest[some], highest[some] = np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)
        whole = columns == np.floor(columns)
        is_whole[some] = (whole | np.isnan(columns) if has_gaps else whole).all(axis=1)
    return WholeColumns(is_whole, lowest, highest)


def as_rows(X: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[Any]:
    """Return some columns of a dense matrix as the rows of another one, along which NumPy is fast."""
    return np.ascontiguousarray(X.T if columns.size == X.shape[1] else X.T[columns])


def _look_at_sparse(X: Any) -> WholeColumns:
    fractions = ~((X.data == np.floor(X.data)) | np.isnan(X.data))
    column_of_each = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    is_whole = np.bincount(column_of_each[fractions], minlength=X.shape[1]) == 0
    return WholeColumns(is_whole, *(extreme(axis=0).toarray().ravel() for extreme in (X.nanmin, X.nanmax)))


def _has_few_values(values: NDArray[Any], most: int) -> bool:
    # NaN is like no value, itself included.
    if len({value for value in values[:_HEAD].tolist() if value == value}) > most:
        return False
    distinct = np.unique(values)
    n_gaps = int(np.isnan(distinct).sum()) if distinct.dtype.kind == "f" else 0
    return distinct.size - n_gaps <= most
