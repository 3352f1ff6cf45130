"""Contingency tables of many columns at once, one layer for each stratum of the given columns.

A table's axes are (column in question, stratum, target's level, column's level)::

    cells[c, s]          target's levels down, the column's levels across
        s = 0            +-----+-----+
        s = 1            | 12  |  3  |   by_target[c, s] = row sums
        ...              |  1  | 20  |   by_column[c, s] = column sums
                         +-----+-----+   total[c, s]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._types import Floats
from ppfs.independence._classical.levels import Levels

Whole = NDArray[np.intp]


@dataclass(frozen=True)
class Counts:
    """Cell counts of some columns, shape (n_columns, n_strata, n_classes, n_levels), and their margins."""

    cells: Whole

    @cached_property
    def by_target(self) -> Whole:
        """Rows of each target level, shape (n_columns, n_strata, n_classes)."""
        return np.asarray(self.cells.sum(axis=3))

    @cached_property
    def by_column(self) -> Whole:
        """Rows of each level of the column, shape (n_columns, n_strata, n_levels)."""
        return np.asarray(self.cells.sum(axis=2))

    @cached_property
    def total(self) -> Whole:
        """Rows of each stratum, shape (n_columns, n_strata)."""
        return np.asarray(self.by_target.sum(axis=2))


def join_codes(levels: Levels, variables: tuple[int, ...]) -> tuple[Whole, int]:
    """Give each combination of some variables' levels a number.

    Returns
    -------
    stratum : ndarray of shape (n_rows,)
        Which combination each row holds.

    n_strata : int
        How many there are, those that never occur included as long as they are fewer than the rows.
    """
    n_rows = levels.codes.shape[1]
    stratum = np.zeros(n_rows, dtype=np.intp)
    n_strata = 1
    for variable in variables:
        stratum = stratum * levels.counts[variable] + levels.codes[variable]
        n_strata *= int(levels.counts[variable])
        if n_strata > n_rows:
            present, stratum = np.unique(stratum, return_inverse=True)
            n_strata = present.size
    return stratum, n_strata


def count_by_stratum(joint: Whole, codes: NDArray[Any], shape: tuple[int, int, int]) -> Counts:
    """Count all cells of several columns' tables in one pass.

    Parameters
    ----------
    joint : ndarray of shape (n_rows,)
        The number of each row's first cell: stratum and target's level, in units of cells.

    codes : ndarray of shape (n_columns, n_rows)
        The columns' levels.

    shape : (n_strata, n_classes, n_levels)
    """
    size = int(np.prod(shape))
    first_cells = np.arange(len(codes), dtype=np.intp)[:, None] * size
    cells = (first_cells + joint) + codes
    counts = np.bincount(cells.ravel(), minlength=len(codes) * size)
    return Counts(counts.reshape(len(codes), *shape))


def degrees_of_freedom(counts: Counts) -> Whole:
    """Return the degrees of freedom of each column's table, shape (n_columns,), at least 1.

    A level that a stratum never shows takes no part there, so each stratum counts
    (its levels - 1) x (its classes - 1).
    """
    classes = (counts.by_target > 0).sum(axis=2) - 1
    levels = (counts.by_column > 0).sum(axis=2) - 1
    # An empty stratum has -1 of each.
    free = np.maximum(classes, 0) * np.maximum(levels, 0)
    return np.asarray(np.maximum(free.sum(axis=1), 1))


def g_squared(counts: Counts) -> Floats:
    """Return twice the log-likelihood ratio of dependence against independence, shape (n_columns,).

    2 sum n_sxy log(n_sxy n_s / (n_sx n_sy)), taken apart so that one table of k log k serves all cells.
    """
    k_log_k = _k_log_k(int(counts.total[0].sum()))
    parts = [
        _row_sums(k_log_k[margin])
        for margin in (counts.cells, counts.by_target, counts.by_column, counts.total)
    ]
    # Rounding can leave an exact zero slightly below zero.
    return np.maximum(2.0 * (parts[0] - parts[1] - parts[2] + parts[3]), 0.0)


@lru_cache(maxsize=8)
def _k_log_k(largest: int) -> Floats:
    k = np.arange(1, largest + 1)
    return np.concatenate([[0.0], k * np.log(k)])


def chi_squared(counts: Counts) -> Floats:
    """Return Pearson's statistic, the sum of (observed - expected)^2 / expected, shape (n_columns,)."""
    return _row_sums(_chi_squared_by_stratum(counts))


@dataclass(frozen=True)
class Moments:
    """Pearson's statistic with its mean and variance under independence, each of shape (n_columns,)."""

    statistic: Floats
    mean: Floats
    variance: Floats


def chi_squared_moments(counts: Counts) -> Moments:
    """Return Pearson's statistic and its exact moments given the margins of each stratum.

    Haldane's formulas (Biometrika, 1940). Strata of fewer than 4 rows, for which the
    variance is not defined, and strata with one level or class only are left out.
    """
    n = counts.total.astype(np.float64)
    classes, levels = _Margin.of(counts.by_target), _Margin.of(counts.by_column)
    usable = (n > 3) & (classes.present > 1) & (levels.present > 1)
    n = np.where(usable, n, 4.0)
    mean = n / (n - 1) * (classes.present - 1) * (levels.present - 1)
    first = 2 * n / (n - 3) * (classes.v(n) - classes.w(n)) * (levels.v(n) - levels.w(n))
    second = n**2 / (n - 1) * classes.w(n) * levels.w(n)
    by_stratum = (_chi_squared_by_stratum(counts), mean, first + second)
    return Moments(*(_row_sums(np.where(usable, values, 0.0)) for values in by_stratum))


@dataclass(frozen=True)
class _Margin:
    """The terms that one margin contributes to the variance of Pearson's statistic."""

    present: Whole
    reciprocals: Floats

    @classmethod
    def of(cls, margin: Whole) -> _Margin:
        present = margin > 0
        reciprocals = np.where(present, 1.0 / np.maximum(margin, 1), 0.0)
        return cls(present.sum(axis=2), _last_axis_sums(reciprocals))

    def v(self, n: Floats) -> Floats:
        return np.asarray((self.present - 1) * (n - self.present) / (n - 1))

    def w(self, n: Floats) -> Floats:
        return np.asarray((n * self.reciprocals - self.present**2) / (n - 2))


def _chi_squared_by_stratum(counts: Counts) -> Floats:
    product = counts.by_target[..., :, None] * counts.by_column[..., None, :]
    expected = product / np.maximum(counts.total, 1)[..., None, None]
    # Cells that cannot be filled, because their row or column is empty, contribute nothing.
    terms = (counts.cells - expected) ** 2 / np.where(expected > 0, expected, 1.0)
    return _last_axis_sums(terms.reshape(*terms.shape[:2], -1))


def _last_axis_sums(values: Floats) -> Floats:
    """Sum along contiguous memory, which NumPy does in an order that depends on the length only."""
    sums: Floats = np.ascontiguousarray(values).sum(axis=-1)
    return sums


def _row_sums(values: Floats) -> Floats:
    """Sum everything that belongs to one column, in an order that depends on its own cells only."""
    return _last_axis_sums(values.reshape(len(values), -1))
