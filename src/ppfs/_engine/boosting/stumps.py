"""Sums of steps of columns, boosted on several sets of rows."""

from ppfs._engine.jit.kernels import Bools, Float64s, Uint8s, kernel

#: How many sets of rows there are. A fixed number of additions to neighboring places is one instruction or two.
N_FITS = 6


@kernel
def boost_stumps(
    bins: Uint8s,
    n_rounds: int,
    share: float,
    left: Float64s,
    is_seen: Float64s,
    n_below: Float64s,
    is_cut: Bools,
    sums: Float64s,
    heights: Float64s,
) -> None:
    """Add, round by round, a share of the step that explains most of what is left of a response.

    Sums are added up in the order of the rows and of the bins, as `numpy.bincount` and `numpy.cumsum` do.

    Parameters
    ----------
    bins : array of shape (n_rows, n_columns), uint8
    left : array of shape (n_rows, N_FITS), float64
        The centered response, 0 in the rows that a fit does not learn from. It is overwritten.
    is_seen : array of shape (n_rows, N_FITS), float64
        1 in the rows that a fit learns from, else 0.
    n_below : array of shape (n_columns, n_bins, N_FITS), float64
        The rows of each fit up to each bin.
    is_cut : array of shape (n_columns, n_bins, N_FITS), bool
        Whether a step may follow a bin.
    sums : array of shape (n_columns, n_bins, N_FITS), float64
        Memory for this kernel.
    heights : array of shape (n_columns, n_bins, N_FITS), float64
        The functions of the columns, to which the steps are added.
    """
    n_rows, n_columns = bins.shape
    n_bins = sums.shape[1]
    for _ in range(n_rounds):
        for column in range(n_columns):
            for place in range(n_bins):
                for fit in range(N_FITS):
                    sums[column, place, fit] = 0.0
        for row in range(n_rows):
            for column in range(n_columns):
                place = bins[row, column]
                for fit in range(N_FITS):
                    sums[column, place, fit] += left[row, fit]
        for column in range(n_columns):
            for place in range(1, n_bins):
                for fit in range(N_FITS):
                    sums[column, place, fit] += sums[column, place - 1, fit]
        for fit in range(N_FITS):
            most, best, cut, low, high = -1.0, -1, 0, 0.0, 0.0
            for column in range(n_columns):
                total, n_total = sums[column, n_bins - 1, fit], n_below[column, n_bins - 1, fit]
                for place in range(n_bins):
                    if is_cut[column, place, fit]:
                        below, n_first = sums[column, place, fit], n_below[column, place, fit]
                        above, n_second = total - below, n_total - n_first
                        gain = below * below / n_first + above * above / n_second
                        if gain > most:
                            most, best, cut = gain, column, place
                            low, high = share * below / n_first, share * above / n_second
            if best < 0:
                continue
            for place in range(n_bins):
                heights[best, place, fit] += low if place <= cut else high
            for row in range(n_rows):
                if is_seen[row, fit] > 0.0:
                    left[row, fit] -= low if bins[row, best] <= cut else high
