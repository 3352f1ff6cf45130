"""The leaves of a tree on one column.

A tree on one column divides its sorted groups of tied values into intervals, the leaves:

    sorted values   0.1 0.4 | 0.7 0.7 0.9 | 1.3 1.3
    classes          a   a  |  b   b   b  |  a   b      three leaves: two pure runs, one impure tie
"""

from math import nan
from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, Words
from ppfs._engine.inputs.random_keys import combine, uniform
from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int64s, Records, int64, kernel_function, kernel_part
from ppfs._engine.one_column.groups import Groups, count_zeros, gather, make_groups
from ppfs._engine.one_column.prepared_columns import Plan
from ppfs._engine.trees.criterion import add_stats, midpoint, subtract_stats
from ppfs._engine.trees.cuts import ENTRY, Sides, best_cut, draw_threshold, make_sides, sum_squares
from ppfs._engine.trees.leaf_rule import is_clear, is_worthless, may_split
from ppfs._engine.trees.rules import TIE, Criterion, Limits

_LEFT, _RIGHT = np.uint64(1), np.uint64(2)


class Pending(NamedTuple):
    """Scratch memory for splitting nodes one by one."""

    nodes: Int64s  # (n_groups + 1, 4) nodes to split: first group, end group, depth, whether missing values come here
    limits: Float64s  # (n_groups + 1,) largest value that belongs to each
    keys: Words  # (n_groups + 1,) what is drawn at random in each depends on it
    node: Float64s  # (n_stats,) statistics of the node being split
    sides: Sides


class Work(NamedTuple):
    """Scratch memory for the leaves of one column, reused for every column and split of a task."""

    zeros: Float64s  # (n_stats,) statistics of the train rows that a column does not store
    groups: Groups
    pending: Pending
    tests: Records  # (n_entries,) of the type `ENTRY`: test rows that a column stores, sorted by value


def make_work(n_entries: int, n_stats: int) -> Work:
    """Allocate memory for columns with up to ``n_entries`` stored entries."""
    # Rows that are not stored form one more group, and missing values may form a separate leaf.
    n_groups = n_entries + 2
    pending = Pending(
        nodes=np.empty((n_groups + 1, 4), dtype=np.int64),
        limits=np.empty(n_groups + 1),
        keys=np.empty(n_groups + 1, dtype=np.uint64),
        node=np.empty(n_stats),
        sides=make_sides(n_stats),
    )
    return Work(np.empty(n_stats), make_groups(n_groups, n_stats), pending, np.empty(n_entries, dtype=ENTRY))


@kernel_part
def _add_groups(
    first: int, end: int, groups: Groups, weight: float, n_rows: float, total: Float64s
) -> tuple[float, float]:
    """Add the statistics of the groups ``first`` to ``end - 1`` to ``total``; return the updated weight and rows."""
    for group in range(first, end):
        weight += groups.records[group]["weight"]
        n_rows += groups.records[group]["size"]
        add_stats(total, groups.stats[group])
    return weight, n_rows


@kernel_part
def _pure_class(group: int, groups: Groups) -> int:
    """Return the only class of a group, or -1."""
    for label in range(groups.stats.shape[1]):
        count = groups.stats[group, label]
        if count > 0.0:
            return label if count == groups.records[group]["weight"] else -1
    return -1


@kernel_part
def _close_leaf(first: int, end: int, threshold: float, leaf: int, groups: Groups) -> None:
    """Make the groups ``first`` to ``end - 1`` a leaf."""
    weight = 0.0
    for group in range(first, end):
        weight += groups.records[group]["weight"]
    groups.records[leaf]["weight"] = weight
    groups.records[leaf]["threshold"] = threshold
    for stat in range(groups.stats.shape[1]):
        total = 0.0
        for group in range(first, end):
            total += groups.stats[group, stat]
        groups.stats[leaf, stat] = total


@kernel_part
def _add_missing(leaf: int, n_known: int, n_groups: int, groups: Groups) -> None:
    """Add the rows with missing values to a leaf."""
    for group in range(n_known, n_groups):
        groups.records[leaf]["weight"] += groups.records[group]["weight"]
        add_stats(groups.stats[leaf], groups.stats[group])


