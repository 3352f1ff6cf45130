"""Test risks of full trees on one column each, all splits at once; see `neighbors` for the idea.

If the values of a column are distinct, every leaf is pure, and the prediction for a test row is right or wrong: the
risks of a split are two counts. For mixed groups of tied values, and for regression, losses are added row by row.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, WORD, Words, first_bit, make_planes, tallied, tally
from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Bools, Float64s, int64, kernel, kernel_function, kernel_part
from ppfs._engine.one_column.neighbor_groups import (
    count_members,
    counts_of_group,
    leaf_losses,
    mean_of_members,
    tally_group,
)
from ppfs._engine.one_column.neighbor_inputs import KnownLosses, SplitSets
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
from ppfs._engine.trees.losses import Scoring, add_repeated_loss, number_loss, plus_loss

# The largest count that fits into the three words of a local counter.
_AT_HAND = 7


# The train rows of groups larger than this are counted for all splits at once.
_SMALL_GROUP = 8


class Tallies(NamedTuple):
    """Counts of test rows of one column, by split. Without class weights, all of them are counted under class 0."""

    wrong: Words  # (2 * n_counted, n_digits) wrong in a pure leaf, by class: as they are, then permuted; see `tally`
    settled: Float64s  # (64, 2 * n_counted) in mixed groups
    sums: Float64s  # (64, 2) sums of losses, in mixed groups or of numbers: as they are, and permuted
    lost: Float64s  # (64, 2) what rounding took from these sums


class NeighborWork(NamedTuple):
    """Scratch memory of one task."""

    line: Line
    predicted: (
        Float64s  # (65, n_stats) losses of each class, or number, that the current group predicts in a split
    )
    grouped: Words  # (n_classes, n_digits) train rows of the current group; see `tally`
    tallies: Tallies
    by_class: Words  # (n_classes,)
    stats: Float64s  # (n_stats,)
    total: Float64s  # (2,) a compensated sum


def make_neighbor_work(n_rows: int, n_classes: int, is_weighted: bool) -> NeighborWork:
    """Allocate memory for one task."""
    n_stats = max(n_classes, 1)
    n_counted = n_classes if is_weighted else 1
    tallies = Tallies(
        make_planes(2 * n_counted, n_rows),
        np.empty((WORD, 2 * n_counted)),
        np.empty((WORD, 2)),
        np.empty((WORD, 2)),
    )
    return NeighborWork(
        make_line(n_rows),
        np.empty((WORD + 1, n_stats)),
        make_planes(n_classes, n_rows),
        tallies,
        np.empty(n_classes, dtype=np.uint64),
        np.empty(n_stats),
        np.empty(2),
    )


@kernel_part
def _add(bit: int, which: int, loss: float, sums: Float64s, lost: Float64s) -> None:
    """Add to a compensated sum; like `add_loss`, but without an array view, which would count references."""
    sums[bit, which], lost[bit, which] = plus_loss(sums[bit, which], lost[bit, which], loss)


@kernel_part
def _reset(tallies: Tallies) -> None:
    for counter in range(tallies.wrong.shape[0]):
        for digit in range(tallies.wrong.shape[1]):
            tallies.wrong[counter, digit] = NONE
        for bit in range(WORD):
            tallies.settled[bit, counter] = 0.0
    for bit in range(WORD):
        for which in range(2):
            tallies.sums[bit, which] = 0.0
            tallies.lost[bit, which] = 0.0


@kernel_part
def _put_away(ones: np.uint64, twos: np.uint64, fours: np.uint64, planes: Words, counter: int) -> None:
    """Add counts up to seven to a counter."""
    tally(ones, int64(0), planes, counter)
    tally(twos, int64(1), planes, counter)
    tally(fours, int64(2), planes, counter)


@kernel_function
def _tally_distinct(word: int, target: Target, split_sets: SplitSets, line: Line, tallies: Tallies) -> None:
    """Count the test rows that are predicted wrongly, for a column with distinct values and without class weights.

    The first two steps of a walk, which usually suffice, are taken unconditionally, and counts up to seven are kept in
    local variables: a branch that the processor cannot predict costs more than it saves.
    """
    halves, trained, rows, classes = line.halves, line.trained, line.rows, target.classes
    test, receiver_sets, planes = split_sets.test, split_sets.receiver_sets, tallies.wrong
    wrong_1, wrong_2, wrong_4, missed_1, missed_2, missed_4 = NONE, NONE, NONE, NONE, NONE, NONE
    n_rows = test.shape[1]
    at_hand = 0
    for place in range(1, n_rows + 1):
        row = rows[place]
        tested = test[word, row]
        if tested == NONE:
            continue
        label, value = classes[row], 2.0 * halves[place]
        left, right = place - 1, place + 1
        pending, wrong, hits = tested, NONE, NONE
        for _ in range(2):
            met, left, right = step_outwards(value, left, right, halves)
            answered = pending & trained[met]
            pending ^= answered
            says = classes[rows[met]]
            wrong |= answered if says != label else NONE
            hits |= answered & receiver_sets[says, word, row]
        while pending != NONE:
            met, left, right = step_outwards(value, left, right, halves)
            answered = pending & trained[met]
            pending ^= answered
            says = classes[rows[met]]
            wrong |= answered if says != label else NONE
            hits |= answered & receiver_sets[says, word, row]
        missed = tested & ~hits
        carry = wrong_1 & wrong
        wrong_1 ^= wrong
        wrong_4 ^= wrong_2 & carry
        wrong_2 ^= carry
        carry = missed_1 & missed
        missed_1 ^= missed
        missed_4 ^= missed_2 & carry
        missed_2 ^= carry
        at_hand += 1
        if at_hand == _AT_HAND:
            _put_away(wrong_1, wrong_2, wrong_4, planes, int64(0))
            _put_away(missed_1, missed_2, missed_4, planes, int64(1))
            wrong_1, wrong_2, wrong_4, missed_1, missed_2, missed_4 = NONE, NONE, NONE, NONE, NONE, NONE
            at_hand = 0
    _put_away(wrong_1, wrong_2, wrong_4, planes, int64(0))
    _put_away(missed_1, missed_2, missed_4, planes, int64(1))


@kernel_function
def _tally_any(
    word: int,
    is_tied: bool,
    target: Target,
    scoring: Scoring,
    split_sets: SplitSets,
    tabled: Float64s,
    work: NeighborWork,
) -> None:
    """Count the test rows that are predicted wrongly, by class if needed, and add the losses in mixed groups."""
    # Arrays are taken out of their tuples here, because each access to a tuple in the loops would count references.
    line, stats, predicted, grouped = work.line, work.stats, work.predicted, work.grouped
    halves, trained, rows, first_of, mixed_of = line.halves, line.trained, line.rows, line.first, line.mixed
    classes, test, receiver_sets, receiver_classes = (
        target.classes,
        split_sets.test,
        split_sets.receiver_sets,
        split_sets.receiver_classes,
    )
    planes, settled, sums, lost = (
        work.tallies.wrong,
        work.tallies.settled,
        work.tallies.sums,
        work.tallies.lost,
    )
    n_counted = planes.shape[0] // 2
    # The group of the current row, and the splits for which `predicted` holds what it predicts.
    group, end, ready = int64(0), int64(0), NONE
    for place in range(1, test.shape[1] + 1):
        row = rows[place]
        tested = test[word, row]
        label, value = classes[row], 2.0 * halves[place]
        left, right = place - 1, place + 1
        pending, wrong, hits = tested, NONE, NONE
        if is_tied and first_of[place] != group:
            group, end, ready = int64(first_of[place]), group_end(int64(first_of[place]), line), NONE
            if end - group > _SMALL_GROUP and mixed_of[place] != NONE:
                tally_group(group, end, trained, rows, classes, grouped)
        while pending != NONE:
            met, left, right = step_outwards(value, left, right, halves)
            answered = pending & trained[met]
            pending ^= answered
            says = classes[rows[met]]
            if is_tied:
                mixed = answered & mixed_of[met]
                answered ^= mixed
                tested ^= mixed
                is_own = first_of[met] == group
                while mixed != NONE:
                    bit = first_bit(mixed)
                    mixed &= mixed - ONE
                    index = int64(bit) if is_own else int64(WORD)
                    if not (is_own and has(ready, bit)):
                        if is_own and end - group > _SMALL_GROUP:
                            weight = counts_of_group(bit, end - group, grouped, stats)
                        else:
                            first = int64(first_of[met])
                            weight = count_members(
                                first, group_end(first, line), bit, trained, rows, classes, stats
                            )
                        leaf_losses(
                            index, weight, scoring.loss, scoring.class_weights, tabled, stats, predicted
                        )
                        if is_own:
                            ready |= ONE << np.uint64(bit)
                    other = receiver_classes[row, word * WORD + bit]
                    _add(bit, int64(0), predicted[index, label], sums, lost)
                    _add(bit, int64(1), predicted[index, other], sums, lost)
                    settled[bit, label if n_counted > 1 else 0] += 1.0
                    settled[bit, n_counted + (other if n_counted > 1 else 0)] += 1.0
            wrong |= answered if says != label else NONE
            hits |= answered & receiver_sets[says, word, row]
        missed = tested & ~hits
        tally(wrong, int64(0), planes, int64(label if n_counted > 1 else 0))
        if n_counted == 1:
            tally(missed, int64(0), planes, int64(1))
        else:
            for other in range(n_counted):
                tally(missed & receiver_sets[other, word, row], int64(0), planes, int64(n_counted + other))


@kernel_function
def _sum_up(
    word: int,
    column: int,
    split_sets: SplitSets,
    known_losses: KnownLosses,
    tallies: Tallies,
    total: Float64s,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Convert counts to sums of losses, for the splits of one word."""
    n_counted = tallies.settled.shape[1] // 2
    for bit in range(min(WORD, base.shape[1] - word * WORD)):
        split = word * WORD + bit
        for which in range(2):
            total[0], total[1] = tallies.sums[bit, which], tallies.lost[bit, which]
            for label in range(n_counted):
                n_tested = 0.0
                for tested in range(label, label + 1 if n_counted > 1 else split_sets.tested.shape[1]):
                    n_tested += split_sets.tested[split, tested]
                counter = int64(which * n_counted + label)
                n_wrong = float(tallied(tallies.wrong, counter, bit))
                n_right = n_tested - tallies.settled[bit, counter] - n_wrong
                add_repeated_loss(total, known_losses.wrong[label], n_wrong)
                add_repeated_loss(total, known_losses.right[label], n_right)
            if which:
                permuted[column, split] = total[0] + total[1]
            else:
                base[column, split] = total[0] + total[1]


