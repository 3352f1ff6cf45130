"""The target in the form that kernels need, for classification and regression."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.jit.kernels import Float64s, Int32s


class Target(NamedTuple):
    """The target.

    Attributes
    ----------
    classes : array of shape (n_rows,), int32
        Class codes; empty when numbers are predicted.
    values : array of shape (n_rows,), float64
        The numbers; empty when classes are predicted.
    weights : array of shape (n_rows,), float64, or None
        Weights of the rows in a single tree. None means weights of 1 and no missing values; Numba has a separate type
        for it and does not compile the code for weights and missing values.
    """

    classes: Int32s
    values: Float64s
    weights: Float64s | None = None


def make_target(y: npt.ArrayLike, n_classes: int, weights: npt.ArrayLike | None = None) -> Target:
    """Prepare ``y``: class codes, or numbers when ``n_classes`` is 0."""
    by_row = None if weights is None else np.array(weights, dtype=np.float64)
    if n_classes:
        return Target(np.array(y, dtype=np.int32), np.empty(0, dtype=np.float64), by_row)
    return Target(np.empty(0, dtype=np.int32), np.array(y, dtype=np.float64), by_row)


def total_statistics(target: Target, n_classes: int, rows: npt.NDArray[np.int64]) -> Float64s:
    """Sum the statistics of the given rows: class counts (n_classes,), or sum and sum of squares (2,).

    If rows have weights, the sums are weighted.
    """
    weights = None if target.weights is None else target.weights[rows]
    if n_classes:
        return np.bincount(target.classes[rows], weights, minlength=n_classes).astype(np.float64)
    values = target.values[rows]
    weighted = values if weights is None else weights * values
    return np.array([weighted.sum(), (weighted * values).sum()])


def total_weight(target: Target, stats: Float64s, rows: npt.NDArray[np.int64]) -> float:
    """Return the total weight of the given rows, which have these statistics."""
    if target.weights is None:
        return float(rows.size)
    # The sum over the classes, so that for rows of one class it is exactly the weight of that class.
    return float(stats.sum() if target.classes.size else target.weights[rows].sum())
