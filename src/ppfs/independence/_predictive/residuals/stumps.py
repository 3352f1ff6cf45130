"""Sums of steps, one function per column, boosted by rows of other blocks."""

from __future__ import annotations

import numpy as np

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.smoother import BLOCKS

# Steps are at the bounds of this many bins with equally many rows; each round adds a share of the step that explains
# most of what is left, with at least this many rows on either side.
_BINS, _ROUNDS, _SHARE, _FEWEST_ROWS = 40, 30, 0.4, 5

# One fit without each block, and one of all rows: as many as the kernel makes.
_FITS = BLOCKS + 1


class Stumps:
    """Boosts steps of columns, one at a time, for all blocks of rows at once.

    Lines, curves and products approximate a step worst: smooth functions oscillate beside it.

    Parameters
    ----------
    places : ndarray of shape (n_rows, n_columns)
        The ranks of the values, between 0 and 1.
    """

    def __init__(self, places: Floats) -> None:
        self._n_rows, self._n_columns = places.shape
        n_bins = int(np.clip(self._n_rows // _FEWEST_ROWS, 2, _BINS))
        self._n_bins = n_bins
        self._bins = np.ascontiguousarray(np.minimum((places * n_bins).astype(np.uint8), n_bins - 1))
        # The last fit has all rows.
        is_seen = (np.arange(self._n_rows) % BLOCKS)[:, np.newaxis] != np.arange(_FITS)
        self._is_seen = is_seen.astype(np.float64)
        self._below = self._n_seen_below()
        above = self._below[:, -1:] - self._below
        self._is_cut = (self._below >= _FEWEST_ROWS) & (above >= _FEWEST_ROWS)

    def _n_seen_below(self) -> Floats:
        """Return how many rows of each fit are in each bin of a column or below: (n_columns, n_bins, n_fits)."""
        size = self._n_columns * self._n_bins
        # Each pair of a column and a bin has one number.
        numbers = self._bins + np.arange(self._n_columns) * self._n_bins
        blocks = np.stack(
            [np.bincount(numbers[first::BLOCKS].ravel(), minlength=size) for first in range(BLOCKS)], axis=1
        )
        every = blocks.sum(axis=1, keepdims=True)
        counts = np.hstack([every - blocks, every]).reshape(self._n_columns, self._n_bins, _FITS)
        return counts.cumsum(axis=1).astype(np.float64)

    def of(self, response: Floats) -> tuple[Floats, Floats]:
        """Return the function of each column at each row: learned from rows of other blocks, and from all rows.

        Returns
        -------
        left_out, fitted : ndarray of shape (n_rows, n_columns)
        """
        heights = np.zeros((self._n_columns, self._n_bins, _FITS))
        left = (response - response.mean())[:, np.newaxis] * self._is_seen
        _engine.boost_stumps(
            self._bins,
            _ROUNDS,
            _SHARE,
            left,
            self._is_seen,
            self._below,
            self._is_cut,
            np.empty(heights.shape),
            heights,
        )
        columns, last = np.arange(self._n_columns), np.full(self._n_rows, BLOCKS)
        left_out, fitted = (
            heights[columns, self._bins, of_row[:, np.newaxis]]
            for of_row in (np.arange(self._n_rows) % BLOCKS, last)
        )
        return left_out, fitted
