"""Values of splines at the numbers of many columns, by de Boor's recursion."""

import numpy as np

from ppfs._engine.jit.kernels import Float64s, kernel


def spline_values(columns: Float64s, knots: Float64s, degree: int, n_kept: int) -> Float64s:
    """Return the values of B-splines that are constant beyond their outer knots.

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns), float64
    knots : array of shape (n_columns, n_knots + 2 * degree), float64
        Increasing in every column.
    degree : int
    n_kept : int
        How many splines of a column to return, from the first.

    Returns
    -------
    array of shape (n_rows, n_columns, n_kept), float64
    """
    made = np.zeros((*columns.shape, n_kept))
    _fill_splines(columns, knots, np.empty(degree + 1), made)
    return made


@kernel
def _fill_splines(columns: Float64s, knots: Float64s, values: Float64s, made: Float64s) -> None:
    """Fill what `spline_values` returns; ``values`` is memory for the degree + 1 splines that are not 0 at a number."""
    n_rows, n_columns, n_kept = made.shape
    degree = values.size - 1
    last = knots.shape[1] - degree - 1
    for i in range(n_rows):
        for column in range(n_columns):
            own = knots[column]
            x = columns[i, column]
            if x < own[degree]:
                x = own[degree]
            elif x > own[last]:
                x = own[last]
            interval = 0
            for knot in range(degree + 1, last):
                interval += x >= own[knot]
            # Only degree + 1 splines are nonzero at x.
            values[0] = 1.0
            for order in range(1, degree + 1):
                saved = 0.0
                for place in range(order):
                    above = own[interval + degree + 1 + place]
                    below = own[interval + degree + 1 - order + place]
                    share = values[place] / (above - below)
                    values[place] = saved + (above - x) * share
                    saved = (x - below) * share
                values[order] = saved
            for place in range(degree + 1):
                if interval + place < n_kept:
                    made[i, column, interval + place] = values[place]
