"""Forests on one column each, tree by tree: trees with limits, trees with random cuts, and columns with near ties.

The leaves of every tree are built as for single trees (see `leaves`), from the rows that the tree draws.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, Words
from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int64s, int64, kernel, kernel_function
from ppfs._engine.one_column.bags import Bags
from ppfs._engine.one_column.forest_neighbors import (
    ForestWork,
    add_risks,
    find_values,
    lay_out,
    predict_leaves,
)
from ppfs._engine.one_column.groups import add_to_group, add_zeros_to_group, group_for
from ppfs._engine.one_column.leaves import Work, limited_leaves
from ppfs._engine.one_column.prepared_columns import Plan
from ppfs._engine.trees.criterion import add_row
from ppfs._engine.trees.losses import Scoring
from ppfs._engine.trees.row_losses import DrawnRows, Losses, add_losses
from ppfs._engine.trees.rules import TIE, Limits


class Growth(NamedTuple):
    """How the trees of a forest are grown.

    Attributes
    ----------
    limits : array of shape (n_splits, 4), int64
        The fields of `Limits` for each split.
    is_exhaustive : bool
        Whether trees grow until all leaves are pure, so that only columns with near ties need this module.
    tree_keys : array of shape (n_splits, n_trees), uint64
        Keys of the random cuts; empty for trees that use the best cut.
    """

    limits: Int64s
    is_exhaustive: bool
    tree_keys: Words


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
    """Group the rows that a tree draws by tied values; return the number of groups."""
    counts, line, values, groups, zeros = bags.counts, forest.line, forest.values, work.groups, work.zeros
    zero_weight, zero_size = bags.weights[split, tree], bags.sizes[split, tree]
    if zero_place:
        first = 0 if target.classes.size else 1
        for stat in range(zeros.size):
            zeros[stat] = bags.totals[split, first + stat, tree]
        for place in range(1, n_places + 1):
            row = line.rows[place]
            if row >= 0 and counts[split, row, tree] > 0:
                weight = float(counts[split, row, tree])
                zero_size -= 1.0
                zero_weight -= weight
                add_row(row, -weight, target, zeros)
    n_groups = int64(0)
    for place in range(1, n_places + 1):
        row = line.rows[place]
        weight = zero_weight if row < 0 else float(counts[split, row, tree])
        if weight == 0.0:
            continue
        group = group_for(values[place - 1], tie, n_groups, groups)
        if row >= 0:
            add_to_group(group, row, weight, target, groups)
        else:
            add_zeros_to_group(group, zero_size, weight, zeros, groups)
        n_groups = group + 1
    return n_groups


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
) -> None:
    """Grow one tree and add its prediction for each distinct value of the test rows."""
    groups, pending, sums, places = work.groups, work.pending, forest.sums, forest.places
    is_random = growth.tree_keys.size > 0
    has_classes = target.classes.size > 0
    tie = np.float32(0.0) if is_random else TIE
    n_groups = _gather(split, tree, n_places, zero_place, tie, target, bags, forest, work)
    rule = Limits(
        growth.limits[split, 0], growth.limits[split, 1], growth.limits[split, 2], growth.limits[split, 3]
    )
    limited_leaves(
        n_groups,
        n_groups,
        bags.weights[split, tree],
        growth.tree_keys[split, tree] if is_random else NONE,
        column_key,
        is_random,
        target,
        True,
        rule,
        groups,
        pending,
    )
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
) -> None:
    """Fill ``forest.rows`` with the leaf of each test row of a split and the predictions of the leaves."""
    n_values = find_values(split, n_places, zero_place, plan, forest)
    for tree in range(bags.n_trees):
        _add_tree(split, tree, n_values, n_places, zero_place, column_key, target, bags, growth, forest, work)
    predict_leaves(n_values, target, scoring, bags.n_trees, forest)


@kernel
def forest_leaf_losses(
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
    base: Float64s,
    permuted: Float64s,
    losses: Losses,
) -> None:
    """Fill the same arrays as `forest_losses`."""
    n_splits, n_rows = plan.receivers.shape
    n_draws = draws.sources.shape[0]
    for column in range(columns.indptr.size - 1):
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
            )
            if n_draws:
                add_losses(column, split, target, scoring, draws, forest.rows, losses)
            else:
                add_risks(column, split, target, scoring, plan, forest.rows, base, permuted)
        for draw in range(n_draws):
            losses.by_draw[column, draw] = forest.rows.totals[draw, 0] + forest.rows.totals[draw, 1]
