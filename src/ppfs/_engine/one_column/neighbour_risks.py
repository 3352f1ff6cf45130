"""Test risks of full trees on one column each, all splits at once; see `neighbours` for the idea.

Where the values of a column are distinct, every leaf is pure, and a test row is right or wrong: the risks of a
split are two counts. Mixed groups of tied values, and numbers, are added up row by row.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import (
    NONE,
    ONE,
    WORD,
    Words,
    first_bit,
    make_planes,
    sets_of_rows,
    tallied,
    tally,
)
from ppfs._engine.inputs.sorted_columns import ColumnArrays, SortedColumns
from ppfs._engine.inputs.splits import UNUSED, Splits
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Bools, Float64s, Int32s, int64, kernel, kernel_function, kernel_part
from ppfs._engine.one_column.neighbours import (
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
from ppfs._engine.trees.losses import (
    Scoring,
    add_repeated_loss,
    class_losses,
    log_loss,
    number_loss,
    plus_loss,
)
from ppfs._engine.trees.rules import LossCode

# The splits in which a value goes to a row of a class are one word for each row and class; for more classes than
# this, leaves are built.
_MOST_CLASSES = 16

# So many counts fit into the three words that are kept at hand.
_AT_HAND = 7

# The train rows of larger groups are counted for all splits at once.
_SMALL_GROUP = 8

# The log-losses of all shares in leaves of up to so many rows are computed once.
_MOST_TABLED = 64


class Parts(NamedTuple):
    """The splits, as sets of splits for each row, and what each row's value is dealt to."""

    train: Words  # (n_words, n_rows) splits that train on a row
    test: Words  # (n_words, n_rows) splits that test a row
    dealt: (
        Words  # (n_classes, n_words, n_rows) splits in which a row of the class receives the value of a row
    )
    dealt_classes: (
        Int32s  # (n_rows, n_splits) class of the row that receives the value of a row; 0 for train rows
    )
    dealt_values: Float64s  # (n_rows, n_splits) the same for numbers
    tested: Float64s  # (n_splits, n_classes) test rows of each class


class Verdicts(NamedTuple):
    """What leaves cost, as far as it can be said beforehand."""

    right: Float64s  # (n_classes,) loss of a row of each class in a pure leaf of its own class
    wrong: Float64s  # (n_classes,) and in one of another
    tabled: Float64s  # (65, 65) log-loss in a leaf of so many rows, of which so many are of one's own class


class Tallies(NamedTuple):
    """Test rows of one column, by split. Without class weights, all of them count as of class 0."""

    wrong: Words  # (2 * n_counted, n_digits) wrong in a pure leaf, by class: as they are, then permuted; see `tally`
    settled: Float64s  # (64, 2 * n_counted) in mixed groups
    sums: Float64s  # (64, 2) sums of losses, in mixed groups or of numbers: as they are, and permuted
    lost: Float64s  # (64, 2) what rounding took from these sums


class NeighbourWork(NamedTuple):
    """Memory of one task."""

    line: Line
    predicted: (
        Float64s  # (65, n_stats) losses of each class, or number, that the group at hand predicts in a split
    )
    grouped: Words  # (n_classes, n_digits) train rows of the group at hand; see `tally`
    tallies: Tallies
    by_class: Words  # (n_classes,)
    stats: Float64s  # (n_stats,)
    total: Float64s  # (2,) a compensated sum


class Neighbours(NamedTuple):
    """What full trees on any column are answered from, made once."""

    parts: Parts
    verdicts: Verdicts


def make_neighbours(
    splits: Splits, target: Target, scoring: Scoring, n_classes: int, n_rows: int
) -> Neighbours | None:
    """Prepare the splits of a table with ``n_rows`` rows; None if there are too many classes."""
    if n_classes > _MOST_CLASSES:
        return None
    return Neighbours(make_parts(splits, target, n_classes, n_rows), make_verdicts(scoring, n_classes))


def store_all_rows(columns: SortedColumns) -> bool:
    """Tell whether columns have no rows that they do not store, as a walk needs it."""
    return bool((columns.n_stored == columns.n_rows).all())


