"""Trees on one column each: the growth phase, all columns and all splits in one call.

A tree on one column cuts the sorted values into intervals. Test rows are walked in the same sorted order as
the train rows, so no value is ever searched for, and the permuted copy of a column costs one more addition a
row: the row that receives a value suffers the loss of that value's leaf.
"""

from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine._jit import Float64s, Int64s, Records, kernel, kernel_part, kernel_stage
from ppfs._engine.columns import ColumnArrays, SortedColumns
from ppfs._engine.leaves import (
    TEST,
    Groups,
    Pending,
    Plan,
    count_zeros,
    exhaustive_leaves,
    gather,
    limited_leaves,
    make_groups,
    make_pending,
)
from ppfs._engine.loss import add_loss, add_repeated_loss, class_losses, number_loss
from ppfs._engine.rules import Limits, Loss, TreeRules, is_exhaustive
from ppfs._engine.splits import Splits
from ppfs._engine.target import Target, make_target, total_statistics
from ppfs._engine.threads import run_tasks

# Stored entries times splits: enough to hide the start of a task, few enough to keep all threads busy to the end.
_ENTRIES_PER_TASK = 250_000

# Below this variance of y, scikit-learn's absolute tolerance for a pure node may end the growth early.
_SMALL_VARIANCE = 1e-3


class Sums(NamedTuple):
    """Losses of one tree."""

    of_class: Float64s  # (n_stats,) loss of a row of each class in the current leaf
    base: Float64s  # (2,) compensated sum for the column as it is
    permuted: Float64s  # (2,) compensated sum for its permuted copy


class Work(NamedTuple):
    """Memory of one task, reused by every column and split."""

    zeros: Float64s  # (1, n_stats) statistics of the train rows that a column does not store
    groups: Groups
    pending: Pending
    tests: Records  # (n_entries,) of the type `TEST`, sorted by value
    sums: Sums


@kernel_part
def _row_loss(row: int, prediction: float, loss: int, target: Target, of_class: Float64s) -> float:
    """Loss of a row in the current leaf."""
    if target.classes.size:
        known: float = of_class[target.classes[row]]
        return known
    return number_loss(target.values[row] - prediction, loss)


@kernel_part
def _open_leaf(leaf: int, loss: int, target: Target, groups: Groups, of_class: Float64s) -> float:
    """Prepare the losses of a leaf; return the number it predicts."""
    if target.classes.size:
        class_losses(groups.stats[leaf], groups.records[leaf]["weight"], loss, of_class)
    prediction: float = groups.stats[leaf, 0] / groups.records[leaf]["weight"]
    return prediction


@kernel_stage
def _add_all(prediction: float, split: int, target: Target, plan: Plan, sums: Sums) -> None:
    """Add the losses of all test rows of a split, as if all were in the current leaf."""
    if target.classes.size:
        for label in range(sums.of_class.size):
            add_repeated_loss(sums.base, sums.of_class[label], plan.test_stats[split, label])
    elif plan.loss == Loss.SQUARED:
        shift = prediction - plan.centre
        cross = plan.n_test[split] * shift - 2.0 * plan.test_stats[split, 0]
        add_loss(sums.base, plan.test_stats[split, 1] + shift * cross)
    else:
        for row in range(target.values.size):
            if plan.receivers[split, row] >= 0:
                add_loss(sums.base, number_loss(target.values[row] - prediction, plan.loss))
    sums.permuted[0] = sums.base[0]
    sums.permuted[1] = sums.base[1]


@kernel_stage
def _add_zeros(
    n_tests: int, split: int, target: Target, plan: Plan, groups: Groups, tests: Records, sums: Sums
) -> None:
    """Add the losses of the test rows that a sparse column does not store: all rows, less the stored ones."""
    leaf = 0
    while groups.records[leaf]["threshold"] < 0.0:
        leaf += 1
    prediction = _open_leaf(leaf, plan.loss, target, groups, sums.of_class)
    _add_all(prediction, split, target, plan, sums)
    for test in range(n_tests):
        row = tests[test]["row"]
        receiver = plan.receivers[split, row]
        add_loss(sums.base, -_row_loss(row, prediction, plan.loss, target, sums.of_class))
        add_loss(sums.permuted, -_row_loss(receiver, prediction, plan.loss, target, sums.of_class))


@kernel_stage
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
            prediction = _open_leaf(leaf, plan.loss, target, groups, sums.of_class)
        row = tests[test]["row"]
        receiver = plan.receivers[split, row]
        add_loss(sums.base, _row_loss(row, prediction, plan.loss, target, sums.of_class))
        add_loss(sums.permuted, _row_loss(receiver, prediction, plan.loss, target, sums.of_class))


