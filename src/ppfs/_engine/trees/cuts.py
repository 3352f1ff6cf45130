"""The best cut of a node: the scan over the sorted items of a column, for every tree grower.

An *item* is a row, or a group of rows whose values are tied. Items are moved to the left side one by one, in the order
of their values, and the gain of a cut is computed wherever two neighbors differ enough:

    values     0.1   0.4   0.4   0.9   missing
    cuts          0.25        0.65   inf           the last one leaves only missing values on the right

Sums are rounded as in scikit-learn. If the weights of rows are integers, sums of squared class weights are exact, so
they are updated item by item; with real weights they are computed from their terms.
"""

from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Records, int64, kernel_function, kernel_part
from ppfs._engine.trees.criterion import add_row, copy_stats, entropy_gain, gain, midpoint, weight_of
from ppfs._engine.trees.leaf_rule import may_cut
from ppfs._engine.trees.rules import TIE, Criterion, Limits

#: A stored row of a column: eight bytes, moved at once.
ENTRY = np.dtype([("row", np.int32), ("value", np.float32)])

_ZERO, _INFINITY = np.float32(0.0), np.float32(np.inf)


class Sides(NamedTuple):
    """Scratch memory for the statistics of both sides of a cut, and of the rows that a sparse column does not store."""

    left: Float64s  # (n_stats,)
    right: Float64s  # (n_stats,)
    unstored: Float64s  # (n_stats,)


def make_sides(n_stats: int) -> Sides:
    """Allocate memory for statistics of the given length."""
    return Sides(np.empty(n_stats), np.empty(n_stats), np.empty(n_stats))


class Unstored(NamedTuple):
    """The rows of a node that a sparse column does not store: one item with the value zero.

    Attributes
    ----------
    place : int
        How many items of the node come before them.
    stats : array of shape (n_stats,), float64
    """

    place: int
    n_rows: float
    weight: float
    stats: Float64s


@kernel_part
def sum_squares(stats: Float64s, left: Float64s) -> tuple[float, float]:
    """Return the sums of squared class weights of both sides of a cut, from their terms."""
    left_sum, right_sum = 0.0, 0.0
    for label in range(stats.size):
        left_sum += left[label] * left[label]
        right_sum += (stats[label] - left[label]) * (stats[label] - left[label])
    return left_sum, right_sum


@kernel_part
def _updated_squares(
    label: int,
    before: float,
    weight: float,
    stats: Float64s,
    left: Float64s,
    left_sum: float,
    right_sum: float,
    real_weights: Float64s | None,
) -> tuple[float, float]:
    """Return the sums of `sum_squares` after ``weight`` was added to the weight ``before`` of a class on the left."""
    if real_weights is not None:
        return sum_squares(stats, left)
    return (
        left_sum + weight * (2.0 * before + weight),
        right_sum - weight * (2.0 * (stats[label] - before) - weight),
    )


@kernel_part
def _span_of_entry(item: int, entries: Records) -> tuple[np.float32, np.float32]:
    """Return the lowest and the highest value of an item."""
    value = entries[item]["value"]
    return value, value


@kernel_part
def _add_entry(
    item: int,
    entries: Records,
    weights: Float64s | None,
    stats: Float64s,
    target: Target,
    criterion: int,
    left: Float64s,
    left_sum: float,
    right_sum: float,
) -> tuple[float, float, float, float]:
    """Move an item to the left; return its number of rows, its weight, and the sums that `gain` needs."""
    row = entries[item]["row"]
    weight = weight_of(row, weights)
    if target.classes.size:
        label = target.classes[row]
        before = left[label]
        left[label] = before + weight
        left_sum, right_sum = _updated_squares(
            label, before, weight, stats, left, left_sum, right_sum, target.weights
        )
    else:
        left_sum += weight * target.values[row]
        right_sum = stats[0] - left_sum
    return 1.0, weight, left_sum, right_sum


@kernel_part
def _add_unstored(
    unstored: Unstored, stats: Float64s, target: Target, left: Float64s, left_sum: float
) -> tuple[float, float]:
    """Move the rows that are not stored to the left; return the sums that `gain` needs."""
    if target.classes.size == 0:
        left_sum += unstored.stats[0]
        return left_sum, stats[0] - left_sum
    left_sum, right_sum = 0.0, 0.0
    for label in range(stats.size):
        left[label] += unstored.stats[label]
        left_sum += left[label] * left[label]
        right_sum += (stats[label] - left[label]) * (stats[label] - left[label])
    return left_sum, right_sum


