"""The leaves of a tree on one column.

The train rows of a column, in sorted order, fall into *groups* of tied values. A tree on one column cuts
that row of groups into intervals, its leaves:

    sorted values   0.1 0.4 | 0.7 0.7 0.9 | 1.3 1.3
    classes          a   a  |  b   b   b  |  a   b      three leaves: two pure runs, one impure tie

Rows that a sparse column does not store form one group with the value zero, counted by subtraction.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine._jit import Float32s, Float64s, Int32s, Int64s, kernel_part
from ppfs._engine.columns import ColumnArrays
from ppfs._engine.criterion import EPSILON, TIE, add_stats, copy_stats, gain, impurity, is_worthless, midpoint, subtract_stats
from ppfs._engine.rules import Limits
from ppfs._engine.splits import TRAIN
from ppfs._engine.target import Target


class Plan(NamedTuple):
    """The splits as kernels read them.

    Attributes
    ----------
    receivers : array of shape (n_splits, n_rows), int32
        See `Splits.receivers`.
    n_train, n_test : arrays of shape (n_splits,), int64
    train_stats, test_stats : arrays of shape (n_splits, n_stats), float64
        Statistics of all rows of a part; those of test numbers are taken after ``centre`` is subtracted.
    centre : float
        The mean of the numbers: sums of squared errors about it do not cancel. Trees are grown from the numbers
        as they are, because ties between splits must be rounded as scikit-learn rounds them.
    loss : int
    """

    receivers: Int32s
    n_train: Int64s
    n_test: Int64s
    train_stats: Float64s
    test_stats: Float64s
    centre: float
    loss: int


class Groups(NamedTuple):
    """Groups of tied train values, which become leaves in place.

    Leaf ``i`` is written over group ``i``, which by then is part of that leaf or of one before it.
    """

    low: Float32s  # (n_groups,) smallest value of a group
    high: Float32s  # (n_groups,) largest value of a group
    weight: Float64s  # (n_groups,) train rows of a group or leaf
    stats: Float64s  # (n_groups, n_stats) statistics of a group or leaf
    threshold: Float64s  # (n_groups,) largest value that belongs to a leaf


class Pending(NamedTuple):
    """Memory for splitting nodes one by one."""

    nodes: Int64s  # (n_groups + 1, 3) first group, end group and depth of nodes still to be split
    node: Float64s  # (n_stats,) statistics of the node being split, and of its two sides
    left: Float64s
    right: Float64s


class Tests(NamedTuple):
    """Stored test entries of a column in sorted order."""

    values: Float32s  # (n_entries,)
    rows: Int32s  # (n_entries,)


def make_groups(n_groups: int, n_stats: int) -> Groups:
    """Allocate room for the groups of one column."""
    return Groups(
        low=np.empty(n_groups, dtype=np.float32),
        high=np.empty(n_groups, dtype=np.float32),
        weight=np.empty(n_groups),
        stats=np.empty((n_groups, n_stats)),
        threshold=np.empty(n_groups),
    )


def make_pending(n_groups: int, n_stats: int) -> Pending:
    """Allocate for splitting the groups of one column."""
    nodes = np.empty((n_groups + 1, 3), dtype=np.int64)
    return Pending(nodes, np.empty(n_stats), np.empty(n_stats), np.empty(n_stats))


def make_tests(n_entries: int) -> Tests:
    """Allocate room for the test entries of one column."""
    return Tests(np.empty(n_entries, dtype=np.float32), np.empty(n_entries, dtype=np.int32))


@kernel_part
def count_zeros(
    start: int, stop: int, split: int, columns: ColumnArrays, target: Target, plan: Plan, zeros: Float64s
) -> int:
    """Fill ``zeros`` with the statistics of the train rows a column does not store; return their number."""
    n_zeros = plan.n_train[split]
    copy_stats(plan.train_stats[split], zeros)
    for entry in range(start, stop):
        row = columns.rows[entry]
        if plan.receivers[split, row] != TRAIN:
            continue
        n_zeros -= 1
        if target.classes.size:
            zeros[target.classes[row]] -= 1.0
        else:
            number = target.values[row]
            zeros[0] -= number
            zeros[1] -= number * number
    return n_zeros


@kernel_part
def _open_group(group: int, value: float, groups: Groups) -> None:
    groups.low[group] = value
    groups.weight[group] = 0.0
    for stat in range(groups.stats.shape[1]):
        groups.stats[group, stat] = 0.0


@kernel_part
def _add_row(group: int, row: int, target: Target, groups: Groups) -> None:
    groups.weight[group] += 1.0
    if target.classes.size:
        groups.stats[group, target.classes[row]] += 1.0
    else:
        number = target.values[row]
        groups.stats[group, 0] += number
        groups.stats[group, 1] += number * number


@kernel_part
def gather(
    start: int,
    stop: int,
    receivers: Int32s,
    n_zeros: int,
    zeros: Float64s,
    columns: ColumnArrays,
    target: Target,
    groups: Groups,
    tests: Tests,
) -> tuple[int, int]:
    """Sort a column's rows into groups of tied train values and a list of test entries.

    Returns the number of groups and the number of test entries.
    """
    n_groups = 0
    n_tests = 0
    # The zeros stand as one more item before the first positive entry.
    zero_item = stop + 1
    if n_zeros > 0:
        zero_item = start
        while zero_item < stop and columns.values[zero_item] < 0.0:
            zero_item += 1
    for item in range(start, stop + (n_zeros > 0)):
        is_zero = item == zero_item
        value = np.float32(0.0)
        row = np.int32(0)
        if not is_zero:
            entry = item - (item > zero_item)
            value = columns.values[entry]
            row = columns.rows[entry]
            if receivers[row] != TRAIN:
                tests.values[n_tests] = value
                tests.rows[n_tests] = row
                n_tests += receivers[row] >= 0
                continue
        if n_groups == 0 or value > groups.high[n_groups - 1] + TIE:
            _open_group(n_groups, value, groups)
            n_groups += 1
        group = n_groups - 1
        groups.high[group] = value
        if is_zero:
            groups.weight[group] += n_zeros
            add_stats(groups.stats[group], zeros)
        else:
            _add_row(group, row, target, groups)
    return n_groups, n_tests


@kernel_part
def _close_leaf(first: int, end: int, n_groups: int, leaf: int, groups: Groups) -> None:
    """Make the groups ``first`` to ``end - 1`` a leaf."""
    weight = 0.0
    for group in range(first, end):
        weight += groups.weight[group]
    groups.weight[leaf] = weight
    for stat in range(groups.stats.shape[1]):
        total = 0.0
        for group in range(first, end):
            total += groups.stats[group, stat]
        groups.stats[leaf, stat] = total
    groups.threshold[leaf] = np.inf
    if end < n_groups:
        groups.threshold[leaf] = midpoint(groups.high[end - 1], groups.low[end])


@kernel_part
def _pure_class(group: int, groups: Groups) -> int:
    """Return the only class of a group, or -1."""
    for label in range(groups.stats.shape[1]):
        count = groups.stats[group, label]
        if count > 0.0:
            return label if count == groups.weight[group] else -1
    return -1


@kernel_part
def exhaustive_leaves(n_groups: int, has_classes: bool, groups: Groups) -> int:
    """Cut between all groups except inside a pure run: what an unlimited tree always ends with.

    A cut inside a pure run is never the best one (Fayyad and Irani, 1992), and a node is split as long as it
    is impure and holds two groups. Returns the number of leaves.
    """
    n_leaves = 0
    first = 0
    run = -1
    for group in range(n_groups):
        label = _pure_class(group, groups) if has_classes else -1
        if group > 0 and (run < 0 or label != run):
            _close_leaf(first, group, n_groups, n_leaves, groups)
            n_leaves += 1
            first = group
        run = label
    _close_leaf(first, n_groups, n_groups, n_leaves, groups)
    return n_leaves + 1


@kernel_part
def _sum_groups(first: int, end: int, groups: Groups, total: Float64s) -> float:
    """Fill ``total`` with the statistics of the groups ``first`` to ``end - 1``; return their rows."""
    weight = 0.0
    total.fill(0.0)
    for group in range(first, end):
        weight += groups.weight[group]
        add_stats(total, groups.stats[group])
    return weight


@kernel_part
def _best_cut(first: int, end: int, n_node: float, limits: Limits, groups: Groups, pending: Pending) -> int:
    """Return the group before which to cut the node with statistics ``pending.node``, or -1."""
    best_cut = -1
    best_gain = -np.inf
    n_left = 0.0
    pending.left.fill(0.0)
    for group in range(first, end - 1):
        add_stats(pending.left, groups.stats[group])
        n_left += groups.weight[group]
        if n_left < limits.min_leaf or n_node - n_left < limits.min_leaf:
            continue
        subtract_stats(pending.node, pending.left, pending.right)
        worth = gain(pending.left, pending.right, n_left, n_node - n_left, limits.criterion)
        if worth > best_gain:
            best_gain = worth
            best_cut = group + 1
    return best_cut


@kernel_part
def _cut(
    first: int, end: int, depth: int, n_train: int, limits: Limits, groups: Groups, pending: Pending
) -> int:
    """Apply scikit-learn's rules to one node: the group before which it is cut, or -1 for a leaf."""
    n_node = _sum_groups(first, end, groups, pending.node)
    if depth >= limits.max_depth or n_node < limits.min_split:
        return -1
    if impurity(pending.node, n_node, limits.criterion) <= EPSILON:
        return -1
    cut = _best_cut(first, end, n_node, limits, groups, pending)
    if cut < 0:
        return -1
    n_left = _sum_groups(first, cut, groups, pending.left)
    subtract_stats(pending.node, pending.left, pending.right)
    if is_worthless(pending.node, pending.left, pending.right, n_left, n_node - n_left, n_train, limits.criterion):
        return -1
    return cut


@kernel_part
def _push(place: int, first: int, end: int, depth: int, nodes: Int64s) -> None:
    nodes[place, 0] = first
    nodes[place, 1] = end
    nodes[place, 2] = depth


@kernel_part
def limited_leaves(n_groups: int, n_train: int, limits: Limits, groups: Groups, pending: Pending) -> int:
    """Split nodes, left before right, until the limits end the growth; return the number of leaves."""
    n_leaves = 0
    n_pending = 1
    nodes = pending.nodes
    _push(0, 0, n_groups, 0, nodes)
    while n_pending > 0:
        n_pending -= 1
        first, end, depth = nodes[n_pending, 0], nodes[n_pending, 1], nodes[n_pending, 2]
        cut = _cut(first, end, depth, n_train, limits, groups, pending)
        if cut < 0:
            _close_leaf(first, end, n_groups, n_leaves, groups)
            n_leaves += 1
        else:
            _push(n_pending, cut, end, depth + 1, nodes)
            _push(n_pending + 1, first, cut, depth + 1, nodes)
            n_pending += 2
    return n_leaves
