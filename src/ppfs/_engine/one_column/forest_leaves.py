"""Forests on one column each, tree by tree: trees with limits, trees that cut at random, and columns of near ties.

The leaves of every tree are built as for single trees (see `leaves`), from the rows that the tree draws.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import Words
from ppfs._engine.inputs.random_keys import combine, uniform
from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int64s, int64, kernel, kernel_function, kernel_part
from ppfs._engine.one_column.bags import Bags
from ppfs._engine.one_column.forest_neighbours import (
    ForestWork,
    add_risks,
    find_values,
    lay_out,
    predict_leaves,
)
from ppfs._engine.one_column.leaves import (
    Groups,
    Pending,
    Work,
    close_leaf,
    limited_leaves,
    open_group,
    size_of_groups,
    sum_groups,
)
from ppfs._engine.one_column.shared_plan import Plan
from ppfs._engine.trees.criterion import EPSILON, TIE, impurity, is_worthless, subtract_stats
from ppfs._engine.trees.losses import Scoring
from ppfs._engine.trees.row_losses import DrawnRows, Losses, add_losses
from ppfs._engine.trees.rules import Limits

_LEFT, _RIGHT = np.uint64(1), np.uint64(2)


class Growth(NamedTuple):
    """How the trees of a forest are grown.

    Attributes
    ----------
    limits : array of shape (n_splits, 4), int64
        The fields of `Limits` for each split.
    is_exhaustive : bool
        Whether nothing but purity ends the growth, and near ties are all that stands in the way of neighbours.
    tree_keys : array of shape (n_splits, n_trees), uint64
        Decide where trees cut that do so at random; empty for trees that look for the best cut.
    """

    limits: Int64s
    is_exhaustive: bool
    tree_keys: Words


@kernel_part
def _add_to_group(
    group: int, weight: float, size: float, value: np.float32, row: int, target: Target, groups: Groups
) -> None:
    """Add drawn copies of a row to a group."""
    record = groups.records[group]
    record["high"] = value
    record["weight"] += weight
    record["size"] += size
    if target.classes.size:
        groups.stats[group, target.classes[row]] += weight
    else:
        number = target.values[row]
        groups.stats[group, 0] += weight * number
        groups.stats[group, 1] += weight * number * number


@kernel_function
def _gather(
    split: int,
    tree: int,
    n_places: int,
    zero_place: int,
    tie: np.float32,
    target: Target,
    bags: Bags,
    forest: ForestWork,
    work: Work,
) -> int:
    """Sort the rows that a tree draws into groups of tied values; return the number of groups."""
    counts, line, values, groups, zeros = bags.counts, forest.line, forest.values, work.groups, work.zeros
    n_stats = groups.stats.shape[1]
    has_classes = target.classes.size > 0
    zero_weight, zero_size = 0.0, 0.0
    if zero_place:
        zero_size = bags.sizes[split, tree]
        for stat in range(n_stats):
            zeros[0, stat] = bags.totals[split, stat if has_classes else stat + 1, tree]
        for place in range(1, n_places + 1):
            row = line.rows[place]
            if row >= 0 and counts[split, row, tree] > 0:
                count = float(counts[split, row, tree])
                zero_size -= 1.0
                if has_classes:
                    zeros[0, target.classes[row]] -= count
                else:
                    zeros[0, 0] -= count * target.values[row]
                    zeros[0, 1] -= count * target.values[row] * target.values[row]
        if has_classes:
            for stat in range(n_stats):
                zero_weight += zeros[0, stat]
        else:
            zero_weight = bags.totals[split, 0, tree]
            for place in range(1, n_places + 1):
                row = line.rows[place]
                if row >= 0:
                    zero_weight -= float(counts[split, row, tree])
    n_groups = int64(0)
    for place in range(1, n_places + 1):
        row = line.rows[place]
        weight = zero_weight if row < 0 else float(counts[split, row, tree])
        if weight == 0.0:
            continue
        value = values[place - 1]
        if n_groups == 0 or value > groups.records[n_groups - 1]["high"] + tie:
            open_group(n_groups, value, groups)
            n_groups += 1
        group = n_groups - 1
        if row >= 0:
            _add_to_group(group, weight, 1.0, value, row, target, groups)
        else:
            record = groups.records[group]
            record["high"] = value
            record["weight"] += weight
            record["size"] += zero_size
            for stat in range(n_stats):
                groups.stats[group, stat] += zeros[0, stat]
    return n_groups


@kernel_part
def _random_cut(
    first: int,
    end: int,
    depth: int,
    n_train: float,
    key: np.uint64,
    limits: Limits,
    groups: Groups,
    pending: Pending,
) -> tuple[int, float]:
    """Apply the rules of scikit-learn's extra trees to one node: the cut, or -1 for a leaf, and the threshold."""
    n_node = sum_groups(first, end, groups, pending.node)
    size = size_of_groups(first, end, groups)
    if depth >= limits.max_depth or size < limits.min_split:
        return -1, 0.0
    if impurity(pending.node, n_node, limits.criterion) <= EPSILON:
        return -1, 0.0
    low, high = groups.records[first]["low"], groups.records[end - 1]["high"]
    if high <= low + TIE:
        return -1, 0.0
    threshold = float(low) + (float(high) - float(low)) * uniform(key)
    if threshold >= float(high):
        threshold = float(low)
    below, above = first, end
    while above - below > 1:
        middle = (below + above) // 2
        if float(groups.records[middle]["low"]) <= threshold:
            below = middle
        else:
            above = middle
    cut = above
    left_size = size_of_groups(first, cut, groups)
    if left_size < limits.min_leaf or size - left_size < limits.min_leaf:
        return -1, 0.0
    n_left = sum_groups(first, cut, groups, pending.left)
    subtract_stats(pending.node, pending.left, pending.right)
    if is_worthless(
        pending.node, pending.left, pending.right, n_left, n_node - n_left, n_train, limits.criterion
    ):
        return -1, 0.0
    return cut, threshold


