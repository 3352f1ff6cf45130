"""Trees on many columns: scikit-learn's CART on columns that are sorted once.

A node owns an interval of ``rows`` and, for each column that still varies in it, a *segment*: its stored
entries in sorted order. A split partitions the segments, keeping their order, so nothing is sorted again.

A column's gain in a node depends on that column and that node alone, and of equal gains the first column
wins. Hence a tree that never splits on a column is also the tree without it, and when a column goes, only the
nodes that split on it and those below them are grown again; the others are copied.
"""

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ppfs._engine._jit import Float32s, Float64s, Int32s, kernel, kernel_function, kernel_part, kernel_stage
from ppfs._engine.columns import ColumnArrays, SortedColumns
from ppfs._engine.criterion import EPSILON, TIE, gain, gini_gain, impurity, is_worthless, midpoint, squared_gain
from ppfs._engine.rules import Criterion, Limits
from ppfs._engine.target import Target

#: What a node's ``feature`` holds where there is no split (yet).
LEAF, UNGROWN = -1, -2

#: What `grow` returns when it must be called again with a longer ``Segments.listed``.
OUT_OF_ROOM = -1

# Lists of columns for this many levels of pending nodes are allocated at first.
_USUAL_DEPTH = 16

Records: TypeAlias = npt.NDArray[np.void]

NODE = np.dtype(
    [
        ("feature", np.int32),  # the column a node splits on, `LEAF`, or `UNGROWN`
        ("left", np.int32),  # left child; the right child comes next; 0 for a leaf
        ("start", np.int32),  # the train rows of a node are rows[start:stop]
        ("stop", np.int32),
        ("depth", np.int32),
        ("threshold", np.float64),  # values up to and including it go left; 0 for a leaf
    ],
    align=True,
)

# A stored entry of a column: eight bytes, moved at once.
_ENTRY = np.dtype([("row", np.int32), ("value", np.float32)])

# The entries of a column in a node are segments.entries[start:stop].
_SEGMENT = np.dtype([("column", np.int64), ("start", np.int64), ("stop", np.int64)])

# A node to visit: its number, its number in the old tree or -1, and its interval of segments.listed.
_PENDING = np.dtype([("node", np.int64), ("origin", np.int64), ("begin", np.int64), ("end", np.int64)])


class Nodes(NamedTuple):
    """A tree: records of the type `NODE`, the root first, and the statistics of each node's train rows."""

    nodes: Records  # (n_nodes,)
    stats: Float64s  # (n_nodes, n_stats) class counts, or the sum and the sum of squares


class Segments(NamedTuple):
    """Stored entries of the nodes being grown, and the columns that vary in each pending node.

    Nodes are grown depth first, so their lists of segments form a stack.
    """

    entries: Records  # (n_entries,)
    listed: Records  # (n_listed,)


class Scratch(NamedTuple):
    """Memory of one growth."""

    marks: Int32s  # (n_rows,) in `_load` the place in ``stale`` of a row's node; then 1 if the row goes left
    rows: Int32s  # (n_rows,) what a partition moves to the right
    entries: Records  # (n_rows,)
    tops: npt.NDArray[np.int64]  # (n_stale, 2) next free place for a stale node's entries, and for its rows
    pending: Records  # (n_train + 2,)
    left: Float64s  # (n_stats,) statistics of the two sides of a cut, and of the rows a column does not store
    right: Float64s
    zeros: Float64s


def make_nodes(capacity: int, n_stats: int) -> Nodes:
    """Allocate room for a tree."""
    return Nodes(np.zeros(capacity, dtype=NODE), np.empty((capacity, n_stats)))


@kernel_part
def _add_row(stats: Float64s, row: int, target: Target, sign: float) -> None:
    if target.classes.size:
        stats[target.classes[row]] += sign
    else:
        number = target.values[row]
        stats[0] += sign * number
        stats[1] += sign * number * number


