"""A second look at residuals, with other learners, for dependence on the conditioning columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy import special

from ppfs._conventions import Floats, as_many_as_fit, mean_ranks
from ppfs.independence._predictive.residuals.curves import BY_ALL, BY_BLOCKS, fits_of
from ppfs.independence._predictive.residuals.index import (
    Features,
    Index,
    Learned,
    Pair,
    best_steps,
    learned_sum,
)
from ppfs.independence._predictive.residuals.regressors import (
    GivenColumn,
    cosines,
    normal_scores,
    settled,
    side_by_side,
    together,
    unit,
)
from ppfs.independence._predictive.residuals.smoother import Smoother
from ppfs.independence._predictive.residuals.stumps import Stumps

# The chance that a residual without any dependence on the columns is called dependent; and that its fit is improved,
# which does no harm but take time.
LEVEL, LEVEL_TO_IMPROVE = 0.01, 0.1

# Cells by the number of rows: of two columns (fewest rows, bins per column), and of one, wide and narrow ones.
_BINS_OF_TWO = ((60, 3), (150, 4), (150, 6), (400, 8))
_ROWS_PER_CELL = ((25, 4, 12), (6, 8, 48))

# Kinds of cells: by fitted values, and by one, two and three columns.
_KINDS = 4

# Regressors made of the clearest pair of columns, where the design has no room for those of all pairs.
_ROOM_OF_A_PAIR = 40

# The variance of a cell is at least this share of that of all rows.
_LEAST_SPREAD = 0.25

# Pairs and triples of columns that are looked at: of all, those whose product is most correlated with the residual.
# Products of three are made of at most this many columns.
_PAIRS, _TRIPLES, _MOST_FOR_TRIPLES = 10, 3, 12

# This many columns are looked at one by one.
_MOST_COLUMNS = 100

# What enters the design of all responses: what is fitted to the residual, the fitted values with it, waves and steps of
# these, and of learned indices.
FIT_SCALE, _WAVE_SCALE, _WAVES = 6.0, 2.0, 6

# Waves of the fitted values, which are fitted to the residual beside the learned indices.
_FITTED_WAVES, _FITTED_SCALE = 10, 3.0

# The values that are added up at once, and the most rows of which cells are kept.
_VALUES_AT_ONCE, _MOST_KEPT = 2**20, 10_000

Cells = NDArray[np.intp]


@dataclass(frozen=True)
class Found:
    """What a residual still depends on.

    Attributes
    ----------
    pvalue : float
        That of the clearest check, times the number of checks.

    cells : ndarray of int, shape (n_rows,)
        The cell of each row, of those that show it most clearly.

    column : int or None
        The factor that it depends on most.

    pair : pair of int or None
        The pair of factors that it depends on most.
    """

    pvalue: float
    cells: Cells
    column: int | None
    pair: tuple[int, ...] | None

    @property
    def is_clear(self) -> bool:
        """Whether that is beyond doubt."""
        return self.pvalue <= LEVEL


class SecondLook:
    """Looks for dependence that the design of some columns could not express.

    Parameters
    ----------
    roots : ndarray of shape (n_rows,)
        The roots of the rows' weights.
    """

    def __init__(self, columns: list[GivenColumn], roots: Floats) -> None:
        self._columns = columns
        # The normal scores, or indicators, and their values instead of the scores.
        self._factors = factors = side_by_side([column.factors for column in columns])
        self._values = side_by_side([column.values for column in columns])
        self._features = Features(self._values)
        self._owners = owners = np.repeat(
            np.arange(len(columns)), [column.factors.shape[1] for column in columns]
        )
        self._roots = roots
        self._n_rows, n_factors = factors.shape
        self._bins = [bins for least, bins in _BINS_OF_TWO if self._n_rows >= least][-2:]
        self._places = side_by_side([column.places for column in columns])
        self._known_cells: dict[tuple[tuple[int, ...], int], Cells] = {}
        self._signs = np.sign(self._places - 0.5)
        self._bins_of_one = sorted(
            {int(np.clip(self._n_rows // rows, least, most)) for rows, least, most in _ROWS_PER_CELL}
        )
        n_ones = min(self._places.shape[1], _MOST_COLUMNS)
        self._ones = [((column,), bins) for column in range(n_ones) for bins in self._bins_of_one]
        self._divisions: Divisions | None = None
        self._stumps = Stumps(self._places)
        self._pairs = _apart(owners, 2)
        self._triples = _apart(owners, 3) if n_factors <= _MOST_FOR_TRIPLES else self._pairs[:0]

    def predicted(self, response: Floats) -> tuple[Floats, Floats]:
        """Predict a response by other learners: a step function per column, and a curve of a sum of all columns.

        Returns
        -------
        left_out, fitted : ndarray of shape (n_rows, n_learners)
            Predictions by rows of other blocks, and by all rows.
        """
        left_out, fitted = self._stumps.of(response)
        fits = fits_of(self._n_rows, BY_BLOCKS + BY_ALL)
        curve = learned_sum(self._features, response, fits, most_changes=0).fitted
        return np.column_stack([left_out, fits.left_out(curve)]), np.column_stack([fitted, curve[-1]])

    def find(self, residual: Floats, fitted: Floats) -> Found | None:
        """Return what a residual still depends on, or None.

        The rows are divided into cells, by up to three columns or by the fitted values. Within a cell the residuals of
        a right model add up to zero up to chance, whatever their spread.
        """
        fitted_places = (mean_ranks(fitted) - 0.5) / self._n_rows
        n_columns = self._places.shape[1]
        twos = product(_promising(self._pairs, self._factors, residual, _PAIRS), self._bins)
        threes = product(_promising(self._triples, self._signs, residual, _TRIPLES), (2,))
        looks: list[tuple[tuple[int, ...], Cells]] = [((), _cells(fitted_places, self._bins_of_one[0]))]
        looks += [(some, self._cells(some, bins)) for some, bins in chain(self._ones, twos, threes)]
        # By the number of columns, each kind of cells has the same share of the level.
        n_checks = _KINDS * np.array(
            [1, n_columns * len(self._bins_of_one), len(self._pairs) * len(self._bins), len(self._triples)]
        )
        of_looks = n_checks[[len(some) for some, _ in looks]]
        pvalues = of_looks * self._pvalues(residual, [cells for _, cells in looks])
        order = np.argsort(pvalues, kind="stable")
        if pvalues[order[0]] > LEVEL_TO_IMPROVE:
            return None
        clear = [looks[k][0] for k in order if pvalues[k] <= LEVEL_TO_IMPROVE]
        column = next((some[0] for some in clear if len(some) == 1), None)
        pair = next((looks[k][0] for k in order if len(looks[k][0]) == 2), None)
        return Found(float(pvalues[order[0]]), looks[order[0]][1], column, pair)

    def _pvalues(self, residual: Floats, cells: Sequence[Cells]) -> Floats:
        """Return the p-values of some divisions of the rows, of which the second and following are by one column."""
        n_ones, at_once = len(self._ones), as_many_as_fit(_VALUES_AT_ONCE, self._n_rows)
        if n_ones <= at_once:
            if self._divisions is None:
                self._divisions = Divisions(np.stack(cells[1 : 1 + n_ones]))
            others = _pvalues(residual, np.stack([cells[0], *cells[1 + n_ones :]]))
            return np.concatenate([others[:1], self._divisions.pvalues(residual), others[1:]])
        parts = [cells[first : first + at_once] for first in range(0, len(cells), at_once)]
        return np.concatenate([_pvalues(residual, np.stack(part)) for part in parts])

    def _cells(self, columns: tuple[int, ...], n_bins: int) -> Cells:
        """Return the cell of each row, of bins of some columns. Of a short table they are kept for other residuals."""
        if self._n_rows > _MOST_KEPT:
            return self._new_cells(columns, n_bins)
        key = columns, n_bins
        if key not in self._known_cells:
            self._known_cells[key] = self._new_cells(columns, n_bins)
        return self._known_cells[key]

    def _new_cells(self, columns: tuple[int, ...], n_bins: int) -> Cells:
        cells = np.zeros(self._n_rows, dtype=np.intp)
        for column in columns:
            cells = cells * n_bins + _cells(self._places[:, column], n_bins)
        return cells

    def regressors(self, residual: Floats, fitted: Floats, found: Found, is_left_out: bool) -> Floats:
        """Fit what is left of a residual, and return columns that let a design express it: first, what was fitted.

        Of a class, each row has what rows of other blocks predict, and the columns hold that prediction only: a class
        that the columns nearly separate would be fitted exactly, and nothing would be left of it for x to explain.
        """
        learned = [_shapes(*one) for one in self._learned(residual, fitted, found, is_left_out)]
        scale = _FITTED_SCALE / np.sqrt(np.arange(1, _FITTED_WAVES + 1))
        waves = unit(cosines(normal_scores(settled(fitted)), 1, _FITTED_WAVES)) * scale
        levels = unit((found.cells[:, np.newaxis] == np.unique(found.cells)).astype(np.float64))
        smoother = Smoother(np.hstack([waves, *learned, levels]), self._roots)
        centered = residual[:, np.newaxis] - residual.mean()
        left = smoother.residuals(centered)
        rest = centered[:, 0] - (smoother.left_out(left) if is_left_out else left.values[:, 0])
        total = fitted + rest
        stacked = unit(np.column_stack([rest, total])) * FIT_SCALE
        if is_left_out:
            return stacked
        return np.hstack(
            [stacked, _shapes(fitted + residual, total, total), *learned, levels, *self._of_pair(found)]
        )

    def _of_pair(self, found: Found) -> list[Floats]:
        """Return regressors made of the clearest pair, unless two columns are all that there are."""
        if found.pair is None or len(self._columns) <= 2:
            return []
        return together([self._columns[self._owners[one]] for one in found.pair], _ROOM_OF_A_PAIR)

    def _learned(
        self, residual: Floats, fitted: Floats, found: Found, is_left_out: bool
    ) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Learn indices of the columns: a sum of all, the clearest one, and one of the clearest pair.

        Yields
        ------
        response, index, fitted : ndarray of shape (n_rows,)
            What the index was fitted to, the index, and the curve of it.
        """
        n, response = self._n_rows, fitted + residual
        fits = fits_of(n, BY_BLOCKS if is_left_out else BY_ALL)

        def of_rows(learned: Learned) -> tuple[Floats, Floats]:
            return learned.of_rows(fits) if is_left_out else (learned.index[0], learned.fitted[0])

        yield response, *of_rows(learned_sum(self._features, response, fits))
        if found.column is not None:
            alone = Index(self._values[:, found.column], Features(np.empty((n, 0))))
            yield residual, *of_rows(alone.learned(residual, fits))
        if found.pair is not None:
            left, index = Pair(*self._values[:, found.pair].T).best((residual, response))
            yield left, *of_rows(index.learned(left, fits))


