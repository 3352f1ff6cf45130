"""The train rows of one column as groups of tied values.

    sorted values   0.1   0.4   0.7 0.7   1.3 1.3      five groups

Rows that a sparse column does not store form one group with the value zero. They are counted by subtraction.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.sorted_columns import ColumnArrays
from ppfs._engine.inputs.splits import TRAIN
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int32s, Records, int64, kernel_function, kernel_part
from ppfs._engine.one_column.prepared_columns import Plan
from ppfs._engine.trees.criterion import add_row, add_stats, copy_stats
from ppfs._engine.trees.rules import TIE

GROUP = np.dtype(
    [
        ("low", np.float32),  # smallest value of a group
        ("high", np.float32),  # largest value of a group
        ("weight", np.float64),  # weight of the train rows of a group or leaf
        ("size", np.float64),  # train rows of a group
        ("threshold", np.float64),  # largest value that belongs to a leaf
    ],
    align=True,
)


class Groups(NamedTuple):
    """Groups of tied train values, which become leaves in place.

    Leaf ``i`` overwrites group ``i``, which by then is part of that leaf or of an earlier one.
    """

    records: Records  # (n_groups,) of the type `GROUP`
    stats: Float64s  # (n_groups, n_stats) statistics of a group or leaf


def make_groups(n_groups: int, n_stats: int) -> Groups:
    """Allocate memory for groups."""
    return Groups(np.empty(n_groups, dtype=GROUP), np.empty((n_groups, n_stats)))


@kernel_function
def count_zeros(
    start: int, stop: int, split: int, columns: ColumnArrays, target: Target, plan: Plan, zeros: Float64s
) -> int:
    """Fill ``zeros`` with the statistics of the train rows that a column does not store; return their number."""
    n_zeros: int = plan.n_train[split]
    copy_stats(plan.train_stats[split], zeros)
    for entry in range(start, stop):
        row = columns.rows[entry]
        if plan.receivers[split, row] != TRAIN:
            continue
        n_zeros -= 1
        add_row(row, -1.0, target, zeros)
    return n_zeros


@kernel_part
def open_group(group: int, value: np.float32, groups: Groups) -> None:
    """Make an empty group."""
    groups.records[group]["low"] = value
    groups.records[group]["high"] = value
    groups.records[group]["weight"] = 0.0
    groups.records[group]["size"] = 0.0
    for stat in range(groups.stats.shape[1]):
        groups.stats[group, stat] = 0.0


@kernel_part
def group_for(value: np.float32, tie: np.float32, n_groups: int, groups: Groups) -> int:
    """Return the group of a value that is not smaller than those before; make the group if it is new."""
    group = n_groups - 1
    if n_groups == 0 or value > groups.records[group]["high"] + tie:
        group = n_groups
        open_group(group, value, groups)
    groups.records[group]["high"] = value
    return group


@kernel_part
def add_to_group(group: int, row: int, weight: float, target: Target, groups: Groups) -> None:
    """Add a row to a group."""
    groups.records[group]["weight"] += weight
    groups.records[group]["size"] += 1.0
    add_row(row, weight, target, groups.stats[group])


@kernel_part
def add_zeros_to_group(group: int, n_zeros: float, weight: float, zeros: Float64s, groups: Groups) -> None:
    """Add the rows that a sparse column does not store to a group."""
    groups.records[group]["weight"] += weight
    groups.records[group]["size"] += n_zeros
    add_stats(groups.stats[group], zeros)


@kernel_part
def gather(
    start: int,
    stop: int,
    receivers: Int32s,
    n_zeros: int,
    zeros: Float64s,
    columns: ColumnArrays,
    target: Target,
    groups: Groups,
    tests: Records,
) -> tuple[int, int]:
    """Divide a column's rows into groups of tied train values and a list of test entries.

    Returns the number of groups and the number of test entries.
    """
    n_groups = int64(0)
    n_tests = 0
    # The zeros are one more item before the first positive entry.
    zero_item = stop + 1
    if n_zeros > 0:
        zero_item = start
        while zero_item < stop and columns.values[zero_item] < 0.0:
            zero_item += 1
    for item in range(start, stop + (n_zeros > 0)):
        if item == zero_item:
            group = group_for(np.float32(0.0), TIE, n_groups, groups)
            add_zeros_to_group(group, float(n_zeros), float(n_zeros), zeros, groups)
        else:
            entry = item - (item > zero_item)
            value, row = columns.values[entry], columns.rows[entry]
            if receivers[row] != TRAIN:
                tests[n_tests]["value"] = value
                tests[n_tests]["row"] = row
                n_tests += receivers[row] >= 0
                continue
            group = group_for(value, TIE, n_groups, groups)
            add_to_group(group, row, 1.0, target, groups)
        n_groups = group + 1
    return n_groups, n_tests
