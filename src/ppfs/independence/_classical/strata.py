"""Contingency tables of many columns at once, one layer per stratum of the given columns.

A table's axes are (stratum, target's level, column's level)::

    cells[s]             target's levels down, the column's levels across
        s = 0            +-----+-----+
        s = 1            | 12  |  3  |   by_target[s] = row sums
        ...              |  1  | 20  |   by_column[s] = column sums
                         +-----+-----+   total[s]

All columns share the strata and the target, and with them `by_target` and `total`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import number_combinations
from ppfs.independence._classical.levels import Levels

Whole = NDArray[np.int64]


@dataclass(frozen=True)
class Strata:
    """The rows, divided by the given columns and the target.

    Attributes
    ----------
    places : ndarray of shape (n_rows,)
        The number of each row's stratum and target's level: stratum * n_classes + level.
    """

    places: Whole
    n_strata: int
    n_classes: int

    @classmethod
    def of(cls, levels: Levels, target: int, given: tuple[int, ...]) -> Strata:
        """Divide the rows of a table."""
        stratum, n_strata = join_codes(levels, given)
        n_classes = int(levels.counts[target])
        return cls(stratum * n_classes + levels.codes[target], n_strata, n_classes)

    @cached_property
    def by_target(self) -> Whole:
        """Rows of each stratum and target level, shape (1, n_strata, n_classes)."""
        counts = np.bincount(self.places, minlength=self.n_strata * self.n_classes)
        return counts.astype(np.int64, copy=False).reshape(1, self.n_strata, self.n_classes)

    @cached_property
    def total(self) -> Whole:
        """Rows of each stratum, shape (1, n_strata)."""
        return np.asarray(self.by_target.sum(axis=2))

    @cached_property
    def extra_classes(self) -> Whole:
        """Target levels that occur in each stratum, minus one, shape (n_strata,); 0 for an empty stratum."""
        n_shown: Whole = (self.by_target[0] > 0).sum(axis=1)
        return np.maximum(n_shown - 1, 0)

    @cached_property
    def k_log_k(self) -> Floats:
        """The values of k log k up to the number of rows."""
        return _k_log_k(self.places.size)

    @cached_property
    def log_likelihood(self) -> tuple[float, float]:
        """The sums of k log k over `by_target` and over `total`."""
        return float(self.k_log_k[self.by_target].sum()), float(self.k_log_k[self.total].sum())


@dataclass(frozen=True)
class Tables:
    """The contingency tables of some columns, which may differ in their numbers of levels.

    Attributes
    ----------
    strata : Strata
        What the columns share.

    n_levels : ndarray of shape (n_columns,)

    starts : ndarray of shape (n_columns + 1,)
        Where each table begins in `cells`, and where the last one ends.

    cells : ndarray
        The counts, table after table.
    """

    strata: Strata
    n_levels: Whole
    starts: Whole
    cells: Whole

    @classmethod
    def count(cls, strata: Strata, levels: Levels, columns: list[int]) -> Tables:
        """Count all cells in one pass."""
        n_levels = levels.counts[columns].astype(np.int64, copy=False)
        starts = np.zeros(n_levels.size + 1, dtype=np.int64)
        np.cumsum(n_levels * (strata.n_strata * strata.n_classes), out=starts[1:])
        cells = np.zeros(int(starts[-1]), dtype=np.int64)
        _engine.count_cells(
            strata.places, levels.codes, np.array(columns, dtype=np.int64), n_levels, starts, cells
        )
        return cls(strata, n_levels, starts, cells)

    def by_width(self) -> Iterator[tuple[Whole, Counts]]:
        """Yield the tables that have the same number of levels together, with their positions.

        Padding a narrower table would change the order of sums.
        """
        strata = self.strata
        for width in np.unique(self.n_levels).tolist():
            same = np.flatnonzero(self.n_levels == width)
            size = strata.n_strata * strata.n_classes * width
            cells = self.cells[self.starts[same][:, None] + np.arange(size)]
            yield same, Counts(cells.reshape(same.size, strata.n_strata, strata.n_classes, width), strata)


@dataclass(frozen=True)
class Counts:
    """Cell counts of columns of one width, shape (n_columns, n_strata, n_classes, n_levels), and their margins."""

    cells: Whole
    strata: Strata

    @property
    def by_target(self) -> Whole:
        """Rows of each target level, the same for all columns: shape (1, n_strata, n_classes)."""
        return self.strata.by_target

    @cached_property
    def by_column(self) -> Whole:
        """Rows of each level of the column, shape (n_columns, n_strata, n_levels)."""
        return np.asarray(self.cells.sum(axis=2))

    @property
    def total(self) -> Whole:
        """Rows of each stratum, the same for all columns: shape (1, n_strata)."""
        return self.strata.total


@dataclass(frozen=True)
class Statistics:
    """A statistic of each of some tables and its degrees of freedom, each of shape (n_columns,)."""

    values: Floats
    freedom: Whole


def join_codes(levels: Levels, variables: tuple[int, ...]) -> tuple[Whole, int]:
    """Give each combination of some variables' levels a number.

    Returns
    -------
    stratum : ndarray of shape (n_rows,)
        Which combination each row holds.

    n_strata : int
        The number of combinations, including those that never occur as long as they are fewer than the rows.
    """
    n_rows = levels.codes.shape[1]
    columns = ((levels.codes[variable], int(levels.counts[variable])) for variable in variables)
    return number_combinations(columns, n_rows, at_most=n_rows)


def g_squared(tables: Tables) -> Statistics:
    """Return twice the log-likelihood ratio of dependence against independence.

    2 sum n_sxy log(n_sxy n_s / (n_sx n_sy)), split into sums of k log k, so that one lookup table serves all cells. A
    stratum in which r levels and c classes occur has (r - 1)(c - 1) degrees of freedom; the total is at least 1.
    """
    strata = tables.strata
    sums, freedom = np.empty((tables.n_levels.size, 2)), np.empty(tables.n_levels.size, dtype=np.int64)
    _engine.likelihood_ratios(
        tables.cells, tables.starts, tables.n_levels, strata.extra_classes, strata.k_log_k, sums, freedom
    )
    of_target, of_strata = strata.log_likelihood
    # Rounding can make an exact zero slightly negative.
    return Statistics(np.maximum(2.0 * (sums[:, 0] - of_target - sums[:, 1] + of_strata), 0.0), freedom)


@lru_cache(maxsize=8)
def _k_log_k(largest: int) -> Floats:
    k = np.arange(1, largest + 1)
    return np.concatenate([[0.0], k * np.log(k)])


def degrees_of_freedom(counts: Counts) -> Whole:
    """Return the degrees of freedom of each column's table, shape (n_columns,), as in `g_squared`."""
    n_shown = (counts.by_column > 0).sum(axis=2)
    free = counts.strata.extra_classes * np.maximum(n_shown - 1, 0)
    return np.asarray(np.maximum(free.sum(axis=1), 1))


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
    # Cells whose row or column is empty contribute nothing.
    terms = (counts.cells - expected) ** 2 / np.where(expected > 0, expected, 1.0)
    return _last_axis_sums(terms.reshape(*terms.shape[:2], -1))


def _last_axis_sums(values: Floats) -> Floats:
    """Sum along contiguous memory, which NumPy does in an order that depends on the length only."""
    sums: Floats = np.ascontiguousarray(values).sum(axis=-1)
    return sums


def _row_sums(values: Floats) -> Floats:
    """Sum all values of one column, in an order that depends on its own cells only."""
    return _last_axis_sums(values.reshape(len(values), -1))
