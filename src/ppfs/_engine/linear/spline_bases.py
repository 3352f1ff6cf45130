"""Values of splines at the numbers of many columns, by de Boor's recursion."""

import numpy as np

from ppfs._engine.jit.kernels import Float64s, kernel

# NumPy makes the splines of up to this many numbers, so that small tables compile nothing.
_MOST_IN_NUMPY = 2**15


def spline_values(columns: Float64s, knots: Float64s, degree: int, n_kept: int) -> Float64s:
    """Return the values of B-splines that are constant beyond their outer knots.

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns), float64
    knots : array of shape (n_columns, n_knots + 2 * degree), float64
        Increasing in every column.
    n_kept : int
        How many splines of a column to return, from the first.

    Returns
    -------
    array of shape (n_rows, n_columns, n_kept), float64
    """
    n_rows, n_columns = columns.shape
    if columns.size > _MOST_IN_NUMPY:
        made = np.zeros((n_kept, n_rows, n_columns))
        _fill_splines(columns, knots, np.empty(degree + 1), made)
        return np.moveaxis(made, 0, 2)
    # The last splines are made, and left out.
    made = np.zeros((n_rows, n_columns, knots.shape[1] - degree - 1))
    _fill(columns, knots, degree, made)
    return made[:, :, :n_kept]


@kernel
def _fill_splines(columns: Float64s, knots: Float64s, values: Float64s, made: Float64s) -> None:
    """Fill the splines of each number, shape (n_kept, n_rows, n_columns).

    ``values`` is memory for the degree + 1 splines that are not 0 at a number. The steps are those of `_fill`, and so
    are the results, bit for bit.
    """
    n_kept, n_rows, n_columns = made.shape
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
                    made[interval + place, i, column] = values[place]


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
