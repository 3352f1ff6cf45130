"""Columns sorted once: the only form in which kernels of trees accept dense and sparse data."""

from collections.abc import Sequence
from threading import Lock
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ppfs._engine.jit.kernels import Float32s, Int32s, Int64s

# Dense columns are sorted in blocks of this many entries, so that their sort keys, a megabyte, stay in the CPU cache.
_ENTRIES_PER_BLOCK = 2**17

# Values of all columns, at most, that are looked up at once: that takes less time than many small additions.
_FEW_VALUES = 2**17


class ColumnArrays(NamedTuple):
    """The arrays of `SortedColumns`, in the form that kernels need."""

    indptr: Int64s
    rows: Int32s
    values: Float32s


class SortedColumns:
    """Columns whose stored entries are sorted by value, ties by row.

    The entries of column ``j`` are ``rows[indptr[j]:indptr[j + 1]]`` and the same slice of ``values``. Rows that are
    not stored have the value zero; a dense column stores every row. Values are float32, because scikit-learn's trees
    compare in float32.

    Attributes
    ----------
    n_stored : array of shape (n_columns,), int64
        Stored entries of each column.
    is_full : bool
        Whether every column stores every row.
    has_missing : bool
        Whether values may be missing. Missing values are NaN and come last.
    arrays : ColumnArrays
        ``indptr`` (n_columns + 1,) int64, ``rows`` (n_entries,) int32, ``values`` (n_entries,) float32.
    """

    def __init__(self, n_rows: int, arrays: ColumnArrays, *, has_missing: bool = False) -> None:
        self.n_rows = n_rows
        self.n_columns = arrays.indptr.size - 1
        self.arrays = arrays
        self.has_missing = has_missing
        self.n_stored = np.diff(arrays.indptr)
        self.is_full = arrays.rows.size == n_rows * self.n_columns

    @classmethod
    def from_dense(cls, block: npt.ArrayLike, *, has_missing: bool = False) -> Self:
        """Sort the columns of a dense block.

        Parameters
        ----------
        block : array of shape (n_rows, n_columns)
            Finite numbers that fit float32: see `fits_float32`.
        has_missing : bool
            Whether values may be missing (NaN).

        Examples
        --------
        >>> columns = SortedColumns.from_dense([[2.0, 0.0], [1.0, 0.0]])
        >>> columns.arrays.rows.tolist()
        [1, 0, 0, 1]
        """
        dense = np.asarray(block)
        n_rows, n_columns = dense.shape
        rows = np.empty((n_columns, n_rows), dtype=np.int32)
        values = np.empty((n_columns, n_rows), dtype=np.float32)
        step = max(1, _ENTRIES_PER_BLOCK // max(n_rows, 1))
        for first in range(0, n_columns, step):
            part = slice(first, first + step)
            turned = dense[:, part].T
            numbers = _with_gaps(turned) if has_missing else _as_float32(turned)
            keys = _sort_keys(numbers, np.arange(n_rows, dtype=np.uint64))
            keys.sort(axis=1)
            rows[part], values[part] = _unpack(keys)
        indptr = np.arange(n_columns + 1, dtype=np.int64) * n_rows
        return cls(n_rows, ColumnArrays(indptr, rows.ravel(), values.ravel()), has_missing=has_missing)

    @classmethod
    def from_sparse(cls, matrix: Any) -> Self:
        """Sort the columns of a scipy sparse matrix of shape (n_rows, n_columns) without making it dense.

        Stored zeros are dropped: they are the same as rows that are not stored.
        """
        csc = sparse.csc_array(matrix)
        values = _as_float32(csc.data)
        keep = values != 0
        indptr = np.concatenate(([0], np.cumsum(keep)))[csc.indptr].astype(np.int64)
        keys = _sort_keys(values[keep], csc.indices[keep].astype(np.uint64))
        for start, stop in _unsorted_segments(keys, indptr):
            keys[start:stop].sort()
        return cls(csc.shape[0], ColumnArrays(indptr, *_unpack(keys)))

    def take(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> "SortedColumns":
        """Return the given columns, in the given order, without sorting again."""
        chosen = np.asarray(columns, dtype=np.int64)
        indptr = np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(self.n_stored[chosen])))
        starts = self.arrays.indptr[chosen]
        entries = np.repeat(starts - indptr[:-1], self.n_stored[chosen]) + np.arange(indptr[-1])
        arrays = ColumnArrays(indptr, self.arrays.rows[entries], self.arrays.values[entries])
        return SortedColumns(self.n_rows, arrays, has_missing=self.has_missing)

    def look_up(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Float32s:
        """Return the values of a few columns in row order, shape (len(columns), n_rows)."""
        indptr, rows, values = self.arrays
        dense = np.zeros((len(columns), self.n_rows), dtype=np.float32)
        for row_order, column in zip(dense, columns, strict=True):
            stored = slice(indptr[column], indptr[column + 1])
            row_order[rows[stored]] = values[stored]
        return dense


class ValueTable:
    """The values, in row order, of the columns that have been requested so far.

    Trees that are grown one after the other use mostly the same few columns. Each column is looked up once.

    Attributes
    ----------
    values : array of shape (at least n_slots, n_rows), float32
    slots : array of shape (n_columns + 1,), int32
        Row of ``values`` for a column, or -1; the last entry is -1, so that column -1 has no slot.
    """

    def __init__(self, columns: SortedColumns) -> None:
        self._columns = columns
        self._lock = Lock()
        self._n_slots = 0
        self.values = np.empty((16, columns.n_rows), dtype=np.float32)
        self.slots = np.full(columns.n_columns + 1, -1, dtype=np.int32)
        if columns.n_columns * columns.n_rows <= _FEW_VALUES:
            self.add(np.arange(columns.n_columns))

    def add(self, columns: npt.NDArray[np.integer[Any]]) -> None:
        """Look up the columns that are not in the table yet."""
        if self._n_slots == self._columns.n_columns:
            return
        with self._lock:
            new = columns[self.slots[columns] < 0]
            if new.size == 0:
                return
            n_slots = self._n_slots + new.size
            if n_slots > len(self.values):
                larger = np.empty((n_slots + n_slots // 2, self._columns.n_rows), dtype=np.float32)
                larger[: self._n_slots] = self.values[: self._n_slots]
                self.values = larger
            self.values[self._n_slots : n_slots] = self._columns.look_up(new)
            self.slots[new] = np.arange(self._n_slots, n_slots)
            self._n_slots = n_slots


def fits_float32(values: npt.ArrayLike) -> bool:
    """Return whether every value is finite and stays finite in float32.

    scikit-learn's trees reject other values, so callers check this before they use the engine. For a sparse matrix,
    pass its ``data``.
    """
    array = np.asarray(values)
    if array.size == 0 or array.dtype.kind in "bu" or (array.dtype.kind == "i"):
        return True
    largest = np.finfo(np.float32).max
    # NaN and infinity propagate to the minimum or the maximum, so no mask as large as the data is needed.
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = np.float32(array.min()), np.float32(array.max())
    return bool(low >= -largest and high <= largest)


def _as_float32(values: npt.NDArray[Any]) -> Float32s:
    """Cast as scikit-learn does; adding zero turns -0.0 into 0.0, so that both are equal in a sort."""
    with np.errstate(over="ignore"):
        cast = np.array(values, dtype=np.float32, order="C")
    if not fits_float32(cast):
        raise ValueError(
            "The data hold a value that is not a finite float32 number, and the engine compares in float32. "
            "Rescale the column, or use a model that works in float64."
        )
    cast += np.float32(0.0)
    return cast


def _with_gaps(values: npt.NDArray[Any]) -> Float32s:
    """Cast numbers with missing values; all NaNs get the same bits, so that they sort after every number."""
    is_gap = np.isnan(values)
    cast = _as_float32(np.where(is_gap, 0.0, values))
    cast[is_gap] = np.nan
    return cast


def _sort_keys(values: Float32s, rows: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Pack value and row into one integer that sorts by value, then by row.

    The bits of a float, read as an integer, sort like the float once the sign bit is flipped (positive
    numbers) or all bits are (negative numbers). NumPy sorts integers several times faster than it finds the
    order of floats, and the row in the low half makes the order stable.
    """
    bits = values.view(np.uint32)
    flip = np.where(bits >> np.uint32(31), np.uint32(0xFFFFFFFF), np.uint32(0x80000000))
    keys = (bits ^ flip).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= rows
    return keys


def _unpack(keys: npt.NDArray[np.uint64]) -> tuple[Int32s, Float32s]:
    """Undo `_sort_keys`: the rows and the values, in the order of the keys."""
    rows = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
    bits = (keys >> np.uint64(32)).astype(np.uint32)
    flip = np.where(bits >> np.uint32(31), np.uint32(0x80000000), np.uint32(0xFFFFFFFF))
    return rows, (bits ^ flip).view(np.float32)


def _unsorted_segments(keys: npt.NDArray[np.uint64], indptr: Int64s) -> npt.NDArray[np.int64]:
    """Return (start, stop) of the columns that still need sorting; a binary column never does."""
    descents = np.flatnonzero(keys[1:] < keys[:-1]) + 1
    column = np.searchsorted(indptr, descents, side="right") - 1
    # A descent at the first entry of a column only marks where the next column begins.
    unsorted = np.unique(column[indptr[column] != descents])
    return np.column_stack((indptr[unsorted], indptr[unsorted + 1]))
