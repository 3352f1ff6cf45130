"""Trees on many columns: scikit-learn's CART on columns that are sorted once.

A node has an interval of the train rows and, for each column that still varies in it, a *segment*: its stored entries
in sorted order. A split partitions the segments, keeping their order, so nothing is sorted again.

The gain of a column in a node depends only on that column and that node, and of equal gains the first column wins.
Hence a tree that never splits on a column is also the tree without it. When a column is removed, only the nodes that
split on it and those below them are grown again; the others are copied.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.sorted_columns import ColumnArrays, SortedColumns
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import (
    Int32s,
    Int64s,
    Records,
    branching_kernel,
    int64,
    kernel_function,
    kernel_part,
)
from ppfs._engine.many_columns.segments import Segments, divide, first_place, load, make_segments, search
from ppfs._engine.trees.criterion import add_row, weight_of
from ppfs._engine.trees.cuts import Sides, make_sides
from ppfs._engine.trees.leaf_rule import is_worthless, may_split
from ppfs._engine.trees.nodes import LEAF, Nodes, goes_right, make_nodes, topmost
from ppfs._engine.trees.rules import Criterion, Limits

#: What `grow` returns when it must be called again with a longer ``Segments.listed``.
OUT_OF_ROOM = -1

# At first, memory is allocated for lists of columns for this many levels of pending nodes.
_USUAL_DEPTH = 16

# A node to visit: its number, its number in the old tree or -1, and its interval of ``Segments.listed``.
_PENDING = np.dtype([("node", np.int64), ("origin", np.int64), ("begin", np.int64), ("end", np.int64)])


class Scratch(NamedTuple):
    """Scratch memory for growing one tree."""

    marks: Int32s  # (n_rows,) at first the stale node of a row, or -1; then 1 if the row goes left, else 0
    rows: Int32s  # (n_rows,) train rows that a partition moves to the right
    tops: Int64s  # (n_stale, 2) ends of the entries and of the lists of stale nodes
    pending: Records  # (n_rows + 2,) nodes to visit


@kernel_function
def _mark_stale(stale: Int32s, nodes: Records, train: Int32s, tops: Int64s, marks: Int32s) -> None:
    """Mark the rows of each stale node with its place in ``stale``, other rows with -1, and sort them.

    Sums over a node run over its rows in ascending order, so that they do not depend on how the node was made.
    """
    for row in range(marks.size):
        marks[row] = -1
    for index in range(stale.size):
        node = nodes[stale[index]]
        tops[index, 1] = node["start"]
        for place in range(node["start"], node["stop"]):
            marks[train[place]] = index
    for row in range(marks.size):
        index = marks[row]
        if index >= 0:
            train[tops[index, 1]] = row
            tops[index, 1] += 1


@kernel_function
def _mark_sides(
    start: int,
    stop: int,
    segment: int,
    threshold: float,
    missing_left: bool,
    train: Int32s,
    segments: Segments,
    target: Target,
    marks: Int32s,
) -> None:
    """Mark which rows of a node go left."""
    zero_side = np.int32(0.0 <= threshold)
    for place in range(start, stop):
        marks[train[place]] = zero_side
    for place in range(segments.listed[segment]["start"], segments.listed[segment]["stop"]):
        entry = segments.entries[place]
        marks[entry["row"]] = not goes_right(entry["value"], threshold, missing_left, target.weights)


@kernel_function
def _add_children(
    node: int, child: int, tree: Nodes, train: Int32s, target: Target, scratch: Scratch
) -> None:
    """Partition the rows of a node, and write its children to ``child`` and ``child + 1``."""
    nodes, stats = tree
    start, stop = nodes[node]["start"], nodes[node]["stop"]
    for stat in range(stats.shape[1]):
        stats[child, stat] = 0.0
        stats[child + 1, stat] = 0.0
    middle, n_right = start, 0
    left_weight, right_weight = 0.0, 0.0
    for place in range(start, stop):
        row = train[place]
        weight = weight_of(row, target.weights)
        if scratch.marks[row]:
            add_row(row, weight, target, stats[child])
            left_weight += weight
            train[middle] = row
            middle += 1
        else:
            add_row(row, weight, target, stats[child + 1])
            right_weight += weight
            scratch.rows[n_right] = row
            n_right += 1
    for place in range(n_right):
        train[middle + place] = scratch.rows[place]
    for side in range(2):
        leaf = nodes[child + side]
        leaf["feature"] = LEAF
        leaf["left"] = 0
        leaf["start"] = middle if side else start
        leaf["stop"] = stop if side else middle
        leaf["depth"] = nodes[node]["depth"] + 1
        leaf["threshold"] = 0.0
        leaf["weight"] = right_weight if side else left_weight
        leaf["missing_left"] = False


@kernel_function
def _may_split(node: int, tree: Nodes, limits: Limits) -> bool:
    record = tree.nodes[node]
    n_rows = float(record["stop"] - record["start"])
    return may_split(record["depth"], n_rows, record["weight"], tree.stats[node], limits)


@kernel_part
def _push(place: int, node: int, origin: int, begin: int, end: int, pending: Records) -> int:
    """Put a node on the stack; return the new height."""
    top = pending[place]
    top["node"] = node
    top["origin"] = origin
    top["begin"] = begin
    top["end"] = end
    return place + 1


@kernel_function
def _copy_children(
    node: int, child: int, origin: int, old: Nodes, tree: Nodes, height: int, pending: Records
) -> int:
    """Copy the children of ``origin`` to ``child`` and ``child + 1`` and put them on the stack."""
    nodes, stats = tree
    first = old.nodes[origin]["left"]
    nodes[node]["left"] = child
    for side in range(1, -1, -1):
        nodes[child + side] = old.nodes[first + side]
        for stat in range(stats.shape[1]):
            stats[child + side, stat] = old.stats[first + side, stat]
        height = _push(height, child + side, first + side, int64(0), int64(0), pending)
    return height


@kernel_function
def _split(
    node: int,
    child: int,
    begin: int,
    end: int,
    tree: Nodes,
    train: Int32s,
    segments: Segments,
    target: Target,
    limits: Limits,
    sides: Sides | None,
    scratch: Scratch,
) -> int:
    """Split a node into ``child`` and ``child + 1``, or make it a leaf; return the new end of its list."""
    nodes, stats = tree
    record = nodes[node]
    record["feature"] = LEAF
    record["left"] = 0
    record["threshold"] = 0.0
    record["missing_left"] = False
    if not _may_split(node, tree, limits):
        return end
    start, stop = record["start"], record["stop"]
    place, threshold, missing_left, end = search(
        stop - start, record["weight"], begin, end, stats[node], segments, target, limits, sides
    )
    if place < 0:
        return end
    _mark_sides(start, stop, place, threshold, missing_left, train, segments, target, scratch.marks)
    _add_children(node, child, tree, train, target, scratch)
    if is_worthless(
        stats[node],
        stats[child],
        stats[child + 1],
        nodes[child]["weight"],
        nodes[child + 1]["weight"],
        nodes[0]["weight"],
        limits.criterion,
    ):
        return end
    record["feature"] = segments.listed[place]["column"]
    record["left"] = child
    record["threshold"] = threshold
    record["missing_left"] = missing_left
    return end


@kernel_function
def _pass_on(
    child: int,
    begin: int,
    end: int,
    tree: Nodes,
    segments: Segments,
    limits: Limits,
    scratch: Scratch,
    height: int,
) -> int:
    """Divide a node's segments among its children, and put the children that may split on the stack."""
    wants_left, wants_right = _may_split(child, tree, limits), _may_split(child + 1, tree, limits)
    if not (wants_left or wants_right):
        return height
    right_end, left_end = divide(begin, end, wants_left, wants_right, segments, scratch.marks)
    if wants_right:
        height = _push(height, child + 1, int64(-1), begin, right_end, scratch.pending)
    if wants_left:
        if wants_right:
            begin, right_end = end, left_end
        height = _push(height, child, int64(-1), begin, right_end, scratch.pending)
    return height


