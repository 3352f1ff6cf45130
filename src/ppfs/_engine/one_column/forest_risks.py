"""Forests on single columns: the growth phase, all columns, splits and trees in one call."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.bit_sets import Words
from ppfs._engine.inputs.random_keys import column_keys
from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.jit.kernels import Float64s, Int64s
from ppfs._engine.one_column.bags import Bags, make_bags
from ppfs._engine.one_column.forest_leaves import Growth, forest_leaf_losses
from ppfs._engine.one_column.forest_neighbors import forest_losses, make_forest_work
from ppfs._engine.one_column.leaves import make_work
from ppfs._engine.one_column.prepared_columns import PreparedColumns, prepare_columns
from ppfs._engine.trees.row_losses import DrawnRows, Losses, make_losses
from ppfs._engine.trees.rules import TreeRules

_NO_DRAWS = DrawnRows(
    np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.int32)
)
_NO_LOSSES = Losses(np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)))
_NO_RISKS = np.empty((2, 0, 0))


class PreparedForest(NamedTuple):
    """What forests on single columns share, prepared once for all columns.

    Attributes
    ----------
    shared : PreparedColumns
        The part that single trees need, too.
    """

    shared: PreparedColumns
    n_classes: int
    bags: Bags
    growth: Growth


def prepare_forest(
    y: npt.ArrayLike,
    n_classes: int,
    splits: Splits,
    rules: TreeRules,
    samples: Sequence[npt.NDArray[np.integer]],
    tree_keys: Words | None = None,
    class_weights: npt.ArrayLike | None = None,
    row_weights: npt.ArrayLike | None = None,
    fit_weights: npt.ArrayLike | None = None,
) -> PreparedForest:
    """Prepare forests on single columns, or on several.

    Parameters
    ----------
    y, n_classes, splits, rules, class_weights
        As for `prepare_columns`.
    samples : sequence of n_splits arrays of shape (n_trees, n_train)
        How often each tree draws the rows ``splits.train[split]``.
    tree_keys : array of shape (n_splits, n_trees), uint64, or None
        Keys of the random cuts, for trees that cut at random. None for trees that use the best cut.
    row_weights : array of shape (n_rows,) or None
        Factors of the losses of test rows. The weight of a row in a tree is the number of times that it was drawn.
    fit_weights : array of shape (n_rows,) or None
        Positive weights that a row has each time it is drawn. Only for forests on several columns, which must store
        every row. Needed if values are missing, even if all weights are 1.
    """
    shared = prepare_columns(y, n_classes, splits, rules, class_weights, row_weights)
    if fit_weights is not None:
        weights = np.array(fit_weights, dtype=np.float64)
        shared = shared._replace(target=shared.target._replace(weights=weights))
    n_rows = np.shape(y)[0]
    limits = np.array([rules.limits(train.size) for train in splits.train], dtype=np.int64)
    keys = np.empty((0, 0), dtype=np.uint64) if tree_keys is None else tree_keys
    bags = make_bags(samples, splits, shared.target, n_classes, n_rows)
    return PreparedForest(shared, n_classes, bags, Growth(limits, shared.limits is None, keys))


def with_permutations(prepared: PreparedForest, splits: Splits) -> PreparedForest:
    """Return the same forests for other permutations of the same test parts."""
    plan = prepared.shared.plan._replace(receivers=splits.receivers(prepared.bags.counts.shape[1]))
    return prepared._replace(shared=prepared.shared._replace(plan=plan, splits=splits))


def prepared_forest_risks(columns: SortedColumns, prepared: PreparedForest) -> tuple[Float64s, Float64s]:
    """Test risks of the forest on each single column, before and after the column is permuted.

    Returns
    -------
    base, permuted : arrays of shape (n_columns, n_splits)
        Mean loss over the test rows of a split, weighted by class if there are class weights.
    """
    shared = prepared.shared
    risks = np.empty((2, columns.n_columns, shared.splits.n_splits))
    left = _fill_by_neighbors(columns, prepared, _NO_DRAWS, risks, _NO_LOSSES)
    if left.size:
        rest = np.empty((2, left.size, shared.splits.n_splits))
        _fill_by_leaves(columns.take(left), prepared, _NO_DRAWS, rest, _NO_LOSSES)
        risks[:, left] = rest
    return risks[0] / shared.total_weights, risks[1] / shared.total_weights


def prepared_forest_row_losses(
    columns: SortedColumns, prepared: PreparedForest, drawn: DrawnRows
) -> tuple[Float64s, Float64s, Float64s]:
    """Losses row by row of the forest on each single column; see `prepared_column_row_losses` for trees."""
    losses = make_losses(columns, drawn)
    left = _fill_by_neighbors(columns, prepared, drawn, _NO_RISKS, losses)
    if left.size:
        some = columns.take(left)
        rest = make_losses(some, drawn)
        _fill_by_leaves(some, prepared, drawn, _NO_RISKS, rest)
        losses.put(left, rest)
    return losses


def _fill_by_neighbors(
    columns: SortedColumns, prepared: PreparedForest, drawn: DrawnRows, risks: Float64s, losses: Losses
) -> Int64s:
    """Fill ``risks`` (2, n_columns, n_splits), or ``losses`` if there are draws; return the columns that are left.

    Only full trees with best cuts can be computed from neighbors.
    """
    shared = prepared.shared
    if not prepared.growth.is_exhaustive or prepared.growth.tree_keys.size:
        return np.arange(columns.n_columns)
    is_unsolved = np.ones(columns.n_columns, dtype=np.bool_)
    forest_losses(
        columns.arrays,
        shared.target,
        shared.scoring,
        shared.plan,
        prepared.bags,
        drawn,
        make_forest_work(columns.n_rows, prepared.n_classes, drawn.sources.shape[0]),
        is_unsolved,
        risks[0],
        risks[1],
        losses,
    )
    return np.flatnonzero(is_unsolved)


def _fill_by_leaves(
    columns: SortedColumns, prepared: PreparedForest, drawn: DrawnRows, risks: Float64s, losses: Losses
) -> None:
    """Grow all trees one by one: fill ``risks`` (2, n_columns, n_splits), or ``losses`` if there are draws."""
    shared, n_rows = prepared.shared, columns.n_rows
    with np.errstate(over="ignore"):
        forest_leaf_losses(
            columns.arrays,
            column_keys(columns),
            shared.target,
            shared.scoring,
            shared.plan,
            prepared.bags,
            prepared.growth,
            drawn,
            make_forest_work(n_rows, prepared.n_classes, drawn.sources.shape[0]),
            make_work(n_rows, prepared.n_classes or 2),
            risks[0],
            risks[1],
            losses,
        )
