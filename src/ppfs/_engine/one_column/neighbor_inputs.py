"""The inputs for computing full trees from neighbors, prepared once for all columns."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import Words, sets_of_rows
from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.inputs.splits import UNUSED, Splits
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int32s, kernel
from ppfs._engine.trees.losses import Scoring, class_losses, log_loss

# The splits in which a row of a class receives a value take one word per row and class. With more classes than this,
# leaves are built instead.
_MOST_CLASSES = 16


# The log-losses of all class fractions in leaves with up to this many rows are computed once.
_MOST_TABLED = 64


class SplitSets(NamedTuple):
    """The splits, as sets of splits for each row, and the rows that receive each row's value."""

    train: Words  # (n_words, n_rows) splits that train on a row
    test: Words  # (n_words, n_rows) splits that test a row
    receiver_sets: (
        Words  # (n_classes, n_words, n_rows) splits in which a row of the class receives the value of a row
    )
    receiver_classes: (
        Int32s  # (n_rows, n_splits) class of the row that receives the value of a row; 0 for train rows
    )
    receiver_values: Float64s  # (n_rows, n_splits) the same for numbers
    tested: Float64s  # (n_splits, n_classes) test rows of each class


class KnownLosses(NamedTuple):
    """The losses in leaves that can be computed in advance."""

    right: Float64s  # (n_classes,) loss of a row of each class in a pure leaf of its own class
    wrong: Float64s  # (n_classes,) and in one of another
    tabled: Float64s  # (65, 65) log-loss by the leaf's number of rows, and of rows of the same class


class Neighbors(NamedTuple):
    """The inputs for computing full trees from neighbors."""

    split_sets: SplitSets
    known_losses: KnownLosses


def make_neighbors(
    splits: Splits, target: Target, scoring: Scoring, n_classes: int, n_rows: int
) -> Neighbors | None:
    """Prepare the splits of a table with ``n_rows`` rows; None if there are too many classes."""
    if n_classes > _MOST_CLASSES:
        return None
    return Neighbors(
        make_split_sets(splits, target, n_classes, n_rows), make_known_losses(scoring, n_classes)
    )


def store_all_rows(columns: SortedColumns) -> bool:
    """Return whether columns store all rows, as a walk requires."""
    return bool((columns.n_stored == columns.n_rows).all())


def make_split_sets(splits: Splits, target: Target, n_classes: int, n_rows: int) -> SplitSets:
    """Prepare the splits of a table with ``n_rows`` rows."""
    train, test = sets_of_rows(splits.train, n_rows), sets_of_rows(splits.test, n_rows)
    receivers = splits.receivers(n_rows).T
    is_tested = receivers > UNUSED + 1
    receiver_classes, receiver_values = np.empty((0, 0), dtype=np.int32), np.empty((0, 0))
    receiver_sets = np.zeros((n_classes, *train.shape), dtype=np.uint64)
    if n_classes:
        receiver_classes = np.where(is_tested, target.classes[receivers], 0).astype(np.int32)
        for label in range(n_classes):
            of_label = is_tested & (receiver_classes == label)
            receiver_sets[label] = sets_of_rows([np.flatnonzero(rows) for rows in of_label.T], n_rows)
    else:
        receiver_values = np.where(is_tested, target.values[receivers], 0.0)
    tested = np.zeros((splits.n_splits, n_classes))
    for split, rows in enumerate(splits.test):
        if n_classes:
            tested[split] = np.bincount(target.classes[rows], minlength=n_classes)
    return SplitSets(
        train,
        test,
        receiver_sets,
        np.ascontiguousarray(receiver_classes),
        np.ascontiguousarray(receiver_values),
        tested,
    )


def make_known_losses(scoring: Scoring, n_classes: int) -> KnownLosses:
    """Compute the loss of a row of each class in a pure leaf, and the log-losses of small leaves."""
    known_losses = KnownLosses(
        np.empty(n_classes), np.empty(n_classes), np.zeros((_MOST_TABLED + 1, _MOST_TABLED + 1))
    )
    if n_classes:
        fill_known_losses(scoring, np.empty(n_classes), np.empty(n_classes), known_losses)
    return known_losses


@kernel
def fill_known_losses(
    scoring: Scoring, counts: Float64s, of_class: Float64s, known_losses: KnownLosses
) -> None:
    """Fill the arrays of ``known_losses``; ``counts`` and ``of_class`` (n_classes,) are scratch memory."""
    for label in range(counts.size):
        for other in range(counts.size):
            counts[other] = 1.0 if other == label else 0.0
        class_losses(counts, 1.0, scoring.loss, scoring.class_weights, of_class)
        for other in range(counts.size):
            if other == label:
                known_losses.right[other] = of_class[other]
            else:
                known_losses.wrong[other] = of_class[other]
    for n_rows in range(1, known_losses.tabled.shape[0]):
        for count in range(n_rows + 1):
            known_losses.tabled[n_rows, count] = log_loss(float(count) / float(n_rows))