@kernel_part
def _goes_left(
    side: int, has_missing: bool, n_left: float, n_rows: float, real_weights: Float64s | None
) -> bool:
    """Return whether missing values go left of a cut; only trees with real weights support missing values."""
    if real_weights is None:
        return False
    return bool(side == 1 if has_missing else n_left > n_rows - n_left)


@kernel_part
def _has_missing(end: int, missing_end: int, real_weights: Float64s | None) -> bool:
    """Return whether a node has missing values; without real weights, this is a compile-time constant."""
    return False if real_weights is None else bool(missing_end > end)


@kernel_part
def _have_enough(
    n_left: float, n_rows: float, left: float, right: float, limits: Limits, has_weights: Any
) -> bool:
    """Return whether both sides have enough rows. If all weights are 1, their number is their weight."""
    if has_weights is None:
        return may_cut(left, right, limits)
    return may_cut(n_left, n_rows - n_left, limits)


@kernel_part
def _is_apart(previous: np.float32, value: np.float32, drawn: float | None) -> bool:
    """Return whether a cut may be between two values: wherever they differ, or only where it was drawn."""
    if drawn is None or np.isnan(drawn):
        return bool(value > previous + TIE)
    return float(previous) <= drawn and float(value) > drawn


@kernel_part
def _is_beyond(value: np.float32, drawn: float | None) -> bool:
    """Return whether no cut is possible before an item with this value, because the threshold was drawn."""
    return False if drawn is None else float(value) > drawn


@kernel_function
def best_cut(
    first: int,
    end: int,
    missing_first: int,
    missing_end: int,
    items: Any,
    span: Callable[..., Any],
    add: Callable[..., Any],
    weights: Float64s | None,
    has_weights: Any,
    unstored: Unstored | None,
    drawn: float | None,
    n_rows: float,
    weight: float,
    stats: Float64s,
    target: Target,
    limits: Limits,
    sides: Sides,
) -> tuple[int, float, float, bool]:
    """Find the best cut of a node in one column; of equal ones the first, with missing values on the right.

    Parameters
    ----------
    first, end : int
        The items of the node are ``first`` to ``end - 1``, in the order of their values.
    missing_first, missing_end : int
        Its items with missing values. They are tried on the right of every cut, where they may be the only items, and
        then on the left.
    items : array of `ENTRY`, or Groups
    span, add : functions
        Functions that read items: see `_span_of_entry` and `_add_entry`.
    weights : array of shape (n_rows,), float64, or None
        Passed on to ``add``.
    has_weights : object or None
        None if all weights are 1.
    unstored : Unstored or None
    drawn : float or None
        The only threshold to try, unless it is None or NaN.
    n_rows, weight : float
        Rows of the node, and their weight.
    stats : array of shape (n_stats,), float64
        Statistics of the node.
    sides : Sides
        Memory.

    Returns
    -------
    place : int
        The first item on the right of the cut; -1 if there is no cut.
    gain, threshold : float
        The threshold is infinite if only missing values are on the right.
    missing_left : bool
        Whether missing values go left; if the node has none, whether most of its rows do.
    """
    left, right = sides.left, sides.right
    place, best, threshold, missing_left = int64(-1), -inf, 0.0, False
    n_items = end - first
    zero_place = n_items
    if unstored is not None and unstored.n_rows > 0.0:
        zero_place = unstored.place
        n_items += 1
    has_missing = _has_missing(missing_first, missing_end, target.weights)
    for side in range(2 if has_missing else 1):
        n_left, left_weight, left_sum, right_sum = 0.0, 0.0, 0.0, 0.0
        for stat in range(stats.size):
            left[stat] = 0.0
            right_sum += stats[stat] * stats[stat]
        if side == 1:
            for item in range(missing_first, missing_end):
                n_added, added, left_sum, right_sum = add(
                    item, items, weights, stats, target, limits.criterion, left, left_sum, right_sum
                )
                n_left += n_added
                left_weight += added
        # Missing values on the right allow one more cut, after the last item.
        is_open = has_missing and side == 0
        previous = _INFINITY
        for number in range(n_items + 1 if is_open else n_items):
            is_zero, is_end = unstored is not None and number == zero_place, is_open and number == n_items
            item = first + number
            if unstored is not None:
                item -= number > zero_place
            low, high = _ZERO, _ZERO
            if is_end:
                low, high = _INFINITY, _INFINITY
            elif not is_zero:
                low, high = span(item, items)
            right_weight = weight - left_weight
            if _is_apart(previous, low, drawn) and _have_enough(
                n_left, n_rows, left_weight, right_weight, limits, has_weights
            ):
                if limits.criterion == Criterion.ENTROPY:
                    worth = entropy_gain(stats, left, right, left_weight, right_weight)
                else:
                    worth = gain(left_sum, right_sum, left_weight, right_weight, limits.criterion)
                if worth > best:
                    best, place = worth, item
                    threshold = _threshold(previous, low, drawn)
                    missing_left = _goes_left(side, has_missing, n_left, n_rows, target.weights)
            if is_end or _is_beyond(low, drawn):
                break
            previous = high
            if unstored is not None and is_zero:
                n_left += unstored.n_rows
                left_weight += unstored.weight
                left_sum, right_sum = _add_unstored(unstored, stats, target, left, left_sum)
                continue
            n_added, added, left_sum, right_sum = add(
                item, items, weights, stats, target, limits.criterion, left, left_sum, right_sum
            )
            n_left += n_added
            left_weight += added
    return place, best, threshold, missing_left


