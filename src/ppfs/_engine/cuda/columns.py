"""Columns sorted on the device."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.cuda.device import Device, DeviceArray

# Columns of at most this many rows are sorted in shared memory, one per block.
_MOST_SHARED_KEYS = 2**14

# Threads of a block that sorts; no more than one per pair of keys.
_MOST_THREADS = 512


class DeviceColumns(NamedTuple):
    """Columns sorted by value, ties by row; see `SortedColumns`.

    Attributes
    ----------
    values : array of shape (n_columns, n_rows), float32
    rows : array of shape (n_columns, n_rows), int32
    """

    values: DeviceArray
    rows: DeviceArray

    def part(self, start: int, end: int) -> "DeviceColumns":
        """Return some of the columns."""
        return DeviceColumns(self.values[start:end], self.rows[start:end])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.values.shape[0])

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.values.shape[1])


def sort_on_device(device: Device, X: DeviceArray, is_bad: DeviceArray) -> DeviceColumns:
    """Sort the columns of a matrix in the device's memory.

    Parameters
    ----------
    X : array of shape (n_rows, n_columns), float32 or float64
        Finite numbers that fit float32, in any memory layout.
    is_bad : array of shape (1,), int32
        Set to 1 if a number is missing, infinite, or too large for 32 bits; see `refuse_bad`.
    """
    xp = device.xp
    n_rows, n_columns = X.shape
    kind = "floats" if X.dtype == np.float32 else "doubles"
    steps = tuple(np.int64(step // X.itemsize) for step in X.strides)
    values = xp.empty((n_columns, n_rows), dtype=np.float32)
    rows = xp.empty((n_columns, n_rows), dtype=np.int32)
    n_keys = max(2, 1 << int(n_rows - 1).bit_length())
    if n_keys <= min(_MOST_SHARED_KEYS, device.shared_memory // 8):
        n_threads = max(32, min(_MOST_THREADS, n_keys // 2))
        arguments = (X, *steps, np.int32(n_rows), np.int32(n_keys), values, rows, is_bad)
        device.launch(f"sort_{kind}", n_columns, n_threads, arguments, shared_bytes=8 * n_keys)
    else:
        keys = xp.empty((n_columns, n_rows), dtype=np.uint64)
        n_all = np.int64(keys.size)
        device.launch_over(f"keys_of_{kind}", keys.size, (X, *steps, np.int32(n_rows), n_all, keys, is_bad))
        keys.sort(axis=1)
        device.launch_over("unpack_keys", keys.size, (keys, n_all, values, rows))
    return DeviceColumns(values, rows)


def refuse_bad(is_bad: DeviceArray) -> None:
    """Raise if `sort_on_device` met a number that it cannot sort. This waits for the device."""
    if bool(is_bad[0]):
        raise ValueError(
            "The data hold a value that is not a finite float32 number, and the engine compares in float32. "
            "Rescale the column, or use a model that works in float64."
        )