@kernel_part
def _scan(
    start: int,
    stop: int,
    n_node: int,
    stats: Float64s,
    entries: Records,
    target: Target,
    limits: Limits,
    left: Float64s,
    right: Float64s,
    zeros: Float64s,
) -> tuple[float, float]:
    """Return the best gain of one column in a node, and its threshold; the lowest threshold wins a tie."""
    best_gain, best_threshold = -np.inf, 0.0
    n_zeros = n_node - (stop - start)
    n_items = stop - start
    # The zeros of a sparse column stand as one more item between its negative and its positive entries.
    zero_item = n_items
    # Sums of squared class counts, kept up to date row by row: whole numbers, so nothing is rounded.
    left_squares, right_squares = 0.0, 0.0
    for stat in range(stats.size):
        left[stat] = 0.0
        zeros[stat] = stats[stat]
        right_squares += stats[stat] * stats[stat]
    if n_zeros > 0:
        n_items += 1
        zero_item = 0
        for place in range(start, stop):
            _add_row(zeros, entries[place]["row"], target, -1.0)
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
            if limits.criterion == Criterion.GINI:
                worth = gini_gain(left_squares, right_squares, n_left, n_right)
            elif limits.criterion == Criterion.SQUARED_ERROR:
                worth = squared_gain(left[0], stats[0] - left[0], n_left, n_right)
            else:
                for stat in range(stats.size):
                    right[stat] = stats[stat] - left[stat]
                worth = gain(left, right, n_left, n_right, limits.criterion)
            if worth > best_gain:
                best_gain = worth
                best_threshold = midpoint(previous, value)
        previous = value
        if is_zero:
            n_left += n_zeros
            left_squares, right_squares = 0.0, 0.0
            for stat in range(stats.size):
                left[stat] += zeros[stat]
                left_squares += left[stat] * left[stat]
                right_squares += (stats[stat] - left[stat]) * (stats[stat] - left[stat])
            continue
        n_left += 1.0
        if target.classes.size:
            label = target.classes[entries[place]["row"]]
            left_squares += 2.0 * left[label] + 1.0
            left[label] += 1.0
            right_squares -= 2.0 * (stats[label] - left[label]) + 1.0
        else:
            left[0] += target.values[entries[place]["row"]]
    return best_gain, best_threshold


@kernel_stage
def _search(
    n_node: int,
    begin: int,
    end: int,
    stats: Float64s,
    segments: Segments,
    target: Target,
    limits: Limits,
    scratch: Scratch,
) -> tuple[int, float, int]:
    """Find the best split of a node over the columns ``listed[begin:end]``.

    Returns the place of the split column in ``listed`` (-1 if there is none), the threshold, and the new end
    of the list: columns that are constant in the node are taken off it.
    """
    entries, listed = segments
    best, best_gain, best_threshold = -1, -np.inf, 0.0
    kept = begin
    for place in range(begin, end):
        start, stop = listed[place]["start"], listed[place]["stop"]
        low, high = entries[start]["value"], entries[stop - 1]["value"]
        if stop - start < n_node:
            low, high = min(low, np.float32(0.0)), max(high, np.float32(0.0))
        if high <= low + TIE:
            continue
        listed[kept] = listed[place]
        worth, threshold = _scan(
            start,
            stop,
            n_node,
            stats,
            entries,
            target,
            limits,
            scratch.left,
            scratch.right,
            scratch.zeros,
        )
        if worth > best_gain:
            best, best_gain, best_threshold = kept, worth, threshold
        kept += 1
    return best, best_threshold, kept


@kernel_part
def _first_place(q: int, n_stale: int, n_active: int) -> int:
    """Return where the list of a stale node begins; the place after a full list holds the next start."""
    return (n_stale - 1 - q) * (n_active + 1)


