"""Values of splines at the numbers of many columns, by de Boor's recursion."""

import numpy as np

from ppfs._engine.jit.kernels import Float64s

# Rows of which many columns are read at once, so that what is computed on the way stays in the cache.
_VALUES_AT_ONCE = 2**14


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
    n_rows, n_columns = columns.shape
    # The last splines are made, and left out.
    made = np.zeros((n_rows, n_columns, knots.shape[1] - degree - 1))
    at_once = max(1, _VALUES_AT_ONCE // max(1, n_columns))
    for first in range(0, n_rows, at_once):
        rows = slice(first, first + at_once)
        _fill(columns[rows], knots, degree, made[rows])
    return made[:, :, :n_kept]


def _fill(columns: Float64s, knots: Float64s, degree: int, made: Float64s) -> None:
    last = knots.shape[1] - degree - 1
    x = np.minimum(np.maximum(columns, knots[:, degree]), knots[:, last])
    interval = np.zeros(columns.shape, dtype=np.intp)
    for knot in range(degree + 1, last):
        interval += x >= knots[:, knot]
    own = np.arange(columns.shape[1])
    # The knots about each number. Only degree + 1 splines are not 0 there.
    near = [knots[own, interval + place] for place in range(1, 2 * degree + 1)]
    values = [np.ones(columns.shape)]
    for order in range(1, degree + 1):
        saved = np.zeros(columns.shape)
        for place in range(order):
            above, below = near[degree + place], near[degree - order + place]
            share = values[place] / (above - below)
            values[place] = saved + (above - x) * share
            saved = (x - below) * share
        values.append(saved)
    np.put_along_axis(
        made, interval[:, :, np.newaxis] + np.arange(degree + 1), np.stack(values, axis=2), axis=2
    )