def is_class(response: Floats, roots: Floats) -> bool:
    """Return whether a response has two values, before it was multiplied by the roots of weights."""
    return bool(np.unique(np.round(response / roots, 9)).size == 2)


class Divisions:
    """Divisions of the rows into cells, in which many residuals are added up: by products with a sparse matrix.

    Parameters
    ----------
    cells : ndarray of int, shape (n_divisions, n_rows)
    """

    def __init__(self, cells: Cells) -> None:
        numbers, self._shape = _numbered(cells)
        counts = np.bincount(numbers, minlength=math.prod(self._shape))
        # The rows of each cell in their order, in which `numpy.bincount` adds up too. Small integers are sorted faster.
        rows = np.argsort(cells.astype(np.uint16), axis=1, kind="stable").ravel()
        ends = np.concatenate([[0], counts.cumsum()])
        self._matrix = sp.csr_array((np.ones(rows.size), rows, ends), shape=(counts.size, cells.shape[1]))
        self._counts = counts.reshape(self._shape)

    def pvalues(self, residual: Floats) -> Floats:
        """Return the p-value of each division."""
        square = residual**2
        sums, squares = ((self._matrix @ values).reshape(self._shape) for values in (residual, square))
        return _pvalues_of(sums, squares, self._counts, float(square.mean()))