@kernel_stage
def _load(
    columns: ColumnArrays,
    active: Int32s,
    stale: Int32s,
    old: Records,
    train: Int32s,
    segments: Segments,
    scratch: Scratch,
) -> None:
    """Collect the segments of all stale nodes in one pass over the sorted columns.

    The list of ``stale[q]`` is ``listed[_first_place(q, ...) : tops[q, 1]]``: the node that is visited first lies
    on top of the stack.
    """
    marks, tops = scratch.marks, scratch.tops
    n_entries = 0
    for row in range(marks.size):
        marks[row] = -1
    for q in range(stale.size):
        start, stop = old[stale[q]]["start"], old[stale[q]]["stop"]
        tops[q, 0] = n_entries
        tops[q, 1] = start
        for place in range(start, stop):
            marks[train[place]] = q
        for column in active:
            n_entries += min(stop - start, columns.indptr[column + 1] - columns.indptr[column])
    # Sums run over rows in ascending order, so that they do not depend on how a node came about.
    for row in range(marks.size):
        q = marks[row]
        if q >= 0:
            train[tops[q, 1]] = row
            tops[q, 1] += 1
    for q in range(stale.size):
        tops[q, 1] = _first_place(q, stale.size, active.size)
        segments.listed[tops[q, 1]]["start"] = tops[q, 0]
    for column in active:
        for entry in range(columns.indptr[column], columns.indptr[column + 1]):
            q = marks[columns.rows[entry]]
            if q >= 0:
                segments.entries[tops[q, 0]]["row"] = columns.rows[entry]
                segments.entries[tops[q, 0]]["value"] = columns.values[entry]
                tops[q, 0] += 1
        for q in range(stale.size):
            segment = segments.listed[tops[q, 1]]
            if tops[q, 0] > segment["start"]:
                segment["column"] = column
                segment["stop"] = tops[q, 0]
                tops[q, 1] += 1
                segments.listed[tops[q, 1]]["start"] = tops[q, 0]


@kernel_stage
def _mark_sides(
    start: int, stop: int, segment: int, threshold: float, train: Int32s, segments: Segments, marks: Int32s
) -> None:
    """Mark which rows of a node go left."""
    zero_side = np.int32(0.0 <= threshold)
    for place in range(start, stop):
        marks[train[place]] = zero_side
    for place in range(segments.listed[segment]["start"], segments.listed[segment]["stop"]):
        marks[segments.entries[place]["row"]] = segments.entries[place]["value"] <= threshold


@kernel_stage
def _add_children(node: int, child: int, tree: Nodes, train: Int32s, target: Target, scratch: Scratch) -> None:
    """Partition the train rows of a node and write its children to ``child`` and ``child + 1``."""
    nodes, stats = tree
    start, stop = nodes[node]["start"], nodes[node]["stop"]
    for stat in range(stats.shape[1]):
        stats[child, stat] = 0.0
        stats[child + 1, stat] = 0.0
    left_stats, right_stats = stats[child], stats[child + 1]
    middle, n_right = start, 0
    for place in range(start, stop):
        row = train[place]
        if scratch.marks[row]:
            _add_row(left_stats, row, target, 1.0)
            train[middle] = row
            middle += 1
        else:
            _add_row(right_stats, row, target, 1.0)
            scratch.rows[n_right] = row
            n_right += 1
    for place in range(n_right):
        train[middle + place] = scratch.rows[place]
    for side in range(child, child + 2):
        nodes[side]["feature"] = LEAF
        nodes[side]["left"] = 0
        nodes[side]["start"] = start if side == child else middle
        nodes[side]["stop"] = middle if side == child else stop
        nodes[side]["depth"] = nodes[node]["depth"] + 1
        nodes[side]["threshold"] = 0.0


@kernel_function
def _may_split(node: int, tree: Nodes, limits: Limits) -> bool:
    """Apply scikit-learn's rules for a leaf that need no search."""
    n_node = tree.nodes[node]["stop"] - tree.nodes[node]["start"]
    if tree.nodes[node]["depth"] >= limits.max_depth or n_node < limits.min_split:
        return False
    return bool(impurity(tree.stats[node], n_node, limits.criterion) > EPSILON)


