"""Checks of columns in plain Python, one column after the other."""

import numpy as np


def copies(X):
    """Return the numbers of the columns that equal an earlier one and vary."""
    return [
        later
        for later in range(X.shape[1])
        if np.unique(X[:, later]).size > 1
        and any(np.array_equal(X[:, earlier], X[:, later]) for earlier in range(later))
    ]


def runs_of_equal_length(X):
    """Return the columns of integers that consist of more than 20 equally long runs, of at least two rows each."""
    found = []
    for column in range(X.shape[1]):
        values = X[:, column]
        starts = [0, *(row for row in range(1, len(values)) if values[row] != values[row - 1])]
        lengths = np.diff([*starts, len(values)])
        is_run = len(set(values[starts])) == len(starts) and len(set(lengths)) == 1
        if (values % 1 == 0).all() and is_run and len(starts) > 20 and lengths[0] >= 2:
            found.append(column)
    return found


def nearly_constant(X, rows, agreeing=0.8, share=0.99):
    """Return the columns with one value, or with one in nearly all rows, some of which are looked at first."""
    found = []
    for column in range(X.shape[1]):
        values = X[:, column]
        common = np.median(values[rows])
        is_suspect = (values[rows] == common).mean() >= agreeing
        if np.unique(values).size == 1 or (is_suspect and (values == common).mean() >= share):
            found.append(column)
    return found
