"""The leaves of a tree on one column.

The train rows of a column, in sorted order, fall into *groups* of tied values. A tree on one column cuts
that row of groups into intervals, its leaves:

    sorted values   0.1 0.4 | 0.7 0.7 0.9 | 1.3 1.3
    classes          a   a  |  b   b   b  |  a   b      three leaves: two pure runs, one impure tie

Rows that a sparse column does not store form one group with the value zero, counted by subtraction.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.splits import TRAIN
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int32s, Int64s, Records, int64, kernel_function, kernel_part
from ppfs._engine.one_column.shared_plan import Plan
from ppfs._engine.trees.criterion import (
    EPSILON,
    TIE,
    add_row,
    add_stats,
    copy_stats,
    entropy_gain,
    gain,
    impurity,
    is_worthless,
    midpoint,
    subtract_stats,
)
from ppfs._engine.trees.rules import Criterion, Limits

GROUP = np.dtype(
    [
        ("low", np.float32),  # smallest value of a group
        ("high", np.float32),  # largest value of a group
        ("weight", np.float64),  # train rows of a group or leaf; what they weigh, where rows have weights
        ("size", np.float64),  # train rows of a group
        ("threshold", np.float64),  # largest value that belongs to a leaf
    ],
    align=True,
)

#: A test row that a column stores.
TEST = np.dtype([("row", np.int32), ("value", np.float32)])


class Groups(NamedTuple):
    """Groups of tied train values, which become leaves in place.

    Leaf ``i`` is written over group ``i``, which by then is part of that leaf or of one before it.
    """

    records: Records  # (n_groups,) of the type `GROUP`
    stats: Float64s  # (n_groups, n_stats) statistics of a group or leaf


class Pending(NamedTuple):
    """Memory for splitting nodes one by one."""

    nodes: Int64s  # (n_groups + 1, 3) first group, end group and depth of nodes still to be split
    node: Float64s  # (n_stats,) statistics of the node being split, and of its two sides
    left: Float64s
    right: Float64s


class Work(NamedTuple):
    """Memory for the leaves of one column, reused by every column and split of a task."""

    zeros: Float64s  # (1, n_stats) statistics of the train rows that a column does not store
    groups: Groups
    pending: Pending
    tests: Records  # (n_entries,) of the type `TEST`, sorted by value


def make_work(n_entries: int, n_stats: int) -> Work:
    """Allocate for columns with up to ``n_entries`` stored entries."""
    # The zeros that are not stored form one more group.
    n_groups = n_entries + 1
    return Work(
        zeros=np.empty((1, n_stats)),
        groups=_make_groups(n_groups, n_stats),
        pending=_make_pending(n_groups, n_stats),
        tests=np.empty(n_entries, dtype=TEST),
    )


def _make_groups(n_groups: int, n_stats: int) -> Groups:
    return Groups(np.empty(n_groups, dtype=GROUP), np.empty((n_groups, n_stats)))


def _make_pending(n_groups: int, n_stats: int) -> Pending:
    nodes = np.empty((n_groups + 1, 3), dtype=np.int64)
    return Pending(nodes, np.empty(n_stats), np.empty(n_stats), np.empty(n_stats))


@kernel_function
def count_zeros(
    start: int, stop: int, split: int, columns: ColumnArrays, target: Target, plan: Plan, zeros: Float64s
) -> int:
    """Fill ``zeros`` with the statistics of the train rows a column does not store; return their number."""
    n_zeros: int = plan.n_train[split]
    copy_stats(plan.train_stats[split], zeros[0])
    for entry in range(start, stop):
        row = columns.rows[entry]
        if plan.receivers[split, row] != TRAIN:
            continue
        n_zeros -= 1
        add_row(zeros, int64(0), row, target, -1.0)
    return n_zeros


@kernel_part
def open_group(group: int, value: np.float32, groups: Groups) -> None:
    groups.records[group]["low"] = value
    groups.records[group]["weight"] = 0.0
    groups.records[group]["size"] = 0.0
    for stat in range(groups.stats.shape[1]):
        groups.stats[group, stat] = 0.0


@kernel_function
def gather(
    start: int,
    stop: int,
    receivers: Int32s,
    n_zeros: int,
    zeros: Float64s,
    columns: ColumnArrays,
    target: Target,
    groups: Groups,
    tests: Records,
) -> tuple[int, int]:
    """Sort a column's rows into groups of tied train values and a list of test entries.

    Returns the number of groups and the number of test entries.
    """
    n_groups = int64(0)
    n_tests = 0
    # The zeros stand as one more item before the first positive entry.
    zero_item = stop + 1
    if n_zeros > 0:
        zero_item = start
        while zero_item < stop and columns.values[zero_item] < 0.0:
            zero_item += 1
    for item in range(start, stop + (n_zeros > 0)):
        is_zero = item == zero_item
        entry = item - (item > zero_item)
        value = np.float32(0.0)
        if not is_zero:
            value = columns.values[entry]
            row = columns.rows[entry]
            if receivers[row] != TRAIN:
                tests[n_tests]["value"] = value
                tests[n_tests]["row"] = row
                n_tests += receivers[row] >= 0
                continue
        if n_groups == 0 or value > groups.records[n_groups - 1]["high"] + TIE:
            open_group(n_groups, value, groups)
            n_groups += 1
        group = n_groups - 1
        groups.records[group]["high"] = value
        if is_zero:
            groups.records[group]["weight"] += n_zeros
            groups.records[group]["size"] += n_zeros
            add_stats(groups.stats[group], zeros[0])
        else:
            groups.records[group]["weight"] += 1.0
            groups.records[group]["size"] += 1.0
            add_row(groups.stats, group, columns.rows[entry], target, 1.0)
    return n_groups, n_tests


@kernel_part
def close_leaf(first: int, end: int, n_groups: int, leaf: int, groups: Groups) -> None:
    """Make the groups ``first`` to ``end - 1`` a leaf."""
    weight = 0.0
    for group in range(first, end):
        weight += groups.records[group]["weight"]
    groups.records[leaf]["weight"] = weight
    for stat in range(groups.stats.shape[1]):
        total = 0.0
        for group in range(first, end):
            total += groups.stats[group, stat]
        groups.stats[leaf, stat] = total
    groups.records[leaf]["threshold"] = np.inf
    if end < n_groups:
        groups.records[leaf]["threshold"] = midpoint(
            groups.records[end - 1]["high"], groups.records[end]["low"]
        )


@kernel_part
def _pure_class(group: int, groups: Groups) -> int:
    """Return the only class of a group, or -1."""
    for label in range(groups.stats.shape[1]):
        count = groups.stats[group, label]
        if count > 0.0:
            return label if count == groups.records[group]["weight"] else -1
    return -1


@kernel_function
def exhaustive_leaves(n_groups: int, has_classes: bool, groups: Groups) -> None:
    """Cut between all groups except inside a pure run: what an unlimited tree always ends with.

    A cut inside a pure run is never the best one (Fayyad and Irani, 1992), and a node is split as long as it
    is impure and holds two groups. The threshold of the last leaf is infinite.
    """
    n_leaves, first, run = int64(0), int64(0), -1
    for group in range(n_groups):
        label = _pure_class(group, groups) if has_classes else -1
        if group > 0 and (run < 0 or label != run):
            close_leaf(first, group, n_groups, n_leaves, groups)
            n_leaves += 1
            first = group
        run = label
    close_leaf(first, n_groups, n_groups, n_leaves, groups)


@kernel_part
def sum_groups(first: int, end: int, groups: Groups, total: Float64s) -> float:
    """Fill ``total`` with the statistics of the groups ``first`` to ``end - 1``; return their rows."""
    weight = 0.0
    total.fill(0.0)
    for group in range(first, end):
        weight += groups.records[group]["weight"]
        add_stats(total, groups.stats[group])
    return weight


@kernel_part
def size_of_groups(first: int, end: int, groups: Groups) -> float:
    """Return the train rows of the groups ``first`` to ``end - 1``."""
    size = 0.0
    for group in range(first, end):
        size += groups.records[group]["size"]
    return size


@kernel_part
def _best_cut(
    first: int, end: int, n_node: float, size: float, limits: Limits, groups: Groups, pending: Pending
) -> int:
    """Return the group before which to cut the node with statistics ``pending.node``, or -1."""
    node, left, right = pending.node, pending.left, pending.right
    best_cut = -1
    best_gain = -np.inf
    n_left, left_size = 0.0, 0.0
    left.fill(0.0)
    for group in range(first, end - 1):
        n_left += groups.records[group]["weight"]
        left_size += groups.records[group]["size"]
        left_sum, right_sum = 0.0, 0.0
        for stat in range(node.size):
            left[stat] += groups.stats[group, stat]
            left_sum += left[stat] * left[stat]
            right_sum += (node[stat] - left[stat]) * (node[stat] - left[stat])
        n_right = n_node - n_left
        if left_size < limits.min_leaf or size - left_size < limits.min_leaf:
            continue
        if limits.criterion == Criterion.SQUARED_ERROR:
            left_sum, right_sum = left[0], node[0] - left[0]
        if limits.criterion == Criterion.ENTROPY:
            worth = entropy_gain(node, left, right, n_left, n_right)
        else:
            worth = gain(left_sum, right_sum, n_left, n_right, limits.criterion)
        if worth > best_gain:
            best_gain = worth
            best_cut = group + 1
    return best_cut


@kernel_part
def _cut(
    first: int, end: int, depth: int, n_train: float, limits: Limits, groups: Groups, pending: Pending
) -> int:
    """Apply scikit-learn's rules to one node: the group before which it is cut, or -1 for a leaf."""
    n_node, size = sum_groups(first, end, groups, pending.node), size_of_groups(first, end, groups)
    if depth >= limits.max_depth or size < limits.min_split:
        return -1
    if impurity(pending.node, n_node, limits.criterion) <= EPSILON:
        return -1
    cut = _best_cut(first, end, n_node, size, limits, groups, pending)
    if cut < 0:
        return -1
    n_left = sum_groups(first, cut, groups, pending.left)
    subtract_stats(pending.node, pending.left, pending.right)
    if is_worthless(
        pending.node, pending.left, pending.right, n_left, n_node - n_left, n_train, limits.criterion
    ):
        return -1
    return cut


