"""The target as kernels read it, for classes and for numbers alike."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine._jit import Float64s, Int32s


class Target(NamedTuple):
    """What is predicted.

    Attributes
    ----------
    classes : array of shape (n_rows,), int32
        Class codes; empty when numbers are predicted.
    values : array of shape (n_rows,), float64
        The numbers; empty when classes are predicted.
    """

    classes: Int32s
    values: Float64s


def make_target(y: npt.ArrayLike, n_classes: int) -> Target:
    """Prepare ``y``: class codes, or numbers when ``n_classes`` is 0."""
    if n_classes:
        return Target(np.array(y, dtype=np.int32), np.empty(0, dtype=np.float64))
    return Target(np.empty(0, dtype=np.int32), np.array(y, dtype=np.float64))


def total_statistics(target: Target, n_classes: int, rows: npt.NDArray[np.int64]) -> Float64s:
    """Sum the statistics of the given rows: class counts (n_classes,), or sum and sum of squares (2,)."""
    if n_classes:
        return np.bincount(target.classes[rows], minlength=n_classes).astype(np.float64)
    values = target.values[rows]
    return np.array([values.sum(), (values * values).sum()])
