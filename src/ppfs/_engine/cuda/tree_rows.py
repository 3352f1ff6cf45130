"""Losses row by row of trees on single columns, on the device; the twin of `one_column/tree_rows.py`."""

import numpy as np

from ppfs._engine.cuda.columns import DeviceColumns
from ppfs._engine.cuda.device import DeviceArray, on_device
from ppfs._engine.cuda.tree_risks import mark_ties
from ppfs._engine.cuda.trees import DeviceTrees
from ppfs._engine.trees.row_losses import DrawnRows

# Words of splits beyond which the CPU counts no rows; see `is_one_word`.
_MOST_COUNTED_SPLITS = 64


def device_row_losses(
    columns: DeviceColumns, trees: DeviceTrees, drawn: DrawnRows
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return what `prepared_column_row_losses` does, for columns in the device's memory.

    Returns
    -------
    base, replaced : arrays of shape (n_columns, n_tested)
        In the order of the splits' test parts.
    by_draw : array of shape (n_columns, n_draws)
    """
    device = trees.device
    xp = device.xp
    n_columns, n_draws, n_tested = columns.n_columns, drawn.sources.shape[0], drawn.rows.size
    if trees.n_splits > _MOST_COUNTED_SPLITS:
        trees = trees._replace(scalars={**trees.scalars, "is_counted": 0})
    ties = xp.empty(n_columns, dtype=np.int32)
    mark_ties(device, columns, trees, ties)
    n_threads = n_columns * trees.n_splits
    memory = xp.empty((trees.cells_per_thread(1), n_threads), dtype=np.float64)
    record = trees.record(columns, ties, memory)
    predicted = xp.empty((n_columns, columns.n_rows, trees.n_outputs), dtype=np.float64)
    is_impure = xp.zeros(n_columns, dtype=np.int32)
    if trees.n_sums:
        is_impure.fill(1)
        arguments = (record, np.int32(n_columns), np.int32(trees.n_sums), predicted)
    else:
        arguments = (record, np.int32(n_columns), predicted, is_impure)
    device.launch_over(f"{trees.kind}_predictions", n_threads, arguments)
    shared = (
        record,
        np.int32(n_columns),
        predicted,
        is_impure,
        on_device(device, drawn.rows, np.int32),
        on_device(device, drawn.sources, np.int32),
        np.int32(n_tested),
        np.int32(n_draws),
    )
    base = xp.empty((n_columns, n_tested), dtype=np.float64)
    replaced, by_draw = xp.empty_like(base), xp.empty((n_columns, n_draws), dtype=np.float64)
    device.launch_over("row_losses", base.size, (*shared, base, replaced))
    device.launch_over("draw_totals", by_draw.size, (*shared, by_draw))
    return base, replaced, by_draw
