"""Encodings of a matrix of codes and numbers, learned from the train part of a split."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ppfs._conventions import Floats
from ppfs._data import FrameColumns, Matrix, dense_column

# This many most frequent categories of the train part have their own dummy; the others share one. With more dummies,
# a column of identifiers would outweigh all other columns.
MAX_DUMMIES = 30

_UNSEEN = -1


class Encoder(Protocol):
    """A transformation of a matrix that is learned from a train part."""

    def fit(self, X: Matrix, weights: Floats | None = None) -> Self: ...

    def transform(self, X: Matrix) -> Matrix: ...


class Medians(BaseEstimator):
    """Fill missing numbers with the median of the column in the train part.

    A column without any value in the train part is filled with 0. In a sparse matrix, zeros that are not
    stored count as values.
    """

    def fit(self, X: Matrix, weights: Floats | None = None) -> Self:
        """Find the medians."""
        if weights is None and not sp.issparse(X):
            self.medians_ = _medians(np.asarray(X, dtype=np.float64))
        else:
            self.medians_ = np.array([_median(dense_column(X, j), weights) for j in range(X.shape[1])])
        return self

    def transform(self, X: Matrix) -> Matrix:
        """Return a copy with missing values filled."""
        if sp.issparse(X):
            filled = X.tocsr(copy=True)
            missing = np.isnan(filled.data)
            filled.data[missing] = self.medians_[filled.indices[missing]]
            return filled
        return np.where(np.isnan(X), self.medians_, X)


class Dummies:
    """One-hot categories, and numbers of mean 0 and variance 1.

    The `MAX_DUMMIES` most frequent categories of the train part have a dummy each, and the rest share
    one. A category that is not in the train part belongs to the rest, or has all dummies 0 if there is no
    rest. Dummies follow the numbers, column by column.

    Parameters
    ----------
    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for numbers.
    """

    def __init__(self, n_levels: NDArray[np.intp]) -> None:
        self.n_levels = n_levels

    def fit(self, X: Matrix, weights: Floats | None = None) -> Self:
        """Learn the categories, means and deviations of the train part."""
        numbers = X[:, self.n_levels == 0].astype(np.float64)
        self.center_, self.scale_ = standard(numbers, weights)
        self.places_ = {
            int(column): dummy_places(X[:, column], int(self.n_levels[column]), MAX_DUMMIES, weights)
            for column in np.flatnonzero(self.n_levels)
        }
        return self

    def transform(self, X: Matrix) -> Floats:
        """Return the encoded matrix."""
        numbers = (X[:, self.n_levels == 0] - self.center_) / self.scale_
        dummies = [one_hot(X[:, column], places) for column, places in self.places_.items()]
        return np.hstack([numbers, *dummies])


class NativeCodes:
    """Categories as consecutive codes, for boosted trees with native categories.

    Categories that are not in the train part are missing (NaN). If the model limits their number, the
    rarest share the last code.

    Parameters
    ----------
    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for numbers.

    limit : int or None
        The largest number of categories that the model accepts.

    as_objects : bool
        Return integers for categories, with -1 for missing, and floats in one array of objects.
    """

    def __init__(
        self, n_levels: NDArray[np.intp], limit: int | None = None, as_objects: bool = False
    ) -> None:
        self.n_levels = n_levels
        self.limit = limit
        self.as_objects = as_objects

    def fit(self, X: Matrix, weights: Floats | None = None) -> Self:
        """Learn the categories of the train part."""
        self.places_ = {}
        for column in np.flatnonzero(self.n_levels).tolist():
            n_levels = int(self.n_levels[column])
            most = n_levels if self.limit is None or n_levels <= self.limit else self.limit - 1
            self.places_[column] = dummy_places(X[:, column], n_levels, most, weights)
        return self

    def transform(self, X: Matrix) -> NDArray[Any]:
        """Return the matrix with new codes."""
        encoded: NDArray[Any] = np.array(X, dtype=object if self.as_objects else np.float64)
        for column, places in self.places_.items():
            codes = places[X[:, column].astype(np.intp)]
            encoded[:, column] = codes if self.as_objects else np.where(codes == _UNSEEN, np.nan, codes)
        return encoded


class ToFrame:
    """A data frame like the caller's, for models that choose columns by name or type.

    Parameters
    ----------
    source : FrameColumns
        The names and categories of the caller's columns.

    names : sequence of str
        One name per column of the matrix.
    """

    def __init__(self, source: FrameColumns, names: Sequence[str]) -> None:
        self.source = source
        self.names = names

    def fit(self, X: Matrix, weights: Floats | None = None) -> Self:
        """Learn nothing."""
        return self

    def transform(self, X: Matrix) -> Any:
        """Return the data frame."""
        return self.source.frame(X, self.names)


def dummy_places(
    codes: NDArray[Any], n_levels: int, most: int, weights: Floats | None = None
) -> NDArray[np.intp]:
    """Return the place of each category: its own for the most frequent ones, a common last one for the rest.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        The categories of the train part.

    most : int
        The number of categories with their own place; the first of equally frequent ones have it.

    Returns
    -------
    ndarray of shape (n_levels,)
        Places from 0 in the order of the codes. A category that is not in the train part has the common
        place, or -1 if there is none.
    """
    counts = np.bincount(codes.astype(np.intp), weights, minlength=n_levels)
    seen = np.flatnonzero(counts)
    if seen.size <= most:
        places = np.full(n_levels, _UNSEEN, dtype=np.intp)
        places[seen] = np.arange(seen.size)
        return places
    frequent = np.sort(np.argsort(-counts, kind="stable")[:most])
    places = np.full(n_levels, most, dtype=np.intp)
    places[frequent] = np.arange(most)
    return places


def one_hot(codes: NDArray[Any], places: NDArray[np.intp]) -> Floats:
    """Return one column of 0 and 1 per place, for the rows of its categories."""
    own = places[codes.astype(np.intp)]
    return np.equal.outer(own, np.arange(places.max() + 1)).astype(np.float64)


def standard(numbers: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the mean and standard deviation of each column without its missing values; 0 and 1 if all are missing."""
    is_value = ~np.isnan(numbers)
    shares = is_value * (1.0 if weights is None else weights[:, np.newaxis])
    totals = shares.sum(axis=0)
    totals[totals == 0] = 1.0
    filled = np.where(is_value, numbers, 0.0)
    center = (shares * filled).sum(axis=0) / totals
    variance = (shares * (filled - center) ** 2).sum(axis=0) / totals
    # The variance of a constant column is rounding.
    is_constant = variance <= (10 * np.finfo(np.float64).eps * np.abs(center)) ** 2
    return center, np.where(is_constant, 1.0, np.sqrt(variance))


def _medians(X: Floats) -> Floats:
    """Return the median of each column without its missing values; 0 if all are missing."""
    ordered, n_values = np.sort(X, axis=0), (~np.isnan(X)).sum(axis=0)
    columns = np.arange(X.shape[1])
    # Missing values come last.
    low, high = ordered[np.maximum(n_values - 1, 0) // 2, columns], ordered[n_values // 2 % len(X), columns]
    # Halved first, because the sum of two very large numbers may overflow.
    middle = np.where(low == high, low, low / 2 + high / 2)
    return np.where(n_values == 0, 0.0, middle)


def _median(values: NDArray[Any], weights: Floats | None) -> float:
    """Return the median without missing values; a row of weight 2 counts as two rows."""
    is_value = ~np.isnan(values)
    if not is_value.any():
        return 0.0
    if weights is None:
        return float(_medians(values[is_value][:, np.newaxis])[0])
    order = np.argsort(values[is_value], kind="stable")
    ordered, total = values[is_value][order], np.cumsum(weights[is_value][order])
    half = total[-1] / 2
    low, high = np.searchsorted(total, half), np.searchsorted(total, half, side="right")
    return float((ordered[low] + ordered[min(high, len(ordered) - 1)]) / 2)
