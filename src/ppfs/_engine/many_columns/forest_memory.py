"""Memory for growing one tree of a forest, and operations on the rows of a node."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.bit_sets import NONE, ONE, Words, first_bit
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import (
    Bools,
    Float64s,
    Int32s,
    Int64s,
    Records,
    int64,
    kernel_function,
    kernel_part,
)
from ppfs._engine.many_columns.forest_nodes import FOREST_NODE
from ppfs._engine.many_columns.forest_search import SearchWork
from ppfs._engine.trees.criterion import add_row

#: Represents "no column".
NOTHING = -1


class ForestMemory(NamedTuple):
    """One tree while it is being grown."""

    nodes: Records  # (2 * n_drawn + 1,) of the type `FOREST_NODE`
    predictions: Int64s  # (2 * n_drawn + 1, n_outputs)
    rows: Int32s  # (n_rows,) train rows by node
    tests: Int32s  # (n_test,) positions of test rows by node
    pending: Int64s  # (n_rows + 2, 2) nodes to visit: number, and number in the old tree or -1
    spare: Int32s  # (n_rows,) memory of partitions and sorts
    goes_left: Bools  # (n_rows,)
    stamp: Int64s  # (1,) number of the node that was visited last


def make_forest_memory(n_rows: int, n_drawn: int, n_test: int, n_outputs: int) -> ForestMemory:
    """Allocate memory for one task."""
    return ForestMemory(
        np.zeros(2 * n_drawn + 1, dtype=FOREST_NODE),
        np.empty((2 * n_drawn + 1, n_outputs), dtype=np.int64),
        np.empty(n_rows, dtype=np.int32),
        np.empty(n_test, dtype=np.int32),
        np.empty((n_drawn + 2, 2), dtype=np.int64),
        np.empty(n_rows, dtype=np.int32),
        np.empty(n_rows, dtype=np.bool_),
        np.zeros(1, dtype=np.int64),
    )


@kernel_function
def sort_rows(start: int, stop: int, rows: Int32s, places: Words, out: Int32s, at: int) -> None:
    """Write rows[start:stop] to out[at:], in ascending order."""
    for index in range(start, stop):
        places[rows[index] >> 6] |= ONE << np.uint64(rows[index] & 63)
    for word in range(places.size):
        bits = places[word]
        places[word] = NONE
        while bits != NONE:
            out[at] = (word << 6) + first_bit(bits)
            at += 1
            bits &= bits - ONE


@kernel_function
def sum_rows(
    start: int, stop: int, rows: Int32s, target: Target, weights: Float64s, stats: Float64s
) -> float:
    """Fill the statistics of some rows; return their total weight."""
    for stat in range(stats.size):
        stats[stat] = 0.0
    total = 0.0
    for index in range(start, stop):
        row = rows[index]
        weight = weights[row]
        total += weight
        add_row(row, weight, target, stats)
    return total


@kernel_part
def stamp_rows(start: int, stop: int, rows: Int32s, scratch: ForestMemory, work: SearchWork) -> int:
    """Mark the train rows of a node, and return the mark."""
    scratch.stamp[0] += 1
    stamp = int64(scratch.stamp[0])
    for index in range(start, stop):
        work.marks[rows[index]] = stamp
    return stamp
