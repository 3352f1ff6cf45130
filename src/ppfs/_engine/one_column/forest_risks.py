"""Forests on single columns: the growth phase, all columns, splits and trees in one call."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.bit_sets import Words
from ppfs._engine.inputs.random_keys import column_keys
from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.jit.kernels import Bools, Float64s
from ppfs._engine.jit.threads import run_tasks
from ppfs._engine.one_column.bags import Bags, make_bags
from ppfs._engine.one_column.forest_leaves import Growth, forest_leaf_losses
from ppfs._engine.one_column.forest_neighbors import forest_losses, make_forest_work
from ppfs._engine.one_column.leaves import make_work
from ppfs._engine.one_column.prepared_columns import PreparedColumns, column_blocks, prepare_columns
from ppfs._engine.trees.row_losses import DrawnRows, Losses
from ppfs._engine.trees.rules import TreeRules

_NO_DRAWS = DrawnRows(
    np.zeros(1, dtype=np.int64), np.empty(0, dtype=np.int32), np.empty((0, 0), dtype=np.int32)
)
_NO_LOSSES = Losses(np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)))


class PreparedForest(NamedTuple):
    """What forests on single columns share, prepared once for all columns.

    Attributes
    ----------
    shared : PreparedColumns
        The part that single trees need, too.
    n_classes : int
    bags : Bags
    growth : Growth
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
        As for `single_column_risks`.
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


def prepared_forest_risks(
    columns: SortedColumns, prepared: PreparedForest, n_threads: int = 1
) -> tuple[Float64s, Float64s]:
    """Test risks of the forest on each single column, before and after the column is permuted.

    Returns
    -------
    base, permuted : arrays of shape (n_columns, n_splits)
        Mean loss over the test rows of a split, weighted by class if there are class weights.
    """
    shared = prepared.shared
    base = np.empty((columns.n_columns, shared.splits.n_splits))
    permuted = np.empty_like(base)
    is_unsolved = _by_neighbors(columns, prepared, _NO_DRAWS, base, permuted, _NO_LOSSES, n_threads)
    left = np.flatnonzero(is_unsolved)
    if left.size:
        risks = np.empty((2, left.size, base.shape[1]))
        _by_leaves(columns.take(left), prepared, _NO_DRAWS, risks, _NO_LOSSES, n_threads)
        base[left], permuted[left] = risks
    return base / shared.total_weights, permuted / shared.total_weights


def prepared_forest_row_losses(
    columns: SortedColumns, prepared: PreparedForest, drawn: DrawnRows, n_threads: int = 1
) -> tuple[Float64s, Float64s, Float64s]:
    """Losses row by row of the forest on each single column; see `single_column_row_losses` for trees."""
    n_draws = drawn.sources.shape[0]
    losses = _make_losses(columns.n_columns, columns.n_rows, n_draws)
    nothing = np.empty((2, 0, 0))
    is_unsolved = _by_neighbors(columns, prepared, drawn, nothing[0], nothing[1], losses, n_threads)
    left = np.flatnonzero(is_unsolved)
    if left.size:
        rest = _make_losses(left.size, columns.n_rows, n_draws)
        _by_leaves(columns.take(left), prepared, drawn, nothing, rest, n_threads)
        for answer, part in zip(losses, rest, strict=True):
            answer[left] = part
    return losses


def _by_neighbors(
    columns: SortedColumns,
    prepared: PreparedForest,
    drawn: DrawnRows,
    base: Float64s,
    permuted: Float64s,
    losses: Losses,
    n_threads: int,
) -> Bools:
    """Fill ``base`` and ``permuted``, or ``losses`` if there are draws; return which columns are not computed.

    Only full trees with best cuts can be computed from neighbors.
    """
    shared = prepared.shared
    is_unsolved = np.ones(columns.n_columns, dtype=np.bool_)
    if not prepared.growth.is_exhaustive or prepared.growth.tree_keys.size:
        return is_unsolved

    def run(bounds: tuple[int, int]) -> None:
        forest_losses(
            *bounds,
            columns.arrays,
            shared.target,
            shared.scoring,
            shared.plan,
            prepared.bags,
            drawn,
            make_forest_work(columns.n_rows, prepared.n_classes, drawn.sources.shape[0]),
            is_unsolved,
            base,
            permuted,
            losses,
        )

    n_words = prepared.bags.members.shape[1]
    run_tasks(run, column_blocks(columns, shared.splits.n_splits * n_words), n_threads)
    return is_unsolved


def _make_losses(n_columns: int, n_rows: int, n_draws: int) -> Losses:
    by_row = (n_columns, n_rows)
    return Losses(np.zeros(by_row), np.zeros(by_row), np.zeros((n_columns, n_draws)))


def _by_leaves(
    columns: SortedColumns,
    prepared: PreparedForest,
    drawn: DrawnRows,
    risks: Float64s,
    losses: Losses,
    n_threads: int,
) -> None:
    """Grow all trees one by one: fill ``risks`` (2, n_columns, n_splits), or ``losses`` if there are draws."""
    shared, n_rows = prepared.shared, columns.n_rows
    keys = column_keys(columns)
    n_stats = prepared.n_classes or 2

    def run(bounds: tuple[int, int]) -> None:
        with np.errstate(over="ignore"):
            forest_leaf_losses(
                *bounds,
                columns.arrays,
                keys,
                shared.target,
                shared.scoring,
                shared.plan,
                prepared.bags,
                prepared.growth,
                drawn,
                make_forest_work(n_rows, prepared.n_classes, drawn.sources.shape[0]),
                make_work(n_rows, n_stats),
                risks[0],
                risks[1],
                losses,
            )

    n_trees = shared.splits.n_splits * prepared.bags.n_trees
    run_tasks(run, column_blocks(columns, n_trees), n_threads)
