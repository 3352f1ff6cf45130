"""When a node of a tree stays a leaf: scikit-learn's rules, for every tree grower."""

import numpy as np

from ppfs._engine.jit.kernels import Float64s, kernel_function, kernel_part
from ppfs._engine.trees.criterion import impurity
from ppfs._engine.trees.rules import Criterion, Limits

# scikit-learn's tolerance: a node is pure if its impurity is at most this.
_EPSILON = float(np.finfo(np.float64).eps)

# A gain above this share of the value that it is compared with cannot be due to rounding.
_CLEARLY = 1e-6


@kernel_part
def may_split(depth: int, n_rows: float, weight: float, stats: Float64s, limits: Limits) -> bool:
    """Return whether a node may be split, judging by the node alone."""
    if depth >= limits.max_depth or n_rows < limits.min_split:
        return False
    return bool(impurity(stats, weight, limits.criterion) > _EPSILON)


@kernel_part
def may_cut(n_left: float, n_right: float, limits: Limits) -> bool:
    """Return whether both sides of a cut have enough rows."""
    return bool(n_left >= limits.min_leaf and n_right >= limits.min_leaf)


@kernel_part
def is_clear(gain: float, weight: float, stats: Float64s, criterion: int) -> bool:
    """Return whether a cut with this `gain` lowers the impurity of a node by so much that rounding does not matter."""
    own = weight * impurity(stats, weight, criterion)
    before = -own
    if criterion == Criterion.SQUARED_ERROR:
        before = stats[0] * stats[0] / weight
    return bool(gain - before > _CLEARLY * (abs(before) + own))


@kernel_function
def is_worthless(
    node: Float64s,
    left: Float64s,
    right: Float64s,
    left_weight: float,
    right_weight: float,
    total_weight: float,
    criterion: int,
) -> bool:
    """Return whether rounding made the improvement of the best cut negative, so that scikit-learn does not split.

    Parameters
    ----------
    node, left, right : arrays of shape (n_stats,), float64
        Statistics of the node and of the two sides of the cut.
    left_weight, right_weight, total_weight : float
        Weights of the two sides, and of the whole tree.
    """
    weight = left_weight + right_weight
    improvement = (weight / total_weight) * (
        impurity(node, weight, criterion)
        - (right_weight / weight * impurity(right, right_weight, criterion))
        - (left_weight / weight * impurity(left, left_weight, criterion))
    )
    return bool(improvement + _EPSILON < 0.0)
