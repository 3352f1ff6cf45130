"""Forests on many columns: all trees of a split, grown or grown again after a column was removed.

The random draws of a tree depend on the position of a node and on the content of a column, never on earlier draws. So a
tree that is copied after a removal, and grown again only where the removed column mattered, is the tree that would be
grown without the column; `ppfs._engine.many_columns.forest_removal` determines where it mattered.
"""

from math import inf

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, Words
from ppfs._engine.inputs.column_store import ColumnStore
from ppfs._engine.inputs.random_keys import combine
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import (
    Bools,
    Float64s,
    Int32s,
    Int64s,
    Records,
    int64,
    kernel,
    kernel_function,
    kernel_part,
)
from ppfs._engine.many_columns.forest_memory import NOTHING, ForestMemory, sort_rows, stamp_rows, sum_rows
from ppfs._engine.many_columns.forest_nodes import ForestTrees, Units
from ppfs._engine.many_columns.forest_removal import Removal, is_unchanged
from ppfs._engine.many_columns.forest_search import (
    LAST,
    Candidates,
    SearchWork,
    draw_turns,
    likely_limit,
    try_in_node,
    turn_of,
)
from ppfs._engine.one_column.bags import Counts
from ppfs._engine.trees.criterion import weight_of
from ppfs._engine.trees.leaf_rule import is_worthless, may_split
from ppfs._engine.trees.nodes import goes_right
from ppfs._engine.trees.rules import Limits

_LEFT, _RIGHT = np.uint64(1), np.uint64(2)

_NEVER = np.int32(2**31 - 1)


@kernel_function
def _search(
    start: int,
    stop: int,
    stamp: int,
    weight: float,
    record: Records,
    rows: Int32s,
    candidates: Candidates,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    work: SearchWork,
) -> None:
    """Try columns in a node; write the best cut and the columns tried to the only element of ``record``."""
    node = record[0]
    key = node["key"]
    n_active, wanted = candidates.columns.size, candidates.n_tried
    tries_all = wanted >= n_active
    beyond, limit = NONE, likely_limit(wanted, n_active)
    if tries_all:
        limit = LAST
    best, best_gain, best_threshold, best_turn = int64(NOTHING), -inf, 0.0, LAST
    best_side = False
    n_seen, n_constant = 0, 0
    last, last_turn = int64(NOTHING), NONE
    while True:
        n_listed = n_active
        if not tries_all:
            n_listed = draw_turns(key, beyond, limit, candidates, work.turns, work.tried)
        is_done = False
        for index in range(n_listed):
            if n_seen >= wanted and n_constant < n_seen:
                is_done = True
                break
            column = int64(candidates.columns[index] if tries_all else work.tried[index])
            varies, worth, threshold, missing_left = try_in_node(
                column, start, stop, stamp, weight, key, rows, candidates, store, target, limits, work
            )
            n_seen += 1
            n_constant += not varies
            if not tries_all:
                last, last_turn = column, work.turns[index]
            # If all columns are tried, they are not sorted by turn, and the first of equal cuts must win.
            is_better = bool(worth > best_gain)
            if tries_all and worth == best_gain and worth > -inf:
                is_better = bool(turn_of(key, column, candidates) < best_turn)
            if is_better:
                best, best_gain, best_threshold, best_side = column, worth, threshold, missing_left
                if tries_all:
                    best_turn = turn_of(key, column, candidates)
        if is_done or limit == LAST:
            break
        beyond, limit = limit, LAST
    node["feature"] = best
    node["gain"] = best_gain
    node["threshold"] = best_threshold
    node["missing_left"] = best_side
    node["n_tried"] = n_seen
    node["last_tried"] = _NEVER if tries_all else last
    node["last_order"] = LAST if tries_all else last_turn


@kernel_part
def _mark_sides(
    column: int,
    threshold: float,
    missing_left: bool,
    stamp: int,
    node: Records,
    tests: Int64s,
    scratch: ForestMemory,
    store: ColumnStore,
    work: SearchWork,
    weights: Float64s | None,
) -> None:
    """Mark for each train and test row of a node whether it goes left."""
    first, end, slot = store.indptr[column], store.indptr[column + 1], store.slots[column]
    goes_left = scratch.goes_left
    zero_side = 0.0 <= threshold
    if slot >= 0:
        for index in range(node["start"], node["stop"]):
            row = scratch.rows[index]
            place = store.places[slot, row]
            value = store.values[first + place] if place >= 0 else np.float32(0.0)
            goes_left[row] = not goes_right(value, threshold, missing_left, weights)
        for index in range(node["test_start"], node["test_stop"]):
            row = tests[scratch.tests[index]]
            place = store.places[slot, row]
            value = store.values[first + place] if place >= 0 else np.float32(0.0)
            goes_left[row] = not goes_right(value, threshold, missing_left, weights)
        return
    for index in range(node["start"], node["stop"]):
        goes_left[scratch.rows[index]] = zero_side
    for index in range(node["test_start"], node["test_stop"]):
        row = tests[scratch.tests[index]]
        goes_left[row] = zero_side
        work.marks[row] = stamp
    for entry in range(first, end):
        row = store.rows[entry]
        if work.marks[row] == stamp:
            goes_left[row] = not goes_right(store.values[entry], threshold, missing_left, weights)


