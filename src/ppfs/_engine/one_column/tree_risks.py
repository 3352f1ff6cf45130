"""Trees on one column each: the growth phase, all columns and all splits in one call.

A tree on one column divides the sorted values into intervals. Test rows are visited in the same sorted order as the
train rows, so no value has to be searched for. The permuted copy of a column costs one more addition per row: the row
that receives a value has the loss of that value's leaf.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.sorted_columns import ColumnArrays, SortedColumns
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int64s, Records, kernel, kernel_function, kernel_part
from ppfs._engine.one_column.groups import Groups
from ppfs._engine.one_column.leaves import Work, leaves_of_column, make_work, zero_leaf
from ppfs._engine.one_column.neighbor_inputs import Neighbors, store_all_rows
from ppfs._engine.one_column.neighbor_risks import class_risks, make_neighbor_work, number_risks
from ppfs._engine.one_column.prepared_columns import Plan, PreparedColumns
from ppfs._engine.trees.losses import add_loss, add_repeated_loss, class_losses, number_loss
from ppfs._engine.trees.rules import LossCode


class Sums(NamedTuple):
    """Losses of one tree."""

    class_weights: Float64s | None  # (n_classes,) what the loss of a row of each class is multiplied by
    of_class: Float64s  # (n_stats,) loss of a row of each class in the current leaf
    base: Float64s  # (2,) compensated sum for the column as it is
    permuted: Float64s  # (2,) compensated sum for its permuted copy


@kernel_part
def _row_loss(row: int, prediction: float, loss: int, target: Target, of_class: Float64s) -> float:
    """Loss of a row in the current leaf."""
    if target.classes.size:
        known: float = of_class[target.classes[row]]
        return known
    return number_loss(target.values[row] - prediction, loss)


@kernel_part
def _open_leaf(
    leaf: int, loss: int, weights: Float64s | None, target: Target, groups: Groups, of_class: Float64s
) -> float:
    """Compute the losses of a leaf; return the number that it predicts."""
    if target.classes.size:
        weight = groups.records[leaf]["weight"]
        class_losses(groups.stats[leaf], weight, loss, weights, of_class)
    prediction: float = groups.stats[leaf, 0] / groups.records[leaf]["weight"]
    return prediction


@kernel_function
def _add_all(prediction: float, split: int, target: Target, plan: Plan, sums: Sums) -> None:
    """Add the losses of all test rows of a split, as if they were all in the current leaf."""
    if target.classes.size:
        for label in range(sums.of_class.size):
            add_repeated_loss(sums.base, sums.of_class[label], plan.test_stats[split, label])
    elif plan.loss == LossCode.SQUARED:
        shift = prediction - plan.center
        cross = plan.n_test[split] * shift - 2.0 * plan.test_stats[split, 0]
        add_loss(sums.base, plan.test_stats[split, 1] + shift * cross)
    else:
        for row in range(target.values.size):
            if plan.receivers[split, row] >= 0:
                add_loss(sums.base, number_loss(target.values[row] - prediction, plan.loss))
    sums.permuted[0] = sums.base[0]
    sums.permuted[1] = sums.base[1]


@kernel_function
def _add_zeros(
    n_tests: int, split: int, target: Target, plan: Plan, groups: Groups, tests: Records, sums: Sums
) -> None:
    """Add the losses of the test rows that a sparse column does not store, as all rows minus the stored ones."""
    prediction = _open_leaf(zero_leaf(groups), plan.loss, sums.class_weights, target, groups, sums.of_class)
    _add_all(prediction, split, target, plan, sums)
    for test in range(n_tests):
        row = tests[test]["row"]
        receiver = plan.receivers[split, row]
        add_loss(sums.base, -_row_loss(row, prediction, plan.loss, target, sums.of_class))
        add_loss(sums.permuted, -_row_loss(receiver, prediction, plan.loss, target, sums.of_class))


@kernel_function
def _add_stored(
    n_tests: int, split: int, target: Target, plan: Plan, groups: Groups, tests: Records, sums: Sums
) -> None:
    """Add the losses of the test rows that the column stores."""
    leaf = -1
    limit = -inf
    prediction = 0.0
    for test in range(n_tests):
        if tests[test]["value"] > limit:
            while tests[test]["value"] > limit:
                leaf += 1
                limit = groups.records[leaf]["threshold"]
            prediction = _open_leaf(leaf, plan.loss, sums.class_weights, target, groups, sums.of_class)
        row = tests[test]["row"]
        receiver = plan.receivers[split, row]
        add_loss(sums.base, _row_loss(row, prediction, plan.loss, target, sums.of_class))
        add_loss(sums.permuted, _row_loss(receiver, prediction, plan.loss, target, sums.of_class))


@kernel
def _column_risks(
    columns: ColumnArrays,
    target: Target,
    plan: Plan,
    limits: Int64s | None,
    work: Work,
    sums: Sums,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Fill ``base`` and ``permuted``, both (n_columns, n_splits), with sums.

    ``limits`` comes from `make_limits`.
    """
    groups, tests = work.groups, work.tests
    for column in range(columns.indptr.size - 1):
        for split in range(plan.n_train.size):
            n_tests = leaves_of_column(column, split, columns, target, plan, limits, work)
            sums.base.fill(0.0)
            sums.permuted.fill(0.0)
            if n_tests < plan.n_test[split]:
                _add_zeros(n_tests, split, target, plan, groups, tests, sums)
            _add_stored(n_tests, split, target, plan, groups, tests, sums)
            base[column, split] = sums.base[0] + sums.base[1]
            permuted[column, split] = sums.permuted[0] + sums.permuted[1]


