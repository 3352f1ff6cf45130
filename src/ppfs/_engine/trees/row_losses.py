"""The loss of each tested row, for a column and for many permuted copies of it, from the leaf of each row."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, Int32s, Int64s, kernel_function
from ppfs._engine.trees.losses import Scoring, number_loss, plus_loss, row_loss, weighted_loss


class DrawnRows(NamedTuple):
    """The test parts of all splits, one after the other, and where permuted copies take their values from."""

    ends: Int64s  # (n_splits + 1,) the test rows of a split are rows[ends[split]:ends[split + 1]]
    rows: Int32s  # (n_tested,)
    sources: Int32s  # (n_draws, n_tested) row whose value the row at this place takes


class Losses(NamedTuple):
    """The losses that a kernel computes."""

    base: Float64s  # (n_columns, n_rows)
    replaced: Float64s  # (n_columns, n_rows)
    by_draw: Float64s  # (n_columns, n_draws)

    def put(self, places: Int64s, losses: "Losses") -> None:
        """Replace the losses of some columns."""
        for mine, theirs in zip(self, losses, strict=True):
            mine[places] = theirs


def make_losses(columns: SortedColumns, draws: DrawnRows) -> Losses:
    """Return arrays of zeros for the losses of some columns."""
    by_row = (columns.n_columns, columns.n_rows)
    return Losses(np.zeros(by_row), np.zeros(by_row), np.zeros((columns.n_columns, draws.sources.shape[0])))


class RowWork(NamedTuple):
    """Scratch memory for the losses of one column, in addition to that for its leaves."""

    leaf_of: Int32s  # (n_rows,) leaf of each test row
    predicted: Float64s  # (n_leaves, n_stats) losses of each class, or the number, that a leaf predicts
    totals: Float64s  # (n_draws, 2) compensated sum of each draw


@kernel_function
def add_losses(
    column: int, split: int, target: Target, scoring: Scoring, draws: DrawnRows, rows: RowWork, losses: Losses
) -> None:
    """Fill the losses of a split's test rows; ``losses.replaced`` is filled with the mean over the draws.

    That mean is computed as the base loss plus the mean increase. So if no draw changes the loss of a row, the two are
    equal to the last bit, and there is no difference in a paired test.
    """
    rows_of, sources, leaf_of, predicted, totals = (
        draws.rows,
        draws.sources,
        rows.leaf_of,
        rows.predicted,
        rows.totals,
    )
    base, replaced, classes, values = losses.base, losses.replaced, target.classes, target.values
    n_draws, has_classes, kind = sources.shape[0], classes.size > 0, scoring.loss
    begin, end = draws.ends[split], draws.ends[split + 1]
    for place in range(begin, end):
        row = rows_of[place]
        base[column, row] = row_loss(row, leaf_of[row], scoring, target, predicted)
    for draw in range(n_draws):
        total, lost = totals[draw, 0], totals[draw, 1]
        for place in range(begin, end):
            row = rows_of[place]
            leaf = leaf_of[sources[draw, place]]
            says = predicted[leaf, classes[row] if has_classes else 0]
            loss = weighted_loss(
                row, says if has_classes else number_loss(values[row] - says, kind), scoring.row_weights
            )
            replaced[column, row] += loss - base[column, row]
            total, lost = plus_loss(total, lost, loss)
        totals[draw, 0], totals[draw, 1] = total, lost
    for place in range(begin, end):
        row = rows_of[place]
        replaced[column, row] = base[column, row] + replaced[column, row] / n_draws