@kernel_function
def _divide(
    node: int,
    child: int,
    stamp: int,
    tests: Int64s,
    scratch: ForestMemory,
    store: ColumnStore,
    work: SearchWork,
    weights: Float64s | None,
) -> None:
    """Partition the rows of a node and write its children to ``child`` and ``child + 1``."""
    parent = scratch.nodes[node]
    rows, spare, goes_left = scratch.rows, scratch.spare, scratch.goes_left
    _mark_sides(
        parent["feature"],
        parent["threshold"],
        parent["missing_left"],
        stamp,
        parent,
        tests,
        scratch,
        store,
        work,
        weights,
    )
    middle, n_right = int64(parent["start"]), 0
    for index in range(parent["start"], parent["stop"]):
        row = rows[index]
        if goes_left[row]:
            rows[middle] = row
            middle += 1
        else:
            spare[n_right] = row
            n_right += 1
    for index in range(n_right):
        rows[middle + index] = spare[index]
    test_middle, n_right = int64(parent["test_start"]), 0
    for index in range(parent["test_start"], parent["test_stop"]):
        position = scratch.tests[index]
        if goes_left[tests[position]]:
            scratch.tests[test_middle] = position
            test_middle += 1
        else:
            spare[n_right] = position
            n_right += 1
    for index in range(n_right):
        scratch.tests[test_middle + index] = spare[index]
    for side in range(2):
        record = scratch.nodes[child + side]
        record["start"] = middle if side else parent["start"]
        record["stop"] = parent["stop"] if side else middle
        record["test_start"] = test_middle if side else parent["test_start"]
        record["test_stop"] = parent["test_stop"] if side else test_middle
        record["depth"] = parent["depth"] + 1
        record["key"] = combine(parent["key"], _RIGHT if side else _LEFT)


@kernel_part
def _make_leaf(record: Records) -> None:
    record["feature"] = NOTHING
    record["left"] = 0
    record["threshold"] = 0.0


@kernel_function
def _grow_node(
    node: int,
    child: int,
    total: float,
    tests: Int64s,
    candidates: Candidates,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    units: Units,
    scratch: ForestMemory,
    work: SearchWork,
) -> None:
    """Split a node into ``child`` and ``child + 1``, or make it a leaf; ``total`` is the weight of the whole tree."""
    record = scratch.nodes[node]
    start, stop = int64(record["start"]), int64(record["stop"])
    weight = sum_rows(start, stop, scratch.rows, target, work.weights, work.stats)
    record["n_tried"] = 0
    record["gain"] = -inf
    is_leaf = not may_split(record["depth"], float(stop - start), weight, work.stats, limits)
    if not is_leaf:
        stamp = stamp_rows(start, stop, scratch.rows, scratch, work)
        _search(
            start,
            stop,
            stamp,
            weight,
            scratch.nodes[node : node + 1],
            scratch.rows,
            candidates,
            store,
            target,
            limits,
            work,
        )
        is_leaf = record["feature"] == NOTHING
        if not is_leaf:
            _divide(node, child, stamp, tests, scratch, store, work, target.weights)
            middle = int64(scratch.nodes[child]["stop"])
            n_left = sum_rows(start, middle, scratch.rows, target, work.weights, work.sides.left)
            n_right = sum_rows(middle, stop, scratch.rows, target, work.weights, work.sides.right)
            is_leaf = is_worthless(
                work.stats, work.sides.left, work.sides.right, n_left, n_right, total, limits.criterion
            )
    if not is_leaf:
        record["left"] = child
        return
    _make_leaf(record)
    if target.classes.size:
        for label in range(work.stats.size):
            scratch.predictions[node, label] = int64(np.rint(work.stats[label] / weight * units.per_one))
    else:
        scratch.predictions[node, 0] = int64(np.rint(work.stats[0] / weight * units.per_one))


@kernel_part
def _copy_children(child: int, old: Records, first: int, nodes: Records) -> None:
    for side in range(2):
        nodes[child + side] = old[first + side]