def make_parts(splits: Splits, target: Target, n_classes: int, n_rows: int) -> Parts:
    """Prepare the splits of a table with ``n_rows`` rows."""
    train, test = sets_of_rows(splits.train, n_rows), sets_of_rows(splits.test, n_rows)
    receivers = splits.receivers(n_rows).T
    is_tested = receivers > UNUSED + 1
    dealt_classes, dealt_values = np.empty((0, 0), dtype=np.int32), np.empty((0, 0))
    dealt = np.zeros((n_classes, *train.shape), dtype=np.uint64)
    if n_classes:
        dealt_classes = np.where(is_tested, target.classes[receivers], 0).astype(np.int32)
        for label in range(n_classes):
            of_label = is_tested & (dealt_classes == label)
            dealt[label] = sets_of_rows([np.flatnonzero(rows) for rows in of_label.T], n_rows)
    else:
        dealt_values = np.where(is_tested, target.values[receivers], 0.0)
    tested = np.zeros((splits.n_splits, n_classes))
    for split, rows in enumerate(splits.test):
        if n_classes:
            tested[split] = np.bincount(target.classes[rows], minlength=n_classes)
    return Parts(
        train,
        test,
        dealt,
        np.ascontiguousarray(dealt_classes),
        np.ascontiguousarray(dealt_values),
        tested,
    )


def make_verdicts(scoring: Scoring, n_classes: int) -> Verdicts:
    """Work out what a pure leaf costs a row of each class, and the log-losses of small leaves."""
    verdicts = Verdicts(
        np.empty(n_classes), np.empty(n_classes), np.zeros((_MOST_TABLED + 1, _MOST_TABLED + 1))
    )
    if n_classes:
        fill_verdicts(scoring, np.empty(n_classes), np.empty(n_classes), verdicts)
    return verdicts


def make_neighbour_work(n_rows: int, n_classes: int, is_weighted: bool) -> NeighbourWork:
    """Allocate the memory of one task."""
    n_stats = max(n_classes, 1)
    n_counted = n_classes if is_weighted else 1
    tallies = Tallies(
        make_planes(2 * n_counted, n_rows),
        np.empty((WORD, 2 * n_counted)),
        np.empty((WORD, 2)),
        np.empty((WORD, 2)),
    )
    return NeighbourWork(
        make_line(n_rows),
        np.empty((WORD + 1, n_stats)),
        make_planes(n_classes, n_rows),
        tallies,
        np.empty(n_classes, dtype=np.uint64),
        np.empty(n_stats),
        np.empty(2),
    )


@kernel
def fill_verdicts(scoring: Scoring, counts: Float64s, of_class: Float64s, verdicts: Verdicts) -> None:
    """Fill the arrays of ``verdicts``; ``counts`` and ``of_class`` (n_classes,) are memory."""
    for label in range(counts.size):
        for other in range(counts.size):
            counts[other] = 1.0 if other == label else 0.0
        class_losses(counts, 1.0, scoring.loss, scoring.class_weights, of_class)
        for other in range(counts.size):
            if other == label:
                verdicts.right[other] = of_class[other]
            else:
                verdicts.wrong[other] = of_class[other]
    for n_rows in range(1, verdicts.tabled.shape[0]):
        for count in range(n_rows + 1):
            verdicts.tabled[n_rows, count] = log_loss(float(count) / float(n_rows))


@kernel_part
def _add(bit: int, which: int, loss: float, sums: Float64s, lost: Float64s) -> None:
    """Add to a compensated sum; as `add_loss`, without the view of an array, which would count references."""
    sums[bit, which], lost[bit, which] = plus_loss(sums[bit, which], lost[bit, which], loss)


@kernel_part
def leaf_losses(
    index: int,
    weight: float,
    loss: int,
    class_weights: Float64s | None,
    tabled: Float64s,
    stats: Float64s,
    predicted: Float64s,
) -> None:
    """Write the losses of the classes in a leaf with these counts to ``predicted[index]``."""
    if loss == LossCode.LOG and weight < tabled.shape[0]:
        for label in range(stats.size):
            predicted[index, label] = tabled[int64(weight), int64(stats[label])]
            if class_weights is not None:
                predicted[index, label] *= class_weights[label]
    else:
        class_losses(stats, weight, loss, class_weights, predicted[index])


@kernel_part
def count_members(
    first: int, end: int, bit: int, trained: Words, rows: Int32s, classes: Int32s, stats: Float64s
) -> float:
    """Count the train rows of one split in a group, by class; return their number."""
    for label in range(stats.size):
        stats[label] = 0.0
    weight = 0.0
    for member in range(first, end):
        is_trained = float((trained[member] >> np.uint64(bit)) & ONE)
        weight += is_trained
        stats[classes[rows[member]]] += is_trained
    return weight


