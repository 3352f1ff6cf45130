"""Integers that 64-bit floats cannot represent, such as identifiers and times in nanoseconds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Beyond this, neighboring integers are the same float.
LARGEST_EXACT = 2**53


def beyond_floats(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which columns of an array, or whether a vector, holds integers that floats cannot represent."""
    if values.dtype.kind not in "iu" or values.dtype.itemsize < 8 or not values.size:
        return np.zeros(values.shape[1:], dtype=bool)
    beyond = (values.max(axis=0) > LARGEST_EXACT) | (values.min(axis=0) < -LARGEST_EXACT)
    return np.asarray(beyond)


def as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a vector of integers as floats that stay distinct; large ones are counted from the smallest.

    Examples
    --------
    >>> as_floats(np.array([2**60 + 1, 2**60, 2**60 + 3]))
    array([1., 0., 3.])
    >>> as_floats(np.array([5, 7]))
    array([5., 7.])
    """
    if not beyond_floats(values):
        return values.astype(np.float64)
    # Unsigned integers wrap around, so that differences are correct for any distance of the signed ones.
    counted: NDArray[np.uint64] = values.astype(np.uint64) - values.min().astype(np.uint64)
    return counted.astype(np.float64)


def exact_columns(X: NDArray[Any]) -> NDArray[Any]:
    """Return an array whose columns can be converted to floats: itself, or floats if a column has to be shifted."""
    beyond = beyond_floats(X)
    if not beyond.any():
        return X
    floats = X.astype(np.float64)
    for column in np.flatnonzero(beyond).tolist():
        floats[:, column] = as_floats(X[:, column])
    return floats