@kernel_function
def _grow_tree(
    tree: int,
    old: ForestTrees,
    removal: Removal,
    tests: Int64s,
    candidates: Candidates,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    units: Units,
    scratch: ForestMemory,
    work: SearchWork,
    total: float,
) -> tuple[int, bool]:
    """Grow one tree, or copy it where the removed column did not matter; return its nodes and whether it changed."""
    nodes, predictions, pending = scratch.nodes, scratch.predictions, scratch.pending
    n_nodes, height = int64(1), int64(1)
    pending[0, 0], pending[0, 1] = 0, NOTHING
    is_changed = True
    first = int64(0)
    if removal.column != NOTHING:
        first = old.node_ends[tree]
        pending[0, 1] = 0
        nodes[0] = old.nodes[first]
        is_changed = False
    while height > 0:
        height -= 1
        node, origin = pending[height, 0], pending[height, 1]
        if origin >= 0:
            if is_unchanged(node, removal, candidates, store, target, limits, scratch, work):
                record = nodes[node]
                if record["feature"] == NOTHING:
                    for output in range(predictions.shape[1]):
                        predictions[node, output] = old.predictions[first + origin, output]
                    continue
                child = int64(record["left"])
                record["left"] = n_nodes
                _copy_children(n_nodes, old.nodes, first + child, nodes)
                for side in range(1, -1, -1):
                    pending[height, 0], pending[height, 1] = n_nodes + side, child + side
                    height += 1
                n_nodes += 2
                continue
            is_changed = True
            start, stop = int64(nodes[node]["start"]), int64(nodes[node]["stop"])
            sort_rows(start, stop, scratch.rows, work.places, scratch.rows, start)
        _grow_node(node, n_nodes, total, tests, candidates, store, target, limits, units, scratch, work)
        if nodes[node]["feature"] != NOTHING:
            for side in range(1, -1, -1):
                pending[height, 0], pending[height, 1] = n_nodes + side, NOTHING
                height += 1
            n_nodes += 2
    return n_nodes, is_changed


@kernel_function
def _load_rows(
    tree: int,
    old: ForestTrees,
    removal: Removal,
    counts: Counts,
    tree_key: np.uint64,
    weights: Float64s | None,
    scratch: ForestMemory,
    work: SearchWork,
) -> tuple[int, float]:
    """Load the rows and weights of a tree; return the number of its rows and their total weight."""
    n_test = scratch.tests.size
    n_drawn, total = int64(0), 0.0
    for row in range(counts.shape[0]):
        if counts[row, tree] > 0:
            scratch.rows[n_drawn] = row
            work.weights[row] = float(counts[row, tree]) * weight_of(row, weights)
            total += work.weights[row]
            n_drawn += 1
    if removal.column == NOTHING:
        for position in range(n_test):
            scratch.tests[position] = position
        root = scratch.nodes[0]
        root["start"], root["stop"] = 0, n_drawn
        root["test_start"], root["test_stop"] = 0, n_test
        root["depth"] = 0
        root["key"] = tree_key
    else:
        first = old.row_ends[tree]
        for index in range(n_drawn):
            scratch.rows[index] = old.rows[first + index]
        for position in range(n_test):
            scratch.tests[position] = old.tests[tree, position]
    return n_drawn, total


@kernel
def grow_all_trees(
    first_tree: int,
    old: ForestTrees,
    removal: Removal,
    counts: Counts,
    tree_keys: Words,
    tests: Int64s,
    candidates: Candidates,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    units: Units,
    scratch: ForestMemory,
    work: SearchWork,
    forest: ForestTrees,
    is_changed: Bools,
) -> int:
    """Grow the trees from ``first_tree`` on, or grow them again after a removal, and append them to ``forest``.

    Parameters
    ----------
    old : ForestTrees
        Not read for new trees.
    counts : array of shape (n_rows, n_slots), uint8
        How often a tree draws a row.
    tree_keys : array of shape (n_trees,), uint64
    tests : array of shape (n_test,), int64
        Test rows.
    scratch, work
        Scratch memory.
    forest : ForestTrees
        Filled with the trees, as far as there is room for their nodes.
    is_changed : array of shape (n_trees,), bool
        Filled with whether a tree differs from the old one.

    Returns
    -------
    int
        The number of trees, or the index of the first tree for which there was no room.
    """
    for tree in range(first_tree, tree_keys.size):
        n_drawn, total = _load_rows(
            tree, old, removal, counts, tree_keys[tree], target.weights, scratch, work
        )
        n_nodes, changed = _grow_tree(
            tree, old, removal, tests, candidates, store, target, limits, units, scratch, work, total
        )
        first, first_row = forest.node_ends[tree], forest.row_ends[tree]
        if first + n_nodes > forest.nodes.size:
            return tree
        is_changed[tree] = changed
        forest.node_ends[tree + 1] = first + n_nodes
        for node in range(n_nodes):
            record = scratch.nodes[node]
            forest.nodes[first + node] = record
            if record["feature"] == NOTHING:
                for output in range(scratch.predictions.shape[1]):
                    forest.predictions[first + node, output] = scratch.predictions[node, output]
                for index in range(record["test_start"], record["test_stop"]):
                    forest.leaf_of[tree, scratch.tests[index]] = node
        for index in range(n_drawn):
            forest.rows[first_row + index] = scratch.rows[index]
        for position in range(scratch.tests.size):
            forest.tests[tree, position] = scratch.tests[position]
    return tree_keys.size