@kernel_function
def _random_leaves(
    n_groups: int,
    n_train: float,
    tree_key: np.uint64,
    column_key: np.uint64,
    limits: Limits,
    groups: Groups,
    pending: Pending,
    keys: Words,
    thresholds: Float64s,
) -> None:
    """Cut nodes at random, left before right, until purity or the limits end the growth.

    Values are drawn by the key of the node, which says where it stands in the tree, and the key of the column.
    """
    n_leaves, n_pending = int64(0), int64(1)
    nodes = pending.nodes
    nodes[0, 0], nodes[0, 1], nodes[0, 2] = 0, n_groups, 0
    keys[0] = tree_key
    thresholds[0] = np.inf
    while n_pending > 0:
        n_pending -= 1
        first, end, depth = nodes[n_pending, 0], nodes[n_pending, 1], nodes[n_pending, 2]
        key, limit = keys[n_pending], thresholds[n_pending]
        cut, threshold = _random_cut(
            first, end, depth, n_train, combine(key, column_key), limits, groups, pending
        )
        if cut < 0:
            close_leaf(first, end, n_groups, n_leaves, groups)
            groups.records[n_leaves]["threshold"] = limit
            n_leaves += 1
            continue
        nodes[n_pending, 0], nodes[n_pending, 1], nodes[n_pending, 2] = cut, end, depth + 1
        keys[n_pending], thresholds[n_pending] = combine(key, _RIGHT), limit
        n_pending += 1
        nodes[n_pending, 0], nodes[n_pending, 1], nodes[n_pending, 2] = first, cut, depth + 1
        keys[n_pending], thresholds[n_pending] = combine(key, _LEFT), threshold
        n_pending += 1


@kernel_function
def _best_leaves(n_groups: int, n_train: float, limits: Limits, groups: Groups, pending: Pending) -> None:
    """Cut nodes where it is best; a function of its own, which is compiled in half the time."""
    limited_leaves(n_groups, n_train, limits, groups, pending)