@kernel_part
def push(place: int, first: int, end: int, depth: int, nodes: Int64s) -> None:
    nodes[place, 0] = first
    nodes[place, 1] = end
    nodes[place, 2] = depth


@kernel_function
def limited_leaves(n_groups: int, n_train: float, limits: Limits, groups: Groups, pending: Pending) -> None:
    """Split nodes, left before right, until the limits end the growth.

    The threshold of the last leaf is infinite.
    """
    n_leaves, n_pending = int64(0), int64(1)
    nodes = pending.nodes
    push(int64(0), int64(0), n_groups, int64(0), nodes)
    while n_pending > 0:
        n_pending -= 1
        first, end, depth = nodes[n_pending, 0], nodes[n_pending, 1], nodes[n_pending, 2]
        cut = _cut(first, end, depth, n_train, limits, groups, pending)
        if cut < 0:
            close_leaf(first, end, n_groups, n_leaves, groups)
            n_leaves += 1
        else:
            push(n_pending, cut, end, depth + 1, nodes)
            push(n_pending + 1, first, cut, depth + 1, nodes)
            n_pending += 2


@kernel_part
def zero_leaf(groups: Groups) -> int:
    """Return the leaf of the rows that a sparse column does not store."""
    leaf = int64(0)
    while groups.records[leaf]["threshold"] < 0.0:
        leaf += 1
    return leaf