@kernel_function
def exhaustive_leaves(n_groups: int, has_classes: bool, groups: Groups) -> None:
    """Cut between all groups except inside a pure run, which is the final result of an unlimited tree.

    A cut inside a pure run is never the best one (Fayyad and Irani, 1992), and a node is split as long as it is impure
    and has two groups. The threshold of the last leaf is infinite.
    """
    n_leaves, first, run = int64(0), int64(0), -1
    for group in range(n_groups):
        label = _pure_class(group, groups) if has_classes else -1
        if group > 0 and (run < 0 or label != run):
            threshold = midpoint(groups.records[group - 1]["high"], groups.records[group]["low"])
            _close_leaf(first, group, threshold, n_leaves, groups)
            n_leaves += 1
            first = group
        run = label
    _close_leaf(first, n_groups, np.inf, n_leaves, groups)


@kernel_part
def _span_of_group(group: int, groups: Groups) -> tuple[np.float32, np.float32]:
    """Return the lowest and the highest value of a group."""
    return groups.records[group]["low"], groups.records[group]["high"]


@kernel_part
def _add_group(
    group: int,
    groups: Groups,
    weights: Float64s | None,
    stats: Float64s,
    target: Target,
    criterion: int,
    left: Float64s,
    left_sum: float,
    right_sum: float,
) -> tuple[float, float, float, float]:
    """Move a group to the left; return its number of rows, its weight, and the sums that `gain` needs."""
    if target.classes.size:
        for label in range(stats.size):
            left[label] += groups.stats[group, label]
        if criterion == Criterion.GINI:
            left_sum, right_sum = sum_squares(stats, left)
    else:
        left_sum += groups.stats[group, 0]
        right_sum = stats[0] - left_sum
    return groups.records[group]["size"], groups.records[group]["weight"], left_sum, right_sum


@kernel_part
def _cut(
    first: int,
    end: int,
    missing_first: int,
    missing_end: int,
    depth: int,
    total_weight: float,
    chance: float | None,
    target: Target,
    has_weights: bool | None,
    limits: Limits,
    groups: Groups,
    pending: Pending,
) -> tuple[int, float, bool]:
    """Return the group before which a node is cut, or -1 for a leaf, the threshold, and whether missing values go left.

    ``chance`` is a number from 0 to 1 for trees that cut at random.
    """
    node, left, right = pending.node, pending.sides.left, pending.sides.right
    node.fill(0.0)
    weight, n_rows = _add_groups(first, end, groups, 0.0, 0.0, node)
    weight, n_rows = _add_groups(missing_first, missing_end, groups, weight, n_rows, node)
    if first == end or not may_split(depth, n_rows, weight, node, limits):
        return int64(-1), 0.0, False
    low, high = groups.records[first]["low"], groups.records[end - 1]["high"]
    if chance is not None and not high > low + TIE:
        return int64(-1), 0.0, False
    cut, gain, threshold, missing_left = best_cut(
        first,
        end,
        missing_first,
        missing_end,
        groups,
        _span_of_group,
        _add_group,
        None,
        has_weights,
        None,
        draw_threshold(low, high, chance),
        n_rows,
        weight,
        node,
        target,
        limits,
        pending.sides,
    )
    if cut >= 0 and not is_clear(gain, weight, node, limits.criterion):
        left.fill(0.0)
        left_weight, _ = _add_groups(first, cut, groups, 0.0, 0.0, left)
        if missing_left:
            left_weight, _ = _add_groups(missing_first, missing_end, groups, left_weight, 0.0, left)
        subtract_stats(node, left, right)
        if is_worthless(node, left, right, left_weight, weight - left_weight, total_weight, limits.criterion):
            cut = int64(-1)
    return cut, threshold, missing_left


@kernel_part
def _push(
    place: int,
    first: int,
    end: int,
    depth: int,
    takes_missing: bool,
    limit: float,
    key: np.uint64,
    pending: Pending,
) -> None:
    """Put a node on the stack; see `Pending`."""
    pending.nodes[place, 0] = first
    pending.nodes[place, 1] = end
    pending.nodes[place, 2] = depth
    pending.nodes[place, 3] = takes_missing
    pending.limits[place] = limit
    pending.keys[place] = key


@kernel_part
def _chance(key: np.uint64, column_key: np.uint64, is_random: bool | None) -> float | None:
    """Return the random relative position of a node's cut within its range; None or NaN for the best cut."""
    if is_random is None:
        return None
    return uniform(combine(key, column_key)) if is_random else nan


@kernel_part
def _child_key(key: np.uint64, side: np.uint64, is_random: bool | None) -> np.uint64:
    """Return the key of a child; only trees that cut at random have keys."""
    return key if is_random is None else combine(key, side)


