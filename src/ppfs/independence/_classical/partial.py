"""Partial correlations of many columns with one target, given a common set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from ppfs._conventions import Floats, as_many_as_fit
from ppfs._data import Table

# Where the given columns leave less than this share of a column's variance, they are taken to determine it: the
# rest is rounding error, and its correlations are meaningless.
DETERMINED = 1e-10

_MAX_MULTIPLIED = 2**20

# Rows of the matrix of all correlations that are cached: those of a large conditioning set, and more if they take
# little memory.
_MIN_KEPT = 128
_MAX_KEPT_BYTES = 2**26


@dataclass(frozen=True)
class PartialCorrelations:
    """Partial correlations of some columns with a target.

    Attributes
    ----------
    values : ndarray of shape (n_columns,)
        0 where the column or the target is constant or determined by the given columns.

    determined_mask : ndarray of bool, shape (n_columns,)
        Where the column or the target is determined in this sense.

    n_given : int
        The number of given columns, without those that other given columns determine.
    """

    values: Floats
    determined_mask: NDArray[np.bool_]
    n_given: int


@dataclass(frozen=True)
class _Factor:
    """The Cholesky factor of the given columns' correlations, redundant columns left out."""

    kept: tuple[int, ...]
    lower: Floats


class Correlations:
    """All correlations of a table's variables, computed when needed.

    Parameters
    ----------
    table : Table
        The columns of a dense table are copied and standardized: 8 bytes per value. Those of a sparse table are
        standardized a few at a time when they are needed.

    target_values : ndarray of shape (n_rows,)
        The target as numbers.
    """

    def __init__(self, table: Table, target_values: Floats) -> None:
        self._table = table
        self._target = standardized(target_values[None, :])
        # One row per variable: sums run along contiguous memory, in an order that does not depend on the other
        # variables.
        self._scores = (
            None if table.is_sparse else standardized(np.ascontiguousarray(table.X.T, dtype=np.float64))
        )
        n_kept = max(_MIN_KEPT, _MAX_KEPT_BYTES // (8 * (table.n_features + 1)))
        self._with = lru_cache(maxsize=n_kept)(self._correlate)

    def given(self, xs: Sequence[int], target: int, given: Sequence[int]) -> PartialCorrelations:
        """Return the partial correlation of each of `xs` with `target` given `given`."""
        factor = self._factor(self._table.order.canonical(given))
        left_x, loadings = self._remainder(list(xs), factor)
        left_y, loading = self._remainder([target], factor)
        shared = self._with(target)[list(xs)]
        for of_x, of_y in zip(loadings, loading, strict=True):
            shared = shared - of_x * of_y
        determined = (left_x <= DETERMINED) | (left_y <= DETERMINED)
        scale = np.sqrt(np.where(determined, 1.0, left_x * left_y))
        values = np.where(determined, 0.0, np.clip(shared / scale, -1.0, 1.0))
        return PartialCorrelations(values, determined, len(factor.kept))

    def _correlate(self, variable: int) -> Floats:
        """Return the correlations of `variable` with all variables, itself included."""
        own = self._scores_of([variable])[0]
        row = np.empty(self._table.n_features + 1)
        at_once = as_many_as_fit(_MAX_MULTIPLIED, own.size)
        for start in range(0, self._table.n_features, at_once):
            block = slice(start, min(start + at_once, self._table.n_features))
            row[block] = (self._block(block) * own).sum(axis=1)
        row[-1:] = (self._target * own).sum(axis=1)
        return row

    def _block(self, columns: slice) -> Floats:
        """Return consecutive columns, standardized, one per row."""
        if self._scores is not None:
            return self._scores[columns]
        return standardized(np.ascontiguousarray(self._table.X[:, columns].toarray().T, dtype=np.float64))

    def _scores_of(self, variables: list[int]) -> Floats:
        """Return some variables, standardized, one per row."""
        target = self._table.target
        if self._scores is not None and target not in variables:
            return np.asarray(self._scores[variables])
        rows = [self._target if v == target else self._block(slice(v, v + 1)) for v in variables]
        return np.concatenate(rows)

    def _factor(self, given: tuple[int, ...]) -> _Factor:
        kept: list[int] = []
        lower = np.zeros((len(given), len(given)))
        for variable in given:
            k = len(kept)
            loading = (
                solve_triangular(lower[:k, :k], self._with(variable)[kept], lower=True) if k else np.zeros(0)
            )
            left = self._with(variable)[variable] - float(loading @ loading)
            if left > DETERMINED:
                lower[k, :k], lower[k, k] = loading, np.sqrt(left)
                kept.append(variable)
        return _Factor(tuple(kept), lower[: len(kept), : len(kept)])

    def _remainder(self, variables: list[int], factor: _Factor) -> tuple[Floats, list[Floats]]:
        """Return the share of variance that the given columns leave, and the loadings on them.

        Forward substitution for all variables together. It is written out because the numbers of a
        variable must not depend on how many others there are, and those of LAPACK do.
        """
        left = self._variances(variables)
        loadings: list[Floats] = []
        for variable, row in zip(factor.kept, factor.lower, strict=True):
            loading = self._with(variable)[variables]
            for weight, earlier in zip(row.tolist(), loadings, strict=False):
                loading = loading - weight * earlier
            loading = loading / row[len(loadings)]
            loadings.append(loading)
            left = left - loading**2
        return left, loadings

    def _variances(self, variables: list[int]) -> Floats:
        """Return 1 for each variable, or 0 if it is constant."""
        return np.asarray((self._scores_of(variables) != 0.0).any(axis=1), dtype=np.float64)


def standardized(rows: Floats) -> Floats:
    """Center each row and scale it to length 1; a constant row becomes 0."""
    # Dividing by the largest value first keeps the squares of very large values from overflowing, and makes all values
    # of a constant row 1 or -1, so that nothing is left of them beside their mean.
    largest = np.abs(rows).max(axis=1, keepdims=True)
    centered = np.divide(rows, largest, out=np.zeros_like(rows), where=largest > 0)
    centered -= centered.mean(axis=1, keepdims=True)
    lengths = np.sqrt((centered**2).sum(axis=1, keepdims=True))
    scores: Floats = np.divide(centered, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scores
