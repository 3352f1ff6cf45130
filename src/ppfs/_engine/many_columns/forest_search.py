"""The best split of a node over columns that are tried in a random order determined by keys.

scikit-learn tries columns without replacement until it has tried `max_features` of them, and goes on as long as none
of them varied. Here the *turn* of a column is a random number determined by the keys of the node and of the column. So
the order does not depend on which other columns there are, and after a removal the same columns are tried as before,
plus one more.
"""

from math import nan
from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, Words, first_bit
from ppfs._engine.inputs.column_store import ColumnStore
from ppfs._engine.inputs.random_keys import combine, uniform
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int32s, Int64s, Records, int64, kernel_function, kernel_part
from ppfs._engine.trees.cuts import ENTRY, Sides, make_sides, try_column
from ppfs._engine.trees.rules import Limits

_ORDER = np.uint64(3)

#: A turn that is later than that of any column.
LAST = ~NONE


class Candidates(NamedTuple):
    """The columns that may be split on."""

    columns: Int32s  # (n_active,) ascending
    keys: Words  # (n_columns,) of every column
    n_tried: int  # how many are tried in a node
    is_random: bool  # whether cuts are drawn at random


class SearchWork(NamedTuple):
    """Scratch memory for the search in one node."""

    weights: Float64s  # (n_rows,) how often the tree draws a row, times its weight
    marks: Int64s  # (n_rows,) number of the node that a train row is in; negative for test rows
    places: Words  # (n_rows // 64 + 1,) all bits clear between uses
    entries: Records  # (n_rows,) of the type `ENTRY`: a column in a node, sorted
    turns: Words  # (n_active,) turns of the columns that may be tried, and the columns
    tried: Int32s  # (n_active,)
    stats: Float64s  # (n_stats,) of the node
    sides: Sides


def make_search_work(n_rows: int, n_active: int, n_stats: int) -> SearchWork:
    """Allocate memory for one task."""
    return SearchWork(
        np.zeros(n_rows),
        np.zeros(n_rows, dtype=np.int64),
        np.zeros(n_rows // 64 + 1, dtype=np.uint64),
        np.empty(n_rows, dtype=ENTRY),
        np.empty(n_active, dtype=np.uint64),
        np.empty(n_active, dtype=np.int32),
        np.empty(n_stats),
        make_sides(n_stats),
    )


@kernel_part
def turn_of(key: np.uint64, column: int, candidates: Candidates) -> np.uint64:
    """Return the turn of a column in a node; columns are tried in ascending order of their turns."""
    return combine(combine(key, candidates.keys[column]), _ORDER)


@kernel_part
def _is_before(turn: np.uint64, column: int, other_turn: np.uint64, other: int) -> bool:
    """Return whether a column is tried before another; columns with equal content are ordered by their numbers."""
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
    """List the columns with turns after ``beyond`` (0 for none) and up to ``limit``, by turn; return their number."""
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
    """Return whether a column was tried in a node, given the last column that was tried."""
    return not _is_before(last_turn, last, turn_of(key, column, candidates), column)


@kernel_part
def likely_limit(n_wanted: int, n_active: int) -> np.uint64:
    """Return a turn that is later than those of slightly more columns than wanted."""
    share = (n_wanted + 3.0 * np.sqrt(n_wanted) + 3.0) / n_active
    if share >= 0.9:
        return LAST
    return np.uint64(share * 18446744073709551615.0)


@kernel_part
def _collect(
    column: int, start: int, stop: int, stamp: int, rows: Int32s, store: ColumnStore, work: SearchWork
) -> int:
    """List the sorted entries of a column in the node with rows[start:stop]; return how many are stored."""
    first, end, slot = store.indptr[column], store.indptr[column + 1], store.slots[column]
    entries, places, stored, values = work.entries, work.places, store.rows, store.values
    n_entries = 0
    if slot < 0 or end - first < 2 * (stop - start):
        marks = work.marks
        for entry in range(first, end):
            entries[n_entries]["row"] = stored[entry]
            entries[n_entries]["value"] = values[entry]
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
            entry = first + (word << 6) + first_bit(bits)
            entries[n_entries]["row"] = stored[entry]
            entries[n_entries]["value"] = values[entry]
            n_entries += 1
            bits &= bits - ONE
    return n_entries


@kernel_function
def try_in_node(
    column: int,
    start: int,
    stop: int,
    stamp: int,
    weight: float,
    key: np.uint64,
    rows: Int32s,
    candidates: Candidates,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    work: SearchWork,
) -> tuple[bool, float, float, bool]:
    """Try one column in the node with rows[start:stop], whose statistics are ``work.stats`` and weight ``weight``.

    Returns the same as `try_column`, for the best cut or for one random cut.
    """
    n_entries = _collect(column, start, stop, stamp, rows, store, work)
    chance = nan
    if candidates.is_random:
        chance = uniform(combine(key, candidates.keys[column]))
    return try_column(
        int64(0),
        n_entries,
        stop - start,
        weight,
        work.stats,
        work.entries,
        target,
        work.weights,
        chance,
        limits,
        work.sides,
    )