def _pvalues(residual: Floats, cells: Cells) -> Floats:
    """Return the p-value of each division of the rows into cells, shape (n_divisions, n_rows)."""
    square, (numbers, shape) = residual**2, _numbered(cells)

    def added_up(values: Floats) -> Floats:
        repeated = np.broadcast_to(values, cells.shape).ravel()
        return np.asarray(np.bincount(numbers, repeated, math.prod(shape)).reshape(shape))

    counts = np.bincount(numbers, minlength=math.prod(shape)).reshape(shape)
    return _pvalues_of(added_up(residual), added_up(square), counts, float(square.mean()))


def _numbered(cells: Cells) -> tuple[Cells, tuple[int, int]]:
    """Return numbers that cells of different divisions do not share, and the numbers of divisions and of cells."""
    shape = len(cells), int(cells.max()) + 1
    return (cells + shape[1] * np.arange(shape[0])[:, np.newaxis]).ravel(), shape


def _pvalues_of(sums: Floats, squares: Floats, counts: Cells, mean_square: float) -> Floats:
    """Return the p-value of each division, from the sums of residuals and of squares in its cells."""
    # Cells without spread, as of a class that is certain there, would show errors that are too small to matter.
    squares = np.maximum(squares, _LEAST_SPREAD * mean_square * counts)
    filled = squares > 0.0
    terms = np.divide(sums**2, squares, out=np.zeros(sums.shape), where=filled)
    statistics = [part[kept].sum() for part, kept in zip(terms, filled, strict=True)]
    return np.asarray(special.chdtrc(filled.sum(axis=1), statistics))