@kernel
def class_risks(
    columns: ColumnArrays,
    target: Target,
    scoring: Scoring,
    split_sets: SplitSets,
    known_losses: KnownLosses,
    work: NeighborWork,
    is_unsolved: Bools,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Fill ``base`` and ``permuted`` (n_columns, n_splits) with sums of losses.

    Columns that cannot be answered by neighbors are marked in ``is_unsolved`` (n_columns,).
    """
    line, tallies = work.line, work.tallies
    n_words, n_rows = split_sets.train.shape
    for column in range(columns.indptr.size - 1):
        start = columns.indptr[column]
        ties = mark_groups(start, n_rows, columns.values, line)
        is_unsolved[column] = ties == ENTANGLED
        if ties == ENTANGLED:
            continue
        for word in range(n_words):
            lay_out(start, word, columns, split_sets.train, line)
            _reset(tallies)
            if ties == DISTINCT and tallies.wrong.shape[0] == 2:
                _tally_distinct(word, target, split_sets, line, tallies)
            else:
                if ties != DISTINCT:
                    mark_mixed_classes(n_rows, target.classes, line, work.by_class)
                _tally_any(word, ties != DISTINCT, target, scoring, split_sets, known_losses.tabled, work)
            _sum_up(word, column, split_sets, known_losses, tallies, work.total, base, permuted)


@kernel_function
def _add_numbers(
    word: int, is_tied: bool, loss: int, target: Target, split_sets: SplitSets, work: NeighborWork
) -> None:
    """Add the losses of all test rows, for regression."""
    line, predicted = work.line, work.predicted
    halves, trained, rows, first_of, mixed_of = line.halves, line.trained, line.rows, line.first, line.mixed
    values = target.values
    test, receiver_values, sums, lost = (
        split_sets.test,
        split_sets.receiver_values,
        work.tallies.sums,
        work.tallies.lost,
    )
    group, ready = int64(0), NONE
    for place in range(1, test.shape[1] + 1):
        row = rows[place]
        pending = test[word, row]
        truth, value = values[row], 2.0 * halves[place]
        left, right = place - 1, place + 1
        if is_tied and first_of[place] != group:
            group, ready = int64(first_of[place]), NONE
        while pending != NONE:
            met, left, right = step_outwards(value, left, right, halves)
            answered = pending & trained[met]
            pending ^= answered
            says = values[rows[met]]
            is_group = is_tied and mixed_of[met] != NONE
            is_own = is_group and first_of[met] == group
            while answered != NONE:
                bit = first_bit(answered)
                answered &= answered - ONE
                if is_group:
                    index = int64(bit) if is_own else int64(WORD)
                    if not (is_own and has(ready, bit)):
                        first = int64(first_of[met])
                        predicted[index, 0] = mean_of_members(
                            first, group_end(first, line), bit, trained, rows, values
                        )
                        if is_own:
                            ready |= ONE << np.uint64(bit)
                    says = predicted[index, 0]
                _add(bit, int64(0), number_loss(truth - says, loss), sums, lost)
                _add(
                    bit,
                    int64(1),
                    number_loss(receiver_values[row, word * WORD + bit] - says, loss),
                    sums,
                    lost,
                )


@kernel
def number_risks(
    columns: ColumnArrays,
    target: Target,
    scoring: Scoring,
    split_sets: SplitSets,
    work: NeighborWork,
    is_unsolved: Bools,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Fill the same arrays as `class_risks`, for regression: every test row adds its loss."""
    line, tallies = work.line, work.tallies
    n_words, n_rows = split_sets.train.shape
    for column in range(columns.indptr.size - 1):
        start = columns.indptr[column]
        ties = mark_groups(start, n_rows, columns.values, line)
        is_unsolved[column] = ties == ENTANGLED
        if ties == ENTANGLED:
            continue
        for word in range(n_words):
            lay_out(start, word, columns, split_sets.train, line)
            _reset(tallies)
            if ties != DISTINCT:
                mark_groups_of_numbers(n_rows, line)
            _add_numbers(word, ties != DISTINCT, scoring.loss, target, split_sets, work)
            for bit in range(min(WORD, base.shape[1] - word * WORD)):
                base[column, word * WORD + bit] = tallies.sums[bit, 0] + tallies.lost[bit, 0]
                permuted[column, word * WORD + bit] = tallies.sums[bit, 1] + tallies.lost[bit, 1]