@kernel_stage
def _divide(
    begin: int, end: int, wants_left: bool, wants_right: bool, segments: Segments, scratch: Scratch
) -> tuple[int, int]:
    """Partition the segments of ``listed[begin:end]`` and list them for the children that grow on.

    The right child's list (or that of the only child) takes the place of its parent's, the left child's goes
    on top of it. Returns the ends of the two lists.
    """
    entries, listed = segments
    right_end, left_end = begin, end
    for place in range(begin, end):
        column, start, stop = listed[place]["column"], listed[place]["start"], listed[place]["stop"]
        middle, n_right = start, 0
        for entry in range(start, stop):
            goes_left = scratch.marks[entries[entry]["row"]]
            scratch.entries[n_right] = entries[entry]
            entries[middle] = entries[entry]
            middle += goes_left
            n_right += 1 - goes_left
        for right in range(n_right):
            entries[middle + right] = scratch.entries[right]
        if wants_left and middle > start:
            top = left_end if wants_right else right_end
            listed[top]["column"], listed[top]["start"], listed[top]["stop"] = column, start, middle
            if wants_right:
                left_end += 1
            else:
                right_end += 1
        if wants_right and stop > middle:
            listed[right_end]["column"] = column
            listed[right_end]["start"], listed[right_end]["stop"] = middle, stop
            right_end += 1
    return right_end, left_end


@kernel_part
def _push(place: int, node: int, origin: int, begin: int, end: int, pending: Records) -> int:
    """Put a node on the stack; return the new height."""
    pending[place]["node"] = node
    pending[place]["origin"] = origin
    pending[place]["begin"] = begin
    pending[place]["end"] = end
    return place + 1


@kernel
def grow(
    columns: ColumnArrays,
    active: Int32s,
    target: Target,
    limits: Limits,
    old: Nodes,
    stale: Int32s,
    segments: Segments,
    scratch: Scratch,
    tree: Nodes,
    train: Int32s,
) -> int:
    """Copy a tree, growing its stale nodes anew from the active columns.

    Parameters
    ----------
    columns : ColumnArrays
    active : array of shape (n_active,), int32
        Columns that may be split on, in ascending order.
    target : Target
    limits : Limits
    old : Nodes
    stale : array of shape (n_stale,), int32
        The nodes to grow anew, none below another, from left to right.
    segments : Segments
        Room for the entries of all stale nodes.
    scratch : Scratch
    tree : Nodes
        Receives the tree, numbered as if nothing had been copied; room for 2 n_train nodes.
    train : array of shape (n_train,), int32
        Train rows in the order of the nodes' intervals; changed to the order of the new tree.

    Returns
    -------
    int
        Number of nodes, or `OUT_OF_ROOM` if ``segments`` cannot list the columns of all pending nodes.
    """
    nodes, stats = tree
    pending = scratch.pending
    _load(columns, active, stale, old.nodes, train, segments, scratch)
    n_stale, n_nodes = 0, 1
    nodes[0] = old.nodes[0]
    for stat in range(stats.shape[1]):
        stats[0, stat] = old.stats[0, stat]
    height = _push(0, 0, 0, 0, 0, pending)
    while height > 0:
        height -= 1
        node, origin = pending[height]["node"], pending[height]["origin"]
        begin, end = pending[height]["begin"], pending[height]["end"]
        child = n_nodes
        if origin >= 0:
            if n_stale == stale.size or origin != stale[n_stale]:
                if nodes[node]["feature"] != LEAF:
                    first = old.nodes[origin]["left"]
                    nodes[node]["left"] = child
                    n_nodes += 2
                    for side in range(1, -1, -1):
                        nodes[child + side] = old.nodes[first + side]
                        for stat in range(stats.shape[1]):
                            stats[child + side, stat] = old.stats[first + side, stat]
                        height = _push(height, child + side, first + side, 0, 0, pending)
                continue
            begin = _first_place(n_stale, stale.size, active.size)
            end = scratch.tops[n_stale, 1]
            n_stale += 1
            nodes[node]["feature"] = LEAF
            nodes[node]["left"] = 0
            nodes[node]["threshold"] = 0.0
            if not _may_split(node, tree, limits):
                continue
        start, stop = nodes[node]["start"], nodes[node]["stop"]
        place, threshold, end = _search(
            stop - start, begin, end, stats[node], segments, target, limits, scratch
        )
        if place < 0:
            continue
        _mark_sides(start, stop, place, threshold, train, segments, scratch.marks)
        _add_children(node, child, tree, train, target, scratch)
        n_left = nodes[child]["stop"] - start
        n_right = stop - start - n_left
        if is_worthless(
            stats[node], stats[child], stats[child + 1], n_left, n_right, train.size, limits.criterion
        ):
            continue
        nodes[node]["feature"] = segments.listed[place]["column"]
        nodes[node]["left"] = child
        nodes[node]["threshold"] = threshold
        n_nodes += 2
        wants_left, wants_right = _may_split(child, tree, limits), _may_split(child + 1, tree, limits)
        if not (wants_left or wants_right):
            continue
        if 2 * end - begin > segments.listed.size:
            return OUT_OF_ROOM
        right_end, left_end = _divide(begin, end, wants_left, wants_right, segments, scratch)
        if wants_right:
            height = _push(height, child + 1, -1, begin, right_end, pending)
        if wants_left:
            if wants_right:
                begin, right_end = end, left_end
            height = _push(height, child, -1, begin, right_end, pending)
    return n_nodes


