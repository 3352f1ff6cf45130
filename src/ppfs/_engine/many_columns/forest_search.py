"""The best split of a node over columns that are tried in an order drawn by key.

scikit-learn tries columns without replacement until it has seen as many as `max_features` says, and goes on as long
as none of them varied. Here a column's turn is a number that is drawn from the keys of the node and of the column. So
the order is the same whatever other columns there are, and what is tried after a removal is what was tried before,
and one column more.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, Words, first_bit
from ppfs._engine.inputs.column_store import ColumnStore
from ppfs._engine.inputs.random_keys import combine, uniform
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import (
    Float64s,
    Int32s,
    Int64s,
    Records,
    int64,
    kernel_function,
    kernel_part,
)
from ppfs._engine.trees.criterion import TIE, entropy_gain, gain, midpoint
from ppfs._engine.trees.rules import Criterion, Limits
from ppfs._engine.trees.segments import ENTRY
from ppfs._engine.trees.weighted_cuts import try_weighted_column

_ORDER = np.uint64(3)

#: No column comes later.
LAST = ~NONE


class Candidates(NamedTuple):
    """The columns that may be split on."""

    columns: Int32s  # (n_active,) ascending
    keys: Words  # (n_columns,) of every column
    n_tried: int  # how many are tried in a node
    is_random: bool  # whether cuts are drawn at random


class SearchWork(NamedTuple):
    """Memory for the search in one node."""

    weights: Float64s  # (n_rows,) how often the tree draws a row
    marks: Int64s  # (n_rows,) number of the node that a train row is in; negative for test rows
    places: Words  # (n_rows // 64 + 1,) all bits clear between uses
    entries: Int64s  # (n_rows,) entries of a column in a node, sorted
    turns: Words  # (n_active,) turns of the columns that may be tried, and the columns
    tried: Int32s  # (n_active,)
    stats: Float64s  # (n_stats,) of the node
    left: Float64s  # (n_stats,) of its sides
    right: Float64s
    zeros: Float64s  # (n_stats,) of the rows that a column does not store
    # Where rows have weights, or columns have gaps; None is a type of its own to Numba, which then compiles less.
    gathered: Records | None  # (n_rows,) of the type `ENTRY`: a column in a node
    left_side: Float64s | None  # (1, n_stats)


def make_search_work(n_rows: int, n_active: int, n_stats: int, *, is_weighted: bool) -> SearchWork:
    """Allocate the memory of one task."""
    return SearchWork(
        np.zeros(n_rows),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(n_rows // 64 + 1, dtype=np.uint64),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_active, dtype=np.uint64),
        np.empty(n_active, dtype=np.int32),
        np.empty(n_stats),
        np.empty(n_stats),
        np.empty(n_stats),
        np.empty(n_stats),
        np.empty(n_rows, dtype=ENTRY) if is_weighted else None,
        np.empty((1, n_stats)) if is_weighted else None,
    )


@kernel_part
def turn_of(key: np.uint64, column: int, candidates: Candidates) -> np.uint64:
    """Return when a column is tried in a node: the lower, the sooner."""
    return combine(combine(key, candidates.keys[column]), _ORDER)


@kernel_part
def _is_before(turn: np.uint64, column: int, other_turn: np.uint64, other: int) -> bool:
    """Tell whether a column is tried before another; columns of equal content go by their numbers."""
    return bool(turn < other_turn or (turn == other_turn and column < other))


@kernel_part
def _sort_turns(n_turns: int, turns: Words, tried: Int32s) -> None:
    """Sort columns by their turns (Shell's method)."""
    gap = 1
    while 3 * gap + 1 < n_turns:
        gap = 3 * gap + 1
    while gap > 0:
        for item in range(gap, n_turns):
            turn, column = turns[item], int64(tried[item])
            place = item
            while place >= gap and _is_before(turn, column, turns[place - gap], int64(tried[place - gap])):
                turns[place], tried[place] = turns[place - gap], tried[place - gap]
                place -= gap
            turns[place], tried[place] = turn, column
        gap //= 3


@kernel_part
def draw_turns(
    key: np.uint64, beyond: np.uint64, limit: np.uint64, candidates: Candidates, turns: Words, tried: Int32s
) -> int:
    """List the columns whose turn comes after ``beyond`` (0 for none) and up to ``limit``, sorted; return how many."""
    n_turns = int64(0)
    for index in range(candidates.columns.size):
        column = int64(candidates.columns[index])
        turn = turn_of(key, column, candidates)
        if turn <= limit and (turn > beyond or beyond == NONE):
            turns[n_turns] = turn
            tried[n_turns] = column
            n_turns += 1
    _sort_turns(n_turns, turns, tried)
    return n_turns


@kernel_part
def next_turn(key: np.uint64, last: int, last_turn: np.uint64, candidates: Candidates) -> int:
    """Return the column that is tried next after the last one, or -1."""
    found, found_turn = int64(-1), LAST
    for index in range(candidates.columns.size):
        column = int64(candidates.columns[index])
        turn = turn_of(key, column, candidates)
        if _is_before(last_turn, last, turn, column) and (
            found < 0 or _is_before(turn, column, found_turn, found)
        ):
            found, found_turn = int64(column), turn
    return found


@kernel_part
def previous_turn(key: np.uint64, last: int, last_turn: np.uint64, candidates: Candidates) -> int:
    """Return the column that is tried before the last one; there is one."""
    found, found_turn = int64(-1), NONE
    for index in range(candidates.columns.size):
        column = int64(candidates.columns[index])
        turn = turn_of(key, column, candidates)
        if _is_before(turn, column, last_turn, last) and (
            found < 0 or _is_before(found_turn, found, turn, column)
        ):
            found, found_turn = int64(column), turn
    return found


@kernel_part
def was_tried(key: np.uint64, column: int, last: int, last_turn: np.uint64, candidates: Candidates) -> bool:
    """Tell whether a column was tried in a node, where the last one is known."""
    return not _is_before(last_turn, last, turn_of(key, column, candidates), column)


@kernel_part
def likely_limit(n_wanted: int, n_active: int) -> np.uint64:
    """Return a turn that about as many columns as wanted, and some more, come before."""
    share = (n_wanted + 3.0 * np.sqrt(n_wanted) + 3.0) / n_active
    if share >= 0.9:
        return LAST
    return np.uint64(share * 18446744073709551615.0)


@kernel_part
def _collect(
    column: int, start: int, stop: int, stamp: int, rows: Int32s, store: ColumnStore, work: SearchWork
) -> int:
    """List the entries of a column in the node with rows[start:stop], sorted; return how many are stored."""
    first, end, slot = store.indptr[column], store.indptr[column + 1], store.slots[column]
    entries, places = work.entries, work.places
    n_entries = 0
    if slot < 0 or end - first < 2 * (stop - start):
        marks, stored = work.marks, store.rows
        for entry in range(first, end):
            entries[n_entries] = entry
            n_entries += marks[stored[entry]] == stamp
        return n_entries
    low, high = places.size, -1
    for index in range(start, stop):
        place = store.places[slot, rows[index]]
        if place >= 0:
            word = place >> 6
            places[word] |= ONE << np.uint64(place & 63)
            low, high = min(low, word), max(high, word)
    for word in range(low, high + 1):
        bits = places[word]
        places[word] = NONE
        while bits != NONE:
            entries[n_entries] = first + (word << 6) + first_bit(bits)
            n_entries += 1
            bits &= bits - ONE
    return n_entries


@kernel_part
def add_weight(row: int, weight: float, target: Target, stats: Float64s) -> None:
    """Add a row of this weight to the statistics, or take it off with a negative one."""
    if target.classes.size:
        stats[target.classes[row]] += weight
    else:
        number = target.values[row]
        stats[0] += weight * number
        stats[1] += weight * number * number


@kernel_part
def _squares(stats: Float64s) -> float:
    total = 0.0
    for stat in stats:
        total += stat * stat
    return total


@kernel_part
def _sum_zeros(n_entries: int, store: ColumnStore, target: Target, work: SearchWork) -> float:
    """Sum up the rows of a node that a column does not store, from those that it does; return the stored weight."""
    stored_weight = 0.0
    for stat in range(work.zeros.size):
        work.zeros[stat] = work.stats[stat]
    for index in range(n_entries):
        row = store.rows[work.entries[index]]
        weight = work.weights[row]
        stored_weight += weight
        add_weight(row, -weight, target, work.zeros)
    return stored_weight


@kernel_part
def _try_weighted(
    n_entries: int,
    weight: float,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    work: SearchWork,
    gathered: Records,
    left: Float64s,
) -> tuple[bool, float, float, bool]:
    """`try_column` where rows have real weights or columns have gaps, and all rows are stored."""
    for index in range(n_entries):
        entry = work.entries[index]
        gathered[index]["row"] = store.rows[entry]
        gathered[index]["value"] = store.values[entry]
    return try_weighted_column(
        int64(0), n_entries, weight, work.stats, gathered, target, work.weights, limits, left, work.right
    )


@kernel_function
def try_column(
    column: int,
    start: int,
    stop: int,
    stamp: int,
    weight: float,
    key: np.uint64,
    rows: Int32s,
    is_random: bool,
    column_key: np.uint64,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    work: SearchWork,
    gathered: Records | None,
    left_side: Float64s | None,
) -> tuple[bool, float, float, bool]:
    """Look at one column in the node with rows[start:stop], whose statistics are ``work.stats`` and weight ``weight``.

    ``gathered`` and ``left_side`` are those of ``work``: only of arguments Numba sees in time that they are None.

    Returns whether it varies, and the gain and threshold of its best cut, or of one cut at random, and whether gaps go
    left; the gain is minus infinity if there is no cut.
    """
    n_entries = _collect(column, start, stop, stamp, rows, store, work)
    if gathered is not None and left_side is not None:
        return _try_weighted(n_entries, weight, store, target, limits, work, gathered, left_side)
    n_zeros = stop - start - n_entries
    stored, values, entries, weights = store.rows, store.values, work.entries, work.weights
    classes, numbers, stats, left, right = target.classes, target.values, work.stats, work.left, work.right
    # The rows that are not stored stand as one more item between negative and positive entries.
    zero_item, n_items = n_entries, n_entries
    low, high = np.float32(0.0), np.float32(0.0)
    if n_entries:
        low, high = values[entries[0]], values[entries[n_entries - 1]]
    if n_zeros:
        n_items += 1
        zero_item = 0
        while zero_item < n_entries and values[entries[zero_item]] < 0.0:
            zero_item += 1
        low, high = min(low, np.float32(0.0)), max(high, np.float32(0.0))
    if high <= low + TIE:
        return False, -inf, 0.0, False
    zero_weight = 0.0
    if n_zeros:
        zero_weight = weight - _sum_zeros(n_entries, store, target, work)
    drawn = 0.0
    if is_random:
        drawn = float(low) + (float(high) - float(low)) * uniform(combine(key, column_key))
        if drawn >= float(high):
            drawn = float(low)
    for stat in range(stats.size):
        left[stat] = 0.0
    has_classes, criterion, min_leaf = classes.size > 0, limits.criterion, limits.min_leaf
    best_gain, best_threshold = -inf, 0.0
    left_sum, right_sum = 0.0, _squares(stats)
    n_left, left_weight = 0, 0.0
    previous = low
    for item in range(n_items):
        is_zero = item == zero_item and n_zeros > 0
        entry = int64(0)
        value = np.float32(0.0)
        if not is_zero:
            entry = entries[item - (item > zero_item and n_zeros > 0)]
            value = values[entry]
        is_cut = bool(value > previous + TIE)
        if is_random:
            is_cut = float(previous) <= drawn and float(value) > drawn
        if is_cut and n_left >= min_leaf and stop - start - n_left >= min_leaf:
            right_weight = weight - left_weight
            if criterion == Criterion.ENTROPY:
                worth = entropy_gain(stats, left, right, left_weight, right_weight)
            elif criterion == Criterion.SQUARED_ERROR:
                worth = gain(left[0], stats[0] - left[0], left_weight, right_weight, criterion)
            else:
                worth = gain(left_sum, right_sum, left_weight, right_weight, criterion)
            if worth > best_gain:
                best_gain = worth
                best_threshold = drawn if is_random else midpoint(previous, value)
        previous = value
        if is_zero:
            n_left += n_zeros
            left_weight += zero_weight
            left_sum, right_sum = 0.0, 0.0
            for stat in range(stats.size):
                left[stat] += work.zeros[stat]
                left_sum += left[stat] * left[stat]
                right_sum += (stats[stat] - left[stat]) * (stats[stat] - left[stat])
            continue
        row = stored[entry]
        own = weights[row]
        n_left += 1
        left_weight += own
        if has_classes:
            label = classes[row]
            before = left[label]
            left[label] = before + own
            left_sum += own * (2.0 * before + own)
            right_sum -= own * (2.0 * (stats[label] - before) - own)
        else:
            left[0] += own * numbers[row]
    return True, best_gain, best_threshold, False
