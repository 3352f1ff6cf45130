"""Forests on one column each: all trees of a split from one sorted order; see `neighbors` for the idea.

On one column the choice of features plays no part, so a forest of full trees is determined by its bootstrap samples.
The trees that draw a row are the bits of words. Walking outwards from a test row, the prediction of a tree is the label
of the first row that it draws; the label of a row is the prediction of all trees that have not met one before:

    sorted values   0.1   0.4   0.5   0.9          test row 0.5, trees 0 to 3
    trees           0 1   1 2         0 3          0.4 answers for trees 1 and 2, then 0.9 for trees 0 and 3

In a group of tied values, a tree predicts the class fractions, or the mean, of the rows that it draws there. Test rows
with equal values have the same prediction, which is computed once. Rows that a sparse column does not store form one
group.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, WORD, Words, count_bits, first_bit
from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import (
    Bools,
    Float32s,
    Float64s,
    Int32s,
    int64,
    kernel,
    kernel_function,
    kernel_part,
)
from ppfs._engine.one_column.bags import Bags, Counts
from ppfs._engine.one_column.neighbors import (
    DISTINCT,
    ENTANGLED,
    TIED,
    Line,
    group_end,
    make_line,
    mark_groups,
    mark_groups_of_numbers,
    mark_mixed_classes,
    step_outwards,
)
from ppfs._engine.one_column.prepared_columns import Plan
from ppfs._engine.trees.losses import Scoring, class_losses, plus_loss, row_loss
from ppfs._engine.trees.row_losses import DrawnRows, Losses, RowWork, add_losses

#: Represents the rows that a sparse column does not store on the line.
ZEROS = -1


class ForestWork(NamedTuple):
    """Scratch memory of one task."""

    line: Line
    values: Float32s  # (n_rows + 1,) values along the line
    by_class: Words  # (n_classes,)
    group: Float64s  # (n_stats, 64) what 64 trees draw in a group: rows of each class; or number and sum
    zeros: Float64s  # (n_stats, 64) the same for the rows that are not stored
    rows: RowWork  # leaves are distinct values of test rows
    places: Int32s  # (n_rows + 1,) where the line holds the value of a leaf, ascending
    sums: Float64s  # (n_leaves, n_stats) votes for each class, or the sum of the numbers, over the trees


def make_forest_work(n_rows: int, n_classes: int, n_draws: int) -> ForestWork:
    """Allocate memory for one task."""
    n_stats = n_classes or 2
    return ForestWork(
        make_line(n_rows + 1),
        np.empty(n_rows + 1, dtype=np.float32),
        np.empty(n_classes, dtype=np.uint64),
        np.empty((n_stats, WORD)),
        np.empty((n_stats, WORD)),
        RowWork(np.empty(n_rows, dtype=np.int32), np.empty((n_rows + 1, n_stats)), np.empty((n_draws, 2))),
        np.empty(n_rows + 1, dtype=np.int32),
        np.empty((n_rows + 1, n_stats)),
    )


@kernel_part
def lay_out(start: int, stop: int, n_rows: int, columns: ColumnArrays, work: ForestWork) -> tuple[int, int]:
    """Write a column's rows and values to the line.

    Returns the number of places, and the place of the rows that are not stored: 0 if there are none.
    """
    line, values = work.line, work.values
    n_places, zero_place = int64(0), int64(0)
    has_zeros = stop - start < n_rows
    for item in range(start, stop + 1):
        if has_zeros and zero_place == 0 and (item == stop or columns.values[item] > 0.0):
            values[n_places] = 0.0
            n_places += 1
            line.rows[n_places] = ZEROS
            zero_place = n_places
        if item < stop:
            values[n_places] = columns.values[item]
            n_places += 1
            line.rows[n_places] = columns.rows[item]
    for place in range(n_places):
        line.halves[place + 1] = values[place] * 0.5
    for place in range(n_places + 1, n_places + 4):
        line.halves[place] = np.inf
        line.trained[place] = NONE
    return n_places, zero_place


@kernel_part
def _ties_of(n_places: int, zero_place: int, work: ForestWork) -> int:
    """Mark the groups; rows that are not stored must form a separate group."""
    ties = mark_groups(int64(0), n_places, work.values, work.line)
    if ties == TIED and zero_place:
        first = work.line.first
        if first[zero_place] != zero_place or first[zero_place + 1] == zero_place:
            return ENTANGLED
    return ties


@kernel_part
def _add_drawn(
    sign: float, split: int, word: int, row: int, target: Target, counts: Counts, out: Float64s
) -> None:
    """Add a row to the statistics of a group, for the 64 trees that may draw it."""
    first = word * WORD
    if target.classes.size:
        label = target.classes[row]
        for tree in range(WORD):
            out[label, tree] += sign * counts[split, row, first + tree]
    else:
        value = target.values[row]
        for tree in range(WORD):
            count = sign * counts[split, row, first + tree]
            out[0, tree] += count
            out[1, tree] += count * value


@kernel_function
def _sum_zeros(
    split: int, word: int, n_places: int, target: Target, bags: Bags, line: Line, zeros: Float64s
) -> np.uint64:
    """Sum the rows that are not stored, as all rows minus the stored ones; return the trees that draw any."""
    counts, totals = bags.counts, bags.totals
    for stat in range(zeros.shape[0]):
        for tree in range(WORD):
            zeros[stat, tree] = totals[split, stat, word * WORD + tree]
    for place in range(1, n_places + 1):
        row = line.rows[place]
        if row >= 0 and bags.members[split, word, row] != NONE:
            _add_drawn(-1.0, split, word, row, target, counts, zeros)
    drawn = NONE
    for tree in range(WORD):
        weight = zeros[0, tree]
        if target.classes.size:
            for label in range(1, zeros.shape[0]):
                weight += zeros[label, tree]
        if weight > 0.0:
            drawn |= ONE << np.uint64(tree)
    return drawn


@kernel_function
def _sum_group(
    split: int, word: int, first: int, target: Target, bags: Bags, line: Line, group: Float64s
) -> None:
    """Sum the stored rows of a group."""
    for stat in range(group.shape[0]):
        for tree in range(WORD):
            group[stat, tree] = 0.0
    for member in range(first, group_end(first, line)):
        row = line.rows[member]
        if line.trained[member] != NONE:
            _add_drawn(1.0, split, word, row, target, bags.counts, group)


@kernel_part
def _add_shares(trees: np.uint64, leaf: int, has_classes: bool, group: Float64s, sums: Float64s) -> None:
    """Add the predictions of some trees in a group to the sums of a leaf."""
    while trees != NONE:
        tree = first_bit(trees)
        trees &= trees - ONE
        if has_classes:
            weight = 0.0
            for label in range(group.shape[0]):
                weight += group[label, tree]
            for label in range(group.shape[0]):
                sums[leaf, label] += group[label, tree] / weight
        else:
            sums[leaf, 0] += group[1, tree] / group[0, tree]


@kernel_function
def _mark_trained(
    split: int,
    word: int,
    n_places: int,
    zero_place: int,
    ties: int,
    target: Target,
    bags: Bags,
    work: ForestWork,
) -> None:
    """Record which trees draw a row, and for which of them its group is mixed."""
    line, members = work.line, bags.members
    for place in range(1, n_places + 1):
        if place != zero_place:
            line.trained[place] = members[split, word, line.rows[place]]
            line.mixed[place] = NONE
    if zero_place:
        line.trained[zero_place] = NONE
    if ties != DISTINCT:
        if target.classes.size:
            mark_mixed_classes(n_places, target.classes, line, work.by_class)
        else:
            mark_groups_of_numbers(n_places, line)
    if zero_place:
        drawn = _sum_zeros(split, word, n_places, target, bags, line, work.zeros)
        line.trained[zero_place] = drawn
        line.mixed[zero_place] = drawn


@kernel_function
def find_values(split: int, n_places: int, zero_place: int, plan: Plan, work: ForestWork) -> int:
    """Find the distinct values of the test rows of a split, each of which is a leaf; return their number."""
    rows, halves, leaf_of, places = work.line.rows, work.line.halves, work.rows.leaf_of, work.places
    receivers, n_stats = plan.receivers, work.sums.shape[1]
    n_leaves, zero_leaf = int64(0), int64(-1)
    previous = np.nan
    if zero_place:
        for row in range(leaf_of.size):
            leaf_of[row] = -1
    for place in range(1, n_places + 1):
        row = rows[place]
        if row >= 0 and receivers[split, row] < 0:
            continue
        if halves[place] != previous:
            previous = halves[place]
            places[n_leaves] = place
            for stat in range(n_stats):
                work.sums[n_leaves, stat] = 0.0
            n_leaves += 1
        if row >= 0:
            leaf_of[row] = n_leaves - 1
        else:
            zero_leaf = n_leaves - 1
    if zero_place:
        for row in range(leaf_of.size):
            if leaf_of[row] < 0:
                leaf_of[row] = zero_leaf
    return n_leaves


@kernel_function
def _ask_trees(
    split: int, word: int, n_leaves: int, is_grouped: bool, target: Target, bags: Bags, work: ForestWork
) -> None:
    """Add the predictions of 64 trees to the sums of each distinct value among the test rows."""
    # Arrays are taken out of their tuples here, because each access to a tuple in the loops would count references.
    line, group, zeros, sums, places = work.line, work.group, work.zeros, work.sums, work.places
    halves, trained, rows, first_of, mixed_of = line.halves, line.trained, line.rows, line.first, line.mixed
    classes, numbers = target.classes, target.values
    has_classes = classes.size > 0
    every_tree = ~NONE
    if (word + 1) * WORD > bags.n_trees:
        every_tree = (ONE << np.uint64(bags.n_trees - word * WORD)) - ONE
    summed = int64(0)
    for leaf in range(n_leaves):
        met = int64(places[leaf])
        value, left, right = 2.0 * halves[met], met - 1, met + 1
        pending = every_tree
        while True:
            answered = pending & trained[met]
            pending ^= answered
            if is_grouped:
                mixed = answered & mixed_of[met]
                answered ^= mixed
                if mixed != NONE:
                    if rows[met] < 0:
                        _add_shares(mixed, leaf, has_classes, zeros, sums)
                    else:
                        first = int64(first_of[met])
                        if summed != first:
                            _sum_group(split, word, first, target, bags, line, group)
                            summed = first
                        _add_shares(mixed, leaf, has_classes, group, sums)
            if answered != NONE:
                votes = float(count_bits(answered))
                if has_classes:
                    sums[leaf, classes[rows[met]]] += votes
                else:
                    sums[leaf, 0] += votes * numbers[rows[met]]
            if pending == NONE:
                break
            met, left, right = step_outwards(value, left, right, halves)


@kernel_function
def predict_leaves(n_leaves: int, target: Target, scoring: Scoring, n_trees: int, work: ForestWork) -> None:
    """Convert sums over the trees to the losses of each class, or the numbers, that leaves predict."""
    sums, predicted = work.sums, work.rows.predicted
    for leaf in range(n_leaves):
        if target.classes.size:
            class_losses(sums[leaf], float(n_trees), scoring.loss, scoring.class_weights, predicted[leaf])
        else:
            predicted[leaf, 0] = sums[leaf, 0] / n_trees


@kernel_function
def _ask_forest(
    split: int,
    n_places: int,
    zero_place: int,
    ties: int,
    target: Target,
    scoring: Scoring,
    plan: Plan,
    bags: Bags,
    work: ForestWork,
) -> None:
    """Fill ``work.rows`` with the leaf of each test row of a split and the predictions of the leaves."""
    n_leaves = find_values(split, n_places, zero_place, plan, work)
    for word in range(bags.members.shape[1]):
        _mark_trained(split, word, n_places, zero_place, ties, target, bags, work)
        _ask_trees(split, word, n_leaves, ties != DISTINCT or zero_place > 0, target, bags, work)
    predict_leaves(n_leaves, target, scoring, bags.n_trees, work)


@kernel_function
def add_risks(
    column: int,
    split: int,
    target: Target,
    scoring: Scoring,
    plan: Plan,
    rows: RowWork,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Sum the losses of a split's test rows, unchanged and permuted, from the leaf of each row."""
    leaf_of, predicted, receivers = rows.leaf_of, rows.predicted, plan.receivers
    total, lost, other_total, other_lost = 0.0, 0.0, 0.0, 0.0
    for row in range(leaf_of.size):
        receiver = int64(receivers[split, row])
        if receiver >= 0:
            leaf = leaf_of[row]
            total, lost = plus_loss(total, lost, row_loss(row, leaf, scoring, target, predicted))
            other_total, other_lost = plus_loss(
                other_total, other_lost, row_loss(receiver, leaf, scoring, target, predicted)
            )
    base[column, split] = total + lost
    permuted[column, split] = other_total + other_lost


