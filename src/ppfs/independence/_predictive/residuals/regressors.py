"""Regressors made of the columns that a question is conditioned on: lines, curves, products, directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import rankdata

from ppfs._conventions import Floats, mean_ranks

# A number with at most this many values has one coefficient per value.
_FEW_VALUES = 10

# Categories beyond the most frequent ones share their coefficient; products are made of this many at most.
_MAX_LEVELS, _MAX_LEVELS_IN_PRODUCTS = 100, 9

# If there is no room for products of all categories, they are made of this many.
_FEWER_LEVELS = 3

# Beside the lines there are at most this many regressors, this share of the number of rows, and this many values.
_MOST_REGRESSORS, _MOST_PER_ROW, _MOST_VALUES = 150, 0.4, 2**26

# Curves: cosines of rising frequency. More of them than the cube root of the number of rows are not estimated well, and
# all columns together have at most this many per row, and this share of the regressors. Where that leaves fewer than
# two per column, there are two if there are this many rows for each.
_MAX_CURVES, _CURVES_PER_ROW, _CURVES_OF_ALL, _ROWS_PER_CURVE = 14, 0.1, 0.6, 5

# Of columns with more rows, curves are made again for each design: in a table of a million rows, those that no design
# has room for would take a gigabyte.
_MOST_KEPT = 100_000

# A slope may change along two waves of another column, and along four where there are this many rows.
_SLOPE_WAVES, _MANY_ROWS = 2, 600

# Curves of sums and differences of two columns; products of three are made of at most this many factors.
_MAX_DIRECTIONS, _MOST_FOR_TRIPLES = 8, 6

# The scale of each kind of regressor. The larger it is, the less the one penalty of a ridge regression acts on it.
_LINE, _CURVE, _LEVEL, _PRODUCT = 4.0, 1.5, 1.0, 0.6

# Products of two waves, by their frequencies: all up to a sum of 5 but the first two, which are nearly lines.
_TILES = [(k, m) for k in range(1, 5) for m in range(1, 6 - k) if k + m > 2]
_TILE_SCALES = 0.9 / np.array([k * m for k, m in _TILES]) ** 0.75

# Computed values are distinct if they differ by more than about this power of one half, times their range.
_BITS = 36

# Products of values and of normal scores are the same regressor where they are correlated this much.
_SAME = 0.98


def side_by_side(parts: Sequence[Floats]) -> Floats:
    """Return what `numpy.hstack` does, whose checks of hundreds of parts take longer than the copy."""
    return np.concatenate(parts, axis=1)


def unit(columns: Floats) -> Floats:
    """Return columns with mean 0 and variance 1; constant ones become 0."""
    n_rows = len(columns)
    size = np.maximum.reduce(np.abs(columns))
    scaled = columns / np.where(size > 0.0, size, 1.0)
    # As by `mean` and `std`, whose checks of small arrays take longer.
    centered = scaled - np.add.reduce(scaled) / n_rows
    rest = centered - np.add.reduce(centered) / n_rows
    deviation = np.sqrt(np.add.reduce(rest * rest) / n_rows)
    standardized: Floats = centered / np.where(deviation > 1e-12, deviation, np.inf)
    return standardized


def normal_scores(values: Floats) -> Floats:
    """Return the normal quantiles of the ranks; equal values share their mean rank."""
    return np.asarray(special.ndtri((mean_ranks(values) - 0.5) / values.size))


def smallest_units(ranges: Floats | np.float64) -> Floats:
    """Return powers of two, far below the range of computed values each and far above their rounding errors."""
    return np.asarray(np.ldexp(1.0, np.frexp(ranges)[1] - _BITS))


def settled(values: Floats, units: Floats | float | None = None) -> Floats:
    """Return computed values as multiples of a unit, so that those that differ by rounding errors alone are equal.

    The unit is that of the values, see `smallest_units`, unless others are given.

    Ranks, steps and knots of curves would depend on the processor otherwise: predictions from categories have few
    different values.
    """
    step = smallest_units(np.ptp(values)) if units is None else units
    multiples: Floats = np.rint(values / step) * step
    return multiples


def cosines(values: Floats, first: int, last: int) -> Floats:
    """Return cos(k pi u) for k from `first` to `last`, where u is the position of a value in the range of all."""
    low, high = values.min(), values.max()
    position = (values - low) / (high - low if high > low else 1.0)
    waves: Floats = np.cos(np.pi * position[:, np.newaxis] * np.arange(first, last + 1))
    return waves


def indicators(values: Floats) -> Floats:
    """Return an indicator per value but the first; rare values share the first's place. One value has its own."""
    distinct, counts = np.unique(values, return_counts=True)
    frequent = np.sort(distinct[np.argsort(-counts, kind="stable")[:_MAX_LEVELS]])
    kept = frequent if frequent.size < distinct.size or frequent.size == 1 else frequent[1:]
    return np.asarray(values[:, np.newaxis] == kept, dtype=np.float64)


