"""The prediction of a group of tied values, in one split or in all splits at once."""

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, Words, tally
from ppfs._engine.jit.kernels import Float64s, Int32s, int64, kernel_part
from ppfs._engine.one_column.neighbors import has
from ppfs._engine.trees.losses import class_losses
from ppfs._engine.trees.rules import LossCode


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
    """Write the losses of the classes in a leaf with the given counts to ``predicted[index]``."""
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
def tally_group(first: int, end: int, trained: Words, rows: Int32s, classes: Int32s, grouped: Words) -> None:
    """Count the train rows of a group by class, in all splits at once."""
    for label in range(grouped.shape[0]):
        for digit in range(grouped.shape[1]):
            grouped[label, digit] = NONE
    for member in range(first, end):
        tally(trained[member], int64(0), grouped, int64(classes[rows[member]]))


@kernel_part
def counts_of_group(bit: int, size: int, grouped: Words, stats: Float64s) -> float:
    """Read the counts of `tally_group` for one split; return their sum."""
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
