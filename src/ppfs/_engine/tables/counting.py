"""Contingency tables: counting, and the likelihood ratio of dependence against independence.

The tables of several columns are stored one after the other in one vector. The cells of a table are numbered by place
and level; a place is a stratum together with a level of the target::

    cell = place * n_levels + level          place = stratum * n_classes + class
"""

import numpy as np

from ppfs._engine.jit.kernels import (
    Float64s,
    Int64s,
    Uint8s,
    allocating_function,
    allocating_kernel,
    int64,
    kernel,
    kernel_function,
    uint64,
)

# NumPy adds fewer numbers than the first one by one, and up to the second in eight parallel sums.
_UNROLLED = 8
_BLOCK = 128

# Integers with a range smaller than this are coded by counting.
_CLOSE = 256

# Entries for pending halves: two per bisection, and no vector can be bisected this often.
_DEEPEST = 160


@kernel_function
def _sum_block(values: Float64s, start: int, n: int) -> float:
    """Return the sum of at most 128 contiguous values."""
    total = 0.0
    if n < _UNROLLED:
        for i in range(start, start + n):
            total += values[i]
        return total
    a, b, c, d = values[start], values[start + 1], values[start + 2], values[start + 3]
    e, f, g, h = values[start + 4], values[start + 5], values[start + 6], values[start + 7]
    end = start + n - n % _UNROLLED
    for i in range(start + _UNROLLED, end, _UNROLLED):
        a, b, c, d = a + values[i], b + values[i + 1], c + values[i + 2], d + values[i + 3]
        e, f, g, h = e + values[i + 4], f + values[i + 5], g + values[i + 6], h + values[i + 7]
    total = float(((a + b) + (c + d)) + ((e + f) + (g + h)))
    for i in range(end, start + n):
        total += values[i]
    return total


@allocating_function
def _numpy_sum(values: Float64s, n: int) -> float:
    """Return the sum of the first `n` values, in the order in which NumPy adds contiguous values.

    So a statistic has the same bits whether NumPy or a kernel computed it. NumPy bisects vectors that are longer than a
    block, at a multiple of eight, and adds the sums of the halves. The recursion is a loop here, because Numba cannot
    cache recursive functions.
    """
    if n <= _BLOCK:
        return _sum_block(values, 0, n)
    starts, sizes = np.empty(_DEEPEST, dtype=np.int64), np.empty(_DEEPEST, dtype=np.int64)
    sums = np.empty(_DEEPEST)
    starts[0], sizes[0] = 0, n
    n_waiting, n_sums = 1, 0
    while n_waiting > 0:
        n_waiting -= 1
        start, size = starts[n_waiting], sizes[n_waiting]
        if size < 0:  # Both halves are summed.
            n_sums -= 1
            sums[n_sums - 1] += sums[n_sums]
        elif size <= _BLOCK:
            sums[n_sums] = _sum_block(values, start, size)
            n_sums += 1
        else:
            half = size // 2
            half -= half % _UNROLLED
            sizes[n_waiting] = -1
            starts[n_waiting + 1], sizes[n_waiting + 1] = start + half, size - half
            starts[n_waiting + 2], sizes[n_waiting + 2] = start, half
            n_waiting += 3
    return float(sums[0])


@kernel_function
def _count_four(
    places: Int64s,
    codes: Uint8s,
    columns: Int64s,
    n_levels: Int64s,
    starts: Int64s,
    cells: Int64s,
    first: int,
) -> None:
    """Count the tables of four columns in one pass.

    Consecutive rows often belong to the same cell, and the second increment has to wait for the first. Counting the
    other tables meanwhile takes a third of the time. Unsigned indices need no check for negative ones.
    """
    a, b, c, d = first, first + 1, first + 2, first + 3
    row_a, row_b, row_c, row_d = codes[columns[a]], codes[columns[b]], codes[columns[c]], codes[columns[d]]
    width_a, width_b = uint64(n_levels[a]), uint64(n_levels[b])
    width_c, width_d = uint64(n_levels[c]), uint64(n_levels[d])
    table_a, table_b = cells[starts[a] : starts[a + 1]], cells[starts[b] : starts[b + 1]]
    table_c, table_d = cells[starts[c] : starts[c + 1]], cells[starts[d] : starts[d + 1]]
    for i in range(places.size):
        place = uint64(places[i])
        table_a[place * width_a + uint64(row_a[i])] += 1
        table_b[place * width_b + uint64(row_b[i])] += 1
        table_c[place * width_c + uint64(row_c[i])] += 1
        table_d[place * width_d + uint64(row_d[i])] += 1


