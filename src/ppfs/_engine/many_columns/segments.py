"""Stored entries of nodes: collected once from the sorted columns, then divided from node to node."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int32s, Int64s, Records, kernel_function, kernel_part
from ppfs._engine.trees.cuts import ENTRY, Sides, try_column
from ppfs._engine.trees.rules import TIE, Criterion, Limits
from ppfs._engine.trees.two_classes import best_two_class_cut, fill_scales

#: A column in a node: its stored entries there are ``Segments.entries[start:stop]``, sorted.
SEGMENT = np.dtype([("column", np.int64), ("start", np.int64), ("stop", np.int64)])


class Segments(NamedTuple):
    """Stored entries of the nodes being grown, and the columns that vary in each pending node.

    Nodes are grown depth first, so their lists of segments form a stack.
    """

    entries: Records  # (n_entries,)
    packed: Int64s  # (n_entries,) the same memory: an entry is moved as one number
    listed: Records  # (n_listed,)
    spare: Int64s  # (n_rows,) packed entries that a partition moves to the right
    scales: Float64s  # (n_rows,) of the cuts of a node with two classes


def make_segments(n_entries: int, n_listed: int, n_rows: int) -> Segments:
    """Allocate memory for entries and for lists of segments."""
    packed = np.empty(n_entries, dtype=np.int64)
    return Segments(
        packed.view(ENTRY),
        packed,
        np.empty(n_listed, dtype=SEGMENT),
        np.empty(n_rows, dtype=np.int64),
        np.empty(n_rows),
    )


@kernel_part
def first_place(stale: int, n_stale: int, n_active: int) -> int:
    """Return where the list of a stale node begins: the node that is visited first is on top of the stack.

    A list has one place more than there are columns, because `load` records where the next segment would start.
    """
    return (n_stale - 1 - stale) * (n_active + 1)


@kernel_function
def load(
    columns: ColumnArrays, active: Int32s, sizes: Int32s, marks: Int32s, segments: Segments, tops: Int64s
) -> None:
    """Collect the segments of several nodes in one pass over the active columns.

    Parameters
    ----------
    active : array of shape (n_active,), int32
    sizes : array of shape (n_stale,), int32
        Train rows of each node.
    marks : array of shape (n_rows,), int32
        The node that a row belongs to, or -1.
    segments : Segments
        Filled with the entries, and with the list of each node from `first_place` on.
    tops : array of shape (n_stale, 2), int64
        Filled with the ends of the entries and of the list of each node.
    """
    entries, listed = segments.entries, segments.listed
    n_entries = 0
    for stale in range(sizes.size):
        tops[stale, 0] = n_entries
        tops[stale, 1] = first_place(stale, sizes.size, active.size)
        listed[tops[stale, 1]]["start"] = n_entries
        for column in active:
            n_entries += min(sizes[stale], columns.indptr[column + 1] - columns.indptr[column])
    for column in active:
        for place in range(columns.indptr[column], columns.indptr[column + 1]):
            stale = marks[columns.rows[place]]
            if stale >= 0:
                entry = entries[tops[stale, 0]]
                entry["row"] = columns.rows[place]
                entry["value"] = columns.values[place]
                tops[stale, 0] += 1
        for stale in range(sizes.size):
            segment = listed[tops[stale, 1]]
            if tops[stale, 0] > segment["start"]:
                segment["column"] = column
                segment["stop"] = tops[stale, 0]
                tops[stale, 1] += 1
                listed[tops[stale, 1]]["start"] = tops[stale, 0]


@kernel_function
def divide(
    begin: int, end: int, wants_left: bool, wants_right: bool, segments: Segments, marks: Int32s
) -> tuple[int, int]:
    """Partition the segments of ``listed[begin:end]`` and list them for the children that are grown further.

    The list of the right child (or of the only child) replaces that of its parent, and that of the left child is put on
    top of it. ``marks`` (n_rows,) is 1 for rows that go left. Returns the ends of the two lists.
    """
    entries, packed, listed, spare = segments.entries, segments.packed, segments.listed, segments.spare
    right_end, left_end = begin, end
    for place in range(begin, end):
        column, start, stop = listed[place]["column"], listed[place]["start"], listed[place]["stop"]
        middle, n_right = start, 0
        if wants_left and wants_right:
            for entry in range(start, stop):
                goes_left = marks[entries[entry]["row"]]
                moved = packed[entry]
                spare[n_right] = moved
                packed[middle] = moved
                middle += goes_left
                n_right += 1 - goes_left
            for right in range(n_right):
                packed[middle + right] = spare[right]
            if middle > start:
                listed[left_end]["column"] = column
                listed[left_end]["start"], listed[left_end]["stop"] = start, middle
                left_end += 1
            start = middle
        else:
            # The rows of the other child are no longer needed.
            kept = np.int32(wants_left)
            for entry in range(start, stop):
                is_kept = marks[entries[entry]["row"]] == kept
                packed[middle] = packed[entry]
                middle += is_kept
            stop = middle
        if stop > start:
            listed[right_end]["column"] = column
            listed[right_end]["start"], listed[right_end]["stop"] = start, stop
            right_end += 1
    return right_end, left_end


@kernel_function
def search(
    n_rows: int,
    weight: float,
    begin: int,
    end: int,
    stats: Float64s,
    segments: Segments,
    target: Target,
    limits: Limits,
    sides: Sides | None,
) -> tuple[int, float, bool, int]:
    """Find the best split of a node over the columns ``listed[begin:end]``.

    Without ``sides``, only cuts of two classes are compiled, see `counts_two_classes`.

    Returns the place of the split column in ``listed`` (-1 if there is none), the threshold, whether missing values go
    left, and the new end of the list: columns that are constant in the node are removed from it.
    """
    entries, listed = segments.entries, segments.listed
    best, best_gain, best_threshold, best_side = -1, -np.inf, 0.0, False
    counts_two = target.weights is None and target.classes.size > 0 and stats.size == 2
    counts_two = counts_two and limits.criterion == Criterion.GINI
    least = 0.0
    if counts_two:
        fill_scales(n_rows, segments.scales)
    kept = begin
    for place in range(begin, end):
        start, stop = listed[place]["start"], listed[place]["stop"]
        if counts_two and stop - start == n_rows:
            if not entries[stop - 1]["value"] > entries[start]["value"] + TIE:
                continue
            worth, threshold, least = best_two_class_cut(
                start, stop, stats, entries, target.classes, segments.scales, least, limits
            )
            listed[kept] = listed[place]
            if worth > best_gain:
                best, best_gain, best_threshold, best_side = kept, worth, threshold, False
            kept += 1
        elif sides is not None:
            varies, worth, threshold, missing_left = try_column(
                start, stop, n_rows, weight, stats, entries, target, target.weights, None, limits, sides
            )
            if not varies:
                continue
            listed[kept] = listed[place]
            if worth > best_gain:
                best, best_gain, best_threshold, best_side = kept, worth, threshold, missing_left
            kept += 1
    return best, best_threshold, best_side, kept