@kernel_function
def _add_tree(
    split: int,
    tree: int,
    n_values: int,
    n_places: int,
    zero_place: int,
    column_key: np.uint64,
    target: Target,
    bags: Bags,
    growth: Growth,
    forest: ForestWork,
    work: Work,
    keys: Words,
    thresholds: Float64s,
) -> None:
    """Grow one tree and add what it predicts for each distinct value of the test rows."""
    groups, pending, sums, places = work.groups, work.pending, forest.sums, forest.places
    is_random = growth.tree_keys.size > 0
    has_classes = target.classes.size > 0
    tie = np.float32(0.0) if is_random else TIE
    n_groups = _gather(split, tree, n_places, zero_place, tie, target, bags, forest, work)
    rule = Limits(
        growth.limits[split, 0], growth.limits[split, 1], growth.limits[split, 2], growth.limits[split, 3]
    )
    n_train = bags.weights[split, tree]
    if is_random:
        tree_key = growth.tree_keys[split, tree]
        _random_leaves(n_groups, n_train, tree_key, column_key, rule, groups, pending, keys, thresholds)
    else:
        _best_leaves(n_groups, n_train, rule, groups, pending)
    leaf = int64(0)
    for index in range(n_values):
        value = 2.0 * forest.line.halves[places[index]]
        while value > groups.records[leaf]["threshold"]:
            leaf += 1
        weight = groups.records[leaf]["weight"]
        for stat in range(groups.stats.shape[1] if has_classes else 1):
            sums[index, stat] += groups.stats[leaf, stat] / weight


@kernel_function
def _ask_trees_one_by_one(
    split: int,
    n_places: int,
    zero_place: int,
    column_key: np.uint64,
    target: Target,
    scoring: Scoring,
    plan: Plan,
    bags: Bags,
    growth: Growth,
    forest: ForestWork,
    work: Work,
    keys: Words,
    thresholds: Float64s,
) -> None:
    """Fill ``forest.rows``: the leaf of each test row of a split, and what the leaves predict."""
    n_values = find_values(split, n_places, zero_place, plan, forest)
    for tree in range(bags.n_trees):
        _add_tree(
            split,
            tree,
            n_values,
            n_places,
            zero_place,
            column_key,
            target,
            bags,
            growth,
            forest,
            work,
            keys,
            thresholds,
        )
    predict_leaves(n_values, target, scoring, bags.n_trees, forest)


@kernel
def forest_leaf_losses(
    begin: int,
    end: int,
    columns: ColumnArrays,
    column_keys: Words,
    target: Target,
    scoring: Scoring,
    plan: Plan,
    bags: Bags,
    growth: Growth,
    draws: DrawnRows,
    forest: ForestWork,
    work: Work,
    keys: Words,
    thresholds: Float64s,
    base: Float64s,
    permuted: Float64s,
    losses: Losses,
) -> None:
    """Fill what `forest_losses` fills.

    ``keys`` and ``thresholds`` (n_groups + 1,) are memory.
    """
    n_splits, n_rows = plan.receivers.shape
    n_draws = draws.sources.shape[0]
    for column in range(begin, end):
        n_places, zero_place = lay_out(
            columns.indptr[column], columns.indptr[column + 1], n_rows, columns, forest
        )
        forest.rows.totals.fill(0.0)
        for split in range(n_splits):
            _ask_trees_one_by_one(
                split,
                n_places,
                zero_place,
                column_keys[column],
                target,
                scoring,
                plan,
                bags,
                growth,
                forest,
                work,
                keys,
                thresholds,
            )
            if n_draws:
                add_losses(column, split, target, scoring, draws, forest.rows, losses)
            else:
                add_risks(column, split, target, scoring, plan, forest.rows, base, permuted)
        for draw in range(n_draws):
            losses.by_draw[column, draw] = forest.rows.totals[draw, 0] + forest.rows.totals[draw, 1]