def prepared_column_risks(columns: SortedColumns, prepared: PreparedColumns) -> tuple[Float64s, Float64s]:
    """Test risks of the tree on each single column, before and after the column is permuted.

    Returns
    -------
    base, permuted : arrays of shape (n_columns, n_splits)
        Mean loss over the test rows of a split, weighted by class if there are class weights.
    """
    base = np.empty((columns.n_columns, prepared.splits.n_splits))
    permuted = np.empty_like(base)
    neighbors, weights = prepared.neighbors, prepared.total_weights
    if neighbors is not None and store_all_rows(columns):
        left = _fill_by_neighbors(columns, prepared, neighbors, base, permuted)
        if left.size:
            base[left], permuted[left] = _by_leaves(columns.take(left), prepared)
    else:
        base, permuted = _by_leaves(columns, prepared)
    return base / weights, permuted / weights


def _by_leaves(columns: SortedColumns, prepared: PreparedColumns) -> tuple[Float64s, Float64s]:
    """Sum the losses for each column and split from the leaves of its tree."""
    target, scoring, plan, limits, splits = prepared[:5]
    base = np.empty((columns.n_columns, splits.n_splits))
    permuted = np.empty_like(base)
    n_stats = plan.train_stats.shape[1]
    work = make_work(int(columns.n_stored.max(initial=0)), n_stats)
    sums = Sums(scoring.class_weights, np.empty(n_stats), np.empty(2), np.empty(2))
    _column_risks(columns.arrays, target, plan, limits, work, sums, base, permuted)
    return base, permuted


def _fill_by_neighbors(
    columns: SortedColumns,
    prepared: PreparedColumns,
    neighbors: Neighbors,
    base: Float64s,
    permuted: Float64s,
) -> Int64s:
    """Sum the losses of full trees by walking outwards from each test row; return the columns without an answer."""
    target, scoring = prepared.target, prepared.scoring
    split_sets, known_losses = neighbors
    n_classes = split_sets.tested.shape[1]
    is_unsolved = np.zeros(columns.n_columns, dtype=np.bool_)
    work = make_neighbor_work(columns.n_rows, n_classes, scoring.class_weights is not None)
    shared = (columns.arrays, target, scoring, split_sets)
    if n_classes:
        class_risks(*shared, known_losses, work, is_unsolved, base, permuted)
    else:
        number_risks(*shared, work, is_unsolved, base, permuted)
    return np.flatnonzero(is_unsolved)
