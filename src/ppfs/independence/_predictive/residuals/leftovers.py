"""A second look at residuals, with other learners, for dependence on the conditioning columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import rankdata

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.index import PairIndices, best_steps, curve_of, improved
from ppfs.independence._predictive.residuals.regressors import cosines, normal_scores, unit
from ppfs.independence._predictive.residuals.smoother import Smoother

# The chance that a residual without any dependence on the columns is called dependent; and that its fit is improved,
# which does no harm but take time.
_LEVEL, _LEVEL_TO_IMPROVE = 0.01, 0.1

# Cells of two columns by the number of rows: (fewest rows, bins per column).
_BINS = ((60, 3), (150, 4), (150, 6), (400, 8))

# The variance of a cell is at least this share of that of all rows.
_LEAST_SPREAD = 0.25

# Pairs of columns that are looked at: of all pairs, those whose product is most correlated with the residual.
_PAIRS = 10

# This many columns are looked at one by one.
_MOST_COLUMNS = 100

# What enters the design of all responses: what is fitted to the residual, the fitted values with it, waves and steps of
# these, and of learned indices.
_FIT_SCALE, _WAVE_SCALE, _WAVES = 6.0, 2.0, 6

# Waves of the fitted values, which are fitted to the residual beside the learned indices.
_FITTED_WAVES, _FITTED_SCALE = 10, 3.0

# The penalty of the direction that a learned sum begins with, per row.
_PENALTY = 0.03

Pair = tuple[int, int]


@dataclass(frozen=True)
class Found:
    """What a residual still depends on.

    Attributes
    ----------
    pairs : tuple of pairs of int
        Pairs of factors, those that the residual depends on most first.

    column : int or None
        The factor that it depends on most.

    pvalue : float
        That of the clearest check, times the number of checks.
    """

    pairs: tuple[Pair, ...]
    column: int | None
    pvalue: float

    @property
    def is_clear(self) -> bool:
        """Whether that is beyond doubt."""
        return self.pvalue <= _LEVEL


class SecondLook:
    """Looks for dependence that the design of some columns could not express.

    Parameters
    ----------
    factors, values : ndarray of shape (n_rows, n_factors)
        The normal scores, or indicators, of the columns; and their values in the place of the scores.

    owners : ndarray of int, shape (n_factors,)
        The number of the column that each factor belongs to.

    roots : ndarray of shape (n_rows,)
        The roots of the rows' weights.
    """

    def __init__(self, factors: Floats, values: Floats, owners: NDArray[np.intp], roots: Floats) -> None:
        self._factors, self._values = factors, values
        self._roots = roots
        self._n_rows = len(factors)
        self._bins = [bins for least, bins in _BINS if self._n_rows >= least][-2:]
        self._places = (rankdata(factors, axis=0) - 0.5) / self._n_rows
        i, j = np.tril_indices(factors.shape[1], -1)
        apart = owners[i] != owners[j]
        self._pairs = np.column_stack([i[apart], j[apart]])

    def find(self, residual: Floats, fitted: Floats) -> Found | None:
        """Return what a residual still depends on, or None.

        The rows are divided into cells, by two columns or by the fitted values. Within a cell the residuals of a right
        model add up to zero up to chance, whatever their spread.
        """
        checks: list[tuple[float, Pair | None]] = []
        n_bins = int(np.clip(self._n_rows // 25, 4, 12))
        fitted_places = (rankdata(fitted) - 0.5) / self._n_rows
        checks.append((self._pvalue(residual, _cells(fitted_places, n_bins)), None))
        by_column = [
            self._pvalue(residual, _cells(place, n_bins)) for place in self._places.T[:_MOST_COLUMNS]
        ]
        checks += [(pvalue, None) for pvalue in by_column]
        for a, b in self._promising(residual):
            for bins in self._bins:
                cells = _cells(self._places[:, a], bins) * bins + _cells(self._places[:, b], bins)
                checks.append((self._pvalue(residual, cells), (a, b)))
        n_checks = 1 + self._places.shape[1] + len(self._pairs) * len(self._bins)
        checks.sort(key=lambda check: check[0])
        pvalue = checks[0][0] * n_checks
        pairs = tuple(dict.fromkeys(pair for _, pair in checks if pair is not None))
        column = int(np.argmin(by_column)) if min(by_column) * n_checks <= _LEVEL_TO_IMPROVE else None
        return Found(pairs, column, pvalue) if pvalue <= _LEVEL_TO_IMPROVE else None

    def _promising(self, residual: Floats) -> list[Pair]:
        """Return the pairs to look at: all of few, else those whose product is most correlated with the residual."""
        if len(self._pairs) <= _PAIRS:
            return [(int(a), int(b)) for a, b in self._pairs]
        correlation = np.abs(self._factors.T @ (residual[:, np.newaxis] * self._factors))
        order = np.argsort(-correlation[self._pairs[:, 0], self._pairs[:, 1]], kind="stable")[:_PAIRS]
        return [(int(a), int(b)) for a, b in self._pairs[order]]

    def _pvalue(self, residual: Floats, cells: NDArray[np.intp]) -> float:
        square = residual**2
        sums, squares, counts = np.bincount(cells, residual), np.bincount(cells, square), np.bincount(cells)
        # Cells without spread, as of a class that is certain there, would show errors that are too small to matter.
        squares = np.maximum(squares, _LEAST_SPREAD * float(square.mean()) * counts)
        filled = squares > 0.0
        return float(special.chdtrc(filled.sum(), (sums[filled] ** 2 / squares[filled]).sum()))

    def regressors(self, residual: Floats, fitted: Floats, found: Found) -> Floats:
        """Fit what is left of a residual, and return columns that let a design express it: first, what was fitted."""
        learned = [_shapes(*one) for one in self._learned(residual, fitted, found)]
        scale = _FITTED_SCALE / np.sqrt(np.arange(1, _FITTED_WAVES + 1))
        waves = unit(cosines(normal_scores(fitted), 1, _FITTED_WAVES)) * scale
        smoother = Smoother(np.hstack([waves, *learned]), self._roots)
        centered = residual[:, np.newaxis] - residual.mean()
        left = smoother.residuals(centered)
        # Classes that are nearly certain would be fitted exactly: each row as rows of other blocks predict it.
        is_class = np.unique(np.round((fitted + residual) / self._roots, 9)).size == 2
        rest = centered - (smoother.left_out(left)[:, np.newaxis] if is_class else left.values)
        total = fitted + rest[:, 0]
        return np.hstack([unit(rest) * _FIT_SCALE, _shapes(fitted + residual, total, total), *learned])

    def _learned(
        self, residual: Floats, fitted: Floats, found: Found
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Learn indices of the columns: a sum of all, the clearest one, and one of the clearest pair.

        Yields
        ------
        response, index, fitted : ndarray of shape (n_rows,)
            What the index was fitted to, the index, and the curve of it.
        """
        response = fitted + residual
        gram = self._values.T @ self._values
        gram[np.diag_indices_from(gram)] += _PENALTY * self._n_rows
        direction = self._values @ np.linalg.solve(gram, self._values.T @ response)
        yield response, *improved(direction, self._values, response)
        if found.column is not None:
            index = self._values[:, found.column]
            yield residual, index, curve_of(index, residual)
        for a, b in found.pairs[:1]:
            of_pair = PairIndices(self._values[:, a], self._values[:, b])
            both = [(left, *of_pair.best(left)) for left in (residual, response)]
            yield min(both, key=lambda one: float(((one[0] - one[2]) ** 2).sum()))


def _shapes(response: Floats, index: Floats, fitted: Floats) -> Floats:
    """Return regressors made of an index: the curve that was fitted to a response, waves, and steps."""
    waves = unit(cosines(normal_scores(index), 1, _WAVES)) * _WAVE_SCALE
    return np.hstack(
        [unit(fitted[:, np.newaxis]) * _FIT_SCALE, waves, unit(best_steps(response, index)) * _FIT_SCALE]
    )


def _cells(places: Floats, n_bins: int) -> NDArray[np.intp]:
    """Return the bin of each row, of bins with equally many rows."""
    return np.minimum((places * n_bins).astype(np.intp), n_bins - 1)