@dataclass(frozen=True)
class Filled:
    """A column whose missing values are replaced by its mean, and where they were."""

    values: Floats
    is_missing: NDArray[np.bool_]

    @classmethod
    def of(cls, column: Floats) -> Filled:
        """Fill a column."""
        is_missing = np.isnan(column)
        if not is_missing.any():
            return cls(column, is_missing)
        known = column[~is_missing]
        size = np.abs(known).max(initial=0.0) or 1.0
        mean = float((known / size).mean() * size) if known.size else 0.0
        return cls(np.where(is_missing, mean, column), is_missing)

    @property
    def missing_column(self) -> Floats:
        """The indicator of missing values, shape (n_rows, 1), or (n_rows, 0) where there are none."""
        return self.is_missing[:, np.newaxis][:, : int(self.is_missing.any())].astype(np.float64)


@dataclass(frozen=True)
class GivenColumn:
    """What a conditioning column contributes to a design.

    Attributes
    ----------
    lines : ndarray of shape (n_rows, n_lines)
        The values and where they are missing, or the indicators of categories.

    steps : ndarray of shape (n_rows, n_steps)
        Indicators of few values.

    scores : ndarray of shape (n_rows,) or None
        The normal scores of many values, which have cosines as curves.

    factors : ndarray of shape (n_rows, n_factors)
        What products are made of: the normal scores, or indicators.
    """

    lines: Floats
    steps: Floats
    scores: Floats | None
    factors: Floats

    def simpler(self) -> GivenColumn:
        """Return the column with fewer factors: its line, or the indicators of a few levels."""
        is_number = self.steps.shape[1] > 0
        return replace(
            self, factors=unit(self.lines[:, :1]) if is_number else self.factors[:, :_FEWER_LEVELS]
        )

    def curves(self, most: int) -> Floats:
        """Return up to `most` curves: the smoothest cosines of the scores, or steps. One curve is none."""
        if most < 2:
            return self.steps[:, :0]
        if self.scores is None:
            return self.steps[:, :most]
        if self.scores.size <= _MOST_KEPT:
            return self._waves[:, :most]
        return _waves_of(self.scores, min(most, _most_waves(self.scores.size)))

    @cached_property
    def _waves(self) -> Floats:
        assert self.scores is not None
        return _waves_of(self.scores, _most_waves(self.scores.size))

    @cached_property
    def places(self) -> Floats:
        """The ranks of each factor, between 0 and 1."""
        return np.asarray((rankdata(self.factors, axis=0) - 0.5) / len(self.factors))

    @cached_property
    def values(self) -> Floats:
        """The values or indicators of each factor, with mean 0 and variance 1."""
        return unit(self.lines[:, :1]) if self.scores is not None else self.factors

    @classmethod
    def of(cls, column: Floats, is_category: bool) -> GivenColumn:
        """Make the regressors of a column; codes of categories have no order."""
        filled = Filled.of(column)
        nothing = np.empty((column.size, 0))
        if is_category:
            levels = indicators(np.where(filled.is_missing, -1.0, column))
            most = np.sort(np.argsort(-levels.sum(axis=0), kind="stable")[:_MAX_LEVELS_IN_PRODUCTS])
            return cls(unit(levels) * _LEVEL, nothing, None, unit(levels[:, most]))
        line = unit(filled.values[:, np.newaxis])
        lines = np.hstack([line, unit(filled.missing_column)]) * _LINE
        n_values = np.unique(filled.values).size
        if n_values <= _FEW_VALUES:
            steps = unit(indicators(filled.values)) if n_values > 2 else nothing
            return cls(lines, steps * _LEVEL, None, steps if n_values > 2 else line)
        scores = normal_scores(filled.values)
        return cls(lines, nothing, scores, unit(scores[:, np.newaxis]))


def _most_waves(n_rows: int) -> int:
    """Return how many cosines a column has at most."""
    return int(np.clip(round(1.3 * n_rows ** (1 / 3)), 5, _MAX_CURVES))


def _waves_of(scores: Floats, n_waves: int) -> Floats:
    return unit(cosines(scores, 1, n_waves)) * (_CURVE / np.arange(1, n_waves + 1))


def design_of(columns: Sequence[GivenColumn]) -> Floats:
    """Return the regressors of all conditioning columns, shape (n_rows, n_regressors).

    Every column has a line and as many curves as the rows allow. Where the columns are few, there are also the products
    of any two, and curves of their sums and differences.
    """
    n_rows = len(columns[0].lines)
    room = int(min(_MOST_PER_ROW * n_rows, _MOST_REGRESSORS, _MOST_VALUES / n_rows))
    n_curves = int(min(_CURVES_PER_ROW * n_rows, _CURVES_OF_ALL * room) / len(columns))
    n_curves = max(n_curves, 2 * (2 * len(columns) * _ROWS_PER_CURVE <= n_rows))
    curves = [column.curves(n_curves) for column in columns]
    parts = [*(column.lines for column in columns), *curves]
    room -= sum(part.shape[1] for part in curves)
    parts += together(columns, room)
    if len(columns) > 2:
        parts.append(_common_curve(side_by_side([column.factors for column in columns])))
    return side_by_side(parts)


