"""Contingency tables in plain NumPy: one table at a time, every sum as NumPy adds it."""

import numpy as np


def table_of(stratum, classes, levels):
    """Return the counts, shape (n_strata, n_classes, n_levels), of codes 0, 1, ..."""
    shape = [codes.max() + 1 for codes in (stratum, classes, levels)]
    cells = np.zeros(shape, dtype=np.int64)
    np.add.at(cells, (stratum, classes, levels), 1)
    return cells


def sums_of_k_log_k(cells):
    """Return the sums of k log k over the cells, and over the margins of classes, of levels and of strata."""
    k = np.arange(1, cells.sum() + 1)
    k_log_k = np.concatenate([[0.0], k * np.log(k)])
    margins = (cells, cells.sum(axis=2), cells.sum(axis=1), cells.sum(axis=(1, 2)))
    return [k_log_k[margin].ravel().sum() for margin in margins]


def g_squared(cells):
    """Return the likelihood-ratio statistic."""
    of_cells, of_classes, of_levels, of_strata = sums_of_k_log_k(cells)
    return max(2.0 * (of_cells - of_classes - of_levels + of_strata), 0.0)


def degrees_of_freedom(cells):
    """Return (levels shown - 1) (classes shown - 1), summed over the strata; at least 1."""
    free = 0
    for table in cells:
        n_classes, n_levels = (table.sum(axis=1) > 0).sum(), (table.sum(axis=0) > 0).sum()
        free += max(n_classes - 1, 0) * max(n_levels - 1, 0)
    return max(free, 1)
