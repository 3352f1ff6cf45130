"""Categorical or numeric columns: the one place that decides.

A column is categorical if

1. its type is text or categorical, or the caller lists it in `categorical_features`;
2. it holds at most two distinct integers, such as 0 and 1, so that there are no distances to compare;
3. ``categorical_features="auto"`` and it holds at most 20 distinct integers, as codes do.

All other columns are numeric. Columns of rule 1 are stored as codes, and models see categories. Columns of rules 2 and
3 are passed to models as the caller's numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._conventions import as_many_as_fit
from ppfs._data.facts import holds_in_first, is_whole_number

#: Integers with more distinct values than this are numeric, not labels. The paper's largest
#: classification problem has 8 classes, its smallest regression problem 55 distinct values.
MAX_WHOLE_CATEGORIES = 20

# For a regression it makes no difference whether two values are categories or numbers.
_NO_DISTANCES = 2

Mask = NDArray[np.bool_]

# Rows that are checked first: a numeric column nearly always shows within them.
_HEAD = 64

# Values that are checked together, so that copies stay small.
_VALUES_AT_ONCE = 2**18


class ColumnKinds:
    """Which columns of a table are categorical, found when first needed.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n_rows, n_columns)
        Numbers, and codes of categories.

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 if neither its type nor the caller declares it categorical.

    from_values : bool
        Whether columns of few distinct integers are categorical. False if the caller listed the categorical columns.
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
        """Return which columns that are not declared categorical hold at most `most` distinct integers."""
        mask: Mask = self.whole_columns.is_whole & (self._n_levels == 0)
        # A smaller range cannot hold more of them.
        is_narrow = self.whole_columns.spans < most
        if sp.issparse(self._X):
            # Neither can a column that stores this few values beside zero.
            is_narrow |= np.diff(self._X.indptr) < most
        for column in np.flatnonzero(mask & ~is_narrow).tolist():
            mask[column] = _has_few_values(self._values(column), most)
        return mask

    @cached_property
    def whole_columns(self) -> WholeColumns:
        """Which columns hold integers only, and their ranges."""
        return _look_at_sparse(self._X) if sp.issparse(self._X) else _look_at(self._X)

    def whole_columns_of(self, X: Any) -> WholeColumns:
        """Return `whole_columns` for some of the rows, which may hold fewer values."""
        return self.whole_columns if X is self._X else _look_at(X)

    def for_part(self, storage: Any) -> ColumnKinds:
        """Return the kinds of the columns in some of the rows: the same as in all rows."""
        return self

    def _values(self, column: int) -> NDArray[Any]:
        """Return the values of a column in any order; the zeros of a sparse column only once."""
        if not sp.issparse(self._X):
            return np.asarray(self._X[:, column])
        stored = self._X.data[self._X.indptr[column] : self._X.indptr[column + 1]]
        return np.asarray(stored if stored.size == self._X.shape[0] else np.append(0.0, stored))

    def described(self, names: Sequence[str]) -> str:
        """Describe which columns are categorical and why; "" if all are numeric."""
        declared = self._n_levels > 0
        inferred = self.categorical_mask & ~declared
        by_whom = "" if self.from_values else " or categorical_features"
        most = MAX_WHOLE_CATEGORIES if self.from_values else _NO_DISTANCES
        parts = [
            f"{_counted(declared, names)} are categorical by their type{by_whom}" if declared.any() else "",
            f"{_counted(inferred, names)} hold at most {most} distinct integers, which models take as numbers and "
            "the other tests as categories"
            if inferred.any()
            else "",
        ]
        told = [part for part in parts if part]
        if not told:
            return ""
        n_left = int((~self.categorical_mask).sum())
        return f"kinds of columns: {'; '.join(told)}; {n_left} of {len(names)} are numeric"


