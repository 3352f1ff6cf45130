"""Losses row by row of trees on one column each, for the column as it is and for many permuted copies.

If every row is tested once, as with K folds, a column has one loss per row. In a permuted copy of the column, a row
reaches the leaf of the row from which it takes its value. So the leaf of each test row is recorded once, and each copy
then costs one lookup and one addition per row.
"""

from collections.abc import Sequence
from math import inf

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.sorted_columns import ColumnArrays, SortedColumns
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int64s, kernel, kernel_function
from ppfs._engine.one_column.leaves import Work, leaves_of_column, make_work, zero_leaf
from ppfs._engine.one_column.neighbor_inputs import Neighbors, store_all_rows
from ppfs._engine.one_column.neighbor_rows import (
    Folds,
    is_one_word,
    make_fold_work,
    neighbor_row_losses,
    tested_in,
)
from ppfs._engine.one_column.prepared_columns import Plan, PreparedColumns
from ppfs._engine.trees.losses import Scoring, predict
from ppfs._engine.trees.row_losses import DrawnRows, Losses, RowWork, add_losses, make_losses


@kernel_function
def _find_leaves(
    n_tests: int,
    split: int,
    target: Target,
    scoring: Scoring,
    plan: Plan,
    draws: DrawnRows,
    work: Work,
    rows: RowWork,
) -> None:
    """Record the leaf of each test row of a split and the predictions of these leaves."""
    groups, tests = work.groups, work.tests
    if n_tests < plan.n_test[split]:
        leaf = zero_leaf(groups)
        predict(groups.stats, leaf, groups.records[leaf]["weight"], scoring, target, rows.predicted)
        for place in range(draws.ends[split], draws.ends[split + 1]):
            rows.leaf_of[draws.rows[place]] = leaf
    leaf = -1
    limit = -inf
    for test in range(n_tests):
        if tests[test]["value"] > limit:
            while tests[test]["value"] > limit:
                leaf += 1
                limit = groups.records[leaf]["threshold"]
            predict(groups.stats, leaf, groups.records[leaf]["weight"], scoring, target, rows.predicted)
        rows.leaf_of[tests[test]["row"]] = leaf


@kernel
def _column_row_losses(
    columns: ColumnArrays,
    target: Target,
    scoring: Scoring,
    plan: Plan,
    limits: Int64s | None,
    draws: DrawnRows,
    work: Work,
    rows: RowWork,
    losses: Losses,
) -> None:
    """Fill the arrays of ``losses``, which contain zeros.

    ``limits`` comes from `make_limits`.
    """
    for column in range(columns.indptr.size - 1):
        rows.totals.fill(0.0)
        for split in range(plan.n_train.size):
            n_tests = leaves_of_column(column, split, columns, target, plan, limits, work)
            _find_leaves(n_tests, split, target, scoring, plan, draws, work, rows)
            add_losses(column, split, target, scoring, draws, rows, losses)
        for draw in range(rows.totals.shape[0]):
            losses.by_draw[column, draw] = rows.totals[draw, 0] + rows.totals[draw, 1]


def prepared_column_row_losses(
    columns: SortedColumns, prepared: PreparedColumns, drawn: DrawnRows
) -> tuple[Float64s, Float64s, Float64s]:
    """Losses row by row of the tree on each single column, before and after the column is permuted.

    Parameters
    ----------
    prepared : PreparedColumns
        No row may be in two test parts. The permutations of the splits are not used.
    drawn : DrawnRows
        Permutations of the test rows; see `make_draws`.

    Returns
    -------
    base : array of shape (n_columns, n_rows)
        Loss of each row; 0 for rows that are never tested.
    replaced : array of shape (n_columns, n_rows)
        Mean over the draws of the loss of each row when the column is permuted. Exactly the base loss where no
        draw changes it.
    by_draw : array of shape (n_columns, n_draws)
        Sum over all tested rows of the losses under each draw: a compensated sum, to be compared with
        ``math.fsum`` of the base losses.
    """
    neighbors = prepared.neighbors
    if neighbors is None or not is_one_word(prepared.splits) or not store_all_rows(columns):
        return _by_leaves(columns, prepared, drawn)
    losses = make_losses(columns, drawn)
    left = _fill_by_neighbors(columns, prepared, neighbors, drawn, losses)
    if left.size:
        losses.put(left, _by_leaves(columns.take(left), prepared, drawn))
    return losses


def _by_leaves(columns: SortedColumns, prepared: PreparedColumns, drawn: DrawnRows) -> Losses:
    """Find the leaf of every test row by building the leaves of each tree."""
    target, scoring, plan, limits = prepared[:4]
    losses = make_losses(columns, drawn)
    work = make_work(int(columns.n_stored.max(initial=0)), plan.train_stats.shape[1])
    rows = RowWork(
        leaf_of=np.empty(columns.n_rows, dtype=np.int32),
        predicted=np.empty_like(work.groups.stats),
        totals=np.empty((drawn.sources.shape[0], 2)),
    )
    _column_row_losses(columns.arrays, target, scoring, plan, limits, drawn, work, rows, losses)
    return losses


def _fill_by_neighbors(
    columns: SortedColumns, prepared: PreparedColumns, neighbors: Neighbors, drawn: DrawnRows, losses: Losses
) -> Int64s:
    """Find the leaf of every test row of a full tree by walking outwards; return the columns without an answer."""
    split_sets, known_losses = neighbors
    folds = Folds(split_sets.train, tested_in(prepared.splits, columns.n_rows))
    is_unsolved = np.zeros(columns.n_columns, dtype=np.bool_)
    neighbor_row_losses(
        columns.arrays,
        prepared.target,
        prepared.scoring,
        folds,
        known_losses,
        drawn,
        make_fold_work(columns.n_rows, split_sets.tested.shape[1], drawn.sources.shape[0], known_losses),
        is_unsolved,
        losses,
    )
    return np.flatnonzero(is_unsolved)


def make_draws(splits: Splits, draws: Sequence[npt.NDArray[np.int64]]) -> DrawnRows:
    """Prepare permutations of the test positions, one array of shape (n_draws, n_test) per split, for kernels."""
    _check_draws(splits, draws)
    rows = np.concatenate(splits.test)
    sources = [test[positions] for test, positions in zip(splits.test, draws, strict=True)]
    return DrawnRows(
        ends=np.cumsum([0, *(test.size for test in splits.test)], dtype=np.int64),
        rows=rows.astype(np.int32),
        sources=np.concatenate(sources, axis=1).astype(np.int32),
    )


def _check_draws(splits: Splits, draws: Sequence[npt.NDArray[np.int64]]) -> None:
    tested, counts = np.unique(np.concatenate(splits.test), return_counts=True)
    if (counts > 1).any():
        raise ValueError(
            f"Row {tested[counts > 1][0]} is in several test parts, but each row can have only one loss. "
            "Use splits whose test parts do not overlap, such as K folds."
        )
    n_draws = len(draws[0])
    for split, (test, positions) in enumerate(zip(splits.test, draws, strict=True)):
        if np.shape(positions) != (n_draws, test.size) or n_draws == 0:
            raise ValueError(
                f"draws[{split}] has the shape {np.shape(positions)}, but the test part has {test.size} rows and "
                f"draws[0] holds {n_draws} draws. Give every split an array of shape (n_draws, n_test), with at "
                "least one draw."
            )