def _shapes(response: Floats, index: Floats, fitted: Floats) -> Floats:
    """Return regressors made of an index: the curve that was fitted to a response, waves, and steps."""
    index = settled(index)
    waves = unit(cosines(normal_scores(index), 1, _WAVES)) * _WAVE_SCALE
    return np.hstack(
        [unit(fitted[:, np.newaxis]) * FIT_SCALE, waves, unit(best_steps(response, index)) * FIT_SCALE]
    )


def _apart(owners: NDArray[np.intp], n_together: int) -> NDArray[np.intp]:
    """Return the sets of factors that belong to different columns, a row each."""
    if n_together == 2:
        sets = np.column_stack(np.triu_indices(owners.size, 1))
    else:
        sets = np.array(list(combinations(range(owners.size), n_together)), dtype=np.intp)
    sets = sets.reshape(-1, n_together)
    if np.unique(owners).size == owners.size:
        return sets
    of_sets = np.sort(owners[sets], axis=1)
    apart: NDArray[np.intp] = sets[(of_sets[:, 1:] != of_sets[:, :-1]).all(axis=1)]
    return apart


def _promising(sets: NDArray[np.intp], factors: Floats, residual: Floats, most: int) -> list[tuple[int, ...]]:
    """Return the sets to look at: all of few, else those whose product is most correlated with the residual."""
    if len(sets) > most:
        products = np.abs(_product_sums(sets, factors, residual))
        # There may be a quarter of a million: only those that can be among the first are sorted.
        first = np.flatnonzero(products >= np.partition(products, -most)[-most])
        sets = sets[first[np.argsort(-products[first], kind="stable")[:most]]]
    return [tuple(int(one) for one in some) for some in sets]


def _product_sums(sets: NDArray[np.intp], factors: Floats, residual: Floats) -> Floats:
    """Return the sums over rows of the residual times the factors of each set."""
    if sets.shape[1] == 2:
        sums: Floats = factors.T @ (residual[:, np.newaxis] * factors)
        return sums[sets[:, 0], sets[:, 1]]
    return np.asarray(residual @ factors[:, sets].prod(axis=2))


def _cells(places: Floats, n_bins: int) -> NDArray[np.intp]:
    """Return the bin of each row, of bins with equally many rows."""
    return np.minimum((places * n_bins).astype(np.intp), n_bins - 1)