@branching_kernel
def grow(
    columns: ColumnArrays,
    active: Int32s,
    target: Target,
    limits: Limits,
    old: Nodes,
    stale: Int32s,
    sizes: Int32s,
    segments: Segments,
    sides: Sides | None,
    scratch: Scratch,
    tree: Nodes,
    train: Int32s,
) -> int:
    """Copy a tree, and grow its stale nodes again from the active columns.

    Parameters
    ----------
    active : array of shape (n_active,), int32
        Columns that may be split on, in ascending order.
    stale : array of shape (n_stale,), int32
        The nodes to grow again, none below another, from left to right.
    sizes : array of shape (n_stale,), int32
        Their numbers of train rows.
    segments : Segments
        Memory for the entries of all stale nodes.
    sides : Sides or None
        Scratch memory; None for cuts of two classes, see `search`.
    scratch : Scratch
        Scratch memory.
    tree : Nodes
        Filled with the tree, numbered as if nothing had been copied; it has room for 2 n_train nodes.
    train : array of shape (n_train,), int32
        Train rows in the order of the nodes' intervals; changed to the order of the new tree.

    Returns
    -------
    int
        Number of nodes, or `OUT_OF_ROOM` if ``segments`` cannot list the columns of all pending nodes.
    """
    _mark_stale(stale, old.nodes, train, scratch.tops, scratch.marks)
    load(columns, active, sizes, scratch.marks, segments, scratch.tops)
    tree.nodes[0] = old.nodes[0]
    for stat in range(old.stats.shape[1]):
        tree.stats[0, stat] = old.stats[0, stat]
    n_stale, n_nodes = int64(0), int64(1)
    # The root, number 0 in both trees.
    height = int64(1)
    while height > 0:
        height -= 1
        top = scratch.pending[height]
        node, origin, begin, end = top["node"], top["origin"], top["begin"], top["end"]
        if origin >= 0 and (n_stale == stale.size or origin != stale[n_stale]):
            if tree.nodes[node]["feature"] != LEAF:
                height = _copy_children(node, n_nodes, origin, old, tree, height, scratch.pending)
                n_nodes += 2
            continue
        if origin >= 0:
            begin, end = first_place(n_stale, stale.size, active.size), scratch.tops[n_stale, 1]
            n_stale += 1
        end = _split(node, n_nodes, begin, end, tree, train, segments, target, limits, sides, scratch)
        if tree.nodes[node]["feature"] == LEAF:
            continue
        if 2 * end - begin > segments.listed.size:
            return OUT_OF_ROOM
        height = _pass_on(n_nodes, begin, end, tree, segments, limits, scratch, height)
        n_nodes += 2
    return n_nodes


