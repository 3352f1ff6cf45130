"""Steps that a kernel boosts against the same steps found one by one with NumPy."""

import numpy as np
import pytest

from ppfs import _engine
from ppfs._engine.boosting.stumps import N_FITS

N_ROUNDS, SHARE, FEWEST_ROWS = 8, 0.4, 5


def boosted(bins, response, is_seen, n_bins):
    """Return the heights of one fit, by the obvious loops."""
    left = (response - response.mean()) * is_seen
    heights = np.zeros((bins.shape[1], n_bins))
    for _ in range(N_ROUNDS):
        best = (-1.0,)
        for column, cut in np.ndindex(bins.shape[1], n_bins):
            sums, counts = (
                np.bincount(bins[:, column], values, n_bins).cumsum() for values in (left, is_seen)
            )
            n_below, n_above = counts[cut], counts[-1] - counts[cut]
            if min(n_below, n_above) >= FEWEST_ROWS:
                below, above = sums[cut], sums[-1] - sums[cut]
                gain = below**2 / n_below + above**2 / n_above
                if gain > best[0]:
                    best = gain, column, cut, SHARE * below / n_below, SHARE * above / n_above
        if len(best) == 1:
            return heights
        _, column, cut, low, high = best
        step = np.where(np.arange(n_bins) <= cut, low, high)
        heights[column] += step
        left = left - step[bins[:, column]] * is_seen
    return heights


@pytest.mark.parametrize(("n_rows", "n_columns", "n_bins"), [(9, 1, 3), (40, 2, 8), (90, 3, 12)])
def test_steps_are_those_of_the_obvious_loops(n_rows, n_columns, n_bins):
    generator = np.random.default_rng(n_rows)
    bins = generator.integers(0, n_bins, (n_rows, n_columns)).astype(np.uint8)
    response = np.round(generator.standard_normal(n_rows), 1)
    # The fits leave out every second row, or every third, fourth, and so on.
    is_seen = (np.arange(n_rows) % np.arange(2, N_FITS + 2)[:, np.newaxis] != 0).astype(np.float64)
    counts = np.array([[np.bincount(column, seen, n_bins).cumsum() for column in bins.T] for seen in is_seen])
    is_cut = (counts >= FEWEST_ROWS) & (counts[:, :, -1:] - counts >= FEWEST_ROWS)
    # The kernel has the fits last.
    below, may_cut = (np.ascontiguousarray(np.moveaxis(array, 0, 2)) for array in (counts, is_cut))
    heights = np.zeros(below.shape)
    left = np.ascontiguousarray(((response - response.mean()) * is_seen).T)
    seen_rows = np.ascontiguousarray(is_seen.T)
    _engine.boost_stumps(
        bins, N_ROUNDS, SHARE, left, seen_rows, below, may_cut, np.empty(below.shape), heights
    )
    expected = [boosted(bins, response, seen, n_bins) for seen in is_seen]
    np.testing.assert_array_equal(np.moveaxis(heights, 2, 0), expected)
