"""The target as kernels read it, for classes and for numbers alike."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.jit.kernels import Float64s, Int32s


class Target(NamedTuple):
    """What is predicted.

    Attributes
    ----------
    classes : array of shape (n_rows,), int32
        Class codes; empty when numbers are predicted.
    values : array of shape (n_rows,), float64
        The numbers; empty when classes are predicted.
    weights : array of shape (n_rows,), float64, or None
        How much each row counts in a single tree. None, for rows that all count 1 in columns without gaps, is a type of
        its own to Numba: the code for weights and gaps is then not compiled.
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

    Where rows have weights, a row counts its weight.
    """
    weights = None if target.weights is None else target.weights[rows]
    if n_classes:
        return np.bincount(target.classes[rows], weights, minlength=n_classes).astype(np.float64)
    values = target.values[rows]
    weighted = values if weights is None else weights * values
    return np.array([weighted.sum(), (weighted * values).sum()])


def total_weight(target: Target, stats: Float64s, rows: npt.NDArray[np.int64]) -> float:
    """Return what the given rows, with these statistics, weigh."""
    if target.weights is None:
        return float(rows.size)
    # The sum over the classes, so that rows of one class weigh exactly what that class weighs.
    return float(stats.sum() if target.classes.size else target.weights[rows].sum())