def grow_nodes(
    columns: SortedColumns,
    active: Int32s,
    target: Target,
    limits: Limits,
    removed: int,
    old: Nodes,
    old_train: Int32s,
) -> tuple[Nodes, Int32s]:
    """Grow the nodes of a tree that split on ``removed`` again, from the active columns.

    The feature `UNGROWN` stands for a tree that is not grown yet. Returns the new tree and the train rows in the
    order of its nodes.
    """
    n_stats = old.stats.shape[1]
    stale = topmost(old, removed)
    sizes = old.nodes["stop"][stale] - old.nodes["start"][stale]
    if columns.is_full:
        n_entries = active.size * int(sizes.sum())
    else:
        n_entries = int(np.minimum(columns.n_stored[active], sizes[:, np.newaxis]).sum())
    tree = make_nodes(2 * old_train.size, n_stats)
    sides = None if columns.is_full and counts_two_classes(n_stats, target, limits) else make_sides(n_stats)
    n_nodes, n_listed = OUT_OF_ROOM, (stale.size + _USUAL_DEPTH) * (active.size + 1)
    while n_nodes == OUT_OF_ROOM:
        # Everything is allocated again, because an attempt that ran out of room leaves pending nodes behind.
        train = old_train.copy()
        scratch = _make_scratch(columns.n_rows, stale.size)
        segments = make_segments(n_entries, n_listed, columns.n_rows)
        n_nodes = grow(
            columns.arrays, active, target, limits, old, stale, sizes, segments, sides, scratch, tree, train
        )
        n_listed *= 2
    return Nodes(tree.nodes[:n_nodes].copy(), tree.stats[:n_nodes].copy()), train


def counts_two_classes(n_stats: int, target: Target, limits: Limits) -> bool:
    """Return whether the best cut of a column that stores every row is found by counting two classes.

    That is the usual problem, and it needs half of the code: the other half is not compiled with it.
    """
    is_counted = target.weights is None and target.classes.size > 0
    return is_counted and n_stats == 2 and limits.criterion == Criterion.GINI


def _make_scratch(n_rows: int, n_stale: int) -> Scratch:
    return Scratch(
        marks=np.empty(n_rows, dtype=np.int32),
        rows=np.empty(n_rows, dtype=np.int32),
        tops=np.empty((n_stale, 2), dtype=np.int64),
        pending=np.zeros(n_rows + 2, dtype=_PENDING),
    )