@kernel_part
def _threshold(previous: np.float32, value: np.float32, drawn: float | None) -> float:
    if drawn is None or np.isnan(drawn):
        return midpoint(previous, value)
    return drawn


@kernel_part
def _count_known(start: int, stop: int, entries: Records, real_weights: Float64s | None) -> int:
    """Return how many of the sorted entries are not missing; only trees with real weights support missing values."""
    end = stop
    if real_weights is not None:
        while end > start and entries[end - 1]["value"] != entries[end - 1]["value"]:
            end -= 1
    return end - start


@kernel_part
def _sum_unstored(
    start: int,
    stop: int,
    n_rows: int,
    weight: float,
    stats: Float64s,
    entries: Records,
    target: Target,
    weights: Float64s | None,
    out: Float64s,
) -> Unstored:
    """Sum the rows of a node that a column does not store, as all rows minus the stored ones."""
    n_unstored = n_rows - (stop - start)
    place, stored_weight = int64(0), 0.0
    if n_unstored > 0:
        copy_stats(stats, out)
        for entry in range(start, stop):
            row = entries[entry]["row"]
            own = weight_of(row, weights)
            stored_weight += own
            add_row(row, -own, target, out)
            place += entries[entry]["value"] < 0.0
    return Unstored(place, float(n_unstored), weight - stored_weight, out)


@kernel_part
def draw_threshold(low: np.float32, high: np.float32, chance: float | None) -> float | None:
    """Return a random threshold between two values; None if ``chance`` is None, and NaN if it is NaN."""
    if chance is None:
        return None
    drawn = float(low) + (float(high) - float(low)) * chance
    return float(low) if drawn >= float(high) else drawn


@kernel_part
def try_column(
    start: int,
    stop: int,
    n_rows: int,
    weight: float,
    stats: Float64s,
    entries: Records,
    target: Target,
    weights: Float64s | None,
    chance: float | None,
    limits: Limits,
    sides: Sides,
) -> tuple[bool, float, float, bool]:
    """Try one column in a node whose stored rows are ``entries[start:stop]``, missing values last.

    Parameters
    ----------
    n_rows, weight, stats
        Of the node.
    weights : array of shape (n_rows,), float64, or None
        Weights of the rows; None if all are 1.
    chance : float or None
        For trees that cut at random, a number from 0 to 1; NaN or None for other trees.
    sides : Sides
        Memory.

    Returns
    -------
    varies : bool
        Whether the column has at least two values in the node; a missing value differs from all others.
    gain, threshold, missing_left
        Of the best cut; the gain is minus infinity if there is none.
    """
    end = start + _count_known(start, stop, entries, target.weights)
    if end == start:
        return False, -inf, 0.0, False
    low, high = entries[start]["value"], entries[end - 1]["value"]
    if stop - start < n_rows:
        low, high = min(low, _ZERO), max(high, _ZERO)
    if end == stop and not high > low + TIE:
        return False, -inf, 0.0, False
    _, worth, threshold, missing_left = best_cut(
        start,
        end,
        end,
        stop,
        entries,
        _span_of_entry,
        _add_entry,
        weights,
        weights,
        _sum_unstored(start, stop, n_rows, weight, stats, entries, target, weights, sides.unstored),
        draw_threshold(low, high, chance),
        float(n_rows),
        weight,
        stats,
        target,
        limits,
        sides,
    )
    return True, worth, threshold, missing_left
