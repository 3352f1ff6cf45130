"""Where a node is best cut whose rows have weights, and whose column may have gaps.

Kernels that count rows keep sums of whole numbers. Weights are real numbers, so here every sum is made of its terms;
and rows with a gap are tried on either side of every cut.
"""

import numpy as np

from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Records, int64, kernel_function, kernel_part
from ppfs._engine.trees.criterion import TIE, add_row, entropy_gain, gain, midpoint
from ppfs._engine.trees.rules import Criterion, Limits


@kernel_part
def _count_known(start: int, stop: int, entries: Records) -> int:
    """Return how many of the entries ``start`` to ``stop - 1``, in sorted order, are no gaps."""
    end = stop
    while end > start and entries[end - 1]["value"] != entries[end - 1]["value"]:
        end -= 1
    return end - start


@kernel_part
def _worth(
    stats: Float64s, left: Float64s, right: Float64s, left_weight: float, weight: float, criterion: int
) -> float:
    """Return the worth of a cut, from the statistics of the node and of what lies left; ``right`` is memory."""
    right_weight = weight - left_weight
    if criterion == Criterion.ENTROPY:
        return entropy_gain(stats, left[0], right, left_weight, right_weight)
    if criterion == Criterion.SQUARED_ERROR:
        return gain(left[0, 0], stats[0] - left[0, 0], left_weight, right_weight, criterion)
    left_squares, right_squares = 0.0, 0.0
    for label in range(stats.size):
        left_squares += left[0, label] * left[0, label]
        right_squares += (stats[label] - left[0, label]) * (stats[label] - left[0, label])
    return gain(left_squares, right_squares, left_weight, right_weight, criterion)


@kernel_function
def best_weighted_cut(
    start: int,
    stop: int,
    gaps_start: int,
    gaps_stop: int,
    weight: float,
    stats: Float64s,
    entries: Records,
    target: Target,
    weights: Float64s,
    limits: Limits,
    left: Float64s,
    right: Float64s,
) -> tuple[int, float, float, bool]:
    """Find the best cut of one column in a node; of equal ones the first, and gaps on the right.

    Parameters
    ----------
    start, stop : int
        The rows of the node are ``entries[start:stop]``, in the order of their values.
    gaps_start, gaps_stop : int
        Its rows with a gap are ``entries[gaps_start:gaps_stop]``.
    weight : float
        What all of them weigh.
    stats : array of shape (n_stats,)
        Their statistics.
    entries : array of `ENTRY`
    weights : array of shape (n_rows,)
    left, right : arrays of shape (1, n_stats) and (n_stats,)
        Memory for the statistics of the two sides.

    Returns
    -------
    place : int
        The first entry right of the cut; -1 if there is no cut.
    worth, threshold : float
        The threshold is infinite where only gaps lie right.
    gaps_left : bool
        Where gaps go; if the node has none, where most of its rows go.
    """
    n_gaps = gaps_stop - gaps_start
    n_node = stop - start + n_gaps
    chosen, best, best_threshold, gaps_left = int64(-1), -np.inf, 0.0, False
    # Gaps are tried on the right first, where they may be alone, and then on the left.
    for side in range(2 if n_gaps else 1):
        for stat in range(stats.size):
            left[0, stat] = 0.0
        n_left, left_weight = 0, 0.0
        if side == 1:
            n_left = n_gaps
            for place in range(gaps_start, gaps_stop):
                row = entries[place]["row"]
                add_row(left, int64(0), row, target, weights[row])
                left_weight += weights[row]
        for place in range(start, stop):
            row = entries[place]["row"]
            add_row(left, int64(0), row, target, weights[row])
            left_weight += weights[row]
            n_left += 1
            is_last = place + 1 == stop
            if is_last and (side == 1 or n_gaps == 0):
                continue
            if not is_last and not entries[place + 1]["value"] > entries[place]["value"] + TIE:
                continue
            if n_left < limits.min_leaf or n_node - n_left < limits.min_leaf:
                continue
            worth = _worth(stats, left, right, left_weight, weight, limits.criterion)
            if worth > best:
                best, chosen = worth, place + 1
                best_threshold = np.inf
                if not is_last:
                    best_threshold = midpoint(entries[place]["value"], entries[place + 1]["value"])
                gaps_left = side == 1 if n_gaps else n_left > n_node - n_left
    return chosen, best, best_threshold, gaps_left


@kernel_part
def try_weighted_column(
    start: int,
    stop: int,
    weight: float,
    stats: Float64s,
    entries: Records,
    target: Target,
    weights: Float64s,
    limits: Limits,
    left: Float64s,
    right: Float64s,
) -> tuple[bool, float, float, bool]:
    """Look at one column in a node whose rows are ``entries[start:stop]``, those with a gap last.

    Returns whether it varies, where a gap is a value beside numbers, and of its best cut the gain, the threshold and
    whether gaps go left; the gain is minus infinity if there is no cut.
    """
    middle = start + _count_known(start, stop, entries)
    if middle == start:
        return False, -np.inf, 0.0, False
    if middle == stop and not entries[stop - 1]["value"] > entries[start]["value"] + TIE:
        return False, -np.inf, 0.0, False
    _, worth, threshold, gaps_left = best_weighted_cut(
        start, middle, middle, stop, weight, stats, entries, target, weights, limits, left, right
    )
    return True, worth, threshold, gaps_left