@kernel
def forest_losses(
    columns: ColumnArrays,
    target: Target,
    scoring: Scoring,
    plan: Plan,
    bags: Bags,
    draws: DrawnRows,
    work: ForestWork,
    is_unsolved: Bools,
    base: Float64s,
    permuted: Float64s,
    losses: Losses,
) -> None:
    """Fill ``base`` and ``permuted`` (n_columns, n_splits) with sums of losses.

    If there are draws, the arrays of ``losses``, which contain zeros, are filled instead. Columns that cannot be
    computed from neighbors are marked in ``is_unsolved`` (n_columns,).
    """
    n_splits, n_rows = plan.receivers.shape
    n_draws = draws.sources.shape[0]
    for column in range(columns.indptr.size - 1):
        n_places, zero_place = lay_out(
            columns.indptr[column], columns.indptr[column + 1], n_rows, columns, work
        )
        ties = _ties_of(n_places, zero_place, work)
        is_unsolved[column] = ties == ENTANGLED
        if ties == ENTANGLED:
            continue
        work.rows.totals.fill(0.0)
        for split in range(n_splits):
            _ask_forest(split, n_places, zero_place, ties, target, scoring, plan, bags, work)
            if n_draws:
                add_losses(column, split, target, scoring, draws, work.rows, losses)
            else:
                add_risks(column, split, target, scoring, plan, work.rows, base, permuted)
        for draw in range(n_draws):
            losses.by_draw[column, draw] = work.rows.totals[draw, 0] + work.rows.totals[draw, 1]
