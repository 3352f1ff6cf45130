"""Properties of columns that are found in one pass."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

_NARROW = 64
_ROWS_TURNED = 2**13
_VALUES_AT_ONCE = 2**18
_BYTES_FOR_THREADS, _MOST_THREADS, _PARTS_PER_TASK = 2**28, 8, 16

# Rows in which most columns already show that they do not have a property.
_FIRST_ROWS = 4

_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)


def is_compact(dtype: np.dtype[Any]) -> bool:
    """Return whether numbers of a type take fewer bytes than 64-bit floats, which represent them exactly.

    32-bit floats do not count, because they are never converted here.
    """
    return (dtype.kind in "biuf" and dtype.itemsize < 4) or (dtype.kind in "iu" and dtype.itemsize == 4)


def in_floats(X: Any) -> Any:
    """Return columns as floats: unchanged, or a converted copy if they are stored in fewer bytes.

    A table of such columns stays as it is, and only the columns in use are converted: genotypes of 8 bits per
    number would otherwise take 64.
    """
    return X if sp.issparse(X) or not is_compact(X.dtype) else X.astype(np.float64)


def is_whole_number(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are integers; missing ones are not."""
    return np.asarray(values == np.floor(values))


def holds_in_first(
    X: NDArray[Any], n_rows: int, holds: Callable[[NDArray[Any]], NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Return which columns have a property in each of their first rows; very few rows decide about most columns.

    Examples
    --------
    >>> holds_in_first(np.array([[1.0, 0.5], [2.0, 3.0]]), 2, is_whole_number).tolist()
    [True, False]
    """
    mask = np.asarray(holds(X[:_FIRST_ROWS]).all(axis=0))
    left = np.flatnonzero(mask)
    if left.size:
        rest = X[_FIRST_ROWS:n_rows]
        mask[left] = holds(rest if left.size == mask.size else rest[:, left]).all(axis=0)
    return mask


@dataclass(frozen=True)
class ColumnFacts:
    """Properties of columns, each an array of shape (n_columns,).

    Attributes
    ----------
    low, high : ndarray of float
        The smallest and the largest number, without missing values.

    is_constant : ndarray
        Whether there is one value only, or missing values only.

    has_missing, has_infinite : ndarray
        Whether some number is NaN, or infinite.

    is_too_large : ndarray
        Whether some finite number is infinite in 32 bits.
    """

    low: NDArray[Any]
    high: NDArray[Any]
    is_constant: NDArray[np.bool_]
    has_missing: NDArray[np.bool_]
    has_infinite: NDArray[np.bool_]
    is_too_large: NDArray[np.bool_]

    def of(self, columns: slice | NDArray[np.intp]) -> ColumnFacts:
        """Return the properties of some of the columns."""
        return ColumnFacts(
            self.low[columns],
            self.high[columns],
            self.is_constant[columns],
            self.has_missing[columns],
            self.has_infinite[columns],
            self.is_too_large[columns],
        )

    @property
    def is_plain(self) -> bool:
        """Whether every number of every column is finite, in 32 bits too."""
        return not (self.has_missing.any() or self.has_infinite.any() or self.is_too_large.any())


def facts_of(X: Any) -> ColumnFacts:
    """Return the properties of the columns of a matrix, dense or csc, without another matrix of its size.

    They follow from the smallest and the largest value of each column, which are NaN if one value is.

    Examples
    --------
    >>> import numpy as np
    >>> facts = facts_of(np.array([[1.0, 2.0], [1.0, np.nan]]))
    >>> facts.is_constant.tolist(), facts.has_missing.tolist()
    ([True, False], [False, True])
    """
    low, high = _sparse_extremes(X) if sp.issparse(X) else _extremes(X)
    # In 8 bits, -128 is its own absolute value.
    low, high = in_floats(low), in_floats(high)
    has_missing = np.isnan(low)
    is_constant = low == high
    for column in np.flatnonzero(has_missing).tolist():
        low[column], high[column], is_constant[column] = _extremes_without_missing(X, column)
    largest = np.maximum(np.abs(low), np.abs(high))
    has_infinite = np.isinf(largest)
    is_too_large = ~has_infinite & (largest > _LARGEST_FLOAT32)
    return ColumnFacts(low, high, is_constant, has_missing, has_infinite, is_too_large)


def _extremes(X: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each column's smallest and largest value."""
    if not X.flags.c_contiguous:
        return X.min(axis=0), X.max(axis=0)
    if X.shape[1] > _NARROW:
        # One pass over memory: a few columns at a time stay in the cache.
        width = max(_NARROW, _VALUES_AT_ONCE // X.shape[0])
        low, high = np.empty(X.shape[1], dtype=X.dtype), np.empty(X.shape[1], dtype=X.dtype)

        def look(starts: range) -> None:
            for start in starts:
                part = X[:, start : start + width]
                part.min(axis=0, out=low[start : start + width])
                part.max(axis=0, out=high[start : start + width])

        starts = range(0, X.shape[1], width)
        if X.nbytes < _BYTES_FOR_THREADS:
            look(starts)
        else:
            # One core cannot use the full bandwidth of the memory.
            tasks = [
                starts[first : first + _PARTS_PER_TASK] for first in range(0, len(starts), _PARTS_PER_TASK)
            ]
            with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as pool:
                list(pool.map(look, tasks))
        return low, high
    # NumPy is slow along the first axis of a narrow matrix: transposed copies of a few rows at a time are faster.
    low, high = X[0].copy(), X[0].copy()
    for start in range(0, X.shape[0], _ROWS_TURNED):
        turned = np.ascontiguousarray(X[start : start + _ROWS_TURNED].T)
        np.minimum(low, turned.min(axis=1), out=low)
        np.maximum(high, turned.max(axis=1), out=high)
    return low, high


def _sparse_extremes(X: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each column's smallest and largest value; rows that are not stored are zeros."""
    n_stored = np.diff(X.indptr)
    low, high = np.zeros(X.shape[1]), np.zeros(X.shape[1])
    filled = np.flatnonzero(n_stored)
    starts = X.indptr[filled]
    if filled.size:
        low[filled] = np.minimum.reduceat(X.data, starts)
        high[filled] = np.maximum.reduceat(X.data, starts)
    has_zeros = n_stored < X.shape[0]
    return np.where(has_zeros, np.minimum(low, 0.0), low), np.where(has_zeros, np.maximum(high, 0.0), high)


def _extremes_without_missing(X: Any, column: int) -> tuple[float, float, bool]:
    """Return the extremes of a column without its missing values, and whether all are missing."""
    values = X[:, [column]].toarray().ravel() if sp.issparse(X) else X[:, column]
    numbers = values[~np.isnan(values)]
    return (0.0, 0.0, True) if not numbers.size else (float(numbers.min()), float(numbers.max()), False)