@kernel
def count_cells(
    places: Int64s, codes: Uint8s, columns: Int64s, n_levels: Int64s, starts: Int64s, cells: Int64s
) -> None:
    """Count the rows of every cell of some columns' tables.

    Parameters
    ----------
    places : array of shape (n_rows,), int64
    codes : array of shape (n_variables, n_rows), uint8 or uint16
        The level of each row in each variable.
    columns : array of shape (n_columns,), int64
        Which variables to count.
    n_levels : array of shape (n_columns,), int64
        How many levels each of these has.
    starts : array of shape (n_columns + 1,), int64
        Where each table begins in `cells`, and where the last one ends.
    cells : array, int64
        Zeros on entry; filled with the counts.
    """
    n_together = columns.size - columns.size % 4
    for c in range(0, n_together, 4):
        _count_four(places, codes, columns, n_levels, starts, cells, c)
    for c in range(n_together, columns.size):
        row = codes[columns[c]]
        width = uint64(n_levels[c])
        table = cells[starts[c] : starts[c + 1]]
        for i in range(places.size):
            table[uint64(places[i]) * width + uint64(row[i])] += 1


@allocating_kernel
def rank_levels(columns: Float64s, lowest: Float64s, numbers: Int64s, codes: Uint8s, counts: Int64s) -> None:
    """Code integers with a range of less than 256: the rank of each among the distinct values of its column.

    Parameters
    ----------
    columns : array of shape (n_columns, n_rows), float64
    lowest : array of shape (n_columns,), float64
        The smallest value of each column.
    numbers : array of shape (n_columns,), int64
        Index of each column in `codes` and `counts`.
    codes : array of shape (n_variables, n_rows), uint8 or uint16
        Filled with the codes.
    counts : array of shape (n_variables,), int64
        Filled with the numbers of levels.
    """
    ranks = np.empty(_CLOSE, dtype=np.int64)
    for c in range(lowest.size):
        for step in range(_CLOSE):
            ranks[step] = 0
        column, low = columns[c], lowest[c]
        for i in range(column.size):
            ranks[int64(column[i] - low)] = 1
        n_levels = 0
        for step in range(_CLOSE):
            n_levels += ranks[step]
            ranks[step] = n_levels - 1
        row = codes[numbers[c]]
        for i in range(column.size):
            row[i] = ranks[int64(column[i] - low)]
        counts[numbers[c]] = n_levels


@allocating_kernel
def likelihood_ratios(
    cells: Int64s,
    starts: Int64s,
    n_levels: Int64s,
    extra_classes: Int64s,
    k_log_k: Float64s,
    statistics: Float64s,
    freedom: Int64s,
) -> None:
    """Sum k log k over each table and over its margin of levels, and count its degrees of freedom.

    Parameters
    ----------
    cells, starts, n_levels
        See `count_cells`.
    extra_classes : array of shape (n_strata,), int64
        The number of classes that occur in each stratum, minus one.
    k_log_k : array of shape (n_rows + 1,), float64
    statistics : array of shape (n_columns, 2), float64
        Filled with the sums over the cells, and over the rows of each stratum and level.
    freedom : array of shape (n_columns,), int64
        Filled with the degrees of freedom. A level that does not occur in a stratum is not counted there.
    """
    n_strata = extra_classes.size
    for c in range(n_levels.size):
        table = cells[starts[c] : starts[c + 1]]
        width = n_levels[c]
        n_classes = table.size // (n_strata * width)
        terms = np.empty(table.size)
        for cell in range(table.size):
            terms[cell] = k_log_k[table[cell]]
        statistics[c, 0] = _numpy_sum(terms, table.size)
        free = 0
        for stratum in range(n_strata):
            n_shown = 0
            for level in range(width):
                count = 0
                for k in range(n_classes):
                    count += table[(stratum * n_classes + k) * width + level]
                terms[stratum * width + level] = k_log_k[count]
                if count > 0:
                    n_shown += 1
            free += extra_classes[stratum] * max(n_shown - 1, 0)
        statistics[c, 1] = _numpy_sum(terms, n_strata * width)
        freedom[c] = max(free, 1)
