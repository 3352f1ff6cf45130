"""Test risks of trees on single columns, on the device; the twin of `one_column/tree_risks.py`."""

import numpy as np

from ppfs._engine.cuda.columns import DeviceColumns
from ppfs._engine.cuda.device import Device, DeviceArray
from ppfs._engine.cuda.trees import DeviceTrees

# Bytes of memory that the threads of one launch may take.
_MOST_MEMORY = 2**31

# Threads of a block that looks for neighbors, at least.
_LEAST_THREADS = 128

# Vectors over the classes that a thread needs beside those of its nodes: losses, and rows right and wrong.
_OWN_VECTORS = 5


def device_column_risks(columns: DeviceColumns, trees: DeviceTrees) -> tuple[DeviceArray, DeviceArray]:
    """Return what `prepared_column_risks` does, for columns in the device's memory.

    Columns of distinct values are answered by neighbors, where classes weigh the same; all others leaf by leaf.
    """
    device = trees.device
    xp = device.xp
    shape = (columns.n_columns, trees.n_splits)
    base, permuted = xp.empty(shape, dtype=np.float64), xp.empty(shape, dtype=np.float64)
    ties = xp.empty(columns.n_columns, dtype=np.int32)
    is_quick = trees.neighbors is not None and "class_weights" not in trees.arrays
    if is_quick:
        _find_neighbors(columns, trees, ties, base, permuted)
    else:
        mark_ties(device, columns, trees, ties)
    n_cells = trees.cells_per_thread(_OWN_VECTORS)
    at_once = max(1, _MOST_MEMORY // (8 * n_cells * trees.n_splits))
    for start in range(0, columns.n_columns, at_once):
        n_some = min(at_once, columns.n_columns - start)
        memory = xp.empty((n_cells, n_some * trees.n_splits), dtype=np.float64)
        record = trees.record(columns, ties, memory)
        bounds = (np.int32(start), np.int32(n_some), np.int32(trees.n_sums or is_quick))
        device.launch_over(f"{trees.kind}_risks", memory.shape[1], (record, *bounds, base, permuted))
    return base, permuted


def _find_neighbors(
    columns: DeviceColumns, trees: DeviceTrees, ties: DeviceArray, base: DeviceArray, permuted: DeviceArray
) -> None:
    """Compute the risks of columns of distinct values, and mark the ties of all columns."""
    device, n_bytes = trees.device, _bytes_of_line(columns.n_rows)
    is_shared = n_bytes <= device.shared_memory
    at_once = columns.n_columns if is_shared else max(1, _MOST_MEMORY // n_bytes)
    for start in range(0, columns.n_columns, at_once):
        end = min(start + at_once, columns.n_columns)
        record = trees.record(columns.part(start, end), ties[start:end], None)
        # A null pointer where lines are in shared memory.
        lines = np.int64(0) if is_shared else device.xp.empty((end - start) * n_bytes, dtype=np.uint8)
        device.launch(
            "neighbor_risks",
            end - start,
            threads_for(columns.n_rows),
            (
                record,
                *(trees.neighbors or ()),
                lines,
                np.int64(n_bytes),
                ties[start:end],
                base[start:end],
                permuted[start:end],
            ),
            n_bytes if is_shared else 0,
        )


def threads_for(n_rows: int) -> int:
    """Return how many threads share a column: one block of a long column has to keep a multiprocessor busy."""
    return max(_LEAST_THREADS, min(1024, n_rows // 8 // 32 * 32))


def mark_ties(device: Device, columns: DeviceColumns, trees: DeviceTrees, ties: DeviceArray) -> None:
    """Mark the ties of each column, where kernels read them."""
    if trees.scalars["is_counted"]:
        arguments = (columns.values, np.int32(columns.n_rows), ties)
        device.launch("mark_ties", columns.n_columns, threads_for(columns.n_rows), arguments)
    else:
        ties.fill(0)


def _bytes_of_line(n_rows: int) -> int:
    """Return how much memory a line takes: counts, and half of a value, a word and a label per row, in whole words."""
    return 128 * 4 + (n_rows + 2) * (8 + 8) + -(-(n_rows + 2) // 16) * 16