@kernel_function
def limited_leaves(
    n_known: int,
    n_groups: int,
    total_weight: float,
    tree_key: np.uint64,
    column_key: np.uint64,
    is_random: bool | None,
    target: Target,
    has_weights: bool | None,
    limits: Limits,
    groups: Groups,
    pending: Pending,
) -> tuple[int, int]:
    """Split nodes, left before right, until they are pure or reach the limits.

    Parameters
    ----------
    n_known, n_groups : int
        Groups without and with those of missing values, which come last.
    total_weight : float
        Weight of all train rows.
    tree_key, column_key : uint64
        Random thresholds are determined by the key of the node, which depends on its position in the tree, and the key
        of the column.
    is_random : bool or None
        Whether the tree cuts at random. With None, the code for it is not compiled.
    target : Target
        Values may be missing if it has ``weights``.
    has_weights : True or None
        None if all weights are 1.
    groups : Groups
        Overwritten with the leaves, in the order of their values; the threshold of the last is infinite. A leaf with
        only missing values is written after all groups.
    pending : Pending
        Scratch memory.

    Returns
    -------
    n_leaves : int
        Not counting a leaf with only missing values.
    missing_leaf : int
        The leaf of missing values.
    """
    n_leaves, height, missing_leaf = int64(0), int64(1), int64(0)
    nodes = pending.nodes
    _push(int64(0), int64(0), n_known, int64(0), True, np.inf, tree_key, pending)
    while height > 0:
        height -= 1
        first, end, depth = nodes[height, 0], nodes[height, 1], nodes[height, 2]
        takes_missing, limit, key = nodes[height, 3] == 1, pending.limits[height], pending.keys[height]
        missing_end = n_groups if takes_missing else n_known
        cut, threshold, missing_left = _cut(
            first,
            end,
            n_known,
            missing_end,
            depth,
            total_weight,
            _chance(key, column_key, is_random),
            target,
            has_weights,
            limits,
            groups,
            pending,
        )
        if cut < 0:
            leaf = n_leaves if end > first else n_groups
            _close_leaf(first, end, limit, leaf, groups)
            if takes_missing:
                missing_leaf = leaf
                _add_missing(leaf, n_known, n_groups, groups)
            n_leaves += end > first
        else:
            is_right, is_unsolved = takes_missing and not missing_left, takes_missing and missing_left
            _push(height, cut, end, depth + 1, is_right, limit, _child_key(key, _RIGHT, is_random), pending)
            limit = min(limit, threshold)
            _push(
                height + 1,
                first,
                cut,
                depth + 1,
                is_unsolved,
                limit,
                _child_key(key, _LEFT, is_random),
                pending,
            )
            height += 2
    return n_leaves, missing_leaf


@kernel_part
def leaves_of_column(
    column: int,
    split: int,
    columns: ColumnArrays,
    target: Target,
    plan: Plan,
    limits: Int64s | None,
    work: Work,
) -> int:
    """Fill ``work.groups`` with the leaves of the tree on a column in a split; return its number of test entries.

    ``limits`` comes from `make_limits`.
    """
    zeros, groups, pending, tests = work
    start, stop = columns.indptr[column], columns.indptr[column + 1]
    receivers = plan.receivers[split]
    n_zeros = 0
    if stop - start < receivers.size:
        n_zeros = count_zeros(start, stop, split, columns, target, plan, zeros)
    n_groups, n_tests = gather(start, stop, receivers, n_zeros, zeros, columns, target, groups, tests)
    if limits is None:
        exhaustive_leaves(n_groups, target.classes.size > 0, groups)
    else:
        rule = Limits(limits[split, 0], limits[split, 1], limits[split, 2], limits[split, 3])
        weight = float(plan.n_train[split])
        limited_leaves(n_groups, n_groups, weight, NONE, NONE, None, target, None, rule, groups, pending)
    return n_tests


@kernel_part
def leaf_of(value: np.float32, n_leaves: int, missing_leaf: int, groups: Groups) -> int:
    """Return the leaf of a value."""
    if value != value or n_leaves == 0:
        return missing_leaf
    below, leaf = int64(-1), n_leaves - 1
    while leaf - below > 1:
        middle = (below + leaf) // 2
        if float(value) <= groups.records[middle]["threshold"]:
            leaf = middle
        else:
            below = middle
    return leaf


@kernel_part
def zero_leaf(groups: Groups) -> int:
    """Return the leaf of the rows that a sparse column does not store."""
    leaf = int64(0)
    while groups.records[leaf]["threshold"] < 0.0:
        leaf += 1
    return leaf
