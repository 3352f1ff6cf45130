"""Impurity of a node and worth of a split, rounded as scikit-learn rounds them.

A node's *statistics* are its class counts, or the sum and the sum of squares of its numbers. Every formula
follows the order of operations in scikit-learn's ``_criterion.pyx``: two splits that are equally good on
paper often differ in the last bit, and that bit decides which one is taken.
"""

from math import log

import numpy as np

from ppfs._engine._jit import Float64s, kernel_function, kernel_part
from ppfs._engine.rules import Criterion

#: scikit-learn's node is a leaf when its impurity is at most this.
EPSILON = float(np.finfo(np.float64).eps)

#: scikit-learn's ``FEATURE_THRESHOLD``: values that differ by no more are tied. Added in float32.
TIE = np.float32(1e-7)

_LOG_2 = log(2.0)


@kernel_part
def midpoint(low: float, high: float) -> float:
    """Threshold between two float32 values: the sum of halves, in float64."""
    return np.float64(low) / 2.0 + np.float64(high) / 2.0


# Array expressions and slice assignments would say the same as these loops, but each of them adds a tenth to
# half a second to the time a kernel takes to compile.


@kernel_part
def copy_stats(stats: Float64s, out: Float64s) -> None:
    """Write ``stats`` to ``out``."""
    for stat in range(out.size):
        out[stat] = stats[stat]


@kernel_part
def add_stats(total: Float64s, part: Float64s) -> None:
    """Add ``part`` to ``total``."""
    for stat in range(total.size):
        total[stat] += part[stat]


@kernel_part
def subtract_stats(whole: Float64s, part: Float64s, out: Float64s) -> None:
    """Write ``whole - part`` to ``out``."""
    for stat in range(out.size):
        out[stat] = whole[stat] - part[stat]


@kernel_part
def sum_squares(stats: Float64s) -> float:
    """Sum of squared class counts: a whole number, so the order does not matter."""
    total = 0.0
    for count in stats:
        total += count * count
    return total


@kernel_function
def impurity(stats: Float64s, weight: float, criterion: int) -> float:
    """Impurity of a node with the given statistics (n_stats,) and number of rows."""
    if criterion == Criterion.SQUARED_ERROR:
        mean = stats[0] / weight
        return stats[1] / weight - mean * mean
    if criterion == Criterion.GINI:
        return 1.0 - sum_squares(stats) / (weight * weight)
    total = 0.0
    for count in stats:
        if count > 0.0:
            share = count / weight
            total -= share * (log(share) / _LOG_2)
    return total


@kernel_part
def gini_gain(left_squares: float, right_squares: float, n_left: float, n_right: float) -> float:
    """`gain` for the Gini impurity, from the sums of squared class counts."""
    left = 1.0 - left_squares / (n_left * n_left)
    right = 1.0 - right_squares / (n_right * n_right)
    return -n_right * right - n_left * left


@kernel_part
def squared_gain(left_sum: float, right_sum: float, n_left: float, n_right: float) -> float:
    """`gain` for the squared error, from the sums of the numbers."""
    return left_sum * left_sum / n_left + right_sum * right_sum / n_right


@kernel_function
def gain(left: Float64s, right: Float64s, n_left: float, n_right: float, criterion: int) -> float:
    """Worth of a split, up to a constant of the node: scikit-learn's ``proxy_impurity_improvement``."""
    if criterion == Criterion.SQUARED_ERROR:
        return squared_gain(left[0], right[0], n_left, n_right)
    return -n_right * impurity(right, n_right, criterion) - n_left * impurity(left, n_left, criterion)


@kernel_function
def is_worthless(
    node: Float64s, left: Float64s, right: Float64s, n_left: float, n_right: float, n_train: float, criterion: int
) -> bool:
    """Tell whether rounding made the improvement negative, in which case scikit-learn does not split."""
    n_node = n_left + n_right
    improvement = (n_node / n_train) * (
        impurity(node, n_node, criterion)
        - (n_right / n_node * impurity(right, n_right, criterion))
        - (n_left / n_node * impurity(left, n_left, criterion))
    )
    return bool(improvement + EPSILON < 0.0)
