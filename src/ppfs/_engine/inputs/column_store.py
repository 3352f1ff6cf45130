"""Columns for trees on many columns: in sorted order, and by row.

A node of a tree has few rows, and their values in a column are needed in sorted order. If a column stores many rows,
the position of every row in the sorted column is stored too: the positions of the node's rows are marked in a bit set
and read in order. A column that stores few rows is scanned, and rows of other nodes are skipped.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.sorted_columns import ColumnArrays, SortedColumns
from ppfs._engine.jit.kernels import Float32s, Int32s, Int64s, kernel_part

# The positions of rows are stored for columns with at least this share of stored rows: that takes no more memory than
# the entries of such a column in a sparse matrix.
_DENSE_SHARE = 0.25


class ColumnStore(NamedTuple):
    """Columns in sorted order and by row.

    Attributes
    ----------
    indptr, rows, values
        See `SortedColumns`.
    slots : array of shape (n_columns,), int32
        Row of ``places`` for a column, or -1.
    places : array of shape (n_slots, n_rows), int32
        Position of a row in the sorted column, from 0; -1 if it is not stored.
    row_order : array of shape (n_entries,), int32
        For columns without a slot, the positions of their entries in the order of the rows.
    """

    indptr: Int64s
    rows: Int32s
    values: Float32s
    slots: Int32s
    places: Int32s
    row_order: Int32s


def make_store(columns: SortedColumns) -> ColumnStore:
    """Prepare columns for trees on many of them."""
    indptr, rows, values = columns.arrays
    is_dense = columns.n_stored >= _DENSE_SHARE * columns.n_rows
    slots = np.where(is_dense, np.cumsum(is_dense) - 1, -1).astype(np.int32)
    places = np.full((int(is_dense.sum()), columns.n_rows), -1, dtype=np.int32)
    row_order = np.zeros(0 if is_dense.all() else rows.size, dtype=np.int32)
    for column, slot in enumerate(slots.tolist()):
        own = rows[indptr[column] : indptr[column + 1]]
        if slot >= 0:
            places[slot, own] = np.arange(own.size, dtype=np.int32)
        else:
            row_order[indptr[column] : indptr[column + 1]] = np.argsort(own)
    return ColumnStore(*ColumnArrays(indptr, rows, values), slots, places, row_order)


@kernel_part
def value_of(column: int, row: int, store: ColumnStore) -> float:
    """Return the value of a row."""
    start, slot = store.indptr[column], store.slots[column]
    if slot >= 0:
        place = store.places[slot, row]
        return float(store.values[start + place]) if place >= 0 else 0.0
    low, high = start, store.indptr[column + 1]
    while low < high:
        middle = (low + high) // 2
        if store.rows[start + store.row_order[middle]] < row:
            low = middle + 1
        else:
            high = middle
    if low < store.indptr[column + 1]:
        entry = start + store.row_order[low]
        if store.rows[entry] == row:
            return float(store.values[entry])
    return 0.0
