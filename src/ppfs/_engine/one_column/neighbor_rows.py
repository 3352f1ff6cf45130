"""Losses row by row of full trees on one column each; see `neighbors` for the idea.

Every row is tested in at most one split, so a walk looks for one prediction only. In a column with distinct values
every prediction is a class, and the losses of many permuted copies are counts of wrong classes.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, WORD, Words
from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Bools, Float64s, Int32s, Int64s, int64, kernel, kernel_function
from ppfs._engine.one_column.neighbor_groups import count_members, leaf_losses, mean_of_members
from ppfs._engine.one_column.neighbor_inputs import KnownLosses
from ppfs._engine.one_column.neighbors import (
    DISTINCT,
    ENTANGLED,
    Line,
    group_end,
    has,
    lay_out,
    make_line,
    mark_groups,
    mark_groups_of_numbers,
    mark_mixed_classes,
    step_outwards,
)
from ppfs._engine.trees.losses import Scoring, add_repeated_loss
from ppfs._engine.trees.row_losses import DrawnRows, Losses, RowWork, add_losses


class Folds(NamedTuple):
    """The splits that train on a row, and the split that tests it."""

    train: Words  # (1, n_rows)
    tested_in: Int32s  # (n_rows,) -1 for rows that are never tested


class FoldWork(NamedTuple):
    """Scratch memory of one task."""

    line: Line
    rows: RowWork
    by_class: Words  # (n_classes,)
    stats: Float64s  # (n_stats,)
    group_leaf: Int32s  # (64,) leaf of the current group in each split
    missed: Int32s  # (n_rows,) draws in which a row is wrong, by place in the test parts
    labels: Int32s  # (n_rows,) class of a row, by place in the test parts
    wrong: Int64s  # (n_draws,) rows that are wrong in a draw


def is_one_word(splits: Splits) -> bool:
    """Return whether the splits fit into one word."""
    return splits.n_splits <= WORD


def tested_in(splits: Splits, n_rows: int) -> Int32s:
    """Return the split that tests each row, -1 for none; test parts are disjoint."""
    split_of = np.full(n_rows, -1, dtype=np.int32)
    for split, test in enumerate(splits.test):
        split_of[test] = split
    return split_of


def make_fold_work(n_rows: int, n_classes: int, n_draws: int, known_losses: KnownLosses) -> FoldWork:
    """Allocate memory for one task. The first leaves are pure, one for each class."""
    n_stats = max(n_classes, 1)
    predicted = np.empty((n_rows + n_classes, n_stats))
    for label in range(n_classes):
        predicted[label] = known_losses.wrong
        predicted[label, label] = known_losses.right[label]
    return FoldWork(
        make_line(n_rows),
        RowWork(np.empty(n_rows, dtype=np.int32), predicted, np.empty((n_draws, 2))),
        np.empty(n_classes, dtype=np.uint64),
        np.empty(n_stats),
        np.empty(WORD, dtype=np.int32),
        np.empty(n_rows, dtype=np.int32),
        np.empty(n_rows, dtype=np.int32),
        np.empty(n_draws, dtype=np.int64),
    )


@kernel_function
def _find_leaves(
    is_tied: bool, target: Target, scoring: Scoring, folds: Folds, tabled: Float64s, work: FoldWork
) -> int:
    """Record the leaf of each test row and the predictions of the leaves; return the number of leaves.

    A pure leaf has the number of its class; for regression, each row has a separate leaf.
    """
    # Arrays are taken out of their tuples here, because each access to a tuple in the loops would count references.
    line, stats, leaf_of, predicted = work.line, work.stats, work.rows.leaf_of, work.rows.predicted
    halves, trained, rows, first_of, mixed_of = line.halves, line.trained, line.rows, line.first, line.mixed
    classes, values, tested_in, group_leaf = target.classes, target.values, folds.tested_in, work.group_leaf
    has_classes = classes.size > 0
    n_leaves = int64(stats.size if has_classes else 0)
    group, ready = int64(0), NONE
    for place in range(1, tested_in.size + 1):
        row = rows[place]
        split = tested_in[row]
        if split < 0:
            continue
        bit = int64(split)
        value, left, right = 2.0 * halves[place], place - 1, place + 1
        met, left, right = step_outwards(value, left, right, halves)
        while not has(trained[met], bit):
            met, left, right = step_outwards(value, left, right, halves)
        if not (is_tied and has(mixed_of[met], bit)):
            if has_classes:
                leaf_of[row] = classes[rows[met]]
            else:
                predicted[n_leaves, 0] = values[rows[met]]
                leaf_of[row] = n_leaves
                n_leaves += 1
            continue
        first = int64(first_of[met])
        is_own = first == first_of[place]
        if is_own and first != group:
            group, ready = first, NONE
        if is_own and has(ready, bit):
            leaf_of[row] = group_leaf[bit]
            continue
        end = group_end(first, line)
        if has_classes:
            weight = count_members(first, end, bit, trained, rows, classes, stats)
            leaf_losses(n_leaves, weight, scoring.loss, scoring.class_weights, tabled, stats, predicted)
        else:
            predicted[n_leaves, 0] = mean_of_members(first, end, bit, trained, rows, values)
        leaf_of[row] = n_leaves
        if is_own:
            ready |= ONE << np.uint64(bit)
            group_leaf[bit] = n_leaves
        n_leaves += 1
    return n_leaves


@kernel_function
def _count_losses(
    column: int, target: Target, draws: DrawnRows, known_losses: KnownLosses, work: FoldWork, losses: Losses
) -> None:
    """`add_losses` for pure leaves and equal class weights, where a prediction is only right or wrong."""
    leaf_of, missed, labels, wrong = work.rows.leaf_of, work.missed, work.labels, work.wrong
    rows, sources, base, replaced = draws.rows, draws.sources, losses.base, losses.replaced
    cost_right, cost_wrong = known_losses.right[0], known_losses.wrong[0]
    n_draws, n_tested = sources.shape
    for place in range(n_tested):
        missed[place] = 0
        labels[place] = target.classes[rows[place]]
    for draw in range(n_draws):
        n_wrong = 0
        for place in range(n_tested):
            is_wrong = leaf_of[sources[draw, place]] != labels[place]
            missed[place] += is_wrong
            n_wrong += is_wrong
        wrong[draw] = n_wrong
    for place in range(n_tested):
        row = rows[place]
        if leaf_of[row] != labels[place]:
            base[column, row] = cost_wrong
            replaced[column, row] = (
                cost_wrong - (cost_wrong - cost_right) * (n_draws - missed[place]) / n_draws
            )
        else:
            base[column, row] = cost_right
            replaced[column, row] = cost_right + (cost_wrong - cost_right) * missed[place] / n_draws
    for draw in range(n_draws):
        total = work.rows.totals[draw]
        add_repeated_loss(total, cost_wrong, float(wrong[draw]))
        add_repeated_loss(total, cost_right, float(n_tested - wrong[draw]))


@kernel
def neighbor_row_losses(
    columns: ColumnArrays,
    target: Target,
    scoring: Scoring,
    folds: Folds,
    known_losses: KnownLosses,
    draws: DrawnRows,
    work: FoldWork,
    is_unsolved: Bools,
    losses: Losses,
) -> None:
    """Fill the arrays of ``losses``, which contain zeros.

    Columns that cannot be computed from neighbors are marked in ``is_unsolved`` (n_columns,).
    """
    line, n_rows, n_classes = work.line, folds.tested_in.size, work.by_class.size
    for column in range(columns.indptr.size - 1):
        start = columns.indptr[column]
        ties = mark_groups(start, n_rows, columns.values, line)
        is_unsolved[column] = ties == ENTANGLED
        if ties == ENTANGLED:
            continue
        lay_out(start, int64(0), columns, folds.train, line)
        if ties != DISTINCT:
            if n_classes:
                mark_mixed_classes(n_rows, target.classes, line, work.by_class)
            else:
                mark_groups_of_numbers(n_rows, line)
        work.rows.totals.fill(0.0)
        n_leaves = _find_leaves(ties != DISTINCT, target, scoring, folds, known_losses.tabled, work)
        if n_classes and n_leaves == n_classes and scoring.class_weights is None:
            _count_losses(column, target, draws, known_losses, work, losses)
        else:
            for split in range(draws.ends.size - 1):
                add_losses(column, split, target, scoring, draws, work.rows, losses)
        for draw in range(work.rows.totals.shape[0]):
            losses.by_draw[column, draw] = work.rows.totals[draw, 0] + work.rows.totals[draw, 1]