def grow_nodes(
    columns: SortedColumns,
    active: Int32s,
    target: Target,
    limits: Limits,
    removed: int,
    old: Nodes,
    old_rows: Int32s,
) -> tuple[Nodes, Int32s]:
    """Grow anew the nodes of a tree that split on ``removed``, from the active columns.

    A single root with the feature `UNGROWN` gives, with ``removed=UNGROWN``, a whole new tree. Returns the new
    tree and the train rows in the order of its nodes.
    """
    n_stats = old.stats.shape[1]
    stale = _topmost(old.nodes, removed)
    sizes = (old.nodes["stop"] - old.nodes["start"])[stale]
    n_stored = columns.n_stored[active]
    n_entries = sum(int(np.minimum(n_stored, size).sum()) for size in sizes.tolist())
    tree = make_nodes(2 * old_rows.size, n_stats)
    scratch = _make_scratch(columns.n_rows, stale.size, n_stats)
    n_nodes, n_listed = OUT_OF_ROOM, (stale.size + _USUAL_DEPTH) * (active.size + 1)
    while n_nodes == OUT_OF_ROOM:
        rows = old_rows.copy()
        segments = _make_segments(n_entries, n_listed)
        n_nodes = grow(columns.arrays, active, target, limits, old, stale, segments, scratch, tree, rows)
        n_listed *= 2
    return Nodes(tree.nodes[:n_nodes].copy(), tree.stats[:n_nodes].copy()), rows


def _topmost(nodes: npt.NDArray[Any], removed: int) -> Int32s:
    """Return the nodes with the feature ``removed`` that lie below no other such node, from left to right."""
    found = np.flatnonzero(nodes["feature"] == removed)
    # A parent starts no later than its children and has a smaller number.
    found = found[np.lexsort((found, nodes["start"][found]))]
    reach = np.maximum.accumulate(nodes["stop"][found])
    is_topmost = np.append(True, nodes["start"][found][1:] >= reach[:-1])
    return found[is_topmost].astype(np.int32)


def _make_scratch(n_rows: int, n_stale: int, n_stats: int) -> Scratch:
    return Scratch(
        marks=np.empty(n_rows, dtype=np.int32),
        rows=np.empty(n_rows, dtype=np.int32),
        entries=np.empty(n_rows, dtype=_ENTRY),
        tops=np.empty((n_stale, 2), dtype=np.int64),
        pending=np.empty(n_rows + 2, dtype=_PENDING),
        left=np.empty(n_stats),
        right=np.empty(n_stats),
        zeros=np.empty(n_stats),
    )


def _make_segments(n_entries: int, n_listed: int) -> Segments:
    return Segments(
        entries=np.empty(n_entries, dtype=_ENTRY),
        listed=np.empty(n_listed, dtype=_SEGMENT),
    )
