"""Curves of several indices, fitted to the rows outside a block each."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.smoother import BLOCKS

# A curve is linear between knots, one for every _ROWS_PER_KNOT rows, which have equally many rows between them.
_FEWEST_KNOTS, _MOST_KNOTS, _ROWS_PER_KNOT = 6, 24, 15

#: The block of rows that each fit leaves out; None leaves out none.
Blocks = Sequence[int | None]

Rows = NDArray[np.bool_] | slice


class Curves:
    """A piecewise linear curve per index, fitted to a response each by penalized least squares.

    Calls of NumPy for short arrays take longer than their work, so all curves are fitted at once. A curve does not
    depend on the others.

    Parameters
    ----------
    indices, responses : ndarray of shape (n_curves, n_rows)

    blocks : sequence of int or None
        The block of rows that each curve is not fitted to.

    is_unit : bool, default=False
        Whether the indices have mean 0 and variance 1 already.

    Attributes
    ----------
    indices : ndarray of shape (n_curves, n_rows)
        With mean 0 and variance 1 over the rows that the curves are fitted to.

    fitted, slopes : ndarray of shape (n_curves, n_rows)
        The heights and slopes at all rows.

    errors : ndarray of shape (n_curves,)
        The sums of squares that they leave of the rows that they are fitted to.
    """

    def __init__(self, indices: Floats, responses: Floats, blocks: Blocks, *, is_unit: bool = False) -> None:
        n_curves, n_rows = indices.shape
        which = [_NO_BLOCK if block is None else block for block in blocks]
        is_seen, counts, places = _blocks_of(n_rows)
        is_seen, counts = is_seen[which], counts[which]
        seen = indices if blocks[0] is None else np.where(is_seen, indices, np.inf)
        offsets = np.arange(0, n_curves * n_rows, n_rows)[:, np.newaxis]
        knots = np.sort(seen, axis=1).ravel()[places[which] + offsets]
        self.indices, self.fitted, self.slopes, self.errors = _engine.fit_curves(
            np.ascontiguousarray(indices), is_seen, responses, knots, counts, is_unit=is_unit
        )

    def put(self, which: NDArray[np.intp], others: Curves, of_them: NDArray[np.intp]) -> None:
        """Replace some curves by some of those of other indices."""
        self.indices[which], self.errors[which] = others.indices[of_them], others.errors[of_them]
        self.fitted[which], self.slopes[which] = others.fitted[of_them], others.slopes[of_them]


# Behind the blocks, the tables of `_blocks_of` have a row without one.
_NO_BLOCK = BLOCKS


@lru_cache(maxsize=16)
def _blocks_of(n_rows: int) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.intp]]:
    """Return for each block which rows are outside of it, the number of knots, and their places among these rows."""
    is_seen = np.arange(n_rows) % BLOCKS != np.arange(BLOCKS + 1)[:, np.newaxis]
    n_seen = is_seen.sum(axis=1).astype(np.int64)
    counts = np.clip(n_seen // _ROWS_PER_KNOT, _FEWEST_KNOTS, _MOST_KNOTS)
    places = np.zeros((BLOCKS + 1, _MOST_KNOTS), dtype=np.intp)
    for own, size, count in zip(places, n_seen.tolist(), counts.tolist(), strict=True):
        own[:count] = np.linspace(0, size - 1, count).astype(np.intp)
    return is_seen, counts, places


@lru_cache(maxsize=64)
def rows_without(block: int | None, n_rows: int) -> Rows:
    """Return the rows outside a block, or all."""
    return slice(None) if block is None else np.arange(n_rows) % BLOCKS != block


@lru_cache(maxsize=64)
def places_without(block: int | None, n_rows: int) -> NDArray[np.intp]:
    """Return the numbers of the rows outside a block, or of all."""
    return np.arange(n_rows)[rows_without(block, n_rows)]