@kernel_part
def mean_of_members(first: int, end: int, bit: int, trained: Words, rows: Int32s, values: Float64s) -> float:
    """Return the mean of a group's train rows of one split."""
    weight, total = 0.0, 0.0
    for member in range(first, end):
        if has(trained[member], bit):
            weight += 1.0
            total += values[rows[member]]
    return total / weight


@kernel_part
def _tally_group(first: int, end: int, trained: Words, rows: Int32s, classes: Int32s, grouped: Words) -> None:
    """Count the train rows of a group by class, in all splits at once."""
    for label in range(grouped.shape[0]):
        for digit in range(grouped.shape[1]):
            grouped[label, digit] = NONE
    for member in range(first, end):
        tally(trained[member], int64(0), grouped, int64(classes[rows[member]]))


@kernel_part
def _counts_of_group(bit: int, size: int, grouped: Words, stats: Float64s) -> float:
    """Read the counts of `_tally_group` for one split; return their sum."""
    weight = 0.0
    for label in range(stats.size):
        count = 0
        digit = 0
        while (size >> digit) > 0:
            count += int64((grouped[label, digit] >> np.uint64(bit)) & ONE) << digit
            digit += 1
        stats[label] = float(count)
        weight += stats[label]
    return weight


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
def _tally_distinct(word: int, target: Target, parts: Parts, line: Line, tallies: Tallies) -> None:
    """Count the test rows that are wrong, in a column of distinct values and without class weights.

    The first two steps of a walk, which mostly are enough, are taken without asking whether they are needed, and
    counts up to seven are kept in variables: what cannot be foreseen costs the processor more than it saves.
    """
    halves, trained, rows, classes = line.halves, line.trained, line.rows, target.classes
    test, dealt, planes = parts.test, parts.dealt, tallies.wrong
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
        pending, wrong, pleased = tested, NONE, NONE
        for _ in range(2):
            met, left, right = step_outwards(value, left, right, halves)
            answered = pending & trained[met]
            pending ^= answered
            says = classes[rows[met]]
            wrong |= answered if says != label else NONE
            pleased |= answered & dealt[says, word, row]
        while pending != NONE:
            met, left, right = step_outwards(value, left, right, halves)
            answered = pending & trained[met]
            pending ^= answered
            says = classes[rows[met]]
            wrong |= answered if says != label else NONE
            pleased |= answered & dealt[says, word, row]
        missed = tested & ~pleased
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
    parts: Parts,
    tabled: Float64s,
    work: NeighbourWork,
) -> None:
    """Count the test rows that are wrong, by class if asked, and add the losses of those in mixed groups."""
    # Arrays are taken out of their tuples here: every look into a tuple in the loops would count references.
    line, stats, predicted, grouped = work.line, work.stats, work.predicted, work.grouped
    halves, trained, rows, first_of, mixed_of = line.halves, line.trained, line.rows, line.first, line.mixed
    classes, test, dealt, dealt_classes = target.classes, parts.test, parts.dealt, parts.dealt_classes
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
        pending, wrong, pleased = tested, NONE, NONE
        if is_tied and first_of[place] != group:
            group, end, ready = int64(first_of[place]), group_end(int64(first_of[place]), line), NONE
            if end - group > _SMALL_GROUP and mixed_of[place] != NONE:
                _tally_group(group, end, trained, rows, classes, grouped)
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
                            weight = _counts_of_group(bit, end - group, grouped, stats)
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
                    other = dealt_classes[row, word * WORD + bit]
                    _add(bit, int64(0), predicted[index, label], sums, lost)
                    _add(bit, int64(1), predicted[index, other], sums, lost)
                    settled[bit, label if n_counted > 1 else 0] += 1.0
                    settled[bit, n_counted + (other if n_counted > 1 else 0)] += 1.0
            wrong |= answered if says != label else NONE
            pleased |= answered & dealt[says, word, row]
        missed = tested & ~pleased
        tally(wrong, int64(0), planes, int64(label if n_counted > 1 else 0))
        if n_counted == 1:
            tally(missed, int64(0), planes, int64(1))
        else:
            for other in range(n_counted):
                tally(missed & dealt[other, word, row], int64(0), planes, int64(n_counted + other))


