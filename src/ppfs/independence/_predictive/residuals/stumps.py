"""Sums of steps, one function per column, boosted by rows of other blocks."""

from __future__ import annotations

import numpy as np

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.smoother import BLOCKS

# Steps are at the bounds of this many bins with equally many rows; each of so many rounds adds a share of the step that
# explains most of what is left, with at least so many rows on either side.
_BINS, _ROUNDS, _SHARE, _FEWEST_ROWS = 40, 30, 0.4, 5

# One fit without each block, and one of all rows.
_FITS = BLOCKS + 1


class Stumps:
    """Boosts steps of columns, one at a time, for all blocks of rows at once.

    A step is where lines, curves and products fail most: whatever is smooth rings beside it.

    Parameters
    ----------
    places : ndarray of shape (n_rows, n_columns)
        The ranks of the values, between 0 and 1.
    """

    def __init__(self, places: Floats) -> None:
        self._n_rows, self._n_columns = places.shape
        n_bins = int(np.clip(self._n_rows // _FEWEST_ROWS, 2, _BINS))
        self._n_bins = n_bins
        self._bins = np.minimum((places.T * n_bins).astype(np.intp), n_bins - 1)
        # The last fit has all rows.
        is_seen = np.arange(self._n_rows) % BLOCKS != np.arange(_FITS)[:, np.newaxis]
        self._is_seen = is_seen.astype(np.float64)
        offsets = np.arange(self._n_columns)[:, np.newaxis] * n_bins
        size = self._n_columns * n_bins
        # Blocks, columns and bins have one number together.
        self._numbers = (self._bins + offsets + size * np.arange(_FITS)[:, np.newaxis, np.newaxis]).ravel()
        counts = self._sums(np.broadcast_to(self._is_seen[:, np.newaxis], self._shape)).cumsum(axis=2)
        self._below, self._above = counts, counts[:, :, -1:] - counts
        self._is_cut = (self._below >= _FEWEST_ROWS) & (self._above >= _FEWEST_ROWS)

    @property
    def _shape(self) -> tuple[int, int, int]:
        return _FITS, self._n_columns, self._n_rows

    def _sums(self, values: Floats) -> Floats:
        sums = np.bincount(self._numbers, values.ravel(), _FITS * self._n_columns * self._n_bins)
        return np.asarray(sums, dtype=np.float64).reshape(_FITS, self._n_columns, self._n_bins)

    def of(self, response: Floats) -> tuple[Floats, Floats]:
        """Return the function of each column at each row: learned from rows of other blocks, and from all rows.

        Returns
        -------
        left_out, fitted : ndarray of shape (n_rows, n_columns)
        """
        fits = np.arange(_FITS)
        left = (response - response.mean()) * self._is_seen
        heights = np.zeros((_FITS, self._n_columns, self._n_bins))
        weight = np.where(self._is_cut, 1.0, np.nan)
        for _ in range(_ROUNDS):
            below = self._sums(np.broadcast_to(left[:, np.newaxis], self._shape)).cumsum(axis=2)
            above = below[:, :, -1:] - below
            with np.errstate(invalid="ignore", divide="ignore"):
                gains = (below**2 / self._below + above**2 / self._above) * weight
            best = np.nan_to_num(gains, nan=-1.0).reshape(_FITS, -1).argmax(axis=1)
            column, cut = np.divmod(best, self._n_bins)
            is_found = self._is_cut[fits, column, cut]
            low = _SHARE * below[fits, column, cut] / np.maximum(self._below[fits, column, cut], 1.0)
            high = _SHARE * above[fits, column, cut] / np.maximum(self._above[fits, column, cut], 1.0)
            step = np.where(
                np.arange(self._n_bins) <= cut[:, np.newaxis], low[:, np.newaxis], high[:, np.newaxis]
            )
            step = step * is_found[:, np.newaxis]
            heights[fits, column] += step
            left -= np.take_along_axis(step, self._bins[column], axis=1) * self._is_seen
        columns, last = np.arange(self._n_columns), np.full(self._n_rows, BLOCKS)
        left_out, fitted = (
            heights[of_row[:, np.newaxis], columns, self._bins.T]
            for of_row in (np.arange(self._n_rows) % BLOCKS, last)
        )
        return left_out, fitted