@kernel
def _column_risks(
    first: int,
    end: int,
    columns: ColumnArrays,
    target: Target,
    plan: Plan,
    limits: Int64s | None,
    work: Work,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Fill the rows ``first`` to ``end - 1`` of ``base`` and ``permuted``, both (n_columns, n_splits).

    ``limits`` holds the fields of `Limits` for each split, shape (n_splits, 4). None, for trees that grow until
    nothing is left to separate, is a type of its own to Numba: the code for limits is then not compiled.
    """
    zeros, groups, pending, tests, sums = work
    n_splits, n_rows = plan.receivers.shape
    for column in range(first, end):
        start, stop = columns.indptr[column], columns.indptr[column + 1]
        for split in range(n_splits):
            n_zeros = 0
            if stop - start < n_rows:
                n_zeros = count_zeros(start, stop, split, columns, target, plan, zeros)
            n_groups, n_tests = gather(
                start, stop, plan.receivers[split], n_zeros, zeros, columns, target, groups, tests
            )
            if limits is None:
                exhaustive_leaves(n_groups, target.classes.size > 0, groups)
            else:
                rule = Limits(limits[split, 0], limits[split, 1], limits[split, 2], limits[split, 3])
                limited_leaves(n_groups, plan.n_train[split], rule, groups, pending)
            sums.base.fill(0.0)
            sums.permuted.fill(0.0)
            if n_tests < plan.n_test[split]:
                _add_zeros(n_tests, split, target, plan, groups, tests, sums)
            _add_stored(n_tests, split, target, plan, groups, tests, sums)
            base[column, split] = (sums.base[0] + sums.base[1]) / plan.n_test[split]
            permuted[column, split] = (sums.permuted[0] + sums.permuted[1]) / plan.n_test[split]


def single_column_risks(
    columns: SortedColumns,
    y: npt.ArrayLike,
    n_classes: int,
    splits: Splits,
    rules: TreeRules,
    n_threads: int = 1,
) -> tuple[Float64s, Float64s]:
    """Test risks of the tree on each single column, before and after the column is permuted.

    Parameters
    ----------
    columns : SortedColumns
    y : array of shape (n_rows,)
        Class codes from 0, or numbers.
    n_classes : int
        Number of classes of the whole table; 0 for regression. A class that a train part lacks is
        predicted with probability 0.
    splits : Splits
    rules : TreeRules
    n_threads : int
        The answer does not depend on it.

    Returns
    -------
    base, permuted : arrays of shape (n_columns, n_splits)
        Mean loss over the test rows of a split.
    """
    target = make_target(y, n_classes)
    plan = _make_plan(target, n_classes, splits, rules, columns.n_rows)
    limits = _make_limits(target, splits, rules)
    base = np.empty((columns.n_columns, splits.n_splits))
    permuted = np.empty_like(base)
    n_entries = int(columns.n_stored.max(initial=0))

    def run(bounds: tuple[int, int]) -> None:
        work = _make_work(n_entries, plan.train_stats.shape[1])
        _column_risks(*bounds, columns.arrays, target, plan, limits, work, base, permuted)

    run_tasks(run, _column_blocks(columns, splits.n_splits), n_threads)
    return base, permuted


def _make_work(n_entries: int, n_stats: int) -> Work:
    # The zeros that are not stored form one more group.
    n_groups = n_entries + 1
    return Work(
        zeros=np.empty((1, n_stats)),
        groups=make_groups(n_groups, n_stats),
        pending=make_pending(n_groups, n_stats),
        tests=np.empty(n_entries, dtype=TEST),
        sums=Sums(np.empty(n_stats), np.empty(2), np.empty(2)),
    )


def _make_plan(target: Target, n_classes: int, splits: Splits, rules: TreeRules, n_rows: int) -> Plan:
    centre = 0.0 if n_classes else float(target.values.mean())
    centred = target._replace(values=target.values - centre)
    return Plan(
        receivers=splits.receivers(n_rows),
        n_train=np.array([train.size for train in splits.train], dtype=np.int64),
        n_test=np.array([test.size for test in splits.test], dtype=np.int64),
        train_stats=np.array([total_statistics(target, n_classes, train) for train in splits.train]),
        test_stats=np.array([total_statistics(centred, n_classes, test) for test in splits.test]),
        centre=centre,
        loss=rules.loss_code,
    )


def _make_limits(target: Target, splits: Splits, rules: TreeRules) -> Int64s | None:
    limits = [rules.limits(train.size) for train in splits.train]
    # On numbers of a very small scale, every node may look pure to scikit-learn; only the limited path asks.
    is_tiny = target.values.size > 0 and target.values.var() < _SMALL_VARIANCE
    if all(is_exhaustive(limit) for limit in limits) and not is_tiny:
        return None
    return np.array(limits, dtype=np.int64)


def _column_blocks(columns: SortedColumns, n_splits: int) -> list[tuple[int, int]]:
    """Cut the columns into blocks with about `_ENTRIES_PER_TASK` entries to visit, one a task."""
    n_blocks = 1 + int(columns.arrays.indptr[-1]) * n_splits // _ENTRIES_PER_TASK
    edges = np.linspace(0, columns.n_columns, min(n_blocks, max(columns.n_columns, 1)) + 1).astype(int)
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
