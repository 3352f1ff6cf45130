"""A second look at residuals, with other learners, for dependence on the conditioning columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special
from scipy.stats import rankdata

from ppfs._conventions import Floats
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

# What is fitted to a residual that depends on the columns: waves of the fitted values, of the sum and the difference of
# the two columns, bumps of two columns, and quarters of their plane.
_SCORE_WAVES, _PAIR_WAVES, _MOST_BUMPS, _ROWS_PER_BUMP, _BUMP_WIDTH, _QUARTERS = 10, 8, 100, 4, 0.45, 4
_SLOPE_RATE, _LARGEST_SLOPE = 0.7, 5.0

# What enters the design of all responses: the fitted rest, the fitted values with it, and waves and steps of these.
_REST_SCALE, _WAVE_SCALE, _REST_WAVES, _STEPS = 6.0, 2.0, 6, 3

Pair = tuple[int, int]


@dataclass(frozen=True)
class Found:
    """What a residual still depends on.

    Attributes
    ----------
    pairs : tuple of pairs of int
        Pairs of factors, the clearest first.

    is_clear : bool
        Whether that is beyond doubt.
    """

    pairs: tuple[Pair, ...]
    is_clear: bool


class SecondLook:
    """Looks for dependence that the design of some columns could not express.

    Parameters
    ----------
    factors : ndarray of shape (n_rows, n_factors)
        The normal scores, or indicators, of the columns.

    owners : ndarray of int, shape (n_factors,)
        The number of the column that each factor belongs to.

    roots : ndarray of shape (n_rows,)
        The roots of the rows' weights.
    """

    def __init__(self, factors: Floats, owners: NDArray[np.intp], roots: Floats) -> None:
        self._factors = factors
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
        for place in self._places.T if self._places.shape[1] <= _PAIRS else ():
            checks.append((self._pvalue(residual, _cells(place, n_bins)), None))
        for a, b in self._promising(residual):
            for bins in self._bins:
                cells = _cells(self._places[:, a], bins) * bins + _cells(self._places[:, b], bins)
                checks.append((self._pvalue(residual, cells), (a, b)))
        n_checks = 1 + self._places.shape[1] + len(self._pairs) * len(self._bins)
        shown = [check for check in checks if check[0] * n_checks <= _LEVEL_TO_IMPROVE]
        if not shown:
            return None
        shown.sort(key=lambda check: check[0])
        pairs = tuple(dict.fromkeys(pair for _, pair in shown if pair is not None))
        return Found(pairs, shown[0][0] * n_checks <= _LEVEL)

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
        parts = [self._score_waves(fitted), self._turned(residual, fitted)]
        if found.pairs:
            parts += self._of_pair(*found.pairs[0])
            parts += self._quarters(residual, found.pairs[:2])
        smoother = Smoother(np.hstack(parts), self._roots)
        centered = residual[:, np.newaxis] - residual.mean()
        left = smoother.residuals(centered)
        # Classes that are nearly certain would be fitted exactly: each row as rows of other blocks predict it.
        is_class = np.unique(np.round((fitted + residual) / self._roots, 9)).size == 2
        rest = centered - (smoother.left_out(left)[:, np.newaxis] if is_class else left.values)
        total = unit(fitted[:, np.newaxis] + rest)
        waves = unit(cosines(normal_scores(total[:, 0]), 1, _REST_WAVES))
        steps = _best_steps(fitted + residual, total[:, 0])
        return np.hstack(
            [unit(rest) * _REST_SCALE, total * _REST_SCALE, waves * _WAVE_SCALE, steps * _REST_SCALE]
        )

    def _score_waves(self, fitted: Floats) -> Floats:
        return self._waves(fitted, _SCORE_WAVES) * 3.0

    def _waves(self, values: Floats, n_waves: int) -> Floats:
        scale: Floats = 1.0 / np.sqrt(np.arange(1, n_waves + 1))
        return unit(cosines(normal_scores(values), 1, n_waves)) * scale

    def _turned(self, residual: Floats, fitted: Floats) -> Floats:
        """Return how a curve of the fitted values changes when their direction turns: its slope times each factor."""
        waves = cosines(normal_scores(fitted), 0, _SCORE_WAVES)
        curve = waves @ np.linalg.lstsq(waves, fitted + residual, rcond=None)[0]
        order = np.argsort(fitted, kind="stable")
        near = max(2, self._n_rows // 40)
        ahead, behind = order[2 * near :], order[: -2 * near]
        run = np.maximum(fitted[ahead] - fitted[behind], 1e-9 * max(float(fitted.std()), 1e-300))
        slope = np.zeros(self._n_rows)
        slope[order[near : self._n_rows - near]] = np.clip(
            (curve[ahead] - curve[behind]) / run, -_LARGEST_SLOPE, _LARGEST_SLOPE
        )
        return unit(slope[:, np.newaxis] * self._factors) * 2.0

    def _of_pair(self, a: int, b: int) -> list[Floats]:
        """Return waves of the sum and the difference of two factors, and bumps at some of the rows."""
        first, second = self._factors[:, a], self._factors[:, b]
        n_bumps = min(_MOST_BUMPS, self._n_rows // _ROWS_PER_BUMP)
        centers = np.arange(n_bumps) * self._n_rows // n_bumps
        away = (first[:, np.newaxis] - first[centers]) ** 2 + (second[:, np.newaxis] - second[centers]) ** 2
        bumps = np.exp(-away / (2.0 * _BUMP_WIDTH**2))
        return [
            self._waves(first - second, _PAIR_WAVES) * 2.0,
            self._waves(first + second, _PAIR_WAVES) * 2.0,
            unit(bumps),
        ]

    def _quarters(self, residual: Floats, pairs: tuple[Pair, ...]) -> list[Floats]:
        """Return the indicators of quarters of the plane of a pair, each fitted to what the earlier ones leave."""
        left = residual.copy()
        parts = []
        for _ in range(_QUARTERS):
            is_low = max(
                (_best_quarters(left, self._factors[:, a], self._factors[:, b]) for a, b in pairs),
                key=lambda one: one[0],
            )[1:]
            code = is_low[0] * 2 + is_low[1]
            means = np.bincount(code, left, 4) / np.maximum(np.bincount(code, minlength=4), 1)
            left -= _SLOPE_RATE * means[code]
            parts.append(unit(np.column_stack([*is_low, is_low[0] & is_low[1]]).astype(np.float64)) * 4.0)
        return parts


def _cells(places: Floats, n_bins: int) -> NDArray[np.intp]:
    """Return the bin of each row, of bins with equally many rows."""
    return np.minimum((places * n_bins).astype(np.intp), n_bins - 1)


def _best_steps(response: Floats, fitted: Floats) -> Floats:
    """Return steps of the fitted values, each at the threshold that explains most of what the earlier ones leave."""
    left = response - response.mean()
    order = np.argsort(fitted, kind="stable")
    nowhere = np.zeros(left.size, dtype=bool)
    steps = []
    for _ in range(_STEPS):
        is_low = _best_threshold(left, fitted, order, nowhere)[0]
        means = np.bincount(is_low, left, 2) / np.maximum(np.bincount(is_low, minlength=2), 1)
        left = left - means[is_low.astype(np.intp)]
        steps.append(is_low)
    return unit(np.column_stack(steps).astype(np.float64))


def _best_quarters(
    residual: Floats, first: Floats, second: Floats
) -> tuple[float, NDArray[np.bool_], NDArray[np.bool_]]:
    """Return the division of a plane by one threshold per column that explains most, searched one by one."""
    best = -1.0, np.zeros(residual.size, dtype=bool), np.zeros(residual.size, dtype=bool)
    orders = np.argsort(first, kind="stable"), np.argsort(second, kind="stable")
    for start in (0.5, 0.25, 0.75):
        low_second = second <= np.quantile(second, start)
        for _ in range(3):
            low_first, _ = _best_threshold(residual, first, orders[0], low_second)
            low_second, gain = _best_threshold(residual, second, orders[1], low_first)
        if gain > best[0]:
            best = gain, low_first, low_second
    return best


def _best_threshold(
    residual: Floats, column: Floats, order: NDArray[np.intp], is_low: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], float]:
    """Return the rows below the threshold of a column that explains most, beside a division of the rows."""
    n = residual.size
    ordered, low, values = column[order], is_low[order], residual[order]
    sums = np.cumsum(np.column_stack([np.where(low, values, 0.0), np.where(low, 0.0, values)]), axis=0)
    counts = np.cumsum(np.column_stack([low, ~low]), axis=0)
    below = sums**2 / np.maximum(counts, 1)
    above = (sums[-1] - sums) ** 2 / np.maximum(counts[-1] - counts, 1)
    margin = max(5, n // 50)
    is_cut = np.append(ordered[:-1] < ordered[1:], False)
    is_cut[:margin] = is_cut[n - margin :] = False
    gains = np.where(is_cut, (below + above).sum(axis=1), -1.0)
    best = int(gains.argmax())
    return column <= ordered[best], float(gains[best])
