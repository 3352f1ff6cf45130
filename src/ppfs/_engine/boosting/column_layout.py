"""The train rows of a split in the order of one column, with bins."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.boosting.bins import find_edges
from ppfs._engine.boosting.problem import TrainParts
from ppfs._engine.boosting.rules import BoostingLimits
from ppfs._engine.inputs.splits import TRAIN
from ppfs._engine.jit.kernels import Float64s, Int64s, int64, kernel_part


class Layout(NamedTuple):
    """The rows of one split in the order of a column's values."""

    values: Float64s  # (n_rows,) of the train rows, ascending; the missing ones follow
    labels: Float64s  # (n_rows,) of the train rows
    edges: Float64s  # (max_bins,)
    counts: Int64s  # (max_bins + 1,) train rows below the end of a bin
    test_bins: Int64s  # (n_test,) -1 for a missing value
    test_values: Float64s  # (n_test,)
    weights: Float64s | None  # (n_rows,) of the train rows, if rows have weights
    running: Float64s | None  # (n_rows,) running sums of the weights, if they are used for the bins


@kernel_part
def _note_weight(
    place: int, row: int, weights: Float64s | None, laid_out: Float64s | None, running: Float64s | None
) -> None:
    """Record the weight of a row, if rows have weights."""
    if weights is not None and laid_out is not None:
        laid_out[place] = weights[row]
        if running is not None:
            running[place] = weights[row] + (running[place - 1] if place else 0.0)


@kernel_part
def lay_out(
    column: int,
    split: int,
    order: Int64s,
    block: Float64s,
    train_parts: TrainParts,
    limits: BoostingLimits,
    layout: Layout,
) -> tuple[int, int]:
    """Sort the train rows of a split by value and bin all rows; return the numbers of missing rows and of bins."""
    n_known, n_missing = int64(0), int64(0)
    for place in range(order.shape[1]):
        row = order[column, place]
        if train_parts.roles[split, row] == TRAIN:
            value = block[row, column]
            layout.labels[n_known + n_missing] = train_parts.labels[split, row]
            layout.values[n_known + n_missing] = value
            _note_weight(n_known + n_missing, row, train_parts.weights, layout.weights, layout.running)
            # Missing values come last in the order.
            if np.isnan(value):
                n_missing += 1
            else:
                n_known += 1
    n_edges = find_edges(n_known, layout.values, layout.running, limits, layout.edges)
    for number in range(n_edges + 2):
        layout.counts[number] = 0
    current = 0
    for place in range(order.shape[1]):
        row = order[column, place]
        value = block[row, column]
        role = train_parts.roles[split, row]
        if np.isnan(value):
            if role >= 0:
                layout.test_bins[role] = -1
            continue
        while current < n_edges and value > layout.edges[current]:
            current += 1
        if role == TRAIN:
            layout.counts[current + 1] += 1
        elif role >= 0:
            layout.test_bins[role] = current
            layout.test_values[role] = value
    for number in range(n_edges + 1):
        layout.counts[number + 1] += layout.counts[number]
    return n_missing, n_edges + 1


def make_layout(
    n_rows: int, n_test: int, max_bins: int, *, is_weighted: bool, has_weighted_bins: bool
) -> Layout:
    """Allocate memory for splits with up to the given numbers of rows."""
    return Layout(
        values=np.empty(n_rows),
        labels=np.empty(n_rows),
        edges=np.empty(max_bins),
        counts=np.zeros(max_bins + 1, dtype=np.int64),
        test_bins=np.empty(n_test, dtype=np.int64),
        test_values=np.empty(n_test),
        weights=np.empty(n_rows) if is_weighted else None,
        running=np.empty(n_rows) if has_weighted_bins else None,
    )