def _counted(mask: Mask, names: Sequence[str], limit: int = 3) -> str:
    chosen = [names[column] for column in np.flatnonzero(mask)[:limit]]
    more = ", ..." if mask.sum() > limit else ""
    return f"{int(mask.sum())} ({', '.join(map(repr, chosen))}{more})"


def holds_few_whole_numbers(values: NDArray[Any]) -> bool:
    """Return whether a vector holds at most 20 distinct integers and nothing else but missing values."""
    if values.dtype.kind == "f" and not ((values == np.floor(values)) | np.isnan(values)).all():
        return False
    return _has_few_values(values, MAX_WHOLE_CATEGORIES)


def can_be_levels(distinct: NDArray[Any], n_rows: int, most: int) -> bool:
    """Return whether a test of counts may use these distinct values of a column as levels.

    Labels and integers may be levels if there are at most `most` of them. Other numbers may be levels if they are few
    and most of them repeat, as after a discretization.
    """
    if distinct.dtype.kind == "f" and not np.array_equal(distinct, np.floor(distinct)):
        return distinct.size <= min(MAX_WHOLE_CATEGORIES, most, max(1, n_rows // 2))
    return distinct.size <= most


@dataclass(frozen=True)
class WholeColumns:
    """Which columns hold integers and missing values only, and their extremes; each of shape (n_columns,).

    The extremes of other columns have no meaning.
    """

    is_whole: Mask
    lowest: NDArray[Any]
    highest: NDArray[Any]

    @property
    def spans(self) -> NDArray[Any]:
        """The differences between the extremes."""
        with np.errstate(invalid="ignore", over="ignore"):
            return np.asarray(self.highest - self.lowest)


def _look_at(X: NDArray[Any]) -> WholeColumns:
    if X.dtype.kind in "biu":
        extremes = (extreme(axis=0).astype(np.float64) for extreme in (X.min, X.max))
        return WholeColumns(np.ones(X.shape[1], dtype=bool), *extremes)
    is_whole = holds_in_first(X, _HEAD, lambda head: is_whole_number(head) | np.isnan(head))
    lowest, highest = np.zeros(is_whole.size), np.zeros(is_whole.size)
    waiting = np.flatnonzero(is_whole)
    at_once = as_many_as_fit(_VALUES_AT_ONCE, X.shape[0])
    for start in range(0, waiting.size, at_once):
        some = waiting[start : start + at_once]
        columns = as_rows(X, some)
        lowest[some], highest[some] = columns.min(axis=1), columns.max(axis=1)
        has_missing = bool(np.isnan(lowest[some]).any())
        if has_missing:
            lowest[some], highest[some] = np.fmin.reduce(columns, axis=1), np.fmax.reduce(columns, axis=1)
        whole = columns == np.floor(columns)
        is_whole[some] = (whole | np.isnan(columns) if has_missing else whole).all(axis=1)
    return WholeColumns(is_whole, lowest, highest)


def as_rows(X: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[Any]:
    """Return some columns of a dense matrix as contiguous rows, along which NumPy is fast."""
    return np.ascontiguousarray(X.T if columns.size == X.shape[1] else X.T[columns])


def _look_at_sparse(X: Any) -> WholeColumns:
    fractions = ~((X.data == np.floor(X.data)) | np.isnan(X.data))
    column_of_each = np.repeat(np.arange(X.shape[1]), np.diff(X.indptr))
    is_whole = np.bincount(column_of_each[fractions], minlength=X.shape[1]) == 0
    return WholeColumns(is_whole, *(extreme(axis=0).toarray().ravel() for extreme in (X.nanmin, X.nanmax)))


def _has_few_values(values: NDArray[Any], most: int) -> bool:
    # NaN is not equal to itself.
    if len({value for value in values[:_HEAD].tolist() if value == value}) > most:
        return False
    distinct = np.unique(values)
    n_missing = int(np.isnan(distinct).sum()) if distinct.dtype.kind == "f" else 0
    return distinct.size - n_missing <= most
