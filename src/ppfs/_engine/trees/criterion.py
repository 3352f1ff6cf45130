"""Impurity of a node and gain of a cut, rounded as in scikit-learn.

The *statistics* of a node are its class counts, or the sum and the sum of squares of its target values. Every formula
follows the order of operations in scikit-learn's ``_criterion.pyx``: the gains of two cuts that are mathematically
equal often differ in the last bit, and that bit decides which one is taken.
"""

from math import log

import numpy as np

from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, kernel_function, kernel_part
from ppfs._engine.trees.rules import Criterion

_LOG_2 = log(2.0)


@kernel_part
def midpoint(low: np.float32, high: np.float32) -> float:
    """Threshold between two float32 values: the sum of halves, in float64."""
    return float(low) / 2.0 + float(high) / 2.0


# Array expressions and slice assignments would be shorter than these loops, but each of them adds a tenth to half a
# second to the compile time of a kernel.


@kernel_part
def copy_stats(stats: Float64s, out: Float64s) -> None:
    """Write ``stats`` to ``out``."""
    for stat in range(out.size):
        out[stat] = stats[stat]


@kernel_part
def weight_of(row: int, weights: Float64s | None) -> float:
    """Return the weight of a row."""
    if weights is None:
        return 1.0
    weight: float = weights[row]
    return weight


@kernel_part
def add_row(row: int, weight: float, target: Target, stats: Float64s) -> None:
    """Add a row of this weight to the statistics (n_stats,), or subtract it with a negative weight."""
    if target.classes.size:
        stats[target.classes[row]] += weight
    else:
        number = target.values[row]
        stats[0] += weight * number
        stats[1] += weight * number * number


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
def gini(squares: float, weight: float) -> float:
    """Gini impurity of a node, from the sum of its squared class counts."""
    return 1.0 - squares / (weight * weight)


@kernel_function
def entropy(counts: Float64s, weight: float) -> float:
    """Entropy of a node with the given class counts (n_classes,)."""
    total = 0.0
    for count in counts:
        if count > 0.0:
            share = count / weight
            total -= share * (log(share) / _LOG_2)
    return total


@kernel_function
def impurity(stats: Float64s, weight: float, criterion: int) -> float:
    """Impurity of a node with the given statistics (n_stats,) and number of rows."""
    if criterion == Criterion.SQUARED_ERROR:
        mean: float = stats[0] / weight
        mean_square: float = stats[1] / weight
        return mean_square - mean * mean
    if criterion == Criterion.ENTROPY:
        return entropy(stats, weight)
    squares = 0.0
    for count in stats:
        squares += count * count
    return gini(squares, weight)


@kernel_part
def gain(left: float, right: float, n_left: float, n_right: float, criterion: int) -> float:
    """Gain of a cut, up to a constant of the node: scikit-learn's ``proxy_impurity_improvement``.

    ``left`` and ``right`` summarize the two sides: the sum of squared class counts for the Gini impurity, the sum of
    the target values for the squared error. The entropy cannot be computed from one number: see `entropy_gain`.
    """
    if criterion == Criterion.SQUARED_ERROR:
        return left * left / n_left + right * right / n_right
    return -n_right * gini(right, n_right) - n_left * gini(left, n_left)


@kernel_function
def entropy_gain(whole: Float64s, left: Float64s, right: Float64s, n_left: float, n_right: float) -> float:
    """`gain` for the entropy, from the class counts (n_classes,) of the node and of its left side.

    ``right`` is scratch memory for those of the right side.
    """
    subtract_stats(whole, left, right)
    return -n_right * entropy(right, n_right) - n_left * entropy(left, n_left)