@kernel_function
def _sum_up(
    word: int,
    column: int,
    parts: Parts,
    verdicts: Verdicts,
    tallies: Tallies,
    total: Float64s,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Turn counts into sums of losses, for the splits of one word."""
    n_counted = tallies.settled.shape[1] // 2
    for bit in range(min(WORD, base.shape[1] - word * WORD)):
        split = word * WORD + bit
        for which in range(2):
            total[0], total[1] = tallies.sums[bit, which], tallies.lost[bit, which]
            for label in range(n_counted):
                n_tested = 0.0
                for tested in range(label, label + 1 if n_counted > 1 else parts.tested.shape[1]):
                    n_tested += parts.tested[split, tested]
                counter = int64(which * n_counted + label)
                n_wrong = float(tallied(tallies.wrong, counter, bit))
                n_right = n_tested - tallies.settled[bit, counter] - n_wrong
                add_repeated_loss(total, verdicts.wrong[label], n_wrong)
                add_repeated_loss(total, verdicts.right[label], n_right)
            if which:
                permuted[column, split] = total[0] + total[1]
            else:
                base[column, split] = total[0] + total[1]


@kernel
def class_risks(
    begin: int,
    end: int,
    columns: ColumnArrays,
    target: Target,
    scoring: Scoring,
    parts: Parts,
    verdicts: Verdicts,
    work: NeighbourWork,
    is_left: Bools,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """Fill the rows ``begin`` to ``end - 1`` of ``base`` and ``permuted`` (n_columns, n_splits) with sums of losses.

    Columns that cannot be answered by neighbours are marked in ``is_left`` (n_columns,).
    """
    line, tallies = work.line, work.tallies
    n_words, n_rows = parts.train.shape
    for column in range(begin, end):
        start = columns.indptr[column]
        ties = mark_groups(start, n_rows, columns.values, line)
        is_left[column] = ties == ENTANGLED
        if ties == ENTANGLED:
            continue
        for word in range(n_words):
            lay_out(start, word, columns, parts.train, line)
            _reset(tallies)
            if ties == DISTINCT and tallies.wrong.shape[0] == 2:
                _tally_distinct(word, target, parts, line, tallies)
            else:
                if ties != DISTINCT:
                    mark_mixed_classes(n_rows, target.classes, line, work.by_class)
                _tally_any(word, ties != DISTINCT, target, scoring, parts, verdicts.tabled, work)
            _sum_up(word, column, parts, verdicts, tallies, work.total, base, permuted)


@kernel_function
def _add_numbers(
    word: int, is_tied: bool, loss: int, target: Target, parts: Parts, work: NeighbourWork
) -> None:
    """Add the losses of all test rows, where numbers are predicted."""
    line, predicted = work.line, work.predicted
    halves, trained, rows, first_of, mixed_of = line.halves, line.trained, line.rows, line.first, line.mixed
    values = target.values
    test, dealt_values, sums, lost = parts.test, parts.dealt_values, work.tallies.sums, work.tallies.lost
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
                    bit, int64(1), number_loss(dealt_values[row, word * WORD + bit] - says, loss), sums, lost
                )


@kernel
def number_risks(
    begin: int,
    end: int,
    columns: ColumnArrays,
    target: Target,
    scoring: Scoring,
    parts: Parts,
    work: NeighbourWork,
    is_left: Bools,
    base: Float64s,
    permuted: Float64s,
) -> None:
    """`class_risks` for numbers: every test row adds its loss."""
    line, tallies = work.line, work.tallies
    n_words, n_rows = parts.train.shape
    for column in range(begin, end):
        start = columns.indptr[column]
        ties = mark_groups(start, n_rows, columns.values, line)
        is_left[column] = ties == ENTANGLED
        if ties == ENTANGLED:
            continue
        for word in range(n_words):
            lay_out(start, word, columns, parts.train, line)
            _reset(tallies)
            if ties != DISTINCT:
                mark_groups_of_numbers(n_rows, line)
            _add_numbers(word, ties != DISTINCT, scoring.loss, target, parts, work)
            for bit in range(min(WORD, base.shape[1] - word * WORD)):
                base[column, word * WORD + bit] = tallies.sums[bit, 0] + tallies.lost[bit, 0]
                permuted[column, word * WORD + bit] = tallies.sums[bit, 1] + tallies.lost[bit, 1]