def together(columns: Sequence[GivenColumn], room: int) -> list[Floats]:
    """Return regressors made of two and three columns: products, slopes that change, waves, sums and differences.

    Parameters
    ----------
    room : int
        The number of regressors that there may be. Those that do not fit are left out, the most complicated first.
    """
    n_rows = len(columns[0].lines)
    owners = np.repeat(np.arange(len(columns)), [column.factors.shape[1] for column in columns])
    n_pairs = (owners.size**2 - (np.bincount(owners) ** 2).sum()) // 2
    if n_pairs > room:
        # Where the products of all values and levels do not fit, those of lines and of the first levels may.
        columns = [column if column.scores is not None else column.simpler() for column in columns]
        owners = np.repeat(np.arange(len(columns)), [column.factors.shape[1] for column in columns])
        n_pairs = (owners.size**2 - (np.bincount(owners) ** 2).sum()) // 2
    if not 0 < n_pairs <= room:
        return []
    factors = np.hstack([column.factors for column in columns])
    i, j = (where[owners[where_j] != owners[where]] for where, where_j in _both_ways(owners.size))
    products = unit(factors[:, i] * factors[:, j])
    parts = [products * _PRODUCT]
    room -= i.size
    lines = np.hstack([column.values for column in columns])
    of_values = unit(lines[:, i] * lines[:, j])
    differs = np.abs((of_values * products).mean(axis=0)) < _SAME
    if differs.sum() <= room:
        parts.append(of_values[:, differs] * _PRODUCT)
        room -= int(differs.sum())
    n_waves = _SLOPE_WAVES * (1 + (n_rows >= _MANY_ROWS))
    if 2 * i.size * n_waves <= room // 2:
        parts += _changing_slopes(lines, factors, i, j, n_waves)
        room -= 2 * i.size * n_waves
    triples = _triples(factors, owners)
    if 0 < triples.shape[1] <= room // 2:
        parts.append(triples * _PRODUCT)
        room -= triples.shape[1]
    if i.size * len(_TILES) <= room // 8:
        parts += _tiles(factors, i, j)
        room -= i.size * len(_TILES)
    return parts + _directions(factors, i, j, room)


def _changing_slopes(
    lines: Floats, factors: Floats, i: NDArray[np.intp], j: NDArray[np.intp], n_waves: int
) -> list[Floats]:
    """Return lines of each column times waves of each other: slopes that change along a curve."""
    waves = [cosines(factor, 2, n_waves + 1) for factor in factors.T]
    scale = _PRODUCT / np.arange(1, n_waves + 1)
    return [
        unit(lines[:, [one]] * waves[other]) * scale
        for a, b in zip(i, j, strict=True)
        for one, other in ((a, b), (b, a))
    ]


def _triples(factors: Floats, owners: NDArray[np.intp]) -> Floats:
    """Return the products of three columns each; none where there are more than a few columns."""
    some = list(combinations(range(owners.size), 3)) if owners.size <= _MOST_FOR_TRIPLES else []
    apart = [triple for triple in some if len(set(owners[list(triple)])) == 3]
    products = [factors[:, list(triple)].prod(axis=1) for triple in apart]
    return unit(np.stack(products, axis=1)) if products else np.empty((len(factors), 0))


def _common_curve(factors: Floats) -> Floats:
    """Return a curve of what the columns have most in common: their first principal component."""
    is_wide = factors.shape[1] > factors.shape[0]
    vector = np.linalg.eigh(factors @ factors.T if is_wide else factors.T @ factors)[1][:, -1]
    largest = factors.T @ vector if is_wide else vector
    # An eigenvector has either sign; the waves of odd numbers would change theirs.
    common = factors @ (largest * np.sign(largest[np.abs(largest).argmax()]))
    n_waves = _MAX_DIRECTIONS
    return unit(cosines(normal_scores(settled(common)), 1, n_waves)) * (_CURVE / np.arange(1, n_waves + 1))


def _both_ways(n: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    i, j = np.tril_indices(n, -1)
    return [(i, j), (j, i)]


def _tiles(factors: Floats, i: NDArray[np.intp], j: NDArray[np.intp]) -> list[Floats]:
    """Return products of waves of two columns."""
    waves = [cosines(factor, 1, max(max(tile) for tile in _TILES)) for factor in factors.T]
    return [
        unit(np.stack([waves[a][:, k - 1] * waves[b][:, m - 1] for k, m in _TILES], axis=1)) * _TILE_SCALES
        for a, b in zip(i, j, strict=True)
    ]


def _directions(factors: Floats, i: NDArray[np.intp], j: NDArray[np.intp], room: int) -> list[Floats]:
    """Return curves of the sums and differences of two columns each, without their lines."""
    n_waves = min(_MAX_DIRECTIONS, round(0.8 * len(factors) ** (1 / 3)), room // (2 * i.size))
    if n_waves < 3:
        return []
    scale = _CURVE / np.arange(2, n_waves + 1)
    return [
        unit(cosines(factors[:, a] + sign * factors[:, b], 2, n_waves)) * scale
        for a, b in zip(i, j, strict=True)
        for sign in (1.0, -1.0)
    ]
