"""The best split of a node."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Records, int64, kernel_function, kernel_part
from ppfs._engine.trees.criterion import TIE, add_row, entropy_gain, gain, midpoint
from ppfs._engine.trees.rules import Criterion, Limits
from ppfs._engine.trees.segments import Segments
from ppfs._engine.trees.weighted_cuts import try_weighted_column


class Sides(NamedTuple):
    """Statistics of the two sides of a cut, and of the rows that a column does not store.

    Where rows have weights all of them are stored, and ``zeros`` is memory for the left side.
    """

    left: Float64s  # (n_stats,)
    right: Float64s  # (n_stats,)
    zeros: Float64s  # (1, n_stats)


def make_sides(n_stats: int) -> Sides:
    """Allocate for statistics of the given length."""
    return Sides(np.empty(n_stats), np.empty(n_stats), np.empty((1, n_stats)))


@kernel_function
def _scan(
    start: int,
    stop: int,
    n_node: int,
    stats: Float64s,
    entries: Records,
    target: Target,
    limits: Limits,
    sides: Sides,
) -> tuple[float, float]:
    """Return the best gain of one column in a node, and its threshold; the lowest threshold wins a tie."""
    left, right, zeros = sides
    has_classes = target.classes.size > 0
    best_gain, best_threshold = -np.inf, 0.0
    n_zeros = n_node - (stop - start)
    n_items = stop - start
    # The zeros of a sparse column stand as one more item between its negative and its positive entries.
    zero_item = n_items
    # What `gain` asks for. Sums of squared class counts are whole numbers, so nothing is rounded.
    left_sum, right_sum = 0.0, 0.0
    for stat in range(stats.size):
        left[stat] = 0.0
        zeros[0, stat] = stats[stat]
        right_sum += stats[stat] * stats[stat]
    if n_zeros > 0:
        n_items += 1
        zero_item = 0
        for place in range(start, stop):
            add_row(zeros, int64(0), entries[place]["row"], target, -1.0)
            zero_item += entries[place]["value"] < 0.0
    # Counts are floats, because a conversion at every cut takes a third of the time.
    n_left, n_rows, min_leaf = 0.0, float(n_node), float(limits.min_leaf)
    previous = np.float32(0.0)
    for item in range(n_items):
        is_zero = item == zero_item
        place = start + item - (item > zero_item)
        value = np.float32(0.0) if is_zero else entries[place]["value"]
        n_right = n_rows - n_left
        if value > previous + TIE and n_left >= min_leaf and n_right >= min_leaf:
            if limits.criterion == Criterion.ENTROPY:
                worth = entropy_gain(stats, left, right, n_left, n_right)
            else:
                worth = gain(left_sum, right_sum, n_left, n_right, limits.criterion)
            if worth > best_gain:
                best_gain = worth
                best_threshold = midpoint(previous, value)
        previous = value
        if is_zero:
            n_left += n_zeros
            if has_classes:
                left_sum, right_sum = 0.0, 0.0
                for label in range(stats.size):
                    left[label] += zeros[0, label]
                    left_sum += left[label] * left[label]
                    right_sum += (stats[label] - left[label]) * (stats[label] - left[label])
            else:
                left_sum += zeros[0, 0]
                right_sum = stats[0] - left_sum
            continue
        n_left += 1.0
        if has_classes:
            label = target.classes[entries[place]["row"]]
            left_sum += 2.0 * left[label] + 1.0
            left[label] += 1.0
            right_sum -= 2.0 * (stats[label] - left[label]) + 1.0
        else:
            left_sum += target.values[entries[place]["row"]]
            right_sum = stats[0] - left_sum
    return best_gain, best_threshold


@kernel_part
def _try_column(
    start: int,
    stop: int,
    n_node: int,
    weight: float,
    stats: Float64s,
    entries: Records,
    target: Target,
    weights: Float64s | None,
    limits: Limits,
    sides: Sides,
) -> tuple[bool, float, float, bool]:
    """Look at one column in a node; see `try_weighted_column`."""
    if weights is not None:
        return try_weighted_column(
            start, stop, weight, stats, entries, target, weights, limits, sides.zeros, sides.right
        )
    low, high = entries[start]["value"], entries[stop - 1]["value"]
    if stop - start < n_node:
        low, high = (low if low < 0.0 else np.float32(0.0)), (high if high > 0.0 else np.float32(0.0))
    if not high > low + TIE:
        return False, -np.inf, 0.0, False
    worth, threshold = _scan(start, stop, n_node, stats, entries, target, limits, sides)
    return True, worth, threshold, False


@kernel_function
def search(
    n_node: int,
    weight: float,
    begin: int,
    end: int,
    stats: Float64s,
    segments: Segments,
    target: Target,
    limits: Limits,
    sides: Sides,
) -> tuple[int, float, bool, int]:
    """Find the best split of a node over the columns ``listed[begin:end]``.

    Returns the place of the split column in ``listed`` (-1 if there is none), the threshold, whether gaps go left, and
    the new end of the list: columns that are constant in the node are taken off it.
    """
    entries, listed = segments.entries, segments.listed
    best, best_gain, best_threshold, best_side = -1, -np.inf, 0.0, False
    kept = begin
    for place in range(begin, end):
        start, stop = listed[place]["start"], listed[place]["stop"]
        varies, worth, threshold, gaps_left = _try_column(
            start, stop, n_node, weight, stats, entries, target, target.weights, limits, sides
        )
        if not varies:
            continue
        listed[kept] = listed[place]
        if worth > best_gain:
            best, best_gain, best_threshold, best_side = kept, worth, threshold, gaps_left
        kept += 1
    return best, best_threshold, best_side, kept
